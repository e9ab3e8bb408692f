/* ad/along.c: derivatives of reductions and scans.
 *
 * prod and cumprod are the hard ones: dividing the product by the element fails
 * at zeros. The slope of a product is the product of all others, which is the
 * product of the elements before times the product of the elements after: two exclusive running
 * products, in linear time, right for any number of zeros. The derivative of a running product is a
 * linear recurrence, solved by doubling, again with products and sums only. So derivatives of every
 * order are exact at zeros too. */
#include "ad/internal.h"

/* ---- sums and extremes ---- */

/* Broadcasting restores leading axes implicitly. */
static bool drops_leading_axes(const tn_attrs *attrs) {
  for (int i = 0; i < attrs->axis_count; i++) {
    if (attrs->axes[i] != i) return false;
  }
  return !attrs->keepdims;
}

/* Puts back the axes that a reduction dropped, and repeats them to the operand's shape. */
static tn_value spread(const tn_ad_node *node, tn_value reduced) {
  tn_shape shape = tn_ad_type(node, 0).shape;
  if (drops_leading_axes(node->attrs)) return tn_build_broadcast_like(node->builder, reduced, node->in[0]);
  for (int i = 0; i < node->attrs->axis_count; i++) shape.dim[node->attrs->axes[i]] = 1;
  tn_value kept = tn_build_reshape(node->builder, reduced, &shape);
  return tn_build_broadcast_like(node->builder, kept, node->in[0]);
}

/* How many elements were reduced to one, as a number of the given dtype. */
static tn_value count_reduced(const tn_ad_node *node, tn_dtype dtype) {
  tn_attrs attrs = { .dtype = dtype, .axis_count = node->attrs->axis_count };
  for (int i = 0; i < attrs.axis_count; i++) attrs.axes[i] = node->attrs->axes[i];
  return tn_build(node->builder, TN_OP_ELEMENTS, node->in, 1, &attrs);
}

bool tn_ad_vjp_sum(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  grads[0] = spread(node, gradient);
  return tn_ad_done(node);
}

bool tn_ad_vjp_mean(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  tn_value count = count_reduced(node, tn_ad_type(node, 0).dtype);
  grads[0] = spread(node, tn_ad_binary(node, TN_OP_DIV, gradient, count));
  return tn_ad_done(node);
}

/* max and min: those that equal the result share the gradient evenly. They are counted by a select
 * and not by a cast, which would pass for a boolean on the path of the next derivative. */
bool tn_ad_vjp_max(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  tn_builder *builder = node->builder;
  tn_value zero = tn_ad_number(node, node->in[0], 0), one = tn_ad_number(node, node->in[0], 1);
  tn_value taken = tn_ad_binary(node, TN_OP_EQ, node->in[0], spread(node, node->out));
  tn_value ones = tn_build_select(builder, taken, one, zero);
  tn_value ties = tn_build(builder, TN_OP_SUM, &ones, 1, node->attrs);
  tn_value share = spread(node, tn_ad_binary(node, TN_OP_DIV, gradient, ties));
  grads[0] = tn_build_select(builder, taken, share, zero);
  return tn_ad_done(node);
}

/* ---- products ---- */

static tn_value running(const tn_ad_node *node, tn_op op, tn_value x, int axis, bool reverse,
                        bool exclusive) {
  tn_attrs attrs = { .axis = axis, .reverse = reverse, .exclusive = exclusive };
  return tn_build(node->builder, op, &x, 1, &attrs);
}

/* For every element the product of all others along the axis. */
static tn_value product_of_others(const tn_ad_node *node, tn_value x, int axis) {
  tn_value before = running(node, TN_OP_CUMPROD, x, axis, false, true);
  return tn_ad_binary(node, TN_OP_MUL, before, running(node, TN_OP_CUMPROD, x, axis, true, true));
}

