/* base/elementary_fma.c: a*b + c with one rounding, on machines without the instruction.
 *
 * matmul is a chain of these, so a machine without fma must still give the same bits. The C
 * library's fma would do, but it is slow where it is emulated and not everywhere correct. */
#include "base/elementary.h"

/* Rounding to odd: a result that is not exact gets a last bit of 1. Such a number never lies on a
 * midpoint, and a second rounding to at least two bits fewer then goes the way the exact value
 * would have gone. */
float tn_fma_odd_f32(float a, float b, float c) {
  double product = (double)a * (double)b;   /* exact: 48 bits */
  double addend = (double)c;
  double sum = product + addend;
  double back = sum - product;
  double lost = (product - (sum - back)) + (addend - back);   /* exactly product + addend - sum */
  uint64_t bits = tn_bits_f64(sum);
  if (lost == lost && lost != 0 && (bits & 1) == 0)
    bits = (lost > 0) == (sum > 0) ? bits + 1 : bits - 1;
  return (float)tn_double_of_bits(bits);
}

typedef struct {
  uint64_t high, low;
} wide;

static wide wide_multiply(uint64_t a, uint64_t b) {
  uint64_t a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
  uint64_t low = a0 * b0, cross = a1 * b0 + (low >> 32), other = a0 * b1 + (cross & 0xffffffffu);
  return (wide){ a1 * b1 + (cross >> 32) + (other >> 32), other << 32 | (low & 0xffffffffu) };
}

static wide wide_left(wide v, int by) {
  if (by == 0) return v;
  if (by >= 64) return (wide){ v.low << (by - 64), 0 };
  return (wide){ v.high << by | v.low >> (64 - by), v.low << by };
}

/* What falls out on the right leaves a 1 in the last place, so that rounding still sees it. */
static wide wide_right(wide v, int by) {
  if (by == 0) return v;
  if (by >= 128) return (wide){ 0, (v.high | v.low) != 0 };
  if (by > 64) return (wide){ 0, v.high >> (by - 64) | ((v.high << (128 - by) | v.low) != 0) };
  if (by == 64) return (wide){ 0, v.high | (v.low != 0) };
  return (wide){ v.high >> by, v.high << (64 - by) | v.low >> by | (v.low << (64 - by) != 0) };
}

static wide wide_add(wide a, wide b) {
  uint64_t low = a.low + b.low;
  return (wide){ a.high + b.high + (low < a.low), low };
}

static wide wide_subtract(wide a, wide b) {
  return (wide){ a.high - b.high - (a.low < b.low), a.low - b.low };
}

static bool wide_less(wide a, wide b) {
  return a.high < b.high || (a.high == b.high && a.low < b.low);
}

/* x = mantissa * 2^exponent with a mantissa of exactly 53 bits; x finite and not 0. */
static uint64_t mantissa_of(double x, int *exponent) {
  uint64_t bits = tn_bits_f64(x) & 0x7fffffffffffffffu;
  int biased = (int)(bits >> 52);
  uint64_t mantissa = bits & 0xfffffffffffffu;
  if (biased == 0) biased = 1;
  else mantissa |= 0x10000000000000u;
  while (mantissa < 0x10000000000000u) {
    mantissa <<= 1;
    biased--;
  }
  *exponent = biased - 1075;
  return mantissa;
}

/* v * 2^exponent, rounded half to even. Adding the mantissa to the exponent field lets a carry out
 * of the one become the next of the other, up to infinity. */
static double wide_round(wide v, int exponent, uint64_t sign) {
  while (v.high < 0x8000000000000000u) {
    int by = v.high == 0 ? 64 : 1;
    v = wide_left(v, by);
    exponent -= by;
  }
  int biased = exponent + 127 + 1023;
  if (biased >= 2047) return tn_double_of_bits(sign | 0x7ff0000000000000u);
  if (biased < 1) {
    v = wide_right(v, 1 - biased);
    biased = 1;
  }
  uint64_t kept = v.high >> 11;
  wide rest = { v.high & 0x7ff, v.low };
  wide half = { 0x400, 0 };
  bool up = wide_less(half, rest) || (!wide_less(rest, half) && (kept & 1));
  uint64_t bits = ((uint64_t)(biased - 1) << 52) + kept + up;
  return tn_double_of_bits(sign | bits);
}

static bool is_finite(uint64_t bits) {
  return (~bits & 0x7ff0000000000000u) != 0;
}

double tn_fma_soft_f64(double a, double b, double c) {
  uint64_t sign_bit = 0x8000000000000000u;
  uint64_t a_bits = tn_bits_f64(a), b_bits = tn_bits_f64(b), c_bits = tn_bits_f64(c);
  if (!is_finite(a_bits) || !is_finite(b_bits) || a == 0 || b == 0) return a * b + c;
  if (!is_finite(c_bits)) return c + c;
  if (c == 0) return a * b;

  int a_exponent, b_exponent, c_exponent;
  uint64_t a_mantissa = mantissa_of(a, &a_exponent), b_mantissa = mantissa_of(b, &b_exponent);
  /* Both summands get their highest bit near 2^125: below it there is room for all of the product,
   * and above it for a carry. A summand that must lose bits to be aligned is then so small that
   * nothing cancels. */
  wide product = wide_left(wide_multiply(a_mantissa, b_mantissa), 20);
  wide addend = wide_left((wide){ 0, mantissa_of(c, &c_exponent) }, 72);
  int exponent = a_exponent + b_exponent - 20, shift = exponent - (c_exponent - 72);
  if (shift >= 0) {
    addend = wide_right(addend, shift > 200 ? 200 : shift);
  } else {
    product = wide_right(product, shift < -200 ? 200 : -shift);
    exponent -= shift;
  }

  uint64_t product_sign = (a_bits ^ b_bits) & sign_bit, addend_sign = c_bits & sign_bit;
  if (product_sign == addend_sign) return wide_round(wide_add(product, addend), exponent, product_sign);
  if (wide_less(product, addend)) return wide_round(wide_subtract(addend, product), exponent, addend_sign);
  wide difference = wide_subtract(product, addend);
  if ((difference.high | difference.low) == 0) return 0.0;
  return wide_round(difference, exponent, product_sign);
}
