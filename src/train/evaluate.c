/* train/evaluate.c: computes metrics over a whole split with the current parameters.
 *
 * The loss of a split is the loss of one batch that holds all of it, whatever the loss is. So that
 * memory does not grow with the split, operations that work row by row are evaluated in pieces of
 * TN_EVAL_ROWS, and only those that combine rows, such as the mean of a cross-entropy, see all of
 * them (opt/rows.c). The bits are those of the whole. A split of up to TN_EVAL_ROWS rows, or a
 * program that cannot be divided, is evaluated at once. metrics.c computes the others from the
 * predictions of all rows. */
#include "train/loop_internal.h"
#include "train/metrics.h"

/* ---- getting ready ---- */

static void choose_split(tn_loop *loop, tn_evaluation *e) {
  size_t train = loop->rows.train_count, held = loop->rows.count - train;
  if (!loop->rows.present) return;
  e->first = loop->eval->on_train ? 0 : train;
  e->rows = loop->eval->on_train ? train : held - loop->rows.test_count;
  if (!loop->eval->on_train || loop->rows.order_count == loop->rows.count) return;
  e->first = loop->rows.count; /* windows that do not overlap */
  e->rows = loop->rows.order_count - loop->rows.count;
}

static bool lower(tn_loop *loop, size_t rows, tn_sizes *sizes, tn_lowered *out) {
  return tn_loop_size_rows(loop, (int64_t)rows, sizes) &&
         loop->program.doors->lower(loop->program.model, sizes, TN_LOWER_INFERENCE, out);
}

static bool divide(tn_loop *loop, tn_evaluation *e) {
  size_t count = loop->program.specs.input_count;
  tn_lowered part = { 0 };
  bool *fed = tn_arena_array(loop->arena, count + 1, sizeof *fed);
  if (!fed) return tn_loop_out_of_memory(loop);
  for (size_t i = 0; i < count; i++) fed[i] = tn_loop_is_fed(loop, i);
  if (!lower(loop, TN_EVAL_ROWS, &e->part, &part)) return false;
  bool ok =
      tn_opt_divide_rows(&e->lowered.graph, &part.graph, (int64_t)e->rows, TN_EVAL_ROWS, fed, &e->pieces);
  tn_lowered_free(&part, loop->host->heap);
  return ok || tn_loop_out_of_memory(loop);
}

/* A trainer has the parameters where its plans run. Without one they are copied to a GPU once. */
static bool make_resident(tn_loop *loop, tn_card *card) {
  tn_fault fault;
  if (loop->trainer || !card || loop->resident) return true;
  loop->resident =
      tn_resident_new(loop->host->heap, card, loop->first, (int)loop->program.specs.param_count);
  return loop->resident || (tn_card_fail(card, &fault), tn_loop_fault(loop, &fault));
}

static tn_plan *make_plan(tn_loop *loop, tn_graph *graph) {
  tn_fault fault;
  tn_plan_options options = { .backend = loop->options->backend, .threads = loop->options->threads };
  if (!tn_opt_run(graph, loop->options->passes, loop->options->evaluator)) {
    tn_loop_out_of_memory(loop);
    return NULL;
  }
  if (!loop->trainer) options.backend = tn_plan_backend(options.backend, graph, options.threads, 1);
  if (!make_resident(loop, options.backend->card)) return NULL;
  tn_plan *plan = tn_plan_new(loop->host->heap, graph, &options, &fault);
  if (!plan) {
    tn_loop_fault(loop, &fault);
    return NULL;
  }
  tn_plan_set_effects(plan, &loop->program.effects);
  return plan;
}

/* The rows do not change from one evaluation to the next: they are filled in once. */
static bool bind_whole(tn_loop *loop, tn_evaluation *e) {
  size_t count = loop->program.specs.input_count;
  bool *read = tn_arena_array(loop->arena, count + 1, sizeof *read);
  if (!read) return tn_loop_out_of_memory(loop);
  for (size_t i = 0; i < count; i++) {
    bool compared = e->compares && (int)i == loop->eval->target;
    read[i] = !e->pieces.divided || e->pieces.own_inputs.at[i] >= 0 || compared;
  }
  if (!tn_loop_make_inputs(loop, &e->sizes, read, &e->inputs)) return false;
  tn_loop_fill_rows(loop, e->inputs, e->first, e->rows);
  for (size_t i = 0; i < count; i++) {
    int position = e->pieces.divided ? e->pieces.own_inputs.at[i] : (int)i;
    if (read[i] && position >= 0) tn_plan_bind_input(e->plan, position, &e->inputs[i].view);
  }
  return true;
}

