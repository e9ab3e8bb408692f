/* backend/cuda/kernels/attention.h: what the kernels of attention share.
 *
 * Operands lie in shared memory as they do in the card's memory, four columns read at once. A warp is 4
 * threads down by 8 across, but for attention_flat.c: what it reads at once are 4 rows of one operand or 8 of
 * the other, on banks of their own.
 *
 * Every chain of fma is in the order of docs/numerics.md and is never cut. */
#ifndef TN_BACKEND_CUDA_KERNELS_ATTENTION_H
#define TN_BACKEND_CUDA_KERNELS_ATTENTION_H

#include "backend/cuda/kernels/types.h"

#define TN_SIMD_SCALAR 1
#include "base/simd.h"
#include "base/elementary.inc.h"

#define PITCH CARD_ATTENTION_PITCH
#define RUNS  (CARD_ATTENTION_WIDTH / 4)   /* of a row */

/* ---- who a thread is ---- */
CARD_INLINE int warp(void) { return card_thread() / CARD_WARP; }
CARD_INLINE int down(void) { return (card_lane() & 1) | (card_lane() >> 3 & 2); }
CARD_INLINE int across(void) { return card_lane() >> 1 & 7; }

/* ---- what a block is for ---- */
typedef struct {
  int64_t head;
  int band;          /* of those of the head */
} block_place;

/* Some heads together: first the first band of each, then the second. What they read stays in a near cache,
 * and the shortest come last, where multiprocessors run out of work. A grid has less than 2^31 blocks. */
CARD_INLINE block_place place_of_block(const card_attention_arguments *a) {
  uint32_t bands = (uint32_t)a->bands, together = CARD_ATTENTION_TOGETHER;
  uint32_t group = (uint32_t)card_block() / (together * bands);
  uint32_t rest = (uint32_t)card_block() - group * together * bands;
  uint32_t left = (uint32_t)a->heads.count - group * together, heads = left < together ? left : together;
  return (block_place){ .head = group * together + rest % heads, .band = (int)(rest / heads) };
}

/* ---- the matrices of a head ---- */
typedef struct {
  char *data;
  int64_t row, column;
  int rows, columns;
  bool runs;
} head_matrix;

CARD_INLINE head_matrix matrix_at(const card_matrix *m, int64_t offset) {
  return (head_matrix){ .data = m->at.data + offset, .row = m->row, .column = m->column, .rows = m->rows,
                        .columns = m->columns, .runs = m->runs };
}

CARD_INLINE head_matrix matrix_of(const card_attention_arguments *a, const card_matrix *m, int64_t head) {
  int64_t offset;
  const card_operand *at = &m->at;
  card_places(&a->heads, head, &at, 1, &offset);
  return matrix_at(m, offset);
}

/* Of several, whose places are found together. */
CARD_INLINE void matrices_of(const card_attention_arguments *a, const card_matrix *const *m, int count,
                             int64_t head, head_matrix *to) {
  const card_operand *at[CARD_PLACES];
  int64_t offset[CARD_PLACES];
  CARD_UNROLL
  for (int n = 0; n < count; n++) at[n] = &m[n]->at;
  card_places(&a->heads, head, at, count, offset);
  CARD_UNROLL
  for (int n = 0; n < count; n++) to[n] = matrix_at(m[n], offset[n]);
}

/* Runs below one another: `count` of them, from row `first` on, every `apart` rows, as far as there are
 * `rows`: what is not there is left as it is in shared memory, and nothing of it is kept. There, rows are
 * `pitch` apart. */
CARD_INLINE void bring_below(CARD_NEAR float *to, const head_matrix *m, const char *from, int count,
                             int first, int rows, int apart, int pitch) {
  if (m->runs) {
    CARD_UNROLL
    for (int n = 0; n < count; n++)
      if (first + n * apart < rows) card_copy_run(to + n * apart * pitch, from + n * apart * m->row);
  } else {
    CARD_ROLLED
    for (int n = 0; n < count && first + n * apart < rows; n++) {
      CARD_UNROLL
      for (int c = 0; c < 4; c++)
        card_copy_one(to + n * apart * pitch + c, from + n * apart * m->row + c * m->column);
    }
  }
}

/* Rows and all their columns, PITCH apart, by so many threads. */
CARD_INLINE void bring_rows(CARD_NEAR float *to, const head_matrix *m, int first, int rows, int threads) {
  int row = card_thread() / RUNS, column = card_thread() % RUNS * 4;
  if (column >= m->columns) return;
  bring_below(to + row * PITCH + column, m, m->data + (first + row) * m->row + column * m->column,
              rows * RUNS / threads, first + row, m->rows, threads / RUNS, PITCH);
}

