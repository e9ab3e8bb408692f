/* plan/plan.c: makes, binds and runs plans.
 *
 * After scheduling and placing, every step has its views ready; only their
 * data pointers depend on where the block, the inputs and the parameters are.
 * Each base keeps a list of the views into it, so that binding updates only those views and running
 * only calls kernels. */
#include "plan/plan.h"

#include <string.h>

#include "plan/internal.h"

static void patch(tn_plan *plan, int32_t base) {
  char *data = plan->bases.at[base].data;
  for (int32_t v = plan->bases.at[base].sites; v >= 0; v = plan->sites.at[v].next) {
    const tn_view_site *site = &plan->sites.at[v];
    size_t offset = plan->storages.at[site->storage].offset + (size_t)site->offset;
    plan->views.at[v].data = data ? data + offset : NULL;
  }
}

static void link_views(tn_plan *plan) {
  for (size_t v = plan->sites.count; v-- > 0;) {
    tn_view_site *site = &plan->sites.at[v];
    tn_base *base = &plan->bases.at[plan->storages.at[site->storage].base];
    site->next = base->sites;
    base->sites = (int32_t)v;
  }
}

/* Of one step; of a step whose threads take bands of their own, for each of them. */
size_t tn_plan_scratch_of(const tn_plan *plan, const tn_step *step) {
  const tn_kernel_call *call = &step->call;
  if (step->kind != TN_STEP_KERNEL || !plan->backend->scratch) return 0;
  return tn_plan_rounded(plan->backend->scratch(plan->backend, call->op, call->attrs, call->in, call->count,
                                                call->out, call->threads));
}

static size_t scratch_needed(const tn_plan *plan) {
  size_t most = 0;
  tn_lanes *lanes = NULL;
  for (uint32_t i = 0, end = 0; i < plan->steps.count; i++) {
    const tn_step *step = &plan->steps.at[i];
    if (i >= end) lanes = NULL;
    if (step->lanes) lanes = step->lanes, end = step->band_end;
    size_t bytes = tn_plan_scratch_of(plan, step);
    if (lanes && bytes > lanes->scratch) lanes->scratch = bytes;
    if (lanes) bytes = lanes->scratch * (size_t)lanes->count;
    if (bytes > most) most = bytes;
  }
  return most;
}

static void connect_calls(tn_plan *plan) {
  for (size_t i = 0; i < plan->steps.count; i++) {
    tn_step *step = &plan->steps.at[i];
    if (step->kind != TN_STEP_KERNEL) continue;
    step->call.in = &plan->views.at[step->first_view];
    step->call.out = &plan->views.at[step->first_view + (uint32_t)step->call.count];
  }
}

static bool over_limit(const tn_plan *plan) {
  size_t limit = plan->options.memory_limit;
  return limit != 0 && (plan->block_bytes > limit || plan->scratch_bytes > limit - plan->block_bytes);
}

static bool get_memory(tn_plan *plan, tn_fault *fault) {
  if (plan->card) return tn_plan_get_card_memory(plan, fault);
  plan->scratch_bytes = scratch_needed(plan);
  if (over_limit(plan)) {
    fault->kind = TN_FAULT_MEMORY;
    return false;
  }
  if (plan->block_bytes > 0)
    plan->bases.at[0].data = tn_heap_alloc_aligned(plan->heap, plan->block_bytes, 64);
  if (plan->scratch_bytes > 0) plan->scratch = tn_heap_alloc_aligned(plan->heap, plan->scratch_bytes, 64);
  if ((plan->block_bytes > 0 && !plan->bases.at[0].data) || (plan->scratch_bytes > 0 && !plan->scratch)) {
    fault->kind = TN_FAULT_MEMORY;
    return false;
  }
  for (size_t i = 0; i < plan->steps.count; i++) plan->steps.at[i].call.scratch = plan->scratch;
  return true;
}

