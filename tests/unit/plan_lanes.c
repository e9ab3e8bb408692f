/* tests/unit/plan_lanes.c: threads that take bands of their own give the bits of one thread, the fault that
 * comes first, and stop when they are asked. */
#include <stdio.h>

#include "graph_support.h"

static const char norm_text[] =
    "graph(%x: f32[48, 100], %g: f32[100], %h: f32[48, 1]) {\n"
    "  %1 = mean %x {axes=[1], keepdims=true}\n  %2 = sub %x, %1\n  %3 = mul %2, %2\n"
    "  %4 = mean %3 {axes=[1], keepdims=true}\n  %5 = sqrt %4\n  %6 = div %2, %5\n  %7 = mul %6, %g\n"
    "  %8 = add %7, %h\n  %9 = softmax %8 {axis=1}\n  %10 = sum %9 {axes=[0]}\n  return %8, %10\n}\n";
/* Products whose scratch is each thread's own, and a view that is not in the order of memory. */
static const char heads_text[] =
    "graph(%x: f32[12, 20, 3, 16], %k: f32[12, 3, 16, 20]) {\n"
    "  %1 = transpose %x {axes=[0, 2, 1, 3]}\n  %2 = matmul %1, %k\n  %3 = exp %2\n"
    "  %4 = softmax %3 {axis=3}\n  %5 = matmul %4, %1\n  return %5\n}\n";

static tn_plan *plan_of(world *w, const tn_graph *graph, const values *v, const tn_backend *backend,
                        int threads, size_t band_bytes) {
  tn_fault fault;
  tn_plan_options options = { .backend = backend, .threads = threads, .band_bytes = band_bytes };
  tn_plan *plan = tn_plan_new(&w->heap, graph, &options, &fault);
  assert_non_null(plan);
  for (size_t k = 0; k < v->input_count; k++) tn_plan_bind_input(plan, (int)k, &v->inputs[k].view);
  return plan;
}

static bool has_lanes(world *w, const tn_plan *plan) {
  tn_text print;
  tn_text_init(&print, &w->heap);
  tn_plan_print(plan, &print);
  bool found = strstr(print.at, ", each on one thread") != NULL;
  tn_text_free(&print);
  return found;
}

static void digest_outputs(tn_plan *plan, size_t count, uint8_t digest[2][32]) {
  tn_fault fault;
  assert_true(tn_plan_run(plan, &fault));
  for (size_t k = 0; k < count; k++) {
    tn_view out = tn_plan_output(plan, (int)k);
    tn_view_sha256(&out, digest[k]);
  }
}

static void check_bits(const char *text, const tn_backend *backend) {
  static const int threads[] = { 2, 3, 4, 12 };
  static const size_t sizes[] = { 1, 9000, 40000 };
  world w;
  tn_graph graph;
  uint8_t expected[2][32] = { { 0 } }, digest[2][32] = { { 0 } };
  world_open(&w);
  tn_pool_assume_wake(w.heap.pool, 0); /* helpers come, however little there is to do */
  graph_from(&w, text, &graph);
  values v = random_values(&w, &graph, 1);
  tn_plan *alone = plan_of(&w, &graph, &v, tn_backend_ref(), 1, SIZE_MAX);
  digest_outputs(alone, graph.outputs.count, expected);
  assert_false(has_lanes(&w, alone));
  tn_plan_free(alone);
  for (size_t i = 0; i < 4 * 3; i++) {
    tn_plan *plan = plan_of(&w, &graph, &v, backend, threads[i % 4], sizes[i / 4]);
    assert_true(has_lanes(&w, plan));
    uint64_t before = w.heap.requests;
    for (int again = 0; again < 5; again++) {
      digest_outputs(plan, graph.outputs.count, digest);
      assert_memory_equal(expected, digest, sizeof expected);
    }
    assert_int_equal(w.heap.requests, before);
    tn_plan_free(plan);
  }
  free_values(&w, &v);
  tn_graph_free(&graph);
  world_close(&w);
}

static void lanes_give_the_bits_of_one_thread(void **state) {
  (void)state;
  check_bits(norm_text, tn_backend_ref());
  check_bits(norm_text, tn_backend_cpu(NULL));
  check_bits(heads_text, tn_backend_ref());
  check_bits(heads_text, tn_backend_cpu(NULL));
  check_bits(heads_text, tn_backend_cpu("portable"));
}

/* Short steps are not worth meeting after each; long ones are, where rows do not come out even. */
static void threads_share_steps_that_are_worth_meeting_for(void **state) {
  (void)state;
  static const struct {
    int rows, columns, threads;
    bool lanes;
  } cases[] = { { 64, 30, 1, false },    { 3, 30, 4, true },       { 8, 300000, 8, true },
                { 3, 800000, 4, false }, { 9, 300000, 8, false }, { 27, 100000, 7, true } };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[256];
    snprintf(text, sizeof text,
             "graph(%%x: f32[%d, %d]) {\n  %%1 = softmax %%x {axis=1}\n  %%2 = exp %%1\n"
             "  %%3 = softmax %%2 {axis=1}\n  return %%3\n}\n",
             cases[i].rows, cases[i].columns);
    world w;
    tn_graph graph;
    world_open(&w);
    graph_from(&w, text, &graph);
    tn_plan *plan = plan_of(&w, &graph, &(values){ 0 }, tn_backend_cpu(NULL), cases[i].threads, 1);
    if (has_lanes(&w, plan) != cases[i].lanes)
      fail_msg("%d rows of %d, %d threads", cases[i].rows, cases[i].columns, cases[i].threads);
    tn_plan_free(plan);
    tn_graph_free(&graph);
    world_close(&w);
  }
}

