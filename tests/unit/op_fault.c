/* Faults in the common spelling: the code and the fields that each leads to. */
#include "diag/diag.h"
#include "op_support.h"

static tn_sources sources;
static tn_diags diags;

static const char *field(const char *name) {
  const tn_diag *diag = &diags.list.at[0];
  for (size_t i = 0; i < diag->field_count; i++) {
    if (strcmp(diag->fields[i].name, name) == 0) return diag->fields[i].value.at;
  }
  return NULL;
}

/* Every field that the code requires is there, and the title has no hole. */
static void assert_complete(void) {
  const tn_diag *diag = &diags.list.at[0];
  const char *list = tn_diag_info_of(diag->code)->fields;
  while (list && *list) {
    char name[32] = { 0 };
    size_t len = strcspn(list, " ");
    memcpy(name, list, len);
    assert_non_null(field(name));
    list += len + (list[len] == ' ');
  }
  assert_null(strchr(diag->title.at, '{'));
}

static void report(const tn_fault *fault, tn_diag_code code) {
  tn_diags_clear(&diags);
  assert_false(tn_fault_report(fault, names, &diags));
  assert_int_equal(diags.list.count, 1);
  assert_int_equal(diags.list.at[0].code, code);
  assert_complete();
}

static void report_failure(tn_op op, const tn_attrs *attrs, const char *operands, tn_diag_code code) {
  tn_fault fault = fails(op, attrs, operands);
  report(&fault, code);
}

#define FIELD(name, expected) assert_string_equal(field(name), expected)

static int set_up_diags(void **state) {
  if (set_up(state)) return -1;
  tn_sources_init(&sources, &heap);
  tn_diags_init(&diags, &heap, &sources);
  return 0;
}

static int tear_down_diags(void **state) {
  tn_diags_free(&diags);
  tn_sources_free(&sources);
  return tear_down(state);
}

static void arity_is_E2005(void **state) {
  (void)state;
  report_failure(TN_OP_ADD, NULL, "f32[2]", TN_DIAG_E2005);
  FIELD("function", "add");
  FIELD("expected", "2");
  FIELD("got", "1");
}

static void dtypes_are_E2006(void **state) {
  (void)state;
  report_failure(TN_OP_ADD, NULL, "f32[2]; i32[2]", TN_DIAG_E2006);
  FIELD("op", "add");
  FIELD("left", "f32");
  FIELD("right", "i32");
  report_failure(TN_OP_GATHER, NULL, "f32[2]; f64[2]", TN_DIAG_E2006);
  FIELD("expected", "i32 or i64");
  FIELD("got", "f64");
  assert_null(field("left"));
}

static void broadcasting_is_E2101(void **state) {
  (void)state;
  report_failure(TN_OP_SUB, NULL, "f32[B, 3]; f32[B, 4]", TN_DIAG_E2101);
  FIELD("op", "sub");
  FIELD("left", "[B, 3]");
  FIELD("right", "[B, 4]");
  FIELD("dimension", "1");
}

static void shapes_that_do_not_fit_are_E2103(void **state) {
  (void)state;
  report_failure(TN_OP_MATMUL, NULL, "f32[2, 3]; f32[4, 5]", TN_DIAG_E2103);
  FIELD("left", "[2, 3]");
  FIELD("right", "[4, 5]");
  FIELD("op", "matmul");
  FIELD("dimension", "1");
  report_failure(TN_OP_CONCAT, NULL, "f32[2, 3]; f32[2, 4]", TN_DIAG_E2103);
  FIELD("right", "[2, 4]");
  report_failure(TN_OP_CROSS_ENTROPY, NULL, "f32[2, 3]; i32[4]", TN_DIAG_E2103);
}

static void another_rank_is_E2102(void **state) {
  (void)state;
  report_failure(TN_OP_MATMUL, NULL, "f32[2, 3]; f32[B]", TN_DIAG_E2102);
  FIELD("expected", "of at least 2 dimensions");
  FIELD("got", "[B]");
  report(&(tn_fault){ .kind = TN_FAULT_RANK, .op = TN_OP_DOT, .expected = 1 }, TN_DIAG_E2102);
}

static void counts_are_E2104(void **state) {
  (void)state;
  report_failure(TN_OP_RESHAPE, ATTRS(.shape = shape_of("[4]")), "f32[2, 3]", TN_DIAG_E2104);
  FIELD("expected", "6");
  FIELD("got", "4");
  report_failure(TN_OP_RESHAPE, ATTRS(.shape = shape_of("[B]")), "f32[2, 3]", TN_DIAG_E2104);
  FIELD("got", "[B]");
  report_failure(TN_OP_RESHAPE, ATTRS(.shape = shape_of("[4, ?]")), "f32[2, 3]", TN_DIAG_E2104);
  FIELD("got", "[4, ?]");
}

static void axes_are_E2106(void **state) {
  (void)state;
  report_failure(TN_OP_SUM, ATTRS(.axis_count = 1, .axes = { -3 }), "f32[2, 3]", TN_DIAG_E2106);
  FIELD("axis", "-3");
  FIELD("rank", "2");
}

static void permutations_are_E2107(void **state) {
  (void)state;
  report_failure(TN_OP_TRANSPOSE, ATTRS(.axis_count = 3, .axes = { 0, -2, 7 }), "f32[2, 3]", TN_DIAG_E2107);
  FIELD("axes", "[0, -2, 7]");
  FIELD("rank", "2");
}

