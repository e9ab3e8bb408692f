/* backend/cuda/kernels/matmul_16x16.c: matmul of f32 by tiles of 16 x 16. */
#include "backend/cuda/kernels/product.h"

#define TILE 16x16
#include "backend/cuda/kernels/ways.inc.h"
