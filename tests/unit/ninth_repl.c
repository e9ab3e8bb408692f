/* tests/unit/ninth_repl.c: a conversation, line by line. */
#include <stdio.h>

#include "ninth_support.h"

typedef struct {
  world w;
  tn_repl *repl;
  tn_text shown;
  bool quit;
} talk;

static void talk_open(talk *t) {
  world_open(&t->w);
  t->quit = false;
  t->repl = tn_lang_ninth()->repl_new(&t->w.host);
  assert_non_null(t->repl);
  tn_text_init(&t->shown, &t->w.heap);
}

static void talk_close(talk *t) {
  tn_text_free(&t->shown);
  tn_lang_ninth()->repl_free(t->repl);
  world_close(&t->w);
}

/* True when the line was complete. */
static bool say(talk *t, const char *line) {
  tn_text_clear(&t->shown);
  return tn_lang_ninth()->repl_line(t->repl, tn_str_of(line), &t->shown, &t->quit);
}

static const char *shown(const talk *t) { return t->shown.len > 0 ? t->shown.at : ""; }

static void assert_says(talk *t, const char *line, const char *wanted) {
  assert_true(say(t, line));
  assert_string_equal(shown(t), wanted);
}

static void the_stack_is_shown_after_each_line(void **state) {
  (void)state;
  talk t;
  talk_open(&t);
  assert_says(&t, "1 2", "stack: 1 2\n");
  assert_says(&t, "[ADD] \"s\" [2 3]", "stack: 3 \"s\" [2 3]\n");
  assert_says(&t, ":stack", "stack: 3 \"s\" [2 3]\n");
  assert_says(&t, ":clear", "stack: (empty)\n");
  assert_says(&t, "", "");
  talk_close(&t);
}

static void an_open_block_continues_in_the_next_line(void **state) {
  (void)state;
  talk t;
  talk_open(&t);
  assert_false(say(&t, "[DEF] \"f\""));
  assert_string_equal(shown(&t), "");
  assert_false(say(&t, "  2 [MUL]"));
  assert_says(&t, "[RET]", "stack: (empty)\n");
  assert_says(&t, "4 [CALL] \"f\"", "stack: 8\n");
  assert_false(say(&t, "(1 2"));
  assert_says(&t, "3)", "stack: 8 (1 2 3)\n");
  assert_false(say(&t, "\"two"));
  assert_says(&t, "lines\" [DROP] [DROP] [DROP]", "stack: (empty)\n");
  assert_false(say(&t, "1 [IF]"));
  assert_says(&t, ":clear", "stack: (empty)\n");
  assert_says(&t, "7", "stack: 7\n");
  talk_close(&t);
}

static void a_mistake_leaves_the_stack_and_what_was_defined(void **state) {
  (void)state;
  talk t;
  talk_open(&t);
  assert_says(&t, "[DEF] \"f\" [ADD] [RET] 5 -> x", "stack: (empty)\n");
  assert_true(say(&t, "1 [CALL] \"f\""));
  assert_non_null(strstr(shown(&t), "error[E_STACK_UNDERFLOW]"));
  assert_non_null(strstr(shown(&t), "stack: (empty)\n"));
  assert_says(&t, "1", "stack: 1\n");
  assert_true(say(&t, "2 [FOO]"));
  assert_non_null(strstr(shown(&t), "error[E_UNKNOWN_OPCODE]"));
  assert_non_null(strstr(shown(&t), "stack: 1\n"));
  assert_true(say(&t, "[DROP] 9 -> x 8 -> new 7 -> @state 6 \"m\" [STORE] [DEF] \"f\" [RET] [DROP] [DROP]"));
  assert_non_null(strstr(shown(&t), "error[E_STACK_UNDERFLOW]"));
  assert_non_null(strstr(shown(&t), "stack: 1\n"));
  assert_says(&t, ":vars", "x = 5\nfunction f\n");
  assert_true(say(&t, "@state"));
  assert_non_null(strstr(shown(&t), "error[E_UNDEFINED_VARIABLE]"));
  assert_says(&t, "x [CALL] \"f\"", "stack: 6\n");
  assert_true(say(&t, "[NO_GRAD] [ADD] [END_NO_GRAD]"));
  assert_says(&t, "[DROP] 3 [VAR] -> w w w [MUL] [BACKWARD] w [GRAD]", "stack: 6\n");
  talk_close(&t);
}

