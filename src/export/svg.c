/* export/svg.c: graphs drawn as SVG, without any other tool.
 *
 * The drawing follows the light or dark of who looks at it. Each box carries its
 * words a second time as a title, for those who hear it or point at it. */
#include "export/svg_internal.h"
#include "export/svg_text.h"

#define LETTER       7.25 /* width of a letter of the title; the other lines are smaller */
#define SMALL_LETTER 6.05
#define TITLE_LINE   16.0
#define SMALL_LINE   13.5
#define PADDING      10.0
#define LINES        4 /* of a box */

typedef struct {
  tn_str lines[LINES]; /* the first is the title; empty ones are left out */
  tn_paint paint;
} box;

typedef struct {
  const tn_graph *graph;
  tn_sources *sources;
  tn_arena arena;
  tn_svg_layout layout;
  box *boxes;
  tn_text *out;
} drawing;

/* ---- boxes and arrows ---- */

static size_t letters_in(tn_str text) {
  size_t count = 0;
  for (size_t i = 0; i < text.len; i++) count += ((unsigned char)text.at[i] & 0xc0) != 0x80;
  return count;
}

static void measure(const box *b, tn_svg_vertex *v) {
  double height = 2 * PADDING - 4, width = 0;
  for (int i = 0; i < LINES; i++) {
    if (b->lines[i].len == 0) continue;
    double own = (double)letters_in(b->lines[i]) * (i == 0 ? LETTER : SMALL_LETTER);
    if (own > width) width = own;
    height += i == 0 ? TITLE_LINE : SMALL_LINE;
  }
  v->width = width + 2 * PADDING;
  if (v->width < 56) v->width = 56;
  v->height = height;
}

/* With the branch of the `if` it belongs to. */
static tn_str place_of(drawing *d, tn_value value, tn_str place) {
  uint32_t region = tn_graph_node(d->graph, value)->region;
  tn_text text;
  if (region == 0) return place;
  const tn_node *owner = tn_graph_node(d->graph, d->graph->regions.at[region].owner);
  tn_text_init(&text, d->arena.heap);
  tn_text_add(&text, place);
  if (place.len) tn_text_puts(&text, ", ");
  tn_text_puts(&text, owner->attrs->region[0] == region ? "then" : "else");
  tn_str kept = tn_arena_str(&d->arena, tn_text_str(&text));
  if (text.failed) d->arena.failed = true;
  tn_text_free(&text);
  return kept;
}

static void make_boxes(drawing *d) {
  size_t nodes = d->graph->nodes.count;
  for (size_t v = 1; v < nodes; v++) {
    tn_picture_node shown = tn_picture_node_of(d->graph, (tn_value)v, d->sources, &d->arena);
    tn_str place = place_of(d, (tn_value)v, shown.place);
    d->boxes[v - 1] = (box){ { shown.title, shown.type, shown.detail, place }, shown.paint };
  }
  for (size_t i = 0; i < d->graph->outputs.count; i++) {
    d->boxes[nodes - 1 + i] = (box){ .lines = { tn_picture_output(d->graph, i) }, .paint = TN_PAINT_OUTPUT };
  }
  for (uint32_t i = 0; i < d->layout.box_count; i++) measure(&d->boxes[i], &d->layout.vertices[i]);
}

static size_t result_count(const tn_graph *graph, const tn_node *node, int which) {
  return node->op == TN_OP_IF ? graph->regions.at[node->attrs->region[which]].results.count : 0;
}

static size_t count_arrows(const tn_graph *graph) {
  size_t count = graph->outputs.count;
  for (size_t v = 1; v < graph->nodes.count; v++) {
    const tn_node *node = tn_graph_node(graph, (tn_value)v);
    count += (size_t)node->count + result_count(graph, node, 0) + result_count(graph, node, 1);
  }
  return count;
}

static void add_arrow(drawing *d, tn_value from, uint32_t to, uint32_t port, uint32_t ports, bool dashed) {
  d->layout.arrows[d->layout.arrow_count++] =
      (tn_svg_arrow){ .from = from - 1, .to = to, .port = port, .ports = ports, .dashed = dashed };
}

