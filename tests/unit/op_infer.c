/* Result types: for every rule the plain case, lengths that are names or unknown, and each fault
 * with what it carries. */
#include "op_support.h"

static tn_attrs attrs_shape(const char *shape) { return (tn_attrs){ .shape = shape_of(shape) }; }
#define SHAPE(text) ATTRS(.shape = shape_of(text))

/* ---- what holds for all ---- */

static void every_operation_has_rules_or_an_expansion(void **state) {
  (void)state;
  for (int op = 1; op < TN_OP_COUNT; op++) {
    const tn_op_sig *sig = tn_op_sig_of((tn_op)op);
    tn_fault fault = { 0 };
    tn_type out;
    tn_attrs attrs = { 0 };
    if (sig->kind != TN_KIND_COMPOSED) continue;
    assert_false(tn_op_infer(&(tn_op_args){ (tn_op)op, NULL, 0, &attrs, &fault }, &out));
    assert_int_equal(fault.kind, TN_FAULT_INTERNAL);
  }
}

static void a_wrong_number_of_operands_is_counted(void **state) {
  (void)state;
  tn_fault fault = fails(TN_OP_ADD, NULL, "f32[2]");
  assert_int_equal(fault.kind, TN_FAULT_ARITY);
  assert_int_equal(fault.expected, 2);
  assert_int_equal(fault.got, 1);
  fault = fails(TN_OP_NEG, NULL, "f32[2]; f32[2]");
  assert_int_equal(fault.expected, 1);
  assert_int_equal(fault.got, 2);
  fault = fails(TN_OP_CONCAT, NULL, "");
  assert_int_equal(fault.kind, TN_FAULT_ARITY);
  assert_int_equal(fault.expected, 1);
  tn_fault linear = { 0 };
  tn_attrs attrs = { 0 };
  tn_type in[4] = { { .dtype = TN_F32 } };
  assert_false(tn_op_normalise(TN_OP_LINEAR, in, 1, &attrs, &linear));
  assert_int_equal(linear.expected, 2);
  assert_true(tn_op_normalise(TN_OP_LINEAR, in, 2, &attrs, &linear));
  assert_true(tn_op_normalise(TN_OP_LINEAR, in, 3, &attrs, &linear));
  assert_false(tn_op_normalise(TN_OP_LINEAR, in, 4, &attrs, &linear));
  assert_int_equal(linear.expected, 3);
}

static void a_fault_may_go_unread(void **state) {
  (void)state;
  tn_type in[2], out;
  tn_attrs attrs = { 0 };
  int count = types_of("f32[2]; f32[3]", in);
  assert_false(tn_op_infer(&(tn_op_args){ TN_OP_ADD, in, count, &attrs, NULL }, &out));
}

static void first_operands_have_the_dtypes_of_the_table(void **state) {
  (void)state;
  for (int op = 1; op < TN_OP_COUNT; op++) {
    const tn_op_sig *sig = tn_op_sig_of((tn_op)op);
    if (sig->arity != 1 || sig->kind == TN_KIND_COMPOSED) continue;
    for (int dtype = 0; dtype < TN_DTYPE_COUNT; dtype++) {
      tn_type in = { (tn_dtype)dtype, shape_of("[1, 1, 1, 1]") }, out;
      bool scalar = sig->kind == TN_KIND_GENERATE || sig->kind == TN_KIND_BRANCH || sig->kind == TN_KIND_PICK;
      if (scalar) in.shape = TN_SCALAR_SHAPE;
      tn_attrs attrs = { .shape = shape_of("[1, 1, 1, 1]"), .window = { 1, 1 }, .high = { 1, 1, 1, 1 },
                         .axis_count = 0 };
      if (op == TN_OP_PAD || op == TN_OP_PATCHES || op == TN_OP_FOLD) attrs.high[0] = attrs.high[1] = 0;
      tn_fault fault = { 0 };
      assert_true(tn_op_normalise((tn_op)op, &in, 1, &attrs, &fault));
      bool done = tn_op_infer(&(tn_op_args){ (tn_op)op, &in, 1, &attrs, &fault }, &out);
      assert_int_equal(done, tn_dtype_in((tn_dtype)dtype, sig->dtypes));
      if (done) continue;
      assert_int_equal(fault.kind, TN_FAULT_DTYPE);
      assert_int_equal(fault.left.dtype, dtype);
      assert_non_null(fault.reason);
    }
  }
}

static void a_result_has_fewer_elements_than_the_limit(void **state) {
  (void)state;
  GIVES(TN_OP_ADD, NULL, "f32[1048575, 1]; f32[1, 1048576]", "f32[1048575, 1048576]");
  FAILS(TN_FAULT_TOO_LARGE, TN_OP_ADD, NULL, "f32[1048576, 1]; f32[1, 1048576]");   /* 2^40 */
  tn_fault fault = fails(TN_OP_ADD, NULL, "f32[1048577, 1]; f32[1, 1048576]");
  assert_int_equal(fault.kind, TN_FAULT_TOO_LARGE);
  ASSERT_TYPE(fault.left, "f32[1048577, 1048576]");
  FAILS(TN_FAULT_TOO_LARGE, TN_OP_ADD, NULL, "f32[1048577, 1, B]; f32[1, 1048576, 1]");
  FAILS(TN_FAULT_TOO_LARGE, TN_OP_ADD, NULL, "f32[1048577, 1, 0]; f32[1, 1048576, 1]");
  FAILS(TN_FAULT_TOO_LARGE, TN_OP_MATMUL, NULL, "f32[1048577, 1]; f32[1, 1048576]");
  FAILS(TN_FAULT_TOO_LARGE, TN_OP_CONCAT, NULL, "f32[1099511627776]; f32[1]");
  FAILS(TN_FAULT_TOO_LARGE, TN_OP_BROADCAST_TO, SHAPE("[1048577, 1048576]"), "f32[1]");
  FAILS(TN_FAULT_TOO_LARGE, TN_OP_FILL, SHAPE("[9223372036854775807, 9223372036854775807]"), "");
  FAILS(TN_FAULT_TOO_LARGE, TN_OP_INPUT, SHAPE("[1099511627777]"), "");
  FAILS(TN_FAULT_TOO_LARGE, TN_OP_UNIFORM, SHAPE("[1099511627777]"), "i64[]");
  FAILS(TN_FAULT_TOO_LARGE, TN_OP_GATHER, NULL, "f32[1, 1048577]; i32[1048576]");
  FAILS(TN_FAULT_TOO_LARGE, TN_OP_RESHAPE, SHAPE("[9223372036854775807, 2]"), "f32[2]");
  FAILS(TN_FAULT_TOO_LARGE, TN_OP_RESHAPE, SHAPE("[9223372036854775807, 2, ?]"), "f32[2]");
}

/* ---- sources ---- */

