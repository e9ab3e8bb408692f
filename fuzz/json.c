/* fuzz/json.c: any bytes as JSON: read whole and in pieces, which must agree. */
#include <string.h>

#include "base/json.h"
#include "fuzz.h"

/* A hash of the tokens up to the end or the first mistake; *fine says which. */
static uint64_t whole(tn_str text, bool *fine) {
  tn_heap heap = { 0 };
  tn_arena arena;
  tn_json_reader reader;
  tn_json_token token;
  uint64_t hash = 14695981039346656037u;
  tn_arena_init(&arena, &heap);
  tn_json_init(&reader, text, &arena);
  while (tn_json_next(&reader, &token) > TN_JSON_END) {
    hash = (hash ^ (uint64_t)token.kind) * 1099511628211u;
    for (size_t i = 0; i < token.text.len; i++) hash = (hash ^ (uint8_t)token.text.at[i]) * 1099511628211u;
  }
  *fine = token.kind == TN_JSON_END;
  fuzz_expect(*fine || reader.reason != NULL, "a text that is refused is refused for a reason");
  tn_arena_free(&arena);
  fuzz_expect(heap.used == 0, "reading gives all memory back");
  return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tn_str text = { (const char *)data, size };
  bool first, second;
  fuzz_expect(whole(text, &first) == whole(text, &second) && first == second, "reading twice gives the same");
  return 0;
}
