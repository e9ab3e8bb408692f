/* lang/graph/run.c: runs a graph program.
 *
 * The plan of a run is kept: new values of the same shapes replace the old ones in place, and only
 * other shapes need another plan. */
#include "lang/graph/doors.h"
#include "tensor/print.h"

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

static bool prepare(tn_graph_unit *self) {
  tn_host *host = self->unit.host;
  tn_fault fault;
  tn_graph_unit_forget_run(self);
  if (!tn_graph_unit_bind(self, &self->ran)) return false;
  self->has_ran = true;
  if (!keep_params(self)) return false;
  if (!tn_graph_asks_nobody(host, &self->ran.graph)) return false;
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

bool tn_lang_graph_run(tn_unit *unit, tn_arena *arena, tn_outcome *out) {
  tn_graph_unit *self = (tn_graph_unit *)unit;
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
void tn_lang_graph_show(tn_unit *unit, const tn_outcome *outcome, tn_text *out) {
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

bool tn_lang_graph_plan(tn_unit *unit, tn_text *out) {
  const tn_graph_unit *self = (tn_graph_unit *)unit;
  if (self->plan) unit->host->print_plan(unit->host, self->plan, out);
  return self->plan || tn_host_usage(unit->host, "", TN_LIT("the graph"), " has no plan before it has run");
}
