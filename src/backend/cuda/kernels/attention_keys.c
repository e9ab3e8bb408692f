/* backend/cuda/kernels/attention_keys.c: the gradients of keys and values, 32 keys to a block, and whether
 * hidden keys of a head may be left out.
 *
 * Queries come by 64 at a time, in order. Their weights and slopes are recomputed, tile by tile, from what
 * attention_queries has kept of each row; what they add to the gradients is added in registers.
 *
 * Of a tile of weights or slopes, 16 queries by 32 keys belong to a warp: every fourth and every eighth to a
 * thread. Of the gradients, 16 keys by 32 columns do: four of either to a thread, side by side.
 *
 * In shared memory: keys and values [KEYS][PITCH]; queries, scaled, and the gradients g [QUERIES][PITCH]; the
 * tile [QUERIES][TILE_PITCH]; what is kept of the queries. */
#include "backend/cuda/kernels/attention.h"

#if defined(__NVPTX__)
__asm__("// bounds card_kernel_attention_keys 128 3");
__asm__("// bounds card_kernel_attention_look 256 4");
#endif

#define KEYS       CARD_ATTENTION_KEYS
#define THREADS    CARD_ATTENTION_KEYS_THREADS
#define QUERIES    CARD_ATTENTION_QUERIES
#define TILE_PITCH (KEYS + 8)
#define EACH       4                       /* rows and columns of a thread, of any tile */
#define KEYS_AT    (card_room)
#define VALUES_AT  (KEYS_AT + KEYS * PITCH)
#define QUERIES_AT (VALUES_AT + KEYS * PITCH)
#define SLOPES_AT  (QUERIES_AT + QUERIES * PITCH)
#define TILE_AT    (SLOPES_AT + QUERIES * PITCH)
#define KEPT_AT    (TILE_AT + QUERIES * TILE_PITCH)

typedef struct {
  const card_attention_arguments *a;
  int64_t head;
  int key, query;     /* the first of the block, and of the tile */
  int queries;        /* that the tile has */
} place;

/* ---- a tile of weights or slopes ---- */
CARD_INLINE int first_row(void) { return warp() % (QUERIES / 16) * 16 + down(); }
CARD_INLINE int first_key(void) { return warp() / (QUERIES / 16) * 32 + across(); }

/* Element (i, j) of a thread. */
CARD_INLINE CARD_NEAR float *tile_at(int i, int j) {
  return TILE_AT + first_row() * TILE_PITCH + first_key() + i * 4 * TILE_PITCH + j * 8;
}
CARD_INLINE bool sees(const place *p, int i, int j) {
  return is_open(p->a, p->query + first_row() + 4 * i, p->key + first_key() + 8 * j);
}
/* Every query of the tile sees every key of the block. */
CARD_INLINE bool all_open(const place *p) { return is_open(p->a, p->query, p->key + KEYS - 1); }

/* Warps whose queries are not there have nothing to do. */
CARD_INLINE bool is_idle(const place *p) { return first_row() - down() >= p->queries; }

/* What attention_queries has stored for row i of a thread. */
CARD_INLINE card_run kept_of(int i) { return run_at(KEPT_AT + (first_row() + 4 * i) * CARD_ATTENTION_KEPT); }

CARD_INLINE void bring_kept(const place *p) {
  const float *from = p->a->kept + (p->head * p->a->q.rows + p->query) * CARD_ATTENTION_KEPT;
  int at = card_thread() * CARD_ATTENTION_KEPT;
  if (card_thread() < p->queries) card_copy_run(KEPT_AT + at, (const char *)(from + at));
}

CARD_INLINE void multiply(const CARD_NEAR float *x, const CARD_NEAR float *y, int columns,
                          float (*sum)[EACH]) {
  int c = 0;
  x += first_row() * PITCH, y += first_key() * PITCH;
  CARD_ROLLED
  for (; c + 16 <= columns; c += 16) {
    CARD_UNROLL
    for (int d = c; d < c + 16; d += 4)
      add_runs(sum[0], EACH, EACH, EACH, x + d, 4 * PITCH, y + d, 8 * PITCH);
  }
  CARD_ROLLED
  for (; c < columns; c += 4) add_runs(sum[0], EACH, EACH, EACH, x + c, 4 * PITCH, y + c, 8 * PITCH);
}

#define EACH_ELEMENT(i, j)       \
  CARD_UNROLL                    \
  for (int i = 0; i < EACH; i++) \
    CARD_UNROLL                  \
    for (int j = 0; j < EACH; j++)

/* Weights where some are not near, of scores less the largest, in shared memory, where a loop finds them. */
CARD_INLINE void weigh_far(void) {
  CARD_ROLLED
  for (int n = 0; n < EACH * EACH; n++) {
    CARD_NEAR float *at = tile_at(n / EACH, n % EACH);
    *at = tn_exp_f32(*at) / kept_of(n / EACH)[SUM];
  }
}

