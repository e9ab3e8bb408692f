/* op/rules_combine.c: shape rules of operations that combine operands, and of those along axes. */
#include "op/internal.h"

/* ---- broadcasting ---- */

/* Of three operands, name two that do not match each other, not one and the combined shape of the
 * others. */
static bool broadcast_fault(const tn_op_args *args, int operand) {
  tn_fault fault = { .kind = TN_FAULT_BROADCAST, .operand = operand, .right = args->in[operand] };
  tn_shape ignored;
  for (int i = 0; i < operand; i++) {
    fault.left = args->in[i];
    if (!tn_shape_broadcast(&args->in[i].shape, &args->in[operand].shape, &ignored, &fault.dimension)) break;
  }
  return tn_op_fail(args, fault);
}

bool tn_op_shape_broadcast(const tn_op_args *args, tn_type *out) {
  tn_shape shape = args->in[0].shape;
  int axis;
  for (int i = 1; i < args->count; i++) {
    if (!tn_shape_broadcast(&shape, &args->in[i].shape, &shape, &axis)) return broadcast_fault(args, i);
  }
  out->shape = shape;
  return true;
}

/* ---- contraction ---- */

/* x: [..., m, k], y: [..., k, n]; the result: [..., m, n] */
bool tn_op_shape_matmul(const tn_op_args *args, tn_type *out) {
  if (!tn_op_check_least_rank(args, 0, 2) || !tn_op_check_least_rank(args, 1, 2)) return false;
  const tn_shape *x = &args->in[0].shape, *y = &args->in[1].shape;
  tn_fault fault = { .operand = 1, .left = args->in[0], .right = args->in[1] };
  int64_t inner;
  if (!tn_dim_join(x->dim[x->rank - 1], y->dim[y->rank - 2], &inner)) {
    fault.kind = TN_FAULT_INNER;
    fault.dimension = x->rank - 1;
    fault.expected = x->dim[x->rank - 1];
    fault.got = y->dim[y->rank - 2];
    return tn_op_fail(args, fault);
  }
  tn_shape leading_x = tn_shape_of(x->dim, x->rank - 2), leading_y = tn_shape_of(y->dim, y->rank - 2);
  if (!tn_shape_broadcast(&leading_x, &leading_y, &out->shape, &fault.dimension)) {
    fault.kind = TN_FAULT_BROADCAST;
    return tn_op_fail(args, fault);
  }
  out->shape.dim[out->shape.rank++] = x->dim[x->rank - 2];
  out->shape.dim[out->shape.rank++] = y->dim[y->rank - 1];
  return true;
}

/* ---- along axes ---- */

/* No elements have no maximum; but an empty result needs none. */
static bool check_extreme(const tn_op_args *args, const bool *reduced) {
  const tn_shape *shape = &args->in[0].shape;
  bool nothing_along = false;
  for (int i = 0; i < shape->rank; i++) {
    if (shape->dim[i] != 0) continue;
    if (!reduced[i]) return true;
    nothing_along = true;
  }
  if (!nothing_along) return true;
  return tn_op_fail(args, (tn_fault){ .kind = TN_FAULT_ARGUMENT, .left = args->in[0],
                                      .reason = "at least one element along the axes" });
}

static void drop_axes(const tn_shape *from, const bool *reduced, bool keepdims, tn_shape *out) {
  *out = TN_SCALAR_SHAPE;
  for (int i = 0; i < from->rank; i++) {
    if (!reduced[i]) out->dim[out->rank++] = from->dim[i];
    else if (keepdims) out->dim[out->rank++] = 1;
  }
}

bool tn_op_shape_reduce(const tn_op_args *args, tn_type *out) {
  bool reduced[TN_RANK_LIMIT] = { false };
  for (int i = 0; i < args->attrs->axis_count; i++) reduced[args->attrs->axes[i]] = true;
  bool extreme = args->op == TN_OP_MAX || args->op == TN_OP_MIN;
  if (extreme && !check_extreme(args, reduced)) return false;
  drop_axes(&args->in[0].shape, reduced, args->attrs->keepdims, &out->shape);
  return true;
}

bool tn_op_shape_argmax(const tn_op_args *args, tn_type *out) {
  bool reduced[TN_RANK_LIMIT] = { false };
  reduced[args->attrs->axis] = true;
  if (!check_extreme(args, reduced)) return false;
  drop_axes(&args->in[0].shape, reduced, args->attrs->keepdims, &out->shape);
  return true;
}

/* Two operands of which the second must have the shape `wanted`. */
static bool check_shape(const tn_op_args *args, int operand, const tn_shape *wanted, const char *reason) {
  tn_shape joined;
  tn_fault fault = { .kind = TN_FAULT_SHAPE, .operand = operand, .left = args->in[operand],
                     .right = { args->in[operand].dtype, *wanted }, .reason = reason };
  if (tn_shape_join(&args->in[operand].shape, wanted, &joined, &fault.dimension)) return true;
  return tn_op_fail(args, fault);
}

/* logits: [..., classes], labels: [...]; the result: [] */
bool tn_op_shape_cross_entropy(const tn_op_args *args, tn_type *out) {
  const tn_shape *logits = &args->in[0].shape;
  if (!tn_op_check_least_rank(args, 0, 1)) return false;
  tn_shape rows = tn_shape_of(logits->dim, logits->rank - 1);
  if (!check_shape(args, 1, &rows, "there is one label for each row")) return false;
  out->shape = TN_SCALAR_SHAPE;
  return true;
}

