/* tensor/npy.c: reading and writing .npy.
 *
 *   "\x93NUMPY" major minor header_bytes header data
 *
 * header_bytes is 2 bytes long in version 1 and 4 in versions 2 and 3, always
 * little-endian. The header is a dictionary as Python writes it:
 *
 *   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 *
 * Here it is read by a grammar of exactly that form: the three keys in any
 * order, each once, nothing else. That is all NumPy writes for plain arrays,
 * and it leaves no room for surprises. */
#include "tensor/npy.h"

#include <string.h>

#include "base/bytes.h"
#include "tensor/internal.h"

const char *tn_npy_reason(tn_npy_error error) {
  switch (error) {
    case TN_NPY_OK: return "all is well";
    case TN_NPY_MAGIC: return "it is not an .npy file";
    case TN_NPY_VERSION: return "its format version is unknown";
    case TN_NPY_HEADER: return "its header is damaged";
    case TN_NPY_DTYPE: return "its elements are of a kind that cannot be held";
    case TN_NPY_RANK: return "it has too many dimensions";
    case TN_NPY_TOO_LARGE: return "it has too many elements";
    case TN_NPY_SIZE: return "its size does not match its header";
    case TN_NPY_BOOL: return "a bool in it is neither 0 nor 1";
    case TN_NPY_RANGE: return "an unsigned number in it is over 9223372036854775807";
    case TN_NPY_ARCHIVE: return "it is not an archive of arrays, or a damaged one";
    case TN_NPY_PACKED: return "it is packed in a way that is not known";
    case TN_NPY_MEMBER: return "it holds no array of that name";
    case TN_NPY_WHICH: return "it holds several arrays, and none was named";
    case TN_NPY_MEMORY: return "memory ran out";
  }
  return "an unknown error";
}

typedef struct {
  const char *code;   /* after the byte order: its kind and its bytes */
  tn_dtype dtype;     /* of the tensor */
} npy_dtype;

/* The first of a dtype is how it is written. */
static const npy_dtype npy_dtypes[] = {
  { "f4", TN_F32 }, { "f8", TN_F64 }, { "i4", TN_I32 }, { "i8", TN_I64 }, { "b1", TN_BOOL }, { "f2", TN_F16 },
  { "i1", TN_I32 }, { "i2", TN_I32 }, { "u1", TN_I32 }, { "u2", TN_I32 }, { "u4", TN_I64 }, { "u8", TN_I64 },
};
#define NPY_DTYPE_COUNT (sizeof npy_dtypes / sizeof *npy_dtypes)

/* ---- the header ---- */

typedef struct {
  tn_dtype dtype;
  char kind;        /* f, i, u, b */
  size_t element;   /* bytes in the file */
  bool big_endian, column_major;
  tn_shape shape;
} npy_header;

typedef struct {
  const char *at, *end;
  npy_header header;
  tn_npy_error error;     /* TN_NPY_HEADER unless something more precise is known */
} header_reader;

