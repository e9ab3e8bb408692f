/* data/bpe_internal.h: the tokenizer that bpe.c reads and bpe_encode.c uses. */
#ifndef TN_DATA_BPE_INTERNAL_H
#define TN_DATA_BPE_INTERNAL_H

#include "base/map.h"
#include "data/bpe.h"

#define TN_BPE_TOKEN_LIMIT (1 << 24) /* the largest number a token may have */

/* A text that is one token wherever it occurs. */
typedef struct {
  tn_str text;
  int32_t token;
  bool normalized; /* looked for after the others */
} tn_bpe_added;

/* A token of the word that is being merged. */
typedef struct {
  int32_t token;
  int32_t before, after; /* its neighbours, or -1 */
  bool merged;           /* into the one before */
} tn_bpe_symbol;

typedef struct {
  uint32_t rank;
  int32_t place, token; /* of the left part, and what both become */
} tn_bpe_merge;

struct tn_bpe {
  tn_heap *heap;
  tn_arena arena;                      /* texts of added tokens */
  tn_names *names;                     /* every text of the vocabulary, in the alphabet */
  tn_vec(int32_t) tokens;              /* the token of each name, from name 1 on */
  tn_vec(tn_str) texts;                /* of each token; .at is NULL where there is none */
  tn_vec(tn_bpe_added) added;
  bool is_added_first[256];            /* the first bytes of added tokens */
  tn_map merges;                       /* two tokens to rank and result, in halves of a word */
  int32_t byte_token[256];             /* or -1 */
  int32_t unknown;                     /* for bytes without a token; -1: they are left out */
  int32_t padding;
  bool fuses_unknown, ignores_merges;  /* a word of the vocabulary is not merged */
  bool prefixes_space, divides;
  tn_vec(tn_bpe_symbol) symbols;       /* while encoding */
  tn_vec(tn_bpe_merge) queue;
  tn_text word;
};

/* The character of a byte in a vocabulary: itself if it is printable, else the next of
 * those from U+0100 on. */
uint32_t tn_bpe_letter(unsigned byte);
/* The token of a text in that alphabet, or -1. */
int32_t tn_bpe_find(const tn_bpe *bpe, tn_str text);
#endif
