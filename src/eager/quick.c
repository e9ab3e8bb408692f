/* eager/quick.c: the short path for a few f32 elements.
 *
 * Most of what a stack language does is arithmetic on single numbers and short
 * vectors; there the cost is everything but the arithmetic. Operands of one
 * shape, or of one shape and a single number, are computed directly into a cell with the same
 * scalar functions as in the back ends: a new cell, or that of an operand that is no longer needed.
 *
 * The commonest operations take lanes of elements at once. A cell has room for
 * whole groups of lanes, so the last group may compute with arbitrary values after the elements;
 * those results are never read. */
#include <string.h>

#include "eager/internal.h"
#include "op/element.h"

/* ---- elements: one function for each row of elementwise.def that gives f32 ---- */

typedef void (*each_run)(const float *x, uint32_t count, float *out);
typedef float (*single_run)(float x, float y);

#define EACH_UNARY(ID)                                                                                       \
  static void each_##ID(const float *x, uint32_t count, float *out) {                                        \
    for (uint32_t i = 0; i < count; i++) out[i] = tn_canonical_f32(tn_of_##ID##_f32(x[i]));                  \
  }
#define EACH_BINARY(ID) \
  static float single_##ID(float x, float y) { return tn_canonical_f32(tn_of_##ID##_f32(x, y)); }
#define EACH_COMPARE(ID)
#define TN_ELEMENT(ID, KIND, DTYPES, ...) TN_IF_REAL_##DTYPES(EACH_##KIND(ID))
#include "op/elementwise.def"

