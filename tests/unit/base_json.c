/* JSON: exactly what the standard allows, and where it goes wrong. */
#include "base_support.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/json.h"

typedef struct {
  tn_heap heap;
  tn_arena arena;
  tn_json_reader reader;
  tn_json_token token;
} fixture;

static void open_fixture(fixture *f, tn_str text) {
  *f = (fixture){ .heap = { 0 } };
  tn_arena_init(&f->arena, &f->heap);
  tn_json_init(&f->reader, text, &f->arena);
}

static void close_fixture(fixture *f) {
  tn_arena_free(&f->arena);
  assert_int_equal(f->heap.used, 0);
}

static tn_json_kind next(fixture *f) {
  return tn_json_next(&f->reader, &f->token);
}

static void assert_next(fixture *f, tn_json_kind kind, const char *text) {
  assert_int_equal(next(f), kind);
  assert_int_equal(f->token.kind, kind);
  assert_str(f->token.text, text);
}

static void assert_accepted(const char *text) {
  fixture f;
  open_fixture(&f, tn_str_of(text));
  while (next(&f) > TN_JSON_END) continue;
  if (f.token.kind != TN_JSON_END) fail_msg("%s: %s at %d", text, f.reader.reason, (int)f.token.at);
  assert_null(f.reader.reason);
  close_fixture(&f);
}

static void assert_refused_str(tn_str text, uint64_t at, const char *reason) {
  fixture f;
  open_fixture(&f, text);
  while (next(&f) > TN_JSON_END) continue;
  if (f.token.kind != TN_JSON_ERROR) fail_msg("accepted: %.*s", (int)text.len, text.at);
  if (f.token.at != at || strcmp(f.reader.reason, reason) != 0) {
    fail_msg("%.*s: \"%s\" at %d", (int)text.len, text.at, f.reader.reason, (int)f.token.at);
  }
  assert_int_equal(next(&f), TN_JSON_ERROR);   /* and stays so */
  assert_int_equal(f.token.at, at);
  close_fixture(&f);
}

static void assert_refused(const char *text, uint64_t at, const char *reason) {
  assert_refused_str(tn_str_of(text), at, reason);
}

/* ---- reading ---- */

static void tokens_come_in_the_order_of_the_text(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, TN_LIT(" {\"a\" : [1, -2.5e+3 ,\"x\",true],\r\n\t"
                          "\"b\":{}, \"\":[ ] , \"a\":null,\"c\":false} "));
  assert_next(&f, TN_JSON_OBJECT_BEGIN, "");
  assert_int_equal(f.token.at, 1);
  assert_next(&f, TN_JSON_KEY, "a");
  assert_int_equal(f.token.at, 2);
  assert_next(&f, TN_JSON_ARRAY_BEGIN, "");
  assert_next(&f, TN_JSON_NUMBER, "1");
  assert_next(&f, TN_JSON_NUMBER, "-2.5e+3");
  assert_next(&f, TN_JSON_STRING, "x");
  assert_next(&f, TN_JSON_TRUE, "");
  assert_next(&f, TN_JSON_ARRAY_END, "");
  assert_next(&f, TN_JSON_KEY, "b");
  assert_next(&f, TN_JSON_OBJECT_BEGIN, "");
  assert_next(&f, TN_JSON_OBJECT_END, "");
  assert_next(&f, TN_JSON_KEY, "");
  assert_next(&f, TN_JSON_ARRAY_BEGIN, "");
  assert_next(&f, TN_JSON_ARRAY_END, "");
  assert_next(&f, TN_JSON_KEY, "a");   /* twice: the caller's business */
  assert_next(&f, TN_JSON_NULL, "");
  assert_next(&f, TN_JSON_KEY, "c");
  assert_next(&f, TN_JSON_FALSE, "");
  assert_next(&f, TN_JSON_OBJECT_END, "");
  assert_next(&f, TN_JSON_END, "");
  assert_next(&f, TN_JSON_END, "");
  assert_int_equal(f.heap.requests, 0);   /* no memory for any of that */
  close_fixture(&f);
}

