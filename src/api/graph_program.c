/* api/graph_program.c: programs written as graphs.
 *
 * The text form of a graph is a program too: its inputs are given, its symbols
 * are bound by the shapes of what is given, and its outputs are the result. A
 * plan is made for the first shapes and kept until other shapes come. Training
 * minimises one of the outputs. */
#include <string.h>

#include "ad/ad.h"
#include "api/internal.h"
#include "base/rng.h"
#include "plan/plan.h"
#include "tensor/shape_field.h"
#include "train/trainer.h"

struct tn_graph_program {
  tn_graph source; /* as written; may have symbols */
  tn_graph bound;  /* known shapes, optimised */
  bool has_bound;
  tn_plan *plan;
  tn_tensor *inputs; /* converted, by the source's numbering */
  tn_tensor *params;
  tn_vec(tn_binding) bindings; /* what `bound` was made for */
  uint64_t revision;           /* of the program's given values that `inputs` and `params` hold */
  tn_trainer *trainer;
  tn_tensor *fed;              /* the trainer's inputs, of the shapes it was made for */
  uint64_t fed_revision;
};

static tn_graph_program *self_of(const tern_program *program) { return program->graph; }
const tn_graph *tn_graph_program_source(const tern_program *program) { return &program->graph->source; }

tn_graph_program *tn_graph_program_new(tern_program *program) {
  tern_session *session = program->session;
  tn_graph_program *self = tn_heap_alloc(&session->heap, sizeof *self);
  if (!self) {
    tn_api_report_fault(session, &(tn_fault){ .kind = TN_FAULT_MEMORY });
    return NULL;
  }
  if (!tn_graph_parse(&self->source, &session->heap, session->names, program->file, &session->diags)) {
    tn_heap_free(&session->heap, self, sizeof *self);
    return NULL;
  }
  return self;
}

static void forget_plan(tern_session *session, tn_graph_program *self) {
  tn_plan_free(self->plan);
  self->plan = NULL;
  if (self->has_bound) tn_graph_free(&self->bound);
  self->has_bound = false;
  tn_vec_free(&session->heap, &self->bindings);
}

static void free_tensors(tern_session *session, tn_tensor **tensors, size_t count) {
  if (!*tensors) return;
  for (size_t i = 0; i < count; i++) tn_tensor_unref(&(*tensors)[i]);
  tn_heap_free(&session->heap, *tensors, (count + 1) * sizeof **tensors);
  *tensors = NULL;
}

void tn_graph_program_free(tern_program *program) {
  tn_graph_program *self = self_of(program);
  tern_session *session = program->session;
  forget_plan(session, self);
  tn_trainer_free(self->trainer);
  free_tensors(session, &self->inputs, self->source.inputs.count);
  free_tensors(session, &self->params, self->source.params.count);
  free_tensors(session, &self->fed, self->source.inputs.count);
  tn_graph_free(&self->source);
  tn_heap_free(&session->heap, self, sizeof *self);
  program->graph = NULL;
}

/* ---- values ---- */

static tn_str name_of(const tn_graph *graph, tn_value value) {
  return tn_names_text(graph->names, tn_graph_node(graph, value)->attrs->name);
}

static const tn_given *find_given(const tn_givens *givens, tn_str name) {
  for (size_t i = 0; i < givens->count; i++) {
    if (tn_str_equal(givens->at[i].name, name)) return &givens->at[i];
  }
  return NULL;
}

/* Every given name must be one of the graph's. */
static bool check_names(tern_program *program, const tn_givens *givens, const tn_value *values, size_t count,
                        const char *what) {
  const tn_graph *graph = &program->graph->source;
  for (size_t g = 0; g < givens->count; g++) {
    bool known = false;
    for (size_t i = 0; i < count; i++) known |= tn_str_equal(givens->at[g].name, name_of(graph, values[i]));
    if (!known) return tn_api_usage(program->session, what, givens->at[g].name, "");
  }
  return true;
}