static void skip_space(header_reader *reader) {
  while (reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\n')) reader->at++;
}

/* The next visible character, if it is this one. */
static bool take(header_reader *reader, char wanted) {
  skip_space(reader);
  if (reader->at == reader->end || *reader->at != wanted) return false;
  reader->at++;
  return true;
}

static bool take_word(header_reader *reader, const char *word) {
  skip_space(reader);
  size_t len = strlen(word);
  if ((size_t)(reader->end - reader->at) < len || memcmp(reader->at, word, len) != 0) return false;
  reader->at += len;
  return true;
}

/* string = "'" characters "'" | '"' characters '"', without escapes */
static bool take_string(header_reader *reader, tn_str *out) {
  char quote = '\'';
  if (!take(reader, quote) && !take(reader, quote = '"')) return false;
  const char *start = reader->at;
  while (reader->at < reader->end && *reader->at != quote && *reader->at != '\\') reader->at++;
  if (reader->at == reader->end || *reader->at != quote) return false;
  *out = (tn_str){ start, (size_t)(reader->at - start) };
  reader->at++;
  return true;
}

static bool fail_with(header_reader *reader, tn_npy_error error) {
  reader->error = error;
  return false;
}

/* descr = order kind, order one of < > and, for single bytes only, | */
static bool read_descr(header_reader *reader) {
  tn_str text;
  if (!take_string(reader, &text)) {
    skip_space(reader);   /* a list of fields: a record array */
    bool record = reader->at < reader->end && *reader->at == '[';
    return fail_with(reader, record ? TN_NPY_DTYPE : TN_NPY_HEADER);
  }
  for (size_t i = 0; i < NPY_DTYPE_COUNT; i++) {
    tn_str code = { text.at + 1, text.len ? text.len - 1 : 0 };
    if (text.len == 0 || !tn_str_is(code, npy_dtypes[i].code)) continue;
    bool single = code.at[1] == '1';
    if (single ? text.at[0] != '|' : text.at[0] != '<' && text.at[0] != '>') break;
    reader->header.dtype = npy_dtypes[i].dtype;
    reader->header.kind = code.at[0];
    reader->header.element = (size_t)(code.at[1] - '0');
    reader->header.big_endian = text.at[0] == '>';
    return true;
  }
  return fail_with(reader, TN_NPY_DTYPE);
}

static bool read_order(header_reader *reader) {
  reader->header.column_major = take_word(reader, "True");
  return reader->header.column_major || take_word(reader, "False");
}

/* length = digit {digit} ["L"]; Python 2 wrote long integers with an L */
static bool read_length(header_reader *reader, int64_t *out) {
  skip_space(reader);
  const char *start = reader->at;
  int64_t length = 0;
  for (; reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9'; reader->at++) {
    if (length > TN_ELEMENT_LIMIT) return fail_with(reader, TN_NPY_TOO_LARGE);
    length = length * 10 + (*reader->at - '0');
  }
  if (reader->at == start) return false;
  if (reader->at < reader->end && *reader->at == 'L') reader->at++;
  *out = length;
  return true;
}

/* shape = "(" ")" | "(" length "," [length {"," length} [","]] ")" */
static bool read_shape(header_reader *reader) {
  tn_shape *shape = &reader->header.shape;
  if (!take(reader, '(')) return false;
  while (!take(reader, ')')) {
    int64_t length;
    if (!read_length(reader, &length)) return false;
    if (shape->rank == TN_RANK_LIMIT) return fail_with(reader, TN_NPY_RANK);
    shape->dim[shape->rank++] = length;
    if (take(reader, ',')) continue;
    return shape->rank > 1 && take(reader, ')');   /* (3) would be a number */
  }
  return true;
}

typedef struct {
  const char *key;
  bool (*read)(header_reader *reader);
} header_entry;

static const header_entry entries[] = {
  { "descr", read_descr }, { "fortran_order", read_order }, { "shape", read_shape },
};
#define ENTRY_COUNT (sizeof entries / sizeof *entries)

/* header = "{" key ":" value "," key ":" value "," key ":" value [","] "}" */
static bool read_header(header_reader *reader) {
  bool seen[ENTRY_COUNT] = { false };
  if (!take(reader, '{')) return false;
  for (size_t n = 0; n < ENTRY_COUNT; n++) {
    tn_str key;
    if (n && !take(reader, ',')) return false;
    if (!take_string(reader, &key) || !take(reader, ':')) return false;
    size_t which = 0;
    while (which < ENTRY_COUNT && !tn_str_is(key, entries[which].key)) which++;
    if (which == ENTRY_COUNT || seen[which] || !entries[which].read(reader)) return false;
    seen[which] = true;
  }
  take(reader, ',');
  if (!take(reader, '}')) return false;
  skip_space(reader);
  return reader->at == reader->end;
}

/* ---- the file ---- */

#define MAGIC "\x93NUMPY"
#define MAGIC_BYTES 6

/* Where the header begins and how long it is. */
static tn_npy_error find_header(const unsigned char *file, size_t bytes, size_t *start, size_t *length) {
  if (bytes < MAGIC_BYTES || memcmp(file, MAGIC, MAGIC_BYTES) != 0) return TN_NPY_MAGIC;
  if (bytes < MAGIC_BYTES + 2) return TN_NPY_HEADER;
  int major = file[MAGIC_BYTES], minor = file[MAGIC_BYTES + 1];
  if (major < 1 || major > 3 || minor != 0) return TN_NPY_VERSION;
  *start = MAGIC_BYTES + 2 + (major == 1 ? 2 : 4);
  if (bytes < *start) return TN_NPY_HEADER;
  const unsigned char *at = file + MAGIC_BYTES + 2;
  *length = major == 1 ? (size_t)at[0] | (size_t)at[1] << 8 : tn_load_le32(at);
  return *length <= bytes - *start ? TN_NPY_OK : TN_NPY_HEADER;
}

static tn_npy_error check_size(const npy_header *header, size_t data_bytes) {
  int64_t count = tn_shape_count(&header->shape);
  if (count < 0) return TN_NPY_TOO_LARGE;
  uint64_t wanted = (uint64_t)count * header->element;
  return wanted == data_bytes ? TN_NPY_OK : TN_NPY_SIZE;
}

static bool bools_are_sound(const unsigned char *data, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) {
    if (data[i] > 1) return false;
  }
  return true;
}

