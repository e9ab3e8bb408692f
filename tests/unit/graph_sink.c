/* tests/unit/graph_sink.c: what only a branch needs moves there, and no result changes. */
#include "graph_support.h"

static void assert_sinks(const char *before, const char *after) {
  world w;
  tn_graph graph;
  tn_text text;
  world_open(&w);
  graph_from(&w, before, &graph);
  assert_true(tn_graph_sink(&graph));
  assert_valid(&graph);
  tn_text_init(&text, &w.heap);
  tn_graph_print(&graph, &text);
  assert_string_equal(text.at, after);
  tn_text_free(&text);
  tn_graph_free(&graph);
  world_close(&w);
}

#define NOW "host {name=\"now\", dtype=f32, shape=[]} : f32[]"

static void an_effect_moves_into_the_branch_that_needs_it(void **state) {
  (void)state;
  assert_sinks(
      "graph(%c: bool[], %x: f32[]) {\n  %1 = " NOW "\n  %2 = exp %1\n"
      "  %3 = if %c {\n    yield %2\n  } else {\n    yield %x\n  }\n"
      "  %4 = pick %3 {index=0, dtype=f32, shape=[]}\n  return %4\n}\n",
      "graph(%c: bool[], %x: f32[]) {\n  %3 = if %c {\n    %1 = " NOW "\n    %2 = exp %1 : f32[]\n"
      "    yield %2\n  } else {\n    yield %x\n  }\n  %4 = pick %3 {index=0} : f32[]\n  return %4\n}\n");
}

static void what_both_branches_or_the_result_need_stays(void **state) {
  (void)state;
  static const char both[] =
      "graph(%c: bool[]) {\n  %1 = " NOW "\n  %3 = if %c {\n    yield %1\n  } else {\n"
      "    %2 = neg %1 : f32[]\n    yield %2\n  }\n  %4 = pick %3 {index=0} : f32[]\n  return %4\n}\n";
  static const char result[] =
      "graph(%c: bool[], %x: f32[]) {\n  %1 = " NOW "\n  %2 = if %c {\n    yield %1\n  } else {\n"
      "    yield %x\n  }\n  %3 = pick %2 {index=0} : f32[]\n  return %3, %1\n}\n";
  assert_sinks(both, both);
  assert_sinks(result, result);
}

static void what_no_reader_can_see_stays(void **state) {
  (void)state;
  static const char pure[] =
      "graph(%c: bool[], %x: f32[]) {\n  %1 = exp %x : f32[]\n  %2 = if %c {\n    yield %1\n  } else {\n"
      "    yield %x\n  }\n  %3 = pick %2 {index=0} : f32[]\n  return %3\n}\n";
  assert_sinks(pure, pure);
}

static void an_if_moves_with_its_branches(void **state) {
  (void)state;
  assert_sinks(
      "graph(%c: bool[], %d: bool[], %x: f32[]) {\n  %1 = " NOW "\n"
      "  %2 = if %c {\n    yield %1\n  } else {\n    yield %x\n  }\n"
      "  %3 = pick %2 {index=0, dtype=f32, shape=[]}\n"
      "  %4 = if %d {\n    yield %3\n  } else {\n    yield %x\n  }\n"
      "  %5 = pick %4 {index=0, dtype=f32, shape=[]}\n  return %5\n}\n",
      "graph(%c: bool[], %d: bool[], %x: f32[]) {\n  %4 = if %d {\n    %2 = if %c {\n      %1 = " NOW
      "\n      yield %1\n    } else {\n      yield %x\n    }\n    %3 = pick %2 {index=0} : f32[]\n"
      "    yield %3\n  } else {\n    yield %x\n  }\n  %5 = pick %4 {index=0} : f32[]\n  return %5\n}\n");
}

static void random_graphs_keep_their_results(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 200; seed++) {
    world w;
    tn_graph graph;
    uint8_t before[32], after[32];
    world_open(&w);
    random_graph(&w, seed, 40, &graph);
    values v = random_values(&w, &graph, seed);
    run_digest(&w, &graph, tn_backend_ref(), 1, &v, before);
    assert_true(tn_graph_sink(&graph));
    assert_valid(&graph);
    run_digest(&w, &graph, tn_backend_ref(), 1, &v, after);
    assert_memory_equal(before, after, 32);
    free_values(&w, &v);
    tn_graph_free(&graph);
    world_close(&w);
  }
}

static void memory_may_run_out_anywhere(void **state) {
  (void)state;
  for (uint64_t n = 1;; n++) {
    world w;
    tn_graph graph;
    world_open(&w);
    graph_from(&w,
               "graph(%c: bool[], %x: f32[]) {\n  %1 = " NOW "\n"
               "  %3 = if %c {\n    yield %1\n  } else {\n    yield %x\n  }\n"
               "  %4 = pick %3 {index=0, dtype=f32, shape=[]}\n  return %4\n}\n",
               &graph);
    w.heap.piecewise = true;
    w.heap.fail_at = w.heap.requests + n;
    bool ok = tn_graph_sink(&graph);
    w.heap.fail_at = 0;
    assert_valid(&graph);
    tn_graph_free(&graph);
    world_close(&w);
    if (ok) return;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(an_effect_moves_into_the_branch_that_needs_it),
    cmocka_unit_test(what_both_branches_or_the_result_need_stays),
    cmocka_unit_test(what_no_reader_can_see_stays),
    cmocka_unit_test(an_if_moves_with_its_branches),
    cmocka_unit_test(random_graphs_keep_their_results),
    cmocka_unit_test(memory_may_run_out_anywhere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
