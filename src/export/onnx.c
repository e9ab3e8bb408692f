/* export/onnx.c: writes ONNX models, graphs and branches. */
#include "export/onnx.h"

#include <string.h>

#include "base/map.h"
#include "export/onnx_internal.h"
#include "graph/builder.h"

/* ---- failing ---- */

void tn_onnx_fail(tn_onnx *w) {
  if (!w->failed) w->problem->feature = NULL;
  w->failed = true;
}

bool tn_onnx_unsupported(tn_onnx *w, const char *feature, tn_span at) {
  if (!w->failed) *w->problem = (tn_export_problem){ feature, at };
  w->failed = true;
  return false;
}

/* Adds what `part` holds as a field, and frees it. */
static void take_part(tn_onnx *w, tn_text *out, int field, tn_text *part) {
  tn_wire_bytes(out, field, tn_text_str(part));
  if (part->failed) tn_onnx_fail(w);
  tn_text_free(part);
}

/* ---- nodes ---- */

static tn_str joined(tn_onnx *w, const char *word, tn_str rest) {
  tn_text text;
  tn_text_init(&text, w->heap);
  tn_text_puts(&text, word);
  tn_text_add(&text, rest);
  tn_str kept = tn_arena_str(&w->arena, tn_text_str(&text));
  if (text.failed || w->arena.failed) tn_onnx_fail(w);
  tn_text_free(&text);
  return kept;
}

/* A point is in no name of a program, so these are new. */
static tn_str new_name(tn_onnx *w) {
  tn_text digits;
  tn_text_init(&digits, w->heap);
  tn_text_uint(&digits, w->next++);
  tn_str name = joined(w, "t.", tn_text_str(&digits));
  tn_text_free(&digits);
  return name;
}

static void begin_attribute(tn_onnx *w, tn_text *part, const char *name, int kind) {
  tn_text_init(part, w->heap);
  tn_wire_word(part, 1, name);
  tn_wire_int(part, 20, kind);
}

enum { ATTRIBUTE_INT = 2, ATTRIBUTE_STRING = 3, ATTRIBUTE_GRAPH = 5, ATTRIBUTE_INTS = 7 };

void tn_onnx_attr_int(tn_onnx *w, const char *name, int64_t number) {
  tn_text part;
  begin_attribute(w, &part, name, ATTRIBUTE_INT);
  tn_wire_int(&part, 3, number);
  take_part(w, &w->attributes, 5, &part);
}

void tn_onnx_attr_ints(tn_onnx *w, const char *name, const int64_t *numbers, int count) {
  tn_text part;
  begin_attribute(w, &part, name, ATTRIBUTE_INTS);
  for (int i = 0; i < count; i++) tn_wire_int(&part, 8, numbers[i]);
  take_part(w, &w->attributes, 5, &part);
}

void tn_onnx_attr_word(tn_onnx *w, const char *name, const char *word) {
  tn_text part;
  begin_attribute(w, &part, name, ATTRIBUTE_STRING);
  tn_wire_word(&part, 4, word);
  take_part(w, &w->attributes, 5, &part);
}

static void attr_graph(tn_onnx *w, const char *name, tn_str graph) {
  tn_text part;
  begin_attribute(w, &part, name, ATTRIBUTE_GRAPH);
  tn_wire_bytes(&part, 6, graph);
  take_part(w, &w->attributes, 5, &part);
}

/* The same with results of given names. */
static void op_named(tn_onnx *w, const char *type, const tn_str *in, int count, const tn_str *out,
                     int outs) {
  tn_text node;
  tn_text_init(&node, w->heap);
  for (int i = 0; i < count; i++) tn_wire_bytes(&node, 1, in[i]);
  for (int i = 0; i < outs; i++) tn_wire_bytes(&node, 2, out[i]);
  tn_wire_word(&node, 4, type);
  tn_text_add(&node, tn_text_str(&w->attributes));
  if (w->attributes.failed) tn_onnx_fail(w);
  tn_text_clear(&w->attributes);
  take_part(w, w->nodes, 1, &node);
}

tn_str tn_onnx_op(tn_onnx *w, const char *type, const tn_str *in, int count) {
  tn_str name = new_name(w);
  op_named(w, type, in, count, &name, 1);
  return name;
}

/* ---- constants ---- */

static void add_initializer(tn_onnx *w, tn_str name, const tn_view *view) {
  tn_text tensor;
  tn_text_init(&tensor, w->heap);
  tn_onnx_tensor(&tensor, name, view);
  take_part(w, &w->initializers, 5, &tensor);
}

tn_str tn_onnx_constant(tn_onnx *w, const tn_view *view) {
  tn_str name = new_name(w);
  add_initializer(w, name, view);
  return name;
}

