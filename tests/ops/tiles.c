/* Products of f32 on a GPU that the host emulates: every tile of kernels/tiles.def gives the bits of ref,
 * whatever the shape and however the operands lie. Also what the cases of ops/card are too small for. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/cuda/internal.h"
#include "base/elementary.h"
#include "base/rng.h"
#include "gpu/emulator.h"

/* How a matrix lies: by rows; by columns; by rows that begin anywhere; every other place, backwards. */
typedef enum { ROWS, COLUMNS, LOOSE_ROWS, STEPPED, LAYOUTS } layout;

typedef struct {
  tn_view view;
  float *memory;
} matrices;

static tn_rng rng;

/* Now and then what arithmetic treats specially. */
static float number(void) {
  static const float special[] = { 0.0f, -0.0f, 1e-45f, -1e-38f, 3e38f, INFINITY, NAN };
  uint32_t word = tn_rng_next(&rng);
  if (word % 1024 < 7) return special[word % 1024];
  if (word % 64 == 8) return (float)(int32_t)word * 1e-30f;   /* products of two are denormal or vanish */
  return (float)(int32_t)word * 0x1p-31f;
}

static matrices make(int64_t batch, int64_t rows, int64_t columns, layout how) {
  matrices m;
  int64_t pitch = how == COLUMNS ? rows : how == LOOSE_ROWS ? columns + 3 : columns;
  int64_t others = how == COLUMNS ? columns : rows, step = how == STEPPED ? 2 : 1;
  size_t count = (size_t)(batch * others * pitch * step + 8);
  m.memory = aligned_alloc(64, (count * sizeof(float) + 63) / 64 * 64);
  assert_non_null(m.memory);
  for (size_t i = 0; i < count; i++) m.memory[i] = number();
  m.view = (tn_view){ .dtype = TN_F32, .rank = 3, .dim = { batch, rows, columns }, .data = m.memory };
  int64_t *stride = m.view.stride;
  stride[0] = others * pitch * step;
  stride[1] = how == COLUMNS ? 1 : pitch * step;
  stride[2] = how == COLUMNS ? pitch : step;
  if (how == LOOSE_ROWS) m.view.data = m.memory + 1;
  if (how == STEPPED) m.view.data = m.memory + (columns - 1) * step, stride[2] = -step;
  return m;
}

static matrices like(const matrices *m, size_t count) {
  matrices other = *m;
  other.memory = aligned_alloc(64, (count * sizeof(float) + 63) / 64 * 64);
  assert_non_null(other.memory);
  memset(other.memory, 0x5a, count * sizeof(float));
  other.view.data = other.memory + ((float *)m->view.data - m->memory);
  return other;
}

typedef struct {
  int64_t batch, m, n, k;
  layout x, y, out;
} product;

/* False: the operands do not fit the tile. */
static bool compare(const tn_card_tile *tile, const product *p) {
  emulated_card card;
  tn_fault fault = { 0 };
  matrices x = make(p->batch, p->m, p->k, p->x), y = make(p->batch, p->k, p->n, p->y);
  matrices out = make(p->batch, p->m, p->n, p->out);
  size_t count = (size_t)(p->batch * p->m * (p->n + 3) * 2 + 8);
  matrices expected = like(&out, count), got = like(&out, count);
  emulated_card_init(&card);
  tn_view in[2] = { x.view, y.view };
  tn_kernel_call call = { .op = TN_OP_MATMUL, .attrs = &(tn_attrs){ 0 }, .in = in, .count = 2,
                          .out = &expected.view, .threads = 1, .fault = &fault };
  assert_true(tn_backend_run(tn_backend_ref(), &call));
  call.out = &got.view, call.queue = &card.queue;
  bool fits = tn_card_matmul_by(&call, tile, CARD_PLAIN);
  if (fits && memcmp(expected.memory, got.memory, count * sizeof(float)) != 0)
    fail_msg("tile %s: %d of %dx%dx%d, laid out as %d %d %d", tile->name, (int)p->batch, (int)p->m, (int)p->k,
             (int)p->n, (int)p->x, (int)p->y, (int)p->out);
  free(x.memory), free(y.memory), free(out.memory), free(expected.memory), free(got.memory);
  return fits;
}

/* How many places more than a tile has: none, some, or fewer where the tile allows it. A tile that begins
 * where a run does is given whole runs. */
