/* track/store/curve.c: reads the loss curve of a run for a picture, and finds where two runs
 * differ.
 *
 * A run may have a billion steps, and a database may come from anybody. So reading is bounded by
 * what can be shown: if there are very many chunks, only some at even distances are read, and no
 * value longer than a chunk. */
#include "track/store/store.h"

#ifdef TN_HAVE_SQLITE
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "track/store/internal.h"

#define MOST_CHUNKS 1024 /* read for one curve: four million steps */
#define CHUNK_BYTES (TN_STORE_CHUNK * sizeof(float))

/* ---- chunks ---- */

/* The losses of one chunk of a run, as bytes that last until the statement is stepped or reset. */
typedef struct {
  tn_store *store;
  sqlite3_stmt *statement;
  bool failed;
} chunk_reader;

static bool begin_chunks(tn_store *store, int64_t run, chunk_reader *out) {
  *out = (chunk_reader){ .store = store,
                         .statement = tn_store_prepare(
                             store, "SELECT data FROM losses WHERE run=?1 AND chunk=?2 AND length(data)<=?3 "
                                    "AND typeof(data)='blob'") };
  if (!out->statement) return false;
  tn_sqlite.bind_int64(out->statement, 1, run);
  tn_sqlite.bind_int64(out->statement, 3, (int64_t)CHUNK_BYTES);
  return true;
}

/* Empty where there is none, or after a failure. */
static tn_str read_chunk(chunk_reader *r, int64_t chunk) {
  tn_sqlite.reset(r->statement);
  tn_sqlite.bind_int64(r->statement, 2, chunk);
  int result = tn_sqlite.step(r->statement);
  if (result != SQLITE_ROW && result != SQLITE_DONE) r->failed = true;
  if (result != SQLITE_ROW) return (tn_str){ 0 };
  const char *data = tn_sqlite.column_blob(r->statement, 0);
  return data ? (tn_str){ data, (size_t)tn_sqlite.column_bytes(r->statement, 0) } : (tn_str){ 0 };
}

/* False after reporting, where something failed. */
static bool end_chunks(chunk_reader *r) {
  bool ok = !r->failed || tn_store_failed(r->store);
  tn_sqlite.finalize(r->statement);
  return ok;
}

static float loss_at(tn_str data, size_t index) {
  uint32_t bits = tn_load_le32(data.at + index * sizeof bits);
  float loss;
  memcpy(&loss, &bits, sizeof loss);
  return loss;
}

/* ---- curves ---- */

/* How many losses a run has: its last chunk says. */
static bool count_losses(tn_store *store, int64_t run, int64_t *out) {
  sqlite3_stmt *s = tn_store_prepare(
      store, "SELECT chunk,min(length(data),?2) FROM losses WHERE run=?1 ORDER BY chunk DESC LIMIT 1");
  if (!s) return false;
  tn_sqlite.bind_int64(s, 1, run);
  tn_sqlite.bind_int64(s, 2, (int64_t)CHUNK_BYTES);
  int result = tn_sqlite.step(s);
  int64_t chunk = result == SQLITE_ROW ? tn_sqlite.column_int64(s, 0) : 0;
  int64_t bytes = result == SQLITE_ROW ? tn_sqlite.column_int64(s, 1) : 0;
  bool ok = result == SQLITE_ROW || result == SQLITE_DONE || tn_store_failed(store);
  tn_sqlite.finalize(s);
  bool sane = chunk >= 0 && chunk < INT64_MAX / TN_STORE_CHUNK - 1;
  *out = sane ? chunk * TN_STORE_CHUNK + bytes / (int64_t)sizeof(float) : 0;
  return ok;
}

/* Points are taken in the order of their steps; those of a stretch become the lowest and the highest. */
typedef struct {
  tn_run_curve *curve;
  int64_t first, end, stretch; /* steps; `end` is the first that is not wanted */
  int64_t at;             /* the stretch that is open; -1: none */
  tn_run_point low, high;
} thinner;

