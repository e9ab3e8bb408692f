/* api/program.c: compiles and runs programs, sets values, returns results. */
#include <string.h>

#include "api/internal.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/json.h"
#include "base/utf8.h"
#include "train/loop.h"

/* ---- languages ---- */

static const struct {
  tern_language language;
  const char *name;
  const char *extensions[3];
} languages[] = {
  { TERN_LANG_AIL, "ail", { ".ail" } },
  { TERN_LANG_MIND, "mind", { ".mind" } },
  { TERN_LANG_NINTH, "ninth", { ".nth", ".ninth" } },
  { TERN_LANG_GRAPH, "graph", { ".graph" } },
};
#define LANGUAGE_COUNT (sizeof languages / sizeof languages[0])

const tn_lang *tn_api_lang(tern_language language) {
  switch (language) {
#ifdef TN_HAVE_AIL
    case TERN_LANG_AIL: return tn_lang_ail();
#endif
#ifdef TN_HAVE_MIND
    case TERN_LANG_MIND: return tn_lang_mind();
#endif
#ifdef TN_HAVE_NINTH
    case TERN_LANG_NINTH: return tn_lang_ninth();
#endif
    case TERN_LANG_GRAPH: return tn_lang_graph();
    default: return NULL;
  }
}

tern_language tern_language_named(const char *name) {
  for (size_t i = 0; i < LANGUAGE_COUNT; i++) {
    if (strcmp(languages[i].name, name) == 0) return languages[i].language;
  }
  return TERN_LANG_AUTO;
}

const char *tern_language_name(tern_language language) {
  for (size_t i = 0; i < LANGUAGE_COUNT; i++) {
    if (languages[i].language == language) return languages[i].name;
  }
  return "";
}

tern_language tern_language_of(const char *path) {
  for (size_t i = 0; i < LANGUAGE_COUNT; i++) {
    for (int e = 0; e < 3 && languages[i].extensions[e]; e++) {
      if (tn_str_ends(tn_str_of(path), languages[i].extensions[e])) return languages[i].language;
    }
  }
  return TERN_LANG_AUTO;
}

/* ---- loading and checking ---- */

static tern_program *out_of_memory(tern_session *session) {
  tn_api_out_of_memory(session);
  return NULL;
}

static bool has_language(tern_session *session, tern_language language) {
  if (tn_api_lang(language)) return true;
  return tn_api_usage(session, "this build does not have the language ",
                      tn_str_of(tern_language_name(language)), "");
}

/* The sandbox is entered before a text is parsed, so only its words can be checked: a MIND program
 * without the word `import` imports nothing, and its folder stays closed. */
static bool imports_something(tern_language language, tn_str text) {
  static const char word[] = "import";
  if (language != TERN_LANG_MIND) return false;
  for (size_t i = 0; i + sizeof word - 1 <= text.len; i++) {
    if (memcmp(text.at + i, word, sizeof word - 1) == 0) return true;
  }
  return false;
}

static size_t unit_bytes(const tn_lang *lang) {
  return lang->unit_bytes > 0 ? lang->unit_bytes : sizeof(tn_unit);
}

static tern_program *load(tern_session *session, tern_language language, const char *name, const char *text,
                          size_t length) {
  if (!has_language(session, language)) return NULL;
  if (length > TN_SOURCE_LIMIT) {
    tn_report(&session->diags, TN_DIAG_E_TOO_LARGE, TN_NOWHERE, TN_STR("what", "the program text"),
              TN_INT("limit", (int64_t)TN_SOURCE_LIMIT));
    return NULL;
  }
  tern_program *program = tn_heap_alloc(&session->heap, sizeof *program);
  if (!program) return out_of_memory(session);
  program->session = session;
  program->language = language;
  program->lang = tn_api_lang(language);
  program->unit = tn_heap_alloc(&session->heap, unit_bytes(program->lang));
  tn_arena_init(&program->arena, &session->heap);
  tn_arena_init(&program->given_arena, &session->heap);
  uint32_t file = tn_sources_add(&session->sources, tn_str_of(name), (tn_str){ text, length });
  if (program->unit) *program->unit = (tn_unit){ .host = &session->host, .file = file };
  bool kept = !imports_something(language, (tn_str){ text, length }) ||
              tn_api_keep_imports(session, language, tn_str_of(name));
  if (program->unit && file != 0 && kept) return program;
  tern_program_free(program);
  return out_of_memory(session);
}