static void every_kind_of_value_may_stand_alone(void **state) {
  (void)state;
  static const char *const texts[] = {
    "0", "-0", "10", "1.5", "-0.0e-0", "1E400", "123456789012345678901234567890", "\"\"", "\"a b\"", "true",
    "false", "null", "[]", "{}", " \t\r\n1 \t\r\n", "[[[]]]", "[{\"a\":[{}]}]", "\"\\u0000\"", "\"/\\/\"",
    "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x8e\x89\"", "\"\x7f\"", "[1,2,3]", "[\"a\",1]", "{\"a\":1,\"b\":2}",
  };
  for (size_t i = 0; i < COUNT_OF(texts); i++) assert_accepted(texts[i]);
}

static void invalid_json_is_refused_at_the_error(void **state) {
  (void)state;
  const char *value = "a value is expected", *early = "the text ends too early";
  const char *digit = "a digit is missing in a number", *zero = "a number that starts with 0";
  const char *follows = "something follows the value", *key = "a key in quotes is expected";
  const char *comma_object = "a comma or } is expected", *comma_array = "a comma or ] is expected";
  assert_refused("", 0, early);
  assert_refused("  ", 2, early);
  assert_refused("[", 1, early);
  assert_refused("[1", 2, early);
  assert_refused("[1,", 3, early);
  assert_refused("{", 1, early);
  assert_refused("{\"a\":", 5, early);
  assert_refused("{\"a\"", 4, "a colon is expected");
  assert_refused("{\"a\" 1}", 5, "a colon is expected");
  assert_refused("[1,]", 3, value);
  assert_refused("[,1]", 1, value);
  assert_refused("[1,,2]", 3, value);
  assert_refused("{\"a\":1,}", 7, key);
  assert_refused("{,}", 1, key);
  assert_refused("{a:1}", 1, key);
  assert_refused("{1:1}", 1, key);
  assert_refused("{'a':1}", 1, key);
  assert_refused("{\"a\":}", 5, value);
  assert_refused("{\"a\"::1}", 5, value);
  assert_refused("[1 2]", 3, comma_array);
  assert_refused("[1}", 2, comma_array);
  assert_refused("{\"a\":1]", 6, comma_object);
  assert_refused("{\"a\":1 \"b\":2}", 7, comma_object);
  assert_refused("1 2", 2, follows);
  assert_refused("{}x", 2, follows);
  assert_refused("]", 0, value);
  assert_refused("}", 0, value);
  assert_refused("tru", 3, value);
  assert_refused("trux", 0, value);
  assert_refused("truex", 4, follows);
  assert_refused("True", 0, value);
  assert_refused("nul", 3, value);
  assert_refused("NaN", 0, value);
  assert_refused("Infinity", 0, value);
  assert_refused("-Infinity", 1, digit);
  assert_refused("undefined", 0, value);
  assert_refused("01", 1, zero);
  assert_refused("-01", 2, zero);
  assert_refused("[00]", 2, zero);
  assert_refused("-", 1, digit);
  assert_refused("[-]", 2, digit);
  assert_refused("+1", 0, value);
  assert_refused(".5", 0, value);
  assert_refused("1.", 2, digit);
  assert_refused("[1.]", 3, digit);
  assert_refused("1.e5", 2, digit);
  assert_refused("1e", 2, digit);
  assert_refused("1e+", 3, digit);
  assert_refused("[1e+]", 4, digit);
  assert_refused("0x10", 1, follows);
  assert_refused("1_000", 1, follows);
  assert_refused("/* */ 1", 0, value);
  assert_refused("\xef\xbb\xbf" "1", 0, value);   /* a byte order mark */
  assert_refused_str(TN_LIT("1\0"), 1, follows);
  assert_refused_str((tn_str){ NULL, 0 }, 0, early);
}

