/* Reductions. The order of sums is held against a second statement of it: levels of an array, as
 * docs/numerics.md tells it, where the kernel recurs. */
#include "ref_support.h"

#include "base/rng.h"

/* The sum of x[0], x[step], ... by the document, written out. */
static float sum_by_levels(const float *x, int64_t step, int64_t n) {
  if (n == 0) return 0.0f;
  static float level[1 << 12];
  int64_t chunks = 0;
  for (int64_t first = 0; first < n; first += 512) {
    float lane[16];
    for (int l = 0; l < 16; l++) lane[l] = -0.0f;
    for (int l = 0; l < 16; l++)
      for (int64_t i = first + l; i < first + 512 && i < n; i += 16) lane[l] = lane[l] + x[i * step];
    float eight[8], four[4];
    for (int l = 0; l < 8; l++) eight[l] = lane[l] + lane[l + 8];
    for (int l = 0; l < 4; l++) four[l] = eight[l] + eight[l + 4];
    level[chunks++] = (four[0] + four[2]) + (four[1] + four[3]);
  }
  while (chunks > 1) {
    int64_t next = 0;
    for (int64_t i = 0; i < chunks; i += 2)
      level[next++] = i + 1 < chunks ? level[i] + level[i + 1] : level[i];
    chunks = next;
  }
  return level[0];
}

static const tn_attrs all_of_one_axis = { .axis_count = 1, .axes = { 0 } };

static void sums_follow_the_documented_order(void **state) {
  (void)state;
  enum { LARGEST = 512 * 67 + 5 };
  static float x[2 * LARGEST];
  tn_rng rng;
  tn_rng_init(&rng, 1);
  for (size_t i = 0; i < COUNT_OF(x); i++)
    x[i] = (tn_rng_uniform(&rng) - 0.5f) * (float)(1u << tn_rng_below(&rng, 20));
  const int64_t lengths[] = { 0, 1, 2, 7, 15, 16, 17, 31, 33, 511, 512, 513, 1024, 1025, 1536, 2047,
                              2560, 2561, 3585, 512 * 13 + 1, 512 * 32, 512 * 33 + 16, LARGEST };
  for (size_t k = 0; k < COUNT_OF(lengths); k++)
    for (int64_t step = 1; step <= 2; step++) {
      float got, expected = sum_by_levels(x, step, lengths[k]);
      tn_view o = SCALAR(TN_F32, &got), xv = VIEW(TN_F32, x, lengths[k]);
      xv.stride[0] = step;
      RUN(TN_OP_SUM, &all_of_one_axis, &o, xv);
      assert_memory_equal(&got, &expected, sizeof got);
    }
}

static void the_layout_of_reduced_axes_does_not_matter(void **state) {
  (void)state;
  static float x[5 * 3 * 700], moved[5 * 3 * 700];
  tn_rng rng;
  tn_rng_init(&rng, 2);
  for (size_t i = 0; i < COUNT_OF(x); i++) x[i] = tn_rng_uniform(&rng);
  tn_view whole = VIEW(TN_F32, x, 5, 3, 700);
  tn_view turned = tn_view_permute(&whole, (int[]){ 1, 0, 2 });   /* [3, 5, 700], strided */
  tn_view copy = VIEW(TN_F32, moved, 3, 5, 700);
  tn_view_copy(&copy, &turned);
  float sums[3];
  tn_view o = VIEW(TN_F32, sums, 3);
  RUN(TN_OP_SUM, (&(tn_attrs){ .axis_count = 2, .axes = { 1, 2 } }), &o, turned);
  for (int i = 0; i < 3; i++) {
    float expected = sum_by_levels(moved + i * 3500, 1, 3500);
    assert_memory_equal(&sums[i], &expected, sizeof expected);
  }
}

static void zeros_keep_their_sign_in_a_sum(void **state) {
  (void)state;
  float minus[] = { -0.0f, -0.0f, -0.0f }, mixed[] = { -0.0f, 0.0f }, got;
  tn_view o = SCALAR(TN_F32, &got);
  RUN(TN_OP_SUM, &all_of_one_axis, &o, VIEW(TN_F32, minus, 3));
  ASSERT_BITS(&got, -0.0f);
  RUN(TN_OP_SUM, &all_of_one_axis, &o, VIEW(TN_F32, mixed, 2));
  ASSERT_BITS(&got, 0.0f);
  RUN(TN_OP_SUM, &all_of_one_axis, &o, VIEW(TN_F32, NULL, 0));
  ASSERT_BITS(&got, 0.0f);
}

static void axes_that_stay_are_the_result(void **state) {
  (void)state;
  int32_t x[24], sums[4], column[4];
  for (int i = 0; i < 24; i++) x[i] = i;
  tn_view xv = VIEW(TN_I32, x, 2, 4, 3), o = VIEW(TN_I32, sums, 4), kept = VIEW(TN_I32, column, 1, 4, 1);
  RUN(TN_OP_SUM, (&(tn_attrs){ .axis_count = 2, .axes = { 0, 2 } }), &o, xv);
  ASSERT_BITS(sums, 42, 60, 78, 96);
  RUN(TN_OP_SUM, (&(tn_attrs){ .axis_count = 2, .axes = { 0, 2 }, .keepdims = true }), &kept, xv);
  assert_memory_equal(column, sums, sizeof sums);
  int32_t same[24];
  tn_view s = VIEW(TN_I32, same, 2, 4, 3);
  RUN(TN_OP_SUM, (&(tn_attrs){ .axis_count = 0 }), &s, xv);
  assert_memory_equal(same, x, sizeof x);
}

