/* plan/card.c: a plan whose block lives on a card.
 *
 * The steps and their order are those of any plan; kernels go into the card's queue instead of being carried
 * out at once. What the host gives in a run (inputs, and how far draws are shifted) lies in one piece of
 * memory on either side, and so does what it gets back (the fault, and the outputs): a run is one copy there,
 * the kernels, and one copy back. Steady inputs are sent when they are bound. A plan without a condition is
 * recorded in its second run and from then on launched as one. Where the next inputs are taken while a run
 * goes on, the host has that memory twice, and a recording for each.
 *
 * Parameters that live on the card (backend/cuda/resident.h) are used where they are. Others are sent before
 * every run, and fetched after one that changes them. */
#include <string.h>

#include "backend/cuda/resident.h"
#include "plan/internal.h"

#define STAGED_LIMIT ((size_t)8 << 20) /* a larger input is sent from where it is */
#define RESULT_START tn_plan_rounded(sizeof(card_fault))
#define NOT_SHOWN    SIZE_MAX
#define OWN_SCRATCH ((size_t)256 << 10) /* a step that needs more shares it with others, and waits for them */

/* An input or a parameter. */
typedef struct {
  char *host;
  char *there;   /* of its own, on the card; NULL: the parameter lives there */
  size_t bytes, offset;
  bool staged;   /* goes with the others, from `offset` of what is given */
  bool steady;   /* sent once after it was bound */
  bool sent;
  bool updated;  /* the run changes it */
} carried;

struct tn_plan_card {
  tn_card *card;
  carried *inputs, *params;
  uint64_t shift;
  char *given, *staged[2]; /* on the card and on the host; the shift comes first */
  int filled, sent;        /* which of the host's the next run sends; which the last one did, or still does */
  bool running;            /* it was started and not finished */
  size_t given_bytes;
  char *results, *shown; /* on the card and on the host; the fault comes first */
  size_t result_bytes;
  size_t *output_at;     /* by output: where it is in the results; NOT_SHOWN: nobody looks */
  bool *placed;          /* by output: wanted in the caller's memory */
  char **wanted_at;      /* by output: that memory */
  char *constants;
  char *host_room;       /* for what the host computes in a run */
  size_t host_bytes;
  tn_card_recording *recordings[2]; /* for what is staged here, or there */
  bool recordable;
  bool serial;           /* steps are recorded one after another */
  uint64_t runs;
};

static bool no_memory(tn_fault *fault) {
  fault->kind = TN_FAULT_MEMORY;
  return false;
}

/* ---- before steps are made ---- */

static bool is_update(const tn_plan_options *options, size_t params, size_t output) {
  for (size_t p = 0; options->updates && p < params; p++)
    if (options->updates[p] == (int)output) return true;
  return false;
}

/* Every output that somebody looks at has its place among the results. */
bool tn_plan_begin_card(tn_plan *plan, tn_fault *fault) {
  const tn_graph *graph = plan->graph;
  size_t outputs = graph->outputs.count;
  tn_plan_card *c = tn_arena_new(&plan->arena, tn_plan_card);
  bool *shown = tn_arena_array(&plan->arena, outputs + 1, sizeof *shown);
  if (!c || !shown) return no_memory(fault);
  c->card = plan->backend->card;
  c->placed = tn_arena_array(&plan->arena, outputs + 1, sizeof *c->placed);
  c->output_at = tn_arena_array(&plan->arena, outputs + 1, sizeof *c->output_at);
  c->wanted_at = tn_arena_array(&plan->arena, outputs + 1, sizeof *c->wanted_at);
  c->inputs = tn_arena_array(&plan->arena, graph->inputs.count + 1, sizeof *c->inputs);
  c->params = tn_arena_array(&plan->arena, graph->params.count + 1, sizeof *c->params);
  if (plan->arena.failed) return no_memory(fault);
  for (size_t i = 0; i < outputs; i++) {
    bool ignored = plan->options.ignored && plan->options.ignored[i];
    c->placed[i] = plan->options.placed && plan->options.placed[i];
    shown[i] = c->placed[i] || !(ignored || is_update(&plan->options, graph->params.count, i));
  }
  for (size_t p = 0; p < graph->params.count && plan->options.updates; p++)
    c->params[p].updated = plan->options.updates[p] >= 0;
  plan->options.placed = shown;
  plan->card = c;
  return true;
}

