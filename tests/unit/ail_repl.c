/* A conversation in AILang: what a line is, when it continues, what completes a word, and what happens when
 * memory runs out in the middle of it. */
#include "unit/ail_support.h"

typedef struct {
  ail_session s;
  tn_repl *repl;
  tn_text shown;
  bool quit;
} talk;

static bool talk_open(talk *t) {
  bool ok = ail_open(&t->s);
  tn_text_init(&t->shown, &t->s.heap);
  t->repl = ok ? tn_lang_ail()->repl_new(&t->s.host) : NULL;
  return t->repl != NULL;
}

static void talk_close(talk *t) {
  tn_text_free(&t->shown);
  if (t->repl) tn_lang_ail()->repl_free(t->repl);
  ail_close(&t->s);
}

/* True when the line was complete. */
static bool say(talk *t, const char *line) {
  tn_text_clear(&t->shown);
  return tn_lang_ail()->repl_line(t->repl, tn_str_of(line), &t->shown, &t->quit);
}

static const char *shown(const talk *t) { return t->shown.len > 0 ? t->shown.at : ""; }

static void an_incomplete_line_continues_in_the_next(void **state) {
  (void)state;
  static const char *const open[] = { "1 +",
                                      "1 -",
                                      "2 *",
                                      "1 ==",
                                      "1 !=",
                                      "1 <",
                                      "1 <=",
                                      "1 >",
                                      "1 >=",
                                      "true and",
                                      "not",
                                      "if",
                                      "if true then",
                                      "relu(",
                                      "sum(fill([1,",
                                      "let a =",
                                      "true or",
                                      "if 1 > 2 then 3 else",
                                      "for i in range(0, 2) do" };
  talk t = { 0 };
  assert_true(talk_open(&t));
  for (size_t i = 0; i < sizeof open / sizeof *open; i++) {
    if (say(&t, open[i])) fail_msg("`%s` is taken for a whole line", open[i]);
    assert_string_equal(shown(&t), "");
    tn_lang_ail()->repl_cancel(t.repl);
  }
  static const char *const whole[] = { "1", "relu(1)", "1)", "\"open", "a", "if true then 1 else 2" };
  for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
    if (!say(&t, whole[i])) fail_msg("`%s` is taken for an open line", whole[i]);
    assert_true(t.shown.len > 0);
  }
  talk_close(&t);
}

static void words_are_completed_by_what_they_can_be(void **state) {
  (void)state;
  static const struct {
    const char *line, *wanted;
  } cases[] = {
    { "wid", "width\n" },        { "twi", "twice\n" }, { "2 + soft", "softmax\n" }, { "ra", "range\n" },
    { ":sh", ":shape\n" },       { "nothing", "" },    { "rema", "remark\n" },
  };
  talk t = { 0 };
  assert_true(talk_open(&t));
  say(&t, "const width = 2");
  say(&t, "fn twice(wider) { wider * width }");
  say(&t, "remark = twice(width) + width");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tn_text_clear(&t.shown);
    tn_lang_ail()->repl_complete(t.repl, tn_str_of(cases[i].line), strlen(cases[i].line), &t.shown);
    assert_string_equal(shown(&t), cases[i].wanted);
  }
  talk_close(&t);
}

static void every_failed_allocation_leaves_a_session(void **state) {
  (void)state;
  static const char *const lines[] = { "const N = 2", "input x [N]",     "y = x +",         "  1",
                                       ":shape y",    ":graph y",        "z = y + nothing", "\"\\n\" + 1",
                                       ":env",        "model { a = x }", ":reset" };
  for (uint64_t n = 1;; n++) {
    talk t = { .s = { .heap = { .fail_at = n } } };
    if (talk_open(&t)) {
      for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) say(&t, lines[i]);
    }
    bool reached = t.s.heap.failed;
    talk_close(&t);
    assert_int_equal(t.s.heap.used, 0);
    if (!reached) return;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(an_incomplete_line_continues_in_the_next),
    cmocka_unit_test(words_are_completed_by_what_they_can_be),
    cmocka_unit_test(every_failed_allocation_leaves_a_session),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
