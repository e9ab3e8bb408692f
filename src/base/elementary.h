/* base/elementary.h: tern's own exp, log, tanh, sigmoid, erf, sin, cos and pow.
 *
 * The libm of one machine differs from that of the next, so results that must be the same
 * everywhere cannot come from it. These functions are built from IEEE 754 addition,
 * multiplication, division and fma in round-to-nearest-even and from integer operations, in a
 * fixed order, without tables in memory: their bits are the numeric contract.
 *
 * The f32 functions are one source, elementary.inc.h, compiled here for one lane and by the
 * vector kernels for many; every lane gives these bits. Tried on all floats they lie within 0.94 ulp
 * of the true value; pow, which can only be sampled, within 0.51. The f64 functions stay below
 * 0.85 ulp in sampling against MPFR. What is promised is 1 ulp.
 *
 * For all of them: a NaN result is the canonical quiet NaN; denormal numbers are numbers, as
 * arguments and as results; odd functions are exactly odd and even ones exactly even, also at
 * zero and infinity. Errors of the caller's argument (log of -1, sin of infinity) give NaN.
 *
 * Rounding mode and denormal flags must be those a C program starts with. */
#ifndef TN_BASE_ELEMENTARY_H
#define TN_BASE_ELEMENTARY_H

#include <float.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if FLT_EVAL_METHOD != 0
#error "needs arithmetic without excess precision (x86: -msse2 -mfpmath=sse; s390x: -fexcess-precision=fast)"
#endif

/* True when the compile target has a fused multiply-add instruction. Never decides a bit. */
#if defined(__FP_FAST_FMAF) || defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__aarch64__) || \
    defined(__NVPTX__) || \
    defined(__s390x__) || defined(__powerpc64__) || (defined(__riscv_flen) && __riscv_flen >= 64)
#define TN_FMA_IN_HARDWARE 1
#else
#define TN_FMA_IN_HARDWARE 0
#endif

float tn_exp_f32(float x);
float tn_log_f32(float x);        /* log(0) is -infinity, of a negative number NaN */
float tn_tanh_f32(float x);
float tn_sigmoid_f32(float x);    /* 1 / (1 + exp(-x)) */
float tn_erf_f32(float x);
float tn_sin_f32(float x);        /* radians; reduced exactly over the whole range */
float tn_cos_f32(float x);
float tn_pow_f32(float x, float y);   /* the special cases of IEEE 754: x^0 and 1^y are 1 for every x, y */

/* Those of several instructions less, for callers that look at several results at once: true if *result is
 * that of the function above, which it is for most arguments; else it may be anything. */
bool tn_quick_log_f32(float x, float *result);
bool tn_quick_erf_f32(float x, float *result);
bool tn_quick_sin_f32(float x, float *result);
bool tn_quick_cos_f32(float x, float *result);
bool tn_quick_pow_f32(float x, float y, float *result);

/* What tn_sin_f32 and tn_cos_f32 do, in every lane, for arguments above 2^16; not for other callers. */
float tn_sin_large_f32(float x);
float tn_cos_large_f32(float x);

double tn_exp_f64(double x);
double tn_log_f64(double x);
double tn_tanh_f64(double x);
double tn_sigmoid_f64(double x);
double tn_erf_f64(double x);
double tn_sin_f64(double x);
double tn_cos_f64(double x);
double tn_pow_f64(double x, double y);

/* --- bits ------------------------------------------------------------------------------------ */

