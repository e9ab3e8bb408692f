/* backend/cuda/kernels/step.h: one step of an elementwise program, for one element of any dtype.
 *
 * The rows of elementwise.def as switches: a card is slow at calls through pointers. Each function is
 * compiled once, because what it costs to load the kernels is their size. */
#ifndef TN_BACKEND_CUDA_KERNELS_STEP_H
#define TN_BACKEND_CUDA_KERNELS_STEP_H

#include "op/element.h"
#include "op/scalar.h"

#if defined(__NVPTX__)
#define CARD_ONCE static __attribute__((noinline))
#else
#define CARD_ONCE static
#endif

#define ONE_F32(ID) case TN_OP_##ID: return tn_of_##ID##_f32(x);
#define ONE_F64(ID) case TN_OP_##ID: return tn_of_##ID##_f64(x);
#define ONE_I32(ID) case TN_OP_##ID: return tn_of_##ID##_i32(x);
#define ONE_I64(ID) case TN_OP_##ID: return tn_of_##ID##_i64(x);
#define ONE_ROW(ROW, REAL, ID, KIND, DTYPES) TN_IF_ONE_##KIND(TN_IF_##REAL##_##DTYPES(ROW(ID)))

CARD_ONCE float card_unary_f32(tn_op op, float x) {
  switch ((int)op) {
#define TN_ELEMENT(ID, KIND, DTYPES, ...) ONE_ROW(ONE_F32, REAL, ID, KIND, DTYPES)
#include "op/elementwise.def"
  }
  return x;
}

CARD_ONCE double card_unary_f64(tn_op op, double x) {
  switch ((int)op) {
#define TN_ELEMENT(ID, KIND, DTYPES, ...) ONE_ROW(ONE_F64, REAL, ID, KIND, DTYPES)
#include "op/elementwise.def"
  }
  return x;
}

CARD_ONCE int32_t card_unary_i32(tn_op op, int32_t x) {
  switch ((int)op) {
#define TN_ELEMENT(ID, KIND, DTYPES, ...) ONE_ROW(ONE_I32, WHOLE, ID, KIND, DTYPES)
#include "op/elementwise.def"
  }
  return x;
}

CARD_ONCE int64_t card_unary_i64(tn_op op, int64_t x) {
  switch ((int)op) {
#define TN_ELEMENT(ID, KIND, DTYPES, ...) ONE_ROW(ONE_I64, WHOLE, ID, KIND, DTYPES)
#include "op/elementwise.def"
  }
  return x;
}

#define TWO_BINARY(ID, of, member, store) case TN_OP_##ID: to.member = store(tn_of_##ID##_##of(x, y)); break;
#define TWO_COMPARE(ID, of, member, store) case TN_OP_##ID: to.boolean = tn_of_##ID##_##of(x, y); break;
#define TWO_ROW(of, member, store, REAL, ID, KIND, DTYPES) \
  TN_IF_TWO_##KIND(TN_IF_##REAL##_##DTYPES(TWO_##KIND(ID, of, member, store)))
#define AS_IT_IS(x) (x)

CARD_ONCE tn_element card_binary_f32(tn_op op, float x, float y) {
  tn_element to = { .i64 = 0 };
  switch ((int)op) {
#define TN_ELEMENT(ID, KIND, DTYPES, ...) TWO_ROW(f32, f32, tn_canonical_f32, REAL, ID, KIND, DTYPES)
#include "op/elementwise.def"
  }
  return to;
}

CARD_ONCE tn_element card_binary_f64(tn_op op, double x, double y) {
  tn_element to = { .i64 = 0 };
  switch ((int)op) {
#define TN_ELEMENT(ID, KIND, DTYPES, ...) TWO_ROW(f64, f64, tn_canonical_f64, REAL, ID, KIND, DTYPES)
#include "op/elementwise.def"
  }
  return to;
}

CARD_ONCE tn_element card_binary_i32(tn_op op, int32_t x, int32_t y) {
  tn_element to = { .i64 = 0 };
  switch ((int)op) {
#define TN_ELEMENT(ID, KIND, DTYPES, ...) TWO_ROW(i32, i32, AS_IT_IS, WHOLE, ID, KIND, DTYPES)
#include "op/elementwise.def"
  }
  return to;
}

CARD_ONCE tn_element card_binary_i64(tn_op op, int64_t x, int64_t y) {
  tn_element to = { .i64 = 0 };
  switch ((int)op) {
#define TN_ELEMENT(ID, KIND, DTYPES, ...) TWO_ROW(i64, i64, AS_IT_IS, WHOLE, ID, KIND, DTYPES)
#include "op/elementwise.def"
  }
  return to;
}

CARD_ONCE tn_element card_truth(tn_op op, uint8_t x, uint8_t y) {
  tn_element to = { .i64 = 0 };
  switch ((int)op) {
#define TN_ELEMENT(ID, KIND, DTYPES, ...)                                                                  \
  TN_IF_ONE_##KIND(TN_IF_TRUTH_##DTYPES(case TN_OP_##ID: to.boolean = tn_of_##ID##_boolean(x); break;))    \
  TWO_ROW(boolean, boolean, AS_IT_IS, TRUTH, ID, KIND, DTYPES)
#include "op/elementwise.def"
  }
  return to;
}

/* A unary or binary operation of the table; `from` is the dtype of the operands. */
CARD_ONCE tn_element card_table_step(tn_op op, bool one, tn_dtype from, tn_element x, tn_element y) {
  switch (from) {
    case TN_F32:
      if (one) return (tn_element){ .f32 = tn_canonical_f32(card_unary_f32(op, x.f32)) };
      return card_binary_f32(op, x.f32, y.f32);
    case TN_F64:
      if (one) return (tn_element){ .f64 = tn_canonical_f64(card_unary_f64(op, x.f64)) };
      return card_binary_f64(op, x.f64, y.f64);
    case TN_I32:
      if (one) return (tn_element){ .i32 = card_unary_i32(op, x.i32) };
      return card_binary_i32(op, x.i32, y.i32);
    case TN_I64:
      if (one) return (tn_element){ .i64 = card_unary_i64(op, x.i64) };
      return card_binary_i64(op, x.i64, y.i64);
    default: return card_truth(op, x.boolean, y.boolean);
  }
}
#endif
