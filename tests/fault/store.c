/* tests/fault/store.c: histories of runs that others made, damaged or hold.
 *
 * A database may come from anybody: what is not, word for word, what tern makes is refused before any of it
 * is run, and no text of it reaches a terminal or a JSON answer unescaped. A history that somebody else holds
 * neither stops nor delays a training. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "base/json.h"
#include "support/recorded.h"
#include "support/room.h"

static const char program[] = "model {\n  x [B, 2]\n  param W [2]\n  y = sum(x * W) * 0.1\n}\n"
                              "train { loss = y steps = 6 batch = 2 }\n";

/* What older versions had: 1 tables that were not STRICT, neither 1 nor 2 the number of ranks,
 * hyperparameters since 4, tags and notes since 5, none of them the device. */
#define OLD_DATABASE(version, strict, also, ranks, hyper)                                                \
  "CREATE TABLE runs(id INTEGER PRIMARY KEY AUTOINCREMENT,started TEXT,status TEXT,program TEXT,"        \
  "step INTEGER,steps INTEGER,loss REAL,eval_loss REAL,accuracy REAL,seconds REAL,seed TEXT," hyper      \
  "given TEXT,"                                                                                          \
  "source_sha256 TEXT,data_sha256 TEXT,weights_sha256 TEXT,threads INTEGER," ranks                       \
  "backend TEXT,version TEXT,"                                                                           \
  "data TEXT,folder TEXT,directory TEXT,process TEXT,source TEXT)" strict ";"                            \
  "CREATE INDEX runs_by_folder ON runs(folder);"                                                         \
  "CREATE TABLE losses(run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,"                      \
  "chunk INTEGER NOT NULL,data BLOB NOT NULL,PRIMARY KEY(run,chunk))" also "WITHOUT ROWID;"              \
  "CREATE TABLE evals(run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,"                       \
  "step INTEGER NOT NULL,loss REAL,accuracy REAL,PRIMARY KEY(run,step))" also "WITHOUT ROWID;"           \
  "PRAGMA application_id=1952805486;PRAGMA user_version=" version ";"                                    \
  "INSERT INTO runs(id,status,program,step,steps,loss,seed,folder) VALUES"                               \
  "(3,'completed','old.ail',2,2,0.5,'42','/old'),(7,'stopped','gone.ail',1,2,NULL,'42',NULL);"           \
  "DELETE FROM runs WHERE id=7;"                                                                         \
  "INSERT INTO losses VALUES(3,0,x'0000003f0000803e');INSERT INTO evals VALUES(3,0,0.25,NULL);"
static const char version_1[] = OLD_DATABASE("1", "", "", "", "");
static const char version_2[] = OLD_DATABASE("2", "STRICT", "STRICT,", "", "");
static const char version_3[] = OLD_DATABASE("3", "STRICT", "STRICT,", "ranks INTEGER,", "");
static const char version_4[] =
    OLD_DATABASE("4", "STRICT", "STRICT,", "ranks INTEGER,", "hyperparameters TEXT,");
static const char version_5[] = OLD_DATABASE("5", "STRICT", "STRICT,", "ranks INTEGER,",
                                             "hyperparameters TEXT,tags TEXT,notes TEXT,");

/* ---- databases ---- */

static void sql(const char *path, const char *statements) {
  sqlite3 *database;
  char *problem = NULL;
  assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
  if (sqlite3_exec(database, statements, NULL, NULL, &problem) != SQLITE_OK) fail_msg("%s", problem);
  sqlite3_close(database);
}

