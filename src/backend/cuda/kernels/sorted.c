/* backend/cuda/kernels/sorted.c: adding slices to a table of many rows, or many slices to few rows.
 *
 * Entries are sorted by the row that they name, and entries of one row stay in their order. So a row finds
 * its own side by side, and adds them in the order that the CPU adds them in.
 *
 * Many rows: a block sorts, and a warp adds up 32 columns of a row (scatter_sorted). Few rows: each looks
 * for its entries in the whole index (find_entries), and a block adds up 32 columns of it (scatter_often).
 * A row of a text's vocabulary has thousands of entries: their sum is one chain, and what it waits for must
 * be memory's throughput, not its latency. */
#include "backend/cuda/kernels/view.h"
#include "op/element.h"

#if defined(__NVPTX__)
__asm__("// bounds card_kernel_scatter_often 128 6");
#endif

#define THREADS CARD_SORT_THREADS
#define DIGITS 16
#define AHEAD 8   /* slices loaded before the first is added */
#define PART 64   /* slices that scatter_often brings at a time; so many times are under way or added */
#define PARTS 4
#define WARPS (CARD_WIDE / CARD_WARP)

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

/* The rows of places i, i + 1 ..., all on their way before the first is used. */
CARD_INLINE void rows_of(const card_scatter_arguments *a, int pass, int64_t i, int64_t end, int32_t *row) {
  CARD_UNROLL
  for (int k = 0; k < AHEAD; k++) row[k] = i + k < end ? row_of(a, pass, i + k) : 0;
}

CARD_INLINE void count_digits(const card_scatter_arguments *a, int pass, int64_t i, int64_t end) {
  CARD_ROLLED
  for (int d = 0; d < DIGITS; d++) counts[d * THREADS + card_thread()] = 0;
  CARD_ROLLED
  for (; i < end; i += AHEAD) {
    int32_t row[AHEAD];
    rows_of(a, pass, i, end, row);
    CARD_UNROLL
    for (int k = 0; k < AHEAD; k++)
      if (i + k < end) counts[digit_of(row[k], pass) * THREADS + card_thread()]++;
  }
}

CARD_INLINE void move_entries(const card_scatter_arguments *a, int pass, int64_t i, int64_t end) {
  const int32_t *before = a->entry[(pass + 1) % 2];
  CARD_ROLLED
  for (; i < end; i += AHEAD) {
    int32_t row[AHEAD], entry[AHEAD];
    rows_of(a, pass, i, end, row);
    CARD_UNROLL
    for (int k = 0; k < AHEAD; k++) entry[k] = pass > 0 && i + k < end ? before[i + k] : (int32_t)(i + k);
    CARD_UNROLL
    for (int k = 0; k < AHEAD; k++) {
      if (i + k >= end) continue;
      uint32_t to = counts[digit_of(row[k], pass) * THREADS + card_thread()]++;
      a->named[pass % 2][to] = row[k];
      a->entry[pass % 2][to] = entry[k];
    }
  }
}