static void broken_strings_are_refused(void **state) {
  (void)state;
  const char *open = "a string without its closing quote", *escape = "an unknown escape in a string";
  const char *half = "half of a surrogate pair in a string", *utf8 = "bytes that are not UTF-8";
  const char *control = "a control character in a string";
  assert_refused("\"", 1, open);
  assert_refused("\"abc", 4, open);
  assert_refused("\"abc\\", 5, open);
  assert_refused("\"abc\\\"", 6, open);
  assert_refused("[\"a]", 4, open);
  assert_refused("\"a\nb\"", 2, control);
  assert_refused("\"abcdefgh\tijklmnop\"", 9, control);
  assert_refused_str(TN_LIT("\"a\0b\""), 2, control);
  assert_refused("\"\\x\"", 1, escape);
  assert_refused("\"abc\\'\"", 4, escape);
  assert_refused("\"\\u12\"", 1, escape);
  assert_refused("\"\\u12g4\"", 1, escape);
  assert_refused("\"\\U0041\"", 1, escape);
  assert_refused_str(TN_LIT("\"\\\0\""), 1, escape);
  assert_refused("\"\\\xc3\xa4\"", 1, escape);
  assert_refused("\"\\ud800\"", 1, half);
  assert_refused("\"a\\udc00\"", 2, half);
  assert_refused("\"\\ud800\\u0041\"", 1, half);
  assert_refused("\"\\ud800x\"", 1, half);
  assert_refused("\"\\ud800\\ud800\"", 1, half);
  assert_refused("\"ab\x80\"", 3, utf8);
  assert_refused("\"\xc3\"", 1, utf8);
  assert_refused("\"\xed\xa0\x80\"", 1, utf8);
  assert_refused("\"\xc0\xaf\"", 1, utf8);
  assert_refused("{\"a\xff\":1}", 3, utf8);
}

static void escapes_are_read(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, TN_LIT("[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\", "
                          "\"\\u0041\\u00e4\\u20AC\\ud83c\\uDF89\", \"a\\u0000b\","
                          "\"before\\nand after it\", {\"\\u006b\":1}, \"\xc3\xa4\\n\xc3\xb6\"]"));
  next(&f);
  assert_next(&f, TN_JSON_STRING, "\"\\/\b\f\n\r\t");
  assert_next(&f, TN_JSON_STRING, "A\xc3\xa4\xe2\x82\xac\xf0\x9f\x8e\x89");
  assert_int_equal(next(&f), TN_JSON_STRING);
  assert_int_equal(f.token.text.len, 3);
  assert_memory_equal(f.token.text.at, "a\0b", 3);
  assert_next(&f, TN_JSON_STRING, "before\nand after it");
  assert_next(&f, TN_JSON_OBJECT_BEGIN, "");
  assert_next(&f, TN_JSON_KEY, "k");
  next(&f), next(&f);
  assert_next(&f, TN_JSON_STRING, "\xc3\xa4\n\xc3\xb6");
  next(&f);
  assert_next(&f, TN_JSON_END, "");
  close_fixture(&f);
}

/* What ends or interrupts a string is found at every distance from its start. */
static void strings_of_every_length_are_read(void **state) {
  (void)state;
  for (size_t length = 0; length < 70; length++) {
    char text[80];
    fixture f;
    memset(text, 'x', sizeof text);
    text[0] = '"';
    text[length + 1] = '"';
    open_fixture(&f, (tn_str){ text, length + 2 });
    assert_int_equal(next(&f), TN_JSON_STRING);
    assert_int_equal(f.token.text.len, length);
    close_fixture(&f);
    text[length + 1] = '\x1f';
    assert_refused_str((tn_str){ text, sizeof text }, length + 1, "a control character in a string");
    text[length + 1] = '\xff';
    text[75] = '"';
    assert_refused_str((tn_str){ text, 76 }, length + 1, "bytes that are not UTF-8");
  }
}

static void nesting_has_a_limit(void **state) {
  (void)state;
  char text[2 * TN_JSON_DEPTH_LIMIT + 10];
  memset(text, '[', TN_JSON_DEPTH_LIMIT);
  memset(text + TN_JSON_DEPTH_LIMIT, ']', TN_JSON_DEPTH_LIMIT);
  text[2 * TN_JSON_DEPTH_LIMIT] = 0;
  assert_accepted(text);
  memset(text, '[', sizeof text);
  assert_refused_str((tn_str){ text, sizeof text }, TN_JSON_DEPTH_LIMIT, "nested too deeply");
  fixture f;
  tn_text deep;
  tn_heap heap = { 0 };
  tn_text_init(&deep, &heap);
  for (int i = 0; i < TN_JSON_DEPTH_LIMIT / 2; i++) tn_text_puts(&deep, "{\"a\":[");
  for (int i = 0; i < TN_JSON_DEPTH_LIMIT / 2; i++) tn_text_puts(&deep, "]}");   /* brackets are told apart */
  open_fixture(&f, tn_text_str(&deep));
  while (next(&f) > TN_JSON_END) continue;
  assert_int_equal(f.token.kind, TN_JSON_END);
  close_fixture(&f);
  tn_text_free(&deep);
}

