/* graph/equal.c: when two graphs are one program.
 *
 * Places in program text do not count, nor do attributes an operation does not read. */
#include <string.h>

#include "graph/internal.h"

static bool same_attrs(const tn_node *a, const tn_node *b) {
  tn_attrs x = *a->attrs, y = *b->attrs;
  if (a->op == TN_OP_FUSED) {
    if (!tn_fused_equal(x.program, y.program)) return false;
    y.program = x.program;
  }
  return tn_attrs_equal(a->op, &x, &y);
}

static bool same_node(const tn_node *a, const tn_node *b) {
  if (a->op != b->op || a->region != b->region || a->count != b->count) return false;
  if (!tn_type_equal(&a->type, &b->type) || !same_attrs(a, b)) return false;
  return a->count == 0 || memcmp(a->in, b->in, (size_t)a->count * sizeof *a->in) == 0;
}

static bool same_region(const tn_region *a, const tn_region *b) {
  if (a->parent != b->parent || a->owner != b->owner || a->results.count != b->results.count) return false;
  if (a->results.count == 0) return true;
  return memcmp(a->results.at, b->results.at, a->results.count * sizeof *a->results.at) == 0;
}

bool tn_graph_equal(const tn_graph *a, const tn_graph *b) {
  if (a->nodes.count != b->nodes.count || a->regions.count != b->regions.count) return false;
  if (a->outputs.count != b->outputs.count) return false;
  for (size_t v = 1; v < a->nodes.count; v++) {
    if (!same_node(&a->nodes.at[v], &b->nodes.at[v])) return false;
  }
  for (size_t r = 0; r < a->regions.count; r++) {
    if (!same_region(&a->regions.at[r], &b->regions.at[r])) return false;
  }
  for (size_t i = 0; i < a->outputs.count; i++) {
    const tn_output *x = &a->outputs.at[i], *y = &b->outputs.at[i];
    if (x->name != y->name || x->value != y->value) return false;
  }
  return true;
}
