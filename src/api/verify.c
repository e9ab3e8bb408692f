/* api/verify.c: repeats a recorded run from its folder and compares it bit by bit.
 *
 * run.json has the program's text and the seed, given.safetensors what the
 * command line gave; only the data file is elsewhere, and its hash is in the checkpoint. It is
 * looked up from the folder in which the run was started, whose path run.json records, and then
 * from the current one. A record may come from anybody: what the program needs, it is granted by
 * this command line or not at all.
 *
 * All files are read before anything is computed, while no training can write
 * them. train/verify.c compares them; any other file in the folder was not checked, and that is an
 * error too. */
#include <string.h>

#include "api/internal.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/json.h"
#include "data/safetensors.h"
#include "train/loop.h"

#define FILE_LIMIT   ((uint64_t)1 << 40)
#define NAMES_LIMIT  10000 /* files in a folder that are examined */
#define NAMES_LISTED 5     /* of those that were not checked */

/* The files of a run, in the order in which they are read. */
enum { RECORD, CHECKPOINT, HISTORY, WEIGHTS, GIVEN, FACTS, FILE_COUNT };
static const char *const files[FILE_COUNT] = { [RECORD] = TN_RECORD_FILE,
                                               [CHECKPOINT] = "checkpoint",
                                               [HISTORY] = "history.jsonl",
                                               [WEIGHTS] = "weights.safetensors",
                                               [GIVEN] = TN_GIVEN_FILE,
                                               [FACTS] = TN_FACTS_FILE };

typedef struct {
  tern_session *session;
  const char *folder;
  tn_arena arena;
  tn_str path[FILE_COUNT];
  tn_file_bytes bytes[FILE_COUNT];
  bool there[FILE_COUNT];
  tn_folder_names names; /* of everything in the folder */
  tn_run_record record;
  tn_verified found;
} verification;

static bool no_memory(verification *r) {
  return tn_report_memory(&r->session->diags, &r->session->heap, TN_NOWHERE, "the record of the run");
}

static bool corrupt(verification *r, int file, const char *format, const char *reason) {
  if (reason == tn_safetensors_no_memory || reason == tn_record_no_memory) return no_memory(r);
  tn_str hint = { 0 };
  if (reason == tn_record_unsealed)
    hint = TN_LIT("it was changed, or an older tern wrote it: verify with that one, or train again");
  return tn_report(&r->session->diags, TN_DIAG_E_FILE_CORRUPT, TN_NOWHERE, TN_TEXT("path", r->path[file]),
                   TN_STR("format", format), TN_STR("reason", reason), TN_HINT(hint));
}

/* ---- reading the folder ---- */

static bool cannot_read(verification *r, tn_str path, tn_file_status status) {
  if (status == TN_FILE_NO_MEMORY) return no_memory(r);
  if (status == TN_FILE_NOT_FOUND)
    return tn_report(&r->session->diags, TN_DIAG_E_FILE_NOT_FOUND, TN_NOWHERE, TN_TEXT("path", path),
                     TN_HINT(TN_LIT(TN_RUN_HINT)));
  return tn_report(&r->session->diags, TN_DIAG_E_FILE_IO_ERROR, TN_NOWHERE, TN_TEXT("path", path),
                   TN_STR("io_error_kind", tn_file_status_text(status)));
}

static bool read_file(verification *r, int file) {
  tn_text path;
  tn_text_init(&path, &r->session->heap);
  tn_folder_join(&path, r->folder, files[file]);
  r->path[file] = tn_arena_str(&r->arena, tn_text_str(&path));
  tn_file_status status =
      path.failed || r->arena.failed
          ? TN_FILE_NO_MEMORY
          : tn_file_read(&r->session->heap, path.at, FILE_LIMIT, NULL, &r->bytes[file]);
  tn_text_free(&path);
  r->there[file] = status == TN_FILE_OK;
  if (status == TN_FILE_OK || (status == TN_FILE_NOT_FOUND && file != RECORD)) return true;
  return cannot_read(r, r->path[file], status);
}

/* The names last: what cannot be listed is then not a folder of a run for a better reason. */
static bool read_files(verification *r) {
  for (int i = 0; i < FILE_COUNT; i++) {
    if (!read_file(r, i)) return false;
  }
  tn_file_status status =
      tn_folder_list(&r->session->heap, r->folder, NAMES_LIMIT, &r->arena, &r->names);
  return status == TN_FILE_OK || cannot_read(r, tn_str_of(r->folder), status);
}

