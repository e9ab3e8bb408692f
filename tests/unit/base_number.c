/* Numbers to text and back. The C library is the judge: its strtod and printf are
 * exact, and written by other people. */
#include "base_support.h"

#include <float.h>
#include <math.h>

#include "base/number.h"
#include "base/number_internal.h"

/* ---- helpers ---- */

static const char *shortest_f64(double number) {
  static char text[TN_NUMBER_BYTES + 1];
  size_t length = tn_number_print_f64(number, text);
  assert_in_range(length, 1, TN_NUMBER_BYTES);
  text[length] = 0;
  return text;
}

static const char *shortest_f32(float number) {
  static char text[TN_NUMBER_BYTES + 1];
  size_t length = tn_number_print_f32(number, text);
  assert_in_range(length, 1, TN_NUMBER_BYTES);
  text[length] = 0;
  return text;
}

static uint64_t bits_of(double number) {
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}

static uint32_t bits_of_f32(float number) {
  uint32_t bits;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}

static double f64_of(uint64_t bits) {
  double number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

static float f32_of(uint32_t bits) {
  float number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

static double read_f64(const char *text) {
  double number;
  if (!tn_number_parse_f64(tn_str_of(text), &number)) fail_msg("not read: %s", text);
  return number;
}

static float read_f32(const char *text) {
  float number;
  if (!tn_number_parse_f32(tn_str_of(text), &number)) fail_msg("not read: %s", text);
  return number;
}

/* Both readers give the bits that the C library gives. */
static void assert_reads_like_libc(const char *text) {
  if (bits_of(read_f64(text)) != bits_of(strtod(text, NULL))) {
    fail_msg("%.60s...: got %a, libc %a", text, read_f64(text), strtod(text, NULL));
  }
  if (bits_of_f32(read_f32(text)) != bits_of_f32(strtof(text, NULL))) {
    fail_msg("%.60s... as f32: got %a, libc %a", text, (double)read_f32(text), (double)strtof(text, NULL));
  }
}

/* The significant digits of a printed number, without sign, point and zeros at either end. */
static size_t significant(const char *text, char *digits) {
  size_t count = 0;
  for (; *text && *text != 'e'; text++) {
    if (*text >= '0' && *text <= '9' && (count || *text != '0')) digits[count++] = *text;
  }
  while (count > 1 && digits[count - 1] == '0') count--;
  digits[count] = 0;
  return count;
}

/* Reads back; is as near as any decimal of its length; no shorter one reads back. */
static void check_shortest_f64(double number) {
  const char *text = shortest_f64(number);
  char digits[64], judged[64], near[64];
  if (bits_of(strtod(text, NULL)) != bits_of(number)) fail_msg("%a printed as %s", number, text);
  if (bits_of(read_f64(text)) != bits_of(number)) fail_msg("%s read as %a", text, read_f64(text));
  size_t count = significant(text, digits);
  snprintf(near, sizeof near, "%.*e", (int)count - 1, number);
  significant(near, judged);
  bool power_of_two = (bits_of(number) & ((UINT64_C(1) << 52) - 1)) == 0;
  if (strcmp(digits, judged) != 0 && !power_of_two) fail_msg("%a: %s, but %s is nearer", number, text, near);
  if (count == 1) return;
  snprintf(near, sizeof near, "%.*e", (int)count - 2, number);
  if (bits_of(strtod(near, NULL)) == bits_of(number)) fail_msg("%s, but %s is shorter", text, near);
}

static void check_shortest_f32(float number) {
  const char *text = shortest_f32(number);
  char digits[64], judged[64], near[64];
  float judge = strtof(text, NULL), own = read_f32(text);
  if (bits_of_f32(judge) != bits_of_f32(number)) fail_msg("%a printed as %s", (double)number, text);
  if (bits_of_f32(own) != bits_of_f32(number)) fail_msg("%s read as %a", text, (double)own);
  size_t count = significant(text, digits);
  snprintf(near, sizeof near, "%.*e", (int)count - 1, (double)number);
  significant(near, judged);
  bool power_of_two = (bits_of_f32(number) & 0x7fffff) == 0;
  if (strcmp(digits, judged) != 0 && !power_of_two) {
    fail_msg("%a: %s, but %s is nearer", (double)number, text, near);
  }
  if (count == 1) return;
  snprintf(near, sizeof near, "%.*e", (int)count - 2, (double)number);
  if (bits_of_f32(strtof(near, NULL)) == bits_of_f32(number)) fail_msg("%s, but %s is shorter", text, near);
}

/* ---- the tables after both directions ---- */

static void set_wide(tn_big *big, tn_wide value) {
  tn_big_set(big, value.hi);
  tn_big_shift_left(big, 32);
  tn_big_mul_add(big, 1, (uint32_t)(value.lo >> 32));
  tn_big_shift_left(big, 32);
  tn_big_mul_add(big, 1, (uint32_t)value.lo);
}

/* The sign of value * 2^twos - 10^tens, where value is at most 129 bits. */
static int compare_with_power(const tn_big *value, int twos, int tens) {
  tn_big left = *value, right;
  tn_big_set(&right, 1);
  if (tens >= 0) tn_big_mul_pow5(&right, tens);
  else tn_big_mul_pow5(&left, -tens);
  if (twos >= tens) tn_big_shift_left(&left, twos - tens);
  else tn_big_shift_left(&right, tens - twos);
  return tn_big_compare(&left, &right);
}

static void every_power_of_ten_is_cut_at_128_bits(void **state) {
  (void)state;
  for (int ten = TN_POWER_FIRST; ten <= TN_POWER_LAST; ten++) {
    tn_wide power = tn_number_power(ten);
    int unit = tn_floor_log2_pow10(ten) - 127;
    tn_big value;
    assert_true(power.hi >> 63);
    set_wide(&value, power);
    int below = compare_with_power(&value, unit, ten);
    bool exact = ten >= 0 && ten <= TN_POWER_LAST_EXACT;
    assert_int_equal(below, exact ? 0 : -1);
    tn_big_mul_add(&value, 1, 1);
    assert_int_equal(compare_with_power(&value, unit, ten), 1);
  }
}

static void floors_of_logarithms_are_exact(void **state) {
  (void)state;
  for (int two = -1100; two <= 1024; two++) {
    tn_big one, three;
    tn_big_set(&one, 1);
    tn_big_set(&three, 3);
    int ten = tn_floor_log10_pow2(two);
    assert_true(compare_with_power(&one, two, ten) >= 0);
    assert_true(compare_with_power(&one, two, ten + 1) < 0);
    ten = tn_floor_log10_three_quarters_pow2(two);
    assert_true(compare_with_power(&three, two - 2, ten) >= 0);
    assert_true(compare_with_power(&three, two - 2, ten + 1) < 0);
  }
}

/* ---- printing ---- */

static void numbers_have_one_form(void **state) {
  (void)state;
  static const struct { double number; const char *text; } cases[] = {
    { 0, "0" }, { -0.0, "-0" }, { 7, "7" }, { -7, "-7" }, { 0.5, "0.5" }, { 0.1, "0.1" }, { 100, "100" },
    { 4.5, "4.5" }, { 1e15, "1000000000000000" }, { 1e16, "1e16" },
    { 123456789012345678.0, "1.2345678901234568e17" },
    { 9007199254740993.0, "9007199254740992" }, { 1e-5, "0.00001" }, { 1.5e-5, "0.000015" }, { 1e-6, "1e-6" },
    { 1.25e-7, "1.25e-7" }, { 1e-20, "1e-20" }, { 1.5e300, "1.5e300" }, { 1e22, "1e22" }, { 1e23, "1e23" },
    { 5e-324, "5e-324" }, { 1e-323, "1e-323" }, { DBL_MIN, "2.2250738585072014e-308" },
    { DBL_MAX, "1.7976931348623157e308" }, { -DBL_MAX, "-1.7976931348623157e308" }, { 0.3, "0.3" },
    { 0.1 + 0.2, "0.30000000000000004" }, { 2e-44, "2e-44" }, { 9.5e15, "9500000000000000" },
    { 12345.678, "12345.678" }, { (double)INFINITY, "Infinity" }, { -(double)INFINITY, "-Infinity" },
    { (double)NAN, "NaN" }, { -(double)NAN, "NaN" },
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    assert_string_equal(shortest_f64(cases[i].number), cases[i].text);
  }
  assert_string_equal(shortest_f32(0.1f), "0.1");
  assert_string_equal(shortest_f32(16777216), "16777216");
  assert_string_equal(shortest_f32(16777220), "16777220");
  assert_string_equal(shortest_f32(FLT_MAX), "3.4028235e38");
  assert_string_equal(shortest_f32(FLT_MIN), "1.1754944e-38");
  assert_string_equal(shortest_f32(1e-45f), "1e-45");
  assert_string_equal(shortest_f32(8.5e9f), "8500000000");
  assert_string_equal(shortest_f32(-0.0f), "-0");
  assert_string_equal(shortest_f32(NAN), "NaN");
  assert_string_equal(shortest_f32(-INFINITY), "-Infinity");
}

static void whole_numbers_are_printed_in_full(void **state) {
  (void)state;
  char text[TN_NUMBER_BYTES], judged[40];
  static const int64_t cases[] = { 0, 1, -1, 9, 10, 99, 100, INT64_MAX, INT64_MIN, -1000000007 };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    int length = snprintf(judged, sizeof judged, "%lld", (long long)cases[i]);
    assert_int_equal(tn_number_print_i64(cases[i], text), length);
    assert_memory_equal(text, judged, (size_t)length);
  }
  assert_int_equal(tn_number_print_u64(UINT64_MAX, text), 20);
  assert_memory_equal(text, "18446744073709551615", 20);
}

static void random_doubles_print_shortest(void **state) {
  (void)state;
  uint64_t seed = 1;
  for (int i = 0; i < effort(300000); i++) {
    double number = f64_of(random_bits(&seed));
    if (isfinite(number) && number != 0) check_shortest_f64(number);
  }
  for (int i = 0; i < effort(100000); i++) {   /* the everyday ones */
    check_shortest_f64((double)(random_bits(&seed) % 100000000 + 1) / 1000);
    check_shortest_f64((double)((random_bits(&seed) >> 11) | 1) * 0x1p-53);
    check_shortest_f64((double)(random_bits(&seed) >> random_bits(&seed) % 60 | 1));
  }
}

static void random_floats_print_shortest(void **state) {
  (void)state;
  uint64_t seed = 2;
  for (int i = 0; i < effort(400000); i++) {
    float number = f32_of((uint32_t)random_bits(&seed));
    if (isfinite(number) && number != 0) check_shortest_f32(number);
  }
}

/* Powers of two have a nearer neighbour below; denormals have fewer bits. */
static void edges_of_the_format_print_shortest(void **state) {
  (void)state;
  for (int biased = 0; biased < 2047; biased++) {
    for (int delta = -2; delta <= 2; delta++) {
      uint64_t bits = ((uint64_t)biased << 52) + (uint64_t)(int64_t)delta;
      if (bits > 0 && bits < UINT64_C(2047) << 52) check_shortest_f64(f64_of(bits));
    }
  }
  for (int biased = 0; biased < 255; biased++) {
    for (int delta = -20; delta <= 20; delta++) {
      uint32_t bits = ((uint32_t)biased << 23) + (uint32_t)delta;
      if (bits > 0 && bits < UINT32_C(255) << 23) check_shortest_f32(f32_of(bits));
    }
  }
  for (uint64_t bits = 1; bits < 2000; bits++) check_shortest_f64(f64_of(bits));
  for (int ten = -323; ten <= 308; ten++) {
    char text[16];
    snprintf(text, sizeof text, "1e%d", ten);
    check_shortest_f64(strtod(text, NULL));
  }
}

/* A power of two may be printed by a decimal in its wider upper half, where the
 * nearest one of that length lies below and does not read back. Among those that
 * do read back, none is nearer: checked by trying the neighbours. */
static void powers_of_two_print_nearest(void **state) {
  (void)state;
  for (int biased = 1; biased < 2047; biased++) {
    double number = f64_of((uint64_t)biased << 52);
    char digits[64], other[96];
    const char *text = shortest_f64(number);
    size_t count = significant(text, digits);
    snprintf(other, sizeof other, "%.*e", (int)count - 1, number);
    if (bits_of(strtod(other, NULL)) == bits_of(number)) {
      char nearest[64];
      significant(other, nearest);
      assert_string_equal(digits, nearest);
    }
  }
}

/* ---- reading ---- */

static void text_that_is_not_a_number_is_refused(void **state) {
  (void)state;
  static const char *const cases[] = {
    "", "-", "+", ".", "-.", "e5", "1e", "1e+", "1e-", "1.2.3", "1e5.5", "1 ", " 1", "1x", "x1", "--1", "+-1",
    "0x10", "1_000", "nan", "inf", "infinity", "Infinit", "Infinityx", "NaNs", "1,5", "..5", "1e5e5", "-e1",
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    double d = 42;
    float f = 42;
    if (tn_number_parse_f64(tn_str_of(cases[i]), &d)) fail_msg("read as a number: \"%s\"", cases[i]);
    assert_false(tn_number_parse_f32(tn_str_of(cases[i]), &f));
    assert_true(d == 42 && f == 42);   /* untouched */
  }
  double d;
  assert_false(tn_number_parse_f64((tn_str){ "1\0", 2 }, &d));
  assert_false(tn_number_parse_f64((tn_str){ NULL, 0 }, &d));
}

static void all_forms_are_read(void **state) {
  (void)state;
  static const char *const cases[] = {
    "0", "-0", "+0", "1", "+1", "-1", "00012", "1.", ".5", "-.5e1", "1e5", "1E5", "1e+05", "1e-5", "0.1",
    "0e999999",
    "0.000e-99999999999999999999", "123456789012345678901234567890", "1e308", "1.7976931348623157e308",
    "1.7976931348623158e308", "1.7976931348623159e308", "1e309", "2e308", "1e99999999999999999999", "1e-400",
    "4.9406564584124654e-324", "2.4703282292062327e-324", "2.4703282292062328e-324", "2.5e-324", "3e-324",
    "2.2250738585072011e-308", "2.2250738585072014e-308", "2.225073858507201136057409796709131975935e-308",
    "18446744073709551615", "18446744073709551616", "18446744073709551617", "9007199254740993",
    "9007199254740992999999", "9007199254740993.0000000000000000000000000000000000000000001",
    "3.4028235e38", "3.4028235677973366e38", "3.4028235677973367e38", "1.4e-45", "7.006492321624085e-46",
    "7.006492321624086e-46", "1e-45", "1.17549435e-38", "16777217", "16777219",
    "0.1000000014901161193847656250", "100000000000000000000000000000000000000000000000000000e-50",
    "0.0000000000000000000000000000000000000000001e43", "6.631236846766476e-316",
    "3.2378839133029012895883524125015321748630094982e-319", "8.5e9", "179769313486231580793e289",
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) assert_reads_like_libc(cases[i]);
  assert_true(isnan(read_f64("NaN")) && isnan(read_f32("-NaN")));
  assert_true(read_f64("Infinity") == (double)INFINITY && read_f64("-Infinity") == -(double)INFINITY);
  assert_true(read_f32("+Infinity") == INFINITY);
  assert_int_equal(bits_of_f32(read_f32("NaN")), 0x7fc00000);
  assert_true(bits_of(read_f64("-NaN")) == UINT64_C(0x7ff8000000000000));
}

static void random_decimals_read_like_libc(void **state) {
  (void)state;
  uint64_t seed = 3;
  for (int i = 0; i < effort(300000); i++) {
    char text[80];
    int length = 1 + (int)(random_bits(&seed) % 30), point = (int)(random_bits(&seed) % 40), at = 0;
    for (int k = 0; k < length; k++) {
      if (k == point) text[at++] = '.';
      text[at++] = (char)('0' + random_bits(&seed) % 10);
    }
    int exponent = (int)(random_bits(&seed) % (i % 2 ? 700 : 90)) - (i % 2 ? 350 : 50);
    snprintf(text + at, sizeof text - (size_t)at, "e%d", exponent);
    assert_reads_like_libc(text);
  }
}

/* The exact decimal of the midpoint above `bits`, as all its digits, in `text`. */
static void write_midpoint_f64(uint64_t bits, char *text, size_t bytes) {
  /* Half a unit more needs one more bit than a double has; a long double has it
   * only on some machines, so whole numbers do it. */
  int biased = (int)(bits >> 52), unit = (biased ? biased : 1) - 1075;
  uint64_t c = (biased ? UINT64_C(1) << 52 : 0) | (bits & ((UINT64_C(1) << 52) - 1));
  tn_big big;
  tn_big_set(&big, 2 * c + 1);
  unit--;
  if (unit < 0) tn_big_mul_pow5(&big, -unit);
  else tn_big_shift_left(&big, unit);
  size_t count = tn_big_print(&big, text);
  assert_true(count + 16 < bytes);
  snprintf(text + count, bytes - count, "e%d", unit < 0 ? unit : 0);
}

static void write_midpoint_f32(uint32_t bits, char *text, size_t bytes) {
  int biased = (int)(bits >> 23), unit = (biased ? biased : 1) - 150 - 1;
  uint64_t c = (biased ? UINT32_C(1) << 23 : 0) | (bits & 0x7fffff);
  tn_big big;
  tn_big_set(&big, 2 * c + 1);
  if (unit < 0) tn_big_mul_pow5(&big, -unit);
  else tn_big_shift_left(&big, unit);
  size_t count = tn_big_print(&big, text);
  assert_true(count + 16 < bytes);
  snprintf(text + count, bytes - count, "e%d", unit < 0 ? unit : 0);
}

/* `text` is digits and an exponent; puts `more` after the digits and corrects the exponent. */
static void append_digits(char *text, const char *more) {
  char *e = strchr(text, 'e');
  int exponent = atoi(e + 1) - (int)strlen(more);
  sprintf(e, "%se%d", more, exponent);
}

/* The last digit, which is odd times five, becomes one less: just below the midpoint. */
static void lower_last_digit(char *text) {
  strchr(text, 'e')[-1]--;
}

static void midpoints_round_to_even_however_long(void **state) {
  (void)state;
  static char text[3000], longer[6000];
  uint64_t seed = 4;
  for (int i = 0; i < effort(4000); i++) {
    uint64_t bits = i < 200 ? (uint64_t)i : random_bits(&seed) % (UINT64_C(2046) << 52);
    if (i >= 200 && i < 600) bits &= (UINT64_C(1) << (i % 53)) - 1;   /* denormals of all sizes */
    write_midpoint_f64(bits, text, sizeof text);
    if (strchr(text, 'e')[-1] == '0') continue;
    assert_true(bits_of(read_f64(text)) == bits + (bits & 1));
    strcpy(longer, text);
    append_digits(longer, "00000000000000000000000000000000000000000000000001");
    assert_true(bits_of(read_f64(longer)) == bits + 1);
    assert_reads_like_libc(longer);
    strcpy(longer, text);
    lower_last_digit(longer);
    append_digits(longer, "99999999999999999999999999999999999999999999999999");
    assert_true(bits_of(read_f64(longer)) == bits);
    assert_reads_like_libc(longer);
  }
}

static void midpoints_of_f32_round_once(void **state) {
  (void)state;
  static char text[1000], longer[3000], zeros[900];
  uint64_t seed = 5;
  memset(zeros, '0', 850);
  strcpy(zeros + 850, "1");
  for (int i = 0; i < effort(20000); i++) {
    uint32_t bits = (uint32_t)(random_bits(&seed) % (UINT32_C(254) << 23));
    write_midpoint_f32(bits, text, sizeof text);
    if (strchr(text, 'e')[-1] == '0') continue;
    assert_int_equal(bits_of_f32(read_f32(text)), bits + (bits & 1));
    if (i % 20) continue;
    strcpy(longer, text);
    append_digits(longer, zeros);   /* something, past where digits are kept */
    assert_int_equal(bits_of_f32(read_f32(longer)), bits + 1);
    strcpy(longer, text);
    lower_last_digit(longer);
    append_digits(longer, "9999999999999999999999999999999999999999");
    assert_int_equal(bits_of_f32(read_f32(longer)), bits);
  }
}

/* More digits than are kept: the last of them still decides. */
static void the_digit_at_the_very_end_decides(void **state) {
  (void)state;
  static char text[3000];
  write_midpoint_f64(UINT64_C(0x0010000000000000) - 1, text, sizeof text);
  assert_true(strchr(text, 'e') - text >= 766);   /* the most digits there are */
  assert_true(bits_of(read_f64(text)) == UINT64_C(0x0010000000000000));
  static char zeros[1002];
  memset(zeros, '0', 1000);
  zeros[1000] = '1';
  uint64_t even = UINT64_C(0x3ff0000000000000);
  write_midpoint_f64(even, text, sizeof text);
  assert_true(bits_of(read_f64(text)) == even);
  append_digits(text, zeros);
  assert_true(bits_of(read_f64(text)) == even + 1);
  zeros[1000] = '0';
  write_midpoint_f64(even, text, sizeof text);
  append_digits(text, zeros);
  assert_true(bits_of(read_f64(text)) == even);
}

/* Powers of five give the products that come nearest to midpoints without being one. */
static void numbers_close_to_midpoints_read_like_libc(void **state) {
  (void)state;
  uint64_t seed = 6;
  for (int i = 0; i < effort(100000); i++) {
    uint64_t bits = random_bits(&seed) % (UINT64_C(2046) << 52);
    char text[64];
    snprintf(text, sizeof text, "%.*e", 17 + i % 6, f64_of(bits) * (1 + 0x1p-53));
    assert_reads_like_libc(text);
  }
}

static void whole_numbers_are_read_or_refused(void **state) {
  (void)state;
  int64_t i;
  uint64_t u;
  assert_true(tn_number_parse_i64(TN_LIT("9223372036854775807"), &i) && i == INT64_MAX);
  assert_true(tn_number_parse_i64(TN_LIT("-9223372036854775808"), &i) && i == INT64_MIN);
  assert_true(tn_number_parse_i64(TN_LIT("+7"), &i) && i == 7);
  assert_true(tn_number_parse_i64(TN_LIT("-0"), &i) && i == 0);
  assert_true(tn_number_parse_i64(TN_LIT("000000000000000000000000012"), &i) && i == 12);
  assert_true(tn_number_parse_u64(TN_LIT("18446744073709551615"), &u) && u == UINT64_MAX);
  assert_true(tn_number_parse_u64(TN_LIT("+1"), &u) && u == 1);
  i = 5, u = 5;
  static const char *const refused[] = { "9223372036854775808", "-9223372036854775809", "", "-", "+", "1.0",
                                         "1e3", "99999999999999999999999", " 1", "1 ", "0x1", "--1" };
  for (size_t k = 0; k < COUNT_OF(refused); k++) {
    assert_false(tn_number_parse_i64(tn_str_of(refused[k]), &i));
  }
  static const char *const not_unsigned[] = { "18446744073709551616", "18446744073709551620", "-1", "-0", "",
                                              "+" };
  for (size_t k = 0; k < COUNT_OF(not_unsigned); k++) {
    assert_false(tn_number_parse_u64(tn_str_of(not_unsigned[k]), &u));
  }
  assert_true(i == 5 && u == 5);
}

/* ---- fixed ---- */

static void assert_fixed_like_libc(double number, int digits) {
  static char text[4000], judged[4000];
  size_t length = tn_number_fixed(number, digits, text);
  assert_true(length <= TN_NUMBER_FIXED_BYTES(digits));
  text[length] = 0;
  snprintf(judged, sizeof judged, "%.*f", digits, number);
  if (strcmp(text, judged) != 0) fail_msg("%a with %d digits: got %s, libc %s", number, digits, text, judged);
}

static void fixed_places_are_rounded_exactly(void **state) {
  (void)state;
  uint64_t seed = 7;
  static const double cases[] = { 0,      -0.0,    0.5,     1.5,     2.5,     0.125, 0.375, 1e22,
                                  1e23,   0.05,    0.15,    1.005,   999.9995, 5e-324, DBL_MAX, DBL_MIN,
                                  -0.0004, 9.5,    99.5,    0.9999999, 1e15,  123456789.987654321 };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    for (int digits = 0; digits < 30; digits++) assert_fixed_like_libc(cases[i], digits);
    assert_fixed_like_libc(cases[i], 1074);
    assert_fixed_like_libc(cases[i], 1500);
  }
  for (int i = 0; i < effort(30000); i++) {
    assert_fixed_like_libc(f64_of(random_bits(&seed) & ~(UINT64_C(1) << 62)), (int)(random_bits(&seed) % 25));
    /* many ties: few bits after the point */
    assert_fixed_like_libc((double)(int32_t)random_bits(&seed) / (double)(1 << i % 12), i % 10);
  }
  char text[TN_NUMBER_FIXED_BYTES(3)];
  assert_int_equal(tn_number_fixed((double)NAN, 3, text), 3);
  assert_int_equal(tn_number_fixed(-(double)INFINITY, 3, text), 9);
  assert_memory_equal(text, "-Infinity", 9);
}

RUN_TESTS(
  cmocka_unit_test(every_power_of_ten_is_cut_at_128_bits),
  cmocka_unit_test(floors_of_logarithms_are_exact),
  cmocka_unit_test(numbers_have_one_form),
  cmocka_unit_test(whole_numbers_are_printed_in_full),
  cmocka_unit_test(random_doubles_print_shortest),
  cmocka_unit_test(random_floats_print_shortest),
  cmocka_unit_test(edges_of_the_format_print_shortest),
  cmocka_unit_test(powers_of_two_print_nearest),
  cmocka_unit_test(text_that_is_not_a_number_is_refused),
  cmocka_unit_test(all_forms_are_read),
  cmocka_unit_test(random_decimals_read_like_libc),
  cmocka_unit_test(midpoints_round_to_even_however_long),
  cmocka_unit_test(midpoints_of_f32_round_once),
  cmocka_unit_test(the_digit_at_the_very_end_decides),
  cmocka_unit_test(numbers_close_to_midpoints_read_like_libc),
  cmocka_unit_test(whole_numbers_are_read_or_refused),
  cmocka_unit_test(fixed_places_are_rounded_exactly))
