/* api/verify.c: a recorded run made again from its folder, and compared bit by bit.
 *
 * run.json has the program's text and the seed, given.safetensors what the
 * command line gave; only the data file lies elsewhere, and its fingerprint is
 * in the checkpoint. It is looked for from the folder in which the run was
 * started, to which run.json has the way, and then from the current one. A
 * record may come from anybody: what the program needs, it is granted by this
 * command line or not at all. */
#include <string.h>

#include "api/internal.h"
#include "base/file.h"
#include "base/json.h"
#include "base/number.h"
#include "base/sha256.h"
#include "data/safetensors.h"
#include "train/loop.h"

#define RECORD_LIMIT ((size_t)1 << 30)

typedef struct {
  tern_session *session;
  const char *folder;
  tn_arena arena;
  tn_str program, source, seed, weights, status, data, base;
  bool has_given;
  tn_verified found;
  const char *no_weights; /* why weights.safetensors was not compared; NULL: it was */
} record;

static bool no_memory(record *r) {
  return tn_report_memory(&r->session->diags, &r->session->heap, TN_NOWHERE, "the record of the run");
}

static bool corrupt(record *r, const char *path, const char *format, const char *reason) {
  if (reason == tn_safetensors_no_memory) return no_memory(r);
  return tn_report(&r->session->diags, TN_DIAG_E_FILE_CORRUPT, TN_NOWHERE, TN_STR("path", path),
                   TN_STR("format", format), TN_STR("reason", reason));
}

/* The bytes of a file in the folder; its path, in the arena, in *path. */
static tn_file_status open_file(record *r, const char *name, tn_str *path, tn_file_bytes *out) {
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
  return status;
}

static bool cannot_read(record *r, tn_str path, tn_file_status status) {
  if (status == TN_FILE_NO_MEMORY) return no_memory(r);
  if (status == TN_FILE_NOT_FOUND)
    return tn_report(&r->session->diags, TN_DIAG_E_FILE_NOT_FOUND, TN_NOWHERE, TN_TEXT("path", path));
  return tn_report(&r->session->diags, TN_DIAG_E_FILE_IO_ERROR, TN_NOWHERE, TN_TEXT("path", path),
                   TN_STR("io_error_kind", tn_file_status_text(status)));
}

static bool read_file(record *r, const char *name, tn_str *path, tn_file_bytes *out) {
  tn_file_status status = open_file(r, name, path, out);
  return status == TN_FILE_OK || cannot_read(r, *path, status);
}

/* ---- run.json ---- */

