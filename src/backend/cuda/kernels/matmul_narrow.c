/* backend/cuda/kernels/matmul_narrow.c: matmul of f32 with few results, as the last layer of a classifier
 * has. A thread has one chain: what counts is the time from one fma to the next. */
#include "backend/cuda/kernels/product.h"

#define IN_LINES
#define TILE any8x16
#include "backend/cuda/kernels/any_way.inc.h"
