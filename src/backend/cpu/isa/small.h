/* backend/cpu/isa/small.h: kernels for calls of a few elements.
 *
 * The kernels of the table examine shapes, strides and dtypes in every call: they merge axes,
 * choose a loop, decide about threads. For a matrix of four rows that takes longer than the work. A
 * plan repeats the same call, so it looks once for a kernel for exactly this form (backend.h,
 * choose). Each of these choosers returns its kernel only if the kernel needs no further checks. */
#ifndef TN_BACKEND_CPU_SMALL_H
#define TN_BACKEND_CPU_SMALL_H

#include "backend/cpu/isa/isa.h"
#include "backend/cpu/iterator.h"

/* NULL: not for this call, or no memory (the arena says so). What the kernel needs goes into *kept. */
#define small_softmax       TN_CPU_NAME(small_softmax)
#define small_cross_entropy TN_CPU_NAME(small_cross_entropy)
#define small_sum           TN_CPU_NAME(small_sum)
tn_kernel small_softmax(const tn_kernel_call *call, tn_arena *arena, const void **kept);
tn_kernel small_cross_entropy(const tn_kernel_call *call, tn_arena *arena, const void **kept);
tn_kernel small_sum(const tn_kernel_call *call, tn_arena *arena, const void **kept);

/* Elementwise programs of at most 64 elements, for every caller: a plan through `choose`, with
 * everything prepared, or the kernels of the table for one call. They need no scratch. */
#define small_fits TN_CPU_NAME(small_fits)
#define small_run  TN_CPU_NAME(small_run)
bool small_fits(const tn_kernel_call *call, const tn_fused_step *steps, int count);
/* For calls that fit. */
void small_run(const tn_kernel_call *call, const tn_fused_step *steps, int count);

/* A call of one elementwise operation as a program. */
static inline tn_fused_step small_only_step(const tn_kernel_call *call) {
  return (tn_fused_step){ .op = call->op,
                          .dtype = call->out->dtype,
                          .in = { 0, call->count > 1 ? 1 : 0, call->count > 2 ? 2 : 0 } };
}
#endif