static void take_member(record *r, tn_str key, const tn_json_token *value) {
  const struct {
    const char *key;
    tn_str *into;
  } texts[] = { { "program", &r->program }, { "source", &r->source },
                { "seed", &r->seed },       { "weights_sha256", &r->weights },
                { "status", &r->status },   { "data", &r->data },
                { "base", &r->base } };
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

/* ---- where the data is ---- */

/* The folder that the run was started in, if what the run reads is there: moved together with the record, or
 * where it always was. */
static tn_str base_of(record *r) {
  tn_text path, found;
  tn_str base = { 0 };
  tn_text_init(&path, &r->session->heap);
  tn_text_init(&found, &r->session->heap);
  tn_text_puts(&path, r->folder);
  tn_text_byte(&path, '/');
  tn_text_add(&path, r->base);
  bool known = r->base.len > 0 && !path.failed && tn_file_absolute(path.at, &found);
  if (known) base = tn_arena_str(&r->arena, tn_text_str(&found));
  if (known && r->data.len > 0) {
    tn_text_byte(&found, '/');
    tn_text_add(&found, r->data);
    tn_text_clear(&path);
    if (found.failed || !tn_file_absolute(found.at, &path)) base = (tn_str){ 0 };
  }
  tn_text_free(&found);
  tn_text_free(&path);
  return base;
}

/* ---- what else the folder says ---- */

static bool differs(record *r, const char *path, const char *what) {
  return tn_report(&r->session->diags, TN_DIAG_E_VERIFY_DIFFERS, TN_NOWHERE, TN_STR("path", path),
                   TN_INT("step", r->found.steps), TN_STR("what", what));
}

/* The parameters of weights.safetensors, which are in the order of the program. */
static bool same_file(record *r, const uint8_t wanted[TN_SHA256_BYTES]) {
  tn_str path;
  tn_file_bytes bytes;
  tn_safetensors file;
  tn_sha256 hash;
  uint8_t digest[TN_SHA256_BYTES];
  tn_file_status status = open_file(r, "weights.safetensors", &path, &bytes);
  if (status == TN_FILE_NOT_FOUND) r->no_weights = "it is not there";
  if (status == TN_FILE_NOT_FOUND) return true;
  if (status != TN_FILE_OK) return cannot_read(r, path, status);
  const char *problem = tn_safetensors_read(&r->session->heap, bytes.at, bytes.len, &file);
  tn_file_release(&r->session->heap, &bytes);
  if (problem) return corrupt(r, path.at, "safetensors", problem);
  tn_sha256_init(&hash);
  for (size_t i = 0; i < file.tensors.count; i++)
    tn_view_sha256_update(&file.tensors.at[i].tensor.view, &hash);
  tn_sha256_final(&hash, digest);
  tn_safetensors_free(&file);
  return memcmp(digest, wanted, sizeof digest) == 0 || differs(r, path.at, "weights.safetensors");
}

/* A run that did not come to its end may have written them at other steps than its last checkpoint. */
static bool same_weights(record *r) {
  tn_text hex;
  if (!tn_str_is(r->status, "completed")) {
    r->no_weights = "the run did not come to its end";
    return true;
  }
  tn_text_init(&hex, &r->session->heap);
  tn_text_hex(&hex, r->found.weights_sha256, TN_SHA256_BYTES);
  bool failed = hex.failed, same = tn_str_equal(tn_text_str(&hex), r->weights);
  tn_text_free(&hex);
  if (failed) return no_memory(r);
  if (!same) return differs(r, r->folder, "the hash of the weights in run.json");
  return same_file(r, r->found.weights_sha256);
}

/* ---- the repetition ---- */

static bool repeat(record *r) {
  tern_program *program = tern_load(r->session, TERN_LANG_AIL, r->program.at, r->source.at, r->source.len);
  if (!program) return false;
  r->session->host.base = base_of(r);
  bool ok = read_given(r, program) && tn_api_train(program, NULL, r->folder, &r->found) == TERN_OK;
  ok = ok && same_weights(r);
  r->session->host.base = (tn_str){ 0 };
  tern_program_free(program);
  return ok;
}

/* What was compared, and what was not. */
static void write_text(const record *r, tn_text *out) {
  const tn_verified *found = &r->found;
  if (found->steps == found->wanted) {
    tn_text_puts(out, "verified: every step, the history and the weights agree in every bit\n");
  } else {
    tn_text_puts(out, "verified: ");
    tn_text_int(out, found->steps);
    tn_text_puts(out, " of ");
    tn_text_int(out, found->wanted);
    tn_text_puts(out,
                 " steps, up to the last checkpoint: their history and its weights agree in every bit\n");
  }
  if (found->beyond > 0) {
    tn_text_puts(out, "not compared: ");
    tn_text_int(out, found->beyond);
    tn_text_puts(out, found->beyond == 1 ? " later line" : " later lines");
    tn_text_puts(out, " of history.jsonl, which no checkpoint covers\n");
  }
  if (!r->no_weights) return;
  tn_text_puts(out, "not compared: weights.safetensors; ");
  tn_text_puts(out, r->no_weights);
  tn_text_byte(out, '\n');
}

static void write_json(const record *r, tn_text *out) {
  tn_text hex;
  tn_text_init(&hex, out->heap);
  tn_text_hex(&hex, r->found.weights_sha256, TN_SHA256_BYTES);
  tn_json_writer json = tn_json_writer_on(out);
  tn_json_object_begin(&json);
  tn_json_key(&json, "ok"), tn_json_bool(&json, true);
  tn_json_key(&json, "verified"), tn_json_bool(&json, true);
  tn_json_key(&json, "step"), tn_json_int(&json, r->found.steps);
  tn_json_key(&json, "steps"), tn_json_int(&json, r->found.wanted);
  tn_json_key(&json, "lines_not_compared"), tn_json_int(&json, r->found.beyond);
  tn_json_key(&json, "weights_file_compared"), tn_json_bool(&json, !r->no_weights);
  tn_json_key(&json, "weights_sha256"), tn_json_string(&json, tn_text_str(&hex));
  tn_json_object_end(&json);
  if (hex.failed) out->failed = true;
  tn_text_free(&hex);
}

const char *tern_verify(tern_session *session, const char *folder, int json) {
  record r = { .session = session, .folder = folder };
  tn_api_begin(session);
  tn_arena_init(&r.arena, &session->heap);
  uint64_t seed = session->host.seed;
  bool ok = read_record(&r) && repeat(&r);
  session->host.seed = seed;
  tn_text_clear(&session->text);
  if (ok) (json ? write_json : write_text)(&r, &session->text);
  tn_arena_free(&r.arena);
  if (ok && session->text.failed) ok = no_memory(&r);
  return ok ? tn_api_text(session) : NULL;
}
