/* train/evaluate.c: metrics over a whole split, with the parameters as they are.
 *
 * The split is taken in chunks of TN_EVAL_ROWS rows, so that memory does not
 * grow with it; a split that fits into one chunk is evaluated at once. The loss
 * of several chunks is the mean of their losses weighted by rows, in f64. The
 * class of a row is the largest logit, the first one on a tie. */
#include "train/loop_internal.h"

typedef struct {
  size_t first, count; /* of the order */
} split;

static split chosen_split(const tn_loop *loop) {
  if (!loop->rows.present) return (split){ 0, 0 };
  size_t train = loop->rows.train_count;
  return loop->eval->on_train ? (split){ 0, train } : (split){ train, loop->rows.count - train };
}

static bool size_for(tn_loop *loop, size_t rows, tn_ail_sizes *sizes) {
  const tn_ail_dataset *data = tn_ail_dataset_of(loop->program);
  size_t count = tn_ail_input_count(loop->program);
  tn_shape *given = tn_arena_array(loop->arena, count + 1, sizeof *given);
  if (!given) return tn_loop_out_of_memory(loop);
  for (size_t i = 0; i < count; i++) given[i].rank = -1;
  if (data->features_input >= 0)
    given[data->features_input] = tn_shape_make(2, (int64_t)rows, loop->rows.table.width);
  if (data->labels_input >= 0) given[data->labels_input] = tn_shape_make(1, (int64_t)rows);
  tn_ail_size_request request = { .given = given, .batch = (int64_t)rows, .no_defaults = true };
  return tn_ail_size(loop->program, &request, loop->arena, sizes);
}

static bool make_plan(tn_loop *loop, size_t rows, tn_eval_plan *e) {
  tn_fault fault;
  e->rows = rows;
  if (!size_for(loop, rows, &e->sizes) ||
      !tn_ail_lower(loop->program, &e->sizes, TN_AIL_FOR_EVAL, &e->lowered))
    return false;
  tn_plan_options options = { .backend = loop->options->backend, .threads = loop->options->threads };
  if (!tn_opt_run(&e->lowered.graph, loop->options->passes, loop->options->folder))
    return tn_loop_out_of_memory(loop);
  e->plan = tn_plan_new(loop->host->heap, &e->lowered.graph, &options, &fault);
  if (!e->plan) return tn_ail_report_fault(loop->program, &fault);
  if (!tn_loop_make_inputs(loop, &e->sizes, &e->inputs)) return false;
  for (size_t i = 0; i < tn_ail_input_count(loop->program); i++)
    tn_plan_bind_input(e->plan, (int)i, &e->inputs[i].view);
  for (int i = 0; i < tn_trainer_param_count(loop->trainer); i++)
    tn_plan_bind_param(e->plan, i, tn_trainer_param(loop->trainer, i));
  tn_plan_set_host(e->plan,
                   &(tn_plan_host){ loop->effects.context, loop->effects.call, loop->effects.entering });
  return true;
}

bool tn_loop_prepare_eval(tn_loop *loop) {
  if (!loop->eval) return true;
  split s = chosen_split(loop);
  if (s.count == 0) {
    tn_report(loop->host->diags, TN_DIAG_E_EVAL_SPLIT_EMPTY, loop->eval->at,
              TN_STR("split", loop->eval->on_train ? "train" : "val"));
    loop->eval = NULL;
    return true;
  }
  size_t full = s.count / TN_EVAL_ROWS, rest = s.count % TN_EVAL_ROWS;
  return (full == 0 || make_plan(loop, TN_EVAL_ROWS, &loop->evals[0])) &&
         (rest == 0 || make_plan(loop, rest, &loop->evals[1]));
}

static int64_t largest(const tn_view *logits, int64_t row, int64_t classes) {
  int64_t best = 0;
  double most = tn_view_get_f64(logits, row * classes);
  for (int64_t c = 1; c < classes; c++) {
    double number = tn_view_get_f64(logits, row * classes + c);
    if (number > most) most = number, best = c;
  }
  return best;
}

static size_t count_right(const tn_loop *loop, const tn_eval_plan *e, size_t first) {
  tn_view logits = tn_plan_output(e->plan, e->lowered.logits);
  int64_t classes = logits.rank > 0 ? logits.dim[logits.rank - 1] : 1;
  int64_t rows = classes > 0 ? tn_view_count(&logits) / classes : 0;
  size_t right = 0;
  for (size_t i = 0; i < e->rows && (int64_t)i < rows && loop->rows.table.labels.count > 0; i++) {
    right += largest(&logits, (int64_t)i, classes) == loop->rows.table.labels.at[loop->rows.order[first + i]];
  }
  return right;
}

static bool evaluate_chunk(tn_loop *loop, const tn_eval_plan *e, size_t first, tn_rng *rng, double *loss,
                           size_t *right) {
  tn_fault fault;
  tn_loop_fill_rows(loop, e->inputs, first, e->rows);
  tn_loop_draw_others(loop, rng, &e->sizes, e->inputs);
  if (!tn_plan_run(e->plan, &fault)) return tn_ail_report_fault(loop->program, &fault);
  tn_view view = tn_plan_output(e->plan, e->lowered.loss);
  *loss += tn_view_get_f64(&view, 0) * (double)e->rows;
  if (e->lowered.logits >= 0) *right += count_right(loop, e, first);
  return true;
}

bool tn_loop_evaluate(tn_loop *loop, tn_history_row *row) {
  split s = chosen_split(loop);
  tn_rng rng;
  double loss = 0;
  size_t right = 0;
  tn_rng_init(&rng, loop->host->seed + 2000);
  for (size_t done = 0; done < s.count;) {
    const tn_eval_plan *e = s.count - done >= TN_EVAL_ROWS ? &loop->evals[0] : &loop->evals[1];
    if (!evaluate_chunk(loop, e, s.first + done, &rng, &loss, &right)) return false;
    done += e->rows;
  }
  row->evaluated = true;
  row->eval_loss = (double)(float)(loss / (double)s.count);
  row->eval_accuracy = (double)right / (double)s.count;
  return true;
}

void tn_loop_free_eval(tn_loop *loop) {
  for (int k = 0; k < 2; k++) {
    tn_eval_plan *e = &loop->evals[k];
    tn_plan_free(e->plan);
    if (e->lowered.graph.heap) tn_graph_free(&e->lowered.graph);
    for (size_t i = 0; e->inputs && i < tn_ail_input_count(loop->program); i++)
      tn_tensor_unref(&e->inputs[i]);
  }
}
