/* train/loop.c: the training loop, and the lines it prints. */
#include "train/loop.h"

#include <string.h>

#include "base/folder.h"
#include "base/json.h"
#include "base/number.h"
#include "train/hyper.h"
#include "train/loop_internal.h"

bool tn_loop_out_of_memory(tn_loop *loop) {
  return tn_report_memory(loop->host->diags, loop->host->heap, TN_NOWHERE, "training");
}

/* Results of a failed GPU are lost: the last checkpoint stays. */
bool tn_loop_fault(tn_loop *loop, const tn_fault *fault) {
  if (fault->kind == TN_FAULT_DEVICE) loop->spoiled = true;
  return loop->program.doors->report_fault(loop->program.model, fault);
}

tn_str tn_loop_param_name(const tn_loop *loop, int param) {
  return tn_names_text(loop->host->names, loop->program.specs.params[param].name);
}

void tn_loop_say(const tn_loop *loop, tn_str line) {
  if (tn_loop_is_first(loop)) loop->host->print(loop->host, line);
}

/* ---- the lines of a step ---- */

/* "eval/accuracy = 0.9667" */
static void say_values(tn_loop *loop, const char *split, const double *values) {
  tn_text line;
  tn_text_init(&line, loop->host->heap);
  for (size_t i = 0; i < loop->eval->metric_count; i++) {
    const tn_metric *metric = &loop->eval->metrics[i];
    tn_text_clear(&line);
    tn_text_puts(&line, split);
    tn_text_add(&line, metric->name);
    tn_text_puts(&line, " = ");
    tn_text_fixed(&line, values[i], metric->kind == TN_METRIC_LOSS ? 6 : 4);
    tn_loop_say(loop, tn_text_str(&line));
  }
  tn_text_free(&line);
}

static void say_step(tn_loop *loop, const tn_history_row *row) {
  const tn_loop_options *options = loop->options;
  bool last = row->step == loop->steps - 1 || loop->ended;
  bool shown = last || (!options->brief && (row->step % 10 == 0 || row->evaluated));
  if (!shown || options->no_steps) return;
  tn_text line;
  tn_text_init(&line, loop->host->heap);
  tn_text_puts(&line, "Step ");
  tn_text_int(&line, row->step);
  tn_text_puts(&line, ": loss = ");
  tn_text_fixed(&line, row->loss, 6);
  tn_loop_say(loop, tn_text_str(&line));
  tn_text_free(&line);
  if (row->evaluated) say_values(loop, "eval/", row->values);
  if (row->tested) say_values(loop, "test/", row->test_values);
}

/* ---- getting ready ---- */

/* What so many rows of the data set are for an input; rank -1: nothing. */
static tn_shape rows_shape(const tn_loop *loop, size_t input, int64_t rows) {
  int index = loop->rows.present ? loop->rows.column_of[input] : -1;
  if (index < 0) return (tn_shape){ .rank = -1 };
  const tn_column *column = &loop->rows.columns.at[index];
  tn_shape shape = loop->program.specs.inputs[input].type.shape;
  if (column->kind == TN_COLUMN_CLASS && shape.rank < 2) return tn_shape_make(1, rows);
  if (shape.rank > 0) shape.dim[0] = rows;
  bool divides = shape.rank > 0 && tn_shape_count(&shape) == rows * (int64_t)column->width;
  return divides ? shape : tn_shape_make(2, rows, (int64_t)column->width);
}

bool tn_loop_size_rows(tn_loop *loop, int64_t rows, tn_sizes *sizes) {
  size_t count = loop->program.specs.input_count;
  tn_shape *given = tn_arena_array(loop->arena, count + 1, sizeof *given);
  if (!given) return tn_loop_out_of_memory(loop);
  for (size_t i = 0; i < count; i++) given[i] = rows_shape(loop, i, rows);
  tn_size_request request = { .given = given, .batch = rows, .no_defaults = loop->program.dataset != NULL };
  return loop->program.doors->size(loop->program.model, &request, loop->arena, sizes);
}

