/* Elementwise programs that have compiled code (kernels/programs.def, and single operations), on a GPU that
 * the host emulates: each is found, and gives the bits of ref, whatever the length of its rows and however
 * its operands lie. */
#include "unit/graph_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "backend/cuda/internal.h"
#include "gpu/emulator.h"
#include "ops/in_place.h"

/* ---- the table, as data ---- */
enum { NOTHING, OPERAND, WHOLE, SCALAR, NUMBER, RESULT };

typedef struct {
  int kind, number;
} source;

typedef struct {
  tn_op op;
  tn_dtype dtype;
  source in[3];
} row_step;

typedef struct {
  const char *name;
  int count;
  row_step step[CARD_STRAIGHT_STEPS];
} row;

#define I(k) { OPERAND, k }
#define W(k) { WHOLE, k }
#define S(k) { SCALAR, k }
#define N(k) { NUMBER, k }
#define V(s) { RESULT, s }
#define ONE(s, ID, x)           { TN_OP_##ID, TN_F32, { x } },
#define TWO(s, ID, x, y)        { TN_OP_##ID, TN_F32, { x, y } },
#define TEST(s, ID, x, y)       { TN_OP_##ID, TN_BOOL, { x, y } },
#define TEST_WHOLE(s, ID, x, y) { TN_OP_##ID, TN_BOOL, { x, y } },
#define TO_NUMBER(s, c)         { TN_OP_CAST, TN_F32, { c } },
#define CHOOSE(s, c, x, y)      { TN_OP_SELECT, TN_F32, { c, x, y } },
#define TN_PROGRAM(NAME, LAST, STEPS) { #NAME, (LAST) + 1, { STEPS } },
static const row rows_of_table[] = {
#include "backend/cuda/kernels/programs.def"
#define UNARY(ID)  { #ID, 1, { ONE(0, ID, I(0)) } },
#define BINARY(ID) { #ID, 1, { TWO(0, ID, I(0), I(1)) } },
  CARD_STRAIGHT_OPERATIONS(UNARY, BINARY)
};
#define ROWS_OF_TABLE ((int)(sizeof rows_of_table / sizeof *rows_of_table))

/* How many sources of the kind the row has. */
static int count_of(const row *r, int kind) {
  int count = 0;
  for (int s = 0; s < r->count; s++)
    for (int k = 0; k < 3; k++)
      if (r->step[s].in[k].kind == kind && r->step[s].in[k].number >= count)
        count = r->step[s].in[k].number + 1;
  return count;
}

static bool is_whole(const row *r, int operand) {
  for (int s = 0; s < r->count; s++)
    for (int k = 0; k < 3; k++)
      if (r->step[s].in[k].kind == WHOLE && r->step[s].in[k].number == operand) return true;
  return false;
}

static int most(int a, int b) { return a > b ? a : b; }

/* Operands, then those of one element; a constant is a step. */
static tn_fused *program_of(const row *r, float constant) {
  int full = most(count_of(r, OPERAND), count_of(r, WHOLE)), scalars = count_of(r, SCALAR);
  int numbers = count_of(r, NUMBER);
  tn_fused *program = calloc(1, tn_fused_bytes(numbers + r->count));
  assert_non_null(program);
  program->operand_count = full + scalars;
  program->step_count = numbers + r->count;
  const int first[] = { 0, 0, 0, full, full + scalars, full + scalars + numbers };
  for (int k = 0; k < program->operand_count; k++)
    program->operand_dtype[k] = k < full && is_whole(r, k) ? TN_I32 : TN_F32;
  for (int k = 0; k < numbers; k++)
    program->step[k] = (tn_fused_step){ .op = TN_OP_FILL, .dtype = TN_F32, .number = constant + k };
  for (int s = 0; s < r->count; s++) {
    tn_fused_step *step = &program->step[numbers + s];
    step->op = r->step[s].op, step->dtype = r->step[s].dtype;
    for (int k = 0; k < 3; k++)
      step->in[k] = (uint8_t)(first[r->step[s].in[k].kind] + r->step[s].in[k].number);
  }
  return program;
}

/* ---- operands ---- */

/* Rows after one another; one row for all; one number for each row; rows that begin anywhere; rows that begin
 * at fours, with room between them. */
typedef enum { ROWS, SAME_ROW, SAME_IN_ROW, LOOSE_ROWS, APART_ROWS, LAYOUTS } layout;

typedef struct {
  tn_view view;
  void *memory;
  size_t count;   /* of elements there, some of which the view leaves out */
} operand;

static tn_rng rng;

