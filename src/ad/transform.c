/* ad/transform.c: captures, activity and stand-ins. See transform.h. */
#include "ad/transform.h"

#include <assert.h>

bool tn_ad_no_memory(tn_ad_transform *transform) {
  tn_build_fault(&transform->builder->base, TN_OP_ERROR, (tn_fault){ .kind = TN_FAULT_MEMORY });
  return false;
}

static const tn_graph *graph_of(const tn_ad_transform *transform) { return transform->builder->graph; }

/* ---- captures ---- */

typedef struct {
  tn_ad_transform *transform;
  uint32_t *seen; /* by value: the last `if` that captured it */
  tn_vec(tn_value) found;
} capturer;

static bool capture(capturer *c, tn_value branch, uint32_t depth, tn_value value) {
  const tn_graph *graph = graph_of(c->transform);
  bool outside = graph->regions.at[tn_graph_node(graph, value)->region].depth < depth;
  if (!outside || c->seen[value] == branch) return true;
  c->seen[value] = branch;
  return tn_vec_push(graph->heap, &c->found, value);
}

/* A region sees values of the enclosing regions, one at each depth; so a value at a smaller depth
 * is outside of it. An `if` inside already has its captures. */
static bool capture_region(capturer *c, tn_value branch, uint32_t region) {
  const tn_graph *graph = graph_of(c->transform);
  const tn_region *r = &graph->regions.at[region];
  bool ok = true;
  for (size_t i = 0; ok && i < r->nodes.count; i++) {
    const tn_node *node = tn_graph_node(graph, r->nodes.at[i]);
    for (int k = 0; ok && k < node->count; k++) ok = capture(c, branch, r->depth, node->in[k]);
    if (node->op != TN_OP_IF) continue;
    tn_ad_captures inner = tn_ad_captures_of(c->transform, r->nodes.at[i]);
    for (size_t k = 0; ok && k < inner.count; k++) ok = capture(c, branch, r->depth, inner.at[k]);
  }
  for (size_t i = 0; ok && i < r->results.count; i++) ok = capture(c, branch, r->depth, r->results.at[i]);
  return ok;
}

static bool capture_branch(capturer *c, tn_value branch);

/* An `if` inside has a smaller number, perhaps one that has not been visited. */
static bool capture_inner(capturer *c, uint32_t region) {
  const tn_graph *graph = graph_of(c->transform);
  const tn_region *r = &graph->regions.at[region];
  bool ok = tn_arena_room(&c->transform->arena);
  for (size_t i = 0; ok && i < r->nodes.count; i++) {
    bool branches = tn_graph_node(graph, r->nodes.at[i])->op == TN_OP_IF;
    if (branches && !tn_map_get(&c->transform->captures, r->nodes.at[i]))
      ok = capture_branch(c, r->nodes.at[i]);
  }
  return ok;
}

static bool capture_branch(capturer *c, tn_value branch) {
  const tn_attrs *attrs = tn_graph_node(graph_of(c->transform), branch)->attrs;
  tn_arena *arena = &c->transform->arena;
  if (!capture_inner(c, attrs->region[0]) || !capture_inner(c, attrs->region[1])) return false;
  c->found.count = 0;
  if (!capture_region(c, branch, attrs->region[0]) || !capture_region(c, branch, attrs->region[1]))
    return false;
  tn_ad_captures *captures = tn_arena_new(arena, tn_ad_captures);
  if (!captures) return false;
  captures->count = c->found.count;
  if (captures->count > 0) {
    captures->at = tn_arena_copy(arena, c->found.at, captures->count * sizeof *captures->at);
    if (!captures->at) return false;
  }
  return tn_map_put(&c->transform->captures, branch, (uint64_t)(uintptr_t)captures);
}

static bool capture_all(tn_ad_transform *transform, tn_value first, tn_value last) {
  tn_heap *heap = graph_of(transform)->heap;
  capturer c = { .transform = transform };
  size_t bytes = ((size_t)last + 1) * sizeof *c.seen;
  bool ok = true;
  for (tn_value v = first; ok && v <= last; v++) {
    if (tn_graph_node(graph_of(transform), v)->op != TN_OP_IF) continue;
    if (tn_map_get(&transform->captures, v)) continue;
    if (!c.seen) c.seen = tn_heap_alloc(heap, bytes);
    ok = c.seen && capture_branch(&c, v);
  }
  tn_heap_free(heap, c.seen, bytes);
  tn_vec_free(heap, &c.found);
  return ok;
}