static inline uint32_t tn_bits_f32(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline float tn_float_of_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static inline uint64_t tn_bits_f64(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline double tn_double_of_bits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static inline float tn_nan_f32(void) { return tn_float_of_bits(0x7fc00000u); }
static inline double tn_nan_f64(void) { return tn_double_of_bits(0x7ff8000000000000u); }
static inline float tn_infinity_f32(void) { return tn_float_of_bits(0x7f800000u); }
static inline double tn_infinity_f64(void) { return tn_double_of_bits(0x7ff0000000000000u); }

/* Every NaN as the one that may be stored; other values as they are. */
static inline float tn_canonical_f32(float x) { return x == x ? x : tn_nan_f32(); }
static inline double tn_canonical_f64(double x) { return x == x ? x : tn_nan_f64(); }

/* --- rounding to whole numbers ----------------------------------------------------------------- */

/* Half goes to the even neighbour. The sign of zero is kept; NaN stays a NaN. Adding and taking
 * away 2^23 (2^52) leaves no room for a fraction, so the addition itself rounds. */
static inline float tn_round_even_f32(float x) {
  uint32_t sign = tn_bits_f32(x) & 0x80000000u;
  float size = tn_float_of_bits(tn_bits_f32(x) & 0x7fffffffu);
  if (!(size < 0x1p23f)) return x;
  return tn_float_of_bits(tn_bits_f32((size + 0x1p23f) - 0x1p23f) | sign);
}

static inline double tn_round_even_f64(double x) {
  uint64_t sign = tn_bits_f64(x) & 0x8000000000000000u;
  double size = tn_double_of_bits(tn_bits_f64(x) & 0x7fffffffffffffffu);
  if (!(size < 0x1p52)) return x;
  return tn_double_of_bits(tn_bits_f64((size + 0x1p52) - 0x1p52) | sign);
}

/* The same in one direction; results of zero keep the sign of x. */
static inline float tn_floor_f32(float x) {
  uint32_t sign = tn_bits_f32(x) & 0x80000000u;
  float near = tn_round_even_f32(x);
  return near > x ? tn_float_of_bits(tn_bits_f32(near - 1.0f) | sign) : near;
}

static inline float tn_ceil_f32(float x) {
  uint32_t sign = tn_bits_f32(x) & 0x80000000u;
  float near = tn_round_even_f32(x);
  return near < x ? tn_float_of_bits(tn_bits_f32(near + 1.0f) | sign) : near;
}

static inline double tn_floor_f64(double x) {
  uint64_t sign = tn_bits_f64(x) & 0x8000000000000000u;
  double near = tn_round_even_f64(x);
  return near > x ? tn_double_of_bits(tn_bits_f64(near - 1.0) | sign) : near;
}

static inline double tn_ceil_f64(double x) {
  uint64_t sign = tn_bits_f64(x) & 0x8000000000000000u;
  double near = tn_round_even_f64(x);
  return near < x ? tn_double_of_bits(tn_bits_f64(near + 1.0) | sign) : near;
}

/* --- fused multiply-add ------------------------------------------------------------------------ */

/* a*b + c with a single rounding, without an fma instruction. The soft functions are what
 * tn_fma_f32 and tn_fma_f64 run where the target has none; tests hold them against it. */
float tn_fma_odd_f32(float a, float b, float c);
double tn_fma_soft_f64(double a, double b, double c);

/* The product of two floats is exact in double, the sum nearly always harmless: rounding it twice
 * (to double, to float) is wrong only when the double lies on the midpoint of two floats, or is so
 * small that the float is denormal and has its midpoints elsewhere. */
static inline float tn_fma_soft_f32(float a, float b, float c) {
  double sum = (double)a * (double)b + (double)c;
  uint64_t bits = tn_bits_f64(sum);
  uint64_t size = bits & 0x7fffffffffffffffu;
  bool midpoint = (bits & 0x1fffffffu) == 0x10000000u;
  bool tiny = size - 1 < 0x3810000000000000u - 1;   /* below 2^-126, and not zero */
  return midpoint || tiny ? tn_fma_odd_f32(a, b, c) : (float)sum;
}

static inline float tn_fma_f32(float a, float b, float c) {
#if TN_FMA_IN_HARDWARE
  return __builtin_fmaf(a, b, c);
#else
  return tn_fma_soft_f32(a, b, c);
#endif
}

static inline double tn_fma_f64(double a, double b, double c) {
#if TN_FMA_IN_HARDWARE
  return __builtin_fma(a, b, c);
#else
  return tn_fma_soft_f64(a, b, c);
#endif
}
#endif
