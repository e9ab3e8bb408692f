/* backend/cuda/resident.h: tensors of the host with a copy on a card.
 *
 * Parameters and optimiser state have a place on the host and one on the card. Both hold the same values, or
 * one is newer; the writer says which. Plans bound to the host's place use the card's (plan/card.c), so
 * training copies nothing. */
#ifndef TN_BACKEND_CUDA_RESIDENT_H
#define TN_BACKEND_CUDA_RESIDENT_H

#include "backend/cuda/card.h"
#include "tensor/tensor.h"

typedef struct tn_resident tn_resident;

/* The tensors are contiguous, do not move, and outlive this. The host's values are current. NULL: out of
 * memory on the host or the card, or the card has failed. */
tn_resident *tn_resident_new(tn_heap *heap, tn_card *card, const tn_tensor *tensors, int count);
void tn_resident_free(tn_resident *resident);   /* NULL is fine */
tn_card *tn_resident_card(const tn_resident *resident);
/* Says that the host's values are current from now on; or the card's. */
void tn_resident_wrote(tn_resident *resident);
void tn_resident_computed(tn_resident *resident);
/* Copies current values to the host. False when the card has failed: the host then keeps its old values. */
bool tn_resident_fetch(tn_resident *resident);
/* `keep` saves all current values on the card; `return` restores them. False when the card has failed or is
 * out of memory. */
bool tn_resident_keep(tn_resident *resident);
bool tn_resident_return(tn_resident *resident);

/* The copy on the card of this host memory, or NULL. */
void *tn_card_find_resident(tn_card *card, const void *host);
/* Sends values that are newer on the host. */
bool tn_card_settle(tn_card *card);
/* The head of the card's list. */
tn_resident **tn_card_residents(tn_card *card);
#endif
