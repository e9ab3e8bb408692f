/* graph/construct.c: shorthands for common operations. */
#include <assert.h>

#include "graph/builder.h"

tn_value tn_build_unary(tn_builder *builder, tn_op op, tn_value x) {
  return tn_build(builder, op, &x, 1, NULL);
}

tn_value tn_build_binary(tn_builder *builder, tn_op op, tn_value x, tn_value y) {
  const tn_value in[] = { x, y };
  return tn_build(builder, op, in, 2, NULL);
}

tn_value tn_build_select(tn_builder *builder, tn_value condition, tn_value x, tn_value y) {
  const tn_value in[] = { condition, x, y };
  return tn_build(builder, TN_OP_SELECT, in, 3, NULL);
}

/* ---- sources ---- */

static tn_value named_source(tn_builder *builder, tn_op op, tn_name name, const tn_type *type) {
  tn_attrs attrs = { .name = name, .dtype = type->dtype, .shape = type->shape };
  return tn_build(builder, op, NULL, 0, &attrs);
}

tn_value tn_build_input(tn_builder *builder, tn_name name, const tn_type *type) {
  return named_source(builder, TN_OP_INPUT, name, type);
}

tn_value tn_build_param(tn_builder *builder, tn_name name, const tn_type *type) {
  return named_source(builder, TN_OP_PARAM, name, type);
}

tn_value tn_build_const(tn_builder *builder, const tn_tensor *literal) {
  tn_attrs attrs = { .literal = literal };
  return tn_build(builder, TN_OP_CONST, NULL, 0, &attrs);
}

tn_value tn_build_fill(tn_builder *builder, const tn_type *type, double number) {
  tn_attrs attrs = { .dtype = type->dtype, .shape = type->shape, .number = number };
  return tn_build(builder, TN_OP_FILL, NULL, 0, &attrs);
}

tn_value tn_build_number(tn_builder *builder, tn_dtype dtype, double number) {
  return tn_build_fill(builder, &(tn_type){ .dtype = dtype }, number);
}

static bool is_nameable(const tn_shape *shape) {
  for (int i = 0; i < shape->rank; i++) {
    if (shape->dim[i] == TN_DIM_UNKNOWN) return false;
  }
  return true;
}

/* An unknown length cannot be an attribute that is filled in later; it can only be taken from a
 * value that has it, by broadcasting. */
static tn_value broadcast_with(tn_builder *builder, tn_value x, tn_value like) {
  return tn_build_select(builder, tn_build_binary(builder, TN_OP_EQ, like, like), x, x);
}

tn_value tn_build_like(tn_builder *builder, tn_value like, double number) {
  if (like == TN_ERROR_VALUE) return TN_ERROR_VALUE;
  tn_type type = *tn_build_type(builder, like);
  if (is_nameable(&type.shape)) return tn_build_fill(builder, &type, number);
  return broadcast_with(builder, tn_build_number(builder, type.dtype, number), like);
}

tn_value tn_build_broadcast_like(tn_builder *builder, tn_value x, tn_value like) {
  if (x == TN_ERROR_VALUE || like == TN_ERROR_VALUE) return TN_ERROR_VALUE;
  tn_shape shape = tn_build_type(builder, like)->shape;
  return is_nameable(&shape) ? tn_build_broadcast_to(builder, x, &shape) : broadcast_with(builder, x, like);
}

/* ---- arranging ---- */

tn_value tn_build_cast(tn_builder *builder, tn_value x, tn_dtype dtype) {
  if (x == TN_ERROR_VALUE || tn_build_type(builder, x)->dtype == dtype) return x;
  return tn_build(builder, TN_OP_CAST, &x, 1, &(tn_attrs){ .dtype = dtype });
}

static bool has_shape(const tn_builder *builder, tn_value x, const tn_shape *shape) {
  return tn_shape_equal(&tn_build_type(builder, x)->shape, shape);
}

