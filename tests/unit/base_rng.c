/* The generator: the words, draws and shuffles that the languages fix. */
#include "base_support.h"

#include <math.h>

#include "base/rng.h"

/* ---- words ---- */

static void the_first_words_of_a_seed_are_fixed(void **state) {
  (void)state;
  static const struct { uint64_t seed; uint32_t words[4]; int count; } cases[] = {
    { 42, { 0x395d5ba1, 0xae90bfb5, 0x25799188, 0xf3453fc6 }, 4 },
    { 0, { 0xa79a3b6c, 0xb585f767 }, 2 },
    { 123, { 0xe7302b93, 0xda7d2556 }, 2 },
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tn_rng rng;
    tn_rng_key key = tn_rng_key_of(cases[i].seed);
    tn_rng_init(&rng, cases[i].seed);
    for (int k = 0; k < cases[i].count; k++) {
      assert_int_equal(tn_rng_next(&rng), cases[i].words[k]);
      assert_int_equal(tn_rng_word_at(&key, (uint64_t)k), cases[i].words[k]);
    }
  }
}

/* The published key stream of ChaCha8 for a key of zeros. */
static void a_zero_key_gives_the_published_stream(void **state) {
  (void)state;
  static const char stream[] =
    "3e00ef2f895f40d67f5bb8e81f09a5a12c840ec3ce9a7f3b181be188ef711a1e"
    "984ce172b9216f419f445367456d5619314a42a3da86b001387bfdb80e0cfe42"
    "d2aefa0deaa5c151bf0adb6c01f2a5adc0fd581259f9a2aadcf20f8fd566a26b"
    "5032ec38bbc5da98ee0c6f568b872a65a08abf251deb21bb4b56e5d8821e68aa";
  tn_rng_key key = { { 0 } };
  char text[sizeof stream];
  for (int i = 0; i < 32; i++) {
    uint32_t word = tn_rng_word_at(&key, (uint64_t)i);
    for (int b = 0; b < 4; b++) snprintf(text + 8 * i + 2 * b, 3, "%02x", word >> 8 * b & 255);
  }
  assert_string_equal(text, stream);
}

/* The block function once more, word by word as its definition reads. */
static uint32_t plain_word(const tn_rng_key *key, uint64_t index) {
  static const int quarter[8][4] = { { 0, 4, 8, 12 }, { 1, 5, 9, 13 }, { 2, 6, 10, 14 }, { 3, 7, 11, 15 },
                                     { 0, 5, 10, 15 }, { 1, 6, 11, 12 }, { 2, 7, 8, 13 }, { 3, 4, 9, 14 } };
  static const int left[4] = { 16, 12, 8, 7 };
  uint32_t first[16] = { 0x61707865, 0x3320646e, 0x79622d32, 0x6b206574 }, s[16];
  memcpy(first + 4, key->word, sizeof key->word);
  first[12] = (uint32_t)(index / 16);
  first[13] = (uint32_t)(index / 16 >> 32);
  memcpy(s, first, sizeof s);
  for (int step = 0; step < 4 * 8; step++) {
    const int *q = quarter[step % 8];
    for (int i = 0; i < 4; i++) {
      int to = q[i % 2 ? 2 : 0], from = q[i % 2 ? 3 : 1], turned = q[i % 2 ? 1 : 3];
      s[to] += s[from];
      s[turned] ^= s[to];
      s[turned] = s[turned] << left[i] | s[turned] >> (32 - left[i]);
    }
  }
  return s[index % 16] + first[index % 16];
}

static void words_are_addressed_by_index(void **state) {
  (void)state;
  uint64_t seed = 9;
  for (int i = 0; i < effort(2000); i++) {
    tn_rng_key key = tn_rng_key_of(random_bits(&seed));
    uint64_t index = random_bits(&seed) >> random_bits(&seed) % 64;
    assert_int_equal(tn_rng_word_at(&key, index), plain_word(&key, index));
  }
  tn_rng_key key = tn_rng_key_of(1);
  uint64_t carry = (UINT64_C(1) << 36) - 2;   /* the block counter's low word is full */
  for (uint64_t i = carry; i < carry + 40; i++) {
    assert_int_equal(tn_rng_word_at(&key, i), plain_word(&key, i));
  }
  assert_int_equal(tn_rng_word_at(&key, UINT64_MAX), plain_word(&key, UINT64_MAX));
}

