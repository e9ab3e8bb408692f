/* tensor/internal.h: iterating over the elements of a view, whatever its strides,
 * and over the bytes of an element, whatever the machine. */
#ifndef TN_TENSOR_INTERNAL_H
#define TN_TENSOR_INTERNAL_H

#include <string.h>

#include "base/bytes.h"
#include "tensor/tensor.h"

/* The bytes that are copied, hashed or printed at a time: `count` elements whose
 * first is at `at` and which are `step` bytes apart. */
typedef struct {
  unsigned char *at;
  int64_t count;
  int64_t step;
} tn_run;

/* The runs of a view in row-major order, each as long as the strides allow.
 *
 *   tn_runs runs = tn_runs_of(view);
 *   for (tn_run run; tn_runs_next(&runs, &run);) ...
 */
typedef struct {
  unsigned char *at;
  int rank;                          /* axes outside the run */
  int64_t dim[TN_RANK_LIMIT], step[TN_RANK_LIMIT], index[TN_RANK_LIMIT];
  int64_t run_count, run_step;
  bool done;
} tn_runs;

tn_runs tn_runs_of(const tn_view *view);
bool tn_runs_next(tn_runs *runs, tn_run *run);

#endif