static int64_t number(const char *path, const char *query) {
  sqlite3 *database;
  sqlite3_stmt *s;
  assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
  assert_int_equal(sqlite3_prepare_v2(database, query, -1, &s, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_step(s), SQLITE_ROW);
  int64_t value = sqlite3_column_int64(s, 0);
  sqlite3_finalize(s);
  sqlite3_close(database);
  return value;
}

static size_t read_bytes(const char *path, char *out, size_t size) {
  FILE *from = fopen(path, "rb");
  assert_non_null(from);
  size_t length = fread(out, 1, size, from);
  fclose(from);
  return length;
}

/* ---- tern ---- */

static char said[64], why[128]; /* code and reason of the first diagnostic */

static void note(tern_session *session) {
  said[0] = why[0] = 0;
  if (tern_diagnostic_count(session) == 0) return;
  tern_diagnostic first = tern_diagnostic_at(session, 0);
  snprintf(said, sizeof said, "%s", first.code);
  for (size_t i = 0; i < first.field_count; i++) {
    if (strcmp(first.field_names[i], "reason") == 0) snprintf(why, sizeof why, "%s", first.field_values[i]);
  }
}

static tern_session *open_session(void) {
  tern_session *session = tern_session_new(&(tern_options){ .threads = 1 }, NULL);
  assert_non_null(session);
  return session;
}

/* The answer, or NULL; valid until the next one. */
static const char *ask(const char *path, bool json, const char *run) {
  static char answer[1 << 16];
  tern_session *session = open_session();
  const char *text = run ? tn_track_show(session, path, run, json)
                         : tn_track_list(session, &(tn_track_query){ .store = path }, json);
  if (text) snprintf(answer, sizeof answer, "%s", text);
  note(session);
  assert_true(!text == (tern_diagnostic_count(session) > 0));
  tern_session_free(session);
  return text ? answer : NULL;
}

static tern_status train(const char *path, bool required, const tern_follower *follower) {
  tern_session *session = open_session();
  tern_program *loaded = tern_load(session, TERN_LANG_AIL, "program.ail", program, sizeof program - 1);
  assert_non_null(loaded);
  tern_status status = train_recorded(session, loaded, path, required, follower);
  note(session);
  tern_program_free(loaded);
  tern_session_free(session);
  return status;
}

static void refused(const char *path, const char *reason) {
  for (int json = 0; json < 2; json++) {
    if (ask(path, json, NULL) || strcmp(said, "E_STORE") != 0 || strcmp(why, reason) != 0)
      fail_msg("%s (%s), instead of %s", said, why, reason);
  }
  assert_int_equal(train(path, true, NULL), TERN_FAILED);
  assert_string_equal(said, "E_STORE");
  assert_int_equal(train(path, false, NULL), TERN_OK);
  assert_string_equal(said, "E_RUN_NOT_RECORDED");
}

static void fresh(const char *path) {
  unlink(path);
  assert_int_equal(train(path, true, NULL), TERN_OK);
  assert_string_equal(said, "");
}

/* ---- what a database may be ---- */

static void columns_hold_their_type(void **state) {
  (void)state;
  sqlite3 *database;
  fresh("a.db");
  assert_int_equal(number("a.db", "PRAGMA user_version"), 6);
  assert_int_equal(number("a.db", "SELECT ranks FROM runs"), 1);
  assert_int_equal(number("a.db", "SELECT count(*) FROM losses"), 1);
  assert_int_equal(sqlite3_open("a.db", &database), SQLITE_OK);
  assert_int_not_equal(sqlite3_exec(database, "UPDATE runs SET loss='x'", NULL, NULL, NULL), SQLITE_OK);
  assert_int_not_equal(sqlite3_exec(database, "UPDATE losses SET data='x'", NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(database);
}

#define FOR_EVER "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT i FROM n"

/* None of it is run: a view in the place of a table would not end. */
static void only_the_tables_of_tern_are_used(void **state) {
  (void)state;
  static const char *const changes[] = {
    "DROP TABLE runs;CREATE VIEW runs AS " FOR_EVER,
    "DROP TABLE runs;CREATE VIEW runs AS SELECT i id,1 started,1 status,1 program,1 step,1 steps,1 loss,"
    "1 eval_loss,1 accuracy,1 seconds,1 seed,1 given,1 source_sha256,1 data_sha256,1 weights_sha256,"
    "1 threads,1 backend,1 version,1 data,1 folder,1 directory,1 process,1 source FROM (" FOR_EVER ")",
    "ALTER TABLE evals RENAME TO e;CREATE VIEW evals AS SELECT 1 run,i step,1.0 loss,1.0 accuracy "
    "FROM (" FOR_EVER ")",
    "CREATE VIEW more AS " FOR_EVER,
    "CREATE TRIGGER t AFTER UPDATE ON runs BEGIN DELETE FROM losses;END",
    "CREATE TABLE more(a)",
    "CREATE INDEX more ON runs(abs(loss))",
    "DROP INDEX runs_by_folder",
    "DROP TABLE losses",
    "ALTER TABLE runs ADD COLUMN more TEXT",
    "ALTER TABLE runs ADD COLUMN more TEXT AS (upper(program))",
    "DROP TABLE evals;CREATE TABLE evals(run INTEGER,step INTEGER,loss REAL,accuracy REAL)",
    "PRAGMA writable_schema=ON;UPDATE sqlite_master SET sql=replace(sql,')STRICT',')') WHERE name='runs'",
  };
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    fresh("b.db");
    sql("b.db", changes[i]);
    refused("b.db", "its tables are not those that tern makes");
  }
  fresh("b.db");
  sql("b.db", "PRAGMA application_id=1");
  refused("b.db", "it is a database of another program");
  fresh("b.db");
  sql("b.db", "PRAGMA user_version=7");
  refused("b.db", "it was made by a newer version of tern");
  fresh("b.db");
  sql("b.db", "PRAGMA user_version=0");
  refused("b.db", "it does not say which version made it");
}

static void what_is_not_a_plain_file_is_refused(void **state) {
  (void)state;
  assert_int_equal(mkfifo("pipe.db", 0600), 0);
  refused("pipe.db", "it is not a plain file");
  refused("/dev/zero", "it is not a plain file");
  refused(".", "it is a folder");
}

/* ---- values ---- */

static bool is_json(const char *text) {
  tn_heap heap = { 0 };
  tn_arena arena;
  tn_json_reader reader;
  tn_json_token token;
  tn_arena_init(&arena, &heap);
  tn_json_init(&reader, tn_str_of(text), &arena);
  while (tn_json_next(&reader, &token) > TN_JSON_END) continue;
  tn_arena_free(&arena);
  return token.kind == TN_JSON_END;
}

static void a_value_of_another_type_is_refused(void **state) {
  (void)state;
  static const char *const changes[] = { "UPDATE runs SET loss='0.5],\"x\":['", "UPDATE runs SET step='many'",
                                         "UPDATE runs SET program=x'00ff'", "UPDATE runs SET steps=1.5" };
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    char before[1 << 16], after[1 << 16];
    unlink("c.db");
    sql("c.db", version_1);
    assert_non_null(ask("c.db", true, NULL));
    sql("c.db", changes[i]);
    size_t length = read_bytes("c.db", before, sizeof before);
    assert_null(ask("c.db", true, NULL));
    assert_string_equal(why, "a value is not of its column's type");
    assert_null(ask("c.db", false, "3"));
    /* It does not fit a later version either, and stays as it was. */
    assert_int_equal(train("c.db", true, NULL), TERN_FAILED);
    assert_string_equal(why, "a value does not fit its column");
    assert_int_equal(read_bytes("c.db", after, sizeof after), length);
    assert_memory_equal(before, after, length);
  }
}

/* What is there is an object of numbers and texts, of a size that tern writes, or it is refused. */
static void invalid_hyperparameters_are_refused(void **state) {
  (void)state;
  static const char *const changes[] = { "''", "'[1]'", "'{\"lr\":0.1'", "'{\"lr\":[0.1]}'",
                                         "'{\"lr\":null}'",
                                         "'{\"lr\":0.1}x'", "CAST(x'7b2261ff223a317d' AS TEXT)",
                                         "'{'||substr(replace(hex(zeroblob(4097)),'00',',\"a\":1'),2)||'}'" };
  fresh("c.db");
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    char change[256];
    snprintf(change, sizeof change, "UPDATE runs SET hyperparameters=%s", changes[i]);
    sql("c.db", change);
    assert_null(ask("c.db", true, NULL));
    assert_string_equal(why, "the hyperparameters of a run are not an object of numbers and texts");
    assert_null(ask("c.db", false, "1"));
  }
  sql("c.db", "UPDATE runs SET hyperparameters='{\"\\u001b[31m\":\"\\u0007\",\"a\":1e999,\"a\":-0}'");
  assert_true(is_json(ask("c.db", true, "1")));
  const char *text = ask("c.db", false, "1");
  assert_non_null(text);
  assert_non_null(strstr(text, "\\x1b[31m"));
  assert_null(strchr(text, 27));
  assert_null(strchr(text, 7));
}

