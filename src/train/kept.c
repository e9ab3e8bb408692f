/* train/kept.c: the plan for one position of a sequence, and its KV cache. */
#include "train/kept.h"

bool tn_kept_derive(tn_kept *kept, tn_trained *trained, tn_graph *graph, size_t sequence) {
  bool ok = tn_opt_fold(graph, trained->options->evaluator) &&
            tn_opt_one_place(graph, sequence, &kept->derived);
  for (size_t i = 0; ok && i < kept->derived.kept.count; i++)
    ok = tn_graph_output(graph, 0, kept->derived.kept.at[i]);
  return ok || tn_trained_no_memory(trained);
}

/* What is kept is a parameter whose next value is an output. */
static int *updates_of(const tn_kept *kept, tn_trained *trained) {
  size_t own = trained->program.specs.param_count, count = kept->derived.kept.count;
  int *updates = tn_arena_array(trained->arena, own + count + 1, sizeof *updates);
  for (size_t i = 0; updates && i < own + count; i++) updates[i] = i < own ? -1 : (int)(1 + i - own);
  return updates;
}

static bool make_values(tn_kept *kept, tn_trained *trained) {
  const tn_graph *step = &kept->derived.step;
  size_t own = trained->program.specs.param_count, count = kept->derived.kept.count;
  kept->values = tn_arena_array(trained->arena, count + 1, sizeof *kept->values);
  if (!kept->values) return tn_trained_no_memory(trained);
  for (size_t i = 0; i < count; i++) {
    const tn_type *type = tn_graph_type(step, step->params.at[own + i]);
    if (!tn_tensor_zeros(trained->host->heap, type->dtype, &type->shape, &kept->values[i]))
      return tn_trained_no_memory(trained);
  }
  return true;
}

static bool make_sequence(tn_kept *kept, tn_trained *trained, size_t sequence) {
  const tn_graph *step = &kept->derived.step;
  tn_heap *heap = trained->host->heap;
  const tn_type *token = tn_graph_type(step, step->inputs.at[sequence]);
  const tn_type *number = tn_graph_type(step, step->inputs.at[step->inputs.count - 1]);
  bool ok = tn_tensor_zeros(heap, token->dtype, &token->shape, &kept->token) &&
            tn_tensor_zeros(heap, number->dtype, &number->shape, &kept->number);
  return ok || tn_trained_no_memory(trained);
}

static bool make_resident(tn_kept *kept, tn_trained *trained) {
  tn_card *card = trained->options->backend->card;
  tn_fault fault;
  if (!tn_plan_is_on_card(kept->plan)) return true;
  kept->resident =
      tn_resident_new(trained->host->heap, card, kept->values, (int)kept->derived.kept.count);
  return kept->resident || (tn_card_fail(card, &fault), tn_trained_fault(trained, &fault));
}

bool tn_kept_plan(tn_kept *kept, tn_trained *trained, const tn_tensor *inputs, size_t sequence) {
  size_t inputs_count = trained->program.specs.input_count, own = trained->program.specs.param_count;
  if (!kept->derived.derived) return true;
  int *updates = updates_of(kept, trained);
  if (!updates) return tn_trained_no_memory(trained);
  if (!make_values(kept, trained) || !make_sequence(kept, trained, sequence)) return false;
  kept->plan = tn_trained_plan(trained, &kept->derived.step, updates);
  if (!kept->plan || !make_resident(kept, trained)) return false;
  for (size_t i = 0; i < inputs_count; i++) {
    const tn_tensor *input = i == sequence ? &kept->token : &inputs[i];
    if (input->buffer) tn_plan_bind_input(kept->plan, (int)i, &input->view);
  }
  tn_plan_bind_input(kept->plan, (int)inputs_count, &kept->number.view);
  for (size_t i = 0; i < kept->derived.kept.count; i++)
    tn_plan_bind_param(kept->plan, (int)(own + i), &kept->values[i].view);
  return true;
}

void tn_kept_free(tn_kept *kept, tn_heap *heap) {
  tn_plan_free(kept->plan);
  tn_resident_free(kept->resident);
  for (size_t i = 0; kept->values && i < kept->derived.kept.count; i++)
    if (kept->values[i].buffer) tn_tensor_unref(&kept->values[i]);
  if (kept->token.buffer) tn_tensor_unref(&kept->token);
  if (kept->number.buffer) tn_tensor_unref(&kept->number);
  tn_one_place_free(heap, &kept->derived);
}

void tn_kept_fill(tn_kept *kept, const tn_plan *window, size_t places) {
  if (!kept->plan) return;
  for (size_t i = 0; i < kept->derived.kept.count; i++) {
    tn_view all = tn_plan_output(window, (int)(1 + i));
    tn_view_copy(&kept->values[i].view, &all);
  }
  if (kept->resident) tn_resident_wrote(kept->resident);
  kept->places = places;
}

bool tn_kept_step(tn_kept *kept, const tn_trained *trained, int32_t token) {
  tn_fault fault;
  tn_view_set_f64(&kept->token.view, 0, token);
  tn_view_set_f64(&kept->number.view, 0, (double)kept->places);
  if (!tn_plan_run(kept->plan, &fault)) return tn_trained_fault(trained, &fault);
  if (kept->resident) tn_resident_computed(kept->resident);
  kept->places++;
  return true;
}
