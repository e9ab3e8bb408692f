/* backend/cpu/create.c: tensors without operands: fill, iota, count. */
#include "backend/cpu/internal.h"
#include "backend/cpu/iterator.h"
#include "op/scalar.h"

/* A view of one element, repeated to the shape of `like`. */
static tn_view repeated(const tn_view *like, void *element) {
  tn_view view = *like;
  view.data = element;
  for (int a = 0; a < view.rank; a++) view.stride[a] = 0;
  return view;
}

bool tn_cpu_fill(const tn_kernel_call *call) {
  tn_element element = tn_element_of_f64(call->attrs->number, call->out->dtype);
  uint64_t bits = 0;
  tn_element_store(&bits, call->out->dtype, element);
  tn_view from = repeated(call->out, &bits);
  tn_cpu_move(call, call->out, &from);
  return true;
}

/* The numbers once, along the axis at place 0 of all others; the rest is a copy of that line. */
bool tn_cpu_iota(const tn_kernel_call *call) {
  const tn_view *out = call->out;
  int axis = call->attrs->axis;
  if (tn_view_count(out) == 0) return true;
  size_t bytes = tn_dtype_bytes(out->dtype);
  for (int64_t i = 0; i < out->dim[axis] && !tn_cpu_stopped(call, i); i++)
    tn_element_store((char *)out->data + i * out->stride[axis] * (int64_t)bytes, out->dtype,
                     tn_element_of_i64(i, out->dtype));
  /* Axis by axis, the existing part is repeated along the next one. */
  tn_view done = *out;
  for (int a = 0; a < out->rank; a++)
    if (a != axis) done.dim[a] = 1;
  for (int a = out->rank - 1; a >= 0; a--) {
    if (a == axis || out->dim[a] == 1) continue;
    tn_view to = done, from = done;
    to.dim[a] = from.dim[a] = out->dim[a] - 1;
    to.data = (char *)out->data + out->stride[a] * (int64_t)bytes;
    from.stride[a] = 0;
    tn_cpu_move(call, &to, &from);
    done.dim[a] = out->dim[a];
  }
  return true;
}

bool tn_cpu_count(const tn_kernel_call *call) {
  int64_t count = 1;
  for (int i = 0; i < call->attrs->axis_count; i++) count *= call->in[0].dim[call->attrs->axes[i]];
  tn_element_store(call->out->data, call->out->dtype, tn_element_of_i64(count, call->out->dtype));
  return true;
}
