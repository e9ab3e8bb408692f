/* Composed operations mean what the table says of them: each is worked out again, written out,
 * with the same scalars in the documented order, and must give the same bits, by ref and by every
 * instruction set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/elementary.h"
#include "base/rng.h"
#include "check.h"
#include "graph/builder.h"
#include "plan/plan.h"

#define ELEMENTS 4096

static tn_heap heap;
static tn_names *names;
static tn_rng rng;
static bool tested[TN_OP_COUNT];

/* ---- one call ---- */
typedef struct {
  tn_view in[4];
  int count;
  tn_attrs attrs;
} call;

static void compare(const tn_graph *graph, const call *c, const tn_backend *backend, const void *expected,
                    const tn_type *type) {
  tn_fault fault = { 0 };
  tn_plan_options options = { .backend = backend, .threads = 2 };
  tn_plan *plan = tn_plan_new(&heap, graph, &options, &fault);
  assert_non_null(plan);
  for (int k = 0; k < c->count; k++) tn_plan_bind_input(plan, k, &c->in[k]);
  assert_true(tn_plan_run(plan, &fault));
  tn_view out = tn_plan_output(plan, 0);
  tn_shape shape = tn_view_shape(&out);
  static double room[ELEMENTS];
  assert_int_equal(out.dtype, type->dtype);
  assert_true(tn_shape_equal(&shape, &type->shape));
  tn_view copy = tn_view_make(room, out.dtype, &shape);
  tn_view_copy(&copy, &out);
  assert_memory_equal(room, expected, (size_t)tn_shape_count(&shape) * tn_dtype_bytes(out.dtype));
  tn_plan_free(plan);
}

/* The result must be of this dtype and shape and have these elements. */
static void expect(tn_op op, const call *c, const void *expected, tn_dtype dtype, tn_shape shape) {
  tn_graph graph;
  tn_graph_builder builder;
  tn_value in[4];
  tn_type type = { dtype, shape };
  back_ends ends = back_ends_of_this_machine();
  assert_true(tn_graph_init(&graph, &heap, names));
  tn_graph_builder_init(&builder, &graph);
  for (int k = 0; k < c->count; k++) {
    tn_type own = { c->in[k].dtype, tn_view_shape(&c->in[k]) };
    in[k] = tn_build_input(&builder.base, 0, &own);
  }
  tn_value y = tn_build(&builder.base, op, in, c->count, &c->attrs);
  assert_int_equal(builder.base.fault.kind, TN_FAULT_NONE);
  assert_true(tn_graph_output(&graph, 0, y));
  compare(&graph, c, tn_backend_ref(), expected, &type);
  for (int b = 0; b < ends.count; b++) compare(&graph, c, ends.backend[b], expected, &type);
  tn_graph_free(&graph);
  tested[op] = true;
}

/* Adds a contiguous operand; f32 ones get random numbers. */
static void *operand_of(call *c, tn_dtype dtype, tn_shape shape) {
  static double memory[4][ELEMENTS];
  void *data = memory[c->count];
  assert_true(tn_shape_count(&shape) <= ELEMENTS);
  for (int64_t i = 0; dtype == TN_F32 && i < tn_shape_count(&shape); i++)
    ((float *)data)[i] = tn_rng_normal(&rng);
  c->in[c->count++] = tn_view_make(data, dtype, &shape);
  return data;
}

#define SHAPE(...) \
  tn_shape_of((int64_t[]){ __VA_ARGS__ }, (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)))

/* The order of sums, for up to 512 elements: one chunk. */
static float sum(const float *x, int64_t n, int64_t step) {
  float lane[16];
  for (int l = 0; l < 16; l++) lane[l] = -0.0f;
  for (int64_t i = 0; i < n; i++) lane[i % 16] += x[i * step];
  for (int k = 8; k > 0; k /= 2)
    for (int l = 0; l < k; l++) lane[l] += lane[l + k];
  return n ? lane[0] : 0.0f;
}

