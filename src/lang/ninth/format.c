/* lang/ninth/format.c: formats programs.
 *
 * Line breaks stay as the author wrote them. The rest is fixed: one space between tokens, two
 * spaces of indentation per open block, no commas in shapes, at most one empty line, and nothing
 * after the last token. Comments after code in consecutive lines are aligned. Prose around program
 * blocks is left as it is, byte for byte. Formatting is idempotent. */
#include "base/utf8.h"
#include "lang/ninth/doors.h"

#define INDENT         2
#define COMMENT_SPACES 2
#define COMMENT_SPREAD 40 /* columns by which code may differ in width and still have its comments aligned */

typedef enum { PART, DEFINITION, PAREN, SHAPE, KEYS, MAKER, BLOCK } open_kind;

/* A comment after code. */
typedef struct {
  size_t at; /* where it begins, and how many columns precede it in its line */
  size_t width;
  size_t line;
} trailing_comment;

typedef struct {
  tn_heap *heap;
  tn_str text;
  const tn_ninth_token *tokens;
  size_t at;
  tn_text *out;
  tn_vec(uint8_t) open; /* open_kind of everything that is open */
  tn_vec(trailing_comment) comments;
  size_t line;
  bool out_of_memory;
} formatter;

static const tn_ninth_token *here(const formatter *f) { return &f->tokens[f->at]; }

static tn_str text_of(const formatter *f, const tn_ninth_token *token) {
  return (tn_str){ f->text.at + token->start, token->end - token->start };
}

static bool is_in(const formatter *f, open_kind kind) {
  return f->open.count > 0 && tn_vec_last(&f->open) == (uint8_t)kind;
}

/* ---- what opens and closes ---- */

static bool opcode_opens(int opcode) {
  switch (opcode) {
    case TN_NINTH_IF:
    case TN_NINTH_ELSE:
    case TN_NINTH_REPEAT:
    case TN_NINTH_WHILE:
    case TN_NINTH_DO:
    case TN_NINTH_DEF:
    case TN_NINTH_NO_GRAD:
    case TN_NINTH_MODULE:
    case TN_NINTH_INIT:
    case TN_NINTH_FORWARD: return true;
    default: return false;
  }
}

/* A [RET] closes only the directly enclosing definition. */
static bool opcode_closes(const formatter *f, int opcode) {
  switch (opcode) {
    case TN_NINTH_ELSE:
    case TN_NINTH_ENDIF:
    case TN_NINTH_DO:
    case TN_NINTH_END:
    case TN_NINTH_END_NO_GRAD:
    case TN_NINTH_END_MODULE: return true;
    case TN_NINTH_RET: return is_in(f, DEFINITION);
    default: return false;
  }
}

static bool closes(const formatter *f, const tn_ninth_token *token) {
  switch ((tn_ninth_token_kind)token->kind) {
    case TN_NINTH_TOKEN_CLOSE:
    case TN_NINTH_TOKEN_SHAPE_CLOSE:
    case TN_NINTH_TOKEN_BLOCK_CLOSE: return true;
    case TN_NINTH_TOKEN_OPCODE: return opcode_closes(f, token->opcode);
    default: return false;
  }
}

static bool begins_keys(const tn_ninth_token *token) {
  return token[0].kind == TN_NINTH_TOKEN_SHAPE_OPEN && token[1].kind == TN_NINTH_TOKEN_NAME &&
         token[2].kind == TN_NINTH_TOKEN_ARROW;
}

/* {Name} and {Name [key->value]}, as opposed to a block. */
static bool begins_maker(const tn_ninth_token *token) {
  return token[1].kind == TN_NINTH_TOKEN_NAME &&
         (token[2].kind == TN_NINTH_TOKEN_BLOCK_CLOSE || begins_keys(token + 2));
}

