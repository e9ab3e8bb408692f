/* plan/device.c: decides whether a GPU is worth its start-up time. */
#include "plan/internal.h"

/* Nanoseconds on one thread of the CPU, about. */
#define FMA_COST     0.04
#define ELEMENT_COST 0.3
/* What a GPU must save: the time to open it and to make plans, and in each run the launches of its
 * kernels. */
#define START_COST 2e9
#define RUN_COST   3e5

static double cost_of(const tn_graph *graph, const tn_node *node) {
  double count = (double)tn_shape_count(&node->type.shape), each = tn_op_cost(node->op);
  if (tn_op_sig_of(node->op)->kind == TN_KIND_VIEW) return 0;
  if (tn_op_rows_of(node->op) == TN_ROWS_PRODUCT) {
    const tn_shape *x = &tn_graph_type(graph, node->in[0])->shape;
    each = FMA_COST * (double)x->dim[x->rank - 1];
  }
  return count * (each > ELEMENT_COST ? each : ELEMENT_COST);
}

const tn_backend *tn_plan_backend(const tn_backend *backend, const tn_graph *graph, int threads,
                                  int64_t runs) {
  double cost = 0;
  if (!backend->card || !backend->automatic) return backend;
  for (size_t v = 1; v < graph->nodes.count; v++) cost += cost_of(graph, &graph->nodes.at[v]);
  cost /= threads > 0 ? threads : 1;
  return cost > RUN_COST && cost * (double)runs > START_COST ? backend : backend->host;
}
