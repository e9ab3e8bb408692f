/* scatter_add, row_update and fold: the order of additions shows in the bits. */
#include "ref_support.h"

/* 2^24 + 1 is 2^24 in f32: a 1 added to it is lost, two 1s added first are not. */
#define BIG 16777216.0f

static void scatter_add_goes_in_the_order_of_the_index(void **state) {
  (void)state;
  float x[] = { 0, 0 }, out[2];
  float first[] = { 1, 1, BIG }, last[] = { BIG, 1, 1 };
  int32_t index[] = { 1, 1, 1 };
  tn_view o = VIEW(TN_F32, out, 2);
  RUN(TN_OP_SCATTER_ADD, NULL, &o, VIEW(TN_F32, x, 2), VIEW(TN_I32, index, 3), VIEW(TN_F32, first, 3));
  ASSERT_BITS(out, 0, BIG + 2);
  RUN(TN_OP_SCATTER_ADD, NULL, &o, VIEW(TN_F32, x, 2), VIEW(TN_I32, index, 3), VIEW(TN_F32, last, 3));
  ASSERT_BITS(out, 0, BIG);
}

static void scatter_add_starts_from_its_first_operand(void **state) {
  (void)state;
  int64_t x[] = { 1, 2, 3, 4, 5, 6 }, y[] = { 10, 20, 30, 40 }, out[6];
  int64_t index[] = { 2, 0 };
  tn_view o = VIEW(TN_I64, out, 2, 3);
  RUN(TN_OP_SCATTER_ADD, &(tn_attrs){ .axis = 1 }, &o, VIEW(TN_I64, x, 2, 3), VIEW(TN_I64, index, 2),
      VIEW(TN_I64, y, 2, 2));
  ASSERT_BITS(out, 21, 2, 13, 44, 5, 36);
  tn_view in_place = VIEW(TN_I64, x, 2, 3);
  RUN(TN_OP_SCATTER_ADD, &(tn_attrs){ .axis = 1 }, &in_place, in_place, VIEW(TN_I64, index, 2),
      VIEW(TN_I64, y, 2, 2));
  assert_memory_equal(x, out, sizeof x);
}

static void an_index_outside_leaves_the_operand_alone(void **state) {
  (void)state;
  float x[] = { 1, 2 }, y[] = { 1, 1 }, scale = 1;
  int32_t index[] = { 0, 2 };
  tn_view in[] = { VIEW(TN_F32, x, 2), VIEW(TN_I32, index, 2), VIEW(TN_F32, y, 2), SCALAR(TN_F32, &scale) };
  tn_fault fault = { 0 };
  assert_false(run(TN_OP_SCATTER_ADD, NULL, in, 3, &in[0], &fault));
  assert_int_equal(fault.kind, TN_FAULT_BOUNDS);
  assert_int_equal(fault.got, 2);
  assert_int_equal(fault.expected, 2);
  fault = (tn_fault){ 0 };
  assert_false(run(TN_OP_ROW_UPDATE, NULL, in, 4, &in[0], &fault));
  assert_int_equal(fault.kind, TN_FAULT_BOUNDS);
  ASSERT_BITS(x, 1, 2);
}

static void row_update_sums_a_row_before_it_scales_and_subtracts(void **state) {
  (void)state;
  float x[] = { 1, 2, BIG, -0.0f, 5, 6 }, y[] = { 1, 10, 1, 20, 2, 30 }, scale = 0.5f, out[6];
  int32_t index[] = { 1, 1, 0 };
  tn_view in[] = { VIEW(TN_F32, x, 3, 2), VIEW(TN_I32, index, 3), VIEW(TN_F32, y, 3, 2),
                   SCALAR(TN_F32, &scale) };
  tn_view o = VIEW(TN_F32, out, 3, 2);
  RUN(TN_OP_ROW_UPDATE, NULL, &o, in[0], in[1], in[2], in[3]);
  ASSERT_BITS(out, 0, -13, BIG - 1, -15, 5, 6);
  RUN(TN_OP_ROW_UPDATE, NULL, &in[0], in[0], in[1], in[2], in[3]);
  assert_memory_equal(x, out, sizeof x);
}