static int64_t more(const tn_card_tile *tile, int number_of_case, bool runs) {
  int64_t some = number_of_case % 3 == 0 ? 0 : number_of_case % 3 == 1 ? 4 : tile->ways > 1 ? 12 : -6;
  return some + (number_of_case % 2 && !runs ? 1 : 0);
}

/* Whole tiles and what is left over of them, in each direction; k around the steps that are brought at a
 * time. Layouts go round. */
static void every_tile_gives_the_bits_of_ref(void **state) {
  const tn_card_tile *tile = *state;
  static const int64_t depths[] = { 0, 1, 7, 8, 36, 32, 33, 64, 132, 397 };
  bool small = getenv("TERN_TEST_EFFORT") != NULL;
  int number_of_case = 0, made = 0;
  tn_rng_init(&rng, (uint64_t)tile->kernel);
  for (int d = 0; d < 10; d += small ? 4 : 1) {
    for (layout x = 0; x < LAYOUTS; x++) {
      for (layout y = 0; y < LAYOUTS; y++, number_of_case++) {
        if ((tile->ways > 1) ? x > COLUMNS || y > COLUMNS : number_of_case % 3 && d != 4) continue;
        product p = { .batch = 1 + number_of_case % 5 / 4, .k = depths[d], .x = x, .y = y,
                      .out = (layout)(number_of_case / 2 % LAYOUTS) };
        p.m = tile->m + more(tile, number_of_case + d, x == COLUMNS);
        p.n = tile->n + more(tile, number_of_case / 3, y == ROWS);
        made += compare(tile, &p);
      }
    }
  }
  assert_true(made >= (small ? 6 : 20));
}

static float ended(card_end_kind end, float sum, float rest, float scale) {
  if (end == CARD_RELU_SLOPE) return rest > 0 ? sum : 0;
  float step = scale * sum, shifted = sum + rest;
  if (end == CARD_DESCENT) return tn_canonical_f32(rest - step);
  return end == CARD_BIAS_RELU && shifted <= 0 ? 0 : tn_canonical_f32(shifted);
}

/* `rest` is the minuend, relu's result, or a matrix of which the first row is the bias. */
static void compare_end(const tn_card_tile *tile, const product *p, card_end_kind end) {
  emulated_card card;
  tn_fault fault = { 0 };
  float scale = 0.37f;
  matrices x = make(1, p->m, p->k, p->x), y = make(1, p->k, p->n, p->y), rest = make(1, p->m, p->n, p->out);
  matrices expected = make(1, p->m, p->n, ROWS), got = make(1, p->m, p->n, p->out);
  tn_view in[4] = { x.view, y.view, rest.view, { .dtype = TN_F32, .data = &scale } };
  tn_kernel_call call = { .op = TN_OP_MATMUL, .attrs = &(tn_attrs){ 0 }, .in = in, .count = 2,
                          .out = &expected.view, .threads = 1, .fault = &fault };
  assert_true(tn_backend_run(tn_backend_ref(), &call));
  bool bias = end == CARD_BIAS || end == CARD_BIAS_RELU;
  if (bias) in[2].stride[1] = 0;
  for (int64_t i = 0; i < p->m * p->n; i++) {
    float of_rest = (float)tn_view_get_f64(&in[2], i);
    expected.memory[i] = ended(end, expected.memory[i], of_rest, scale);
  }
  if (bias) in[2] = (tn_view){ .dtype = TN_F32, .rank = 1, .dim = { p->n }, .stride = { in[2].stride[2] },
                               .data = in[2].data };
  emulated_card_init(&card);
  call.out = &got.view, call.count = 4, call.queue = &card.queue;
  bool fits = tn_card_matmul_by(&call, tile, end);
  for (int64_t i = 0; fits && i < p->m * p->n; i++) {
    float result = (float)tn_view_get_f64(&got.view, i);
    if (memcmp(&result, &expected.memory[i], sizeof result) != 0)
      fail_msg("tile %s, end %d: element %d of %dx%d", tile->name, (int)end, (int)i, (int)p->m, (int)p->n);
  }
  free(x.memory), free(y.memory), free(rest.memory), free(expected.memory), free(got.memory);
}

