/* tests/unit/cluster_sockets.c: messages between real processes, and every way in which a peer can fail.
 *
 * A child is a rank that exits with 0 when all went well there. Where a test wants to send what no
 * transport would, the peer is a plain descriptor. `(t->fail)` is in parentheses because cmocka has a macro
 * of that name. */
#include "cluster/sockets.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>

#include "cluster_support.h"

/* A transport of two ranks; the other one is a descriptor. */
static int open_pair(rank *r) {
  int ends[2];
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  open_rank(r, 0, 2, (int[]){ -1, ends[0] });
  return ends[1];
}

static void put(int descriptor, const void *bytes, size_t count) {
  assert_int_equal(write(descriptor, bytes, count), count);
}

static void put_frame(int descriptor, uint32_t magic, uint32_t kind, uint64_t length) {
  put(descriptor, &magic, sizeof magic);
  put(descriptor, &kind, sizeof kind);
  put(descriptor, &length, sizeof length);
}
#define MAGIC 0x6e726574u

static void assert_failure(const rank *r, int number, bool silent, const char *part) {
  const tn_rank_failure *failure = &r->t->failure;
  assert_int_equal(failure->rank, number);
  assert_int_equal(failure->silent, silent);
  assert_string_equal(failure->host, "here");
  if (!strstr(failure->reason, part)) fail_msg("the reason is %s", failure->reason);
}

/* Moves until something fails; a minute is for what hangs. */
static bool move_all(rank *r) {
  for (int i = 0; i < 600 && r->t->pending > 0; i++) {
    if (!r->t->progress(r->t, 100)) return false;
  }
  return r->t->pending == 0;
}

/* ---- what arrives ---- */

#define MESSAGES 300

static size_t length_of(int from, int to, int i) { return (size_t)(i * 37 % 5003 + from * 11 + to); }

static unsigned char byte_of(int from, int to, int i, size_t at) {
  return (unsigned char)(from * 31 + to * 7 + i + (int)at);
}

static bool talk_to(rank *r, int other) {
  bool ok = true;
  for (int i = 0; i < MESSAGES && ok; i++) {
    size_t out_length = length_of(r->t->rank, other, i), in_length = length_of(other, r->t->rank, i);
    unsigned char *out = malloc(out_length + 1), *in = calloc(in_length + 1, 1);
    for (size_t k = 0; k < out_length; k++) out[k] = byte_of(r->t->rank, other, i, k);
    ok = r->t->send(r->t, other, out, out_length) && r->t->receive(r->t, other, in, in_length) &&
         tn_transport_wait(r->t);
    for (size_t k = 0; k < in_length && ok; k++) ok = in[k] == byte_of(other, r->t->rank, i, k);
    free(out);
    free(in);
  }
  return ok;
}

/* In an order that makes messages wait for their receivers. */
static bool talk_to_all(rank *r) {
  for (int k = 0; k < r->t->size; k++) {
    int other = (r->t->size + k - r->t->rank) % r->t->size;
    if (other != r->t->rank && !talk_to(r, other)) return false;
  }
  return true;
}

static void messages_arrive_whole_and_in_order_between_all_ranks(void **state) {
  (void)state;
  rank r;
  pid_t children[MOST];
  start(&r, 4, talk_to_all, children);
  assert_true(talk_to_all(&r));
  finish(&r, 4, children);
}

#define LARGE ((size_t)100 << 20)

static bool swap_large(rank *r) {
  int other = 1 - r->t->rank;
  unsigned char *out = malloc(LARGE), *in = malloc(LARGE);
  memset(out, 'a' + r->t->rank, LARGE);
  memset(in, 0, LARGE);
  bool ok = r->t->send(r->t, other, out, LARGE) && r->t->receive(r->t, other, in, LARGE) &&
            tn_transport_wait(r->t);
  for (size_t i = 0; i < LARGE && ok; i += 4099) ok = in[i] == 'a' + other;
  ok = ok && in[LARGE - 1] == 'a' + other;
  free(out);
  free(in);
  return ok;
}

static void a_hundred_megabytes_each_way_at_once_do_not_block(void **state) {
  (void)state;
  rank r;
  pid_t children[MOST];
  start(&r, 2, swap_large, children);
  assert_true(swap_large(&r));
  finish(&r, 2, children);
}

static void on_alarm(int number) { (void)number; }

