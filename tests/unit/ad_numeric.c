/* Derivatives against double-precision differences.
 *
 * Each case is a small function of f64 parameters. Of its weighted sum the
 * reverse gradient is held against central differences; the forward tangent
 * against the gradient; and the second derivative, reverse over reverse and
 * forward over reverse, against central differences of the first. So every
 * rule is also differentiated itself. */
#include <math.h>

#include "ad/ad.h"
#include "graph_run.h"
#include "support/branches.h"

#define PARAMS   3
#define ELEMENTS 64

typedef struct {
  const char *name;
  tn_shape shapes[PARAMS];
  int count;
  double low, high; /* where the parameters lie */
  tn_value (*build)(tn_builder *b, const tn_value *x);
} numeric_case;

/* ---- the functions ---- */

static tn_value op1(tn_builder *b, tn_op op, tn_value x, tn_attrs attrs) {
  return tn_build(b, op, &x, 1, &attrs);
}
static tn_value op2(tn_builder *b, tn_op op, tn_value x, tn_value y, tn_attrs attrs) {
  const tn_value in[] = { x, y };
  return tn_build(b, op, in, 2, &attrs);
}

#define UNARY(name, op) \
  static tn_value f_##name(tn_builder *b, const tn_value *x) { return tn_build_unary(b, op, x[0]); }
UNARY(neg, TN_OP_NEG)
UNARY(abs, TN_OP_ABS)
UNARY(sqrt, TN_OP_SQRT)
UNARY(exp, TN_OP_EXP)
UNARY(log, TN_OP_LOG)
UNARY(tanh, TN_OP_TANH)
UNARY(sigmoid, TN_OP_SIGMOID)
UNARY(relu, TN_OP_RELU)
UNARY(erf, TN_OP_ERF)
UNARY(sin, TN_OP_SIN)
UNARY(cos, TN_OP_COS)
UNARY(floor, TN_OP_FLOOR)
UNARY(gelu, TN_OP_GELU)
UNARY(flatten, TN_OP_FLATTEN)

#define BINARY(name, op) \
  static tn_value f_##name(tn_builder *b, const tn_value *x) { return tn_build_binary(b, op, x[0], x[1]); }
BINARY(add, TN_OP_ADD)
BINARY(sub, TN_OP_SUB)
BINARY(mul, TN_OP_MUL)
BINARY(div, TN_OP_DIV)
BINARY(pow, TN_OP_POW)
BINARY(minimum, TN_OP_MINIMUM)
BINARY(maximum, TN_OP_MAXIMUM)
BINARY(matmul, TN_OP_MATMUL)
BINARY(mse, TN_OP_MSE_LOSS)
BINARY(dot, TN_OP_DOT)

/* x - x * y: x is used twice */
static tn_value f_square_less(tn_builder *b, const tn_value *x) {
  return tn_build_binary(b, TN_OP_SUB, x[0], tn_build_binary(b, TN_OP_MUL, x[0], x[1]));
}

static tn_value f_select(tn_builder *b, const tn_value *x) {
  tn_value less = tn_build_binary(b, TN_OP_LT, x[0], x[1]);
  return tn_build_select(b, less, tn_build_binary(b, TN_OP_MUL, x[0], x[0]), x[1]);
}

static tn_value f_reshape(tn_builder *b, const tn_value *x) {
  return tn_build_reshape(b, tn_build_unary(b, TN_OP_SIN, x[0]), &(tn_shape){ 2, { 3, 4 } });
}

static tn_value f_transpose(tn_builder *b, const tn_value *x) {
  return tn_build_transpose(b, tn_build_unary(b, TN_OP_SIN, x[0]), (const int[]){ 2, 0, 1 });
}

static tn_value f_broadcast(tn_builder *b, const tn_value *x) {
  return tn_build_broadcast_to(b, tn_build_unary(b, TN_OP_SIN, x[0]), &(tn_shape){ 3, { 2, 3, 4 } });
}

static tn_value f_slice(tn_builder *b, const tn_value *x) {
  tn_attrs attrs = { .low = { 1, 0 }, .high = { INT64_MAX, 4 }, .step = { 2, 3 } };
  return op1(b, TN_OP_SLICE, tn_build_unary(b, TN_OP_SIN, x[0]), attrs);
}