/* Results and what they are made with lie in runs, or not; tiles are whole, or reach over the edge. */
static void every_tile_knows_all_ends(void **state) {
  const tn_card_tile *tile = *state;
  int number_of_case = 0;
  tn_rng_init(&rng, (uint64_t)tile->kernel);
  for (card_end_kind end = CARD_DESCENT; end <= CARD_RELU_SLOPE; end++)
    for (layout out = 0; out < LAYOUTS; out++, number_of_case++) {
      product p = { .k = 40, .x = COLUMNS, .y = ROWS, .out = out };
      p.m = tile->m + more(tile, number_of_case % 2, true);
      p.n = tile->n + more(tile, number_of_case / 2, true);
      compare_end(tile, &p, end);
    }
}

/* Tiles are taken in groups of rows, the last of which has fewer. */
static void many_tiles_are_all_made(void **state) {
  const tn_card_tile *tile = *state;
  tn_rng_init(&rng, (uint64_t)tile->kernel);
  bool large = tile->m * tile->n > 64 * 64;
  product p = { .batch = 1, .m = tile->m * (large ? 3 : 11), .n = tile->n * 2 + 4, .k = 12 };
  assert_true(compare(tile, &p));
}

static int64_t blocks_launched;

static bool count_blocks(tn_card_queue *queue, tn_card_kernel kernel, int64_t blocks, int threads, int room,
                         const void *arguments, size_t bytes) {
  (void)queue, (void)kernel, (void)threads, (void)room, (void)arguments, (void)bytes;
  blocks_launched = blocks;
  return true;
}

/* The last layer of a classifier with a small batch, and one of its inner layers. */
static void few_results_are_spread_over_the_card(void **state) {
  (void)state;
  static const struct {
    int64_t m, k, n, least;
  } shapes[] = { { 64, 512, 10, 8 }, { 64, 784, 512, 128 } };
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
    emulated_card card;
    matrices x = make(1, shapes[s].m, shapes[s].k, ROWS), y = make(1, shapes[s].k, shapes[s].n, ROWS);
    matrices out = make(1, shapes[s].m, shapes[s].n, ROWS);
    tn_view in[2] = { x.view, y.view };
    emulated_card_init(&card);
    card.queue.launch = count_blocks;
    tn_kernel_call call = { .op = TN_OP_MATMUL, .attrs = &(tn_attrs){ 0 }, .in = in, .count = 2,
                            .out = &out.view, .threads = 1, .queue = &card.queue };
    assert_true(tn_backend_run(tn_backend_cuda(), &call));
    assert_true(blocks_launched >= shapes[s].least);
    free(x.memory), free(y.memory), free(out.memory);
  }
}

/* In the place of the parameter, at shapes for several tiles. */
static void descent_takes_a_multiple_of_the_product_off(void **state) {
  (void)state;
  static const struct {
    int64_t m, k, n;
  } shapes[] = { { 5, 3, 7 }, { 64, 16, 32 }, { 130, 20, 70 }, { 784, 8, 512 }, { 1030, 5, 1040 } };
  float scale = 0.37f;
  for (int s = 0; s < 5; s++) {
    emulated_card card;
    tn_fault fault = { 0 };
    int64_t m = shapes[s].m, n = shapes[s].n;
    matrices x = make(1, m, shapes[s].k, COLUMNS), y = make(1, shapes[s].k, n, ROWS), p = make(1, m, n, ROWS);
    matrices product_of = like(&p, (size_t)(m * n));
    for (matrices *each[] = { &x, &y, &p, &product_of, NULL }, **at = each; *at; at++) {
      tn_view *v = &(*at)->view;
      *v = (tn_view){ .dtype = TN_F32, .rank = 2, .dim = { v->dim[1], v->dim[2] },
                      .stride = { v->stride[1], v->stride[2] }, .data = v->data };
    }
    tn_view in[4] = { x.view, y.view, p.view, { .dtype = TN_F32, .data = &scale } };
    tn_kernel_call call = { .op = TN_OP_MATMUL, .attrs = &(tn_attrs){ 0 }, .in = in, .count = 2,
                            .out = &product_of.view, .threads = 1, .fault = &fault };
    assert_true(tn_backend_run(tn_backend_ref(), &call));
    for (int64_t i = 0; i < m * n; i++) {
      float step = scale * product_of.memory[i];
      product_of.memory[i] = tn_canonical_f32(p.memory[i] - step);
    }
    emulated_card_init(&card);
    call.out = &p.view, call.count = 4, call.queue = &card.queue;
    assert_true(tn_backend_cuda()->fusions[TN_FUSION_DESCENT](&call));
    assert_memory_equal(product_of.memory, p.memory, (size_t)(m * n) * sizeof(float));
    free(x.memory), free(y.memory), free(p.memory), free(product_of.memory);
  }
}

