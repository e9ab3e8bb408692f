/* export/dot.h: graphs as pictures, in the language of Graphviz. */
#ifndef TN_EXPORT_DOT_H
#define TN_EXPORT_DOT_H

#include "graph/graph.h"

/* One box for each operation, an arrow for each operand; branches are clusters. */
void tn_dot_write(const tn_graph *graph, tn_text *out);
#endif
