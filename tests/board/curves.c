/* Long histories on the board: what is sent is bounded, and what is said of them is true. */
#define _DEFAULT_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <sqlite3.h>

#include "support/served.h"

#define LONG 1000000

static char body[1 << 20];
static float losses[LONG];

static int prepare(void **state) {
  for (int i = 0; i < LONG; i++) losses[i] = 1 + (float)(i % 7);
  return served_set_up(state);
}

static void start(served *s) { assert_true(served_start(s)); }

static void run_sql(const served *s, const char *sql) {
  sqlite3 *database;
  char *problem = NULL;
  assert_int_equal(sqlite3_open(s->store, &database), SQLITE_OK);
  if (sqlite3_exec(database, sql, NULL, NULL, &problem) != SQLITE_OK) fail_msg("%s: %s", sql, problem);
  sqlite3_close(database);
}

static size_t count_of(const char *text, char mark) {
  size_t count = 0;
  for (; *text; text++) count += *text == mark;
  return count;
}

/* ---- one run ---- */

static void a_short_run_is_sent_whole(void **state) {
  served *s = *state;
  assert_int_equal(served_add_run(s, "x", losses, 3), 1);
  start(s);
  assert_int_equal(fetch_with(s, "/api/runs/1", "", body, sizeof body), 200);
  assert_non_null(strstr(body, "\"recorded\":3,\"loss_steps\":[0,1,2],\"losses\":[1,2,3],\"evals\":[]}}"));
}

static void a_long_run_is_sent_in_part_with_its_extremes(void **state) {
  served *s = *state;
  losses[123456] = -5;
  losses[777777] = 9000;
  losses[LONG - 1] = 4.5f;
  assert_int_equal(served_add_run(s, "x", losses, LONG), 1);
  start(s);
  assert_int_equal(fetch_with(s, "/api/runs/1", "", body, sizeof body), 200);
  assert_non_null(strstr(body, "\"recorded\":1000000,"));
  assert_true(count_of(body, ',') < 2 * 4100 + 50);
  assert_non_null(strstr(body, ",123456,"));
  assert_non_null(strstr(body, ",-5,"));
  assert_non_null(strstr(body, ",777777,"));
  assert_non_null(strstr(body, ",9000,"));
  assert_non_null(strstr(body, ",999999]"));
  assert_non_null(strstr(body, ",4.5]"));
}

static void ask_part(const served *s, const char *wishes, const char *wanted) {
  char path[128];
  snprintf(path, sizeof path, "/api/runs/1/curve?%s", wishes);
  assert_int_equal(fetch_with(s, path, "", body, sizeof body), 200);
  if (!strstr(body, wanted)) fail_msg("%s: %s", wishes, body);
}

/* Steps that the whole curve leaves out, also across the border of two chunks. */
static void a_part_of_a_long_run_is_sent_whole(void **state) {
  served *s = *state;
  assert_int_equal(served_add_run(s, "x", losses, LONG), 1);
  start(s);
  ask_part(s, "from=4094&to=4098", "\"recorded\":1000000,\"loss_steps\":[4094,4095,4096,4097,4098],"
                                   "\"losses\":[7,1,2,3,4]}");
  ask_part(s, "from=0&to=0", "\"loss_steps\":[0],");
  ask_part(s, "from=999998", "\"loss_steps\":[999998,999999],");
  ask_part(s, "from=5&to=4", "\"loss_steps\":[],");
  ask_part(s, "from=1000000", "\"loss_steps\":[],");
  ask_part(s, "from=9223372036854775807&to=9223372036854775807", "\"loss_steps\":[0,"); /* no step at all */
  ask_part(s, "from=-1&to=2x", "\"loss_steps\":[0,");
  assert_int_equal(fetch(s, "/api/runs/2/curve?from=1"), 404);
}

static void evaluations_are_sent_in_part(void **state) {
  served *s = *state;
  assert_int_equal(served_add_run(s, "x", losses, 3), 1);
  run_sql(s, "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i<19999) "
             "INSERT INTO evals SELECT 1,i,0.5,0.25 FROM n");
  start(s);
  assert_int_equal(fetch_with(s, "/api/runs/1", "", body, sizeof body), 200);
  size_t evals = count_of(strstr(body, "\"evals\""), '{');
  assert_in_range(evals, 4000, 4096);
  assert_non_null(strstr(body, "{\"step\":0,"));
  assert_non_null(strstr(body, "{\"step\":19999,"));
}

