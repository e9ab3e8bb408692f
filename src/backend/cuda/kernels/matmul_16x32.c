/* backend/cuda/kernels/matmul_16x32.c: matmul of f32 by tiles of 16 x 32. */
#include "backend/cuda/kernels/product.h"

#define TILE 16x32
#include "backend/cuda/kernels/ways.inc.h"
