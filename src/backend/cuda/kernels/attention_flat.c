/* backend/cuda/kernels/attention_flat.c: attention by bands of 16 queries: rows of more keys.
 *
 * The scores of a band lie in shared memory, with all keys of a row side by side, and become weights there:
 * no other matrix of queries by keys exists. Keys and values come by in stages, two ahead of their use. With
 * a causal mask a band ends at the last key that its last query sees. That changes no bit where the keys
 * after it meet only finite numbers (attention_look): their weights are 0, or else a score of the row is NaN
 * or infinite, and then the result is NaN whatever they are.
 *
 * A block has 128 threads and makes tiles of 16 rows by 64 columns. A thread has every eighth row, and every
 * sixteenth column of a product by rows of keys (`add_run`) or four columns that lie side by side of one by
 * columns. The 16 threads that share rows have lanes 0, 2, 4 ... or 1, 3, 5 ... of a warp, so that neighbours
 * ask for the same words; their rows are four apart, on other banks.
 *
 * In shared memory: the band [ROWS][pitch]; the queries, scaled, and after them the gradients g
 * [ROWS][PITCH]; the stages. */
#include "backend/cuda/kernels/attention.h"

#define TYPE float
#define OF(name) name##_f32
#include "backend/cuda/kernels/lanes.inc.h"
#undef OF

#if defined(__NVPTX__)
__asm__("// bounds card_kernel_attention_flat 128 2");
__asm__("// bounds card_kernel_attention_queries_flat 128 2");
#endif

#define ROWS    CARD_ATTENTION_FLAT
#define THREADS CARD_ATTENTION_FLAT_THREADS
#define KEYS    CARD_ATTENTION_FLAT_TILE
#define ACROSS  (KEYS / CARD_LANES)   /* columns of a thread */
#define EACH    (ROWS / 8)            /* rows of a thread */
#define DEPTH   CARD_ATTENTION_DEPTH
#define STAGE   CARD_ATTENTION_FLAT_STAGE
#define STAGES  CARD_ATTENTION_STAGES
#define CHUNKS  CARD_ATTENTION_CHUNKS

/* ---- who a thread is ---- */
CARD_INLINE int first_row(void) { return card_thread() / CARD_WARP + 4 * (card_thread() & 1); }
CARD_INLINE int first_column(void) { return card_lane() >> 1; }

/* sum[i][j] += x[8 i] . y[16 j], four columns. */
CARD_INLINE void add_run(float (*sum)[ACROSS], const CARD_NEAR float *x, const CARD_NEAR float *y) {
  add_runs(sum[0], ACROSS, EACH, ACROSS, x, 8 * PITCH, y, CARD_LANES * (DEPTH + 4));
}

typedef struct {
  const card_attention_arguments *a;
  head_matrix q, k, v, g, out;
  int64_t head;
  int first, count;                /* its first query; keys that are there */
  bool hides;                      /* keys that a row does not see have no scores */
  CARD_NEAR float *weights, *rows, *stages;
} band;

CARD_INLINE band band_of(const card_attention_arguments *a) {
  block_place at = place_of_block(a);
  band b = { .a = a, .head = at.head, .weights = card_room };
  b.rows = b.weights + ROWS * a->pitch;
  b.stages = b.rows + ROWS * PITCH;
  b.first = ((int)a->bands - 1 - at.band) * ROWS;   /* those with most keys begin first */
  b.q = matrix_of(a, &a->q, b.head), b.k = matrix_of(a, &a->k, b.head), b.v = matrix_of(a, &a->v, b.head);
  b.out = matrix_of(a, &a->out, b.head);
  b.hides = a->causal && !a->whole[b.head];
  int end = b.first + ROWS < b.q.rows ? b.first + ROWS : b.q.rows;
  b.count = b.hides ? end + b.k.rows - b.q.rows : b.k.rows;
  return b;
}

/* ---- stages ---- */
/* Four columns of a row. */
CARD_INLINE void bring_run(CARD_NEAR float *to, const head_matrix *m, int row, int column) {
  const char *from = m->data + row * m->row + column * m->column;
  if (row >= m->rows || column >= m->columns) return;
  if (m->runs) {
    card_copy_run(to, from);
  } else {
    CARD_UNROLL
    for (int c = 0; c < 4; c++) card_copy_one(to + c, from + c * m->column);
  }
}

/* Of `keys`: KEYS rows, DEPTH columns, DEPTH + 4 apart. Of `values`: DEPTH rows, PITCH apart. */
typedef struct {
  const head_matrix *m;
  CARD_NEAR float *stages;
  bool keys;
  int parts, left;        /* of a tile of keys; stages that are not yet on their way */
  int row, part, to;      /* of the next of them */
} stream;

