/* backend/cuda/elementwise.c: elementwise operations and programs, fills, iota and random tensors. */
#include <string.h>

#include "backend/cuda/internal.h"
#include "base/elementary.h"
#include "op/scalar.h"

static bool is_unary(tn_op op) { return tn_fused_step_arity(op) == 1; }

static card_step step_of(tn_op op, tn_dtype dtype, double number, const uint8_t *in) {
  card_step step = { .op = (uint16_t)op, .dtype = (uint8_t)dtype, .number = number,
                     .unary = op != TN_OP_FILL && is_unary(op) };
  if (op != TN_OP_FILL) memcpy(step.in, in, (size_t)tn_fused_step_arity(op));
  return step;
}

/* The operands broadcast to the result. */
static void see(const tn_kernel_call *call, card_elementwise_arguments *a) {
  tn_card_views seen;
  tn_view in[TN_FUSED_OPERAND_LIMIT];
  const tn_view *views[TN_CARD_VIEW_LIMIT] = { call->out };
  tn_shape shape = tn_view_shape(call->out);
  for (int k = 0; k < call->count; k++) {
    in[k] = tn_view_broadcast(&call->in[k], &shape);
    views[k + 1] = &in[k];
  }
  tn_card_see(views, call->count + 1, &seen);
  a->shape = seen.shape;
  a->out = seen.operand[0];
  memcpy(a->in, seen.operand + 1, (size_t)call->count * sizeof *a->in);
  a->operand_count = call->count;
}

/* ---- programs of f32 and bool: kernels/chain.c ---- */
#define NOWHERE (-1)

typedef struct {
  const card_elementwise_arguments *program;
  card_chain_arguments *to;
  int place[TN_FUSED_OPERAND_LIMIT + TN_FUSED_STEP_LIMIT];   /* per register: its slot, or another source */
  int last_use[TN_FUSED_OPERAND_LIMIT + TN_FUSED_STEP_LIMIT];
  bool taken[CARD_SLOTS];
} chain;

static bool is_word(int dtype) { return dtype == TN_F32 || dtype == TN_BOOL; }

static int take_slot(chain *c) {
  for (int slot = 0; slot < CARD_SLOTS; slot++) {
    if (c->taken[slot]) continue;
    c->taken[slot] = true;
    if (slot >= c->to->slots) c->to->slots = slot + 1;
    return slot;
  }
  return NOWHERE;
}

/* `x`: f32 or bool. */
static card_four_kind four_kind(const card_shape *shape, const card_operand *x) {
  int last = shape->rank - 1;
  int64_t stride = last >= 0 ? x->stride[last] : 0, four = 4 * x->bytes;
  if (last > 0 && shape->dim[last] % 4) return CARD_APART;
  if (stride == 0) return CARD_ALIKE;
  bool aligned = (uintptr_t)x->data % (size_t)four == 0 && stride == x->bytes;
  for (int axis = 0; axis < last; axis++) aligned = aligned && x->stride[axis] % four == 0;
  return !aligned ? CARD_STEPPED : x->bytes == 4 ? CARD_FOUR : CARD_TRUTHS;
}

static bool place_same(chain *c, int place, card_same same) {
  if (c->to->same_count == CARD_SLOTS) return false;
  c->place[place] = CARD_SAME + c->to->same_count;
  c->to->same[c->to->same_count++] = same;
  return true;
}

static bool place_operand(chain *c, int k) {
  const card_elementwise_arguments *p = c->program;
  const card_operand *x = &p->in[k];
  if (!is_word(x->dtype)) return false;
  card_same one = { .data = x->data, .bytes = x->bytes };
  if (tn_card_is_scalar(&p->shape, x)) return place_same(c, k, one);
  int slot = c->to->operand_count < CARD_CHAIN_OPERANDS ? take_slot(c) : NOWHERE;
  if (slot == NOWHERE) return false;
  c->place[k] = slot;
  c->to->in[slot] = *x;
  c->to->kind[slot] = (uint8_t)four_kind(&p->shape, x);
  c->to->operand_count = slot + 1;
  return true;
}

static bool place_number(chain *c, int step) {
  const card_step *fill = &c->program->step[step];
  float number = fill->dtype == TN_F32 ? tn_element_of_f64(fill->number, TN_F32).f32
                                       : tn_float_of_bits(fill->number != 0);
  return place_same(c, c->program->operand_count + step, (card_same){ .number = number });
}

static int arity(const card_step *step) {
  return step->op == TN_OP_FILL ? 0 : tn_fused_step_arity((tn_op)step->op);
}

static void find_last_uses(chain *c) {
  for (int s = 0; s < c->program->step_count; s++)
    for (int k = 0; k < arity(&c->program->step[s]); k++) c->last_use[c->program->step[s].in[k]] = s;
}

static int dtype_of(const chain *c, int place) {
  int step = place - c->program->operand_count;
  return step < 0 ? c->program->in[place].dtype : c->program->step[step].dtype;
}