tern_program *tern_load(tern_session *session, tern_language language, const char *name, const char *text,
                        size_t length) {
  tn_api_begin(session);
  return load(session, language, name, text, length);
}

/* False when the stack ran out on the way, or there was no memory to keep a diagnostic, even a warning. */
static bool is_whole(const tern_session *session) {
  return !session->heap.stack.exceeded && !session->diags.out_of_memory;
}

static tern_status finish(tern_program *program, bool ok) {
  ok = ok && is_whole(program->session);
  tn_api_end_compiling(program->session);
  if (!ok) tn_api_settle(program->session);
  program->status = tn_api_status(program->session);
  if (!ok && program->status == TERN_OK) program->status = TERN_FAILED;
  return program->status;
}

tern_status tern_check(tern_program *program) {
  tn_api_lend(program);
  tn_api_begin_compiling(program->session);
  if (!tn_api_confine(program->session)) return finish(program, false);
  return finish(program, program->lang->check(program->unit));
}

bool tn_api_leads_to_program(tern_session *session, const char *path) {
  tn_text end;
  if (!tn_file_is_link(path)) return true;
  tn_text_init(&end, &session->heap);
  bool found = tn_file_absolute(path, &end); /* one that leads nowhere cannot be read anyway */
  bool ok = found ? tern_language_of(end.at) != TERN_LANG_AUTO : !end.failed;
  tn_text_free(&end);
  return ok;
}

/* "did you mean `model.ail`?" where there is such a file beside the one that is missing. */
static void put_near_file(tern_session *session, const char *path, tn_file_status status, tn_text *hint) {
  tn_text near;
  tn_text_init(&near, &session->heap);
  if (status == TN_FILE_IS_DIRECTORY) tn_text_puts(hint, "name a program in it");
  if (status == TN_FILE_NOT_FOUND && tn_folder_near(&session->heap, path, &near)) {
    tn_text_puts(hint, "did you mean `");
    tn_text_add(hint, tn_text_str(&near));
    tn_text_puts(hint, "`?");
  }
  tn_text_free(&near);
}

static bool read_program(tern_session *session, const char *path, tn_file_bytes *bytes) {
  bool from_input = strcmp(path, "-") == 0;
  if (!from_input && !tn_api_leads_to_program(session, path))
    return tn_api_usage_hint(session, "cannot read ", tn_str_of(path), ": " TN_API_FOREIGN_LINK,
                             TN_LIT(TN_API_FOREIGN_LINK_HINT));
  tn_file_status status = from_input ? tn_file_read_open(&session->heap, 0, TN_SOURCE_LIMIT, NULL, bytes)
                                     : tn_file_read(&session->heap, path, TN_SOURCE_LIMIT, NULL, bytes);
  if (status == TN_FILE_OK) return true;
  if (status == TN_FILE_NO_MEMORY) return tn_api_out_of_memory(session);
  tn_text why, hint;
  tn_text_init(&why, &session->heap);
  tn_text_init(&hint, &session->heap);
  tn_text_puts(&why, ": ");
  tn_text_puts(&why, tn_file_status_text(status));
  put_near_file(session, path, status, &hint);
  tn_api_usage_hint(session, "cannot read ", tn_str_of(path), why.failed ? "" : why.at, tn_text_str(&hint));
  tn_text_free(&hint);
  tn_text_free(&why);
  return false;
}

