/* Strings: comparing, hashing, the nearest name, interning. */
#include "base_support.h"

#include <limits.h>

#include "base/arena.h"

static void comparing_is_bytewise_and_shorter_first(void **state) {
  (void)state;
  assert_int_equal(tn_str_compare(TN_LIT("a"), TN_LIT("b")), -1);
  assert_int_equal(tn_str_compare(TN_LIT("ab"), TN_LIT("a")), 1);
  assert_int_equal(tn_str_compare(TN_LIT("a"), TN_LIT("ab")), -1);
  assert_int_equal(tn_str_compare(TN_LIT(""), TN_LIT("")), 0);
  assert_int_equal(tn_str_compare((tn_str){ NULL, 0 }, TN_LIT("")), 0);
  assert_int_equal(tn_str_compare(TN_LIT("\x80"), TN_LIT("\x7f")), 1);
  assert_true(tn_str_equal(TN_LIT("a\0b"), TN_LIT("a\0b")));
  assert_false(tn_str_equal(TN_LIT("a\0b"), TN_LIT("a\0c")));
  assert_true(tn_str_is(tn_str_of(NULL), ""));
  assert_false(tn_str_is(TN_LIT("abc"), "ab"));
}

static void prefixes_and_suffixes_are_found(void **state) {
  (void)state;
  assert_true(tn_str_starts(TN_LIT("tern_run"), "tern_"));
  assert_true(tn_str_starts(TN_LIT("x"), ""));
  assert_false(tn_str_starts(TN_LIT("te"), "tern"));
  assert_true(tn_str_ends(TN_LIT("m.ail"), ".ail"));
  assert_true(tn_str_ends(TN_LIT(""), ""));
  assert_true(tn_str_ends((tn_str){ NULL, 0 }, ""));
  assert_false(tn_str_ends(TN_LIT("ail"), ".ail"));
}

/* Recorded once: they must be these on every machine. */
static void hashes_are_the_same_everywhere(void **state) {
  (void)state;
  assert_true(tn_str_hash(TN_LIT("")) == UINT64_C(0x9b9352d8579465eb));
  assert_true(tn_str_hash(TN_LIT("tern")) == UINT64_C(0xf81b1c682063ea3e));
  assert_true(tn_str_hash(TN_LIT("a longer text than eight")) == UINT64_C(0xd1925e3ba1e894db));
}

static void hashes_differ_where_texts_do(void **state) {
  (void)state;
  char text[16] = { 0 };
  uint64_t plain = tn_str_hash((tn_str){ text, 16 });
  for (size_t len = 0; len < 16; len++) assert_true(tn_str_hash((tn_str){ text, len }) != plain);
  for (int bit = 0; bit < 128; bit++) {
    text[bit / 8] ^= (char)(1 << bit % 8);
    uint64_t changed = tn_str_hash((tn_str){ text, 16 }) ^ plain;
    int flipped = 0;
    for (; changed; changed &= changed - 1) flipped++;
    assert_in_range(flipped, 10, 54);
    text[bit / 8] ^= (char)(1 << bit % 8);
  }
}

/* The whole table, as the definition of the distance has it. */
static int plain_distance(tn_str a, tn_str b) {
  static int t[80][80];
  for (size_t i = 0; i <= a.len; i++) {
    for (size_t j = 0; j <= b.len; j++) {
      if (i == 0 || j == 0) {
        t[i][j] = (int)(i + j);
        continue;
      }
      int best = t[i - 1][j - 1] + (a.at[i - 1] != b.at[j - 1]);
      if (t[i - 1][j] + 1 < best) best = t[i - 1][j] + 1;
      if (t[i][j - 1] + 1 < best) best = t[i][j - 1] + 1;
      bool swap = i > 1 && j > 1 && a.at[i - 1] == b.at[j - 2] && a.at[i - 2] == b.at[j - 1];
      if (swap && t[i - 2][j - 2] + 1 < best) best = t[i - 2][j - 2] + 1;
      t[i][j] = best;
    }
  }
  return t[a.len][b.len];
}

static void the_distance_is_that_of_the_whole_table(void **state) {
  (void)state;
  uint64_t seed = 11;
  char a[40], b[40];
  for (int round = 0; round < effort(20000); round++) {
    size_t la = random_bits(&seed) % 12, lb = random_bits(&seed) % 12;
    for (size_t i = 0; i < la; i++) a[i] = (char)('a' + random_bits(&seed) % 3);
    for (size_t i = 0; i < lb; i++) b[i] = (char)('a' + random_bits(&seed) % 3);
    tn_str x = { a, la }, y = { b, lb };
    int expected = plain_distance(x, y);
    for (int limit = 0; limit < 13; limit++) {
      assert_int_equal(tn_str_distance(x, y, limit), expected <= limit ? expected : limit + 1);
    }
  }
}

static void distances_have_a_bound(void **state) {
  (void)state;
  char a[300], b[300];
  memset(a, 'a', sizeof a);
  memset(b, 'b', sizeof b);
  assert_int_equal(tn_str_distance(TN_LIT("abc"), TN_LIT("acb"), INT_MAX), 1);
  assert_int_equal(tn_str_distance((tn_str){ a, 64 }, (tn_str){ b, 64 }, 100), 64);
  assert_int_equal(tn_str_distance((tn_str){ a, 65 }, (tn_str){ b, 65 }, 100), 101);
  assert_int_equal(tn_str_distance((tn_str){ a, 300 }, (tn_str){ b, 300 }, INT_MAX), INT_MAX);
  assert_int_equal(tn_str_distance((tn_str){ a, 300 }, (tn_str){ a, 236 }, 64), 64);
  assert_int_equal(tn_str_distance(TN_LIT("a"), TN_LIT("a"), -1), 0);
}

