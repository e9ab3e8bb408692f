/* graph/builder.c: creates operations, for every builder.
 *
 * tn_build does what all builders share. In this order it propagates errors silently, widens
 * storage dtypes, normalises attributes, replaces composed operations by their parts, infers the
 * type, and then calls the builder's own `add`. So the graph builder and the eager builder see only
 * primitive operations with checked types.
 *
 * bf16 and f16 are storage: where an operation computes, its operands are cast
 * to f32, and a f32 result is cast back. This happens outside of the expansion
 * of a composed operation, so that layer_norm of bf16 rounds once. Operations
 * that only move elements take them as they are. */
#include <assert.h>

#include "graph/internal.h"

#define FEW_OPERANDS 8

const tn_type *tn_build_type(const tn_builder *builder, tn_value value) {
  return builder->methods->type(builder, value);
}

tn_value tn_build_fault(tn_builder *builder, tn_op op, tn_fault fault) {
  if (builder->fault.kind != TN_FAULT_NONE) return TN_ERROR_VALUE;
  assert(fault.kind != TN_FAULT_NONE);
  builder->fault = fault;
  builder->fault.op = builder->composed != TN_OP_ERROR ? builder->composed : op;
  builder->fault.at = builder->at;
  return TN_ERROR_VALUE;
}

void tn_build_forget(tn_builder *builder) { builder->fault = (tn_fault){ .kind = TN_FAULT_NONE }; }

/* ---- storage dtypes ---- */

static bool is_floating(tn_dtype dtype) {
  tn_dtype_class class = tn_dtype_class_of(dtype);
  return class == TN_CLASS_FLOAT || class == TN_CLASS_STORAGE;
}

/* Whether the operation computes with numbers. `select` only moves them, but its elementwise
 * kernels support arithmetic dtypes only. */
static bool computes(const tn_op_sig *sig) {
  if (sig->op == TN_OP_SELECT) return true;
  return tn_dtype_in(TN_F32, sig->dtypes) && !(sig->dtypes & TN_STORAGE);
}

/* The storage dtype of all floating operands, or TN_F32 if nothing needs widening. Mixed dtypes are
 * not widened; *other is then the first operand that differs from the first floating one, *first. */
static tn_dtype storage_of(const tn_op_sig *sig, const tn_type *types, int count, int *first, int *other) {
  *first = *other = -1;
  if (!computes(sig)) return TN_F32;
  for (int i = 0; i < count && *other < 0; i++) {
    if (!is_floating(types[i].dtype)) continue;
    if (*first < 0) *first = i;
    if (types[i].dtype != types[*first].dtype) *other = i;
  }
  bool storage = *first >= 0 && *other < 0 && tn_dtype_in(types[*first].dtype, TN_STORAGE);
  return storage ? types[*first].dtype : TN_F32;
}

/* A storage dtype mixed with another floating dtype: names both, where the rule of the operation
 * would name only the first. */
static tn_value fail_mixed(tn_builder *builder, tn_op op, const tn_type *types, int first, int other) {
  return tn_build_fault(
      builder, op,
      (tn_fault){ .kind = TN_FAULT_DTYPE, .operand = other, .left = types[first], .right = types[other] });
}

static bool mixes_storage(const tn_type *types, int first, int other) {
  return other >= 0 &&
         (tn_dtype_in(types[first].dtype, TN_STORAGE) || tn_dtype_in(types[other].dtype, TN_STORAGE));
}

/* A fault about f32 must name the dtype that the program wrote. */
static void name_storage(tn_builder *builder, tn_dtype storage) {
  tn_fault *fault = &builder->fault;
  if (fault->kind != TN_FAULT_DTYPE) return;
  if (fault->left.dtype == TN_F32) fault->left.dtype = storage;
  if (fault->right.dtype == TN_F32) fault->right.dtype = storage;
}

/* recursion: the operation in f32, its casts; none of these is widened. */
static tn_value build_widened(tn_builder *builder, tn_op op, const tn_value *in, int count,
                              const tn_attrs *attrs, tn_value *wide, tn_dtype storage) {
  for (int i = 0; i < count; i++) {
    bool narrow = tn_build_type(builder, in[i])->dtype == storage;
    wide[i] = narrow ? tn_build_cast(builder, in[i], TN_F32) : in[i];
  }
  tn_value result = tn_build(builder, op, wide, count, attrs);
  if (result == TN_ERROR_VALUE) name_storage(builder, storage);
  if (result == TN_ERROR_VALUE || tn_build_type(builder, result)->dtype != TN_F32) return result;
  return tn_build_cast(builder, result, storage);
}

/* ---- composed and primitive operations ---- */

static tn_value build_composed(const tn_expand_args *args) {
  tn_builder *builder = args->builder;
  bool outermost = builder->composed == TN_OP_ERROR;
  if (outermost) builder->composed = args->op;
  tn_value result = tn_expand(args);
  if (outermost) builder->composed = TN_OP_ERROR;
  return result;
}

