/* Elementwise operations over whole tensors: broadcasting, fusing, failing. */
#include "ref_support.h"

static void operands_of_smaller_rank_broadcast_from_the_right(void **state) {
  (void)state;
  float x[] = { 1, 2, 3, 4, 5, 6 }, row[] = { 10, 20, 30 }, column[] = { 100, 200 }, one = 0.5f, out[6];
  tn_view o = VIEW(TN_F32, out, 2, 3), xv = VIEW(TN_F32, x, 2, 3);
  RUN(TN_OP_ADD, NULL, &o, xv, VIEW(TN_F32, row, 3));
  ASSERT_BITS(out, 11, 22, 33, 14, 25, 36);
  RUN(TN_OP_ADD, NULL, &o, VIEW(TN_F32, column, 2, 1), VIEW(TN_F32, row, 3));
  ASSERT_BITS(out, 110, 120, 130, 210, 220, 230);
  RUN(TN_OP_MUL, NULL, &o, SCALAR(TN_F32, &one), xv);
  ASSERT_BITS(out, 0.5f, 1, 1.5f, 2, 2.5f, 3);
}

static void strides_may_be_anything(void **state) {
  (void)state;
  float x[] = { 1, 2, 3, 4, 5, 6 }, y[] = { 10, 20, 30, 40, 50, 60 }, out[6];
  tn_view xv = { .data = x, .dtype = TN_F32, .rank = 2, .dim = { 3, 2 }, .stride = { 1, 3 } };
  tn_view yv = { .data = y + 5, .dtype = TN_F32, .rank = 2, .dim = { 3, 2 }, .stride = { -2, -1 } };
  tn_view zv = { .data = y + 2, .dtype = TN_F32, .rank = 2, .dim = { 3, 2 }, .stride = { 0, 0 } };
  tn_view o = VIEW(TN_F32, out, 3, 2);
  RUN(TN_OP_SUB, NULL, &o, yv, xv);
  ASSERT_BITS(out, 59, 46, 38, 25, 17, 4);
  RUN(TN_OP_SUB, NULL, &o, zv, xv);
  ASSERT_BITS(out, 29, 26, 28, 25, 27, 24);
  tn_view backwards = { .data = out + 5, .dtype = TN_F32, .rank = 2, .dim = { 3, 2 }, .stride = { -2, -1 } };
  RUN(TN_OP_NEG, NULL, &backwards, xv);
  ASSERT_BITS(out, -6, -3, -5, -2, -4, -1);
}

static void nothing_in_is_nothing_out(void **state) {
  (void)state;
  float x = 1, out = 7;
  tn_view o = VIEW(TN_F32, NULL, 0, 3), one = VIEW(TN_F32, &out, 1);
  RUN(TN_OP_ADD, NULL, &o, VIEW(TN_F32, NULL, 0, 3), SCALAR(TN_F32, &x));
  RUN(TN_OP_ADD, NULL, &one, VIEW(TN_F32, &x, 1), VIEW(TN_F32, &x, 1));
  assert_true(out == 2);
}

static void a_result_may_take_the_memory_of_an_operand(void **state) {
  (void)state;
  float x[] = { 1, 2, 3 }, y[] = { 10, 20, 30 };
  tn_view o = VIEW(TN_F32, x, 3);
  RUN(TN_OP_SUB, NULL, &o, VIEW(TN_F32, y, 3), o);
  ASSERT_BITS(x, 9, 18, 27);
}

static void comparisons_cast_and_select_change_dtypes(void **state) {
  (void)state;
  float x[] = { 1, NAN, 3 }, y[] = { 2, 2, 2 }, chosen[3];
  uint8_t less[3];
  int64_t whole[3];
  tn_view lv = VIEW(TN_BOOL, less, 3), wv = VIEW(TN_I64, whole, 3), cv = VIEW(TN_F32, chosen, 3);
  tn_view xv = VIEW(TN_F32, x, 3), yv = VIEW(TN_F32, y, 3);
  RUN(TN_OP_LT, NULL, &lv, xv, yv);
  ASSERT_BITS(less, 1, 0, 0);
  RUN(TN_OP_CAST, &(tn_attrs){ .dtype = TN_I64 }, &wv, xv);
  ASSERT_BITS(whole, 1, 0, 3);
  RUN(TN_OP_SELECT, NULL, &cv, lv, xv, yv);
  ASSERT_BITS(chosen, 1, 2, 2);
  RUN(TN_OP_SELECT, NULL, &cv, SCALAR(TN_BOOL, less), xv, SCALAR(TN_F32, y));
  ASSERT_BITS(chosen, 1, NAN, 3);
}

