/* ad/elementwise.c: derivatives of what works element by element.
 *
 * Gradients of operands that were broadcast are summed back to their shape.
 * Where a function's own result says its derivative (exp, tanh, sqrt, ...) the
 * result is used again instead of being computed again. */
#include "ad/internal.h"

/* Writes the gradient of operand i, summed back to its shape. */
static void give(const tn_ad_node *node, tn_value *grads, int i, tn_value gradient) {
  tn_type type = tn_ad_type(node, i);
  grads[i] = tn_build_sum_to(node->builder, gradient, &type.shape);
}

/* ---- one operand ---- */

bool tn_ad_vjp_neg(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  grads[0] = tn_ad_unary(node, TN_OP_NEG, gradient);
  return tn_ad_done(node);
}

/* 0 at 0, because sign is. */
bool tn_ad_vjp_abs(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  tn_value sign = tn_ad_unary(node, TN_OP_SIGN, node->in[0]);
  grads[0] = tn_ad_binary(node, TN_OP_MUL, gradient, sign);
  return tn_ad_done(node);
}

/* g / 2 / sqrt(x) */
bool tn_ad_vjp_sqrt(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  tn_value half = tn_ad_binary(node, TN_OP_MUL, gradient, tn_ad_number(node, gradient, 0.5));
  grads[0] = tn_ad_binary(node, TN_OP_DIV, half, node->out);
  return tn_ad_done(node);
}

bool tn_ad_vjp_exp(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  grads[0] = tn_ad_binary(node, TN_OP_MUL, gradient, node->out);
  return tn_ad_done(node);
}

bool tn_ad_vjp_log(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  grads[0] = tn_ad_binary(node, TN_OP_DIV, gradient, node->in[0]);
  return tn_ad_done(node);
}

/* g * (1 - y * y) */
bool tn_ad_vjp_tanh(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  tn_value square = tn_ad_binary(node, TN_OP_MUL, node->out, node->out);
  tn_value slope = tn_ad_binary(node, TN_OP_SUB, tn_ad_number(node, gradient, 1), square);
  grads[0] = tn_ad_binary(node, TN_OP_MUL, gradient, slope);
  return tn_ad_done(node);
}

/* g * (y * (1 - y)) */
bool tn_ad_vjp_sigmoid(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  tn_value rest = tn_ad_binary(node, TN_OP_SUB, tn_ad_number(node, gradient, 1), node->out);
  tn_value slope = tn_ad_binary(node, TN_OP_MUL, node->out, rest);
  grads[0] = tn_ad_binary(node, TN_OP_MUL, gradient, slope);
  return tn_ad_done(node);
}

/* 0 at 0. A select and not a product: what does not flow is 0 even where g is infinite. */
bool tn_ad_vjp_relu(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  tn_value zero = tn_ad_number(node, gradient, 0);
  tn_value positive = tn_ad_binary(node, TN_OP_GT, node->in[0], zero);
  grads[0] = tn_build_select(node->builder, positive, gradient, zero);
  return tn_ad_done(node);
}

#define TWO_OVER_SQRT_PI 1.1283791670955126

/* g * (2 / sqrt(pi) * exp(-(x * x))) */
bool tn_ad_vjp_erf(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  tn_value square = tn_ad_binary(node, TN_OP_MUL, node->in[0], node->in[0]);
  tn_value bell = tn_ad_unary(node, TN_OP_EXP, tn_ad_unary(node, TN_OP_NEG, square));
  tn_value slope = tn_ad_binary(node, TN_OP_MUL, tn_ad_number(node, gradient, TWO_OVER_SQRT_PI), bell);
  grads[0] = tn_ad_binary(node, TN_OP_MUL, gradient, slope);
  return tn_ad_done(node);
}

bool tn_ad_vjp_sin(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  grads[0] = tn_ad_binary(node, TN_OP_MUL, gradient, tn_ad_unary(node, TN_OP_COS, node->in[0]));
  return tn_ad_done(node);
}

bool tn_ad_vjp_cos(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  tn_value slope = tn_ad_unary(node, TN_OP_NEG, tn_ad_unary(node, TN_OP_SIN, node->in[0]));
  grads[0] = tn_ad_binary(node, TN_OP_MUL, gradient, slope);
  return tn_ad_done(node);
}

/* Integers and booleans carry no gradient. */
bool tn_ad_vjp_cast(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  tn_dtype dtype = tn_ad_type(node, 0).dtype;
  if (tn_ad_differentiable(dtype)) grads[0] = tn_build_cast(node->builder, gradient, dtype);
  return tn_ad_done(node);
}

bool tn_ad_jvp_cast(const tn_ad_node *node, const tn_value *tangents, tn_value *tangent) {
  tn_dtype dtype = tn_ad_out_type(node).dtype;
  if (tn_ad_differentiable(dtype)) *tangent = tn_build_cast(node->builder, tangents[0], dtype);
  return tn_ad_done(node);
}

