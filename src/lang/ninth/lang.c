/* lang/ninth/lang.c: the table of entry points of Ninth. */
#include "lang/ninth/doors.h"

const tn_lang *tn_lang_ninth(void) {
  static const char *const extensions[] = { ".nth", ".ninth", NULL };
  static const tn_lang ninth = {
    .name = "ninth",
    .unit_bytes = sizeof(tn_ninth_kept),
    .drop = tn_lang_ninth_drop,
    .specs = tn_lang_ninth_specs,
    .extensions = extensions,
    .check = tn_lang_ninth_check,
    .run = tn_lang_ninth_run,
    .format = tn_lang_ninth_format,
    .emit = tn_lang_ninth_emit,
    .repl_new = tn_lang_ninth_repl_new,
    .repl_line = tn_lang_ninth_repl_line,
    .repl_cancel = tn_lang_ninth_repl_cancel,
    .repl_complete = tn_lang_ninth_repl_complete,
    .repl_free = tn_lang_ninth_repl_free,
  };
  return &ninth;
}
