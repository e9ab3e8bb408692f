/* cluster/report.h: failures of ranks, as diagnostics. */
#ifndef TN_CLUSTER_REPORT_H
#define TN_CLUSTER_REPORT_H

#include "cluster/transport.h"
#include "diag/diag.h"

/* E_RANK_LOST, if a rank has failed; nothing otherwise. False. */
bool tn_cluster_report_failure(tn_diags *diags, const tn_transport *transport);

/* E_RANKS_DIFFER: the rank differs from rank 0 in this; a step below 0 is none. False. */
bool tn_cluster_report_difference(tn_diags *diags, int rank, const char *what, int64_t step);
#endif
