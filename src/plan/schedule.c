/* plan/schedule.c: converts a graph to an ordered list of steps.
 *
 * Only what an output needs is scheduled. Views cost nothing: they are resolved here, as strides
 * into their operand's storage. A fill is one element with stride 0, and an iota is computed once,
 * when the plan is made.
 *
 * A node that writes a parameter's next value runs as soon as its operands are ready and the old
 * value has been read for the last time: then gradients are freed early, and the result can
 * overwrite the old value in place. It does so only if nothing after it can still fail, because a
 * failed run leaves parameters unchanged; otherwise it is copied at the end. */
#include <string.h>

#include "plan/internal.h"

typedef struct {
  tn_plan *plan;
  const tn_graph *graph;
  tn_fault *fault;
  tn_value *order; /* nodes of region 0, in the order in which they run */
  size_t order_count;
  tn_value *first_pick; /* by `if`: its needed picks, a list in ascending order; 0 ends */
  tn_value *next_pick;  /* by pick */
  tn_location *outputs; /* by output */
} scheduler;

static bool out_of_memory(scheduler *s) {
  s->fault->kind = TN_FAULT_MEMORY;
  return false;
}

/* ---- what is needed ---- */

static void need(scheduler *s, tn_value value) { s->plan->needed[value] = true; }

/* Operands have smaller numbers than their users, and the nodes of a region smaller ones
 * than its `if`, so one sweep backwards reaches everything. */
static void mark_needed(scheduler *s) {
  const tn_graph *graph = s->graph;
  for (size_t i = 0; i < graph->outputs.count; i++) need(s, graph->outputs.at[i].value);
  for (size_t v = graph->nodes.count; v-- > 1;) {
    if (!s->plan->needed[v]) continue;
    const tn_node *node = &graph->nodes.at[v];
    for (int i = 0; i < node->count; i++) need(s, node->in[i]);
    if (node->op != TN_OP_PICK) continue;
    s->next_pick[v] = s->first_pick[node->in[0]];
    s->first_pick[node->in[0]] = (tn_value)v;
    const tn_attrs *branch = tn_graph_node(graph, node->in[0])->attrs;
    for (int r = 0; r < 2; r++) need(s, graph->regions.at[branch->region[r]].results.at[node->attrs->index]);
  }
}

/* ---- storages, locations, views ---- */

static int32_t add_storage(scheduler *s, int32_t base, size_t bytes, int32_t first) {
  tn_plan *plan = s->plan;
  tn_storage storage = { .base = base, .bytes = bytes, .first = first, .last = first };
  if (!tn_vec_push(plan->heap, &plan->storages, storage)) {
    out_of_memory(s);
    return -1;
  }
  return (int32_t)plan->storages.count - 1;
}

static void touch(tn_plan *plan, int32_t storage, int32_t time) {
  if (plan->storages.at[storage].last < time) plan->storages.at[storage].last = time;
}

int32_t tn_plan_add_view(tn_plan *plan, const tn_location *location) {
  tn_view view = location->view;
  view.data = NULL;
  tn_view_site site = { .storage = location->storage, .offset = location->offset, .next = -1 };
  if (!tn_vec_reserve(plan->heap, &plan->views, 1) || !tn_vec_push(plan->heap, &plan->sites, site)) return -1;
  (void)tn_vec_push(plan->heap, &plan->views, view);
  return (int32_t)plan->views.count - 1;
}

static int32_t now(const scheduler *s) { return (int32_t)s->plan->steps.count; }

/* A fresh contiguous place in the block for a value of this type. */
static bool fresh_location(scheduler *s, const tn_type *type, tn_location *out) {
  size_t bytes;
  int64_t count = tn_shape_count(&type->shape);
  if (count < 0 || !tn_size_mul((size_t)count, tn_dtype_bytes(type->dtype), &bytes)) {
    s->fault->kind = TN_FAULT_TOO_LARGE;
    s->fault->left = *type;
    return false;
  }
  int32_t storage = add_storage(s, 0, bytes, now(s));
  if (storage < 0) return false;
  *out = (tn_location){ .storage = storage, .view = tn_view_make(NULL, type->dtype, &type->shape) };
  return true;
}

