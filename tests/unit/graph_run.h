/* Carrying out a graph with the reference back end, in tests.
 *
 *   runner r = runner_of(&graph);
 *   runner_set(&r, 0, numbers);      parameter 0 (inputs come after the parameters)
 *   runner_run(&r);
 *   runner_get(&r, 0, out, count);   output 0
 */
#ifndef TN_TESTS_GRAPH_RUN_H
#define TN_TESTS_GRAPH_RUN_H

#include "graph_case.h"
#include "plan/plan.h"

#define RUNNER_SLOTS 16

typedef struct {
  const tn_graph *graph;
  tn_plan *plan;
  tn_tensor bound[RUNNER_SLOTS]; /* parameters, then inputs */
} runner;

static inline runner runner_of(const tn_graph *graph) {
  runner r = { .graph = graph };
  tn_fault fault = { 0 };
  tn_plan_options options = { .backend = tn_backend_ref(), .threads = 1 };
  assert_sound(graph);
  r.plan = tn_plan_new(&heap, graph, &options, &fault);
  if (!r.plan) fail_msg("no plan: fault %d, %s", (int)fault.kind, fault.reason ? fault.reason : "");
  size_t params = graph->params.count;
  assert_true(params + graph->inputs.count <= RUNNER_SLOTS);
  for (size_t i = 0; i < params + graph->inputs.count; i++) {
    const tn_type *type =
        tn_graph_type(graph, i < params ? graph->params.at[i] : graph->inputs.at[i - params]);
    assert_true(tn_tensor_zeros(&heap, type->dtype, &type->shape, &r.bound[i]));
    if (i < params)
      tn_plan_bind_param(r.plan, (int)i, &r.bound[i].view);
    else
      tn_plan_bind_input(r.plan, (int)(i - params), &r.bound[i].view);
  }
  return r;
}

static inline void runner_free(runner *r) {
  tn_plan_free(r->plan);
  for (int i = 0; i < RUNNER_SLOTS; i++) tn_tensor_unref(&r->bound[i]);
}

static inline void runner_set(runner *r, int slot, const double *numbers) {
  const tn_view *view = &r->bound[slot].view;
  for (int64_t i = 0; i < tn_view_count(view); i++) tn_view_set_f64(view, i, numbers[i]);
}

static inline void runner_run(runner *r) {
  tn_fault fault = { 0 };
  if (!tn_plan_run(r->plan, &fault)) {
    fail_msg("the run failed: %s, fault %d", tn_op_sig_of(fault.op)->name, (int)fault.kind);
  }
}

static inline void runner_get(const runner *r, int output, double *out, int64_t count) {
  tn_view view = tn_plan_output(r->plan, output);
  assert_int_equal(tn_view_count(&view), count);
  for (int64_t i = 0; i < count; i++) out[i] = tn_view_get_f64(&view, i);
}
#endif
