/* cli/repl.c: the verb repl: reads lines and prints answers.
 *
 * On a terminal with a prompt; piped, plain and quiet. The language keeps the
 * session; this file only moves lines. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/line.h"

/* Ctrl-C at the prompt discards the line. Any other signal ends the session. */
static bool gave_up(tern_repl *repl, tn_signal wish) {
  tern_repl_cancel(repl);
  putchar('\n');
  fflush(stdout);
  return wish == TN_SIGNAL_CANCEL;
}

/* The input has ended. An `if` to which an `else` could have been added is complete anyway; an open
 * block is not, and then it is false. */
static bool finish(tern_repl *repl) {
  const char *shown;
  tern_repl_answer answer = tern_repl_line(repl, "", &shown);
  if (shown) fputs(shown, stdout);
  return answer != TERN_REPL_MORE;
}

/* The lines so far, joined: a definition of several lines is recalled as one. */
typedef struct {
  char *text;
  size_t length;
} typed;

static void add_line(typed *t, const char *line, size_t length) {
  char *more = realloc(t->text, t->length + length + 2);
  if (!more) return; /* then it is not recalled */
  t->text = more;
  if (t->length > 0) t->text[t->length++] = '\n';
  memcpy(t->text + t->length, line, length);
  t->length += length;
  t->text[t->length] = 0;
}

static void forget(typed *t) {
  free(t->text);
  *t = (typed){ 0 };
}

static void recall(typed *t) {
  if (t->length > 0) tn_line_remember(t->text);
  forget(t);
}

/* Every line is answered before the next is read. */
static void converse(tern_repl *repl, const char *prompt, const char *more) {
  tern_repl_answer answer = TERN_REPL_DONE;
  typed lines = { 0 };
  while (answer != TERN_REPL_QUIT) {
    size_t length;
    char *line = tn_line_read(answer == TERN_REPL_MORE ? more : prompt, &length);
    tn_signal wish = tn_cli_take_signal();
    if (wish != TN_SIGNAL_NONE) {
      free(line);
      forget(&lines);
      if (!gave_up(repl, wish)) return;
      answer = TERN_REPL_DONE;
      continue;
    }
    if (!line) {
      if (isatty(0) && isatty(1)) putchar('\n');
      if (answer == TERN_REPL_MORE && !finish(repl))
        fputs("tern: the input ended inside an open block or bracket; its lines were not run\n", stderr);
      forget(&lines);
      return;
    }
    const char *shown;
    add_line(&lines, line, length);
    answer = tern_repl_bytes(repl, line, length, &shown);
    free(line);
    if (answer != TERN_REPL_MORE) recall(&lines);
    if (shown) fputs(shown, stdout);
    fflush(stdout);
    if (tn_cli_take_signal() == TN_SIGNAL_END) return; /* it has stopped the computation */
  }
}

/* Text between the marks takes no columns (readline's convention). */
static void make_prompt(const tn_command *command, const char *text, char out[64]) {
  if (command->color_out && tn_line_is_edited())
    snprintf(out, 64, "\001\033[1;32m\002%s\001\033[0m\002", text);
  else
    snprintf(out, 64, "%s", text);
}

static void greet(tern_language language) {
  static const char *const names[] = { [TERN_LANG_AIL] = "AILang", [TERN_LANG_MIND] = "MIND",
                                       [TERN_LANG_NINTH] = "Ninth" };
  printf("tern %s, %s. `help` lists commands, `quit` ends.\n", tern_version(), names[language]);
}

static void converse_in(const tn_command *command, tern_repl *repl, tern_language language) {
  char plain[32], prompt[64], more[64];
  snprintf(plain, sizeof plain, "%s> ", tern_language_name(language));
  make_prompt(command, plain, prompt);
  make_prompt(command, "... ", more);
  bool watched = isatty(0) && isatty(1);
  tern_repl_style(repl, command->color_out, watched);
  if (watched && !tn_given_option(command, TN_OPTION_QUIET)) greet(language);
  converse(repl, prompt, more);
}

tern_status tn_cli_repl(tn_run *run) {
  const tn_command *command = run->command;
  tern_language language = command->language != TERN_LANG_AUTO ? command->language : TERN_LANG_MIND;
  if (command->word_count > 0) {
    return tn_cli_usage_about(run, "tern repl takes no file; use :load ", command->words[0], "", NULL);
  }
  tern_repl *repl = tern_repl_new(run->session, language);
  if (!repl) return tn_cli_failed(run, TERN_USAGE);
  tern_on_print(run->session, tn_cli_print, NULL);
  tn_line_begin(run->session, repl, tern_language_name(language));
  if (tn_line_folder()) tern_sandbox_path(run->session, tn_line_folder(), 1);
  converse_in(command, repl, language);
  tn_line_end();
  tern_repl_free(repl);
  return TERN_OK;
}
