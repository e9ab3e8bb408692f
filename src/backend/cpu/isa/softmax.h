/* backend/cpu/isa/softmax.h: the softmax of rows below one another, for other kernels. */
#ifndef TN_BACKEND_CPU_SOFTMAX_H
#define TN_BACKEND_CPU_SOFTMAX_H

#include "backend/cpu/isa/isa.h"

/* In place, on this thread, of rows that are `step` apart: the first n[i] elements of row i, and none where
 * that is not positive. No row is shorter than the one above it, and `e` has room for the longest. */
#define softmax_below     TN_CPU_NAME(softmax_below)
#define softmax_below_f64 TN_CPU_NAME(softmax_below_f64)
void softmax_below(tn_stop *stop, float *x, int64_t step, const int64_t *n, int64_t rows, float *e);
void softmax_below_f64(tn_stop *stop, double *x, int64_t step, const int64_t *n, int64_t rows, double *e);
#endif
