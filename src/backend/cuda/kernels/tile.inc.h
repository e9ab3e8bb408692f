/* backend/cuda/kernels/tile.inc.h: a product of f32 matrices by tiles. Included with
 *   TILE            a row of tiles.def
 *   WAY             of this kernel: _rr and its kin, or nothing
 *   X_KIND, Y_KIND  how the operands lie (card_operand_kind)
 *   INSIDE          1: the matrices have at least one tile, and those at their ends begin earlier, so that
 *                   all of a tile is inside; what two tiles make, the second gives
 *
 * The chain of an element is never cut: a thread keeps its sums in registers from k = 0 to the end. Steps of
 * k come into shared memory DEPTH at a time, by copies that run beside the arithmetic, and every thread reads
 * AHEAD steps before the one that it is at. Both operands lie there by k: x as [k][row], y as [k][column].
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
#define RING         (AHEAD + 1)
#define THREADS      (WARPS_M * WARPS_N * CARD_WARP)
#define RUN_M        (EACH_M < 4 ? EACH_M : 4)   /* rows of a thread that lie side by side */
#define RUN_N        (EACH_N < 4 ? EACH_N : 4)
#define PITCH_M      (TILE_M + 4)
#define PITCH_N      (TILE_N + 4)
#define STAGE        (DEPTH * (PITCH_M + PITCH_N))
#define BY_HAND      (INSIDE && EACH_M * EACH_N >= 32)   /* bring.inc.h */

_Static_assert(STAGES >= 3, "what is held is put into place an iteration later, before it is read");
_Static_assert(DEPTH % RING == 0 && DEPTH / 4 < DEPTH - AHEAD, "rings go round evenly; all is taken in time");

CARD_SHARED CARD_ALIGNED float OF(stage)[STAGES * STAGE];

/* ---- bringing operands ---- */
#define SIDE  x
#define WIDTH TILE_M
#define PITCH PITCH_M
#ifdef X_WINDOWS
#include "backend/cuda/kernels/windows.inc.h"
#else
#include "backend/cuda/kernels/bring.inc.h"
#endif
#define SIDE  y
#define WIDTH TILE_N
#define PITCH PITCH_N
#include "backend/cuda/kernels/bring.inc.h"

/* ---- a thread's part ---- */
typedef struct {
  float x[RING][EACH_M], y[RING][EACH_N];   /* steps of k, in turns */
  float sum[EACH_M][EACH_N];
  const CARD_NEAR float *x_from, *y_from;   /* of the first step, in the stage that is read */
} OF(part);

CARD_INLINE int OF(row)(int i) {
  int warp = card_thread() / CARD_WARP, lane = card_lane() >> 1 & 7;
  return warp / WARPS_N * (8 * EACH_M) + i / RUN_M * (8 * RUN_M) + lane * RUN_M + i % RUN_M;
}

CARD_INLINE int OF(column)(int j) {
  int warp = card_thread() / CARD_WARP, lane = (card_lane() & 1) | (card_lane() >> 3 & 2);
  return warp % WARPS_N * (4 * EACH_N) + j / RUN_N * (4 * RUN_N) + lane * RUN_N + j % RUN_N;
}

CARD_INLINE void OF(turn_to)(OF(part) *p, int stage) {
  p->x_from = &OF(stage)[stage + OF(row)(0)];
  p->y_from = &OF(stage)[stage + DEPTH * PITCH_M + OF(column)(0)];
}

CARD_INLINE void OF(read_step)(OF(part) *p, int into, int k) {
  CARD_UNROLL
  for (int i = 0; i < EACH_M; i += RUN_M)
    card_read_run(&p->x[into][i], p->x_from + (k * PITCH_M + i / RUN_M * (8 * RUN_M)), RUN_M);
  CARD_UNROLL
  for (int j = 0; j < EACH_N; j += RUN_N)
    card_read_run(&p->y[into][j], p->y_from + (k * PITCH_N + j / RUN_N * (4 * RUN_N)), RUN_N);
}

CARD_INLINE void OF(add_step)(OF(part) *p, int from) {
  CARD_UNROLL
  for (int i = 0; i < EACH_M; i++) {
    CARD_UNROLL
    for (int j = 0; j < EACH_N; j++)
      p->sum[i][j] = tn_fma_f32(p->x[from][i], p->y[from][j], p->sum[i][j]);
  }
}

/* ---- the result ---- */
/* What the sums of row i become results with. */
CARD_INLINE void OF(read_rest)(const card_matmul_arguments *a, const card_matmul_place *at, int i,
                               float *rest) {
  if (a->end == CARD_PLAIN) return;
  const char *from = card_matmul_rest(a, at->row + OF(row)(i), at->column);
  CARD_UNROLL
  for (int j = 0; j < EACH_N; j += RUN_N)
    card_load_run(rest + j, from + 4 * OF(column)(j), RUN_N);
}

/* Straight from registers: four lanes write 64 bytes of a row, two whole sectors of memory. What the next row
 * needs is on its way while a row is written. */
