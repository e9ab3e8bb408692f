/* backend/cuda/straight.c: finds the elementwise programs that have compiled code (kernels/straight.c).
 *
 * A program is normalised to the form of programs.def: constants are not steps, and operands, scalars and
 * constants are numbered in the order of first use. Then it is compared with the rows of that table. */
#include <string.h>

#include "backend/cuda/internal.h"
#include "op/scalar.h"

/* An input of a step: one of these plus its number. */
enum { OPERAND = 0, WHOLE = 32, SCALAR = 64, NUMBER = 128, RESULT = 192 };

typedef struct {
  uint16_t op;
  uint8_t in[3];
} link;

typedef struct {
  int count;
  link link[CARD_STRAIGHT_STEPS];
} known;

#define I(k) (OPERAND + (k))
#define W(k) (WHOLE + (k))
#define S(k) (SCALAR + (k))
#define N(k) (NUMBER + (k))
#define V(s) (RESULT + (s))
#define ONE(s, ID, x)           { TN_OP_##ID, { x } },
#define TWO(s, ID, x, y)        { TN_OP_##ID, { x, y } },
#define TEST(s, ID, x, y)       { TN_OP_##ID, { x, y } },
#define TEST_WHOLE(s, ID, x, y) { TN_OP_##ID, { x, y } },
#define TO_NUMBER(s, c)         { TN_OP_CAST, { c } },
#define CHOOSE(s, c, x, y)      { TN_OP_SELECT, { c, x, y } },
#define TN_PROGRAM(NAME, LAST, STEPS) { (LAST) + 1, { STEPS } },
static const known programs[] = {
#include "backend/cuda/kernels/programs.def"
};

/* ---- normalising ---- */
#define PLACES (TN_FUSED_OPERAND_LIMIT + TN_FUSED_STEP_LIMIT)

typedef struct {
  const card_elementwise_arguments *from;
  card_straight_arguments *to;
  known program;
  int name[PLACES];   /* per operand and step: its name in the table; -1: none yet */
  int scalars, numbers;
} writer;

/* Whether the elements of each row of `x` are contiguous, or all the same. */
static bool lies_well(const card_shape *shape, const card_operand *x, card_straight_arguments *to,
                      card_straight_operand *out) {
  int last = shape->rank - 1;
  *out = (card_straight_operand){ .data = x->data, .row = last > 0 ? x->stride[0] : 0,
                                  .column = last >= 0 ? x->stride[last] : 4 };
  bool aligned = (uintptr_t)x->data % 16 == 0 && out->row % 16 == 0;
  to->runs = to->runs && (out->column == 0 || aligned);
  to->some_same = to->some_same || out->column == 0;
  return out->column == 4 || out->column == 0;
}

static bool name_operand(writer *w, int k) {
  const card_operand *x = &w->from->in[k];
  card_straight_arguments *to = w->to;
  bool whole = x->dtype == TN_I32;
  if (x->dtype != TN_F32 && !whole) return false;
  if (!whole && tn_card_is_scalar(&w->from->shape, x) && w->from->shape.count > 1) {
    if (w->scalars == CARD_STRAIGHT_SCALARS) return false;
    to->scalar[w->scalars] = x->data;
    w->name[k] = SCALAR + w->scalars++;
    return true;
  }
  if (to->operand_count == CARD_STRAIGHT_OPERANDS) return false;
  w->name[k] = (whole ? WHOLE : OPERAND) + to->operand_count;
  return lies_well(&w->from->shape, x, to, &to->in[to->operand_count++]);
}

static bool name_number(writer *w, int step) {
  const card_step *fill = &w->from->step[step];
  if (w->numbers == CARD_STRAIGHT_NUMBERS || fill->dtype != TN_F32) return false;
  w->to->number[w->numbers] = tn_element_of_f64(fill->number, TN_F32).f32;
  w->name[w->from->operand_count + step] = NUMBER + w->numbers++;
  return true;
}

