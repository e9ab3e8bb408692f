/* ad/jvp.c: forward mode over a graph.
 *
 * First the nodes that the outputs need are marked, backwards; then the active
 * ones among them are visited in order, and each gets its tangent from those
 * of its operands. */
#include "ad/transform.h"

typedef struct {
  tn_ad_frame base; /* `derivatives` are tangents */
  tn_map needed;    /* values and result keys */
} jvp_frame;

static const tn_graph *graph_of(const jvp_frame *frame) { return frame->base.transform->builder->graph; }
static tn_builder *builder_of(const jvp_frame *frame) { return &frame->base.transform->builder->base; }

static void frame_init(jvp_frame *frame, tn_ad_transform *transform) {
  tn_ad_frame_init(&frame->base, transform);
  tn_map_init(&frame->needed, transform->builder->graph->heap);
}

static void frame_free(jvp_frame *frame) {
  tn_ad_frame_free(&frame->base);
  tn_map_free(&frame->needed);
}

/* ---- what is needed ---- */

static bool need(jvp_frame *frame, uint64_t key) {
  return tn_map_put(&frame->needed, key, 1) || tn_ad_no_memory(frame->base.transform);
}

static bool is_needed(const jvp_frame *frame, uint64_t key) {
  return tn_map_get(&frame->needed, key) != NULL;
}

static bool need_operands(jvp_frame *frame, tn_value value);

/* What the needed results of an `if` depend on: nodes of the region, and captures. Not all
 * captures: one that is only a condition may have no tangent. */
static bool need_region(jvp_frame *frame, tn_value branch, uint32_t index) {
  const tn_region *region = &graph_of(frame)->regions.at[index];
  if (!tn_arena_room(&frame->base.transform->arena)) return tn_ad_no_memory(frame->base.transform);
  for (size_t i = 0; i < region->results.count; i++) {
    bool needed = is_needed(frame, tn_ad_result_key(branch, i));
    if (needed && !need(frame, region->results.at[i])) return false;
  }
  for (size_t i = region->nodes.count; i-- > 0;) {
    tn_value value = region->nodes.at[i];
    if (is_needed(frame, value) && !need_operands(frame, value)) return false;
  }
  return true;
}

static bool need_operands(jvp_frame *frame, tn_value value) {
  const tn_node *node = tn_graph_node(graph_of(frame), value);
  for (int i = 0; i < node->count; i++) {
    if (tn_ad_carries(node->op, i) && !need(frame, node->in[i])) return false;
  }
  if (node->op == TN_OP_PICK) return need(frame, tn_ad_result_key(node->in[0], node->attrs->index));
  if (node->op != TN_OP_IF) return true;
  return need_region(frame, value, node->attrs->region[0]) &&
         need_region(frame, value, node->attrs->region[1]);
}

static bool visited(const jvp_frame *frame, tn_value value) {
  return is_needed(frame, value) && tn_ad_is_active(&frame->base, value) &&
         !tn_ad_is_leaf(&frame->base, value);
}

static bool mark_needed(jvp_frame *frame) {
  for (size_t i = frame->base.count; i-- > 0;) {
    tn_value value = frame->base.nodes[i];
    if (visited(frame, value) && !need_operands(frame, value)) return false;
  }
  return true;
}

/* ---- operations ---- */

static bool sweep(jvp_frame *frame);

/* The parts of an operation are built and visited in a separate frame, whose leaves are the
 * operands. `in` are the stand-ins of the operands. recursion: parts have no parts. */
static bool visit_parts(jvp_frame *outer, const tn_node *node, const tn_value *in, const tn_value *tangents,
                        tn_value *tangent) {
  tn_value first = (tn_value)graph_of(outer)->nodes.count;
  tn_value result = tn_build_parts(builder_of(outer), node->op, in, node->count, node->attrs);
  jvp_frame frame;
  frame_init(&frame, outer->base.transform);
  bool ok = result != TN_ERROR_VALUE && tn_ad_frame_top(&frame.base, first, result);
  for (int i = 0; i < node->count && ok; i++) {
    if (tangents[i] == TN_NO_VALUE) continue;
    ok = tn_ad_add_leaf(&frame.base, in[i]) && tn_ad_set_derivative(&frame.base, in[i], tangents[i]);
  }
  ok = ok && tn_ad_mark_active(&frame.base) && need(&frame, result) && mark_needed(&frame) && sweep(&frame);
  if (ok) *tangent = tn_ad_derivative(&frame.base, result);
  frame_free(&frame);
  return ok;
}

