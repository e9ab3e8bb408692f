/* backend/cuda/kernels/matmul_128x128.c: matmul of f32 by tiles of 128 x 128. */
#include "backend/cuda/kernels/product.h"

#define MOST
#define TILE 128x128
#include "backend/cuda/kernels/ways.inc.h"