/* Memory that belongs to the plan and keeps its contents between runs. */
static bool constant_location(scheduler *s, void *data, size_t bytes, const tn_view *view, tn_location *out) {
  tn_plan *plan = s->plan;
  tn_base base = { .data = data, .sites = -1 };
  if (!tn_vec_push(plan->heap, &plan->bases, base)) return out_of_memory(s);
  int32_t storage = add_storage(s, (int32_t)plan->bases.count - 1, bytes, 0);
  if (storage < 0) return false;
  *out = (tn_location){ .storage = storage, .view = *view };
  return true;
}

static void *plan_memory(scheduler *s, size_t bytes) {
  char *raw = tn_arena_alloc(&s->plan->arena, bytes + 64);
  if (!raw) {
    out_of_memory(s);
    return NULL;
  }
  return raw + (64 - (uintptr_t)raw % 64) % 64;
}

/* ---- steps ---- */

static bool push_step(scheduler *s, const tn_step *step) {
  return tn_vec_push(s->plan->heap, &s->plan->steps, *step) || out_of_memory(s);
}

/* Indices that an earlier gather has used are known to be valid. */
static bool index_was_checked(const scheduler *s, tn_value index, int64_t limit) {
  const tn_plan *plan = s->plan;
  for (size_t i = plan->steps.count; i-- > 0;) {
    const tn_step *step = &plan->steps.at[i];
    if (step->kind != TN_STEP_KERNEL || step->call.op != TN_OP_GATHER) continue;
    const tn_node *gather = tn_graph_node(s->graph, step->node);
    if (gather->region == 0 && gather->in[1] == index &&
        tn_graph_type(s->graph, gather->in[0])->shape.dim[gather->attrs->axis] == limit) {
      return true;
    }
  }
  return false;
}

static bool steps_can_fail(const tn_fused *program) {
  for (int i = 0; i < program->step_count; i++) {
    if (tn_op_can_fail(program->step[i].op, program->step[i].dtype)) return true;
  }
  return false;
}

/* Whether the operation can end a run when its operands' values are bad. */
static bool can_fail(const scheduler *s, const tn_node *node) {
  tn_op_fails how = tn_op_fails_of(node->op);
  if (how == TN_FAILS_AS_STEPS) return steps_can_fail(node->attrs->program);
  if (how == TN_FAILS_ON_NEW_INDEX)
    return !index_was_checked(s, node->in[1], node->type.shape.dim[node->attrs->axis]);
  return tn_op_can_fail(node->op, node->type.dtype);
}

/* Views of a step are consecutive: operands, then the result. */
static bool push_kernel(scheduler *s, tn_value value, tn_op op, const tn_location *const *in, int count,
                        const tn_location *out) {
  tn_plan *plan = s->plan;
  const tn_node *node = tn_graph_node(s->graph, value);
  tn_step step = { .kind = TN_STEP_KERNEL,
                   .kernel = plan->backend->kernels[op],
                   .node = value,
                   .first_view = (uint32_t)plan->views.count,
                   .fallible = op == node->op && can_fail(s, node) };
  int32_t time = now(s);
  for (int i = 0; i < count; i++) {
    if (tn_plan_add_view(plan, in[i]) < 0) return out_of_memory(s);
    touch(plan, in[i]->storage, time);
  }
  if (tn_plan_add_view(plan, out) < 0) return out_of_memory(s);
  touch(plan, out->storage, time);
  bool looks = op == node->op && tn_op_fails_of(op) == TN_FAILS_ON_NEW_INDEX;
  step.call = (tn_kernel_call){ .op = op, .attrs = node->attrs, .count = count, .threads = plan->threads,
                                .checked = looks && !step.fallible };
  step.call.pool = plan->heap->pool;
  return push_step(s, &step);
}

/* A draw's attributes are the plan's own, because its words can be shifted. */
static bool note_draw(scheduler *s) {
  tn_plan *plan = s->plan;
  tn_step *step = &plan->steps.at[plan->steps.count - 1];
  if (step->call.op != TN_OP_UNIFORM && step->call.op != TN_OP_NORMAL) return true;
  tn_attrs *attrs = tn_arena_new(&plan->arena, tn_attrs);
  if (!attrs) return out_of_memory(s);
  *attrs = *step->call.attrs;
  step->call.attrs = attrs;
  tn_draw draw = { attrs, attrs->index };
  return tn_vec_push(plan->heap, &plan->draws, draw) || out_of_memory(s);
}

