/* lang/mind/format.c: one way to write a program.
 *
 * A statement stands in one line if 100 columns suffice. If not, it continues
 * where the language lets it: after an assignment, after operators (as many
 * operands in a line as fit), and inside brackets, one item per line or, of plain
 * numbers, as many as fit. A block with one expression may stand in its line; a
 * function's never does. Empty lines between statements are kept, at most one.
 *
 * Comments stay where they are, between the same two tokens: after code in the
 * same line, or on lines of their own. What the writer put into parentheses
 * stays in them. Formatting twice is formatting once. */
#include "lang/mind/format.h"

#include <string.h>

#include "base/utf8.h"
#include "lang/mind/doors.h"

#define LINE_WIDTH 100
#define INDENT     2

typedef struct {
  tn_host *host;
  const tn_mind_piece *list;
  tn_text *out;
  size_t column;
  bool breaks; /* the next piece begins a line */
  bool blank;  /* after an empty one */
  size_t margin;
  size_t goes_on; /* the margin of what a comment cuts off */
} formatter;

static void layout(formatter *f, uint32_t from, uint32_t to, size_t margin, size_t tail);

/* ---- writing ---- */

static void break_line(formatter *f, size_t margin) {
  f->breaks = true;
  f->margin = margin;
}

static bool is_comment(const tn_mind_piece *piece) { return piece->role == TN_MIND_PIECE_COMMENT; }
static bool is_line_comment(const tn_mind_piece *piece) {
  return is_comment(piece) && piece->text.len > 1 && piece->text.at[1] == '/';
}

static void put_spaces(formatter *f, size_t count) {
  if (f->breaks && f->out->len > 0) {
    tn_text_puts(f->out, f->blank ? "\n\n" : "\n");
    tn_text_repeat(f->out, ' ', f->margin);
    f->column = f->margin;
  } else if (f->out->len > 0) {
    tn_text_repeat(f->out, ' ', count);
    f->column += count;
  }
  f->breaks = f->blank = false;
}

/* A comment on a line of its own, and what stands in the line below it. Signs stay with what is before
 * them. */
static bool begins_line(const formatter *f, uint32_t at) {
  const tn_mind_piece *piece = &f->list[at];
  bool own = is_comment(piece);
  if (!piece->new_line || piece->role == TN_MIND_PIECE_COMMA || piece->role == TN_MIND_PIECE_INFIX)
    return false;
  while (!own && at > 0 && is_comment(&f->list[at - 1])) own = f->list[--at].new_line;
  return own;
}

static void put(formatter *f, uint32_t at) {
  const tn_mind_piece *piece = &f->list[at];
  if (!f->breaks && begins_line(f, at)) break_line(f, f->goes_on);
  put_spaces(f, piece->space);
  tn_text_add(f->out, piece->text);
  f->column += tn_utf8_count(piece->text);
  for (size_t i = 0; piece->many_lines && i < piece->text.len; i++) {
    if (piece->text.at[i] == '\n')
      f->column = tn_utf8_count((tn_str){ piece->text.at + i + 1, piece->text.len - i - 1 });
  }
  if (is_line_comment(piece)) break_line(f, f->goes_on);
}

static void put_all(formatter *f, uint32_t from, uint32_t to) {
  for (; from < to; from++) put(f, from);
}

/* ---- measuring ---- */

static size_t width(const formatter *f, uint32_t from, uint32_t to) {
  if (from >= to) return 0;
  return f->list[to].width_before - f->list[from].width_before - f->list[from].space;
}

/* Whether all of it, with `tail` columns after it, stands in the line. */
static bool fits(const formatter *f, uint32_t from, uint32_t to, size_t tail) {
  if (from >= to) return true;
  if (f->list[to].breaks_before != f->list[from].breaks_before) return false;
  size_t start = f->breaks ? f->margin : f->column + f->list[from].space;
  return start + width(f, from, to) + tail <= LINE_WIDTH;
}

static bool opens_group(const tn_mind_piece *piece) {
  return piece->role == TN_MIND_PIECE_OPEN || piece->role == TN_MIND_PIECE_OPEN_TIGHT ||
         piece->role == TN_MIND_PIECE_NAMES_OPEN;
}

static bool is_if(const tn_mind_piece *piece) { return piece->kind == TN_MIND_TOKEN_IF; }

static bool begins_closure(const tn_mind_piece *piece) {
  return piece->role == TN_MIND_PIECE_BAR_OPEN ||
         (piece->role == TN_MIND_PIECE_BAR_CLOSE && piece->kind == TN_MIND_TOKEN_OR);
}

