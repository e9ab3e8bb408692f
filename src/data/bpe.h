/* data/bpe.h: byte-level byte pair encoding, from the tokenizer.json of Hugging Face.
 *
 * A text is split at added tokens, then by GPT-2's rule (a word with the space before it, a number,
 * other signs, white space). Each part is merged, pair by pair in the order of the file's merges,
 * from single bytes to tokens. The token ids equal those of the Hugging Face library without the
 * special tokens that a post-processor adds.
 *
 * Another model, normaliser, pre-tokeniser or post-processor, or an option that
 * would change a result, is refused by name. */
#ifndef TN_DATA_BPE_H
#define TN_DATA_BPE_H

#include "base/json.h"

typedef enum {
  TN_BPE_OK,
  TN_BPE_MEMORY,
  TN_BPE_JSON,        /* `detail`: why it is not JSON, `at`: the byte */
  TN_BPE_FORM,        /* `part` is not what the format says */
  TN_BPE_UNSUPPORTED, /* `part` is `detail`, which tern does not have */
  TN_BPE_MERGE        /* a merge whose parts or result are not in the vocabulary: `detail` */
} tn_bpe_problem;

typedef struct {
  tn_bpe_problem problem;
  const char *part; /* static: "pre_tokenizer", "model", ... */
  char detail[64];
  uint64_t at;
} tn_bpe_fault;

typedef struct tn_bpe tn_bpe;

/* From the contents of the file, which are not kept. NULL after a fault. */
tn_bpe *tn_bpe_new(tn_heap *heap, tn_str file, tn_bpe_fault *fault);
void tn_bpe_free(tn_bpe *bpe);

/* The tokens of a text (UTF-8), at most `limit` of them, after those of `out`. False when memory runs out. */
bool tn_bpe_encode(tn_bpe *bpe, tn_str text, size_t limit, tn_i32s *out);
/* One more than the largest token. */
int32_t tn_bpe_size(const tn_bpe *bpe);
/* What the file pads with, or 0. */
int32_t tn_bpe_padding(const tn_bpe *bpe);
/* Adds the bytes of a token to `out`; nothing for an unknown id. */
void tn_bpe_decode(const tn_bpe *bpe, int32_t token, tn_text *out);
#endif
