/* tests/unit/opt.c: passes make graphs smaller and never change a bit. */
#include <stdio.h>

#include "graph_support.h"

static void parse_optimise(world *w, const char *text, tn_pass_set passes, tn_graph *graph) {
  graph_from(w, text, graph);
  assert_true(tn_opt_run(graph, passes, &ref_evaluator));
  assert_valid(graph);
}

static void assert_becomes(const char *before, tn_pass_set passes, const char *after) {
  world w;
  tn_graph graph;
  tn_text text;
  world_open(&w);
  parse_optimise(&w, before, passes, &graph);
  tn_text_init(&text, &w.heap);
  tn_graph_print(&graph, &text);
  assert_string_equal(text.at, after);
  tn_text_free(&text);
  tn_graph_free(&graph);
  world_close(&w);
}

static void what_no_output_needs_is_dropped(void **state) {
  (void)state;
  assert_becomes("graph(%x: f32[2], %y: f32[2]) {\n  %1 = exp %x\n  %2 = neg %x\n  return %2\n}\n",
                 TN_PASS_DCE, "graph(%x: f32[2], %y: f32[2]) {\n  %1 = neg %x : f32[2]\n  return %1\n}\n");
}

static void equal_operations_are_merged(void **state) {
  (void)state;
  assert_becomes("graph(%x: f32[2]) {\n  %1 = exp %x\n  %2 = exp %x\n  %3 = add %1, %2\n  return %3\n}\n",
                 TN_PASS_CSE,
                 "graph(%x: f32[2]) {\n  %1 = exp %x : f32[2]\n  %2 = add %1, %1 : f32[2]\n  return %2\n}\n");
}

static void operations_that_ask_the_host_are_not_merged(void **state) {
  (void)state;
  assert_becomes(
      "graph() {\n  %1 = host {dtype=f32, shape=[], name=\"now\"}\n  %2 = host {dtype=f32, shape=[], "
      "name=\"now\"}\n"
      "  %3 = sub %2, %1\n  return %3\n}\n",
      TN_PASS_CSE,
      "graph() {\n  %1 = host {name=\"now\", dtype=f32, shape=[]} : f32[]\n"
      "  %2 = host {name=\"now\", dtype=f32, shape=[]} : f32[]\n  %3 = sub %2, %1 : f32[]\n  return %3\n}\n");
}

static void adding_plus_zero_stays_because_minus_zero_would_change(void **state) {
  (void)state;
  assert_becomes("graph(%x: f32[2]) {\n  %1 = fill {dtype=f32, shape=[2], number=0}\n  %2 = add %x, %1\n  "
                 "return %2\n}\n",
                 TN_PASS_FOLD,
                 "graph(%x: f32[2]) {\n  %1 = fill {dtype=f32, shape=[2], number=0} : f32[2]\n  %2 = add %x, "
                 "%1 : f32[2]\n"
                 "  return %2\n}\n");
}

static void exact_identities_disappear(void **state) {
  (void)state;
  assert_becomes("graph(%x: f32[2]) {\n  %1 = fill {dtype=f32, shape=[], number=1}\n  %2 = mul %x, %1\n"
                 "  %3 = fill {dtype=f32, shape=[], number=0}\n  %4 = sub %2, %3\n  %5 = neg %4\n  %6 = neg "
                 "%5\n  return %6\n}\n",
                 (tn_pass_set)(TN_PASS_FOLD | TN_PASS_DCE), "graph(%x: f32[2]) {\n  return %x\n}\n");
}

static void a_decided_branch_takes_the_place_of_its_if(void **state) {
  (void)state;
  assert_becomes(
      "graph(%x: f32[2]) {\n  %1 = fill {dtype=bool, shape=[], number=1}\n"
      "  %2 = if %1 {\n    %3 = exp %x\n    yield %3\n  } else {\n    %4 = log %x\n    yield %4\n  }\n"
      "  %5 = pick %2 {index=0, dtype=f32, shape=[2]}\n  return %5\n}\n",
      (tn_pass_set)(TN_PASS_FOLD | TN_PASS_DCE),
      "graph(%x: f32[2]) {\n  %1 = exp %x : f32[2]\n  return %1\n}\n");
}

