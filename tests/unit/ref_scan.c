/* Along one axis: running sums and products, softmax, cross entropy. */
#include "ref_support.h"

#include "base/elementary.h"
#include "base/rng.h"

static void cumsum_adds_one_by_one(void **state) {
  (void)state;
  float x[] = { 16777216, 1, 1, -16777216 }, out[4];
  tn_view xv = VIEW(TN_F32, x, 4), o = VIEW(TN_F32, out, 4);
  RUN(TN_OP_CUMSUM, NULL, &o, xv);
  ASSERT_BITS(out, 16777216, 16777216, 16777216, 0);
  RUN(TN_OP_CUMSUM, &(tn_attrs){ .reverse = true }, &o, xv);
  ASSERT_BITS(out, 2, -16777214, -16777215, -16777216);
}

static void exclusive_gives_the_value_before_adding(void **state) {
  (void)state;
  int32_t x[] = { 1, 2, 3, 4, 5, 6 }, out[6];
  tn_view xv = VIEW(TN_I32, x, 2, 3), o = VIEW(TN_I32, out, 2, 3);
  RUN(TN_OP_CUMSUM, (&(tn_attrs){ .axis = 1, .exclusive = true }), &o, xv);
  ASSERT_BITS(out, 0, 1, 3, 0, 4, 9);
  RUN(TN_OP_CUMPROD, (&(tn_attrs){ .axis = 1, .exclusive = true, .reverse = true }), &o, xv);
  ASSERT_BITS(out, 6, 3, 1, 30, 6, 1);
  RUN(TN_OP_CUMPROD, (&(tn_attrs){ .axis = 0 }), &o, xv);
  ASSERT_BITS(out, 1, 2, 3, 4, 10, 18);
}

static void a_running_sum_starts_at_plus_zero(void **state) {
  (void)state;
  float x[] = { -0.0f, -0.0f }, out[2];
  tn_view o = VIEW(TN_F32, out, 2);
  RUN(TN_OP_CUMSUM, NULL, &o, VIEW(TN_F32, x, 2));
  ASSERT_BITS(out, 0.0f, 0.0f);
}

/* Up to 16 classes a sum has one element in each lane, so its tree can be written out. */
static float sum_of_lanes(const float *x, int n) {
  float lane[16];
  for (int l = 0; l < 16; l++) lane[l] = l < n ? x[l] : -0.0f;
  for (int k = 8; k; k /= 2)
    for (int l = 0; l < k; l++) lane[l] += lane[l + k];
  return lane[0];
}

static void softmax_divides_exponentials_by_their_sum(void **state) {
  (void)state;
  float x[3][10], out[3][10], logs[3][10];
  tn_rng rng;
  tn_rng_init(&rng, 3);
  for (int i = 0; i < 30; i++) x[i / 10][i % 10] = tn_rng_normal(&rng) * 5;
  tn_view xv = VIEW(TN_F32, x, 3, 10), o = VIEW(TN_F32, out, 3, 10), l = VIEW(TN_F32, logs, 3, 10);
  RUN(TN_OP_SOFTMAX, &(tn_attrs){ .axis = 1 }, &o, xv);
  RUN(TN_OP_LOG_SOFTMAX, &(tn_attrs){ .axis = 1 }, &l, xv);
  for (int r = 0; r < 3; r++) {
    float max = x[r][0], e[10];
    for (int i = 1; i < 10; i++) max = x[r][i] > max ? x[r][i] : max;
    for (int i = 0; i < 10; i++) e[i] = tn_exp_f32(x[r][i] - max);
    float sum = sum_of_lanes(e, 10), log_sum = tn_log_f32(sum);
    for (int i = 0; i < 10; i++) {
      float p = e[i] / sum, log_p = (x[r][i] - max) - log_sum;
      assert_memory_equal(&out[r][i], &p, sizeof p);
      assert_memory_equal(&logs[r][i], &log_p, sizeof log_p);
    }
  }
}