static void a_value_can_be_skipped(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, TN_LIT("[{\"a\":[1,{\"b\":[]}]}, 5, [[2]], 6]"));
  next(&f), next(&f);
  assert_true(tn_json_skip(&f.reader, &f.token));
  assert_next(&f, TN_JSON_NUMBER, "5");
  assert_true(tn_json_skip(&f.reader, &f.token));   /* nothing to skip */
  next(&f);
  assert_true(tn_json_skip(&f.reader, &f.token));
  assert_next(&f, TN_JSON_NUMBER, "6");
  close_fixture(&f);
  open_fixture(&f, TN_LIT("[[1, x]]"));
  next(&f), next(&f);
  assert_false(tn_json_skip(&f.reader, &f.token));
  assert_int_equal(f.reader.error_at, 5);
  assert_int_equal(next(&f), TN_JSON_ERROR);
  assert_false(tn_json_skip(&f.reader, &f.token));
  close_fixture(&f);
}

static void numbers_are_converted_on_request(void **state) {
  (void)state;
  fixture f;
  int64_t i = 7;
  double d;
  float x;
  open_fixture(&f, TN_LIT("[-12, 9223372036854775808, 1.0, 1e2, 0.1, \"3\"]"));
  next(&f), next(&f);
  assert_true(tn_json_token_i64(&f.token, &i) && i == -12);
  next(&f);
  assert_false(tn_json_token_i64(&f.token, &i));   /* does not fit */
  assert_true(tn_json_token_f64(&f.token, &d) && d == 0x1p63);
  next(&f);
  assert_false(tn_json_token_i64(&f.token, &i));   /* not written as a whole number */
  next(&f);
  assert_false(tn_json_token_i64(&f.token, &i));
  next(&f);
  assert_true(tn_json_token_f64(&f.token, &d) && d == 0.1);
  assert_true(tn_json_token_f32(&f.token, &x) && x == 0.1f);
  next(&f);
  assert_false(tn_json_token_i64(&f.token, &i) || tn_json_token_f64(&f.token, &d));
  assert_int_equal(i, -12);
  close_fixture(&f);
}

static const char sample[] =
  " {\"key\\n\" : [1, -2.5e+3 ,\"x\\u20acy\",true ,null, [] ],\"b\": {\"c\":false , \"\xe2\x82\xac\" : 0}, "
  "\"long\":\"some text that goes on for a while\"} ";

/* ---- arrays of numbers ---- */

static void arrays_of_whole_numbers_are_read_at_once(void **state) {
  (void)state;
  fixture f;
  tn_i32s v = { 0 };
  static const int32_t expected[] = { 0, 7, -7, 42, 1234567, -1234567, 12345678, 2147483647,
                                      INT32_MIN, 5, 6, -0 };
  open_fixture(&f, TN_LIT("{\"t\": [0,7, -7 ,42 , 1234567,-1234567,12345678,"
                          " 2147483647,-2147483648,\n5\t,6,-0], \"l\":1}"));
  next(&f), next(&f), next(&f);
  assert_int_equal(tn_json_read_i32s(&f.reader, &f.heap, &v, &f.token), TN_JSON_NUMBERS_OK);
  assert_int_equal(v.count, COUNT_OF(expected));
  assert_memory_equal(v.at, expected, sizeof expected);
  assert_next(&f, TN_JSON_KEY, "l");
  assert_next(&f, TN_JSON_NUMBER, "1");
  assert_next(&f, TN_JSON_OBJECT_END, "");
  assert_next(&f, TN_JSON_END, "");
  tn_vec_free(&f.heap, &v);
  close_fixture(&f);
}

static void empty_and_short_arrays_are_read(void **state) {
  (void)state;
  static const char *const texts[] = { "[]", "[ ]", "[1]", "[ 1 ]", "[1,2]", "[ 1 , 2 ]" };
  for (size_t i = 0; i < COUNT_OF(texts); i++) {
    fixture f;
    tn_i32s v = { 0 };
    tn_f32s w = { 0 };
    open_fixture(&f, tn_str_of(texts[i]));
    next(&f);
    assert_int_equal(tn_json_read_i32s(&f.reader, &f.heap, &v, &f.token), TN_JSON_NUMBERS_OK);
    assert_next(&f, TN_JSON_END, "");
    tn_json_init(&f.reader, tn_str_of(texts[i]), &f.arena);
    next(&f);
    assert_int_equal(tn_json_read_f32s(&f.reader, &f.heap, &w, &f.token), TN_JSON_NUMBERS_OK);
    assert_next(&f, TN_JSON_END, "");
    assert_int_equal(v.count, i / 2);
    assert_int_equal(w.count, i / 2);
    tn_vec_free(&f.heap, &v);
    tn_vec_free(&f.heap, &w);
    close_fixture(&f);
  }
}

