/* lang/report.c: what every language reports in the same words. */
#include "lang/lang.h"

bool tn_host_usage(tn_host *host, const char *before, tn_str name, const char *after) {
  return tn_host_usage_hint(host, before, name, after, (tn_str){ 0 });
}

bool tn_host_usage_hint(tn_host *host, const char *before, tn_str name, const char *after, tn_str hint) {
  tn_text message;
  tn_text_init(&message, host->heap);
  tn_text_puts(&message, before);
  tn_text_add(&message, name);
  tn_text_puts(&message, after);
  tn_report(host->diags, TN_DIAG_E_USAGE, TN_NOWHERE, TN_TEXT("message", tn_text_str(&message)),
            TN_HINT(hint));
  tn_text_free(&message);
  return false;
}

bool tn_host_fault(tn_host *host, const tn_fault *fault) {
  return host->report_fault ? host->report_fault(host, fault)
                            : tn_fault_report(fault, host->names, host->diags);
}

bool tn_host_out_of_memory(tn_host *host) {
  return tn_host_fault(host, &(tn_fault){ .kind = TN_FAULT_MEMORY });
}

bool tn_lang_report_export(tn_host *host, const tn_export_problem *problem) {
  if (problem->feature)
    return tn_report(host->diags, TN_DIAG_E_UNSUPPORTED, problem->at, TN_STR("feature", problem->feature));
  return tn_host_fault(host, &(tn_fault){ .kind = TN_FAULT_MEMORY, .at = problem->at });
}
