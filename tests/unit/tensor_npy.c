/* .npy files: round trips, files as NumPy writes them, and files that are broken in every way a
 * header can be. Each is read from a block of exactly its size, so that a sanitizer sees a step
 * too far. */
#include "tensor_support.h"

#include <stdio.h>

#include "base/bytes.h"
#include "tensor/npy.h"

static tn_heap heap;

static tn_npy_error read_copy(const void *file, size_t bytes, tn_tensor *out) {
  void *exact = malloc(bytes ? bytes : 1);
  assert_non_null(exact);
  if (bytes) memcpy(exact, file, bytes);
  tn_npy_error error = tn_npy_read(&heap, exact, bytes, out);
  free(exact);
  return error;
}

/* A file with this header text and data. */
typedef struct {
  unsigned char bytes[512];
  size_t length;
} npy_file;

static npy_file file_of(int version, const char *header, const void *data, size_t data_bytes) {
  npy_file file = { .bytes = "\x93NUMPY" };
  size_t length = strlen(header), at = 6;
  file.bytes[at++] = (unsigned char)version;
  file.bytes[at++] = 0;
  for (int i = 0; i < (version == 1 ? 2 : 4); i++) file.bytes[at++] = (unsigned char)(length >> 8 * i);
  memcpy(file.bytes + at, header, length);
  if (data_bytes) memcpy(file.bytes + at + length, data, data_bytes);
  file.length = at + length + data_bytes;
  return file;
}

/* The same with numbers of four bytes, which stand in the file with the lowest byte first. */
static npy_file file_of_numbers(int version, const char *header, const void *numbers, size_t bytes) {
  npy_file file = file_of(version, header, numbers, bytes);
  if (tn_machine_is_big_endian()) tn_reverse_bytes(file.bytes + file.length - bytes, bytes, 4);
  return file;
}

static const float four[] = { 1, 2, 3, 4 };
#define PLAIN "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }"

/* ---- round trips ---- */

static void what_is_written_reads_back(void **state) {
  (void)state;
  static const tn_dtype dtypes[] = { TN_F32, TN_F64, TN_I32, TN_I64, TN_BOOL, TN_F16 };
  static double storage[4096];
  tn_rng rng;
  tn_rng_init(&rng, 31);
  for (int round = 0; round < 400; round++) {
    tn_dtype dtype = dtypes[below(&rng, (int64_t)COUNT_OF(dtypes))];
    tn_shape all = SHAPE(4096);
    tn_view everything = tn_view_make(storage, dtype, &all);
    for (int64_t i = 0; i < 4096; i++) tn_view_set_f64(&everything, i, (double)below(&rng, 2000) - 1000);
    tn_view view = random_view(&rng, storage, dtype, 6, true);
    tn_text file;
    tn_tensor back;
    tn_text_init(&file, &heap);
    assert_int_equal(tn_npy_write(&view, &file), TN_NPY_OK);
    assert_int_equal(read_copy(file.at, file.len, &back), TN_NPY_OK);
    assert_true(tn_view_equal(&view, &back.view));
    assert_true(tn_view_is_contiguous(&back.view));
    tn_tensor_unref(&back);
    tn_text_free(&file);
  }
  assert_int_equal(heap.used, 0);
}

static void files_are_written_as_numpy_writes_them(void **state) {
  (void)state;
  static const struct {
    tn_dtype dtype;
    int rank;
    const char *header;
  } table[] = {
    { TN_F32, 2, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }" },
    { TN_I64, 1, "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }" },
    { TN_BOOL, 0, "{'descr': '|b1', 'fortran_order': False, 'shape': (), }" },
    { TN_F16, 3, "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 2, 2), }" },
  };
  unsigned char data[64] = { 0 };
  for (size_t i = 0; i < COUNT_OF(table); i++) {
    tn_shape shape = { .rank = table[i].rank, .dim = { 2, 2, 2 } };
    for (int k = shape.rank; k < 3; k++) shape.dim[k] = 0;
    tn_view view = tn_view_make(data, table[i].dtype, &shape);
    tn_text file;
    tn_text_init(&file, &heap);
    assert_int_equal(tn_npy_write(&view, &file), TN_NPY_OK);
    assert_memory_equal(file.at, "\x93NUMPY\x01\x00", 8);
    size_t header = (unsigned char)file.at[8] | (size_t)(unsigned char)file.at[9] << 8;
    assert_int_equal((10 + header) % 64, 0);
    assert_memory_equal(file.at + 10, table[i].header, strlen(table[i].header));
    for (size_t k = 10 + strlen(table[i].header); k < 10 + header - 1; k++) assert_int_equal(file.at[k], ' ');
    assert_int_equal(file.at[10 + header - 1], '\n');
    assert_int_equal(file.len, 10 + header + (size_t)tn_view_count(&view) * tn_dtype_bytes(view.dtype));
    tn_text_free(&file);
  }
}