/* A file that cannot be read is that in every language. */
static void ask_for_language(tern_session *session, const char *path) {
  tn_file_bytes bytes;
  bool from_input = strcmp(path, "-") == 0;
  if (!from_input && !read_program(session, path, &bytes)) return;
  if (!from_input) tn_file_release(&session->heap, &bytes);
  tn_api_usage(session, "", tn_str_of(path), ": say the language with --lang ail|mind|ninth");
}

tern_program *tern_load_file(tern_session *session, tern_language language, const char *path,
                             tern_status *status) {
  tn_file_bytes bytes;
  tern_program *program = NULL;
  tn_api_begin(session);
  if (language == TERN_LANG_AUTO) language = tern_language_of(path);
  if (language == TERN_LANG_AUTO) {
    ask_for_language(session, path);
  } else if (read_program(session, path, &bytes)) {
    program = load(session, language, strcmp(path, "-") == 0 ? "<stdin>" : path, bytes.at, bytes.len);
    tn_file_release(&session->heap, &bytes);
  }
  if (!program) tn_api_settle(session);
  if (status) *status = program ? TERN_OK : tn_api_status(session);
  return program;
}

const char *tern_source(const tern_program *program, size_t *length) {
  const tn_source *source = tn_sources_get(&program->session->sources, program->unit->file);
  if (length) *length = source->text.len;
  return source->text.at;
}

static void free_givens(tern_program *program, tn_givens *givens) {
  tn_givens_free(&program->session->heap, givens);
}

static void forget_outcome(tern_program *program) {
  for (size_t i = 0; i < program->outcome.count; i++) tn_datum_release(&program->outcome.values[i]);
  program->outcome = (tn_outcome){ 0 };
  tn_arena_reset(&program->arena);
}

static void free_unit(tern_program *program) {
  if (!program->unit) return;
  if (program->lang->drop) program->lang->drop(program->unit);
  free_givens(program, &program->unit->params);
  tn_heap_free(&program->session->heap, program->unit, unit_bytes(program->lang));
}

void tern_program_free(tern_program *program) {
  if (!program) return;
  tern_session *session = program->session;
  forget_outcome(program);
  tn_steps_free(program->steps);
  free_givens(program, &program->trained);
  free_unit(program);
  free_givens(program, &program->inputs);
  free_givens(program, &program->params);
  free_givens(program, &program->sets);
  free_givens(program, &program->weights);
  tn_vec_free(&session->heap, &program->events);
  tn_vec_free(&session->heap, &program->settings);
  tn_arena_free(&program->arena);
  tn_arena_free(&program->given_arena);
  tn_heap_free(&session->heap, program, sizeof *program);
}

/* ---- values from outside ---- */

/* A later value of the same name replaces the earlier one. */
static tern_status keep_given(tern_program *program, tn_givens *givens, const tn_given *given) {
  program->unit->revision++;
  for (size_t i = 0; i < givens->count && given->name.len > 0; i++) {
    if (!tn_str_equal(givens->at[i].name, given->name)) continue;
    tn_tensor_unref(&givens->at[i].data);
    givens->at[i] = *given;
    return TERN_OK;
  }
  if (tn_vec_push(&program->session->heap, givens, *given)) return TERN_OK;
  tn_tensor old = given->data;
  tn_tensor_unref(&old);
  tn_api_out_of_memory(program->session);
  return TERN_FAILED;
}

static tern_status give_text(tern_program *program, tn_givens *givens, const char *name, const char *value) {
  tn_given given;
  program->session->heap.stop_refuses = true;
  bool ok = tn_api_read_value(program->session, name, value, &program->given_arena, &given);
  tn_api_end_compiling(program->session);
  if (ok) return keep_given(program, givens, &given);
  tn_api_settle(program->session);
  return tn_api_status(program->session);
}

static tern_status give_tensor(tern_program *program, tn_givens *givens, const char *name,
                               const tern_tensor *value) {
  tn_given given = { .name = tn_arena_str(&program->given_arena, tn_str_of(name)) };
  if (program->given_arena.failed) {
    tn_api_out_of_memory(program->session);
    return TERN_FAILED;
  }
  if (!tn_api_copy_value(program->session, value, &given.data)) return tn_api_status(program->session);
  return keep_given(program, givens, &given);
}

