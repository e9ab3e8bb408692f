/* api/train.c: what a program declares, and training step by step. */
#include "api/internal.h"
#include "base/sha256.h"

/* ---- inputs and parameters ---- */

/* NULL after leaving diagnostics, or where the language declares none. */
static const tn_specs *specs_of(tern_program *program) {
  tern_session *session = program->session;
  if (!program->lang->specs) return NULL;
  session->heap.stop_refuses = true;
  const tn_specs *specs = tn_api_confine(session) ? program->lang->specs(program->unit) : NULL;
  tn_api_end_compiling(session);
  if (!specs) tn_api_settle(session);
  return specs;
}

static tern_slot slot_of(const tn_names *names, const tn_tensor_spec *from) {
  const tn_shape *shape = &from->type.shape;
  tern_slot slot = { .name = tn_names_text(names, from->name).at,
                     .dtype = (tern_dtype)from->type.dtype,
                     .rank = shape->rank };
  for (int i = 0; i < shape->rank; i++) {
    bool symbol = tn_dim_is_symbol(shape->dim[i]);
    slot.dims[i] = tn_dim_is_known(shape->dim[i]) ? shape->dim[i] : -1;
    slot.dim_names[i] = symbol ? tn_names_text(names, tn_dim_name(shape->dim[i])).at : NULL;
  }
  return slot;
}

size_t tern_input_count(tern_program *program) {
  const tn_specs *specs = specs_of(program);
  return specs ? specs->input_count : 0;
}

size_t tern_param_count(tern_program *program) {
  const tn_specs *specs = specs_of(program);
  return specs ? specs->param_count : 0;
}

tern_slot tern_input_at(tern_program *program, size_t index) {
  const tn_specs *specs = specs_of(program);
  if (!specs || index >= specs->input_count) return (tern_slot){ .name = "" };
  return slot_of(program->session->names, &specs->inputs[index]);
}

tern_slot tern_param_at(tern_program *program, size_t index) {
  const tn_specs *specs = specs_of(program);
  if (!specs || index >= specs->param_count) return (tern_slot){ .name = "" };
  return slot_of(program->session->names, &specs->params[index]);
}

const tn_view *tn_api_param(const tern_program *program, size_t index) {
  if (program->steps)
    return index < tn_steps_param_count(program->steps) ? tn_steps_param(program->steps, index) : NULL;
  return program->lang->param ? program->lang->param(program->unit, index) : NULL;
}

/* ---- steps ---- */

static bool read_training(tern_session *session, const tern_training *training, tn_train_options *options) {
  *options = (tn_train_options){ .lr = training->lr,
                                 .momentum = training->momentum != 0 ? training->momentum : 0.9,
                                 .weight_decay = training->weight_decay,
                                 .clip_norm = training->clip_norm,
                                 .warmup = training->warmup,
                                 .steps = training->steps };
  tn_str optimizer = tn_str_of(training->optimizer), schedule = tn_str_of(training->schedule);
  int chosen = optimizer.len > 0 ? tn_optimizer_find(optimizer) : TN_OPTIMIZER_SGD;
  int shaped = schedule.len > 0 ? tn_schedule_find(schedule) : TN_SCHEDULE_CONSTANT;
  if (chosen < 0) {
    return tn_api_usage(session, "there is no optimizer ", optimizer,
                        "; there are sgd, momentum, adam and adamw");
  }
  if (shaped < 0) {
    return tn_api_usage(session, "there is no schedule ", schedule,
                        "; there are constant, cosine and linear");
  }
  options->optimizer = (tn_optimizer)chosen;
  options->schedule = (tn_schedule)shaped;
  return (training->lr >= 0 && training->lr < 1e30) ||
         tn_api_usage(session, "", TN_LIT("lr"), " must be a number from 0 up");
}

static tern_status outcome(tern_session *session, bool ok) {
  tn_api_end_compiling(session);
  if (ok) return TERN_OK;
  tn_api_settle(session);
  tern_status status = tn_api_status(session);
  return status == TERN_OK ? TERN_FAILED : status;
}

static bool begin(tern_program *program, const tern_training *training) {
  tern_session *session = program->session;
  tn_steps_request request = { .loss = training->loss,
                               .trainer = { .seed = session->host.seed,
                                            .backend = session->backend,
                                            .threads = session->threads,
                                            .passes = session->passes,
                                            .folder = &session->folder } };
  if (!program->lang->lower)
    return tn_api_usage(session, "", tn_str_of(tern_language_name(program->language)),
                        " programs train themselves; step by step are trained .graph and .ail programs");
  if (!read_training(session, training, &request.trainer.options)) return false;
  tn_steps_free(program->steps);
  program->steps = NULL;
  tn_api_lend(program);
  program->steps = tn_steps_new(program->unit, program->lang, &request);
  return program->steps != NULL;
}

tern_status tern_train_begin(tern_program *program, const tern_training *training) {
  tern_session *session = program->session;
  tn_api_begin_compiling(session);
  return outcome(session, tn_api_confine(session) && begin(program, training));
}

tern_status tern_train_step(tern_program *program, double *loss) {
  tern_session *session = program->session;
  if (!program->steps)
    return outcome(session,
                   tn_api_usage(session, "", TN_LIT("tern_train_begin"), " comes before tern_train_step"));
  tn_api_lend(program);
  program->is_stepped = true;
  return tn_steps_step(program->steps, loss) ? TERN_OK : outcome(session, false);
}

/* Of the elements as they are stored in files: row-major, little-endian. */
const char *tern_params_sha256(tern_program *program) {
  tern_session *session = program->session;
  tn_sha256 hash;
  uint8_t digest[32];
  tn_sha256_init(&hash);
  for (size_t i = 0; i < tern_param_count(program); i++) {
    const tn_view *view = tn_api_param(program, i);
    if (!view) return NULL;
    tn_view_sha256_update(view, &hash);
  }
  tn_sha256_final(&hash, digest);
  tn_text_clear(&session->text);
  tn_text_hex(&session->text, digest, sizeof digest);
  return tn_api_text(session);
}