static void bf16_has_no_spelling(void **state) {
  (void)state;
  uint16_t half = 0;
  tn_text file;
  tn_text_init(&file, &heap);
  assert_int_equal(tn_npy_write(&(tn_view){ .data = &half, .dtype = TN_BF16 }, &file), TN_NPY_DTYPE);
  assert_int_equal(file.len, 0);
}

/* ---- files of others ---- */

static void assert_reads(const npy_file *file, tn_dtype dtype, tn_shape shape, const double *numbers) {
  tn_tensor tensor;
  assert_int_equal(read_copy(file->bytes, file->length, &tensor), TN_NPY_OK);
  tn_shape got = tn_view_shape(&tensor.view);
  assert_memory_equal(&got, &shape, sizeof got);
  assert_int_equal(tensor.view.dtype, dtype);
  for (int64_t i = 0; i < tn_view_count(&tensor.view); i++) {
    assert_true(tn_view_get_f64(&tensor.view, i) == numbers[i]);
  }
  tn_tensor_unref(&tensor);
}

/* Integers that tern has no dtype for: the next wider one that holds all of them. */
static void every_integer_is_read_exactly(void **state) {
  (void)state;
  static const struct {
    const char *code;
    tn_dtype dtype;
    unsigned char bytes[16]; /* two numbers */
    double numbers[2];
  } table[] = {
    { "|u1", TN_I32, { 0, 255 }, { 0, 255 } },
    { "|i1", TN_I32, { 0x80, 0x7f }, { -128, 127 } },
    { "<u2", TN_I32, { 1, 0, 0xff, 0xff }, { 1, 65535 } },
    { ">u2", TN_I32, { 0, 1, 0xff, 0xfe }, { 1, 65534 } },
    { "<i2", TN_I32, { 0, 0x80, 0xff, 0x7f }, { -32768, 32767 } },
    { ">i2", TN_I32, { 0x80, 0, 0xff, 0xff }, { -32768, -1 } },
    { "<u4", TN_I64, { 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0 }, { 4294967295.0, 1 } },
    { ">u4", TN_I64, { 0x80, 0, 0, 0, 0, 0, 0, 1 }, { 2147483648.0, 1 } },
    { ">i4", TN_I32, { 0x80, 0, 0, 0, 0, 0, 0, 1 }, { -2147483648.0, 1 } },
    { "<u8", TN_I64, { 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x40 }, { 1, 0x1p62 } },
    { ">u8", TN_I64, { 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0 }, { 1, 256 } },
    { ">i8", TN_I64, { 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0 }, { -0x1p63, 256 } },
  };
  for (size_t i = 0; i < COUNT_OF(table); i++) {
    char header[80];
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (2,), }",
             table[i].code);
    size_t bytes = (size_t)(table[i].code[2] - '0');
    npy_file file = file_of(1, header, table[i].bytes, 2 * bytes);
    assert_reads(&file, table[i].dtype, SHAPE(2), table[i].numbers);
  }
  assert_int_equal(heap.used, 0);
}

