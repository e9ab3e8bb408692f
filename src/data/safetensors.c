/* data/safetensors.c: reads and writes safetensors files.
 *
 * Files that tern writes are sealed: the last member of the metadata is the hash of the whole file
 * (base/seal.h), and the first one says that tern wrote it. So a file of tern with a damaged seal
 * is not mistaken for a file of another tool, which has no seal and is read as it is. */
#include "data/safetensors.h"

#include <string.h>

#include "base/bytes.h"
#include "base/json.h"
#include "base/seal.h"

/* The start of the metadata of every file that tern writes. */
#define WRITER "{\"writer\":\"tern\""

#define HEADER_LIMIT ((uint64_t)100 << 20)

static const struct {
  const char *name;
  tn_dtype dtype;
} dtypes[] = { { "F32", TN_F32 },   { "F64", TN_F64 },   { "I32", TN_I32 }, { "I64", TN_I64 },
               { "BOOL", TN_BOOL }, { "BF16", TN_BF16 }, { "F16", TN_F16 } };
#define DTYPE_COUNT (sizeof dtypes / sizeof dtypes[0])

const char tn_safetensors_no_memory[] = "it does not fit into memory";

typedef struct {
  tn_safetensors *file;
  tn_json_reader json;
  tn_str header;
  const unsigned char *data; /* NULL: the elements are not read */
  uint64_t data_bytes;
  uint64_t expected; /* where the next tensor must begin */
  const char *seal;  /* its digits; NULL: none */
  const char *problem;
} reader;

typedef struct {
  tn_str name;
  tn_dtype dtype;
  tn_shape shape;
  uint64_t begin, end;
  bool has_dtype, has_shape, has_offsets;
} entry;

static bool refuse(reader *r, const char *problem) {
  if (!r->problem) r->problem = problem;
  return false;
}

static bool next(reader *r, tn_json_token *token) {
  return tn_json_next(&r->json, token) != TN_JSON_ERROR ? true : refuse(r, "the header is not JSON");
}

static bool read_dtype(reader *r, const tn_json_token *token, entry *e) {
  for (size_t i = 0; token->kind == TN_JSON_STRING && i < DTYPE_COUNT; i++) {
    if (!tn_str_is(token->text, dtypes[i].name)) continue;
    e->dtype = dtypes[i].dtype;
    e->has_dtype = true;
    return true;
  }
  return refuse(r, "a tensor has a dtype that tern does not have");
}

/* The whole numbers of an array, at most `most` of them; -1 after refusing. */
static int read_numbers(reader *r, const tn_json_token *first, int64_t *numbers, int most) {
  tn_json_token token;
  int count = 0;
  if (first->kind != TN_JSON_ARRAY_BEGIN) return refuse(r, "a list of whole numbers is missing"), -1;
  for (;;) {
    if (!next(r, &token)) return -1;
    if (token.kind == TN_JSON_ARRAY_END) return count;
    if (count == most) return refuse(r, "a tensor has too many dimensions"), -1;
    if (token.kind != TN_JSON_NUMBER || !tn_json_token_i64(&token, &numbers[count]) || numbers[count] < 0) {
      return refuse(r, "a length or offset is not a whole number"), -1;
    }
    count++;
  }
}

static bool read_shape(reader *r, const tn_json_token *token, entry *e) {
  int64_t dims[TN_RANK_LIMIT];
  int rank = read_numbers(r, token, dims, TN_RANK_LIMIT);
  if (rank < 0) return false;
  e->shape = tn_shape_of(dims, rank);
  e->has_shape = true;
  return true;
}

static bool read_offsets(reader *r, const tn_json_token *token, entry *e) {
  int64_t offsets[2];
  int count = read_numbers(r, token, offsets, 2);
  if (count < 0) return false;
  if (count != 2) return refuse(r, "offsets are two numbers");
  e->begin = (uint64_t)offsets[0];
  e->end = (uint64_t)offsets[1];
  e->has_offsets = true;
  return true;
}

