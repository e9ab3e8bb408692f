/* export/svg_internal.h: a layered drawing, between layout and writing. */
#ifndef TN_EXPORT_SVG_INTERNAL_H
#define TN_EXPORT_SVG_INTERNAL_H

#include "export/picture.h"

/* A box, or a bend: the place where an arrow passes through a layer. */
typedef struct {
  uint32_t layer;
  uint32_t order;       /* in its layer, from the left */
  double x, y;          /* of its middle */
  double width, height; /* 0 of a bend */
} tn_svg_vertex;

/* From one layer to the next. */
typedef struct {
  uint32_t from, to;
} tn_svg_step;

/* From box to box: steps of its own, one after the other. */
typedef struct {
  uint32_t from, to;
  uint32_t port, ports; /* which of how many arrows into `to` it is */
  bool dashed;
  uint32_t bend; /* its first bend, if it has one; the others follow */
} tn_svg_arrow;

typedef struct {
  tn_arena *arena;
  tn_svg_vertex *vertices; /* boxes, then bends */
  uint32_t box_count, vertex_count;
  tn_svg_arrow *arrows;
  uint32_t arrow_count;
  uint32_t layer_count;
  double width, height;
} tn_svg_layout;

#define TN_SVG_ARROW_LIMIT 20000
#define TN_SVG_OUTLINE_ARROWS 200000 /* between nodes, of which most hide in boxes */
#define TN_SVG_BEND_LIMIT  100000

/* Given boxes with their sizes and arrows from a smaller to a larger number, finds layers, order and
 * places. False when memory runs out or bends would be too many: then vertex_count is 0. */
bool tn_svg_arrange(tn_svg_layout *layout);
#endif
