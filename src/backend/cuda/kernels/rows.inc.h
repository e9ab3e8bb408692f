/* backend/cuda/kernels/rows.inc.h: a block for each row; columns of layer_norm_grad. Included by rows.c with
 * TYPE and OF(name). */
#include "backend/cuda/kernels/lanes.inc.h"

typedef struct {
  const card_rows_arguments *a;
  const char *x, *gamma, *beta, *g;
  char *out;
  TYPE *partial;
  TYPE shift;      /* the maximum, or the mean */
  TYPE spread;     /* of layer_norm: sqrt(mean(c c) + eps), c = x - mean */
  TYPE slope;      /* of its gradient: that of a square c c */
} OF(card_row);

static inline TYPE OF(x_at)(const OF(card_row) *row, int64_t i) {
  return *(const TYPE *)(const void *)(row->x + i * row->a->x_along);
}

static inline TYPE *OF(out_at)(const OF(card_row) *row, int64_t i) {
  return (TYPE *)(void *)(row->out + i * row->a->out_along);
}

static inline TYPE OF(row_maximum)(const OF(card_row) *row) {
  TYPE *best = (TYPE *)OF(shared_best), most = OF(identity)(CARD_MAX);
  for (int64_t i = card_thread(); i < row->a->length; i += card_threads())
    most = OF(join)(CARD_MAX, most, OF(x_at)(row, i));
  best[card_thread()] = most;
  card_barrier();
  return OF(join_neighbours)(CARD_MAX, best, card_threads());
}

static inline TYPE OF(gamma_at)(const OF(card_row) *row, int64_t i) {
  return *(const TYPE *)(const void *)(row->gamma + i * row->a->gamma_along);
}

static inline TYPE OF(g_at)(const OF(card_row) *row, int64_t i) {
  return *(const TYPE *)(const void *)(row->g + i * row->a->g_along);
}

/* What is summed, and what of it is kept in the result. */
typedef enum {
  OF(X), OF(EXPONENTIALS), OF(KEPT_EXPONENTIALS), OF(SQUARES), OF(SLOPES), OF(KEPT_GRADIENTS)
} OF(card_summand);

/* Of layer_norm_grad, with h = g gamma: h ((c / spread) / spread), or the gradient of x through c. */
static inline TYPE OF(norm_slope)(const OF(card_row) *row, OF(card_summand) what, int64_t i, TYPE c) {
  TYPE h = OF(g_at)(row, i) * OF(gamma_at)(row, i);
  if (what == OF(SLOPES)) return h * (c / row->spread / row->spread);
  TYPE from_square = row->slope * c, gradient = h / row->spread + from_square + from_square;
  *OF(out_at)(row, i) = OF(stored)(gradient);
  return gradient;
}

static inline TYPE OF(summand)(const OF(card_row) *row, OF(card_summand) what, int64_t i) {
  TYPE x = OF(x_at)(row, i);
  if (what == OF(X)) return x;
  TYPE c = x - row->shift;
  if (what == OF(SQUARES)) return c * c;
  if (what == OF(SLOPES) || what == OF(KEPT_GRADIENTS)) return OF(norm_slope)(row, what, i, c);
  TYPE e = OF(tn_exp)(c);
  if (what == OF(KEPT_EXPONENTIALS)) *OF(out_at)(row, i) = e;
  return e;
}

static inline TYPE OF(row_sum)(const OF(card_row) *row, OF(card_summand) what) {
  int lane = card_thread() % CARD_LANES, halves = card_threads() / CARD_LANES;
  int64_t chunks = row->a->chunks, length = row->a->length;
  CARD_ROLLED
  for (int64_t first = 0; first < chunks; first += halves) {
    int64_t chunk = first + card_thread() / CARD_LANES;
    TYPE sum = OF(identity)(CARD_ADD);
    int64_t end = card_least(length, (chunk + 1) * CARD_CHUNK);
    for (int64_t i = chunk * CARD_CHUNK + lane; i < end; i += CARD_LANES) sum += OF(summand)(row, what, i);
    sum = OF(join_lanes)(CARD_ADD, sum);
    if (lane == 0 && chunk < chunks) row->partial[chunk] = sum;
  }
  card_barrier();
  return OF(join_neighbours)(CARD_ADD, row->partial, chunks);
}

