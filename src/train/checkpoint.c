/* train/checkpoint.c: reads a checkpoint.
 *
 * Nothing in a checkpoint is trusted: it must be complete, belong to this program, data and seed,
 * its tensors must match the program's, and the history beside it must have a line for every step
 * it claims. No number in it decides how much is computed or allocated before it has been compared
 * with actual data. */
#include "train/checkpoint.h"

#include <string.h>

#include "base/json.h"
#include "base/number.h"
#include "train/history.h"

bool tn_checkpoint_corrupt(const tn_checkpoint *c, const char *reason) {
  if (reason == tn_safetensors_no_memory) return tn_loop_out_of_memory(c->loop);
  return tn_report(c->loop->host->diags, TN_DIAG_E_CHECKPOINT_CORRUPT, TN_NOWHERE, TN_STR("path", c->path),
                   TN_STR("reason", reason));
}

static bool mismatch(const tn_checkpoint *c, const char *reason) {
  return tn_report(c->loop->host->diags, TN_DIAG_E_CHECKPOINT_MISMATCH, TN_NOWHERE, TN_STR("path", c->path),
                   TN_STR("reason", reason));
}

/* ---- whose it is ---- */

tn_str tn_checkpoint_value(const tn_checkpoint *c, const char *key) {
  tn_json_reader json;
  tn_json_token token;
  tn_json_init(&json, c->file.metadata, c->loop->arena);
  while (tn_json_next(&json, &token) > TN_JSON_END) {
    bool found = token.kind == TN_JSON_KEY && tn_str_is(token.text, key);
    if (found) return tn_json_next(&json, &token) == TN_JSON_STRING ? token.text : (tn_str){ 0 };
  }
  return (tn_str){ 0 };
}

static bool same_hash(const tn_checkpoint *c, const char *key, const uint8_t digest[32]) {
  char hex[64];
  return tn_str_equal(tn_checkpoint_value(c, key), tn_loop_hex(digest, hex));
}

static bool same_settings(const tn_checkpoint *c) {
  const tn_host *host = c->loop->host;
  tn_text text;
  tn_text_init(&text, host->heap);
  tn_settings_write(host->settings, host->setting_count, &text);
  bool same = !text.failed && tn_str_equal(tn_checkpoint_value(c, "set"), tn_text_str(&text));
  tn_text_free(&text);
  return same;
}

static bool check_identity(const tn_checkpoint *c) {
  uint8_t digest[32];
  uint64_t seed;
  if (!c->file.sealed || !tn_str_is(tn_checkpoint_value(c, "format"), TN_CHECKPOINT_FORMAT))
    return tn_checkpoint_corrupt(c, "it is not a checkpoint of this version");
  tn_loop_source_sha256(c->loop, digest);
  if (!same_hash(c, "source_sha256", digest)) return mismatch(c, "it belongs to another program");
  if (!same_hash(c, "data_sha256", c->loop->rows.sha256)) return mismatch(c, "it belongs to other data");
  if (!tn_number_parse_u64(tn_checkpoint_value(c, "seed"), &seed))
    return tn_checkpoint_corrupt(c, "it has no seed");
  if (seed != c->loop->host->seed) return mismatch(c, "it was made with another seed");
  return same_settings(c) ? true : mismatch(c, "it was made with other values of --set");
}

bool tn_checkpoint_open(tn_loop *loop, const char *path, tn_str bytes, tn_checkpoint *out) {
  *out = (tn_checkpoint){ .loop = loop, .path = path };
  const char *problem = tn_safetensors_read(loop->host->heap, bytes.at, bytes.len, &out->file);
  if (problem) return tn_checkpoint_corrupt(out, problem);
  if (check_identity(out)) return true;
  tn_checkpoint_free(out);
  return false;
}

void tn_checkpoint_free(tn_checkpoint *c) { tn_safetensors_free(&c->file); }

/* ---- tensors ---- */

static bool wanted_tensors(tn_loop *loop, tn_named_view **out, size_t *count) {
  *out = tn_arena_array(loop->arena, tn_loop_tensor_limit(loop) + 1, sizeof **out);
  if (!*out) return tn_loop_out_of_memory(loop);
  tn_loop_name_tensors(loop, loop->arena, *out, count);
  return loop->arena->failed ? tn_loop_out_of_memory(loop) : true;
}

static const tn_tensor *find_tensor(const tn_checkpoint *c, const tn_named_view *wanted) {
  const tn_tensor *found = tn_safetensors_find(&c->file, wanted->name);
  if (!found || found->view.dtype != wanted->view.dtype) return NULL;
  tn_shape a = tn_view_shape(&wanted->view), b = tn_view_shape(&found->view);
  return tn_shape_equal(&a, &b) ? found : NULL;
}

