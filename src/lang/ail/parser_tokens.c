/* lang/ail/parser_tokens.c: tokens, errors and recovery, for all parsing functions.
 *
 * The first error of a statement is reported and starts panic mode, in which nothing more is
 * reported; the statement's parser then skips to the next one. Skipped names are marked, so that
 * they are not reported later as undeclared. */
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
  p->read_from = p->token.start;
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
  if (kind == TN_AIL_TOKEN_CLOSE_BLOCK) p->rule = TN_AIL_RULE_NONE; /* nothing to show: it ends here */
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
  p->in_value = p->values > 0;
  p->tree->broken = true;
  return true;
}

static const char *const right_lines[] = {
  [TN_AIL_RULE_NONE] = "",
  [TN_AIL_RULE_MODEL] = "such as `x [B, 4]`, `param W [4, 2]` or `y = matmul(x, W)`",
  [TN_AIL_RULE_FORWARD] = "such as `x [B, 4]`, `let y = relu(x)` or `return y`",
  [TN_AIL_RULE_LOSS] = "such as `let e = mse_loss(y, price)` or `return e`",
  [TN_AIL_RULE_FUNCTION] = "such as `h = relu(x)` or `return h`",
  [TN_AIL_RULE_LAYER] = "such as `param W [4, 4]` or `return matmul(x, W)`",
  [TN_AIL_RULE_HANDLER] = "such as `count = count + 1` or `emit done`",
  [TN_AIL_RULE_STATE] = "such as `let y = 2`, `on tick -> Idle` or `end`",
  [TN_AIL_RULE_ITEM] = "such as `model { x [B, 4] y = relu(x) }`",
  [TN_AIL_RULE_FIELD] = "such as `lr = 0.1`",
  [TN_AIL_RULE_SHAPE] = "such as `x [B, 4]` or `param W [4, 2 * D]`",
  [TN_AIL_RULE_CONST] = "such as `const D = 16`",
  [TN_AIL_RULE_SIGNATURE] = "such as `fn twice(x) { return x * 2 }`",
  [TN_AIL_RULE_LIST] = "such as `[1, 2, 3]`",
  [TN_AIL_RULE_CALL] = "such as `matmul(x, W)`",
  [TN_AIL_RULE_GROUP] = "such as `(x + y) * 2`",
  [TN_AIL_RULE_IF] = "such as `if sum(x) > 0 then x else y`",
  [TN_AIL_RULE_FOR] = "such as `for i in range(0, 3) do x * i end`",
  [TN_AIL_RULE_REPEAT] = "such as `repeat 3 times init x do y * 2 end` or `repeat 3 block(x)`",
  [TN_AIL_RULE_REDUCE] = "such as `reduce add over range(0, 3) do x * i end`",
  [TN_AIL_RULE_TRANSITION] = "such as `on tick -> Idle`, `if x > 0 -> Idle` or `else -> Idle`",
  [TN_AIL_RULE_VARIABLE] = "such as `counter: int = 0`",
  [TN_AIL_RULE_STATE_MACHINE] = "such as `state_machine Door { state Open { end } }`",
  [TN_AIL_RULE_APP] = "such as `app Counter { on start { emit done } }`",
};
_Static_assert(sizeof right_lines / sizeof *right_lines == TN_AIL_RULE_COUNT, "a rule without a right line");

static bool report(tn_ail_parser *p, tn_span at, tn_str message, tn_ail_rule rule) {
  return tn_report(p->host->diags, TN_DIAG_E_SYNTAX_ERROR, at, TN_LINE("line", at), TN_COLUMN("col", at),
                   TN_TEXT("message", message), TN_HINT(tn_str_of(right_lines[rule])));
}

