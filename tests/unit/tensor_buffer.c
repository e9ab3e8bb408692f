/* Buffers, tensors over them, and fingerprints. */
#include "tensor_support.h"

#include <math.h>

static tn_heap heap;

static void the_last_reference_frees_a_buffer(void **state) {
  (void)state;
  tn_shape shape = SHAPE(2, 3);
  tn_tensor tensor, share;
  assert_true(tn_tensor_new(&heap, TN_F32, &shape, &tensor));
  assert_int_equal(tensor.buffer->references, 1);
  assert_int_equal(tensor.buffer->bytes, 24);
  share = tn_tensor_ref(&tensor);
  assert_int_equal(tensor.buffer->references, 2);
  tn_tensor_unref(&tensor);
  assert_null(tensor.buffer);
  assert_null(tensor.view.data);
  assert_true(heap.used > 0);
  tn_view_set_f64(&share.view, 5, 1);   /* still there */
  tn_tensor_unref(&share);
  assert_int_equal(heap.used, 0);
  tn_tensor_unref(&share);   /* no value: nothing happens */
  tn_tensor nothing = tn_tensor_ref(&share);
  assert_null(nothing.buffer);
  tn_buffer_unref(NULL);
}

static void buffers_are_whole_cache_lines(void **state) {
  (void)state;
  for (size_t bytes = 0; bytes < 200; bytes += 13) {
    tn_buffer *buffer = tn_buffer_new(&heap, bytes);
    assert_non_null(buffer);
    assert_non_null(buffer->data);
    assert_int_equal((uintptr_t)buffer->data % 64, 0);
    assert_int_equal(buffer->bytes, bytes);
    memset(buffer->data, 1, bytes ? (bytes + 63) / 64 * 64 : 64);
    tn_buffer_unref(buffer);
  }
  assert_int_equal(heap.used, 0);
}

static void borrowed_memory_is_left_alone(void **state) {
  (void)state;
  float data[4] = { 1, 2, 3, 4 };
  tn_buffer *buffer = tn_buffer_borrow(&heap, data, sizeof data);
  assert_non_null(buffer);
  assert_ptr_equal(buffer->data, data);
  assert_false(buffer->owns);
  tn_buffer_unref(buffer);
  assert_int_equal(heap.used, 0);
  assert_true(data[3] == 4);
}

static void constructors_fill(void **state) {
  (void)state;
  tn_shape shape = SHAPE(3, 5);
  tn_tensor zeros, scalar, truth, copy;
  assert_true(tn_tensor_zeros(&heap, TN_I64, &shape, &zeros));
  for (int64_t i = 0; i < 15; i++) assert_int_equal(tn_view_get_i64(&zeros.view, i), 0);
  assert_true(tn_tensor_scalar(&heap, TN_F64, 0.1, &scalar));
  assert_int_equal(scalar.view.rank, 0);
  assert_true(tn_view_get_f64(&scalar.view, 0) == 0.1);
  assert_true(tn_tensor_scalar(&heap, TN_BOOL, 7, &truth));
  assert_int_equal(tn_view_get_i64(&truth.view, 0), 1);
  for (int64_t i = 0; i < 15; i++) tn_view_set_i64(&zeros.view, i, i);
  tn_view turned = tn_view_permute(&zeros.view, (int[]){ 1, 0 });
  assert_true(tn_tensor_copy(&heap, &turned, &copy));
  assert_true(tn_view_is_contiguous(&copy.view));
  assert_true(tn_view_equal(&copy.view, &turned));
  tn_tensor *all[] = { &zeros, &scalar, &truth, &copy };
  for (size_t i = 0; i < COUNT_OF(all); i++) tn_tensor_unref(all[i]);
  assert_int_equal(heap.used, 0);
}

static void empty_tensors_are_tensors(void **state) {
  (void)state;
  tn_shape shape = SHAPE(3, 0);
  tn_tensor tensor, copy;
  assert_true(tn_tensor_zeros(&heap, TN_F32, &shape, &tensor));
  assert_true(tn_tensor_copy(&heap, &tensor.view, &copy));
  assert_non_null(copy.view.data);
  assert_int_equal(copy.view.dim[0], 3);
  tn_tensor_unref(&tensor);
  tn_tensor_unref(&copy);
}

