/* backend/cpu/isa/again_trig.c: as again.c, for sine, cosine and functions that use them. */
#include "backend/cpu/isa/isa.h"

#if TN_CPU_F64_AGAIN
#include "base/elementary_trig.c"
#include "base/rng_normal.c"
#endif