static bool check_all_names(tern_program *program) {
  const tn_graph *graph = &program->graph->source;
  return check_names(program, &program->inputs, graph->inputs.at, graph->inputs.count,
                     "the graph has no input ") &&
         check_names(program, &program->params, graph->params.at, graph->params.count,
                     "the graph has no parameter ");
}

static bool bind_dim(tern_program *program, tn_str input, int axis, int64_t declared, int64_t given,
                     tn_graph_program *self) {
  tern_session *session = program->session;
  if (tn_dim_is_known(declared)) {
    if (declared == given) return true;
    return tn_report(&session->diags, TN_DIAG_E_INPUT_DIM_MISMATCH, TN_NOWHERE, TN_TEXT("input", input),
                     TN_INT("dimension", axis), TN_INT("expected", declared), TN_INT("received", given));
  }
  if (!tn_dim_is_symbol(declared)) return true;
  for (size_t i = 0; i < self->bindings.count; i++) {
    if (self->bindings.at[i].symbol != tn_dim_name(declared)) continue;
    if (self->bindings.at[i].length == given) return true;
    return tn_report(&session->diags, TN_DIAG_E_NAMED_DIM_CONFLICT, TN_NOWHERE,
                     TN_TEXT("named_dim", tn_names_text(session->names, tn_dim_name(declared))),
                     TN_INT("previous_value", self->bindings.at[i].length), TN_INT("new_value", given),
                     TN_TEXT("input", input));
  }
  tn_binding binding = { tn_dim_name(declared), given };
  return tn_vec_push(&session->heap, &self->bindings, binding) ||
         tn_api_report_fault(session, &(tn_fault){ .kind = TN_FAULT_MEMORY });
}

static bool bind_shape(tern_program *program, tn_value value, const tn_view *given) {
  tn_graph_program *self = program->graph;
  const tn_shape *declared = &tn_graph_type(&self->source, value)->shape;
  tn_str input = name_of(&self->source, value);
  if (declared->rank != given->rank) {
    return tn_report(&program->session->diags, TN_DIAG_E_INPUT_RANK_MISMATCH, TN_NOWHERE,
                     TN_TEXT("input", input), TN_INT("expected_rank", declared->rank),
                     TN_INT("received_rank", given->rank));
  }
  for (int axis = 0; axis < given->rank; axis++) {
    if (!bind_dim(program, input, axis, declared->dim[axis], given->dim[axis], self)) return false;
  }
  return true;
}

/* Converts what was given for each of the values; missing ones stay empty. */
static bool convert_all(tern_program *program, const tn_givens *givens, const tn_value *values, size_t count,
                        tn_tensor **tensors) {
  tern_session *session = program->session;
  const tn_graph *graph = &program->graph->source;
  free_tensors(session, tensors, count);
  *tensors = tn_heap_alloc(&session->heap, (count + 1) * sizeof **tensors);
  if (!*tensors) return tn_api_report_fault(session, &(tn_fault){ .kind = TN_FAULT_MEMORY });
  for (size_t i = 0; i < count; i++) {
    const tn_given *given = find_given(givens, name_of(graph, values[i]));
    if (!given) continue;
    if (!bind_shape(program, values[i], &given->data.view)) return false;
    if (!tn_api_convert(session, &given->data.view, tn_graph_type(graph, values[i])->dtype, &(*tensors)[i]))
      return false;
  }
  return true;
}

static bool need_inputs(tern_program *program) {
  const tn_graph *graph = &program->graph->source;
  for (size_t i = 0; i < graph->inputs.count; i++) {
    if (program->graph->inputs[i].buffer) continue;
    return tn_api_usage(program->session, "input ", name_of(graph, graph->inputs.at[i]),
                        " has no value; give it with --input");
  }
  return true;
}

/* Parameters that were not given start as a model's do: one generator, in order of
 * declaration, (2u - 1) * sqrt(6 / sum of dims); a single number starts at 0. */
