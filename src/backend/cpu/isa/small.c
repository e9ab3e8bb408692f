/* backend/cpu/isa/small.c: chooses kernels for small calls, and those for elementwise programs,
 * products and rows of a table (small.h). */
#include "backend/cpu/isa/small.h"

#include "backend/cpu/isa/index.h"
#include "backend/cpu/isa/steps.h"
#include "op/scalar.h"

/* ---- elementwise: what is spread out is collected by a list of places ---- */
#define ELEMENTS  64
#define REGISTERS (TN_FUSED_OPERAND_LIMIT + TN_FUSED_STEP_LIMIT)

typedef struct {
  tn_step_run run; /* NULL: a constant */
  const void *constant;
  uint8_t in[3];
} small_step;

typedef struct {
  int count, operands, steps;
  const int64_t *place[TN_FUSED_OPERAND_LIMIT]; /* bytes to each element; NULL: they lie one after another */
  uint8_t bytes[TN_FUSED_OPERAND_LIMIT];
  small_step *step; /* steps of them */
} small_program;

static const int64_t repeated[ELEMENTS]; /* the places of an operand of one element */

#define COLLECT(type)                                                                                        \
  static void collect_##type(type *to, const char *from, const int64_t *place, int count) {                  \
    type first = *(const type *)(const void *)from;                                                          \
    for (int i = 0; place == repeated && i < count; i++) to[i] = first;                                      \
    for (int i = 0; place != repeated && i < count; i++)                                                     \
      to[i] = *(const type *)(const void *)(from + place[i]);                                                \
  }
COLLECT(uint8_t)
COLLECT(uint16_t)
COLLECT(uint32_t)
COLLECT(uint64_t)

static const void *collected(const small_program *p, int k, const void *from, void *to) {
  if (!p->place[k]) return from;
  switch (p->bytes[k]) {
    case 1: collect_uint8_t(to, from, p->place[k], p->count); break;
    case 2: collect_uint16_t(to, from, p->place[k], p->count); break;
    case 4: collect_uint32_t(to, from, p->place[k], p->count); break;
    default: collect_uint64_t(to, from, p->place[k], p->count); break;
  }
  return to;
}

/* `buffer` has a row for each register. */
static void run_program(const small_program *p, const tn_kernel_call *call, tn_element (*buffer)[ELEMENTS]) {
  const void *reg[REGISTERS];
  for (int k = 0; k < p->operands; k++) reg[k] = collected(p, k, call->in[k].data, buffer[k]);
  for (int s = 0; s < p->steps; s++) {
    const small_step *at = &p->step[s];
    int to = p->operands + s;
    reg[to] = at->constant;
    if (!at->run) continue;
    void *out = s == p->steps - 1 ? call->out->data : buffer[to];
    reg[to] = out;
    at->run(out, reg[at->in[0]], reg[at->in[1]], reg[at->in[2]], p->count);
  }
}

static bool elementwise_small(const tn_kernel_call *call) {
  tn_element buffer[REGISTERS][ELEMENTS];
  run_program(call->kept, call, buffer);
  return true;
}

/* The places of an operand's elements as the result sees them. */
static void find_places(const tn_view *view, const tn_view *out, int count, int64_t *place) {
  tn_cpu_iterator it;
  tn_cpu_iterator_init(&it, out);
  tn_cpu_iterator_add(&it, view);
  tn_cpu_iterator_seek(&it, it.rank, 0);
  for (int i = 0; i < count; i++, tn_cpu_iterator_next(&it, it.rank))
    place[i] = it.offset[0] * (int64_t)tn_cpu_bytes(view->dtype);
}

/* Where places and constants go: into the arena of a plan, or, for one call, onto the stack. */
typedef struct {
  tn_arena *arena;
  int64_t (*places)[ELEMENTS];    /* by operand */
  tn_element (*buffer)[ELEMENTS]; /* by register */
} small_room;

