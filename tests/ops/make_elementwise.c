/* tests/ops/make_elementwise.c: cases of elementwise operations, alone and fused, and of sources. */
#include "case.h"

#define BUDGET 6000   /* elements of an ordinary case */

static tn_dtype_set dtypes_of(tn_op op) { return tn_op_sig_of(op)->dtypes; }

void make_unary(op_case *c) {
  tn_shape shape = any_shape(c, 0, 4, BUDGET);
  add_operand(c, dtype_of(c, dtypes_of(c->op)), &shape, ANY_VALUES, 0);
}

/* One of the operands has the whole shape, so that the result has it. */
void make_binary(op_case *c) {
  tn_shape shape = any_shape(c, 0, 4, BUDGET), other = one_in(c, 2) ? shape : narrower(c, &shape);
  tn_dtype dtype = dtype_of(c, dtypes_of(c->op));
  bool divides = (c->op == TN_OP_DIV || c->op == TN_OP_REM) && tn_dtype_in(dtype, TN_INTS);
  bool swapped = one_in(c, 2);
  c->may_fail = divides && one_in(c, 8);
  add_operand(c, dtype, swapped ? &other : &shape, ANY_VALUES, 0);
  add_operand(c, dtype, swapped ? &shape : &other, divides && !c->may_fail ? NONZERO_VALUES : ANY_VALUES, 0);
}

void make_select(op_case *c) {
  tn_shape shape = any_shape(c, 0, 4, BUDGET);
  tn_dtype dtype = dtype_of(c, TN_ANY_DTYPE);
  int whole = below(c, 3);
  for (int k = 0; k < 3; k++) {
    tn_shape own = k == whole || one_in(c, 2) ? shape : narrower(c, &shape);
    add_operand(c, k == 0 ? TN_BOOL : dtype, &own, ANY_VALUES, 0);
  }
}

/* The number goes through all pairs of dtypes. */
void make_cast(op_case *c) {
  tn_shape shape = any_shape(c, 0, 4, BUDGET);
  c->attrs.dtype = (tn_dtype)(c->number / TN_DTYPE_COUNT % TN_DTYPE_COUNT);
  add_operand(c, (tn_dtype)(c->number % TN_DTYPE_COUNT), &shape, ANY_VALUES, 0);
}

/* ---- fused programs ---- */
typedef struct {
  op_case *c;
  tn_fused *program;
  tn_dtype dtype[TN_FUSED_OPERAND_LIMIT + TN_FUSED_STEP_LIMIT];
  int registers;
} writer;

/* A register of the dtype, rather a late one; -1 when there is none. */
static int find_register(writer *w, tn_dtype_set set) {
  for (int tries = 0; tries < 4; tries++) {
    int from_end = below(w->c, tries == 0 && w->registers > 2 ? 2 : w->registers);
    int r = w->registers - 1 - from_end;
    if (tn_dtype_in(w->dtype[r], set)) return r;
  }
  for (int r = w->registers - 1; r >= 0; r--)
    if (tn_dtype_in(w->dtype[r], set)) return r;
  return -1;
}

static int push(writer *w, tn_fused_step step) {
  w->program->step[w->program->step_count++] = step;
  w->dtype[w->registers] = step.dtype;
  return w->registers++;
}

static tn_op any_op(op_case *c, int arity) {
  for (;;) {
    tn_op op = (tn_op)(1 + below(c, TN_OP_COUNT - 1));
    const tn_op_sig *sig = tn_op_sig_of(op);
    if (sig->kind == TN_KIND_ELEMENTWISE && sig->arity == arity && sig->attrs == 0) return op;
  }
}

static bool is_comparison(tn_op op) { return op >= TN_OP_EQ && op <= TN_OP_OR; }

static void push_binary(writer *w) {
  tn_op op = any_op(w->c, 2);
  int x = find_register(w, dtypes_of(op));
  if (x < 0) return;
  int y = find_register(w, TN_DTYPE_BIT(w->dtype[x]));
  bool divides = (op == TN_OP_DIV || op == TN_OP_REM) && tn_dtype_in(w->dtype[x], TN_INTS);
  if (divides && !one_in(w->c, 4)) {
    if (w->program->step_count + 2 > TN_FUSED_STEP_LIMIT) return;
    y = push(w, (tn_fused_step){ .op = TN_OP_FILL, .dtype = w->dtype[x], .number = 1 + below(w->c, 9) });
  }
  w->c->may_fail = w->c->may_fail || divides;
  push(w, (tn_fused_step){ .op = op, .dtype = is_comparison(op) ? TN_BOOL : w->dtype[x],
                           .in = { (uint8_t)x, (uint8_t)y } });
}

static void push_unary(writer *w) {
  tn_op op = any_op(w->c, 1);
  int x = find_register(w, dtypes_of(op));
  if (x >= 0) push(w, (tn_fused_step){ .op = op, .dtype = w->dtype[x], .in = { (uint8_t)x } });
}

static void push_select(writer *w) {
  int condition = find_register(w, TN_BOOLS), x = find_register(w, TN_NUMBERS | TN_BOOLS);
  if (condition < 0) return;
  int y = find_register(w, TN_DTYPE_BIT(w->dtype[x]));
  push(w, (tn_fused_step){ .op = TN_OP_SELECT, .dtype = w->dtype[x],
                           .in = { (uint8_t)condition, (uint8_t)x, (uint8_t)y } });
}

