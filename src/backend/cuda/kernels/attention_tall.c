/* backend/cuda/kernels/attention_tall.c: attention by bands of 32 queries: rows of up to 256 keys.
 *
 * Threads hold the scores of a band until they are weights. Then these lie in shared memory, with all keys of
 * a row side by side: no other matrix of queries by keys exists. Keys and values come by in stages, ahead of
 * their use. With a causal mask a band ends at the last key that its last query sees. That changes no bit
 * where the keys after it meet only finite numbers (attention_look): their weights are 0, or else a score of
 * the row is NaN or infinite, and then the result is NaN whatever they are.
 *
 * Two warps share 16 rows, of which a thread has every fourth. Of a product by rows of keys (scores, slopes
 * of weights) it has every sixteenth key: one of the 16 lanes of a sum along the row. Of a product by columns
 * (the result) it has four columns that lie side by side.
 *
 * In shared memory: the weights [ROWS][HELD_PITCH]; in the gradient the rows of g, and before them those of
 * the queries, scaled [ROWS][PITCH]; stages; what threads tell one another along rows. While there are no
 * weights yet, attention has the queries and the stages of keys there. Registers are for three blocks. */
#include "backend/cuda/kernels/attention.h"

#if defined(__NVPTX__)
__asm__("// bounds card_kernel_attention_tall 128 3");
__asm__("// bounds card_kernel_attention_queries_tall 128 3");
#endif

#define ROWS       CARD_ATTENTION_TALL
#define THREADS    CARD_ATTENTION_TALL_THREADS
#define TILE       CARD_ATTENTION_TILE
#define TILES      (CARD_ATTENTION_HELD / TILE)
#define DEPTH      CARD_ATTENTION_DEPTH
#define HELD_PITCH CARD_ATTENTION_HELD_PITCH
#define EACH       4                      /* rows of a thread, and runs of columns */
#define ACROSS     (TILE / CARD_LANES)    /* keys of a thread, of a tile */
#define GROUP      (4 * CARD_LANES)       /* keys of which a thread has four: they are made together */

enum { Q, K, V, FOURTH };
typedef struct {
  const card_attention_arguments *a;
  head_matrix matrix[4];
  int64_t head;
  int first, count;                /* its first query; keys that are there */
  int open;                        /* keys that all of its queries see */
  CARD_NEAR float *weights, *rows, *stages, *joins;
} band;

/* ---- who a thread is ---- */
CARD_INLINE int side(void) { return warp() % 2; }
CARD_INLINE int first_row(void) { return warp() / 2 * 16 + down(); }   /* and every fourth from there */
CARD_INLINE int first_key(void) { return side() * 8 + across(); }      /* and every sixteenth */
CARD_INLINE int first_column(void) { return side() * 32 + across() * 4; }

/* With `fourth`: g, or the result. */
CARD_INLINE band band_of(const card_attention_arguments *a, const card_matrix *fourth) {
  block_place at = place_of_block(a);
  band b = { .a = a, .head = at.head, .weights = card_room };
  b.first = ((int)a->bands - 1 - at.band) * ROWS;   /* those with most keys begin first */
  const card_matrix *const matrices[] = { &a->q, &a->k, &a->v, fourth };
  matrices_of(a, matrices, 4, b.head, b.matrix);
  int end = b.first + ROWS < a->q.rows ? b.first + ROWS : a->q.rows, more = a->k.rows - a->q.rows;
  b.count = a->causal && !a->whole[b.head] ? end + more : b.matrix[K].rows;
  b.open = a->causal && b.first + more + 1 < b.count ? b.first + more + 1 : b.count;
  return b;
}

/* ---- stages ---- */
/* Keys come TILE rows by DEPTH columns at a time, DEPTH + 4 apart, for one tile after another; values come
 * some rows at a time, PITCH apart. */
typedef struct {
  const head_matrix *m;
  CARD_NEAR float *to;        /* where this thread puts the first run of the next stage */
  const char *from;
  int row, column, left;      /* of that run; stages that are not yet on their way */
  int stage;                  /* the number of the next, in turns */
} stream;

