/* base/digits.h: parses decimal digits, eight at a time.
 *
 * Numbers in data files have one to eight digits in no predictable order, so a loop over the digits
 * costs a mispredicted branch per number. Eight bytes in a register have no loop: find the first
 * byte that is not a digit, shift the others to the end, and add neighbours up in three
 * multiplications. */
#ifndef TN_BASE_DIGITS_H
#define TN_BASE_DIGITS_H

#include "base/bytes.h"

#define TN_EACH_BYTE UINT64_C(0x0101010101010101)

/* The index of the lowest set bit; there must be one. */
static inline int tn_lowest_bit(uint64_t bits) {
#if defined(__GNUC__)
  return __builtin_ctzll(bits);
#else
  int place = 0;
  for (; !(bits & 1); bits >>= 1) place++;
  return place;
#endif
}

/* The number of bytes below the lowest that has its highest bit set; 8 for 0. */
static inline int tn_bytes_below_mark(uint64_t marks) {
#if defined(__GNUC__)
  return marks ? __builtin_ctzll(marks) / 8 : 8;
#else
  if (marks == 0) return 8;
  uint64_t first = (marks & (0 - marks)) >> 7;   /* 1 << 8 * count */
  return (int)(((first - 1) & TN_EACH_BYTE) * TN_EACH_BYTE >> 56);
#endif
}

/* The highest bit of each byte that was not a digit before '0' was subtracted. */
static inline uint64_t tn_digits_others(uint64_t x) {
  return (((x & TN_EACH_BYTE * 0x7f) + TN_EACH_BYTE * 0x76) | x) & TN_EACH_BYTE * 0x80;
}

/* The number whose digits, less '0', are the first `count` bytes (1 to 8). */
static inline uint64_t tn_digits_value(uint64_t x, int count) {
  x <<= 64 - 8 * count;   /* leading zeros */
  x = (x * 10 + (x >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
  x = (x * 100 + (x >> 16)) & UINT64_C(0x0000ffff0000ffff);
  return (x * 10000 + (x >> 32)) & UINT64_C(0xffffffff);
}

/* The number of leading digits among the eight bytes at `at` (all readable), and their value. */
static inline int tn_digits8(const char *at, uint64_t *value) {
  uint64_t x = tn_load_le64(at) ^ TN_EACH_BYTE * '0';   /* digits are now 0 to 9 */
  int count = tn_bytes_below_mark(tn_digits_others(x));
  if (count > 0) *value = tn_digits_value(x, count);
  return count;
}

/* Bit i is set when byte i of the 64 at `at` is not a digit. */
static inline uint64_t tn_digits_gaps(const char *at) {
  uint64_t gaps = 0;
  for (int i = 0; i < 8; i++) {
    uint64_t others = tn_digits_others(tn_load_le64(at + 8 * i) ^ TN_EACH_BYTE * '0');
    gaps |= ((others >> 7) * UINT64_C(0x0102040810204080) >> 56) << 8 * i;   /* one bit of each byte */
  }
  return gaps;
}
#endif
