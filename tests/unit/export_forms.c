/* Every form of a graph: what it says, and what happens when memory runs out on the way. */
#include "export/export.h"
#include "graph_case.h"

/* Of every kind of operation one, a branch, and lengths that have names. */
static const char everything[] = "graph(%x: f32[B, 3], %i: i32[2], param %w: f32[3, 4]) {\n"
                                 "  %1 = matmul %x, %w\n"
                                 "  %2 = tanh %1\n"
                                 "  %3 = sum %2 {axes=[0, 1]}\n"
                                 "  %4 = fill {dtype=f32, shape=[], number=0.5}\n"
                                 "  %5 = gt %3, %4\n"
                                 "  %8 = if %5 {\n"
                                 "    %6 = softmax %2 {axis=1}\n"
                                 "    yield %6\n"
                                 "  } else {\n"
                                 "    %7 = neg %2\n"
                                 "    yield %7\n"
                                 "  }\n"
                                 "  %9 = pick %8 {index=0} : f32[B, 4]\n"
                                 "  %10 = transpose %9 {axes=[1, 0]}\n"
                                 "  %11 = gather %10, %i {axis=0}\n"
                                 "  %12 = const {value=f32[3] [1,-2.5,-0]}\n"
                                 "  %13 = reshape %12 {shape=[3, 1]}\n"
                                 "  %14 = mean %13 {axes=[0]}\n"
                                 "  %15 = cumsum %x {axis=1}\n"
                                 "  %16 = concat %15, %x {axis=1}\n"
                                 "  %17 = argmax %16 {axis=1}\n"
                                 "  return %11, total=%14, %17\n"
                                 "}\n";

static const tn_emit_kind forms[] = { TN_EMIT_GRAPH, TN_EMIT_MLIR, TN_EMIT_DOT,
                                      TN_EMIT_SVG,   TN_EMIT_ONNX, TN_EMIT_NPZ };

static tn_tensor weights(void) {
  tn_tensor made;
  tn_shape shape = tn_shape_make(2, (int64_t)3, (int64_t)4);
  assert_true(tn_tensor_new(&heap, TN_F32, &shape, &made));
  for (int64_t i = 0; i < 12; i++) tn_view_set_f64(&made.view, i, (double)i / 4);
  return made;
}

static bool written(const tn_graph *graph, tn_emit_kind kind, const tn_tensor *params, tn_text *out,
                    tn_export_problem *problem) {
  tn_export what = { .graph = graph, .kind = kind, .sources = &sources, .params = params };
  tn_text_init(out, &heap);
  return tn_export_write(&what, out, problem);
}

static void memory_may_run_out_at_every_request(void **state) {
  (void)state;
  tn_graph graph = parsed(everything);
  tn_tensor params = weights();
  for (size_t f = 0; f < COUNT_OF(forms); f++) {
    tn_text first;
    tn_export_problem ignored;
    /* Where the lines of the source begin is found once, and kept. */
    assert_true(written(&graph, forms[f], &params, &first, &ignored));
    tn_text_free(&first);
    bool done = false;
    size_t before = heap.used;
    for (uint64_t n = 1; !done && n < 100000; n++) {
      tn_text out;
      tn_export_problem problem;
      heap.fail_at = heap.requests + n;
      done = written(&graph, forms[f], &params, &out, &problem);
      heap.fail_at = 0;
      if (!done) assert_null(problem.feature);
      tn_text_free(&out);
      assert_int_equal(heap.used, before);
    }
    assert_true(done);
  }
  tn_tensor_unref(&params);
  tn_graph_free(&graph);
}

static void every_form_is_written_and_the_same_twice(void **state) {
  (void)state;
  tn_graph graph = parsed(everything);
  tn_tensor params = weights();
  for (size_t f = 0; f < COUNT_OF(forms); f++) {
    tn_text out, again;
    tn_export_problem problem;
    assert_true(written(&graph, forms[f], &params, &out, &problem));
    assert_true(written(&graph, forms[f], &params, &again, &problem));
    assert_true(out.len > 100 && tn_str_equal(tn_text_str(&out), tn_text_str(&again)));
    tn_text_free(&out);
    tn_text_free(&again);
  }
  tn_tensor_unref(&params);
  tn_graph_free(&graph);
}

static void assert_refused(const char *text, tn_emit_kind kind, const char *feature) {
  tn_graph graph = parsed(text);
  tn_text out;
  tn_export_problem problem;
  assert_false(written(&graph, kind, NULL, &out, &problem));
  assert_non_null(problem.feature);
  if (!strstr(problem.feature, feature)) fail_msg("said: %s", problem.feature);
  tn_text_free(&out);
  tn_graph_free(&graph);
}

static void what_a_form_has_no_words_for_is_named(void **state) {
  (void)state;
  static const char clock[] = "graph() { %1 = host {name=\"now\", dtype=f32, shape=[]} return %1 }";
  static const char running[] = "graph(%x: f32[3]) { %1 = cumprod %x {axis=0} return %1 }";
  static const char open[] = "graph() { %1 = fill {dtype=f32, shape=[B], number=1} return %1 }";
  assert_refused(clock, TN_EMIT_MLIR, "clock");
  assert_refused(clock, TN_EMIT_ONNX, "clock");
  assert_refused(running, TN_EMIT_ONNX, "running product");
  assert_refused(open, TN_EMIT_ONNX, "length");
  assert_refused(running, TN_EMIT_NPZ, "no values");
}