static void integers_wrap_in_sums_and_products(void **state) {
  (void)state;
  int32_t x[] = { INT32_MAX, 1, 1 }, y[] = { 65536, 65536, 3 }, got;
  tn_view o = SCALAR(TN_I32, &got);
  RUN(TN_OP_SUM, &all_of_one_axis, &o, VIEW(TN_I32, x, 3));
  assert_int_equal(got, INT32_MIN + 1);
  RUN(TN_OP_PROD, &all_of_one_axis, &o, VIEW(TN_I32, y, 3));
  assert_int_equal(got, 0);
}

static void mean_divides_once(void **state) {
  (void)state;
  float x[] = { 1, 2, 4 }, got[2];
  tn_view o = SCALAR(TN_F32, got), two = VIEW(TN_F32, got, 2);
  RUN(TN_OP_MEAN, &all_of_one_axis, &o, VIEW(TN_F32, x, 3));
  ASSERT_BITS(got, 7.0f / 3.0f);
  RUN(TN_OP_MEAN, &all_of_one_axis, &two, VIEW(TN_F32, NULL, 0, 2));
  ASSERT_BITS(got, NAN, NAN);
}

/* 17 elements: lane 0 has two of them, and the lanes are joined pairwise from afar. */
static void a_product_has_the_order_of_a_sum(void **state) {
  (void)state;
  float x[17], got, lane[16];
  for (int i = 0; i < 17; i++) x[i] = 1.0f + (float)i * 0x1p-20f;
  for (int i = 0; i < 16; i++) lane[i] = x[i];
  lane[0] = x[0] * x[16];
  for (int k = 8; k; k /= 2)
    for (int i = 0; i < k; i++) lane[i] *= lane[i + k];
  tn_view o = SCALAR(TN_F32, &got);
  RUN(TN_OP_PROD, &all_of_one_axis, &o, VIEW(TN_F32, x, 17));
  assert_memory_equal(&got, &lane[0], sizeof got);
  RUN(TN_OP_PROD, &all_of_one_axis, &o, VIEW(TN_F32, NULL, 0));
  ASSERT_BITS(&got, 1.0f);
}

static void max_and_min_let_nan_win_and_order_the_zeros(void **state) {
  (void)state;
  float x[] = { 3, NAN, 7, -0.0f, 0.0f, -0.0f, -1, -8, -2 }, got[3];
  tn_attrs rows = { .axis_count = 1, .axes = { 1 } };
  tn_view o = VIEW(TN_F32, got, 3), xv = VIEW(TN_F32, x, 3, 3);
  RUN(TN_OP_MAX, &rows, &o, xv);
  ASSERT_BITS(got, NAN, 0.0f, -1);
  RUN(TN_OP_MIN, &rows, &o, xv);
  ASSERT_BITS(got, NAN, -0.0f, -8);
}

static void an_empty_maximum_is_an_error(void **state) {
  (void)state;
  float out[] = { 5, 5 };
  int32_t place[] = { 5, 5 };
  tn_fault fault = { 0 };
  tn_view x = VIEW(TN_F32, NULL, 2, 0), o = VIEW(TN_F32, out, 2), p = VIEW(TN_I32, place, 2);
  tn_attrs rows = { .axis_count = 1, .axes = { 1 } }, axis = { .axis = 1 };
  assert_false(run(TN_OP_MAX, &rows, &x, 1, &o, &fault));
  assert_int_equal(fault.kind, TN_FAULT_ARGUMENT);
  assert_false(run(TN_OP_MIN, &rows, &x, 1, &o, &fault));
  assert_false(run(TN_OP_ARGMAX, &axis, &x, 1, &p, &fault));
  ASSERT_BITS(out, 5, 5);
  /* Where no result is asked for, none is missing. */
  tn_view none = VIEW(TN_F32, NULL, 0);
  RUN(TN_OP_MAX, &rows, &none, VIEW(TN_F32, NULL, 0, 2));
}

static void count_multiplies_the_lengths_of_its_axes(void **state) {
  (void)state;
  float got;
  tn_view o = SCALAR(TN_F32, &got);
  RUN(TN_OP_ELEMENTS, (&(tn_attrs){ .axis_count = 2, .axes = { 0, 2 } }), &o, VIEW(TN_BOOL, NULL, 4, 0, 5));
  ASSERT_BITS(&got, 20.0f);
}

static void argmax_takes_the_lowest_of_equals_and_the_first_nan(void **state) {
  (void)state;
  float x[] = { 1, 3, 3, 2, NAN, 9, -0.0f, 0.0f, -1, 4, NAN, NAN };
  int32_t got[4], column[3];
  tn_view o = VIEW(TN_I32, got, 4), c = VIEW(TN_I32, column, 1, 3), xv = VIEW(TN_F32, x, 4, 3);
  RUN(TN_OP_ARGMAX, &(tn_attrs){ .axis = 1 }, &o, xv);
  ASSERT_BITS(got, 1, 1, 0, 1);
  RUN(TN_OP_ARGMAX, (&(tn_attrs){ .axis = 0, .keepdims = true }), &c, xv);
  ASSERT_BITS(column, 3, 1, 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(sums_follow_the_documented_order),
    cmocka_unit_test(the_layout_of_reduced_axes_does_not_matter),
    cmocka_unit_test(zeros_keep_their_sign_in_a_sum),
    cmocka_unit_test(axes_that_stay_are_the_result),
    cmocka_unit_test(integers_wrap_in_sums_and_products),
    cmocka_unit_test(mean_divides_once),
    cmocka_unit_test(a_product_has_the_order_of_a_sum),
    cmocka_unit_test(max_and_min_let_nan_win_and_order_the_zeros),
    cmocka_unit_test(an_empty_maximum_is_an_error),
    cmocka_unit_test(count_multiplies_the_lengths_of_its_axes),
    cmocka_unit_test(argmax_takes_the_lowest_of_equals_and_the_first_nan),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
