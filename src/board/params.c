/* board/params.c: the parameters of a run, each with a histogram. */
#include <math.h>

#include "base/file.h"
#include "base/json.h"
#include "board/internal.h"
#include "data/safetensors.h"

#define BINS         32
#define WEIGHT_LIMIT ((uint64_t)1 << 32)

typedef struct {
  double least, most, mean, deviation;
  int64_t finite, bins[BINS];
} summary;

static void find_range(const tn_view *view, int64_t count, summary *out) {
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < count; i++) {
    double x = tn_view_get_f64(view, i);
    if (!isfinite(x)) continue;
    if (out->finite == 0 || x < out->least) out->least = x;
    if (out->finite == 0 || x > out->most) out->most = x;
    sum += x;
    squares += x * x;
    out->finite++;
  }
  if (out->finite == 0) return;
  out->mean = sum / (double)out->finite;
  double variance = squares / (double)out->finite - out->mean * out->mean;
  out->deviation = variance > 0 ? sqrt(variance) : 0;
}

static void fill_bins(const tn_view *view, int64_t count, summary *out) {
  double width = (out->most - out->least) / BINS;
  for (int64_t i = 0; i < count; i++) {
    double x = tn_view_get_f64(view, i);
    if (!isfinite(x)) continue;
    int64_t bin = width > 0 ? (int64_t)((x - out->least) / width) : BINS / 2;
    out->bins[bin < 0 ? 0 : bin >= BINS ? BINS - 1 : bin]++;
  }
}

static void write_param(tn_json_writer *json, tn_str name, const tn_view *view) {
  summary s = { 0 };
  int64_t count = tn_view_count(view);
  find_range(view, count, &s);
  fill_bins(view, count, &s);
  tn_json_object_begin(json);
  tn_json_key(json, "name"), tn_json_string(json, name);
  tn_json_key(json, "shape"), tn_json_array_begin(json);
  for (int i = 0; i < view->rank; i++) tn_json_int(json, view->dim[i]);
  tn_json_array_end(json);
  tn_json_key(json, "count"), tn_json_int(json, count);
  tn_json_key(json, "finite"), tn_json_int(json, s.finite);
  tn_json_key(json, "min"), tn_json_f32(json, (float)s.least);
  tn_json_key(json, "max"), tn_json_f32(json, (float)s.most);
  tn_json_key(json, "mean"), tn_json_f32(json, (float)s.mean);
  tn_json_key(json, "deviation"), tn_json_f32(json, (float)s.deviation);
  tn_json_key(json, "bins"), tn_json_array_begin(json);
  for (int i = 0; i < BINS; i++) tn_json_int(json, s.bins[i]);
  tn_json_array_end(json);
  tn_json_object_end(json);
}

/* The weights of a run that has ended; of one that runs, its checkpoint. */
static bool read_tensors(tn_answer *answer, tn_str folder, const char *name, tn_safetensors *out) {
  tn_heap *heap = answer->options->heap;
  tn_text path;
  tn_file_bytes bytes;
  tn_text_init(&path, heap);
  tn_text_add(&path, folder);
  tn_text_puts(&path, name);
  bool ok = !path.failed && tn_file_read(heap, path.at, WEIGHT_LIMIT, NULL, &bytes) == TN_FILE_OK;
  tn_text_free(&path);
  if (!ok) return false;
  ok = tn_safetensors_read(heap, bytes.at, bytes.len, out) == NULL;
  tn_file_release(heap, &bytes);
  return ok;
}

bool tn_answer_params(tn_answer *answer, const tn_run_row *run) {
  tn_safetensors file;
  tn_str folder = run->value[TN_RUN_FOLDER];
  if (!folder.at || (!read_tensors(answer, folder, "/weights.safetensors", &file) &&
                     !read_tensors(answer, folder, "/checkpoint", &file)))
    return false;
  tn_json_writer json = tn_json_writer_on(&answer->body);
  tn_json_object_begin(&json);
  tn_json_key(&json, "ok"), tn_json_bool(&json, true);
  tn_json_key(&json, "params"), tn_json_array_begin(&json);
  for (size_t i = 0; i < file.tensors.count; i++) {
    const tn_named_tensor *tensor = &file.tensors.at[i];
    if (!tn_str_starts(tensor->name, "optimizer.")) write_param(&json, tensor->name, &tensor->tensor.view);
  }
  tn_json_array_end(&json);
  tn_json_object_end(&json);
  tn_safetensors_free(&file);
  return true;
}