/* What a mask hides is -infinity first, and then 0, or NaN as the whole row. */
CARD_INLINE void make_weights(const place *p) {
  float score[EACH][EACH] = { { 0 } };
  bool near = true;
  if (is_idle(p)) return;
  multiply(QUERIES_AT, KEYS_AT, p->a->k.columns, score);
  if (!all_open(p)) {
    EACH_ELEMENT(i, j) if (!sees(p, i, j)) score[i][j] = -tn_infinity_f32();
  }
  EACH_ELEMENT(i, j) {
    score[i][j] = score[i][j] - kept_of(i)[MOST];
    near &= is_near(score[i][j]);
  }
  if (near) {
    EACH_ELEMENT(i, j)
      *tile_at(i, j) = near_quotient(near_weight(score[i][j]), kept_of(i)[SUM], kept_of(i)[INVERSE]);
  } else {
    EACH_ELEMENT(i, j) *tile_at(i, j) = score[i][j];
    weigh_far();
  }
}

/* In place of the weights; all threads have read them. */
CARD_INLINE void make_slopes(const place *p) {
  float slope[EACH][EACH] = { { 0 } };
  if (!is_idle(p)) multiply(SLOPES_AT, VALUES_AT, p->a->v.columns, slope);
  EACH_ELEMENT(i, j) slope[i][j] = *tile_at(i, j) * (slope[i][j] - kept_of(i)[MEAN]);
  if (!all_open(p)) {
    EACH_ELEMENT(i, j) if (!sees(p, i, j)) slope[i][j] = 0;
  }
  card_barrier();
  EACH_ELEMENT(i, j) *tile_at(i, j) = slope[i][j];
}

/* ---- what a tile adds ---- */
CARD_INLINE int own_key(void) { return warp() / 2 * 16 + down() * 4; }
CARD_INLINE int own_column(void) { return warp() % 2 * 32 + across() * 4; }

CARD_INLINE void add_query(const CARD_NEAR float *tile, const CARD_NEAR float *row, float (*sum)[4]) {
  card_run keys = run_at(tile);
  float x[EACH];
  CARD_UNROLL
  for (int i = 0; i < EACH; i++) x[i] = keys[i];
  add_row(sum, EACH, x, run_at(row));
}

CARD_INLINE void add_queries(int queries, const CARD_NEAR float *rows, float (*sum)[4]) {
  const CARD_NEAR float *tile = TILE_AT + own_key();
  int row = 0;
  rows += own_column();
  CARD_ROLLED
  for (; row + 16 <= queries; row += 16) {
    CARD_UNROLL
    for (int r = 0; r < 16; r++) add_query(tile + (row + r) * TILE_PITCH, rows + (row + r) * PITCH, sum);
  }
  CARD_ROLLED
  for (; row < queries; row++) add_query(tile + row * TILE_PITCH, rows + row * PITCH, sum);
}

CARD_INLINE void give_keys(const head_matrix *m, int key, float (*sum)[4]) {
  CARD_UNROLL
  for (int i = 0; i < EACH; i++) give_run(m, key + own_key() + i, own_column(), sum[i]);
}

/* Whether one of the block's threads says so; all call. `room` holds a number for each warp, and is free
 * again after the next barrier. */
CARD_INLINE bool any_of_block(bool truth, CARD_NEAR float *room) {
  float here = card_ballot(truth) ? 1 : 0;
  bool any = false;
  if (card_lane() == 0) room[warp()] = here;
  card_barrier();
  CARD_UNROLL
  for (int w = 0; w < THREADS / CARD_WARP; w++) any |= room[w] > 0;
  return any;
}

/* Queries that see no key of the block are skipped where their weights are 0, which the largest scores tell,
 * and what these would be multiplied by is finite (attention_look). */
CARD_INLINE int first_query(const place *p) {
  const card_attention_arguments *a = p->a;
  int first = p->key - (a->k.rows - a->q.rows);
  const float *kept = a->kept + p->head * a->q.rows * CARD_ATTENTION_KEPT;
  bool odd = false;
  if (!a->causal || first <= 0) return 0;
  CARD_ROLLED
  for (int n = card_thread(); n < first; n += THREADS)
    odd |= !is_finite(kept[n * CARD_ATTENTION_KEPT + MOST]);
  return any_of_block(odd || a->whole[p->head], TILE_AT) ? 0 : first;
}

enum { Q, K, V, G };

