/* cli/line.h: an input line, with editing, history and completion where the build has libedit. */
#ifndef TN_CLI_LINE_H
#define TN_CLI_LINE_H

#include "cli/cli.h"

/* Before the first line of an interactive session; candidates come from `repl`. */
void tn_line_begin(tern_session *session, tern_repl *repl, const char *language);
/* The next line, without its end, and its bytes, among which may be a NUL; from malloc. NULL at the end of
 * input. */
char *tn_line_read(const char *prompt, size_t *length);
/* Keeps what was typed, of one line or several, to be recalled as a whole. */
void tn_line_remember(const char *text);
/* Whether lines are edited here: then prompts may mark what takes no room. */
bool tn_line_is_edited(void);
void tn_line_end(void);
/* The folder that the history is kept in, for the sandbox to leave open; NULL: none. After tn_line_begin. */
const char *tn_line_folder(void);
#endif