static tn_value f_pad(tn_builder *b, const tn_value *x) {
  tn_attrs attrs = { .low = { 1, 0 }, .high = { 0, 2 }, .step = { 0, 2 } };
  return op1(b, TN_OP_PAD, tn_build_unary(b, TN_OP_SIN, x[0]), attrs);
}

static tn_value f_concat(tn_builder *b, const tn_value *x) {
  const tn_value in[] = { x[0], x[1], tn_build_binary(b, TN_OP_MUL, x[0], x[0]) };
  return tn_build(b, TN_OP_CONCAT, in, 3, &(tn_attrs){ .axis = 1 });
}

static tn_value f_stack(tn_builder *b, const tn_value *x) {
  const tn_value in[] = { x[0], tn_build_binary(b, TN_OP_MUL, x[0], x[1]) };
  return tn_build(b, TN_OP_STACK, in, 2, &(tn_attrs){ .axis = -1 });
}

static tn_value constant(tn_builder *b, tn_dtype dtype, tn_shape shape, const double *numbers) {
  tn_tensor literal;
  assert_true(tn_tensor_new(&heap, dtype, &shape, &literal));
  for (int64_t i = 0; i < tn_view_count(&literal.view); i++) tn_view_set_f64(&literal.view, i, numbers[i]);
  tn_value value = tn_build_const(b, &literal);
  tn_tensor_unref(&literal);
  return value;
}

static tn_value f_gather(tn_builder *b, const tn_value *x) {
  tn_value index = constant(b, TN_I32, (tn_shape){ 2, { 2, 2 } }, (const double[]){ 2, 0, 2, 1 });
  return op2(b, TN_OP_GATHER, tn_build_unary(b, TN_OP_SIN, x[0]), index, (tn_attrs){ .axis = 1 });
}

static tn_value f_embedding(tn_builder *b, const tn_value *x) {
  tn_value index = constant(b, TN_I64, (tn_shape){ 1, { 3 } }, (const double[]){ 2, 0, 2 });
  return op2(b, TN_OP_EMBEDDING, index, tn_build_unary(b, TN_OP_SIN, x[0]), (tn_attrs){ 0 });
}

static tn_value f_scatter(tn_builder *b, const tn_value *x) {
  tn_value index = constant(b, TN_I32, (tn_shape){ 1, { 3 } }, (const double[]){ 1, 1, 0 });
  const tn_value in[] = { x[0], index, tn_build_binary(b, TN_OP_MUL, x[1], x[1]) };
  return tn_build(b, TN_OP_SCATTER_ADD, in, 3, &(tn_attrs){ .axis = 0 });
}

static tn_value f_patches(tn_builder *b, const tn_value *x) {
  tn_attrs attrs = { .window = { 2, 2 }, .step = { 2, 1 }, .low = { 1, 0 }, .high = { 0, 1 } };
  return op1(b, TN_OP_PATCHES, tn_build_unary(b, TN_OP_SIN, x[0]), attrs);
}

static tn_value f_fold(tn_builder *b, const tn_value *x) {
  tn_attrs attrs = { .window = { 2, 2 }, .step = { 1, 1 }, .shape = { 4, { 1, 3, 3, 2 } } };
  return op1(b, TN_OP_FOLD, tn_build_unary(b, TN_OP_SIN, x[0]), attrs);
}

static tn_value f_conv(tn_builder *b, const tn_value *x) {
  return op2(b, TN_OP_CONV2D, x[0], x[1], (tn_attrs){ .step = { 2, 1 }, .same = true });
}

static tn_value f_conv_groups(tn_builder *b, const tn_value *x) {
  return op2(b, TN_OP_CONV2D, x[0], x[1], (tn_attrs){ .step = { 2, 1 }, .same = true, .index = 2 });
}

#define WINDOWS .window = { 2, 2 }, .low = { 1, 0 }, .high = { 0, 1 }, .step = { 1, 2 }

static tn_value f_depthwise(tn_builder *b, const tn_value *x) {
  return op2(b, TN_OP_DEPTHWISE, x[0], x[1], (tn_attrs){ WINDOWS });
}

static tn_value f_depthwise_image(tn_builder *b, const tn_value *x) {
  return op2(b, TN_OP_DEPTHWISE_IMAGE, x[0], x[1], (tn_attrs){ WINDOWS, .shape = { 4, { 1, 3, 3, 2 } } });
}

