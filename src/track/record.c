/* track/record.c: records a training run in the history of runs.
 *
 * The recorder follows a run step by step, keeps what happened in memory, and
 * writes it about twice a second in one short transaction, so that recording
 * costs a run almost nothing and a killed run loses half a second of it. A history that cannot be
 * written never stops a training: it is reported once. One that another process locks does not even
 * delay it: between steps the recorder never waits, and failed writes are tried again later. Before
 * the first step and after the last, a short wait ends at once on Ctrl-C. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "api/door.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/number.h"
#include "track/track.h"

#define WRITE_EVERY         0.5 /* seconds */
#define WAIT_TO_BEGIN       2.0 /* for another process's lock */
#define WAIT_WHERE_REQUIRED 10.0
#define WAIT_TO_END         5.0

/* Since the run began, to the millisecond. */
static double seconds_of(const tn_recorder *r, double now) {
  return (double)(int64_t)((now - r->started) * 1000 + 0.5) / 1000;
}

/* The first failure ends the recording and becomes one diagnostic. */
static void give_up(tn_recorder *r, tn_diag_code code) {
  tn_str reason = TN_LIT("out of memory");
  if (r->diags.list.count > 0) {
    const tn_diag *diag = &r->diags.list.at[0];
    for (size_t i = 0; i < diag->field_count; i++) {
      if (strcmp(diag->fields[i].name, "reason") == 0) reason = diag->fields[i].value;
    }
  }
  tn_report(tn_api_diags(r->session), code, TN_NOWHERE, TN_STR("path", r->path), TN_TEXT("reason", reason));
  tn_store_close(r->store);
  r->store = NULL;
}

bool tn_recorder_open(tn_recorder *r, tern_session *session, const char *path, const char *folder,
                      bool required) {
  tn_heap *heap = tn_api_heap(session);
  *r = (tn_recorder){ .session = session, .path = path, .folder = folder };
  tn_api_begin(session);
  tn_diags_init(&r->diags, heap, tn_api_diags(session)->sources);
  tn_text_init(&r->scratch, heap);
  double wait = required ? WAIT_WHERE_REQUIRED : WAIT_TO_BEGIN;
  r->store = tn_store_open_for(heap, path, TN_STORE_WRITE, wait, &r->diags, NULL);
  r->failed = !r->store;
  if (!r->failed || !(required || heap->stopped)) return true;
  give_up(r, TN_DIAG_E_STORE);
  tn_api_settle(session);
  return false;
}

static void add_time(tn_text *out, double seconds) {
  time_t whole = (time_t)seconds;
  struct tm parts;
  char text[32];
  if (gmtime_r(&whole, &parts) && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts) > 0)
    tn_text_puts(out, text);
}

/* Texts of a row, one after the other in the scratch: offsets first, since the text moves as it grows. */
typedef struct {
  tn_text *text;
  size_t start[TN_RUN_COLUMN_COUNT], length[TN_RUN_COLUMN_COUNT];
} row_writer;

static void begin_column(row_writer *w, tn_run_column column) { w->start[column] = w->text->len; }
static void end_column(row_writer *w, tn_run_column column) {
  w->length[column] = w->text->len - w->start[column];
  tn_text_byte(w->text, 0);
}
static void put_column(row_writer *w, tn_run_column column, tn_str value) {
  begin_column(w, column);
  tn_text_add(w->text, value);
  end_column(w, column);
}
static void put_number(row_writer *w, tn_run_column column, uint64_t value) {
  begin_column(w, column);
  tn_text_uint(w->text, value);
  end_column(w, column);
}
static void put_text(row_writer *w, tn_run_column column, const char *value) {
  if (value) put_column(w, column, tn_str_of(value));
}
static void put_path(row_writer *w, tn_run_column column, const char *path) {
  begin_column(w, column);
  tn_file_absolute(path, w->text);
  end_column(w, column);
}

/* As a JSON object. The number of steps has a column of its own. */
static void put_hypers(row_writer *w, const tern_run_facts *facts) {
  begin_column(w, TN_RUN_HYPER);
  tn_json_writer json = tn_json_writer_on(w->text);
  tn_json_object_begin(&json);
  for (size_t i = 0; i < facts->hyperparameter_count && i < TN_RUN_HYPER_LIMIT; i++) {
    const tern_hyperparameter *hyper = &facts->hyperparameters[i];
    tn_str value = tn_str_of(hyper->value);
    int64_t whole;
    double number;
    if (strcmp(hyper->name, tn_run_column_of(TN_RUN_STEPS)->name) == 0) continue;
    tn_json_key(&json, hyper->name);
    if (tn_number_parse_i64(value, &whole))
      tn_json_int(&json, whole);
    else if (tn_number_parse_f64(value, &number) && isfinite(number))
      tn_json_f64(&json, number);
    else
      tn_json_string(&json, value);
  }
  tn_json_object_end(&json);
  end_column(w, TN_RUN_HYPER);
}

