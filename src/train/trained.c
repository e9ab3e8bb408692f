/* train/trained.c: loads a program with the parameters of a run. */
#include "train/trained.h"

bool tn_trained_no_memory(const tn_trained *trained) {
  return tn_report_memory(trained->host->diags, trained->host->heap, TN_NOWHERE, "the answers");
}

bool tn_trained_fault(const tn_trained *trained, const tn_fault *fault) {
  return trained->program.doors->report_fault(trained->program.model, fault);
}

tn_str tn_trained_input(const tn_trained *trained, size_t input) {
  return tn_names_text(trained->host->names, trained->program.specs.inputs[input].name);
}

bool tn_trained_is_given(const tn_trained *trained, size_t input) {
  const tn_host *host = trained->host;
  return tn_given_find(host->inputs, host->input_count, tn_trained_input(trained, input)) != NULL;
}

bool tn_trained_facts(tn_host *host, const tn_trained_options *options, const tn_specs *specs,
                      tn_arena *arena, tn_facts *out) {
  const char *problem = tn_facts_read(host->heap, options->facts, specs, host->names, arena, out);
  if (!problem) return true;
  if (problem == tn_facts_no_memory)
    return tn_report_memory(host->diags, host->heap, TN_NOWHERE, "the run's data.json");
  return tn_report(host->diags, TN_DIAG_E_FILE_CORRUPT, TN_NOWHERE, TN_STR("path", options->facts_path),
                   TN_STR("format", "data.json"), TN_STR("reason", problem));
}

bool tn_trained_open(tn_trained *trained, tn_unit *unit, const tn_training_doors *doors,
                     const tn_trained_options *options, tn_arena *arena) {
  *trained = (tn_trained){ .host = unit->host, .options = options, .arena = arena };
  if (!doors->open_trained(unit, &trained->program)) return false;
  trained->program.doors = doors;
  return tn_trained_facts(unit->host, options, &trained->program.specs, arena, &trained->facts) &&
         doors->seal(trained->program.model);
}

void tn_trained_close(tn_trained *trained) {
  if (!trained->program.doors) return; /* it was never opened */
  tn_resident_free(trained->resident);
  for (size_t i = 0; trained->params && i < trained->program.specs.param_count; i++)
    tn_tensor_unref(&trained->params[i]);
  tn_facts_free(&trained->facts);
  trained->program.doors->close(trained->program.model);
}

bool tn_trained_params(tn_trained *trained, const tn_sizes *sizes) {
  const tn_training *program = &trained->program;
  if (trained->params) return true;
  tn_tensor *params = tn_arena_array(trained->arena, program->specs.param_count + 1, sizeof *params);
  if (!params) return tn_trained_no_memory(trained);
  if (!program->doors->init_params(program->model, sizes, params)) return false;
  trained->params = params;
  return true;
}

/* They are copied to a GPU once, for all plans and runs. */
static bool make_resident(tn_trained *trained, tn_card *card) {
  tn_fault fault;
  if (!card || trained->resident) return true;
  trained->resident = tn_resident_new(trained->host->heap, card, trained->params,
                                      (int)trained->program.specs.param_count);
  return trained->resident || (tn_card_fail(card, &fault), tn_trained_fault(trained, &fault));
}

tn_plan *tn_trained_plan(tn_trained *trained, tn_graph *graph, const int *updates) {
  const tn_trained_options *options = trained->options;
  tn_plan_options wanted = { .backend = options->backend, .threads = options->threads, .updates = updates };
  tn_fault fault;
  if (!tn_opt_run(graph, options->passes, options->evaluator)) return tn_trained_no_memory(trained), NULL;
  wanted.backend = tn_plan_backend(wanted.backend, graph, wanted.threads, 1);
  if (!make_resident(trained, wanted.backend->card)) return NULL;
  tn_plan *plan = tn_plan_new(trained->host->heap, graph, &wanted, &fault);
  if (!plan) return tn_trained_fault(trained, &fault), NULL;
  for (size_t i = 0; i < trained->program.specs.param_count; i++)
    tn_plan_bind_param(plan, (int)i, &trained->params[i].view);
  tn_plan_set_effects(plan, &trained->program.effects);
  return plan;
}
