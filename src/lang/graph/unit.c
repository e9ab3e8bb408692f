/* lang/graph/unit.c: the state of a graph program between calls, and its inputs and parameters. */
#include "lang/graph/doors.h"

tn_str tn_graph_name_of(const tn_graph *graph, tn_value value) {
  return tn_names_text(graph->names, tn_graph_node(graph, value)->attrs->name);
}

bool tn_graph_unit_read(tn_graph_unit *self) {
  tn_host *host = self->unit.host;
  if (self->parsed) return true;
  self->parsed = tn_graph_parse(&self->source, host->heap, host->names, self->unit.file, host->diags);
  return self->parsed;
}

void tn_graph_unit_forget_run(tn_graph_unit *self) {
  tn_host *host = self->unit.host;
  if (self->plan) host->unplan(host, self->plan);
  self->plan = NULL;
  if (self->has_ran) tn_lowered_free(&self->ran, host->heap);
  self->has_ran = false;
  tn_givens_free(host->heap, &self->unit.params);
}

void tn_lang_graph_drop(tn_unit *unit) {
  tn_graph_unit *self = (tn_graph_unit *)unit;
  tn_graph_unit_forget_run(self);
  if (self->specs.inputs) tn_arena_free(&self->arena);
  if (self->parsed) tn_graph_free(&self->source);
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

const tn_specs *tn_lang_graph_specs(tn_unit *unit) {
  tn_graph_unit *self = (tn_graph_unit *)unit;
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
