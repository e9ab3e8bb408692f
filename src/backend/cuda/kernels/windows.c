/* backend/cuda/kernels/windows.c: products of windows that are read in their images: convolutions, and the
 * gradients of their weights. */
#include "backend/cuda/kernels/product.h"

#if defined(__NVPTX__)
BOUND("any64x64_windows", 2, 2, 4)
BOUND("any32x32_windows", 2, 2, 4)
BOUND("any32x32_turned", 2, 2, 4)
BOUND("any16x32_turned", 1, 4, 4)
#endif

/* A number in digits: below `low_count`, below `middle_count`, and the rest. */
typedef struct {
  int low, middle, high;
} card_digits;

CARD_INLINE card_digits card_digits_of(int number, int low_count, int middle_count) {
  int rest = number / low_count;
  return (card_digits){ number - rest * low_count, rest % middle_count, rest / middle_count };
}

CARD_INLINE void card_digits_add(card_digits *d, int more, int low_count, int middle_count) {
  d->low += more;
  CARD_ROLLED
  while (d->low >= low_count) {
    d->low -= low_count;
    if (++d->middle == middle_count) d->middle = 0, d->high++;
  }
}

/* Where something is in the images: a window's first element, or an element of a window from that one on. The
 * sum of the two is an element of an image, or outside it. */
typedef struct {
  int row, column;   /* of its image */
  int at;            /* elements from the first of all images */
} card_spot;

/* Digits: the window of its line, the line, the image. */
CARD_INLINE card_spot card_spot_of_window(const card_windows *w, card_digits d) {
  int row = d.middle * w->step[0] - w->low[0], column = d.low * w->step[1] - w->low[1];
  return (card_spot){ row, column, ((d.high * w->height + row) * w->width + column) * w->channels };
}

/* Digits: the channel, the column of the window, its row. */
CARD_INLINE card_spot card_spot_of_element(const card_windows *w, card_digits d) {
  return (card_spot){ d.high, d.middle, (d.high * w->width + d.middle) * w->channels + d.low };
}

CARD_INLINE void card_bring_spot(CARD_NEAR float *to, const card_windows *w, const float *image, card_spot a,
                                 card_spot b) {
  bool inside = (uint32_t)(a.row + b.row) < (uint32_t)w->height &&
                (uint32_t)(a.column + b.column) < (uint32_t)w->width;
  if (inside) card_copy_one(to, (const char *)(image + (a.at + b.at)));
  else *to = 0;
}

#define X_WINDOWS
#define INSIDE 0
#define X_STEPS 0
#define Y_STEPS 0

#define TILE   any64x64
#define WAY    _windows
#define X_KIND CARD_WINDOWS
#define Y_KIND a->y_kind
#include "backend/cuda/kernels/tile.inc.h"
#undef TILE
#define TILE   any32x32
#define WAY    _windows
#define X_KIND CARD_WINDOWS
#define Y_KIND a->y_kind
#include "backend/cuda/kernels/tile.inc.h"
#define WAY    _turned
#define X_KIND CARD_TURNED
#define Y_KIND a->y_kind
#include "backend/cuda/kernels/tile.inc.h"
#undef TILE
#define TILE   any16x32
#define WAY    _turned
#define X_KIND CARD_TURNED
#define Y_KIND a->y_kind
#include "backend/cuda/kernels/tile.inc.h"
