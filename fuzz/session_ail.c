/* fuzz/session_ail.c: any lines as an interactive session in AILang. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_talk(TERN_LANG_AIL, data, size);
  return 0;
}
