/* train/kept.h: a KV cache: the next position of a window, without recomputing earlier ones.
 *
 * Keys and values of earlier positions are kept (opt/places.c). A step computes
 * one position, with the same bits as in the whole window. */
#ifndef TN_TRAIN_KEPT_H
#define TN_TRAIN_KEPT_H

#include "train/trained.h"

typedef struct {
  tn_one_place derived;
  tn_plan *plan;         /* NULL: the whole window is computed every time */
  tn_tensor token;       /* the sequence at the place */
  tn_tensor number;      /* of the place */
  tn_tensor *values;     /* what is kept; from the arena */
  tn_resident *resident; /* where that lives on a card; NULL: on the host */
  size_t places;         /* how many places are kept */
} tn_kept;

/* Converts the graph of a window to one position, if that is possible, and adds the values to cache
 * as further outputs of the window's graph. Otherwise nothing changes. False after reporting. */
bool tn_kept_derive(tn_kept *kept, tn_trained *trained, tn_graph *graph, size_t sequence);
/* Makes the plan. `inputs` are those of the window; of the sequence only the dtype counts. */
bool tn_kept_plan(tn_kept *kept, tn_trained *trained, const tn_tensor *inputs, size_t sequence);
void tn_kept_free(tn_kept *kept, tn_heap *heap);

/* Fills the cache with the values of the window's first positions. */
void tn_kept_fill(tn_kept *kept, const tn_plan *window, size_t places);
/* Computes the position after the cached ones; output 0 of the plan is its result. False after
 * reporting. */
bool tn_kept_step(tn_kept *kept, const tn_trained *trained, int32_t token);
#endif
