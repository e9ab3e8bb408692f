/* fuzz/session_ninth.c: any lines as an interactive session in Ninth. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_talk(TERN_LANG_NINTH, data, size);
  return 0;
}