static void division_by_zero_writes_nothing(void **state) {
  (void)state;
  int32_t x[] = { 6, 7, 8 }, y[] = { 2, 3, 0 }, out[] = { -1, -1, -1 };
  tn_view in[] = { VIEW(TN_I32, x, 3), VIEW(TN_I32, y, 3) }, o = VIEW(TN_I32, out, 3);
  tn_fault fault = { 0 };
  assert_false(run(TN_OP_REM, NULL, in, 2, &o, &fault));
  assert_int_equal(fault.kind, TN_FAULT_DIVIDE);
  assert_int_equal(fault.op, TN_OP_REM);
  ASSERT_BITS(out, -1, -1, -1);
  float fx[] = { 1, -1, 0 }, zero = 0;
  tn_view fo = VIEW(TN_F32, fx, 3);
  RUN(TN_OP_DIV, NULL, &fo, fo, SCALAR(TN_F32, &zero));
  ASSERT_BITS(fx, INFINITY, -INFINITY, NAN);
}

static void division_of_nothing_by_zero_is_nothing(void **state) {
  (void)state;
  int32_t zero = 0;
  tn_view o = VIEW(TN_I32, NULL, 0);
  RUN(TN_OP_DIV, NULL, &o, VIEW(TN_I32, NULL, 0), SCALAR(TN_I32, &zero));
}

static tn_fused *program(int operands, const tn_dtype *dtypes, int steps, const tn_fused_step *step) {
  tn_fused *made = calloc(1, sizeof *made + (size_t)steps * sizeof *step);
  made->operand_count = operands;
  made->step_count = steps;
  memcpy(made->operand_dtype, dtypes, (size_t)operands * sizeof *dtypes);
  memcpy(made->step, step, (size_t)steps * sizeof *step);
  return made;
}

/* select(x < y, i64(x) + 2, 7) over x: f32[3], y: f32[]. */
static void a_fused_program_runs_its_steps_for_each_element(void **state) {
  (void)state;
  const tn_fused_step steps[] = {
    { .op = TN_OP_LT, .dtype = TN_BOOL, .in = { 0, 1 } },
    { .op = TN_OP_CAST, .dtype = TN_I64, .in = { 0 } },
    { .op = TN_OP_FILL, .dtype = TN_I64, .number = 2 },
    { .op = TN_OP_ADD, .dtype = TN_I64, .in = { 3, 4 } },
    { .op = TN_OP_FILL, .dtype = TN_I64, .number = 7 },
    { .op = TN_OP_SELECT, .dtype = TN_I64, .in = { 2, 5, 6 } },
  };
  tn_fused *fused = program(2, (tn_dtype[]){ TN_F32, TN_F32 }, 6, steps);
  float x[] = { 1.9f, -5.5f, NAN }, y = 2;
  int64_t out[3];
  tn_view o = VIEW(TN_I64, out, 3);
  RUN(TN_OP_FUSED, &(tn_attrs){ .program = fused }, &o, VIEW(TN_F32, x, 3), SCALAR(TN_F32, &y));
  ASSERT_BITS(out, 3, -3, 7);
  free(fused);
}

static void division_by_zero_inside_a_program_writes_nothing(void **state) {
  (void)state;
  const tn_fused_step steps[] = {
    { .op = TN_OP_SUB, .dtype = TN_I64, .in = { 1, 0 } },
    { .op = TN_OP_DIV, .dtype = TN_I64, .in = { 0, 2 } },
  };
  tn_fused *fused = program(2, (tn_dtype[]){ TN_I64, TN_I64 }, 2, steps);
  int64_t x[] = { 1, 2, 3 }, y[] = { 3, 3, 3 };
  tn_view in[] = { VIEW(TN_I64, x, 3), VIEW(TN_I64, y, 3) }, o = in[0];
  tn_fault fault = { 0 };
  assert_false(run(TN_OP_FUSED, &(tn_attrs){ .program = fused }, in, 2, &o, &fault));
  assert_int_equal(fault.kind, TN_FAULT_DIVIDE);
  assert_int_equal(fault.op, TN_OP_DIV);
  ASSERT_BITS(x, 1, 2, 3);
  free(fused);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(operands_of_smaller_rank_broadcast_from_the_right),
    cmocka_unit_test(strides_may_be_anything),
    cmocka_unit_test(nothing_in_is_nothing_out),
    cmocka_unit_test(a_result_may_take_the_memory_of_an_operand),
    cmocka_unit_test(comparisons_cast_and_select_change_dtypes),
    cmocka_unit_test(division_by_zero_writes_nothing),
    cmocka_unit_test(division_of_nothing_by_zero_is_nothing),
    cmocka_unit_test(a_fused_program_runs_its_steps_for_each_element),
    cmocka_unit_test(division_by_zero_inside_a_program_writes_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
