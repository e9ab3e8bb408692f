/* base/json.c: the JSON pull parser.
 *
 * Its state is a small state machine (what may come next) and one bit per open bracket; next()
 * looks at one byte and knows which reader to call.
 *
 * Strings are scanned eight bytes at a time for their end, escapes and control characters; only
 * those with escapes are copied. */
#include "base/json.h"

#include <string.h>

#include "base/json_internal.h"
#include "base/number.h"
#include "base/utf8.h"

#define ONES UINT64_C(0x0101010101010101)
#define HIGH_BITS (ONES * 0x80)

/* ---- errors ---- */

static uint64_t offset_of(const tn_json_reader *reader, const char *at) {
  return (uint64_t)(at - reader->start);
}

static tn_json_kind repeat_error(const tn_json_reader *reader, tn_json_token *token) {
  *token = (tn_json_token){ .kind = TN_JSON_ERROR, .text = TN_LIT(""), .at = reader->error_at };
  return TN_JSON_ERROR;
}

static tn_json_kind fail(tn_json_reader *reader, tn_json_token *token, const char *at, const char *reason) {
  reader->reason = reason;
  reader->error_at = offset_of(reader, at);
  return repeat_error(reader, token);
}

static tn_json_kind fail_for_memory(tn_json_reader *reader, tn_json_token *token) {
  reader->out_of_memory = true;
  return fail(reader, token, reader->at, "out of memory");
}

/* ---- strings ---- */

/* Whether one of the eight bytes is a quote, a backslash or a control character. */
static bool interrupts(uint64_t eight) {
  uint64_t quote = eight ^ ONES * '"', backslash = eight ^ ONES * '\\';
  uint64_t ends = ((quote - ONES) & ~quote) | ((backslash - ONES) & ~backslash);
  uint64_t control = (eight - ONES * 0x20) & ~eight;
  return ((ends | control) & HIGH_BITS) != 0;
}

typedef struct {
  const char *end;      /* the closing quote */
  bool escapes, high;   /* it has escapes; bytes that are not ASCII */
} string_extent;

/* From the byte after the opening quote to the first byte that is not plain text. */
static const char *skip_plain(const char *at, const char *end, bool *high) {
  uint64_t eight, seen = 0;
  for (; end - at >= 8; at += 8) {
    memcpy(&eight, at, sizeof eight);
    if (interrupts(eight)) break;
    seen |= eight;
  }
  unsigned char bits = 0;
  for (; at < end && (unsigned char)*at >= 0x20 && *at != '"' && *at != '\\'; at++) {
    bits |= (unsigned char)*at;
  }
  *high |= (seen & HIGH_BITS) != 0 || bits >= 0x80;
  return at;
}

