/* lang/repl_value.c: shows values on a terminal: in colour, and matrices row by row.
 *
 * The text of a value is reformatted: a matrix begins on a new line, each row has a line, and
 * numbers are padded to the widest. */
#include "lang/repl.h"

typedef struct {
  tn_str text;
  char open, close;
  tn_text *out;
} layout;

static bool is_number_part(const layout *l, size_t at) {
  char c = l->text.at[at];
  return c != l->open && c != l->close && c != ',' && c != ' ';
}

/* One past the bracket that closes the one at `start`; 0: none does. */
static size_t end_of(const layout *l, size_t start) {
  size_t depth = 0;
  for (size_t i = start; i < l->text.len; i++) {
    if (l->text.at[i] == l->open) depth++;
    if (l->text.at[i] == l->close && --depth == 0) return i + 1;
  }
  return 0;
}

static size_t widest(const layout *l, size_t start, size_t end) {
  size_t most = 0, width = 0;
  for (size_t i = start; i < end; i++) {
    width = is_number_part(l, i) ? width + 1 : 0;
    if (width > most) most = width;
  }
  return most;
}

/* A number, padded on the left. Returns where it ends. */
static size_t put_number(const layout *l, size_t at, size_t end, size_t width) {
  size_t last = at;
  while (last < end && is_number_part(l, last)) last++;
  tn_text_repeat(l->out, ' ', width - (last - at));
  tn_text_add(l->out, (tn_str){ l->text.at + at, last - at });
  return last;
}

#define INDENT 2

/* The text from `start` to `end`, which begins with two brackets that open. */
static void put_matrix(const layout *l, size_t start, size_t end) {
  size_t width = widest(l, start, end), depth = 0;
  tn_text_byte(l->out, '\n');
  tn_text_repeat(l->out, ' ', INDENT);
  for (size_t i = start; i < end;) {
    char c = l->text.at[i];
    if (is_number_part(l, i)) {
      i = put_number(l, i, end, width);
      continue;
    }
    bool row_ends = c == ' ' && i + 1 < end && l->text.at[i + 1] == l->open;
    if (row_ends) {
      tn_text_byte(l->out, '\n');
      tn_text_repeat(l->out, ' ', INDENT + depth);
    } else {
      tn_text_byte(l->out, c);
    }
    depth += c == l->open;
    depth -= c == l->close;
    i++;
  }
}

static bool is_matrix(const layout *l, size_t at) {
  return at + 1 < l->text.len && l->text.at[at] == l->open && l->text.at[at + 1] == l->open;
}

static void put_rows(const layout *l) {
  for (size_t i = 0; i < l->text.len;) {
    char c = l->text.at[i];
    bool blank = c == ' ' && is_matrix(l, i + 1);
    size_t end = is_matrix(l, i) ? end_of(l, i) : 0;
    if (end) {
      put_matrix(l, i, end);
      i = end;
    } else {
      if (!blank) tn_text_byte(l->out, c); /* the matrix begins a line */
      i++;
    }
  }
}

void tn_repl_show(const tn_repl_talk *talk, tn_str value, char open, tn_text *out) {
  layout l = { .text = value, .open = open, .close = open == '(' ? ')' : ']', .out = out };
  if (talk->host->color) tn_text_puts(out, "\033[36m");
  if (talk->host->rows)
    put_rows(&l);
  else
    tn_text_add(out, value);
  if (talk->host->color) tn_text_puts(out, "\033[0m");
}
