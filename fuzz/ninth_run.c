/* fuzz/ninth_run.c: any text as a Ninth program, run within limits. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_run(TERN_LANG_NINTH, data, size);
  return 0;
}
