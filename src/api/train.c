/* api/train.c: inputs and parameters of a program, and training step by step. */
#include "api/internal.h"
#include "base/sha256.h"

/* ---- inputs and parameters ---- */

/* NULL after leaving diagnostics, or where the language declares none. */
static const tn_specs *specs_of(tern_program *program) {
  tern_session *session = program->session;
  if (!program->lang->specs) return NULL;
  session->heap.stop_refuses = true;
  tn_api_lend(program); /* inputs without names of their own have those of what was set */
  const tn_specs *specs = tn_api_confine(session) ? program->lang->specs(program->unit) : NULL;
  tn_api_end_compiling(session);
  if (!specs) tn_api_settle(session);
  return specs;
}

static tern_tensor_spec describe(const tn_names *names, tn_str name, const tn_type *type) {
  const tn_shape *shape = &type->shape;
  tern_tensor_spec spec = { .name = name.at, .dtype = (tern_dtype)type->dtype, .rank = shape->rank };
  for (int i = 0; i < shape->rank; i++) {
    bool symbol = tn_dim_is_symbol(shape->dim[i]);
    spec.dims[i] = tn_dim_is_known(shape->dim[i]) ? shape->dim[i] : -1;
    spec.dim_names[i] = symbol ? tn_names_text(names, tn_dim_name(shape->dim[i])).at : NULL;
  }
  return spec;
}

static tern_tensor_spec spec_of(const tn_names *names, const tn_tensor_spec *from) {
  return describe(names, tn_names_text(names, from->name), &from->type);
}

size_t tern_input_count(tern_program *program) {
  const tn_specs *specs = specs_of(program);
  return specs ? specs->input_count : 0;
}

tern_tensor_spec tern_input_at(tern_program *program, size_t index) {
  const tn_specs *specs = specs_of(program);
  if (!specs || index >= specs->input_count) return (tern_tensor_spec){ .name = "" };
  return spec_of(program->session->names, &specs->inputs[index]);
}

/* Whether the text declares the parameters. In Ninth the program creates them while it runs. */
static bool declares_params(const tern_program *program) { return program->lang->lower != NULL; }

size_t tern_param_count(tern_program *program) {
  if (!declares_params(program)) return program->unit->params.count;
  const tn_specs *specs = specs_of(program);
  return specs ? specs->param_count : 0;
}

tern_tensor_spec tern_param_at(tern_program *program, size_t index) {
  const tn_names *names = program->session->names;
  if (index >= tern_param_count(program)) return (tern_tensor_spec){ .name = "" };
  if (declares_params(program)) return spec_of(names, &specs_of(program)->params[index]);
  const tn_given *param = &program->unit->params.at[index];
  tn_type type = { param->data.view.dtype, tn_view_shape(&param->data.view) };
  return describe(names, param->name, &type);
}

static const tn_view *value_at(const tn_givens *givens, size_t index) {
  return index < givens->count ? &givens->at[index].data.view : NULL;
}

tern_status tern_input(tern_program *program, size_t index, tern_tensor *out) {
  const tn_specs *specs = specs_of(program);
  if (!specs || index >= specs->input_count) return TERN_USAGE;
  tn_str name = tn_names_text(program->session->names, specs->inputs[index].name);
  const tn_given *given = tn_given_find(program->inputs.at, program->inputs.count, name);
  if (!given) return TERN_FAILED;
  tn_api_fill_tensor(&given->data.view, out);
  return TERN_OK;
}

const tn_view *tn_api_param(const tern_program *program, size_t index) {
  if (program->steps)
    return index < tn_steps_param_count(program->steps) ? tn_steps_param(program->steps, index) : NULL;
  return value_at(program->unit->params.count > 0 ? &program->unit->params : &program->trained, index);
}

/* ---- steps ---- */

static bool read_training(tern_session *session, const tern_training *training, tn_train_options *options) {
  *options = (tn_train_options){ .lr = training->lr,
                                 .momentum = training->momentum != 0 ? training->momentum : 0.9,
                                 TN_ADAM_DEFAULTS,
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
  tn_steps_request request = { .loss = training ? training->loss : NULL,
                               .own = training == NULL,
                               .trainer = { .seed = session->host.seed,
                                            .backend = session->device,
                                            .threads = session->threads,
                                            .passes = session->passes,
                                            .evaluator = &session->evaluator } };
  if (!program->lang->lower)
    return tn_api_usage(session, "", tn_str_of(tern_language_name(program->language)),
                        " programs train themselves; only .graph and .ail programs are trained step by step");
  if (training && !read_training(session, training, &request.trainer.options)) return false;
  tn_steps_free(program->steps);
  program->steps = NULL;
  tn_givens_free(&session->heap, &program->trained);
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