/* Of one product and of several, with a bias that is shorter than a tile and one that is not; the first
 * column is NaN, and relu keeps it. */
static void a_bias_is_added_to_every_row(void **state) {
  (void)state;
  static const struct {
    int64_t batch, m, k, n;
  } shapes[] = { { 1, 5, 3, 7 }, { 1, 64, 16, 32 }, { 3, 33, 20, 70 }, { 2, 130, 9, 64 },
                 { 1, 500, 5, 530 } };
  for (int s = 0; s < 10; s++) {
    emulated_card card;
    tn_fault fault = { 0 };
    bool relu = s % 2;
    int64_t batch = shapes[s / 2].batch, m = shapes[s / 2].m, n = shapes[s / 2].n, count = batch * m * n;
    matrices x = make(batch, m, shapes[s / 2].k, ROWS), y = make(batch, shapes[s / 2].k, n, ROWS);
    matrices expected = make(batch, m, n, ROWS), got = make(batch, m, n, ROWS);
    matrices bias = make(1, 1, 2 * n, ROWS);
    bias.memory[0] = (float)NAN;
    tn_view in[3] = { x.view, y.view,
                      { .dtype = TN_F32, .rank = 1, .dim = { n }, .stride = { 2 }, .data = bias.memory } };
    tn_kernel_call call = { .op = TN_OP_MATMUL, .attrs = &(tn_attrs){ 0 }, .in = in, .count = 2,
                            .out = &expected.view, .threads = 1, .fault = &fault };
    assert_true(tn_backend_run(tn_backend_ref(), &call));
    for (int64_t i = 0; i < count; i++) {
      float sum = expected.memory[i] + bias.memory[i % n * 2];
      expected.memory[i] = relu && sum <= 0 ? 0 : tn_canonical_f32(sum);
    }
    emulated_card_init(&card);
    call.out = &got.view, call.count = 3, call.queue = &card.queue;
    assert_true(tn_backend_cuda()->fusions[relu ? TN_FUSION_BIAS_RELU : TN_FUSION_BIAS](&call));
    assert_memory_equal(expected.memory, got.memory, (size_t)count * sizeof(float));
    free(x.memory), free(y.memory), free(bias.memory), free(expected.memory), free(got.memory);
  }
}

/* Relu's result lies by rows, or some other way, but its matrices follow each other as those of the product
 * do. It has NaN, zeros of both signs and infinities; the first sum that it lets through is NaN. */
static void relu_slope_lets_sums_through(void **state) {
  (void)state;
  static const struct {
    int64_t batch, m, k, n;
    layout made;
  } shapes[] = { { 1, 5, 3, 7, ROWS }, { 1, 64, 16, 32, COLUMNS }, { 3, 33, 20, 72, ROWS },
                 { 2, 130, 9, 64, COLUMNS }, { 1, 64, 40, 512, ROWS }, { 1, 500, 5, 532, ROWS },
                 { 1, 66, 33, 72, STEPPED } };
  for (int s = 0; s < 7; s++) {
    emulated_card card;
    tn_fault fault = { 0 };
    int64_t batch = shapes[s].batch, m = shapes[s].m, n = shapes[s].n, count = batch * m * n;
    matrices x = make(batch, m, shapes[s].k, ROWS), y = make(batch, shapes[s].k, n, COLUMNS);
    matrices made = make(batch, m, n, shapes[s].made), got = make(batch, m, n, ROWS);
    matrices expected = make(batch, m, n, ROWS);
    x.memory[0] = (float)NAN, *(float *)made.view.data = 1;
    tn_view in[3] = { x.view, y.view, made.view };
    tn_kernel_call call = { .op = TN_OP_MATMUL, .attrs = &(tn_attrs){ 0 }, .in = in, .count = 2,
                            .out = &expected.view, .threads = 1, .fault = &fault };
    assert_true(tn_backend_run(tn_backend_ref(), &call));
    for (int64_t i = 0; i < count; i++)
      if (!(tn_view_get_f64(&made.view, i) > 0)) expected.memory[i] = 0;
    emulated_card_init(&card);
    call.out = &got.view, call.count = 3, call.queue = &card.queue;
    assert_true(tn_backend_cuda()->fusions[TN_FUSION_RELU_SLOPE](&call));
    assert_memory_equal(expected.memory, got.memory, (size_t)count * sizeof(float));
    free(x.memory), free(y.memory), free(made.memory), free(expected.memory), free(got.memory);
  }
}

