/* Attributes as users write them: what becomes of them, and that it stays. */
#include "op_support.h"

/* Normalises, checks that a second time changes nothing, and gives the result. */
static tn_attrs normal(tn_op op, const tn_attrs *given, const char *operands) {
  tn_type in[TYPES_LIMIT];
  int count = types_of(operands, in);
  tn_attrs once = *given;
  tn_fault fault = { 0 };
  assert_true(tn_op_normalise(op, in, count, &once, &fault));
  tn_attrs twice = once;
  assert_true(tn_op_normalise(op, in, count, &twice, &fault));
  assert_memory_equal(&twice, &once, sizeof once);
  return once;
}

static tn_fault refused(tn_op op, const tn_attrs *given, const char *operands) {
  tn_type in[TYPES_LIMIT];
  int count = types_of(operands, in);
  tn_attrs attrs = *given;
  tn_fault fault = { 0 };
  assert_false(tn_op_normalise(op, in, count, &attrs, &fault));
  assert_int_equal(fault.op, op);
  assert_false(tn_op_normalise(op, in, count, &attrs, NULL));
  return fault;
}

#define ASSERT_AXES(attrs, ...)                                                        \
  do {                                                                                 \
    const int32_t wanted[] = { __VA_ARGS__ };                                          \
    assert_int_equal((attrs).axis_count, COUNT_OF(wanted));                            \
    assert_memory_equal((attrs).axes, wanted, sizeof wanted);                          \
    for (size_t i = COUNT_OF(wanted); i < TN_RANK_LIMIT; i++) assert_int_equal((attrs).axes[i], 0); \
  } while (0)

static void negative_axes_count_from_the_end(void **state) {
  (void)state;
  assert_int_equal(normal(TN_OP_SOFTMAX, ATTRS(.axis = -1), "f32[2, 3]").axis, 1);
  assert_int_equal(normal(TN_OP_CONCAT, ATTRS(.axis = -2), "f32[2, 3]; f32[2, 3]").axis, 0);
  assert_int_equal(normal(TN_OP_GATHER, ATTRS(.axis = -1), "f32[2, 3]; i32[4, 5, 6]").axis, 1);
  assert_int_equal(normal(TN_OP_CUMSUM, ATTRS(.axis = 1), "f32[2, 3]").axis, 1);
  assert_int_equal(normal(TN_OP_IOTA, ATTRS(.axis = -1, .shape = shape_of("[2, 3]")), "").axis, 1);
  assert_int_equal(refused(TN_OP_ARGMAX, ATTRS(.axis = -3), "f32[2, 3]").axis, -3);
}

static void a_new_axis_may_be_the_last(void **state) {
  (void)state;
  assert_int_equal(normal(TN_OP_EXPAND_DIMS, ATTRS(.axis = -1), "f32[2, 3]").axis, 2);
  assert_int_equal(normal(TN_OP_EXPAND_DIMS, ATTRS(.axis = 2), "f32[2, 3]").axis, 2);
  assert_int_equal(normal(TN_OP_STACK, ATTRS(.axis = -3), "f32[2, 3]; f32[2, 3]").axis, 0);
  assert_int_equal(normal(TN_OP_EXPAND_DIMS, ATTRS(.axis = 0), "f32[]").axis, 0);
  assert_int_equal(refused(TN_OP_EXPAND_DIMS, ATTRS(.axis = 3), "f32[2, 3]").kind, TN_FAULT_AXIS);
  tn_fault fault = refused(TN_OP_STACK, ATTRS(.axis = 0), "f32[1, 1, 1, 1, 1, 1, 1, 1]");
  assert_int_equal(fault.kind, TN_FAULT_RANK_LIMIT);
  assert_int_equal(fault.got, 9);
}

static void axes_of_reductions_are_sorted(void **state) {
  (void)state;
  tn_attrs attrs = normal(TN_OP_SUM, ATTRS(.axis_count = 2, .axes = { -1, 0 }), "f32[2, 3, 4]");
  ASSERT_AXES(attrs, 0, 2);
  attrs = normal(TN_OP_SUM, ATTRS(.axis_count = -1, .axes = { 7, 7, 7 }), "f32[2, 3, 4]");
  ASSERT_AXES(attrs, 0, 1, 2);
  attrs = normal(TN_OP_SUM, ATTRS(.axis_count = 0, .axes = { 7 }), "f32[2]");
  assert_int_equal(attrs.axis_count, 0);
  assert_int_equal(attrs.axes[0], 0);
  attrs = normal(TN_OP_ELEMENTS, ATTRS(.axis_count = -1), "f32[B, 3]");
  ASSERT_AXES(attrs, 0, 1);
}

