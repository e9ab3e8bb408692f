/* base/elementary_pair.h: twice the precision of a double, for the f64 functions alone.
 *
 * A pair is an unevaluated sum high + low, low at most about half an ulp of high. Products are
 * split by Dekker's method and not by fma, so that not even a lost bit of an underflowing
 * correction can depend on the machine. */
#ifndef TN_BASE_ELEMENTARY_PAIR_H
#define TN_BASE_ELEMENTARY_PAIR_H

typedef struct {
  double high, low;
} tn_pair;

/* Exactly a + b, if |a| >= |b| or a = 0. */
static inline tn_pair tn_pair_sum(double a, double b) {
  double sum = a + b;
  return (tn_pair){ sum, (a - sum) + b };
}

/* Exactly a + b, in any order. */
static inline tn_pair tn_pair_sum_any(double a, double b) {
  double sum = a + b, back = sum - a;
  return (tn_pair){ sum, (a - (sum - back)) + (b - back) };
}

/* Two halves of 26 bits, whose products are exact. |x| < 2^996. */
static inline tn_pair tn_pair_halves(double x) {
  double far = x * 0x1.0000002p27;
  double high = far - (far - x);
  return (tn_pair){ high, x - high };
}

/* Exactly a * b, unless it underflows. */
static inline tn_pair tn_pair_product(double a, double b) {
  tn_pair x = tn_pair_halves(a), y = tn_pair_halves(b);
  double p = a * b;
  return (tn_pair){ p, ((x.high * y.high - p) + x.high * y.low + x.low * y.high) + x.low * y.low };
}

static inline tn_pair tn_pair_multiply(tn_pair a, tn_pair b) {
  tn_pair p = tn_pair_product(a.high, b.high);
  return tn_pair_sum(p.high, p.low + (a.high * b.low + a.low * b.high));
}

static inline tn_pair tn_pair_add(tn_pair a, tn_pair b) {
  tn_pair s = tn_pair_sum_any(a.high, b.high);
  return tn_pair_sum(s.high, s.low + (a.low + b.low));
}

/* a / b as a double, rounded nearly as one operation. */
static inline double tn_pair_quotient(tn_pair a, tn_pair b) {
  double q = a.high / b.high;
  tn_pair p = tn_pair_product(q, b.high);
  double rest = ((a.high - p.high) - p.low) + (a.low - q * b.low);
  return q + rest / b.high;
}
#endif
