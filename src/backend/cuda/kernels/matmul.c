/* backend/cuda/kernels/matmul.c: matmul of f64 and of integers; tile.inc.h has that of f32.
 *
 * The chain of an element is never cut: a thread keeps it in a register from k = 0 to the end. */
#include "backend/cuda/kernels/types.h"

#define TILE 64
#define DEPTH 16

CARD_SHARED double x_tile_f64[DEPTH][TILE + 1], y_tile_f64[DEPTH][TILE];
CARD_SHARED int32_t x_tile_i32[DEPTH][TILE + 1], y_tile_i32[DEPTH][TILE];
CARD_SHARED int64_t x_tile_i64[DEPTH][TILE + 1], y_tile_i64[DEPTH][TILE];

#define TYPE double
#define OF(name) name##_f64
#include "backend/cuda/kernels/matmul.inc.h"
#undef TYPE
#undef OF
#define TYPE int32_t
#define OF(name) name##_i32
#include "backend/cuda/kernels/matmul.inc.h"
#undef TYPE
#undef OF
#define TYPE int64_t
#define OF(name) name##_i64
#include "backend/cuda/kernels/matmul.inc.h"