/* What a token opens; -1 when nothing. */
static int opened_by(const tn_ninth_token *token) {
  switch ((tn_ninth_token_kind)token->kind) {
    case TN_NINTH_TOKEN_OPEN: return PAREN;
    case TN_NINTH_TOKEN_SHAPE_OPEN: return begins_keys(token) ? KEYS : SHAPE;
    case TN_NINTH_TOKEN_BLOCK_OPEN: return begins_maker(token) ? MAKER : BLOCK;
    case TN_NINTH_TOKEN_OPCODE:
      if (!opcode_opens(token->opcode)) return -1;
      return token->opcode == TN_NINTH_DEF || token->opcode == TN_NINTH_INIT ||
                     token->opcode == TN_NINTH_FORWARD
                 ? DEFINITION
                 : PART;
    default: return -1;
  }
}

/* ---- what is between tokens ---- */

/* Line ends before this token: 0, 1, or 2 for any number of empty lines. */
static int breaks_before(const formatter *f) {
  uint32_t from = f->at > 0 ? f->tokens[f->at - 1].end : 0;
  int count = 0;
  for (uint32_t i = from; i < here(f)->start && count < 2; i++) count += f->text.at[i] == '\n';
  return count;
}

/* A shape of one variable in capitals, which would be an opcode without its blanks: [ N ]. */
static bool needs_blanks(const formatter *f, const tn_ninth_token *open) {
  if (open[0].kind != TN_NINTH_TOKEN_SHAPE_OPEN || open[1].kind != TN_NINTH_TOKEN_NAME ||
      open[2].kind != TN_NINTH_TOKEN_SHAPE_CLOSE)
    return false;
  tn_str name = text_of(f, &open[1]);
  for (size_t i = 0; i < name.len; i++) {
    if (name.at[i] >= 'a' && name.at[i] <= 'z') return false;
  }
  return name.at[0] != '_';
}

static bool is_tight(const formatter *f, const tn_ninth_token *before, const tn_ninth_token *token,
                     bool closing) {
  bool arrow = before->kind == TN_NINTH_TOKEN_ARROW || token->kind == TN_NINTH_TOKEN_ARROW;
  if (arrow && is_in(f, KEYS)) return true;
  if (needs_blanks(f, before) || (token - f->tokens >= 2 && needs_blanks(f, token - 2))) return false;
  if (before->kind == TN_NINTH_TOKEN_OPEN || before->kind == TN_NINTH_TOKEN_SHAPE_OPEN) return true;
  if (token->kind == TN_NINTH_TOKEN_CLOSE || token->kind == TN_NINTH_TOKEN_SHAPE_CLOSE) return true;
  if (before->kind == TN_NINTH_TOKEN_BLOCK_OPEN) return closing || is_in(f, MAKER);
  return token->kind == TN_NINTH_TOKEN_BLOCK_CLOSE && is_in(f, MAKER);
}

/* The spaces before it are put in when all lines are known. */
static void note_comment(formatter *f) {
  tn_str all = tn_text_str(f->out);
  size_t start = all.len;
  while (start > 0 && all.at[start - 1] != '\n') start--;
  tn_str line = { start > 0 ? all.at + start : all.at, all.len - start };
  trailing_comment comment = { .at = f->out->len, .width = tn_utf8_count(line), .line = f->line };
  if (!tn_vec_push(f->heap, &f->comments, comment)) f->out_of_memory = true;
}

static void put_space(formatter *f, bool closing) {
  const tn_ninth_token *before = f->at > 0 ? here(f) - 1 : NULL;
  if (!before || before->kind == TN_NINTH_TOKEN_PROSE) return;
  while (before > f->tokens && before->kind == TN_NINTH_TOKEN_COMMA) before--;
  int breaks = breaks_before(f);
  if (breaks > 0) {
    f->line += (size_t)breaks;
    tn_text_repeat(f->out, '\n', (size_t)breaks);
    tn_text_repeat(f->out, ' ', INDENT * (f->open.count - (closing && f->open.count > 0)));
  } else if (here(f)->kind == TN_NINTH_TOKEN_COMMENT) {
    note_comment(f);
  } else if (!is_tight(f, before, here(f), closing)) {
    tn_text_byte(f->out, ' ');
  }
}

/* ---- tokens ---- */

static tn_str without_trailing_blanks(tn_str text) {
  while (text.len > 0 &&
         (text.at[text.len - 1] == ' ' || text.at[text.len - 1] == '\t' || text.at[text.len - 1] == '\r')) {
    text.len--;
  }
  return text;
}

