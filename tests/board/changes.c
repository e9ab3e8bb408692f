/* The board's requests that change something: from its own page they do, from anybody else they do not. */
#define _DEFAULT_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <sqlite3.h>

#include "support/served.h"

#define NOTES "/api/runs/1/notes"

static char body[1 << 16], token[65];

/* ---- the history, seen by another program ---- */

static void run_sql(const served *s, const char *sql) {
  sqlite3 *database;
  char *problem = NULL;
  assert_int_equal(sqlite3_open(s->store, &database), SQLITE_OK);
  if (sqlite3_exec(database, sql, NULL, NULL, &problem) != SQLITE_OK) fail_msg("%s: %s", sql, problem);
  sqlite3_close(database);
}

/* The first value of a query as text; "NULL" for nothing. */
static const char *ask_sql(const served *s, const char *sql) {
  static char out[256];
  sqlite3 *database;
  sqlite3_stmt *statement;
  assert_int_equal(sqlite3_open(s->store, &database), SQLITE_OK);
  assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), SQLITE_OK);
  bool row = sqlite3_step(statement) == SQLITE_ROW;
  const unsigned char *text = row ? sqlite3_column_text(statement, 0) : NULL;
  snprintf(out, sizeof out, "%s", text ? (const char *)text : "NULL");
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return out;
}

/* ---- requests ---- */

/* What the page of this board knows. */
static void read_token(const served *s) {
  static const char before[] = "name=\"tern-token\" content=\"";
  assert_int_equal(fetch_with(s, "/", "", body, sizeof body), 200);
  const char *at = strstr(body, before);
  assert_non_null(at);
  snprintf(token, sizeof token, "%s", at + sizeof before - 1);
  assert_int_equal(strspn(token, "0123456789abcdef"), 64);
  assert_int_equal(at[sizeof before - 1 + 64], '"');
}

static int start(void **state) {
  static const float losses[] = { 3, 2, 1 };
  if (served_set_up(state) != 0) return -1;
  served *s = *state;
  bool ok = served_add_run(s, "model {}", losses, 3) == 1 && served_add_run(s, "model {}", losses, 3) == 2;
  run_sql(s, "UPDATE runs SET status='completed',process=NULL");
  if (!ok || !served_start(s)) return -1;
  read_token(s);
  return 0;
}

/* The headers of an honest request, but for those that are given. NULL: left out. */
typedef struct {
  const char *method, *path, *host, *origin, *site, *token, *type, *more, *text;
  long length; /* -1: of the text */
} wanted;

static wanted honest(const char *path, const char *text) {
  return (wanted){ .method = "POST", .path = path, .host = "127.0.0.1", .origin = "http://127.0.0.1",
                   .site = "same-origin", .token = token, .type = "application/json", .more = "",
                   .text = text, .length = -1 };
}

static void add_header(char *out, size_t size, const char *name, const char *value, int port) {
  size_t used = strlen(out);
  if (!value) return;
  if (port)
    snprintf(out + used, size - used, "%s: %s:%d\r\n", name, value, port);
  else
    snprintf(out + used, size - used, "%s: %s\r\n", name, value);
}

static int post_on(const served *s, int client, const wanted *w) {
  static char request[1 << 17];
  int port = atomic_load(&((served *)(uintptr_t)s)->port);
  long length = w->length >= 0 ? w->length : (long)strlen(w->text);
  snprintf(request, sizeof request, "%s %s HTTP/1.1\r\nContent-Length: %ld\r\n%s", w->method, w->path, length,
           w->more);
  add_header(request, sizeof request, "Host", w->host, port);
  add_header(request, sizeof request, "Origin", w->origin, w->origin && strstr(w->origin, "http") ? port : 0);
  add_header(request, sizeof request, "Sec-Fetch-Site", w->site, 0);
  add_header(request, sizeof request, "X-Tern-Token", w->token, 0);
  add_header(request, sizeof request, "Content-Type", w->type, 0);
  strcat(request, "\r\n");
  strcat(request, w->text);
  if (!client_send(client, request)) return 0;
  return client_read(client, body, sizeof body);
}

