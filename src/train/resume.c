/* train/resume.c: reading back what a run left: to go on with it, or to see whether a repetition agrees.
 *
 * Nothing in a checkpoint is trusted: it must belong to this program, data and
 * seed, its tensors must be the program's, and the history beside it must have
 * a line for every step it claims. */
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/number.h"
#include "data/safetensors.h"
#include "train/history.h"
#include "train/loop_internal.h"

#define CHECKPOINT_LIMIT ((uint64_t)1 << 40)

/* ---- opening ---- */

/* A checkpoint that is open. */
typedef struct {
  tn_loop *loop;
  const char *path;
  tn_safetensors file;
} resumption;

static bool corrupt(resumption *r, const char *reason) {
  if (reason == tn_safetensors_no_memory) return tn_loop_out_of_memory(r->loop);
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
  char hex[64];
  return tn_str_equal(metadata_value(r, key), tn_loop_hex(digest, hex));
}

static bool check_identity(resumption *r) {
  uint8_t digest[32];
  uint64_t seed;
  if (!r->file.sealed || !tn_str_is(metadata_value(r, "format"), "tern checkpoint 1"))
    return corrupt(r, "it is not a checkpoint of this version");
  tn_loop_source_sha256(r->loop, digest);
  if (!same_hash(r, "source_sha256", digest)) return mismatch(r, "it belongs to another program");
  if (!same_hash(r, "data_sha256", r->loop->rows.sha256)) return mismatch(r, "it belongs to other data");
  if (!tn_number_parse_u64(metadata_value(r, "seed"), &seed)) return corrupt(r, "it has no seed");
  return seed == r->loop->host->seed ? true : mismatch(r, "it was made with another seed");
}

/* ---- tensors ---- */

static bool same_bits(const tn_view *a, const tn_view *b) {
  uint8_t x[32], y[32];
  tn_view_sha256(a, x);
  tn_view_sha256(b, y);
  return memcmp(x, y, sizeof x) == 0;
}

static bool differs(resumption *r, tn_str what) {
  return tn_report(r->loop->host->diags, TN_DIAG_E_VERIFY_DIFFERS, TN_NOWHERE, TN_STR("path", r->path),
                   TN_INT("step", tn_trainer_step_number(r->loop->trainer)), TN_TEXT("what", what));
}

/* Takes over the tensors of the checkpoint, or compares them with what the trainer has. */
static bool read_tensors(resumption *r, bool comparing) {
  tn_loop *loop = r->loop;
  size_t most = (size_t)(tn_trainer_param_count(loop->trainer) + tn_trainer_state_count(loop->trainer)),
         count;
  tn_named_view *wanted = tn_arena_array(loop->arena, most + 1, sizeof *wanted);
  if (!wanted) return tn_loop_out_of_memory(loop);
  tn_loop_name_tensors(loop, true, loop->arena, wanted, &count);
  if (loop->arena->failed) return tn_loop_out_of_memory(loop);
  if (count != r->file.tensors.count) return corrupt(r, "it does not have the program's parameters");
  for (size_t i = 0; i < count; i++) {
    const tn_tensor *found = tn_safetensors_find(&r->file, wanted[i].name);
    tn_shape a = tn_view_shape(&wanted[i].view);
    tn_shape b = found ? tn_view_shape(&found->view) : a;
    if (!found || found->view.dtype != wanted[i].view.dtype || !tn_shape_equal(&a, &b)) {
      return corrupt(r, "it does not have the program's parameters");
    }
    if (!comparing)
      tn_view_copy(&wanted[i].view, &found->view);
    else if (!same_bits(&wanted[i].view, &found->view))
      return differs(r, wanted[i].name);
  }
  return true;
}

/* ---- where the run was ---- */

/* "FROM:STEPS", separated by blanks, from 0 and rising. */
static bool read_segments(resumption *r, tn_str text) {
  tn_loop *loop = r->loop;
  loop->segments.count = 0;
  while (text.len > 0) {
    const char *blank = memchr(text.at, ' ', text.len);
    size_t length = blank ? (size_t)(blank - text.at) : text.len;
    const char *colon = memchr(text.at, ':', length);
    uint64_t from, steps;
    if (!colon || !tn_number_parse_u64((tn_str){ text.at, (size_t)(colon - text.at) }, &from) ||
        !tn_number_parse_u64((tn_str){ colon + 1, (size_t)(text.at + length - colon - 1) }, &steps) ||
        from > INT64_MAX || steps > INT64_MAX)
      return false;
    tn_segment segment = { (int64_t)from, (int64_t)steps };
    if (loop->segments.count == 0 ? from != 0 : segment.from < tn_vec_last(&loop->segments).from)
      return false;
    if (!tn_vec_push(loop->host->heap, &loop->segments, segment)) return tn_loop_out_of_memory(loop);
    text.at += length + (blank != NULL), text.len -= length + (blank != NULL);
  }
  return loop->segments.count > 0;
}

