/* tests/unit/plan_merge.c: pairs of steps that become one, and kernels chosen once, change no bit. */
#include <math.h>
#include <stdio.h>

#include "graph_support.h"

static bool has_step(const world *w, const tn_plan *plan, const char *name) {
  tn_text text;
  tn_text_init(&text, (tn_heap *)&w->heap);
  tn_plan_print(plan, &text);
  bool found = strstr(tn_text_str(&text).at, name) != NULL;
  tn_text_free(&text);
  return found;
}

/* ---- rows of a table ---- */

static void put_index(const values *v, int64_t rows) {
  const tn_view *index = &v->inputs[0].view;
  for (int64_t i = 0; i < tn_view_count(index); i++)
    tn_view_set_f64(index, i, (double)(i * i % 17 * 31 % rows));
}

static void check_pool(const char *dtype, int outer, int n, int rows, int columns, const char *op) {
  char text[512];
  snprintf(text, sizeof text,
           "graph(%%i: %s[%d, %d], param %%t: f32[%d, %d]) {\n  %%1 = gather %%t, %%i {axis=0}\n"
           "  %%2 = %s %%1 {axes=[1]}\n  return %%2\n}\n",
           dtype, outer, n, rows, columns, op);
  world w;
  tn_graph graph;
  uint8_t expected[32], got[32];
  world_open(&w);
  graph_from(&w, text, &graph);
  values v = random_values(&w, &graph, (uint64_t)(n * 100 + columns));
  put_index(&v, rows);
  tn_view_set_f64(&v.params[0].view, 0, n % 3 == 0 ? (double)NAN : -0.0);
  run_digest(&w, &graph, tn_backend_ref(), 1, &v, expected);
  bool available;
  for (int i = 0; tn_backend_cpu_isa(i, &available); i++) {
    if (!available) continue;
    const tn_backend *cpu = tn_backend_cpu(tn_backend_cpu_isa(i, &available));
    for (int threads = 1; threads <= 2; threads++) {
      run_digest(&w, &graph, cpu, threads, &v, got);
      if (memcmp(expected, got, sizeof got) != 0)
        fail_msg("%s %s of %d x %d rows of %d, %d threads", cpu->isa, op, outer, n, columns, threads);
    }
  }
  tn_plan *plan = plan_for(&w, &graph, tn_backend_cpu(NULL), 1, &v);
  assert_true(has_step(&w, plan, "gather") == (n > TN_BACKEND_POOL_LIMIT));
  tn_plan_free(plan);
  free_values(&w, &v);
  tn_graph_free(&graph);
  world_close(&w);
}

static void rows_of_a_table_are_added_in_the_order_of_sums(void **state) {
  (void)state;
  static const int lengths[] = { 1, 2, 6, 15, 16, 17, 31, 32, 33, 128, 511, 512, 513 };
  static const int columns[] = { 1, 2, 8, 15, 16, 17, 64, 70 };
  for (int l = 0; l < 13; l++)
    for (int c = 0; c < 8; c++)
      check_pool(l % 2 ? "i32" : "i64", 1 + c % 3, lengths[l], 20, columns[c], c % 2 ? "sum" : "mean");
  check_pool("i32", 32, 128, 100, 64, "mean"); /* enough for two threads */
  check_pool("i32", 20, 6, 20, 8, "mean");     /* as many sums as rows: the table is no matrix of bands */
}

static void rows_that_are_read_again_are_written_down(void **state) {
  (void)state;
  world w;
  tn_graph graph;
  uint8_t expected[32], got[32];
  world_open(&w);
  graph_from(&w,
             "graph(%i: i32[2, 3], param %t: f32[5, 4]) {\n  %1 = gather %t, %i {axis=0}\n"
             "  %2 = mean %1 {axes=[1]}\n  %3 = exp %1\n  return %2, %3\n}\n",
             &graph);
  values v = random_values(&w, &graph, 3);
  put_index(&v, 5);
  run_digest(&w, &graph, tn_backend_ref(), 1, &v, expected);
  run_digest(&w, &graph, tn_backend_cpu(NULL), 1, &v, got);
  assert_memory_equal(expected, got, sizeof got);
  tn_plan *plan = plan_for(&w, &graph, tn_backend_cpu(NULL), 1, &v);
  assert_true(has_step(&w, plan, "gather"));
  tn_plan_free(plan);
  free_values(&w, &v);
  tn_graph_free(&graph);
  world_close(&w);
}

static tn_fault fault_of(world *w, const tn_graph *graph, const tn_backend *backend, const values *v) {
  tn_fault fault;
  tn_plan *plan = plan_for(w, graph, backend, 2, v);
  assert_false(tn_plan_run(plan, &fault));
  tn_plan_free(plan);
  return fault;
}

/* Whichever kernel adds the rows, the fault is the gather's index. */
static void a_row_that_is_not_there_is_the_fault_of_the_gather(void **state) {
  (void)state;
  world w;
  tn_graph graph;
  world_open(&w);
  graph_from(&w,
             "graph(%i: i32[4, 40], param %t: f32[5, 4]) {\n  %1 = gather %t, %i {axis=0}\n"
             "  %2 = mean %1 {axes=[1]}\n  return %2\n}\n",
             &graph);
  values v = random_values(&w, &graph, 3);
  static const double wrong[] = { 5, -1, 2147483647 };
  for (int i = 0; i < 3; i++) {
    put_index(&v, 5);
    tn_view_set_f64(&v.inputs[0].view, 100, wrong[i]);
    tn_view_set_f64(&v.inputs[0].view, 130, 77);
    tn_fault expected = fault_of(&w, &graph, tn_backend_ref(), &v);
    tn_fault got = fault_of(&w, &graph, tn_backend_cpu(NULL), &v);
    assert_int_equal(got.kind, TN_FAULT_BOUNDS);
    assert_int_equal(got.op, TN_OP_GATHER);
    assert_int_equal(got.got, (int64_t)wrong[i]);
    assert_int_equal(got.expected, expected.expected);
    assert_int_equal(got.axis, expected.axis);
    assert_memory_equal(&got.at, &expected.at, sizeof got.at);
  }
  free_values(&w, &v);
  tn_graph_free(&graph);
  world_close(&w);
}

