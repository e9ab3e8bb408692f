/* data/jsonl.c: one JSON object per line: {"tokens": [3, 1, 4], "label": 1}.
 *
 * Keys that the program does not name are skipped. The last of repeated keys counts. */
#include "data/internal.h"

typedef struct {
  tn_json_reader json;
  tn_table_reader *reader;
  size_t first; /* where the features of this row begin in the column */
  size_t first_label; /* and its labels, where they are lists */
  bool has_features, has_label;
  bool label_by_other_name;
  int64_t label;
} row_reader;

static bool syntax_error(row_reader *row, const char *reason) {
  tn_table_reader *reader = row->reader;
  if (row->json.out_of_memory) return tn_table_out_of_memory(reader);
  const char *at = row->json.start + (row->json.reason ? row->json.error_at : 0);
  return tn_report(reader->diags, TN_DIAG_E_DATASET_JSONL_PARSE_ERROR, reader->request->at,
                   TN_STR("path", reader->request->path), TN_INT("line", reader->line),
                   TN_STR("reason", reason), TN_INT("col", tn_table_column(reader, at)));
}

/* A line that is not JSON has its own message, not that of a wrong value. */
static bool wrong_type(row_reader *row, tn_str field, const char *expected) {
  tn_table_reader *reader = row->reader;
  tn_json_token rest;
  while (tn_json_next(&row->json, &rest) > TN_JSON_END) continue;
  if (rest.kind == TN_JSON_ERROR) return syntax_error(row, row->json.reason);
  return tn_report(reader->diags, TN_DIAG_E_DATASET_SCHEMA_WRONG_TYPE, reader->request->at,
                   TN_STR("path", reader->request->path), TN_INT("line", reader->line),
                   TN_TEXT("field", field), TN_STR("expected", expected));
}

static bool missing(row_reader *row, tn_str field) {
  tn_table_reader *reader = row->reader;
  return tn_report(reader->diags, TN_DIAG_E_DATASET_SCHEMA_MISSING_FIELD, reader->request->at,
                   TN_STR("path", reader->request->path), TN_INT("line", reader->line),
                   TN_TEXT("field", field));
}

static void forget_features(row_reader *row) {
  tn_table *table = row->reader->table;
  if (table->floats)
    table->reals.count = row->first;
  else
    table->ints.count = row->first;
}

static bool read_features(row_reader *row, const tn_json_token *first) {
  tn_table *table = row->reader->table;
  tn_str field = row->reader->request->feature_key;
  const char *expected = table->floats ? "a list of numbers" : "a list of whole numbers";
  tn_json_token token;
  if (first->kind != TN_JSON_ARRAY_BEGIN) return wrong_type(row, field, expected);
  forget_features(row);
  tn_json_numbers result = table->floats ? tn_json_read_f32s(&row->json, table->heap, &table->reals, &token)
                                         : tn_json_read_i32s(&row->json, table->heap, &table->ints, &token);
  row->has_features = true;
  if (result == TN_JSON_NUMBERS_OK) return true;
  if (result == TN_JSON_NUMBERS_NO_MEMORY) return tn_table_out_of_memory(row->reader);
  if (token.kind == TN_JSON_ERROR) return syntax_error(row, row->json.reason);
  return wrong_type(row, field, expected);
}

static bool skip(row_reader *row, const tn_json_token *token) {
  return tn_json_skip(&row->json, token) ? true : syntax_error(row, row->json.reason);
}

/* A number alone is a list of one. */
static bool read_labels(row_reader *row, const tn_json_token *first) {
  tn_table *table = row->reader->table;
  tn_json_token token;
  int64_t label;
  table->labels.count = row->first_label;
  if (first->kind == TN_JSON_NUMBER && tn_json_token_i64(first, &label) && label >= INT32_MIN &&
      label <= INT32_MAX)
    return tn_vec_push(table->heap, &table->labels, (int32_t)label) || tn_table_out_of_memory(row->reader);
  if (first->kind != TN_JSON_ARRAY_BEGIN)
    return wrong_type(row, row->reader->request->label_key, "a list of whole numbers");
  switch (tn_json_read_i32s(&row->json, table->heap, &table->labels, &token)) {
    case TN_JSON_NUMBERS_OK: return true;
    case TN_JSON_NUMBERS_NO_MEMORY: return tn_table_out_of_memory(row->reader);
    default: break;
  }
  if (token.kind == TN_JSON_ERROR) return syntax_error(row, row->json.reason);
  return wrong_type(row, row->reader->request->label_key, "a list of whole numbers");
}

static bool read_label(row_reader *row, const tn_json_token *token, bool other_name) {
  tn_str field = row->reader->request->label_key;
  if (token->kind == TN_JSON_ERROR) return syntax_error(row, row->json.reason);
  if (other_name && row->has_label && !row->label_by_other_name) return skip(row, token);
  if (row->reader->request->label_lists) {
    row->has_label = true;
    row->label_by_other_name = other_name;
    return read_labels(row, token);
  }
  bool whole = token->kind == TN_JSON_NUMBER && tn_json_token_i64(token, &row->label);
  if (!whole || row->label < INT32_MIN || row->label > INT32_MAX)
    return wrong_type(row, field, "a whole number");
  row->has_label = true;
  row->label_by_other_name = other_name;
  return true;
}

/* `label` and `labels` are interchangeable. */
static bool is_other_name(tn_str wanted, tn_str key) {
  return (tn_str_is(wanted, "label") && tn_str_is(key, "labels")) ||
         (tn_str_is(wanted, "labels") && tn_str_is(key, "label"));
}

static bool read_member(row_reader *row, tn_str key) {
  const tn_table_request *request = row->reader->request;
  tn_json_token token;
  tn_json_next(&row->json, &token);
  if (request->wants_features && tn_str_equal(key, request->feature_key)) {
    return token.kind == TN_JSON_ERROR ? syntax_error(row, row->json.reason) : read_features(row, &token);
  }
  if (request->wants_labels && tn_str_equal(key, request->label_key)) return read_label(row, &token, false);
  if (request->wants_labels && is_other_name(request->label_key, key)) return read_label(row, &token, true);
  return skip(row, &token);
}

static bool read_object(row_reader *row) {
  tn_json_token token;
  if (tn_json_next(&row->json, &token) == TN_JSON_ERROR) return syntax_error(row, row->json.reason);
  if (token.kind != TN_JSON_OBJECT_BEGIN) return syntax_error(row, "a line is one object");
  while (tn_json_next(&row->json, &token) == TN_JSON_KEY) {
    if (!read_member(row, token.text)) return false;
  }
  if (token.kind != TN_JSON_OBJECT_END) return syntax_error(row, row->json.reason);
  return tn_json_next(&row->json, &token) == TN_JSON_END ? true : syntax_error(row, row->json.reason);
}

bool tn_jsonl_line(tn_table_reader *reader, tn_str line) {
  const tn_table_request *request = reader->request;
  row_reader row = { .reader = reader,
                     .first = tn_table_feature_count(reader->table),
                     .first_label = reader->table->labels.count };
  tn_json_init(&row.json, line, &reader->arena);
  if (!read_object(&row)) return false;
  if (request->wants_features && !row.has_features) return missing(&row, request->feature_key);
  if (request->wants_labels && !row.has_label) return missing(&row, request->label_key);
  if (request->wants_features && !tn_table_check_width(reader, row.first)) return false;
  if (request->wants_labels && !tn_table_check_label_width(reader, row.first_label)) return false;
  return tn_table_add_row(reader, row.label);
}
