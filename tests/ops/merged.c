/* Steps that a GPU computes as one: the pairs that fit, those that look alike and do not, and the bits of
 * both. The host emulates the GPU. */
#include "unit/graph_support.h"

#include <math.h>
#include <stdio.h>

#include "backend/cuda/internal.h"
#include "gpu/emulator.h"

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

/* Of the fusions of GPUs it has those that are tested here. */
static tn_backend backend(tn_kernel fusions[TN_FUSION_COUNT]) {
  tn_backend card = *emulated_backend();
  fusions[TN_FUSION_RELU_SLOPE] = relu_slope;
  card.fusions = fusions;
  return card;
}

static void put_special(const values *v) {
  static const double special[] = { 0, -0.0, INFINITY, -INFINITY, NAN, 1e-45 };
  for (size_t i = 0; i < v->input_count; i++) {
    const tn_view *view = &v->inputs[i].view;
    for (int64_t k = 0; view->dtype == TN_F32 && k < tn_view_count(view); k++)
      if ((k + (int64_t)i) % 5 == 0) tn_view_set_f64(view, k, special[k / 5 % 6]);
  }
}

/* How often steps are merged in a run of the graph, which has the bits of ref. */
static int merges_of(const char *text) {
  world w;
  tn_graph graph;
  uint8_t expected[32], got[32];
  tn_kernel fusions[TN_FUSION_COUNT] = { 0 };
  tn_backend card = backend(fusions);
  world_open(&w);
  graph_from(&w, text, &graph);
  assert_true(tn_opt_run(&graph, TN_PASS_ALL, &ref_evaluator));
  values v = random_values(&w, &graph, 5);
  put_special(&v);
  run_digest(&w, &graph, tn_backend_ref(), 1, &v, expected);
  merges = 0;
  run_digest(&w, &graph, &card, 1, &v, got);
  assert_memory_equal(expected, got, sizeof got);
  free_values(&w, &v);
  tn_graph_free(&graph);
  world_close(&w);
  return merges / 2;   /* it was run twice */
}

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

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_product_that_relu_lets_through_is_one_kernel),
    cmocka_unit_test(the_slope_follows_its_product),
    cmocka_unit_test(what_only_looks_like_it_is_not_merged),
  };
  return cmocka_run_group_tests_name("ops/merged", tests, NULL, NULL);
}
