/* backend/cpu/isa/steps.c: the elementwise operations, each a loop over contiguous elements.
 *
 * f32 is written with vectors. The other dtypes are plain loops, which the
 * compiler turns into vectors where it can; none of them has an order, so it
 * may. Arithmetic on floats has two forms: inside a chain of operations the
 * bits of a NaN do not matter, because nothing looks at them; the last
 * operation of a chain makes them canonical as it stores. */
#include "backend/cpu/isa/steps.h"

#include <math.h>

#include "backend/cpu/isa/exp.h"
#include "base/elementary.inc.h"

#define STEP(name)                                                                                           \
  static void name(void *out, const void *in0, const void *in1, const void *in2, int64_t count)
#define UNUSED1 (void)in1, (void)in2
#define UNUSED2 (void)in2

/* ---- f32 ---- */
#define F32_UNARY(name, result)                                                                              \
  STEP(name) {                                                                                               \
    float *o = out;                                                                                          \
    const float *a = in0;                                                                                    \
    int64_t i = 0;                                                                                           \
    UNUSED1;                                                                                                 \
    for (; i + TN_LANES <= count; i += TN_LANES) {                                                           \
      VF x = vf_load(a + i);                                                                                 \
      vf_store(o + i, result);                                                                               \
    }                                                                                                        \
    if (i < count) {                                                                                         \
      VF x = vf_load_part(a + i, (int)(count - i));                                                          \
      vf_store_part(o + i, result, (int)(count - i));                                                        \
    }                                                                                                        \
  }
#define F32_BINARY(name, result)                                                                             \
  STEP(name) {                                                                                               \
    float *o = out;                                                                                          \
    const float *a = in0, *b = in1;                                                                          \
    int64_t i = 0;                                                                                           \
    UNUSED2;                                                                                                 \
    for (; i + TN_LANES <= count; i += TN_LANES) {                                                           \
      VF x = vf_load(a + i), y = vf_load(b + i);                                                             \
      vf_store(o + i, result);                                                                               \
    }                                                                                                        \
    if (i < count) {                                                                                         \
      VF x = vf_load_part(a + i, (int)(count - i)), y = vf_load_part(b + i, (int)(count - i));               \
      vf_store_part(o + i, result, (int)(count - i));                                                        \
    }                                                                                                        \
  }
#define F32_UNARY_BOTH(name, result)  F32_UNARY(name, result) F32_UNARY(name##_last, vf_canonical(result))
#define F32_BINARY_BOTH(name, result) F32_BINARY(name, result) F32_BINARY(name##_last, vf_canonical(result))

F32_UNARY_BOTH(neg_f32, -x)
F32_UNARY_BOTH(abs_f32, vf_abs(x))
F32_UNARY_BOTH(sign_f32, sign_of(x))
F32_UNARY_BOTH(sqrt_f32, vf_sqrt(x))
F32_UNARY_BOTH(relu_f32, relu_of(x))
F32_UNARY_BOTH(floor_f32, vf_floor(x))
F32_UNARY_BOTH(ceil_f32, vf_ceil(x))
F32_UNARY_BOTH(round_f32, vf_round_even(x))
F32_UNARY(log_f32, vf_log(x))
F32_UNARY(tanh_f32, vf_tanh(x))
F32_UNARY(sigmoid_f32, vf_sigmoid(x))
F32_UNARY(erf_f32, vf_erf(x))
F32_UNARY(sin_f32, vf_sin(x))
F32_UNARY(cos_f32, vf_cos(x))
F32_UNARY(exp_one_by_one, vf_exp(x))
F32_BINARY_BOTH(add_f32, x + y)
F32_BINARY_BOTH(sub_f32, x - y)
F32_BINARY_BOTH(mul_f32, x *y)
F32_BINARY_BOTH(div_f32, x / y)
F32_BINARY(minimum_f32, vf_min(x, y))
F32_BINARY(maximum_f32, vf_max(x, y))
F32_BINARY(pow_f32, vf_pow(x, y))

