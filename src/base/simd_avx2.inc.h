/* base/simd_avx2.inc.h: base/simd.h for AVX2 with FMA: 8 lanes, a mask is a vector of ones and zeros. */
#include <immintrin.h>

#define TN_LANES 8

typedef float VF __attribute__((vector_size(32)));

#include "base/simd_vector.inc.h"

typedef VI VM;

static inline VF vf_set(float c) { return _mm256_set1_ps(c); }
static inline VI vi_set(int32_t c) { return (VI)_mm256_set1_epi32(c); }
static inline VD vd_set(double c) { return _mm256_set1_pd(c); }

static inline __m256i vm_first(int n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

static inline VF vf_load(const float *p) { return _mm256_loadu_ps(p); }
static inline void vf_store(float *p, VF v) { _mm256_storeu_ps(p, v); }
static inline VF vf_load_part(const float *p, int n) { return _mm256_maskload_ps(p, vm_first(n)); }
static inline void vf_store_part(float *p, VF v, int n) { _mm256_maskstore_ps(p, vm_first(n), v); }
static inline VI vi_load(const int32_t *p) { return (VI)_mm256_loadu_si256((const void *)p); }
static inline void vi_store(int32_t *p, VI v) { _mm256_storeu_si256((void *)p, (__m256i)v); }
static inline VI vi_load_part(const int32_t *p, int n) { return (VI)_mm256_maskload_epi32(p, vm_first(n)); }
static inline void vi_store_part(int32_t *p, VI v, int n) {
  _mm256_maskstore_epi32(p, vm_first(n), (__m256i)v);
}

static inline VF vf_fma(VF a, VF b, VF c) { return _mm256_fmadd_ps(a, b, c); }
static inline VF vf_fnma(VF a, VF b, VF c) { return _mm256_fnmadd_ps(a, b, c); }
static inline VF vf_sqrt(VF v) { return _mm256_sqrt_ps(v); }
static inline VF vf_abs(VF v) { return (VF)((VI)v & 0x7fffffff); }
/* The instruction gives its second operand when the comparison fails, be it for a NaN. */
static inline VF vf_at_most(VF v, VF c) { return _mm256_min_ps(c, v); }
static inline VF vf_at_least(VF v, VF c) { return _mm256_max_ps(c, v); }

#define TN_ROUND(v, mode) _mm256_round_ps((v), (mode) | _MM_FROUND_NO_EXC)
static inline VF vf_round_even(VF v) { return TN_ROUND(v, _MM_FROUND_TO_NEAREST_INT); }
static inline VF vf_floor(VF v) { return TN_ROUND(v, _MM_FROUND_TO_NEG_INF); }
static inline VF vf_ceil(VF v) { return TN_ROUND(v, _MM_FROUND_TO_POS_INF); }
static inline VF vf_trunc(VF v) { return TN_ROUND(v, _MM_FROUND_TO_ZERO); }
#undef TN_ROUND

static inline VF vf_from_int(VI v) { return _mm256_cvtepi32_ps((__m256i)v); }

#define TN_COMPARE(a, b, how) (VM)_mm256_cmp_ps((a), (b), (how))
static inline VM vf_lt(VF a, VF b) { return TN_COMPARE(a, b, _CMP_LT_OQ); }
static inline VM vf_le(VF a, VF b) { return TN_COMPARE(a, b, _CMP_LE_OQ); }
static inline VM vf_gt(VF a, VF b) { return TN_COMPARE(a, b, _CMP_GT_OQ); }
static inline VM vf_ge(VF a, VF b) { return TN_COMPARE(a, b, _CMP_GE_OQ); }
static inline VM vf_eq(VF a, VF b) { return TN_COMPARE(a, b, _CMP_EQ_OQ); }
static inline VM vf_isnan(VF v) { return TN_COMPARE(v, v, _CMP_UNORD_Q); }
#undef TN_COMPARE
static inline VM vi_eq(VI a, VI b) { return a == b; }
static inline VM vi_lt(VI a, VI b) { return a < b; }
static inline VM vi_gt(VI a, VI b) { return a > b; }
static inline VM vm_and(VM a, VM b) { return a & b; }
static inline VM vm_or(VM a, VM b) { return a | b; }
static inline VM vm_not(VM a) { return ~a; }
static inline VM vm_andnot(VM a, VM b) { return a & ~b; }
static inline bool vm_any(VM a) { return _mm256_movemask_ps((__m256)a) != 0; }
static inline bool vm_all(VM a) { return _mm256_movemask_ps((__m256)a) == 0xff; }
static inline VI vm_as_int(VM a) { return a; }
static inline VF vf_select(VM m, VF a, VF b) { return _mm256_blendv_ps(b, a, (__m256)m); }
static inline VI vi_select(VM m, VI a, VI b) { return (VI)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)m); }

/* Out of range, and for NaN, the instruction gives INT32_MIN, which is right on the negative side
 * only. */
static inline VI vf_to_int(VF v) {
  VI whole = vi_select(vf_ge(v, vf_set(0x1p31f)), vi_set(INT32_MAX), (VI)_mm256_cvttps_epi32(v));
  return vi_select(vf_isnan(v), vi_set(0), whole);
}

static inline VD vd_low(VF v) { return _mm256_cvtps_pd(_mm256_castps256_ps128(v)); }
static inline VD vd_high(VF v) { return _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1)); }
static inline VD vd_at_most(VD v, VD c) { return _mm256_min_pd(c, v); }
static inline VD vd_at_least(VD v, VD c) { return _mm256_max_pd(c, v); }
static inline VF vf_join(VD low, VD high) {
  return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps(low)), _mm256_cvtpd_ps(high), 1);
}
