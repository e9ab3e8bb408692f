/* base/simd_scalar.inc.h: base/simd.h for one lane, in plain C17.
 *
 * This is the definition the other instruction sets are measured by. */
#include <math.h>   /* sqrtf, which IEEE 754 rounds correctly, is all that is used */

#define TN_LANES 1

typedef float VF;
typedef int32_t VI;
typedef bool VM;
typedef double VD;

static inline VF vf_set(float c) { return c; }
static inline VI vi_set(int32_t c) { return c; }
static inline VD vd_set(double c) { return c; }

static inline VF vf_load(const float *p) { return *p; }
static inline void vf_store(float *p, VF v) { *p = v; }
static inline VF vf_load_part(const float *p, int n) { return n > 0 ? *p : 0.0f; }
static inline void vf_store_part(float *p, VF v, int n) { if (n > 0) *p = v; }
static inline VI vi_load(const int32_t *p) { return *p; }
static inline void vi_store(int32_t *p, VI v) { *p = v; }
static inline VI vi_load_part(const int32_t *p, int n) { return n > 0 ? *p : 0; }
static inline void vi_store_part(int32_t *p, VI v, int n) { if (n > 0) *p = v; }

static inline VI vf_as_int(VF v) { return (int32_t)tn_bits_f32(v); }
static inline VF vi_as_float(VI v) { return tn_float_of_bits((uint32_t)v); }

static inline VI vi_add(VI a, VI b) { return (int32_t)((uint32_t)a + (uint32_t)b); }
static inline VI vi_sub(VI a, VI b) { return (int32_t)((uint32_t)a - (uint32_t)b); }
static inline VI vi_mul(VI a, VI b) { return (int32_t)((uint32_t)a * (uint32_t)b); }
static inline VI vi_and(VI a, VI b) { return a & b; }
static inline VI vi_or(VI a, VI b) { return a | b; }
static inline VI vi_xor(VI a, VI b) { return a ^ b; }
static inline VI vi_shl(VI v, int k) { return (int32_t)((uint32_t)v << k); }
static inline VI vi_shr(VI v, int k) { return (int32_t)((uint32_t)v >> k); }
static inline VI vi_sar(VI v, int k) { return v < 0 ? ~(int32_t)(~(uint32_t)v >> k) : v >> k; }

static inline VF vf_fma(VF a, VF b, VF c) { return tn_fma_f32(a, b, c); }
static inline VF vf_fnma(VF a, VF b, VF c) { return tn_fma_f32(-a, b, c); }
static inline VF vf_abs(VF v) { return tn_float_of_bits(tn_bits_f32(v) & 0x7fffffffu); }
#if defined(__NVPTX__)   /* one instruction in place of two */
static inline VF vf_at_most(VF v, VF c) { return __nvvm_fmin_nan_f(v, c); }
static inline VF vf_at_least(VF v, VF c) { return __nvvm_fmax_nan_f(v, c); }
#else
static inline VF vf_at_most(VF v, VF c) { return c < v ? c : v; }
static inline VF vf_at_least(VF v, VF c) { return c > v ? c : v; }
#endif
static inline VF vf_round_even(VF v) { return tn_round_even_f32(v); }
static inline VF vf_floor(VF v) { return tn_floor_f32(v); }
static inline VF vf_ceil(VF v) { return tn_ceil_f32(v); }
static inline VF vf_trunc(VF v) { return v < 0 ? tn_ceil_f32(v) : tn_floor_f32(v); }
static inline VF vf_sqrt(VF v) { return sqrtf(v); }

static inline VF vf_from_int(VI v) { return (float)v; }

static inline VI vf_to_int(VF v) {
  if (v >= 0x1p31f) return INT32_MAX;
  if (v < -0x1p31f) return INT32_MIN;
  return v == v ? (int32_t)v : 0;
}

static inline VM vf_lt(VF a, VF b) { return a < b; }
static inline VM vf_le(VF a, VF b) { return a <= b; }
static inline VM vf_gt(VF a, VF b) { return a > b; }
static inline VM vf_ge(VF a, VF b) { return a >= b; }
static inline VM vf_eq(VF a, VF b) { return a == b; }
static inline VM vf_isnan(VF v) { return v != v; }
static inline VM vi_eq(VI a, VI b) { return a == b; }
static inline VM vi_lt(VI a, VI b) { return a < b; }
static inline VM vi_gt(VI a, VI b) { return a > b; }
static inline VM vm_and(VM a, VM b) { return a && b; }
static inline VM vm_or(VM a, VM b) { return a || b; }
static inline VM vm_not(VM a) { return !a; }
static inline VM vm_andnot(VM a, VM b) { return a && !b; }
static inline bool vm_any(VM a) { return a; }
static inline bool vm_all(VM a) { return a; }
static inline VI vm_as_int(VM a) { return a ? -1 : 0; }
static inline VF vf_select(VM m, VF a, VF b) { return m ? a : b; }
static inline VI vi_select(VM m, VI a, VI b) { return m ? a : b; }

static inline VD vd_low(VF v) { return (double)v; }
static inline VD vd_high(VF v) { return (double)v; }
static inline VF vf_join(VD low, VD high) { (void)high; return (float)low; }
static inline VD vd_at_most(VD v, VD c) { return c < v ? c : v; }
static inline VD vd_at_least(VD v, VD c) { return c > v ? c : v; }

static inline VD vd_pow2(VD n) { return tn_double_of_bits((tn_bits_f64(n + 0x1.8p52) + 1023) << 52); }

/* Counting from the bits of sqrt(1/2) instead of those of 1 puts the exponent where the mantissa
 * splits. */
static inline VD vd_split(VD v, VD *exponent) {
  uint64_t half_root = 0x3fe6a09e667f3bcdu;
  uint64_t steps = tn_bits_f64(v) - half_root;
  uint64_t whole = (steps + 0x4000000000000000u) >> 52;   /* exponent + 1024 */
  *exponent = tn_double_of_bits(whole | 0x4330000000000000u) - 0x1.00000000004p52;
  return tn_double_of_bits((steps & 0xfffffffffffffu) + half_root);
}
