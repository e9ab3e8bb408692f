/* Tensors as text, in the styles of the three languages and as JSON. */
#include "tensor_support.h"

#include <math.h>

#include "tensor/print.h"

static tn_heap heap;

static const tn_print_style brackets = { "[", "]", ", ", 0 }, ninth = { "(", ")", " ", 0 };

static tn_view iota(int32_t *data, tn_shape shape) {
  tn_view view = tn_view_make(data, TN_I32, &shape);
  for (int64_t i = 0; i < tn_view_count(&view); i++) data[i] = (int32_t)i;
  return view;
}

static void assert_prints(const tn_view *view, const tn_print_style *style, const char *expected) {
  tn_text text;
  tn_text_init(&text, &heap);
  tn_view_print(view, style, &text);
  assert_string_equal(text.at, expected);
  tn_text_free(&text);
}

static void assert_json(const tn_view *view, const char *expected) {
  tn_text text;
  tn_text_init(&text, &heap);
  tn_view_print_json_data(view, &text);
  assert_string_equal(text.at, expected);
  tn_text_free(&text);
}

static void axes_become_brackets(void **state) {
  (void)state;
  int32_t data[24];
  tn_view matrix = iota(data, SHAPE(2, 3)), cube = iota(data, SHAPE(2, 1, 2));
  tn_view scalar = iota(data, TN_SCALAR_SHAPE);
  assert_prints(&matrix, &brackets, "[[0, 1, 2], [3, 4, 5]]");
  assert_prints(&matrix, &ninth, "((0 1 2) (3 4 5))");
  assert_prints(&cube, &brackets, "[[[0, 1]], [[2, 3]]]");
  assert_prints(&scalar, &brackets, "0");
}

static void strides_do_not_show(void **state) {
  (void)state;
  int32_t data[6];
  tn_view matrix = iota(data, SHAPE(2, 3)), turned = tn_view_permute(&matrix, (int[]){ 1, 0 });
  tn_view backwards = tn_view_slice(&matrix, 1, 2, -2, 2);
  assert_prints(&turned, &brackets, "[[0, 3], [1, 4], [2, 5]]");
  assert_prints(&backwards, &brackets, "[[2, 0], [5, 3]]");
  assert_json(&turned, "[0,3,1,4,2,5]");
  assert_json(&backwards, "[2,0,5,3]");
}

static void empty_axes_are_empty_brackets(void **state) {
  (void)state;
  int32_t data[1];
  tn_view none = iota(data, SHAPE(0)), rows = iota(data, SHAPE(2, 0)), deep = iota(data, SHAPE(0, 3));
  assert_prints(&none, &brackets, "[]");
  assert_prints(&rows, &brackets, "[[], []]");
  assert_prints(&deep, &brackets, "[]");
  assert_json(&rows, "[]");
}

static void every_dtype_prints_its_numbers(void **state) {
  (void)state;
  static const char *const expected[TN_DTYPE_COUNT] = {
    [TN_F32] = "[0.1, -0, 3]", [TN_F64] = "[0.1, -0, 3]", [TN_I32] = "[0, 0, 3]", [TN_I64] = "[0, 0, 3]",
    [TN_BOOL] = "[true, false, true]", [TN_BF16] = "[0.100097656, -0, 3]", [TN_F16] = "[0.099975586, -0, 3]",
  };
  for (int dtype = 0; dtype < TN_DTYPE_COUNT; dtype++) {
    unsigned char data[24];
    tn_shape shape = SHAPE(3);
    tn_view view = tn_view_make(data, (tn_dtype)dtype, &shape);
    tn_view_set_f64(&view, 0, 0.1);
    tn_view_set_f64(&view, 1, -0.0);
    tn_view_set_f64(&view, 2, 3);
    assert_prints(&view, &brackets, expected[dtype]);
  }
}

static void integers_print_whole(void **state) {
  (void)state;
  int64_t data[] = { INT64_MIN, INT64_MAX };
  tn_shape shape = SHAPE(2);
  tn_view view = tn_view_make(data, TN_I64, &shape);
  assert_prints(&view, &brackets, "[-9223372036854775808, 9223372036854775807]");
}

static void what_json_lacks_is_a_string_there(void **state) {
  (void)state;
  float data[] = { NAN, INFINITY, -INFINITY, 1.5f };
  double wide = -INFINITY;
  uint16_t half = 0x7c00;
  uint8_t yes = 1;
  tn_shape shape = SHAPE(2, 2);
  tn_view view = tn_view_make(data, TN_F32, &shape);
  assert_json(&view, "[\"NaN\",\"Infinity\",\"-Infinity\",1.5]");
  assert_prints(&view, &brackets, "[[NaN, Infinity], [-Infinity, 1.5]]");
  assert_json(&(tn_view){ .data = &wide, .dtype = TN_F64 }, "[\"-Infinity\"]");
  assert_json(&(tn_view){ .data = &half, .dtype = TN_F16 }, "[\"Infinity\"]");
  assert_json(&(tn_view){ .data = &yes, .dtype = TN_BOOL }, "[true]");
}

static void long_axes_are_shortened_in_the_middle(void **state) {
  (void)state;
  int32_t data[64];
  tn_print_style two = { "[", "]", ", ", 2 };
  tn_view five = iota(data, SHAPE(5)), four = iota(data, SHAPE(4)), wide = iota(data, SHAPE(2, 7));
  assert_prints(&five, &two, "[0, 1, ..., 3, 4]");
  assert_prints(&four, &two, "[0, 1, 2, 3]");
  assert_prints(&wide, &two, "[[0, 1, ..., 5, 6], [7, 8, ..., 12, 13]]");
  tn_view tall = iota(data, SHAPE(6, 1));
  assert_prints(&tall, &two, "[[0], [1], ..., [4], [5]]");
  tn_print_style one = { "(", ")", " ", 1 }, endless = { "[", "]", ", ", INT64_MAX };
  assert_prints(&five, &one, "(0 ... 4)");
  assert_prints(&five, &endless, "[0, 1, 2, 3, 4]");
}

static void printing_survives_every_allocation_failure(void **state) {
  (void)state;
  int32_t data[64];
  tn_view view = iota(data, SHAPE(8, 8));
  for (uint64_t n = 1; n < 12; n++) {
    tn_text text;
    tn_text_init(&text, &heap);
    heap.requests = 0;
    heap.fail_at = n;
    tn_view_print(&view, &brackets, &text);
    tn_view_print_json_data(&view, &text);
    assert_int_equal(text.failed, heap.requests >= n);
    heap.fail_at = 0;
    tn_text_free(&text);
  }
  assert_int_equal(heap.used, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(axes_become_brackets),
    cmocka_unit_test(strides_do_not_show),
    cmocka_unit_test(empty_axes_are_empty_brackets),
    cmocka_unit_test(every_dtype_prints_its_numbers),
    cmocka_unit_test(integers_print_whole),
    cmocka_unit_test(what_json_lacks_is_a_string_there),
    cmocka_unit_test(long_axes_are_shortened_in_the_middle),
    cmocka_unit_test(printing_survives_every_allocation_failure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
