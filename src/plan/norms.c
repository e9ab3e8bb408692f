/* plan/norms.c: the parts of a layer_norm run as one kernel.  A normalisation is six steps, which a graph
 * that nobody has taken apart has side by side:
 *
 *   mean   x                         -> mean
 *   sub    x, mean                   -> centred
 *   mul    centred, centred          -> square
 *   mean   square                    -> variance
 *   fused  sqrt(variance + eps)      -> spread
 *   fused  ((centred / spread) * gamma) + beta -> out
 *
 * Where nobody else reads what lies between, a back end that can (backend.h) goes through each row while it
 * is in the near cache. It does the same operations in the same order, so the bits stay. */
#include "plan/internal.h"

enum { PARTS = 6, MEAN = 0, CENTRED, SQUARE, VARIANCE, SPREAD, RESULT };

/* Whether operand i of the step is what part `of` has written. */
static bool reads_part(const tn_plan *plan, const tn_step *first, int step, int i, int of) {
  return tn_step_same_place(plan, first + step, i, first + of, first[of].call.count);
}

/* Whether only parts up to `last` see what part `of` writes. */
static bool stays_inside(const tn_plan *plan, const tn_step *first, int of, int last) {
  const tn_storage *s = &plan->storages.at[tn_step_site(plan, first + of, first[of].call.count)->storage];
  int32_t start = (int32_t)(first - plan->steps.at);
  return s->base == 0 && !s->output && s->first == start + of && s->last == start + last;
}

static bool is_mean(const tn_plan *plan, const tn_step *step) {
  const tn_attrs *attrs = step->call.attrs;
  return step->call.op == TN_OP_MEAN && attrs->axis_count == 1 &&
         attrs->axes[0] == tn_step_view(plan, step, 0)->rank - 1;
}

static bool is_step(const tn_fused_step *step, tn_op op, int x, int y) {
  return step->op == op && step->dtype == TN_F32 && step->in[0] == x && (y < 0 || step->in[1] == y);
}

/* sqrt(operand + number) */
static bool is_spread(const tn_step *step) {
  const tn_fused *program = step->call.attrs->program;
  if (step->call.op != TN_OP_FUSED || program->operand_count != 1 || program->step_count != 3) return false;
  return program->step[0].op == TN_OP_FILL && program->step[0].dtype == TN_F32 &&
         is_step(&program->step[1], TN_OP_ADD, 0, 1) && is_step(&program->step[2], TN_OP_SQRT, 2, -1);
}

/* ((0 / 1) * 2) + 3 */
static bool is_result(const tn_step *step) {
  const tn_fused *program = step->call.attrs->program;
  if (step->call.op != TN_OP_FUSED || program->operand_count != 4 || program->step_count != 3) return false;
  return is_step(&program->step[0], TN_OP_DIV, 0, 1) && is_step(&program->step[1], TN_OP_MUL, 4, 2) &&
         is_step(&program->step[2], TN_OP_ADD, 5, 3);
}

/* One number for each place of a row, the same in every row. */
static bool is_row(const tn_view *view, int64_t n) {
  return view->rank > 0 && view->dim[view->rank - 1] == n && tn_view_count(view) == n &&
         tn_view_is_contiguous(view);
}