/* ---- memory ---- */

static size_t type_bytes(const tn_type *type) {
  return (size_t)tn_shape_count(&type->shape) * tn_dtype_bytes(type->dtype);
}

static void lay_out(tn_plan *plan) {
  tn_plan_card *c = plan->card;
  const tn_graph *graph = plan->graph;
  c->given_bytes = tn_plan_rounded(sizeof c->shift);
  for (size_t i = 0; i < graph->inputs.count; i++) {
    carried *input = &c->inputs[i];
    input->bytes = type_bytes(tn_graph_type(graph, graph->inputs.at[i]));
    input->steady = plan->options.steady && plan->options.steady[i];
    input->staged = !input->steady && input->bytes <= STAGED_LIMIT;
    input->offset = c->given_bytes;
    if (input->staged) c->given_bytes += tn_plan_rounded(input->bytes);
  }
  c->result_bytes = RESULT_START;
  for (size_t i = 0; i < graph->outputs.count; i++) {
    c->output_at[i] = plan->options.placed[i] ? c->result_bytes : NOT_SHOWN;
    if (!plan->options.placed[i]) continue;
    c->result_bytes += tn_plan_rounded(type_bytes(tn_graph_type(graph, graph->outputs.at[i].value)));
  }
}

/* Inputs that are not sent with the others have a place of their own. */
static bool place_inputs(tn_plan *plan) {
  tn_plan_card *c = plan->card;
  for (size_t i = 0; i < plan->graph->inputs.count; i++) {
    carried *input = &c->inputs[i];
    if (!input->staged) input->there = tn_card_allocate(c->card, input->bytes);
    char *at = input->staged ? c->given + input->offset : input->there;
    if (!at) return false;
    plan->bases.at[tn_plan_input_base(plan, (int)i)].data = at;
  }
  return true;
}

static void place_outputs(tn_plan *plan) {
  const tn_plan_card *c = plan->card;
  for (size_t i = 0; i < plan->graph->outputs.count; i++)
    if (c->output_at[i] != NOT_SHOWN)
      plan->bases.at[tn_plan_output_base(plan, (int)i)].data = c->results + c->output_at[i];
}

/* What the plan has computed on the host when it was made, and literals. */
static bool send_constants(tn_plan *plan) {
  tn_plan_card *c = plan->card;
  size_t bytes = 0, first = (size_t)plan->const_base;
  size_t *length = tn_arena_array(&plan->arena, plan->bases.count + 1, sizeof *length);
  if (!length) return false;
  for (size_t s = 0; s < plan->storages.count; s++) {
    const tn_storage *storage = &plan->storages.at[s];
    if ((size_t)storage->base >= first) length[storage->base] = storage->bytes;
  }
  for (size_t b = first; b < plan->bases.count; b++) bytes += tn_plan_rounded(length[b]);
  c->constants = tn_card_allocate(c->card, bytes);
  char *at = c->constants;
  for (size_t b = first; at && b < plan->bases.count; b++) {
    if (!tn_card_put(c->card, at, plan->bases.at[b].data, length[b])) return false;
    plan->bases.at[b].data = at;
    at += tn_plan_rounded(length[b]);
  }
  return at && tn_card_wait(c->card, NULL, NULL);
}

bool tn_plan_is_recordable(const tn_plan *plan) {
  for (size_t i = 0; i < plan->steps.count; i++) {
    tn_step_kind kind = plan->steps.at[i].kind;
    if (kind != TN_STEP_KERNEL && kind != TN_STEP_JUMP) return false;
  }
  return true;
}

static bool make_host_room(tn_plan *plan) {
  tn_plan_card *c = plan->card;
  c->recordable = tn_plan_is_recordable(plan);
  for (size_t i = 0; i < plan->steps.count; i++) {
    const tn_step *step = &plan->steps.at[i];
    if (step->kind != TN_STEP_HOST) continue;
    const tn_view *view = tn_step_view(plan, step, 0);
    size_t bytes = (size_t)tn_view_count(view) * tn_dtype_bytes(view->dtype);
    if (bytes > c->host_bytes) c->host_bytes = bytes;
  }
  if (c->host_bytes > 0) c->host_room = tn_heap_alloc_aligned(plan->heap, c->host_bytes, 64);
  return c->host_bytes == 0 || c->host_room;
}