/* ---- short elementwise programs ---- */
enum { MOST_STEPS = 8, MOST_OPERANDS = 5 };

/* A program of up to eight operations on existing values; the last reads the one before it. */
static tn_fused *random_program(int operands) {
  static const tn_op ops[] = { TN_OP_ADD, TN_OP_SUB, TN_OP_MUL, TN_OP_DIV, TN_OP_RELU, TN_OP_SQRT,
                               TN_OP_MAXIMUM, TN_OP_FILL };
  int steps = 1 + (int)(tn_rng_next(&rng) % MOST_STEPS);
  tn_fused *program = calloc(1, tn_fused_bytes(steps));
  assert_non_null(program);
  program->operand_count = operands;
  program->step_count = steps;
  for (int s = 0; s < steps; s++) {
    tn_fused_step *step = &program->step[s];
    step->op = ops[tn_rng_next(&rng) % (s + 1 < steps && tn_rng_next(&rng) % 4 == 0 ? 8 : 6)];
    step->dtype = TN_F32;
    step->number = number();
    for (int k = 0; k < 3; k++) step->in[k] = (uint8_t)(tn_rng_next(&rng) % (uint32_t)(operands + s));
    if (s > 0 && program->step[s - 1].op != TN_OP_FILL) step->in[0] = (uint8_t)(operands + s - 1);
  }
  return program;
}

/* One operand in three has one element; the result may lie on the first operand that has all. */
static void check_program(int number_of_case) {
  emulated_card card;
  tn_fault fault = { 0 };
  int operands = 1 + (int)(tn_rng_next(&rng) % MOST_OPERANDS);
  int64_t count = 1 + (int64_t)(tn_rng_next(&rng) % 2000);
  matrices in[MOST_OPERANDS], expected = make(1, 1, count, ROWS), got = make(1, 1, count, ROWS);
  tn_view views[MOST_OPERANDS], out = { .dtype = TN_F32, .rank = 1, .dim = { count }, .stride = { 1 } };
  tn_fused *program = random_program(operands);
  for (int k = 0; k < operands; k++) {
    bool one = tn_rng_next(&rng) % 3 == 0;
    in[k] = make(1, 1, count, ROWS);
    views[k] = (tn_view){ .dtype = TN_F32, .rank = one ? 0 : 1, .dim = { count }, .stride = { 1 },
                          .data = in[k].memory };
    program->operand_dtype[k] = TN_F32;
  }
  tn_attrs attrs = { .program = program };
  tn_kernel_call call = { .op = TN_OP_FUSED, .attrs = &attrs, .in = views, .count = operands, .out = &out,
                          .threads = 1, .fault = &fault };
  out.data = expected.memory;
  assert_true(tn_backend_run(tn_backend_ref(), &call));
  bool over = number_of_case % 4 == 0 && views[0].rank == 1;
  out.data = over ? in[0].memory : got.memory;
  emulated_card_init(&card);
  call.queue = &card.queue;
  assert_true(tn_backend_run(tn_backend_cuda(), &call));
  if (memcmp(expected.memory, out.data, (size_t)count * sizeof(float)) != 0)
    fail_msg("program %d of %d steps on %d operands", number_of_case, program->step_count, operands);
  for (int k = 0; k < operands; k++) free(in[k].memory);
  free(expected.memory), free(got.memory), free(program);
}

static void short_programs_give_the_bits_of_ref(void **state) {
  (void)state;
  tn_rng_init(&rng, 11);
  for (int i = 0; i < 300; i++) check_program(i);
}

