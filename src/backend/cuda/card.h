/* backend/cuda/card.h: a card of this machine: what it is, its memory, its queue. */
#ifndef TN_BACKEND_CUDA_CARD_H
#define TN_BACKEND_CUDA_CARD_H

#include "backend/cuda/queue.h"
#include "base/heap.h"

#define TN_CARD_LIMIT 16

typedef struct {
  char name[128];
  size_t bytes;            /* of memory */
  int major, minor;        /* compute capability */
  int multiprocessors;
  bool usable;             /* new enough for the kernels of this build */
} tn_card_info;
/* The cards of this machine, at most TN_CARD_LIMIT; how many. *why says why there is none. */
int tn_card_list(tn_card_info *cards, const char **why);

typedef struct tn_card tn_card;
/* NULL with *why, which stays valid. */
tn_card *tn_card_open(tn_heap *heap, int index, const char **why);
void tn_card_close(tn_card *card);   /* NULL is fine */
const tn_card_info *tn_card_info_of(const tn_card *card);
/* Where kernels go; for tn_kernel_call.queue. */
tn_card_queue *tn_card_queue_of(tn_card *card);

/* NULL when the card has no memory left, or has failed. */
void *tn_card_allocate(tn_card *card, size_t bytes);
void tn_card_release(tn_card *card, void *memory);   /* NULL is fine */
/* Between the host and the card, in the order of the queue. `put` may still read `from` until the next
 * tn_card_finish; `get` has written `to` after it. False when the card has failed. */
bool tn_card_put(tn_card *card, void *to, const void *from, size_t bytes);
bool tn_card_get(tn_card *card, void *to, const void *from, size_t bytes);
/* What draws of random words skip from here on. */
bool tn_card_shift_draws(tn_card *card, uint64_t words);

/* Waits for all that was queued. False with the fault: one that kernels have found, whose step is *step, or a
 * card that has failed (TN_FAULT_INTERNAL with a reason). The queue is fresh afterwards. */
bool tn_card_finish(tn_card *card, tn_fault *fault, int64_t *step);
/* Why the card has failed; NULL: it has not. */
const char *tn_card_failure(const tn_card *card);
#endif