static void integer_division_by_zero_is_never_folded(void **state) {
  (void)state;
  assert_becomes(
      "graph() {\n  %1 = fill {dtype=i32, shape=[], number=7}\n  %2 = fill {dtype=i32, shape=[], number=0}\n"
      "  %3 = div %1, %2\n  return %3\n}\n",
      TN_PASS_FOLD,
      "graph() {\n  %1 = fill {dtype=i32, shape=[], number=7} : i32[]\n  %2 = fill {dtype=i32, shape=[], "
      "number=0} : i32[]\n"
      "  %3 = div %1, %2 : i32[]\n  return %3\n}\n");
}

static size_t count_op(const tn_graph *graph, tn_op op) {
  size_t count = 0;
  for (size_t v = 1; v < graph->nodes.count; v++) count += graph->nodes.at[v].op == op;
  return count;
}

static void a_chain_of_elementwise_operations_becomes_one(void **state) {
  (void)state;
  world w;
  tn_graph graph;
  world_open(&w);
  parse_optimise(
      &w,
      "graph(%a: f32[64, 8], %b: f32[64, 8], %c: f32[8]) {\n  %1 = mul %a, %b\n  %2 = add %1, %c\n"
      "  %3 = relu %2\n  %4 = fill {dtype=f32, shape=[], number=2}\n  %5 = mul %3, %4\n  return %5\n}\n",
      TN_PASS_ALL, &graph);
  assert_int_equal(count_op(&graph, TN_OP_FUSED), 1);
  assert_int_equal(graph.nodes.count, 1 + 3 + 1); /* the error node, three inputs, one operation */
  tn_graph_free(&graph);
  world_close(&w);
}

static void a_value_that_is_used_elsewhere_is_not_swallowed(void **state) {
  (void)state;
  world w;
  tn_graph graph;
  world_open(&w);
  parse_optimise(&w, "graph(%a: f32[8]) {\n  %1 = exp %a\n  %2 = neg %1\n  return %1, %2\n}\n", TN_PASS_ALL,
                 &graph);
  assert_int_equal(count_op(&graph, TN_OP_FUSED), 0);
  tn_graph_free(&graph);
  world_close(&w);
}

/* Two groups read %3, as a forward and a backward pass do. Each makes it again where it is cheap and nobody
 * else reads it; else it is there once. */
static void cheap_values_are_recomputed_by_each_group(void **state) {
  (void)state;
  static const struct {
    const char *third, *more;
    tn_op op;
    size_t left;
  } cases[] = {
    { "neg %1", "", TN_OP_NEG, 0 },
    { "mul %1, %2", "", TN_OP_MUL, 0 },
    { "div %2, %1", "", TN_OP_DIV, 0 },
    { "mul %1, %1", "", TN_OP_MUL, 0 },
    { "tanh %1", "", TN_OP_TANH, 1 },   /* not cheap */
    { "sub %1, %a", "", TN_OP_SUB, 1 }, /* of two tensors, which would both have to stay */
    { "sub %1, %c", "", TN_OP_SUB, 1 },
    { "neg %1", ", %3", TN_OP_NEG, 1 }, /* a result */
    { "neg %1", ", %8", TN_OP_NEG, 1 }, /* %8 multiplies with it */
    { "neg %c", "", TN_OP_NEG, 1 },     /* it is smaller than what the groups make */
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[512];
    snprintf(text, sizeof text,
             "graph(%%a: f32[6, 6], %%b: f32[6, 6], %%c: f32[1, 6]) {\n  %%1 = matmul %%a, %%b\n"
             "  %%2 = fill {dtype=f32, shape=[], number=0.3}\n  %%3 = %s\n  %%4 = add %%3, %%b\n"
             "  %%5 = matmul %%4, %%b\n  %%6 = sin %%3\n  %%7 = mul %%6, %%5\n  %%8 = matmul %%3, %%b\n"
             "  return %%7, %%5%s\n}\n",
             cases[i].third, cases[i].more);
    world w;
    tn_graph graph;
    uint8_t before[32], after[32];
    world_open(&w);
    graph_from(&w, text, &graph);
    values v = random_values(&w, &graph, 1);
    run_digest(&w, &graph, tn_backend_ref(), 1, &v, before);
    assert_true(tn_opt_run(&graph, TN_PASS_ALL, &ref_evaluator));
    assert_valid(&graph);
    if (count_op(&graph, cases[i].op) != cases[i].left) fail_msg("%s", text);
    run_digest(&w, &graph, tn_backend_cpu(NULL), 2, &v, after);
    assert_memory_equal(before, after, sizeof before);
    free_values(&w, &v);
    tn_graph_free(&graph);
    world_close(&w);
  }
}

