/* backend/cpu/isa/divide.h: divides many numbers by one divisor.
 *
 * That needs one division: with y = 1/d rounded correctly, q = e y is nearly e/d, and q + (e - q d) y,
 * rounded once, is the correctly rounded quotient. For e and d in [1, 2), and u the last place of q: q is
 * within 1.5 u of e/d where that is below 1, and within u from 1 on. In the first case the remainder e - q d
 * may have been rounded, by 2^-47 at most. So what is rounded last differs from e/d by (e - q d) (y - 1/d)
 * and at most 2^-47/d, and a midpoint m of two floats between them has |e - m d| of at most five times 2^-48,
 * the least that it can be; in the second case, of twice 2^-47. tests/unit/quotient.c tries all e and d that
 * have a midpoint so near. This wants quantities well inside the normal range, and the remainder, of the size
 * of e 2^-48, no smaller than the least denormal; other numbers use an ordinary division.
 */
#ifndef TN_BACKEND_CPU_DIVIDE_H
#define TN_BACKEND_CPU_DIVIDE_H

#include "backend/cpu/isa/isa.h"

/* e / divisor, where inverse is 1 / divisor; of e = -0 it is +0. */
static inline VF tn_quotient(VF e, VF divisor, VF inverse) {
  VF q = e * inverse;
  return vf_fma(vf_fnma(q, divisor, e), inverse, q);
}
#endif
