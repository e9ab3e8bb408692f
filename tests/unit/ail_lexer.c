/* Text to tokens: words, numbers, strings, signs, comments, and what is none of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "lang/ail/lexer.h"

static tn_ail_lexer lexer_of(const char *text) {
  tn_ail_lexer lexer;
  tn_ail_lexer_init(&lexer, tn_str_of(text));
  return lexer;
}

static tn_ail_token first(const char *text) {
  tn_ail_lexer lexer = lexer_of(text);
  return tn_ail_lexer_next(&lexer);
}

static void every_word_is_recognised_and_no_other_name(void **state) {
  (void)state;
  static const char *const words[] = {
#define WORD(id, text) [TN_AIL_WORD_##id] = text,
    TN_AIL_WORDS(WORD)
#undef WORD
  };
  for (int i = 1; i < TN_AIL_WORD_COUNT; i++) assert_int_equal(tn_ail_word_of(tn_str_of(words[i])), i);
  static const char *const others[] = { "", "i", "iff", "model_", "Model", "_", "zebra", "tokens", "endd" };
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    assert_int_equal(tn_ail_word_of(tn_str_of(others[i])), TN_AIL_WORD_NONE);
  }
}

static void only_the_words_of_expressions_are_reserved(void **state) {
  (void)state;
  assert_true(tn_ail_word_is_reserved(tn_ail_word_of(TN_LIT("range"))));
  assert_true(tn_ail_word_is_reserved(tn_ail_word_of(TN_LIT("false"))));
  assert_false(tn_ail_word_is_reserved(tn_ail_word_of(TN_LIT("init"))));
  assert_false(tn_ail_word_is_reserved(tn_ail_word_of(TN_LIT("loss"))));
  assert_false(tn_ail_word_is_reserved(TN_AIL_WORD_NONE));
}

static void signs_are_read_as_long_as_possible(void **state) {
  (void)state;
  static const struct {
    const char *text;
    tn_ail_token_kind kind;
  } signs[] = {
    { "->", TN_AIL_TOKEN_ARROW },      { "-", TN_AIL_TOKEN_MINUS },      { "- >", TN_AIL_TOKEN_MINUS },
    { "==", TN_AIL_TOKEN_EQ },         { "=", TN_AIL_TOKEN_ASSIGN },     { "<=", TN_AIL_TOKEN_LE },
    { "<", TN_AIL_TOKEN_LT },          { ">=", TN_AIL_TOKEN_GE },        { ">", TN_AIL_TOKEN_GT },
    { "!=", TN_AIL_TOKEN_NE },         { "(", TN_AIL_TOKEN_OPEN },       { ")", TN_AIL_TOKEN_CLOSE },
    { "[", TN_AIL_TOKEN_OPEN_LIST },   { "]", TN_AIL_TOKEN_CLOSE_LIST }, { "{", TN_AIL_TOKEN_OPEN_BLOCK },
    { "}", TN_AIL_TOKEN_CLOSE_BLOCK }, { ",", TN_AIL_TOKEN_COMMA },      { ":", TN_AIL_TOKEN_COLON },
    { ";", TN_AIL_TOKEN_SEMICOLON },   { "@", TN_AIL_TOKEN_AT },         { "+", TN_AIL_TOKEN_PLUS },
    { "*", TN_AIL_TOKEN_STAR },
  };
  for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
    assert_int_equal(first(signs[i].text).kind, signs[i].kind);
  }
}

static void numbers_and_strings_end_where_they_should(void **state) {
  (void)state;
  assert_int_equal(first("12.5e-3+").end, 7);
  assert_int_equal(first("7 8").end, 1);
  assert_int_equal(first("1E5").kind, TN_AIL_TOKEN_NUMBER);
  assert_int_equal(first("\"a \\\" b\" c").end, 8);
  assert_int_equal(first("\"caf\xC3\xA9\"").kind, TN_AIL_TOKEN_STRING);
}

static void an_invalid_token_says_why_and_reading_continues(void **state) {
  (void)state;
  static const char *const wrong[] = { "1.", "1.e", "2e", "3abc",   "\"open", "\"open\n\"",
                                       "$",  "!",   "\xC3\xA9", "\x80", "\x01" };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    tn_ail_token token = first(wrong[i]);
    assert_int_equal(token.kind, TN_AIL_TOKEN_BAD);
    assert_non_null(token.problem);
    assert_true(token.end > token.start);
  }
  assert_int_equal(first("/").kind, TN_AIL_TOKEN_SLASH);
  assert_non_null(first("/").problem); /* for where it is no operator */
  tn_ail_lexer lexer = lexer_of("$ x");
  tn_ail_lexer_next(&lexer);
  assert_int_equal(tn_ail_lexer_next(&lexer).kind, TN_AIL_TOKEN_NAME);
}

static void a_zero_byte_does_not_end_a_text(void **state) {
  (void)state;
  tn_ail_lexer lexer;
  tn_ail_lexer_init(&lexer, (tn_str){ "a\0b", 3 });
  assert_int_equal(tn_ail_lexer_next(&lexer).kind, TN_AIL_TOKEN_NAME);
  assert_int_equal(tn_ail_lexer_next(&lexer).kind, TN_AIL_TOKEN_BAD);
  assert_int_equal(tn_ail_lexer_next(&lexer).kind, TN_AIL_TOKEN_NAME);
  assert_int_equal(tn_ail_lexer_next(&lexer).kind, TN_AIL_TOKEN_END);
}

static void tokens_know_whether_they_start_a_line(void **state) {
  (void)state;
  tn_ail_lexer lexer = lexer_of("a b # c\n  d // e\r\nf");
  static const bool starts[] = { true, false, true, true };
  for (size_t i = 0; i < 4; i++) assert_int_equal(tn_ail_lexer_next(&lexer).starts_line, starts[i]);
  assert_int_equal(tn_ail_lexer_next(&lexer).kind, TN_AIL_TOKEN_END);
}

static void comments_are_kept_without_trailing_blanks(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_ail_comments comments = { 0 };
  tn_ail_lexer lexer = lexer_of("# one  \na // two\t\r\n#");
  lexer.heap = &heap;
  lexer.comments = &comments;
  while (tn_ail_lexer_next(&lexer).kind != TN_AIL_TOKEN_END) {
  }
  assert_int_equal(comments.count, 3);
  assert_int_equal(comments.at[0].end, 5);
  assert_true(comments.at[0].starts_line);
  assert_int_equal(comments.at[1].start, 10);
  assert_int_equal(comments.at[1].end, 16);
  assert_false(comments.at[1].starts_line);
  assert_int_equal(comments.at[2].end - comments.at[2].start, 1);
  tn_vec_free(&heap, &comments);
  assert_int_equal(heap.used, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_word_is_recognised_and_no_other_name),
    cmocka_unit_test(only_the_words_of_expressions_are_reserved),
    cmocka_unit_test(signs_are_read_as_long_as_possible),
    cmocka_unit_test(numbers_and_strings_end_where_they_should),
    cmocka_unit_test(an_invalid_token_says_why_and_reading_continues),
    cmocka_unit_test(a_zero_byte_does_not_end_a_text),
    cmocka_unit_test(tokens_know_whether_they_start_a_line),
    cmocka_unit_test(comments_are_kept_without_trailing_blanks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