CARD_INLINE void OF(give_runs)(const card_matmul_arguments *a, const card_matmul_place *at,
                               const OF(part) *p) {
  float rest[2][EACH_N] = { { 0 } }, scale = a->end == CARD_DESCENT ? *a->scale : 0;
  OF(read_rest)(a, at, 0, rest[0]);
  CARD_UNROLL
  for (int i = 0; i < EACH_M; i++) {
    int64_t row = at->row + OF(row)(i);
    char *to = at->out + row * a->out_row + 4 * at->column;
    if (i + 1 < EACH_M) OF(read_rest)(a, at, i + 1, rest[(i + 1) % 2]);
    CARD_UNROLL
    for (int j = 0; j < EACH_N; j++)
      rest[i % 2][j] = card_matmul_end(a->end, p->sum[i][j], rest[i % 2][j], scale);
    CARD_UNROLL
    for (int j = 0; j < EACH_N; j += RUN_N)
      if (row >= at->first_row && at->column + OF(column)(j) >= at->first_column)
        card_store_run(to + 4 * OF(column)(j), &rest[i % 2][j], RUN_N);
  }
}

/* One by one, through shared memory, where a loop can find them: registers have no addresses. */
CARD_INLINE void OF(give_each)(const card_matmul_arguments *a, const card_matmul_place *at,
                               const OF(part) *p) {
  CARD_NEAR float *mine = &OF(stage)[card_thread() * EACH_N];
  card_barrier();
  CARD_UNROLL
  for (int i = 0; i < EACH_M; i++) {
    CARD_UNROLL
    for (int j = 0; j < EACH_N; j++) mine[j] = p->sum[i][j];
    CARD_ROLLED
    for (int j = 0; j < EACH_N; j++) card_matmul_give(a, at, OF(row)(i), OF(column)(j), mine[j]);
  }
}

CARD_INLINE void OF(give)(const card_matmul_arguments *a, const card_matmul_place *at, const OF(part) *p) {
  bool inside = INSIDE || (at->row + TILE_M <= a->m && at->column + TILE_N <= a->n);
  bool runs = a->out_runs && (a->end == CARD_PLAIN || a->rest_runs) && at->column % 4 == 0;
  if (inside && runs) OF(give_runs)(a, at, p);
  else OF(give_each)(a, at, p);
}

CARD_INLINE int OF(steps_of)(const card_matmul_arguments *a, int64_t brought) {
  int64_t left = a->k - brought * DEPTH;
  return left >= DEPTH ? DEPTH : left > 0 ? (int)left : 0;
}

CARD_KERNEL_LATE(OF(matmul), card_matmul_arguments) {
  bool failed = card_has_failed(a->start.fault);
  card_matmul_place at = card_matmul_place_of(a, TILE_M, TILE_N);
#ifdef X_WINDOWS
  OF(bring_x) x = OF(begin_x)(a, at.row, X_KIND);
#else
  OF(bring_x) x = OF(begin_x)(at.x, a->x_row, a->x_column, &at.row, a->m, X_KIND);
#endif
  OF(bring_y) y = OF(begin_y)(at.y, a->y_column, a->y_row, &at.column, a->n, Y_KIND);
  int64_t whole = a->k / DEPTH;
  int stage = 0, rest = (int)(a->k % DEPTH);
  int held = 0, held_steps = 0;   /* what is held: for which stage, and how many steps */
  OF(part) p = { .sum = { { 0 } } };
  CARD_ROLLED
  for (int s = 0; s < STAGES - 1; s++) {
    int steps = OF(steps_of)(a, s);
    OF(take_x)(&x, s * STAGE, steps, X_KIND, false);
    OF(take_y)(&y, s * STAGE + DEPTH * PITCH_M, steps, Y_KIND, false);
    card_copies_end();
  }
  card_copies_wait(STAGES - 2);
  if (failed) return;
  card_barrier();
  OF(turn_to)(&p, 0);
  CARD_UNROLL
  for (int k = 0; k < AHEAD; k++) OF(read_step)(&p, k, k);
  CARD_ROLLED
  for (int64_t tile = 0; tile < whole; tile++) {
    int oldest = stage == 0 ? (STAGES - 1) * STAGE : stage - STAGE;   /* all have read it */
    int steps = OF(steps_of)(a, tile + STAGES - 1);
    CARD_UNROLL
    for (int k = 0; k < DEPTH; k++) {
      if (k == DEPTH - AHEAD) {
        card_copies_wait(STAGES - 2);
        card_barrier();
        stage = stage == (STAGES - 1) * STAGE ? 0 : stage + STAGE;
        OF(turn_to)(&p, stage);
      }
      OF(read_step)(&p, (k + AHEAD) % RING, (k + AHEAD) % DEPTH);
      if (k == 0) {
        OF(put_x)(&x, held, held_steps, X_KIND);
        OF(take_x)(&x, oldest, steps, X_KIND, true);
      }
      if (k == DEPTH / 4) {
        OF(put_y)(&y, held + DEPTH * PITCH_M, held_steps, Y_KIND);
        OF(take_y)(&y, oldest + DEPTH * PITCH_M, steps, Y_KIND, true);
        card_copies_end();
      }
      OF(add_step)(&p, k % RING);
    }
    held = oldest, held_steps = steps;
  }
  CARD_ROLLED
  for (int k = 0; k < rest; k++) {
    OF(read_step)(&p, 0, k);
    OF(add_step)(&p, 0);
  }
  OF(give)(a, &at, &p);
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
#undef RING
#undef THREADS
#undef RUN_M
#undef RUN_N
#undef PITCH_M
#undef PITCH_N
#undef STAGE
#undef BY_HAND
#undef WAY
#undef X_KIND
#undef Y_KIND