/* Where the back end has a kernel for just this call, with everything but the data known. */
static bool choose_kernels(tn_plan *plan, tn_fault *fault) {
  for (size_t i = 0; i < plan->steps.count && plan->backend->choose; i++) {
    tn_step *step = &plan->steps.at[i];
    if (step->kind != TN_STEP_KERNEL) continue;
    if (step->kernel != plan->backend->kernels[step->call.op]) continue; /* merged steps have chosen */
    tn_kernel kernel = plan->backend->choose(&step->call, &plan->arena, &step->call.kept);
    if (kernel) step->kernel = kernel;
  }
  if (plan->arena.failed) fault->kind = TN_FAULT_MEMORY;
  return !plan->arena.failed;
}

static bool make_bases(tn_plan *plan) {
  int outputs = plan->options.placed ? (int)plan->graph->outputs.count : 0;
  plan->const_base = tn_plan_output_base(plan, outputs);
  for (int32_t i = 0; i < plan->const_base; i++) {
    tn_base base = { .sites = -1 };
    if (!tn_vec_push(plan->heap, &plan->bases, base)) return false;
  }
  return true;
}

/* The last step that writes the output's memory; its bands run together. */
static uint32_t written_by(const tn_plan *plan, int output) {
  int32_t storage = plan->sites.at[plan->output_view[output]].storage;
  uint32_t last = 0, band_end = 0;
  for (uint32_t i = 0; i < plan->steps.count; i++) {
    const tn_step *step = &plan->steps.at[i];
    if (step->kind != TN_STEP_KERNEL && step->kind != TN_STEP_HOST) continue;
    if (step->bands > 1) band_end = step->band_end;
    if (tn_step_site(plan, step, step->call.count)->storage != storage) continue;
    last = i < band_end ? band_end - 1 : i;
  }
  return last;
}

static bool note_ready(tn_plan *plan, tn_fault *fault) {
  size_t count = plan->options.placed ? plan->graph->outputs.count : 0;
  plan->ready = tn_arena_array(&plan->arena, count + 1, sizeof *plan->ready);
  if (!plan->ready) fault->kind = TN_FAULT_MEMORY;
  for (size_t i = 0; plan->ready && i < count; i++) {
    if (!plan->options.placed[i]) continue;
    tn_ready ready = { written_by(plan, (int)i), (int)i };
    size_t at = plan->ready_count++;
    for (; at > 0 && plan->ready[at - 1].step > ready.step; at--) plan->ready[at] = plan->ready[at - 1];
    plan->ready[at] = ready;
  }
  return plan->ready != NULL;
}

static bool build(tn_plan *plan, tn_fault *fault) {
  if (plan->backend->card && !tn_plan_begin_card(plan, fault)) return false;
  if (!make_bases(plan)) {
    fault->kind = TN_FAULT_MEMORY;
    return false;
  }
  if (!tn_plan_schedule(plan, fault) || !tn_plan_merge_steps(plan, fault)) return false;
  /* A GPU has no near cache in which a band would stay. */
  if (!plan->card && !(tn_plan_flatten(plan, fault) && tn_plan_cut_bands(plan, fault))) return false;
  if (!tn_plan_place(plan, fault)) return false;
  connect_calls(plan);
  if (!get_memory(plan, fault) || !choose_kernels(plan, fault) || !note_ready(plan, fault)) return false;
  if (!tn_plan_make_lanes(plan, fault)) return false;
  link_views(plan);
  for (size_t b = 0; b < plan->bases.count; b++) patch(plan, (int32_t)b);
  return true;
}

tn_plan *tn_plan_new(tn_heap *heap, const tn_graph *graph, const tn_plan_options *options, tn_fault *fault) {
  tn_plan *plan = tn_heap_alloc(heap, sizeof *plan);
  *fault = (tn_fault){ 0 };
  if (!plan) {
    fault->kind = TN_FAULT_MEMORY;
    return NULL;
  }
  plan->heap = heap;
  plan->graph = graph;
  plan->backend = options->backend;
  plan->threads = options->threads > 0 ? options->threads : 1;
  plan->options = *options;
  tn_arena_init(&plan->arena, heap);
  if (!build(plan, fault)) {
    tn_plan_free(plan);
    return NULL;
  }
  plan->options.updates = NULL; /* borrowed for the call only */
  plan->options.placed = plan->options.ignored = NULL;
  *fault = (tn_fault){ 0 };
  return plan;
}

