/* tests/unit/cluster_exchange.c: one sum for every number of ranks, and as many bytes as the formula says. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "cluster/exchange.h"

#include <signal.h>
#include <sys/mman.h>

#include "cluster_support.h"

/* Tensors of f32: some smaller than a chunk, one empty, some over several, one over several blocks. */
static const size_t counts[] = { 3, 2500, 0, 1, 1024, 1025, 6000, 7, 150000 };
#define TENSORS ((int)COUNT_OF(counts))
_Static_assert(COUNT_OF(counts) % 5 != 0, "an order in which every tensor comes once");

static float number(int step, int shard, int tensor, size_t element) {
  uint64_t state = ((uint64_t)step << 40) + ((uint64_t)shard << 32) + ((uint64_t)tensor << 24) + element;
  uint64_t bits = random_bits(&state);
  return (float)(int64_t)bits * (bits % 2 ? 1.0f : 1e-6f);
}

/* The last addition also takes half. */
static void add(void *context, int tensor, void *out, const void *left, const void *right, size_t bytes,
                bool last) {
  (void)context, (void)tensor;
  float *z = out;
  const float *x = left, *y = right;
  for (size_t i = 0; i < bytes / sizeof *x; i++) z[i] = (x[i] + y[i]) * (last ? 0.5f : 1);
}

/* Neighbours first; an odd one moves up. */
static float wanted(int step, int shards, int tensor, size_t element) {
  float value[64];
  for (int i = 0; i < shards; i++) value[i] = number(step, i, tensor, element);
  for (int width = 1; width < shards; width *= 2) {
    for (int i = 0; i + width < shards; i += 2 * width) value[i] = value[i] + value[i + width];
  }
  return shards > 1 ? value[0] * 0.5f : value[0];
}

/* The order in which a plan writes tensors is its own affair. */
static bool compute_shard(tn_exchange *x, int step, int shard) {
  if (!tn_exchange_begin(x, shard)) return false;
  for (int i = 0; i < TENSORS; i++) {
    int tensor = (i * 5 + shard) % TENSORS; /* each once: 5 has no factor of TENSORS */
    float *at = tn_exchange_place(x, tensor);
    if ((uintptr_t)at % 64 != 0) return false;
    for (size_t e = 0; e < counts[tensor]; e++) at[e] = number(step, shard, tensor, e);
    if (!tn_exchange_ready(x, tensor)) return false;
  }
  return true;
}

/* Of large tensors some elements, in every place of a chunk. */
static bool sum_is_right(const tn_exchange *x, int step, int shards, int tensor, size_t first, size_t end) {
  const float *sum = tn_exchange_sum(x, tensor);
  size_t apart = counts[tensor] > 10000 ? 17 : 1;
  for (size_t e = first; e < end; e += apart) {
    float right = wanted(step, shards, tensor, e);
    if (memcmp(&sum[e], &right, sizeof right) != 0) return false;
  }
  return true;
}

static bool sums_are_right(const tn_exchange *x, int step, int shards) {
  bool right = true;
  for (int t = 0; t < TENSORS; t++) right = right && sum_is_right(x, step, shards, t, 0, counts[t]);
  return right;
}

static uint64_t *sent; /* by rank: seen by all processes */

static tn_exchange *open_exchange(tn_heap *heap, tn_transport *t, int shards) {
  size_t bytes[TENSORS];
  for (int i = 0; i < TENSORS; i++) bytes[i] = counts[i] * sizeof(float);
  tn_exchange_request request = {
    .transport = t, .shards = shards, .count = TENSORS, .bytes = bytes, .add = add
  };
  return tn_exchange_new(heap, &request);
}

static bool compute_shards(tn_exchange *x, int step) {
  tn_shards owned = tn_exchange_owned(x);
  bool ok = true;
  for (int shard = owned.first; shard < owned.end && ok; shard++) ok = compute_shard(x, step, shard);
  return ok;
}

