/* base/json_numbers.c: reads JSON arrays of numbers without a token per item.
 *
 * Data files are mostly arrays of numbers. The loops here take the ordinary
 * ones: few digits, then a comma or the bracket. Everything else is left to the token reader, which
 * knows all forms and all errors, so the rules of JSON are in one place. */
#include "base/digits.h"
#include "base/json_internal.h"
#include "base/number_take.h"

/* A reader of one number after the other waits to learn where the next number begins. So this first
 * finds all separators in a block of bytes, and then parses what is between them: plain numbers
 * with a comma right after. *start becomes that of the first item that was not read; false when
 * memory runs out. */
#define BLOCK_BYTES 64

static bool take_i32s(const char **start, const char *end, tn_heap *heap, tn_i32s *out) {
  const char *from = *start;
  bool plain = true;
  for (const char *block = from; plain && end - block >= BLOCK_BYTES + 8; block += BLOCK_BYTES) {
    if (!tn_vec_reserve(heap, out, BLOCK_BYTES)) return false;
    int32_t *to = out->at + out->count;
    for (uint64_t gaps = tn_digits_gaps(block); gaps != 0; gaps &= gaps - 1) {
      const char *stop = block + tn_lowest_bit(gaps);
      ptrdiff_t count = stop - from;
      plain = *stop == ',' && count >= 1 && count <= 7 && (*from != '0' || count == 1);
      if (!plain) break;
      *to++ = (int32_t)tn_digits_value(tn_load_le64(from) ^ TN_EACH_BYTE * '0', (int)count);
      from = stop + 1;
    }
    out->count = (size_t)(to - out->at);
  }
  *start = from;
  return true;
}

/* Floats have too many forms: they are read one by one. */
static bool take_no_f32s(const char **start, const char *end, tn_heap *heap, tn_f32s *out) {
  (void)start, (void)end, (void)heap, (void)out;
  return true;
}

/* The position after an item and the space around it, if a comma or the array's end is there, else
 * NULL: the item may then have a form that its reader did not handle. */
static inline const char *find_separator(const char *at, const char *end) {
  if (at < end && *at == ',') return at;   /* almost always */
  at = tn_json_skip_space(at, end);
  return at < end && (*at == ',' || *at == ']') ? at : NULL;
}

static inline const char *skip_space(const char *at, const char *end) {
  if (at < end && *at > ' ') return at;
  return tn_json_skip_space(at, end);
}

static bool wants_item(const tn_json_reader *reader) {
  return !reader->reason &&
         (reader->want == TN_JSON_WANT_VALUE || reader->want == TN_JSON_WANT_VALUE_OR_END);
}

/* After the comma of the last item that was read. */
static void stop_before_item(tn_json_reader *reader, const char *at) {
  if (at == reader->at) return;
  reader->at = at;
  reader->want = TN_JSON_WANT_VALUE;
}

typedef enum { QUICK_ENDED, QUICK_STOPPED, QUICK_NO_MEMORY } quick;

/* Reads items as long as they are plain, as most in data files are. */
#define QUICK_READER(name, list, type, take, take_many)                                            \
  static quick name(tn_json_reader *reader, tn_heap *heap, list *out) {                            \
    const char *start = reader->at, *end = reader->end; /* start of the item */                    \
    quick result = QUICK_STOPPED;                                                                  \
    if (wants_item(reader) && !take_many(&start, end, heap, out)) return QUICK_NO_MEMORY;          \
    while (wants_item(reader)) {                                                                   \
      type item;                                                                                   \
      const char *at = skip_space(start, end);                                                     \
      if (!take(&at, end, &item) || !(at = find_separator(at, end))) break;                        \
      if (!tn_vec_push(heap, out, item)) {                                                         \
        result = QUICK_NO_MEMORY;                                                                  \
        break;                                                                                     \
      }                                                                                            \
      if (*at == ']') {                                                                            \
        tn_json_leave_array(reader, at);                                                           \
        return QUICK_ENDED;                                                                        \
      }                                                                                            \
      start = at + 1;                                                                              \
    }                                                                                              \
    stop_before_item(reader, start);                                                               \
    return result;                                                                                 \
  }
QUICK_READER(quick_i32s, tn_i32s, int32_t, tn_take_i32, take_i32s)
QUICK_READER(quick_f32s, tn_f32s, float, tn_take_f32, take_no_f32s)

/* After the plain items, or before the next: one by one, with everything JSON allows. */
static bool slow_i32(const tn_json_token *token, int32_t *item) {
  int64_t wide;
  bool fits = tn_json_token_i64(token, &wide) && wide >= INT32_MIN && wide <= INT32_MAX;
  if (fits) *item = (int32_t)wide;
  return fits;
}

#define READER(name, list, type, quickly, slowly)                                                   \
  tn_json_numbers name(tn_json_reader *reader, tn_heap *heap, list *out, tn_json_token *token) {    \
    for (;;) {                                                                                      \
      type item;                                                                                    \
      quick result = quickly(reader, heap, out);                                                    \
      if (result == QUICK_ENDED) return TN_JSON_NUMBERS_OK;                                         \
      if (result == QUICK_NO_MEMORY || !tn_vec_reserve(heap, out, 1)) return TN_JSON_NUMBERS_NO_MEMORY; \
      if (tn_json_next(reader, token) == TN_JSON_ARRAY_END) return TN_JSON_NUMBERS_OK;              \
      if (!slowly(token, &item)) return TN_JSON_NUMBERS_OTHER;                                      \
      tn_vec_push(heap, out, item);                                                                 \
    }                                                                                               \
  }
READER(tn_json_read_i32s, tn_i32s, int32_t, quick_i32s, slow_i32)
READER(tn_json_read_f32s, tn_f32s, float, quick_f32s, tn_json_token_f32)
