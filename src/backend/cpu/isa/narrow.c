/* backend/cpu/isa/narrow.c: matrix products with few rows, columns or steps.
 *
 * Tiles gain from reuse of what they read. If there is little reuse, reading, reordering and
 * writing take the time, and each of these shapes has its own kernel that does less of it. The
 * chain of an output is the same as everywhere. */
#include "backend/cpu/isa/matmul.h"
#include "backend/cpu/isa/transpose.h"
#if TN_LANES == 16
#include "backend/cpu/isa/pack.h"
#endif

/* ---- a matrix that is read once ---- */
/* A few rows of a, and columns of b whose steps of k are contiguous:
 * squares of b are transposed in registers and used at once. */
#define TURNED_ROWS 12
TN_ALWAYS_INLINE void turned_steps(const product *p, int rows, const float *b, int columns, int64_t begin,
                                   int64_t end, VF *acc) {
  const float *a = p->a;
  for (int64_t at = begin; at < end; at += TN_LANES) {
    VF square[TN_LANES];
    int steps = (int)tn_cpu_min(end - at, TN_LANES);
    if (steps == TN_LANES && columns == TN_LANES) {
      TN_UNROLL for (int j = 0; j < TN_LANES; j++) square[j] = vf_load(b + j * p->bn + at);
    } else {
      for (int j = 0; j < TN_LANES; j++)
        square[j] = j < columns ? vf_load_part(b + j * p->bn + at, steps) : vf_set(0.0f);
    }
    tn_transpose(square);
    for (int s = 0; s < steps; s++)
      TN_UNROLL for (int i = 0; i < rows; i++) acc[i] =
          vf_fma(vf_set(a[i * p->am + (at + s) * p->ak]), square[s], acc[i]);
  }
}

TN_ALWAYS_INLINE void turned_columns(const product *p, int rows, const float *b, int columns, VF *acc) {
  TN_UNROLL for (int i = 0; i < rows; i++) acc[i] = vf_set(0.0f);
  for (int64_t at = 0, end; at < p->k && !tn_cpu_row_stopped(p->stop, at); at = end) {
    end = tn_cpu_piece_end(at, p->k);
    turned_steps(p, rows, b, columns, at, end, acc);
  }
}

#define TURNED_OF(rows)                                                                                      \
  static void turned_##rows(const product *p, const float *b, int columns, VF *result) {                     \
    VF acc[rows];                                                                                            \
    turned_columns(p, rows, b, columns, acc);                                                                \
    for (int i = 0; i < rows; i++) result[i] = acc[i];                                                       \
  }
ROWS_1_TO_12(TURNED_OF)
#define TURNED_ENTRY(rows) [rows] = turned_##rows,
static void (*const turned_tiles[TURNED_ROWS + 1])(const product *, const float *, int,
                                                   VF *) = { ROWS_1_TO_12(TURNED_ENTRY) };

static void multiply_turned(const product *p, const tn_cpu_part *part, char *memory) {
  int64_t begin, end;
  int rows = (int)p->m;
  (void)memory;
  tn_cpu_share(p->n, TN_LANES, part, &begin, &end);
  for (int64_t j = begin; j < end; j += TN_LANES) {
    VF acc[TURNED_ROWS];
    float lane[TURNED_ROWS][TN_LANES], *c = (float *)p->c + j * p->cn;
    int columns = (int)tn_cpu_min(end - j, TN_LANES);
    turned_tiles[rows](p, (const float *)p->b + j * p->bn, columns, acc);
    for (int i = 0; i < rows; i++) vf_store(lane[i], vf_canonical(acc[i]));
    for (int l = 0; l < columns; l++)
      for (int i = 0; i < rows; i++) c[i * p->cm + l * p->cn] = lane[i][l];
  }
}

/* A few rows of a, and columns of b that are contiguous: a strip of the result stays in the first-level
 * cache while several steps of k at a time go along it, so that memory is read in long runs. The next steps
 * are prefetched: several runs side by side, a page long or less, are too short for hardware to predict. */
#define STREAMED_ROWS  4
#define STREAMED_STEPS 4
#define STREAMED_STRIP 1024 /* columns */

