/* lang/ail/unit.c: inputs and parameters of a model, and its entry points for training. */
#include "base/number.h"
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

static tn_str constant_text(tn_ail *program, const tn_ail_const *constant) {
  char digits[TN_NUMBER_BYTES];
  if (constant->kind == TN_AIL_CONST_TEXT) return tn_arena_str(&program->arena, constant->text);
  if (constant->kind == TN_AIL_CONST_BOOL) return tn_str_of(constant->integer ? "true" : "false");
  size_t length = constant->is_integer ? tn_number_print_i64(constant->integer, digits)
                                       : tn_number_print_f64(constant->number, digits);
  return tn_arena_str(&program->arena, (tn_str){ digits, length });
}

/* NULL when memory ran out. */
static const tn_hyper *constants_of(tn_ail *program) {
  tn_hyper *list = tn_arena_array(&program->arena, (size_t)program->const_count + 1, sizeof *list);
  for (uint32_t i = 0; list && i < program->const_count; i++) {
    list[i].name = tn_arena_str(&program->arena, tn_ail_text_of(program, program->const_list[i].name));
    list[i].value = constant_text(program, &program->const_list[i]);
  }
  return program->arena.failed ? NULL : list;
}

static bool open_program(tn_unit *unit, bool reads_data, tn_training *out) {
  tn_ail *program = tn_ail_compile(unit->host, unit->file);
  bool ok = program && tn_ail_check_given(program, TN_AIL_TO_TRAIN) && tn_ail_require_loss(program) &&
            (!reads_data || tn_ail_allow_dataset(program));
  const tn_hyper *constants = ok ? constants_of(program) : NULL;
  if (ok && !constants) ok = tn_ail_out_of_memory(program);
  if (!ok) {
    tn_ail_free(program);
    return false;
  }
  *out = (tn_training){ .model = program,
                        .specs = specs_of(program),
                        .train = &program->train,
                        .eval = program->eval_fields ? &program->eval : NULL,
                        .dataset = program->dataset_fields ? &program->dataset : NULL,
                        .constants = constants,
                        .constant_count = program->const_count,
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