static bool read_entry(reader *r, entry *e) {
  tn_json_token token;
  if (!next(r, &token)) return false;
  if (token.kind != TN_JSON_OBJECT_BEGIN) return refuse(r, "a tensor is described by an object");
  while (next(r, &token) && token.kind == TN_JSON_KEY) {
    tn_str key = token.text;
    if (!next(r, &token)) return false;
    bool ok = tn_str_is(key, "dtype")          ? read_dtype(r, &token, e)
              : tn_str_is(key, "shape")        ? read_shape(r, &token, e)
              : tn_str_is(key, "data_offsets") ? read_offsets(r, &token, e)
              : tn_json_skip(&r->json, &token) ? true
                                               : refuse(r, "the header is not JSON");
    if (!ok) return false;
  }
  if (r->problem) return false;
  return (e->has_dtype && e->has_shape && e->has_offsets) ||
         refuse(r, "a tensor lacks its dtype, shape or offsets");
}

static bool copy_elements(reader *r, const entry *e, size_t bytes, tn_tensor *out) {
  if (!tn_tensor_new(r->file->heap, e->dtype, &e->shape, out)) return false;
  if (bytes > 0) memcpy(out->view.data, r->data + e->begin, bytes);
  if (tn_machine_is_big_endian()) tn_reverse_bytes(out->view.data, bytes, tn_dtype_bytes(e->dtype));
  tn_view_canonicalise(&out->view);
  return true;
}

/* After others whose names have the same hash. */
static bool add_place(tn_safetensors *file, tn_str name, size_t place) {
  uint64_t key = tn_str_hash(name);
  while (tn_map_get(&file->places, key)) key++;
  return tn_map_put(&file->places, key, place);
}

/* Tensors follow each other in the order of the header, as every writer does it; so nothing
 * overlaps and nothing hides between them. */
static bool place_entry(reader *r, const entry *e) {
  size_t bytes;
  int64_t count = tn_shape_count(&e->shape);
  if (count < 0 || !tn_size_mul((size_t)count, tn_dtype_bytes(e->dtype), &bytes))
    return refuse(r, "a tensor is too large");
  if (e->begin != r->expected || e->end < e->begin || e->end > r->data_bytes)
    return refuse(r, "a tensor is outside the file, or overlaps another");
  if (e->end - e->begin != bytes) return refuse(r, "a tensor's offsets do not fit its shape");
  if (tn_safetensors_find(r->file, e->name)) return refuse(r, "a name is repeated");
  r->expected = e->end;
  tn_named_tensor named = { .name = tn_arena_str(&r->file->arena, e->name),
                            .offset = 8 + r->header.len + e->begin };
  named.tensor.view = tn_view_make(NULL, e->dtype, &e->shape);
  if (r->file->arena.failed || (r->data && !copy_elements(r, e, bytes, &named.tensor)))
    return refuse(r, tn_safetensors_no_memory);
  if (add_place(r->file, named.name, r->file->tensors.count) &&
      tn_vec_push(r->file->heap, &r->file->tensors, named))
    return true;
  tn_tensor_unref(&named.tensor);
  return refuse(r, tn_safetensors_no_memory);
}

/* The members that the writer was given: without who wrote it, and without the seal. */
static tn_str given_metadata(reader *r, tn_str text) {
  size_t writer = tn_str_starts(text, WRITER) ? sizeof WRITER - 1 : 1;
  size_t end = r->seal ? tn_seal_start(r->seal, text) : text.len - 1;
  tn_text inner;
  tn_text_init(&inner, r->file->heap);
  if (end > writer && text.at[writer] == ',') writer++;
  tn_text_byte(&inner, '{');
  if (end > writer) tn_text_add(&inner, (tn_str){ text.at + writer, end - writer });
  tn_text_byte(&inner, '}');
  tn_str copy = tn_arena_str(&r->file->arena, tn_text_str(&inner));
  if (inner.failed) r->file->arena.failed = true;
  tn_text_free(&inner);
  return copy;
}

