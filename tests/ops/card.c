/* Every operation of the table on a card that the host plays (tests/gpu): the bits of ref. The cases are
 * those of ops/kernels. */
#define TN_EMULATED_CARD 1
#include "kernels.c"
