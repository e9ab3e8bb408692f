/* track/sweep.c: reads the results of a sweep from the folders of its runs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/door.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/json.h"
#include "base/number.h"
#include "train/history.h"
#include "train/record.h"
#include "track/track.h"

#define FILE_LIMIT ((uint64_t)1 << 40)

typedef struct {
  tern_session *session;
  tn_arena arena;
} reader;

static bool read_file(reader *r, const char *folder, const char *name, tn_file_bytes *out) {
  tn_heap *heap = tn_api_heap(r->session);
  tn_text path;
  tn_text_init(&path, heap);
  tn_folder_join(&path, folder, name);
  bool ok = !path.failed && tn_file_read(heap, path.at, FILE_LIMIT, NULL, out) == TN_FILE_OK;
  tn_text_free(&path);
  return ok;
}

static bool read_record(reader *r, const char *folder, tn_run_record *out) {
  tn_heap *heap = tn_api_heap(r->session);
  tn_file_bytes bytes;
  if (!read_file(r, folder, TN_RECORD_FILE, &bytes)) return false;
  bool ok = tn_record_read(heap, (tn_str){ bytes.at, bytes.len }, &r->arena, out) == NULL;
  tn_file_release(heap, &bytes);
  return ok;
}

/* ---- which of them are done ---- */

static bool has_setting(const tn_run_record *record, const char *name, const char *value) {
  for (size_t i = 0; i < record->setting_count; i++) {
    if (tn_str_is(record->settings[i].name, name)) return tn_str_is(record->settings[i].text, value);
  }
  return false;
}

static bool has_settings(const tn_run_record *record, const tn_sweep_run *run) {
  for (size_t i = 0; i < run->set_count; i++) {
    if (!has_setting(record, run->names[i], run->values[i])) return false;
  }
  return record->setting_count == run->set_count;
}

tn_sweep_state tn_track_sweep_state(tern_session *session, const tn_sweep_run *run, const char *source,
                                    size_t length) {
  reader r = { .session = session };
  tn_run_record record;
  tn_sweep_state state = TN_SWEEP_NEW;
  tn_arena_init(&r.arena, tn_api_heap(session));
  if (read_record(&r, run->folder, &record)) {
    bool same = record.source.len == length && memcmp(record.source.at, source, length) == 0 &&
                record.seed == run->seed && has_settings(&record, run) &&
                (run->steps == 0 || run->steps == record.steps);
    state = same && record.status == TN_RUN_STATUS_COMPLETED ? TN_SWEEP_DONE : TN_SWEEP_BEGUN;
  }
  tn_arena_free(&r.arena);
  return state;
}

/* ---- what came of them ---- */

typedef struct {
  const tn_sweep_run *run;
  tn_run_record record;
  bool there;
  tn_str metric;     /* of `value`; empty: the loss of training */
  double value;      /* the best evaluation, or the mean loss of the last tenth of the steps; NaN: none */
  int64_t step;      /* where it was; of losses the last one */
  double sum;        /* of those losses */
  int64_t losses;
} result;

static bool is_better(double value, double best, bool rises) {
  if (isnan(value)) return false;
  return isnan(best) || (rises ? value > best : value < best);
}

/* The loss of one batch says little, so the last tenth of them is averaged. */
static void take_loss(result *out, const tn_recorded_row *row) {
  int64_t tenth = out->record.step / 10;
  if (row->step < out->record.step - (tenth > 1 ? tenth : 1)) return;
  out->sum += row->loss;
  out->value = out->sum / (double)++out->losses;
  out->step = row->step;
}

/* The first metric of an evaluation decides. */
static void take_row(result *out, const tn_recorded_row *row) {
  if (!row->evaluated || row->value_count == 0) {
    if (out->metric.len == 0) take_loss(out, row);
    return;
  }
  const tn_recorded_value *value = &row->values[0];
  bool first = out->metric.len == 0;
  if (!first && !is_better(value->value, out->value, tn_history_rises(value->name))) return;
  out->metric = value->name;
  out->value = value->value;
  out->step = row->step;
}

