/* backend/cuda/kernels/matmul_64x64.c: products of middling matrices of f32. */
#include "backend/cuda/kernels/product.h"

#define TILE 64x64
#include "backend/cuda/kernels/ways.inc.h"
