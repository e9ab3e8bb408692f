/* export/dot.c: graphs as pictures.
 *
 * A node shows its operation, its attributes and its type. The regions of an
 * `if` are clusters; a dashed arrow leads from their results to it. */
#include "export/dot.h"

#include "op/op.h"

#define ATTRIBUTE_BYTES 120 /* shown of a node's attributes */

static void put_name(tn_text *out, tn_value value) {
  tn_text_byte(out, 'n');
  tn_text_uint(out, value);
}

/* Inside quotes. */
static void put_safe(tn_text *out, tn_str text) {
  for (size_t i = 0; i < text.len; i++) {
    if (text.at[i] == '"' || text.at[i] == '\\') tn_text_byte(out, '\\');
    tn_text_byte(out, text.at[i]);
  }
}

static void put_attributes(const tn_graph *graph, const tn_node *node, tn_text *out) {
  tn_text text;
  if (tn_attrs_are_default(node->op, node->attrs)) return;
  tn_text_init(&text, graph->heap);
  tn_attrs_print(node->op, node->attrs, graph->names, &text);
  tn_str shown = tn_text_str(&text);
  bool cut = shown.len > ATTRIBUTE_BYTES;
  if (cut) shown.len = ATTRIBUTE_BYTES;
  tn_text_puts(out, "\\n");
  put_safe(out, shown);
  if (cut) tn_text_puts(out, "...");
  if (text.failed) out->failed = true;
  tn_text_free(&text);
}

static bool is_interface(tn_op op) { return op == TN_OP_INPUT || op == TN_OP_PARAM; }

static void put_node(const tn_graph *graph, tn_value value, int depth, tn_text *out) {
  const tn_node *node = tn_graph_node(graph, value);
  tn_text_repeat(out, ' ', (size_t)depth * 2);
  put_name(out, value);
  tn_text_puts(out, " [label=\"");
  if (is_interface(node->op))
    put_safe(out, tn_names_text(graph->names, node->attrs->name));
  else
    tn_text_puts(out, tn_op_sig_of(node->op)->name);
  if (!is_interface(node->op)) put_attributes(graph, node, out);
  tn_text_puts(out, "\\n");
  tn_type_print(&node->type, graph->names, out);
  tn_text_byte(out, '"');
  if (is_interface(node->op)) tn_text_puts(out, ", shape=ellipse");
  tn_text_puts(out, "];\n");
}

static void put_arrow(tn_text *out, tn_value from, tn_value to, int depth, const char *style) {
  tn_text_repeat(out, ' ', (size_t)depth * 2);
  put_name(out, from);
  tn_text_puts(out, " -> ");
  put_name(out, to);
  tn_text_puts(out, style);
  tn_text_puts(out, ";\n");
}

static void put_region(const tn_graph *graph, uint32_t region, int depth, tn_text *out);

static void put_branches(const tn_graph *graph, tn_value value, int depth, tn_text *out) {
  const tn_node *node = tn_graph_node(graph, value);
  for (int i = 0; i < 2; i++) {
    uint32_t region = node->attrs->region[i];
    tn_text_repeat(out, ' ', (size_t)depth * 2);
    tn_text_puts(out, "subgraph cluster");
    tn_text_uint(out, region);
    tn_text_puts(out, i == 0 ? " {\n" : " {\n");
    tn_text_repeat(out, ' ', (size_t)depth * 2 + 2);
    tn_text_puts(out, i == 0 ? "label=\"then\";\n" : "label=\"else\";\n");
    put_region(graph, region, depth + 1, out);
    tn_text_repeat(out, ' ', (size_t)depth * 2);
    tn_text_puts(out, "}\n");
    const tn_region *r = &graph->regions.at[region];
    for (size_t k = 0; k < r->results.count; k++)
      put_arrow(out, r->results.at[k], value, depth, " [style=dashed]");
  }
}

/* Regions nest no deeper than TN_REGION_DEPTH_LIMIT. */
static void put_region(const tn_graph *graph, uint32_t region, int depth, tn_text *out) {
  const tn_region *r = &graph->regions.at[region];
  for (size_t i = 0; i < r->nodes.count && !out->failed; i++) {
    tn_value value = r->nodes.at[i];
    const tn_node *node = tn_graph_node(graph, value);
    put_node(graph, value, depth, out);
    if (node->op == TN_OP_IF) put_branches(graph, value, depth, out);
    for (int k = 0; k < node->count; k++) put_arrow(out, node->in[k], value, depth, "");
  }
}

void tn_dot_write(const tn_graph *graph, tn_text *out) {
  tn_text_puts(out, "digraph {\n  node [shape=box];\n");
  put_region(graph, 0, 1, out);
  for (size_t i = 0; i < graph->outputs.count; i++) {
    tn_text_puts(out, "  out");
    tn_text_uint(out, i);
    tn_text_puts(out, " [label=\"");
    tn_name name = graph->outputs.at[i].name;
    put_safe(out, name ? tn_names_text(graph->names, name) : TN_LIT("result"));
    tn_text_puts(out, "\", shape=plaintext];\n  ");
    put_name(out, graph->outputs.at[i].value);
    tn_text_puts(out, " -> out");
    tn_text_uint(out, i);
    tn_text_puts(out, ";\n");
  }
  tn_text_puts(out, "}\n");
}
