/* lang/graph/lang.c: the doors of graphs in their text form. */
#include "lang/graph/doors.h"
#include "tensor/print.h"

static tn_graph_unit *self_of(tn_unit *unit) { return (tn_graph_unit *)unit; }

tn_str tn_graph_name_of(const tn_graph *graph, tn_value value) {
  return tn_names_text(graph->names, tn_graph_node(graph, value)->attrs->name);
}

bool tn_graph_unit_read(tn_graph_unit *self) {
  tn_host *host = self->unit.host;
  if (self->parsed) return true;
  self->parsed = tn_graph_parse(&self->source, host->heap, host->names, self->unit.file, host->diags);
  return self->parsed;
}

static void forget_run(tn_graph_unit *self) {
  tn_host *host = self->unit.host;
  if (self->plan) host->unplan(host, self->plan);
  self->plan = NULL;
  if (self->has_ran) tn_lowered_free(&self->ran, host->heap);
  self->has_ran = false;
  tn_givens_free(host->heap, &self->unit.params);
}

static void drop(tn_unit *unit) {
  tn_graph_unit *self = self_of(unit);
  forget_run(self);
  if (self->specs.inputs) tn_arena_free(&self->arena);
  if (self->parsed) tn_graph_free(&self->source);
}

static bool check(tn_unit *unit) { return tn_graph_unit_read(self_of(unit)); }

static bool format(tn_unit *unit, tn_text *out) {
  if (!tn_graph_unit_read(self_of(unit))) return false;
  tn_graph_print(&self_of(unit)->source, out);
  return true;
}

/* ---- what it declares ---- */

static const tn_tensor_spec *list(tn_graph_unit *self, const tn_value *values, size_t count) {
  tn_tensor_spec *list = tn_arena_array(&self->arena, count + 1, sizeof *list);
  for (size_t i = 0; list && i < count; i++) {
    const tn_node *node = tn_graph_node(&self->source, values[i]);
    list[i] = (tn_tensor_spec){ .name = node->attrs->name, .type = node->type, .at = node->at };
  }
  return list;
}

static const tn_specs *specs(tn_unit *unit) {
  tn_graph_unit *self = self_of(unit);
  const tn_graph *graph = &self->source;
  if (self->specs.inputs) return &self->specs;
  if (!tn_graph_unit_read(self)) return NULL;
  tn_arena_init(&self->arena, unit->host->heap);
  tn_specs made = { list(self, graph->inputs.at, graph->inputs.count), graph->inputs.count,
                    list(self, graph->params.at, graph->params.count), graph->params.count };
  if (made.inputs && made.params) return self->specs = made, &self->specs;
  tn_arena_free(&self->arena);
  tn_host_out_of_memory(self->unit.host);
  return NULL;
}

/* ---- running ---- */

/* They stay where the plan reads them. */
static bool keep_params(tn_graph_unit *self) {
  const tn_graph *graph = &self->source;
  for (size_t i = 0; i < graph->params.count; i++) {
    tn_tensor share = tn_tensor_ref(&self->ran.params[i]);
    if (!tn_unit_keep_param_take(&self->unit, tn_graph_name_of(graph, graph->params.at[i]), &share))
      return false;
  }
  return true;
}

/* What the host is asked for belongs to a language; a graph by itself has nobody who would answer. */
static bool asks_nobody(tn_host *host, const tn_graph *graph) {
  for (tn_value v = 1; v < graph->nodes.count; v++) {
    const tn_node *node = tn_graph_node(graph, v);
    if (tn_op_sig_of(node->op)->kind == TN_KIND_EFFECT)
      return tn_report(host->diags, TN_DIAG_E_UNSUPPORTED, node->at, TN_STR("feature", "`host` in a graph"));
  }
  return true;
}

static bool prepare(tn_graph_unit *self) {
  tn_host *host = self->unit.host;
  tn_fault fault;
  forget_run(self);
  if (!tn_graph_unit_bind(self, &self->ran)) return false;
  self->has_ran = true;
  if (!keep_params(self)) return false;
  if (!asks_nobody(host, &self->ran.graph)) return false;
  self->plan = host->plan(host, &self->ran.graph, &fault);
  if (!self->plan) return tn_host_fault(self->unit.host, &fault);
  host->bind(host, self->plan, &self->ran);
  return true;
}

/* The plan of the last run serves again unless shapes have changed. */
static bool plan_serves(tn_graph_unit *self) {
  if (!self->plan) return false;
  return self->revision == self->unit.revision || tn_graph_unit_refill(self, &self->ran);
}

