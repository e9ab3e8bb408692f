/* base/rng.h: the random number generator, the only one in tern.
 *
 * ChaCha with 8 rounds turned into a sequence of 32-bit words: block counter
 * from 0, stream 0, words in block order. The sequence of a seed is a function
 * of the word's index, so a kernel may draw word k directly and in parallel,
 * and a generator's whole state is its seed and how many words it has used.
 *
 * The numbers are part of the language: they are the same on every machine and
 * never change. Not for secrets. */
#ifndef TN_BASE_RNG_H
#define TN_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
  uint32_t word[8];
} tn_rng_key;

tn_rng_key tn_rng_key_of(uint64_t seed);
/* Word `index` of the key's sequence. */
uint32_t tn_rng_word_at(const tn_rng_key *key, uint64_t index);
/* Words first, first + 1, ...; much faster than one by one. */
void tn_rng_words(const tn_rng_key *key, uint64_t first, size_t count, uint32_t *out);

/* In [0, 1), a multiple of 2^-24. */
static inline float tn_rng_uniform_of(uint32_t word) {
  return (float)(word >> 8) * 0x1p-24f;
}
/* Standard normal from two words, by Box and Muller, rounded once from f64. */
float tn_rng_normal_of(uint32_t first, uint32_t second);

/* A generator that reads the sequence in order. `seed` and `position` are its whole state: init and
 * seek restore it. */
#define TN_RNG_BUFFER 64
typedef struct {
  uint64_t seed;
  uint64_t position;            /* index of the next word */
  tn_rng_key key;
  uint64_t buffered;            /* index of words[0]; UINT64_MAX: nothing is buffered */
  uint32_t words[TN_RNG_BUFFER];
} tn_rng;

void tn_rng_init(tn_rng *rng, uint64_t seed);
void tn_rng_seek(tn_rng *rng, uint64_t position);
uint32_t tn_rng_next(tn_rng *rng);
float tn_rng_uniform(tn_rng *rng);
/* In [0, n), all equally likely; n is at least 1. Uses one word, rarely more. */
uint32_t tn_rng_below(tn_rng *rng, uint32_t n);
/* Shuffles the items, all orders equally likely: for i from count-1 down to 1 item i is swapped
 * with item below(i+1). */
void tn_rng_shuffle(tn_rng *rng, uint32_t *items, uint32_t count);
/* Uses two words. */
float tn_rng_normal(tn_rng *rng);

/* A 64-bit number that looks unrelated to both: the seed of a sequence that is
 * keyed by two numbers, such as dropout's by seed and step. Not symmetric. */
uint64_t tn_rng_mix(uint64_t a, uint64_t b);
#endif