void tn_plan_free(tn_plan *plan) {
  if (!plan) return;
  if (plan->card) tn_plan_free_card(plan);
  if (plan->bases.count > 0 && !plan->card)
    tn_heap_free_aligned(plan->heap, plan->bases.at[0].data, plan->block_bytes);
  if (!plan->card) tn_heap_free_aligned(plan->heap, plan->scratch, plan->scratch_bytes);
  tn_vec_free(plan->heap, &plan->steps);
  tn_vec_free(plan->heap, &plan->storages);
  tn_vec_free(plan->heap, &plan->views);
  tn_vec_free(plan->heap, &plan->sites);
  tn_vec_free(plan->heap, &plan->bases);
  tn_vec_free(plan->heap, &plan->hosts);
  tn_vec_free(plan->heap, &plan->draws);
  tn_arena_free(&plan->arena);
  tn_heap_free(plan->heap, plan, sizeof *plan);
}

static void bind(tn_plan *plan, int32_t base, char *data) {
  if (plan->bases.at[base].data == data) return;
  plan->bases.at[base].data = data;
  patch(plan, base);
}

void tn_plan_bind_input(tn_plan *plan, int index, const tn_view *view) {
  if (plan->card)
    tn_plan_bind_card_input(plan, index, view);
  else
    bind(plan, tn_plan_input_base(plan, index), view->data);
}

void tn_plan_bind_param(tn_plan *plan, int index, const tn_view *view) {
  char *data = plan->card ? tn_plan_bind_card_param(plan, index, view) : view->data;
  bind(plan, tn_plan_param_base(plan, index), data);
}

void tn_plan_bind_output(tn_plan *plan, int index, const tn_view *view) {
  if (plan->card)
    tn_plan_bind_card_output(plan, index, view);
  else
    bind(plan, tn_plan_output_base(plan, index), view->data);
}

void tn_plan_set_effects(tn_plan *plan, const tn_effects *effects) { plan->effects = *effects; }
void tn_plan_set_watch(tn_plan *plan, const tn_plan_watch *watch) { plan->watch = *watch; }

void tn_plan_shift_draws(tn_plan *plan, uint64_t words) {
  if (plan->card) {
    tn_plan_shift_card_draws(plan, words);
    return;
  }
  for (size_t i = 0; i < plan->draws.count; i++) {
    tn_draw *draw = &plan->draws.at[i];
    draw->attrs->index = draw->index + words;
  }
}

bool tn_plan_stop(const tn_plan *plan, const tn_step *step, tn_fault_kind kind, tn_fault *fault) {
  const tn_node *node = tn_graph_node(plan->graph, step->node);
  if (fault->kind == TN_FAULT_NONE) fault->kind = kind;
  fault->op = node->op;
  fault->at = node->at;
  return false;
}

bool tn_plan_run_host(tn_plan *plan, const tn_step *step, tn_fault *fault) {
  const tn_node *node = tn_graph_node(plan->graph, step->node);
  const tn_effects *effects = &plan->effects;
  if (effects->call && effects->call(effects->context, node, &plan->views.at[step->first_view])) return true;
  return tn_plan_stop(plan, step, TN_FAULT_HOST, fault);
}

bool tn_plan_enter_region(tn_plan *plan, const tn_step *step, tn_fault *fault) {
  if (!plan->effects.entering) return true;
  if (plan->effects.entering(plan->effects.context, &plan->hosts.at[step->first_host], step->host_count))
    return true;
  fault->kind = TN_FAULT_HOST;
  fault->op = TN_OP_HOST;
  fault->at = plan->hosts.at[step->first_host]->at;
  return false;
}

static bool is_true(const tn_plan *plan, const tn_step *step) {
  return *(const uint8_t *)plan->views.at[step->first_view].data != 0;
}

