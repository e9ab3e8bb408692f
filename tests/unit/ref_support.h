/* Views over arrays, and one call of a reference kernel. */
#ifndef TN_TESTS_REF_SUPPORT_H
#define TN_TESTS_REF_SUPPORT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/backend.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
/* A contiguous view: VIEW(TN_F32, data, 2, 3). */
#define VIEW(dtype, data, ...) \
  view_of(dtype, data, (int)COUNT_OF(((int64_t[]){ __VA_ARGS__ })), (int64_t[]){ __VA_ARGS__ })
#define SCALAR(dtype, data) view_of(dtype, data, 0, NULL)
/* The same bits: -0 is not +0, and there is one NaN. */
#define ASSERT_BITS(got, ...) \
  assert_memory_equal(got, ((__typeof__((got)[0])[]){ __VA_ARGS__ }), \
                      sizeof((__typeof__((got)[0])[]){ __VA_ARGS__ }))

static inline tn_view view_of(tn_dtype dtype, void *data, int rank, const int64_t *dims) {
  tn_shape shape = { .rank = rank };
  for (int axis = 0; axis < rank; axis++) shape.dim[axis] = dims[axis];
  return tn_view_make(data, dtype, &shape);
}

/* Runs the kernel with scratch of exactly the size it asks for, so that a sanitizer sees more. */
static inline bool run(tn_op op, const tn_attrs *attrs, const tn_view *in, int count, const tn_view *out,
                       tn_fault *fault) {
  static const tn_attrs none = { 0 };
  const tn_backend *ref = tn_backend_ref();
  if (!attrs) attrs = &none;
  size_t bytes = ref->scratch(ref, op, attrs, in, count, out, 1);
  void *scratch = bytes ? malloc(bytes) : NULL;
  tn_kernel_call call = { .op = op, .attrs = attrs, .in = in, .count = count, .out = out,
                          .scratch = scratch, .threads = 1, .fault = fault };
  bool done = tn_backend_run(ref, &call);
  free(scratch);
  return done;
}

/* For calls that must succeed. */
#define RUN(op, attrs, out, ...) \
  do { \
    tn_view operands[] = { __VA_ARGS__ }; \
    tn_fault no_fault = { 0 }; \
    assert_true(run(op, attrs, operands, (int)COUNT_OF(operands), out, &no_fault)); \
    assert_int_equal(no_fault.kind, TN_FAULT_NONE); \
  } while (0)
#endif
