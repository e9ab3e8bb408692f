/* backend/cuda/kernels/matmul_128x128.c: products of large matrices of f32. */
#include "backend/cuda/kernels/product.h"

#define TILE 128x128
#include "backend/cuda/kernels/ways.inc.h"
