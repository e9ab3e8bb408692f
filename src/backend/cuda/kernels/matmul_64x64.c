/* backend/cuda/kernels/matmul_64x64.c: matmul of f32 by tiles of 64 x 64. */
#include "backend/cuda/kernels/product.h"

#define TILE 64x64
#include "backend/cuda/kernels/ways.inc.h"