static bool bind_cut(tn_loop *loop, tn_evaluation *e) {
  const tn_graph *rest = &e->pieces.rest;
  size_t count = e->pieces.cut_inputs.count;
  e->cut = tn_arena_array(loop->arena, count + 1, sizeof *e->cut);
  if (!e->cut) return tn_loop_out_of_memory(loop);
  for (size_t i = 0; i < count; i++) {
    int position = e->pieces.cut_inputs.at[i];
    const tn_type *type = tn_graph_type(rest, rest->inputs.at[position]);
    if (!tn_tensor_zeros(loop->host->heap, type->dtype, &type->shape, &e->cut[i]))
      return tn_loop_out_of_memory(loop);
    tn_plan_bind_input(e->plan, position, &e->cut[i].view);
  }
  return true;
}

static bool prepare_pieces(tn_loop *loop, tn_evaluation *e) {
  e->piece = make_plan(loop, &e->pieces.piece);
  if (!e->piece || !bind_cut(loop, e) || !tn_loop_make_inputs(loop, &e->part, NULL, &e->piece_inputs))
    return false;
  for (size_t i = 0; i < loop->program.specs.input_count; i++)
    tn_plan_bind_input(e->piece, (int)i, &e->piece_inputs[i].view);
  return true;
}

/* Names may turn out to be other lengths than metrics need. */
static bool check_metrics(const tn_loop *loop, const tn_evaluation *e) {
  int target = loop->eval->target;
  if (e->lowered.logits < 0) return true;
  tn_value logits = e->lowered.graph.outputs.at[e->lowered.logits].value;
  return loop->program.doors->check_metrics(loop->program.model,
                                            &tn_graph_type(&e->lowered.graph, logits)->shape,
                                            target < 0 ? NULL : &e->sizes.inputs[target]);
}

static bool prepare(tn_loop *loop, tn_evaluation *e) {
  if (!lower(loop, e->rows, &e->sizes, &e->lowered) || !check_metrics(loop, e)) return false;
  e->compares = loop->compares || tn_metrics_compare(loop->eval->metrics, loop->eval->metric_count);
  if (e->rows > TN_EVAL_ROWS && !divide(loop, e)) return false;
  e->plan = make_plan(loop, e->pieces.divided ? &e->pieces.rest : &e->lowered.graph);
  return e->plan && bind_whole(loop, e) && (!e->pieces.divided || prepare_pieces(loop, e));
}

static void warn_of_empty(const tn_loop *loop, const char *split) {
  tn_report(loop->host->diags, TN_DIAG_E_EVAL_SPLIT_EMPTY, loop->eval->at, TN_STR("split", split));
}

/* The last rows, which nothing else looks at. */
static bool prepare_test(tn_loop *loop) {
  tn_evaluation *e = &loop->test;
  if (!loop->rows.present || !(loop->program.dataset->test > 0) || loop->data) return true;
  e->rows = loop->rows.test_count;
  e->first = loop->rows.count - e->rows;
  if (e->rows > 0) return prepare(loop, e);
  warn_of_empty(loop, "test");
  return true;
}

bool tn_loop_prepare_eval(tn_loop *loop) {
  tn_evaluation *e = &loop->evaluation;
  if (!loop->eval) return true;
  if (!prepare_test(loop)) return false;
  choose_split(loop, e);
  if (e->rows > 0) return prepare(loop, e);
  bool waits = loop->program.train->patience > 0 || loop->program.train->keep_best;
  bool tests = loop->test.rows > 0;
  if (!tests || waits) warn_of_empty(loop, loop->eval->on_train ? "train" : "val");
  if (!tests) loop->eval = NULL;
  return true;
}

/* ---- evaluating ---- */

/* Copies the results of a piece to their position among all rows. */
static void keep_piece(const tn_evaluation *e, size_t first) {
  for (size_t i = 0; i < e->pieces.cut_inputs.count; i++) {
    tn_view from = tn_plan_output(e->piece, (int)i), to = e->cut[i].view;
    size_t block = (size_t)to.dim[0] / e->rows; /* places of one row */
    size_t bytes = block * (size_t)to.stride[0] * tn_dtype_bytes(to.dtype);
    to.dim[0] = from.dim[0];
    to.data = (char *)to.data + first * bytes;
    tn_view_copy(&to, &from);
  }
}