static void write_row(tn_recorder *r, const tern_run_facts *facts, row_writer *w) {
  begin_column(w, TN_RUN_STARTED);
  add_time(w->text, tn_clock_of_day());
  end_column(w, TN_RUN_STARTED);
  put_hypers(w, facts);
  put_text(w, TN_RUN_GIVEN, facts->given_sha256);
  put_text(w, TN_RUN_PROGRAM, facts->program);
  put_column(w, TN_RUN_SOURCE, (tn_str){ facts->source, facts->source_length });
  put_text(w, TN_RUN_DATA, facts->data);
  put_number(w, TN_RUN_STEPS, (uint64_t)facts->steps);
  put_number(w, TN_RUN_SEED, facts->seed);
  put_number(w, TN_RUN_THREADS, (uint64_t)tern_threads(r->session));
  put_number(w, TN_RUN_RANKS, (uint64_t)facts->ranks);
  put_text(w, TN_RUN_SOURCE_SHA256, facts->source_sha256);
  put_text(w, TN_RUN_DATA_SHA256, facts->data_sha256);
  put_text(w, TN_RUN_DEVICE, facts->device);
  put_text(w, TN_RUN_BACKEND, tern_backend(r->session));
  put_text(w, TN_RUN_VERSION, tern_version());
  if (r->folder) put_path(w, TN_RUN_FOLDER, r->folder);
  put_path(w, TN_RUN_DIRECTORY, ".");
}

static void begin(void *context, const tern_run_facts *facts) {
  tn_recorder *r = context;
  r->first = facts->step;
  if (r->failed) give_up(r, TN_DIAG_E_RUN_NOT_RECORDED);
  if (!r->store) return;
  row_writer w = { .text = &r->scratch };
  write_row(r, facts, &w);
  tn_run_row row = { 0 };
  for (int i = 0; i < TN_RUN_COLUMN_COUNT; i++) {
    if (w.length[i] > 0 && !r->scratch.failed)
      row.value[i] = (tn_str){ r->scratch.at + w.start[i], w.length[i] };
  }
  r->started = r->written = tn_clock_steady();
  if (r->scratch.failed || !tn_store_begin(r->store, &row, facts->step, &r->run)) {
    give_up(r, TN_DIAG_E_RUN_NOT_RECORDED);
    return;
  }
  tn_store_wait_at_most(r->store, 0);
}

/* A later attempt has it all. */
static bool write_steps(tn_recorder *r) {
  r->written = tn_clock_steady();
  if (!tn_store_add(r->store, r->run, r->first, r->losses.at, r->losses.count, r->evals.at, r->evals.count,
                    seconds_of(r, r->written)))
    return false;
  r->first += (int64_t)r->losses.count;
  r->losses.count = r->evals.count = 0;
  return true;
}

static void try_to_write(tn_recorder *r) {
  if (write_steps(r)) return;
  if (!tn_store_was_held(r->store)) {
    give_up(r, TN_DIAG_E_RUN_NOT_RECORDED);
    return;
  }
  tn_diags_clear(&r->diags);
  tn_api_heap(r->session)->stopped = false; /* the training says so itself, where it can stop well */
}

static void step(void *context, const tern_step *step) {
  tn_recorder *r = context;
  tn_heap *heap = tn_api_heap(r->session);
  if (!r->store) return;
  bool ok = tn_vec_push(heap, &r->losses, (float)step->loss);
  if (step->evaluated) {
    tn_run_eval eval = { step->step, step->eval_loss, step->eval_accuracy };
    ok = tn_vec_push(heap, &r->evals, eval) && ok;
  }
  if (!ok)
    give_up(r, TN_DIAG_E_RUN_NOT_RECORDED);
  else if (tn_clock_steady() - r->written > WRITE_EVERY)
    try_to_write(r);
}

static void end(void *context, const tern_run_end *end) {
  tn_recorder *r = context;
  if (!r->store) return;
  tn_store_wait_at_most(r->store, WAIT_TO_END);
  double seconds = seconds_of(r, tn_clock_steady());
  if (!write_steps(r) ||
      !tn_store_end(r->store, r->run, end->status, end->step, tn_str_of(end->weights_sha256), seconds))
    give_up(r, TN_DIAG_E_RUN_NOT_RECORDED);
}

tern_follower tn_recorder_follower(tn_recorder *r) {
  return (tern_follower){ .context = r, .begin = begin, .step = step, .end = end };
}

void tn_recorder_close(tn_recorder *r) {
  tn_heap *heap = tn_api_heap(r->session);
  tn_store_close(r->store);
  tn_vec_free(heap, &r->losses);
  tn_vec_free(heap, &r->evals);
  tn_text_free(&r->scratch);
  tn_diags_free(&r->diags);
}
