/* tests/unit/data_safetensors.c: what is written reads back; what is damaged is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "data/safetensors.h"

static tn_text written(tn_heap *heap) {
  static float numbers[6] = { 1, 2, 3, 4, 5, 6 };
  static int64_t whole[1] = { -7 };
  tn_shape matrix = tn_shape_make(2, 2, 3), scalar = TN_SCALAR_SHAPE, none = tn_shape_make(2, 0, 4);
  tn_view w = tn_view_make(numbers, TN_F32, &matrix);
  tn_view transposed = tn_view_permute(&w, (int[]){ 1, 0 });
  tn_named_view tensors[] = { { TN_LIT("w"), transposed },
                              { TN_LIT("n \"quoted\""), tn_view_make(whole, TN_I64, &scalar) },
                              { TN_LIT("empty"), tn_view_make(numbers, TN_F32, &none) } };
  tn_text text;
  tn_text_init(&text, heap);
  tn_safetensors_write(tensors, 3, TN_LIT("{\"step\":\"12\"}"), &text);
  assert_false(text.failed);
  return text;
}

static void what_is_written_reads_back(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_text text = written(&heap);
  tn_safetensors file;
  assert_null(tn_safetensors_read(&heap, text.at, text.len, &file));
  assert_int_equal(file.tensors.count, 3);
  const tn_tensor *w = tn_safetensors_find(&file, TN_LIT("w"));
  assert_int_equal(w->view.dim[0], 3);
  assert_true(tn_view_get_f64(&w->view, 1) == 4); /* row-major of the transposed view */
  assert_true(tn_view_get_i64(&tn_safetensors_find(&file, TN_LIT("n \"quoted\""))->view, 0) == -7);
  assert_int_equal(tn_view_count(&tn_safetensors_find(&file, TN_LIT("empty"))->view), 0);
  assert_string_equal(file.metadata.at, "{\"step\":\"12\"}");
  assert_true(file.sealed);
  assert_null(tn_safetensors_find(&file, TN_LIT("v")));
  tn_safetensors_free(&file);
  tn_text_free(&text);
  assert_int_equal(heap.used, 0);
}

static void the_beginning_is_enough_to_list_what_is_there(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_text text = written(&heap);
  tn_safetensors file;
  size_t header = 8 + (size_t)tn_load_le64(text.at);
  assert_null(tn_safetensors_list(&heap, text.at, header, text.len, &file));
  assert_int_equal(file.tensors.count, 3);
  assert_int_equal(file.tensors.at[0].tensor.view.dim[0], 3);
  assert_int_equal(file.tensors.at[0].offset, header);
  assert_int_equal(file.tensors.at[1].offset, header + 24);
  assert_true(file.seal_at > 8 && file.seal_at + 64 < header);
  tn_safetensors_free(&file);
  assert_non_null(tn_safetensors_list(&heap, text.at, header - 1, text.len, &file));
  assert_non_null(tn_safetensors_list(&heap, text.at, header, text.len + 1, &file));
  assert_non_null(tn_safetensors_list(&heap, text.at, header, text.len - 1, &file));
  assert_non_null(tn_safetensors_list(&heap, text.at, header, 8, &file));
  tn_text_free(&text);
  assert_int_equal(heap.used, 0);
}

/* What was read of a sealed file gives the same file again. */
static void reading_and_writing_gives_the_same_bytes(void **state) {
  (void)state;
  static const char *const metadata[] = { "", "{}", "{\"step\":\"12\"}", "{\"a\":\"b\",\"c\":\"d\"}" };
  tn_heap heap = { 0 };
  float number = 1;
  tn_shape one = tn_shape_make(1, 1);
  tn_named_view tensor = { TN_LIT("w"), tn_view_make(&number, TN_F32, &one) };
  for (size_t i = 0; i < sizeof metadata / sizeof *metadata; i++) {
    tn_text first, second;
    tn_safetensors file;
    tn_text_init(&first, &heap);
    tn_text_init(&second, &heap);
    tn_safetensors_write(&tensor, 1, tn_str_of(metadata[i]), &first);
    assert_null(tn_safetensors_read(&heap, first.at, first.len, &file));
    tn_safetensors_write(&tensor, 1, file.metadata, &second);
    assert_true(tn_str_equal(tn_text_str(&first), tn_text_str(&second)));
    tn_safetensors_free(&file);
    tn_text_free(&first);
    tn_text_free(&second);
  }
  assert_int_equal(heap.used, 0);
}