static tn_value f_depthwise_weights(tn_builder *b, const tn_value *x) {
  return op2(b, TN_OP_DEPTHWISE_WEIGHTS, x[0], x[1], (tn_attrs){ WINDOWS });
}

#define REDUCE(name, op, ...)                                                                                \
  static tn_value f_##name(tn_builder *b, const tn_value *x) {                                               \
    tn_value y = tn_build_binary(b, TN_OP_MUL, x[0], x[0]);                                                  \
    return op1(b, op, tn_build_binary(b, TN_OP_ADD, y, x[0]), (tn_attrs){ __VA_ARGS__ });                    \
  }
REDUCE(sum, TN_OP_SUM, .axis_count = 1, .axes = { 1 })
REDUCE(sum_keep, TN_OP_SUM, .axis_count = 2, .axes = { 0, 2 }, .keepdims = true)
REDUCE(mean, TN_OP_MEAN, .axis_count = 2, .axes = { -1, 0 })
REDUCE(mean_all, TN_OP_MEAN, .axis_count = -1)
REDUCE(max, TN_OP_MAX, .axis_count = 1, .axes = { 1 })
REDUCE(min_all, TN_OP_MIN, .axis_count = -1, .keepdims = true)
REDUCE(prod, TN_OP_PROD, .axis_count = 1, .axes = { 1 })
REDUCE(prod_all, TN_OP_PROD, .axis_count = -1)
REDUCE(prod_two, TN_OP_PROD, .axis_count = 2, .axes = { 0, 2 }, .keepdims = true)
REDUCE(cumsum, TN_OP_CUMSUM, .axis = 1)
REDUCE(cumsum_back, TN_OP_CUMSUM, .axis = 0, .reverse = true, .exclusive = true)
REDUCE(cumprod, TN_OP_CUMPROD, .axis = 1)
REDUCE(cumprod_back, TN_OP_CUMPROD, .axis = 1, .reverse = true)
REDUCE(cumprod_exclusive, TN_OP_CUMPROD, .axis = 0, .exclusive = true)
REDUCE(cumprod_both, TN_OP_CUMPROD, .axis = 2, .exclusive = true, .reverse = true)
REDUCE(softmax, TN_OP_SOFTMAX, .axis = 1)
REDUCE(log_softmax, TN_OP_LOG_SOFTMAX, .axis = -1)
REDUCE(pool, TN_OP_MEAN_POOL_TIME, .axis = 0)
REDUCE(squeeze, TN_OP_SQUEEZE, .axis_count = -1)
REDUCE(expand_dims, TN_OP_EXPAND_DIMS, .axis = 1)
REDUCE(index, TN_OP_INDEX, .axis = 1, .index = (uint64_t)-2)

static tn_value f_cross_entropy(tn_builder *b, const tn_value *x) {
  tn_value labels = constant(b, TN_I32, (tn_shape){ 1, { 3 } }, (const double[]){ 2, 0, 2 });
  return op2(b, TN_OP_CROSS_ENTROPY, x[0], labels, (tn_attrs){ 0 });
}

static tn_value f_attention(tn_builder *b, const tn_value *x) {
  return tn_build(b, TN_OP_ATTENTION, x, 3, &(tn_attrs){ .index = 2, .causal = true });
}

static tn_value f_attention_grad(tn_builder *b, const tn_value *x) {
  const tn_value in[] = { x[0], x[1], x[2], x[0] };
  return tn_build(b, TN_OP_ATTENTION_GRAD, in, 4, &(tn_attrs){ .index = 2 });
}

static tn_value f_layer_norm(tn_builder *b, const tn_value *x) {
  return tn_build(b, TN_OP_LAYER_NORM, x, 3, &(tn_attrs){ .number = 1e-5 });
}

static tn_value f_layer_norm_grad(tn_builder *b, const tn_value *x) {
  return tn_build(b, TN_OP_LAYER_NORM_GRAD, x, 3, &(tn_attrs){ .number = 1e-5 });
}

static tn_value f_linear(tn_builder *b, const tn_value *x) { return tn_build(b, TN_OP_LINEAR, x, 3, NULL); }

