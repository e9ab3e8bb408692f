/* backend/cuda/kernels/attention_flat.c: attention by bands of 16 queries: rows of more keys. */
#include "backend/cuda/kernels/attention.h"

#define TYPE float
#define OF(name) name##_f32
#include "backend/cuda/kernels/lanes.inc.h"
#undef OF

#if defined(__NVPTX__)
__asm__("// bounds card_kernel_attention_flat 128 2");
__asm__("// bounds card_kernel_attention_queries_flat 128 2");
#endif

#define ROWS CARD_ATTENTION_FLAT
#define OF(name) name##_flat
#include "backend/cuda/kernels/attention.inc.h"
