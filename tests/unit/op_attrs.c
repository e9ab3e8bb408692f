/* Attributes as text, and when two of them mean the same; the table itself. */
#include "op_support.h"

static void assert_prints(tn_op op, const tn_attrs *attrs, const char *expected, const char *file, int line) {
  tn_text text;
  tn_text_init(&text, &heap);
  tn_attrs_print(op, attrs, names, &text);
  _assert_string_equal(text.at ? text.at : "", expected, file, line);
  _assert_int_equal(tn_attrs_are_default(op, attrs), *expected == 0, file, line);
  tn_text_free(&text);
}
#define PRINTS(op, attrs, expected) assert_prints(op, attrs, expected, __FILE__, __LINE__)

static tn_name name_of(const char *text) { return tn_names_intern(names, tn_str_of(text)); }

static void only_what_the_operation_reads_is_printed(void **state) {
  (void)state;
  tn_attrs full = { .dtype = TN_I64, .axis = 1, .axis_count = 2, .axes = { 0, 2 }, .keepdims = true,
                    .reverse = true, .exclusive = true, .same = true, .causal = true, .window = { 3, 4 },
                    .shape = shape_of("[2, B, ?]"), .number = 0.5, .index = 7 };
  PRINTS(TN_OP_ADD, &full, "");
  PRINTS(TN_OP_MATMUL, &full, "");
  PRINTS(TN_OP_SUM, &full, "{axes=[0, 2], keepdims=true}");
  PRINTS(TN_OP_ARGMAX, &full, "{axis=1, keepdims=true}");
  PRINTS(TN_OP_CUMSUM, &full, "{axis=1, reverse=true, exclusive=true}");
  PRINTS(TN_OP_CAST, &full, "{dtype=i64}");
  PRINTS(TN_OP_FILL, &full, "{dtype=i64, shape=[2, B, ?], number=0.5}");
  PRINTS(TN_OP_IOTA, &full, "{dtype=i64, shape=[2, B, ?], axis=1}");
  PRINTS(TN_OP_UNIFORM, &full, "{shape=[2, B, ?], index=7}");
  PRINTS(TN_OP_CONV2D, &full, "{index=7, same=true}");
  PRINTS(TN_OP_ATTENTION, &full, "{index=7, causal=true}");
  PRINTS(TN_OP_PATCHES, &full, "{window=[3, 4]}");
}

static void defaults_are_left_out(void **state) {
  (void)state;
  tn_attrs none = { 0 };
  PRINTS(TN_OP_SUM, &none, "{axes=[]}");   /* no axes is not the same as all */
  PRINTS(TN_OP_SUM, ATTRS(.axis_count = -1), "");
  PRINTS(TN_OP_CUMSUM, &none, "{axis=0}");
  PRINTS(TN_OP_PAD, &none, "");
  PRINTS(TN_OP_SLICE, &none, "");
  PRINTS(TN_OP_CONV2D, &none, "");
  PRINTS(TN_OP_CONV2D, ATTRS(.step = { 1, 1 }), "");
  PRINTS(TN_OP_CONV2D, ATTRS(.step = { 2, 1 }), "{step=[2, 1]}");
  PRINTS(TN_OP_IF, ATTRS(.region = { 1, 2 }), "");
  PRINTS(TN_OP_CONST, &none, "");
  PRINTS(TN_OP_HOST, &none, "{dtype=f32, shape=[]}");
}

static void ranges_reach_to_the_last_axis_that_says_something(void **state) {
  (void)state;
  PRINTS(TN_OP_SLICE, ATTRS(.low = { 0, 1 }, .high = { 2, 3 }, .step = { 1, 1 }),
         "{low=[0, 1], high=[2, 3]}");
  PRINTS(TN_OP_SLICE, ATTRS(.high = { 2, 3 }, .step = { 1, 2 }), "{high=[2, 3], step=[1, 2]}");
  PRINTS(TN_OP_SLICE, ATTRS(.high = { 0 }, .step = { 1 }), "{high=[0]}");
  PRINTS(TN_OP_SLICE, ATTRS(.low = { -3 }, .high = { INT64_MAX }, .step = { 1 }),
         "{low=[-3], high=[9223372036854775807]}");
  PRINTS(TN_OP_PAD, ATTRS(.low = { 0, 1 }), "{low=[0, 1]}");
  PRINTS(TN_OP_PAD, ATTRS(.high = { 2 }, .step = { 1 }), "{high=[2], step=[1]}");
  PRINTS(TN_OP_PATCHES, ATTRS(.window = { 2, 2 }, .low = { 1, 0 }, .step = { 1, 1 }),
         "{window=[2, 2], low=[1, 0]}");
}

