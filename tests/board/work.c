/* What takes long on the board: weights and drawings, while everybody else is served. */
#define _DEFAULT_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fcntl.h>
#include <math.h>
#include <sys/un.h>

#include "base/file.h"
#include "data/safetensors.h"
#include "support/served.h"

static char body[1 << 20];

static void start(served *s) { assert_true(served_start(s)); }

static void add_runs(served *s, int count, const char *source) {
  for (int i = 0; i < count; i++) {
    char text[32];
    snprintf(text, sizeof text, "%s %d", source, i); /* no two are the same drawing */
    assert_int_not_equal(served_add_run(s, text, NULL, 0), 0);
  }
}

static const char *path_of(int64_t run, const char *what) {
  static char path[64];
  snprintf(path, sizeof path, "/api/runs/%d/%s", (int)run, what);
  return path;
}

static int ask_graph(const served *s, int64_t run) {
  int client = client_connect(s);
  assert_true(client_ask(s, client, path_of(run, "graph"), ""));
  return client;
}

static void wait_until_drawn(const served *s, int count) {
  while (atomic_load(&s->drawn) < count) usleep(1000);
}

/* ---- jobs ---- */

static void others_are_served_while_a_graph_is_drawn(void **state) {
  served *s = *state;
  add_runs(s, 1, "slow");
  start(s);
  int waiting = ask_graph(s, 1);
  wait_until_drawn(s, 1);
  for (int i = 0; i < 10; i++) assert_int_equal(fetch(s, "/api/runs"), 200);
  assert_true(client_is_open(waiting));
  served_pass(s, 3600); /* who waits for us has no deadline */
  assert_true(client_is_open(waiting));
  atomic_store(&s->drawing_may_end, true);
  assert_int_equal(client_read(waiting, body, sizeof body), 200);
  assert_non_null(strstr(body, "<svg"));
  close(waiting);
}

static void the_same_question_is_answered_once(void **state) {
  served *s = *state;
  int waiting[20];
  add_runs(s, 1, "slow");
  start(s);
  for (int i = 0; i < 20; i++) waiting[i] = ask_graph(s, 1);
  wait_until_drawn(s, 1);
  served_settle(s);
  atomic_store(&s->drawing_may_end, true);
  for (int i = 0; i < 20; i++) {
    assert_int_equal(client_read(waiting[i], body, sizeof body), 200);
    close(waiting[i]);
  }
  assert_int_equal(fetch(s, path_of(1, "graph")), 200);
  assert_int_equal(atomic_load(&s->drawn), 1);
}

static void few_jobs_wait_and_one_more_is_refused(void **state) {
  served *s = *state;
  int waiting[8];
  add_runs(s, 9, "slow");
  start(s);
  for (int i = 0; i < 8; i++) waiting[i] = ask_graph(s, i + 1);
  assert_int_equal(fetch(s, "/"), 200); /* after which all of them have been asked for */
  assert_int_equal(fetch(s, path_of(9, "graph")), 503);
  assert_int_equal(fetch(s, "/api/runs"), 200);
  atomic_store(&s->drawing_may_end, true);
  for (int i = 0; i < 8; i++) {
    assert_int_equal(client_read(waiting[i], body, sizeof body), 200);
    close(waiting[i]);
  }
  assert_int_equal(fetch(s, path_of(9, "graph")), 200);
}

static void a_job_has_its_time(void **state) {
  served *s = *state;
  s->limits.job_seconds = 0.05;
  add_runs(s, 1, "slow");
  start(s);
  assert_int_equal(fetch_with(s, path_of(1, "graph"), "", body, sizeof body), 503);
  assert_non_null(strstr(body, "it takes too long"));
}

/* The server ends although a drawing would run forever: stop() hangs if it does not. */
static void stopping_stops_a_job(void **state) {
  served *s = *state;
  add_runs(s, 2, "slow");
  start(s);
  int running = ask_graph(s, 1), waiting = ask_graph(s, 2);
  wait_until_drawn(s, 1);
  close(waiting);
  (void)running;
}

static void waiting_clients_give_way_to_others_too(void **state) {
  served *s = *state;
  int waiting[6];
  s->limits.clients.most = s->limits.clients.per_address = 4;
  add_runs(s, 6, "slow");
  start(s);
  for (int i = 0; i < 6; i++) {
    waiting[i] = ask_graph(s, i + 1);
    served_settle(s); /* it waits, and is not on its way */
  }
  assert_int_equal(fetch(s, "/api/runs"), 200);
  assert_true(client_is_closed(waiting[0]));
  atomic_store(&s->drawing_may_end, true);
  for (int i = 0; i < 6; i++) close(waiting[i]);
  assert_int_equal(fetch(s, path_of(6, "graph")), 200);
}

static void drawings_that_are_kept_are_few(void **state) {
  served *s = *state;
  add_runs(s, 40, "quick");
  start(s);
  for (int i = 0; i < 20; i++) assert_int_equal(fetch(s, path_of(i + 1, "graph")), 200);
  served_settle(s);
  size_t before = atomic_load(&s->used);
  for (int i = 20; i < 40; i++) assert_int_equal(fetch(s, path_of(i + 1, "graph")), 200);
  served_settle(s);
  assert_true(atomic_load(&s->used) <= before);
  assert_int_equal(atomic_load(&s->drawn), 40);
}