/* Results are not copied: they stay where the plan has them until it runs again. */
static bool collect_outputs(tn_graph_unit *self, tn_arena *arena, tn_outcome *out) {
  tn_host *host = self->unit.host;
  const tn_graph *graph = &self->ran.graph;
  size_t count = graph->outputs.count;
  out->values = tn_arena_array(arena, count + 1, sizeof *out->values);
  for (size_t i = 0; out->values && i < count; i++) {
    tn_view view = host->result(host, self->plan, (int)i);
    size_t bytes = (size_t)tn_view_count(&view) * tn_dtype_bytes(view.dtype);
    tn_buffer *buffer = tn_buffer_borrow(host->heap, view.data, bytes);
    if (!buffer) return tn_host_out_of_memory(self->unit.host);
    out->values[out->count++] = (tn_datum){ .kind = TN_VALUE_TENSOR,
                                            .dtype = view.dtype,
                                            .shape = tn_view_shape(&view),
                                            .name = tn_names_text(host->names, graph->outputs.at[i].name),
                                            .tensor = { view, buffer } };
  }
  return out->values || tn_host_out_of_memory(self->unit.host);
}

static bool run(tn_unit *unit, tn_arena *arena, tn_outcome *out) {
  tn_graph_unit *self = self_of(unit);
  tn_host *host = unit->host;
  tn_fault fault;
  *out = (tn_outcome){ 0 };
  if (!tn_graph_unit_read(self) || !tn_host_seal(host, NULL, 0)) return false;
  if (self->revision != unit->revision && !tn_graph_unit_check_names(self)) return false;
  if (!plan_serves(self) && !prepare(self)) return false;
  self->revision = unit->revision;
  if (!host->run(host, self->plan, &fault)) return tn_host_fault(self->unit.host, &fault);
  return collect_outputs(self, arena, out);
}

/* "y: f32[2] = [1, 2]", one line for each output. */
static void show(tn_unit *unit, const tn_outcome *outcome, tn_text *out) {
  for (size_t i = 0; i < outcome->count; i++) {
    const tn_datum *value = &outcome->values[i];
    tn_print_style style = tn_print_list(&value->tensor.view, unit->host->shorten);
    if (value->name.len > 0) {
      tn_text_add(out, value->name);
      tn_text_puts(out, ": ");
    }
    tn_text_puts(out, tn_dtype_name(value->dtype));
    tn_shape_print(&value->shape, NULL, TN_SHAPE_COMMA, out);
    tn_text_puts(out, " = ");
    tn_view_print(&value->tensor.view, &style, out);
    tn_text_byte(out, '\n');
  }
}

static bool plan(tn_unit *unit, tn_text *out) {
  const tn_graph_unit *self = self_of(unit);
  if (self->plan) unit->host->print_plan(unit->host, self->plan, out);
  return self->plan || tn_host_usage(unit->host, "", TN_LIT("the graph"), " has no plan before it has run");
}

/* ---- lowering ---- */

int tn_graph_find_loss(const tn_graph *graph, const char *wanted) {
  tn_str name = tn_str_of(wanted ? wanted : "loss");
  for (size_t i = 0; i < graph->outputs.count; i++) {
    if (tn_str_equal(tn_names_text(graph->names, graph->outputs.at[i].name), name)) return (int)i;
  }
  return !wanted && graph->outputs.count == 1 ? 0 : -1;
}

static bool lower(tn_unit *unit, const char *loss, tn_lowered *out) {
  tn_graph_unit *self = self_of(unit);
  if (!tn_graph_unit_read(self) || !tn_host_seal(unit->host, NULL, 0) || !tn_graph_unit_check_names(self) ||
      !tn_graph_unit_bind(self, out))
    return false;
  out->loss = tn_graph_find_loss(&out->graph, loss);
  bool runs = asks_nobody(unit->host, &out->graph);
  if (runs && out->loss >= 0) return true;
  tn_lowered_free(out, unit->host->heap);
  return runs && tn_host_usage(unit->host, "", TN_LIT("the graph"),
                               " has no output to minimise; name one loss");
}

const tn_lang *tn_lang_graph(void) {
  static const char *const extensions[] = { ".graph", NULL };
  static const tn_lang language = { .name = "graph",
                                    .extensions = extensions,
                                    .unit_bytes = sizeof(tn_graph_unit),
                                    .drop = drop,
                                    .check = check,
                                    .run = run,
                                    .format = format,
                                    .emit = tn_graph_unit_emit,
                                    .show = show,
                                    .plan = plan,
                                    .specs = specs,
                                    .lower = lower };
  return &language;
}
