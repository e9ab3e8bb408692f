/* base/simd_neon.inc.h: base/simd.h for aarch64: 4 lanes, a mask is a vector of ones and zeros. */
#include <arm_neon.h>

#define TN_LANES 4

typedef float VF __attribute__((vector_size(16)));

#include "base/simd_vector.inc.h"

typedef VI VM;

#define TN_F(v) ((float32x4_t)(v))
#define TN_U(v) ((uint32x4_t)(v))

static inline VF vf_set(float c) { return (VF)vdupq_n_f32(c); }
static inline VI vi_set(int32_t c) { return (VI)vdupq_n_s32(c); }
static inline VD vd_set(double c) { return (VD)vdupq_n_f64(c); }

static inline VF vf_load(const float *p) { return (VF)vld1q_f32(p); }
static inline void vf_store(float *p, VF v) { vst1q_f32(p, TN_F(v)); }
static inline VI vi_load(const int32_t *p) { return (VI)vld1q_s32(p); }
static inline void vi_store(int32_t *p, VI v) { vst1q_s32(p, (int32x4_t)v); }

static inline VF vf_fma(VF a, VF b, VF c) { return (VF)vfmaq_f32(TN_F(c), TN_F(a), TN_F(b)); }
static inline VF vf_fnma(VF a, VF b, VF c) { return (VF)vfmsq_f32(TN_F(c), TN_F(a), TN_F(b)); }
static inline VF vf_sqrt(VF v) { return (VF)vsqrtq_f32(TN_F(v)); }
static inline VF vf_abs(VF v) { return (VF)vabsq_f32(TN_F(v)); }
static inline VF vf_round_even(VF v) { return (VF)vrndnq_f32(TN_F(v)); }
static inline VF vf_floor(VF v) { return (VF)vrndmq_f32(TN_F(v)); }
static inline VF vf_ceil(VF v) { return (VF)vrndpq_f32(TN_F(v)); }
static inline VF vf_trunc(VF v) { return (VF)vrndq_f32(TN_F(v)); }
static inline VF vf_from_int(VI v) { return (VF)vcvtq_f32_s32((int32x4_t)v); }
static inline VI vf_to_int(VF v) { return (VI)vcvtq_s32_f32(TN_F(v)); }   /* saturates, and NaN gives 0 */

static inline VM vf_lt(VF a, VF b) { return (VM)vcltq_f32(TN_F(a), TN_F(b)); }
static inline VM vf_le(VF a, VF b) { return (VM)vcleq_f32(TN_F(a), TN_F(b)); }
static inline VM vf_gt(VF a, VF b) { return (VM)vcgtq_f32(TN_F(a), TN_F(b)); }
static inline VM vf_ge(VF a, VF b) { return (VM)vcgeq_f32(TN_F(a), TN_F(b)); }
static inline VM vf_eq(VF a, VF b) { return (VM)vceqq_f32(TN_F(a), TN_F(b)); }
static inline VM vf_isnan(VF v) { return ~vf_eq(v, v); }
static inline VM vi_eq(VI a, VI b) { return a == b; }
static inline VM vi_lt(VI a, VI b) { return a < b; }
static inline VM vi_gt(VI a, VI b) { return a > b; }
static inline VM vm_and(VM a, VM b) { return a & b; }
static inline VM vm_or(VM a, VM b) { return a | b; }
static inline VM vm_not(VM a) { return ~a; }
static inline VM vm_andnot(VM a, VM b) { return a & ~b; }
static inline bool vm_any(VM a) { return vmaxvq_u32(TN_U(a)) != 0; }
static inline bool vm_all(VM a) { return vminvq_u32(TN_U(a)) != 0; }
static inline VI vm_as_int(VM a) { return a; }
static inline VF vf_select(VM m, VF a, VF b) { return (VF)vbslq_f32(TN_U(m), TN_F(a), TN_F(b)); }
static inline VI vi_select(VM m, VI a, VI b) { return (VI)vbslq_s32(TN_U(m), (int32x4_t)a, (int32x4_t)b); }
static inline VF vf_at_most(VF v, VF c) { return vf_select(vf_lt(c, v), c, v); }
static inline VF vf_at_least(VF v, VF c) { return vf_select(vf_gt(c, v), c, v); }

static inline VD vd_low(VF v) { return (VD)vcvt_f64_f32(vget_low_f32(TN_F(v))); }
static inline VD vd_high(VF v) { return (VD)vcvt_high_f64_f32(TN_F(v)); }
static inline VF vf_join(VD low, VD high) {
  return (VF)vcvt_high_f32_f64(vcvt_f32_f64((float64x2_t)low), (float64x2_t)high);
}

static inline VD vd_select(uint64x2_t m, VD a, VD b) {
  return (VD)vbslq_f64(m, (float64x2_t)a, (float64x2_t)b);
}

static inline VD vd_at_most(VD v, VD c) {
  return vd_select(vcltq_f64((float64x2_t)c, (float64x2_t)v), c, v);
}

static inline VD vd_at_least(VD v, VD c) {
  return vd_select(vcgtq_f64((float64x2_t)c, (float64x2_t)v), c, v);
}

#undef TN_F
#undef TN_U
