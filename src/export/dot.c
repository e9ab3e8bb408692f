/* export/dot.c: graphs in the language of Graphviz.
 *
 * The regions of an `if` are clusters; a dashed arrow leads from their results
 * to it. */
#include "export/picture.h"

typedef struct {
  const tn_graph *graph;
  tn_sources *sources;
  tn_arena arena; /* texts of one node */
  tn_text *out;
} writer;

static void put_indent(writer *w, int depth) { tn_text_repeat(w->out, ' ', (size_t)depth * 2); }

static void put_name(writer *w, tn_value value) {
  tn_text_byte(w->out, 'n');
  tn_text_uint(w->out, value);
}

/* Inside quotes. */
static void put_safe(writer *w, tn_str text) {
  for (size_t i = 0; i < text.len; i++) {
    bool control = (unsigned char)text.at[i] < 0x20;
    if (text.at[i] == '"' || text.at[i] == '\\') tn_text_byte(w->out, '\\');
    tn_text_byte(w->out, control ? ' ' : text.at[i]);
  }
}

static void put_line(writer *w, tn_str text) {
  if (text.len == 0) return;
  tn_text_puts(w->out, "\\n");
  put_safe(w, text);
}

static void put_looks(writer *w, tn_paint paint) {
  tn_picture_colours colours = tn_picture_colours_of(paint);
  tn_text_puts(w->out, "\", fillcolor=\"");
  tn_text_puts(w->out, colours.fill);
  tn_text_puts(w->out, "\", color=\"");
  tn_text_puts(w->out, colours.line);
  tn_text_puts(w->out, "\"];\n");
}

static void put_node(writer *w, tn_value value, int depth) {
  bool failed = w->arena.failed;
  tn_arena_reset(&w->arena);
  w->arena.failed = failed;
  tn_picture_node shown = tn_picture_node_of(w->graph, value, w->sources, &w->arena);
  put_indent(w, depth);
  put_name(w, value);
  tn_text_puts(w->out, " [label=\"");
  put_safe(w, shown.title);
  put_line(w, shown.detail);
  put_line(w, shown.type);
  put_line(w, shown.place);
  put_looks(w, shown.paint);
}

static void put_arrow(writer *w, tn_value from, tn_value to, int depth, const char *style) {
  put_indent(w, depth);
  put_name(w, from);
  tn_text_puts(w->out, " -> ");
  put_name(w, to);
  tn_text_puts(w->out, style);
  tn_text_puts(w->out, ";\n");
}

static void put_region(writer *w, uint32_t region, int depth);

static void put_branch(writer *w, tn_value value, int which, int depth) {
  uint32_t region = tn_graph_node(w->graph, value)->attrs->region[which];
  const tn_region *r = &w->graph->regions.at[region];
  put_indent(w, depth);
  tn_text_puts(w->out, "subgraph cluster_");
  tn_text_uint(w->out, region);
  tn_text_puts(w->out, " {\n");
  put_indent(w, depth + 1);
  tn_text_puts(w->out, which == 0 ? "label=\"then\"; style=dashed;\n" : "label=\"else\"; style=dashed;\n");
  put_region(w, region, depth + 1);
  put_indent(w, depth);
  tn_text_puts(w->out, "}\n");
  for (size_t i = 0; i < r->results.count; i++) {
    put_arrow(w, r->results.at[i], value, depth,
              which == 0 ? " [style=dashed, label=then]" : " [style=dashed, label=else]");
  }
}

static void put_region(writer *w, uint32_t region, int depth) {
  const tn_region *r = &w->graph->regions.at[region];
  if (!tn_text_room(w->out)) return;
  for (size_t i = 0; i < r->nodes.count && !w->out->failed; i++) {
    tn_value value = r->nodes.at[i];
    const tn_node *node = tn_graph_node(w->graph, value);
    put_node(w, value, depth);
    for (int k = 0; node->op == TN_OP_IF && k < 2; k++) put_branch(w, value, k, depth);
    for (int k = 0; k < node->count; k++) put_arrow(w, node->in[k], value, depth, "");
  }
}

static void put_output(writer *w, size_t index) {
  tn_text_puts(w->out, "  out");
  tn_text_uint(w->out, index);
  tn_text_puts(w->out, " [label=\"");
  put_safe(w, tn_picture_output(w->graph, index));
  put_looks(w, TN_PAINT_OUTPUT);
  tn_text_puts(w->out, "  ");
  put_name(w, w->graph->outputs.at[index].value);
  tn_text_puts(w->out, " -> out");
  tn_text_uint(w->out, index);
  tn_text_puts(w->out, ";\n");
}

bool tn_dot_write(const tn_graph *graph, tn_sources *sources, tn_text *out) {
  writer w = { .graph = graph, .sources = sources, .out = out };
  tn_arena_init(&w.arena, graph->heap);
  tn_text_puts(out, "digraph {\n"
                    "  node [shape=box, style=\"rounded,filled\", fontname=\"monospace\", fontsize=10];\n"
                    "  edge [color=\"#7a828a\", fontname=\"monospace\", fontsize=9];\n");
  put_region(&w, 0, 1);
  for (size_t i = 0; i < graph->outputs.count; i++) put_output(&w, i);
  tn_text_puts(out, "}\n");
  bool ok = !w.arena.failed && !out->failed;
  tn_arena_free(&w.arena);
  return ok;
}
