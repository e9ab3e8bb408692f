/* lang/mind/trace_fill.c: tensors that have one number everywhere, whatever their sizes.
 *
 * A graph whose sizes are not known can still be computed where every operation makes all its
 * elements in the same way: each size that is not known becomes 1. */
#include <string.h>

#include "lang/mind/trace.h"

/* Whether all elements of the node are made in the same way of operands that are uniform, so that
 * it is uniform for every length of its axes. */
static bool spreads(const tn_graph *graph, const tn_node *node, const uint8_t *uniform) {
  const tn_op_sig *sig = tn_op_sig_of(node->op);
  for (int i = 0; i < node->count; i++) {
    if (!uniform[node->in[i]]) return false;
  }
  const tn_shape *in = node->count ? &tn_graph_type(graph, node->in[0])->shape : NULL;
  switch (sig->kind) {
    case TN_KIND_FILL:
    case TN_KIND_ELEMENTWISE:
    case TN_KIND_VIEW: return true;
    case TN_KIND_REDUCE:
      if (node->op == TN_OP_MAX || node->op == TN_OP_MIN) return true;
      if (!tn_mind_counts(node->op)) return false;
      for (int i = 0; i < node->attrs->axis_count; i++) {
        if (!tn_dim_is_known(in->dim[node->attrs->axes[i]])) return false;
      }
      return true;
    case TN_KIND_CONTRACT: return node->op == TN_OP_MATMUL && tn_dim_is_known(in->dim[in->rank - 1]);
    case TN_KIND_SCAN:
      if (node->op == TN_OP_LAYER_NORM) return tn_dim_is_known(in->dim[in->rank - 1]);
      return (node->op == TN_OP_SOFTMAX || node->op == TN_OP_LOG_SOFTMAX) &&
             tn_dim_is_known(in->dim[node->attrs->axis]);
    case TN_KIND_INPUT:
    case TN_KIND_LITERAL:
    case TN_KIND_IOTA:
    case TN_KIND_GENERATE:
    case TN_KIND_MOVE:
    case TN_KIND_BRANCH:
    case TN_KIND_PICK:
    case TN_KIND_EFFECT:
    case TN_KIND_COMPOSED: return false;
  }
  return false;
}

/* And that number is one that f64 holds. */
static bool all_equal(const tn_view *view) {
  double first = tn_view_get_f64(view, 0);
  int64_t count = tn_view_count(view);
  int64_t whole = view->dtype == TN_I64 ? tn_view_get_i64(view, 0) : 0;
  if (whole > (INT64_C(1) << 53) || whole < -(INT64_C(1) << 53)) return false;
  for (int64_t i = 1; i < count; i++) {
    double next = tn_view_get_f64(view, i);
    if (memcmp(&next, &first, sizeof first) != 0) return false;
  }
  return true;
}

/* The graph of one output with every length that is not known set to 1, computed. */
static bool compute_small(tn_mind_trace *trace, const tn_graph *graph, double *number) {
  tn_host *host = trace->host;
  tn_vec(tn_binding) bindings = { 0 };
  tn_graph bound;
  tn_fault fault;
  tn_tensor made = { 0 };
  bool ok = true;
  for (size_t v = 1; ok && v < graph->nodes.count; v++) {
    const tn_shape *shape = &tn_graph_type(graph, (tn_value)v)->shape;
    for (int i = 0; ok && i < shape->rank; i++) {
      if (!tn_dim_is_symbol(shape->dim[i])) continue;
      tn_binding binding = { tn_dim_name(shape->dim[i]), 1 };
      ok = tn_vec_push(host->heap, &bindings, binding);
    }
  }
  ok = ok && tn_graph_bind(graph, bindings.at, bindings.count, &bound, &fault);
  tn_vec_free(host->heap, &bindings);
  if (!ok) return false;
  ok = tn_mind_trace_can_compute(&bound) && host->compute(host, &bound, NULL, NULL, &made, &fault);
  if (ok) ok = tn_view_count(&made.view) > 0 && all_equal(&made.view);
  if (ok) *number = tn_view_get_f64(&made.view, 0);
  tn_tensor_unref(&made);
  tn_graph_free(&bound);
  return ok;
}

static bool is_uniform(tn_mind_trace *trace, const tn_graph *graph) {
  tn_heap *heap = trace->host->heap;
  size_t count = graph->nodes.count;
  uint8_t *uniform = tn_heap_alloc(heap, count);
  if (!uniform) return false;
  for (size_t v = 1; v < count; v++) {
    const tn_node *node = tn_graph_node(graph, (tn_value)v);
    if (node->op == TN_OP_CONST)
      uniform[v] = all_equal(&node->attrs->literal->view);
    else
      uniform[v] = spreads(graph, node, uniform);
  }
  bool result = uniform[graph->outputs.at[0].value];
  tn_heap_free(heap, uniform, count);
  return result;
}

bool tn_mind_trace_fill(tn_mind_trace *trace, tn_value value, double *number) {
  tn_graph graph;
  tn_output output = { 0, value };
  tn_mind_extract what = { .outputs = &output, .output_count = 1 };
  if (!tn_mind_trace_extract(trace, &what, &graph)) return false;
  bool ok = graph.inputs.count == 0 && is_uniform(trace, &graph) && compute_small(trace, &graph, number);
  tn_graph_free(&graph);
  return ok;
}