static void signals_in_between_change_nothing(void **state) {
  (void)state;
  rank r;
  pid_t children[MOST];
  struct sigaction action = { .sa_handler = on_alarm };
  struct itimerval often = { { 0, 500 }, { 0, 500 } }, never = { 0 };
  sigaction(SIGALRM, &action, NULL);
  start(&r, 2, swap_large, children);
  setitimer(ITIMER_REAL, &often, NULL);
  bool ok = swap_large(&r);
  setitimer(ITIMER_REAL, &never, NULL);
  assert_true(ok);
  finish(&r, 2, children);
}

static void a_message_may_come_byte_by_byte_and_before_it_is_wanted(void **state) {
  (void)state;
  rank r;
  int peer = open_pair(&r);
  uint64_t length = 3;
  unsigned char whole[19] = { 't', 'e', 'r', 'n', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 'a', 'b', 'c' };
  const uint32_t magic = MAGIC, kind = 1;
  memcpy(whole, &magic, 4), memcpy(whole + 4, &kind, 4), memcpy(whole + 8, &length, 8);
  char in[4] = "...";
  for (size_t i = 0; i < sizeof whole; i++) {
    if (i == 17) assert_true(r.t->receive(r.t, 1, in, 3));
    put(peer, whole + i, 1);
    assert_true(r.t->progress(r.t, 0));
    assert_int_equal(r.t->pending, i >= 17 && i < 18);
  }
  assert_string_equal(in, "abc");
  close(peer);
  assert_false(r.t->progress(r.t, 0));
  close_rank(&r);
}

static void messages_of_no_bytes_count(void **state) {
  (void)state;
  rank r;
  int peer = open_pair(&r);
  assert_true(r.t->receive(r.t, 1, NULL, 0) && r.t->send(r.t, 1, NULL, 0));
  assert_int_equal(r.t->pending, 2);
  put_frame(peer, MAGIC, 1, 0);
  assert_true(move_all(&r));
  char frame[32];
  assert_int_equal(read(peer, frame, sizeof frame), 16);
  put_frame(peer, MAGIC, 3, 0);
  close_rank(&r);
  close(peer);
}

/* ---- peers that send what they should not ---- */

static void a_message_of_another_length_is_a_failure_and_writes_nothing(void **state) {
  (void)state;
  const uint64_t lengths[] = { 0, 7, 9, UINT64_MAX, (uint64_t)1 << 63 };
  for (size_t i = 0; i < COUNT_OF(lengths); i++) {
    rank r;
    int peer = open_pair(&r);
    char in[9] = "........";
    put_frame(peer, MAGIC, 1, lengths[i]);
    put(peer, "overflow!", 9);
    assert_true(i % 2 == 0 || r.t->progress(r.t, 0)); /* before and after it is wanted */
    assert_true(r.t->receive(r.t, 1, in, 8));
    assert_false(move_all(&r));
    assert_failure(&r, 1, false, "another length");
    assert_string_equal(in, "........");
    close(peer);
    close_rank(&r);
  }
}

static void invalid_messages_are_a_failure(void **state) {
  (void)state;
  const struct {
    uint32_t magic, kind;
    uint64_t length;
  } frames[] = { { 0, 1, 8 },     { MAGIC + 1, 1, 8 }, { MAGIC, 0, 8 },   { MAGIC, 4, 8 },
                 { MAGIC, 2, 0 }, { MAGIC, 2, 1 << 30 }, { MAGIC, 3, 1 }, { ~0u, ~0u, ~(uint64_t)0 } };
  for (size_t i = 0; i < COUNT_OF(frames); i++) {
    rank r;
    int peer = open_pair(&r);
    char in[8];
    assert_true(r.t->receive(r.t, 1, in, sizeof in));
    put_frame(peer, frames[i].magic, frames[i].kind, frames[i].length);
    put(peer, "12345678", 8);
    assert_false(move_all(&r));
    assert_failure(&r, 1, false, "not a message");
    close(peer);
    close_rank(&r);
  }
}

