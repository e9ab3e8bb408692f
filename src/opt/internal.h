/* opt/internal.h: how a pass rewrites a graph.
 *
 * A pass never edits nodes in place. It walks the old graph in order and, for
 * each node, says what replaces it in the new one: the same operation on the
 * new operands (the default), an existing value, or nothing. Inputs and
 * parameters always survive, in their order, because they are the program's
 * interface. */
#ifndef TN_OPT_INTERNAL_H
#define TN_OPT_INTERNAL_H

#include "opt/opt.h"

typedef struct tn_rewrite tn_rewrite;

struct tn_rewrite {
  const tn_graph *from;
  tn_graph to;
  tn_value *map;    /* by old value: the new one; 0: none */
  uint32_t *region; /* by old region: the new one; UINT32_MAX: dropped */
  void *context;
  /* What replaces the old node `old`. `in` are its operands in the new graph. Use
   * tn_rewrite_keep for the default. 0 means nothing; out of memory sets to.failed. */
  tn_value (*node)(tn_rewrite *rewrite, tn_value old, const tn_node *node, const tn_value *in);
  /* Optional: called before the operands of a node are looked up; may change `map`. */
  void (*before)(tn_rewrite *rewrite, tn_value old, const tn_node *node);
  /* Optional: whether an old node is needed at all; NULL: every node. */
  const bool *needed;
  /* Optional: for an `if` of the old graph 0 or 1 when its condition is decided, else -1.
   * The chosen region is merged into its parent; the other is dropped. */
  int (*decided)(tn_rewrite *rewrite, const tn_node *branch);
};

/* Carries the rewrite out and, when it worked, replaces *graph. */
bool tn_rewrite_run(tn_rewrite *rewrite, tn_graph *graph);
tn_value tn_rewrite_keep(tn_rewrite *rewrite, const tn_node *node, const tn_value *in);
/* A new node in the place of `node`, of the given type. */
tn_value tn_rewrite_add(tn_rewrite *rewrite, const tn_node *node, tn_op op, const tn_value *in, int count,
                        const tn_attrs *attrs, const tn_type *type);

/* Which nodes the outputs need; from the heap, one per node. NULL when memory runs out. */
bool *tn_opt_needed(const tn_graph *graph);
#endif