/* ---- descent ---- */

/* x^T y of some sizes, taken off a parameter; the smallest have kernels of their own. */
static void check_descent(int rows, int inner, int columns) {
  char text[512];
  snprintf(text, sizeof text,
           "graph(%%x: f32[%d, %d], %%y: f32[%d, %d], %%s: f32[], param %%p: f32[%d, %d]) {\n"
           "  %%1 = transpose %%x {axes=[1, 0]}\n  %%2 = matmul %%1, %%y\n  %%3 = mul %%s, %%2\n"
           "  %%4 = sub %%p, %%3\n  return %%4\n}\n",
           inner, rows, inner, columns, rows, columns);
  world w;
  tn_graph graph;
  tn_fault fault;
  uint8_t digest[2][32];
  world_open(&w);
  graph_from(&w, text, &graph);
  assert_true(tn_opt_run(&graph, TN_PASS_ALL, &ref_evaluator));
  for (int cpu = 0; cpu < 2; cpu++) {
    values v = random_values(&w, &graph, 5);
    tn_plan_options options = { .backend = cpu ? tn_backend_cpu(NULL) : tn_backend_ref(),
                                .threads = 1,
                                .updates = (int[]){ 0 } };
    tn_plan *plan = tn_plan_new(&w.heap, &graph, &options, &fault);
    assert_non_null(plan);
    for (size_t i = 0; i < v.input_count; i++) tn_plan_bind_input(plan, (int)i, &v.inputs[i].view);
    tn_plan_bind_param(plan, 0, &v.params[0].view);
    for (int again = 0; again < 2; again++) assert_true(tn_plan_run(plan, &fault));
    if (cpu) assert_false(has_step(&w, plan, "fused"));
    tn_view_sha256(&v.params[0].view, digest[cpu]);
    tn_plan_free(plan);
    free_values(&w, &v);
  }
  assert_memory_equal(digest[0], digest[1], sizeof digest[0]);
  tn_graph_free(&graph);
  world_close(&w);
}

static void a_product_goes_straight_into_the_parameter_it_moves(void **state) {
  (void)state;
  static const int sizes[][3] = { { 8, 4, 2 },  { 1, 1, 1 },  { 3, 5, 16 },
                                  { 5, 7, 17 }, { 9, 3, 33 }, { 64, 32, 10 } };
  for (int i = 0; i < 6; i++) check_descent(sizes[i][0], sizes[i][1], sizes[i][2]);
}

static void every_failed_allocation_of_a_choice_is_a_fault(void **state) {
  (void)state;
  for (uint64_t n = 1;; n++) {
    world w;
    tn_graph graph;
    tn_fault fault;
    world_open(&w);
    graph_from(
        &w,
        "graph(%i: i32[2, 3], param %t: f32[5, 4], param %b: f32[4]) {\n  %1 = gather %t, %i {axis=0}\n"
        "  %2 = mean %1 {axes=[1]}\n  %3 = add %2, %b\n  %4 = softmax %3 {axis=1}\n  return %4\n}\n",
        &graph);
    w.heap.fail_at = w.heap.requests + n;
    w.heap.failed = false;
    tn_plan_options options = { .backend = tn_backend_cpu(NULL), .threads = 1 };
    tn_plan *plan = tn_plan_new(&w.heap, &graph, &options, &fault);
    bool reached = w.heap.failed;
    assert_true(plan ? !reached : fault.kind == TN_FAULT_MEMORY);
    w.heap.fail_at = 0;
    tn_plan_free(plan);
    tn_graph_free(&graph);
    world_close(&w);
    if (!reached) break;
  }
}

/* ---- a few elements ---- */

/* Also where an operand is repeated or has gaps: what a tile would copy to scratch is on the stack. */
static void at_most_64_elements_need_no_scratch(void **state) {
  (void)state;
  for (int64_t rows = 8; rows <= 9; rows++) {
    tn_shape shape = tn_shape_make(2, rows, (int64_t)8), turned = tn_shape_make(2, (int64_t)8, rows);
    tn_view columns = tn_view_make(NULL, TN_F32, &turned), out = tn_view_make(NULL, TN_F32, &shape);
    tn_view in[] = { tn_view_permute(&columns, (int[]){ 1, 0 }),
                     tn_view_make(NULL, TN_F32, &TN_SCALAR_SHAPE) };
    bool available;
    for (int i = 0; tn_backend_cpu_isa(i, &available); i++) {
      if (!available) continue;
      const tn_backend *cpu = tn_backend_cpu(tn_backend_cpu_isa(i, &available));
      size_t bytes = cpu->scratch(cpu, TN_OP_ADD, &(tn_attrs){ 0 }, in, 2, &out, 1);
      assert_int_equal(bytes == 0, rows == 8);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(rows_of_a_table_are_added_in_the_order_of_sums),
    cmocka_unit_test(rows_that_are_read_again_are_written_down),
    cmocka_unit_test(a_row_that_is_not_there_is_the_fault_of_the_gather),
    cmocka_unit_test(a_product_goes_straight_into_the_parameter_it_moves),
    cmocka_unit_test(every_failed_allocation_of_a_choice_is_a_fault),
    cmocka_unit_test(at_most_64_elements_need_no_scratch),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
