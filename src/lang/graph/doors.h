/* lang/graph/doors.h: the entry points of programs that are graphs in text form.
 *
 * The text form of a graph is a program too: its inputs are given, the shapes
 * of the given values bind its symbols, and its outputs are the result. A plan is
 * made for the first shapes and kept until the shapes change. */
#ifndef TN_LANG_GRAPH_DOORS_H
#define TN_LANG_GRAPH_DOORS_H

#include "lang/lang.h"

typedef tn_vec(tn_binding) tn_bindings;

typedef struct {
  tn_unit unit;
  bool parsed;
  tn_graph source; /* as written; may have symbols */
  tn_arena arena;  /* of the specs */
  tn_specs specs;
  tn_lowered ran; /* of the last run: known shapes, optimised, with its values */
  bool has_ran;
  struct tn_plan *plan;
  uint64_t revision; /* of the given values that `ran` holds */
} tn_graph_unit;

/* Reads the text when it is first needed. False after reporting. */
bool tn_graph_unit_read(tn_graph_unit *self);
/* The program with the values that are given, which bind its symbols (lower.c). False after reporting. */
bool tn_graph_unit_bind(tn_graph_unit *self, tn_lowered *out);
/* New values of the same types go where the old ones are. False when one has another type. */
bool tn_graph_unit_refill(tn_graph_unit *self, tn_lowered *into);
/* Every given name is one of the graph's. False after reporting. */
bool tn_graph_unit_check_names(tn_graph_unit *self);
/* The output of that name; NULL: "loss", or the only one; -1: there is none. */
int tn_graph_find_loss(const tn_graph *graph, const char *wanted);
/* Of an input or a parameter. */
tn_str tn_graph_name_of(const tn_graph *graph, tn_value value);
/* Reports an operation that calls the host, which a graph program cannot do. False then. */
bool tn_graph_asks_nobody(tn_host *host, const tn_graph *graph);
/* Frees the values and the plan of the last run. */
void tn_graph_unit_forget_run(tn_graph_unit *self);

TN_LANG_DOORS(graph)
#endif
