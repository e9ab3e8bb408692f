/* base/number_take.h: fast readers for the ordinary numbers of data files.
 *
 * Each function reads a number in the most common forms and moves the cursor
 * past it. For anything else it returns false, and the caller uses the reader
 * that knows all forms and all errors (number.h, json.h). So one place defines
 * what a number is, and the fast path only has to be right where it accepts.
 * The caller checks what follows the number. */
#ifndef TN_BASE_NUMBER_TAKE_H
#define TN_BASE_NUMBER_TAKE_H

#include "base/digits.h"
#include "base/number_internal.h"

#define TN_TAKE_DIGITS 19   /* always fit a uint64_t */
#define TN_TAKE_EXPONENT_DIGITS 4

/* Up to `most` digits onto *value; how many. */
static inline int tn_take_digits(const char **at, const char *end, int most, uint64_t *value) {
  int count = 0;
  for (; *at < end && **at >= '0' && **at <= '9' && count < most; ++*at, count++) {
    *value = *value * 10 + (uint64_t)(**at - '0');
  }
  return count;
}

/* The same for a fraction, which has more digits, and less predictably many. */
static inline int tn_take_fraction(const char **at, const char *end, int most, uint64_t *value) {
  static const uint32_t power_of_ten[] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000 };
  int taken = 0;
  while (most - taken >= 8 && end - *at >= 8) {
    uint64_t part = 0;
    int count = tn_digits8(*at, &part);
    *value = *value * power_of_ten[count] + part;
    *at += count;
    taken += count;
    if (count < 8) return taken;
  }
  return taken + tn_take_digits(at, end, most - taken, value);
}

/* A whole number of at most seven digits, at *at. The digits are examined before the sign, so that
 * the start of the next number depends on nothing else. */
static inline bool tn_take_i32(const char **at, const char *end, int32_t *out) {
  const char *p = *at;
  uint64_t value = 0;
  if (end - p < 9) return false;
  int count = tn_digits8(p, &value);
  bool negative = count == 0 && *p == '-';
  if (negative) count = tn_digits8(++p, &value);
  if (count == 0 || count == 8 || (*p == '0' && count > 1)) return false;
  *out = negative ? -(int32_t)value : (int32_t)value;
  *at = p + count;
  return true;
}

/* [ ( "e" | "E" ) [ "+" | "-" ] digits ] */
static inline bool tn_take_exponent(const char **at, const char *end, int *exponent) {
  uint64_t value = 0;
  if (*at == end || (**at != 'e' && **at != 'E')) return true;
  ++*at;
  bool negative = *at < end && **at == '-';
  if (negative || (*at < end && **at == '+')) ++*at;
  if (tn_take_digits(at, end, TN_TAKE_EXPONENT_DIGITS, &value) == 0) return false;
  *exponent += negative ? -(int)value : (int)value;
  return true;
}

static inline bool tn_take_f32(const char **at, const char *end, float *out) {
  const char *p = *at;
  bool negative = p < end && *p == '-';
  uint64_t value = 0;
  int exponent = 0;
  p += negative;
  bool zero = p < end && *p == '0';
  int count = tn_take_digits(&p, end, TN_TAKE_DIGITS, &value);
  if (count == 0 || (zero && count > 1)) return false;
  if (p < end && *p == '.') {
    p++;
    exponent = -tn_take_fraction(&p, end, TN_TAKE_DIGITS - count, &value);
    if (exponent == 0) return false;   /* or no room for more digits; both are rare */
  }
  if (!tn_take_exponent(&p, end, &exponent)) return false;
  *at = p;
  if (tn_number_near_f32(value, exponent, out))
    *out = negative ? -*out : *out;
  else
    *out = tn_number_f32_of(negative, value, exponent);
  return true;
}

/* A decimal number as the digits it is written with. */
typedef struct {
  uint64_t digits;
  int fraction; /* how many of them are after the point */
  bool negative;
} tn_decimal;

#define TN_DECIMAL_BYTES 16

/* The last `length` bytes before `stop`, 1 to 8, as digits; the others are 0. */
static inline uint64_t tn_decimal_word(const char *stop, size_t length) {
  uint64_t word = tn_load_le64(stop - 8) ^ TN_EACH_BYTE * '0';
  return word >> (64 - 8 * length) << (64 - 8 * length);
}

/* Removes the marked byte from a word; the bytes below it move up, and `in` is shifted in. */
static inline uint64_t tn_decimal_close(uint64_t word, uint64_t mark, uint64_t in) {
  uint64_t below = (mark >> 7) - 1;
  return (word & ~(mark | (mark - 1))) | (word & below) << 8 | in;
}

/* How many digits follow the marked point, if it is one and the only mark; else -1. */
static inline int tn_decimal_fraction(const char *stop, uint64_t mark) {
  int fraction = 7 - tn_bytes_below_mark(mark);
  return (mark & (mark - 1)) == 0 && stop[-1 - fraction] == '.' ? fraction : -1;
}

/* The decimal of `length` bytes before `stop`, where 16 bytes before `stop` can be read: an optional minus,
 * digits, at most one point. False for anything else, and for more than 16 bytes after the sign.
 * There is no loop: the text is one word or two, a shift removes the point, and only digits are
 * left. */
static inline bool tn_take_decimal(const char *stop, size_t length, tn_decimal *out) {
  out->negative = stop[-(ptrdiff_t)length] == '-';
  length -= out->negative;
  out->fraction = 0;
  if (length - 1 < 8) {
    uint64_t word = tn_decimal_word(stop, length), mark = tn_digits_others(word);
    if (mark) {
      out->fraction = tn_decimal_fraction(stop, mark);
      if (out->fraction < 0 || length == 1) return false;
      word = tn_decimal_close(word, mark, 0);
    }
    out->digits = tn_digits_value(word, 8);
    return true;
  }
  if (length - 1 >= TN_DECIMAL_BYTES) return false;
  uint64_t low = tn_decimal_word(stop, 8), high = tn_decimal_word(stop - 8, length - 8);
  uint64_t low_mark = tn_digits_others(low), high_mark = tn_digits_others(high);
  if (low_mark && !high_mark) {
    out->fraction = tn_decimal_fraction(stop, low_mark);
    low = tn_decimal_close(low, low_mark, high >> 56);
    high <<= 8;
  } else if (high_mark) {
    out->fraction = low_mark ? -1 : tn_decimal_fraction(stop - 8, high_mark);
    high = tn_decimal_close(high, high_mark, 0);
    out->fraction += out->fraction < 0 ? 0 : 8;
  }
  out->digits = tn_digits_value(high, 8) * 100000000 + tn_digits_value(low, 8);
  return out->fraction >= 0;
}
#endif
