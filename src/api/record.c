/* api/record.c: a training run on its way into the history of runs.
 *
 * The recorder follows a run step by step, keeps what happened in memory, and
 * writes it about twice a second in one short transaction, so that recording
 * costs a run next to nothing and a killed run loses half a second of it. A
 * history that cannot be written never stops a training: it is said once. One
 * that somebody else holds does not even delay it: between steps nothing is
 * waited for, and what could not be written is tried again later. Before the
 * first step and after the last, a short wait ends at once on Ctrl-C. */
#include <string.h>
#include <time.h>

#include "api/internal.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/sha256.h"

#define WRITE_EVERY         0.5 /* seconds */
#define WAIT_TO_BEGIN       2.0 /* for a lock of somebody else */
#define WAIT_WHERE_REQUIRED 10.0
#define WAIT_TO_END         5.0

/* ---- what decides the bits besides program, data and seed ---- */

static void hash_str(tn_sha256 *hash, tn_str text) {
  uint64_t length = text.len;
  unsigned char bytes[8];
  for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(length >> (8 * i));
  tn_sha256_update(hash, bytes, sizeof bytes);
  tn_sha256_update(hash, text.at, text.len);
}

static void hash_givens(tn_sha256 *hash, const char *kind, const tn_given *givens, size_t count) {
  for (size_t i = 0; i < count; i++) {
    hash_str(hash, tn_str_of(kind));
    hash_str(hash, givens[i].name);
    hash_str(hash, givens[i].json);
    if (givens[i].data.buffer) tn_view_sha256_update(&givens[i].data.view, hash);
  }
}

static void add_given(const tn_host *host, tn_text *out) {
  tn_sha256 hash;
  uint8_t digest[32];
  if (host->input_count + host->param_count + host->weight_count == 0) return;
  tn_sha256_init(&hash);
  hash_givens(&hash, "input", host->inputs, host->input_count);
  hash_givens(&hash, "param", host->params, host->param_count);
  hash_givens(&hash, "weights", host->weights, host->weight_count);
  tn_sha256_final(&hash, digest);
  tn_text_hex(out, digest, sizeof digest);
}

/* ---- the recorder ---- */

/* Since the run began, to the millisecond. */
static double seconds_of(const tn_recorder *r, double now) {
  return (double)(int64_t)((now - r->started) * 1000 + 0.5) / 1000;
}

/* The first failure ends the recording and becomes one warning. */
static void give_up(tn_recorder *r) {
  tn_str reason = TN_LIT("out of memory");
  if (r->diags.list.count > 0) {
    const tn_diag *diag = &r->diags.list.at[0];
    for (size_t i = 0; i < diag->field_count; i++) {
      if (strcmp(diag->fields[i].name, "reason") == 0) reason = diag->fields[i].value;
    }
  }
  tn_report(&r->session->diags, r->required ? TN_DIAG_E_STORE : TN_DIAG_E_RUN_NOT_RECORDED, TN_NOWHERE,
            TN_STR("path", r->path), TN_TEXT("reason", reason));
  tn_store_close(r->store);
  r->store = NULL;
}

bool tn_recorder_open(tn_recorder *r, tern_session *session, const char *path, bool required) {
  *r = (tn_recorder){ .session = session, .path = path, .required = required };
  if (!path) return true;
  tn_diags_init(&r->diags, &session->heap, &session->sources);
  tn_text_init(&r->scratch, &session->heap);
  double wait = required ? WAIT_WHERE_REQUIRED : WAIT_TO_BEGIN;
  r->store = tn_store_open_for(&session->heap, path, TN_STORE_WRITE, wait, &r->diags, NULL);
  if (!r->store) give_up(r);
  r->required = false; /* once the run has begun, it is not stopped for this */
  return r->store || !required;
}

static void add_time(tn_text *out, double seconds) {
  time_t whole = (time_t)seconds;
  struct tm parts;
  char text[32];
  if (gmtime_r(&whole, &parts) && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts) > 0)
    tn_text_puts(out, text);
}