/* Runs the step at i; nothing has been written that must not be when it is interrupted. */
static inline bool run_kernel(const tn_plan *plan, uint32_t i, tn_fault *fault) {
  tn_step *step = &plan->steps.at[i];
  bool may_stop = (int32_t)i + 1 < plan->first_write;
  step->call.fault = fault;
  step->call.stop = may_stop ? plan->heap->stop : NULL;
  if (!step->kernel(&step->call)) return tn_plan_stop(plan, step, TN_FAULT_INTERNAL, fault);
  if (may_stop && tn_stop_asked(plan->heap->stop))
    return tn_plan_stop(plan, step, TN_FAULT_INTERRUPTED, fault);
  return true;
}

/* Moves the views of some steps on by so many bands. */
static void advance(tn_plan *plan, uint32_t first, uint32_t end, int64_t bands) {
  const tn_step *last = &plan->steps.at[end - 1];
  uint32_t view_end = last->first_view + (uint32_t)last->call.count + 1;
  for (uint32_t v = plan->steps.at[first].first_view; v < view_end; v++)
    plan->views.at[v].data = (char *)plan->views.at[v].data + plan->sites.at[v].advance * bands;
}

static bool run_bands(tn_plan *plan, uint32_t first, tn_fault *fault) {
  if (plan->steps.at[first].lanes) return tn_plan_run_lanes(plan, first, fault);
  uint32_t end = plan->steps.at[first].band_end;
  int32_t bands = plan->steps.at[first].bands, done = 0;
  bool ok = true;
  for (; done < bands && ok; done++) {
    for (uint32_t i = first; i < end && ok; i++) ok = run_kernel(plan, i, fault);
    advance(plan, first, end, 1);
  }
  advance(plan, first, end, -done);
  return ok;
}

/* The steps from *at on, up to `end` or a little further where bands or a jump lead there. */
static bool run_steps(tn_plan *plan, uint32_t *at, uint32_t end, tn_fault *fault) {
  uint32_t i = *at;
  while (i < end) {
    tn_step *step = &plan->steps.at[i++];
    if (step->kind == TN_STEP_KERNEL) {
      if (step->bands > 1) {
        if (!run_bands(plan, i - 1, fault)) return false;
        i = step->band_end;
      } else if (!run_kernel(plan, i - 1, fault)) {
        return false;
      }
      continue;
    }
    switch (step->kind) {
      case TN_STEP_HOST:
        if (!tn_plan_run_host(plan, step, fault)) return false;
        break;
      case TN_STEP_ENTER:
        if (!tn_plan_enter_region(plan, step, fault)) return false;
        break;
      case TN_STEP_JUMP_UNLESS:
        if (!is_true(plan, step)) i = step->target;
        break;
      default: i = step->target; break;
    }
  }
  *at = i;
  return true;
}

void tn_plan_prepare(tn_plan *plan) {
  if (plan->card) tn_plan_prepare_on_card(plan);
}

bool tn_plan_finish(tn_plan *plan, tn_fault *fault) {
  return !plan->card || tn_plan_finish_on_card(plan, fault);
}

bool tn_plan_run(tn_plan *plan, tn_fault *fault) {
  tn_plan_prepare(plan);
  return tn_plan_start(plan, fault) && tn_plan_finish(plan, fault);
}

bool tn_plan_start(tn_plan *plan, tn_fault *fault) {
  uint32_t at = 0;
  *fault = (tn_fault){ 0 };
  if (plan->card) return tn_plan_start_on_card(plan, fault);
  for (size_t i = 0; i < plan->ready_count && plan->watch.ready; i++) {
    const tn_ready *ready = &plan->ready[i];
    if (!run_steps(plan, &at, ready->step + 1, fault)) return false;
    if (!plan->watch.ready(plan->watch.context, ready->output))
      return tn_plan_stop(plan, &plan->steps.at[ready->step], TN_FAULT_HOST, fault);
  }
  return run_steps(plan, &at, (uint32_t)plan->steps.count, fault);
}

