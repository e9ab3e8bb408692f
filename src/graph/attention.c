/* graph/attention.c: attention and its gradient in terms of other operations (their parts).
 *
 * Both also have kernels, which do not store the matrix of all queries by all keys; the kernels
 * give the bits of these parts. Queries are scaled, not scores, because there are fewer of them.
 * With a causal mask a kernel leaves out the keys that a query must not see: their weights are +0,
 * and a sum without them is the same except for the sign of a zero. So the parts add +0 to such
 * results, which makes -0 +0. */
#include <math.h>

#include "graph/internal.h"

/* Values of one attention, head by head: [..., heads, T, D / heads]. */
typedef struct {
  tn_builder *builder;
  const tn_attrs *attrs;
  tn_dtype dtype;
  tn_value factor, q, k, v; /* the queries are scaled */
  tn_value open;            /* of a causal mask: [T, S] */
  tn_value weights;         /* [..., heads, T, S] */
} attention;

static tn_shape shape_of(const attention *a, tn_value x) { return tn_build_type(a->builder, x)->shape; }

static tn_value number(const attention *a, double value) {
  return tn_build_number(a->builder, a->dtype, value);
}

static tn_value binary(const attention *a, tn_op op, tn_value x, tn_value y) {
  return tn_build_binary(a->builder, op, x, y);
}

/* ---- heads ---- */

static tn_value swap_heads(const attention *a, tn_value x) {
  int axes[TN_RANK_LIMIT];
  if (x == TN_ERROR_VALUE) return x;
  int rank = shape_of(a, x).rank;
  for (int i = 0; i < rank; i++) axes[i] = i;
  axes[rank - 3] = rank - 2;
  axes[rank - 2] = rank - 3;
  return tn_build_transpose(a->builder, x, axes);
}

/* [..., T, D] to [..., heads, T, D / heads] */
static tn_value split_heads(const attention *a, tn_value x) {
  int64_t heads = (int64_t)a->attrs->index;
  if (heads == 1 || x == TN_ERROR_VALUE) return x;
  tn_shape shape = shape_of(a, x);
  int64_t width = shape.dim[shape.rank - 1];
  shape.dim[shape.rank - 1] = heads;
  shape.dim[shape.rank++] = tn_dim_is_known(width) ? width / heads : TN_DIM_UNKNOWN;
  return swap_heads(a, tn_build_reshape(a->builder, x, &shape));
}

/* The inverse. */
static tn_value join_heads(const attention *a, tn_value x, const tn_shape *shape) {
  if (a->attrs->index == 1 || x == TN_ERROR_VALUE) return x;
  return tn_build_reshape(a->builder, swap_heads(a, x), shape);
}

/* ---- weights ---- */

tn_value tn_build_open_keys(tn_builder *b, int64_t queries, int64_t keys) {
  tn_attrs down = { .dtype = TN_I32, .axis = 0, .shape = tn_shape_make(2, queries, 1) };
  tn_attrs along = { .dtype = TN_I32, .axis = 1, .shape = tn_shape_make(2, 1, keys) };
  tn_value rows = tn_build(b, TN_OP_IOTA, NULL, 0, &down), columns = tn_build(b, TN_OP_IOTA, NULL, 0, &along);
  tn_value last = tn_build_binary(b, TN_OP_ADD, rows, tn_build_number(b, TN_I32, (double)(keys - queries)));
  return tn_build_binary(b, TN_OP_GE, last, columns);
}

/* Positions are i32. The mask of an unknown length cannot be built. */
static bool check_lengths(const tn_expand_args *args) {
  int rank = args->types[0].shape.rank;
  const int64_t lengths[] = { args->types[0].shape.dim[rank - 2], args->types[1].shape.dim[rank - 2],
                              args->types[0].shape.dim[rank - 1] };
  for (int i = args->attrs->causal ? 0 : 2; i < 3; i++) {
    if (tn_dim_is_known(lengths[i]) && lengths[i] <= INT32_MAX) continue;
    tn_build_fault(args->builder, args->op,
                   (tn_fault){ .kind = TN_FAULT_ARGUMENT, .got = lengths[i], .reason = "a known length" });
    return false;
  }
  return true;
}