/* Whatever memory is refused, the server answers something or nothing, ends well and keeps nothing. */
static void every_failed_allocation_is_survived(void **state) {
  served *s = *state;
  add_runs(s, 1, "quick");
  uint64_t requests = 0;
  for (uint64_t n = 1; n < 200; n += 5) {
    size_t held = s->heap.used;
    s->heap.requests = 0;
    s->heap.fail_at = n;
    start(s);
    for (int i = 0; i < 2; i++) {
      (void)fetch(s, "/api/runs");
      (void)fetch(s, path_of(1, "graph"));
      (void)fetch(s, path_of(1, "params"));
    }
    served_join(s);
    requests = s->heap.requests;
    tn_diags_clear(&s->diags);
    assert_int_equal(s->heap.used, held);
    if (requests < n) break;
  }
  s->heap.fail_at = 0;
  start(s);
  assert_int_equal(fetch(s, "/"), 200);
}

/* ---- weights ---- */

#define ELEMENTS 300000 /* more than one piece */

static void write_weights(served *s, int64_t run, const char *name, float scale, int copies) {
  char room[128], names[2000][16];
  static float elements[ELEMENTS];
  tn_named_view views[2000];
  tn_heap heap = { 0 }; /* the server's own is for its thread */
  tn_text text;
  for (int i = 0; i < ELEMENTS; i++) elements[i] = scale * (float)(i % 100);
  elements[7] = NAN;
  for (int i = 0; i < copies; i++) {
    int64_t length = copies > 1 ? 3 : ELEMENTS;
    tn_shape shape = tn_shape_of(&length, 1);
    snprintf(names[i], sizeof names[i], i == 1 ? "optimizer.%d" : "W%d", i);
    views[i] = (tn_named_view){ tn_str_of(names[i]), tn_view_make(elements, TN_F32, &shape) };
  }
  tn_text_init(&text, &heap);
  tn_safetensors_write(views, (size_t)copies, (tn_str){ 0 }, &text);
  assert_int_equal(tn_file_replace(&heap, served_file(s, run, name, room), tn_text_str(&text), NULL),
                   TN_FILE_OK);
  tn_text_free(&text);
}

static int fetch_params(const served *s, int64_t run) {
  return fetch_with(s, path_of(run, "params"), "", body, sizeof body);
}

static void the_numbers_of_weights_are_right(void **state) {
  served *s = *state;
  add_runs(s, 2, "x");
  write_weights(s, 1, "weights.safetensors", 1, 1);
  write_weights(s, 2, "checkpoint", 2, 1);
  start(s);
  assert_int_equal(fetch_params(s, 1), 200);
  assert_non_null(strstr(body, "\"name\":\"W0\",\"shape\":[300000],\"count\":300000,\"finite\":299999,"
                               "\"min\":0,\"max\":99,\"mean\":49.50014"));
  assert_non_null(strstr(body, "\"bins\":[12000,9000,8999,9000,"));
  assert_int_equal(fetch_params(s, 2), 200);
  assert_non_null(strstr(body, "\"min\":0,\"max\":198,"));
}

static void weights_that_change_are_read_again(void **state) {
  served *s = *state;
  add_runs(s, 1, "x");
  write_weights(s, 1, "weights.safetensors", 1, 1);
  start(s);
  assert_int_equal(fetch_params(s, 1), 200);
  assert_non_null(strstr(body, "\"max\":99,"));
  write_weights(s, 1, "weights.safetensors", 3, 1);
  assert_int_equal(fetch_params(s, 1), 200);
  assert_non_null(strstr(body, "\"max\":297,"));
}

static void many_tensors_are_shown_in_part(void **state) {
  served *s = *state;
  add_runs(s, 1, "x");
  write_weights(s, 1, "weights.safetensors", 1, 2000);
  start(s);
  assert_int_equal(fetch_params(s, 1), 200);
  assert_non_null(strstr(body, "\"omitted\":976"));
  assert_non_null(strstr(body, "\"W1023\""));
  assert_null(strstr(body, "\"W1024\""));
  assert_null(strstr(body, "optimizer"));
}

static void damaged_weights_are_not_shown(void **state) {
  served *s = *state;
  char room[128];
  add_runs(s, 1, "x");
  write_weights(s, 1, "weights.safetensors", 1, 1);
  start(s);
  int file = open(served_file(s, 1, "weights.safetensors", room), O_RDWR);
  assert_int_equal(pwrite(file, "\x01", 1, 1000000), 1);
  close(file);
  assert_int_equal(fetch_params(s, 1), 404);
  assert_non_null(strstr(body, "damaged"));
}

