/* Steps that a GPU computes as one: the pairs that fit, those that look alike and do not, and the bits of
 * both. The host emulates the GPU. */
#include "unit/graph_support.h"

#include <math.h>
#include <stdio.h>

#include "backend/cuda/internal.h"
#include "gpu/emulator.h"
#include "ops/in_place.h"

static int merges;

static bool run_as_one(const tn_kernel_call *call, tn_fusion fusion) {
  emulated_card card;
  tn_kernel_call queued = *call;
  emulated_card_init(&card);
  queued.queue = &card.queue;
  merges++;
  return tn_backend_cuda()->fusions[fusion](&queued) && tn_card_fault_of(&card.fault, call->fault);
}

static bool relu_slope(const tn_kernel_call *call) { return run_as_one(call, TN_FUSION_RELU_SLOPE); }

static bool xent_slope(const tn_kernel_call *call) { return run_as_one(call, TN_FUSION_XENT_SLOPE); }

/* Of the fusions of GPUs it has those that are tested here. */
static tn_backend backend(tn_kernel fusions[TN_FUSION_COUNT]) {
  tn_backend card = *emulated_backend();
  fusions[TN_FUSION_RELU_SLOPE] = relu_slope;
  fusions[TN_FUSION_XENT_SLOPE] = xent_slope;
  card.fusions = fusions;
  return card;
}

/* Numbers that arithmetic treats specially; integers are places in a row. */
static void put_special(const values *v) {
  static const double special[] = { 0, -0.0, INFINITY, -INFINITY, NAN, 1e-45 };
  for (int64_t i = 0; i < (int64_t)v->input_count; i++) {
    const tn_view *view = &v->inputs[i].view;
    for (int64_t k = 0; k < tn_view_count(view); k++) {
      if (view->dtype == TN_I32) tn_view_set_f64(view, k, (double)((k + i) % 7));
      if (view->dtype == TN_F32 && (k + i) % 5 == 0) tn_view_set_f64(view, k, special[(k / 5 + 3 * i) % 6]);
    }
  }
}

/* Also the bits of NaN, which a fingerprint does not tell apart. */
static void compare_outputs(const tn_graph *graph, const tn_plan *expected, const tn_plan *got) {
  for (int i = 0; i < (int)graph->outputs.count; i++) {
    tn_view x = tn_plan_output(expected, i), y = tn_plan_output(got, i);
    assert_true(tn_view_is_contiguous(&x) && tn_view_is_contiguous(&y));
    assert_memory_equal(x.data, y.data, (size_t)tn_view_count(&x) * tn_dtype_bytes(x.dtype));
  }
}

/* How often steps are merged in a run of the graph, or of its gradient, which has the bits of ref. */
static int merges_in(const char *text, bool gradient) {
  world w;
  tn_graph graph;
  tn_fault fault;
  tn_kernel fusions[TN_FUSION_COUNT] = { 0 };
  tn_backend card = backend(fusions);
  world_open(&w);
  graph_from(&w, text, &graph);
  if (gradient) become_gradient(&graph);
  assert_true(tn_opt_run(&graph, TN_PASS_ALL, &ref_evaluator));
  values v = random_values(&w, &graph, 5);
  put_special(&v);
  tn_plan *expected = plan_for(&w, &graph, tn_backend_ref(), 1, &v);
  tn_plan *got = plan_for(&w, &graph, &card, 1, &v);
  merges = 0;
  assert_true(tn_plan_run(expected, &fault) && tn_plan_run(got, &fault));
  compare_outputs(&graph, expected, got);
  tn_plan_free(expected), tn_plan_free(got);
  free_values(&w, &v);
  tn_graph_free(&graph);
  world_close(&w);
  return merges;
}

static int merges_of(const char *text) { return merges_in(text, false); }

/* ---- relu's slope ---- */
#define ZERO "  %0 = fill {dtype=f32, shape=[], number=0}\n"
#define OPERANDS "graph(%x: f32[6, 5], %w: f32[5, 7], %y: f32[6, 7]) {\n" ZERO
#define BATCHES "graph(%x: f32[3, 6, 5], %w: f32[5, 7], %y: f32[3, 6, 7], %z: f32[6, 3, 7]) {\n" ZERO

