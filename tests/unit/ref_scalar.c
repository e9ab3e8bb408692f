/* The scalars of every elementwise operation, at the places where they are easy to get wrong. */
#include "ref_support.h"

#include "op/scalar.h"

static tn_element f32(float x) { return (tn_element){ .f32 = x }; }
static tn_element f64(double x) { return (tn_element){ .f64 = x }; }
static tn_element i32(int32_t x) { return (tn_element){ .i32 = x }; }
static tn_element i64(int64_t x) { return (tn_element){ .i64 = x }; }

static void same_f32(float got, float expected) { assert_memory_equal(&got, &expected, sizeof got); }
static void same_f64(double got, double expected) { assert_memory_equal(&got, &expected, sizeof got); }

/* In both float dtypes: the arguments are chosen so that the result is exact in f32. */
static void unary(tn_op op, double x, double expected) {
  same_f32(tn_scalar_unary(op, TN_F32)(f32((float)x)).f32, (float)expected);
  same_f64(tn_scalar_unary(op, TN_F64)(f64(x)).f64, expected);
}

static void binary(tn_op op, double x, double y, double expected) {
  same_f32(tn_scalar_binary(op, TN_F32)(f32((float)x), f32((float)y)).f32, (float)expected);
  same_f64(tn_scalar_binary(op, TN_F64)(f64(x), f64(y)).f64, expected);
}

static void unary_int(tn_op op, int32_t x, int32_t expected) {
  assert_int_equal(tn_scalar_unary(op, TN_I32)(i32(x)).i32, expected);
  if (x != INT32_MIN) assert_int_equal(tn_scalar_unary(op, TN_I64)(i64(x)).i64, expected);
}

static void binary_int(tn_op op, int32_t x, int32_t y, int32_t expected) {
  assert_int_equal(tn_scalar_binary(op, TN_I32)(i32(x), i32(y)).i32, expected);
}

static void neg_abs_and_sign_keep_to_ieee(void **state) {
  (void)state;
  unary(TN_OP_NEG, 0.0, -0.0);
  unary(TN_OP_NEG, -0.0, 0.0);
  unary(TN_OP_NEG, INFINITY, -INFINITY);
  unary(TN_OP_ABS, -0.0, 0.0);
  unary(TN_OP_ABS, -2.5, 2.5);
  unary(TN_OP_SIGN, -0.0, -0.0);
  unary(TN_OP_SIGN, 0.0, 0.0);
  unary(TN_OP_SIGN, 0x1p-140, 1.0);
  unary(TN_OP_SIGN, -INFINITY, -1.0);
  unary(TN_OP_SIGN, NAN, NAN);
}

static void relu_gives_plus_zero_below_and_keeps_nan(void **state) {
  (void)state;
  unary(TN_OP_RELU, -0.0, 0.0);
  unary(TN_OP_RELU, -3.0, 0.0);
  unary(TN_OP_RELU, 3.0, 3.0);
  unary(TN_OP_RELU, INFINITY, INFINITY);
  unary(TN_OP_RELU, NAN, NAN);
}

static void rounding_takes_halves_to_even_and_keeps_the_sign_of_zero(void **state) {
  (void)state;
  unary(TN_OP_ROUND, 0.5, 0.0);
  unary(TN_OP_ROUND, -0.5, -0.0);
  unary(TN_OP_ROUND, 1.5, 2.0);
  unary(TN_OP_ROUND, 2.5, 2.0);
  unary(TN_OP_ROUND, -2.5, -2.0);
  unary(TN_OP_ROUND, 0x1p30, 0x1p30);
  unary(TN_OP_FLOOR, -0.25, -1.0);
  unary(TN_OP_FLOOR, 1.75, 1.0);
  unary(TN_OP_CEIL, -0.25, -0.0);
  unary(TN_OP_CEIL, 1.25, 2.0);
  unary(TN_OP_CEIL, INFINITY, INFINITY);
}

static void elementary_functions_have_their_exact_values(void **state) {
  (void)state;
  unary(TN_OP_SQRT, 6.25, 2.5);
  unary(TN_OP_SQRT, -0.0, -0.0);
  unary(TN_OP_EXP, 0.0, 1.0);
  unary(TN_OP_EXP, -INFINITY, 0.0);
  unary(TN_OP_LOG, 1.0, 0.0);
  unary(TN_OP_LOG, 0.0, -INFINITY);
  unary(TN_OP_TANH, -0.0, -0.0);
  unary(TN_OP_TANH, INFINITY, 1.0);
  unary(TN_OP_SIGMOID, 0.0, 0.5);
  unary(TN_OP_SIGMOID, -INFINITY, 0.0);
  unary(TN_OP_ERF, -INFINITY, -1.0);
  unary(TN_OP_SIN, -0.0, -0.0);
  unary(TN_OP_COS, 0.0, 1.0);
  binary(TN_OP_POW, 2.0, 10.0, 1024.0);
  binary(TN_OP_POW, NAN, 0.0, 1.0);
}