static inline void OF(softmax_row)(OF(card_row) *row) {
  bool logarithm = row->a->kind == CARD_LOG_SOFTMAX;
  row->shift = OF(row_maximum)(row);
  TYPE sum = OF(row_sum)(row, logarithm ? OF(EXPONENTIALS) : OF(KEPT_EXPONENTIALS));
  TYPE of_sum = logarithm ? OF(tn_log)(sum) : sum;
  for (int64_t i = card_thread(); i < row->a->length; i += card_threads()) {
    TYPE *to = OF(out_at)(row, i);
    *to = OF(stored)(logarithm ? (OF(x_at)(row, i) - row->shift) - of_sum : *to / of_sum);
  }
}

static inline void OF(measure)(OF(card_row) *row) {
  const card_rows_arguments *a = row->a;
  row->shift = OF(row_sum)(row, OF(X)) / (TYPE)a->length;
  TYPE variance = OF(row_sum)(row, OF(SQUARES)) / (TYPE)a->length;
  row->spread = OF(tn_sqrt)(variance + (TYPE)a->number);
}

static inline void OF(layer_norm_row)(OF(card_row) *row) {
  const card_rows_arguments *a = row->a;
  OF(measure)(row);
  for (int64_t i = card_thread(); i < a->length; i += card_threads()) {
    TYPE scaled = (OF(x_at)(row, i) - row->shift) / row->spread;
    TYPE beta = *(const TYPE *)(const void *)(row->beta + i * a->beta_along);
    *OF(out_at)(row, i) = OF(stored)(scaled * OF(gamma_at)(row, i) + beta);
  }
}

static inline void OF(norm_grad_row)(OF(card_row) *row, int64_t number) {
  const card_rows_arguments *a = row->a;
  TYPE *measured = (TYPE *)(void *)a->measured + CARD_MEASURED * number;
  OF(measure)(row);
  row->slope = -OF(row_sum)(row, OF(SLOPES)) * (TYPE)0.5 / row->spread / (TYPE)a->length;
  TYPE sum = OF(row_sum)(row, OF(KEPT_GRADIENTS));
  if (card_thread() > 0) return;
  measured[0] = row->shift, measured[1] = row->spread;
  measured[2] = OF(card_inverse)(row->shift, row->spread);
  *(TYPE *)(void *)card_at(&a->rows, &a->mean, number) = OF(stored)(-sum / (TYPE)a->length);
}

static inline void OF(loss_row)(OF(card_row) *row, int64_t number) {
  const card_rows_arguments *a = row->a;
  row->shift = OF(row_maximum)(row);
  TYPE sum = OF(row_sum)(row, OF(EXPONENTIALS));
  if (card_thread() > 0) return;
  const void *at = card_at(&a->rows, &a->label, number);
  int64_t label = a->label.bytes == 4 ? *(const int32_t *)at : *(const int64_t *)at;
  TYPE log_probability = (OF(x_at)(row, label) - row->shift) - OF(tn_log)(sum);
  ((TYPE *)(void *)a->losses)[number] = OF(stored)(-log_probability);
}

CARD_KERNEL(OF(rows), card_rows_arguments) {
  TYPE *partial = (TYPE *)OF(shared_partial);
  if (a->chunks > CARD_CHUNK) partial = (TYPE *)(void *)a->partial + card_block() * a->chunks;
  CARD_ROLLED
  for (int64_t number = card_block(); number < a->rows.count; number += card_blocks()) {
    OF(card_row) row = { .a = a, .partial = partial, .x = card_at(&a->rows, &a->x, number) };
    if (a->kind != CARD_CROSS_ENTROPY) row.out = card_at(&a->rows, &a->out, number);
    if (a->kind == CARD_LAYER_NORM) {
      row.gamma = card_at(&a->rows, &a->gamma, number), row.beta = card_at(&a->rows, &a->beta, number);
      OF(layer_norm_row)(&row);
    } else if (a->kind == CARD_LAYER_NORM_GRAD) {
      row.gamma = card_at(&a->rows, &a->gamma, number), row.g = card_at(&a->rows, &a->g, number);
      OF(norm_grad_row)(&row, number);
    } else if (a->kind == CARD_CROSS_ENTROPY) {
      OF(loss_row)(&row, number);
    } else {
      OF(softmax_row)(&row);
    }
    card_barrier();
  }
}

