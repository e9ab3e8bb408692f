/* Graphs as a whole: copying, binding lengths, going back, equality and digests. */
#include "graph_case.h"

static const char *example =
    "graph(%x: f32[B, 3], %c: bool[], param %w: f32[3, N]) {\n"
    "  %1 = matmul %x, %w\n"
    "  %2 = const {value=f32[2] [1, 2]}\n"
    "  %3 = if %c { %4 = sum %1 {axes=[1], keepdims=true} %5 = add %1, %4 yield %5 }"
    " else { %6 = if %c { yield %1 } else { %7 = fill {dtype=f32, shape=[B, N], number=3} yield %7 }"
    " %8 = pick %6 yield %8 }\n"
    "  %9 = pick %3\n"
    "  %10 = reshape %9 {shape=[-1]}\n"
    "  %11 = fused %9 {dtype=f32, shape=[B, N]} program { r1 = fill 0.5 : f32 r2 = mul r0, r1 : f32 }\n"
    "  %12 = slice %11 {low=[0, -2]}\n"
    "  return y=%10, %12, %11\n}\n";

static void a_copy_is_equal_and_independent(void **state) {
  (void)state;
  tn_graph graph = parsed(example), copy;
  assert_true(tn_graph_copy(&graph, &copy));
  assert_true(graph_equal(&graph, &copy));
  tn_graph_free(&graph);
  assert_sound(&copy);
  assert_reads_back(&copy);
  tn_graph_free(&copy);
}

static void binding_gives_every_value_its_lengths(void **state) {
  (void)state;
  tn_graph graph = parsed(example), bound;
  tn_fault fault;
  tn_binding bindings[] = { { name_of("B"), 2 }, { name_of("N"), 5 } };
  assert_true(tn_graph_bind(&graph, bindings, 2, &bound, &fault));
  assert_int_equal(fault.kind, TN_FAULT_NONE);
  assert_sound(&bound);
  assert_int_equal(bound.nodes.count, graph.nodes.count);
  for (tn_value v = 1; v < bound.nodes.count; v++) {
    assert_true(tn_shape_is_known(&tn_graph_type(&bound, v)->shape));
    assert_int_equal(tn_graph_node(&bound, v)->op, tn_graph_node(&graph, v)->op);
  }
  tn_shape flat = tn_shape_make(1, 10), cut = tn_shape_make(2, 2, 2);
  assert_true(tn_shape_equal(&tn_graph_type(&bound, bound.outputs.at[0].value)->shape, &flat));
  assert_true(tn_shape_equal(&tn_graph_type(&bound, bound.outputs.at[1].value)->shape, &cut));
  assert_int_equal(bound.outputs.at[0].name, name_of("y"));
  tn_graph_free(&bound);
  tn_graph_free(&graph);
}

static void symbols_without_a_binding_stay(void **state) {
  (void)state;
  tn_graph graph = parsed(example), bound;
  tn_fault fault;
  assert_true(tn_graph_bind(&graph, &(tn_binding){ name_of("B"), 2 }, 1, &bound, &fault));
  assert_sound(&bound);
  tn_shape expected = tn_shape_make(2, 2, TN_DIM_SYMBOL(name_of("N")));
  assert_true(tn_shape_equal(&tn_graph_type(&bound, bound.outputs.at[2].value)->shape, &expected));
  tn_graph_free(&bound);
  tn_graph_free(&graph);
}

static void lengths_that_do_not_fit_are_a_fault_at_their_place(void **state) {
  (void)state;
  tn_graph graph = parsed("graph(%x: f32[B, 3]) {\n  %1 = slice %x {low=[2, 0], high=[4, 3]}\n  return %1 }"),
           bound;
  tn_fault fault;
  assert_false(tn_graph_bind(&graph, &(tn_binding){ name_of("B"), 3 }, 1, &bound, &fault));
  assert_int_equal(fault.kind, TN_FAULT_BOUNDS);
  assert_int_equal(fault.op, TN_OP_SLICE);
  assert_int_equal(tn_place_of(&sources, fault.at.file, fault.at.start).line, 2);
  assert_null(bound.nodes.at);
  tn_graph_free(&graph);
}

