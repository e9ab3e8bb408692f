/* track/store/schema.c: the tables, their versions, and migration from one version to the next.
 *
 * A database may come from anybody. It is used only if each of its objects is, word for word, one
 * that tern creates; SQLite keeps the statements. Since version 2 the tables are STRICT, so that a
 * column holds values of its type and no others; since version 3 a run has its number of ranks,
 * since version 4 its hyperparameters, since version 5 tags and notes, since version 6 its device.
 * An older database is read as it is, and becomes one of this version when it is first written to.
 * If a value of it does not fit its column, it is refused and stays as it was. */
#include "track/store/store.h"

#ifdef TN_HAVE_SQLITE
#include <string.h>

#include "track/store/internal.h"

#define APPLICATION 0x7465726e /* "tern" */

/* ---- the words ---- */

static void write_runs(int version, tn_text *sql) {
  tn_text_puts(sql, "CREATE TABLE runs(");
  for (int i = 0; i < TN_RUN_COLUMN_COUNT; i++) {
    const tn_run_column_info *column = tn_run_column_of((tn_run_column)i);
    if (tn_store_column(version, (tn_run_column)i) != column->name) continue;
    if (i > 0) tn_text_byte(sql, ',');
    tn_text_puts(sql, column->name);
    tn_text_byte(sql, ' ');
    tn_text_puts(sql, column->type);
  }
  tn_text_puts(sql, version == 1 ? ")" : ")STRICT");
}

static void write_index(int version, tn_text *sql) {
  (void)version;
  tn_text_puts(sql, "CREATE INDEX runs_by_folder ON runs(folder)");
}

#define OF_A_RUN "run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,"

static void write_losses(int version, tn_text *sql) {
  tn_text_puts(sql, "CREATE TABLE losses(" OF_A_RUN
                    "chunk INTEGER NOT NULL,data BLOB NOT NULL,PRIMARY KEY(run,chunk))");
  tn_text_puts(sql, version == 1 ? "WITHOUT ROWID" : "STRICT,WITHOUT ROWID");
}

static void write_evals(int version, tn_text *sql) {
  tn_text_puts(sql, "CREATE TABLE evals(" OF_A_RUN
                    "step INTEGER NOT NULL,loss REAL,accuracy REAL,PRIMARY KEY(run,step))");
  tn_text_puts(sql, version == 1 ? "WITHOUT ROWID" : "STRICT,WITHOUT ROWID");
}

static const struct {
  const char *name;
  void (*write)(int version, tn_text *sql);
} objects[] = { { "runs", write_runs },
                { "runs_by_folder", write_index },
                { "losses", write_losses },
                { "evals", write_evals } };
#define OBJECT_COUNT (sizeof objects / sizeof *objects)

/* ---- what a database has ---- */

static bool read_number(tn_store *store, const char *sql, int64_t *out) {
  sqlite3_stmt *statement = tn_store_prepare(store, sql);
  if (!statement) return false;
  bool ok = tn_sqlite.step(statement) == SQLITE_ROW;
  if (ok)
    *out = tn_sqlite.column_int64(statement, 0);
  else
    tn_store_failed(store);
  tn_sqlite.finalize(statement);
  return ok;
}

/* SQLite's own tables and indices; it reserves these names, but a file can claim anything. */
static bool is_internal(const char *type, const char *name) {
  return strncmp(name, "sqlite_", 7) == 0 && (strcmp(type, "table") == 0 || strcmp(type, "index") == 0);
}

static bool is_ours(tn_store *store, int version, const char *name, const char *words) {
  tn_text wanted;
  bool same = false;
  tn_text_init(&wanted, store->heap);
  for (size_t i = 0; i < OBJECT_COUNT && !same; i++) {
    if (strcmp(name, objects[i].name) != 0) continue;
    tn_text_clear(&wanted);
    objects[i].write(version, &wanted);
    same = !wanted.failed && strcmp(wanted.at, words) == 0;
  }
  tn_text_free(&wanted);
  return same;
}

