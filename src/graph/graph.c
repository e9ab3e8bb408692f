/* graph/graph.c: nodes, regions and outputs.
 *
 * Nodes are an array that only grows, so a value is an index, and operands have smaller indices.
 * What a node points to (operands, attributes, literals, fused programs) is in the graph's arena
 * and never moves. The array of nodes may move: a pointer to a node or to its type is valid until
 * the next node is added. */
#include <assert.h>
#include <string.h>

#include "base/vec.h"
#include "graph/builder.h"
#include "graph/fused.h"

/* Most nodes have no attributes; they share these. */
static const tn_attrs no_attrs;

bool tn_graph_init(tn_graph *graph, tn_heap *heap, tn_names *names) {
  *graph = (tn_graph){ .heap = heap, .names = names, .limit = TN_NODE_LIMIT };
  tn_arena_init(&graph->arena, heap);
  tn_node error = { .op = TN_OP_ERROR, .attrs = &no_attrs };
  if (tn_vec_push(heap, &graph->nodes, error) && tn_vec_push(heap, &graph->regions, (tn_region){ 0 })) {
    return true;
  }
  tn_graph_free(graph);
  graph->failed = true;
  return false;
}

void tn_graph_free(tn_graph *graph) {
  tn_heap *heap = graph->heap;
  for (size_t i = 0; i < graph->literals.count; i++) tn_tensor_unref(&graph->literals.at[i]);
  for (size_t i = 0; i < graph->regions.count; i++) {
    tn_vec_free(heap, &graph->regions.at[i].nodes);
    tn_vec_free(heap, &graph->regions.at[i].results);
  }
  tn_vec_free(heap, &graph->nodes);
  tn_vec_free(heap, &graph->regions);
  tn_vec_free(heap, &graph->inputs);
  tn_vec_free(heap, &graph->params);
  tn_vec_free(heap, &graph->outputs);
  tn_vec_free(heap, &graph->literals);
  tn_arena_free(&graph->arena);
  *graph = (tn_graph){ .heap = heap, .names = graph->names };
}

/* The tensor lives in the arena, because attributes point to it and `literals` may move;
 * `literals` holds the share of its buffer. */
static const tn_tensor *keep_literal(tn_graph *graph, const tn_tensor *literal) {
  tn_tensor *copy = tn_arena_copy(&graph->arena, literal, sizeof *literal);
  if (!copy || !tn_vec_reserve(graph->heap, &graph->literals, 1)) return NULL;
  graph->literals.at[graph->literals.count++] = tn_tensor_ref(literal);
  return copy;
}

/* The slot for attributes that nodes can share. The steps of a loop repeat the same attributes;
 * sharing makes them free. NULL: they point to something that belongs to one node. */
static const tn_attrs **recent_of(tn_graph *graph, const tn_attrs *attrs) {
  if (attrs->literal || attrs->program || attrs->region[0] || attrs->region[1]) return NULL;
  uint64_t key = (uint64_t)attrs->dtype + 3 * (uint64_t)attrs->axis + 5 * (uint64_t)attrs->axis_count;
  key += 7 * (uint64_t)attrs->axes[0] + 11 * (uint64_t)attrs->shape.rank + 13 * attrs->index;
  for (int i = 0; i < 2; i++)
    key += 17 * (uint64_t)attrs->shape.dim[i] + 19 * (uint64_t)attrs->low[i] + 23 * (uint64_t)attrs->high[i];
  return &graph->recent[(key ^ key >> 8) % TN_GRAPH_RECENT];
}

/* Attributes bytewise; padding may make equal ones look different, which costs memory only. */
static const tn_attrs *keep_attrs(tn_graph *graph, const tn_attrs *attrs) {
  if (!attrs || memcmp(attrs, &no_attrs, sizeof no_attrs) == 0) return &no_attrs;
  const tn_attrs **recent = recent_of(graph, attrs);
  if (recent && *recent && memcmp(*recent, attrs, sizeof *attrs) == 0) return *recent;
  tn_attrs *copy = tn_arena_copy(&graph->arena, attrs, sizeof *attrs);
  if (!copy) return NULL;
  if (recent) *recent = copy;
  if (attrs->literal) {
    copy->literal = keep_literal(graph, attrs->literal);
    if (!copy->literal) return NULL;
  }
  if (attrs->program) {
    copy->program = tn_arena_copy(&graph->arena, attrs->program, tn_fused_bytes(attrs->program->step_count));
    if (!copy->program) return NULL;
  }
  return copy;
}

