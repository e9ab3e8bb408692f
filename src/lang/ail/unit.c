/* lang/ail/unit.c: what a model declares, and its doors for whole trainings. */
#include "lang/ail/doors.h"

#include "lang/ail/internal.h"

/* ---- what it declares ---- */

static tn_specs specs_of(const tn_ail *program) {
  return (tn_specs){ program->inputs, program->input_count, program->params, program->param_count };
}

const tn_specs *tn_lang_ail_specs(tn_unit *unit) {
  tn_ail_unit *self = (tn_ail_unit *)unit;
  if (!self->program) self->program = tn_ail_compile(unit->host, unit->file);
  if (!self->program) return NULL;
  self->specs = specs_of(self->program);
  return &self->specs;
}

void tn_lang_ail_drop(tn_unit *unit) { tn_ail_free(((tn_ail_unit *)unit)->program); }

/* ---- whole trainings ---- */

static bool open_program(tn_unit *unit, bool reads_data, tn_training *out) {
  tn_ail *program = tn_ail_compile(unit->host, unit->file);
  bool ok = program && tn_ail_check_given(program, TN_AIL_TO_TRAIN) && tn_ail_require_loss(program) &&
            (!reads_data || tn_ail_allow_dataset(program));
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

static bool open_training(tn_unit *unit, tn_training *out) { return open_program(unit, true, out); }
static bool open_trained(tn_unit *unit, tn_training *out) { return open_program(unit, false, out); }

const tn_training_doors tn_ail_training = { .open = open_training,
                                            .open_trained = open_trained,
                                            .close = tn_ail_free,
                                            .seal = tn_ail_seal,
                                            .size = tn_ail_size,
                                            .init_params = tn_ail_init_params,
                                            .supplied = tn_ail_supplied,
                                            .draw = tn_ail_draw,
                                            .lower = tn_ail_lower,
                                            .lower_stage = tn_ail_lower_stage,
                                            .allow = tn_ail_allow,
                                            .check_metrics = tn_ail_check_metrics,
                                            .called = tn_ail_called,
                                            .report_fault = tn_ail_report_fault };
