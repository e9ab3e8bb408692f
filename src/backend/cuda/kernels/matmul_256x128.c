/* backend/cuda/kernels/matmul_256x128.c: products of large matrices of f32. */
#include "backend/cuda/kernels/product.h"

#define TILE 256x128
#include "backend/cuda/kernels/ways.inc.h"
