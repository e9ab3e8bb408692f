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
#define BOUND_MOST(NAME, WM, WN, BLOCKS)                                \
  BOUND(#NAME "_rr", WM, WN, BLOCKS) BOUND(#NAME "_ra", WM, WN, BLOCKS) \
  BOUND(#NAME "_ar", WM, WN, BLOCKS)
#define FEWER(BLOCKS) FEWER_##BLOCKS
#define FEWER_3 2
#define FEWER_4 3
#define BOUND_EACH(NAME, WM, WN, BLOCKS) \
  BOUND_MOST(NAME, WM, WN, BLOCKS) BOUND_ANY(NAME##_aa, WM, WN, FEWER(BLOCKS))
#define TN_TILE(NAME, WAYS, M, N, DEPTH, STAGES, WM, WN, EM, EN, AHEAD, TURNED, BLOCKS, ...) \
  BOUND_##WAYS(NAME, WM, WN, BLOCKS)
#include "backend/cuda/kernels/tiles.def"
#endif

#define GROUP 8   /* rows of tiles that are made together: they share what a near cache has of y */

typedef struct {
  int64_t row, column;               /* of the tile's first element */
  int64_t first_row, first_column;   /* of the first that it gives */
  const char *x, *y, *rest;          /* the matrices; what sums become results with */
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
  at.rest = a->end == CARD_RELU_SLOPE ? a->rest + offset[2] : a->rest;   /* of every matrix, or of all */
  at.first_row = at.row, at.first_column = at.column;
  return at;
}

/* `count` floats that lie side by side: 1, 2 or 4. */
CARD_INLINE void card_read_run(float *to, const CARD_NEAR float *from, int count) {
  if (count == 4) {
    card_run run = *(const CARD_NEAR card_run *)(const CARD_NEAR void *)from;
    CARD_UNROLL
    for (int i = 0; i < 4; i++) to[i] = run[i];
  } else if (count == 2) {
    card_pair pair = *(const CARD_NEAR card_pair *)(const CARD_NEAR void *)from;
    to[0] = pair[0], to[1] = pair[1];
  } else {
    to[0] = from[0];
  }
}

/* The same in the card's memory. */
CARD_INLINE void card_load_run(float *to, const char *from, int count) {
  if (count == 4) {
    card_run run = *(const card_run *)(const void *)from;
    CARD_UNROLL
    for (int i = 0; i < 4; i++) to[i] = run[i];
  } else if (count == 2) {
    card_pair pair = *(const card_pair *)(const void *)from;
    to[0] = pair[0], to[1] = pair[1];
  } else {
    to[0] = *(const float *)(const void *)from;
  }
}

CARD_INLINE void card_store_run(char *to, const float *from, int count) {
  if (count == 4) *(card_run *)(void *)to = (card_run){ from[0], from[1], from[2], from[3] };
  else if (count == 2) *(card_pair *)(void *)to = (card_pair){ from[0], from[1] };
  else *(float *)(void *)to = from[0];
}

/* ---- from sums to results ---- */
/* Where the bias of a column is, or what a descent takes a sum from, or what relu made. */
CARD_INLINE const char *card_matmul_rest(const card_matmul_arguments *a, const card_matmul_place *at,
                                         int64_t row, int64_t column) {
  return at->rest + row * a->rest_row + column * a->rest_column;
}

CARD_INLINE float card_matmul_end(int end, float sum, float rest, float scale) {
  if (end == CARD_PLAIN) return tn_canonical_f32(sum);
  if (end == CARD_DESCENT) return tn_canonical_f32(rest - scale * sum);
  if (end == CARD_RELU_SLOPE) return rest > 0 ? tn_canonical_f32(sum) : 0;
  float shifted = sum + rest;
  return end == CARD_BIAS_RELU && shifted <= 0 ? 0 : tn_canonical_f32(shifted);
}

CARD_INLINE float card_matmul_scale(const card_matmul_arguments *a) {
  return a->end == CARD_DESCENT ? *a->scale : 0;
}

/* Whether the tile gives its element in row i and column j. */
CARD_INLINE bool card_matmul_gives(const card_matmul_arguments *a, const card_matmul_place *at, int i,
                                   int j) {
  int64_t row = at->row + i, column = at->column + j;
  return row >= at->first_row && row < a->m && column >= at->first_column && column < a->n;
}

/* What that becomes a result with, if the tile gives it. */
CARD_INLINE float card_matmul_rest_of(const card_matmul_arguments *a, const card_matmul_place *at, int i,
                                      int j) {
  if (a->end == CARD_PLAIN || !card_matmul_gives(a, at, i, j)) return 0;
  return *(const float *)(const void *)card_matmul_rest(a, at, at->row + i, at->column + j);
}

CARD_INLINE void card_matmul_give(const card_matmul_arguments *a, const card_matmul_place *at, int i, int j,
                                  float sum, float rest, float scale) {
  if (!card_matmul_gives(a, at, i, j)) return;
  char *to = at->out + (at->row + i) * a->out_row + (at->column + j) * a->out_column;
  *(float *)(void *)to = card_matmul_end(a->end, sum, rest, scale);
}
#endif