static void a_product_that_relu_lets_through_is_one_kernel(void **state) {
  (void)state;
  assert_int_equal(merges_of(OPERANDS "  %1 = matmul %x, %w\n  %2 = gt %y, %0\n  %3 = select %2, %1, %0\n"
                                      "  return %3\n}\n"), 1);
  assert_int_equal(merges_of("graph(%x: f32[6, 5], %w: f32[5, 7], %y: f32[7, 6]) {\n" ZERO
                             "  %1 = transpose %y {axes=[1, 0]}\n  %2 = matmul %x, %w\n  %3 = gt %1, %0\n"
                             "  %4 = select %3, %2, %0\n  return %4\n}\n"), 1);
  assert_int_equal(merges_of(BATCHES "  %1 = matmul %x, %w\n  %2 = gt %y, %0\n  %3 = select %2, %1, %0\n"
                                     "  return %3\n}\n"), 1);
}

/* What stands between them in the order of the graph waits. */
static void the_slope_follows_its_product(void **state) {
  (void)state;
  assert_int_equal(merges_of(OPERANDS "  %1 = matmul %x, %w\n  %2 = exp %w\n  %3 = sum %2 {axes=[0]}\n"
                                      "  %4 = gt %y, %0\n  %5 = select %4, %1, %0\n  return %3, %5\n}\n"), 1);
  assert_int_equal(merges_of(OPERANDS "  %1 = matmul %x, %w\n  %2 = softmax %y {axis=1}\n  %3 = gt %2, %0\n"
                                      "  %4 = select %3, %1, %0\n  return %4\n}\n"), 0);
}

static void what_only_looks_like_it_is_not_merged(void **state) {
  (void)state;
  static const char *const ends[] = {
    "  %9 = fill {dtype=f32, shape=[], number=1}\n  %2 = gt %y, %9\n  %3 = select %2, %1, %0\n",
    "  %9 = fill {dtype=f32, shape=[], number=1}\n  %2 = gt %y, %0\n  %3 = select %2, %1, %9\n",
    "  %9 = fill {dtype=f32, shape=[], number=-0.0}\n  %2 = gt %y, %0\n  %3 = select %2, %1, %9\n",
    "  %2 = gt %y, %0\n  %3 = select %2, %0, %1\n",
    "  %2 = lt %y, %0\n  %3 = select %2, %1, %0\n",
    "  %2 = gt %1, %0\n  %3 = select %2, %1, %0\n",
    "  %2 = gt %1, %0\n  %3 = select %2, %y, %0\n",
    "  %2 = gt %y, %1\n  %3 = select %2, %1, %0\n",
    "  %9 = sum %1 {axes=[0]}\n  %2 = gt %y, %0\n  %8 = select %2, %1, %0\n  %3 = add %8, %9\n",
  };
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    char text[512];
    snprintf(text, sizeof text, "%s  %%1 = matmul %%x, %%w\n%s  return %%3\n}\n", OPERANDS, ends[i]);
    if (merges_of(text) != 0) fail_msg("%s", text);
  }
  assert_int_equal(merges_of("graph(%x: f32[6, 5], %w: f32[5, 7], %y: bool[6, 7]) {\n" ZERO
                             "  %1 = matmul %x, %w\n  %2 = select %y, %1, %0\n  return %2\n}\n"), 0);
  /* Rows that relu's result has once, or the product; matrices that follow each other otherwise. */
  assert_int_equal(merges_of("graph(%x: f32[6, 5], %w: f32[5, 7], %y: f32[1, 7]) {\n" ZERO
                             "  %1 = matmul %x, %w\n  %2 = gt %y, %0\n  %3 = select %2, %1, %0\n"
                             "  return %3\n}\n"), 0);
  assert_int_equal(merges_of("graph(%x: f32[1, 5], %w: f32[5, 7], %y: f32[6, 7]) {\n" ZERO
                             "  %1 = matmul %x, %w\n  %2 = gt %y, %0\n  %3 = select %2, %1, %0\n"
                             "  return %3\n}\n"), 0);
  assert_int_equal(merges_of(BATCHES "  %1 = transpose %z {axes=[1, 0, 2]}\n  %2 = matmul %x, %w\n"
                                     "  %3 = gt %1, %0\n  %4 = select %3, %2, %0\n  return %4\n}\n"), 0);
}

/* ---- the slope of cross entropy ---- */
static int merges_of_loss(const char *rows, int classes, bool weighed) {
  char text[256];
  snprintf(text, sizeof text,
           "graph(%%l: i32[%s], %%s: f32[], param %%x: f32[%s, %d]) {\n  %%1 = cross_entropy %%x, %%l\n"
           "  %%2 = mul %%1, %%s\n  return %s\n}\n",
           rows, rows, classes, weighed ? "%2" : "%1");
  return merges_in(text, true);
}

