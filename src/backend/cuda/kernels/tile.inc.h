/* backend/cuda/kernels/tile.inc.h: a product of f32 matrices by tiles. Included with
 *   TILE              a row of tiles.def
 *   WAY               of this kernel: _rr and its kin, or nothing
 *   X_KIND, Y_KIND    how the operands lie (card_operand_kind)
 *   X_STEPS, Y_STEPS  1: steps of k lie side by side, four at a time, and this is known when it is compiled
 *   IN_LINES          if defined: shared memory holds both operands by lines, however they lie in memory
 *   INSIDE            1: the matrices have at least one tile, and those at their ends begin earlier, so that
 *                     all of a tile is inside; what two tiles make, the second gives
 *
 * The chain of an element is never cut: a thread keeps its sums in registers from k = 0 to the end. Steps of
 * k come into shared memory DEPTH at a time, by copies that run beside the arithmetic, and every thread reads
 * AHEAD steps before the one that it is at.
 *
 * In shared memory an operand lies by k: x as [k][row], y as [k][column]. With LINES it lies as [row][k] or
 * [column][k], and a thread reads LINE steps of a row or column at once. There the fours of steps are
 * permuted, each row or column differently, so that lanes that read at the same time use different banks.
 *
 * Lanes are numbered so that neighbours ask for the same words: lane bits 1-3 are the row, 0 and 4 the
 * column. */
#define PASTED(a, b) a##b
#define PASTE(a, b)  PASTED(a, b)
#define OF(name)     PASTE(PASTE(PASTE(name, _), TILE), WAY)
#define OF_TILE(name) PASTE(PASTE(name, _), TILE)
#define TILE_M       OF_TILE(TILE_M)
#define TILE_N       OF_TILE(TILE_N)
#define DEPTH        OF_TILE(DEPTH)
#define STAGES       OF_TILE(STAGES)
#define WARPS_M      OF_TILE(WARPS_M)
#define WARPS_N      OF_TILE(WARPS_N)
#define EACH_M       OF_TILE(EACH_M)
#define EACH_N       OF_TILE(EACH_N)
#define AHEAD        OF_TILE(AHEAD)
#define FOURS        (DEPTH / 4)
#define X_TURNED     (X_STEPS && (int)OF_TILE(TURNED) == CARD_TURN_X)
#define Y_TURNED     (Y_STEPS && (int)OF_TILE(TURNED) == CARD_TURN_Y)
#if defined(IN_LINES)
#define X_LINES      1
#define Y_LINES      1
#else
#define X_LINES      (X_STEPS && !X_TURNED)
#define Y_LINES      (Y_STEPS && !Y_TURNED)
#endif
/* Registers are short. */
#define LINE         ((X_LINES && Y_LINES && EACH_M * EACH_N >= 32) || EACH_M * EACH_N >= 128 ? 2 : 4)
#define LINES_HELD   ((AHEAD <= LINE ? 2 : 4) * LINE)
#define HELD_X       (X_LINES ? LINES_HELD : AHEAD + 1)   /* steps of k in registers */
#define HELD_Y       (Y_LINES ? LINES_HELD : AHEAD + 1)
#define TOGETHER     (X_LINES || Y_LINES ? LINE : 1)    /* what the number of steps is a multiple of */
#define THREADS      (WARPS_M * WARPS_N * CARD_WARP)
#define RUN_M        (EACH_M < 4 ? EACH_M : 4)   /* rows of a thread that lie side by side */
#define RUN_N        (EACH_N < 4 ? EACH_N : 4)
/* What sums become results with is read before the sums are made, where registers can hold it; also where it
 * does not lie in runs. */