tn_str tn_onnx_number(tn_onnx *w, tn_dtype dtype, double number) {
  tn_element room;
  tn_view view = tn_view_number(&room, dtype, number);
  return tn_onnx_constant(w, &view);
}

tn_str tn_onnx_ints(tn_onnx *w, const int64_t *numbers, int count) {
  static const int64_t nothing;
  tn_shape shape = tn_shape_make(1, (int64_t)count);
  int64_t room[2 * TN_RANK_LIMIT];
  memcpy(room, count ? numbers : &nothing, (size_t)(count ? count : 1) * sizeof *room);
  tn_view view = tn_view_make(room, TN_I64, &shape);
  return tn_onnx_constant(w, &view);
}

tn_str tn_onnx_cast(tn_onnx *w, tn_str x, int dtype) {
  tn_onnx_attr_int(w, "to", dtype);
  return TN_ONNX_OP(w, "Cast", x);
}

/* ---- sizes ---- */

static tn_str size_at(tn_onnx *w, tn_str x, int axis) {
  tn_onnx_attr_int(w, "start", axis);
  tn_onnx_attr_int(w, "end", axis + 1);
  return TN_ONNX_OP(w, "Shape", x);
}

/* The first argument that has the name says how long it is. */
static tn_str size_named(tn_onnx *w, int64_t dim) {
  const tn_graph *graph = w->graph;
  for (size_t i = 0; i < graph->inputs.count + graph->params.count; i++) {
    tn_value value =
        i < graph->inputs.count ? graph->inputs.at[i] : graph->params.at[i - graph->inputs.count];
    const tn_shape *shape = &tn_graph_type(graph, value)->shape;
    for (int axis = 0; axis < shape->rank; axis++) {
      if (w->used[value] && shape->dim[axis] == dim) return size_at(w, w->values[value], axis);
    }
  }
  return (tn_str){ 0 };
}

tn_str tn_onnx_size(tn_onnx *w, tn_value value, int axis) {
  int64_t dim = tn_graph_type(w->graph, value)->shape.dim[axis];
  if (tn_dim_is_known(dim)) return tn_onnx_ints(w, &dim, 1);
  return size_at(w, w->values[value], axis);
}

tn_str tn_onnx_shape(tn_onnx *w, const tn_shape *shape, tn_span at) {
  tn_str parts[TN_RANK_LIMIT];
  if (tn_shape_is_known(shape)) return tn_onnx_ints(w, shape->dim, shape->rank);
  for (int i = 0; i < shape->rank; i++) {
    parts[i] =
        tn_dim_is_known(shape->dim[i]) ? tn_onnx_ints(w, &shape->dim[i], 1) : size_named(w, shape->dim[i]);
    if (!parts[i].len) {
      tn_onnx_unsupported(w, "a length that no input of an ONNX model tells", at);
      return (tn_str){ 0 };
    }
  }
  tn_onnx_attr_int(w, "axis", 0);
  return tn_onnx_op(w, "Concat", parts, shape->rank);
}

/* ---- branches ---- */

static bool write_region(tn_onnx *w, uint32_t region);

/* A graph without inputs: it sees the values around it. */
static bool add_branch(tn_onnx *w, const char *attribute, uint32_t region) {
  const tn_region *r = &w->graph->regions.at[region];
  tn_text *around = w->nodes, kept = w->attributes, nodes, part;
  tn_text_init(&nodes, w->heap);
  tn_text_init(&w->attributes, w->heap);
  w->nodes = &nodes;
  bool ok = write_region(w, region);
  tn_wire_word(&nodes, 2, attribute);
  for (size_t i = 0; ok && i < r->results.count; i++) {
    tn_str name = TN_ONNX_OP(w, "Identity", w->values[r->results.at[i]]);
    tn_text_init(&part, w->heap);
    tn_onnx_value_info(&part, name, tn_graph_type(w->graph, r->results.at[i]), w->graph->names);
    take_part(w, &nodes, 12, &part);
  }
  w->nodes = around;
  tn_text_free(&w->attributes);
  w->attributes = kept;
  attr_graph(w, attribute, tn_text_str(&nodes));
  if (nodes.failed) tn_onnx_fail(w);
  tn_text_free(&nodes);
  return ok;
}

static tn_str pick_name(tn_onnx *w, tn_value branch, uint64_t index) {
  tn_text text;
  tn_text_init(&text, w->heap);
  tn_text_uint(&text, branch);
  tn_text_byte(&text, '.');
  tn_text_uint(&text, index);
  tn_str name = joined(w, "if.", tn_text_str(&text));
  tn_text_free(&text);
  return name;
}

