/* graph/print.c: a graph as text. The form is described in graph.h.
 *
 * A value is shown by the name of the input or parameter it is, where that is a
 * plain word and the first of its kind, and by a number otherwise; numbers
 * count the values that have no name. */
#include "base/map.h"
#include "graph/internal.h"

typedef struct {
  const tn_graph *graph;
  tn_text *out;
  uint32_t *labels; /* by value: its number, or 0: its name */
  int indent;
} printer;

static bool is_interface(tn_op op) { return op == TN_OP_INPUT || op == TN_OP_PARAM; }

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/* A word that needs no quotes in graph text: a letter or _, then letters, digits, _ and dots. */
static bool is_plain_word(tn_str text) {
  if (text.len == 0 || !is_letter(text.at[0])) return false;
  for (size_t i = 1; i < text.len; i++) {
    char c = text.at[i];
    if (!is_letter(c) && c != '.' && !(c >= '0' && c <= '9')) return false;
  }
  return true;
}

/* ---- labels ---- */

static bool choose_labels(printer *p) {
  const tn_graph *graph = p->graph;
  tn_map taken;
  uint32_t next = 1;
  bool ok = true;
  tn_map_init(&taken, graph->heap);
  for (size_t v = 1; ok && v < graph->nodes.count; v++) {
    const tn_node *node = &graph->nodes.at[v];
    tn_name name = is_interface(node->op) ? node->attrs->name : 0;
    bool named = name && is_plain_word(tn_names_text(graph->names, name)) && !tn_map_get(&taken, name);
    if (named)
      ok = tn_map_put(&taken, name, 1);
    else
      p->labels[v] = next++;
  }
  tn_map_free(&taken);
  return ok;
}

static void print_value(const printer *p, tn_value value) {
  tn_text_byte(p->out, '%');
  if (p->labels[value] != 0)
    tn_text_uint(p->out, p->labels[value]);
  else if (value == TN_ERROR_VALUE)
    tn_text_puts(p->out, "error");
  else
    tn_text_add(p->out, tn_names_text(p->graph->names, tn_graph_node(p->graph, value)->attrs->name));
}

static void print_values(const printer *p, const tn_value *values, size_t count) {
  for (size_t i = 0; i < count; i++) {
    tn_text_puts(p->out, i == 0 ? " " : ", ");
    print_value(p, values[i]);
  }
}

static void start_line(const printer *p) { tn_text_repeat(p->out, ' ', 2 * (size_t)p->indent); }

static void print_type(const printer *p, const tn_type *type) {
  tn_type_print(type, p->graph->names, p->out);
}

/* ---- statements ---- */

static void print_step(const printer *p, const tn_fused *program, int index) {
  const tn_fused_step *step = &program->step[index];
  start_line(p);
  tn_text_byte(p->out, 'r');
  tn_text_int(p->out, program->operand_count + index);
  tn_text_puts(p->out, " = ");
  tn_text_puts(p->out, tn_op_sig_of(step->op)->name);
  for (int i = 0; i < tn_fused_step_arity(step->op); i++) {
    tn_text_puts(p->out, i == 0 ? " r" : ", r");
    tn_text_int(p->out, step->in[i]);
  }
  if (step->op == TN_OP_FILL) {
    tn_text_byte(p->out, ' ');
    tn_text_f64(p->out, step->number);
  }
  tn_text_puts(p->out, " : ");
  tn_text_puts(p->out, tn_dtype_name(step->dtype));
  tn_text_byte(p->out, '\n');
}

static void print_program(printer *p, const tn_fused *program) {
  tn_text_puts(p->out, " program {\n");
  p->indent++;
  for (int i = 0; i < program->step_count; i++) print_step(p, program, i);
  p->indent--;
  start_line(p);
  tn_text_byte(p->out, '}');
}

static void print_attrs(const printer *p, const tn_node *node) {
  if (node->op == TN_OP_PICK) { /* its type is that of the result */
    tn_text_puts(p->out, " {index=");
    tn_text_uint(p->out, node->attrs->index);
    tn_text_byte(p->out, '}');
    return;
  }
  if (tn_attrs_are_default(node->op, node->attrs)) return;
  tn_text_byte(p->out, ' ');
  tn_attrs_print(node->op, node->attrs, p->graph->names, p->out);
}

