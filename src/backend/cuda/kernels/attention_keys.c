/* backend/cuda/kernels/attention_keys.c: the gradients of keys and values, 64 keys to a block, and whether
 * hidden keys of a head may be left out.
 *
 * Queries come by 64 at a time, in order. Their weights and slopes are recomputed, tile by tile, from what
 * attention_queries has kept of each row; what they add to the gradients is added in registers.
 *
 * In shared memory: keys, values, queries (scaled), the gradients g, a tile: [64][PITCH] each;
 * then what is kept of the queries. */
#include "backend/cuda/kernels/attention.h"

#if defined(__NVPTX__)
__asm__("// bounds card_kernel_attention_keys 128 2");
__asm__("// bounds card_kernel_attention_look 256 4");
#endif

#define QUERIES KEYS
#define EACH    (QUERIES / 8)
#define MATRIX  (KEYS * PITCH)
#define KEYS_AT    (card_room)
#define VALUES_AT  (card_room + MATRIX)
#define QUERIES_AT (card_room + 2 * MATRIX)
#define SLOPES_AT  (card_room + 3 * MATRIX)
#define TILE_AT    (card_room + 4 * MATRIX)
#define KEPT_AT    (card_room + 5 * MATRIX)

/* ---- a tile of weights or slopes ---- */
CARD_INLINE void multiply(const CARD_NEAR float *x, const CARD_NEAR float *y, int columns,
                          float (*sum)[ACROSS]) {
  x += first_row() * PITCH, y += first_column() * PITCH;
  CARD_ROLLED
  for (int c = 0; c < columns; c += 4) add_run(sum, EACH, x + c, PITCH, y + c, PITCH);
}

typedef struct {
  const card_attention_arguments *a;
  int64_t head;
  int key, query;     /* the first of the block, and of the tile */
} place;

/* Element (i, j) of a thread. */
CARD_INLINE CARD_NEAR float *tile_at(int i, int j) {
  return TILE_AT + (first_row() + 8 * i) * PITCH + first_column() + j * CARD_LANES;
}
CARD_INLINE bool sees(const place *p, int i, int j) {
  return is_open(p->a, p->query + first_row() + 8 * i, p->key + first_column() + j * CARD_LANES);
}
/* What attention_queries has stored for row i of a thread. */
CARD_INLINE card_run kept_of(int i) { return run_at(KEPT_AT + (first_row() + 8 * i) * CARD_ATTENTION_KEPT); }

CARD_INLINE void bring_kept(const place *p, int queries) {
  const float *from = p->a->kept + (p->head * p->a->q.rows + p->query) * CARD_ATTENTION_KEPT;
  int at = card_thread() * CARD_ATTENTION_KEPT;
  if (card_thread() < queries) card_copy_run(KEPT_AT + at, (const char *)(from + at));
}

CARD_INLINE void make_weights(const place *p) {
  float score[EACH][ACROSS] = { { 0 } };
  multiply(QUERIES_AT, KEYS_AT, p->a->k.columns, score);
  CARD_UNROLL
  for (int i = 0; i < EACH; i++) {
    card_run kept = kept_of(i);
    float hidden = tn_canonical_f32(kept[MOST] - kept[MOST]);   /* 0, or NaN as the whole row */
    CARD_UNROLL
    for (int j = 0; j < ACROSS; j++) score[i][j] = sees(p, i, j) ? score[i][j] - kept[MOST] : 0;
    exp_four(score[i]);
    divide_four(score[i], kept[SUM], kept[INVERSE]);
    CARD_UNROLL
    for (int j = 0; j < ACROSS; j++) *tile_at(i, j) = sees(p, i, j) ? score[i][j] : hidden;
  }
}

/* In place of the weights; all threads have read them. */
CARD_INLINE void make_slopes(const place *p) {
  float slope[EACH][ACROSS] = { { 0 } };
  multiply(SLOPES_AT, VALUES_AT, p->a->v.columns, slope);
  CARD_UNROLL
  for (int i = 0; i < EACH; i++) {
    float mean = kept_of(i)[MEAN];
    CARD_UNROLL
    for (int j = 0; j < ACROSS; j++) slope[i][j] = sees(p, i, j) ? *tile_at(i, j) * (slope[i][j] - mean) : 0;
  }
  card_barrier();
  CARD_UNROLL
  for (int i = 0; i < EACH; i++) {
    CARD_UNROLL
    for (int j = 0; j < ACROSS; j++) *tile_at(i, j) = slope[i][j];
  }
}

/* ---- what a tile adds ---- */
/* The keys of a thread in the gradients: eight side by side. */
CARD_INLINE int first_key(void) { return card_thread() / CARD_WARP * 16 + (card_thread() & 1) * 8; }

