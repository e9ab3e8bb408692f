/* base/elementary_f64.c: the f64 functions: exp, log, tanh, sigmoid, erf, pow.
 *
 * The same ideas as in elementary.inc.h, one lane only and without fma; where a result needs more
 * than 53 bits on the way, a value is carried as a pair.
 *
 * The coefficients come from tools/minimax.py. */
#include "base/elementary.h"
#include "base/elementary_pair.h"

#define ROUND_F64 0x1.8p52
#define LN2_HIGH 0x1.62e42ffp-1             /* 30 bits: times a whole number below 2^23 it is exact */
#define LN2_LOW (-0x1.718432a1b0e26p-35)
#define LN2_REST (-0x1.9ff0342542fc3p-90)

static double absolute(double x) { return tn_double_of_bits(tn_bits_f64(x) & 0x7fffffffffffffffu); }

static double with_sign(double size, double x) {
  return tn_double_of_bits(tn_bits_f64(size) | (tn_bits_f64(x) & 0x8000000000000000u));
}

/* --- exp and what follows from it -------------------------------------------------------------- */

/* v * 2^n with one rounding, for v around 1 and |n| < 2000. */
static double scale(double v, int n) {
  int half = n / 2;
  double first = tn_double_of_bits((uint64_t)(half + 1023) << 52);
  double second = tn_double_of_bits((uint64_t)(n - half + 1023) << 52);
  return v * first * second;
}

/* exp(x + low) = 2^n (1 + r + w): r is exact, w about r*r/2. For |x| <= 800 and |low| below an ulp
 * of x. */
typedef struct {
  int n;
  double r, w;
} exponential;

static exponential exp_split(double x, double low) {
  double n = (x * 0x1.71547652b82fep+0 + ROUND_F64) - ROUND_F64;
  double r = x - n * LN2_HIGH;
  low -= n * LN2_LOW;
  double f = r + low;
  double p = 0x1.1f82a726c5037p-29;
  p = p * f + 0x1.af70241c15dbfp-26;
  p = p * f + 0x1.27e4d45bbc9a8p-22;
  p = p * f + 0x1.71dded94ca71dp-19;
  p = p * f + 0x1.a01a01a8e22ebp-16;
  p = p * f + 0x1.a01a01b48faedp-13;
  p = p * f + 0x1.6c16c16c15f52p-10;
  p = p * f + 0x1.111111110e97cp-7;
  p = p * f + 0x1.5555555555556p-5;
  p = p * f + 0x1.555555555555cp-3;
  p = p * f + 0.5;
  return (exponential){ (int)n, r, f * f * p + low };
}

static double exp_join(exponential e) {
  tn_pair sum = tn_pair_sum(1.0, e.r);
  return scale(sum.high + (sum.low + e.w), e.n);
}

static double exp_pair(double x, double low) {
  if (x > 710.0) return tn_infinity_f64();
  if (x < -746.0) return 0.0;
  return exp_join(exp_split(x, low));
}

double tn_exp_f64(double x) {
  return x == x ? exp_pair(x, 0.0) : tn_nan_f64();
}

/* 1 + u (1 + r + w) as a pair, for 0 < u <= 1; r and w scaled by u stay exact. */
static tn_pair one_plus(double u, exponential e) {
  tn_pair sum = tn_pair_sum(1.0, u);
  tn_pair more = tn_pair_sum(sum.high, u * e.r);
  return tn_pair_sum(more.high, more.low + (sum.low + u * e.w));
}

/* tanh |x| = (1 - E) / (1 + E) with E = exp(-2|x|) = u (1 + r + w). The numerator is 2 minus the
 * denominator, of which no bit has been lost, so nothing cancels for small |x| either. */
double tn_tanh_f64(double x) {
  double size = absolute(x);
  if (x != x) return tn_nan_f64();
  if (size > 20.0) return with_sign(1.0, x);
  if (size < 0x1p-28) return x;
  exponential e = exp_split(-2.0 * size, 0.0);
  tn_pair below = one_plus(scale(1.0, e.n), e);
  tn_pair above = tn_pair_sum(2.0 - below.high, -below.low);
  if (e.n == 0) above = tn_pair_sum(-e.r, -e.w);   /* the same, before any rounding */
  return with_sign(tn_pair_quotient(above, below), x);
}

/* With E = exp(-|x|) = 2^n (1 + r + w): 1 / (1 + E), or (1 + r + w) / (1 + E), scaled by 2^n at the
 * very end. */
