/* lang/graph/lower.c: binds the symbols of a graph by its given values. */
#include "base/rng.h"
#include "lang/graph/doors.h"
#include "tensor/shape_field.h"

/* ---- names ---- */

static bool check_names(tn_graph_unit *self, const tn_given *givens, size_t given_count,
                        const tn_value *values, size_t count, const char *what) {
  tn_str known[TN_HOST_NAMES];
  size_t known_count = count < TN_HOST_NAMES ? count : TN_HOST_NAMES;
  for (size_t i = 0; i < known_count; i++) known[i] = tn_graph_name_of(&self->source, values[i]);
  for (size_t g = 0; g < given_count; g++) {
    bool found = false;
    for (size_t i = 0; i < count; i++)
      found |= tn_str_equal(givens[g].name, tn_graph_name_of(&self->source, values[i]));
    if (!found) return tn_host_no_name(self->unit.host, what, givens[g].name, "", known, known_count);
  }
  return true;
}

bool tn_graph_unit_check_names(tn_graph_unit *self) {
  const tn_host *host = self->unit.host;
  const tn_graph *graph = &self->source;
  return check_names(self, host->inputs, host->input_count, graph->inputs.at, graph->inputs.count,
                     "the graph has no input ") &&
         check_names(self, host->params, host->param_count, graph->params.at, graph->params.count,
                     "the graph has no parameter ");
}

/* ---- symbols ---- */

static bool bind_symbol(tn_graph_unit *self, tn_str input, tn_name symbol, int64_t length, tn_bindings *to) {
  tn_host *host = self->unit.host;
  for (size_t i = 0; i < to->count; i++) {
    if (to->at[i].symbol != symbol) continue;
    if (to->at[i].length == length) return true;
    return tn_report(host->diags, TN_DIAG_E_NAMED_DIM_CONFLICT, TN_NOWHERE,
                     TN_TEXT("named_dim", tn_names_text(host->names, symbol)),
                     TN_INT("previous_value", to->at[i].length), TN_INT("new_value", length),
                     TN_TEXT("input", input));
  }
  tn_binding binding = { symbol, length };
  return tn_vec_push(host->heap, to, binding) || tn_host_out_of_memory(self->unit.host);
}

static bool bind_dim(tn_graph_unit *self, tn_str input, int axis, int64_t declared, int64_t given,
                     tn_bindings *to) {
  if (tn_dim_is_known(declared) && declared != given)
    return tn_report(self->unit.host->diags, TN_DIAG_E_INPUT_DIM_MISMATCH, TN_NOWHERE,
                     TN_TEXT("input", input), TN_INT("dimension", axis), TN_INT("expected", declared),
                     TN_INT("received", given));
  return !tn_dim_is_symbol(declared) || bind_symbol(self, input, tn_dim_name(declared), given, to);
}

static bool bind_shape(tn_graph_unit *self, tn_value value, const tn_view *given, tn_bindings *to) {
  const tn_shape *declared = &tn_graph_type(&self->source, value)->shape;
  tn_str input = tn_graph_name_of(&self->source, value);
  if (declared->rank != given->rank) {
    return tn_report(self->unit.host->diags, TN_DIAG_E_INPUT_RANK_MISMATCH, TN_NOWHERE,
                     TN_TEXT("input", input), TN_INT("expected_rank", declared->rank),
                     TN_INT("received_rank", given->rank));
  }
  for (int axis = 0; axis < given->rank; axis++) {
    if (!bind_dim(self, input, axis, declared->dim[axis], given->dim[axis], to)) return false;
  }
  return true;
}

/* ---- values ---- */

/* Converts what was given for each input or parameter; those that nothing was given for stay empty. */
static bool convert_all(tn_graph_unit *self, const tn_given *givens, size_t given_count,
                        const tn_value *values, size_t count, tn_bindings *bindings, tn_tensor *out) {
  tn_host *host = self->unit.host;
  for (size_t i = 0; i < count; i++) {
    const tn_given *given = tn_given_find(givens, given_count, tn_graph_name_of(&self->source, values[i]));
    if (!given) continue;
    tn_dtype dtype = tn_graph_type(&self->source, values[i])->dtype;
    if (!bind_shape(self, values[i], &given->data.view, bindings) ||
        !host->convert(host, given, dtype, &out[i]))
      return false;
  }
  return true;
}

static bool need_inputs(tn_graph_unit *self, const tn_tensor *inputs) {
  const tn_graph *graph = &self->source;
  for (size_t i = 0; i < graph->inputs.count; i++) {
    if (inputs[i].buffer) continue;
    return tn_host_usage(self->unit.host, "input ", tn_graph_name_of(graph, graph->inputs.at[i]),
                         " has no value; give it with --input");
  }
  return true;
}

/* Parameters that were not given start as a model's do: one generator, in order of
 * declaration, (2u - 1) * sqrt(6 / sum of dims); a single number starts at 0. */
