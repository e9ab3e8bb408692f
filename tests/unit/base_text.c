/* Growing text: every addition, and one check at the end. */
#include "base_support.h"

#include <math.h>

#include "base/text.h"

static void additions_follow_each_other(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_text text;
  tn_text_init(&text, &heap);
  assert_str(tn_text_str(&text), "");
  tn_text_add(&text, TN_LIT("ab"));
  tn_text_puts(&text, "cd");
  tn_text_puts(&text, NULL);
  tn_text_byte(&text, '-');
  tn_text_repeat(&text, '.', 3);
  tn_text_repeat(&text, '.', 0);
  tn_text_hex(&text, "\x00\x7f\xff", 3);
  assert_str(tn_text_str(&text), "abcd-...007fff");
  assert_string_equal(text.at, "abcd-...007fff");
  tn_text_clear(&text);
  assert_str(tn_text_str(&text), "");
  tn_text_add(&text, TN_LIT(""));
  assert_string_equal(text.at, "");
  tn_text_free(&text);
  assert_int_equal(heap.used, 0);
}

static void numbers_are_written_as_the_contract_says(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_text text;
  tn_text_init(&text, &heap);
  tn_text_int(&text, INT64_MIN);
  tn_text_byte(&text, ' ');
  tn_text_int(&text, 0);
  tn_text_byte(&text, ' ');
  tn_text_uint(&text, UINT64_MAX);
  tn_text_byte(&text, ' ');
  tn_text_f32(&text, 0.1f);
  tn_text_byte(&text, ' ');
  tn_text_f64(&text, 1e-20);
  tn_text_byte(&text, ' ');
  tn_text_f64(&text, -(double)INFINITY);
  tn_text_byte(&text, ' ');
  tn_text_fixed(&text, 0.23757, 4);
  assert_str(tn_text_str(&text), "-9223372036854775808 0 18446744073709551615 0.1 1e-20 -Infinity 0.2376");
  tn_text_clear(&text);
  tn_text_fixed(&text, -1e300, 2000);
  assert_int_equal(text.len, 1 + 301 + 1 + 2000);
  tn_text_free(&text);
}

static void a_text_too_long_to_address_fails(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_text text;
  tn_text_init(&text, &heap);
  tn_text_puts(&text, "kept");
  tn_text_repeat(&text, 'x', SIZE_MAX - 2);
  assert_true(text.failed);
  tn_text_puts(&text, "more");
  assert_str(tn_text_str(&text), "kept");   /* what came before is whole */
  tn_text_clear(&text);
  assert_false(text.failed);
  tn_text_hex(&text, "", SIZE_MAX / 2 + 1);
  assert_true(text.failed);
  tn_text_free(&text);
}

static bool use_text(tn_heap *heap) {
  tn_text text;
  tn_text_init(&text, heap);
  for (int i = 0; i < 20; i++) {
    tn_text_puts(&text, "some words, ");
    tn_text_f64(&text, 0.1 * i);
    tn_text_fixed(&text, 1e10, 20);
    tn_text_int(&text, -i);
    tn_text_byte(&text, '\n');
  }
  bool good = !text.failed;
  if (good) assert_int_equal(strlen(text.at), text.len);
  tn_text_free(&text);
  return good;
}

static void text_survives_every_failed_request(void **state) {
  (void)state;
  fail_every_request(use_text);
}

RUN_TESTS(
  cmocka_unit_test(additions_follow_each_other),
  cmocka_unit_test(numbers_are_written_as_the_contract_says),
  cmocka_unit_test(a_text_too_long_to_address_fails),
  cmocka_unit_test(text_survives_every_failed_request))
