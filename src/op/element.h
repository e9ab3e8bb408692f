/* op/element.h: every elementwise operation on one element, as a function to be inlined.
 *
 * Row ID of elementwise.def becomes tn_of_ID_f32, _f64, _i32, _i64, _boolean, for the dtypes it
 * takes. These are the only scalar arithmetic there is: kernels, the short paths of eager/ and
 * constant folding in the languages all call them. The result of a float function may be any NaN
 * where the row says LOOSE; tn_canonical_f32 makes it the one that is stored.
 *
 * The divisor of an integer division should not be 0; if it is, the result is 0. */
#ifndef TN_OP_ELEMENT_H
#define TN_OP_ELEMENT_H

#include <math.h>

#include "base/elementary.h"

/* ---- a row's columns, by its kind and dtypes ---- */
#define TN_IF_REAL_FLOATS(...)   __VA_ARGS__
#define TN_IF_REAL_NUMBERS(...)  __VA_ARGS__
#define TN_IF_REAL_PLAIN(...)    __VA_ARGS__
#define TN_IF_REAL_BOOLS(...)
#define TN_IF_WHOLE_FLOATS(...)
#define TN_IF_WHOLE_NUMBERS(...) __VA_ARGS__
#define TN_IF_WHOLE_PLAIN(...)   __VA_ARGS__
#define TN_IF_WHOLE_BOOLS(...)
#define TN_IF_TRUTH_FLOATS(...)
#define TN_IF_TRUTH_NUMBERS(...)
#define TN_IF_TRUTH_PLAIN(...)   __VA_ARGS__
#define TN_IF_TRUTH_BOOLS(...)   __VA_ARGS__
#define TN_IF_ONE_UNARY(...)     __VA_ARGS__
#define TN_IF_ONE_BINARY(...)
#define TN_IF_ONE_COMPARE(...)
#define TN_IF_TWO_UNARY(...)
#define TN_IF_TWO_BINARY(...)    __VA_ARGS__
#define TN_IF_TWO_COMPARE(...)   __VA_ARGS__
#define TN_PARAMS_UNARY(type)    type x
#define TN_PARAMS_BINARY(type)   type x, type y
#define TN_PARAMS_COMPARE(type)  type x, type y
#define TN_GIVES_UNARY(type)     type
#define TN_GIVES_BINARY(type)    type
#define TN_GIVES_COMPARE(type)   bool

/* ---- words that C has no operator for ---- */
static inline float tn_abs_f32(float x) { return tn_float_of_bits(tn_bits_f32(x) & 0x7fffffffu); }
static inline double tn_abs_f64(double x) { return tn_double_of_bits(tn_bits_f64(x) & 0x7fffffffffffffffu); }
static inline float tn_sqrt_f32(float x) { return sqrtf(x); }
static inline double tn_sqrt_f64(double x) { return sqrt(x); }
static inline float tn_rem_f32(float x, float y) { return fmodf(x, y); }
static inline double tn_rem_f64(double x, double y) { return fmod(x, y); }

/* Equal operands differ at most in the sign of a zero, and -0 is the lesser. */
#define TN_REAL_WORDS(type, of)                                                                 \
  static inline type tn_number_##of(double number) { return (type)number; }                     \
  static inline bool tn_eq_##of(type x, type y) { return x == y; }                              \
  static inline bool tn_lt_##of(type x, type y) { return x < y; }                               \
  static inline bool tn_le_##of(type x, type y) { return x <= y; }                              \
  static inline bool tn_gt_##of(type x, type y) { return x > y; }                               \
  static inline bool tn_ge_##of(type x, type y) { return x >= y; }                              \
  static inline bool tn_and_##of(bool x, bool y) { return x && y; }                             \
  static inline bool tn_or_##of(bool x, bool y) { return x || y; }                              \
  static inline bool tn_not_##of(bool x) { return !x; }                                         \
  static inline type tn_select_##of(bool c, type x, type y) { return c ? x : y; }
