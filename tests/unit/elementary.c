/* tests/unit/elementary.c: the elementary functions against MPFR, and what they owe at the edges.
 *
 * The slow test tries every float there is; here are some millions, and the f64 functions, which
 * can only be sampled. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "unit/elementary_judge.h"
#include "unit/elementary_support.h"

/* An argument the function has something to say about: its own range, around 1, around 0, near
 * multiples of pi/2. */
static double interesting(draws *from, judged function) {
  static const double range[FUNCTIONS] = { 120, 4, 11, 110, 4.5, 70000, 70000, 0 };
  uint64_t word = draw(from);
  switch (word % 4) {
    case 0: return draw_between(from, -range[function], range[function]);
    case 1: return draw_between(from, -1.0, 1.0) * power_of_two(-(int)(draw(from) % 40));
    case 2: return 1.0 + draw_between(from, -1.0, 1.0) * power_of_two(-(int)(draw(from) % 24));
    default: return (double)(int64_t)(word >> 40) * 1.5707963267948966 * (word & 4 ? 1.0 : -1.0);
  }
}

static void check_f32(judge *by, judged function, float x, double *worst) {
  float y = judged_functions[function].f32(x);
  judge_value(by, function, (double)x, 0.0);
  double error = judge_error_f32(by, y);
  if (!(error <= 1.0) || (y != y && tn_bits_f32(y) != 0x7fc00000u))
    fail_msg("%s(%a) = %a (%08x) is %g ulp off", judged_functions[function].name, (double)x, (double)y,
             tn_bits_f32(y), error);
  if (error > *worst) *worst = error;
}

static void f32_functions_lie_within_one_ulp(void **state) {
  (void)state;
  judge by;
  judge_init(&by, 70);
  for (judged function = OF_EXP; function < OF_POW; function++) {
    draws from = { 10 + function };
    double worst = 0.0;
    for (int i = 0; i < SPECIALS; i++) check_f32(&by, function, tn_float_of_bits(special_bits[i]), &worst);
    for (int i = 0; i < 19000 * EFFORT; i++) {
      check_f32(&by, function, (float)interesting(&from, function), &worst);
      check_f32(&by, function, tn_float_of_bits((uint32_t)draw(&from)), &worst);
    }
    print_message("%s_f32: %.4f ulp\n", judged_functions[function].name, worst);
  }
  judge_free(&by);
}

static void check_f64(judge *by, judged function, double x, double *worst) {
  double y = judged_functions[function].f64(x);
  judge_value(by, function, x, 0.0);
  double error = judge_error_f64(by, y);
  if (!(error < 1.0) || (y != y && tn_bits_f64(y) != 0x7ff8000000000000u))
    fail_msg("%s(%a) = %a is %g ulp off", judged_functions[function].name, x, y, error);
  if (error > *worst) *worst = error;
}

static void f64_functions_lie_within_one_ulp(void **state) {
  (void)state;
  judge by;
  judge_init(&by, 130);
  for (judged function = OF_EXP; function < OF_POW; function++) {
    draws from = { 20 + function };
    double worst = 0.0;
    for (int i = 0; i < SPECIALS; i++)
      check_f64(&by, function, (double)tn_float_of_bits(special_bits[i]), &worst);
    for (int i = 0; i < 5000 * EFFORT; i++) {
      check_f64(&by, function, interesting(&from, function), &worst);
      check_f64(&by, function, interesting(&from, function) * 7.0, &worst);
      check_f64(&by, function, tn_double_of_bits(draw(&from)), &worst);
    }
    print_message("%s_f64: %.4f ulp\n", judged_functions[function].name, worst);
  }
  judge_free(&by);
}

/* y such that x^y is neither 0 nor infinity, most of the time. */
static double exponent_for(draws *from, double x, double limit) {
  double logarithm = tn_log_f64(x < 0 ? -x : x);
  return logarithm == 0 || logarithm != logarithm ? 3.0 : draw_between(from, -limit, limit) / logarithm;
}

static double base_for(draws *from) {
  switch (draw(from) % 3) {
    case 0: return draw_between(from, 0.0, 10.0);
    case 1: return 1.0 + draw_between(from, -1.0, 1.0) * power_of_two(-(int)(draw(from) % 50));
    default: return draw_between(from, 0.5, 1.0) * power_of_two((int)(draw(from) % 250) - 125);
  }
}