static bool push_copy(scheduler *s, tn_value value, const tn_location *from, const tn_location *to) {
  return push_kernel(s, value, TN_OP_RESHAPE, &from, 1, to);
}

/* ---- nodes ---- */

static bool locate_bound(scheduler *s, tn_value value, int32_t base) {
  const tn_type *type = tn_graph_type(s->graph, value);
  int64_t count = tn_shape_count(&type->shape);
  int32_t storage = add_storage(s, base, (size_t)count * tn_dtype_bytes(type->dtype), 0);
  if (storage < 0) return false;
  s->plan->location[value] =
      (tn_location){ .storage = storage, .view = tn_view_make(NULL, type->dtype, &type->shape) };
  return true;
}

static bool locate_literal(scheduler *s, tn_value value) {
  const tn_view *view = &tn_graph_node(s->graph, value)->attrs->literal->view;
  size_t bytes = (size_t)tn_view_count(view) * tn_dtype_bytes(view->dtype);
  return constant_location(s, view->data, bytes, view, &s->plan->location[value]);
}

/* Runs a kernel without operands now, into memory of the plan. */
static bool compute_once(scheduler *s, tn_value value, const tn_attrs *attrs, const tn_view *out) {
  tn_op op = tn_graph_node(s->graph, value)->op;
  tn_kernel_call call = { .op = op, .attrs = attrs, .out = out, .threads = 1, .fault = s->fault };
  call.stop = s->plan->heap->stop;
  if (!tn_backend_on_host(s->plan->backend)->kernels[op](&call)) return false;
  if (!tn_stop_asked(call.stop)) return true;
  s->fault->kind = TN_FAULT_INTERRUPTED;
  return false;
}

static bool locate_fill(scheduler *s, tn_value value) {
  const tn_node *node = tn_graph_node(s->graph, value);
  void *data = plan_memory(s, tn_dtype_bytes(node->type.dtype));
  if (!data) return false;
  tn_view one = tn_view_make(data, node->type.dtype, &TN_SCALAR_SHAPE);
  if (!compute_once(s, value, node->attrs, &one)) return false;
  tn_view view = tn_view_broadcast(&one, &node->type.shape);
  return constant_location(s, data, tn_dtype_bytes(node->type.dtype), &view, &s->plan->location[value]);
}

static bool locate_iota(scheduler *s, tn_value value) {
  const tn_node *node = tn_graph_node(s->graph, value);
  size_t bytes = (size_t)tn_shape_count(&node->type.shape) * tn_dtype_bytes(node->type.dtype);
  void *data = plan_memory(s, bytes);
  if (!data) return false;
  tn_view view = tn_view_make(data, node->type.dtype, &node->type.shape);
  return compute_once(s, value, node->attrs, &view) &&
         constant_location(s, data, bytes, &view, &s->plan->location[value]);
}

/* A view of the operand's storage, or a copy where strides cannot express it. */
static bool locate_view(scheduler *s, tn_value value) {
  const tn_node *node = tn_graph_node(s->graph, value);
  const tn_location *from = &s->plan->location[node->in[0]];
  tn_location out = *from;
  int64_t offset;
  if (!tn_op_view(node->op, node->attrs, &node->type.shape, &from->view, &out.view, &offset))
    return fresh_location(s, &node->type, &s->plan->location[value]) &&
           push_copy(s, value, from, &s->plan->location[value]);
  out.offset += offset * (int64_t)tn_dtype_bytes(from->view.dtype);
  s->plan->location[value] = out;
  return true;
}

#define TN_PLAN_FEW 16

static bool schedule_kernel(scheduler *s, tn_value value) {
  tn_plan *plan = s->plan;
  const tn_node *node = tn_graph_node(s->graph, value);
  const tn_location *few[TN_PLAN_FEW], **in = few;
  if (node->count > TN_PLAN_FEW) {
    in = tn_arena_array(&plan->arena, (size_t)node->count, sizeof *in);
    if (!in) return out_of_memory(s);
  }
  for (int i = 0; i < node->count; i++) in[i] = &plan->location[node->in[i]];
  return fresh_location(s, &node->type, &plan->location[value]) &&
         push_kernel(s, value, node->op, in, node->count, &plan->location[value]) && note_draw(s);
}

