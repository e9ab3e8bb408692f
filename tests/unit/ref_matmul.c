/* matmul against chains of the compiler's own fma. */
#include "ref_support.h"

#include "base/rng.h"

enum { M = 7, K = 33, N = 5 };

static void each_element_is_a_chain_of_fma_with_k_ascending(void **state) {
  (void)state;
  float x[M][K], y[K][N], out[M][N];
  tn_rng rng;
  tn_rng_init(&rng, 4);
  for (int i = 0; i < M * K; i++) x[i / K][i % K] = tn_rng_normal(&rng);
  for (int i = 0; i < K * N; i++) y[i / N][i % N] = tn_rng_normal(&rng) * 1000;
  tn_view o = VIEW(TN_F32, out, M, N);
  RUN(TN_OP_MATMUL, NULL, &o, VIEW(TN_F32, x, M, K), VIEW(TN_F32, y, K, N));
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float acc = 0;
      for (int k = 0; k < K; k++) acc = __builtin_fmaf(x[i][k], y[k][j], acc);
      assert_memory_equal(&out[i][j], &acc, sizeof acc);
    }
}

static void f64_is_the_same_chain(void **state) {
  (void)state;
  double x[K], y[K], out, acc = 0;
  tn_rng rng;
  tn_rng_init(&rng, 5);
  for (int k = 0; k < K; k++) x[k] = tn_rng_normal(&rng) / 3, y[k] = tn_rng_normal(&rng) / 7;
  for (int k = 0; k < K; k++) acc = __builtin_fma(x[k], y[k], acc);
  tn_view o = VIEW(TN_F64, &out, 1, 1);
  RUN(TN_OP_MATMUL, NULL, &o, VIEW(TN_F64, x, 1, K), VIEW(TN_F64, y, K, 1));
  assert_memory_equal(&out, &acc, sizeof acc);
}

static void one_rounding_keeps_what_two_would_lose(void **state) {
  (void)state;
  float x[] = { 1, 0x1.000002p0f }, y[] = { -0x1.000004p0f, 0x1.000002p0f }, out;
  tn_view o = VIEW(TN_F32, &out, 1, 1);
  RUN(TN_OP_MATMUL, NULL, &o, VIEW(TN_F32, x, 1, 2), VIEW(TN_F32, y, 2, 1));
  ASSERT_BITS(&out, 0x1p-46f);
}

static void leading_axes_broadcast(void **state) {
  (void)state;
  int32_t x[] = { 1, 2, 3, 4 }, y[] = { 1, 0, 0, 1, 2, 0, 0, 2, 0, 1, 1, 0 }, out[12];
  tn_view o = VIEW(TN_I32, out, 3, 2, 2), pairs = VIEW(TN_I32, out, 2, 3, 1, 1);
  RUN(TN_OP_MATMUL, NULL, &o, VIEW(TN_I32, x, 2, 2), VIEW(TN_I32, y, 3, 2, 2));
  ASSERT_BITS(out, 1, 2, 3, 4, 2, 4, 6, 8, 2, 1, 4, 3);
  int32_t left[] = { 1, 2, 10, 20 }, right[] = { 1, 1, 1, 2, 0, 5 };
  RUN(TN_OP_MATMUL, NULL, &pairs, VIEW(TN_I32, left, 2, 1, 1, 2), VIEW(TN_I32, right, 3, 2, 1));
  ASSERT_BITS(out, 3, 5, 10, 30, 50, 100);
}

static void summing_over_nothing_gives_plus_zero(void **state) {
  (void)state;
  float out[] = { 1, 1 };
  tn_view o = VIEW(TN_F32, out, 2, 1);
  RUN(TN_OP_MATMUL, NULL, &o, VIEW(TN_F32, NULL, 2, 0), VIEW(TN_F32, NULL, 0, 1));
  ASSERT_BITS(out, 0, 0);
}

static void zeros_and_nan_follow_ieee(void **state) {
  (void)state;
  float x[] = { -0.0f, 0, INFINITY }, y[] = { 1, 1, 0 }, out[3];
  tn_view o = VIEW(TN_F32, out, 3, 1);
  for (int i = 0; i < 3; i++) {
    tn_view one = VIEW(TN_F32, out + i, 1, 1);
    RUN(TN_OP_MATMUL, NULL, &one, VIEW(TN_F32, x + i, 1, 1), VIEW(TN_F32, y + i, 1, 1));
  }
  assert_int_equal(o.rank, 2);
  ASSERT_BITS(out, 0.0f, 0.0f, NAN);   /* -0 * 1 + +0 is +0 */
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_element_is_a_chain_of_fma_with_k_ascending),
    cmocka_unit_test(f64_is_the_same_chain),
    cmocka_unit_test(one_rounding_keeps_what_two_would_lose),
    cmocka_unit_test(leading_axes_broadcast),
    cmocka_unit_test(summing_over_nothing_gives_plus_zero),
    cmocka_unit_test(zeros_and_nan_follow_ieee),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
