/* train/folder.c: what a run leaves behind, and how it goes on.
 *
 *   run.json             what was run, and how it ended
 *   history.jsonl        a line for every step
 *   weights.safetensors  the parameters, by name
 *   checkpoint           parameters, optimiser state, step, generator: everything to go on with
 *
 * Each file is replaced whole. A checkpoint carries the hashes of the program
 * and of the data, the seed and the options that decide bits; one that belongs
 * to something else is refused. */
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/number.h"
#include "data/safetensors.h"
#include "train/loop_internal.h"

#define CHECKPOINT_LIMIT ((size_t)1 << 40)

/* ---- writing ---- */

static bool write_file(tn_loop *loop, const char *name, tn_text *text) {
  tn_text path;
  tn_text_init(&path, loop->host->heap);
  tn_text_puts(&path, loop->options->out);
  tn_text_byte(&path, '/');
  tn_text_puts(&path, name);
  bool ok = !path.failed && !text->failed;
  if (!ok) {
    tn_loop_out_of_memory(loop);
  } else {
    tn_file_status status = tn_file_replace(loop->host->heap, path.at, tn_text_str(text), NULL);
    ok = status == TN_FILE_OK ||
         tn_report(loop->host->diags, TN_DIAG_E_FILE_WRITE, TN_NOWHERE, TN_STR("path", path.at),
                   TN_STR("reason", tn_file_status_text(status)));
  }
  tn_text_free(&path);
  return ok;
}

static void add_hex(tn_json_writer *json, const char *key, const uint8_t digest[32], tn_heap *heap) {
  tn_text hex;
  tn_text_init(&hex, heap);
  tn_text_hex(&hex, digest, 32);
  tn_json_key(json, key), tn_json_string(json, tn_text_str(&hex));
  tn_text_free(&hex);
}

static void add_number(tn_json_writer *json, const char *key, uint64_t number) {
  char digits[TN_NUMBER_BYTES];
  tn_json_key(json, key), tn_json_string(json, (tn_str){ digits, tn_number_print_u64(number, digits) });
}

void tn_loop_source_sha256(const tn_loop *loop, uint8_t digest[32]) {
  const tn_source *source = tn_sources_get(loop->host->sources, loop->file);
  tn_sha256 hash;
  tn_sha256_init(&hash);
  tn_sha256_update(&hash, source->text.at, source->text.len);
  tn_sha256_final(&hash, digest);
}

/* What decides the bits of the run, as strings: safetensors allows no others. */
static void write_identity(const tn_loop *loop, tn_json_writer *json) {
  uint8_t digest[32];
  tn_loop_source_sha256(loop, digest);
  tn_json_key(json, "version"), tn_json_string(json, tn_str_of(loop->options->version));
  add_hex(json, "source_sha256", digest, loop->host->heap);
  add_hex(json, "data_sha256", loop->rows.sha256, loop->host->heap);
  add_number(json, "seed", loop->host->seed);
}

static void name_tensors(tn_loop *loop, bool with_states, tn_named_view *out, size_t *count) {
  *count = 0;
  for (int i = 0; i < tn_trainer_param_count(loop->trainer); i++) {
    out[(*count)++] =
        (tn_named_view){ tn_names_text(loop->host->names, tn_ail_param(loop->program, (size_t)i)->name),
                         *tn_trainer_param(loop->trainer, i) };
  }
  for (int i = 0; with_states && i < tn_trainer_state_count(loop->trainer); i++) {
    tn_text name;
    tn_text_init(&name, loop->host->heap);
    tn_text_puts(&name, "optimizer."); /* a dot cannot stand in a parameter's name */
    tn_text_int(&name, i);
    out[(*count)++] =
        (tn_named_view){ tn_arena_str(loop->arena, tn_text_str(&name)), *tn_trainer_state(loop->trainer, i) };
    tn_text_free(&name);
  }
}

