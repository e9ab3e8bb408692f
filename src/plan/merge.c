/* plan/merge.c: merges two steps into one kernel, so that the value between them is not written to
 * memory.
 *
 * backend/fusions.def lists the pairs. A pattern looks at shapes and strides, and names the operands of the
 * kernel; the rest is the same for all. */
#include <math.h>

#include "plan/internal.h"

#define LENGTH_LIMIT  2048 /* of the products' sums: they are added up without being stored in between */
#define OPERAND_LIMIT 4
#define STEPS_LEAST    16 /* of the sums of windows that are added up where they belong, */
#define CHANNELS_LEAST 32 /*   and numbers of a pixel, which make the vectors */

/* An operand of one of the two steps. */
typedef struct {
  bool of_second;
  int operand;
} source;

/* What the kernel is called with. */
typedef struct {
  tn_op op;
  const tn_attrs *attrs;
  source in[OPERAND_LIMIT];
  int count;
} merged_call;

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

/* Whether only the next step reads the result of the step at i. */
static bool is_for_the_next(const tn_plan *plan, uint32_t i) {
  const tn_step *step = &plan->steps.at[i];
  const tn_storage *storage = &plan->storages.at[tn_step_site(plan, step, step->call.count)->storage];
  return storage->base == 0 && !storage->output && storage->first == (int32_t)i &&
         storage->last == (int32_t)i + 1;
}

/* ---- patterns ---- */

/* p - scale * g, in any order of the operands. */
static bool is_descent(const tn_plan *plan, const tn_step *step, int *param, int *scale, int *gradient) {
  const tn_fused *program = step->call.attrs->program;
  if (program->operand_count != 3 || program->step_count != 2) return false;
  const tn_fused_step *product = &program->step[0], *difference = &program->step[1];
  if (product->op != TN_OP_MUL || difference->op != TN_OP_SUB || difference->in[1] != 3) return false;
  if (difference->in[0] > 2 || product->dtype != TN_F32 || difference->dtype != TN_F32) return false;
  bool first_is_scale = tn_step_view(plan, step, product->in[0])->rank == 0;
  *param = difference->in[0];
  *scale = product->in[first_is_scale ? 0 : 1];
  *gradient = product->in[first_is_scale ? 1 : 0];
  return tn_step_view(plan, step, *scale)->rank == 0 && *gradient != *scale && *param != *gradient &&
         *param != *scale;
}

/* The parameter is written where it is, and the product does not read it. */
static bool fits_descent(const tn_plan *plan, const tn_step *product, const tn_step *update,
                         merged_call *call) {
  const tn_view *x = tn_step_view(plan, product, 0), *out = tn_step_view(plan, product, 2);
  int param, scale, gradient;
  if (out->rank != 2 || out->dtype != TN_F32 || tn_view_count(out) == 0) return false;
  if (x->dim[1] < 1 || x->dim[1] > LENGTH_LIMIT) return false;
  if (!is_descent(plan, update, &param, &scale, &gradient)) return false;
  if (!tn_step_same_place(plan, update, gradient, product, 2)) return false;
  int32_t base = plan->storages.at[tn_step_site(plan, update, 3)->storage].base;
  *call = (merged_call){ .op = TN_OP_MATMUL,
                         .attrs = product->call.attrs,
                         .in = { { false, 0 }, { false, 1 }, { true, param }, { true, scale } },
                         .count = 4 };
  return base != 0 && !reads_base(plan, product, base) &&
         plan->storages.at[tn_step_site(plan, update, param)->storage].base == base;
}

/* out[..., n] = product[..., n] + bias[n] by operands `sum` and `bias` of the second step. */
static bool adds_bias(const tn_plan *plan, const tn_step *product, const tn_step *second, int sum, int bias,
                      merged_call *call) {
  const tn_view *out = tn_step_view(plan, product, 2), *added = tn_step_view(plan, second, bias);
  const tn_view *result = tn_step_view(plan, second, second->call.count);
  if (sum == bias || out->dtype != TN_F32 || added->dtype != TN_F32 || result->dtype != TN_F32) return false;
  if (added->rank != 1 || added->dim[0] != out->dim[out->rank - 1] || result->rank != out->rank) return false;
  if (tn_view_count(out) == 0 || tn_view_count(tn_step_view(plan, product, 0)) == 0) return false;
  *call = (merged_call){ .op = TN_OP_MATMUL,
                         .attrs = product->call.attrs,
                         .in = { { false, 0 }, { false, 1 }, { true, bias } },
                         .count = 3 };
  return tn_step_same_place(plan, second, sum, product, 2);
}

static bool fits_bias(const tn_plan *plan, const tn_step *product, const tn_step *add, merged_call *call) {
  return adds_bias(plan, product, add, 0, 1, call) || adds_bias(plan, product, add, 1, 0, call);
}