TN_ALWAYS_INLINE void streamed_steps(const product *p, int rows, int steps, int64_t at, int64_t begin,
                                     int64_t end) {
  VF x[STREAMED_ROWS][STREAMED_STEPS];
  const float *a = (const float *)p->a + at * p->ak, *b = (const float *)p->b + at * p->bk;
  const float *next = at + 2 * steps <= p->k ? b + steps * p->bk : b;
  float *c = p->c;
  bool first = at == 0, last = at + steps == p->k;
  TN_UNROLL for (int i = 0; i < rows; i++) TN_UNROLL for (int s = 0; s < steps; s++) x[i][s] =
      vf_set(a[i * p->am + s * p->ak]);
  for (int64_t j = begin; j < end; j += TN_LANES) {
    int left = (int)tn_cpu_min(end - j, TN_LANES);
    VF column[STREAMED_STEPS];
    TN_UNROLL for (int s = 0; s < steps; s++) {
      TN_PREFETCH(next + s * p->bk + j);
      column[s] = vf_load_part(b + s * p->bk + j, left);
    }
    TN_UNROLL for (int i = 0; i < rows; i++) {
      VF acc = first ? vf_set(0.0f) : vf_load_part(c + i * p->cm + j, left);
      TN_UNROLL for (int s = 0; s < steps; s++) acc = vf_fma(x[i][s], column[s], acc);
      vf_store_part(c + i * p->cm + j, last ? vf_canonical(acc) : acc, left);
    }
  }
}

#define STREAMED_OF(rows)                                                                                    \
  static void streamed_##rows(const product *p, int64_t begin, int64_t end) {                                \
    int64_t at = 0;                                                                                          \
    for (; at + STREAMED_STEPS <= p->k; at += STREAMED_STEPS) {                                              \
      streamed_steps(p, rows, STREAMED_STEPS, at, begin, end);                                               \
      if (at % 1024 == 0 && tn_stop_asked(p->stop)) return;                                                  \
    }                                                                                                        \
    for (; at < p->k; at++) streamed_steps(p, rows, 1, at, begin, end);                                      \
  }
ROWS_1_TO_4(STREAMED_OF)

static void multiply_streamed(const product *p, const tn_cpu_part *part, char *memory) {
  int64_t begin, end;
  (void)memory;
  tn_cpu_share(p->n, TN_LANES, part, &begin, &end);
  for (int64_t j = begin; j < end; j += STREAMED_STRIP) {
    int64_t to = tn_cpu_min(j + STREAMED_STRIP, end);
    switch (p->m) {
      case 1: streamed_1(p, j, to); break;
      case 2: streamed_2(p, j, to); break;
      case 3: streamed_3(p, j, to); break;
      default: streamed_4(p, j, to); break;
    }
  }
}

/* ---- a result with few columns, from a matrix that is read along its rows ----
 * Here the columns have become rows: c is p->m (a few) by p->n, and its memory goes along the few. All of a
 * strip's sums are in registers; they are transposed on their way into memory of their own, from where they
 * continue in whole vectors. Each element of b is read once, where it is. */
#if TN_LANES >= 8
#define TURNED_RESULT_MOST (TN_LANES - 1)
#define TURNED_STRIP       (2 * TN_LANES)

/* to[l * rows + i] is lane l of row[i]; up to three numbers after the last one are written too. */
TN_ALWAYS_INLINE void put_turned(float *to, int rows, const VF *row, int step) {
  const int groups = (rows + 3) / 4;
  TN_UNROLL for (int g = groups - 1; g >= 0; g--) {
    VF fours[4];
    TN_UNROLL for (int i = 0; i < 4; i++) fours[i] = row[(4 * g + i < rows ? 4 * g + i : 4 * g) * step];
    tn_turn_parts(fours);
    tn_store_parts(to + 4 * g, rows, fours);
  }
}

TN_ALWAYS_INLINE void sum_strip(const product *p, int rows, int vectors, int64_t j, int part, float *to) {
  VF acc[TURNED_RESULT_MOST][2];
  const float *a = p->a, *b = (const float *)p->b + j;
  TN_UNROLL for (int i = 0; i < rows; i++) TN_UNROLL for (int v = 0; v < vectors; v++) acc[i][v] =
      vf_set(0.0f);
  for (int64_t step = p->k; step > 0; step--, a += p->ak, b += p->bk) {
    VF column[2];
    TN_UNROLL for (int v = 0; v < vectors; v++) column[v] =
        part == TN_LANES ? vf_load(b + v * TN_LANES) : vf_load_part(b, part);
    TN_UNROLL for (int i = 0; i < rows; i++) {
      VF x = vf_set(a[i]);
      TN_UNROLL for (int v = 0; v < vectors; v++) acc[i][v] = vf_fma(x, column[v], acc[i][v]);
    }
  }
  TN_UNROLL for (int v = 0; v < vectors; v++) put_turned(to + v * TN_LANES * rows, rows, &acc[0][v], 2);
}

