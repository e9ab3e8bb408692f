/* fuzz/tsv.c: any bytes as rows of TSV. */
#include "table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_table(TN_TABLE_TSV, data, size);
  return 0;
}