static bool refuse_train(tn_loop *loop, const char *message) {
  tn_span at = loop->program.train->at;
  tn_place place = tn_place_of(loop->host->sources, at.file, at.start);
  return tn_report(loop->host->diags, TN_DIAG_E_SYNTAX_ERROR, at, TN_INT("line", place.line),
                   TN_INT("col", place.column), TN_STR("message", message));
}

/* A batch, and one shard of it, which is what the program is lowered for. */
static bool size_batch(tn_loop *loop) {
  const tn_train_block *train = loop->program.train;
  int64_t shards = train->options.shards;
  if (train->batch % shards != 0) return refuse_train(loop, "shards must divide batch");
  return tn_loop_size_rows(loop, train->batch, &loop->sizes) &&
         tn_loop_size_rows(loop, train->batch / shards, &loop->part);
}

/* The inputs that a shard has a part of. */
static const bool *divided_inputs(tn_loop *loop) {
  size_t count = loop->program.specs.input_count;
  bool *divided = tn_arena_array(loop->arena, count + 1, sizeof *divided);
  for (size_t i = 0; divided && i < count; i++) {
    divided[i] = !tn_shape_equal(&loop->sizes.inputs[i], &loop->part.inputs[i]);
  }
  return divided;
}

/* Rows fill one input of features and one of labels. Any other must come from the command line,
 * because a model cannot learn from arbitrary numbers. */
bool tn_loop_check_inputs(tn_loop *loop) {
  bool ok = true;
  for (size_t i = 0; loop->rows.present && i < loop->program.specs.input_count; i++) {
    const tn_tensor_spec *input = &loop->program.specs.inputs[i];
    if (tn_loop_is_fed(loop, i) || tn_loop_is_supplied(loop, i)) continue;
    ok = tn_report(loop->host->diags, TN_DIAG_E_DATASET_SCHEMA_MISSING_FIELD, input->at,
                   TN_TEXT("path", loop->data ? tn_str_of(loop->data) : loop->program.dataset->path),
                   TN_INT("line", 1), TN_TEXT("field", tn_names_text(loop->host->names, input->name)),
                   TN_DURING(TN_PHASE_DATA));
  }
  return ok;
}

tn_trainer *tn_loop_new_trainer(tn_loop *loop, bool shows_all) {
  tn_fault fault;
  tn_trainer_request request = { .graph = &loop->lowered.graph,
                                 .loss = loop->lowered.loss,
                                 .options = loop->program.train->options,
                                 .seed = loop->host->seed,
                                 .backend = loop->options->backend,
                                 .threads = loop->options->threads,
                                 .passes = loop->options->passes,
                                 .evaluator = loop->options->evaluator,
                                 .transport = shows_all ? NULL : loop->transport,
                                 .shows_all = shows_all,
                                 .guarded = !shows_all && tn_loop_guards(loop) };
  if (shows_all) request.passes = (tn_pass_set)(request.passes & ~(TN_PASS_FUSE | TN_PASS_RECOMPUTE));
  request.options.steps = loop->steps;
  request.sharded = divided_inputs(loop);
  if (!request.sharded) {
    tn_loop_out_of_memory(loop);
    return NULL;
  }
  tn_trainer *trainer = tn_trainer_new(loop->host->heap, &request, &fault);
  if (!trainer) {
    tn_loop_fault(loop, &fault);
    return NULL;
  }
  for (size_t i = 0; i < loop->program.specs.input_count; i++)
    tn_trainer_bind_input(trainer, (int)i, &loop->inputs[i].view);
  tn_trainer_set_effects(trainer, &loop->program.effects);
  return trainer;
}