static tn_value f_matvec(tn_builder *b, const tn_value *x) { return tn_build_matmul_any_rank(b, x[0], x[1]); }

static tn_value f_dropout(tn_builder *b, const tn_value *x) {
  tn_value y = tn_build_binary(b, TN_OP_MUL, x[0], x[0]), key = tn_build_number(b, TN_I64, 7);
  return op2(b, TN_OP_DROPOUT, y, key, (tn_attrs){ .number = 0.4, .index = 11 });
}

typedef struct {
  const tn_value *x;
  tn_value y;
} branch_context;

static bool then_branch(tn_builder *b, void *context, tn_value *results) {
  branch_context *c = context;
  results[0] = tn_build_binary(b, TN_OP_MUL, c->x[0], tn_build_unary(b, TN_OP_SIN, c->x[1]));
  results[1] = c->y;
  return true;
}

static bool else_branch(tn_builder *b, void *context, tn_value *results) {
  branch_context *c = context;
  results[0] = tn_build_unary(b, TN_OP_EXP, c->x[0]);
  results[1] = tn_build_binary(b, TN_OP_MUL, results[0], c->y);
  return true;
}

static bool inner_if(tn_builder *b, void *context, tn_value *results) {
  branch_context *c = context;
  tn_value zero = tn_build_number(b, TN_F64, 0);
  tn_value first = tn_build_reduce(b, TN_OP_SUM, c->x[1], NULL, -1, false);
  return build_if(b, tn_build_binary(b, TN_OP_LT, first, zero), 2, then_branch, else_branch, c, results);
}

/* Nested, with results that are captures, and values that one branch does not use. */
static tn_value f_if(tn_builder *b, const tn_value *x) {
  branch_context c = { x, tn_build_unary(b, TN_OP_TANH, x[0]) };
  tn_value results[2], zero = tn_build_number(b, TN_F64, 0);
  tn_value total = tn_build_reduce(b, TN_OP_SUM, x[0], NULL, -1, false);
  tn_value condition = tn_build_binary(b, TN_OP_GT, total, zero);
  build_if(b, condition, 2, inner_if, then_branch, &c, results);
  return tn_build_binary(b, TN_OP_ADD, results[0], tn_build_binary(b, TN_OP_MUL, results[1], c.y));
}

static tn_value f_if_other(tn_builder *b, const tn_value *x) {
  branch_context c = { x, tn_build_unary(b, TN_OP_TANH, x[1]) };
  tn_value results[2], no = tn_build_cast(b, tn_build_number(b, TN_F64, 0), TN_BOOL);
  build_if(b, no, 2, then_branch, inner_if, &c, results);
  return tn_build_binary(b, TN_OP_MUL, results[0], results[1]);
}

#define S0                                                                                                   \
  { .rank = 0 }
#define S(...)                                                                                               \
  {                                                                                                          \
    .rank = sizeof((int[]){ __VA_ARGS__ }) / sizeof(int), .dim = { __VA_ARGS__ }                             \
  }

