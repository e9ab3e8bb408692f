/* api/diagnostics.c: returns diagnostics as data and as text. */
#include "api/internal.h"
#include "base/json.h"
#include "base/number.h"

size_t tern_diagnostic_count(const tern_session *session) { return session->diags.list.count; }
size_t tern_diagnostics_omitted(const tern_session *session) { return session->diags.dropped; }
size_t tern_error_count(const tern_session *session) { return session->diags.errors; }
tern_status tern_failure_status(const tern_session *session) {
  tern_status status = tn_api_status(session);
  return status == TERN_OK ? TERN_FAILED : status;
}
void tern_clear_diagnostics(tern_session *session) { tn_diags_clear(&session->diags); }

tern_status tn_api_status(const tern_session *session) {
  return (tern_status)tn_diags_status(&session->diags);
}

static bool report_timeout(tern_session *session, tn_span at) {
  char number[TN_NUMBER_BYTES];
  tn_str limit = { number, tn_number_print_f64(session->max_seconds, number) };
  return tn_report(&session->diags, TN_DIAG_E_TIME_LIMIT, at, TN_TEXT("limit", limit));
}

bool tn_api_report_timeout(tern_session *session) { return report_timeout(session, TN_NOWHERE); }

bool tn_api_report_fault(tern_session *session, const tn_fault *fault) {
  tn_diags *diags = &session->diags;
  if (fault->kind == TN_FAULT_HOST) return false; /* the host has reported */
  if (fault->kind == TN_FAULT_INTERRUPTED && atomic_load(&session->stop.timed_out))
    return report_timeout(session, fault->at);
  if (fault->kind == TN_FAULT_MEMORY && session->heap.limit > 0 && !session->heap.stack.exceeded) {
    return tn_report(diags, TN_DIAG_E_MEMORY_LIMIT, fault->at, TN_INT("limit", (int64_t)session->heap.limit));
  }
  return tn_fault_report(fault, session->names, diags);
}

bool tn_api_out_of_memory(tern_session *session) {
  return tn_api_report_fault(session, &(tn_fault){ .kind = TN_FAULT_MEMORY });
}

static void settle_stopped(tern_session *session) {
  session->heap.failed = session->heap.stopped = false;
  tn_diags_clear(&session->diags);
  tn_api_report_fault(session, &(tn_fault){ .kind = TN_FAULT_INTERRUPTED });
}

void tn_api_settle(tern_session *session) {
  tn_api_end_compiling(session);
  if (session->heap.stopped) {
    settle_stopped(session);
    return;
  }
  bool exhausted = session->heap.failed || session->heap.stack.exceeded;
  if (!exhausted || tn_api_status(session) == TERN_BUG) return;
  tn_diags_settle_memory(&session->diags, &session->heap);
}

static const char *kept(tern_session *session, tn_str text) { return tn_arena_str(&session->views, text).at; }

static void fill_place(tern_session *session, const tn_diag *diag, tern_diagnostic *out) {
  const tn_source *source = tn_sources_get(&session->sources, diag->at.file);
  if (!source) return;
  tn_place start = tn_place_of(&session->sources, diag->at.file, diag->at.start);
  tn_place end = tn_place_of(&session->sources, diag->at.file, diag->at.end);
  out->file = source->name.at;
  out->line = start.line;
  out->column = start.column;
  out->end_line = end.line;
  out->end_column = end.column;
}

static void fill_fields(tern_session *session, const tn_diag *diag, tern_diagnostic *out) {
  size_t count = diag->field_count;
  const char **names = tn_arena_array(&session->views, count + 1, sizeof *names);
  const char **values = tn_arena_array(&session->views, count + 1, sizeof *values);
  if (!names || !values) return;
  for (size_t i = 0; i < count; i++) {
    names[i] = diag->fields[i].name;
    values[i] = kept(session, diag->fields[i].value);
  }
  out->field_count = count;
  out->field_names = names;
  out->field_values = values;
}

tern_diagnostic tern_diagnostic_at(tern_session *session, size_t index) {
  static const char *const phases[] = { "parse", "check", "run", "data" };
  tern_diagnostic out = { .code = "", .severity = "error", .phase = "run", .title = "" };
  if (index >= session->diags.list.count) return out;
  const tn_diag *diag = &session->diags.list.at[index];
  out.code = tn_diag_info_of(diag->code)->code;
  out.severity = diag->severity == TN_SEVERITY_WARNING ? "warning" : "error";
  out.phase = phases[diag->phase];
  out.title = kept(session, diag->title);
  out.hint = diag->hint.len > 0 ? kept(session, diag->hint) : NULL;
  fill_place(session, diag, &out);
  fill_fields(session, diag, &out);
  return out;
}

const char *tern_diagnostics_text(tern_session *session, int color) {
  tn_text_clear(&session->text);
  tn_diags_sort(&session->diags);
  tn_diags_render_text(&session->diags, (tn_diag_style){ .color = color != 0 }, &session->text);
  return tn_api_text(session);
}

const char *tern_diagnostics_json(tern_session *session) {
  tn_text_clear(&session->text);
  tn_diags_sort(&session->diags);
  tn_json_writer json = tn_json_writer_on(&session->text);
  tn_diags_render_json(&session->diags, &json);
  return tn_api_text(session);
}

tern_status tern_report_usage(tern_session *session, const char *message, const char *hint) {
  tn_field fields[] = { TN_STR("message", message), TN_HINT(tn_str_of(hint)) };
  tn_diags_report(&session->diags, TN_DIAG_E_USAGE, TN_NOWHERE, fields, hint ? 2 : 1);
  return TERN_USAGE;
}

const char *tern_shown(tern_session *session, const char *text) {
  tn_text_clear(&session->shown);
  tn_diag_put_safe(&session->shown, tn_str_of(text));
  tn_text_byte(&session->shown, 0);
  return session->shown.failed ? NULL : session->shown.at;
}
