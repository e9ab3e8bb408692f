/* base/text.c: a growing run of bytes, NUL-terminated.
 *
 * All writers call room(): it makes space for the new bytes and the NUL, or marks the text as
 * failed. Writers then write in place, without an intermediate buffer. */
#include "base/text.h"

#include <assert.h>
#include <string.h>

#include "base/number.h"
#include "base/vec.h"

void tn_text_init(tn_text *text, tn_heap *heap) {
  *text = (tn_text){ .heap = heap };
}

void tn_text_free(tn_text *text) {
  tn_heap_free(text->heap, text->at, text->capacity);
  tn_text_init(text, text->heap);
}

void tn_text_clear(tn_text *text) {
  text->len = 0;
  text->failed = false;
  if (text->at) text->at[0] = 0;
}

tn_str tn_text_str(const tn_text *text) {
  return text->at ? (tn_str){ text->at, text->len } : TN_LIT("");
}

/* Where up to `bytes` more may be written, or NULL. */
static char *room(tn_text *text, size_t bytes) {
  if (text->failed) return NULL;
  if (text->capacity - text->len > bytes) return text->at + text->len;
  size_t with_nul;
  if (tn_size_add(bytes, 1, &with_nul)) {
    text->at = tn_vec_grow(text->heap, text->at, &text->capacity, 1, text->len, with_nul);
    if (text->capacity - text->len > bytes) return text->at + text->len;
  }
  text->failed = true;
  return NULL;
}

static void wrote(tn_text *text, size_t bytes) {
  text->len += bytes;
  text->at[text->len] = 0;
}

void tn_text_add(tn_text *text, tn_str more) {
  char *to = room(text, more.len);
  if (!to) return;
  if (more.len) memcpy(to, more.at, more.len);
  wrote(text, more.len);
}

void tn_text_puts(tn_text *text, const char *nul_terminated) {
  tn_text_add(text, tn_str_of(nul_terminated));
}

void tn_text_byte(tn_text *text, char byte) {
  char *to = room(text, 1);
  if (!to) return;
  *to = byte;
  wrote(text, 1);
}

void tn_text_repeat(tn_text *text, char byte, size_t count) {
  char *to = room(text, count);
  if (!to) return;
  memset(to, byte, count);
  wrote(text, count);
}

void tn_text_int(tn_text *text, int64_t number) {
  char *to = room(text, TN_NUMBER_BYTES);
  if (to) wrote(text, tn_number_print_i64(number, to));
}

void tn_text_uint(tn_text *text, uint64_t number) {
  char *to = room(text, TN_NUMBER_BYTES);
  if (to) wrote(text, tn_number_print_u64(number, to));
}

void tn_text_f32(tn_text *text, float number) {
  char *to = room(text, TN_NUMBER_BYTES);
  if (to) wrote(text, tn_number_print_f32(number, to));
}

void tn_text_f64(tn_text *text, double number) {
  char *to = room(text, TN_NUMBER_BYTES);
  if (to) wrote(text, tn_number_print_f64(number, to));
}

void tn_text_fixed(tn_text *text, double number, int digits) {
  assert(digits >= 0);
  char *to = room(text, TN_NUMBER_FIXED_BYTES(digits));
  if (to) wrote(text, tn_number_fixed(number, digits, to));
}

void tn_text_hex(tn_text *text, const void *bytes, size_t count) {
  static const char digit[] = "0123456789abcdef";
  const unsigned char *from = bytes;
  char *to = count <= SIZE_MAX / 2 ? room(text, count * 2) : room(text, SIZE_MAX);
  if (!to) return;
  for (size_t i = 0; i < count; i++) {
    to[2 * i] = digit[from[i] >> 4];
    to[2 * i + 1] = digit[from[i] & 15];
  }
  wrote(text, count * 2);
}

void tn_text_quoted(tn_text *text, tn_str quoted) {
  tn_text_byte(text, '"');
  for (size_t i = 0; i < quoted.len; i++) {
    unsigned char byte = (unsigned char)quoted.at[i];
    if (byte < 0x20 || byte == 0x7f) {
      tn_text_puts(text, "\\x");
      tn_text_hex(text, &byte, 1);
    } else {
      if (byte == '"' || byte == '\\') tn_text_byte(text, '\\');
      tn_text_byte(text, (char)byte);
    }
  }
  tn_text_byte(text, '"');
}
