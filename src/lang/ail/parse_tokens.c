/* lang/ail/parse_tokens.c: what every parsing function stands on.
 *
 * Errors: the first one of a statement is reported and starts a panic, in which
 * nothing more is said; the statement's reader then skips to where the next one
 * begins. Names that were skipped are marked, so that nobody complains later
 * that they were never declared. */
#include <string.h>

#include "base/utf8.h"
#include "lang/ail/ail.h"
#include "lang/ail/parser.h"

void *tn_ail_keep(tn_ail_parser *p, const void *items, size_t count, size_t size) {
  if (count == 0) return NULL;
  void *copy = tn_arena_copy(p->arena, items, count * size);
  if (!copy) p->failed = true;
  return copy;
}

/* ---- tokens ---- */

void tn_ail_advance(tn_ail_parser *p) {
  p->read_to = p->token.end;
  p->token = p->next;
  if (p->next.kind != TN_AIL_TOKEN_END) tn_ail_lexer_read(&p->lexer, &p->next);
}

bool tn_ail_accept(tn_ail_parser *p, tn_ail_token_kind kind) {
  if (p->token.kind != kind) return false;
  tn_ail_advance(p);
  return true;
}

bool tn_ail_accept_word(tn_ail_parser *p, tn_ail_word word) {
  if (p->token.word != word) return false;
  tn_ail_advance(p);
  return true;
}

bool tn_ail_expect(tn_ail_parser *p, tn_ail_token_kind kind, const char *what) {
  return tn_ail_accept(p, kind) ? true : tn_ail_expected(p, what);
}

bool tn_ail_expect_word(tn_ail_parser *p, tn_ail_word word, const char *what) {
  return tn_ail_accept_word(p, word) ? true : tn_ail_expected(p, what);
}

tn_span tn_ail_token_span(const tn_ail_parser *p, const tn_ail_token *token) {
  return (tn_span){ p->file, token->start, token->end };
}

tn_str tn_ail_token_text(const tn_ail_parser *p, const tn_ail_token *token) {
  return (tn_str){ p->lexer.text.at + token->start, token->end - token->start };
}

tn_span tn_ail_span_from(const tn_ail_parser *p, uint32_t start) {
  return (tn_span){ p->file, start, p->read_to > start ? p->read_to : start };
}

tn_name tn_ail_name_of(tn_ail_parser *p, const tn_ail_token *token) {
  tn_name name = tn_names_intern(p->host->names, tn_ail_token_text(p, token));
  if (name == 0) p->failed = true;
  return name;
}

tn_name tn_ail_expect_name(tn_ail_parser *p, const char *what, tn_span *at) {
  *at = tn_ail_token_span(p, &p->token);
  if (p->panic) return 0;
  if (!tn_ail_at(p, TN_AIL_TOKEN_NAME)) {
    tn_ail_expected(p, what);
    return 0;
  }
  tn_name name = tn_ail_name_of(p, &p->token);
  tn_ail_advance(p);
  return name;
}

void tn_ail_mark(tn_ail_parser *p, tn_name name, unsigned mark) {
  if (name == 0) return;
  const uint64_t *marks = tn_map_get(&p->tree->marks, name);
  if (!tn_map_put(&p->tree->marks, name, (marks ? *marks : 0) | mark)) p->failed = true;
}

/* ---- errors ---- */

bool tn_ail_may_report(tn_ail_parser *p) {
  if (p->panic) return false;
  p->panic = true;
  p->tree->broken = true;
  return true;
}

static bool report(tn_ail_parser *p, tn_span at, tn_str message) {
  return tn_report(p->host->diags, TN_DIAG_E_SYNTAX_ERROR, at, TN_LINE("line", at), TN_COLUMN("col", at),
                   TN_TEXT("message", message));
}

bool tn_ail_syntax_error(tn_ail_parser *p, tn_span at, const char *message) {
  if (tn_ail_may_report(p)) report(p, at, tn_str_of(message));
  return false;
}

static void describe_token(tn_ail_parser *p, tn_text *out) {
  if (tn_ail_at(p, TN_AIL_TOKEN_END)) {
    tn_text_puts(out, "the end of the text");
    return;
  }
  tn_str text = tn_utf8_clip(tn_ail_token_text(p, &p->token), 40);
  tn_text_byte(out, '`');
  tn_text_add(out, text);
  tn_text_byte(out, '`');
}

