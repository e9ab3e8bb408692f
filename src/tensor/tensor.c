/* tensor/tensor.c: reference-counted buffers, and tensors over them.
 *
 * A buffer is rounded up to whole cache lines and is never of size 0, so that
 * a kernel may load a full vector at the end, and no pointer is ever NULL. The
 * size that is returned to the heap is computed from `bytes` again. */
#include "tensor/tensor.h"

#include <assert.h>
#include <string.h>

#define LINE_BYTES ((size_t)64)

static bool block_bytes(size_t bytes, size_t *out) {
  size_t padded;
  if (!tn_size_add(bytes, LINE_BYTES - 1, &padded)) return false;
  padded -= padded % LINE_BYTES;
  *out = padded ? padded : LINE_BYTES;
  return true;
}

tn_buffer *tn_buffer_borrow(tn_heap *heap, void *data, size_t bytes) {
  tn_buffer *buffer = tn_heap_alloc(heap, sizeof *buffer);
  if (!buffer) return NULL;
  *buffer = (tn_buffer){ .references = 1, .heap = heap, .bytes = bytes, .data = data };
  return buffer;
}

tn_buffer *tn_buffer_new(tn_heap *heap, size_t bytes) {
  size_t block;
  if (!block_bytes(bytes, &block)) return NULL;
  tn_buffer *buffer = tn_buffer_borrow(heap, NULL, bytes);
  if (!buffer) return NULL;
  buffer->owns = true;
  buffer->data = tn_heap_alloc_aligned(heap, block, LINE_BYTES);
  if (buffer->data) return buffer;
  tn_heap_free(heap, buffer, sizeof *buffer);
  return NULL;
}

tn_buffer *tn_buffer_ref(tn_buffer *buffer) {
  assert(buffer->references > 0);
  buffer->references++;
  return buffer;
}

void tn_buffer_unref(tn_buffer *buffer) {
  if (!buffer) return;
  assert(buffer->references > 0);
  if (--buffer->references) return;
  size_t block = 0;
  if (buffer->owns && block_bytes(buffer->bytes, &block)) {
    tn_heap_free_aligned(buffer->heap, buffer->data, block);
  }
  tn_heap_free(buffer->heap, buffer, sizeof *buffer);
}

/* 2^40 elements do not fit into the address space of a 32-bit machine. */
static bool bytes_of(tn_dtype dtype, const tn_shape *shape, size_t *out) {
  int64_t count = tn_shape_count(shape);
  if (count < 0 || (uint64_t)count > SIZE_MAX) return false;
  return tn_size_mul((size_t)count, tn_dtype_bytes(dtype), out);
}

bool tn_tensor_new(tn_heap *heap, tn_dtype dtype, const tn_shape *shape, tn_tensor *out) {
  size_t bytes;
  if (!bytes_of(dtype, shape, &bytes)) return false;
  tn_buffer *buffer = tn_buffer_new(heap, bytes);
  if (!buffer) return false;
  *out = (tn_tensor){ tn_view_make(buffer->data, dtype, shape), buffer };
  return true;
}

bool tn_tensor_zeros(tn_heap *heap, tn_dtype dtype, const tn_shape *shape, tn_tensor *out) {
  if (!tn_tensor_new(heap, dtype, shape, out)) return false;
  memset(out->buffer->data, 0, out->buffer->bytes);
  return true;
}

bool tn_tensor_scalar(tn_heap *heap, tn_dtype dtype, double number, tn_tensor *out) {
  if (!tn_tensor_new(heap, dtype, &TN_SCALAR_SHAPE, out)) return false;
  tn_view_set_f64(&out->view, 0, number);
  return true;
}

bool tn_tensor_copy(tn_heap *heap, const tn_view *from, tn_tensor *out) {
  tn_shape shape = tn_view_shape(from);
  if (!tn_tensor_new(heap, from->dtype, &shape, out)) return false;
  tn_view_copy(&out->view, from);
  return true;
}

tn_tensor tn_tensor_ref(const tn_tensor *tensor) {
  if (tensor->buffer) tn_buffer_ref(tensor->buffer);
  return *tensor;
}

void tn_tensor_unref(tn_tensor *tensor) {
  tn_buffer_unref(tensor->buffer);
  *tensor = (tn_tensor){ 0 };
}
