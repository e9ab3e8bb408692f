/* fuzz/csv.c: any bytes as a CSV file. The first says how it is read.
 *
 * It is read twice, whole and in pieces of a few bytes; both must give the same rows, or the same fault. */
#include <string.h>

#include "data/csv.h"
#include "fuzz.h"

enum { FUZZ_HEADER = 1, FUZZ_PICKS = 2, FUZZ_MAY_MISS = 4, FUZZ_SEMICOLON = 8 };

static bool same_items(const tn_column *a, const tn_column *b) {
  size_t reals = a->reals.count * sizeof(float), ints = a->ints.count * sizeof(int32_t);
  if (a->reals.count != b->reals.count || a->ints.count != b->ints.count) return false;
  if (a->text.len != b->text.len || a->ends.count != b->ends.count) return false;
  return (reals == 0 || memcmp(a->reals.at, b->reals.at, reals) == 0) &&
         (ints == 0 || memcmp(a->ints.at, b->ints.at, ints) == 0) &&
         (a->text.len == 0 || memcmp(a->text.at, b->text.at, a->text.len) == 0);
}

static void expect_whole(const tn_columns *columns) {
  fuzz_expect(columns->rows > 0, "a table has rows");
  for (size_t i = 0; i < columns->count; i++) {
    const tn_column *column = &columns->at[i];
    size_t items = column->reals.count + column->ints.count + column->ends.count;
    fuzz_expect(items == columns->rows * column->width, "every row has every item");
    for (size_t k = 0; column->classes && k < column->ints.count; k++)
      fuzz_expect((size_t)column->ints.at[k] < column->class_count, "a class has a name");
  }
}

static void compare(const tn_columns *whole, const tn_columns *pieces) {
  fuzz_expect(whole->rows == pieces->rows, "pieces do not change the number of rows");
  for (size_t i = 0; i < whole->count; i++)
    fuzz_expect(same_items(&whole->at[i], &pieces->at[i]), "pieces do not change a value");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const tn_csv_pick first[] = { { .first = 0, .last = 0 } }, second[] = { { .first = 1, .last = 2 } };
  unsigned how = size > 0 ? data[0] : 0;
  const char *path = size > 0 ? fuzz_file(data + 1, size - 1) : NULL;
  if (!path) return 0;
  bool picks = how & FUZZ_PICKS;
  const tn_csv_column columns[] = {
    { .kind = TN_COLUMN_CLASS, .picks = first, .pick_count = 1 },
    { .kind = how >> 4 & 1 ? TN_COLUMN_I32 : TN_COLUMN_F32, .picks = second, .pick_count = picks,
      .may_miss = how & FUZZ_MAY_MISS, .fill = 7 },
    { .kind = TN_COLUMN_TEXT },
  };
  tn_file_faults few = { .most_bytes = 1 + (how >> 5) };
  tn_csv_request request = { .path = path,
                             .delimiter = how & FUZZ_SEMICOLON ? ';' : ',',
                             .header = how & FUZZ_HEADER,
                             .columns = columns,
                             .column_count = 3 };
  tn_heap heap = { .limit = (size_t)64 << 20 };
  tn_columns whole, pieces;
  tn_data_fault fault, other;
  bool ok = tn_csv_read(&heap, &request, &whole, &fault);
  request.faults = &few;
  fuzz_expect(tn_csv_read(&heap, &request, &pieces, &other) == ok, "pieces decide nothing");
  fuzz_expect(ok == (fault.problem == TN_DATA_OK), "what is refused has a reason, and only that");
  fuzz_expect(fault.problem == other.problem && fault.line == other.line && fault.col == other.col,
              "pieces do not move a fault");
  if (ok) {
    expect_whole(&whole);
    compare(&whole, &pieces);
  }
  tn_columns_free(&whole);
  tn_columns_free(&pieces);
  fuzz_expect(heap.used == 0, "reading gives all memory back");
  return 0;
}
