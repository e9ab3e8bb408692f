/* opt/opt.h: passes that make a graph cheaper and never change a bit.
 *
 * Each pass takes a graph and leaves an equivalent one in its place. Any pass
 * can be left out without changing a result; tests run with each switched off. */
#ifndef TN_OPT_OPT_H
#define TN_OPT_OPT_H

#include "graph/graph.h"

typedef enum {
  TN_PASS_FOLD = 1 << 0, /* operations on constants; sizes; exact identities such as x + (-0) */
  TN_PASS_CSE = 1 << 1,  /* the same operation on the same operands once */
  TN_PASS_DCE = 1 << 2,  /* what no output needs */
  TN_PASS_FUSE = 1 << 3, /* elementwise chains become one operation */
  TN_PASS_ALL = (1 << 4) - 1
} tn_pass_set;

/* Folding computes with this; opt/ does not know back ends. The views are right for the op;
 * `out` is contiguous. False: do not fold. */
typedef struct {
  bool (*compute)(void *context, tn_op op, const tn_attrs *attrs, const tn_view *in, int count,
                  const tn_view *out);
  void *context;
} tn_opt_folder;

/* "fold", "cse", "dce", "fuse"; 0 when unknown. */
tn_pass_set tn_pass_find(tn_str name);

/* Runs the passes in order. False only when memory runs out; the graph is then still valid. */
bool tn_opt_run(tn_graph *graph, tn_pass_set passes, const tn_opt_folder *folder);

bool tn_opt_fold(tn_graph *graph, const tn_opt_folder *folder);
bool tn_opt_cse(tn_graph *graph);
bool tn_opt_dce(tn_graph *graph);
bool tn_opt_fuse(tn_graph *graph);
#endif