static bool read_step(resumption *r, int64_t *out) {
  uint64_t step;
  if (!tn_number_parse_u64(metadata_value(r, "step"), &step) || step > INT64_MAX)
    return corrupt(r, "it has no step");
  *out = (int64_t)step;
  if (read_segments(r, metadata_value(r, "segments"))) return true;
  return corrupt(r, "it does not say how it came about");
}

static bool read_generator(resumption *r, uint64_t *out) {
  if (tn_number_parse_u64(metadata_value(r, "generator"), out)) return true;
  return corrupt(r, "it has no generator position");
}

static bool load_position(resumption *r) {
  int64_t step;
  uint64_t generator;
  if (!read_step(r, &step) || !read_generator(r, &generator)) return false;
  tn_trainer_set_step_number(r->loop->trainer, step);
  tn_rng_seek(&r->loop->rng, generator);
  return true;
}

/* What this run does, behind what was done: a new segment if it wants another number of steps. */
static bool add_segment(tn_loop *loop) {
  tn_segment own = { tn_trainer_step_number(loop->trainer), loop->steps };
  if (loop->segments.count > 0 && tn_vec_last(&loop->segments).steps == own.steps) return true;
  if (loop->segments.count > 0 && tn_vec_last(&loop->segments).from == own.from) loop->segments.count--;
  return tn_vec_push(loop->host->heap, &loop->segments, own) ? true : tn_loop_out_of_memory(loop);
}

/* ---- the history so far ---- */

static tn_file_status read_history(resumption *r, const char *folder, tn_file_bytes *bytes) {
  tn_text path;
  tn_text_init(&path, r->loop->host->heap);
  tn_text_puts(&path, folder);
  tn_text_puts(&path, "/" TN_HISTORY_FILE);
  tn_file_status status = path.failed
                              ? TN_FILE_NO_MEMORY
                              : tn_file_read(r->loop->host->heap, path.at, CHECKPOINT_LIMIT, NULL, bytes);
  tn_text_free(&path);
  return status;
}

/* Rows 0 .. step-1 must be there; what a killed run wrote behind them does not count. */
static bool load_history(resumption *r) {
  tn_loop *loop = r->loop;
  tn_file_bytes bytes;
  int64_t steps = tn_trainer_step_number(loop->trainer);
  if (steps == 0) return true; /* whatever lies there belongs to no step of this run */
  if (read_history(r, loop->options->resume, &bytes) != TN_FILE_OK)
    return corrupt(r, "the history beside it cannot be read");
  bool ok = true;
  size_t at = 0;
  tn_str line;
  for (int64_t step = 0; ok && step < steps; step++) {
    tn_history_row row;
    tn_history_metrics has;
    ok = tn_history_line((tn_str){ bytes.at, bytes.len }, at, &line) &&
         tn_history_read(line, loop->arena, &row, &has) && row.step == step;
    if (!ok) break;
    if (loop->options->keep_history && !tn_vec_push(loop->host->heap, &loop->history, row)) ok = false;
    at += line.len + 1;
  }
  uint8_t digest[TN_SHA256_BYTES];
  tn_sha256_of(bytes.at, at, digest);
  ok = ok && same_hash(r, "history_sha256", digest);
  /* In another folder the lines are written again. */
  bool same = loop->options->out && strcmp(loop->options->out, loop->options->resume) == 0;
  if (same)
    loop->history_bytes = at, tn_sha256_update(&loop->history_hash, bytes.at, at);
  else if (ok && loop->options->out)
    tn_text_add(&loop->lines, (tn_str){ bytes.at, at });
  tn_file_release(loop->host->heap, &bytes);
  return ok ? true : corrupt(r, "the history beside it does not fit it");
}

/* ---- going on ---- */

typedef bool (*reading)(resumption *r);

/* A run that has come as far as is wanted, or further, stays as it is. */
static void warn_of_no_steps(const resumption *r) {
  const tn_loop *loop = r->loop;
  int64_t done = tn_trainer_step_number(loop->trainer);
  if (done < loop->steps) return;
  tn_report(loop->host->diags, TN_DIAG_E_NO_STEPS_LEFT, TN_NOWHERE, TN_STR("path", loop->options->resume),
            TN_INT("done", done), TN_INT("steps", loop->steps));
}

static bool go_on(resumption *r) {
  if (!read_tensors(r, false) || !load_position(r) || !load_history(r) || !add_segment(r->loop)) return false;
  warn_of_no_steps(r);
  return true;
}

