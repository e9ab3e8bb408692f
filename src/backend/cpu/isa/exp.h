/* backend/cpu/isa/exp.h: exp of several vectors at a time.
 *
 * The operations are those of vf_exp in base/elementary.inc.h, one by one, so the bits are equal. One
 * vector alone is a dependent chain of operations, and a processor's window of a few hundred
 * instructions holds too few such chains to stay busy. So several vectors advance together, operation
 * by operation. What happens to few numbers is checked once for all of them: whether one is NaN or out
 * of range, or has a denormal result, which takes more operations to scale. */
#ifndef TN_BACKEND_CPU_EXP_H
#define TN_BACKEND_CPU_EXP_H

#include "backend/cpu/isa/element.h"

#define TN_EXP_ABREAST 4
#define TN_EXP_NORMAL  87.0f /* up to this size of x, exp(x) is neither denormal nor infinite */

#define K(constant) vf_set(constant)
#define EACH(k)     for (int k = 0; k < count; k++)

/* Up to TN_EXP_ABREAST vectors of numbers between -104 and 104; the results take their place. If all are
 * known to be normal, n is added to their exponents, where the processor has no instruction to scale. */
TN_ALWAYS_INLINE void tn_exp_abreast(VF *x, int count, bool normal) {
  VF shifted[TN_EXP_ABREAST], n[TN_EXP_ABREAST], r[TN_EXP_ABREAST], p[TN_EXP_ABREAST];
  const float round = 0x1.8p23f; /* adding it leaves no bits for a fraction */
  EACH(k) shifted[k] = vf_fma(x[k], K(0x1.715476p+0f), K(round));
  EACH(k) n[k] = shifted[k] - K(round);
  EACH(k) r[k] = vf_fnma(n[k], K(0x1.62e430p-1f), x[k]);
  EACH(k) r[k] = vf_fma(n[k], K(0x1.05c610p-29f), r[k]);

  EACH(k) p[k] = vf_fma(K(0x1.6ac146p-10f), r[k], K(0x1.123da6p-7f));
  EACH(k) p[k] = vf_fma(p[k], r[k], K(0x1.555858p-5f));
  EACH(k) p[k] = vf_fma(p[k], r[k], K(0x1.55548cp-3f));
  EACH(k) p[k] = vf_fma(p[k], r[k], K(0x1.fffffcp-2f));
  EACH(k) p[k] = vf_fma(p[k], r[k], K(1.0f));
  EACH(k) p[k] = vf_fma(p[k], r[k], K(1.0f));
#ifdef TN_SIMD_SCALE
  normal = false;
#endif
  if (normal) EACH(k) x[k] = vi_as_float(vi_add(vf_as_int(p[k]), vi_shl(vf_as_int(shifted[k]), 23)));
  else EACH(k) x[k] = vf_scale(p[k], n[k]);
}

/* The same of any numbers. Where the sum of squares is small enough, none of them is out of range or NaN. */
TN_ALWAYS_INLINE void tn_exp_any(VF *x, int count) {
#if TN_FMA_IN_HARDWARE
  VF squares = x[0] * x[0];
  for (int k = 1; k < count; k++) squares = vf_fma(x[k], x[k], squares);
  if (TN_LIKELY(vm_all(vf_le(squares, K(TN_EXP_NORMAL * TN_EXP_NORMAL))))) {
    tn_exp_abreast(x, count, true);
    return;
  }
#endif
  EACH(k) x[k] = vf_exp(x[k]);
}

#undef K
#undef EACH
#endif
