/* tests/unit/opt_recompute.c: values that a backward pass reads are recomputed where that is cheap
 * and saves memory, with the same bits; anything else is kept. */
#include <stdio.h>

#include "graph_support.h"

static size_t count_op(const tn_graph *graph, tn_op op) {
  size_t count = 0;
  for (size_t v = 1; v < graph->nodes.count; v++) count += graph->nodes.at[v].op == op;
  return count;
}

/* The concat of %4 is where most is alive. %2 is read before and after it. */
static const struct {
  const char *second; /* how %2 is made of %1 */
  const char *rest;
  tn_op op;
  size_t times; /* that operation stands in the graph afterwards */
} cases[] = {
  /* its operand is read last, and so is there */
  { "tanh %1", "%6 = mul %2, %5\n %7 = mul %1, %6\n return %7", TN_OP_TANH, 2 },
  { "erf %1", "%6 = sub %2, %5\n %7 = mul %6, %2\n %8 = mul %1, %7\n return %8", TN_OP_ERF, 2 },
  /* through a view before the peak, and through one after it */
  { "tanh %1", "%6 = mul %9, %5\n %7 = mul %1, %6\n return %7", TN_OP_TANH, 2 },
  { "tanh %1", "%6 = transpose %2\n %7 = mul %6, %5\n %8 = mul %1, %7\n return %8", TN_OP_TANH, 2 },
  /* from an input, which is always there */
  { "tanh %x", "%6 = mul %2, %5\n return %6", TN_OP_TANH, 2 },
  /* layer_norm, which is cheap too */
  { "layer_norm %1, %w, %x {number=1}", "%6 = mul %2, %5\n %7 = mul %1, %6\n return %7",
    TN_OP_LAYER_NORM, 2 },
  /* its operand is not read after the peak: one of the two has to be kept */
  { "tanh %1", "%6 = mul %2, %5\n return %6", TN_OP_TANH, 1 },
  /* its operand would have to be kept for longer */
  { "tanh %1", "%6 = mul %1, %5\n %7 = mul %2, %6\n return %7", TN_OP_TANH, 1 },
  /* a result is there in any case */
  { "tanh %1", "%6 = mul %2, %5\n %7 = mul %1, %6\n return %7, %2", TN_OP_TANH, 1 },
  /* not cheap */
  { "cumsum %1 {axis=0}", "%6 = mul %2, %5\n %7 = mul %1, %6\n return %7", TN_OP_CUMSUM, 1 },
  /* read in a branch */
  { "tanh %1",
    "%6 = lt %5, %5\n %10 = if %6 {\n yield %2\n } else {\n yield %1\n }\n %7 = pick %10 {index=0}\n"
    " return %7",
    TN_OP_TANH, 1 },
};

static void case_text(size_t i, char *text, size_t size) {
  snprintf(text, size,
           "graph(%%x: f32[6, 6], %%w: f32[6, 6]) {\n %%1 = matmul %%x, %%w\n %%2 = %s\n"
           " %%9 = transpose %%2\n %%3 = matmul %%2, %%w\n %%4 = concat %%3, %%3, %%3, %%3 {axis=0}\n"
           " %%5 = sum %%4 {axes=[0, 1]}\n %s\n}\n",
           cases[i].second, cases[i].rest);
}

static void values_that_follow_from_kept_ones_are_recomputed(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    world w;
    tn_graph graph;
    char text[1024];
    uint8_t before[32], after[32];
    world_open(&w);
    case_text(i, text, sizeof text);
    graph_from(&w, text, &graph);
    assert_true(tn_opt_dce(&graph));
    values v = random_values(&w, &graph, 1);
    run_digest(&w, &graph, tn_backend_ref(), 1, &v, before);
    assert_true(tn_opt_recompute(&graph, TN_OPT_ALWAYS));
    assert_valid(&graph);
    if (count_op(&graph, cases[i].op) != cases[i].times) fail_msg("%s", text);
    run_digest(&w, &graph, tn_backend_cpu(NULL), 2, &v, after);
    assert_memory_equal(before, after, sizeof before);
    free_values(&w, &v);
    tn_graph_free(&graph);
    world_close(&w);
  }
}

static void a_small_graph_stays_as_it_is(void **state) {
  (void)state;
  world w;
  tn_graph graph;
  char text[1024];
  world_open(&w);
  case_text(0, text, sizeof text);
  graph_from(&w, text, &graph);
  assert_true(tn_opt_run(&graph, TN_PASS_RECOMPUTE, NULL));
  assert_int_equal(count_op(&graph, TN_OP_TANH), 1);
  tn_graph_free(&graph);
  world_close(&w);
}

/* 80 MB are live at the concat: much for a CPU, and little for a GPU that has a gigabyte to spare. */
static void a_device_with_memory_to_spare_keeps_its_values(void **state) {
  (void)state;
  static const char text[] =
      "graph(%x: f32[4000, 1000]) {\n %1 = cumsum %x {axis=0}\n %2 = tanh %1\n"
      " %3 = cumsum %2 {axis=0}\n %4 = cumsum %3 {axis=0}\n %5 = cumsum %4 {axis=0}\n"
      " %6 = cumsum %5 {axis=0}\n %7 = cumsum %6 {axis=0}\n %8 = cumsum %7 {axis=0}\n"
      " %9 = cumsum %8 {axis=0}\n %10 = cumsum %9 {axis=0}\n %11 = concat %10, %10 {axis=0}\n"
      " %12 = sum %11 {axes=[0, 1]}\n %13 = mul %2, %12\n %14 = mul %1, %13\n return %14\n}\n";
  static const struct {
    uint64_t plenty;
    size_t times;
  } devices[] = { { 0, 2 }, { (uint64_t)1 << 30, 1 }, { (uint64_t)70 << 20, 2 } };
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
    tn_opt_evaluator evaluator = { .plenty = devices[i].plenty };
    world w;
    tn_graph graph;
    world_open(&w);
    graph_from(&w, text, &graph);
    assert_true(tn_opt_run(&graph, TN_PASS_RECOMPUTE, &evaluator));
    assert_int_equal(count_op(&graph, TN_OP_TANH), devices[i].times);
    tn_graph_free(&graph);
    world_close(&w);
  }
}