static void a_computed_nan_is_the_canonical_one(void **state) {
  (void)state;
  float odd_nan = -NAN;
  unary(TN_OP_SQRT, -1.0, NAN);
  unary(TN_OP_LOG, -1.0, NAN);
  unary(TN_OP_NEG, NAN, NAN);
  unary(TN_OP_ABS, NAN, NAN);
  unary(TN_OP_FLOOR, NAN, NAN);
  binary(TN_OP_SUB, INFINITY, INFINITY, NAN);
  binary(TN_OP_MUL, 0.0, INFINITY, NAN);
  binary(TN_OP_DIV, 0.0, 0.0, NAN);
  binary(TN_OP_REM, 1.0, 0.0, NAN);
  same_f32(tn_scalar_binary(TN_OP_ADD, TN_F32)(f32(odd_nan), f32(1)).f32, NAN);
  same_f32(tn_scalar_binary(TN_OP_MAXIMUM, TN_F32)(f32(odd_nan), f32(1)).f32, NAN);
  same_f32(tn_scalar_fma(TN_F32)(f32(INFINITY), f32(1), f32(-INFINITY)).f32, NAN);
  same_f64(tn_scalar_cast(f32(odd_nan), TN_F32, TN_F64).f64, NAN);
}

static void minimum_and_maximum_order_the_zeros_and_let_nan_win(void **state) {
  (void)state;
  binary(TN_OP_MINIMUM, 0.0, -0.0, -0.0);
  binary(TN_OP_MINIMUM, -0.0, 0.0, -0.0);
  binary(TN_OP_MAXIMUM, 0.0, -0.0, 0.0);
  binary(TN_OP_MAXIMUM, -0.0, 0.0, 0.0);
  binary(TN_OP_MAXIMUM, -0.0, -0.0, -0.0);
  binary(TN_OP_MINIMUM, 3.0, 2.0, 2.0);
  binary(TN_OP_MAXIMUM, 3.0, 2.0, 3.0);
  binary(TN_OP_MINIMUM, NAN, -INFINITY, NAN);
  binary(TN_OP_MAXIMUM, INFINITY, NAN, NAN);
}

static void a_float_remainder_is_exact_and_has_the_sign_of_the_dividend(void **state) {
  (void)state;
  binary(TN_OP_REM, 5.5, 2.0, 1.5);
  binary(TN_OP_REM, -5.5, 2.0, -1.5);
  binary(TN_OP_REM, -4.0, 2.0, -0.0);
  binary(TN_OP_REM, 3.0, INFINITY, 3.0);
  binary(TN_OP_REM, 0x1p100, 3.0, 1.0);   /* 2^100 = 1 mod 3: no rounded quotient would show that */
}

static void integers_wrap(void **state) {
  (void)state;
  unary_int(TN_OP_NEG, INT32_MIN, INT32_MIN);
  unary_int(TN_OP_ABS, INT32_MIN, INT32_MIN);
  unary_int(TN_OP_ABS, -7, 7);
  unary_int(TN_OP_SIGN, -7, -1);
  unary_int(TN_OP_SIGN, 0, 0);
  unary_int(TN_OP_RELU, -7, 0);
  unary_int(TN_OP_ROUND, 7, 7);
  binary_int(TN_OP_ADD, INT32_MAX, 1, INT32_MIN);
  binary_int(TN_OP_SUB, INT32_MIN, 1, INT32_MAX);
  binary_int(TN_OP_MUL, 65536, 65536, 0);
  assert_true(tn_scalar_binary(TN_OP_MUL, TN_I64)(i64(INT64_MIN), i64(-1)).i64 == INT64_MIN);
  assert_int_equal(tn_scalar_fma(TN_I32)(i32(INT32_MAX), i32(2), i32(3)).i32, 1);
}

