/* train/history.c: parses a line of a run's history. */
#include "train/history.h"

#include <string.h>

#include "base/json.h"

/* A number, or the text for a NaN or infinity. */
static bool read_real(tn_json_reader *json, double *out) {
  tn_json_token token;
  tn_json_kind kind = tn_json_next(json, &token);
  if (kind == TN_JSON_NUMBER) return tn_json_token_f64(&token, out);
  if (kind != TN_JSON_STRING) return false;
  *out = tn_str_is(token.text, "NaN")         ? (double)__builtin_nanf("")
         : tn_str_is(token.text, "-Infinity") ? (double)-__builtin_inff()
                                              : (double)__builtin_inff();
  return tn_str_is(token.text, "NaN") || tn_str_ends(token.text, "Infinity");
}

static bool read_values(tn_json_reader *json, tn_arena *arena, tn_recorded_value *values, size_t *count) {
  tn_json_token token;
  if (tn_json_next(json, &token) != TN_JSON_OBJECT_BEGIN) return false;
  while (tn_json_next(json, &token) == TN_JSON_KEY) {
    if (*count == TN_METRIC_LIMIT) return false;
    tn_recorded_value *value = &values[(*count)++];
    value->name = tn_arena_str(arena, token.text);
    if (!read_real(json, &value->value)) return false;
  }
  return token.kind == TN_JSON_OBJECT_END;
}

static bool read_eval(tn_json_reader *json, tn_arena *arena, tn_recorded_row *row) {
  row->evaluated = true;
  return read_values(json, arena, row->values, &row->value_count);
}

bool tn_history_rises(tn_str metric) { return tn_metric_name_rises(metric); }

const double *tn_history_value(const tn_recorded_row *row, const char *name) {
  for (size_t i = 0; i < row->value_count; i++) {
    if (tn_str_is(row->values[i].name, name)) return &row->values[i].value;
  }
  return NULL;
}

bool tn_history_read(tn_str line, tn_arena *arena, tn_recorded_row *out) {
  tn_json_reader json;
  tn_json_token token;
  double step = -1;
  *out = (tn_recorded_row){ .loss = (double)__builtin_nanf("") };
  tn_json_init(&json, line, arena);
  if (tn_json_next(&json, &token) != TN_JSON_OBJECT_BEGIN) return false;
  while (tn_json_next(&json, &token) == TN_JSON_KEY) {
    bool ok = tn_str_is(token.text, "eval")   ? read_eval(&json, arena, out)
              : tn_str_is(token.text, "test") ? read_values(&json, arena, out->tests, &out->test_count)
              : tn_str_is(token.text, "step") ? read_real(&json, &step)
                                              : read_real(&json, &out->loss);
    if (!ok) return false;
  }
  out->step = step >= 0 && step < 9e15 ? (int64_t)step : -1;
  return token.kind == TN_JSON_OBJECT_END && tn_json_next(&json, &token) == TN_JSON_END && !arena->failed;
}

bool tn_history_line(tn_str text, size_t at, tn_str *out) {
  const char *end = at < text.len ? memchr(text.at + at, '\n', text.len - at) : NULL;
  if (end) *out = (tn_str){ text.at + at, (size_t)(end - text.at) - at };
  return end != NULL;
}