/* A training that changes nothing is most likely a mistake, but its losses are shown. */
static void warn_of_nothing(const tn_loop *loop) {
  if (tn_trainer_learning_count(loop->trainer) > 0) return;
  bool none = loop->program.specs.param_count == 0;
  tn_report(loop->host->diags, TN_DIAG_E_TRAIN_NO_PARAMETERS, loop->program.train->at,
            TN_STR("problem", none ? "the program has no parameters" : "no gradient reaches any of them"));
}

/* The trainer has the parameters from now on: what they began with is freed. */
static bool make_trainer(tn_loop *loop) {
  loop->trainer = tn_loop_new_trainer(loop, false);
  if (loop->trainer) warn_of_nothing(loop);
  for (int i = 0; loop->trainer && i < tn_trainer_param_count(loop->trainer); i++) {
    tn_view_copy(tn_trainer_param(loop->trainer, i), &loop->first[i].view);
    tn_tensor_unref(&loop->first[i]);
  }
  if (loop->trainer) tn_trainer_wrote(loop->trainer);
  return loop->trainer != NULL;
}

static bool no_train_rows(tn_loop *loop) {
  const tn_dataset_block *data = loop->program.dataset;
  char split[TN_NUMBER_BYTES];
  tn_str text = { split, tn_number_print_f64(data->split, split) };
  return tn_report(loop->host->diags, TN_DIAG_E_DATASET_EMPTY, data->split_at, TN_TEXT("path", data->path),
                   TN_INT("rows", (int64_t)loop->rows.count), TN_TEXT("split", text),
                   TN_DURING(TN_PHASE_DATA));
}

/* Hashing a large file takes longer than reading it, so it is done only for a recorded run. */
static bool wants_hashes(const tn_loop *loop) {
  const tn_loop_options *options = loop->options;
  bool watched = options->watch && options->watch->wants_hashes;
  return options->out || options->resume || options->verify || options->transport || watched;
}

/* The requested number of steps, or as many as all epochs need. */
static bool count_steps(tn_loop *loop) {
  const tn_train_block *train = loop->program.train;
  int64_t rows = (int64_t)loop->rows.train_count;
  loop->steps = loop->options->steps > 0 ? loop->options->steps : train->options.steps;
  if (train->epochs == 0 || loop->options->steps > 0) return true;
  if (train->epochs > INT64_MAX / rows) return refuse_train(loop, "there are too many epochs");
  int64_t all = train->epochs * rows;
  loop->steps = all / train->batch + (all % train->batch > 0);
  return true;
}

/* What rank 0 alone has. */
static bool prepare_first(tn_loop *loop) {
  if (!tn_loop_is_first(loop)) return true;
  return tn_loop_prepare_eval(loop) && tn_loop_prepare_best(loop) && tn_loop_resume(loop) &&
         tn_loop_read_goal(loop) && tn_loop_begin_folder(loop);
}

/* A step is about three times the forward pass. */
static bool choose_device(tn_loop *loop) {
  tn_loop_options *own = loop->own;
  own->backend = tn_plan_backend(own->backend, &loop->lowered.graph, own->threads, 3 * loop->steps);
  return true;
}

static bool prepare(tn_loop *loop) {
  const tn_training *program = &loop->program;
  loop->eval = tn_loop_is_first(loop) ? program->eval : NULL;
  if (!tn_loop_seal(loop) || !tn_rows_read(loop->host, program, loop->options->backend, wants_hashes(loop),
                                           loop->arena, &loop->rows))
    return false;
  if (loop->rows.present && loop->rows.train_count == 0) return no_train_rows(loop);
  if (!count_steps(loop) || !tn_loop_check_inputs(loop) || !size_batch(loop)) return false;
  loop->first = tn_arena_array(loop->arena, program->specs.param_count + 1, sizeof *loop->first);
  if (!loop->first) return tn_loop_out_of_memory(loop);
  tn_rng_init(&loop->rng, loop->host->seed + 2000);
  return program->doors->init_params(program->model, &loop->sizes, loop->first) &&
         program->doors->lower(program->model, &loop->part, TN_LOWER_TRAINING, &loop->lowered) &&
         choose_device(loop) && tn_loop_check_indices(loop) &&
         program->doors->allow(program->model, &loop->lowered.graph) &&
         tn_loop_make_inputs(loop, &loop->sizes, NULL, &loop->inputs) && make_trainer(loop) &&
         tn_loop_meet_ranks(loop) && prepare_first(loop) && tn_loop_share_state(loop);
}

