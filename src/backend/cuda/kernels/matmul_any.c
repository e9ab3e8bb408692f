/* backend/cuda/kernels/matmul_any.c: matmul of f32, of small matrices and unusual strides. */
#include "backend/cuda/kernels/product.h"

#define TILE any64x64
#include "backend/cuda/kernels/any_way.inc.h"
#define TILE any32x32
#include "backend/cuda/kernels/any_way.inc.h"
#define TILE any16x32
#include "backend/cuda/kernels/any_way.inc.h"