static int post(const served *s, wanted w) {
  int client = client_connect(s);
  int status = post_on(s, client, &w);
  close(client);
  return status;
}

static int say(const served *s, const char *text) { return post(s, honest(NOTES, text)); }

/* ---- what the page may do ---- */

static void tags_and_notes_are_kept(void **state) {
  served *s = *state;
  assert_int_equal(say(s, "{\"tags\":\" best, of  all best\\n\",\"notes\":\"caf\\u00e9 <b>\"}"), 200);
  assert_string_equal(body, "{\"ok\":true,\"tags\":\"best of all\",\"notes\":\"caf\xc3\xa9 <b>\"}");
  assert_string_equal(ask_sql(s, "SELECT tags||'|'||notes FROM runs WHERE id=1"),
                      "best of all|caf\xc3\xa9 <b>");
  assert_string_equal(ask_sql(s, "SELECT tags FROM runs WHERE id=2"), "NULL"); /* the other has none */
  /* Either alone leaves the other as it was; an empty one removes it. */
  assert_int_equal(say(s, "{\"tags\":\"\"}"), 200);
  assert_string_equal(ask_sql(s, "SELECT tags FROM runs WHERE id=1"), "NULL");
  assert_string_equal(ask_sql(s, "SELECT notes FROM runs WHERE id=1"), "caf\xc3\xa9 <b>");
  assert_int_equal(say(s, "{}"), 200);
  /* They are found, and the list has them. */
  assert_int_equal(say(s, "{\"tags\":\"good x\"}"), 200);
  assert_int_equal(fetch_with(s, "/api/runs?words=tags=GOOD", "", body, sizeof body), 200);
  assert_non_null(strstr(body, "\"id\":1,"));
  assert_null(strstr(body, "\"id\":2,"));
  assert_int_equal(fetch_with(s, "/api/runs?words=tags!=good", "", body, sizeof body), 200);
  assert_null(strstr(body, "\"id\":1,"));
}

static void a_body_may_come_in_pieces_and_requests_may_follow(void **state) {
  served *s = *state;
  char head[512];
  int client = client_connect(s);
  snprintf(head, sizeof head,
           "POST " NOTES " HTTP/1.1\r\nHost: localhost:%d\r\nOrigin: http://localhost:%d\r\n"
           "X-Tern-Token: %s\r\n"
           "Content-Type: application/json\r\nContent-Length: 14\r\n\r\n", s->port, s->port, token);
  assert_true(client_send(client, head));
  static const char *const pieces[] = { "{\"ta", "gs\":\"", "a b\"}" };
  for (int i = 0; i < 3; i++) {
    served_settle(s);
    assert_true(client_send(client, pieces[i]));
  }
  assert_int_equal(client_read(client, body, sizeof body), 200);
  assert_non_null(strstr(body, "\"tags\":\"a b\""));
  wanted w = honest(NOTES, "{\"tags\":\"c\"}");
  assert_int_equal(post_on(s, client, &w), 200);
  assert_non_null(strstr(body, "\"tags\":\"c\""));
  close(client);
}

static void a_run_is_removed_with_its_steps(void **state) {
  served *s = *state;
  assert_int_equal(post(s, honest("/api/runs/2/remove", "{}")), 200);
  assert_string_equal(ask_sql(s, "SELECT group_concat(id) FROM runs"), "1");
  assert_string_equal(ask_sql(s, "SELECT group_concat(run) FROM losses"), "1");
  assert_int_equal(fetch(s, "/api/runs/2"), 404);
  assert_int_equal(post(s, honest("/api/runs/2/remove", "{}")), 404);
  assert_int_equal(post(s, honest("/api/runs/2/notes", "{}")), 404);
}