static void random_bytes_never_do_more_than_fail(void **state) {
  (void)state;
  uint64_t seed = 18;
  for (int i = 0; i < effort(2000); i++) {
    rank r;
    int peer = open_pair(&r);
    char in[24] = { 0 };
    unsigned char bytes[64];
    for (size_t k = 0; k < sizeof bytes; k++) bytes[k] = (unsigned char)random_bits(&seed);
    if (i % 2) memcpy(bytes, &(uint32_t){ MAGIC }, 4);
    if (i % 4 == 3) memcpy(bytes + 4, &(uint32_t){ (uint32_t)i / 4 % 4 }, 4);
    assert_true(r.t->receive(r.t, 1, in, 16));
    put(peer, bytes, sizeof bytes);
    close(peer);
    assert_false(move_all(&r));
    assert_int_equal(r.t->failure.rank, 1);
    assert_memory_equal(in + 16, "\0\0\0\0\0\0\0\0", 8);
    close_rank(&r);
  }
}

/* Whatever it says, the rank it names is one of the training, and its texts end. */
static void a_notice_of_failure_is_not_trusted(void **state) {
  (void)state;
  const int named[] = { -1, 2, 1 << 30, INT32_MIN };
  for (size_t i = 0; i < COUNT_OF(named); i++) {
    rank r;
    int peer = open_pair(&r);
    tn_rank_failure told;
    memset(&told, 'x', sizeof told);
    told.rank = named[i];
    told.silent = false;
    put_frame(peer, MAGIC, 2, sizeof told);
    put(peer, &told, sizeof told);
    assert_false(r.t->progress(r.t, 1000));
    assert_int_equal(r.t->failure.rank, 1);
    assert_int_equal(strlen(r.t->failure.host), TN_HOST_BYTES - 1);
    assert_int_equal(strlen(r.t->failure.reason), TN_REASON_BYTES - 1);
    close(peer);
    close_rank(&r);
  }
}

/* ---- peers that end ---- */

static bool die_in_a_message(rank *r) {
  static char half[1 << 20];
  r->t->send(r->t, 0, half, sizeof half);
  r->t->progress(r->t, 0);
  raise(SIGKILL);
  return false;
}

static void a_rank_killed_in_the_middle_of_a_message_is_lost(void **state) {
  (void)state;
  rank r;
  pid_t children[MOST];
  char *in = malloc(1 << 20);
  start(&r, 2, die_in_a_message, children);
  assert_true(r.t->receive(r.t, 1, in, 1 << 20));
  assert_false(move_all(&r));
  assert_failure(&r, 1, true, "gone");
  assert_false(r.t->send(r.t, 1, in, 1));
  assert_false(r.t->receive(r.t, 1, in, 1));
  assert_false(r.t->progress(r.t, 0));
  close_rank(&r);
  assert_int_equal(waitpid(children[1], NULL, 0), children[1]);
  free(in);
}

static void a_rank_that_is_lost_is_noticed_though_nothing_is_wanted_of_it(void **state) {
  (void)state;
  rank r;
  int peer = open_pair(&r);
  assert_true(r.t->progress(r.t, 0));
  close(peer);
  assert_false(r.t->progress(r.t, 0));
  assert_failure(&r, 1, true, "gone");
  close_rank(&r);
}

static void sending_to_a_lost_rank_is_a_failure_and_no_signal(void **state) {
  (void)state;
  rank r;
  int peer = open_pair(&r);
  char *out = calloc(1 << 20, 1);
  assert_true(r.t->send(r.t, 1, out, 1 << 20));
  assert_true(r.t->progress(r.t, 0)); /* what the kernel takes */
  put_frame(peer, MAGIC, 1, 4);       /* early, so that the end cannot be read */
  assert_true(r.t->progress(r.t, 0));
  close(peer);
  assert_false(move_all(&r));
  assert_failure(&r, 1, true, "gone");
  close_rank(&r);
  free(out);
}

static bool explain(void *context, int number, char *reason) {
  (*(int *)context)++;
  reason[0] = (char)('0' + number), reason[1] = 0;
  return true;
}

static void a_witness_says_why_a_rank_has_ended(void **state) {
  (void)state;
  int ends[2], asked = 0;
  rank r = { 0 };
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  tn_sockets_witness witness = { .context = &asked, .explain = explain };
  r.t = tn_sockets_new(&r.heap, 0, 2, (int[]){ -1, ends[0] }, TN_LIT("here"), &witness);
  close(ends[1]);
  assert_false(r.t->progress(r.t, 0) || r.t->progress(r.t, 0));
  assert_int_equal(asked, 1);
  assert_failure(&r, 1, true, "1");
  close_rank(&r);
}

static int find_stopped(void *context) { return ++*(int *)context < 3 ? -1 : 1; }

