/* support/served.h: a board on a thread, with a clock that tests set, and clients that do as they like.
 *
 * Time stands still unless a test moves it, so that no deadline passes because a machine is slow. What a
 * test waits for may take a minute: only a hang is a failure. */
#ifndef TN_TEST_SUPPORT_SERVED_H
#define TN_TEST_SUPPORT_SERVED_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "track/board/board.h"

#define HANG_SECONDS 60

typedef struct {
  tn_heap heap;
  tn_sources sources;
  tn_diags diags;
  char folder[64], store[96];
  tn_board_limits limits;
  int runs;
  pthread_t thread;
  bool ok;
  atomic_int port;
  tn_stop stop;
  atomic_llong now;     /* milliseconds */
  atomic_size_t used;   /* bytes of the heap, as the server saw them last */
  atomic_size_t rounds; /* of its loop */
  atomic_int drawn;
  atomic_bool drawing_may_end;
} served;

static void served_looked(void *context) {
  served *s = context;
  atomic_store(&s->used, s->heap.used);
  atomic_fetch_add(&s->rounds, 1);
}

static double served_now(void *context) {
  served *s = context;
  return (double)atomic_load(&s->now) / 1000;
}

static bool served_ready(void *context, int port) {
  served *s = context;
  atomic_store(&s->port, port);
  return true;
}

/* A program whose text is "slow" is drawn until the test lets go or the server wants to stop. */
static bool served_draw(void *context, tn_str program, tn_str source, tn_str open, tn_stop *stop,
                        tn_text *svg) {
  served *s = context;
  (void)program, (void)open;
  atomic_fetch_add(&s->drawn, 1);
  while (tn_str_starts(source, "slow") && !atomic_load(&s->drawing_may_end)) {
    if (tn_stop_asked(stop)) return false;
    usleep(1000);
  }
  tn_text_puts(svg, "<svg xmlns=\"http://www.w3.org/2000/svg\"/>");
  return true;
}

static void *served_thread(void *context) {
  served *s = context;
  tn_board_options options = { .heap = &s->heap,
                               .diags = &s->diags,
                               .store = s->store,
                               .limits = &s->limits,
                               .context = s,
                               .now = served_now,
                               .looked = served_looked,
                               .ready = served_ready,
                               .draw = served_draw };
  s->ok = tn_board_serve(&options);
  if (!s->ok) atomic_store(&s->port, -1);
  return NULL;
}

/* An empty folder, the usual limits, no server yet. */
static inline bool served_prepare(served *s) {
  *s = (served){ .limits = tn_board_usual_limits };
  s->heap.stop = &s->stop;
  s->limits.look_seconds = 0.01; /* of real time: tests do not wait for it long */
  tn_sources_init(&s->sources, &s->heap);
  tn_diags_init(&s->diags, &s->heap, &s->sources);
  snprintf(s->folder, sizeof s->folder, "/tmp/tern-board-XXXXXX");
  if (!mkdtemp(s->folder)) return false;
  snprintf(s->store, sizeof s->store, "%s/runs.db", s->folder);
  return true;
}

/* A run in the history, with a folder of its own (`served_file` names files there); its number. */
static inline int64_t served_add_run(served *s, const char *source, const float *losses, size_t count) {
  int64_t id = 0;
  char folder[96];
  tn_run_row row = { 0 };
  tn_store *store = tn_store_open(&s->heap, s->store, TN_STORE_WRITE, &s->diags, NULL);
  if (!store) return 0;
  snprintf(folder, sizeof folder, "%s/%d", s->folder, ++s->runs);
  row.value[TN_RUN_PROGRAM] = TN_LIT("toy.ail");
  row.value[TN_RUN_SOURCE] = tn_str_of(source);
  row.value[TN_RUN_STEPS] = TN_LIT("10");
  row.value[TN_RUN_FOLDER] = tn_str_of(folder);
  bool ok = mkdir(folder, 0700) == 0 && tn_store_begin(store, &row, 0, &id) &&
            tn_store_add(store, id, 0, losses, count, NULL, 0, 1.0);
  tn_store_close(store);
  return ok ? id : 0;
}

static inline const char *served_file(const served *s, int64_t run, const char *name, char room[128]) {
  snprintf(room, 128, "%s/%d/%s", s->folder, (int)run, name);
  return room;
}

/* False when there is no server: the build lacks its library. */
static inline bool served_start(served *s) {
  if (pthread_create(&s->thread, NULL, served_thread, s) != 0) return false;
  while (atomic_load(&s->port) == 0) usleep(1000);
  return atomic_load(&s->port) > 0;
}

/* Ends the server; it may be started again. */
static inline void served_join(served *s) {
  tn_stop_ask(&s->stop);
  pthread_join(s->thread, NULL);
  tn_stop_clear(&s->stop);
  atomic_store(&s->port, 0);
}

