/* backend/cpu/iterator.h: iterates over several views of one shape together.
 *
 * An iterator holds the axes of a shape and, for each view, the strides along them.
 * Axes that are contiguous in every view are merged, so that a contiguous tensor
 * of any rank becomes one axis, and most kernels see only one, two or three
 * axes. An iterator can start anywhere, which is how threads share one. */
#ifndef TN_BACKEND_CPU_ITERATOR_H
#define TN_BACKEND_CPU_ITERATOR_H

#include "tensor/tensor.h"

/* ---- views, without a call: small tensors feel each one ---- */
static inline size_t tn_cpu_bytes(tn_dtype dtype) {
#define TN_CPU_BYTES(id, name, type, bytes, class) bytes,
  static const uint8_t size[TN_DTYPE_COUNT] = { TN_DTYPES(TN_CPU_BYTES) };
#undef TN_CPU_BYTES
  return size[dtype];
}

static inline int64_t tn_cpu_elements(const tn_view *view) {
  int64_t count = 1;
  for (int a = 0; a < view->rank; a++) count *= view->dim[a];
  return count;
}

/* Row-major without gaps; axes of length 1 do not matter. */
static inline bool tn_cpu_is_flat(const tn_view *view) {
  int64_t expected = 1;
  for (int a = view->rank - 1; a >= 0; a--) {
    if (view->dim[a] == 1) continue;
    if (view->stride[a] != expected) return false;
    expected *= view->dim[a];
  }
  return true;
}

/* The axes begin..end-1 of a view, as a view of their own. */
static inline tn_view tn_cpu_axes(const tn_view *view, int begin, int end) {
  tn_view part = { .data = view->data, .dtype = view->dtype, .rank = end - begin };
  for (int a = begin; a < end; a++)
    part.dim[a - begin] = view->dim[a], part.stride[a - begin] = view->stride[a];
  return part;
}

/* ---- iterators ---- */
#ifndef TN_CPU_VIEW_LIMIT
#define TN_CPU_VIEW_LIMIT                                                                                    \
  4 /* views of one iterator; a file that needs more says so before it includes this one */
#endif

typedef struct {
  int rank, views;
  int64_t dim[TN_RANK_LIMIT];
  int64_t stride[TN_CPU_VIEW_LIMIT][TN_RANK_LIMIT]; /* in elements */
  int64_t at[TN_RANK_LIMIT];                        /* the coordinates now */
  int64_t offset[TN_CPU_VIEW_LIMIT];                /* of each view now, in elements */
} tn_cpu_iterator;

/* An iterator over the axes of `shape_of` with no views yet. */
static inline void tn_cpu_iterator_init(tn_cpu_iterator *it, const tn_view *shape_of) {
  it->rank = shape_of->rank;
  it->views = 0;
  for (int a = 0; a < it->rank; a++) it->dim[a] = shape_of->dim[a];
}

/* Adds a view, whose axes are matched from the right and stretch where their length is 1. */
static inline void tn_cpu_iterator_add(tn_cpu_iterator *it, const tn_view *view) {
  int64_t *stride = it->stride[it->views++];
  int missing = it->rank - view->rank;
  for (int a = 0; a < it->rank; a++) {
    bool repeats = a < missing || view->dim[a - missing] == 1;
    stride[a] = repeats ? 0 : view->stride[a - missing];
  }
}

/* Whether axis a + 1 continues where axis a steps, in every view. */
static inline bool tn_cpu_iterator_joins(const tn_cpu_iterator *it, int a, int b) {
  for (int v = 0; v < it->views; v++)
    if (it->stride[v][a] != it->stride[v][b] * it->dim[b]) return false;
  return true;
}

static inline void tn_cpu_iterator_put(tn_cpu_iterator *it, int to, int from) {
  if (to == from) return;
  it->dim[to] = it->dim[from];
  for (int v = 0; v < it->views; v++) it->stride[v][to] = it->stride[v][from];
}

/* Drops axes of length 1 and merges neighbours; no axis may have length 0. Afterwards there is
 * at least one axis: a single element is an axis of length 1 with stride 1. */