static tn_value windows_of(const scheduler *s, tn_value value) {
  return s->plan->windows_of ? s->plan->windows_of[value] : 0;
}

/* Makes the windows right before the product that reads them: as a matrix, or transposed. */
static bool schedule_product_of_windows(scheduler *s, tn_value value) {
  tn_value matrix = tn_graph_node(s->graph, value)->in[0], patches = windows_of(s, matrix);
  tn_value rows = tn_graph_node(s->graph, matrix)->in[0];
  if (!schedule_kernel(s, patches)) return false;
  if (rows != patches && !locate_view(s, rows)) return false;
  return locate_view(s, matrix) && schedule_kernel(s, value);
}

static bool schedule_host(scheduler *s, tn_value value) {
  tn_plan *plan = s->plan;
  tn_location *out = &plan->location[value];
  if (!fresh_location(s, tn_graph_type(s->graph, value), out)) return false;
  tn_step step = {
    .kind = TN_STEP_HOST, .node = value, .first_view = (uint32_t)plan->views.count, .fallible = true
  };
  if (tn_plan_add_view(plan, out) < 0) return out_of_memory(s);
  return push_step(s, &step);
}

static bool schedule_node(scheduler *s, tn_value value);

/* The host operations of a region, so that all of them can be refused before one runs. */
static bool push_enter(scheduler *s, uint32_t region) {
  tn_plan *plan = s->plan;
  const tn_region *r = &s->graph->regions.at[region];
  tn_step step = { .kind = TN_STEP_ENTER, .first_host = (uint32_t)plan->hosts.count, .fallible = true };
  for (size_t i = 0; i < r->nodes.count; i++) {
    const tn_node *node = tn_graph_node(s->graph, r->nodes.at[i]);
    if (node->op != TN_OP_HOST || !plan->needed[r->nodes.at[i]]) continue;
    if (!tn_vec_push(plan->heap, &plan->hosts, node)) return out_of_memory(s);
    step.host_count++;
  }
  return step.host_count == 0 || push_step(s, &step);
}

/* One branch: its nodes, then its results into the places of the picks. */
static bool schedule_branch(scheduler *s, uint32_t region, tn_value first_pick) {
  const tn_region *r = &s->graph->regions.at[region];
  if (!tn_stack_room(&s->plan->heap->stack)) return out_of_memory(s);
  if (!push_enter(s, region)) return false;
  for (size_t i = 0; i < r->nodes.count; i++) {
    if (s->plan->needed[r->nodes.at[i]] && !schedule_node(s, r->nodes.at[i])) return false;
  }
  for (tn_value pick = first_pick; pick != 0; pick = s->next_pick[pick]) {
    tn_value result = r->results.at[tn_graph_node(s->graph, pick)->attrs->index];
    if (!push_copy(s, pick, &s->plan->location[result], &s->plan->location[pick])) return false;
  }
  return true;
}

static bool push_jump(scheduler *s, tn_step_kind kind, tn_value node, const tn_location *condition) {
  tn_plan *plan = s->plan;
  tn_step step = { .kind = kind, .node = node, .first_view = (uint32_t)plan->views.count };
  if (condition) {
    if (tn_plan_add_view(plan, condition) < 0) return out_of_memory(s);
    touch(plan, condition->storage, now(s));
  }
  return push_step(s, &step);
}

static bool schedule_if(scheduler *s, tn_value value) {
  const tn_node *node = tn_graph_node(s->graph, value);
  tn_plan *plan = s->plan;
  for (tn_value pick = s->first_pick[value]; pick != 0; pick = s->next_pick[pick]) {
    if (!fresh_location(s, tn_graph_type(s->graph, pick), &plan->location[pick])) return false;
  }
  size_t test = plan->steps.count;
  if (!push_jump(s, TN_STEP_JUMP_UNLESS, value, &plan->location[node->in[0]])) return false;
  if (!schedule_branch(s, node->attrs->region[0], s->first_pick[value])) return false;
  size_t over = plan->steps.count;
  if (!push_jump(s, TN_STEP_JUMP, value, NULL)) return false;
  plan->steps.at[test].target = (uint32_t)plan->steps.count;
  if (!schedule_branch(s, node->attrs->region[1], s->first_pick[value])) return false;
  plan->steps.at[over].target = (uint32_t)plan->steps.count;
  return true;
}

