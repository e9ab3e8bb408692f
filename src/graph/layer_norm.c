/* graph/layer_norm.c: layer_norm and its gradient in terms of other operations (their parts).
 *
 * Both also have kernels, which read a row once; the kernels give the bits of these parts. The
 * gradient of x has two addends, because x is read twice, by the mean and by the difference. They
 * stay apart, so that each is added by itself to what x receives from elsewhere. */
#include "graph/internal.h"

/* Values of one layer_norm. */
typedef struct {
  tn_builder *builder;
  const tn_expand_args *args;
  int last;         /* the axis */
  tn_value centred; /* x - mean(x) */
  tn_value spread;  /* sqrt(mean(centred * centred) + eps), [..., 1] */
  tn_value scaled;  /* centred / spread */
} layer_norm;

static tn_value binary(const layer_norm *l, tn_op op, tn_value x, tn_value y) {
  return tn_build_binary(l->builder, op, x, y);
}

static tn_value number(const layer_norm *l, double value) {
  return tn_build_number(l->builder, l->args->types[0].dtype, value);
}

static tn_value along_rows(const layer_norm *l, tn_op op, tn_value x) {
  return tn_build_reduce(l->builder, op, x, &l->last, 1, true);
}

static layer_norm normalise(const tn_expand_args *args) {
  layer_norm l = { .builder = args->builder, .args = args, .last = args->types[0].shape.rank - 1 };
  tn_value x = args->in[0], mean = along_rows(&l, TN_OP_MEAN, x);
  l.centred = binary(&l, TN_OP_SUB, x, mean);
  tn_value square = binary(&l, TN_OP_MUL, l.centred, l.centred);
  tn_value variance = along_rows(&l, TN_OP_MEAN, square), eps = number(&l, args->attrs->number);
  l.spread = tn_build_unary(l.builder, TN_OP_SQRT, binary(&l, TN_OP_ADD, variance, eps));
  l.scaled = binary(&l, TN_OP_DIV, l.centred, l.spread);
  return l;
}

tn_value tn_expand_layer_norm(const tn_expand_args *args) {
  layer_norm l = normalise(args);
  return binary(&l, TN_OP_ADD, binary(&l, TN_OP_MUL, l.scaled, args->in[1]), args->in[2]);
}

/* ---- the gradient ---- */

static tn_value length_of_row(const layer_norm *l) {
  tn_attrs row = { .dtype = l->args->types[0].dtype, .axis_count = 1, .axes = { l->last } };
  return tn_build(l->builder, TN_OP_ELEMENTS, l->args->in, 1, &row);
}

/* The gradient of one square, [..., 1]: the spread is the root of their mean. `slope` is the gradient
 * of `scaled`. */
static tn_value slope_of_squares(const layer_norm *l, tn_value slope, tn_value length) {
  tn_value by_spread = binary(l, TN_OP_DIV, l->scaled, l->spread);
  tn_value sum = along_rows(l, TN_OP_SUM, binary(l, TN_OP_MUL, slope, by_spread));
  tn_value negated = tn_build_unary(l->builder, TN_OP_NEG, sum), half = number(l, 0.5);
  tn_value of_root = binary(l, TN_OP_DIV, binary(l, TN_OP_MUL, negated, half), l->spread);
  return binary(l, TN_OP_DIV, of_root, length);
}

bool tn_build_layer_norm_grads(tn_builder *b, const tn_value in[3], const tn_attrs *attrs,
                               tn_layer_norm_grads *out) {
  tn_type types[3];
  for (int i = 0; i < 3; i++) types[i] = *tn_build_type(b, in[i]);
  const tn_expand_args args = { b, TN_OP_LAYER_NORM_GRAD, in, types, 3, attrs };
  layer_norm l = normalise(&args);
  tn_value slope = binary(&l, TN_OP_MUL, in[2], in[1]), length = length_of_row(&l);
  out->beta = in[2];
  out->gamma = binary(&l, TN_OP_MUL, in[2], l.scaled);
  tn_value squares = slope_of_squares(&l, slope, length);
  tn_value from_squares = binary(&l, TN_OP_MUL, squares, l.centred);
  tn_value direct = binary(&l, TN_OP_DIV, slope, l.spread);
  out->x = binary(&l, TN_OP_ADD, binary(&l, TN_OP_ADD, direct, from_squares), from_squares);
  tn_value sum = along_rows(&l, TN_OP_SUM, out->x);
  out->mean = binary(&l, TN_OP_DIV, tn_build_unary(b, TN_OP_NEG, sum), length);
  return tn_build_ok(b);
}

tn_value tn_expand_layer_norm_grad(const tn_expand_args *args) {
  tn_layer_norm_grads grads;
  tn_builder *b = args->builder;
  if (!tn_build_layer_norm_grads(b, args->in, args->attrs, &grads)) return TN_ERROR_VALUE;
  const tn_shape *row = &args->types[1].shape, flat = tn_shape_make(1, TN_DIM_UNKNOWN);
  tn_value parts[] = { grads.x, tn_build_sum_to(b, grads.gamma, row), tn_build_sum_to(b, grads.beta, row),
                       grads.mean };
  for (int i = 0; i < 4; i++) parts[i] = tn_build_reshape(b, parts[i], &flat);
  return tn_build(b, TN_OP_CONCAT, parts, 4, NULL);
}