/* `open` is [T, S], or TN_NO_VALUE for what the attributes say. */
static bool find_weights(const tn_expand_args *args, tn_value open, attention *a) {
  tn_builder *b = args->builder;
  const tn_shape *q = &args->types[0].shape, *k = &args->types[1].shape;
  *a = (attention){ .builder = b, .attrs = args->attrs, .dtype = args->types[0].dtype };
  if (!check_lengths(args)) return false;
  double width = (double)q->dim[q->rank - 1] / (double)args->attrs->index; /* of a head */
  a->factor = number(a, 1 / sqrt(width));
  a->q = split_heads(a, binary(a, TN_OP_MUL, args->in[0], a->factor));
  a->k = split_heads(a, args->in[1]);
  a->v = split_heads(a, args->in[2]);
  tn_value scores = tn_build_matmul(b, a->q, tn_build_swap_last(b, a->k));
  if (args->attrs->causal) {
    a->open = open;
    if (open == TN_NO_VALUE) a->open = tn_build_open_keys(b, q->dim[q->rank - 2], k->dim[k->rank - 2]);
    scores = tn_build_select(b, a->open, scores, number(a, -HUGE_VAL));
  }
  a->weights = tn_build(b, TN_OP_SOFTMAX, &scores, 1, &(tn_attrs){ .axis = -1 });
  return a->weights != TN_ERROR_VALUE;
}

/* ---- the operations ---- */

static tn_value without_negative_zero(const attention *a, tn_value x) {
  return a->attrs->causal ? binary(a, TN_OP_ADD, x, number(a, 0)) : x;
}

static tn_value attend(const tn_expand_args *args, tn_value open) {
  attention a;
  if (!find_weights(args, open, &a)) return TN_ERROR_VALUE;
  tn_shape result = args->types[0].shape;
  result.dim[result.rank - 1] = args->types[2].shape.dim[result.rank - 1];
  tn_value seen = tn_build_matmul(a.builder, a.weights, a.v);
  return without_negative_zero(&a, join_heads(&a, seen, &result));
}

tn_value tn_expand_attention(const tn_expand_args *args) { return attend(args, TN_NO_VALUE); }

tn_value tn_build_attention_open(tn_builder *b, const tn_value in[3], const tn_attrs *attrs, tn_value open) {
  tn_type types[3];
  for (int i = 0; i < 3; i++) {
    if (in[i] == TN_ERROR_VALUE) return TN_ERROR_VALUE;
    types[i] = *tn_build_type(b, in[i]);
  }
  return attend(&(tn_expand_args){ b, TN_OP_ATTENTION, in, types, 3, attrs }, open);
}

/* The slope of softmax is weights * (g - sum(g * weights)). */
static tn_value slope_of_scores(const attention *a, tn_value g) {
  tn_builder *b = a->builder;
  tn_value slope = tn_build_matmul(b, g, tn_build_swap_last(b, a->v)); /* of the weights */
  tn_value product = binary(a, TN_OP_MUL, slope, a->weights);
  if (product == TN_ERROR_VALUE) return product;
  const int last[] = { shape_of(a, product).rank - 1 };
  tn_value mean = tn_build_reduce(b, TN_OP_SUM, product, last, 1, true);
  slope = binary(a, TN_OP_MUL, a->weights, binary(a, TN_OP_SUB, slope, mean));
  return a->attrs->causal ? tn_build_select(b, a->open, slope, number(a, 0)) : slope;
}

bool tn_build_attention_grads(tn_builder *b, const tn_value in[4], const tn_attrs *attrs, tn_value out[3]) {
  tn_type types[4];
  attention a;
  for (int i = 0; i < 4; i++) types[i] = *tn_build_type(b, in[i]);
  const tn_expand_args args = { b, TN_OP_ATTENTION_GRAD, in, types, 4, attrs };
  if (!find_weights(&args, TN_NO_VALUE, &a)) return false;
  tn_value g = split_heads(&a, in[3]);
  tn_value values = tn_build_matmul(b, tn_build_swap_last(b, a.weights), g);
  tn_value slope = slope_of_scores(&a, g);
  tn_value queries = tn_build_matmul(b, slope, a.k);
  tn_value keys = tn_build_matmul(b, tn_build_swap_last(b, slope), a.q);
  queries = binary(&a, TN_OP_MUL, join_heads(&a, queries, &types[0].shape), a.factor);
  out[0] = without_negative_zero(&a, queries);
  out[1] = without_negative_zero(&a, join_heads(&a, keys, &types[1].shape));
  out[2] = join_heads(&a, values, &types[2].shape);
  return tn_build_ok(b);
}

tn_value tn_expand_attention_grad(const tn_expand_args *args) {
  tn_value grads[3];
  if (!tn_build_attention_grads(args->builder, args->in, args->attrs, grads)) return TN_ERROR_VALUE;
  tn_shape flat = tn_shape_make(1, TN_DIM_UNKNOWN);
  for (int i = 0; i < 3; i++) grads[i] = tn_build_reshape(args->builder, grads[i], &flat);
  return tn_build(args->builder, TN_OP_CONCAT, grads, 3, NULL);
}