static bool schedule_node(scheduler *s, tn_value value) {
  const tn_node *node = tn_graph_node(s->graph, value);
  s->fault->op = node->op;
  s->fault->at = node->at;
  if (windows_of(s, value) != 0) return true; /* by each product that reads them */
  if (node->op == TN_OP_MATMUL && windows_of(s, node->in[0]) != 0)
    return schedule_product_of_windows(s, value);
  switch (tn_op_sig_of(node->op)->kind) {
    case TN_KIND_INPUT: /* located before everything else */
    case TN_KIND_PICK: /* by its branch */
    case TN_KIND_COMPOSED: return true; /* never in a graph */
    case TN_KIND_LITERAL: return locate_literal(s, value);
    case TN_KIND_FILL: return locate_fill(s, value);
    case TN_KIND_IOTA: return locate_iota(s, value);
    case TN_KIND_BRANCH: return schedule_if(s, value);
    case TN_KIND_EFFECT: return schedule_host(s, value);
    case TN_KIND_VIEW: return locate_view(s, value);
    case TN_KIND_ELEMENTWISE:
    case TN_KIND_GENERATE:
    case TN_KIND_MOVE:
    case TN_KIND_REDUCE:
    case TN_KIND_SCAN:
    case TN_KIND_CONTRACT: break;
  }
  return schedule_kernel(s, value);
}

/* ---- order, and parameters that change ---- */

static bool locate_inputs(scheduler *s) {
  const tn_graph *graph = s->graph;
  for (size_t i = 0; i < graph->inputs.count; i++) {
    if (!locate_bound(s, graph->inputs.at[i], tn_plan_input_base(s->plan, (int)i))) return false;
  }
  for (size_t i = 0; i < graph->params.count; i++) {
    if (!locate_bound(s, graph->params.at[i], tn_plan_param_base(s->plan, (int)i))) return false;
  }
  return true;
}

static tn_value update_of(const scheduler *s, size_t param) {
  const int *updates = s->plan->options.updates;
  if (!updates || updates[param] < 0) return TN_ERROR_VALUE;
  return s->graph->outputs.at[updates[param]].value;
}

typedef struct {
  uint64_t key;
  tn_value value;
} ordered;

/* Stable: merges runs of keys, which are nearly sorted already. */
static bool sort_order(scheduler *s, ordered *items, size_t count) {
  ordered *spare = tn_heap_alloc(s->plan->heap, count * sizeof *spare);
  if (count > 0 && !spare) return out_of_memory(s);
  for (size_t width = 1; width < count; width *= 2) {
    for (size_t low = 0; low < count; low += 2 * width) {
      size_t middle = low + width < count ? low + width : count;
      size_t high = low + 2 * width < count ? low + 2 * width : count;
      size_t a = low, b = middle;
      for (size_t k = low; k < high; k++) {
        bool left = a < middle && (b >= high || items[a].key <= items[b].key);
        spare[k] = left ? items[a++] : items[b++];
      }
    }
    memcpy(items, spare, count * sizeof *items);
  }
  tn_heap_free(s->plan->heap, spare, count * sizeof *spare);
  return true;
}

/* For every value the last two nodes of region 0 that read it, directly, through views or
 * from a branch. */
typedef struct {
  tn_value last, before;
} readers;

static void note_reader(readers *r, tn_value reader) {
  if (reader > r->last) {
    r->before = r->last;
    r->last = reader;
  } else if (reader > r->before && reader != r->last) {
    r->before = reader;
  }
}

/* Views pass their readers on to what they look at; they stand after their operand, so a
 * sweep backwards has all of them in time. */
static readers *find_readers(scheduler *s) {
  const tn_graph *graph = s->graph;
  readers *found = tn_arena_array(&s->plan->arena, graph->nodes.count, sizeof *found);
  if (!found) return NULL;
  for (tn_value v = (tn_value)graph->nodes.count; v-- > 1;) {
    const tn_node *node = &graph->nodes.at[v];
    if (!s->plan->needed[v]) continue;
    tn_value reader = v;
    for (uint32_t region = node->region; region != 0; region = graph->regions.at[region].parent) {
      reader = graph->regions.at[region].owner;
    }
    for (int i = 0; i < node->count; i++) note_reader(&found[node->in[i]], reader);
    if (tn_op_sig_of(node->op)->kind != TN_KIND_VIEW) continue;
    note_reader(&found[node->in[0]], found[v].last);
    note_reader(&found[node->in[0]], found[v].before);
  }
  return found;
}

