/* ad/products.c: derivatives of matmul, depth-wise convolution, attention, layer_norm and
 * cross_entropy. */
#include "ad/internal.h"

/* ---- matmul ---- */

/* x: [..., m, k], y: [k, n]. Every row of x meets the same y, so its gradient is one product over
 * all rows: no batch of matrices is made only to be added up. */
static tn_value gradient_of_shared(const tn_ad_node *node, tn_value gradient) {
  tn_value x = tn_build_swap_last(node->builder, tn_build_rows(node->builder, node->in[0]));
  return tn_build_matmul(node->builder, x, tn_build_rows(node->builder, gradient));
}

/* dx = g y^T, dy = x^T g, each summed back over leading axes that were broadcast. */
bool tn_ad_vjp_matmul(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  tn_builder *builder = node->builder;
  tn_shape x = tn_ad_type(node, 0).shape, y = tn_ad_type(node, 1).shape;
  if (node->wanted[0]) {
    tn_value product = tn_build_matmul(builder, gradient, tn_build_swap_last(builder, node->in[1]));
    grads[0] = tn_build_sum_to(builder, product, &x);
  }
  if (node->wanted[1] && y.rank == 2) {
    grads[1] = gradient_of_shared(node, gradient);
  } else if (node->wanted[1]) {
    tn_value product = tn_build_matmul(builder, tn_build_swap_last(builder, node->in[0]), gradient);
    grads[1] = tn_build_sum_to(builder, product, &y);
  }
  return tn_ad_done(node);
}

/* ---- depth-wise convolution ---- */

/* One of the three operations, with the windows of the node; `image` is NULL, or the shape of the result. */
static tn_value with_windows(const tn_ad_node *node, tn_op op, tn_value a, tn_value b,
                             const tn_shape *image) {
  const tn_value in[] = { a, b };
  tn_attrs attrs = *node->attrs;
  attrs.shape = image ? *image : TN_SCALAR_SHAPE;
  return tn_build(node->builder, op, in, 2, &attrs);
}

/* All three are linear in both operands, and the gradients of each are the other two. */
bool tn_ad_vjp_depthwise(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  tn_shape image = tn_ad_type(node, 0).shape;
  const tn_value *in = node->in;
  if (node->wanted[0]) grads[0] = with_windows(node, TN_OP_DEPTHWISE_IMAGE, gradient, in[1], &image);
  if (node->wanted[1]) grads[1] = with_windows(node, TN_OP_DEPTHWISE_WEIGHTS, in[0], gradient, NULL);
  return tn_ad_done(node);
}

bool tn_ad_vjp_depthwise_image(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  const tn_value *in = node->in;
  if (node->wanted[0]) grads[0] = with_windows(node, TN_OP_DEPTHWISE, gradient, in[1], NULL);
  if (node->wanted[1]) grads[1] = with_windows(node, TN_OP_DEPTHWISE_WEIGHTS, gradient, in[0], NULL);
  return tn_ad_done(node);
}

bool tn_ad_vjp_depthwise_weights(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  tn_shape image = tn_ad_type(node, 0).shape;
  const tn_value *in = node->in;
  if (node->wanted[0]) grads[0] = with_windows(node, TN_OP_DEPTHWISE_IMAGE, in[1], gradient, &image);
  if (node->wanted[1]) grads[1] = with_windows(node, TN_OP_DEPTHWISE, in[0], gradient, NULL);
  return tn_ad_done(node);
}

/* ---- gradients that one operation computes, concatenated ---- */

/* Cuts `all` into tensors of these shapes. */
static void cut(const tn_ad_node *node, tn_value all, const tn_shape *shapes, int count, tn_value *out) {
  int64_t begin = 0, end;
  for (int i = 0; i < count; i++, begin = end) {
    end = begin + tn_shape_count(&shapes[i]);
    tn_value part = tn_build_slice(node->builder, all, 0, begin, end, 1);
    out[i] = tn_build_reshape(node->builder, part, &shapes[i]);
  }
}

/* ---- attention ---- */

static bool lengths_are_known(const tn_ad_node *node) {
  for (int i = 0; i < 3; i++) {
    if (!tn_shape_is_known(&tn_build_type(node->builder, node->in[i])->shape)) return false;
  }
  return true;
}

/* One operation computes all three, concatenated. With symbolic lengths the offsets are unknown, so
 * the parts are used instead. */
bool tn_ad_vjp_attention(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  const tn_value in[] = { node->in[0], node->in[1], node->in[2], gradient };
  if (!lengths_are_known(node)) return tn_build_attention_grads(node->builder, in, node->attrs, grads);
  tn_value all = tn_build(node->builder, TN_OP_ATTENTION_GRAD, in, 4, node->attrs);
  tn_shape shapes[3];
  for (int i = 0; i < 3; i++) shapes[i] = tn_ad_type(node, i).shape;
  cut(node, all, shapes, 3, grads);
  return tn_ad_done(node);
}

