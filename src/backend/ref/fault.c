/* backend/ref/fault.c: faults that depend on the values of operands. */
#include "backend/ref/internal.h"

bool tn_ref_fail(const tn_kernel_call *call, tn_fault fault) {
  *call->fault = fault;
  return false;
}

bool tn_ref_check_index(const tn_kernel_call *call, const tn_view *index, int64_t limit, int axis) {
  for (tn_index i = tn_index_over(call, index); i.inside; tn_index_next(&i)) {
    int64_t got = tn_element_to_i64(tn_ref_load(index, i.at), index->dtype);
    if (got < 0 || got >= limit)
      return tn_ref_fail(call, (tn_fault){ .kind = TN_FAULT_BOUNDS, .op = call->op, .axis = axis,
                                           .got = got, .expected = limit });
  }
  return !tn_stop_asked(call->stop) || tn_ref_fail(call, (tn_fault){ .kind = TN_FAULT_INTERRUPTED });
}
