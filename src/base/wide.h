/* base/wide.h: 128-bit products and bit counting in standard C.
 *
 * Compilers have wider types and instructions for this, but not all of them and
 * not under one name; four 32-bit products cost a few nanoseconds and are the
 * same everywhere. */
#ifndef TN_BASE_WIDE_H
#define TN_BASE_WIDE_H

#include <stdint.h>

typedef struct {
  uint64_t hi, lo;
} tn_wide;

static inline tn_wide tn_wide_mul(uint64_t a, uint64_t b) {
  uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
  uint64_t low = a0 * b0, high = a1 * b1;
  uint64_t cross = a1 * b0 + (low >> 32);              /* cannot overflow: (2^32-1)^2 + 2^32-1 */
  uint64_t other = a0 * b1 + (uint32_t)cross;
  return (tn_wide){ high + (cross >> 32) + (other >> 32), other << 32 | (uint32_t)low };
}

/* The number of zero bits above the highest set one; 64 for 0. */
static inline int tn_leading_zeros64(uint64_t bits) {
  int count = 0;
  if (bits == 0) return 64;
  for (int half = 32; half; half /= 2) {
    if (bits >> (64 - half) == 0) {
      count += half;
      bits <<= half;
    }
  }
  return count;
}
#endif