/* ---- layer_norm ---- */

enum { X, GAMMA, BETA, MEAN, LAYER_NORM_GRADS };

static bool is_row(const tn_shape *shape, int64_t n) {
  return shape->rank > 0 && shape->dim[shape->rank - 1] == n && tn_shape_count(shape) == n;
}

/* The shapes of the gradients; false if one operation cannot compute them: lengths are symbolic, or
 * gamma or beta is not one row. */
static bool has_rows(const tn_ad_node *node, tn_shape shapes[LAYER_NORM_GRADS]) {
  for (int i = 0; i < 3; i++) shapes[i] = tn_ad_type(node, i).shape;
  int last = shapes[X].rank - 1;
  int64_t n = shapes[X].dim[last];
  shapes[MEAN] = shapes[X];
  shapes[MEAN].dim[last] = 1;
  return tn_shape_is_known(&shapes[X]) && is_row(&shapes[GAMMA], n) && is_row(&shapes[BETA], n);
}

static bool grads_by_parts(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  const tn_value in[] = { node->in[X], node->in[GAMMA], gradient };
  tn_shape gamma = tn_ad_type(node, GAMMA).shape, beta = tn_ad_type(node, BETA).shape;
  tn_layer_norm_grads parts;
  if (!tn_build_layer_norm_grads(node->builder, in, node->attrs, &parts)) return false;
  grads[X] = parts.x;
  grads[GAMMA] = tn_build_sum_to(node->builder, parts.gamma, &gamma);
  grads[BETA] = tn_build_sum_to(node->builder, parts.beta, &beta);
  grads[MEAN] = parts.mean;
  return tn_ad_done(node);
}

/* x receives two gradients, one after the other. */
bool tn_ad_vjp_layer_norm(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  tn_shape shapes[LAYER_NORM_GRADS];
  if (!has_rows(node, shapes)) return grads_by_parts(node, gradient, grads);
  tn_shape row = tn_shape_make(1, tn_shape_count(&shapes[GAMMA]));
  tn_value gamma = tn_build_reshape(node->builder, node->in[GAMMA], &row);
  const tn_value in[] = { node->in[X], gamma, gradient };
  tn_value all = tn_build(node->builder, TN_OP_LAYER_NORM_GRAD, in, 3, node->attrs);
  cut(node, all, shapes, LAYER_NORM_GRADS, grads);
  return tn_ad_done(node);
}

/* ---- cross_entropy ---- */

/* The classes are the last axis; labels are compared with its places, because their number
 * may be a symbol. */
static tn_value surprise(const tn_ad_node *node) {
  tn_builder *builder = node->builder;
  tn_type logits = tn_ad_type(node, 0), labels = tn_ad_type(node, 1);
  int last = logits.shape.rank - 1;
  tn_attrs along = { .axis = last };
  tn_value softmax = tn_build(builder, TN_OP_SOFTMAX, node->in, 1, &along);
  tn_attrs places = { .dtype = labels.dtype, .shape = tn_shape_make(1, logits.shape.dim[last]) };
  tn_value classes = tn_build(builder, TN_OP_IOTA, NULL, 0, &places);
  tn_value column = tn_build_new_axis(builder, node->in[1], labels.shape.rank);
  tn_value hot = tn_build_cast(builder, tn_ad_binary(node, TN_OP_EQ, column, classes), logits.dtype);
  return tn_ad_binary(node, TN_OP_SUB, softmax, hot);
}

/* x divided by the number of rows. */
static tn_value per_row(const tn_ad_node *node, tn_value x) {
  tn_type labels = tn_ad_type(node, 1);
  tn_attrs all = { .dtype = tn_ad_type(node, 0).dtype, .axis_count = labels.shape.rank };
  for (int i = 0; i < all.axis_count; i++) all.axes[i] = i;
  return tn_ad_binary(node, TN_OP_DIV, x, tn_build(node->builder, TN_OP_ELEMENTS, &node->in[1], 1, &all));
}

/* (softmax - one_hot) * (g / rows) */
bool tn_ad_vjp_cross_entropy(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  if (!node->wanted[0]) return true;
  tn_value share = per_row(node, gradient);
  grads[0] = tn_ad_binary(node, TN_OP_MUL, surprise(node), share);
  return tn_ad_done(node);
}

/* sum((softmax - one_hot) * t) / rows */
bool tn_ad_jvp_cross_entropy(const tn_ad_node *node, const tn_value *tangents, tn_value *tangent) {
  if (tangents[0] == TN_NO_VALUE) return true;
  tn_value weighed = tn_ad_binary(node, TN_OP_MUL, surprise(node), tangents[0]);
  tn_value sum = tn_build_reduce(node->builder, TN_OP_SUM, weighed, NULL, -1, false);
  *tangent = per_row(node, sum);
  return tn_ad_done(node);
}
