/* tests/unit/cluster_train.c: a training in several processes has the bits of one alone, and finds out when
 * its ranks do not agree. */
#include <signal.h>

#include "api/door.h"
#include "cluster_support.h"
#include "tern/tern.h"

/* 4 and 5 ranks do not divide 6 shards; dropout, clipping, Adam, an embedding, evaluation. */
static const char program_text[] =
    "model {\n  tokens [B, 4]\n  labels [B]\n  param E [40, 30]\n  param W [30, 3]\n  param U [2]\n"
    "  x = dropout(meanpool(embedding(tokens, E)), 0.2)\n  logits = linear(x, W)\n}\n"
    "train { loss = xent(logits, labels) steps = 20 lr = 0.05 batch = 12 shards = 6 optimizer = \"adam\" "
    "clip_norm = 0.5 }\n";

/* Without a norm ranks that share memory read only their own sums. Tensors of several ranks, one
 * without a gradient that decays. */
static const char unclipped_text[] =
    "model {\n  x [B, 4]\n  labels [B]\n  param W [4, 1700]\n  param V [1700, 3]\n  param U [2000]\n"
    "  logits = matmul(tanh(matmul(x, W)), V)\n}\n"
    "train { loss = xent(logits, labels) steps = 9 lr = 0.05 batch = 12 shards = 6 optimizer = \"adamw\" "
    "weight_decay = 0.1 }\n";

typedef struct {
  const char *text;
  uint64_t seed;
  int64_t steps;
} job;

static tern_session *open_session(uint64_t seed) {
  const char *problem = NULL;
  tern_options options = { .threads = 1, .seed = seed, .has_seed = 1 };
  tern_session *session = tern_session_new(&options, &problem);
  if (!session) fail_msg("%s", problem);
  return session;
}

static int followed; /* ranks, as a follower of the last training of this process was told; 0: of nothing */
static void follow(void *context, const tern_run_facts *facts) {
  (void)context;
  followed = facts->ranks;
}

static bool warned; /* that ranks idle, by the last training of this process */

/* What a rank does. `result`: the SHA-256 of the weights, or the first code and its fields. */
static bool train(tn_transport *t, const job *j, char *result, size_t room) {
  tern_session *session = open_session(j->seed);
  tern_program *program = tern_load(session, TERN_LANG_AIL, "test.ail", j->text, strlen(j->text));
  if (t) tn_api_join(session, t);
  tern_follower follower = { .begin = follow };
  tern_train_run run = { .steps = j->steps, .brief = 1, .followers = &follower, .follower_count = 1 };
  followed = 0;
  bool ok = tern_train(program, &run) == TERN_OK;
  warned = strstr(tern_diagnostics_json(session), "E_RANKS_IDLE") != NULL;
  if (ok) {
    const char *json = tern_result_json(program), *hash = strstr(json, "\"weights_sha256\":\"");
    snprintf(result, room, "%.64s", hash ? hash + strlen("\"weights_sha256\":\"") : "none");
  } else {
    snprintf(result, room, "%s", tern_diagnostics_json(session));
    if (t) (t->fail)(t, TN_LIT("a failure"));
  }
  tern_program_free(program);
  tern_session_free(session);
  return ok;
}

static job others; /* set before the processes start */
static bool other_rank(rank *r) {
  char result[4096];
  return train(r->t, &others, result, sizeof result) && strcmp(result, "none") == 0 && followed == 0;
}

/* The result of rank 0; whether the others ended well. */
static bool train_with(int size, const job *first, work *of_others, char *result, size_t room) {
  rank r;
  pid_t children[MOST];
  bool ok = true;
  start(&r, size, of_others, children);
  train(r.t, first, result, room);
  close_rank(&r);
  for (int i = 1; i < size; i++) {
    int status;
    assert_int_equal(waitpid(children[i], &status, 0), children[i]);
    ok = ok && status == 0;
  }
  return ok;
}

static void assert_same_weights(const job *whole) {
  char wanted[4096], got[4096];
  assert_true(train(NULL, whole, wanted, sizeof wanted));
  others = *whole;
  for (int size = 1; size <= 5; size++) {
    assert_true(train_with(size, whole, other_rank, got, sizeof got));
    assert_string_equal(got, wanted);
    assert_false(warned);
    assert_int_equal(followed, size);
  }
}

static void every_number_of_ranks_gives_the_same_weights(void **state) {
  sharing = *state != NULL;
  assert_same_weights(&(job){ program_text, 7, 0 });
  assert_same_weights(&(job){ unclipped_text, 7, 0 });
  sharing = false;
}

