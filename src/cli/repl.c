/* cli/repl.c: lines in, answers out.
 *
 * On a terminal with a prompt; piped, plain and quiet. The language keeps the
 * session; this file only moves lines. */
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/line.h"

/* Ctrl-C at the prompt gives up what was typed. Any other signal ends the session. */
static bool gave_up(tern_repl *repl, tn_signal wish) {
  tern_repl_cancel(repl);
  putchar('\n');
  fflush(stdout);
  return wish == TN_SIGNAL_CANCEL;
}

/* The input has ended. An `if` to which an `else` could have been added is complete all the same; an open
 * block is not, and then it is false. */
static bool finish(tern_repl *repl) {
  const char *shown;
  tern_repl_answer answer = tern_repl_line(repl, "", &shown);
  if (shown) fputs(shown, stdout);
  return answer != TERN_REPL_MORE;
}

/* Every line is answered before the next is read. */
static void converse(tern_repl *repl, const char *language) {
  char prompt[32];
  snprintf(prompt, sizeof prompt, "%s> ", language);
  tern_repl_answer answer = TERN_REPL_DONE;
  while (answer != TERN_REPL_QUIT) {
    size_t length;
    char *line = tn_line_read(answer == TERN_REPL_MORE ? "... " : prompt, &length);
    tn_signal wish = tn_cli_take_signal();
    if (wish != TN_SIGNAL_NONE) {
      free(line);
      if (!gave_up(repl, wish)) return;
      answer = TERN_REPL_DONE;
      continue;
    }
    if (!line) {
      if (isatty(0) && isatty(1)) putchar('\n');
      if (answer == TERN_REPL_MORE && !finish(repl))
        fputs("tern: the input ended inside an open block or bracket; its lines were not run\n", stderr);
      return;
    }
    const char *shown;
    answer = tern_repl_bytes(repl, line, length, &shown);
    free(line);
    if (shown) fputs(shown, stdout);
    fflush(stdout);
    if (tn_cli_take_signal() == TN_SIGNAL_END) return; /* it has stopped the computation */
  }
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
  converse(repl, tern_language_name(language));
  tn_line_end();
  tern_repl_free(repl);
  return TERN_OK;
}
