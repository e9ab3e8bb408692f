/* track/store/internal.h: the database connection, shared by the files of the store. */
#ifndef TN_STORE_INTERNAL_H
#define TN_STORE_INTERNAL_H

#include <sqlite3.h>

#include "track/store/store.h"

/* The functions of SQLite that are used, under their names without the prefix (sqlite.c). */
#define TN_SQLITE_FUNCTIONS(X)                                                                               \
  X(bind_blob) X(bind_double) X(bind_int64) X(bind_null) X(bind_parameter_count) X(bind_text64)             \
  X(busy_handler) X(changes) X(close) X(column_blob) X(column_bytes) X(column_double) X(column_int)         \
  X(column_int64) X(column_text) X(column_type) X(db_config) X(db_readonly) X(errcode) X(errmsg)            \
  X(exec) X(finalize) X(last_insert_rowid) X(limit) X(memory_used) X(open_v2) X(prepare_v2)                 \
  X(progress_handler) X(reset) X(sleep) X(step)
#define TN_SQLITE_MEMBER(name) __typeof__(&sqlite3_##name) name;
typedef struct {
  void *library;
  TN_SQLITE_FUNCTIONS(TN_SQLITE_MEMBER)
} tn_sqlite_functions;
#undef TN_SQLITE_MEMBER
extern tn_sqlite_functions tn_sqlite; /* after tn_store_load */

struct tn_store {
  tn_heap *heap;
  tn_diags *diags;
  sqlite3 *database;
  char *path;
  size_t path_bytes;
  int version;     /* of the tables; 0: there are none */
  tn_text process; /* this process, as tn_store_this_process says; found while /proc can still be read */
  double patience; /* seconds that another process's lock is waited for */
  double waiting;  /* since when, on the monotonic clock */
  size_t before;   /* bytes that SQLite had when the store was opened */
  size_t counted;  /* bytes of SQLite that the heap counts for it */
  bool refused;    /* the last statement needed more memory than there is for it */
  bool held;       /* the last failure was another process's lock or a stop; a rollback hides its code */
};

/* Reports E_STORE with the database's own words. Returns false. */
bool tn_store_failed(tn_store *store);
bool tn_store_out_of_memory(tn_store *store);

/* A statement, or NULL after reporting. Parameters are numbered from 1. */
sqlite3_stmt *tn_store_prepare(tn_store *store, const char *sql);
void tn_store_bind_text(sqlite3_stmt *statement, int index, tn_str text);   /* `at` NULL binds NULL */
void tn_store_bind_real(sqlite3_stmt *statement, int index, double number); /* NaN binds NULL */
/* Runs a statement that gives no rows, and frees it. NULL is false. */
bool tn_store_finish(tn_store *store, sqlite3_stmt *statement);
bool tn_store_run(tn_store *store, const char *sql);
/* One transaction around a piece of work: taken at once, so that two writers queue up. */
bool tn_store_start(tn_store *store);
/* Commits when ok, else takes everything back. Returns whether it was committed. */
bool tn_store_settle(tn_store *store, bool ok);

/* The expression of a column in a query: its name, or NULL where tables of that version have none. */
const char *tn_store_column(int version, tn_run_column column);
/* Those of all columns, separated by commas. */
void tn_store_column_list(int version, tn_text *sql);

/* The tables (schema.c). Every object of the database must be, word for word, one that tern
 * creates: a view in place of a table could run forever, a trigger could do anything. Fills in
 * `version`. False after reporting. */
bool tn_store_read_version(tn_store *store);
/* Inside a transaction: makes them in an empty database, or moves an older one to this version, whole or not
 * at all. */
bool tn_store_make_tables(tn_store *store);
bool tn_store_migrate(tn_store *store);
/* Reports E_STORE. Returns false. */
bool tn_store_refuse(tn_store *store, const char *reason);

/* This process, so that another can later ask whether it still lives: "PID START BOOT". Empty where
 * the system does not say. */
void tn_store_this_process(tn_heap *heap, tn_text *out);
bool tn_store_is_alive(tn_heap *heap, tn_str process);
#endif