double tn_sigmoid_f64(double x) {
  if (x != x) return tn_nan_f64();
  double size = absolute(x);
  if (size > 746.0) return x > 0 ? 1.0 : 0.0;
  exponential e = exp_split(-size, 0.0);
  tn_pair below = one_plus(scale(1.0, e.n < -200 ? -200 : e.n), e);   /* 1 + E is 1 long before that */
  if (x >= 0) return tn_pair_quotient((tn_pair){ 1.0, 0.0 }, below);
  tn_pair above = tn_pair_sum(1.0, e.r);
  above = tn_pair_sum(above.high, above.low + e.w);
  return scale(tn_pair_quotient(above, below), e.n);
}

/* --- erf --------------------------------------------------------------------------------------- */

/* erf(x) = x + x p(x*x), |x| <= 0.6875 */
static double erf_small(double x) {
  double z = x * x;
  double p = 0x1.94d3c6ad115c4p-26;
  p = p * z - 0x1.93d90025790c2p-23;
  p = p * z + 0x1.c0ce625ae3582p-20;
  p = p * z - 0x1.f55028d114b88p-17;
  p = p * z + 0x1.f9a88344421e6p-14;
  p = p * z - 0x1.c02dd808893abp-11;
  p = p * z + 0x1.565bcda182ec8p-8;
  p = p * z - 0x1.b82ce315398fcp-6;
  p = p * z + 0x1.ce2f21a04922fp-4;
  p = p * z - 0x1.812746b037a45p-2;
  p = p * z + 0x1.06eba8214db69p-3;
  return x + x * p;
}

/* erf(1 + d) = erf(1) + d p(d), |d| <= 0.3125 */
static double erf_middle(double d) {
  double p = -0x1.0cb4cfe2e0b2ap-19;
  p = p * d - 0x1.65a793a4aefdep-18;
  p = p * d + 0x1.8d665eb0e3558p-16;
  p = p * d + 0x1.3a3d052b7332ap-16;
  p = p * d - 0x1.a38a53e7a5c56p-13;
  p = p * d + 0x1.66b0fe0747435p-14;
  p = p * d + 0x1.4176c0963751fp-10;
  p = p * d - 0x1.ee30d0997c671p-10;
  p = p * d - 0x1.391146b10aa37p-8;
  p = p * d + 0x1.f096fd62f044ep-7;
  p = p * d + 0x1.2e45a56568591p-8;
  p = p * d - 0x1.1b614b0f48fd5p-4;
  p = p * d + 0x1.1b614b0f528fap-4;
  p = p * d + 0x1.1b614b0f5275dp-3;
  p = p * d - 0x1.a911f096fbc26p-2;
  p = p * d + 0x1.a911f096fbc26p-2;
  return 0x1.af767a741088bp-1 + (d * p - 0x1.c97f778122797p-56);
}

/* 1 - erf(a) = exp(-a*a) p((a-3)/(a+3)), 1.3125 <= a <= 6 */
static double erf_rest(double a) {
  double t = (a - 3.0) / (a + 3.0);
  double p = 0x1.2a252ec2d63fcp-17;
  p = p * t + 0x1.6c8d1e83d4f07p-14;
  p = p * t + 0x1.ec30b480f97aep-15;
  p = p * t - 0x1.367f18ec44602p-11;
  p = p * t + 0x1.73a13cd90e363p-11;
  p = p * t + 0x1.17ca8b4887009p-8;
  p = p * t - 0x1.8fa587d377119p-6;
  p = p * t + 0x1.258b137fcfb4p-4;
  p = p * t - 0x1.336ffbf2fa442p-3;
  p = p * t + 0x1.f6ff2040d82a6p-3;
  p = p * t - 0x1.4e102b9cf8607p-2;
  p = p * t + 0x1.6e9827d229d8ap-3;
  tn_pair square = tn_pair_product(a, a);
  return exp_pair(-square.high, -square.low) * p;
}

double tn_erf_f64(double x) {
  double size = absolute(x);
  if (x != x) return tn_nan_f64();
  if (size < 0.6875) return erf_small(x);
  if (size < 1.3125) return with_sign(erf_middle(size - 1.0), x);
  return with_sign(size > 6.0 ? 1.0 : 1.0 - erf_rest(size), x);
}

/* --- log and pow ------------------------------------------------------------------------------- */

/* x = 2^e m with sqrt(1/2) <= m < sqrt(2); x positive and finite. */
static double mantissa_of(double x, int *e) {
  uint64_t half_root = 0x3fe6a09e667f3bcdu;
  bool denormal = x < 0x1p-1022;
  uint64_t steps = tn_bits_f64(denormal ? x * 0x1p54 : x) - half_root;
  *e = (int)((steps + 0x4000000000000000u) >> 52) - 1024 - (denormal ? 54 : 0);
  return tn_double_of_bits((steps & 0xfffffffffffffu) + half_root);
}

