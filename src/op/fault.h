/* op/fault.h: reasons of some faults.
 *
 * TN_FAULT_AXIS with the reason TN_AXIS_TWICE: the axis is repeated in its list.
 * TN_FAULT_BOUNDS with a reason: a slice is empty; right.shape holds its start and
 * its end, as they were given. */
#ifndef TN_OP_FAULT_H
#define TN_OP_FAULT_H

#include "op/op.h"

#define TN_AXIS_TWICE "given twice"

/* Whether an axis is repeated in its list. */
bool tn_fault_repeats(const tn_fault *fault);
#endif
