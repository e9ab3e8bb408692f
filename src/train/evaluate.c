/* train/evaluate.c: metrics over a whole split, with the parameters as they are.
 *
 * The loss of a split is the loss of one batch that holds all of it, whatever the loss is. So that memory
 * does not grow with the split, what works row by row goes through it in pieces of TN_EVAL_ROWS, and only
 * what joins rows, such as the mean of a cross-entropy, sees all of them (opt/rows.c). The bits are those of
 * the whole. A split of up to TN_EVAL_ROWS rows, or a program that cannot be divided, is evaluated at once.
 * metrics.c computes the others from the predictions of all rows. */
#include "train/loop_internal.h"
#include "train/metrics.h"

/* ---- getting ready ---- */

static void choose_split(tn_loop *loop) {
  tn_evaluation *e = &loop->evaluation;
  size_t train = loop->rows.train_count;
  if (!loop->rows.present) return;
  e->first = loop->eval->on_train ? 0 : train;
  e->rows = loop->eval->on_train ? train : loop->rows.count - train;
  if (!loop->eval->on_train || loop->rows.order_count == loop->rows.count) return;
  e->first = loop->rows.count; /* windows that do not overlap */
  e->rows = loop->rows.order_count - loop->rows.count;
}

static bool lower(tn_loop *loop, size_t rows, tn_sizes *sizes, tn_lowered *out) {
  return tn_loop_size_rows(loop, (int64_t)rows, sizes) &&
         loop->program.doors->lower(loop->program.model, sizes, TN_LOWER_INFERENCE, out);
}

static bool divide(tn_loop *loop) {
  tn_evaluation *e = &loop->evaluation;
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

static tn_plan *make_plan(tn_loop *loop, tn_graph *graph) {
  tn_fault fault;
  tn_plan_options options = { .backend = loop->options->backend, .threads = loop->options->threads };
  if (!tn_opt_run(graph, loop->options->passes, loop->options->evaluator)) {
    tn_loop_out_of_memory(loop);
    return NULL;
  }
  tn_plan *plan = tn_plan_new(loop->host->heap, graph, &options, &fault);
  if (!plan) {
    tn_loop_fault(loop, &fault);
    return NULL;
  }
  for (int i = 0; i < (int)loop->program.specs.param_count; i++)
    tn_plan_bind_param(plan, i, loop->trainer ? tn_trainer_param(loop->trainer, i) : &loop->first[i].view);
  tn_plan_set_effects(plan, &loop->program.effects);
  return plan;
}

/* The rows do not change from one evaluation to the next: they are filled in once. */
static bool bind_whole(tn_loop *loop) {
  tn_evaluation *e = &loop->evaluation;
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

static bool bind_cut(tn_loop *loop) {
  tn_evaluation *e = &loop->evaluation;
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

static bool prepare_pieces(tn_loop *loop) {
  tn_evaluation *e = &loop->evaluation;
  e->piece = make_plan(loop, &e->pieces.piece);
  if (!e->piece || !bind_cut(loop) || !tn_loop_make_inputs(loop, &e->part, NULL, &e->piece_inputs))
    return false;
  for (size_t i = 0; i < loop->program.specs.input_count; i++)
    tn_plan_bind_input(e->piece, (int)i, &e->piece_inputs[i].view);
  return true;
}

/* Names may turn out to be other lengths than metrics need. */
static bool check_metrics(const tn_loop *loop) {
  const tn_evaluation *e = &loop->evaluation;
  int target = loop->eval->target;
  if (e->lowered.logits < 0) return true;
  tn_value logits = e->lowered.graph.outputs.at[e->lowered.logits].value;
  return loop->program.doors->check_metrics(loop->program.model,
                                            &tn_graph_type(&e->lowered.graph, logits)->shape,
                                            target < 0 ? NULL : &e->sizes.inputs[target]);
}

static bool prepare(tn_loop *loop) {
  tn_evaluation *e = &loop->evaluation;
  if (!lower(loop, e->rows, &e->sizes, &e->lowered) || !check_metrics(loop)) return false;
  e->compares = tn_metrics_compare(loop->eval->metrics, loop->eval->metric_count);
  if (e->rows > TN_EVAL_ROWS && !divide(loop)) return false;
  e->plan = make_plan(loop, e->pieces.divided ? &e->pieces.rest : &e->lowered.graph);
  return e->plan && bind_whole(loop) && (!e->pieces.divided || prepare_pieces(loop));
}

bool tn_loop_prepare_eval(tn_loop *loop) {
  if (!loop->eval) return true;
  choose_split(loop);
  if (loop->evaluation.rows > 0) return prepare(loop);
  tn_report(loop->host->diags, TN_DIAG_E_EVAL_SPLIT_EMPTY, loop->eval->at,
            TN_STR("split", loop->eval->on_train ? "train" : "val"));
  loop->eval = NULL;
  return true;
}

/* ---- evaluating ---- */

/* What a piece has computed, into its place among all rows. */
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
static bool run_pieces(tn_loop *loop) {
  tn_evaluation *e = &loop->evaluation;
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

static bool measure(tn_loop *loop, tn_history_row *row) {
  const tn_evaluation *e = &loop->evaluation;
  tn_view prediction;
  tn_metrics_request request = { .metrics = loop->eval->metrics,
                                 .count = loop->eval->metric_count,
                                 .loss = row->eval_loss };
  if (e->compares) {
    prediction = tn_plan_output(e->plan, e->lowered.logits);
    request.prediction = &prediction;
    request.target = &e->inputs[loop->eval->target].view;
  }
  return tn_metrics_measure(loop->host->heap, &request, row->values) || tn_loop_out_of_memory(loop);
}

bool tn_loop_evaluate(tn_loop *loop, tn_history_row *row) {
  const tn_evaluation *e = &loop->evaluation;
  tn_fault fault;
  if (e->piece && !run_pieces(loop)) return false;
  if (!tn_plan_run(e->plan, &fault)) return tn_loop_fault(loop, &fault);
  tn_view loss = tn_plan_output(e->plan, e->lowered.loss);
  row->evaluated = true;
  row->eval_loss = tn_view_get_f64(&loss, 0);
  return measure(loop, row);
}

static void free_tensors(tn_tensor *tensors, size_t count) {
  for (size_t i = 0; tensors && i < count; i++) tn_tensor_unref(&tensors[i]);
}

void tn_loop_free_eval(tn_loop *loop) {
  tn_evaluation *e = &loop->evaluation;
  tn_plan_free(e->plan);
  tn_plan_free(e->piece);
  free_tensors(e->inputs, loop->program.specs.input_count);
  free_tensors(e->piece_inputs, loop->program.specs.input_count);
  free_tensors(e->cut, e->pieces.cut_inputs.count);
  tn_row_pieces_free(loop->host->heap, &e->pieces);
  tn_lowered_free(&e->lowered, loop->host->heap);
}
