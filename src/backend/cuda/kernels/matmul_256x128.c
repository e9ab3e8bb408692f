/* backend/cuda/kernels/matmul_256x128.c: matmul of f32 by tiles of 256 x 128. */
#include "backend/cuda/kernels/product.h"

#define TILE 256x128
#include "backend/cuda/kernels/ways.inc.h"