static tn_value build_primitive(const tn_expand_args *args) {
  tn_builder *builder = args->builder;
  tn_fault fault; /* filled in by a rule that fails */
  tn_op_args rule = { args->op, args->types, args->count, args->attrs, &fault };
  tn_type type;
  if (!tn_op_infer(&rule, &type)) return tn_build_fault(builder, args->op, fault);
  return builder->methods->add(builder, args->op, args->in, args->count, args->attrs, &type);
}

/* `types` and `wide` have room for the operands. */
static tn_value build_with(tn_builder *builder, tn_op op, const tn_value *in, int count,
                           const tn_attrs *given, tn_type *types, tn_value *wide) {
  static const tn_attrs none;
  const tn_op_sig *sig = tn_op_sig_of(op);
  for (int i = 0; i < count; i++) types[i] = *tn_build_type(builder, in[i]);
  int first, other;
  tn_dtype storage = storage_of(sig, types, count, &first, &other);
  if (mixes_storage(types, first, other)) return fail_mixed(builder, op, types, first, other);
  if (storage != TN_F32) return build_widened(builder, op, in, count, given, wide, storage);
  if (!given && sig->attrs == 0 && sig->kind != TN_KIND_COMPOSED) /* nothing to normalise */
    return build_primitive(&(tn_expand_args){ builder, op, in, types, count, &none });
  tn_attrs attrs = given ? *given : none;
  tn_fault fault = { .kind = TN_FAULT_NONE };
  if (!tn_op_normalise(op, types, count, &attrs, &fault)) return tn_build_fault(builder, op, fault);
  tn_expand_args args = { builder, op, in, types, count, &attrs };
  return sig->kind == TN_KIND_COMPOSED ? build_composed(&args) : build_primitive(&args);
}

static tn_value build_many(tn_builder *builder, tn_op op, const tn_value *in, int count,
                           const tn_attrs *attrs) {
  size_t items = (size_t)count;
  tn_type *types = tn_heap_alloc(builder->heap, items * sizeof *types);
  tn_value *wide = tn_heap_alloc(builder->heap, items * sizeof *wide);
  tn_value result;
  if (types && wide) {
    result = build_with(builder, op, in, count, attrs, types, wide);
  } else {
    result = tn_build_fault(builder, op, (tn_fault){ .kind = TN_FAULT_MEMORY });
  }
  tn_heap_free(builder->heap, types, items * sizeof *types);
  tn_heap_free(builder->heap, wide, items * sizeof *wide);
  return result;
}

tn_value tn_build(tn_builder *builder, tn_op op, const tn_value *in, int count, const tn_attrs *attrs) {
  assert(op != TN_OP_ERROR && op != TN_OP_IF);
  for (int i = 0; i < count; i++) {
    if (in[i] == TN_ERROR_VALUE) return TN_ERROR_VALUE;
  }
  if (builder->methods->quick && !attrs) {
    tn_value value = builder->methods->quick(builder, op, in, count);
    if (value != TN_ERROR_VALUE) return value;
  }
  if (count > FEW_OPERANDS) return build_many(builder, op, in, count, attrs);
  tn_type types[FEW_OPERANDS];
  tn_value wide[FEW_OPERANDS];
  return build_with(builder, op, in, count, attrs, types, wide);
}

tn_value tn_build_parts(tn_builder *builder, tn_op op, const tn_value *in, int count, const tn_attrs *attrs) {
  tn_type types[FEW_OPERANDS];
  assert(count <= FEW_OPERANDS);
  for (int i = 0; i < count; i++) types[i] = *tn_build_type(builder, in[i]);
  return build_composed(&(tn_expand_args){ builder, op, in, types, count, attrs });
}

bool tn_graph_parts(const tn_graph *graph, tn_value value, tn_graph *out) {
  const tn_node *node = tn_graph_node(graph, value);
  tn_graph_builder builder;
  tn_value in[FEW_OPERANDS];
  if (!tn_graph_init(out, graph->heap, graph->names)) return false;
  tn_graph_builder_init(&builder, out);
  builder.base.at = node->at;
  for (int i = 0; i < node->count; i++)
    in[i] = tn_build_input(&builder.base, 0, tn_graph_type(graph, node->in[i]));
  tn_value result = tn_build_ok(&builder.base)
                        ? tn_build_parts(&builder.base, node->op, in, node->count, node->attrs)
                        : TN_ERROR_VALUE;
  if (result != TN_ERROR_VALUE && tn_graph_output(out, 0, result)) return true;
  tn_graph_free(out);
  return false;
}

/* ---- branches ---- */