static bool apply_rule(jvp_frame *frame, tn_value value, const tn_node *node, tn_value *in,
                       tn_value *tangents) {
  tn_ad_node rule = {
    .builder = builder_of(frame), .op = node->op, .in = in, .count = node->count, .attrs = node->attrs
  };
  tn_value tangent;
  bool any = false;
  for (int i = 0; i < node->count; i++) {
    bool flows = tn_ad_carries(node->op, i) && tn_ad_is_active(&frame->base, node->in[i]);
    tangents[i] = flows ? tn_ad_derivative(&frame->base, node->in[i]) : TN_NO_VALUE;
    any = any || tangents[i] != TN_NO_VALUE;
  }
  if (!any) return true;
  if (!tn_ad_stand_in_all(&frame->base, value, node, in, &rule.out)) return false;
  bool parts = tn_ad_by_parts_forward(node->op);
  if (!(parts ? visit_parts(frame, node, in, tangents, &tangent) : tn_ad_jvp_node(&rule, tangents, &tangent)))
    return false;
  if (tangent == TN_NO_VALUE) return true;
  tangent = tn_build_broadcast_like(builder_of(frame), tangent, rule.out);
  return tn_ad_set_derivative(&frame->base, value, tangent);
}

static bool visit_operation(jvp_frame *frame, tn_value value, const tn_node *node) {
  tn_ad_transform *transform = frame->base.transform;
  size_t count = (size_t)node->count;
  tn_value few_in[TN_AD_FEW], few_tangents[TN_AD_FEW];
  tn_value *in = tn_ad_values(transform, few_in, count);
  tn_value *tangents = tn_ad_values(transform, few_tangents, count);
  if (!in || !tangents) return false;
  if (!tn_ad_differentiable(node->type.dtype)) return tn_ad_no_derivative(transform, value); /* strict */
  builder_of(frame)->at = node->at;
  return apply_rule(frame, value, node, in, tangents);
}

/* ---- branches ---- */

typedef struct {
  jvp_frame *outer;
  tn_value branch;           /* the original `if` */
  const tn_value *stand_ins; /* of its captures */
  uint64_t *wanted;          /* the results whose tangents the branches give */
  tn_value *tangents;
  size_t count;
} branch_request;

static const tn_region *region_of(const branch_request *request, int which) {
  const tn_graph *graph = graph_of(request->outer);
  return &graph->regions.at[tn_graph_node(graph, request->branch)->attrs->region[which]];
}

/* Tangents of captures come from outside; the wanted results are what is needed. */
static bool seed_branch(jvp_frame *frame, const branch_request *request, int which) {
  tn_ad_captures captures = tn_ad_captures_of(frame->base.transform, request->branch);
  const tn_value *results = region_of(request, which)->results.at;
  for (size_t i = 0; i < captures.count; i++) {
    tn_value tangent = tn_ad_derivative(&request->outer->base, captures.at[i]);
    if (tangent != TN_NO_VALUE && !tn_ad_set_derivative(&frame->base, captures.at[i], tangent)) return false;
  }
  for (size_t i = 0; i < request->count; i++) {
    if (!need(frame, results[request->wanted[i]])) return false;
  }
  return true;
}

static bool collect(jvp_frame *frame, const branch_request *request, int which) {
  tn_builder *builder = builder_of(frame);
  const tn_value *results = region_of(request, which)->results.at;
  for (size_t i = 0; i < request->count; i++) {
    tn_value result = results[request->wanted[i]], tangent = tn_ad_derivative(&frame->base, result);
    if (tangent == TN_NO_VALUE) tangent = tn_build_like(builder, tn_ad_stand_in(&frame->base, result), 0);
    request->tangents[i] = tangent;
  }
  return tn_build_ok(builder);
}

static uint32_t build_branch(const void *context, int which) {
  const branch_request *request = context;
  tn_ad_transform *transform = request->outer->base.transform;
  tn_builder *builder = builder_of(request->outer);
  jvp_frame frame;
  if (!tn_arena_room(&transform->arena)) tn_ad_no_memory(transform);
  if (transform->arena.failed || !builder->methods->region_begin(builder)) return 0;
  frame_init(&frame, request->outer->base.transform);
  bool ok =
      tn_ad_frame_branch(&frame.base, &request->outer->base, request->branch, which, request->stand_ins) &&
      tn_ad_mark_active(&frame.base) && seed_branch(&frame, request, which) && mark_needed(&frame) &&
      sweep(&frame) && collect(&frame, request, which);
  frame_free(&frame);
  uint32_t region = builder->methods->region_end(builder, request->tangents, ok ? (int)request->count : 0);
  return ok ? region : 0;
}

static bool join_branches(const branch_request *request) {
  tn_ad_frame *outer = &request->outer->base;
  tn_value joined = tn_ad_join(outer, request->branch, build_branch, request);
  for (size_t i = 0; joined != TN_ERROR_VALUE && i < request->count; i++) {
    tn_value tangent = tn_ad_pick(builder_of(request->outer), joined, i, request->tangents[i]);
    uint64_t key = tn_ad_result_key(request->branch, request->wanted[i]);
    if (!tn_ad_set_derivative(outer, key, tangent)) return false;
  }
  return joined != TN_ERROR_VALUE;
}