static bool start_params(tern_program *program) {
  tern_session *session = program->session;
  tn_graph_program *self = program->graph;
  tn_rng rng;
  tn_rng_init(&rng, session->host.seed);
  for (size_t i = 0; i < self->bound.params.count; i++) {
    const tn_type *type = tn_graph_type(&self->bound, self->bound.params.at[i]);
    int64_t sum = 0, count = tn_shape_count(&type->shape);
    for (int axis = 0; axis < type->shape.rank; axis++) sum += type->shape.dim[axis];
    bool given = self->params[i].buffer != NULL;
    if (!given && !tn_tensor_zeros(&session->heap, type->dtype, &type->shape, &self->params[i])) {
      return tn_api_report_fault(session, &(tn_fault){ .kind = TN_FAULT_MEMORY });
    }
    float scale = sum > 0 ? (float)__builtin_sqrt(6.0 / (double)sum) : 0;
    for (int64_t e = 0; type->shape.rank > 0 && e < count; e++) {
      float drawn = (2 * tn_rng_uniform(&rng) - 1) * scale;
      if (!given) tn_view_set_f64(&self->params[i].view, e, (double)drawn);
    }
  }
  return true;
}

/* ---- plans ---- */

static bool make_bound(tern_program *program) {
  tern_session *session = program->session;
  tn_graph_program *self = program->graph;
  tn_fault fault;
  if (!tn_graph_bind(&self->source, self->bindings.at, self->bindings.count, &self->bound, &fault)) {
    return tn_api_report_fault(session, &fault);
  }
  self->has_bound = true;
  for (size_t v = 1; v < self->bound.nodes.count; v++) {
    const tn_node *node = tn_graph_node(&self->bound, (tn_value)v);
    if (!tn_shape_is_known(&node->type.shape)) {
      return tn_report(&session->diags, TN_DIAG_E_GRAPH_TYPE, node->at,
                       TN_STR("op", tn_op_sig_of(node->op)->name),
                       TN_STR("reason", "a dimension is not fixed by the inputs that were given"));
    }
  }
  return true;
}

static bool make_plan(tern_program *program) {
  tern_session *session = program->session;
  tn_graph_program *self = program->graph;
  tn_fault fault;
  tn_plan_options options = { .backend = session->backend, .threads = session->threads };
  if (!tn_opt_run(&self->bound, session->passes, &session->folder)) {
    return tn_api_report_fault(session, &(tn_fault){ .kind = TN_FAULT_MEMORY });
  }
  self->plan = tn_plan_new(&session->heap, &self->bound, &options, &fault);
  if (!self->plan) return tn_api_report_fault(session, &fault);
  return true;
}

/* Values first, because their shapes bind the symbols. */
static bool prepare_values(tern_program *program) {
  tn_graph_program *self = program->graph;
  const tn_graph *source = &self->source;
  forget_plan(program->session, self);
  return convert_all(program, &program->inputs, source->inputs.at, source->inputs.count, &self->inputs) &&
         convert_all(program, &program->params, source->params.at, source->params.count, &self->params) &&
         need_inputs(program) && make_bound(program) && start_params(program);
}

/* Results are not copied: they stay where the plan has them until it runs again. */
static bool collect_outputs(tern_program *program) {
  tern_session *session = program->session;
  tn_graph_program *self = program->graph;
  tn_outcome *out = &program->outcome;
  size_t count = self->bound.outputs.count;
  out->values = tn_arena_array(&program->arena, count + 1, sizeof *out->values);
  if (!out->values) return tn_api_report_fault(session, &(tn_fault){ .kind = TN_FAULT_MEMORY });
  for (size_t i = 0; i < count; i++) {
    tn_view view = tn_plan_output(self->plan, (int)i);
    tn_datum *datum = &out->values[i];
    *datum = (tn_datum){ .kind = TN_VALUE_TENSOR,
                         .dtype = view.dtype,
                         .shape = tn_view_shape(&view),
                         .name = tn_names_text(session->names, self->bound.outputs.at[i].name) };
    size_t bytes = (size_t)tn_view_count(&view) * tn_dtype_bytes(view.dtype);
    datum->tensor = (tn_tensor){ view, tn_buffer_borrow(&session->heap, view.data, bytes) };
    if (!datum->tensor.buffer) return tn_api_report_fault(session, &(tn_fault){ .kind = TN_FAULT_MEMORY });
    out->count++;
  }
  return true;
}

