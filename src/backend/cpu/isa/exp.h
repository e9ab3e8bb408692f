/* backend/cpu/isa/exp.h: exp of several vectors at a time.
 *
 * The operations are those of vf_exp in base/elementary.inc.h, one by one, so the bits are too; only the
 * look for NaN and for numbers out of range is the caller's, who may ask once for many. One vector alone is
 * a chain of operations each of which waits for the one before; a processor that sees a hundred
 * instructions at a time sees too few such chains to be busy. So the vectors go through each operation
 * together. */
#ifndef TN_BACKEND_CPU_EXP_H
#define TN_BACKEND_CPU_EXP_H

#include "backend/cpu/isa/isa.h"

#define TN_EXP_ABREAST 4

#define K(constant) vf_set(constant)
#define EACH(k)     for (int k = 0; k < count; k++)

/* Up to TN_EXP_ABREAST vectors of numbers between -104 and 104; the results take their place. */
TN_ALWAYS_INLINE void tn_exp_abreast(VF *x, int count) {
  VF n[TN_EXP_ABREAST], r[TN_EXP_ABREAST], low[TN_EXP_ABREAST];
  VF sum[TN_EXP_ABREAST], square[TN_EXP_ABREAST], p[TN_EXP_ABREAST], inner[TN_EXP_ABREAST];
  const float round = 0x1.8p23f; /* adding it leaves no bits for a fraction */
  EACH(k) n[k] = vf_fma(x[k], K(0x1.715476p+0f), K(round));
  EACH(k) n[k] = n[k] - K(round);
  EACH(k) r[k] = vf_fnma(n[k], K(0x1.62e430p-1f), x[k]);
  EACH(k) low[k] = n[k] * K(0x1.05c610p-29f);
  EACH(k) sum[k] = r[k] + low[k];
  EACH(k) square[k] = sum[k] * sum[k];

  EACH(k) p[k] = vf_fma(K(0x1.6d3b14p-10f), sum[k], K(0x1.11102p-7f));
  EACH(k) inner[k] = vf_fma(K(0x1.5554f8p-5f), sum[k], K(0x1.555556p-3f));
  EACH(k) p[k] = vf_fma(K(0x1.a207f6p-13f), square[k], p[k]);
  EACH(k) p[k] = vf_fma(p[k], square[k], inner[k]);
  EACH(k) p[k] = vf_fma(p[k], sum[k], K(0.5f));
  EACH(k) p[k] = vf_fma(square[k], p[k], low[k]);

  EACH(k) x[k] = K(1.0f) + r[k];
  EACH(k) p[k] = ((K(1.0f) - x[k]) + r[k]) + p[k];
  EACH(k) x[k] = x[k] + p[k];
  EACH(k) x[k] = vf_scale(x[k], n[k]);
}

#undef K
#undef EACH
#endif