static inline void served_stop(served *s) {
  char command[128];
  served_join(s);
  tn_diags_free(&s->diags);
  tn_sources_free(&s->sources);
  snprintf(command, sizeof command, "rm -rf '%s'", s->folder);
  if (system(command) != 0) fprintf(stderr, "%s stays\n", s->folder);
}

/* Set-up and end of a test: a board that is prepared but not yet started. */
static inline int served_set_up(void **state) {
  static served board;
  *state = &board;
  return served_prepare(&board) ? 0 : -1;
}

static inline int served_tear_down(void **state) {
  served *s = *state;
  served_stop(s);
  assert_true(s->ok);
  assert_int_equal(s->heap.used, 0);
  return 0;
}

#define SERVED(test, set_up) cmocka_unit_test_setup_teardown(test, set_up, served_tear_down)

/* Returns when the server has done what there was to do. */
static inline void served_settle(const served *s) {
  size_t seen = atomic_load(&s->rounds);
  while (atomic_load(&s->rounds) < seen + 3) usleep(1000);
}

/* The clock goes on, after all that came before it and before all that follows from it. */
static inline void served_pass(served *s, double seconds) {
  served_settle(s);
  atomic_fetch_add(&s->now, (long long)(seconds * 1000));
  served_settle(s);
}

/* ---- clients ---- */

/* A connection from an address of this machine, 127.0.0.`last`. */
static inline int client_from(const served *s, int last) {
  struct sockaddr_in own = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000000u | (unsigned)last) };
  struct sockaddr_in board = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atomic_load(&s->port)) };
  struct timeval hang = { .tv_sec = HANG_SECONDS };
  board.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int descriptor = socket(AF_INET, SOCK_STREAM, 0);
  setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &hang, sizeof hang);
  setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &hang, sizeof hang);
  if (bind(descriptor, (struct sockaddr *)&own, sizeof own) == 0 &&
      connect(descriptor, (struct sockaddr *)&board, sizeof board) == 0)
    return descriptor;
  close(descriptor);
  return -1;
}

static inline int client_connect(const served *s) { return client_from(s, 1); }

/* False when the server has closed the connection. */
static inline bool client_send(int client, const char *text) {
  size_t left = strlen(text);
  while (left > 0) {
    ssize_t sent = send(client, text, left, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    text += sent, left -= (size_t)sent;
  }
  return true;
}

/* A request of this server's own page, with further headers, each with its end of line. */
static inline bool client_ask(const served *s, int client, const char *path, const char *headers) {
  char text[1024];
  snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s\r\n", path, atomic_load(&s->port),
           headers);
  return client_send(client, text);
}

/* Reads one answer, its body into `body`, cut to `size`. Its status; 0: the connection ended or hung. */
static inline int client_read(int client, char *body, size_t size) {
  char head[8192];
  size_t length = 0;
  while (length + 1 < sizeof head && (length < 4 || memcmp(head + length - 4, "\r\n\r\n", 4) != 0)) {
    if (recv(client, head + length, 1, 0) != 1) return 0;
    length++;
  }
  head[length] = 0;
  const char *announced = strstr(head, "Content-Length: ");
  size_t left = announced ? strtoul(announced + 16, NULL, 10) : 0, kept = 0;
  while (left > 0) {
    char piece[4096];
    ssize_t got = recv(client, piece, left < sizeof piece ? left : sizeof piece, 0);
    if (got <= 0) return 0;
    for (ssize_t i = 0; i < got && kept + 1 < size; i++) body[kept++] = piece[i];
    left -= (size_t)got;
  }
  if (size > 0) body[kept] = 0;
  return atoi(head + 9);
}

/* One request on a connection of its own: the status, and the answer's body. */
static inline int fetch_with(const served *s, const char *path, const char *headers, char *body,
                             size_t size) {
  int client = client_connect(s), status = 0;
  if (client < 0) return 0;
  if (client_ask(s, client, path, headers)) status = client_read(client, body, size);
  close(client);
  return status;
}

static inline int fetch(const served *s, const char *path) {
  char body[64];
  return fetch_with(s, path, "", body, sizeof body);
}

/* Whether the server ends the connection; what it sends before that is read. */
static inline bool client_is_closed(int client) {
  char piece[4096];
  ssize_t got;
  while ((got = recv(client, piece, sizeof piece, 0)) > 0) continue;
  return got == 0 || (got < 0 && errno == ECONNRESET);
}

/* Whether it is open; what is there to read is read. */
static inline bool client_is_open(int client) {
  char piece[4096];
  ssize_t got;
  while ((got = recv(client, piece, sizeof piece, MSG_DONTWAIT)) > 0) continue;
  return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}
#endif
