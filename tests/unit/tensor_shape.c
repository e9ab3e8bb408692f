/* Shapes: counting, broadcasting, axes and text. */
#include "tensor_support.h"
#include "tensor/shape_field.h"

static tn_heap heap;
static tn_names *names;

static int set_up(void **state) {
  (void)state;
  names = tn_names_new(&heap);
  return names ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  tn_names_free(names);
  return heap.used == 0 ? 0 : -1;
}

static int64_t symbol(const char *name) { return TN_DIM_SYMBOL(tn_names_intern(names, tn_str_of(name))); }

static void dims_are_lengths_symbols_or_unknown(void **state) {
  (void)state;
  assert_true(tn_dim_is_known(0) && !tn_dim_is_symbol(0));
  assert_true(!tn_dim_is_known(TN_DIM_UNKNOWN) && !tn_dim_is_symbol(TN_DIM_UNKNOWN));
  assert_true(tn_dim_is_symbol(TN_DIM_SYMBOL(0)) && tn_dim_is_symbol(TN_DIM_SYMBOL(UINT32_MAX)));
  assert_int_equal(tn_dim_name(TN_DIM_SYMBOL(UINT32_MAX)), UINT32_MAX);
  assert_int_equal(tn_dim_name(TN_DIM_SYMBOL(7)), 7);
}

static void a_shape_has_a_rank_and_dims(void **state) {
  (void)state;
  tn_shape shape = tn_shape_make(2, 3, -1);
  assert_int_equal(shape.rank, 2);
  assert_int_equal(shape.dim[0], 3);
  assert_true(shape.dim[1] == -1);   /* a variadic function would have read 4294967295 */
  for (int i = 2; i < TN_RANK_LIMIT; i++) assert_int_equal(shape.dim[i], 0);
  tn_shape scalar = tn_shape_make(0), most = tn_shape_make(8, 1, 2, 3, 4, 5, 6, 7, 8);
  assert_memory_equal(&scalar, &TN_SCALAR_SHAPE, sizeof scalar);
  assert_int_equal(most.dim[7], 8);
}

static void equality_looks_at_rank_and_dims(void **state) {
  (void)state;
  tn_shape a = SHAPE(2, 3), b = SHAPE(2, 3), c = SHAPE(2, 4), d = SHAPE(2, 3, 1);
  assert_true(tn_shape_equal(&a, &b));
  assert_false(tn_shape_equal(&a, &c));
  assert_false(tn_shape_equal(&a, &d));
  b.dim[5] = 9;   /* unused */
  assert_true(tn_shape_equal(&a, &b));
}

static int64_t count_of(tn_shape shape) { return tn_shape_count(&shape); }

static void counts_are_checked_products(void **state) {
  (void)state;
  assert_int_equal(count_of(TN_SCALAR_SHAPE), 1);
  assert_int_equal(count_of(SHAPE(2, 3, 4)), 24);
  assert_int_equal(count_of(SHAPE(2, 0, 4)), 0);
  assert_int_equal(count_of(SHAPE(2, TN_DIM_UNKNOWN)), -1);
  assert_int_equal(count_of(SHAPE(2, symbol("B"))), -1);
  assert_true(count_of(SHAPE(TN_ELEMENT_LIMIT - 1)) == TN_ELEMENT_LIMIT - 1);
  assert_int_equal(count_of(SHAPE(TN_ELEMENT_LIMIT)), -2);
  assert_int_equal(count_of(SHAPE(TN_ELEMENT_LIMIT, 2)), -2);
  assert_int_equal(count_of(SHAPE(INT64_MAX, INT64_MAX, INT64_MAX)), -2);
  assert_int_equal(count_of(SHAPE(0, INT64_MAX)), -2);   /* its strides would not fit */
  assert_int_equal(count_of(SHAPE(INT64_MAX, TN_DIM_UNKNOWN)), -1);
}

