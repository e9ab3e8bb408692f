/* backend/cuda/kernels/matmul_64x128.c: matmul of f32 by tiles of 64 x 128. */
#include "backend/cuda/kernels/product.h"

#define MOST
#define TILE 64x128
#include "backend/cuda/kernels/ways.inc.h"