static void names_are_quoted(void **state) {
  (void)state;
  PRINTS(TN_OP_INPUT, ATTRS(.name = name_of("x"), .shape = shape_of("[B]")),
         "{name=\"x\", dtype=f32, shape=[B]}");
  PRINTS(TN_OP_HOST, ATTRS(.name = name_of("read"), .argument = name_of("a \"b\"\\\n\x7f\xc3\xa4")),
         "{name=\"read\", argument=\"a \\\"b\\\"\\\\\\x0a\\x7f\xc3\xa4\", dtype=f32, shape=[]}");
  PRINTS(TN_OP_HOST, ATTRS(.argument = name_of("a")), "{argument=\"a\", dtype=f32, shape=[]}");
}

static void without_names_everything_still_prints(void **state) {
  (void)state;
  tn_attrs attrs = { .name = name_of("x"), .argument = name_of("y"), .shape = shape_of("[B, 2]") };
  tn_text text;
  tn_text_init(&text, &heap);
  tn_attrs_print(TN_OP_HOST, &attrs, NULL, &text);
  assert_string_equal(text.at, "{name=\"?\", argument=\"?\", dtype=f32, shape=[?, 2]}");
  tn_text_free(&text);
}

static void numbers_print_every_bit(void **state) {
  (void)state;
  PRINTS(TN_OP_LAYER_NORM, ATTRS(.number = 1e-5), "{number=0.00001}");
  PRINTS(TN_OP_LAYER_NORM, ATTRS(.number = 0.0), "{number=0}");
  PRINTS(TN_OP_LAYER_NORM, ATTRS(.number = -0.0), "{number=-0}");
  PRINTS(TN_OP_PICK, ATTRS(.index = UINT64_MAX), "{dtype=f32, shape=[], index=-1}");
  PRINTS(TN_OP_PICK, ATTRS(.index = (uint64_t)INT64_MIN),
         "{dtype=f32, shape=[], index=-9223372036854775808}");
  PRINTS(TN_OP_PICK, ATTRS(.index = INT64_MAX), "{dtype=f32, shape=[], index=9223372036854775807}");
}

static tn_tensor literal_of(tn_dtype dtype, const char *shape_text, const double *numbers) {
  tn_tensor tensor;
  tn_shape shape = shape_of(shape_text);
  assert_true(tn_tensor_new(&heap, dtype, &shape, &tensor));
  for (int64_t i = 0; i < tn_view_count(&tensor.view); i++) tn_view_set_f64(&tensor.view, i, numbers[i]);
  return tensor;
}

static void literals_print_their_type_and_elements(void **state) {
  (void)state;
  double numbers[] = { 1, 0.5, -0.0, 3 }, zero = 0;
  double odd[] = { 1 / zero, -1 / zero, zero / zero };
  tn_tensor a = literal_of(TN_F32, "[2, 2]", numbers), b = literal_of(TN_F32, "[3]", odd);
  tn_tensor c = literal_of(TN_BOOL, "[]", numbers), d = literal_of(TN_I32, "[0]", NULL);
  PRINTS(TN_OP_CONST, ATTRS(.literal = &a), "{value=f32[2, 2] [1,0.5,-0,3]}");
  PRINTS(TN_OP_CONST, ATTRS(.literal = &b), "{value=f32[3] [\"Infinity\",\"-Infinity\",\"NaN\"]}");
  PRINTS(TN_OP_CONST, ATTRS(.literal = &c), "{value=bool[] [true]}");
  PRINTS(TN_OP_CONST, ATTRS(.literal = &d), "{value=i32[0] []}");
  tn_tensor *all[] = { &a, &b, &c, &d };
  for (size_t i = 0; i < COUNT_OF(all); i++) tn_tensor_unref(all[i]);
}