static void variables_last_from_line_to_line(void **state) {
  (void)state;
  talk t;
  talk_open(&t);
  say(&t, "5 -> x 6 -> @y 7 \"z\" [STORE]");
  say(&t, "\"M\" [MODULE] [END_MODULE] [DEF] \"f\" [RET]");
  assert_says(&t, ":vars", "x = 5\n@y = 6\nstored z = 7\nmodule M\nfunction f\n");
  assert_says(&t, "x y [ADD] \"z\" [LOAD]", "stack: 11 7\n");
  assert_says(&t, "8 -> x { x } [DROP] x", "stack: 11 7 8\n");
  talk_close(&t);
}

/* Weights that a line has changed in place, their gradients, the state of instances and the next random
 * numbers. */
static void a_mistake_undoes_what_was_done_in_place(void **state) {
  (void)state;
  talk t;
  talk_open(&t);
  assert_says(&t, "(1 2) [VAR] -> w (1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18) [VAR] -> v",
              "stack: (empty)\n");
  assert_says(&t, "w w [MUL] [SUM] [BACKWARD] v 3 [MUL] [SUM] [BACKWARD]", "stack: (empty)\n");
  say(&t, "w 1 w [GRAD] [SUB_ASSIGN_GRAD] w 1 w [GRAD] [SUB_ASSIGN_GRAD] v 1 v [GRAD] [SUB_ASSIGN_GRAD] w v "
          "[ADD]");
  assert_non_null(strstr(shown(&t), "E_SHAPE_MISMATCH"));
  assert_says(&t, "w", "stack: (1 2)\n");
  assert_says(&t, "[DROP] v", "stack: (1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18)\n");
  say(&t, "[DROP] w w [MUL] [SUM] [BACKWARD] v [ZERO_GRAD] [ADD]");
  assert_says(&t, "[DROP] w [GRAD]", "stack: (2 4)\n");
  assert_says(&t, "[DROP] v [GRAD] [SUM]", "stack: 54\n");
  assert_says(&t, "[DROP] \"M\" [MODULE] [INIT] 1 -> @n [RET] [FORWARD] n 1 [ADD] -> @n n [RET] [END_MODULE]",
              "stack: (empty)\n");
  assert_says(&t, "{M} -> m", "stack: (empty)\n");
  assert_says(&t, "m [CALL]", "stack: 2\n");
  say(&t, "m [CALL] m [CALL] [ADD] [ADD] [ADD]");
  assert_says(&t, "[DROP] m [CALL]", "stack: 3\n");
  say(&t, "[DROP] 2 3 [RANDN] [SUM] [ADD]");
  assert_true(say(&t, "[DROP] 1 1 [RANDN]"));
  char first[64];
  snprintf(first, sizeof first, "%s", shown(&t));
  talk_close(&t);
  talk_open(&t);
  assert_says(&t, "1 1 [RANDN]", first);
  talk_close(&t);
}

static void commands_are_listed_and_checked(void **state) {
  (void)state;
  talk t;
  talk_open(&t);
  say(&t, ":help");
  static const char *const wanted[] = { ":help",         ":stack",     ":vars", ":clear",
                                        ":trace on|off", ":load FILE", ":quit" };
  for (size_t i = 0; i < 7; i++) assert_non_null(strstr(shown(&t), wanted[i]));
  assert_says(&t, ":help [SWAP]", "[SWAP]  ( a b -- b a )  Swaps the two top items.\n");
  assert_says(&t, ":help NOPE", "there is no opcode NOPE\n");
  assert_says(&t, ":nope", "there is no command :nope; :help lists them\n");
  assert_says(&t, ":trace maybe", "say :trace on or :trace off\n");
  assert_says(&t, ":trace on", "");
  assert_says(&t, "1 2 [ADD]", "  1  stack: (empty)\n  2  stack: 1\n  [ADD]  stack: 1 2\nstack: 3\n");
  assert_says(&t, ":trace off", "");
  assert_says(&t, "4", "stack: 3 4\n");
  assert_false(t.quit);
  say(&t, ":quit");
  assert_true(t.quit);
  talk_close(&t);
}

static void assert_completes(talk *t, const char *line, const char *wanted) {
  tn_text_clear(&t->shown);
  tn_lang_ninth()->repl_complete(t->repl, tn_str_of(line), strlen(line), &t->shown);
  assert_string_equal(shown(t), wanted);
}

static void words_are_completed_by_what_they_can_be(void **state) {
  (void)state;
  talk t;
  talk_open(&t);
  say(&t, "1 -> width 2 -> @weight 3 \"where\" [STORE] [DEF] \"walk\" [RET] \"Wide\" [MODULE] [END_MODULE]");
  assert_completes(&t, "1 [SQ", "[SQRT]\n[SQUEEZE]\n");
  assert_completes(&t, "w", "width\n");
  assert_completes(&t, "@w", "@weight\n");
  assert_completes(&t, "[CALL] \"wa", "\"walk\"\n");
  assert_completes(&t, "{W", "{Wide}\n");
  assert_completes(&t, ":q", ":quit\n");
  assert_completes(&t, "nothing", "");
  talk_close(&t);
}

