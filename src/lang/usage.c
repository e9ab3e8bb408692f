/* lang/usage.c: a mistake of the command line or of an embedder. */
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
