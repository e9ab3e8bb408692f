/* Copying: every arrangement against one element after the other, for every size of element. What
 * lies between the elements of the destination must stay. */
#include "tensor_support.h"

enum { ROOM = 1 << 16 };
static unsigned char from_data[ROOM], to_data[ROOM], expected[ROOM];

static void fill(tn_rng *rng) {
  static uint32_t words[ROOM / 4];
  tn_rng_key key = tn_rng_key_of(tn_rng_below(rng, UINT32_MAX));
  tn_rng_words(&key, 0, COUNT_OF(words), words);
  memcpy(from_data, words, ROOM);
  tn_rng_words(&key, COUNT_OF(words), COUNT_OF(words), words);
  memcpy(to_data, words, ROOM);
  memcpy(expected, words, ROOM);
}

static void assert_copies(const tn_view *to, const tn_view *from) {
  char **to_list = addresses_of(to), **from_list = addresses_of(from);
  size_t bytes = tn_dtype_bytes(to->dtype);
  for (int64_t i = 0; i < tn_view_count(to); i++) {
    memcpy(expected + (to_list[i] - (char *)to_data), from_list[i], bytes);
  }
  tn_view_copy(to, from);
  assert_true(memcmp(to_data, expected, ROOM) == 0);   /* the whole room: too much for one by one */
  free(to_list);
  free(from_list);
}

/* A view over to_data with the shape of `like`: axes in another order, with gaps, some backwards. */
static tn_view destination(tn_rng *rng, const tn_view *like) {
  tn_view view = { .data = to_data, .dtype = like->dtype, .rank = like->rank };
  int order[TN_RANK_LIMIT];
  tn_view order_of = { .dtype = TN_BOOL, .rank = like->rank };
  for (int i = 0; i < like->rank; i++) order_of.dim[i] = i;
  order_of = random_order(rng, &order_of);
  int64_t stride = 1 + below(rng, 2), offset = 0;
  for (int i = 0; i < like->rank; i++) order[i] = (int)order_of.dim[i];
  for (int i = 0; i < like->rank; i++) {
    int axis = order[i];
    view.dim[axis] = like->dim[axis];
    view.stride[axis] = stride;
    stride = stride * like->dim[axis] + below(rng, 2);
    if (below(rng, 4) == 0 && view.dim[axis]) {
      offset += view.stride[axis] * (view.dim[axis] - 1);
      view.stride[axis] = -view.stride[axis];
    }
  }
  if (stride * (int64_t)tn_dtype_bytes(like->dtype) > ROOM) return (tn_view){ 0 };
  view.data = to_data + offset * (int64_t)tn_dtype_bytes(like->dtype);
  return view;
}

static void any_strides_copy_alike(void **state) {
  (void)state;
  tn_rng rng;
  tn_rng_init(&rng, 11);
  int done = 0;
  for (int round = 0; round < 2000; round++) {
    if (round % 50 == 0) fill(&rng);
    tn_dtype dtype = (tn_dtype)below(&rng, TN_DTYPE_COUNT);
    tn_view from = random_view(&rng, from_data, dtype, 7, true), to = destination(&rng, &from);
    if (!to.data) continue;
    assert_copies(&to, &from);
    done++;
  }
  assert_true(done > 1000);
}

static void transposes_copy_alike_around_the_size_of_a_tile(void **state) {
  (void)state;
  static const int64_t lengths[] = { 1, 2, 31, 32, 33, 65 };
  static const tn_dtype dtypes[] = { TN_BOOL, TN_F16, TN_F32, TN_F64 };
  tn_rng rng;
  tn_rng_init(&rng, 12);
  fill(&rng);
  for (size_t d = 0; d < COUNT_OF(dtypes); d++) {
    for (size_t i = 0; i < COUNT_OF(lengths); i++) {
      for (size_t k = 0; k < COUNT_OF(lengths); k++) {
        tn_shape shape = SHAPE(lengths[i], lengths[k]), turned_shape = SHAPE(lengths[k], lengths[i]);
        tn_view from = tn_view_make(from_data, dtypes[d], &shape);
        tn_view turned = tn_view_permute(&from, (int[]){ 1, 0 });
        tn_view to = tn_view_make(to_data, dtypes[d], &turned_shape);
        assert_copies(&to, &turned);
      }
    }
  }
}

static void all_orders_of_four_axes_copy_alike(void **state) {
  (void)state;
  tn_rng rng;
  tn_rng_init(&rng, 13);
  fill(&rng);
  tn_shape shape = SHAPE(3, 34, 5, 7);
  tn_view from = tn_view_make(from_data, TN_F32, &shape);
  for (int code = 0; code < 256; code++) {
    int axes[] = { code & 3, code >> 2 & 3, code >> 4 & 3, code >> 6 & 3 };
    int seen = 1 << axes[0] | 1 << axes[1] | 1 << axes[2] | 1 << axes[3];
    if (seen != 15) continue;
    tn_view turned = tn_view_permute(&from, axes);
    tn_shape turned_shape = tn_view_shape(&turned);
    tn_view to = tn_view_make(to_data, TN_F32, &turned_shape);
    assert_copies(&to, &turned);
  }
}

static void a_repeated_element_fills(void **state) {
  (void)state;
  tn_rng rng;
  tn_rng_init(&rng, 14);
  fill(&rng);
  tn_shape one = SHAPE(3, 1), wide = SHAPE(4, 3, 50);
  tn_view from = tn_view_make(from_data, TN_I64, &one), repeated = tn_view_broadcast(&from, &wide);
  tn_view to = tn_view_make(to_data, TN_I64, &wide);
  assert_copies(&to, &repeated);
}

static void memory_without_alignment_copies_alike(void **state) {
  (void)state;
  tn_rng rng;
  tn_rng_init(&rng, 15);
  fill(&rng);
  tn_shape shape = SHAPE(40, 33);
  tn_view from = tn_view_make(from_data + 3, TN_F64, &shape), to = tn_view_make(to_data + 5, TN_F64, &shape);
  assert_copies(&to, &from);
}

static void nothing_is_copied_from_an_empty_view(void **state) {
  (void)state;
  tn_shape shape = SHAPE(3, 0, 5);
  tn_view view = tn_view_make(NULL, TN_F32, &shape);
  tn_view_copy(&view, &view);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(any_strides_copy_alike),
    cmocka_unit_test(transposes_copy_alike_around_the_size_of_a_tile),
    cmocka_unit_test(all_orders_of_four_axes_copy_alike),
    cmocka_unit_test(a_repeated_element_fills),
    cmocka_unit_test(memory_without_alignment_copies_alike),
    cmocka_unit_test(nothing_is_copied_from_an_empty_view),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