/* When the next value of a parameter is best computed: after its operands (inputs are available
 * from the beginning), and after the last other reader of the old value. No node reads the next
 * value, so it may move. */
static uint64_t update_key(const scheduler *s, tn_value update, const readers *of_param) {
  const tn_node *node = tn_graph_node(s->graph, update);
  tn_value after = of_param->last != update ? of_param->last : of_param->before;
  for (int i = 0; i < node->count; i++) {
    bool waits = !tn_op_is_source(tn_graph_node(s->graph, node->in[i])->op);
    if (waits && node->in[i] > after) after = node->in[i];
  }
  return 2 * (uint64_t)after + 1;
}

/* Windows that a product has made are folded at once, so that the two can go through their rows together:
 * the fold, and the views between, take the product's place. */
static void fold_at_once(const scheduler *s, uint64_t *key) {
  const tn_graph *graph = s->graph;
  for (tn_value v = 1; v < graph->nodes.count; v++) {
    if (graph->nodes.at[v].op != TN_OP_FOLD || graph->nodes.at[v].region != 0) continue;
    tn_value windows = graph->nodes.at[v].in[0];
    while (tn_op_sig_of(graph->nodes.at[windows].op)->kind == TN_KIND_VIEW)
      windows = graph->nodes.at[windows].in[0];
    if (graph->nodes.at[windows].op != TN_OP_MATMUL || graph->nodes.at[windows].region != 0) continue;
    for (tn_value moved = v; moved != windows; moved = graph->nodes.at[moved].in[0])
      key[moved] = key[windows];
  }
}

/* Relu's slope follows the product that it lets through, so that merge.c makes one kernel of the two. Else
 * what a parameter becomes, which waits for the last reader of the old one, would stand between. */
static void pass_at_once(const scheduler *s, uint64_t *key) {
  const tn_graph *graph = s->graph;
  const tn_kernel *fusions = s->plan->backend->fusions;
  if (!fusions || !fusions[TN_FUSION_RELU_SLOPE]) return;
  for (tn_value v = 1; v < graph->nodes.count; v++) {
    const tn_node *node = &graph->nodes.at[v];
    int passed = tn_plan_passed_by_relu_slope(node);
    if (passed < 0 || node->region != 0) continue;
    tn_value product = node->in[passed], made = node->in[1 - passed];
    if (graph->nodes.at[product].op != TN_OP_MATMUL || graph->nodes.at[product].region != 0) continue;
    if (key[made] < key[product]) key[v] = key[product];
  }
}

/* The last of the values that parameters wait for; 0: none. */
static tn_value guard_of(const scheduler *s) {
  const tn_plan_options *options = &s->plan->options;
  tn_value last = 0;
  for (size_t i = 0; options->guarded && i < s->graph->outputs.count; i++) {
    tn_value value = s->graph->outputs.at[i].value;
    if (options->placed[i] && value > last) last = value;
  }
  return last;
}

