/* backend/ref/internal.h: shared by the reference kernels.
 *
 * A kernel here is a loop over coordinates. tn_index goes through the
 * coordinates of a shape in row-major order, the last axis fastest; an element
 * is read or written by its coordinates, whatever the strides are. Arithmetic
 * is tn_scalar_* of op/scalar.h. Nothing else is needed, and nothing is
 * done for speed. */
#ifndef TN_BACKEND_REF_INTERNAL_H
#define TN_BACKEND_REF_INTERNAL_H

#include "backend/backend.h"
#include "op/scalar.h"

/* The kernels that ops.def names. */
#define TN_OP(id, ...) __VA_ARGS__
#define TN_KERNEL(ref, cpu, small, cuda) ref
#define REF(name) bool tn_ref_##name(const tn_kernel_call *call);
#define NO_KERNEL
#include "op/ops.def"

/* for (tn_index i = tn_index_over(call, view); i.inside; tn_index_next(&i)) ... i.at ...
 * A stop ends it early; the result of the kernel is then invalid (backend.h). */
typedef struct {
  tn_stop *stop;
  uint32_t rounds;             /* so far */
  bool inside;
  int32_t rank;
  int64_t dim[TN_RANK_LIMIT];
  int64_t at[TN_RANK_LIMIT];   /* the coordinates */
} tn_index;

/* Starts at the coordinates of element `number` in row-major order. */
static inline tn_index tn_index_from(const tn_kernel_call *call, const tn_view *view, int64_t number) {
  tn_index index = { .stop = call->stop, .inside = number < tn_view_count(view), .rank = view->rank };
  for (int axis = view->rank - 1; index.inside && axis >= 0; axis--) {
    index.at[axis] = number % view->dim[axis];
    number /= view->dim[axis];
  }
  for (int axis = 0; axis < view->rank; axis++) index.dim[axis] = view->dim[axis];
  return index;
}

static inline tn_index tn_index_over(const tn_kernel_call *call, const tn_view *view) {
  return tn_index_from(call, view, 0);
}

/* Whether a loop that has done so many rounds ends here. */
static inline bool tn_ref_stopped(tn_stop *stop, int64_t rounds) {
  return rounds % 256 == 255 && tn_stop_asked(stop);
}

/* One further. An index of a scalar, which has no axis, ends after one element. */
static inline void tn_index_next(tn_index *index) {
  index->inside = !tn_ref_stopped(index->stop, index->rounds++);
  for (int axis = index->rank - 1; axis >= 0; axis--) {
    if (++index->at[axis] < index->dim[axis]) return;
    index->at[axis] = 0;
  }
  index->inside = false;
}

static inline void *tn_ref_place(const tn_view *view, const int64_t *at) {
  int64_t offset = 0;
  for (int axis = 0; axis < view->rank; axis++) offset += at[axis] * view->stride[axis];
  return (char *)view->data + offset * (int64_t)tn_dtype_bytes(view->dtype);
}

static inline tn_element tn_ref_load(const tn_view *view, const int64_t *at) {
  return tn_element_load(tn_ref_place(view, at), view->dtype);
}

static inline void tn_ref_store(const tn_view *view, const int64_t *at, tn_element element) {
  tn_element_store(tn_ref_place(view, at), view->dtype, element);
}

/* out = x, element by element in row-major order; only the counts must agree. Safe when both
 * are the same view. */
void tn_ref_move(const tn_kernel_call *call, const tn_view *out, const tn_view *x);
void tn_ref_set(const tn_kernel_call *call, const tn_view *out, tn_element element);

/* x seen as rows that run along some of its axes: `along` has those axes and `kept` the others,
 * both in their order. */
void tn_ref_split(const tn_view *x, const int32_t *axes, int count, tn_view *kept, tn_view *along);
/* The row at these coordinates of `kept`: `along`, starting there. */
tn_view tn_ref_row(const tn_view *kept, const tn_view *along, const int64_t *at);

/* The sum in the order of docs/numerics.md, over all elements of x in row-major order. */
tn_element tn_ref_sum_of(const tn_kernel_call *call, const tn_view *x);
/* That sum, divided once by the number of elements. */
tn_element tn_ref_mean_of(const tn_kernel_call *call, const tn_view *x);
/* The largest: NaN wins, -0 is below +0. x is not empty. */
tn_element tn_ref_max_of(const tn_kernel_call *call, const tn_view *x);

/* Fills in the fault; returns false. */
bool tn_ref_fail(const tn_kernel_call *call, tn_fault fault);
/* Every element of `index` must be in 0 .. limit-1; the first that is not is the fault. A stop is
 * one too: elements that were not checked may have any value. */
bool tn_ref_check_index(const tn_kernel_call *call, const tn_view *index, int64_t limit, int axis);

/* What follows the elements of a contiguous view in memory. */
void *tn_ref_after(const tn_view *view);

/* Bytes of scratch that these use. */
size_t tn_ref_row_update_scratch(const tn_view *in);
size_t tn_ref_layer_norm_scratch(const tn_view *in);
size_t tn_ref_layer_norm_grad_scratch(const tn_view *in);
size_t tn_ref_cross_entropy_scratch(const tn_view *in);
size_t tn_ref_attention_scratch(const tn_view *in, const tn_attrs *attrs);
size_t tn_ref_attention_grad_scratch(const tn_view *in, const tn_attrs *attrs);

/* The softmax of one row, which is not empty; `out` may be x. */
void tn_ref_softmax_row(const tn_kernel_call *call, const tn_view *x, const tn_view *out);
#endif
