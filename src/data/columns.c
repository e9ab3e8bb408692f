/* data/columns.c: allocates, grows and frees columns. */
#include "data/columns.h"

#include <string.h>

#include "base/utf8.h"

bool tn_columns_init(tn_columns *columns, tn_heap *heap, size_t count) {
  *columns = (tn_columns){ .heap = heap };
  columns->at = tn_heap_alloc(heap, count * sizeof *columns->at);
  if (!columns->at) return count == 0;
  columns->count = count;
  for (size_t i = 0; i < count; i++) tn_text_init(&columns->at[i].text, heap);
  return true;
}

void tn_columns_free(tn_columns *columns) {
  for (size_t i = 0; i < columns->count; i++) {
    tn_column *column = &columns->at[i];
    tn_vec_free(columns->heap, &column->reals);
    tn_vec_free(columns->heap, &column->ints);
    tn_vec_free(columns->heap, &column->ends);
    tn_text_free(&column->text);
    tn_names_free(column->classes);
  }
  tn_heap_free(columns->heap, columns->at, columns->count * sizeof *columns->at);
  tn_vec_free(columns->heap, &columns->lines);
  columns->at = NULL;
  columns->rows = columns->count = 0;
}

void tn_columns_clear(tn_columns *columns) {
  columns->rows = columns->lines.count = 0;
  for (size_t i = 0; i < columns->count; i++) {
    tn_column *column = &columns->at[i];
    column->reals.count = column->ints.count = column->ends.count = 0;
    tn_text_clear(&column->text);
  }
}

static bool reserve(tn_heap *heap, tn_column *column, size_t rows) {
  size_t items;
  if (!tn_size_mul(rows, column->width, &items)) return false;
  switch (column->kind) {
    case TN_COLUMN_F32: return tn_vec_reserve(heap, &column->reals, items);
    case TN_COLUMN_TEXT: return tn_vec_reserve(heap, &column->ends, items);
    default: return tn_vec_reserve(heap, &column->ints, items);
  }
}

bool tn_columns_reserve(tn_columns *columns, size_t rows) {
  if (!tn_vec_reserve(columns->heap, &columns->lines, rows)) return false;
  for (size_t i = 0; i < columns->count; i++) {
    if (!reserve(columns->heap, &columns->at[i], rows)) return false;
  }
  return true;
}

static size_t items_left(const tn_column *column) {
  switch (column->kind) {
    case TN_COLUMN_F32: return column->reals.capacity - column->reals.count;
    case TN_COLUMN_TEXT: return column->ends.capacity - column->ends.count;
    default: return column->ints.capacity - column->ints.count;
  }
}

size_t tn_columns_room(const tn_columns *columns) {
  size_t room = columns->lines.capacity - columns->lines.count;
  for (size_t i = 0; i < columns->count; i++) {
    const tn_column *column = &columns->at[i];
    size_t rows = column->width > 0 ? items_left(column) / column->width : room;
    if (rows < room) room = rows;
  }
  return room;
}

tn_str tn_column_text(const tn_column *column, size_t item) {
  size_t first = item > 0 ? (size_t)column->ends.at[item - 1] : 0;
  return (tn_str){ column->text.at + first, (size_t)column->ends.at[item] - first };
}

bool tn_column_tensor(const tn_columns *columns, size_t index, bool vector, tn_tensor *out) {
  const tn_column *column = &columns->at[index];
  tn_shape shape = vector ? tn_shape_make(1, (int64_t)columns->rows)
                          : tn_shape_make(2, (int64_t)columns->rows, (int64_t)column->width);
  bool reals = column->kind == TN_COLUMN_F32;
  if (!tn_tensor_new(columns->heap, reals ? TN_F32 : TN_I32, &shape, out)) return false;
  size_t bytes = columns->rows * column->width * TN_COLUMN_ITEM;
  if (bytes > 0) memcpy(out->view.data, reals ? (void *)column->reals.at : (void *)column->ints.at, bytes);
  return true;
}

void tn_data_show(char *field, tn_str text) {
  text = tn_utf8_clip(text, TN_DATA_SHOWN - 1);
  if (text.len > 0) memcpy(field, text.at, text.len);
  field[text.len] = '\0';
}