/* ---- elementwise ---- */
static void gelu_is_half_x_times_one_plus_erf(void **state) {
  (void)state;
  call c = { 0 };
  float out[37];
  const float *x = operand_of(&c, TN_F32, SHAPE(37));
  for (int i = 0; i < 37; i++) out[i] = (0.5f * x[i]) * (1.0f + tn_erf_f32(x[i] / 1.4142135623730951f));
  expect(TN_OP_GELU, &c, out, TN_F32, SHAPE(37));
}

static void dropout_takes_one_word_for_each_element(void **state) {
  (void)state;
  call c = { .attrs = { .number = 0.3, .index = 5 } };
  float out[40];
  const float *x = operand_of(&c, TN_F32, SHAPE(5, 8));
  *(int64_t *)operand_of(&c, TN_I64, TN_SCALAR_SHAPE) = 99;
  tn_rng_key key = tn_rng_key_of(99);
  for (int i = 0; i < 40; i++) {
    bool kept = tn_rng_uniform_of(tn_rng_word_at(&key, 5 + (uint64_t)i)) >= 0.3f;
    out[i] = kept ? x[i] * (float)(1 / (1 - 0.3)) : 0.0f;
  }
  expect(TN_OP_DROPOUT, &c, out, TN_F32, SHAPE(5, 8));
}

/* ---- arranging ---- */
static void squeeze_flatten_expand_and_index_keep_the_elements(void **state) {
  (void)state;
  call c = { .attrs = { .axis_count = 1, .axes = { 1 } } };
  const float *x = operand_of(&c, TN_F32, SHAPE(3, 1, 4));
  expect(TN_OP_SQUEEZE, &c, x, TN_F32, SHAPE(3, 4));
  c.attrs = (tn_attrs){ 0 };
  expect(TN_OP_FLATTEN, &c, x, TN_F32, SHAPE(12));
  c.attrs.axis = 2;
  expect(TN_OP_EXPAND_DIMS, &c, x, TN_F32, SHAPE(3, 1, 1, 4));
  c.attrs = (tn_attrs){ .axis = 0, .index = 2 };
  expect(TN_OP_INDEX, &c, x + 8, TN_F32, SHAPE(1, 4));
  c.attrs = (tn_attrs){ .axis = -1, .index = (uint64_t)-1 };
  expect(TN_OP_INDEX, &c, (float[]){ x[3], x[7], x[11] }, TN_F32, SHAPE(3, 1));
}

static void stack_puts_operands_along_a_new_axis(void **state) {
  (void)state;
  call c = { .attrs = { .axis = 1 } };
  const float *x = operand_of(&c, TN_F32, SHAPE(2, 2)), *y = operand_of(&c, TN_F32, SHAPE(2, 2));
  float out[] = { x[0], x[1], y[0], y[1], x[2], x[3], y[2], y[3] };
  expect(TN_OP_STACK, &c, out, TN_F32, SHAPE(2, 2, 2));
}

/* ---- by index ---- */
static void embedding_takes_rows(void **state) {
  (void)state;
  call c = { 0 };
  float out[6];
  int32_t *index = operand_of(&c, TN_I32, SHAPE(3));
  const float *rows = operand_of(&c, TN_F32, SHAPE(4, 2));
  for (int i = 0; i < 3; i++) {
    index[i] = (i * 3 + 1) % 4;
    memcpy(out + 2 * i, rows + 2 * index[i], 2 * sizeof(float));
  }
  expect(TN_OP_EMBEDDING, &c, out, TN_F32, SHAPE(3, 2));
}

static void one_hot_has_a_one_where_the_operand_points(void **state) {
  (void)state;
  call c = { .attrs = { .dtype = TN_F32, .index = 3 } };
  int64_t *x = operand_of(&c, TN_I64, SHAPE(4));
  x[0] = 1, x[1] = 0, x[2] = 2, x[3] = 1;
  expect(TN_OP_ONE_HOT, &c, (float[]){ 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0 }, TN_F32, SHAPE(4, 3));
}

/* ---- sums ---- */
static void mean_pool_time_is_the_mean_over_the_middle_axis(void **state) {
  (void)state;
  call c = { 0 };
  float out[2 * 5];
  const float *x = operand_of(&c, TN_F32, SHAPE(2, 19, 5));
  for (int b = 0; b < 2; b++)
    for (int d = 0; d < 5; d++) out[b * 5 + d] = sum(x + b * 95 + d, 19, 5) / 19.0f;
  expect(TN_OP_MEAN_POOL_TIME, &c, out, TN_F32, SHAPE(2, 5));
}