static bool prepare_operand(small_program *p, int k, const tn_kernel_call *call, const small_room *room) {
  const tn_view *view = &call->in[k];
  int64_t own = tn_cpu_elements(view);
  p->bytes[k] = (uint8_t)tn_cpu_bytes(view->dtype);
  p->place[k] = NULL;
  if (own == p->count && tn_cpu_is_flat(view)) return true;
  p->place[k] = repeated;
  if (own == 1) return true;
  int64_t *place =
      room->arena ? tn_arena_array(room->arena, (size_t)p->count, sizeof *place) : room->places[k];
  if (place) find_places(view, call->out, p->count, place);
  p->place[k] = place;
  return place != NULL;
}

static bool prepare_constant(small_program *p, int s, const tn_fused_step *from, const small_room *room) {
  size_t bytes = tn_cpu_bytes(from->dtype);
  char *to = room->arena ? tn_arena_array(room->arena, (size_t)p->count, bytes)
                         : (char *)room->buffer[p->operands + s];
  for (int i = 0; to && i < p->count; i++)
    tn_element_store(to + (size_t)i * bytes, from->dtype, tn_element_of_f64(from->number, from->dtype));
  p->step[s] = (small_step){ .constant = to };
  return to != NULL;
}

static bool prepare_program(small_program *p, const tn_kernel_call *call, const tn_fused_step *steps,
                            const small_room *room) {
  tn_dtype dtype[REGISTERS];
  for (int k = 0; k < p->operands; k++) {
    dtype[k] = call->in[k].dtype;
    if (!prepare_operand(p, k, call, room)) return false;
  }
  for (int s = 0; s < p->steps; s++) {
    const tn_fused_step *from = &steps[s];
    dtype[p->operands + s] = from->dtype;
    if (from->op == TN_OP_FILL) {
      if (!prepare_constant(p, s, from, room)) return false;
      continue;
    }
    tn_step how = step_of(from->op, dtype[from->in[0]], from->dtype);
    p->step[s] = (small_step){ .run = s == p->steps - 1 ? how.last : how.run };
    memcpy(p->step[s].in, from->in, sizeof from->in);
  }
  return true;
}

bool small_fits(const tn_kernel_call *call, const tn_fused_step *steps, int count) {
  int64_t elements = tn_cpu_elements(call->out);
  if (elements == 0 || elements > ELEMENTS || !tn_cpu_is_flat(call->out)) return false;
  for (int s = 0; s < count; s++)
    if (tn_scalar_divides(steps[s].op, steps[s].dtype)) return false;
  return steps[count - 1].op != TN_OP_FILL;
}

void small_run(const tn_kernel_call *call, const tn_fused_step *steps, int count) {
  tn_element buffer[REGISTERS][ELEMENTS];
  int64_t places[TN_FUSED_OPERAND_LIMIT][ELEMENTS];
  small_step step[TN_FUSED_STEP_LIMIT];
  small_program p;
  p.count = (int)tn_cpu_elements(call->out);
  p.operands = call->count;
  p.steps = count;
  p.step = step;
  (void)prepare_program(&p, call, steps, &(small_room){ NULL, places, buffer });
  run_program(&p, call, buffer);
}

static tn_kernel small_elementwise(const tn_kernel_call *call, tn_arena *arena, const void **kept) {
  const tn_fused_step only = small_only_step(call);
  const tn_fused *program = call->op == TN_OP_FUSED ? call->attrs->program : NULL;
  const tn_fused_step *steps = program ? program->step : &only;
  int count = program ? program->step_count : 1;
  if (!small_fits(call, steps, count)) return NULL;
  small_program *p = tn_arena_alloc(arena, sizeof *p);
  if (!p) return NULL;
  *p = (small_program){ .count = (int)tn_cpu_elements(call->out), .operands = call->count, .steps = count };
  p->step = tn_arena_array(arena, (size_t)count, sizeof *p->step);
  if (!p->step || !prepare_program(p, call, steps, &(small_room){ .arena = arena })) return NULL;
  *kept = p;
  return elementwise_small;
}

/* ---- products of small matrices ---- */
#define PRODUCT_STEPS 2048 /* multiplications */
#define PRODUCT_ROOM  512  /* elements of y, where its rows must be put together first */

