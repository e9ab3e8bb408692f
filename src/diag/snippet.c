/* diag/snippet.c: shows lines of a program with carets under a span.
 *
 *     --> model.ail:6:17                 --> model.ail:6:7
 *      |                                  |
 *    6 |   h = embedding(x, E)          6 |     h = embedding(
 *      |                 ^ label          |  _______^
 *                                       7 | |     x, E)
 *                                         | |_________^ label
 *
 * Carets line up because everything is counted in columns of a terminal: a tab
 * goes to the next multiple of four and is written as spaces, a wide character
 * takes two, a combining mark none. What could act on the terminal, or change
 * the order in which text is read, is written as an escape and counted as
 * such. Of a very long line only the part around the span is shown. */
#include "base/utf8.h"
#include "diag/internal.h"

#define TAB_COLUMNS 4
#define LINE_COLUMNS 100   /* shown of one line */
#define LEAD_COLUMNS 30    /* shown before the span where a line is cut */
#define WINDOW_BYTES 4000  /* looked at on either side of a span: a line may be as long as the text */

void tn_diag_paint(tn_text *out, bool color, tn_paint paint) {
  static const char *const codes[] = {
    [TN_PAINT_OFF] = "\x1b[0m",        [TN_PAINT_BOLD] = "\x1b[1m",
    [TN_PAINT_ERROR] = "\x1b[1;31m",   [TN_PAINT_WARNING] = "\x1b[1;33m",
    [TN_PAINT_NOTE] = "\x1b[1;36m",    [TN_PAINT_GUTTER] = "\x1b[1;34m",
  };
  if (color) tn_text_puts(out, codes[paint]);
}

void tn_diag_painted(tn_text *out, bool color, tn_paint paint, const char *text) {
  tn_diag_paint(out, color, paint);
  tn_text_puts(out, text);
  tn_diag_paint(out, color, TN_PAINT_OFF);
}

/* One character as it is shown. */
typedef struct {
  char text[12];   /* the longest is \u{10ffff} */
  size_t len;
  size_t columns;
  size_t bytes;    /* of the original character */
} glyph;

static bool is_control(uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029;
}