/* With s = f/(2+f): log(1+f) = 2s + s R(s*s) = f - f*f/2 + s (f*f/2 + R). */
double tn_log_f64(double x) {
  if (!(x >= 0)) return tn_nan_f64();
  if (x == 0) return -tn_infinity_f64();
  if (x == tn_infinity_f64()) return x;
  int exponent;
  double f = mantissa_of(x, &exponent) - 1.0, e = (double)exponent;
  double s = f / (2.0 + f), z = s * s;
  double p = 0x1.2f03d46c5de59p-3;
  p = p * z + 0x1.39a1e6626399dp-3;
  p = p * z + 0x1.74663d02e23dcp-3;
  p = p * z + 0x1.c71c5213f579ap-3;
  p = p * z + 0x1.24924941e1b45p-2;
  p = p * z + 0x1.999999997ff14p-2;
  p = p * z + 0x1.5555555555592p-1;
  tn_pair sum = tn_pair_sum(e * LN2_HIGH, f), half = tn_pair_product(0.5 * f, f);
  return sum.high + ((s * (half.high + z * p) + ((sum.low + e * LN2_LOW) - half.low)) - half.high);
}

/* log x as a pair, to about 68 bits: 2s (1 + z/3 + z*z/5 + ...), z = s*s <= 0.03, s = (m-1)/(m+1).
 * The first terms are pairs; from z^3/7 on a double has bits enough. */
static tn_pair log_pair(double x) {
  int exponent;
  double f = mantissa_of(x, &exponent) - 1.0, e = (double)exponent;
  tn_pair below = tn_pair_sum(2.0, f), s;
  s.high = f / below.high;
  tn_pair back = tn_pair_product(s.high, below.high);
  s.low = (((f - back.high) - back.low) - s.high * below.low) / below.high;
  tn_pair z = tn_pair_multiply(s, s);

  double rest = 0.0;
  for (int k = 29; k >= 7; k -= 2) rest = rest * z.high + 1.0 / k;
  tn_pair third = { 0x1.5555555555555p-2, 0x1.5555555555555p-56 };
  tn_pair sum = tn_pair_sum(0x1.999999999999ap-3, z.high * rest - 0x1.999999999999ap-57);   /* 1/5 + ... */
  sum = tn_pair_add(third, tn_pair_multiply(z, sum));
  s = (tn_pair){ 2.0 * s.high, 2.0 * s.low };
  tn_pair mantissa = tn_pair_add(s, tn_pair_multiply(s, tn_pair_multiply(z, sum)));

  tn_pair whole = tn_pair_sum(e * LN2_HIGH, e * LN2_LOW);
  whole.low += tn_pair_product(e, LN2_LOW).low + e * LN2_REST;
  return tn_pair_add(whole, mantissa);
}

/* x > 0 and finite, y finite. */
static double pow_positive(double x, double y) {
  tn_pair logarithm = log_pair(x);
  if (logarithm.high == 0) return 1.0;
  double rough = y * logarithm.high;
  if (rough > 711.0) return tn_infinity_f64();
  if (rough < -747.0) return 0.0;
  tn_pair exact = tn_pair_product(y, logarithm.high);
  exact = tn_pair_sum(exact.high, exact.low + y * logarithm.low);
  return exp_pair(exact.high, exact.low);
}

/* 0: not whole, 1: odd, 2: even. Every double from 2^53 on is even. */
static int parity(double y) {
  double size = absolute(y);
  if (size >= 0x1p53) return 2;
  if (tn_round_even_f64(size) != size) return 0;
  return (uint64_t)size & 1 ? 1 : 2;
}

double tn_pow_f64(double x, double y) {
  if (x == 1.0 || y == 0.0) return 1.0;
  if (x != x || y != y) return tn_nan_f64();
  double size = absolute(x);
  bool negative = tn_bits_f64(x) >> 63, y_infinite = absolute(y) == tn_infinity_f64();
  int kind = parity(y);
  double result;
  if (y_infinite && size == 1.0) return 1.0;
  if (size == 0.0 || size == tn_infinity_f64() || y_infinite) {
    result = (size > 1.0) == (y > 0.0) ? tn_infinity_f64() : 0.0;
  } else {
    if (negative && kind == 0) return tn_nan_f64();
    /* Beyond 2^70 the result is 0 or infinity unless x is 1; a smaller y keeps the products in range. */
    double limit = with_sign(0x1p70, y);
    result = pow_positive(size, absolute(y) > 0x1p70 ? limit : y);
  }
  return negative && kind == 1 ? -result : result;
}