static bool is_norm(const tn_plan *plan, uint32_t at, const bool *target) {
  if (at + PARTS > plan->steps.count) return false;
  const tn_step *first = &plan->steps.at[at];
  for (int i = 0; i < PARTS; i++)
    if (first[i].kind != TN_STEP_KERNEL || (i > 0 && target[at + (uint32_t)i])) return false;
  if (!is_mean(plan, first) || first[CENTRED].call.op != TN_OP_SUB || first[SQUARE].call.op != TN_OP_MUL ||
      !is_mean(plan, &first[VARIANCE]) || !is_spread(&first[SPREAD]) || !is_result(&first[RESULT]))
    return false;
  const tn_view *x = tn_step_view(plan, first, 0), *out = tn_step_view(plan, &first[RESULT], 4);
  if (x->dtype != TN_F32 || !tn_view_is_contiguous(x) || tn_view_count(x) != tn_view_count(out)) return false;
  int64_t n = x->dim[x->rank - 1];
  if (!is_row(tn_step_view(plan, &first[RESULT], 2), n) || !is_row(tn_step_view(plan, &first[RESULT], 3), n))
    return false;
  bool connected =
      tn_step_same_place(plan, first, 0, &first[CENTRED], 0) && reads_part(plan, first, CENTRED, 1, MEAN) &&
      reads_part(plan, first, SQUARE, 0, CENTRED) && reads_part(plan, first, SQUARE, 1, CENTRED) &&
      reads_part(plan, first, VARIANCE, 0, SQUARE) && reads_part(plan, first, SPREAD, 0, VARIANCE) &&
      reads_part(plan, first, RESULT, 0, CENTRED) && reads_part(plan, first, RESULT, 1, SPREAD);
  return connected && stays_inside(plan, first, MEAN, CENTRED) &&
         stays_inside(plan, first, CENTRED, RESULT) && stays_inside(plan, first, SQUARE, VARIANCE) &&
         stays_inside(plan, first, VARIANCE, SPREAD) && stays_inside(plan, first, SPREAD, RESULT);
}

static bool copy_view(tn_plan *plan, const tn_step *step, int i) {
  const tn_view_site *site = tn_step_site(plan, step, i);
  tn_location location = { .storage = site->storage,
                           .offset = site->offset,
                           .view = *tn_step_view(plan, step, i) };
  return tn_plan_add_view(plan, &location) >= 0;
}

/* The first step does it all, the others become jumps behind the last. */
static bool merge(tn_plan *plan, uint32_t at) {
  const tn_step result = plan->steps.at[at + RESULT];
  tn_step *first = &plan->steps.at[at];
  uint32_t views = (uint32_t)plan->views.count;
  tn_attrs *attrs = tn_arena_array(&plan->arena, 1, sizeof *attrs);
  if (!attrs || !copy_view(plan, first, 0)) return false;
  for (int i = 2; i <= 4; i++)
    if (!copy_view(plan, &result, i)) return false;
  attrs->number = first[SPREAD].call.attrs->program->step[0].number;
  for (int i = 0; i < RESULT; i++)
    plan->storages.at[tn_step_site(plan, first + i, first[i].call.count)->storage].bytes = 0;
  plan->storages.at[tn_step_site(plan, &result, 4)->storage].first = (int32_t)at;
  for (int i = 1; i < PARTS; i++)
    first[i] = (tn_step){ .kind = TN_STEP_JUMP, .node = first[i].node, .target = at + PARTS };
  first->kernel = plan->backend->layer_norm;
  first->node = result.node;
  first->first_view = views;
  first->call =
      (tn_kernel_call){ .op = TN_OP_LAYER_NORM, .attrs = attrs, .count = 3, .threads = result.call.threads };
  return true;
}

bool tn_plan_merge_norms(tn_plan *plan, tn_fault *fault) {
  if (!plan->backend->layer_norm || plan->steps.count < PARTS) return true;
  bool *target = tn_arena_array(&plan->arena, plan->steps.count + 1, sizeof *target);
  bool ok = target != NULL;
  for (size_t i = 0; ok && i < plan->steps.count; i++) {
    const tn_step *step = &plan->steps.at[i];
    if (step->kind == TN_STEP_JUMP || step->kind == TN_STEP_JUMP_UNLESS) target[step->target] = true;
  }
  for (uint32_t i = 0; ok && i < plan->steps.count; i++)
    if (is_norm(plan, i, target)) ok = merge(plan, i);
  if (!ok) fault->kind = TN_FAULT_MEMORY;
  return ok;
}
