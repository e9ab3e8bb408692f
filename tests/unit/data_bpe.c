/* tests/unit/data_bpe.c: tokenizer.json files: what is read, what is refused, and words merged by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "data/bpe.h"

#define BYTE_LEVEL "\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false}"
#define VOCABULARY \
  "\"vocab\":{\"a\":0,\"b\":1,\"c\":2,\"ab\":3,\"bc\":4,\"abc\":5,\"\\u0120\":6,\"\\u0120a\":7," \
  "\"\xc4\x8a\":8}"
#define FILE_OF(model) "{" BYTE_LEVEL ",\"model\":{\"type\":\"BPE\"," model "}}"

static void assert_tokens(const char *file, const char *text, size_t limit, const char *expected) {
  tn_heap heap = { 0 };
  tn_bpe_fault fault;
  tn_i32s tokens = { 0 };
  char seen[256] = "";
  tn_bpe *bpe = tn_bpe_new(&heap, tn_str_of(file), &fault);
  assert_non_null(bpe);
  assert_true(tn_bpe_encode(bpe, tn_str_of(text), limit, &tokens));
  for (size_t i = 0; i < tokens.count; i++) snprintf(seen + strlen(seen), 16, "%d ", (int)tokens.at[i]);
  assert_string_equal(seen, expected);
  tn_vec_free(&heap, &tokens);
  tn_bpe_free(bpe);
  assert_int_equal(heap.used, 0);
}

static void pairs_merge_in_the_order_of_the_file(void **state) {
  (void)state;
  static const char ab_first[] = FILE_OF(VOCABULARY ",\"merges\":[\"a b\",\"b c\",\"ab c\"]");
  static const char bc_first[] =
      FILE_OF("\"merges\":[[\"b\",\"c\"],[\"a\",\"b\"],[\"a\",\"bc\"]]," VOCABULARY);
  static const char none[] = FILE_OF(VOCABULARY ",\"merges\":[]");
  assert_tokens(ab_first, "abc", SIZE_MAX, "5 ");
  assert_tokens(ab_first, "abcbcab", SIZE_MAX, "5 4 3 ");
  assert_tokens(bc_first, "abc", SIZE_MAX, "5 ");
  assert_tokens(bc_first, "abbc", SIZE_MAX, "3 4 ");
  assert_tokens(none, "abc", SIZE_MAX, "0 1 2 ");
  assert_tokens(none, "a a\n", SIZE_MAX, "0 6 0 8 ");
  assert_tokens(none, "axb", SIZE_MAX, "0 1 "); /* a byte without a token, and no unknown one */
  assert_tokens(none, "", SIZE_MAX, "");
  assert_tokens(none, "abcabc", 4, "0 1 2 0 ");
  assert_tokens(none, "abc", 0, "");
}