static void integer_division_truncates_and_survives_the_least_integer(void **state) {
  (void)state;
  binary_int(TN_OP_DIV, 7, 2, 3);
  binary_int(TN_OP_DIV, -7, 2, -3);
  binary_int(TN_OP_DIV, INT32_MIN, -1, INT32_MIN);
  binary_int(TN_OP_REM, 7, 2, 1);
  binary_int(TN_OP_REM, -7, 2, -1);
  binary_int(TN_OP_REM, INT32_MIN, -1, 0);
  assert_true(tn_scalar_binary(TN_OP_DIV, TN_I64)(i64(INT64_MIN), i64(-1)).i64 == INT64_MIN);
  assert_true(tn_scalar_divides(TN_OP_DIV, TN_I64));
  assert_true(tn_scalar_divides(TN_OP_REM, TN_I32));
  assert_false(tn_scalar_divides(TN_OP_DIV, TN_F32));
  assert_false(tn_scalar_divides(TN_OP_MUL, TN_I32));
}

static bool compare(tn_op op, float x, float y) {
  return tn_scalar_binary(op, TN_F32)(f32(x), f32(y)).boolean;
}

static void nan_compares_as_different_from_everything(void **state) {
  (void)state;
  assert_false(compare(TN_OP_EQ, NAN, NAN));
  assert_true(compare(TN_OP_NE, NAN, NAN));
  for (tn_op op = TN_OP_LT; op <= TN_OP_GE; op++) {
    assert_false(compare(op, NAN, 1));
    assert_false(compare(op, 1, NAN));
  }
  assert_true(compare(TN_OP_EQ, 0.0f, -0.0f));
  assert_false(compare(TN_OP_LT, -0.0f, 0.0f));
  assert_true(compare(TN_OP_LE, 2, 2) && compare(TN_OP_GE, 2, 2));
  assert_true(compare(TN_OP_LT, 1, 2) && compare(TN_OP_GT, 2, 1));
  assert_true(tn_scalar_binary(TN_OP_LT, TN_I64)(i64(INT64_MIN), i64(INT64_MAX)).boolean);
}

static void logic_is_that_of_truth_tables(void **state) {
  (void)state;
  for (int x = 0; x < 2; x++) {
    tn_element a = { .boolean = (uint8_t)x };
    assert_int_equal(tn_scalar_unary(TN_OP_NOT, TN_BOOL)(a).boolean, !x);
    for (int y = 0; y < 2; y++) {
      tn_element b = { .boolean = (uint8_t)y };
      assert_int_equal(tn_scalar_binary(TN_OP_AND, TN_BOOL)(a, b).boolean, x && y);
      assert_int_equal(tn_scalar_binary(TN_OP_OR, TN_BOOL)(a, b).boolean, x || y);
      assert_int_equal(tn_scalar_binary(TN_OP_EQ, TN_BOOL)(a, b).boolean, x == y);
      assert_int_equal(tn_scalar_binary(TN_OP_NE, TN_BOOL)(a, b).boolean, x != y);
    }
  }
}

static void a_float_becomes_an_integer_by_truncating_and_saturating(void **state) {
  (void)state;
  assert_int_equal(tn_scalar_cast(f32(-2.9f), TN_F32, TN_I32).i32, -2);
  assert_int_equal(tn_scalar_cast(f32(NAN), TN_F32, TN_I32).i32, 0);
  assert_int_equal(tn_scalar_cast(f32(1e20f), TN_F32, TN_I32).i32, INT32_MAX);
  assert_true(tn_scalar_cast(f64(-1e30), TN_F64, TN_I64).i64 == INT64_MIN);
  assert_true(tn_scalar_cast(f64(0x1p63), TN_F64, TN_I64).i64 == INT64_MAX);
  assert_int_equal(tn_scalar_cast(i64(0x100000005), TN_I64, TN_I32).i32, 5);
}

static void an_integer_becomes_a_float_by_one_rounding(void **state) {
  (void)state;
  same_f32(tn_scalar_cast(i64(16777217), TN_I64, TN_F32).f32, 16777216.0f);   /* a tie, to even */
  /* Just above a tie of f32; in f64 it would first round down onto it. */
  same_f32(tn_scalar_cast(i64(0x4000004000000001), TN_I64, TN_F32).f32, 0x1.000002p62f);
  same_f64(tn_scalar_cast(i32(-3), TN_I32, TN_F64).f64, -3.0);
  same_f32(tn_scalar_cast(f64(0x1.0000010000001p0), TN_F64, TN_F32).f32, 0x1.000002p0f);
  same_f32(tn_scalar_cast(f64(1e300), TN_F64, TN_F32).f32, INFINITY);
}

