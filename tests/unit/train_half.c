/* tests/unit/train_half.c: the search for a NaN or infinity in many tensors, which threads share. */
#include <math.h>

#include "train/half.h"

#include "base_support.h"

enum { TENSORS = 7 };

/* Fewer pieces than parts, more, half a piece, nothing; and a dtype that is searched as a whole. */
static const int64_t lengths[TENSORS] = { 16384, 450000, 0, 1, 16385, 5000, 40000 };
static tn_tensor tensors[TENSORS];

static void put(int tensor, int64_t at, double number) {
  const tn_view *view = &tensors[tensor].view;
  if (view->dtype == TN_F32)
    ((float *)view->data)[at] = (float)number;
  else
    ((double *)view->data)[at] = number;
}

static void every_place_is_searched(tn_pool *pool) {
  assert_int_equal(tn_first_not_finite(pool, tensors, TENSORS), TENSORS);
  for (int t = 0; t < TENSORS; t++)
    for (int64_t at = 0; at < lengths[t]; at += at % 16384 == 16383 ? 1 : 16383) {
      put(t, at, at % 2 ? HUGE_VAL : (double)NAN);
      assert_int_equal(tn_first_not_finite(pool, tensors, TENSORS), t);
      put(t, at, 1);
    }
}

static void the_first_tensor_is_found(tn_pool *pool) {
  for (int t = TENSORS - 1; t >= 0; t--) {
    if (lengths[t] == 0) continue;
    put(t, lengths[t] - 1, -HUGE_VAL);
    assert_int_equal(tn_first_not_finite(pool, tensors, TENSORS), t);
  }
  for (int t = 0; t < TENSORS; t++)
    if (lengths[t] > 0) put(t, lengths[t] - 1, 1);
}

static void test_search(void **state) {
  (void)state;
  static const int threads[] = { 1, 2, 5, 16 };
  tn_heap heap = { 0 };
  for (int t = 0; t < TENSORS; t++) {
    tn_shape shape = tn_shape_make(1, lengths[t]);
    assert_true(tn_tensor_zeros(&heap, t == 5 ? TN_F64 : TN_F32, &shape, &tensors[t]));
  }
  for (size_t i = 0; i < COUNT_OF(threads); i++) {
    tn_pool *pool = tn_pool_new(&heap, threads[i]);
    every_place_is_searched(pool);
    the_first_tensor_is_found(pool);
    tn_pool_free(pool);
  }
  for (int t = 0; t < TENSORS; t++) tn_tensor_unref(&tensors[t]);
  assert_int_equal(heap.used, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = { cmocka_unit_test(test_search) };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
