/* tests/unit/cluster_tree.c: every number of ranks makes the same additions, and slices cover every byte. */
#include "base_support.h"
#include "cluster/tree.h"

#define MOST_SHARDS 70

/* A sum whose value shows who was added to whom: neither commutative nor associative. */
static uint64_t sum_of(uint64_t left, uint64_t right) {
  uint64_t state = left * 3 + right * 5 + 1;
  return random_bits(&state);
}

/* The tree as docs/training.md says it: neighbours first; an odd one moves up. */
static uint64_t whole_tree(int shards) {
  uint64_t value[MOST_SHARDS];
  for (int i = 0; i < shards; i++) value[i] = (uint64_t)i;
  for (int width = 1; width < shards; width *= 2) {
    for (int i = 0; i + width < shards; i += 2 * width) value[i] = sum_of(value[i], value[i + width]);
  }
  return value[0];
}

typedef struct {
  tn_tree_stack nodes;
  uint64_t value[TN_TREE_DEPTH];
} adder;

static void add(adder *a, tn_shards node, uint64_t value) {
  a->value[a->nodes.count] = value;
  tn_tree_push(&a->nodes, node);
  while (tn_tree_join(&a->nodes))
    a->value[a->nodes.count - 1] = sum_of(a->value[a->nodes.count - 1], a->value[a->nodes.count]);
}

/* Each rank adds up its own range; then somebody adds up what they have. */
static uint64_t tree_of_ranks(int shards, int active) {
  adder all = { .nodes.shards = shards };
  for (int rank = 0; rank < active; rank++) {
    adder own = { .nodes.shards = shards };
    tn_shards range = tn_tree_owned(shards, active, rank), nodes[TN_TREE_DEPTH];
    for (int i = range.first; i < range.end; i++) add(&own, (tn_shards){ i, i + 1 }, (uint64_t)i);
    int count = tn_tree_nodes(shards, range, nodes, NULL);
    assert_int_equal(count, own.nodes.count);
    for (int i = 0; i < count; i++) {
      assert_int_equal(nodes[i].first, own.nodes.node[i].first);
      assert_int_equal(nodes[i].end, own.nodes.node[i].end);
      add(&all, nodes[i], own.value[i]);
    }
  }
  assert_int_equal(all.nodes.count, 1);
  return all.value[0];
}

static void every_number_of_ranks_makes_the_same_additions(void **state) {
  (void)state;
  for (int shards = 1; shards <= MOST_SHARDS; shards++) {
    uint64_t wanted = whole_tree(shards);
    for (int active = 1; active <= shards; active++)
      if (tree_of_ranks(shards, active) != wanted) fail_msg("%d shards, %d ranks", shards, active);
  }
}

static void ranks_own_neighbouring_shards_evenly(void **state) {
  (void)state;
  for (int shards = 1; shards <= MOST_SHARDS; shards++) {
    for (int ranks = 1; ranks <= 100; ranks++) {
      int active = tn_tree_active(shards, ranks), next = 0;
      assert_int_equal(active, ranks < shards ? ranks : shards);
      for (int rank = 0; rank < active; rank++) {
        tn_shards range = tn_tree_owned(shards, active, rank);
        assert_int_equal(range.first, next);
        next = range.end;
        int size = range.end - range.first;
        assert_true(size == shards / active || size == shards / active + 1);
      }
      assert_int_equal(next, shards);
    }
  }
  tn_shards last = tn_tree_owned(2147483647, 3, 2); /* no product overflows */
  assert_int_equal(last.end, 2147483647);
}

/* log2(s) + 1 sums are in memory at a time, not s. */
static void few_sums_are_kept(void **state) {
  (void)state;
  tn_shards nodes[TN_TREE_DEPTH];
  int most;
  for (int shards = 1, limit = 1; shards <= 1024; shards++) {
    if (shards == 1 << limit) limit++;
    assert_int_equal(tn_tree_nodes(shards, (tn_shards){ 0, shards }, nodes, &most), 1);
    assert_true(most <= limit);
  }
  tn_tree_nodes(1024, (tn_shards){ 0, 1024 }, nodes, &most);
  assert_int_equal(most, 11);
}

static void aligned_ranks_send_one_sum_each(void **state) {
  (void)state;
  tn_shards nodes[TN_TREE_DEPTH];
  for (int rank = 0; rank < 4; rank++)
    assert_int_equal(tn_tree_nodes(32, tn_tree_owned(32, 4, rank), nodes, NULL), 1);
  /* [2, 5) of 8 is 2-3 and 4; [5, 8) is 5 and 6-7. */
  assert_int_equal(tn_tree_nodes(8, tn_tree_owned(8, 3, 1), nodes, NULL), 2);
  assert_int_equal(nodes[0].end, 4);
  assert_int_equal(tn_tree_nodes(8, tn_tree_owned(8, 3, 2), nodes, NULL), 2);
  assert_int_equal(nodes[0].end, 6);
}

static void siblings_are_halves_of_one_node(void **state) {
  (void)state;
  assert_true(tn_tree_siblings(8, (tn_shards){ 0, 1 }, (tn_shards){ 1, 2 }));
  assert_false(tn_tree_siblings(8, (tn_shards){ 1, 2 }, (tn_shards){ 2, 3 }));
  assert_false(tn_tree_siblings(8, (tn_shards){ 0, 2 }, (tn_shards){ 2, 3 }));
  assert_true(tn_tree_siblings(3, (tn_shards){ 0, 2 }, (tn_shards){ 2, 3 })); /* an odd one */
  assert_false(tn_tree_siblings(8, (tn_shards){ 0, 3 }, (tn_shards){ 3, 6 }));
  assert_false(tn_tree_siblings(8, (tn_shards){ 0, 2 }, (tn_shards){ 4, 6 }));
}

/* Tensors of these sizes, dealt out: every byte has one owner, and pieces end at chunks. */
static void check_slices(const size_t *bytes, int count, int active) {
  size_t chunks = 0, start = 0, owned[16] = { 0 };
  for (int t = 0; t < count; t++) chunks += tn_tree_chunks(bytes[t]);
  for (int t = 0; t < count; t++) {
    size_t next = 0;
    for (int rank = 0; rank < active; rank++) {
      tn_piece piece = tn_tree_owned_piece(chunks, start, bytes[t], active, rank);
      if (piece.bytes == 0) continue;
      assert_int_equal(piece.from, next);
      assert_int_equal(piece.from % TN_TREE_CHUNK, 0);
      next = piece.from + piece.bytes;
      owned[rank] += tn_tree_chunks(piece.bytes);
    }
    assert_int_equal(next, bytes[t]);
    start += tn_tree_chunks(bytes[t]);
  }
  for (int rank = 0; rank < active; rank++)
    assert_true(owned[rank] == chunks / (size_t)active || owned[rank] == chunks / (size_t)active + 1);
}

static void slices_cover_every_byte_once(void **state) {
  (void)state;
  const size_t mixed[] = { 40, 0, 4096, 4097, 100000, 4, 12288, 1, 777777 }, small[] = { 4, 8, 12 };
  for (int active = 1; active <= 16; active++) {
    check_slices(mixed, (int)COUNT_OF(mixed), active);
    check_slices(small, (int)COUNT_OF(small), active);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_number_of_ranks_makes_the_same_additions),
    cmocka_unit_test(ranks_own_neighbouring_shards_evenly),
    cmocka_unit_test(few_sums_are_kept),
    cmocka_unit_test(aligned_ranks_send_one_sum_each),
    cmocka_unit_test(siblings_are_halves_of_one_node),
    cmocka_unit_test(slices_cover_every_byte_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
