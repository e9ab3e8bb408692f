/* tensor/tensor.h: reference-counted storage, and views of it.
 *
 * A tn_view is what kernels see: a pointer, a dtype, a known shape and strides
 * in elements. It owns nothing. A tn_tensor is a value: a view together with a
 * reference to its buffer. Buffers are immutable once shared, except
 * where a plan or an in-place update owns them. Stride 0 repeats an element. */
#ifndef TN_TENSOR_TENSOR_H
#define TN_TENSOR_TENSOR_H

#include "base/sha256.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

typedef struct {
  void *data;                        /* first element */
  tn_dtype dtype;
  int32_t rank;
  int64_t dim[TN_RANK_LIMIT];        /* all >= 0 */
  int64_t stride[TN_RANK_LIMIT];     /* in elements; may be 0 or negative */
} tn_view;

int64_t tn_view_count(const tn_view *view);
/* Row-major without gaps; axes of length 1 do not matter. */
bool tn_view_is_contiguous(const tn_view *view);
/* A contiguous view of `shape` (known) over `data`. */
tn_view tn_view_make(void *data, tn_dtype dtype, const tn_shape *shape);
tn_shape tn_view_shape(const tn_view *view);

/* Views of the same elements, arranged differently. They cannot fail once the
 * op rules have accepted the arguments. */
tn_view tn_view_broadcast(const tn_view *view, const tn_shape *to);
tn_view tn_view_permute(const tn_view *view, const int *axes);
tn_view tn_view_slice(const tn_view *view, int axis, int64_t start, int64_t step, int64_t count);
/* False when the strides do not allow it without copying. */
bool tn_view_reshape(const tn_view *view, const tn_shape *to, tn_view *out);

/* Copies elements between views of equal shape and dtype. May not overlap. */
void tn_view_copy(const tn_view *to, const tn_view *from);
/* Element by row-major index, converted; for tests, printing and slow paths. */
double tn_view_get_f64(const tn_view *view, int64_t index);
int64_t tn_view_get_i64(const tn_view *view, int64_t index);
void tn_view_set_f64(const tn_view *view, int64_t index, double number);
void tn_view_set_i64(const tn_view *view, int64_t index, int64_t number);
/* A 0-d view of `room`, which now holds `number`. */
tn_view tn_view_number(tn_element *room, tn_dtype dtype, double number);
/* The same dtype, shape and bits. */
bool tn_view_equal(const tn_view *a, const tn_view *b);
/* NaNs become the canonical quiet NaN. For data that comes from outside. */
void tn_view_canonicalise(const tn_view *view);

typedef struct {
  uint32_t references;
  tn_heap *heap;
  size_t bytes;
  void *data;           /* 64-byte aligned, unless borrowed */
  bool owns;            /* false: borrowed from an embedder */
} tn_buffer;

/* NULL when memory runs out. Not zeroed; `data` is never NULL, and the block is a whole number
 * of 64-byte lines. */
tn_buffer *tn_buffer_new(tn_heap *heap, size_t bytes);
/* A buffer over memory of an embedder, which must outlive it. NULL when memory runs out. */
tn_buffer *tn_buffer_borrow(tn_heap *heap, void *data, size_t bytes);
tn_buffer *tn_buffer_ref(tn_buffer *buffer);
void tn_buffer_unref(tn_buffer *buffer);    /* NULL is fine */

typedef struct {
  tn_view view;
  tn_buffer *buffer;    /* NULL: no value */
} tn_tensor;

/* Contiguous, not initialised. False when the count is over the limit or memory runs out. */
bool tn_tensor_new(tn_heap *heap, tn_dtype dtype, const tn_shape *shape, tn_tensor *out);
bool tn_tensor_zeros(tn_heap *heap, tn_dtype dtype, const tn_shape *shape, tn_tensor *out);
bool tn_tensor_scalar(tn_heap *heap, tn_dtype dtype, double number, tn_tensor *out);
bool tn_tensor_copy(tn_heap *heap, const tn_view *from, tn_tensor *out);   /* contiguous copy */
tn_tensor tn_tensor_ref(const tn_tensor *tensor);
void tn_tensor_unref(tn_tensor *tensor);    /* and clears it */

/* SHA-256 of the elements in row-major order, little-endian, NaNs canonical. */
void tn_view_sha256(const tn_view *view, uint8_t digest[32]);
/* The same, into a hash of several things. */
void tn_view_sha256_update(const tn_view *view, tn_sha256 *hash);
#endif