static void pow_is_within_one_ulp_in_f32(void **state) {
  (void)state;
  judge by;
  judge_init(&by, 70);
  draws from = { 30 };
  double worst = 0.0;
  for (int i = 0; i < 50000 * EFFORT; i++) {
    float x = (float)base_for(&from), y = (float)exponent_for(&from, (double)x, 105.0);
    if (i % 4 == 1) x = -x, y = tn_round_even_f32(y);
    if (i % 8 == 2) x = tn_float_of_bits((uint32_t)draw(&from)), y = tn_float_of_bits((uint32_t)draw(&from));
    if (i % 8 == 6) x = draw_float(&from), y = draw_float(&from);
    float result = tn_pow_f32(x, y);
    judge_value(&by, OF_POW, (double)x, (double)y);
    double error = judge_error_f32(&by, result);
    if (!(error <= 1.0) || (result != result && tn_bits_f32(result) != 0x7fc00000u))
      fail_msg("pow(%a, %a) = %a is %g ulp off", (double)x, (double)y, (double)result, error);
    if (error > worst) worst = error;
  }
  print_message("pow_f32: %.4f ulp\n", worst);
  judge_free(&by);
}

static void pow_is_within_one_ulp_in_f64(void **state) {
  (void)state;
  judge by;
  judge_init(&by, 130);
  draws from = { 40 };
  double worst = 0.0;
  for (int i = 0; i < 15000 * EFFORT; i++) {
    double x = base_for(&from), y = exponent_for(&from, x, 745.0);
    if (i % 4 == 1) x = -x, y = tn_round_even_f64(y);
    if (i % 8 == 2) x = tn_double_of_bits(draw(&from)), y = exponent_for(&from, x, 745.0);
    if (i % 8 == 6) x = (double)draw_float(&from), y = (double)draw_float(&from);
    double result = tn_pow_f64(x, y);
    judge_value(&by, OF_POW, x, y);
    double error = judge_error_f64(&by, result);
    if (!(error < 1.0) || (result != result && tn_bits_f64(result) != 0x7ff8000000000000u))
      fail_msg("pow(%a, %a) = %a is %g ulp off", x, y, result, error);
    if (error > worst) worst = error;
  }
  print_message("pow_f64: %.4f ulp\n", worst);
  judge_free(&by);
}

/* --- exact facts ------------------------------------------------------------------------------- */

static void assert_f32(float value, float expected) {
  assert_int_equal(tn_bits_f32(value), tn_bits_f32(expected));
}

static void assert_f64(double value, double expected) {
  assert_int_equal(tn_bits_f64(value), tn_bits_f64(expected));
}

/* The same fact in both widths; arguments and results here are exact in f32. */
static void assert_both(judged function, float x, float expected) {
  assert_f32(judged_functions[function].f32(x), expected);
  assert_f64(judged_functions[function].f64((double)x), tn_canonical_f64((double)expected));
}

static void limits_and_zeros_are_exact(void **state) {
  (void)state;
  float inf = tn_infinity_f32(), nan = tn_nan_f32();
  struct {
    judged function;
    float x, expected;
  } facts[] = {
    { OF_EXP, 0.0f, 1.0f },     { OF_EXP, -0.0f, 1.0f },     { OF_EXP, inf, inf },
    { OF_EXP, -inf, 0.0f },     { OF_LOG, 1.0f, 0.0f },      { OF_LOG, 0.0f, -inf },
    { OF_LOG, -0.0f, -inf },    { OF_LOG, inf, inf },        { OF_LOG, -1.0f, nan },
    { OF_LOG, -inf, nan },      { OF_LOG, -0x1p-149f, nan }, { OF_TANH, 0.0f, 0.0f },
    { OF_TANH, -0.0f, -0.0f },  { OF_TANH, inf, 1.0f },      { OF_TANH, -inf, -1.0f },
    { OF_SIGMOID, 0.0f, 0.5f }, { OF_SIGMOID, -0.0f, 0.5f }, { OF_SIGMOID, inf, 1.0f },
    { OF_SIGMOID, -inf, 0.0f }, { OF_ERF, 0.0f, 0.0f },      { OF_ERF, -0.0f, -0.0f },
    { OF_ERF, inf, 1.0f },      { OF_ERF, -inf, -1.0f },     { OF_SIN, 0.0f, 0.0f },
    { OF_SIN, -0.0f, -0.0f },   { OF_SIN, inf, nan },        { OF_SIN, -inf, nan },
    { OF_COS, 0.0f, 1.0f },     { OF_COS, -0.0f, 1.0f },     { OF_COS, inf, nan },
    { OF_COS, -inf, nan },
  };
  for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
    assert_both(facts[i].function, facts[i].x, facts[i].expected);
}

