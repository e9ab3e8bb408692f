/* backend/cuda/kernels/matmul_128x64.c: matmul of f32 by tiles of 128 x 64. */
#include "backend/cuda/kernels/product.h"

#define TILE 128x64
#include "backend/cuda/kernels/ways.inc.h"
