/* Views: each way of rearranging one against the list of addresses it stands for. */
#include "tensor_support.h"

#include <math.h>

static void a_made_view_is_contiguous(void **state) {
  (void)state;
  int32_t data[24];
  tn_shape shape = SHAPE(2, 3, 4);
  tn_view view = tn_view_make(data, TN_I32, &shape);
  assert_int_equal(view.rank, 3);
  assert_int_equal(view.stride[0], 12);
  assert_int_equal(view.stride[1], 4);
  assert_int_equal(view.stride[2], 1);
  assert_int_equal(tn_view_count(&view), 24);
  assert_true(tn_view_is_contiguous(&view));
  tn_shape again = tn_view_shape(&view);
  assert_memory_equal(&again, &shape, sizeof shape);
  tn_view scalar = tn_view_make(data, TN_I32, &TN_SCALAR_SHAPE);
  assert_int_equal(tn_view_count(&scalar), 1);
  assert_true(tn_view_is_contiguous(&scalar));
}

static void an_empty_view_may_have_long_axes(void **state) {
  (void)state;
  tn_shape shape = SHAPE(1 << 20, 0, 1 << 19);
  tn_view view = tn_view_make(NULL, TN_F64, &shape);
  assert_int_equal(tn_view_count(&view), 0);
  assert_true(tn_view_is_contiguous(&view));
}

static void contiguity_overlooks_axes_of_length_1(void **state) {
  (void)state;
  float data[12];
  tn_shape shape = SHAPE(3, 1, 4);
  tn_view view = tn_view_make(data, TN_F32, &shape);
  view.stride[1] = 77;
  assert_true(tn_view_is_contiguous(&view));
  tn_view turned = tn_view_permute(&view, (int[]){ 1, 0, 2 });
  assert_true(tn_view_is_contiguous(&turned));
  turned = tn_view_permute(&view, (int[]){ 2, 0, 1 });
  assert_false(tn_view_is_contiguous(&turned));
  tn_view gaps = tn_view_slice(&view, 2, 0, 2, 2), backwards = tn_view_slice(&view, 0, 2, -1, 3);
  assert_false(tn_view_is_contiguous(&gaps));
  assert_false(tn_view_is_contiguous(&backwards));
  tn_view nothing = tn_view_slice(&gaps, 0, 0, 1, 0);
  assert_true(tn_view_is_contiguous(&nothing));
}

static void permuting_renames_axes(void **state) {
  (void)state;
  int32_t data[120];
  tn_shape shape = SHAPE(2, 3, 4, 5);
  tn_view view = tn_view_make(data, TN_I32, &shape);
  int axes[] = { 2, 0, 3, 1 };
  tn_view turned = tn_view_permute(&view, axes);
  int64_t index[TN_RANK_LIMIT] = { 0 };
  do {
    int64_t original[TN_RANK_LIMIT];
    for (int i = 0; i < 4; i++) original[axes[i]] = index[i];
    assert_ptr_equal(address_at(&turned, index), address_at(&view, original));
  } while (next_index(&turned, index));
}

static void slicing_picks_places(void **state) {
  (void)state;
  int32_t data[40];
  tn_shape shape = SHAPE(8, 5);
  tn_view view = tn_view_make(data, TN_I32, &shape);
  for (int64_t start = 0; start < 8; start++) {
    for (int64_t step = -3; step <= 3; step++) {
      if (step == 0) continue;
      int64_t most = step > 0 ? (7 - start) / step + 1 : start / -step + 1;
      for (int64_t count = 0; count <= most; count++) {
        tn_view part = tn_view_slice(&view, 0, start, step, count);
        assert_int_equal(part.dim[0], count);
        for (int64_t i = 0; i < count; i++) {
          assert_ptr_equal(address_at(&part, (int64_t[]){ i, 3 }),
                           address_at(&view, (int64_t[]){ start + i * step, 3 }));
        }
      }
    }
  }
  tn_view nothing = tn_view_slice(&view, 0, 8, 1, 0);   /* the start may lie after the end */
  assert_ptr_equal(nothing.data, view.data);
}

static void broadcasting_repeats(void **state) {
  (void)state;
  int32_t data[3] = { 1, 2, 3 };
  tn_shape shape = SHAPE(3, 1), to = SHAPE(2, 3, 4);
  tn_view view = tn_view_make(data, TN_I32, &shape), wide = tn_view_broadcast(&view, &to);
  for (int64_t i = 0; i < 24; i++) assert_int_equal(tn_view_get_i64(&wide, i), 1 + i / 4 % 3);
  tn_shape none = SHAPE(2, 3, 0);
  wide = tn_view_broadcast(&view, &none);
  assert_int_equal(tn_view_count(&wide), 0);
}

/* ---- reshape ---- */

/* A random shape with the same number of elements. */
static tn_shape other_shape(tn_rng *rng, int64_t count) {
  tn_shape shape = { 0 };
  if (count == 0) return SHAPE(3, 0);
  while (shape.rank < TN_RANK_LIMIT - 1 && (count > 1 || below(rng, 3) == 0)) {
    int64_t factor = 1 + below(rng, count);
    while (count % factor) factor = 1 + below(rng, count);
    shape.dim[shape.rank++] = factor;
    count /= factor;
  }
  if (count > 1) shape.dim[shape.rank++] = count;
  return shape;
}

