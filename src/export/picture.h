/* export/picture.h: graphs as pictures: for Graphviz, and as SVG.
 *
 * Both show the same facts of a node: its operation, its attributes, its type,
 * and the line of the program it came from. */
#ifndef TN_EXPORT_PICTURE_H
#define TN_EXPORT_PICTURE_H

#include "export/export.h"

/* The kinds of nodes that have different colours. */
typedef enum {
  TN_PAINT_INPUT,
  TN_PAINT_PARAM,
  TN_PAINT_CONSTANT,
  TN_PAINT_ELEMENT,  /* each element for itself */
  TN_PAINT_REDUCE,   /* along axes */
  TN_PAINT_CONTRACT, /* matrix products */
  TN_PAINT_MOVE,     /* elements go elsewhere */
  TN_PAINT_CONTROL,
  TN_PAINT_OUTPUT,
  TN_PAINT_COUNT
} tn_paint;

/* Texts in the arena. */
typedef struct {
  tn_str title;  /* matmul, the name of an input, a number */
  tn_str detail; /* attributes that the type does not show, shortened; may be empty */
  tn_str type;   /* f32[B, 3] */
  tn_str place;  /* line 3; empty where there is none */
  tn_paint paint;
} tn_picture_node;

/* Fill and line of a paint, as #rrggbb. */
typedef struct {
  const char *fill, *line;
} tn_picture_colours;

tn_picture_node tn_picture_node_of(const tn_graph *graph, tn_value value, tn_sources *sources,
                                   tn_arena *arena);
tn_picture_colours tn_picture_colours_of(tn_paint paint);
/* The name of an output, or "result". */
tn_str tn_picture_output(const tn_graph *graph, size_t index);

/* In the language of Graphviz: a box for each operation, an arrow for each operand; branches are clusters.
 * False when memory runs out. */
bool tn_dot_write(const tn_graph *graph, tn_sources *sources, tn_text *out);

/* How many nodes a drawing may have; more would be unreadable. */
#define TN_SVG_NODE_LIMIT 2000
/* A drawing in layers from the top down. With an outline, which may be NULL, a call that is not open is one
 * box, values have the program's names, and the attributes data-call, data-in and data-line of a
 * box say what it represents; the drawing then has no colours, because the page sets them. False
 * with *problem filled in. */
bool tn_svg_write(const tn_graph *graph, const tn_outline *outline, tn_sources *sources, tn_text *out,
                  tn_export_problem *problem);
#endif
