/* backend/cuda/resident.h: tensors of the host that live on a card.
 *
 * Parameters and the state of an optimiser have their places on the host and on the card. Both places hold
 * the same, or one of them is newer; the writer says which. Plans that are bound to the host's
 * place use the card's (plan/card.c), so nothing is copied during a training. */
#ifndef TN_BACKEND_CUDA_RESIDENT_H
#define TN_BACKEND_CUDA_RESIDENT_H

#include "backend/cuda/card.h"
#include "tensor/tensor.h"

typedef struct tn_resident tn_resident;

/* Contiguous tensors, which stay where they are as long as this lives: it is freed before them. The host's
 * values count. NULL: the host or the card has no memory left, or has failed. */
tn_resident *tn_resident_new(tn_heap *heap, tn_card *card, const tn_tensor *tensors, int count);
void tn_resident_free(tn_resident *resident);   /* NULL is fine */
tn_card *tn_resident_card(const tn_resident *resident);
/* The host's values count from now on; or the card's do. */
void tn_resident_wrote(tn_resident *resident);
void tn_resident_computed(tn_resident *resident);
/* The host has the values that count. False when the card has failed: then it has those of the last time. */
bool tn_resident_fetch(tn_resident *resident);
/* Keeps all values as they are now, on the card; then gives them back. False when the card has failed or has
 * no memory left. */
bool tn_resident_keep(tn_resident *resident);
bool tn_resident_return(tn_resident *resident);

/* Where memory of the host lives on the card; NULL: nowhere. */
void *tn_card_find_resident(tn_card *card, const void *host);
/* Sends what hosts have written. */
bool tn_card_settle(tn_card *card);
/* The card's list of them. */
tn_resident **tn_card_residents(tn_card *card);
#endif
