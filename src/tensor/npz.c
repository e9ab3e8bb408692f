/* tensor/npz.c: reads and writes NumPy's archives of arrays.
 *
 * The index at the end of a zip file says where its members are. Of the header before a member only
 * its own length is used, because some writers leave the sizes in it empty. */
#include "tensor/npz.h"

#include <string.h>

#include "base/inflate.h"

#define END_BYTES     22
#define ENTRY_BYTES   46
#define LOCAL_BYTES   30
#define COMMENT_LIMIT 65535
#define MEMBER_LIMIT  65535
enum { STORED = 0, DEFLATED = 8 };

static uint32_t u16(const uint8_t *at) { return (uint32_t)at[0] | (uint32_t)at[1] << 8; }
static uint32_t u32(const uint8_t *at) { return u16(at) | u16(at + 2) << 16; }

/* ---- reading ---- */

typedef struct {
  const uint8_t *file;
  size_t bytes;
  size_t index, count; /* where the entries begin, and how many there are */
} archive;

typedef struct {
  tn_str name;
  uint32_t method, checksum, packed, size, offset;
} member;

/* The end record is last, before a comment of any length. */
static bool open_archive(archive *a) {
  if (a->bytes < END_BYTES) return false;
  size_t at = a->bytes - END_BYTES, least = at > COMMENT_LIMIT ? at - COMMENT_LIMIT : 0;
  while (u32(a->file + at) != 0x06054b50) {
    if (at-- == least) return false;
  }
  a->count = u16(a->file + at + 10);
  a->index = u32(a->file + at + 16);
  return a->index <= at && a->count < MEMBER_LIMIT;
}

/* Reads the entry at *at and moves on. */
static bool read_entry(const archive *a, size_t *at, member *m) {
  const uint8_t *entry = a->file + *at;
  if (*at > a->bytes || a->bytes - *at < ENTRY_BYTES || u32(entry) != 0x02014b50) return false;
  size_t name = u16(entry + 28), rest = (size_t)u16(entry + 30) + u16(entry + 32);
  if (a->bytes - *at - ENTRY_BYTES < name + rest) return false;
  *m = (member){ .name = { (const char *)entry + ENTRY_BYTES, name },
                 .method = u16(entry + 10),
                 .checksum = u32(entry + 16),
                 .packed = u32(entry + 20),
                 .size = u32(entry + 24),
                 .offset = u32(entry + 42) };
  *at += ENTRY_BYTES + name + rest;
  return true;
}

/* Where the bytes of a member begin; NULL when it does not lie inside the file. */
static const uint8_t *member_bytes(const archive *a, const member *m) {
  if (m->offset > a->bytes || a->bytes - m->offset < LOCAL_BYTES) return NULL;
  const uint8_t *local = a->file + m->offset;
  size_t head = LOCAL_BYTES + (size_t)u16(local + 26) + u16(local + 28), room = a->bytes - m->offset;
  if (u32(local) != 0x04034b50 || head > room || m->packed > room - head) return NULL;
  return local + head;
}

/* A megabyte may expand to a gigabyte. The header states the size of the array, so it is unpacked
 * first. */
static tn_npy_error look(tn_heap *heap, const uint8_t *packed, const member *m) {
  size_t wanted = m->size < TN_NPY_START ? m->size : TN_NPY_START;
  if (m->size / TN_INFLATE_RATIO > m->packed) return TN_NPY_ARCHIVE; /* no such small file holds as much */
  uint8_t *start = tn_heap_alloc(heap, wanted + 1);
  if (!start) return TN_NPY_MEMORY;
  size_t known = tn_inflate_start(packed, m->packed, start, wanted);
  bool whole = known + TN_INFLATE_WORD >= wanted;
  tn_npy_error error = whole ? tn_npy_check(start, known, m->size) : TN_NPY_ARCHIVE;
  tn_heap_free(heap, start, wanted + 1);
  return error;
}

static tn_npy_error unpack(tn_heap *heap, const uint8_t *packed, const member *m, tn_tensor *out) {
  tn_npy_error problem = look(heap, packed, m);
  if (problem != TN_NPY_OK) return problem;
  uint8_t *bytes = tn_heap_alloc(heap, m->size ? m->size : 1);
  if (!bytes) return TN_NPY_MEMORY;
  bool whole = tn_inflate(heap->stop, packed, m->packed, bytes, m->size) &&
               tn_crc32(heap->stop, bytes, m->size) == m->checksum;
  tn_npy_error error = whole ? tn_npy_read(heap, bytes, m->size, out) : TN_NPY_ARCHIVE;
  tn_heap_free(heap, bytes, m->size ? m->size : 1);
  if (whole || !tn_stop_asked(heap->stop)) return error;
  heap->stopped = heap->failed = true; /* as if memory had been refused for it */
  return TN_NPY_MEMORY;
}

