/* backend/cuda/kernels/view.h: where element n of a view is. */
#ifndef TN_BACKEND_CUDA_KERNELS_VIEW_H
#define TN_BACKEND_CUDA_KERNELS_VIEW_H

#include "backend/cuda/kernels/words.h"

#define CARD_PLACES 4   /* operands whose offsets are computed together */

/* n / dim[axis] of a narrow shape, without a division: magic is 2^(32 + shift) / dim, rounded up, which is
 * near enough for every n below 2^31. */
CARD_INLINE uint32_t card_divided(const card_shape *shape, int axis, uint32_t n) {
  uint32_t magic = shape->magic[axis], high = (uint32_t)((uint64_t)n * magic >> 32);
  return magic ? high >> shape->shift[axis] : n;
}

/* Byte offsets of element n, in row-major order, of `count` operands that share a shape. */
CARD_INLINE void card_places(const card_shape *shape, int64_t n, const card_operand *const *operand,
                               int count, int64_t *offset) {
  CARD_UNROLL
  for (int k = 0; k < count; k++) offset[k] = 0;
  CARD_ROLLED
  for (int axis = shape->rank - 1; axis >= 0; axis--) {
    int64_t at = n;
    if (axis > 0 && shape->narrow) {
      uint32_t number = (uint32_t)n, before = card_divided(shape, axis, number);
      at = number - before * (uint32_t)shape->dim[axis];
      n = before;
    } else if (axis > 0) {
      at = n % shape->dim[axis];
      n /= shape->dim[axis];
    }
    CARD_UNROLL
    for (int k = 0; k < count; k++) offset[k] += at * operand[k]->stride[axis];
  }
}

CARD_INLINE char *card_at(const card_shape *shape, const card_operand *operand, int64_t n) {
  int64_t offset;
  card_places(shape, n, &operand, 1, &offset);
  return operand->data + offset;
}

CARD_INLINE int64_t card_least(int64_t a, int64_t b) { return a < b ? a : b; }
#endif