/* A parameter that is set after a training replaces the trained value. */
static tern_status take_again(tern_program *program, const char *name, tern_status status) {
  const tn_given *given = tn_given_find(program->params.at, program->params.count, tn_str_of(name));
  for (size_t i = 0; status == TERN_OK && given && i < program->trained.count; i++) {
    if (!tn_str_equal(program->trained.at[i].name, given->name)) continue;
    tn_tensor_unref(&program->trained.at[i].data);
    program->trained.at[i].data = tn_tensor_ref(&given->data);
  }
  return status;
}

tern_status tern_set_input(tern_program *program, const char *name, const tern_tensor *value) {
  return give_tensor(program, &program->inputs, name, value);
}
void tern_clear_input(tern_program *program, const char *name) {
  tn_givens *inputs = &program->inputs;
  size_t kept = 0;
  program->unit->revision++;
  for (size_t i = 0; i < inputs->count; i++) {
    if (name && !tn_str_is(inputs->at[i].name, name))
      inputs->at[kept++] = inputs->at[i];
    else
      tn_tensor_unref(&inputs->at[i].data);
  }
  inputs->count = kept;
}
tern_status tern_set_input_text(tern_program *program, const char *name, const char *value) {
  return give_text(program, &program->inputs, name, value);
}
tern_status tern_set_param(tern_program *program, const char *name, const tern_tensor *value) {
  return take_again(program, name, give_tensor(program, &program->params, name, value));
}
tern_status tern_set_param_text(tern_program *program, const char *name, const char *value) {
  return take_again(program, name, give_text(program, &program->params, name, value));
}
tern_status tern_set_host_text(tern_program *program, const char *name, const char *value) {
  return give_text(program, &program->sets, name, value);
}

tern_status tern_set_weights(tern_program *program, const char *path) {
  free_givens(program, &program->weights);
  free_givens(program, &program->trained);
  program->has_weights = true;
  program->session->heap.stop_refuses = true;
  bool ok = tn_api_read_weights(program->session, path, &program->given_arena, &program->weights);
  tn_api_end_compiling(program->session);
  if (!ok) tn_api_settle(program->session);
  return ok ? TERN_OK : tn_api_status(program->session);
}

tern_status tern_add_event(tern_program *program, const char *name) {
  tn_str copy = tn_arena_str(&program->given_arena, tn_str_of(name));
  if (!program->given_arena.failed && tn_vec_push(&program->session->heap, &program->events, copy))
    return TERN_OK;
  tn_api_out_of_memory(program->session);
  return TERN_FAILED;
}

/* ---- running ---- */

void tn_api_lend(tern_program *program) {
  tn_host *host = &program->session->host;
  host->inputs = program->inputs.at;
  host->input_count = program->inputs.count;
  host->params = program->params.at;
  host->param_count = program->params.count;
  host->sets = program->sets.at;
  host->set_count = program->sets.count;
  host->events = program->events.at;
  host->event_count = program->events.count;
  host->weights = program->weights.at;
  host->weight_count = program->weights.count;
  host->has_weights = program->has_weights;
  host->has_trained = false;
  host->settings = program->settings.at;
  host->setting_count = program->settings.count;
}

static bool borrow_steps(tern_program *program) {
  tern_session *session = program->session;
  free_givens(program, &program->trained);
  for (size_t i = 0; i < tn_steps_param_count(program->steps); i++) {
    const tn_view *view = tn_steps_param(program->steps, i);
    size_t bytes = (size_t)tn_view_count(view) * tn_dtype_bytes(view->dtype);
    tn_given given = { .name = tn_steps_param_name(program->steps, i),
                       .data = { *view, tn_buffer_borrow(&session->heap, view->data, bytes) } };
    if (given.data.buffer && tn_vec_push(&session->heap, &program->trained, given)) continue;
    tn_tensor_unref(&given.data);
    return tn_api_out_of_memory(session);
  }
  if (program->is_stepped) program->unit->revision++;
  program->is_stepped = false;
  return true;
}