tn_view tn_plan_output(const tn_plan *plan, int index) {
  return plan->card ? tn_plan_card_output(plan, index) : plan->views.at[plan->output_view[index]];
}

bool tn_plan_is_on_card(const tn_plan *plan) { return plan->card != NULL; }

tn_plan_stats tn_plan_stats_of(const tn_plan *plan) {
  return (tn_plan_stats){ plan->block_bytes, plan->scratch_bytes, plan->steps.count };
}

static void print_place(const tn_plan *plan, uint32_t view, tn_text *out) {
  const tn_view_site *site = &plan->sites.at[view];
  const tn_storage *storage = &plan->storages.at[site->storage];
  size_t inputs = plan->graph->inputs.count, params = plan->graph->params.count;
  if (storage->base == 0)
    tn_text_puts(out, "@");
  else if ((size_t)storage->base <= inputs)
    tn_text_puts(out, "input+");
  else if ((size_t)storage->base <= inputs + params)
    tn_text_puts(out, "param+");
  else if (storage->base < plan->const_base)
    tn_text_puts(out, "out+");
  else
    tn_text_puts(out, "const+");
  tn_text_uint(out, storage->offset + (size_t)site->offset);
}

/* Why a step of a plan on a GPU runs on the host. */
static void print_where(const tn_step *step, tn_text *out) {
  static const char *const reasons[] = {
    [TN_STEP_HOST] = "; on the CPU: its value comes from the host",
    [TN_STEP_ENTER] = "; on the CPU: it checks whether the host's values may be used",
    [TN_STEP_JUMP] = "",
    [TN_STEP_JUMP_UNLESS] = "; on the CPU: it decides which step is next",
  };
  if (step->kind != TN_STEP_KERNEL) tn_text_puts(out, reasons[step->kind]);
}

static void print_device(const tn_plan *plan, tn_text *out) {
  size_t kernels = 0, jumps = 0;
  for (size_t i = 0; i < plan->steps.count; i++) {
    kernels += plan->steps.at[i].kind == TN_STEP_KERNEL;
    jumps += plan->steps.at[i].kind == TN_STEP_JUMP;
  }
  tn_text_puts(out, "device cuda: steps on the GPU: ");
  tn_text_uint(out, kernels);
  tn_text_puts(out, ", on the CPU: ");
  tn_text_uint(out, plan->steps.count - kernels - jumps);
  tn_text_puts(out, tn_plan_is_recordable(plan) ? "; launched as one from the second run on\n"
                                                : "; launched one by one\n");
}

void tn_plan_print(const tn_plan *plan, tn_text *out) {
  static const char *const names[] = { "", "host", "enter", "jump", "unless" };
  for (size_t i = 0; i < plan->steps.count; i++) {
    const tn_step *step = &plan->steps.at[i];
    tn_text_uint(out, i);
    tn_text_puts(out, ": ");
    tn_text_puts(out, step->kind == TN_STEP_KERNEL ? tn_op_sig_of(step->call.op)->name : names[step->kind]);
    uint32_t views = step->kind == TN_STEP_KERNEL ? (uint32_t)step->call.count + 1
                     : step->kind == TN_STEP_ENTER || step->kind == TN_STEP_JUMP ? 0
                                                                                 : 1;
    for (uint32_t v = 0; v < views; v++) {
      tn_text_puts(out, v > 0 && v + 1 == views ? " -> " : " ");
      print_place(plan, step->first_view + v, out);
    }
    if (step->bands > 1) {
      tn_text_puts(out, " to ");
      tn_text_uint(out, step->band_end - 1);
      tn_text_puts(out, " in bands: ");
      tn_text_uint(out, (uint64_t)step->bands);
      if (step->lanes) tn_text_puts(out, ", each on one thread");
    }
    if (step->kind == TN_STEP_JUMP || step->kind == TN_STEP_JUMP_UNLESS) {
      tn_text_puts(out, " to ");
      tn_text_uint(out, step->target);
    }
    if (plan->card) print_where(step, out);
    tn_text_byte(out, '\n');
  }
  if (plan->card) print_device(plan, out);
}
