/* ad/grad.c: reverse mode over a graph.
 *
 * Nodes between the variables (`wrt`) and the outputs are visited once, in reverse order. At a
 * visit the gradient of the node is complete, because all its users have larger numbers; the node's
 * rule passes it on. Gradients of a value from several users are added in the order in which they
 * are visited: the gradient from the last user first, `earlier + new` each time. So the sum is a
 * function of the graph alone.
 *
 * A variable is a leaf: gradients flow to it and stop. */
#include "ad/transform.h"

static const tn_graph *graph_of(const tn_ad_frame *frame) { return frame->transform->builder->graph; }
static tn_builder *builder_of(const tn_ad_frame *frame) { return &frame->transform->builder->base; }

static bool accumulate(tn_ad_frame *frame, uint64_t key, tn_value gradient) {
  tn_value earlier = tn_ad_derivative(frame, key);
  if (earlier != TN_NO_VALUE) {
    gradient = tn_build_binary(builder_of(frame), TN_OP_ADD, earlier, gradient);
  }
  return tn_ad_set_derivative(frame, key, gradient);
}

/* ---- operations ---- */

/* Which operands need a gradient. Under a strict policy an integer or a boolean on the way is a
 * fault: its gradient would be a silent zero. */
static bool find_wanted(const tn_ad_frame *frame, const tn_node *node, bool *wanted, bool *any) {
  *any = false;
  for (int i = 0; i < node->count; i++) {
    tn_value operand = node->in[i];
    wanted[i] = tn_ad_carries(node->op, i) && tn_ad_is_active(frame, operand);
    if (!wanted[i]) continue;
    *any = true;
    if (tn_ad_differentiable(tn_graph_type(graph_of(frame), operand)->dtype)) continue;
    if (frame->transform->policy == TN_AD_STRICT) return tn_ad_no_derivative(frame->transform, operand);
    wanted[i] = false;
  }
  return true;
}

static bool sweep(tn_ad_frame *frame);

/* The parts of an operation are built and visited in a separate frame, whose leaves are the
 * operands. A leaf starts with the gradient that its operand has received so far, so that sums have
 * the order that they would have if the parts were written in the program. `in` are the stand-ins
 * of the operands. recursion: parts have no parts. */
static bool visit_parts(tn_ad_frame *outer, const tn_node *node, const tn_value *in, const bool *wanted,
                        tn_value gradient) {
  tn_value first = (tn_value)graph_of(outer)->nodes.count;
  tn_value result = tn_build_parts(builder_of(outer), node->op, in, node->count, node->attrs);
  tn_ad_frame frame;
  tn_ad_frame_init(&frame, outer->transform);
  bool ok = result != TN_ERROR_VALUE && tn_ad_frame_top(&frame, first, result);
  for (int i = 0; i < node->count && ok; i++) {
    tn_value earlier = tn_ad_derivative(outer, node->in[i]);
    if (wanted[i]) ok = tn_ad_add_leaf(&frame, in[i]);
    if (wanted[i] && earlier != TN_NO_VALUE) ok = ok && tn_ad_set_derivative(&frame, in[i], earlier);
  }
  ok = ok && tn_ad_mark_active(&frame) && accumulate(&frame, result, gradient) && sweep(&frame);
  for (int i = 0; i < node->count && ok; i++) {
    tn_value total = tn_ad_derivative(&frame, in[i]);
    if (wanted[i] && total != TN_NO_VALUE) ok = tn_ad_set_derivative(outer, node->in[i], total);
  }
  tn_ad_frame_free(&frame);
  return ok;
}

/* `in` and `wanted` have room for the operands, `grads` for one more. */
static bool apply_rule(tn_ad_frame *frame, tn_value value, const tn_node *node, tn_value gradient,
                       tn_value *in, tn_value *grads, bool *wanted) {
  bool any;
  if (!find_wanted(frame, node, wanted, &any)) return false;
  if (!any) return true;
  tn_ad_node rule = { .builder = builder_of(frame),
                      .op = node->op,
                      .in = in,
                      .count = node->count,
                      .attrs = node->attrs,
                      .wanted = wanted };
  if (!tn_ad_stand_in_all(frame, value, node, in, &rule.out)) return false;
  if (tn_ad_by_parts(node->op)) return visit_parts(frame, node, in, wanted, gradient);
  if (!tn_ad_vjp_node(&rule, gradient, grads)) return false;
  for (int turn = 0; turn <= node->count; turn++) {
    int i = tn_ad_turn(node->op, turn, node->count), to = tn_ad_receiver(i, node->count);
    if (grads[i] != TN_NO_VALUE && wanted[to] && !accumulate(frame, node->in[to], grads[i])) return false;
  }
  return true;
}

