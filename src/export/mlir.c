/* export/mlir.c: writes MLIR modules, functions and regions. */
#include "export/mlir.h"

#include "base/map.h"
#include "export/mlir_internal.h"
#include "graph/builder.h"

/* ---- arguments ---- */

static bool has_symbol(const tn_mlir *m, tn_name symbol) {
  for (size_t i = 0; i < m->symbol_count; i++) {
    if (m->symbols[i] == symbol) return true;
  }
  return false;
}

/* Every name of a dimension in the graph, in order of appearance. */
static bool collect_symbols(tn_mlir *m) {
  const tn_graph *graph = m->graph;
  size_t room = 0;
  m->symbol_count = 0;
  for (size_t v = 1; v < graph->nodes.count; v++)
    room += (size_t)tn_graph_type(graph, (tn_value)v)->shape.rank;
  m->symbols = tn_arena_array(&m->arena, room, sizeof *m->symbols);
  for (size_t v = 1; m->symbols && v < graph->nodes.count; v++) {
    const tn_shape *shape = &tn_graph_type(graph, (tn_value)v)->shape;
    for (int i = 0; i < shape->rank; i++) {
      if (!tn_dim_is_symbol(shape->dim[i]) || has_symbol(m, tn_dim_name(shape->dim[i]))) continue;
      m->symbols[m->symbol_count++] = tn_dim_name(shape->dim[i]);
    }
  }
  return m->symbols != NULL;
}

static bool is_scalar(const bool *flags, size_t index, const tn_type *type) {
  return flags && flags[index] && type->shape.rank == 0;
}

static size_t argument_count(const tn_graph *graph) { return graph->inputs.count + graph->params.count; }

static tn_value argument(const tn_graph *graph, size_t index) {
  size_t inputs = graph->inputs.count;
  return index < inputs ? graph->inputs.at[index] : graph->params.at[index - inputs];
}

static bool is_word(tn_str text) {
  for (size_t i = 0; i < text.len; i++) {
    char c = text.at[i];
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!letter && !(i && c >= '0' && c <= '9')) return false;
  }
  return text.len > 0;
}

/* Its own name if that is a word and nothing else has it; a point is in no such name. */
static bool name_arguments(tn_mlir *m) {
  const tn_graph *graph = m->graph;
  size_t count = argument_count(graph);
  tn_map taken;
  bool ok = true;
  m->arguments = tn_arena_array(&m->arena, count, sizeof *m->arguments);
  if (!m->arguments) return false;
  tn_map_init(&taken, m->heap);
  for (size_t i = 0; ok && i < m->symbol_count; i++) ok = tn_map_put(&taken, m->symbols[i], 1);
  for (size_t i = 0; ok && i < count; i++) {
    tn_name name = tn_graph_node(graph, argument(graph, i))->attrs->name;
    tn_str text = tn_names_text(graph->names, name);
    bool usable = name && is_word(text) && !tn_map_get(&taken, name);
    m->arguments[i] =
        usable ? TN_MLIR_TEXT(m, "%$", text) : TN_MLIR_TEXT(m, "%arg.$", tn_mlir_int(m, (int64_t)i));
    ok = !usable || tn_map_put(&taken, name, 1);
  }
  tn_map_free(&taken);
  return ok;
}

static void put_argument(tn_text *out, bool *first, tn_str name, tn_str type) {
  if (!*first) tn_text_puts(out, ", ");
  *first = false;
  tn_text_add(out, name);
  tn_text_puts(out, ": ");
  tn_text_add(out, type);
}

static void put_arguments(tn_mlir *m, tn_text *out) {
  bool first = true;
  for (size_t i = 0; i < m->symbol_count; i++) {
    tn_str name = TN_MLIR_TEXT(m, "%$", tn_names_text(m->graph->names, m->symbols[i]));
    put_argument(out, &first, name, TN_LIT("index"));
  }
  for (size_t i = 0; i < argument_count(m->graph); i++) {
    const tn_type *type = tn_graph_type(m->graph, argument(m->graph, i));
    bool number = is_scalar(m->function->scalar_inputs, i, type);
    put_argument(out, &first, m->arguments[i],
                 number ? tn_mlir_dtype(type->dtype) : tn_mlir_tensor_type(m, type));
  }
}

/* A tensor without dimensions is taken apart at once. */
static void read_arguments(tn_mlir *m) {
  for (size_t i = 0; i < argument_count(m->graph); i++) {
    tn_value value = argument(m->graph, i);
    const tn_type *type = tn_graph_type(m->graph, value);
    tn_str name = m->arguments[i];
    m->values[value] = name;
    if (type->shape.rank || is_scalar(m->function->scalar_inputs, i, type)) continue;
    m->values[value] = tn_mlir_fresh(m);
    TN_MLIR(m, "$ = tensor.extract $[] : $", m->values[value], name, tn_mlir_tensor_type(m, type));
  }
}

