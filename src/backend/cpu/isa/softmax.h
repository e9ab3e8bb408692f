/* backend/cpu/isa/softmax.h: the softmax of one row, for other kernels. */
#ifndef TN_BACKEND_CPU_SOFTMAX_H
#define TN_BACKEND_CPU_SOFTMAX_H

#include "backend/cpu/isa/isa.h"

/* Of n >= 1 contiguous elements, on this thread. `e` has room for as many and is no part of x; `out` may be
 * x. */
#define softmax_alone     TN_CPU_NAME(softmax_alone)
#define softmax_alone_f64 TN_CPU_NAME(softmax_alone_f64)
void softmax_alone(tn_stop *stop, const float *x, int64_t n, float *e, float *out);
void softmax_alone_f64(tn_stop *stop, const double *x, int64_t n, double *e, double *out);
#endif