static void every_nan_becomes_the_canonical_one(void **state) {
  (void)state;
  uint32_t nans[] = { 0x7fc00000, 0xffc00000, 0x7f800001, 0xff800001, 0x7fffffff, 0xffffffff, 0x7fa12345 };
  for (size_t i = 0; i < sizeof nans / sizeof *nans; i++) {
    float x = tn_float_of_bits(nans[i]);
    uint64_t sign = (uint64_t)(nans[i] >> 31) << 63, payload = (uint64_t)(nans[i] & 0x7fffff) << 20;
    double wide = tn_double_of_bits(sign | 0x7ff0000000000001u | payload);
    for (judged function = OF_EXP; function < OF_POW; function++) {
      assert_f32(judged_functions[function].f32(x), tn_nan_f32());
      assert_f64(judged_functions[function].f64(wide), tn_nan_f64());
    }
    assert_f32(tn_pow_f32(x, 2.0f), tn_nan_f32());
    assert_f32(tn_pow_f32(2.0f, x), tn_nan_f32());
    assert_f32(tn_canonical_f32(x), tn_nan_f32());
    assert_f64(tn_pow_f64(wide, 2.0), tn_nan_f64());
    assert_f64(tn_pow_f64(2.0, wide), tn_nan_f64());
    assert_f64(tn_canonical_f64(wide), tn_nan_f64());
  }
}

static void exp_overflows_and_underflows_where_it_should(void **state) {
  (void)state;
  assert_true(tn_exp_f32(0x1.62e42ep+6f) < tn_infinity_f32());
  assert_f32(tn_exp_f32(0x1.62e430p+6f), tn_infinity_f32());
  assert_f32(tn_exp_f32(-0x1.9fe368p+6f), 0x1p-149f);   /* just above log(2^-150) */
  assert_f32(tn_exp_f32(-0x1.9fe36ap+6f), 0.0f);
  assert_true(tn_exp_f64(0x1.62e42fefa39efp+9) < tn_infinity_f64());
  assert_f64(tn_exp_f64(0x1.62e42fefa39f0p+9), tn_infinity_f64());
  assert_f64(tn_exp_f64(-0x1.74910d52d3051p+9), 0x1p-1074);
  assert_f64(tn_exp_f64(-0x1.74910d52d3052p+9), 0.0);
}

static void small_arguments_of_odd_functions_keep_their_bits(void **state) {
  (void)state;
  for (uint32_t bits = 1; bits < 0x39000000; bits = bits * 3 / 2 + 1) {
    float x = tn_float_of_bits(bits);
    assert_f32(tn_tanh_f32(x), x);
    assert_f32(tn_sin_f32(x), x);
    assert_f32(tn_tanh_f32(-x), -x);
    assert_f32(tn_sin_f32(-x), -x);
  }
}

static void symmetries_are_exact(void **state) {
  (void)state;
  draws from = { 50 };
  for (int i = 0; i < 37500 * EFFORT; i++) {
    float x = i % 2 ? draw_float(&from) : tn_float_of_bits((uint32_t)draw(&from));
    if (x != x) continue;
    double wide = (double)x * 1.1;
    judged odd[] = { OF_TANH, OF_ERF, OF_SIN };
    for (size_t k = 0; k < 3; k++) {
      float f = judged_functions[odd[k]].f32(x), g = judged_functions[odd[k]].f32(-x);
      double wide_f = judged_functions[odd[k]].f64(wide), wide_g = judged_functions[odd[k]].f64(-wide);
      assert_f32(g, f == f ? -f : f);
      assert_f64(wide_g, wide_f == wide_f ? -wide_f : wide_f);
    }
    assert_f32(tn_cos_f32(-x), tn_cos_f32(x));
    assert_f64(tn_cos_f64(-wide), tn_cos_f64(wide));
  }
}

/* Results may sit on either side of the truth, so a step back of one unit is allowed, and no more. */
static void rising_functions_do_not_fall(void **state) {
  (void)state;
  judged rising[] = { OF_EXP, OF_LOG, OF_TANH, OF_SIGMOID, OF_ERF };
  draws from = { 60 };
  for (size_t k = 0; k < sizeof rising / sizeof *rising; k++)
    for (int window = 0; window < 400 * EFFORT; window++) {
      float start = (float)draw_between(&from, rising[k] == OF_LOG ? 0.0 : -20.0, 20.0);
      uint32_t bits = tn_bits_f32(start) & 0x7fffffffu;
      float before = judged_functions[rising[k]].f32(tn_float_of_bits(bits));
      for (uint32_t i = 1; i < 50; i++) {
        float after = judged_functions[rising[k]].f32(tn_float_of_bits(bits + i));
        assert_true(after >= before || tn_bits_f32(before) - tn_bits_f32(after) == 1 ||
                    tn_bits_f32(after) - tn_bits_f32(before) == 1);
        before = after;
      }
    }
}

