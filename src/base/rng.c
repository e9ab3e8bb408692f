/* base/rng.c: ChaCha8, one block or four side by side.
 *
 * Blocks differ only in their counters, so the bulk path keeps word i of
 * several in one row and lets the compiler put a row into vector registers:
 * plain C, no instruction set named, the same words. */
#include "base/rng.h"

#include <assert.h>
#include <string.h>

#define BLOCK_WORDS 16
#define LANES 4   /* a row fills one 128-bit register, and sixteen rows all of them */
#define ROUNDS 8

/* "expand 32-byte k" as four little-endian words. */
static const uint32_t chacha_constant[4] = { 0x61707865, 0x3320646e, 0x79622d32, 0x6b206574 };

tn_rng_key tn_rng_key_of(uint64_t seed) {
  tn_rng_key key;
  for (int i = 0; i < 8; i++) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(11634580027462260723);
    uint32_t x = (uint32_t)((seed >> 18 ^ seed) >> 27);
    unsigned right = (unsigned)(seed >> 59);
    key.word[i] = x >> right | x << (32 - right) % 32;
  }
  return key;
}

/* ---- blocks ---- */

static inline uint32_t rotate_left(uint32_t x, int bits) {
  return x << bits | x >> (32 - bits);
}

#define QUARTER_ROUND(a, b, c, d)       \
  (a += b, d = rotate_left(d ^ a, 16),  \
   c += d, b = rotate_left(b ^ c, 12),  \
   a += b, d = rotate_left(d ^ a, 8),   \
   c += d, b = rotate_left(b ^ c, 7))

/* Down the columns, then along the diagonals. Word i of the state is s[i * stride]. */
static inline void double_round(uint32_t *s, size_t stride) {
  uint32_t *a = s, *b = s + 4 * stride, *c = s + 8 * stride, *d = s + 12 * stride;
  uint32_t a0 = a[0], a1 = a[stride], a2 = a[2 * stride], a3 = a[3 * stride];
  uint32_t b0 = b[0], b1 = b[stride], b2 = b[2 * stride], b3 = b[3 * stride];
  uint32_t c0 = c[0], c1 = c[stride], c2 = c[2 * stride], c3 = c[3 * stride];
  uint32_t d0 = d[0], d1 = d[stride], d2 = d[2 * stride], d3 = d[3 * stride];
  QUARTER_ROUND(a0, b0, c0, d0), QUARTER_ROUND(a1, b1, c1, d1);
  QUARTER_ROUND(a2, b2, c2, d2), QUARTER_ROUND(a3, b3, c3, d3);
  QUARTER_ROUND(a0, b1, c2, d3), QUARTER_ROUND(a1, b2, c3, d0);
  QUARTER_ROUND(a2, b3, c0, d1), QUARTER_ROUND(a3, b0, c1, d2);
  a[0] = a0, a[stride] = a1, a[2 * stride] = a2, a[3 * stride] = a3;
  b[0] = b0, b[stride] = b1, b[2 * stride] = b2, b[3 * stride] = b3;
  c[0] = c0, c[stride] = c1, c[2 * stride] = c2, c[3 * stride] = c3;
  d[0] = d0, d[stride] = d1, d[2 * stride] = d2, d[3 * stride] = d3;
}

static void start(const tn_rng_key *key, uint64_t counter, uint32_t state[BLOCK_WORDS]) {
  memcpy(state, chacha_constant, sizeof chacha_constant);
  memcpy(state + 4, key->word, sizeof key->word);
  state[12] = (uint32_t)counter;
  state[13] = (uint32_t)(counter >> 32);
  state[14] = state[15] = 0;
}

static void one_block(const tn_rng_key *key, uint64_t counter, uint32_t out[BLOCK_WORDS]) {
  uint32_t first[BLOCK_WORDS];
  start(key, counter, first);
  memcpy(out, first, sizeof first);
  for (int i = 0; i < ROUNDS; i += 2) double_round(out, 1);
  for (int i = 0; i < BLOCK_WORDS; i++) out[i] += first[i];
}

/* Word i of the block in lane l is state[i * LANES + l]. */
static void start_lanes(const tn_rng_key *key, uint64_t counter, uint32_t state[BLOCK_WORDS * LANES]) {
  for (int lane = 0; lane < LANES; lane++) {
    uint32_t one[BLOCK_WORDS];
    start(key, counter + (uint64_t)lane, one);
    for (int i = 0; i < BLOCK_WORDS; i++) state[i * LANES + lane] = one[i];
  }
}