bool tn_ail_expected(tn_ail_parser *p, const char *what) {
  tn_span at = tn_ail_token_span(p, &p->token);
  if (!tn_ail_may_report(p)) return false;
  if (tn_ail_at(p, TN_AIL_TOKEN_BAD)) {
    tn_str text = tn_ail_token_text(p, &p->token);
    if (text.len > 0 && text.at[0] == '"' && memchr(text.at, '}', text.len)) p->swallowed = true;
    return report(p, at, tn_str_of(p->token.problem));
  }
  tn_text message;
  tn_text_init(&message, p->host->heap);
  tn_text_puts(&message, "expected ");
  tn_text_puts(&message, what);
  tn_text_puts(&message, ", found ");
  describe_token(p, &message);
  report(p, at, tn_text_str(&message));
  if (message.failed) p->failed = true;
  tn_text_free(&message);
  return false;
}

void tn_ail_expect_end(tn_ail_parser *p) {
  if (tn_ail_at(p, TN_AIL_TOKEN_END) && p->swallowed) return;
  tn_ail_expect(p, TN_AIL_TOKEN_CLOSE_BLOCK, "`}` at the end of the block");
}

/* ---- nesting ---- */

/* Behind the limit nothing is read: what is that deep was not written by a person, and where it
 * ends would be a guess. */
static void give_up(tn_ail_parser *p) {
  p->tree->lost = true;
  p->panic = true;
  p->lexer.at = (uint32_t)p->lexer.text.len;
  p->token.kind = p->next.kind = TN_AIL_TOKEN_END;
  p->token.word = p->next.word = TN_AIL_WORD_NONE;
}

bool tn_ail_enter(tn_ail_parser *p, const char *what) {
  bool room = tn_stack_room(&p->host->heap->stack);
  if (p->depth++ < TN_AIL_NESTING_LIMIT && room) return true;
  if (tn_ail_may_report(p)) {
    tn_span at = tn_ail_token_span(p, &p->token);
    if (room)
      tn_report(p->host->diags, TN_DIAG_E_NESTING_LIMIT, at, TN_INT("limit", TN_AIL_NESTING_LIMIT),
                TN_STR("what", what));
    else
      tn_report_stack(p->host->diags, at, what);
  }
  give_up(p);
  p->depth--;
  return false;
}

void tn_ail_leave(tn_ail_parser *p) { p->depth--; }

/* ---- recovery ---- */

/* Whether a statement begins here, whatever brackets are still open: a name that is assigned or
 * declared at the start of a line. */
static bool at_statement(const tn_ail_parser *p) {
  if (!p->token.starts_line || !tn_ail_at(p, TN_AIL_TOKEN_NAME)) return false;
  if (tn_ail_at_item(p)) return true;
  if (p->next.kind == TN_AIL_TOKEN_ASSIGN || p->next.kind == TN_AIL_TOKEN_OPEN_LIST) return true;
  switch (p->token.word) {
    case TN_AIL_WORD_LET:
    case TN_AIL_WORD_PARAM:
    case TN_AIL_WORD_INPUT:
    case TN_AIL_WORD_RETURN:
    case TN_AIL_WORD_EMIT: return p->next.kind == TN_AIL_TOKEN_NAME;
    default: return false;
  }
}

static int bracket(tn_ail_token_kind kind) {
  switch (kind) {
    case TN_AIL_TOKEN_OPEN:
    case TN_AIL_TOKEN_OPEN_LIST: return 1;
    case TN_AIL_TOKEN_CLOSE:
    case TN_AIL_TOKEN_CLOSE_LIST: return -1;
    default: return 0;
  }
}

void tn_ail_recover(tn_ail_parser *p) {
  int open = p->brackets, blocks = 0;
  for (; !tn_ail_at(p, TN_AIL_TOKEN_END); tn_ail_advance(p)) {
    bool behind = p->token.start != p->statement;
    if (blocks == 0) {
      if (tn_ail_at(p, TN_AIL_TOKEN_CLOSE_BLOCK)) break;
      if (behind && (at_statement(p) || (p->token.starts_line && open <= 0))) break;
    }
    if (tn_ail_at(p, TN_AIL_TOKEN_OPEN_BLOCK)) blocks++;
    if (tn_ail_at(p, TN_AIL_TOKEN_CLOSE_BLOCK)) blocks--;
    open += bracket(p->token.kind);
    if (tn_ail_at(p, TN_AIL_TOKEN_NAME)) tn_ail_mark(p, tn_ail_name_of(p, &p->token), TN_AIL_NAME_SKIPPED);
  }
  p->brackets = p->lists = 0;
  p->panic = p->tree->lost;
}
