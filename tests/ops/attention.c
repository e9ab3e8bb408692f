/* Attention and its gradient on a GPU that the host emulates: bands of queries give the bits of ref, whatever
 * the shape, however the operands lie and whatever numbers stand where a mask hides them. */
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
#include "backend/cuda/kernels/attention.h"
#include "base/rng.h"
#include "gpu/emulator.h"

enum { Q, K, V, G, OPERANDS };

/* How an operand lies: row by row; as a part of longer rows, which begin anywhere; by columns; as one of
 * three that a product has made side by side. */
typedef enum { PLAIN, LOOSE, COLUMNS, ABREAST, LAYOUTS } layout;

typedef struct {
  int64_t batch, queries, keys, heads, width, values;
  bool causal;
  layout how;
} example;

static tn_rng rng;

static float ordinary(void) { return (float)(int32_t)tn_rng_next(&rng) * 0x1p-30f; }

static tn_view operand(int64_t batch, int64_t rows, int64_t columns, layout how, float **memory) {
  int64_t pitch = how == LOOSE ? columns + 3 : how == ABREAST ? 3 * columns : how == COLUMNS ? rows : columns;
  size_t count = (size_t)(batch * (how == COLUMNS ? columns : rows) * pitch + 4);
  *memory = aligned_alloc(64, (count * sizeof(float) + 63) / 64 * 64);
  assert_non_null(*memory);
  for (size_t i = 0; i < count; i++) (*memory)[i] = ordinary();
  tn_view view = { .dtype = TN_F32, .rank = 3, .dim = { batch, rows, columns },
                   .stride = { rows * pitch, pitch, 1 }, .data = *memory };
  if (how == COLUMNS) view.stride[0] = columns * pitch, view.stride[1] = 1, view.stride[2] = pitch;
  if (how == LOOSE) view.data = *memory + 1;
  if (how == ABREAST) view.data = *memory + columns;
  return view;
}

static float *element(const tn_view *x, int64_t batch, int64_t row, int64_t column) {
  return (float *)x->data + batch * x->stride[0] + row * x->stride[1] + column * x->stride[2];
}

typedef struct {
  tn_view in[OPERANDS];
  float *memory[OPERANDS];
} operands;

static operands make(const example *e) {
  operands o;
  for (int i = 0; i < OPERANDS; i++)
    o.in[i] = operand(e->batch, i == K || i == V ? e->keys : e->queries,
                      e->heads * (i < V ? e->width : e->values), (layout)((e->how + (layout)i / 3) % LAYOUTS),
                      &o.memory[i]);
  return o;
}

static void release(operands *o) {
  for (int i = 0; i < OPERANDS; i++) free(o->memory[i]);
}

/* With its scratch; how many bytes that has. */
static size_t run(const tn_backend *backend, tn_kernel_call *call) {
  emulated_card card;
  tn_fault fault = { 0 };
  size_t bytes = backend->scratch(backend, call->op, call->attrs, call->in, call->count, call->out, 1);
  void *scratch = aligned_alloc(64, (bytes + 64) / 64 * 64);
  assert_non_null(scratch);
  memset(scratch, 0x5a, (bytes + 64) / 64 * 64);
  emulated_card_init(&card);
  call->scratch = scratch, call->queue = &card.queue, call->fault = &fault, call->threads = 1;
  assert_true(tn_backend_run(backend, call));
  assert_int_equal(card.fault.kind, 0);
  free(scratch);
  return bytes;
}

static void compare_one(const example *e, const operands *o, tn_op op, bool without_matrices) {
  tn_attrs attrs = { .index = (uint64_t)e->heads, .causal = e->causal };
  int64_t count = 0;
  for (int i = 0; i < 3; i++) count += tn_view_count(&o->in[i]);
  tn_view out = { .dtype = TN_F32, .rank = 1, .dim = { count }, .stride = { 1 } };
  if (op == TN_OP_ATTENTION) {
    count = e->batch * e->queries * e->heads * e->values;
    out = (tn_view){ .dtype = TN_F32, .rank = 3, .dim = { e->batch, e->queries, e->heads * e->values },
                     .stride = { e->queries * e->heads * e->values, e->heads * e->values, 1 } };
  }
  float *expected = calloc((size_t)count + 1, sizeof(float)), *got = calloc((size_t)count + 1, sizeof(float));
  assert_true(expected && got);
  tn_kernel_call call = { .op = op, .attrs = &attrs, .in = o->in, .count = op == TN_OP_ATTENTION ? 3 : 4,
                          .out = &out };
  out.data = expected;
  run(tn_backend_ref(), &call);
  out.data = got;
  size_t scratch = run(tn_backend_cuda(), &call);
  int64_t rows = e->batch * e->heads * e->queries;
  if (without_matrices) assert_true(scratch <= (size_t)(e->batch * e->heads + 16 + 4 * rows) * 4);
  for (int64_t i = 0; i < count; i++)
    if (memcmp(&expected[i], &got[i], sizeof(float)) != 0)
      fail_msg("%s: %d x %d by %d, %d heads of %d and %d, mask %d, layout %d: element %d is %a, not %a",
               op == TN_OP_ATTENTION ? "attention" : "its gradient", (int)e->batch, (int)e->queries,
               (int)e->keys, (int)e->heads, (int)e->width, (int)e->values, e->causal, e->how, (int)i,
               (double)got[i], (double)expected[i]);
  free(expected), free(got);
}

