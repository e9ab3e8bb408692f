/* graph/builder.h: the one interface that creates operations.
 *
 * A front end, a gradient rule and the expansion of a composed operation all
 * call a builder. The graph builder appends to a graph; the eager builder
 * (eager/) computes at once and remembers. Both infer types by the same rules.
 *
 * Failure: the first fault is kept in builder->fault, and the failing call and
 * everything that uses its result give TN_ERROR_VALUE. Callers check once.
 *
 * Some functions return an operand when there is nothing to do (a cast to the
 * dtype it has), so a result is not always a new value. */
#ifndef TN_GRAPH_BUILDER_H
#define TN_GRAPH_BUILDER_H

#include "graph/graph.h"

typedef struct tn_builder tn_builder;

#define TN_NO_VALUE ((tn_value)UINT32_MAX)   /* where an optional value is absent */

typedef struct {
  /* Attributes are normalised and composed operations expanded before this is called;
   * *type has been inferred. On failure it keeps a fault and gives TN_ERROR_VALUE. */
  tn_value (*add)(tn_builder *builder, tn_op op, const tn_value *in, int count,
                  const tn_attrs *attrs, const tn_type *type);
  /* Valid until the next operation is made. */
  const tn_type *(*type)(const tn_builder *builder, tn_value value);
  /* Branches: begin a region, end it with its results, then join two regions into an `if`
   * (which checks that their results agree). Each keeps a fault when it fails: region_end and
   * join then give 0. The eager builder has none of the three. */
  bool (*region_begin)(tn_builder *builder);
  uint32_t (*region_end)(tn_builder *builder, const tn_value *results, int count);
  tn_value (*join)(tn_builder *builder, tn_value condition, uint32_t then_region, uint32_t else_region);
  /* Optional: a faster path to the same result for the commonest operations, tried first; 0 if it
   * does not apply. Operands are never TN_ERROR_VALUE. */
  tn_value (*quick)(tn_builder *builder, tn_op op, const tn_value *in, int count);
} tn_builder_methods;

struct tn_builder {
  const tn_builder_methods *methods;
  tn_heap *heap;
  tn_names *names;
  tn_span at;          /* the source location of what is being built */
  tn_op composed;      /* the outermost composed operation being expanded; faults name it */
  tn_fault fault;      /* the first; kind TN_FAULT_NONE if there is none */
};

/* Makes one operation. `attrs` may be NULL. Composed operations are expanded; operands of
 * storage dtypes are widened to f32 for arithmetic and the result rounded back (once for a
 * composed operation, not at each of its parts). */
tn_value tn_build(tn_builder *builder, tn_op op, const tn_value *in, int count, const tn_attrs *attrs);
/* Valid until the next operation is made. */
const tn_type *tn_build_type(const tn_builder *builder, tn_value value);
/* Keeps the fault if it is the first, sets its op and place, and gives TN_ERROR_VALUE. */
tn_value tn_build_fault(tn_builder *builder, tn_op op, tn_fault fault);
static inline bool tn_build_ok(const tn_builder *builder) { return builder->fault.kind == TN_FAULT_NONE; }
/* Clears the fault after it was reported, to continue building. */
void tn_build_forget(tn_builder *builder);

/* Builds the parts of an operation that has TN_PARTS in ops.def, on operands that it accepts, with
 * normalised attrs. Returns their result. */
tn_value tn_build_parts(tn_builder *builder, tn_op op, const tn_value *in, int count, const tn_attrs *attrs);
/* The same for a node of a graph, as a separate graph whose inputs are the operands and whose
 * output is the result. False when memory runs out; there is nothing to free then. */
bool tn_graph_parts(const tn_graph *graph, tn_value value, tn_graph *out);

/* The gradients of layer_norm from its parts; `in` are x, gamma and the gradient of the result. Those
 * of gamma and beta have the shape of x: the caller sums them. That of x has two addends: through x
 * itself, and through the mean of each row, [..., 1]. False with a fault kept. */