static bool fits_bias_relu(const tn_plan *plan, const tn_step *product, const tn_step *fused,
                           merged_call *call) {
  const tn_fused *program = fused->call.attrs->program;
  if (program->operand_count != 2 || program->step_count != 2) return false;
  const tn_fused_step *add = &program->step[0], *relu = &program->step[1];
  if (add->op != TN_OP_ADD || relu->op != TN_OP_RELU || relu->in[0] != 2) return false;
  if (add->in[0] > 1 || add->in[1] > 1 || add->dtype != TN_F32 || relu->dtype != TN_F32) return false;
  return adds_bias(plan, product, fused, add->in[0], add->in[1], call) ||
         adds_bias(plan, product, fused, add->in[1], add->in[0], call);
}

static bool is_zero(const tn_fused *program, int place) {
  int step = place - program->operand_count;
  if (step < 0 || program->step[step].op != TN_OP_FILL) return false;
  return program->step[step].number == 0 && !signbit(program->step[step].number);
}

/* select(tested > 0, passed, 0); constants are the only other steps. */
static bool is_relu_slope(const tn_fused *program, int *tested, int *passed) {
  int last = program->step_count - 1;
  const tn_fused_step *select = &program->step[last];
  *tested = -1;
  if (program->operand_count != 2 || select->op != TN_OP_SELECT || select->dtype != TN_F32) return false;
  for (int s = 0; s < last; s++) {
    const tn_fused_step *step = &program->step[s];
    if (step->op == TN_OP_FILL) continue;
    if (step->op != TN_OP_GT || select->in[0] != 2 + s || !is_zero(program, step->in[1])) return false;
    *tested = step->in[0];
  }
  *passed = select->in[1];
  return is_zero(program, select->in[2]) && (*tested == 0 || *tested == 1) && *passed == 1 - *tested;
}

int tn_plan_passed_by_relu_slope(const tn_node *node) {
  int tested, passed;
  return node->op == TN_OP_FUSED && is_relu_slope(node->attrs->program, &tested, &passed) ? passed : -1;
}

/* Whether matrices of both follow each other alike. */
static bool same_batches(const tn_view *x, const tn_view *y) {
  bool same = x->rank == y->rank && x->rank >= 2;
  for (int axis = 0; same && axis < x->rank; axis++)
    same = x->dim[axis] == y->dim[axis] && (axis >= x->rank - 2 || x->stride[axis] == y->stride[axis]);
  return same;
}

static bool fits_relu_slope(const tn_plan *plan, const tn_step *product, const tn_step *slope,
                            merged_call *call) {
  const tn_view *out = tn_step_view(plan, product, 2), *result = tn_step_view(plan, slope, 2);
  int tested, passed;
  if (out->dtype != TN_F32 || tn_view_count(out) == 0 || tn_view_count(tn_step_view(plan, product, 0)) == 0)
    return false;
  if (!is_relu_slope(slope->call.attrs->program, &tested, &passed)) return false;
  const tn_view *y = tn_step_view(plan, slope, tested);
  tn_shape made = tn_view_shape(out), given = tn_view_shape(result);
  *call = (merged_call){ .op = TN_OP_MATMUL,
                         .attrs = product->call.attrs,
                         .in = { { false, 0 }, { false, 1 }, { true, tested } },
                         .count = 3 };
  return y->dtype == TN_F32 && tn_shape_equal(&made, &given) && same_batches(y, result) &&
         tn_step_same_place(plan, slope, passed, product, 2);
}

/* The step that register `place` is written by, if it is of this operation; else NULL. */
static const tn_fused_step *made_by(const tn_fused *program, int place, tn_op op) {
  int step = place - program->operand_count;
  return step >= 0 && program->step[step].op == op ? &program->step[step] : NULL;
}

static bool is_whole_operand(const tn_fused *program, int place) {
  return place < program->operand_count && program->operand_dtype[place] == TN_I32;
}

/* Registers of (softmax - (label == class)) * factor, all f32 but label and class. */
typedef struct {
  int softmax, label, class, factor;
} xent_slope;

static bool is_xent_slope(const tn_fused *program, xent_slope *found) {
  int last = program->step_count - 1;
  const tn_fused_step *product = made_by(program, program->operand_count + last, TN_OP_MUL);
  if (!product || product->dtype != TN_F32) return false;
  bool first = made_by(program, product->in[0], TN_OP_SUB) != NULL;
  const tn_fused_step *difference = made_by(program, product->in[first ? 0 : 1], TN_OP_SUB);
  const tn_fused_step *hit = difference ? made_by(program, difference->in[1], TN_OP_CAST) : NULL;
  const tn_fused_step *equal = hit ? made_by(program, hit->in[0], TN_OP_EQ) : NULL;
  if (!equal) return false;
  *found = (xent_slope){ difference->in[0], equal->in[0], equal->in[1], product->in[first ? 1 : 0] };
  return found->softmax < program->operand_count && is_whole_operand(program, found->label) &&
         is_whole_operand(program, found->class);
}

