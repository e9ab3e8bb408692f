/* base/json.h: reading and writing JSON (RFC 8259, to the letter).
 *
 * The reader is a pull parser: each call returns one token, in the order of the
 * text. It builds nothing and allocates only for strings with escapes; the other
 * tokens are slices of the text. It checks everything: commas, nesting, number
 * and string forms, UTF-8. Whether a key may repeat is up to the caller.
 *
 *   tn_json_reader reader;
 *   tn_json_token token;
 *   tn_json_init(&reader, text, &arena);
 *   while (tn_json_next(&reader, &token) > TN_JSON_END) ...
 *   if (token.kind == TN_JSON_ERROR) ...reader.reason, token.at */
#ifndef TN_BASE_JSON_H
#define TN_BASE_JSON_H

#include "base/arena.h"
#include "base/text.h"
#include "base/vec.h"

#define TN_JSON_DEPTH_LIMIT 200

typedef enum {
  TN_JSON_ERROR,          /* from then on always this; see reason */
  TN_JSON_END,            /* the value is complete and nothing follows */
  TN_JSON_OBJECT_BEGIN,
  TN_JSON_OBJECT_END,
  TN_JSON_ARRAY_BEGIN,
  TN_JSON_ARRAY_END,
  TN_JSON_KEY,
  TN_JSON_STRING,
  TN_JSON_NUMBER,
  TN_JSON_TRUE,
  TN_JSON_FALSE,
  TN_JSON_NULL
} tn_json_kind;

typedef struct {
  tn_json_kind kind;
  tn_str text;      /* key, string: without quotes and escapes; number: as written */
  uint64_t at;      /* byte offset of its start, or of the error */
} tn_json_token;

/* What may come next. */
typedef enum {
  TN_JSON_WANT_VALUE,
  TN_JSON_WANT_VALUE_OR_END,   /* after [ */
  TN_JSON_WANT_KEY,
  TN_JSON_WANT_KEY_OR_END,     /* after { */
  TN_JSON_WANT_COMMA_OR_END,
  TN_JSON_WANT_NOTHING         /* after the whole value */
} tn_json_want;

typedef struct {
  const char *start, *at, *end;   /* the text, and the next byte in it */
  tn_arena *arena;
  const char *reason;             /* static; why the text was refused, or NULL */
  uint64_t error_at;
  bool out_of_memory;             /* the reason for the error */
  tn_json_want want;
  int depth;
  uint64_t objects[(TN_JSON_DEPTH_LIMIT + 63) / 64];   /* a bit for each open bracket: it is { */
} tn_json_reader;

/* Over a complete text. Strings with escapes go into the arena. */
void tn_json_init(tn_json_reader *reader, tn_str text, tn_arena *arena);
/* Tokens borrow from the text, or from the arena, and are valid as long as these. */
tn_json_kind tn_json_next(tn_json_reader *reader, tn_json_token *token);
/* `first` was just read. If it opens an object or array, reads to its end.
 * False on an error. */
bool tn_json_skip(tn_json_reader *reader, const tn_json_token *first);

/* The value of a number token. For i64: false unless it is written as a whole number and fits. */
bool tn_json_token_i64(const tn_json_token *token, int64_t *out);
bool tn_json_token_f64(const tn_json_token *token, double *out);
bool tn_json_token_f32(const tn_json_token *token, float *out);

/* The rest of an array of numbers, once its [ was read, appended to a vector.
 * On TN_JSON_NUMBERS_OTHER *token is the first item that is not a number of that type, or the
 * reader's error; the items before it are in the vector. */
typedef tn_vec(int32_t) tn_i32s;
typedef tn_vec(float) tn_f32s;
typedef enum {
  TN_JSON_NUMBERS_OK,
  TN_JSON_NUMBERS_OTHER,
  TN_JSON_NUMBERS_NO_MEMORY
} tn_json_numbers;
tn_json_numbers tn_json_read_i32s(tn_json_reader *reader, tn_heap *heap, tn_i32s *out, tn_json_token *token);
tn_json_numbers tn_json_read_f32s(tn_json_reader *reader, tn_heap *heap, tn_f32s *out, tn_json_token *token);

/* The writer adds commas itself; the caller matches brackets and keys. It appends one compact value
 * to the text. */
typedef struct {
  tn_text *out;
  bool comma;   /* the next key or item is not the first of its bracket */
} tn_json_writer;

tn_json_writer tn_json_writer_on(tn_text *out);
void tn_json_object_begin(tn_json_writer *json);
void tn_json_object_end(tn_json_writer *json);
void tn_json_array_begin(tn_json_writer *json);
void tn_json_array_end(tn_json_writer *json);
void tn_json_key(tn_json_writer *json, const char *key);
void tn_json_key_str(tn_json_writer *json, tn_str key);
/* Escaped as needed; bytes that are not UTF-8 become U+FFFD. */
void tn_json_string(tn_json_writer *json, tn_str text);
void tn_json_int(tn_json_writer *json, int64_t number);
void tn_json_uint(tn_json_writer *json, uint64_t number);
/* The shortest decimal; "NaN", "Infinity" and "-Infinity" are strings. */
void tn_json_f32(tn_json_writer *json, float number);
void tn_json_f64(tn_json_writer *json, double number);
void tn_json_bool(tn_json_writer *json, bool value);
void tn_json_null(tn_json_writer *json);
/* Text that is already a JSON value. */
void tn_json_raw(tn_json_writer *json, tn_str value);
#endif