/* Half of the entries name one row, so that many slices are read ahead; one row is never named. */
static void slices_of_many_entries_are_added_in_order(void **state) {
  (void)state;
  enum { COUNT = 300, WIDTH = 45, ROWS_OF_X = 5 };
  emulated_card card;
  tn_fault fault = { 0 };
  matrices x = make(1, ROWS_OF_X, WIDTH, ROWS), y = make(1, COUNT, WIDTH, ROWS);
  static float expected[ROWS_OF_X * WIDTH], got[ROWS_OF_X * WIDTH], scratch[2 * ROWS_OF_X * WIDTH];
  float scale = 0.125f;
  int32_t index[COUNT];
  for (int i = 0; i < COUNT; i++) index[i] = i % 2 ? 2 : (int32_t)(tn_rng_next(&rng) % (ROWS_OF_X - 1));
  for (int i = 0; i < COUNT * WIDTH; i++) y.memory[i] = (float)(int32_t)tn_rng_next(&rng) * 0x1p-31f;
  tn_view in[4] = {
    { .dtype = TN_F32, .rank = 2, .dim = { ROWS_OF_X, WIDTH }, .stride = { WIDTH, 1 }, .data = x.memory },
    { .dtype = TN_I32, .rank = 1, .dim = { COUNT }, .stride = { 1 }, .data = index },
    { .dtype = TN_F32, .rank = 2, .dim = { COUNT, WIDTH }, .stride = { WIDTH, 1 }, .data = y.memory },
    { .dtype = TN_F32, .data = &scale },
  };
  tn_view out = in[0];
  tn_attrs attrs = { 0 };
  emulated_card_init(&card);
  for (int i = 0; i < 2; i++) {
    tn_kernel_call call = { .op = i ? TN_OP_ROW_UPDATE : TN_OP_SCATTER_ADD, .attrs = &attrs, .in = in,
                            .count = 3 + i, .out = &out, .scratch = scratch, .threads = 1, .fault = &fault };
    out.data = expected;
    assert_true(tn_backend_ref()->scratch(tn_backend_ref(), call.op, &attrs, in, call.count, &out, 1) <=
                sizeof scratch);
    assert_true(tn_backend_run(tn_backend_ref(), &call));
    out.data = got, call.queue = &card.queue;
    assert_true(tn_backend_run(tn_backend_cuda(), &call));
    assert_memory_equal(expected, got, sizeof got);
  }
  free(x.memory);
  free(y.memory);
}

typedef struct {
  int64_t rows, count, width;
  layout y;
} table;

/* Tables of many rows or entries: a row in a hundred is named often, most are not. */
static void check_sorted_rows(const table *t, bool wide, bool in_place, bool update) {
  emulated_card card;
  tn_fault fault = { 0 };
  int64_t rows = t->rows, count = t->count, width = t->width;
  matrices x = make(1, rows, width, ROWS), y = make(1, count, width, t->y), got = make(1, rows, width, ROWS);
  matrices expected = make(1, rows, width, ROWS);
  int64_t *index = calloc((size_t)count, sizeof *index);
  float scale = 0.125f;
  for (int64_t i = 0; i < count; i++) {
    int64_t row = (int64_t)(tn_rng_next(&rng) % (uint32_t)rows);
    if (i % 2) row = row / 100 * 100;
    if (wide) index[i] = row;
    else ((int32_t *)index)[i] = (int32_t)row;
  }
  tn_view in[4] = {
    { .dtype = TN_F32, .rank = 2, .dim = { rows, width }, .stride = { width, 1 }, .data = x.memory },
    { .dtype = wide ? TN_I64 : TN_I32, .rank = 1, .dim = { count }, .stride = { 1 }, .data = index },
    { .dtype = TN_F32, .rank = 2, .dim = { count, width }, .stride = { y.view.stride[1], y.view.stride[2] },
      .data = y.view.data },
    { .dtype = TN_F32, .data = &scale },
  };
  tn_view out = in[0];
  tn_attrs attrs = { 0 };
  tn_op op = update ? TN_OP_ROW_UPDATE : TN_OP_SCATTER_ADD;
  tn_kernel_call call = { .op = op, .attrs = &attrs, .in = in, .count = update ? 4 : 3, .out = &out,
                          .threads = 1, .fault = &fault };
  for (int there = 0; there < 2; there++) {
    const tn_backend *backend = there ? tn_backend_cuda() : tn_backend_ref();
    size_t bytes = backend->scratch(backend, op, &attrs, in, call.count, &out, 1);
    void *scratch = calloc(1, bytes + 1);
    emulated_card_init(&card);
    assert_true(!there || bytes >= (size_t)(4 * count + rows + 1) * 4);
    out.data = !there ? expected.memory : in_place ? x.memory : got.memory;
    call.scratch = scratch, call.queue = &card.queue;
    assert_true(tn_backend_run(backend, &call));
    free(scratch);
  }
  assert_memory_equal(expected.memory, out.data, (size_t)(rows * width) * sizeof(float));
  free(x.memory), free(y.memory), free(got.memory), free(expected.memory), free(index);
}

