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

/* Looks how the graph of a window gets along with one place, and lets it give what is kept as well: those
 * outputs follow its own. Where it cannot, nothing changes. False after reporting. */
bool tn_kept_derive(tn_kept *kept, tn_trained *trained, tn_graph *graph, size_t sequence);
/* Makes the plan. `inputs` are those of the window; of the sequence only the dtype counts. */
bool tn_kept_plan(tn_kept *kept, tn_trained *trained, const tn_tensor *inputs, size_t sequence);
void tn_kept_free(tn_kept *kept, tn_heap *heap);

/* Takes what the window's plan has left of its first places. */
void tn_kept_fill(tn_kept *kept, const tn_plan *window, size_t places);
/* The place after those that are kept; then output 0 of the plan has its answer. False after reporting. */
bool tn_kept_step(tn_kept *kept, const tn_trained *trained, int32_t token);
#endif
