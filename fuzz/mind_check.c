/* fuzz/mind_check.c: any text as a MIND module: read, checked, formatted. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_check(TERN_LANG_MIND, data, size);
  return 0;
}
