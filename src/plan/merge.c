/* plan/merge.c: two steps become one where what lies between them need not be written down.
 *
 * The gradient of a weight is a matrix product, and plain descent takes a multiple of it off the
 * weight. Done one after the other, the gradient is written and read again; it is as large as the weight.
 * Back ends that can (backend.h) take the step while they have the product in their registers:
 *
 *   matmul  x, y -> g           becomes   matmul  x, y, p, scale -> p
 *   fused   p - scale * g -> p
 *
 * The rows of a table that an index names are often wanted for their sum alone, as the words of a text are;
 * then they are added where they stand:
 *
 *   gather  table, index -> r   becomes   mean  table, index -> out
 *   mean    r -> out
 *
 * The operations and their order stay, so do the bits. */
#include "plan/internal.h"

#define LENGTH_LIMIT 2048 /* of the products' sums: they are added up without being put down in between */

typedef struct {
  int gradient, param, scale; /* operands of the fused step */
} descent;

/* p - scale * g, in any order of the operands. */
static bool is_descent(const tn_plan *plan, const tn_step *step, descent *out) {
  const tn_fused *program = step->call.attrs->program;
  if (step->call.op != TN_OP_FUSED || program->operand_count != 3 || program->step_count != 2) return false;
  const tn_fused_step *product = &program->step[0], *difference = &program->step[1];
  if (product->op != TN_OP_MUL || difference->op != TN_OP_SUB || difference->in[1] != 3) return false;
  if (difference->in[0] > 2 || product->dtype != TN_F32 || difference->dtype != TN_F32) return false;
  bool first_is_scale = tn_step_view(plan, step, product->in[0])->rank == 0;
  *out = (descent){ .param = difference->in[0],
                    .scale = product->in[first_is_scale ? 0 : 1],
                    .gradient = product->in[first_is_scale ? 1 : 0] };
  return tn_step_view(plan, step, out->scale)->rank == 0 && out->gradient != out->scale &&
         out->param != out->gradient && out->param != out->scale;
}

bool tn_step_same_place(const tn_plan *plan, const tn_step *a, int i, const tn_step *b, int k) {
  const tn_view *x = tn_step_view(plan, a, i), *y = tn_step_view(plan, b, k);
  const tn_view_site *at = tn_step_site(plan, a, i), *to = tn_step_site(plan, b, k);
  bool same = at->storage == to->storage && at->offset == to->offset && x->rank == y->rank;
  for (int axis = 0; same && axis < x->rank; axis++)
    same = x->dim[axis] == y->dim[axis] && x->stride[axis] == y->stride[axis];
  return same;
}

static bool reads_base(const tn_plan *plan, const tn_step *step, int32_t base) {
  for (int i = 0; i < step->call.count; i++)
    if (plan->storages.at[tn_step_site(plan, step, i)->storage].base == base) return true;
  return false;
}

static bool copy_view(tn_plan *plan, const tn_step *step, int i) {
  const tn_view_site *site = tn_step_site(plan, step, i);
  tn_location location = { .storage = site->storage,
                           .offset = site->offset,
                           .view = *tn_step_view(plan, step, i) };
  return tn_plan_add_view(plan, &location) >= 0;
}

/* The step at i has new views from `first` on; the one behind it becomes a jump to the next. What lay between
 * the two needs no memory any more, and the result of the second is written earlier. */
static void put_together(tn_plan *plan, uint32_t i, uint32_t first, int count) {
  const tn_step *one = &plan->steps.at[i], *two = one + 1;
  plan->storages.at[tn_step_site(plan, one, one->call.count)->storage].bytes = 0;
  plan->storages.at[tn_step_site(plan, two, two->call.count)->storage].first = (int32_t)i;
  plan->steps.at[i].first_view = first;
  plan->steps.at[i].call.count = count;
  plan->steps.at[i + 1] = (tn_step){ .kind = TN_STEP_JUMP, .node = two->node, .target = i + 2 };
}

/* Whether nobody but the step behind it reads what the step at i writes. */
static bool is_for_the_next(const tn_plan *plan, uint32_t i) {
  const tn_step *step = &plan->steps.at[i];
  const tn_storage *storage = &plan->storages.at[tn_step_site(plan, step, step->call.count)->storage];
  return storage->base == 0 && !storage->output && storage->first == (int32_t)i &&
         storage->last == (int32_t)i + 1;
}