/* `good` numbers, then something else: of which kind, and where. */
static void assert_stops_i32(const char *text, size_t good, tn_json_kind kind, uint64_t at) {
  fixture f;
  tn_i32s v = { 0 };
  open_fixture(&f, tn_str_of(text));
  next(&f);
  assert_int_equal(tn_json_read_i32s(&f.reader, &f.heap, &v, &f.token), TN_JSON_NUMBERS_OTHER);
  assert_int_equal(v.count, good);
  assert_int_equal(f.token.kind, kind);
  assert_int_equal(f.token.at, at);
  tn_vec_free(&f.heap, &v);
  close_fixture(&f);
}

static void an_array_stops_at_the_first_non_integer(void **state) {
  (void)state;
  assert_stops_i32("[1,2.5,3]", 1, TN_JSON_NUMBER, 3);
  assert_stops_i32("[1,2e1,3]", 1, TN_JSON_NUMBER, 3);
  assert_stops_i32("[1,2147483648]", 1, TN_JSON_NUMBER, 3);
  assert_stops_i32("[-2147483649]", 0, TN_JSON_NUMBER, 1);
  assert_stops_i32("[99999999999999999999999]", 0, TN_JSON_NUMBER, 1);
  assert_stops_i32("[1,\"2\"]", 1, TN_JSON_STRING, 3);
  assert_stops_i32("[1,[2]]", 1, TN_JSON_ARRAY_BEGIN, 3);
  assert_stops_i32("[1,null]", 1, TN_JSON_NULL, 3);
  assert_stops_i32("[1,2", 2, TN_JSON_ERROR, 4);
  assert_stops_i32("[1,2,", 2, TN_JSON_ERROR, 5);
  assert_stops_i32("[1,2,]                ", 2, TN_JSON_ERROR, 5);
  assert_stops_i32("[1 2,3,4,5,6,7,8,9]   ", 1, TN_JSON_ERROR, 3);
  assert_stops_i32("[12345,012,1,1,1,1,1,1]", 1, TN_JSON_ERROR, 8);
  assert_stops_i32("[12345,-,1,1,1,1,1,1,1]", 1, TN_JSON_ERROR, 8);
  assert_stops_i32("[12345,--1,1,1,1,1,1,1]", 1, TN_JSON_ERROR, 8);
  assert_stops_i32("[12345,1}              ", 2, TN_JSON_ERROR, 8);
}

/* The quick road and the token reader must be of one mind about every text. */
static bool read_slowly(tn_str text, tn_f32s *out, tn_heap *heap, uint64_t *error_at) {
  tn_arena arena;
  tn_json_reader reader;
  tn_json_token token;
  tn_arena_init(&arena, heap);
  tn_json_init(&reader, text, &arena);
  tn_json_next(&reader, &token);
  while (tn_json_next(&reader, &token) == TN_JSON_NUMBER) {
    float x;
    tn_json_token_f32(&token, &x);
    tn_vec_push(heap, out, x);
  }
  *error_at = token.at;
  tn_arena_free(&arena);
  return token.kind == TN_JSON_ARRAY_END;
}

