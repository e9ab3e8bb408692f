/* fuzz/graph.c: any text as a graph: read, verified, planned, run. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_run(TERN_LANG_GRAPH, data, size);
  return 0;
}
