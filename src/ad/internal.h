/* ad/internal.h: shared by the rules and the transforms. */
#ifndef TN_AD_INTERNAL_H
#define TN_AD_INTERNAL_H

#include "ad/ad.h"

/* ---- the rules ---- */

/* Those that ops.def names. */
#define TN_OP(id, ...) __VA_ARGS__
#define TN_GRAD(vjp, jvp, through)                                                    \
  bool tn_ad_##vjp(const tn_ad_node *node, tn_value gradient, tn_value *grads);       \
  bool tn_ad_##jvp(const tn_ad_node *node, const tn_value *tangents, tn_value *tangent);
#include "op/ops.def"

/* A rule ends with this: a failed part has kept its fault in the builder. */
static inline bool tn_ad_done(const tn_ad_node *node) { return tn_build_ok(node->builder); }

/* Copies, because a type is valid only until the next operation is made. */
static inline tn_type tn_ad_type(const tn_ad_node *node, int operand) {
  return *tn_build_type(node->builder, node->in[operand]);
}
static inline tn_type tn_ad_out_type(const tn_ad_node *node) {
  return *tn_build_type(node->builder, node->out);
}

static inline tn_value tn_ad_unary(const tn_ad_node *node, tn_op op, tn_value x) {
  return tn_build_unary(node->builder, op, x);
}
static inline tn_value tn_ad_binary(const tn_ad_node *node, tn_op op, tn_value x, tn_value y) {
  return tn_build_binary(node->builder, op, x, y);
}
/* A 0-d number of the dtype of x. */
static inline tn_value tn_ad_number(const tn_ad_node *node, tn_value x, double number) {
  return tn_build_number(node->builder, tn_build_type(node->builder, x)->dtype, number);
}

/* Whether values of this dtype have derivatives: floats and their storage formats. */
static inline bool tn_ad_differentiable(tn_dtype dtype) {
  tn_dtype_class class = tn_dtype_class_of(dtype);
  return class == TN_CLASS_FLOAT || class == TN_CLASS_STORAGE;
}

/* Whether a derivative flows into this operand: not into conditions and indices. */
bool tn_ad_carries(tn_op op, int operand);
#endif