/* ---- regions ---- */

static bool write_region(tn_mlir *m, uint32_t region);

static tn_str result_types(tn_mlir *m, uint32_t region) {
  const tn_region *r = &m->graph->regions.at[region];
  tn_str list = TN_LIT("");
  for (size_t i = 0; i < r->results.count; i++) {
    list =
        TN_MLIR_TEXT(m, i ? "$, $" : "$$", list, tn_mlir_type(m, tn_graph_type(m->graph, r->results.at[i])));
  }
  return list;
}

static bool write_branch(tn_mlir *m, uint32_t region) {
  const tn_region *r = &m->graph->regions.at[region];
  tn_str list = TN_LIT("");
  m->indent++;
  bool ok = write_region(m, region);
  for (size_t i = 0; ok && i < r->results.count; i++) {
    list = TN_MLIR_TEXT(m, i ? "$, $" : "$$", list, m->values[r->results.at[i]]);
  }
  if (ok && r->results.count) TN_MLIR(m, "scf.yield $ : $", list, result_types(m, region));
  m->indent--;
  return ok;
}

/* Both regions give results of the same types. */
bool tn_mlir_if(tn_mlir *m, tn_value value) {
  const tn_node *node = tn_graph_node(m->graph, value);
  const uint32_t *regions = node->attrs->region;
  size_t count = m->graph->regions.at[regions[0]].results.count;
  tn_str made = tn_mlir_fresh(m), condition = m->values[node->in[0]];
  m->values[value] = made;
  if (count == 0) return true; /* nothing in it can be seen */
  if (count == 1)
    TN_MLIR(m, "$ = scf.if $ -> ($) {", made, condition, result_types(m, regions[0]));
  else
    TN_MLIR(m, "$:$ = scf.if $ -> ($) {", made, tn_mlir_int(m, (int64_t)count), condition,
            result_types(m, regions[0]));
  if (!write_branch(m, regions[0])) return false;
  tn_mlir_line(m, "} else {", NULL);
  if (!write_branch(m, regions[1])) return false;
  tn_mlir_line(m, "}", NULL);
  return true;
}

bool tn_mlir_pick(tn_mlir *m, tn_value value) {
  const tn_node *node = tn_graph_node(m->graph, value), *branch = tn_graph_node(m->graph, node->in[0]);
  size_t count = m->graph->regions.at[branch->attrs->region[0]].results.count;
  tn_str made = m->values[node->in[0]];
  m->values[value] =
      count == 1 ? made : TN_MLIR_TEXT(m, "$#$", made, tn_mlir_int(m, (int64_t)node->attrs->index));
  return true;
}

/* The names of the operands are those of the arguments of its parts. */
bool tn_mlir_parts(tn_mlir *m, tn_value value) {
  const tn_graph *graph = m->graph;
  const tn_node *node = tn_graph_node(graph, value);
  tn_str *values = m->values;
  tn_graph parts;
  if (!tn_graph_parts(graph, value, &parts)) return false;
  m->graph = &parts;
  m->values = tn_arena_array(&m->arena, parts.nodes.count, sizeof *m->values);
  for (int i = 0; m->values && i < node->count; i++) m->values[parts.inputs.at[i]] = values[node->in[i]];
  bool ok = m->values && write_region(m, 0);
  if (ok) values[value] = m->values[parts.outputs.at[0].value];
  m->graph = graph;
  m->values = values;
  tn_graph_free(&parts);
  return ok;
}

/* Arguments are named before the first node is written. */
bool tn_mlir_argument(tn_mlir *m, tn_value value) {
  (void)m, (void)value;
  return true;
}

static bool unsupported(tn_mlir *m, const char *feature, tn_value value) {
  return tn_mlir_unsupported(m, feature, tn_graph_node(m->graph, value)->at);
}

bool tn_mlir_no_host(tn_mlir *m, tn_value value) {
  return unsupported(m, "asking the clock or a file in MLIR", value);
}

bool tn_mlir_no_row_update(tn_mlir *m, tn_value value) {
  return unsupported(m, "an update of rows in MLIR", value);
}

bool tn_mlir_no_fused(tn_mlir *m, tn_value value) {
  return unsupported(m, "a fused operation in MLIR", value);
}

typedef bool (*writer)(tn_mlir *m, tn_value value);
static const writer writers[TN_OP_COUNT] = {
#define TN_OP(id, ...)        [TN_OP_##id] = __VA_ARGS__,
#define TN_EXPORT(mlir, onnx) tn_mlir_##mlir
#define TN_EXPAND(...)        NULL /* composed: never in a graph */
#include "op/ops.def"
};

