/* api/answers.c: loads a trained run, and predicts, evaluates and generates with it.
 *
 * run.json has the program's text, weights.safetensors its parameters,
 * given.safetensors what --input gave the training, and data.json how rows are
 * prepared. The folder may come from anybody: everything in it is parsed in the
 * sandbox, and none of it grants anything. */
#include <string.h>

#include "api/internal.h"
#include "base/file.h"
#include "base/folder.h"
#include "train/generate.h"
#include "train/predict.h"
#include "train/record.h"
#include "train/score.h"

#define FILE_LIMIT ((uint64_t)1 << 32)

typedef struct {
  tern_session *session;
  const char *folder;
  tn_arena arena;
} reading;

static bool no_memory(reading *r) {
  return tn_report_memory(&r->session->diags, &r->session->heap, TN_NOWHERE, "the run");
}

static const char *path_of(reading *r, tn_arena *arena, const char *name) {
  tn_text path;
  tn_text_init(&path, &r->session->heap);
  tn_folder_join(&path, r->folder, name);
  tn_str kept = path.failed ? (tn_str){ 0 } : tn_arena_str(arena, tn_text_str(&path));
  tn_text_free(&path);
  return kept.at;
}

static bool cannot_read(reading *r, const char *path, tn_file_status status) {
  if (status == TN_FILE_NO_MEMORY) return no_memory(r);
  if (status == TN_FILE_NOT_FOUND)
    return tn_report(&r->session->diags, TN_DIAG_E_FILE_NOT_FOUND, TN_NOWHERE, TN_STR("path", path),
                     TN_HINT(TN_LIT(TN_RUN_HINT)));
  return tn_report(&r->session->diags, TN_DIAG_E_FILE_IO_ERROR, TN_NOWHERE, TN_STR("path", path),
                   TN_STR("io_error_kind", tn_file_status_word(status)));
}

/* A file of the folder, kept in the arena. One that may be missing is then empty. */
static bool read_file(reading *r, tn_arena *arena, const char *path, bool may_miss, tn_str *out) {
  tn_file_bytes bytes;
  *out = (tn_str){ "", 0 };
  if (!path) return no_memory(r);
  tn_file_status status = tn_file_read(&r->session->heap, path, FILE_LIMIT, NULL, &bytes);
  if (status == TN_FILE_NOT_FOUND && may_miss) return true;
  if (status != TN_FILE_OK) return cannot_read(r, path, status);
  *out = tn_arena_str(arena, (tn_str){ bytes.at, bytes.len });
  tn_file_release(&r->session->heap, &bytes);
  return arena->failed ? no_memory(r) : true;
}

static bool read_record(reading *r, tn_run_record *record) {
  tn_str text;
  const char *path = path_of(r, &r->arena, TN_RECORD_FILE);
  if (!read_file(r, &r->arena, path, false, &text)) return false;
  const char *problem = tn_record_read(&r->session->heap, text, &r->arena, record);
  if (problem == tn_record_no_memory) return no_memory(r);
  return problem ? tn_report(&r->session->diags, TN_DIAG_E_FILE_CORRUPT, TN_NOWHERE, TN_STR("path", path),
                             TN_STR("format", TN_RECORD_FILE), TN_STR("reason", problem))
                 : true;
}

/* The inputs that the training was given for every step are given to the model again. */
static bool read_inputs(reading *r, tern_program *program) {
  const char *path = path_of(r, &r->arena, TN_GIVEN_FILE);
  size_t prefix = strlen(TN_GIVEN_INPUT);
  tn_givens all = { 0 };
  if (!path) return no_memory(r);
  bool ok = tn_api_read_weights(r->session, path, &program->given_arena, &all);
  for (size_t i = 0; ok && i < all.count; i++) {
    tn_str name = all.at[i].name;
    if (!tn_str_starts(name, TN_GIVEN_INPUT)) continue;
    tn_given given = { .name = { name.at + prefix, name.len - prefix },
                       .data = tn_tensor_ref(&all.at[i].data) };
    ok = tn_vec_push(&r->session->heap, &program->inputs, given) || no_memory(r);
    if (!ok) tn_tensor_unref(&given.data);
  }
  tn_givens_free(&r->session->heap, &all);
  return ok;
}

