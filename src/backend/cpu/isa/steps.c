/* backend/cpu/isa/steps.c: the elementwise operations, each a loop over contiguous elements.
 *
 * The operations are the rows of op/elementwise.def. f32 takes vectors. The
 * other dtypes are plain loops, which the compiler turns into vectors where it
 * can; none of them has an order, so it
 * may. Arithmetic on floats has two forms: inside a chain of operations the
 * bits of a NaN do not matter, because nothing looks at them; the last
 * operation of a chain makes them canonical as it stores. */
#include "backend/cpu/isa/steps.h"

#include "backend/cpu/isa/element.h"
#include "backend/cpu/isa/exp.h"

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

/* By how a row is executed, its kind, and whether its NaN is canonical. Comparisons are plain loops. */
#define RUN_LINK_UNARY_CANONICAL(ID)  F32_UNARY(ID##_f32, vf_of_##ID(x))
#define RUN_LINK_UNARY_LOOSE(ID)      F32_UNARY_BOTH(ID##_f32, vf_of_##ID(x))
#define RUN_LINK_BINARY_CANONICAL(ID) F32_BINARY(ID##_f32, vf_of_##ID(x, y))
#define RUN_LINK_BINARY_LOOSE(ID)     F32_BINARY_BOTH(ID##_f32, vf_of_##ID(x, y))
#define RUN_STEP_UNARY_CANONICAL      RUN_LINK_UNARY_CANONICAL
#define RUN_STEP_UNARY_LOOSE          RUN_LINK_UNARY_LOOSE
#define RUN_STEP_BINARY_CANONICAL     RUN_LINK_BINARY_CANONICAL
#define RUN_STEP_BINARY_LOOSE         RUN_LINK_BINARY_LOOSE
#define RUN_BLOCKS_UNARY_CANONICAL(ID) /* below */
#define RUN_STEP_COMPARE_CANONICAL(ID)
#define TN_ELEMENT(ID, KIND, DTYPES, NAME, DOC, REAL, WHOLE, TRUTH, VJP, JVP, SLOPE_X, SLOPE_Y, HOW, NANS,   \
                   ...)                                                                                      \
  TN_IF_REAL_##DTYPES(RUN_##HOW##_##KIND##_##NANS(ID))
#include "op/elementwise.def"
F32_UNARY(exp_one_by_one, vf_of_EXP(x))

STEP(EXP_f32) {
  float *o = out;
  const float *a = in0;
  int64_t i = 0;
#if TN_FMA_IN_HARDWARE
  for (; i + TN_EXP_ABREAST * TN_LANES <= count; i += TN_EXP_ABREAST * TN_LANES) {
    VF x[TN_EXP_ABREAST];
    for (int k = 0; k < TN_EXP_ABREAST; k++) x[k] = vf_load(a + i + k * TN_LANES);
    tn_exp_any(x, TN_EXP_ABREAST);
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
/* ---- the other dtypes, and comparisons ---- */
#define F64_UNARY_CANONICAL(ID)    LOOP1(ID##_f64, double, double, tn_of_##ID##_f64(x))
#define F64_BINARY_CANONICAL(ID)   LOOP2(ID##_f64, double, double, tn_of_##ID##_f64(x, y))
#define F64_COMPARE_CANONICAL(ID)                                                                            \
  LOOP2(ID##_f64, uint8_t, double, tn_of_##ID##_f64(x, y))                                                   \
  LOOP2(ID##_f32, uint8_t, float, tn_of_##ID##_f32(x, y))
#define F64_UNARY_LOOSE(ID)                                                                                  \
  F64_UNARY_CANONICAL(ID) LOOP1(ID##_f64_last, double, double, tn_canonical_f64(tn_of_##ID##_f64(x)))
#define F64_BINARY_LOOSE(ID)                                                                                 \
  F64_BINARY_CANONICAL(ID) LOOP2(ID##_f64_last, double, double, tn_canonical_f64(tn_of_##ID##_f64(x, y)))
#define WHOLE_UNARY(ID, type, of)   LOOP1(ID##_##of, type, type, tn_of_##ID##_##of(x))
#define WHOLE_BINARY(ID, type, of)  LOOP2(ID##_##of, type, type, tn_of_##ID##_##of(x, y))
#define WHOLE_COMPARE(ID, type, of) LOOP2(ID##_##of, uint8_t, type, tn_of_##ID##_##of(x, y))
#define TN_ELEMENT(ID, KIND, DTYPES, NAME, DOC, REAL, WHOLE, TRUTH, VJP, JVP, SLOPE_X, SLOPE_Y, HOW, NANS,   \
                   ...)                                                                                      \
  TN_IF_REAL_##DTYPES(F64_##KIND##_##NANS(ID))                                                               \
  TN_IF_WHOLE_##DTYPES(WHOLE_##KIND(ID, int32_t, i32) WHOLE_##KIND(ID, int64_t, i64))                        \
  TN_IF_TRUTH_##DTYPES(WHOLE_##KIND(ID, uint8_t, boolean))
#include "op/elementwise.def"

int64_t first_zero(const void *divisors, tn_dtype dtype, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    if (tn_cpu_index_at(divisors, dtype, i) == 0) return i;
  return count;
}

/* ---- select ---- */
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
 * bf16 and f16 are converted through f32. */
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

/* ---- by dtype and operation ---- */
#define ENTRY_CANONICAL(ID, of)                                                                              \
  { ID##_##of, ID##_##of }
#define ENTRY_LOOSE(ID, of)                                                                                  \
  { ID##_##of, ID##_##of##_last }
static const tn_step steps[TN_DTYPE_COUNT][TN_OP_COUNT] = {
#define TN_ELEMENT(ID, KIND, DTYPES, NAME, DOC, REAL, WHOLE, TRUTH, VJP, JVP, SLOPE_X, SLOPE_Y, HOW, NANS,   \
                   ...)                                                                                      \
  TN_IF_REAL_##DTYPES([TN_F32][TN_OP_##ID] = ENTRY_##NANS(ID, f32),                                          \
                      [TN_F64][TN_OP_##ID] = ENTRY_##NANS(ID, f64), )                                        \
  TN_IF_WHOLE_##DTYPES([TN_I32][TN_OP_##ID] = ENTRY_CANONICAL(ID, i32),                                      \
                       [TN_I64][TN_OP_##ID] = ENTRY_CANONICAL(ID, i64), )                                    \
  TN_IF_TRUTH_##DTYPES([TN_BOOL][TN_OP_##ID] = ENTRY_CANONICAL(ID, boolean), )
#include "op/elementwise.def"
};

tn_step step_of(tn_op op, tn_dtype from, tn_dtype to) {
  if (op == TN_OP_SELECT) return select_of(to);
  if (op == TN_OP_CAST) return cast_of(from, to);
  return steps[from][op];
}