static void transpose_without_axes_reverses(void **state) {
  (void)state;
  ASSERT_AXES(normal(TN_OP_TRANSPOSE, ATTRS(.axis_count = 0), "f32[2, 3, 4]"), 2, 1, 0);
  ASSERT_AXES(normal(TN_OP_TRANSPOSE, ATTRS(.axis_count = -1), "f32[2, 3]"), 1, 0);
  tn_attrs attrs = normal(TN_OP_TRANSPOSE, ATTRS(.axis_count = 3, .axes = { -1, 0, -2 }), "f32[2, 3, 4]");
  ASSERT_AXES(attrs, 2, 0, 1);
}

static void squeeze_finds_ones(void **state) {
  (void)state;
  ASSERT_AXES(normal(TN_OP_SQUEEZE, ATTRS(.axis_count = -1), "f32[1, 2, 1, B]"), 0, 2);
  ASSERT_AXES(normal(TN_OP_SQUEEZE, ATTRS(.axis_count = 2, .axes = { -2, 0 }), "f32[1, 2, 1, B]"), 0, 2);
  ASSERT_AXES(normal(TN_OP_SQUEEZE, ATTRS(.axis_count = 1, .axes = { 0 }), "f32[?, 2]"), 0);
  tn_fault fault = refused(TN_OP_SQUEEZE, ATTRS(.axis_count = 1, .axes = { 1 }), "f32[1, 2]");
  assert_int_equal(fault.kind, TN_FAULT_SQUEEZE);
  assert_int_equal(fault.axis, 1);
  assert_int_equal(fault.got, 2);
  ASSERT_TYPE(fault.left, "f32[1, 2]");
  fault = refused(TN_OP_SQUEEZE, ATTRS(.axis_count = 1, .axes = { 0 }), "f32[B]");
  assert_int_equal(fault.kind, TN_FAULT_SQUEEZE);
  fault = refused(TN_OP_SQUEEZE, ATTRS(.axis_count = 2, .axes = { 0, -2 }), "f32[1, 1]");
  assert_int_equal(fault.kind, TN_FAULT_AXIS);
  assert_string_equal(fault.reason, "given twice");
  fault = refused(TN_OP_SQUEEZE, ATTRS(.axis_count = 1, .axes = { 4 }), "f32[1, 1]");
  assert_int_equal(fault.kind, TN_FAULT_AXIS);
}

static void slices_are_counted_from_the_front(void **state) {
  (void)state;
  tn_attrs given = { .low = { -3, 1, 9 }, .high = { -1, INT64_MAX, 9 }, .step = { 0, 2, 9 } };
  tn_attrs attrs = normal(TN_OP_SLICE, &given, "f32[5, 7]");
  assert_int_equal(attrs.low[0], 2);
  assert_int_equal(attrs.high[0], 4);
  assert_int_equal(attrs.step[0], 1);
  assert_int_equal(attrs.low[1], 1);
  assert_int_equal(attrs.high[1], 7);
  assert_int_equal(attrs.step[1], 2);
  assert_int_equal(attrs.low[2] | attrs.high[2] | attrs.step[2], 0);   /* beyond the rank nothing is left */
}

static void slices_of_named_axes_wait_for_their_length(void **state) {
  (void)state;
  tn_attrs given = { .low = { -3 }, .high = { INT64_MAX } };
  tn_attrs attrs = normal(TN_OP_SLICE, &given, "f32[B]");
  assert_int_equal(attrs.low[0], -3);
  assert_true(attrs.high[0] == INT64_MAX);
  attrs = normal(TN_OP_SLICE, &attrs, "f32[10]");   /* B is bound */
  assert_int_equal(attrs.low[0], 7);
  assert_int_equal(attrs.high[0], 10);
  tn_fault fault = refused(TN_OP_SLICE, &given, "f32[2]");
  assert_int_equal(fault.kind, TN_FAULT_BOUNDS);
  assert_int_equal(fault.got, -3);
  assert_int_equal(fault.expected, 2);
}