/* ---- meaning ---- */

static void assert_same(tn_op op, const tn_attrs *a, const tn_attrs *b) {
  assert_true(tn_attrs_equal(op, a, b));
  assert_true(tn_attrs_equal(op, b, a));
  assert_true(tn_attrs_hash(op, a) == tn_attrs_hash(op, b));
}

static void assert_different(tn_op op, const tn_attrs *a, const tn_attrs *b) {
  assert_false(tn_attrs_equal(op, a, b));
  assert_false(tn_attrs_equal(op, b, a));
  assert_true(tn_attrs_hash(op, a) != tn_attrs_hash(op, b));   /* not promised, but a bad sign */
}

static void every_attribute_counts_where_it_is_read_and_nowhere_else(void **state) {
  (void)state;
  static const struct tn_fused *const program = (const struct tn_fused *)(const void *)&heap;
  const struct {
    tn_attr_set which;
    tn_attrs attrs;
  } one[] = {
    { TN_ATTR_DTYPE, { .dtype = TN_I32 } },      { TN_ATTR_SHAPE, { .shape = { .rank = 1, .dim = { 2 } } } },
    { TN_ATTR_AXIS, { .axis = 1 } },             { TN_ATTR_AXES, { .axis_count = 1, .axes = { 1 } } },
    { TN_ATTR_KEEPDIMS, { .keepdims = true } },  { TN_ATTR_LOW, { .low = { 0, 1 } } },
    { TN_ATTR_HIGH, { .high = { 1 } } },         { TN_ATTR_STEP, { .step = { 2 } } },
    { TN_ATTR_WINDOW, { .window = { 0, 3 } } },  { TN_ATTR_NUMBER, { .number = -0.0 } },
    { TN_ATTR_INDEX, { .index = 1 } },           { TN_ATTR_NAME, { .name = 1 } },
    { TN_ATTR_NAME, { .argument = 1 } },         { TN_ATTR_REVERSE, { .reverse = true } },
    { TN_ATTR_EXCLUSIVE, { .exclusive = true } }, { TN_ATTR_SAME, { .same = true } },
    { TN_ATTR_CAUSAL, { .causal = true } },
    { TN_ATTR_REGIONS, { .region = { 0, 1 } } }, { TN_ATTR_PROGRAM, { .program = program } },
  };
  tn_attrs none = { 0 };
  for (int op = 1; op < TN_OP_COUNT; op++) {
    uint32_t set = tn_op_sig_of((tn_op)op)->attrs;
    for (size_t i = 0; i < COUNT_OF(one); i++) {
      if (set & one[i].which) assert_different((tn_op)op, &one[i].attrs, &none);
      else assert_same((tn_op)op, &one[i].attrs, &none);
    }
  }
}

static void elements_beyond_the_count_do_not_matter(void **state) {
  (void)state;
  assert_same(TN_OP_SUM, ATTRS(.axis_count = 1, .axes = { 1, 5 }), ATTRS(.axis_count = 1, .axes = { 1 }));
  assert_same(TN_OP_SUM, ATTRS(.axis_count = -1, .axes = { 1, 5 }), ATTRS(.axis_count = -1));
  tn_attrs a = { .shape = { .rank = 1, .dim = { 2, 9 } } }, b = { .shape = { .rank = 1, .dim = { 2 } } };
  assert_same(TN_OP_RESHAPE, &a, &b);
}

static void literals_are_equal_by_content(void **state) {
  (void)state;
  double rows[] = { 1, 2, 3, 4 }, columns[] = { 1, 3, 2, 4 };
  tn_tensor a = literal_of(TN_F32, "[2, 2]", rows), b = literal_of(TN_F32, "[2, 2]", columns);
  tn_tensor turned = b, flat = literal_of(TN_F32, "[4]", rows), other = literal_of(TN_I32, "[2, 2]", rows);
  turned.view = tn_view_permute(&b.view, (int[]){ 1, 0 });
  tn_attrs none = { 0 };
  assert_same(TN_OP_CONST, ATTRS(.literal = &a), ATTRS(.literal = &a));
  assert_same(TN_OP_CONST, ATTRS(.literal = &a), ATTRS(.literal = &turned));
  assert_different(TN_OP_CONST, ATTRS(.literal = &a), ATTRS(.literal = &b));
  assert_different(TN_OP_CONST, ATTRS(.literal = &a), ATTRS(.literal = &flat));
  assert_different(TN_OP_CONST, ATTRS(.literal = &a), ATTRS(.literal = &other));
  assert_different(TN_OP_CONST, ATTRS(.literal = &a), &none);
  assert_same(TN_OP_ADD, ATTRS(.literal = &a), ATTRS(.literal = &b));
  tn_tensor *all[] = { &a, &b, &flat, &other };
  for (size_t i = 0; i < COUNT_OF(all); i++) tn_tensor_unref(all[i]);
}

