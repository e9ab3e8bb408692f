/* plan/updates.c: a product of matrices that only moves a parameter goes straight into it.  The gradient
 * of a weight is a product of matrices, and plain descent takes a multiple of it off the weight. Done one
 * after the other, the gradient is written and read again; it is as large as the weight. Back ends that
 * can (backend.h) take the step while they have the product in their registers: the pair  matmul  x, y ->
 * g          becomes          matmul  x, y, p, scale -> p fused   p - scale * g -> p  The operations and
 * their order stay, so do the bits. */
#include "plan/internal.h"

#define LENGTH_LIMIT 2048 /* of the products' sums: they are added up without being put down in between */

typedef struct {
  int gradient, param, scale; /* operands of the fused step */
} descent;

static const tn_view *view_of(const tn_plan *plan, const tn_step *step, int i) {
  return &plan->views.at[step->first_view + (uint32_t)i];
}

static const tn_view_site *site_of(const tn_plan *plan, const tn_step *step, int i) {
  return &plan->sites.at[step->first_view + (uint32_t)i];
}

/* p - scale * g, in any order of the operands. */
static bool is_descent(const tn_plan *plan, const tn_step *step, descent *out) {
  const tn_fused *program = step->call.attrs->program;
  if (step->call.op != TN_OP_FUSED || program->operand_count != 3 || program->step_count != 2) return false;
  const tn_fused_step *product = &program->step[0], *difference = &program->step[1];
  if (product->op != TN_OP_MUL || difference->op != TN_OP_SUB || difference->in[1] != 3) return false;
  if (difference->in[0] > 2 || product->dtype != TN_F32 || difference->dtype != TN_F32) return false;
  bool first_is_scale = view_of(plan, step, product->in[0])->rank == 0;
  *out = (descent){ .param = difference->in[0],
                    .scale = product->in[first_is_scale ? 0 : 1],
                    .gradient = product->in[first_is_scale ? 1 : 0] };
  return view_of(plan, step, out->scale)->rank == 0 && out->gradient != out->scale &&
         out->param != out->gradient && out->param != out->scale;
}

static bool same_place(const tn_plan *plan, const tn_step *a, int i, const tn_step *b, int k) {
  const tn_view *x = view_of(plan, a, i), *y = view_of(plan, b, k);
  const tn_view_site *at = site_of(plan, a, i), *to = site_of(plan, b, k);
  bool same = at->storage == to->storage && at->offset == to->offset && x->rank == y->rank;
  for (int axis = 0; same && axis < x->rank; axis++)
    same = x->dim[axis] == y->dim[axis] && x->stride[axis] == y->stride[axis];
  return same;
}

static bool reads_base(const tn_plan *plan, const tn_step *step, int32_t base) {
  for (int i = 0; i < step->call.count; i++)
    if (plan->storages.at[site_of(plan, step, i)->storage].base == base) return true;
  return false;
}

/* Whether the step at i and the one behind it are such a pair. */
static bool is_pair(const tn_plan *plan, uint32_t i, descent *how) {
  const tn_step *product = &plan->steps.at[i], *update = product + 1;
  if (product->kind != TN_STEP_KERNEL || product->call.op != TN_OP_MATMUL) return false;
  const tn_view *x = view_of(plan, product, 0), *out = view_of(plan, product, 2);
  if (out->rank != 2 || out->dtype != TN_F32 || tn_view_count(out) == 0) return false;
  if (x->dim[1] < 1 || x->dim[1] > LENGTH_LIMIT) return false;
  if (update->kind != TN_STEP_KERNEL || !is_descent(plan, update, how)) return false;
  if (!same_place(plan, update, how->gradient, product, 2)) return false;
  const tn_storage *gradient = &plan->storages.at[site_of(plan, product, 2)->storage];
  int32_t base = plan->storages.at[site_of(plan, update, 3)->storage].base;
  return gradient->base == 0 && !gradient->output && gradient->first == (int32_t)i &&
         gradient->last == (int32_t)i + 1 && base != 0 && !reads_base(plan, product, base) &&
         plan->storages.at[site_of(plan, update, how->param)->storage].base == base;
}

static bool copy_view(tn_plan *plan, const tn_step *step, int i) {
  const tn_view_site *site = site_of(plan, step, i);
  tn_location location = { .storage = site->storage,
                           .offset = site->offset,
                           .view = *view_of(plan, step, i) };
  return tn_plan_add_view(plan, &location) >= 0;
}

/* The second step becomes a jump to the next one. */
static bool merge(tn_plan *plan, uint32_t i, const descent *how) {
  tn_step product = plan->steps.at[i], update = plan->steps.at[i + 1];
  uint32_t first = (uint32_t)plan->views.count;
  if (!copy_view(plan, &product, 0) || !copy_view(plan, &product, 1) ||
      !copy_view(plan, &update, how->param) || !copy_view(plan, &update, how->scale) ||
      !copy_view(plan, &update, 3))
    return false;
  plan->storages.at[site_of(plan, &product, 2)->storage].bytes = 0; /* nobody needs the gradient any more */
  plan->storages.at[site_of(plan, &update, 3)->storage].first = (int32_t)i;
  plan->steps.at[i].first_view = first;
  plan->steps.at[i].call.count = 4;
  plan->steps.at[i + 1] = (tn_step){ .kind = TN_STEP_JUMP, .node = update.node, .target = i + 2 };
  if ((int32_t)i < plan->first_write) plan->first_write = (int32_t)i;
  return true;
}

bool tn_plan_merge_updates(tn_plan *plan, tn_fault *fault) {
  descent how;
  if (!plan->backend->descends) return true;
  for (uint32_t i = 0; i + 1 < plan->steps.count; i++) {
    if (!is_pair(plan, i, &how) || merge(plan, i, &how)) continue;
    fault->kind = TN_FAULT_MEMORY;
    return false;
  }
  return true;
}
