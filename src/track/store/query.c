/* track/store/query.c: queries the recorded runs.
 *
 * Conditions and orders name columns of the table, never SQL: what a user types is
 * looked up or compared, not pasted. */
#include "track/store/store.h"

#ifdef TN_HAVE_SQLITE
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/number.h"
#include "track/store/internal.h"

/* ---- rows ---- */

/* The type that a column's values have, besides NULL. */
static int type_of(tn_run_column column) {
  const char *type = tn_run_column_of(column)->type;
  return strcmp(type, "TEXT") == 0 ? SQLITE_TEXT : strcmp(type, "REAL") == 0 ? SQLITE_FLOAT : SQLITE_INTEGER;
}

static tn_str column_text(tn_store *store, sqlite3_stmt *s, int column, tn_arena *arena) {
  tn_text text;
  tn_text_init(&text, store->heap);
  if (type_of((tn_run_column)column) == SQLITE_INTEGER)
    tn_text_int(&text, tn_sqlite.column_int64(s, column));
  else if (column == TN_RUN_LOSS || column == TN_RUN_EVAL_LOSS)
    tn_text_f32(&text, (float)tn_sqlite.column_double(s, column)); /* that is what they were */
  else if (type_of((tn_run_column)column) == SQLITE_FLOAT)
    tn_text_f64(&text, tn_sqlite.column_double(s, column));
  else
    tn_text_add(&text, (tn_str){ (const char *)tn_sqlite.column_text(s, column),
                                 (size_t)tn_sqlite.column_bytes(s, column) });
  if (text.failed) arena->failed = true;
  tn_str copy = tn_arena_str(arena, tn_text_str(&text));
  tn_text_free(&text);
  return copy;
}

/* STRICT tables guarantee it; an untrusted or older file may not have been written through
 * them. */
static bool has_type(tn_store *store, sqlite3_stmt *s, int column, int type) {
  if (tn_sqlite.column_type(s, column) == type) return true;
  return tn_store_refuse(store, "a value is not of its column's type");
}

static bool read_row(tn_store *store, sqlite3_stmt *s, tn_arena *arena, tn_run_row *row) {
  *row = (tn_run_row){ 0 };
  for (int i = 0; i < TN_RUN_COLUMN_COUNT; i++) {
    if (tn_sqlite.column_type(s, i) == SQLITE_NULL) continue;
    if (!has_type(store, s, i, type_of((tn_run_column)i))) return false;
    row->value[i] = column_text(store, s, i, arena);
  }
  if (!tn_run_hypers_read(arena, row) && !arena->failed)
    return tn_store_refuse(store, "the hyperparameters of a run are not an object of numbers and texts");
  tn_str *status = &row->value[TN_RUN_STATUS];
  if (tn_str_is(*status, "running") && !tn_store_is_alive(store->heap, row->value[TN_RUN_PROCESS]))
    *status = TN_LIT("killed");
  return true;
}

/* Every row of a bound statement, which is freed. */
static bool read_rows(tn_store *store, sqlite3_stmt *s, tn_arena *arena, tn_run_rows *out) {
  int result;
  bool right = true, memory = true;
  while (right && memory && (result = tn_sqlite.step(s)) == SQLITE_ROW) {
    tn_run_row row;
    right = read_row(store, s, arena, &row);
    memory = !right || (!arena->failed && tn_vec_push(store->heap, out, row));
  }
  bool ok = !right    ? false
            : !memory ? tn_store_out_of_memory(store)
                      : result == SQLITE_DONE || tn_store_failed(store);
  tn_sqlite.finalize(s);
  return ok;
}

/* ---- lists ---- */

/* The text of a program is long and not needed in a list. */
static void add_listed_columns(int version, tn_text *sql) {
  for (int i = 0; i < TN_RUN_COLUMN_COUNT; i++) {
    if (i > 0) tn_text_byte(sql, ',');
    tn_text_puts(sql, i == TN_RUN_SOURCE ? "NULL" : tn_store_column(version, (tn_run_column)i));
  }
}