/* Offsets for now: what is shared comes first. */
static void lay_out_scratch(tn_plan *plan) {
  size_t shared = 0, own = 0;
  for (size_t i = 0; i < plan->steps.count; i++) {
    tn_step *step = &plan->steps.at[i];
    step->scratch = tn_plan_scratch_of(plan, step);
    if (step->scratch > OWN_SCRATCH && step->scratch > shared) shared = step->scratch;
  }
  for (size_t i = 0; i < plan->steps.count; i++) {
    tn_step *step = &plan->steps.at[i];
    bool shares = step->scratch == 0 || step->scratch > OWN_SCRATCH;
    step->scratch_at = shares ? 0 : shared + own;
    if (!shares) own += step->scratch;
  }
  plan->scratch_bytes = shared + own;
}

bool tn_plan_get_card_memory(tn_plan *plan, tn_fault *fault) {
  tn_plan_card *c = plan->card;
  lay_out(plan);
  lay_out_scratch(plan);
  c->given = tn_card_allocate(c->card, c->given_bytes);
  c->staged[0] = tn_card_host_allocate(c->card, c->given_bytes);
  if (plan->options.ahead) c->staged[1] = tn_card_host_allocate(c->card, c->given_bytes);
  c->results = tn_card_allocate(c->card, c->result_bytes);
  c->shown = tn_card_host_allocate(c->card, c->result_bytes);
  plan->bases.at[0].data = tn_card_allocate(c->card, plan->block_bytes);
  plan->scratch = tn_card_allocate(c->card, plan->scratch_bytes);
  bool ok = c->given && c->staged[0] && (c->staged[1] || !plan->options.ahead) && c->results && c->shown &&
            plan->bases.at[0].data && plan->scratch && place_inputs(plan) && send_constants(plan) &&
            tn_card_clear(c->card, c->results, RESULT_START);
  if (!ok) return tn_card_fail(c->card, fault);
  if (!make_host_room(plan)) return no_memory(fault);
  place_outputs(plan);
  for (size_t i = 0; i < plan->steps.count; i++) {
    plan->steps.at[i].call.scratch = plan->scratch + plan->steps.at[i].scratch_at;
    plan->steps.at[i].call.queue = tn_card_queue_of(c->card);
  }
  return true;
}

static void forget_recordings(tn_plan_card *c) {
  for (int i = 0; i < 2; i++) {
    tn_card_forget(c->card, c->recordings[i]);
    c->recordings[i] = NULL;
  }
}

void tn_plan_free_card(tn_plan *plan) {
  tn_plan_card *c = plan->card;
  if (c->running) (void)tn_card_wait(c->card, NULL, NULL);
  forget_recordings(c);
  for (size_t i = 0; c->inputs && i < plan->graph->inputs.count; i++)
    tn_card_release(c->card, c->inputs[i].there);
  for (size_t i = 0; c->params && i < plan->graph->params.count; i++)
    tn_card_release(c->card, c->params[i].there);
  tn_card_release(c->card, c->given);
  for (int i = 0; i < 2; i++) tn_card_host_release(c->card, c->staged[i]);
  tn_card_release(c->card, c->results);
  tn_card_host_release(c->card, c->shown);
  tn_card_release(c->card, c->constants);
  if (plan->bases.count > 0) tn_card_release(c->card, plan->bases.at[0].data);
  tn_card_release(c->card, plan->scratch);
  tn_heap_free_aligned(plan->heap, c->host_room, c->host_bytes);
}

/* ---- binding ---- */

void tn_plan_bind_card_input(tn_plan *plan, int index, const tn_view *view) {
  plan->card->inputs[index].host = view->data;
  plan->card->inputs[index].sent = false;
}

void tn_plan_bind_card_output(tn_plan *plan, int index, const tn_view *view) {
  plan->card->wanted_at[index] = view->data;
}

/* One that has no place on the card gets it before the next run, which may fail. */
char *tn_plan_bind_card_param(tn_plan *plan, int index, const tn_view *view) {
  tn_plan_card *c = plan->card;
  carried *param = &c->params[index];
  char *lives = tn_card_find_resident(c->card, view->data);
  param->host = lives ? NULL : view->data;
  param->bytes = (size_t)tn_view_count(view) * tn_dtype_bytes(view->dtype);
  if (!lives && !param->there) param->there = tn_card_allocate(c->card, param->bytes);
  char *at = lives ? lives : param->there;
  if (at != plan->bases.at[tn_plan_param_base(plan, index)].data) forget_recordings(c);
  return at;
}

