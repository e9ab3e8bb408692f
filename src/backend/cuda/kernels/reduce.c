/* backend/cuda/kernels/reduce.c: sums and their kin, in the order of docs/numerics.md.
 *
 * Chunks of 512 go to half warps (or, where rows lie side by side, to threads); what they leave is joined in
 * groups of CARD_GROUP neighbours until one is left. A group of a power of two is a whole part of the tree,
 * so joining by groups is joining by the tree. */
#include "backend/cuda/kernels/types.h"

CARD_SHARED float shared_chunks_f32[CARD_GROUP];
CARD_SHARED double shared_chunks_f64[CARD_GROUP];
CARD_SHARED int32_t shared_chunks_i32[CARD_GROUP];
CARD_SHARED int64_t shared_chunks_i64[CARD_GROUP];
CARD_SHARED int64_t shared_places[CARD_BLOCK];

#define TYPE float
#define OF(name) name##_f32
#include "backend/cuda/kernels/reduce.inc.h"
#undef TYPE
#undef OF
#define TYPE double
#define OF(name) name##_f64
#include "backend/cuda/kernels/reduce.inc.h"
#undef TYPE
#undef OF
#define TYPE int32_t
#define OF(name) name##_i32
#include "backend/cuda/kernels/reduce.inc.h"
#undef TYPE
#undef OF
#define TYPE int64_t
#define OF(name) name##_i64
#include "backend/cuda/kernels/reduce.inc.h"