static void bind_values(tn_graph_program *self) {
  for (size_t i = 0; i < self->source.inputs.count; i++)
    tn_plan_bind_input(self->plan, (int)i, &self->inputs[i].view);
  for (size_t i = 0; i < self->source.params.count; i++)
    tn_plan_bind_param(self->plan, (int)i, &self->params[i].view);
}

/* Values of the same types as before go where those were. False when one has another type, or there is
 * none. */
static bool refill(const tn_graph *graph, const tn_givens *givens, const tn_value *values, tn_tensor *tensors,
                   size_t count) {
  for (size_t i = 0; i < count; i++) {
    const tn_given *given = find_given(givens, name_of(graph, values[i]));
    if (!given) continue;
    tn_shape now = tn_view_shape(&given->data.view), before = tn_view_shape(&tensors[i].view);
    if (given->data.view.dtype != tensors[i].view.dtype || !tn_shape_equal(&now, &before)) return false;
    tn_view_copy(&tensors[i].view, &given->data.view);
  }
  return true;
}

/* The plan of the last run serves again unless shapes have changed. */
static bool plan_serves(tern_program *program) {
  tn_graph_program *self = program->graph;
  const tn_graph *source = &self->source;
  if (!self->plan) return false;
  if (self->revision == program->revision) return true;
  return refill(source, &program->inputs, source->inputs.at, self->inputs, source->inputs.count) &&
         refill(source, &program->params, source->params.at, self->params, source->params.count);
}

bool tn_graph_program_run(tern_program *program) {
  tn_graph_program *self = program->graph;
  tn_fault fault;
  if (!tn_api_seal(program->session, NULL, 0)) return false;
  if (self->revision != program->revision && !check_all_names(program)) return false;
  if (!plan_serves(program)) {
    if (!prepare_values(program) || !make_plan(program)) return false;
    bind_values(self);
  }
  self->revision = program->revision;
  if (!tn_plan_run(self->plan, &fault)) return tn_api_report_fault(program->session, &fault);
  return collect_outputs(program);
}

/* ---- training ---- */

static int find_loss(const tn_graph *graph, const char *wanted) {
  tn_str name = tn_str_of(wanted ? wanted : "loss");
  for (size_t i = 0; i < graph->outputs.count; i++) {
    if (tn_str_equal(tn_names_text(graph->names, graph->outputs.at[i].name), name)) return (int)i;
  }
  return !wanted && graph->outputs.count == 1 ? 0 : -1;
}

static bool read_training(tern_program *program, const tern_training *training, tn_train_options *options) {
  tern_session *session = program->session;
  *options = (tn_train_options){ .lr = training->lr,
                                 .momentum = training->momentum != 0 ? training->momentum : 0.9,
                                 .weight_decay = training->weight_decay,
                                 .clip_norm = training->clip_norm,
                                 .warmup = training->warmup,
                                 .steps = training->steps };
  tn_str optimizer = tn_str_of(training->optimizer), schedule = tn_str_of(training->schedule);
  if (optimizer.len > 0 && !tn_optimizer_find(optimizer, &options->optimizer)) {
    return tn_api_usage(session, "there is no optimizer ", optimizer,
                        "; there are sgd, momentum, adam and adamw");
  }
  if (schedule.len > 0 && !tn_schedule_find(schedule, &options->schedule)) {
    return tn_api_usage(session, "there is no schedule ", schedule,
                        "; there are constant, cosine and linear");
  }
  return (training->lr >= 0 && training->lr < 1e30) ||
         tn_api_usage(session, "", TN_LIT("lr"), " must be a number from 0 up");
}

static bool check_loss(tern_program *program, int loss) {
  tern_session *session = program->session;
  const tn_graph *graph = &program->graph->bound;
  if (loss < 0)
    return tn_api_usage(session, "", TN_LIT("the graph"), " has no output to minimise; name one loss");
  const tn_type *type = tn_graph_type(graph, graph->outputs.at[loss].value);
  if (type->shape.rank == 0 && tn_dtype_in(type->dtype, TN_FLOATS)) return true;
  return tn_report(&session->diags, TN_DIAG_E_LOSS_NOT_SCALAR,
                   tn_graph_node(graph, graph->outputs.at[loss].value)->at,
                   tn_shape_field("shape", &type->shape, session->names, TN_SHAPE_COMMA));
}

