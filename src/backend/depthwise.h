/* backend/depthwise.h: one element of a depth-wise convolution, and of each of its gradients, for every dtype
 * and any strides. This is their definition: ref has these functions in loops, and cpu where it has nothing
 * faster. */
#ifndef TN_BACKEND_DEPTHWISE_H
#define TN_BACKEND_DEPTHWISE_H

#include "backend/backend.h"
#include "op/scalar.h"

static inline tn_element tn_depthwise_load(const tn_view *view, const int64_t at[4]) {
  int64_t place = 0;
  for (int axis = 0; axis < 4; axis++) place += at[axis] * view->stride[axis];
  const char *data = view->data;
  return tn_element_load(data + place * (int64_t)tn_dtype_bytes(view->dtype), view->dtype);
}

/* Of the window at `window` (its image, row and column) the element (row, column): 0 outside the image. */
static inline tn_element tn_depthwise_pixel(const tn_attrs *attrs, const tn_view *image,
                                            const int64_t *window, int64_t row, int64_t column,
                                            int64_t channel) {
  int64_t h = window[1] * attrs->step[0] + row - attrs->low[0];
  int64_t w = window[2] * attrs->step[1] + column - attrs->low[1];
  bool inside = h >= 0 && h < image->dim[1] && w >= 0 && w < image->dim[2];
  if (!inside) return tn_element_of_i64(0, image->dtype);
  return tn_depthwise_load(image, (const int64_t[]){ window[0], h, w, channel });
}

/* x, w -> [n, oh, ow, o]: over window rows, then columns */
static inline tn_element tn_depthwise_at(const tn_kernel_call *call, const int64_t at[4]) {
  const tn_view *x = &call->in[0], *w = &call->in[1];
  const tn_attrs *attrs = call->attrs;
  tn_ternary fma = tn_scalar_fma(x->dtype);
  int64_t channel = at[3] / (call->out->dim[3] / x->dim[3]);
  tn_element sum = tn_element_of_i64(0, x->dtype);
  for (int64_t row = 0; row < attrs->window[0]; row++)
    for (int64_t column = 0; column < attrs->window[1]; column++) {
      tn_element weight = tn_depthwise_load(w, (const int64_t[]){ row, column, 0, at[3] });
      sum = fma(tn_depthwise_pixel(attrs, x, at, row, column, channel), weight, sum);
    }
  return sum;
}

/* Of one window, what its (row, column) adds to a pixel: over the outputs of the channel. */
static inline tn_element tn_depthwise_share(const tn_kernel_call *call, const int64_t *window, int64_t row,
                                            int64_t column, int64_t channel) {
  const tn_view *g = &call->in[0], *w = &call->in[1];
  tn_ternary fma = tn_scalar_fma(g->dtype);
  int64_t each = g->dim[3] / call->out->dim[3];
  tn_element sum = tn_element_of_i64(0, g->dtype);
  for (int64_t o = channel * each; o < (channel + 1) * each; o++) {
    tn_element slope = tn_depthwise_load(g, (const int64_t[]){ window[0], window[1], window[2], o });
    sum = fma(slope, tn_depthwise_load(w, (const int64_t[]){ row, column, 0, o }), sum);
  }
  return sum;
}

/* g, w -> [n, h, w, c]: over the windows that cover the pixel, by row, then column */
static inline tn_element tn_depthwise_image_at(const tn_kernel_call *call, const int64_t at[4]) {
  const tn_view *g = &call->in[0];
  const tn_attrs *attrs = call->attrs;
  tn_binary add = tn_scalar_binary(TN_OP_ADD, g->dtype);
  tn_element sum = tn_element_of_i64(0, g->dtype);
  for (int64_t y = 0; y < g->dim[1]; y++) {
    int64_t row = at[1] + attrs->low[0] - y * attrs->step[0];
    for (int64_t x = 0; row >= 0 && row < attrs->window[0] && x < g->dim[2]; x++) {
      int64_t column = at[2] + attrs->low[1] - x * attrs->step[1], window[] = { at[0], y, x };
      if (column < 0 || column >= attrs->window[1]) continue;
      sum = add(sum, tn_depthwise_share(call, window, row, column, at[3]));
    }
  }
  return sum;
}

/* x, g -> [kh, kw, 1, o]: over images, then rows, then columns of g */
static inline tn_element tn_depthwise_weights_at(const tn_kernel_call *call, const int64_t at[4]) {
  const tn_view *x = &call->in[0], *g = &call->in[1];
  tn_ternary fma = tn_scalar_fma(x->dtype);
  int64_t channel = at[3] / (g->dim[3] / x->dim[3]);
  tn_element sum = tn_element_of_i64(0, x->dtype);
  for (int64_t image = 0; image < g->dim[0] && !tn_stop_asked(call->stop); image++)
    for (int64_t row = 0; row < g->dim[1]; row++)
      for (int64_t column = 0; column < g->dim[2]; column++) {
        int64_t window[] = { image, row, column, at[3] };
        tn_element pixel = tn_depthwise_pixel(call->attrs, x, window, at[0], at[1], channel);
        sum = fma(pixel, tn_depthwise_load(g, window), sum);
      }
  return sum;
}
#endif