/* Two steps; their sums are those of the tree. */
static bool take_steps(tn_heap *heap, tn_transport *t, int shards) {
  tn_exchange *x = open_exchange(heap, t, shards);
  bool ok = x != NULL;
  for (int step = 0; step < 2 && ok; step++)
    ok = compute_shards(x, step) && tn_exchange_finish(x) && sums_are_right(x, step, shards);
  if (ok && t) sent[t->rank] = tn_exchange_stats_of(x).sent;
  tn_exchange_free(x);
  return ok;
}

static int shards_now; /* of all processes of a test: set before they start */

static bool other_rank(rank *r) {
  if (r->t->rank >= shards_now) return true; /* idle */
  return take_steps(&r->heap, r->t, shards_now);
}

static void check_ranks(int shards, int ranks) {
  rank r;
  pid_t children[MOST];
  shards_now = shards;
  start(&r, ranks, other_rank, children);
  if (!take_steps(&r.heap, r.t, shards)) fail_msg("%d shards, %d ranks", shards, ranks);
  finish(&r, ranks, children);
}

static void every_number_of_ranks_gives_one_sum(void **state) {
  sharing = *state != NULL;
  static const int shards[] = { 1, 2, 3, 7, 12 };
  for (size_t i = 0; i < COUNT_OF(shards); i++) {
    for (int ranks = 1; ranks <= 5; ranks++) check_ranks(shards[i], ranks);
  }
  check_ranks(8, 7);
  check_ranks(13, 8);
  sharing = false;
}

static void alone_needs_no_transport(void **state) {
  (void)state;
  for (int shards = 1; shards <= 12; shards++) {
    tn_heap heap = { 0 };
    assert_true(take_steps(&heap, NULL, shards));
    assert_int_equal(heap.used, 0);
  }
}

/* All ranks together send 2 N (P - 1) bytes in a step: their sums less their own slices, and their slices to
 * the others. A rank whose range is two nodes sends both. */
static void ranks_send_what_the_formula_says(void **state) {
  (void)state;
  uint64_t all = 0;
  for (int i = 0; i < TENSORS; i++) all += counts[i] * sizeof(float);
  for (int ranks = 2; ranks <= 8; ranks *= 2) {
    uint64_t total = 0;
    check_ranks(8, ranks);
    for (int i = 0; i < ranks; i++) total += sent[i];
    assert_int_equal(total, 2 * (2 * all * (uint64_t)(ranks - 1)));
  }
  check_ranks(6, 4); /* rank 1 owns shards 1 and 2, which are not siblings */
  assert_true(sent[1] > sent[0]);
}

/* In shared memory each rank says two words to each other one in a step, whatever the size of the tensors. */
static void ranks_that_share_memory_send_words(void **state) {
  (void)state;
  sharing = true;
  for (int ranks = 2; ranks <= 5; ranks++) {
    check_ranks(6, ranks);
    for (int i = 0; i < ranks; i++) assert_int_equal(sent[i], 2 * 2 * (ranks - 1));
  }
  sharing = false;
}

/* ---- what a rank owns ---- */

static bool own_sums_are_right(const tn_exchange *x, int step, int shards, size_t *owned) {
  bool right = true;
  for (int t = 0; t < TENSORS; t++) {
    tn_piece own = tn_exchange_own(x, t);
    size_t first = own.from / sizeof(float), end = first + own.bytes / sizeof(float);
    right = right && sum_is_right(x, step, shards, t, first, end);
    *owned += own.bytes;
  }
  return right;
}

/* Its own sums come first, those of the others when all have met. */
static bool owner(rank *r) {
  tn_exchange *x = open_exchange(&r->heap, r->t, shards_now);
  bool ok = x != NULL && tn_exchange_sharing(x) == r->t->size;
  size_t owned = 0;
  for (int step = 0; step < 2 && ok; step++) {
    ok = compute_shards(x, step) && tn_exchange_finish_own(x) &&
         own_sums_are_right(x, step, shards_now, &owned) && tn_exchange_meet(x) &&
         sums_are_right(x, step, shards_now) && tn_exchange_meet(x);
  }
  sent[r->t->rank] = owned;
  tn_exchange_free(x);
  return ok;
}

