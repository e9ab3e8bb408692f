/* base/elementary_quick.c: f32 functions in fewer instructions, for most arguments (elementary.h).
 *
 * log, erf, sin and cos leave out what only special arguments need. pow takes the same polynomials with fma,
 * and a reciprocal in place of a division: its result in double is not that of the definition, but near
 * enough to be rounded to the same float, unless the middle between two floats is near too. */
#define TN_SIMD_SCALAR 1
#include "base/simd.h"

#include "base/elementary.inc.h"

/* NaN where `bad` holds. Without a choice, of which a compiler may make a branch. */
static inline float nan_where(bool bad, float x) {
  uint32_t mask = 0 - (uint32_t)bad;
  return tn_float_of_bits((tn_bits_f32(x) & ~mask) | (tn_bits_f32(tn_nan_f32()) & mask));
}

static inline bool is_normal(float x) { return 2 * tn_bits_f32(x) - 0x01000000u < 0xfe000000u; }

bool tn_quick_log_f32(float x, float *result) {
  *result = nan_where(x < 0, log_of_normal(x, 0.0f));
  return is_normal(x);
}

bool tn_quick_erf_f32(float x, float *result) {
  *result = erf_of_number(x);
  return x == x;
}

bool tn_quick_sin_f32(float x, float *result) {
  float size = vf_abs(x), r, low;
  int32_t quadrant = trig_split(size, &r, &low);
  *result = vf_flip_sign(trig_quadrant(quadrant, r, low), x);
  return size <= TRIG_LARGE;
}

bool tn_quick_cos_f32(float x, float *result) {
  float size = vf_abs(x), r, low;
  int32_t quadrant = trig_split(size, &r, &low);
  *result = trig_quadrant(vi_add(quadrant, 1), r, low);
  return size <= TRIG_LARGE;
}

/* 1 / d within 2^-18 of it, 1 <= d <= 3. */
#if defined(__NVPTX__)
#define GUESSED_RECIPROCAL(d) __nvvm_rcp_approx_ftz_d(d)
#elif !defined(GUESSED_RECIPROCAL)
#define GUESSED_RECIPROCAL(d) ((double)(1.0f / (float)(d)))
#endif

/* How far y log2 x is off: 2^-49.9 of it, where the definition's is as well. With |y log2 x| < 126 that is
 * 2^-42.9, and the results differ by less than 2^-42 of them. A float has 24 of the 53 bits of a double: the
 * middle between two floats must be MARGIN units of the 53rd bit away, 2^-39 of the result. */
#define MARGIN 0x2000u

/* |x|^y = *value 2^*n, if x is normal and n not too far from 0. */
static inline bool power_of_size(float x, double y, double *value, uint32_t *n) {
  uint32_t root = 0x3f3504f4;   /* the first float from sqrt(1/2) on */
  int32_t steps = (int32_t)((tn_bits_f32(x) & 0x7fffffffu) - root);
  double m = (double)tn_float_of_bits(((uint32_t)steps & 0x7fffff) + root), d = m + 1.0;
  double guess = GUESSED_RECIPROCAL(d), rest = tn_fma_f64(-d, guess, 1.0);
  double s = (m - 1.0) * tn_fma_f64(guess, tn_fma_f64(rest, rest, rest), guess);
  double z = s * s, p = tn_fma_f64(POW_LOG_6, z, POW_LOG_5);
  p = tn_fma_f64(p, z, POW_LOG_4);
  p = tn_fma_f64(p, z, POW_LOG_3);
  p = tn_fma_f64(p, z, POW_LOG_2);
  p = tn_fma_f64(p, z, POW_LOG_1);
  p = tn_fma_f64(p, z, POW_LOG_0);
  double t = y * tn_fma_f64(s, p, (double)vi_sar(steps, 23));

  double shifted = t + 0x1.8p52, f = t - (shifted - 0x1.8p52);
  double q = tn_fma_f64(POW_EXP_8, f, POW_EXP_7);
  q = tn_fma_f64(q, f, POW_EXP_6);
  q = tn_fma_f64(q, f, POW_EXP_5);
  q = tn_fma_f64(q, f, POW_EXP_4);
  q = tn_fma_f64(q, f, POW_EXP_3);
  q = tn_fma_f64(q, f, POW_EXP_2);
  q = tn_fma_f64(q, f, POW_EXP_1);
  *value = tn_fma_f64(q, f, 1.0);
  *n = (uint32_t)tn_bits_f64(shifted);
  bool small = ((uint32_t)(tn_bits_f64(t) >> 32) & 0x7fffffffu) < 0x405f8000u;   /* |t| < 126 */
  return small & is_normal(x);
}

/* A sum with 1.5 2^23 is whole, and its last bit says whether it is odd, if |y| is less than 2^22. */
bool tn_quick_pow_f32(float x, float y, float *result) {
  double value;
  uint32_t n;
  bool known = power_of_size(x, (double)y, &value, &n);
  uint32_t beyond = (uint32_t)tn_bits_f64(value) << 3;   /* of its bits, those that a float has not */
  known &= beyond - (0x80000000u - 8 * MARGIN) > 16 * MARGIN;
  known &= (x > 0) | (vf_abs(y) < 0x1p22f);

  float shifted = y + 0x1.8p23f;
  bool fraction = shifted - 0x1.8p23f != y;
  uint32_t sign = tn_bits_f32(x) & tn_bits_f32(shifted) << 31;
  float size = tn_float_of_bits(tn_bits_f32((float)value) + (n << 23));
  *result = nan_where((x < 0) & fraction, tn_float_of_bits(tn_bits_f32(size) ^ sign));
  return known;
}
