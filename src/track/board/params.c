/* track/board/params.c: reads the parameters of a run, and computes a histogram of each.
 *
 * Weights may be larger than memory, and their folder may have come from
 * anywhere. So only a plain file in that very folder is read, its size is checked first, and its
 * elements are read through one buffer: once for the range, the mean and the hash of the whole,
 * once more for the histogram. Each buffer is a point to stop. */
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/json.h"
#include "track/board/internal.h"
#include "data/safetensors.h"

#define BINS         32
#define MOST_PARAMS  1024
#define PIECE        ((size_t)1 << 20)
#define FILE_LIMIT   ((uint64_t)1 << 36)
#define HEADER_LIMIT ((uint64_t)16 << 20)

typedef struct {
  double least, most, sum, squares, mean, deviation;
  int64_t finite, bins[BINS];
} summary;

typedef struct {
  tn_answer *answer;
  int descriptor;
  uint64_t bytes; /* of the file */
  unsigned char *piece;
  tn_safetensors list;
  summary *summaries; /* of the tensors; in the answer's arena */
  tn_sha256 hash;     /* of what was read so far */
} weights;

static bool refuse(weights *w, const char *reason) {
  tn_answer_refuse(w->answer, 404, reason);
  return false;
}

/* ---- the file ---- */

/* The weights of a run that has ended; of one that runs, its checkpoint. */
static const char *const names[] = { "weights.safetensors", "checkpoint" };

/* A plain file that lies in the folder itself; -1 where there is none. */
static int open_weights(tn_str folder, struct stat *about) {
  int descriptor = -1;
  for (size_t i = 0; folder.len > 0 && descriptor < 0 && i < 2; i++)
    (void)tn_file_open_beneath(folder.at, names[i], NULL, &descriptor);
  if (descriptor < 0 || fstat(descriptor, about) == 0) return descriptor;
  close(descriptor);
  return -1;
}

void tn_answer_stamp(int descriptor, tn_text *out) {
  struct stat about;
  if (descriptor < 0) return;
  if (fstat(descriptor, &about) != 0) about = (struct stat){ 0 };
  int64_t facts[] = { (int64_t)about.st_dev,         (int64_t)about.st_ino,         (int64_t)about.st_size,
                      (int64_t)about.st_mtim.tv_sec, (int64_t)about.st_mtim.tv_nsec };
  tn_text_hex(out, facts, sizeof facts);
  close(descriptor);
}

void tn_params_stamp(tn_str folder, tn_text *out) {
  struct stat about;
  tn_answer_stamp(open_weights(folder, &about), out);
}

/* All of it, into `to`. */
static bool read_at(weights *w, uint64_t offset, void *to, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    ssize_t got = pread(w->descriptor, (char *)to + done, bytes - done, (off_t)(offset + done));
    if (got <= 0 || tn_stop_asked(w->answer->heap->stop)) return refuse(w, "the weights cannot be read");
    done += (size_t)got;
  }
  return true;
}

/* The hash is of the file with zeros in the place of its own digits. */
static void begin_hash(weights *w, const unsigned char *begin, size_t bytes) {
  static const char zeros[] = "0000000000000000000000000000000000000000000000000000000000000000";
  size_t seal = (size_t)w->list.seal_at, digits = sizeof zeros - 1;
  tn_sha256_init(&w->hash);
  if (seal == 0) return;
  tn_sha256_update(&w->hash, begin, seal);
  tn_sha256_update(&w->hash, zeros, digits);
  tn_sha256_update(&w->hash, begin + seal + digits, bytes - seal - digits);
}

static bool read_list(weights *w) {
  unsigned char length[8];
  if (w->bytes > FILE_LIMIT) return refuse(w, "the weights are too large");
  if (w->bytes < sizeof length) return refuse(w, "the weights are damaged");
  if (!read_at(w, 0, length, sizeof length)) return false;
  uint64_t header = tn_load_le64(length);
  if (header > HEADER_LIMIT || header > w->bytes - 8) return refuse(w, "the weights are damaged");
  unsigned char *begin = tn_arena_alloc(&w->answer->arena, (size_t)header + 8);
  if (!begin) return refuse(w, "out of memory");
  if (!read_at(w, 0, begin, (size_t)header + 8)) return false;
  if (tn_safetensors_list(w->answer->heap, begin, (size_t)header + 8, w->bytes, &w->list))
    return refuse(w, "the weights are damaged");
  begin_hash(w, begin, (size_t)header + 8);
  return true;
}

/* ---- numbers ---- */

typedef void take_piece(const tn_view *view, int64_t count, summary *out);

static void find_range(const tn_view *view, int64_t count, summary *out) {
  for (int64_t i = 0; i < count; i++) {
    double x = tn_view_get_f64(view, i);
    if (!isfinite(x)) continue;
    if (out->finite == 0 || x < out->least) out->least = x;
    if (out->finite == 0 || x > out->most) out->most = x;
    out->sum += x;
    out->squares += x * x;
    out->finite++;
  }
}

static void finish_range(summary *s) {
  if (s->finite == 0) return;
  s->mean = s->sum / (double)s->finite;
  double variance = s->squares / (double)s->finite - s->mean * s->mean;
  s->deviation = variance > 0 ? sqrt(variance) : 0;
}

static void fill_bins(const tn_view *view, int64_t count, summary *out) {
  double width = (out->most - out->least) / BINS;
  for (int64_t i = 0; i < count; i++) {
    double x = tn_view_get_f64(view, i);
    if (!isfinite(x)) continue;
    double at = width > 0 ? (x - out->least) / width : BINS / 2.0;
    out->bins[at < 0 ? 0 : at >= BINS ? BINS - 1 : (int)at]++;
  }
}

