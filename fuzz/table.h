/* fuzz/table.h: any bytes as a data file. The first says how it is read. */
#ifndef TN_FUZZ_TABLE_H
#define TN_FUZZ_TABLE_H

#include "data/table.h"
#include "fuzz.h"

enum { FUZZ_FLOATS = 1, FUZZ_WIDTH = 2, FUZZ_FEATURES_ONLY = 4, FUZZ_COLUMNS = 8, FUZZ_LABEL_LISTS = 16 };

static inline void fuzz_table(tn_table_format format, const uint8_t *data, size_t size) {
  static const int32_t features[] = { 0, 2 }, labels[] = { 1 };
  unsigned how = size > 0 ? data[0] : 0;
  const char *path = size > 0 ? fuzz_file(data + 1, size - 1) : NULL;
  if (!path) return;
  tn_table_request request = { .path = path,
                               .format = format,
                               .wants_features = true,
                               .wants_labels = !(how & FUZZ_FEATURES_ONLY),
                               .floats = how & FUZZ_FLOATS,
                               .width = how & FUZZ_WIDTH ? 3 : -1,
                               .label_lists = how & FUZZ_LABEL_LISTS,
                               .label_width = how & FUZZ_WIDTH ? 2 : -1,
                               .feature_key = TN_LIT("tokens"),
                               .label_key = TN_LIT("label") };
  if (how & FUZZ_COLUMNS && format == TN_TABLE_TSV) {
    request.feature_columns = features, request.feature_column_count = 2;
    request.label_columns = labels, request.label_column_count = 1;
  }
  tn_heap heap = { .limit = (size_t)64 << 20 };
  tn_sources sources;
  tn_diags diags;
  tn_table table;
  tn_sources_init(&sources, &heap);
  tn_diags_init(&diags, &heap, &sources);
  bool ok = tn_table_read(&heap, &request, &diags, &table);
  fuzz_expect(ok == (diags.errors == 0), "what is refused is reported, and only that");
  if (ok) {
    fuzz_expect(table.rows > 0, "a table has rows");
    size_t numbers = table.floats ? table.reals.count : table.ints.count;
    fuzz_expect(numbers == table.rows * (size_t)table.width, "every row has every feature");
    size_t classes = request.wants_labels ? table.rows * (size_t)table.label_width : 0;
    fuzz_expect(table.labels.count == classes, "every row has every label");
    tn_table_index index = { .path = path, .at = TN_NOWHERE, .limit = 2, .function = TN_LIT("embedding") };
    tn_columns columns;
    if (tn_table_take(&table, &columns)) {
      (void)tn_columns_check_labels(&columns, &columns.at[TN_TABLE_LABELS], &index, &diags);
      (void)tn_columns_check_features(&columns, &columns.at[TN_TABLE_FEATURES], &index, &diags);
      tn_columns_free(&columns);
    }
    tn_table_free(&table);
  }
  tn_diags_free(&diags);
  tn_sources_free(&sources);
  fuzz_expect(heap.used == 0, "reading gives all memory back");
}
#endif
