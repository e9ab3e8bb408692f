/* fill, iota, uniform and normal, element by element. */
#include "ref_support.h"

#include "base/rng.h"

static void fill_rounds_once_to_the_dtype(void **state) {
  (void)state;
  float f[3];
  int32_t i[2];
  uint8_t b[2];
  tn_view fv = VIEW(TN_F32, f, 3), iv = VIEW(TN_I32, i, 2), bv = VIEW(TN_BOOL, b, 2);
  tn_fault fault;
  assert_true(run(TN_OP_FILL, &(tn_attrs){ .number = 0.1 }, NULL, 0, &fv, &fault));
  ASSERT_BITS(f, 0.1f, 0.1f, 0.1f);
  assert_true(run(TN_OP_FILL, &(tn_attrs){ .number = 1e12 }, NULL, 0, &iv, &fault));
  ASSERT_BITS(i, INT32_MAX, INT32_MAX);
  assert_true(run(TN_OP_FILL, &(tn_attrs){ .number = 2 }, NULL, 0, &bv, &fault));
  ASSERT_BITS(b, 1, 1);
}

static void iota_counts_along_its_axis(void **state) {
  (void)state;
  int64_t x[6];
  float y[6];
  tn_view xv = VIEW(TN_I64, x, 2, 3), yv = VIEW(TN_F32, y, 2, 3);
  tn_fault fault;
  assert_true(run(TN_OP_IOTA, &(tn_attrs){ .axis = 1 }, NULL, 0, &xv, &fault));
  ASSERT_BITS(x, 0, 1, 2, 0, 1, 2);
  assert_true(run(TN_OP_IOTA, &(tn_attrs){ .axis = 0 }, NULL, 0, &yv, &fault));
  ASSERT_BITS(y, 0, 0, 0, 1, 1, 1);
}

/* The first words of seed 42, which RNG tests hold as well, shifted and scaled by hand. */
static void uniform_uses_the_words_from_index_on(void **state) {
  (void)state;
  float x[3], later[2];
  int64_t seed = 42;
  tn_view xv = VIEW(TN_F32, x, 3), lv = VIEW(TN_F32, later, 2);
  RUN(TN_OP_UNIFORM, NULL, &xv, SCALAR(TN_I64, &seed));
  ASSERT_BITS(x, 0x395d5b * 0x1p-24f, 0xae90bf * 0x1p-24f, 0x257991 * 0x1p-24f);
  RUN(TN_OP_UNIFORM, &(tn_attrs){ .index = 1 }, &lv, SCALAR(TN_I64, &seed));
  assert_memory_equal(later, x + 1, sizeof later);
}

static void normal_takes_two_words_for_each_element(void **state) {
  (void)state;
  float x[4], later[2];
  int64_t seed = -7;
  tn_rng rng;
  tn_rng_init(&rng, (uint64_t)seed);
  tn_view xv = VIEW(TN_F32, x, 2, 2), lv = VIEW(TN_F32, later, 2);
  RUN(TN_OP_NORMAL, NULL, &xv, SCALAR(TN_I64, &seed));
  for (int i = 0; i < 4; i++) {
    double first = (double)(tn_rng_next(&rng) >> 8) * 0x1p-24;
    double second = (double)(tn_rng_next(&rng) >> 8) * 0x1p-24;
    double expected = sqrt(-2 * log(first)) * cos(6.283185307179586 * second);
    assert_true(fabs(x[i] - expected) < 1e-6);
  }
  RUN(TN_OP_NORMAL, &(tn_attrs){ .index = 4 }, &lv, SCALAR(TN_I64, &seed));
  assert_memory_equal(later, x + 2, sizeof later);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(fill_rounds_once_to_the_dtype),
    cmocka_unit_test(iota_counts_along_its_axis),
    cmocka_unit_test(uniform_uses_the_words_from_index_on),
    cmocka_unit_test(normal_takes_two_words_for_each_element),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