static void large_angles_are_reduced_exactly(void **state) {
  (void)state;
  assert_f64(tn_sin_f64(1e22), -0.8522008497671888);
  assert_f64(tn_cos_f64(1e22), 0.523214785395139);
  judge by;
  judge_init(&by, 1400);
  /* Arguments that lie extremely near a multiple of pi/2. */
  double near[] = { 0x1.6ac5b262ca1ffp+849, 0x1.921fb54442d18p+0, 0x1.921fb54442d18p+1, 0x1.921fb54442d18p+19,
                    0x1.fffffffffffffp+1023, 0x1.921fb4p+0, 0x1.921fb6p+1, 0x1.4bc5f0f5c2a5bp+55, 0x1p+120 };
  for (size_t i = 0; i < sizeof near / sizeof *near; i++)
    for (judged function = OF_SIN; function <= OF_COS; function++) {
      judge_value(&by, function, near[i], 0.0);
      assert_true(judge_error_f64(&by, judged_functions[function].f64(near[i])) < 1.0);
    }
  judge_free(&by);
}

static void pow_knows_the_special_cases(void **state) {
  (void)state;
  float inf = tn_infinity_f32(), nan = tn_nan_f32(), odd = 16777215.0f, even = 16777216.0f;
  struct {
    float x, y, expected;
  } facts[] = {
    { nan, 0.0f, 1.0f },       { nan, -0.0f, 1.0f },      { inf, 0.0f, 1.0f },
    { 0.0f, 0.0f, 1.0f },      { -0.0f, -0.0f, 1.0f },    { 1.0f, nan, 1.0f },
    { 1.0f, inf, 1.0f },       { 1.0f, -inf, 1.0f },      { -1.0f, inf, 1.0f },
    { -1.0f, -inf, 1.0f },     { -1.0f, odd, -1.0f },     { -1.0f, even, 1.0f },
    { -1.0f, 0.5f, nan },      { -2.0f, 0.5f, nan },      { -2.0f, 3.0f, -8.0f },
    { -2.0f, -3.0f, -0.125f }, { -2.0f, 2.0f, 4.0f },     { 0.0f, 3.0f, 0.0f },
    { -0.0f, 3.0f, -0.0f },    { -0.0f, 2.0f, 0.0f },     { -0.0f, 0.5f, 0.0f },
    { 0.0f, -3.0f, inf },      { -0.0f, -3.0f, -inf },    { -0.0f, -2.0f, inf },
    { -0.0f, -0.5f, inf },     { 0.0f, inf, 0.0f },       { -0.0f, -inf, inf },
    { inf, 2.0f, inf },        { inf, -2.0f, 0.0f },      { -inf, 3.0f, -inf },
    { -inf, 2.0f, inf },       { -inf, -3.0f, -0.0f },    { -inf, 0.5f, inf },
    { -inf, -0.5f, 0.0f },     { -inf, -2.0f, 0.0f },     { 2.0f, inf, inf },
    { 2.0f, -inf, 0.0f },      { 0.5f, inf, 0.0f },       { 0.5f, -inf, inf },
    { -0.5f, inf, 0.0f },      { -2.0f, inf, inf },       { -2.0f, -inf, 0.0f },
    { inf, inf, inf },         { inf, -inf, 0.0f },       { -inf, inf, inf },
    { -inf, -inf, 0.0f },      { 2.0f, 10.0f, 1024.0f },  { 2.0f, -149.0f, 0x1p-149f },
    { 2.0f, 128.0f, inf },     { -2.0f, 129.0f, -inf },   { 4.0f, 0.5f, 2.0f },
    { 2.0f, 1e30f, inf },      { 0.5f, 3e38f, 0.0f },     { 3.0f, 3.0f, 27.0f },
    { nan, 1.0f, nan },        { 0x1p-148f, 0.5f, 0x1p-74f },
  };
  for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
    assert_f32(tn_pow_f32(facts[i].x, facts[i].y), facts[i].expected);
    if (facts[i].y == 128.0f || facts[i].y == 129.0f) continue;   /* f64 has room for these */
    double wide = tn_canonical_f64((double)facts[i].expected);
    assert_f64(tn_pow_f64((double)facts[i].x, (double)facts[i].y), wide);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(f32_functions_lie_within_one_ulp),
    cmocka_unit_test(f64_functions_lie_within_one_ulp),
    cmocka_unit_test(pow_is_within_one_ulp_in_f32),
    cmocka_unit_test(pow_is_within_one_ulp_in_f64),
    cmocka_unit_test(limits_and_zeros_are_exact),
    cmocka_unit_test(every_nan_becomes_the_canonical_one),
    cmocka_unit_test(exp_overflows_and_underflows_where_it_should),
    cmocka_unit_test(small_arguments_of_odd_functions_keep_their_bits),
    cmocka_unit_test(symmetries_are_exact),
    cmocka_unit_test(rising_functions_do_not_fall),
    cmocka_unit_test(large_angles_are_reduced_exactly),
    cmocka_unit_test(pow_knows_the_special_cases),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
