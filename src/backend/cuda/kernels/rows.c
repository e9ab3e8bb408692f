/* backend/cuda/kernels/rows.c: softmax, log_softmax, layer_norm with its gradient, and cross
 * entropy, row by row. */
#include "backend/cuda/kernels/types.h"

CARD_SHARED float shared_best_f32[CARD_BLOCK], shared_partial_f32[CARD_CHUNK];
CARD_SHARED double shared_best_f64[CARD_BLOCK], shared_partial_f64[CARD_CHUNK];

#define TYPE float
#define OF(name) name##_f32
#include "backend/cuda/kernels/rows.inc.h"
#undef TYPE
#undef OF
#define TYPE double
#define OF(name) name##_f64
#include "backend/cuda/kernels/rows.inc.h"