/* A forged history: reading it still ends. */
static void what_a_history_claims_costs_nothing(void **state) {
  served *s = *state;
  for (int i = 1; i <= 3; i++) assert_int_equal(served_add_run(s, "x", losses, 3), i);
  run_sql(s, "INSERT INTO losses VALUES(1,1000000000000,x'0000803f')");
  run_sql(s, "INSERT INTO losses VALUES(2,9223372036854775807,x'0000803f');"
             "INSERT INTO losses VALUES(2,-9223372036854775808,x'0000803f');"
             "INSERT INTO evals VALUES(2,9223372036854775807,0.5,0.5)");
  run_sql(s, "INSERT INTO losses VALUES(3,1,zeroblob(1000000))");
  start(s);
  for (int i = 1; i <= 3; i++) {
    char path[64], piece[64];
    snprintf(path, sizeof path, "/api/runs/%d", i);
    assert_int_equal(fetch_with(s, path, "", body, sizeof body), 200);
    assert_true(strlen(body) < 200000);
    snprintf(path, sizeof path, "/api/runs/%d/compare/1", i);
    assert_int_equal(fetch(s, path), 200);
    snprintf(path, sizeof path, "/api/runs/%d/events", i);
    int follower = client_connect(s);
    assert_true(client_ask(s, follower, path, ""));
    assert_true(recv(follower, piece, sizeof piece, 0) > 0);
    close(follower);
  }
  assert_int_equal(fetch(s, "/"), 200);
}

/* ---- lists ---- */

static void a_list_has_the_newest_thousand(void **state) {
  served *s = *state;
  assert_int_equal(served_add_run(s, "the text of a program", losses, 3), 1);
  start(s);
  assert_int_equal(fetch_with(s, "/api/runs", "", body, sizeof body), 200);
  assert_non_null(strstr(body, "\"more\":false"));
  assert_null(strstr(body, "the text of"));
  run_sql(s, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<1200) "
             "INSERT INTO runs(program,status,steps,source) SELECT 'p.ail','completed',i,'x' FROM n");
  assert_int_equal(fetch_with(s, "/api/runs", "", body, sizeof body), 200);
  assert_non_null(strstr(body, "\"more\":true"));
  assert_int_equal(count_of(body, '{'), 1001);
  assert_non_null(strstr(body, "\"id\":1201,"));
  assert_null(strstr(body, "\"id\":201,"));
}

/* The numbers of the runs in an answer, as "3 1 ". */
static const char *numbers_in(const char *text) {
  static char out[256];
  size_t length = 0;
  out[0] = 0;
  for (const char *at = text; (at = strstr(at, "\"id\":")); at++)
    length += (size_t)snprintf(out + length, sizeof out - length, "%d ", atoi(at + 5));
  return out;
}

static void ask_list(const served *s, const char *wishes, const char *numbers, const char *order) {
  char path[256];
  snprintf(path, sizeof path, "/api/runs?%s", wishes);
  assert_int_equal(fetch_with(s, path, "", body, sizeof body), 200);
  if (strcmp(numbers_in(body), numbers) != 0) fail_msg("%s: %s", wishes, numbers_in(body));
  if (!strstr(body, order)) fail_msg("%s: no %s", wishes, order);
}

static void add_runs_of_a_sweep(served *s) {
  assert_int_equal(served_add_run(s, "x", losses, 1), 1);
  run_sql(s, "DELETE FROM runs;"
             "INSERT INTO runs(id,program,status,loss,accuracy,seed,folder,hyperparameters) VALUES"
             "(1,'a/toy.ail','completed',0.5,0.9,'9','/r/1','{\"lr\":0.1,\"name\":\"Adam\",\"batch\":4}'),"
             "(2,'b.ail','stopped',0.25,0.8,'10','/r/2','{\"lr\":0.02,\"name\":\"sgd\",\"batch\":4}'),"
             "(3,'b.ail','completed',NULL,NULL,'18446744073709551615','/r/3',NULL)");
}

