/* backend/cuda/kernels/matmul_64x32.c: matmul of f32 by tiles of 64 x 32. */
#include "backend/cuda/kernels/product.h"

#define TILE 64x32
#include "backend/cuda/kernels/ways.inc.h"
