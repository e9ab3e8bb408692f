/* backend/cuda/kernels/reduce_lines.c: sums and their kin over rows of f32 that lie side by side. */
#include "backend/cuda/kernels/lines.h"

CARD_SHARED float halves_left[HALVES], chunks_left[CARD_LINE_GROUP];

#if defined(__NVPTX__)
__asm__("// bounds card_kernel_reduce_lines 256 4");
#endif

/* The elements of one lane of a chunk: `count` of them, every sixteenth. All are on their way before the
 * first is joined. */
CARD_INLINE float join_lane(int kind, const float *from, int count) {
  float x[EACH], sum = identity_f32(kind);
  CARD_UNROLL
  for (int e = 0; e < EACH; e++) x[e] = e < count ? from[e * CARD_LANES] : 0;
  CARD_UNROLL
  for (int e = 0; e < EACH; e++) sum = e < count ? join_f32(kind, sum, x[e]) : sum;
  return sum;
}

CARD_INLINE void give(const card_reduce_arguments *a, int64_t row, float sum) {
  if (a->divisor) sum = divided_f32(sum, a->divisor);
  *(float *)(void *)card_at(&a->rows, &a->out, row) = tn_canonical_f32(sum);
}

/* Rows of at most 16 chunks: several to a block. */
CARD_INLINE void join_short(const card_reduce_arguments *a, int kind) {
  int chunks = (int)a->chunks, halves = card_halves_of(chunks), together = HALVES / halves;
  CARD_ROLLED
  for (int64_t first = card_block() * together; first < a->rows.count; first += card_blocks() * together) {
    card_line line = card_line_of(first, a->rows.count, (int)a->along.count, halves);
    const char *row = card_at(&a->rows, &a->row, line.there ? line.row : 0);
    float sum = join_lane(kind, (const float *)(const void *)row + line.first, line.count);
    sum = card_join_halves(kind, sum, &line, chunks, halves, halves_left);
    if (line.there && line.chunk == 0 && card_thread() % CARD_LANES == 0) give(a, line.row, sum);
    card_barrier();
  }
}

/* A block for each group of chunks of a row. */
CARD_INLINE void join_long(const card_reduce_arguments *a, int kind) {
  int64_t groups = (a->chunks + CARD_LINE_GROUP - 1) / CARD_LINE_GROUP;
  int lane = card_thread() % CARD_LANES;
  CARD_ROLLED
  for (int64_t item = card_block(); item < a->rows.count * groups; item += card_blocks()) {
    int64_t row = item / groups, first = item % groups * CARD_LINE_GROUP;
    int count = (int)card_least(a->chunks - first, CARD_LINE_GROUP);
    const float *from = (const float *)(const void *)card_at(&a->rows, &a->row, row);
    CARD_ROLLED
    for (int base = 0; base < count; base += HALVES) {
      int chunk = base + card_thread() / CARD_LANES;
      int64_t at = (first + chunk) * CARD_CHUNK + lane, left = a->along.count - at;
      int mine = (int)card_least((left + CARD_LANES - 1) / CARD_LANES, EACH);
      if (chunk >= count || left <= 0) mine = 0;
      float sum = join_lanes_f32(kind, join_lane(kind, from + at, mine));
      if (lane == 0 && chunk < count) chunks_left[chunk] = sum;
    }
    card_barrier();
    float all = join_neighbours_f32(kind, (float *)chunks_left, count);
    if (card_thread() > 0) continue;
    if (groups == 1) give(a, row, all);
    else ((float *)(void *)a->partial)[item] = all;
  }
}

CARD_INLINE void join_rows(const card_reduce_arguments *a, int kind) {
  if (a->chunks <= HALVES) join_short(a, kind);
  else join_long(a, kind);
}

CARD_KERNEL(reduce_lines, card_reduce_arguments) {
  switch (a->kind) {
    case CARD_ADD: join_rows(a, CARD_ADD); break;
    case CARD_MUL: join_rows(a, CARD_MUL); break;
    case CARD_MAX: join_rows(a, CARD_MAX); break;
    default: join_rows(a, CARD_MIN); break;
  }
}
