/* base/number_parse.c: decimals to floats, rounded once.
 *
 * Three methods, each used only if it is exact:
 * - few digits and a small power of ten: both are floats themselves, so one
 *   multiplication or division rounds once;
 * - nineteen digits times a 128-bit power of ten: the product and a bound on its
 *   error enclose the number; unless a midpoint between two floats lies inside
 *   the enclosure, the rounding is known (after Eisel and Lemire);
 * - else the whole decimal is compared with that midpoint, in whole numbers.
 * The destination format is a parameter, so f32 is never rounded twice. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/number_internal.h"

#define LEADING_DIGITS 19     /* fit a uint64_t */
/* The longest midpoint has 767 digits; of further digits it only matters whether one is not 0. */
#define EXACT_DIGITS 800
#define EXPONENT_BOUND ((int64_t)1 << 60)

typedef struct {
  int bits;       /* of a mantissa, the hidden one included */
  int smallest;   /* exponent of the smallest number's unit */
  int largest;    /* of the largest number's first bit */
} format;

static const format f64_format = { 53, -1074, 1023 };
static const format f32_format = { 24, -149, 127 };

typedef enum { KIND_FINITE, KIND_INFINITY, KIND_NAN } kind;

/* leading * 10^exponent, plus less than one unit if `more`. */
typedef struct {
  kind kind;
  bool negative, more;
  uint64_t leading;
  int64_t exponent;
  tn_str digits;        /* the digits and the point, from the first that is not 0; read if `more` */
} scanned;

/* ---- scanning ---- */

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool scan_word(tn_str rest, scanned *out) {
  if (tn_str_is(rest, "Infinity")) out->kind = KIND_INFINITY;
  else if (tn_str_is(rest, "NaN")) out->kind = KIND_NAN;
  else return false;
  return true;
}

/* The part after e: [sign] digits. Saturates: no text is long enough to undo it. */
static bool scan_exponent(tn_str text, size_t at, int64_t *out) {
  bool negative = false;
  int64_t value = 0;
  if (at < text.len && (text.at[at] == '+' || text.at[at] == '-')) negative = text.at[at++] == '-';
  if (at == text.len) return false;
  for (; at < text.len; at++) {
    if (!is_digit(text.at[at])) return false;
    if (value < EXPONENT_BOUND / 16) value = value * 10 + (text.at[at] - '0');
  }
  *out = negative ? -value : value;
  return true;
}

/* More digits than fit: reads the first nineteen again. The exponent so far counts from the last
 * digit. */
static void cut_to_leading(scanned *out) {
  size_t taken = 0, at = 0;
  int64_t dropped = 0;
  out->leading = 0;
  for (; at < out->digits.len; at++) {
    char c = out->digits.at[at];
    if (c == '.') continue;
    if (taken < LEADING_DIGITS) {
      out->leading = out->leading * 10 + (uint64_t)(c - '0');
      taken++;
    } else {
      dropped++;
      out->more |= c != '0';
    }
  }
  out->exponent += dropped;
}

/* digits = digit { digit } [ "." { digit } ] | "." digit { digit } ; returns where they end. */
static bool scan_digits(tn_str text, size_t *at, scanned *out) {
  size_t i = *at, start = i, point = SIZE_MAX, count = 0;
  while (i < text.len && text.at[i] == '0') i++;
  size_t zeros = i - start, first = i;
  for (; i < text.len; i++) {
    char c = text.at[i];
    if (c == '0' && count == 0) {
      zeros++, first = i + 1;   /* zeros after the point */
    } else if (is_digit(c)) {
      out->leading = out->leading * 10 + (uint64_t)(c - '0');   /* wraps: see cut_to_leading */
      count++;
    } else if (c == '.' && point == SIZE_MAX) {
      point = i;
    } else {
      break;
    }
  }
  if (count + zeros == 0) return false;
  if (point != SIZE_MAX) out->exponent = -(int64_t)(i - point - 1);
  out->digits = (tn_str){ text.at + first, i - first };
  if (count > LEADING_DIGITS) cut_to_leading(out);
  *at = i;
  return true;
}

static bool scan(tn_str text, scanned *out) {
  size_t at = 0;
  int64_t exponent = 0;
  *out = (scanned){ .kind = KIND_FINITE };
  if (at < text.len && (text.at[at] == '-' || text.at[at] == '+')) out->negative = text.at[at++] == '-';
  if (at < text.len && text.at[at] > '9') return scan_word((tn_str){ text.at + at, text.len - at }, out);
  if (!scan_digits(text, &at, out)) return false;
  if (at == text.len) return true;
  if (text.at[at] != 'e' && text.at[at] != 'E') return false;
  if (!scan_exponent(text, at + 1, &exponent)) return false;
  out->exponent += exponent;
  return true;
}

