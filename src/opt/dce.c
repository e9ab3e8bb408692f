/* opt/dce.c: dead code elimination: drops what no output needs. */
#include "opt/internal.h"

static tn_value keep(tn_rewrite *rewrite, tn_value old, const tn_node *node, const tn_value *in) {
  (void)old;
  return tn_rewrite_keep(rewrite, node, in);
}

bool tn_opt_dce(tn_graph *graph) {
  tn_heap *heap = graph->heap;
  size_t count = graph->nodes.count;
  bool *needed = tn_opt_needed(graph);
  if (!needed) return false;
  tn_rewrite rewrite = { .node = keep, .needed = needed };
  bool ok = tn_rewrite_run(&rewrite, graph);
  tn_heap_free(heap, needed, count * sizeof *needed);
  return ok;
}