static void put_token(formatter *f) {
  const tn_ninth_token *token = here(f);
  bool closing = closes(f, token);
  if (token->kind == TN_NINTH_TOKEN_COMMA) return;
  if (token->kind != TN_NINTH_TOKEN_PROSE) put_space(f, closing);
  if (closing && f->open.count > 0) f->open.count--;
  tn_str text = text_of(f, token);
  if (token->kind == TN_NINTH_TOKEN_COMMENT) text = without_trailing_blanks(text);
  tn_text_add(f->out, text);
  for (size_t i = 0; i < text.len; i++) f->line += text.at[i] == '\n';
  int opened = opened_by(token);
  if (opened >= 0 && !tn_vec_push(f->heap, &f->open, (uint8_t)opened)) f->out_of_memory = true;
}

/* ---- comments below each other ---- */

/* The comments from `first` on that are aligned: one line after the other, and of code not too different in
 * width. Gives the end of them and the greatest width. */
static size_t end_of_group(const formatter *f, size_t first, size_t *widest) {
  size_t least = f->comments.at[first].width, at = first + 1;
  *widest = least;
  for (; at < f->comments.count; at++) {
    const trailing_comment *comment = &f->comments.at[at];
    size_t low = comment->width < least ? comment->width : least;
    size_t high = comment->width > *widest ? comment->width : *widest;
    if (comment->line != comment[-1].line + 1 || high - low > COMMENT_SPREAD) break;
    least = low;
    *widest = high;
  }
  return at;
}

static void align_comments(const formatter *f, tn_text *out) {
  size_t copied = 0;
  for (size_t first = 0, end; first < f->comments.count; first = end) {
    size_t widest;
    end = end_of_group(f, first, &widest);
    for (size_t i = first; i < end; i++) {
      const trailing_comment *comment = &f->comments.at[i];
      tn_text_add(out, (tn_str){ f->out->at + copied, comment->at - copied });
      tn_text_repeat(out, ' ', widest - comment->width + COMMENT_SPACES);
      copied = comment->at;
    }
  }
  tn_text_add(out, (tn_str){ f->out->at + copied, f->out->len - copied });
}

static bool format_tokens(tn_host *host, uint32_t file, const tn_ninth_tokens *tokens, tn_text *out) {
  tn_text body;
  tn_text_init(&body, host->heap);
  formatter f = { .heap = host->heap,
                  .text = tn_sources_get(host->sources, file)->text,
                  .tokens = tokens->list.at,
                  .out = &body };
  for (; here(&f)->kind != TN_NINTH_TOKEN_END; f.at++) put_token(&f);
  bool prose = f.at > 0 && f.tokens[f.at - 1].kind == TN_NINTH_TOKEN_PROSE;
  if (body.len > 0 && !prose) tn_text_byte(&body, '\n');
  bool ok = !f.out_of_memory && !body.failed;
  if (ok && body.len > 0) align_comments(&f, out);
  tn_vec_free(f.heap, &f.open);
  tn_vec_free(f.heap, &f.comments);
  tn_text_free(&body);
  return ok && !out->failed;
}

/* A program that cannot be read is left alone, and what is wrong with it is reported. */
static bool is_readable(tn_host *host, uint32_t file) {
  tn_ninth_scope scope;
  tn_ninth_scope_init(&scope, host->heap);
  tn_ninth_program *program = tn_ninth_compile(host->heap, host->names, host->diags, file, &scope, NULL);
  tn_ninth_program_free(program);
  tn_ninth_scope_free(&scope, host->heap);
  return program != NULL;
}

bool tn_lang_ninth_format(tn_unit *unit, tn_text *out) {
  tn_host *host = unit->host;
  uint32_t file = unit->file;
  tn_ninth_tokens tokens = { 0 };
  if (!is_readable(host, file)) return false;
  bool ok =
      tn_ninth_lex(host->heap, host->diags, file, true, &tokens) && format_tokens(host, file, &tokens, out);
  tn_ninth_tokens_free(host->heap, &tokens);
  return ok || tn_ninth_report_memory(host->heap, host->diags, TN_NOWHERE);
}