/* The next piece of this level. */
static uint32_t step(const formatter *f, uint32_t at) {
  const tn_mind_piece *piece = &f->list[at];
  f->host->looked_at++;
  bool opens =
      opens_group(piece) || piece->role == TN_MIND_PIECE_BLOCK_OPEN || piece->role == TN_MIND_PIECE_BAR_OPEN;
  return opens ? piece->match + 1 : at + 1;
}

/* Where the block of the `if` at `at` begins. */
static uint32_t block_of(const formatter *f, uint32_t at, uint32_t to) {
  while (at < to && f->list[at].role != TN_MIND_PIECE_BLOCK_OPEN) at = step(f, at);
  return at;
}

/* The next operator from `at` on, outside brackets, conditions and closures; `to` when there is none. */
static uint32_t next_operator(const formatter *f, uint32_t at, uint32_t to) {
  while (at < to && f->list[at].role != TN_MIND_PIECE_INFIX) {
    if (begins_closure(&f->list[at])) return to;
    at = is_if(&f->list[at]) ? block_of(f, at, to) : step(f, at);
  }
  return at < to ? at : to;
}

/* Comments at the end of a range are not part of it. */
static uint32_t without_comments(const formatter *f, uint32_t from, uint32_t to) {
  while (to > from && is_comment(&f->list[to - 1])) to--;
  return to;
}

/* Comments that stand in the same line. */
static uint32_t put_comments_here(formatter *f, uint32_t at, uint32_t to) {
  while (at < to && is_comment(&f->list[at]) && !f->list[at].new_line) put(f, at++);
  return at;
}

/* ---- brackets ---- */

static uint32_t end_of_item(const formatter *f, uint32_t at, uint32_t to) {
  while (at < to && f->list[at].role != TN_MIND_PIECE_COMMA) at = step(f, at);
  return at;
}

/* Numbers only, with their signs. */
static bool is_data(const formatter *f, uint32_t from, uint32_t to) {
  for (uint32_t i = from; i < to; i++) {
    const tn_mind_piece *piece = &f->list[i];
    bool number = piece->kind == TN_MIND_TOKEN_INT || piece->kind == TN_MIND_TOKEN_FLOAT;
    if (!number && piece->role != TN_MIND_PIECE_COMMA && piece->role != TN_MIND_PIECE_PREFIX) return false;
  }
  return true;
}

static uint32_t put_item(formatter *f, uint32_t at, uint32_t to, size_t margin, bool in_line) {
  uint32_t end = end_of_item(f, at, to), code = without_comments(f, at, end);
  size_t outer = f->goes_on;
  f->goes_on = margin;
  if (!in_line || !fits(f, at, code, 1)) break_line(f, margin);
  layout(f, at, code, margin, 1);
  if (end < to) put(f, end++); /* the comma */
  for (uint32_t i = code; i < end && is_comment(&f->list[i]); i++) put(f, i);
  end = put_comments_here(f, end, to);
  f->goes_on = outer;
  return end;
}

static void put_broken(formatter *f, uint32_t open, size_t margin) {
  uint32_t close = f->list[open].match, at = open + 1;
  bool data = is_data(f, at, close);
  size_t outer = f->goes_on;
  put(f, open);
  f->goes_on = margin + INDENT;
  at = put_comments_here(f, at, close);
  break_line(f, margin + INDENT);
  for (bool first = true; at < close; first = false)
    at = put_item(f, at, close, margin + INDENT, data && !first);
  f->goes_on = outer;
  if (close > open + 1) break_line(f, margin);
  put(f, close);
}

/* f([...]): the inner bracket is broken, the outer one hugs it. */
static bool hugs(const formatter *f, uint32_t open) {
  const tn_mind_piece *inner = &f->list[open + 1];
  return (inner->role == TN_MIND_PIECE_OPEN || inner->role == TN_MIND_PIECE_OPEN_TIGHT) &&
         inner->match + 1 == f->list[open].match && inner->match > open + 2;
}

static void put_group(formatter *f, uint32_t open, size_t margin) {
  if (!tn_text_room(f->out)) return;
  if (!hugs(f, open)) {
    put_broken(f, open, margin);
    return;
  }
  put(f, open);
  put_group(f, open + 1, margin);
  put(f, f->list[open].match);
}

/* ---- blocks ---- */