static void quick_and_careful_reading_agree(void **state) {
  (void)state;
  static const char alphabet[] = "0123456789001234567890.,-eE+ ]x,,..--";
  uint64_t seed = 21;
  for (int i = 0; i < effort(200000); i++) {
    char text[40] = "[";
    size_t length = 1 + random_bits(&seed) % 30;
    for (size_t k = 1; k < length; k++) text[k] = alphabet[random_bits(&seed) % (sizeof alphabet - 1)];
    memset(text + length, ' ', 9);
    tn_str whole = { text, length + random_bits(&seed) % 9 };
    fixture f;
    tn_f32s slow = { 0 }, quick = { 0 };
    tn_i32s whole_numbers = { 0 };
    uint64_t stopped_at;
    tn_heap heap = { 0 };
    bool good = read_slowly(whole, &slow, &heap, &stopped_at);
    open_fixture(&f, whole);
    next(&f);
    tn_json_numbers result = tn_json_read_f32s(&f.reader, &f.heap, &quick, &f.token);
    if ((result == TN_JSON_NUMBERS_OK) != good) fail_msg("%s", text);
    assert_int_equal(quick.count, slow.count);
    if (slow.count) assert_memory_equal(quick.at, slow.at, slow.count * sizeof *slow.at);
    if (!good) assert_int_equal(f.token.at, stopped_at);
    tn_json_init(&f.reader, whole, &f.arena);
    next(&f);
    result = tn_json_read_i32s(&f.reader, &f.heap, &whole_numbers, &f.token);
    assert_true(whole_numbers.count <= slow.count);
    assert_true(good || result == TN_JSON_NUMBERS_OTHER);
    for (size_t k = 0; k < whole_numbers.count; k++) assert_true((float)whole_numbers.at[k] == slow.at[k]);
    tn_vec_free(&heap, &slow);
    tn_vec_free(&f.heap, &quick);
    tn_vec_free(&f.heap, &whole_numbers);
    close_fixture(&f);
  }
}

/* One number after the other by the token reader; *at is where it stopped. */
static size_t read_one_by_one(tn_str text, int32_t *out, size_t most, uint64_t *at, tn_json_kind *kind) {
  tn_heap heap = { 0 };
  tn_arena arena;
  tn_json_reader reader;
  tn_json_token token;
  int64_t wide;
  size_t count = 0;
  tn_arena_init(&arena, &heap);
  tn_json_init(&reader, text, &arena);
  tn_json_next(&reader, &token);
  while (count < most && tn_json_next(&reader, &token) == TN_JSON_NUMBER) {
    if (!tn_json_token_i64(&token, &wide) || wide < INT32_MIN || wide > INT32_MAX) break;
    out[count++] = (int32_t)wide;
  }
  *at = token.at;
  *kind = token.kind;
  tn_arena_free(&arena);
  return count;
}

/* Long enough that blocks of bytes are looked at together; now and then something that is not plain. */
static void long_arrays_are_read_as_short_ones(void **state) {
  (void)state;
  static const char *const odd[] = { "-12", " 7", "7 ", "12345678", "2147483647", "-2147483648", "-0",
                                     "007", "1.5", "2e3", "99999999999", "", "x", "[1]", "\"s\"", "1,,2" };
  enum { ITEMS = 120 };
  uint64_t seed = 5;
  for (int i = 0; i < effort(20000); i++) {
    char text[ITEMS * 16] = "[";
    size_t length = 1, items = random_bits(&seed) % ITEMS;
    int32_t expected[ITEMS * 2];
    for (size_t k = 0; k < items; k++) {
      unsigned long number = (unsigned long)(random_bits(&seed) % 10000000) >> random_bits(&seed) % 24;
      const char *other = random_bits(&seed) % 150 == 0 ? odd[random_bits(&seed) % COUNT_OF(odd)] : NULL;
      length += (size_t)(other ? sprintf(text + length, "%s%s", k ? "," : "", other)
                               : sprintf(text + length, "%s%lu", k ? "," : "", number));
    }
    length += (size_t)sprintf(text + length, "%s", random_bits(&seed) % 20 ? "] " : "");
    uint64_t stopped_at;
    tn_json_kind kind;
    tn_str whole = { text, length };
    size_t count = read_one_by_one(whole, expected, COUNT_OF(expected), &stopped_at, &kind);
    fixture f;
    tn_i32s v = { 0 };
    open_fixture(&f, whole);
    next(&f);
    tn_json_numbers result = tn_json_read_i32s(&f.reader, &f.heap, &v, &f.token);
    bool ended = kind == TN_JSON_ARRAY_END;
    if ((result == TN_JSON_NUMBERS_OK) != ended || v.count != count) fail_msg("%s", text);
    if (count) assert_memory_equal(v.at, expected, count * sizeof *expected);
    if (result == TN_JSON_NUMBERS_OTHER) assert_int_equal(f.token.at, stopped_at);
    tn_vec_free(&f.heap, &v);
    close_fixture(&f);
  }
}

