/* Types written as text, so that a test of a rule reads as the rule:
 *
 *   GIVES(TN_OP_MATMUL, NULL, "f32[B, 3]; f32[3, 4]", "f32[B, 4]");
 *   tn_fault fault = fails(TN_OP_MATMUL, NULL, "f32[2, 3]; f32[4, 5]");
 *
 * Attributes go through tn_op_normalise first, as the builder sends them. */
#ifndef TN_TESTS_OP_SUPPORT_H
#define TN_TESTS_OP_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "op/op.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define TYPES_LIMIT 8
#define ATTRS(...) (&(tn_attrs){ __VA_ARGS__ })

static tn_heap heap;
static tn_names *names;

static inline int set_up(void **state) {
  (void)state;
  names = tn_names_new(&heap);
  return names ? 0 : -1;
}

static inline int tear_down(void **state) {
  (void)state;
  tn_names_free(names);
  return heap.used == 0 ? 0 : -1;
}

static inline int64_t dim_of(tn_str word) {
  int64_t length = 0;
  if (tn_str_is(word, "?")) return TN_DIM_UNKNOWN;
  if (word.at[0] < '0' || word.at[0] > '9') return TN_DIM_SYMBOL(tn_names_intern(names, word));
  for (size_t i = 0; i < word.len; i++) length = length * 10 + (word.at[i] - '0');
  return length;
}

/* [2, B, ?] */
static inline tn_shape shape_of(const char *text) {
  tn_shape shape = { 0 };
  for (text++; *text != ']';) {
    size_t len = strcspn(text, ",]");
    shape.dim[shape.rank++] = dim_of((tn_str){ text, len });
    text += len;
    while (*text == ',' || *text == ' ') text++;
  }
  return shape;
}

/* f32[2, B]; i64[] */
static inline int types_of(const char *text, tn_type *out) {
  int count = 0;
  while (*text) {
    size_t len = strcspn(text, "[");
    assert_true(tn_dtype_find((tn_str){ text, len }, &out[count].dtype));
    out[count++].shape = shape_of(text + len);
    text = strchr(text, ']') + 1;
    while (*text == ';' || *text == ' ') text++;
  }
  return count;
}

static inline bool infer(tn_op op, const tn_attrs *attrs, const char *operands, tn_type *out,
                         tn_fault *fault) {
  tn_type in[TYPES_LIMIT];
  tn_attrs normal = attrs ? *attrs : (tn_attrs){ 0 };
  int count = types_of(operands, in);
  *fault = (tn_fault){ 0 };
  if (!tn_op_normalise(op, in, count, &normal, fault)) return false;
  return tn_op_infer(&(tn_op_args){ op, in, count, &normal, fault }, out);
}

static inline void assert_type(const tn_type *type, const char *expected, const char *file, int line) {
  tn_text text;
  tn_text_init(&text, &heap);
  tn_type_print(type, names, &text);
  _assert_string_equal(text.at, expected, file, line);
  tn_text_free(&text);
}

static inline void gives(tn_op op, const tn_attrs *attrs, const char *operands, const char *expected,
                         const char *file, int line) {
  tn_type type = { 0 };
  tn_fault fault;
  bool done = infer(op, attrs, operands, &type, &fault);
  _assert_int_equal(fault.kind, TN_FAULT_NONE, file, line);
  _assert_true(done, "the rule accepts", file, line);
  assert_type(&type, expected, file, line);
}
#define GIVES(op, attrs, operands, expected) gives(op, attrs, operands, expected, __FILE__, __LINE__)

/* The fault; the result must be untouched. */
static inline tn_fault fails(tn_op op, const tn_attrs *attrs, const char *operands) {
  tn_type type = { .dtype = TN_BF16, .shape = { .rank = 7 } };
  tn_fault fault;
  assert_false(infer(op, attrs, operands, &type, &fault));
  assert_int_equal(type.dtype, TN_BF16);
  assert_int_equal(type.shape.rank, 7);
  assert_int_equal(fault.op, op);
  assert_int_not_equal(fault.kind, TN_FAULT_NONE);
  return fault;
}
#define FAILS(fault_kind, op, attrs, operands) \
  do { \
    tn_fault failed = fails(op, attrs, operands); \
    _assert_int_equal(failed.kind, fault_kind, __FILE__, __LINE__); \
  } while (0)

#define ASSERT_TYPE(type, expected) assert_type(&(type), expected, __FILE__, __LINE__)
#endif
