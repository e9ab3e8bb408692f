/* base/text.h: a growing text buffer, for everything that is printed or written.
 *
 * Out of memory sets `failed` and further additions do nothing, so a writer
 * checks once at its end. No locale, no format strings. */
#ifndef TN_BASE_TEXT_H
#define TN_BASE_TEXT_H

#include "base/heap.h"
#include "base/str.h"

typedef struct {
  tn_heap *heap;
  char *at;          /* always NUL-terminated once anything was added */
  size_t len, capacity;
  bool failed;
} tn_text;

void tn_text_init(tn_text *text, tn_heap *heap);
void tn_text_free(tn_text *text);
void tn_text_clear(tn_text *text);
tn_str tn_text_str(const tn_text *text);

/* As tn_stack_room, for writers that call themselves; a stack without room fails the text. */
static inline bool tn_text_room(tn_text *out) {
  if (tn_stack_room(&out->heap->stack)) return true;
  out->failed = true;
  return false;
}

void tn_text_add(tn_text *text, tn_str more);
void tn_text_puts(tn_text *text, const char *nul_terminated);
void tn_text_byte(tn_text *text, char byte);
void tn_text_repeat(tn_text *text, char byte, size_t count);
void tn_text_int(tn_text *text, int64_t number);
void tn_text_uint(tn_text *text, uint64_t number);
void tn_text_hex(tn_text *text, const void *bytes, size_t count);   /* lower case */
/* In quotes, with \" and \\ and, for control characters, \xNN. */
void tn_text_quoted(tn_text *text, tn_str quoted);
/* The shortest decimal that reads back to the same number: 7, 0.5, 1e-20, NaN, Infinity. */
void tn_text_f32(tn_text *text, float number);
void tn_text_f64(tn_text *text, double number);
/* Exactly `digits` places after the point, correctly rounded (ties to even). */
void tn_text_fixed(tn_text *text, double number, int digits);
#endif