/* The results of a run lie in its plan, which is about to go. */
static void forget_results(tern_program *program) {
  for (size_t i = 0; i < program->outcome.count; i++) tn_datum_release(&program->outcome.values[i]);
  program->outcome.count = 0;
}

static bool feed(tern_program *program) {
  tern_session *session = program->session;
  tn_graph_program *self = program->graph;
  size_t count = self->source.inputs.count;
  free_tensors(session, &self->fed, count);
  self->fed = tn_heap_alloc(&session->heap, (count + 1) * sizeof *self->fed);
  bool ok = self->fed != NULL;
  for (size_t i = 0; i < count && ok; i++) {
    ok = tn_tensor_copy(&session->heap, &self->inputs[i].view, &self->fed[i]);
    if (ok) tn_trainer_bind_input(self->trainer, (int)i, &self->fed[i].view);
  }
  self->fed_revision = program->revision;
  return ok || tn_api_report_fault(session, &(tn_fault){ .kind = TN_FAULT_MEMORY });
}

bool tn_graph_program_train(tern_program *program, const tern_training *training) {
  tern_session *session = program->session;
  tn_graph_program *self = program->graph;
  tn_fault fault;
  tn_trainer_request request = { .seed = session->host.seed,
                                 .backend = session->backend,
                                 .threads = session->threads,
                                 .passes = session->passes,
                                 .folder = &session->folder };
  if (!tn_api_seal(session, NULL, 0)) return false;
  tn_trainer_free(self->trainer);
  self->trainer = NULL;
  if (!read_training(program, training, &request.options) || !check_all_names(program)) return false;
  forget_results(program);
  if (!prepare_values(program)) return false;
  request.graph = &self->bound;
  request.loss = find_loss(&self->bound, training->loss);
  if (!check_loss(program, request.loss)) return false;
  self->trainer = tn_trainer_new(&session->heap, &request, &fault);
  if (!self->trainer) return tn_api_report_fault(session, &fault);
  for (int i = 0; i < tn_trainer_param_count(self->trainer); i++) {
    tn_view_copy(tn_trainer_param(self->trainer, i), &self->params[i].view);
  }
  return feed(program);
}

