/* tests/data/csv_rows.c: prints what tern reads from CSV files, for a judge in Python.
 *
 *   csv_rows text|f32 DELIMITER FILE...
 *
 * A line of JSON per file: {"rows": [["a", "b"]]} or {"problem": 5, "line": 2, "col": 3}. */
#include <stdio.h>
#include <string.h>

#include "data/csv.h"

static void put_item(const tn_column *column, size_t item, tn_json_writer *json) {
  if (column->kind == TN_COLUMN_TEXT)
    tn_json_string(json, tn_column_text(column, item));
  else
    tn_json_f32(json, column->reals.at[item]);
}

static void put_rows(const tn_columns *columns, tn_json_writer *json) {
  const tn_column *column = &columns->at[0];
  tn_json_key(json, "rows");
  tn_json_array_begin(json);
  for (size_t row = 0; row < columns->rows; row++) {
    tn_json_array_begin(json);
    for (size_t i = 0; i < column->width; i++) put_item(column, row * column->width + i, json);
    tn_json_array_end(json);
  }
  tn_json_array_end(json);
}

static void put_fault(const tn_data_fault *fault, tn_json_writer *json) {
  tn_json_key(json, "problem");
  tn_json_int(json, fault->problem);
  tn_json_key(json, "line");
  tn_json_uint(json, fault->line);
  tn_json_key(json, "col");
  tn_json_uint(json, fault->col);
}

static void show(tn_heap *heap, const tn_csv_request *request) {
  tn_columns columns;
  tn_data_fault fault;
  tn_text line;
  tn_text_init(&line, heap);
  tn_json_writer json = tn_json_writer_on(&line);
  tn_json_object_begin(&json);
  if (tn_csv_read(heap, request, &columns, &fault))
    put_rows(&columns, &json);
  else
    put_fault(&fault, &json);
  tn_json_object_end(&json);
  puts(line.at);
  tn_columns_free(&columns);
  tn_text_free(&line);
}

int main(int count, char **words) {
  if (count < 3) return 2;
  tn_heap heap = { 0 };
  tn_csv_column all = { .kind = strcmp(words[1], "f32") == 0 ? TN_COLUMN_F32 : TN_COLUMN_TEXT };
  for (int i = 3; i < count; i++) {
    tn_csv_request request = { .path = words[i],
                               .delimiter = words[2][0],
                               .columns = &all,
                               .column_count = 1 };
    show(&heap, &request);
  }
  return heap.used == 0 ? 0 : 1;
}
