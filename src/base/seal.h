/* base/seal.h: the hash that a file carries of its own bytes.
 *
 * The last member of a JSON object in the file is the SHA-256 of the whole file,
 * computed with zeros in place of its digits. A seal detects damage. It is not a
 * signature: anyone can compute it, so a sealed file is not trusted more. */
#ifndef TN_BASE_SEAL_H
#define TN_BASE_SEAL_H

#include "base/text.h"

#define TN_SEAL_DIGITS 64

/* Adds the seal as the last member of an open object, with zeros for digits, and closes the object.
 * Returns the offset of the digits in `out`; 0 when memory runs out. */
size_t tn_seal_reserve(tn_text *out, bool is_first_member);
/* Writes the digits of a file that is otherwise complete; they lie inside it. */
void tn_seal_close(char *file, size_t bytes, char *digits);

/* The digits of the seal that ends this object; NULL when it ends otherwise. */
const char *tn_seal_find(tn_str object);
/* Where in the object the member of the seal begins, with the comma before it. */
size_t tn_seal_start(const char *digits, tn_str object);
bool tn_seal_holds(const char *file, size_t bytes, const char *digits);
#endif
