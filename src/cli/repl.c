/* cli/repl.c: lines in, answers out.
 *
 * On a terminal with a prompt; piped, plain and quiet. The language keeps the
 * session; this file only moves lines. */
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

#define LINE_LIMIT 65536

static void prompt(bool terminal, const char *name, bool more) {
  if (!terminal) return;
  if (more)
    fputs("... ", stdout);
  else
    printf("%s> ", name);
  fflush(stdout);
}

/* A line without its end; false at the end of input. Longer ones are cut off by the reader. */
static bool read_line(char *line) {
  if (!fgets(line, LINE_LIMIT, stdin)) return false;
  line[strcspn(line, "\n")] = 0;
  return true;
}

tern_status tn_cli_repl(tn_run *run) {
  static char line[LINE_LIMIT];
  tern_language language = run->command->language != TERN_LANG_AUTO ? run->command->language : TERN_LANG_MIND;
  if (run->command->word_count > 0)
    return tn_cli_usage_about(run, "tern repl takes no file; use :load ", run->command->words[0], "", NULL);
  tern_repl *repl = tern_repl_new(run->session, language);
  if (!repl) return tn_cli_failed(run, TERN_USAGE);
  bool terminal = isatty(0) && isatty(1);
  tern_on_print(run->session, tn_cli_print, NULL);
  int answer = 1;
  for (prompt(terminal, tern_language_name(language), false); answer != 2 && read_line(line);) {
    const char *shown;
    answer = tern_repl_line(repl, line, &shown);
    if (shown) fputs(shown, stdout);
    fflush(stdout);
    if (answer != 2) prompt(terminal, tern_language_name(language), answer == 0);
  }
  if (terminal && answer != 2) putchar('\n');
  tern_repl_free(repl);
  return TERN_OK;
}