static void sources_have_the_type_they_are_given(void **state) {
  (void)state;
  tn_attrs attrs = { .dtype = TN_I64, .shape = shape_of("[2, B]") };
  static const tn_op given[] = { TN_OP_INPUT, TN_OP_PARAM, TN_OP_FILL, TN_OP_HOST };
  for (size_t i = 0; i < COUNT_OF(given); i++) GIVES(given[i], &attrs, "", "i64[2, B]");
  attrs.axis = 1;
  GIVES(TN_OP_IOTA, &attrs, "", "i64[2, B]");
  GIVES(TN_OP_PICK, &attrs, "bool[]", "i64[2, B]");
  GIVES(TN_OP_FUSED, &attrs, "f32[3]; f32[]", "i64[2, B]");
}

static void iota_has_an_axis_and_is_a_number(void **state) {
  (void)state;
  tn_fault fault = fails(TN_OP_IOTA, ATTRS(.shape = shape_of("[2]"), .axis = 1), "");
  assert_int_equal(fault.kind, TN_FAULT_AXIS);
  assert_int_equal(fault.axis, 1);
  ASSERT_TYPE(fault.left, "f32[2]");
  FAILS(TN_FAULT_AXIS, TN_OP_IOTA, NULL, "");
  fault = fails(TN_OP_IOTA, ATTRS(.dtype = TN_BOOL, .shape = shape_of("[2]")), "");
  assert_int_equal(fault.kind, TN_FAULT_DTYPE);
  assert_int_equal(fault.left.dtype, TN_BOOL);
}

static void a_constant_has_the_type_of_its_literal(void **state) {
  (void)state;
  tn_tensor literal;
  tn_shape shape = shape_of("[2, 3]");
  assert_true(tn_tensor_zeros(&heap, TN_I32, &shape, &literal));
  GIVES(TN_OP_CONST, ATTRS(.literal = &literal), "", "i32[2, 3]");
  FAILS(TN_FAULT_INTERNAL, TN_OP_CONST, NULL, "");
  tn_tensor_unref(&literal);
}

static void random_numbers_take_a_scalar_key_and_are_f32(void **state) {
  (void)state;
  tn_attrs attrs = attrs_shape("[B, 4]");
  GIVES(TN_OP_UNIFORM, &attrs, "i64[]", "f32[B, 4]");
  GIVES(TN_OP_NORMAL, &attrs, "i64[]", "f32[B, 4]");
  tn_fault fault = fails(TN_OP_NORMAL, &attrs, "i64[1]");
  assert_int_equal(fault.kind, TN_FAULT_RANK);
  assert_int_equal(fault.expected, 0);
  assert_int_equal(fault.got, 1);
  fault = fails(TN_OP_UNIFORM, &attrs, "i32[]");
  assert_int_equal(fault.kind, TN_FAULT_DTYPE);
  assert_string_equal(fault.reason, "i64");
}

/* ---- elementwise ---- */

static void unary_operations_keep_the_type(void **state) {
  (void)state;
  GIVES(TN_OP_EXP, NULL, "f64[B, 0, ?]", "f64[B, 0, ?]");
  GIVES(TN_OP_NEG, NULL, "i32[]", "i32[]");
  GIVES(TN_OP_NOT, NULL, "bool[3]", "bool[3]");
  GIVES(TN_OP_CAST, ATTRS(.dtype = TN_BF16), "bool[3]", "bf16[3]");
  FAILS(TN_FAULT_INTERNAL, TN_OP_CAST, ATTRS(.dtype = TN_DTYPE_COUNT), "f32[]");
}

static void operands_broadcast_from_the_right(void **state) {
  (void)state;
  GIVES(TN_OP_ADD, NULL, "f32[2, 3]; f32[3]", "f32[2, 3]");
  GIVES(TN_OP_ADD, NULL, "f32[]; f32[2, 3]", "f32[2, 3]");
  GIVES(TN_OP_MUL, NULL, "i32[4, 1, 3]; i32[2, 1]", "i32[4, 2, 3]");
  GIVES(TN_OP_SUB, NULL, "f32[0]; f32[1]", "f32[0]");
  GIVES(TN_OP_ADD, NULL, "f32[B, 3]; f32[B, 1]", "f32[B, 3]");
  GIVES(TN_OP_ADD, NULL, "f32[1, T]; f32[B, 1]", "f32[B, T]");
  GIVES(TN_OP_ADD, NULL, "f32[?]; f32[4]", "f32[4]");
  GIVES(TN_OP_ADD, NULL, "f32[0]; f32[?]", "f32[0]");
  GIVES(TN_OP_ADD, NULL, "f32[?]; f32[1]", "f32[?]");
  GIVES(TN_OP_ADD, NULL, "f32[?]; f32[?]", "f32[?]");
  GIVES(TN_OP_ADD, NULL, "f32[?]; f32[B]", "f32[?]");   /* B may be 1 */
  GIVES(TN_OP_LT, NULL, "f32[2]; f32[]", "bool[2]");
  GIVES(TN_OP_AND, NULL, "bool[2, 1]; bool[2]", "bool[2, 2]");
}

static void broadcast_reports_the_axis_that_differs(void **state) {
  (void)state;
  tn_fault fault = fails(TN_OP_ADD, NULL, "f32[2, 3]; f32[2, 4]");
  assert_int_equal(fault.kind, TN_FAULT_BROADCAST);
  assert_int_equal(fault.dimension, 1);
  ASSERT_TYPE(fault.left, "f32[2, 3]");
  ASSERT_TYPE(fault.right, "f32[2, 4]");
  fault = fails(TN_OP_ADD, NULL, "f32[3]; f32[5, 4, 2]");
  assert_int_equal(fault.dimension, 2);
  fault = fails(TN_OP_ADD, NULL, "f32[2, 3]; f32[4, 5]");
  assert_int_equal(fault.dimension, 0);
  FAILS(TN_FAULT_BROADCAST, TN_OP_ADD, NULL, "f32[B]; f32[T]");
  FAILS(TN_FAULT_BROADCAST, TN_OP_ADD, NULL, "f32[B]; f32[2]");
  FAILS(TN_FAULT_BROADCAST, TN_OP_ADD, NULL, "f32[0]; f32[2]");
}

static void combined_operands_have_one_dtype(void **state) {
  (void)state;
  tn_fault fault = fails(TN_OP_ADD, NULL, "f32[2]; f64[2]");
  assert_int_equal(fault.kind, TN_FAULT_DTYPE);
  assert_int_equal(fault.operand, 1);
  assert_int_equal(fault.left.dtype, TN_F32);
  assert_int_equal(fault.right.dtype, TN_F64);
  assert_null(fault.reason);
  FAILS(TN_FAULT_DTYPE, TN_OP_EQ, NULL, "i32[]; i64[]");
  assert_string_equal(fails(TN_OP_EQ, NULL, "bf16[]; bf16[]").reason, "numbers or bool");
  FAILS(TN_FAULT_DTYPE, TN_OP_MATMUL, NULL, "f32[2, 2]; f64[2, 2]");
  fault = fails(TN_OP_CONCAT, NULL, "f32[2]; f32[2]; i32[2]");
  assert_int_equal(fault.kind, TN_FAULT_DTYPE);
  assert_int_equal(fault.operand, 2);
}

