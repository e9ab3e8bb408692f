/* backend/cuda/kernels/matmul_128x64.c: products of matrices of f32. */
#include "backend/cuda/kernels/product.h"

#define TILE 128x64
#include "backend/cuda/kernels/ways.inc.h"
