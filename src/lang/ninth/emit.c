/* lang/ninth/emit.c: exports the computation of a program as a graph.
 *
 * The program is run with everything recorded, single numbers too. The results of the graph are the
 * tensors that it printed or passed to [BACKWARD], then those left on the stack; its parameters are
 * the trainable tensors, with their values at the end. A loop appears as often as it ran. For a
 * training, the graph shows what was computed with the last weights, not the steps. */
#include "ad/ad.h"
#include "lang/ninth/doors.h"

static bool note_stack(tn_ninth_vm *m) {
  for (const tn_ninth_value *value = m->stack; value < m->top; value++) {
    if (value->kind != TN_NINTH_TENSOR) continue;
    if (!tn_vec_reserve(m->heap, &m->noted, 1)) return false;
    tn_eager_ref(m->eager, value->tensor);
    m->noted.at[m->noted.count++] = value->tensor;
  }
  return true;
}

/* Replaces the result by its gradients with respect to every parameter. */
static bool differentiate(tn_graph *graph, tn_fault *fault) {
  tn_graph_builder builder;
  tn_graph_builder_init(&builder, graph);
  size_t count = graph->params.count;
  tn_value *wrt = tn_arena_array(&graph->arena, count + 1, sizeof *wrt);
  tn_value *grads = tn_arena_array(&graph->arena, count + 1, sizeof *grads);
  *fault = (tn_fault){ .kind = graph->outputs.count > 0 ? TN_FAULT_MEMORY : TN_FAULT_NO_GRADIENT };
  if (!wrt || !grads || graph->outputs.count == 0) return false;
  for (size_t i = 0; i < count; i++) wrt[i] = graph->params.at[i];
  tn_value output = graph->outputs.at[0].value;
  tn_grad_request request = { .builder = &builder,
                              .outputs = &output,
                              .output_count = 1,
                              .wrt = wrt,
                              .wrt_count = (int)count,
                              .policy = TN_AD_LENIENT };
  bool ok = tn_ad_grad(&request, grads);
  if (!ok) *fault = builder.base.fault;
  graph->outputs.count = 0;
  for (size_t i = 0; ok && i < count; i++) {
    ok = tn_graph_output(graph, tn_graph_node(graph, wrt[i])->attrs->name, grads[i]);
  }
  return ok;
}

/* Gradients are those of one result: what the last [BACKWARD] began with, or the last one. */
static bool make_graph(tn_ninth_vm *m, tn_emit_kind kind, tn_graph *graph, tn_tensors *params) {
  if (!note_stack(m)) return false;
  const tn_value *outputs = m->noted.at;
  size_t count = m->noted.count, last = m->loss > 0 ? m->loss : count;
  bool one = kind == TN_EMIT_GRAD && count > 0;
  return tn_eager_to_graph(m->eager, one ? outputs + last - 1 : outputs, one ? 1 : (int)count, graph, params);
}

static void free_params(tn_ninth_vm *m, tn_tensors *params) {
  for (size_t i = 0; i < params->count; i++) tn_tensor_unref(&params->at[i]);
  tn_vec_free(m->heap, params);
}

static bool write_graph(tn_ninth_vm *m, tn_emit_kind kind, tn_text *out) {
  tn_graph graph;
  tn_tensors params = { 0 };
  tn_fault fault = { .kind = TN_FAULT_MEMORY };
  bool made = make_graph(m, kind, &graph, &params);
  bool ok = made && (kind != TN_EMIT_GRAD || differentiate(&graph, &fault));
  tn_export what = { .graph = &graph, .kind = kind, .sources = m->host->sources, .params = params.at };
  bool written = ok && tn_lang_write(m->host, &what, out);
  if (made) tn_graph_free(&graph);
  free_params(m, &params);
  tn_build_forget(m->builder);
  if (ok) return written;
  if (fault.kind == TN_FAULT_NO_GRADIENT)
    return tn_report_plain(m->host->diags, TN_DIAG_E_NO_GRADIENT, TN_NOWHERE);
  return tn_ninth_report_memory(m->heap, m->host->diags, TN_NOWHERE);
}

bool tn_lang_ninth_emit(tn_unit *unit, tn_emit_kind kind, tn_text *out) {
  tn_host *host = unit->host;
  tn_ninth_vm m;
  if (!tn_ninth_check_given(host)) return false;
  bool ok = tn_ninth_vm_init(&m, host);
  if (!ok) tn_ninth_report_memory(host->heap, host->diags, TN_NOWHERE);
  m.everything = true;
  tn_eager_record_everything(host->eager, true);
  ok = ok && tn_ninth_run_file(&m, unit->file) && write_graph(&m, kind, out);
  tn_eager_record_everything(host->eager, false);
  tn_ninth_vm_free(&m);
  return ok;
}