typedef struct {
  tn_value x, gamma, beta, mean;
} tn_layer_norm_grads;
bool tn_build_layer_norm_grads(tn_builder *builder, const tn_value in[3], const tn_attrs *attrs,
                               tn_layer_norm_grads *out);

/* bool [queries, keys]: key s is open to query t when s <= t + keys - queries. Lengths are known. */
tn_value tn_build_open_keys(tn_builder *builder, int64_t queries, int64_t keys);
/* Causal attention from its parts, where bool [T, S] says which keys are open. */
tn_value tn_build_attention_open(tn_builder *builder, const tn_value in[3], const tn_attrs *attrs,
                                 tn_value open);
/* The gradients of attention with respect to q, k and v from its parts; `in` are q, k, v and the
 * gradient of the result. False with a fault kept. */
bool tn_build_attention_grads(tn_builder *builder, const tn_value in[4], const tn_attrs *attrs,
                              tn_value out[3]);

/* Shorthands for common operations. */
tn_value tn_build_unary(tn_builder *builder, tn_op op, tn_value x);
tn_value tn_build_binary(tn_builder *builder, tn_op op, tn_value x, tn_value y);
tn_value tn_build_select(tn_builder *builder, tn_value condition, tn_value x, tn_value y);
tn_value tn_build_input(tn_builder *builder, tn_name name, const tn_type *type);
tn_value tn_build_param(tn_builder *builder, tn_name name, const tn_type *type);
tn_value tn_build_const(tn_builder *builder, const tn_tensor *literal);
tn_value tn_build_fill(tn_builder *builder, const tn_type *type, double number);
tn_value tn_build_number(tn_builder *builder, tn_dtype dtype, double number);   /* 0-d */
tn_value tn_build_like(tn_builder *builder, tn_value like, double number);      /* its type, filled */
tn_value tn_build_cast(tn_builder *builder, tn_value x, tn_dtype dtype);        /* x itself if it has it */
tn_value tn_build_reshape(tn_builder *builder, tn_value x, const tn_shape *shape);
tn_value tn_build_broadcast_to(tn_builder *builder, tn_value x, const tn_shape *shape);
/* To the shape of another value, also where a length has no name. */
tn_value tn_build_broadcast_like(tn_builder *builder, tn_value x, tn_value like);
tn_value tn_build_transpose(tn_builder *builder, tn_value x, const int *axes);  /* NULL: reversed */
tn_value tn_build_swap_last(tn_builder *builder, tn_value x);                   /* the last two axes */
/* One axis; an end of INT64_MAX means to the end. */
tn_value tn_build_slice(tn_builder *builder, tn_value x, int axis, int64_t start, int64_t end, int64_t step);
/* A reduction over the axes; count < 0: over all; count 0: x itself. */
tn_value tn_build_reduce(tn_builder *builder, tn_op op, tn_value x, const int *axes, int count,
                         bool keepdims);
tn_value tn_build_matmul(tn_builder *builder, tn_value x, tn_value y);
/* NumPy's matmul: rank 1 operands become rows and columns, and the extra axes are dropped from the
 * result. */
tn_value tn_build_matmul_any_rank(tn_builder *builder, tn_value x, tn_value y);
/* Without the given axes, which have length 1. */
tn_value tn_build_drop_axes(tn_builder *builder, tn_value x, const int *axes, int count);
/* With a new axis of length 1 before `axis`. */
tn_value tn_build_new_axis(tn_builder *builder, tn_value x, int axis);
/* [..., n] as one matrix of all rows: [rows, n]. */
tn_value tn_build_rows(tn_builder *builder, tn_value x);
/* Sums x back to a shape that broadcasts to x's, in one sum: the gradient of broadcasting.
 * x itself if it has that shape. */
tn_value tn_build_sum_to(tn_builder *builder, tn_value x, const tn_shape *shape);

/* The graph builder. */
typedef struct {
  tn_builder base;
  tn_graph *graph;
  uint32_t region;     /* where nodes go now */
} tn_graph_builder;

void tn_graph_builder_init(tn_graph_builder *builder, tn_graph *graph);
#endif
