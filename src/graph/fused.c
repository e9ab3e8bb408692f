/* graph/fused.c: checks fused programs. */
#include "graph/fused.h"

size_t tn_fused_bytes(int step_count) {
  return sizeof(tn_fused) + (size_t)step_count * sizeof(tn_fused_step);
}

int tn_fused_step_arity(tn_op op) { return op == TN_OP_FILL ? 0 : tn_op_sig_of(op)->arity; }

/* A step is inferred like an operation on numbers: shapes do not matter inside a program. */
static const char *check_step(const tn_fused *program, int index, const tn_dtype *dtypes) {
  const tn_fused_step *step = &program->step[index];
  tn_type in[3] = { 0 }, type;
  tn_attrs attrs = { .dtype = step->dtype };
  if (step->op <= TN_OP_ERROR || step->op >= TN_OP_COUNT) return "a step of no operation";
  bool elementwise = tn_op_sig_of(step->op)->kind == TN_KIND_ELEMENTWISE && step->op != TN_OP_FUSED;
  if (!elementwise && step->op != TN_OP_FILL) return "a step that is not elementwise";
  int arity = tn_fused_step_arity(step->op);
  for (int i = 0; i < arity; i++) {
    if (step->in[i] >= program->operand_count + index) return "a step reads what is not written yet";
    in[i].dtype = dtypes[step->in[i]];
  }
  tn_op_args args = { .op = step->op, .in = in, .count = arity, .attrs = &attrs };
  if (!tn_op_infer(&args, &type) || type.dtype != step->dtype) return "a step of a wrong dtype";
  return NULL;
}

static const char *check_operands(const tn_fused *program, const tn_type *in, int count, const tn_type *out) {
  if (count != program->operand_count) return "a program for another number of operands";
  for (int i = 0; i < count; i++) {
    tn_shape both;
    int axis;
    if (in[i].dtype != program->operand_dtype[i]) return "a program for operands of other dtypes";
    if (!tn_shape_broadcast(&in[i].shape, &out->shape, &both, &axis) || !tn_shape_equal(&both, &out->shape)) {
      return "an operand of a fused program does not broadcast to its result";
    }
  }
  return NULL;
}

const char *tn_fused_verify(const tn_fused *program, const tn_type *in, int count, const tn_type *out) {
  tn_dtype dtypes[TN_FUSED_OPERAND_LIMIT + TN_FUSED_STEP_LIMIT];
  if (!program) return "a fused operation without a program";
  if (program->operand_count < 0 || program->operand_count > TN_FUSED_OPERAND_LIMIT ||
      program->step_count < 1 || program->step_count > TN_FUSED_STEP_LIMIT) {
    return "a fused program out of its limits";
  }
  const char *wrong = check_operands(program, in, count, out);
  for (int i = 0; i < count && !wrong; i++) dtypes[i] = in[i].dtype;
  for (int i = 0; i < program->step_count && !wrong; i++) {
    wrong = check_step(program, i, dtypes);
    dtypes[count + i] = program->step[i].dtype;
  }
  if (wrong) return wrong;
  return program->step[program->step_count - 1].dtype == out->dtype ? NULL
                                                                    : "a program that gives another dtype";
}
