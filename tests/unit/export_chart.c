/* The numbers beside an axis: round, exact, few; and the places of values between its ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "track/chart/chart_axis.h"

static tn_heap heap;

/* The labels of an axis around two values, with blanks between them. */
static void labels(double low, double high, bool logarithmic, const char *wanted) {
  tn_axis axis = tn_axis_around(low, high, logarithmic);
  tn_tick ticks[TN_AXIS_TICKS];
  tn_text text;
  tn_text_init(&text, &heap);
  size_t count = tn_axis_ticks(&axis, 6, ticks);
  for (size_t i = 0; i < count; i++) {
    if (i > 0) tn_text_byte(&text, ' ');
    tn_tick_text(&ticks[i], &text);
    double place = tn_axis_place(&axis, ticks[i].value);
    assert_true(place >= 0 && place <= 1);
  }
  assert_string_equal(text.at, wanted);
  tn_text_free(&text);
}

static void steps(double low, double high, const char *wanted) {
  tn_axis axis = tn_axis_of_steps(low, high);
  tn_tick ticks[TN_AXIS_TICKS];
  tn_text text;
  tn_text_init(&text, &heap);
  size_t count = tn_axis_step_ticks(&axis, 9, ticks);
  for (size_t i = 0; i < count; i++) {
    if (i > 0) tn_text_byte(&text, ' ');
    tn_tick_step_text(&ticks[i], ticks[count - 1].value, &text);
  }
  assert_string_equal(text.at, wanted);
  tn_text_free(&text);
}

static void linear_labels_are_round_and_exact(void **state) {
  (void)state;
  labels(0, 1, false, "0 0.2 0.4 0.6 0.8 1.0");
  labels(0.1, 0.7, false, "0 0.2 0.4 0.6");
  labels(2, 3, false, "2.0 2.2 2.4 2.6 2.8 3.0");
  labels(-1, 1, false, "-1.0 -0.5 0 0.5 1.0");
  labels(1000, 250000, false, "0 50000 100000 150000 200000 250000");
  labels(0, 3e7, false, "0 1e7 2e7 3e7");
  labels(0, 3e-9, false, "0 1e-9 2e-9 3e-9");
  labels(0.99995, 0.99999, false, "0.99995 0.99996 0.99997 0.99998 0.99999");
}

static void one_value_has_an_axis_around_it(void **state) {
  (void)state;
  labels(0.5, 0.5, false, "0.46 0.48 0.50 0.52 0.54");
  labels(0, 0, false, "0 0.2 0.4 0.6 0.8 1.0");
  labels(-2, -2, false, "-2.2 -2.1 -2.0 -1.9 -1.8");
  labels(3, 3, true, "2 3 4 5 6");
}

static void logarithmic_labels_are_powers_and_steps_between(void **state) {
  (void)state;
  labels(0.02, 2, true, "0.02 0.05 0.1 0.2 0.5 1 2");
  labels(1e-6, 1, true, "1e-6 0.00001 0.0001 0.001 0.01 0.1 1");
  labels(1e-30, 1e30, true, "1e-30 1e-20 1e-10 1 1e10 1e20 1e30");
  labels(1, 1.1, true, "1.00 1.02 1.04 1.06 1.08 1.10");
}

static void extreme_inputs_end_too(void **state) {
  (void)state;
  tn_tick ticks[TN_AXIS_TICKS];
  tn_axis axes[] = { tn_axis_around(-1e38, 1e38, false), tn_axis_around(1, 1.0000000000000002, false),
                     tn_axis_around(1e-45, 1e38, true), tn_axis_around(0, 1e-300, false) };
  for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
    assert_true(axes[i].low < axes[i].high);
    assert_true(tn_axis_ticks(&axes[i], 6, ticks) <= TN_AXIS_TICKS);
  }
}

static void steps_are_whole_numbers(void **state) {
  (void)state;
  steps(0, 2, "0 1 2");
  steps(7, 7, "7");
  steps(0, 399, "0 50 100 150 200 250 300 350");
  steps(0, 99999, "0 20k 40k 60k 80k");
  steps(0, 1000000, "0 0.2M 0.4M 0.6M 0.8M 1.0M");
  steps(0, 5e9, "0 1000M 2000M 3000M 4000M 5000M");
}

static void places_lie_between_the_ends(void **state) {
  (void)state;
  tn_axis linear = { 1, 3, false }, logarithmic = { 1, 100, true };
  assert_true(tn_axis_place(&linear, 2) == 0.5);
  assert_true(tn_axis_place(&logarithmic, 10) == 0.5);
  assert_true(tn_axis_place(&logarithmic, 1) == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = { cmocka_unit_test(linear_labels_are_round_and_exact),
                                      cmocka_unit_test(one_value_has_an_axis_around_it),
                                      cmocka_unit_test(logarithmic_labels_are_powers_and_steps_between),
                                      cmocka_unit_test(extreme_inputs_end_too),
                                      cmocka_unit_test(steps_are_whole_numbers),
                                      cmocka_unit_test(places_lie_between_the_ends) };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
