/* backend/cuda/kernels/product.h: what the kernels of matmul share, whatever their tiles. */
#ifndef TN_BACKEND_CUDA_KERNELS_PRODUCT_H
#define TN_BACKEND_CUDA_KERNELS_PRODUCT_H

#include "backend/cuda/kernels/view.h"
#include "op/element.h"

/* ptxas counts registers by these (cmake/bounds.cmake). */
#if defined(__NVPTX__)
#define BOUND(kernel, WM, WN, BLOCKS) \
  __asm__("// bounds card_kernel_matmul_" kernel " " #WM "*" #WN "*32 " #BLOCKS);
#define BOUND_ANY(NAME, WM, WN, BLOCKS) BOUND(#NAME, WM, WN, BLOCKS)
#define BOUND_EACH(NAME, WM, WN, BLOCKS)                                    \
  BOUND(#NAME "_rr", WM, WN, BLOCKS) BOUND(#NAME "_ra", WM, WN, BLOCKS)     \
  BOUND(#NAME "_ar", WM, WN, BLOCKS) BOUND(#NAME "_aa", WM, WN, BLOCKS)
#define TN_TILE(NAME, WAYS, M, N, DEPTH, STAGES, WM, WN, EM, EN, AHEAD, BLOCKS, ALONE, FULL) \
  BOUND_##WAYS(NAME, WM, WN, BLOCKS)
#include "backend/cuda/kernels/tiles.def"
#endif

#define GROUP 8   /* rows of tiles that are made together: they share what a near cache has of y */

typedef struct {
  int64_t row, column;               /* of the tile's first element */
  int64_t first_row, first_column;   /* of the first that it gives */
  const char *x, *y;                 /* the matrices */
  char *out;
} card_matmul_place;

CARD_INLINE card_matmul_place card_matmul_place_of(const card_matmul_arguments *a, int rows, int columns) {
  const card_operand *const operands[3] = { &a->x, &a->y, &a->out };
  int64_t work = a->first + card_block(), tiles = a->tiles_m * a->tiles_n, matrix = 0, offset[3] = { 0 };
  if (a->batch.count > 1) {
    matrix = work / tiles;
    card_places(&a->batch, matrix, operands, 3, offset);
  }
  uint32_t tile = (uint32_t)(work - matrix * tiles), together = (uint32_t)a->tiles_n * GROUP;
  uint32_t group = tile / together, rest = tile - group * together;
  uint32_t high = (uint32_t)card_least(a->tiles_m - (int64_t)group * GROUP, GROUP);
  card_matmul_place at = { .row = (int64_t)(group * GROUP + rest % high) * rows,
                           .column = (int64_t)(rest / high) * columns, .x = a->x.data + offset[0],
                           .y = a->y.data + offset[1], .out = a->out.data + offset[2] };
  at.first_row = at.row, at.first_column = at.column;
  return at;
}

/* `count` floats that lie side by side: 2 or 4. */
CARD_INLINE void card_read_run(float *to, const CARD_NEAR float *from, int count) {
  if (count == 4) {
    card_run run = *(const CARD_NEAR card_run *)(const CARD_NEAR void *)from;
    CARD_UNROLL
    for (int i = 0; i < 4; i++) to[i] = run[i];
  } else {
    card_pair pair = *(const CARD_NEAR card_pair *)(const CARD_NEAR void *)from;
    to[0] = pair[0], to[1] = pair[1];
  }
}

CARD_INLINE float card_matmul_end(const card_matmul_arguments *a, int64_t row, int64_t column, float sum) {
  if (a->end == CARD_PLAIN) return tn_canonical_f32(sum);
  if (a->end != CARD_DESCENT) {
    float shifted = sum + *(const float *)(const void *)(a->bias + column * a->bias_column);
    return a->end == CARD_BIAS_RELU && shifted <= 0 ? 0 : tn_canonical_f32(shifted);
  }
  float from = *(const float *)(const void *)(a->minuend + row * a->minuend_row + column * a->minuend_column);
  return tn_canonical_f32(from - *a->scale * sum);
}

CARD_INLINE void card_write_run(CARD_NEAR float *to, const float *from, int count) {
  if (count == 4)
    *(CARD_NEAR card_run *)(CARD_NEAR void *)to = (card_run){ from[0], from[1], from[2], from[3] };
  else
    *(CARD_NEAR card_pair *)(CARD_NEAR void *)to = (card_pair){ from[0], from[1] };
}

/* Four sums, from a row and column of the tile on: those that the tile gives. */
CARD_INLINE void card_matmul_give(const card_matmul_arguments *a, const card_matmul_place *at, int i, int j,
                                  const CARD_NEAR float *from) {
  int64_t row = at->row + i, column = at->column + j;
  float sum[4];
  card_read_run(sum, from, 4);
  if (row < at->first_row || row >= a->m) return;
  CARD_UNROLL
  for (int c = 0; c < 4; c++)
    if (column + c < a->n) sum[c] = card_matmul_end(a, row, column + c, sum[c]);
  char *to = at->out + row * a->out_row + column * a->out_column;
  if (a->out_runs && column >= at->first_column && column + 4 <= a->n) {
    *(card_run *)(void *)to = (card_run){ sum[0], sum[1], sum[2], sum[3] };
    return;
  }
  CARD_UNROLL
  for (int c = 0; c < 4; c++)
    if (column + c >= at->first_column && column + c < a->n)
      *(float *)(void *)(to + c * a->out_column) = sum[c];
}
#endif
