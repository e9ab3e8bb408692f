/* SHA-256: the standard's examples, in one piece and in many. */
#include "base_support.h"

#include "base/sha256.h"

static void assert_hash(const unsigned char hash[TN_SHA256_BYTES], const char *hex) {
  char text[2 * TN_SHA256_BYTES + 1];
  for (int i = 0; i < TN_SHA256_BYTES; i++) snprintf(text + 2 * i, 3, "%02x", hash[i]);
  assert_string_equal(text, hex);
}

static void assert_hash_of(const char *text, const char *hex) {
  unsigned char hash[TN_SHA256_BYTES];
  tn_sha256_of(text, strlen(text), hash);
  assert_hash(hash, hex);
}

static void the_examples_of_the_standard_hold(void **state) {
  (void)state;
  assert_hash_of("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  assert_hash_of("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  assert_hash_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  assert_hash_of("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqr"
                 "lmnopqrsmnopqrstnopqrstu",
                 "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
}

static void a_million_letters_hash_as_the_standard_says(void **state) {
  (void)state;
  unsigned char hash[TN_SHA256_BYTES];
  char letters[1000];
  tn_sha256 sha;
  memset(letters, 'a', sizeof letters);
  tn_sha256_init(&sha);
  for (int i = 0; i < 1000; i++) tn_sha256_update(&sha, letters, sizeof letters);
  tn_sha256_final(&sha, hash);
  assert_hash(hash, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* However a text is cut, and for every length around a block's end. */
static void pieces_hash_as_the_whole(void **state) {
  (void)state;
  unsigned char text[300], whole[TN_SHA256_BYTES], parts[TN_SHA256_BYTES];
  uint64_t seed = 1;
  for (size_t i = 0; i < sizeof text; i++) text[i] = (unsigned char)random_bits(&seed);
  for (size_t length = 0; length <= sizeof text; length++) {
    tn_sha256 sha;
    tn_sha256_of(text, length, whole);
    tn_sha256_init(&sha);
    for (size_t at = 0; at < length;) {
      size_t part = random_bits(&seed) % 70;
      if (part > length - at) part = length - at;
      tn_sha256_update(&sha, text + at, part);
      at += part;
    }
    tn_sha256_update(&sha, NULL, 0);
    tn_sha256_final(&sha, parts);
    assert_memory_equal(whole, parts, TN_SHA256_BYTES);
  }
}

RUN_TESTS(
  cmocka_unit_test(the_examples_of_the_standard_hold),
  cmocka_unit_test(a_million_letters_hash_as_the_standard_says),
  cmocka_unit_test(pieces_hash_as_the_whole))
