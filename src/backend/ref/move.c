/* backend/ref/move.c: operations that copy elements to other positions.
 *
 * Nothing here interprets an element, so every dtype works, and positions without an element are
 * zero bits. */
#include "backend/ref/internal.h"

void tn_ref_set(const tn_kernel_call *call, const tn_view *out, tn_element element) {
  for (tn_index i = tn_index_over(call, out); i.inside; tn_index_next(&i)) tn_ref_store(out, i.at, element);
}

void tn_ref_move(const tn_kernel_call *call, const tn_view *out, const tn_view *x) {
  tn_index from = tn_index_over(call, x);
  for (tn_index to = tn_index_over(call, out); to.inside; tn_index_next(&to), tn_index_next(&from))
    tn_ref_store(out, to.at, tn_ref_load(x, from.at));
}

/* Of an empty view it is where it starts, which may be nowhere: NULL. */
void *tn_ref_after(const tn_view *view) {
  int64_t bytes = tn_view_count(view) * (int64_t)tn_dtype_bytes(view->dtype);
  return bytes ? (char *)view->data + bytes : view->data;
}

/* ---- reshape, transpose, broadcast_to, slice ---- */

/* Where strides cannot express the view, only the shape changes: row-major order is what stays. */
bool tn_ref_copy(const tn_kernel_call *call) {
  tn_view x = call->in[0];
  tn_shape shape = tn_view_shape(call->out);
  tn_op_view_data(call->op, call->attrs, &shape, &call->in[0], &x);
  tn_ref_move(call, call->out, &x);
  return true;
}

/* ---- pad ---- */
/* Element i of an axis lands at low + i * (1 + step): `step` zeros are between neighbours. */
bool tn_ref_pad(const tn_kernel_call *call) {
  const tn_view *x = &call->in[0];
  const tn_attrs *attrs = call->attrs;
  tn_ref_set(call, call->out, tn_element_of_i64(0, call->out->dtype));
  for (tn_index i = tn_index_over(call, x); i.inside; tn_index_next(&i)) {
    int64_t to[TN_RANK_LIMIT];
    for (int axis = 0; axis < x->rank; axis++)
      to[axis] = attrs->low[axis] + i.at[axis] * (1 + attrs->step[axis]);
    tn_ref_store(call->out, to, tn_ref_load(x, i.at));
  }
  return true;
}

/* ---- concat ---- */
bool tn_ref_concat(const tn_kernel_call *call) {
  int axis = call->attrs->axis;
  int64_t start = 0;
  for (int k = 0; k < call->count; k++) {
    const tn_view *x = &call->in[k];
    tn_view part = tn_view_slice(call->out, axis, start, 1, x->dim[axis]);
    tn_ref_move(call, &part, x);
    start += x->dim[axis];
  }
  return true;
}

/* ---- gather ---- */
/* out[before..., i..., after...] = x[before..., index[i...], after...] */
bool tn_ref_gather(const tn_kernel_call *call) {
  const tn_view *x = &call->in[0], *index = &call->in[1];
  int axis = call->attrs->axis;
  if (!tn_ref_check_index(call, index, x->dim[axis], axis)) return false;
  for (tn_index i = tn_index_over(call, call->out); i.inside; tn_index_next(&i)) {
    int64_t from[TN_RANK_LIMIT];
    for (int a = 0; a < axis; a++) from[a] = i.at[a];
    from[axis] = tn_element_to_i64(tn_ref_load(index, i.at + axis), index->dtype);
    for (int a = axis + 1; a < x->rank; a++) from[a] = i.at[a - 1 + index->rank];
    tn_ref_store(call->out, i.at, tn_ref_load(x, from));
  }
  return true;
}

/* ---- patches ---- */
/* x: [n, h, w, c], out: [n, oh, ow, kh * kw * c]. Place p of a window is row, column, channel:
 * p = (row * kw + column) * c + channel. */
bool tn_ref_patches(const tn_kernel_call *call) {
  const tn_view *x = &call->in[0], *out = call->out;
  const tn_attrs *attrs = call->attrs;
  int64_t height = x->dim[1], width = x->dim[2], channels = x->dim[3];
  for (tn_index i = tn_index_over(call, out); i.inside; tn_index_next(&i)) {
    int64_t row = i.at[3] / channels / attrs->window[1], column = i.at[3] / channels % attrs->window[1];
    int64_t h = i.at[1] * attrs->step[0] + row - attrs->low[0];
    int64_t w = i.at[2] * attrs->step[1] + column - attrs->low[1];
    bool outside = h < 0 || h >= height || w < 0 || w >= width;
    int64_t from[] = { i.at[0], h, w, i.at[3] % channels };
    tn_ref_store(out, i.at, outside ? tn_element_of_i64(0, out->dtype) : tn_ref_load(x, from));
  }
  return true;
}
