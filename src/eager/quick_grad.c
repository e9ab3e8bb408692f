/* eager/quick_grad.c: the short path backward.
 *
 * Where an elementwise operation on a few elements gave every operand that
 * matters its own shape, the gradients can be computed at once and added to
 * what the operands have. The slopes are those of
 * elementwise.def, which ad/elementwise.c reads too, so the bits are the same; tests compare the
 * two. Everything else is left to the rules. */
#include <string.h>

#include "eager/internal.h"
#include "op/element.h"

/* What a rule reads: the gradient, the result and the operands. An operand that is a single number beside
 * several elements is in `repeated`, and its step from one group of lanes to the next is 0. */
typedef struct {
  const float *g, *out, *x, *y;
  uint32_t dx, dy;
  uint32_t count; /* 1, or whole groups of lanes */
  float repeated[TN_CELL_LANES];
} sources;

/* ---- the slopes of elementwise.def ---- */

/* The gradient of an operand. Where it goes may be where the gradient of the result is. Copies in local
 * arrays, so that compilers see that nothing overlaps; what a slope does not read costs nothing. */
typedef void (*slope_run)(const sources *s, float *into);

#define SLOPE(name, expression)                                                                              \
  static float single_##name(float g, float out, float x, float y) {                                         \
    (void)g, (void)out, (void)x, (void)y;                                                                    \
    return (expression);                                                                                     \
  }                                                                                                          \
  static void name(const sources *s, float *into) {                                                          \
    if (s->count == 1) {                                                                                     \
      into[0] = tn_canonical_f32(single_##name(*s->g, *s->out, *s->x, *s->y));                               \
      return;                                                                                                \
    }                                                                                                        \
    const float *xs = s->x, *ys = s->y;                                                                      \
    for (uint32_t at = 0; at < s->count; at += TN_CELL_LANES, xs += s->dx, ys += s->dy) {                    \
      float g[TN_CELL_LANES], out[TN_CELL_LANES], x[TN_CELL_LANES], y[TN_CELL_LANES];                        \
      memcpy(g, s->g + at, sizeof g);                                                                        \
      memcpy(out, s->out + at, sizeof out);                                                                  \
      memcpy(x, xs, sizeof x);                                                                               \
      memcpy(y, ys, sizeof y);                                                                               \
      for (int i = 0; i < TN_CELL_LANES; i++)                                                                \
        g[i] = tn_canonical_f32(single_##name(g[i], out[i], x[i], y[i]));                                    \
      memcpy(into + at, g, sizeof g);                                                                        \
    }                                                                                                        \
  }
#define SLOPES_formula_UNARY(ID, X, Y)  SLOPE(slope_x_##ID, X)
#define SLOPES_formula_BINARY(ID, X, Y) SLOPE(slope_x_##ID, X) SLOPE(slope_y_##ID, Y)
#define SLOPES_zero_UNARY(ID, X, Y)
#define SLOPES_none_UNARY(ID, X, Y)
#define SLOPES_none_BINARY(ID, X, Y)
#define SLOPES_none_COMPARE(ID, X, Y)
#define TN_ELEMENT(ID, KIND, DTYPES, NAME, DOC, REAL, WHOLE, TRUTH, VJP, JVP, SLOPE_X, SLOPE_Y, ...)         \
  SLOPES_##VJP##_##KIND(ID, SLOPE_X, SLOPE_Y)
#define E_CALL(name) tn_##name##_f32
#define E_OUT        out
#define E_G          g
#include "op/words_real.inc"

#include "op/elementwise.def"

#define ENTRY_formula_UNARY(ID)  .run = { slope_x_##ID },
#define ENTRY_formula_BINARY(ID) .run = { slope_x_##ID, slope_y_##ID },
#define ENTRY_zero_UNARY(ID)
#define ENTRY_none_UNARY(ID)
#define ENTRY_none_BINARY(ID)
#define ENTRY_none_COMPARE(ID)
/* A sum passes its gradient on unchanged. Every slope contains E_G, so no other is as short. */
#define PASSES(slope) (sizeof(#slope) == sizeof "E_G")
static const struct {
  slope_run run[2];
  bool passes[2];
} slopes[TN_OP_COUNT] = {
#define TN_ELEMENT(ID, KIND, DTYPES, NAME, DOC, REAL, WHOLE, TRUTH, VJP, JVP, SLOPE_X, SLOPE_Y, ...)         \
  [TN_OP_##ID] = { ENTRY_##VJP##_##KIND(ID).passes = { PASSES(SLOPE_X), PASSES(SLOPE_Y) } },
#include "op/elementwise.def"
};

static const float *lanes_of(const tn_cell *operand, const tn_cell *cell, float *repeated, uint32_t *step) {
  *step = TN_CELL_LANES;
  if (cell->elements == 1 || !tn_cell_is_single(operand)) return operand->few;
  for (int i = 0; i < TN_CELL_LANES; i++) repeated[i] = operand->few[0];
  *step = 0;
  return repeated;
}

/* At most one operand can be a single number beside several elements. */
static inline void load(sources *s, const tn_cell *cell, const tn_cell *grad, const tn_cell *x,
                        const tn_cell *y) {
  s->g = grad->few;
  s->out = cell->few;
  s->x = lanes_of(x, cell, s->repeated, &s->dx);
  s->y = lanes_of(y, cell, s->repeated, &s->dy);
  s->count = cell->elements;
  if (s->count > 1) s->count = (s->count + TN_CELL_LANES - 1) / TN_CELL_LANES * TN_CELL_LANES;
}

/* Operands are small; those that matter have the shape of the result, the others that or none. */
static inline bool fits(const tn_cell *operand, const tn_cell *cell) {
  if (!operand->small) return false;
  return tn_cell_same_shape(operand, cell) || (tn_cell_is_single(operand) && !operand->needs_grad);
}

/* ---- passing on ---- */

static void add_lanes(float *restrict to, const float *restrict more, uint32_t count) {
  float sum[TN_CELL_FEW];
  if (count == 1) {
    to[0] = tn_canonical_f32(to[0] + more[0]);
    return;
  }
  for (uint32_t i = 0; i < count; i++) sum[i] = to[i] + more[i];
  tn_cell_store_lanes(to, sum, count);
}

/* Where a first gradient goes: into the cell of the result's gradient, which has been read, if nothing else
 * needs that; else into a fresh one. */
static tn_value first_place(tn_eager *eager, tn_cell *cell, const tn_cell *operand) {
  tn_value grad = cell->grad;
  if (grad != TN_ERROR_VALUE && tn_cell_of(eager, grad)->references == 1) {
    cell->grad = TN_ERROR_VALUE;
    return grad;
  }
  grad = tn_cell_blank(eager);
  if (grad != TN_ERROR_VALUE) tn_cell_shape_like(tn_cell_of(eager, grad), operand);
  return grad;
}

/* Adds to what an operand has received: in place, unless something else uses it. */
static bool give(tn_eager *eager, tn_cell *cell, tn_cell *operand, const float *more, uint32_t count) {
  tn_cell *have = operand->grad != TN_ERROR_VALUE ? tn_cell_of(eager, operand->grad) : NULL;
  if (have && have->references == 1 && have->small) {
    add_lanes(have->few, more, count);
    return true;
  }
  tn_value place = first_place(eager, cell, operand);
  if (place == TN_ERROR_VALUE) return false;
  float *few = tn_cell_of(eager, place)->few;
  for (uint32_t i = 0; i < count; i++) few[i] = more[i];
  if (have) {
    float sum[TN_CELL_FEW];
    tn_view view = tn_cell_view(have);
    for (uint32_t i = 0; i < operand->elements; i++) sum[i] = (float)tn_view_get_f64(&view, i);
    for (uint32_t i = 0; i < operand->elements; i++) {
      tn_cell_of(eager, place)->few[i] = tn_canonical_f32(sum[i] + more[i]);
    }
    tn_eager_unref(eager, operand->grad);
  }
  operand->grad = place;
  return true;
}

/* A link of a chain: one operand matters and has received nothing yet, and nothing else uses the gradient
 * of the result. Then that becomes the operand's where it is. */
static inline bool pass_through(tn_cell *cell, tn_cell *grad, tn_cell *x, tn_cell *y, int which) {
  tn_cell *operand = which == 0 ? x : y;
  if (operand->grad != TN_ERROR_VALUE || grad->references != 1) return false;
  if (!slopes[cell->op].passes[which]) {
    sources s;
    load(&s, cell, grad, x, y);
    slopes[cell->op].run[which](&s, grad->few);
  }
  operand->grad = cell->grad;
  cell->grad = TN_ERROR_VALUE;
  return true;
}

static bool pass_both(tn_eager *eager, tn_cell *cell, const tn_cell *grad, tn_cell *x, tn_cell *y) {
  sources s;
  float into[2][TN_CELL_FEW];
  bool second = cell->count > 1 && y->needs_grad;
  load(&s, cell, grad, x, y);
  if (x->needs_grad) slopes[cell->op].run[0](&s, into[0]);
  if (second) slopes[cell->op].run[1](&s, into[1]);
  if (x->needs_grad && !give(eager, cell, x, into[0], s.count)) return false;
  return !second || give(eager, cell, y, into[1], s.count);
}

bool tn_eager_quick_grad(tn_eager *eager, tn_cell *cell, bool *ok) {
  tn_cell *grad = tn_cell_of(eager, cell->grad);
  if (!cell->small || !grad->small || !tn_cell_same_shape(grad, cell) || !slopes[cell->op].run[0])
    return false;
  tn_cell *x = tn_cell_of(eager, cell->in[0]), *y = cell->count > 1 ? tn_cell_of(eager, cell->in[1]) : x;
  if (!fits(x, cell) || !fits(y, cell)) return false;
  bool first = x->needs_grad, second = cell->count > 1 && y->needs_grad;
  *ok = (first != second && pass_through(cell, grad, x, y, second)) || pass_both(eager, cell, grad, x, y);
  return true;
}