CARD_INLINE void bring_stage(stream *s) {
  if (s->left > 0) {
    CARD_UNROLL
    for (int n = 0; n < KEYS * DEPTH / 4; n += THREADS) {
      int run = n + card_thread();
      if (s->keys)
        bring_run(s->stages + s->to + run / 4 * (DEPTH + 4) + run % 4 * 4, s->m, s->row + run / 4,
                  s->part * DEPTH + run % 4 * 4);
      else
        bring_run(s->stages + s->to + run / RUNS * PITCH + run % RUNS * 4, s->m, s->row + run / RUNS,
                  run % RUNS * 4);
    }
    s->left--;
    s->to = s->to == (STAGES - 1) * STAGE ? 0 : s->to + STAGE;
    if (!s->keys) s->row += DEPTH;
    else if (++s->part == s->parts) s->part = 0, s->row += KEYS;
  }
  card_copies_end();
}

/* All threads have read what was there before. */
CARD_INLINE stream begin_stream(const band *b, const head_matrix *m, bool keys) {
  stream s = { .m = m, .stages = b->stages, .keys = keys, .parts = (m->columns + DEPTH - 1) / DEPTH };
  s.left = keys ? (b->count + KEYS - 1) / KEYS * s.parts : (b->count + DEPTH - 1) / DEPTH;
  CARD_UNROLL
  for (int i = 0; i < STAGES - 1; i++) bring_stage(&s);
  return s;
}

/* The next stage is there, and the one after the next is asked for. */
CARD_INLINE void next_stage(stream *s) {
  card_copies_wait(STAGES - 2);
  card_barrier();
  bring_stage(s);
}

/* ---- rows by rows ---- */
/* What becomes of the sums of a tile: scores; addends of the mean slope; slopes in place of weights. */
typedef enum { SCORES, MEANS, SLOPES } tile_use;

typedef struct {
  float lane[EACH];               /* of the chunk that is added up */
  float chunk[CHUNKS][EACH];
  float mean[EACH];
} means;

CARD_INLINE float join_columns(float x) {
  int column = first_column(), side = card_thread() & 1;
  CARD_UNROLL
  for (int k = CARD_LANES / 2; k > 0; k /= 2)
    x = x + tn_float_of_bits(card_lane_value(tn_bits_f32(x), (column + k) % CARD_LANES * 2 + side));
  return tn_float_of_bits(card_lane_value(tn_bits_f32(x), side));
}

/* Of at most four chunks. */
CARD_INLINE float join_chunks(const float *x, int chunks) {
  float first = chunks > 1 ? x[0] + x[1] : x[0];
  return chunks > 3 ? first + (x[2] + x[3]) : chunks > 2 ? first + x[2] : first;
}

CARD_INLINE void end_chunk(means *m, int chunk) {
  CARD_UNROLL
  for (int i = 0; i < EACH; i++) {
    float sum = join_columns(m->lane[i]);
    CARD_UNROLL
    for (int c = 0; c < CHUNKS; c++)
      if (c == chunk) m->chunk[c][i] = sum;
    m->lane[i] = identity_f32(CARD_ADD);
  }
}

CARD_INLINE void use_tile(const band *b, tile_use use, int tile, float (*sum)[ACROSS], means *m) {
  CARD_UNROLL
  for (int i = 0; i < EACH; i++) {
    int row = first_row() + 8 * i;
    CARD_UNROLL
    for (int j = 0; j < ACROSS; j++) {
      int key = tile + first_column() + j * CARD_LANES;
      CARD_NEAR float *at = b->weights + row * b->a->pitch + key;
      if (key >= b->count) continue;
      bool open = is_open(b->a, b->first + row, key);
      if (use == SCORES) *at = open ? tn_canonical_f32(sum[i][j]) : -tn_infinity_f32();
      if (use == MEANS) m->lane[i] = m->lane[i] + sum[i][j] * *at;
      if (use == SLOPES) *at = open ? *at * (sum[i][j] - m->mean[i]) : 0;
    }
  }
}

