/* eager/quick_grad.c: the short path backward.
 *
 * Where an elementwise operation on a few elements gave every operand that
 * matters its own shape, the gradients can be worked out at once and added to
 * what the operands have. Each line here is the rule of ad/elementwise.c for its
 * operation, step by step the same, so the bits are the same too; tests hold the
 * two against each other. Everything else is left to the rules. */
#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "eager/internal.h"

/* What a rule reads: the gradient, the result and the operands. An operand that is a single number beside
 * several elements stands in `repeated`, and its step from one group of lanes to the next is 0. */
typedef struct {
  const float *g, *out, *x, *y;
  uint32_t dx, dy;
  uint32_t count; /* 1, or whole groups of lanes */
  float repeated[TN_SLOT_LANES];
} sources;

static float sign_of(float x) { return x > 0 ? 1.0f : x < 0 ? -1.0f : x; }

/* The gradient of operand `which`, for one element. */
#define RULES                                                                                                \
  case TN_OP_ADD: RULE(g);                                                                                   \
  case TN_OP_SUB:                                                                                            \
    if (which == 0) RULE(g);                                                                                 \
    RULE(-g);                                                                                                \
  case TN_OP_MUL:                                                                                            \
    if (which == 0) RULE(g *y);                                                                              \
    RULE(g *x);                                                                                              \
  case TN_OP_DIV:                                                                                            \
    if (which == 0) RULE(g / y);                                                                             \
    RULE(-(g * (out / y)));                                                                                  \
  case TN_OP_NEG: RULE(-g);                                                                                  \
  case TN_OP_ABS: RULE(g *sign_of(x));                                                                       \
  case TN_OP_SQRT: RULE(g * 0.5f / out);                                                                     \
  case TN_OP_EXP: RULE(g *out);                                                                              \
  case TN_OP_LOG: RULE(g / x);                                                                               \
  case TN_OP_TANH: RULE(g *(1.0f - out * out));                                                              \
  case TN_OP_SIGMOID: RULE(g *(out * (1.0f - out)));                                                         \
  case TN_OP_RELU: RULE(x > 0 ? g : 0.0f);                                                                   \
  default:                                                                                                   \
    break;

#define RULE(expression) return tn_canonical_f32(expression)
static float single_gradient(tn_op op, int which, const sources *s) {
  float g = *s->g, out = *s->out, x = *s->x, y = *s->y;
  switch (op) { RULES }
  return 0;
}
#undef RULE

/* Copies in local arrays, so that compilers see that nothing overlaps. What a rule does not read costs
 * nothing. */
#define RULE(expression)                                                                                     \
  do {                                                                                                       \
    for (uint32_t at = 0; at < s->count; at += TN_SLOT_LANES, xs += s->dx, ys += s->dy) {                    \
      float gs[TN_SLOT_LANES], outs[TN_SLOT_LANES], xl[TN_SLOT_LANES], yl[TN_SLOT_LANES];                    \
      memcpy(gs, s->g + at, sizeof gs);                                                                      \
      memcpy(outs, s->out + at, sizeof outs);                                                                \
      memcpy(xl, xs, sizeof xl);                                                                             \
      memcpy(yl, ys, sizeof yl);                                                                             \
      for (int i = 0; i < TN_SLOT_LANES; i++) {                                                              \
        float g = gs[i], out = outs[i], x = xl[i], y = yl[i];                                                \
        (void)out, (void)x, (void)y;                                                                         \
        gs[i] = (expression);                                                                                \
      }                                                                                                      \
      tn_slot_store_lanes(into + at, gs, TN_SLOT_LANES);                                                     \
    }                                                                                                        \
    return;                                                                                                  \
  } while (0)
/* Where it goes may be where the gradient of the result is. */
static void gradient(tn_op op, int which, const sources *s, float *into) {
  const float *xs = s->x, *ys = s->y;
  if (s->count == 1) {
    into[0] = single_gradient(op, which, s);
    return;
  }
  switch (op) { RULES }
}
#undef RULE

static const float *lanes_of(const tn_slot *operand, const tn_slot *slot, float *repeated, uint32_t *step) {
  *step = TN_SLOT_LANES;
  if (slot->elements == 1 || !tn_slot_is_single(operand)) return operand->few;
  for (int i = 0; i < TN_SLOT_LANES; i++) repeated[i] = operand->few[0];
  *step = 0;
  return repeated;
}

/* At most one operand can be a single number beside several elements. */
static inline void load(sources *s, const tn_slot *slot, const tn_slot *grad, const tn_slot *x,
                        const tn_slot *y) {
  s->g = grad->few;
  s->out = slot->few;
  s->x = lanes_of(x, slot, s->repeated, &s->dx);
  s->y = lanes_of(y, slot, s->repeated, &s->dy);
  s->count = slot->elements;
  if (s->count > 1) s->count = (s->count + TN_SLOT_LANES - 1) / TN_SLOT_LANES * TN_SLOT_LANES;
}