static void close_stretch(thinner *t) {
  tn_run_curve *c = t->curve;
  if (t->at < 0) return;
  bool same = t->low.step == t->high.step, rising = t->low.step < t->high.step;
  c->points[c->count++] = rising ? t->low : t->high;
  if (!same) c->points[c->count++] = rising ? t->high : t->low;
}

static void take_point(thinner *t, int64_t step, float loss) {
  tn_run_point point = { step, loss };
  int64_t stretch = (step - t->first) / t->stretch;
  if (stretch != t->at) {
    close_stretch(t);
    t->at = stretch;
    t->low = t->high = point;
  }
  if (loss < t->low.loss || isnan(t->low.loss)) t->low = point;
  if (loss > t->high.loss || isnan(t->high.loss)) t->high = point;
}

static void take_chunk(thinner *t, int64_t chunk, tn_str data) {
  int64_t begin = chunk * TN_STORE_CHUNK;
  for (size_t i = 0; i < data.len / sizeof(float); i++) {
    int64_t step = begin + (int64_t)i;
    if (step >= t->first && step < t->end) take_point(t, step, loss_at(data, i));
  }
}

/* The last loss is always among the points. */
static void end_curve(thinner *t, tn_run_point last) {
  close_stretch(t);
  tn_run_curve *c = t->curve;
  if (c->count > 0 && last.step > c->points[c->count - 1].step) c->points[c->count++] = last;
}

static bool read_curve(tn_store *store, int64_t run, thinner *t) {
  int64_t from = t->first / TN_STORE_CHUNK, to = (t->end - 1) / TN_STORE_CHUNK;
  int64_t stride = (to - from) / MOST_CHUNKS + 1;
  tn_run_point last = { 0 };
  chunk_reader reader;
  if (!begin_chunks(store, run, &reader)) return false;
  for (int64_t chunk = from; chunk <= to && !reader.failed; chunk += stride) {
    if (to - chunk < stride) chunk = to; /* the last one is read in any case */
    tn_str data = read_chunk(&reader, chunk);
    take_chunk(t, chunk, data);
    size_t count = data.len / sizeof(float), wanted = (size_t)(t->end - chunk * TN_STORE_CHUNK);
    if (count > wanted) count = wanted;
    if (count > 0)
      last = (tn_run_point){ chunk * TN_STORE_CHUNK + (int64_t)count - 1, loss_at(data, count - 1) };
  }
  end_curve(t, last);
  return end_chunks(&reader);
}

bool tn_store_curve(tn_store *store, int64_t id, int64_t first, int64_t end, size_t most, tn_arena *arena,
                    tn_run_curve *out) {
  *out = (tn_run_curve){ 0 };
  if (!count_losses(store, id, &out->steps)) return false;
  if (end > out->steps) end = out->steps;
  if (first < 0 || first >= end) return true;
  out->points = tn_arena_array(arena, most + 3, sizeof *out->points);
  if (!out->points) return tn_store_out_of_memory(store);
  int64_t span = end - first, stretches = (int64_t)(most / 2);
  thinner t = { .curve = out, .first = first, .end = end, .stretch = 1, .at = -1 };
  if (span > (int64_t)most) t.stretch = (span - 1) / stretches + 1;
  return read_curve(store, id, &t);
}

/* ---- evaluations ---- */

static double real_or_nan(sqlite3_stmt *s, int column) {
  return tn_sqlite.column_type(s, column) == SQLITE_FLOAT ? tn_sqlite.column_double(s, column) : (double)NAN;
}