#define CODE_FLOATS(ID)  [TN_OP_##ID] = { CARD_OF_NUMBERS_##ID, CARD_KEEP },
#define CODE_NUMBERS(ID) [TN_OP_##ID] = { CARD_OF_NUMBERS_##ID, CARD_KEEP },
#define CODE_PLAIN(ID)   [TN_OP_##ID] = { CARD_OF_NUMBERS_##ID, CARD_OF_TRUTHS_##ID },
#define CODE_BOOLS(ID)   [TN_OP_##ID] = { CARD_KEEP, CARD_OF_TRUTHS_##ID },
#define TN_ELEMENT(ID, KIND, DTYPES, ...) CODE_##DTYPES(ID)
static const struct {
  card_code numbers, truths;
} codes[TN_OP_COUNT] = {
#include "op/elementwise.def"
};

static card_code code_of(const chain *c, const card_step *step) {
  bool from_truth = dtype_of(c, step->in[0]) == TN_BOOL, to_truth = step->dtype == TN_BOOL;
  if (step->op == TN_OP_SELECT) return CARD_CHOOSE;
  if (step->op == TN_OP_CAST && from_truth == to_truth) return CARD_KEEP;
  if (step->op == TN_OP_CAST) return to_truth ? CARD_TO_TRUTH : CARD_TO_NUMBER;
  return from_truth ? codes[step->op].truths : codes[step->op].numbers;
}

/* Frees slots whose last use is step s. The result may take one: a step reads before it writes. */
static void free_slots(chain *c, int s) {
  for (int r = c->program->operand_count; r < c->program->operand_count + s; r++)
    if (c->last_use[r] == s && c->place[r] >= 0 && c->place[r] < CARD_SLOTS) c->taken[c->place[r]] = false;
}

/* The result of step s needs no slot if only the next step reads it. */
static bool add_link(chain *c, int s) {
  const card_step *step = &c->program->step[s];
  int operands = c->program->operand_count, result = operands + s, before = c->to->link_count;
  card_link link = { .code = (uint8_t)code_of(c, step), .in = { 0 }, .to = CARD_LAST };
  for (int k = 0; k < arity(step); k++) {
    int from = c->place[step->in[k]];
    bool last = step->in[k] >= operands && before > 0 && step->in[k] == operands + s - 1;
    link.in[k] = (uint8_t)(last && from == NOWHERE ? CARD_LAST : from);
  }
  for (int k = arity(step); k < 3; k++) link.in[k] = link.in[0];
  free_slots(c, s);
  c->place[result] = NOWHERE;
  if (c->last_use[result] > s + 1 && (c->place[result] = take_slot(c)) == NOWHERE) return false;
  if (c->place[result] != NOWHERE) link.to = (uint8_t)c->place[result];
  c->to->link[c->to->link_count++] = link;
  return true;
}

/* ---- short ones: kernels/brief.c ---- */
#define BRIEF_COUNT ((int64_t)1 << 18)   /* elements; above it, chain.c is faster */
#define BRIEF_THREADS 128

static bool is_brief_code(int code) {
  switch (code) {
#define BRIEF(ID) case CARD_OF_NUMBERS_##ID:
    CARD_BRIEF_OPERATIONS(BRIEF, BRIEF, BRIEF)
    case CARD_CHOOSE:
    case CARD_KEEP: return true;
    default: return false;
  }
}

/* Whether it is for chain_runs. */
static bool has_runs(const card_chain_arguments *a) {
  bool runs = a->shape.rank <= 1 || (a->shape.rank == 2 && a->shape.narrow);
  runs = runs && a->out_kind <= CARD_TRUTHS;
  for (int k = 0; k < a->operand_count; k++) runs = runs && a->kind[k] <= CARD_ALIKE;
  return runs;
}

/* Whether it is for brief.c: few elements, f32 without gaps, and few steps of those that it has. */
static bool is_brief(const card_chain_arguments *a) {
  bool fits = a->shape.rank <= 1 && a->slots <= CARD_BRIEF_SLOTS && a->same_count <= CARD_BRIEF_SAME &&
              a->shape.count <= BRIEF_COUNT && a->link_count <= CARD_BRIEF_LINKS && a->out_kind == CARD_FOUR;
  for (int k = 0; fits && k < a->operand_count; k++) fits = a->kind[k] == CARD_FOUR;
  for (int k = 0; fits && k < a->same_count; k++) fits = !a->same[k].data || a->same[k].bytes == 4;
  for (int s = 0; fits && s < a->link_count; s++) fits = is_brief_code(a->link[s].code);
  return fits;
}

/* Translates the program for chain.c. False if chain.c cannot run it. */
static bool chain_of(const card_elementwise_arguments *program, card_chain_arguments *to) {
  chain c = { .program = program, .to = to };
  *to = (card_chain_arguments){ .shape = program->shape, .out = program->out,
                                .out_kind = (uint8_t)four_kind(&program->shape, &program->out) };
  if (!is_word(program->out.dtype)) return false;
  for (int k = 0; k < program->operand_count; k++)
    if (!place_operand(&c, k)) return false;
  find_last_uses(&c);
  for (int s = 0; s < program->step_count; s++) {
    const card_step *step = &program->step[s];
    if (!is_word(step->dtype)) return false;
    if (step->op == TN_OP_FILL ? !place_number(&c, s) : !add_link(&c, s)) return false;
  }
  int result = c.place[program->operand_count + program->step_count - 1];
  if (result >= CARD_SAME) {   /* the last step is a fill */
    uint8_t from = (uint8_t)result;
    card_link link = { .code = CARD_KEEP, .in = { from, from, from }, .to = CARD_LAST };
    to->link[to->link_count++] = link;
  }
  to->runs = has_runs(to);
  to->brief = is_brief(to);
  return to->slots + to->same_count <= CARD_SLOTS;
}