bool tn_ail_syntax_error(tn_ail_parser *p, tn_span at, const char *message) {
  if (tn_ail_may_report(p)) report(p, at, tn_str_of(message), TN_AIL_RULE_NONE);
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
  if (p->token.problem) {
    tn_str text = tn_ail_token_text(p, &p->token);
    if (text.len > 0 && text.at[0] == '"' && memchr(text.at, '}', text.len)) p->swallowed = true;
    return report(p, at, tn_str_of(p->token.problem), TN_AIL_RULE_NONE);
  }
  tn_text message;
  tn_text_init(&message, p->host->heap);
  tn_text_puts(&message, "expected ");
  tn_text_puts(&message, what);
  tn_text_puts(&message, ", found ");
  describe_token(p, &message);
  report(p, at, tn_text_str(&message), p->rule);
  if (message.failed) p->failed = true;
  tn_text_free(&message);
  return false;
}

bool tn_ail_value_expected(tn_ail_parser *p) {
  bool line_ends = p->token.starts_line || tn_ail_at(p, TN_AIL_TOKEN_END);
  if (!line_ends || p->token.problem || p->read_to == 0) return tn_ail_expected(p, "a value");
  if (!tn_ail_may_report(p)) return false;
  tn_span at = { p->file, p->read_from, p->read_to };
  tn_text message;
  tn_text_init(&message, p->host->heap);
  tn_text_puts(&message, "expected a value after `");
  tn_text_add(&message, tn_utf8_clip((tn_str){ p->lexer.text.at + at.start, at.end - at.start }, 40));
  tn_text_byte(&message, '`');
  report(p, at, tn_text_str(&message), p->rule);
  if (message.failed) p->failed = true;
  tn_text_free(&message);
  return false;
}

void tn_ail_expect_end(tn_ail_parser *p) {
  if (tn_ail_at(p, TN_AIL_TOKEN_END) && p->swallowed) return;
  tn_ail_expect(p, TN_AIL_TOKEN_CLOSE_BLOCK, "`}` at the end of the block");
}

/* ---- nesting ---- */

/* After the limit nothing is parsed: nobody writes such code, and its end would be a guess. */
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

/* A word that begins a statement, with what must follow it in its line. */
static bool at_statement_word(const tn_ail_parser *p) {
  tn_ail_token_kind next = p->next.starts_line ? TN_AIL_TOKEN_END : p->next.kind;
  bool value = next == TN_AIL_TOKEN_NAME || next == TN_AIL_TOKEN_STRING || next == TN_AIL_TOKEN_NUMBER;
  switch (p->token.word) {
    case TN_AIL_WORD_LET:
    case TN_AIL_WORD_CONST:
    case TN_AIL_WORD_PARAM:
    case TN_AIL_WORD_INPUT:
    case TN_AIL_WORD_ON:
    case TN_AIL_WORD_MAP:
    case TN_AIL_WORD_FILTER: return next == TN_AIL_TOKEN_NAME && !tn_ail_word_is_reserved(p->next.word);
    case TN_AIL_WORD_RETURN:
    case TN_AIL_WORD_EMIT:
    case TN_AIL_WORD_BATCH: return value && !tn_ail_word_is_reserved(p->next.word);
    default: return false;
  }
}

