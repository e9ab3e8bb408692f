/* The limits of what a text of MIND may unfold to: the last that is accepted, the first that is refused. */
#include "base/text.h"
#include "lang/mind/internal.h"
#include "mind_support.h"

static void repeat(tn_text *out, const char *words, int n) {
  for (int i = 0; i < n; i++) tn_text_puts(out, words);
}

/* `first`, then `words` n times, then `last`. */
static void gives(const char *first, const char *words, int n, const char *last, tn_diag_code code) {
  mind_session s = { 0 };
  tn_text text;
  assert_true(mind_open(&s));
  tn_text_init(&text, &s.heap);
  tn_text_puts(&text, first);
  repeat(&text, words, n);
  tn_text_puts(&text, last);
  tn_text_byte(&text, '\0');
  bool ok = mind_check(&s, text.at);
  assert_int_equal(ok, code == TN_DIAG_NONE);
  if (!ok) {
    assert_int_equal(s.diags.list.count, 1); /* and nothing that follows from it */
    assert_int_equal(s.diags.list.at[0].code, code);
  }
  tn_text_free(&text);
  mind_close(&s);
}

static void tuples_nest_a_thousand_levels(void **state) {
  (void)state;
  gives("let t = 1\n", "let t = (t,)\n", TN_MIND_LEVELS_LIMIT, "t\n", TN_DIAG_NONE);
  gives("let t = 1\n", "let t = (t,)\n", TN_MIND_LEVELS_LIMIT + 1, "t\n", TN_DIAG_E_NESTING_LIMIT);
  gives("let f = |x| (x,)\nlet t = 1\n", "let t = f(t)\n", TN_MIND_LEVELS_LIMIT + 1, "",
        TN_DIAG_E_NESTING_LIMIT);
}

/* 2^16 - 1 parts, and twice as many. */
static void tuples_have_65536_parts(void **state) {
  (void)state;
  gives("let t = 1\n", "let t = (t, t)\n", 15, "t\n", TN_DIAG_NONE);
  gives("let t = 1\n", "let t = (t, t)\n", 16, "t\n", TN_DIAG_E_TOO_LARGE);
  gives("let t = 1\n", "let t = (t, t)\n", 300, "t.0.1\n", TN_DIAG_E_TOO_LARGE);
  gives("let d = |x| (x, x)\nlet t = 1\n", "let t = d(t)\n", 300, "t\n", TN_DIAG_E_TOO_LARGE);
}

static void closures_unfold_to_500000_expressions(void **state) {
  (void)state;
  const char *two = "let two = |f| |x| f(f(x))\ntwo";
  gives(two, "(two)", 2, "(|x| x + 1)(0)\n", TN_DIAG_NONE);
  gives(two, "(two)", 4, "(|x| x + 1)(0)\n", TN_DIAG_E_TOO_LARGE);
  gives(two, "(two)", 100, "(|x| x + 1)(0)\n", TN_DIAG_E_TOO_LARGE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(tuples_nest_a_thousand_levels),
    cmocka_unit_test(tuples_have_65536_parts),
    cmocka_unit_test(closures_unfold_to_500000_expressions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