static bool write_tensors(tn_loop *loop, const char *file, bool with_states, tn_str metadata) {
  size_t most = (size_t)(tn_trainer_param_count(loop->trainer) + tn_trainer_state_count(loop->trainer)),
         count;
  tn_named_view *tensors = tn_arena_array(loop->arena, most + 1, sizeof *tensors);
  if (!tensors) return tn_loop_out_of_memory(loop);
  tn_text text;
  tn_text_init(&text, loop->host->heap);
  name_tensors(loop, with_states, tensors, &count);
  tn_safetensors_write(tensors, count, metadata, &text);
  bool ok = write_file(loop, file, &text);
  tn_text_free(&text);
  return ok;
}

static bool write_history(tn_loop *loop) {
  tn_text text;
  tn_text_init(&text, loop->host->heap);
  for (size_t i = 0; i < loop->history.count; i++) {
    tn_loop_history_json(&loop->history.at[i], tn_ail_eval_of(loop->program), &text);
    tn_text_byte(&text, '\n');
  }
  bool ok = write_file(loop, "history.jsonl", &text);
  tn_text_free(&text);
  return ok;
}

/* History first: a checkpoint never knows of steps that the history does not have. */
bool tn_loop_checkpoint(tn_loop *loop) {
  if (!loop->options->out) return true;
  if (!write_history(loop)) return false;
  tn_text metadata;
  tn_text_init(&metadata, loop->host->heap);
  tn_json_writer json = tn_json_writer_on(&metadata);
  tn_json_object_begin(&json);
  tn_json_key(&json, "format"), tn_json_string(&json, TN_LIT("tern checkpoint 1"));
  write_identity(loop, &json);
  add_number(&json, "step", (uint64_t)tn_trainer_step_number(loop->trainer));
  add_number(&json, "generator", loop->rng.position);
  tn_json_object_end(&json);
  bool ok = !metadata.failed && write_tensors(loop, "checkpoint", true, tn_text_str(&metadata));
  if (metadata.failed) tn_loop_out_of_memory(loop);
  tn_text_free(&metadata);
  return ok;
}

static bool write_record(tn_loop *loop, const char *status) {
  tn_text text;
  uint8_t digest[32];
  tn_text_init(&text, loop->host->heap);
  tn_json_writer json = tn_json_writer_on(&text);
  tn_json_object_begin(&json);
  tn_json_key(&json, "program"), tn_json_string(&json, tn_sources_get(loop->host->sources, loop->file)->name);
  write_identity(loop, &json);
  tn_json_key(&json, "steps"), tn_json_int(&json, loop->steps);
  tn_json_key(&json, "step"), tn_json_int(&json, tn_trainer_step_number(loop->trainer));
  tn_json_key(&json, "status"), tn_json_string(&json, tn_str_of(status));
  tn_loop_weights_sha256(loop, digest);
  add_hex(&json, "weights_sha256", digest, loop->host->heap);
  tn_json_object_end(&json);
  tn_text_byte(&text, '\n');
  bool ok = write_file(loop, "run.json", &text);
  tn_text_free(&text);
  return ok;
}

bool tn_loop_begin_folder(tn_loop *loop) {
  if (!loop->options->out) return true;
  tn_file_status status = tn_file_make_folders(loop->host->heap, loop->options->out);
  if (status != TN_FILE_OK) {
    return tn_report(loop->host->diags, TN_DIAG_E_FILE_WRITE, TN_NOWHERE, TN_STR("path", loop->options->out),
                     TN_STR("reason", tn_file_status_text(status)));
  }
  return write_record(loop, "running");
}

bool tn_loop_finish_folder(tn_loop *loop, const char *status) {
  if (!loop->options->out) return true;
  return write_tensors(loop, "weights.safetensors", false, (tn_str){ 0 }) && write_record(loop, status);
}

/* ---- going on ---- */

typedef struct {
  tn_loop *loop;
  const char *path;
  tn_safetensors file;
} resumption;

static bool corrupt(resumption *r, const char *reason) {
  return tn_report(r->loop->host->diags, TN_DIAG_E_CHECKPOINT_CORRUPT, TN_NOWHERE, TN_STR("path", r->path),
                   TN_STR("reason", reason));
}

static bool mismatch(resumption *r, const char *reason) {
  return tn_report(r->loop->host->diags, TN_DIAG_E_CHECKPOINT_MISMATCH, TN_NOWHERE, TN_STR("path", r->path),
                   TN_STR("reason", reason));
}

