/* tests/unit/quick_functions.c: where a quick function (base/elementary_quick.c) says that its result is
 * right, it has the bits of the function; and it says so for nearly all usual arguments.
 *
 * Floats are tried in blocks; TERN_TEST_EFFORT=full tries all. For pow, of which pairs can only be sampled,
 * what the proof of its margin says is looked at too: how far the doubles are apart before they are rounded,
 * with every error that the guessed reciprocal may have. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static double guess_error;
#define GUESSED_RECIPROCAL(d) (1.0 / (d) * (1.0 + guess_error))
#define tn_quick_log_f32 quick_log
#define tn_quick_erf_f32 quick_erf
#define tn_quick_sin_f32 quick_sin
#define tn_quick_cos_f32 quick_cos
#define tn_quick_pow_f32 quick_pow
#include "base/elementary_quick.c"

static bool is_full(void) {
  const char *effort = getenv("TERN_TEST_EFFORT");
  return effort && strcmp(effort, "full") == 0;
}

/* ---- of one argument ---- */
typedef struct {
  const char *name;
  bool (*quick)(float x, float *result);
  float (*function)(float x);
  float least, most;     /* |x| for which it must be known, but for one in a thousand */
} function;
static const function functions[] = { { "log", quick_log, tn_log_f32, 0x1p-126f, 0x1p127f },
                                      { "erf", quick_erf, tn_erf_f32, 0, 0x1p127f },
                                      { "sin", quick_sin, tn_sin_f32, 0, 100 },
                                      { "cos", quick_cos, tn_cos_f32, 0, 100 } };

typedef struct {
  long usual, known;
} tally;

static void check(const function *f, float x, tally *seen) {
  float got, expected;
  bool known = f->quick(x, &got), usual = vf_abs(x) >= f->least && vf_abs(x) <= f->most;
  seen->usual += usual;
  seen->known += usual && known;
  if (!known) return;
  expected = f->function(x);
  if (tn_bits_f32(expected) != tn_bits_f32(got))
    fail_msg("%s of %a is %a, not %a", f->name, (double)x, (double)expected, (double)got);
}

enum { BLOCK = 4096, SPARSE = 307 };

static void it_has_the_bits_of_the_function(void **state) {
  const function *f = *state;
  tally seen = { 0 };
  uint64_t step = is_full() ? BLOCK : (uint64_t)BLOCK * SPARSE;
  for (uint64_t first = 0; first < (uint64_t)1 << 32; first += step)
    for (uint32_t i = 0; i < BLOCK; i++) check(f, tn_float_of_bits((uint32_t)first + i), &seen);
  for (uint32_t exponent = 0; exponent < 512; exponent++)   /* where one range ends and the next begins */
    for (int32_t i = -2; i <= 2; i++) check(f, tn_float_of_bits((exponent << 23) + (uint32_t)i), &seen);
  assert_true(seen.usual > 1000 && seen.usual - seen.known <= seen.usual / 1000);
}

/* Multiples of pi / 2, near which the reduced argument cancels. */
static void sines_near_their_zeros(void **state) {
  (void)state;
  tally seen = { 0 };
  for (int n = 0; n < 50000; n++) {
    float zero = (float)(n * 0x1.921fb54442d18p+0);
    for (int32_t i = -3; i <= 3 && n > 0; i++) {
      float x = tn_float_of_bits(tn_bits_f32(zero) + (uint32_t)i);
      check(&functions[2], x, &seen), check(&functions[3], -x, &seen);
    }
  }
}

/* ---- pow ---- */
static uint64_t state_of_draws = 1;
static uint32_t draw(void) {
  state_of_draws = state_of_draws * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state_of_draws >> 32);
}

/* Of a size from 2^-range to 2^range. */
static float draw_float(int range) {
  uint32_t exponent = 127 - (uint32_t)range + draw() % (uint32_t)(2 * range);
  return tn_float_of_bits(exponent << 23 | (draw() & 0x807fffffu));
}