static float any_number(void) {
  static const float special[] = { 0.0f, -0.0f, 1e-45f, -1e-38f, 3e38f, INFINITY, NAN };
  uint32_t word = tn_rng_next(&rng);
  return word % 16 < 7 ? special[word % 16] : (float)(int32_t)word * 0x1p-30f;
}

/* Integers are places in a row, or just outside of it. */
static operand make(tn_dtype dtype, int64_t rows, int64_t width, layout how) {
  int64_t pitch = how == LOOSE_ROWS ? width + 1 : how == APART_ROWS ? width / 4 * 4 + 4 : width;
  size_t count = (size_t)(rows * pitch + 8);
  operand made = { .memory = aligned_alloc(64, (count * 4 + 63) / 64 * 64), .count = count };
  assert_non_null(made.memory);
  for (size_t i = 0; i < count; i++) {
    float number = any_number();
    int32_t place = (int32_t)(tn_rng_next(&rng) % (uint32_t)(width + 2)) - 1;
    memcpy((char *)made.memory + 4 * i, dtype == TN_I32 ? (void *)&place : (void *)&number, 4);
  }
  made.view = (tn_view){ .dtype = dtype, .rank = 2, .dim = { rows, width }, .stride = { pitch, 1 },
                         .data = (char *)made.memory + (how == LOOSE_ROWS ? 4 : 0) };
  if (how == SAME_ROW) made.view.stride[0] = 0, made.view.dim[0] = 1;
  if (how == SAME_IN_ROW) made.view.stride[0] = 1, made.view.stride[1] = 0, made.view.dim[1] = 1;
  return made;
}

/* A number for all is another program, and rows of one element must follow each other. */
static layout any_layout(tn_dtype dtype, int64_t rows, int64_t width) {
  layout how = (layout)(tn_rng_next(&rng) % LAYOUTS);
  bool one = (how == SAME_ROW && width == 1) || (how == SAME_IN_ROW && rows == 1);
  return (one && dtype == TN_F32) || (how >= LOOSE_ROWS && width == 1) ? ROWS : how;
}

/* ---- running ---- */
static bool straight;   /* so was the last program, or it was a single operation on operands without gaps */

static void note_launches(const emulated_card *card) {
  straight = card->launches[TN_CARD_straight] > 0;
  for (int k = TN_CARD_flat_NEG; k <= TN_CARD_flat_GE; k++) straight = straight || card->launches[k] > 0;
}

/* The result may lie on an operand. */
static void compare(const row *r, int64_t rows, int64_t width) {
  emulated_card card;
  tn_fault fault = { 0 };
  operand in[CARD_STRAIGHT_OPERANDS + CARD_STRAIGHT_SCALARS];
  tn_view views[CARD_STRAIGHT_OPERANDS + CARD_STRAIGHT_SCALARS];
  tn_fused *program = program_of(r, any_number());
  int full = program->operand_count - count_of(r, SCALAR);
  layout how = tn_rng_next(&rng) % 2 || width == 1 ? ROWS : APART_ROWS;
  operand got = make(TN_F32, rows, width, how), expected = got;
  for (int k = 0; k < program->operand_count; k++) {
    tn_dtype dtype = program->operand_dtype[k];
    in[k] = make(dtype, rows, width, k < full ? any_layout(dtype, rows, width) : ROWS);
    if (k >= full) in[k].view.rank = 0;
    views[k] = in[k].view;
  }
  if (views[full - 1].dtype == TN_F32 && tn_rng_next(&rng) % 2) views[full - 1] = got.view;
  expected.memory = expected.view.data = malloc(got.count * 4);
  assert_non_null(expected.memory);
  memcpy(expected.memory, got.memory, got.count * 4);
  tn_attrs attrs = { .program = program };
  tn_kernel_call call = { .op = TN_OP_FUSED, .attrs = &attrs, .in = views, .count = program->operand_count,
                          .out = &expected.view, .threads = 1, .fault = &fault };
  assert_true(tn_backend_run(tn_backend_ref(), &call));
  emulated_card_init(&card);
  call.queue = &card.queue, call.out = &got.view;
  assert_true(tn_backend_run(tn_backend_cuda(), &call));
  note_launches(&card);
  if (!straight) fail_msg("%s: %d rows of %d have no code", r->name, (int)rows, (int)width);
  if (memcmp(expected.memory, got.memory, got.count * 4) != 0)
    fail_msg("%s: %d rows of %d", r->name, (int)rows, (int)width);
  for (int k = 0; k < program->operand_count; k++) free(in[k].memory);
  free(expected.memory), free(got.memory), free(program);
}

