/* tests/unit/base_unicode.c: kinds of characters, at the edges of the table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/unicode.h"

static void characters_have_the_kind_that_unicode_says(void **state) {
  (void)state;
  static const struct {
    uint32_t code;
    tn_unicode_kind kind;
  } cases[] = {
    { 0, TN_UNICODE_OTHER },         { '\t', TN_UNICODE_SPACE },       { '\r', TN_UNICODE_SPACE },
    { 0x1c, TN_UNICODE_OTHER },      { ' ', TN_UNICODE_SPACE },        { '!', TN_UNICODE_OTHER },
    { '0', TN_UNICODE_NUMBER },      { '9', TN_UNICODE_NUMBER },       { '@', TN_UNICODE_OTHER },
    { 'A', TN_UNICODE_LETTER },      { 'Z', TN_UNICODE_LETTER },       { '[', TN_UNICODE_OTHER },
    { '_', TN_UNICODE_OTHER },       { 'a', TN_UNICODE_LETTER },       { 'z', TN_UNICODE_LETTER },
    { '{', TN_UNICODE_OTHER },       { 0x85, TN_UNICODE_SPACE },       { 0xa0, TN_UNICODE_SPACE },
    { 0xaa, TN_UNICODE_LETTER },     { 0xb2, TN_UNICODE_NUMBER },      { 0xd7, TN_UNICODE_OTHER },
    { 0xe4, TN_UNICODE_LETTER },     { 0x301, TN_UNICODE_MARK },       { 0x663, TN_UNICODE_NUMBER },
    { 0x200b, TN_UNICODE_OTHER },    { 0x2028, TN_UNICODE_SPACE },     { 0x2167, TN_UNICODE_NUMBER },
    { 0x3000, TN_UNICODE_SPACE },    { 0x3042, TN_UNICODE_LETTER },    { 0x6f22, TN_UNICODE_LETTER },
    { 0xac00, TN_UNICODE_LETTER },   { 0xfeff, TN_UNICODE_OTHER },     { 0x1f44d, TN_UNICODE_OTHER },
    { 0x20000, TN_UNICODE_LETTER },  { 0xe0100, TN_UNICODE_MARK },     { 0x10ffff, TN_UNICODE_OTHER },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(tn_unicode_kind_of(cases[i].code), cases[i].kind);
}

/* Counted by Python and Node.js in Unicode 16: a table that lost a run would show. */
static void as_many_characters_of_each_kind(void **state) {
  (void)state;
  size_t count[5] = { 0 };
  for (uint32_t code = 0; code <= 0x10ffff; code++) count[tn_unicode_kind_of(code)]++;
  assert_int_equal(count[TN_UNICODE_SPACE], 25);
  assert_int_equal(count[TN_UNICODE_LETTER], 141028);
  assert_int_equal(count[TN_UNICODE_NUMBER], 1911);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(characters_have_the_kind_that_unicode_says),
    cmocka_unit_test(as_many_characters_of_each_kind),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