static void everything_but_zero_is_true(void **state) {
  (void)state;
  assert_int_equal(tn_scalar_cast(f32(NAN), TN_F32, TN_BOOL).boolean, 1);
  assert_int_equal(tn_scalar_cast(f32(-0.0f), TN_F32, TN_BOOL).boolean, 0);
  assert_int_equal(tn_scalar_cast(f64(0x1p-1074), TN_F64, TN_BOOL).boolean, 1);
  assert_int_equal(tn_scalar_cast(i64(0x100000000), TN_I64, TN_BOOL).boolean, 1);
  tn_element yes = { .boolean = 1 };
  same_f32(tn_scalar_cast(yes, TN_BOOL, TN_F32).f32, 1.0f);
  assert_int_equal(tn_scalar_cast(yes, TN_BOOL, TN_I64).i64, 1);
}

static void storage_dtypes_are_converted_through_f32(void **state) {
  (void)state;
  assert_int_equal(tn_scalar_cast(f32(1.0f), TN_F32, TN_BF16).bits, 0x3f80);
  assert_int_equal(tn_scalar_cast(f32(1.0f), TN_F32, TN_F16).bits, 0x3c00);
  assert_int_equal(tn_scalar_cast(f32(65520.0f), TN_F32, TN_F16).bits, 0x7c00);
  assert_int_equal(tn_scalar_cast(f64(1.0 + 0x1p-8 + 0x1p-40), TN_F64, TN_BF16).bits, 0x3f80);
  tn_element half = { .bits = 0x3800 };
  same_f64(tn_scalar_cast(half, TN_F16, TN_F64).f64, 0.5);
  assert_int_equal(tn_scalar_cast(half, TN_F16, TN_BF16).bits, 0x3f00);
  assert_int_equal(tn_scalar_cast(half, TN_F16, TN_BOOL).boolean, 1);
}

/* A cast to every dtype and back gives the small integers back. */
static void small_integers_survive_every_cast(void **state) {
  (void)state;
  for (tn_dtype from = 0; from < TN_DTYPE_COUNT; from++)
    for (tn_dtype to = 0; to < TN_DTYPE_COUNT; to++)
      for (int64_t n = 0; n < 2; n++) {
        tn_element x = tn_scalar_cast(tn_element_of_i64(n, from), from, to);
        assert_int_equal(tn_scalar_cast(x, to, TN_I64).i64, n);
      }
}

static void exact(tn_op op, int64_t x, int64_t y, int64_t expected) {
  int64_t result;
  assert_true(tn_scalar_exact(op, x, y, &result));
  assert_true(result == expected);
}

static void whole_numbers_have_an_exact_result_or_none(void **state) {
  (void)state;
  int64_t result;
  exact(TN_OP_ADD, INT64_MAX, INT64_MIN, -1);
  exact(TN_OP_SUB, -1, INT64_MAX, INT64_MIN);
  exact(TN_OP_MUL, 3037000499, 3037000499, 9223372030926249001);
  exact(TN_OP_DIV, -7, 2, -3);
  assert_false(tn_scalar_exact(TN_OP_ADD, INT64_MAX, 1, &result));
  assert_false(tn_scalar_exact(TN_OP_SUB, INT64_MIN, 1, &result));
  assert_false(tn_scalar_exact(TN_OP_MUL, INT64_MIN, -1, &result));
  assert_false(tn_scalar_exact(TN_OP_DIV, INT64_MIN, -1, &result));
  assert_false(tn_scalar_exact(TN_OP_DIV, 7, 0, &result));
  assert_false(tn_scalar_exact(TN_OP_REM, 7, 2, &result));
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(neg_abs_and_sign_keep_to_ieee),
    cmocka_unit_test(relu_gives_plus_zero_below_and_keeps_nan),
    cmocka_unit_test(rounding_takes_halves_to_even_and_keeps_the_sign_of_zero),
    cmocka_unit_test(elementary_functions_have_their_exact_values),
    cmocka_unit_test(a_computed_nan_is_the_canonical_one),
    cmocka_unit_test(minimum_and_maximum_order_the_zeros_and_let_nan_win),
    cmocka_unit_test(a_float_remainder_is_exact_and_has_the_sign_of_the_dividend),
    cmocka_unit_test(integers_wrap),
    cmocka_unit_test(integer_division_truncates_and_survives_the_least_integer),
    cmocka_unit_test(nan_compares_as_different_from_everything),
    cmocka_unit_test(logic_is_that_of_truth_tables),
    cmocka_unit_test(a_float_becomes_an_integer_by_truncating_and_saturating),
    cmocka_unit_test(an_integer_becomes_a_float_by_one_rounding),
    cmocka_unit_test(everything_but_zero_is_true),
    cmocka_unit_test(storage_dtypes_are_converted_through_f32),
    cmocka_unit_test(small_integers_survive_every_cast),
    cmocka_unit_test(whole_numbers_have_an_exact_result_or_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