/* The last piece may compute rows of the one before again, so that all pieces are of one size. */
static bool run_pieces(tn_loop *loop, tn_evaluation *e) {
  tn_fault fault;
  for (size_t done = 0; done < e->rows; done += TN_EVAL_ROWS) {
    size_t first = done + TN_EVAL_ROWS <= e->rows ? done : e->rows - TN_EVAL_ROWS;
    tn_loop_fill_rows(loop, e->piece_inputs, e->first + first, TN_EVAL_ROWS);
    if (!tn_plan_run(e->piece, &fault)) return tn_loop_fault(loop, &fault);
    keep_piece(e, first);
    if (!tn_loop_listen(loop)) return false;
  }
  return true;
}

static bool measure(tn_loop *loop, const tn_evaluation *e, double loss, double *values) {
  tn_view prediction;
  tn_metrics_request request = { .metrics = loop->eval->metrics,
                                 .count = loop->eval->metric_count,
                                 .loss = loss };
  if (e->compares) {
    prediction = tn_plan_output(e->plan, e->lowered.logits);
    request.prediction = &prediction;
    request.target = &e->inputs[loop->eval->target].view;
  }
  return tn_metrics_measure(loop->host->heap, &request, values) || tn_loop_out_of_memory(loop);
}

static bool evaluate(tn_loop *loop, tn_evaluation *e, double *loss, double *values) {
  tn_fault fault;
  if (e->piece && !run_pieces(loop, e)) return false;
  if (!tn_plan_run(e->plan, &fault)) return tn_loop_fault(loop, &fault);
  tn_view computed = tn_plan_output(e->plan, e->lowered.loss);
  *loss = tn_view_get_f64(&computed, 0);
  return measure(loop, e, *loss, values);
}

/* After every step they may be elsewhere. */
static void bind_params(const tn_loop *loop, tn_plan *plan) {
  for (int i = 0; plan && i < (int)loop->program.specs.param_count; i++)
    tn_plan_bind_param(plan, i,
                       loop->trainer ? tn_trainer_param_place(loop->trainer, i) : &loop->first[i].view);
}

bool tn_loop_evaluate(tn_loop *loop, tn_history_row *row) {
  if (loop->evaluation.rows == 0) return true; /* there is only a test */
  bind_params(loop, loop->evaluation.plan);
  bind_params(loop, loop->evaluation.piece);
  row->evaluated = true;
  return evaluate(loop, &loop->evaluation, &row->eval_loss, row->values);
}

/* The model that the run would save after this row. */
static void bind_model(const tn_loop *loop, const tn_history_row *row, tn_plan *plan) {
  bool last = tn_loop_would_be_best(loop, row);
  for (int i = 0; plan && i < (int)loop->program.specs.param_count; i++)
    tn_plan_bind_param(plan, i,
                       last ? tn_trainer_param_place(loop->trainer, i) : tn_loop_model_place(loop, i));
}

bool tn_loop_test(tn_loop *loop, tn_history_row *row) {
  tn_evaluation *e = &loop->test;
  double loss;
  if (!loop->eval || e->rows == 0 || !tn_loop_would_be_last(loop, row)) return true;
  bind_model(loop, row, e->plan);
  bind_model(loop, row, e->piece);
  row->tested = true;
  return evaluate(loop, e, &loss, row->test_values);
}

static void free_tensors(tn_tensor *tensors, size_t count) {
  for (size_t i = 0; tensors && i < count; i++) tn_tensor_unref(&tensors[i]);
}

static void free_evaluation(tn_loop *loop, tn_evaluation *e) {
  tn_plan_free(e->plan);
  tn_plan_free(e->piece);
  free_tensors(e->inputs, loop->program.specs.input_count);
  free_tensors(e->piece_inputs, loop->program.specs.input_count);
  free_tensors(e->cut, e->pieces.cut_inputs.count);
  tn_row_pieces_free(loop->host->heap, &e->pieces);
  tn_lowered_free(&e->lowered, loop->host->heap);
}

void tn_loop_free_eval(tn_loop *loop) {
  free_evaluation(loop, &loop->evaluation);
  free_evaluation(loop, &loop->test);
  tn_resident_free(loop->resident);
  loop->resident = NULL;
}
