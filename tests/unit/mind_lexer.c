/* Text to tokens: words, numbers, strings, signs, comments, and what is none of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lang/mind/lexer.h"

static tn_mind_lexer lexer_of(const char *text) {
  tn_mind_lexer lexer;
  tn_mind_lexer_init(&lexer, tn_str_of(text), 1, NULL, NULL);
  return lexer;
}

static tn_mind_token first(const char *text) {
  tn_mind_lexer lexer = lexer_of(text);
  return tn_mind_next(&lexer);
}

static void only_the_keywords_are_not_names(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int kind;
  } words[] = {
    { "let", TN_MIND_TOKEN_LET },       { "fn", TN_MIND_TOKEN_FN },        { "import", TN_MIND_TOKEN_IMPORT },
    { "export", TN_MIND_TOKEN_EXPORT }, { "as", TN_MIND_TOKEN_AS },        { "if", TN_MIND_TOKEN_IF },
    { "else", TN_MIND_TOKEN_ELSE },     { "true", TN_MIND_TOKEN_TRUE },    { "false", TN_MIND_TOKEN_FALSE },
    { "lets", TN_MIND_TOKEN_NAME },     { "le", TN_MIND_TOKEN_NAME },      { "Let", TN_MIND_TOKEN_NAME },
    { "_", TN_MIND_TOKEN_NAME },        { "exports", TN_MIND_TOKEN_NAME }, { "f", TN_MIND_TOKEN_NAME },
    { "return", TN_MIND_TOKEN_NAME },   { "i32", TN_MIND_TOKEN_NAME },
  };
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    assert_int_equal(first(words[i].text).kind, words[i].kind);
}

static void integers_have_four_bases(void **state) {
  (void)state;
  assert_int_equal(first("1_000").integer, 1000);
  assert_int_equal(first("0x1f").integer, 31);
  assert_int_equal(first("0o17").integer, 15);
  assert_int_equal(first("0b101").integer, 5);
  assert_int_equal(first("9223372036854775808").integer, (uint64_t)1 << 63);
  assert_false(first("9223372036854775808").too_big);
  assert_true(first("9223372036854775809").too_big);
  assert_true(first("99999999999999999999999999").too_big);
  static const char *const wrong[] = { "12abc", "0x", "0b2", "1_", "1__0", "0o8" };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    assert_int_equal(first(wrong[i]).kind, TN_MIND_TOKEN_BAD);
}

static void a_point_and_an_exponent_make_a_float(void **state) {
  (void)state;
  static const char *const floats[] = { "1.5", "2e3", "2e-3", "1.5E+2", "0.0" };
  for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++) {
    assert_int_equal(first(floats[i]).kind, TN_MIND_TOKEN_FLOAT);
    assert_int_equal(first(floats[i]).end, strlen(floats[i]));
  }
  assert_int_equal(first("1.x").kind, TN_MIND_TOKEN_INT); /* a method of 1 */
  assert_int_equal(first("1.x").end, 1);
  tn_mind_lexer lexer = lexer_of("t.0.1"); /* two selections, no float */
  static const int kinds[] = { TN_MIND_TOKEN_NAME, '.', TN_MIND_TOKEN_INT, '.', TN_MIND_TOKEN_INT,
                               TN_MIND_TOKEN_END };
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    assert_int_equal(tn_mind_next(&lexer).kind, kinds[i]);
}

static void signs_are_read_as_long_as_possible(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int kind;
  } signs[] = { { "->", TN_MIND_TOKEN_ARROW },
                { "- >", '-' },
                { "==", TN_MIND_TOKEN_EQ },
                { "=", '=' },
                { "!=", TN_MIND_TOKEN_NE },
                { "!", '!' },
                { "<=", TN_MIND_TOKEN_LE },
                { ">=", TN_MIND_TOKEN_GE },
                { "&&", TN_MIND_TOKEN_AND },
                { "||", TN_MIND_TOKEN_OR },
                { "|", '|' },
                { "@", '@' },
                { "&", TN_MIND_TOKEN_BAD },
                { "$", TN_MIND_TOKEN_BAD },
                { "\x80", TN_MIND_TOKEN_BAD },
                { "é", TN_MIND_TOKEN_BAD } };
  for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
    assert_int_equal(first(signs[i].text).kind, signs[i].kind);
}

static void strings_are_unescaped(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_arena arena;
  tn_arena_init(&arena, &heap);
  tn_str text = tn_mind_unescape(TN_LIT("\"a\\n\\t\\\\\\\"\\0b\""), &arena);
  assert_int_equal(text.len, 7);
  assert_memory_equal(text.at, "a\n\t\\\"\0b", 7);
  assert_int_equal(first("\"open").kind, TN_MIND_TOKEN_BAD);
  assert_int_equal(first("\"line\nbreak\"").kind, TN_MIND_TOKEN_BAD);
  assert_int_equal(first("\"ends in \\").kind, TN_MIND_TOKEN_BAD);
  tn_arena_free(&arena);
  assert_int_equal(heap.used, 0);
}

static void line_breaks_are_seen_through_comments(void **state) {
  (void)state;
  tn_mind_lexer lexer = lexer_of("a // x\nb /* c\n /* d */ */ e\n\nf /* no end");
  assert_false(tn_mind_next(&lexer).new_line);
  assert_true(tn_mind_next(&lexer).new_line);
  assert_true(tn_mind_next(&lexer).new_line);
  tn_mind_token last = tn_mind_next(&lexer);
  assert_true(last.new_line && last.blank_line);
  assert_int_equal(tn_mind_next(&lexer).kind, TN_MIND_TOKEN_END);
  assert_true(lexer.open);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(only_the_keywords_are_not_names),
    cmocka_unit_test(integers_have_four_bases),
    cmocka_unit_test(a_point_and_an_exponent_make_a_float),
    cmocka_unit_test(signs_are_read_as_long_as_possible),
    cmocka_unit_test(strings_are_unescaped),
    cmocka_unit_test(line_breaks_are_seen_through_comments),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
