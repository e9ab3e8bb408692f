/* backend/cuda/kernels/ways.inc.h: the kernels of TILE for each way that operands lie: four rows or columns
 * side by side (r), or steps of k side by side (a). With MOST there is none for (a) twice. */
#define INSIDE 1

#define WAY     _rr
#define X_STEPS 0
#define Y_STEPS 0
#include "backend/cuda/kernels/one_way.inc.h"
#define WAY     _ra
#define X_STEPS 0
#define Y_STEPS 1
#include "backend/cuda/kernels/one_way.inc.h"
#define WAY     _ar
#define X_STEPS 1
#define Y_STEPS 0
#include "backend/cuda/kernels/one_way.inc.h"
#if !defined(MOST)
#define WAY     _aa
#define X_STEPS 1
#define Y_STEPS 1
#include "backend/cuda/kernels/one_way.inc.h"
#endif

#undef INSIDE
#undef TILE
