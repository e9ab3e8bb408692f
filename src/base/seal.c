/* base/seal.c: writes and checks the hash that a file carries of itself. */
#include "base/seal.h"

#include <string.h>

#include "base/sha256.h"

#define BEGIN "\"tern.sha256\":\""
#define END   "\"}"
static const char zeros[] = "0000000000000000000000000000000000000000000000000000000000000000";
_Static_assert(sizeof zeros == TN_SEAL_DIGITS + 1, "a digit for every four bits");
_Static_assert(TN_SEAL_DIGITS == 2 * TN_SHA256_BYTES, "two digits for every byte");

size_t tn_seal_reserve(tn_text *out, bool is_first_member) {
  if (!is_first_member) tn_text_byte(out, ',');
  tn_text_puts(out, BEGIN);
  size_t at = out->len;
  tn_text_puts(out, zeros);
  tn_text_puts(out, END);
  return out->failed ? 0 : at;
}

const char *tn_seal_find(tn_str object) {
  size_t begin = sizeof BEGIN - 1, end = sizeof END - 1, all = begin + TN_SEAL_DIGITS + end;
  if (object.len < all) return NULL;
  const char *at = object.at + object.len - all;
  bool found = memcmp(at, BEGIN, begin) == 0 && memcmp(at + begin + TN_SEAL_DIGITS, END, end) == 0;
  return found ? at + begin : NULL;
}

size_t tn_seal_start(const char *digits, tn_str object) {
  size_t at = (size_t)(digits - object.at) - (sizeof BEGIN - 1);
  return at > 0 && object.at[at - 1] == ',' ? at - 1 : at;
}

static void digits_of(const char *file, size_t bytes, const char *seal, char digits[TN_SEAL_DIGITS]) {
  static const char hexadecimal[] = "0123456789abcdef";
  unsigned char digest[TN_SHA256_BYTES];
  size_t before = (size_t)(seal - file);
  tn_sha256 hash;
  tn_sha256_init(&hash);
  tn_sha256_update(&hash, file, before);
  tn_sha256_update(&hash, zeros, TN_SEAL_DIGITS);
  tn_sha256_update(&hash, seal + TN_SEAL_DIGITS, bytes - before - TN_SEAL_DIGITS);
  tn_sha256_final(&hash, digest);
  for (size_t i = 0; i < TN_SHA256_BYTES; i++) {
    digits[2 * i] = hexadecimal[digest[i] >> 4];
    digits[2 * i + 1] = hexadecimal[digest[i] & 15];
  }
}

void tn_seal_close(char *file, size_t bytes, char *digits) {
  char right[TN_SEAL_DIGITS];
  digits_of(file, bytes, digits, right);
  memcpy(digits, right, TN_SEAL_DIGITS);
}

bool tn_seal_holds(const char *file, size_t bytes, const char *digits) {
  char right[TN_SEAL_DIGITS];
  digits_of(file, bytes, digits, right);
  return memcmp(right, digits, TN_SEAL_DIGITS) == 0;
}
