/* export/svg_layout.c: layered layout of the boxes of a drawing.
 *
 * The usual four steps. A box is one layer below the lowest of its operands; constants and
 * parameters sink to their users. An arrow over several layers gets a bend in each. Boxes are
 * sorted within their layer by the mean of their neighbours, from above and from below in turn.
 * Last, each layer gets the positions nearest to those means that keep order and distance. */
#include "export/svg_internal.h"

#define SWEEPS      12
#define BESIDE      22.0 /* between boxes */
#define BELOW       40.0 /* between layers */
#define MARGIN      24.0
#define BEND_WEIGHT 6.0 /* straight lines are worth more than centred boxes */

typedef struct {
  tn_svg_layout *l;
  tn_svg_step *steps;
  uint32_t step_count;
  uint32_t *layer_start; /* vertices by layer: by_layer[layer_start[k] ..] */
  uint32_t *by_layer;
  uint32_t *above_start, *above; /* neighbours of a vertex in the layer above, and below */
  uint32_t *below_start, *below;
  double *wish;
} arranger;

/* ---- layers ---- */

static void find_layers(tn_svg_layout *l) {
  for (uint32_t i = 0; i < l->arrow_count; i++) { /* arrows are in the order of their ends */
    const tn_svg_arrow *a = &l->arrows[i];
    uint32_t least = l->vertices[a->from].layer + 1;
    if (l->vertices[a->to].layer < least) l->vertices[a->to].layer = least;
  }
}

/* What hangs on sources alone, one after the other, can sink: no arrow gets longer by it. */
static bool sink(tn_svg_layout *l) {
  uint32_t *used = tn_arena_array(l->arena, l->box_count + 1, sizeof *used);
  uint32_t *nearest = tn_arena_array(l->arena, l->box_count + 1, sizeof *nearest);
  bool *held = tn_arena_array(l->arena, l->box_count + 1, sizeof *held);
  if (!used || !nearest || !held) return false;
  for (uint32_t i = 0; i < l->arrow_count; i++) used[l->arrows[i].from]++;
  for (uint32_t i = 0; i < l->arrow_count; i++) {
    const tn_svg_arrow *a = &l->arrows[i];
    if (held[a->from] || used[a->from] > 1) held[a->to] = true;
  }
  for (uint32_t i = l->arrow_count; i-- > 0;) { /* the last arrows first, so that its users have sunk */
    const tn_svg_arrow *a = &l->arrows[i];
    tn_svg_vertex *to = &l->vertices[a->to];
    if (!held[a->to] && nearest[a->to]) to->layer = nearest[a->to] - 1;
    if (!nearest[a->from] || nearest[a->from] > to->layer) nearest[a->from] = to->layer;
  }
  for (uint32_t v = 0; v < l->box_count; v++) {
    if (!held[v] && nearest[v]) l->vertices[v].layer = nearest[v] - 1;
    if (l->vertices[v].layer >= l->layer_count) l->layer_count = l->vertices[v].layer + 1;
  }
  return true;
}

/* ---- bends ---- */

static bool add_bends(arranger *a) {
  tn_svg_layout *l = a->l;
  uint64_t bends = 0;
  for (uint32_t i = 0; i < l->arrow_count; i++)
    bends += l->vertices[l->arrows[i].to].layer - l->vertices[l->arrows[i].from].layer - 1;
  if (bends > TN_SVG_BEND_LIMIT) return false;
  uint32_t next = l->box_count;
  tn_svg_vertex *all = tn_arena_array(l->arena, l->box_count + bends + 1, sizeof *all);
  a->steps = tn_arena_array(l->arena, l->arrow_count + bends + 1, sizeof *a->steps);
  if (!all || !a->steps) return false;
  for (uint32_t i = 0; i < l->box_count; i++) all[i] = l->vertices[i];
  l->vertices = all;
  for (uint32_t i = 0; i < l->arrow_count; i++) {
    tn_svg_arrow *arrow = &l->arrows[i];
    uint32_t from = arrow->from;
    arrow->bend = next;
    for (uint32_t layer = all[from].layer + 1; layer < all[arrow->to].layer; layer++) {
      all[next].layer = layer;
      a->steps[a->step_count++] = (tn_svg_step){ from, next };
      from = next++;
    }
    a->steps[a->step_count++] = (tn_svg_step){ from, arrow->to };
  }
  l->vertex_count = next;
  return true;
}

