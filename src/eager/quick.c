/* eager/quick.c: the short path for a few f32 elements.
 *
 * Most of what a stack language does is arithmetic on single numbers and short
 * vectors; there the cost is everything but the arithmetic. Operands of one
 * shape, or of one shape and a single number, are computed in place in a fresh
 * slot with the same scalar functions that the back ends are held to. */
#include <string.h>

#include "backend/scalar.h"
#include "base/elementary.h"
#include "eager/internal.h"

static inline float canonical(float x) { return tn_canonical_f32(x); }

/* The result takes the shape of the larger operand. */
static tn_value fresh_like(tn_eager *eager, const tn_slot *like) {
  tn_value value = tn_slot_blank(eager);
  if (value == TN_ERROR_VALUE) return value;
  tn_slot *slot = tn_slot_of(eager, value);
  slot->small = 1;
  slot->type = like->type;
  slot->view = like->view;
  slot->view.data = slot->few;
  return value;
}

static bool is_few(const tn_slot *slot) { return slot->small && tn_view_is_contiguous(&slot->view); }

#define EACH(expression)                                                                                     \
  do {                                                                                                       \
    for (int64_t i = 0; i < count; i++) out[i] = (expression);                                               \
    return true;                                                                                             \
  } while (0)

static bool compute_unary(tn_op op, const float *x, int64_t count, float *out) {
  switch (op) {
    case TN_OP_NEG: EACH(canonical(-x[i]));
    case TN_OP_RELU: EACH(x[i] > 0 ? x[i] : x[i] != x[i] ? x[i] : 0.0f);
    case TN_OP_EXP: EACH(tn_exp_f32(x[i]));
    case TN_OP_LOG: EACH(tn_log_f32(x[i]));
    case TN_OP_TANH: EACH(tn_tanh_f32(x[i]));
    case TN_OP_SIGMOID: EACH(tn_sigmoid_f32(x[i]));
    default: break;
  }
  tn_unary scalar = tn_scalar_unary(op, TN_F32);
  if (!scalar) return false;
  EACH(scalar((tn_element){ .f32 = x[i] }).f32);
}

/* dx and dy are 0 for a single number, which repeats. */
static bool compute_binary(tn_op op, const float *x, int dx, const float *y, int dy, int64_t count,
                           float *out) {
  switch (op) {
    case TN_OP_ADD: EACH(canonical(x[i * dx] + y[i * dy]));
    case TN_OP_SUB: EACH(canonical(x[i * dx] - y[i * dy]));
    case TN_OP_MUL: EACH(canonical(x[i * dx] * y[i * dy]));
    case TN_OP_DIV: EACH(canonical(x[i * dx] / y[i * dy]));
    case TN_OP_REM:
    case TN_OP_POW:
    case TN_OP_MINIMUM:
    case TN_OP_MAXIMUM: break;
    default: return false; /* comparisons give booleans */
  }
  tn_binary scalar = tn_scalar_binary(op, TN_F32);
  if (!scalar) return false;
  EACH(scalar((tn_element){ .f32 = x[i * dx] }, (tn_element){ .f32 = y[i * dy] }).f32);
}

static tn_value quick_unary(tn_eager *eager, tn_op op, tn_value x) {
  const tn_slot *slot = tn_slot_of(eager, x);
  if (!is_few(slot)) return TN_ERROR_VALUE;
  tn_value value = fresh_like(eager, slot);
  if (value == TN_ERROR_VALUE) return value;
  if (!compute_unary(op, slot->few, tn_view_count(&slot->view), tn_slot_of(eager, value)->few)) {
    tn_eager_unref(eager, value);
    return TN_ERROR_VALUE;
  }
  return tn_eager_finish(eager, value, op, &x, 1, NULL);
}

static tn_value quick_binary(tn_eager *eager, tn_op op, const tn_value *in) {
  const tn_slot *x = tn_slot_of(eager, in[0]), *y = tn_slot_of(eager, in[1]);
  if (!is_few(x) || !is_few(y)) return TN_ERROR_VALUE;
  bool x_single = x->type.shape.rank == 0, y_single = y->type.shape.rank == 0;
  if (!x_single && !y_single && !tn_shape_equal(&x->type.shape, &y->type.shape)) return TN_ERROR_VALUE;
  const tn_slot *larger = x_single ? y : x;
  tn_value value = fresh_like(eager, larger);
  if (value == TN_ERROR_VALUE) return value;
  if (!compute_binary(op, x->few, !x_single, y->few, !y_single, tn_view_count(&larger->view),
                      tn_slot_of(eager, value)->few)) {
    tn_eager_unref(eager, value);
    return TN_ERROR_VALUE;
  }
  return tn_eager_finish(eager, value, op, in, 2, NULL);
}

tn_value tn_eager_quick(tn_eager *eager, tn_op op, const tn_value *in, int count) {
  const tn_op_sig *sig = tn_op_sig_of(op);
  if (sig->kind != TN_KIND_ELEMENTWISE || count != sig->arity || count > 2 || op == TN_OP_CAST)
    return TN_ERROR_VALUE;
  tn_value resolved[2];
  for (int i = 0; i < count; i++) resolved[i] = tn_slot_value(eager, in[i]);
  return count == 1 ? quick_unary(eager, op, resolved[0]) : quick_binary(eager, op, resolved);
}