static bool start_params(tn_graph_unit *self, const tn_graph *bound, tn_tensor *params) {
  tn_rng rng;
  tn_rng_init(&rng, self->unit.host->seed);
  for (size_t i = 0; i < bound->params.count; i++) {
    const tn_type *type = tn_graph_type(bound, bound->params.at[i]);
    int64_t sum = 0, count = tn_shape_count(&type->shape);
    for (int axis = 0; axis < type->shape.rank; axis++) sum += type->shape.dim[axis];
    bool given = params[i].buffer != NULL;
    if (!given && !tn_tensor_zeros(self->unit.host->heap, type->dtype, &type->shape, &params[i]))
      return tn_host_out_of_memory(self->unit.host);
    float scale = sum > 0 ? (float)__builtin_sqrt(6.0 / (double)sum) : 0;
    for (int64_t e = 0; type->shape.rank > 0 && e < count; e++) {
      float drawn = (2 * tn_rng_uniform(&rng) - 1) * scale;
      if (!given) tn_view_set_f64(&params[i].view, e, (double)drawn);
    }
  }
  return true;
}

static bool is_known(tn_graph_unit *self, const tn_graph *bound) {
  for (size_t v = 1; v < bound->nodes.count; v++) {
    const tn_node *node = tn_graph_node(bound, (tn_value)v);
    if (tn_shape_is_known(&node->type.shape)) continue;
    return tn_report(self->unit.host->diags, TN_DIAG_E_GRAPH_TYPE, node->at,
                     TN_STR("op", tn_op_sig_of(node->op)->name),
                     TN_STR("reason", "a dimension is not fixed by the inputs that were given"));
  }
  return true;
}

static bool bind_graph(tn_graph_unit *self, const tn_bindings *bindings, tn_lowered *out) {
  tn_fault fault;
  if (!tn_graph_bind(&self->source, bindings->at, bindings->count, &out->graph, &fault))
    return tn_host_fault(self->unit.host, &fault);
  out->has_graph = true;
  return is_known(self, &out->graph);
}

bool tn_graph_unit_bind(tn_graph_unit *self, tn_lowered *out) {
  tn_host *host = self->unit.host;
  const tn_graph *source = &self->source;
  tn_bindings bindings = { 0 };
  if (!tn_lowered_init(out, host->heap, source->inputs.count, source->params.count))
    return tn_host_out_of_memory(self->unit.host);
  bool ok = convert_all(self, host->inputs, host->input_count, source->inputs.at, source->inputs.count,
                        &bindings, out->inputs) &&
            convert_all(self, host->params, host->param_count, source->params.at, source->params.count,
                        &bindings, out->params) &&
            need_inputs(self, out->inputs) && bind_graph(self, &bindings, out) &&
            start_params(self, &out->graph, out->params);
  tn_vec_free(host->heap, &bindings);
  if (!ok) tn_lowered_free(out, host->heap);
  return ok;
}

static bool refill(const tn_graph *graph, const tn_given *givens, size_t given_count, const tn_value *values,
                   tn_tensor *tensors, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const tn_given *given = tn_given_find(givens, given_count, tn_graph_name_of(graph, values[i]));
    if (!given) continue;
    tn_shape now = tn_view_shape(&given->data.view), before = tn_view_shape(&tensors[i].view);
    if (given->data.view.dtype != tensors[i].view.dtype || !tn_shape_equal(&now, &before)) return false;
    tn_view_copy(&tensors[i].view, &given->data.view);
  }
  return true;
}

bool tn_graph_unit_refill(tn_graph_unit *self, tn_lowered *into) {
  const tn_host *host = self->unit.host;
  const tn_graph *source = &self->source;
  return refill(source, host->inputs, host->input_count, source->inputs.at, into->inputs,
                source->inputs.count) &&
         refill(source, host->params, host->param_count, source->params.at, into->params,
                source->params.count);
}

/* ---- the door ---- */

/* Host operations belong to a language; a graph program has no one to execute them. */
bool tn_graph_asks_nobody(tn_host *host, const tn_graph *graph) {
  for (tn_value v = 1; v < graph->nodes.count; v++) {
    const tn_node *node = tn_graph_node(graph, v);
    if (tn_op_sig_of(node->op)->kind == TN_KIND_EFFECT)
      return tn_report(host->diags, TN_DIAG_E_UNSUPPORTED, node->at, TN_STR("feature", "`host` in a graph"));
  }
  return true;
}

int tn_graph_find_loss(const tn_graph *graph, const char *wanted) {
  tn_str name = tn_str_of(wanted ? wanted : "loss");
  for (size_t i = 0; i < graph->outputs.count; i++) {
    if (tn_str_equal(tn_names_text(graph->names, graph->outputs.at[i].name), name)) return (int)i;
  }
  return !wanted && graph->outputs.count == 1 ? 0 : -1;
}

bool tn_lang_graph_lower(tn_unit *unit, const char *loss, tn_lowered *out) {
  tn_graph_unit *self = (tn_graph_unit *)unit;
  if (!tn_graph_unit_read(self) || !tn_host_seal(unit->host, NULL, 0) || !tn_graph_unit_check_names(self) ||
      !tn_graph_unit_bind(self, out))
    return false;
  out->loss = tn_graph_find_loss(&out->graph, loss);
  bool runs = tn_graph_asks_nobody(unit->host, &out->graph);
  if (runs && out->loss >= 0) return true;
  tn_lowered_free(out, unit->host->heap);
  return runs && tn_host_usage(unit->host, "", TN_LIT("the graph"),
                               " has no output to minimise; name one loss");
}