/* Room in every list that a node of this op goes into, so that adding it cannot half fail. */
static bool reserve(tn_graph *graph, uint32_t region, tn_op op) {
  tn_heap *heap = graph->heap;
  return tn_vec_reserve(heap, &graph->nodes, 1) &&
         tn_vec_reserve(heap, &graph->regions.at[region].nodes, 1) &&
         (op != TN_OP_INPUT || tn_vec_reserve(heap, &graph->inputs, 1)) &&
         (op != TN_OP_PARAM || tn_vec_reserve(heap, &graph->params, 1));
}

static void enlist(tn_graph *graph, const tn_node *node) {
  tn_value value = (tn_value)graph->nodes.count;
  tn_region *region = &graph->regions.at[node->region];
  graph->nodes.at[graph->nodes.count++] = *node;
  region->nodes.at[region->nodes.count++] = value;
  if (node->op == TN_OP_INPUT) graph->inputs.at[graph->inputs.count++] = value;
  if (node->op == TN_OP_PARAM) graph->params.at[graph->params.count++] = value;
  if (node->op != TN_OP_IF) return;
  for (int i = 0; i < 2; i++) graph->regions.at[node->attrs->region[i]].owner = value;
}

tn_value tn_graph_add(tn_graph *graph, uint32_t region, tn_op op, const tn_value *in, int count,
                      const tn_attrs *attrs, const tn_type *type, tn_span at) {
  assert(region < graph->regions.count && op != TN_OP_ERROR && count >= 0);
  if (graph->nodes.count >= graph->limit) return TN_ERROR_VALUE;
  tn_node node = { .op = op, .region = region, .count = count, .type = *type, .at = at };
  node.attrs = keep_attrs(graph, attrs);
  if (count > 0) node.in = tn_arena_copy(&graph->arena, in, (size_t)count * sizeof *in);
  if (!node.attrs || (count > 0 && !node.in) || !reserve(graph, region, op)) {
    graph->failed = true;
    return TN_ERROR_VALUE;
  }
  enlist(graph, &node);
  return (tn_value)(graph->nodes.count - 1);
}

uint32_t tn_graph_add_region(tn_graph *graph, uint32_t parent) {
  assert(parent < graph->regions.count);
  tn_region region = { .parent = parent, .depth = graph->regions.at[parent].depth + 1 };
  if (region.depth > TN_REGION_DEPTH_LIMIT) return 0;
  if (!tn_vec_push(graph->heap, &graph->regions, region)) {
    graph->failed = true;
    return 0;
  }
  return (uint32_t)(graph->regions.count - 1);
}

bool tn_graph_yield(tn_graph *graph, uint32_t region, const tn_value *results, int count) {
  for (int i = 0; i < count; i++) {
    if (!tn_vec_push(graph->heap, &graph->regions.at[region].results, results[i])) {
      graph->failed = true;
      return false;
    }
  }
  return true;
}

bool tn_graph_output(tn_graph *graph, tn_name name, tn_value value) {
  tn_output output = { name, value };
  if (tn_vec_push(graph->heap, &graph->outputs, output)) return true;
  graph->failed = true;
  return false;
}

tn_graph_mark tn_graph_mark_of(const tn_graph *graph) {
  return (tn_graph_mark){ graph->nodes.count,  graph->regions.count, graph->inputs.count,
                          graph->params.count, graph->outputs.count, graph->literals.count };
}

/* The newest node is the last in the list of its region. */
static void forget_node(tn_graph *graph) {
  const tn_node *node = &tn_vec_pop(&graph->nodes);
  graph->regions.at[node->region].nodes.count--;
  if (node->op != TN_OP_IF) return;
  for (int i = 0; i < 2; i++) graph->regions.at[node->attrs->region[i]].owner = TN_ERROR_VALUE;
}

/* The holder of a mark may free the memory of the nodes, so none of it is shared with new ones. */
void tn_graph_rewind(tn_graph *graph, tn_graph_mark mark) {
  memset(graph->recent, 0, sizeof graph->recent);
  while (graph->nodes.count > mark.nodes) forget_node(graph);
  while (graph->regions.count > mark.regions) {
    tn_region *region = &tn_vec_pop(&graph->regions);
    tn_vec_free(graph->heap, &region->nodes);
    tn_vec_free(graph->heap, &region->results);
  }
  while (graph->literals.count > mark.literals) tn_tensor_unref(&tn_vec_pop(&graph->literals));
  graph->inputs.count = mark.inputs;
  graph->params.count = mark.params;
  graph->outputs.count = mark.outputs;
}

