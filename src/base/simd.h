/* base/simd.h: one small vector language for every instruction set.
 *
 * A kernel written against these names is compiled once per instruction set and gives the same
 * bits in every lane of each. Which set it becomes follows from the compiler's target flags:
 *
 *   AVX-512 (F, DQ, BW, VL)   16 lanes   simd_avx512.h
 *   AVX2 and FMA               8 lanes   simd_avx2.h
 *   NEON on aarch64            4 lanes   simd_neon.h
 *   anything GCC or clang      4 lanes   simd_generic.h   (SSE2, wasm, ...; fma in software if need be)
 *   TN_SIMD_SCALAR defined     1 lane    simd_scalar.h    (plain C17; what the others are measured by)
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
 *            vf_load_part(p, n)                  0 <= n <= TN_LANES elements, further lanes 0; memory behind
 *            vf_store_part(p, v, n)              the n-th is neither read nor written; vi_ likewise
 * Bits       vf_as_int(v) vi_as_float(v)         the same 32 bits, read the other way
 *            vi_add vi_sub vi_mul                wrap
 *            vi_and vi_or vi_xor
 *            vi_shl(v, k) vi_shr(v, k) vi_sar(v, k)   0 <= k <= 31; shr brings in zeros, sar the sign
 * Floats     vf_fma(a, b, c)                     a*b + c, one rounding
 *            vf_fnma(a, b, c)                    c - a*b, one rounding
 *            vf_sqrt(v) vf_abs(v)
 *            vf_at_most(v, c)                    c < v ? c : v, so a NaN in v stays
 *            vf_at_least(v, c)                   c > v ? c : v, likewise
 *            vf_min(a, b) vf_max(a, b)           -0 counts below +0; NaN, canonical, if either is NaN
 *            vf_round_even vf_floor vf_ceil vf_trunc   whole numbers; the sign of zero is that of v
 *            vf_canonical(v)                     a NaN becomes the one with bits 0x7fc00000
 *            vf_sign(v)                          the sign bit alone, for vf_with_sign
 *            vf_with_sign(v, s)                  v with the sign bits of s added (or); v must not be negative
 *            vf_flip_sign(v, s)                  v with its sign changed where s has the sign bit (xor)
 *            vf_pow2(n)                          2^n for whole n, -126 <= n <= 127
 *            vf_scale(v, n)                      v * 2^n, one rounding; 0.25 <= |v| <= 4, whole |n| <= 200
 * Conversion vf_from_int(v)                      rounded to nearest even
 *            vf_to_int(v)                        truncated; saturates; NaN gives 0
 *            vf_to_int_near(v)                   v whole (or known to be near), |v| < 2^22
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
#include "base/simd_scalar.h"
#elif defined(TN_SIMD_GENERIC)
#include "base/simd_generic.h"
#elif defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#include "base/simd_avx512.h"
#elif defined(__AVX2__) && defined(__FMA__)
#include "base/simd_avx2.h"
#elif defined(__aarch64__) && defined(__ARM_NEON)
#include "base/simd_neon.h"
#else
#include "base/simd_generic.h"
#endif

/* --- what is the same everywhere ----------------------------------------------------------------- */

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
#endif
