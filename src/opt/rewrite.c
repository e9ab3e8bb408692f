/* opt/rewrite.c: the walk over a graph that every pass uses. */
#include "opt/internal.h"

#define TN_REWRITE_FEW 16

static tn_value fail(tn_rewrite *rewrite) {
  rewrite->to.failed = true;
  return TN_ERROR_VALUE;
}

tn_value tn_rewrite_add(tn_rewrite *rewrite, const tn_node *node, tn_op op, const tn_value *in, int count,
                        const tn_attrs *attrs, const tn_type *type) {
  uint32_t region = rewrite->region[node->region];
  tn_value value = tn_graph_add(&rewrite->to, region, op, in, count, attrs, type, node->at);
  return value == TN_ERROR_VALUE ? fail(rewrite) : value;
}

/* The regions of an `if` got their numbers when their first node was met. */
static tn_value keep_if(tn_rewrite *rewrite, const tn_node *node, const tn_value *in) {
  tn_attrs attrs = *node->attrs;
  for (int i = 0; i < 2; i++) attrs.region[i] = rewrite->region[node->attrs->region[i]];
  tn_value value = tn_rewrite_add(rewrite, node, TN_OP_IF, in, node->count, &attrs, &node->type);
  for (int i = 0; i < 2 && value != TN_ERROR_VALUE; i++) {
    const tn_region *old = &rewrite->from->regions.at[node->attrs->region[i]];
    tn_region *region = &rewrite->to.regions.at[attrs.region[i]];
    region->owner = value;
    for (size_t r = 0; r < old->results.count; r++) {
      tn_value result = rewrite->map[old->results.at[r]];
      if (!tn_vec_push(rewrite->to.heap, &region->results, result)) return fail(rewrite);
    }
  }
  return value;
}

tn_value tn_rewrite_keep(tn_rewrite *rewrite, const tn_node *node, const tn_value *in) {
  if (node->op == TN_OP_IF) return keep_if(rewrite, node, in);
  return tn_rewrite_add(rewrite, node, node->op, in, node->count, node->attrs, &node->type);
}

/* Regions are numbered so that a parent comes before its children. A region whose `if` is
 * decided is merged into its parent or dropped. */
static bool map_regions(tn_rewrite *rewrite) {
  const tn_graph *from = rewrite->from;
  rewrite->region[0] = 0;
  for (uint32_t r = 1; r < from->regions.count; r++) {
    const tn_region *old = &from->regions.at[r];
    uint32_t parent = rewrite->region[old->parent];
    rewrite->region[r] = UINT32_MAX;
    bool dead = old->owner == 0 || (rewrite->needed && !rewrite->needed[old->owner]);
    if (parent == UINT32_MAX || dead) continue;
    const tn_node *branch = tn_graph_node(from, old->owner);
    int choice = rewrite->decided ? rewrite->decided(rewrite, branch) : -1;
    if (choice >= 0) {
      if (branch->attrs->region[choice] == r) rewrite->region[r] = parent;
      continue;
    }
    rewrite->region[r] = tn_graph_add_region(&rewrite->to, parent);
    if (rewrite->region[r] == 0) return false;
  }
  return true;
}

/* A pick of a decided `if` is the chosen region's result itself. */
static bool pick_of_decided(tn_rewrite *rewrite, const tn_node *node, tn_value *out) {
  if (node->op != TN_OP_PICK || !rewrite->decided) return false;
  const tn_node *branch = tn_graph_node(rewrite->from, node->in[0]);
  int choice = rewrite->decided(rewrite, branch);
  if (choice < 0) return false;
  *out =
      rewrite->map[rewrite->from->regions.at[branch->attrs->region[choice]].results.at[node->attrs->index]];
  return true;
}

static tn_value rewrite_node(tn_rewrite *rewrite, tn_value old) {
  const tn_node *node = tn_graph_node(rewrite->from, old);
  tn_value few[TN_REWRITE_FEW], *in = few, value;
  if (node->op == TN_OP_IF && rewrite->decided && rewrite->decided(rewrite, node) >= 0) return TN_ERROR_VALUE;
  if (pick_of_decided(rewrite, node, &value)) return value;
  if (node->count > TN_REWRITE_FEW) {
    in = tn_heap_alloc(rewrite->to.heap, (size_t)node->count * sizeof *in);
    if (!in) return fail(rewrite);
  }
  if (rewrite->before) rewrite->before(rewrite, old, node);
  for (int i = 0; i < node->count; i++) in[i] = rewrite->map[node->in[i]];
  value = rewrite->node(rewrite, old, node, in);
  if (in != few) tn_heap_free(rewrite->to.heap, in, (size_t)node->count * sizeof *in);
  return value;
}

static bool is_interface(tn_op op) { return op == TN_OP_INPUT || op == TN_OP_PARAM; }

static bool rewrite_all(tn_rewrite *rewrite) {
  const tn_graph *from = rewrite->from;
  if (!map_regions(rewrite)) return false;
  for (tn_value v = 1; v < from->nodes.count; v++) {
    const tn_node *node = tn_graph_node(from, v);
    if (rewrite->region[node->region] == UINT32_MAX) continue;
    if (rewrite->needed && !rewrite->needed[v] && !is_interface(node->op)) continue;
    rewrite->map[v] =
        is_interface(node->op) ? tn_rewrite_keep(rewrite, node, NULL) : rewrite_node(rewrite, v);
    if (rewrite->to.failed) return false;
  }
  for (size_t i = 0; i < from->outputs.count; i++) {
    if (!tn_graph_output(&rewrite->to, from->outputs.at[i].name, rewrite->map[from->outputs.at[i].value]))
      return false;
  }
  return true;
}

bool tn_rewrite_run(tn_rewrite *rewrite, tn_graph *graph) {
  tn_heap *heap = graph->heap;
  size_t nodes = graph->nodes.count, regions = graph->regions.count;
  rewrite->from = graph;
  if (!tn_graph_init(&rewrite->to, heap, graph->names)) return false;
  rewrite->map = tn_heap_alloc(heap, nodes * sizeof *rewrite->map);
  rewrite->region = tn_heap_alloc(heap, regions * sizeof *rewrite->region);
  bool ok = rewrite->map && rewrite->region && rewrite_all(rewrite);
  tn_heap_free(heap, rewrite->map, nodes * sizeof *rewrite->map);
  tn_heap_free(heap, rewrite->region, regions * sizeof *rewrite->region);
  if (!ok) {
    tn_graph_free(&rewrite->to);
    return false;
  }
  tn_graph_free(graph);
  *graph = rewrite->to;
  return true;
}

bool *tn_opt_needed(const tn_graph *graph) {
  bool *needed = tn_heap_alloc(graph->heap, graph->nodes.count * sizeof *needed);
  if (!needed) return NULL;
  for (size_t i = 0; i < graph->outputs.count; i++) needed[graph->outputs.at[i].value] = true;
  for (size_t v = graph->nodes.count; v-- > 1;) {
    const tn_node *node = &graph->nodes.at[v];
    if (!needed[v]) continue;
    for (int i = 0; i < node->count; i++) needed[node->in[i]] = true;
    if (node->op != TN_OP_IF) continue;
    for (int r = 0; r < 2; r++) {
      const tn_region *region = &graph->regions.at[node->attrs->region[r]];
      for (size_t i = 0; i < region->results.count; i++) needed[region->results.at[i]] = true;
    }
  }
  return needed;
}
