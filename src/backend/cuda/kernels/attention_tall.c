/* backend/cuda/kernels/attention_tall.c: attention by bands of 64 queries: rows of up to 256 keys. */
#include "backend/cuda/kernels/attention.h"

#define TYPE float
#define OF(name) name##_f32
#include "backend/cuda/kernels/lanes.inc.h"
#undef OF

#if defined(__NVPTX__)
__asm__("// bounds card_kernel_attention_tall 128 2");
__asm__("// bounds card_kernel_attention_queries_tall 128 2");
#endif

#define ROWS CARD_ATTENTION_TALL
#define OF(name) name##_tall
#include "backend/cuda/kernels/attention.inc.h"
