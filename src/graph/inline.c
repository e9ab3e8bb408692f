/* graph/inline.c: a graph as a part of another. */
#include "graph/graph.h"

static bool map_regions(const tn_graph *from, tn_graph *to, uint32_t *region) {
  for (uint32_t r = 1; r < from->regions.count; r++) {
    region[r] = tn_graph_add_region(to, region[from->regions.at[r].parent]);
    if (region[r] == 0) return false;
  }
  return true;
}

/* A region's results are known once all its nodes are there: when its `if` comes. */
static bool yield_results(const tn_graph *from, tn_graph *to, const tn_node *branch, const uint32_t *region,
                          const tn_value *map) {
  for (int i = 0; i < 2; i++) {
    const tn_region *old = &from->regions.at[branch->attrs->region[i]];
    for (size_t r = 0; r < old->results.count; r++) {
      if (!tn_graph_yield(to, region[branch->attrs->region[i]], &map[old->results.at[r]], 1)) return false;
    }
  }
  return true;
}

static tn_value copy_node(const tn_graph *from, tn_graph *to, const tn_node *node, uint64_t words,
                          const uint32_t *region, const tn_value *map) {
  tn_attrs attrs = *node->attrs;
  tn_value *in = tn_arena_array(&to->arena, (size_t)node->count + 1, sizeof *in);
  if (!in) return TN_ERROR_VALUE;
  for (int i = 0; i < node->count; i++) in[i] = map[node->in[i]];
  if (node->op == TN_OP_UNIFORM || node->op == TN_OP_NORMAL) attrs.index += words;
  if (node->op == TN_OP_IF) {
    if (!yield_results(from, to, node, region, map)) return TN_ERROR_VALUE;
    for (int i = 0; i < 2; i++) attrs.region[i] = region[node->attrs->region[i]];
  }
  return tn_graph_add(to, region[node->region], node->op, in, node->count, &attrs, &node->type, node->at);
}

bool tn_graph_inline(const tn_graph *from, tn_graph *to, uint64_t words, tn_value *map) {
  uint32_t *region = tn_arena_array(&to->arena, from->regions.count, sizeof *region);
  if (!region || !map_regions(from, to, region)) return false;
  for (tn_value v = 1; v < from->nodes.count; v++) {
    const tn_node *node = tn_graph_node(from, v);
    if (node->op == TN_OP_INPUT || node->op == TN_OP_PARAM) continue;
    map[v] = copy_node(from, to, node, words, region, map);
    if (map[v] == TN_ERROR_VALUE) return false;
  }
  return true;
}