static void many_words_are_the_single_words(void **state) {
  (void)state;
  uint64_t seed = 10;
  uint32_t words[400];
  for (int i = 0; i < effort(400); i++) {
    tn_rng_key key = tn_rng_key_of(random_bits(&seed));
    uint64_t first = i % 2 ? random_bits(&seed) : random_bits(&seed) % 200;
    size_t count = random_bits(&seed) % 400;
    memset(words, 0, sizeof words);
    tn_rng_words(&key, first, count, words);
    for (size_t k = 0; k < count; k++) assert_int_equal(words[k], plain_word(&key, first + k));
    for (size_t k = count; k < 400; k++) assert_int_equal(words[k], 0);   /* and no more are written */
  }
}

static void a_generator_is_its_seed_and_position(void **state) {
  (void)state;
  tn_rng rng, restored;
  uint32_t later[100];
  tn_rng_init(&rng, 77);
  for (int i = 0; i < 1234; i++) tn_rng_next(&rng);
  uint64_t seed = rng.seed, position = rng.position;
  assert_int_equal(position, 1234);
  for (int i = 0; i < 100; i++) later[i] = tn_rng_next(&rng);
  tn_rng_init(&restored, seed);
  tn_rng_seek(&restored, position);
  for (int i = 0; i < 100; i++) assert_int_equal(tn_rng_next(&restored), later[i]);
  tn_rng_seek(&rng, position + 50);   /* also back again */
  assert_int_equal(tn_rng_next(&rng), later[50]);
}

/* ---- draws ---- */

static void uniform_numbers_are_multiples_of_two_to_the_minus_24(void **state) {
  (void)state;
  assert_true(tn_rng_uniform_of(0) == 0);
  assert_true(tn_rng_uniform_of(255) == 0);
  assert_true(tn_rng_uniform_of(256) == 0x1p-24f);
  assert_true(tn_rng_uniform_of(UINT32_MAX) == 1 - 0x1p-24f);
  assert_true(tn_rng_uniform_of(0x80000000) == 0.5f);
  tn_rng rng;
  tn_rng_init(&rng, 42);
  assert_true(tn_rng_uniform(&rng) == (float)(0x395d5ba1 >> 8) * 0x1p-24f);
}

static void below_is_even_over_its_range(void **state) {
  (void)state;
  enum { N = 7, DRAWS = 70000 };
  int seen[N] = { 0 };
  tn_rng rng;
  tn_rng_init(&rng, 3);
  for (int i = 0; i < DRAWS; i++) {
    uint32_t draw = tn_rng_below(&rng, N);
    assert_true(draw < N);
    seen[draw]++;
  }
  for (int i = 0; i < N; i++) assert_in_range(seen[i], 9600, 10400);
  for (int i = 0; i < 100; i++) assert_int_equal(tn_rng_below(&rng, 1), 0);
  for (int i = 0; i < 100; i++) assert_true(tn_rng_below(&rng, UINT32_MAX) < UINT32_MAX);
}

/* The rule of acceptance, spelled out on the words themselves. */
static void below_rejects_exactly_what_the_rule_says(void **state) {
  (void)state;
  static const uint32_t sizes[] = { 1, 2, 3, 5, 6, 7, 10, 1000, 0x7fffffff, 0x80000000, 0x80000001,
                                    0xfffffffe };
  for (size_t s = 0; s < COUNT_OF(sizes); s++) {
    tn_rng rng;
    tn_rng_key key = tn_rng_key_of(5);
    uint64_t at = 0;
    uint32_t n = sizes[s], zone = n;
    while (zone < 0x80000000) zone *= 2;
    tn_rng_init(&rng, 5);
    for (int i = 0; i < 300; i++) {
      uint64_t product;
      do product = (uint64_t)tn_rng_word_at(&key, at++) * n; while ((uint32_t)product > zone - 1);
      assert_int_equal(tn_rng_below(&rng, n), product >> 32);
      assert_int_equal(rng.position, at);
    }
  }
}

static void assert_shuffle(uint64_t seed, const uint32_t expected[10]) {
  uint32_t items[10];
  tn_rng rng;
  for (uint32_t i = 0; i < 10; i++) items[i] = i;
  tn_rng_init(&rng, seed);
  tn_rng_shuffle(&rng, items, 10);
  assert_memory_equal(items, expected, sizeof items);
}

static void shuffles_of_ten_are_fixed(void **state) {
  (void)state;
  assert_shuffle(123, (const uint32_t[]){ 6, 5, 4, 8, 3, 2, 0, 1, 7, 9 });
  assert_shuffle(42, (const uint32_t[]){ 0, 3, 5, 7, 9, 4, 8, 1, 6, 2 });
}

static void shuffling_nothing_or_one_draws_nothing(void **state) {
  (void)state;
  tn_rng rng;
  uint32_t item = 9;
  tn_rng_init(&rng, 1);
  tn_rng_shuffle(&rng, NULL, 0);
  tn_rng_shuffle(&rng, &item, 1);
  assert_int_equal(item, 9);
  assert_int_equal(rng.position, 0);
}