/* ---- who follows the run ---- */

static double epochs_per_step(const tn_loop *loop) {
  double rows = (double)loop->rows.train_count;
  return loop->rows.present && rows > 0 ? (double)loop->program.train->batch / rows : 0;
}

static void tell_begin(tn_loop *loop) {
  const tn_loop_watch *watch = loop->options->watch;
  if (!watch || !watch->begin) return;
  const tn_source *source = tn_sources_get(loop->host->sources, loop->file);
  const tn_dataset_block *data = loop->program.dataset;
  uint8_t digest[32];
  tn_hyper_list hypers;
  tn_loop_source_sha256(loop, digest);
  tn_hyper_of(&loop->program, loop->steps, true, loop->arena, &hypers);
  tn_run_facts facts = { .program = source->name,
                         .source = source->text,
                         .data = data ? tn_arena_str(loop->arena, data->path) : (tn_str){ 0 },
                         .source_sha256 = digest,
                         .data_sha256 = loop->rows.sha256,
                         .seed = loop->host->seed,
                         .step = tn_trainer_step_number(loop->trainer),
                         .steps = loop->steps,
                         .ranks = loop->options->transport ? loop->options->transport->size : 1,
                         .device = loop->options->backend->card ? "cuda" : "cpu",
                         .metrics = loop->eval ? loop->eval->metrics : NULL,
                         .metric_count = loop->eval ? loop->eval->metric_count : 0,
                         .hypers = hypers.at,
                         .hyper_count = hypers.count,
                         .epochs_per_step = epochs_per_step(loop),
                         .data_format = data ? tn_dataset_format_name(data->format) : NULL };
  watch->begin(watch->context, &facts);
}

static void tell_end(tn_loop *loop, const char *status) {
  const tn_loop_watch *watch = loop->options->watch;
  uint8_t digest[32];
  tn_fault fault;
  if (!watch || !watch->end) return;
  bool lost = !tn_trainer_fetch(loop->trainer, &fault);
  if (lost)
    memcpy(digest, loop->saved_weights, sizeof digest);
  else
    tn_loop_model_sha256(loop, digest);
  watch->end(watch->context, status, lost ? loop->saved_step : tn_trainer_step_number(loop->trainer), digest);
}

/* ---- steps ---- */

bool tn_loop_is_evaluated(const tn_loop *loop, int64_t step) {
  const tn_eval_block *eval = loop->program.eval;
  return eval && (step % eval->every == 0 || step == loop->steps - 1);
}

/* All or nothing: a row that is not kept for the answer is not written either. */
static bool keep_row(tn_loop *loop, const tn_history_row *row) {
  size_t before = loop->lines.len;
  if (loop->options->out || loop->options->verify) {
    tn_loop_history_json(row, loop->eval, &loop->lines);
    tn_text_byte(&loop->lines, '\n');
  }
  if (loop->lines.failed) return tn_loop_out_of_memory(loop);
  if (loop->options->verify) {
    bool same = tn_loop_compare_line(loop, row->step, tn_text_str(&loop->lines));
    tn_text_clear(&loop->lines);
    return same;
  }
  if (loop->options->keep_history) {
    tn_loop_history_json(row, loop->eval, &loop->history);
    tn_text_byte(&loop->history, ',');
  }
  if (!loop->history.failed) return true;
  loop->lines.len = before;
  return tn_loop_out_of_memory(loop);
}

/* The step whose batch is drawn. While a card computes it the next batch is drawn. */
static bool compute_step(tn_loop *loop, double *loss, tn_fault *fault) {
  if (!tn_trainer_start(loop->trainer, fault)) return false;
  tn_loop_draw_ahead(loop);
  return tn_trainer_finish(loop->trainer, loss, fault);
}