static void invalid_steps_and_losses_are_refused(void **state) {
  (void)state;
  static const char *const changes[] = { "UPDATE evals SET loss='x'", "UPDATE evals SET step='x'",
                                         "UPDATE losses SET data='text'", "UPDATE losses SET chunk='x'" };
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    unlink("c.db");
    sql("c.db", version_1);
    assert_non_null(ask("c.db", true, "3"));
    sql("c.db", changes[i]);
    assert_null(ask("c.db", true, "3"));
    assert_string_equal(said, "E_STORE");
  }
  unlink("c.db");
  sql("c.db", version_1);
  sql("c.db", "UPDATE losses SET chunk=9223372036854775807;UPDATE evals SET step=-9223372036854775808;"
              "UPDATE runs SET seconds=1e300,step=-1,loss=9e999,started='1'");
  assert_true(is_json(ask("c.db", true, "3")));
  assert_non_null(ask("c.db", false, "3"));
  assert_non_null(ask("c.db", false, NULL));
}

static void control_characters_are_shown_as_escapes(void **state) {
  (void)state;
  fresh("d.db");
  sql("d.db", "UPDATE runs SET program='a'||char(27)||'[31m'||char(10)||'b',seed=char(7,127,155),"
              "status=char(8238)||'x',folder=CAST(x'2f61ff1b' AS TEXT),"
              "started=char(9,9,9,9,9,9,9,9,9,9,27,27)");
  const char *const questions[] = { NULL, "1" };
  for (size_t i = 0; i < 2; i++) {
    const char *text = ask("d.db", false, questions[i]);
    assert_non_null(text);
    for (const char *c = text; *c; c++) {
      if (((unsigned char)*c < 0x20 && *c != '\n') || (unsigned char)*c == 0x7f) fail_msg("%s", text);
    }
    assert_null(strstr(text, "\xe2\x80\xae"));
    assert_null(strstr(text, "\xc2\x9b"));
    assert_non_null(strstr(text, "\\x1b[31m\\nb"));
    assert_true(is_json(ask("d.db", true, questions[i])));
  }
}

