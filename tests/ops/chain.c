/* Elementwise programs that go step by step (kernels/chain.c), on a GPU that the host emulates: programs and
 * layouts by chance give the bits of ref, write nothing beside their result, and take the kernel for elements
 * side by side wherever these are. */
#include "unit/graph_support.h"

#include <math.h>
#include <stdlib.h>

#include "backend/cuda/internal.h"
#include "gpu/emulator.h"

enum { OPERANDS = 6, STEPS = 9, MOST = 6000, BYTE = 0x5a };

static tn_rng rng;

static int draw(int count) { return (int)(tn_rng_next(&rng) % (uint32_t)count); }

/* ---- programs ---- */
typedef struct {
  tn_op op;
  int kind;
} row;
enum { UNARY, BINARY, COMPARE };

#define ROW_FLOATS(ID, KIND)  { TN_OP_##ID, KIND },
#define ROW_NUMBERS(ID, KIND) { TN_OP_##ID, KIND },
#define ROW_PLAIN(ID, KIND)   { TN_OP_##ID, KIND },
#define ROW_BOOLS(ID, KIND)
#define TN_ELEMENT(ID, KIND, DTYPES, ...) ROW_##DTYPES(ID, KIND)
static const row of_numbers[] = {
#include "op/elementwise.def"
};
static const row of_truths[] = { { TN_OP_AND, COMPARE }, { TN_OP_OR, COMPARE }, { TN_OP_NOT, UNARY },
                                 { TN_OP_EQ, COMPARE }, { TN_OP_NE, COMPARE } };
#define COUNT(rows) ((int)(sizeof(rows) / sizeof *(rows)))

typedef struct {
  tn_fused *program;
  tn_dtype dtype[OPERANDS + STEPS];   /* of registers */
  int count;
} maker;

/* A register of the dtype, mostly a late one; -1: there is none. */
static int any_register(const maker *m, tn_dtype dtype) {
  int found = -1;
  for (int r = m->count - 1; r >= 0; r--)
    if (m->dtype[r] == dtype && (found < 0 || draw(3) == 0)) found = r;
  return found;
}

static void add_step(maker *m, tn_fused_step step) {
  m->program->step[m->program->step_count++] = step;
  m->dtype[m->count++] = step.dtype;
}

static void add_row(maker *m, const row *rows, int count, tn_dtype from) {
  const row *r = &rows[draw(count)];
  int x = any_register(m, from);
  int y = any_register(m, from);
  tn_dtype to = r->kind == COMPARE || from == TN_BOOL ? TN_BOOL : from;
  if (x >= 0) add_step(m, (tn_fused_step){ .op = r->op, .dtype = to, .in = { (uint8_t)x, (uint8_t)y } });
}

static void add_any(maker *m) {
  int truth = any_register(m, TN_BOOL);
  int x = any_register(m, TN_F32);
  int y = any_register(m, TN_F32);
  switch (draw(10)) {
    case 0:
      add_step(m, (tn_fused_step){ .op = TN_OP_FILL, .dtype = TN_F32, .number = draw(9) - 4 });
      break;
    case 1:
      add_step(m, (tn_fused_step){ .op = TN_OP_FILL, .dtype = TN_BOOL, .number = draw(2) });
      break;
    case 2: case 3: {
      tn_fused_step choice = { .op = TN_OP_SELECT, .dtype = TN_F32 };
      choice.in[0] = (uint8_t)truth, choice.in[1] = (uint8_t)x, choice.in[2] = (uint8_t)y;
      if (truth >= 0 && x >= 0) add_step(m, choice);
      break;
    }
    case 4: {
      int from = any_register(m, draw(2) ? TN_BOOL : TN_F32);
      tn_dtype to = draw(2) ? TN_BOOL : TN_F32;
      if (from >= 0) add_step(m, (tn_fused_step){ .op = TN_OP_CAST, .dtype = to, .in = { (uint8_t)from } });
      break;
    }
    case 5: add_row(m, of_truths, COUNT(of_truths), TN_BOOL); break;
    default: add_row(m, of_numbers, COUNT(of_numbers), TN_F32);
  }
}

/* Operands of f32 and bool, and steps of any row, the last of which reads the one before where it can. */
static maker any_program(void) {
  maker m = { .program = calloc(1, tn_fused_bytes(STEPS)) };
  assert_non_null(m.program);
  m.program->operand_count = 1 + draw(OPERANDS);
  for (int k = 0; k < m.program->operand_count; k++)
    m.program->operand_dtype[k] = m.dtype[m.count++] = draw(4) ? TN_F32 : TN_BOOL;
  int steps = 2 + draw(STEPS - 1);
  while (m.program->step_count < steps) add_any(&m);
  return m;
}

/* ---- operands ---- */

/* As the result; one row for all; one element for each row; one for all; from an odd place on; rows with room
 * between them; columns side by side. The first ones are for chain_runs. */
typedef enum { WHOLE, ROW, COLUMN, ONE, LOOSE, APART, TURNED, LAYOUTS } layout;

static void fill(char *to, tn_dtype dtype, int64_t count) {
  static const float special[] = { 0.0f, -0.0f, 1e-45f, -1e-38f, 3e38f, INFINITY, -INFINITY, NAN, 1e9f };
  for (int64_t i = 0; i < count; i++) {
    uint32_t word = tn_rng_next(&rng);
    float number = word % 16 < 9 ? special[word % 16] : (float)(int32_t)word * 0x1p-29f;
    if (dtype == TN_F32) memcpy(to + 4 * i, &number, 4);
    else to[i] = (char)(word % 2);
  }
}

