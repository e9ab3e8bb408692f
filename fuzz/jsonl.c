/* fuzz/jsonl.c: any bytes as rows of JSONL. */
#include "table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_table(TN_TABLE_JSONL, data, size);
  return 0;
}
