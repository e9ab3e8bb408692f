/* op/rules_dtype.c: dtype rules.
 *
 * There are no implicit conversions: combined operands have one dtype, and a front end that wants
 * to promote inserts a cast. The dtype of the first operand has been checked against the table
 * before a rule is called. */
#include "op/internal.h"

static bool same(const tn_op_args *args, int first, int second) {
  if (args->in[first].dtype == args->in[second].dtype) return true;
  return tn_op_fail(args, (tn_fault){ .kind = TN_FAULT_DTYPE, .operand = second, .left = args->in[first],
                                      .right = args->in[second] });
}

static bool is_integer(const tn_op_args *args, int operand) {
  if (tn_dtype_in(args->in[operand].dtype, TN_INTS)) return true;
  return tn_op_fail(args, (tn_fault){ .kind = TN_FAULT_DTYPE, .operand = operand, .left = args->in[operand],
                                      .reason = "i32 or i64" });
}

bool tn_op_dtype_attr(const tn_op_args *args, tn_type *out) {
  if (args->attrs->dtype >= TN_DTYPE_COUNT) {
    return tn_op_fail(args, (tn_fault){ .kind = TN_FAULT_INTERNAL, .reason = "there is no such dtype" });
  }
  out->dtype = args->attrs->dtype;
  return true;
}

bool tn_op_dtype_literal(const tn_op_args *args, tn_type *out) {
  if (!args->attrs->literal) {
    return tn_op_fail(args, (tn_fault){ .kind = TN_FAULT_INTERNAL, .reason = "a constant without a value" });
  }
  out->dtype = args->attrs->literal->view.dtype;
  return true;
}

bool tn_op_dtype_same(const tn_op_args *args, tn_type *out) {
  for (int i = 1; i < args->count; i++) {
    if (!same(args, 0, i)) return false;
  }
  out->dtype = args->in[0].dtype;
  return true;
}

bool tn_op_dtype_compare(const tn_op_args *args, tn_type *out) {
  if (!same(args, 0, 1)) return false;
  out->dtype = TN_BOOL;
  return true;
}

bool tn_op_dtype_select(const tn_op_args *args, tn_type *out) {
  if (!same(args, 1, 2)) return false;
  out->dtype = args->in[1].dtype;
  return true;
}

bool tn_op_dtype_gather(const tn_op_args *args, tn_type *out) {
  if (!is_integer(args, 1)) return false;
  out->dtype = args->in[0].dtype;
  return true;
}

bool tn_op_dtype_scatter(const tn_op_args *args, tn_type *out) {
  if (!is_integer(args, 1) || !same(args, 0, 2)) return false;
  out->dtype = args->in[0].dtype;
  return true;
}

bool tn_op_dtype_row_update(const tn_op_args *args, tn_type *out) {
  return tn_op_dtype_scatter(args, out) && same(args, 0, 3);
}

bool tn_op_dtype_random(const tn_op_args *args, tn_type *out) {
  (void)args;
  out->dtype = TN_F32;
  return true;
}

bool tn_op_dtype_index(const tn_op_args *args, tn_type *out) {
  (void)args;
  out->dtype = TN_I32;
  return true;
}

bool tn_op_dtype_cross_entropy(const tn_op_args *args, tn_type *out) {
  return tn_op_dtype_gather(args, out);   /* labels are indices of classes */
}

bool tn_op_dtype_if(const tn_op_args *args, tn_type *out) {
  out->dtype = args->in[0].dtype;
  return true;
}
