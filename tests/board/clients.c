/* The board under clients that are slow, many, greedy or confused: others are still served. */
#define _DEFAULT_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/served.h"

#define HALF_A_REQUEST "GET / HTTP/1.1\r\nHo"
#define MANY           200

static int start(void **state) {
  return served_set_up(state) == 0 && served_start(*state) ? 0 : -1;
}

/* Connections that send the same text and then nothing. */
static void connect_many(const served *s, int *clients, int count, int last, const char *text) {
  for (int i = 0; i < count; i++) {
    clients[i] = client_from(s, last);
    assert_true(clients[i] >= 0);
    client_send(clients[i], text); /* which may be too late already: others have come */
  }
}

static void close_all(const int *clients, int count) {
  for (int i = 0; i < count; i++) close(clients[i]);
}

/* ---- slow clients ---- */

static void many_unfinished_requests_do_not_lock_others_out(void **state) {
  served *s = *state;
  int slow[MANY];
  connect_many(s, slow, MANY, 1, HALF_A_REQUEST);
  for (int i = 0; i < 20; i++) assert_int_equal(fetch(s, "/api/runs"), 200);
  assert_true(client_is_closed(slow[0])); /* the oldest has given way */
  close_all(slow, MANY);
}

static void many_silent_connections_do_not_lock_others_out(void **state) {
  served *s = *state;
  int silent[MANY];
  connect_many(s, silent, MANY, 1, "");
  assert_int_equal(fetch(s, "/"), 200);
  close_all(silent, MANY);
}

static void many_addresses_do_not_lock_others_out(void **state) {
  served *s = *state;
  int slow[MANY];
  for (int i = 0; i < MANY; i++) {
    slow[i] = client_from(s, 2 + i % 40);
    assert_true(slow[i] >= 0);
    client_send(slow[i], HALF_A_REQUEST);
  }
  assert_int_equal(fetch(s, "/"), 200);
  served_settle(s);
  int open = 0;
  for (int i = 0; i < MANY; i++) open += client_is_open(slow[i]);
  assert_in_range(open, 1, s->limits.clients.most);
  close_all(slow, MANY);
}

static void a_request_must_be_whole_in_time(void **state) {
  served *s = *state;
  int slow = client_connect(s);
  assert_true(client_send(slow, HALF_A_REQUEST));
  assert_int_equal(fetch(s, "/"), 200); /* who came after it is served: it has been accepted */
  served_pass(s, 4);
  assert_true(client_is_open(slow));
  served_pass(s, 2);
  assert_true(client_is_closed(slow));
  close(slow);
}

static void a_trickle_of_bytes_wins_no_time(void **state) {
  served *s = *state;
  int slow = client_connect(s);
  assert_true(client_send(slow, "GET / HTTP/1.1\r\nX-Slow: "));
  assert_int_equal(fetch(s, "/"), 200);
  for (int i = 0; i < 6; i++) {
    client_send(slow, "x");
    served_pass(s, 1);
  }
  assert_true(client_is_closed(slow));
  close(slow);
}

static void a_second_request_that_trickles_wins_no_time_either(void **state) {
  served *s = *state;
  char body[64];
  int slow = client_connect(s);
  assert_true(client_ask(s, slow, "/", ""));
  assert_int_equal(client_read(slow, body, sizeof body), 200);
  served_pass(s, 29);
  assert_true(client_send(slow, HALF_A_REQUEST));
  served_pass(s, 2);
  assert_true(client_is_closed(slow));
  close(slow);
}

static void an_idle_connection_may_ask_again_in_time(void **state) {
  served *s = *state;
  char body[64];
  int client = client_connect(s);
  for (int i = 0; i < 5; i++) {
    assert_true(client_ask(s, client, "/", ""));
    assert_int_equal(client_read(client, body, sizeof body), 200);
    served_pass(s, 25);
  }
  served_pass(s, 10);
  assert_true(client_is_closed(client));
  close(client);
}

/* ---- clients that do not read ---- */

/* More answers than the buffers between the two hold. */
static int connect_without_reading(const served *s) {
  int client = client_connect(s);
  assert_true(client >= 0);
  struct timeval soon = { .tv_usec = 200000 };
  setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof soon);
  for (int i = 0; i < 2000 && client_ask(s, client, "/board.js", ""); i++) continue;
  return client;
}

/* Whether the server sends, or waits until it can, does not show from outside; that it has forgotten the
 * client does, in its memory. */
static void an_unread_answer_is_dropped(void **state) {
  served *s = *state;
  assert_int_equal(fetch(s, "/api/runs"), 200);
  served_settle(s);
  size_t before = atomic_load(&s->used);
  int deaf = connect_without_reading(s);
  for (int i = 0; i < 1000 && (i == 0 || atomic_load(&s->used) > before); i++) served_pass(s, 31);
  assert_int_equal(atomic_load(&s->used), before);
  assert_true(client_is_closed(deaf)); /* after all that was on its way */
  close(deaf);
}