static bool read_metadata(reader *r) {
  tn_json_token token;
  if (!next(r, &token)) return false;
  if (token.kind != TN_JSON_OBJECT_BEGIN) return refuse(r, "the metadata is not an object");
  size_t begin = (size_t)token.at;
  if (!tn_json_skip(&r->json, &token)) return refuse(r, "the header is not JSON");
  tn_str text = { r->header.at + begin, (size_t)(r->json.at - r->json.start) - begin };
  r->seal = tn_seal_find(text);
  if (!r->seal && tn_str_starts(text, WRITER)) return refuse(r, "its seal is missing");
  r->file->metadata = given_metadata(r, text);
  return r->file->arena.failed ? refuse(r, tn_safetensors_no_memory) : true;
}

static bool read_header(reader *r) {
  tn_json_token token;
  tn_json_init(&r->json, r->header, &r->file->arena);
  if (!next(r, &token)) return false;
  if (token.kind != TN_JSON_OBJECT_BEGIN) return refuse(r, "the header is not an object");
  while (next(r, &token) && token.kind == TN_JSON_KEY) {
    entry e = { .name = token.text };
    bool ok =
        tn_str_is(token.text, "__metadata__") ? read_metadata(r) : read_entry(r, &e) && place_entry(r, &e);
    if (!ok) return false;
  }
  if (r->problem) return false;
  if (!next(r, &token) || token.kind != TN_JSON_END) return refuse(r, "something follows the header");
  return r->expected == r->data_bytes ? true : refuse(r, "the file is longer than its tensors");
}

static bool check_seal(reader *r, const char *file, size_t bytes) {
  if (!r->seal) return true;
  r->file->sealed = tn_seal_holds(file, bytes, r->seal);
  return r->file->sealed ? true : refuse(r, "it was changed: its hash does not match");
}

/* What comes before the header is read. */
static const char *read_beginning(tn_heap *heap, const void *begin, size_t begin_bytes, uint64_t bytes,
                                  reader *r, tn_safetensors *out) {
  *out = (tn_safetensors){ .heap = heap };
  tn_arena_init(&out->arena, heap);
  tn_map_init(&out->places, heap);
  if (begin_bytes < 8) return "the file is shorter than a header";
  uint64_t header = tn_load_le64(begin);
  if (header > HEADER_LIMIT || header > begin_bytes - 8 || bytes < begin_bytes)
    return "the header is longer than the file";
  *r = (reader){ .file = out,
                 .header = { (const char *)begin + 8, (size_t)header },
                 .data_bytes = bytes - 8 - header };
  return NULL;
}

const char *tn_safetensors_read(tn_heap *heap, const void *file, size_t bytes, tn_safetensors *out) {
  reader r;
  const char *problem = read_beginning(heap, file, bytes, bytes, &r, out);
  if (problem) return problem;
  r.data = (const unsigned char *)file + 8 + r.header.len;
  if (!read_header(&r) || !check_seal(&r, file, bytes)) tn_safetensors_free(out);
  return r.problem;
}

const char *tn_safetensors_list(tn_heap *heap, const void *begin, size_t begin_bytes, uint64_t bytes,
                                tn_safetensors *out) {
  reader r;
  const char *problem = read_beginning(heap, begin, begin_bytes, bytes, &r, out);
  if (problem) return problem;
  if (!read_header(&r)) tn_safetensors_free(out);
  else if (r.seal) out->seal_at = (uint64_t)(r.seal - (const char *)begin);
  return r.problem;
}

void tn_safetensors_free(tn_safetensors *file) {
  for (size_t i = 0; i < file->tensors.count; i++) tn_tensor_unref(&file->tensors.at[i].tensor);
  tn_vec_free(file->heap, &file->tensors);
  tn_map_free(&file->places);
  tn_arena_free(&file->arena);
  file->metadata = (tn_str){ 0 };
}

