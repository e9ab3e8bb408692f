/* The next token: the likeliest, or drawn with the probabilities that its scores say. */
#include <math.h>
#include <string.h>

#include "base_support.h"
#include "train/sample.h"

static const bool all[8] = { true, true, true, true, true, true, true, true };

static size_t sample(double temperature, size_t top_k, const float *scores, const bool *allowed, size_t count,
                     tn_rng *rng) {
  float copy[8];
  tn_sampling sampling = { temperature, top_k };
  memcpy(copy, scores, count * sizeof *copy);
  return tn_sample(&sampling, copy, allowed, count, rng);
}

static void temperature_0_takes_the_largest_and_draws_nothing(void **state) {
  (void)state;
  const float scores[] = { -1, 3, 2, 3 };
  const bool no_first[] = { true, false, true, true };
  tn_rng rng;
  tn_rng_init(&rng, 1);
  assert_int_equal(sample(0, 0, scores, all, 4, &rng), 1);
  assert_int_equal(sample(0, 0, scores, no_first, 4, &rng), 3);
  assert_int_equal(rng.position, 0);
}

/* exp(score / temperature) / sum, as libm has it. */
static void frequencies_follow_the_softmax(void **state) {
  (void)state;
  const float scores[] = { 0, 1, 2, -3, 0.5f };
  const double temperatures[] = { 0.5, 1, 4 };
  enum { DRAWS = 40000 };
  for (size_t t = 0; t < 3; t++) {
    size_t found[5] = { 0 };
    double total = 0;
    tn_rng rng;
    tn_rng_init(&rng, 11 + t);
    for (int i = 0; i < DRAWS; i++) found[sample(temperatures[t], 0, scores, all, 5, &rng)]++;
    for (int i = 0; i < 5; i++) total += exp((double)scores[i] / temperatures[t]);
    for (int i = 0; i < 5; i++) {
      double p = exp((double)scores[i] / temperatures[t]) / total;
      assert_true(fabs((double)found[i] / DRAWS - p) < 5 * sqrt(p * (1 - p) / DRAWS) + 1e-4);
    }
  }
}

static void top_k_keeps_the_largest_and_the_first_of_equal_ones(void **state) {
  (void)state;
  const float scores[] = { 1, 2, 2, -5, 2, -0.0f, 0 };
  const bool expected[7][7] = {
    { false, true }, { false, true, true }, { false, true, true, false, true },
    { true, true, true, false, true }, { true, true, true, false, true, true },
    { true, true, true, false, true, true, true }, { true, true, true, true, true, true, true },
  };
  for (size_t k = 1; k <= 7; k++) {
    tn_rng rng;
    bool found[7] = { false };
    tn_rng_init(&rng, k);
    for (int i = 0; i < 2000; i++) found[sample(50, k, scores, all, 7, &rng)] = true;
    assert_memory_equal(found, expected[k - 1], sizeof found);
  }
}

static void excluded_tokens_are_never_sampled(void **state) {
  (void)state;
  const float scores[] = { 9, 0, NAN, 0 };
  const bool some[] = { false, true, false, true };
  tn_rng rng;
  tn_rng_init(&rng, 3);
  for (int i = 0; i < 200; i++) assert_true(sample(1, 3, scores, some, 4, &rng) % 2 == 1);
}

static void scores_that_are_not_finite_are_refused(void **state) {
  (void)state;
  const float bad[] = { 0, NAN, 1 }, much[] = { 0, INFINITY, 1 };
  const float none[] = { -INFINITY, -INFINITY, -INFINITY };
  const bool nothing[3] = { false };
  tn_rng rng;
  tn_rng_init(&rng, 3);
  assert_int_equal(sample(1, 0, bad, all, 3, &rng), SIZE_MAX);
  assert_int_equal(sample(0, 0, much, all, 3, &rng), SIZE_MAX);
  assert_int_equal(sample(0, 0, none, all, 3, &rng), SIZE_MAX);
  assert_int_equal(sample(1, 0, bad, nothing, 3, &rng), SIZE_MAX);
  assert_int_equal(sample(1, 0, bad, all, 0, &rng), SIZE_MAX);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(temperature_0_takes_the_largest_and_draws_nothing),
    cmocka_unit_test(frequencies_follow_the_softmax),
    cmocka_unit_test(top_k_keeps_the_largest_and_the_first_of_equal_ones),
    cmocka_unit_test(excluded_tokens_are_never_sampled),
    cmocka_unit_test(scores_that_are_not_finite_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