static void mse_loss_is_the_mean_of_squares(void **state) {
  (void)state;
  call c = { 0 };
  float squares[6 * 30], out;
  const float *x = operand_of(&c, TN_F32, SHAPE(6, 30)), *y = operand_of(&c, TN_F32, SHAPE(30));
  for (int i = 0; i < 180; i++) squares[i] = (x[i] - y[i % 30]) * (x[i] - y[i % 30]);
  out = sum(squares, 180, 1) / 180.0f;
  expect(TN_OP_MSE_LOSS, &c, &out, TN_F32, TN_SCALAR_SHAPE);
}

static void layer_norm_divides_by_the_root_of_the_mean_square(void **state) {
  (void)state;
  enum { ROWS = 3, N = 33 };
  call c = { .attrs = { .number = 1e-5 } };
  float out[ROWS * N], centred[N], square[N];
  const float *x = operand_of(&c, TN_F32, SHAPE(ROWS, N));
  const float *gamma = operand_of(&c, TN_F32, SHAPE(N)), *beta = operand_of(&c, TN_F32, SHAPE(N));
  for (int r = 0; r < ROWS; r++) {
    float mean = sum(x + r * N, N, 1) / (float)N;
    for (int i = 0; i < N; i++) centred[i] = x[r * N + i] - mean, square[i] = centred[i] * centred[i];
    float spread = __builtin_sqrtf(sum(square, N, 1) / (float)N + 1e-5f);
    for (int i = 0; i < N; i++) out[r * N + i] = (centred[i] / spread) * gamma[i] + beta[i];
  }
  expect(TN_OP_LAYER_NORM, &c, out, TN_F32, SHAPE(ROWS, N));
}

/* ---- products ---- */
static void dot_and_linear_are_chains_of_fma(void **state) {
  (void)state;
  call c = { 0 }, l = { 0 };
  float acc = 0, out[3 * 2];
  const float *x = operand_of(&c, TN_F32, SHAPE(50)), *y = operand_of(&c, TN_F32, SHAPE(50));
  for (int k = 0; k < 50; k++) acc = tn_fma_f32(x[k], y[k], acc);
  expect(TN_OP_DOT, &c, &acc, TN_F32, TN_SCALAR_SHAPE);

  const float *a = operand_of(&l, TN_F32, SHAPE(3, 20)), *w = operand_of(&l, TN_F32, SHAPE(20, 2));
  const float *b = operand_of(&l, TN_F32, SHAPE(2));
  for (int i = 0; i < 6; i++) {
    acc = 0;
    for (int k = 0; k < 20; k++) acc = tn_fma_f32(a[i / 2 * 20 + k], w[k * 2 + i % 2], acc);
    out[i] = acc + b[i % 2];
  }
  expect(TN_OP_LINEAR, &l, out, TN_F32, SHAPE(3, 2));
}

/* One output of a convolution of images of 6 by 5 with windows of 3 by 2: window row, window column, channel
 * of the group, with zeros outside the image. */
typedef struct {
  const float *x, *w;
  int channels, outputs, groups;
} convolution;

static float convolve_at(const convolution *c, int image, int h, int v, int o) {
  enum { HEIGHT = 6, WIDTH = 5, ROWS = 3, COLUMNS = 2 };
  int length = c->channels / c->groups, group = o / (c->outputs / c->groups);
  float acc = 0;
  for (int row = 0; row < ROWS; row++)
    for (int column = 0; column < COLUMNS; column++)
      for (int k = 0; k < length; k++) {
        int y = h + row, z = v + column;
        const float *pixel = c->x + ((image * HEIGHT + y) * WIDTH + z) * c->channels + group * length + k;
        const float *weight = c->w + ((row * COLUMNS + column) * length + k) * c->outputs + o;
        acc = tn_fma_f32(y >= HEIGHT || z >= WIDTH ? 0 : *pixel, *weight, acc);
      }
  return acc;
}