static void read_history(reader *r, const char *folder, result *out) {
  tn_file_bytes bytes;
  tn_recorded_row row;
  tn_str line;
  if (!read_file(r, folder, TN_HISTORY_FILE, &bytes)) return;
  tn_str text = { bytes.at, bytes.len };
  for (size_t at = 0; tn_history_line(text, at, &line); at += line.len + 1) {
    if (tn_history_read(line, &r->arena, &row)) take_row(out, &row);
  }
  tn_file_release(tn_api_heap(r->session), &bytes);
}

static void read_result(reader *r, const tn_sweep_run *run, result *out) {
  *out = (result){ .run = run, .value = (double)NAN };
  out->there = read_record(r, run->folder, &out->record);
  if (out->there) read_history(r, run->folder, out);
}

/* ---- the order ---- */

/* Runs that came to their end, by value; then those without a value; then the others. */
static int group_of(const result *r) {
  if (!r->there) return 3;
  return r->record.status != TN_RUN_STATUS_COMPLETED ? 2 : isnan(r->value) ? 1 : 0;
}

static int order(const void *a, const void *b) {
  const result *x = a, *y = b;
  int group = group_of(x) - group_of(y);
  if (group != 0) return group;
  bool rises = x->metric.len > 0 && tn_history_rises(x->metric);
  if (x->value != y->value && !isnan(x->value) && !isnan(y->value))
    return (x->value < y->value) == rises ? 1 : -1;
  return x->run < y->run ? -1 : 1;
}

/* ---- showing ---- */

static tn_str status_of(const result *r) {
  if (r->run->failure) return tn_str_of(r->run->failure);
  return r->there ? tn_str_of(tn_run_status_name(r->record.status)) : TN_LIT("not started");
}

static tn_str metric_of(const result *results, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (results[i].metric.len > 0) return results[i].metric;
  }
  return TN_LIT("");
}

static void write_cell(const result *r, tn_str metric, size_t line, size_t column, tn_text *out) {
  const tn_sweep_run *run = r->run;
  size_t value = run->shown_count + 1;
  bool head = line == 0;
  if (column == 0) {
    if (head) tn_text_puts(out, "rank");
    else if (group_of(r) == 0) tn_text_uint(out, line);
    else tn_text_byte(out, '-');
  } else if (column < value) {
    tn_diag_put_safe(out, tn_str_of(head ? run->shown_names[column - 1] : run->shown_values[column - 1]));
  } else if (column == value) {
    if (head) tn_text_puts(out, metric.len > 0 ? "eval/" : "loss"), tn_diag_put_safe(out, metric);
    else if (isnan(r->value)) tn_text_byte(out, '-');
    else if (fabs(r->value) < 1e6) tn_text_fixed(out, r->value, 6);
    else tn_text_f32(out, (float)r->value);
  } else if (column == value + 1) {
    if (head) tn_text_puts(out, "step");
    else if (isnan(r->value)) tn_text_byte(out, '-');
    else tn_text_int(out, r->step);
  } else if (column == value + 2) {
    tn_diag_put_safe(out, head ? TN_LIT("status") : status_of(r));
  } else {
    tn_diag_put_safe(out, tn_str_of(head ? "folder" : run->folder));
  }
}