const tn_tensor *tn_safetensors_find(const tn_safetensors *file, tn_str name) {
  uint64_t key = tn_str_hash(name);
  for (const uint64_t *at; (at = tn_map_get(&file->places, key)) != NULL; key++) {
    const tn_named_tensor *found = &file->tensors.at[*at];
    if (tn_str_equal(found->name, name)) return &found->tensor;
  }
  return NULL;
}

/* ---- writing ---- */

static const char *dtype_name(tn_dtype dtype) {
  for (size_t i = 0; i < DTYPE_COUNT; i++) {
    if (dtypes[i].dtype == dtype) return dtypes[i].name;
  }
  return "";
}

static uint64_t view_bytes(const tn_view *view) {
  return (uint64_t)tn_view_count(view) * tn_dtype_bytes(view->dtype);
}

/* Who wrote it, the members that were given, and room for the seal; returns where that is in `out`. */
static size_t write_metadata(tn_str metadata, tn_json_writer *json, tn_text *out) {
  tn_json_key(json, "__metadata__");
  tn_text_puts(out, WRITER);
  if (metadata.len > 2) {
    tn_text_byte(out, ',');
    tn_text_add(out, (tn_str){ metadata.at + 1, metadata.len - 2 });
  }
  size_t seal = tn_seal_reserve(out, false);
  json->comma = true;
  return seal;
}

/* Returns where the seal goes. */
static size_t write_header(const tn_named_view *tensors, size_t count, tn_str metadata, tn_text *out) {
  tn_json_writer json = tn_json_writer_on(out);
  uint64_t offset = 0;
  tn_json_object_begin(&json);
  size_t seal = write_metadata(metadata, &json, out);
  for (size_t i = 0; i < count; i++) {
    const tn_view *view = &tensors[i].view;
    tn_json_key_str(&json, tensors[i].name), tn_json_object_begin(&json);
    tn_json_key(&json, "dtype"), tn_json_string(&json, tn_str_of(dtype_name(view->dtype)));
    tn_json_key(&json, "shape"), tn_json_array_begin(&json);
    for (int d = 0; d < view->rank; d++) tn_json_int(&json, view->dim[d]);
    tn_json_array_end(&json);
    tn_json_key(&json, "data_offsets"), tn_json_array_begin(&json);
    tn_json_uint(&json, offset), tn_json_uint(&json, offset + view_bytes(view));
    tn_json_array_end(&json), tn_json_object_end(&json);
    offset += view_bytes(view);
  }
  tn_json_object_end(&json);
  while (out->len % 8 != 0 && !out->failed) tn_text_byte(out, ' '); /* elements begin aligned */
  return seal;
}

static void write_elements(const tn_view *view, tn_text *out) {
  tn_tensor copy;
  if (!tn_tensor_copy(out->heap, view, &copy)) {
    out->failed = true;
    return;
  }
  size_t bytes = (size_t)view_bytes(view);
  tn_view_canonicalise(&copy.view);
  if (tn_machine_is_big_endian()) tn_reverse_bytes(copy.view.data, bytes, tn_dtype_bytes(view->dtype));
  tn_text_add(out, (tn_str){ copy.view.data, bytes });
  tn_tensor_unref(&copy);
}

void tn_safetensors_write(const tn_named_view *tensors, size_t count, tn_str metadata, tn_text *out) {
  tn_text header;
  unsigned char length[8];
  size_t begin = out->len;
  tn_text_init(&header, out->heap);
  size_t seal = begin + sizeof length + write_header(tensors, count, metadata, &header);
  tn_store_le64(length, header.len);
  tn_text_add(out, (tn_str){ (const char *)length, sizeof length });
  tn_text_add(out, tn_text_str(&header));
  if (header.failed) out->failed = true;
  tn_text_free(&header);
  for (size_t i = 0; i < count; i++) write_elements(&tensors[i].view, out);
  if (out->failed) return;
  tn_seal_close(out->at + begin, out->len - begin, out->at + seal);
}
