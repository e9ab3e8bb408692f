/* lang/export.c: what a language says when its graph has no words in some form. */
#include "lang/lang.h"

bool tn_lang_report_export(tn_host *host, const tn_export_problem *problem) {
  if (problem->feature)
    return tn_report(host->diags, TN_DIAG_E_UNSUPPORTED, problem->at, TN_STR("feature", problem->feature));
  tn_fault fault = { .kind = TN_FAULT_MEMORY, .at = problem->at };
  return host->report_fault ? host->report_fault(host, &fault)
                            : tn_fault_report(&fault, host->names, host->diags);
}