static void put_statements(formatter *f, uint32_t from, uint32_t to, size_t margin);

static void put_block(formatter *f, uint32_t open, size_t margin) {
  uint32_t close = f->list[open].match;
  size_t outer = f->goes_on;
  put(f, open);
  if (close > open + 1) {
    put_statements(f, open + 1, close, margin + INDENT);
    break_line(f, margin);
  }
  f->goes_on = outer;
  put(f, close);
}

/* ---- what has no operators ---- */

/* Whether another bracket follows that can be broken instead. */
static bool later_group(const formatter *f, uint32_t at, uint32_t to) {
  for (; at < to; at = step(f, at)) {
    if (opens_group(&f->list[at]) && f->list[at].match > at + 1) return true;
  }
  return false;
}

/* What lies ahead in a row of pieces, found once for all brackets before `end`. */
typedef struct {
  uint32_t end;        /* up to where a line must suffice: a block's brace ends it */
  uint32_t last_group; /* the last breakable bracket before it; 0: none */
} outlook;

static outlook look_ahead(const formatter *f, uint32_t at, uint32_t to) {
  outlook ahead = { .end = at };
  while (ahead.end < to && f->list[ahead.end].role != TN_MIND_PIECE_BLOCK_OPEN) {
    const tn_mind_piece *piece = &f->list[ahead.end];
    if (opens_group(piece) && piece->match > ahead.end + 1) ahead.last_group = ahead.end;
    ahead.end = step(f, ahead.end);
  }
  if (ahead.end > to) ahead.end = to;
  return ahead;
}

static uint32_t put_bracket(formatter *f, uint32_t at, uint32_t to, const outlook *ahead, size_t margin,
                            size_t tail) {
  uint32_t after = f->list[at].match + 1, end = ahead->end;
  bool rest = fits(f, at, end, end < to ? INDENT : tail);
  bool alone = fits(f, at, after, 1) && ahead->last_group >= after;
  if (rest || alone || after == at + 2)
    put_all(f, at, after);
  else
    put_group(f, at, margin);
  return after;
}

static uint32_t put_condition(formatter *f, uint32_t at, uint32_t to, size_t margin) {
  uint32_t block = block_of(f, at, to), code = without_comments(f, at + 1, block);
  put(f, at);
  layout(f, at + 1, code, margin + INDENT, INDENT);
  put_all(f, code, block);
  return block;
}

static void put_sequence(formatter *f, uint32_t at, uint32_t to, size_t margin, size_t tail) {
  outlook ahead = look_ahead(f, at, to);
  while (at < to) {
    const tn_mind_piece *piece = &f->list[at];
    if (at > ahead.end) ahead = look_ahead(f, at, to);
    if (piece->role == TN_MIND_PIECE_BLOCK_OPEN) {
      put_block(f, at, margin);
      at = piece->match + 1;
    } else if (opens_group(piece)) {
      at = put_bracket(f, at, to, &ahead, margin, tail);
    } else if (is_if(piece)) {
      at = put_condition(f, at, to, margin);
    } else {
      if (piece->kind == TN_MIND_TOKEN_ELSE && f->breaks) f->margin = margin;
      put(f, at++);
      if (piece->role != TN_MIND_PIECE_BAR_CLOSE) continue;
      layout(f, at, to, margin, tail); /* the body of a closure goes to the end */
      return;
    }
  }
}

/* ---- operators ---- */

static int loosest(const formatter *f, uint32_t from, uint32_t to) {
  int found = 0;
  for (uint32_t i = next_operator(f, from, to); i < to; i = next_operator(f, i + 1, to)) {
    int precedence = tn_mind_precedence(f->list[i].kind);
    if (!found || precedence < found) found = precedence;
  }
  return found;
}

static uint32_t next_of(const formatter *f, uint32_t from, uint32_t to, int precedence) {
  uint32_t at = next_operator(f, from, to);
  while (at < to && tn_mind_precedence(f->list[at].kind) != precedence) at = next_operator(f, at + 1, to);
  return at;
}

/* Operands of the loosest operators, as many in a line as fit. */
static void put_operands(formatter *f, uint32_t from, uint32_t to, int precedence, size_t margin,
                         size_t tail) {
  f->goes_on = margin + INDENT;
  for (bool first = true;; first = false) {
    uint32_t sign = next_of(f, from, to, precedence), code = without_comments(f, from, sign);
    size_t after = sign < to ? f->list[sign].space + f->list[sign].text.len : tail;
    size_t inner = first ? margin : margin + INDENT;
    if (!first && !fits(f, from, code, after)) break_line(f, margin + INDENT);
    layout(f, from, code, inner, after);
    if (sign < to) put(f, sign);
    put_all(f, code, sign < to ? sign : to);
    if (sign >= to) return;
    from = put_comments_here(f, sign + 1, to);
  }
}

