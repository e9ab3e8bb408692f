/* fuzz/ninth_check.c: any text as a Ninth program: read, checked, formatted. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_check(TERN_LANG_NINTH, data, size);
  return 0;
}