static void files_are_refused_with_a_reason(void **state) {
  (void)state;
  static const struct {
    const char *file;
    tn_bpe_problem problem;
    const char *part, *detail;
  } cases[] = {
    { "", TN_BPE_JSON, "", NULL },
    { "{", TN_BPE_JSON, "", NULL },
    { "[]", TN_BPE_FORM, "the file", "" },
    { "{}", TN_BPE_FORM, "model", "" },
    { "{} x", TN_BPE_JSON, "", NULL },
    { "{\"model\":{}}", TN_BPE_UNSUPPORTED, "pre_tokenizer", "none" },
    { "{\"model\":7}", TN_BPE_FORM, "model", "" },
    { FILE_OF("\"vocab\":[]"), TN_BPE_FORM, "model.vocab", "" },
    { FILE_OF("\"vocab\":{\"a\":-1}"), TN_BPE_FORM, "model.vocab", "" },
    { FILE_OF("\"vocab\":{\"a\":1e3}"), TN_BPE_FORM, "model.vocab", "" },
    { FILE_OF("\"vocab\":{\"a\":99999999999}"), TN_BPE_FORM, "model.vocab", "" },
    { FILE_OF("\"merges\":[\"ab\"]"), TN_BPE_FORM, "model.merges", "" },
    { FILE_OF("\"merges\":[[\"a\"]]"), TN_BPE_FORM, "model.merges", "" },
    { FILE_OF("\"merges\":[\"a b\"]"), TN_BPE_MERGE, "model.merges", "ab" },
    { FILE_OF("\"unk_token\":\"u\""), TN_BPE_FORM, "model.unk_token", "" },
    { "{\"model\":{\"type\":\"Unigram\"}}", TN_BPE_UNSUPPORTED, "model", "Unigram" },
    { "{\"pre_tokenizer\":{\"type\":\"Sequence\"}}", TN_BPE_UNSUPPORTED, "pre_tokenizer", "Sequence" },
    { "{\"added_tokens\":[{\"content\":\"x\"}]}", TN_BPE_FORM, "added_tokens", "" },
    { "{\"added_tokens\":[{\"single_word\":true}]}", TN_BPE_UNSUPPORTED, "added_tokens.single_word", "true" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tn_heap heap = { 0 };
    tn_bpe_fault fault;
    assert_null(tn_bpe_new(&heap, tn_str_of(cases[i].file), &fault));
    assert_int_equal(fault.problem, cases[i].problem);
    assert_string_equal(fault.part, cases[i].part);
    if (cases[i].detail) assert_string_equal(fault.detail, cases[i].detail);
    assert_int_equal(heap.used, 0);
  }
}

/* The n-th allocation fails, for every n. */
static void running_out_of_memory_is_a_fault(void **state) {
  (void)state;
  static const char file[] = "{\"added_tokens\":[{\"id\":9,\"content\":\"<x>\"}]," BYTE_LEVEL
                             ",\"model\":{" VOCABULARY ",\"merges\":[\"a b\",\"ab c\"],"
                             "\"ignore_merges\":true}}";
  uint64_t fail_at = 1;
  for (bool done = false; !done; fail_at++) {
    tn_heap heap = { .fail_at = fail_at };
    tn_bpe_fault fault;
    tn_i32s tokens = { 0 };
    tn_bpe *bpe = tn_bpe_new(&heap, tn_str_of(file), &fault);
    if (!bpe) assert_int_equal(fault.problem, TN_BPE_MEMORY);
    done = bpe && tn_bpe_encode(bpe, TN_LIT("abc<x>abcab"), SIZE_MAX, &tokens) && heap.requests < fail_at;
    tn_vec_free(&heap, &tokens);
    tn_bpe_free(bpe);
    assert_int_equal(heap.used, 0);
  }
  assert_true(fail_at > 12);
}

/* The work grows with the length of a word, not with its square: merges of one word come from a queue. */
static void a_long_word_is_merged_quickly(void **state) {
  (void)state;
  static const char file[] = FILE_OF(VOCABULARY ",\"merges\":[\"a b\",\"b c\",\"ab c\"]");
  enum { LENGTH = 300000 };
  static char word[LENGTH + 1];
  for (int i = 0; i < LENGTH; i++) word[i] = "abc"[i % 3];
  tn_heap heap = { 0 };
  tn_bpe_fault fault;
  tn_i32s tokens = { 0 };
  tn_bpe *bpe = tn_bpe_new(&heap, tn_str_of(file), &fault);
  assert_true(tn_bpe_encode(bpe, (tn_str){ word, LENGTH }, SIZE_MAX, &tokens));
  assert_int_equal(tokens.count, LENGTH / 3);
  tn_vec_free(&heap, &tokens);
  tn_bpe_free(bpe);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(pairs_merge_in_the_order_of_the_file),
    cmocka_unit_test(files_are_refused_with_a_reason),
    cmocka_unit_test(running_out_of_memory_is_a_fault),
    cmocka_unit_test(a_long_word_is_merged_quickly),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