/* ---- neighbours ---- */

/* Lists by vertex: the other ends of its steps. */
static bool list_neighbours(arranger *a, bool up, uint32_t **start, uint32_t **list) {
  uint32_t count = a->l->vertex_count;
  *start = tn_arena_array(a->l->arena, (size_t)count + 2, sizeof **start);
  *list = tn_arena_array(a->l->arena, (size_t)a->step_count + 1, sizeof **list);
  if (!*start || !*list) return false;
  for (uint32_t i = 0; i < a->step_count; i++) (*start)[(up ? a->steps[i].to : a->steps[i].from) + 2]++;
  for (uint32_t v = 2; v < count + 2; v++) (*start)[v] += (*start)[v - 1];
  for (uint32_t i = 0; i < a->step_count; i++) {
    uint32_t own = up ? a->steps[i].to : a->steps[i].from, other = up ? a->steps[i].from : a->steps[i].to;
    (*list)[(*start)[own + 1]++] = other;
  }
  return true;
}

static bool list_layers(arranger *a) {
  tn_svg_layout *l = a->l;
  a->layer_start = tn_arena_array(l->arena, (size_t)l->layer_count + 2, sizeof *a->layer_start);
  a->by_layer = tn_arena_array(l->arena, (size_t)l->vertex_count + 1, sizeof *a->by_layer);
  a->wish = tn_arena_array(l->arena, (size_t)l->vertex_count + 1, sizeof *a->wish);
  if (!a->layer_start || !a->by_layer || !a->wish) return false;
  for (uint32_t v = 0; v < l->vertex_count; v++) a->layer_start[l->vertices[v].layer + 2]++;
  for (uint32_t k = 2; k < l->layer_count + 2; k++) a->layer_start[k] += a->layer_start[k - 1];
  for (uint32_t v = 0; v < l->vertex_count; v++) {
    uint32_t place = a->layer_start[l->vertices[v].layer + 1]++;
    a->by_layer[place] = v;
    l->vertices[v].order = place - a->layer_start[l->vertices[v].layer];
  }
  return true;
}

/* ---- order ---- */

static double mean_order(const arranger *a, uint32_t v, bool from_above) {
  const uint32_t *start = from_above ? a->above_start : a->below_start;
  const uint32_t *list = from_above ? a->above : a->below;
  double sum = 0;
  if (start[v] == start[v + 1]) return a->l->vertices[v].order;
  for (uint32_t i = start[v]; i < start[v + 1]; i++) sum += a->l->vertices[list[i]].order;
  return sum / (start[v + 1] - start[v]);
}

/* Insertion keeps equals as they were; layers are short or nearly in order. */
static void sort_layer(arranger *a, uint32_t layer, bool from_above) {
  uint32_t first = a->layer_start[layer], end = a->layer_start[layer + 1];
  for (uint32_t i = first; i < end; i++) a->wish[a->by_layer[i]] = mean_order(a, a->by_layer[i], from_above);
  for (uint32_t i = first + 1; i < end; i++) {
    uint32_t v = a->by_layer[i], at = i;
    for (; at > first && a->wish[a->by_layer[at - 1]] > a->wish[v]; at--)
      a->by_layer[at] = a->by_layer[at - 1];
    a->by_layer[at] = v;
  }
  for (uint32_t i = first; i < end; i++) a->l->vertices[a->by_layer[i]].order = i - first;
}

static void find_order(arranger *a) {
  for (int sweep = 0; sweep < SWEEPS; sweep++) {
    bool down = sweep % 2 == 0;
    for (uint32_t k = 1; k < a->l->layer_count; k++)
      sort_layer(a, down ? k : a->l->layer_count - 1 - k, down);
  }
}

/* ---- places ---- */

static double mean_place(const arranger *a, uint32_t v, bool from_above) {
  const uint32_t *start = from_above ? a->above_start : a->below_start;
  const uint32_t *list = from_above ? a->above : a->below;
  double sum = 0;
  if (start[v] == start[v + 1]) return a->l->vertices[v].x;
  for (uint32_t i = start[v]; i < start[v + 1]; i++) sum += a->l->vertices[list[i]].x;
  return sum / (start[v + 1] - start[v]);
}