static void print_region(printer *p, uint32_t region);

static void print_node(printer *p, tn_value value) {
  const tn_node *node = tn_graph_node(p->graph, value);
  start_line(p);
  print_value(p, value);
  tn_text_puts(p->out, " = ");
  tn_text_puts(p->out, tn_op_sig_of(node->op)->name);
  print_values(p, node->in, (size_t)node->count);
  if (node->op == TN_OP_IF) {
    print_region(p, node->attrs->region[0]);
    tn_text_puts(p->out, " else");
    print_region(p, node->attrs->region[1]);
  } else {
    print_attrs(p, node);
    if (node->attrs->program) print_program(p, node->attrs->program);
    tn_text_puts(p->out, " : ");
    print_type(p, &node->type);
  }
  tn_text_byte(p->out, '\n');
}

static void print_nodes(printer *p, uint32_t region, size_t from) {
  const tn_region *r = &p->graph->regions.at[region];
  p->indent++;
  for (size_t i = from; i < r->nodes.count && !p->out->failed; i++) print_node(p, r->nodes.at[i]);
}

static void print_region(printer *p, uint32_t region) {
  const tn_region *r = &p->graph->regions.at[region];
  if (!tn_text_room(p->out)) return;
  tn_text_puts(p->out, " {\n");
  print_nodes(p, region, 0);
  start_line(p);
  tn_text_puts(p->out, "yield");
  print_values(p, r->results.at, r->results.count);
  tn_text_byte(p->out, '\n');
  p->indent--;
  start_line(p);
  tn_text_byte(p->out, '}');
}

/* ---- the whole ---- */

static void print_source(const printer *p, tn_value value) {
  const tn_node *node = tn_graph_node(p->graph, value);
  if (node->op == TN_OP_PARAM) tn_text_puts(p->out, "param ");
  print_value(p, value);
  if (node->attrs->name && p->labels[value] != 0) {
    tn_text_byte(p->out, ' ');
    tn_text_quoted(p->out, tn_names_text(p->graph->names, node->attrs->name));
  }
  tn_text_puts(p->out, ": ");
  print_type(p, &node->type);
}

/* Inputs and parameters before any other node. Gives how many there are. */
static size_t print_head(const printer *p) {
  size_t count = 0;
  tn_text_puts(p->out, "graph(");
  for (tn_value v = 1; v < p->graph->nodes.count; v++) {
    if (!is_interface(tn_graph_node(p->graph, v)->op)) break;
    if (count++ > 0) tn_text_puts(p->out, ", ");
    print_source(p, v);
  }
  tn_text_puts(p->out, ") {\n");
  return count;
}

static void print_outputs(const printer *p) {
  start_line(p);
  tn_text_puts(p->out, "return");
  for (size_t i = 0; i < p->graph->outputs.count; i++) {
    const tn_output *output = &p->graph->outputs.at[i];
    tn_str name = tn_names_text(p->graph->names, output->name);
    tn_text_puts(p->out, i == 0 ? " " : ", ");
    if (output->name && is_plain_word(name))
      tn_text_add(p->out, name);
    else if (output->name)
      tn_text_quoted(p->out, name);
    if (output->name) tn_text_byte(p->out, '=');
    print_value(p, output->value);
  }
  tn_text_byte(p->out, '\n');
}

void tn_graph_print(const tn_graph *graph, tn_text *out) {
  size_t bytes = graph->nodes.count * sizeof(uint32_t);
  printer p = { .graph = graph, .out = out };
  p.labels = tn_heap_alloc(graph->heap, bytes);
  if (p.labels && choose_labels(&p)) {
    print_nodes(&p, 0, print_head(&p));
    print_outputs(&p);
    tn_text_puts(out, "}\n");
  } else {
    out->failed = true;
  }
  tn_heap_free(graph->heap, p.labels, bytes);
}
