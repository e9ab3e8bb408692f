/* backend/cpu/isa/pack.h: packs rows or columns of a matrix in the order in which tiles read them. */
#ifndef TN_BACKEND_CPU_PACK_H
#define TN_BACKEND_CPU_PACK_H

#include "backend/cpu/isa/transpose.h"

/* to[step * width + i] = from[i * step + k * k_step] for i < rows, zero from there to width where the width
 * is more than the rows. Vectors may be stored a little past a row: what they leave there is overwritten by
 * the next row, and after the last one there is room. */
#define PACK_PLAIN(name, type)                                                                               \
  static void name(type *to, int width, const type *from, int64_t step, int64_t k_step, int rows,            \
                   int64_t k) {                                                                              \
    for (int64_t at = 0; at < k; at++, to += width, from += k_step) {                                        \
      for (int i = 0; i < rows; i++) to[i] = from[i * step];                                                 \
      for (int i = rows; i < width; i++) to[i] = 0;                                                          \
    }                                                                                                        \
  }
PACK_PLAIN(pack_plain_f32, float)

/* Rows are contiguous: vectors of them as they come. */
TN_ALWAYS_INLINE void pack_vectors(float *to, int vectors, const float *from, int64_t k_step, int64_t k) {
  for (int64_t at = 0; at < k; at++, to += vectors * TN_LANES, from += k_step)
    TN_UNROLL for (int v = 0; v < vectors; v++) {
      TN_PREFETCH(from + 16 * k_step + v * TN_LANES);
      vf_store(to + v * TN_LANES, vf_load(from + v * TN_LANES));
    }
}

static void pack_straight(float *to, int width, const float *from, int64_t k_step, int rows, int64_t k) {
  if (rows == 8 && width == 8 && TN_LANES >= 8) {
    for (int64_t at = 0; at < k; at++, to += 8, from += k_step) {
      TN_PREFETCH(from + 16 * k_step);
      memcpy(to, from, 8 * sizeof *to);
    }
    return;
  }
  if (rows == 3 * TN_LANES) {
    pack_vectors(to, 3, from, k_step, k);
    return;
  }
  if (rows == 2 * TN_LANES) {
    pack_vectors(to, 2, from, k_step, k);
    return;
  }
  for (int64_t at = 0; at < k; at++, to += width, from += k_step)
    for (int i = 0; i < width; i += TN_LANES) {
      int left = rows - i < 0 ? 0 : rows - i < TN_LANES ? rows - i : TN_LANES;
      vf_store(to + i, left == TN_LANES ? vf_load(from + i) : vf_load_part(from + i, left));
    }
}

/* k is contiguous: squares of TN_LANES rows by TN_LANES steps are transposed. */
static inline void pack_square(float *to, int width, const float *from, int64_t step, int rows, int steps) {
  VF square[TN_LANES];
  for (int i = 0; i < TN_LANES; i++)
    square[i] = i >= rows           ? vf_set(0.0f)
                : steps == TN_LANES ? vf_load(from + i * step)
                                    : vf_load_part(from + i * step, steps);
  tn_transpose(square);
  for (int s = 0; s < steps; s++) vf_store(to + s * width, square[s]);
}

#if defined(TN_TURN_ROWS)
/* Whole squares, and halves of them, without the last round of turning. */
TN_ALWAYS_INLINE void turn_panel(float *to, int width, const float *from, int64_t step, int64_t k) {
  for (int i = 0; i < width; i += TN_LANES)
    for (int64_t at = 0; at < k; at += TN_LANES) {
      if (width < TN_LANES)
        TN_UNROLL for (int r = 0; r < 8; r++) TN_PREFETCH(from + (8 + r) * step + at);
      tn_turn_rows(to + at * width + i, width, from + i * step + at, step, width < TN_LANES ? 1 : 2);
    }
}

static bool pack_turned_whole(float *to, int width, const float *from, int64_t step, int rows, int64_t k) {
  if (rows != width || k % TN_LANES != 0) return false;
  switch (width) {
    case 8: turn_panel(to, 8, from, step, k); return true;
    case 32: turn_panel(to, 32, from, step, k); return true;
    case 48: turn_panel(to, 48, from, step, k); return true;
  }
  if (width % TN_LANES != 0) return false;
  turn_panel(to, width, from, step, k);
  return true;
}
#else
static bool pack_turned_whole(float *to, int width, const float *from, int64_t step, int rows, int64_t k) {
  (void)to, (void)width, (void)from, (void)step, (void)rows, (void)k;
  return false;
}
#endif

/* A whole square's rows, of which `steps` steps are left: four at a time, the last ones again if need be. */
static inline bool pack_fours(float *to, int width, const float *from, int64_t step, int steps) {
#if defined(TN_TURN_FOURS)
  if (steps < 4) return false;
  for (int s = 0; s < steps; s += 4) {
    int at = s + 4 <= steps ? s : steps - 4;
    tn_turn_fours(to + at * width, width, from + at, step);
  }
  return true;
#else
  (void)to, (void)width, (void)from, (void)step, (void)steps;
  return false;
#endif
}

static void pack_turned(float *to, int width, const float *from, int64_t step, int rows, int64_t k) {
  if (pack_turned_whole(to, width, from, step, rows, k)) return;
  for (int64_t at = 0; at < k; at += TN_LANES)
    for (int i = 0; i < width; i += TN_LANES) {
      int left = rows - i < 0 ? 0 : rows - i < TN_LANES ? rows - i : TN_LANES;
      int steps = (int)tn_cpu_min(k - at, TN_LANES);
      if (width % TN_LANES == 0 && left == TN_LANES && steps < TN_LANES &&
          pack_fours(to + at * width + i, width, from + i * step + at, step, steps))
        continue;
      pack_square(to + at * width + i, width, from + i * step + at, step, left, steps);
    }
}

static void pack_f32(float *to, int width, const float *from, int64_t step, int64_t k_step, int rows,
                     int64_t k) {
  bool fits =
      width <= TN_LANES || width % TN_LANES == 0; /* one vector may spill into the next row, two not */
  if (step == 1 && fits)
    pack_straight(to, width, from, k_step, rows, k);
  else if (k_step == 1 && fits)
    pack_turned(to, width, from, step, rows, k);
  else
    pack_plain_f32(to, width, from, step, k_step, rows, k);
}
#endif