static void small_integers_may_be_column_by_column(void **state) {
  (void)state;
  static const unsigned char data[] = { 1, 4, 2, 5, 3, 6 };
  const double numbers[] = { 1, 2, 3, 4, 5, 6 };
  npy_file file = file_of(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", data, sizeof data);
  assert_reads(&file, TN_I32, SHAPE(2, 3), numbers);
  file = file_of(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (0, 3), }", data, 0);
  assert_reads(&file, TN_I32, SHAPE(0, 3), numbers);
  assert_int_equal(heap.used, 0);
}

static void an_unsigned_number_over_i64_is_refused(void **state) {
  (void)state;
  static const unsigned char data[] = { 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80 };
  tn_tensor tensor;
  npy_file file = file_of(1, "{'descr': '<u8', 'fortran_order': False, 'shape': (2,), }", data, sizeof data);
  assert_int_equal(read_copy(file.bytes, file.length, &tensor), TN_NPY_RANGE);
  assert_int_equal(heap.used, 0);
}

static void all_versions_are_read(void **state) {
  (void)state;
  double numbers[] = { 1, 2, 3, 4 };
  for (int version = 1; version <= 3; version++) {
    npy_file file = file_of_numbers(version, PLAIN "   \n", four, sizeof four);
    assert_reads(&file, TN_F32, SHAPE(2, 2), numbers);
  }
}

static void headers_have_several_spellings(void **state) {
  (void)state;
  static const char *const headers[] = {
    PLAIN,
    "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)}\n",
    "{\"descr\": \"<f4\", \"shape\": (2, 2), \"fortran_order\": False}",
    "{'shape':(2,2,),'fortran_order':False,'descr':'<f4',}",
    " { 'shape' : ( 2L , 2L ) , 'descr' : '<f4' , 'fortran_order' : False } ",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (02, 2), }",
  };
  double numbers[] = { 1, 2, 3, 4 };
  for (size_t i = 0; i < COUNT_OF(headers); i++) {
    npy_file file = file_of_numbers(1, headers[i], four, sizeof four);
    assert_reads(&file, TN_F32, SHAPE(2, 2), numbers);
  }
}

static void columns_first_is_put_into_rows(void **state) {
  (void)state;
  int32_t data[] = { 1, 4, 2, 5, 3, 6 };
  double rows[] = { 1, 2, 3, 4, 5, 6 };
  const char *matrix = "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }";
  npy_file file = file_of_numbers(1, matrix, data, sizeof data);
  assert_reads(&file, TN_I32, SHAPE(2, 3), rows);
  double line[] = { 1, 4, 2, 5, 3, 6 };
  file = file_of_numbers(1, "{'descr': '<i4', 'fortran_order': True, 'shape': (6,), }", data, sizeof data);
  assert_reads(&file, TN_I32, SHAPE(6), line);
  file = file_of_numbers(1, "{'descr': '<i4', 'fortran_order': True, 'shape': (), }", data, 4);
  assert_reads(&file, TN_I32, TN_SCALAR_SHAPE, line);
}

static void both_byte_orders_are_read(void **state) {
  (void)state;
  static const struct {
    const char *descr;
    tn_dtype dtype;
    const char *bytes;
    size_t length;
    double number;
  } table[] = {
    { "<f4", TN_F32, "\x00\x00\x20\xc0", 4, -2.5 },
    { ">f4", TN_F32, "\xc0\x20\x00\x00", 4, -2.5 },
    { "<f8", TN_F64, "\x00\x00\x00\x00\x00\x00\x04\xc0", 8, -2.5 },
    { ">f8", TN_F64, "\xc0\x04\x00\x00\x00\x00\x00\x00", 8, -2.5 },
    { "<i4", TN_I32, "\xfe\xff\xff\xff", 4, -2 },
    { ">i4", TN_I32, "\xff\xff\xff\xfe", 4, -2 },
    { "<i8", TN_I64, "\x02\x01\x00\x00\x00\x00\x00\x00", 8, 258 },
    { ">i8", TN_I64, "\x00\x00\x00\x00\x00\x00\x01\x02", 8, 258 },
    { "<f2", TN_F16, "\x00\xc1", 2, -2.5 },
    { ">f2", TN_F16, "\xc1\x00", 2, -2.5 },
    { "|b1", TN_BOOL, "\x01", 1, 1 },
  };
  for (size_t i = 0; i < COUNT_OF(table); i++) {
    char header[96] = "{'descr': '";
    strcat(header, table[i].descr);
    strcat(header, "', 'fortran_order': False, 'shape': (), }");
    npy_file file = file_of(1, header, table[i].bytes, table[i].length);
    assert_reads(&file, table[i].dtype, TN_SCALAR_SHAPE, &table[i].number);
  }
}

