/* diag/internal.h: shared by the files of diag/. */
#ifndef TN_DIAG_INTERNAL_H
#define TN_DIAG_INTERNAL_H

#include "diag/diag.h"

/* Goes through names separated by single spaces; false at the end of *list. */
bool tn_diag_next_name(const char **list, tn_str *name);
bool tn_diag_names_contain(const char *list, const char *name);
/* Whether a report has every field that its code requires. */
bool tn_diag_has_required(tn_diag_code code, const tn_field *fields, size_t count);

/* Expands a template (diag/template.c). Returns the length of the result and
 * writes it, without a NUL, to `out` unless that is NULL. A value longer than
 * TN_DIAG_VALUE_LIMIT bytes is cut, at a character, and ends in "...". A field
 * outside of [[ ]] that is missing reads as "?". */
size_t tn_diag_expand(const char *template, const tn_diag_field *fields, size_t count, char *out);
#define TN_DIAG_VALUE_LIMIT 400
/* The same without values, as documentation shows it: each of the names in
 * `required` stands for itself, as <name>, and the others are absent. */
size_t tn_diag_outline(const char *template, const char *required, char *out);
/* The longest start of `text` that has at most `bytes` and ends with a character. */
tn_str tn_diag_cut(tn_str text, size_t bytes);
/* The next field of *template, which is moved past it, and whether it stands
 * inside [[ ]]; false when there is none. *inside starts as false. */
bool tn_diag_next_field(const char **template, tn_str *name, bool *inside);

/* Colours of a terminal; nothing at all when `color` is false. */
typedef enum {
  TN_PAINT_OFF, TN_PAINT_BOLD, TN_PAINT_ERROR, TN_PAINT_WARNING, TN_PAINT_NOTE, TN_PAINT_GUTTER
} tn_paint;
void tn_diag_paint(tn_text *out, bool color, tn_paint paint);
void tn_diag_painted(tn_text *out, bool color, tn_paint paint, const char *text);

/* A place with its lines and carets (diag/snippet.c). */
typedef struct {
  tn_text *out;
  tn_sources *sources;
  tn_span at;
  tn_str label;          /* after the last caret; empty: none */
  size_t digits;         /* of the widest line number beside it */
  tn_paint paint;        /* of carets and label */
  bool color;
} tn_snippet;
void tn_snippet_render(const tn_snippet *snippet);
/* How many digits the line numbers beside a place need. */
size_t tn_snippet_digits(tn_sources *sources, tn_span at);
/* The start of a line in the margin: "   | ", "   = ". */
void tn_snippet_margin(const tn_snippet *snippet, const char *sign);
#endif
