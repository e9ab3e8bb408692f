/* backend/cuda/kernels/elementwise.c: out[i] from in[...][i], any dtypes, any strides.
 *
 * A thread carries all steps of a program out for one element, then for the next of its own. A single
 * operation is a program of one step. chain.c is faster at those of f32 and bool. */
#include "backend/cuda/kernels/step.h"
#include "backend/cuda/kernels/view.h"

typedef struct {
  tn_element value[TN_FUSED_OPERAND_LIMIT + TN_FUSED_STEP_LIMIT];
  uint8_t dtype[TN_FUSED_OPERAND_LIMIT + TN_FUSED_STEP_LIMIT];
} registers;

static inline void load_operands(const card_elementwise_arguments *a, int64_t n, registers *r) {
  CARD_ROLLED
  for (int k = 0; k < a->operand_count; k++) {
    r->dtype[k] = (uint8_t)a->in[k].dtype;
    r->value[k] = tn_element_load(card_at(&a->shape, &a->in[k], n), (tn_dtype)a->in[k].dtype);
  }
}

static inline bool divides_by_zero(const card_step *step, const registers *r) {
  tn_op op = (tn_op)step->op;
  if (op != TN_OP_DIV && op != TN_OP_REM) return false;
  tn_element y = r->value[step->in[1]];
  return (step->dtype == TN_I32 && y.i32 == 0) || (step->dtype == TN_I64 && y.i64 == 0);
}

static inline tn_element carry_out(const card_step *step, const registers *r) {
  tn_dtype from = (tn_dtype)r->dtype[step->in[0]], to = (tn_dtype)step->dtype;
  tn_element x = r->value[step->in[0]], y = r->value[step->in[1]];
  if (step->op == TN_OP_FILL) return tn_element_of_f64(step->number, to);
  if (step->op == TN_OP_SELECT) return x.boolean ? y : r->value[step->in[2]];
  if (step->op == TN_OP_CAST) return tn_scalar_cast(x, from, to);
  return card_table_step((tn_op)step->op, step->unary, from, x, y); /* the others are in elementwise.def */
}

/* The step that has no result, or -1. */
static inline int run_steps(const card_elementwise_arguments *a, registers *r, bool look) {
  CARD_ROLLED
  for (int s = 0; s < a->step_count; s++) {
    const card_step *step = &a->step[s];
    if (look && divides_by_zero(step, r)) return s;
    r->value[a->operand_count + s] = carry_out(step, r);
    r->dtype[a->operand_count + s] = step->dtype;
  }
  return -1;
}

CARD_KERNEL(elementwise, card_elementwise_arguments) {
  registers r;
  CARD_ROLLED
  for (int64_t n = card_number(); n < a->shape.count; n += card_numbers()) {
    load_operands(a, n, &r);
    run_steps(a, &r, false);
    tn_element_store(card_at(&a->shape, &a->out, n), (tn_dtype)a->out.dtype,
                     r.value[a->operand_count + a->step_count - 1]);
  }
}

/* Looks for an integer division by zero, so that nothing is written where there is one. One block: the
 * first element decides. */
CARD_SHARED int64_t first_fault[CARD_BLOCK];

CARD_KERNEL(check_divisors, card_elementwise_arguments) {
  registers r;
  int64_t found = INT64_MAX;
  CARD_ROLLED
  for (int64_t n = card_thread(); n < a->shape.count && found == INT64_MAX; n += card_threads()) {
    load_operands(a, n, &r);
    int step = run_steps(a, &r, true);
    if (step >= 0) found = n * TN_FUSED_STEP_LIMIT + step;
  }
  first_fault[card_thread()] = found;
  card_barrier();
  if (card_thread() > 0) return;
  for (int t = 0; t < card_threads(); t++) found = card_least(found, first_fault[t]);
  if (found == INT64_MAX) return;
  a->start.fault->op = a->step[found % TN_FUSED_STEP_LIMIT].op;
  a->start.fault->step = a->start.step;
  a->start.fault->kind = TN_FAULT_DIVIDE;
}