static bool run_chain(const tn_kernel_call *call, card_chain_arguments *a) {
  tn_card_kernel kernel = a->brief ? TN_CARD_brief : a->runs ? TN_CARD_chain_runs : TN_CARD_chain;
  int threads = a->brief ? BRIEF_THREADS : CARD_CHAIN_THREADS;
  int room = a->brief ? 0 : (a->slots + a->same_count) * threads * 4 * (int)sizeof(float);
  int64_t blocks = tn_card_parts(a->shape.count, 4 * threads);
  return tn_card_launch_room(call, kernel, blocks, threads, room, &a->start, sizeof *a);
}

/* ---- programs of any dtype: kernels/elementwise.c ---- */
static bool run(const tn_kernel_call *call, card_elementwise_arguments *a) {
  tn_card_flat flat;
  card_straight_arguments straight;
  card_chain_arguments fast;
  bool looks = false;
  if (tn_card_flat_of(a, &flat)) return tn_card_run_flat(call, &flat);
  if (tn_card_straight_of(a, &straight)) return tn_card_run_straight(call, &straight);
  if (chain_of(a, &fast)) return run_chain(call, &fast);
  for (int s = 0; s < a->step_count; s++)
    looks = looks || tn_scalar_divides((tn_op)a->step[s].op, (tn_dtype)a->step[s].dtype);
  if (looks && !tn_card_launch_blocks(call, TN_CARD_check_divisors, a->shape.count > 0, CARD_BLOCK, &a->start,
                                      sizeof *a))
    return false;
  return tn_card_launch(call, TN_CARD_elementwise, a->shape.count, &a->start, sizeof *a);
}

bool tn_cuda_elementwise(const tn_kernel_call *call) {
  card_elementwise_arguments a = { .step_count = 1 };
  see(call, &a);
  a.step[0] = step_of(call->op, call->out->dtype, 0, (const uint8_t[]){ 0, 1, 2 });
  return run(call, &a);
}

bool tn_cuda_fused(const tn_kernel_call *call) {
  const tn_fused *program = call->attrs->program;
  card_elementwise_arguments a = { .step_count = program->step_count };
  see(call, &a);
  for (int s = 0; s < program->step_count; s++) {
    const tn_fused_step *from = &program->step[s];
    a.step[s] = step_of(from->op, from->dtype, from->number, from->in);
  }
  return run(call, &a);
}

bool tn_card_fill(const tn_kernel_call *call, const tn_view *out, double number) {
  card_elementwise_arguments a = { .step_count = 1 };
  tn_card_views seen;
  tn_card_see(&out, 1, &seen);
  a.shape = seen.shape;
  a.out = seen.operand[0];
  a.step[0] = step_of(TN_OP_FILL, out->dtype, number, NULL);
  return run(call, &a);
}

bool tn_cuda_fill(const tn_kernel_call *call) { return tn_card_fill(call, call->out, call->attrs->number); }

/* Number of elements along the axes. It is below 2^53, so a double holds it exactly. */
bool tn_cuda_count(const tn_kernel_call *call) {
  int64_t count = 1;
  for (int k = 0; k < call->attrs->axis_count; k++) count *= call->in[0].dim[call->attrs->axes[k]];
  return tn_card_fill(call, call->out, (double)count);
}

/* The axis must not be merged with others, so the view is passed as it is. */
bool tn_cuda_iota(const tn_kernel_call *call) {
  const tn_view *out = call->out;
  card_iota_arguments a = { .axis = call->attrs->axis, .shape = tn_card_shape(out->rank, out->dim),
                            .out = { .data = out->data, .dtype = (int32_t)out->dtype } };
  for (int axis = 0; axis < out->rank; axis++)
    a.out.stride[axis] = out->stride[axis] * (int64_t)tn_dtype_bytes(out->dtype);
  return tn_card_launch(call, TN_CARD_iota, a.shape.count, &a.start, sizeof a);
}

static bool draw(const tn_kernel_call *call, bool normal) {
  const tn_view *out = call->out;
  tn_card_views seen;
  tn_card_see(&out, 1, &seen);
  card_random_arguments a = { .shape = seen.shape, .out = seen.operand[0], .key = call->in[0].data,
                              .shift = call->queue->shift, .index = call->attrs->index, .normal = normal };
  return tn_card_launch(call, TN_CARD_random, a.shape.count, &a.start, sizeof a);
}

bool tn_cuda_uniform(const tn_kernel_call *call) { return draw(call, false); }
bool tn_cuda_normal(const tn_kernel_call *call) { return draw(call, true); }
