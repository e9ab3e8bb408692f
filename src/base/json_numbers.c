/* base/json_numbers.c: arrays of numbers, without a token for each.
 *
 * Data files are mostly arrays of numbers. The loops here take the ordinary
 * ones: few digits, then a comma or the bracket. Whatever else they meet they
 * leave untouched for the token reader, which knows all forms and all errors,
 * so there is only one judge of what JSON is. */
#include "base/digits.h"
#include "base/json_internal.h"
#include "base/number_internal.h"

#define MOST_DIGITS 19   /* always fit a uint64_t */
#define MOST_EXPONENT_DIGITS 4

/* Up to `most` digits onto *value; how many. */
static int take_digits(const char **at, const char *end, int most, uint64_t *value) {
  int count = 0;
  for (; *at < end && **at >= '0' && **at <= '9' && count < most; ++*at, count++) {
    *value = *value * 10 + (uint64_t)(**at - '0');
  }
  return count;
}

/* The same for a fraction, which has more digits, and less predictably many. */
static int take_fraction(const char **at, const char *end, int most, uint64_t *value) {
  static const uint32_t power_of_ten[] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000 };
  uint64_t part = 0;
  if (most < 8 || end - *at < 8) return take_digits(at, end, most, value);
  int count = tn_digits8(*at, &part);
  if (count == 0) return 0;
  *value = *value * power_of_ten[count] + part;
  *at += count;
  return count < 8 ? count : 8 + take_digits(at, end, most - 8, value);
}

/* A whole number of at most seven digits, at *at. The digits are looked at before
 * the sign: where the next number starts should wait for nothing else. */
static bool take_i32(const char **at, const char *end, int32_t *out) {
  const char *p = *at;
  uint64_t value = 0;
  if (end - p < 9) return false;
  int count = tn_digits8(p, &value);
  bool negative = count == 0 && *p == '-';
  if (negative) count = tn_digits8(++p, &value);
  if (count == 0 || count == 8 || (*p == '0' && count > 1)) return false;
  *out = negative ? -(int32_t)value : (int32_t)value;
  *at = p + count;
  return true;
}

/* Where the next number begins is what a reader of one number after the other waits
 * for. So this first finds every separator in a block of bytes, and then what stands
 * between them: plain numbers with a comma right after. *start becomes that of the
 * first item that was not taken; false when memory ran out. */
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

/* [ ( "e" | "E" ) [ "+" | "-" ] digits ] */
static bool take_exponent(const char **at, const char *end, int *exponent) {
  uint64_t value = 0;
  if (*at == end || (**at != 'e' && **at != 'E')) return true;
  ++*at;
  bool negative = *at < end && **at == '-';
  if (negative || (*at < end && **at == '+')) ++*at;
  if (take_digits(at, end, MOST_EXPONENT_DIGITS, &value) == 0) return false;
  *exponent += negative ? -(int)value : (int)value;
  return true;
}

/* Floats have too many forms: one after the other. */
static bool take_no_f32s(const char **start, const char *end, tn_heap *heap, tn_f32s *out) {
  (void)start, (void)end, (void)heap, (void)out;
  return true;
}

static bool take_f32(const char **at, const char *end, float *out) {
  const char *p = *at;
  bool negative = p < end && *p == '-';
  uint64_t value = 0;
  int exponent = 0;
  p += negative;
  bool zero = p < end && *p == '0';
  int count = take_digits(&p, end, MOST_DIGITS, &value);
  if (count == 0 || (zero && count > 1)) return false;
  if (p < end && *p == '.') {
    p++;
    exponent = -take_fraction(&p, end, MOST_DIGITS - count, &value);
    if (exponent == 0) return false;   /* or no room for more digits; both are rare */
  }
  if (!take_exponent(&p, end, &exponent)) return false;
  *out = tn_number_f32_of(negative, value, exponent);
  *at = p;
  return true;
}

/* The position after an item and the space around it, if a comma or the
 * array's end stands there, else NULL: the item may then go on in a way that its
 * reader did not see. */
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

/* After the comma of the last item that was taken. */
static void stop_before_item(tn_json_reader *reader, const char *at) {
  if (at == reader->at) return;
  reader->at = at;
  reader->want = TN_JSON_WANT_VALUE;
}

typedef enum { QUICK_ENDED, QUICK_STOPPED, QUICK_NO_MEMORY } quick;

/* Takes items one after the other as long as they are plain, as most in data files are. */
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
QUICK_READER(quick_i32s, tn_i32s, int32_t, take_i32, take_i32s)
QUICK_READER(quick_f32s, tn_f32s, float, take_f32, take_no_f32s)

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