static void a_list_is_sorted_as_suits_the_column(void **state) {
  served *s = *state;
  add_runs_of_a_sweep(s);
  start(s);
  ask_list(s, "", "3 2 1 ", "\"order\":\"id\",\"way\":\"down\"");
  ask_list(s, "order=loss", "2 1 3 ", "\"order\":\"loss\",\"way\":\"up\""); /* nothing comes last */
  ask_list(s, "order=loss&way=down", "1 2 3 ", "\"way\":\"down\"");
  ask_list(s, "order=accuracy", "1 2 3 ", "\"way\":\"down\"");
  ask_list(s, "order=seed", "1 2 3 ", "\"way\":\"up\""); /* by value, not by letter */
  ask_list(s, "order=lr", "2 1 3 ", "\"order\":\"lr\",\"way\":\"up\"");
  ask_list(s, "order=name&way=down", "2 1 3 ", "\"varying\":[\"lr\",\"name\"]");
  ask_list(s, "order=loss;DROP%20TABLE%20runs", "1 2 3 ", "\"way\":\"up\""); /* a name that no run has */
}

static void a_list_is_filtered_by_words(void **state) {
  static const struct {
    const char *words, *numbers;
  } cases[] = {
    { "TOY", "1 " },
    { "lr=0.10", "1 " },
    { "lr%3C0.1", "2 " },
    { "lr%3C=0.1", "2 1 " },
    { "lr!=0.1", "2 " }, /* who has none fits nothing */
    { "loss!=0.5", "2 " },
    { "lr=", "2 1 " },
    { "loss%3E0.25", "1 " },
    { "status=completed+seed%3E9", "3 " },
    { "program=toy.ail", "1 " },
    { "run=2", "2 " },
    { "name=ADAM", "1 " },
    { "adam", "1 " },
    { "none=1", "" },
    { "toy+sgd", "" },
    { "++", "3 2 1 " },
    { "%00", "3 2 1 " },
    { "%27%20OR%201=1", "" },
    { "=%3C%3E!", "" },
  };
  served *s = *state;
  char wishes[128];
  add_runs_of_a_sweep(s);
  start(s);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    snprintf(wishes, sizeof wishes, "words=%s", cases[i].words);
    ask_list(s, wishes, cases[i].numbers, "\"runs\":");
  }
}

/* ---- two runs ---- */

static void expect_difference(const served *s, int one, int other, const char *step) {
  char path[64], wanted[64];
  snprintf(path, sizeof path, "/api/runs/%d/compare/%d", one, other);
  snprintf(wanted, sizeof wanted, "\"first_different_step\":%s,", step);
  assert_int_equal(fetch_with(s, path, "", body, sizeof body), 200);
  if (!strstr(body, wanted)) fail_msg("%s: %s", path, body);
}

/* Also after the tags of one have changed, which an answer that is kept must not hide. */
static void a_comparison_says_what_differs(void **state) {
  served *s = *state;
  assert_int_equal(served_add_run(s, "a\nb\nc\n", losses, 3), 1);
  assert_int_equal(served_add_run(s, "a\nx\nc\nd\n", losses, 3), 2);
  run_sql(s, "UPDATE runs SET hyperparameters='{\"lr\":0.'||id||',\"batch\":4}',process=NULL,"
             "status='completed',weights_sha256='same'");
  start(s);
  assert_int_equal(fetch_with(s, "/api/runs/1/compare/2", "", body, sizeof body), 200);
  assert_non_null(strstr(body, "\"hyperparameters\":{\"lr\":[0.1,0.2]},"));
  assert_non_null(strstr(body, "\"source\":[{\"run\":0,\"line\":2,\"text\":\"b\"},"
                               "{\"run\":1,\"line\":2,\"text\":\"x\"},"
                               "{\"run\":1,\"line\":4,\"text\":\"d\"}],"));
  assert_non_null(strstr(body, "\"first_different_step\":null,\"same_origin\":false,\"same_weights\":true}"));
  assert_null(strstr(body, "\"tags\""));
  run_sql(s, "UPDATE runs SET tags='new' WHERE id=2");
  assert_int_equal(fetch_with(s, "/api/runs/1/compare/2", "", body, sizeof body), 200);
  assert_non_null(strstr(body, "\"tags\":[null,\"new\"]"));
}