/* The strides that a view of this shape over these addresses would need, if any do. */
static bool strides_exist(char **list, const tn_shape *shape, int64_t bytes) {
  tn_view view = tn_view_make(list[0], TN_I32, shape);
  int64_t below_axis = 1;
  for (int axis = shape->rank - 1; axis >= 0; axis--) {
    if (shape->dim[axis] > 1) view.stride[axis] = (list[below_axis] - list[0]) / bytes;
    below_axis *= shape->dim[axis];
  }
  int64_t index[TN_RANK_LIMIT] = { 0 }, at = 0;
  do {
    if (address_at(&view, index) != list[at++]) return false;
  } while (next_index(&view, index));
  return true;
}

static void reshape_succeeds_exactly_when_strides_exist(void **state) {
  (void)state;
  static int32_t data[4096];
  tn_rng rng;
  tn_rng_init(&rng, 7);
  int done = 0, refused = 0;
  for (int round = 0; round < 20000; round++) {
    tn_view view = random_view(&rng, data, TN_I32, 6, true), out = { .rank = 99 };
    int64_t count = tn_view_count(&view);
    tn_shape to = other_shape(&rng, count);
    char **before = addresses_of(&view);
    if (tn_view_reshape(&view, &to, &out)) {
      tn_shape got = tn_view_shape(&out);
      char **after = addresses_of(&out);
      assert_memory_equal(&got, &to, sizeof to);
      assert_memory_equal(before, after, (size_t)count * sizeof *before);
      free(after);
      done++;
    } else {
      assert_int_equal(out.rank, 99);   /* untouched */
      assert_false(strides_exist(before, &to, 4));
      refused++;
    }
    free(before);
  }
  assert_true(done > 1000 && refused > 1000);
}

/* ---- elements ---- */

static void elements_are_found_by_row_major_index(void **state) {
  (void)state;
  static int64_t data[2048];
  for (int64_t i = 0; i < 2048; i++) data[i] = i * i - 1000;
  tn_rng rng;
  tn_rng_init(&rng, 8);
  for (int round = 0; round < 300; round++) {
    tn_view view = random_view(&rng, data, TN_I64, 5, true);
    char **list = addresses_of(&view);
    for (int64_t i = 0; i < tn_view_count(&view); i++) {
      int64_t number;
      memcpy(&number, list[i], sizeof number);
      assert_int_equal(tn_view_get_i64(&view, i), number);
    }
    free(list);
  }
}

static double round_trip(tn_dtype dtype, double number) {
  unsigned char bytes[8];
  tn_view view = { .data = bytes, .dtype = dtype };
  tn_view_set_f64(&view, 0, number);
  return tn_view_get_f64(&view, 0);
}

static void elements_convert_as_the_numeric_contract_says(void **state) {
  (void)state;
  assert_true(round_trip(TN_F64, 0.1) == 0.1);
  assert_true(round_trip(TN_F32, 0.1) == (double)0.1f);
  assert_true(round_trip(TN_F16, 0.1) == 0.0999755859375);
  assert_true(round_trip(TN_BF16, 0.1) == 0.10009765625);
  assert_true(round_trip(TN_I32, -2.9) == -2);
  assert_true(round_trip(TN_I32, 1e10) == INT32_MAX);
  assert_true(round_trip(TN_I64, -1e30) == (double)INT64_MIN);
  assert_true(round_trip(TN_I32, NAN) == 0);
  assert_true(round_trip(TN_BOOL, NAN) == 1);
  assert_true(round_trip(TN_BOOL, 0.25) == 1);
  assert_true(round_trip(TN_BOOL, -0.0) == 0);
  assert_true(isnan(round_trip(TN_F32, NAN)));
  assert_true(isinf(round_trip(TN_F32, 1e300)));
}

static void integers_are_kept_whole(void **state) {
  (void)state;
  int64_t wide = 0;
  int32_t narrow = 0;
  float number = 0;
  double precise = 0;
  tn_view views[] = { { .data = &wide, .dtype = TN_I64 }, { .data = &narrow, .dtype = TN_I32 },
                      { .data = &number, .dtype = TN_F32 }, { .data = &precise, .dtype = TN_F64 } };
  int64_t given = INT64_C(9007199254740993);   /* 2^53 + 1: no double */
  for (size_t i = 0; i < COUNT_OF(views); i++) tn_view_set_i64(&views[i], 0, given);
  assert_int_equal(wide, given);
  assert_int_equal(narrow, 1);
  assert_true(number == 9007199254740992.0f);
  assert_true(precise == 9007199254740992.0);
  assert_int_equal(tn_view_get_i64(&views[0], 0), given);
  tn_view_set_i64(&views[2], 0, INT64_C(0x20000020000001));   /* rounded once: via f64 it would be a tie */
  assert_true(number == 0x1.000002p53f);
  number = 3e9f;
  assert_int_equal(tn_view_get_i64(&views[2], 0), 3000000000);
}

