/* backend/cuda/kernels/matmul_64x32.c: products of small matrices of f32. */
#include "backend/cuda/kernels/product.h"

#define TILE 64x32
#include "backend/cuda/kernels/ways.inc.h"
