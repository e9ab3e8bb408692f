/* backend/layer_norm.h: how the back ends see the result of layer_norm_grad. */
#ifndef TN_BACKEND_LAYER_NORM_H
#define TN_BACKEND_LAYER_NORM_H

#include "backend/backend.h"

/* The parts of the result, one after the other. For x: [..., n] they are [..., n], [n], [n], [...]. */
typedef enum {
  TN_LAYER_NORM_X,
  TN_LAYER_NORM_GAMMA,
  TN_LAYER_NORM_BETA,
  TN_LAYER_NORM_MEAN,
  TN_LAYER_NORM_PARTS
} tn_layer_norm_part;

/* Also where they have no elements. */
static inline int64_t tn_layer_norm_rows(const tn_view *x) {
  tn_shape rows = tn_shape_of(x->dim, x->rank - 1);
  return tn_shape_count(&rows);
}

/* Of the result of layer_norm_grad one part. The call may have no memory yet. */
static inline tn_view tn_layer_norm_grad_of(const tn_kernel_call *call, tn_layer_norm_part part) {
  const tn_view *x = &call->in[0];
  int64_t rows = tn_layer_norm_rows(x), n = x->dim[x->rank - 1], step = call->out->stride[0];
  const int64_t begin[] = { 0, rows * n, rows * n + n, rows * n + 2 * n };
  const tn_shape shapes[] = { tn_view_shape(x), tn_shape_make(1, n), tn_shape_make(1, n),
                              tn_shape_of(x->dim, x->rank - 1) };
  char *data = call->out->data;
  if (data) data += begin[part] * step * (int64_t)tn_dtype_bytes(call->out->dtype);
  tn_view view = tn_view_make(data, call->out->dtype, &shapes[part]);
  for (int axis = 0; axis < view.rank; axis++) view.stride[axis] *= step;
  return view;
}
#endif
