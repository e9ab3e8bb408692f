/* UTF-8: strict, and as wide as it looks. */
#include "base_support.h"

#include "base/utf8.h"

static void every_character_is_encoded_and_decoded(void **state) {
  (void)state;
  for (uint32_t code = 0; code <= 0x110000; code++) {
    char bytes[4];
    uint32_t back = 0;
    size_t length = tn_utf8_encode(code, bytes);
    bool surrogate = code >= 0xd800 && code <= 0xdfff;
    if (surrogate || code > 0x10ffff) {
      assert_int_equal(length, 0);
      continue;
    }
    assert_int_equal(length, code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4);
    assert_int_equal(tn_utf8_decode((tn_str){ bytes, length }, 0, &back), length);
    assert_int_equal(back, code);
    assert_int_equal(tn_utf8_decode((tn_str){ bytes, length - 1 }, 0, &back), 0);   /* cut off */
  }
}

/* All sequences of up to three bytes, and four-byte ones at their edges: exactly the
 * encodings of characters are accepted. */
static void nothing_else_is_decoded(void **state) {
  (void)state;
  uint32_t code;
  long accepted = 0;
  for (uint32_t i = 0; i < 0x1000000; i++) {
    char bytes[3] = { (char)(i >> 16), (char)(i >> 8), (char)i }, again[4];
    if (!((i >> 16) & 0x80)) continue;
    size_t length = tn_utf8_decode((tn_str){ bytes, 3 }, 0, &code);
    if (length == 0) continue;
    accepted++;
    if (tn_utf8_encode(code, again) != length || memcmp(again, bytes, length) != 0) {
      fail_msg("%06x was read as U+%04x", i, code);
    }
  }
  /* two-byte characters with any third byte, and three-byte characters */
  assert_int_equal(accepted, 1920L * 256 + (0x10000 - 0x800 - 2048));
  static const char *const refused[] = {
    "\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xed\xbf\xbf",
    "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xfe", "\xf8\x88\x80\x80\x80",
    "\xe2\x82", "\xf0\x9f\x8e", "\xf0\x9f\x8e\x41", "\xe2\x41\x82", "\xc3\x41",
  };
  for (size_t i = 0; i < COUNT_OF(refused); i++) {
    assert_int_equal(tn_utf8_decode(tn_str_of(refused[i]), 0, &code), 0);
    assert_false(tn_utf8_valid(tn_str_of(refused[i])));
  }
  assert_int_equal(tn_utf8_decode(TN_LIT("a"), 1, &code), 0);
}

/* The first bad byte is found wherever it stands relative to words of eight. */
static void the_first_invalid_byte_is_found(void **state) {
  (void)state;
  char text[64];
  for (size_t length = 0; length < 40; length++) {
    memset(text, 'x', sizeof text);
    assert_int_equal(tn_utf8_first_invalid((tn_str){ text, length }), length);
    for (size_t bad = 0; bad < length; bad++) {
      text[bad] = '\x80';
      assert_int_equal(tn_utf8_first_invalid((tn_str){ text, length }), bad);
      text[bad] = 'x';
      if (bad + 3 > length) continue;
      memcpy(text + bad, "\xe2\x82\xac", 3);
      assert_int_equal(tn_utf8_first_invalid((tn_str){ text, length }), length);
      assert_int_equal(tn_utf8_count((tn_str){ text, length }), length - 2);
      assert_int_equal(tn_utf8_first_invalid((tn_str){ text, bad + 2 }), bad);
      memcpy(text + bad, "xxx", 3);
    }
  }
  assert_true(tn_utf8_valid((tn_str){ NULL, 0 }));
}

static void characters_are_counted(void **state) {
  (void)state;
  assert_int_equal(tn_utf8_count(TN_LIT("")), 0);
  assert_int_equal(tn_utf8_count(TN_LIT("abc")), 3);
  assert_int_equal(tn_utf8_count(TN_LIT("\xc3\xa4\xe2\x82\xac\xf0\x9f\x8e\x89")), 3);
  assert_int_equal(tn_utf8_count(TN_LIT("a\xff\xfe\xe2\x82z")), 6);   /* a bad byte counts as one */
}

static void a_clipped_text_ends_with_a_whole_character(void **state) {
  (void)state;
  static const struct { const char *text; size_t limit, len; } cases[] = {
    { "", 0, 0 }, { "abc", 3, 3 }, { "abc", 9, 3 }, { "abc", 2, 2 },
    { "a\xc3\xa4z", 3, 3 }, { "a\xc3\xa4z", 2, 1 }, { "\xf0\x9f\x8e\x89", 3, 0 },
    { "\xf0\x9f\x8e\x89", 4, 4 },
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++)
    assert_int_equal(tn_utf8_clip(tn_str_of(cases[i].text), cases[i].limit).len, cases[i].len);
}

static void widths_are_those_of_terminals(void **state) {
  (void)state;
  static const struct { uint32_t code; int width; } cases[] = {
    { 'a', 1 }, { ' ', 1 }, { 0, 0 }, { '\n', 0 }, { 0x1b, 0 }, { 0x7f, 0 }, { 0x9f, 0 }, { 0xa0, 1 },
    { 0xad, 1 }, { 0xe4, 1 }, { 0x300, 0 }, { 0x36f, 0 }, { 0x370, 1 }, { 0x3b1, 1 }, { 0x5d0, 1 },
    { 0x94d, 0 }, { 0x1100, 2 }, { 0x1160, 0 }, { 0x200b, 0 }, { 0x200d, 0 }, { 0x20ac, 1 },
    { 0x2192, 1 }, { 0x231a, 2 },
    { 0x2705, 2 }, { 0x3000, 2 }, { 0x3042, 2 }, { 0x30ab, 2 }, { 0x4e2d, 2 }, { 0x9fff, 2 }, { 0xac00, 2 },
    { 0xd7a3, 2 }, { 0xfe0f, 0 }, { 0xfeff, 0 }, { 0xff01, 2 }, { 0xff61, 1 }, { 0x1f389, 2 }, { 0x1f600, 2 },
    { 0x1f680, 2 }, { 0x20000, 2 }, { 0x3fffd, 2 }, { 0xe0100, 0 }, { 0x10ffff, 1 },
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    int width = tn_utf8_width(cases[i].code);
    if (width != cases[i].width) fail_msg("U+%04x is %d wide", cases[i].code, width);
  }
}

RUN_TESTS(
  cmocka_unit_test(every_character_is_encoded_and_decoded),
  cmocka_unit_test(nothing_else_is_decoded),
  cmocka_unit_test(the_first_invalid_byte_is_found),
  cmocka_unit_test(characters_are_counted),
  cmocka_unit_test(a_clipped_text_ends_with_a_whole_character),
  cmocka_unit_test(widths_are_those_of_terminals))