static bool read_run(reading *r, tern_program **out) {
  tn_run_record record;
  if (!read_record(r, &record)) return false;
  tern_program *program =
      tern_load(r->session, TERN_LANG_AIL, record.program.at, record.source.at, record.source.len);
  *out = program;
  if (!program) return false;
  tn_arena *arena = &program->given_arena;
  const char *weights = path_of(r, &r->arena, "weights.safetensors");
  program->is_run = true;
  program->facts_path = path_of(r, arena, TN_FACTS_FILE);
  program->has_weights = true;
  return read_file(r, arena, program->facts_path, true, &program->facts) &&
         (!record.given || read_inputs(r, program)) && (weights || no_memory(r)) &&
         tn_api_read_weights(r->session, weights, arena, &program->weights);
}

tern_program *tern_load_run(tern_session *session, const char *folder, tern_status *status) {
  reading r = { .session = session, .folder = folder };
  tern_program *program = NULL;
  tn_api_begin(session);
  tn_arena_init(&r.arena, &session->heap);
  bool ok = tn_api_keep_path(session, tn_str_of(folder), TERN_SANDBOX_LOAD) && tn_api_confine(session) &&
            read_run(&r, &program);
  tn_arena_free(&r.arena);
  if (!ok) {
    if (program) tern_program_free(program);
    program = NULL;
    tn_api_settle(session);
  }
  if (status) *status = ok ? TERN_OK : tern_failure_status(session);
  return program;
}

/* ---- answers ---- */

static tn_trained_options options_of(const tern_program *program) {
  const tern_session *session = program->session;
  return (tn_trained_options){ .backend = session->device,
                               .threads = session->threads,
                               .passes = session->passes,
                               .evaluator = &session->evaluator,
                               .facts = program->facts,
                               .facts_path = program->facts_path };
}

typedef struct {
  const tern_prediction *wanted;
  bool refused;
} taking;

static bool take(void *context, tn_str bytes) {
  taking *t = context;
  t->refused = t->wanted->take && !t->wanted->take(t->wanted->context, bytes.at, bytes.len);
  return !t->refused;
}

static bool rewrite(void *context, tn_str bytes) {
  taking *t = context;
  t->refused = !t->wanted->rewrite || !t->wanted->rewrite(t->wanted->context, bytes.at, bytes.len);
  return !t->refused;
}

static bool predict(tern_program *program, const tern_prediction *wanted, size_t *rows) {
  tern_session *session = program->session;
  taking t = { .wanted = wanted };
  int form = wanted->form ? tn_answer_form_find(tn_str_of(wanted->form)) : TN_ANSWER_TEXT;
  if (!program->is_run)
    return tn_api_usage(session, "", TN_LIT("tern_predict"), " takes a program of tern_load_run");
  if (form < 0) return tn_api_usage(session, "there is no form ", tn_str_of(wanted->form), " of answers");
  tn_predict_options options = { .trained = options_of(program),
                                 .data = wanted->data,
                                 .texts = wanted->texts,
                                 .text_count = wanted->texts ? wanted->text_count : 0,
                                 .form = (tn_answer_form)form,
                                 .context = &t,
                                 .take = take,
                                 .rewrite = rewrite };
  return tn_predict(program->unit, program->lang->training, &options, &program->arena, rows);
}

tern_status tern_predict(tern_program *program, const tern_prediction *wanted, size_t *rows) {
  size_t count = 0;
  tn_api_begin_run(program);
  bool ok = tn_api_confine(program->session) && predict(program, wanted, &count);
  if (rows) *rows = count;
  return tn_api_end_run(program, ok);
}