/* ---- the exact road ---- */

/* All digits as a whole number; the exponent it is to be scaled by. */
static int64_t read_exact(const scanned *number, tn_big *big) {
  int64_t exponent = number->exponent, taken = 0;
  bool more = false;
  tn_big_set(big, number->more ? 0 : number->leading);
  if (!number->more) return exponent;
  for (size_t i = 0; i < number->digits.len; i++) {
    char c = number->digits.at[i];
    if (c == '.') continue;
    if (taken < EXACT_DIGITS) {
      tn_big_mul_add(big, 10, (uint32_t)(c - '0'));
      if (++taken > LEADING_DIGITS) exponent--;
    } else {
      more |= c != '0';
    }
  }
  if (more) {
    tn_big_mul_add(big, 10, 1);
    exponent--;
  }
  return exponent;
}

/* The sign of: the decimal - (2 * mantissa + 1) * 2^(unit - 1). Both sides are
 * multiplied until they are whole; neither passes 2^2800, because they are
 * within a factor of two of each other and at most 801 digits are taken. */
static int compare_with_midpoint(const scanned *number, uint64_t mantissa, int unit) {
  tn_big left, right;
  int tens = (int)read_exact(number, &left), twos = unit - 1;
  tn_big_set(&right, 2 * mantissa + 1);
  if (tens >= 0) tn_big_mul_pow5(&left, tens);
  else tn_big_mul_pow5(&right, -tens);
  int shift = tens - twos;
  if (shift >= 0) tn_big_shift_left(&left, shift);
  else tn_big_shift_left(&right, -shift);
  return tn_big_compare(&left, &right);
}

/* ---- the enclosure ---- */

/* The number lies in [hi:lo, hi:lo + error] * 2^(first - 127); hi's top bit is set. */
typedef struct {
  uint64_t hi, lo;
  uint64_t error_hi, error_lo;
  bool exact, more;      /* exact: it is hi:lo, plus less than one if more */
  int first;             /* exponent of the first bit */
} enclosure;

static enclosure enclose(const scanned *number) {
  int ten = (int)number->exponent, zeros = tn_leading_zeros64(number->leading);
  tn_wide power = tn_number_power(ten);
  uint64_t leading = number->leading << zeros;
  tn_wide high = tn_wide_mul(leading, power.hi), low = tn_wide_mul(leading, power.lo);
  enclosure e = { .hi = high.hi, .lo = high.lo + low.hi, .first = tn_floor_log2_pow10(ten) + 64 - zeros };
  e.hi += e.lo < low.hi;
  if (e.hi >> 63 == 0) {
    e.hi = e.hi << 1 | e.lo >> 63;
    e.lo = e.lo << 1 | low.lo >> 63;
    low.lo <<= 1;
    e.first--;
  }
  e.exact = ten >= 0 && ten <= TN_POWER_LAST_EXACT && !number->more;
  e.more = low.lo != 0;
  e.error_lo = 3;                       /* a cut-off product, and a power short by less than one */
  e.error_hi = number->more ? 33 : 0;   /* one unit in nineteen digits is below 2^-59 of the number */
  return e;
}

/* value << bits, for 0 <= bits < 64. */
static tn_wide shift_wide(uint64_t hi, uint64_t lo, int bits) {
  if (bits == 0) return (tn_wide){ hi, lo };
  return (tn_wide){ hi << bits | lo >> (64 - bits), lo << bits };
}

/* Rounds to a whole multiple of 2^unit; that is the enclosure's first `kept` bits, 0 to 53. */
static uint64_t round_enclosed(const scanned *number, const enclosure *e, int kept, int unit) {
  const uint64_t half = UINT64_C(1) << 63;   /* compared with what is cut off, left-aligned */
  uint64_t mantissa = kept > 0 ? e->hi >> (64 - kept) : 0;
  tn_wide rest = shift_wide(e->hi, e->lo, kept), error = shift_wide(e->error_hi, e->error_lo, kept);
  if (rest.hi > half || (rest.hi == half && rest.lo)) return mantissa + 1;
  if (e->exact) return mantissa + (rest.hi == half && (e->more || (mantissa & 1)));
  tn_wide below = { half - rest.hi - (rest.lo != 0), 0 - rest.lo };
  if (below.hi > error.hi || (below.hi == error.hi && below.lo > error.lo)) return mantissa;
  int order = compare_with_midpoint(number, mantissa, unit);
  return mantissa + (order > 0 || (order == 0 && (mantissa & 1)));
}