static void make_arrows(drawing *d) {
  const tn_graph *graph = d->graph;
  for (size_t v = 1; v < graph->nodes.count; v++) {
    const tn_node *node = tn_graph_node(graph, (tn_value)v);
    size_t results[] = { result_count(graph, node, 0), result_count(graph, node, 1) };
    uint32_t ports = (uint32_t)((size_t)node->count + results[0] + results[1]), port = 0;
    for (int i = 0; i < node->count; i++) add_arrow(d, node->in[i], (uint32_t)v - 1, port++, ports, false);
    for (int k = 0; k < 2; k++) {
      for (size_t i = 0; i < results[k]; i++) {
        tn_value from = graph->regions.at[node->attrs->region[k]].results.at[i];
        add_arrow(d, from, (uint32_t)v - 1, port++, ports, true);
      }
    }
  }
  for (size_t i = 0; i < graph->outputs.count; i++)
    add_arrow(d, graph->outputs.at[i].value, (uint32_t)(graph->nodes.count - 1 + i), 0, 1, false);
}

/* ---- writing ---- */

static void put(drawing *d, const char *text) { tn_text_puts(d->out, text); }
static void put_number(drawing *d, double number) { tn_text_fixed(d->out, number, 1); }

static void put_point(drawing *d, const char *before, double x, double y) {
  put(d, before);
  put_number(d, x);
  tn_text_byte(d->out, ' ');
  put_number(d, y);
}

static void put_style(drawing *d) {
  put(d, "<style>\n"
         "  .ground { fill: #fcfcfb }\n"
         "  text { font-family: ui-monospace, \"DejaVu Sans Mono\", Menlo, Consolas, monospace; "
         "text-anchor: middle; fill: #20262c }\n"
         "  .title { font-size: 12px; font-weight: 600 }\n"
         "  .small { font-size: 10px }\n"
         "  .faint { font-size: 10px; fill: #6b747d }\n"
         "  .box { stroke-width: 1.2 }\n"
         "  .arrow { fill: none; stroke: #8b949c; stroke-width: 1.2 }\n"
         "  .tip { fill: #8b949c }\n");
  for (int i = 0; i < TN_PAINT_COUNT; i++) {
    tn_picture_colours colours = tn_picture_colours_of((tn_paint)i);
    put(d, "  .p");
    tn_text_int(d->out, i);
    put(d, " { fill: ");
    put(d, colours.fill);
    put(d, "; stroke: ");
    put(d, colours.line);
    put(d, " }\n");
  }
  put(d, "  @media (prefers-color-scheme: dark) {\n"
         "    .ground { fill: #14181c }\n"
         "    .arrow { stroke: #737c85 }\n"
         "    .tip { fill: #737c85 }\n"
         "  }\n"
         "</style>\n");
}

/* Down from one point to the next, leaving and arriving upright. */
static void put_curve(drawing *d, double x0, double y0, double x1, double y1) {
  double middle = (y0 + y1) / 2;
  put_point(d, " C", x0, middle);
  put_point(d, " ", x1, middle);
  put_point(d, " ", x1, y1);
}

static void put_arrow(drawing *d, const tn_svg_arrow *a) {
  const tn_svg_vertex *vertices = d->layout.vertices, *from = &vertices[a->from], *to = &vertices[a->to];
  double x = from->x, y = from->y + from->height / 2, spread = to->width / (a->ports + 1);
  double port = ((double)a->port - (a->ports - 1) / 2.0) * (spread < 18 ? spread : 18);
  double end_x = to->x + port, end_y = to->y - to->height / 2 - 6;
  put(d, a->dashed ? "<path class=\"arrow\" stroke-dasharray=\"4 3\" d=\"" : "<path class=\"arrow\" d=\"");
  put_point(d, "M", x, y);
  for (uint32_t i = from->layer + 1, v = a->bend; i < to->layer; i++, v++) {
    put_curve(d, x, y, vertices[v].x, vertices[v].y);
    x = vertices[v].x;
    y = vertices[v].y;
  }
  put_curve(d, x, y, end_x, end_y);
  put(d, "\"/><path class=\"tip\" d=\"");
  put_point(d, "M", end_x - 3.5, end_y - 1);
  put_point(d, " L", end_x + 3.5, end_y - 1);
  put_point(d, " L", end_x, end_y + 6);
  put(d, " Z\"/>\n");
}

