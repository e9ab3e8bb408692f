/* ad/internal.h: what the rules and the transforms share. */
#ifndef TN_AD_INTERNAL_H
#define TN_AD_INTERNAL_H

#include "ad/ad.h"

/* ---- the rules ---- */

/* ops.def names rule `matmul` vjp_matmul. */
#define TN_AD_VJPS(X)                                                                          \
  X(source) X(zero) X(none) X(structural) X(parts) X(formula) X(cast) X(select)                \
  X(reshape) X(transpose) X(broadcast_to) X(slice) X(pad) X(concat) X(gather) X(scatter_add)   \
  X(patches) X(fold)                                                                           \
  X(sum) X(mean) X(max) X(prod) X(cumsum) X(cumprod) X(softmax) X(log_softmax)                 \
  X(cross_entropy) X(matmul)
#define TN_AD_JVPS(X)                                                                          \
  X(source) X(zero) X(none) X(structural) X(parts) X(linear) X(by_vjp) X(by_vjp_reduce)        \
  X(first) X(cast) X(add) X(sub) X(mul) X(select) X(concat) X(scatter_add) X(cumprod) X(softmax)        \
  X(log_softmax) X(cross_entropy) X(bilinear)

#define TN_AD_DECLARE_VJP(name) \
  bool tn_ad_vjp_##name(const tn_ad_node *node, tn_value gradient, tn_value *grads);
TN_AD_VJPS(TN_AD_DECLARE_VJP)
#undef TN_AD_DECLARE_VJP
#define TN_AD_DECLARE_JVP(name) \
  bool tn_ad_jvp_##name(const tn_ad_node *node, const tn_value *tangents, tn_value *tangent);
TN_AD_JVPS(TN_AD_DECLARE_JVP)
#undef TN_AD_DECLARE_JVP

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

/* Puts back the axes that a reduction dropped, and repeats them to the operand's shape. */
tn_value tn_ad_spread(const tn_ad_node *node, tn_value reduced);

/* Whether values of this dtype have derivatives: floats and their storage formats. */
static inline bool tn_ad_differentiable(tn_dtype dtype) {
  tn_dtype_class class = tn_dtype_class_of(dtype);
  return class == TN_CLASS_FLOAT || class == TN_CLASS_STORAGE;
}

/* Whether a derivative flows into this operand: it does not into conditions and places. */
bool tn_ad_carries(tn_op op, int operand);
#endif