#define EARLY        (EACH_M * EACH_N <= (X_LINES && Y_LINES ? 8 : 16))
#define EARLY_EACH   (EACH_M * EACH_N <= 4)
#define PITCH_M      (TILE_M + (INSIDE && !X_TURNED ? 0 : 4))   /* copies of one element use all banks */
#define PITCH_N      (TILE_N + (INSIDE && !Y_TURNED ? 0 : 4))
#define STAGE        (DEPTH * (PITCH_M + PITCH_N))
/* By what fours of steps are permuted. Rows that are read together, eight, follow one another; columns come
 * from runs of RUN_N. */
#define SWIZZLE_X(row)    ((row) / (DEPTH < 32 ? 32 / DEPTH : 1) % (FOURS < 8 ? FOURS : 8))
#define SWIZZLE_Y(column) ((column) / RUN_N % (FOURS < 4 ? FOURS : 4))

_Static_assert(DEPTH % HELD_X == 0 && DEPTH % HELD_Y == 0, "what is held goes round evenly");
_Static_assert(AHEAD <= LINES_HELD - LINE || !(X_LINES || Y_LINES), "a line is read where none is needed");
_Static_assert(DEPTH / 4 < DEPTH - AHEAD, "all is taken in time");
_Static_assert(STAGES * STAGE * sizeof(float) <= 48 << 10, "static shared memory of a block, at most");
_Static_assert(!X_LINES || THREADS / FOURS % 8 == 0, "copies of a thread are permuted alike");
_Static_assert(!Y_LINES || THREADS / FOURS % (4 * RUN_N) == 0, "copies of a thread are permuted alike");

CARD_SHARED CARD_ALIGNED float OF(stage)[STAGES * STAGE];

/* ---- bringing operands ---- */
#define SIDE       x
#define WIDTH      TILE_M
#define PITCH      PITCH_M
#define STEPS      X_STEPS
#define AS_LINES   X_LINES
#define SWIZZLE(p) SWIZZLE_X(p)
#ifdef X_WINDOWS
#include "backend/cuda/kernels/windows.inc.h"
#else
#include "backend/cuda/kernels/bring.inc.h"
#endif
#define SIDE       y
#define WIDTH      TILE_N
#define PITCH      PITCH_N
#define STEPS      Y_STEPS
#define AS_LINES   Y_LINES
#define SWIZZLE(p) SWIZZLE_Y(p)
#include "backend/cuda/kernels/bring.inc.h"

/* ---- a thread's part ---- */
typedef struct {
  float x[HELD_X][EACH_M], y[HELD_Y][EACH_N];   /* steps of k, in turns */
  float sum[EACH_M][EACH_N];
  float rest[EARLY ? EACH_M : 2][EACH_N], scale;   /* with what they become results; of rows, in turns */
  const CARD_NEAR float *x_from, *y_from;   /* of the first step, in the stage that is read */
} OF(part);

CARD_INLINE int OF(row)(int i) {
  int warp = card_thread() / CARD_WARP, lane = card_lane() >> 1 & 7;
  int within = X_LINES ? i * 8 + lane : i / RUN_M * (8 * RUN_M) + lane * RUN_M + i % RUN_M;
  return warp / WARPS_N * (8 * EACH_M) + within;
}

CARD_INLINE int OF(column)(int j) {
  int warp = card_thread() / CARD_WARP, lane = (card_lane() & 1) | (card_lane() >> 3 & 2);
  return warp % WARPS_N * (4 * EACH_N) + j / RUN_N * (4 * RUN_N) + lane * RUN_N + j % RUN_N;
}

CARD_INLINE void OF(turn_to)(OF(part) *p, int stage) {
  p->x_from = &OF(stage)[stage + OF(row)(0) * (X_LINES ? DEPTH : 1)];
  p->y_from = &OF(stage)[stage + DEPTH * PITCH_M + OF(column)(0) * (Y_LINES ? DEPTH : 1)];
}