/* ---- the table ---- */

static bool is_word(const char *name) {
  for (; *name; name++) {
    if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789_", *name)) return false;
  }
  return true;
}

static int count_words(const char *text) {
  int count = 0;
  for (bool inside = false; *text; text++) {
    if (*text != ' ' && !inside) count++;
    inside = *text != ' ';
  }
  return count;
}

static void every_operation_is_described(void **state) {
  (void)state;
  for (int op = 1; op < TN_OP_COUNT; op++) {
    const tn_op_sig *sig = tn_op_sig_of((tn_op)op);
    assert_int_equal(sig->op, op);
    assert_true(sig->name && *sig->name && is_word(sig->name));
    assert_true(sig->doc && *sig->doc);
    assert_true(sig->group && *sig->group);
    assert_true(sig->dtypes != 0);
    if (sig->arity > 0) assert_int_equal(count_words(sig->operands), sig->arity);
    assert_int_equal(tn_op_find(tn_str_of(sig->name)), op);   /* and so names are different */
  }
  assert_int_equal(tn_op_find(TN_LIT("ad")), TN_OP_ERROR);
  assert_int_equal(tn_op_find(TN_LIT("")), TN_OP_ERROR);
  assert_int_equal(tn_op_find(TN_LIT("error")), TN_OP_ERROR);
  assert_string_equal(tn_op_sig_of(TN_OP_ERROR)->name, "error");
}

static void types_are_equal_by_dtype_and_shape(void **state) {
  (void)state;
  tn_type t[4];
  types_of("f32[2, B]; f32[2, B]; f64[2, B]; f32[2, T]", t);
  assert_true(tn_type_equal(&t[0], &t[1]));
  assert_false(tn_type_equal(&t[0], &t[2]));
  assert_false(tn_type_equal(&t[0], &t[3]));
}

static void printing_survives_every_allocation_failure(void **state) {
  (void)state;
  double numbers[] = { 1, 2 };
  tn_tensor literal = literal_of(TN_F32, "[2]", numbers);
  tn_attrs attrs = { .literal = &literal, .shape = shape_of("[B, 2]"), .number = 1e300 };
  uint64_t before = heap.requests;
  for (uint64_t n = 1; n < 8; n++) {
    tn_text text;
    tn_text_init(&text, &heap);
    heap.requests = 0;
    heap.fail_at = n;
    tn_attrs_print(TN_OP_CONST, &attrs, names, &text);
    tn_attrs_print(TN_OP_FILL, &attrs, names, &text);
    heap.fail_at = 0;
    assert_int_equal(text.failed, heap.requests >= n);
    tn_text_free(&text);
  }
  heap.requests = before;
  tn_tensor_unref(&literal);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(only_what_the_operation_reads_is_printed),
    cmocka_unit_test(defaults_are_left_out),
    cmocka_unit_test(ranges_reach_to_the_last_axis_that_says_something),
    cmocka_unit_test(names_are_quoted),
    cmocka_unit_test(without_names_everything_still_prints),
    cmocka_unit_test(numbers_print_every_bit),
    cmocka_unit_test(literals_print_their_type_and_elements),
    cmocka_unit_test(every_attribute_counts_where_it_is_read_and_nowhere_else),
    cmocka_unit_test(elements_beyond_the_count_do_not_matter),
    cmocka_unit_test(literals_are_equal_by_content),
    cmocka_unit_test(every_operation_is_described),
    cmocka_unit_test(types_are_equal_by_dtype_and_shape),
    cmocka_unit_test(printing_survives_every_allocation_failure),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