static void nans_become_the_one_nan(void **state) {
  (void)state;
  uint32_t single[] = { 0xffc00001, 0x7f800001, 0x7f800000, 0x3f800000, 0xff800000, 0x80000000 };
  uint64_t twice[] = { 0xfff8000000000001, 0x7ff0000000000001, 0x7ff0000000000000, 1 };
  uint16_t half[] = { 0xfe01, 0x7c01, 0x7c00, 0xfc00, 1 }, brain[] = { 0xff81, 0x7f80, 0xff80, 1 };
  int32_t integer[] = { -1, 0x7fc00001 };
  tn_shape six = SHAPE(6), four = SHAPE(4), five = SHAPE(5), two = SHAPE(2);
  tn_view views[] = { tn_view_make(single, TN_F32, &six), tn_view_make(twice, TN_F64, &four),
                      tn_view_make(half, TN_F16, &five), tn_view_make(brain, TN_BF16, &four),
                      tn_view_make(integer, TN_I32, &two) };
  for (size_t i = 0; i < COUNT_OF(views); i++) tn_view_canonicalise(&views[i]);
  const uint32_t single_then[] = { 0x7fc00000, 0x7fc00000, 0x7f800000, 0x3f800000, 0xff800000, 0x80000000 };
  const uint64_t twice_then[] = { 0x7ff8000000000000, 0x7ff8000000000000, 0x7ff0000000000000, 1 };
  const uint16_t half_then[] = { 0x7e00, 0x7e00, 0x7c00, 0xfc00, 1 };
  const uint16_t brain_then[] = { 0x7fc0, 0x7f80, 0xff80, 1 };
  assert_memory_equal(single, single_then, sizeof single);
  assert_memory_equal(twice, twice_then, sizeof twice);
  assert_memory_equal(half, half_then, sizeof half);
  assert_memory_equal(brain, brain_then, sizeof brain);
  assert_int_equal(integer[1], 0x7fc00001);
}

static void only_the_elements_of_a_view_become_canonical(void **state) {
  (void)state;
  static uint32_t data[1024];
  tn_rng rng;
  tn_rng_init(&rng, 9);
  for (int round = 0; round < 300; round++) {
    for (size_t i = 0; i < COUNT_OF(data); i++) data[i] = 0xffc00000 + (uint32_t)i;
    tn_view view = random_view(&rng, data, TN_F32, 4, true);
    tn_view_canonicalise(&view);
    char **list = addresses_of(&view);
    for (int64_t i = 0; i < tn_view_count(&view); i++) {
      uint32_t *at = (uint32_t *)(void *)list[i];
      assert_true(*at == 0x7fc00000 || *at == 0);
      *at = 0;   /* seen */
    }
    for (size_t i = 0; i < COUNT_OF(data); i++) assert_true(data[i] == 0 || data[i] == 0xffc00000 + i);
    free(list);
  }
}

static void equality_is_of_dtype_shape_and_bits(void **state) {
  (void)state;
  static int32_t data[2048], copy[2048];
  tn_rng rng;
  tn_rng_init(&rng, 10);
  for (size_t i = 0; i < COUNT_OF(data); i++) data[i] = (int32_t)i;
  for (int round = 0; round < 1000; round++) {
    tn_view view = random_view(&rng, data, TN_I32, 5, true);
    tn_shape shape = tn_view_shape(&view);
    if (tn_view_count(&view) > 2048) continue;
    tn_view flat = tn_view_make(copy, TN_I32, &shape);
    tn_view_copy(&flat, &view);
    assert_true(tn_view_equal(&view, &flat) && tn_view_equal(&flat, &view));
    if (tn_view_count(&view) == 0) continue;
    copy[below(&rng, tn_view_count(&view))] ^= 1 << 20;
    assert_false(tn_view_equal(&view, &flat));
  }
  float zero = 0, minus = -0.0f;
  tn_view a = { .data = &zero, .dtype = TN_F32 }, b = { .data = &minus, .dtype = TN_F32 }, c = a;
  c.dtype = TN_I32;
  assert_false(tn_view_equal(&a, &b));
  assert_false(tn_view_equal(&a, &c));
  tn_shape one = SHAPE(1);
  tn_view d = tn_view_make(&zero, TN_F32, &one);
  assert_false(tn_view_equal(&a, &d));
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_made_view_is_contiguous),
    cmocka_unit_test(an_empty_view_may_have_long_axes),
    cmocka_unit_test(contiguity_overlooks_axes_of_length_1),
    cmocka_unit_test(permuting_renames_axes),
    cmocka_unit_test(slicing_picks_places),
    cmocka_unit_test(broadcasting_repeats),
    cmocka_unit_test(reshape_succeeds_exactly_when_strides_exist),
    cmocka_unit_test(elements_are_found_by_row_major_index),
    cmocka_unit_test(elements_convert_as_the_numeric_contract_says),
    cmocka_unit_test(integers_are_kept_whole),
    cmocka_unit_test(nans_become_the_one_nan),
    cmocka_unit_test(only_the_elements_of_a_view_become_canonical),
    cmocka_unit_test(equality_is_of_dtype_shape_and_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