/* One block. A thread has places side by side, which it counts and then moves in their order. */
CARD_KERNEL(sort_entries, card_scatter_arguments) {
  int64_t count = a->entries.count, each = (count + THREADS - 1) / THREADS, first = card_thread() * each;
  int64_t end = card_least(count, first + each);
  CARD_ROLLED
  for (int pass = 0; pass < a->passes; pass++) {
    count_digits(a, pass, first, end);
    card_barrier();
    add_up_counts();
    card_barrier();
    move_entries(a, pass, first, end);
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

/* Where the entry that lane `from` has begins in y; all lanes call. */
CARD_INLINE int64_t slice_of_lane(int64_t own, int from) {
  uint32_t low = card_lane_value((uint32_t)own, from), high = card_lane_value((uint32_t)(own >> 32), from);
  return (int64_t)((uint64_t)high << 32 | low);
}

/* Adds this lane's element of the slices of the row's entries to the sum; all lanes call. A lane finds one of
 * 32 entries, so that slices need not wait for one another. */
#define ADD_SLICES(name, type)                                                                          \
  CARD_INLINE type name(const card_scatter_arguments *a, const char *y, int32_t first, int32_t end,     \
                        type sum) {                                                                     \
    const int32_t *entry = a->entry[(a->passes - 1) % 2];                                               \
    CARD_ROLLED                                                                                         \
    for (; first < end; first += CARD_WARP) {                                                           \
      int left = end - first < CARD_WARP ? end - first : CARD_WARP;                                     \
      int64_t own = slice_of(a, card_lane() < left ? entry[first + card_lane()] : 0);                   \
      CARD_ROLLED                                                                                       \
      for (int k = 0; k < left; k += AHEAD) {                                                           \
        type value[AHEAD];                                                                              \
        CARD_UNROLL                                                                                     \
        for (int j = 0; j < AHEAD; j++) {                                                               \
          int64_t from = slice_of_lane(own, k + j);                                                     \
          value[j] = k + j < left ? *(const type *)(const void *)(y + from) : (type){ 0 };              \
        }                                                                                               \
        CARD_UNROLL                                                                                     \
        for (int j = 0; j < AHEAD; j++)                                                                 \
          if (k + j < left) sum += value[j];                                                            \
      }                                                                                                 \
    }                                                                                                   \
    return sum;                                                                                         \
  }
ADD_SLICES(add_slices, float)
ADD_SLICES(add_runs, card_run)   /* four elements */

CARD_INLINE float updated_f32(const card_scatter_arguments *a, float x, float sum) {
  sum = tn_canonical_f32(sum);
  return a->scale ? tn_canonical_f32(x - *(const float *)(const void *)a->scale * sum) : sum;
}

/* One column of a row whose entries are from first to end, of which there may be none. All lanes call;
 * those that have no column have nowhere to write (`to`). */
CARD_INLINE void write_column(const card_scatter_arguments *a, const char *from, char *to, const char *y,
                              int32_t first, int32_t end) {
  float x = *(const float *)(const void *)from, sum = add_slices(a, y, first, end, a->scale ? 0 : x);
  if (to) *(float *)(void *)to = first < end ? updated_f32(a, x, sum) : x;
}

CARD_INLINE void write_run(const card_scatter_arguments *a, const char *from, char *to, const char *y,
                           int32_t first, int32_t end) {
  card_run x = *(const card_run *)(const void *)from, zero = { 0 };
  if (first < end) {
    card_run sum = add_runs(a, y, first, end, a->scale ? zero : x);
    x = (card_run){ updated_f32(a, x[0], sum[0]), updated_f32(a, x[1], sum[1]), updated_f32(a, x[2], sum[2]),
                    updated_f32(a, x[3], sum[3]) };
  }
  if (to) *(card_run *)(void *)to = x;
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
    bool mine = column < a->columns.count;
    if (first == end && a->in_place) continue;
    card_places(&a->columns, mine ? column : 0, operands, 3, offset);
    const char *from = a->x.data + offset[0] + row * a->x_row, *y = a->y.data + offset[2];
    char *to = mine ? a->out.data + offset[1] + row * a->out_row : NULL;
    if (a->runs) write_run(a, from, to, y, first, end);
    else write_column(a, from, to, y, first, end);
  }
}

/* ---- few rows ---- */
CARD_SHARED uint32_t before_of[WARPS], named_of[WARPS];
CARD_SHARED float slices[PARTS * PART * CARD_WARP];

/* A warp's share of the index, which has one axis: rows of 32 entries. */
typedef struct {
  int64_t first, end;
} card_share;

CARD_INLINE card_share share_of_warp(int64_t count) {
  int64_t each = (count + CARD_WIDE - 1) / CARD_WIDE * CARD_WARP, first = card_thread() / CARD_WARP * each;
  return (card_share){ first, card_least(count, first + each) };
}

/* The rows that entries i, i + 32 ... name; more than any row where the share has ended. */
CARD_INLINE void rows_at(const card_scatter_arguments *a, int64_t i, int64_t end, int32_t *row) {
  int64_t step = a->index.stride[0];
  CARD_UNROLL
  for (int k = 0; k < AHEAD; k++) {
    int64_t at = i + k * CARD_WARP;
    row[k] = at < end ? (int32_t)named_at(&a->index, a->index.data + at * step) : INT32_MAX;
  }
}

/* How many entries of the share name rows before this one; and this one. */
CARD_INLINE void count_share(const card_scatter_arguments *a, card_share share, int32_t row) {
  uint32_t before = 0, named = 0;
  CARD_ROLLED
  for (int64_t i = share.first; i < share.end; i += AHEAD * CARD_WARP) {
    int32_t rows[AHEAD];
    rows_at(a, i + card_lane(), share.end, rows);
    CARD_UNROLL
    for (int k = 0; k < AHEAD; k++) {
      before += (uint32_t)__builtin_popcount(card_ballot(rows[k] < row));
      named += (uint32_t)__builtin_popcount(card_ballot(rows[k] == row));
    }
  }
  if (card_lane() > 0) return;
  before_of[card_thread() / CARD_WARP] = before;
  named_of[card_thread() / CARD_WARP] = named;
}

/* The entries of the share that name the row, from `to` on. */
CARD_INLINE void give_share(const card_scatter_arguments *a, card_share share, int32_t row, uint32_t to) {
  uint32_t lanes_before = (1u << card_lane()) - 1;
  CARD_ROLLED
  for (int64_t i = share.first; i < share.end; i += AHEAD * CARD_WARP) {
    int32_t rows[AHEAD];
    rows_at(a, i + card_lane(), share.end, rows);
    CARD_UNROLL
    for (int k = 0; k < AHEAD; k++) {
      uint32_t here = card_ballot(rows[k] == row);
      if (rows[k] == row)
        a->entry[0][to + (uint32_t)__builtin_popcount(here & lanes_before)] =
            (int32_t)(i + k * CARD_WARP + card_lane());
      to += (uint32_t)__builtin_popcount(here);
    }
  }
}

/* A block for each row. The index is in a near cache, so that every block may read all of it. */
CARD_KERNEL(find_entries, card_scatter_arguments) {
  card_share share = share_of_warp(a->entries.count);
  CARD_ROLLED
  for (int64_t row = card_block(); row < a->rows; row += card_blocks()) {
    uint32_t begin = 0, earlier = 0;   /* entries of rows before; of this one, in the shares before */
    count_share(a, share, (int32_t)row);
    card_barrier();
    CARD_UNROLL
    for (int w = 0; w < WARPS; w++) {
      begin += before_of[w];
      earlier += w < card_thread() / CARD_WARP ? named_of[w] : 0;
    }
    if (card_thread() == 0) a->begin[row] = (int32_t)begin;
    if (card_thread() == 0 && row == a->rows - 1) a->begin[a->rows] = (int32_t)a->entries.count;
    give_share(a, share, (int32_t)row, begin + earlier);
    card_barrier();
  }
}

/* What a warp brings of the parts of a row, in turn: every fourth slice. */
typedef struct {
  const int32_t *entry;    /* of the row */
  const char *y;           /* this lane's column of entry 0; NULL: it has none */
  int64_t step;            /* bytes from an entry to the next */
  int count, part;         /* entries of the row; the part that is brought next */
  int32_t named;           /* this lane's entry of that part */
} card_bringer;

#define BRINGERS (CARD_OFTEN_THREADS / CARD_WARP)

CARD_INLINE void find_named(card_bringer *b) {
  int at = b->part * PART + card_lane() * BRINGERS + card_thread() / CARD_WARP;
  b->named = card_lane() < PART / BRINGERS && at < b->count ? b->entry[at] : 0;
}

CARD_INLINE void bring_part(card_bringer *b) {
  int first = b->part * PART, own = card_thread() / CARD_WARP;
  CARD_NEAR float *to = slices + b->part % PARTS * (PART * CARD_WARP) + card_lane();
  CARD_UNROLL
  for (int k = 0; k < PART / BRINGERS; k++) {
    int at = k * BRINGERS + own;
    int64_t entry = (int32_t)card_lane_value((uint32_t)b->named, k);
    if (b->y && first + at < b->count) card_copy_one(to + at * CARD_WARP, b->y + entry * b->step);
  }
  card_copies_end();
  b->part++;
  find_named(b);
}

CARD_INLINE float add_part(int part, int count, float sum) {
  const CARD_NEAR float *from = slices + part % PARTS * (PART * CARD_WARP) + card_lane();
  int left = count - part * PART < PART ? count - part * PART : PART;
  CARD_ROLLED
  for (int e = 0; e < left; e += AHEAD) {
    float value[AHEAD];
    CARD_UNROLL
    for (int k = 0; k < AHEAD; k++) value[k] = from[(e + k) * CARD_WARP];
    CARD_UNROLL
    for (int k = 0; k < AHEAD; k++)
      if (e + k < left) sum += value[k];
  }
  return sum;
}

/* The sum of this lane's column of the row's slices; all threads call, the first warp's is right. */
CARD_INLINE float add_parts(card_bringer *b, float sum) {
  find_named(b);
  CARD_UNROLL
  for (int p = 0; p < PARTS - 1; p++) bring_part(b);
  CARD_ROLLED
  for (int p = 0; p * PART < b->count; p++) {
    card_copies_wait(PARTS - 2);
    card_barrier();
    bring_part(b);   /* where the part before was, which has been added */
    if (card_thread() < CARD_WARP) sum = add_part(p, b->count, sum);
  }
  card_barrier();
  return sum;
}

/* A block computes one row and 32 columns. */
CARD_KERNEL(scatter_often, card_scatter_arguments) {
  const card_operand *const operands[3] = { &a->x, &a->out, &a->y };
  int64_t tiles = (a->columns.count + CARD_WARP - 1) / CARD_WARP;
  CARD_ROLLED
  for (int64_t work = card_block(); work < a->rows * tiles; work += card_blocks()) {
    int64_t row = work / tiles, column = work % tiles * CARD_WARP + card_lane(), offset[3];
    int32_t first = a->begin[row], count = a->begin[row + 1] - first;
    bool mine = column < a->columns.count;
    if (count == 0 && a->in_place) continue;
    card_places(&a->columns, mine ? column : 0, operands, 3, offset);
    card_bringer b = { .entry = a->entry[0] + first, .y = mine ? a->y.data + offset[2] : NULL,
                       .step = a->y_entry.stride[0], .count = count };
    float x = *(const float *)(const void *)(a->x.data + offset[0] + row * a->x_row);
    if (count > 0) x = updated_f32(a, x, add_parts(&b, a->scale ? 0 : x));
    if (mine && card_thread() < CARD_WARP)
      *(float *)(void *)(a->out.data + offset[1] + row * a->out_row) = x;
  }
}
