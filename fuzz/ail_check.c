/* fuzz/ail_check.c: any text as an AILang program: read, checked, formatted. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_check(TERN_LANG_AIL, data, size);
  return 0;
}
