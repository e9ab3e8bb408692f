/* graph/graph.h: the graph: a program as typed operations.
 *
 * Values are numbers: value v is what node v computes. Operands come before the
 * nodes that use them. Node 0 is the error node: an operation that fails reports and yields 0, and
 * an operation on 0 silently yields 0.
 *
 * The nodes of an `if` branch live in a region. A region may use values of the
 * regions around it, never of its sibling; its nodes have smaller numbers than
 * the `if` that owns it. Region 0 is the program itself. Nothing has side
 * effects except `host`, so nodes that no result needs may be dropped. */
#ifndef TN_GRAPH_GRAPH_H
#define TN_GRAPH_GRAPH_H

#include "base/arena.h"
#include "base/vec.h"
#include "op/op.h"

typedef uint32_t tn_value;
#define TN_ERROR_VALUE ((tn_value)0)
#define TN_NODE_LIMIT 1000000
/* How deep regions nest, so that a walk over regions may recurse. */
#define TN_REGION_DEPTH_LIMIT 1000

typedef struct {
  tn_op op;
  uint32_t region;
  int32_t count;            /* operands */
  const tn_value *in;
  const tn_attrs *attrs;    /* never NULL */
  tn_type type;             /* of an `if`: of its first result */
  tn_span at;
} tn_node;

typedef struct {
  uint32_t parent;          /* a smaller number; of region 0: itself */
  uint32_t depth;           /* of region 0: 0 */
  tn_value owner;           /* the `if`; 0 while it is being built, and for region 0 */
  tn_vec(tn_value) nodes;   /* in order */
  tn_vec(tn_value) results;
} tn_region;

typedef struct {
  tn_name name;             /* 0: none */
  tn_value value;
} tn_output;

#define TN_GRAPH_RECENT 64

typedef struct tn_graph {
  tn_heap *heap;
  tn_arena arena;           /* nodes' operands and attributes */
  tn_names *names;          /* borrowed from the session */
  tn_vec(tn_node) nodes;
  tn_vec(tn_region) regions;
  tn_vec(tn_value) inputs;  /* `input` nodes, in order of creation */
  tn_vec(tn_value) params;  /* `param` nodes */
  tn_vec(tn_output) outputs;
  tn_vec(tn_tensor) literals;  /* shares of the buffers that `const` nodes use */
  const tn_attrs *recent[TN_GRAPH_RECENT]; /* of nodes, which new ones may share; NULL: none */
  size_t limit;             /* of nodes: TN_NODE_LIMIT, unless the creator sets another */
  bool failed;              /* memory ran out somewhere */
} tn_graph;

bool tn_graph_init(tn_graph *graph, tn_heap *heap, tn_names *names);
void tn_graph_free(tn_graph *graph);

static inline const tn_node *tn_graph_node(const tn_graph *graph, tn_value value) {
  return &graph->nodes.at[value];
}
static inline const tn_type *tn_graph_type(const tn_graph *graph, tn_value value) {
  return &graph->nodes.at[value].type;
}

/* Adds a node whose type is known to be right (the builder has inferred it).
 * Copies operands and attributes, a fused program among them; a literal's buffer gains a
 * reference; an `if` becomes the owner of its regions. 0 when memory runs out (`failed` is
 * then set) or the graph is full. */
tn_value tn_graph_add(tn_graph *graph, uint32_t region, tn_op op, const tn_value *in, int count,
                      const tn_attrs *attrs, const tn_type *type, tn_span at);
/* 0 when memory runs out or regions would nest too deep. */
uint32_t tn_graph_add_region(tn_graph *graph, uint32_t parent);
/* Appends to a region's results. */
bool tn_graph_yield(tn_graph *graph, uint32_t region, const tn_value *results, int count);
bool tn_graph_output(tn_graph *graph, tn_name name, tn_value value);

/* A mark to go back to: it removes what was added since. Regions that were open then must be open
 * now. */
typedef struct {
  size_t nodes, regions, inputs, params, outputs, literals;
} tn_graph_mark;
tn_graph_mark tn_graph_mark_of(const tn_graph *graph);
void tn_graph_rewind(tn_graph *graph, tn_graph_mark mark);

/* A copy in which every node keeps its number. *to is not initialised before; on failure
 * (out of memory) false, and *to is then empty. */
bool tn_graph_copy(const tn_graph *from, tn_graph *to);
/* The same program with symbols replaced by lengths, all types inferred again; nodes keep their
 * numbers. Symbols without a binding stay. *to is not initialised before. On failure false with the
 * fault filled in; *to is then empty. */
typedef struct {
  tn_name symbol;
  int64_t length;
} tn_binding;
bool tn_graph_bind(const tn_graph *from, const tn_binding *bindings, size_t count, tn_graph *to,
                   tn_fault *fault);

/* Moves operations that call the host or may fail, and those that depend on them, into the only
 * branch that needs them (sink.c), so that they run only when that branch runs. False when memory
 * runs out; the graph is then unchanged. */
bool tn_graph_sink(tn_graph *graph);

/* Checks everything this header promises and infers every type again. NULL when all is well,
 * else what is wrong (static text) with *where the node. */
const char *tn_graph_verify(const tn_graph *graph, tn_value *where);

/* Text form (print.c, parse.c), which reads back to an equal graph:
 *
 *   graph(%x: f32[B, 3], param %w: f32[3, 4]) {
 *     %1 = matmul %x, %w : f32[B, 4]
 *     %2 = sum %1 {axes=[0, 1]} : f32[]
 *     %3 = gt %2, %2 : bool[]
 *     %5 = if %3 {
 *       yield %2
 *     } else {
 *       %4 = neg %2 : f32[]
 *       yield %4
 *     }
 *     %6 = pick %5 {index=0} : f32[]
 *     return loss=%6
 *   }
 *
 * Inputs and parameters that come first are in the head; later ones are written as operations. A
 * name that is not a plain word follows its value: %1 "a b": f32[]. The nodes of a branch are
 * printed inside its `if`; if passes have mixed them with nodes around it, they are read back in
 * the order of the text. */
void tn_graph_print(const tn_graph *graph, tn_text *out);
/* Reads the text of a registered file. *out is not initialised before. Reports E_GRAPH_SYNTAX or
 * type diagnostics and returns false; *out is then empty. A `: type` after an operation may be
 * left out; where it is given it is checked. Values may have any labels, composed operations
 * are expanded, and // starts a comment. */
bool tn_graph_parse(tn_graph *out, tn_heap *heap, tn_names *names, uint32_t file, struct tn_diags *diags);
#endif
