/* export/svg.c: graphs drawn as SVG, without any other tool.
 *
 * The drawing adapts to a light or dark theme. Each box repeats its text as a title, for screen
 * readers and tooltips. */
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
  uint32_t call;   /* that it represents; 0: an operation */
  uint32_t within; /* the open call around it; 0: none */
} box;

typedef struct {
  const tn_graph *graph;
  const tn_outline *outline; /* NULL: a box for each node */
  tn_sources *sources;
  tn_arena arena;
  tn_svg_layout layout;
  box *boxes;
  uint32_t *box_of; /* by value */
  uint32_t *call_of; /* by value: the innermost call that made it; 0: none */
  uint32_t *hidden;  /* by value: the closed call whose box it is in; 0: it has a box of its own */
  uint32_t *closed;  /* by call: the outermost call around it that is not open, or itself; 0: all are open */
  uint32_t *box_of_call;
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

static tn_str keep(drawing *d, tn_text *text) {
  tn_str kept = tn_arena_str(&d->arena, tn_text_str(text));
  if (text->failed) d->arena.failed = true;
  tn_text_free(text);
  return kept;
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
  return keep(d, &text);
}

/* "q = matmul", where the program names the value. */
static tn_str named(drawing *d, tn_value value, tn_str title) {
  tn_name label = d->outline ? tn_outline_label_of(d->outline, value) : 0;
  tn_text text;
  if (!label) return title;
  tn_text_init(&text, d->arena.heap);
  tn_text_add(&text, tn_names_text(d->graph->names, label));
  tn_text_puts(&text, " = ");
  tn_text_add(&text, title);
  return keep(d, &text);
}

static box box_of_node(drawing *d, tn_value v) {
  tn_picture_node shown = tn_picture_node_of(d->graph, v, d->sources, &d->arena);
  tn_str place = place_of(d, v, shown.place);
  return (box){ { named(d, v, shown.title), shown.type, shown.detail, place },
                shown.paint,
                .within = d->call_of[v] };
}

/* "block 2", the type of what it gives, how much is inside, and where it is called. */
static box box_of_call(drawing *d, uint32_t number) {
  const tn_outline_call *call = &d->outline->calls.at[number - 1];
  tn_text title, inside, place;
  tn_text_init(&title, d->arena.heap), tn_text_init(&inside, d->arena.heap);
  tn_text_init(&place, d->arena.heap);
  tn_text_add(&title, tn_names_text(d->graph->names, call->name));
  if (tn_outline_is_numbered(d->outline, call)) tn_text_byte(&title, ' '), tn_text_uint(&title, call->nth);
  tn_text_uint(&inside, call->end - call->first);
  tn_text_puts(&inside, call->end - call->first == 1 ? " operation" : " operations");
  if (d->sources && call->at.file)
    tn_text_puts(&place, "line "),
        tn_text_uint(&place, tn_place_of(d->sources, call->at.file, call->at.start).line);
  tn_str type = TN_LIT("");
  if (call->result) type = tn_picture_node_of(d->graph, call->result, NULL, &d->arena).type;
  tn_str words = keep(d, &title);
  if (call->result) words = named(d, call->result, words);
  return (box){ { words, type, keep(d, &inside), keep(d, &place) },
                TN_PAINT_MOVE,
                .call = number,
                .within = call->parent };
}

/* ---- which boxes there are ---- */

/* Calls come after their enclosing ones, and their nodes follow each other, so an inner call overwrites. */
static bool find_calls(drawing *d) {
  const tn_outline *o = d->outline;
  bool *open = tn_arena_array(&d->arena, o->calls.count + 1, sizeof *open);
  if (!open) return false;
  tn_outline_find_open(o, open);
  uint32_t at = 0, next = 1; /* the call that is open, and the next one to be entered */
  for (tn_value v = 1; v < d->graph->nodes.count; v++) {
    while (at && v >= o->calls.at[at - 1].end) at = o->calls.at[at - 1].parent;
    for (; next <= o->calls.count && o->calls.at[next - 1].first <= v; next++) {
      if (o->calls.at[next - 1].end > v) at = next;
    }
    d->call_of[v] = at;
  }
  for (uint32_t c = 1; c <= o->calls.count; c++) {
    uint32_t around = d->closed[o->calls.at[c - 1].parent];
    d->closed[c] = around ? around : open[c] ? 0 : c;
  }
  return true;
}

/* Parameters and constants that one closed call alone uses hide in it. */
static void use_source(drawing *d, tn_value source, uint32_t call, bool *shared) {
  const tn_node *node = tn_graph_node(d->graph, source);
  if (node->count > 0 || node->op == TN_OP_INPUT || d->call_of[source]) return;
  if (!call || (d->hidden[source] && d->hidden[source] != call)) shared[source] = true;
  d->hidden[source] = call;
}

static bool hide_sources(drawing *d) {
  const tn_graph *graph = d->graph;
  bool *shared = tn_arena_array(&d->arena, graph->nodes.count + 1, sizeof *shared);
  if (!shared) return false;
  for (tn_value v = 1; v < graph->nodes.count; v++) {
    const tn_node *node = tn_graph_node(graph, v);
    for (int i = 0; i < node->count; i++) use_source(d, node->in[i], d->closed[d->call_of[v]], shared);
  }
  for (size_t i = 0; i < graph->outputs.count; i++) use_source(d, graph->outputs.at[i].value, 0, shared);
  for (tn_value v = 1; v < graph->nodes.count; v++) {
    if (shared[v] || d->call_of[v]) d->hidden[v] = 0;
    if (d->call_of[v]) d->hidden[v] = d->closed[d->call_of[v]];
  }
  return true;
}

/* A source comes before the call that it is hidden in. */
static bool is_hidden_source(const drawing *d, tn_value v) {
  return d->hidden[v] && v < d->outline->calls.at[d->hidden[v] - 1].first;
}

/* Numbers the boxes; how many there are, without outputs. Boxes have the order of their nodes. */
static uint32_t number_boxes(drawing *d) {
  uint32_t count = 0, last = 0; /* the closed call of the box before */
  for (tn_value v = 1; v < d->graph->nodes.count; v++) {
    uint32_t call = d->outline ? d->hidden[v] : 0;
    if (call && is_hidden_source(d, v)) continue;
    if (!call || call != last) count++;
    d->box_of[v] = count - 1;
    if (call) d->box_of_call[call] = count - 1;
    last = call;
  }
  for (tn_value v = 1; d->outline && v < d->graph->nodes.count; v++) {
    if (is_hidden_source(d, v)) d->box_of[v] = d->box_of_call[d->hidden[v]];
  }
  return count;
}

static bool find_boxes(drawing *d, uint32_t *count) {
  size_t nodes = d->graph->nodes.count, calls = d->outline ? d->outline->calls.count : 0;
  d->box_of = tn_arena_array(&d->arena, nodes + 1, sizeof *d->box_of);
  d->call_of = tn_arena_array(&d->arena, nodes + 1, sizeof *d->call_of);
  d->hidden = tn_arena_array(&d->arena, nodes + 1, sizeof *d->hidden);
  d->closed = tn_arena_array(&d->arena, calls + 1, sizeof *d->closed);
  d->box_of_call = tn_arena_array(&d->arena, calls + 1, sizeof *d->box_of_call);
  if (!d->box_of || !d->call_of || !d->hidden || !d->closed || !d->box_of_call) return false;
  if (d->outline && (!find_calls(d) || !hide_sources(d))) return false;
  *count = number_boxes(d);
  return true;
}

static void make_boxes(drawing *d) {
  size_t nodes = d->graph->nodes.count, first_output = d->layout.box_count - d->graph->outputs.count;
  for (size_t v = 1; v < nodes; v++) {
    uint32_t call = d->hidden[v];
    if (call && v != d->outline->calls.at[call - 1].first) continue;
    d->boxes[d->box_of[v]] = call ? box_of_call(d, call) : box_of_node(d, (tn_value)v);
  }
  for (size_t i = 0; i < d->graph->outputs.count; i++)
    d->boxes[first_output + i] =
        (box){ .lines = { tn_picture_output(d->graph, i) }, .paint = TN_PAINT_OUTPUT };
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

/* Of the arrows from one box into a call one is enough. */
static bool is_known(const drawing *d, uint32_t from, uint32_t to) {
  const tn_svg_layout *l = &d->layout;
  if (!d->boxes[to].call && !d->boxes[from].call) return false;
  for (uint32_t i = l->arrow_count; i-- > 0 && l->arrows[i].to == to;) {
    if (l->arrows[i].from == from) return true;
  }
  return false;
}

static void add_arrow(drawing *d, tn_value value, uint32_t to, bool dashed) {
  uint32_t from = d->box_of[value];
  if (from == to || is_known(d, from, to)) return;
  d->layout.arrows[d->layout.arrow_count++] = (tn_svg_arrow){ .from = from, .to = to, .dashed = dashed };
}

/* Arrows into a box follow each other. */
static void number_ports(tn_svg_layout *l) {
  for (uint32_t first = 0, end; first < l->arrow_count; first = end) {
    for (end = first; end < l->arrow_count && l->arrows[end].to == l->arrows[first].to;) end++;
    for (uint32_t i = first; i < end; i++) l->arrows[i].port = i - first, l->arrows[i].ports = end - first;
  }
}

static void make_arrows(drawing *d) {
  const tn_graph *graph = d->graph;
  for (size_t v = 1; v < graph->nodes.count; v++) {
    const tn_node *node = tn_graph_node(graph, (tn_value)v);
    for (int i = 0; i < node->count; i++) add_arrow(d, node->in[i], d->box_of[v], false);
    for (int k = 0; k < 2; k++) {
      for (size_t i = 0; i < result_count(graph, node, k); i++)
        add_arrow(d, graph->regions.at[node->attrs->region[k]].results.at[i], d->box_of[v], true);
    }
  }
  uint32_t output = d->layout.box_count - (uint32_t)graph->outputs.count;
  for (size_t i = 0; i < graph->outputs.count; i++)
    add_arrow(d, graph->outputs.at[i].value, output + (uint32_t)i, false);
  number_ports(&d->layout);
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

static void put_fact(drawing *d, const char *name, tn_str value) {
  put(d, name);
  tn_text_add(d->out, value);
  tn_text_byte(d->out, '"');
}

/* With an outline, what a page needs to act on it. */
static void put_group(drawing *d, const box *b) {
  tn_str line = b->lines[LINES - 1];
  size_t digits = 5;
  put(d, d->outline ? b->call ? "<g class=\"node call\"" : "<g class=\"node\"" : "<g");
  if (d->outline && b->call)
    put(d, " data-call=\""), tn_text_uint(d->out, b->call), tn_text_byte(d->out, '"');
  if (d->outline && b->within)
    put(d, " data-in=\""), tn_text_uint(d->out, b->within), tn_text_byte(d->out, '"');
  while (digits < line.len && line.at[digits] >= '0' && line.at[digits] <= '9') digits++;
  if (d->outline && tn_str_starts(line, "line "))
    put_fact(d, " data-line=\"", (tn_str){ line.at + 5, digits - 5 });
  put(d, ">");
}

static void put_box(drawing *d, const box *b, const tn_svg_vertex *v) {
  static const char *const looks[LINES] = { "title", "small", "faint", "faint" };
  double y = v->y - v->height / 2 + PADDING - 2;
  put_group(d, b);
  put(d, "<title>");
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
  if (!d->outline) { /* else it becomes part of a page, which has its own colours */
    put_style(d);
    put(d, "<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n");
  }
  for (uint32_t i = 0; i < l->arrow_count; i++) put_arrow(d, &l->arrows[i]);
  for (uint32_t i = 0; i < l->box_count; i++) put_box(d, &d->boxes[i], &l->vertices[i]);
  put(d, "</svg>\n");
}

static bool make_drawing(drawing *d, uint32_t boxes, size_t arrows) {
  d->boxes = tn_arena_array(&d->arena, (size_t)boxes + 1, sizeof *d->boxes);
  d->layout = (tn_svg_layout){ .arena = &d->arena, .box_count = boxes };
  d->layout.vertices = tn_arena_array(&d->arena, (size_t)boxes + 1, sizeof *d->layout.vertices);
  d->layout.arrows = tn_arena_array(&d->arena, arrows + 1, sizeof *d->layout.arrows);
  if (!d->boxes || !d->layout.vertices || !d->layout.arrows) return false;
  make_boxes(d);
  make_arrows(d);
  if (!tn_svg_arrange(&d->layout)) return false;
  write_drawing(d);
  return !d->arena.failed && !d->out->failed;
}

/* More would be unreadable. With an outline many operations may be in few boxes. */
static bool is_too_large(const drawing *d, size_t boxes, size_t arrows) {
  size_t most = d->outline ? TN_SVG_OUTLINE_ARROWS : TN_SVG_ARROW_LIMIT;
  return boxes > TN_SVG_NODE_LIMIT || arrows > most;
}

bool tn_svg_write(const tn_graph *graph, const tn_outline *outline, tn_sources *sources, tn_text *out,
                  tn_export_problem *problem) {
  drawing d = { .graph = graph, .outline = outline, .sources = sources, .out = out };
  size_t arrows = count_arrows(graph);
  uint32_t boxes = 0;
  *problem = (tn_export_problem){ 0 };
  if (outline && outline->failed) return false;
  tn_arena_init(&d.arena, graph->heap);
  bool ok = find_boxes(&d, &boxes), large = ok && is_too_large(&d, boxes + graph->outputs.count, arrows);
  ok = ok && !large && make_drawing(&d, boxes + (uint32_t)graph->outputs.count, arrows);
  if (large)
    problem->feature = "a drawing of more than 2000 boxes or 20000 arrows (`--as dot` has no limit)";
  else if (!ok && !d.arena.failed && !out->failed)
    problem->feature = "a drawing this deep with arrows this long (`--as dot` has no limit)";
  tn_arena_free(&d.arena);
  return ok;
}