static double half_width(const tn_svg_vertex *v) { return v->width / 2 + BESIDE / 2; }

/* A run of boxes that touch each other, as one. */
typedef struct {
  uint32_t count;
  double sum, weight; /* of wishes, less the distance from the layer's first box */
} block;

/* The places nearest to the wishes, in the sense of least squares, with order and distance kept: blocks that
 * would overlap are joined. */
static void place_layer(arranger *a, uint32_t layer, bool from_above, block *blocks) {
  uint32_t first = a->layer_start[layer], end = a->layer_start[layer + 1], count = 0, next = first;
  tn_svg_vertex *vertices = a->l->vertices;
  double apart = 0;
  for (uint32_t i = first; i < end; i++) {
    uint32_t v = a->by_layer[i];
    if (i > first) apart += half_width(&vertices[a->by_layer[i - 1]]) + half_width(&vertices[v]);
    double weight = vertices[v].width > 0 ? 1 : BEND_WEIGHT, wish = mean_place(a, v, from_above) - apart;
    blocks[count++] = (block){ 1, wish * weight, weight };
    a->wish[v] = apart;
    while (count > 1) {
      block *left = &blocks[count - 2], *right = &blocks[count - 1];
      if (left->sum / left->weight <= right->sum / right->weight) break;
      *left = (block){ left->count + right->count, left->sum + right->sum, left->weight + right->weight };
      count--;
    }
  }
  for (uint32_t b = 0; b < count; b++) {
    for (uint32_t i = 0; i < blocks[b].count; i++, next++) {
      uint32_t v = a->by_layer[next];
      vertices[v].x = blocks[b].sum / blocks[b].weight + a->wish[v];
    }
  }
}

static bool find_places(arranger *a) {
  tn_svg_layout *l = a->l;
  block *blocks = tn_arena_array(l->arena, (size_t)l->vertex_count + 1, sizeof *blocks);
  if (!blocks) return false;
  for (uint32_t k = 0; k < l->layer_count; k++) {
    double x = 0;
    for (uint32_t i = a->layer_start[k]; i < a->layer_start[k + 1]; i++) {
      tn_svg_vertex *v = &l->vertices[a->by_layer[i]];
      v->x = x + half_width(v);
      x = v->x + half_width(v);
    }
  }
  for (int sweep = 0; sweep < SWEEPS; sweep++) {
    bool down = sweep % 2 == 0;
    for (uint32_t k = 1; k < l->layer_count; k++)
      place_layer(a, down ? k : l->layer_count - 1 - k, down, blocks);
  }
  return true;
}

/* Layers below each other; everything moved to the margins. */
static void finish(arranger *a) {
  tn_svg_layout *l = a->l;
  double left = 0, right = 0, y = MARGIN;
  for (uint32_t v = 0; v < l->vertex_count; v++) {
    double low = l->vertices[v].x - l->vertices[v].width / 2, high = low + l->vertices[v].width;
    if (v == 0 || low < left) left = low;
    if (v == 0 || high > right) right = high;
  }
  for (uint32_t k = 0; k < l->layer_count; k++) {
    double height = 0;
    for (uint32_t i = a->layer_start[k]; i < a->layer_start[k + 1]; i++) {
      if (l->vertices[a->by_layer[i]].height > height) height = l->vertices[a->by_layer[i]].height;
    }
    for (uint32_t i = a->layer_start[k]; i < a->layer_start[k + 1]; i++) {
      tn_svg_vertex *v = &l->vertices[a->by_layer[i]];
      v->x += MARGIN - left;
      v->y = y + height / 2;
    }
    y += height + (k + 1 < l->layer_count ? BELOW : MARGIN);
  }
  l->width = right - left + 2 * MARGIN;
  l->height = y;
}

bool tn_svg_arrange(tn_svg_layout *l) {
  arranger a = { .l = l };
  find_layers(l);
  bool ok = sink(l) && add_bends(&a) && list_layers(&a);
  ok = ok && list_neighbours(&a, true, &a.above_start, &a.above) &&
       list_neighbours(&a, false, &a.below_start, &a.below);
  if (!ok) return false;
  find_order(&a);
  if (!find_places(&a)) return false;
  finish(&a);
  return true;
}
