/* base/str.h: borrowed strings, and interned names.
 *
 * tn_str never owns. A tn_name is a number for a text: two names are equal
 * exactly when their texts are; 0 is "no name". */
#ifndef TN_BASE_STR_H
#define TN_BASE_STR_H

#include "base/heap.h"

typedef struct {
  const char *at;
  size_t len;
} tn_str;

#define TN_LIT(text) ((tn_str){ "" text, sizeof(text) - 1 })

tn_str tn_str_of(const char *nul_terminated);   /* NULL reads as empty */
bool tn_str_equal(tn_str a, tn_str b);
bool tn_str_is(tn_str a, const char *nul_terminated);
bool tn_str_starts(tn_str text, const char *prefix);
bool tn_str_ends(tn_str text, const char *suffix);
int tn_str_compare(tn_str a, tn_str b);         /* bytewise, shorter first on a tie */
uint64_t tn_str_hash(tn_str text);              /* the same on every machine */

/* The number of single-character edits (insert, delete, replace, swap of
 * neighbours) between a and b, or limit + 1 when it is larger than limit or
 * than TN_STR_DISTANCE_LIMIT. A character is a byte here. */
#define TN_STR_DISTANCE_LIMIT 64
int tn_str_distance(tn_str a, tn_str b, int limit);
/* The candidate that the user most likely meant, or an empty string if none is close enough (edits
 * up to a third of the longer text, ignoring case; ties to the first). */
tn_str tn_str_suggest(tn_str wrong, const tn_str *candidates, size_t count);

typedef uint32_t tn_name;
typedef struct tn_names tn_names;

tn_names *tn_names_new(tn_heap *heap);
void tn_names_free(tn_names *names);
/* 0 when memory runs out. The text is copied. */
tn_name tn_names_intern(tn_names *names, tn_str text);
/* 0 when the text was never interned. */
/* A mark to go back to, one at a time: names interned since are removed and their numbers reused,
 * so no caller may keep one. tn_names_since says whether a name is one of them. */
void tn_names_mark(tn_names *names);
bool tn_names_since(const tn_names *names, tn_name name);
void tn_names_rewind(tn_names *names);
/* 0 when it was never interned. */
tn_name tn_names_find(const tn_names *names, tn_str text);
/* NUL-terminated; lives as long as the table. Empty for 0. */
tn_str tn_names_text(const tn_names *names, tn_name name);
#endif