static bool decide_order(scheduler *s) {
  const tn_graph *graph = s->graph;
  const tn_region *top = &graph->regions.at[0];
  readers *found = find_readers(s);
  uint64_t *key = tn_arena_array(&s->plan->arena, graph->nodes.count, sizeof *key);
  ordered *items = tn_arena_array(&s->plan->arena, top->nodes.count + 1, sizeof *items);
  if (!found || !key || !items) return out_of_memory(s);

  for (tn_value v = 0; v < graph->nodes.count; v++) key[v] = 2 * (uint64_t)v;
  fold_at_once(s, key);
  pass_at_once(s, key);
  const uint64_t earliest = 2 * (uint64_t)guard_of(s) + 1;
  for (size_t p = 0; p < graph->params.count; p++) {
    tn_value update = update_of(s, p);
    if (update == TN_ERROR_VALUE || tn_graph_node(graph, update)->region != 0) continue;
    tn_op_kind kind = tn_op_sig_of(tn_graph_node(graph, update)->op)->kind;
    bool movable = kind == TN_KIND_ELEMENTWISE || kind == TN_KIND_MOVE;
    if (!movable || found[update].last != 0) continue;
    key[update] = update_key(s, update, &found[graph->params.at[p]]);
    if (key[update] < earliest) key[update] = earliest;
  }
  size_t count = 0;
  for (size_t i = 0; i < top->nodes.count; i++) {
    tn_value v = top->nodes.at[i];
    if (s->plan->needed[v]) items[count++] = (ordered){ key[v], v };
  }
  if (!sort_order(s, items, count)) return false;
  s->order = tn_arena_array(&s->plan->arena, count + 1, sizeof *s->order);
  if (!s->order) return out_of_memory(s);
  for (size_t i = 0; i < count; i++) s->order[i] = items[i].value;
  s->order_count = count;
  return true;
}

/* ---- updates ---- */

static int32_t last_fallible(const tn_plan *plan) {
  int32_t last = -1;
  for (size_t i = 0; i < plan->steps.count; i++) {
    if (plan->steps.at[i].fallible) last = (int32_t)i;
  }
  return last;
}

static bool writes_whole_storage(const tn_plan *plan, const tn_location *location) {
  const tn_storage *storage = &plan->storages.at[location->storage];
  return location->offset == 0 && tn_view_is_contiguous(&location->view) &&
         (size_t)tn_view_count(&location->view) * tn_dtype_bytes(location->view.dtype) == storage->bytes;
}

/* Whether the step that computes the update may write straight into the parameter. */
static bool can_write_over(const scheduler *s, const tn_location *update, int32_t param_storage,
                           int32_t fallible_until) {
  const tn_plan *plan = s->plan;
  const tn_storage *storage = &plan->storages.at[update->storage];
  if (storage->base != 0 || storage->output || !writes_whole_storage(plan, update)) return false;
  int32_t time = storage->first;
  const tn_step *step = &plan->steps.at[time];
  if (step->kind != TN_STEP_KERNEL || fallible_until > time) return false;
  int32_t last_read = plan->storages.at[param_storage].last;
  if (last_read > time) return false;
  for (int i = 0; i < step->call.count; i++) {
    if (plan->sites.at[step->first_view + (uint32_t)i].storage == param_storage &&
        !tn_plan_in_place(plan, step, i)) {
      return false;
    }
  }
  return true;
}

/* Values of old parameters that become new ones are read before anything is overwritten. */
static bool copy_aside(scheduler *s, tn_value update, tn_location *out) {
  return fresh_location(s, tn_graph_type(s->graph, update), out) &&
         push_copy(s, update, &s->plan->location[update], out);
}

static bool schedule_updates(scheduler *s) {
  tn_plan *plan = s->plan;
  size_t count = s->graph->params.count;
  tn_location *aside = tn_arena_array(&plan->arena, count + 1, sizeof *aside);
  bool *copied = tn_arena_array(&plan->arena, count + 1, sizeof *copied);
  if (!aside || !copied) return out_of_memory(s);
  int32_t fallible_until = last_fallible(plan);

  for (size_t p = 0; p < count; p++) {
    tn_value update = update_of(s, p);
    if (update != TN_ERROR_VALUE) touch(plan, plan->location[update].storage, TN_PLAN_END);
  }
  for (size_t p = 0; p < count; p++) {
    tn_value update = update_of(s, p);
    if (update == TN_ERROR_VALUE) continue;
    const tn_location *from = &plan->location[update];
    int32_t param = plan->location[s->graph->params.at[p]].storage;
    if (can_write_over(s, from, param, fallible_until)) {
      tn_storage *storage = &plan->storages.at[from->storage];
      storage->base = plan->storages.at[param].base;
      if (storage->first < plan->first_write) plan->first_write = storage->first;
      continue;
    }
    copied[p] = true;
    aside[p] = *from;
    if (plan->storages.at[from->storage].base != 0 && !copy_aside(s, update, &aside[p])) return false;
  }
  for (size_t p = 0; p < count; p++) {
    if (!copied[p]) continue;
    if (now(s) < plan->first_write) plan->first_write = now(s);
    if (!push_copy(s, update_of(s, p), &aside[p], &plan->location[s->graph->params.at[p]])) return false;
  }
  return true;
}

