/* backend/cuda/kernels/any_way.inc.h: the kernel of TILE for operands that lie in any way, and for matrices
 * that have less than a tile. IN_LINES: shared memory holds steps of k side by side, so that a thread with
 * one chain or a few reads several steps at once. */
#define INSIDE 0
#define X_STEPS 0
#define Y_STEPS 0
#define WAY
#define X_KIND a->x_kind
#define Y_KIND a->y_kind
#include "backend/cuda/kernels/tile.inc.h"
#undef INSIDE
#undef X_STEPS
#undef Y_STEPS
#undef TILE