/* Rows that fours divide and others, some shorter than four; one part of a kernel and several. */
static void every_program_gives_the_bits_of_ref(void **state) {
  static const int64_t widths[] = { 1, 2, 3, 4, 10, 65, 100, 1000 };
  static const int64_t rows[] = { 1, 2, 7, 33 };
  const row *r = *state;
  tn_rng_init(&rng, (uint64_t)(r - rows_of_table));
  for (int w = 0; w < 8; w++)
    for (int n = 0; n < 4; n++)
      for (int again = 0; again < 3 && rows[n] * widths[w] > 1; again++) compare(r, rows[n], widths[w]);
}

/* ---- the gradient of a loss ---- */

/* A kernel of the back end below. */
static bool run_fused(const tn_kernel_call *call) {
  emulated_card card;
  tn_kernel_call queued = *call;
  emulated_card_init(&card);
  queued.queue = &card.queue;
  bool ok = tn_backend_cuda()->kernels[TN_OP_FUSED](&queued);
  note_launches(&card);
  return ok;
}

static void add_gradient(tn_graph *graph) {
  become_gradient(graph);
  assert_true(tn_opt_run(graph, TN_PASS_ALL, &ref_evaluator));
}

/* The last fused program of the graph has code, and all of it the bits of ref. */
static void check_graph(world *w, const tn_graph *graph, const values *v, const char *what) {
  uint8_t expected[32], got[32];
  tn_kernel kernels[TN_OP_COUNT];
  tn_backend card = *emulated_backend();
  memcpy(kernels, card.kernels, sizeof kernels);
  kernels[TN_OP_FUSED] = run_fused, card.kernels = kernels;
  run_digest(w, graph, tn_backend_ref(), 1, v, expected);
  straight = false;
  run_digest(w, graph, &card, 1, v, got);
  assert_memory_equal(expected, got, sizeof got);
  if (!straight) fail_msg("no code for %s", what);
}

/* `rows`: the shape of the labels. */
static void check_loss(const char *rows, int classes, bool weighed) {
  char text[256], what[64];
  snprintf(text, sizeof text,
           "graph(%%l: i32[%s], %%s: f32[], param %%x: f32[%s, %d]) {\n  %%1 = cross_entropy %%x, %%l\n"
           "  %%2 = mul %%1, %%s\n  return %s\n}\n",
           rows, rows, classes, weighed ? "%2" : "%1");
  snprintf(what, sizeof what, "labels [%s] of %d classes", rows, classes);
  world w;
  tn_graph graph;
  world_open(&w);
  graph_from(&w, text, &graph);
  add_gradient(&graph);
  values v = random_values(&w, &graph, (uint64_t)classes);
  const tn_view *labels = &v.inputs[0].view;
  for (int64_t i = 0; i < tn_view_count(labels); i++) tn_view_set_f64(labels, i, (double)(i * i % classes));
  check_graph(&w, &graph, &v, what);
  free_values(&w, &v);
  tn_graph_free(&graph);
  world_close(&w);
}

static void gelu_has_code(void **state) {
  (void)state;
  world w;
  tn_graph graph;
  world_open(&w);
  graph_from(&w, "graph(%x: f32[6, 20]) {\n %1 = gelu %x\n return %1\n}\n", &graph);
  assert_true(tn_opt_run(&graph, TN_PASS_ALL, &ref_evaluator));
  values v = random_values(&w, &graph, 7);
  check_graph(&w, &graph, &v, "gelu");
  free_values(&w, &v);
  tn_graph_free(&graph);
  world_close(&w);
}

static void the_gradient_of_cross_entropy_has_code(void **state) {
  static const int classes[] = { 2, 3, 10, 64, 65, 1000 };
  (void)state;
  for (int c = 0; c < 6; c++)
    for (int weighed = 0; weighed < 2; weighed++) {
      check_loss("33", classes[c], weighed);
      check_loss("4, 5", classes[c], weighed);
      if (weighed) check_loss("1", classes[c], true);   /* else the factor is 1: no product */
    }
}

int main(void) {
  static struct CMUnitTest tests[ROWS_OF_TABLE + 2] = {
    cmocka_unit_test(the_gradient_of_cross_entropy_has_code), cmocka_unit_test(gelu_has_code)
  };
  for (int p = 0; p < ROWS_OF_TABLE; p++)
    tests[p + 2] = (struct CMUnitTest){ .name = rows_of_table[p].name,
                                        .test_func = every_program_gives_the_bits_of_ref,
                                        .initial_state = (void *)(uintptr_t)&rows_of_table[p] };
  return _cmocka_run_group_tests("ops/straight", tests, ROWS_OF_TABLE + 2, NULL, NULL);
}