/* One question for several vectors: where the sum of their squares is small enough, none of them is beyond
 * the range of exp, and none is NaN. */
STEP(exp_f32) {
  float *o = out;
  const float *a = in0;
  int64_t i = 0;
#if TN_FMA_IN_HARDWARE
  for (; i + TN_EXP_ABREAST * TN_LANES <= count; i += TN_EXP_ABREAST * TN_LANES) {
    VF x[TN_EXP_ABREAST], squares = vf_set(0.0f);
    for (int k = 0; k < TN_EXP_ABREAST; k++) x[k] = vf_load(a + i + k * TN_LANES);
    for (int k = 0; k < TN_EXP_ABREAST; k++) squares = vf_fma(x[k], x[k], squares);
    if (!TN_LIKELY(vm_all(vf_le(squares, vf_set(104.0f * 104.0f))))) {
      exp_one_by_one(o + i, a + i, in1, in2, TN_EXP_ABREAST * TN_LANES);
      continue;
    }
    tn_exp_abreast(x, TN_EXP_ABREAST);
    for (int k = 0; k < TN_EXP_ABREAST; k++) vf_store(o + i + k * TN_LANES, x[k]);
  }
#endif
  exp_one_by_one(o + i, a + i, in1, in2, count - i);
}

/* ---- plain loops ---- */
#define LOOP1(name, otype, atype, result)                                                                    \
  STEP(name) {                                                                                               \
    otype *o = out;                                                                                          \
    const atype *a = in0;                                                                                    \
    UNUSED1;                                                                                                 \
    TN_ANY_ORDER                                                                                             \
    for (int64_t i = 0; i < count; i++) {                                                                    \
      atype x = a[i];                                                                                        \
      o[i] = (otype)(result);                                                                                \
    }                                                                                                        \
  }
#define LOOP2(name, otype, atype, result)                                                                    \
  STEP(name) {                                                                                               \
    otype *o = out;                                                                                          \
    const atype *a = in0, *b = in1;                                                                          \
    UNUSED2;                                                                                                 \
    TN_ANY_ORDER                                                                                             \
    for (int64_t i = 0; i < count; i++) {                                                                    \
      atype x = a[i], y = b[i];                                                                              \
      o[i] = (otype)(result);                                                                                \
    }                                                                                                        \
  }
