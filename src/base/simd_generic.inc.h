/* base/simd_generic.inc.h: base/simd.h for every target with 16-byte vectors, real or emulated
 * by GCC and clang: SSE2, wasm, and others. 4 lanes, a mask is a vector of ones and zeros.
 *
 * Few of these targets have a vector fma, so it is computed here from doubles, two lanes at a
 * time, as in tn_fma_soft_f32; but the rare case is computed for all lanes, and without a call,
 * which would spill registers. */
#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#else
#include <math.h>   /* sqrtf */
#endif

#define TN_LANES 4

typedef float VF __attribute__((vector_size(16)));

#include "base/simd_vector.inc.h"

typedef VI VM;

static inline VF vf_set(float c) { return (VF){ c, c, c, c }; }
static inline VI vi_set(int32_t c) { return (VI){ c, c, c, c }; }
static inline VD vd_set(double c) { return (VD){ c, c }; }

static inline VF vf_load(const float *p) { VF v; memcpy(&v, p, sizeof v); return v; }
static inline void vf_store(float *p, VF v) { memcpy(p, &v, sizeof v); }
static inline VI vi_load(const int32_t *p) { VI v; memcpy(&v, p, sizeof v); return v; }
static inline void vi_store(int32_t *p, VI v) { memcpy(p, &v, sizeof v); }

static inline VM vf_lt(VF a, VF b) { return a < b; }
static inline VM vf_le(VF a, VF b) { return a <= b; }
static inline VM vf_gt(VF a, VF b) { return a > b; }
static inline VM vf_ge(VF a, VF b) { return a >= b; }
static inline VM vf_eq(VF a, VF b) { return a == b; }
static inline VM vf_isnan(VF v) { return v != v; }
static inline VM vi_eq(VI a, VI b) { return a == b; }
static inline VM vi_lt(VI a, VI b) { return a < b; }
static inline VM vi_gt(VI a, VI b) { return a > b; }
static inline VM vm_and(VM a, VM b) { return a & b; }
static inline VM vm_or(VM a, VM b) { return a | b; }
static inline VM vm_not(VM a) { return ~a; }
static inline VM vm_andnot(VM a, VM b) { return a & ~b; }
static inline VI vm_as_int(VM a) { return a; }
static inline VF vf_select(VM m, VF a, VF b) { return (VF)((m & (VI)a) | (~m & (VI)b)); }
static inline VI vi_select(VM m, VI a, VI b) { return (m & a) | (~m & b); }

static inline bool vm_any(VM a) {
#if defined(__SSE2__)
  return _mm_movemask_epi8((__m128i)a) != 0;
#elif defined(__wasm_simd128__)
  return wasm_v128_any_true((v128_t)a);
#else
  return (((VW)a)[0] | ((VW)a)[1]) != 0;
#endif
}

static inline bool vm_all(VM a) { return !vm_any(~a); }

static inline VF vf_abs(VF v) { return (VF)((VI)v & 0x7fffffff); }
static inline VF vf_at_most(VF v, VF c) { return vf_select(c < v, c, v); }
static inline VF vf_at_least(VF v, VF c) { return vf_select(c > v, c, v); }

static inline VF vf_sqrt(VF v) {
#if defined(__SSE2__)
  return _mm_sqrt_ps(v);
#elif defined(__wasm_simd128__)
  return (VF)wasm_f32x4_sqrt((v128_t)v);
#else
  return (VF){ sqrtf(v[0]), sqrtf(v[1]), sqrtf(v[2]), sqrtf(v[3]) };
#endif
}

/* Below 2^23 the addition rounds; from there on every float is whole. */
static inline VF vf_round_even(VF v) {
  VF size = vf_abs(v);
  VF near = (VF)((VI)((size + 0x1p23f) - 0x1p23f) | ((VI)v & INT32_MIN));
  return vf_select(size < 0x1p23f, near, v);
}

static inline VF vf_floor(VF v) {
  VF near = vf_round_even(v);
  return vf_select(near > v, (VF)((VI)(near - 1.0f) | ((VI)v & INT32_MIN)), near);
}

static inline VF vf_ceil(VF v) {
  VF near = vf_round_even(v);
  return vf_select(near < v, (VF)((VI)(near + 1.0f) | ((VI)v & INT32_MIN)), near);
}

static inline VF vf_trunc(VF v) { return (VF)((VI)vf_floor(vf_abs(v)) | ((VI)v & INT32_MIN)); }

static inline VF vf_from_int(VI v) { return __builtin_convertvector(v, VF); }

/* The conversion is undefined out of range, so nothing out of range reaches it. */
static inline VI vf_to_int(VF v) {
  VM inside = (v >= -0x1p31f) & (v < 0x1p31f);
  VI whole = __builtin_convertvector(vf_select(inside, v, vf_set(0.0f)), VI);
  return vi_select(v >= 0x1p31f, vi_set(INT32_MAX), vi_select(v < -0x1p31f, vi_set(INT32_MIN), whole));
}