/* Several axes are taken one after the other: partial[i] is the product over the first i. */
bool tn_ad_vjp_prod(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  const tn_attrs *attrs = node->attrs;
  tn_value partial[TN_RANK_LIMIT] = { node->in[0] };
  tn_shape shape = tn_ad_type(node, 0).shape;
  for (int i = 0; i < attrs->axis_count; i++) {
    const int axis[] = { attrs->axes[i] };
    shape.dim[axis[0]] = 1;
    if (i + 1 == attrs->axis_count) break;
    partial[i + 1] = tn_build_reduce(node->builder, TN_OP_PROD, partial[i], axis, 1, true);
  }
  grads[0] = tn_build_reshape(node->builder, gradient, &shape);
  for (int i = attrs->axis_count; i-- > 0;) {
    tn_value others = product_of_others(node, partial[i], attrs->axes[i]);
    grads[0] = tn_ad_binary(node, TN_OP_MUL, grads[0], others);
  }
  return tn_ad_done(node);
}

/* x moved `by` places along the axis: result[i] = x[i + by] (or x[i - by], if `reverse`), zeros
 * where there is none. */
static tn_value shifted(const tn_ad_node *node, tn_value x, int axis, int64_t by, bool reverse) {
  tn_builder *builder = node->builder;
  int64_t length = tn_build_type(builder, x)->shape.dim[axis];
  tn_attrs pad = { 0 };
  if (by > length) by = length;
  (reverse ? pad.low : pad.high)[axis] = by;
  tn_value rest = tn_build_slice(builder, x, axis, reverse ? 0 : by, reverse ? length - by : length, 1);
  return tn_build(builder, TN_OP_PAD, &rest, 1, &pad);
}

/* s[i] = b[i] + a[i] * s[i + 1], with s after the end 0 (i - 1 and the beginning, if `reverse`).
 * After the step of distance d, s[i] holds what the next 2d elements give, and a[i] is the
 * product over them. */
static tn_value recurrence(const tn_ad_node *node, tn_value a, tn_value b, int axis, bool reverse) {
  if (a == TN_ERROR_VALUE || b == TN_ERROR_VALUE) return TN_ERROR_VALUE;
  int64_t length = tn_build_type(node->builder, a)->shape.dim[axis];
  for (int64_t d = 1; d < length; d *= 2) {
    tn_value next = tn_ad_binary(node, TN_OP_MUL, a, shifted(node, b, axis, d, reverse));
    b = tn_ad_binary(node, TN_OP_ADD, b, next);
    if (2 * d < length) a = tn_ad_binary(node, TN_OP_MUL, a, shifted(node, a, axis, d, reverse));
  }
  return b;
}

/* Where the length is not known: the matrix of all slopes, d out[i] / d x[k], with i along `axis`
 * and k along a new axis after it. Row i is a product over the x[k] that reach out[i]. */
static tn_value cumprod_slopes(const tn_ad_node *node) {
  tn_builder *builder = node->builder;
  int axis = node->attrs->axis;
  tn_shape shape = tn_ad_type(node, 0).shape;
  tn_value rows = tn_build_new_axis(builder, node->in[0], axis);
  if (rows == TN_ERROR_VALUE) return TN_ERROR_VALUE;
  tn_attrs places = { .dtype = TN_I64, .shape = tn_shape_make(1, shape.dim[axis]) };
  tn_value k = tn_build(builder, TN_OP_IOTA, NULL, 0, &places), i = tn_build_new_axis(builder, k, 1);
  tn_op order = node->attrs->exclusive ? TN_OP_LT : TN_OP_LE;
  tn_value reaches = tn_ad_binary(node, order, node->attrs->reverse ? i : k, node->attrs->reverse ? k : i);
  tn_shape square = { .rank = shape.rank + 1 - axis };
  for (int d = 0; d < square.rank; d++) square.dim[d] = d < 2 ? shape.dim[axis] : 1;
  reaches = tn_build_reshape(builder, reaches, &square);
  tn_value factors = tn_build_select(builder, reaches, rows, tn_ad_number(node, rows, 1));
  tn_value others = product_of_others(node, factors, axis + 1);
  return tn_build_select(builder, reaches, others, tn_ad_number(node, rows, 0));
}

static tn_value weigh(const tn_ad_node *node, tn_value slopes, tn_value x, int new_axis, int summed) {
  tn_value weighed = tn_ad_binary(node, TN_OP_MUL, slopes, tn_build_new_axis(node->builder, x, new_axis));
  return tn_build_reduce(node->builder, TN_OP_SUM, weighed, &summed, 1, false);
}