/* The process that records it lives: it is this one. */
static void a_run_in_progress_stays(void **state) {
  static const float losses[] = { 1 };
  served *s = *state;
  assert_int_equal(served_add_run(s, "model {}", losses, 1), 3);
  assert_int_equal(post(s, honest("/api/runs/3/remove", "{}")), 409);
  assert_string_equal(ask_sql(s, "SELECT count(*) FROM runs"), "3");
  assert_int_equal(post(s, honest("/api/runs/3/notes", "{\"notes\":\"goes well\"}")), 200);
  run_sql(s, "UPDATE runs SET process='1 1 no-such-boot' WHERE id=3"); /* killed */
  assert_int_equal(post(s, honest("/api/runs/3/remove", "{}")), 200);
}

static void a_history_that_is_held_is_left_alone(void **state) {
  served *s = *state;
  sqlite3 *holder;
  assert_int_equal(sqlite3_open(s->store, &holder), SQLITE_OK);
  assert_int_equal(sqlite3_exec(holder, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
  assert_int_equal(say(s, "{\"notes\":\"x\"}"), 503);
  assert_int_equal(post(s, honest("/api/runs/1/remove", "{}")), 503);
  sqlite3_close(holder);
  assert_int_equal(say(s, "{\"notes\":\"x\"}"), 200);
}

static void no_history_is_made(void **state) {
  served *s = *state;
  assert_int_equal(unlink(s->store), 0);
  assert_int_equal(say(s, "{\"notes\":\"x\"}"), 404);
  assert_int_equal(access(s->store, F_OK), -1);
}

/* ---- what others may not do ---- */

static void stays_as_it_was(const served *s, int line, int status, int expected) {
  const char *state = ask_sql(s, "SELECT count(*)||coalesce(group_concat(tags),'')"
                                 "||coalesce(group_concat(notes),'') FROM runs");
  if (status != expected || strcmp(state, "2") != 0)
    fail_msg("line %d: %d instead of %d, and the history is %s: %s", line, status, expected, state, body);
}
#define REFUSED(expected, ...)                                                                               \
  do {                                                                                                       \
    wanted w = honest(NOTES, "{\"tags\":\"evil\"}");                                                         \
    __VA_ARGS__;                                                                                             \
    stays_as_it_was(s, __LINE__, post(s, w), expected);                                                      \
  } while (0)

static void without_the_token_nothing_changes(void **state) {
  served *s = *state;
  char old[65], other[65], longer[70];
  snprintf(old, sizeof old, "%s", token);
  REFUSED(403, w.token = NULL);
  REFUSED(403, w.token = "");
  snprintf(other, sizeof other, "%s", token);
  other[63] = other[63] == '0' ? '1' : '0';
  REFUSED(403, w.token = other);
  snprintf(longer, sizeof longer, "%s0", token);
  REFUSED(403, w.token = longer);
  REFUSED(403, w.token = NULL, w.path = "/api/runs/1/notes?X-Tern-Token=x");
  char twice[160];
  snprintf(twice, sizeof twice, "X-Tern-Token: %s\r\n", other);
  REFUSED(403, w.more = twice);
  /* A board that is started again has another token; the old page may not write any more. */
  served_join(s);
  assert_true(served_start(s));
  REFUSED(403, w.token = old);
  assert_non_null(strstr(body, "load it again"));
  read_token(s);
  assert_string_not_equal(token, old);
  assert_int_equal(say(s, "{\"tags\":\"fine\"}"), 200);
}

static void from_another_page_nothing_changes(void **state) {
  served *s = *state;
  REFUSED(403, w.origin = "http://evil.example");
  REFUSED(403, w.origin = "null");
  REFUSED(403, w.origin = NULL); /* a browser always says it */
  REFUSED(403, w.origin = "https://127.0.0.1");
  REFUSED(403, w.origin = "http://127.0.0.1.evil.example");
  REFUSED(403, w.site = "cross-site");
  REFUSED(403, w.site = "same-site");
  REFUSED(403, w.site = "none"); /* nobody types a POST */
  REFUSED(403, w.host = "evil.example");
  REFUSED(403, w.host = "127.0.0.1.evil.example");
  REFUSED(403, w.more = "Origin: http://evil.example\r\n");
  /* What a form of another page can send. */
  REFUSED(415, w.type = "text/plain");
  REFUSED(415, w.type = "application/x-www-form-urlencoded");
  REFUSED(415, w.type = NULL);
}

static void other_methods_and_addresses_change_nothing(void **state) {
  served *s = *state;
  static const char *const methods[] = { "PUT", "DELETE", "PATCH", "OPTIONS", "post", "TRACE" };
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) REFUSED(405, w.method = methods[i]);
  static const char *const paths[] = { "/api/runs/1",           "/api/runs/1/notes/",
                                       "/api/runs/1/notes/../remove",
                                       "/api/runs//1/remove",   "/api/runs/-1/remove", "/api/runs/1x/remove",
                                       "/api/runs/*/remove",    "/api/runs/1/Remove",  "/api/runs/0x1/remove",
                                       "/api/runs/1,2/remove",  "/api/runs",           "/",
                                       "/api/runs/99999999999999999999/remove", "/../api/runs/1/remove" };
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    stays_as_it_was(s, (int)i, post(s, honest(paths[i], "{}")), 405);
  }
}