/* A step counts when its row is in the history: a stop in the evaluation takes it back. */
static bool one_step(tn_loop *loop) {
  tn_fault fault;
  tn_history_row row = { .step = tn_trainer_step_number(loop->trainer) };
  uint64_t drawn = loop->rng.position;
  bool evaluated = loop->eval && tn_loop_is_evaluated(loop, row.step);
  if ((tn_loop_is_first(loop) && !tn_loop_keep(loop, evaluated)) || !tn_loop_draw_batch(loop)) return false;
  bool made = compute_step(loop, &row.loss, &fault);
  if (!made && tn_trainer_refused(loop->trainer)) {
    if (!tn_loop_may_pass(loop)) return false;
    made = tn_trainer_step(loop->trainer, &row.loss, &fault);
  }
  if (!made) {
    tn_rng_seek(&loop->rng, drawn); /* the step did not happen */
    return tn_loop_step_failed(loop, &fault);
  }
  if (row.loss - row.loss != 0) return tn_loop_not_finite(loop, row.step, row.loss);
  if (tn_trainer_is_guarded(loop->trainer) && !tn_loop_check_update(loop)) return false;
  if ((evaluated && !tn_loop_evaluate(loop, &row)) || !tn_loop_test(loop, &row) || !keep_row(loop, &row)) {
    tn_loop_take_back(loop, row.step);
    return false;
  }
  tn_loop_note_best(loop, &row);
  loop->tested = row.tested;
  if (row.tested) memcpy(loop->test_values, row.test_values, sizeof loop->test_values);
  say_step(loop, &row);
  if (loop->options->watch && loop->options->watch->step)
    loop->options->watch->step(loop->options->watch->context, &row);
  return tn_loop_share_end(loop, row.step);
}

int64_t tn_loop_checkpoint_every(const tn_loop *loop) {
  return loop->options->checkpoint_every > 0 ? loop->options->checkpoint_every : TN_CHECKPOINT_EVERY;
}

bool tn_loop_run_until(tn_loop *loop, int64_t end) {
  int64_t every = tn_loop_checkpoint_every(loop);
  uint64_t most = loop->host->max_steps, done = 0; /* of this run, not of the one it resumes */
  while (tn_trainer_step_number(loop->trainer) < end && !loop->ended) {
    if (tn_stop_asked(loop->host->heap->stop)) {
      return tn_loop_fault(loop, &(tn_fault){ .kind = TN_FAULT_INTERRUPTED });
    }
    if (most > 0 && done++ == most) {
      if (!tn_loop_is_first(loop)) return tn_loop_wait_for_end(loop) && false;
      return tn_report(loop->host->diags, TN_DIAG_E_LOOP_LIMIT, loop->program.train->at,
                       TN_INT("limit", (int64_t)most));
    }
    if (!one_step(loop)) return false;
    int64_t step = tn_trainer_step_number(loop->trainer);
    bool saves = step % every == 0;
    if (!tn_loop_compare_ranks(loop, saves || step == end || loop->ended)) return false;
    if (saves && !tn_loop_checkpoint(loop)) return false;
  }
  return true;
}

static bool run_steps(tn_loop *loop) {
  if (loop->options->verify) return tn_loop_repeat(loop);
  return tn_loop_run_until(loop, loop->steps) && (!tn_loop_is_first(loop) || tn_loop_check_params(loop));
}

/* ---- results ---- */

void tn_loop_metrics_json(tn_json_writer *json, const char *key, const tn_eval_block *eval,
                          const double *values) {
  tn_json_key(json, key), tn_json_object_begin(json);
  for (size_t i = 0; i < eval->metric_count; i++) {
    tn_json_key(json, eval->metrics[i].name.at);
    if (eval->metrics[i].kind == TN_METRIC_LOSS)
      tn_json_f32(json, (float)values[i]);
    else
      tn_json_f64(json, values[i]);
  }
  tn_json_object_end(json);
}