static void nans_from_outside_become_canonical(void **state) {
  (void)state;
  uint32_t strange = 0xffc12345, got;
  const char *header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
  npy_file file = file_of_numbers(1, header, &strange, 4);
  tn_tensor tensor;
  assert_int_equal(read_copy(file.bytes, file.length, &tensor), TN_NPY_OK);
  memcpy(&got, tensor.view.data, sizeof got);
  assert_int_equal(got, 0x7fc00000);
  tn_tensor_unref(&tensor);
}

static void empty_arrays_are_read(void **state) {
  (void)state;
  npy_file file = file_of(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (3, 0, 2), }", NULL, 0);
  assert_reads(&file, TN_F64, SHAPE(3, 0, 2), NULL);
}

/* ---- broken files ---- */

static void assert_refused(const npy_file *file, tn_npy_error expected) {
  tn_tensor untouched = { .view = { .rank = 77 } };
  uint64_t before = heap.requests;
  assert_int_equal(read_copy(file->bytes, file->length, &untouched), expected);
  assert_int_equal(untouched.view.rank, 77);
  assert_int_equal(heap.requests, before);   /* before memory is allocated */
}

#define HEAD(descr, order, shape) "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }"

static void broken_headers_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *header;
    tn_npy_error error;
  } table[] = {
    { "", TN_NPY_HEADER },
    { "{", TN_NPY_HEADER },
    { "{}", TN_NPY_HEADER },
    { "{'descr'", TN_NPY_HEADER },
    { "{'descr': ", TN_NPY_HEADER },
    { "{'descr': '<f4", TN_NPY_HEADER },
    { "{'descr': '<f4', 'fortran_order': False}", TN_NPY_HEADER },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), 'more': 1}", TN_NPY_HEADER },
    { "{'descr': '<f4', 'descr': '<f4', 'shape': (2, 2)}", TN_NPY_HEADER },
    { "{'descr': '<f4', 'fortran_order': False, 'shapes': (2, 2)}", TN_NPY_HEADER },
    { "{'descr' '<f4', 'fortran_order': False, 'shape': (2, 2)}", TN_NPY_HEADER },
    { "{'descr': '<f4' 'fortran_order': False, 'shape': (2, 2)}", TN_NPY_HEADER },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2),, }", TN_NPY_HEADER },
    { PLAIN "x", TN_NPY_HEADER },
    { PLAIN "}", TN_NPY_HEADER },
    { "x" PLAIN, TN_NPY_HEADER },
    { "{'des\\x63r': '<f4', 'fortran_order': False, 'shape': (2, 2), }", TN_NPY_HEADER },
    { HEAD("'<f4\"", "False", "(2, 2)"), TN_NPY_DTYPE },
    { HEAD("<f4", "False", "(2, 2)"), TN_NPY_HEADER },
    { HEAD("'<f4'", "false", "(2, 2)"), TN_NPY_HEADER },
    { HEAD("'<f4'", "0", "(2, 2)"), TN_NPY_HEADER },
    { HEAD("'<f4'", "False", "[2, 2]"), TN_NPY_HEADER },
    { HEAD("'<f4'", "False", "(4)"), TN_NPY_HEADER },
    { HEAD("'<f4'", "False", "(2 2)"), TN_NPY_HEADER },
    { HEAD("'<f4'", "False", "(,)"), TN_NPY_HEADER },
    { HEAD("'<f4'", "False", "(2,,2)"), TN_NPY_HEADER },
    { HEAD("'<f4'", "False", "(-2, -2)"), TN_NPY_HEADER },
    { HEAD("'<f4'", "False", "(+2, 2)"), TN_NPY_HEADER },
    { HEAD("'<f4'", "False", "(2.0, 2)"), TN_NPY_HEADER },
    { HEAD("'<f4'", "False", "(2, 2"), TN_NPY_HEADER },
    { HEAD("'<f4'", "False", "(0x2, 2)"), TN_NPY_HEADER },
    { HEAD("'<f4'", "False", "None"), TN_NPY_HEADER },
    { HEAD("'<u3'", "False", "(2, 2)"), TN_NPY_DTYPE },
    { HEAD("'|u4'", "False", "(2, 2)"), TN_NPY_DTYPE },
    { HEAD("'<u1'", "False", "(2, 2)"), TN_NPY_DTYPE },
    { HEAD("'<c8'", "False", "(2, 2)"), TN_NPY_DTYPE },
    { HEAD("'|O'", "False", "(2, 2)"), TN_NPY_DTYPE },
    { HEAD("'|S4'", "False", "(2, 2)"), TN_NPY_DTYPE },
    { HEAD("'|V2'", "False", "(2, 2)"), TN_NPY_DTYPE },
    { HEAD("'f4'", "False", "(2, 2)"), TN_NPY_DTYPE },
    { HEAD("'|f4'", "False", "(2, 2)"), TN_NPY_DTYPE },
    { HEAD("'=f4'", "False", "(2, 2)"), TN_NPY_DTYPE },
    { HEAD("'<b1'", "False", "(2, 2)"), TN_NPY_DTYPE },
    { HEAD("'<f4 '", "False", "(2, 2)"), TN_NPY_DTYPE },
    { HEAD("'<'", "False", "(2, 2)"), TN_NPY_DTYPE },
    { HEAD("''", "False", "(2, 2)"), TN_NPY_DTYPE },
    { HEAD("[('a', '<f4')]", "False", "(2, 2)"), TN_NPY_DTYPE },
    { HEAD("'<f4'", "False", "(1, 1, 1, 1, 1, 1, 1, 2, 2)"), TN_NPY_RANK },
    { HEAD("'<f4'", "False", "(1099511627776,)"), TN_NPY_TOO_LARGE },
    { HEAD("'<f4'", "False", "(1048576, 1048576)"), TN_NPY_TOO_LARGE },
    { HEAD("'<f4'", "False", "(0, 9223372036854775807)"), TN_NPY_TOO_LARGE },
    { HEAD("'<f4'", "False", "(9223372036854775808, 2)"), TN_NPY_TOO_LARGE },
    { HEAD("'<f4'", "False", "(99999999999999999999999999999999999999,)"), TN_NPY_TOO_LARGE },
    { HEAD("'<f4'", "False", "(2, 3)"), TN_NPY_SIZE },
    { HEAD("'<f4'", "False", "(2, 1)"), TN_NPY_SIZE },
    { HEAD("'<f4'", "False", "()"), TN_NPY_SIZE },
    { HEAD("'<f4'", "False", "(0,)"), TN_NPY_SIZE },
    { HEAD("'<f8'", "False", "(2, 2)"), TN_NPY_SIZE },
    { HEAD("'<f8'", "False", "(1048575, 1048576)"), TN_NPY_SIZE },
    { HEAD("'|b1'", "False", "(16,)"), TN_NPY_BOOL },
  };
  for (size_t i = 0; i < COUNT_OF(table); i++) {
    for (int version = 1; version <= 3; version++) {
      npy_file file = file_of(version, table[i].header, four, sizeof four);
      assert_refused(&file, table[i].error);
    }
  }
}