static bool choose_results(branch_request *request) {
  jvp_frame *frame = request->outer;
  tn_arena *arena = &frame->base.transform->arena;
  const tn_region *region = region_of(request, 0);
  request->wanted = tn_arena_array(arena, region->results.count + 1, sizeof *request->wanted);
  request->tangents = tn_arena_array(arena, region->results.count + 1, sizeof *request->tangents);
  if (!request->wanted || !request->tangents) return tn_ad_no_memory(frame->base.transform);
  for (size_t i = 0; i < region->results.count; i++) {
    bool differentiable = tn_ad_differentiable(tn_graph_type(graph_of(frame), region->results.at[i])->dtype);
    if (differentiable && is_needed(frame, tn_ad_result_key(request->branch, i))) {
      request->wanted[request->count++] = i;
    }
  }
  return true;
}

static bool visit_if(jvp_frame *frame, tn_value branch) {
  branch_request request = { .outer = frame, .branch = branch };
  builder_of(frame)->at = tn_graph_node(graph_of(frame), branch)->at;
  if (!choose_results(&request)) return false;
  if (request.count == 0) return true;
  request.stand_ins = tn_ad_capture_stand_ins(&frame->base, branch);
  return request.stand_ins && join_branches(&request);
}

/* ---- the walk ---- */

static bool visit(jvp_frame *frame, tn_value value) {
  tn_node node = *tn_graph_node(graph_of(frame), value);
  if (!visited(frame, value)) return true;
  if (node.op == TN_OP_IF) return visit_if(frame, value);
  if (node.op != TN_OP_PICK) return visit_operation(frame, value, &node);
  if (!tn_ad_differentiable(node.type.dtype)) return tn_ad_no_derivative(frame->base.transform, value);
  tn_value tangent = tn_ad_derivative(&frame->base, tn_ad_result_key(node.in[0], node.attrs->index));
  return tangent == TN_NO_VALUE || tn_ad_set_derivative(&frame->base, value, tangent);
}

static bool sweep(jvp_frame *frame) {
  for (size_t i = 0; i < frame->base.count; i++) {
    if (!visit(frame, frame->base.nodes[i])) return false;
  }
  return true;
}

static bool run(jvp_frame *frame, const tn_jvp_request *request, tn_value first, tn_value last,
                tn_value *tangents) {
  tn_ad_frame *base = &frame->base;
  if (!tn_ad_frame_top(base, first, last)) return false;
  for (int i = 0; i < request->wrt_count; i++) {
    tn_value tangent = request->tangents[i];
    if (tangent == TN_NO_VALUE) continue;
    if (!tn_ad_add_leaf(base, request->wrt[i]) || !tn_ad_set_derivative(base, request->wrt[i], tangent)) {
      return false;
    }
  }
  if (!tn_ad_mark_active(base)) return false;
  for (int i = 0; i < request->output_count; i++) {
    if (!need(frame, request->outputs[i])) return false;
  }
  if (!mark_needed(frame) || !sweep(frame)) return false;
  for (int i = 0; i < request->output_count; i++) {
    tangents[i] = tn_ad_derivative(base, request->outputs[i]);
    if (tangents[i] == TN_NO_VALUE) tangents[i] = tn_build_like(builder_of(frame), request->outputs[i], 0);
  }
  return tn_build_ok(builder_of(frame));
}

bool tn_ad_jvp(const tn_jvp_request *request, tn_value *tangents) {
  tn_ad_saved saved = tn_ad_save(request->builder);
  tn_value first = TN_NO_VALUE, last = 0;
  tn_ad_transform transform;
  jvp_frame frame;
  for (int i = 0; i < request->wrt_count; i++) {
    if (request->wrt[i] < first) first = request->wrt[i];
    if (request->tangents[i] == TN_ERROR_VALUE) first = TN_ERROR_VALUE;
  }
  for (int i = 0; i < request->output_count; i++) {
    tangents[i] = TN_ERROR_VALUE;
    if (request->outputs[i] > last) last = request->outputs[i];
    if (request->outputs[i] == TN_ERROR_VALUE) first = TN_ERROR_VALUE;
  }
  if (first == TN_ERROR_VALUE || !tn_build_ok(&request->builder->base)) return false;
  bool ok = tn_ad_transform_init(&transform, request->builder, request->policy, true, first, last);
  frame_init(&frame, &transform);
  ok = ok && run(&frame, request, first, last, tangents);
  frame_free(&frame);
  tn_ad_transform_free(&transform);
  return tn_ad_restore(&saved, request->builder, ok);
}
