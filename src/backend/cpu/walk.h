/* backend/cpu/walk.h: going through several views of one shape together.
 *
 * A walk holds the axes of a shape and, for each view, the strides along them.
 * Axes that every view passes without a jump are merged, so that a contiguous
 * tensor of any rank becomes one axis, and most kernels meet one, two or three
 * axes only. A walk can start anywhere, which is how threads share one. */
#ifndef TN_BACKEND_CPU_WALK_H
#define TN_BACKEND_CPU_WALK_H

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

/* ---- walks ---- */
#ifndef TN_CPU_VIEW_LIMIT
#define TN_CPU_VIEW_LIMIT                                                                                    \
  4 /* views of one walk; a file that needs more says so before it includes this one */
#endif

typedef struct {
  int rank, views;
  int64_t dim[TN_RANK_LIMIT];
  int64_t stride[TN_CPU_VIEW_LIMIT][TN_RANK_LIMIT]; /* in elements */
  int64_t at[TN_RANK_LIMIT];                        /* the coordinates now */
  int64_t offset[TN_CPU_VIEW_LIMIT];                /* of each view now, in elements */
} tn_cpu_walk;

/* A walk over the axes of `shape_of` with no views yet. */
static inline void tn_cpu_walk_init(tn_cpu_walk *walk, const tn_view *shape_of) {
  walk->rank = shape_of->rank;
  walk->views = 0;
  for (int a = 0; a < walk->rank; a++) walk->dim[a] = shape_of->dim[a];
}

/* Adds a view, whose axes are matched from the right and stretch where their length is 1. */
static inline void tn_cpu_walk_add(tn_cpu_walk *walk, const tn_view *view) {
  int64_t *stride = walk->stride[walk->views++];
  int missing = walk->rank - view->rank;
  for (int a = 0; a < walk->rank; a++) {
    bool repeats = a < missing || view->dim[a - missing] == 1;
    stride[a] = repeats ? 0 : view->stride[a - missing];
  }
}

/* Whether axis a + 1 continues where axis a steps, in every view. */
static inline bool tn_cpu_walk_joins(const tn_cpu_walk *walk, int a, int b) {
  for (int v = 0; v < walk->views; v++)
    if (walk->stride[v][a] != walk->stride[v][b] * walk->dim[b]) return false;
  return true;
}

static inline void tn_cpu_walk_put(tn_cpu_walk *walk, int to, int from) {
  if (to == from) return;
  walk->dim[to] = walk->dim[from];
  for (int v = 0; v < walk->views; v++) walk->stride[v][to] = walk->stride[v][from];
}

/* Drops axes of length 1 and merges neighbours; no axis may have length 0. Afterwards there is
 * at least one axis: a single element is an axis of length 1 with stride 1. */
static inline void tn_cpu_walk_merge(tn_cpu_walk *walk) {
  int last = -1;
  for (int a = 0; a < walk->rank; a++) {
    if (walk->dim[a] == 1) continue;
    if (last >= 0 && tn_cpu_walk_joins(walk, last, a)) {
      int64_t dim = walk->dim[last] * walk->dim[a];
      tn_cpu_walk_put(walk, last, a);
      walk->dim[last] = dim;
    } else {
      tn_cpu_walk_put(walk, ++last, a);
    }
  }
  if (last < 0) {
    last = 0;
    walk->dim[0] = 1;
    for (int v = 0; v < walk->views; v++) walk->stride[v][0] = 1;
  }
  walk->rank = last + 1;
}

/* The axes around axes begin..end-1 of a contiguous view, which hold *n elements, `*inner` apart: the walk
 * gets a first view that passes those axes over. */
static inline void tn_cpu_walk_around(tn_cpu_walk *walk, const tn_view *view, int begin, int end, int64_t *n,
                                      int64_t *inner) {
  int64_t outer = 1;
  *n = *inner = 1;
  for (int a = 0; a < begin; a++) outer *= view->dim[a];
  for (int a = begin; a < end; a++) *n *= view->dim[a];
  for (int a = end; a < view->rank; a++) *inner *= view->dim[a];
  bool two = outer != 1 && *inner != 1;
  walk->rank = two ? 2 : 1;
  walk->views = 1;
  walk->dim[0] = outer != 1 ? outer : *inner;
  walk->stride[0][0] = outer != 1 ? *n * *inner : 1;
  walk->dim[1] = *inner;
  walk->stride[0][1] = 1;
}

/* A copy with a place of its own; views that are not there are not copied. */
static inline void tn_cpu_walk_copy(tn_cpu_walk *to, const tn_cpu_walk *from) {
  to->rank = from->rank;
  to->views = from->views;
  for (int a = 0; a < from->rank; a++) {
    to->dim[a] = from->dim[a];
    for (int v = 0; v < from->views; v++) to->stride[v][a] = from->stride[v][a];
  }
}

/* Goes to the index-th place, in row-major order over the first `rank` axes. */
static inline void tn_cpu_walk_seek(tn_cpu_walk *walk, int rank, int64_t index) {
  for (int v = 0; v < walk->views; v++) walk->offset[v] = 0;
  for (int a = rank - 1; a >= 0; a--) {
    walk->at[a] = index % walk->dim[a];
    index /= walk->dim[a];
    for (int v = 0; v < walk->views; v++) walk->offset[v] += walk->at[a] * walk->stride[v][a];
  }
}

/* One place further over the first `rank` axes; after the last place it is back at the first. */
static inline void tn_cpu_walk_next(tn_cpu_walk *walk, int rank) {
  for (int a = rank - 1; a >= 0; a--) {
    for (int v = 0; v < walk->views; v++) walk->offset[v] += walk->stride[v][a];
    if (++walk->at[a] < walk->dim[a]) return;
    walk->at[a] = 0;
    for (int v = 0; v < walk->views; v++) walk->offset[v] -= walk->stride[v][a] * walk->dim[a];
  }
}

/* Places over axes begin..end-1. */
static inline int64_t tn_cpu_walk_count(const tn_cpu_walk *walk, int begin, int end) {
  int64_t count = 1;
  for (int a = begin; a < end; a++) count *= walk->dim[a];
  return count;
}
#endif
