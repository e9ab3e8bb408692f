/* graph/effects.h: callbacks for the `host` operations of a graph.
 *
 * A graph can refer to the clock or a file, but cannot read them. A plan calls back when it reaches
 * the operation; the language implements the callback. */
#ifndef TN_GRAPH_EFFECTS_H
#define TN_GRAPH_EFFECTS_H

#include "graph/graph.h"

typedef struct {
  void *context;
  /* Writes out, or reports by itself and returns false. */
  bool (*call)(void *context, const tn_node *node, const tn_view *out);
  /* Called with the host operations of a region before any of it runs, so that what is not allowed is
   * refused before anything is done. */
  bool (*entering)(void *context, const tn_node *const *nodes, size_t count);
} tn_effects;
#endif
