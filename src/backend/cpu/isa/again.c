/* backend/cpu/isa/again.c: the f64 functions of base/, compiled once more.
 *
 * base/ is compiled for every machine of its kind, where an fma may have to be
 * put together from many instructions. With an instruction set that has one the
 * same sources are several times faster; their bits are the same, because an
 * fma is exact either way. isa.h gives them their names here. */
#include "backend/cpu/isa/isa.h"

#if TN_CPU_F64_AGAIN
#include "base/elementary_f64.c"
#endif