/* Marks that reorder or hide text: what is shown would not be what is executed. */
static bool is_deceptive(uint32_t code) {
  return code == 0x61c || code == 0x200b || code == 0x200e || code == 0x200f || code == 0xfeff ||
         (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

static void glyph_add(glyph *g, const char *text) {
  while (*text) g->text[g->len++] = *text++;
}

static void glyph_add_hex(glyph *g, uint32_t number, int least_digits) {
  static const char digits[] = "0123456789abcdef";
  int count = least_digits;
  while (count < 8 && number >> (4 * count)) count++;
  while (count-- > 0) g->text[g->len++] = digits[number >> (4 * count) & 15];
}

static glyph escape(uint32_t code, size_t bytes) {
  glyph g = { .bytes = bytes };
  if (code == '\t' || code == '\n' || code == '\r') {
    glyph_add(&g, code == '\t' ? "\\t" : code == '\n' ? "\\n" : "\\r");
  } else if (code < 0x80 || bytes == 1) {
    glyph_add(&g, "\\x");
    glyph_add_hex(&g, code, 2);
  } else {
    glyph_add(&g, "\\u{");
    glyph_add_hex(&g, code, 1);
    glyph_add(&g, "}");
  }
  g.columns = g.len;
  return g;
}

static glyph glyph_at(tn_str text, size_t at) {
  uint32_t code = 0;
  size_t bytes = tn_utf8_decode(text, at, &code);
  if (bytes == 0) return escape((unsigned char)text.at[at], 1);
  if (is_control(code) || is_deceptive(code)) return escape(code, bytes);
  glyph g = { .len = bytes, .bytes = bytes, .columns = (size_t)tn_utf8_width(code) };
  for (size_t i = 0; i < bytes; i++) g.text[i] = text.at[at + i];
  return g;
}

/* The same in a line of a program, at a column: there a tab is white space. */
static glyph glyph_in_line(tn_str line, size_t at, size_t column) {
  if (line.at[at] != '\t') return glyph_at(line, at);
  glyph g = { .len = TAB_COLUMNS - column % TAB_COLUMNS, .bytes = 1 };
  for (size_t i = 0; i < g.len; i++) g.text[i] = ' ';
  g.columns = g.len;
  return g;
}

void tn_diag_put_safe(tn_text *out, tn_str text) {
  for (size_t at = 0; at < text.len;) {
    glyph g = glyph_at(text, at);
    tn_text_add(out, (tn_str){ g.text, g.len });
    at += g.bytes;
  }
}

/* Columns that the first `bytes` of a line take. */
static size_t columns_of(tn_str line, size_t bytes) {
  size_t column = 0;
  for (size_t at = 0; at < bytes && at < line.len;) {
    glyph g = glyph_in_line(line, at, column);
    column += g.columns;
    at += g.bytes;
  }
  return column;
}

/* The columns [left, right) of a line that are shown, and what of it is marked. */
typedef struct {
  tn_str line;                 /* its window around the span */
  bool more_left, more_right;  /* the line continues outside the window */
  size_t left, right, width;   /* width: of the window */
  size_t from, to;             /* marked; at least one column, perhaps past the end */
} view;

/* Past the rest of the character that holds a byte; a character has at most four bytes. */
static size_t whole_character(tn_str line, size_t at) {
  for (int i = 0; i < 3 && at < line.len && ((unsigned char)line.at[at] & 0xc0) == 0x80; i++) at++;
  return at;
}

static view view_of(tn_str line, size_t from_byte, size_t to_byte) {
  size_t start = from_byte > WINDOW_BYTES ? whole_character(line, from_byte - WINDOW_BYTES) : 0;
  bool long_tail = line.len > from_byte + WINDOW_BYTES;
  size_t end = long_tail ? whole_character(line, from_byte + WINDOW_BYTES) : line.len;
  view v = { .line = { line.at + start, end - start }, .more_left = start > 0, .more_right = end < line.len };
  v.from = columns_of(v.line, from_byte - start);
  v.to = columns_of(v.line, to_byte - start);
  v.right = v.width = columns_of(v.line, v.line.len);
  if (v.to <= v.from) v.to = v.from + 1;
  if (v.width <= LINE_COLUMNS) return v;
  if (v.to > LINE_COLUMNS && v.from > LEAD_COLUMNS) v.left = v.from - LEAD_COLUMNS;
  if (v.left > v.width - LINE_COLUMNS) v.left = v.width - LINE_COLUMNS;
  v.right = v.left + LINE_COLUMNS;
  if (v.right < v.width && v.to > v.right) v.to = v.right;
  return v;
}

/* The position of a column of the line, counted from the margin. */
static size_t shown_column(const view *v, size_t column) {
  return column - v->left + (v->left > 0 || v->more_left ? 3 : 0);
}

/* Spaces are written only when something follows them: no line ends in one. */
static void put_line(tn_text *out, const view *v, size_t spaces) {
  tn_str line = v->line;
  size_t column = 0;
  if (v->left > 0 || v->more_left) {
    tn_text_repeat(out, ' ', spaces);
    tn_text_puts(out, "...");
    spaces = 0;
  }
  for (size_t at = 0; at < line.len;) {
    glyph g = glyph_in_line(line, at, column);
    bool whole = column >= v->left;
    at += g.bytes;
    column += g.columns;
    if (column > v->right) break;
    if (!whole) {
      spaces += column > v->left ? column - v->left : 0;
    } else if (g.text[0] == ' ') {
      spaces += g.columns;
    } else {
      tn_text_repeat(out, ' ', spaces);
      tn_text_add(out, (tn_str){ g.text, g.len });
      spaces = 0;
    }
  }
  if (v->right >= v->width && !v->more_right) return;
  tn_text_repeat(out, ' ', spaces);
  tn_text_puts(out, "...");
}

void tn_snippet_margin(const tn_snippet *s, const char *sign) {
  tn_text_repeat(s->out, ' ', s->digits + 2);
  tn_diag_painted(s->out, s->color, TN_PAINT_GUTTER, sign);
}

static size_t digits_of(uint32_t number) {
  size_t digits = 1;
  while (number >= 10) number /= 10, digits++;
  return digits;
}

static void numbered_margin(const tn_snippet *s, uint32_t line) {
  tn_diag_paint(s->out, s->color, TN_PAINT_GUTTER);
  tn_text_repeat(s->out, ' ', 1 + s->digits - digits_of(line));
  tn_text_uint(s->out, line);
  tn_text_puts(s->out, " |");
  tn_diag_paint(s->out, s->color, TN_PAINT_OFF);
}

static void newline(const tn_snippet *s) {
  tn_text_byte(s->out, '\n');
}

static void put_label(const tn_snippet *s) {
  if (s->label.len == 0) return;
  tn_text_byte(s->out, ' ');
  tn_diag_put_safe(s->out, s->label);
}

static void put_carets(const tn_snippet *s, const view *v) {
  tn_snippet_margin(s, "|");
  tn_text_repeat(s->out, ' ', 1 + shown_column(v, v->from));
  tn_diag_paint(s->out, s->color, s->paint);
  tn_text_repeat(s->out, '^', v->to - v->from);
  put_label(s);
  tn_diag_paint(s->out, s->color, TN_PAINT_OFF);
  newline(s);
}

static bool is_blank(tn_str line) {
  for (size_t i = 0; i < line.len; i++)
    if (line.at[i] != ' ' && line.at[i] != '\t') return false;
  return true;
}

/* A caret on an empty line, as at the end of a file, says little: show the line before it. */
static void put_line_before(const tn_snippet *s, uint32_t start) {
  tn_str line = { "", 0 };
  while (start > 0 && is_blank(line)) line = tn_source_line(s->sources, s->at.file, start - 1, &start);
  if (is_blank(line)) return;
  view v = view_of(line, 0, 0);
  numbered_margin(s, tn_place_of(s->sources, s->at.file, start).line);
  put_line(s->out, &v, 1);
  newline(s);
}

static void render_one_line(const tn_snippet *s, tn_str line, uint32_t start) {
  view v = view_of(line, s->at.start - start, s->at.end - start);
  if (is_blank(line)) put_line_before(s, start);
  numbered_margin(s, tn_place_of(s->sources, s->at.file, start).line);
  put_line(s->out, &v, 1);
  newline(s);
  put_carets(s, &v);
}

/* The bar that joins the lines of a span; `first`: it begins below this line. */
static void put_joined(const tn_snippet *s, const view *v, uint32_t number, bool first) {
  numbered_margin(s, number);
  if (!first) {
    tn_text_byte(s->out, ' ');
    tn_diag_painted(s->out, s->color, s->paint, "|");
  }
  put_line(s->out, v, first ? 3 : 1);
  newline(s);
}

static void put_corner(const tn_snippet *s, const char *bar, size_t column) {
  tn_snippet_margin(s, "|");
  tn_text_byte(s->out, ' ');
  tn_diag_paint(s->out, s->color, s->paint);
  tn_text_puts(s->out, bar);
  tn_text_repeat(s->out, '_', column + 1);
  tn_text_byte(s->out, '^');
  if (*bar == '|') put_label(s);
  tn_diag_paint(s->out, s->color, TN_PAINT_OFF);
  newline(s);
}

/* One line between is shown; more are not. */
static void put_between(const tn_snippet *s, uint32_t first, uint32_t last_start) {
  uint32_t start, last = tn_place_of(s->sources, s->at.file, last_start).line;
  if (last == first + 2) {
    tn_str line = tn_source_line(s->sources, s->at.file, last_start - 1, &start);
    view v = view_of(line, 0, 0);
    put_joined(s, &v, first + 1, false);
  } else if (last > first + 2) {
    tn_diag_paint(s->out, s->color, TN_PAINT_GUTTER);
    tn_text_puts(s->out, "...");
    tn_text_repeat(s->out, ' ', s->digits - 1);
    tn_text_byte(s->out, '|');
    tn_diag_paint(s->out, s->color, TN_PAINT_OFF);
    tn_text_byte(s->out, ' ');
    tn_diag_painted(s->out, s->color, s->paint, "|");
    newline(s);
  }
}

static void render_lines(const tn_snippet *s, tn_str line, uint32_t start) {
  uint32_t last_start, number = tn_place_of(s->sources, s->at.file, start).line;
  view v = view_of(line, s->at.start - start, line.len);
  put_joined(s, &v, number, true);
  put_corner(s, " ", shown_column(&v, v.from));
  tn_str last = tn_source_line(s->sources, s->at.file, s->at.end - 1, &last_start);
  put_between(s, number, last_start);
  v = view_of(last, s->at.end - last_start, s->at.end - last_start);
  put_joined(s, &v, tn_place_of(s->sources, s->at.file, last_start).line, false);
  put_corner(s, "|", shown_column(&v, v.from > 0 ? v.from - 1 : 0));
}

static uint32_t last_byte(tn_span at) {
  return at.end > at.start ? at.end - 1 : at.start;
}

/* Within the text, and without the line breaks at its end. */
static tn_span trimmed(tn_sources *sources, tn_span at) {
  const tn_source *source = tn_sources_get(sources, at.file);
  if (at.start > source->text.len) at.start = (uint32_t)source->text.len;
  if (at.end > source->text.len) at.end = (uint32_t)source->text.len;
  if (at.end < at.start) at.end = at.start;
  while (at.end > at.start && (source->text.at[at.end - 1] == '\n' || source->text.at[at.end - 1] == '\r'))
    at.end--;
  return at;
}

size_t tn_snippet_digits(tn_sources *sources, tn_span at) {
  if (!tn_sources_get(sources, at.file)) return 1;
  return digits_of(tn_place_of(sources, at.file, last_byte(trimmed(sources, at))).line);
}

static void put_place(const tn_snippet *s) {
  tn_place place = tn_place_of(s->sources, s->at.file, s->at.start);
  tn_text_repeat(s->out, ' ', s->digits + 1);
  tn_diag_painted(s->out, s->color, TN_PAINT_GUTTER, "--> ");
  tn_diag_put_safe(s->out, tn_sources_get(s->sources, s->at.file)->name);
  tn_text_byte(s->out, ':');
  tn_text_uint(s->out, place.line);
  tn_text_byte(s->out, ':');
  tn_text_uint(s->out, place.column);
  newline(s);
}

void tn_snippet_render(const tn_snippet *snippet) {
  if (!tn_sources_get(snippet->sources, snippet->at.file)) return;
  tn_snippet s = *snippet;
  uint32_t start, last_start;
  put_place(&s);
  tn_snippet_margin(&s, "|");
  newline(&s);
  s.at = trimmed(s.sources, s.at);
  tn_str line = tn_source_line(s.sources, s.at.file, s.at.start, &start);
  tn_source_line(s.sources, s.at.file, last_byte(s.at), &last_start);
  if (start == last_start) render_one_line(&s, line, start);
  else render_lines(&s, line, start);
}
