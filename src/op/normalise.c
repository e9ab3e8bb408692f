/* op/normalise.c: converts attributes as users write them to the form that rules read.
 *
 * Front ends pass -1 for the last axis, leave out the end of a slice, and let reshape infer a
 * length. All of that is resolved here, once for every language; rules and kernels see plain
 * numbers in range. Attributes that depend on named lengths stay as written and are normalised
 * again when the names are bound. */
#include <string.h>

#include "op/fault.h"
#include "op/internal.h"

typedef struct {
  tn_op_args args;    /* args.attrs is *attrs */
  tn_attrs *attrs;
} normaliser;

static bool axis_fault(const normaliser *n, int64_t axis, const char *reason) {
  tn_fault fault = { .kind = TN_FAULT_AXIS, .axis = axis, .reason = reason };
  if (n->args.count) fault.left = n->args.in[0];
  else fault.left = (tn_type){ n->attrs->dtype, n->attrs->shape };
  return tn_op_fail(&n->args, fault);
}

static bool normalise_axis(normaliser *n) {
  int rank = tn_op_axis_rank(&n->args), axis;
  if (rank > TN_RANK_LIMIT) return tn_op_fail_rank_limit(&n->args, rank);
  if (!tn_shape_axis(rank, n->attrs->axis, &axis)) return axis_fault(n, n->attrs->axis, "out of range");
  n->attrs->axis = axis;
  return true;
}

/* ---- several axes ---- */

static void set_axes(tn_attrs *attrs, const bool *chosen, int rank) {
  attrs->axis_count = 0;
  for (int i = 0; i < rank; i++) {
    if (chosen[i]) attrs->axes[attrs->axis_count++] = i;
  }
  for (int i = attrs->axis_count; i < TN_RANK_LIMIT; i++) attrs->axes[i] = 0;
}

/* Marks the axes that are given. */
static bool choose_axes(const normaliser *n, bool *chosen) {
  int rank = n->args.in[0].shape.rank, axis;
  if (n->attrs->axis_count > TN_RANK_LIMIT) return tn_op_fail_rank_limit(&n->args, n->attrs->axis_count);
  for (int i = 0; i < n->attrs->axis_count; i++) {
    int64_t given = n->attrs->axes[i];
    if (!tn_shape_axis(rank, given, &axis)) return axis_fault(n, given, "out of range");
    if (chosen[axis]) return axis_fault(n, given, TN_AXIS_TWICE);
    chosen[axis] = true;
  }
  return true;
}

static bool normalise_axes(normaliser *n) {
  bool chosen[TN_RANK_LIMIT] = { false };
  int rank = n->args.in[0].shape.rank;
  if (n->attrs->axis_count < 0) {
    for (int i = 0; i < rank; i++) chosen[i] = true;
  } else if (!choose_axes(n, chosen)) {
    return false;
  }
  set_axes(n->attrs, chosen, rank);
  return true;
}

/* A length that is not known yet may be squeezed if its axis is given; the resulting reshape checks
 * it. */
static bool normalise_squeeze(normaliser *n) {
  bool chosen[TN_RANK_LIMIT] = { false };
  const tn_shape *shape = &n->args.in[0].shape;
  if (n->attrs->axis_count < 0) {
    for (int i = 0; i < shape->rank; i++) chosen[i] = shape->dim[i] == 1;
  } else if (!choose_axes(n, chosen)) {
    return false;
  }
  set_axes(n->attrs, chosen, shape->rank);
  for (int i = 0; i < n->attrs->axis_count; i++) {
    int axis = n->attrs->axes[i];
    if (shape->dim[axis] == 1 || shape->dim[axis] == TN_DIM_UNKNOWN) continue;
    return tn_op_fail(&n->args, (tn_fault){ .kind = TN_FAULT_SQUEEZE, .left = n->args.in[0], .axis = axis,
                                            .expected = 1, .got = shape->dim[axis] });
  }
  return true;
}

/* The rule checks whether the axes are a permutation; its diagnostic shows them as given. */
static bool normalise_permutation(normaliser *n) {
  int rank = n->args.in[0].shape.rank, axis;
  if (n->attrs->axis_count > TN_RANK_LIMIT) return tn_op_fail_rank_limit(&n->args, n->attrs->axis_count);
  if (n->attrs->axis_count <= 0) {
    n->attrs->axis_count = rank;
    for (int i = 0; i < rank; i++) n->attrs->axes[i] = rank - 1 - i;
  }
  tn_attrs given = *n->attrs;
  for (int i = 0; i < given.axis_count; i++) {
    if (tn_shape_axis(rank, given.axes[i], &axis)) n->attrs->axes[i] = axis;
  }
  for (int i = given.axis_count; i < TN_RANK_LIMIT; i++) n->attrs->axes[i] = 0;
  tn_type ignored;
  if (tn_op_shape_transpose(&n->args, &ignored)) return true;
  *n->attrs = given;   /* so that the fault shows -1 where -1 was written */
  return tn_op_shape_transpose(&n->args, &ignored);
}

/* ---- reshape ---- */