/* Seeds are numbers of up to 20 digits, kept as text. */
static void add_order(int version, const tn_run_query *query, tn_text *sql) {
  bool seed = query->order == TN_RUN_SEED;
  tn_text_puts(sql, seed ? " ORDER BY substr('00000000000000000000'||" : " ORDER BY ");
  tn_text_puts(sql, tn_store_column(version, query->order));
  if (seed) tn_text_puts(sql, ",-20)");
  tn_text_puts(sql, query->descending ? " DESC NULLS LAST,id DESC" : " ASC NULLS LAST,id ASC");
}

static void write_query(int version, const tn_run_query *query, tn_text *sql) {
  tn_text_puts(sql, "SELECT ");
  add_listed_columns(version, sql);
  tn_text_puts(sql, " FROM runs");
  add_order(version, query, sql);
  bool all_fit = query->condition_count == 0 && query->words.len == 0;
  if (query->limit > 0 && all_fit && query->hyper.len == 0) { /* else what is over is cut off below */
    tn_text_puts(sql, " LIMIT ");
    tn_text_int(sql, query->limit);
  }
}

/* Conditions are compared here: a killed run is stored as running, and hyperparameters are one text. */
static bool fits(const tn_run_row *row, const tn_run_query *query) {
  for (size_t i = 0; i < query->condition_count; i++) {
    if (!tn_run_condition_holds(row, &query->conditions[i])) return false;
  }
  return tn_run_fits(row, query->words);
}

static void keep_fitting(tn_run_rows *rows, const tn_run_query *query) {
  size_t kept = 0;
  for (size_t i = 0; i < rows->count; i++) {
    if (fits(&rows->at[i], query)) rows->at[kept++] = rows->at[i];
  }
  rows->count = kept;
}

/* ---- in the order of a hyperparameter ---- */

typedef struct {
  const tn_run_hyper *key; /* NULL: the run has none, and comes last */
  size_t index;            /* among the rows, which are in the order of their numbers */
  tn_run_row row;
} keyed_row;

static int order_rising(const void *a, const void *b) {
  const keyed_row *x = a, *y = b;
  int order = tn_run_hyper_order(x->key, y->key);
  return order ? order : (x->index > y->index) - (x->index < y->index);
}

static int order_falling(const void *a, const void *b) {
  const keyed_row *x = a, *y = b;
  int order = x->key && y->key ? tn_run_hyper_order(y->key, x->key) : tn_run_hyper_order(x->key, y->key);
  return order ? order : (x->index > y->index) - (x->index < y->index);
}

static bool order_rows(tn_store *store, const tn_run_query *query, tn_run_rows *rows) {
  size_t bytes = rows->count * sizeof(keyed_row);
  keyed_row *keyed = rows->count > 0 ? tn_heap_alloc(store->heap, bytes) : NULL;
  if (rows->count == 0) return true;
  if (!keyed) return tn_store_out_of_memory(store);
  for (size_t i = 0; i < rows->count; i++)
    keyed[i] = (keyed_row){ tn_run_hyper_find(&rows->at[i], query->hyper), i, rows->at[i] };
  qsort(keyed, rows->count, sizeof *keyed, query->descending ? order_falling : order_rising);
  for (size_t i = 0; i < rows->count; i++) rows->at[i] = keyed[i].row;
  tn_heap_free(store->heap, keyed, bytes);
  return true;
}

bool tn_store_list(tn_store *store, const tn_run_query *query, tn_arena *arena, tn_run_rows *out) {
  tn_text sql;
  tn_text_init(&sql, store->heap);
  write_query(store->version, query, &sql);
  sqlite3_stmt *s = sql.failed ? NULL : tn_store_prepare(store, sql.at);
  bool failed = sql.failed;
  tn_text_free(&sql);
  if (failed) return tn_store_out_of_memory(store);
  if (!s) return false;
  if (!read_rows(store, s, arena, out)) return false;
  keep_fitting(out, query);
  if (query->hyper.len > 0 && !order_rows(store, query, out)) return false;
  if (query->limit > 0 && out->count > (size_t)query->limit) out->count = (size_t)query->limit;
  return true;
}

