/* Random views, and a model of them that is too simple to be wrong: a view is the list of the
 * addresses of its elements in row-major order. */
#ifndef TN_TESTS_TENSOR_SUPPORT_H
#define TN_TESTS_TENSOR_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "tensor/tensor.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define SHAPE(...) tn_shape_of((const int64_t[]){ __VA_ARGS__ }, (int)COUNT_OF(((int64_t[]){ __VA_ARGS__ })))

static inline int64_t below(tn_rng *rng, int64_t limit) {
  return (int64_t)tn_rng_below(rng, (uint32_t)limit);
}

/* Steps a multi-index through row-major order; false after the last. */
static inline bool next_index(const tn_view *view, int64_t *index) {
  for (int axis = view->rank - 1; axis >= 0; axis--) {
    if (++index[axis] < view->dim[axis]) return true;
    index[axis] = 0;
  }
  return false;
}

static inline char *address_at(const tn_view *view, const int64_t *index) {
  int64_t offset = 0;
  for (int axis = 0; axis < view->rank; axis++) offset += index[axis] * view->stride[axis];
  return (char *)view->data + offset * (int64_t)tn_dtype_bytes(view->dtype);
}

/* The addresses of all elements; malloc'd. */
static inline char **addresses_of(const tn_view *view) {
  int64_t count = tn_view_count(view), at = 0, index[TN_RANK_LIMIT] = { 0 };
  char **list = malloc((size_t)(count + 1) * sizeof *list);
  assert_non_null(list);
  if (count) do list[at++] = address_at(view, index); while (next_index(view, index));
  assert_int_equal(at, count);
  return list;
}

/* Every second element or so, backwards or not, of a random axis. */
static inline tn_view random_slice(tn_rng *rng, const tn_view *view) {
  int axis = (int)below(rng, view->rank);
  int64_t dim = view->dim[axis], step = 1 + below(rng, 3);
  if (dim == 0) return *view;
  int64_t start = below(rng, dim), room = (dim - 1 - start) / step;
  if (below(rng, 2)) {
    room = start / step;
    step = -step;
  }
  return tn_view_slice(view, axis, start, step, below(rng, room + 2));
}

static inline tn_view random_order(tn_rng *rng, const tn_view *view) {
  int axes[TN_RANK_LIMIT];
  for (int i = 0; i < view->rank; i++) axes[i] = i;
  for (int i = view->rank - 1; i > 0; i--) {
    int other = (int)below(rng, i + 1), axis = axes[i];
    axes[i] = axes[other];
    axes[other] = axis;
  }
  return tn_view_permute(view, axes);
}

static inline tn_shape random_shape(tn_rng *rng, int rank, int64_t largest) {
  tn_shape shape = { .rank = rank };
  for (int i = 0; i < rank; i++) shape.dim[i] = below(rng, 12) ? 1 + below(rng, largest) : below(rng, 2);
  return shape;
}

/* A view of at most `largest`^rank elements of `data`, with strides of all kinds; of rank at most
 * 5. `repeats` allows strides of 0. */
static inline tn_view random_view(tn_rng *rng, void *data, tn_dtype dtype, int64_t largest, bool repeats) {
  tn_shape shape = random_shape(rng, (int)below(rng, 5), largest);
  tn_view view = tn_view_make(data, dtype, &shape);
  for (int64_t turns = below(rng, 4); turns && view.rank; turns--) {
    view = below(rng, 2) ? random_slice(rng, &view) : random_order(rng, &view);
  }
  if (repeats && below(rng, 3) == 0) {
    tn_shape to = tn_view_shape(&view);
    for (int i = 0; i < to.rank; i++) to.dim[i] = to.dim[i] == 1 ? 1 + below(rng, 4) : to.dim[i];
    if (to.rank < 5) {
      memmove(to.dim + 1, to.dim, (size_t)to.rank * sizeof *to.dim);
      to.dim[0] = 1 + below(rng, 3);
      to.rank++;
    }
    view = tn_view_broadcast(&view, &to);
  }
  return view;
}
#endif