/* One element of f32, or the only constant of the program. */
static bool is_factor(const tn_plan *plan, const tn_step *step, int factor) {
  const tn_fused *program = step->call.attrs->program;
  int constants = 0;
  for (int s = 0; s < program->step_count; s++) constants += program->step[s].op == TN_OP_FILL;
  if (factor >= program->operand_count) return constants == 1 && made_by(program, factor, TN_OP_FILL);
  return constants == 0 && program->operand_dtype[factor] == TN_F32 &&
         tn_view_count(tn_step_view(plan, step, factor)) == 1;
}

static bool fits_xent_slope(const tn_plan *plan, const tn_step *softmax, const tn_step *slope,
                            merged_call *call) {
  const tn_fused *program = slope->call.attrs->program;
  const tn_view *x = tn_step_view(plan, softmax, 0), *out = tn_step_view(plan, softmax, 1);
  const tn_view *result = tn_step_view(plan, slope, slope->call.count);
  tn_shape of_rows = tn_view_shape(out), given = tn_view_shape(result);
  int last = x->rank - 1;
  xent_slope at;
  if (x->dtype != TN_F32 || softmax->call.attrs->axis != last || tn_view_count(x) == 0) return false;
  if (x->stride[last] != 1 || x->dim[last] > TN_BACKEND_XENT_LIMIT) return false;
  if (!is_xent_slope(program, &at) || !is_factor(plan, slope, at.factor)) return false;
  *call = (merged_call){ .op = TN_OP_SOFTMAX,
                         .attrs = slope->call.attrs,
                         .in = { { false, 0 }, { true, at.label }, { true, at.class }, { true, at.factor } },
                         .count = at.factor < program->operand_count ? 4 : 3 };
  return tn_shape_equal(&of_rows, &given) && tn_view_is_contiguous(result) &&
         tn_step_same_place(plan, slope, at.softmax, softmax, 1);
}

/* gather: [rows, columns] and [..., n] to [..., n, columns]; the sum is along n. */
static bool fits_pool(const tn_plan *plan, const tn_step *gather, const tn_step *sum, merged_call *call) {
  const tn_view *table = tn_step_view(plan, gather, 0), *index = tn_step_view(plan, gather, 1);
  const tn_attrs *attrs = sum->call.attrs;
  if (gather->call.attrs->axis != 0 || table->rank != 2 || table->dtype != TN_F32 || table->stride[1] != 1)
    return false;
  if (index->rank == 0 || !tn_view_is_contiguous(index)) return false;
  if (tn_view_count(tn_step_view(plan, gather, 2)) == 0) return false;
  if (index->dim[index->rank - 1] > TN_BACKEND_POOL_LIMIT) return false;
  if (attrs->axis_count != 1 || attrs->axes[0] != index->rank - 1) return false;
  *call =
      (merged_call){ .op = sum->call.op, .attrs = attrs, .in = { { false, 0 }, { false, 1 } }, .count = 2 };
  return tn_step_same_place(plan, sum, 0, gather, 2) && tn_view_is_contiguous(tn_step_view(plan, sum, 1));
}

static tn_type type_of(const tn_view *view) { return (tn_type){ view->dtype, tn_view_shape(view) }; }

/* patches: [n, h, w, c] to [n, oh, ow, length]; the product reads them as rows of a matrix, or that
 * transposed. */
static bool fits_windows(const tn_plan *plan, const tn_step *patches, const tn_step *product,
                         merged_call *call) {
  const tn_view *image = tn_step_view(plan, patches, 0), *windows = tn_step_view(plan, patches, 1);
  const tn_view *x = tn_step_view(plan, product, 0), *y = tn_step_view(plan, product, 1);
  const tn_view *out = tn_step_view(plan, product, 2);
  const tn_view_site *made = tn_step_site(plan, patches, 1), *read = tn_step_site(plan, product, 0);
  if (x->rank != 2 || y->rank != 2 || read->storage != made->storage || read->offset != made->offset ||
      tn_step_site(plan, product, 1)->storage == made->storage)
    return false;
  tn_type from = type_of(image), to = type_of(windows);
  int64_t length = windows->dim[3], count = tn_view_count(windows) / (length > 0 ? length : 1);
  bool rows = x->stride[1] == 1 && x->stride[0] == length && x->dim[0] == count && x->dim[1] == length;
  bool turned = x->stride[0] == 1 && x->stride[1] == length && x->dim[1] == count && x->dim[0] == length;
  *call = (merged_call){ .op = rows ? TN_OP_PATCHES : TN_OP_MATMUL,
                         .attrs = patches->call.attrs,
                         .in = { { false, 0 }, { true, 1 } },
                         .count = 2 };
  return (rows || (turned && tn_view_is_contiguous(y))) && tn_view_is_contiguous(image) &&
         tn_view_is_contiguous(out) && length > 1 &&
         tn_plan_suits_windows(plan, &from, &to, out->dim[1]);
}