/* What has been trained counts as given. */
static bool lend_trained(tern_program *program) {
  tn_host *host = &program->session->host;
  if (program->steps && !borrow_steps(program)) return false;
  if (program->trained.count == 0) return true;
  host->params = program->trained.at;
  host->param_count = program->trained.count;
  host->has_trained = true;
  return true;
}

/* A training as a whole has ended: its parameters count, not those of steps before it. */
static void take_trained(tern_program *program) {
  tn_steps_free(program->steps);
  program->steps = NULL;
  free_givens(program, &program->trained);
  program->trained = program->unit->params;
  program->unit->params = (tn_givens){ 0 };
  program->unit->revision++;
}

typedef bool (*runner)(tn_unit *unit, tn_arena *arena, tn_outcome *out);

static tern_status run_with(tern_program *program, runner run) {
  forget_outcome(program);
  tn_api_lend(program);
  tn_api_begin_compiling(program->session);
  program->ran = true;
  if (!tn_api_confine(program->session)) return finish(program, false);
  if (!lend_trained(program)) return finish(program, false);
  return finish(program, run(program->unit, &program->arena, &program->outcome));
}

void tn_api_begin_run(tern_program *program) {
  forget_outcome(program);
  tn_api_lend(program);
  tn_api_begin_compiling(program->session);
  program->ran = true;
}

tern_status tn_api_end_run(tern_program *program, bool ok) { return finish(program, ok); }

tern_status tern_run(tern_program *program) { return run_with(program, program->lang->run); }

static tern_status train_whole(tern_program *program, const tern_train_run *run,
                               const tn_recorded_run *verify, tn_verified *verified) {
  static const tern_train_run usual;
  tern_session *session = program->session;
  if (!run) run = &usual;
  tn_followed followed = { .session = session, .run = run };
  tn_loop_watch watch = tn_api_watch(&followed);
  tn_loop_options options = { .backend = session->device,
                              .threads = session->threads,
                              .passes = session->passes,
                              .evaluator = &session->evaluator,
                              .steps = run->steps,
                              .out = run->out,
                              .resume = run->resume,
                              .checkpoint_every = run->checkpoint_every,
                              .version = verify ? verify->record->version.at : tern_version(),
                              .verify = verify,
                              .verified = verified,
                              .brief = run->brief != 0,
                              .no_steps = run->no_steps != 0,
                              .keep_history = !verify && !session->sink,
                              .watch = &watch,
                              .transport = verify ? NULL : session->transport };
  forget_outcome(program);
  tn_api_lend(program);
  tn_api_begin_compiling(program->session);
  program->ran = true;
  if (!tn_api_keep_run(session, run) || !tn_api_confine(session) ||
      !tn_api_take_settings(program, run->recorded ? run->recorded : run->resume))
    return finish(program, false);
  tn_api_lend(program);
  return finish(program, tn_train_loop(program->unit, program->lang->training, &options, &program->arena,
                                       &program->outcome));
}

tern_status tn_api_train(tern_program *program, const tern_train_run *run, const tn_recorded_run *verify,
                         tn_verified *verified) {
  if (program->lang->training) return train_whole(program, run, verify, verified);
  tn_api_usage_hint(program->session, "", tn_str_of(tern_language_name(program->language)),
                    " programs are not trained as a whole; .ail programs are",
                    TN_LIT("`tern run` runs a program that trains what it needs itself"));
  return finish(program, false);
}

tern_status tern_train(tern_program *program, const tern_train_run *run) {
  tern_status status = tn_api_train(program, run, NULL, NULL);
  if (status == TERN_OK) take_trained(program);
  tn_api_drop_made(program->session);
  return status;
}

tern_status tern_run_app(tern_program *program) {
  if (program->lang->app) return run_with(program, program->lang->app);
  tn_api_usage(program->session, "", tn_str_of(tern_language_name(program->language)),
               " programs have no events; apps are written in .ail");
  return finish(program, false);
}

