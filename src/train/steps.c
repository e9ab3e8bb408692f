/* train/steps.c: trains step by step. */
#include "train/steps.h"

#include "tensor/shape_field.h"

struct tn_steps {
  tn_unit *unit;
  tn_lowered lowered;
  tn_trainer *trainer;
  uint64_t revision; /* of the given values that the inputs hold */
};

static tn_str name_of(const tn_graph *graph, tn_value value) {
  return tn_names_text(graph->names, tn_graph_node(graph, value)->attrs->name);
}

static bool check_loss(tn_host *host, const tn_lowered *lowered) {
  const tn_graph *graph = &lowered->graph;
  tn_value loss = graph->outputs.at[lowered->loss].value;
  const tn_type *type = tn_graph_type(graph, loss);
  if (type->shape.rank == 0 && tn_dtype_in(type->dtype, TN_FLOATS)) return true;
  return tn_report(host->diags, TN_DIAG_E_LOSS_NOT_SCALAR, tn_graph_node(graph, loss)->at,
                   tn_shape_field("shape", &type->shape, host->names, TN_SHAPE_COMMA));
}

static bool check_options(tn_host *host, const tn_lowered *lowered, bool own) {
  return !own || lowered->has_options ||
         tn_host_usage(host, "", TN_LIT("the program"), " does not say how it is trained; give lr");
}

static bool make_trainer(tn_steps *steps, const tn_steps_request *request) {
  tn_host *host = steps->unit->host;
  tn_lowered *lowered = &steps->lowered;
  tn_trainer_request wanted = request->trainer;
  tn_fault fault;
  wanted.graph = &lowered->graph;
  wanted.loss = lowered->loss;
  wanted.steady = true;
  if (request->own) wanted.options = lowered->options;
  steps->trainer = tn_trainer_new(host->heap, &wanted, &fault);
  if (!steps->trainer) return tn_host_fault(host, &fault);
  for (int i = 0; i < tn_trainer_param_count(steps->trainer); i++)
    tn_view_copy(tn_trainer_param(steps->trainer, i), &lowered->params[i].view);
  tn_trainer_wrote(steps->trainer);
  for (size_t i = 0; i < lowered->graph.inputs.count; i++) {
    if (lowered->inputs[i].buffer) tn_trainer_bind_input(steps->trainer, (int)i, &lowered->inputs[i].view);
  }
  return true;
}

tn_steps *tn_steps_new(tn_unit *unit, const tn_lang *lang, const tn_steps_request *request) {
  tn_host *host = unit->host;
  tn_steps *steps = tn_heap_alloc(host->heap, sizeof *steps);
  if (!steps) {
    tn_host_out_of_memory(host);
    return NULL;
  }
  *steps = (tn_steps){ .unit = unit, .revision = unit->revision };
  if (lang->lower(unit, request->loss, &steps->lowered) && check_loss(host, &steps->lowered) &&
      check_options(host, &steps->lowered, request->own) && make_trainer(steps, request))
    return steps;
  tn_steps_free(steps);
  return NULL;
}

void tn_steps_free(tn_steps *steps) {
  if (!steps) return;
  tn_heap *heap = steps->unit->host->heap;
  tn_trainer_free(steps->trainer);
  tn_lowered_free(&steps->lowered, heap);
  tn_heap_free(heap, steps, sizeof *steps);
}

/* ---- inputs ---- */

/* New inputs must have the shapes that the step was planned for. */
static bool fits(tn_diags *diags, tn_str input, const tn_view *given, const tn_view *wanted) {
  if (given->rank != wanted->rank)
    return tn_report(diags, TN_DIAG_E_INPUT_RANK_MISMATCH, TN_NOWHERE, TN_TEXT("input", input),
                     TN_INT("expected_rank", wanted->rank), TN_INT("received_rank", given->rank));
  for (int axis = 0; axis < given->rank; axis++) {
    if (given->dim[axis] == wanted->dim[axis]) continue;
    return tn_report(diags, TN_DIAG_E_INPUT_DIM_MISMATCH, TN_NOWHERE, TN_TEXT("input", input),
                     TN_INT("dimension", axis), TN_INT("expected", wanted->dim[axis]),
                     TN_INT("received", given->dim[axis]));
  }
  return true;
}

static void take(const tn_view *from, const tn_view *into) {
  if (from->dtype == into->dtype) {
    tn_view_copy(into, from);
    return;
  }
  for (int64_t e = 0; e < tn_view_count(into); e++) tn_view_set_f64(into, e, tn_view_get_f64(from, e));
}

static bool refresh_inputs(tn_steps *steps) {
  tn_host *host = steps->unit->host;
  const tn_graph *graph = &steps->lowered.graph;
  if (steps->revision == steps->unit->revision) return true;
  for (size_t i = 0; i < graph->inputs.count; i++) {
    tn_str name = name_of(graph, graph->inputs.at[i]);
    const tn_given *given = tn_given_find(host->inputs, host->input_count, name);
    const tn_view *into = &steps->lowered.inputs[i].view;
    if (!given || !steps->lowered.inputs[i].buffer) continue;
    if (!fits(host->diags, name, &given->data.view, into)) return false;
    take(&given->data.view, into);
    tn_trainer_bind_input(steps->trainer, (int)i, into);
  }
  steps->revision = steps->unit->revision;
  return true;
}

bool tn_steps_step(tn_steps *steps, double *loss) {
  tn_fault fault;
  if (!refresh_inputs(steps)) return false;
  return tn_trainer_step(steps->trainer, loss, &fault) || tn_host_fault(steps->unit->host, &fault);
}

/* ---- parameters ---- */

size_t tn_steps_param_count(const tn_steps *steps) { return (size_t)tn_trainer_param_count(steps->trainer); }

tn_str tn_steps_param_name(const tn_steps *steps, size_t index) {
  const tn_graph *graph = &steps->lowered.graph;
  return name_of(graph, graph->params.at[index]);
}

const tn_view *tn_steps_param(const tn_steps *steps, size_t index) {
  return tn_trainer_param(steps->trainer, (int)index);
}