bool tn_ail_at_statement(const tn_ail_parser *p) {
  if (!p->token.starts_line || !tn_ail_at(p, TN_AIL_TOKEN_NAME)) return false;
  switch (p->next.kind) {
    case TN_AIL_TOKEN_ASSIGN:
    case TN_AIL_TOKEN_COLON:
    case TN_AIL_TOKEN_OPEN_LIST: return true;
    default: return at_statement_word(p) || tn_ail_at_item(p);
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

/* Keywords that are followed by the name they declare. */
static bool declares(tn_ail_word word) {
  switch (word) {
    case TN_AIL_WORD_LET:
    case TN_AIL_WORD_CONST:
    case TN_AIL_WORD_PARAM:
    case TN_AIL_WORD_INPUT:
    case TN_AIL_WORD_FN:
    case TN_AIL_WORD_LAYER:
    case TN_AIL_WORD_STATE:
    case TN_AIL_WORD_ON: return true;
    default: return false;
  }
}

/* A name in a part that is skipped. What stands in an expression declares nothing, so a name that is unknown
 * there is unknown elsewhere too; anywhere else it may have been meant to be declared. */
static void pass_skipped(tn_ail_parser *p, tn_ail_word before) {
  if (!tn_ail_at(p, TN_AIL_TOKEN_NAME)) return;
  bool declared = p->next.kind == TN_AIL_TOKEN_ASSIGN || p->next.kind == TN_AIL_TOKEN_COLON ||
                  p->next.kind == TN_AIL_TOKEN_OPEN_LIST || declares(before);
  if (declared || !p->in_value) tn_ail_mark(p, tn_ail_name_of(p, &p->token), TN_AIL_NAME_SKIPPED);
}

static bool recovered(const tn_ail_parser *p, int open) {
  if (tn_ail_at(p, TN_AIL_TOKEN_CLOSE_BLOCK)) return true;
  if (p->token.start == p->statement) return false;
  bool line = p->token.starts_line || tn_ail_at(p, TN_AIL_TOKEN_SEMICOLON);
  return (line && open <= 0) || tn_ail_at_statement(p);
}

void tn_ail_recover(tn_ail_parser *p) {
  int open = p->brackets, blocks = 0;
  tn_ail_word before = TN_AIL_WORD_NONE;
  for (; !tn_ail_at(p, TN_AIL_TOKEN_END); tn_ail_advance(p)) {
    if (blocks == 0 && recovered(p, open)) break;
    if (tn_ail_at(p, TN_AIL_TOKEN_OPEN_BLOCK)) blocks++;
    if (tn_ail_at(p, TN_AIL_TOKEN_CLOSE_BLOCK)) blocks--;
    open += bracket(p->token.kind);
    pass_skipped(p, before);
    before = p->token.word;
  }
  p->brackets = p->lists = p->constants = 0;
  p->panic = p->tree->lost;
}

/* ---- words of other languages ---- */

/* `while c do ... end`, `while c { ... }`, or the rest of the line. */
static void pass_foreign(tn_ail_parser *p) {
  int open = 0;
  bool opened = false;
  tn_ail_word before = TN_AIL_WORD_NONE;
  p->in_value = true;
  for (bool first = true; !tn_ail_at(p, TN_AIL_TOKEN_END); tn_ail_advance(p), first = false) {
    bool line = p->token.starts_line || tn_ail_at(p, TN_AIL_TOKEN_SEMICOLON);
    if (!first && open == 0 && (opened || line)) break;
    bool closes = tn_ail_at(p, TN_AIL_TOKEN_CLOSE_BLOCK) || tn_ail_at_word(p, TN_AIL_WORD_END);
    if (closes && open == 0) break;
    if (tn_ail_at(p, TN_AIL_TOKEN_OPEN_BLOCK) || tn_ail_at_word(p, TN_AIL_WORD_DO)) open++, opened = true;
    if (closes) open--;
    pass_skipped(p, before);
    before = p->token.word;
  }
}

bool tn_ail_refuse_foreign(tn_ail_parser *p) {
  bool declared = p->next.kind == TN_AIL_TOKEN_ASSIGN || p->next.kind == TN_AIL_TOKEN_COLON ||
                  p->next.kind == TN_AIL_TOKEN_OPEN_LIST;
  if (!tn_ail_at(p, TN_AIL_TOKEN_NAME) || declared || p->panic) return false;
  tn_str word = tn_ail_token_text(p, &p->token);
  if (tn_str_is(word, "while"))
    tn_ail_syntax_error(p, tn_ail_token_span(p, &p->token),
                        "there is no `while`: the rounds of a loop are constant, as in "
                        "`repeat 3 times init x do y * 2 end`");
  else if (tn_str_is(word, "import"))
    tn_ail_syntax_error(p, tn_ail_token_span(p, &p->token), "there are no imports: a program is one file");
  else
    return false;
  pass_foreign(p);
  return true;
}
