/* base/simd.h: one small vector language for every instruction set.
 *
 * A kernel written against these names is compiled once per instruction set and gives the same
 * bits in every lane of each. Which set it becomes follows from the compiler's target flags:
 *
 *   AVX-512 (F, DQ, BW, VL)   16 lanes   simd_avx512.inc.h
 *   AVX2 and FMA               8 lanes   simd_avx2.inc.h
 *   NEON on aarch64            4 lanes   simd_neon.inc.h
 *   anything GCC or clang      4 lanes   simd_generic.inc.h   (SSE2, wasm, ...; fma in software if need be)
 *   TN_SIMD_SCALAR defined     1 lane    simd_scalar.inc.h    (plain C17; what the others are measured by)
 *
 * Only kernels include this file; it uses compiler extensions. Everything in it is static inline.
 *
 * Types      VF  TN_LANES floats                 VI  TN_LANES int32
 *            VM  a truth value per lane          VD  TN_LANES/2 doubles (one for one lane)
 *
 * Operators  + - * / on VF and VD, unary minus too: IEEE, each rounded on its own.
 *
 * Lanes      vf_set(c) vi_set(c) vd_set(c)       the same value in every lane
 *            vf_load(p) vf_store(p, v)           any alignment; vi_load, vi_store likewise
 *            vf_load_part(p, n)                  0 <= n <= TN_LANES elements, further lanes 0; memory after
 *            vf_store_part(p, v, n)              the n-th is neither read nor written; vi_ likewise
 * Bits       vf_as_int(v) vi_as_float(v)         the same 32 bits, read the other way
 *            vi_add vi_sub vi_mul                wrap
 *            vi_and vi_or vi_xor
 *            vi_shl(v, k) vi_shr(v, k) vi_sar(v, k)   0 <= k <= 31; shr brings in zeros, sar the sign
 * Floats     vf_fma(a, b, c)                     a*b + c, one rounding
 *            vf_fnma(a, b, c)                    c - a*b, one rounding
 *            vf_sqrt(v) vf_abs(v)
 *            vf_at_most(v, c)                    c < v ? c : v, so a NaN in v stays; of two
 *                                                zeros, either
 *            vf_at_least(v, c)                   c > v ? c : v, likewise
 *            vf_clamp(v, c)                      v between -c and c; of a NaN, anything
 *            vf_size_at_most(v, c)               |v|, at most c; of a NaN, anything
 *            vf_min(a, b) vf_max(a, b)           -0 counts below +0; NaN, canonical, if either is NaN
 *            vf_round_even vf_floor vf_ceil vf_trunc   whole numbers; the sign of zero is that of v
 *            vf_canonical(v)                     a NaN becomes the one with bits 0x7fc00000
 *            vf_sign(v)                          the sign bit alone, for vf_with_sign
 *            vf_with_sign(v, s)                  v with the sign bits of s added (or)
 *            vf_flip_sign(v, s)                  v with its sign changed where s has the sign bit (xor)
 *            vf_pow2(n)                          2^n for whole n, -126 <= n <= 127
 *            vf_scale(v, n)                      v * 2^n, one rounding; 0.25 <= |v| <= 4, whole |n| <= 200
 * Conversion vf_from_int(v)                      rounded to nearest even
 *            vf_to_int(v)                        truncated; saturates; NaN gives 0
 * Masks      vf_lt vf_le vf_gt vf_ge vf_eq       false where an operand is NaN
 *            vf_isnan(v)                         vi_eq vi_lt vi_gt (signed)
 *            vm_and vm_or vm_not vm_andnot(a, b) (a and not b); vm_any vm_all give bool
 *            vf_select(m, a, b) vi_select(m, a, b)    a where m, else b
 * Doubles    vd_low(v) vd_high(v)                half of the lanes of v, exactly; for one lane both are v
 *            vf_join(low, high)                  rounded to nearest even, overflow and denormals included
 *            vd_pow2(n)                          2^n for whole n, -1022 <= n <= 1023
 *            vd_split(v, &e)                     m with v = 2^e m, sqrt(1/2) <= m < sqrt(2); v > 0, normal
 *            vd_at_most vd_at_least              as for VF
 * Functions  vf_map(m, v, f)                     float f(float) applied where m, v elsewhere; slow
 *
 * The bits of a NaN that arithmetic makes or passes on differ between machines: pass what may be NaN
 * through vf_canonical before it is stored. Everything else is exact as described. */
#ifndef TN_BASE_SIMD_H
#define TN_BASE_SIMD_H

#include "base/elementary.h"