/* `rows` rows of x by some columns of y: [rows, depth] [depth, left] */
TN_ALWAYS_INLINE void multiply(const tn_kernel_call *call, const float *y, int64_t y_step, int64_t row,
                               int rows, int64_t column, int left) {
  const tn_view *x = &call->in[0], *out = call->out;
  int64_t depth = x->dim[1], step = x->stride[1], down = x->stride[0];
  const float *from = (const float *)x->data + row * down;
  VF sum[4];
  TN_UNROLL for (int r = 0; r < rows; r++) sum[r] = vf_set(0.0f);
  for (int64_t k = 0; k < depth; k++) {
    const float *at = y + k * y_step + column;
    VF v = left == TN_LANES ? vf_load(at) : vf_load_part(at, left);
    TN_UNROLL for (int r = 0; r < rows; r++) sum[r] = vf_fma(vf_set(from[r * down + k * step]), v, sum[r]);
  }
  if (call->count ==
      4) { /* out = p - scale * (x y); all of p is read first, because its memory may be out's */
    const tn_view *p = &call->in[2];
    VF scale = vf_set(*(const float *)call->in[3].data);
    TN_UNROLL for (int r = 0; r < rows; r++) {
      const float *old = (const float *)p->data + (row + r) * p->stride[0] + column;
      sum[r] = vf_load_part(old, left) - scale * sum[r];
    }
  }
  TN_UNROLL for (int r = 0; r < rows; r++) {
    float *to = (float *)out->data + (row + r) * out->stride[0] + column;
    vf_store_part(to, vf_canonical(sum[r]), left);
  }
}

static bool product_small(const tn_kernel_call *call) {
  const tn_view *x = &call->in[0], *y = &call->in[1];
  int64_t rows = x->dim[0], depth = x->dim[1], columns = y->dim[1];
  const float *from = y->data;
  int64_t y_step = y->stride[0];
  float together[PRODUCT_ROOM];
  if (y->stride[1] != 1) {
    for (int64_t k = 0; k < depth; k++)
      for (int64_t c = 0; c < columns; c++) together[k * columns + c] = from[k * y_step + c * y->stride[1]];
    from = together;
    y_step = columns;
  }
  for (int64_t c = 0; c < columns; c += TN_LANES) {
    int left = (int)tn_cpu_min(columns - c, TN_LANES);
    int64_t r = 0;
    for (; r + 4 <= rows; r += 4) multiply(call, from, y_step, r, 4, c, left);
    for (; r < rows; r++) multiply(call, from, y_step, r, 1, c, left);
  }
  return true;
}

static tn_kernel small_product(const tn_kernel_call *call, tn_arena *arena, const void **kept) {
  (void)arena, (void)kept;
  const tn_view *x = &call->in[0], *y = &call->in[1], *out = call->out;
  if (out->dtype != TN_F32 || x->dtype != TN_F32 || y->dtype != TN_F32) return NULL;
  if (x->rank != 2 || y->rank != 2 || out->rank != 2 || out->stride[1] != 1) return NULL;
  if (call->count == 4 && call->in[2].stride[1] != 1) return NULL;
  int64_t rows = x->dim[0], depth = x->dim[1], columns = y->dim[1];
  if (rows == 0 || depth == 0 || columns == 0 || rows > PRODUCT_STEPS || depth > PRODUCT_STEPS) return NULL;
  if (columns > PRODUCT_STEPS || rows * depth * columns > PRODUCT_STEPS) return NULL;
  if (y->stride[1] != 1 && depth * columns > PRODUCT_ROOM) return NULL;
  if (TN_LANES == 4 && columns % TN_LANES != 0) return NULL; /* parts of a vector go through memory there */
  return product_small;
}

/* ---- rows of a small table: the sums of all rows fit on the stack ----
 * They are whole vectors there. A part of a vector that was just stored is slow to load again, and so is
 * what lies after it; so everything is computed on the stack before the table is written. */
#define TABLE_ROWS 64 /* bits of a word, one for each row that the index names */
#define TABLE_ROOM 1024
#define PLACES     256

static inline int64_t whole_vectors(int64_t columns) {
  return (columns + TN_LANES - 1) / TN_LANES * TN_LANES;
}

