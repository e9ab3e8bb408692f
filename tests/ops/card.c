/* Every operation of the table on a GPU that the host emulates (tests/gpu): the bits of ref. The cases are
 * those of ops/kernels. */
#define TN_EMULATED_CARD 1
#include "kernels.c"