/* gamma and beta may broadcast to x, but x not to them. */
bool tn_op_shape_layer_norm(const tn_op_args *args, tn_type *out) {
  if (!tn_op_check_least_rank(args, 0, 1)) return false;
  out->shape = args->in[0].shape;
  for (int i = 1; i < args->count; i++) {
    tn_fault fault = { .kind = TN_FAULT_SHAPE, .operand = i, .left = args->in[0], .right = args->in[i] };
    tn_shape both;
    bool fits = tn_shape_broadcast(&out->shape, &args->in[i].shape, &both, &fault.dimension);
    if (!fits || !tn_shape_equal(&both, &out->shape)) return tn_op_fail(args, fault);
  }
  return true;
}

/* x: [..., n], gamma: [n], g: [..., n]; the result: x, gamma, beta, and one number per row. */
bool tn_op_shape_layer_norm_grad(const tn_op_args *args, tn_type *out) {
  const tn_shape *x = &args->in[0].shape;
  if (!tn_op_check_least_rank(args, 0, 1)) return false;
  tn_shape row = tn_shape_make(1, x->dim[x->rank - 1]), first = *x;
  if (!check_shape(args, 1, &row, "gamma is one row") ||
      !check_shape(args, 2, x, "a gradient has the shape of the result"))
    return false;
  first.dim[first.rank - 1] = 1;
  int64_t rows = tn_shape_count(&first), length = TN_DIM_UNKNOWN;
  if (tn_shape_is_known(x)) length = rows < 0 ? TN_ELEMENT_LIMIT : tn_shape_count(x) + 2 * row.dim[0] + rows;
  out->shape = tn_shape_make(1, length);
  return true;
}

/* ---- attention ---- */

/* The number of heads must divide the last axis, if its length is known; splitting it adds one
 * axis. */
static bool check_heads(const tn_op_args *args, int operand) {
  const tn_shape *shape = &args->in[operand].shape;
  int64_t width = shape->dim[shape->rank - 1], heads = (int64_t)args->attrs->index;
  bool divide = heads == 1 || (heads > 1 && shape->rank < TN_RANK_LIMIT &&
                               (!tn_dim_is_known(width) || width % heads == 0));
  return divide || tn_op_fail_argument(args, "heads that divide the last dimension", heads);
}

/* q: [..., T, D], k: [..., S, D], v: [..., S, E]; the result: [..., T, E] */
bool tn_op_shape_attention(const tn_op_args *args, tn_type *out) {
  int rank = args->in[0].shape.rank;
  for (int i = 0; i < 3; i++) {
    if (!tn_op_check_least_rank(args, i, 2)) return false;
    if (args->in[i].shape.rank != rank)
      return check_shape(args, i, &args->in[0].shape, "queries, keys and values have as many dimensions");
  }
  tn_shape keys = args->in[0].shape, values = args->in[1].shape;
  int64_t queries = keys.dim[rank - 2], seen = values.dim[rank - 2];
  keys.dim[rank - 2] = seen;
  values.dim[rank - 1] = args->in[2].shape.dim[rank - 1];
  if (!check_shape(args, 1, &keys, "a key has the dimensions of a query") ||
      !check_shape(args, 2, &values, "there is one value for each key"))
    return false;
  if (!check_heads(args, 0) || !check_heads(args, 2)) return false;
  if (args->attrs->causal && tn_dim_is_known(queries) && tn_dim_is_known(seen) && queries > seen)
    return tn_op_fail_argument(args, "at least as many keys as queries", seen);
  out->shape = args->in[0].shape;
  out->shape.dim[rank - 1] = values.dim[rank - 1];
  return true;
}

/* The total length of q, k and v, if known. */
static int64_t joined_length(const tn_op_args *args) {
  int64_t all = 0;
  for (int i = 0; i < 3; i++) {
    const tn_shape *shape = &args->in[i].shape;
    if (!tn_shape_is_known(shape)) return TN_DIM_UNKNOWN;
    all += tn_shape_count(shape);
  }
  return all;
}

bool tn_op_shape_attention_grad(const tn_op_args *args, tn_type *out) {
  tn_type result = { .dtype = out->dtype };
  if (!tn_op_shape_attention(args, &result)) return false;
  if (!check_shape(args, 3, &result.shape, "a gradient has the shape of the result")) return false;
  out->shape = tn_shape_make(1, joined_length(args));
  return true;
}

/* ---- indexing ---- */

/* The shape of x with one axis replaced by those of the index. */
static bool gathered(const tn_op_args *args, int axis, tn_shape *out) {
  const tn_shape *x = &args->in[0].shape, *index = &args->in[1].shape;
  int rank = x->rank - 1 + index->rank;
  if (rank > TN_RANK_LIMIT) return tn_op_fail_rank_limit(args, rank);
  *out = TN_SCALAR_SHAPE;
  for (int i = 0; i < axis; i++) out->dim[out->rank++] = x->dim[i];
  for (int i = 0; i < index->rank; i++) out->dim[out->rank++] = index->dim[i];
  for (int i = axis + 1; i < x->rank; i++) out->dim[out->rank++] = x->dim[i];
  return true;
}

bool tn_op_shape_gather(const tn_op_args *args, tn_type *out) {
  return gathered(args, args->attrs->axis, &out->shape);
}

static bool check_slices(const tn_op_args *args, int axis) {
  tn_shape wanted;
  return gathered(args, axis, &wanted) && check_shape(args, 2, &wanted, "there is one slice for each index");
}

bool tn_op_shape_scatter_add(const tn_op_args *args, tn_type *out) {
  out->shape = args->in[0].shape;
  return check_slices(args, args->attrs->axis);
}

/* x: [rows, ...], index: [...], y: a slice of x for each index, scale: [] */
bool tn_op_shape_row_update(const tn_op_args *args, tn_type *out) {
  out->shape = args->in[0].shape;
  return tn_op_check_least_rank(args, 0, 1) && check_slices(args, 0) && tn_op_check_rank(args, 3, 0);
}
