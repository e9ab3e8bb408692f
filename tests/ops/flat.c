/* Single operations on f32 without gaps (kernels/flat.c), on a GPU that the host emulates: each row of the
 * table that takes f32 has a kernel, which gives the bits of ref for any number of elements, also with one
 * element or a constant for all, and writes nothing beside its result. */
#include "unit/graph_support.h"

#include <math.h>
#include <stdlib.h>

#include "backend/cuda/internal.h"
#include "gpu/emulator.h"

/* ---- rows ---- */
enum { UNARY, BINARY, COMPARE };

typedef struct {
  tn_op op;
  const char *name;
  int kind;
} row;

#define ROW_FLOATS(...)  { __VA_ARGS__ },
#define ROW_NUMBERS(...) { __VA_ARGS__ },
#define ROW_PLAIN(...)   { __VA_ARGS__ },
#define ROW_BOOLS(...)
#define TN_ELEMENT(ID, KIND, DTYPES, ...) ROW_##DTYPES(TN_OP_##ID, #ID, KIND)
static const row rows[] = {
#include "op/elementwise.def"
};
#define ROWS ((int)(sizeof rows / sizeof *rows))

/* ---- running ---- */
enum { MOST = 3000, GUARD = 16, BYTE = 0x5a };

static tn_rng rng;

/* Of kernels of flat.c, which follow each other in the table. */
static int flat_launches(const emulated_card *card) {
  int count = 0;
  for (int k = TN_CARD_flat_NEG; k <= TN_CARD_flat_GE; k++) count += card->launches[k];
  return count;
}

static float any_number(void) {
  static const float special[] = { 0.0f, -0.0f, 1e-45f, -1e-38f, 3e38f, INFINITY, -INFINITY, NAN, 1e9f };
  uint32_t word = tn_rng_next(&rng);
  return word % 16 < 9 ? special[word % 16] : (float)(int32_t)word * 0x1p-29f;
}

static tn_view vector(void *data, tn_dtype dtype, int64_t count) {
  return (tn_view){ .dtype = dtype, .rank = 1, .dim = { count }, .stride = { 1 }, .data = data };
}

/* What an operand is: a run; one element; a constant; a run that begins anywhere. */
typedef enum { RUN, SAME, NUMBER, LOOSE, SOURCES } source;

/* The operation after a step for each constant. */
static tn_fused *program_of(const row *r, const source *of) {
  int arity = r->kind == UNARY ? 1 : 2, operands = 0, fills = 0;
  tn_fused *program = calloc(1, tn_fused_bytes(3));
  assert_non_null(program);
  for (int k = 0; k < arity; k++) fills += of[k] == NUMBER;
  program->step_count = fills + 1;
  tn_fused_step *last = &program->step[fills];
  *last = (tn_fused_step){ .op = r->op, .dtype = r->kind == COMPARE ? TN_BOOL : TN_F32 };
  for (int k = 0, fill = 0; k < arity; k++) {
    if (of[k] == NUMBER) {
      program->step[fill] = (tn_fused_step){ .op = TN_OP_FILL, .dtype = TN_F32, .number = any_number() };
      last->in[k] = (uint8_t)(arity - fills + fill++);
    } else {
      program->operand_dtype[operands] = TN_F32;
      last->in[k] = (uint8_t)operands++;
    }
  }
  program->operand_count = operands;
  return program;
}

static void run(const tn_backend *backend, tn_kernel_call *call) {
  tn_fault fault = { 0 };
  call->fault = &fault;
  assert_true(tn_backend_run(backend, call));
}

/* Returns whether a kernel of flat.c ran. */
static bool compare(const row *r, int64_t count, const source *of) {
  static _Alignas(64) float in[2][MOST + 4], expected[MOST + GUARD], got[MOST + GUARD];
  tn_view views[2];
  tn_fused *program = program_of(r, of);
  size_t bytes = (size_t)count * tn_dtype_bytes(r->kind == COMPARE ? TN_BOOL : TN_F32);
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < MOST + 4; i++) in[k][i] = any_number();
  for (int k = 0, operand = 0; k < 2; k++) {
    if (operand == program->operand_count || of[k] == NUMBER) continue;
    views[operand] = vector(in[k] + (of[k] == LOOSE), TN_F32, of[k] == SAME ? 1 : count);
    if (of[k] == SAME) views[operand].rank = 0;
    operand++;
  }
  memset(expected, BYTE, sizeof expected), memset(got, BYTE, sizeof got);
  tn_attrs attrs = { .program = program };
  tn_view out = vector(expected, r->kind == COMPARE ? TN_BOOL : TN_F32, count);
  tn_kernel_call call = { .op = TN_OP_FUSED, .attrs = &attrs, .in = views,
                          .count = program->operand_count, .out = &out, .threads = 1 };
  run(tn_backend_ref(), &call);
  emulated_card card;
  emulated_card_init(&card);
  call.queue = &card.queue, out.data = got;
  run(tn_backend_cuda(), &call);
  free(program);
  if (memcmp(expected, got, sizeof got) != 0)
    fail_msg("%s of %d elements, operands of kinds %d and %d", r->name, (int)count, of[0], of[1]);
  assert_int_equal(((unsigned char *)got)[bytes], BYTE);
  return flat_launches(&card) > 0;
}

static bool has(const row *r, const source *of, source what) {
  return of[0] == what || (r->kind != UNARY && of[1] == what);
}

/* Around the four elements of a thread, those of a block, and several blocks. A program has an operand of as
 * many elements as its result. */
static void every_row_gives_the_bits_of_ref(void **state) {
  static const int64_t counts[] = { 2, 3, 4, 5, 511, 512, 513, 1023, 1024, 1025, 1027, 2600 };
  const row *r = *state;
  tn_rng_init(&rng, (uint64_t)(r - rows));
  for (int c = 0; c < 12; c++)
    for (int x = 0; x < SOURCES; x++)
      for (int y = 0; y < SOURCES; y++) {
        const source of[] = { (source)x, (source)y };
        if ((r->kind == UNARY && y > 0) || (!has(r, of, RUN) && !has(r, of, LOOSE))) continue;
        assert_int_equal(compare(r, counts[c], of), !has(r, of, LOOSE));
      }
}

int main(void) {
  static struct CMUnitTest tests[ROWS];
  for (int r = 0; r < ROWS; r++)
    tests[r] = (struct CMUnitTest){ .name = rows[r].name,
                                    .test_func = every_row_gives_the_bits_of_ref,
                                    .initial_state = (void *)(uintptr_t)&rows[r] };
  return _cmocka_run_group_tests("ops/flat", tests, ROWS, NULL, NULL);
}