#define KEY_STAGE  (TILE * (DEPTH + 4))
#define KEY_STAGES CARD_ATTENTION_STAGES

CARD_INLINE void bring_keys(stream *s, int count) {
  if (s->left > 0) {
    if (s->column < s->m->columns)
      bring_below(s->to + s->stage * KEY_STAGE, s->m, s->from, TILE * DEPTH / 4 / THREADS, s->row, count,
                  THREADS * 4 / DEPTH, DEPTH + 4);
    s->left--;
    s->stage = s->stage == KEY_STAGES - 1 ? 0 : s->stage + 1;
    s->column += DEPTH, s->from += DEPTH * s->m->column;
    if (s->column - card_thread() % (DEPTH / 4) * 4 >= s->m->columns) {
      s->row += TILE, s->column = card_thread() % (DEPTH / 4) * 4;
      s->from = s->m->data + s->row * s->m->row + s->column * s->m->column;
    }
  }
  card_copies_end();
}

/* All threads have read what was there before. */
CARD_INLINE stream begin_keys(const band *b, const head_matrix *m) {
  int row = card_thread() / (DEPTH / 4), column = card_thread() % (DEPTH / 4) * 4;
  stream s = { .m = m, .to = b->stages + row * (DEPTH + 4) + column, .row = row, .column = column,
               .from = m->data + row * m->row + column * m->column };
  s.left = (b->count + TILE - 1) / TILE * ((m->columns + DEPTH - 1) / DEPTH);
  CARD_UNROLL
  for (int i = 0; i < KEY_STAGES - 1; i++) bring_keys(&s, b->count);
  return s;
}

#define VALUES       CARD_ATTENTION_VALUES
#define VALUE_STAGE  (VALUES * PITCH)
#define VALUE_STAGES CARD_ATTENTION_VALUE_STAGES

CARD_INLINE void bring_values(stream *s, int count) {
  if (s->row < count) {
    if (s->column < s->m->columns)
      bring_below(s->to + s->stage * VALUE_STAGE, s->m, s->from, VALUES * RUNS / THREADS, s->row, count,
                  THREADS / RUNS, PITCH);
    s->stage = s->stage == VALUE_STAGES - 1 ? 0 : s->stage + 1;
    s->row += VALUES, s->from += VALUES * s->m->row;
  }
  card_copies_end();
}

CARD_INLINE stream begin_values(const band *b, const head_matrix *m) {
  int row = card_thread() / RUNS, column = card_thread() % RUNS * 4;
  stream s = { .m = m, .to = b->stages + row * PITCH + column, .row = row, .column = column,
               .from = m->data + row * m->row + column * m->column };
  CARD_UNROLL
  for (int i = 0; i < VALUE_STAGES - 1; i++) bring_values(&s, b->count);
  return s;
}

/* ---- rows by rows ---- */
/* A stage: EACH rows by `keys` of a thread. */
CARD_INLINE void multiply_stage(const CARD_NEAR float *x, const CARD_NEAR float *y, int columns, int keys,
                                float (*sum)[ACROSS]) {
  if (columns >= DEPTH) {
    CARD_UNROLL
    for (int c = 0; c < DEPTH; c += 4)
      add_runs(sum[0], ACROSS, EACH, keys, x + c, 4 * PITCH, y + c, CARD_LANES * (DEPTH + 4));
  } else {
    CARD_ROLLED
    for (int c = 0; c < columns; c += 4)
      add_runs(sum[0], ACROSS, EACH, ACROSS, x + c, 4 * PITCH, y + c, CARD_LANES * (DEPTH + 4));
  }
}

/* The rows of the band in shared memory by the next TILE rows of `s`, or by as many quarters of them as there
 * are; the number of the first stage is *stage. */