/* A training that is under way changes the files: there is nothing to compare yet. */
static bool read_folder(verification *r) {
  int held;
  if (tn_folder_take(r->folder, TN_FOLDER_SHARED, &held) == TN_FOLDER_IN_USE)
    return tn_report(&r->session->diags, TN_DIAG_E_RUN_IN_USE, TN_NOWHERE, TN_STR("path", r->folder));
  bool ok = read_files(r);
  tn_folder_release(&held);
  return ok;
}

static tn_str contents(const verification *r, int file) {
  return r->there[file] ? (tn_str){ r->bytes[file].at, r->bytes[file].len } : (tn_str){ 0 };
}

static bool read_record(verification *r) {
  const char *problem =
      tn_record_read(&r->session->heap, contents(r, RECORD), &r->arena, &r->record);
  return problem ? corrupt(r, RECORD, TN_RECORD_FILE, problem) : true;
}

/* ---- given.safetensors ---- */

static bool give(verification *r, tern_program *program, tn_str name, const tn_tensor *tensor) {
  const struct {
    const char *prefix;
    tn_givens *into;
  } kinds[] = { { TN_GIVEN_INPUT, &program->inputs },
                { TN_GIVEN_PARAM, &program->params },
                { TN_GIVEN_WEIGHTS, &program->weights } };
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    size_t length = strlen(kinds[i].prefix);
    if (!tn_str_starts(name, kinds[i].prefix)) continue;
    tn_str rest = { name.at + length, name.len - length };
    tn_given given = { .name = tn_arena_str(&program->given_arena, rest), .data = tn_tensor_ref(tensor) };
    if (kinds[i].into == &program->weights) program->has_weights = true;
    if (!program->given_arena.failed && tn_vec_push(&r->session->heap, kinds[i].into, given)) return true;
    tn_tensor_unref(&given.data);
    return tn_api_out_of_memory(r->session);
  }
  return corrupt(r, GIVEN, "safetensors", "a tensor is neither an input nor a parameter nor a weight");
}

static bool read_given(verification *r, tern_program *program) {
  tn_safetensors file;
  if (!r->record.given) return true;
  if (!r->there[GIVEN]) return cannot_read(r, r->path[GIVEN], TN_FILE_NOT_FOUND);
  const char *problem =
      tn_safetensors_read(&r->session->heap, r->bytes[GIVEN].at, r->bytes[GIVEN].len, &file);
  if (problem) return corrupt(r, GIVEN, "safetensors", problem);
  bool ok = true;
  for (size_t i = 0; ok && i < file.tensors.count; i++)
    ok = give(r, program, file.tensors.at[i].name, &file.tensors.at[i].tensor);
  tn_safetensors_free(&file);
  return ok;
}

/* ---- where the data is ---- */

/* The folder that the run was started in, if what the run reads is there: moved together with the record, or
 * where it always was. */
static tn_str base_of(verification *r) {
  tn_text path, found;
  tn_str base = { 0 };
  tn_text_init(&path, &r->session->heap);
  tn_text_init(&found, &r->session->heap);
  tn_text_puts(&path, r->folder);
  tn_text_byte(&path, '/');
  tn_text_add(&path, r->record.base);
  bool known = r->record.base.len > 0 && !path.failed && tn_file_absolute(path.at, &found);
  if (known) base = tn_arena_str(&r->arena, tn_text_str(&found));
  if (known && r->record.data.len > 0) {
    tn_text_byte(&found, '/');
    tn_text_add(&found, r->record.data);
    tn_text_clear(&path);
    if (found.failed || !tn_file_absolute(found.at, &path)) base = (tn_str){ 0 };
  }
  tn_text_free(&found);
  tn_text_free(&path);
  return base;
}

/* ---- what was not checked ---- */

static bool is_checked(const verification *r, tn_str name) {
  for (int i = 0; i < FILE_COUNT; i++) {
    if (tn_str_is(name, files[i])) return i == FACTS ? r->found.facts : i != GIVEN || r->record.given;
  }
  return tn_str_is(name, TN_EVALUATION_FILE); /* no part of the training: it may hold anything */
}

static void list_name(tn_text *list, tn_str name, size_t count) {
  if (count > NAMES_LISTED) return;
  if (count > 1) tn_text_puts(list, ", ");
  tn_text_add(list, name);
}

/* Any other file in the folder is reported, because nothing says what it should hold. So is the temporary of
 * a killed write: verifying removes nothing. */