/* ---- statements ---- */

static uint32_t assignment_of(const formatter *f, uint32_t from, uint32_t to) {
  if (!f->list[from].statement) return to;
  while (from < to && f->list[from].role != TN_MIND_PIECE_ASSIGN) from = step(f, from);
  return from;
}

/* Nothing in it can be broken. */
static bool is_solid(const formatter *f, uint32_t from, uint32_t to) {
  if (next_operator(f, from, to) < to || later_group(f, from, to)) return false;
  for (uint32_t i = from; i < to; i++) {
    if (is_if(&f->list[i]) || begins_closure(&f->list[i])) return false;
  }
  return true;
}

static void put_assignment(formatter *f, uint32_t from, uint32_t sign, uint32_t to, size_t margin,
                           size_t tail) {
  put_sequence(f, from, sign, margin, INDENT);
  put(f, sign);
  from = put_comments_here(f, sign + 1, to);
  if (is_solid(f, from, to) && !fits(f, from, to, tail)) break_line(f, margin + INDENT);
  layout(f, from, to, f->breaks ? margin + INDENT : margin, tail);
}

/* Prints the pieces from..to with `tail` columns to follow; further lines are indented by `margin`. */
static void layout(formatter *f, uint32_t from, uint32_t to, size_t margin, size_t tail) {
  if (from >= to || !tn_text_room(f->out)) return;
  size_t outer = f->goes_on;
  if (f->list[from].statement) f->goes_on = margin + INDENT;
  uint32_t sign = assignment_of(f, from, to);
  int precedence = loosest(f, from, to);
  if (fits(f, from, to, tail))
    put_all(f, from, to);
  else if (sign < to)
    put_assignment(f, from, sign, to, margin, tail);
  else if (precedence)
    put_operands(f, from, to, precedence, margin, tail);
  else
    put_sequence(f, from, to, margin, tail);
  f->goes_on = outer;
}

/* After the last token of the statement that begins at `at`. */
static uint32_t end_of_statement(const formatter *f, uint32_t at, uint32_t to) {
  uint32_t end = step(f, at);
  while (end < to && !f->list[end].statement) end = step(f, end);
  return without_comments(f, at, end < to ? end : to);
}

/* A comment stays in the line of the code before it, unless a semicolon parts them. */
static bool stays_after(const tn_mind_piece *comment) {
  return !comment->new_line && (is_line_comment(comment) || !comment->after_semicolon);
}

static void put_statements(formatter *f, uint32_t from, uint32_t to, size_t margin) {
  bool comments = false; /* the line holds nothing but comments */
  for (uint32_t at = from; at < to;) {
    const tn_mind_piece *piece = &f->list[at];
    bool same = is_comment(piece) ? stays_after(piece) : comments && !piece->new_line && !f->breaks;
    f->goes_on = margin;
    if (!same || f->breaks || at == 0) {
      break_line(f, margin);
      f->blank = at > from && piece->blank_line;
      comments = is_comment(piece);
    }
    if (is_comment(piece)) {
      put(f, at++);
      continue;
    }
    if (same) put_spaces(f, 1);
    comments = false;
    uint32_t end = end_of_statement(f, at, to);
    layout(f, at, end, margin, 0);
    at = end;
  }
}

bool tn_lang_mind_format(tn_unit *unit, tn_text *out) {
  tn_host *host = unit->host;
  tn_mind_pieces pieces;
  tn_text body;
  if (!tn_mind_pieces_read(host->heap, host->names, host->sources, host->diags, unit->file, &pieces))
    return false;
  tn_text_init(&body, host->heap);
  formatter f = { .host = host, .list = pieces.list.at, .out = &body };
  put_statements(&f, 0, (uint32_t)pieces.list.count - 1, 0);
  if (body.len > 0) tn_text_byte(&body, '\n');
  if (!body.failed) tn_text_add(out, tn_text_str(&body));
  bool ok = !body.failed && !out->failed;
  tn_text_free(&body);
  tn_mind_pieces_free(&pieces);
  return ok || tn_report_plain(host->diags, TN_DIAG_E_OUT_OF_MEMORY, TN_NOWHERE);
}