/* ---- results ---- */

size_t tern_output_count(const tern_program *program) { return program->outcome.count; }

const char *tern_output_name(const tern_program *program, size_t index) {
  if (index >= program->outcome.count) return "";
  tn_str name = program->outcome.values[index].name;
  return name.at ? name.at : "";
}

void tn_api_fill_tensor(const tn_view *view, tern_tensor *out) {
  *out = (tern_tensor){ .dtype = (tern_dtype)view->dtype,
                        .rank = view->rank,
                        .dims = view->dim,
                        .strides = view->stride,
                        .data = view->data };
}

tern_status tern_output(const tern_program *program, size_t index, tern_tensor *out) {
  if (index >= program->outcome.count) return TERN_USAGE;
  const tn_datum *datum = &program->outcome.values[index];
  if (datum->kind != TN_VALUE_TENSOR || !datum->tensor.buffer) return TERN_FAILED;
  tn_api_fill_tensor(&datum->tensor.view, out);
  return TERN_OK;
}

tern_status tern_param(const tern_program *program, size_t index, tern_tensor *out) {
  const tn_view *view = tn_api_param(program, index);
  if (!view) return TERN_USAGE;
  tn_api_fill_tensor(view, out);
  return TERN_OK;
}

const char *tern_result_text(tern_program *program) {
  tn_text *text = &program->session->text;
  tn_text_clear(text);
  if (program->lang->show)
    program->lang->show(program->unit, &program->outcome, text);
  else
    tn_text_add(text, program->outcome.text);
  return tn_api_text(program->session);
}

static void begin_answer(tn_json_writer *json, bool ok) {
  tn_json_object_begin(json);
  tn_json_key(json, "ok"), tn_json_bool(json, ok);
}

static void add_diagnostics(tern_session *session, tn_json_writer *json, const char *key) {
  tn_diags_sort(&session->diags);
  tn_json_key(json, key), tn_diags_render_json(&session->diags, json);
  if (session->diags.dropped == 0) return;
  tn_json_key(json, "omitted"), tn_json_uint(json, session->diags.dropped);
}

static void add_printed(tern_session *session, tn_json_writer *json) {
  tn_text raw;
  tn_text_init(&raw, &session->heap);
  tn_text_byte(&raw, '[');
  tn_text_add(&raw, tn_text_str(&session->printed));
  tn_text_byte(&raw, ']');
  tn_json_key(json, "printed"), tn_json_raw(json, tn_text_str(&raw));
  if (raw.failed) json->out->failed = true;
  tn_text_free(&raw);
}

static void add_values(tern_program *program, tn_json_writer *json, const char *key) {
  tern_session *session = program->session;
  tn_json_key(json, key), tn_json_array_begin(json);
  for (size_t i = 0; i < program->outcome.count; i++) {
    tn_text value;
    tn_text_init(&value, &session->heap);
    tn_datum_json(&program->outcome.values[i], session->names, &value);
    tn_json_raw(json, tn_text_str(&value));
    if (value.failed) json->out->failed = true;
    tn_text_free(&value);
  }
  tn_json_array_end(json);
}

static void add_single_value(tern_program *program, tn_json_writer *json) {
  tern_session *session = program->session;
  tn_text value;
  tn_text_init(&value, &session->heap);
  if (program->outcome.count > 0) tn_datum_json(&program->outcome.values[0], session->names, &value);
  tn_json_key(json, "value"), tn_json_raw(json, tn_text_str(&value));
  if (value.failed) json->out->failed = true;
  tn_text_free(&value);
  tn_json_key(json, "type"), tn_json_string(json, program->outcome.type);
}

/* Members the language wrote itself: "\"machine\":{...}". */
static void add_extra(tern_program *program, tn_json_writer *json) {
  if (program->outcome.extra_json.len == 0) return;
  tn_text_byte(json->out, ',');
  tn_text_add(json->out, program->outcome.extra_json);
}