static void every_failed_allocation_leaves_a_session_that_can_be_closed(void **state) {
  (void)state;
  static const char *const lines[] = { "\"nn\" [USE] 1 2 {Dense} -> net",
                                       "[DEF] \"f\"",
                                       "[2 3] [ONES] [RET]",
                                       "[CALL] \"f\" [SUM]",
                                       "x",
                                       ":vars",
                                       ":clear" };
  for (uint64_t n = 1;; n++) {
    world w;
    bool opened = world_try_open(&w, n), quit = false;
    tn_repl *repl = opened ? tn_lang_ninth()->repl_new(&w.host) : NULL;
    tn_text out;
    tn_text_init(&out, &w.heap);
    for (size_t i = 0; repl && i < sizeof lines / sizeof *lines; i++) {
      tn_lang_ninth()->repl_line(repl, tn_str_of(lines[i]), &out, &quit);
    }
    bool refused = w.heap.failed;
    tn_text_free(&out);
    if (repl) tn_lang_ninth()->repl_free(repl);
    world_close(&w);
    if (!refused) break;
  }
}

/* Lines that define something stay; all others leave nothing behind. */
static void a_long_session_needs_no_more_memory_than_a_short_one(void **state) {
  (void)state;
  static const char *const lines[] = { "(1 2 3) [DUP] [MUL] [SUM] -> x",
                                       "[2 2] [ONES] x [MUL] -> y",
                                       "\"text\" -> z",
                                       "nothing",
                                       "1 [NOTHING]",
                                       "y [SUM] [DROP]" };
  talk t;
  talk_open(&t);
  say(&t, "[DEF] \"double\" 2 [MUL] [RET]");
  size_t used[2] = { 0 };
  for (int round = 0; round < 20; round++) {
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) say(&t, lines[i]);
    used[round >= 10] = t.w.heap.used;
  }
  assert_int_equal(used[0], used[1]);
  assert_says(&t, "x [CALL] \"double\"", "stack: 28\n");
  talk_close(&t);
}

/* Lines that define: what is replaced is freed, with its text, its code and its names. */
static void what_is_redefined_needs_no_more_memory(void **state) {
  (void)state;
  static const char *const lines[] = {
    "[DEF] \"f\" 1 2 [ADD] [RET]",
    "\"N\" [MODULE] [INIT] [2] -> @w [RET] [FORWARD] @w [MUL] [RET] [END_MODULE]",
    "\"E\" [MODULE] [END_MODULE] {E} -> e",
    "{N} -> n",
    "{ 1 [ADD] } -> b { 2 } -> @b { 3 } \"b\" [STORE]",
    "(1 2) [VAR] -> v v v [MUL] [SUM] [BACKWARD]",
    "\"nn\" [USE] [CALL] \"f\" [DROP] nope",
  };
  talk t;
  talk_open(&t);
  size_t used[2] = { 0 }, files[2] = { 0 };
  for (int round = 0; round < 40; round++) {
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) say(&t, lines[i]);
    used[round >= 20] = t.w.heap.used;
    files[round >= 20] = t.w.sources.files.count;
  }
  assert_int_equal(used[0], used[1]);
  assert_int_equal(files[0], files[1]);
  assert_says(&t, "e n [PRINT] [PRINT] b [CALL] \"f\"", "stack: { 1 [ADD] } 3\n");
  talk_close(&t);
}

/* The form with a number in the place of #. */
static void fill(char *line, size_t room, const char *form, int number) {
  const char *hash = strchr(form, '#');
  snprintf(line, room, "%.*s%d%s", (int)(hash - form), form, number, hash + 1);
}

/* Names that came up in a line that failed, or that left nothing, are gone; each line has others. */
static void lines_that_leave_nothing_leave_no_names(void **state) {
  (void)state;
  static const char *const forms[] = {
    "nope#",         "1 -> x# nope",          "1 -> @x# nope",  "\"s#\" [DROP]",
    "[DEF] \"f#\" 1 [RET] nope", "\"m#\" [MODULE] [END_MODULE] nope", ") x#", "1 \"v#\" [STORE] nope",
    "\"nn\" [USE] nope#", "{ x# } [DROP]",  "\"s#\" [PRINT]", "1 [IF] 2 [DROP] [ELSE] x# [ENDIF]",
  };
  talk t;
  talk_open(&t);
  size_t used[2] = { 0 };
  for (int round = 0; round < 400; round++) {
    char line[100];
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
      fill(line, sizeof line, forms[i], round);
      say(&t, line);
    }
    tn_text_clear(&t.w.printed);
    used[round >= 200] = t.w.heap.used;
  }
  assert_int_equal(used[0], used[1]);
  assert_says(&t, ":vars", "");
  talk_close(&t);
}