static const numeric_case cases[] = {
  { "neg", { S(2, 3) }, 1, -2, 2, f_neg },
  { "abs", { S(2, 3) }, 1, -2, 2, f_abs },
  { "sqrt", { S(2, 3) }, 1, 0.5, 2, f_sqrt },
  { "exp", { S(2, 3) }, 1, -2, 2, f_exp },
  { "log", { S(2, 3) }, 1, 0.5, 2, f_log },
  { "tanh", { S(2, 3) }, 1, -2, 2, f_tanh },
  { "sigmoid", { S(2, 3) }, 1, -2, 2, f_sigmoid },
  { "relu", { S(2, 3) }, 1, -2, 2, f_relu },
  { "erf", { S(2, 3) }, 1, -2, 2, f_erf },
  { "sin", { S(2, 3) }, 1, -2, 2, f_sin },
  { "cos", { S(2, 3) }, 1, -2, 2, f_cos },
  { "floor", { S(2, 3) }, 1, -2, 2, f_floor },
  { "gelu", { S(2, 3) }, 1, -2, 2, f_gelu },
  { "add", { S(2, 3), S(3) }, 2, -2, 2, f_add },
  { "sub", { S(3), S(2, 1) }, 2, -2, 2, f_sub },
  { "mul", { S(2, 1, 3), S(4, 1) }, 2, -2, 2, f_mul },
  { "mul by a scalar", { S0, S(4, 1) }, 2, -2, 2, f_mul },
  { "div", { S(2, 3), S(1, 3) }, 2, 0.5, 2, f_div },
  { "div by a column", { S(3), S(2, 1) }, 2, 0.5, 2, f_div },
  { "pow", { S(2, 3), S(3) }, 2, 0.5, 2, f_pow },
  { "minimum", { S(2, 3), S(3) }, 2, -2, 2, f_minimum },
  { "maximum", { S(3), S(2, 3) }, 2, -2, 2, f_maximum },
  { "used twice", { S(2, 3), S(3) }, 2, -2, 2, f_square_less },
  { "select", { S(2, 3), S(3) }, 2, -2, 2, f_select },
  { "reshape", { S(2, 6) }, 1, -2, 2, f_reshape },
  { "flatten", { S(2, 3) }, 1, -2, 2, f_flatten },
  { "transpose", { S(2, 3, 4) }, 1, -2, 2, f_transpose },
  { "broadcast_to", { S(3, 1) }, 1, -2, 2, f_broadcast },
  { "slice", { S(4, 5) }, 1, -2, 2, f_slice },
  { "pad", { S(2, 3) }, 1, -2, 2, f_pad },
  { "concat", { S(2, 3), S(2, 1) }, 2, -2, 2, f_concat },
  { "stack", { S(2, 3), S(2, 3) }, 2, -2, 2, f_stack },
  { "squeeze", { S(1, 3, 1) }, 1, -2, 2, f_squeeze },
  { "expand_dims", { S(2, 3) }, 1, -2, 2, f_expand_dims },
  { "index", { S(2, 3) }, 1, -2, 2, f_index },
  { "gather", { S(2, 3, 2) }, 1, -2, 2, f_gather },
  { "embedding", { S(3, 2) }, 1, -2, 2, f_embedding },
  { "scatter_add", { S(2, 3), S(3, 3) }, 2, -2, 2, f_scatter },
  { "patches", { S(1, 3, 3, 2) }, 1, -2, 2, f_patches },
  { "fold", { S(1, 2, 2, 8) }, 1, -2, 2, f_fold },
  { "conv2d", { S(1, 3, 3, 2), S(2, 2, 2, 2) }, 2, -2, 2, f_conv },
  { "depthwise", { S(1, 3, 3, 2), S(2, 2, 1, 4) }, 2, -2, 2, f_depthwise },
  { "depthwise_image", { S(1, 3, 2, 4), S(2, 2, 1, 4) }, 2, -2, 2, f_depthwise_image },
  { "depthwise_weights", { S(1, 3, 3, 2), S(1, 3, 2, 4) }, 2, -2, 2, f_depthwise_weights },
  { "conv2d of groups", { S(1, 3, 3, 4), S(2, 2, 2, 2) }, 2, -2, 2, f_conv_groups },
  { "sum", { S(2, 3, 2) }, 1, -2, 2, f_sum },
  { "sum with keepdims", { S(2, 3, 2) }, 1, -2, 2, f_sum_keep },
  { "mean", { S(2, 3, 2) }, 1, -2, 2, f_mean },
  { "mean of all", { S(2, 3) }, 1, -2, 2, f_mean_all },
  { "max", { S(2, 3, 2) }, 1, -2, 2, f_max },
  { "min", { S(2, 3) }, 1, -2, 2, f_min_all },
  { "prod", { S(2, 3, 2) }, 1, -2, 2, f_prod },
  { "prod of all", { S(2, 3) }, 1, -2, 2, f_prod_all },
  { "prod over two axes", { S(2, 2, 3) }, 1, -2, 2, f_prod_two },
  { "mean_pool_time", { S(2, 3, 2) }, 1, -2, 2, f_pool },
  { "cumsum", { S(2, 4) }, 1, -2, 2, f_cumsum },
  { "cumsum backwards", { S(3, 2) }, 1, -2, 2, f_cumsum_back },
  { "cumprod", { S(2, 5) }, 1, -1.5, 1.5, f_cumprod },
  { "cumprod backwards", { S(2, 4) }, 1, -1.5, 1.5, f_cumprod_back },
  { "cumprod exclusive", { S(4, 2) }, 1, -1.5, 1.5, f_cumprod_exclusive },
  { "cumprod exclusive backwards", { S(1, 2, 4) }, 1, -1.5, 1.5, f_cumprod_both },
  { "softmax", { S(2, 3, 2) }, 1, -2, 2, f_softmax },
  { "log_softmax", { S(2, 3) }, 1, -2, 2, f_log_softmax },
  { "cross_entropy", { S(3, 4) }, 1, -2, 2, f_cross_entropy },
  { "attention", { S(2, 4), S(3, 4), S(3, 2) }, 3, -2, 2, f_attention },
  { "attention_grad", { S(2, 4), S(3, 4), S(3, 4) }, 3, -2, 2, f_attention_grad },
  { "layer_norm", { S(2, 4), S(4), S(4) }, 3, -2, 2, f_layer_norm },
  { "layer_norm_grad", { S(2, 4), S(4), S(2, 4) }, 3, -2, 2, f_layer_norm_grad },
  { "mse_loss", { S(2, 3), S(3) }, 2, -2, 2, f_mse },
  { "matmul", { S(2, 3), S(3, 4) }, 2, -2, 2, f_matmul },
  { "matmul, a batch and a matrix", { S(2, 2, 3), S(3, 2) }, 2, -2, 2, f_matmul },
  { "matmul, a matrix and a batch", { S(2, 3), S(2, 3, 2) }, 2, -2, 2, f_matmul },
  { "matmul, batches that broadcast", { S(2, 1, 2, 3), S(2, 3, 2) }, 2, -2, 2, f_matmul },
  { "matmul of a matrix and a vector", { S(2, 3), S(3) }, 2, -2, 2, f_matvec },
  { "matmul of two vectors", { S(3), S(3) }, 2, -2, 2, f_matvec },
  { "dot", { S(4), S(4) }, 2, -2, 2, f_dot },
  { "linear", { S(2, 3), S(3, 2), S(2) }, 3, -2, 2, f_linear },
  { "dropout", { S(4, 4) }, 1, -2, 2, f_dropout },
  { "if", { S(2), S(2) }, 2, 0.1, 1, f_if },
  { "if, the other way", { S(2), S(2) }, 2, -1, -0.1, f_if },
  { "if with a constant condition", { S(2), S(2) }, 2, -1, 1, f_if_other },
};