static void floats_in_arrays_are_rounded_once(void **state) {
  (void)state;
  uint64_t seed = 22;
  for (int i = 0; i < effort(20000); i++) {
    char text[400] = "[", *at = text + 1;
    float expected[8];
    fixture f;
    tn_f32s v = { 0 };
    for (int k = 0; k < 8; k++) {
      uint32_t bits = (uint32_t)random_bits(&seed);
      float number;
      memcpy(&number, &bits, sizeof number);
      if (i % 2 || !isfinite(number)) number = (float)((int)(bits % 2000000) - 1000000) / 4096;
      char *start = at;
      int digits = (int)(bits >> 5 & 15) + 1;
      if (bits & 16) at += snprintf(at, 60, "%.*g", digits, (double)number);
      else at += snprintf(at, 60, "%.*f", digits / 3, (double)number);
      expected[k] = strtof(start, NULL);
      at += snprintf(at, 4, k < 7 ? "," : "]");
    }
    open_fixture(&f, tn_str_of(text));
    next(&f);
    assert_int_equal(tn_json_read_f32s(&f.reader, &f.heap, &v, &f.token), TN_JSON_NUMBERS_OK);
    assert_int_equal(v.count, 8);
    if (memcmp(v.at, expected, sizeof expected) != 0) fail_msg("%s", text);
    tn_vec_free(&f.heap, &v);
    close_fixture(&f);
  }
}

/* ---- writing ---- */

static void the_writer_puts_commas_where_they_belong(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_text text;
  tn_text_init(&text, &heap);
  tn_json_writer json = tn_json_writer_on(&text);
  tn_json_object_begin(&json);
  tn_json_key(&json, "ok");
  tn_json_bool(&json, true);
  tn_json_key(&json, "list");
  tn_json_array_begin(&json);
  tn_json_int(&json, INT64_MIN);
  tn_json_uint(&json, UINT64_MAX);
  tn_json_null(&json);
  tn_json_bool(&json, false);
  tn_json_array_begin(&json);
  tn_json_array_end(&json);
  tn_json_object_begin(&json);
  tn_json_object_end(&json);
  tn_json_array_end(&json);
  tn_json_key_str(&json, TN_LIT("raw"));
  tn_json_raw(&json, TN_LIT("[1, 2]"));
  tn_json_key(&json, "s");
  tn_json_string(&json, TN_LIT(""));
  tn_json_object_end(&json);
  assert_str(tn_text_str(&text), "{\"ok\":true,\"list\":[-9223372036854775808,18446744073709551615,null,"
                                 "false,[],{}],\"raw\":[1, 2],\"s\":\"\"}");
  tn_text_free(&text);
}

static void numbers_are_written_shortest(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_text text;
  tn_text_init(&text, &heap);
  tn_json_writer json = tn_json_writer_on(&text);
  tn_json_array_begin(&json);
  tn_json_f32(&json, 0.1f);
  tn_json_f64(&json, 0.1);
  tn_json_f64(&json, (double)0.1f);
  tn_json_f32(&json, 4);
  tn_json_f64(&json, -0.0);
  tn_json_f32(&json, FLT_MAX);
  tn_json_f32(&json, NAN);
  tn_json_f32(&json, INFINITY);
  tn_json_f64(&json, -(double)INFINITY);
  tn_json_array_end(&json);
  assert_str(tn_text_str(&text), "[0.1,0.1,0.10000000149011612,4,-0,3.4028235e38,"
                                 "\"NaN\",\"Infinity\",\"-Infinity\"]");
  tn_text_free(&text);
}

static void strings_are_escaped_where_they_must(void **state) {
  (void)state;
  static const struct { tn_str plain; const char *written; } cases[] = {
    { { "a\"b\\c/d", 7 }, "\"a\\\"b\\\\c/d\"" },
    { { "\b\f\n\r\t\x01\x1f\x7f", 8 }, "\"\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\"" },
    { { "a\0b", 3 }, "\"a\\u0000b\"" },
    { { "\xc3\xa4\xf0\x9f\x8e\x89", 6 }, "\"\xc3\xa4\xf0\x9f\x8e\x89\"" },
    { { "x\xffy\xe2\x82", 5 }, "\"x\xef\xbf\xbdy\xef\xbf\xbd\xef\xbf\xbd\"" },
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tn_heap heap = { 0 };
    tn_text text;
    tn_text_init(&text, &heap);
    tn_json_writer json = tn_json_writer_on(&text);
    tn_json_string(&json, cases[i].plain);
    assert_str(tn_text_str(&text), cases[i].written);
    tn_text_free(&text);
  }
}

