/* base/simd_avx512.inc.h: base/simd.h for AVX-512 with F, DQ, BW and VL: 16 lanes, masks in
 * registers of their own. */
#include <immintrin.h>

#define TN_LANES 16

typedef float VF __attribute__((vector_size(64)));
typedef __mmask16 VM;

#include "base/simd_vector.inc.h"

static inline VF vf_set(float c) { return _mm512_set1_ps(c); }
static inline VI vi_set(int32_t c) { return (VI)_mm512_set1_epi32(c); }
static inline VD vd_set(double c) { return _mm512_set1_pd(c); }

static inline VM vm_first(int n) { return (VM)((1u << n) - 1u); }
static inline VF vf_load(const float *p) { return _mm512_loadu_ps(p); }
static inline void vf_store(float *p, VF v) { _mm512_storeu_ps(p, v); }
static inline VF vf_load_part(const float *p, int n) { return _mm512_maskz_loadu_ps(vm_first(n), p); }
static inline void vf_store_part(float *p, VF v, int n) { _mm512_mask_storeu_ps(p, vm_first(n), v); }
static inline VI vi_load(const int32_t *p) { return (VI)_mm512_loadu_si512(p); }
static inline void vi_store(int32_t *p, VI v) { _mm512_storeu_si512(p, (__m512i)v); }
static inline VI vi_load_part(const int32_t *p, int n) {
  return (VI)_mm512_maskz_loadu_epi32(vm_first(n), p);
}
static inline void vi_store_part(int32_t *p, VI v, int n) {
  _mm512_mask_storeu_epi32(p, vm_first(n), (__m512i)v);
}

static inline VF vf_fma(VF a, VF b, VF c) { return _mm512_fmadd_ps(a, b, c); }
static inline VF vf_fnma(VF a, VF b, VF c) { return _mm512_fnmadd_ps(a, b, c); }
static inline VF vf_sqrt(VF v) { return _mm512_sqrt_ps(v); }
static inline VF vf_abs(VF v) { return _mm512_abs_ps(v); }
/* The instruction gives its second operand when the comparison fails, be it for a NaN. */
static inline VF vf_at_most(VF v, VF c) { return _mm512_min_ps(c, v); }
static inline VF vf_at_least(VF v, VF c) { return _mm512_max_ps(c, v); }

#define TN_SIMD_CLAMP   /* the smaller size, with the sign of the first, or with none */
static inline VF vf_clamp(VF v, VF c) { return _mm512_range_ps(v, c, 2); }
static inline VF vf_size_at_most(VF v, VF c) { return _mm512_range_ps(v, c, 10); }

#define TN_ROUND(v, mode) _mm512_roundscale_ps((v), (mode) | _MM_FROUND_NO_EXC)
static inline VF vf_round_even(VF v) { return TN_ROUND(v, _MM_FROUND_TO_NEAREST_INT); }
static inline VF vf_floor(VF v) { return TN_ROUND(v, _MM_FROUND_TO_NEG_INF); }
static inline VF vf_ceil(VF v) { return TN_ROUND(v, _MM_FROUND_TO_POS_INF); }
static inline VF vf_trunc(VF v) { return TN_ROUND(v, _MM_FROUND_TO_ZERO); }
#undef TN_ROUND

#define TN_SIMD_SCALE   /* an instruction of its own */
static inline VF vf_pow2(VF n) { return _mm512_scalef_ps(vf_set(1.0f), n); }
static inline VF vf_scale(VF v, VF n) { return _mm512_scalef_ps(v, n); }

static inline VF vf_from_int(VI v) { return _mm512_cvtepi32_ps((__m512i)v); }

#define TN_COMPARE(a, b, how) _mm512_cmp_ps_mask((a), (b), (how))
static inline VM vf_lt(VF a, VF b) { return TN_COMPARE(a, b, _CMP_LT_OQ); }
static inline VM vf_le(VF a, VF b) { return TN_COMPARE(a, b, _CMP_LE_OQ); }
static inline VM vf_gt(VF a, VF b) { return TN_COMPARE(a, b, _CMP_GT_OQ); }
static inline VM vf_ge(VF a, VF b) { return TN_COMPARE(a, b, _CMP_GE_OQ); }
static inline VM vf_eq(VF a, VF b) { return TN_COMPARE(a, b, _CMP_EQ_OQ); }
static inline VM vf_isnan(VF v) { return TN_COMPARE(v, v, _CMP_UNORD_Q); }
#undef TN_COMPARE
static inline VM vi_eq(VI a, VI b) { return _mm512_cmpeq_epi32_mask((__m512i)a, (__m512i)b); }
static inline VM vi_lt(VI a, VI b) { return _mm512_cmplt_epi32_mask((__m512i)a, (__m512i)b); }
static inline VM vi_gt(VI a, VI b) { return _mm512_cmpgt_epi32_mask((__m512i)a, (__m512i)b); }
static inline VM vm_and(VM a, VM b) { return (VM)(a & b); }
static inline VM vm_or(VM a, VM b) { return (VM)(a | b); }
static inline VM vm_not(VM a) { return (VM)~a; }
static inline VM vm_andnot(VM a, VM b) { return (VM)(a & ~b); }
static inline bool vm_any(VM a) { return a != 0; }
static inline bool vm_all(VM a) { return a == 0xffff; }
static inline VI vm_as_int(VM a) { return (VI)_mm512_movm_epi32(a); }
static inline VF vf_select(VM m, VF a, VF b) { return _mm512_mask_blend_ps(m, b, a); }
static inline VI vi_select(VM m, VI a, VI b) {
  return (VI)_mm512_mask_blend_epi32(m, (__m512i)b, (__m512i)a);
}

/* Out of range, and for NaN, the instruction gives INT32_MIN, which is right on the negative side
 * only. */
static inline VI vf_to_int(VF v) {
  VI whole = vi_select(vf_ge(v, vf_set(0x1p31f)), vi_set(INT32_MAX), (VI)_mm512_cvttps_epi32(v));
  return vi_select(vf_isnan(v), vi_set(0), whole);
}

static inline VD vd_low(VF v) { return _mm512_cvtps_pd(_mm512_castps512_ps256(v)); }
static inline VD vd_high(VF v) { return _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1)); }
static inline VD vd_at_most(VD v, VD c) { return _mm512_min_pd(c, v); }
static inline VD vd_at_least(VD v, VD c) { return _mm512_max_pd(c, v); }
static inline VF vf_join(VD low, VD high) {
  return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(low)), _mm512_cvtpd_ps(high), 1);
}