static bool visit_operation(tn_ad_frame *frame, tn_value value, const tn_node *node, tn_value gradient) {
  tn_ad_transform *transform = frame->transform;
  size_t count = (size_t)node->count;
  tn_value few_in[TN_AD_FEW], few_grads[TN_AD_FEW];
  bool few_wanted[TN_AD_FEW], *wanted = few_wanted;
  tn_value *in = tn_ad_values(transform, few_in, count);
  tn_value *grads = tn_ad_values(transform, few_grads, count + 1);
  if (count > TN_AD_FEW) wanted = tn_arena_array(&transform->arena, count, sizeof *wanted);
  if (!in || !grads || !wanted) return tn_ad_no_memory(transform);
  builder_of(frame)->at = node->at;
  return apply_rule(frame, value, node, gradient, in, grads, wanted);
}

/* ---- branches ---- */

/* What the two branches of the gradient of an `if` share. */
typedef struct {
  tn_ad_frame *outer;
  tn_value branch;           /* the original `if` */
  const tn_value *stand_ins; /* of its captures */
  const tn_value *wrt;       /* captures whose gradients the branches give, */
  const tn_value *like;      /* and their stand-ins */
  tn_value *grads;
  size_t count;
} branch_request;

static size_t result_count(const tn_ad_frame *frame, tn_value branch) {
  uint32_t region = tn_graph_node(graph_of(frame), branch)->attrs->region[0];
  return graph_of(frame)->regions.at[region].results.count;
}

/* The gradients of the results that have one flow into the region's own results. */
static bool seed_branch(tn_ad_frame *frame, const branch_request *request, int which) {
  const tn_graph *graph = graph_of(frame);
  uint32_t region = tn_graph_node(graph, request->branch)->attrs->region[which];
  const tn_value *results = graph->regions.at[region].results.at;
  size_t count = graph->regions.at[region].results.count;
  for (size_t i = 0; i < count; i++) {
    tn_value gradient = tn_ad_derivative(request->outer, tn_ad_result_key(request->branch, i));
    if (gradient == TN_NO_VALUE || !tn_ad_is_active(frame, results[i])) continue;
    if (!accumulate(frame, results[i], gradient)) return false;
  }
  return true;
}

static bool collect(const tn_ad_frame *frame, const branch_request *request) {
  tn_builder *builder = builder_of(frame);
  for (size_t i = 0; i < request->count; i++) {
    tn_value gradient = tn_ad_derivative(frame, request->wrt[i]), like = request->like[i];
    bool zero = gradient == TN_NO_VALUE;
    request->grads[i] =
        zero ? tn_build_like(builder, like, 0) : tn_build_broadcast_like(builder, gradient, like);
  }
  return tn_build_ok(builder);
}

/* One branch of the new `if`: computes again what it needs, and gives the gradients. 0 on failure. */
static uint32_t build_branch(const void *context, int which) {
  const branch_request *request = context;
  tn_ad_transform *transform = request->outer->transform;
  tn_builder *builder = builder_of(request->outer);
  tn_ad_frame frame;
  if (!tn_arena_room(&transform->arena)) tn_ad_no_memory(transform);
  if (transform->arena.failed || !builder->methods->region_begin(builder)) return 0;
  tn_ad_frame_init(&frame, request->outer->transform);
  bool ok = tn_ad_frame_branch(&frame, request->outer, request->branch, which, request->stand_ins) &&
            tn_ad_mark_active(&frame) && seed_branch(&frame, request, which) && sweep(&frame) &&
            collect(&frame, request);
  tn_ad_frame_free(&frame);
  uint32_t region = builder->methods->region_end(builder, request->grads, ok ? (int)request->count : 0);
  return ok ? region : 0;
}

/* Joins the branches and adds each gradient to what its capture has. */
static bool join_branches(const branch_request *request) {
  tn_ad_frame *outer = request->outer;
  tn_value joined = tn_ad_join(outer, request->branch, build_branch, request);
  for (size_t i = 0; joined != TN_ERROR_VALUE && i < request->count; i++) {
    tn_value gradient = tn_ad_pick(builder_of(outer), joined, i, request->like[i]);
    if (!accumulate(outer, request->wrt[i], gradient)) return false;
  }
  return joined != TN_ERROR_VALUE;
}

/* The captures whose gradients are asked for, with their stand-ins. */
static bool choose_captures(branch_request *request) {
  tn_ad_frame *frame = request->outer;
  tn_ad_captures captures = tn_ad_captures_of(frame->transform, request->branch);
  tn_value *room = tn_arena_array(&frame->transform->arena, 3 * captures.count + 1, sizeof *room);
  if (!room) return tn_ad_no_memory(frame->transform);
  tn_value *wrt = room, *like = room + captures.count;
  request->stand_ins = tn_ad_capture_stand_ins(frame, request->branch);
  if (!request->stand_ins) return false;
  for (size_t i = 0; i < captures.count; i++) {
    tn_value value = captures.at[i];
    if (!tn_ad_is_active(frame, value)) continue;
    if (!tn_ad_differentiable(tn_graph_type(graph_of(frame), value)->dtype)) continue;
    wrt[request->count] = value;
    like[request->count++] = request->stand_ins[i];
  }
  request->wrt = wrt;
  request->like = like;
  request->grads = room + 2 * captures.count;
  return true;
}