static const char *text_of(sqlite3_stmt *s, int column) {
  const unsigned char *text = tn_sqlite.column_text(s, column);
  return text ? (const char *)text : "";
}

static bool has_our_tables(tn_store *store, int version) {
  sqlite3_stmt *s = tn_store_prepare(store, "SELECT type,name,sql FROM sqlite_master");
  size_t found = 0;
  int result;
  bool ours = true;
  if (!s) return false;
  while (ours && (result = tn_sqlite.step(s)) == SQLITE_ROW) {
    if (is_internal(text_of(s, 0), text_of(s, 1))) continue;
    ours = is_ours(store, version, text_of(s, 1), text_of(s, 2));
    found++;
  }
  bool ok = !ours || result == SQLITE_DONE || tn_store_failed(store);
  tn_sqlite.finalize(s);
  if (!ok) return false;
  if (ours && found == OBJECT_COUNT) return true;
  return tn_store_refuse(store, "its tables are not those that tern makes");
}

bool tn_store_read_version(tn_store *store) {
  int64_t application, number, tables;
  if (!read_number(store, "PRAGMA application_id", &application) ||
      !read_number(store, "PRAGMA user_version", &number) ||
      !read_number(store, "SELECT count(*) FROM sqlite_master", &tables)) {
    return false;
  }
  store->version = 0;
  if (application == 0 && number == 0 && tables == 0) return true;
  if (application != APPLICATION) return tn_store_refuse(store, "it is a database of another program");
  if (number > TN_STORE_VERSION) return tn_store_refuse(store, "it was made by a newer version of tern");
  if (number < 1) return tn_store_refuse(store, "it does not say which version made it");
  store->version = (int)number;
  return has_our_tables(store, store->version);
}

/* ---- making and moving ---- */

bool tn_store_make_tables(tn_store *store) {
  tn_text sql;
  tn_text_init(&sql, store->heap);
  for (size_t i = 0; i < OBJECT_COUNT; i++) {
    objects[i].write(TN_STORE_VERSION, &sql);
    tn_text_byte(&sql, ';');
  }
  tn_text_puts(&sql, "PRAGMA application_id=");
  tn_text_int(&sql, APPLICATION);
  tn_text_puts(&sql, ";PRAGMA user_version=");
  tn_text_int(&sql, TN_STORE_VERSION);
  bool ok = sql.failed ? tn_store_out_of_memory(store) : tn_store_run(store, sql.at);
  tn_text_free(&sql);
  if (ok) store->version = TN_STORE_VERSION;
  return ok;
}

/* The number of the next run stays what it was, so that no number is given twice. */
static bool copy_rows(tn_store *store, int old) {
  tn_text sql;
  tn_text_init(&sql, store->heap);
  tn_text_puts(&sql, "INSERT INTO runs(");
  tn_store_column_list(TN_STORE_VERSION, &sql);
  tn_text_puts(&sql, ") SELECT ");
  tn_store_column_list(old, &sql);
  tn_text_puts(&sql, " FROM old_runs;"
                     "INSERT INTO losses SELECT run,chunk,data FROM old_losses;"
                     "INSERT INTO evals SELECT run,step,loss,accuracy FROM old_evals;"
                     "DELETE FROM sqlite_sequence WHERE name='runs';"
                     "INSERT INTO sqlite_sequence SELECT 'runs',seq FROM sqlite_sequence"
                     " WHERE name='old_runs'");
  bool ok = sql.failed ? tn_store_out_of_memory(store) : tn_store_run(store, sql.at);
  tn_text_free(&sql);
  return ok;
}

bool tn_store_migrate(tn_store *store) {
  int old = store->version;
  return tn_store_run(store, "DROP INDEX runs_by_folder;ALTER TABLE losses RENAME TO old_losses;"
                             "ALTER TABLE evals RENAME TO old_evals;ALTER TABLE runs RENAME TO old_runs") &&
         tn_store_make_tables(store) && copy_rows(store, old) &&
         tn_store_run(store, "DROP TABLE old_losses;DROP TABLE old_evals;DROP TABLE old_runs");
}
#endif
