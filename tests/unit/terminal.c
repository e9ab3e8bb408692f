/* Interactive sessions on a real (pseudo) terminal: prompt, history, completion, Ctrl-C, Ctrl-D. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <poll.h>
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define PATIENCE 60 /* seconds, for a machine that has other things to do */

typedef struct {
  pid_t child;
  int terminal;
  char seen[65536]; /* since the last that was waited for */
  size_t length;
} talk;

static char folder[64];

static void begin(talk *t, const char *language) {
  memset(t, 0, sizeof *t);
  t->child = forkpty(&t->terminal, NULL, NULL, NULL);
  assert_true(t->child >= 0);
  if (t->child == 0) {
    setenv("XDG_DATA_HOME", folder, 1);
    setenv("TERM", getenv("TEST_TERM") ? getenv("TEST_TERM") : "dumb", 1);
    execl(TN_PROGRAM, "tern", "repl", "--lang", language, (char *)NULL);
    _exit(127);
  }
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* False at the end of what the program says. */
static bool read_some(talk *t) {
  struct pollfd waiting = { .fd = t->terminal, .events = POLLIN };
  if (poll(&waiting, 1, 1000) <= 0) return true;
  ssize_t got = read(t->terminal, t->seen + t->length, sizeof t->seen - 1 - t->length);
  if (got <= 0) return false;
  t->length += (size_t)got;
  t->seen[t->length] = 0;
  return true;
}

static bool is_prompt(const char *text) { return strstr(text, "> ") || strcmp(text, "... ") == 0; }

/* Whether keys reach the program one by one; before that, the terminal itself edits the line. */
static bool takes_keys(const talk *t) {
  struct termios modes;
  return tcgetattr(t->terminal, &modes) == 0 && !(modes.c_lflag & ICANON);
}

/* Waits until the program has said `text`, after a prompt until it takes keys, and forgets everything up
 * to there. */
static void wait_for(talk *t, const char *text) {
  double end = now() + PATIENCE;
  char *found;
  while (!(found = strstr(t->seen, text))) {
    if (now() > end || !read_some(t)) fail_msg("waited for %s, and saw: %s", text, t->seen);
  }
  if (is_prompt(text)) {
    while (!takes_keys(t) && now() < end) usleep(1000);
  }
  size_t used = (size_t)(found - t->seen) + strlen(text);
  memmove(t->seen, t->seen + used, t->length - used + 1);
  t->length -= used;
}

static void type(talk *t, const char *text) {
  size_t length = strlen(text);
  assert_int_equal(write(t->terminal, text, length), (ssize_t)length);
}

/* Ctrl-D at the prompt: the session ends with status 0. One that comes while the terminal changes from lines
 * to keys is part of the line; the line is given up and Ctrl-D typed again. */
static void end(talk *t) {
  double last = now() + PATIENCE;
  int status = -1;
  type(t, "\004");
  while (waitpid(t->child, &status, WNOHANG) == 0) {
    if (now() > last) fail_msg("the session does not end; it said: %s", t->seen);
    size_t before = t->length;
    if (read_some(t) && t->length == before) (void)!write(t->terminal, "\025\004", 2);
  }
  close(t->terminal);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_terminal_has_a_prompt_and_lines_go_on(void **unused) {
  (void)unused;
  talk t;
  begin(&t, "mind");
  wait_for(&t, "mind> ");
  type(&t, "1 + 2\n");
  wait_for(&t, "3\r\n");
  wait_for(&t, "mind> ");
  type(&t, "(4 +\n");
  wait_for(&t, "... ");
  type(&t, "5)\n");
  wait_for(&t, "9\r\n");
  wait_for(&t, "mind> ");
  end(&t);
}

static void the_other_languages_have_their_own_prompts(void **unused) {
  (void)unused;
  talk t;
  begin(&t, "ninth");
  wait_for(&t, "ninth> ");
  type(&t, "1 2 [ADD]\n");
  wait_for(&t, "stack: 3\r\n");
  wait_for(&t, "ninth> ");
  end(&t);
  begin(&t, "ail");
  wait_for(&t, "ail> ");
  type(&t, "1 + 2\n");
  wait_for(&t, "[3.0000]\r\n");
  wait_for(&t, "ail> ");
  end(&t);
}

static void history_lasts_from_session_to_session(void **unused) {
  (void)unused;
  talk t;
  begin(&t, "mind");
  wait_for(&t, "mind> ");
  type(&t, "40 + 2\n");
  wait_for(&t, "42\r\n");
  wait_for(&t, "mind> ");
  end(&t);
  begin(&t, "mind");
  wait_for(&t, "mind> ");
  type(&t, "\020\n"); /* Ctrl-P: the line before */
  wait_for(&t, "40 + 2");
  wait_for(&t, "42\r\n");
  wait_for(&t, "mind> ");
  end(&t);
}

static void the_tabulator_completes_names_methods_and_commands(void **unused) {
  (void)unused;
  talk t;
  begin(&t, "mind");
  wait_for(&t, "mind> ");
  type(&t, "let remarkable = [1.0, 2.5]\n");
  wait_for(&t, "[1, 2.5]\r\n");
  wait_for(&t, "mind> ");
  type(&t, "rema\t.cross_e\t\025"); /* and gives the line up again */
  wait_for(&t, "remarkable.cross_entropy");
  type(&t, "rema\t.su\t()\n");
  wait_for(&t, "3.5\r\n");
  wait_for(&t, "mind> ");
  type(&t, ":sh\t rema\t\n");
  wait_for(&t, "(2)\r\n");
  wait_for(&t, "mind> ");
  end(&t);
}

static void an_interrupt_stops_a_computation_and_keeps_the_session(void **unused) {
  (void)unused;
  talk t;
  begin(&t, "mind");
  wait_for(&t, "mind> ");
  type(&t, "fn fib(n: i32) -> i32 = if n < 2 { n } else { fib(n - 1) + fib(n - 2) }\n");
  wait_for(&t, "mind> ");
  type(&t, "let kept = fib(10)\n");
  wait_for(&t, "55\r\n");
  wait_for(&t, "mind> ");
  type(&t, "kept = fib(60)\n");
  wait_for(&t, "fib(60)\r\n");
  struct timespec while_it_runs = { 0, 300000000 };
  nanosleep(&while_it_runs, NULL);
  type(&t, "\003");
  wait_for(&t, "E_INTERRUPTED");
  wait_for(&t, "mind> ");
  type(&t, "kept + 1\n");
  wait_for(&t, "56\r\n");
  wait_for(&t, "mind> ");
  end(&t);
}

static void an_interrupt_at_the_prompt_gives_up_what_was_typed(void **unused) {
  (void)unused;
  talk t;
  begin(&t, "mind");
  wait_for(&t, "mind> ");
  type(&t, "(1 +\n");
  wait_for(&t, "... ");
  type(&t, "2 + ");
  wait_for(&t, "2 + ");
  type(&t, "\003");
  wait_for(&t, "mind> ");
  type(&t, "7 * 6\n");
  wait_for(&t, "42\r\n");
  wait_for(&t, "mind> ");
  end(&t);
}

/* A signal that comes between two looks at the flag must not wait for the next key. */
static void no_interrupt_at_the_prompt_is_lost(void **unused) {
  (void)unused;
  talk t;
  begin(&t, "mind");
  wait_for(&t, "mind> ");
  for (int i = 0; i < 200; i++) {
    type(&t, "7");
    wait_for(&t, "7");
    type(&t, "\003");
    wait_for(&t, "mind> ");
  }
  end(&t);
}

static void characters_of_several_bytes_are_edited_as_one(void **unused) {
  (void)unused;
  setenv("LC_ALL", "C.UTF-8", 1);
  talk t;
  begin(&t, "mind");
  wait_for(&t, "mind> ");
  type(&t, "print(\"\u00e9\u00e9\177\u2192\")\n"); /* DEL takes the whole second letter */
  wait_for(&t, "\n\u00e9\u2192\r\n");
  wait_for(&t, "mind> ");
  end(&t);
  unsetenv("LC_ALL");
}

static void a_session_greets_in_one_line_and_shows_matrices_in_rows(void **unused) {
  (void)unused;
  talk t;
  begin(&t, "mind");
  wait_for(&t, ", MIND. `help` lists commands, `quit` ends.\r\n");
  wait_for(&t, "mind> ");
  type(&t, "[[1, 2], [3, 4]] * 5\n");
  wait_for(&t, "Tensor[f32,(2,2)]\r\n  [[ 5, 10],\r\n   [15, 20]]\r\n");
  wait_for(&t, "mind> ");
  end(&t);
  begin(&t, "ninth");
  wait_for(&t, ", Ninth. ");
  wait_for(&t, "ninth> ");
  type(&t, "((1 20) (3 4))\n");
  wait_for(&t, "stack:\r\n  (( 1 20)\r\n   ( 3  4))\r\n");
  wait_for(&t, "ninth> ");
  end(&t);
  begin(&t, "ail");
  wait_for(&t, ", AILang. ");
  wait_for(&t, "ail> ");
  type(&t, "fill([2, 2], 1) * 3\n");
  wait_for(&t, "Output shape: [2, 2]\r\n  [[3, 3],\r\n   [3, 3]]\r\n");
  wait_for(&t, "ail> ");
  end(&t);
}

static void a_definition_is_recalled_as_a_whole(void **unused) {
  (void)unused;
  talk t;
  begin(&t, "mind");
  wait_for(&t, "mind> ");
  type(&t, "fn thrice(x: f32) -> f32 {\n");
  wait_for(&t, "... ");
  type(&t, "  x * 3\n");
  wait_for(&t, "... ");
  type(&t, "}\n");
  wait_for(&t, "mind> ");
  type(&t, ":reset\n");
  wait_for(&t, "mind> ");
  type(&t, "\020\020\n"); /* Ctrl-P twice: :reset, the definition */
  wait_for(&t, "thrice");
  wait_for(&t, "mind> ");
  type(&t, "thrice(14)\n");
  wait_for(&t, "42\r\n");
  wait_for(&t, "mind> ");
  end(&t);
}

static void files_are_completed_after_load(void **unused) {
  (void)unused;
  talk t;
  char path[128], line[160];
  snprintf(path, sizeof path, "%s/forty_two.mind", folder);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs("6 * 7\n", file);
  fclose(file);
  snprintf(line, sizeof line, ":load %s/forty\t\n", folder);
  begin(&t, "mind");
  wait_for(&t, "mind> ");
  type(&t, line);
  wait_for(&t, "forty_two.mind");
  wait_for(&t, "42\r\n");
  wait_for(&t, "mind> ");
  end(&t);
}

static void colours_are_those_of_a_terminal_that_has_some(void **unused) {
  (void)unused;
  talk t;
  setenv("TEST_TERM", "xterm", 1);
  begin(&t, "mind");
  wait_for(&t, "\033[1;32m");
  wait_for(&t, "mind> ");
  type(&t, "40 + 2\n");
  wait_for(&t, "\033[36m42\033[0m\r\n");
  wait_for(&t, "mind> ");
  type(&t, "nothing\n");
  wait_for(&t, "\033[1;31merror[E2002]");
  wait_for(&t, "mind> ");
  end(&t);
  setenv("NO_COLOR", "1", 1);
  begin(&t, "mind");
  wait_for(&t, "mind> ");
  type(&t, "40 + 2\n");
  wait_for(&t, "\n42\r\n");
  wait_for(&t, "mind> ");
  end(&t);
  unsetenv("NO_COLOR");
  unsetenv("TEST_TERM");
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_terminal_has_a_prompt_and_lines_go_on),
    cmocka_unit_test(the_other_languages_have_their_own_prompts),
    cmocka_unit_test(history_lasts_from_session_to_session),
    cmocka_unit_test(the_tabulator_completes_names_methods_and_commands),
    cmocka_unit_test(an_interrupt_stops_a_computation_and_keeps_the_session),
    cmocka_unit_test(an_interrupt_at_the_prompt_gives_up_what_was_typed),
    cmocka_unit_test(no_interrupt_at_the_prompt_is_lost),
    cmocka_unit_test(characters_of_several_bytes_are_edited_as_one),
    cmocka_unit_test(a_session_greets_in_one_line_and_shows_matrices_in_rows),
    cmocka_unit_test(a_definition_is_recalled_as_a_whole),
    cmocka_unit_test(files_are_completed_after_load),
    cmocka_unit_test(colours_are_those_of_a_terminal_that_has_some),
  };
  strcpy(folder, "/tmp/tern-terminal-XXXXXX");
  if (!mkdtemp(folder)) return 1;
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  char remove[128];
  snprintf(remove, sizeof remove, "rm -r %s", folder);
  return system(remove) == 0 ? failed : 1;
}