static void unread_answers_do_not_lock_others_out(void **state) {
  served *s = *state;
  int deaf[8];
  s->limits.clients.most = s->limits.clients.per_address = 6;
  assert_true(served_start(s));
  for (int i = 0; i < 8; i++) deaf[i] = connect_without_reading(s);
  assert_int_equal(fetch(s, "/api/runs"), 200);
  close_all(deaf, 8);
}

/* ---- who gives way ---- */

static void one_address_does_not_take_the_place_of_another(void **state) {
  served *s = *state;
  int patient = client_connect(s), greedy[MANY];
  assert_true(client_send(patient, HALF_A_REQUEST));
  connect_many(s, greedy, MANY, 2, HALF_A_REQUEST);
  assert_int_equal(fetch(s, "/"), 200);
  assert_true(client_is_open(patient));
  close(patient);
  close_all(greedy, MANY);
}

static void a_follower_stays_when_others_come_and_go(void **state) {
  served *s = *state;
  char piece[512];
  int crowd[MANY], follower = client_connect(s);
  assert_true(client_ask(s, follower, "/api/runs/1/events", ""));
  assert_true(recv(follower, piece, sizeof piece, 0) > 0);
  connect_many(s, crowd, MANY, 1, HALF_A_REQUEST);
  assert_int_equal(fetch(s, "/"), 200);
  assert_true(client_is_open(follower));
  close(follower);
  close_all(crowd, MANY);
}

static int start_with_a_run(void **state) {
  if (served_set_up(state) != 0) return -1;
  served *s = *state;
  static const float losses[] = { 3, 2, 1 };
  return served_add_run(s, "model {}", losses, 3) == 1 && served_start(s) ? 0 : -1;
}

static void the_oldest_follower_gives_way_to_a_new_one(void **state) {
  served *s = *state;
  char piece[512];
  int followers[20];
  for (int i = 0; i < 20; i++) {
    followers[i] = client_connect(s);
    assert_true(client_ask(s, followers[i], "/api/runs/1/events", ""));
    assert_true(recv(followers[i], piece, sizeof piece, 0) > 0);
  }
  assert_int_equal(fetch(s, "/"), 200);
  for (int i = 0; i < 4; i++) assert_true(client_is_closed(followers[i]));
  served_pass(s, 3600); /* who follows and reads may stay forever */
  for (int i = 4; i < 20; i++) assert_true(send(followers[i], "", 0, MSG_NOSIGNAL) == 0);
  close_all(followers, 20);
}

static void a_browser_has_its_six_connections_in_a_crowd(void **state) {
  served *s = *state;
  char body[64];
  int crowd[MANY], browser[6];
  for (int i = 0; i < 6; i++) browser[i] = client_connect(s);
  for (int round = 0; round < 5; round++) {
    connect_many(s, crowd, 40, 2, HALF_A_REQUEST);
    for (int i = 0; i < 6; i++) {
      assert_true(client_ask(s, browser[i], "/api/runs", ""));
      assert_int_equal(client_read(browser[i], body, sizeof body), 200);
    }
    close_all(crowd, 40);
  }
  close_all(browser, 6);
}

/* ---- requests that are too much, or none ---- */

static void headers_are_bounded_in_bytes(void **state) {
  served *s = *state;
  static char request[200000];
  int client = client_connect(s), used = 0;
  used = snprintf(request, sizeof request, "GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nX-Long: ", s->port);
  memset(request + used, 'x', 100000);
  strcpy(request + used + 100000, "\r\n\r\n");
  client_send(client, request);
  int status = client_read(client, request, sizeof request);
  assert_true(status == 431 || status == 413 || status == 0);
  close(client);
  assert_int_equal(fetch(s, "/"), 200);
}

static void headers_are_bounded_in_number(void **state) {
  served *s = *state;
  char headers[800] = "", body[64];
  for (int i = 0; i < 99; i++) strcat(headers, "a:b\r\n");
  assert_int_equal(fetch_with(s, "/", headers, body, sizeof body), 200);
  for (int i = 0; i < 10; i++) strcat(headers, "a:b\r\n");
  assert_int_equal(fetch_with(s, "/", headers, body, sizeof body), 431);
}

static void a_body_is_refused_unread(void **state) {
  served *s = *state;
  char body[64], request[256];
  int client = client_connect(s);
  snprintf(request, sizeof request,
           "POST / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 1000000000000\r\n\r\n", s->port);
  assert_true(client_send(client, request));
  assert_int_equal(client_read(client, body, sizeof body), 405);
  assert_true(client_is_closed(client));
  close(client);
  client = client_connect(s);
  assert_true(client_ask(s, client, "/", "Content-Length: 1000000000000\r\n"));
  assert_int_equal(client_read(client, body, sizeof body), 413);
  assert_true(client_is_closed(client));
  close(client);
}

static void requests_in_one_piece_are_answered_in_order(void **state) {
  served *s = *state;
  char request[512], body[64];
  int client = client_connect(s);
  snprintf(request, sizeof request,
           "GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\nGET /nothing HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n"
           "GET /api/runs HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", s->port, s->port, s->port);
  assert_true(client_send(client, request));
  assert_int_equal(client_read(client, body, sizeof body), 200);
  assert_int_equal(client_read(client, body, sizeof body), 404);
  assert_int_equal(client_read(client, body, sizeof body), 200);
  assert_non_null(strstr(body, "\"ok\":true"));
  close(client);
}

