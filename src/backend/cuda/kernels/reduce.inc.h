/* backend/cuda/kernels/reduce.inc.h: rows become numbers. Included by reduce.c with TYPE and OF(name). */
#include "backend/cuda/kernels/lanes.inc.h"

static inline TYPE OF(element)(const card_reduce_arguments *a, const char *row, int64_t i) {
  const char *at = a->along.rank == 1 ? row + i * a->x.stride[0]
                                      : row + (card_at(&a->along, &a->x, i) - a->x.data);
  return *(const TYPE *)(const void *)at;
}

static inline void OF(give)(const card_reduce_arguments *a, int64_t row, int64_t chunk, TYPE sum) {
  if (!a->last) {
    ((TYPE *)(void *)a->partial)[row * a->chunks + chunk] = sum;
    return;
  }
  if (a->divisor) sum = OF(divided)(sum, a->divisor);
  *(TYPE *)(void *)card_at(&a->rows, &a->out, row) = OF(stored)(sum);
}

/* Half a warp for each chunk of each row. */
CARD_KERNEL(OF(reduce), card_reduce_arguments) {
  int half = card_lane() / CARD_LANES, lane = card_lane() % CARD_LANES, kind = a->kind;
  int64_t items = a->rows.count * a->chunks, all = card_numbers() / CARD_LANES;
  CARD_ROLLED
  for (int64_t first = card_number() / CARD_WARP * 2; first < items; first += all) {
    int64_t item = first + half, row = item / a->chunks, chunk = item % a->chunks;
    TYPE sum = OF(identity)(kind);
    if (item < items) {
      const char *from = card_at(&a->rows, &a->row, row);
      int64_t end = card_least(a->along.count, (chunk + 1) * CARD_CHUNK);
      for (int64_t i = chunk * CARD_CHUNK + lane; i < end; i += CARD_LANES)
        sum = OF(join)(kind, sum, OF(element)(a, from, i));
    }
    sum = OF(join_lanes)(kind, sum);
    if (lane == 0 && item < items) OF(give)(a, row, chunk, sum);
  }
}

/* A sum alone, along one axis, of rows that lie side by side in memory: 32 rows and a chunk of each for a
 * block. A warp reads element i of all of them; a thread has two lanes of its row. */
CARD_KERNEL(OF(sum_columns), card_reduce_arguments) {
  int64_t stride = a->x.stride[0], tiles = (a->rows.count + CARD_WARP - 1) / CARD_WARP;
  int lane = card_thread() / CARD_WARP;
  CARD_ROLLED
  for (int64_t item = card_block(); item < tiles * a->chunks; item += card_blocks()) {
    int64_t row = item % tiles * CARD_WARP + card_lane(), chunk = item / tiles;
    int64_t i = chunk * CARD_CHUNK + lane, end = card_least(a->along.count, (chunk + 1) * CARD_CHUNK);
    TYPE sum = OF(identity)(CARD_ADD), other = sum;
    if (row < a->rows.count) {
      const char *from = card_at(&a->rows, &a->row, row) + i * stride;
      CARD_ROLLED
      for (; i + 7 * CARD_LANES + 8 < end; i += 8 * CARD_LANES, from += 8 * CARD_LANES * stride) {
        CARD_UNROLL
        for (int k = 0; k < 8; k++) {
          const char *at = from + k * CARD_LANES * stride;
          sum = OF(join)(CARD_ADD, sum, *(const TYPE *)(const void *)at);
          other = OF(join)(CARD_ADD, other, *(const TYPE *)(const void *)(at + 8 * stride));
        }
      }
      CARD_ROLLED
      for (; i < end; i += CARD_LANES, from += CARD_LANES * stride) {
        sum = OF(join)(CARD_ADD, sum, *(const TYPE *)(const void *)from);
        if (i + 8 < end) other = OF(join)(CARD_ADD, other, *(const TYPE *)(const void *)(from + 8 * stride));
      }
    }
    OF(shared_chunks)[card_thread()] = OF(join)(CARD_ADD, sum, other);
    card_barrier();
    TYPE all[8];
    CARD_UNROLL
    for (int l = 0; l < 8; l++) all[l] = OF(shared_chunks)[l * CARD_WARP + card_lane()];
    CARD_UNROLL
    for (int k = 4; k > 0; k /= 2) {
      CARD_UNROLL
      for (int l = 0; l < k; l++) all[l] = OF(join)(CARD_ADD, all[l], all[l + k]);
    }
    if (lane == 0 && row < a->rows.count) OF(give)(a, row, chunk, all[0]);
    card_barrier();
  }
}

