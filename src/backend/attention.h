/* backend/attention.h: how the back ends see the operands of attention. */
#ifndef TN_BACKEND_ATTENTION_H
#define TN_BACKEND_ATTENTION_H

#include "backend/backend.h"

/* [..., T, D] seen as [..., heads, T, D / heads]; one head needs no axis of its own. */
static inline tn_view tn_attention_heads(const tn_view *x, const tn_attrs *attrs) {
  tn_view view = *x;
  int rank = x->rank;
  int64_t heads = (int64_t)attrs->index, width = x->dim[rank - 1] / heads;
  if (heads == 1) return view;
  view.rank = rank + 1;
  view.dim[rank] = width, view.stride[rank] = x->stride[rank - 1];
  view.dim[rank - 1] = x->dim[rank - 2], view.stride[rank - 1] = x->stride[rank - 2];
  view.dim[rank - 2] = heads, view.stride[rank - 2] = width * x->stride[rank - 1];
  return view;
}

/* Of the result of attention_grad the part that belongs to operand 0, 1 or 2. The call may have no memory
 * yet. */
static inline tn_view tn_attention_grad_of(const tn_kernel_call *call, int operand) {
  int64_t begin = 0, step = call->out->stride[0];
  for (int i = 0; i < operand; i++) begin += tn_view_count(&call->in[i]);
  tn_shape shape = tn_view_shape(&call->in[operand]);
  char *data = call->out->data;
  if (data) data += begin * step * (int64_t)tn_dtype_bytes(call->out->dtype);
  tn_view grad = tn_view_make(data, call->out->dtype, &shape);
  for (int axis = 0; axis < grad.rank; axis++) grad.stride[axis] *= step;
  return grad;
}
#endif