bool tn_ad_transform_init(tn_ad_transform *transform, tn_graph_builder *builder, tn_ad_policy policy,
                          bool forward, tn_value first, tn_value last) {
  *transform = (tn_ad_transform){ .builder = builder, .policy = policy, .forward = forward };
  tn_arena_init(&transform->arena, builder->graph->heap);
  tn_map_init(&transform->captures, builder->graph->heap);
  return capture_all(transform, first, last) || tn_ad_no_memory(transform);
}

void tn_ad_transform_free(tn_ad_transform *transform) {
  tn_arena_free(&transform->arena);
  tn_map_free(&transform->captures);
}

tn_ad_captures tn_ad_captures_of(const tn_ad_transform *transform, tn_value branch) {
  const uint64_t *found = tn_map_get(&transform->captures, branch);
  assert(found);
  return *(const tn_ad_captures *)(uintptr_t)*found;
}

/* ---- frames ---- */

void tn_ad_frame_init(tn_ad_frame *frame, tn_ad_transform *transform) {
  tn_heap *heap = graph_of(transform)->heap;
  *frame = (tn_ad_frame){ .transform = transform };
  tn_map_init(&frame->stand_ins, heap);
  tn_map_init(&frame->active, heap);
  tn_map_init(&frame->derivatives, heap);
}

void tn_ad_frame_free(tn_ad_frame *frame) {
  tn_map_free(&frame->stand_ins);
  tn_map_free(&frame->active);
  tn_map_free(&frame->derivatives);
}

/* By depth, the regions around the place where the builder is, and the innermost one itself. */
static uint32_t *regions_in_sight(tn_ad_transform *transform) {
  const tn_graph *graph = graph_of(transform);
  uint32_t region = transform->builder->region, depth = graph->regions.at[region].depth;
  uint32_t *sight = tn_arena_array(&transform->arena, (size_t)depth + 1, sizeof *sight);
  for (uint32_t d = depth + 1; sight && d-- > 0; region = graph->regions.at[region].parent) sight[d] = region;
  return sight;
}

bool tn_ad_frame_top(tn_ad_frame *frame, tn_value first, tn_value last) {
  tn_ad_transform *transform = frame->transform;
  const tn_graph *graph = graph_of(transform);
  uint32_t *sight = regions_in_sight(transform);
  uint32_t deepest = graph->regions.at[transform->builder->region].depth;
  frame->top = true;
  if (first > last) return true;
  size_t span = (size_t)(last - first) + 1;
  tn_value *nodes = tn_arena_array(&transform->arena, span, sizeof *nodes);
  uint8_t *active_at = tn_arena_array(&transform->arena, span, sizeof *active_at);
  frame->derivative_at = tn_arena_array(&transform->arena, span, sizeof *frame->derivative_at);
  if (!sight || !nodes || !active_at || !frame->derivative_at) return tn_ad_no_memory(transform);
  frame->active_at = active_at;
  frame->first = first;
  frame->last = last;
  for (tn_value v = first; v <= last; v++) {
    uint32_t region = tn_graph_node(graph, v)->region, depth = graph->regions.at[region].depth;
    if (depth <= deepest && sight[depth] == region) nodes[frame->count++] = v;
  }
  frame->nodes = nodes;
  return true;
}

bool tn_ad_frame_branch(tn_ad_frame *frame, const tn_ad_frame *outer, tn_value branch, int which,
                        const tn_value *stand_ins) {
  const tn_graph *graph = graph_of(frame->transform);
  const tn_region *region = &graph->regions.at[tn_graph_node(graph, branch)->attrs->region[which]];
  tn_ad_captures captures = tn_ad_captures_of(frame->transform, branch);
  frame->nodes = region->nodes.at;
  frame->count = region->nodes.count;
  for (size_t i = 0; i < captures.count; i++) {
    tn_value value = captures.at[i];
    if (!tn_map_put(&frame->stand_ins, value, stand_ins[i])) return tn_ad_no_memory(frame->transform);
    if (tn_ad_is_active(outer, value) && !tn_ad_add_leaf(frame, value)) return false;
  }
  return true;
}