static tn_npy_error read_member(tn_heap *heap, const archive *a, const member *m, tn_tensor *out) {
  const uint8_t *bytes = member_bytes(a, m);
  if (!bytes) return TN_NPY_ARCHIVE;
  if (m->method == DEFLATED) return unpack(heap, bytes, m, out);
  if (m->method != STORED) return TN_NPY_PACKED;
  if (m->size != m->packed || tn_crc32(heap->stop, bytes, m->size) != m->checksum) return TN_NPY_ARCHIVE;
  return tn_npy_read(heap, bytes, m->size, out);
}

/* numpy.load leaves the ending out. */
static bool is_named(const member *m, tn_str name) {
  tn_str bare = m->name;
  if (tn_str_equal(bare, name)) return true;
  if (tn_str_ends(bare, ".npy")) bare.len -= 4;
  return tn_str_equal(bare, name);
}

tn_npy_error tn_npz_read(tn_heap *heap, const void *file, size_t bytes, tn_str name, tn_tensor *out) {
  archive a = { .file = file, .bytes = bytes };
  member m;
  if (!open_archive(&a)) return TN_NPY_ARCHIVE;
  size_t at = a.index;
  for (size_t i = 0; i < a.count; i++) {
    if (!read_entry(&a, &at, &m)) return TN_NPY_ARCHIVE;
    if (name.len == 0 && a.count != 1) return TN_NPY_WHICH;
    if (name.len == 0 || is_named(&m, name)) return read_member(heap, &a, &m, out);
  }
  return TN_NPY_MEMBER;
}

/* ---- writing ---- */

static void put_u16(tn_text *out, uint32_t number) {
  tn_text_byte(out, (char)number);
  tn_text_byte(out, (char)(number >> 8));
}

static void put_u32(tn_text *out, uint32_t number) {
  put_u16(out, number);
  put_u16(out, number >> 16);
}

/* The part that entries and local heads share. The date is that of no file: 1980-01-01. */
static void put_facts(tn_text *out, uint32_t checksum, size_t size, size_t name) {
  put_u16(out, 20);    /* the version of zip that can read it */
  put_u16(out, 0x800); /* names are UTF-8 */
  put_u16(out, STORED);
  put_u16(out, 0);
  put_u16(out, 0x21);
  put_u32(out, checksum);
  put_u32(out, (uint32_t)size);
  put_u32(out, (uint32_t)size);
  put_u16(out, (uint32_t)name);
  put_u16(out, 0);
}

void tn_npz_begin(tn_npz_writer *writer, tn_text *out) {
  *writer = (tn_npz_writer){ .out = out, .start = out->len };
  tn_text_init(&writer->index, out->heap);
}

static void put_name(tn_text *out, tn_str name) {
  tn_text_add(out, name);
  tn_text_puts(out, ".npy");
}

static tn_npy_error put_member(tn_npz_writer *w, tn_str name, const tn_text *array) {
  uint32_t checksum = tn_crc32(NULL, array->at, array->len);
  size_t offset = w->out->len - w->start, length = name.len + 4;
  bool fits =
      length <= 65535 && w->count < MEMBER_LIMIT - 1 && array->len < UINT32_MAX && offset < UINT32_MAX;
  if (!fits) return TN_NPY_TOO_LARGE;
  put_u32(w->out, 0x04034b50);
  put_facts(w->out, checksum, array->len, length);
  put_name(w->out, name);
  tn_text_add(w->out, tn_text_str(array));
  put_u32(&w->index, 0x02014b50);
  put_u16(&w->index, 20);
  put_facts(&w->index, checksum, array->len, length);
  put_u16(&w->index, 0);
  put_u16(&w->index, 0);
  put_u16(&w->index, 0);
  put_u32(&w->index, 0);
  put_u32(&w->index, (uint32_t)offset);
  put_name(&w->index, name);
  w->count++;
  return TN_NPY_OK;
}

tn_npy_error tn_npz_add(tn_npz_writer *writer, tn_str name, const tn_view *view) {
  tn_text array;
  tn_text_init(&array, writer->out->heap);
  tn_npy_error error = tn_npy_write(view, &array);
  if (error == TN_NPY_OK && array.failed) error = TN_NPY_MEMORY;
  if (error == TN_NPY_OK) error = put_member(writer, name, &array);
  tn_text_free(&array);
  return error;
}

tn_npy_error tn_npz_end(tn_npz_writer *w) {
  size_t offset = w->out->len - w->start, size = w->index.len;
  bool fits = offset < UINT32_MAX && size < UINT32_MAX - offset;
  tn_text_add(w->out, tn_text_str(&w->index));
  put_u32(w->out, 0x06054b50);
  put_u32(w->out, 0); /* one volume */
  put_u16(w->out, (uint32_t)w->count);
  put_u16(w->out, (uint32_t)w->count);
  put_u32(w->out, (uint32_t)size);
  put_u32(w->out, (uint32_t)offset);
  put_u16(w->out, 0);
  if (w->index.failed) w->out->failed = true;
  tn_text_free(&w->index);
  return !fits ? TN_NPY_TOO_LARGE : w->out->failed ? TN_NPY_MEMORY : TN_NPY_OK;
}
