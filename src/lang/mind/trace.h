/* lang/mind/trace.h: tensors as nodes of a graph that grows while a program runs.
 *
 * Nothing is computed when an operation is made. Where the program needs data
 * (a condition, a print, the result) the nodes in question are computed
 * together, by the host, and remembered; what is made of them later starts from
 * those numbers, while the graph keeps its history for gradients.
 *
 * A node whose sizes are not all known, or that depends on such a node, has no
 * data; it may still have one number everywhere (tn_mind_trace_fill). */
#ifndef TN_LANG_MIND_TRACE_H
#define TN_LANG_MIND_TRACE_H

#include "graph/builder.h"
#include "lang/lang.h"

/* Nodes of a trace. What a loop is differentiated through stays until it has been. */
#define TN_MIND_NODE_LIMIT 16000000

/* What a node or a region has become in the copy of that round. */
typedef struct {
  uint32_t round, became;
} tn_mind_note;

typedef tn_vec(tn_mind_note) tn_mind_notes;

typedef struct {
  tn_host *host;
  bool ready; /* the graph exists */
  tn_graph graph;
  tn_graph_builder builder;
  tn_vec(uint32_t) known; /* by node: 0, or a position in `tensors` plus 1 */
  tn_vec(tn_tensor) tensors;
  tn_vec(tn_value) pending; /* nodes that may fail and have not been computed */
  tn_vec(tn_value) leaves;  /* nodes that only stand for their operand, ascending */
  tn_mind_notes of_nodes, of_regions; /* for copies */
  uint32_t round;
  size_t seen;              /* nodes that have been examined for `pending` */
} tn_mind_trace;

typedef enum {
  TN_MIND_DATA,    /* computed */
  TN_MIND_NO_DATA, /* sizes are not known */
  TN_MIND_FAULT    /* with the fault filled in */
} tn_mind_forced;

void tn_mind_trace_init(tn_mind_trace *trace, tn_host *host);
void tn_mind_trace_free(tn_mind_trace *trace);
/* The builder; NULL when memory runs out. */
tn_builder *tn_mind_trace_builder(tn_mind_trace *trace);

/* A node for a tensor's data, which is shared. */
tn_value tn_mind_trace_const(tn_mind_trace *trace, const tn_tensor *tensor);
/* A node that is `of` and can be differentiated by on its own. */
tn_value tn_mind_trace_leaf(tn_mind_trace *trace, tn_value of);
/* Computes nodes that have no data yet. */
tn_mind_forced tn_mind_trace_force(tn_mind_trace *trace, const tn_value *values, size_t count,
                                   tn_fault *fault);
/* What could fail and was made since the last time; before something is seen from outside. */
bool tn_mind_trace_settle(tn_mind_trace *trace, tn_fault *fault);
/* The data of a computed node; NULL: it has none. */
const tn_tensor *tn_mind_trace_data(const tn_mind_trace *trace, tn_value value);
/* The one number of a node without data. */
bool tn_mind_trace_fill(tn_mind_trace *trace, tn_value value, double *number);

/* Whether the number of elements makes a difference to the reduction of elements that are all equal. */
static inline bool tn_mind_counts(tn_op op) {
  return op == TN_OP_SUM || op == TN_OP_MEAN || op == TN_OP_PROD;
}

/* Of each of `from`, which may be 0, whether `value` was computed from it or is it. False when memory runs
 * out. */
bool tn_mind_trace_depends(const tn_mind_trace *trace, tn_value value, const tn_value *from, size_t count,
                           bool *out);
/* Whether one of them, of which there are some, was computed from another. */
bool tn_mind_trace_chained(const tn_mind_trace *trace, const tn_value *values, size_t count);

/* A place to go back to. What was made since is forgotten, with its numbers; all of it that may fail has been
 * settled by then. Numbers that older nodes got meanwhile stay. */
typedef struct {
  tn_graph_mark graph;
  tn_arena_mark arena;
} tn_mind_trace_mark;
/* The graph exists. */
tn_mind_trace_mark tn_mind_trace_mark_of(const tn_mind_trace *trace);
void tn_mind_trace_rewind(tn_mind_trace *trace, const tn_mind_trace_mark *mark);

/* A graph of its own with these inputs, needed or not, and what the outputs need. */
typedef struct {
  const tn_value *inputs;
  size_t input_count;
  const tn_output *outputs;
  size_t output_count;
  bool cut; /* what has data stands as its numbers, without its history */
} tn_mind_extract;
bool tn_mind_trace_extract(tn_mind_trace *trace, const tn_mind_extract *what, tn_graph *out);
/* Whether every size in an extract is known and nothing has to be given. */
bool tn_mind_trace_can_compute(const tn_graph *extract);
/* Computes, of the nodes below `end`, those that follow from no input and that the others or the outputs are
 * made of, so that a cut extract has their numbers. What fails when it is computed, or has no sizes, stays an
 * operation. False with a fault that is no mistake of the program: memory, an interruption. */
bool tn_mind_trace_fold(tn_mind_trace *trace, const tn_mind_extract *what, tn_value end, tn_fault *fault);

/* Keeps only what `keep` needs, for long sessions: nodes get new numbers, which are written back.
 * What does not depend on one of `named` any more loses its history. False when memory runs out;
 * nothing has changed then. */
bool tn_mind_trace_compact(tn_mind_trace *trace, tn_value *const *keep, size_t count, const tn_value *named,
                           size_t named_count);
#endif