static bool all_is_checked(verification *r) {
  static const char leftover[] = "a write that was killed left it: `tern train --resume` of the folder "
                                 "removes it, or remove it yourself";
  tn_text list;
  size_t count = 0, left = 0;
  tn_text_init(&list, &r->session->heap);
  for (size_t i = 0; i < r->names.count; i++) {
    if (is_checked(r, r->names.at[i])) continue;
    list_name(&list, r->names.at[i], ++count);
    left += tn_file_is_temporary(r->names.at[i].at);
  }
  if (count > NAMES_LISTED) tn_text_puts(&list, ", ...");
  bool failed = list.failed;
  if (count > 0 && !failed)
    tn_report(&r->session->diags, TN_DIAG_E_VERIFY_UNCHECKED, TN_NOWHERE, TN_STR("path", r->folder),
              TN_TEXT("files", tn_text_str(&list)), TN_INT("count", (int64_t)count),
              TN_HINT(left == count ? tn_str_of(leftover) : (tn_str){ 0 }));
  tn_text_free(&list);
  return failed ? no_memory(r) : count == 0;
}

/* ---- the repetition ---- */

static bool repeat(verification *r) {
  if (!r->there[CHECKPOINT]) return cannot_read(r, r->path[CHECKPOINT], TN_FILE_NOT_FOUND);
  tern_program *program = tern_load(r->session, TERN_LANG_AIL, r->record.program.at, r->record.source.at,
                                    r->record.source.len);
  if (!program) return false;
  tn_recorded_run recorded = { .folder = r->folder,
                               .record = &r->record,
                               .checkpoint = contents(r, CHECKPOINT),
                               .history = r->there[HISTORY] ? contents(r, HISTORY) : TN_LIT(""),
                               .weights = contents(r, WEIGHTS),
                               .given = contents(r, GIVEN),
                               .facts = contents(r, FACTS),
                               .checkpoint_path = r->path[CHECKPOINT].at,
                               .weights_path = r->path[WEIGHTS].at };
  uint64_t seed = r->session->host.seed;
  r->session->host.seed = r->record.seed;
  r->session->host.base = base_of(r);
  bool ok = read_given(r, program) && tn_api_take_record_settings(program, &r->record) &&
            tn_api_train(program, NULL, &recorded, &r->found) == TERN_OK;
  r->session->host.base = (tn_str){ 0 };
  r->session->host.seed = seed;
  tern_program_free(program);
  return ok;
}

/* ---- what was found ---- */

static bool is_complete(const verification *r) { return r->record.status == TN_RUN_STATUS_COMPLETED; }

static void write_text(const verification *r, tn_text *out) {
  const tn_verified *found = &r->found;
  tn_text_puts(out, "verified: ");
  if (is_complete(r)) {
    tn_text_puts(out, "every step, the history and the weights agree in every bit\n");
    return;
  }
  tn_text_int(out, found->steps);
  tn_text_puts(out, " of ");
  tn_text_int(out, found->wanted);
  tn_text_puts(out, " steps, the history and the checkpoint agree in every bit");
  if (found->weights_step >= 0) {
    tn_text_puts(out, ", and so do the weights of step ");
    tn_text_int(out, found->weights_step);
  }
  tn_text_byte(out, '\n');
}

static void write_json(const verification *r, tn_text *out) {
  tn_text hex;
  tn_text_init(&hex, out->heap);
  tn_text_hex(&hex, r->found.weights_sha256, TN_SHA256_BYTES);
  tn_json_writer json = tn_json_writer_on(out);
  tn_json_object_begin(&json);
  tn_json_key(&json, "ok"), tn_json_bool(&json, true);
  tn_json_key(&json, "verified"), tn_json_bool(&json, true);
  tn_json_key(&json, "step"), tn_json_int(&json, r->found.steps);
  tn_json_key(&json, "steps"), tn_json_int(&json, r->found.wanted);
  tn_json_key(&json, "lines_not_compared"), tn_json_int(&json, 0); /* what is not compared is an error */
  tn_json_key(&json, "weights_file_compared"), tn_json_bool(&json, r->found.weights_step >= 0);
  tn_json_key(&json, "weights_sha256"), tn_json_string(&json, tn_text_str(&hex));
  tn_json_object_end(&json);
  if (hex.failed) out->failed = true;
  tn_text_free(&hex);
}

const char *tern_verify(tern_session *session, const char *folder, int json) {
  verification r = { .session = session, .folder = folder };
  tn_api_begin(session);
  tn_arena_init(&r.arena, &session->heap);
  /* The files are read, and parsed inside the sandbox. */
  bool ok = read_folder(&r) && tn_api_confine(session) && read_record(&r) && repeat(&r) && all_is_checked(&r);
  tn_text_clear(&session->text);
  if (ok) (json ? write_json : write_text)(&r, &session->text);
  if (ok && session->text.failed) ok = no_memory(&r);
  for (int i = 0; i < FILE_COUNT; i++) tn_file_release(&session->heap, &r.bytes[i]);
  tn_vec_free(&session->heap, &r.names);
  tn_arena_free(&r.arena);
  if (!ok) tn_api_settle(session);
  return ok ? tn_api_text(session) : NULL;
}