static void add_success(tern_program *program, tn_json_writer *json) {
  tern_session *session = program->session;
  tn_json_key(json, "language"), tn_json_string(json, tn_str_of(tern_language_name(program->language)));
  add_diagnostics(session, json, "warnings");
  if (!program->ran) return;
  switch (program->language) {
    case TERN_LANG_NINTH:
      add_printed(session, json);
      add_values(program, json, "stack");
      break;
    case TERN_LANG_MIND:
      add_single_value(program, json);
      if (session->printed_count > 0) add_printed(session, json);
      break;
    default:
      if (program->outcome.values) add_values(program, json, "outputs");
      break;
  }
}

static const char *answer(tern_program *program) {
  tern_session *session = program->session;
  bool ok = program->status == TERN_OK;
  tn_text_clear(&session->text);
  tn_json_writer json = tn_json_writer_on(&session->text);
  begin_answer(&json, ok);
  if (ok) {
    add_success(program, &json);
  } else {
    add_diagnostics(session, &json, "diagnostics");
    bool prints = program->language != TERN_LANG_AIL && session->printed_count > 0;
    if (program->language == TERN_LANG_NINTH || prints) add_printed(session, &json);
  }
  add_extra(program, &json);
  tn_json_object_end(&json);
  return tn_api_text(session);
}

/* A value may be nested too deep for the calling thread, which need not be the one that ran the
 * program; or be so large that printing it is stopped. */
const char *tern_result_json(tern_program *program) {
  tern_session *session = program->session;
  tn_stack_find(&session->heap.stack);
  const char *text = answer(program);
  if (!session->heap.stack.exceeded && (text || !session->heap.stopped)) return text;
  program->status = TERN_FAILED;
  tn_api_settle(session);
  return tern_failure_json(session);
}

const char *tern_failure_json(tern_session *session) {
  tn_text_clear(&session->text);
  tn_json_writer json = tn_json_writer_on(&session->text);
  begin_answer(&json, false);
  add_diagnostics(session, &json, "diagnostics");
  tn_json_object_end(&json);
  return tn_api_text(session);
}

/* ---- other forms of a program ---- */

/* The session's text, if it was made. */
static const char *shown(tern_session *session, bool ok) {
  tn_api_end_compiling(session);
  const char *text = ok && is_whole(session) ? tn_api_text(session) : NULL;
  if (!text) tn_api_settle(session);
  return text;
}

/* The byte at a line and column; false when the text has no such place. */
static bool find_place(tn_str text, uint32_t line, uint32_t column, uint32_t *out) {
  size_t at = 0;
  for (; line > 1; line--, at++) {
    while (at < text.len && text.at[at] != '\n') at++;
    if (at == text.len) return false;
  }
  for (; column > 1 && at < text.len && text.at[at] != '\n'; column--) {
    uint32_t code;
    size_t bytes = tn_utf8_decode(text, at, &code);
    at += bytes ? bytes : 1;
  }
  *out = (uint32_t)at;
  return line == 1 && column == 1;
}

const char *tern_type_at(tern_program *program, uint32_t line, uint32_t column) {
  tern_session *session = program->session;
  uint32_t place;
  tn_api_begin(session);
  tn_text_clear(&session->text);
  if (!program->lang->type_at || !tn_api_confine(session)) return NULL;
  if (!find_place(tn_sources_get(&session->sources, program->unit->file)->text, line, column, &place))
    return NULL;
  bool found = program->lang->type_at(program->unit, place, &session->text);
  tn_diags_clear(&session->diags);
  return found ? tn_api_text(session) : NULL;
}

const char *tern_format(tern_program *program) {
  tern_session *session = program->session;
  tn_api_begin_compiling(program->session);
  tn_text_clear(&session->text);
  if (!tn_api_confine(session)) return shown(session, false);
  return shown(session, program->lang->format(program->unit, &session->text));
}