static void select_broadcasts_three_and_names_two(void **state) {
  (void)state;
  GIVES(TN_OP_SELECT, NULL, "bool[2, 1]; i64[3]; i64[]", "i64[2, 3]");
  GIVES(TN_OP_SELECT, NULL, "bool[B]; bf16[B]; bf16[1]", "bf16[B]");
  tn_fault fault = fails(TN_OP_SELECT, NULL, "bool[2, 1]; f32[3]; f32[4]");
  assert_int_equal(fault.kind, TN_FAULT_BROADCAST);
  assert_int_equal(fault.operand, 2);
  ASSERT_TYPE(fault.left, "f32[3]");
  ASSERT_TYPE(fault.right, "f32[4]");
  assert_int_equal(fault.dimension, 0);
  fault = fails(TN_OP_SELECT, NULL, "bool[5, 1]; f32[3]; f32[2, 3]");
  ASSERT_TYPE(fault.left, "bool[5, 1]");
  FAILS(TN_FAULT_DTYPE, TN_OP_SELECT, NULL, "bool[]; f32[]; i32[]");
  FAILS(TN_FAULT_DTYPE, TN_OP_SELECT, NULL, "f32[]; f32[]; f32[]");
}

/* ---- arranging ---- */

static void reshape_keeps_the_number_of_elements(void **state) {
  (void)state;
  GIVES(TN_OP_RESHAPE, SHAPE("[3, 2]"), "f32[2, 3]", "f32[3, 2]");
  GIVES(TN_OP_RESHAPE, SHAPE("[]"), "f32[1, 1]", "f32[]");
  GIVES(TN_OP_RESHAPE, SHAPE("[0, 7]"), "f32[3, 0]", "f32[0, 7]");
  GIVES(TN_OP_RESHAPE, SHAPE("[3, T, B]"), "f32[B, 3, T]", "f32[3, T, B]");
  GIVES(TN_OP_RESHAPE, SHAPE("[B, 2, B, 3]"), "f32[6, B, B]", "f32[B, 2, B, 3]");
  GIVES(TN_OP_RESHAPE, SHAPE("[7]"), "f32[?, 3]", "f32[7]");
  GIVES(TN_OP_RESHAPE, SHAPE("[0, B]"), "f32[T, 0]", "f32[0, B]");
  tn_fault fault = fails(TN_OP_RESHAPE, SHAPE("[4]"), "f32[2, 3]");
  assert_int_equal(fault.kind, TN_FAULT_COUNT);
  assert_int_equal(fault.expected, 6);
  assert_int_equal(fault.got, 4);
  ASSERT_TYPE(fault.left, "f32[2, 3]");
  ASSERT_TYPE(fault.right, "f32[4]");
  FAILS(TN_FAULT_COUNT, TN_OP_RESHAPE, SHAPE("[B]"), "f32[6]");
  FAILS(TN_FAULT_COUNT, TN_OP_RESHAPE, SHAPE("[6]"), "f32[B]");
  FAILS(TN_FAULT_COUNT, TN_OP_RESHAPE, SHAPE("[B, B]"), "f32[B, T]");
  FAILS(TN_FAULT_COUNT, TN_OP_RESHAPE, SHAPE("[B, 4]"), "f32[B, 2]");
  FAILS(TN_FAULT_COUNT, TN_OP_RESHAPE, SHAPE("[0]"), "f32[1]");
  FAILS(TN_FAULT_COUNT, TN_OP_RESHAPE, SHAPE("[1]"), "f32[0]");
}

static void reshape_infers_one_length(void **state) {
  (void)state;
  GIVES(TN_OP_RESHAPE, SHAPE("[?]"), "f32[2, 3]", "f32[6]");
  GIVES(TN_OP_RESHAPE, SHAPE("[3, ?, 1]"), "f32[2, 3]", "f32[3, 2, 1]");
  GIVES(TN_OP_RESHAPE, SHAPE("[?]"), "f32[]", "f32[1]");
  GIVES(TN_OP_RESHAPE, SHAPE("[3, ?]"), "f32[0, 2]", "f32[3, 0]");
  GIVES(TN_OP_RESHAPE, SHAPE("[?, 6]"), "f32[B, 2, 3]", "f32[B, 6]");
  GIVES(TN_OP_RESHAPE, SHAPE("[B, ?]"), "f32[B, 2, 3]", "f32[B, 6]");
  GIVES(TN_OP_RESHAPE, SHAPE("[B, ?]"), "f32[T, B]", "f32[B, T]");
  GIVES(TN_OP_RESHAPE, SHAPE("[?]"), "f32[B, 3]", "f32[?]");       /* 3 * B has no name */
  GIVES(TN_OP_RESHAPE, SHAPE("[?]"), "f32[B, T]", "f32[?]");
  GIVES(TN_OP_RESHAPE, SHAPE("[?, 2]"), "f32[B, 3]", "f32[?, 2]");
  GIVES(TN_OP_RESHAPE, SHAPE("[T, ?]"), "f32[6]", "f32[T, ?]");
  GIVES(TN_OP_RESHAPE, SHAPE("[2, ?]"), "f32[?, 4]", "f32[2, ?]");
  tn_fault fault = fails(TN_OP_RESHAPE, SHAPE("[4, ?]"), "f32[2, 3]");
  assert_int_equal(fault.kind, TN_FAULT_INFER);
  assert_int_equal(fault.expected, 6);
  ASSERT_TYPE(fault.left, "f32[2, 3]");
  ASSERT_TYPE(fault.right, "f32[4, ?]");
  assert_string_equal(fault.reason, "the number of elements is not a multiple of the rest");
  fault = fails(TN_OP_RESHAPE, SHAPE("[?, ?]"), "f32[4]");
  assert_string_equal(fault.reason, "only one length can be inferred");
  fault = fails(TN_OP_RESHAPE, SHAPE("[0, ?]"), "f32[0]");
  assert_int_equal(fault.kind, TN_FAULT_INFER);
  assert_string_equal(fault.reason, "beside a length of 0 any length fits");
}

static void transpose_permutes(void **state) {
  (void)state;
  GIVES(TN_OP_TRANSPOSE, ATTRS(.axis_count = 3, .axes = { 1, 2, 0 }), "f32[B, 3, 4]", "f32[3, 4, B]");
  GIVES(TN_OP_TRANSPOSE, ATTRS(.axis_count = 2, .axes = { -1, -2 }), "i32[2, 3]", "i32[3, 2]");
  GIVES(TN_OP_TRANSPOSE, NULL, "bool[2, 3, ?]", "bool[?, 3, 2]");
  GIVES(TN_OP_TRANSPOSE, ATTRS(.axis_count = -1), "f32[2, 3]", "f32[3, 2]");
  GIVES(TN_OP_TRANSPOSE, NULL, "f32[]", "f32[]");
}