static inline VD vd_low(VF v) {
#if defined(__SSE2__)
  return _mm_cvtps_pd(v);
#elif defined(__wasm_simd128__)
  return (VD)wasm_f64x2_promote_low_f32x4((v128_t)v);
#else
  return (VD){ (double)v[0], (double)v[1] };
#endif
}

static inline VD vd_high(VF v) {
#if defined(__SSE2__)
  return _mm_cvtps_pd(_mm_movehl_ps(v, v));
#elif defined(__wasm_simd128__)
  return (VD)wasm_f64x2_promote_low_f32x4(wasm_i64x2_shuffle((v128_t)v, (v128_t)v, 1, 1));
#else
  return (VD){ (double)v[2], (double)v[3] };
#endif
}

static inline VF vf_join(VD low, VD high) {
#if defined(__SSE2__)
  return _mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
#elif defined(__wasm_simd128__)
  v128_t a = wasm_f32x4_demote_f64x2_zero((v128_t)low), b = wasm_f32x4_demote_f64x2_zero((v128_t)high);
  return (VF)wasm_i64x2_shuffle(a, b, 0, 2);
#else
  return (VF){ (float)low[0], (float)low[1], (float)high[0], (float)high[1] };
#endif
}

static inline VD vd_at_most(VD v, VD c) {
  VW smaller = (VW)(c < v);
  return (VD)((smaller & (VW)c) | (~smaller & (VW)v));
}

static inline VD vd_at_least(VD v, VD c) {
  VW larger = (VW)(c > v);
  return (VD)((larger & (VW)c) | (~larger & (VW)v));
}

#if !TN_FMA_IN_HARDWARE
/* The even (odd) words of both. */
#if defined(__has_builtin) && __has_builtin(__builtin_shufflevector)
#define TN_EVEN(a, b) __builtin_shufflevector((VI)(a), (VI)(b), 0, 2, 4, 6)
#define TN_ODD(a, b) __builtin_shufflevector((VI)(a), (VI)(b), 1, 3, 5, 7)
#else
#define TN_EVEN(a, b) (VI){ ((VI)(a))[0], ((VI)(a))[2], ((VI)(b))[0], ((VI)(b))[2] }
#define TN_ODD(a, b) (VI){ ((VI)(a))[1], ((VI)(a))[3], ((VI)(b))[1], ((VI)(b))[3] }
#endif

/* Lanes whose sum lies on the midpoint of two floats, or is smaller than a normal float and not 0.
 * A float times a float is never so small that the double would be denormal. */
static inline bool vd_doubtful(VD low, VD high) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  VI upper = TN_EVEN(low, high) & 0x7fffffff, lower = TN_ODD(low, high);
#else
  VI upper = TN_ODD(low, high) & 0x7fffffff, lower = TN_EVEN(low, high);
#endif
  VI midpoint = (lower & 0x1fffffff) == 0x10000000;
  VI tiny = (upper < 0x38100000) & (upper > 0);
  return vm_any(midpoint | tiny);
}

/* sum = product + addend as if it had been rounded to odd; tn_fma_odd_f32 says why. The error gets
 * the sign of the direction in which the last bit must move: 1 up, -1 down, if it is to move at
 * all. */
static inline VD vd_sum_to_odd(VD product, VD addend, VD sum) {
  VD back = sum - product;
  VD lost = (product - (sum - back)) + (addend - back);
  VD outward = (VD)((VW)lost ^ ((VW)sum & 0x8000000000000000u));
  VW step = (VW)(outward < 0.0) - (VW)(outward > 0.0), even = ((VW)sum & 1u) - 1u;
  return (VD)((VW)sum + (step & even));
}
#undef TN_EVEN
#undef TN_ODD
#endif

static inline VF vf_fma(VF a, VF b, VF c) {
#if TN_FMA_IN_HARDWARE
  return (VF){ tn_fma_f32(a[0], b[0], c[0]), tn_fma_f32(a[1], b[1], c[1]),
               tn_fma_f32(a[2], b[2], c[2]), tn_fma_f32(a[3], b[3], c[3]) };
#else
  VD low_product = vd_low(a) * vd_low(b), high_product = vd_high(a) * vd_high(b);
  VD low = low_product + vd_low(c), high = high_product + vd_high(c);
  if (__builtin_expect(vd_doubtful(low, high), 0)) {
    low = vd_sum_to_odd(low_product, vd_low(c), low);
    high = vd_sum_to_odd(high_product, vd_high(c), high);
  }
  return vf_join(low, high);
#endif
}

static inline VF vf_fnma(VF a, VF b, VF c) { return vf_fma(-a, b, c); }
