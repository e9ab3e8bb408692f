/* backend/cuda/kernels/four.h: four floats of a thread: one load or store where all of them are there. */
#ifndef TN_BACKEND_CUDA_KERNELS_FOUR_H
#define TN_BACKEND_CUDA_KERNELS_FOUR_H

#include "backend/cuda/kernels/words.h"

typedef struct {
  float of[4];
} card_four;

CARD_INLINE card_four card_four_of(card_run x) { return (card_four){ { x[0], x[1], x[2], x[3] } }; }
CARD_INLINE card_run card_run_of(card_four x) { return (card_run){ x.of[0], x.of[1], x.of[2], x.of[3] }; }

/* The first of four that are there, and 0 for the others. */
CARD_INLINE card_four card_read_four(const char *at, int64_t count) {
  if (count >= 4) {
    card_run run = *(const card_run *)(const void *)at;
    return (card_four){ { card_here(run[0]), card_here(run[1]), card_here(run[2]), card_here(run[3]) } };
  }
  card_four x = { { 0 } };
  CARD_UNROLL
  for (int i = 0; i < 3; i++)
    if (i < count) x.of[i] = *(const float *)(const void *)(at + 4 * i);
  return x;
}

CARD_INLINE void card_give_four(char *at, int64_t count, card_four x) {
  if (count >= 4) {
    *(card_run *)(void *)at = card_run_of(x);
    return;
  }
  CARD_UNROLL
  for (int i = 0; i < 3; i++)
    if (i < count) *(float *)(void *)(at + 4 * i) = x.of[i];
}
#endif