TN_REAL_WORDS(float, f32)
TN_REAL_WORDS(double, f64)

#define TN_EXTREMES(type, of)                                                                   \
  static inline type tn_minimum_##of(type x, type y) {                                          \
    type least = x < y || (x == y && signbit(x)) ? x : y;                                       \
    return x == x && y == y ? least : tn_nan_##of();                                            \
  }                                                                                             \
  static inline type tn_maximum_##of(type x, type y) {                                          \
    type most = x > y || (x == y && signbit(y)) ? x : y;                                        \
    return x == x && y == y ? most : tn_nan_##of();                                             \
  }
TN_EXTREMES(double, f64)
#if defined(__NVPTX__)   /* an instruction, with a NaN of its own */
static inline float tn_minimum_f32(float x, float y) { return tn_canonical_f32(__nvvm_fmin_nan_f(x, y)); }
static inline float tn_maximum_f32(float x, float y) { return tn_canonical_f32(__nvvm_fmax_nan_f(x, y)); }
#else
TN_EXTREMES(float, f32)
#endif

/* -1 is a special case because the least integer divided by it does not fit: it wraps to itself. */
#define TN_WHOLE_WORDS(type, unsigned_type, of)                                                 \
  static inline type tn_div_##of(type x, type y) {                                              \
    return (type)(y == 0 ? 0 : y == -1 ? 0 - (unsigned_type)x : (unsigned_type)(x / y));        \
  }                                                                                             \
  static inline type tn_rem_##of(type x, type y) { return y == 0 || y == -1 ? 0 : x % y; }
TN_WHOLE_WORDS(int32_t, uint32_t, i32)
TN_WHOLE_WORDS(int64_t, uint64_t, i64)

/* ---- the functions ---- */
#define TN_FUNCTION(ID, KIND, type, of, ...) \
  static inline TN_GIVES_##KIND(type) tn_of_##ID##_##of(TN_PARAMS_##KIND(type)) { return __VA_ARGS__; }

#define TN_ELEMENT(ID, KIND, DTYPES, NAME, DOC, REAL, ...) \
  TN_IF_REAL_##DTYPES(TN_FUNCTION(ID, KIND, float, f32, REAL))
#define E_CALL(name) tn_##name##_f32
#include "op/words_real.inc"
#include "op/elementwise.def"

#define TN_ELEMENT(ID, KIND, DTYPES, NAME, DOC, REAL, ...) \
  TN_IF_REAL_##DTYPES(TN_FUNCTION(ID, KIND, double, f64, REAL))
#define E_CALL(name) tn_##name##_f64
#include "op/words_real.inc"
#include "op/elementwise.def"

#define TN_ELEMENT(ID, KIND, DTYPES, NAME, DOC, REAL, WHOLE, ...) \
  TN_IF_WHOLE_##DTYPES(TN_FUNCTION(ID, KIND, int32_t, i32, WHOLE))
#define E_TYPE int32_t
#define E_UNSIGNED uint32_t
#define E_CALL(name) tn_##name##_i32
#include "op/words_whole.inc"
#include "op/elementwise.def"

#define TN_ELEMENT(ID, KIND, DTYPES, NAME, DOC, REAL, WHOLE, ...) \
  TN_IF_WHOLE_##DTYPES(TN_FUNCTION(ID, KIND, int64_t, i64, WHOLE))
#define E_TYPE int64_t
#define E_UNSIGNED uint64_t
#define E_CALL(name) tn_##name##_i64
#include "op/words_whole.inc"
#include "op/elementwise.def"

#define TN_ELEMENT(ID, KIND, DTYPES, NAME, DOC, REAL, WHOLE, TRUTH, ...) \
  TN_IF_TRUTH_##DTYPES(TN_FUNCTION(ID, KIND, uint8_t, boolean, TRUTH))
#define E_TYPE uint8_t
#define E_UNSIGNED uint8_t
#define E_CALL(name) tn_##name##_boolean
#include "op/words_whole.inc"
#include "op/elementwise.def"
#endif
