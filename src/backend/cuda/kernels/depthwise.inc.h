/* backend/cuda/kernels/depthwise.inc.h: the chains of docs/numerics.md. Included by depthwise.c with TYPE and
 * OF(name). */

static inline TYPE OF(number_at)(const card_operand *x, int64_t a, int64_t b, int64_t c, int64_t d) {
  return *(const TYPE *)(const void *)place_at(x, a, b, c, d);
}

/* The element (row, column) of the window at (y, x) of an image: 0 outside the image. */
static inline TYPE OF(pixel_of)(const card_depthwise_arguments *a, int64_t image, int64_t y, int64_t x,
                                int64_t row, int64_t column, int64_t channel) {
  int64_t h = y * a->step[0] + row - a->low[0], w = x * a->step[1] + column - a->low[1];
  bool inside = h >= 0 && h < a->image_dim[1] && w >= 0 && w < a->image_dim[2];
  return inside ? OF(number_at)(&a->image, image, h, w, channel) : 0;
}

CARD_KERNEL(OF(depthwise), card_depthwise_arguments) {
  CARD_ROLLED
  for (int64_t n = card_number(); n < a->count; n += card_numbers()) {
    card_corner to = corner_of(a->outputs_dim, n);
    int64_t channel = to.at[3] / a->each;
    TYPE sum = 0;
    CARD_ROLLED
    for (int64_t row = 0; row < a->window[0]; row++) {
      CARD_ROLLED
      for (int64_t column = 0; column < a->window[1]; column++)
        sum = OF(chain)(OF(pixel_of)(a, to.at[0], to.at[1], to.at[2], row, column, channel),
                        OF(number_at)(&a->weights, row, column, 0, to.at[3]), sum);
    }
    *(TYPE *)(void *)place_at(&a->outputs, to.at[0], to.at[1], to.at[2], to.at[3]) = OF(stored)(sum);
  }
}

/* What element (row, column) of the window at (y, x) adds to its pixel. */
static inline TYPE OF(share_of)(const card_depthwise_arguments *a, int64_t image, int64_t y, int64_t x,
                                int64_t row, int64_t column, int64_t channel) {
  TYPE sum = 0;
  CARD_ROLLED
  for (int64_t o = channel * a->each; o < (channel + 1) * a->each; o++)
    sum = OF(chain)(OF(number_at)(&a->outputs, image, y, x, o), OF(number_at)(&a->weights, row, column, 0, o),
                    sum);
  return sum;
}

CARD_KERNEL(OF(depthwise_image), card_depthwise_arguments) {
  CARD_ROLLED
  for (int64_t n = card_number(); n < a->count; n += card_numbers()) {
    card_corner to = corner_of(a->image_dim, n);
    int64_t h = to.at[1] + a->low[0], w = to.at[2] + a->low[1];
    int64_t first_y = h < a->window[0] ? 0 : (h - a->window[0]) / a->step[0] + 1;
    int64_t first_x = w < a->window[1] ? 0 : (w - a->window[1]) / a->step[1] + 1;
    TYPE sum = 0;
    CARD_ROLLED
    for (int64_t y = first_y; y * a->step[0] <= h && y < a->outputs_dim[1]; y++) {
      CARD_ROLLED
      for (int64_t x = first_x; x * a->step[1] <= w && x < a->outputs_dim[2]; x++)
        sum = OF(join)(CARD_ADD, sum,
                       OF(share_of)(a, to.at[0], y, x, h - y * a->step[0], w - x * a->step[1], to.at[3]));
    }
    *(TYPE *)(void *)place_at(&a->image, to.at[0], to.at[1], to.at[2], to.at[3]) = OF(stored)(sum);
  }
}

CARD_KERNEL(OF(depthwise_weights), card_depthwise_arguments) {
  const int64_t weights_dim[4] = { a->window[0], a->window[1], 1, a->outputs_dim[3] };
  CARD_ROLLED
  for (int64_t n = card_number(); n < a->count; n += card_numbers()) {
    card_corner to = corner_of(weights_dim, n);
    int64_t channel = to.at[3] / a->each;
    TYPE sum = 0;
    CARD_ROLLED
    for (int64_t image = 0; image < a->outputs_dim[0]; image++) {
      CARD_ROLLED
      for (int64_t y = 0; y < a->outputs_dim[1]; y++) {
        CARD_ROLLED
        for (int64_t x = 0; x < a->outputs_dim[2]; x++)
          sum = OF(chain)(OF(pixel_of)(a, image, y, x, to.at[0], to.at[1], channel),
                          OF(number_at)(&a->outputs, image, y, x, to.at[3]), sum);
      }
    }
    *(TYPE *)(void *)place_at(&a->weights, to.at[0], to.at[1], 0, to.at[3]) = OF(stored)(sum);
  }
}
