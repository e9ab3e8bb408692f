/* backend/cuda/elementwise.c: elementwise operations and programs, and tensors from nothing. */
#include <string.h>

#include "backend/cuda/internal.h"
#include "op/scalar.h"

static bool is_unary(tn_op op) { return tn_fused_step_arity(op) == 1; }

static card_step step_of(tn_op op, tn_dtype dtype, double number, const uint8_t *in) {
  card_step step = { .op = (uint16_t)op, .dtype = (uint8_t)dtype, .number = number,
                     .unary = op != TN_OP_FILL && is_unary(op) };
  if (op != TN_OP_FILL) memcpy(step.in, in, (size_t)tn_fused_step_arity(op));
  return step;
}

/* The operands broadcast to the result. */
static void see(const tn_kernel_call *call, card_elementwise_arguments *a) {
  tn_card_views seen;
  tn_view in[TN_FUSED_OPERAND_LIMIT];
  const tn_view *views[TN_CARD_VIEW_LIMIT] = { call->out };
  tn_shape shape = tn_view_shape(call->out);
  for (int k = 0; k < call->count; k++) {
    in[k] = tn_view_broadcast(&call->in[k], &shape);
    views[k + 1] = &in[k];
  }
  tn_card_see(views, call->count + 1, &seen);
  a->shape = seen.shape;
  a->out = seen.operand[0];
  memcpy(a->in, seen.operand + 1, (size_t)call->count * sizeof *a->in);
  a->operand_count = call->count;
}

static bool run(const tn_kernel_call *call, card_elementwise_arguments *a) {
  bool looks = false;
  for (int s = 0; s < a->step_count; s++)
    looks = looks || tn_scalar_divides((tn_op)a->step[s].op, (tn_dtype)a->step[s].dtype);
  if (looks && !tn_card_launch_blocks(call, TN_CARD_check_divisors, a->shape.count > 0, CARD_BLOCK, &a->start,
                                      sizeof *a))
    return false;
  return tn_card_launch(call, TN_CARD_elementwise, a->shape.count, &a->start, sizeof *a);
}

bool tn_cuda_elementwise(const tn_kernel_call *call) {
  card_elementwise_arguments a = { .step_count = 1 };
  see(call, &a);
  a.step[0] = step_of(call->op, call->out->dtype, 0, (const uint8_t[]){ 0, 1, 2 });
  return run(call, &a);
}

bool tn_cuda_fused(const tn_kernel_call *call) {
  const tn_fused *program = call->attrs->program;
  card_elementwise_arguments a = { .step_count = program->step_count };
  see(call, &a);
  for (int s = 0; s < program->step_count; s++) {
    const tn_fused_step *from = &program->step[s];
    a.step[s] = step_of(from->op, from->dtype, from->number, from->in);
  }
  return run(call, &a);
}

bool tn_card_fill(const tn_kernel_call *call, const tn_view *out, double number) {
  card_elementwise_arguments a = { .step_count = 1 };
  tn_card_views seen;
  tn_card_see(&out, 1, &seen);
  a.shape = seen.shape;
  a.out = seen.operand[0];
  a.step[0] = step_of(TN_OP_FILL, out->dtype, number, NULL);
  return tn_card_launch(call, TN_CARD_elementwise, a.shape.count, &a.start, sizeof a);
}

bool tn_cuda_fill(const tn_kernel_call *call) { return tn_card_fill(call, call->out, call->attrs->number); }

/* How many elements the axes hold together. Below 2^53, so a double has it exactly. */
bool tn_cuda_count(const tn_kernel_call *call) {
  int64_t count = 1;
  for (int k = 0; k < call->attrs->axis_count; k++) count *= call->in[0].dim[call->attrs->axes[k]];
  return tn_card_fill(call, call->out, (double)count);
}

/* The axis must not be merged away, so the view is taken as it is. */
bool tn_cuda_iota(const tn_kernel_call *call) {
  const tn_view *out = call->out;
  int64_t count = tn_view_count(out);
  card_iota_arguments a = { .axis = call->attrs->axis,
                            .shape = { .count = count, .rank = out->rank, .narrow = count <= INT32_MAX },
                            .out = { .data = out->data, .dtype = (int32_t)out->dtype } };
  for (int axis = 0; axis < out->rank; axis++) {
    a.shape.dim[axis] = out->dim[axis];
    a.out.stride[axis] = out->stride[axis] * (int64_t)tn_dtype_bytes(out->dtype);
  }
  return tn_card_launch(call, TN_CARD_iota, count, &a.start, sizeof a);
}

static bool draw(const tn_kernel_call *call, bool normal) {
  const tn_view *out = call->out;
  tn_card_views seen;
  tn_card_see(&out, 1, &seen);
  card_random_arguments a = { .shape = seen.shape, .out = seen.operand[0], .key = call->in[0].data,
                              .shift = call->queue->shift, .index = call->attrs->index, .normal = normal };
  return tn_card_launch(call, TN_CARD_random, a.shape.count, &a.start, sizeof a);
}

bool tn_cuda_uniform(const tn_kernel_call *call) { return draw(call, false); }
bool tn_cuda_normal(const tn_kernel_call *call) { return draw(call, true); }
