/* backend/cpu/isa/element.h: every elementwise operation on a vector of f32.
 *
 * Row ID of op/elementwise.def becomes vf_of_ID, with the words of base/simd.h for those of its formula.
 * What it leaves may be any NaN where the row says LOOSE. */
#ifndef TN_BACKEND_CPU_ELEMENT_H
#define TN_BACKEND_CPU_ELEMENT_H

#include "backend/cpu/isa/isa.h"
#include "base/elementary.inc.h"
#include "op/element.h"

/* ---- words that base/simd.h calls by other names, or lacks ---- */
static inline VF vf_number(double number) { return vf_set((float)number); }
static inline VF vf_minimum(VF x, VF y) { return vf_min(x, y); }
static inline VF vf_maximum(VF x, VF y) { return vf_max(x, y); }
static inline VM vf_and(VM x, VM y) { return vm_and(x, y); }
static inline VM vf_or(VM x, VM y) { return vm_or(x, y); }
static inline VM vf_not(VM x) { return vm_not(x); }

static inline VF vf_rem(VF x, VF y) {
  float a[TN_LANES], b[TN_LANES];
  vf_store(a, x), vf_store(b, y);
  for (int i = 0; i < TN_LANES; i++) a[i] = fmodf(a[i], b[i]);
  return vf_load(a);
}

/* ---- the functions ---- */
#define VECTOR_UNARY(ID, REAL)  static inline VF vf_of_##ID(VF x) { return REAL; }
#define VECTOR_BINARY(ID, REAL) static inline VF vf_of_##ID(VF x, VF y) { return REAL; }
#define VECTOR_COMPARE(ID, REAL) /* gives bytes, which the compiler makes of a loop */
#define TN_ELEMENT(ID, KIND, DTYPES, NAME, DOC, REAL, ...) TN_IF_REAL_##DTYPES(VECTOR_##KIND(ID, REAL))
#define E_CALL(name)                                       vf_##name
#include "op/words_real.inc"

#include "op/elementwise.def"
#endif
