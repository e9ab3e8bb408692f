/* graph/expand.c: the definitions of composed operations in terms of primitive ones.
 *
 * Shapes, gradients, kernels and every bit of the result follow from these definitions, so the
 * order of operations here is part of the numeric contract. Convolution, layer_norm and attention
 * have files of their own. Faults of the parts name the whole operation; if a part would report
 * shapes that the user never wrote, the check is made here first. At most one argument of a call may
 * create a node, because compilers differ in the order in which they evaluate arguments. */
#include "graph/internal.h"

typedef tn_value (*expand_rule)(const tn_expand_args *args);

static tn_value binary(const tn_expand_args *args, tn_op op, tn_value x, tn_value y) {
  return tn_build_binary(args->builder, op, x, y);
}

static tn_value unary(const tn_expand_args *args, tn_op op, tn_value x) {
  return tn_build_unary(args->builder, op, x);
}

static tn_value number_like(const tn_expand_args *args, double number) {
  return tn_build_number(args->builder, args->types[0].dtype, number);
}

static tn_value fault(const tn_expand_args *args, tn_fault fault) {
  return tn_build_fault(args->builder, args->op, fault);
}

static tn_value rank_fault(const tn_expand_args *args, int operand, int rank, const char *wanted) {
  tn_fault wrong = { .kind = TN_FAULT_RANK,
                     .operand = operand,
                     .left = args->types[0],
                     .right = args->types[args->count > 1 ? 1 : 0],
                     .expected = rank,
                     .got = args->types[operand].shape.rank,
                     .reason = wanted };
  return fault(args, wrong);
}

bool tn_expand_check_rank(const tn_expand_args *args, int operand, int rank, const char *wanted) {
  if (args->types[operand].shape.rank == rank) return true;
  rank_fault(args, operand, rank, wanted);
  return false;
}

/* ---- elementwise ---- */

#define SQRT_2 1.4142135623730951

/* (0.5 * x) * (1 + erf(x / sqrt 2)) */
static tn_value expand_gelu(const tn_expand_args *args) {
  tn_value x = args->in[0];
  tn_value half = binary(args, TN_OP_MUL, number_like(args, 0.5), x);
  tn_value error = unary(args, TN_OP_ERF, binary(args, TN_OP_DIV, x, number_like(args, SQRT_2)));
  return binary(args, TN_OP_MUL, half, binary(args, TN_OP_ADD, number_like(args, 1), error));
}

/* select(uniform(key) >= p, x * (1 / (1 - p)), 0). Word index + i belongs to element i, in
 * row-major order; the factor is computed in f64 and rounded once to the dtype of x. */
static tn_value expand_dropout(const tn_expand_args *args) {
  double p = args->attrs->number;
  if (!(p >= 0 && p < 1)) {
    return fault(args, (tn_fault){ .kind = TN_FAULT_ARGUMENT,
                                   .got = tn_i64_from_f64(p),
                                   .reason = "a probability of at least 0 and below 1" });
  }
  tn_attrs words = { .shape = args->types[0].shape, .index = args->attrs->index };
  tn_value uniform = tn_build(args->builder, TN_OP_UNIFORM, &args->in[1], 1, &words);
  tn_value kept = binary(args, TN_OP_GE, uniform, tn_build_number(args->builder, TN_F32, p));
  tn_value scaled = binary(args, TN_OP_MUL, args->in[0], number_like(args, 1 / (1 - p)));
  return tn_build_select(args->builder, kept, scaled, number_like(args, 0));
}

/* ---- shapes ---- */

static tn_value expand_squeeze(const tn_expand_args *args) {
  return tn_build_drop_axes(args->builder, args->in[0], args->attrs->axes, args->attrs->axis_count);
}

static tn_value expand_expand_dims(const tn_expand_args *args) {
  return tn_build_new_axis(args->builder, args->in[0], args->attrs->axis);
}

static tn_value expand_flatten(const tn_expand_args *args) {
  tn_shape shape = tn_shape_make(1, TN_DIM_UNKNOWN);
  return tn_build_reshape(args->builder, args->in[0], &shape);
}

static bool check_stack(const tn_expand_args *args) {
  for (int i = 1; i < args->count; i++) {
    const tn_type *a = &args->types[0], *b = &args->types[i];
    tn_fault wrong = { .kind = TN_FAULT_JOIN, .operand = i, .left = *a, .right = *b };
    if (a->dtype != b->dtype) wrong.kind = TN_FAULT_DTYPE;
    if (tn_type_equal(a, b)) continue;
    while (wrong.dimension < a->shape.rank && wrong.dimension < b->shape.rank &&
           a->shape.dim[wrong.dimension] == b->shape.dim[wrong.dimension]) {
      wrong.dimension++;
    }
    fault(args, wrong);
    return false;
  }
  return true;
}

