/* data/classes.c: the names of classes, numbered by the order of their bytes, so that the order of rows does
 * not matter. */
#include <stdlib.h>

#include "data/columns.h"

typedef struct {
  tn_str text;
  int32_t found; /* its number by first appearance */
} class_name;

static int by_bytes(const void *a, const void *b) {
  return tn_str_compare(((const class_name *)a)->text, ((const class_name *)b)->text);
}

static bool sort_classes(tn_heap *heap, tn_column *column, size_t count, class_name *names, int32_t *place) {
  tn_names *sorted = tn_names_new(heap);
  if (!sorted) return false;
  for (size_t i = 0; i < count; i++)
    names[i] = (class_name){ tn_names_text(column->classes, (tn_name)(i + 1)), (int32_t)i };
  qsort(names, count, sizeof *names, by_bytes);
  bool ok = true;
  for (size_t i = 0; ok && i < count; i++) {
    ok = tn_names_intern(sorted, names[i].text) == i + 1;
    place[names[i].found] = (int32_t)i;
  }
  if (!ok) return tn_names_free(sorted), false;
  for (size_t i = 0; i < column->ints.count; i++) column->ints.at[i] = place[column->ints.at[i]];
  tn_names_free(column->classes);
  column->classes = sorted;
  column->class_count = count;
  return true;
}

static size_t count_classes(const tn_column *column) {
  int32_t most = 0;
  for (size_t i = 0; i < column->ints.count; i++) {
    if (column->ints.at[i] > most) most = column->ints.at[i];
  }
  return (size_t)most + 1; /* there are rows */
}

bool tn_columns_name_classes(tn_columns *columns) {
  tn_heap *heap = columns->heap;
  for (size_t i = 0; i < columns->count; i++) {
    tn_column *column = &columns->at[i];
    if (!column->classes) continue;
    size_t count = count_classes(column);
    class_name *names = tn_heap_alloc(heap, count * sizeof *names);
    int32_t *place = tn_heap_alloc(heap, count * sizeof *place);
    bool ok = names && place && sort_classes(heap, column, count, names, place);
    tn_heap_free(heap, names, names ? count * sizeof *names : 0);
    tn_heap_free(heap, place, place ? count * sizeof *place : 0);
    if (!ok) return false;
  }
  return true;
}

bool tn_column_add_class(tn_heap *heap, tn_column *column, tn_str name, int32_t *number) {
  if (!column->classes) column->classes = tn_names_new(heap);
  *number = column->classes ? (int32_t)tn_names_intern(column->classes, name) - 1 : -1;
  return *number >= 0;
}