static void row_update_does_not_touch_rows_that_are_not_named(void **state) {
  (void)state;
  float x[] = { 1, 2, 3 }, y[] = { 1 }, scale = INFINITY;
  int64_t index[] = { 1 };
  tn_view o = VIEW(TN_F32, x, 3);
  RUN(TN_OP_ROW_UPDATE, NULL, &o, o, VIEW(TN_I64, index, 1), VIEW(TN_F32, y, 1), SCALAR(TN_F32, &scale));
  ASSERT_BITS(x, 1, -INFINITY, 3);
}

/* Three windows of length 2 on a line of 4: each inner place is in two of them. */
static void fold_adds_windows_and_drops_what_is_outside(void **state) {
  (void)state;
  float x[] = { 1, 2, 10, 20, 100, 200 }, out[4], inner[2];
  tn_view xv = VIEW(TN_F32, x, 1, 1, 3, 2), o = VIEW(TN_F32, out, 1, 1, 4, 1);
  tn_view i = VIEW(TN_F32, inner, 1, 1, 2, 1);
  tn_attrs wide = { .window = { 1, 2 }, .step = { 1, 1 } }, narrow = wide;
  RUN(TN_OP_FOLD, &wide, &o, xv);
  ASSERT_BITS(out, 1, 12, 120, 200);
  narrow.low[1] = narrow.high[1] = 1;
  RUN(TN_OP_FOLD, &narrow, &i, xv);
  ASSERT_BITS(inner, 12, 120);
}

/* Windows of length 3 at 0, 1, 2 meet in place 2: the first window's element is added first. */
static void fold_takes_windows_in_ascending_order(void **state) {
  (void)state;
  float rising[] = { 0, 0, 1, 0, 1, 0, BIG, 0, 0 }, falling[] = { 0, 0, BIG, 0, 1, 0, 1, 0, 0 }, out[5];
  tn_view o = VIEW(TN_F32, out, 1, 1, 5, 1);
  tn_attrs attrs = { .window = { 1, 3 }, .step = { 1, 1 } };
  RUN(TN_OP_FOLD, &attrs, &o, VIEW(TN_F32, rising, 1, 1, 3, 3));
  assert_true(out[2] == BIG + 2);
  RUN(TN_OP_FOLD, &attrs, &o, VIEW(TN_F32, falling, 1, 1, 3, 3));
  assert_true(out[2] == BIG);
}

/* <patches(x), y> = <x, fold(y)>, in integers so that it holds exactly. */
static void fold_is_the_transpose_of_patches(void **state) {
  (void)state;
  int64_t x[2 * 5 * 6 * 3], y[2 * 3 * 3 * 12], patches[COUNT_OF(y)], folded[COUNT_OF(x)], left = 0, right = 0;
  for (size_t i = 0; i < COUNT_OF(x); i++) x[i] = (int64_t)(i * 37 % 101) - 50;
  for (size_t i = 0; i < COUNT_OF(y); i++) y[i] = (int64_t)(i * 53 % 97) - 48;
  tn_attrs attrs = { .window = { 2, 2 }, .step = { 2, 3 }, .low = { 1, 0 }, .high = { 0, 2 } };
  tn_view xv = VIEW(TN_I64, x, 2, 5, 6, 3), yv = VIEW(TN_I64, y, 2, 3, 3, 12);
  tn_view pv = VIEW(TN_I64, patches, 2, 3, 3, 12), fv = VIEW(TN_I64, folded, 2, 5, 6, 3);
  RUN(TN_OP_PATCHES, &attrs, &pv, xv);
  RUN(TN_OP_FOLD, &attrs, &fv, yv);
  for (size_t i = 0; i < COUNT_OF(y); i++) left += patches[i] * y[i];
  for (size_t i = 0; i < COUNT_OF(x); i++) right += x[i] * folded[i];
  assert_true(left == right && left != 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(scatter_add_goes_in_the_order_of_the_index),
    cmocka_unit_test(scatter_add_starts_from_its_first_operand),
    cmocka_unit_test(an_index_outside_leaves_the_operand_alone),
    cmocka_unit_test(row_update_sums_a_row_before_it_scales_and_subtracts),
    cmocka_unit_test(row_update_does_not_touch_rows_that_are_not_named),
    cmocka_unit_test(fold_adds_windows_and_drops_what_is_outside),
    cmocka_unit_test(fold_takes_windows_in_ascending_order),
    cmocka_unit_test(fold_is_the_transpose_of_patches),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
