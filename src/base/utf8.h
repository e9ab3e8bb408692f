/* base/utf8.h: text as characters.
 *
 * Strict throughout: no overlong forms, no surrogates, nothing above U+10FFFF.
 * A character is a code point; what a person sees as one may be several. */
#ifndef TN_BASE_UTF8_H
#define TN_BASE_UTF8_H

#include "base/str.h"

#define TN_UTF8_REPLACEMENT 0xfffd   /* U+FFFD, for what cannot be read */

/* The length in bytes (1 to 4) of the character at offset `at`, and the
 * character itself; 0, leaving *code, when there is none or it is malformed. */
size_t tn_utf8_decode(tn_str text, size_t at, uint32_t *code);
/* Writes 1 to 4 bytes and returns how many; 0 when it is not a character. */
size_t tn_utf8_encode(uint32_t code, char *out);

/* The offset of the first byte that does not belong to a whole character;
 * text.len when all do. */
size_t tn_utf8_first_invalid(tn_str text);
bool tn_utf8_valid(tn_str text);
/* Characters in the text; every byte that belongs to none counts as one. */
size_t tn_utf8_count(tn_str text);
/* The beginning of the text, at most `limit` bytes of it, that cuts no character. */
tn_str tn_utf8_clip(tn_str text, size_t limit);

/* Columns on a terminal: 2 for East Asian wide characters and emoji, 0 for
 * combining marks and what is invisible (control characters too), else 1. */
int tn_utf8_width(uint32_t code);

/* The text without a byte order mark at its start. */
tn_str tn_utf8_unmarked(tn_str text);
#endif