static void push_any(writer *w) {
  int kind = below(w->c, 16);
  tn_dtype dtype = (tn_dtype)below(w->c, TN_BOOL + 1);
  if (kind < 8) push_binary(w);
  else if (kind < 12) push_unary(w);
  else if (kind < 13) push_select(w);
  else if (kind < 14) {
    push(w, (tn_fused_step){ .op = TN_OP_FILL, .dtype = dtype, .number = below(w->c, 7) - 2.5 });
  } else {
    int x = find_register(w, TN_NUMBERS | TN_BOOLS);
    push(w, (tn_fused_step){ .op = TN_OP_CAST, .dtype = dtype, .in = { (uint8_t)x } });
  }
}

/* f32 alone, and operations that a back end may run in one pass over many elements. */
static void push_link(writer *w) {
  static const tn_op ops[] = { TN_OP_ADD, TN_OP_SUB, TN_OP_MUL, TN_OP_DIV, TN_OP_MINIMUM, TN_OP_MAXIMUM,
                               TN_OP_NEG, TN_OP_ABS, TN_OP_SIGN, TN_OP_SQRT, TN_OP_RELU, TN_OP_EXP, TN_OP_LOG,
                               TN_OP_TANH, TN_OP_SIGMOID, TN_OP_ERF };
  tn_op op = ops[one_in(w->c, 2) ? below(w->c, 6) : below(w->c, (int)(sizeof ops / sizeof ops[0]))];
  int x = find_register(w, TN_FLOATS), y = one_in(w->c, 6) ? x : find_register(w, TN_FLOATS);
  if (one_in(w->c, 10))
    push(w, (tn_fused_step){ .op = TN_OP_FILL, .dtype = TN_F32, .number = below(w->c, 7) - 2.5 });
  else
    push(w, (tn_fused_step){ .op = op, .dtype = TN_F32, .in = { (uint8_t)x, (uint8_t)y } });
}

static void make_chain(op_case *c) {
  tn_shape shape = any_shape(c, 1, 3, BUDGET / 2);
  if (!is_big(c) && one_in(c, 2)) shape.dim[shape.rank - 1] = 512 + below(c, 700);
  int operands = 1 + below(c, 6), steps = 2 + below(c, one_in(c, 6) ? TN_FUSED_STEP_LIMIT - 1 : 8);
  writer w = { .c = c, .program = case_memory(c, tn_fused_bytes(TN_FUSED_STEP_LIMIT)) };
  for (int k = 0; k < operands; k++) {
    tn_shape own = one_in(c, 2) ? shape : narrower(c, &shape);
    w.dtype[w.registers++] = w.program->operand_dtype[k] = TN_F32;
    add_operand(c, TN_F32, &own, one_in(c, 2) ? SMALL_VALUES : ANY_VALUES, 0);
  }
  w.program->operand_count = operands;
  while (w.program->step_count < steps) push_link(&w);
  c->attrs.program = w.program;
  c->attrs.shape = shape;
  c->attrs.dtype = TN_F32;
}

void make_fused(op_case *c) {
  if (c->number % 3 == 1) {
    make_chain(c);
    return;
  }
  tn_shape shape = any_shape(c, 0, 4, BUDGET / 2);
  bool long_one = !is_big(c) && one_in(c, 8);
  int operands = 1 + below(c, long_one ? TN_FUSED_OPERAND_LIMIT - 4 : 4);
  int steps = 1 + below(c, long_one ? TN_FUSED_STEP_LIMIT : 10);
  writer w = { .c = c, .program = case_memory(c, tn_fused_bytes(TN_FUSED_STEP_LIMIT)) };
  bool mixed = one_in(c, 3);
  for (int k = 0; k < operands; k++) {
    tn_dtype dtype = mixed ? (tn_dtype)below(c, TN_BOOL + 1) : one_in(c, 4) ? TN_F64 : TN_F32;
    tn_shape own = one_in(c, 2) ? shape : narrower(c, &shape);
    w.dtype[w.registers++] = w.program->operand_dtype[k] = dtype;
    add_operand(c, dtype, &own, ANY_VALUES, 0);
  }
  w.program->operand_count = operands;
  while (w.program->step_count < steps) push_any(&w);
  c->attrs.program = w.program;
  c->attrs.shape = shape;
  c->attrs.dtype = w.dtype[w.registers - 1];
}

/* ---- sources ---- */
void make_fill(op_case *c) {
  static const double numbers[] = { 0, -0.0, 1, -1, 0.1, 1e10, -1e20, 1e300, 65520, 0x1p-149, 0x1p-1074 };
  c->attrs.shape = any_shape(c, 0, 4, BUDGET);
  c->attrs.dtype = dtype_of(c, TN_ANY_DTYPE);
  c->attrs.number = numbers[below(c, (int)(sizeof numbers / sizeof numbers[0]))];
}

void make_iota(op_case *c) {
  c->attrs.shape = any_shape(c, 1, 4, BUDGET);
  c->attrs.dtype = dtype_of(c, TN_NUMBERS);
  c->attrs.axis = below(c, c->attrs.shape.rank);
}

/* Words far into the sequence, in the middle of a block, and across the end of 32 bits. */
void make_random(op_case *c) {
  static const uint64_t starts[] = { 0, 1, 15, 16, 17, 1000003, UINT32_MAX - 5, (uint64_t)UINT32_MAX * 16 - 7,
                                     (uint64_t)1 << 40 };
  tn_shape scalar = TN_SCALAR_SHAPE;
  c->attrs.shape = any_shape(c, 0, 3, BUDGET);
  c->attrs.index = starts[below(c, (int)(sizeof starts / sizeof starts[0]))];
  add_operand(c, TN_I64, &scalar, ANY_VALUES, 0);
}
