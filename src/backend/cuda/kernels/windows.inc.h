/* backend/cuda/kernels/windows.inc.h: windows of images come into shared memory as rows, or as columns, of a
 * tile's x. Included by tile.inc.h in place of bring.inc.h, where X_WINDOWS is defined; X_KIND is
 *   CARD_WINDOWS  a place is a window, a step of k an element of it
 *   CARD_TURNED   a place is an element of windows, a step of k a window
 * What lies outside an image is a zero, which takes part in the chain as any other number.
 *
 * Where a place lies is worked out once; steps are counted in three digits, so that nothing is divided on the
 * way. Elements of a window that follow one another mostly do so in the image, and threads take them side by
 * side. */
#define BRING    OF(bring_x)
#define AT_ONCE  8                              /* elements of a window that threads take side by side */
#define PLACES   (WIDTH * AT_ONCE / THREADS)    /* windows of a thread */
#define EVERY    (THREADS / WIDTH)              /* windows from one of a thread's to the next, if turned */

typedef struct {
  const card_windows *w;
  const float *image;
  card_spot place[PLACES];   /* if turned, the first alone */
  card_digits digits;        /* of the next step */
  int to;                    /* in the stage */
  int step;                  /* of the first copy */
  int left;                  /* places that the matrix has from the first copy's on */
} BRING;

CARD_INLINE BRING OF(begin_x)(const card_matmul_arguments *a, int64_t first, int kind) {
  const card_windows *w = &a->windows;
  BRING b = { .w = w, .image = (const float *)(const void *)a->x.data };
  int t = card_thread(), turned = kind == CARD_TURNED;
  int place = turned ? t % WIDTH : t / AT_ONCE;
  b.step = turned ? t / WIDTH : t % AT_ONCE;
  b.to = b.step * PITCH + place;
  b.left = (int)card_least(a->m - first - place, WIDTH);
  b.digits = turned ? card_digits_of(b.step, w->across, w->down)
                    : card_digits_of(b.step, w->channels, w->columns);
  if (turned) {
    b.place[0] = card_spot_of_element(w, card_digits_of((int)first + place, w->channels, w->columns));
    return b;
  }
  CARD_UNROLL
  for (int i = 0; i < PLACES; i++) {
    int number = (int)first + place + i * (THREADS / AT_ONCE);
    b.place[i] = card_spot_of_window(w, card_digits_of(number, w->across, w->down));
  }
  return b;
}

/* Starts the copies of the next `steps` steps; the next call continues after them. */
CARD_INLINE void OF(take_x)(BRING *b, int stage, int steps, int kind) {
  CARD_NEAR float *to = &OF(stage)[stage + b->to];
  if (kind == CARD_TURNED) {
    CARD_UNROLL
    for (int step = 0; step < DEPTH; step += EVERY) {
      if (b->step + step < steps && b->left > 0)
        card_bring_spot(to + step * PITCH, b->w, b->image, b->place[0], card_spot_of_window(b->w, b->digits));
      card_digits_add(&b->digits, EVERY, b->w->across, b->w->down);
    }
    return;
  }
  CARD_UNROLL
  for (int step = 0; step < DEPTH; step += AT_ONCE) {
    card_spot element = card_spot_of_element(b->w, b->digits);
    CARD_UNROLL
    for (int i = 0; i < PLACES; i++) {
      int place = i * (THREADS / AT_ONCE);
      if (b->step + step < steps && place < b->left)
        card_bring_spot(to + step * PITCH + place, b->w, b->image, b->place[i], element);
    }
    card_digits_add(&b->digits, AT_ONCE, b->w->channels, b->w->columns);
  }
}
#undef BRING
#undef AT_ONCE
#undef PLACES
#undef EVERY
#undef SIDE
#undef WIDTH
#undef PITCH
#undef STEPS
#undef AS_LINES
#undef SWIZZLE
