/* train/finite.c: finds the operation that first produced a NaN or infinity.
 *
 * A NaN or infinite loss ends a run. By then the parameters are spoiled, and the
 * operation that caused it is many steps back. So every few steps the loop copies
 * parameters and optimiser state. When a loss is not finite, the steps since then
 * are repeated one by one, by a trainer that shows every value of its graph. The
 * first operation with finite operands and a NaN or infinite result is reported.
 * The repeated steps have the same bits, so the cause is found. Of several ranks the first one does that.
 *
 * Where parameters and state are large, a copy of them is most of what a run needs.
 * There steps are guarded instead: loss and gradients are added up before anything is
 * written, which costs less than a hundredth of a step that large, and a step whose sum
 * is not finite fails. Then nothing has changed, and that step alone is repeated. What
 * the update itself spoils is seen right after it. */
#include <math.h>

#include "train/loop_internal.h"
#include "train/optimizer.h"

#define KEEP_EVERY  64                 /* steps; at most so many are repeated */
#define GUARD_BYTES ((size_t)64 << 20) /* of parameters and state, from which on there is no copy */

struct tn_kept {
  tn_tensor *tensors; /* parameters, then the optimiser's; none where the trainer keeps them */
  int count;
  int64_t step;
  uint64_t drawn; /* position of the generator */
};

/* ---- keeping ---- */

static bool make_kept(tn_loop *loop) {
  tn_kept *kept = tn_arena_new(loop->arena, tn_kept);
  if (!kept) return false;
  int count = tn_trainer_keeps(loop->trainer) ? 0 : tn_trainer_lasting_count(loop->trainer);
  kept->tensors = tn_arena_array(loop->arena, (size_t)count + 1, sizeof *kept->tensors);
  if (!kept->tensors) return false;
  loop->kept = kept;
  for (; kept->count < count; kept->count++) {
    const tn_view *view = tn_trainer_lasting(loop->trainer, kept->count);
    if (!tn_tensor_copy(loop->host->heap, view, &kept->tensors[kept->count])) return false;
  }
  return true;
}

/* Plain descent has no state, and writes a parameter in the registers of its gradient: nothing to guard. */
bool tn_loop_guards(const tn_loop *loop) {
  const tn_graph *graph = &loop->lowered.graph;
  const tn_train_options *options = &loop->program.train->options;
  int states = tn_optimizer_states(options->optimizer);
  if (loop->transport || loop->options->backend->card || options->shards > 1 || states == 0) return false;
  size_t bytes = 0;
  for (size_t i = 0; i < graph->params.count; i++) {
    const tn_type *type = tn_graph_type(graph, graph->params.at[i]);
    bytes += (size_t)tn_shape_count(&type->shape) * tn_dtype_bytes(type->dtype) * (size_t)(1 + states);
  }
  return bytes >= GUARD_BYTES;
}

bool tn_loop_keep(tn_loop *loop, bool now) {
  int64_t step = tn_trainer_step_number(loop->trainer);
  if (tn_trainer_is_guarded(loop->trainer))
    return !now || loop->saved_step == step || tn_loop_checkpoint(loop);
  bool recent = loop->kept && step - loop->kept->step < KEEP_EVERY && step >= loop->kept->step;
  if (recent && !now) return true;
  if (!loop->kept && !make_kept(loop)) return tn_loop_out_of_memory(loop);
  tn_fault fault;
  if (tn_trainer_keeps(loop->trainer) && !tn_trainer_keep(loop->trainer, &fault))
    return tn_loop_fault(loop, &fault);
  for (int i = 0; i < loop->kept->count; i++)
    tn_view_copy(&loop->kept->tensors[i].view, tn_trainer_lasting(loop->trainer, i));
  loop->kept->step = step;
  loop->kept->drawn = loop->rng.position;
  return true;
}

void tn_loop_free_kept(tn_loop *loop) {
  for (int i = 0; loop->kept && i < loop->kept->count; i++) tn_tensor_unref(&loop->kept->tensors[i]);
}

/* A failed GPU is noticed when the parameters are read next. */
static void go_back(tn_loop *loop) {
  tn_fault fault;
  if (tn_trainer_keeps(loop->trainer)) (void)tn_trainer_return(loop->trainer, &fault);
  for (int i = 0; i < loop->kept->count; i++)
    tn_view_copy(tn_trainer_lasting(loop->trainer, i), &loop->kept->tensors[i].view);
  tn_trainer_set_step_number(loop->trainer, loop->kept->step);
  tn_rng_seek(&loop->rng, loop->kept->drawn);
}