/* "%2f" is a slash and "%00" ends a text: both name what their plain forms name, and nothing else. */
static void escaped_addresses_mean_what_they_say(void **state) {
  served *s = *state;
  assert_int_equal(post(s, honest("/api/runs/1%2fnotes", "{\"tags\":\"a\"}")), 200);
  assert_string_equal(ask_sql(s, "SELECT tags FROM runs WHERE id=1"), "a");
  int status = post(s, honest("/api/runs/2%2f..%2f1/remove", "{}"));
  assert_int_equal(status, 405);
  assert_string_equal(ask_sql(s, "SELECT count(*) FROM runs"), "2");
  assert_int_equal(post(s, honest("/api/runs/2/remove%00/../../1", "{}")), 200);
  assert_string_equal(ask_sql(s, "SELECT group_concat(id) FROM runs"), "1");
}

static void bodies_are_bounded(void **state) {
  served *s = *state;
  static char text[70000];
  REFUSED(413, w.length = 65537);
  REFUSED(413, w.length = 1000000000000);
  REFUSED(413, w.more = "Transfer-Encoding: chunked\r\n", w.text = "0\r\n\r\n");
  int client = client_connect(s); /* without any length */
  snprintf(text, sizeof text,
           "POST " NOTES " HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nOrigin: http://127.0.0.1:%d\r\n"
           "X-Tern-Token: %s\r\n"
           "Content-Type: application/json\r\n\r\n", s->port, s->port, token);
  assert_true(client_send(client, text));
  stays_as_it_was(s, __LINE__, client_read(client, body, sizeof body), 413);
  close(client);
  /* As many bytes as may come, which are more than notes may have. */
  memset(text, 'a', sizeof text);
  memcpy(text, "{\"notes\":\"", 10);
  strcpy(text + 65534, "\"}");
  assert_int_equal(strlen(text), 65536);
  stays_as_it_was(s, __LINE__, say(s, text), 400);
  strcpy(text + 10 + 16384, "\"}");
  assert_int_equal(say(s, text), 200);
}

static void bodies_that_are_something_else_change_nothing(void **state) {
  served *s = *state;
  static const char *const texts[] = {
    "", "null", "[]", "{", "{\"tags\":}", "{\"tags\":1}", "{\"tags\":null}", "{\"tags\":[\"a\"]}",
    "{\"notes\":{\"a\":\"b\"}}", "{\"tags\":\"a\",\"tags\":\"b\"}", "{\"folder\":\"/\"}",
    "{\"notes\":\"a\"}{}", "{\"notes\":\"a\\u0000b\"}", "{\"tags\":\"a\\u0007\"}", "{\"notes\":\"\xff\"}",
    "{\"tags\":\"a23456789012345678901234567890123456789012345678901234567890123456\"}",
    "{\"tags\":\"a b c d e f g h i j k l m n o p q r s t u v w x y z A1 B1 C1 D1 E1 F1 G1 H1 I1\"}",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) stays_as_it_was(s, (int)i, say(s, texts[i]), 400);
  static const char *const removals[] = { "", "[]", "{\"all\":true}", "{} " };
  for (size_t i = 0; i < 4; i++)
    stays_as_it_was(s, (int)i, post(s, honest("/api/runs/1/remove", removals[i])), 400);
}

