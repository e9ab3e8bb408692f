/* lang/ninth/doors.h: what lang.c puts together. */
#ifndef TN_LANG_NINTH_DOORS_H
#define TN_LANG_NINTH_DOORS_H

#include "lang/ninth/vm.h"

/* Refuses what the command line gives and no Ninth program can use. False after reporting. */
bool tn_ninth_check_given(tn_host *host);
/* Compiles, loads and runs a file. False after reporting. */
bool tn_ninth_run_file(tn_ninth_vm *m, uint32_t file);

/* What can be known without running (check.c). Reports underflows and undefined names that are certain. */
void tn_ninth_check(tn_host *host, const tn_ninth_program *program, const tn_ninth_scope *scope);

/* The doors of lang/lang.h that have files of their own. */
bool tn_ninth_format(tn_host *host, uint32_t file, tn_text *out);
bool tn_ninth_emit_as(tn_host *host, uint32_t file, tn_emit_kind kind, tn_text *out);
tn_repl *tn_ninth_repl_new(tn_host *host);
bool tn_ninth_repl_line(tn_repl *repl, tn_str line, tn_text *out, bool *quit);
void tn_ninth_repl_cancel(tn_repl *repl);
void tn_ninth_repl_complete(tn_repl *repl, tn_str line, size_t cursor, tn_text *candidates);
void tn_ninth_repl_free(tn_repl *repl);
#endif
