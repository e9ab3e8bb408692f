/* backend/cuda/kernels/bring.inc.h: copies an operand of a tile into shared memory, DEPTH steps of k at a
 * time. Included by tile.inc.h with
 *   SIDE        x or y
 *   WIDTH       places across k: the rows of x, the columns of y
 *   PITCH       from one step of k to the next in shared memory
 *   STEPS       1: steps of k are contiguous in memory, four at a time
 *   AS_LINES    1: steps of k lie side by side in shared memory
 *   SWIZZLE(p)  if AS_LINES: what the fours of steps of place p are permuted by
 * A copy takes four places (CARD_RUNS), four steps (CARD_LINES), where shared memory holds them side by side
 * too, or one element. Neighbouring threads copy what is contiguous in memory. Places outside the matrix are
 * not written: nothing of them is kept.
 *
 * AS_LINES, steps that one thread copies differ in bits that those of its first copy do not have. So XOR goes
 * from one to another, as it does from a four to the place where the permutation puts it. */
#define BRING    OF(PASTE(bring_, SIDE))
#define RUNS     (DEPTH * WIDTH / 4)
#define BY_LINES (AS_LINES && (INSIDE || kind == CARD_LINES))
#define BY_RUNS  (!AS_LINES && kind == CARD_RUNS)
#define ACROSS   (kind == CARD_ACROSS || (AS_LINES && kind == CARD_RUNS))
/* Steps of k that threads take side by side: 32 bytes, or what leaves no thread without a place. */
#define AT_ONCE  (THREADS / WIDTH > 8 ? THREADS / WIDTH : 8 < DEPTH ? 8 : DEPTH)

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
  if (BY_LINES) place = t / FOURS, b.step = t % FOURS * 4;
  else if (BY_RUNS) place = t % (WIDTH / 4) * 4, b.step = t / (WIDTH / 4);
  else if (ACROSS) place = t % WIDTH, b.step = t / WIDTH;
  else place = t / AT_ONCE, b.step = t % AT_ONCE;
  b.left = (int)card_least(count - *first - place, WIDTH);
  b.to = AS_LINES ? place * DEPTH + 4 * (b.step / 4 ^ SWIZZLE(place)) + b.step % 4 : b.step * PITCH + place;
  b.from = matrix + (*first + place) * across + b.step * along;
  return b;
}

/* Starts the copies of the next `steps` steps; the next call continues after them. */
CARD_INLINE void OF(PASTE(take_, SIDE))(BRING *b, int stage, int steps, int kind) {
  CARD_NEAR float *to = &OF(stage)[stage + b->to];
  if (BY_LINES) {
    CARD_UNROLL
    for (int i = 0; i * THREADS < RUNS; i++) {
      int place = i * (THREADS / FOURS);
      if (b->step < steps && (INSIDE || place < b->left))
        card_copy_run(to + place * DEPTH, b->from + place * b->across);
    }
  } else if (BY_RUNS) {
    CARD_UNROLL
    for (int i = 0; i * THREADS < RUNS; i++) {
      int step = i * (THREADS / (WIDTH / 4));
      if (b->step + step < steps && (INSIDE || b->left >= 4))
        card_copy_run(to + step * PITCH, b->from + step * b->along);
      else if (!INSIDE && b->step + step < steps && b->left > 0)
        card_copy_some(to + step * PITCH, b->from + step * b->along, b->left * 4);
    }
  } else if (ACROSS) {
    CARD_UNROLL
    for (int i = 0; i * THREADS < DEPTH * WIDTH; i++) {
      int step = i * (THREADS / WIDTH);
      if (b->step + step < steps && (INSIDE || b->left > 0))
        card_copy_one(AS_LINES ? &OF(stage)[stage + (b->to ^ step)] : to + step * PITCH,
                      b->from + step * b->along);
    }
  } else {
    CARD_UNROLL
    for (int i = 0; i * THREADS < DEPTH * WIDTH; i++) {
      int step = i % (DEPTH / AT_ONCE) * AT_ONCE, place = i / (DEPTH / AT_ONCE) * (THREADS / AT_ONCE);
      if (b->step + step < steps && (INSIDE || place < b->left))
        card_copy_one(AS_LINES ? &OF(stage)[stage + (b->to ^ step) + place * DEPTH]
                               : to + step * PITCH + place,
                      b->from + step * b->along + place * b->across);
    }
  }
  b->from += DEPTH * b->along;
}
#undef BRING
#undef RUNS
#undef BY_LINES
#undef BY_RUNS
#undef ACROSS
#undef AT_ONCE
#undef SIDE
#undef WIDTH
#undef PITCH
#undef STEPS
#undef AS_LINES
#undef SWIZZLE