static bool check_pow(float x, float y) {
  float got;
  if (!quick_pow(x, y, &got)) return false;
  float expected = tn_pow_f32(x, y);
  if (tn_bits_f32(expected) != tn_bits_f32(got))
    fail_msg("%a to the power %a is %a, not %a", (double)x, (double)y, (double)expected, (double)got);
  return true;
}

static void powers_have_the_bits_of_pow(void **state) {
  (void)state;
  long pairs = is_full() ? 400000000 : 4000000, known = 0;
  guess_error = 0;
  for (long i = 0; i < pairs; i++) {
    float x = draw_float(i % 3 ? 4 : 120), y = draw_float(i % 2 ? 3 : 12);
    if (i % 4 == 0) y = rintf(y);
    known += check_pow(x, y);
  }
  assert_true(known > pairs / 2);
}

static void special_powers_are_left_to_pow_or_right(void **state) {
  (void)state;
  static const float special[] = {
    0, -0.0f, 1, -1, 2, -2, 3, -3, 0.5f, -0.5f, 1.5f, 4, 127, -127, 0x1p22f, 0x1p22f + 1, 0x1p23f + 1,
    -0x1p23f - 1, 0x1p24f, 0x1p127f, -0x1p127f, 0x1p-126f, 0x1p-127f, 0x1p-149f, -0x1p-149f,
    0x1.fffffep127f, 0x1.fffffep-1f, 0x1.000002p0f, INFINITY, -INFINITY, NAN,
    0x1.6a09e6p-1f, 0x1.6a09e8p-1f, 0x1.6a09e4p-1f,
  };
  enum { COUNT = sizeof special / sizeof special[0] };
  for (int i = 0; i < COUNT; i++)
    for (int k = 0; k < COUNT; k++) check_pow(special[i], special[k]);
}

/* Of pairs like those of most programs at most one in a thousand is left to pow. */
static void usual_powers_are_known(void **state) {
  (void)state;
  long known = 0, pairs = 100000;
  for (long i = 0; i < pairs; i++) {
    float got;
    known += quick_pow(draw_float(3), i % 2 ? draw_float(3) : (float)(int)(draw() % 9), &got);
  }
  assert_true(pairs - known < pairs / 1000);
}

/* In units of the last place of a double, of the result with an exponent of 0. */
static void the_doubles_are_near_each_other(void **state) {
  (void)state;
  double most = 0;
  for (long i = 0; i < (is_full() ? 100000000 : 1000000); i++) {
    static const double errors[] = { 0, 0x1p-18, -0x1p-18, 0x1p-24 };
    guess_error = errors[i % 4];
    float x = vf_abs(draw_float(i % 3 ? 2 : 120)), y = draw_float(7);
    double value;
    uint32_t n;
    if (!power_of_size(x, (double)y, &value, &n)) continue;
    double apart = fabs(value - ldexp(pow_positive((double)x, (double)y), -(int32_t)n)) * 0x1p53;
    most = apart > most ? apart : most;
  }
  guess_error = 0;
  assert_true(most > 1);   /* they differ */
  assert_true(most * 4 < MARGIN);
}

int main(void) {
  enum { ONE = sizeof functions / sizeof functions[0] };
  struct CMUnitTest tests[ONE + 5] = {
    [ONE] = cmocka_unit_test(sines_near_their_zeros),
    cmocka_unit_test(powers_have_the_bits_of_pow),
    cmocka_unit_test(special_powers_are_left_to_pow_or_right),
    cmocka_unit_test(usual_powers_are_known),
    cmocka_unit_test(the_doubles_are_near_each_other),
  };
  for (int f = 0; f < ONE; f++)
    tests[f] = (struct CMUnitTest){ .name = functions[f].name, .test_func = it_has_the_bits_of_the_function,
                                    .initial_state = (void *)(uintptr_t)&functions[f] };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