void tn_plan_shift_card_draws(tn_plan *plan, uint64_t words) { plan->card->shift = words; }

tn_view tn_plan_card_output(const tn_plan *plan, int index) {
  const tn_plan_card *c = plan->card;
  const tn_type *type = tn_graph_type(plan->graph, plan->graph->outputs.at[index].value);
  char *at = c->output_at[index] == NOT_SHOWN ? NULL : c->shown + c->output_at[index];
  return tn_view_make(at, type->dtype, &type->shape);
}

/* ---- running ---- */

/* Into the memory that a run which goes on does not send. */
void tn_plan_prepare_on_card(tn_plan *plan) {
  tn_plan_card *c = plan->card;
  c->filled = c->running && plan->options.ahead ? 1 - c->sent : c->sent;
  char *to = c->staged[c->filled];
  memcpy(to, &c->shift, sizeof c->shift);
  for (size_t i = 0; i < plan->graph->inputs.count; i++) {
    const carried *input = &c->inputs[i];
    if (input->host && input->staged && input->bytes > 0)
      memcpy(to + input->offset, input->host, input->bytes);
  }
}

/* Inputs that are large or steady, and parameters that do not live on the card. */
static bool send_values(tn_plan *plan) {
  tn_plan_card *c = plan->card;
  bool ok = tn_card_enter(c->card) && tn_card_settle(c->card);
  for (size_t i = 0; ok && i < plan->graph->inputs.count; i++) {
    carried *input = &c->inputs[i];
    if (!input->host || input->staged || (input->steady && input->sent)) continue;
    ok = tn_card_put(c->card, input->there, input->host, input->bytes);
    input->sent = ok;
  }
  for (size_t i = 0; ok && i < plan->graph->params.count; i++) {
    const carried *param = &c->params[i];
    if (!param->host) continue;
    ok = param->there && tn_card_put(c->card, param->there, param->host, param->bytes);
  }
  return ok;
}

/* The first fault that kernels have found becomes that of its step. */
static bool look_for_fault(tn_plan *plan, tn_fault *fault) {
  tn_plan_card *c = plan->card;
  card_fault found;
  memcpy(&found, c->shown, sizeof found);
  if (tn_card_fault_of(&found, fault)) return true;
  tn_card_clear(c->card, c->results, sizeof found);
  if (fault->kind == TN_FAULT_INTERRUPTED) *fault = (tn_fault){ .kind = TN_FAULT_INTERRUPTED };
  return tn_plan_stop(plan, &plan->steps.at[found.step], TN_FAULT_INTERNAL, fault);
}

/* Fetches `bytes` of the results and looks whether all went well. */
static bool wait_for_results(tn_plan *plan, size_t bytes, tn_fault *fault) {
  tn_plan_card *c = plan->card;
  bool may_stop = plan->first_write == TN_PLAN_END;
  if (!c->recordings[c->sent] || bytes < c->result_bytes) tn_card_get(c->card, c->shown, c->results, bytes);
  if (!tn_card_wait(c->card, plan->heap->stop, may_stop ? (card_fault *)c->results : NULL))
    return tn_card_fail(c->card, fault);
  return look_for_fault(plan, fault);
}

static bool queue_kernel(tn_plan *plan, uint32_t i, tn_fault *fault) {
  tn_step *step = &plan->steps.at[i];
  step->call.fault = fault;
  step->call.queue->step = i;
  if (step->kernel(&step->call)) return true;
  if (tn_card_failure(plan->card->card)) tn_card_fail(plan->card->card, fault);
  return tn_plan_stop(plan, step, TN_FAULT_INTERNAL, fault);
}

/* The host computes in memory of its own. */
static bool run_host_step(tn_plan *plan, const tn_step *step, tn_fault *fault) {
  tn_plan_card *c = plan->card;
  tn_view *view = &plan->views.at[step->first_view];
  char *there = view->data;
  view->data = c->host_room;
  bool ok = tn_plan_run_host(plan, step, fault);
  view->data = there;
  if (!ok) return false;
  size_t bytes = (size_t)tn_view_count(view) * tn_dtype_bytes(view->dtype);
  if (tn_card_put(c->card, there, c->host_room, bytes) && tn_card_wait(c->card, NULL, NULL)) return true;
  return tn_card_fail(c->card, fault);
}