/* A divisor of 0 ends a run: where it is found does not move. */
static void what_can_fail_is_not_repeated(void **state) {
  (void)state;
  world w;
  tn_graph graph;
  world_open(&w);
  graph_from(&w,
             "graph(%x: i32[6], %y: i32[6]) {\n %1 = div %x, %y\n %2 = cumsum %1 {axis=0}\n"
             " %3 = concat %2, %2, %2 {axis=0}\n %4 = sum %3 {axes=[0]}\n %5 = mul %1, %4\n return %5\n}\n",
             &graph);
  assert_true(tn_opt_recompute(&graph, TN_OPT_ALWAYS));
  assert_int_equal(count_op(&graph, TN_OP_DIV), 1);
  tn_graph_free(&graph);
  world_close(&w);
}

/* Without it a step keeps an operand, the error function and a result of gelu for the backward pass. */
static void a_plan_needs_less_memory(void **state) {
  (void)state;
  static const char text[] =
      "graph(%x: f32[400, 50], %w: f32[50, 900], %v: f32[900, 60]) {\n"
      " %1 = matmul %x, %w\n %2 = gelu %1\n %3 = matmul %2, %v\n %4 = exp %3\n %5 = sum %4 {axes=[0, 1]}\n"
      " %6 = concat %4, %4, %4, %4, %4, %4, %4, %4 {axis=0}\n %7 = cumsum %6 {axis=0}\n"
      " %8 = concat %7, %7, %7, %7, %7, %7, %7, %7 {axis=0}\n"
      " %9 = sum %8 {axes=[0, 1]}\n %10 = sum %7 {axes=[1]}\n"
      " %11 = transpose %2\n %12 = matmul %11, %4\n %13 = mul %1, %9\n %14 = matmul %x, %w\n"
      " %15 = mul %13, %14\n %16 = sum %15 {axes=[0]}\n return %5, %12, %16, %10\n}\n";
  world w;
  tn_graph graph;
  size_t bytes[2];
  uint8_t digest[2][32];
  world_open(&w);
  for (int again = 0; again < 2; again++) {
    graph_from(&w, text, &graph);
    values v = random_values(&w, &graph, 1);
    if (again) assert_true(tn_opt_recompute(&graph, TN_OPT_ALWAYS));
    assert_true(tn_opt_fuse(&graph));
    tn_plan *plan = plan_for(&w, &graph, tn_backend_cpu(NULL), 1, &v);
    bytes[again] = tn_plan_stats_of(plan).block_bytes;
    tn_plan_free(plan);
    run_digest(&w, &graph, tn_backend_cpu(NULL), 2, &v, digest[again]);
    free_values(&w, &v);
    tn_graph_free(&graph);
  }
  assert_true(bytes[1] + 400 * 900 * sizeof(float) <= bytes[0]);
  assert_memory_equal(digest[0], digest[1], 32);
  world_close(&w);
}

static void no_program_gets_other_bits(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 300; seed++) {
    world w;
    tn_graph graph;
    uint8_t wanted[32], got[32];
    world_open(&w);
    random_graph(&w, seed, 40, &graph);
    values v = random_values(&w, &graph, seed + 1);
    run_digest(&w, &graph, tn_backend_ref(), 1, &v, wanted);
    assert_true(tn_opt_recompute(&graph, TN_OPT_ALWAYS));
    assert_valid(&graph);
    if (seed % 2) assert_true(tn_opt_fuse(&graph));
    run_digest(&w, &graph, tn_backend_cpu(NULL), 1 + (int)seed % 3, &v, got);
    if (memcmp(wanted, got, 32) != 0) fail_msg("seed %d", (int)seed);
    free_values(&w, &v);
    tn_graph_free(&graph);
    world_close(&w);
  }
}

static void make_case(world *w, tn_graph *out) {
  char text[1024];
  case_text(1, text, sizeof text);
  graph_from(w, text, out);
}
static bool recompute_always(tn_graph *graph) { return tn_opt_recompute(graph, TN_OPT_ALWAYS); }

static void running_out_of_memory_leaves_a_valid_graph(void **state) {
  (void)state;
  assert_survives_refusals(make_case, recompute_always);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(values_that_follow_from_kept_ones_are_recomputed),
    cmocka_unit_test(a_small_graph_stays_as_it_is),
    cmocka_unit_test(a_device_with_memory_to_spare_keeps_its_values),
    cmocka_unit_test(what_can_fail_is_not_repeated),
    cmocka_unit_test(a_plan_needs_less_memory),
    cmocka_unit_test(no_program_gets_other_bits),
    cmocka_unit_test(running_out_of_memory_leaves_a_valid_graph),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