bool tn_onnx_if(tn_onnx *w, tn_value value) {
  const tn_node *node = tn_graph_node(w->graph, value);
  size_t count = w->graph->regions.at[node->attrs->region[0]].results.count;
  tn_str *results = tn_arena_array(&w->arena, count + 1, sizeof *results);
  if (!results) return false;
  if (count == 0) return true;
  for (size_t i = 0; i < count; i++) results[i] = pick_name(w, value, i);
  if (!add_branch(w, "then_branch", node->attrs->region[0])) return false;
  if (!add_branch(w, "else_branch", node->attrs->region[1])) return false;
  op_named(w, "If", &w->values[node->in[0]], 1, results, (int)count);
  return true;
}

bool tn_onnx_pick(tn_onnx *w, tn_value value) {
  const tn_node *node = tn_graph_node(w->graph, value);
  w->values[value] = pick_name(w, node->in[0], node->attrs->index);
  return true;
}

/* The names of the operands are those of the arguments of its parts, all of which are used. */
bool tn_onnx_parts(tn_onnx *w, tn_value value) {
  tn_onnx whole = *w;
  const tn_node *node = tn_graph_node(w->graph, value);
  tn_graph parts;
  if (!tn_graph_parts(w->graph, value, &parts)) return false;
  w->graph = &parts;
  w->values = tn_arena_array(&w->arena, parts.nodes.count, sizeof *w->values);
  w->used = tn_arena_array(&w->arena, parts.nodes.count, sizeof *w->used);
  for (int i = 0; w->values && i < node->count; i++)
    w->values[parts.inputs.at[i]] = whole.values[node->in[i]];
  for (size_t i = 0; w->used && i < parts.nodes.count; i++) w->used[i] = true;
  bool ok = w->values && w->used && write_region(w, 0);
  if (ok) whole.values[value] = w->values[parts.outputs.at[0].value];
  w->graph = whole.graph;
  w->values = whole.values;
  w->used = whole.used;
  tn_graph_free(&parts);
  return ok;
}

/* Arguments are named before the first node is written. */
bool tn_onnx_argument(tn_onnx *w, tn_value value) {
  (void)w, (void)value;
  return true;
}

static bool unsupported(tn_onnx *w, const char *feature, tn_value value) {
  return tn_onnx_unsupported(w, feature, tn_graph_node(w->graph, value)->at);
}

bool tn_onnx_no_host(tn_onnx *w, tn_value value) {
  return unsupported(w, "asking the clock or a file in ONNX", value);
}
bool tn_onnx_no_row_update(tn_onnx *w, tn_value value) {
  return unsupported(w, "an update of rows in ONNX", value);
}
bool tn_onnx_no_fold(tn_onnx *w, tn_value value) {
  return unsupported(w, "the gradient of a convolution in ONNX", value);
}
bool tn_onnx_no_cumprod(tn_onnx *w, tn_value value) {
  return unsupported(w, "a running product in ONNX", value);
}
bool tn_onnx_no_fused(tn_onnx *w, tn_value value) {
  return unsupported(w, "a fused operation in ONNX", value);
}

typedef bool (*writer)(tn_onnx *w, tn_value value);
static const writer writers[TN_OP_COUNT] = {
#define TN_OP(id, ...)        [TN_OP_##id] = __VA_ARGS__,
#define TN_EXPORT(mlir, onnx) tn_onnx_##onnx
#define TN_EXPAND(...)        NULL /* composed: never in a graph */
#include "op/ops.def"
};

static bool write_region(tn_onnx *w, uint32_t region) {
  const tn_region *r = &w->graph->regions.at[region];
  if (!tn_arena_room(&w->arena)) return false;
  for (size_t i = 0; i < r->nodes.count; i++) {
    if (!w->used[r->nodes.at[i]]) continue;
    tn_value value = r->nodes.at[i];
    if (!writers[tn_graph_node(w->graph, value)->op](w, value) || w->failed || w->arena.failed) return false;
  }
  return true;
}

/* ---- the graph ---- */

/* A name that nothing else has: its own, or else a new one. */
static tn_str unique(tn_onnx *w, tn_map *taken, tn_name name) {
  bool free = name && !tn_map_get(taken, name);
  if (free && !tn_map_put(taken, name, 1)) tn_onnx_fail(w);
  return free ? tn_names_text(w->graph->names, name) : new_name(w);
}