/* ---- two operands ---- */

bool tn_ad_vjp_add(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  for (int i = 0; i < 2; i++) {
    if (node->wanted[i]) give(node, grads, i, gradient);
  }
  return tn_ad_done(node);
}

bool tn_ad_vjp_sub(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  if (node->wanted[0]) give(node, grads, 0, gradient);
  if (node->wanted[1]) {
    give(node, grads, 1, gradient);
    grads[1] = tn_ad_unary(node, TN_OP_NEG, grads[1]); /* after the sum: fewer elements */
  }
  return tn_ad_done(node);
}

bool tn_ad_vjp_mul(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  for (int i = 0; i < 2; i++) {
    if (node->wanted[i]) give(node, grads, i, tn_ad_binary(node, TN_OP_MUL, gradient, node->in[1 - i]));
  }
  return tn_ad_done(node);
}

/* g / y, and -(g * (x / y / y)) */
bool tn_ad_vjp_div(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  if (node->wanted[0]) give(node, grads, 0, tn_ad_binary(node, TN_OP_DIV, gradient, node->in[1]));
  if (node->wanted[1]) {
    tn_value slope = tn_ad_binary(node, TN_OP_DIV, node->out, node->in[1]);
    give(node, grads, 1, tn_ad_binary(node, TN_OP_MUL, gradient, slope));
    grads[1] = tn_ad_unary(node, TN_OP_NEG, grads[1]);
  }
  return tn_ad_done(node);
}

static tn_value is_zero(const tn_ad_node *node, tn_value x) {
  return tn_ad_binary(node, TN_OP_EQ, x, tn_ad_number(node, x, 0));
}

/* y * x^(y - 1). x^0 is constant, but at x = 0 the formula says 0 * 0^-1, so there the base is
 * replaced by 1. It is the base that is replaced and not the exponent, because the formula
 * must stay right when it is differentiated by y. */
static tn_value pow_slope_by_base(const tn_ad_node *node) {
  tn_value x = node->in[0], y = node->in[1], one = tn_ad_number(node, x, 1);
  tn_value base_is_zero = is_zero(node, x), exponent_is_zero = is_zero(node, y);
  tn_value both = tn_ad_binary(node, TN_OP_AND, base_is_zero, exponent_is_zero);
  tn_value base = tn_build_select(node->builder, both, one, x);
  tn_value power = tn_ad_binary(node, TN_OP_POW, base, tn_ad_binary(node, TN_OP_SUB, y, one));
  return tn_ad_binary(node, TN_OP_MUL, y, power);
}

/* x^y * log(x). 0^y is constantly 0 for y > 0, but the formula says 0 * log(0), so log(1) stands
 * there. Negative bases have powers at whole exponents only, hence no slope: log gives NaN. */
static tn_value pow_slope_by_exponent(const tn_ad_node *node) {
  tn_value x = node->in[0], one = tn_ad_number(node, x, 1);
  tn_value base = tn_build_select(node->builder, is_zero(node, x), one, x);
  return tn_ad_binary(node, TN_OP_MUL, node->out, tn_ad_unary(node, TN_OP_LOG, base));
}

bool tn_ad_vjp_pow(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  if (node->wanted[0]) {
    give(node, grads, 0, tn_ad_binary(node, TN_OP_MUL, gradient, pow_slope_by_base(node)));
  }
  if (node->wanted[1]) {
    give(node, grads, 1, tn_ad_binary(node, TN_OP_MUL, gradient, pow_slope_by_exponent(node)));
  }
  return tn_ad_done(node);
}

/* All of g to the operand that was taken, half of it to each on a tie. */
bool tn_ad_vjp_minmax(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  tn_op beats = node->op == TN_OP_MAXIMUM ? TN_OP_GT : TN_OP_LT;
  tn_value zero = tn_ad_number(node, gradient, 0), half = tn_ad_number(node, gradient, 0.5);
  tn_value tie = tn_ad_binary(node, TN_OP_EQ, node->in[0], node->in[1]);
  tn_value shared = tn_ad_binary(node, TN_OP_MUL, gradient, half);
  for (int i = 0; i < 2; i++) {
    if (!node->wanted[i]) continue;
    tn_value taken = tn_ad_binary(node, beats, node->in[i], node->in[1 - i]);
    tn_value alone = tn_build_select(node->builder, taken, gradient, zero);
    give(node, grads, i, tn_build_select(node->builder, tie, shared, alone));
  }
  return tn_ad_done(node);
}

bool tn_ad_vjp_select(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  tn_value zero = tn_ad_number(node, gradient, 0), condition = node->in[0];
  if (node->wanted[1]) give(node, grads, 1, tn_build_select(node->builder, condition, gradient, zero));
  if (node->wanted[2]) give(node, grads, 2, tn_build_select(node->builder, condition, zero, gradient));
  return tn_ad_done(node);
}
