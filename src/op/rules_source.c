/* op/rules_source.c: shape rules of sources, and of operations that keep the shape. */
#include "op/internal.h"

bool tn_op_shape_attr(const tn_op_args *args, tn_type *out) {
  out->shape = args->attrs->shape;
  return true;
}

bool tn_op_shape_literal(const tn_op_args *args, tn_type *out) {
  out->shape = tn_view_shape(&args->attrs->literal->view);
  return true;
}

/* The axis has been found in range, so the rank is at least 1. */
bool tn_op_shape_iota(const tn_op_args *args, tn_type *out) {
  return tn_op_shape_attr(args, out);
}

/* key: [] */
bool tn_op_shape_random(const tn_op_args *args, tn_type *out) {
  return tn_op_check_rank(args, 0, 0) && tn_op_shape_attr(args, out);
}

bool tn_op_shape_scalar(const tn_op_args *args, tn_type *out) {
  (void)args;
  out->shape = TN_SCALAR_SHAPE;
  return true;
}

bool tn_op_shape_first(const tn_op_args *args, tn_type *out) {
  out->shape = args->in[0].shape;
  return true;
}

/* condition: []. The results of an `if` are in its regions, which only the graph can see; here it
 * has the type of its condition, and each pick has its own type. */
bool tn_op_shape_if(const tn_op_args *args, tn_type *out) {
  return tn_op_check_rank(args, 0, 0) && tn_op_shape_first(args, out);
}