/* ---- the check ---- */

static uint64_t random_state;

static double random_between(double low, double high) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return low + (high - low) * (double)(random_state >> 11) * 0x1p-53;
}

typedef struct {
  tn_graph graph;
  tn_graph_builder builder;
  tn_value x[PARAMS], loss;
  int64_t sizes[PARAMS];
  double point[PARAMS][ELEMENTS], weight[PARAMS][ELEMENTS]; /* weights of the second derivative */
} experiment;

static tn_value random_constant(tn_builder *b, tn_value like, double *numbers) {
  tn_type type = *tn_build_type(b, like);
  double own[4096], *at = numbers ? numbers : own;
  int64_t count = tn_shape_count(&type.shape);
  for (int64_t i = 0; i < count; i++) at[i] = random_between(-1, 1);
  return constant(b, TN_F64, type.shape, at);
}

static tn_value weighted_sum(tn_builder *b, tn_value x, tn_value weights) {
  return tn_build_reduce(b, TN_OP_SUM, tn_build_binary(b, TN_OP_MUL, x, weights), NULL, -1, false);
}

static void assert_built(const tn_builder *b) {
  const tn_fault *fault = &b->fault;
  if (!tn_build_ok(b)) {
    fail_msg("%s: fault %d, %s", tn_op_sig_of(fault->op)->name, (int)fault->kind,
             fault->reason ? fault->reason : "");
  }
}