/* Step k of x into p->x[into], or LINE steps from k on. */
CARD_INLINE void OF(read_x)(OF(part) *p, int into, int k) {
  if (X_LINES) {
    int four = (k / 4 ^ SWIZZLE_X(OF(row)(0))) * 4 + k % 4;   /* of all rows: they are multiples of 8 apart */
    CARD_UNROLL
    for (int i = 0; i < EACH_M; i++) {
      float line[LINE];
      card_read_run(line, p->x_from + (i * 8 * DEPTH + four), LINE);
      CARD_UNROLL
      for (int c = 0; c < LINE; c++) p->x[into + c][i] = line[c];
    }
  } else {
    CARD_UNROLL
    for (int i = 0; i < EACH_M; i += RUN_M)
      card_read_run(&p->x[into][i], p->x_from + (k * PITCH_M + i / RUN_M * (8 * RUN_M)), RUN_M);
  }
}

CARD_INLINE void OF(read_y)(OF(part) *p, int into, int k) {
  if (Y_LINES) {
    int four = (k / 4 ^ SWIZZLE_Y(OF(column)(0))) * 4 + k % 4;   /* of all columns, likewise */
    CARD_UNROLL
    for (int j = 0; j < EACH_N; j++) {
      float line[LINE];
      card_read_run(line, p->y_from + ((j / RUN_N * (4 * RUN_N) + j % RUN_N) * DEPTH + four), LINE);
      CARD_UNROLL
      for (int c = 0; c < LINE; c++) p->y[into + c][j] = line[c];
    }
  } else {
    CARD_UNROLL
    for (int j = 0; j < EACH_N; j += RUN_N)
      card_read_run(&p->y[into][j], p->y_from + (k * PITCH_N + j / RUN_N * (4 * RUN_N)), RUN_N);
  }
}

/* Step k of the stage, which is step `number` of those that are held in turns. */
CARD_INLINE void OF(read_step)(OF(part) *p, int number, int k) {
  if (!X_LINES || number % LINE == 0) OF(read_x)(p, number % HELD_X, k);
  if (!Y_LINES || number % LINE == 0) OF(read_y)(p, number % HELD_Y, k);
}

CARD_INLINE void OF(add_product)(OF(part) *p, int number, int i, int j) {
  card_fma_in_turn(p->x[number % HELD_X][i], p->y[number % HELD_Y][j], &p->sum[i][j]);
}

/* To and fro along rows, or down columns, so that each multiply-add shares an operand with the one before,
 * which then is not read again. A multiprocessor reads two registers in a cycle, an even and an odd one. Rows
 * of x that were read as runs are even and odd in turns, so a sum may always be the other; read as lines, all
 * are even in one step and odd in the next. */
CARD_INLINE void OF(add_step)(OF(part) *p, int number) {
  if (X_LINES) {
    CARD_UNROLL
    for (int i = 0; i < EACH_M; i++) {
      CARD_UNROLL
      for (int j = 0; j < EACH_N; j++) OF(add_product)(p, number, i, i % 2 ? EACH_N - 1 - j : j);
    }
  } else {
    CARD_UNROLL
    for (int j = 0; j < EACH_N; j++) {
      CARD_UNROLL
      for (int i = 0; i < EACH_M; i++) OF(add_product)(p, number, j % 2 ? EACH_M - 1 - i : i, j);
    }
  }
}

/* ---- the result ---- */
/* What the sums of row i become results with. */
CARD_INLINE void OF(read_rest)(const card_matmul_arguments *a, const card_matmul_place *at, int i,
                               float *rest) {
  if (a->end == CARD_PLAIN) return;
  const char *from = card_matmul_rest(a, at, at->row + OF(row)(i), at->column);
  CARD_UNROLL
  for (int j = 0; j < EACH_N; j += RUN_N)
    card_load_run(rest + j, from + 4 * OF(column)(j), RUN_N);
}

/* Whether results are given in runs, all of which are in the matrix. */
CARD_INLINE bool OF(gives_runs)(const card_matmul_arguments *a, const card_matmul_place *at) {
  bool inside = INSIDE || (at->row + TILE_M <= a->m && at->column + TILE_N <= a->n);
  return inside && a->out_runs && (a->end == CARD_PLAIN || a->rest_runs) && at->column % 4 == 0;
}