static void conv2d_is_a_chain_over_window_row_column_and_channel(void **state) {
  (void)state;
  call c = { .attrs = { .step = { 2, 1 } } };
  float valid[2][2][4][4], same[2][3][5][4];
  convolution of = { .channels = 3, .outputs = 4, .groups = 1 };
  of.x = operand_of(&c, TN_F32, SHAPE(2, 6, 5, 3)), of.w = operand_of(&c, TN_F32, SHAPE(3, 2, 3, 4));
  for (int n = 0; n < 2; n++)
    for (int i = 0; i < 2 * 4 * 4; i++)
      valid[n][i / 16][i / 4 % 4][i % 4] = convolve_at(&of, n, i / 16 * 2, i / 4 % 4, i % 4);
  expect(TN_OP_CONV2D, &c, valid, TN_F32, SHAPE(2, 2, 4, 4));

  /* ceil(6 / 2) rows need (3 - 1) * 2 + 3 - 6 = 1 of padding, 5 columns 1: both after. */
  c.attrs.same = true;
  for (int n = 0; n < 2; n++)
    for (int i = 0; i < 3 * 5 * 4; i++)
      same[n][i / 20][i / 4 % 5][i % 4] = convolve_at(&of, n, i / 20 * 2, i / 4 % 5, i % 4);
  expect(TN_OP_CONV2D, &c, same, TN_F32, SHAPE(2, 3, 5, 4));
}

/* Of so many channels to so many, with stride 2 down and padding "same". */
static void check_groups(int channels, int outputs, int groups) {
  call c = { .attrs = { .step = { 2, 1 }, .same = true, .index = (uint64_t)groups } };
  convolution of = { .channels = channels, .outputs = outputs, .groups = groups };
  float expected[2 * 3 * 5 * 12];
  of.x = operand_of(&c, TN_F32, SHAPE(2, 6, 5, channels));
  of.w = operand_of(&c, TN_F32, SHAPE(3, 2, channels / groups, outputs));
  for (int i = 0; i < 2 * 3 * 5 * outputs; i++) {
    int place = i / outputs;
    expected[i] = convolve_at(&of, place / 15, place / 5 % 3 * 2, place % 5, i % outputs);
  }
  expect(TN_OP_CONV2D, &c, expected, TN_F32, SHAPE(2, 3, 5, outputs));
}

static void a_group_of_conv2d_reads_its_own_channels(void **state) {
  (void)state;
  check_groups(6, 4, 1);
  check_groups(6, 4, 2);
  check_groups(6, 12, 3);
  check_groups(6, 6, 6);  /* depth-wise */
  check_groups(4, 12, 4); /* with three results for each channel */
}

/* ---- all of them ---- */
static void every_composed_operation_was_computed(void **state) {
  (void)state;
  for (tn_op op = 1; op < TN_OP_COUNT; op++)
    if (tn_op_sig_of(op)->kind == TN_KIND_COMPOSED && !tested[op])
      fail_msg("%s is composed, and has no test here", tn_op_sig_of(op)->name);
}

static int set_up(void **state) {
  (void)state;
  tn_rng_init(&rng, 11);
  names = tn_names_new(&heap);
  return names ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  tn_names_free(names);
  return heap.used == 0 ? 0 : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(gelu_is_half_x_times_one_plus_erf),
    cmocka_unit_test(dropout_takes_one_word_for_each_element),
    cmocka_unit_test(squeeze_flatten_expand_and_index_keep_the_elements),
    cmocka_unit_test(stack_puts_operands_along_a_new_axis),
    cmocka_unit_test(embedding_takes_rows),
    cmocka_unit_test(one_hot_has_a_one_where_the_operand_points),
    cmocka_unit_test(mean_pool_time_is_the_mean_over_the_middle_axis),
    cmocka_unit_test(mse_loss_is_the_mean_of_squares),
    cmocka_unit_test(layer_norm_divides_by_the_root_of_the_mean_square),
    cmocka_unit_test(dot_and_linear_are_chains_of_fma),
    cmocka_unit_test(conv2d_is_a_chain_over_window_row_column_and_channel),
    cmocka_unit_test(a_group_of_conv2d_reads_its_own_channels),
    cmocka_unit_test(every_composed_operation_was_computed),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