static void the_first_different_step_is_found_among_all(void **state) {
  served *s = *state;
  losses[100] = NAN; /* which equals itself here: its bits do */
  assert_int_equal(served_add_run(s, "x", losses, 20000), 1);
  assert_int_equal(served_add_run(s, "x", losses, 9000), 2);
  losses[12345] += 1;
  assert_int_equal(served_add_run(s, "x", losses, 20000), 3);
  losses[0] = -0.0f;
  assert_int_equal(served_add_run(s, "x", losses, 20000), 4);
  start(s);
  expect_difference(s, 1, 1, "null");
  expect_difference(s, 1, 2, "null");
  expect_difference(s, 2, 3, "null");
  expect_difference(s, 1, 3, "12345");
  expect_difference(s, 3, 1, "12345");
  expect_difference(s, 4, 2, "0");
  assert_int_equal(fetch(s, "/api/runs/1/compare/5"), 404);
  assert_int_equal(fetch(s, "/api/runs/1/compare/"), 404);
  assert_int_equal(fetch(s, "/api/runs/1/compare/2/"), 404);
}

/* ---- followers ---- */

static void read_event(int follower, const char *until) {
  size_t length = 0;
  while (length + 1 < sizeof body && (body[length] = 0, !strstr(body, until))) {
    ssize_t got = recv(follower, body + length, sizeof body - 1 - length, 0);
    if (got <= 0) fail_msg("the stream ended before %s", until);
    length += (size_t)got;
    body[length] = 0;
  }
}

static void a_follower_gets_what_is_new(void **state) {
  served *s = *state;
  assert_int_equal(served_add_run(s, "x", losses, LONG / 2), 1);
  start(s);
  int follower = client_connect(s);
  assert_true(client_ask(s, follower, "/api/runs/1/events", ""));
  read_event(follower, "\"evals\":[]}");
  assert_non_null(strstr(body, "\"first\":0,\"recorded\":500000,"));
  assert_true(count_of(body, ',') < 2 * 1030 + 20);
  tn_heap heap = { 0 };
  tn_diags diags;
  tn_diags_init(&diags, &heap, &s->sources);
  tn_store *store = tn_store_open(&heap, s->store, TN_STORE_WRITE, &diags, NULL);
  tn_run_eval eval = { 500001, 0.5, 0.25 };
  assert_true(tn_store_add(store, 1, LONG / 2, losses, 2, &eval, 1, 2.0));
  tn_store_close(store);
  tn_diags_free(&diags);
  read_event(follower, "\"step\":500001");
  assert_non_null(strstr(body, "\"first\":500000,\"recorded\":500002,\"loss_steps\":[500000,500001],"
                               "\"losses\":[1,2],"));
  close(follower);
}

/* Somebody holds the history: what does not need it is answered, and followers stay. */
static void a_locked_history_does_not_stop_a_training(void **state) {
  served *s = *state;
  sqlite3 *holder;
  assert_int_equal(served_add_run(s, "x", losses, 3), 1);
  start(s);
  int followers[16];
  for (int i = 0; i < 16; i++) {
    followers[i] = client_connect(s);
    assert_true(client_ask(s, followers[i], "/api/runs/1/events", ""));
    read_event(followers[i], "\"recorded\":3");
  }
  assert_int_equal(sqlite3_open(s->store, &holder), SQLITE_OK);
  assert_int_equal(sqlite3_busy_timeout(holder, 600000), SQLITE_OK); /* followers look at it now and then */
  assert_int_equal(sqlite3_exec(holder, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
  assert_int_equal(fetch(s, "/api/runs"), 503);
  assert_int_equal(fetch(s, "/api/runs/1"), 503);
  for (int i = 0; i < 10; i++) assert_int_equal(fetch(s, "/board.js"), 200);
  served_settle(s);
  for (int i = 0; i < 16; i++) assert_true(client_is_open(followers[i]));
  assert_int_equal(sqlite3_exec(holder, "UPDATE runs SET steps=77; COMMIT", NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(holder);
  assert_int_equal(fetch(s, "/api/runs"), 200);
  for (int i = 0; i < 16; i++) close(followers[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    SERVED(a_short_run_is_sent_whole, prepare),
    SERVED(a_long_run_is_sent_in_part_with_its_extremes, prepare),
    SERVED(a_part_of_a_long_run_is_sent_whole, prepare),
    SERVED(evaluations_are_sent_in_part, prepare),
    SERVED(what_a_history_claims_costs_nothing, prepare),
    SERVED(a_list_has_the_newest_thousand, prepare),
    SERVED(a_list_is_sorted_as_suits_the_column, prepare),
    SERVED(a_list_is_filtered_by_words, prepare),
    SERVED(the_first_different_step_is_found_among_all, prepare),
    SERVED(a_comparison_says_what_differs, prepare),
    SERVED(a_follower_gets_what_is_new, prepare),
    SERVED(a_locked_history_does_not_stop_a_training, prepare),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