/* Texts of a row, one behind the other in the scratch: offsets first, since the text moves as it grows. */
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
static void put_hash(row_writer *w, tn_run_column column, const uint8_t *digest) {
  begin_column(w, column);
  tn_text_hex(w->text, digest, 32);
  end_column(w, column);
}
static void put_path(row_writer *w, tn_run_column column, const char *path) {
  begin_column(w, column);
  tn_file_absolute(path, w->text);
  end_column(w, column);
}

static void write_row(tn_recorder *r, const tn_run_facts *facts, row_writer *w) {
  tern_session *session = r->session;
  begin_column(w, TN_RUN_STARTED);
  add_time(w->text, session->host.now(&session->host));
  end_column(w, TN_RUN_STARTED);
  begin_column(w, TN_RUN_GIVEN);
  add_given(&session->host, w->text);
  end_column(w, TN_RUN_GIVEN);
  put_column(w, TN_RUN_PROGRAM, facts->program);
  put_column(w, TN_RUN_SOURCE, facts->source);
  put_column(w, TN_RUN_DATA, facts->data);
  put_number(w, TN_RUN_STEPS, (uint64_t)facts->steps);
  put_number(w, TN_RUN_SEED, facts->seed);
  put_number(w, TN_RUN_THREADS, (uint64_t)session->threads);
  put_hash(w, TN_RUN_SOURCE_SHA256, facts->source_sha256);
  if (facts->data.len > 0) put_hash(w, TN_RUN_DATA_SHA256, facts->data_sha256);
  put_column(w, TN_RUN_BACKEND, tn_str_of(tern_backend(session)));
  put_column(w, TN_RUN_VERSION, tn_str_of(tern_version()));
  if (r->folder) put_path(w, TN_RUN_FOLDER, r->folder);
  put_path(w, TN_RUN_DIRECTORY, ".");
}

void tn_recorder_begin(void *context, const tn_run_facts *facts) {
  tn_recorder *r = context;
  r->steps = facts->steps;
  r->first = facts->step;
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
    give_up(r);
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
    give_up(r);
    return;
  }
  tn_diags_clear(&r->diags);
  r->session->heap.stopped = false; /* the training says so itself, where it can stop well */
}

static void record_step(tn_recorder *r, const tn_history_row *row) {
  tn_heap *heap = &r->session->heap;
  bool ok = tn_vec_push(heap, &r->losses, (float)row->loss);
  if (row->evaluated) {
    tn_run_eval eval = { row->step, row->eval_loss, row->eval_accuracy };
    ok = tn_vec_push(heap, &r->evals, eval) && ok;
  }
  if (!ok)
    give_up(r);
  else if (tn_clock_steady() - r->written > WRITE_EVERY)
    try_to_write(r);
}

void tn_recorder_step(void *context, const tn_history_row *row) {
  tn_recorder *r = context;
  if (r->store) record_step(r, row);
  if (!r->session->step_sink) return;
  tern_step step = { .step = row->step,
                     .steps = r->steps,
                     .loss = row->loss,
                     .evaluated = row->evaluated,
                     .eval_loss = row->eval_loss,
                     .eval_accuracy = row->eval_accuracy };
  r->session->step_sink(r->session->step_context, &step);
}

void tn_recorder_end(void *context, const char *status, int64_t step, const uint8_t weights_sha256[32]) {
  tn_recorder *r = context;
  if (!r->store) return;
  tn_store_wait_at_most(r->store, WAIT_TO_END);
  tn_text_clear(&r->scratch);
  tn_text_hex(&r->scratch, weights_sha256, 32);
  double seconds = seconds_of(r, tn_clock_steady());
  if (r->scratch.failed || !write_steps(r) ||
      !tn_store_end(r->store, r->run, status, step, tn_text_str(&r->scratch), seconds))
    give_up(r);
}

void tn_recorder_close(tn_recorder *r) {
  if (!r->path) return;
  tn_store_close(r->store);
  tn_vec_free(&r->session->heap, &r->losses);
  tn_vec_free(&r->session->heap, &r->evals);
  tn_text_free(&r->scratch);
  tn_diags_free(&r->diags);
}