#if defined(TN_SIMD_SCALAR) || !defined(__GNUC__)
#include "base/simd_scalar.inc.h"
#elif defined(TN_SIMD_GENERIC)
#include "base/simd_generic.inc.h"
#elif defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#include "base/simd_avx512.inc.h"
#elif defined(__AVX2__) && defined(__FMA__)
#include "base/simd_avx2.inc.h"
#elif defined(__aarch64__) && defined(__ARM_NEON)
#include "base/simd_neon.inc.h"
#else
#include "base/simd_generic.inc.h"
#endif

/* --- what is the same everywhere --------------------------------------------------------------- */

static inline VF vf_sign(VF v) { return vi_as_float(vi_and(vf_as_int(v), vi_set(INT32_MIN))); }

static inline VF vf_with_sign(VF v, VF s) {
  return vi_as_float(vi_or(vf_as_int(v), vf_as_int(vf_sign(s))));
}

static inline VF vf_flip_sign(VF v, VF s) {
  return vi_as_float(vi_xor(vf_as_int(v), vf_as_int(vf_sign(s))));
}

static inline VF vf_canonical(VF v) { return vf_select(vf_isnan(v), vf_set(tn_nan_f32()), v); }

/* Operands that compare equal differ at most in the sign of zero: or keeps a minus, and keeps a plus. */
static inline VF vf_min(VF a, VF b) {
  VF tie = vi_as_float(vi_or(vf_as_int(a), vf_as_int(b)));
  VF least = vf_select(vf_eq(a, b), tie, vf_select(vf_lt(a, b), a, b));
  return vf_select(vm_or(vf_isnan(a), vf_isnan(b)), vf_set(tn_nan_f32()), least);
}

static inline VF vf_max(VF a, VF b) {
  VF tie = vi_as_float(vi_and(vf_as_int(a), vf_as_int(b)));
  VF most = vf_select(vf_eq(a, b), tie, vf_select(vf_gt(a, b), a, b));
  return vf_select(vm_or(vf_isnan(a), vf_isnan(b)), vf_set(tn_nan_f32()), most);
}

/* --- what few instruction sets have of their own ------------------------------------------------- */

#ifndef TN_SIMD_CLAMP
static inline VF vf_clamp(VF v, VF c) { return vf_at_least(vf_at_most(v, c), -c); }
static inline VF vf_size_at_most(VF v, VF c) { return vf_at_most(vf_abs(v), c); }
#endif

#ifndef TN_SIMD_SCALE
/* The sum has the whole number n + 127, the exponent field of 2^n, in its last bits. */
static inline VF vf_pow2(VF n) { return vi_as_float(vi_shl(vf_as_int(n + vf_set(0x1.8p23f + 127.0f)), 23)); }

/* Two factors, half of the exponent each: the first product is exact, the second one rounds. */
static inline VF vf_scale(VF v, VF n) {
  VI whole = vf_as_int(n + vf_set(0x1.8p23f + 254.0f)), half = vi_shr(whole, 1);
  VI rest = vi_sub(whole, half);
  return v * vi_as_float(vi_shl(half, 23)) * vi_as_float(vi_shl(rest, 23));
}
#endif

/* AVX masks its loads and stores; elsewhere the lanes go through memory. */
#if TN_LANES == 4
static inline VF vf_load_part(const float *p, int n) {
  float lanes[TN_LANES] = { 0 };
  for (int i = 0; i < n; i++) lanes[i] = p[i];
  return vf_load(lanes);
}

static inline void vf_store_part(float *p, VF v, int n) {
  float lanes[TN_LANES];
  vf_store(lanes, v);
  for (int i = 0; i < n; i++) p[i] = lanes[i];
}

static inline VI vi_load_part(const int32_t *p, int n) {
  int32_t lanes[TN_LANES] = { 0 };
  for (int i = 0; i < n; i++) lanes[i] = p[i];
  return vi_load(lanes);
}

static inline void vi_store_part(int32_t *p, VI v, int n) {
  int32_t lanes[TN_LANES];
  vi_store(lanes, v);
  for (int i = 0; i < n; i++) p[i] = lanes[i];
}
#endif

/* Kept out of line, so that the loop around it stays small; its callers expect not to need it. */
#ifdef __GNUC__
__attribute__((noinline, unused))
#endif
static VF vf_map(VM m, VF v, float (*function)(float)) {
  float lanes[TN_LANES];
  int32_t wanted[TN_LANES];
  vf_store(lanes, v);
  vi_store(wanted, vm_as_int(m));
  for (int i = 0; i < TN_LANES; i++)
    if (wanted[i]) lanes[i] = function(lanes[i]);
  return vf_load(lanes);
}
#endif
