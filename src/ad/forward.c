/* ad/forward.c: forward rules that many operations share.
 *
 * A tangent has the type of the value it belongs to, so a rule for operands
 * that broadcast ends by spreading the tangent to the shape of the result. */
#include "ad/internal.h"

static tn_value spread(const tn_ad_node *node, tn_value tangent) {
  return tn_build_broadcast_like(node->builder, tangent, node->out);
}

/* The sum of two tangents, either of which may be zero. */
static tn_value plus(const tn_ad_node *node, tn_value a, tn_value b) {
  if (a == TN_NO_VALUE) return b;
  return b == TN_NO_VALUE ? a : tn_ad_binary(node, TN_OP_ADD, a, b);
}

/* The node's operation, of two operands, of these. */
static tn_value times(const tn_ad_node *node, tn_value x, tn_value y) {
  const tn_value in[] = { x, y };
  if (x == TN_NO_VALUE || y == TN_NO_VALUE) return TN_NO_VALUE;
  return tn_build(node->builder, node->op, in, 2, node->attrs);
}

/* f(x) is linear: its tangent is f(t). */
bool tn_ad_jvp_linear(const tn_ad_node *node, const tn_value *tangents, tn_value *tangent) {
  *tangent = tn_build(node->builder, node->op, tangents, 1, node->attrs);
  return tn_ad_done(node);
}

/* Linear in the first operand; the others are places in it. */
bool tn_ad_jvp_first(const tn_ad_node *node, const tn_value *tangents, tn_value *tangent) {
  tn_value in[] = { tangents[0], node->in[1] };
  if (tangents[0] == TN_NO_VALUE) return true;
  *tangent = tn_build(node->builder, node->op, in, node->count, node->attrs);
  return tn_ad_done(node);
}

/* An elementwise result depends on one element of each operand, so the reverse rule given t as
 * the gradient multiplies t by the slope, which is what the tangent is. All operands are
 * spread to the result's shape first, so that the rule finds nothing to sum back. */
bool tn_ad_jvp_by_vjp(const tn_ad_node *node, const tn_value *tangents, tn_value *tangent) {
  tn_value in[2], grads[3];
  for (int i = 0; i < node->count; i++) in[i] = spread(node, node->in[i]);
  for (int i = 0; i < node->count; i++) {
    if (tangents[i] == TN_NO_VALUE) continue;
    bool wanted[2] = { i == 0, i == 1 };
    tn_ad_node wide = *node;
    wide.in = in;
    wide.wanted = wanted;
    if (!tn_ad_vjp_node(&wide, spread(node, tangents[i]), grads)) return false;
    *tangent = plus(node, *tangent, grads[i]);
  }
  return tn_ad_done(node);
}

/* A reduction's operand elements each reach one result: the reverse rule given ones is the slope
 * at every element, and the tangent sums slope * t over the reduced axes. */
bool tn_ad_jvp_by_vjp_reduce(const tn_ad_node *node, const tn_value *tangents, tn_value *tangent) {
  bool wanted[] = { true };
  tn_ad_node reverse = *node;
  tn_value slope[2];
  reverse.wanted = wanted;
  if (!tn_ad_vjp_node(&reverse, tn_build_like(node->builder, node->out, 1), slope)) return false;
  tn_value product = tn_ad_binary(node, TN_OP_MUL, slope[0], tangents[0]);
  *tangent = tn_build(node->builder, TN_OP_SUM, &product, 1, node->attrs);
  return tn_ad_done(node);
}

bool tn_ad_jvp_add(const tn_ad_node *node, const tn_value *tangents, tn_value *tangent) {
  *tangent = spread(node, plus(node, tangents[0], tangents[1]));
  return tn_ad_done(node);
}

bool tn_ad_jvp_sub(const tn_ad_node *node, const tn_value *tangents, tn_value *tangent) {
  tn_value x = tangents[0], y = tangents[1], difference = x;
  if (y != TN_NO_VALUE) {
    difference = x == TN_NO_VALUE ? tn_ad_unary(node, TN_OP_NEG, y) : tn_ad_binary(node, TN_OP_SUB, x, y);
  }
  *tangent = spread(node, difference);
  return tn_ad_done(node);
}

/* tx op y + x op ty. The products have the result's shape already. */
bool tn_ad_jvp_bilinear(const tn_ad_node *node, const tn_value *tangents, tn_value *tangent) {
  tn_value left = times(node, tangents[0], node->in[1]);
  tn_value right = times(node, node->in[0], tangents[1]);
  *tangent = plus(node, left, right);
  return tn_ad_done(node);
}

bool tn_ad_jvp_mul(const tn_ad_node *node, const tn_value *tangents, tn_value *tangent) {
  return tn_ad_jvp_bilinear(node, tangents, tangent);
}

bool tn_ad_jvp_select(const tn_ad_node *node, const tn_value *tangents, tn_value *tangent) {
  tn_value zero = tn_ad_number(node, node->out, 0);
  tn_value x = tangents[1] == TN_NO_VALUE ? zero : tangents[1];
  tn_value y = tangents[2] == TN_NO_VALUE ? zero : tangents[2];
  if (tangents[1] == TN_NO_VALUE && tangents[2] == TN_NO_VALUE) return true;
  *tangent = spread(node, tn_build_select(node->builder, node->in[0], x, y));
  return tn_ad_done(node);
}