static void compare(const example *e, const operands *o) {
  compare_one(e, o, TN_OP_ATTENTION, true);
  compare_one(e, o, TN_OP_ATTENTION_GRAD, true);
}

/* Lengths around bands of 32, tiles of 64 and 128, chunks of 512; the last two have bands of 16. With thirty
 * keys more than queries, the first query of a band sees one key less than a tile has. */
static void bands_give_the_bits_of_ref(void **state) {
  (void)state;
  static const example examples[] = {
    { 1, 1, 1, 1, 8, 8, false, PLAIN },       { 2, 7, 7, 3, 20, 20, true, PLAIN },
    { 1, 64, 64, 2, 64, 64, true, ABREAST },  { 1, 100, 100, 1, 20, 36, true, LOOSE },
    { 1, 65, 130, 1, 64, 64, false, PLAIN },  { 1, 70, 131, 1, 16, 12, true, COLUMNS },
    { 2, 33, 97, 2, 4, 64, false, ABREAST },  { 1, 129, 129, 1, 32, 32, true, PLAIN },
    { 1, 5, 256, 1, 48, 8, true, LOOSE },     { 1, 256, 256, 1, 64, 64, true, ABREAST },
    { 1, 40, 70, 1, 16, 16, true, PLAIN },    { 1, 64, 192, 1, 40, 28, true, COLUMNS },
    { 3, 34, 34, 23, 4, 4, true, PLAIN },     { 1, 33, 229, 1, 64, 52, false, ABREAST },
    { 1, 17, 600, 1, 12, 20, false, PLAIN },  { 1, 20, 1100, 1, 8, 8, true, LOOSE },
  };
  for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
    tn_rng_init(&rng, i);
    operands o = make(&examples[i]);
    compare(&examples[i], &o);
    release(&o);
  }
}

/* Numbers that arithmetic treats specially, one at a time, in each operand: in the first row, in the last,
 * which a mask hides from all queries but one, and between. Some have more rows than attention_look reads at
 * a time. */
static void odd_numbers_give_the_bits_of_ref(void **state) {
  (void)state;
  static const float odd[] = { INFINITY, -INFINITY, NAN, 3e38f, -3e38f, 1e-45f, -0.0f, 1e20f };
  bool small = getenv("TERN_TEST_EFFORT") != NULL;
  for (int n = 0; n < 8 * OPERANDS * 2; n += small ? 5 : 1) {
    int queries = n % 16 == 2 ? 145 : 70;
    example e = { 1, queries, queries + n % 3, 1, 4, 4, n % 2 == 0, (layout)(n % LAYOUTS) };
    tn_rng_init(&rng, (uint64_t)n);
    operands o = make(&e);
    const tn_view *x = &o.in[n / 16];
    int64_t rows = x->dim[1], row = n % 2 ? rows / 2 : n % 4 ? rows - 1 : 0;
    *element(x, 0, row, n % 3) = odd[n / 2 % 8];
    compare(&e, &o);
    release(&o);
  }
}

/* Whether hidden keys may be left out depends on every element of a head: wherever an infinity stands, it is
 * found. */
static void an_infinity_is_found_wherever_it_stands(void **state) {
  (void)state;
  static const int64_t widths[] = { 64, 12, 20, 64 };
  for (int n = 0; n < 32; n++) {
    int64_t keys = n % 4 == 0 ? 256 : 140;
    example e = { 1, keys, keys, 1, widths[n % 4], widths[n % 4], true, n % 4 == 2 ? COLUMNS : PLAIN };
    tn_rng_init(&rng, (uint64_t)n);
    operands o = make(&e);
    int which = n % 4 < 2 ? V : n % 8 < 4 ? K : G;
    int64_t row = (int64_t)tn_rng_below(&rng, 64), column = (int64_t)tn_rng_below(&rng, (uint32_t)e.width);
    *element(&o.in[which], 0, which == G ? row : keys - 1 - row, column) = INFINITY;
    compare_one(&e, &o, which == V ? TN_OP_ATTENTION : TN_OP_ATTENTION_GRAD, true);
    release(&o);
  }
}