void tn_loop_history_json(const tn_history_row *row, const tn_eval_block *eval, tn_text *out) {
  tn_json_writer json = tn_json_writer_on(out);
  tn_json_object_begin(&json);
  tn_json_key(&json, "step"), tn_json_int(&json, row->step);
  tn_json_key(&json, "loss"), tn_json_f32(&json, (float)row->loss);
  if (row->evaluated && eval) tn_loop_metrics_json(&json, "eval", eval, row->values);
  if (row->tested && eval) tn_loop_metrics_json(&json, "test", eval, row->test_values);
  tn_json_object_end(&json);
}

typedef const tn_view *(*find_param)(const tn_loop *loop, int param);

static void hash_params(const tn_loop *loop, find_param find, uint8_t digest[32]) {
  tn_sha256 hash;
  tn_sha256_init(&hash);
  for (int i = 0; i < tn_trainer_param_count(loop->trainer); i++)
    tn_view_sha256_update(find(loop, i), &hash);
  tn_sha256_final(&hash, digest);
}

static const tn_view *last_param(const tn_loop *loop, int param) {
  return tn_trainer_param(loop->trainer, param);
}

void tn_loop_weights_sha256(const tn_loop *loop, uint8_t digest[32]) {
  hash_params(loop, last_param, digest);
}

void tn_loop_model_sha256(const tn_loop *loop, uint8_t digest[32]) {
  hash_params(loop, tn_loop_model_param, digest);
}

static void add_params(tn_loop *loop, tn_json_writer *json) {
  tn_json_key(json, "params"), tn_json_array_begin(json);
  for (int i = 0; i < tn_trainer_param_count(loop->trainer); i++) {
    const tn_view *view = tn_loop_model_param(loop, i);
    uint8_t digest[32];
    tn_view_sha256(view, digest);
    tn_json_object_begin(json);
    tn_json_key(json, "name"),
        tn_json_string(json, tn_loop_param_name(loop, i));
    tn_json_key(json, "shape"), tn_json_array_begin(json);
    for (int d = 0; d < view->rank; d++) tn_json_int(json, view->dim[d]);
    tn_json_array_end(json);
    tn_loop_add_hash(json, "sha256", digest);
    tn_json_object_end(json);
  }
  tn_json_array_end(json);
}

static void add_history(const tn_loop *loop, tn_json_writer *json) {
  size_t length = loop->history.len;
  tn_json_key(json, "history"), tn_json_array_begin(json);
  if (length > 0) tn_text_add(json->out, (tn_str){ loop->history.at, length - 1 });
  tn_json_array_end(json);
  json->comma = true;
}

/* Members for the answer: an object without its braces. */
static bool add_outcome(tn_loop *loop, tn_outcome *out) {
  tn_text text;
  uint8_t digest[32];
  tn_text_init(&text, loop->host->heap);
  tn_json_writer json = tn_json_writer_on(&text);
  tn_json_object_begin(&json);
  tn_json_key(&json, "steps"), tn_json_int(&json, tn_trainer_step_number(loop->trainer));
  if (loop->options->keep_history) add_history(loop, &json);
  if (tn_loop_has_best(loop)) tn_json_key(&json, "best_step"), tn_json_int(&json, loop->best.step);
  if (loop->tested) tn_loop_metrics_json(&json, "test", loop->eval, loop->test_values);
  add_params(loop, &json);
  tn_loop_model_sha256(loop, digest);
  tn_loop_add_hash(&json, "weights_sha256", digest);
  tn_json_object_end(&json);
  if (!text.failed) out->extra_json = tn_arena_str(loop->arena, (tn_str){ text.at + 1, text.len - 2 });
  bool ok = !text.failed && !loop->arena->failed;
  tn_text_free(&text);
  return ok ? true : tn_loop_out_of_memory(loop);
}