/* Eight gigabytes of holes with an honest header: reading them would take its time. */
static void large_weights_have_their_time_too(void **state) {
  served *s = *state;
  static const char header[] =
      "{\"W\":{\"dtype\":\"F32\",\"shape\":[2147483648],\"data_offsets\":[0,8589934592]}}";
  const char length[8] = { (char)(sizeof header - 1) };
  char room[128];
  s->limits.job_seconds = 0.05;
  add_runs(s, 1, "x");
  int file = open(served_file(s, 1, "weights.safetensors", room), O_WRONLY | O_CREAT, 0600);
  assert_int_equal(write(file, length, 8), 8);
  assert_int_equal(write(file, header, sizeof header - 1), sizeof header - 1);
  assert_int_equal(ftruncate(file, 8 + (off_t)sizeof header - 1 + ((off_t)1 << 33)), 0);
  close(file);
  start(s);
  assert_int_equal(fetch_params(s, 1), 503);
  assert_non_null(strstr(body, "it takes too long"));
}

/* Sizes that a file claims, or has: nothing is allocated for them, nothing reads forever. */
static void claims_of_a_file_are_not_believed(void **state) {
  served *s = *state;
  static const struct {
    const char *begin;
    size_t bytes;
    long long length;
  } files[] = {
    { "", 0, 0 },
    { "\xff\xff\xff\xff\xff\xff\xff\x7f{}", 10, 10 },
    { "\xff\xff\xff\xff\0\0\0\0{}", 10, 1LL << 40 }, /* with holes */
    { "\x02\0\0\0\0\0\0\0{}", 10, 1LL << 35 },
    { "\x4e\0\0\0\0\0\0\0{\"W\":{\"dtype\":\"F32\",\"shape\":[1099511627776],"
      "\"data_offsets\":[0,4398046511104]}}", 86, 86 },
  };
  char room[128];
  add_runs(s, 5, "x");
  for (int i = 0; i < 5; i++) {
    int file = open(served_file(s, i + 1, "weights.safetensors", room), O_WRONLY | O_CREAT, 0600);
    assert_int_equal(write(file, files[i].begin, files[i].bytes), files[i].bytes);
    assert_int_equal(ftruncate(file, files[i].length), 0);
    close(file);
  }
  start(s);
  for (int i = 0; i < 5; i++) assert_int_equal(fetch_params(s, i + 1), 404);
}

/* Not a plain file: opening a FIFO would wait for its other end forever. */
static void odd_files_are_not_opened(void **state) {
  served *s = *state;
  char room[128], elsewhere[128];
  add_runs(s, 6, "x");
  write_weights(s, 6, "real", 1, 1);
  assert_int_equal(mkfifo(served_file(s, 1, "weights.safetensors", room), 0600), 0);
  assert_int_equal(mkdir(served_file(s, 2, "weights.safetensors", room), 0700), 0);
  served_file(s, 6, "real", elsewhere);
  assert_int_equal(symlink(elsewhere, served_file(s, 3, "weights.safetensors", room)), 0);
  assert_int_equal(symlink("/dev/zero", served_file(s, 4, "weights.safetensors", room)), 0);
  struct sockaddr_un name = { .sun_family = AF_UNIX };
  served_file(s, 5, "weights.safetensors", room);
  memcpy(name.sun_path, room, strlen(room));
  int local = socket(AF_UNIX, SOCK_STREAM, 0);
  assert_int_equal(bind(local, (struct sockaddr *)&name, sizeof name), 0);
  start(s);
  for (int i = 0; i < 6; i++) assert_int_equal(fetch_params(s, i + 1), 404);
  close(local);
}

/* Also a run's folder is what the history says, and that may be anything. */
static void folders_that_are_none_have_no_weights(void **state) {
  served *s = *state;
  char room[128];
  add_runs(s, 3, "x");
  for (int i = 1; i <= 3; i++) assert_int_equal(rmdir(served_file(s, i, "", room)), 0);
  char folder[128];
  snprintf(folder, sizeof folder, "%s/1", s->folder);
  assert_int_equal(mkfifo(folder, 0600), 0);
  snprintf(folder, sizeof folder, "%s/2", s->folder);
  assert_int_equal(symlink("/dev/tty", folder), 0);
  start(s);
  for (int i = 1; i <= 3; i++) assert_int_equal(fetch_params(s, i), 404);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    SERVED(others_are_served_while_a_graph_is_drawn, served_set_up),
    SERVED(the_same_question_is_answered_once, served_set_up),
    SERVED(few_jobs_wait_and_one_more_is_refused, served_set_up),
    SERVED(a_job_has_its_time, served_set_up),
    SERVED(stopping_stops_a_job, served_set_up),
    SERVED(waiting_clients_give_way_to_others_too, served_set_up),
    SERVED(drawings_that_are_kept_are_few, served_set_up),
    SERVED(every_failed_allocation_is_survived, served_set_up),
    SERVED(the_numbers_of_weights_are_right, served_set_up),
    SERVED(weights_that_change_are_read_again, served_set_up),
    SERVED(many_tensors_are_shown_in_part, served_set_up),
    SERVED(damaged_weights_are_not_shown, served_set_up),
    SERVED(large_weights_have_their_time_too, served_set_up),
    SERVED(claims_of_a_file_are_not_believed, served_set_up),
    SERVED(odd_files_are_not_opened, served_set_up),
    SERVED(folders_that_are_none_have_no_weights, served_set_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
