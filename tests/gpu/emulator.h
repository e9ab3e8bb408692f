/* tests/gpu/emulator.h: the host plays a card.
 *
 * A kernel runs thread by thread. Where a thread waits, for a barrier or for the other lanes of its warp,
 * the next one runs: threads are coroutines. Warps take their turns in an order that changes with every
 * block, and each goes on for as long as it can; so what is not kept apart by a barrier is found in an order
 * that a kernel did not expect. Memory that a block shares holds noise when the block begins. */
#ifndef TN_TESTS_GPU_EMULATOR_H
#define TN_TESTS_GPU_EMULATOR_H

#include "backend/cuda/queue.h"

/* A queue that carries out at once. The fault and the shift are the host's own. */
typedef struct {
  tn_card_queue queue;
  card_fault fault;
  uint64_t shift;
  int launches[TN_CARD_COUNT];   /* of each kernel */
} emulated_card;
void emulated_card_init(emulated_card *card);

/* The kernels of the table on such a card: ordinary kernels, which return when all is done. */
const tn_backend *emulated_backend(void);
#endif