static void transpose_reports_axes_that_are_not_a_permutation(void **state) {
  (void)state;
  static const tn_attrs wrong[] = {
    { .axis_count = 2, .axes = { 0, 0 } },  { .axis_count = 2, .axes = { 0, 2 } },
    { .axis_count = 2, .axes = { 1, -1 } }, { .axis_count = 1, .axes = { 0 } },
    { .axis_count = 3, .axes = { 0, 1, 2 } }, { .axis_count = 2, .axes = { 0, -3 } },
  };
  for (size_t i = 0; i < COUNT_OF(wrong); i++) {
    tn_fault fault = fails(TN_OP_TRANSPOSE, &wrong[i], "f32[2, 3]");
    assert_int_equal(fault.kind, TN_FAULT_PERMUTATION);
    ASSERT_TYPE(fault.left, "f32[2, 3]");
    assert_int_equal(fault.right.shape.rank, wrong[i].axis_count);
    for (int k = 0; k < wrong[i].axis_count; k++) {
      assert_int_equal(fault.right.shape.dim[k], wrong[i].axes[k]);
    }
  }
  FAILS(TN_FAULT_RANK_LIMIT, TN_OP_TRANSPOSE, ATTRS(.axis_count = 9), "f32[2, 3]");
}

static void broadcast_to_stretches_ones(void **state) {
  (void)state;
  GIVES(TN_OP_BROADCAST_TO, SHAPE("[2, 3]"), "f32[3]", "f32[2, 3]");
  GIVES(TN_OP_BROADCAST_TO, SHAPE("[B, 0]"), "f32[1]", "f32[B, 0]");
  GIVES(TN_OP_BROADCAST_TO, SHAPE("[4, B]"), "f32[1, B]", "f32[4, B]");
  GIVES(TN_OP_BROADCAST_TO, SHAPE("[?, B]"), "f32[4, B]", "f32[4, B]");
  GIVES(TN_OP_BROADCAST_TO, SHAPE("[?]"), "f32[1]", "f32[?]");
  GIVES(TN_OP_BROADCAST_TO, SHAPE("[5]"), "f32[?]", "f32[5]");
  tn_fault fault = fails(TN_OP_BROADCAST_TO, SHAPE("[2, 4]"), "f32[3]");
  assert_int_equal(fault.kind, TN_FAULT_BROADCAST);
  assert_int_equal(fault.dimension, 1);
  ASSERT_TYPE(fault.right, "f32[2, 4]");
  FAILS(TN_FAULT_BROADCAST, TN_OP_BROADCAST_TO, SHAPE("[3]"), "f32[1, 3]");
  FAILS(TN_FAULT_BROADCAST, TN_OP_BROADCAST_TO, SHAPE("[1]"), "f32[3]");
  FAILS(TN_FAULT_BROADCAST, TN_OP_BROADCAST_TO, SHAPE("[3]"), "f32[B]");
  FAILS(TN_FAULT_BROADCAST, TN_OP_BROADCAST_TO, SHAPE("[B]"), "f32[3]");
}

#define SLICE(low_0, high_0, step_0) \
  ATTRS(.low = { low_0 }, .high = { high_0, INT64_MAX }, .step = { step_0 })

static void slices_count_their_steps(void **state) {
  (void)state;
  GIVES(TN_OP_SLICE, SLICE(1, 4, 1), "f32[5, 2]", "f32[3, 2]");
  GIVES(TN_OP_SLICE, SLICE(0, 5, 2), "f32[5, 2]", "f32[3, 2]");
  GIVES(TN_OP_SLICE, SLICE(0, 4, 2), "f32[5, 2]", "f32[2, 2]");
  GIVES(TN_OP_SLICE, SLICE(0, 5, 100), "f32[5, 2]", "f32[1, 2]");
  GIVES(TN_OP_SLICE, SLICE(-2, INT64_MAX, 0), "f32[5, 2]", "f32[2, 2]");
  GIVES(TN_OP_SLICE, SLICE(-4, -1, 2), "f32[5, 2]", "f32[2, 2]");
  GIVES(TN_OP_SLICE, SLICE(3, 1, 1), "f32[5, 2]", "f32[0, 2]");
  GIVES(TN_OP_SLICE, SLICE(5, 5, 1), "f32[5, 2]", "f32[0, 2]");
  GIVES(TN_OP_SLICE, SLICE(0, INT64_MAX, 1), "f32[0, 2]", "f32[0, 2]");
  GIVES(TN_OP_SLICE, NULL, "f32[]", "f32[]");
}

static void slices_of_named_lengths_say_what_is_certain(void **state) {
  (void)state;
  GIVES(TN_OP_SLICE, SLICE(0, INT64_MAX, 1), "f32[B, 2]", "f32[B, 2]");
  GIVES(TN_OP_SLICE, SLICE(0, INT64_MAX, 0), "f32[?, B]", "f32[?, B]");
  GIVES(TN_OP_SLICE, SLICE(0, INT64_MAX, 2), "f32[B, 2]", "f32[?, 2]");
  GIVES(TN_OP_SLICE, SLICE(1, INT64_MAX, 1), "f32[B, 2]", "f32[?, 2]");
  GIVES(TN_OP_SLICE, SLICE(1, 4, 1), "f32[B, 2]", "f32[3, 2]");
  GIVES(TN_OP_SLICE, SLICE(-3, INT64_MAX, 2), "f32[B, 2]", "f32[2, 2]");
  GIVES(TN_OP_SLICE, SLICE(-3, -1, 1), "f32[B, 2]", "f32[2, 2]");
  GIVES(TN_OP_SLICE, SLICE(0, -1, 1), "f32[B, 2]", "f32[?, 2]");
  GIVES(TN_OP_SLICE, SLICE(-3, 7, 1), "f32[B, 2]", "f32[?, 2]");
}

static void slices_stay_inside(void **state) {
  (void)state;
  tn_fault fault = fails(TN_OP_SLICE, SLICE(0, 6, 1), "f32[5, 2]");
  assert_int_equal(fault.kind, TN_FAULT_BOUNDS);
  assert_int_equal(fault.got, 6);
  assert_int_equal(fault.expected, 5);
  assert_int_equal(fault.axis, 0);
  fault = fails(TN_OP_SLICE, SLICE(-6, 5, 1), "f32[5, 2]");
  assert_int_equal(fault.got, -6);
  FAILS(TN_FAULT_BOUNDS, TN_OP_SLICE, SLICE(6, 6, 1), "f32[5, 2]");
  FAILS(TN_FAULT_BOUNDS, TN_OP_SLICE, SLICE(INT64_MAX, 5, 1), "f32[5, 2]");
  FAILS(TN_FAULT_BOUNDS, TN_OP_SLICE, SLICE(INT64_MIN, 5, 1), "f32[5, 2]");
  fault = fails(TN_OP_SLICE, SLICE(0, 5, -1), "f32[5, 2]");
  assert_int_equal(fault.kind, TN_FAULT_ARGUMENT);
  assert_int_equal(fault.got, -1);
}

static void the_slice_rule_trusts_no_caller(void **state) {
  (void)state;
  tn_type in[1], out;
  tn_fault fault = { 0 };
  int count = types_of("f32[5]", in);
  tn_attrs low = { .low = { -1 }, .high = { 5 }, .step = { 1 } }, step = { .high = { 5 } };
  assert_false(tn_op_infer(&(tn_op_args){ TN_OP_SLICE, in, count, &low, &fault }, &out));
  assert_int_equal(fault.kind, TN_FAULT_BOUNDS);
  assert_false(tn_op_infer(&(tn_op_args){ TN_OP_SLICE, in, count, &step, &fault }, &out));
  assert_int_equal(fault.kind, TN_FAULT_ARGUMENT);
}

