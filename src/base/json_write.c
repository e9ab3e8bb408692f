/* base/json_write.c: the JSON writer.
 *
 * One flag is enough for all commas: a complete item sets it, an opening bracket clears it, and a
 * closing bracket completes an item of the enclosing one. */
#include <math.h>

#include "base/json.h"
#include "base/utf8.h"

tn_json_writer tn_json_writer_on(tn_text *out) {
  return (tn_json_writer){ .out = out };
}

static void begin_item(tn_json_writer *json) {
  if (json->comma) tn_text_byte(json->out, ',');
  json->comma = true;
}

static void open_bracket(tn_json_writer *json, char bracket) {
  begin_item(json);
  tn_text_byte(json->out, bracket);
  json->comma = false;
}

static void close_bracket(tn_json_writer *json, char bracket) {
  tn_text_byte(json->out, bracket);
  json->comma = true;
}

void tn_json_object_begin(tn_json_writer *json) {
  open_bracket(json, '{');
}

void tn_json_object_end(tn_json_writer *json) {
  close_bracket(json, '}');
}

void tn_json_array_begin(tn_json_writer *json) {
  open_bracket(json, '[');
}

void tn_json_array_end(tn_json_writer *json) {
  close_bracket(json, ']');
}

void tn_json_key(tn_json_writer *json, const char *key) {
  tn_json_key_str(json, tn_str_of(key));
}

void tn_json_key_str(tn_json_writer *json, tn_str key) {
  tn_json_string(json, key);
  tn_text_byte(json->out, ':');
  json->comma = false;
}

/* How a byte below 0x80 is written inside a string: a short escape's letter, 'u'
 * for \u00XX, 0 for itself. */
static char escape_of(unsigned char c) {
  switch (c) {
    case '"': return '"';
    case '\\': return '\\';
    case '\b': return 'b';
    case '\f': return 'f';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    default: return c < 0x20 ? 'u' : 0;
  }
}

static void add_escape(tn_text *out, unsigned char c, char letter) {
  tn_text_byte(out, '\\');
  tn_text_byte(out, letter);
  if (letter != 'u') return;
  tn_text_puts(out, "00");
  tn_text_hex(out, &c, 1);
}

/* How many bytes from `at` on need no escape in a string. */
static size_t plain_run(tn_str text, size_t at) {
  size_t start = at;
  uint32_t code;
  while (at < text.len) {
    unsigned char c = (unsigned char)text.at[at];
    size_t length = c < 0x80 ? !escape_of(c) : tn_utf8_decode(text, at, &code);
    if (length == 0) break;
    at += length;
  }
  return at - start;
}

void tn_json_string(tn_json_writer *json, tn_str text) {
  begin_item(json);
  tn_text_byte(json->out, '"');
  for (size_t at = 0; at < text.len; at++) {
    size_t plain = plain_run(text, at);
    tn_text_add(json->out, (tn_str){ text.at + at, plain });
    at += plain;
    if (at == text.len) break;
    unsigned char c = (unsigned char)text.at[at];
    if (c < 0x80) add_escape(json->out, c, escape_of(c));
    else tn_text_puts(json->out, "\xef\xbf\xbd");   /* U+FFFD */
  }
  tn_text_byte(json->out, '"');
}

void tn_json_int(tn_json_writer *json, int64_t number) {
  begin_item(json);
  tn_text_int(json->out, number);
}

void tn_json_uint(tn_json_writer *json, uint64_t number) {
  begin_item(json);
  tn_text_uint(json->out, number);
}

void tn_json_f32(tn_json_writer *json, float number) {
  begin_item(json);
  bool quoted = !isfinite(number);
  if (quoted) tn_text_byte(json->out, '"');
  tn_text_f32(json->out, number);
  if (quoted) tn_text_byte(json->out, '"');
}

void tn_json_f64(tn_json_writer *json, double number) {
  begin_item(json);
  bool quoted = !isfinite(number);
  if (quoted) tn_text_byte(json->out, '"');
  tn_text_f64(json->out, number);
  if (quoted) tn_text_byte(json->out, '"');
}

void tn_json_bool(tn_json_writer *json, bool value) {
  begin_item(json);
  tn_text_puts(json->out, value ? "true" : "false");
}

void tn_json_null(tn_json_writer *json) {
  begin_item(json);
  tn_text_puts(json->out, "null");
}

void tn_json_raw(tn_json_writer *json, tn_str value) {
  begin_item(json);
  tn_text_add(json->out, value);
}