/* The product makes rows that fold takes for windows: [n * oh * ow, length] as [n, oh, ow, length]. */
static bool fits_folded(const tn_plan *plan, const tn_step *product, const tn_step *fold, merged_call *call) {
  const tn_view *x = tn_step_view(plan, product, 0), *rows = tn_step_view(plan, product, 2);
  const tn_view *windows = tn_step_view(plan, fold, 0), *out = tn_step_view(plan, fold, 1);
  const tn_view_site *made = tn_step_site(plan, product, 2), *read = tn_step_site(plan, fold, 0);
  *call = (merged_call){ .op = TN_OP_FOLD,
                         .attrs = fold->call.attrs,
                         .in = { { false, 0 }, { false, 1 } },
                         .count = 2 };
  return rows->rank == 2 && out->dtype == TN_F32 && rows->dim[1] == windows->dim[3] &&
         read->storage == made->storage && read->offset == made->offset && tn_view_count(rows) > 0 &&
         tn_view_count(out) > 0 && x->dim[1] >= STEPS_LEAST && out->dim[3] >= CHANNELS_LEAST &&
         tn_view_is_contiguous(windows) && tn_view_is_contiguous(x) && tn_view_is_contiguous(out);
}

/* ---- the table ---- */

static const struct {
  tn_op first, second;
  bool (*fits)(const tn_plan *plan, const tn_step *first, const tn_step *second, merged_call *call);
} fusions[TN_FUSION_COUNT] = {
#define TN_FUSION(id, first, second, pattern, ...) { TN_OP_##first, TN_OP_##second, fits_##pattern },
#include "backend/fusions.def"
};

/* The step at i does the work of both; the one after it becomes a jump to the next. The value
 * between them needs no memory, and the result of the second is written earlier. Only the first can
 * fail, so the step keeps its node. */
static bool merge(tn_plan *plan, uint32_t i, const merged_call *call, tn_kernel kernel) {
  const tn_step first = plan->steps.at[i], second = plan->steps.at[i + 1];
  uint32_t views = (uint32_t)plan->views.count;
  for (int k = 0; k < call->count; k++)
    if (!copy_view(plan, call->in[k].of_second ? &second : &first, call->in[k].operand)) return false;
  if (!copy_view(plan, &second, second.call.count)) return false;
  tn_storage *result = &plan->storages.at[tn_step_site(plan, &second, second.call.count)->storage];
  plan->storages.at[tn_step_site(plan, &first, first.call.count)->storage].bytes = 0;
  result->first = (int32_t)i;
  if (result->base != 0 && (int32_t)i < plan->first_write) plan->first_write = (int32_t)i;
  tn_step *step = &plan->steps.at[i];
  step->kernel = kernel;
  step->first_view = views;
  step->call.op = call->op;
  step->call.attrs = call->attrs;
  step->call.count = call->count;
  step[1] = (tn_step){ .kind = TN_STEP_JUMP, .node = second.node, .target = i + 2 };
  return true;
}

/* The fusion that the steps at i and i + 1 are, or TN_FUSION_COUNT. */
static int find_fusion(const tn_plan *plan, uint32_t i, merged_call *call) {
  const tn_step *first = &plan->steps.at[i], *second = first + 1;
  if (first->kind != TN_STEP_KERNEL || second->kind != TN_STEP_KERNEL) return TN_FUSION_COUNT;
  int f = 0;
  for (; f < TN_FUSION_COUNT; f++)
    if (plan->backend->fusions[f] && first->call.op == fusions[f].first &&
        second->call.op == fusions[f].second && is_for_the_next(plan, i) &&
        fusions[f].fits(plan, first, second, call))
      break;
  return f;
}

bool tn_plan_merge_steps(tn_plan *plan, tn_fault *fault) {
  merged_call call;
  bool ok = true;
  for (uint32_t i = 0; ok && plan->backend->fusions && i + 1 < plan->steps.count; i++) {
    int f = find_fusion(plan, i, &call);
    if (f < TN_FUSION_COUNT) ok = merge(plan, i, &call, plan->backend->fusions[f]);
  }
  if (!ok) fault->kind = TN_FAULT_MEMORY;
  return ok;
}