/* Each parameter alone: its gradient, and the tangent while the others stay. */
static void differentiate_alone(experiment *e, const numeric_case *c, const tn_value *weights) {
  for (int i = 0; i < c->count; i++) {
    tn_value alone[PARAMS] = { TN_NO_VALUE, TN_NO_VALUE, TN_NO_VALUE }, grad, tangent;
    tn_grad_request reverse = { .builder = &e->builder, .outputs = &e->loss, .output_count = 1,
                                .wrt = &e->x[i], .wrt_count = 1, .policy = TN_AD_STRICT };
    assert_true(tn_ad_grad(&reverse, &grad));
    alone[i] = weights[i];
    tn_jvp_request forward = { .builder = &e->builder, .wrt = e->x, .tangents = alone, .wrt_count = c->count,
                               .outputs = &e->loss, .output_count = 1, .policy = TN_AD_STRICT };
    assert_true(tn_ad_jvp(&forward, &tangent));
    tn_graph_output(&e->graph, 0, grad);
    tn_graph_output(&e->graph, 0, tangent);
  }
}

/* Outputs: 0 loss, then gradients, 1 tangent, 1 second-order sum, its gradients (reverse over reverse),
 * tangents of the gradients (forward over reverse), a gradient and a tangent for each parameter alone. */
static void build_experiment(experiment *e, const numeric_case *c) {
  tn_builder *b = &e->builder.base;
  tn_value grads[PARAMS], weights[PARAMS], second = TN_ERROR_VALUE, more[PARAMS], tangent;
  assert_true(tn_graph_init(&e->graph, &heap, names));
  tn_graph_builder_init(&e->builder, &e->graph);
  for (int i = 0; i < c->count; i++) {
    tn_type type = { TN_F64, c->shapes[i] };
    char name[] = { 'x', (char)('0' + i), 0 };
    e->x[i] = tn_build_param(b, name_of(name), &type);
    e->sizes[i] = tn_shape_count(&type.shape);
    for (int64_t k = 0; k < e->sizes[i]; k++) e->point[i][k] = random_between(c->low, c->high);
    weights[i] = random_constant(b, e->x[i], e->weight[i]);
  }
  tn_value y = c->build(b, e->x);
  assert_built(b);
  e->loss = weighted_sum(b, y, random_constant(b, y, NULL));
  tn_grad_request first = { .builder = &e->builder,
                            .outputs = &e->loss,
                            .output_count = 1,
                            .wrt = e->x,
                            .wrt_count = c->count,
                            .policy = TN_AD_STRICT };
  assert_true(tn_ad_grad(&first, grads));
  tn_jvp_request forward = { .builder = &e->builder,
                             .wrt = e->x,
                             .tangents = weights,
                             .wrt_count = c->count,
                             .outputs = &e->loss,
                             .output_count = 1,
                             .policy = TN_AD_STRICT };
  assert_true(tn_ad_jvp(&forward, &tangent));
  for (int i = 0; i < c->count; i++) {
    tn_value part = weighted_sum(b, grads[i], weights[i]);
    second = i == 0 ? part : tn_build_binary(b, TN_OP_ADD, second, part);
  }
  assert_built(b);
  tn_graph_output(&e->graph, 0, e->loss);
  for (int i = 0; i < c->count; i++) tn_graph_output(&e->graph, 0, grads[i]);
  tn_graph_output(&e->graph, 0, tangent);
  tn_graph_output(&e->graph, 0, second);
  tn_grad_request again = first;
  again.outputs = &second;
  tn_ad_grad(&again, more);
  assert_built(b);
  for (int i = 0; i < c->count; i++) tn_graph_output(&e->graph, 0, more[i]);
  forward.outputs = grads;
  forward.output_count = c->count;
  assert_true(tn_ad_jvp(&forward, more));
  for (int i = 0; i < c->count; i++) tn_graph_output(&e->graph, 0, more[i]);
  differentiate_alone(e, c, weights);
  assert_built(b);
}

static void assert_near(const char *name, const char *what, double got, double expected) {
  double scale = fabs(expected) > 1 ? fabs(expected) : 1;
  if (!(fabs(got - expected) <= 2e-6 * scale))
    fail_msg("%s, %s: %.12g, expected %.12g", name, what, got, expected);
}

/* The central difference of one scalar output by one element. */
static double difference(runner *r, experiment *e, int output, int param, int64_t element) {
  const double step = 1e-5;
  double at = e->point[param][element], above, below;
  e->point[param][element] = at + step;
  runner_set(r, param, e->point[param]);
  runner_run(r);
  runner_get(r, output, &above, 1);
  e->point[param][element] = at - step;
  runner_set(r, param, e->point[param]);
  runner_run(r);
  runner_get(r, output, &below, 1);
  e->point[param][element] = at;
  runner_set(r, param, e->point[param]);
  return (above - below) / (2 * step);
}