/* Programs from chance: any set of passes, every back end and several threads give one result. */
static void no_pass_changes_a_bit(void **state) {
  (void)state;
  static const tn_pass_set sets[] = { TN_PASS_FOLD,
                                      TN_PASS_CSE,
                                      TN_PASS_DCE,
                                      TN_PASS_FUSE,
                                      TN_PASS_ALL,
                                      (tn_pass_set)(TN_PASS_ALL & ~TN_PASS_FOLD),
                                      (tn_pass_set)(TN_PASS_ALL & ~TN_PASS_FUSE) };
  for (uint64_t seed = 0; seed < 300; seed++) {
    world w;
    tn_graph graph;
    uint8_t wanted[32], got[32];
    world_open(&w);
    random_graph(&w, seed, 24, &graph);
    assert_valid(&graph);
    values v = random_values(&w, &graph, seed + 1);
    run_digest(&w, &graph, tn_backend_ref(), 1, &v, wanted);
    for (size_t s = 0; s < sizeof sets / sizeof sets[0]; s++) {
      tn_graph copy;
      assert_true(tn_graph_copy(&graph, &copy));
      assert_true(tn_opt_run(&copy, sets[s], &ref_evaluator));
      assert_valid(&copy);
      run_digest(&w, &copy, s % 2 ? tn_backend_ref() : tn_backend_cpu(NULL), 1 + (int)s % 3, &v, got);
      if (memcmp(wanted, got, 32) != 0) fail_msg("seed %d, passes %d", (int)seed, (int)sets[s]);
      tn_graph_free(&copy);
    }
    free_values(&w, &v);
    tn_graph_free(&graph);
    world_close(&w);
  }
}

static void make_random(world *w, tn_graph *out) { random_graph(w, 7, 24, out); }
static bool run_all_passes(tn_graph *graph) { return tn_opt_run(graph, TN_PASS_ALL, &ref_evaluator); }

static void running_out_of_memory_leaves_a_valid_graph(void **state) {
  (void)state;
  assert_survives_refusals(make_random, run_all_passes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_no_output_needs_is_dropped),
    cmocka_unit_test(equal_operations_are_merged),
    cmocka_unit_test(operations_that_ask_the_host_are_not_merged),
    cmocka_unit_test(adding_plus_zero_stays_because_minus_zero_would_change),
    cmocka_unit_test(exact_identities_disappear),
    cmocka_unit_test(a_decided_branch_takes_the_place_of_its_if),
    cmocka_unit_test(integer_division_by_zero_is_never_folded),
    cmocka_unit_test(a_chain_of_elementwise_operations_becomes_one),
    cmocka_unit_test(a_value_that_is_used_elsewhere_is_not_swallowed),
    cmocka_unit_test(cheap_values_are_recomputed_by_each_group),
    cmocka_unit_test(no_pass_changes_a_bit),
    cmocka_unit_test(running_out_of_memory_leaves_a_valid_graph),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
