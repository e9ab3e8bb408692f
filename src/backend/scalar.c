/* backend/scalar.c: one element at a time, by operation and dtype.
 *
 * The two float dtypes share one text and the two integer dtypes another; what
 * differs between f32 and f64 is only which width the IEEE operations have.
 * Casts form a table of their own because they have two dtypes. */
#include "backend/scalar.h"

#include <math.h>

#include "base/elementary.h"

#define TN_JOIN_TOKENS(a, b) a##b
#define TN_JOIN(a, b) TN_JOIN_TOKENS(a, b)

static tn_element truth(bool x) { return (tn_element){ .boolean = x }; }

#define NUMBER float
#define OF f32
#define SQRT sqrtf
#define REM fmodf
#include "backend/scalar_float.inc"

#define NUMBER double
#define OF f64
#define SQRT sqrt
#define REM fmod
#include "backend/scalar_float.inc"

#define NUMBER int32_t
#define UNSIGNED uint32_t
#define OF i32
#include "backend/scalar_int.inc"

#define NUMBER int64_t
#define UNSIGNED uint64_t
#define OF i64
#include "backend/scalar_int.inc"

/* ---- bool ---- */
static tn_element not_bool(tn_element x) { return truth(!x.boolean); }
static tn_element and_bool(tn_element x, tn_element y) { return truth(x.boolean && y.boolean); }
static tn_element or_bool(tn_element x, tn_element y) { return truth(x.boolean || y.boolean); }
static tn_element eq_bool(tn_element x, tn_element y) { return truth(x.boolean == y.boolean); }
static tn_element ne_bool(tn_element x, tn_element y) { return truth(x.boolean != y.boolean); }

static const tn_unary unary_bool[TN_OP_COUNT] = { [TN_OP_NOT] = not_bool };
static const tn_binary binary_bool[TN_OP_COUNT] = {
  [TN_OP_AND] = and_bool, [TN_OP_OR] = or_bool, [TN_OP_EQ] = eq_bool, [TN_OP_NE] = ne_bool,
};

/* ---- by operation and dtype ---- */
static const tn_unary *const unaries[TN_DTYPE_COUNT] = {
  [TN_F32] = unary_f32, [TN_F64] = unary_f64, [TN_I32] = unary_i32, [TN_I64] = unary_i64,
  [TN_BOOL] = unary_bool,
};
static const tn_binary *const binaries[TN_DTYPE_COUNT] = {
  [TN_F32] = binary_f32, [TN_F64] = binary_f64, [TN_I32] = binary_i32, [TN_I64] = binary_i64,
  [TN_BOOL] = binary_bool,
};
static const tn_ternary fmas[TN_DTYPE_COUNT] = {
  [TN_F32] = fma_f32, [TN_F64] = fma_f64, [TN_I32] = fma_i32, [TN_I64] = fma_i64,
};

tn_unary tn_scalar_unary(tn_op op, tn_dtype dtype) { return unaries[dtype] ? unaries[dtype][op] : NULL; }
tn_binary tn_scalar_binary(tn_op op, tn_dtype dtype) { return binaries[dtype] ? binaries[dtype][op] : NULL; }
tn_ternary tn_scalar_fma(tn_dtype dtype) { return fmas[dtype]; }

bool tn_scalar_divides(tn_op op, tn_dtype dtype) {
  return (op == TN_OP_DIV || op == TN_OP_REM) && tn_dtype_in(dtype, TN_INTS);
}

/* ---- casts ----
 * Every dtype fits in f64 or in i64 without loss, so two functions reach all of them. */
static tn_element cast_f64(double x, tn_dtype to) {
  switch (to) {
    case TN_F32: return give_f32((float)x);
    case TN_F64: return give_f64(x);
    case TN_I32: return (tn_element){ .i32 = tn_i32_from_f64(x) };
    case TN_I64: return (tn_element){ .i64 = tn_i64_from_f64(x) };
    case TN_BOOL: return truth(x != 0);   /* NaN differs from 0 */
    case TN_BF16: return (tn_element){ .bits = tn_bf16_from_f32((float)x) };
    default: return (tn_element){ .bits = tn_f16_from_f32((float)x) };
  }
}

static tn_element cast_i64(int64_t x, tn_dtype to) {
  switch (to) {
    case TN_F32: return (tn_element){ .f32 = (float)x };   /* one rounding: not by way of f64 */
    case TN_F64: return (tn_element){ .f64 = (double)x };
    case TN_I32: return give_i32((uint32_t)x);
    case TN_I64: return (tn_element){ .i64 = x };
    case TN_BOOL: return truth(x != 0);
    case TN_BF16: return (tn_element){ .bits = tn_bf16_from_f32((float)x) };
    default: return (tn_element){ .bits = tn_f16_from_f32((float)x) };
  }
}

tn_element tn_scalar_cast(tn_element x, tn_dtype from, tn_dtype to) {
  if (from == to) return x;
  switch (from) {
    case TN_F32: return cast_f64((double)x.f32, to);
    case TN_F64: return cast_f64(x.f64, to);
    case TN_I32: return cast_i64(x.i32, to);
    case TN_I64: return cast_i64(x.i64, to);
    case TN_BOOL: return cast_i64(x.boolean, to);
    case TN_BF16: return cast_f64((double)tn_f32_from_bf16(x.bits), to);
    default: return cast_f64((double)tn_f32_from_f16(x.bits), to);
  }
}

/* ---- elements in memory ---- */
tn_element tn_element_load(const void *at, tn_dtype dtype) {
  switch (dtype) {
    case TN_F32: return (tn_element){ .f32 = *(const float *)at };
    case TN_F64: return (tn_element){ .f64 = *(const double *)at };
    case TN_I32: return (tn_element){ .i32 = *(const int32_t *)at };
    case TN_I64: return (tn_element){ .i64 = *(const int64_t *)at };
    case TN_BOOL: return (tn_element){ .boolean = *(const uint8_t *)at };
    default: return (tn_element){ .bits = *(const uint16_t *)at };
  }
}

void tn_element_store(void *at, tn_dtype dtype, tn_element element) {
  switch (dtype) {
    case TN_F32: *(float *)at = element.f32; break;
    case TN_F64: *(double *)at = element.f64; break;
    case TN_I32: *(int32_t *)at = element.i32; break;
    case TN_I64: *(int64_t *)at = element.i64; break;
    case TN_BOOL: *(uint8_t *)at = element.boolean; break;
    default: *(uint16_t *)at = element.bits; break;
  }
}

tn_element tn_element_of_f64(double number, tn_dtype dtype) { return cast_f64(number, dtype); }
tn_element tn_element_of_i64(int64_t number, tn_dtype dtype) { return cast_i64(number, dtype); }
int64_t tn_element_to_i64(tn_element x, tn_dtype dtype) { return dtype == TN_I32 ? x.i32 : x.i64; }