static void check_alone(const runner *r, const experiment *e, const numeric_case *c,
                        double grads[][ELEMENTS]) {
  for (int i = 0; i < c->count; i++) {
    double alone[ELEMENTS], tangent, along = 0;
    int first = 3 + 3 * c->count + 2 * i;
    runner_get(r, first, alone, e->sizes[i]);
    runner_get(r, first + 1, &tangent, 1);
    for (int64_t k = 0; k < e->sizes[i]; k++) {
      assert_true(alone[k] == grads[i][k]);
      along += grads[i][k] * e->weight[i][k];
    }
    assert_near(c->name, "tangent of one parameter", tangent, along);
  }
}

static void check_case(const numeric_case *c) {
  static experiment e;
  double grads[PARAMS][ELEMENTS], reverse[PARAMS][ELEMENTS], forward[PARAMS][ELEMENTS], tangent, along = 0;
  memset(&e, 0, sizeof e);
  build_experiment(&e, c);
  assert_reads_back(&e.graph);
  runner r = runner_of(&e.graph);
  for (int i = 0; i < c->count; i++) runner_set(&r, i, e.point[i]);
  runner_run(&r);
  runner_get(&r, 1 + c->count, &tangent, 1);
  for (int i = 0; i < c->count; i++) {
    runner_get(&r, 1 + i, grads[i], e.sizes[i]);
    runner_get(&r, 3 + c->count + i, reverse[i], e.sizes[i]);
    runner_get(&r, 3 + 2 * c->count + i, forward[i], e.sizes[i]);
    for (int64_t k = 0; k < e.sizes[i]; k++) along += grads[i][k] * e.weight[i][k];
  }
  assert_near(c->name, "tangent", tangent, along);
  check_alone(&r, &e, c, grads);
  for (int i = 0; i < c->count; i++) {
    for (int64_t k = 0; k < e.sizes[i]; k++) {
      assert_near(c->name, "gradient", grads[i][k], difference(&r, &e, 0, i, k));
      double second = difference(&r, &e, 2 + c->count, i, k);
      assert_near(c->name, "reverse over reverse", reverse[i][k], second);
      assert_near(c->name, "forward over reverse", forward[i][k], second);
    }
  }
  runner_free(&r);
  tn_graph_free(&e.graph);
}

static void every_rule_agrees_with_differences_up_to_second_order(void **state) {
  (void)state;
  random_state = 1;
  for (size_t i = 0; i < COUNT_OF(cases); i++) check_case(&cases[i]);
}

static void mark_used(const tn_graph *graph, bool *used) {
  for (tn_value v = 1; v < graph->nodes.count; v++) used[tn_graph_node(graph, v)->op] = true;
}

/* What each case is made of, before anything is differentiated. cast only rounds, so differences
 * of it are noise; ad_edges.c looks at it. */
static void every_operation_with_a_derivative_has_a_case(void **state) {
  (void)state;
  bool used[TN_OP_COUNT] = { [TN_OP_CAST] = true, [TN_OP_HOST] = true };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tn_graph graph;
    tn_graph_builder builder;
    tn_value x[PARAMS];
    assert_true(tn_graph_init(&graph, &heap, names));
    tn_graph_builder_init(&builder, &graph);
    for (int k = 0; k < cases[i].count; k++) {
      x[k] = tn_build_param(&builder.base, 0, &(tn_type){ TN_F64, cases[i].shapes[k] });
    }
    cases[i].build(&builder.base, x);
    mark_used(&graph, used);
    tn_graph_free(&graph);
  }
  for (int op = TN_OP_ERROR + 1; op < TN_OP_COUNT; op++) {
    const tn_op_sig *sig = tn_op_sig_of((tn_op)op);
    bool tested = tn_op_is_source((tn_op)op) || sig->kind == TN_KIND_COMPOSED || used[op];
    if (!tested && tn_ad_has_vjp((tn_op)op) == TN_DERIVATIVE_YES) fail_msg("%s has no case", sig->name);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(every_rule_agrees_with_differences_up_to_second_order, set_up, tear_down),
    cmocka_unit_test_setup_teardown(every_operation_with_a_derivative_has_a_case, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