/* A block for each group of neighbours of each row. */
CARD_KERNEL(OF(join_chunks), card_join_arguments) {
  TYPE *value = (TYPE *)OF(shared_chunks);
  CARD_ROLLED
  for (int64_t item = card_block(); item < a->rows.count * a->groups; item += card_blocks()) {
    int64_t row = item / a->groups, first = item % a->groups * CARD_GROUP;
    int64_t count = card_least(a->count - first, CARD_GROUP);
    const TYPE *from = (const TYPE *)(const void *)a->from + row * a->count + first;
    for (int64_t i = card_thread(); i < count; i += card_threads()) value[i] = from[i];
    card_barrier();
    TYPE sum = OF(join_neighbours)(a->kind, value, count);
    if (card_thread() > 0) continue;
    if (a->divisor) sum = OF(divided)(sum, a->divisor);
    if (a->last)
      *(TYPE *)(void *)card_at(&a->rows, &a->out, row) = OF(stored)(sum);
    else
      ((TYPE *)(void *)a->to)[item] = sum;
  }
}

/* The first that none beats: NaN beats every number and is not beaten. A thread for each row. */
static inline bool OF(beats)(TYPE x, TYPE y) { return !OF(is_nan)(y) && (x > y || OF(is_nan)(x)); }

CARD_KERNEL(OF(argmax), card_scan_arguments) {
  TYPE *best = (TYPE *)OF(shared_chunks);
  int64_t *place = (int64_t *)shared_places;
  CARD_ROLLED
  for (int64_t row = card_block(); row < a->rows.count; row += card_blocks()) {
    const char *from = card_at(&a->rows, &a->x, row);
    int64_t mine = card_least(card_thread(), a->length - 1);
    for (int64_t i = mine; i < a->length; i += card_threads())
      if (OF(beats)(*(const TYPE *)(const void *)(from + i * a->x_along),
                    *(const TYPE *)(const void *)(from + mine * a->x_along))) mine = i;
    best[card_thread()] = *(const TYPE *)(const void *)(from + mine * a->x_along);
    place[card_thread()] = mine;
    card_barrier();
    if (card_thread() == 0) {
      int top = 0;
      for (int t = 1; t < card_threads(); t++) {
        bool tie = !OF(beats)(best[top], best[t]) && !OF(beats)(best[t], best[top]);
        if (OF(beats)(best[t], best[top]) || (tie && place[t] < place[top])) top = t;
      }
      *(int32_t *)(void *)card_at(&a->rows, &a->out, row) = (int32_t)place[top];
    }
    card_barrier();
  }
}

/* cumsum, cumprod: one by one. A thread for each row. */
CARD_KERNEL(OF(scan), card_scan_arguments) {
  int kind = a->product ? CARD_MUL : CARD_ADD;
  CARD_ROLLED
  for (int64_t row = card_number(); row < a->rows.count; row += card_numbers()) {
    const char *from = card_at(&a->rows, &a->x, row);
    char *to = card_at(&a->rows, &a->out, row);
    TYPE total = a->product ? 1 : 0;
    CARD_ROLLED
    for (int64_t n = 0; n < a->length; n++) {
      int64_t i = a->reverse ? a->length - 1 - n : n;
      TYPE before = total;
      total = OF(join)(kind, total, *(const TYPE *)(const void *)(from + i * a->x_along));
      *(TYPE *)(void *)(to + i * a->out_along) = OF(stored)(a->exclusive ? before : total);
    }
  }
}