static void a_file_that_is_something_else_is_refused(void **state) {
  (void)state;
  npy_file file = file_of(1, PLAIN, four, sizeof four);
  for (size_t i = 0; i < 6; i++) {
    npy_file broken = file;
    broken.bytes[i] ^= 1;
    assert_refused(&broken, TN_NPY_MAGIC);
  }
  static const unsigned char versions[][2] = { { 0, 0 }, { 4, 0 }, { 255, 0 }, { 1, 1 }, { 2, 9 } };
  for (size_t i = 0; i < COUNT_OF(versions); i++) {
    npy_file broken = file;
    memcpy(broken.bytes + 6, versions[i], 2);
    assert_refused(&broken, TN_NPY_VERSION);
  }
}

static void a_file_cut_anywhere_is_refused(void **state) {
  (void)state;
  for (int version = 1; version <= 3; version++) {
    npy_file file = file_of(version, PLAIN, four, sizeof four);
    size_t data = file.length - sizeof four, whole = file.length;
    for (size_t length = 0; length < whole; length++) {
      file.length = length;
      assert_refused(&file, length < 6 ? TN_NPY_MAGIC : length < data ? TN_NPY_HEADER : TN_NPY_SIZE);
    }
    file.length = whole + 1;
    assert_refused(&file, TN_NPY_SIZE);
  }
}

