/* lang/ail/repl.h: AILang, line by line; see lang.h for the doors. */
#ifndef TN_LANG_AIL_REPL_H
#define TN_LANG_AIL_REPL_H

#include "lang/lang.h"

tn_repl *tn_ail_repl_new(tn_host *host);
bool tn_ail_repl_line(tn_repl *repl, tn_str line, tn_text *out, bool *quit);
void tn_ail_repl_cancel(tn_repl *repl);
void tn_ail_repl_complete(tn_repl *repl, tn_str line, size_t cursor, tn_text *candidates);
void tn_ail_repl_free(tn_repl *repl);
#endif
