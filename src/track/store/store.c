/* track/store/store.c: opens the database, and reports its errors.
 *
 * The file carries SQLite's own marks for the program and the version that made
 * it. An empty file becomes a store; anything else that is not one is refused
 * (schema.c), and a connection is set up so that nothing in a file can make it
 * run code: no views, no triggers, no functions in the schema.
 *
 * The journal is SQLite's plain one: one file at rest, readable from a read-only
 * folder, and safe under kill -9. Writers wait for each other, but not for long,
 * and not when the session is asked to stop. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

#ifdef TN_HAVE_SQLITE
#include "track/store/internal.h"

#define PATIENCE        5.0  /* seconds; for another process's lock */
#define PATIENCE_AT_END 1.0  /* when the session is asked to stop; a reader is done by then */
#define WAIT_STEP_MS    5
#define STEPS_PER_LOOK  100  /* of SQLite's bytecode, between two looks at the stop and at its memory */

/* SQLite's own memory: what an honest history needs is not counted; more counts for the session, whose user
 * may not have set a limit. A value may take an eighth of it, because several are held between two looks. */
#define FREE_BYTES      ((size_t)1 << 20)
#define MOST_BYTES      ((size_t)256 << 20)
#define SHORTEST_LIMIT  ((size_t)1 << 16) /* of the length of a value; a chunk of losses has 16 kB */
#define LONGEST_LIMIT   ((size_t)1 << 28)
#define MOST_SQL_BYTES  (1 << 17)
#define MOST_COLUMNS    64
_Static_assert(TN_RUN_COLUMN_COUNT <= MOST_COLUMNS, "the table of runs is refused");

/* ---- errors ---- */

bool tn_store_refuse(tn_store *store, const char *reason) {
  return tn_report(store->diags, TN_DIAG_E_STORE, TN_NOWHERE, TN_STR("path", store->path),
                   TN_STR("reason", reason));
}

static bool report(const char *path, tn_diags *diags, const char *reason) {
  return tn_report(diags, TN_DIAG_E_STORE, TN_NOWHERE, TN_STR("path", path), TN_STR("reason", reason));
}

bool tn_store_out_of_memory(tn_store *store) {
  return tn_report(store->diags, TN_DIAG_E_OUT_OF_MEMORY, TN_NOWHERE, TN_STR("what", "the run history"));
}

/* SQLite does not say. */
static const char *why_not_opened(const char *path) {
  struct stat about;
  if (stat(path, &about) == 0 && S_ISDIR(about.st_mode)) return "it is a folder";
  if (access(path, R_OK) != 0 && errno == EACCES) return "permission denied";
  return "it cannot be opened";
}

static bool was_refused(const tn_store *store) {
  return store->refused && (tn_sqlite.errcode(store->database) & 0xff) == SQLITE_INTERRUPT;
}

bool tn_store_failed(tn_store *store) {
  int code = tn_sqlite.errcode(store->database) & 0xff;
  store->held = false;
  if (code == SQLITE_NOMEM || was_refused(store)) return tn_store_out_of_memory(store);
  store->held = code == SQLITE_BUSY || code == SQLITE_LOCKED || code == SQLITE_INTERRUPT;
  bool stopped = code == SQLITE_INTERRUPT || (code == SQLITE_BUSY && tn_stop_asked(store->heap->stop));
  if (stopped) store->heap->stopped = true; /* the session says why */
  const char *reason = code == SQLITE_NOTADB     ? "it is not a database"
                       : code == SQLITE_CORRUPT  ? "it is damaged"
                       : code == SQLITE_READONLY ? "it may not be written"
                       : code == SQLITE_FULL     ? "the disk is full"
                       : code == SQLITE_BUSY     ? "another process holds it"
                       : code == SQLITE_INTERRUPT ? "it was interrupted"
                       : code == SQLITE_CONSTRAINT ? "a value does not fit its column"
                       : code == SQLITE_TOOBIG   ? "a value is too long"
                       : code == SQLITE_CANTOPEN ? why_not_opened(store->path)
                                                 : tn_sqlite.errmsg(store->database);
  return report(store->path, store->diags, reason);
}

/* ---- statements ---- */

sqlite3_stmt *tn_store_prepare(tn_store *store, const char *sql) {
  sqlite3_stmt *statement = NULL;
  if (tn_sqlite.prepare_v2(store->database, sql, -1, &statement, NULL) == SQLITE_OK) return statement;
  tn_store_failed(store);
  return NULL;
}

void tn_store_bind_text(sqlite3_stmt *statement, int index, tn_str text) {
  if (text.at)
    tn_sqlite.bind_text64(statement, index, text.at, text.len, SQLITE_TRANSIENT, SQLITE_UTF8);
  else
    tn_sqlite.bind_null(statement, index);
}

void tn_store_bind_real(sqlite3_stmt *statement, int index, double number) {
  tn_sqlite.bind_double(statement, index, number); /* SQLite reads NaN as NULL by itself */
}