static void known_shapes_have_lengths_only(void **state) {
  (void)state;
  tn_shape a = SHAPE(2, 0), b = SHAPE(2, symbol("B")), c = SHAPE(TN_DIM_UNKNOWN);
  assert_true(tn_shape_is_known(&a));
  assert_true(tn_shape_is_known(&TN_SCALAR_SHAPE));
  assert_false(tn_shape_is_known(&b));
  assert_false(tn_shape_is_known(&c));
}

/* NumPy's rule for known lengths, said backwards: which result lengths would suit both? */
static bool suits(int64_t dim, int64_t a) { return a == dim || a == 1; }

static void known_lengths_broadcast_as_numpy_defines_it(void **state) {
  (void)state;
  for (int64_t a = 0; a < 4; a++) {
    for (int64_t b = 0; b < 4; b++) {
      tn_shape left = SHAPE(a), right = SHAPE(5, b), out = { .rank = 77 };
      int axis = -1;
      bool done = tn_shape_broadcast(&left, &right, &out, &axis);
      int64_t expected = a == 1 ? b : a;
      assert_int_equal(done, suits(expected, a) && suits(expected, b));
      if (done) {
        assert_int_equal(out.rank, 2);
        assert_int_equal(out.dim[0], 5);
        assert_int_equal(out.dim[1], expected);
      } else {
        assert_int_equal(out.rank, 77);
        assert_int_equal(axis, 1);
      }
    }
  }
}

static void names_match_themselves_and_1(void **state) {
  (void)state;
  const int64_t B = symbol("B"), T = symbol("T"), U = TN_DIM_UNKNOWN;
  const struct {
    int64_t a, b, out;
    bool fits;
  } table[] = {
    { B, B, B, true }, { B, 1, B, true },  { B, T, 0, false }, { B, 3, 0, false }, { B, 0, 0, false },
    { U, U, U, true }, { U, 1, U, true },  { U, 3, 3, true },  { U, 0, 0, true },  { U, B, U, true },
  };
  for (size_t i = 0; i < COUNT_OF(table); i++) {
    tn_shape a = SHAPE(table[i].a), b = SHAPE(table[i].b), out;
    int axis;
    assert_int_equal(tn_shape_broadcast(&a, &b, &out, &axis), table[i].fits);
    if (table[i].fits) assert_true(out.dim[0] == table[i].out);
    assert_int_equal(tn_shape_broadcast(&b, &a, &out, &axis), table[i].fits);
    if (table[i].fits) assert_true(out.dim[0] == table[i].out);
  }
}

static void the_first_axis_that_differs_is_named(void **state) {
  (void)state;
  tn_shape a = SHAPE(2, 3, 4), b = SHAPE(5, 6), out;
  int axis;
  assert_false(tn_shape_broadcast(&a, &b, &out, &axis));
  assert_int_equal(axis, 1);
  tn_shape c = SHAPE(9, 3, 5);
  assert_false(tn_shape_broadcast(&a, &c, &out, &axis));
  assert_int_equal(axis, 0);
}

static void a_result_may_overwrite_an_operand(void **state) {
  (void)state;
  tn_shape a = SHAPE(3, 1), b = SHAPE(2, 1, 4);
  int axis;
  assert_true(tn_shape_broadcast(&a, &b, &a, &axis));
  tn_shape expected = SHAPE(2, 3, 4);
  assert_memory_equal(&a, &expected, sizeof a);
}

static void axes_count_from_both_ends(void **state) {
  (void)state;
  for (int rank = 0; rank <= 3; rank++) {
    for (int64_t axis = -5; axis <= 5; axis++) {
      int out = 99;
      bool inside = axis >= -rank && axis < rank;
      assert_int_equal(tn_shape_axis(rank, axis, &out), inside);
      assert_int_equal(out, inside ? (axis + rank) % rank : 99);
    }
  }
  int out;
  assert_false(tn_shape_axis(8, INT64_MIN, &out));
  assert_false(tn_shape_axis(8, INT64_MAX, &out));
}