/* Many at once: rows of scores that are all infinite or NaN, sums that cancel, zeros of both signs. */
static void many_odd_numbers_give_the_bits_of_ref(void **state) {
  (void)state;
  static const float odd[] = { 0.0f, -0.0f, 1e-45f, -1e-38f, 1e-30f, -1e-25f, 3e38f, INFINITY, NAN, 88.0f };
  for (int n = 0; n < 12; n++) {
    example e = { 1, 66, 68, 1, 8, 8, n % 3 > 0, PLAIN };
    tn_rng_init(&rng, (uint64_t)n);
    operands o = make(&e);
    int kinds = n < 6 ? 6 : 10;
    for (int i = 0; i < OPERANDS; i++)
      for (int64_t row = 0; row < o.in[i].dim[1]; row++)
        for (int64_t column = 0; column < 8; column++)
          if (tn_rng_next(&rng) % (n < 6 ? 2 : 200) == 0)
            *element(&o.in[i], 0, row, column) = odd[tn_rng_next(&rng) % (uint32_t)kinds];
    compare(&e, &o);
    release(&o);
  }
}

/* Sums that vanish: of operands so small that the last product decides the sign of a zero. */
static void sums_that_vanish_give_the_bits_of_ref(void **state) {
  (void)state;
  for (int n = 0; n < 8; n++) {
    example e = { 1, 66, 66, 1, 4, 4, n % 2 == 0, PLAIN };
    tn_rng_init(&rng, (uint64_t)n);
    operands o = make(&e);
    for (int i = 0; i < OPERANDS; i++)
      for (int64_t row = 0; row < o.in[i].dim[1]; row++)
        for (int64_t column = 0; column < 4; column++)
          if (n / 2 == i || (n / 2 == 3 && i < 3))
            *element(&o.in[i], 0, row, column) = tn_rng_next(&rng) % 2 ? -1e-45f : 1e-45f;
    compare(&e, &o);
    release(&o);
  }
}

/* The shorter ways to an exponential and to a quotient. */
static void near_numbers_are_those_of_exp_and_division(void **state) {
  (void)state;
  for (uint32_t bits = 0x80000000u; bits <= tn_bits_f32(NEAR); bits += 997) {
    float x = tn_float_of_bits(bits);
    if (tn_bits_f32(near_exp(x)) != tn_bits_f32(tn_exp_f32(x))) fail_msg("exp(%a)", (double)x);
  }
  tn_rng_init(&rng, 3);
  for (int i = 0; i < 1000000; i++) {
    float sum = 1 + (float)tn_rng_next(&rng) * 0x1p-32f, x = (float)(tn_rng_next(&rng) >> 8) * 0x1p-24f;
    sum = ldexpf(sum, i % 11), x = ldexpf(x, -(i % 60));
    if (near_quotient(x, sum, 1 / sum) != x / sum) fail_msg("%a / %a", (double)x, (double)sum);
  }
}

/* What has no bands is made of parts: heads that are too wide, or that fours do not divide; too many keys. */
static void other_shapes_give_the_bits_of_ref(void **state) {
  (void)state;
  static const example examples[] = {
    { 1, 9, 9, 2, 7, 8, true, PLAIN },
    { 1, 10, 12, 1, 128, 64, true, PLAIN },
    { 1, 3, 2100, 1, 4, 4, false, PLAIN },
  };
  for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
    tn_rng_init(&rng, i);
    operands o = make(&examples[i]);
    compare_one(&examples[i], &o, TN_OP_ATTENTION, false);
    compare_one(&examples[i], &o, TN_OP_ATTENTION_GRAD, false);
    release(&o);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(bands_give_the_bits_of_ref),
    cmocka_unit_test(odd_numbers_give_the_bits_of_ref),
    cmocka_unit_test(an_infinity_is_found_wherever_it_stands),
    cmocka_unit_test(many_odd_numbers_give_the_bits_of_ref),
    cmocka_unit_test(sums_that_vanish_give_the_bits_of_ref),
    cmocka_unit_test(near_numbers_are_those_of_exp_and_division),
    cmocka_unit_test(other_shapes_give_the_bits_of_ref),
  };
  return cmocka_run_group_tests_name("ops/attention", tests, NULL, NULL);
}
