/* track/runs.c: `tern runs`: lists, shows, compares and removes recorded runs. */
#include <string.h>

#include "api/door.h"
#include "base/file.h"
#include "base/json.h"
#include "base/number.h"
#include "track/track.h"

/* A query of the history: its store, and memory for the answer. */
typedef struct {
  tern_session *session;
  tn_diags *diags;
  tn_store *store; /* NULL: there is none yet */
  tn_arena arena;
  tn_text *text; /* the answer */
} inquiry;

static bool begin(inquiry *q, tern_session *session, const char *path, tn_store_mode mode) {
  bool absent;
  *q = (inquiry){ .session = session, .diags = tn_api_diags(session), .text = tn_api_answer(session) };
  tn_api_begin_compiling(session);
  tn_arena_init(&q->arena, tn_api_heap(session));
  if (!tn_track_name_store(session, path, false) || !tn_api_confine(session)) return false;
  q->store = tn_store_open(tn_api_heap(session), path, mode, q->diags, &absent);
  return q->store || absent;
}

static const char *end(inquiry *q, bool ok) {
  tn_api_end_compiling(q->session);
  if (!ok) tn_api_settle(q->session);
  tn_store_close(q->store);
  tn_arena_free(&q->arena);
  return ok ? tn_api_text(q->session) : NULL;
}

static void open_answer(inquiry *q, const char *key) {
  tn_text_puts(q->text, "{\"ok\":true,\"");
  tn_text_puts(q->text, key);
  tn_text_puts(q->text, "\":");
}

/* ---- the list ---- */

/* With a similar name, or the columns that every run has. */
static bool no_column(tern_session *session, tn_str name, const tn_run_names *names) {
  tn_str close = tn_str_suggest(name, names->at, names->count);
  tn_text message, hint;
  tn_text_init(&message, tn_api_heap(session));
  tn_text_init(&hint, tn_api_heap(session));
  tn_text_puts(&message, "a run has no ");
  tn_text_add(&message, name);
  tn_text_puts(&hint, close.len > 0 ? "did you mean " : "columns: ");
  if (close.len > 0) tn_diag_put_safe(&hint, close), tn_text_byte(&hint, '?');
  for (size_t i = 0; close.len == 0 && i < names->count && i < TN_RUN_COLUMN_COUNT; i++) {
    if (i > 0) tn_text_puts(&hint, ", ");
    tn_text_add(&hint, names->at[i]);
  }
  if (close.len == 0) tn_text_puts(&hint, "; and the hyperparameters of the runs");
  tn_report(tn_api_diags(session), TN_DIAG_E_USAGE, TN_NOWHERE, TN_TEXT("message", tn_text_str(&message)),
            TN_HINT(tn_text_str(&hint)));
  tn_text_free(&message);
  tn_text_free(&hint);
  return false;
}

/* A column, or else a hyperparameter that a run has: then *hyper is its name. */
static bool find_column(inquiry *q, tn_str name, tn_run_column *column, tn_str *hyper) {
  tn_heap *heap = tn_api_heap(q->session);
  tn_run_names names = { 0 };
  bool found = false, ok = true;
  *hyper = (tn_str){ 0 };
  if (tn_run_column_find(name, column)) return true;
  for (int i = 0; ok && i < TN_RUN_COLUMN_COUNT; i++)
    ok = tn_vec_push(heap, &names, tn_str_of(tn_run_column_of((tn_run_column)i)->name));
  if (!ok) tn_report(q->diags, TN_DIAG_E_OUT_OF_MEMORY, TN_NOWHERE, TN_STR("what", "a list"));
  ok = ok && (!q->store || tn_store_find_hyper(q->store, name, &q->arena, &found, &names));
  ok = ok && (found || no_column(q->session, name, &names));
  tn_vec_free(heap, &names);
  if (found) *hyper = name;
  return ok;
}

/* A word that is not a number would compare with numbers as text. */
static bool can_compare(inquiry *q, const tn_run_condition *c, tn_run_column column, tn_str hyper) {
  double number;
  bool text = hyper.len > 0 || strcmp(tn_run_column_of(column)->type, "TEXT") == 0;
  return text || tn_number_parse_f64(c->value, &number) ||
         tn_api_usage(q->session, "", c->name, " is compared with a number");
}

static bool read_condition(inquiry *q, const char *text, tn_run_condition *out) {
  tn_run_column column;
  tn_str hyper;
  if (!tn_run_condition_read(tn_str_of(text), out))
    return tn_api_usage(q->session, "a condition is written COLUMN=VALUE, with = != < <= > or >=, not ",
                        tn_str_of(text), "");
  return find_column(q, out->name, &column, &hyper) && can_compare(q, out, column, hyper);
}

static bool read_query(inquiry *q, const tn_track_query *wanted, tn_run_query *out) {
  *out = (tn_run_query){ .order = TN_RUN_ID, .descending = true, .limit = wanted->limit };
  tn_run_condition *conditions = tn_arena_array(&q->arena, wanted->condition_count + 1, sizeof *conditions);
  if (!conditions)
    return tn_report(q->diags, TN_DIAG_E_OUT_OF_MEMORY, TN_NOWHERE, TN_STR("what", "a list"));
  for (size_t i = 0; i < wanted->condition_count; i++) {
    if (!read_condition(q, wanted->conditions[i], &conditions[i])) return false;
  }
  out->conditions = conditions;
  out->condition_count = wanted->condition_count;
  if (!wanted->sort) return true;
  out->descending = wanted->sort[0] == '-';
  return find_column(q, tn_str_of(wanted->sort + out->descending), &out->order, &out->hyper);
}