/* Inputs that the outputs do not need, such as labels, are left out of the model. */
static void mark_used(tn_onnx *w) {
  const tn_graph *graph = w->graph;
  for (size_t i = 0; i < graph->outputs.count; i++) w->used[graph->outputs.at[i].value] = true;
  for (tn_value v = (tn_value)graph->nodes.count - 1; v > 0; v--) { /* readers come after it */
    const tn_node *node = tn_graph_node(graph, v);
    if (!w->used[v]) continue;
    for (int i = 0; i < node->count; i++) w->used[node->in[i]] = true;
    for (int k = 0; node->op == TN_OP_IF && k < 2; k++) {
      const tn_region *r = &graph->regions.at[node->attrs->region[k]];
      for (size_t i = 0; i < r->results.count; i++) w->used[r->results.at[i]] = true;
    }
  }
}

static void add_argument(tn_onnx *w, tn_text *out, tn_value value, const tn_tensor *given) {
  tn_text part;
  if (!w->used[value]) return;
  if (given) {
    add_initializer(w, w->values[value], &given->view);
    return;
  }
  tn_text_init(&part, w->heap);
  tn_onnx_value_info(&part, w->values[value], tn_graph_type(w->graph, value), w->graph->names);
  take_part(w, out, 11, &part);
}

static void add_arguments(tn_onnx *w, tn_text *out, const tn_tensor *params, tn_map *taken) {
  const tn_graph *graph = w->graph;
  for (size_t i = 0; i < graph->inputs.count; i++) {
    tn_value value = graph->inputs.at[i];
    w->values[value] = unique(w, taken, tn_graph_node(graph, value)->attrs->name);
    add_argument(w, out, value, NULL);
  }
  for (size_t i = 0; i < graph->params.count; i++) {
    tn_value value = graph->params.at[i];
    w->values[value] = unique(w, taken, tn_graph_node(graph, value)->attrs->name);
    add_argument(w, out, value, params ? &params[i] : NULL);
  }
}

static void add_outputs(tn_onnx *w, tn_text *out, tn_map *taken) {
  for (size_t i = 0; i < w->graph->outputs.count; i++) {
    const tn_output *output = &w->graph->outputs.at[i];
    tn_str name = unique(w, taken, output->name);
    tn_text part;
    op_named(w, "Identity", &w->values[output->value], 1, &name, 1);
    tn_text_init(&part, w->heap);
    tn_onnx_value_info(&part, name, tn_graph_type(w->graph, output->value), w->graph->names);
    take_part(w, out, 12, &part);
  }
}

static bool write_graph(tn_onnx *w, const tn_tensor *params, tn_text *out) {
  tn_text heads, nodes;
  tn_map taken;
  tn_text_init(&heads, w->heap);
  tn_text_init(&nodes, w->heap);
  tn_map_init(&taken, w->heap);
  w->nodes = &nodes;
  add_arguments(w, &heads, params, &taken);
  bool ok = !w->failed && write_region(w, 0);
  if (ok) add_outputs(w, &heads, &taken);
  tn_text_add(out, tn_text_str(&nodes));
  tn_wire_word(out, 2, "tern");
  tn_text_add(out, tn_text_str(&w->initializers));
  tn_text_add(out, tn_text_str(&heads));
  if (heads.failed || nodes.failed || w->initializers.failed) tn_onnx_fail(w);
  tn_map_free(&taken);
  tn_text_free(&nodes);
  tn_text_free(&heads);
  return ok && !w->failed && !w->arena.failed;
}

static void add_operators(tn_onnx *w, tn_text *out) {
  tn_text part;
  tn_text_init(&part, w->heap);
  tn_wire_word(&part, 1, "");
  tn_wire_int(&part, 2, TN_ONNX_OPSET);
  take_part(w, out, 8, &part);
}

bool tn_onnx_write(const tn_graph *graph, const tn_tensor *params, tn_text *out, tn_export_problem *problem) {
  tn_onnx w = { .heap = graph->heap, .graph = graph, .problem = problem };
  tn_text body;
  *problem = (tn_export_problem){ 0 };
  tn_arena_init(&w.arena, w.heap);
  tn_text_init(&w.initializers, w.heap);
  tn_text_init(&w.attributes, w.heap);
  tn_text_init(&body, w.heap);
  w.values = tn_arena_array(&w.arena, graph->nodes.count, sizeof *w.values);
  w.used = tn_arena_array(&w.arena, graph->nodes.count, sizeof *w.used);
  if (w.used) mark_used(&w);
  bool ok = w.values && w.used && write_graph(&w, params, &body);
  tn_wire_int(out, 1, TN_ONNX_IR_VERSION);
  tn_wire_word(out, 2, "tern");
  tn_wire_word(out, 3, TN_VERSION);
  take_part(&w, out, 7, &body);
  add_operators(&w, out);
  tn_text_free(&w.attributes);
  tn_text_free(&w.initializers);
  tn_arena_free(&w.arena);
  return ok && !w.failed && !out->failed;
}