#define MOST_NAMES 1000 /* to choose a suggestion from */

static bool add_name(tn_heap *heap, tn_run_names *names, tn_str name) {
  for (size_t i = 0; i < names->count; i++) {
    if (tn_str_equal(names->at[i], name)) return true;
  }
  return names->count == MOST_NAMES || tn_vec_push(heap, names, name);
}

bool tn_store_find_hyper(tn_store *store, tn_str name, tn_arena *arena, bool *found, tn_run_names *names) {
  tn_run_query query = { .order = TN_RUN_ID };
  tn_run_rows rows = { 0 };
  bool ok = tn_store_list(store, &query, arena, &rows), memory = true;
  *found = false;
  for (size_t i = 0; ok && memory && i < rows.count; i++) {
    for (size_t k = 0; memory && k < rows.at[i].hyper_count; k++) {
      *found = *found || tn_str_equal(rows.at[i].hypers[k].name, name);
      memory = add_name(store->heap, names, rows.at[i].hypers[k].name);
    }
  }
  tn_vec_free(store->heap, &rows);
  return ok && (memory || tn_store_out_of_memory(store));
}

/* ---- one run ---- */

static bool find_by(tn_store *store, const char *condition, tn_str value, tn_arena *arena, tn_run_rows *out) {
  tn_text sql;
  tn_text_init(&sql, store->heap);
  tn_text_puts(&sql, "SELECT ");
  tn_store_column_list(store->version, &sql);
  tn_text_puts(&sql, " FROM runs WHERE ");
  tn_text_puts(&sql, condition);
  tn_text_puts(&sql, " ORDER BY id DESC LIMIT 1");
  sqlite3_stmt *s = sql.failed ? NULL : tn_store_prepare(store, sql.at);
  tn_text_free(&sql);
  if (!s) return false;
  if (tn_sqlite.bind_parameter_count(s) > 0) tn_store_bind_text(s, 1, value);
  return read_rows(store, s, arena, out);
}

static bool find_folder(tn_store *store, const char *which, tn_arena *arena, tn_run_rows *out) {
  tn_text absolute;
  tn_text_init(&absolute, store->heap);
  bool there = tn_file_absolute(which, &absolute);
  bool ok = find_by(store, "folder=?1", there ? tn_text_str(&absolute) : tn_str_of(which), arena, out);
  tn_text_free(&absolute);
  return ok;
}

bool tn_store_find(tn_store *store, const char *which, tn_arena *arena, tn_run_row *out, int64_t *id) {
  tn_run_rows rows = { 0 };
  uint64_t number;
  bool ok;
  if (strcmp(which, "last") == 0)
    ok = find_by(store, "1", (tn_str){ 0 }, arena, &rows);
  else if (tn_number_parse_u64(tn_str_of(which), &number))
    ok = find_by(store, "id=CAST(?1 AS INTEGER)", tn_str_of(which), arena, &rows);
  else
    ok = find_folder(store, which, arena, &rows);
  bool found = ok && rows.count > 0;
  if (found) *out = rows.at[0];
  tn_vec_free(store->heap, &rows);
  if (!ok) return false;
  if (!found)
    return tn_report(store->diags, TN_DIAG_E_RUN_NOT_FOUND, TN_NOWHERE, TN_STR("run", which),
                     TN_STR("path", store->path));
  *id = 0;
  if (tn_number_parse_u64(out->value[TN_RUN_ID], &number)) *id = (int64_t)number;
  return true;
}

/* ---- its steps ---- */

static float get_le(const unsigned char *from) {
  uint32_t bits = 0;
  float value;
  for (int i = 0; i < 4; i++) bits |= (uint32_t)from[i] << (8 * i);
  memcpy(&value, &bits, sizeof value);
  return value;
}