CARD_INLINE void multiply_tile(const band *b, stream *s, int *stage, int tile, float (*sum)[ACROSS]) {
  const CARD_NEAR float *x = b->rows + first_row() * PITCH;
  const CARD_NEAR float *y = b->stages + first_key() * (DEPTH + 4);
  int columns = s->m->columns;
  int left = b->count - tile;
  CARD_ROLLED
  for (int done = 0; done < columns; done += DEPTH) {
    card_copies_wait(KEY_STAGES - 2);
    card_barrier();
    bring_keys(s, b->count);
    const CARD_NEAR float *at = y + *stage * KEY_STAGE;
    if (left > 3 * TILE / 4) multiply_stage(x + done, at, columns - done, ACROSS, sum);
    else if (left > TILE / 2) multiply_stage(x + done, at, columns - done, 3 * ACROSS / 4, sum);
    else if (left > TILE / 4) multiply_stage(x + done, at, columns - done, ACROSS / 2, sum);
    else multiply_stage(x + done, at, columns - done, ACROSS / 4, sum);
    *stage = *stage == KEY_STAGES - 1 ? 0 : *stage + 1;
  }
}

_Static_assert(TILES == 2, "multiply_rows makes two tiles");

CARD_INLINE void move_tile(float (*to)[ACROSS], float (*from)[ACROSS]) {
  CARD_UNROLL
  for (int n = 0; n < EACH * ACROSS; n++) to[n / ACROSS][n % ACROSS] = from[n / ACROSS][n % ACROSS];
}

/* Both tiles, which the thread holds, or the one that is there. By a loop, and moved to their places: that is
 * half of the instructions, and a multiprocessor keeps only so many near. */
CARD_INLINE void multiply_rows(const band *b, stream *s, float (*sum)[EACH][ACROSS]) {
  int stage = 0, tile = 0;
  CARD_ROLLED
  for (;; tile += TILE) {
    float last[EACH][ACROSS] = { { 0 } };
    multiply_tile(b, s, &stage, tile, last);
    move_tile(sum[1], last);
    if (tile + TILE >= b->count) break;
    move_tile(sum[0], last);
  }
  if (tile == 0) move_tile(sum[0], sum[1]);
}

/* Scores of the scaled queries. */
CARD_INLINE void find_scores(const band *b, float (*score)[EACH][ACROSS]) {
  bring_rows(b->rows, &b->matrix[Q], b->first, ROWS, THREADS);
  card_copies_end();
  stream keys = begin_keys(b, &b->matrix[K]);
  card_copies_wait(KEY_STAGES - 1);
  scale_rows(b->rows, ROWS, THREADS, b->a->factor);
  multiply_rows(b, &keys, score);
}

/* ---- along rows ---- */
/* Groups of keys that are there; element j of a group is j of its tile from 4 * half on. */
#define EACH_GROUP(t, half)              \
  CARD_UNROLL                            \
  for (int t = 0; t < TILES; t++)        \
    CARD_UNROLL                          \
    for (int half = 0; half < 2; half++) \
      if (group_at(t, half) < b->count)
#define EACH_OF_GROUP(half, i, j)        \
  CARD_UNROLL                            \
  for (int i = 0; i < EACH; i++)         \
    CARD_UNROLL                          \
    for (int j = 4 * half; j < 4 * half + 4; j++)
#define EACH_ELEMENT(t, i, j)            \
  CARD_UNROLL                            \
  for (int t = 0; t < TILES; t++)        \
    CARD_UNROLL                          \
    for (int i = 0; i < EACH; i++)       \
      CARD_UNROLL                        \
      for (int j = 0; j < ACROSS; j++)
CARD_INLINE int group_at(int t, int half) { return t * TILE + half * GROUP; }
CARD_INLINE bool all_open(const band *b, int t, int half) { return group_at(t, half) + GROUP <= b->open; }

CARD_INLINE int row_of(int i) { return first_row() + 4 * i; }
/* From the first key of a thread to that of element j. */
CARD_INLINE int place_of(int t, int j) { return t * TILE + j * CARD_LANES; }
CARD_INLINE CARD_NEAR float *weight_at(const band *b, int t, int i, int j) {
  return b->weights + first_row() * HELD_PITCH + first_key() + i * 4 * HELD_PITCH + t * TILE + j * CARD_LANES;
}
/* How many keys row i sees, from the thread's first on. */
CARD_INLINE int seen(const band *b, int i) {
  int limit = b->first + row_of(i) + 1 + b->a->k.rows - b->a->q.rows;
  return (b->a->causal && limit < b->count ? limit : b->count) - first_key();
}