bool tn_store_finish(tn_store *store, sqlite3_stmt *statement) {
  if (!statement) return false;
  bool ok = tn_sqlite.step(statement) == SQLITE_DONE;
  if (!ok) tn_store_failed(store);
  tn_sqlite.finalize(statement);
  return ok;
}

bool tn_store_run(tn_store *store, const char *sql) {
  return tn_sqlite.exec(store->database, sql, NULL, NULL, NULL) == SQLITE_OK || tn_store_failed(store);
}

bool tn_store_start(tn_store *store) { return tn_store_run(store, "BEGIN IMMEDIATE"); }

bool tn_store_settle(tn_store *store, bool ok) {
  if (ok && tn_store_run(store, "COMMIT")) return true;
  tn_sqlite.exec(store->database, "ROLLBACK", NULL, NULL, NULL);
  return false;
}

const char *tn_store_column(int version, tn_run_column column) {
  bool missing = (column == TN_RUN_RANKS && version < 3) || (column == TN_RUN_HYPER && version < 4) ||
                 ((column == TN_RUN_TAGS || column == TN_RUN_NOTES) && version < 5) ||
                 (column == TN_RUN_DEVICE && version < 6);
  return missing ? "NULL" : tn_run_column_of(column)->name;
}

void tn_store_column_list(int version, tn_text *sql) {
  for (int i = 0; i < TN_RUN_COLUMN_COUNT; i++) {
    if (i > 0) tn_text_byte(sql, ',');
    tn_text_puts(sql, tn_store_column(version, (tn_run_column)i));
  }
}

/* ---- stopping ---- */

static bool is_asked_to_stop(const tn_store *store) {
  tn_stop *stop = store->heap->stop;
  /* Also when the end of a training holds the stop: such a write does not wait. */
  return tn_stop_asked(stop) || (stop && atomic_load(&stop->asked));
}

/* A small file can make SQLite sort without end (its pages may be children of several others), or read tables
 * of tables. SQLite has no bound for one connection, and one for the whole process would be that of an
 * embedder's other databases too; so its memory is checked while it runs. Where others use SQLite at the
 * same time, what they have taken since the store was opened counts as well. */
static bool has_memory(tn_store *store) {
  size_t now = (size_t)tn_sqlite.memory_used();
  size_t own = now > store->before ? now - store->before : 0;
  size_t excess = own > FREE_BYTES ? own - FREE_BYTES : 0;
  if (excess == store->counted) return true;
  if (store->heap->limit == 0 && excess > MOST_BYTES) return false;
  if (!tn_heap_count(store->heap, store->counted, excess)) return false;
  store->counted = excess;
  return true;
}

static int look(void *context) {
  tn_store *store = context;
  store->refused = !has_memory(store);
  return store->refused || tn_stop_asked(store->heap->stop);
}

static int wait_for_lock(void *context, int times) {
  tn_store *store = context;
  double now = tn_clock_steady(), most = store->patience;
  if (times == 0) store->waiting = now;
  if (is_asked_to_stop(store) && most > PATIENCE_AT_END) most = PATIENCE_AT_END;
  if (now - store->waiting >= most) return 0;
  tn_sqlite.sleep(WAIT_STEP_MS);
  return 1;
}

void tn_store_wait_at_most(tn_store *store, double seconds) { store->patience = seconds; }

bool tn_store_was_held(const tn_store *store) { return store->held; }

/* ---- the connection ---- */

static void limit_values(tn_store *store) {
  size_t longest = (store->heap->limit > 0 ? store->heap->limit : MOST_BYTES) / 8;
  if (longest < SHORTEST_LIMIT) longest = SHORTEST_LIMIT;
  if (longest > LONGEST_LIMIT) longest = LONGEST_LIMIT;
  tn_sqlite.limit(store->database, SQLITE_LIMIT_LENGTH, (int)longest);
  tn_sqlite.limit(store->database, SQLITE_LIMIT_SQL_LENGTH, MOST_SQL_BYTES);
  tn_sqlite.limit(store->database, SQLITE_LIMIT_COLUMN, MOST_COLUMNS);
}