/* ---- a product and the descent that it is for ---- */
static bool is_pair(const tn_plan *plan, uint32_t i, descent *how) {
  const tn_step *product = &plan->steps.at[i], *update = product + 1;
  if (product->kind != TN_STEP_KERNEL || product->call.op != TN_OP_MATMUL) return false;
  const tn_view *x = tn_step_view(plan, product, 0), *out = tn_step_view(plan, product, 2);
  if (out->rank != 2 || out->dtype != TN_F32 || tn_view_count(out) == 0) return false;
  if (x->dim[1] < 1 || x->dim[1] > LENGTH_LIMIT) return false;
  if (update->kind != TN_STEP_KERNEL || !is_descent(plan, update, how)) return false;
  if (!tn_step_same_place(plan, update, how->gradient, product, 2)) return false;
  int32_t base = plan->storages.at[tn_step_site(plan, update, 3)->storage].base;
  return is_for_the_next(plan, i) && base != 0 && !reads_base(plan, product, base) &&
         plan->storages.at[tn_step_site(plan, update, how->param)->storage].base == base;
}

static bool merge_descent(tn_plan *plan, uint32_t i, const descent *how) {
  tn_step product = plan->steps.at[i], update = plan->steps.at[i + 1];
  uint32_t first = (uint32_t)plan->views.count;
  if (!copy_view(plan, &product, 0) || !copy_view(plan, &product, 1) ||
      !copy_view(plan, &update, how->param) || !copy_view(plan, &update, how->scale) ||
      !copy_view(plan, &update, 3))
    return false;
  put_together(plan, i, first, 4);
  if ((int32_t)i < plan->first_write) plan->first_write = (int32_t)i;
  return true;
}

/* ---- rows of a table and their sum ---- */
static bool is_flat(const tn_view *view) { return tn_view_is_contiguous(view); }

/* gather: [rows, columns] and [..., n] to [..., n, columns]; the sum is along n. */
static bool is_pool(const tn_plan *plan, uint32_t i) {
  const tn_step *gather = &plan->steps.at[i], *sum = gather + 1;
  if (gather->kind != TN_STEP_KERNEL || gather->call.op != TN_OP_GATHER || sum->kind != TN_STEP_KERNEL)
    return false;
  if (sum->call.op != TN_OP_SUM && sum->call.op != TN_OP_MEAN) return false;
  const tn_view *table = tn_step_view(plan, gather, 0), *index = tn_step_view(plan, gather, 1);
  const tn_view *rows = tn_step_view(plan, gather, 2);
  const tn_attrs *attrs = sum->call.attrs;
  if (gather->call.attrs->axis != 0 || table->rank != 2 || table->dtype != TN_F32 || table->stride[1] != 1)
    return false;
  if (index->rank == 0 || !is_flat(index) || tn_view_count(rows) == 0) return false;
  if (index->dim[index->rank - 1] > TN_BACKEND_POOL_LIMIT) return false;
  if (attrs->axis_count != 1 || attrs->axes[0] != index->rank - 1) return false;
  return tn_step_same_place(plan, sum, 0, gather, 2) && is_for_the_next(plan, i) &&
         is_flat(tn_step_view(plan, sum, 1));
}

/* What fails is still the gather, so its node stays with the step. */
static bool merge_pool(tn_plan *plan, uint32_t i) {
  tn_step gather = plan->steps.at[i], sum = plan->steps.at[i + 1];
  uint32_t first = (uint32_t)plan->views.count;
  if (!copy_view(plan, &gather, 0) || !copy_view(plan, &gather, 1) || !copy_view(plan, &sum, 1)) return false;
  put_together(plan, i, first, 2);
  plan->steps.at[i].kernel = plan->backend->pool;
  plan->steps.at[i].call.op = sum.call.op;
  plan->steps.at[i].call.attrs = sum.call.attrs;
  return true;
}

bool tn_plan_merge_steps(tn_plan *plan, tn_fault *fault) {
  descent how;
  bool ok = true;
  for (uint32_t i = 0; ok && i + 1 < plan->steps.count; i++) {
    if (plan->backend->descends && is_pair(plan, i, &how)) ok = merge_descent(plan, i, &how);
    if (plan->backend->pool && is_pool(plan, i)) ok = merge_pool(plan, i);
  }
  if (!ok) fault->kind = TN_FAULT_MEMORY;
  return ok;
}
