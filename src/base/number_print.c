/* base/number_print.c: the shortest decimal that reads back.
 *
 * A float c * 2^q is what every real number between its two neighbours'
 * midpoints reads as. Take k so that 10^k <= 2^q < 10^(k+1): that interval is
 * then wide enough to hold a multiple of 10^k and too narrow for two multiples
 * of 10^(k+1). So there are at most four candidates: the multiples of 10^(k+1)
 * around the number, one digit shorter, and the multiples of 10^k around it.
 * If one of the former lies inside, it is the shortest; else the nearer of the
 * latter is. (This is the pigeonhole argument of Raffaello Giulietti's
 * "Schubfach".)
 *
 * Number and midpoints are scaled by 4 * 10^-k and cut to whole numbers whose
 * lowest bit says "and something more". Comparisons with multiples of four are
 * exact on these: the products of 128-bit powers with 59-bit numbers come
 * nowhere nearer to a whole number, without being one, than the error of the
 * power. */
#include <string.h>

#include "base/number.h"
#include "base/number_internal.h"

typedef struct {
  uint64_t digits;
  int exponent;   /* digits * 10^exponent */
} decimal;

/* scaled * power / 2^128, the lowest bit set when a remainder is dropped. The
 * power is one too large at most, which adds one at most to the middle word. */
static uint64_t scale(tn_wide power, uint64_t scaled) {
  uint64_t carry = tn_wide_mul(power.lo, scaled).hi;
  tn_wide product = tn_wide_mul(power.hi, scaled);
  product.lo += carry;
  product.hi += product.lo < carry;
  return product.hi | (product.lo > 1);
}

/* The nearer of s and s + 1, both inside or both outside of the interval; ties to even. */
static uint64_t nearer(uint64_t s, uint64_t number) {
  uint64_t middle = 4 * s + 2;
  return number < middle || (number == middle && s % 2 == 0) ? s : s + 1;
}

/* narrow_below: the number is a power of two, and its lower neighbour half as
 * far away as its upper one. */
static decimal shortest(uint64_t c, int q, bool narrow_below) {
  int k = narrow_below ? tn_floor_log10_three_quarters_pow2(q) : tn_floor_log10_pow2(q);
  int shift = q + tn_floor_log2_pow10(-k) + 1;
  tn_wide power = tn_number_power(-k);
  power.lo++;
  power.hi += power.lo == 0;
  uint64_t number = scale(power, 4 * c << shift);
  uint64_t low = scale(power, (4 * c - (narrow_below ? 1 : 2)) << shift);
  uint64_t high = scale(power, (4 * c + 2) << shift);
  uint64_t open = c & 1;   /* an even number owns its midpoints: readers round to even */

  uint64_t tens = number / 40 * 10;
  bool tens_inside = low + open <= 4 * tens, more_inside = 4 * (tens + 10) + open <= high;
  if (tens_inside != more_inside) return (decimal){ tens_inside ? tens : tens + 10, k };

  uint64_t ones = number / 4;
  bool ones_inside = low + open <= 4 * ones, next_inside = 4 * (ones + 1) + open <= high;
  if (ones_inside != next_inside) return (decimal){ ones_inside ? ones : ones + 1, k };
  return (decimal){ nearer(ones, number), k };
}

size_t tn_number_print_u64(uint64_t number, char *out) {
  char reversed[20];
  size_t count = 0;
  do reversed[count++] = (char)('0' + number % 10); while (number /= 10);
  for (size_t i = 0; i < count; i++) out[i] = reversed[count - 1 - i];
  return count;
}

size_t tn_number_print_i64(int64_t number, char *out) {
  if (number >= 0) return tn_number_print_u64((uint64_t)number, out);
  *out = '-';
  return 1 + tn_number_print_u64(0 - (uint64_t)number, out + 1);
}

static size_t put(char *out, const char *text) {
  size_t count = strlen(text);
  memcpy(out, text, count);
  return count;
}

/* d.ddde-20 */
static size_t write_scientific(const char *digits, int count, int exponent, char *out) {
  size_t at = 0;
  out[at++] = digits[0];
  if (count > 1) {
    out[at++] = '.';
    memcpy(out + at, digits + 1, (size_t)count - 1);
    at += (size_t)count - 1;
  }
  out[at++] = 'e';
  return at + tn_number_print_i64(exponent, out + at);
}

/* exponent is that of the first digit. */
static size_t write_plain(const char *digits, int count, int exponent, char *out) {
  if (exponent < 0) {
    size_t zeros = (size_t)-exponent - 1;
    memcpy(out, "0.0000", 2 + zeros);
    memcpy(out + 2 + zeros, digits, (size_t)count);
    return 2 + zeros + (size_t)count;
  }
  int whole = exponent + 1, before = count < whole ? count : whole;
  memcpy(out, digits, (size_t)before);
  if (count <= whole) {
    memset(out + count, '0', (size_t)(whole - count));
    return (size_t)whole;
  }
  out[whole] = '.';
  memcpy(out + whole + 1, digits + whole, (size_t)(count - whole));
  return (size_t)count + 1;
}

static size_t write_decimal(decimal number, char *out) {
  char digits[TN_NUMBER_BYTES];
  int count = (int)tn_number_print_u64(number.digits, digits);
  int exponent = number.exponent + count - 1;
  while (count > 1 && digits[count - 1] == '0') count--;
  if (exponent < -5 || exponent >= 16) return write_scientific(digits, count, exponent, out);
  return write_plain(digits, count, exponent, out);
}

/* fraction and biased exponent as stored; `bits` of fraction, the exponent of
 * the smallest number's unit. */
static size_t print_finite(uint64_t fraction, int biased, int bits, int smallest, char *out) {
  uint64_t hidden = UINT64_C(1) << bits;
  uint64_t c = biased ? hidden | fraction : fraction;
  int q = smallest + (biased ? biased - 1 : 0);
  if (c == 0) return put(out, "0");
  /* A whole number below 2^(bits+1) has no shorter neighbour to be confused with. */
  if (q <= 0 && q > -64 && (c >> -q) << -q == c) return tn_number_print_u64(c >> -q, out);
  return write_decimal(shortest(c, q, fraction == 0 && biased > 1), out);
}

static size_t print_special(bool nan, char *out) {
  return put(out, nan ? "NaN" : "Infinity");
}

size_t tn_number_print_f64(double number, char *out) {
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
  int biased = (int)(bits >> 52 & 2047);
  bool special = biased == 2047, nan = special && fraction;
  size_t sign = bits >> 63 && !nan;
  if (sign) *out++ = '-';
  return sign + (special ? print_special(nan, out) : print_finite(fraction, biased, 52, -1074, out));
}

size_t tn_number_print_f32(float number, char *out) {
  uint32_t bits;
  memcpy(&bits, &number, sizeof bits);
  uint32_t fraction = bits & ((UINT32_C(1) << 23) - 1);
  int biased = (int)(bits >> 23 & 255);
  bool special = biased == 255, nan = special && fraction;
  size_t sign = bits >> 31 && !nan;
  if (sign) *out++ = '-';
  return sign + (special ? print_special(nan, out) : print_finite(fraction, biased, 23, -149, out));
}
