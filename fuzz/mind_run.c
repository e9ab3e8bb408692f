/* fuzz/mind_run.c: any text as a MIND module, run within limits. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_run(TERN_LANG_MIND, data, size);
  return 0;
}