CARD_INLINE void add_query(int row, const CARD_NEAR float *rows, float (*sum)[4]) {
  const CARD_NEAR float *from = TILE_AT + row * PITCH + first_key();
  card_run low = run_at(from), high = run_at(from + 4);
  float x[8];
  CARD_UNROLL
  for (int i = 0; i < 4; i++) x[i] = low[i], x[4 + i] = high[i];
  add_row(sum, 8, x, run_at(rows + row * PITCH + first_column() * 4));
}

CARD_INLINE void add_queries(int queries, const CARD_NEAR float *rows, float (*sum)[4]) {
  int row = 0;
  CARD_ROLLED
  for (; row + 4 <= queries; row += 4) {
    CARD_UNROLL
    for (int r = 0; r < 4; r++) add_query(row + r, rows, sum);
  }
  CARD_ROLLED
  for (; row < queries; row++) add_query(row, rows, sum);
}

CARD_INLINE void give_keys(const head_matrix *m, int key, float (*sum)[4]) {
  CARD_UNROLL
  for (int i = 0; i < 8; i++) give_run(m, key + first_key() + i, first_column() * 4, sum[i]);
}

/* Queries that see no key of the block are skipped where their weights are 0, which the largest scores tell,
 * and what these would be multiplied by is finite (attention_look). */
CARD_INLINE int first_query(const place *p) {
  const card_attention_arguments *a = p->a;
  int first = (p->key - (a->k.rows - a->q.rows)) / QUERIES * QUERIES;
  const float *kept = a->kept + p->head * a->q.rows * CARD_ATTENTION_KEPT;
  bool odd = false;
  if (!a->causal || first <= 0) return 0;
  CARD_ROLLED
  for (int n = card_thread(); n < first; n += THREADS)
    odd |= !is_finite(kept[n * CARD_ATTENTION_KEPT + MOST]);
  return any_of_block(odd || a->whole[p->head], TILE_AT) ? 0 : first;
}

CARD_KERNEL(attention_keys, card_attention_arguments) {
  place p = { .a = a, .head = card_block() / a->bands, .key = (int)(card_block() % a->bands) * KEYS };
  head_matrix q = matrix_of(a, &a->q, p.head), k = matrix_of(a, &a->k, p.head);
  head_matrix v = matrix_of(a, &a->v, p.head), g = matrix_of(a, &a->g, p.head);
  float of_key[8][4] = { { 0 } }, of_value[8][4] = { { 0 } };
  bring_rows(KEYS_AT, &k, p.key, KEYS);
  bring_rows(VALUES_AT, &v, p.key, KEYS);
  p.query = first_query(&p);
  CARD_ROLLED
  for (; p.query < q.rows; p.query += QUERIES) {
    int queries = q.rows - p.query < QUERIES ? q.rows - p.query : QUERIES;
    bring_rows(QUERIES_AT, &q, p.query, QUERIES);
    bring_rows(SLOPES_AT, &g, p.query, QUERIES);
    bring_kept(&p, queries);
    card_copies_end();
    card_copies_wait(0);
    scale_rows(QUERIES_AT, QUERIES, a->factor);
    card_barrier();
    make_weights(&p);
    card_barrier();
    add_queries(queries, SLOPES_AT, of_value);
    make_slopes(&p);
    card_barrier();
    add_queries(queries, QUERIES_AT, of_key);
    card_barrier();
  }
  CARD_UNROLL
  for (int i = 0; i < 8; i++) {
    CARD_UNROLL
    for (int j = 0; j < 4; j++) {
      of_key[i][j] = positive_zero(a, of_key[i][j]);
      of_value[i][j] = tn_canonical_f32(of_value[i][j]);
    }
  }
  k = matrix_of(a, &a->dk, p.head), v = matrix_of(a, &a->dv, p.head);
  give_keys(&k, p.key, of_key);
  give_keys(&v, p.key, of_value);
}

/* ---- whether hidden keys may be left out ---- */
/* The largest magnitude, as bits: those of a NaN are above those of infinity. */
CARD_INLINE uint32_t largest(const card_attention_arguments *a, const card_matrix *matrix,
                             CARD_NEAR float *room) {
  head_matrix m = matrix_of(a, matrix, card_block());
  uint32_t most = 0;
  int runs = m.columns / 4;
  CARD_ROLLED
  for (int n = card_thread(); n < m.rows * runs; n += CARD_BLOCK) {
    int row = n / runs, column = (n - row * runs) * 4;
    const char *from = m.data + row * m.row + column * m.column;
    CARD_UNROLL
    for (int c = 0; c < 4; c++) {
      uint32_t size = tn_bits_f32(*(const float *)(const void *)(from + c * m.column)) & 0x7fffffff;
      most = size > most ? size : most;
    }
  }
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