/* c, or old - scale * c, of `count` sums that follow one another in memory. */
static void put_sums(float *c, const float *old, VF scale, const float *sum, int64_t count) {
  for (int64_t i = 0; i < count; i += TN_LANES) {
    int left = (int)tn_cpu_min(count - i, TN_LANES);
    VF v = vf_load(sum + i);
    if (old) v = vf_load_part(old + i, left) - scale * v;
    vf_store_part(c + i, vf_canonical(v), left);
  }
}

TN_ALWAYS_INLINE void multiply_into_columns(const product *p, int rows, int64_t begin, int64_t end) {
  /* after the last sum there is room for what put_turned and a whole vector touch */
  float sum[(TURNED_STRIP + 1) * TN_LANES];
  const int most = rows * 2 + 3 <= (TN_LANES == 16 ? 32 : 16) ? 2 : 1;
  VF scale = vf_set(p->old ? *(const float *)p->scale : 0.0f);
  for (int64_t j = begin, taken; j < end; j += taken) {
    int64_t left = end - j;
    taken = tn_cpu_min(left, left >= most * TN_LANES ? most * TN_LANES : TN_LANES);
    if (taken == most * TN_LANES)
      sum_strip(p, rows, most, j, TN_LANES, sum);
    else
      sum_strip(p, rows, 1, j, (int)taken, sum);
    float *c = (float *)p->c + j * p->cn;
    const float *old = p->old ? (const float *)p->old + j * p->on : NULL;
    if (p->cn == rows && (!old || p->on == rows)) {
      put_sums(c, old, scale, sum, taken * rows);
      continue;
    }
    for (int64_t l = 0; l < taken; l++)
      put_sums(c + l * p->cn, old ? old + l * p->on : NULL, scale, sum + l * rows, rows);
  }
}

#define INTO_COLUMNS_OF(rows)                                                                                \
  TN_NEVER_INLINE void into_columns_##rows(const product *p, int64_t begin, int64_t end) {                   \
    multiply_into_columns(p, rows, begin, end);                                                              \
  }
#define INTO_COLUMNS_ENTRY(rows) [rows] = into_columns_##rows,
#if TN_LANES == 16
ROWS_1_TO_15(INTO_COLUMNS_OF)
static void (*const into_columns[])(const product *, int64_t, int64_t) = { ROWS_1_TO_15(INTO_COLUMNS_ENTRY) };
#else
ROWS_1_TO_7(INTO_COLUMNS_OF)
static void (*const into_columns[])(const product *, int64_t, int64_t) = { ROWS_1_TO_7(INTO_COLUMNS_ENTRY) };
#endif

static void multiply_columns(const product *p, const tn_cpu_part *part, char *memory) {
  int64_t begin, end;
  (void)memory;
  tn_cpu_share(p->n, TURNED_STRIP, part, &begin, &end);
  if (begin < end) into_columns[p->m](p, begin, end);
}

#define COLUMNS_BYTES 2097152 /* of b: a strip takes two lines of each of its rows, which should be near */
static bool suits_columns(const product *p) {
  if (p->m < 2 || p->m > TURNED_RESULT_MOST || p->am != 1 || p->bn != 1 || p->cm != 1) return false;
  return p->n >= TURNED_STRIP && (!p->old || p->om == 1) &&
         p->n * p->k * (int64_t)sizeof(float) <= COLUMNS_BYTES;
}
#endif

/* ---- sums of few steps: the columns stay in registers, and the rows pass by ---- */
#if TN_LANES == 16
#define SHORT_STEPS 12
#define SHORT_STRIP (2 * TN_LANES)
#define SHORT_AHEAD 8 /* rows of the result that are prefetched */
#define SHORT_ROWS  2
#define SHORT_GROUP 8  /* strips */
#define SHORT_BLOCK 32 /* rows */

TN_NEVER_INLINE void make_canonical(const product *p, int64_t j, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++)
    for (int v = 0; v < 2; v++) {
      float *c = (float *)p->c + i * p->cm + j + v * TN_LANES;
      vf_store(c, vf_canonical(vf_load(c)));
    }
}