static void going_back_to_a_mark_removes_what_was_added_since(void **state) {
  (void)state;
  tn_graph graph = parsed(example), copy;
  tn_graph_builder builder;
  tn_tensor literal;
  assert_true(tn_graph_copy(&graph, &copy));
  tn_graph_builder_init(&builder, &graph);
  tn_builder *b = &builder.base;
  tn_graph_mark mark = tn_graph_mark_of(&graph);
  tn_type scalar = { TN_F32, TN_SCALAR_SHAPE };
  assert_true(tn_tensor_scalar(&heap, TN_F32, 1, &literal));
  tn_build_const(b, &literal);
  tn_tensor_unref(&literal);
  assert_true(b->methods->region_begin(b));
  tn_value x = tn_build_input(b, 0, &scalar), y = tn_build_param(b, 0, &scalar);
  uint32_t first = b->methods->region_end(b, &x, 1);
  assert_true(b->methods->region_begin(b));
  y = tn_build_unary(b, TN_OP_NEG, y);
  uint32_t second = b->methods->region_end(b, &y, 1);
  assert_int_not_equal(b->methods->join(b, 2, first, second), TN_ERROR_VALUE);
  assert_true(tn_graph_output(&graph, 0, x));
  assert_sound(&graph);
  tn_graph_rewind(&graph, mark);
  assert_sound(&graph);
  assert_true(graph_equal(&graph, &copy));
  tn_graph_free(&copy);
  tn_graph_free(&graph);
}

/* Texts that differ in meaning, each by one thing. */
static const char *variants[] = {
  "graph(%x: f32[2], %y: f32[2]) { %1 = sub %x, %y %2 = sum %1 return %2 }",
  "graph(%x: f32[2], %y: f32[2]) { %1 = sub %y, %x %2 = sum %1 return %2 }",
  "graph(%x: f32[2], %y: f32[2]) { %1 = add %x, %y %2 = sum %1 return %2 }",
  "graph(%x: f32[2], %y: f32[2]) { %1 = sub %x, %y %2 = sum %1 {keepdims=true} return %2 }",
  "graph(%x: f32[2], %y: f32[2]) { %1 = sub %x, %y %2 = sum %1 return a=%2 }",
  "graph(%x: f32[2], %y: f32[2]) { %1 = sub %x, %y %2 = sum %1 return b=%2 }",
  "graph(%x: f32[2], %y: f32[2]) { %1 = sub %x, %y %2 = sum %1 return %1 }",
  "graph(%x: f32[2], %y: f32[2]) { %1 = sub %x, %y %2 = sum %1 return %2, %2 }",
  "graph(%x: f32[2], %z: f32[2]) { %1 = sub %x, %z %2 = sum %1 return %2 }",
  "graph(%x: f32[2], param %y: f32[2]) { %1 = sub %x, %y %2 = sum %1 return %2 }",
  "graph(%x: f64[2], %y: f64[2]) { %1 = sub %x, %y %2 = sum %1 return %2 }",
  "graph(%x: f32[3], %y: f32[3]) { %1 = sub %x, %y %2 = sum %1 return %2 }",
  "graph(%x: f32[B], %y: f32[B]) { %1 = sub %x, %y %2 = sum %1 return %2 }",
  "graph(%x: f32[C], %y: f32[C]) { %1 = sub %x, %y %2 = sum %1 return %2 }",
  "graph() { %1 = const {value=f32[1] [0]} return %1 }",
  "graph() { %1 = const {value=f32[1] [-0]} return %1 }",
  "graph() { %1 = const {value=f32[1, 1] [0]} return %1 }",
  "graph() { %1 = const {value=i32[1] [0]} return %1 }",
  "graph() { %1 = fill {dtype=f32, shape=[1], number=0} return %1 }",
  "graph() { %1 = fill {dtype=f32, shape=[1], number=-0} return %1 }",
  "graph(%c: bool[], %x: f32[]) { %1 = if %c { yield %x } else { yield %x } %2 = pick %1 return %2 }",
  "graph(%c: bool[], %x: f32[]) { %1 = if %c { %3 = neg %x yield %x } else { yield %x } %2 = pick %1 return "
  "%2 }",
  "graph(%c: bool[], %x: f32[]) { %1 = if %c { yield %x } else { %3 = neg %x yield %x } %2 = pick %1 return "
  "%2 }",
  "graph(%c: bool[], %x: f32[]) { %1 = if %c { %3 = neg %x yield %3 } else { yield %x } %2 = pick %1 return "
  "%2 }",
  "graph(%x: f32[]) { %1 = fused %x {dtype=f32, shape=[]} program { r1 = neg r0 : f32 } return %1 }",
  "graph(%x: f32[]) { %1 = fused %x {dtype=f32, shape=[]} program { r1 = abs r0 : f32 } return %1 }",
  "graph(%x: f32[]) { %1 = fused %x {dtype=f32, shape=[]} program { r1 = neg r0 : f32 r2 = neg r0 : f32 } "
  "return %1 }",
  "graph(%x: f32[]) { %1 = fused %x {dtype=f32, shape=[]} program { r1 = neg r0 : f32 r2 = neg r1 : f32 } "
  "return %1 }",
  "graph(%x: f32[]) { %1 = fused %x {dtype=f32, shape=[]} program { r1 = fill 1 : f32 } return %1 }",
  "graph(%x: f32[]) { %1 = fused %x {dtype=f32, shape=[]} program { r1 = fill 2 : f32 } return %1 }",
  "graph(%x: f32[]) { %1 = fused %x, %x {dtype=f32, shape=[]} program { r2 = fill 2 : f32 } return %1 }",
  "graph(%x: f32[]) { %1 = fused %x {dtype=f64, shape=[]} program { r1 = cast r0 : f64 } return %1 }",
  "graph(%x: f32[]) { %1 = fused %x {dtype=i32, shape=[]} program { r1 = cast r0 : i32 } return %1 }",
  "graph(%x: f64[]) { %1 = fused %x {dtype=i32, shape=[]} program { r1 = cast r0 : i32 } return %1 }",
  "graph(%c: bool[]) { %1 = if %c { yield %c } else { yield %c } return }",
  "graph(%c: bool[]) { %1 = if %c { yield %c, %c } else { yield %c, %c } return }",
  "graph(%c: bool[], %d: bool[]) { %1 = if %c { yield %c, %d } else { yield %c, %d } return }",
  "graph(%c: bool[], %d: bool[]) { %1 = if %c { yield %d, %c } else { yield %c, %d } return }",
  "graph(%x: f32[2, 2]) { %1 = cumsum %x {axis=0} return %1 }",
  "graph(%x: f32[2, 2]) { %1 = cumsum %x {axis=1} return %1 }",
  "graph(%x: f32[2, 2]) { %1 = cumsum %x {axis=1, reverse=true} return %1 }",
  "graph(%x: f32[2, 2]) { %1 = cumsum %x {axis=1, exclusive=true} return %1 }",
  "graph(%x: f32[2, 2]) { %1 = transpose %x {axes=[0, 1]} return %1 }",
  "graph(%x: f32[2, 2]) { %1 = transpose %x {axes=[1, 0]} return %1 }",
  "graph(%x: f32[2, 2]) { %1 = slice %x {low=[0, 0], high=[1, 1]} return %1 }",
  "graph(%x: f32[2, 2]) { %1 = slice %x {low=[1, 0], high=[2, 1]} return %1 }",
  "graph(%x: f32[4]) { %1 = slice %x {low=[0], high=[4], step=[2]} return %1 }",
  "graph(%x: f32[4]) { %1 = slice %x {low=[0], high=[4], step=[3]} return %1 }",
  "graph(%x: f32[1, 4, 4, 1]) { %1 = patches %x {window=[2, 1]} return %1 }",
  "graph(%x: f32[1, 4, 4, 1]) { %1 = patches %x {window=[1, 2]} return %1 }",
  "graph(%k: i64[]) { %1 = uniform %k {shape=[2], index=0} return %1 }",
  "graph(%k: i64[]) { %1 = uniform %k {shape=[2], index=1} return %1 }",
  "graph() { %1 = host {name=\"now\", dtype=f32, shape=[]} return %1 }",
  "graph() { %1 = host {name=\"then\", dtype=f32, shape=[]} return %1 }",
};

