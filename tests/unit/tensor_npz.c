/* Unpacking, and archives of arrays. tests/numpy tries both against NumPy's own files. */
#include "base/inflate.h"
#include "graph_case.h"
#include "tensor/npz.h"

/* A block with codes of its own, made by zlib. */
static const uint8_t packed[] = {
  0x9d, 0x8d, 0xcb, 0x11, 0x80, 0x20, 0x10, 0x43, 0x5b, 0xd9, 0x3e, 0xac, 0x06, 0x64, 0x11, 0x54, 0x44, 0xd8,
  0xc5, 0x5f, 0xf5, 0x2a, 0xa3, 0xc8, 0xd9, 0x77, 0x4a, 0x26, 0x93, 0x84, 0x0d, 0x02, 0x25, 0x07, 0x5e, 0x03,
  0xdf, 0x32, 0x24, 0x11, 0x91, 0x8a, 0xb5, 0xea, 0x32, 0x96, 0xaa, 0xac, 0x44, 0xc9, 0x35, 0xaf, 0xf8, 0xd9,
  0x16, 0xb2, 0x55, 0xa8, 0x3b, 0x63, 0xfb, 0x61, 0x74, 0x93, 0x9f, 0x43, 0x24, 0x4e, 0xcb, 0xba, 0xed, 0x87,
  0xa8, 0x90, 0x0f, 0xe5, 0xec, 0x9b, 0xae, 0x3f, 0x31, 0x03, 0x9c, 0x01, 0xca, 0x9c,
};
static const char unpacked[] = "the sum of the squares of the sides is the square of the sum; the sum of the "
                               "squares of the sides is the square of "
                               "the sum; abcdefghijklmnopqrstuvwxyzaaaaaaaaaaaabbbbbbbb the sum the sides "
                               "the squares eeeeee tttttt ssssss";

static void a_packed_text_is_unpacked(void **state) {
  (void)state;
  char out[sizeof unpacked - 1];
  assert_true(tn_inflate(NULL, packed, sizeof packed, out, sizeof out));
  assert_memory_equal(out, unpacked, sizeof out);
}

/* Stored: a length, its complement, the bytes. */
static void a_stored_block_is_copied(void **state) {
  (void)state;
  static const uint8_t stored[] = { 1, 3, 0, 0xfc, 0xff, 'a', 'b', 'c' };
  char out[3];
  assert_true(tn_inflate(NULL, stored, sizeof stored, out, sizeof out));
  assert_memory_equal(out, "abc", 3);
  uint8_t broken[sizeof stored];
  memcpy(broken, stored, sizeof stored);
  broken[3] = 0;
  assert_false(tn_inflate(NULL, broken, sizeof broken, out, sizeof out));
}

/* Whatever a byte is changed to, or wherever the data ends, nothing is touched that should not be. */
static void damage_is_found_or_does_no_harm(void **state) {
  (void)state;
  uint8_t broken[sizeof packed];
  char out[sizeof unpacked - 1];
  for (size_t i = 0; i < sizeof packed; i++) {
    assert_false(tn_inflate(NULL, packed, i, out, sizeof out));
    for (int bit = 0; bit < 8; bit++) {
      memcpy(broken, packed, sizeof packed);
      broken[i] ^= (uint8_t)(1 << bit);
      if (tn_inflate(NULL, broken, sizeof broken, out, sizeof out))
        assert_int_not_equal(tn_crc32(NULL, out, sizeof out), tn_crc32(NULL, unpacked, sizeof out));
    }
  }
  assert_false(tn_inflate(NULL, packed, sizeof packed, out, sizeof out - 1));
}

static void the_checksum_is_that_of_zip(void **state) {
  (void)state;
  assert_int_equal(tn_crc32(NULL, "123456789", 9), 0xcbf43926);
  assert_int_equal(tn_crc32(NULL, "", 0), 0);
}

static tn_tensor numbered(int64_t count, double first) {
  tn_tensor made;
  tn_shape shape = tn_shape_make(1, count);
  assert_true(tn_tensor_new(&heap, TN_F32, &shape, &made));
  for (int64_t i = 0; i < count; i++) tn_view_set_f64(&made.view, i, first + (double)i);
  return made;
}

static void put_archive(tn_text *out) {
  tn_npz_writer writer;
  tn_tensor a = numbered(3, 1), b = numbered(4, 10);
  tn_text_init(out, &heap);
  tn_npz_begin(&writer, out);
  assert_int_equal(tn_npz_add(&writer, TN_LIT("a"), &a.view), TN_NPY_OK);
  assert_int_equal(tn_npz_add(&writer, TN_LIT("b c"), &b.view), TN_NPY_OK);
  assert_int_equal(tn_npz_end(&writer), TN_NPY_OK);
  tn_tensor_unref(&a);
  tn_tensor_unref(&b);
}

static void what_was_written_is_read_by_name(void **state) {
  (void)state;
  tn_text file;
  tn_tensor read;
  put_archive(&file);
  assert_int_equal(tn_npz_read(&heap, file.at, file.len, TN_LIT("b c"), &read), TN_NPY_OK);
  assert_int_equal(tn_view_count(&read.view), 4);
  assert_true(tn_view_get_f64(&read.view, 3) == 13);
  tn_tensor_unref(&read);
  assert_int_equal(tn_npz_read(&heap, file.at, file.len, TN_LIT("d"), &read), TN_NPY_MEMBER);
  assert_int_equal(tn_npz_read(&heap, file.at, file.len, TN_LIT(""), &read), TN_NPY_WHICH);
  assert_int_equal(tn_npz_read(&heap, file.at, 21, TN_LIT("a"), &read), TN_NPY_ARCHIVE);
  tn_text_free(&file);
}

static void a_damaged_archive_is_refused_or_read(void **state) {
  (void)state;
  tn_text file;
  put_archive(&file);
  for (size_t i = 0; i < file.len; i++) {
    tn_tensor read;
    char kept = file.at[i];
    file.at[i] = (char)(kept ^ 0xff);
    if (tn_npz_read(&heap, file.at, file.len, TN_LIT("a"), &read) == TN_NPY_OK) tn_tensor_unref(&read);
    file.at[i] = kept;
    if (tn_npz_read(&heap, file.at, i, TN_LIT("a"), &read) == TN_NPY_OK) tn_tensor_unref(&read);
  }
  tn_text_free(&file);
}

/* A small file cannot claim a large member. */
static void a_bomb_is_not_unpacked(void **state) {
  (void)state;
  tn_text file;
  tn_tensor read;
  put_archive(&file);
  for (size_t i = 0; i + 46 < file.len; i++) { /* the first entry: packed by deflate, 4 GiB large */
    if (memcmp(file.at + i, "PK\x01\x02", 4) != 0) continue;
    file.at[i + 10] = 8;
    memset(file.at + i + 24, 0xf0, 4);
    break;
  }
  uint64_t before = heap.requests;
  assert_int_equal(tn_npz_read(&heap, file.at, file.len, TN_LIT("a"), &read), TN_NPY_ARCHIVE);
  assert_int_equal(heap.requests, before);
  tn_text_free(&file);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
    TEST(a_packed_text_is_unpacked),        TEST(a_stored_block_is_copied),
    TEST(damage_is_found_or_does_no_harm),  TEST(the_checksum_is_that_of_zip),
    TEST(what_was_written_is_read_by_name), TEST(a_damaged_archive_is_refused_or_read),
    TEST(a_bomb_is_not_unpacked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