#define ONE_UNARY(ID)          .each = each_##ID, .operands = 1,
#define ONE_BINARY(ID)         .single = single_##ID, .operands = 2,
#define ONE_COMPARE(ID)
#define LANES_LINK_BINARY      true
#define LANES_LINK_UNARY       false
#define LANES_STEP_UNARY       false
#define LANES_STEP_BINARY      false
#define LANES_STEP_COMPARE     false
#define LANES_BLOCKS_UNARY     false
static const struct {
  each_run each;
  single_run single;
  uint8_t operands; /* 0: it does not give f32 of f32 */
  bool lanes;       /* compute_lanes has it */
} rows[TN_OP_COUNT] = {
#define TN_ELEMENT(ID, KIND, DTYPES, NAME, DOC, REAL, WHOLE, TRUTH, VJP, JVP, SLOPE_X, SLOPE_Y, HOW, ...)    \
  [TN_OP_##ID] = { TN_IF_REAL_##DTYPES(ONE_##KIND(ID)).lanes = LANES_##HOW##_##KIND },
#include "op/elementwise.def"
};

#if defined(__GNUC__)
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#else
#define ALWAYS_INLINE static inline
#endif
/* One group of lanes, for operations of two operands and a few instructions. The result may be where an
 * operand is. */
#define CASE_LINK_BINARY(ID)                                                                                 \
  case TN_OP_##ID: {                                                                                         \
    float a[TN_CELL_LANES], b[TN_CELL_LANES];                                                                \
    memcpy(a, x, sizeof a);                                                                                  \
    memcpy(b, y, sizeof b);                                                                                  \
    for (int i = 0; i < TN_CELL_LANES; i++) a[i] = tn_canonical_f32(tn_of_##ID##_f32(a[i], b[i]));           \
    memcpy(out, a, sizeof a);                                                                                \
    break;                                                                                                   \
  }
#define CASE_LINK_UNARY(ID)
#define CASE_STEP_UNARY(ID)
#define CASE_STEP_BINARY(ID)
#define CASE_STEP_COMPARE(ID)
#define CASE_BLOCKS_UNARY(ID)
ALWAYS_INLINE void compute_lanes(tn_op op, const float *x, const float *y, float *out) {
  switch ((int)op) {
#define TN_ELEMENT(ID, KIND, DTYPES, NAME, DOC, REAL, WHOLE, TRUTH, VJP, JVP, SLOPE_X, SLOPE_Y, HOW, ...)    \
  CASE_##HOW##_##KIND(ID)
#include "op/elementwise.def"
  }
}

/* A single number repeats. */
static inline void load_lanes(float *lanes, const float *from, bool single) {
  if (!single) {
    memcpy(lanes, from, TN_CELL_LANES * sizeof *lanes);
    return;
  }
  for (int i = 0; i < TN_CELL_LANES; i++) lanes[i] = *from;
}

/* dx and dy are 0 for a single number. The result may be where an operand is. */
static void compute_binary(tn_op op, const float *x, int dx, const float *y, int dy, uint32_t count,
                           float *out) {
  bool lanes = rows[op].lanes;
  float first = *x, second = *y; /* a single number may lie where the result goes */
  for (uint32_t i = 0; !lanes && i < count; i++)
    out[i] = rows[op].single(dx ? x[i] : first, dy ? y[i] : second);
  for (uint32_t at = 0; lanes && at < count; at += TN_CELL_LANES) {
    float a[TN_CELL_LANES], b[TN_CELL_LANES];
    load_lanes(a, dx ? x + at : &first, !dx);
    load_lanes(b, dy ? y + at : &second, !dy);
    compute_lanes(op, a, b, out + at);
  }
}

/* ---- cells ---- */

typedef struct {
  tn_op op;
  int count;
  tn_value in[2]; /* what variables name now */
  tn_cell *cell[2];
  bool gradient; /* can flow through it */
  bool reuse;    /* an operand that nothing else holds may become the result */
} call;

/* A cell for a result of the operand's shape: the operand itself if that may go, else a fresh one. */
static tn_value place_for(tn_eager *eager, const call *c, int which) {
  const tn_cell *cell = c->cell[which];
  if (c->reuse && cell->references == 1 && !cell->leaf && cell->op == TN_OP_ERROR) return c->in[which];
  tn_value value = tn_cell_blank(eager);
  if (value != TN_ERROR_VALUE) tn_cell_shape_like(tn_cell_of(eager, value), cell);
  return value;
}

/* What was computed in place needs no more; a fresh value remembers. */
static tn_value finish(tn_eager *eager, const call *c, tn_value value) {
  bool in_place = value == c->in[0] || value == c->in[1];
  if (in_place || !(c->gradient || eager->everything)) return value;
  return tn_eager_remember(eager, value, c->op, c->in, c->count, NULL, c->gradient);
}

static tn_value quick_unary(tn_eager *eager, const call *c) {
  const tn_cell *x = c->cell[0];
  tn_value value = place_for(eager, c, 0);
  if (value == TN_ERROR_VALUE) return value;
  rows[c->op].each(x->few, x->elements, tn_cell_of(eager, value)->few);
  return finish(eager, c, value);
}

static tn_value quick_binary(tn_eager *eager, const call *c) {
  const tn_cell *x = c->cell[0], *y = c->cell[1];
  bool x_single = tn_cell_is_single(x), y_single = tn_cell_is_single(y);
  if (!x_single && !y_single && !tn_cell_same_shape(x, y)) return TN_ERROR_VALUE;
  tn_value value = place_for(eager, c, x_single);
  if (value == TN_ERROR_VALUE) return value;
  float *out = tn_cell_of(eager, value)->few;
  if (x_single && y_single)
    *out = rows[c->op].single(x->few[0], y->few[0]);
  else
    compute_binary(c->op, x->few, !x_single, y->few, !y_single, x_single ? y->elements : x->elements, out);
  return finish(eager, c, value);
}

/* The operand, or what the variable names; 0 when it is not small. */
static inline tn_value resolve(tn_eager *eager, tn_value value, tn_cell **cell) {
  *cell = tn_cell_of(eager, value);
  if ((*cell)->variable) {
    value = (*cell)->value;
    *cell = tn_cell_of(eager, value);
  }
  return (*cell)->small ? value : TN_ERROR_VALUE;
}

tn_value tn_eager_quick(tn_eager *eager, tn_op op, const tn_value *in, int count, bool reuse) {
  call c = { .op = op, .count = count };
  if (count == 0 || count != rows[op].operands) return TN_ERROR_VALUE;
  bool depends = false;
  for (int i = 0; i < count; i++) {
    c.in[i] = resolve(eager, in[i], &c.cell[i]);
    if (c.in[i] == TN_ERROR_VALUE) return TN_ERROR_VALUE;
    depends |= c.cell[i]->needs_grad;
  }
  c.gradient = depends && tn_eager_flows(eager, op, c.in, count, TN_F32);
  c.reuse = reuse && !c.gradient && !eager->everything;
  return count == 1 ? quick_unary(eager, &c) : quick_binary(eager, &c);
}

/* ---- the shortest path ---- */

/* No gradient flows through either, and nothing else holds the first: the most common case in
 * loops. The result replaces the first operand. */
static inline bool compute_in_place(tn_op op, tn_cell *x, const tn_cell *y) {
  if (x->references != 1 || x->leaf || x->op != TN_OP_ERROR) return false;
  if (x->elements > TN_CELL_LANES || !tn_cell_same_shape(x, y)) return false;
  compute_lanes(op, x->few, y->few, x->few);
  return true;
}

/* The tape holds an operand, of a variable the value it has now. What the caller gave up goes with it. */
static inline void hand_over(tn_eager *eager, tn_value given, tn_value operand, tn_cell *cell, bool keeps) {
  if (given == operand && !keeps) return;
  cell->references++;
  if (!keeps) tn_eager_unref(eager, given);
}

static inline void give_back(tn_eager *eager, tn_value value, tn_cell *cell) {
  if (cell->references > 1)
    cell->references--;
  else
    tn_eager_unref(eager, value);
}

ALWAYS_INLINE void compute_small(tn_op op, const tn_cell *x, const tn_cell *y, tn_cell *cell, bool same) {
  if (cell->elements == 1)
    cell->few[0] = rows[op].single(x->few[0], y->few[0]);
  else if (same && cell->elements <= TN_CELL_LANES)
    compute_lanes(op, x->few, y->few, cell->few);
  else
    compute_binary(op, x->few, !tn_cell_is_single(x), y->few, !tn_cell_is_single(y), cell->elements,
                   cell->few);
}

tn_value tn_eager_arithmetic(tn_eager *eager, tn_op op, const tn_value *in, bool keeps_second) {
  tn_cell *x, *y;
  tn_value a = resolve(eager, in[0], &x), b = resolve(eager, in[1], &y);
  if (a == TN_ERROR_VALUE || b == TN_ERROR_VALUE || !rows[op].lanes || eager->everything)
    return TN_ERROR_VALUE;
  if (!eager->recording || !(x->needs_grad | y->needs_grad)) {
    if (a != in[0] || b != in[1] || !compute_in_place(op, x, y)) return TN_ERROR_VALUE;
    if (!keeps_second) give_back(eager, b, y);
    return a;
  }
  bool same = tn_cell_same_shape(x, y), x_single = !same && tn_cell_is_single(x);
  if (!same && !x_single && !tn_cell_is_single(y)) return TN_ERROR_VALUE;
  tn_value value = tn_cell_blank(eager);
  if (value == TN_ERROR_VALUE) return value;
  tn_cell *cell = tn_cell_of(eager, value);
  tn_cell_shape_like(cell, x_single ? y : x);
  compute_small(op, x, y, cell, same);
  cell->op = (uint16_t)op;
  cell->needs_grad = 1;
  cell->count = 2;
  cell->in[0] = a;
  cell->in[1] = b;
  hand_over(eager, in[0], a, x, false);
  hand_over(eager, in[1], b, y, keeps_second);
  return value;
}
