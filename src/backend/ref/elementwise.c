/* backend/ref/elementwise.c: elementwise operations, alone or fused.
 *
 * A fused program is a list of steps over registers, run from the first to the last for one
 * element, then for the next. A single operation is executed by the same function as a step of a
 * program, so that fusing cannot change a bit.
 *
 * Only integer division can fail. Nothing may be written then: if a program has one, everything is
 * first computed once without storing it. */
#include <assert.h>

#include "backend/ref/internal.h"

/* What one step reads: an operation, the dtypes and values of its operands. */
typedef struct {
  tn_op op;
  tn_dtype dtype;          /* of the result */
  tn_dtype in_dtype[3];
  tn_element in[3];
  double number;           /* of a fill */
} step;

static bool carry_out(const step *s, tn_element *result) {
  tn_unary unary = tn_scalar_unary(s->op, s->in_dtype[0]);
  tn_binary binary = tn_scalar_binary(s->op, s->in_dtype[0]);
  if (unary) {
    *result = unary(s->in[0]);
  } else if (binary) {
    if (tn_scalar_divides(s->op, s->dtype) && tn_element_to_i64(s->in[1], s->dtype) == 0) return false;
    *result = binary(s->in[0], s->in[1]);
  } else if (s->op == TN_OP_FILL) {
    *result = tn_element_of_f64(s->number, s->dtype);
  } else if (s->op == TN_OP_SELECT) {
    *result = s->in[0].boolean ? s->in[1] : s->in[2];
  } else {
    assert(s->op == TN_OP_CAST); /* the only other one that is not in elementwise.def */
    *result = tn_scalar_cast(s->in[0], s->in_dtype[0], s->dtype);
  }
  return true;
}

/* ---- one operation ---- */
static bool one_operation(const tn_kernel_call *call, bool store) {
  tn_shape shape = tn_view_shape(call->out);
  tn_view in[3];
  step s = { .op = call->op, .dtype = call->out->dtype };
  for (int k = 0; k < call->count; k++) {
    in[k] = tn_view_broadcast(&call->in[k], &shape);
    s.in_dtype[k] = in[k].dtype;
  }
  for (tn_index i = tn_index_over(call, call->out); i.inside; tn_index_next(&i)) {
    tn_element result;
    for (int k = 0; k < call->count; k++) s.in[k] = tn_ref_load(&in[k], i.at);
    if (!carry_out(&s, &result)) return tn_ref_fail(call, (tn_fault){ .kind = TN_FAULT_DIVIDE, .op = s.op });
    if (store) tn_ref_store(call->out, i.at, result);
  }
  return true;
}

bool tn_ref_elementwise(const tn_kernel_call *call) {
  if (tn_scalar_divides(call->op, call->out->dtype) && !one_operation(call, false)) return false;
  return one_operation(call, true);
}

/* ---- a program ---- */
typedef struct {
  tn_dtype dtype[TN_FUSED_OPERAND_LIMIT + TN_FUSED_STEP_LIMIT];
  tn_element value[TN_FUSED_OPERAND_LIMIT + TN_FUSED_STEP_LIMIT];
} registers;

/* All steps for one element; gives the step that failed, or TN_OP_ERROR. */
static tn_op run_steps(const tn_fused *program, registers *r) {
  for (int n = 0; n < program->step_count; n++) {
    const tn_fused_step *from = &program->step[n];
    step s = { .op = from->op, .dtype = from->dtype, .number = from->number };
    for (int k = 0; k < 3 && from->op != TN_OP_FILL; k++) {
      s.in_dtype[k] = r->dtype[from->in[k]];
      s.in[k] = r->value[from->in[k]];
    }
    r->dtype[program->operand_count + n] = from->dtype;
    if (!carry_out(&s, &r->value[program->operand_count + n])) return from->op;
  }
  return TN_OP_ERROR;
}

static bool run_program(const tn_kernel_call *call, bool store) {
  const tn_fused *program = call->attrs->program;
  tn_shape shape = tn_view_shape(call->out);
  tn_view in[TN_FUSED_OPERAND_LIMIT];
  registers r = { 0 };
  for (int k = 0; k < call->count; k++) {
    in[k] = tn_view_broadcast(&call->in[k], &shape);
    r.dtype[k] = in[k].dtype;
  }
  for (tn_index i = tn_index_over(call, call->out); i.inside; tn_index_next(&i)) {
    for (int k = 0; k < call->count; k++) r.value[k] = tn_ref_load(&in[k], i.at);
    tn_op failed = run_steps(program, &r);
    if (failed) return tn_ref_fail(call, (tn_fault){ .kind = TN_FAULT_DIVIDE, .op = failed });
    if (store) tn_ref_store(call->out, i.at, r.value[program->operand_count + program->step_count - 1]);
  }
  return true;
}

bool tn_ref_fused(const tn_kernel_call *call) {
  const tn_fused *program = call->attrs->program;
  bool may_fail = false;
  for (int n = 0; n < program->step_count; n++)
    may_fail = may_fail || tn_scalar_divides(program->step[n].op, program->step[n].dtype);
  if (may_fail && !run_program(call, false)) return false;
  return run_program(call, true);
}