static void squeezing_is_E2108(void **state) {
  (void)state;
  tn_type in[2];
  types_of("f32[1, 2]; f32[1, B]", in);
  tn_fault fault = { .kind = TN_FAULT_SQUEEZE, .op = TN_OP_SQUEEZE, .axis = -1, .left = in[0] };
  report(&fault, TN_DIAG_E2108);
  FIELD("axis", "-1");
  FIELD("size", "2");
  fault.left = in[1];
  report(&fault, TN_DIAG_E2108);
  FIELD("size", "B");
  fault.left.shape.dim[1] = TN_DIM_UNKNOWN;
  report(&fault, TN_DIAG_E2108);
  FIELD("size", "?");
}

static void bounds_are_E2109(void **state) {
  (void)state;
  report_failure(TN_OP_SLICE, ATTRS(.high = { 9 }), "f32[5]", TN_DIAG_E2109);
  FIELD("index", "9");
  FIELD("limit", "5");
}

static void limits_have_codes_of_their_own(void **state) {
  (void)state;
  report_failure(TN_OP_GATHER, NULL, "f32[1, 1, 1, 1, 1]; i32[1, 1, 1, 1, 1]", TN_DIAG_E_RANK_LIMIT);
  FIELD("rank", "9");
  FIELD("limit", "8");
  report_failure(TN_OP_ADD, NULL, "f32[1048577, 1]; f32[1, 1048576]", TN_DIAG_E_TOO_LARGE);
  FIELD("limit", "1099511627776");
  FIELD("requested", "[1048577, 1048576]");
  report(&(tn_fault){ .kind = TN_FAULT_TOO_LARGE }, TN_DIAG_E_TOO_LARGE);
  assert_null(field("requested"));
}

static void arguments_are_E2001(void **state) {
  (void)state;
  report_failure(TN_OP_SLICE, ATTRS(.high = { 5 }, .step = { -2 }), "f32[5]", TN_DIAG_E2001);
  FIELD("expected", "a step of at least 1");
  FIELD("got", "-2");
  report(&(tn_fault){ .kind = TN_FAULT_ARGUMENT, .op = TN_OP_DROPOUT }, TN_DIAG_E2001);
}

static void the_rest_is_named_by_its_operation_alone(void **state) {
  (void)state;
  report(&(tn_fault){ .kind = TN_FAULT_NO_GRADIENT, .op = TN_OP_REM }, TN_DIAG_E4001);
  FIELD("op", "rem");
  report(&(tn_fault){ .kind = TN_FAULT_DIVIDE, .op = TN_OP_DIV }, TN_DIAG_E6001);
  FIELD("op", "div");
  report(&(tn_fault){ .kind = TN_FAULT_MEMORY }, TN_DIAG_E_OUT_OF_MEMORY);
  report(&(tn_fault){ .kind = TN_FAULT_INTERRUPTED }, TN_DIAG_E_INTERRUPTED);
  report(&(tn_fault){ .kind = TN_FAULT_INTERNAL, .reason = "oh" }, TN_DIAG_E_INTERNAL);
  FIELD("message", "oh");
  report(&(tn_fault){ .kind = TN_FAULT_INTERNAL }, TN_DIAG_E_INTERNAL);
  report(&(tn_fault){ .kind = TN_FAULT_NONE }, TN_DIAG_E_INTERNAL);
}

static void the_host_has_reported_itself(void **state) {
  (void)state;
  tn_diags_clear(&diags);
  assert_false(tn_fault_report(&(tn_fault){ .kind = TN_FAULT_HOST }, names, &diags));
  assert_int_equal(diags.list.count, 0);
}

static void a_report_has_the_location_of_the_fault(void **state) {
  (void)state;
  uint32_t file = tn_sources_add(&sources, TN_LIT("a.mind"), TN_LIT("x + y\n"));
  tn_fault fault = fails(TN_OP_ADD, NULL, "f32[2]; f32[3]");
  fault.at = (tn_span){ file, 0, 5 };
  report(&fault, TN_DIAG_E2101);
  assert_int_equal(diags.list.at[0].at.file, file);
  assert_int_equal(diags.list.at[0].at.end, 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(arity_is_E2005),
    cmocka_unit_test(dtypes_are_E2006),
    cmocka_unit_test(broadcasting_is_E2101),
    cmocka_unit_test(shapes_that_do_not_fit_are_E2103),
    cmocka_unit_test(another_rank_is_E2102),
    cmocka_unit_test(counts_are_E2104),
    cmocka_unit_test(axes_are_E2106),
    cmocka_unit_test(permutations_are_E2107),
    cmocka_unit_test(squeezing_is_E2108),
    cmocka_unit_test(bounds_are_E2109),
    cmocka_unit_test(limits_have_codes_of_their_own),
    cmocka_unit_test(arguments_are_E2001),
    cmocka_unit_test(the_rest_is_named_by_its_operation_alone),
    cmocka_unit_test(the_host_has_reported_itself),
    cmocka_unit_test(a_report_has_the_location_of_the_fault),
  };
  return cmocka_run_group_tests(tests, set_up_diags, tear_down_diags);
}