void tn_loop_take_back(tn_loop *loop, int64_t step) {
  if (loop->kept && loop->kept->step == step) go_back(loop);
  else loop->spoiled = true;
}

/* ---- finding ---- */

static const char *value_name(double value) {
  return isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
}

static bool report(tn_loop *loop, const tn_not_finite *found, int64_t step) {
  tn_span at = found->at.file ? found->at : loop->program.train->at;
  return tn_report(loop->host->diags, TN_DIAG_E_NOT_FINITE, at,
                   TN_STR("op", found->op == TN_OP_ERROR ? "the step" : tn_op_sig_of(found->op)->name),
                   TN_INT("step", step), TN_STR("value", value_name(found->value)));
}

/* Checks one step: true if a value in it is not finite. */
static bool look_at_step(tn_loop *loop, tn_trainer *looking, tn_not_finite *found, bool *failed) {
  tn_fault fault;
  double loss;
  for (int i = 0; i < tn_trainer_lasting_count(looking); i++)
    tn_view_copy(tn_trainer_lasting(looking, i), tn_trainer_lasting(loop->trainer, i));
  tn_trainer_wrote(looking);
  tn_trainer_set_step_number(looking, tn_trainer_step_number(loop->trainer));
  *failed = !tn_trainer_step(looking, &loss, &fault);
  if (*failed) {
    tn_loop_fault(loop, &fault);
    return false;
  }
  return tn_trainer_find_not_finite(looking, found);
}

static bool repeat(tn_loop *loop, tn_trainer *looking, int64_t last, double value) {
  tn_not_finite found = { .value = value };
  while (tn_trainer_step_number(loop->trainer) <= last) {
    int64_t step = tn_trainer_step_number(loop->trainer);
    tn_fault fault;
    double loss;
    bool failed;
    if (!tn_loop_draw_batch(loop)) return false;
    if (look_at_step(loop, looking, &found, &failed)) return report(loop, &found, step);
    if (failed) return false;
    if (!tn_trainer_step(loop->trainer, &loss, &fault)) return tn_loop_fault(loop, &fault);
  }
  return report(loop, &found, last);
}

bool tn_loop_may_pass(tn_loop *loop) {
  tn_not_finite found = { 0 };
  bool failed;
  tn_trainer *looking = tn_loop_new_trainer(loop, true);
  bool none = looking && !look_at_step(loop, looking, &found, &failed) && !failed;
  if (none) tn_trainer_let_pass(loop->trainer);
  if (found.op != TN_OP_ERROR) {
    loop->spoiled = true;
    report(loop, &found, tn_trainer_step_number(loop->trainer));
  }
  tn_trainer_free(looking);
  return none;
}

bool tn_loop_check_update(tn_loop *loop) {
  tn_not_finite found;
  if (!tn_trainer_find_spoiled(loop->trainer, &found)) return true;
  loop->spoiled = true;
  return report(loop, &found, tn_trainer_step_number(loop->trainer) - 1);
}

/* The steps are repeated without other ranks. */
static bool repeat_alone(tn_loop *loop) {
  if (!loop->transport) return true;
  tn_loop_leave_ranks(loop);
  tn_trainer_free(loop->trainer);
  loop->trainer = tn_loop_new_trainer(loop, false);
  return loop->trainer != NULL;
}

bool tn_loop_not_finite(tn_loop *loop, int64_t step, double value) {
  loop->spoiled = true;
  if (tn_trainer_is_guarded(loop->trainer)) return report(loop, &(tn_not_finite){ .value = value }, step);
  if (!tn_loop_is_first(loop)) return tn_loop_wait_for_end(loop) && false;
  if (!repeat_alone(loop)) return false;
  tn_trainer *looking = tn_loop_new_trainer(loop, true);
  if (!looking) return false;
  go_back(loop);
  bool ok = repeat(loop, looking, step, value);
  tn_trainer_free(looking);
  return ok;
}

bool tn_loop_check_params(tn_loop *loop) {
  if (tn_trainer_is_guarded(loop->trainer)) return true; /* every step was checked */
  for (int i = 0; i < tn_trainer_param_count(loop->trainer); i++) {
    double value;
    if (!tn_view_not_finite(tn_trainer_param(loop->trainer, i), &value)) continue;
    return tn_loop_not_finite(loop, tn_trainer_step_number(loop->trainer) - 1, value);
  }
  return true;
}
