/* lang/graph/emit.c: exports a graph program in other formats. */
#include "ad/ad.h"
#include "lang/graph/doors.h"

/* The variables of the gradient: every parameter and float input. Returns how many. */
static size_t list_wrt(const tn_graph *graph, tn_value *wrt) {
  size_t count = 0;
  for (size_t i = 0; i < graph->params.count; i++) wrt[count++] = graph->params.at[i];
  for (size_t i = 0; i < graph->inputs.count; i++) {
    if (tn_dtype_in(tn_graph_type(graph, graph->inputs.at[i])->dtype, TN_FLOATS))
      wrt[count++] = graph->inputs.at[i];
  }
  return count;
}

/* The gradients of one output in place of all outputs. */
static bool differentiate(tn_graph *graph, int loss, tn_fault *fault) {
  tn_graph_builder builder;
  tn_graph_builder_init(&builder, graph);
  size_t most = graph->params.count + graph->inputs.count;
  tn_value *wrt = tn_arena_array(&graph->arena, most + 1, sizeof *wrt);
  tn_value *grads = tn_arena_array(&graph->arena, most + 1, sizeof *grads);
  *fault = (tn_fault){ .kind = TN_FAULT_MEMORY };
  if (!wrt || !grads) return false;
  size_t count = list_wrt(graph, wrt);
  tn_value output = graph->outputs.at[loss].value, seed = TN_NO_VALUE;
  tn_grad_request request = { .builder = &builder,
                              .outputs = &output,
                              .seeds = &seed,
                              .output_count = 1,
                              .wrt = wrt,
                              .wrt_count = (int)count,
                              .policy = TN_AD_LENIENT };
  bool ok = tn_ad_grad(&request, grads);
  if (!tn_build_ok(&builder.base)) *fault = builder.base.fault;
  graph->outputs.count = 0;
  for (size_t i = 0; ok && i < count; i++)
    ok = tn_graph_output(graph, tn_graph_node(graph, wrt[i])->attrs->name, grads[i]);
  return ok;
}

/* The gradient of the loss, or of the only output. */
static bool emit_grad(tn_graph_unit *self, tn_text *out) {
  tn_graph graph;
  tn_fault fault;
  int loss = tn_graph_find_loss(&self->source, NULL);
  if (loss < 0)
    return tn_host_usage(self->unit.host, "", TN_LIT("the graph"),
                         " has no output to differentiate; name one loss");
  if (!tn_graph_copy(&self->source, &graph)) return tn_host_out_of_memory(self->unit.host);
  bool ok = differentiate(&graph, loss, &fault);
  if (ok) tn_graph_print(&graph, out);
  tn_graph_free(&graph);
  return ok || tn_host_fault(self->unit.host, &fault);
}

static const tn_given *find_param(const tn_graph_unit *self, tn_value value) {
  const tn_host *host = self->unit.host;
  tn_str name = tn_graph_name_of(&self->source, value);
  for (size_t i = 0; i < host->param_count; i++) {
    if (tn_str_equal(host->params[i].name, name)) return &host->params[i];
  }
  return NULL;
}

/* The values that the parameters have now, as given or from the last run; NULL where one has none yet, or
 * memory runs out. */
static const tn_tensor *values_of(const tn_graph_unit *self, tn_arena *arena) {
  const tn_graph *graph = &self->source;
  tn_tensor *values = tn_arena_array(arena, graph->params.count + 1, sizeof *values);
  for (size_t i = 0; values && i < graph->params.count; i++) {
    const tn_given *given = find_param(self, graph->params.at[i]);
    bool fits = given && given->data.view.dtype == tn_graph_type(graph, graph->params.at[i])->dtype;
    if (!fits && !self->has_ran) return NULL;
    values[i].view = fits ? given->data.view : self->ran.params[i].view;
  }
  return values;
}

bool tn_lang_graph_emit(tn_unit *unit, tn_emit_kind kind, tn_text *out) {
  tn_graph_unit *self = (tn_graph_unit *)unit;
  tn_host *host = unit->host;
  if (!tn_graph_unit_read(self)) return false;
  if (kind == TN_EMIT_GRAD) return emit_grad(self, out);
  tn_export what = { .graph = &self->source, .kind = kind, .sources = host->sources };
  tn_export_problem problem = { 0 };
  tn_arena arena;
  tn_arena_init(&arena, host->heap);
  what.params = values_of(self, &arena);
  bool ok = !arena.failed && tn_export_write(&what, out, &problem);
  tn_arena_free(&arena);
  return ok || tn_lang_report_export(host, &problem);
}
