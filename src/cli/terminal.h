/* cli/terminal.h: what the terminal of a stream can show. */
#ifndef TN_CLI_TERMINAL_H
#define TN_CLI_TERMINAL_H

#include <stdbool.h>

/* Whether the descriptor leads to a terminal that moves its cursor: a person watches. */
bool tn_terminal_is(int descriptor);
/* Its width; where the terminal does not say, COLUMNS or 80. */
int tn_terminal_columns(int descriptor);
/* Whether it shows more than ASCII, as the user's locale says. */
bool tn_terminal_has_unicode(void);
/* Whether colours are wanted there unless --color says otherwise: NO_COLOR is respected. */
bool tn_terminal_has_color(int descriptor);
#endif