/* The value of a key of the metadata; empty when it is not there. */
static tn_str metadata_value(resumption *r, const char *key) {
  tn_json_reader json;
  tn_json_token token;
  tn_json_init(&json, r->file.metadata, r->loop->arena);
  while (tn_json_next(&json, &token) > TN_JSON_END) {
    bool found = token.kind == TN_JSON_KEY && tn_str_is(token.text, key);
    if (found) return tn_json_next(&json, &token) == TN_JSON_STRING ? token.text : (tn_str){ 0 };
  }
  return (tn_str){ 0 };
}

static bool same_hash(resumption *r, const char *key, const uint8_t digest[32]) {
  tn_text hex;
  tn_text_init(&hex, r->loop->host->heap);
  tn_text_hex(&hex, digest, 32);
  bool same = tn_str_equal(metadata_value(r, key), tn_text_str(&hex));
  tn_text_free(&hex);
  return same;
}

static bool check_identity(resumption *r) {
  uint8_t digest[32];
  uint64_t seed;
  if (!tn_str_is(metadata_value(r, "format"), "tern checkpoint 1"))
    return corrupt(r, "it is not a checkpoint of this version");
  tn_loop_source_sha256(r->loop, digest);
  if (!same_hash(r, "source_sha256", digest)) return mismatch(r, "it belongs to another program");
  if (!same_hash(r, "data_sha256", r->loop->rows.sha256)) return mismatch(r, "it belongs to other data");
  if (!tn_number_parse_u64(metadata_value(r, "seed"), &seed)) return corrupt(r, "it has no seed");
  return seed == r->loop->host->seed || mismatch(r, "it was made with another seed");
}

static bool load_tensors(resumption *r) {
  tn_loop *loop = r->loop;
  size_t most = (size_t)(tn_trainer_param_count(loop->trainer) + tn_trainer_state_count(loop->trainer)),
         count;
  tn_named_view *wanted = tn_arena_array(loop->arena, most + 1, sizeof *wanted);
  if (!wanted) return tn_loop_out_of_memory(loop);
  name_tensors(loop, true, wanted, &count);
  if (count != r->file.tensors.count) return corrupt(r, "it does not have the program's parameters");
  for (size_t i = 0; i < count; i++) {
    const tn_tensor *found = tn_safetensors_find(&r->file, wanted[i].name);
    tn_shape a = tn_view_shape(&wanted[i].view);
    tn_shape b = found ? tn_view_shape(&found->view) : a;
    if (!found || found->view.dtype != wanted[i].view.dtype || !tn_shape_equal(&a, &b)) {
      return corrupt(r, "it does not have the program's parameters");
    }
    tn_view_copy(&wanted[i].view, &found->view);
  }
  return true;
}

static bool load_position(resumption *r) {
  uint64_t step, generator;
  if (!tn_number_parse_u64(metadata_value(r, "step"), &step) || step > INT64_MAX)
    return corrupt(r, "it has no step");
  if (!tn_number_parse_u64(metadata_value(r, "generator"), &generator))
    return corrupt(r, "it has no generator position");
  tn_trainer_set_step_number(r->loop->trainer, (int64_t)step);
  tn_rng_seek(&r->loop->rng, generator);
  return true;
}

/* ---- the history so far ---- */

static bool read_eval(tn_json_reader *json, tn_history_row *row) {
  tn_json_token token;
  if (tn_json_next(json, &token) != TN_JSON_OBJECT_BEGIN) return false;
  row->evaluated = true;
  while (tn_json_next(json, &token) == TN_JSON_KEY) {
    double *into = tn_str_is(token.text, "loss") ? &row->eval_loss : &row->eval_accuracy;
    if (tn_json_next(json, &token) == TN_JSON_NUMBER && !tn_json_token_f64(&token, into)) return false;
  }
  return token.kind == TN_JSON_OBJECT_END;
}

