/* backend/cpu/isa/again.c: compiles the f64 functions of base/ for this instruction set.
 *
 * base/ is compiled for the baseline of the architecture, where an fma may need many instructions.
 * With an instruction set that has one the same sources are several times faster; the bits are the
 * same, because an fma is exact either way. isa.h renames them here. */
#include "backend/cpu/isa/isa.h"

#if TN_CPU_F64_AGAIN
#include "base/elementary_f64.c"
#endif