static void an_index_counts_from_the_front(void **state) {
  (void)state;
  assert_int_equal(normal(TN_OP_INDEX, ATTRS(.axis = -1, .index = 2), "f32[4, 3]").index, 2);
  assert_int_equal(normal(TN_OP_INDEX, ATTRS(.axis = 0, .index = (uint64_t)-1), "f32[4, 3]").index, 3);
  assert_true(normal(TN_OP_INDEX, ATTRS(.axis = 0, .index = (uint64_t)-1), "f32[B, 3]").index == UINT64_MAX);
  tn_fault fault = refused(TN_OP_INDEX, ATTRS(.axis = 0, .index = 4), "f32[4, 3]");
  assert_int_equal(fault.kind, TN_FAULT_BOUNDS);
  assert_int_equal(fault.got, 4);
  assert_int_equal(fault.expected, 4);
  assert_int_equal(fault.axis, 0);
  fault = refused(TN_OP_INDEX, ATTRS(.axis = 1, .index = (uint64_t)-4), "f32[4, 3]");
  assert_int_equal(fault.got, -4);
  assert_int_equal(fault.axis, 1);
  assert_int_equal(refused(TN_OP_INDEX, ATTRS(.axis = 0), "f32[0]").kind, TN_FAULT_BOUNDS);
  assert_int_equal(refused(TN_OP_INDEX, ATTRS(.axis = 0), "f32[]").kind, TN_FAULT_AXIS);
}

static void strides_of_windows_are_1_unless_given(void **state) {
  (void)state;
  tn_attrs attrs = normal(TN_OP_CONV2D, ATTRS(.step = { 0, 2 }), "f32[1, 4, 4, 1]; f32[2, 2, 1, 1]");
  assert_int_equal(attrs.step[0], 1);
  assert_int_equal(attrs.step[1], 2);
  attrs = normal(TN_OP_PATCHES, ATTRS(.window = { 2, 2 }), "f32[1, 4, 4, 1]");
  assert_int_equal(attrs.step[0] + attrs.step[1], 2);
}

static void there_is_one_group_unless_given(void **state) {
  (void)state;
  tn_attrs none = { 0 };
  assert_int_equal(normal(TN_OP_CONV2D, &none, "f32[1, 4, 4, 1]; f32[2, 2, 1, 1]").index, 1);
  assert_int_equal(normal(TN_OP_CONV2D, ATTRS(.index = 2), "f32[1, 4, 4, 2]; f32[2, 2, 1, 2]").index, 2);
}

static void a_reshape_waits_for_lengths_and_then_infers_them(void **state) {
  (void)state;
  tn_attrs given = { .shape = shape_of("[?, 2]") };
  tn_attrs attrs = normal(TN_OP_RESHAPE, &given, "f32[B, 3]");
  assert_int_equal(attrs.shape.dim[0], TN_DIM_UNKNOWN);
  attrs = normal(TN_OP_RESHAPE, &attrs, "f32[4, 3]");
  assert_int_equal(attrs.shape.dim[0], 6);
  assert_int_equal(refused(TN_OP_RESHAPE, &given, "f32[3, 3]").kind, TN_FAULT_INFER);
}

static void what_needs_nothing_is_left_alone(void **state) {
  (void)state;
  tn_attrs given = { .number = 0.5, .index = 3, .shape = shape_of("[2]") };
  tn_attrs attrs = normal(TN_OP_FILL, &given, "");
  assert_memory_equal(&attrs, &given, sizeof given);
  attrs = normal(TN_OP_ADD, &given, "f32[2]; f32[2]");
  assert_memory_equal(&attrs, &given, sizeof given);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(negative_axes_count_from_the_end),
    cmocka_unit_test(a_new_axis_may_be_the_last),
    cmocka_unit_test(axes_of_reductions_are_sorted),
    cmocka_unit_test(transpose_without_axes_reverses),
    cmocka_unit_test(squeeze_finds_ones),
    cmocka_unit_test(slices_are_counted_from_the_front),
    cmocka_unit_test(slices_of_named_axes_wait_for_their_length),
    cmocka_unit_test(an_index_counts_from_the_front),
    cmocka_unit_test(strides_of_windows_are_1_unless_given),
    cmocka_unit_test(there_is_one_group_unless_given),
    cmocka_unit_test(a_reshape_waits_for_lengths_and_then_infers_them),
    cmocka_unit_test(what_needs_nothing_is_left_alone),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