static void padding_adds_around_and_between(void **state) {
  (void)state;
  tn_attrs attrs = { .low = { 1 }, .high = { 2 }, .step = { 3 } };
  GIVES(TN_OP_PAD, &attrs, "f32[4, 2]", "f32[16, 2]");   /* 1 + 4 + 3*3 + 2 */
  GIVES(TN_OP_PAD, &attrs, "f32[1]", "f32[4]");
  GIVES(TN_OP_PAD, &attrs, "f32[0]", "f32[3]");
  GIVES(TN_OP_PAD, &attrs, "f32[B, T]", "f32[?, T]");
  GIVES(TN_OP_PAD, NULL, "f32[B, 2]", "f32[B, 2]");
  tn_fault fault = fails(TN_OP_PAD, ATTRS(.high = { -1 }), "f32[4]");
  assert_int_equal(fault.kind, TN_FAULT_ARGUMENT);
  assert_int_equal(fault.got, -1);
  FAILS(TN_FAULT_TOO_LARGE, TN_OP_PAD, ATTRS(.low = { INT64_MAX }), "f32[4]");
  FAILS(TN_FAULT_TOO_LARGE, TN_OP_PAD, ATTRS(.high = { TN_ELEMENT_LIMIT }), "f32[4]");
  FAILS(TN_FAULT_TOO_LARGE, TN_OP_PAD, ATTRS(.step = { TN_ELEMENT_LIMIT }), "f32[1048576]");
}

static void concat_adds_lengths_along_the_axis(void **state) {
  (void)state;
  GIVES(TN_OP_CONCAT, NULL, "f32[2, 3]; f32[4, 3]; f32[0, 3]", "f32[6, 3]");
  GIVES(TN_OP_CONCAT, ATTRS(.axis = -1), "f32[B, 3]; f32[B, 4]", "f32[B, 7]");
  GIVES(TN_OP_CONCAT, NULL, "f32[B, 3]", "f32[B, 3]");
  GIVES(TN_OP_CONCAT, NULL, "f32[B, 3]; f32[2, 3]", "f32[?, 3]");
  GIVES(TN_OP_CONCAT, NULL, "f32[B, 3]; f32[B, 3]", "f32[?, 3]");
  GIVES(TN_OP_CONCAT, NULL, "f32[B, 3]; f32[0, 3]", "f32[B, 3]");
  GIVES(TN_OP_CONCAT, NULL, "f32[0, 3]; f32[B, 3]", "f32[B, 3]");
  GIVES(TN_OP_CONCAT, NULL, "f32[2, ?]; f32[2, 3]; f32[1, ?]", "f32[5, 3]");
  GIVES(TN_OP_CONCAT, NULL, "f32[2, ?]; f32[2, B]", "f32[4, B]");
}

static void concat_names_the_operands_that_do_not_fit(void **state) {
  (void)state;
  tn_fault fault = fails(TN_OP_CONCAT, NULL, "f32[2, 3]; f32[2, 3]; f32[2, 4]");
  assert_int_equal(fault.kind, TN_FAULT_JOIN);
  assert_int_equal(fault.operand, 2);
  assert_int_equal(fault.dimension, 1);
  ASSERT_TYPE(fault.left, "f32[2, 3]");
  ASSERT_TYPE(fault.right, "f32[2, 4]");
  fault = fails(TN_OP_CONCAT, NULL, "f32[2, ?]; f32[2, 3]; f32[2, 4]");
  ASSERT_TYPE(fault.left, "f32[2, 3]");
  fault = fails(TN_OP_CONCAT, NULL, "f32[2, 3]; f32[2]");
  assert_int_equal(fault.kind, TN_FAULT_JOIN);
  assert_int_equal(fault.dimension, 1);
  FAILS(TN_FAULT_JOIN, TN_OP_CONCAT, ATTRS(.axis = 1), "f32[2, 3]; f32[2]");
  FAILS(TN_FAULT_JOIN, TN_OP_CONCAT, NULL, "f32[2, B]; f32[2, T]");
  FAILS(TN_FAULT_AXIS, TN_OP_CONCAT, ATTRS(.axis = 2), "f32[2, 3]; f32[2, 3]");
  FAILS(TN_FAULT_AXIS, TN_OP_CONCAT, NULL, "f32[]; f32[]");
}

/* ---- windows ---- */

#define WINDOW(h, w) .window = { h, w }

static void patches_replace_each_place_by_its_window(void **state) {
  (void)state;
  GIVES(TN_OP_PATCHES, ATTRS(WINDOW(3, 2)), "f32[2, 5, 6, 4]", "f32[2, 3, 5, 24]");
  tn_attrs strided = { WINDOW(3, 3), .step = { 2, 1 }, .low = { 1, 0 }, .high = { 1, 2 } };
  GIVES(TN_OP_PATCHES, &strided, "f32[B, 5, 6, 1]", "f32[B, 3, 6, 9]");
  GIVES(TN_OP_PATCHES, ATTRS(WINDOW(1, 1)), "f32[B, H, W, C]", "f32[B, H, W, C]");
  GIVES(TN_OP_PATCHES, ATTRS(WINDOW(3, 3)), "f32[B, H, 3, C]", "f32[B, ?, 1, ?]");
  tn_attrs same = { WINDOW(3, 3), .low = { 1, 1 }, .high = { 1, 1 } };
  GIVES(TN_OP_PATCHES, &same, "f32[B, H, W, 2]", "f32[B, H, W, 18]");
  GIVES(TN_OP_PATCHES, ATTRS(WINDOW(2, 2)), "f32[0, 2, 2, 0]", "f32[0, 1, 1, 0]");
}

static void windows_must_fit(void **state) {
  (void)state;
  tn_fault fault = fails(TN_OP_PATCHES, ATTRS(WINDOW(3, 7)), "f32[2, 5, 6, 4]");
  assert_int_equal(fault.kind, TN_FAULT_SHAPE);
  assert_int_equal(fault.dimension, 2);
  ASSERT_TYPE(fault.left, "f32[2, 5, 6, 4]");
  ASSERT_TYPE(fault.right, "f32[3, 7]");
  assert_non_null(fault.reason);
  fault = fails(TN_OP_PATCHES, ATTRS(WINDOW(3, 3)), "f32[5, 6, 4]");
  assert_int_equal(fault.kind, TN_FAULT_RANK);
  assert_int_equal(fault.expected, 4);
  FAILS(TN_FAULT_ARGUMENT, TN_OP_PATCHES, ATTRS(WINDOW(0, 3)), "f32[2, 5, 6, 4]");
  FAILS(TN_FAULT_ARGUMENT, TN_OP_PATCHES, ATTRS(WINDOW(1, 1), .step = { 1, -1 }), "f32[2, 5, 6, 4]");
  FAILS(TN_FAULT_ARGUMENT, TN_OP_PATCHES, ATTRS(WINDOW(1, 1), .low = { -1 }), "f32[2, 5, 6, 4]");
  FAILS(TN_FAULT_ARGUMENT, TN_OP_PATCHES, ATTRS(WINDOW(1, 1), .high = { 0, -1 }), "f32[2, 5, 6, 4]");
  FAILS(TN_FAULT_TOO_LARGE, TN_OP_PATCHES, ATTRS(WINDOW(1, 1), .high = { INT64_MAX }),
        "f32[2, 5, 6, 4]");
  tn_attrs huge = { WINDOW(INT32_MAX, INT32_MAX), .high = { INT32_MAX, INT32_MAX } };
  FAILS(TN_FAULT_TOO_LARGE, TN_OP_PATCHES, &huge, "f32[2, 5, 6, 4]");
}

