/* fuzz/csv.c: any bytes as a CSV file. The first says how it is read.
 *
 * It is read twice, whole and in pieces of a few bytes; both must give the same rows, or the same fault. */
#include "columns.h"

enum { FUZZ_HEADER = 1, FUZZ_PICKS = 2, FUZZ_MAY_MISS = 4, FUZZ_SEMICOLON = 8 };

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
  tn_csv_request request = { .path = path,
                             .delimiter = how & FUZZ_SEMICOLON ? ';' : ',',
                             .header = how & FUZZ_HEADER,
                             .columns = columns,
                             .column_count = 3 };
  fuzz_columns(tn_csv_read, &request, 1 + (how >> 5));
  return 0;
}
