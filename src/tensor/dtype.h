/* tensor/dtype.h: what an element is.
 *
 * bf16 and f16 are storage: arithmetic on them is done in f32 and rounded when
 * stored. bool is one byte, 0 or 1. */
#ifndef TN_TENSOR_DTYPE_H
#define TN_TENSOR_DTYPE_H

#include "base/str.h"

/* name, C type of an element, bytes, class */
#define TN_DTYPES(X)                    \
  X(F32, "f32", float, 4, FLOAT)        \
  X(F64, "f64", double, 8, FLOAT)       \
  X(I32, "i32", int32_t, 4, INT)        \
  X(I64, "i64", int64_t, 8, INT)        \
  X(BOOL, "bool", uint8_t, 1, BOOL)     \
  X(BF16, "bf16", uint16_t, 2, STORAGE) \
  X(F16, "f16", uint16_t, 2, STORAGE)

typedef enum {
#define TN_DTYPE_ENUM(id, ...) TN_##id,
  TN_DTYPES(TN_DTYPE_ENUM)
#undef TN_DTYPE_ENUM
  TN_DTYPE_COUNT
} tn_dtype;

typedef enum { TN_CLASS_FLOAT, TN_CLASS_INT, TN_CLASS_BOOL, TN_CLASS_STORAGE } tn_dtype_class;

/* A set of dtypes, for the table of operations. */
typedef uint32_t tn_dtype_set;
#define TN_DTYPE_BIT(dtype) (1u << (dtype))
#define TN_FLOATS (TN_DTYPE_BIT(TN_F32) | TN_DTYPE_BIT(TN_F64))
#define TN_INTS (TN_DTYPE_BIT(TN_I32) | TN_DTYPE_BIT(TN_I64))
#define TN_NUMBERS (TN_FLOATS | TN_INTS)
#define TN_BOOLS TN_DTYPE_BIT(TN_BOOL)
#define TN_PLAIN (TN_NUMBERS | TN_BOOLS)   /* what operations compute with */
#define TN_STORAGE (TN_DTYPE_BIT(TN_BF16) | TN_DTYPE_BIT(TN_F16))
#define TN_ANY_DTYPE (TN_NUMBERS | TN_BOOLS | TN_STORAGE)

const char *tn_dtype_name(tn_dtype dtype);
size_t tn_dtype_bytes(tn_dtype dtype);
tn_dtype_class tn_dtype_class_of(tn_dtype dtype);
bool tn_dtype_find(tn_str name, tn_dtype *out);
static inline bool tn_dtype_in(tn_dtype dtype, tn_dtype_set set) { return (set >> dtype) & 1u; }

/* Storage formats: round to nearest even, NaN canonical, overflow to infinity. */
uint16_t tn_bf16_from_f32(float number);
float tn_f32_from_bf16(uint16_t bits);
uint16_t tn_f16_from_f32(float number);
float tn_f32_from_f16(uint16_t bits);

/* Float to integer: truncates, saturates, NaN gives 0. */
int32_t tn_i32_from_f64(double number);
int64_t tn_i64_from_f64(double number);

/* One element of any dtype; the dtype says which member counts. */
typedef union {
  float f32;
  double f64;
  int32_t i32;
  int64_t i64;
  uint8_t boolean;   /* 0 or 1 */
  uint16_t bits;     /* bf16, f16 */
} tn_element;
#endif