/* libm's functions are within an ulp of f64, so f32 results agree but for rare ties. */
static void normal_numbers_follow_their_formula(void **state) {
  (void)state;
  tn_rng rng;
  int differ = 0;
  double sum = 0, squares = 0;
  enum { DRAWS = 20000 };
  tn_rng_init(&rng, 42);
  tn_rng_key key = rng.key;
  for (uint64_t i = 0; i < DRAWS; i++) {
    double u1 = (double)tn_rng_uniform_of(tn_rng_word_at(&key, 2 * i));
    double u2 = (double)tn_rng_uniform_of(tn_rng_word_at(&key, 2 * i + 1));
    float expected = (float)(sqrt(-2 * log(u1)) * cos(6.283185307179586 * u2)), drawn = tn_rng_normal(&rng);
    differ += drawn != expected;
    assert_true(fabsf(drawn - expected) <= 1e-6f * (1 + fabsf(expected)));
    sum += (double)drawn;
    squares += (double)drawn * (double)drawn;
  }
  assert_int_equal(rng.position, 2 * DRAWS);
  assert_true(differ < 5);
  assert_true(fabs(sum / DRAWS) < 0.03);
  assert_true(fabs(squares / DRAWS - 1) < 0.05);
}

static void a_normal_number_from_zero_is_finite(void **state) {
  (void)state;
  float largest = tn_rng_normal_of(0, 0);
  assert_true(largest == (float)sqrt(-2 * log(0x1p-25)));
  assert_true(tn_rng_normal_of(UINT32_MAX, 0) > 0);
  assert_true(tn_rng_normal_of(0x80000000, 0x80000000) < 0);
}

/* ---- mixing ---- */

static int bits_set(uint64_t x) {
  int count = 0;
  for (; x; x &= x - 1) count++;
  return count;
}

static void mixing_spreads_every_bit(void **state) {
  (void)state;
  uint64_t seed = 12;
  long flipped[2][64] = { { 0 } };
  enum { ROUNDS = 400 };
  for (int i = 0; i < ROUNDS; i++) {
    uint64_t a = i % 2 ? random_bits(&seed) : (uint64_t)i, b = i % 4 < 2 ? (uint64_t)i : random_bits(&seed);
    uint64_t mixed = tn_rng_mix(a, b);
    for (int bit = 0; bit < 64; bit++) {
      flipped[0][bit] += bits_set(mixed ^ tn_rng_mix(a ^ UINT64_C(1) << bit, b));
      flipped[1][bit] += bits_set(mixed ^ tn_rng_mix(a, b ^ UINT64_C(1) << bit));
    }
  }
  for (int side = 0; side < 2; side++) {
    for (int bit = 0; bit < 64; bit++) assert_in_range(flipped[side][bit] / ROUNDS, 29, 34);
  }
}

static void mixing_tells_pairs_apart(void **state) {
  (void)state;
  enum { SIDE = 40 };
  static uint64_t mixed[SIDE * SIDE];
  for (uint64_t a = 0; a < SIDE; a++) {
    for (uint64_t b = 0; b < SIDE; b++) mixed[a * SIDE + b] = tn_rng_mix(a, b);
  }
  for (int i = 0; i < SIDE * SIDE; i++) {
    for (int k = 0; k < i; k++) assert_true(mixed[i] != mixed[k]);
  }
  assert_true(tn_rng_mix(0, 0) == UINT64_C(0x89f2f77d109eb0c9));   /* the same everywhere, forever */
  assert_true(tn_rng_mix(42, 7) == UINT64_C(0x5158482f4ae0e52e));
}

RUN_TESTS(
  cmocka_unit_test(the_first_words_of_a_seed_are_fixed),
  cmocka_unit_test(a_zero_key_gives_the_published_stream),
  cmocka_unit_test(words_are_addressed_by_index),
  cmocka_unit_test(many_words_are_the_single_words),
  cmocka_unit_test(a_generator_is_its_seed_and_position),
  cmocka_unit_test(uniform_numbers_are_multiples_of_two_to_the_minus_24),
  cmocka_unit_test(below_is_even_over_its_range),
  cmocka_unit_test(below_rejects_exactly_what_the_rule_says),
  cmocka_unit_test(shuffles_of_ten_are_fixed),
  cmocka_unit_test(shuffling_nothing_or_one_draws_nothing),
  cmocka_unit_test(normal_numbers_follow_their_formula),
  cmocka_unit_test(a_normal_number_from_zero_is_finite),
  cmocka_unit_test(mixing_spreads_every_bit),
  cmocka_unit_test(mixing_tells_pairs_apart))
