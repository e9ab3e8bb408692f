/* backend/cuda/kernels/sorted.c: adding slices to a table of many rows.
 *
 * Entries are sorted by the row that they name, and entries of one row stay in their order. So a row finds
 * its own side by side, and adds them in the order that the CPU adds them in. */
#include "backend/cuda/kernels/view.h"
#include "op/element.h"

#define THREADS CARD_SORT_THREADS
#define DIGITS 16
#define AHEAD 8   /* slices loaded before the first is added */

CARD_SHARED uint32_t counts[DIGITS * THREADS], sums[THREADS];

CARD_INLINE int64_t named_at(const card_operand *index, const char *at) {
  return index->bytes == 4 ? *(const int32_t *)(const void *)at : *(const int64_t *)(const void *)at;
}

CARD_INLINE int32_t row_of(const card_scatter_arguments *a, int pass, int64_t place) {
  if (pass > 0) return a->named[(pass - 1) % 2][place];
  return (int32_t)named_at(&a->index, card_at(&a->entries, &a->index, place));
}

CARD_INLINE int digit_of(int32_t row, int pass) { return (int)((uint32_t)row >> (4 * pass)) % DIGITS; }

/* counts[d, t] becomes how many come before digit d of thread t. All threads call. */
CARD_INLINE void add_up_counts(void) {
  int t = card_thread();
  uint32_t own = 0;
  CARD_ROLLED
  for (int i = 0; i < DIGITS; i++) own += counts[t * DIGITS + i];
  sums[t] = own;
  card_barrier();
  CARD_ROLLED
  for (int step = 1; step < THREADS; step *= 2) {
    uint32_t before = t >= step ? sums[t - step] : 0;
    card_barrier();
    sums[t] += before;
    card_barrier();
  }
  uint32_t before = sums[t] - own;
  CARD_ROLLED
  for (int i = 0; i < DIGITS; i++) {
    uint32_t count = counts[t * DIGITS + i];
    counts[t * DIGITS + i] = before;
    before += count;
  }
}

/* One block. A thread has places side by side, which it counts and then moves in their order. */
CARD_KERNEL(sort_entries, card_scatter_arguments) {
  int64_t count = a->entries.count, each = (count + THREADS - 1) / THREADS, first = card_thread() * each;
  int64_t end = card_least(count, first + each);
  CARD_ROLLED
  for (int pass = 0; pass < a->passes; pass++) {
    CARD_ROLLED
    for (int d = 0; d < DIGITS; d++) counts[d * THREADS + card_thread()] = 0;
    CARD_ROLLED
    for (int64_t i = first; i < end; i++)
      counts[digit_of(row_of(a, pass, i), pass) * THREADS + card_thread()]++;
    card_barrier();
    add_up_counts();
    card_barrier();
    CARD_ROLLED
    for (int64_t i = first; i < end; i++) {
      int32_t row = row_of(a, pass, i);
      uint32_t to = counts[digit_of(row, pass) * THREADS + card_thread()]++;
      a->named[pass % 2][to] = row;
      a->entry[pass % 2][to] = pass > 0 ? a->entry[(pass - 1) % 2][i] : (int32_t)i;
    }
    card_barrier();
  }
}

/* Where the row of a place differs from that of the place before, rows begin. */
CARD_KERNEL(begin_rows, card_scatter_arguments) {
  const int32_t *named = a->named[(a->passes - 1) % 2];
  CARD_ROLLED
  for (int64_t i = card_number(); i <= a->entries.count; i += card_numbers()) {
    int64_t row = i > 0 ? named[i - 1] + (int64_t)1 : 0, last = i < a->entries.count ? named[i] : a->rows;
    CARD_ROLLED
    for (; row <= last; row++) a->begin[row] = (int32_t)i;
  }
}

/* Where entry `which` begins in y. */
CARD_INLINE int64_t slice_of(const card_scatter_arguments *a, int32_t which) {
  return card_at(&a->entries, &a->y_entry, which) - a->y_entry.data;
}

