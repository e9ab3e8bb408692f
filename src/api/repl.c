/* api/repl.c: interactive sessions; each language keeps its own state. */
#include <string.h>

#include "api/internal.h"
#include "base/utf8.h"

struct tern_repl {
  tern_session *session;
  const tn_lang *lang;
  tn_repl *state;
  bool begun; /* a line has come */
};

tern_repl *tern_repl_new(tern_session *session, tern_language language) {
  const tn_lang *lang = tn_api_lang(language);
  tn_api_begin(session);
  if (!lang || !lang->repl_new) {
    tn_api_usage(session, "there is no interactive session for ", tn_str_of(tern_language_name(language)),
                 "");
    return NULL;
  }
  tern_repl *repl = tn_heap_alloc(&session->heap, sizeof *repl);
  if (repl) {
    *repl = (tern_repl){ session, lang, lang->repl_new(&session->host), false };
    if (repl->state) return repl;
    tn_heap_free(&session->heap, repl, sizeof *repl);
  }
  tn_api_out_of_memory(session);
  return NULL;
}

void tern_repl_style(tern_repl *repl, int color, int rows) {
  repl->session->host.color = color != 0;
  repl->session->host.rows = rows != 0;
}

/* A person may type the name of any file (:load, import), so all of them stay readable; everything
 * else is given up before the first line is parsed. */
static bool confine(tern_repl *repl) {
  return tn_api_keep_path(repl->session, TN_LIT("/"), TERN_SANDBOX_READ) && tn_api_confine(repl->session);
}

tern_repl_answer tern_repl_line(tern_repl *repl, const char *line, const char **shown) {
  return tern_repl_bytes(repl, line, strlen(line), shown);
}

tern_repl_answer tern_repl_bytes(tern_repl *repl, const char *line, size_t length, const char **shown) {
  bool quit = false;
  tn_str text = { line, length };
  if (!repl->begun) text = tn_utf8_unmarked(text); /* as a file's: a session may be read from one */
  repl->begun = true;
  tn_api_begin(repl->session);
  tn_text_clear(&repl->session->text);
  if (!confine(repl)) {
    *shown = tern_diagnostics_text(repl->session, repl->session->host.color);
    return TERN_REPL_QUIT;
  }
  bool complete = repl->lang->repl_line(repl->state, text, &repl->session->text, &quit);
  tn_stop_clear(&repl->session->stop); /* a late interrupt must not stop the next line */
  *shown = tn_api_text(repl->session);
  return quit ? TERN_REPL_QUIT : complete ? TERN_REPL_DONE : TERN_REPL_MORE;
}

void tern_repl_cancel(tern_repl *repl) {
  tn_stop_clear(&repl->session->stop);
  repl->lang->repl_cancel(repl->state);
}

const char *tern_repl_complete(tern_repl *repl, const char *line, size_t cursor) {
  tn_text_clear(&repl->session->text);
  if (repl->lang->repl_complete)
    repl->lang->repl_complete(repl->state, tn_str_of(line), cursor, &repl->session->text);
  return tn_api_text(repl->session);
}

void tern_repl_free(tern_repl *repl) {
  if (!repl) return;
  repl->lang->repl_free(repl->state);
  tern_repl_style(repl, 0, 0);
  tn_heap_free(&repl->session->heap, repl, sizeof *repl);
}