/* Widths that are a whole number of runs of four columns, and others; runs that are not aligned. */
static void slices_of_sorted_rows_are_added_in_order(void **state) {
  (void)state;
  static const table tables[] = {
    { 256, 64, 33, ROWS }, { 257, 1500, 5, ROWS },         { 4100, 700, 40, ROWS }, { 70000, 600, 3, ROWS },
    { 65, 2048, 4, ROWS }, { 300, 70, 132, ROWS },         { 1, 2100, 8, ROWS },    { 3, 2500, 1, ROWS },
    { 280, 90, 64, COLUMNS }, { 280, 90, 64, LOOSE_ROWS }, { 280, 90, 64, STEPPED },
  };
  for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
    for (int how = 0; how < 4; how++)
      check_sorted_rows(&tables[t], how & 1, (t ^ (size_t)how) & 1, how >> 1 & 1);
}

/* More chunks than one block joins: 262,144 elements are the most. */
static void sums_of_many_chunks_are_joined_in_order(void **state) {
  (void)state;
  emulated_card card;
  tn_fault fault = { 0 };
  int64_t count = 700000;
  matrices x = make(1, 1, count, ROWS);
  float expected, got, scratch[4096];
  tn_shape none = { .rank = 0 };
  tn_view in = { .dtype = TN_F32, .rank = 1, .dim = { count }, .stride = { 1 }, .data = x.memory };
  for (int64_t i = 0; i < count; i++) x.memory[i] = (float)(int32_t)tn_rng_next(&rng) * 0x1p-31f;
  tn_view out = tn_view_make(&expected, TN_F32, &none);
  tn_attrs attrs = { .axis_count = 1 };
  tn_kernel_call call = { .op = TN_OP_SUM, .attrs = &attrs, .in = &in, .count = 1, .out = &out,
                          .scratch = scratch, .threads = 1, .fault = &fault };
  assert_true(tn_backend_cuda()->scratch(tn_backend_cuda(), TN_OP_SUM, &attrs, &in, 1, &out, 1) <=
              sizeof scratch);
  assert_true(tn_backend_run(tn_backend_ref(), &call));
  emulated_card_init(&card);
  out.data = &got, call.queue = &card.queue;
  assert_true(tn_backend_run(tn_backend_cuda(), &call));
  assert_memory_equal(&expected, &got, sizeof got);
  free(x.memory);
}

int main(void) {
  static struct CMUnitTest tests[64];
  size_t count = 0;
  for (int t = 0; tn_card_tile_at(t); t++) {
    const tn_card_tile *tile = tn_card_tile_at(t);
    tests[count++] = (struct CMUnitTest){ .name = tile->name, .test_func = every_tile_gives_the_bits_of_ref,
                                          .initial_state = (void *)(uintptr_t)tile };
    tests[count++] = (struct CMUnitTest){ .name = "its ends", .test_func = every_tile_knows_all_ends,
                                          .initial_state = (void *)(uintptr_t)tile };
    tests[count++] = (struct CMUnitTest){ .name = "many of them", .test_func = many_tiles_are_all_made,
                                          .initial_state = (void *)(uintptr_t)tile };
  }
  tests[count++] = (struct CMUnitTest)cmocka_unit_test(few_results_are_spread_over_the_card);
  tests[count++] = (struct CMUnitTest)cmocka_unit_test(descent_takes_a_multiple_of_the_product_off);
  tests[count++] = (struct CMUnitTest)cmocka_unit_test(a_bias_is_added_to_every_row);
  tests[count++] = (struct CMUnitTest)cmocka_unit_test(relu_slope_lets_sums_through);
  tests[count++] = (struct CMUnitTest)cmocka_unit_test(short_programs_give_the_bits_of_ref);
  tests[count++] = (struct CMUnitTest)cmocka_unit_test(sums_of_many_chunks_are_joined_in_order);
  tests[count++] = (struct CMUnitTest)cmocka_unit_test(slices_of_many_entries_are_added_in_order);
  tests[count++] = (struct CMUnitTest)cmocka_unit_test(slices_of_sorted_rows_are_added_in_order);
  return _cmocka_run_group_tests("ops/tiles", tests, count, NULL, NULL);
}
