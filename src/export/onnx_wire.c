/* export/onnx_wire.c: protobuf, and the messages that hold data and types. */
#include <string.h>

#include "export/onnx_internal.h"

enum { VARINT = 0, BYTES = 2 };

static void put_varint(tn_text *out, uint64_t number) {
  for (; number >= 0x80; number >>= 7) tn_text_byte(out, (char)(number | 0x80));
  tn_text_byte(out, (char)number);
}

static void put_tag(tn_text *out, int field, int kind) {
  put_varint(out, (uint64_t)field << 3 | (uint64_t)kind);
}

void tn_wire_int(tn_text *out, int field, int64_t number) {
  put_tag(out, field, VARINT);
  put_varint(out, (uint64_t)number);
}

void tn_wire_bytes(tn_text *out, int field, tn_str bytes) {
  put_tag(out, field, BYTES);
  put_varint(out, bytes.len);
  tn_text_add(out, bytes);
}

void tn_wire_word(tn_text *out, int field, const char *word) { tn_wire_bytes(out, field, tn_str_of(word)); }

int tn_onnx_dtype(tn_dtype dtype) {
  switch (dtype) {
    case TN_F64: return TN_ONNX_DOUBLE;
    case TN_I32: return TN_ONNX_INT32;
    case TN_I64: return TN_ONNX_INT64;
    case TN_BOOL: return TN_ONNX_BOOL;
    case TN_F16: return TN_ONNX_FLOAT16;
    case TN_BF16: return TN_ONNX_BFLOAT16;
    default: return TN_ONNX_FLOAT;
  }
}

/* The format is little-endian. */
static void put_element(tn_text *out, const void *element, size_t bytes) {
  uint64_t bits = 0;
  uint32_t b32;
  uint16_t b16;
  if (bytes == 8) memcpy(&bits, element, 8);
  if (bytes == 4) memcpy(&b32, element, 4), bits = b32;
  if (bytes == 2) memcpy(&b16, element, 2), bits = b16;
  if (bytes == 1) bits = *(const uint8_t *)element;
  for (size_t i = 0; i < bytes; i++) tn_text_byte(out, (char)(bits >> (8 * i)));
}

/* recursion: TN_RANK_LIMIT deep. */
static void put_elements(tn_text *out, const tn_view *view, int axis, const char *at) {
  if (axis == view->rank) {
    put_element(out, at, tn_dtype_bytes(view->dtype));
    return;
  }
  for (int64_t i = 0; i < view->dim[axis]; i++)
    put_elements(out, view, axis + 1, at + i * view->stride[axis] * (int64_t)tn_dtype_bytes(view->dtype));
}

void tn_onnx_tensor(tn_text *out, tn_str name, const tn_view *view) {
  tn_text raw;
  tn_text_init(&raw, out->heap);
  for (int i = 0; i < view->rank; i++) tn_wire_int(out, 1, view->dim[i]);
  tn_wire_int(out, 2, tn_onnx_dtype(view->dtype));
  if (name.len) tn_wire_bytes(out, 8, name);
  put_elements(&raw, view, 0, view->data);
  tn_wire_bytes(out, 9, tn_text_str(&raw));
  if (raw.failed) out->failed = true;
  tn_text_free(&raw);
}

/* Adds what `part` holds as a field, and empties it. */
static void put_part(tn_text *out, int field, tn_text *part) {
  tn_wire_bytes(out, field, tn_text_str(part));
  if (part->failed) out->failed = true;
  tn_text_clear(part);
}

void tn_onnx_value_info(tn_text *out, tn_str name, const tn_type *type, const tn_names *names) {
  tn_text shape, part, tensor;
  tn_text_init(&shape, out->heap);
  tn_text_init(&part, out->heap);
  tn_text_init(&tensor, out->heap);
  for (int i = 0; i < type->shape.rank; i++) {
    int64_t dim = type->shape.dim[i];
    if (tn_dim_is_known(dim))
      tn_wire_int(&part, 1, dim);
    else if (tn_dim_is_symbol(dim))
      tn_wire_bytes(&part, 2, tn_names_text(names, tn_dim_name(dim)));
    put_part(&shape, 1, &part);
  }
  tn_wire_int(&tensor, 1, tn_onnx_dtype(type->dtype));
  put_part(&tensor, 2, &shape);
  put_part(&part, 1, &tensor);
  tn_wire_bytes(out, 1, name);
  put_part(out, 2, &part);
  tn_text_free(&shape);
  tn_text_free(&part);
  tn_text_free(&tensor);
}
