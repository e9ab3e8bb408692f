/* Operations that move elements. */
#include "ref_support.h"

static void reshape_keeps_row_major_order(void **state) {
  (void)state;
  int32_t x[] = { 1, 2, 3, 4, 5, 6 }, out[6];
  tn_view transposed = { .data = x, .dtype = TN_I32, .rank = 2, .dim = { 3, 2 }, .stride = { 1, 3 } };
  tn_view o = VIEW(TN_I32, out, 6);
  RUN(TN_OP_RESHAPE, NULL, &o, transposed);
  ASSERT_BITS(out, 1, 4, 2, 5, 3, 6);
}

static void transpose_takes_axis_i_from_axes_i(void **state) {
  (void)state;
  uint16_t x[] = { 0, 1, 2, 10, 11, 12 }, out[6];
  tn_view o = VIEW(TN_BF16, out, 3, 1, 2);
  RUN(TN_OP_TRANSPOSE, (&(tn_attrs){ .axis_count = 3, .axes = { 2, 0, 1 } }), &o, VIEW(TN_BF16, x, 1, 2, 3));
  ASSERT_BITS(out, 0, 10, 1, 11, 2, 12);
}

static void broadcast_to_repeats(void **state) {
  (void)state;
  float x[] = { 1, 2 }, out[8];
  tn_view o = VIEW(TN_F32, out, 2, 2, 2);
  RUN(TN_OP_BROADCAST_TO, NULL, &o, VIEW(TN_F32, x, 2, 1));
  ASSERT_BITS(out, 1, 1, 2, 2, 1, 1, 2, 2);
}

static void slice_steps_along_every_axis(void **state) {
  (void)state;
  int64_t x[20], out[6];
  for (int i = 0; i < 20; i++) x[i] = i;
  tn_attrs attrs = { .low = { 1, 0 }, .high = { 3, 5 }, .step = { 1, 2 } };
  tn_view o = VIEW(TN_I64, out, 2, 3), empty = VIEW(TN_I64, NULL, 0, 5);
  RUN(TN_OP_SLICE, &attrs, &o, VIEW(TN_I64, x, 4, 5));
  ASSERT_BITS(out, 5, 7, 9, 10, 12, 14);
  tn_attrs none = { .low = { 4, 0 }, .high = { 4, 5 }, .step = { 1, 1 } };
  RUN(TN_OP_SLICE, &none, &empty, VIEW(TN_I64, x, 4, 5));
}

static void pad_puts_zeros_before_after_and_between(void **state) {
  (void)state;
  float x[] = { 1, 2, 3, 4 }, out[15], alone[3];
  tn_attrs attrs = { .low = { 1, 0 }, .high = { 0, 2 }, .step = { 0, 1 } };
  tn_view o = VIEW(TN_F32, out, 3, 5), a = VIEW(TN_F32, alone, 3);
  RUN(TN_OP_PAD, &attrs, &o, VIEW(TN_F32, x, 2, 2));
  ASSERT_BITS(out, 0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 3, 0, 4, 0, 0);
  RUN(TN_OP_PAD, (&(tn_attrs){ .low = { 2 }, .high = { 1 }, .step = { 4 } }), &a, VIEW(TN_F32, NULL, 0));
  ASSERT_BITS(alone, 0, 0, 0);
}

static void concat_joins_along_the_axis(void **state) {
  (void)state;
  uint8_t x[] = { 1, 0, 1, 1 }, y[] = { 0, 0 }, out[6];
  tn_view o = VIEW(TN_BOOL, out, 2, 3);
  RUN(TN_OP_CONCAT, &(tn_attrs){ .axis = 1 }, &o, VIEW(TN_BOOL, x, 2, 2), VIEW(TN_BOOL, NULL, 2, 0),
      VIEW(TN_BOOL, y, 2, 1));
  ASSERT_BITS(out, 1, 0, 0, 1, 1, 0);
}

static void gather_replaces_the_axis_by_those_of_the_index(void **state) {
  (void)state;
  float x[] = { 1, 2, 3, 4, 5, 6 }, out[8], one[2];
  int32_t index[] = { 2, 0, 0, 1 }, last = 2;
  tn_view o = VIEW(TN_F32, out, 2, 2, 2), v = VIEW(TN_F32, one, 2);
  RUN(TN_OP_GATHER, &(tn_attrs){ .axis = 1 }, &o, VIEW(TN_F32, x, 2, 3), VIEW(TN_I32, index, 2, 2));
  ASSERT_BITS(out, 3, 1, 1, 2, 6, 4, 4, 5);
  RUN(TN_OP_GATHER, &(tn_attrs){ .axis = 0 }, &v, VIEW(TN_F32, x, 3, 2), SCALAR(TN_I32, &last));
  ASSERT_BITS(one, 5, 6);
}

static void an_index_outside_is_found_before_anything_is_written(void **state) {
  (void)state;
  float x[] = { 1, 2, 3 }, out[] = { 9, 9 };
  int64_t index[] = { 2, 3 }, negative[] = { -1, 0 };
  tn_view in[] = { VIEW(TN_F32, x, 3), VIEW(TN_I64, index, 2) }, o = VIEW(TN_F32, out, 2);
  tn_fault fault = { 0 };
  assert_false(run(TN_OP_GATHER, &(tn_attrs){ .axis = 0 }, in, 2, &o, &fault));
  assert_int_equal(fault.kind, TN_FAULT_BOUNDS);
  assert_int_equal(fault.got, 3);
  assert_int_equal(fault.expected, 3);
  ASSERT_BITS(out, 9, 9);
  in[1] = VIEW(TN_I64, negative, 2);
  assert_false(run(TN_OP_GATHER, &(tn_attrs){ .axis = 0 }, in, 2, &o, &fault));
  assert_int_equal(fault.got, -1);
}

/* x: [1, 2, 2, 2] with a border of one before: windows of 2 by 2, two steps to the right. */
static void patches_lists_row_column_channel_with_zeros_outside(void **state) {
  (void)state;
  float x[] = { 1, 2, 3, 4, 5, 6, 7, 8 }, out[16];
  tn_attrs attrs = { .window = { 2, 2 }, .step = { 1, 2 }, .low = { 1, 1 }, .high = { 0, 1 } };
  tn_view o = VIEW(TN_F32, out, 1, 1, 2, 8);
  RUN(TN_OP_PATCHES, &attrs, &o, VIEW(TN_F32, x, 1, 2, 2, 2));
  ASSERT_BITS(out, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 3, 4, 0, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(reshape_keeps_row_major_order),
    cmocka_unit_test(transpose_takes_axis_i_from_axes_i),
    cmocka_unit_test(broadcast_to_repeats),
    cmocka_unit_test(slice_steps_along_every_axis),
    cmocka_unit_test(pad_puts_zeros_before_after_and_between),
    cmocka_unit_test(concat_joins_along_the_axis),
    cmocka_unit_test(gather_replaces_the_axis_by_those_of_the_index),
    cmocka_unit_test(an_index_outside_is_found_before_anything_is_written),
    cmocka_unit_test(patches_lists_row_column_channel_with_zeros_outside),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