static void fold_undoes_patches(void **state) {
  (void)state;
  tn_attrs attrs = { WINDOW(3, 2), .shape = shape_of("[2, 5, 6, 4]") };
  GIVES(TN_OP_FOLD, &attrs, "f32[2, 3, 5, 24]", "f32[2, 5, 6, 4]");
  attrs.shape = shape_of("[B, 5, 6, 4]");
  GIVES(TN_OP_FOLD, &attrs, "f32[B, 3, 5, 24]", "f32[B, 5, 6, 4]");
  attrs.shape = shape_of("[?, 5, 6, ?]");
  GIVES(TN_OP_FOLD, &attrs, "f32[B, 3, 5, 24]", "f32[B, 5, 6, 4]");
  GIVES(TN_OP_FOLD, &attrs, "f32[2, 3, 5, ?]", "f32[2, 5, 6, ?]");
  GIVES(TN_OP_FOLD, &attrs, "f32[2, 3, ?, 25]", "f32[2, 5, 6, ?]");   /* found out when it is bound */
  tn_attrs unit = { WINDOW(1, 1), .shape = shape_of("[?, H, W, ?]") };
  GIVES(TN_OP_FOLD, &unit, "f32[B, H, W, C]", "f32[B, H, W, C]");
  attrs.shape = shape_of("[2, 5, 6, 4]");
  tn_fault fault = fails(TN_OP_FOLD, &attrs, "f32[2, 3, 4, 24]");
  assert_int_equal(fault.kind, TN_FAULT_SHAPE);
  assert_int_equal(fault.dimension, 2);
  ASSERT_TYPE(fault.left, "f32[2, 3, 4, 24]");
  ASSERT_TYPE(fault.right, "f32[2, 3, 5, 24]");
  FAILS(TN_FAULT_RANK, TN_OP_FOLD, &attrs, "f32[3, 4, 24]");
  attrs.shape = shape_of("[2, 5, 6]");
  FAILS(TN_FAULT_ARGUMENT, TN_OP_FOLD, &attrs, "f32[2, 3, 5, 24]");
  attrs.shape = shape_of("[2, 2, 6, 4]");
  FAILS(TN_FAULT_SHAPE, TN_OP_FOLD, &attrs, "f32[2, 3, 5, 24]");
  attrs.window[0] = 0;
  FAILS(TN_FAULT_ARGUMENT, TN_OP_FOLD, &attrs, "f32[2, 3, 5, 24]");
}

/* ---- along axes ---- */

static void reductions_drop_or_keep_axes(void **state) {
  (void)state;
  GIVES(TN_OP_SUM, ATTRS(.axis_count = -1), "f32[2, B]", "f32[]");
  GIVES(TN_OP_SUM, NULL, "f32[2, B]", "f32[2, B]");
  GIVES(TN_OP_SUM, ATTRS(.axis_count = 1, .axes = { -1 }), "f32[2, B]", "f32[2]");
  GIVES(TN_OP_MEAN, ATTRS(.axis_count = 2, .axes = { 2, 0 }), "f32[B, 3, T]", "f32[3]");
  GIVES(TN_OP_MAX, ATTRS(.axis_count = 1, .axes = { 1 }, .keepdims = true), "i32[B, 3]", "i32[B, 1]");
  GIVES(TN_OP_PROD, ATTRS(.axis_count = -1, .keepdims = true), "f32[B, ?]", "f32[1, 1]");
  GIVES(TN_OP_SUM, ATTRS(.axis_count = -1), "f32[]", "f32[]");
  GIVES(TN_OP_SUM, ATTRS(.axis_count = -1), "f32[0, 3]", "f32[]");
  GIVES(TN_OP_ELEMENTS, ATTRS(.dtype = TN_I64, .axis_count = 1, .axes = { 1 }), "f32[2, B]", "i64[]");
}

static void axes_are_in_range_and_different(void **state) {
  (void)state;
  tn_fault fault = fails(TN_OP_SUM, ATTRS(.axis_count = 2, .axes = { 0, 2 }), "f32[2, 3]");
  assert_int_equal(fault.kind, TN_FAULT_AXIS);
  assert_int_equal(fault.axis, 2);
  assert_string_equal(fault.reason, "out of range");
  ASSERT_TYPE(fault.left, "f32[2, 3]");
  fault = fails(TN_OP_SUM, ATTRS(.axis_count = 2, .axes = { 1, -1 }), "f32[2, 3]");
  assert_int_equal(fault.axis, -1);
  assert_string_equal(fault.reason, "given twice");
  FAILS(TN_FAULT_AXIS, TN_OP_SUM, ATTRS(.axis_count = 1, .axes = { -3 }), "f32[2, 3]");
  FAILS(TN_FAULT_AXIS, TN_OP_ELEMENTS, ATTRS(.axis_count = 1, .axes = { 0 }), "f32[]");
  FAILS(TN_FAULT_RANK_LIMIT, TN_OP_SUM, ATTRS(.axis_count = 9), "f32[2, 3]");
}

static void the_reduction_rule_trusts_no_caller(void **state) {
  (void)state;
  static const tn_attrs wrong[] = {
    { .axis_count = 1, .axes = { -1 } },   { .axis_count = 1, .axes = { 2 } },
    { .axis_count = 2, .axes = { 1, 0 } }, { .axis_count = 2, .axes = { 1, 1 } },
  };
  tn_type in[1], out;
  int count = types_of("f32[2, 3]", in);
  for (size_t i = 0; i < COUNT_OF(wrong); i++) {
    tn_fault fault = { 0 };
    assert_false(tn_op_infer(&(tn_op_args){ TN_OP_SUM, in, count, &wrong[i], &fault }, &out));
    assert_int_equal(fault.kind, TN_FAULT_AXIS);
  }
}

static void rules_do_not_count_on_normalisation(void **state) {
  (void)state;
  tn_type in[1], out;
  tn_fault fault = { 0 };
  int count = types_of("f32[2, 3]", in);
  for (int axis = -1; axis <= 2; axis += 3) {
    assert_false(tn_op_infer(&(tn_op_args){ TN_OP_SOFTMAX, in, count, ATTRS(.axis = axis), &fault }, &out));
    assert_int_equal(fault.kind, TN_FAULT_AXIS);
    assert_int_equal(fault.axis, axis);
  }
  tn_attrs open = { .shape = shape_of("[?, ?]") };
  assert_false(tn_op_infer(&(tn_op_args){ TN_OP_RESHAPE, in, count, &open, &fault }, &out));
  assert_int_equal(fault.kind, TN_FAULT_INFER);
}