/* ---- activity ---- */

static bool is_dense(const tn_ad_frame *frame, uint64_t key) {
  return frame->active_at && key >= frame->first && key <= frame->last;
}

static uint64_t activity(const tn_ad_frame *frame, tn_value value) {
  if (is_dense(frame, value)) return frame->active_at[value - frame->first];
  const uint64_t *found = tn_map_get(&frame->active, value);
  return found ? *found : 0;
}

static bool set_activity(tn_ad_frame *frame, tn_value value, uint8_t level) {
  if (!is_dense(frame, value)) {
    return tn_map_put(&frame->active, value, level) || tn_ad_no_memory(frame->transform);
  }
  frame->active_at[value - frame->first] = level;
  return true;
}

bool tn_ad_add_leaf(tn_ad_frame *frame, tn_value value) { return set_activity(frame, value, 2); }
bool tn_ad_is_active(const tn_ad_frame *frame, tn_value value) { return activity(frame, value) != 0; }
bool tn_ad_is_leaf(const tn_ad_frame *frame, tn_value value) { return activity(frame, value) == 2; }

/* Whether a derivative can flow through the operation at all. If not, a strict transform continues
 * until it knows that the operation is on the path to a result, and then reports it. */
static bool conducts(const tn_ad_transform *transform, const tn_node *node) {
  tn_derivative derivative = transform->forward ? tn_ad_has_jvp(node->op) : tn_ad_has_vjp(node->op);
  if (derivative == TN_DERIVATIVE_ZERO) return false;
  if (node->op == TN_OP_IF || transform->policy == TN_AD_STRICT) return true;
  return derivative != TN_DERIVATIVE_NONE && tn_ad_differentiable(node->type.dtype);
}

static bool depends_on_leaves(const tn_ad_frame *frame, tn_value value) {
  const tn_node *node = tn_graph_node(graph_of(frame->transform), value);
  if (!conducts(frame->transform, node)) return false;
  for (int i = 0; i < node->count; i++) {
    if (tn_ad_carries(node->op, i) && tn_ad_is_active(frame, node->in[i])) return true;
  }
  if (node->op != TN_OP_IF) return false;
  tn_ad_captures captures = tn_ad_captures_of(frame->transform, value);
  for (size_t i = 0; i < captures.count; i++) {
    if (tn_ad_is_active(frame, captures.at[i])) return true;
  }
  return false;
}

bool tn_ad_mark_active(tn_ad_frame *frame) {
  for (size_t i = 0; i < frame->count; i++) {
    tn_value value = frame->nodes[i];
    if (tn_ad_is_leaf(frame, value) || !depends_on_leaves(frame, value)) continue;
    if (!set_activity(frame, value, 1)) return false;
  }
  return true;
}

/* ---- stand-ins ---- */

static bool stands(const tn_ad_frame *frame, tn_value value) {
  return tn_map_get(&frame->stand_ins, value) != NULL;
}

static bool set_stand_in(tn_ad_frame *frame, tn_value value, tn_value stand_in) {
  if (stand_in == TN_ERROR_VALUE) return false;
  return tn_map_put(&frame->stand_ins, value, stand_in) || tn_ad_no_memory(frame->transform);
}

tn_value *tn_ad_values(tn_ad_transform *transform, tn_value *few, size_t count) {
  if (count <= TN_AD_FEW) return few;
  tn_value *values = tn_arena_array(&transform->arena, count, sizeof *values);
  if (!values) tn_ad_no_memory(transform);
  return values;
}

static void look_up(const tn_ad_frame *frame, const tn_value *values, size_t count, tn_value *out) {
  for (size_t i = 0; i < count; i++) out[i] = (tn_value)*tn_map_get(&frame->stand_ins, values[i]);
}

/* The same operation on the stand-ins of its operands, which are there. */
static bool copy_node(tn_ad_frame *frame, tn_value value) {
  tn_builder *builder = &frame->transform->builder->base;
  tn_node node = *tn_graph_node(graph_of(frame->transform), value);
  tn_value few[TN_AD_FEW], *in = tn_ad_values(frame->transform, few, (size_t)node.count);
  if (!in) return false;
  look_up(frame, node.in, (size_t)node.count, in);
  builder->at = node.at;
  return set_stand_in(frame, value,
                      builder->methods->add(builder, node.op, in, node.count, node.attrs, &node.type));
}

