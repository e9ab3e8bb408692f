/* lang/ail/unit.c: what a model declares, and its doors for training, step by step and as a whole. */
#include "lang/ail/doors.h"

#include "lang/ail/internal.h"

/* ---- what it declares ---- */

static tn_specs specs_of(const tn_ail *program) {
  return (tn_specs){ program->inputs, program->input_count, program->params, program->param_count };
}

const tn_specs *tn_ail_unit_specs(tn_unit *unit) {
  tn_ail_unit *self = (tn_ail_unit *)unit;
  if (!self->program) self->program = tn_ail_compile(unit->host, unit->file);
  if (!self->program) return NULL;
  self->specs = specs_of(self->program);
  return &self->specs;
}

void tn_ail_unit_drop(tn_unit *unit) { tn_ail_free(((tn_ail_unit *)unit)->program); }

/* ---- lowering ---- */

static bool take_inputs(const tn_ail *program, tn_tensor *inputs) {
  for (size_t i = 0; i < program->input_count; i++) {
    if (!tn_ail_given(program, i))
      return tn_host_usage(program->host, "input ", tn_ail_text_of(program, program->inputs[i].name),
                           " has no value; a step is trained on what is given");
    if (!tn_ail_supplied(program, i, &inputs[i])) return false;
  }
  return true;
}

static bool lower(tn_ail *program, tn_arena *arena, tn_lowered *out) {
  tn_size_request request = { 0 };
  tn_sizes sizes;
  out->has_options = true;
  out->options = program->train.options;
  out->options.shards = 1;
  return tn_ail_require_loss(program) && tn_ail_seal(program) &&
         tn_ail_size(program, &request, arena, &sizes) && take_inputs(program, out->inputs) &&
         tn_ail_init_params(program, &sizes, out->params) &&
         tn_ail_lower(program, &sizes, TN_LOWER_TRAINING, out) && tn_ail_allow(program, &out->graph);
}

bool tn_ail_unit_lower(tn_unit *unit, const char *loss, tn_lowered *out) {
  tn_host *host = unit->host;
  tn_ail *program = tn_ail_compile(host, unit->file);
  if (!program) return false;
  tn_arena arena;
  tn_arena_init(&arena, host->heap);
  /* One more input: the key of dropout, which a training sets. */
  bool room = tn_lowered_init(out, host->heap, program->input_count + 1, program->param_count);
  bool ok = loss   ? tn_host_usage(host, "", TN_LIT("the train block"), " of an .ail program names its loss")
            : room ? lower(program, &arena, out)
                   : tn_ail_out_of_memory(program);
  if (room && !ok) tn_lowered_free(out, host->heap);
  tn_arena_free(&arena);
  tn_ail_free(program);
  return ok;
}

/* ---- whole trainings ---- */

static bool open_training(tn_unit *unit, tn_training *out) {
  tn_ail *program = tn_ail_compile(unit->host, unit->file);
  bool ok = program && tn_ail_check_given(program, TN_AIL_TO_TRAIN) && tn_ail_require_loss(program) &&
            tn_ail_allow_dataset(program);
  if (!ok) {
    tn_ail_free(program);
    return false;
  }
  *out = (tn_training){ .model = program,
                        .specs = specs_of(program),
                        .train = &program->train,
                        .eval = program->eval_fields ? &program->eval : NULL,
                        .dataset = program->dataset_fields ? &program->dataset : NULL,
                        .effects = program->effects };
  return true;
}

const tn_training_doors tn_ail_training = { .open = open_training,
                                            .close = tn_ail_free,
                                            .seal = tn_ail_seal,
                                            .size = tn_ail_size,
                                            .init_params = tn_ail_init_params,
                                            .supplied = tn_ail_supplied,
                                            .draw = tn_ail_draw,
                                            .lower = tn_ail_lower,
                                            .lower_stage = tn_ail_lower_stage,
                                            .allow = tn_ail_allow,
                                            .check_accuracy = tn_ail_check_accuracy,
                                            .called = tn_ail_called,
                                            .report_fault = tn_ail_report_fault };
