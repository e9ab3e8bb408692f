/* lang/report.c: reports that all languages share. */
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

/* "there are x, y and z", or "there are none" */
static void put_names(tn_text *out, const tn_str *names, size_t count) {
  tn_text_puts(out, count == 0 ? "there are none" : count == 1 ? "there is " : "there are ");
  for (size_t i = 0; i < count; i++) {
    if (i > 0) tn_text_puts(out, i + 1 < count ? ", " : " and ");
    tn_text_add(out, names[i]);
  }
}

bool tn_host_no_name(tn_host *host, const char *before, tn_str name, const char *after, const tn_str *known,
                     size_t count) {
  tn_str meant = tn_str_suggest(name, known, count);
  tn_text hint;
  tn_text_init(&hint, host->heap);
  if (meant.len > 0) {
    tn_text_puts(&hint, "did you mean `");
    tn_text_add(&hint, meant);
    tn_text_puts(&hint, "`?");
  } else {
    put_names(&hint, known, count);
  }
  tn_host_usage_hint(host, before, name, after, tn_text_str(&hint));
  tn_text_free(&hint);
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

static bool is_known(const tn_graph *graph) {
  for (size_t v = 1; v < graph->nodes.count; v++)
    if (!tn_shape_is_known(&graph->nodes.at[v].type.shape)) return false;
  return true;
}

/* Of a copy: planning rewrites a graph. */
static bool write_plan(tn_host *host, const tn_graph *graph, tn_text *out) {
  tn_graph copy;
  tn_fault fault;
  if (!is_known(graph))
    return tn_lang_report_export(host, &(tn_export_problem){ .feature = "a plan of named dimensions" });
  if (!tn_graph_copy(graph, &copy)) return tn_host_out_of_memory(host);
  struct tn_plan *plan = host->plan(host, &copy, &fault);
  if (plan) host->print_plan(host, plan, out);
  if (plan) host->unplan(host, plan);
  tn_graph_free(&copy);
  return plan || tn_host_fault(host, &fault);
}

bool tn_lang_write(tn_host *host, const tn_export *what, tn_text *out) {
  tn_export_problem problem = { 0 };
  if (what->kind == TN_EMIT_PLAN) return write_plan(host, what->graph, out);
  return tn_export_write(what, out, &problem) || tn_lang_report_export(host, &problem);
}
