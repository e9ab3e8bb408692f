/* op/scalar.c: tables of the scalar functions, by operation and dtype.
 *
 * The functions are the rows of elementwise.def. Casts form a table of their own
 * because they have two dtypes. */
#include "op/scalar.h"

#include "op/element.h"

static tn_element truth(bool x) { return (tn_element){ .boolean = x }; }
/* What arithmetic stores: its result, and one NaN for all of them. */
static tn_element give_f32(float x) { return (tn_element){ .f32 = tn_canonical_f32(x) }; }
static tn_element give_f64(double x) { return (tn_element){ .f64 = tn_canonical_f64(x) }; }
static tn_element give_i32(int32_t x) { return (tn_element){ .i32 = x }; }
static tn_element give_i64(int64_t x) { return (tn_element){ .i64 = x }; }
static tn_element give_boolean(bool x) { return truth(x); }

/* ---- the rows of elementwise.def, each as a function of elements ---- */
#define OF_UNARY(ID, of) \
  static tn_element ID##_##of(tn_element x) { return give_##of(tn_of_##ID##_##of(x.of)); }
#define OF_BINARY(ID, of) \
  static tn_element ID##_##of(tn_element x, tn_element y) { \
    return give_##of(tn_of_##ID##_##of(x.of, y.of)); \
  }
#define OF_COMPARE(ID, of) \
  static tn_element ID##_##of(tn_element x, tn_element y) { \
    return truth(tn_of_##ID##_##of(x.of, y.of)); \
  }
#define TN_ELEMENT(ID, KIND, DTYPES, ...) \
  TN_IF_REAL_##DTYPES(OF_##KIND(ID, f32) OF_##KIND(ID, f64)) \
  TN_IF_WHOLE_##DTYPES(OF_##KIND(ID, i32) OF_##KIND(ID, i64)) \
  TN_IF_TRUTH_##DTYPES(OF_##KIND(ID, boolean))
#include "op/elementwise.def"

/* ---- by dtype and operation ---- */
static const tn_unary unaries[TN_DTYPE_COUNT][TN_OP_COUNT] = {
#define TN_ELEMENT(ID, KIND, DTYPES, ...) \
  TN_IF_ONE_##KIND(TN_IF_REAL_##DTYPES([TN_F32][TN_OP_##ID] = ID##_f32, [TN_F64][TN_OP_##ID] = ID##_f64,) \
                   TN_IF_WHOLE_##DTYPES([TN_I32][TN_OP_##ID] = ID##_i32, [TN_I64][TN_OP_##ID] = ID##_i64,) \
                   TN_IF_TRUTH_##DTYPES([TN_BOOL][TN_OP_##ID] = ID##_boolean,))
#include "op/elementwise.def"
};
static const tn_binary binaries[TN_DTYPE_COUNT][TN_OP_COUNT] = {
#define TN_ELEMENT(ID, KIND, DTYPES, ...) \
  TN_IF_TWO_##KIND(TN_IF_REAL_##DTYPES([TN_F32][TN_OP_##ID] = ID##_f32, [TN_F64][TN_OP_##ID] = ID##_f64,) \
                   TN_IF_WHOLE_##DTYPES([TN_I32][TN_OP_##ID] = ID##_i32, [TN_I64][TN_OP_##ID] = ID##_i64,) \
                   TN_IF_TRUTH_##DTYPES([TN_BOOL][TN_OP_##ID] = ID##_boolean,))
#include "op/elementwise.def"
};

static tn_element fma_f32(tn_element x, tn_element y, tn_element z) {
  return give_f32(tn_fma_f32(x.f32, y.f32, z.f32));
}
static tn_element fma_f64(tn_element x, tn_element y, tn_element z) {
  return give_f64(tn_fma_f64(x.f64, y.f64, z.f64));
}
static tn_element fma_i32(tn_element x, tn_element y, tn_element z) {
  return give_i32(tn_of_ADD_i32(tn_of_MUL_i32(x.i32, y.i32), z.i32));
}
static tn_element fma_i64(tn_element x, tn_element y, tn_element z) {
  return give_i64(tn_of_ADD_i64(tn_of_MUL_i64(x.i64, y.i64), z.i64));
}
static const tn_ternary fmas[TN_DTYPE_COUNT] = {
  [TN_F32] = fma_f32, [TN_F64] = fma_f64, [TN_I32] = fma_i32, [TN_I64] = fma_i64,
};

tn_unary tn_scalar_unary(tn_op op, tn_dtype dtype) { return unaries[dtype][op]; }
tn_binary tn_scalar_binary(tn_op op, tn_dtype dtype) { return binaries[dtype][op]; }
tn_ternary tn_scalar_fma(tn_dtype dtype) { return fmas[dtype]; }

tn_dtype tn_scalar_gives(tn_op op, tn_dtype dtype) {
#define GIVES_BOOL_UNARY   false
#define GIVES_BOOL_BINARY  false
#define GIVES_BOOL_COMPARE true
  static const bool gives_bool[TN_OP_COUNT] = {
#define TN_ELEMENT(ID, KIND, ...) [TN_OP_##ID] = GIVES_BOOL_##KIND,
#include "op/elementwise.def"
  };
  return gives_bool[op] ? TN_BOOL : dtype;
}

bool tn_scalar_exact(tn_op op, int64_t x, int64_t y, int64_t *out) {
  if (op == TN_OP_ADD) return !__builtin_add_overflow(x, y, out);
  if (op == TN_OP_SUB) return !__builtin_sub_overflow(x, y, out);
  if (op == TN_OP_MUL) return !__builtin_mul_overflow(x, y, out);
  if (op != TN_OP_DIV || y == 0 || (y == -1 && x == INT64_MIN)) return false;
  *out = x / y;
  return true;
}

bool tn_scalar_divides(tn_op op, tn_dtype dtype) {
  return tn_op_fails_of(op) == TN_FAILS_ON_ZERO_DIVISOR && tn_dtype_in(dtype, TN_INTS);
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
    case TN_F32: return (tn_element){ .f32 = (float)x };   /* one rounding: not through f64 */
    case TN_F64: return (tn_element){ .f64 = (double)x };
    case TN_I32: return give_i32((int32_t)(uint32_t)x);
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