static uint64_t add_slices(const tn_kernel_call *call, int64_t places, int64_t columns, float *sum) {
  const tn_view *index = &call->in[1];
  const float *y = call->in[2].data;
  const int64_t *from = call->kept; /* by place of the index, where its slice is in y */
  int64_t width = whole_vectors(columns);
  uint64_t named = 0;
  for (int64_t i = 0; i < places; i++) {
    int64_t row = tn_cpu_index_at(index->data, index->dtype, i);
    float *at = sum + row * width;
    named |= (uint64_t)1 << row;
    for (int64_t c = 0; c < columns; c += TN_LANES) {
      int left = (int)tn_cpu_min(columns - c, TN_LANES);
      vf_store(at + c, vf_load(at + c) + vf_load_part(y + from[i] + c, left));
    }
  }
  return named;
}

static bool row_update_small(const tn_kernel_call *call) {
  const tn_view *x = &call->in[0], *index = &call->in[1], *out = call->out;
  int64_t rows = x->dim[0], columns = x->dim[1], places = tn_cpu_elements(index);
  int64_t width = whole_vectors(columns);
  if (!tn_cpu_index_fits(call, index, places, rows)) return tn_cpu_check_index(call, index, rows, 0);
  const float *old = x->data;
  float *to = out->data, sum[TABLE_ROOM];
  VF scale = vf_set(*(const float *)call->in[3].data);
  memset(sum, 0, (size_t)(rows * width) * sizeof *sum);
  uint64_t named = add_slices(call, places, columns, sum);
  for (int64_t row = 0; row < rows; row++)
    for (int64_t c = 0; c < columns; c += TN_LANES) {
      VF was = vf_load_part(old + row * columns + c, (int)tn_cpu_min(columns - c, TN_LANES));
      float *at = sum + row * width + c;
      vf_store(at, vf_canonical(was - scale * vf_load(at)));
    }
  if (to != old) memcpy(to, old, (size_t)(rows * columns) * sizeof *to);
  for (int64_t row = 0; row < rows; row++)
    for (int64_t c = 0; (named >> row & 1) && c < columns; c += TN_LANES)
      vf_store_part(to + row * columns + c, vf_load(sum + row * width + c),
                    (int)tn_cpu_min(columns - c, TN_LANES));
  return true;
}

static tn_kernel small_row_update(const tn_kernel_call *call, tn_arena *arena, const void **kept) {
  const tn_view *x = &call->in[0], *index = &call->in[1], *y = &call->in[2];
  int64_t places = tn_cpu_elements(index);
  if (x->dtype != TN_F32 || x->rank != 2 || !tn_cpu_is_flat(x) || !tn_cpu_is_flat(call->out)) return NULL;
  if (x->dim[0] > TABLE_ROWS || x->dim[1] > TABLE_ROOM) return NULL;
  if (x->dim[0] * whole_vectors(x->dim[1]) > TABLE_ROOM) return NULL;
  if (places == 0 || places > PLACES || !tn_cpu_is_flat(index) || tn_cpu_elements(y) == 0) return NULL;
  if (y->stride[y->rank - 1] != 1) return NULL;
  tn_view slices = *y;
  slices.rank = index->rank;
  int64_t *place = tn_arena_array(arena, (size_t)places, sizeof *place);
  if (!place) return NULL;
  find_places(&slices, index, (int)places, place);
  for (int64_t i = 0; i < places; i++) place[i] /= (int64_t)sizeof(float);
  *kept = place;
  return row_update_small;
}

static tn_kernel (*const choosers[TN_OP_COUNT])(const tn_kernel_call *call, tn_arena *arena,
                                                const void **kept) = {
#define TN_OP(id, ...)             [TN_OP_##id] = __VA_ARGS__,
#define TN_KERNEL(ref, cpu, small, cuda) small
#define TN_EXPAND(...)             NULL
#include "op/ops.def"
};

tn_kernel TN_CPU_NAME(choose)(const tn_kernel_call *call, tn_arena *arena, const void **kept) {
  *kept = NULL;
  return choosers[call->op] ? choosers[call->op](call, arena, kept) : NULL;
}