tn_value tn_build_reshape(tn_builder *builder, tn_value x, const tn_shape *shape) {
  if (x == TN_ERROR_VALUE || has_shape(builder, x, shape)) return x;
  return tn_build(builder, TN_OP_RESHAPE, &x, 1, &(tn_attrs){ .shape = *shape });
}

tn_value tn_build_broadcast_to(tn_builder *builder, tn_value x, const tn_shape *shape) {
  if (x == TN_ERROR_VALUE || has_shape(builder, x, shape)) return x;
  return tn_build(builder, TN_OP_BROADCAST_TO, &x, 1, &(tn_attrs){ .shape = *shape });
}

tn_value tn_build_transpose(tn_builder *builder, tn_value x, const int *axes) {
  if (x == TN_ERROR_VALUE) return TN_ERROR_VALUE;
  int rank = tn_build_type(builder, x)->shape.rank;
  tn_attrs attrs = { .axis_count = rank };
  for (int i = 0; i < rank; i++) attrs.axes[i] = axes ? axes[i] : rank - 1 - i;
  return tn_build(builder, TN_OP_TRANSPOSE, &x, 1, &attrs);
}

tn_value tn_build_swap_last(tn_builder *builder, tn_value x) {
  if (x == TN_ERROR_VALUE) return TN_ERROR_VALUE;
  int axes[TN_RANK_LIMIT], rank = tn_build_type(builder, x)->shape.rank;
  assert(rank >= 2);
  for (int i = 0; i < rank; i++) axes[i] = i;
  axes[rank - 2] = rank - 1;
  axes[rank - 1] = rank - 2;
  return tn_build_transpose(builder, x, axes);
}

tn_value tn_build_slice(tn_builder *builder, tn_value x, int axis, int64_t start, int64_t end, int64_t step) {
  if (x == TN_ERROR_VALUE) return TN_ERROR_VALUE;
  tn_attrs attrs = { 0 };
  for (int i = 0; i < tn_build_type(builder, x)->shape.rank; i++) {
    attrs.high[i] = INT64_MAX;
    attrs.step[i] = 1;
  }
  attrs.low[axis] = start;
  attrs.high[axis] = end;
  attrs.step[axis] = step;
  return tn_build(builder, TN_OP_SLICE, &x, 1, &attrs);
}

tn_value tn_build_drop_axes(tn_builder *builder, tn_value x, const int *axes, int count) {
  if (x == TN_ERROR_VALUE) return TN_ERROR_VALUE;
  tn_shape from = tn_build_type(builder, x)->shape, to = { .rank = 0 };
  for (int i = 0; i < from.rank; i++) {
    bool dropped = false;
    for (int k = 0; k < count; k++) dropped = dropped || axes[k] == i;
    if (!dropped) to.dim[to.rank++] = from.dim[i];
  }
  return tn_build_reshape(builder, x, &to);
}

tn_value tn_build_new_axis(tn_builder *builder, tn_value x, int axis) {
  if (x == TN_ERROR_VALUE) return TN_ERROR_VALUE;
  tn_shape shape = tn_build_type(builder, x)->shape;
  if (shape.rank == TN_RANK_LIMIT) {
    tn_fault fault = { .kind = TN_FAULT_RANK_LIMIT, .got = TN_RANK_LIMIT + 1 };
    return tn_build_fault(builder, TN_OP_RESHAPE, fault);
  }
  for (int i = shape.rank++; i > axis; i--) shape.dim[i] = shape.dim[i - 1];
  shape.dim[axis] = 1;
  return tn_build_reshape(builder, x, &shape);
}

tn_value tn_build_rows(tn_builder *builder, tn_value x) {
  if (x == TN_ERROR_VALUE) return TN_ERROR_VALUE;
  tn_shape shape = tn_build_type(builder, x)->shape;
  if (shape.rank == 2) return x;
  assert(shape.rank >= 1);
  tn_shape leading = tn_shape_of(shape.dim, shape.rank - 1);
  int64_t count = tn_shape_count(&leading); /* beside a length of 0 it could not be computed */
  tn_shape rows = tn_shape_make(2, count < 0 ? TN_DIM_UNKNOWN : count, shape.dim[shape.rank - 1]);
  return tn_build_reshape(builder, x, &rows);
}

