/* backend/cuda/kernels/lines.h: rows of f32 whose elements lie side by side, of at most 16 chunks.
 *
 * A chunk of 512 elements belongs to half a warp, each thread of which holds 32 of them in registers. A row
 * belongs to 1, 2, 4, 8 or 16 halves that follow one another, and a block of 16 halves does so many rows at a
 * time. Sums are in the order of docs/numerics.md: lanes, then a tree over lanes, then one over chunks. */
#ifndef TN_BACKEND_CUDA_KERNELS_LINES_H
#define TN_BACKEND_CUDA_KERNELS_LINES_H

#include "backend/cuda/kernels/types.h"

#define TYPE float
#define OF(name) name##_f32
#include "backend/cuda/kernels/lanes.inc.h"
#undef TYPE
#undef OF

#define EACH (CARD_CHUNK / CARD_LANES)   /* elements of a thread */
#define HALVES (CARD_BLOCK / CARD_LANES)

/* What a thread has of a row. */
typedef struct {
  int64_t row;
  bool there;        /* the row exists */
  int first, count;  /* its first element; how many it has: `first`, and then every sixteenth */
  int half, chunk;   /* in the block; in the row */
} card_line;

static inline int card_halves_of(int chunks) {
  return chunks <= 1 ? 1 : chunks <= 2 ? 2 : chunks <= 4 ? 4 : chunks <= 8 ? 8 : 16;
}

CARD_INLINE card_line card_line_of(int64_t first_row, int64_t rows, int length, int halves) {
  card_line line = { .half = card_thread() / CARD_LANES };
  line.row = first_row + line.half / halves;
  line.there = line.row < rows;
  line.chunk = line.half % halves;
  line.first = line.chunk * CARD_CHUNK + card_thread() % CARD_LANES;
  int left = length - line.first;
  if (line.there && left > 0) line.count = left > CARD_CHUNK - CARD_LANES ? EACH : (left + 15) / CARD_LANES;
  return line;
}

/* For each element e of the thread, and some that the row no longer has: those of a group of eight go
 * together. CARD_EACH_THERE is without them. */
#define GROUP 8
#define CARD_EACH(line, e)                               \
  CARD_UNROLL                                            \
  for (int from_e = 0; from_e < EACH; from_e += GROUP)   \
    if (from_e < (line).count)                           \
      CARD_UNROLL                                        \
      for (int e = from_e; e < from_e + GROUP; e++)
#define CARD_EACH_THERE(line, e) \
  int there = card_anew((line).count); \
  CARD_EACH(line, e) if (e < there)

/* What halves leave, joined by neighbours; all threads of the block call. `from` holds one for each half. A
 * lane takes what one half of the row leaves; two are in one warp. */
CARD_INLINE float card_join_halves(int kind, float value, const card_line *line, int chunks, int halves,
                                   CARD_NEAR float *from) {
  int lane = card_thread() % CARD_LANES, first = card_lane() & CARD_LANES;
  value = join_lanes_f32(kind, value);
  if (halves == 1) return lane_value_f32(value, first);
  if (halves == 2) return join_f32(kind, lane_value_f32(value, 0), lane_value_f32(value, CARD_LANES));
  if (lane == 0) from[line->half] = value;
  card_barrier();
  value = from[line->half / halves * halves + lane % halves];
  CARD_UNROLL
  for (int k = 1; k < HALVES; k *= 2) {
    float next = lane_value_f32(value, first + (lane + k) % CARD_LANES);
    if (lane % (2 * k) == 0 && lane + k < chunks) value = join_f32(kind, value, next);
  }
  return lane_value_f32(value, first);
}
#endif