static bool length_is_known(const tn_ad_node *node) {
  return tn_dim_is_known(tn_ad_type(node, 0).shape.dim[node->attrs->axis]);
}

/* dx[j] = before[j] * s[j], where before is the product up to j and s[j] sums, over the results
 * i that x[j] reaches, g[i] times the product of the elements between: s[j] = g[j] + x[j+1] * s[j+1]. */
bool tn_ad_vjp_cumprod(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  const tn_attrs *attrs = node->attrs;
  int axis = attrs->axis;
  if (!length_is_known(node)) {
    grads[0] = weigh(node, cumprod_slopes(node), gradient, axis + 1, axis);
    return tn_ad_done(node);
  }
  tn_value before = running(node, TN_OP_CUMPROD, node->in[0], axis, attrs->reverse, true);
  tn_value next = shifted(node, node->in[0], axis, 1, attrs->reverse);
  if (attrs->exclusive) gradient = shifted(node, gradient, axis, 1, attrs->reverse);
  tn_value sum = recurrence(node, next, gradient, axis, attrs->reverse);
  grads[0] = tn_ad_binary(node, TN_OP_MUL, before, sum);
  return tn_ad_done(node);
}

/* The product rule: dy[i] = before[i] * t[i] + x[i] * dy[i - 1]. */
bool tn_ad_jvp_cumprod(const tn_ad_node *node, const tn_value *tangents, tn_value *tangent) {
  const tn_attrs *attrs = node->attrs;
  int axis = attrs->axis;
  if (!length_is_known(node)) {
    *tangent = weigh(node, cumprod_slopes(node), tangents[0], axis, axis + 1);
    return tn_ad_done(node);
  }
  tn_value before = running(node, TN_OP_CUMPROD, node->in[0], axis, attrs->reverse, true);
  tn_value own = tn_ad_binary(node, TN_OP_MUL, before, tangents[0]);
  *tangent = recurrence(node, node->in[0], own, axis, !attrs->reverse);
  if (attrs->exclusive) *tangent = shifted(node, *tangent, axis, 1, !attrs->reverse);
  return tn_ad_done(node);
}

bool tn_ad_vjp_cumsum(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  const tn_attrs *attrs = node->attrs;
  grads[0] = running(node, TN_OP_CUMSUM, gradient, attrs->axis, !attrs->reverse, attrs->exclusive);
  return tn_ad_done(node);
}

/* ---- softmax ---- */

static tn_value sum_along(const tn_ad_node *node, tn_value x) {
  const int axis[] = { node->attrs->axis };
  return tn_build_reduce(node->builder, TN_OP_SUM, x, axis, 1, true);
}

/* y * (t - sum(t * y)): the matrix of slopes is symmetric, so this is both rules. */
static tn_value softmax_slope(const tn_ad_node *node, tn_value t) {
  tn_value mean = sum_along(node, tn_ad_binary(node, TN_OP_MUL, t, node->out));
  return tn_ad_binary(node, TN_OP_MUL, node->out, tn_ad_binary(node, TN_OP_SUB, t, mean));
}

bool tn_ad_vjp_softmax(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  grads[0] = softmax_slope(node, gradient);
  return tn_ad_done(node);
}

bool tn_ad_jvp_softmax(const tn_ad_node *node, const tn_value *tangents, tn_value *tangent) {
  *tangent = softmax_slope(node, tangents[0]);
  return tn_ad_done(node);
}

/* g - softmax * sum(g) */
bool tn_ad_vjp_log_softmax(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  tn_value softmax = tn_ad_unary(node, TN_OP_EXP, node->out);
  tn_value share = tn_ad_binary(node, TN_OP_MUL, softmax, sum_along(node, gradient));
  grads[0] = tn_ad_binary(node, TN_OP_SUB, gradient, share);
  return tn_ad_done(node);
}

/* t - sum(softmax * t) */
bool tn_ad_jvp_log_softmax(const tn_ad_node *node, const tn_value *tangents, tn_value *tangent) {
  tn_value softmax = tn_ad_unary(node, TN_OP_EXP, node->out);
  tn_value mean = sum_along(node, tn_ad_binary(node, TN_OP_MUL, softmax, tangents[0]));
  *tangent = tn_ad_binary(node, TN_OP_SUB, tangents[0], mean);
  return tn_ad_done(node);
}