static void a_witness_says_that_a_rank_is_stopped_while_it_is_waited_for(void **state) {
  (void)state;
  int ends[2], asked = 0;
  char in[4];
  rank r = { 0 };
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  tn_sockets_witness witness = { .context = &asked, .find_stopped = find_stopped };
  r.t = tn_sockets_new(&r.heap, 0, 2, (int[]){ -1, ends[0] }, TN_LIT("here"), &witness);
  assert_true(r.t->receive(r.t, 1, in, sizeof in));
  assert_true(r.t->progress(r.t, 0));
  assert_int_equal(asked, 0);
  assert_false(tn_transport_wait(r.t));
  assert_int_equal(asked, 3);
  assert_failure(&r, 1, false, "it is stopped (SIGSTOP)");
  close(ends[1]);
  close_rank(&r);
}

static void a_rank_that_hangs_is_waited_for_as_long_as_the_caller_wants(void **state) {
  (void)state;
  rank r;
  int peer = open_pair(&r);
  char in[4];
  assert_true(r.t->receive(r.t, 1, in, sizeof in));
  for (int i = 0; i < 3; i++) {
    assert_true(r.t->progress(r.t, 60));
    assert_int_equal(r.t->pending, 1);
  }
  tn_stop_limit(&r.stop, 0.1);
  assert_false(tn_transport_wait(r.t));
  assert_int_equal(r.t->failure.rank, -1);
  close(peer);
  (r.t->fail)(r.t, TN_LIT("time"));
  close_rank(&r);
}

static tn_stop *to_stop;
static void on_alarm_stop(int number) {
  (void)number;
  tn_stop_ask(to_stop);
}

static void a_signal_to_stop_ends_waiting_without_a_failed_rank(void **state) {
  (void)state;
  rank r;
  int peer = open_pair(&r);
  char in[4];
  struct sigaction action = { .sa_handler = on_alarm_stop };
  struct itimerval soon = { .it_value = { 0, 20000 } };
  to_stop = &r.stop;
  sigaction(SIGALRM, &action, NULL);
  assert_true(r.t->receive(r.t, 1, in, sizeof in));
  setitimer(ITIMER_REAL, &soon, NULL);
  assert_false(tn_transport_wait(r.t));
  assert_int_equal(r.t->failure.rank, -1);
  (r.t->fail)(r.t, TN_LIT("interrupted"));
  assert_failure(&r, 0, false, "interrupted");
  close_rank(&r);
  tn_rank_failure told;
  char frame[16];
  assert_int_equal(read(peer, frame, sizeof frame), sizeof frame);
  assert_int_equal(read(peer, &told, sizeof told), sizeof told);
  assert_int_equal(told.rank, 0);
  assert_string_equal(told.reason, "interrupted");
  close(peer);
}

/* Rank 3 fails; 1 waits for 2 and 2 for 3. Everybody hears who it was. */
static bool fail_in_a_chain(rank *r) {
  char in[4];
  if (r->t->rank == 3) {
    (r->t->fail)(r->t, TN_LIT("no memory"));
    return true;
  }
  r->t->receive(r->t, r->t->rank + 1, in, sizeof in);
  bool heard = !move_all(r) && r->t->failure.rank == 3 && strcmp(r->t->failure.reason, "no memory") == 0;
  (r->t->fail)(r->t, TN_LIT("not this"));
  return heard && r->t->failure.rank == 3 && !tn_transport_tells(r->t);
}

static void what_a_rank_says_of_its_failure_reaches_all(void **state) {
  (void)state;
  rank r;
  pid_t children[MOST];
  start(&r, 4, fail_in_a_chain, children);
  char in[4];
  r.t->receive(r.t, 1, in, sizeof in);
  assert_false(move_all(&r));
  assert_failure(&r, 3, false, "no memory");
  assert_true(tn_transport_tells(r.t));
  finish(&r, 4, children);
}

/* The notice comes after a message that is under way, and instead of those that are not. */
static bool fail_while_sending(rank *r) {
  char *out = calloc(1 << 20, 1);
  r->t->send(r->t, 0, out, 1 << 20);
  r->t->send(r->t, 0, out, 4);
  r->t->progress(r->t, 0);
  (r->t->fail)(r->t, TN_LIT("enough"));
  free(out);
  return true;
}