typedef tn_vec(float) losses;

/* A chunk that is missing, or short in the middle, ends the curve there. False: no memory. */
static bool take_chunk(tn_store *store, sqlite3_stmt *s, losses *out) {
  int64_t chunk = tn_sqlite.column_int64(s, 0);
  bool next = chunk >= 0 && (uint64_t)chunk == out->count / TN_STORE_CHUNK;
  if (!next || out->count % TN_STORE_CHUNK != 0) return true;
  size_t items = (size_t)tn_sqlite.column_bytes(s, 1) / sizeof(float);
  const unsigned char *data = tn_sqlite.column_blob(s, 1);
  for (size_t i = 0; i < items && i < TN_STORE_CHUNK; i++) {
    if (!tn_vec_push(store->heap, out, get_le(data + i * sizeof(float)))) return false;
  }
  return true;
}

bool tn_store_losses(tn_store *store, int64_t id, tn_arena *arena, float **out, size_t *count) {
  losses found = { 0 };
  sqlite3_stmt *s = tn_store_prepare(store, "SELECT chunk,data FROM losses WHERE run=?1 ORDER BY chunk");
  if (!s) return false;
  tn_sqlite.bind_int64(s, 1, id);
  int result;
  bool right = true, memory = true;
  while (right && memory && (result = tn_sqlite.step(s)) == SQLITE_ROW) {
    right = has_type(store, s, 0, SQLITE_INTEGER) && has_type(store, s, 1, SQLITE_BLOB);
    memory = !right || take_chunk(store, s, &found);
  }
  *count = found.count;
  *out = memory ? tn_arena_copy(arena, found.at, found.count * sizeof(float)) : NULL;
  memory = memory && (*out || found.count == 0);
  tn_vec_free(store->heap, &found);
  bool ok = !right    ? false
            : !memory ? tn_store_out_of_memory(store)
                      : result == SQLITE_DONE || tn_store_failed(store);
  tn_sqlite.finalize(s);
  return ok;
}

static double real_or_nan(sqlite3_stmt *s, int column) {
  return tn_sqlite.column_type(s, column) == SQLITE_NULL ? (double)__builtin_nanf("")
                                                       : tn_sqlite.column_double(s, column);
}

static bool is_real_or_null(tn_store *store, sqlite3_stmt *s, int column) {
  return tn_sqlite.column_type(s, column) == SQLITE_NULL || has_type(store, s, column, SQLITE_FLOAT);
}

bool tn_store_evals(tn_store *store, int64_t id, tn_arena *arena, tn_run_eval **out, size_t *count) {
  tn_vec(tn_run_eval) evals = { 0 };
  sqlite3_stmt *s =
      tn_store_prepare(store, "SELECT step,loss,accuracy FROM evals WHERE run=?1 ORDER BY step");
  if (!s) return false;
  tn_sqlite.bind_int64(s, 1, id);
  int result;
  bool right = true, memory = true;
  while (right && memory && (result = tn_sqlite.step(s)) == SQLITE_ROW) {
    right = has_type(store, s, 0, SQLITE_INTEGER) && is_real_or_null(store, s, 1) &&
            is_real_or_null(store, s, 2);
    tn_run_eval eval = { tn_sqlite.column_int64(s, 0), real_or_nan(s, 1), real_or_nan(s, 2) };
    memory = !right || tn_vec_push(store->heap, &evals, eval);
  }
  *count = evals.count;
  *out = memory ? tn_arena_copy(arena, evals.at, evals.count * sizeof *evals.at) : NULL;
  memory = memory && (*out || evals.count == 0);
  tn_vec_free(store->heap, &evals);
  bool ok = !right    ? false
            : !memory ? tn_store_out_of_memory(store)
                      : result == SQLITE_DONE || tn_store_failed(store);
  tn_sqlite.finalize(s);
  return ok;
}
#endif