static void put_words(drawing *d, double x, double y, const char *looks, tn_str text) {
  put(d, "<text x=\"");
  put_number(d, x);
  put(d, "\" y=\"");
  put_number(d, y);
  put(d, "\" class=\"");
  put(d, looks);
  put(d, "\">");
  tn_svg_put_safe(d->out, text);
  put(d, "</text>");
}

static void put_rectangle(drawing *d, const tn_svg_vertex *v, tn_paint paint) {
  put(d, "<rect x=\"");
  put_number(d, v->x - v->width / 2);
  put(d, "\" y=\"");
  put_number(d, v->y - v->height / 2);
  put(d, "\" width=\"");
  put_number(d, v->width);
  put(d, "\" height=\"");
  put_number(d, v->height);
  put(d, "\" rx=\"7\" class=\"box p");
  tn_text_int(d->out, paint);
  put(d, "\"/>");
}

static void put_box(drawing *d, const box *b, const tn_svg_vertex *v) {
  static const char *const looks[LINES] = { "title", "small", "faint", "faint" };
  double y = v->y - v->height / 2 + PADDING - 2;
  put(d, "<g><title>");
  for (int i = 0; i < LINES; i++) {
    if (i && b->lines[i].len) put(d, ", ");
    tn_svg_put_safe(d->out, b->lines[i]);
  }
  put(d, "</title>");
  put_rectangle(d, v, b->paint);
  for (int i = 0; i < LINES; i++) {
    if (b->lines[i].len == 0) continue;
    y += i == 0 ? TITLE_LINE : SMALL_LINE;
    put_words(d, v->x, y - 4, looks[i], b->lines[i]);
  }
  put(d, "</g>\n");
}

static void write_drawing(drawing *d) {
  tn_svg_layout *l = &d->layout;
  put(d, "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"graph of a program\" width=\"");
  put_number(d, l->width);
  put(d, "\" height=\"");
  put_number(d, l->height);
  put(d, "\" viewBox=\"0 0 ");
  put_number(d, l->width);
  tn_text_byte(d->out, ' ');
  put_number(d, l->height);
  put(d, "\">\n");
  put_style(d);
  put(d, "<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n");
  for (uint32_t i = 0; i < l->arrow_count; i++) put_arrow(d, &l->arrows[i]);
  for (uint32_t i = 0; i < l->box_count; i++) put_box(d, &d->boxes[i], &l->vertices[i]);
  put(d, "</svg>\n");
}

static bool make_drawing(drawing *d, size_t boxes, size_t arrows) {
  d->boxes = tn_arena_array(&d->arena, boxes + 1, sizeof *d->boxes);
  d->layout = (tn_svg_layout){ .arena = &d->arena, .box_count = (uint32_t)boxes };
  d->layout.vertices = tn_arena_array(&d->arena, boxes + 1, sizeof *d->layout.vertices);
  d->layout.arrows = tn_arena_array(&d->arena, arrows + 1, sizeof *d->layout.arrows);
  if (!d->boxes || !d->layout.vertices || !d->layout.arrows) return false;
  make_boxes(d);
  make_arrows(d);
  if (!tn_svg_arrange(&d->layout)) return false;
  write_drawing(d);
  return !d->arena.failed && !d->out->failed;
}

bool tn_svg_write(const tn_graph *graph, tn_sources *sources, tn_text *out, tn_export_problem *problem) {
  drawing d = { .graph = graph, .sources = sources, .out = out };
  size_t boxes = graph->nodes.count - 1 + graph->outputs.count, arrows = count_arrows(graph);
  *problem = (tn_export_problem){ 0 };
  if (boxes > TN_SVG_NODE_LIMIT || arrows > TN_SVG_ARROW_LIMIT) {
    problem->feature = "a drawing of more than 2000 boxes or 20000 arrows (`--as dot` has no limit)";
    return false;
  }
  tn_arena_init(&d.arena, graph->heap);
  bool ok = make_drawing(&d, boxes, arrows);
  if (!ok && !d.arena.failed && !out->failed)
    problem->feature = "a drawing this deep with arrows this long (`--as dot` has no limit)";
  tn_arena_free(&d.arena);
  return ok;
}