static void a_failure_is_sent_after_the_message_in_progress(void **state) {
  (void)state;
  rank r;
  pid_t children[MOST];
  char *in = malloc(1 << 20);
  start(&r, 2, fail_while_sending, children);
  assert_true(r.t->receive(r.t, 1, in, 1 << 20));
  assert_true(r.t->receive(r.t, 1, in, 4));
  assert_false(move_all(&r));
  assert_failure(&r, 1, false, "enough");
  finish(&r, 2, children);
  free(in);
}

/* A training that is stopped frees everything, and then tells the others. */
static bool stop_while_both_ways_are_under_way(rank *r) {
  char *out = malloc(1 << 20), *in = malloc(1 << 20);
  memset(out, 1, 1 << 20);
  bool ok = r->t->send(r->t, 0, out, 1 << 20) && r->t->receive(r->t, 0, in, 1 << 20);
  ok = ok && r->t->progress(r->t, 1000);
  tn_stop_ask(&r->stop);
  ok = ok && !r->t->progress(r->t, 1000) && r->t->pending == 0 && r->t->failure.rank < 0;
  free(out);
  free(in);
  ok = ok && !r->t->send(r->t, 0, "x", 1) && !r->t->progress(r->t, 0);
  (r->t->fail)(r->t, TN_LIT("stopped"));
  return ok;
}

static void queued_messages_are_dropped_when_a_rank_stops(void **state) {
  (void)state;
  rank r;
  pid_t children[MOST];
  char *out = calloc(1 << 20, 1), *in = calloc(1 << 20, 1);
  start(&r, 2, stop_while_both_ways_are_under_way, children);
  assert_true(r.t->send(r.t, 1, out, 1 << 20) && r.t->receive(r.t, 1, in, 1 << 20));
  while (r.t->failure.rank < 0) (void)r.t->progress(r.t, 100);
  assert_failure(&r, 1, false, "stopped");
  finish(&r, 2, children);
  free(out);
  free(in);
}

/* The message that nobody waits for hides the end. */
static void a_rank_that_stops_sees_which_rank_has_ended(void **state) {
  (void)state;
  rank r;
  int peer = open_pair(&r);
  put_frame(peer, MAGIC, 1, 8);
  put(peer, "12345678", 8);
  assert_true(r.t->progress(r.t, 0));
  close(peer);
  assert_true(r.t->progress(r.t, 0));
  tn_stop_ask(&r.stop);
  assert_false(r.t->progress(r.t, 0));
  assert_failure(&r, 1, true, "gone");
  close_rank(&r);
}

static void a_rank_whose_peers_do_not_listen_still_ends(void **state) {
  (void)state;
  rank r;
  int peer = open_pair(&r);
  char *out = calloc(1 << 20, 1);
  assert_true(r.t->send(r.t, 1, out, 1 << 20));
  assert_true(r.t->progress(r.t, 0));
  (r.t->fail)(r.t, TN_LIT("nobody hears it"));
  close_rank(&r);
  close(peer);
  free(out);
}

static bool send_and_end(rank *r) {
  return r->t->send(r->t, 0, "abc", 4) && r->t->send(r->t, 0, "def", 4) && tn_transport_wait(r->t);
}

static void an_orderly_end_is_not_a_failure_and_messages_arrive(void **state) {
  (void)state;
  rank r;
  pid_t children[MOST];
  start(&r, 3, send_and_end, children);
  for (int i = 1; i < 3; i++) { /* both are gone before anything is received */
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)children[i], &info, WEXITED | WNOWAIT), 0);
  }
  for (int i = 0; i < 3; i++) assert_true(r.t->progress(r.t, 0));
  for (int i = 2; i >= 1; i--) {
    char in[2][4];
    assert_true(r.t->receive(r.t, i, in[0], 4) && r.t->receive(r.t, i, in[1], 4) && move_all(&r));
    assert_string_equal(in[0], "abc");
    assert_string_equal(in[1], "def");
  }
  char more[4];
  assert_true(r.t->progress(r.t, 0));
  assert_false(r.t->receive(r.t, 1, more, 4) && move_all(&r));
  assert_failure(&r, 1, false, "before the others");
  finish(&r, 3, children);
}

static void only_one_rank_tells_the_user(void **state) {
  (void)state;
  for (int failed = 0; failed < 3; failed++) {
    for (int silent = 0; silent < 2; silent++) {
      int tells = 0;
      for (int i = 0; i < 3; i++) {
        tn_transport t = { .rank = i, .size = 3, .failure = { .rank = failed, .silent = silent } };
        bool gone = i == failed && silent;
        tells += !gone && tn_transport_tells(&t);
      }
      assert_int_equal(tells, 1);
    }
  }
}

