/* base/number.h: numbers to text and back, exactly.
 *
 * Printing gives the shortest decimal that reads back to the same number, and
 * among those the one closest to it; reading rounds the decimal as written,
 * whatever its length, once, to nearest even. So text preserves every bit on every machine,
 * independent of locale and C library.
 *
 * Form: let e be the exponent of the first digit. For -5 <= e < 16 plain
 * notation: 7, 0.5, -0, 0.00001, 16777216. Otherwise 1e-6, 1e16, 1.5e300. Then
 * NaN, Infinity, -Infinity. The same rule holds for f32 and f64. */
#ifndef TN_BASE_NUMBER_H
#define TN_BASE_NUMBER_H

#include "base/str.h"

/* Each writes at most TN_NUMBER_BYTES, without a NUL, and returns how many. */
#define TN_NUMBER_BYTES 32
size_t tn_number_print_f32(float number, char *out);
size_t tn_number_print_f64(double number, char *out);
size_t tn_number_print_i64(int64_t number, char *out);
size_t tn_number_print_u64(uint64_t number, char *out);

/* Exactly `digits` places after the point (none and no point for 0), the exact value rounded once,
 * ties to even. A value that rounds to zero keeps its sign. `out` has room for
 * TN_NUMBER_FIXED_BYTES(digits); digits is at least 0. */
#define TN_NUMBER_FIXED_BYTES(digits) ((size_t)312 + (size_t)(digits))
size_t tn_number_fixed(double number, int digits, char *out);

/* The whole text must be a number: an optional sign, digits with at most one
 * point among or around them, an optional exponent; or NaN, Infinity with an
 * optional sign. Overflow gives an infinity, underflow zero. False when it is not a number; *out is
 * then untouched. */
bool tn_number_parse_f32(tn_str text, float *out);
bool tn_number_parse_f64(tn_str text, double *out);
/* Decimal digits with an optional sign (u64: only +). False when the text is
 * anything else or the number does not fit; *out is then untouched. */
bool tn_number_parse_i64(tn_str text, int64_t *out);
bool tn_number_parse_u64(tn_str text, uint64_t *out);
#endif