/* One row in a chunk, in several, in as many as registers hold, and more; labels are below 8. */
static void the_gradient_of_cross_entropy_is_one_kernel(void **state) {
  (void)state;
  static const int classes[] = { 8, 10, 64, 513, 1000, 8192 };
  for (int c = 0; c < 6; c++) {
    assert_int_equal(merges_of_loss("33", classes[c], false), 1);
    assert_int_equal(merges_of_loss("4, 5", classes[c], false), 1);
    assert_int_equal(merges_of_loss("33", classes[c], true), 1);
  }
  assert_int_equal(merges_of_loss("3", 8193, false), 0);
}

#define ROWS "graph(%x: f32[6, 9], %l: i32[6, 1], %c: i32[9], %s: f32[], %v: f32[6, 9], %w: i32[6, 9]) {\n"
#define SOFTMAX "  %1 = softmax %x {axis=1}\n"
#define HIT "  %2 = eq %l, %c\n  %3 = cast %2 {dtype=f32}\n"
#define LESS "  %4 = sub %1, %3\n"

static void softmax_less_a_hit_is_one_kernel(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int merges;
  } cases[] = {
    { ROWS SOFTMAX HIT LESS "  %5 = mul %4, %s\n  return %5\n}\n", 1 },
    { ROWS SOFTMAX HIT LESS "  %5 = mul %s, %4\n  return %5\n}\n", 1 },
    { ROWS SOFTMAX "  %2 = eq %c, %w\n  %3 = cast %2 {dtype=f32}\n" LESS
           "  %5 = mul %4, %s\n  return %5\n}\n", 1 },
    /* The factor is minus infinity, and some of the softmax 0. */
    { "graph(%x: f32[12, 4], %l: i32[12, 1], %c: i32[4], %v: f32[1], %w: f32[1], %s: f32[]) {\n"
      SOFTMAX HIT LESS "  %5 = mul %4, %s\n  return %5\n}\n", 1 },
    { ROWS SOFTMAX HIT LESS "  %5 = mul %4, %v\n  return %5\n}\n", 0 },
    { ROWS SOFTMAX HIT "  %4 = sub %3, %1\n  %5 = mul %4, %s\n  return %5\n}\n", 0 },
    { ROWS SOFTMAX HIT "  %4 = add %1, %3\n  %5 = mul %4, %s\n  return %5\n}\n", 0 },
    { ROWS SOFTMAX HIT "  %4 = add %1, %3\n  %5 = mul %s, %4\n  return %5\n}\n", 0 },
    { ROWS SOFTMAX HIT LESS "  %5 = div %4, %s\n  return %5\n}\n", 0 },
    { ROWS SOFTMAX HIT LESS "  %5 = mul %4, %s\n  return %5, %1\n}\n", 0 },
    { ROWS SOFTMAX HIT "  %4 = sub %v, %3\n  %5 = mul %4, %s\n  %6 = add %5, %1\n  return %6\n}\n", 0 },
    { ROWS SOFTMAX "  %2 = eq %v, %s\n  %3 = cast %2 {dtype=f32}\n" LESS
           "  %5 = mul %4, %s\n  return %5\n}\n", 0 },
    { ROWS SOFTMAX "  %2 = lt %l, %c\n  %3 = cast %2 {dtype=f32}\n" LESS
           "  %5 = mul %4, %s\n  return %5\n}\n", 0 },
    { ROWS "  %1 = softmax %x {axis=0}\n" HIT LESS "  %5 = mul %4, %s\n  return %5\n}\n", 0 },
    { "graph(%y: f32[9, 6], %l: i32[6, 1], %c: i32[9], %s: f32[]) {\n  %x = transpose %y {axes=[1, 0]}\n"
      SOFTMAX HIT LESS "  %5 = mul %4, %s\n  return %5\n}\n", 0 },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (merges_of(cases[i].text) != cases[i].merges) fail_msg("%s", cases[i].text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_product_that_relu_lets_through_is_one_kernel),
    cmocka_unit_test(the_slope_follows_its_product),
    cmocka_unit_test(what_only_looks_like_it_is_not_merged),
    cmocka_unit_test(the_gradient_of_cross_entropy_is_one_kernel),
    cmocka_unit_test(softmax_less_a_hit_is_one_kernel),
  };
  return cmocka_run_group_tests_name("ops/merged", tests, NULL, NULL);
}
