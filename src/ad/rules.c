/* ad/rules.c: the table of derivative rules by operation.
 *
 * The rules themselves are in elementwise.c, arrange.c, along.c and products.c
 * (reverse, with those forward rules that are more than a line of them) and in
 * forward.c (forward rules that many operations share). All of them call a builder and consist of
 * ordinary operations, so each can be differentiated again; a rule that gives a NaN where a higher
 * derivative is finite is wrong, even if its own value is right.
 *
 * The order in which a rule creates operations is the order of nodes in the graph, and compilers
 * differ in the order in which they evaluate arguments: at most one argument of a call may create a
 * node. */
#include "ad/internal.h"

typedef struct {
  tn_vjp_rule vjp;
  tn_jvp_rule jvp;
  uint32_t through; /* bit i: a gradient flows through operand i */
} entry;
#define TN_OPERAND(i)    (UINT32_C(1) << (i))
#define TN_EVERY_OPERAND UINT32_MAX

#define TN_OP(id, ...)             [TN_OP_##id] = __VA_ARGS__,
#define TN_GRAD(vjp, jvp, through) { tn_ad_##vjp, tn_ad_##jvp, through }
#define TN_EXPAND(...)             { .vjp = NULL } /* composed: derivatives follow from the parts */
static const entry entries[TN_OP_COUNT] = {
#include "op/ops.def"
};

/* A composed operation whose only operand is an integer has nothing to differentiate. */
static tn_derivative of_composed(tn_op op) {
  const tn_op_sig *sig = tn_op_sig_of(op);
  return sig->arity == 1 && !(sig->dtypes & TN_FLOATS) ? TN_DERIVATIVE_NONE : TN_DERIVATIVE_YES;
}

tn_derivative tn_ad_has_vjp(tn_op op) {
  tn_vjp_rule rule = entries[op].vjp;
  if (!rule) return of_composed(op);
  if (rule == tn_ad_vjp_none) return TN_DERIVATIVE_NONE;
  return rule == tn_ad_vjp_zero ? TN_DERIVATIVE_ZERO : TN_DERIVATIVE_YES;
}

tn_derivative tn_ad_has_jvp(tn_op op) {
  tn_jvp_rule rule = entries[op].jvp;
  if (!rule) return of_composed(op);
  if (rule == tn_ad_jvp_none) return TN_DERIVATIVE_NONE;
  return rule == tn_ad_jvp_zero ? TN_DERIVATIVE_ZERO : TN_DERIVATIVE_YES;
}

/* Operations with more operands than bits treat all operands alike. */
bool tn_ad_carries(tn_op op, int operand) {
  return entries[op].through >> (operand < 31 ? operand : 31) & 1;
}

bool tn_ad_by_parts(tn_op op) { return entries[op].vjp == tn_ad_vjp_parts; }
bool tn_ad_by_parts_forward(tn_op op) { return entries[op].jvp == tn_ad_jvp_parts; }

int tn_ad_turn(tn_op op, int turn, int count) {
  bool last_first = op == TN_OP_ATTENTION || op == TN_OP_LAYER_NORM;
  return last_first && turn < count ? count - 1 - turn : turn;
}

bool tn_ad_vjp_node(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  for (int i = 0; i <= node->count; i++) grads[i] = TN_NO_VALUE;
  return entries[node->op].vjp(node, gradient, grads);
}

bool tn_ad_jvp_node(const tn_ad_node *node, const tn_value *tangents, tn_value *tangent) {
  bool any = false;
  *tangent = TN_NO_VALUE;
  for (int i = 0; i < node->count; i++) any = any || tangents[i] != TN_NO_VALUE;
  return !any || entries[node->op].jvp(node, tangents, tangent);
}

/* ---- rules that say that there is nothing to say ---- */

bool tn_ad_vjp_source(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  (void)node, (void)gradient, (void)grads;
  return true;
}

bool tn_ad_jvp_source(const tn_ad_node *node, const tn_value *tangents, tn_value *tangent) {
  (void)node, (void)tangents, (void)tangent;
  return true;
}

bool tn_ad_vjp_zero(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  return tn_ad_vjp_source(node, gradient, grads);
}

bool tn_ad_jvp_zero(const tn_ad_node *node, const tn_value *tangents, tn_value *tangent) {
  return tn_ad_jvp_source(node, tangents, tangent);
}

static bool fault(const tn_ad_node *node, tn_fault_kind kind, const char *reason) {
  tn_build_fault(node->builder, node->op, (tn_fault){ .kind = kind, .reason = reason });
  return false;
}

bool tn_ad_vjp_none(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  (void)gradient, (void)grads;
  return fault(node, TN_FAULT_NO_GRADIENT, NULL);
}

bool tn_ad_jvp_none(const tn_ad_node *node, const tn_value *tangents, tn_value *tangent) {
  (void)tangents, (void)tangent;
  return fault(node, TN_FAULT_NO_GRADIENT, NULL);
}

/* The transforms and the tape handle parts themselves: only they can add part by part. */
bool tn_ad_vjp_parts(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  (void)gradient, (void)grads;
  return fault(node, TN_FAULT_INTERNAL, "an operation with parts was differentiated as a whole");
}

bool tn_ad_jvp_parts(const tn_ad_node *node, const tn_value *tangents, tn_value *tangent) {
  (void)tangents, (void)tangent;
  return fault(node, TN_FAULT_INTERNAL, "an operation with parts was differentiated as a whole");
}

/* Only the transforms handle branches. */
bool tn_ad_vjp_structural(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  (void)gradient, (void)grads;
  return fault(node, TN_FAULT_INTERNAL, "a branch was differentiated as an operation");
}

bool tn_ad_jvp_structural(const tn_ad_node *node, const tn_value *tangents, tn_value *tangent) {
  (void)tangents, (void)tangent;
  return fault(node, TN_FAULT_INTERNAL, "a branch was differentiated as an operation");
}
