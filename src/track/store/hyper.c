/* track/store/hyper.c: the hyperparameters of a run: an object of JSON in one column.
 *
 * They differ from program to program, so they are no columns of the table; lists, filters and comparisons
 * treat them as if they were. The text may come from anybody: it is read as strictly as everything else. */
#include <math.h>

#include "base/json.h"
#include "base/number.h"
#include "track/store/store.h"

/* ---- reading ---- */

static bool is_value(const tn_json_token *token) {
  return token->kind == TN_JSON_STRING || token->kind == TN_JSON_NUMBER;
}

static size_t count_keys(tn_str text, tn_arena *arena) {
  tn_json_reader json;
  tn_json_token token;
  size_t keys = 0;
  tn_json_init(&json, text, arena);
  while (tn_json_next(&json, &token) > TN_JSON_END) keys += token.kind == TN_JSON_KEY;
  return keys;
}

static bool read_members(tn_json_reader *json, tn_arena *arena, tn_run_row *row, tn_run_hyper *list) {
  tn_json_token token;
  if (tn_json_next(json, &token) != TN_JSON_OBJECT_BEGIN) return false;
  while (tn_json_next(json, &token) == TN_JSON_KEY) {
    tn_run_hyper *hyper = &list[row->hyper_count];
    hyper->name = tn_arena_str(arena, token.text);
    if (tn_json_next(json, &token) <= TN_JSON_END || !is_value(&token)) return false;
    hyper->value = tn_arena_str(arena, token.text);
    hyper->is_number = token.kind == TN_JSON_NUMBER;
    row->hyper_count++;
  }
  return token.kind == TN_JSON_OBJECT_END && tn_json_next(json, &token) == TN_JSON_END;
}

bool tn_run_hypers_read(tn_arena *arena, tn_run_row *row) {
  tn_str text = row->value[TN_RUN_HYPER];
  tn_json_reader json;
  row->hypers = NULL;
  row->hyper_count = 0;
  if (!text.at) return true;
  size_t keys = count_keys(text, arena);
  tn_run_hyper *list = keys <= TN_RUN_HYPER_LIMIT ? tn_arena_array(arena, keys + 1, sizeof *list) : NULL;
  if (!list) return false;
  row->hypers = list;
  tn_json_init(&json, text, arena);
  return read_members(&json, arena, row, list) && !arena->failed;
}

/* ---- asking ---- */

const tn_run_hyper *tn_run_hyper_find(const tn_run_row *row, tn_str name) {
  for (size_t i = 0; i < row->hyper_count; i++) {
    if (tn_str_equal(row->hypers[i].name, name)) return &row->hypers[i];
  }
  return NULL;
}

static int order_numbers(tn_str a, tn_str b) {
  double x = 0, y = 0;
  (void)tn_number_parse_f64(a, &x);
  (void)tn_number_parse_f64(b, &y);
  return (x > y) - (x < y);
}

int tn_run_hyper_order(const tn_run_hyper *a, const tn_run_hyper *b) {
  if (!a || !b) return (a == NULL) - (b == NULL);
  if (a->is_number != b->is_number) return a->is_number ? -1 : 1;
  return a->is_number ? order_numbers(a->value, b->value) : tn_str_compare(a->value, b->value);
}

void tn_run_hyper_json(const tn_run_hyper *hyper, tn_json_writer *json) {
  if (!hyper)
    tn_json_null(json);
  else if (hyper->is_number)
    tn_json_raw(json, hyper->value);
  else
    tn_json_string(json, hyper->value);
}