/* Finds the closing quote. TN_JSON_STRING, or what next() is to give. */
static tn_json_kind measure_string(tn_json_reader *reader, tn_json_token *token, string_extent *out) {
  const char *at = reader->at + 1;
  *out = (string_extent){ 0 };
  for (;;) {
    at = skip_plain(at, reader->end, &out->high);
    if (at == reader->end) return fail(reader, token, reader->end, "a string without its closing quote");
    if (*at == '"') break;
    if (*at != '\\') return fail(reader, token, at, "a control character in a string");
    if (reader->end - at < 2) return fail(reader, token, reader->end, "a string without its closing quote");
    out->escapes = true;
    at += 2;   /* whatever it escapes does not end the string; read_escape judges it */
  }
  out->end = at;
  return TN_JSON_STRING;
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* \uXXXX at `at`; false when it is not that. */
static bool read_unit(const char *at, const char *end, uint32_t *unit) {
  uint32_t value = 0;
  if (end - at < 6 || at[0] != '\\' || at[1] != 'u') return false;
  for (int i = 2; i < 6; i++) {
    int digit = hex_digit(at[i]);
    if (digit < 0) return false;
    value = value << 4 | (uint32_t)digit;
  }
  *unit = value;
  return true;
}

/* The escape at `at`: its character, and its length in bytes; 0 if it is invalid. */
static size_t read_escape(const char *at, const char *end, uint32_t *code, const char **reason) {
  static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
  const char *letter = at[1] ? strchr(letters, at[1]) : NULL;
  uint32_t low;
  if (letter) {
    *code = (uint32_t)meanings[letter - letters];
    return 2;
  }
  *reason = "an unknown escape in a string";
  if (!read_unit(at, end, code)) return 0;
  if (*code < 0xd800 || *code > 0xdfff) return 6;
  *reason = "half of a surrogate pair in a string";
  if (*code > 0xdbff || !read_unit(at + 6, end, &low) || low < 0xdc00 || low > 0xdfff) return 0;
  *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
  return 12;
}

/* Copies the string without its escapes, which never grows it. */
static tn_json_kind unescape(tn_json_reader *reader, tn_json_token *token, const char *end) {
  const char *at = reader->at + 1, *reason;
  char *copy = tn_arena_alloc(reader->arena, (size_t)(end - at) + 1), *to = copy;
  if (!copy) return fail_for_memory(reader, token);
  while (at < end) {
    uint32_t code;
    const char *escape = memchr(at, '\\', (size_t)(end - at));
    size_t plain = (size_t)((escape ? escape : end) - at);
    memcpy(to, at, plain);
    to += plain;
    at += plain;
    if (!escape) break;
    size_t taken = read_escape(at, end, &code, &reason);
    if (taken == 0) return fail(reader, token, at, reason);
    to += tn_utf8_encode(code, to);
    at += taken;
  }
  token->text = (tn_str){ copy, (size_t)(to - copy) };
  return TN_JSON_STRING;
}

/* string = '"' { character | escape } '"' ; leaves the position at its start, *end after it. */
static tn_json_kind read_string(tn_json_reader *reader, tn_json_token *token, const char **end) {
  string_extent extent;
  tn_json_kind kind = measure_string(reader, token, &extent);
  if (kind != TN_JSON_STRING) return kind;
  tn_str raw = { reader->at + 1, (size_t)(extent.end - reader->at - 1) };
  if (extent.high) {
    size_t invalid = tn_utf8_first_invalid(raw);
    if (invalid < raw.len) return fail(reader, token, raw.at + invalid, "bytes that are not UTF-8");
  }
  token->text = raw;
  *end = extent.end + 1;
  return extent.escapes ? unescape(reader, token, extent.end) : TN_JSON_STRING;
}

/* ---- numbers and words ---- */

static const char *skip_digits(const char *at, const char *end) {
  while (at < end && *at >= '0' && *at <= '9') at++;
  return at;
}

/* number = [ "-" ] ( "0" | digit1-9 { digit } ) [ "." digits ] [ ( "e" | "E" ) [ "+" | "-" ] digits ]
 * Returns where it ends; *reason says why if it is malformed. */
static const char *number_end(const char *at, const char *end, const char **reason) {
  const char *digits;
  *reason = "a digit is missing in a number";
  if (at < end && *at == '-') at++;
  digits = at;
  at = skip_digits(at, end);
  if (at == digits) return at;
  if (*digits == '0' && at - digits > 1) {
    *reason = "a number that starts with 0";
    return digits + 1;
  }
  if (at < end && *at == '.') {
    digits = ++at;
    at = skip_digits(at, end);
    if (at == digits) return at;
  }
  if (at < end && (*at == 'e' || *at == 'E')) {
    at++;
    if (at < end && (*at == '+' || *at == '-')) at++;
    digits = at;
    at = skip_digits(at, end);
    if (at == digits) return at;
  }
  *reason = NULL;
  return at;
}

static tn_json_kind read_number(tn_json_reader *reader, tn_json_token *token) {
  const char *reason, *end = number_end(reader->at, reader->end, &reason);
  if (reason) return fail(reader, token, end, reason);
  token->text = (tn_str){ reader->at, (size_t)(end - reader->at) };
  reader->at = end;
  return TN_JSON_NUMBER;
}

static tn_json_kind read_word(tn_json_reader *reader, tn_json_token *token, const char *word,
                              tn_json_kind kind) {
  size_t length = strlen(word), there = (size_t)(reader->end - reader->at);
  if (memcmp(reader->at, word, there < length ? there : length) != 0) {
    return fail(reader, token, reader->at, "a value is expected");
  }
  if (there < length) return fail(reader, token, reader->end, "a value is expected");
  reader->at += length;
  return kind;
}

/* ---- structure ---- */

static bool inside_object(const tn_json_reader *reader) {
  int level = reader->depth - 1;
  return level >= 0 && (reader->objects[level / 64] >> level % 64 & 1);
}

static void value_is_complete(tn_json_reader *reader) {
  reader->want = reader->depth ? TN_JSON_WANT_COMMA_OR_END : TN_JSON_WANT_NOTHING;
}

static tn_json_kind open_bracket(tn_json_reader *reader, tn_json_token *token, bool object) {
  int level = reader->depth;
  if (level == TN_JSON_DEPTH_LIMIT) return fail(reader, token, reader->at, "nested too deeply");
  uint64_t bit = UINT64_C(1) << level % 64;
  if (object) reader->objects[level / 64] |= bit;
  else reader->objects[level / 64] &= ~bit;
  reader->depth++;
  reader->at++;
  reader->want = object ? TN_JSON_WANT_KEY_OR_END : TN_JSON_WANT_VALUE_OR_END;
  return object ? TN_JSON_OBJECT_BEGIN : TN_JSON_ARRAY_BEGIN;
}

static tn_json_kind close_bracket(tn_json_reader *reader, tn_json_token *token) {
  bool object = inside_object(reader);
  if (*reader->at != (object ? '}' : ']')) {
    return fail(reader, token, reader->at, object ? "a comma or } is expected" : "a comma or ] is expected");
  }
  tn_json_leave_array(reader, reader->at);
  return object ? TN_JSON_OBJECT_END : TN_JSON_ARRAY_END;
}

void tn_json_leave_array(tn_json_reader *reader, const char *bracket) {
  reader->at = bracket + 1;
  reader->depth--;
  value_is_complete(reader);
}

static tn_json_kind read_scalar(tn_json_reader *reader, tn_json_token *token) {
  const char *end;
  switch (*reader->at) {
    case '"': {
      tn_json_kind kind = read_string(reader, token, &end);
      if (kind == TN_JSON_STRING) reader->at = end;
      return kind;
    }
    case 't': return read_word(reader, token, "true", TN_JSON_TRUE);
    case 'f': return read_word(reader, token, "false", TN_JSON_FALSE);
    case 'n': return read_word(reader, token, "null", TN_JSON_NULL);
    case '-': case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': case '8':
    case '9': return read_number(reader, token);
    default: return fail(reader, token, reader->at, "a value is expected");
  }
}

/* value = object | array | string | number | "true" | "false" | "null" */
static tn_json_kind read_value(tn_json_reader *reader, tn_json_token *token) {
  if (*reader->at == '{') return open_bracket(reader, token, true);
  if (*reader->at == '[') return open_bracket(reader, token, false);
  tn_json_kind kind = read_scalar(reader, token);
  if (kind > TN_JSON_END) value_is_complete(reader);
  return kind;
}

/* member = string ":" value ; the key and its colon are one token. */
static tn_json_kind read_key(tn_json_reader *reader, tn_json_token *token) {
  const char *at;
  if (*reader->at != '"') return fail(reader, token, reader->at, "a key in quotes is expected");
  tn_json_kind kind = read_string(reader, token, &at);
  if (kind != TN_JSON_STRING) return kind;
  at = tn_json_skip_space(at, reader->end);
  if (at == reader->end) return fail(reader, token, reader->end, "a colon is expected");
  if (*at != ':') return fail(reader, token, at, "a colon is expected");
  reader->at = at + 1;
  reader->want = TN_JSON_WANT_VALUE;
  return TN_JSON_KEY;
}

static tn_json_kind at_end(tn_json_reader *reader, tn_json_token *token) {
  if (reader->want != TN_JSON_WANT_NOTHING) {
    return fail(reader, token, reader->end, "the text ends too early");
  }
  *token = (tn_json_token){ .kind = TN_JSON_END, .text = TN_LIT(""), .at = offset_of(reader, reader->at) };
  return TN_JSON_END;
}

static tn_json_kind read_token(tn_json_reader *reader, tn_json_token *token) {
  for (;;) {
    reader->at = tn_json_skip_space(reader->at, reader->end);
    if (reader->at == reader->end) return at_end(reader, token);
    token->at = offset_of(reader, reader->at);
    char c = *reader->at;
    switch (reader->want) {
      case TN_JSON_WANT_COMMA_OR_END:
        if (c != ',') return close_bracket(reader, token);
        reader->at++;
        reader->want = inside_object(reader) ? TN_JSON_WANT_KEY : TN_JSON_WANT_VALUE;
        continue;
      case TN_JSON_WANT_KEY_OR_END:
        return c == '}' ? close_bracket(reader, token) : read_key(reader, token);
      case TN_JSON_WANT_VALUE_OR_END:
        return c == ']' ? close_bracket(reader, token) : read_value(reader, token);
      case TN_JSON_WANT_KEY:
        return read_key(reader, token);
      case TN_JSON_WANT_VALUE:
        return read_value(reader, token);
      case TN_JSON_WANT_NOTHING:
        return fail(reader, token, reader->at, "something follows the value");
    }
  }
}

/* ---- the interface ---- */

void tn_json_init(tn_json_reader *reader, tn_str text, tn_arena *arena) {
  const char *start = text.len ? text.at : "";
  *reader = (tn_json_reader){ .arena = arena, .start = start, .at = start, .end = start + text.len };
}

tn_json_kind tn_json_next(tn_json_reader *reader, tn_json_token *token) {
  if (reader->reason) return repeat_error(reader, token);
  token->text = TN_LIT("");
  tn_json_kind kind = read_token(reader, token);
  token->kind = kind;
  return kind;
}

bool tn_json_skip(tn_json_reader *reader, const tn_json_token *first) {
  bool opens = first->kind == TN_JSON_OBJECT_BEGIN || first->kind == TN_JSON_ARRAY_BEGIN;
  if (!opens) return first->kind > TN_JSON_END;
  int outside = reader->depth - 1;
  tn_json_token token;
  while (reader->depth > outside) {
    if (tn_json_next(reader, &token) <= TN_JSON_END) return false;
  }
  return true;
}

bool tn_json_token_i64(const tn_json_token *token, int64_t *out) {
  return token->kind == TN_JSON_NUMBER && tn_number_parse_i64(token->text, out);
}

bool tn_json_token_f64(const tn_json_token *token, double *out) {
  return token->kind == TN_JSON_NUMBER && tn_number_parse_f64(token->text, out);
}

bool tn_json_token_f32(const tn_json_token *token, float *out) {
  return token->kind == TN_JSON_NUMBER && tn_number_parse_f32(token->text, out);
}