/* ---- along axes ---- */

tn_value tn_build_reduce(tn_builder *builder, tn_op op, tn_value x, const int *axes, int count,
                         bool keepdims) {
  tn_attrs attrs = { .axis_count = count < 0 ? -1 : count, .keepdims = keepdims };
  if (count == 0) return x;
  for (int i = 0; i < count; i++) attrs.axes[i] = axes[i];
  return tn_build(builder, op, &x, 1, &attrs);
}

tn_value tn_build_sum_to(tn_builder *builder, tn_value x, const tn_shape *shape) {
  if (x == TN_ERROR_VALUE || has_shape(builder, x, shape)) return x;
  tn_shape from = tn_build_type(builder, x)->shape;
  int axes[TN_RANK_LIMIT], count = 0, leading = from.rank - shape->rank;
  assert(leading >= 0);
  for (int i = 0; i < leading; i++) axes[count++] = i;
  for (int i = leading; i < from.rank; i++) {
    if (shape->dim[i - leading] == 1 && from.dim[i] != 1) axes[count++] = i;
  }
  bool keepdims = count > leading; /* otherwise only leading axes are dropped, which needs no reshape */
  tn_value sum = tn_build_reduce(builder, TN_OP_SUM, x, axes, count, keepdims);
  return keepdims ? tn_build_drop_axes(builder, sum, axes, leading) : sum;
}

/* ---- products ---- */

tn_value tn_build_matmul(tn_builder *builder, tn_value x, tn_value y) {
  return tn_build_binary(builder, TN_OP_MATMUL, x, y);
}

/* The fault of two operands as they are, before a rank 1 operand has become a matrix. */
static bool check_inner(tn_builder *builder, const tn_type *x, const tn_type *y) {
  tn_fault fault = {
    .kind = TN_FAULT_RANK, .left = *x, .right = *y, .expected = 1, .reason = "of at least 1 dimension"
  };
  if (x->shape.rank == 0 || y->shape.rank == 0) {
    fault.operand = x->shape.rank == 0 ? 0 : 1;
  } else {
    int64_t left = x->shape.dim[x->shape.rank - 1];
    int64_t right = y->shape.dim[y->shape.rank == 1 ? 0 : y->shape.rank - 2];
    if (left == right || left == TN_DIM_UNKNOWN || right == TN_DIM_UNKNOWN) return true;
    fault.kind = TN_FAULT_INNER;
    fault.dimension = x->shape.rank - 1;
  }
  tn_build_fault(builder, TN_OP_MATMUL, fault);
  return false;
}

tn_value tn_build_matmul_any_rank(tn_builder *builder, tn_value x, tn_value y) {
  if (x == TN_ERROR_VALUE || y == TN_ERROR_VALUE) return TN_ERROR_VALUE;
  tn_type left = *tn_build_type(builder, x), right = *tn_build_type(builder, y);
  int drop[2], count = 0;
  if (!check_inner(builder, &left, &right)) return TN_ERROR_VALUE;
  if (left.shape.rank == 1) x = tn_build_new_axis(builder, x, 0);
  if (right.shape.rank == 1) y = tn_build_new_axis(builder, y, 1);
  tn_value product = tn_build_matmul(builder, x, y);
  if (product == TN_ERROR_VALUE) return TN_ERROR_VALUE;
  int rank = tn_build_type(builder, product)->shape.rank;
  if (left.shape.rank == 1) drop[count++] = rank - 2;
  if (right.shape.rank == 1) drop[count++] = rank - 1;
  return tn_build_drop_axes(builder, product, drop, count);
}
