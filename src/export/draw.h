/* export/draw.h: random numbers of a graph, for formats without tern's generator. */
#ifndef TN_EXPORT_DRAW_H
#define TN_EXPORT_DRAW_H

#include "base/rng.h"
#include "graph/graph.h"

/* tn_rng_uniform or tn_rng_normal. */
typedef float (*tn_draw)(tn_rng *rng);

/* Whether the numbers of a `uniform` or `normal` node are known: its shape and key are constants. */
bool tn_export_can_draw(const tn_graph *graph, const tn_node *node);
/* The numbers that it draws, in order. False when memory runs out. */
bool tn_export_draw(const tn_graph *graph, const tn_node *node, tn_draw next, tn_heap *heap, tn_tensor *out);
#endif
