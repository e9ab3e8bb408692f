/* lang/ail/doors.h: what lang.c opens, and what AILang keeps of a program from call to call. */
#ifndef TN_LANG_AIL_DOORS_H
#define TN_LANG_AIL_DOORS_H

#include "lang/ail/ail.h"

typedef struct {
  tn_unit unit;
  tn_ail *program; /* kept for its specs; NULL: nobody has asked for them */
  tn_specs specs;
} tn_ail_unit;

const tn_specs *tn_ail_unit_specs(tn_unit *unit);
/* `loss` must be NULL. Every input must be given. */
bool tn_ail_unit_lower(tn_unit *unit, const char *loss, tn_lowered *out);
void tn_ail_unit_drop(tn_unit *unit);
/* Whole trainings. */
extern const tn_training_doors tn_ail_training;

/* Appends the program as `tern fmt` writes it. False after reporting, for a text that cannot be
 * read; nothing is appended then. Formatting a formatted program changes nothing. */
bool tn_ail_format_text(tn_host *host, uint32_t file, tn_text *out);

/* Interactive sessions (repl.c). */
tn_repl *tn_ail_repl_new(tn_host *host);
bool tn_ail_repl_line(tn_repl *repl, tn_str line, tn_text *out, bool *quit);
void tn_ail_repl_cancel(tn_repl *repl);
void tn_ail_repl_complete(tn_repl *repl, tn_str line, size_t cursor, tn_text *candidates);
void tn_ail_repl_free(tn_repl *repl);
#endif
