/* backend/cuda/kernels/rows.inc.h: a block for each row. Included by rows.c with TYPE and OF(name). */
#include "backend/cuda/kernels/lanes.inc.h"

typedef struct {
  const card_rows_arguments *a;
  const char *x, *gamma, *beta;
  char *out;
  TYPE *partial;
  TYPE shift;      /* the maximum, or the mean */
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

/* What is summed, and what of it is kept in the result. */
typedef enum { OF(X), OF(EXPONENTIALS), OF(KEPT_EXPONENTIALS), OF(SQUARES) } OF(card_summand);

static inline TYPE OF(summand)(const OF(card_row) *row, OF(card_summand) what, int64_t i) {
  TYPE x = OF(x_at)(row, i);
  if (what == OF(X)) return x;
  TYPE c = x - row->shift;
  if (what == OF(SQUARES)) return c * c;
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

static inline void OF(layer_norm_row)(OF(card_row) *row) {
  const card_rows_arguments *a = row->a;
  row->shift = OF(row_sum)(row, OF(X)) / (TYPE)a->length;
  TYPE variance = OF(row_sum)(row, OF(SQUARES)) / (TYPE)a->length;
  TYPE spread = OF(tn_sqrt)(variance + (TYPE)a->number);
  for (int64_t i = card_thread(); i < a->length; i += card_threads()) {
    TYPE scaled = (OF(x_at)(row, i) - row->shift) / spread;
    TYPE gamma = *(const TYPE *)(const void *)(row->gamma + i * a->gamma_along);
    TYPE beta = *(const TYPE *)(const void *)(row->beta + i * a->beta_along);
    *OF(out_at)(row, i) = OF(stored)(scaled * gamma + beta);
  }
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
    } else if (a->kind == CARD_CROSS_ENTROPY) {
      OF(loss_row)(&row, number);
    } else {
      OF(softmax_row)(&row);
    }
    card_barrier();
  }
}