/* What x is for the thread at the same place on the other side of the row. With one place all threads of a
 * side have the same x, with eight each its own. */
CARD_INLINE void tell_other_side(const band *b, int places, const float *x, float *other) {
  int place = across() % places;
  if (across() < places) {
    CARD_UNROLL
    for (int i = 0; i < EACH; i++) b->joins[(side() * ROWS + row_of(i)) * places + place] = x[i];
  }
  card_barrier();
  CARD_UNROLL
  for (int i = 0; i < EACH; i++) other[i] = b->joins[((1 - side()) * ROWS + row_of(i)) * places + place];
}

CARD_INLINE float other_lane(float x, int apart) {
  return tn_float_of_bits(card_lane_value(tn_bits_f32(x), card_lane() ^ (apart * 2)));
}

/* The largest score of each row, once all threads have made theirs. */
CARD_INLINE void find_most(const band *b, float (*score)[EACH][ACROSS], float *most) {
  float other[EACH];
  CARD_UNROLL
  for (int i = 0; i < EACH; i++) most[i] = -tn_infinity_f32();
  EACH_GROUP(t, half) {
    if (!all_open(b, t, half)) {
      EACH_OF_GROUP(half, i, j)
        score[t][i][j] = place_of(t, j) < seen(b, i) ? score[t][i][j] : -tn_infinity_f32();
    }
    EACH_OF_GROUP(half, i, j) most[i] = card_larger(most[i], score[t][i][j]);
  }
  CARD_UNROLL
  for (int i = 0; i < EACH; i++) {
    CARD_UNROLL
    for (int k = 4; k > 0; k /= 2) most[i] = card_larger(most[i], other_lane(most[i], k));
  }
  tell_other_side(b, 1, most, other);
  CARD_UNROLL
  for (int i = 0; i < EACH; i++) most[i] = card_larger(most[i], other[i]);
}

/* The sums of the lanes, of which a thread has one: first those that are eight apart, from both sides. All
 * threads get the result, for both addends of each step are the same wherever it is made. */
CARD_INLINE void join_lanes(const band *b, float *sum) {
  float other[EACH];
  band later = *b;
  later.joins += 2 * ROWS;   /* what find_most has put there may still be read */
  tell_other_side(&later, 8, sum, other);
  CARD_UNROLL
  for (int i = 0; i < EACH; i++) {
    sum[i] = sum[i] + other[i];
    CARD_UNROLL
    for (int k = 4; k > 0; k /= 2) sum[i] = sum[i] + other_lane(sum[i], k);
  }
}

/* Exponentials where some are not near, in shared memory, where a loop finds them. */
CARD_INLINE void find_far(const band *b, float (*x)[EACH][ACROSS]) {
  EACH_ELEMENT(t, i, j) *weight_at(b, t, i, j) = x[t][i][j];
  CARD_ROLLED
  for (int n = 0; n < TILES * EACH * ACROSS; n++) {
    CARD_NEAR float *at = weight_at(b, n / (EACH * ACROSS), n / ACROSS % EACH, n % ACROSS);
    *at = tn_exp_f32(*at);
  }
  EACH_ELEMENT(t, i, j) x[t][i][j] = *weight_at(b, t, i, j);
}

CARD_INLINE void divide_far(const band *b, const float *sum) {
  CARD_ROLLED
  for (int n = 0; n < TILES * ACROSS; n++) {
    CARD_UNROLL
    for (int i = 0; i < EACH; i++) {
      CARD_NEAR float *at = weight_at(b, n / ACROSS, i, n % ACROSS);
      *at = *at / sum[i];
    }
  }
}

/* Weights in shared memory, of the thread's scores. A key that a row does not see has the weight
 * 0, unless the row is NaN: so does one that is not there, and it changes no sum of those that are. */
