/* base/elementary_trig.c: sin and cos in f64, for every argument there is.
 *
 * x = n pi/2 + r with |r| <= pi/4, r carried as a pair. For moderate x a subtraction in three steps
 * is exact enough, unless x lies very near a multiple of pi/2, where everything that pi/2 is known
 * to cancels. Then, and for large x, 2/pi is multiplied by the whole number that the bits of x are
 * (Payne and Hanek): of the product only the bits around the point matter, so only a window of 192
 * bits of 2/pi takes part. */
#include "base/elementary.h"
#include "base/elementary_pair.h"

typedef struct {
  int quadrant;   /* n modulo 4 */
  tn_pair r;
} reduced;

/* --- reduction by integers --------------------------------------------------------------------- */

/* 2/pi after the binary point, most significant word first. */
static const uint32_t two_over_pi[] = {
  0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
  0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
  0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
  0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
  0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab, 0xf0cfbc20, 0x9af4361d,
};

enum { WINDOW = 7 };   /* words of 2/pi that take part; the last one only feeds the shift */

/* The WINDOW - 1 words of 2/pi that begin `skip` bits after the point; a negative skip begins
 * before it. */
static void window_of(int skip, uint32_t out[WINDOW - 1]) {
  int first = skip >= 0 ? skip / 32 : -((31 - skip) / 32), shift = skip - first * 32;
  uint32_t words[WINDOW];
  for (int i = 0; i < WINDOW; i++) words[i] = first + i >= 0 ? two_over_pi[first + i] : 0;
  for (int i = 0; i < WINDOW - 1; i++)
    out[i] = shift ? words[i] << shift | words[i + 1] >> (32 - shift) : words[i];
}

/* The signed 128-bit number (top, bottom) * 2^-128, its leading 106 bits. */
static tn_pair fraction_of(uint64_t top, uint64_t bottom) {
  bool negative = top >> 63;
  if (negative) {
    bottom = ~bottom + 1;
    top = ~top + (bottom == 0);
  }
  int shift = 0;
  while (shift < 127 && !(top >> 63)) {
    top = top << 1 | bottom >> 63;
    bottom <<= 1;
    shift++;
  }
  double unit = tn_double_of_bits((uint64_t)(1023 - 64 - shift) << 52) * (negative ? -1.0 : 1.0);
  double high = (double)(top >> 11) * 0x1p11;
  double low = (double)(top & 0x7ff) + (double)(bottom >> 11) * 0x1p-53;
  return (tn_pair){ high * unit, low * unit };
}

/* size = mantissa * 2^exponent. The window begins so that whole turns (multiples of 4) have fallen
 * out of its front, and the product with the mantissa is kept modulo 4: two bits of quadrant and
 * 128 of fraction. */
static reduced reduce_exactly(double size) {
  uint64_t bits = tn_bits_f64(size), mantissa = (bits & 0xfffffffffffffu) | 0x10000000000000u;
  int exponent = (int)(bits >> 52) - 1075;
  uint32_t window[WINDOW - 1], result[WINDOW - 1];
  window_of(exponent - 2, window);

  /* result = window * mantissa modulo 2^192, least significant word last */
  uint64_t carry = 0, m0 = mantissa & 0xffffffffu, m1 = mantissa >> 32, previous = 0;
  for (int i = WINDOW - 2; i >= 0; i--) {
    uint64_t low = window[i] * m0, cross = previous * m1;
    uint64_t sum = (low & 0xffffffffu) + (cross & 0xffffffffu) + (carry & 0xffffffffu);
    result[i] = (uint32_t)sum;
    carry = (carry >> 32) + (sum >> 32) + (low >> 32) + (cross >> 32);
    previous = window[i];
  }

  int quadrant = (int)(result[0] >> 30);
  uint64_t top = (uint64_t)result[0] << 34 | (uint64_t)result[1] << 2 | result[2] >> 30;
  uint64_t bottom = (uint64_t)result[2] << 34 | (uint64_t)result[3] << 2 | result[4] >> 30;
  tn_pair fraction = fraction_of(top, bottom);
  quadrant += (int)(top >> 63);   /* the fraction was read as signed, so it stands for one quadrant less */
  tn_pair quarter = { 0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54 };
  return (reduced){ quadrant & 3, tn_pair_multiply(fraction, quarter) };
}

/* --- reduction by subtraction ------------------------------------------------------------------ */

/* pi/2 in three parts; n < 2^20 times either of the first two is exact. */
static reduced reduce(double size) {
  if (!(size < 0x1p19)) return reduce_exactly(size);
  double n = (size * 0x1.45f306dc9c883p-1 + 0x1.8p52) - 0x1.8p52;
  double first = size - n * 0x1.921fb544p+0;   /* exact */
  tn_pair second = tn_pair_sum_any(first, n * -0x1.0b4611a6p-34);
  tn_pair r = tn_pair_sum(second.high, second.low - n * 0x1.3198a2e037073p-69);
  bool cancelled = -0x1p-24 < r.high && r.high < 0x1p-24;
  return n != 0 && cancelled ? reduce_exactly(size) : (reduced){ (int)n & 3, r };
}

/* --- the functions ----------------------------------------------------------------------------- */

/* What low adds to the sine is low * cos r, where 1 - r*r/2 is cosine enough. */
static double sin_part(tn_pair r) {
  double z = r.high * r.high, cube = z * r.high;
  double p = 0x1.5d93520a93ff2p-33;
  p = p * z - 0x1.ae5e679fabff9p-26;
  p = p * z + 0x1.71de357a02f43p-19;
  p = p * z - 0x1.a01a019c15197p-13;
  p = p * z + 0x1.111111110f8a1p-7;
  return r.high + (cube * -0x1.5555555555549p-3 + (cube * (z * p) + r.low * (1.0 - 0.5 * z)));
}

/* Half the square is a pair, and so is 1 less that. */
static double cos_part(tn_pair r) {
  tn_pair half = tn_pair_product(0.5 * r.high, r.high), sum = tn_pair_sum(1.0, -half.high);
  double z = 2.0 * half.high;
  double p = -0x1.8fb0dee37d67dp-37;
  p = p * z + 0x1.1ee9f0c899876p-29;
  p = p * z - 0x1.27e4f8120ea9ap-22;
  p = p * z + 0x1.a01a019cbeb4ep-16;
  p = p * z - 0x1.6c16c16c1521bp-10;
  p = p * z + 0x1.555555555554cp-5;
  return sum.high + ((sum.low - half.low) + (z * z * p - r.high * r.low));
}

static double in_quadrant(int quadrant, tn_pair r) {
  double value = quadrant & 1 ? cos_part(r) : sin_part(r);
  return quadrant & 2 ? -value : value;
}

double tn_sin_f64(double x) {
  double size = x < 0 ? -x : x;
  if (!(size <= DBL_MAX)) return tn_nan_f64();
  if (size < 0x1p-27) return x;   /* also keeps the sign of 0 */
  reduced at = reduce(size);
  double value = in_quadrant(at.quadrant, at.r);
  return x < 0 ? -value : value;
}

double tn_cos_f64(double x) {
  double size = x < 0 ? -x : x;
  if (!(size <= DBL_MAX)) return tn_nan_f64();
  reduced at = reduce(size);
  return in_quadrant(at.quadrant + 1, at.r);
}