static void a_header_longer_than_the_file_is_refused(void **state) {
  (void)state;
  npy_file file = file_of(2, PLAIN, four, sizeof four);
  memset(file.bytes + 8, 0xff, 4);
  assert_refused(&file, TN_NPY_HEADER);
  file = file_of(1, PLAIN, four, sizeof four);
  memset(file.bytes + 8, 0xff, 2);
  assert_refused(&file, TN_NPY_HEADER);
}

/* Any byte of the header changed to anything: it may still be right, but it must not read past the end. */
static void no_change_of_a_byte_does_harm(void **state) {
  (void)state;
  npy_file file = file_of(1, PLAIN, four, sizeof four);
  for (size_t at = 0; at < file.length - sizeof four; at++) {
    for (int value = 0; value < 256; value++) {
      npy_file changed = file;
      changed.bytes[at] = (unsigned char)value;
      tn_tensor tensor;
      if (read_copy(changed.bytes, changed.length, &tensor) == TN_NPY_OK) tn_tensor_unref(&tensor);
    }
  }
  assert_int_equal(heap.used, 0);
}

static void allocation_failures_are_reported(void **state) {
  (void)state;
  npy_file file = file_of(1, PLAIN, four, sizeof four);
  tn_shape shape = SHAPE(2, 2);
  tn_view view = tn_view_make((void *)(uintptr_t)four, TN_F32, &shape);
  for (uint64_t n = 1; n <= 4; n++) {
    tn_tensor tensor;
    tn_text text;
    heap.requests = 0;
    heap.fail_at = n;
    tn_npy_error error = read_copy(file.bytes, file.length, &tensor);
    assert_int_equal(error, n <= 2 ? TN_NPY_MEMORY : TN_NPY_OK);
    heap.fail_at = 0;
    if (!error) tn_tensor_unref(&tensor);
    tn_text_init(&text, &heap);
    heap.requests = 0;
    heap.fail_at = n;
    error = tn_npy_write(&view, &text);
    assert_int_equal(error, heap.requests >= n ? TN_NPY_MEMORY : TN_NPY_OK);
    heap.fail_at = 0;
    tn_text_free(&text);
  }
  assert_int_equal(heap.used, 0);
}

static void every_error_has_a_reason(void **state) {
  (void)state;
  for (int error = TN_NPY_OK; error <= TN_NPY_MEMORY; error++) {
    const char *reason = tn_npy_reason((tn_npy_error)error);
    assert_true(reason && *reason);
    for (int other = TN_NPY_OK; other < error; other++) {
      assert_string_not_equal(reason, tn_npy_reason((tn_npy_error)other));
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_is_written_reads_back),
    cmocka_unit_test(files_are_written_as_numpy_writes_them),
    cmocka_unit_test(bf16_has_no_spelling),
    cmocka_unit_test(every_integer_is_read_exactly),
    cmocka_unit_test(small_integers_may_be_column_by_column),
    cmocka_unit_test(an_unsigned_number_over_i64_is_refused),
    cmocka_unit_test(all_versions_are_read),
    cmocka_unit_test(headers_have_several_spellings),
    cmocka_unit_test(columns_first_is_put_into_rows),
    cmocka_unit_test(both_byte_orders_are_read),
    cmocka_unit_test(nans_from_outside_become_canonical),
    cmocka_unit_test(empty_arrays_are_read),
    cmocka_unit_test(broken_headers_are_refused),
    cmocka_unit_test(a_file_that_is_something_else_is_refused),
    cmocka_unit_test(a_file_cut_anywhere_is_refused),
    cmocka_unit_test(a_header_longer_than_the_file_is_refused),
    cmocka_unit_test(no_change_of_a_byte_does_harm),
    cmocka_unit_test(allocation_failures_are_reported),
    cmocka_unit_test(every_error_has_a_reason),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