/* ---- the gradients of gamma and beta: sums over rows ---- */

/* Adds row i to a lane of a column: g (c / spread), and g. */
static inline void OF(add_row)(const card_rows_arguments *a, int64_t i, int64_t column, TYPE *sum) {
  const TYPE *measured = (const TYPE *)(const void *)a->measured + CARD_MEASURED * i;
  const char *x = card_at(&a->rows, &a->x, i) + column * a->x_along;
  TYPE g = *(const TYPE *)(const void *)(card_at(&a->rows, &a->g, i) + column * a->g_along);
  sum[0] += g * ((*(const TYPE *)(const void *)x - measured[0]) / measured[1]);
  sum[1] += g;
}

/* Joins what the warps have of each column: two lanes each, joined already. The result is right in the first
 * warp. */
static inline TYPE OF(join_warps)(TYPE sum) {
  TYPE *from = (TYPE *)OF(shared_best), all[CARD_LANES / 2];
  from[card_thread()] = sum;
  card_barrier();
  CARD_UNROLL
  for (int l = 0; l < CARD_LANES / 2; l++) all[l] = from[l * CARD_WARP + card_lane()];
  card_barrier();
  CARD_UNROLL
  for (int k = CARD_LANES / 4; k > 0; k /= 2) {
    CARD_UNROLL
    for (int l = 0; l < k; l++) all[l] += all[l + k];
  }
  return all[0];
}

static inline void OF(give_column)(const card_rows_arguments *a, int64_t column, int64_t chunk, TYPE sum) {
  if (a->row_chunks > 1)
    ((TYPE *)(void *)a->partial)[column * a->row_chunks + chunk] = sum;
  else
    *(TYPE *)(void *)(a->sums + column * a->out_along) = OF(stored)(sum);
}

/* What the warps of a block have added up: of each column two sums, by two lanes. All threads call. */
static inline void OF(give_columns)(const card_rows_arguments *a, int64_t column, int64_t chunk,
                                    const TYPE *sum, const TYPE *other) {
  CARD_UNROLL
  for (int k = 0; k < 2; k++) {
    TYPE all = OF(join_warps)(sum[k] + other[k]);
    if (card_thread() < CARD_WARP && column < a->length)
      OF(give_column)(a, k * a->length + column, chunk, all);
  }
}

/* 32 columns and a chunk of rows for a block: a warp reads one row of them, a thread has two lanes. */
CARD_KERNEL(OF(norm_columns), card_rows_arguments) {
  int64_t tiles = (a->length + CARD_WARP - 1) / CARD_WARP;
  CARD_ROLLED
  for (int64_t item = card_block(); item < tiles * a->row_chunks; item += card_blocks()) {
    int64_t column = item % tiles * CARD_WARP + card_lane(), chunk = item / tiles;
    int64_t i = chunk * CARD_CHUNK + card_thread() / CARD_WARP;
    int64_t end = card_least(a->rows.count, (chunk + 1) * CARD_CHUNK);
    TYPE sum[2] = { OF(identity)(CARD_ADD), OF(identity)(CARD_ADD) }, other[2] = { sum[0], sum[1] };
    if (column >= a->length) end = 0;
    CARD_ROLLED
    for (; i + CARD_LANES / 2 < end; i += CARD_LANES) {
      OF(add_row)(a, i, column, sum);
      OF(add_row)(a, i + CARD_LANES / 2, column, other);
    }
    if (i < end) OF(add_row)(a, i, column, sum);
    OF(give_columns)(a, column, chunk, sum, other);
  }
}