/* The rows of the band in shared memory by the next KEYS rows of `s`, the first stage of which is *stage. */
CARD_INLINE void multiply_tile(const band *b, stream *s, int *stage, float (*sum)[ACROSS]) {
  int columns = s->m->columns;
  const CARD_NEAR float *x = b->rows + first_row() * PITCH;
  CARD_ROLLED
  for (int done = 0; done < columns; done += DEPTH) {
    next_stage(s);
    const CARD_NEAR float *y = b->stages + *stage + first_column() * (DEPTH + 4);
    if (columns - done >= DEPTH) {
      CARD_UNROLL
      for (int c = 0; c < DEPTH; c += 4) add_run(sum, x + done + c, y + c);
    } else {
      CARD_ROLLED
      for (int c = 0; done + c < columns; c += 4) add_run(sum, x + done + c, y + c);
    }
    *stage = *stage == (STAGES - 1) * STAGE ? 0 : *stage + STAGE;
  }
}

CARD_INLINE void multiply_rows(const band *b, stream *s, tile_use use, means *m) {
  int stage = 0;
  CARD_ROLLED
  for (int tile = 0; tile < b->count; tile += KEYS) {
    float sum[EACH][ACROSS] = { { 0 } };
    int after = tile + KEYS;
    multiply_tile(b, s, &stage, sum);
    use_tile(b, use, tile, sum, m);
    if (use == MEANS && (after % CARD_CHUNK == 0 || after >= b->count)) end_chunk(m, tile / CARD_CHUNK);
  }
  card_barrier();
}

/* ---- the band by columns ---- */
CARD_INLINE void multiply_columns(const band *b, stream *s, float (*sum)[4]) {
  int stage = 0;
  const CARD_NEAR float *x = b->weights + first_row() * b->a->pitch;
  CARD_ROLLED
  for (int key = 0; key < b->count; key += DEPTH) {
    next_stage(s);
    const CARD_NEAR float *y = b->stages + stage + first_column() * 4;
    int left = b->count - key < DEPTH ? b->count - key : DEPTH, whole = left / 4 * 4;
    CARD_ROLLED
    for (int n = 0; n < whole; n += 4) {
      card_run weights[EACH], values[4];
      CARD_UNROLL
      for (int c = 0; c < 4; c++) values[c] = run_at(y + (n + c) * PITCH);
      CARD_UNROLL
      for (int i = 0; i < EACH; i++) weights[i] = run_at(x + i * 8 * b->a->pitch + key + n);
      CARD_UNROLL
      for (int c = 0; c < 4; c++) {
        float column[EACH];
        CARD_UNROLL
        for (int i = 0; i < EACH; i++) column[i] = weights[i][c];
        add_row(sum, EACH, column, values[c]);
      }
    }
    CARD_ROLLED
    for (int n = whole; n < left; n++) {
      float column[EACH];
      CARD_UNROLL
      for (int i = 0; i < EACH; i++) column[i] = x[i * 8 * b->a->pitch + key + n];
      add_row(sum, EACH, column, run_at(y + n * PITCH));
    }
    stage = stage == (STAGES - 1) * STAGE ? 0 : stage + STAGE;
  }
}

/* ---- weights ---- */
/* A row belongs to half a warp; those of a warp are four rows apart. */
typedef struct {
  CARD_NEAR float *at;             /* its scores */
  int lane, open;                  /* keys that it sees, of those that are there */
  float most, sum, inverse;
} weights_row;

CARD_INLINE float most_of_lanes(float most) {
  CARD_UNROLL
  for (int k = CARD_LANES / 2; k > 0; k /= 2) most = card_larger(most, lane_value_f32(most, card_lane() ^ k));
  return most;
}

CARD_INLINE void set_sum(weights_row *r, const float *part) {
  r->sum = join_chunks(part, (r->open + CARD_CHUNK - 1) / CARD_CHUNK);
  r->sum = lane_value_f32(r->sum, card_lane() & CARD_LANES);
  r->inverse = 1.0f / r->sum;
}

/* Of any number of keys: a row is read three times. */
CARD_INLINE void weigh_long(const band *b, weights_row *r) {
  float part[CARD_ATTENTION_CHUNKS] = { 0 };
  CARD_ROLLED
  for (int s = r->lane; s < r->open; s += CARD_LANES) r->most = card_larger(r->most, r->at[s]);
  r->most = most_of_lanes(r->most);
  CARD_UNROLL
  for (int c = 0; c < CHUNKS; c++) {
    int end = r->open < (c + 1) * CARD_CHUNK ? r->open : (c + 1) * CARD_CHUNK;
    part[c] = identity_f32(CARD_ADD);
    CARD_ROLLED
    for (int s = c * CARD_CHUNK + r->lane; s < end; s += CARD_LANES)
      part[c] += r->at[s] = tn_exp_f32(r->at[s] - r->most);
    part[c] = join_lanes_f32(CARD_ADD, part[c]);
  }
  set_sum(r, part);
  CARD_ROLLED
  for (int s = r->lane; s < b->count; s += CARD_LANES)
    r->at[s] = s < r->open ? tn_canonical_f32(r->at[s] / r->sum) : 0;
}