static bool read_condition(tn_plan *plan, const tn_step *step, bool *truth, tn_fault *fault) {
  tn_plan_card *c = plan->card;
  uint8_t byte = 0;
  tn_card_get(c->card, &byte, plan->views.at[step->first_view].data, 1);
  if (!wait_for_results(plan, sizeof(card_fault), fault)) return false;
  *truth = byte != 0;
  return true;
}

static bool queue_steps(tn_plan *plan, tn_fault *fault) {
  for (uint32_t i = 0; i < plan->steps.count;) {
    tn_step *step = &plan->steps.at[i++];
    bool ok = true, truth = true;
    switch (step->kind) {
      case TN_STEP_KERNEL: ok = queue_kernel(plan, i - 1, fault); break;
      case TN_STEP_HOST: ok = run_host_step(plan, step, fault); break;
      case TN_STEP_ENTER: ok = tn_plan_enter_region(plan, step, fault); break;
      case TN_STEP_JUMP_UNLESS:
        ok = read_condition(plan, step, &truth, fault);
        if (!truth) i = step->target;
        break;
      case TN_STEP_JUMP: i = step->target; break;
    }
    if (!ok) return false;
    if ((int32_t)i < plan->first_write && !plan->card->recordable && tn_stop_asked(plan->heap->stop))
      return tn_plan_stop(plan, step, TN_FAULT_INTERRUPTED, fault);
  }
  return true;
}

/* Everything that is the same in every run. The queue's fault and shift are the plan's own for now. */
static bool queue_run(tn_plan *plan, bool (*queue_them)(tn_plan *, tn_fault *), tn_fault *fault) {
  tn_plan_card *c = plan->card;
  tn_card_queue *queue = tn_card_queue_of(c->card);
  const tn_card_queue before = *queue;
  queue->fault = (card_fault *)c->results;
  queue->shift = (const uint64_t *)c->given;
  bool ok = tn_card_put(c->card, c->given, c->staged[c->sent], c->given_bytes) ||
            tn_card_fail(c->card, fault);
  ok = ok && queue_them(plan, fault);
  queue->fault = before.fault;
  queue->shift = before.shift;
  return ok;
}

/* ---- recording ---- */

/* Steps that wait only for what they need. */
typedef struct {
  tn_plan *plan;
  tn_order *order;
  tn_card_node *start;   /* what the host gives is there */
  tn_card_node **nodes;  /* by step; NULL: it queues nothing */
  tn_card_node **after;  /* what the next one waits for */
  bool *does, *awaited;  /* by step: there is a node; another waits for it */
  uint32_t *waits;
} side_by_side;

static bool make_room(side_by_side *s, tn_arena *arena) {
  size_t count = s->plan->steps.count + 1;
  s->nodes = tn_arena_array(arena, count, sizeof *s->nodes);
  s->after = tn_arena_array(arena, count, sizeof *s->after);
  s->does = tn_arena_array(arena, count, sizeof *s->does);
  s->awaited = tn_arena_array(arena, count, sizeof *s->awaited);
  s->waits = tn_arena_array(arena, count, sizeof *s->waits);
  return !arena->failed;
}

static bool queue_step(side_by_side *s, uint32_t i, tn_fault *fault) {
  tn_card *card = s->plan->card->card;
  if (s->plan->steps.at[i].kind != TN_STEP_KERNEL) return true;
  size_t count = tn_order_waits(s->order, i, s->does, s->waits);
  for (size_t k = 0; k < count; k++) {
    s->after[k] = s->nodes[s->waits[k]];
    s->awaited[s->waits[k]] = true;
  }
  if (count == 0) s->after[count++] = s->start;
  bool ok = tn_card_queue_after(card, s->after, count) && queue_kernel(s->plan, i, fault) &&
            tn_card_queued(card, &s->nodes[i]);
  s->does[i] = s->nodes[i] != NULL;
  return ok;
}

/* All steps; then what comes next waits for all of them. */
static bool queue_all(side_by_side *s, tn_fault *fault) {
  tn_card *card = s->plan->card->card;
  size_t ends = 0;
  bool ok = tn_card_queued(card, &s->start) && s->start;
  for (uint32_t i = 0; ok && i < s->plan->steps.count; i++) ok = queue_step(s, i, fault);
  for (uint32_t i = 0; ok && i < s->plan->steps.count; i++)
    if (s->does[i] && !s->awaited[i]) s->after[ends++] = s->nodes[i];
  if (ends == 0) s->after[ends++] = s->start;
  return ok && tn_card_queue_after(card, s->after, ends);
}