static void a_body_must_be_whole_in_time(void **state) {
  served *s = *state;
  int slow = client_connect(s);
  char text[1024];
  snprintf(text, sizeof text,
           "POST " NOTES " HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nOrigin: http://127.0.0.1:%d\r\n"
           "X-Tern-Token: %s\r\n"
           "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{", s->port, s->port, token);
  assert_true(client_send(slow, text));
  for (int i = 0; i < 6; i++) { /* a trickle moves no deadline */
    client_send(slow, " ");
    served_pass(s, 1);
  }
  assert_true(client_is_closed(slow));
  close(slow);
  assert_int_equal(say(s, "{}"), 200);
}

/* Many clients that announce a body and send none lock no others out, and their memory is freed. */
static void unfinished_bodies_do_not_lock_others_out(void **state) {
  served *s = *state;
  int slow[100];
  char text[1024];
  snprintf(text, sizeof text,
           "POST " NOTES " HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nOrigin: http://127.0.0.1:%d\r\n"
           "X-Tern-Token: %s\r\n"
           "Content-Type: application/json\r\nContent-Length: 60000\r\n\r\n{", s->port, s->port, token);
  for (int i = 0; i < 100; i++) {
    slow[i] = client_connect(s);
    assert_true(slow[i] >= 0);
    client_send(slow[i], text);
  }
  assert_int_equal(say(s, "{\"tags\":\"through\"}"), 200);
  for (int i = 0; i < 100; i++) close(slow[i]);
}

static void noise_in_posts_breaks_nothing(void **state) {
  served *s = *state;
  unsigned random = 99;
  for (int round = 0; round < 300; round++) {
    char text[1024];
    int length = snprintf(text, sizeof text,
                          "POST " NOTES " HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nOrigin: http://127.0.0.1:%d\r\n"
                          "X-Tern-Token: %s\r\n"
           "Content-Type: application/json\r\nContent-Length: 20\r\n\r\n"
                          "{\"notes\":\"a\\u00e9\"} ", s->port, s->port, token);
    for (int i = 0; i < 1 + round % 8; i++) {
      random = random * 1103515245u + 12345u;
      text[random / 65536 % (unsigned)length] = (char)(random >> 8);
    }
    int client = client_connect(s);
    send(client, text, (size_t)length, MSG_NOSIGNAL);
    if (round % 3 == 0) shutdown(client, SHUT_WR);
    close(client);
  }
  assert_int_equal(fetch(s, "/"), 200);
  assert_string_equal(ask_sql(s, "SELECT count(*) FROM runs"), "2");
}

int main(void) {
  const struct CMUnitTest tests[] = {
    SERVED(tags_and_notes_are_kept, start),
    SERVED(a_body_may_come_in_pieces_and_requests_may_follow, start),
    SERVED(a_run_is_removed_with_its_steps, start),
    SERVED(a_run_in_progress_stays, start),
    SERVED(a_history_that_is_held_is_left_alone, start),
    SERVED(no_history_is_made, start),
    SERVED(without_the_token_nothing_changes, start),
    SERVED(from_another_page_nothing_changes, start),
    SERVED(other_methods_and_addresses_change_nothing, start),
    SERVED(escaped_addresses_mean_what_they_say, start),
    SERVED(bodies_are_bounded, start),
    SERVED(bodies_that_are_something_else_change_nothing, start),
    SERVED(a_body_must_be_whole_in_time, start),
    SERVED(unfinished_bodies_do_not_lock_others_out, start),
    SERVED(noise_in_posts_breaks_nothing, start),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
