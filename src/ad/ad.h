/* ad/ad.h: automatic differentiation, reverse and forward, with one set of rules.
 *
 * A rule is written against a builder, not against a graph: with the graph
 * builder it extends a graph, with the eager builder it computes at once. The
 * transforms here drive the rules over a graph; Ninth's tape (eager/) drives
 * the same rules over what it remembers. Because gradients are made of
 * ordinary operations, transforms nest. */
#ifndef TN_AD_AD_H
#define TN_AD_AD_H

#include "graph/builder.h"

/* What a rule may read: one operation that has been executed. */
typedef struct {
  tn_builder *builder;
  tn_op op;
  const tn_value *in;
  int count;
  tn_value out;
  const tn_attrs *attrs;
  const bool *wanted;      /* reverse: whose gradients are needed */
} tn_ad_node;

/* A gradient or tangent of TN_NO_VALUE is zero.
 *
 * Reverse: given the gradient of the result, writes the gradients of the wanted operands
 * into grads (preset to TN_NO_VALUE). There is room for one more than there are operands: a second
 * gradient of the first operand, which it receives after all others. False with the builder's fault
 * set when there is none. */
typedef bool (*tn_vjp_rule)(const tn_ad_node *node, tn_value gradient, tn_value *grads);
/* Forward: the tangent of the result from those of the operands (some TN_NO_VALUE). */
typedef bool (*tn_jvp_rule)(const tn_ad_node *node, const tn_value *tangents, tn_value *tangent);

typedef enum { TN_DERIVATIVE_YES, TN_DERIVATIVE_ZERO, TN_DERIVATIVE_NONE } tn_derivative;
tn_derivative tn_ad_has_vjp(tn_op op);
tn_derivative tn_ad_has_jvp(tn_op op);

/* Whether its reverse or forward derivatives are those of its parts (tn_build_parts): it has no
 * rule to apply. Gradients of an operand from several parts are added part by part, as if the parts
 * were written in the program. */
bool tn_ad_by_parts(tn_op op);
bool tn_ad_by_parts_forward(tn_op op);
/* Which gradient of an operation with `count` operands is passed on in turn 0 .. count: normally in
 * order. Those of attention and layer_norm are passed on in the order in which their parts would give
 * them, the last operand first. */
int tn_ad_turn(tn_op op, int turn, int count);
/* Which operand receives it. */
static inline int tn_ad_receiver(int gradient, int count) { return gradient < count ? gradient : 0; }

/* Applies one operation's rule; for the tape. */
bool tn_ad_vjp_node(const tn_ad_node *node, tn_value gradient, tn_value *grads);
bool tn_ad_jvp_node(const tn_ad_node *node, const tn_value *tangents, tn_value *tangent);

typedef enum {
  TN_AD_STRICT,    /* an operation without a gradient on the path is a fault (MIND) */
  TN_AD_LENIENT    /* it stops the gradient (AILang, Ninth) */
} tn_ad_policy;

/* Reverse mode over a graph: appends to the builder's graph the gradients of `seeds` (one
 * for each of `outputs`; TN_NO_VALUE, and no seeds at all, mean ones of its type) with respect to
 * `wrt`. grads[i] is a value of wrt[i]'s type; where nothing flows it is TN_NO_VALUE if
 * `sparse_zeros`, else a fill of zeros.
 *
 * A value of `wrt` is a leaf: gradients flow to it and stop there. Only nodes in between are
 * visited. No gradient flows into conditions, indices and keys; on an integer, a boolean or an
 * operation without a gradient it is a fault or stops, by the policy.
 *
 * The gradient of an `if` recomputes what it needs of the branch that runs; a `host` operation
 * inside is then called again, and must return the same value as before in this run.
 *
 * False with the builder's fault kept; the graph is then as it was, and the grads are of no use. */
typedef struct {
  tn_graph_builder *builder;
  const tn_value *outputs, *seeds;
  int output_count;
  const tn_value *wrt;
  int wrt_count;
  tn_ad_policy policy;
  bool sparse_zeros;
} tn_grad_request;
bool tn_ad_grad(const tn_grad_request *request, tn_value *grads);

/* Forward mode: tangents of `outputs` for tangents of `wrt` (TN_NO_VALUE: that one is constant).
 * A tangent has the type of its value; zeros are filled in. Otherwise as tn_ad_grad. */
typedef struct {
  tn_graph_builder *builder;
  const tn_value *wrt, *tangents;
  int wrt_count;
  const tn_value *outputs;
  int output_count;
  tn_ad_policy policy;
} tn_jvp_request;
bool tn_ad_jvp(const tn_jvp_request *request, tn_value *tangents);

/* The full matrix: output dims, then input dims. Shapes must be known. Built from one reverse
 * sweep per output element or one forward sweep per input element, whichever are fewer. */
bool tn_ad_jacobian(tn_graph_builder *builder, tn_value output, tn_value wrt, tn_ad_policy policy,
                    tn_value *jacobian);
#endif
