/* train/indices.h: which inputs of a graph are indices, and of how many rows. */
#ifndef TN_TRAIN_INDICES_H
#define TN_TRAIN_INDICES_H

#include "graph/graph.h"

/* By value: whether `from` needs it outside of branches. From the arena; NULL when memory runs out. */
bool *tn_graph_needed(const tn_graph *graph, tn_value from, tn_arena *arena);

/* Calls `visit` for every input that a needed node uses as an index below `limit`. False: a visit did. */
typedef bool (*tn_index_visit)(void *context, const tn_node *node, int64_t limit, size_t input);
bool tn_indices_visit(const tn_graph *graph, const bool *needed, size_t input_count, tn_index_visit visit,
                      void *context);
#endif
