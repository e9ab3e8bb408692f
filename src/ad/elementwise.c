/* ad/elementwise.c: derivatives of elementwise operations.
 *
 * The slopes are formulas of op/elementwise.def; here they become operations.
 * Gradients of operands that were broadcast are summed back to their shape. */
#include "ad/internal.h"
#include "op/formula.h"

/* Writes the gradient of operand i, summed back to its shape. */
static void give(const tn_ad_node *node, tn_value *grads, int i, tn_value gradient) {
  tn_type type = tn_ad_type(node, i);
  grads[i] = tn_build_sum_to(node->builder, gradient, &type.shape);
}

/* ---- the slopes of elementwise.def ---- */

/* A formula as operations of the node's builder. */
typedef struct {
  tn_formula_run run; /* first, so that a run is a recipe */
  const tn_ad_node *node;
  tn_value gradient;
  tn_value values[TN_FORMULA_PLACES];
} recipe;

static bool make(tn_formula_run *run, int place, tn_op op, const int *in, int count, double number) {
  recipe *r = (recipe *)run;
  tn_value operands[3];
  for (int i = 0; i < count; i++) operands[i] = r->values[in[i]];
  r->values[place] = op == TN_OP_FILL ? tn_ad_number(r->node, r->gradient, number)
                                      : tn_build(r->node->builder, op, operands, count, NULL);
  return r->values[place] != TN_ERROR_VALUE;
}

/* A minus comes after the sum: fewer elements. */
bool tn_ad_vjp_formula(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  recipe r = { .run = { .make = make }, .node = node, .gradient = gradient };
  r.values[TN_TERM_X] = node->in[0];
  r.values[TN_TERM_Y] = node->count > 1 ? node->in[1] : TN_ERROR_VALUE;
  r.values[TN_TERM_OUT] = node->out;
  r.values[TN_TERM_G] = gradient;
  for (int i = 0; i < node->count; i++) {
    bool negated;
    if (!node->wanted[i]) continue;
    int place = tn_formula_make(&r.run, tn_op_formulas[node->op].slope[i], &negated);
    if (place < 0) return false;
    grads[i] = r.values[place];
    if (node->count > 1) give(node, grads, i, grads[i]);
    if (negated) grads[i] = tn_ad_unary(node, TN_OP_NEG, grads[i]);
  }
  return tn_ad_done(node);
}

/* ---- between dtypes, and by a condition ---- */

/* Integers and booleans carry no gradient. */
bool tn_ad_vjp_cast(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  tn_dtype dtype = tn_ad_type(node, 0).dtype;
  if (tn_ad_differentiable(dtype)) grads[0] = tn_build_cast(node->builder, gradient, dtype);
  return tn_ad_done(node);
}

bool tn_ad_jvp_cast(const tn_ad_node *node, const tn_value *tangents, tn_value *tangent) {
  tn_dtype dtype = tn_ad_out_type(node).dtype;
  if (tn_ad_differentiable(dtype)) *tangent = tn_build_cast(node->builder, tangents[0], dtype);
  return tn_ad_done(node);
}

bool tn_ad_vjp_select(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  tn_value zero = tn_ad_number(node, gradient, 0), condition = node->in[0];
  if (node->wanted[1]) give(node, grads, 1, tn_build_select(node->builder, condition, gradient, zero));
  if (node->wanted[2]) give(node, grads, 2, tn_build_select(node->builder, condition, zero, gradient));
  return tn_ad_done(node);
}
