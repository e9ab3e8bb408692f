/* tests/unit/ninth_text.c: Ninth as text: tokens, canonical formatting, the table of opcodes. */
#include "ninth_support.h"

/* ---- tokens ---- */

/* One letter for each token: n number, a name, @ state, s string, o opcode, > arrow, + keep, the brackets
 * themselves, comma, c comment, p prose, ! bad. */
static const char letters[] = ".na@so>+()[]{},cp!";

static void assert_tokens(const char *text, bool everything_too, const char *wanted) {
  world w;
  world_open(&w);
  tn_ninth_tokens tokens;
  char got[200] = { 0 };
  assert_true(tn_ninth_lex(&w.heap, &w.diags, file_of(&w, text), everything_too, &tokens));
  for (size_t i = 0; i + 1 < tokens.list.count; i++) got[i] = letters[tokens.list.at[i].kind];
  assert_string_equal(got, wanted);
  tn_ninth_tokens_free(&w.heap, &tokens);
  world_close(&w);
}

static void brackets_quotes_and_arrows_separate_tokens(void **state) {
  (void)state;
  assert_tokens("5->x", false, "n>a");
  assert_tokens("pred[SQUEEZE]", false, "ao");
  assert_tokens("5->>@x", false, "n+@");
  assert_tokens("(1 2)[3,4]{x}", false, "(nn)[n,n]{a}");
  assert_tokens("\"a\"\"b\"", false, "ss");
  assert_tokens("-1 +1 -.5 1e-3 -inf nan inf", false, "nnnnnnn");
  assert_tokens("1e->x", false, "!>a");
  assert_tokens("- 5x a.b 1..2 @ @1 #", false, "!!!!!!!");
  assert_tokens("", false, "");
}

static void an_opcode_has_capitals_and_no_blanks(void **state) {
  (void)state;
  assert_tokens("[ADD]", false, "o");
  assert_tokens("[ADD ]", false, "[a]");
  assert_tokens("[ ADD]", false, "[a]");
  assert_tokens("[N M]", false, "[aa]");
  assert_tokens("[A2_B]", false, "o");
  assert_tokens("[Add]", false, "[a]");
  assert_tokens("[_X]", false, "[a]");
  assert_tokens("[]", false, "[]");
}

static void comments_are_not_in_strings(void **state) {
  (void)state;
  assert_tokens("1 // 2\n3", false, "nn");
  assert_tokens("1 // 2\n3", true, "ncn");
  assert_tokens("\"// 1\" 2", false, "sn");
  assert_tokens("1//2", true, "nc");
  assert_tokens("\"two\nlines\"", false, "s");
}

static void prose_is_not_read(void **state) {
  (void)state;
  assert_tokens("don't \" [ ( [PROGRAM_START] 1 [PROGRAM_END] } \"", false, "ono");
  assert_tokens("a [PROGRAM_START] 1 [PROGRAM_END] b [PROGRAM_START] 2 [PROGRAM_END]", true, "ponopono");
  assert_tokens("[PROGRAM_START] \"[PROGRAM_END]\" [PROGRAM_END]", false, "oso");
  assert_tokens("// [PROGRAM_START]\n1", false, "n");
}

static void integers_are_distinguished_from_other_numbers(void **state) {
  (void)state;
  int64_t number = 0;
  bool fits = false;
  assert_true(tn_ninth_integer(TN_LIT("-17"), &number, &fits) && fits && number == -17);
  assert_true(tn_ninth_integer(TN_LIT("9223372036854775807"), &number, &fits) && fits && number == INT64_MAX);
  assert_true(tn_ninth_integer(TN_LIT("9223372036854775808"), &number, &fits) && !fits);
  assert_false(tn_ninth_integer(TN_LIT("1e3"), &number, &fits));
  assert_false(tn_ninth_integer(TN_LIT("1."), &number, &fits));
  assert_false(tn_ninth_integer(TN_LIT("inf"), &number, &fits));
}

/* ---- formatting ---- */

static void format(world *w, const char *text, tn_text *out) {
  tn_text_init(out, &w->heap);
  assert_true(tn_lang_ninth()->format(&(tn_unit){ .host = &w->host, .file = file_of(w, text) }, out));
}

/* And what comes out is left as it is. */
static void assert_formats(const char *text, const char *wanted) {
  world w;
  tn_text once, twice;
  world_open(&w);
  format(&w, text, &once);
  assert_string_equal(once.at ? once.at : "", wanted);
  format(&w, once.at ? once.at : "", &twice);
  assert_string_equal(twice.at ? twice.at : "", wanted);
  tn_text_free(&once);
  tn_text_free(&twice);
  world_close(&w);
}

