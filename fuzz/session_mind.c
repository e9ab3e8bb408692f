/* fuzz/session_mind.c: any lines as an interactive session in MIND. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_talk(TERN_LANG_MIND, data, size);
  return 0;
}
