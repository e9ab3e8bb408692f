/* base/number_fixed.c: a double with a given number of places, exactly rounded.
 *
 * A double is c * 2^q, so times 10^places it is c * 5^places * 2^(q + places):
 * a whole number shifted by some bits, and rounding is a matter of the bits that
 * are shifted out. Ordinary numbers fit 128 bits; the others use big integers. */
#include <string.h>

#include "base/number.h"
#include "base/number_internal.h"

/* Writes digits with `places` of them after the point, then `padding` zeros. */
static size_t write_point(const char *digits, size_t count, size_t places, size_t padding, char *out) {
  size_t at = 0, whole = count > places ? count - places : 0;
  if (whole == 0) out[at++] = '0';
  memcpy(out + at, digits, whole);
  at += whole;
  if (places + padding == 0) return at;
  out[at++] = '.';
  size_t missing = count < places ? places - count : 0;
  memset(out + at, '0', missing);
  memcpy(out + at + missing, digits + whole, count - whole);
  memset(out + at + places, '0', padding);
  return at + places + padding;
}

/* floor(c * 10^places / 2^right), rounded, when the result fits 64 bits. */
static bool scale_in_128_bits(uint64_t c, int right, int places, uint64_t *out) {
  static const uint64_t power_of_ten[] = {
    1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000,
    100000000000, 1000000000000, 10000000000000, 100000000000000, 1000000000000000
  };
  if (places > 15 || right < 0 || right > 127) return false;
  tn_wide product = tn_wide_mul(c, power_of_ten[places]);
  tn_wide kept = product, rest = { 0, 0 };
  uint64_t half_hi = right > 64 ? UINT64_C(1) << (right - 65) : 0;
  uint64_t half_lo = right > 0 && right <= 64 ? UINT64_C(1) << (right - 1) : 0;
  if (right >= 64) {
    rest = (tn_wide){ right > 64 ? product.hi & ((UINT64_C(1) << (right - 64)) - 1) : 0, product.lo };
    kept = (tn_wide){ 0, product.hi >> (right - 64) };
  } else if (right > 0) {
    rest.lo = product.lo & ((UINT64_C(1) << right) - 1);
    kept = (tn_wide){ product.hi >> right, product.hi << (64 - right) | product.lo >> right };
  }
  if (kept.hi || kept.lo == UINT64_MAX) return false;
  bool above = rest.hi > half_hi || (rest.hi == half_hi && rest.lo > half_lo);
  bool tie = right > 0 && rest.hi == half_hi && rest.lo == half_lo;
  *out = kept.lo + (above || (tie && (kept.lo & 1)));
  return true;
}

static size_t print_magnitude(uint64_t c, int q, int digits, char *out) {
  /* c * 2^q has at most -q digits after the point; further digits are zeros. */
  int places = q >= 0 ? 0 : digits < -q ? digits : -q;
  size_t padding = (size_t)(digits - places);
  char small[TN_NUMBER_BYTES], large[TN_BIG_LIMBS * 10];
  uint64_t scaled;
  if (scale_in_128_bits(c, -q, places, &scaled)) {
    return write_point(small, tn_number_print_u64(scaled, small), (size_t)places, padding, out);
  }
  tn_big big;   /* below 2^53 * 5^1074, or 2^1024 */
  tn_big_set(&big, c);
  tn_big_mul_pow5(&big, places);
  if (q + places >= 0) tn_big_shift_left(&big, q + places);
  else tn_big_shift_right_rounding(&big, -(q + places));
  return write_point(large, tn_big_print(&big, large), (size_t)places, padding, out);
}

size_t tn_number_fixed(double number, int digits, char *out) {
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
  int biased = (int)(bits >> 52 & 2047);
  if (biased == 2047) return tn_number_print_f64(number, out);
  size_t sign = bits >> 63;
  if (sign) *out++ = '-';
  uint64_t c = biased ? UINT64_C(1) << 52 | fraction : fraction;
  return sign + print_magnitude(c, (biased ? biased : 1) - 1075, digits, out);
}