CARD_INLINE void OF(read_early)(const card_matmul_arguments *a, const card_matmul_place *at, bool runs,
                                OF(part) *p) {
  if (!EARLY || (!runs && !EARLY_EACH)) return;
  p->scale = card_matmul_scale(a);
  CARD_UNROLL
  for (int i = 0; i < EACH_M; i++) {
    if (runs) {
      OF(read_rest)(a, at, i, p->rest[EARLY ? i : 0]);
    } else {
      CARD_UNROLL
      for (int j = 0; j < EACH_N; j++)
        p->rest[EARLY ? i : 0][j] = card_matmul_rest_of(a, at, OF(row)(i), OF(column)(j));
    }
  }
}

/* Straight from registers: four lanes write 64 bytes of a row, two whole sectors of memory. If not EARLY,
 * what the next row needs is on its way while a row is written. */
CARD_INLINE void OF(give_runs)(const card_matmul_arguments *a, const card_matmul_place *at, OF(part) *p) {
  if (!EARLY) p->scale = card_matmul_scale(a), OF(read_rest)(a, at, 0, p->rest[0]);
  CARD_UNROLL
  for (int i = 0; i < EACH_M; i++) {
    int64_t row = at->row + OF(row)(i);
    char *to = at->out + row * a->out_row + 4 * at->column;
    float *results = p->rest[EARLY ? i : i % 2];
    if (!EARLY && i + 1 < EACH_M) OF(read_rest)(a, at, i + 1, p->rest[(i + 1) % 2]);
    CARD_UNROLL
    for (int j = 0; j < EACH_N; j++) results[j] = card_matmul_end(a->end, p->sum[i][j], results[j], p->scale);
    CARD_UNROLL
    for (int j = 0; j < EACH_N; j += RUN_N)
      if (row >= at->first_row && at->column + OF(column)(j) >= at->first_column)
        card_store_run(to + 4 * OF(column)(j), results + j, RUN_N);
  }
}

/* One by one: a few at once, more through shared memory, where a loop can find them: registers have no
 * addresses. */
CARD_INLINE void OF(give_few)(const card_matmul_arguments *a, const card_matmul_place *at,
                              const OF(part) *p) {
  CARD_UNROLL
  for (int i = 0; i < EACH_M; i++) {
    CARD_UNROLL
    for (int j = 0; j < EACH_N; j++)
      card_matmul_give(a, at, OF(row)(i), OF(column)(j), p->sum[i][j], p->rest[EARLY ? i : 0][j], p->scale);
  }
}

/* Sums that lie side by side in shared memory would be in registers side by side, which the order of add_step
 * does not want. */
CARD_INLINE void OF(give_each)(const card_matmul_arguments *a, const card_matmul_place *at,
                               const OF(part) *p) {
  CARD_NEAR float *mine = &OF(stage)[card_thread()];
  float scale = card_matmul_scale(a);
  card_barrier();
  CARD_UNROLL
  for (int i = 0; i < EACH_M; i++) {
    CARD_UNROLL
    for (int j = 0; j < EACH_N; j++) mine[j * THREADS] = p->sum[i][j];
    CARD_ROLLED
    for (int j = 0; j < EACH_N; j++) {
      float rest = card_matmul_rest_of(a, at, OF(row)(i), OF(column)(j));
      card_matmul_give(a, at, OF(row)(i), OF(column)(j), mine[j * THREADS], rest, scale);
    }
  }
}

CARD_INLINE void OF(give)(const card_matmul_arguments *a, const card_matmul_place *at, bool runs,
                          OF(part) *p) {
  if (runs) OF(give_runs)(a, at, p);
  else if (EARLY_EACH) OF(give_few)(a, at, p);
  else OF(give_each)(a, at, p);
}