/* Up to `most` from a step on; false after reporting. */
static bool read_evals(tn_store *store, sqlite3_stmt *s, int64_t from, size_t most, tn_run_eval *out,
                       size_t *count) {
  tn_sqlite.reset(s);
  tn_sqlite.bind_int64(s, 2, from);
  tn_sqlite.bind_int64(s, 3, (int64_t)most);
  int result = SQLITE_DONE;
  for (*count = 0; *count < most && (result = tn_sqlite.step(s)) == SQLITE_ROW; ++*count)
    out[*count] = (tn_run_eval){ tn_sqlite.column_int64(s, 0), real_or_nan(s, 1), real_or_nan(s, 2) };
  return result == SQLITE_ROW || result == SQLITE_DONE || tn_store_failed(store);
}

static bool last_eval(tn_store *store, int64_t run, int64_t *out) {
  sqlite3_stmt *s = tn_store_prepare(store, "SELECT max(step) FROM evals WHERE run=?1");
  if (!s) return false;
  tn_sqlite.bind_int64(s, 1, run);
  bool ok = tn_sqlite.step(s) == SQLITE_ROW || tn_store_failed(store);
  *out = ok ? tn_sqlite.column_int64(s, 0) : 0;
  tn_sqlite.finalize(s);
  return ok;
}

/* One evaluation at each of `most` even distances. */
static bool pick_evals(tn_store *store, sqlite3_stmt *s, int64_t first, int64_t last, size_t most,
                       tn_run_eval *out, size_t *count) {
  bool ok = true;
  size_t kept = 0, found;
  for (size_t i = 0; ok && i < most; i++) {
    double share = (double)i / (double)(most - 1);
    int64_t from = i + 1 == most ? last : first + (int64_t)(share * (double)(last - first));
    if (kept > 0 && from <= out[kept - 1].step) continue;
    ok = read_evals(store, s, from, 1, &out[kept], &found);
    kept += found;
  }
  *count = kept;
  return ok;
}

bool tn_store_some_evals(tn_store *store, int64_t id, int64_t first, size_t most, tn_arena *arena,
                         tn_run_eval **out, size_t *count) {
  int64_t last;
  *count = 0;
  *out = tn_arena_array(arena, most + 1, sizeof **out);
  if (!*out) return tn_store_out_of_memory(store);
  sqlite3_stmt *s = tn_store_prepare(
      store, "SELECT step,loss,accuracy FROM evals WHERE run=?1 AND step>=?2 ORDER BY step LIMIT ?3");
  if (!s) return false;
  tn_sqlite.bind_int64(s, 1, id);
  bool ok = read_evals(store, s, first, most + 1, *out, count);
  if (ok && *count > most)
    ok = last_eval(store, id, &last) && pick_evals(store, s, (*out)[0].step, last, most, *out, count);
  tn_sqlite.finalize(s);
  return ok;
}

/* ---- two runs ---- */

/* The first loss that differs in a bit; -1: none. */
static int64_t first_difference(tn_str a, tn_str b) {
  size_t shared = (a.len < b.len ? a.len : b.len) / sizeof(float);
  for (size_t i = 0; i < shared; i++) {
    if (memcmp(a.at + i * sizeof(float), b.at + i * sizeof(float), sizeof(float)) != 0) return (int64_t)i;
  }
  return -1;
}

bool tn_store_first_difference(tn_store *store, int64_t one, int64_t other, int64_t *step) {
  chunk_reader a, b;
  bool more = true;
  *step = -1;
  if (!begin_chunks(store, one, &a)) return false;
  if (!begin_chunks(store, other, &b)) return (void)end_chunks(&a), false;
  for (int64_t chunk = 0; more; chunk++) {
    tn_str x = read_chunk(&a, chunk), y = read_chunk(&b, chunk);
    int64_t at = first_difference(x, y);
    if (at >= 0) *step = chunk * TN_STORE_CHUNK + at;
    more = at < 0 && x.len == CHUNK_BYTES && y.len == CHUNK_BYTES && !tn_stop_asked(store->heap->stop);
  }
  bool ok = end_chunks(&a);
  return end_chunks(&b) && ok && !tn_stop_asked(store->heap->stop);
}
#endif