static bool read_history_line(tn_loop *loop, tn_str line, tn_history_row *row) {
  tn_json_reader json;
  tn_json_token token;
  bool has_step = false;
  tn_json_init(&json, line, loop->arena);
  if (tn_json_next(&json, &token) != TN_JSON_OBJECT_BEGIN) return false;
  while (tn_json_next(&json, &token) == TN_JSON_KEY) {
    tn_str key = token.text;
    if (tn_str_is(key, "eval")) {
      if (!read_eval(&json, row)) return false;
      continue;
    }
    if (tn_json_next(&json, &token) == TN_JSON_NUMBER) {
      if (tn_str_is(key, "step"))
        has_step = tn_json_token_i64(&token, &row->step);
      else if (!tn_json_token_f64(&token, &row->loss))
        return false;
    } else if (token.kind != TN_JSON_STRING) { /* a loss may be "NaN" */
      return false;
    } else {
      row->loss = tn_str_is(token.text, "NaN")        ? (double)__builtin_nanf("")
                  : tn_str_is(token.text, "Infinity") ? (double)__builtin_inff()
                                                      : (double)-__builtin_inff();
    }
  }
  return has_step && token.kind == TN_JSON_OBJECT_END;
}

/* Rows 0 .. step-1 must be there; what a killed run wrote behind them does not count. */
static bool load_history(resumption *r) {
  tn_loop *loop = r->loop;
  tn_text path;
  tn_file_bytes bytes;
  tn_text_init(&path, loop->host->heap);
  tn_text_puts(&path, loop->options->resume);
  tn_text_puts(&path, "/history.jsonl");
  tn_file_status status = path.failed
                              ? TN_FILE_NO_MEMORY
                              : tn_file_read(loop->host->heap, path.at, CHECKPOINT_LIMIT, NULL, &bytes);
  tn_text_free(&path);
  if (status != TN_FILE_OK) return corrupt(r, "the history beside it cannot be read");
  bool ok = true;
  for (size_t at = 0;
       ok && at < bytes.len && (int64_t)loop->history.count < tn_trainer_step_number(loop->trainer);) {
    const char *end = memchr(bytes.at + at, '\n', bytes.len - at);
    size_t length = end ? (size_t)(end - bytes.at) - at : bytes.len - at;
    tn_history_row row = { 0 };
    ok = read_history_line(loop, (tn_str){ bytes.at + at, length }, &row) &&
         row.step == (int64_t)loop->history.count;
    ok = ok && tn_vec_push(loop->host->heap, &loop->history, row);
    at += length + 1;
  }
  ok = ok && (int64_t)loop->history.count == tn_trainer_step_number(loop->trainer);
  tn_file_release(loop->host->heap, &bytes);
  return ok || corrupt(r, "the history beside it does not fit it");
}

static bool resume_from(resumption *r, const tn_file_bytes *bytes) {
  const char *problem = tn_safetensors_read(r->loop->host->heap, bytes->at, bytes->len, &r->file);
  if (problem) return corrupt(r, problem);
  bool ok = check_identity(r) && load_tensors(r) && load_position(r) && load_history(r);
  tn_safetensors_free(&r->file);
  return ok;
}

bool tn_loop_resume(tn_loop *loop) {
  if (!loop->options->resume) return true;
  tn_text path;
  tn_file_bytes bytes;
  tn_text_init(&path, loop->host->heap);
  tn_text_puts(&path, loop->options->resume);
  tn_text_puts(&path, "/checkpoint");
  if (path.failed) return tn_loop_out_of_memory(loop);
  tn_file_status status = tn_file_read(loop->host->heap, path.at, CHECKPOINT_LIMIT, NULL, &bytes);
  bool ok = status == TN_FILE_OK;
  if (ok) {
    resumption r = { .loop = loop, .path = path.at };
    ok = resume_from(&r, &bytes);
    tn_file_release(loop->host->heap, &bytes);
  } else if (status == TN_FILE_NOT_FOUND) {
    tn_report(loop->host->diags, TN_DIAG_E_FILE_NOT_FOUND, TN_NOWHERE, TN_STR("path", path.at));
  } else {
    tn_report(loop->host->diags, TN_DIAG_E_FILE_IO_ERROR, TN_NOWHERE, TN_STR("path", path.at),
              TN_STR("io_error_kind", tn_file_status_text(status)));
  }
  tn_text_free(&path);
  return ok;
}
