/* lang/mind/lang.c: the doors of MIND. */
#include "lang/mind/doors.h"

static const char *const extensions[] = { ".mind", NULL };

static const tn_lang mind_language = {
  .name = "mind",
  .extensions = extensions,
  .check = tn_lang_mind_check,
  .run = tn_lang_mind_run,
  .format = tn_lang_mind_format,
  .emit = tn_lang_mind_emit,
  .type_at = tn_lang_mind_type_at,
  .repl_new = tn_lang_mind_repl_new,
  .repl_line = tn_lang_mind_repl_line,
  .repl_cancel = tn_lang_mind_repl_cancel,
  .repl_complete = tn_lang_mind_repl_complete,
  .repl_free = tn_lang_mind_repl_free,
};

const tn_lang *tn_lang_mind(void) { return &mind_language; }