static void owners_have_their_sums_first(void **state) {
  (void)state;
  sharing = true;
  shards_now = 6;
  for (int ranks = 2; ranks <= 5; ranks++) {
    rank r;
    pid_t children[MOST];
    size_t all = 0, owned = 0;
    start(&r, ranks, owner, children);
    assert_true(owner(&r));
    finish(&r, ranks, children);
    for (int i = 0; i < TENSORS; i++) all += counts[i] * sizeof(float);
    for (int i = 0; i < ranks; i++) owned += sent[i];
    assert_int_equal(owned, 2 * all); /* two steps; each byte has one owner */
  }
  sharing = false;
}

/* A window that is too small is as good as none, for all ranks. */
static void *no_part(tn_transport *t, size_t bytes) {
  (void)t, (void)bytes;
  return NULL;
}
static bool rank_without_room(rank *r) {
  r->t->share = no_part;
  return take_steps(&r->heap, r->t, shards_now);
}

static void without_room_in_the_window_ranks_send(void **state) {
  (void)state;
  rank r;
  pid_t children[MOST];
  shards_now = 6;
  start(&r, 3, rank_without_room, children);
  assert_true(rank_without_room(&r));
  assert_true(sent[0] > 1000);
  finish(&r, 3, children);
}

static void few_copies_are_kept(void **state) {
  (void)state;
  for (int shards = 1, limit = 1; shards <= 64; shards++) {
    tn_heap heap = { 0 };
    if (shards == 1 << limit) limit++;
    tn_exchange *x = open_exchange(&heap, NULL, shards);
    assert_true(tn_exchange_stats_of(x).copies <= limit);
    tn_exchange_free(x);
  }
}

/* A rank that is gone in the middle of a step: the others learn it instead of waiting. */
static bool rank_that_ends_early(rank *r) {
  tn_exchange *x = open_exchange(&r->heap, r->t, shards_now);
  bool ok = x && compute_shard(x, 0, tn_exchange_owned(x).first);
  (void)ok;
  _exit(0);
}

static void a_lost_rank_ends_the_step(void **state) {
  sharing = *state != NULL;
  rank r;
  pid_t children[MOST];
  shards_now = 8;
  start(&r, 2, rank_that_ends_early, children);
  assert_false(take_steps(&r.heap, r.t, 8));
  assert_int_equal(r.t->failure.rank, 1);
  finish(&r, 2, children);
  sharing = false;
}

static char room[16 << 20];
static void *give_room(tn_transport *t, size_t bytes) {
  (void)t;
  return bytes <= sizeof room ? room : NULL;
}

static void every_failed_allocation_gives_no_exchange(void **state) {
  tn_transport t = { .rank = 1, .size = 3, .share = *state ? give_room : NULL };
  for (uint64_t n = 1;; n++) {
    tn_heap heap = { .fail_at = n };
    tn_exchange *x = open_exchange(&heap, &t, 8);
    assert_true(x || heap.failed);
    tn_exchange_free(x);
    assert_int_equal(heap.used, 0);
    if (!heap.failed) break;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_number_of_ranks_gives_one_sum),
    IN_SHARED_MEMORY(every_number_of_ranks_gives_one_sum),
    cmocka_unit_test(alone_needs_no_transport),
    cmocka_unit_test(ranks_send_what_the_formula_says),
    cmocka_unit_test(ranks_that_share_memory_send_words),
    cmocka_unit_test(owners_have_their_sums_first),
    cmocka_unit_test(without_room_in_the_window_ranks_send),
    cmocka_unit_test(few_copies_are_kept),
    cmocka_unit_test(a_lost_rank_ends_the_step),
    IN_SHARED_MEMORY(a_lost_rank_ends_the_step),
    cmocka_unit_test(every_failed_allocation_gives_no_exchange),
    IN_SHARED_MEMORY(every_failed_allocation_gives_no_exchange),
  };
  signal(SIGPIPE, SIG_IGN);
  sent = mmap(NULL, MOST * sizeof *sent, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (sent == MAP_FAILED) return 1;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