static void huge_shapes_are_refused_before_memory_is_allocated(void **state) {
  (void)state;
  tn_shape too_many = SHAPE(TN_ELEMENT_LIMIT, 2), open = SHAPE(TN_DIM_UNKNOWN), odd = SHAPE(0, INT64_MAX);
  tn_tensor tensor = { .view = { .rank = 77 } };
  uint64_t before = heap.requests;
  assert_false(tn_tensor_new(&heap, TN_BOOL, &too_many, &tensor));
  assert_false(tn_tensor_zeros(&heap, TN_F64, &open, &tensor));
  assert_false(tn_tensor_new(&heap, TN_F64, &odd, &tensor));
  assert_int_equal(heap.requests, before);
  assert_int_equal(tensor.view.rank, 77);
  assert_null(tn_buffer_new(&heap, SIZE_MAX));
  assert_int_equal(heap.used, 0);
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  tn_shape shape = SHAPE(4);
  float data[4] = { 0 };
  tn_view view = tn_view_make(data, TN_F32, &shape);
  for (uint64_t n = 1; n <= 3; n++) {
    for (int which = 0; which < 4; which++) {
      tn_tensor tensor = { .view = { .rank = 77 } };
      heap.requests = 0;
      heap.fail_at = n;
      bool done = which == 0   ? tn_tensor_new(&heap, TN_F32, &shape, &tensor)
                  : which == 1 ? tn_tensor_zeros(&heap, TN_F32, &shape, &tensor)
                  : which == 2 ? tn_tensor_scalar(&heap, TN_F32, 1, &tensor)
                               : tn_tensor_copy(&heap, &view, &tensor);
      heap.fail_at = 0;
      assert_int_equal(done, n == 3);   /* there are two: the buffer and its memory */
      if (done) tn_tensor_unref(&tensor);
      else assert_int_equal(tensor.view.rank, 77);
      assert_int_equal(heap.used, 0);
    }
  }
  heap.fail_at = heap.requests + 1;
  assert_null(tn_buffer_borrow(&heap, data, sizeof data));
  heap.fail_at = 0;
}

/* ---- fingerprints ---- */

static void assert_digest(const tn_view *view, const char *expected) {
  uint8_t digest[32];
  char hex[65];
  tn_view_sha256(view, digest);
  for (int i = 0; i < 32; i++) {
    hex[2 * i] = "0123456789abcdef"[digest[i] >> 4];
    hex[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
  }
  hex[64] = 0;
  assert_string_equal(hex, expected);
}

/* Expected values are SHA-256 of the bytes as Python's struct module packs them. */
static void fingerprints_are_of_little_endian_elements(void **state) {
  (void)state;
  float single[] = { 1, -2.5f, 3 };
  int64_t wide[] = { 1, -2 };
  uint8_t truth[] = { 1, 0, 1 };
  tn_shape three = SHAPE(3), two = SHAPE(2), none = SHAPE(0);
  tn_view a = tn_view_make(single, TN_F32, &three), b = tn_view_make(wide, TN_I64, &two);
  tn_view c = tn_view_make(truth, TN_BOOL, &three), d = tn_view_make(single, TN_F32, &none);
  assert_digest(&a, "5e4d73fb7853c6947a59215cb3fb869bc3bf8f59c358e094b541a9f9eed1e7c8");
  assert_digest(&b, "ad47ab1aede0a7b8af007a36d82ccbbee709bec1066af6f44fed82bd2cb490ed");
  assert_digest(&c, "85f90dfea1d8027e1463e5ca971a250110a20df0119d204a74220bc63516d15b");
  assert_digest(&d, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

static void fingerprints_do_not_see_strides(void **state) {
  (void)state;
  static double data[4096];
  tn_rng rng;
  tn_rng_init(&rng, 21);
  for (size_t i = 0; i < COUNT_OF(data); i++) data[i] = (double)i / 7;
  for (int round = 0; round < 300; round++) {
    tn_view view = random_view(&rng, data, TN_F64, 7, true);
    tn_tensor copy;
    uint8_t strided[32], flat[32];
    assert_true(tn_tensor_copy(&heap, &view, &copy));
    tn_view_sha256(&view, strided);
    tn_view_sha256(&copy.view, flat);
    assert_memory_equal(strided, flat, 32);
    tn_tensor_unref(&copy);
  }
}

static void fingerprints_know_one_nan(void **state) {
  (void)state;
  uint32_t strange[] = { 0xffc12345, 0x3f800000 }, canonical[] = { 0x7fc00000, 0x3f800000 };
  tn_shape shape = SHAPE(2);
  tn_view a = tn_view_make(strange, TN_F32, &shape), b = tn_view_make(canonical, TN_F32, &shape);
  uint8_t digest_a[32], digest_b[32];
  tn_view_sha256(&a, digest_a);
  tn_view_sha256(&b, digest_b);
  assert_memory_equal(digest_a, digest_b, 32);
  assert_int_equal(strange[0], 0xffc12345);   /* only read */
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_last_reference_frees_a_buffer),
    cmocka_unit_test(buffers_are_whole_cache_lines),
    cmocka_unit_test(borrowed_memory_is_left_alone),
    cmocka_unit_test(constructors_fill),
    cmocka_unit_test(empty_tensors_are_tensors),
    cmocka_unit_test(huge_shapes_are_refused_before_memory_is_allocated),
    cmocka_unit_test(every_allocation_may_fail),
    cmocka_unit_test(fingerprints_are_of_little_endian_elements),
    cmocka_unit_test(fingerprints_do_not_see_strides),
    cmocka_unit_test(fingerprints_know_one_nan),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