/* Any bytes at all, and requests with some of their bytes changed. */
static void noise_breaks_nothing(void **state) {
  served *s = *state;
  unsigned random = 12345;
  for (int round = 0; round < 300; round++) {
    char text[512];
    int length = snprintf(text, sizeof text,
                          "GET /api/runs?a=b#c HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nOrigin: x\r\n"
                          "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n5\r\nab", s->port);
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
}

/* ---- who may ask ---- */

static void only_its_own_page_may_ask(void **state) {
  served *s = *state;
  static const struct {
    const char *headers;
    int status;
  } cases[] = {
    { "Sec-Fetch-Site: same-origin\r\n", 200 },
    { "Sec-Fetch-Site: none\r\n", 200 },
    { "Sec-Fetch-Site: cross-site\r\n", 403 },
    { "Sec-Fetch-Site: same-site\r\n", 403 }, /* another port of this machine */
    { "Sec-Fetch-Site: \r\n", 403 },
    { "Sec-Fetch-Site: Same-Origin, none\r\n", 403 },
    { "sec-fetch-site: cross-site\r\n", 403 },
    { "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Site: cross-site\r\n", 403 },
    { "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Site: same-origin\r\n", 403 },
    { "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n", 403 },
    { "Origin: null\r\n", 403 },
    { "Origin: http://evil.example\r\n", 403 },
    { "Origin: http://evil.example\r\nSec-Fetch-Site: same-origin\r\n", 403 },
    { "Host: evil.example\r\n", 403 }, /* a second one */
  };
  char body[512];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int status = fetch_with(s, "/api/runs", cases[i].headers, body, sizeof body);
    if (status == 400 && cases[i].status == 403) continue; /* the parser refuses it already */
    if (status != cases[i].status) fail_msg("%s gives %d", cases[i].headers, status);
  }
}

static void another_name_for_this_machine_is_refused(void **state) {
  served *s = *state;
  static const struct {
    const char *host, *after;
  } hosts[] = { { "evil.example:", "" },      { "127.0.0.1.evil.example:", "" }, { "localhost.:", "" },
                { "127.1:", "" },             { "127.0.0.1:", "0" },             { "user@127.0.0.1:", "" },
                { "127.0.0.1:", "/" },        { "127.0.0.1:", "@evil.example" }, { "0.0.0.0:", "" },
                { "evil.example#127.0.0.1:", "" } };
  for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
    char request[256], body[256];
    int client = client_connect(s);
    snprintf(request, sizeof request, "GET /api/runs HTTP/1.1\r\nHost: %s%d%s\r\n\r\n", hosts[i].host,
             s->port, hosts[i].after);
    assert_true(client_send(client, request));
    int status = client_read(client, body, sizeof body);
    if (status != 403 && status != 400) fail_msg("%s gives %d", request, status);
    close(client);
  }
}

/* ---- memory ---- */

static void a_thousand_requests_leave_no_memory_behind(void **state) {
  served *s = *state;
  static const char *const paths[] = { "/api/runs", "/api/runs/1", "/api/runs/1/graph", "/api/runs/1/params",
                                       "/board.js", "/nothing" };
  size_t before = 0;
  for (int i = 0; i < 1100; i++) {
    assert_int_not_equal(fetch(s, paths[i % 6]), 0);
    if (i != 100) continue;
    served_settle(s);
    before = atomic_load(&s->used);
  }
  served_settle(s);
  assert_true(atomic_load(&s->used) <= before);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    SERVED(many_unfinished_requests_do_not_lock_others_out, start),
    SERVED(many_silent_connections_do_not_lock_others_out, start),
    SERVED(many_addresses_do_not_lock_others_out, start),
    SERVED(a_request_must_be_whole_in_time, start),
    SERVED(a_trickle_of_bytes_wins_no_time, start),
    SERVED(a_second_request_that_trickles_wins_no_time_either, start),
    SERVED(an_idle_connection_may_ask_again_in_time, start),
    SERVED(an_unread_answer_is_dropped, start),
    SERVED(unread_answers_do_not_lock_others_out, served_set_up),
    SERVED(one_address_does_not_take_the_place_of_another, start),
    SERVED(a_follower_stays_when_others_come_and_go, start_with_a_run),
    SERVED(the_oldest_follower_gives_way_to_a_new_one, start_with_a_run),
    SERVED(a_browser_has_its_six_connections_in_a_crowd, start),
    SERVED(headers_are_bounded_in_bytes, start),
    SERVED(headers_are_bounded_in_number, start),
    SERVED(a_body_is_refused_unread, start),
    SERVED(requests_in_one_piece_are_answered_in_order, start),
    SERVED(noise_breaks_nothing, start),
    SERVED(only_its_own_page_may_ask, start),
    SERVED(another_name_for_this_machine_is_refused, start),
    SERVED(a_thousand_requests_leave_no_memory_behind, start_with_a_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