const char *tern_format_json(tern_program *program, const char *formatted, int check) {
  tern_session *session = program->session;
  tn_str own = tn_sources_get(&session->sources, program->unit->file)->text;
  bool changed = !tn_str_equal(own, tn_str_of(formatted));
  tn_text answer;
  tn_text_init(&answer, &session->heap); /* `formatted` may be the session's text */
  tn_json_writer json = tn_json_writer_on(&answer);
  begin_answer(&json, !(check && changed));
  tn_json_key(&json, "language");
  tn_json_string(&json, tn_str_of(tern_language_name(program->language)));
  add_diagnostics(session, &json, check && changed ? "diagnostics" : "warnings");
  tn_json_key(&json, "changed"), tn_json_bool(&json, changed);
  tn_json_key(&json, "text"), tn_json_string(&json, tn_str_of(formatted));
  tn_json_object_end(&json);
  tn_text_clear(&session->text);
  tn_text_add(&session->text, tn_text_str(&answer));
  if (answer.failed) session->text.failed = true;
  tn_text_free(&answer);
  return tn_api_text(session);
}

static bool emit_form(tern_program *program, const char *name, tn_text *out) {
  tern_session *session = program->session;
  tn_emit_kind kind = tn_emit_kind_of(name);
  if (kind == TN_EMIT_PLAN && program->lang->plan) return program->lang->plan(program->unit, out);
  if (kind == TN_EMIT_COUNT)
    return tn_api_usage(session, "there is no form ", tn_str_of(name), "; the forms are " TN_EMIT_NAMES);
  return program->lang->emit(program->unit, kind, out);
}

static bool emit(tern_program *program, const char *name, tn_text *out) {
  tn_api_lend(program);
  tn_api_begin_compiling(program->session);
  bool ok = tn_api_confine(program->session) && lend_trained(program) && emit_form(program, name, out) &&
            !out->failed && is_whole(program->session);
  tn_api_end_compiling(program->session);
  if (!ok) tn_api_settle(program->session);
  return ok;
}

const char *tern_emit_bytes(tern_program *program, const char *kind, size_t *length) {
  tern_session *session = program->session;
  tn_text_clear(&session->text);
  bool ok = emit(program, kind, &session->text);
  *length = ok ? session->text.len : 0;
  return shown(session, ok);
}

const char *tern_emit(tern_program *program, const char *kind) {
  size_t length;
  return tern_emit_bytes(program, kind, &length);
}

const char *tn_api_draw(tern_program *program, const char *open) {
  tern_session *session = program->session;
  tn_outline outline;
  tn_outline_init(&outline, &session->heap, tn_str_of(open));
  session->host.outline = &outline;
  const char *picture = tern_emit(program, "svg");
  session->host.outline = NULL;
  tn_outline_free(&outline);
  return picture;
}

void tn_api_begin_success(tern_program *program, tn_json_writer *json) {
  begin_answer(json, true);
  tn_json_key(json, "language"), tn_json_string(json, tn_str_of(tern_language_name(program->language)));
  add_diagnostics(program->session, json, "warnings");
}

const char *tern_emit_json(tern_program *program, const char *kind, const char *path) {
  tern_session *session = program->session;
  tn_text form;
  tn_text_init(&form, &session->heap);
  bool fits = path || tn_emit_is_text(tn_emit_kind_of(kind));
  bool ok = path || (fits && emit(program, kind, &form));
  if (!fits) tn_api_usage(session, "", tn_str_of(kind), " is no text; give a file with -o");
  tn_text_clear(&session->text);
  tn_json_writer json = tn_json_writer_on(&session->text);
  tn_api_begin_success(program, &json);
  tn_json_key(&json, "form"), tn_json_string(&json, tn_str_of(kind));
  tn_json_key(&json, path ? "file" : "text");
  tn_json_string(&json, path ? tn_str_of(path) : tn_text_str(&form));
  tn_json_object_end(&json);
  ok = ok && !form.failed;
  tn_text_free(&form);
  return ok ? tn_api_text(session) : NULL;
}