static bool write_region(tn_mlir *m, uint32_t region) {
  const tn_region *r = &m->graph->regions.at[region];
  if (!tn_arena_room(&m->arena)) return false;
  for (size_t i = 0; i < r->nodes.count; i++) {
    tn_value value = r->nodes.at[i];
    if (!writers[tn_graph_node(m->graph, value)->op](m, value) || m->failed || m->arena.failed) return false;
  }
  return true;
}

/* ---- results ---- */

/* Always a fresh tensor. A constant, or what folds to one, would be returned as memory without an
 * owner, and bufferization would have to clone it. */
static tn_str result_value(tn_mlir *m, size_t index) {
  tn_value value = m->graph->outputs.at[index].value;
  const tn_type *type = tn_graph_type(m->graph, value);
  tn_str dims[TN_RANK_LIMIT];
  if (type->shape.rank == 0) {
    tn_str number = tn_mlir_canonical(m, type->dtype, m->values[value]);
    if (is_scalar(m->function->scalar_outputs, index, type)) return number;
    return tn_mlir_filled(m, number, type, NULL);
  }
  for (int i = 0; i < type->shape.rank; i++) dims[i] = tn_mlir_dim(m, value, i);
  return tn_mlir_copy(m, m->values[value], type, dims, true);
}

static tn_str output_type(tn_mlir *m, size_t index) {
  const tn_type *type = tn_graph_type(m->graph, m->graph->outputs.at[index].value);
  bool number = is_scalar(m->function->scalar_outputs, index, type);
  return number ? tn_mlir_dtype(type->dtype) : tn_mlir_tensor_type(m, type);
}

static bool write_return(tn_mlir *m) {
  tn_text values, types;
  tn_text_init(&values, m->heap);
  tn_text_init(&types, m->heap);
  for (size_t i = 0; i < m->graph->outputs.count; i++) {
    tn_text_puts(&values, i ? ", " : " ");
    tn_text_add(&values, result_value(m, i));
    tn_text_puts(&types, i ? ", " : " : ");
    tn_text_add(&types, output_type(m, i));
  }
  TN_MLIR(m, "return$$", tn_text_str(&values), tn_text_str(&types));
  bool ok = !values.failed && !types.failed;
  tn_text_free(&values);
  tn_text_free(&types);
  return ok;
}

/* ---- functions ---- */

static void put_results(tn_mlir *m, tn_text *out) {
  size_t count = m->graph->outputs.count;
  if (count == 0) return;
  tn_text_puts(out, count > 1 ? " -> (" : " -> ");
  for (size_t i = 0; i < count; i++) {
    if (i) tn_text_puts(out, ", ");
    tn_text_add(out, output_type(m, i));
  }
  if (count > 1) tn_text_byte(out, ')');
}

static bool write_function(tn_mlir *m, const tn_mlir_function *function) {
  m->function = function;
  m->graph = function->graph;
  m->next = 0;
  m->indent = 2;
  m->constants = NULL;
  m->constant_count = m->constant_room = 0;
  tn_text_clear(&m->head);
  tn_text_clear(&m->body);
  m->values = tn_arena_array(&m->arena, m->graph->nodes.count, sizeof *m->values);
  if (!m->values || !collect_symbols(m) || !name_arguments(m)) return false;
  read_arguments(m);
  if (!write_region(m, 0)) return false;
  if (!write_return(m)) return false;
  tn_text_puts(m->out, "  func.func @");
  tn_text_add(m->out, function->name);
  tn_text_byte(m->out, '(');
  put_arguments(m, m->out);
  tn_text_byte(m->out, ')');
  put_results(m, m->out);
  tn_text_puts(m->out, " {\n");
  tn_text_add(m->out, tn_text_str(&m->head));
  tn_text_add(m->out, tn_text_str(&m->body));
  tn_text_puts(m->out, "  }\n");
  return !m->failed && !m->arena.failed && !m->head.failed && !m->body.failed;
}

bool tn_mlir_write(const tn_mlir_function *functions, size_t count, tn_heap *heap, tn_text *out,
                   tn_export_problem *problem) {
  tn_mlir m = { .heap = heap, .out = out, .problem = problem };
  bool ok = true;
  *problem = (tn_export_problem){ 0 };
  tn_arena_init(&m.arena, heap);
  tn_text_init(&m.head, heap);
  tn_text_init(&m.body, heap);
  tn_text_puts(out, "module {\n");
  for (size_t i = 0; ok && i < count; i++) ok = write_function(&m, &functions[i]);
  if (ok) tn_mlir_write_helpers(&m);
  tn_text_puts(out, "}\n");
  tn_text_free(&m.head);
  tn_text_free(&m.body);
  tn_arena_free(&m.arena);
  return ok && !out->failed;
}