/* ---- older databases ---- */

static void check_older(const char *statements, int version) {
  unlink("e.db");
  sql("e.db", statements);
  char before[4096];
  snprintf(before, sizeof before, "%s", ask("e.db", true, "3"));
  assert_non_null(strstr(before, "\"ranks\":null,\"device\":null"));
  assert_non_null(strstr(before, "\"hyperparameters\":null,\"tags\":null,\"notes\":null"));
  assert_int_equal(number("e.db", "PRAGMA user_version"), version); /* reading leaves it alone */
  assert_int_equal(train("e.db", true, NULL), TERN_OK);
  assert_int_equal(number("e.db", "PRAGMA user_version"), 6);
  assert_int_equal(number("e.db", "SELECT count(*) FROM sqlite_master WHERE name LIKE 'old%'"), 0);
  assert_string_equal(ask("e.db", true, "3"), before);
  assert_non_null(ask("e.db", true, "8")); /* number 7 was given once */
  assert_int_equal(number("e.db", "SELECT count(*) FROM runs NOT INDEXED"), 2);
  assert_int_equal(number("e.db", "SELECT count(*) FROM pragma_foreign_key_check"), 0);
}

static void an_older_database_is_moved_when_it_is_written_to(void **state) {
  (void)state;
  check_older(version_1, 1);
  check_older(version_2, 2);
  check_older(version_3, 3);
  check_older(version_4, 4);
  check_older(version_5, 5);
}

/* ---- a lock of somebody else ---- */

typedef struct {
  tern_session *session; /* to interrupt; NULL: not */
  sqlite3 *holder;
  const char *path;
  int64_t at, until; /* steps between which it is held */
  const char *sql;   /* what takes the lock; NULL: the whole database */
} lock;

