/* plan/flatten.c: makes the first two axes of a step one, where it does the same to every row of both.
 *
 * bands.c lets steps process some rows at a time, and a row is an index along the first axis: [4, 256, 384]
 * has four, too few for many threads and too large for a near cache. Most steps see 1,024 rows of 384 there.
 * Only views change, and attributes that count axes, so that the step reads and writes the same elements in
 * the same order. */
#include "plan/internal.h"

/* A step while its axes are made one. */
typedef struct {
  const tn_plan *plan;
  const tn_step *step;
  int64_t first, second; /* the lengths of the two axes */
  int rank;              /* of the result, before */
} flattening;

/* Whether the second axis goes on where the first one steps to. */
static bool is_even(const tn_view *view) {
  return view->rank >= 2 && (view->dim[0] == 1 || view->dim[1] == 1 ||
                             view->stride[0] == view->dim[1] * view->stride[1]);
}

static void make_one(tn_view *view) {
  if (view->dim[1] == 1) view->stride[1] = view->stride[0];
  view->dim[1] *= view->dim[0];
  view->rank--;
  for (int axis = 0; axis < view->rank; axis++) {
    view->dim[axis] = view->dim[axis + 1];
    view->stride[axis] = view->stride[axis + 1];
  }
  view->dim[view->rank] = view->stride[view->rank] = 0;
}

/* Has the rows of both axes. */
static bool is_by_rows(const flattening *f, const tn_view *view) {
  return view->rank >= 2 && view->dim[0] == f->first && view->dim[1] == f->second && is_even(view);
}

/* Whether an operand, or the result, has the two axes in front. Operands of elementwise operations and of
 * those on the last axis are broadcast: their axes are counted from the last. */
static bool has_both(const flattening *f, int i) {
  tn_op_rows rows = tn_op_rows_of(f->step->call.op);
  if (i == f->step->call.count) return true;
  if (rows == TN_ROWS_ALIGNED || rows == TN_ROWS_OFF_LAST)
    return tn_step_view(f->plan, f->step, i)->rank == f->rank;
  if (rows == TN_ROWS_PRODUCT) return i == 0;
  return rows != TN_ROWS_NAMED || i == 1;
}

/* An operand that is broadcast is the same for all rows if it has none of their axes. */
static bool broadcast_suits(const flattening *f) {
  for (int i = 0; i < f->step->call.count; i++) {
    const tn_view *x = tn_step_view(f->plan, f->step, i);
    bool both = has_both(f, i), only_one = x->rank == f->rank - 1 && x->dim[0] > 1 && f->first > 1;
    if (both ? !is_by_rows(f, x) && !(x->dim[0] == 1 && x->dim[1] == 1) : only_one) return false;
  }
  return f->rank > 2;
}

static bool suits(const flattening *f) {
  const tn_view *x = tn_step_view(f->plan, f->step, 0);
  switch (tn_op_rows_of(f->step->call.op)) {
    case TN_ROWS_ALIGNED:
    case TN_ROWS_OFF_LAST: return broadcast_suits(f);
    case TN_ROWS_OFF_AXIS:
    case TN_ROWS_OFF_AXES: return tn_step_axis(f->step) > 1 && f->step->call.count == 1 && is_by_rows(f, x);
    case TN_ROWS_NAMED:
      return f->step->call.attrs->axis == 0 && is_by_rows(f, tn_step_view(f->plan, f->step, 1));
    case TN_ROWS_PRODUCT: /* by one matrix */
      return f->step->call.count == 2 && f->rank == 3 && x->rank == 3 && is_by_rows(f, x) &&
             tn_step_view(f->plan, f->step, 1)->rank == 2;
    case TN_ROWS_NONE:
    case TN_ROWS_JOINED:
    case TN_ROWS_RESHAPED:
    case TN_ROWS_PERMUTED:
    case TN_ROWS_STRETCHED:
    case TN_ROWS_SLICED:
    case TN_ROWS_PADDED:
    case TN_ROWS_WINDOWS: return false;
  }
  return false;
}

/* The attributes with one axis less in front of those that they name. NULL when memory runs out. */
static const tn_attrs *attrs_of(tn_plan *plan, const tn_step *step) {
  tn_op_rows rows = tn_op_rows_of(step->call.op);
  if (rows != TN_ROWS_OFF_AXIS && rows != TN_ROWS_OFF_AXES) return step->call.attrs;
  tn_attrs *attrs = tn_arena_new(&plan->arena, tn_attrs);
  if (!attrs) return NULL;
  *attrs = *step->call.attrs;
  if (tn_op_sig_of(step->call.op)->attrs & TN_ATTR_AXIS) attrs->axis--;
  if (tn_op_sig_of(step->call.op)->attrs & TN_ATTR_AXES)
    for (int k = 0; k < attrs->axis_count; k++) attrs->axes[k]--;
  return attrs;
}

/* Makes one axis of two and says so, if the step allows it. False when memory runs out. */
static bool flatten(tn_plan *plan, tn_step *step, bool *done) {
  *done = false;
  if (step->kind != TN_STEP_KERNEL || step->call.count == 0) return true;
  const tn_view *out = tn_step_view(plan, step, step->call.count);
  flattening f = { plan, step, out->dim[0], out->dim[1], out->rank };
  if (!is_by_rows(&f, out) || tn_view_count(out) == 0 || !suits(&f)) return true;
  bool both[TN_PLAN_BAND_OPERANDS + 1];
  for (int i = 0; i <= step->call.count; i++) both[i] = has_both(&f, i);
  for (int i = 0; i <= step->call.count; i++)
    if (both[i]) make_one(&plan->views.at[step->first_view + (uint32_t)i]);
  step->call.attrs = attrs_of(plan, step);
  *done = true;
  return step->call.attrs != NULL;
}

bool tn_plan_flatten(tn_plan *plan, tn_fault *fault) {
  for (size_t i = 0; i < plan->steps.count; i++) {
    tn_step *step = &plan->steps.at[i];
    if (step->call.count > TN_PLAN_BAND_OPERANDS) continue;
    for (bool again = true; again;)
      if (!flatten(plan, step, &again)) {
        fault->kind = TN_FAULT_MEMORY;
        return false;
      }
  }
  return true;
}