static void an_empty_maximum_is_an_error(void **state) {
  (void)state;
  tn_attrs first = { .axis_count = 1, .axes = { 0 } }, all = { .axis_count = -1 };
  FAILS(TN_FAULT_ARGUMENT, TN_OP_MAX, &first, "f32[0, 3]");
  FAILS(TN_FAULT_ARGUMENT, TN_OP_MIN, &all, "f32[0, 3]");
  FAILS(TN_FAULT_ARGUMENT, TN_OP_ARGMAX, NULL, "f32[0, 3]");
  FAILS(TN_FAULT_ARGUMENT, TN_OP_MAX, &first, "f32[0, B]");
  GIVES(TN_OP_MAX, &first, "f32[3, 0]", "f32[0]");       /* nothing is asked for */
  GIVES(TN_OP_MAX, &first, "f32[0, 0]", "f32[0]");
  GIVES(TN_OP_ARGMAX, ATTRS(.axis = 1), "f32[0, 3]", "i32[0]");
  GIVES(TN_OP_SUM, &first, "f32[0, 3]", "f32[3]");
}

static void argmax_drops_its_axis_and_is_i32(void **state) {
  (void)state;
  GIVES(TN_OP_ARGMAX, ATTRS(.axis = -1), "f64[B, 10]", "i32[B]");
  GIVES(TN_OP_ARGMAX, ATTRS(.axis = 0, .keepdims = true), "i64[B, 10]", "i32[1, 10]");
  FAILS(TN_FAULT_AXIS, TN_OP_ARGMAX, NULL, "f32[]");
}

static void scans_keep_the_shape_and_need_their_axis(void **state) {
  (void)state;
  static const tn_op scans[] = { TN_OP_CUMSUM, TN_OP_CUMPROD, TN_OP_SOFTMAX, TN_OP_LOG_SOFTMAX };
  for (size_t i = 0; i < COUNT_OF(scans); i++) {
    GIVES(scans[i], ATTRS(.axis = -1), "f32[B, 3]", "f32[B, 3]");
    FAILS(TN_FAULT_AXIS, scans[i], ATTRS(.axis = 2), "f32[B, 3]");
    FAILS(TN_FAULT_AXIS, scans[i], NULL, "f32[]");
  }
}

static void cross_entropy_has_a_label_for_each_row(void **state) {
  (void)state;
  GIVES(TN_OP_CROSS_ENTROPY, NULL, "f32[B, 10]; i32[B]", "f32[]");
  GIVES(TN_OP_CROSS_ENTROPY, NULL, "f64[2, 3, 10]; i64[2, 3]", "f64[]");
  GIVES(TN_OP_CROSS_ENTROPY, NULL, "f32[10]; i32[]", "f32[]");
  GIVES(TN_OP_CROSS_ENTROPY, NULL, "f32[B, 10]; i32[?]", "f32[]");
  tn_fault fault = fails(TN_OP_CROSS_ENTROPY, NULL, "f32[4, 10]; i32[5]");
  assert_int_equal(fault.kind, TN_FAULT_SHAPE);
  assert_int_equal(fault.dimension, 0);
  FAILS(TN_FAULT_SHAPE, TN_OP_CROSS_ENTROPY, NULL, "f32[B, 10]; i32[B, 1]");
  FAILS(TN_FAULT_RANK, TN_OP_CROSS_ENTROPY, NULL, "f32[]; i32[]");
  fault = fails(TN_OP_CROSS_ENTROPY, NULL, "f32[4, 10]; f32[4]");
  assert_int_equal(fault.kind, TN_FAULT_DTYPE);
  assert_int_equal(fault.operand, 1);
  assert_int_equal(fault.left.dtype, TN_F32);
  assert_string_equal(fault.reason, "i32 or i64");
}

/* ---- contraction ---- */

static void matmul_sums_over_the_inner_length(void **state) {
  (void)state;
  GIVES(TN_OP_MATMUL, NULL, "f32[2, 3]; f32[3, 4]", "f32[2, 4]");
  GIVES(TN_OP_MATMUL, NULL, "f32[B, D]; f32[D, 4]", "f32[B, 4]");
  GIVES(TN_OP_MATMUL, NULL, "f32[B, ?]; f32[D, 4]", "f32[B, 4]");
  GIVES(TN_OP_MATMUL, NULL, "f32[B, 3]; f32[?, ?]", "f32[B, ?]");
  GIVES(TN_OP_MATMUL, NULL, "i64[5, 1, 2, 0]; i64[7, 0, 4]", "i64[5, 7, 2, 4]");
  GIVES(TN_OP_MATMUL, NULL, "f32[B, T, D]; f32[D, 4]", "f32[B, T, 4]");
  GIVES(TN_OP_MATMUL, NULL, "f32[1, 1, 1, 1, 1, 6, 2, 3]; f32[3, 4]", "f32[1, 1, 1, 1, 1, 6, 2, 4]");
}

static void matmul_says_which_lengths_differ(void **state) {
  (void)state;
  tn_fault fault = fails(TN_OP_MATMUL, NULL, "f32[5, 2, 3]; f32[4, 5]");
  assert_int_equal(fault.kind, TN_FAULT_INNER);
  assert_int_equal(fault.dimension, 2);
  assert_int_equal(fault.expected, 3);
  assert_int_equal(fault.got, 4);
  ASSERT_TYPE(fault.left, "f32[5, 2, 3]");
  ASSERT_TYPE(fault.right, "f32[4, 5]");
  FAILS(TN_FAULT_INNER, TN_OP_MATMUL, NULL, "f32[2, B]; f32[3, 4]");
  FAILS(TN_FAULT_INNER, TN_OP_MATMUL, NULL, "f32[2, B]; f32[T, 4]");
  FAILS(TN_FAULT_INNER, TN_OP_MATMUL, NULL, "f32[2, 1]; f32[3, 4]");   /* ones do not stretch here */
  fault = fails(TN_OP_MATMUL, NULL, "f32[2, 5, 2, 3]; f32[6, 3, 4]");
  assert_int_equal(fault.kind, TN_FAULT_BROADCAST);
  assert_int_equal(fault.dimension, 1);
  fault = fails(TN_OP_MATMUL, NULL, "f32[3]; f32[3, 4]");
  assert_int_equal(fault.kind, TN_FAULT_RANK);
  assert_int_equal(fault.operand, 0);
  ASSERT_TYPE(fault.left, "f32[3]");
  ASSERT_TYPE(fault.right, "f32[3, 4]");
  fault = fails(TN_OP_MATMUL, NULL, "f32[2, 3]; f32[]");
  assert_int_equal(fault.operand, 1);
  assert_int_equal(fault.expected, 2);
  assert_int_equal(fault.got, 0);
  ASSERT_TYPE(fault.left, "f32[]");
  ASSERT_TYPE(fault.right, "f32[2, 3]");
}

/* ---- indexing ---- */