static void equality_tells_programs_apart(void **state) {
  (void)state;
  static tn_graph graphs[COUNT_OF(variants)];
  for (size_t i = 0; i < COUNT_OF(variants); i++) {
    graphs[i] = parsed(variants[i]);
    assert_true(graph_equal(&graphs[i], &graphs[i]));
    for (size_t k = 0; k < i; k++) {
      if (graph_equal(&graphs[i], &graphs[k])) fail_msg("equal:\n%s\n%s", variants[i], variants[k]);
    }
  }
  for (size_t i = 0; i < COUNT_OF(variants); i++) tn_graph_free(&graphs[i]);
}

static void copying_and_binding_survive_every_failing_allocation(void **state) {
  (void)state;
  tn_graph graph = parsed(example);
  tn_binding bindings[] = { { name_of("B"), 2 }, { name_of("N"), 5 } };
  for (int kind = 0; kind < 2; kind++) {
    bool done = false;
    for (uint64_t n = 1; !done; n++) {
      tn_graph out;
      tn_fault fault = { 0 };
      assert_true(n < 1000);
      heap.fail_at = heap.requests + n;
      heap.failed = false;
      bool ok = kind == 0 ? tn_graph_copy(&graph, &out) : tn_graph_bind(&graph, bindings, 2, &out, &fault);
      done = !heap.failed;
      heap.fail_at = 0;
      assert_int_equal(ok, done);
      if (!ok && kind == 1) assert_int_equal(fault.kind, TN_FAULT_MEMORY);
      if (ok)
        tn_graph_free(&out);
      else
        assert_null(out.nodes.at);
    }
  }
  tn_graph_free(&graph);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
    TEST(a_copy_is_equal_and_independent),
    TEST(binding_gives_every_value_its_lengths),
    TEST(symbols_without_a_binding_stay),
    TEST(lengths_that_do_not_fit_are_a_fault_at_their_place),
    TEST(going_back_to_a_mark_removes_what_was_added_since),
    TEST(equality_tells_programs_apart),
    TEST(copying_and_binding_survive_every_failing_allocation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
