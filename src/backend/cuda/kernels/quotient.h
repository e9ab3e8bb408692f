/* backend/cuda/kernels/quotient.h: many differences from a mean by one spread.
 *
 * A division takes a dozen instructions and a branch, which nothing overlaps. With y = 1/d rounded correctly,
 * q = x y is nearly x/d, and q + (x - q d) y, an fma of an fma, is the correctly rounded quotient:
 * backend/cpu/isa/divide.h has the argument, and tests/unit/quotient.c tries all pairs that could refute it.
 * That holds for numbers well inside the normal range: the remainder must not be smaller than the least
 * denormal. The bounds are those of the CPU (backend/cpu/isa/norm_grad.c). */
#ifndef TN_BACKEND_CUDA_KERNELS_QUOTIENT_H
#define TN_BACKEND_CUDA_KERNELS_QUOTIENT_H

#include "backend/cuda/kernels/types.h"

/* x / divisor, where inverse is 1 / divisor; of x = -0 it is +0. */
CARD_INLINE float card_quotient(float x, float divisor, float inverse) {
  float rough = x * inverse;
  return tn_fma_f32(tn_fma_f32(-rough, divisor, x), inverse, rough);
}

/* The same with the sign of x. */
CARD_INLINE float card_signed_quotient(float x, float divisor, float inverse) {
  uint32_t size = tn_bits_f32(card_quotient(x, divisor, inverse)) & 0x7fffffffu;
  return tn_float_of_bits(size | (tn_bits_f32(x) & 0x80000000u));
}

/* Whether c / spread and (c / spread) / spread may be such quotients for every difference c = x - mean of
 * which this is the spread: c is +0 or no smaller than 2^-65, and not much larger than the spread. */
CARD_INLINE bool card_is_usual(float mean, float spread) {
  return tn_abs_f32(mean) >= 0x1p-40f && spread >= 0x1p-40f && spread <= 0x1p24f;
}

/* 1 / spread; 0: divisions must be ordinary. */
CARD_INLINE float card_inverse_f32(float mean, float spread) {
  return card_is_usual(mean, spread) ? 1 / spread : 0;
}
CARD_INLINE double card_inverse_f64(double mean, double spread) { return (void)mean, (void)spread, 0; }

/* Numbers that may be divided by such a spread: 0, and from 2^-90 to 2^80. `card_meet` takes note of one. */
typedef struct {
  uint32_t least;   /* bits without the sign, times 2, minus 1: 0 is above all */
  float most;
} card_sizes;

CARD_INLINE card_sizes card_no_sizes(void) { return (card_sizes){ UINT32_MAX, 0 }; }
CARD_INLINE void card_meet(card_sizes *sizes, float x) {
  uint32_t size = 2 * tn_bits_f32(x) - 1;
  sizes->least = size < sizes->least ? size : sizes->least;
  sizes->most = card_larger(sizes->most, tn_abs_f32(x));
}
CARD_INLINE bool card_are_usual(const card_sizes *sizes) {
  return sizes->least >= 2 * tn_bits_f32(0x1p-90f) - 1 && sizes->most <= 0x1p80f;   /* no NaN */
}
#endif