static void gather_replaces_an_axis_by_those_of_the_index(void **state) {
  (void)state;
  GIVES(TN_OP_GATHER, NULL, "f32[V, D]; i32[B, T]", "f32[B, T, D]");
  GIVES(TN_OP_GATHER, ATTRS(.axis = -1), "f32[2, 3]; i64[]", "f32[2]");
  GIVES(TN_OP_GATHER, ATTRS(.axis = 1), "bool[2, 3, 4]; i64[?]", "bool[2, ?, 4]");
  tn_fault fault = fails(TN_OP_GATHER, NULL, "f32[2, 3]; f32[2]");
  assert_int_equal(fault.kind, TN_FAULT_DTYPE);
  assert_int_equal(fault.operand, 1);
  FAILS(TN_FAULT_AXIS, TN_OP_GATHER, NULL, "f32[]; i32[2]");
  fault = fails(TN_OP_GATHER, NULL, "f32[1, 1, 1, 1, 1]; i32[1, 1, 1, 1, 1]");
  assert_int_equal(fault.kind, TN_FAULT_RANK_LIMIT);
  assert_int_equal(fault.got, 9);
}

static void scatter_add_takes_a_slice_for_each_index(void **state) {
  (void)state;
  GIVES(TN_OP_SCATTER_ADD, NULL, "f32[V, D]; i32[B]; f32[B, D]", "f32[V, D]");
  GIVES(TN_OP_SCATTER_ADD, ATTRS(.axis = 1), "i64[2, 5]; i32[]; i64[2]", "i64[2, 5]");
  tn_fault fault = fails(TN_OP_SCATTER_ADD, NULL, "f32[5, 3]; i32[2]; f32[2, 4]");
  assert_int_equal(fault.kind, TN_FAULT_SHAPE);
  assert_int_equal(fault.operand, 2);
  assert_int_equal(fault.dimension, 1);
  ASSERT_TYPE(fault.left, "f32[2, 4]");
  ASSERT_TYPE(fault.right, "f32[2, 3]");
  FAILS(TN_FAULT_SHAPE, TN_OP_SCATTER_ADD, NULL, "f32[5, 3]; i32[2]; f32[2]");
  FAILS(TN_FAULT_DTYPE, TN_OP_SCATTER_ADD, NULL, "f32[5, 3]; i32[2]; f64[2, 3]");
  FAILS(TN_FAULT_DTYPE, TN_OP_SCATTER_ADD, NULL, "f32[5, 3]; f32[2]; f32[2, 3]");
  FAILS(TN_FAULT_RANK_LIMIT, TN_OP_SCATTER_ADD, NULL,
        "f32[1, 1, 1, 1, 1]; i32[1, 1, 1, 1, 1]; f32[1]");
}

static void row_update_takes_a_slice_for_each_index_and_a_scale(void **state) {
  (void)state;
  GIVES(TN_OP_ROW_UPDATE, NULL, "f32[V, D]; i32[B]; f32[B, D]; f32[]", "f32[V, D]");
  FAILS(TN_FAULT_SHAPE, TN_OP_ROW_UPDATE, NULL, "f32[5, 3]; i32[2]; f32[3, 3]; f32[]");
  tn_fault fault = fails(TN_OP_ROW_UPDATE, NULL, "f32[5, 3]; i32[2]; f32[2, 3]; f32[1]");
  assert_int_equal(fault.kind, TN_FAULT_RANK);
  assert_int_equal(fault.operand, 3);
  FAILS(TN_FAULT_DTYPE, TN_OP_ROW_UPDATE, NULL, "f32[5, 3]; i32[2]; f32[2, 3]; f64[]");
  FAILS(TN_FAULT_RANK, TN_OP_ROW_UPDATE, NULL, "f32[]; i32[2]; f32[2]; f32[]");
}

static void conditions_are_scalar_bools(void **state) {
  (void)state;
  GIVES(TN_OP_IF, NULL, "bool[]", "bool[]");
  FAILS(TN_FAULT_RANK, TN_OP_IF, NULL, "bool[1]");
  FAILS(TN_FAULT_DTYPE, TN_OP_IF, NULL, "f32[]");
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_operation_has_rules_or_an_expansion),
    cmocka_unit_test(a_wrong_number_of_operands_is_counted),
    cmocka_unit_test(a_fault_may_go_unread),
    cmocka_unit_test(first_operands_have_the_dtypes_of_the_table),
    cmocka_unit_test(a_result_has_fewer_elements_than_the_limit),
    cmocka_unit_test(sources_have_the_type_they_are_given),
    cmocka_unit_test(iota_has_an_axis_and_is_a_number),
    cmocka_unit_test(a_constant_has_the_type_of_its_literal),
    cmocka_unit_test(random_numbers_take_a_scalar_key_and_are_f32),
    cmocka_unit_test(unary_operations_keep_the_type),
    cmocka_unit_test(operands_broadcast_from_the_right),
    cmocka_unit_test(broadcast_reports_the_axis_that_differs),
    cmocka_unit_test(combined_operands_have_one_dtype),
    cmocka_unit_test(select_broadcasts_three_and_names_two),
    cmocka_unit_test(reshape_keeps_the_number_of_elements),
    cmocka_unit_test(reshape_infers_one_length),
    cmocka_unit_test(transpose_permutes),
    cmocka_unit_test(transpose_reports_axes_that_are_not_a_permutation),
    cmocka_unit_test(broadcast_to_stretches_ones),
    cmocka_unit_test(slices_count_their_steps),
    cmocka_unit_test(slices_of_named_lengths_say_what_is_certain),
    cmocka_unit_test(slices_stay_inside),
    cmocka_unit_test(the_slice_rule_trusts_no_caller),
    cmocka_unit_test(padding_adds_around_and_between),
    cmocka_unit_test(concat_adds_lengths_along_the_axis),
    cmocka_unit_test(concat_names_the_operands_that_do_not_fit),
    cmocka_unit_test(patches_replace_each_place_by_its_window),
    cmocka_unit_test(windows_must_fit),
    cmocka_unit_test(fold_undoes_patches),
    cmocka_unit_test(reductions_drop_or_keep_axes),
    cmocka_unit_test(axes_are_in_range_and_different),
    cmocka_unit_test(the_reduction_rule_trusts_no_caller),
    cmocka_unit_test(rules_do_not_count_on_normalisation),
    cmocka_unit_test(an_empty_maximum_is_an_error),
    cmocka_unit_test(argmax_drops_its_axis_and_is_i32),
    cmocka_unit_test(scans_keep_the_shape_and_need_their_axis),
    cmocka_unit_test(cross_entropy_has_a_label_for_each_row),
    cmocka_unit_test(matmul_sums_over_the_inner_length),
    cmocka_unit_test(matmul_says_which_lengths_differ),
    cmocka_unit_test(gather_replaces_an_axis_by_those_of_the_index),
    cmocka_unit_test(scatter_add_takes_a_slice_for_each_index),
    cmocka_unit_test(row_update_takes_a_slice_for_each_index_and_a_scale),
    cmocka_unit_test(conditions_are_scalar_bools),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
