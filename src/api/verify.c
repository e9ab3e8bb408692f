/* api/verify.c: a recorded run made again from its folder, and compared bit by bit.
 *
 * run.json has the program's text and the seed, given.safetensors what the
 * command line gave; only the data file lies elsewhere, and its fingerprint is
 * in the checkpoint. A record may come from anybody: what the program needs, it
 * is granted by this command line or not at all. */
#include <string.h>

#include "api/internal.h"
#include "base/file.h"
#include "base/json.h"
#include "base/number.h"
#include "data/safetensors.h"

#define RECORD_LIMIT ((size_t)1 << 30)

typedef struct {
  tern_session *session;
  const char *folder;
  tn_arena arena;
  tn_str program, source, seed, weights;
  bool has_given;
} record;

static bool corrupt(record *r, const char *path, const char *format, const char *reason) {
  return tn_report(&r->session->diags, TN_DIAG_E_FILE_CORRUPT, TN_NOWHERE, TN_STR("path", path),
                   TN_STR("format", format), TN_STR("reason", reason));
}

/* The bytes of a file in the folder; its path, in the arena, in *path. */
static bool read_file(record *r, const char *name, tn_str *path, tn_file_bytes *out) {
  tn_text text;
  tn_text_init(&text, &r->session->heap);
  tn_text_puts(&text, r->folder);
  tn_text_byte(&text, '/');
  tn_text_puts(&text, name);
  *path = tn_arena_str(&r->arena, tn_text_str(&text));
  tn_file_status status = text.failed || r->arena.failed
                              ? TN_FILE_NO_MEMORY
                              : tn_file_read(&r->session->heap, text.at, RECORD_LIMIT, NULL, out);
  tn_text_free(&text);
  if (status == TN_FILE_OK) return true;
  if (status == TN_FILE_NOT_FOUND)
    return tn_report(&r->session->diags, TN_DIAG_E_FILE_NOT_FOUND, TN_NOWHERE, TN_TEXT("path", *path));
  return tn_report(&r->session->diags, TN_DIAG_E_FILE_IO_ERROR, TN_NOWHERE, TN_TEXT("path", *path),
                   TN_STR("io_error_kind", tn_file_status_text(status)));
}

/* ---- run.json ---- */

static void take_member(record *r, tn_str key, const tn_json_token *value) {
  const struct {
    const char *key;
    tn_str *into;
  } texts[] = { { "program", &r->program },
                { "source", &r->source },
                { "seed", &r->seed },
                { "weights_sha256", &r->weights } };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    if (value->kind == TN_JSON_STRING && tn_str_is(key, texts[i].key))
      *texts[i].into = tn_arena_str(&r->arena, value->text);
  }
  if (tn_str_is(key, "given")) r->has_given = value->kind == TN_JSON_TRUE;
}

static bool parse_record(record *r, tn_str text) {
  tn_json_reader json;
  tn_json_token token;
  tn_json_init(&json, text, &r->arena);
  if (tn_json_next(&json, &token) != TN_JSON_OBJECT_BEGIN) return false;
  while (tn_json_next(&json, &token) == TN_JSON_KEY) {
    tn_str key = token.text;
    if (tn_json_next(&json, &token) <= TN_JSON_END) return false;
    take_member(r, key, &token);
    if (!tn_json_skip(&json, &token)) return false;
  }
  return token.kind == TN_JSON_OBJECT_END && r->source.at && r->program.at && r->seed.at;
}

static bool read_record(record *r) {
  tn_str path;
  tn_file_bytes bytes;
  uint64_t seed;
  if (!read_file(r, "run.json", &path, &bytes)) return false;
  bool ok = parse_record(r, (tn_str){ bytes.at, bytes.len }) && tn_number_parse_u64(r->seed, &seed);
  tn_file_release(&r->session->heap, &bytes);
  if (!ok) return corrupt(r, path.at, "run.json", "it is not the record of a run");
  r->session->host.seed = seed;
  return true;
}

/* ---- given.safetensors ---- */

static bool give(record *r, tern_program *program, tn_str name, const tn_tensor *tensor) {
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
    return tn_api_report_fault(r->session, &(tn_fault){ .kind = TN_FAULT_MEMORY });
  }
  return true;
}

static bool read_given(record *r, tern_program *program) {
  tn_str path;
  tn_file_bytes bytes;
  tn_safetensors file;
  if (!r->has_given) return true;
  if (!read_file(r, TN_GIVEN_FILE, &path, &bytes)) return false;
  const char *problem = tn_safetensors_read(&r->session->heap, bytes.at, bytes.len, &file);
  tn_file_release(&r->session->heap, &bytes);
  if (problem) return corrupt(r, path.at, "safetensors", problem);
  bool ok = true;
  for (size_t i = 0; ok && i < file.tensors.count; i++)
    ok = give(r, program, file.tensors.at[i].name, &file.tensors.at[i].tensor);
  tn_safetensors_free(&file);
  return ok;
}

/* ---- the repetition ---- */

static bool repeat(record *r) {
  tern_program *program = tern_load(r->session, TERN_LANG_AIL, r->program.at, r->source.at, r->source.len);
  if (!program) return false;
  bool ok = read_given(r, program) && tn_api_train(program, NULL, r->folder) == TERN_OK;
  if (ok) {
    tn_text_clear(&r->session->text);
    tn_text_puts(&r->session->text, "verified: every step, the history and the weights agree in every bit\n");
  }
  tern_program_free(program);
  return ok;
}

const char *tern_verify(tern_session *session, const char *folder, int json) {
  record r = { .session = session, .folder = folder };
  tn_api_begin(session);
  tn_arena_init(&r.arena, &session->heap);
  uint64_t seed = session->host.seed;
  bool ok = read_record(&r) && repeat(&r);
  session->host.seed = seed;
  if (ok && json) {
    tn_text_clear(&session->text);
    tn_json_writer writer = tn_json_writer_on(&session->text);
    tn_json_object_begin(&writer);
    tn_json_key(&writer, "ok"), tn_json_bool(&writer, true);
    tn_json_key(&writer, "verified"), tn_json_bool(&writer, true);
    tn_json_key(&writer, "weights_sha256"), tn_json_string(&writer, r.weights);
    tn_json_object_end(&writer);
  }
  tn_arena_free(&r.arena);
  return ok ? tn_api_text(session) : NULL;
}
