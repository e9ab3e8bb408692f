/* data/report.c: reports faults of data files as diagnostics. */
#include "data/report.h"

#include <string.h>

bool tn_data_report_file(tn_file_status status, const char *path, tn_span at, tn_diags *diags) {
  if (status == TN_FILE_NOT_FOUND) return tn_report_no_file(diags, at, tn_str_of(path));
  return tn_report(diags, TN_DIAG_E_FILE_IO_ERROR, at, TN_STR("path", path),
                   TN_STR("io_error_kind", tn_file_status_word(status)));
}

/* Why a table cannot be divided into rows and columns. */
static const char *syntax_reason(tn_data_problem problem) {
  switch (problem) {
    case TN_DATA_OPEN_QUOTE: return "a quote is opened here and never closed";
    case TN_DATA_AFTER_QUOTE: return "only a delimiter may follow a closing quote";
    case TN_DATA_LONG_ROW: return "the row is longer than 16 MiB; is a quote not closed?";
    case TN_DATA_MANY_COLUMNS: return "there are more than 65536 columns";
    case TN_DATA_NO_NAMES:
      return "these are numbers, not names of columns; `header = false` reads them as a row";
    default: return "more than one column has the name that the program reads";
  }
}

static const char *expected_value(tn_data_problem problem) {
  switch (problem) {
    case TN_DATA_WHOLE: return "a whole number";
    case TN_DATA_FINITE: return "a number that fits 32 bits";
    default: return "a number";
  }
}

/* A text in a column of token ids: suggest a tokenizer. */
static tn_str text_hint(const tn_data_fault *fault, const tn_data_place *place) {
  bool number = strchr("+-.0123456789", fault->value[0]) != NULL; /* or nothing is shown */
  if (number || !place->tokens) return TN_LIT("");
  return TN_LIT("`tokens = words(\"text\")` tokenizes a column of texts; so do chars, bytes and bpe");
}

static bool report_syntax(const tn_data_fault *fault, const tn_data_place *place, tn_diags *diags) {
  tn_field path = TN_STR("path", place->path), line = TN_INT("line", (int64_t)fault->line);
  if (fault->problem == TN_DATA_ROW_LENGTH)
    return tn_report(diags, TN_DIAG_E_DATASET_CSV_PARSE_ERROR, place->at, path, line,
                     TN_STR("reason", "the rows before have more or fewer columns"),
                     TN_INT("expected", fault->expected), TN_INT("received", fault->received));
  int64_t col = fault->col > 0 ? (int64_t)fault->col : 1;
  return tn_report(diags, TN_DIAG_E_DATASET_CSV_PARSE_ERROR, place->at, path, line, TN_INT("col", col),
                   TN_STR("reason", syntax_reason(fault->problem)));
}

/* A list or an object has no text to show. */
static bool report_kind(const tn_data_fault *fault, const tn_data_place *place, tn_diags *diags) {
  tn_field path = TN_STR("path", place->path), line = TN_INT("line", (int64_t)fault->line);
  tn_field field = TN_STR("field", fault->column), expected = TN_STR("expected", fault->reason);
  if (fault->value[0] == '\0')
    return tn_report(diags, TN_DIAG_E_DATASET_SCHEMA_WRONG_TYPE, place->columns_at, path, line, field,
                     expected);
  return tn_report(diags, TN_DIAG_E_DATASET_SCHEMA_WRONG_TYPE, place->columns_at, path, line, field, expected,
                   TN_STR("received", fault->value), TN_INT("col", (int64_t)fault->col),
                   TN_HINT(text_hint(fault, place)));
}

static bool report(const tn_data_fault *fault, const tn_data_place *place, tn_heap *heap, tn_diags *diags) {
  tn_field path = TN_STR("path", place->path), line = TN_INT("line", (int64_t)fault->line);
  switch (fault->problem) {
    case TN_DATA_OK:
    case TN_DATA_REFUSED:
    case TN_DATA_STOPPED: return false;
    case TN_DATA_MEMORY: return tn_report_memory(diags, heap, place->at, "the data set");
    case TN_DATA_FILE: return tn_data_report_file(fault->file, place->path, place->at, diags);
    case TN_DATA_UTF8: return tn_report(diags, TN_DIAG_E_FILE_INVALID_UTF8, place->at, path, line);
    case TN_DATA_EMPTY: return tn_report(diags, TN_DIAG_E_DATASET_EMPTY, place->at, path);
    case TN_DATA_MANY_ROWS:
      return tn_report(diags, TN_DIAG_E_TOO_LARGE, place->at, TN_STR("what", "the data set"),
                       TN_INT("limit", fault->expected));
    case TN_DATA_NUMBER:
    case TN_DATA_FINITE:
    case TN_DATA_WHOLE:
      return tn_report(diags, TN_DIAG_E_DATASET_SCHEMA_WRONG_TYPE, place->columns_at, path, line,
                       TN_STR("field", fault->column), TN_STR("expected", expected_value(fault->problem)),
                       TN_STR("received", fault->value), TN_INT("col", (int64_t)fault->col),
                       TN_HINT(text_hint(fault, place)));
    case TN_DATA_MISSING:
      return tn_report(diags, TN_DIAG_E_DATASET_MISSING_VALUE, place->columns_at, path, line,
                       TN_INT("col", (int64_t)fault->col), TN_STR("column", fault->column));
    case TN_DATA_NO_COLUMN:
      return tn_report(diags, TN_DIAG_E_DATASET_SCHEMA_MISSING_FIELD, place->columns_at, path, line,
                       TN_STR("field", fault->column), TN_STR("suggestion", fault->value));
    case TN_DATA_JSON:
      return tn_report(diags, TN_DIAG_E_DATASET_JSONL_PARSE_ERROR, place->at, path, line,
                       TN_STR("reason", fault->reason), TN_INT("col", (int64_t)fault->col));
    case TN_DATA_KIND: return report_kind(fault, place, diags);
    case TN_DATA_WIDTH:
      return tn_report(diags, TN_DIAG_E_DATASET_DIM_MISMATCH, place->columns_at, path, line,
                       TN_INT("expected_T", fault->expected), TN_INT("received_T", fault->received),
                       TN_TEXT("input", place->input),
                       TN_NOTE_IF(place->input_at, "`{input}` is declared here"));
    default: return report_syntax(fault, place, diags);
  }
}

bool tn_data_report(const tn_data_fault *fault, const tn_data_place *place, tn_heap *heap, tn_diags *diags) {
  tn_phase before = tn_diags_enter(diags, TN_PHASE_DATA);
  report(fault, place, heap, diags);
  tn_diags_enter(diags, before);
  return false;
}