static void write_table(const result *results, size_t count, tn_text *out) {
  size_t columns = results[0].run->shown_count + 5;
  tn_str metric = metric_of(results, count);
  tn_text cell;
  tn_text_init(&cell, out->heap);
  size_t *widths = tn_heap_alloc(out->heap, columns * sizeof *widths);
  if (!widths) out->failed = true;
  for (size_t line = 0; widths && line <= count; line++) {
    for (size_t c = 0; c < columns; c++) {
      tn_text_clear(&cell);
      write_cell(&results[line ? line - 1 : 0], metric, line, c, &cell);
      if (cell.len > widths[c]) widths[c] = cell.len;
    }
  }
  for (size_t line = 0; widths && line <= count; line++) {
    for (size_t c = 0; c < columns; c++) {
      tn_text_clear(&cell);
      write_cell(&results[line ? line - 1 : 0], metric, line, c, &cell);
      tn_text_add(out, tn_text_str(&cell));
      if (c + 1 < columns) tn_text_repeat(out, ' ', widths[c] - cell.len + 2);
    }
    tn_text_byte(out, '\n');
  }
  tn_heap_free(out->heap, widths, columns * sizeof *widths);
  tn_text_free(&cell);
}

static void write_run(const result *r, size_t rank, tn_json_writer *json) {
  const tn_sweep_run *run = r->run;
  tn_json_object_begin(json);
  tn_json_key(json, "rank");
  if (group_of(r) == 0)
    tn_json_int(json, (int64_t)rank);
  else
    tn_json_null(json);
  tn_json_key(json, "set"), tn_json_object_begin(json);
  for (size_t i = 0; i < run->shown_count; i++)
    tn_json_key(json, run->shown_names[i]), tn_json_string(json, tn_str_of(run->shown_values[i]));
  tn_json_object_end(json);
  tn_json_key(json, "value"), tn_json_f64(json, r->value);
  tn_json_key(json, "step"), tn_json_int(json, r->step);
  tn_json_key(json, "status"), tn_json_string(json, status_of(r));
  tn_json_key(json, "folder"), tn_json_string(json, tn_str_of(run->folder));
  tn_json_object_end(json);
}

static void write_json(const result *results, size_t count, bool whole, tn_text *out) {
  tn_str metric = metric_of(results, count);
  tn_json_writer json = tn_json_writer_on(out);
  tn_json_object_begin(&json);
  tn_json_key(&json, "ok"), tn_json_bool(&json, whole);
  tn_json_key(&json, "language"), tn_json_string(&json, TN_LIT("ail"));
  tn_json_key(&json, whole ? "warnings" : "diagnostics");
  tn_json_array_begin(&json), tn_json_array_end(&json);
  tn_json_key(&json, "metric");
  if (metric.len > 0)
    tn_json_string(&json, metric);
  else
    tn_json_null(&json);
  tn_json_key(&json, "sweep"), tn_json_array_begin(&json);
  for (size_t i = 0; i < count; i++) write_run(&results[i], i + 1, &json);
  tn_json_array_end(&json);
  tn_json_object_end(&json);
}

const char *tn_track_sweep_rank(tern_session *session, const tn_sweep_run *runs, size_t count, bool whole,
                                bool json) {
  tn_heap *heap = tn_api_heap(session);
  reader r = { .session = session };
  (void)tn_stop_asked(heap->stop); /* an interrupt has ended the runs; what came of them is shown */
  tn_api_begin(session);
  tn_text *out = tn_api_answer(session);
  tn_arena_init(&r.arena, heap);
  result *results = tn_heap_alloc(heap, count * sizeof *results);
  bool ok = results != NULL && tn_api_confine(session);
  for (size_t i = 0; ok && i < count; i++) read_result(&r, &runs[i], &results[i]);
  if (ok) {
    qsort(results, count, sizeof *results, order);
    if (json) write_json(results, count, whole, out);
    else write_table(results, count, out);
  }
  ok = ok && !out->failed && !r.arena.failed;
  tn_heap_free(heap, results, count * sizeof *results);
  tn_arena_free(&r.arena);
  if (ok) return tn_api_text(session);
  if (tern_error_count(session) == 0)
    tn_report(tn_api_diags(session), TN_DIAG_E_OUT_OF_MEMORY, TN_NOWHERE, TN_STR("what", "the sweep"));
  return NULL;
}