/* Softmax. Rows that the band has too many become anything. */
CARD_INLINE void weigh_row(const band *b, int row, bool keep) {
  int query = b->first + row, open = b->hides ? query + 1 + b->k.rows - b->q.rows : b->count;
  weights_row r = { .at = b->weights + row * b->a->pitch, .lane = card_lane() % CARD_LANES,
                    .open = open < b->count ? open : b->count, .most = -tn_infinity_f32() };
  weigh_long(b, &r);
  if (!keep || r.lane > 0 || query >= b->q.rows) return;
  float *kept = b->a->kept + (b->head * b->q.rows + query) * CARD_ATTENTION_KEPT;
  kept[MOST] = r.most, kept[SUM] = r.sum, kept[INVERSE] = r.inverse;
}

CARD_INLINE void weigh(const band *b, bool keep) {
  int row = card_thread() / CARD_WARP + 4 * (card_lane() / CARD_LANES);
  CARD_ROLLED
  for (int i = 0; i < ROWS; i += 8) weigh_row(b, row + i, keep);
}

/* Scores of the scaled queries. */
CARD_INLINE void find_scores(const band *b) {
  bring_rows(b->rows, &b->q, b->first, ROWS, THREADS);
  card_copies_end();
  stream keys = begin_stream(b, &b->k, true);
  card_copies_wait(STAGES - 1);
  scale_rows(b->rows, ROWS, THREADS, b->a->factor);
  multiply_rows(b, &keys, SCORES, NULL);
}

CARD_INLINE void give_rows(const band *b, float (*sum)[4], bool scaled) {
  CARD_UNROLL
  for (int i = 0; i < EACH; i++) {
    CARD_UNROLL
    for (int j = 0; j < 4; j++)
      sum[i][j] = positive_zero(b->a, scaled ? sum[i][j] * b->a->factor : sum[i][j]);
    give_run(&b->out, b->first + first_row() + 8 * i, first_column() * 4, sum[i]);
  }
}

/* ---- the kernels ---- */
CARD_KERNEL(attention_flat, card_attention_arguments) {
  band b = band_of(a);
  float sum[EACH][4] = { { 0 } };
  find_scores(&b);
  stream values = begin_stream(&b, &b.v, false);
  weigh(&b, false);
  multiply_columns(&b, &values, sum);
  give_rows(&b, sum, false);
}

/* ---- slopes ---- */
CARD_INLINE void find_means(const band *b, means *m) {
  CARD_UNROLL
  for (int i = 0; i < EACH; i++) {
    float part[CARD_ATTENTION_CHUNKS] = { 0 };
    CARD_UNROLL
    for (int c = 0; c < CHUNKS; c++) part[c] = m->chunk[c][i];
    m->mean[i] = join_chunks(part, (b->count + CARD_CHUNK - 1) / CARD_CHUNK);
    int query = b->first + first_row() + 8 * i;
    if (first_column() == 0 && query < b->q.rows)
      b->a->kept[(b->head * b->q.rows + query) * CARD_ATTENTION_KEPT + MEAN] = m->mean[i];
  }
}

/* Of any number of keys: the slopes of weights are made once for their mean, and once more. */
CARD_INLINE void slope_long(const band *b, stream *values, means *m) {
  multiply_rows(b, values, MEANS, m);
  find_means(b, m);
  stream again = begin_stream(b, &b->v, true);
  multiply_rows(b, &again, SLOPES, m);
}

/* The gradient of the queries. */
CARD_KERNEL(attention_queries_flat, card_attention_arguments) {
  band b = band_of(a);
  float sum[EACH][4] = { { 0 } };
  means m;
  b.g = matrix_of(a, &a->g, b.head);
  find_scores(&b);
  bring_rows(b.rows, &b.g, b.first, ROWS, THREADS);
  stream values = begin_stream(&b, &b.v, true);   /* g comes with the first of its stages */
  weigh(&b, true);
  CARD_UNROLL
  for (int i = 0; i < EACH; i++) m.lane[i] = identity_f32(CARD_ADD);
  slope_long(&b, &values, &m);
  stream keys = begin_stream(&b, &b.k, false);
  multiply_columns(&b, &keys, sum);
  give_rows(&b, sum, true);
}
