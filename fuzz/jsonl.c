/* fuzz/jsonl.c: any bytes as rows of JSONL: as features and labels, and as a table.
 *
 * A table is read twice, whole and in pieces of a few bytes; both must give the same rows, or the same
 * fault. */
#include "columns.h"
#include "data/jsonl.h"
#include "table.h"

enum { FUZZ_MAY_MISS = 32, FUZZ_NAMED = 64, FUZZ_OPEN = 128 };

static void fuzz_objects(unsigned how, const char *path) {
  const tn_csv_pick x[] = { { .name = TN_LIT("tokens") }, { .name = TN_LIT("x") } };
  const tn_csv_pick label[] = { { .name = TN_LIT("label") } }, text[] = { { .name = TN_LIT("text") } };
  const int64_t square[] = { 2, 2 };
  const tn_csv_column columns[] = {
    { .kind = how & FUZZ_FLOATS ? TN_COLUMN_F32 : TN_COLUMN_I32, .picks = x, .pick_count = how & 2 ? 2 : 1,
      .may_miss = how & FUZZ_MAY_MISS, .fill = 7, .width = how & FUZZ_OPEN ? 0 : 4,
      .row = tn_shape_of(square, how & 2 ? 1 : 2) },
    { .kind = TN_COLUMN_CLASS, .picks = label, .pick_count = 1, .other = TN_LIT("labels"),
      .row = TN_SCALAR_SHAPE, .classes = how & FUZZ_NAMED ? TN_CLASSES_NAMED : TN_CLASSES_BY_FIRST_ROW },
    { .kind = TN_COLUMN_TEXT, .picks = text, .pick_count = 1, .ignored = how & FUZZ_COLUMNS,
      .row = TN_SCALAR_SHAPE },
  };
  tn_csv_request request = { .path = path, .columns = columns, .column_count = 3 };
  fuzz_columns(tn_jsonl_read, &request, 1 + (how >> 5));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_table(TN_TABLE_JSONL, data, size);
  const char *path = size > 0 ? fuzz_file(data + 1, size - 1) : NULL;
  if (path) fuzz_objects(data[0], path);
  return 0;
}
