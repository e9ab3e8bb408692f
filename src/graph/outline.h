/* graph/outline.h: which calls of a program made the nodes of a graph, and what the program calls its values.
 *
 * A graph has operations but no functions; people think in functions, layers and names. A language
 * fills in the outline while it builds the graph, if requested; nothing else depends on it. Nodes
 * are numbered in the order of their creation, so those of a call are consecutive. */
#ifndef TN_GRAPH_OUTLINE_H
#define TN_GRAPH_OUTLINE_H

#include "base/map.h"
#include "graph/graph.h"

typedef struct {
  tn_name name;
  uint32_t parent;     /* the call around it, numbered from 1; 0: none */
  uint32_t nth;        /* of that name in the call around it, from 1 */
  tn_value first, end; /* its nodes: from `first` to before `end` */
  tn_value result;     /* 0: not known */
  tn_span at;          /* where it is called */
} tn_outline_call;

typedef struct tn_outline {
  tn_heap *heap;
  const tn_graph *graph;         /* that is being built; set by the language */
  tn_vec(tn_outline_call) calls; /* number n is calls.at[n - 1]; enclosing calls come first */
  tn_vec(tn_name) labels;        /* by value; 0, or beyond the end: none */
  tn_map counts;                 /* parent and name -> how many */
  uint32_t current;              /* the call that is open; 0: none */
  tn_str open;                   /* which calls are shown expanded: "all", or their numbers with commas */
  bool failed;                   /* memory ran out: calls or names are missing */
} tn_outline;

void tn_outline_init(tn_outline *outline, tn_heap *heap, tn_str open);
void tn_outline_free(tn_outline *outline);
/* Forgets calls and names: the graph is built once more. */
void tn_outline_begin(tn_outline *outline, const tn_graph *graph);

/* NULL is fine for each: no outline is wanted. */
void tn_outline_enter(tn_outline *outline, tn_name name, tn_span at);
void tn_outline_leave(tn_outline *outline, tn_value result);
/* The newest name is kept: that of the caller. */
void tn_outline_label(tn_outline *outline, tn_value value, tn_name name);

tn_name tn_outline_label_of(const tn_outline *outline, tn_value value);
/* Marks the calls that are shown opened; `open` has room for each, by its number. */
void tn_outline_find_open(const tn_outline *outline, bool *open);
/* Whether the call around it has another of the same name. */
bool tn_outline_is_numbered(const tn_outline *outline, const tn_outline_call *call);
#endif
