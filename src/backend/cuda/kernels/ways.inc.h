/* backend/cuda/kernels/ways.inc.h: the kernels of TILE for each way that operands lie: four rows or columns
 * side by side (r), or steps of k side by side (a). With MOST there is none for (a) twice. */
#define INSIDE 1

#define WAY    _rr
#define X_KIND CARD_RUNS
#define Y_KIND CARD_RUNS
#include "backend/cuda/kernels/tile.inc.h"
#define WAY    _ra
#define X_KIND CARD_RUNS
#define Y_KIND CARD_LINES
#include "backend/cuda/kernels/tile.inc.h"
#define WAY    _ar
#define X_KIND CARD_LINES
#define Y_KIND CARD_RUNS
#include "backend/cuda/kernels/tile.inc.h"
#if !defined(MOST)
#define WAY    _aa
#define X_KIND CARD_LINES
#define Y_KIND CARD_LINES
#include "backend/cuda/kernels/tile.inc.h"
#endif

#undef INSIDE
#undef TILE
