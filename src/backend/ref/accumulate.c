/* backend/ref/accumulate.c: scatter_add, row_update and fold: several elements are added to one, in
 * order.
 *
 * Which of two additions comes first changes the last bit, so the order is part
 * of what these operations are: the order of the index, or of the windows. */
#include "backend/ref/internal.h"

/* ---- scatter_add ---- */
/* sum[before..., index[i...], after...] += y[before..., i..., after...], in the order of i.
 * All of y's elements for one place of `sum` come in that order when y is read row by row,
 * because the axes before and after are equal for all of them. */
static void add_slices(const tn_kernel_call *call, const tn_view *sum, const tn_view *index,
                       const tn_view *y, int axis) {
  tn_binary add = tn_scalar_binary(TN_OP_ADD, sum->dtype);
  for (tn_index i = tn_index_over(call, y); i.inside; tn_index_next(&i)) {
    int64_t to[TN_RANK_LIMIT];
    for (int a = 0; a < axis; a++) to[a] = i.at[a];
    to[axis] = tn_element_to_i64(tn_ref_load(index, i.at + axis), index->dtype);
    for (int a = axis + 1; a < sum->rank; a++) to[a] = i.at[a - 1 + index->rank];
    tn_ref_store(sum, to, add(tn_ref_load(sum, to), tn_ref_load(y, i.at)));
  }
}

bool tn_ref_scatter_add(const tn_kernel_call *call) {
  const tn_view *x = &call->in[0], *index = &call->in[1], *y = &call->in[2];
  int axis = call->attrs->axis;
  if (!tn_ref_check_index(call, index, x->dim[axis], axis)) return false;
  tn_ref_move(call, call->out, x);
  add_slices(call, call->out, index, y, axis);
  return true;
}

/* ---- row_update ---- */
size_t tn_ref_row_update_scratch(const tn_view *in) {
  return (size_t)tn_view_count(&in[0]) * tn_dtype_bytes(in[0].dtype) + (size_t)in[0].dim[0];
}

/* x[r] - scale * sum of the slices of row r, for the rows that `index` names; a row that it does
 * not name stays as it is, even where scale * 0 would be NaN. In scratch: the sums, as x, and for
 * each row whether it is named. */
bool tn_ref_row_update(const tn_kernel_call *call) {
  const tn_view *x = &call->in[0], *index = &call->in[1], *y = &call->in[2], *scale = &call->in[3];
  if (!tn_ref_check_index(call, index, x->dim[0], 0)) return false;

  tn_shape shape = tn_view_shape(x), rows = { .rank = 1, .dim = { x->dim[0] } };
  tn_view sums = tn_view_make(call->scratch, x->dtype, &shape);
  tn_ref_set(call, &sums, tn_element_of_i64(0, x->dtype));
  add_slices(call, &sums, index, y, 0);

  tn_view named = tn_view_make(tn_ref_after(&sums), TN_BOOL, &rows);
  tn_ref_set(call, &named, tn_element_of_i64(false, TN_BOOL));
  for (tn_index i = tn_index_over(call, index); i.inside; tn_index_next(&i)) {
    int64_t row = tn_element_to_i64(tn_ref_load(index, i.at), index->dtype);
    tn_ref_store(&named, &row, tn_element_of_i64(true, TN_BOOL));
  }

  tn_binary sub = tn_scalar_binary(TN_OP_SUB, x->dtype), mul = tn_scalar_binary(TN_OP_MUL, x->dtype);
  tn_element factor = tn_ref_load(scale, (int64_t[TN_RANK_LIMIT]){ 0 });
  for (tn_index i = tn_index_over(call, x); i.inside; tn_index_next(&i)) {
    tn_element element = tn_ref_load(x, i.at);
    if (tn_ref_load(&named, i.at).boolean) element = sub(element, mul(factor, tn_ref_load(&sums, i.at)));
    tn_ref_store(call->out, i.at, element);
  }
  return true;
}

/* ---- fold ---- */
/* x: [n, oh, ow, kh * kw * c], out: [n, h, w, c]. Reading x in row-major order takes window after
 * window, by window row and then window column; each gives an element at most one place. What a
 * window has outside the image is dropped. */
bool tn_ref_fold(const tn_kernel_call *call) {
  const tn_view *x = &call->in[0], *out = call->out;
  const tn_attrs *attrs = call->attrs;
  int64_t height = out->dim[1], width = out->dim[2], channels = out->dim[3];
  tn_binary add = tn_scalar_binary(TN_OP_ADD, out->dtype);
  tn_ref_set(call, out, tn_element_of_i64(0, out->dtype));
  for (tn_index i = tn_index_over(call, x); i.inside; tn_index_next(&i)) {
    int64_t row = i.at[3] / channels / attrs->window[1], column = i.at[3] / channels % attrs->window[1];
    int64_t h = i.at[1] * attrs->step[0] + row - attrs->low[0];
    int64_t w = i.at[2] * attrs->step[1] + column - attrs->low[1];
    int64_t to[] = { i.at[0], h, w, i.at[3] % channels };
    if (h < 0 || h >= height || w < 0 || w >= width) continue;
    tn_ref_store(out, to, add(tn_ref_load(out, to), tn_ref_load(x, i.at)));
  }
  return true;
}