/* A line costs what it does, whatever the session holds: twice the lines, twice the requests. */
static uint64_t requests_of(const char *form, int count) {
  talk t;
  char line[100];
  talk_open(&t);
  for (int i = 0; i < count; i++) {
    fill(line, sizeof line, form, i);
    say(&t, line);
  }
  uint64_t requests = t.w.heap.requests;
  talk_close(&t);
  return requests;
}

static void the_cost_of_a_line_does_not_grow_with_the_session(void **state) {
  (void)state;
  static const char *const forms[] = { "[DEF] \"f#\" 1 [RET]", "1 -> x#", "1 -> @x#", "nope#",
                                       "(1 2) [VAR] -> v#", "{ 1 } -> b#", "\"t#\" -> t" };
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    uint64_t few = requests_of(forms[i], 500), many = requests_of(forms[i], 1000);
    assert_true(many < 2 * few + few / 10);
  }
}

/* A block, a function or an instance may be all that is left of its line, and of lines that were replaced. */
static void what_is_left_of_a_line_works_when_the_rest_is_gone(void **state) {
  (void)state;
  talk t;
  talk_open(&t);
  assert_says(&t, "\"N\" [MODULE] [END_MODULE]", "stack: (empty)\n");
  assert_says(&t, "{N}", "stack: <N>\n");
  assert_says(&t, ":clear", "stack: (empty)\n");
  say(&t, "\"M\" [MODULE] [INIT] 7 -> @a [RET] [FORWARD] @a [ADD] [RET] [END_MODULE]");
  assert_says(&t, "{M} -> m", "stack: (empty)\n");
  assert_says(&t, "\"M\" [MODULE] [END_MODULE]", "stack: (empty)\n");
  assert_says(&t, "1 m [CALL]", "stack: 8\n");
  assert_says(&t, "{ 5 [MUL] } -> b { 6 } [DROP] b", "stack: 8 { 5 [MUL] }\n");
  assert_says(&t, "1 -> b", "stack: 8 { 5 [MUL] }\n");
  assert_says(&t, "[DEF] \"g\" [DEF] \"g\" 2 [RET] 1 [RET]", "stack: 8 { 5 [MUL] }\n");
  assert_says(&t, "[CALL] \"g\" [CALL] \"g\"", "stack: 8 { 5 [MUL] } 1 2\n");
  assert_true(say(&t, ":clear"));
  assert_says(&t, "[DEF] \"h\" [DEF] \"h\" 3 [RET] { 4 } [RET] [CALL] \"h\"", "stack: { 4 }\n");
  assert_true(say(&t, "[DEF] \"h\" 9 [RET]"));
  assert_says(&t, "[CALL] \"h\"", "stack: { 4 } 9\n");
  talk_close(&t);
}

/* What a failing line has bound first comes later when it is bound again. */
static void a_line_that_fails_leaves_no_order_of_parameters(void **state) {
  (void)state;
  talk t;
  talk_open(&t);
  say(&t, "\"N\" [MODULE] [FORWARD] [IF] 1 [VAR] -> @a [ELSE] 2 [VAR] -> @b [ENDIF] [RET] [END_MODULE]");
  say(&t, "{N} -> n");
  assert_true(say(&t, "0 n [CALL] nope"));
  assert_says(&t, "1 n [CALL] 0 n [CALL] n [PARAMS]", "stack: {1 2}\n");
  talk_close(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_stack_is_shown_after_each_line),
    cmocka_unit_test(an_open_block_continues_in_the_next_line),
    cmocka_unit_test(a_mistake_leaves_the_stack_and_what_was_defined),
    cmocka_unit_test(a_mistake_undoes_what_was_done_in_place),
    cmocka_unit_test(variables_last_from_line_to_line),
    cmocka_unit_test(commands_are_listed_and_checked),
    cmocka_unit_test(a_long_session_needs_no_more_memory_than_a_short_one),
    cmocka_unit_test(what_is_redefined_needs_no_more_memory),
    cmocka_unit_test(lines_that_leave_nothing_leave_no_names),
    cmocka_unit_test(the_cost_of_a_line_does_not_grow_with_the_session),
    cmocka_unit_test(what_is_left_of_a_line_works_when_the_rest_is_gone),
    cmocka_unit_test(a_line_that_fails_leaves_no_order_of_parameters),
    cmocka_unit_test(words_are_completed_by_what_they_can_be),
    cmocka_unit_test(every_failed_allocation_leaves_a_session_that_can_be_closed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
