/* backend/cuda/kernels/bring.inc.h: copies an operand of a tile into shared memory, DEPTH steps of k at a
 * time. Included by tile.inc.h with
 *   SIDE        x or y
 *   WIDTH       places across k: the rows of x, the columns of y
 *   PITCH       from one step of k to the next in shared memory
 *   STEPS       1: steps of k are contiguous in memory
 *   AS_LINES    1: and they stay so in shared memory
 *   SWIZZLE(p)  if AS_LINES: what the fours of steps of place p are permuted by
 * A copy takes four places (CARD_RUNS: they are contiguous and aligned), four steps (AS_LINES) or one
 * element. Neighbouring threads copy what is contiguous in memory. Places outside the matrix are not written:
 * nothing of them is kept. */
#define BRING    OF(PASTE(bring_, SIDE))
#define RUNS     (DEPTH * WIDTH / 4)
#define AT_ONCE  (8 < DEPTH ? 8 : DEPTH)   /* steps of k that threads take side by side: 32 bytes */

typedef struct {
  const char *from;              /* of this thread's first copy */
  int64_t across, along;         /* bytes from place to place, from step to step */
  int to;                        /* in the stage */
  int step;                      /* of the first copy */
  int left;                      /* places that the matrix has from the first copy's on */
} BRING;

/* *first is the tile's place; with INSIDE it moves back so that the whole tile is in the matrix. */
CARD_INLINE BRING OF(PASTE(begin_, SIDE))(const char *matrix, int64_t across, int64_t along, int64_t *first,
                                          int64_t count, int kind) {
  BRING b = { .across = across, .along = STEPS ? 4 : along };
  int t = card_thread(), place;
  if (INSIDE && *first > count - WIDTH) *first = count - WIDTH;
  if (AS_LINES) place = t / FOURS, b.step = t % FOURS * 4;
  else if (kind == CARD_RUNS) place = t % (WIDTH / 4) * 4, b.step = t / (WIDTH / 4);
  else if (kind == CARD_ACROSS) place = t % WIDTH, b.step = t / WIDTH;
  else place = t / AT_ONCE, b.step = t % AT_ONCE;
  b.left = (int)card_least(count - *first - place, WIDTH);
  b.to = AS_LINES ? place * DEPTH + 4 * (t % FOURS ^ SWIZZLE(place)) : b.step * PITCH + place;
  b.from = matrix + (*first + place) * across + b.step * along;
  return b;
}

/* Starts the copies of the next `steps` steps; the next call continues after them. */
CARD_INLINE void OF(PASTE(take_, SIDE))(BRING *b, int stage, int steps, int kind) {
  CARD_NEAR float *to = &OF(stage)[stage + b->to];
  if (AS_LINES) {
    CARD_UNROLL
    for (int i = 0; i * THREADS < RUNS; i++) {
      int place = i * (THREADS / FOURS);
      if (b->step < steps) card_copy_run(to + place * DEPTH, b->from + place * b->across);
    }
  } else if (kind == CARD_RUNS) {
    CARD_UNROLL
    for (int i = 0; i * THREADS < RUNS; i++) {
      int step = i * (THREADS / (WIDTH / 4));
      if (b->step + step < steps && (INSIDE || b->left >= 4))
        card_copy_run(to + step * PITCH, b->from + step * b->along);
      else if (!INSIDE && b->step + step < steps && b->left > 0)
        card_copy_some(to + step * PITCH, b->from + step * b->along, b->left * 4);
    }
  } else if (kind == CARD_ACROSS) {
    CARD_UNROLL
    for (int i = 0; i * THREADS < DEPTH * WIDTH; i++) {
      int step = i * (THREADS / WIDTH);
      if (b->step + step < steps && (INSIDE || b->left > 0))
        card_copy_one(to + step * PITCH, b->from + step * b->along);
    }
  } else {
    CARD_UNROLL
    for (int i = 0; i * THREADS < DEPTH * WIDTH; i++) {
      int step = i % (DEPTH / AT_ONCE) * AT_ONCE, place = i / (DEPTH / AT_ONCE) * (THREADS / AT_ONCE);
      if (b->step + step < steps && (INSIDE || place < b->left))
        card_copy_one(to + step * PITCH + place, b->from + step * b->along + place * b->across);
    }
  }
  b->from += DEPTH * b->along;
}
#undef BRING
#undef RUNS
#undef AT_ONCE
#undef SIDE
#undef WIDTH
#undef PITCH
#undef STEPS
#undef AS_LINES
#undef SWIZZLE