/* Opens the checkpoint of a folder, makes sure it is this program's, and hands it over. */
static bool with_checkpoint(tn_loop *loop, const char *folder, reading read) {
  tn_text path;
  tn_file_bytes bytes;
  tn_text_init(&path, loop->host->heap);
  tn_text_puts(&path, folder);
  tn_text_puts(&path, "/checkpoint");
  if (path.failed) return tn_loop_out_of_memory(loop);
  tn_file_status status = tn_file_read(loop->host->heap, path.at, CHECKPOINT_LIMIT, NULL, &bytes);
  bool ok = status == TN_FILE_OK;
  if (ok) {
    resumption r = { .loop = loop, .path = path.at };
    const char *problem = tn_safetensors_read(loop->host->heap, bytes.at, bytes.len, &r.file);
    ok = problem ? corrupt(&r, problem) : check_identity(&r) && read(&r);
    if (!problem) tn_safetensors_free(&r.file);
    tn_file_release(loop->host->heap, &bytes);
  } else if (status == TN_FILE_NO_MEMORY) {
    tn_loop_out_of_memory(loop);
  } else if (status == TN_FILE_NOT_FOUND) {
    tn_report(loop->host->diags, TN_DIAG_E_FILE_NOT_FOUND, TN_NOWHERE, TN_STR("path", path.at));
  } else {
    tn_report(loop->host->diags, TN_DIAG_E_FILE_IO_ERROR, TN_NOWHERE, TN_STR("path", path.at),
              TN_STR("io_error_kind", tn_file_status_text(status)));
  }
  tn_text_free(&path);
  return ok;
}

bool tn_loop_resume(tn_loop *loop) {
  if (loop->options->verify) return true; /* a repetition starts from the beginning */
  return loop->options->resume ? with_checkpoint(loop, loop->options->resume, go_on) : add_segment(loop);
}

/* ---- repeating ---- */

static bool read_goal(resumption *r) { return read_step(r, &r->loop->until); }

bool tn_loop_read_goal(tn_loop *loop) {
  return !loop->options->verify || with_checkpoint(loop, loop->options->verify, read_goal);
}

static int64_t count_lines(tn_str text, size_t at) {
  tn_str line;
  int64_t count = 0;
  for (; tn_history_line(text, at, &line); at += line.len + 1) count++;
  return count;
}

/* Lines are compared as they are: the shortest decimal of a number stands for its bits. Gives how many lines
 * stand behind those that were compared. */
static bool compare_history(resumption *r, int64_t *beyond) {
  tn_loop *loop = r->loop;
  tn_file_bytes bytes;
  tn_file_status status = read_history(r, loop->options->verify, &bytes);
  *beyond = 0;
  /* A run that was killed before its first step has none. */
  if (status == TN_FILE_NOT_FOUND && loop->history.count == 0) return true;
  if (status != TN_FILE_OK) return corrupt(r, "the history beside it cannot be read");
  tn_text mine;
  tn_text_init(&mine, loop->host->heap);
  bool ok = true;
  size_t at = 0;
  for (size_t i = 0; ok && i < loop->history.count; i++) {
    tn_str line;
    tn_text_clear(&mine);
    tn_loop_history_json(&loop->history.at[i], loop->eval, &mine);
    ok =
        tn_history_line((tn_str){ bytes.at, bytes.len }, at, &line) && tn_str_equal(line, tn_text_str(&mine));
    if (!ok && !mine.failed)
      tn_report(loop->host->diags, TN_DIAG_E_VERIFY_DIFFERS, TN_NOWHERE, TN_STR("path", r->path),
                TN_INT("step", loop->history.at[i].step), TN_STR("what", "history.jsonl"));
    at += ok ? line.len + 1 : 0;
  }
  bool memory = !mine.failed || tn_loop_out_of_memory(loop);
  if (ok) *beyond = count_lines((tn_str){ bytes.at, bytes.len }, at);
  tn_text_free(&mine);
  tn_file_release(loop->host->heap, &bytes);
  return ok && memory;
}

static bool compare_all(resumption *r) {
  tn_loop *loop = r->loop;
  uint64_t generator;
  int64_t beyond;
  if (!compare_history(r, &beyond) || !read_tensors(r, true) || !read_generator(r, &generator)) return false;
  if (generator != loop->rng.position) return differs(r, TN_LIT("the generator's position"));
  tn_verified found = { .steps = loop->until,
                        .wanted = tn_vec_last(&loop->segments).steps,
                        .beyond = beyond };
  tn_loop_weights_sha256(loop, found.weights_sha256);
  if (loop->options->verified) *loop->options->verified = found;
  return true;
}

bool tn_loop_compare(tn_loop *loop) { return with_checkpoint(loop, loop->options->verify, compare_all); }