/* Adds this lane's element of the slices of the row's entries to the sum. */
CARD_INLINE float add_slices(const card_scatter_arguments *a, const char *y, int32_t first, int32_t end,
                             float sum) {
  const int32_t *entry = a->entry[(a->passes - 1) % 2];
  CARD_ROLLED
  for (; first < end; first += AHEAD) {
    float value[AHEAD];
    CARD_UNROLL
    for (int k = 0; k < AHEAD; k++) {
      int64_t offset = slice_of(a, first + k < end ? entry[first + k] : 0);
      value[k] = first + k < end ? *(const float *)(const void *)(y + offset) : 0;
    }
    CARD_UNROLL
    for (int k = 0; k < AHEAD; k++)
      if (first + k < end) sum += value[k];
  }
  return sum;
}

/* The same of four elements. */
CARD_INLINE card_run add_runs(const card_scatter_arguments *a, const char *y, int32_t first, int32_t end,
                              card_run sum) {
  const int32_t *entry = a->entry[(a->passes - 1) % 2];
  CARD_ROLLED
  for (; first < end; first += AHEAD) {
    card_run value[AHEAD];
    CARD_UNROLL
    for (int k = 0; k < AHEAD; k++) {
      int64_t offset = slice_of(a, first + k < end ? entry[first + k] : 0);
      value[k] = first + k < end ? *(const card_run *)(const void *)(y + offset) : (card_run){ 0 };
    }
    CARD_UNROLL
    for (int k = 0; k < AHEAD; k++)
      if (first + k < end) sum += value[k];
  }
  return sum;
}

CARD_INLINE float updated_f32(const card_scatter_arguments *a, float x, float sum) {
  sum = tn_canonical_f32(sum);
  return a->scale ? tn_canonical_f32(x - *(const float *)(const void *)a->scale * sum) : sum;
}

/* One column of a row whose entries are from first to end, of which there may be none. */
CARD_INLINE void write_column(const card_scatter_arguments *a, const char *from, char *to, const char *y,
                              int32_t first, int32_t end) {
  float x = *(const float *)(const void *)from;
  *(float *)(void *)to = first < end ? updated_f32(a, x, add_slices(a, y, first, end, a->scale ? 0 : x)) : x;
}

CARD_INLINE void write_run(const card_scatter_arguments *a, const char *from, char *to, const char *y,
                           int32_t first, int32_t end) {
  card_run x = *(const card_run *)(const void *)from, zero = { 0 };
  if (first < end) {
    card_run sum = add_runs(a, y, first, end, a->scale ? zero : x);
    x = (card_run){ updated_f32(a, x[0], sum[0]), updated_f32(a, x[1], sum[1]), updated_f32(a, x[2], sum[2]),
                    updated_f32(a, x[3], sum[3]) };
  }
  *(card_run *)(void *)to = x;
}

/* A warp computes one row and 32 columns. */
CARD_KERNEL(scatter_sorted, card_scatter_arguments) {
  const card_operand *const operands[3] = { &a->x, &a->out, &a->y };
  int64_t tiles = (a->columns.count + CARD_WARP - 1) / CARD_WARP, warps = card_numbers() / CARD_WARP;
  bool narrow = a->rows * tiles <= UINT32_MAX;   /* a division of 64 bits takes a hundred instructions */
  CARD_ROLLED
  for (int64_t work = card_number() / CARD_WARP; work < a->rows * tiles; work += warps) {
    int64_t row = narrow ? (uint32_t)work / (uint32_t)tiles : work / tiles, offset[3];
    int64_t column = (work - row * tiles) * CARD_WARP + card_lane();
    int32_t first = a->begin[row], end = a->begin[row + 1];
    if (column >= a->columns.count || (first == end && a->in_place)) continue;
    card_places(&a->columns, column, operands, 3, offset);
    const char *from = a->x.data + offset[0] + row * a->x_row, *y = a->y.data + offset[2];
    char *to = a->out.data + offset[1] + row * a->out_row;
    if (a->runs) write_run(a, from, to, y, first, end);
    else write_column(a, from, to, y, first, end);
  }
}