/* The magnitude's bits in the format. */
static uint64_t round_to_format(const scanned *number, const format *to) {
  uint64_t infinity = (uint64_t)(to->largest - to->smallest - to->bits + 3) << (to->bits - 1);
  if (number->leading == 0 || number->exponent < TN_POWER_FIRST) return 0;
  if (number->exponent > 308) return infinity;
  enclosure e = enclose(number);
  if (e.first > to->largest) return infinity;
  int unit = e.first - to->bits + 1;
  if (unit < to->smallest) unit = to->smallest;
  int kept = e.first - unit + 1;
  if (kept < -1) return 0;
  if (kept < 0) {
    /* Just below half of the smallest number, perhaps not below. */
    if (e.hi < UINT64_MAX - 128) return 0;
    return compare_with_midpoint(number, 0, unit) > 0;
  }
  /* Adding the mantissa carries its hidden bit, and a rounding up to the next
   * power of two, into the exponent. */
  return ((uint64_t)(unit - to->smallest) << (to->bits - 1)) + round_enclosed(number, &e, kept, unit);
}

/* ---- few digits ---- */

const double tn_number_tens[TN_TENS_EXACT + 1] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };

static double finite_f64(const scanned *number) {
  double value;
  bool few = !number->more && tn_number_exact_f64(number->leading, number->exponent, &value);
  if (few) return number->negative ? -value : value;
  uint64_t bits = round_to_format(number, &f64_format) | (uint64_t)number->negative << 63;
  memcpy(&value, &bits, sizeof bits);
  return value;
}

static float finite_f32(const scanned *number) {
  float value;
  bool quick = !number->more && (tn_number_exact_f32(number->leading, number->exponent, &value) ||
                                 tn_number_near_f32(number->leading, number->exponent, &value));
  if (quick) return number->negative ? -value : value;
  uint32_t bits = (uint32_t)round_to_format(number, &f32_format) | (uint32_t)number->negative << 31;
  memcpy(&value, &bits, sizeof bits);
  return value;
}

float tn_number_f32_of(bool negative, uint64_t leading, int exponent) {
  scanned number = { .kind = KIND_FINITE, .negative = negative, .leading = leading, .exponent = exponent };
  return finite_f32(&number);
}

bool tn_number_parse_f64(tn_str text, double *out) {
  scanned number;
  if (!scan(text, &number)) return false;
  *out = number.kind == KIND_FINITE ? finite_f64(&number)
         : number.kind == KIND_NAN  ? (double)NAN
         : number.negative          ? -(double)INFINITY
                                    : (double)INFINITY;
  return true;
}

bool tn_number_parse_f32(tn_str text, float *out) {
  scanned number;
  if (!scan(text, &number)) return false;
  *out = number.kind == KIND_FINITE ? finite_f32(&number)
         : number.kind == KIND_NAN  ? NAN
         : number.negative          ? -INFINITY
                                    : INFINITY;
  return true;
}

/* ---- whole numbers ---- */

static bool scan_whole(tn_str text, size_t at, uint64_t limit, uint64_t *out) {
  uint64_t value = 0;
  if (at == text.len) return false;
  for (; at < text.len; at++) {
    if (!is_digit(text.at[at])) return false;
    unsigned digit = (unsigned)(text.at[at] - '0');
    if (value > (limit - digit) / 10) return false;
    value = value * 10 + digit;
  }
  *out = value;
  return true;
}

bool tn_number_parse_u64(tn_str text, uint64_t *out) {
  bool sign = text.len && text.at[0] == '+';
  return scan_whole(text, sign, UINT64_MAX, out);
}

bool tn_number_parse_i64(tn_str text, int64_t *out) {
  bool negative = text.len && text.at[0] == '-', sign = negative || (text.len && text.at[0] == '+');
  uint64_t magnitude;
  if (!scan_whole(text, sign, (uint64_t)INT64_MAX + negative, &magnitude)) return false;
  *out = negative && magnitude ? -(int64_t)(magnitude - 1) - 1 : (int64_t)magnitude;
  return true;
}