static tn_str suggestion(const char *wrong) {
  static const tn_str verbs[] = { { "run", 3 },   { "train", 5 }, { "check", 5 },      { "explain", 7 },
                                  { "emit", 4 },  { "eval", 4 },  { "Embedding", 9 },  { "x", 1 } };
  return tn_str_suggest(tn_str_of(wrong), verbs, COUNT_OF(verbs));
}

static void the_nearest_name_is_suggested(void **state) {
  (void)state;
  assert_str(suggestion("trian"), "train");
  assert_str(suggestion("rnu"), "run");
  assert_str(suggestion("chekc"), "check");
  assert_str(suggestion("EXPLIAN"), "explain");
  assert_str(suggestion("embeding"), "Embedding");
  assert_str(suggestion("ru"), "run");
  const tn_str alike[] = { { "far", 3 }, { "x_1", 3 }, { "x_2", 3 } };
  assert_str(tn_str_suggest(TN_LIT("x_3"), alike, 3), "x_1");   /* both are as near: the first wins */
}

static void a_name_too_far_is_not_suggested(void **state) {
  (void)state;
  assert_str(suggestion("backpropagate"), "");
  assert_str(suggestion("y"), "");
  assert_str(suggestion(""), "");
  assert_str(suggestion("rxyz"), "");
  assert_str(tn_str_suggest(TN_LIT("a"), NULL, 0), "");
}

static void equal_texts_have_equal_names(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_names *names = tn_names_new(&heap);
  char text[16];
  for (int i = 0; i < 5000; i++) {
    int length = snprintf(text, sizeof text, "name%d", i);
    assert_int_equal(tn_names_find(names, tn_str_of(text)), 0);
    assert_int_equal(tn_names_intern(names, (tn_str){ text, (size_t)length }), i + 1);
  }
  for (int i = 0; i < 5000; i++) {
    snprintf(text, sizeof text, "name%d", i);
    assert_int_equal(tn_names_intern(names, tn_str_of(text)), i + 1);
    assert_int_equal(tn_names_find(names, tn_str_of(text)), i + 1);
    assert_string_equal(tn_names_text(names, (tn_name)(i + 1)).at, text);
  }
  assert_str(tn_names_text(names, 0), "");
  assert_str(tn_names_text(names, 5001), "");
  tn_name empty = tn_names_intern(names, TN_LIT(""));
  assert_int_equal(empty, 5001);
  tn_names_free(names);
  tn_names_free(NULL);
  assert_int_equal(heap.used, 0);
}

static bool use_names(tn_heap *heap) {
  tn_names *names = tn_names_new(heap);
  if (!names) return false;
  bool good = true;
  tn_name expected = 1;
  for (char c = 'A'; c < 'A' + 60; c++) {
    tn_name name = tn_names_intern(names, (tn_str){ &c, 1 });
    if (name) assert_int_equal(name, expected++);
    else good = false;
    assert_int_equal(tn_names_find(names, (tn_str){ &c, 1 }), name);
  }
  /* What failed can be tried again. */
  if (!heap->fail_onwards) assert_true(tn_names_intern(names, TN_LIT("A")) != 0);
  tn_names_free(names);
  return good;
}

/* Numbers of names that were forgotten are given out again, and their memory is back. */
static void names_since_a_mark_can_be_removed(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_names *names = tn_names_new(&heap);
  char text[400], huge[10000];
  memset(huge, 'x', sizeof huge);
  for (int i = 0; i < 100; i++)
    tn_names_intern(names, (tn_str){ text, (size_t)snprintf(text, 40, "old%d", i) });
  size_t used = 0;
  for (int round = 0; round < 4; round++) {
    tn_names_mark(names);
    for (int i = 0; i < 1000; i++) {
      tn_name name = tn_names_intern(names, (tn_str){ text, (size_t)snprintf(text, 40, "r%d_%d", round, i) });
      assert_int_equal(name, 101 + i);
      assert_true(tn_names_since(names, name));
    }
    assert_int_equal(tn_names_intern(names, (tn_str){ huge, sizeof huge }), 1101);
    assert_false(tn_names_since(names, tn_names_intern(names, TN_LIT("old7"))));
    tn_names_rewind(names);
    assert_int_equal(tn_names_find(names, TN_LIT("r0_5")), 0);
    assert_int_equal(tn_names_find(names, (tn_str){ huge, sizeof huge }), 0);
    for (int i = 0; i < 100; i++) {
      tn_str old = { text, (size_t)snprintf(text, 40, "old%d", i) };
      assert_int_equal(tn_names_find(names, old), i + 1);
      assert_true(tn_str_equal(tn_names_text(names, (tn_name)i + 1), old));
    }
    if (round == 0) used = heap.used;
    assert_int_equal(heap.used, used);
  }
  tn_names_free(names);
  assert_int_equal(heap.used, 0);
}

static void interning_survives_every_failed_request(void **state) {
  (void)state;
  fail_every_request(use_names);
}

RUN_TESTS(
  cmocka_unit_test(comparing_is_bytewise_and_shorter_first),
  cmocka_unit_test(prefixes_and_suffixes_are_found),
  cmocka_unit_test(hashes_are_the_same_everywhere),
  cmocka_unit_test(hashes_differ_where_texts_do),
  cmocka_unit_test(the_distance_is_that_of_the_whole_table),
  cmocka_unit_test(distances_have_a_bound),
  cmocka_unit_test(the_nearest_name_is_suggested),
  cmocka_unit_test(a_name_too_far_is_not_suggested),
  cmocka_unit_test(equal_texts_have_equal_names),
  cmocka_unit_test(names_since_a_mark_can_be_removed),
  cmocka_unit_test(interning_survives_every_failed_request))