const char *tern_predict_json(tern_program *program, size_t rows, const char *file, const char *lines,
                              size_t length) {
  tern_session *session = program->session;
  tn_text_clear(&session->text);
  tn_json_writer json = tn_json_writer_on(&session->text);
  tn_api_begin_success(program, &json);
  tn_json_key(&json, "rows"), tn_json_uint(&json, rows);
  tn_json_key(&json, file ? "file" : "predictions");
  if (file) tn_json_string(&json, tn_str_of(file));
  if (!file) tn_json_array_begin(&json);
  for (const char *end; !file && length > 0 && (end = memchr(lines, '\n', length)) != NULL;) {
    tn_json_raw(&json, (tn_str){ lines, (size_t)(end - lines) });
    length -= (size_t)(end + 1 - lines);
    lines = end + 1;
  }
  if (!file) tn_json_array_end(&json);
  tn_json_object_end(&json);
  if (!session->text.failed) return tn_api_text(session);
  tn_api_out_of_memory(session);
  return NULL;
}

/* ---- metrics ---- */

static bool score(tern_program *program, const char *data, tn_text *record) {
  tern_session *session = program->session;
  tn_score_options options = { .trained = options_of(program), .data = data, .record = record };
  if (!program->is_run)
    return tn_api_usage(session, "", TN_LIT("tern_evaluate"), " takes a program of tern_load_run");
  return tn_score(program->unit, program->lang->training, &options, &program->arena, &program->outcome);
}

static tern_status evaluate(tern_program *program, const char *data, tn_text *record) {
  tn_api_begin_run(program);
  return tn_api_end_run(program, tn_api_confine(program->session) && score(program, data, record));
}

tern_status tern_evaluate(tern_program *program, const char *data) { return evaluate(program, data, NULL); }

tern_target *tern_evaluation_open(tern_session *session, const char *folder) {
  tn_text path;
  tn_text_init(&path, &session->heap);
  tn_folder_join(&path, folder, TN_EVALUATION_FILE);
  tern_target *target = path.failed ? NULL : tern_target_open(session, path.at);
  if (path.failed) tn_api_out_of_memory(session);
  tn_text_free(&path);
  return target;
}

tern_status tern_evaluate_record(tern_program *program, const char *data, tern_target *record) {
  tn_text text;
  tn_text_init(&text, &program->session->heap);
  tern_status status = evaluate(program, data, &text);
  if (status == TERN_OK) status = tern_target_write(record, text.at, text.len);
  tn_text_free(&text);
  return status;
}

/* ---- texts ---- */

static bool take_text(void *context, tn_str text) {
  const tern_generation *wanted = context;
  return !wanted->take || wanted->take(wanted->context, text.at, text.len) != 0;
}

static bool generate(tern_program *program, const tern_generation *wanted, size_t *tokens) {
  tern_session *session = program->session;
  tern_generation own = *wanted;
  tn_generate_options options = { .trained = options_of(program),
                                  .prompt = wanted->prompt,
                                  .tokens = wanted->tokens,
                                  .sampling = { .temperature = wanted->temperature, .top_k = wanted->top_k },
                                  .seed = session->host.seed,
                                  .whole = wanted->no_cache,
                                  .shown = wanted->shown,
                                  .context = &own,
                                  .take = take_text };
  if (!program->is_run)
    return tn_api_usage(session, "", TN_LIT("tern_generate"), " takes a program of tern_load_run");
  return tn_generate(program->unit, program->lang->training, &options, &program->arena, tokens);
}

tern_status tern_generate(tern_program *program, const tern_generation *wanted, size_t *tokens) {
  size_t count = 0;
  tn_api_begin_run(program);
  bool ok = tn_api_confine(program->session) && generate(program, wanted, &count);
  if (tokens) *tokens = count;
  return tn_api_end_run(program, ok);
}

const char *tern_generate_json(tern_program *program, const char *prompt, size_t tokens, const char *text,
                               size_t length) {
  tern_session *session = program->session;
  tn_text_clear(&session->text);
  tn_json_writer json = tn_json_writer_on(&session->text);
  tn_api_begin_success(program, &json);
  tn_json_key(&json, "prompt"), tn_json_string(&json, tn_str_of(prompt));
  tn_json_key(&json, "text"), tn_json_string(&json, (tn_str){ text, length });
  tn_json_key(&json, "tokens"), tn_json_uint(&json, tokens);
  tn_json_object_end(&json);
  if (!session->text.failed) return tn_api_text(session);
  tn_api_out_of_memory(session);
  return NULL;
}