static bool check_condition(tn_builder *builder, tn_value condition) {
  if (condition == TN_ERROR_VALUE) return false;
  tn_fault fault = { .left = *tn_build_type(builder, condition) };
  if (fault.left.dtype != TN_BOOL) {
    fault.kind = TN_FAULT_DTYPE;
    fault.right = fault.left;
    fault.reason = "bool";
  } else if (fault.left.shape.rank != 0) {
    fault.kind = TN_FAULT_RANK;
    fault.reason = "of no dimensions";
  } else {
    return true;
  }
  tn_build_fault(builder, TN_OP_IF, fault);
  return false;
}

/* ---- the graph builder ---- */

/* Why the graph returned 0. */
static tn_fault graph_fault(const tn_graph *graph) {
  if (graph->failed) return (tn_fault){ .kind = TN_FAULT_MEMORY };
  return (tn_fault){ .kind = TN_FAULT_TOO_LARGE, .expected = (int64_t)graph->limit, .reason = "the graph" };
}

/* Inputs and parameters are the program's interface and belong to no branch. */
static uint32_t region_for(const tn_graph_builder *self, tn_op op) {
  return op == TN_OP_INPUT || op == TN_OP_PARAM ? 0 : self->region;
}

static tn_value graph_add(tn_builder *builder, tn_op op, const tn_value *in, int count, const tn_attrs *attrs,
                          const tn_type *type) {
  tn_graph_builder *self = (tn_graph_builder *)builder;
  tn_value value = tn_graph_add(self->graph, region_for(self, op), op, in, count, attrs, type, builder->at);
  if (value == TN_ERROR_VALUE) return tn_build_fault(builder, op, graph_fault(self->graph));
  return value;
}

static const tn_type *graph_type(const tn_builder *builder, tn_value value) {
  return tn_graph_type(((const tn_graph_builder *)builder)->graph, value);
}

static bool graph_region_begin(tn_builder *builder) {
  tn_graph_builder *self = (tn_graph_builder *)builder;
  uint32_t region = tn_graph_add_region(self->graph, self->region);
  if (region == 0) {
    tn_fault fault = graph_fault(self->graph);
    if (fault.kind == TN_FAULT_TOO_LARGE) {
      fault.expected = TN_REGION_DEPTH_LIMIT;
      fault.reason = "the nesting of branches";
    }
    tn_build_fault(builder, TN_OP_IF, fault);
    return false;
  }
  self->region = region;
  return true;
}

static uint32_t graph_region_end(tn_builder *builder, const tn_value *results, int count) {
  tn_graph_builder *self = (tn_graph_builder *)builder;
  uint32_t region = self->region;
  self->region = self->graph->regions.at[region].parent;
  if (tn_graph_yield(self->graph, region, results, count)) return region;
  tn_build_fault(builder, TN_OP_IF, graph_fault(self->graph));
  return 0;
}

static int first_difference(const tn_shape *a, const tn_shape *b) {
  int i = 0;
  while (i < a->rank && i < b->rank && a->dim[i] == b->dim[i]) i++;
  return i;
}

/* Both regions must have the same number of results, of equal types. */
static bool results_agree(tn_builder *builder, const tn_region *a, const tn_region *b) {
  tn_fault fault = { .kind = TN_FAULT_INTERNAL, .reason = "branches with different numbers of results" };
  bool agree = a->results.count == b->results.count;
  for (size_t i = 0; agree && i < a->results.count; i++) {
    fault.left = *tn_build_type(builder, a->results.at[i]);
    fault.right = *tn_build_type(builder, b->results.at[i]);
    fault.operand = (int)i;
    fault.dimension = first_difference(&fault.left.shape, &fault.right.shape);
    fault.kind = fault.left.dtype != fault.right.dtype ? TN_FAULT_DTYPE : TN_FAULT_SHAPE;
    agree = tn_type_equal(&fault.left, &fault.right);
  }
  if (!agree) tn_build_fault(builder, TN_OP_IF, fault);
  return agree;
}

static tn_value graph_join(tn_builder *builder, tn_value condition, uint32_t then_region,
                           uint32_t else_region) {
  tn_graph_builder *self = (tn_graph_builder *)builder;
  const tn_region *a = &self->graph->regions.at[then_region], *b = &self->graph->regions.at[else_region];
  if (!check_condition(builder, condition) || !results_agree(builder, a, b)) return TN_ERROR_VALUE;
  tn_attrs attrs = { .region = { then_region, else_region } };
  tn_type type = { .dtype = TN_BOOL };
  if (a->results.count > 0) type = *tn_build_type(builder, a->results.at[0]);
  return graph_add(builder, TN_OP_IF, &condition, 1, &attrs, &type);
}

static const tn_builder_methods graph_methods = {
  .add = graph_add,
  .type = graph_type,
  .region_begin = graph_region_begin,
  .region_end = graph_region_end,
  .join = graph_join,
};

void tn_graph_builder_init(tn_graph_builder *builder, tn_graph *graph) {
  *builder = (tn_graph_builder){
    .base = { .methods = &graph_methods, .heap = graph->heap, .names = graph->names },
    .graph = graph,
  };
}