static bool copy_if(tn_ad_frame *frame, tn_value branch);

/* The whole region, in order. Stand-ins of what is inside stay known to the frame, where
 * nobody asks for them: what is inside is used inside only. */
static uint32_t copy_region(tn_ad_frame *frame, uint32_t region) {
  tn_ad_transform *transform = frame->transform;
  tn_builder *builder = &transform->builder->base;
  const tn_region *from = &graph_of(transform)->regions.at[region];
  const tn_value *nodes = from->nodes.at, *values = from->results.at;
  size_t node_count = from->nodes.count, count = from->results.count;
  tn_value few[TN_AD_FEW], *results = tn_ad_values(transform, few, count);
  if (!tn_arena_room(&transform->arena)) tn_ad_no_memory(transform);
  bool ok = results && !transform->arena.failed && builder->methods->region_begin(builder);
  if (!ok) return 0;
  for (size_t i = 0; ok && i < node_count; i++) {
    bool branches = tn_graph_node(graph_of(transform), nodes[i])->op == TN_OP_IF;
    ok = branches ? copy_if(frame, nodes[i]) : copy_node(frame, nodes[i]);
  }
  if (ok) look_up(frame, values, count, results);
  uint32_t copy = builder->methods->region_end(builder, results, ok ? (int)count : 0);
  return ok ? copy : 0;
}

static bool copy_if(tn_ad_frame *frame, tn_value branch) {
  tn_builder *builder = &frame->transform->builder->base;
  tn_node node = *tn_graph_node(graph_of(frame->transform), branch);
  uint32_t then_region = copy_region(frame, node.attrs->region[0]);
  uint32_t else_region = then_region == 0 ? 0 : copy_region(frame, node.attrs->region[1]);
  if (else_region == 0) return false;
  tn_value condition;
  look_up(frame, node.in, 1, &condition);
  builder->at = node.at;
  return set_stand_in(frame, branch, builder->methods->join(builder, condition, then_region, else_region));
}

typedef tn_vec(tn_value) value_stack;

/* Pushes what `value` needs and has no stand-in yet; *ready when there is nothing. */
static bool push_missing(const tn_ad_frame *frame, tn_value value, value_stack *stack, bool *ready) {
  const tn_graph *graph = graph_of(frame->transform);
  const tn_node *node = tn_graph_node(graph, value);
  size_t before = stack->count;
  for (int i = 0; i < node->count; i++) {
    if (!stands(frame, node->in[i]) && !tn_vec_push(graph->heap, stack, node->in[i])) return false;
  }
  if (node->op == TN_OP_IF) {
    tn_ad_captures captures = tn_ad_captures_of(frame->transform, value);
    for (size_t i = 0; i < captures.count; i++) {
      if (!stands(frame, captures.at[i]) && !tn_vec_push(graph->heap, stack, captures.at[i])) return false;
    }
  }
  *ready = stack->count == before;
  return true;
}

/* With an explicit stack: a branch may hold a chain of any length. */
static bool copy_with_operands(tn_ad_frame *frame, tn_value value, value_stack *stack) {
  tn_heap *heap = graph_of(frame->transform)->heap;
  if (!tn_vec_push(heap, stack, value)) return tn_ad_no_memory(frame->transform);
  while (stack->count > 0) {
    tn_value last = tn_vec_last(stack);
    bool ready = true;
    if (!stands(frame, last)) {
      if (!push_missing(frame, last, stack, &ready)) return tn_ad_no_memory(frame->transform);
      if (!ready) continue;
      bool branches = tn_graph_node(graph_of(frame->transform), last)->op == TN_OP_IF;
      if (!(branches ? copy_if(frame, last) : copy_node(frame, last))) return false;
    }
    stack->count--;
  }
  return true;
}