/* Axes are stored in reverse where the file is column by column. */
static tn_shape stored_shape(const npy_header *header) {
  tn_shape stored = header->shape;
  for (int i = 0; i < stored.rank && header->column_major; i++)
    stored.dim[i] = header->shape.dim[stored.rank - 1 - i];
  return stored;
}

/* The file's data, of the tensor's dtype, as a view of the tensor's shape. */
static tn_view data_view(const npy_header *header, const void *data) {
  tn_shape stored = stored_shape(header);
  int reversed[TN_RANK_LIMIT];
  for (int i = 0; i < stored.rank; i++) reversed[i] = stored.rank - 1 - i;
  tn_view view = tn_view_make((void *)(uintptr_t)data, header->dtype, &stored);
  return header->column_major ? tn_view_permute(&view, reversed) : view;
}

/* The header, of which the first `known` bytes of the file hold all, and where the data begins. */
static tn_npy_error read_start(const void *file, size_t known, size_t bytes, header_reader *reader,
                               size_t *data) {
  size_t start = 0, length = 0;
  tn_npy_error error = find_header(file, known, &start, &length);
  if (error) return error;
  const char *text = (const char *)file + start;
  *reader = (header_reader){ .at = text, .end = text + length, .error = TN_NPY_HEADER };
  if (!read_header(reader)) return reader->error;
  *data = start + length;
  return check_size(&reader->header, bytes - *data);
}

tn_npy_error tn_npy_check(const void *start, size_t known, size_t bytes) {
  header_reader reader;
  size_t data;
  return read_start(start, known, bytes, &reader, &data);
}

/* ---- integers that tern has no dtype for ---- */

static uint64_t load_integer(const npy_header *header, const unsigned char *at) {
  uint64_t value = 0;
  for (size_t i = 0; i < header->element; i++)
    value = value << 8 | at[header->big_endian ? i : header->element - 1 - i];
  uint64_t sign = (uint64_t)1 << (8 * header->element - 1);
  return header->kind == 'i' ? (value ^ sign) - sign : value;
}

static bool needs_widening(const npy_header *header) {
  return header->kind == 'u' || (header->kind == 'i' && header->element < 4);
}

/* All integers in the order of the file. */
static tn_npy_error widen(tn_heap *heap, const npy_header *header, const unsigned char *data,
                          tn_tensor *out) {
  tn_shape stored = stored_shape(header);
  tn_tensor result;
  if (!tn_tensor_new(heap, header->dtype, &stored, &result)) return TN_NPY_MEMORY;
  int64_t count = tn_shape_count(&stored);
  for (int64_t i = 0; i < count; i++) {
    uint64_t value = load_integer(header, data + (size_t)i * header->element);
    if (header->kind == 'u' && value > INT64_MAX) {
      tn_tensor_unref(&result);
      return TN_NPY_RANGE;
    }
    if (header->dtype == TN_I32)
      ((int32_t *)result.view.data)[i] = (int32_t)(int64_t)value;
    else
      ((int64_t *)result.view.data)[i] = (int64_t)value;
  }
  *out = result;
  return TN_NPY_OK;
}

static tn_npy_error read_widened(tn_heap *heap, const npy_header *header, const unsigned char *data,
                                 tn_tensor *out) {
  tn_tensor wide;
  tn_npy_error error = widen(heap, header, data, &wide);
  if (error || !header->column_major) {
    if (!error) *out = wide;
    return error;
  }
  tn_view turned = data_view(header, wide.view.data);
  bool ok = tn_tensor_copy(heap, &turned, out);
  tn_tensor_unref(&wide);
  return ok ? TN_NPY_OK : TN_NPY_MEMORY;
}

