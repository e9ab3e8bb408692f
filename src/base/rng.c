/* base/rng.c: ChaCha8, four blocks side by side.
 *
 * Blocks differ only in their counters, so word i of four blocks is one row, and the compiler keeps
 * a row in a vector register: portable C, and the same words everywhere. Words are always generated
 * in groups of four blocks; a single word costs a whole group. */
#include "base/rng.h"

#include <assert.h>
#include <string.h>

#define BLOCK_WORDS 16
#if defined(__NVPTX__)
#define LANES 1   /* a thread of a card has no vectors */
#else
#define LANES 4   /* a row fills one 128-bit register, and sixteen rows all of them */
#endif
#define GROUP_WORDS (BLOCK_WORDS * LANES)
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

typedef uint32_t row[LANES];

static inline uint32_t rotate_left(uint32_t x, int bits) {
  return x << bits | x >> (32 - bits);
}

#define QUARTER_ROUND(a, b, c, d)       \
  (a += b, d = rotate_left(d ^ a, 16),  \
   c += d, b = rotate_left(b ^ c, 12),  \
   a += b, d = rotate_left(d ^ a, 8),   \
   c += d, b = rotate_left(b ^ c, 7))

/* Down the columns, then along the diagonals, in every lane. Written out, because compilers
 * vectorise that at their ordinary settings. */
static void double_round(row s[BLOCK_WORDS]) {
  for (int i = 0; i < LANES; i++) {
    uint32_t a0 = s[0][i], a1 = s[1][i], a2 = s[2][i], a3 = s[3][i];
    uint32_t b0 = s[4][i], b1 = s[5][i], b2 = s[6][i], b3 = s[7][i];
    uint32_t c0 = s[8][i], c1 = s[9][i], c2 = s[10][i], c3 = s[11][i];
    uint32_t d0 = s[12][i], d1 = s[13][i], d2 = s[14][i], d3 = s[15][i];
    QUARTER_ROUND(a0, b0, c0, d0), QUARTER_ROUND(a1, b1, c1, d1);
    QUARTER_ROUND(a2, b2, c2, d2), QUARTER_ROUND(a3, b3, c3, d3);
    QUARTER_ROUND(a0, b1, c2, d3), QUARTER_ROUND(a1, b2, c3, d0);
    QUARTER_ROUND(a2, b3, c0, d1), QUARTER_ROUND(a3, b0, c1, d2);
    s[0][i] = a0, s[1][i] = a1, s[2][i] = a2, s[3][i] = a3;
    s[4][i] = b0, s[5][i] = b1, s[6][i] = b2, s[7][i] = b3;
    s[8][i] = c0, s[9][i] = c1, s[10][i] = c2, s[11][i] = c3;
    s[12][i] = d0, s[13][i] = d1, s[14][i] = d2, s[15][i] = d3;
  }
}

/* Constants, key, 64-bit block counter, stream 0. */
static void start(const tn_rng_key *key, uint64_t counter, row state[BLOCK_WORDS]) {
  uint32_t same[BLOCK_WORDS] = { 0 };
  memcpy(same, chacha_constant, sizeof chacha_constant);
  memcpy(same + 4, key->word, sizeof key->word);
  for (int i = 0; i < BLOCK_WORDS; i++) {
    for (int lane = 0; lane < LANES; lane++) state[i][lane] = same[i];
  }
  for (int lane = 0; lane < LANES; lane++) {
    state[12][lane] = (uint32_t)(counter + (uint64_t)lane);
    state[13][lane] = (uint32_t)((counter + (uint64_t)lane) >> 32);
  }
}

/* Words group * GROUP_WORDS and on: the group's blocks one after the other. */
static void draw_group(const tn_rng_key *key, uint64_t group, uint32_t out[GROUP_WORDS]) {
  row first[BLOCK_WORDS], s[BLOCK_WORDS];
  start(key, group * LANES, first);
  memcpy(s, first, sizeof s);
  for (int i = 0; i < ROUNDS; i += 2) double_round(s);
  for (int i = 0; i < BLOCK_WORDS; i++) {
    for (int lane = 0; lane < LANES; lane++) s[i][lane] += first[i][lane];
  }
  for (int lane = 0; lane < LANES; lane++) {
    for (int i = 0; i < BLOCK_WORDS; i++) out[lane * BLOCK_WORDS + i] = s[i][lane];
  }
}

/* ---- the sequence ---- */

uint32_t tn_rng_word_at(const tn_rng_key *key, uint64_t index) {
  uint32_t word;
  tn_rng_words(key, index, 1, &word);
  return word;
}

/* The words of one group from `first` on, as many as it has, at most count. */
static size_t part_of_group(const tn_rng_key *key, uint64_t first, size_t count, uint32_t *out) {
  uint32_t group[GROUP_WORDS];
  size_t from = (size_t)(first % GROUP_WORDS), taken = GROUP_WORDS - from;
  if (taken > count) taken = count;
  draw_group(key, first / GROUP_WORDS, group);
  memcpy(out, group + from, taken * sizeof *out);
  return taken;
}

void tn_rng_words(const tn_rng_key *key, uint64_t first, size_t count, uint32_t *out) {
  while (count) {
    size_t taken = GROUP_WORDS;
    if (first % GROUP_WORDS == 0 && count >= GROUP_WORDS) draw_group(key, first / GROUP_WORDS, out);
    else taken = part_of_group(key, first, count, out);
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