static inline void tn_cpu_iterator_merge(tn_cpu_iterator *it) {
  int last = -1;
  for (int a = 0; a < it->rank; a++) {
    if (it->dim[a] == 1) continue;
    if (last >= 0 && tn_cpu_iterator_joins(it, last, a)) {
      int64_t dim = it->dim[last] * it->dim[a];
      tn_cpu_iterator_put(it, last, a);
      it->dim[last] = dim;
    } else {
      tn_cpu_iterator_put(it, ++last, a);
    }
  }
  if (last < 0) {
    last = 0;
    it->dim[0] = 1;
    for (int v = 0; v < it->views; v++) it->stride[v][0] = 1;
  }
  it->rank = last + 1;
}

static inline void tn_cpu_iterator_one(tn_cpu_iterator *it, const tn_view *a) {
  tn_cpu_iterator_init(it, a);
  tn_cpu_iterator_add(it, a);
  tn_cpu_iterator_merge(it);
}

/* Two views, over the shape of the first. */
static inline void tn_cpu_iterator_two(tn_cpu_iterator *it, const tn_view *a, const tn_view *b) {
  tn_cpu_iterator_init(it, a);
  tn_cpu_iterator_add(it, a);
  tn_cpu_iterator_add(it, b);
  tn_cpu_iterator_merge(it);
}

/* The axes around axes begin..end-1 of a contiguous view, which hold *n elements, `*inner` apart: the
 * iterator gets a first view that passes those axes over. */
static inline void tn_cpu_iterator_around(tn_cpu_iterator *it, const tn_view *view, int begin, int end,
                                          int64_t *n, int64_t *inner) {
  int64_t outer = 1;
  *n = *inner = 1;
  for (int a = 0; a < begin; a++) outer *= view->dim[a];
  for (int a = begin; a < end; a++) *n *= view->dim[a];
  for (int a = end; a < view->rank; a++) *inner *= view->dim[a];
  bool two = outer != 1 && *inner != 1;
  it->rank = two ? 2 : 1;
  it->views = 1;
  it->dim[0] = outer != 1 ? outer : *inner;
  it->stride[0][0] = outer != 1 ? *n * *inner : 1;
  it->dim[1] = *inner;
  it->stride[0][1] = 1;
}

/* A copy with a place of its own; views that are not there are not copied. */
static inline void tn_cpu_iterator_copy(tn_cpu_iterator *to, const tn_cpu_iterator *from) {
  to->rank = from->rank;
  to->views = from->views;
  for (int a = 0; a < from->rank; a++) {
    to->dim[a] = from->dim[a];
    for (int v = 0; v < from->views; v++) to->stride[v][a] = from->stride[v][a];
  }
}

/* Goes to the index-th place, in row-major order over the first `rank` axes. */
static inline void tn_cpu_iterator_seek(tn_cpu_iterator *it, int rank, int64_t index) {
  for (int v = 0; v < it->views; v++) it->offset[v] = 0;
  for (int a = rank - 1; a >= 0; a--) {
    it->at[a] = index % it->dim[a];
    index /= it->dim[a];
    for (int v = 0; v < it->views; v++) it->offset[v] += it->at[a] * it->stride[v][a];
  }
}

/* One place further over the first `rank` axes; after the last place it is back at the first. */
static inline void tn_cpu_iterator_next(tn_cpu_iterator *it, int rank) {
  for (int a = rank - 1; a >= 0; a--) {
    for (int v = 0; v < it->views; v++) it->offset[v] += it->stride[v][a];
    if (++it->at[a] < it->dim[a]) return;
    it->at[a] = 0;
    for (int v = 0; v < it->views; v++) it->offset[v] -= it->stride[v][a] * it->dim[a];
  }
}

/* Places over axes begin..end-1. */
static inline int64_t tn_cpu_iterator_count(const tn_cpu_iterator *it, int begin, int end) {
  int64_t count = 1;
  for (int a = begin; a < end; a++) count *= it->dim[a];
  return count;
}
#endif