/* Regions and outputs of an empty graph become those of `from`; values keep their numbers. */
static bool copy_regions(const tn_graph *from, tn_graph *to) {
  for (size_t r = 1; r < from->regions.count; r++) {
    if (!tn_graph_add_region(to, from->regions.at[r].parent)) return false;
  }
  for (size_t r = 1; r < from->regions.count; r++) {
    const tn_region *region = &from->regions.at[r];
    if (!tn_graph_yield(to, (uint32_t)r, region->results.at, (int)region->results.count)) return false;
  }
  for (size_t i = 0; i < from->outputs.count; i++) {
    if (!tn_graph_output(to, from->outputs.at[i].name, from->outputs.at[i].value)) return false;
  }
  return true;
}

bool tn_graph_copy(const tn_graph *from, tn_graph *to) {
  if (!tn_graph_init(to, from->heap, from->names)) return false;
  bool ok = copy_regions(from, to);
  for (size_t v = 1; ok && v < from->nodes.count; v++) {
    const tn_node *n = &from->nodes.at[v];
    ok = tn_graph_add(to, n->region, n->op, n->in, n->count, n->attrs, &n->type, n->at) != TN_ERROR_VALUE;
  }
  if (!ok) {
    tn_graph_free(to);
    to->failed = true;
  }
  return ok;
}

/* ---- binding: the program once more, with lengths for symbols ---- */

typedef struct {
  const tn_graph *from;
  const tn_binding *bindings;
  size_t count;
  tn_graph_builder builder;
} binder;

static void substitute(const binder *b, tn_shape *shape) {
  for (int i = 0; i < shape->rank; i++) {
    if (!tn_dim_is_symbol(shape->dim[i])) continue;
    tn_name symbol = tn_dim_name(shape->dim[i]);
    for (size_t k = 0; k < b->count; k++) {
      if (b->bindings[k].symbol == symbol) {
        shape->dim[i] = b->bindings[k].length;
        break;
      }
    }
  }
}

/* The type of a pick follows from its `if`, which has been bound before it. */
static void pick_type(const tn_graph *graph, tn_value branch, tn_attrs *attrs) {
  const tn_region *region = &graph->regions.at[tn_graph_node(graph, branch)->attrs->region[0]];
  const tn_type *type = tn_graph_type(graph, region->results.at[attrs->index]);
  attrs->dtype = type->dtype;
  attrs->shape = type->shape;
}

/* A node of a valid graph needs no expansion and no widening, so it becomes exactly one
 * node, and operands need no translation. */
static bool bind_node(binder *b, tn_value value) {
  const tn_node *node = tn_graph_node(b->from, value);
  tn_builder *base = &b->builder.base;
  tn_attrs attrs = *node->attrs;
  b->builder.region = node->region;
  base->at = node->at;
  substitute(b, &attrs.shape);
  if (node->op == TN_OP_IF) {
    base->methods->join(base, node->in[0], attrs.region[0], attrs.region[1]);
  } else {
    if (node->op == TN_OP_PICK) pick_type(b->builder.graph, node->in[0], &attrs);
    tn_build(base, node->op, node->in, node->count, &attrs);
  }
  if (!tn_build_ok(base)) return false;
  assert(b->builder.graph->nodes.count == (size_t)value + 1);
  return true;
}

bool tn_graph_bind(const tn_graph *from, const tn_binding *bindings, size_t count, tn_graph *to,
                   tn_fault *fault) {
  *fault = (tn_fault){ .kind = TN_FAULT_MEMORY };
  if (!tn_graph_init(to, from->heap, from->names)) return false;
  binder b = { .from = from, .bindings = bindings, .count = count };
  tn_graph_builder_init(&b.builder, to);
  bool ok = copy_regions(from, to);
  for (size_t v = 1; ok && v < from->nodes.count; v++) ok = bind_node(&b, (tn_value)v);
  if (ok) {
    *fault = (tn_fault){ .kind = TN_FAULT_NONE };
    return true;
  }
  if (!tn_build_ok(&b.builder.base)) *fault = b.builder.base.fault;
  tn_graph_free(to);
  return false;
}