const char *tn_track_list(tern_session *session, const tn_track_query *wanted, bool json) {
  inquiry q;
  tn_run_query query;
  tn_run_rows rows = { 0 };
  bool ok = begin(&q, session, wanted->store, TN_STORE_READ) && read_query(&q, wanted, &query) &&
            (!q.store || tn_store_list(q.store, &query, &q.arena, &rows));
  if (ok && json) {
    open_answer(&q, "runs");
    tn_runs_json(&rows, q.text);
    tn_text_byte(q.text, '}');
  } else if (ok) {
    tn_runs_text(&rows, q.text);
  }
  tn_vec_free(tn_api_heap(session), &rows);
  return end(&q, ok);
}

const char *tn_track_numbers(tern_session *session, const char *store, int64_t limit) {
  inquiry q;
  tn_run_rows rows = { 0 };
  tn_run_query query = { .order = TN_RUN_ID, .descending = true, .limit = limit };
  bool ok = begin(&q, session, store, TN_STORE_READ) &&
            (!q.store || tn_store_list(q.store, &query, &q.arena, &rows));
  if (ok && rows.count > 0) tn_text_puts(q.text, "last\n");
  for (size_t i = 0; ok && i < rows.count; i++) {
    tn_text_add(q.text, rows.at[i].value[TN_RUN_ID]);
    tn_text_byte(q.text, '\n');
  }
  tn_vec_free(tn_api_heap(session), &rows);
  return end(&q, ok);
}

/* ---- single runs ---- */

static bool find(inquiry *q, const char *path, const char *which, tn_run_row *row, int64_t *id) {
  if (q->store) return tn_store_find(q->store, which, &q->arena, row, id);
  return tn_report(q->diags, TN_DIAG_E_RUN_NOT_FOUND, TN_NOWHERE, TN_STR("run", which),
                   TN_STR("path", path));
}

static bool read_whole(inquiry *q, const char *path, const char *which, tn_run_whole *out) {
  int64_t id;
  float *losses;
  tn_run_eval *evals;
  if (!find(q, path, which, &out->row, &id) ||
      !tn_store_losses(q->store, id, &q->arena, &losses, &out->loss_count) ||
      !tn_store_evals(q->store, id, &q->arena, &evals, &out->eval_count)) {
    return false;
  }
  out->losses = losses;
  out->evals = evals;
  return true;
}

const char *tn_track_show(tern_session *session, const char *store, const char *run, bool json) {
  inquiry q;
  tn_run_whole whole;
  bool ok = begin(&q, session, store, TN_STORE_READ) && read_whole(&q, store, run, &whole);
  if (ok && json) {
    open_answer(&q, "run");
    tn_run_json(&whole, q.text);
    tn_text_byte(q.text, '}');
  } else if (ok) {
    tn_run_text(&whole, q.text);
  }
  return end(&q, ok);
}

const char *tn_track_compare(tern_session *session, const char *store, const char *first, const char *second,
                              bool json) {
  inquiry q;
  tn_run_whole a, b;
  bool ok = begin(&q, session, store, TN_STORE_READ) && read_whole(&q, store, first, &a) &&
            read_whole(&q, store, second, &b);
  if (ok && json) {
    open_answer(&q, "comparison");
    tn_run_compare_json(&a, &b, q.text);
    tn_text_byte(q.text, '}');
  } else if (ok) {
    tn_run_compare_text(&a, &b, q.text);
  }
  return end(&q, ok);
}

/* A run in progress would no longer be recorded, without an explanation. */
static bool in_use(inquiry *q, const tn_run_row *row, const char *run) {
  tn_str folder = row->value[TN_RUN_FOLDER];
  return tn_report(q->diags, TN_DIAG_E_RUN_IN_USE, TN_NOWHERE,
                   TN_TEXT("path", folder.at ? folder : tn_str_of(run)));
}

static bool has_ended(inquiry *q, const tn_run_row *row, const char *run) {
  return !tn_str_is(row->value[TN_RUN_STATUS], "running") || in_use(q, row, run);
}

const char *tn_track_remove(tern_session *session, const char *store, const char *run, bool json) {
  inquiry q;
  tn_run_row row;
  int64_t id;
  bool removed;
  bool ok = begin(&q, session, store, TN_STORE_REMOVE) && find(&q, store, run, &row, &id) &&
            has_ended(&q, &row, run) && tn_store_remove(q.store, &row, id, &removed) &&
            (removed || in_use(&q, &row, run));
  if (ok && json) {
    open_answer(&q, "removed");
    tn_text_int(q.text, id);
    tn_text_byte(q.text, '}');
  } else if (ok) {
    tn_text_puts(q.text, "run ");
    tn_text_int(q.text, id);
    tn_text_puts(q.text, " is forgotten");
    tn_str folder = row.value[TN_RUN_FOLDER];
    if (folder.at) tn_text_puts(q.text, "; its folder stays: ");
    tn_diag_put_safe(q.text, folder);
    tn_text_byte(q.text, '\n');
  }
  return end(&q, ok);
}