/* Inputs may have been given anew; a step takes the shapes it was made for. */
static bool fits(tern_program *program, tn_str input, const tn_view *given, const tn_view *wanted) {
  tn_diags *diags = &program->session->diags;
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

static bool refresh_inputs(tern_program *program) {
  tn_graph_program *self = program->graph;
  const tn_value *values = self->source.inputs.at;
  if (self->fed_revision == program->revision) return true;
  for (size_t i = 0; i < self->source.inputs.count; i++) {
    tn_str name = name_of(&self->source, values[i]);
    const tn_given *given = find_given(&program->inputs, name);
    tn_view *into = &self->fed[i].view;
    if (!given || !fits(program, name, &given->data.view, into)) return false;
    if (given->data.view.dtype == into->dtype) {
      tn_view_copy(into, &given->data.view);
    } else {
      for (int64_t e = 0; e < tn_view_count(into); e++)
        tn_view_set_f64(into, e, tn_view_get_f64(&given->data.view, e));
    }
  }
  self->fed_revision = program->revision;
  return true;
}

bool tn_graph_program_step(tern_program *program, double *loss) {
  tn_graph_program *self = program->graph;
  tn_fault fault;
  if (!self->trainer)
    return tn_api_usage(program->session, "", TN_LIT("tern_train_begin"), " comes before tern_train_step");
  if (!refresh_inputs(program)) return false;
  return tn_trainer_step(self->trainer, loss, &fault) || tn_api_report_fault(program->session, &fault);
}

const tn_view *tn_graph_program_param(const tern_program *program, size_t index) {
  const tn_graph_program *self = program->graph;
  if (index >= self->source.params.count) return NULL;
  if (self->trainer) return tn_trainer_param(self->trainer, (int)index);
  return self->params && self->params[index].buffer ? &self->params[index].view : NULL;
}

/* ---- emitting ---- */

/* The gradient of the loss, or of the only output, by every parameter and float input. */
static bool emit_grad(tern_program *program, tn_text *out) {
  tern_session *session = program->session;
  const tn_graph *source = &program->graph->source;
  tn_graph graph;
  int loss = find_loss(source, NULL);
  if (loss < 0)
    return tn_api_usage(session, "", TN_LIT("the graph"), " has no output to differentiate; name one loss");
  if (!tn_graph_copy(source, &graph))
    return tn_api_report_fault(session, &(tn_fault){ .kind = TN_FAULT_MEMORY });
  tn_graph_builder builder;
  tn_graph_builder_init(&builder, &graph);
  size_t count = 0, most = graph.params.count + graph.inputs.count;
  tn_value *wrt = tn_arena_array(&graph.arena, most + 1, sizeof *wrt);
  tn_value *grads = tn_arena_array(&graph.arena, most + 1, sizeof *grads);
  for (size_t i = 0; wrt && i < graph.params.count; i++) wrt[count++] = graph.params.at[i];
  for (size_t i = 0; wrt && i < graph.inputs.count; i++) {
    if (tn_dtype_in(tn_graph_type(&graph, graph.inputs.at[i])->dtype, TN_FLOATS))
      wrt[count++] = graph.inputs.at[i];
  }
  tn_value output = graph.outputs.at[loss].value, seed = TN_NO_VALUE;
  tn_grad_request request = { .builder = &builder,
                              .outputs = &output,
                              .seeds = &seed,
                              .output_count = 1,
                              .wrt = wrt,
                              .wrt_count = (int)count,
                              .policy = TN_AD_LENIENT };
  bool ok = wrt && grads && tn_ad_grad(&request, grads);
  graph.outputs.count = 0;
  for (size_t i = 0; ok && i < count; i++)
    ok = tn_graph_output(&graph, tn_graph_node(&graph, wrt[i])->attrs->name, grads[i]);
  if (ok)
    tn_graph_print(&graph, out);
  else
    tn_api_report_fault(session, tn_build_ok(&builder.base) ? &(tn_fault){ .kind = TN_FAULT_MEMORY }
                                                            : &builder.base.fault);
  tn_graph_free(&graph);
  return ok;
}

/* The values the parameters have now; NULL where one has none yet, or memory runs out. */
static const tn_tensor *param_values(const tern_program *program, tn_arena *arena) {
  size_t count = program->graph->source.params.count;
  tn_tensor *values = tn_arena_array(arena, count + 1, sizeof *values);
  for (size_t i = 0; values && i < count; i++) {
    const tn_view *view = tn_graph_program_param(program, i);
    if (!view) return NULL;
    values[i].view = *view;
  }
  return values;
}

bool tn_graph_program_emit(tern_program *program, const char *name, tn_text *out) {
  tern_session *session = program->session;
  tn_emit_kind kind = tn_emit_kind_of(name);
  if (kind == TN_EMIT_GRAD) return emit_grad(program, out);
  if (strcmp(name, "plan") == 0 && program->graph->plan) {
    tn_plan_print(program->graph->plan, out);
    return true;
  }
  if (kind == TN_EMIT_COUNT) {
    return tn_api_usage(session, "a graph has no form ", tn_str_of(name), "; its forms are " TN_EMIT_NAMES);
  }
  tn_export what = { .graph = &program->graph->source, .kind = kind, .sources = &session->sources };
  tn_export_problem problem;
  tn_arena arena;
  tn_arena_init(&arena, &session->heap);
  what.params = param_values(program, &arena);
  if (arena.failed) problem = (tn_export_problem){ 0 };
  bool ok = !arena.failed && tn_export_write(&what, out, &problem);
  tn_arena_free(&arena);
  return ok || tn_lang_report_export(&session->host, &problem);
}
