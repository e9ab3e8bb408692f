/* fuzz/bpe.c: any bytes as a tokenizer.json. What is read then encodes a text, and the tokens decode. */
#include "data/bpe.h"
#include "fuzz.h"

static void use(tn_heap *heap, tn_bpe *bpe, tn_str text) {
  tn_i32s tokens = { 0 };
  tn_text back;
  tn_text_init(&back, heap);
  if (tn_bpe_encode(bpe, text, 4096, &tokens)) {
    fuzz_expect(tokens.count <= 4096, "no more tokens than were asked for");
    for (size_t i = 0; i < tokens.count; i++) {
      fuzz_expect(tokens.at[i] >= 0 && tokens.at[i] < tn_bpe_size(bpe), "a token is in the vocabulary");
      tn_bpe_decode(bpe, tokens.at[i], &back);
    }
  }
  tn_vec_free(heap, &tokens);
  tn_text_free(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tn_heap heap = { .limit = (size_t)256 << 20 };
  tn_bpe_fault fault;
  tn_str file = { (const char *)data, size };
  tn_bpe *bpe = tn_bpe_new(&heap, file, &fault);
  fuzz_expect((bpe == NULL) == (fault.problem != TN_BPE_OK), "what is refused has a reason, and only that");
  if (bpe) {
    use(&heap, bpe, TN_LIT("it's  abc a<b> 12 \xc3\xa4\n\n x"));
    use(&heap, bpe, file);
  }
  tn_bpe_free(bpe);
  fuzz_expect(heap.used == 0, "all memory is freed");
  return 0;
}
