/* fuzz/columns.h: what a reader of tables must fulfil, whatever the bytes. */
#ifndef TN_FUZZ_COLUMNS_H
#define TN_FUZZ_COLUMNS_H

#include <string.h>

#include "data/csv.h"
#include "fuzz.h"

static inline bool same_items(const tn_column *a, const tn_column *b) {
  size_t reals = a->reals.count * sizeof(float), ints = a->ints.count * sizeof(int32_t);
  if (a->reals.count != b->reals.count || a->ints.count != b->ints.count) return false;
  if (a->text.len != b->text.len || a->ends.count != b->ends.count) return false;
  return (reals == 0 || memcmp(a->reals.at, b->reals.at, reals) == 0) &&
         (ints == 0 || memcmp(a->ints.at, b->ints.at, ints) == 0) &&
         (a->text.len == 0 || memcmp(a->text.at, b->text.at, a->text.len) == 0);
}

static inline void expect_whole(const tn_columns *columns) {
  fuzz_expect(columns->rows > 0, "a table has rows");
  for (size_t i = 0; i < columns->count; i++) {
    const tn_column *column = &columns->at[i];
    size_t items = column->reals.count + column->ints.count + column->ends.count;
    fuzz_expect(items == columns->rows * column->width, "every row has every item");
    for (size_t k = 0; column->classes && k < column->ints.count; k++)
      fuzz_expect((size_t)column->ints.at[k] < column->class_count, "a class has a name");
  }
}

static inline void compare(const tn_columns *whole, const tn_columns *pieces) {
  fuzz_expect(whole->rows == pieces->rows, "pieces do not change the number of rows");
  for (size_t i = 0; i < whole->count; i++)
    fuzz_expect(same_items(&whole->at[i], &pieces->at[i]), "pieces do not change a value");
}

/* A mistake in the text of a file has a line. */
static inline void expect_place(const tn_data_fault *fault) {
  bool of_file = fault->problem == TN_DATA_MEMORY || fault->problem == TN_DATA_FILE ||
                 fault->problem == TN_DATA_EMPTY;
  fuzz_expect(of_file || fault->line > 0, "what is wrong with a row is said with its line");
}

typedef bool (*fuzz_reader)(tn_heap *, const tn_csv_request *, tn_columns *, tn_data_fault *);

/* Reads whole, and in pieces of so many bytes. */
static inline void fuzz_columns(fuzz_reader read, tn_csv_request *request, size_t piece) {
  tn_file_faults few = { .most_bytes = piece };
  tn_heap heap = { .limit = (size_t)64 << 20 };
  tn_columns whole, pieces;
  tn_data_fault fault, other;
  bool ok = read(&heap, request, &whole, &fault);
  request->faults = &few;
  fuzz_expect(read(&heap, request, &pieces, &other) == ok, "pieces decide nothing");
  fuzz_expect(ok == (fault.problem == TN_DATA_OK), "what is refused has a reason, and only that");
  fuzz_expect(fault.problem == other.problem && fault.line == other.line && fault.col == other.col,
              "pieces do not move a fault");
  if (ok) {
    expect_whole(&whole);
    compare(&whole, &pieces);
  } else {
    expect_place(&fault);
  }
  tn_columns_free(&whole);
  tn_columns_free(&pieces);
  fuzz_expect(heap.used == 0, "reading gives all memory back");
}
#endif