/* Of the next stage; none if it is not positive. */
CARD_INLINE int OF(steps_of)(int64_t left) { return left < DEPTH ? (int)left : DEPTH; }

CARD_KERNEL_LATE(OF(matmul), card_matmul_arguments) {
  bool failed = card_has_failed(a->start.fault);
  card_matmul_place at = card_matmul_place_of(a, TILE_M, TILE_N);
#ifdef X_WINDOWS
  OF(bring_x) x = OF(begin_x)(a, at.row, X_KIND);
#else
  OF(bring_x) x = OF(begin_x)(at.x, a->x_row, a->x_column, &at.row, a->m, X_KIND);
#endif
  OF(bring_y) y = OF(begin_y)(at.y, a->y_column, a->y_row, &at.column, a->n, Y_KIND);
  int64_t left = a->k;   /* steps that are not yet on their way */
  int stage = 0, rest = (int)(a->k % DEPTH);
  OF(part) p = { .sum = { { 0 } } };
  CARD_ROLLED
  for (int s = 0; s < STAGES - 1; s++, left -= DEPTH) {
    int steps = OF(steps_of)(left);
    if (steps > 0) {
      OF(take_x)(&x, s * STAGE, steps, X_KIND);
      OF(take_y)(&y, s * STAGE + DEPTH * PITCH_M, steps, Y_KIND);
    }
    card_copies_end();
  }
  bool runs = OF(gives_runs)(a, &at);
  OF(read_early)(a, &at, runs, &p);
  card_copies_wait(STAGES - 2);
  if (failed) return;
  card_barrier();
  OF(turn_to)(&p, 0);
  CARD_UNROLL
  for (int k = 0; k < AHEAD; k++) OF(read_step)(&p, k, k);
  CARD_ROLLED
  for (; left > rest - (STAGES - 1) * DEPTH; left -= DEPTH) {   /* a whole stage is there */
    int oldest = stage == 0 ? (STAGES - 1) * STAGE : stage - STAGE;   /* all have read it */
    int steps = OF(steps_of)(left);
    CARD_UNROLL
    for (int k = 0; k < DEPTH; k++) {
      if (k == DEPTH - AHEAD) {
        card_copies_wait(STAGES - 2);
        card_barrier();
        stage = stage == (STAGES - 1) * STAGE ? 0 : stage + STAGE;
        OF(turn_to)(&p, stage);
      }
      OF(read_step)(&p, k + AHEAD, (k + AHEAD) % DEPTH);
      if (k == 0) OF(take_x)(&x, oldest, steps, X_KIND);
      if (k == DEPTH / 4) {
        OF(take_y)(&y, oldest + DEPTH * PITCH_M, steps, Y_KIND);
        card_copies_end();
      }
      OF(add_step)(&p, k);
    }
  }
  CARD_ROLLED
  for (int k = 0; k < rest; k += TOGETHER) {
    CARD_UNROLL
    for (int c = 0; c < TOGETHER; c++) {
      OF(read_step)(&p, c, k + c);
      if (INSIDE || k + c < rest) OF(add_step)(&p, c);
    }
  }
  OF(give)(a, &at, runs, &p);
}

#undef PASTED
#undef PASTE
#undef OF
#undef OF_TILE
#undef TILE_M
#undef TILE_N
#undef DEPTH
#undef STAGES
#undef WARPS_M
#undef WARPS_N
#undef EACH_M
#undef EACH_N
#undef AHEAD
#undef FOURS
#undef X_TURNED
#undef Y_TURNED
#undef X_LINES
#undef Y_LINES
#undef LINE
#undef LINES_HELD
#undef HELD_X
#undef HELD_Y
#undef TOGETHER
#undef SWIZZLE_X
#undef SWIZZLE_Y
#undef THREADS
#undef RUN_M
#undef RUN_N
#undef EARLY
#undef EARLY_EACH
#undef PITCH_M
#undef PITCH_N
#undef STAGE
#undef WAY
#undef X_KIND
#undef Y_KIND