/* Seven ranks and six shards, four ranks and one shard: the rest waits for the end. */
static void ranks_without_a_shard_idle(void **state) {
  (void)state;
  static const char unsharded[] =
      "model { x [B, 2] param W [2] y = mean(x * W) }\ntrain { loss = y steps = 5 lr = 0.1 batch = 4 }\n";
  const job jobs[2] = { { program_text, 7, 3 }, { unsharded, 7, 0 } };
  for (int i = 0; i < 2; i++) {
    char wanted[4096], got[4096];
    assert_true(train(NULL, &jobs[i], wanted, sizeof wanted));
    others = jobs[i];
    assert_true(train_with(i == 0 ? 7 : 4, &jobs[i], other_rank, got, sizeof got));
    assert_string_equal(got, wanted);
    assert_true(warned);
  }
}

static void assert_differs(const job *first, const job *other, const char *what) {
  char got[4096];
  others = *other;
  bool agreed = train_with(3, first, other_rank, got, sizeof got);
  if (agreed || !strstr(got, "E_RANKS_DIFFER") || !strstr(got, what)) fail_msg("%s: %s", what, got);
}

static void ranks_that_differ_do_not_begin(void **state) {
  (void)state;
  static char changed[sizeof program_text];
  memcpy(changed, program_text, sizeof changed);
  *strstr(changed, "0.05") = '1';
  const job one = { program_text, 7, 0 };
  assert_differs(&one, &(job){ changed, 7, 0 }, "the program");
  assert_differs(&one, &(job){ program_text, 8, 0 }, "the seed");
  assert_differs(&one, &(job){ program_text, 7, 19 }, "the steps");
}

/* ---- a machine that computes wrong ---- */

static tn_transport honest;
static void *arrived[64];
static int arrived_count;

static bool note_receive(tn_transport *t, int peer, void *bytes, size_t count) {
  if (count >= 64 && arrived_count < 64) arrived[arrived_count++] = bytes;
  return honest.receive(t, peer, bytes, count);
}

/* What has arrived gets a bit of its first number flipped. */
static bool spoil(tn_transport *t, int milliseconds) {
  bool ok = honest.progress(t, milliseconds);
  if (t->pending > 0) return ok;
  for (int i = 0; i < arrived_count; i++) *(uint8_t *)arrived[i] ^= 1;
  arrived_count = 0;
  return ok;
}

static bool faulty_rank(rank *r) {
  char result[4096];
  honest = *r->t;
  r->t->receive = note_receive;
  r->t->progress = spoil;
  return train(r->t, &others, result, sizeof result);
}

static void a_rank_that_computes_wrong_is_found(void **state) {
  (void)state;
  const job one = { program_text, 7, 0 };
  char got[4096];
  others = one;
  assert_false(train_with(2, &one, faulty_rank, got, sizeof got));
  if (!strstr(got, "E_RANKS_DIFFER") || !strstr(got, "\"step\":\"15\"")) fail_msg("%s", got);
}

/* ---- failures ---- */

static bool rank_that_dies(rank *r) {
  (void)r;
  _exit(0);
}

static void a_lost_rank_is_one_diagnostic(void **state) {
  (void)state;
  const job one = { program_text, 7, 0 };
  char got[4096];
  (void)train_with(2, &one, rank_that_dies, got, sizeof got);
  if (!strstr(got, "E_RANK_LOST") || !strstr(got, "\"rank\":\"1\"")) fail_msg("%s", got);
}

/* A loss that is not finite: rank 0 finds the operation, alone. */
static void not_finite_is_found_by_the_first_rank(void **state) {
  sharing = *state != NULL;
  static char steep[sizeof program_text];
  memcpy(steep, program_text, sizeof steep);
  memcpy(strstr(steep, "0.05"), "9e38", 4);
  const job one = { steep, 7, 0 };
  char wanted[4096], got[4096];
  assert_false(train(NULL, &one, wanted, sizeof wanted));
  assert_non_null(strstr(wanted, "E_NOT_FINITE"));
  others = one;
  assert_false(train_with(3, &one, other_rank, got, sizeof got));
  assert_string_equal(got, wanted);
  sharing = false;
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_number_of_ranks_gives_the_same_weights),
    IN_SHARED_MEMORY(every_number_of_ranks_gives_the_same_weights),
    cmocka_unit_test(ranks_without_a_shard_idle),
    cmocka_unit_test(ranks_that_differ_do_not_begin),
    cmocka_unit_test(a_rank_that_computes_wrong_is_found),
    cmocka_unit_test(a_lost_rank_is_one_diagnostic),
    cmocka_unit_test(not_finite_is_found_by_the_first_rank),
    IN_SHARED_MEMORY(not_finite_is_found_by_the_first_rank),
  };
  signal(SIGPIPE, SIG_IGN);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
