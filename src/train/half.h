/* train/half.h: a graph with its plan; a step is made of one or two of them.
 *
 * Without shards a step is one graph: forward, gradients, update. With shards it is two: the gradients of one
 * shard, run for each (shards.h), and the update, run once. */
#ifndef TN_TRAIN_HALF_H
#define TN_TRAIN_HALF_H

#include "ad/ad.h"
#include "train/trainer.h"

typedef struct {
  tn_graph graph;
  tn_plan *plan;
  int *shown; /* by value, the output that shows it; 0: none. NULL: nothing is shown */
} tn_half;

void tn_half_free(tn_half *half);
/* The gradients of a loss with respect to every parameter of the graph; TN_NO_VALUE where none
 * reaches it. */
bool tn_half_gradients(tn_graph_builder *builder, tn_value loss, tn_value *grads);
/* The input of this name; -1: there is none. */
int tn_half_input(const tn_half *half, const char *name);
/* Makes every value that is computed in each run an output. */
bool tn_half_show_all(tn_half *half, tn_arena *arena);
/* The first tensor that holds a NaN or an infinity, or `count`; as fast as memory is read. */
int tn_first_not_finite(tn_pool *pool, const tn_tensor *tensors, int count);
/* After a run: the first operation that produced a NaN or infinity from finite operands. False:
 * there is none, or nothing is shown. */
bool tn_half_find_not_finite(const tn_half *half, tn_not_finite *out);
#endif