static bool infer_fault(const normaliser *n, const char *reason) {
  tn_type wanted = { n->args.in[0].dtype, n->attrs->shape };
  return tn_op_fail(&n->args, (tn_fault){ .kind = TN_FAULT_INFER, .left = n->args.in[0], .right = wanted,
                                          .expected = tn_shape_count(&n->args.in[0].shape),
                                          .reason = reason });
}

/* The factor that makes `to` as many elements as `from`; unknown where names do not cancel. */
static bool missing_factor(const normaliser *n, tn_product from, tn_product to, int64_t *out) {
  *out = TN_DIM_UNKNOWN;
  if (to.empty) return infer_fault(n, "beside a length of 0 any length fits");
  if (from.unknown) return true;
  if (from.empty) {
    *out = 0;
    return true;
  }
  tn_product_cancel(&from, &to);
  if (to.symbol_count || from.symbol_count > 1) return true;
  if (from.symbol_count == 1) {
    if (from.known == to.known) *out = from.symbol[0];
    return true;
  }
  if (from.known % to.known) return infer_fault(n, "the number of elements is not a multiple of the rest");
  *out = from.known / to.known;
  return true;
}

static bool normalise_reshape(normaliser *n) {
  tn_shape rest = n->attrs->shape;
  int open = -1;
  for (int i = 0; i < rest.rank; i++) {
    if (rest.dim[i] != TN_DIM_UNKNOWN) continue;
    if (open >= 0) return infer_fault(n, "only one length can be inferred");
    open = i;
    rest.dim[i] = 1;
  }
  if (open < 0) return true;
  tn_product from, to;
  tn_type wanted = { n->args.in[0].dtype, rest };
  if (!tn_product_of(&n->args.in[0].shape, &from)) return tn_op_check_size(&n->args, &n->args.in[0]);
  if (!tn_product_of(&rest, &to)) return tn_op_check_size(&n->args, &wanted);
  return missing_factor(n, from, to, &n->attrs->shape.dim[open]);
}

/* ---- places along an axis ---- */

static bool bounds_fault(const normaliser *n, int axis, int64_t given) {
  return tn_op_fail(&n->args, (tn_fault){ .kind = TN_FAULT_BOUNDS, .left = n->args.in[0], .axis = axis,
                                          .expected = n->args.in[0].shape.dim[axis], .got = given });
}

/* Makes *place count from the front and checks it against 0..last. */
static bool normalise_place(const normaliser *n, int axis, int64_t last, int64_t *place) {
  int64_t dim = n->args.in[0].shape.dim[axis], given = *place;
  if (!tn_dim_is_known(dim)) return true;
  int64_t from_front = given < 0 ? given + dim : given;
  if (from_front < 0 || from_front > last) return bounds_fault(n, axis, given);
  *place = from_front;
  return true;
}

static bool normalise_slice(normaliser *n) {
  const tn_shape *shape = &n->args.in[0].shape;
  tn_attrs *attrs = n->attrs;
  for (int i = 0; i < shape->rank; i++) {
    int64_t dim = shape->dim[i];
    if (attrs->step[i] == 0) attrs->step[i] = 1;
    if (attrs->step[i] < 0) return tn_op_fail_argument(&n->args, "a step of at least 1", attrs->step[i]);
    if (attrs->high[i] == INT64_MAX && tn_dim_is_known(dim)) attrs->high[i] = dim;
    if (!normalise_place(n, i, dim, &attrs->low[i])) return false;
    if (!normalise_place(n, i, dim, &attrs->high[i])) return false;
  }
  for (int i = shape->rank; i < TN_RANK_LIMIT; i++) attrs->low[i] = attrs->high[i] = attrs->step[i] = 0;
  return true;
}

static bool normalise_index(normaliser *n) {
  if (!normalise_axis(n)) return false;
  int64_t place = (int64_t)n->attrs->index;
  int axis = n->attrs->axis;
  if (!normalise_place(n, axis, n->args.in[0].shape.dim[axis] - 1, &place)) return false;
  n->attrs->index = (uint64_t)place;
  return true;
}

static bool normalise_windows(normaliser *n) {
  for (int i = 0; i < 2; i++) {
    if (n->attrs->step[i] == 0) n->attrs->step[i] = 1;
  }
  return true;
}

static bool normalise_heads(normaliser *n) {
  if (n->attrs->index == 0) n->attrs->index = 1;
  return true;
}

static bool normalise_groups(normaliser *n) { return normalise_windows(n) && normalise_heads(n); }

static bool normalise_as_given(normaliser *n) {
  (void)n;
  return true;
}

static bool (*const rules[TN_OP_COUNT])(normaliser *n) = {
#define TN_OP(id, ...) [TN_OP_##id] = __VA_ARGS__,
#define TN_ATTRS(rule) normalise_##rule
#include "op/ops.def"
};

bool tn_op_normalise(tn_op op, const tn_type *in, int count, tn_attrs *attrs, tn_fault *fault) {
  normaliser n = { .args = { .op = op, .in = in, .count = count, .attrs = attrs, .fault = fault },
                   .attrs = attrs };
  return tn_op_check_arity(&n.args) && rules[op](&n);
}
