/* tests/unit/data_vocab.c: vocabularies in a fixed order, whatever the order of the texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "data/vocab.h"

/* The pieces of a text, each followed by '|'. */
static void assert_pieces(tn_vocab_kind kind, const char *text, const char *expected) {
  char seen[256] = "";
  tn_str piece;
  for (size_t at = 0; tn_vocab_next(kind, tn_str_of(text), &at, &piece);) {
    strncat(seen, piece.at, piece.len);
    strcat(seen, "|");
  }
  assert_string_equal(seen, expected);
}

static void a_word_is_letters_numbers_marks_and_underscores(void **state) {
  (void)state;
  assert_pieces(TN_VOCAB_WORDS, "", "");
  assert_pieces(TN_VOCAB_WORDS, " \t\n", "");
  assert_pieces(TN_VOCAB_WORDS, "boil the eggs", "boil|the|eggs|");
  assert_pieces(TN_VOCAB_WORDS, "  Boil, don't!! ", "Boil|,|don|'|t|!|!|");
  assert_pieces(TN_VOCAB_WORDS, "x_1 2.5 a-b", "x_1|2|.|5|a|-|b|");
  assert_pieces(TN_VOCAB_WORDS, "caf\xc3\xa9 cafe\xcc\x81 \xe6\xbc\xa2\xe5\xad\x97",
                "caf\xc3\xa9|cafe\xcc\x81|\xe6\xbc\xa2\xe5\xad\x97|");
  assert_pieces(TN_VOCAB_WORDS, "a\xc2\xa0" "b\xe3\x80\x80" "c", "a|b|c|");
  assert_pieces(TN_VOCAB_CHARS, "a \xc3\xa9\n", "a| |\xc3\xa9|\n|");
}

static tn_vocab *vocab_of(tn_heap *heap, tn_vocab_kind kind, const char *const *texts, size_t limit) {
  tn_vocab *vocab = tn_vocab_new(heap, kind);
  assert_non_null(vocab);
  for (; *texts; texts++) assert_true(tn_vocab_count(vocab, tn_str_of(*texts)));
  assert_true(tn_vocab_number(vocab, limit));
  return vocab;
}

static void assert_tokens(tn_heap *heap, tn_vocab *vocab, const char *text, size_t limit,
                          const char *expected) {
  tn_i32s tokens = { 0 };
  char seen[128] = "";
  assert_true(tn_vocab_encode(vocab, tn_str_of(text), limit, &tokens));
  for (size_t i = 0; i < tokens.count; i++) snprintf(seen + strlen(seen), 16, "%d ", (int)tokens.at[i]);
  assert_string_equal(seen, expected);
  tn_vec_free(heap, &tokens);
}

static void the_most_frequent_come_first_then_bytes_decide(void **state) {
  (void)state;
  static const char *const one[] = { "b a c", "a d", "a c", NULL };
  static const char *const other[] = { "a c", "d a", "c a b", NULL };
  const char *const *const orders[] = { one, other };
  for (size_t i = 0; i < 2; i++) {
    tn_heap heap = { 0 };
    tn_vocab *vocab = vocab_of(&heap, TN_VOCAB_WORDS, orders[i], 0);
    assert_int_equal(tn_vocab_size(vocab), 6);
    assert_true(tn_str_is(tn_vocab_text(vocab, 2), "a"));
    assert_tokens(&heap, vocab, "a b c d e a", SIZE_MAX, "2 4 3 5 1 2 ");
    assert_tokens(&heap, vocab, "a b c", 2, "2 4 ");
    assert_tokens(&heap, vocab, "", 2, "");
    tn_vocab_free(vocab);
    assert_int_equal(heap.used, 0);
  }
}

static void a_limit_counts_padding_and_the_unknown(void **state) {
  (void)state;
  static const char *const texts[] = { "a a a b b c", NULL };
  static const struct {
    size_t limit, size;
    const char *tokens;
  } cases[] = {
    { 0, 5, "2 3 4 " }, { 9, 5, "2 3 4 " }, { 4, 4, "2 3 1 " }, { 2, 2, "1 1 1 " }, { 1, 2, "1 1 1 " },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tn_heap heap = { 0 };
    tn_vocab *vocab = vocab_of(&heap, TN_VOCAB_WORDS, texts, cases[i].limit);
    assert_int_equal(tn_vocab_size(vocab), cases[i].size);
    assert_tokens(&heap, vocab, "a b c", SIZE_MAX, cases[i].tokens);
    tn_vocab_free(vocab);
  }
}

static void bytes_and_characters_have_tokens_too(void **state) {
  (void)state;
  static const char *const texts[] = { "\xc3\xa9\xc3\xa9 a", NULL };
  tn_heap heap = { 0 };
  tn_vocab *bytes = vocab_of(&heap, TN_VOCAB_BYTES, texts, 0);
  tn_vocab *chars = vocab_of(&heap, TN_VOCAB_CHARS, texts, 0);
  assert_int_equal(tn_vocab_size(bytes), 256);
  assert_tokens(&heap, bytes, "\xc3\xa9 a", SIZE_MAX, "195 169 32 97 ");
  assert_tokens(&heap, bytes, "\xc3\xa9 a", 3, "195 169 32 ");
  assert_tokens(&heap, chars, "a\xc3\xa9 b", SIZE_MAX, "4 2 3 1 ");
  tn_vocab_free(bytes);
  tn_vocab_free(chars);
  assert_int_equal(heap.used, 0);
}

static void running_out_of_memory_leaves_nothing(void **state) {
  (void)state;
  uint64_t fail_at = 1;
  for (bool done = false; !done; fail_at++) {
    tn_heap heap = { .fail_at = fail_at };
    tn_i32s tokens = { 0 };
    tn_vocab *vocab = tn_vocab_new(&heap, TN_VOCAB_WORDS);
    done = vocab && tn_vocab_count(vocab, TN_LIT("a b a c")) && tn_vocab_number(vocab, 0) &&
           tn_vocab_encode(vocab, TN_LIT("c b a"), SIZE_MAX, &tokens);
    tn_vec_free(&heap, &tokens);
    tn_vocab_free(vocab);
    assert_int_equal(heap.used, 0);
  }
  assert_true(fail_at > 6);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_word_is_letters_numbers_marks_and_underscores),
    cmocka_unit_test(the_most_frequent_come_first_then_bytes_decide),
    cmocka_unit_test(a_limit_counts_padding_and_the_unknown),
    cmocka_unit_test(bytes_and_characters_have_tokens_too),
    cmocka_unit_test(running_out_of_memory_leaves_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