static bool queue_side_by_side(tn_plan *plan, tn_fault *fault) {
  side_by_side s = { .plan = plan, .order = tn_order_new(plan, plan->card->results) };
  tn_arena arena;
  tn_arena_init(&arena, plan->heap);
  bool ok = s.order && make_room(&s, &arena) && queue_all(&s, fault);
  tn_arena_free(&arena);
  tn_order_free(s.order);
  return ok;
}

static bool record_as(tn_plan *plan, bool (*queue_them)(tn_plan *, tn_fault *), tn_fault *fault) {
  tn_plan_card *c = plan->card;
  if (!tn_card_record(c->card)) return tn_card_fail(c->card, fault);
  bool ok = queue_run(plan, queue_them, fault) && tn_card_get(c->card, c->shown, c->results, c->result_bytes);
  if (!ok) return tn_card_unrecord(c->card), false;
  c->recordings[c->sent] = tn_card_recorded(c->card);
  return c->recordings[c->sent] || tn_card_fail(c->card, fault);
}

/* Where the steps cannot be ordered they wait for each other. */
static bool record(tn_plan *plan, tn_fault *fault) {
  tn_plan_card *c = plan->card;
  if (!c->serial && record_as(plan, queue_side_by_side, fault)) return true;
  if (fault->kind != TN_FAULT_NONE) return false;
  if (tn_card_failure(c->card)) return tn_card_fail(c->card, fault);
  c->serial = true;
  return record_as(plan, queue_steps, fault);
}

/* The first run is not recorded: many plans run once. */
static bool start(tn_plan *plan, tn_fault *fault) {
  tn_plan_card *c = plan->card;
  c->sent = c->filled;
  if (!send_values(plan)) return tn_card_fail(c->card, fault);
  if (!c->recordable || c->runs++ == 0) return queue_run(plan, queue_steps, fault);
  if (!c->recordings[c->sent] && !record(plan, fault)) return false;
  return tn_card_replay(c->card, c->recordings[c->sent]) || tn_card_fail(c->card, fault);
}

/* Parameters that the run has changed and that do not live on the card. */
static bool fetch_params(tn_plan *plan) {
  const tn_plan_card *c = plan->card;
  bool any = false;
  for (size_t i = 0; i < plan->graph->params.count; i++) {
    const carried *param = &c->params[i];
    if (!param->updated || !param->host) continue;
    if (!tn_card_get(c->card, param->host, param->there, param->bytes)) return false;
    any = true;
  }
  return !any || tn_card_wait(c->card, NULL, NULL);
}

static void hand_over(tn_plan *plan, int output) {
  const tn_plan_card *c = plan->card;
  const tn_type *type = tn_graph_type(plan->graph, plan->graph->outputs.at[output].value);
  size_t bytes = type_bytes(type);
  if (c->wanted_at[output] && bytes > 0)
    memcpy(c->wanted_at[output], c->shown + c->output_at[output], bytes);
}

/* The results are here: those that the caller has a place for go there, in the order of their steps. */
static bool give_results(tn_plan *plan, tn_fault *fault) {
  for (size_t i = 0; i < plan->ready_count; i++) {
    int output = plan->ready[i].output;
    if (!plan->card->placed[output]) continue;
    hand_over(plan, output);
    if (plan->watch.ready && !plan->watch.ready(plan->watch.context, output))
      return tn_plan_stop(plan, &plan->steps.at[plan->ready[i].step], TN_FAULT_HOST, fault);
  }
  return true;
}

bool tn_plan_start_on_card(tn_plan *plan, tn_fault *fault) {
  tn_plan_card *c = plan->card;
  c->running = start(plan, fault);
  if (!c->running) (void)tn_card_wait(c->card, NULL, NULL);
  return c->running;
}

bool tn_plan_finish_on_card(tn_plan *plan, tn_fault *fault) {
  tn_plan_card *c = plan->card;
  c->running = false;
  if (!wait_for_results(plan, c->result_bytes, fault)) return false;
  if (!fetch_params(plan)) return tn_card_fail(c->card, fault);
  return give_results(plan, fault);
}