/* ---- passes ---- */

/* Hands the elements of a tensor on, piece by piece; `take` may be NULL. */
static bool pass_over(weights *w, const tn_named_tensor *tensor, take_piece *take, bool hashed,
                      summary *out) {
  tn_dtype dtype = tensor->tensor.view.dtype;
  size_t each = tn_dtype_bytes(dtype);
  uint64_t left = (uint64_t)tn_view_count(&tensor->tensor.view) * each, offset = tensor->offset;
  while (left > 0) {
    size_t bytes = left < PIECE ? (size_t)left : PIECE;
    if (!read_at(w, offset, w->piece, bytes)) return false;
    if (hashed) tn_sha256_update(&w->hash, w->piece, bytes);
    if (tn_machine_is_big_endian()) tn_reverse_bytes(w->piece, bytes, each);
    int64_t count = (int64_t)(bytes / each);
    tn_view view = { .data = w->piece, .dtype = dtype, .rank = 1, .dim = { count }, .stride = { 1 } };
    if (take) take(&view, count, out);
    offset += bytes, left -= bytes;
  }
  return true;
}

static bool is_shown(const weights *w, size_t index) {
  return index < MOST_PARAMS && !tn_str_starts(w->list.tensors.at[index].name, "optimizer.");
}

static bool check_seal(weights *w) {
  unsigned char digest[TN_SHA256_BYTES];
  char digits[2 * TN_SHA256_BYTES];
  tn_text text;
  if (w->list.seal_at == 0) return true;
  if (!read_at(w, w->list.seal_at, digits, sizeof digits)) return false;
  tn_sha256_final(&w->hash, digest);
  tn_text_init(&text, w->answer->heap);
  tn_text_hex(&text, digest, sizeof digest);
  bool same = tn_str_equal(tn_text_str(&text), (tn_str){ digits, sizeof digits });
  tn_text_free(&text);
  return same ? true : refuse(w, "the weights are damaged");
}

static bool read_all(weights *w) {
  size_t count = w->list.tensors.count;
  bool ok = true;
  w->summaries = tn_arena_array(&w->answer->arena, count, sizeof *w->summaries);
  if (count > 0 && !w->summaries) return refuse(w, "out of memory");
  for (size_t i = 0; ok && i < count; i++) {
    ok = pass_over(w, &w->list.tensors.at[i], is_shown(w, i) ? find_range : NULL, true, &w->summaries[i]);
    finish_range(&w->summaries[i]);
  }
  ok = ok && check_seal(w);
  for (size_t i = 0; ok && i < count; i++) {
    if (is_shown(w, i)) ok = pass_over(w, &w->list.tensors.at[i], fill_bins, false, &w->summaries[i]);
  }
  return ok;
}

/* ---- JSON ---- */

static void write_param(tn_json_writer *json, const tn_named_tensor *tensor, const summary *s) {
  const tn_view *view = &tensor->tensor.view;
  tn_json_object_begin(json);
  tn_json_key(json, "name"), tn_json_string(json, tensor->name);
  tn_json_key(json, "shape"), tn_json_array_begin(json);
  for (int i = 0; i < view->rank; i++) tn_json_int(json, view->dim[i]);
  tn_json_array_end(json);
  tn_json_key(json, "count"), tn_json_int(json, tn_view_count(view));
  tn_json_key(json, "finite"), tn_json_int(json, s->finite);
  tn_json_key(json, "min"), tn_json_f32(json, (float)s->least);
  tn_json_key(json, "max"), tn_json_f32(json, (float)s->most);
  tn_json_key(json, "mean"), tn_json_f32(json, (float)s->mean);
  tn_json_key(json, "deviation"), tn_json_f32(json, (float)s->deviation);
  tn_json_key(json, "bins"), tn_json_array_begin(json);
  for (int i = 0; i < BINS; i++) tn_json_int(json, s->bins[i]);
  tn_json_array_end(json);
  tn_json_object_end(json);
}

static void write_params(const weights *w) {
  tn_json_writer json = tn_json_writer_on(&w->answer->body);
  size_t count = w->list.tensors.count;
  tn_json_object_begin(&json);
  tn_json_key(&json, "ok"), tn_json_bool(&json, true);
  tn_json_key(&json, "params"), tn_json_array_begin(&json);
  for (size_t i = 0; i < count; i++) {
    if (is_shown(w, i)) write_param(&json, &w->list.tensors.at[i], &w->summaries[i]);
  }
  tn_json_array_end(&json);
  tn_json_key(&json, "omitted"), tn_json_uint(&json, count > MOST_PARAMS ? count - MOST_PARAMS : 0);
  tn_json_object_end(&json);
}

void tn_params_answer(tn_answer *answer, tn_str folder) {
  struct stat about;
  weights w = { .answer = answer, .descriptor = open_weights(folder, &about) };
  if (w.descriptor < 0) {
    tn_answer_refuse(answer, 404, "the run has no weights yet");
    return;
  }
  w.bytes = (uint64_t)about.st_size;
  w.piece = tn_arena_alloc(&answer->arena, PIECE);
  if (!w.piece)
    refuse(&w, "out of memory");
  else if (read_list(&w)) {
    if (read_all(&w)) write_params(&w);
    tn_safetensors_free(&w.list);
  }
  close(w.descriptor);
}