static tn_value expand_stack(const tn_expand_args *args) {
  size_t bytes = (size_t)args->count * sizeof(tn_value);
  if (!check_stack(args)) return TN_ERROR_VALUE;
  tn_value *parts = tn_heap_alloc(args->builder->heap, bytes);
  if (!parts) return fault(args, (tn_fault){ .kind = TN_FAULT_MEMORY });
  tn_attrs along = { .axis = args->attrs->axis };
  for (int i = 0; i < args->count; i++) parts[i] = tn_build_new_axis(args->builder, args->in[i], along.axis);
  tn_value joined = tn_build(args->builder, TN_OP_CONCAT, parts, args->count, &along);
  tn_heap_free(args->builder->heap, parts, bytes);
  return joined;
}

/* ---- indexing ---- */

/* An index that still counts from the end belongs to an axis of symbolic length. */
static tn_value expand_index(const tn_expand_args *args) {
  const int axis[] = { args->attrs->axis };
  int64_t place = (int64_t)args->attrs->index, end = place == -1 ? INT64_MAX : place + 1;
  tn_value row = tn_build_slice(args->builder, args->in[0], axis[0], place, end, 1);
  return tn_build_drop_axes(args->builder, row, axis, 1);
}

static tn_value expand_embedding(const tn_expand_args *args) {
  const tn_value in[] = { args->in[1], args->in[0] };
  if (args->types[1].shape.rank == 0) return rank_fault(args, 1, 2, "of at least 1 dimension");
  return tn_build(args->builder, TN_OP_GATHER, in, 2, NULL);
}

/* Compares with 0, 1, 2, ... along a new last axis. The index is looked up in these numbers, where it finds
 * itself: one outside of them is an error, not a row without a 1. */
static tn_value expand_one_hot(const tn_expand_args *args) {
  uint64_t count = args->attrs->index;
  if (count >= (uint64_t)TN_ELEMENT_LIMIT) {
    return fault(
        args,
        (tn_fault){ .kind = TN_FAULT_ARGUMENT, .got = (int64_t)count, .reason = "a number of classes" });
  }
  tn_attrs places = { .dtype = args->types[0].dtype, .shape = tn_shape_make(1, (int64_t)count) };
  tn_value iota = tn_build(args->builder, TN_OP_IOTA, NULL, 0, &places);
  tn_value index = binary(args, TN_OP_GATHER, iota, args->in[0]);
  tn_value columns = tn_build_new_axis(args->builder, index, args->types[0].shape.rank);
  return tn_build_cast(args->builder, binary(args, TN_OP_EQ, columns, iota), args->attrs->dtype);
}

/* ---- reductions ---- */

static tn_value expand_mean_pool_time(const tn_expand_args *args) {
  if (!tn_expand_check_rank(args, 0, 3, "of 3 dimensions")) return TN_ERROR_VALUE;
  return tn_build_reduce(args->builder, TN_OP_MEAN, args->in[0], (const int[]){ 1 }, 1, false);
}

static tn_value expand_mse_loss(const tn_expand_args *args) {
  tn_value difference = binary(args, TN_OP_SUB, args->in[0], args->in[1]);
  tn_value square = binary(args, TN_OP_MUL, difference, difference);
  return tn_build_reduce(args->builder, TN_OP_MEAN, square, NULL, -1, false);
}

/* ---- products ---- */

static tn_value expand_dot(const tn_expand_args *args) {
  for (int i = 0; i < 2; i++) {
    if (!tn_expand_check_rank(args, i, 1, "of 1 dimension")) return TN_ERROR_VALUE;
  }
  return tn_build_matmul_any_rank(args->builder, args->in[0], args->in[1]);
}

static tn_value expand_linear(const tn_expand_args *args) {
  tn_value product = tn_build_matmul_any_rank(args->builder, args->in[0], args->in[1]);
  return args->count == 3 ? binary(args, TN_OP_ADD, product, args->in[2]) : product;
}

/* ---- the table ---- */

typedef struct {
  tn_op op;
  expand_rule expand;
} expand_entry;

static const expand_entry expansions[TN_OP_COUNT] = {
#define TN_OP(id, ...) [TN_OP_##id] = { .op = TN_OP_##id, __VA_ARGS__ },
#define TN_EXPAND(...) __VA_ARGS__
#define TN_PARTS(...)  __VA_ARGS__
#include "op/ops.def"
};

tn_value tn_expand(const tn_expand_args *args) {
  const tn_op_sig *sig = tn_op_sig_of(args->op);
  if (!tn_dtype_in(args->types[0].dtype, sig->dtypes)) {
    const char *wanted = sig->dtypes == TN_FLOATS ? "f32 or f64"
                         : sig->dtypes == TN_INTS ? "i32 or i64"
                                                  : "numbers";
    return fault(args, (tn_fault){ .kind = TN_FAULT_DTYPE,
                                   .left = args->types[0],
                                   .right = args->types[0],
                                   .reason = wanted });
  }
  return expansions[args->op].expand(args);
}