CARD_INLINE void find_weights(const band *b, float (*x)[EACH][ACROSS], const float *most, bool keep) {
  float sum[EACH], inverse[EACH];
  bool near = true;
  EACH_GROUP(t, half) EACH_OF_GROUP(half, i, j) {
    x[t][i][j] = x[t][i][j] - most[i];
    near &= is_near(x[t][i][j]);
  }
  if (near) {
    EACH_GROUP(t, half) EACH_OF_GROUP(half, i, j) x[t][i][j] = near_weight(x[t][i][j]);
  } else {
    find_far(b, x);
  }
  CARD_UNROLL
  for (int i = 0; i < EACH; i++) sum[i] = identity_f32(CARD_ADD);
  EACH_GROUP(t, half) EACH_OF_GROUP(half, i, j) sum[i] = sum[i] + x[t][i][j];
  join_lanes(b, sum);
  CARD_UNROLL
  for (int i = 0; i < EACH; i++) {
    int query = b->first + row_of(i);
    inverse[i] = 1.0f / sum[i];
    if (!keep || first_key() > 0 || query >= b->matrix[Q].rows) continue;
    float *kept = b->a->kept + (b->head * b->matrix[Q].rows + query) * CARD_ATTENTION_KEPT;
    kept[MOST] = most[i], kept[SUM] = sum[i], kept[INVERSE] = inverse[i];
  }
  if (near) {
    EACH_GROUP(t, half) EACH_OF_GROUP(half, i, j)
      *weight_at(b, t, i, j) = near_quotient(x[t][i][j], sum[i], inverse[i]);
  } else {
    EACH_ELEMENT(t, i, j) *weight_at(b, t, i, j) = x[t][i][j];
    divide_far(b, sum);
  }
}

/* ---- the band by columns ---- */
CARD_INLINE void add_keys(const CARD_NEAR float *x, const CARD_NEAR float *y, float (*sum)[4]) {
  card_run weights[EACH], values[4];
  CARD_UNROLL
  for (int c = 0; c < 4; c++) values[c] = run_at(y + c * PITCH);
  CARD_UNROLL
  for (int i = 0; i < EACH; i++) weights[i] = run_at(x + i * 4 * HELD_PITCH);
  CARD_UNROLL
  for (int c = 0; c < 4; c++) {
    float column[EACH];
    CARD_UNROLL
    for (int i = 0; i < EACH; i++) column[i] = weights[i][c];
    add_row(sum, EACH, column, values[c]);
  }
}

/* After a barrier, weights are those of all threads. */
CARD_INLINE void multiply_columns(const band *b, stream *s, float (*sum)[4]) {
  int stage = 0;
  CARD_ROLLED
  for (int key = 0; key < b->count; key += VALUES) {
    const CARD_NEAR float *x = b->weights + first_row() * HELD_PITCH + key;
    const CARD_NEAR float *y = b->stages + stage * VALUE_STAGE + first_column();
    int left = b->count - key, n = 0;
    card_copies_wait(VALUE_STAGES - 2);
    card_barrier();
    bring_values(s, b->count);
    if (left >= VALUES) {
      CARD_UNROLL
      for (n = 0; n < VALUES; n += 4) add_keys(x + n, y + n * PITCH, sum);
    } else {
      CARD_ROLLED
      for (; n + 4 <= left; n += 4) add_keys(x + n, y + n * PITCH, sum);
      CARD_ROLLED
      for (; n < left; n++) {
        float column[EACH];
        CARD_UNROLL
        for (int i = 0; i < EACH; i++) column[i] = x[i * 4 * HELD_PITCH + n];
        add_row(sum, EACH, column, run_at(y + n * PITCH));
      }
    }
    stage = stage == VALUE_STAGES - 1 ? 0 : stage + 1;
  }
}

CARD_INLINE void give_rows(const band *b, const head_matrix *to, float (*sum)[4], bool scaled) {
  CARD_UNROLL
  for (int i = 0; i < EACH; i++) {
    CARD_UNROLL
    for (int j = 0; j < 4; j++)
      sum[i][j] = positive_zero(b->a, scaled ? sum[i][j] * b->a->factor : sum[i][j]);
    give_run(to, b->first + row_of(i), first_column(), sum[i]);
  }
}

