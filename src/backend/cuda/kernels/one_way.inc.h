/* backend/cuda/kernels/one_way.inc.h: the kernel of TILE for operands that lie as X_LINES and Y_LINES say. */
#define X_KIND (X_LINES ? CARD_LINES : CARD_RUNS)
#define Y_KIND (Y_LINES ? CARD_LINES : CARD_RUNS)
#include "backend/cuda/kernels/tile.inc.h"
#undef X_LINES
#undef Y_LINES