static void hold(lock *l) {
  assert_int_equal(sqlite3_open(l->path, &l->holder), SQLITE_OK);
  assert_int_equal(sqlite3_exec(l->holder, l->sql ? l->sql : "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
}

static void let_go(lock *l) {
  sqlite3_close(l->holder);
  l->holder = NULL;
}

static void follow(void *context, const tern_step *step) {
  lock *l = context;
  if (step->step == l->at) {
    hold(l);
    sqlite3_sleep(600); /* so that the recorder tries meanwhile */
  }
  if (l->session && step->step == l->at) tern_interrupt(l->session);
  if (step->step == l->until) let_go(l);
}

static void check_recorded_later(const char *sql) {
  fresh("f.db");
  lock l = { .path = "f.db", .at = 1, .until = 4, .sql = sql };
  assert_int_equal(train("f.db", false, &(tern_follower){ .context = &l, .step = follow }), TERN_OK);
  assert_string_equal(said, "");
  assert_int_equal(number("f.db", "SELECT length(data) FROM losses WHERE run=2"), 6 * 4);
  assert_int_equal(number("f.db", "SELECT status='completed' FROM runs WHERE id=2"), 1);
}

static void steps_made_while_it_is_held_are_recorded_later(void **state) {
  (void)state;
  check_recorded_later(NULL);
  check_recorded_later("BEGIN IMMEDIATE");
}

/* A reader lets a transaction begin, and only its commit is refused. */
static void steps_made_while_it_is_read_are_recorded_later(void **state) {
  (void)state;
  check_recorded_later("BEGIN;SELECT count(*) FROM runs");
}

/* Stopping a training does not wait for the history. */
static void an_interrupt_does_not_wait_for_it(void **state) {
  (void)state;
  fresh("f.db");
  tern_session *session = open_session();
  tern_program *loaded = tern_load(session, TERN_LANG_AIL, "program.ail", program, sizeof program - 1);
  lock l = { .session = session, .path = "f.db", .at = 1, .until = -1 };
  tern_follower follower = { .context = &l, .step = follow };
  assert_int_equal(train_recorded(session, loaded, "f.db", false, &follower), TERN_FAILED);
  bool interrupted = false;
  for (size_t i = 0; i < tern_diagnostic_count(session); i++)
    interrupted |= strcmp(tern_diagnostic_at(session, i).code, "E_INTERRUPTED") == 0;
  assert_true(interrupted);
  let_go(&l);
  assert_int_equal(number("f.db", "SELECT count(*) FROM runs WHERE status='completed'"), 1);
  tern_program_free(loaded);
  tern_session_free(session);
}

static void a_history_that_stays_held_is_given_up(void **state) {
  (void)state;
  const char *effort = getenv("TERN_TEST_EFFORT");
  if (effort && strcmp(effort, "small") == 0) skip(); /* it waits for two seconds */
  fresh("g.db");
  lock l = { .path = "g.db" };
  hold(&l);
  assert_int_equal(train("g.db", false, NULL), TERN_OK);
  assert_string_equal(said, "E_RUN_NOT_RECORDED");
  assert_string_equal(why, "another process holds it");
  let_go(&l);
}

/* ---- stopping ---- */

static void a_question_to_a_held_history_can_be_interrupted(void **state) {
  (void)state;
  fresh("h.db");
  lock l = { .path = "h.db" };
  hold(&l);
  tern_session *session = open_session();
  tern_interrupt(session);
  assert_null(tn_track_list(session, &(tn_track_query){ .store = "h.db" }, 1));
  note(session);
  assert_string_equal(said, "E_INTERRUPTED");
  tern_session_free(session);
  let_go(&l);
}

static void a_long_question_can_be_interrupted(void **state) {
  (void)state;
  fresh("h.db");
  sql("h.db", "INSERT INTO runs(program) WITH RECURSIVE n(i) AS "
              "(SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 20000) SELECT i FROM n");
  tern_session *session = open_session();
  tern_interrupt(session);
  assert_null(tn_track_list(session, &(tn_track_query){ .store = "h.db", .sort = "loss" }, 1));
  note(session);
  assert_string_equal(said, "E_INTERRUPTED");
  assert_non_null(tn_track_list(session, &(tn_track_query){ .store = "h.db", .limit = 1 }, 1));
  tern_session_free(session);
}

/* ---- damage ---- */

static void a_damaged_database_is_read_or_refused(void **state) {
  (void)state;
  char bytes[1 << 16];
  unlink("i.db");
  sql("i.db", version_1);
  size_t length = read_bytes("i.db", bytes, sizeof bytes);
  const char *effort = getenv("TERN_TEST_EFFORT");
  size_t every = effort && strcmp(effort, "small") == 0 ? 211 : 37;
  for (size_t at = 0; at < length; at += every) {
    FILE *to = fopen("i.db", "wb");
    bytes[at] ^= (char)(1 << at % 8);
    fwrite(bytes, 1, length, to);
    fclose(to);
    bytes[at] ^= (char)(1 << at % 8);
    const char *list = ask("i.db", true, NULL);
    assert_true(!list || is_json(list));
    const char *one = ask("i.db", true, "3");
    assert_true(!one || is_json(one));
  }
}

/* ---- memory ---- */

#define SMALL_MEMORY ((size_t)4 << 20)

/* What tern says of a history when it may use SMALL_MEMORY; *most is what SQLite held at once meanwhile. */
static const char *ask_with_little_memory(const char *path, const char *sort, const char *run, size_t *most) {
  tern_session *session = tern_session_new(&(tern_options){ .threads = 1, .max_memory = SMALL_MEMORY }, NULL);
  assert_non_null(session);
  sqlite3_memory_highwater(1);
  const char *text = run ? tn_track_show(session, path, run, true)
                         : tn_track_list(session, &(tn_track_query){ .store = path, .sort = sort }, true);
  *most = (size_t)sqlite3_memory_highwater(0);
  note(session);
  assert_true(!text == (said[0] != 0));
  tern_session_free(session);
  return said;
}

static void put_be(unsigned char *at, size_t bytes, uint32_t value) {
  for (size_t i = 0; i < bytes; i++) at[i] = (unsigned char)(value >> 8 * (bytes - 1 - i));
}

/* An inner page of a table whose children are all the same page. */
static void put_inner_page(unsigned char *page, size_t page_bytes, uint32_t child) {
  enum { HEAD = 12, POINTER = 2, CELL = 5 };
  size_t cells = (page_bytes - HEAD) / (POINTER + CELL), at = page_bytes;
  memset(page, 0, page_bytes);
  page[0] = 5;
  put_be(page + 3, 2, (uint32_t)cells);
  put_be(page + 8, 4, child);
  for (size_t i = 0; i < cells; i++) {
    at -= CELL;
    put_be(page + at, 4, child);
    page[at + 4] = 1; /* the key */
    put_be(page + HEAD + POINTER * i, POINTER, (uint32_t)at);
  }
  put_be(page + 5, 2, (uint32_t)at);
}

/* Makes the one leaf of the table of runs the child of every entry of `depth` pages on top of each other: a
 * file of some kilobytes with about 585^depth rows. */
static void multiply_runs(const char *path, size_t depth) {
  static unsigned char bytes[1 << 16];
  uint32_t root = (uint32_t)number(path, "SELECT rootpage FROM sqlite_master WHERE name='runs'");
  size_t page = (size_t)number(path, "PRAGMA page_size");
  size_t length = read_bytes(path, (char *)bytes, sizeof bytes);
  uint32_t count = (uint32_t)(length / page), leaf = count + 1;
  assert_true(length + page * depth <= sizeof bytes);
  memcpy(bytes + page * (leaf - 1), bytes + page * (root - 1), page);
  for (size_t i = 1; i < depth; i++)
    put_inner_page(bytes + page * (leaf + i - 1), page, (uint32_t)(leaf + i - 1));
  put_inner_page(bytes + page * (root - 1), page, (uint32_t)(leaf + depth - 1));
  put_be(bytes + 28, 4, count + (uint32_t)depth);
  FILE *to = fopen(path, "wb");
  fwrite(bytes, 1, page * (count + depth), to);
  fclose(to);
}

static void a_small_file_with_endless_rows_stays_within_the_limit(void **state) {
  (void)state;
  size_t most;
  fresh("m.db");
  multiply_runs("m.db", 2);
  assert_true(number("m.db", "SELECT count(*) FROM runs NOT INDEXED") > 100000);
  assert_string_equal(ask_with_little_memory("m.db", "loss", NULL, &most), "E_MEMORY_LIMIT");
  assert_in_range(most, 1, SMALL_MEMORY + (SMALL_MEMORY >> 1));
  assert_string_equal(ask_with_little_memory("m.db", NULL, NULL, &most), "E_MEMORY_LIMIT");
  assert_in_range(most, 1, SMALL_MEMORY + (SMALL_MEMORY >> 1));
}

static void thousands_of_tables_stay_within_the_limit(void **state) {
  (void)state;
  char made[4096];
  size_t most, length = 0;
  for (int i = 0; i < 60; i++) length += (size_t)snprintf(made + length, sizeof made - length, ",c%d INT", i);
  fresh("n.db");
  sqlite3 *database;
  assert_int_equal(sqlite3_open("n.db", &database), SQLITE_OK);
  sqlite3_exec(database, "BEGIN", NULL, NULL, NULL);
  for (int i = 0; i < 4000; i++) {
    char statement[sizeof made + 64];
    snprintf(statement, sizeof statement, "CREATE TABLE t%d(%s)", i, made + 1);
    assert_int_equal(sqlite3_exec(database, statement, NULL, NULL, NULL), SQLITE_OK);
  }
  sqlite3_exec(database, "COMMIT", NULL, NULL, NULL);
  sqlite3_close(database);
  assert_string_equal(ask_with_little_memory("n.db", NULL, NULL, &most), "E_MEMORY_LIMIT");
  assert_in_range(most, 1, SMALL_MEMORY + (SMALL_MEMORY >> 1));
}

static void a_huge_value_is_not_read(void **state) {
  (void)state;
  size_t most;
  fresh("o.db");
  sql("o.db", "UPDATE runs SET source=printf('%.*c',50000000,'x')");
  assert_string_equal(ask_with_little_memory("o.db", NULL, "last", &most), "E_STORE");
  assert_string_equal(why, "a value is too long");
  assert_in_range(most, 1, SMALL_MEMORY + (SMALL_MEMORY >> 1));
}

/* An honest history is not counted against a limit. */
static void a_history_needs_no_memory_of_the_limit(void **state) {
  (void)state;
  size_t most;
  fresh("p.db");
  assert_string_equal(ask_with_little_memory("p.db", "loss", NULL, &most), "");
  assert_in_range(most, 1, 1 << 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(columns_hold_their_type),
    cmocka_unit_test(only_the_tables_of_tern_are_used),
    cmocka_unit_test(what_is_not_a_plain_file_is_refused),
    cmocka_unit_test(a_value_of_another_type_is_refused),
    cmocka_unit_test(invalid_hyperparameters_are_refused),
    cmocka_unit_test(invalid_steps_and_losses_are_refused),
    cmocka_unit_test(control_characters_are_shown_as_escapes),
    cmocka_unit_test(an_older_database_is_moved_when_it_is_written_to),
    cmocka_unit_test(steps_made_while_it_is_held_are_recorded_later),
    cmocka_unit_test(steps_made_while_it_is_read_are_recorded_later),
    cmocka_unit_test(an_interrupt_does_not_wait_for_it),
    cmocka_unit_test(a_history_that_stays_held_is_given_up),
    cmocka_unit_test(a_question_to_a_held_history_can_be_interrupted),
    cmocka_unit_test(a_long_question_can_be_interrupted),
    cmocka_unit_test(a_damaged_database_is_read_or_refused),
    cmocka_unit_test(a_small_file_with_endless_rows_stays_within_the_limit),
    cmocka_unit_test(thousands_of_tables_stay_within_the_limit),
    cmocka_unit_test(a_huge_value_is_not_read),
    cmocka_unit_test(a_history_needs_no_memory_of_the_limit),
  };
  return cmocka_run_group_tests(tests, enter_room, leave_room);
}
