/* lang/mind/doors.h: what lang.c opens. */
#ifndef TN_LANG_MIND_DOORS_H
#define TN_LANG_MIND_DOORS_H

#include "lang/lang.h"

/* The canonical form of the text (format.c). */
bool tn_mind_format(tn_host *host, uint32_t file, tn_text *out);
/* The program as a graph (emit.c). */
bool tn_mind_emit(tn_host *host, uint32_t file, tn_emit_kind kind, tn_text *out);
/* The type of what stands at a byte (type_at.c). */
bool tn_mind_type_at(tn_host *host, uint32_t file, uint32_t place, tn_text *out);
/* Interactive sessions (repl.c). */
tn_repl *tn_mind_repl_new(tn_host *host);
bool tn_mind_repl_line(tn_repl *repl, tn_str line, tn_text *out, bool *quit);
void tn_mind_repl_cancel(tn_repl *repl);
void tn_mind_repl_complete(tn_repl *repl, tn_str line, size_t cursor, tn_text *candidates);
void tn_mind_repl_free(tn_repl *repl);
#endif