/* Blocks counter, counter + 1, ..., one behind the other. */
static void several_blocks(const tn_rng_key *key, uint64_t counter, uint32_t out[LANES * BLOCK_WORDS]) {
  uint32_t first[BLOCK_WORDS * LANES], s[BLOCK_WORDS * LANES];
  start_lanes(key, counter, first);
  memcpy(s, first, sizeof s);
  for (int i = 0; i < ROUNDS; i += 2) {
    for (int lane = 0; lane < LANES; lane++) double_round(s + lane, LANES);
  }
  for (int lane = 0; lane < LANES; lane++) {
    uint32_t *block = out + lane * BLOCK_WORDS;
    for (int i = 0; i < BLOCK_WORDS; i++) block[i] = s[i * LANES + lane] + first[i * LANES + lane];
  }
}

/* ---- the sequence ---- */

uint32_t tn_rng_word_at(const tn_rng_key *key, uint64_t index) {
  uint32_t block[BLOCK_WORDS];
  one_block(key, index / BLOCK_WORDS, block);
  return block[index % BLOCK_WORDS];
}

/* Up to a whole block from the middle of one; how many words that are. */
static size_t part_of_block(const tn_rng_key *key, uint64_t first, size_t count, uint32_t *out) {
  uint32_t block[BLOCK_WORDS];
  size_t from = (size_t)(first % BLOCK_WORDS), taken = BLOCK_WORDS - from;
  if (taken > count) taken = count;
  one_block(key, first / BLOCK_WORDS, block);
  memcpy(out, block + from, taken * sizeof *out);
  return taken;
}

void tn_rng_words(const tn_rng_key *key, uint64_t first, size_t count, uint32_t *out) {
  while (count) {
    size_t taken = LANES * BLOCK_WORDS;
    if (first % BLOCK_WORDS == 0 && count >= taken) several_blocks(key, first / BLOCK_WORDS, out);
    else taken = part_of_block(key, first, count, out);
    first += taken;
    out += taken;
    count -= taken;
  }
}

/* ---- a generator ---- */

void tn_rng_init(tn_rng *rng, uint64_t seed) {
  *rng = (tn_rng){ .seed = seed, .key = tn_rng_key_of(seed), .buffered = UINT64_MAX };
}

void tn_rng_seek(tn_rng *rng, uint64_t position) {
  rng->position = position;
}

uint32_t tn_rng_next(tn_rng *rng) {
  uint64_t start_of_buffer = rng->position - rng->position % TN_RNG_BUFFER;
  if (rng->buffered != start_of_buffer) {
    tn_rng_words(&rng->key, start_of_buffer, TN_RNG_BUFFER, rng->words);
    rng->buffered = start_of_buffer;
  }
  return rng->words[rng->position++ % TN_RNG_BUFFER];
}

float tn_rng_uniform(tn_rng *rng) {
  return tn_rng_uniform_of(tn_rng_next(rng));
}

uint32_t tn_rng_below(tn_rng *rng, uint32_t n) {
  assert(n > 0);
  uint32_t zone = n;
  while (!(zone & UINT32_C(0x80000000))) zone <<= 1;
  for (;;) {
    uint64_t product = (uint64_t)tn_rng_next(rng) * n;
    if ((uint32_t)product <= zone - 1) return (uint32_t)(product >> 32);
  }
}

void tn_rng_shuffle(tn_rng *rng, uint32_t *items, uint32_t count) {
  for (uint32_t i = count; i-- > 1;) {
    uint32_t j = tn_rng_below(rng, i + 1), item = items[i];
    items[i] = items[j];
    items[j] = item;
  }
}

static uint64_t avalanche(uint64_t x) {
  x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
  x = (x ^ x >> 29) * UINT64_C(0x9fb21c651e98df25);
  return x ^ x >> 32;
}

uint64_t tn_rng_mix(uint64_t a, uint64_t b) {
  /* The added constants keep (0, 0) and small numbers away from fixed points. */
  uint64_t x = avalanche(a + UINT64_C(0x9e3779b97f4a7c15));
  return avalanche(x ^ (b + UINT64_C(0xc2b2ae3d27d4eb4f)) * UINT64_C(0xff51afd7ed558ccd));
}