#define LOOP1_BOTH(name, type, canonical, result)                                                            \
  LOOP1(name, type, type, result) LOOP1(name##_last, type, type, canonical(result))
#define LOOP2_BOTH(name, type, canonical, result)                                                            \
  LOOP2(name, type, type, result) LOOP2(name##_last, type, type, canonical(result))

/* ---- f64 ---- */
static inline double minimum_of(double x, double y) {
  double least = x < y || (x == y && signbit(x)) ? x : y;
  return x == x && y == y ? least : tn_nan_f64();
}

static inline double maximum_of(double x, double y) {
  double most = x > y || (x == y && signbit(y)) ? x : y;
  return x == x && y == y ? most : tn_nan_f64();
}

LOOP1_BOTH(neg_f64, double, tn_canonical_f64, -x)
LOOP1_BOTH(abs_f64, double, tn_canonical_f64, tn_double_of_bits(tn_bits_f64(x) & 0x7fffffffffffffffu))
LOOP1_BOTH(sign_f64, double, tn_canonical_f64, x > 0 ? 1.0 : x < 0 ? -1.0 : x)
LOOP1_BOTH(sqrt_f64, double, tn_canonical_f64, sqrt(x))
LOOP1_BOTH(relu_f64, double, tn_canonical_f64, x <= 0 ? 0.0 : x)
LOOP1_BOTH(floor_f64, double, tn_canonical_f64, tn_floor_f64(x))
LOOP1_BOTH(ceil_f64, double, tn_canonical_f64, tn_ceil_f64(x))
LOOP1_BOTH(round_f64, double, tn_canonical_f64, tn_round_even_f64(x))
LOOP1(exp_f64, double, double, tn_exp_f64(x))
LOOP1(log_f64, double, double, tn_log_f64(x))
LOOP1(tanh_f64, double, double, tn_tanh_f64(x))
LOOP1(sigmoid_f64, double, double, tn_sigmoid_f64(x))
LOOP1(erf_f64, double, double, tn_erf_f64(x))
LOOP1(sin_f64, double, double, tn_sin_f64(x))
LOOP1(cos_f64, double, double, tn_cos_f64(x))
LOOP2_BOTH(add_f64, double, tn_canonical_f64, x + y)
LOOP2_BOTH(sub_f64, double, tn_canonical_f64, x - y)
LOOP2_BOTH(mul_f64, double, tn_canonical_f64, x *y)
LOOP2_BOTH(div_f64, double, tn_canonical_f64, x / y)
LOOP2_BOTH(rem_f64, double, tn_canonical_f64, fmod(x, y))
LOOP2_BOTH(rem_f32, float, tn_canonical_f32, fmodf(x, y))
LOOP2(minimum_f64, double, double, minimum_of(x, y))
LOOP2(maximum_f64, double, double, maximum_of(x, y))
LOOP2(pow_f64, double, double, tn_pow_f64(x, y))

/* ---- integers: unsigned arithmetic wraps ---- */
#define INTEGER_STEPS(name, type, unsigned_type)                                                             \
  LOOP1(neg_##name, type, unsigned_type, 0 - x)                                                              \
  LOOP1(abs_##name, type, type, x < 0 ? 0 - (unsigned_type)x : (unsigned_type)x)                             \
  LOOP1(sign_##name, type, type, (x > 0) - (x < 0))                                                          \
  LOOP1(relu_##name, type, type, x > 0 ? x : 0)                                                              \
  LOOP1(same_##name, type, type, x)                                                                          \
  LOOP2(add_##name, type, unsigned_type, x + y)                                                              \
  LOOP2(sub_##name, type, unsigned_type, x - y)                                                              \
  LOOP2(mul_##name, type, unsigned_type, x *y)                                                               \
  LOOP2(div_##name, type, type, y == 0 ? 0 : y == -1 ? 0 - (unsigned_type)x : (unsigned_type)(x / y))        \
  LOOP2(rem_##name, type, type, y == 0 || y == -1 ? 0 : x % y)                                               \
  LOOP2(minimum_##name, type, type, x < y ? x : y)                                                           \
  LOOP2(maximum_##name, type, type, x > y ? x : y)
INTEGER_STEPS(i32, int32_t, uint32_t)
INTEGER_STEPS(i64, int64_t, uint64_t)

int64_t first_zero(const void *divisors, tn_dtype dtype, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    if (tn_cpu_index_at(divisors, dtype, i) == 0) return i;
  return count;
}

/* ---- comparisons, logic ---- */
#define COMPARE_STEPS(name, type)                                                                            \
  LOOP2(eq_##name, uint8_t, type, x == y)                                                                    \
  LOOP2(ne_##name, uint8_t, type, x != y)                                                                    \
  LOOP2(lt_##name, uint8_t, type, x < y)                                                                     \
  LOOP2(le_##name, uint8_t, type, x <= y)                                                                    \
  LOOP2(gt_##name, uint8_t, type, x > y)                                                                     \
  LOOP2(ge_##name, uint8_t, type, x >= y)
COMPARE_STEPS(f32, float)
COMPARE_STEPS(f64, double)
COMPARE_STEPS(i32, int32_t)
COMPARE_STEPS(i64, int64_t)
LOOP2(eq_bool, uint8_t, uint8_t, x == y)
LOOP2(ne_bool, uint8_t, uint8_t, x != y)
LOOP2(and_bool, uint8_t, uint8_t, x &y)
LOOP2(or_bool, uint8_t, uint8_t, x | y)
LOOP1(not_bool, uint8_t, uint8_t, !x)

#define SELECT(name, type, canonical)                                                                        \
  STEP(name) {                                                                                               \
    type *o = out;                                                                                           \
    const uint8_t *c = in0;                                                                                  \
    const type *a = in1, *b = in2;                                                                           \
    TN_ANY_ORDER                                                                                             \
    for (int64_t i = 0; i < count; i++) {                                                                    \
      type x = a[i], y = b[i];                                                                               \
      o[i] = canonical(c[i] ? x : y);                                                                        \
    }                                                                                                        \
  }
SELECT(select_1, uint8_t, )
SELECT(select_2, uint16_t, )
SELECT(select_4, uint32_t, )
SELECT(select_8, uint64_t, )
SELECT(select_f32_last, float, tn_canonical_f32)
SELECT(select_f64_last, double, tn_canonical_f64)

static tn_step select_of(tn_dtype dtype) {
  switch (tn_dtype_bytes(dtype)) {
    case 1: return (tn_step){ select_1, select_1 };
    case 2: return (tn_step){ select_2, select_2 };
    case 4: return (tn_step){ select_4, dtype == TN_F32 ? select_f32_last : select_4 };
    default: return (tn_step){ select_8, dtype == TN_F64 ? select_f64_last : select_8 };
  }
}

/* ---- casts ----
 * bf16 and f16 are reached, and left, by way of f32. */
static inline int32_t i32_of(double x) {
  if (x >= 0x1p31) return INT32_MAX;
  if (x < -0x1p31) return INT32_MIN;
  return x == x ? (int32_t)x : 0;
}

static inline int64_t i64_of(double x) {
  if (x >= 0x1p63) return INT64_MAX;
  if (x < -0x1p63) return INT64_MIN;
  return x == x ? (int64_t)x : 0;
}

#define FLOAT_CASTS(name, type, value)                                                                       \
  LOOP1(name##_to_f32, float, type, tn_canonical_f32((float)(value)))                                        \
  LOOP1(name##_to_f64, double, type, tn_canonical_f64((double)(value)))                                      \
  LOOP1(name##_to_i32, int32_t, type, i32_of((double)(value)))                                               \
  LOOP1(name##_to_i64, int64_t, type, i64_of((double)(value)))                                               \
  LOOP1(name##_to_bool, uint8_t, type, (value) != 0)                                                         \
  LOOP1(name##_to_bf16, uint16_t, type, tn_bf16_from_f32((float)(value)))                                    \
  LOOP1(name##_to_f16, uint16_t, type, tn_f16_from_f32((float)(value)))
#define INTEGER_CASTS(name, type)                                                                            \
  LOOP1(name##_to_f32, float, type, x)                                                                       \
  LOOP1(name##_to_f64, double, type, x)                                                                      \
  LOOP1(name##_to_i32, int32_t, type, x)                                                                     \
  LOOP1(name##_to_i64, int64_t, type, x)                                                                     \
  LOOP1(name##_to_bool, uint8_t, type, x != 0)                                                               \
  LOOP1(name##_to_bf16, uint16_t, type, tn_bf16_from_f32((float)x))                                          \
  LOOP1(name##_to_f16, uint16_t, type, tn_f16_from_f32((float)x))
FLOAT_CASTS(f32, float, x)
FLOAT_CASTS(f64, double, x)
FLOAT_CASTS(bf16, uint16_t, tn_f32_from_bf16(x))
FLOAT_CASTS(f16, uint16_t, tn_f32_from_f16(x))
INTEGER_CASTS(i32, int32_t)
INTEGER_CASTS(i64, int64_t)
INTEGER_CASTS(bool, uint8_t)
LOOP1(copy_1, uint8_t, uint8_t, x)
LOOP1(copy_2, uint16_t, uint16_t, x)

/* Commonest of the casts to integers, and the one that pays for vectors. */
STEP(f32_to_i32_vectors) {
  int32_t *o = out;
  const float *a = in0;
  int64_t i = 0;
  UNUSED1;
  for (; i + TN_LANES <= count; i += TN_LANES) vi_store(o + i, vf_to_int(vf_load(a + i)));
  if (i < count) vi_store_part(o + i, vf_to_int(vf_load_part(a + i, (int)(count - i))), (int)(count - i));
}

#define CAST_ROW(name)                                                                                       \
  {                                                                                                          \
    [TN_F32] = name##_to_f32, [TN_F64] = name##_to_f64, [TN_I32] = name##_to_i32, [TN_I64] = name##_to_i64,  \
    [TN_BOOL] = name##_to_bool, [TN_BF16] = name##_to_bf16, [TN_F16] = name##_to_f16                         \
  }
static const tn_step_run casts[TN_DTYPE_COUNT][TN_DTYPE_COUNT] = {
  [TN_F32] = CAST_ROW(f32),   [TN_F64] = CAST_ROW(f64),   [TN_I32] = CAST_ROW(i32), [TN_I64] = CAST_ROW(i64),
  [TN_BOOL] = CAST_ROW(bool), [TN_BF16] = CAST_ROW(bf16), [TN_F16] = CAST_ROW(f16),
};

static tn_step cast_of(tn_dtype from, tn_dtype to) {
  tn_step_run run = casts[from][to];
  if (from == TN_F32 && to == TN_I32) run = f32_to_i32_vectors;
  if (from == to && tn_dtype_bytes(from) == 2) run = copy_2;
  if (from == to && from == TN_BOOL) run = copy_1;
  return (tn_step){ run, run };
}

/* ---- by operation and dtype ---- */
#define BOTH(name)                                                                                           \
  { name, name##_last }
#define ONE(name)                                                                                            \
  { name, name }
static const tn_step steps_f32[TN_OP_COUNT] = {
  [TN_OP_NEG] = BOTH(neg_f32),        [TN_OP_ABS] = BOTH(abs_f32),        [TN_OP_SIGN] = BOTH(sign_f32),
  [TN_OP_SQRT] = BOTH(sqrt_f32),      [TN_OP_EXP] = ONE(exp_f32),         [TN_OP_LOG] = ONE(log_f32),
  [TN_OP_TANH] = ONE(tanh_f32),       [TN_OP_SIGMOID] = ONE(sigmoid_f32), [TN_OP_RELU] = BOTH(relu_f32),
  [TN_OP_ERF] = ONE(erf_f32),         [TN_OP_SIN] = ONE(sin_f32),         [TN_OP_COS] = ONE(cos_f32),
  [TN_OP_FLOOR] = BOTH(floor_f32),    [TN_OP_CEIL] = BOTH(ceil_f32),      [TN_OP_ROUND] = BOTH(round_f32),
  [TN_OP_ADD] = BOTH(add_f32),        [TN_OP_SUB] = BOTH(sub_f32),        [TN_OP_MUL] = BOTH(mul_f32),
  [TN_OP_DIV] = BOTH(div_f32),        [TN_OP_REM] = BOTH(rem_f32),        [TN_OP_POW] = ONE(pow_f32),
  [TN_OP_MINIMUM] = ONE(minimum_f32), [TN_OP_MAXIMUM] = ONE(maximum_f32), [TN_OP_EQ] = ONE(eq_f32),
  [TN_OP_NE] = ONE(ne_f32),           [TN_OP_LT] = ONE(lt_f32),           [TN_OP_LE] = ONE(le_f32),
  [TN_OP_GT] = ONE(gt_f32),           [TN_OP_GE] = ONE(ge_f32),
};
static const tn_step steps_f64[TN_OP_COUNT] = {
  [TN_OP_NEG] = BOTH(neg_f64),        [TN_OP_ABS] = BOTH(abs_f64),        [TN_OP_SIGN] = BOTH(sign_f64),
  [TN_OP_SQRT] = BOTH(sqrt_f64),      [TN_OP_EXP] = ONE(exp_f64),         [TN_OP_LOG] = ONE(log_f64),
  [TN_OP_TANH] = ONE(tanh_f64),       [TN_OP_SIGMOID] = ONE(sigmoid_f64), [TN_OP_RELU] = BOTH(relu_f64),
  [TN_OP_ERF] = ONE(erf_f64),         [TN_OP_SIN] = ONE(sin_f64),         [TN_OP_COS] = ONE(cos_f64),
  [TN_OP_FLOOR] = BOTH(floor_f64),    [TN_OP_CEIL] = BOTH(ceil_f64),      [TN_OP_ROUND] = BOTH(round_f64),
  [TN_OP_ADD] = BOTH(add_f64),        [TN_OP_SUB] = BOTH(sub_f64),        [TN_OP_MUL] = BOTH(mul_f64),
  [TN_OP_DIV] = BOTH(div_f64),        [TN_OP_REM] = BOTH(rem_f64),        [TN_OP_POW] = ONE(pow_f64),
  [TN_OP_MINIMUM] = ONE(minimum_f64), [TN_OP_MAXIMUM] = ONE(maximum_f64), [TN_OP_EQ] = ONE(eq_f64),
  [TN_OP_NE] = ONE(ne_f64),           [TN_OP_LT] = ONE(lt_f64),           [TN_OP_LE] = ONE(le_f64),
  [TN_OP_GT] = ONE(gt_f64),           [TN_OP_GE] = ONE(ge_f64),
};
#define INTEGER_TABLE(name)                                                                                  \
  {                                                                                                          \
    [TN_OP_NEG] = ONE(neg_##name), [TN_OP_ABS] = ONE(abs_##name), [TN_OP_SIGN] = ONE(sign_##name),           \
    [TN_OP_RELU] = ONE(relu_##name), [TN_OP_FLOOR] = ONE(same_##name), [TN_OP_CEIL] = ONE(same_##name),      \
    [TN_OP_ROUND] = ONE(same_##name), [TN_OP_ADD] = ONE(add_##name), [TN_OP_SUB] = ONE(sub_##name),          \
    [TN_OP_MUL] = ONE(mul_##name), [TN_OP_DIV] = ONE(div_##name), [TN_OP_REM] = ONE(rem_##name),             \
    [TN_OP_MINIMUM] = ONE(minimum_##name), [TN_OP_MAXIMUM] = ONE(maximum_##name),                            \
    [TN_OP_EQ] = ONE(eq_##name), [TN_OP_NE] = ONE(ne_##name), [TN_OP_LT] = ONE(lt_##name),                   \
    [TN_OP_LE] = ONE(le_##name), [TN_OP_GT] = ONE(gt_##name), [TN_OP_GE] = ONE(ge_##name)                    \
  }
static const tn_step steps_i32[TN_OP_COUNT] = INTEGER_TABLE(i32);
static const tn_step steps_i64[TN_OP_COUNT] = INTEGER_TABLE(i64);
static const tn_step steps_bool[TN_OP_COUNT] = {
  [TN_OP_NOT] = ONE(not_bool), [TN_OP_AND] = ONE(and_bool), [TN_OP_OR] = ONE(or_bool),
  [TN_OP_EQ] = ONE(eq_bool),   [TN_OP_NE] = ONE(ne_bool),
};

tn_step step_of(tn_op op, tn_dtype from, tn_dtype to) {
  static const tn_step *const tables[TN_DTYPE_COUNT] = {
    [TN_F32] = steps_f32, [TN_F64] = steps_f64,   [TN_I32] = steps_i32,
    [TN_I64] = steps_i64, [TN_BOOL] = steps_bool,
  };
  if (op == TN_OP_SELECT) return select_of(to);
  if (op == TN_OP_CAST) return cast_of(from, to);
  return tables[from] ? tables[from][op] : (tn_step){ NULL, NULL };
}
