/* backend/cuda/kernels/bring.inc.h: an operand of a tile comes into shared memory, DEPTH steps at a time.
 * Included by tile.inc.h with
 *   SIDE    x or y
 *   WIDTH   places across k: the rows of x, the columns of y
 *   PITCH   from one step of k to the next in shared memory
 * A copy brings four places (CARD_RUNS: they lie side by side, well aligned) or one. Threads that follow one
 * another take what does so in memory. Places outside the matrix are left as they are: nothing of them is
 * kept.
 *
 * Where steps of k lie side by side, four of them must be parted. Tiles with much arithmetic for each step do
 * that BY_HAND: a thread holds four steps in registers while it computes DEPTH steps, and then puts them into
 * place. Before there is anything to compute they are copied one by one. */
#define BRING    OF(PASTE(bring_, SIDE))
#define RUNS     (DEPTH * WIDTH / 4)
#define AT_ONCE  (8 < DEPTH ? 8 : DEPTH)   /* steps of k that threads take side by side: 32 bytes */
#define LINES    (DEPTH / 4)               /* fours of steps in DEPTH */
#define HELD     (BY_HAND ? RUNS / THREADS : 1)

typedef struct {
  const char *from;              /* of this thread's first copy */
  int64_t across, along;         /* bytes from place to place, from step to step */
  int to;                        /* in the stage */
  int step;                      /* of the first copy */
  int left;                      /* places that the matrix has from the first copy's on */
  card_run held[HELD];
} BRING;

/* *first is the tile's place; it moves where INSIDE says so. */
CARD_INLINE BRING OF(PASTE(begin_, SIDE))(const char *matrix, int64_t across, int64_t along, int64_t *first,
                                          int64_t count, int kind) {
  BRING b = { .across = across, .along = along };
  int t = card_thread(), place;
  if (INSIDE && *first > count - WIDTH) *first = count - WIDTH;
  if (kind == CARD_RUNS) place = t % (WIDTH / 4) * 4, b.step = t / (WIDTH / 4);
  else if (kind == CARD_ACROSS) place = t % WIDTH, b.step = t / WIDTH;
  else if (BY_HAND) place = t / LINES, b.step = t % LINES * 4;
  else place = t / AT_ONCE, b.step = t % AT_ONCE;
  b.left = (int)card_least(count - *first - place, WIDTH);
  b.to = b.step * PITCH + place;
  b.from = matrix + (*first + place) * across + b.step * along;
  return b;
}

/* The next `steps` steps, and then to those after them. `holds`: they are held where that is done BY_HAND. */
CARD_INLINE void OF(PASTE(take_, SIDE))(BRING *b, int stage, int steps, int kind, bool holds) {
  CARD_NEAR float *to = &OF(stage)[stage + b->to];
  if (kind == CARD_RUNS) {
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
  } else if (BY_HAND) {
    CARD_UNROLL
    for (int i = 0; i < HELD && b->step < steps; i++) {
      const char *from = b->from + i * (THREADS / LINES) * b->across;
      if (holds) b->held[i] = *(const card_run *)(const void *)from;
      CARD_UNROLL
      for (int c = 0; c < 4 && !holds; c++)
        card_copy_one(to + c * PITCH + i * (THREADS / LINES), from + c * b->along);
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

/* What take holds, of as many steps, into the stage that it was taken for. */
CARD_INLINE void OF(PASTE(put_, SIDE))(const BRING *b, int stage, int steps, int kind) {
  CARD_NEAR float *to = &OF(stage)[stage + b->to];
  if (!BY_HAND || kind == CARD_RUNS || b->step >= steps) return;
  CARD_UNROLL
  for (int i = 0; i < HELD; i++) {
    CARD_UNROLL
    for (int c = 0; c < 4; c++) to[c * PITCH + i * (THREADS / LINES)] = b->held[i][c];
  }
}
#undef BRING
#undef RUNS
#undef AT_ONCE
#undef LINES
#undef HELD
#undef SIDE
#undef WIDTH
#undef PITCH
