/* tests/support/graph_equal.h: when two graphs are one program.
 *
 * Places in program text do not count, nor do attributes an operation does not read. */
#ifndef TN_TEST_GRAPH_EQUAL_H
#define TN_TEST_GRAPH_EQUAL_H

#include <string.h>

#include "graph/fused.h"
#include "graph/graph.h"

/* The same steps over the same registers; numbers bit by bit. */
static inline bool same_program(const tn_fused *a, const tn_fused *b) {
  if (a->operand_count != b->operand_count || a->step_count != b->step_count) return false;
  for (int i = 0; i < a->operand_count; i++) {
    if (a->operand_dtype[i] != b->operand_dtype[i]) return false;
  }
  for (int i = 0; i < a->step_count; i++) {
    const tn_fused_step *x = &a->step[i], *y = &b->step[i];
    if (x->op != y->op || x->dtype != y->dtype) return false;
    for (int k = 0; k < tn_fused_step_arity(x->op); k++) {
      if (x->in[k] != y->in[k]) return false;
    }
    tn_attrs fill_x = { .number = x->number }, fill_y = { .number = y->number };
    if (x->op == TN_OP_FILL && !tn_attrs_equal(TN_OP_FILL, &fill_x, &fill_y)) return false;
  }
  return true;
}

static inline bool same_attrs(const tn_node *a, const tn_node *b) {
  tn_attrs x = *a->attrs, y = *b->attrs;
  if (a->op == TN_OP_FUSED) {
    if (!same_program(x.program, y.program)) return false;
    y.program = x.program;
  }
  return tn_attrs_equal(a->op, &x, &y);
}

static inline bool same_node(const tn_node *a, const tn_node *b) {
  if (a->op != b->op || a->region != b->region || a->count != b->count) return false;
  if (!tn_type_equal(&a->type, &b->type) || !same_attrs(a, b)) return false;
  return a->count == 0 || memcmp(a->in, b->in, (size_t)a->count * sizeof *a->in) == 0;
}

static inline bool same_region(const tn_region *a, const tn_region *b) {
  if (a->parent != b->parent || a->owner != b->owner || a->results.count != b->results.count) return false;
  if (a->results.count == 0) return true;
  return memcmp(a->results.at, b->results.at, a->results.count * sizeof *a->results.at) == 0;
}

/* Nodes in their order, regions, names, outputs; literals by content, numbers bit by bit. Both graphs have
 * the same table of names. */
static inline bool graph_equal(const tn_graph *a, const tn_graph *b) {
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
#endif