/* The name of a step's input; assigns one at the first use. */
static bool name_of(writer *w, int place, uint8_t *name) {
  int step = place - w->from->operand_count;
  bool ok = w->name[place] >= 0 || (step < 0 ? name_operand(w, place) : name_number(w, step));
  *name = (uint8_t)(ok ? w->name[place] : 0);
  return ok;
}

static int dtype_of(const writer *w, int place) {
  int step = place - w->from->operand_count;
  return step < 0 ? w->from->in[place].dtype : w->from->step[step].dtype;
}

/* Steps of f32, comparisons, and the number that a truth is. */
static bool has_word(const writer *w, const card_step *step) {
  if (step->op == TN_OP_CAST) return step->dtype == TN_F32 && dtype_of(w, step->in[0]) == TN_BOOL;
  bool truth = step->dtype == TN_BOOL && tn_op_sig_of((tn_op)step->op)->kind == TN_KIND_ELEMENTWISE;
  return step->dtype == TN_F32 || truth;
}

static bool write_step(writer *w, int s) {
  const card_step *step = &w->from->step[s];
  known *program = &w->program;
  if (step->op == TN_OP_FILL) return true;
  if (program->count == CARD_STRAIGHT_STEPS || !has_word(w, step)) return false;
  link *added = &program->link[program->count];
  added->op = step->op;
  for (int k = 0; k < tn_fused_step_arity((tn_op)step->op); k++)
    if (!name_of(w, step->in[k], &added->in[k])) return false;
  w->name[w->from->operand_count + s] = RESULT + program->count++;
  return true;
}

/* ---- comparing ---- */
static bool equal(const known *a, const known *b) {
  return a->count == b->count && memcmp(a->link, b->link, sizeof a->link[0] * (size_t)a->count) == 0;
}

static bool is_single(const known *program) {
  const known unary = { .count = 1, .link = { { program->link[0].op, { I(0) } } } };
  const known binary = { .count = 1, .link = { { program->link[0].op, { I(0), I(1) } } } };
  switch (program->link[0].op) {
#define UNARY(ID)  case TN_OP_##ID: return equal(program, &unary);
#define BINARY(ID) case TN_OP_##ID: return equal(program, &binary);
    CARD_STRAIGHT_OPERATIONS(UNARY, BINARY)
  }
  return false;
}

static bool find(const known *program, int32_t *which) {
  for (int p = 0; p < CARD_PROGRAMS; p++) {
    *which = p;
    if (equal(program, &programs[p])) return true;
  }
  *which = CARD_PROGRAMS + program->link[0].op;
  return is_single(program);
}

bool tn_card_straight_of(const card_elementwise_arguments *from, card_straight_arguments *to) {
  const card_shape *shape = &from->shape;
  writer w = { .from = from, .to = to };
  *to = (card_straight_arguments){ .shape = *shape, .width = shape->count };
  for (int place = 0; place < PLACES; place++) w.name[place] = -1;
  if (shape->rank > 2 || (shape->rank == 2 && !shape->narrow)) return false;
  if (shape->rank == 2) to->width = shape->dim[1];
  to->runs = shape->rank < 2 || to->width % 4 == 0;
  if (from->out.dtype != TN_F32 || !lies_well(shape, &from->out, to, &to->out) || to->out.column == 0)
    return false;
  for (int s = 0; s < from->step_count; s++)
    if (!write_step(&w, s)) return false;
  bool ends = from->step_count > 0 && from->step[from->step_count - 1].op != TN_OP_FILL;
  return ends && find(&w.program, &to->program);
}

bool tn_card_run_straight(const tn_kernel_call *call, card_straight_arguments *a) {
  int64_t blocks = tn_card_parts(a->shape.count, 4 * CARD_STRAIGHT_THREADS);
  return tn_card_launch_blocks(call, TN_CARD_straight, blocks, CARD_STRAIGHT_THREADS, &a->start, sizeof *a);
}