/* Nobody could read a drawing of ten thousand boxes. */
static void a_drawing_has_a_limit(void **state) {
  (void)state;
  tn_text text;
  tn_text_init(&text, &heap);
  tn_text_puts(&text, "graph(%x: f32[]) {\n  %1 = neg %x\n");
  for (int i = 2; i < 2100; i++) {
    tn_text_puts(&text, "  %");
    tn_text_int(&text, i);
    tn_text_puts(&text, " = neg %");
    tn_text_int(&text, i - 1);
    tn_text_byte(&text, '\n');
  }
  tn_text_puts(&text, "  return %2099\n}\n");
  assert_refused(text.at, TN_EMIT_SVG, "2000");
  tn_text_free(&text);
}

/* ---- calls as boxes ---- */

static const char two_calls[] = "graph(%x: f32[2], param %w: f32[2], param %u: f32[2]) {\n"
                                "  %1 = mul %x, %w\n"
                                "  %2 = neg %1\n"
                                "  %3 = add %2, %u\n"
                                "  return %3\n"
                                "}\n";

/* outer makes the values 4 to 6, and in it inner the value 5, which the program calls q. */
static tn_outline outlined(tn_graph *graph, const char *open) {
  tn_outline o;
  tn_name outer = tn_names_intern(graph->names, TN_LIT("outer"));
  tn_name inner = tn_names_intern(graph->names, TN_LIT("inner"));
  tn_name q = tn_names_intern(graph->names, TN_LIT("q"));
  tn_outline_init(&o, &heap, tn_str_of(open));
  tn_outline_begin(&o, graph);
  size_t whole = graph->nodes.count;
  graph->nodes.count = 4, tn_outline_enter(&o, outer, TN_NOWHERE);
  graph->nodes.count = 5, tn_outline_enter(&o, inner, TN_NOWHERE);
  graph->nodes.count = 6, tn_outline_label(&o, 5, q), tn_outline_leave(&o, 5);
  graph->nodes.count = whole, tn_outline_leave(&o, 6);
  assert_false(o.failed);
  return o;
}

static bool drawn(const tn_graph *graph, const tn_outline *outline, tn_text *out) {
  tn_export what = { .graph = graph, .kind = TN_EMIT_SVG, .sources = &sources, .outline = outline };
  tn_export_problem problem;
  tn_text_init(out, &heap);
  return tn_export_write(&what, out, &problem);
}

static void assert_drawn(const char *open, size_t boxes, const char *has, const char *lacks) {
  tn_graph graph = parsed(two_calls);
  tn_outline o = outlined(&graph, open);
  tn_text out;
  size_t found = 0;
  assert_true(drawn(&graph, &o, &out));
  for (const char *at = out.at; (at = strstr(at, "<g class=\"node")); at++) found++;
  if (found != boxes || !strstr(out.at, has) || strstr(out.at, lacks))
    fail_msg("open=%s: %d boxes in %s", open, (int)found, out.at);
  tn_text_free(&out);
  tn_outline_free(&o);
  tn_graph_free(&graph);
}

/* A closed call is one box, with the parameters that it alone uses; a call in a closed one is not seen. */
static void calls_are_boxes_until_they_are_opened(void **state) {
  (void)state;
  assert_drawn("", 3, "data-call=\"1\"><title>outer, f32[2], 3 operations</title>", ">neg<");
  assert_drawn("2", 3, "data-call=\"1\"", "data-call=\"2\"");
  assert_drawn("1", 7, "data-call=\"2\" data-in=\"1\"><title>q = inner, f32[2], 1 operation<",
               "data-call=\"1\"");
  assert_drawn("1,2", 7, "data-in=\"2\" data-line=\"3\"><title>q = neg,", "data-call");
  assert_drawn("all", 7, "q = neg", "data-call");
  assert_drawn("0,-1,x,,99999999999999999999,3", 3, "data-call=\"1\"", "<style"); /* none is a call */
}

static void memory_may_run_out_while_calls_are_drawn(void **state) {
  (void)state;
  tn_graph graph = parsed(two_calls);
  tn_outline o = outlined(&graph, "1");
  tn_text first; /* where the lines of the source begin is found once, and kept */
  assert_true(drawn(&graph, &o, &first));
  tn_text_free(&first);
  size_t before = heap.used;
  bool done = false;
  for (uint64_t n = 1; !done && n < 100000; n++) {
    tn_text out;
    heap.fail_at = heap.requests + n;
    done = drawn(&graph, &o, &out);
    heap.fail_at = 0;
    tn_text_free(&out);
    assert_int_equal(heap.used, before);
  }
  assert_true(done);
  tn_outline_free(&o);
  tn_graph_free(&graph);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
    TEST(every_form_is_written_and_the_same_twice),
    TEST(what_a_form_has_no_words_for_is_named),
    TEST(a_drawing_has_a_limit),
    TEST(calls_are_boxes_until_they_are_opened),
    TEST(memory_may_run_out_while_calls_are_drawn),
    TEST(memory_may_run_out_at_every_request),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
