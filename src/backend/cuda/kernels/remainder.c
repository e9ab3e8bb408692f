/* backend/cuda/kernels/remainder.c: fmod for a card, which has none.
 *
 * The remainder is exact, so any way that is right gives the bits of every other: the mantissa of x is
 * divided by that of y a bit at a time, as long division does. */
#include "base/elementary.h"

double card_fmod(double x, double y);
float card_fmodf(float x, float y);

#define LEADING 0x10000000000000u   /* the bit of a mantissa that is not stored */

/* The mantissa with its leading bit, and the exponent that goes with it, which is below 1 for denormals. */
static uint64_t mantissa_of(uint64_t bits, int *exponent) {
  uint64_t mantissa = bits & (LEADING - 1);
  *exponent = (int)(bits >> 52);
  if (*exponent) return mantissa | LEADING;
  for (*exponent = 1; mantissa < LEADING; (*exponent)--) mantissa <<= 1;
  return mantissa;
}

double card_fmod(double x, double y) {
  uint64_t sign = tn_bits_f64(x) & 0x8000000000000000u;
  uint64_t left = tn_bits_f64(x) ^ sign, by = tn_bits_f64(y) & 0x7fffffffffffffffu;
  if (x != x || y != y || by == 0 || left >= 0x7ff0000000000000u) return tn_nan_f64();
  if (left < by) return x;
  int above, below;
  uint64_t rest = mantissa_of(left, &above), divisor = mantissa_of(by, &below);
  for (; above > below; above--) {
    if (rest >= divisor) rest -= divisor;
    rest <<= 1;
  }
  if (rest >= divisor) rest -= divisor;
  if (rest == 0) return tn_double_of_bits(sign);
  for (; rest < LEADING; below--) rest <<= 1;
  /* Below the least normal number bits fall out that are zero: the remainder is a multiple of y's last. */
  uint64_t bits = below < 1 ? rest >> (1 - below) : (rest & (LEADING - 1)) | (uint64_t)below << 52;
  return tn_double_of_bits(sign | bits);
}

/* Floats are exact as doubles, and so is their remainder, which is a float. */
float card_fmodf(float x, float y) { return (float)card_fmod((double)x, (double)y); }
