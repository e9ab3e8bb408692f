/* backend/cpu/isa/steps.h: an elementwise operation over a run of elements.
 *
 * A step reads up to three contiguous arrays and writes one; the result may be
 * written over an operand of the same element size, element over element. */
#ifndef TN_BACKEND_CPU_STEPS_H
#define TN_BACKEND_CPU_STEPS_H

#include "backend/cpu/isa/isa.h"

typedef void (*tn_step_run)(void *out, const void *x, const void *y, const void *z, int64_t count);

typedef struct {
  tn_step_run run;    /* may leave any NaN: its bits do not matter to what follows */
  tn_step_run last;   /* leaves the canonical NaN only: for results that are stored */
} tn_step;

/* How `op` is executed on operands of dtype `from` (of its first operand, but of the second one
 * for select) giving `to`. */
#define step_of TN_CPU_NAME(step_of)
tn_step step_of(tn_op op, tn_dtype from, tn_dtype to);

/* Integer division by zero gives 0 here; callers that must refuse it check the divisors first. The
 * index of the first zero among count integers, or count. */
#define first_zero TN_CPU_NAME(first_zero)
int64_t first_zero(const void *divisors, tn_dtype dtype, int64_t count);
#endif