/* Also where the seal's own name is damaged: the first member still says that there was one. */
static void a_changed_bit_breaks_the_seal(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_text text = written(&heap);
  for (size_t i = 0; i < text.len; i++) {
    for (int bit = 0; bit < 8; bit++) {
      tn_safetensors file;
      text.at[i] ^= (char)(1 << bit);
      if (!tn_safetensors_read(&heap, text.at, text.len, &file)) fail_msg("bit %d of byte %zu", bit, i);
      text.at[i] ^= (char)(1 << bit);
    }
  }
  tn_text_free(&text);
  assert_int_equal(heap.used, 0);
}

static void refuse(const char *header, size_t data) {
  unsigned char bytes[1024] = { 0 };
  tn_heap heap = { 0 };
  tn_safetensors file;
  tn_store_le64(bytes, strlen(header));
  memcpy(bytes + 8, header, strlen(header));
  const char *problem = tn_safetensors_read(&heap, bytes, 8 + strlen(header) + data, &file);
  if (!problem) fail_msg("accepted: %s", header);
  assert_int_equal(heap.used, 0);
}

static void what_a_header_says_is_held_against_the_file(void **state) {
  (void)state;
  refuse("[]", 0);
  refuse("{", 0);
  refuse("{} x", 0);
  refuse("{}", 1);
  refuse("{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", 4);
  refuse("{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 4);
  refuse("{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", 8);
  refuse("{\"w\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", 4);
  refuse("{\"w\":{\"dtype\":\"F32\",\"shape\":[1.5],\"data_offsets\":[0,4]}}", 4);
  refuse("{\"w\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,4]}}", 4);
  refuse("{\"w\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,4]}}", 4);
  refuse("{\"w\":{\"dtype\":\"F31\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4);
  refuse("{\"w\":{\"shape\":[1],\"data_offsets\":[0,4]}}", 4);
  refuse("{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", 4);
  refuse("{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},\"w\":{\"dtype\":\"F32\",\"shape\":"
         "[1],\"data_offsets\":[4,8]}}",
         8);
  refuse("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},\"b\":{\"dtype\":\"F32\",\"shape\":"
         "[1],\"data_offsets\":[0,4]}}",
         4);
  refuse("{\"__metadata__\":3}", 0);
}

static void every_cut_is_noticed(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_text text = written(&heap);
  for (size_t length = 0; length < text.len; length++) {
    tn_safetensors file;
    assert_non_null(tn_safetensors_read(&heap, text.at, length, &file));
  }
  tn_text_free(&text);
  assert_int_equal(heap.used, 0);
}

static void no_changed_byte_does_harm(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_text text = written(&heap);
  for (size_t at = 0; at < text.len; at++) {
    for (int flip = 1; flip < 256; flip += 37) {
      tn_safetensors file;
      text.at[at] = (char)(text.at[at] ^ flip);
      if (!tn_safetensors_read(&heap, text.at, text.len, &file)) tn_safetensors_free(&file);
      text.at[at] = (char)(text.at[at] ^ flip);
    }
  }
  tn_text_free(&text);
  assert_int_equal(heap.used, 0);
}

static void every_failed_allocation_is_a_refusal(void **state) {
  (void)state;
  tn_heap writing = { 0 };
  tn_text text = written(&writing);
  for (uint64_t n = 1;; n++) {
    tn_heap heap = { .fail_at = n };
    tn_safetensors file;
    const char *problem = tn_safetensors_read(&heap, text.at, text.len, &file);
    if (!problem) tn_safetensors_free(&file);
    assert_int_equal(heap.used, 0);
    assert_true(!problem == !heap.failed);
    if (!heap.failed) break;
  }
  tn_text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_is_written_reads_back),
    cmocka_unit_test(the_beginning_is_enough_to_list_what_is_there),
    cmocka_unit_test(reading_and_writing_gives_the_same_bytes),
    cmocka_unit_test(a_changed_bit_breaks_the_seal),
    cmocka_unit_test(what_a_header_says_is_held_against_the_file),
    cmocka_unit_test(every_cut_is_noticed),
    cmocka_unit_test(no_changed_byte_does_harm),
    cmocka_unit_test(every_failed_allocation_is_a_refusal),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
