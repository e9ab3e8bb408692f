/* cluster/report.c: failures and differences between ranks, as diagnostics. */
#include "cluster/report.h"

bool tn_cluster_report_failure(tn_diags *diags, const tn_transport *transport) {
  const tn_rank_failure *failure = &transport->failure;
  if (failure->rank < 0) return false;
  return tn_report(diags, TN_DIAG_E_RANK_LOST, TN_NOWHERE, TN_INT("rank", failure->rank),
                   TN_STR("host", failure->host), TN_STR("reason", failure->reason));
}

bool tn_cluster_report_difference(tn_diags *diags, int rank, const char *what, int64_t step) {
  if (step < 0)
    return tn_report(diags, TN_DIAG_E_RANKS_DIFFER, TN_NOWHERE, TN_INT("rank", rank), TN_STR("what", what));
  return tn_report(diags, TN_DIAG_E_RANKS_DIFFER, TN_NOWHERE, TN_INT("rank", rank), TN_STR("what", what),
                   TN_INT("step", step));
}
