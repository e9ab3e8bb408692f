/* backend/cuda/flat.c: single operations on f32 without gaps (kernels/flat.c). */
#include "backend/cuda/internal.h"
#include "op/scalar.h"

typedef struct {
  tn_card_kernel kernel;
  bool exists;
  tn_dtype result;
} row;

#define RESULT_UNARY   TN_F32
#define RESULT_BINARY  TN_F32
#define RESULT_COMPARE TN_BOOL
#define FLAT(ID, KIND)    [TN_OP_##ID] = { TN_CARD_flat_##ID, true, RESULT_##KIND },
#define FLAT_FLOATS(...)  FLAT(__VA_ARGS__)
#define FLAT_NUMBERS(...) FLAT(__VA_ARGS__)
#define FLAT_PLAIN(...)   FLAT(__VA_ARGS__)
#define FLAT_BOOLS(...)
#define TN_ELEMENT(ID, KIND, DTYPES, ...) FLAT_##DTYPES(ID, KIND)
static const row rows[TN_OP_COUNT] = {
#include "op/elementwise.def"
};

/* Elements side by side, from a place that four of them may be moved to or from at once. */
static bool is_run(const card_shape *shape, const card_operand *x) {
  return x->stride[0] == x->bytes && (uintptr_t)x->data % (size_t)(4 * x->bytes) == 0 && shape->rank == 1;
}

/* The k-th operand of the operation is register `from` of the program: an operand, or a step that fills. */
static bool take(const card_elementwise_arguments *program, int from, card_flat_arguments *to, int k) {
  int step = from - program->operand_count;
  if (step >= 0) {
    to->kind[k] = CARD_FLAT_NUMBER;
    to->number[k] = tn_element_of_f64(program->step[step].number, TN_F32).f32;
    return program->step[step].dtype == TN_F32;
  }
  const card_operand *x = &program->in[from];
  to->in[k] = x->data;
  to->kind[k] = is_run(&program->shape, x) ? CARD_FLAT_RUN : CARD_FLAT_SAME;
  return x->dtype == TN_F32 && (to->kind[k] == CARD_FLAT_RUN || tn_card_is_scalar(&program->shape, x));
}

static bool fills_before_last(const card_elementwise_arguments *program) {
  for (int s = 0; s + 1 < program->step_count; s++)
    if (program->step[s].op != TN_OP_FILL) return false;
  return program->step_count > 0;
}

bool tn_card_flat_of(const card_elementwise_arguments *program, tn_card_flat *to) {
  card_flat_arguments *a = &to->arguments;
  *a = (card_flat_arguments){ .count = program->shape.count, .out = program->out.data };
  if (!fills_before_last(program) || !is_run(&program->shape, &program->out)) return false;
  const card_step *last = &program->step[program->step_count - 1];
  const row *known = &rows[last->op];
  if (!known->exists || last->dtype != known->result || program->out.dtype != (int32_t)known->result)
    return false;
  int arity = tn_fused_step_arity((tn_op)last->op);
  for (int k = 0; k < arity; k++)
    if (!take(program, last->in[k], a, k)) return false;
  a->runs = a->kind[0] == CARD_FLAT_RUN && (arity == 1 || a->kind[1] == CARD_FLAT_RUN);
  to->kernel = known->kernel;
  to->blocks = tn_card_parts(a->count, 4 * CARD_FLAT_THREADS * card_flat_fours(last->op));
  return to->blocks <= TN_CARD_BLOCK_LIMIT && (arity == 2 || a->runs);   /* threads do not go round */
}

bool tn_card_run_flat(const tn_kernel_call *call, tn_card_flat *flat) {
  tn_card_queue *queue = call->queue;
  card_flat_arguments *a = &flat->arguments;
  a->start = (card_start){ queue->fault, queue->step };
  return flat->blocks == 0 ||
         queue->launch(queue, flat->kernel, flat->blocks, CARD_FLAT_THREADS, 0, a, sizeof *a);
}
