/* Dtypes and their conversions. The halves are held against arithmetic on a grid of doubles, which
 * shares no bit trick with them. */
#include "tensor_support.h"

#include <math.h>

static void dtypes_are_found_by_name(void **state) {
  (void)state;
  for (int i = 0; i < TN_DTYPE_COUNT; i++) {
    tn_dtype found = TN_DTYPE_COUNT;
    assert_true(tn_dtype_find(tn_str_of(tn_dtype_name((tn_dtype)i)), &found));
    assert_int_equal(found, i);
  }
  tn_dtype untouched = TN_I64;
  assert_false(tn_dtype_find(TN_LIT("f31"), &untouched));
  assert_false(tn_dtype_find(TN_LIT("f3"), &untouched));
  assert_false(tn_dtype_find(TN_LIT(""), &untouched));
  assert_int_equal(untouched, TN_I64);
}

static void every_dtype_is_in_one_class(void **state) {
  (void)state;
  static const tn_dtype_set sets[] = { [TN_CLASS_FLOAT] = TN_FLOATS, [TN_CLASS_INT] = TN_INTS,
                                       [TN_CLASS_BOOL] = TN_BOOLS, [TN_CLASS_STORAGE] = TN_STORAGE };
  for (int i = 0; i < TN_DTYPE_COUNT; i++) {
    for (size_t class = 0; class < COUNT_OF(sets); class++) {
      bool inside = tn_dtype_class_of((tn_dtype)i) == (tn_dtype_class)class;
      assert_int_equal(tn_dtype_in((tn_dtype)i, sets[class]), inside);
    }
    assert_true(tn_dtype_in((tn_dtype)i, TN_ANY_DTYPE));
  }
  assert_int_equal(tn_dtype_bytes(TN_F64), 8);
  assert_int_equal(tn_dtype_bytes(TN_BOOL), 1);
  assert_int_equal(tn_dtype_bytes(TN_BF16), 2);
}

/* ---- halves ---- */

/* The nearest multiple of the grid's step at x, ties to even; `fraction` bits after the point. */
static double on_grid(double x, int least_exponent, int fraction, double overflow) {
  int exponent;
  if (x == 0 || isinf(x) || isnan(x)) return x;
  frexp(x, &exponent);   /* x = m * 2^exponent, 0.5 <= m < 1 */
  exponent = exponent - 1 < least_exponent ? least_exponent : exponent - 1;
  double step = ldexp(1, exponent - fraction), rounded = nearbyint(x / step) * step;
  return fabs(rounded) >= overflow ? copysign(INFINITY, x) : rounded;
}

static float float_of(uint32_t bits) {
  float number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

static void assert_same_number(double got, double expected) {
  assert_int_equal(isnan(got) != 0, isnan(expected) != 0);
  if (isnan(expected)) return;
  assert_true(got == expected);
  assert_int_equal(signbit(got) != 0, signbit(expected) != 0);
}

static void check_halves(float x) {
  assert_same_number((double)tn_f32_from_f16(tn_f16_from_f32(x)), on_grid((double)x, -14, 10, 65536));
  assert_same_number((double)tn_f32_from_bf16(tn_bf16_from_f32(x)),
                     on_grid((double)x, -126, 7, 0x1p128));
}

static void halves_round_to_the_nearest_even(void **state) {
  (void)state;
  tn_rng rng;
  tn_rng_init(&rng, 3);
  for (int i = 0; i < 100000; i++) check_halves(float_of(tn_rng_below(&rng, UINT32_MAX)));
  for (uint32_t high = 0; high < 0x10000; high++) {   /* bf16: at, just below and just above each tie */
    for (uint32_t low = 0x7fff; low <= 0x8001; low++) check_halves(float_of(high << 16 | low));
  }
  for (uint32_t high = 0; high < 1u << 19; high += 3) {   /* f16: the same for normal numbers */
    for (uint32_t low = 0xfff; low <= 0x1001; low++) check_halves(float_of(high << 13 | low));
  }
  for (int i = 0; i <= 2048; i++) {   /* and for denormals, whose ties lie at odd multiples of 2^-25 */
    float tie = (float)i * 0x1p-25f;
    check_halves(tie);
    check_halves(nextafterf(tie, 1));
    check_halves(nextafterf(tie, -1));
    check_halves(-tie);
  }
}

static void every_half_survives_conversion_to_f32(void **state) {
  (void)state;
  for (uint32_t bits = 0; bits < 0x10000; bits++) {
    bool nan16 = (bits & 0x7fff) > 0x7c00, nan_b = (bits & 0x7fff) > 0x7f80;
    assert_int_equal(tn_f16_from_f32(tn_f32_from_f16((uint16_t)bits)), nan16 ? 0x7e00 : bits);
    assert_int_equal(tn_bf16_from_f32(tn_f32_from_bf16((uint16_t)bits)), nan_b ? 0x7fc0 : bits);
  }
}

static void nans_of_halves_are_canonical(void **state) {
  (void)state;
  uint32_t bits;
  float wide = tn_f32_from_f16(0xfe01), brain = tn_f32_from_bf16(0xff81);
  memcpy(&bits, &wide, sizeof bits);
  assert_int_equal(bits, 0x7fc00000);
  memcpy(&bits, &brain, sizeof bits);
  assert_int_equal(bits, 0x7fc00000);
  assert_int_equal(tn_f16_from_f32(float_of(0xff800001)), 0x7e00);
  assert_int_equal(tn_bf16_from_f32(float_of(0xff800001)), 0x7fc0);
}

/* ---- integers ---- */

static void floats_to_integers_truncate_and_saturate(void **state) {
  (void)state;
  static const struct {
    double number;
    int64_t wide;
    int32_t narrow;
  } table[] = {
    { 0.99, 0, 0 },
    { -0.99, 0, 0 },
    { -2.5, -2, -2 },
    { 2147483646.9, 2147483646, 2147483646 },
    { 2147483647.0, 2147483647, INT32_MAX },
    { 2147483648.0, INT64_C(2147483648), INT32_MAX },
    { -2147483648.9, INT64_C(-2147483648), INT32_MIN },
    { -2147483649.0, INT64_C(-2147483649), INT32_MIN },
    { 9223372036854774784.0, INT64_C(9223372036854774784), INT32_MAX },   /* the double below 2^63 */
    { 9223372036854775808.0, INT64_MAX, INT32_MAX },
    { -9223372036854775808.0, INT64_MIN, INT32_MIN },
    { 1e300, INT64_MAX, INT32_MAX },
    { (double)INFINITY, INT64_MAX, INT32_MAX },
    { (double)-INFINITY, INT64_MIN, INT32_MIN },
    { (double)NAN, 0, 0 },
  };
  for (size_t i = 0; i < COUNT_OF(table); i++) {
    assert_true(tn_i64_from_f64(table[i].number) == table[i].wide);
    assert_true(tn_i32_from_f64(table[i].number) == table[i].narrow);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(dtypes_are_found_by_name),
    cmocka_unit_test(every_dtype_is_in_one_class),
    cmocka_unit_test(halves_round_to_the_nearest_even),
    cmocka_unit_test(every_half_survives_conversion_to_f32),
    cmocka_unit_test(nans_of_halves_are_canonical),
    cmocka_unit_test(floats_to_integers_truncate_and_saturate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