static void softmax_of_infinities_is_what_the_definition_gives(void **state) {
  (void)state;
  float x[] = { 0, -INFINITY, INFINITY, 1, -INFINITY, -INFINITY }, out[6];
  tn_view o = VIEW(TN_F32, out, 3, 2);
  RUN(TN_OP_SOFTMAX, &(tn_attrs){ .axis = 1 }, &o, VIEW(TN_F32, x, 3, 2));
  ASSERT_BITS(out, 1, 0, NAN, NAN, NAN, NAN);   /* inf - inf */
  tn_view none = VIEW(TN_F32, NULL, 2, 0);
  RUN(TN_OP_SOFTMAX, &(tn_attrs){ .axis = 1 }, &none, none);
}

static void softmax_works_along_any_axis(void **state) {
  (void)state;
  double x[] = { 1, 5, 1, 5, 1, 5 }, out[6];
  tn_view o = VIEW(TN_F64, out, 3, 2);
  RUN(TN_OP_SOFTMAX, &(tn_attrs){ .axis = 0 }, &o, VIEW(TN_F64, x, 3, 2));
  for (int i = 0; i < 6; i++) assert_true(out[i] == 1.0 / 3.0);
}

static void cross_entropy_is_the_mean_of_minus_log_softmax(void **state) {
  (void)state;
  float x[] = { 1, 2, 3, 0, 0, 0, -5, 5, 5 }, logs[9], loss, row[3];
  int32_t labels[] = { 0, 2, 1 };
  tn_view xv = VIEW(TN_F32, x, 3, 3), l = VIEW(TN_F32, logs, 3, 3), o = SCALAR(TN_F32, &loss);
  RUN(TN_OP_LOG_SOFTMAX, &(tn_attrs){ .axis = 1 }, &l, xv);
  for (int r = 0; r < 3; r++) row[r] = -logs[r * 3 + labels[r]];
  float expected = sum_of_lanes(row, 3) / 3.0f;
  RUN(TN_OP_CROSS_ENTROPY, NULL, &o, xv, VIEW(TN_I32, labels, 3));
  assert_memory_equal(&loss, &expected, sizeof loss);
}

static void cross_entropy_of_no_rows_is_nan(void **state) {
  (void)state;
  float loss;
  tn_view o = SCALAR(TN_F32, &loss);
  RUN(TN_OP_CROSS_ENTROPY, NULL, &o, VIEW(TN_F32, NULL, 0, 3), VIEW(TN_I64, NULL, 0));
  ASSERT_BITS(&loss, NAN);
  RUN(TN_OP_CROSS_ENTROPY, NULL, &o, VIEW(TN_F32, NULL, 0, 0), VIEW(TN_I64, NULL, 0));
  ASSERT_BITS(&loss, NAN);
}

static void a_label_outside_the_classes_is_a_fault(void **state) {
  (void)state;
  float x[4] = { 0 }, loss = 7;
  int64_t labels[] = { 1, 2 };
  tn_view in[] = { VIEW(TN_F32, x, 2, 2), VIEW(TN_I64, labels, 2) }, o = SCALAR(TN_F32, &loss);
  tn_fault fault = { 0 };
  assert_false(run(TN_OP_CROSS_ENTROPY, NULL, in, 2, &o, &fault));
  assert_int_equal(fault.kind, TN_FAULT_BOUNDS);
  assert_int_equal(fault.got, 2);
  assert_int_equal(fault.expected, 2);
  ASSERT_BITS(&loss, 7);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(cumsum_adds_one_by_one),
    cmocka_unit_test(exclusive_gives_the_value_before_adding),
    cmocka_unit_test(a_running_sum_starts_at_plus_zero),
    cmocka_unit_test(softmax_divides_exponentials_by_their_sum),
    cmocka_unit_test(softmax_of_infinities_is_what_the_definition_gives),
    cmocka_unit_test(softmax_works_along_any_axis),
    cmocka_unit_test(cross_entropy_is_the_mean_of_minus_log_softmax),
    cmocka_unit_test(cross_entropy_of_no_rows_is_nan),
    cmocka_unit_test(a_label_outside_the_classes_is_a_fault),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
