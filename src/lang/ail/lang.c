/* lang/ail/lang.c: the table of entry points of AILang. */
#include "lang/ail/doors.h"

const tn_lang *tn_lang_ail(void) {
  static const char *const extensions[] = { ".ail", NULL };
  static const tn_lang language = { .name = "ail",
                                    .extensions = extensions,
                                    .check = tn_lang_ail_check,
                                    .run = tn_lang_ail_run,
                                    .format = tn_lang_ail_format,
                                    .emit = tn_lang_ail_emit,
                                    .app = tn_lang_ail_app,
                                    .unit_bytes = sizeof(tn_ail_unit),
                                    .drop = tn_lang_ail_drop,
                                    .specs = tn_lang_ail_specs,
                                    .lower = tn_lang_ail_lower,
                                    .training = &tn_ail_training,
                                    .repl_new = tn_lang_ail_repl_new,
                                    .repl_line = tn_lang_ail_repl_line,
                                    .repl_cancel = tn_lang_ail_repl_cancel,
                                    .repl_complete = tn_lang_ail_repl_complete,
                                    .repl_free = tn_lang_ail_repl_free };
  return &language;
}