CARD_KERNEL(attention_keys, card_attention_arguments) {
  block_place at = place_of_block(a);
  place p = { .a = a, .head = at.head, .key = at.band * KEYS };
  const card_matrix *const matrices[] = { &a->q, &a->k, &a->v, &a->g };
  head_matrix m[4];
  float of_key[EACH][4] = { { 0 } }, of_value[EACH][4] = { { 0 } };
  matrices_of(a, matrices, 4, p.head, m);
  bring_rows(KEYS_AT, &m[K], p.key, KEYS, THREADS);
  bring_rows(VALUES_AT, &m[V], p.key, KEYS, THREADS);
  p.query = first_query(&p);
  CARD_ROLLED
  for (; p.query < a->q.rows; p.query += QUERIES) {
    p.queries = a->q.rows - p.query < QUERIES ? a->q.rows - p.query : QUERIES;
    bring_rows(QUERIES_AT, &m[Q], p.query, QUERIES, THREADS);
    bring_kept(&p);
    card_copies_end();
    bring_rows(SLOPES_AT, &m[G], p.query, QUERIES, THREADS);
    card_copies_end();
    card_copies_wait(1);
    scale_rows(QUERIES_AT, QUERIES, THREADS, a->factor);
    card_barrier();
    make_weights(&p);
    card_copies_wait(0);
    card_barrier();
    add_queries(p.queries, SLOPES_AT, of_value);
    make_slopes(&p);
    card_barrier();
    add_queries(p.queries, QUERIES_AT, of_key);
    card_barrier();
  }
  CARD_UNROLL
  for (int i = 0; i < EACH; i++) {
    CARD_UNROLL
    for (int j = 0; j < 4; j++) {
      of_key[i][j] = positive_zero(a, of_key[i][j]);
      of_value[i][j] = tn_canonical_f32(of_value[i][j]);
    }
  }
  m[K] = matrix_of(a, &a->dk, p.head), m[V] = matrix_of(a, &a->dv, p.head);
  give_keys(&m[K], p.key, of_key);
  give_keys(&m[V], p.key, of_value);
}

/* ---- whether hidden keys may be left out ---- */
#define AHEAD 8   /* runs that a thread waits for at a time */

/* Four columns of a row; in place of what is not there the first, which change no maximum. */
CARD_INLINE card_run look_at(const head_matrix *m, bool runs, int row, int column) {
  const char *from = m->data + (row < m->rows ? row : 0) * m->row;
  from += (column < m->columns ? column : 0) * m->column;
  if (runs) return *(const card_run *)(const void *)from;
  card_run run;
  CARD_UNROLL
  for (int c = 0; c < 4; c++) run[c] = *(const float *)(const void *)(from + c * m->column);
  return run;
}

/* The largest magnitude that this thread sees, as bits: those of a NaN are above those of infinity. */
CARD_INLINE uint32_t largest_seen(const head_matrix *m, bool runs) {
  uint32_t most = 0;
  CARD_ROLLED
  for (int first = card_thread() / RUNS; first < m->rows; first += AHEAD * CARD_BLOCK / RUNS) {
    card_run run[AHEAD];
    CARD_UNROLL
    for (int n = 0; n < AHEAD; n++)
      run[n] = look_at(m, runs, first + n * (CARD_BLOCK / RUNS), card_thread() % RUNS * 4);
    CARD_UNROLL
    for (int n = 0; n < AHEAD * 4; n++) {
      uint32_t size = tn_bits_f32(run[n / 4][n % 4]) & 0x7fffffff;
      most = size > most ? size : most;
    }
  }
  return most;
}

/* The largest of the block. */
CARD_INLINE uint32_t largest(const card_attention_arguments *a, const card_matrix *matrix,
                             CARD_NEAR float *room) {
  head_matrix m = matrix_of(a, matrix, card_block());
  uint32_t most = m.runs ? largest_seen(&m, true) : largest_seen(&m, false);
  CARD_UNROLL
  for (int k = CARD_WARP / 2; k > 0; k /= 2) {
    uint32_t other = card_lane_value(most, card_lane() ^ k);
    most = other > most ? other : most;
  }
  if (card_lane() == 0) room[card_thread() / CARD_WARP] = tn_float_of_bits(most);
  card_barrier();
  CARD_UNROLL
  for (int w = 0; w < CARD_BLOCK / CARD_WARP; w++) {
    uint32_t other = tn_bits_f32(room[w]);
    most = other > most ? other : most;
  }
  return most;
}

/* Sums of products below this stay finite, even with rounding. */
#define SAFE 0x1p120

/* What the weights and slopes of hidden keys meet must be finite, and so must every slope that is multiplied
 * by such a weight. A NaN compares false. */
CARD_KERNEL(attention_look, card_attention_arguments) {
  enum { WARPS = CARD_BLOCK / CARD_WARP };
  double v = (double)tn_float_of_bits(largest(a, &a->v, card_room)), k = 0, g = 0;
  if (a->g.at.data) {
    k = (double)tn_float_of_bits(largest(a, &a->k, card_room + WARPS));
    g = (double)tn_float_of_bits(largest(a, &a->g, card_room + 2 * WARPS));
  }
  bool tame = v < SAFE && k < SAFE && g < SAFE && g * v * (double)(a->v.columns + 1) < SAFE;
  if (card_thread() == 0) a->whole[card_block()] = !tame;
}