/* The gradient of a norm: a step on a number per row takes one thread, and nobody waits. Four threads with a
 * row each would leave twelve without work. */
static void steps_too_short_to_share_cost_no_meeting(void **state) {
  (void)state;
  static const int threads[] = { 4, 16 };
  for (int i = 0; i < 2; i++) {
    world w;
    tn_graph graph;
    world_open(&w);
    graph_from(&w,
               "graph(%x: f32[4, 98304], %y: f32[4, 98304]) {\n  %1 = mul %x, %y\n"
               "  %2 = sum %1 {axes=[1], keepdims=true}\n  %3 = sqrt %2\n  %4 = exp %3\n  %5 = div %1, %4\n"
               "  %6 = sum %5 {axes=[1], keepdims=true}\n  %7 = sqrt %6\n  %8 = div %5, %7\n  return %8\n}\n",
               &graph);
    tn_plan *plan = plan_of(&w, &graph, &(values){ 0 }, tn_backend_cpu(NULL), threads[i], 0);
    assert_int_equal(has_lanes(&w, plan), threads[i] == 4);
    tn_plan_free(plan);
    tn_graph_free(&graph);
    world_close(&w);
  }
}

/* More bands would only let threads meet more often. */
static void steps_that_fit_the_caches_of_all_threads_are_not_cut(void **state) {
  (void)state;
  static const int threads[] = { 2, 16 };
  for (int i = 0; i < 2; i++) {
    world w;
    tn_graph graph;
    tn_text print;
    world_open(&w);
    tn_text_init(&print, &w.heap);
    graph_from(&w,
               "graph(%x: f32[8, 40000]) {\n  %1 = softmax %x {axis=1}\n  %2 = exp %1\n"
               "  %3 = softmax %2 {axis=1}\n  return %3\n}\n",
               &graph);
    tn_plan *plan = plan_of(&w, &graph, &(values){ 0 }, tn_backend_cpu(NULL), threads[i], 0);
    tn_plan_print(plan, &print);
    assert_int_equal(strstr(print.at, "in bands") != NULL, threads[i] == 2);
    tn_text_free(&print);
    tn_plan_free(plan);
    tn_graph_free(&graph);
    world_close(&w);
  }
}

/* Rows 9 and 40 are out of range. The first is reported, even if a thread meets the second one before. */
static void the_first_band_that_fails_is_reported(void **state) {
  (void)state;
  world w;
  tn_graph graph;
  world_open(&w);
  tn_pool_assume_wake(w.heap.pool, 0);
  graph_from(&w,
             "graph(%t: f32[5, 8], %i: i32[48]) {\n  %1 = gather %t, %i {axis=0}\n  %2 = exp %1\n"
             "  %3 = softmax %2 {axis=1}\n  return %3\n}\n",
             &graph);
  values v = random_values(&w, &graph, 1);
  int32_t *index = v.inputs[1].view.data;
  for (int i = 0; i < 48; i++) index[i] = i % 5;
  tn_plan *plan = plan_of(&w, &graph, &v, tn_backend_cpu(NULL), 4, 1);
  assert_true(has_lanes(&w, plan));
  tn_fault fault;
  assert_true(tn_plan_run(plan, &fault));
  index[9] = 77;
  index[40] = -3;
  for (int again = 0; again < 50; again++) {
    assert_false(tn_plan_run(plan, &fault));
    assert_int_equal(fault.kind, TN_FAULT_BOUNDS);
    assert_int_equal(fault.op, TN_OP_GATHER);
    assert_int_equal(fault.got, 77);
  }
  index[9] = index[40] = 0;
  assert_true(tn_plan_run(plan, &fault)); /* nothing is left of it */
  tn_plan_free(plan);
  free_values(&w, &v);
  tn_graph_free(&graph);
  world_close(&w);
}

/* At every question that is asked, by whichever thread. */
static void lanes_end_when_a_stop_is_requested(void **state) {
  (void)state;
  world w;
  tn_graph graph;
  tn_fault fault;
  uint8_t expected[2][32] = { { 0 } }, digest[2][32] = { { 0 } };
  world_open(&w);
  tn_pool_assume_wake(w.heap.pool, 0);
  graph_from(&w, norm_text, &graph);
  values v = random_values(&w, &graph, 1);
  tn_plan *plan = plan_of(&w, &graph, &v, tn_backend_cpu(NULL), 4, 1);
  digest_outputs(plan, 2, expected);
  int stopped = 0;
  for (unsigned n = 1;; n += 1 + n / 16) {
    tn_stop stop = { .stop_at = n };
    w.heap.stop = &stop;
    if (tn_plan_run(plan, &fault)) break;
    assert_int_equal(fault.kind, TN_FAULT_INTERRUPTED);
    stopped++;
  }
  assert_true(stopped > 10);
  w.heap.stop = NULL;
  digest_outputs(plan, 2, digest);
  assert_memory_equal(expected, digest, sizeof expected);
  tn_plan_free(plan);
  free_values(&w, &v);
  tn_graph_free(&graph);
  world_close(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(lanes_give_the_bits_of_one_thread),
    cmocka_unit_test(threads_share_steps_that_are_worth_meeting_for),
    cmocka_unit_test(steps_too_short_to_share_cost_no_meeting),
    cmocka_unit_test(steps_that_fit_the_caches_of_all_threads_are_not_cut),
    cmocka_unit_test(the_first_band_that_fails_is_reported),
    cmocka_unit_test(lanes_end_when_a_stop_is_requested),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
