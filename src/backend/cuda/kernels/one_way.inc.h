/* backend/cuda/kernels/one_way.inc.h: the kernel of TILE for operands whose steps of k lie side by side
 * (X_STEPS, Y_STEPS: 1), or four rows or columns. */
#define X_KIND (!X_STEPS ? CARD_RUNS : X_TURNED ? CARD_ALONG : CARD_LINES)
#define Y_KIND (!Y_STEPS ? CARD_RUNS : Y_TURNED ? CARD_ALONG : CARD_LINES)
#include "backend/cuda/kernels/tile.inc.h"
#undef X_STEPS
#undef Y_STEPS
