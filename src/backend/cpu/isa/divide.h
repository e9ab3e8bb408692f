/* backend/cpu/isa/divide.h: divides many numbers by one divisor.
 *
 * That needs one division: with y = 1/d rounded correctly, q = e y is nearly e/d, the remainder e - q d is
 * exact in an fma, and adding (e - q d) y to a q that is within one unit in the last place gives the
 * correctly rounded quotient (Markstein). q gets there by a first such step. The proof wants all quantities
 * well inside the normal range, and the remainder, of the size of e 2^-48, no smaller than the
 * least denormal; other numbers use an ordinary division. */
#ifndef TN_BACKEND_CPU_DIVIDE_H
#define TN_BACKEND_CPU_DIVIDE_H

#include "backend/cpu/isa/isa.h"

/* e / divisor, where inverse is 1 / divisor; of e = -0 it is +0. */
static inline VF tn_quotient(VF e, VF divisor, VF inverse) {
  VF q = e * inverse;
  q = vf_fma(vf_fnma(q, divisor, e), inverse, q);
  return vf_fma(vf_fnma(q, divisor, e), inverse, q);
}
#endif