static bool has_short_form(uint32_t op) {
  static const uint8_t known[TN_OP_COUNT] = {
    [TN_OP_ADD] = 1, [TN_OP_SUB] = 1,  [TN_OP_MUL] = 1,     [TN_OP_DIV] = 1,
    [TN_OP_NEG] = 1, [TN_OP_ABS] = 1,  [TN_OP_SQRT] = 1,    [TN_OP_EXP] = 1,
    [TN_OP_LOG] = 1, [TN_OP_TANH] = 1, [TN_OP_SIGMOID] = 1, [TN_OP_RELU] = 1,
  };
  return known[op];
}

/* Operands are small; those that matter have the shape of the result, the others that or none. */
static inline bool fits(const tn_slot *operand, const tn_slot *slot) {
  if (!operand->small) return false;
  return tn_slot_same_shape(operand, slot) || (tn_slot_is_single(operand) && !operand->needs_grad);
}

/* ---- passing on ---- */

static void add_lanes(float *restrict to, const float *restrict more, uint32_t count) {
  float sum[TN_SLOT_FEW];
  if (count == 1) {
    to[0] = tn_canonical_f32(to[0] + more[0]);
    return;
  }
  for (uint32_t i = 0; i < count; i++) sum[i] = to[i] + more[i];
  tn_slot_store_lanes(to, sum, count);
}

/* Where a first gradient goes: into the slot of the result's gradient, which has been read, if nobody else
 * needs that; else into a fresh one. */
static tn_value first_place(tn_eager *eager, tn_slot *slot, const tn_slot *operand) {
  tn_value grad = slot->grad;
  if (grad != TN_ERROR_VALUE && tn_slot_of(eager, grad)->references == 1) {
    slot->grad = TN_ERROR_VALUE;
    return grad;
  }
  grad = tn_slot_blank(eager);
  if (grad != TN_ERROR_VALUE) tn_slot_shape_like(tn_slot_of(eager, grad), operand);
  return grad;
}

/* Adds to what an operand has received: in place, unless somebody else looks at that. */
static bool give(tn_eager *eager, tn_slot *slot, tn_slot *operand, const float *more, uint32_t count) {
  tn_slot *have = operand->grad != TN_ERROR_VALUE ? tn_slot_of(eager, operand->grad) : NULL;
  if (have && have->references == 1 && have->small) {
    add_lanes(have->few, more, count);
    return true;
  }
  tn_value place = first_place(eager, slot, operand);
  if (place == TN_ERROR_VALUE) return false;
  float *few = tn_slot_of(eager, place)->few;
  for (uint32_t i = 0; i < count; i++) few[i] = more[i];
  if (have) {
    float sum[TN_SLOT_FEW];
    tn_view view = tn_slot_view(have);
    for (uint32_t i = 0; i < operand->elements; i++) sum[i] = (float)tn_view_get_f64(&view, i);
    for (uint32_t i = 0; i < operand->elements; i++) {
      tn_slot_of(eager, place)->few[i] = tn_canonical_f32(sum[i] + more[i]);
    }
    tn_eager_unref(eager, operand->grad);
  }
  operand->grad = place;
  return true;
}

/* What a sum passes on is what it received. */
static inline bool is_passed_on(tn_op op, int which) {
  return op == TN_OP_ADD || (op == TN_OP_SUB && which == 0);
}

/* A link of a chain: one operand matters and has received nothing yet, and nobody else looks at the gradient
 * of the result. Then that becomes the operand's where it is. */
static inline bool pass_through(tn_slot *slot, tn_slot *grad, tn_slot *x, tn_slot *y, int which) {
  tn_slot *operand = which == 0 ? x : y;
  if (operand->grad != TN_ERROR_VALUE || grad->references != 1) return false;
  if (!is_passed_on((tn_op)slot->op, which)) {
    sources s;
    load(&s, slot, grad, x, y);
    gradient((tn_op)slot->op, which, &s, grad->few);
  }
  operand->grad = slot->grad;
  slot->grad = TN_ERROR_VALUE;
  return true;
}

static bool pass_both(tn_eager *eager, tn_slot *slot, const tn_slot *grad, tn_slot *x, tn_slot *y) {
  sources s;
  float into[2][TN_SLOT_FEW];
  bool second = slot->count > 1 && y->needs_grad;
  load(&s, slot, grad, x, y);
  if (x->needs_grad) gradient((tn_op)slot->op, 0, &s, into[0]);
  if (second) gradient((tn_op)slot->op, 1, &s, into[1]);
  if (x->needs_grad && !give(eager, slot, x, into[0], s.count)) return false;
  return !second || give(eager, slot, y, into[1], s.count);
}

bool tn_eager_quick_grad(tn_eager *eager, tn_slot *slot, bool *ok) {
  tn_slot *grad = tn_slot_of(eager, slot->grad);
  if (!slot->small || !grad->small || !tn_slot_same_shape(grad, slot) || !has_short_form(slot->op))
    return false;
  tn_slot *x = tn_slot_of(eager, slot->in[0]), *y = slot->count > 1 ? tn_slot_of(eager, slot->in[1]) : x;
  if (!fits(x, slot) || !fits(y, slot)) return false;
  bool first = x->needs_grad, second = slot->count > 1 && y->needs_grad;
  *ok = (first != second && pass_through(slot, grad, x, y, second)) || pass_both(eager, slot, grad, x, y);
  return true;
}