/* What this thread has brought of them, times the factor. */
CARD_INLINE void scale_rows(CARD_NEAR float *at, int rows, int threads, float factor) {
  CARD_UNROLL
  for (int n = 0; n < rows * RUNS; n += threads) {
    int row = (n + card_thread()) / RUNS, column = (n + card_thread()) % RUNS * 4;
    CARD_NEAR card_run *run = (CARD_NEAR card_run *)(CARD_NEAR void *)(at + row * PITCH + column);
    *run = *run * factor;
  }
}

/* ---- products ---- */
CARD_INLINE card_run run_at(const CARD_NEAR float *from) {
  return *(const CARD_NEAR card_run *)(const CARD_NEAR void *)from;
}

/* sum[i][j] += x[i] . y[j], four columns, for `rows` by `columns` of them; steps lead to the next of each. */
CARD_INLINE void add_runs(float *sum, int sum_step, int rows, int columns, const CARD_NEAR float *x,
                          int x_step, const CARD_NEAR float *y, int y_step) {
  card_run left[4], right[8];
  CARD_UNROLL
  for (int i = 0; i < rows; i++) left[i] = run_at(x + i * x_step);
  CARD_UNROLL
  for (int j = 0; j < columns; j++) right[j] = run_at(y + j * y_step);
  CARD_UNROLL
  for (int c = 0; c < 4; c++) {
    CARD_UNROLL
    for (int i = 0; i < rows; i++) {
      CARD_UNROLL
      for (int j = 0; j < columns; j++)
        sum[i * sum_step + j] = tn_fma_f32(left[i][c], right[j][c], sum[i * sum_step + j]);
    }
  }
}

/* sum[i] += x[i] y: four columns of a row. */
CARD_INLINE void add_row(float (*sum)[4], int each, const float *x, card_run y) {
  CARD_UNROLL
  for (int i = 0; i < each; i++) {
    CARD_UNROLL
    for (int j = 0; j < 4; j++) sum[i][j] = tn_fma_f32(x[i], y[j], sum[i][j]);
  }
}

/* ---- what becomes of a sum ---- */
CARD_INLINE float positive_zero(const card_attention_arguments *a, float x) {
  return tn_canonical_f32(a->causal ? x + 0.0f : x);
}

CARD_INLINE void give_run(const head_matrix *m, int row, int column, const float *x) {
  char *to = m->data + row * m->row + column * m->column;
  if (row >= m->rows || column >= m->columns) return;
  if (m->runs) {
    *(card_run *)(void *)to = (card_run){ x[0], x[1], x[2], x[3] };
  } else {
    CARD_UNROLL
    for (int c = 0; c < 4; c++) *(float *)(void *)(to + c * m->column) = x[c];
  }
}

/* Query `row` sees this key. */
CARD_INLINE bool is_open(const card_attention_arguments *a, int row, int key) {
  return !a->causal || key <= row + a->k.rows - a->q.rows;
}

CARD_INLINE bool is_finite(float x) { return tn_abs_f32(x) < tn_infinity_f32(); }

/* ---- weights ---- */
/* Most scores are near the largest of their row: exponential and quotient are ordinary numbers then, and
 * fewer steps give the same bits. */
#define NEAR (-68.0f)

/* tn_exp_f32(x) for NEAR <= x <= 0: the last step is exact, so the exponent is simply added. */
CARD_INLINE float near_exp(float x) {
  float rest, n = exp_parts(x, &rest);
  return tn_float_of_bits(tn_bits_f32(rest) + (tn_bits_f32(n + 0x1.8p23f) << 23));
}

/* x / sum for x of 0 or from 2^-100 to 1 and a sum from 1 to 2^20, of which `inverse` is 1 / sum: what a
 * card's division does between looking for odd operands and rounding. */
CARD_INLINE float near_quotient(float x, float sum, float inverse) {
  float rough = x * inverse, close = tn_fma_f32(tn_fma_f32(-rough, sum, x), inverse, rough);
  return tn_fma_f32(tn_fma_f32(-close, sum, x), inverse, close);
}

/* Whether near_exp and near_quotient are enough for x. What a mask hides is -infinity, and its weight 0. */
CARD_INLINE bool is_near(float x) { return (x >= NEAR) | (x == -tn_infinity_f32()); }
CARD_INLINE float near_weight(float x) {
  float e = near_exp(x);   /* in any case: a branch would keep it from running beside others */
  return x == -tn_infinity_f32() ? 0 : e;
}

/* What is kept of a query, as one run. */
enum { MOST, SUM, INVERSE, MEAN };
#endif
