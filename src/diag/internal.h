/* diag/internal.h: what the files of diag/ share. */
#ifndef TN_DIAG_INTERNAL_H
#define TN_DIAG_INTERNAL_H

#include "diag/diag.h"

/* Goes through names separated by single spaces: false at the end of `*list`. */
bool tn_diag_next_name(const char **list, tn_str *name);
bool tn_diag_names_contain(const char *list, const char *name);

/* Expands a template (diag/template.c). Returns the length of the result and
 * writes it, without a NUL, to `out` unless that is NULL. A value longer than
 * TN_DIAG_VALUE_LIMIT bytes is cut, at a character, and ends in "...". A field
 * outside of [[ ]] that is missing reads as "?". */
size_t tn_diag_expand(const char *template, const tn_diag_field *fields, size_t count, char *out);
#define TN_DIAG_VALUE_LIMIT 120

/* Templates as the tests of diag.def see them. The next field of *template, and
 * whether it stands inside [[ ]]; false when there is none. `inside` starts false. */
bool tn_diag_next_field(const char **template, tn_str *name, bool *inside);

/* Escape sequences of a terminal. */
typedef enum { TN_PAINT_ERROR, TN_PAINT_WARNING, TN_PAINT_GUTTER, TN_PAINT_NOTE, TN_PAINT_BOLD, TN_PAINT_OFF } tn_paint;
void tn_diag_paint(tn_text *out, bool color, tn_paint paint);
/* `text` as a JSON string, quotes included; bytes that are not UTF-8 become U+FFFD. */
void tn_diag_quote(tn_text *out, tn_str text);
#endif