tn_value tn_ad_stand_in(tn_ad_frame *frame, tn_value value) {
  tn_heap *heap = graph_of(frame->transform)->heap;
  tn_builder *builder = &frame->transform->builder->base;
  if (frame->top) return value;
  const uint64_t *found = tn_map_get(&frame->stand_ins, value);
  if (found) return (tn_value)*found;
  tn_span at = builder->at;
  value_stack stack = { 0 };
  bool ok = copy_with_operands(frame, value, &stack);
  tn_vec_free(heap, &stack);
  builder->at = at;
  return ok ? (tn_value)*tn_map_get(&frame->stand_ins, value) : TN_ERROR_VALUE;
}

tn_value *tn_ad_capture_stand_ins(tn_ad_frame *frame, tn_value branch) {
  tn_ad_captures captures = tn_ad_captures_of(frame->transform, branch);
  tn_value *out = tn_arena_array(&frame->transform->arena, captures.count + 1, sizeof *out);
  if (!out) tn_ad_no_memory(frame->transform);
  for (size_t i = 0; out && i < captures.count; i++) {
    out[i] = tn_ad_stand_in(frame, captures.at[i]);
    if (out[i] == TN_ERROR_VALUE) return NULL;
  }
  return out;
}

/* ---- derivatives ---- */

tn_value tn_ad_derivative(const tn_ad_frame *frame, uint64_t key) {
  if (is_dense(frame, key)) {
    tn_value derivative = frame->derivative_at[key - frame->first];
    return derivative == TN_ERROR_VALUE ? TN_NO_VALUE : derivative;
  }
  const uint64_t *found = tn_map_get(&frame->derivatives, key);
  return found ? (tn_value)*found : TN_NO_VALUE;
}

bool tn_ad_set_derivative(tn_ad_frame *frame, uint64_t key, tn_value derivative) {
  if (derivative == TN_ERROR_VALUE) return false;
  if (!is_dense(frame, key)) {
    return tn_map_put(&frame->derivatives, key, derivative) || tn_ad_no_memory(frame->transform);
  }
  frame->derivative_at[key - frame->first] = derivative;
  return true;
}

bool tn_ad_no_derivative(tn_ad_transform *transform, tn_value value) {
  const tn_node *node = tn_graph_node(graph_of(transform), value);
  transform->builder->base.at = node->at;
  tn_build_fault(&transform->builder->base, node->op, (tn_fault){ .kind = TN_FAULT_NO_GRADIENT });
  return false;
}

/* ---- what both directions do alike ---- */

bool tn_ad_stand_in_all(tn_ad_frame *frame, tn_value value, const tn_node *node, tn_value *in,
                        tn_value *out) {
  for (int i = 0; i < node->count; i++) {
    in[i] = tn_ad_stand_in(frame, node->in[i]);
    if (in[i] == TN_ERROR_VALUE) return false;
  }
  *out = tn_ad_stand_in(frame, value);
  return *out != TN_ERROR_VALUE;
}

tn_value tn_ad_join(tn_ad_frame *outer, tn_value branch, tn_ad_branch build, const void *request) {
  const tn_graph *graph = outer->transform->builder->graph;
  tn_builder *builder = &outer->transform->builder->base;
  tn_value condition = tn_ad_stand_in(outer, tn_graph_node(graph, branch)->in[0]);
  uint32_t then_region = condition == TN_ERROR_VALUE ? 0 : build(request, 0);
  uint32_t else_region = then_region == 0 ? 0 : build(request, 1);
  if (else_region == 0) return TN_ERROR_VALUE;
  builder->at = tn_graph_node(graph, branch)->at;
  return builder->methods->join(builder, condition, then_region, else_region);
}

tn_value tn_ad_pick(tn_builder *builder, tn_value joined, size_t index, tn_value like) {
  const tn_type *type = tn_build_type(builder, like);
  tn_attrs attrs = { .index = index, .dtype = type->dtype, .shape = type->shape };
  return tn_build(builder, TN_OP_PICK, &joined, 1, &attrs);
}

tn_ad_saved tn_ad_save(const tn_graph_builder *builder) {
  return (tn_ad_saved){ builder->base.at, tn_graph_mark_of(builder->graph), builder->region };
}

bool tn_ad_restore(const tn_ad_saved *saved, tn_graph_builder *builder, bool ok) {
  builder->base.at = saved->at;
  if (ok) return true;
  tn_graph_rewind(builder->graph, saved->mark);
  builder->region = saved->region;
  return false;
}