/* ---- all elements ---- */

static tn_npy_error read_plain(tn_heap *heap, const npy_header *header, const unsigned char *data,
                               size_t bytes, tn_tensor *out) {
  tn_view stored = data_view(header, data);
  tn_tensor result;
  if (!tn_tensor_copy(heap, &stored, &result)) return TN_NPY_MEMORY;
  bool reverse = header->big_endian != tn_machine_is_big_endian();
  if (reverse && header->element > 1) tn_reverse_bytes(result.view.data, bytes, header->element);
  tn_view_canonicalise(&result.view);
  *out = result;
  return TN_NPY_OK;
}

tn_npy_error tn_npy_read(tn_heap *heap, const void *file, size_t bytes, tn_tensor *out) {
  header_reader reader;
  size_t begin;
  tn_npy_error error = read_start(file, bytes, bytes, &reader, &begin);
  if (error) return error;
  const unsigned char *data = (const unsigned char *)file + begin;
  if (reader.header.dtype == TN_BOOL && !bools_are_sound(data, bytes - begin)) return TN_NPY_BOOL;
  if (needs_widening(&reader.header)) return read_widened(heap, &reader.header, data, out);
  return read_plain(heap, &reader.header, data, bytes - begin, out);
}

/* ---- writing ---- */

static const char *code_of(tn_dtype dtype) {
  for (size_t i = 0; i < NPY_DTYPE_COUNT; i++) {
    if (npy_dtypes[i].dtype == dtype) return npy_dtypes[i].code;
  }
  return NULL;
}

static void write_dictionary(const tn_view *view, const char *code, tn_text *out) {
  tn_text_puts(out, "{'descr': '");
  tn_text_byte(out, tn_dtype_bytes(view->dtype) == 1 ? '|' : '<');
  tn_text_puts(out, code);
  tn_text_puts(out, "', 'fortran_order': False, 'shape': (");
  for (int i = 0; i < view->rank; i++) {
    if (i) tn_text_byte(out, ' ');
    tn_text_int(out, view->dim[i]);
    if (i == 0 || i < view->rank - 1) tn_text_byte(out, ',');
  }
  tn_text_puts(out, "), }");
}

/* With spaces and a line break, so that the data starts at a multiple of 64 bytes. */
static void write_header(const tn_view *view, const char *code, tn_text *out) {
  size_t start = out->len;
  tn_text_add(out, TN_LIT(MAGIC "\x01\x00" "\x00\x00"));
  size_t header = out->len;
  write_dictionary(view, code, out);
  size_t used = out->len - start + 1;
  tn_text_repeat(out, ' ', (64 - used % 64) % 64);
  tn_text_byte(out, '\n');
  if (out->failed) return;
  size_t length = out->len - header;   /* 8 dimensions: far below 65536 */
  out->at[header - 2] = (char)(length & 0xff);
  out->at[header - 1] = (char)(length >> 8);
}

static void write_run(tn_run run, size_t element, tn_text *out) {
  bool reverse = tn_machine_is_big_endian();
  if (run.step == (int64_t)element && !reverse) {
    tn_text_add(out, (tn_str){ (const char *)run.at, (size_t)run.count * element });
    return;
  }
  for (int64_t i = 0; i < run.count && !out->failed; i++) {
    unsigned char bytes[8];
    memcpy(bytes, run.at + i * run.step, element);
    if (reverse) tn_reverse_bytes(bytes, element, element);
    tn_text_add(out, (tn_str){ (const char *)bytes, element });
  }
}

tn_npy_error tn_npy_write(const tn_view *view, tn_text *out) {
  const char *code = code_of(view->dtype);
  if (!code) return TN_NPY_DTYPE;
  write_header(view, code, out);
  tn_runs runs = tn_runs_of(view);
  size_t element = tn_dtype_bytes(view->dtype);
  for (tn_run run; !out->failed && tn_runs_next(&runs, &run);) write_run(run, element, out);
  return out->failed ? TN_NPY_MEMORY : TN_NPY_OK;
}