static bool lacks_parameters(const tn_checkpoint *c) {
  return tn_checkpoint_corrupt(c, "it does not have the program's parameters");
}

bool tn_checkpoint_load(const tn_checkpoint *c) {
  tn_named_view *wanted;
  size_t count;
  if (!wanted_tensors(c->loop, &wanted, &count)) return false;
  if (count != c->file.tensors.count) return lacks_parameters(c);
  for (size_t i = 0; i < count; i++) {
    const tn_tensor *found = find_tensor(c, &wanted[i]);
    if (!found) return lacks_parameters(c);
    tn_view_copy(&wanted[i].view, &found->view);
  }
  tn_trainer_wrote(c->loop->trainer);
  return true;
}

static bool same_bits(const tn_view *a, const tn_view *b) {
  uint8_t x[32], y[32];
  tn_view_sha256(a, x);
  tn_view_sha256(b, y);
  return memcmp(x, y, sizeof x) == 0;
}

bool tn_checkpoint_compare(const tn_checkpoint *c, tn_str *differs) {
  tn_named_view *wanted;
  size_t count;
  *differs = (tn_str){ 0 };
  if (!wanted_tensors(c->loop, &wanted, &count)) return false;
  if (count != c->file.tensors.count) return lacks_parameters(c);
  for (size_t i = 0; i < count && differs->len == 0; i++) {
    const tn_tensor *found = find_tensor(c, &wanted[i]);
    if (!found) return lacks_parameters(c);
    if (!same_bits(&wanted[i].view, &found->view)) *differs = wanted[i].name;
  }
  return true;
}

/* ---- where the run was ---- */

/* "FROM:STEPS" at the start of *text, which is moved past it and the blank that follows. */
static bool read_segment(tn_str *text, tn_segment *out) {
  const char *blank = memchr(text->at, ' ', text->len);
  size_t length = blank ? (size_t)(blank - text->at) : text->len;
  const char *colon = memchr(text->at, ':', length);
  uint64_t from, steps;
  if (!colon || !tn_number_parse_u64((tn_str){ text->at, (size_t)(colon - text->at) }, &from) ||
      !tn_number_parse_u64((tn_str){ colon + 1, (size_t)(text->at + length - colon - 1) }, &steps) ||
      from > INT64_MAX || steps > INT64_MAX)
    return false;
  *out = (tn_segment){ (int64_t)from, (int64_t)steps };
  text->at += length + (blank != NULL), text->len -= length + (blank != NULL);
  return true;
}

/* From 0, rising, and none beyond the step that was reached. */
static bool read_segments(const tn_checkpoint *c, tn_str text, int64_t reached) {
  tn_loop *loop = c->loop;
  loop->segments.count = 0;
  while (text.len > 0) {
    tn_segment segment;
    if (!read_segment(&text, &segment) || segment.from > reached) return false;
    bool rises = loop->segments.count == 0 ? segment.from == 0
                                           : segment.from > tn_vec_last(&loop->segments).from;
    if (!rises) return false;
    if (!tn_vec_push(loop->host->heap, &loop->segments, segment)) return tn_loop_out_of_memory(loop);
  }
  return loop->segments.count > 0;
}

bool tn_checkpoint_position(const tn_checkpoint *c, int64_t *step, uint64_t *generator) {
  uint64_t number;
  if (!tn_number_parse_u64(tn_checkpoint_value(c, "step"), &number) || number > INT64_MAX)
    return tn_checkpoint_corrupt(c, "it has no step");
  *step = (int64_t)number;
  if (!read_segments(c, tn_checkpoint_value(c, "segments"), *step))
    return tn_checkpoint_corrupt(c, "it does not say how it came about");
  if (!tn_number_parse_u64(tn_checkpoint_value(c, "generator"), generator))
    return tn_checkpoint_corrupt(c, "it has no generator position");
  return true;
}

/* ---- the history beside it ---- */

/* Lines are found one by one, so that a claim of any size ends where the text does. */
bool tn_checkpoint_covers(const tn_checkpoint *c, tn_str history, int64_t steps, size_t *bytes) {
  uint8_t digest[TN_SHA256_BYTES];
  tn_str line;
  int64_t found = 0;
  *bytes = 0;
  for (; found < steps && tn_history_line(history, *bytes, &line); found++) *bytes += line.len + 1;
  tn_sha256_of(history.at, *bytes, digest);
  if (found == steps && same_hash(c, "history_sha256", digest)) return true;
  return tn_checkpoint_corrupt(c, "the history beside it does not match it");
}
