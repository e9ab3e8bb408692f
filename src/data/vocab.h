/* data/vocab.h: turns texts into tokens: words, characters, bytes or byte pairs.
 *
 * A vocabulary of words or characters is counted from texts and then numbered:
 * 0 is padding, 1 is any word that is not in the vocabulary, and the others
 * follow from 2, the most frequent first; ties are in the order of their bytes.
 * So it depends on the texts and not on their order. A byte is
 * its own token, and 0 also pads; byte pairs have the numbers of their file. */
#ifndef TN_DATA_VOCAB_H
#define TN_DATA_VOCAB_H

#include "data/bpe.h"

typedef enum { TN_VOCAB_WORDS, TN_VOCAB_CHARS, TN_VOCAB_BYTES, TN_VOCAB_BPE } tn_vocab_kind;
#define TN_VOCAB_PADDING 0
#define TN_VOCAB_UNKNOWN 1
#define TN_VOCAB_FIRST 2

typedef struct tn_vocab tn_vocab;

/* Words, characters or bytes; NULL when memory runs out. */
tn_vocab *tn_vocab_new(tn_heap *heap, tn_vocab_kind kind);
/* Byte pairs from the contents of a tokenizer.json; NULL after a fault. */
tn_vocab *tn_vocab_new_bpe(tn_heap *heap, tn_str file, tn_bpe_fault *fault);
void tn_vocab_free(tn_vocab *vocab);

/* Counts the words or characters of a text. False when memory runs out. */
bool tn_vocab_count(tn_vocab *vocab, tn_str text);
/* Numbers what was counted; at most `limit` tokens in all, if it is not 0. False when memory runs out. */
bool tn_vocab_number(tn_vocab *vocab, size_t limit);

/* The vocabulary of a model that was trained: the next word or character, from TN_VOCAB_FIRST on. False when
 * memory runs out or the vocabulary has it. */
bool tn_vocab_add(tn_vocab *vocab, tn_str text);

/* The tokens of a text, at most `limit` of them, after those of `out`. False when memory runs out. */
bool tn_vocab_encode(tn_vocab *vocab, tn_str text, size_t limit, tn_i32s *out);
int32_t tn_vocab_padding(const tn_vocab *vocab);
size_t tn_vocab_size(const tn_vocab *vocab);
/* The text of a token of words or characters, from TN_VOCAB_FIRST on. */
tn_str tn_vocab_text(const tn_vocab *vocab, size_t token);

/* The text that a token adds: nothing for padding, the unknown token and invalid ids. A space
 * precedes a word unless it is the first. The text fails when memory runs out. */
void tn_vocab_decode(const tn_vocab *vocab, int32_t token, bool first, tn_text *out);
/* The first word or character of a text that the vocabulary does not have. False: it has all. */
bool tn_vocab_find_unknown(const tn_vocab *vocab, tn_str text, tn_str *out);

/* The next word or character of a text from *at on, which moves past it; false at the end. A word is a run of
 * letters, numbers, marks and underscores; any other character except white space is a token. */
bool tn_vocab_next(tn_vocab_kind kind, tn_str text, size_t *at, tn_str *out);
#endif
