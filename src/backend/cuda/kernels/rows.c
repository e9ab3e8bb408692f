/* backend/cuda/kernels/rows.c: softmax, log_softmax, layer_norm with its gradient, and cross
 * entropy, row by row. */
#include "backend/cuda/kernels/quotient.h"

CARD_SHARED float shared_best_f32[CARD_BLOCK], shared_partial_f32[CARD_CHUNK];
CARD_SHARED double shared_best_f64[CARD_BLOCK], shared_partial_f64[CARD_CHUNK];

#if defined(__NVPTX__)
__asm__("// bounds card_kernel_norm_columns 256 4");
#endif

#define TYPE float
#define OF(name) name##_f32
#include "backend/cuda/kernels/rows.inc.h"
#undef TYPE
#undef OF
#define TYPE double
#define OF(name) name##_f64
#include "backend/cuda/kernels/rows.inc.h"

/* ---- norm_columns_f32 where rows have one axis ---- */
#define AHEAD 8                  /* rows whose elements are read at once, */
#define APART (CARD_LANES / 2)   /* so far apart */

/* A column of the row that comes next. */
typedef struct {
  const char *x, *g;
  const card_run *measured;
  int64_t x_step, g_step;   /* bytes to the row after APART */
} card_column;

/* x, by row, becomes ((x - mean) / spread). */
CARD_INLINE void divide_column(int rows, const card_run *measured, float *x) {
  bool quick = true;
  CARD_UNROLL
  for (int k = 0; k < rows; k++) quick &= measured[k][2] > 0, x[k] -= measured[k][0];
  if (quick) {
    CARD_UNROLL
    for (int k = 0; k < rows; k++) x[k] = card_quotient(x[k], measured[k][1], measured[k][2]);
  } else {
    CARD_UNROLL
    for (int k = 0; k < rows; k++) x[k] /= measured[k][1];
  }
}

/* The next `rows`, a constant, of which every other belongs to the second lane. */
CARD_INLINE void add_column(card_column *at, int rows, float *sum, float *other) {
  card_run measured[AHEAD];
  float x[AHEAD], g[AHEAD];
  CARD_UNROLL
  for (int k = 0; k < rows; k++) {
    measured[k] = at->measured[k * APART];
    x[k] = *(const float *)(const void *)(at->x + k * at->x_step);
    g[k] = *(const float *)(const void *)(at->g + k * at->g_step);
  }
  divide_column(rows, measured, x);
  CARD_UNROLL
  for (int k = 0; k < rows; k++) {
    float *to = k % 2 ? other : sum;
    to[0] += g[k] * x[k];
    to[1] += g[k];
  }
  at->x += rows * at->x_step, at->g += rows * at->g_step, at->measured += rows * APART;
}

CARD_KERNEL(norm_columns, card_rows_arguments) {
  int64_t tiles = (a->length + CARD_WARP - 1) / CARD_WARP;
  CARD_ROLLED
  for (int64_t item = card_block(); item < tiles * a->row_chunks; item += card_blocks()) {
    int64_t column = item % tiles * CARD_WARP + card_lane(), chunk = item / tiles;
    int64_t first = chunk * CARD_CHUNK + card_thread() / CARD_WARP;
    int64_t end = card_least(a->rows.count, (chunk + 1) * CARD_CHUNK);
    int left = first < end && column < a->length ? (int)((end - first + APART - 1) / APART) : 0;
    float sum[2] = { identity_f32(CARD_ADD), identity_f32(CARD_ADD) }, other[2] = { sum[0], sum[1] };
    card_column at = { .x = a->x.data + first * a->x.stride[0] + column * a->x_along,
                       .g = a->g.data + first * a->g.stride[0] + column * a->g_along,
                       .measured = (const card_run *)(const void *)a->measured + first,
                       .x_step = APART * a->x.stride[0], .g_step = APART * a->g.stride[0] };
    CARD_ROLLED
    for (; left >= AHEAD; left -= AHEAD) add_column(&at, AHEAD, sum, other);
    CARD_ROLLED
    for (; left >= 2; left -= 2) add_column(&at, 2, sum, other);
    if (left > 0) add_column(&at, 1, sum, other);
    give_columns_f32(a, column, chunk, sum, other);
  }
}