/* ---- the kernels ---- */
CARD_KERNEL(attention_tall, card_attention_arguments) {
  band b = band_of(a, &a->out);
  float x[TILES][EACH][ACROSS] = { { { 0 } } }, most[EACH], sum[EACH][4] = { { 0 } };
  b.rows = b.weights, b.stages = b.rows + CARD_ATTENTION_ROWS;
  b.joins = b.weights + CARD_ATTENTION_BAND + CARD_ATTENTION_VALUE_ROOM;
  find_scores(&b, x);
  find_most(&b, x, most);
  b.stages = b.weights + CARD_ATTENTION_BAND;
  stream values = begin_values(&b, &b.matrix[V]);
  find_weights(&b, x, most, false);
  multiply_columns(&b, &values, sum);
  give_rows(&b, &b.matrix[FOURTH], sum, false);
}

/* ---- slopes ---- */
/* The mean slope of the weights of each row. */
CARD_INLINE void find_means(const band *b, float (*slope)[EACH][ACROSS], float *mean) {
  CARD_UNROLL
  for (int i = 0; i < EACH; i++) mean[i] = identity_f32(CARD_ADD);
  EACH_GROUP(t, half) {
    if (group_at(t, half) + GROUP > b->count) {
      EACH_OF_GROUP(half, i, j)
        slope[t][i][j] = place_of(t, j) < b->count - first_key() ? slope[t][i][j] : 0;
    }
    EACH_OF_GROUP(half, i, j) mean[i] = mean[i] + slope[t][i][j] * *weight_at(b, t, i, j);
  }
  join_lanes(b, mean);
  CARD_UNROLL
  for (int i = 0; i < EACH; i++) {
    int query = b->first + row_of(i);
    if (first_key() == 0 && query < b->matrix[Q].rows)
      b->a->kept[(b->head * b->matrix[Q].rows + query) * CARD_ATTENTION_KEPT + MEAN] = mean[i];
  }
}

/* Slopes of scores in place of the weights, which no other thread has read. */
CARD_INLINE void find_slopes(const band *b, float (*slope)[EACH][ACROSS], const float *mean) {
  EACH_GROUP(t, half) {
    EACH_OF_GROUP(half, i, j) slope[t][i][j] = *weight_at(b, t, i, j) * (slope[t][i][j] - mean[i]);
    if (!all_open(b, t, half)) {
      EACH_OF_GROUP(half, i, j) slope[t][i][j] = place_of(t, j) < seen(b, i) ? slope[t][i][j] : 0;
    }
    EACH_OF_GROUP(half, i, j) *weight_at(b, t, i, j) = slope[t][i][j];
  }
}

/* The gradient of the queries. */
CARD_KERNEL(attention_queries_tall, card_attention_arguments) {
  band b = band_of(a, &a->g);
  float x[TILES][EACH][ACROSS] = { { { 0 } } }, slope[TILES][EACH][ACROSS] = { { { 0 } } };
  float most[EACH], mean[EACH], sum[EACH][4] = { { 0 } };
  b.rows = b.weights + CARD_ATTENTION_BAND, b.stages = b.rows + CARD_ATTENTION_ROWS;
  b.joins = b.stages + CARD_ATTENTION_KEY_ROOM;
  find_scores(&b, x);
  find_most(&b, x, most);
  bring_rows(b.rows, &b.matrix[FOURTH], b.first, ROWS, THREADS);
  stream values = begin_keys(&b, &b.matrix[V]);   /* g comes with the first of its stages */
  find_weights(&b, x, most, true);
  multiply_rows(&b, &values, slope);
  find_means(&b, slope, mean);            /* a barrier in it: the stages have been read */
  stream keys = begin_values(&b, &b.matrix[K]);
  find_slopes(&b, slope, mean);
  multiply_columns(&b, &keys, sum);
  head_matrix out = matrix_of(a, &a->out, b.head);
  give_rows(&b, &out, sum, true);
}