/* What a file from anywhere could otherwise do. */
static bool harden(tn_store *store) {
  sqlite3 *database = store->database;
  static const int switches[][2] = { { SQLITE_DBCONFIG_DEFENSIVE, 1 },
                                     { SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
                                     { SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
                                     { SQLITE_DBCONFIG_ENABLE_VIEW, 0 } };
  for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
    tn_sqlite.db_config(database, switches[i][0], switches[i][1], NULL);
  limit_values(store);
  tn_sqlite.limit(database, SQLITE_LIMIT_ATTACHED, 0);
  tn_sqlite.progress_handler(database, STEPS_PER_LOOK, look, store);
  tn_sqlite.busy_handler(database, wait_for_lock, store);
  /* 256 KB of pages are kept, and not 2 MB, which a long run would take its time to fill. What is sorted
   * stays in memory: the sandbox has no place for temporary files. */
  return tn_store_run(store, "PRAGMA foreign_keys=ON;PRAGMA cache_size=-256;PRAGMA temp_store=MEMORY;"
                             "PRAGMA cell_size_check=ON;PRAGMA mmap_size=0;PRAGMA trusted_schema=OFF");
}

/* Looked at again inside the transaction, so that two first writers do not both make the tables. */
static bool update_tables(tn_store *store) {
  if (!tn_store_read_version(store)) return false;
  if (store->version == TN_STORE_VERSION) return true;
  return store->version == 0 ? tn_store_make_tables(store) : tn_store_migrate(store);
}

static bool prepare_database(tn_store *store, tn_store_mode mode) {
  if (!harden(store) || (mode == TN_STORE_READ && !tn_store_run(store, "BEGIN"))) return false;
  if (!tn_store_read_version(store)) return false;
  if (mode != TN_STORE_WRITE)
    return store->version > 0 || tn_store_refuse(store, "it is a database of another program");
  if (tn_sqlite.db_readonly(store->database, "main") == 1)
    return tn_store_refuse(store, "it may not be written");
  if (store->version == TN_STORE_VERSION) return true;
  return tn_store_start(store) && tn_store_settle(store, update_tables(store));
}

/* ---- opening ---- */

static bool make_folder_of(tn_heap *heap, const char *path, tn_diags *diags) {
  const char *slash = strrchr(path, '/');
  if (!slash || slash == path) return true;
  tn_text folder;
  tn_text_init(&folder, heap);
  tn_text_add(&folder, (tn_str){ path, (size_t)(slash - path) });
  tn_file_status status = folder.failed ? TN_FILE_NO_MEMORY : tn_file_make_folders(heap, folder.at);
  tn_text_free(&folder);
  return status == TN_FILE_OK || report(path, diags, tn_file_status_text(status));
}

static tn_store *new_store(tn_heap *heap, const char *path, tn_diags *diags) {
  tn_store *store = tn_heap_alloc(heap, sizeof *store);
  if (!store) return NULL;
  *store = (tn_store){ .heap = heap, .diags = diags, .path_bytes = strlen(path) + 1 };
  store->before = (size_t)tn_sqlite.memory_used();
  store->path = tn_heap_alloc(heap, store->path_bytes);
  if (!store->path) {
    tn_heap_free(heap, store, sizeof *store);
    return NULL;
  }
  memcpy(store->path, path, store->path_bytes);
  store->patience = PATIENCE;
  tn_text_init(&store->process, heap);
  return store;
}

/* SQLite opens the file and those that it keeps beside it, and would wait at a FIFO forever. */
static bool is_plain(tn_heap *heap, const char *path, tn_diags *diags) {
  static const char *const beside[] = { "", "-journal", "-wal", "-shm" };
  bool ok = true;
  for (size_t i = 0; ok && i < sizeof beside / sizeof *beside; i++) {
    tn_text name;
    tn_text_init(&name, heap);
    tn_text_puts(&name, path);
    tn_text_puts(&name, beside[i]);
    tn_file_status status = name.failed ? TN_FILE_NO_MEMORY : tn_file_look(name.at);
    ok = status != TN_FILE_NOT_PLAIN && status != TN_FILE_NO_MEMORY;
    if (!ok) report(name.failed ? path : name.at, diags, tn_file_status_text(status));
    tn_text_free(&name);
  }
  return ok;
}

tn_store *tn_store_open_for(tn_heap *heap, const char *path, tn_store_mode mode, double patience,
                            tn_diags *diags, bool *absent) {
  if (absent) *absent = false;
  if (mode != TN_STORE_WRITE && access(path, F_OK) != 0 && errno == ENOENT) {
    if (absent) *absent = true;
    return NULL;
  }
  if (!tn_store_load()) {
    report(path, diags, "SQLite, which keeps the history of runs, is not installed here");
    return NULL;
  }
  if (!is_plain(heap, path, diags)) return NULL;
  if (mode == TN_STORE_WRITE && !make_folder_of(heap, path, diags)) return NULL;
  tn_store *store = new_store(heap, path, diags);
  if (!store) {
    tn_report(diags, TN_DIAG_E_OUT_OF_MEMORY, TN_NOWHERE, TN_STR("what", "the run history"));
    return NULL;
  }
  if (patience > 0) store->patience = patience;
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
  if (mode == TN_STORE_WRITE) {
    flags |= SQLITE_OPEN_CREATE;
    tn_store_this_process(heap, &store->process);
  }
  bool ok = tn_sqlite.open_v2(path, &store->database, flags, NULL) == SQLITE_OK;
  ok = ok ? prepare_database(store, mode) : tn_store_failed(store);
  if (ok) return store;
  tn_store_close(store);
  return NULL;
}

tn_store *tn_store_open(tn_heap *heap, const char *path, tn_store_mode mode, tn_diags *diags, bool *absent) {
  return tn_store_open_for(heap, path, mode, 0, diags, absent);
}

void tn_store_close(tn_store *store) {
  if (!store) return;
  tn_sqlite.close(store->database);
  tn_heap_count(store->heap, store->counted, 0);
  tn_text_free(&store->process);
  tn_heap_free(store->heap, store->path, store->path_bytes);
  tn_heap_free(store->heap, store, sizeof *store);
}
#endif
