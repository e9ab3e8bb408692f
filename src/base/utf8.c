/* base/utf8.c: decodes and validates UTF-8.
 *
 * Source texts and data files are almost all ASCII, so they are scanned eight bytes at a time for a
 * high bit. Otherwise the second byte decides about validity: its range depends on the first byte,
 * which rules out overlong forms, surrogates and code points past U+10FFFF. */
#include "base/utf8.h"

#include <string.h>

#define HIGH_BITS UINT64_C(0x8080808080808080)

static bool continues(unsigned char byte) {
  return (byte & 0xc0) == 0x80;
}

/* first >= 0x80. Whether `second` may follow it. */
static bool second_fits(unsigned first, unsigned second) {
  switch (first) {
    case 0xe0: return second >= 0xa0 && second <= 0xbf;   /* else it would fit two bytes */
    case 0xed: return second >= 0x80 && second <= 0x9f;   /* else a surrogate */
    case 0xf0: return second >= 0x90 && second <= 0xbf;   /* else it would fit three bytes */
    case 0xf4: return second >= 0x80 && second <= 0x8f;   /* else past U+10FFFF */
    default: return second >= 0x80 && second <= 0xbf;
  }
}

static size_t length_by_first(unsigned first) {
  if (first < 0x80) return 1;
  if (first < 0xc2) return 0;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
}

size_t tn_utf8_decode(tn_str text, size_t at, uint32_t *code) {
  if (at >= text.len) return 0;
  const unsigned char *b = (const unsigned char *)text.at + at;
  size_t length = length_by_first(b[0]);
  if (length > text.len - at) return 0;
  if (length == 1) *code = b[0];
  if (length <= 1) return length;
  if (!second_fits(b[0], b[1])) return 0;
  for (size_t i = 2; i < length; i++) {
    if (!continues(b[i])) return 0;
  }
  uint32_t value = b[0] & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; i++) value = value << 6 | (b[i] & 0x3fu);
  *code = value;
  return length;
}

size_t tn_utf8_encode(uint32_t code, char *out) {
  if (code < 0x80) {
    out[0] = (char)code;
    return 1;
  }
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return 0;
  size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (size_t i = length - 1; i > 0; i--, code >>= 6) out[i] = (char)(0x80 | (code & 0x3f));
  out[0] = (char)((0xf00u >> length & 0xff) | code);
  return length;
}

/* The offset at or after `at` of the first byte with its high bit set. */
static size_t skip_ascii(tn_str text, size_t at) {
  uint64_t eight;
  for (; text.len - at >= sizeof eight; at += sizeof eight) {
    memcpy(&eight, text.at + at, sizeof eight);
    if (eight & HIGH_BITS) break;
  }
  while (at < text.len && !((unsigned char)text.at[at] & 0x80)) at++;
  return at;
}

size_t tn_utf8_first_invalid(tn_str text) {
  uint32_t code;
  for (size_t at = 0;;) {
    at = skip_ascii(text, at);
    size_t length = tn_utf8_decode(text, at, &code);
    if (length == 0) return at;
    at += length;
  }
}

bool tn_utf8_valid(tn_str text) {
  return tn_utf8_first_invalid(text) == text.len;
}

size_t tn_utf8_count(tn_str text) {
  size_t count = 0;
  uint32_t code;
  for (size_t at = 0; at < text.len; count++) {
    size_t ascii = skip_ascii(text, at) - at;
    if (ascii) {
      at += ascii;
      count += ascii - 1;
      continue;
    }
    size_t length = tn_utf8_decode(text, at, &code);
    at += length ? length : 1;
  }
  return count;
}

tn_str tn_utf8_clip(tn_str text, size_t limit) {
  if (text.len <= limit) return text;
  while (limit > 0 && continues((unsigned char)text.at[limit])) limit--;
  return (tn_str){ text.at, limit };
}

tn_str tn_utf8_unmarked(tn_str text) {
  static const char mark[] = { '\xef', '\xbb', '\xbf' };
  if (text.len < sizeof mark || memcmp(text.at, mark, sizeof mark) != 0) return text;
  return (tn_str){ text.at + sizeof mark, text.len - sizeof mark };
}
