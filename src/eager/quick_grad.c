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

/* What a rule reads, element by element: the gradient, the result and the operands. */
typedef struct {
  float g[TN_SLOT_FEW], out[TN_SLOT_FEW], x[TN_SLOT_FEW], y[TN_SLOT_FEW];
  uint32_t count;
} lanes;

/* Of a result of several elements; a single number beside them repeats. */
static void load_several(float *into, const tn_slot *slot) {
  if (slot->type.shape.rank > 0) {
    memcpy(into, slot->few, sizeof slot->few);
    return;
  }
  for (int i = 0; i < TN_SLOT_FEW; i++) into[i] = slot->few[0];
}

static void load(lanes *l, const tn_slot *slot, const tn_slot *grad, const tn_slot *x, const tn_slot *y) {
  if (slot->elements == 1) {
    l->count = 1;
    l->g[0] = grad->few[0], l->out[0] = slot->few[0], l->x[0] = x->few[0], l->y[0] = y->few[0];
    return;
  }
  l->count = (slot->elements + TN_SLOT_LANES - 1) / TN_SLOT_LANES * TN_SLOT_LANES;
  load_several(l->g, grad);
  load_several(l->out, slot);
  load_several(l->x, x);
  load_several(l->y, y);
}

#define EACH(expression)                                                                                     \
  do {                                                                                                       \
    for (uint32_t i = 0; i < l->count; i++) into[i] = (expression);                                          \
    return true;                                                                                             \
  } while (0)

static float sign_of(float x) { return x > 0 ? 1.0f : x < 0 ? -1.0f : x; }

/* The gradient of operand `which`, but for NaNs. False for an operation that has no short form. */
static bool compute(tn_op op, int which, const lanes *restrict l, float *restrict into) {
  const float *g = l->g, *out = l->out, *x = l->x, *y = l->y;
  switch (op) {
    case TN_OP_ADD: EACH(g[i]);
    case TN_OP_SUB:
      if (which == 0) EACH(g[i]);
      EACH(-g[i]);
    case TN_OP_MUL:
      if (which == 0) EACH(g[i] * y[i]);
      EACH(g[i] * x[i]);
    case TN_OP_DIV:
      if (which == 0) EACH(g[i] / y[i]);
      EACH(-(g[i] * (out[i] / y[i])));
    case TN_OP_NEG: EACH(-g[i]);
    case TN_OP_ABS: EACH(g[i] * sign_of(x[i]));
    case TN_OP_SQRT: EACH(g[i] * 0.5f / out[i]);
    case TN_OP_EXP: EACH(g[i] * out[i]);
    case TN_OP_LOG: EACH(g[i] / x[i]);
    case TN_OP_TANH: EACH(g[i] * (1.0f - out[i] * out[i]));
    case TN_OP_SIGMOID: EACH(g[i] * (out[i] * (1.0f - out[i])));
    case TN_OP_RELU: EACH(x[i] > 0 ? g[i] : 0.0f);
    default: return false;
  }
}

static void gradient(tn_op op, int which, const lanes *l, float *into) {
  float raw[TN_SLOT_FEW];
  compute(op, which, l, raw);
  if (l->count == 1)
    into[0] = tn_canonical_f32(raw[0]);
  else
    tn_slot_store_lanes(into, raw, l->count);
}

static bool has_short_form(tn_op op) {
  switch (op) {
    case TN_OP_ADD:
    case TN_OP_SUB:
    case TN_OP_MUL:
    case TN_OP_DIV:
    case TN_OP_NEG:
    case TN_OP_ABS:
    case TN_OP_SQRT:
    case TN_OP_EXP:
    case TN_OP_LOG:
    case TN_OP_TANH:
    case TN_OP_SIGMOID:
    case TN_OP_RELU: return true;
    default: return false;
  }
}

/* Operands are small; those that matter have the shape of the result, the others that or none. */
static bool applies(const tn_eager *eager, const tn_slot *slot) {
  if (!slot->small || !has_short_form(slot->op)) return false;
  const tn_slot *grad = tn_slot_of(eager, slot->grad);
  bool ok = grad->small && tn_slot_same_shape(grad, slot);
  for (int i = 0; ok && i < slot->count; i++) {
    const tn_slot *operand = tn_slot_of(eager, slot->in[i]);
    bool single = operand->type.shape.rank == 0 && !operand->needs_grad;
    ok = operand->small && (single || tn_slot_same_shape(operand, slot));
  }
  return ok;
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
  memcpy(tn_slot_of(eager, place)->few, more, count * sizeof *more);
  if (have) {
    float sum[TN_SLOT_FEW];
    for (uint32_t i = 0; i < operand->elements; i++) sum[i] = (float)tn_view_get_f64(&have->view, i);
    for (uint32_t i = 0; i < operand->elements; i++) {
      tn_slot_of(eager, place)->few[i] = tn_canonical_f32(sum[i] + more[i]);
    }
    tn_eager_unref(eager, operand->grad);
  }
  operand->grad = place;
  return true;
}

bool tn_eager_quick_grad(tn_eager *eager, tn_slot *slot, bool *ok) {
  if (!applies(eager, slot)) return false;
  lanes l;
  float into[2][TN_SLOT_FEW];
  tn_slot *x = tn_slot_of(eager, slot->in[0]), *y = slot->count > 1 ? tn_slot_of(eager, slot->in[1]) : x;
  load(&l, slot, tn_slot_of(eager, slot->grad), x, y);
  *ok = true;
  for (int i = 0; i < slot->count; i++) gradient(slot->op, i, &l, into[i]);
  if (x->needs_grad) *ok = give(eager, slot, x, into[0], l.count);
  if (slot->count > 1 && y->needs_grad && *ok) *ok = give(eager, slot, y, into[1], l.count);
  return true;
}