static tn_view view_of(tn_dtype dtype, int64_t rows, int64_t width, layout how) {
  tn_view v = { .dtype = dtype, .rank = 2, .dim = { rows, width }, .stride = { width, 1 } };
  switch (how) {
    case ROW: v.dim[0] = 1; break;
    case COLUMN: v.dim[1] = 1, v.stride[0] = 1; break;
    case ONE: v.rank = 0; break;
    case APART: v.stride[0] = width + 8; break;
    case TURNED: v.stride[0] = 1, v.stride[1] = rows; break;
    default: break;
  }
  return v;
}

/* Memory of just the elements that there are, so that a sanitizer sees what is read beyond them. */
static char *make(tn_view *v, layout how) {
  int64_t count = 1 + (how == LOOSE);
  for (int axis = 0; axis < v->rank; axis++) count += (v->dim[axis] - 1) * v->stride[axis];
  char *made = malloc((size_t)count * tn_dtype_bytes(v->dtype));
  assert_non_null(made);
  fill(made, v->dtype, count);
  v->data = made + (how == LOOSE ? tn_dtype_bytes(v->dtype) : 0);
  return made;
}

/* ---- running ---- */
static void run(const tn_backend *backend, tn_kernel_call *call) {
  tn_fault fault = { 0 };
  call->fault = &fault;
  assert_true(tn_backend_run(backend, call));
}

static void say_where(const tn_kernel_call *call, const layout *of, int64_t rows, int64_t width) {
  const tn_fused *p = call->attrs->program;
  print_message("%d rows of %d\n", (int)rows, (int)width);
  for (int k = 0; k < p->operand_count; k++)
    print_message("  operand %d: %s, layout %d\n", k, tn_dtype_name(p->operand_dtype[k]), of[k]);
  for (int s = 0; s < p->step_count; s++)
    print_message("  %d = %s of %d %d %d, %s\n", p->operand_count + s, tn_op_sig_of(p->step[s].op)->name,
                  p->step[s].in[0], p->step[s].in[1], p->step[s].in[2], tn_dtype_name(p->step[s].dtype));
}

/* Layouts up to `last`; launches are added to `card`. */
static void compare(int64_t rows, int64_t width, layout last, emulated_card *card) {
  static _Alignas(64) char expected[4 * MOST], got[4 * MOST];
  maker m = any_program();
  tn_view views[OPERANDS];
  layout of[OPERANDS];
  char *in[OPERANDS];
  for (int k = 0; k < m.program->operand_count; k++) {
    of[k] = (layout)draw((int)last + 1);
    views[k] = view_of(m.dtype[k], rows, width, of[k]);
    in[k] = make(&views[k], of[k]);
  }
  memset(expected, BYTE, sizeof expected), memset(got, BYTE, sizeof got);
  tn_view out = view_of(m.dtype[m.count - 1], rows, width, last >= APART && draw(2) ? APART : WHOLE);
  tn_attrs attrs = { .program = m.program };
  tn_kernel_call call = { .op = TN_OP_FUSED, .attrs = &attrs, .in = views, .count = m.program->operand_count,
                          .out = &out, .threads = 1 };
  out.data = expected;
  run(tn_backend_ref(), &call);
  call.queue = &card->queue, out.data = got;
  run(tn_backend_cuda(), &call);
  if (memcmp(expected, got, sizeof got) != 0) {
    say_where(&call, of, rows, width);
    fail_msg("not the bits of ref");
  }
  for (int k = 0; k < m.program->operand_count; k++) free(in[k]);
  free(m.program);
}

/* Rows that fours divide, several blocks and a part of one. */
static void elements_side_by_side_have_a_kernel(void **state) {
  (void)state;
  static const int64_t rows[] = { 1, 2, 7, 33 }, widths[] = { 4, 8, 100, 128 };
  emulated_card card;
  emulated_card_init(&card);
  tn_rng_init(&rng, 1);
  for (int i = 0; i < 600; i++) compare(rows[i % 4], widths[draw(4)], ONE, &card);
  assert_int_equal(card.launches[TN_CARD_chain], 0);
  assert_true(card.launches[TN_CARD_elementwise] < 20);   /* programs that need too many slots */
  assert_true(card.launches[TN_CARD_chain_runs] > 400);
}

/* One row: fours do not divide it. */
static void a_row_may_end_anywhere(void **state) {
  (void)state;
  emulated_card card;
  emulated_card_init(&card);
  tn_rng_init(&rng, 2);
  for (int i = 0; i < 300; i++) compare(1, 2 + draw(i % 2 ? 12 : 4000), WHOLE, &card);
  assert_true(card.launches[TN_CARD_chain] == 0 && card.launches[TN_CARD_chain_runs] > 200);
}

static void every_layout_gives_the_bits_of_ref(void **state) {
  (void)state;
  static const int64_t rows[] = { 1, 2, 7, 33 }, widths[] = { 1, 3, 4, 10, 65, 100, 128 };
  emulated_card card;
  emulated_card_init(&card);
  tn_rng_init(&rng, 3);
  for (int i = 0; i < 600; i++) compare(rows[i % 4], widths[draw(7)], (layout)(LAYOUTS - 1), &card);
  assert_true(card.launches[TN_CARD_chain] > 300);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(elements_side_by_side_have_a_kernel),
    cmocka_unit_test(a_row_may_end_anywhere),
    cmocka_unit_test(every_layout_gives_the_bits_of_ref),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