static void what_is_written_reads_back(void **state) {
  (void)state;
  uint64_t seed = 23;
  for (int i = 0; i < effort(20000); i++) {
    char plain[24];
    size_t length = random_bits(&seed) % sizeof plain;
    for (size_t k = 0; k < length; k++) plain[k] = (char)(random_bits(&seed) % 128);
    tn_heap heap = { 0 };
    tn_text text;
    fixture f;
    tn_text_init(&text, &heap);
    tn_json_writer json = tn_json_writer_on(&text);
    tn_json_string(&json, (tn_str){ plain, length });
    open_fixture(&f, tn_text_str(&text));
    assert_int_equal(next(&f), TN_JSON_STRING);
    assert_true(tn_str_equal(f.token.text, (tn_str){ plain, length }));
    assert_next(&f, TN_JSON_END, "");
    close_fixture(&f);
    tn_text_free(&text);
  }
}

/* ---- out of memory ---- */

static bool use_reader(tn_heap *heap) {
  tn_arena arena;
  tn_json_reader reader;
  tn_json_token token;
  tn_arena_init(&arena, heap);
  tn_json_init(&reader, tn_str_of(sample), &arena);
  while (tn_json_next(&reader, &token) > TN_JSON_END) continue;
  bool good = token.kind == TN_JSON_END;
  assert_true(good != reader.out_of_memory);
  if (!good) assert_string_equal(reader.reason, "out of memory");
  tn_arena_free(&arena);
  return good;
}

static bool use_bulk(tn_heap *heap) {
  tn_arena arena;
  tn_json_reader reader;
  tn_json_token token;
  tn_i32s v = { 0 };
  tn_f32s w = { 0 };
  static const char text[] = "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27]";
  tn_arena_init(&arena, heap);
  tn_json_init(&reader, tn_str_of(text), &arena);
  tn_json_next(&reader, &token);
  tn_json_numbers first = tn_json_read_i32s(&reader, heap, &v, &token);
  tn_json_init(&reader, tn_str_of(text), &arena);
  tn_json_next(&reader, &token);
  tn_json_numbers second = tn_json_read_f32s(&reader, heap, &w, &token);
  bool good = first == TN_JSON_NUMBERS_OK && second == TN_JSON_NUMBERS_OK;
  if (!good) assert_true(first == TN_JSON_NUMBERS_NO_MEMORY || second == TN_JSON_NUMBERS_NO_MEMORY);
  tn_vec_free(heap, &v);
  tn_vec_free(heap, &w);
  tn_arena_free(&arena);
  return good;
}

static void reading_survives_every_failed_request(void **state) {
  (void)state;
  fail_every_request(use_reader);
  fail_every_request(use_bulk);
}

RUN_TESTS(
  cmocka_unit_test(tokens_come_in_the_order_of_the_text),
  cmocka_unit_test(every_kind_of_value_may_stand_alone),
  cmocka_unit_test(invalid_json_is_refused_at_the_error),
  cmocka_unit_test(broken_strings_are_refused),
  cmocka_unit_test(escapes_are_read),
  cmocka_unit_test(strings_of_every_length_are_read),
  cmocka_unit_test(nesting_has_a_limit),
  cmocka_unit_test(a_value_can_be_skipped),
  cmocka_unit_test(numbers_are_converted_on_request),
  cmocka_unit_test(arrays_of_whole_numbers_are_read_at_once),
  cmocka_unit_test(empty_and_short_arrays_are_read),
  cmocka_unit_test(an_array_stops_at_the_first_non_integer),
  cmocka_unit_test(long_arrays_are_read_as_short_ones),
  cmocka_unit_test(quick_and_careful_reading_agree),
  cmocka_unit_test(floats_in_arrays_are_rounded_once),
  cmocka_unit_test(the_writer_puts_commas_where_they_belong),
  cmocka_unit_test(numbers_are_written_shortest),
  cmocka_unit_test(strings_are_escaped_where_they_must),
  cmocka_unit_test(what_is_written_reads_back),
  cmocka_unit_test(reading_survives_every_failed_request))
