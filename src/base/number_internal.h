/* base/number_internal.h: what printing and reading share: powers of ten in 128
 * bits for the fast paths, whole numbers of any size for the exact ones. */
#ifndef TN_BASE_NUMBER_INTERNAL_H
#define TN_BASE_NUMBER_INTERNAL_H

#include <float.h>
#include <string.h>

#include "base/heap.h"
#include "base/wide.h"

/* 10^exponent = (power + less than 1) * 2^(floor_log2_pow10(exponent) - 127),
 * with the highest bit of power set. Exact for 0 <= exponent <= 55. */
#define TN_POWER_FIRST (-342)
#define TN_POWER_LAST 324
#define TN_POWER_LAST_EXACT 55
extern const tn_wide tn_number_powers[TN_POWER_LAST - TN_POWER_FIRST + 1];

static inline tn_wide tn_number_power(int exponent) {
  return tn_number_powers[exponent - TN_POWER_FIRST];
}

/* Floors of logarithms by a rational approximation that is exact over the range
 * used (a test visits each entry). The bias keeps the shifted number positive. */
static inline int tn_floor_log10_pow2(int exponent) {   /* |exponent| <= 1500 */
  return (int)((1262611 * (int64_t)exponent + ((int64_t)1024 << 22)) >> 22) - 1024;
}

static inline int tn_floor_log10_three_quarters_pow2(int exponent) {
  return (int)((1262611 * (int64_t)exponent - 524031 + ((int64_t)1024 << 22)) >> 22) - 1024;
}

static inline int tn_floor_log2_pow10(int exponent) {   /* |exponent| <= 400 */
  return (int)((1741647 * (int64_t)exponent + ((int64_t)2048 << 19)) >> 19) - 2048;
}

/* ---- few digits ---- */

#if FLT_EVAL_METHOD != 0
#error "one operation must round once (x86: -msse2 -mfpmath=sse)"
#endif

/* The powers of ten that f64 holds exactly. */
#define TN_TENS_EXACT 22
extern const double tn_number_tens[TN_TENS_EXACT + 1];

/* Both factors are f64 themselves, so one operation rounds once. */
static inline bool tn_number_exact_f64(uint64_t leading, int64_t exponent, double *out) {
  if (leading >> 53 || exponent < -TN_TENS_EXACT || exponent > TN_TENS_EXACT) return false;
  double value = (double)leading;
  *out = exponent < 0 ? value / tn_number_tens[-exponent] : value * tn_number_tens[exponent];
  return true;
}

/* Through f64: rounding twice is wrong only if the first rounding lands on a midpoint between two
 * f32. The range keeps away from denormals and overflow. */
static inline bool tn_number_exact_f32(uint64_t leading, int64_t exponent, float *out) {
  const uint64_t cut_off = (UINT64_C(1) << 29) - 1, midpoint = UINT64_C(1) << 28;
  double value;
  uint64_t bits;
  if (!tn_number_exact_f64(leading, exponent, &value)) return false;
  memcpy(&bits, &value, sizeof bits);
  if ((bits & cut_off) == midpoint) return false;
  *out = (float)value;
  return true;
}

/* More digits than f64 holds. Rounding them and dividing are each half a unit of f64 off, so the quotient is
 * fewer than four units from the number, and only a midpoint between two f32 that is as close matters. */
static inline bool tn_number_near_f32(uint64_t leading, int64_t exponent, float *out) {
  const uint64_t cut_off = (UINT64_C(1) << 29) - 1, midpoint = UINT64_C(1) << 28;
  if (leading >> 53 == 0 || exponent < -TN_TENS_EXACT || exponent > 0) return false;
  double value = (double)leading / tn_number_tens[-exponent];
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  if ((bits & cut_off) - (midpoint - 4) <= 8) return false;
  *out = (float)value;
  return true;
}

/* leading * 10^exponent, rounded once: for readers that have found the digits themselves. */
float tn_number_f32_of(bool negative, uint64_t leading, int exponent);

/* A big integer. 4096 bits hold everything that the exact paths build; the callers state the
 * bounds. limb[0] is the lowest; no leading zeros. */
#define TN_BIG_LIMBS 128
typedef struct {
  uint32_t limb[TN_BIG_LIMBS];
  int count;
} tn_big;

void tn_big_set(tn_big *big, uint64_t value);
void tn_big_mul_add(tn_big *big, uint32_t factor, uint32_t addend);
void tn_big_mul_pow5(tn_big *big, int exponent);
void tn_big_shift_left(tn_big *big, int bits);
/* Divides by 2^bits and rounds to nearest even. */
void tn_big_shift_right_rounding(tn_big *big, int bits);
int tn_big_compare(const tn_big *a, const tn_big *b);
/* Decimal digits, without leading zeros ("0" for zero), and their number. Destroys big. */
size_t tn_big_print(tn_big *big, char *out);
#endif