static void assert_text(const tn_shape *shape, const tn_names *table, tn_shape_style style,
                        const char *expected) {
  tn_text text;
  tn_text_init(&text, &heap);
  tn_shape_print(shape, table, style, &text);
  assert_string_equal(text.at, expected);
  tn_text_free(&text);
  tn_field field = tn_shape_field("left", shape, table, style);
  assert_int_equal(field.kind, TN_FIELD_TEXT);
  assert_string_equal(field.name, "left");
  assert_int_equal(field.text.len, 0);
  assert_string_equal(field.inline_text, expected);
}

static void shapes_print_in_three_styles(void **state) {
  (void)state;
  tn_shape shape = SHAPE(2, symbol("B"), TN_DIM_UNKNOWN), one = SHAPE(3);
  assert_text(&shape, names, TN_SHAPE_COMMA, "[2, B, ?]");
  assert_text(&shape, names, TN_SHAPE_SPACE, "[2 B ?]");
  assert_text(&shape, names, TN_SHAPE_TUPLE, "(2,B,?)");
  assert_text(&shape, NULL, TN_SHAPE_COMMA, "[2, ?, ?]");
  assert_text(&TN_SCALAR_SHAPE, names, TN_SHAPE_COMMA, "[]");
  assert_text(&TN_SCALAR_SHAPE, names, TN_SHAPE_TUPLE, "()");
  assert_text(&one, names, TN_SHAPE_TUPLE, "(3)");
  tn_shape strange = SHAPE(TN_DIM_SYMBOL(0), 1);   /* a symbol without a name */
  assert_text(&strange, names, TN_SHAPE_COMMA, "[?, 1]");
}

static void the_longest_shape_fits_into_a_field(void **state) {
  (void)state;
  tn_shape shape = { .rank = TN_RANK_LIMIT };
  for (int i = 0; i < TN_RANK_LIMIT; i++) shape.dim[i] = INT64_MAX;
  tn_field field = tn_shape_field("left", &shape, names, TN_SHAPE_COMMA);
  assert_int_equal(strlen(field.inline_text), 8 * 19 + 7 * 2 + 2);
  const char *name = "a_name_that_is_much_longer_than_there_is_room";
  for (int i = 0; i < TN_RANK_LIMIT; i++) shape.dim[i] = symbol(name);
  field = tn_shape_field("left", &shape, names, TN_SHAPE_COMMA);
  assert_true(strlen(field.inline_text) < sizeof field.inline_text);
  assert_memory_equal(field.inline_text, "[a_name_that_is_much..., a_", 27);
  assert_string_equal(field.inline_text + strlen(field.inline_text) - 4, "...]");
#define THREE "\xc3\xa4\xc3\xa4\xc3\xa4"
  shape = SHAPE(symbol(THREE THREE THREE THREE));   /* letters of two bytes: cut between two of them */
  field = tn_shape_field("left", &shape, names, TN_SHAPE_COMMA);
  assert_string_equal(field.inline_text, "[" THREE THREE THREE "...]");
#undef THREE
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(dims_are_lengths_symbols_or_unknown),
    cmocka_unit_test(a_shape_has_a_rank_and_dims),
    cmocka_unit_test(equality_looks_at_rank_and_dims),
    cmocka_unit_test(counts_are_checked_products),
    cmocka_unit_test(known_shapes_have_lengths_only),
    cmocka_unit_test(known_lengths_broadcast_as_numpy_defines_it),
    cmocka_unit_test(names_match_themselves_and_1),
    cmocka_unit_test(the_first_axis_that_differs_is_named),
    cmocka_unit_test(a_result_may_overwrite_an_operand),
    cmocka_unit_test(axes_count_from_both_ends),
    cmocka_unit_test(shapes_print_in_three_styles),
    cmocka_unit_test(the_longest_shape_fits_into_a_field),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