static void formatting_puts_one_space_between_tokens(void **state) {
  (void)state;
  assert_formats("5->x   x[PRINT]", "5 -> x x [PRINT]\n");
  assert_formats("[ N ] [N  ] [N M] [ n ]", "[ N ] [ N ] [N M] [n]\n"); /* [N] is an opcode */
  assert_formats("( 1  2 )[ 3 ,4 ] {  }{ x }{M[a -> 1 , b->2]}", "(1 2) [3 4] {} {x} {M [a->1 b->2]}\n");
  assert_formats("{1 [ADD]}[DROP]", "{ 1 [ADD] } [DROP]\n");
  assert_formats("1 //  why  \n2", "1  //  why\n2\n");
  assert_formats("  \n\n", "");
  assert_formats("\"a  b\"   \"c\"", "\"a  b\" \"c\"\n");
}

static void formatting_indents_what_is_open(void **state) {
  (void)state;
  assert_formats("1 [IF]\n2\n[ELSE]\n3\n[ENDIF]", "1 [IF]\n  2\n[ELSE]\n  3\n[ENDIF]\n");
  assert_formats("[DEF] \"f\"\n1 [IF]\n[RET]\n[ENDIF]\n[RET]\n5",
                 "[DEF] \"f\"\n  1 [IF]\n    [RET]\n  [ENDIF]\n[RET]\n5\n");
  assert_formats("\"M\" [MODULE]\n[INIT]\n-> x\n[RET]\n[END_MODULE]",
                 "\"M\" [MODULE]\n  [INIT]\n    -> x\n  [RET]\n[END_MODULE]\n");
  assert_formats("((1 2)\n(3 4))", "((1 2)\n  (3 4))\n");
  assert_formats("1\n\n\n\n2", "1\n\n2\n");
}

static void formatting_puts_comments_below_each_other(void **state) {
  (void)state;
  assert_formats("1 // a\n1 2 3// b\n// c\n22   // d", "1      // a\n1 2 3  // b\n// c\n22  // d\n");
  assert_formats("\"\xc3\xa4\" // a\n1 2 // b", "\"\xc3\xa4\"  // a\n1 2  // b\n");
  assert_formats("1 // a\n\n1 2 // b", "1  // a\n\n1 2  // b\n");
}

static void formatting_leaves_prose_alone(void **state) {
  (void)state;
  assert_formats("Some   prose \n [PROGRAM_START]1   2[PROGRAM_END]  more\n\n\n",
                 "Some   prose \n [PROGRAM_START] 1 2 [PROGRAM_END]  more\n\n\n");
}

static void what_cannot_be_read_is_not_formatted(void **state) {
  (void)state;
  world w;
  tn_text out;
  world_open(&w);
  tn_text_init(&out, &w.heap);
  assert_false(tn_lang_ninth()->format(&(tn_unit){ .host = &w.host, .file = file_of(&w, "1 [IF] (") }, &out));
  assert_int_equal(out.len, 0);
  assert_true(w.diags.errors > 0);
  tn_text_free(&out);
  world_close(&w);
}

/* ---- the table ---- */

static void every_opcode_is_found_by_its_name(void **state) {
  (void)state;
  for (int i = 0; i < TN_NINTH_OPCODE_COUNT; i++) {
    const tn_ninth_opcode_info *info = tn_ninth_opcode_info_of((tn_ninth_opcode)i);
    assert_int_equal(tn_ninth_opcode_find(tn_str_of(info->name)), i);
    assert_true(strlen(info->doc) > 0 && info->doc[strlen(info->doc) - 1] == '.');
    assert_non_null(strstr(info->effect, "--"));
  }
  assert_int_equal(tn_ninth_opcode_find(TN_LIT("add")), TN_NINTH_OPCODE_COUNT);
  assert_int_equal(tn_ninth_opcode_find(TN_LIT("")), TN_NINTH_OPCODE_COUNT);
  assert_true(tn_str_is(tn_ninth_opcode_suggest(TN_LIT("MATMULL")), "MATMUL"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(brackets_quotes_and_arrows_separate_tokens),
    cmocka_unit_test(an_opcode_has_capitals_and_no_blanks),
    cmocka_unit_test(comments_are_not_in_strings),
    cmocka_unit_test(prose_is_not_read),
    cmocka_unit_test(integers_are_distinguished_from_other_numbers),
    cmocka_unit_test(formatting_puts_one_space_between_tokens),
    cmocka_unit_test(formatting_indents_what_is_open),
    cmocka_unit_test(formatting_puts_comments_below_each_other),
    cmocka_unit_test(formatting_leaves_prose_alone),
    cmocka_unit_test(what_cannot_be_read_is_not_formatted),
    cmocka_unit_test(every_opcode_is_found_by_its_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
