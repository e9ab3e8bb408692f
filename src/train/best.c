/* train/best.c: the best evaluation so far, and early stopping.
 *
 * Evaluations are compared by the first metric of the eval block. `keep = "best"` copies the parameters of
 * the best one: they are the model that the run saves. `patience = n` ends a run after n
 * evaluations in a row that were not better. All of this follows from the history, so a resumed run
 * counts the rows that it reads there; the copied parameters are part of the checkpoint. */
#include "train/history.h"
#include "train/loop_internal.h"

static const tn_metric *judge(const tn_loop *loop) { return loop->eval ? &loop->eval->metrics[0] : NULL; }

bool tn_loop_prepare_best(tn_loop *loop) {
  tn_best *best = &loop->best;
  int count = tn_trainer_param_count(loop->trainer);
  best->step = -1;
  if (!loop->eval || !loop->program.train->keep_best) return true;
  best->params = tn_arena_array(loop->arena, (size_t)count + 1, sizeof *best->params);
  if (!best->params) return tn_loop_out_of_memory(loop);
  for (; best->count < count; best->count++) {
    const tn_view *param = tn_trainer_param(loop->trainer, best->count);
    if (!tn_tensor_copy(loop->host->heap, param, &best->params[best->count]))
      return tn_loop_out_of_memory(loop);
  }
  return true;
}

void tn_loop_free_best(tn_loop *loop) {
  for (int i = 0; i < loop->best.count; i++) tn_tensor_unref(&loop->best.params[i]);
}

/* A NaN is never better. */
static bool is_better(const tn_loop *loop, double value) {
  const tn_best *best = &loop->best;
  if (best->step < 0) return value == value;
  return tn_metric_name_rises(judge(loop)->name) ? value > best->value : value < best->value;
}

bool tn_loop_would_be_best(const tn_loop *loop, const tn_history_row *row) {
  return row->evaluated && is_better(loop, row->values[0]);
}

bool tn_loop_would_be_last(const tn_loop *loop, const tn_history_row *row) {
  int64_t patience = loop->program.train->patience;
  bool waits = patience > 0 && row->evaluated && !is_better(loop, row->values[0]);
  return row->step == loop->steps - 1 || (waits && loop->best.waited + 1 >= patience);
}

/* Whether the parameters of that step are the best ones. */
static bool count_value(tn_loop *loop, int64_t step, double value) {
  tn_best *best = &loop->best;
  int64_t patience = loop->program.train->patience;
  bool better = is_better(loop, value);
  best->waited = better ? 0 : best->waited + 1;
  if (better) best->step = step, best->value = value;
  loop->ended = patience > 0 && best->waited >= patience;
  return better;
}

void tn_loop_note_best(tn_loop *loop, const tn_history_row *row) {
  if (!row->evaluated || !count_value(loop, row->step, row->values[0])) return;
  for (int i = 0; i < loop->best.count; i++)
    tn_view_copy(&loop->best.params[i].view, tn_trainer_param(loop->trainer, i));
}

void tn_loop_note_recorded(tn_loop *loop, const tn_recorded_row *row) {
  const double *value = judge(loop) ? tn_history_value(row, judge(loop)->name.at) : NULL;
  if (value) count_value(loop, row->step, *value);
}

bool tn_loop_has_best(const tn_loop *loop) { return loop->best.count > 0 && loop->best.step >= 0; }

const tn_view *tn_loop_model_param(const tn_loop *loop, int param) {
  return tn_loop_has_best(loop) ? &loop->best.params[param].view : tn_trainer_param(loop->trainer, param);
}

const tn_view *tn_loop_model_place(const tn_loop *loop, int param) {
  if (tn_loop_has_best(loop)) return &loop->best.params[param].view;
  return tn_trainer_param_place(loop->trainer, param);
}

bool tn_loop_share_model_param(const tn_loop *loop, int param, tn_tensor *out) {
  if (!tn_loop_has_best(loop)) return tn_trainer_share_param(loop->trainer, param, out);
  *out = tn_tensor_ref(&loop->best.params[param]);
  return true;
}

int64_t tn_loop_model_step(const tn_loop *loop) {
  return tn_loop_has_best(loop) ? loop->best.step + 1 : tn_trainer_step_number(loop->trainer);
}

/* "Best: step 40, eval/accuracy = 0.9667" */
static void say_value(const tn_loop *loop) {
  const tn_metric *metric = judge(loop);
  tn_text line;
  tn_text_init(&line, loop->host->heap);
  tn_text_puts(&line, "Best: step ");
  tn_text_int(&line, loop->best.step);
  tn_text_puts(&line, ", eval/");
  tn_text_add(&line, metric->name);
  tn_text_puts(&line, " = ");
  tn_text_fixed(&line, loop->best.value, metric->kind == TN_METRIC_LOSS ? 6 : 4);
  tn_loop_say(loop, tn_text_str(&line));
  tn_text_free(&line);
}

void tn_loop_say_best(const tn_loop *loop) {
  tn_text line;
  if (loop->ended && judge(loop)) {
    tn_text_init(&line, loop->host->heap);
    tn_text_puts(&line, "Stopped early: ");
    tn_text_add(&line, judge(loop)->name);
    tn_text_puts(&line, " did not improve in ");
    tn_text_int(&line, loop->best.waited);
    tn_text_puts(&line, loop->best.waited == 1 ? " evaluation" : " evaluations");
    tn_loop_say(loop, tn_text_str(&line));
    tn_text_free(&line);
  }
  if (tn_loop_has_best(loop)) say_value(loop);
}