/* ---- the beginning ---- */

static void without_memory_the_descriptors_stay_the_callers(void **state) {
  (void)state;
  int ends[2];
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  for (uint64_t i = 1; i <= 3; i++) {
    tn_heap heap = { .fail_at = i };
    assert_null(tn_sockets_new(&heap, 0, 2, (int[]){ -1, ends[0] }, TN_LIT("here"), NULL));
    assert_int_equal(heap.used, 0);
    assert_true(fcntl(ends[0], F_GETFD) >= 0);
  }
  tn_heap heap = { .fail_at = 4 };
  tn_transport *t = tn_sockets_new(&heap, 0, 2, (int[]){ -1, ends[0] }, TN_LIT("here"), NULL);
  assert_non_null(t);
  assert_false(t->send(t, 1, "x", 1));
  assert_int_equal(t->failure.rank, 0);
  t->close(t);
  assert_int_equal(heap.used, 0);
  close(ends[1]);
}

static void invalid_ranks_and_descriptors_are_refused(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  int none[TN_SOCKETS_MOST + 1] = { -1, -1 };
  const int wrong[][2] = { { -1, 2 }, { 2, 2 }, { 0, 0 }, { 0, -1 }, { 0, TN_SOCKETS_MOST + 1 }, { 0, 2 } };
  for (size_t i = 0; i < COUNT_OF(wrong); i++)
    assert_null(tn_sockets_new(&heap, wrong[i][0], wrong[i][1], none, TN_LIT("here"), NULL));
  assert_int_equal(heap.used, 0);
}

static void a_single_rank_waits_for_no_other(void **state) {
  (void)state;
  rank r;
  open_rank(&r, 0, 1, (int[]){ -1 });
  assert_true(r.t->progress(r.t, 0) && tn_transport_wait(r.t));
  close_rank(&r);
}

int main(void) {
  signal(SIGPIPE, SIG_IGN);
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(messages_arrive_whole_and_in_order_between_all_ranks),
    cmocka_unit_test(a_hundred_megabytes_each_way_at_once_do_not_block),
    cmocka_unit_test(signals_in_between_change_nothing),
    cmocka_unit_test(a_message_may_come_byte_by_byte_and_before_it_is_wanted),
    cmocka_unit_test(messages_of_no_bytes_count),
    cmocka_unit_test(a_message_of_another_length_is_a_failure_and_writes_nothing),
    cmocka_unit_test(invalid_messages_are_a_failure),
    cmocka_unit_test(random_bytes_never_do_more_than_fail),
    cmocka_unit_test(a_notice_of_failure_is_not_trusted),
    cmocka_unit_test(a_rank_killed_in_the_middle_of_a_message_is_lost),
    cmocka_unit_test(a_rank_that_is_lost_is_noticed_though_nothing_is_wanted_of_it),
    cmocka_unit_test(sending_to_a_lost_rank_is_a_failure_and_no_signal),
    cmocka_unit_test(a_witness_says_why_a_rank_has_ended),
    cmocka_unit_test(a_witness_says_that_a_rank_is_stopped_while_it_is_waited_for),
    cmocka_unit_test(a_rank_that_hangs_is_waited_for_as_long_as_the_caller_wants),
    cmocka_unit_test(a_signal_to_stop_ends_waiting_without_a_failed_rank),
    cmocka_unit_test(what_a_rank_says_of_its_failure_reaches_all),
    cmocka_unit_test(a_failure_is_sent_after_the_message_in_progress),
    cmocka_unit_test(queued_messages_are_dropped_when_a_rank_stops),
    cmocka_unit_test(a_rank_that_stops_sees_which_rank_has_ended),
    cmocka_unit_test(a_rank_whose_peers_do_not_listen_still_ends),
    cmocka_unit_test(an_orderly_end_is_not_a_failure_and_messages_arrive),
    cmocka_unit_test(only_one_rank_tells_the_user),
    cmocka_unit_test(without_memory_the_descriptors_stay_the_callers),
    cmocka_unit_test(invalid_ranks_and_descriptors_are_refused),
    cmocka_unit_test(a_single_rank_waits_for_no_other),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