/* `rows` rows side by side, so that none waits for its own last step. Says whether a sum may be a NaN. */
TN_ALWAYS_INLINE VM pass_few(const product *p, int rows, int steps, VF column[SHORT_STEPS][2], const float *a,
                             float *c) {
  VF sum[SHORT_ROWS][2];
  TN_UNROLL for (int r = 0; r < rows; r++) {
    TN_PREFETCH(c + (SHORT_AHEAD + r) * p->cm);
    TN_PREFETCH(c + (SHORT_AHEAD + r) * p->cm + TN_LANES);
    sum[r][0] = sum[r][1] = vf_set(0.0f);
  }
  TN_UNROLL for (int s = 0; s < steps; s++) TN_UNROLL for (int r = 0; r < rows; r++) {
    VF x = vf_set(a[r * p->am + s]);
    sum[r][0] = vf_fma(x, column[s][0], sum[r][0]);
    sum[r][1] = vf_fma(x, column[s][1], sum[r][1]);
  }
  VF all = sum[0][0] + sum[0][1];
  TN_UNROLL for (int r = 0; r < rows; r++) {
    vf_store(c + r * p->cm, sum[r][0]);
    vf_store(c + r * p->cm + TN_LANES, sum[r][1]);
    if (r > 0) all = all + (sum[r][0] + sum[r][1]);
  }
  return vf_isnan(all);
}

TN_ALWAYS_INLINE void pass_rows(const product *p, int steps, const float *b, int64_t j, int64_t begin,
                                int64_t end) {
  VF column[SHORT_STEPS][2];
  const float *a = (const float *)p->a + begin * p->am;
  float *c = (float *)p->c + begin * p->cm + j;
  VM nan = vf_isnan(vf_set(0.0f));
  int64_t i = begin;
  TN_UNROLL for (int s = 0; s < steps; s++) TN_UNROLL for (int v = 0; v < 2; v++) column[s][v] =
      vf_load(b + s * SHORT_STRIP + v * TN_LANES);
  for (; i + SHORT_ROWS <= end; i += SHORT_ROWS, a += SHORT_ROWS * p->am, c += SHORT_ROWS * p->cm)
    nan = vm_or(nan, pass_few(p, SHORT_ROWS, steps, column, a, c));
  for (; i < end; i++, a += p->am, c += p->cm) nan = vm_or(nan, pass_few(p, 1, steps, column, a, c));
  if (vm_any(nan)) make_canonical(p, j, begin, end);
}

#define PASS_OF(steps)                                                                                       \
  TN_NEVER_INLINE void pass_##steps(const product *p, const float *b, int64_t j, int64_t begin,              \
                                    int64_t end) {                                                           \
    pass_rows(p, steps, b, j, begin, end);                                                                   \
  }
#define PASS_ENTRY(steps) [steps] = pass_##steps,
ROWS_1_TO_12(PASS_OF)
static void (*const pass[])(const product *, const float *, int64_t, int64_t,
                            int64_t) = { ROWS_1_TO_12(PASS_ENTRY) };

/* Not inline: what packs a wider strip would be taken for a mistake here. */
TN_NEVER_INLINE void pack_strip(const product *p, int64_t j, float *to) {
  pack_f32(to, SHORT_STRIP, (const float *)p->b + j * p->bn, p->bn, p->bk, SHORT_STRIP, p->k);
}

/* The last strip begins early enough to be whole; a column that two strips have is the same in both. Several
 * strips are packed, and a few rows of all of them are made before the next rows: so that results lie side by
 * side, in the nearest cache. */
static void multiply_short(const product *p, const tn_cpu_part *part, char *memory) {
  int64_t begin, end, first[SHORT_GROUP];
  float column[SHORT_GROUP][SHORT_STEPS * SHORT_STRIP];
  (void)memory;
  tn_cpu_share(p->m, 8, part, &begin, &end);
  for (int64_t at = 0; at < p->n && begin < end;) {
    int strips = 0;
    for (; strips < SHORT_GROUP && at < p->n; strips++, at += SHORT_STRIP) {
      first[strips] = tn_cpu_min(at, p->n - SHORT_STRIP);
      pack_strip(p, first[strips], column[strips]);
    }
    for (int64_t row = begin; row < end; row += SHORT_BLOCK)
      for (int s = 0; s < strips; s++)
        pass[p->k](p, column[s], first[s], row, tn_cpu_min(row + SHORT_BLOCK, end));
  }
}

static bool suits_short(const product *p) {
  return p->k >= 4 && p->k <= SHORT_STEPS && p->ak == 1 && p->cn == 1 && p->n >= SHORT_STRIP && p->m >= 8 &&
         !p->old;
}
#endif

multiply special_way(const product *p) {
#if TN_LANES >= 8
  if (suits_columns(p)) return multiply_columns;
#endif
#if TN_LANES == 16
  if (suits_short(p)) return multiply_short;
#endif
  if (p->n * p->k <= 4096 || p->old) return NULL;
  if (p->m <= TURNED_ROWS && p->bk == 1 && p->bn != 1) return multiply_turned;
  if (p->m <= STREAMED_ROWS && p->bn == 1 && p->cn == 1 && p->n * p->k * 4 > NEAR_BYTES)
    return multiply_streamed;
  return NULL;
}