static bool visit_if(tn_ad_frame *frame, tn_value branch) {
  branch_request request = { .outer = frame, .branch = branch };
  bool any = false;
  for (size_t i = 0; i < result_count(frame, branch) && !any; i++) {
    any = tn_ad_derivative(frame, tn_ad_result_key(branch, i)) != TN_NO_VALUE;
  }
  if (!any) return true;
  builder_of(frame)->at = tn_graph_node(graph_of(frame), branch)->at;
  return choose_captures(&request) && (request.count == 0 || join_branches(&request));
}

/* ---- the walk ---- */

static bool visit(tn_ad_frame *frame, tn_value value) {
  tn_node node = *tn_graph_node(graph_of(frame), value);
  if (!tn_ad_is_active(frame, value) || tn_ad_is_leaf(frame, value)) return true;
  if (node.op == TN_OP_IF) return visit_if(frame, value);
  tn_value gradient = tn_ad_derivative(frame, value);
  if (gradient == TN_NO_VALUE) return true;
  if (node.op == TN_OP_PICK) {
    return accumulate(frame, tn_ad_result_key(node.in[0], node.attrs->index), gradient);
  }
  return visit_operation(frame, value, &node, gradient);
}

static bool sweep(tn_ad_frame *frame) {
  for (size_t i = frame->count; i-- > 0;) {
    if (!visit(frame, frame->nodes[i])) return false;
  }
  return true;
}

static bool seed_outputs(tn_ad_frame *frame, const tn_grad_request *request) {
  for (int i = 0; i < request->output_count; i++) {
    tn_value output = request->outputs[i], seed = request->seeds ? request->seeds[i] : TN_NO_VALUE;
    if (!tn_ad_is_active(frame, output)) continue;
    if (!tn_ad_differentiable(tn_graph_type(graph_of(frame), output)->dtype)) {
      if (request->policy == TN_AD_STRICT) return tn_ad_no_derivative(frame->transform, output);
      continue;
    }
    if (seed == TN_NO_VALUE) seed = tn_build_like(builder_of(frame), output, 1);
    if (!accumulate(frame, output, seed)) return false;
  }
  return true;
}

static bool collect_grads(const tn_ad_frame *frame, const tn_grad_request *request, tn_value *grads) {
  tn_builder *builder = builder_of(frame);
  for (int i = 0; i < request->wrt_count; i++) {
    tn_value like = request->wrt[i], gradient = tn_ad_derivative(frame, like);
    if (gradient != TN_NO_VALUE)
      grads[i] = tn_build_broadcast_like(builder, gradient, like);
    else
      grads[i] = request->sparse_zeros ? TN_NO_VALUE : tn_build_like(builder, like, 0);
  }
  return tn_build_ok(builder);
}

static bool run(tn_ad_frame *frame, const tn_grad_request *request, tn_value first, tn_value last,
                tn_value *grads) {
  if (!tn_ad_frame_top(frame, first, last)) return false;
  for (int i = 0; i < request->wrt_count; i++) {
    if (!tn_ad_add_leaf(frame, request->wrt[i])) return false;
  }
  return tn_ad_mark_active(frame) && seed_outputs(frame, request) && sweep(frame) &&
         collect_grads(frame, request, grads);
}

bool tn_ad_grad(const tn_grad_request *request, tn_value *grads) {
  tn_ad_saved saved = tn_ad_save(request->builder);
  tn_value first = TN_NO_VALUE, last = 0;
  tn_ad_transform transform;
  tn_ad_frame frame;
  for (int i = 0; i < request->wrt_count; i++) {
    grads[i] = TN_ERROR_VALUE;
    if (request->wrt[i] < first) first = request->wrt[i];
  }
  for (int i = 0; i < request->output_count; i++) {
    if (request->outputs[i] > last) last = request->outputs[i];
    if (request->outputs[i] == TN_ERROR_VALUE) first = TN_ERROR_VALUE;
  }
  if (first == TN_ERROR_VALUE || !tn_build_ok(&request->builder->base)) return false;
  bool ok = tn_ad_transform_init(&transform, request->builder, request->policy, false, first, last);
  tn_ad_frame_init(&frame, &transform);
  ok = ok && run(&frame, request, first, last, grads);
  tn_ad_frame_free(&frame);
  tn_ad_transform_free(&transform);
  return tn_ad_restore(&saved, request->builder, ok);
}