/* Outputs outlive the run, except those that only say what a parameter becomes. */
static bool keep_outputs(scheduler *s) {
  tn_plan *plan = s->plan;
  const tn_graph *graph = s->graph;
  bool *is_update = tn_arena_array(&plan->arena, graph->outputs.count + 1, sizeof *is_update);
  if (!is_update) return out_of_memory(s);
  for (size_t p = 0; p < graph->params.count && plan->options.updates; p++) {
    if (plan->options.updates[p] >= 0) is_update[plan->options.updates[p]] = true;
  }
  for (size_t i = 0; i < graph->outputs.count; i++) {
    const tn_location *location = &plan->location[graph->outputs.at[i].value];
    touch(plan, location->storage, TN_PLAN_END);
    if (!is_update[i]) plan->storages.at[location->storage].output = true;
  }
  return true;
}

/* A placed output is computed directly at its destination if it has its own storage, else copied
 * there. */
static bool place_output(scheduler *s, int index) {
  tn_plan *plan = s->plan;
  tn_value value = s->graph->outputs.at[index].value;
  const tn_location *from = &plan->location[value];
  tn_storage *storage = &plan->storages.at[from->storage];
  int32_t base = tn_plan_output_base(plan, index);
  if (storage->base == 0 && writes_whole_storage(plan, from)) {
    storage->base = base;
    s->outputs[index] = *from;
    return true;
  }
  tn_location *out = &s->outputs[index];
  if (!fresh_location(s, tn_graph_type(s->graph, value), out)) return false;
  plan->storages.at[out->storage].base = base;
  return push_copy(s, value, &plan->location[value], out);
}

static bool place_outputs(scheduler *s) {
  const bool *placed = s->plan->options.placed;
  size_t count = s->graph->outputs.count;
  s->outputs = tn_arena_array(&s->plan->arena, count + 1, sizeof *s->outputs);
  if (!s->outputs) return out_of_memory(s);
  for (size_t i = 0; i < count; i++) {
    s->outputs[i] = s->plan->location[s->graph->outputs.at[i].value];
    if (!placed || !placed[i]) continue;
    if (!place_output(s, (int)i)) return false;
    const tn_storage *storage = &s->plan->storages.at[s->outputs[i].storage];
    if (s->plan->options.guarded) s->plan->steps.at[storage->first].fallible = true;
  }
  return true;
}

static bool view_outputs(scheduler *s) {
  tn_plan *plan = s->plan;
  plan->output_view = tn_arena_array(&plan->arena, s->graph->outputs.count + 1, sizeof *plan->output_view);
  if (!plan->output_view) return out_of_memory(s);
  for (size_t i = 0; i < s->graph->outputs.count; i++) {
    plan->output_view[i] = tn_plan_add_view(plan, &s->outputs[i]);
    if (plan->output_view[i] < 0) return out_of_memory(s);
  }
  return true;
}

bool tn_plan_schedule(tn_plan *plan, tn_fault *fault) {
  scheduler s = { .plan = plan, .graph = plan->graph, .fault = fault };
  plan->location = tn_arena_array(&plan->arena, plan->graph->nodes.count, sizeof *plan->location);
  plan->needed = tn_arena_array(&plan->arena, plan->graph->nodes.count, sizeof *plan->needed);
  s.first_pick = tn_arena_array(&plan->arena, plan->graph->nodes.count, sizeof *s.first_pick);
  s.next_pick = tn_arena_array(&plan->arena, plan->graph->nodes.count, sizeof *s.next_pick);
  if (!plan->location || !plan->needed || !s.first_pick || !s.next_pick) return out_of_memory(&s);
  plan->first_write = TN_PLAN_END;
  mark_needed(&s);
  if (!tn_plan_find_windows(plan, fault)) return false;
  if (!locate_inputs(&s) || !decide_order(&s) || !push_enter(&s, 0)) return false;
  for (size_t i = 0; i < s.order_count; i++) {
    if (!schedule_node(&s, s.order[i])) return false;
  }
  return keep_outputs(&s) && place_outputs(&s) && schedule_updates(&s) && view_outputs(&s);
}