static bool keep_params(const tn_loop *loop, tn_unit *unit) {
  tn_givens_free(loop->host->heap, &unit->params);
  for (int i = 0; i < tn_trainer_param_count(loop->trainer); i++) {
    tn_tensor share;
    if (!tn_loop_share_model_param(loop, i, &share)) return false;
    if (!tn_unit_keep_param_take(unit, tn_loop_param_name(loop, i), &share)) return false;
  }
  return true;
}

void tn_loop_free(tn_loop *loop) {
  const tn_specs *specs = &loop->program.specs;
  tn_loop_free_eval(loop);
  tn_loop_free_best(loop);
  for (size_t i = 0; loop->inputs && i < specs->input_count; i++) tn_tensor_unref(&loop->inputs[i]);
  for (size_t i = 0; loop->first && i < specs->param_count; i++) tn_tensor_unref(&loop->first[i]);
  tn_loop_free_kept(loop);
  tn_trainer_free(loop->trainer);
  tn_lowered_free(&loop->lowered, loop->host->heap);
  tn_rows_free(&loop->rows);
  tn_text_free(&loop->history);
  tn_vec_free(loop->host->heap, &loop->segments);
  tn_text_free(&loop->lines);
  loop->program.doors->close(loop->program.model);
}

/* Runs the steps, prints and records them. */
static bool train(tn_loop *loop) {
  if (!loop->options->brief) tn_loop_say_plan(loop);
  tell_begin(loop);
  bool ok = run_steps(loop);
  tn_run_status status = ok ? TN_RUN_STATUS_COMPLETED : TN_RUN_STATUS_STOPPED;
  tn_stop_hold(loop->host->heap->stop); /* trained parameters are kept, also after a stop */
  bool kept = tn_loop_checkpoint(loop) && tn_loop_finish_folder(loop, status);
  tell_end(loop, tn_run_status_name(status));
  tn_stop_let_go(loop->host->heap->stop);
  return ok && kept;
}

/* The options of a rank that neither writes nor is followed: it needs no folder. */
static tn_loop_options of_this_rank(const tn_loop_options *options) {
  tn_loop_options own = *options;
  if (!own.transport || own.transport->rank == 0) return own;
  own.out = own.resume = NULL;
  own.watch = NULL;
  own.keep_history = false;
  return own;
}

/* One rank's part of it. */
static bool take_part(tn_loop *loop, tn_unit *unit, tn_outcome *out) {
  if (tn_loop_is_idle_rank(loop)) return tn_loop_wait_for_end(loop);
  tn_loop_find_ranks(loop);
  if (!prepare(loop) || !(loop->idle || train(loop))) return false;
  if (!tn_loop_is_first(loop)) return true;
  tn_fault fault;
  if (!tn_trainer_fetch(loop->trainer, &fault)) return tn_loop_fault(loop, &fault);
  return add_outcome(loop, out) && keep_params(loop, unit) && tn_loop_tell_end(loop);
}

bool tn_train_loop(tn_unit *unit, const tn_training_doors *doors, const tn_loop_options *options,
                   tn_arena *arena, tn_outcome *out) {
  tn_loop_options own = of_this_rank(options);
  tn_loop loop = { .host = unit->host, .file = unit->file, .options = &own, .own = &own, .arena = arena,
                   .held = -1 };
  if (!doors->open(unit, &loop.program)) return false;
  loop.program.doors = doors;
  tn_text_init(&loop.lines, unit->host->heap);
  tn_text_init(&loop.history, unit->host->heap);
  tn_sha256_init(&loop.history_hash);
  bool ok = take_part(&loop, unit, out);
  if (ok && !loop.idle && !own.verify) tn_loop_say_best(&loop);
  if (ok && !loop.idle) tn_loop_say(&loop, TN_LIT("Training completed"));
  tn_loop_free(&loop);
  tn_folder_release(&loop.held);
  return ok;
}
