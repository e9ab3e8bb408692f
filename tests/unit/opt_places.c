/* tests/unit/opt_places.c: place after place has the bits of the whole sequence, and what is not causal is
 * left alone. */
#include <stdio.h>

#include "graph_support.h"

enum { KEPT_LIMIT = 8 };

typedef struct {
  world w;
  tn_graph graph;
  tn_one_place one;
} derived;

static void derive(derived *d, const char *text) {
  world_open(&d->w);
  graph_from(&d->w, text, &d->graph);
  assert_true(tn_opt_fold(&d->graph, &ref_evaluator));
  assert_true(tn_opt_one_place(&d->graph, 0, &d->one));
  if (d->one.derived) assert_valid(&d->one.step);
}

static void end(derived *d) {
  tn_one_place_free(&d->w.heap, &d->one);
  tn_graph_free(&d->graph);
  world_close(&d->w);
}

/* ---- the same bits ---- */

typedef struct {
  tn_plan *plan;
  tn_tensor token, number, kept[KEPT_LIMIT];
} stepping;

static void begin_steps(derived *d, const values *v, stepping *s) {
  const tn_graph *step = &d->one.step;
  tn_fault fault;
  int updates[16 + KEPT_LIMIT];
  size_t own = v->param_count, count = d->one.kept.count;
  assert_true(count <= KEPT_LIMIT && own <= 16);
  for (size_t i = 0; i < own + count; i++) updates[i] = i < own ? -1 : (int)(1 + i - own);
  assert_true(tn_opt_run(&d->one.step, TN_PASS_ALL, &ref_evaluator));
  tn_plan_options options = { .backend = tn_backend_cpu(NULL), .threads = 1, .updates = updates };
  s->plan = tn_plan_new(&d->w.heap, step, &options, &fault);
  assert_non_null(s->plan);
  const tn_type *token = tn_graph_type(step, step->inputs.at[0]);
  assert_true(tn_tensor_zeros(&d->w.heap, token->dtype, &token->shape, &s->token));
  assert_true(tn_tensor_zeros(&d->w.heap, TN_I32, &(tn_shape){ .rank = 1, .dim = { 1 } }, &s->number));
  tn_plan_bind_input(s->plan, 0, &s->token.view);
  for (size_t i = 1; i < v->input_count; i++) tn_plan_bind_input(s->plan, (int)i, &v->inputs[i].view);
  tn_plan_bind_input(s->plan, (int)v->input_count, &s->number.view);
  for (size_t i = 0; i < own; i++) tn_plan_bind_param(s->plan, (int)i, &v->params[i].view);
  for (size_t i = 0; i < count; i++) {
    const tn_type *type = tn_graph_type(step, step->params.at[own + i]);
    assert_true(tn_tensor_zeros(&d->w.heap, type->dtype, &type->shape, &s->kept[i]));
    tn_plan_bind_param(s->plan, (int)(own + i), &s->kept[i].view);
  }
}

static void end_steps(derived *d, stepping *s) {
  for (size_t i = 0; i < d->one.kept.count; i++) tn_tensor_unref(&s->kept[i]);
  tn_tensor_unref(&s->token);
  tn_tensor_unref(&s->number);
  tn_plan_free(s->plan);
}

/* Two rounds: in the second one the places after the present one are kept as the first has left them. */
static void assert_same_steps(const values *v, const tn_view *whole, stepping *s) {
  int64_t length = v->inputs[0].view.dim[1], width = tn_view_count(whole) / length;
  tn_fault fault;
  for (int64_t t = 0; t < 2 * length; t++) {
    tn_view_set_f64(&s->token.view, 0, tn_view_get_f64(&v->inputs[0].view, t % length));
    tn_view_set_f64(&s->number.view, 0, (double)(t % length));
    assert_true(tn_plan_run(s->plan, &fault));
    tn_view answer = tn_plan_output(s->plan, 0);
    assert_int_equal(tn_view_count(&answer), width);
    for (int64_t i = 0; i < width; i++) {
      double here = tn_view_get_f64(&answer, i), there = tn_view_get_f64(whole, (t % length) * width + i);
      assert_memory_equal(&here, &there, sizeof here);
    }
  }
}

/* The graph is derived and keeps so many values. */
static void assert_steps(const char *text, size_t kept) {
  derived d = { 0 };
  stepping s = { 0 };
  tn_fault fault;
  derive(&d, text);
  assert_true(d.one.derived);
  assert_int_equal(d.one.kept.count, kept);
  values v = random_values(&d.w, &d.graph, 5);
  tn_plan *plan = plan_for(&d.w, &d.graph, tn_backend_cpu(NULL), 1, &v);
  assert_true(tn_plan_run(plan, &fault));
  tn_view whole = tn_plan_output(plan, 0);
  begin_steps(&d, &v, &s);
  assert_same_steps(&v, &whole, &s);
  end_steps(&d, &s);
  tn_plan_free(plan);
  free_values(&d.w, &v);
  end(&d);
}

/* x: [1, T, 4] of tokens in a table, with a table of places. T is as long as another axis. */
#define EMBEDDED(T)                                                                                   \
  "graph(%seq: f32[1, " T "], param %E: f32[5, 4], param %P: f32[" T ", 4], param %W: f32[4, 4],"     \
  " param %g: f32[4], %given: f32[1, 1, 4]) {\n"                                                      \
  "  %a = abs %seq\n  %i = cast %a {dtype=i32}\n  %e = gather %E, %i {axis=0}\n  %p = add %e, %P\n"   \
  "  %n = layer_norm %p, %g, %g {number=0.001}\n  %x = matmul %n, %W\n"
#define MASKED(T)                                                                                     \
  "  %kt = transpose %n {axes=[0, 2, 1]}\n  %s = matmul %x, %kt\n"                                    \
  "  %rows = iota {dtype=i32, shape=[" T ", 1], axis=0}\n"                                            \
  "  %columns = iota {dtype=i32, shape=[1, " T "], axis=1}\n  %open = ge %rows, %columns\n"           \
  "  %low = fill {dtype=f32, shape=[], number=-Infinity}\n  %m = select %open, %s, %low\n"

static void what_looks_at_no_other_place_is_carried_over(void **state) {
  (void)state;
  assert_steps(EMBEDDED("7") "  %y = add %x, %given\n  return %y\n}\n", 0);
  assert_steps(EMBEDDED("7")
               "  %1 = concat %x, %n, %p {axis=2}\n"
               "  %2 = slice %1 {low=[0, 0, 2], high=[1, 7, 9], step=[1, 1, 1]}\n"
               "  %3 = pad %2 {low=[0, 0, 1], high=[0, 0, 0], step=[0, 0, 0]}\n  %4 = softmax %3 {axis=2}\n"
               "  %5 = cumsum %4 {axis=2}\n  %6 = sum %5 {axes=[2], keepdims=true}\n  %7 = mul %5, %6\n"
               "  return %7\n}\n",
               0);
  assert_steps(EMBEDDED("7")
               "  %1 = reshape %x {shape=[7, 2, 2]}\n  %2 = max %1 {axes=[1]}\n"
               "  %3 = transpose %2 {axes=[1, 0]}\n"
               "  %9 = slice %E {low=[0, 0], high=[5, 2], step=[1, 1]}\n  %4 = matmul %9, %3\n"
               "  %5 = transpose %4 {axes=[1, 0]}\n  %6 = reshape %5 {shape=[1, 7, 5]}\n"
               "  %7 = broadcast_to %6 {shape=[1, 7, 5]}\n  return %7\n}\n",
               0);
}

static void causal_attention_keeps_keys_and_values(void **state) {
  (void)state;
  assert_steps(EMBEDDED("7") MASKED("7") "  %w = softmax %m {axis=2}\n  %y = matmul %w, %x\n"
  "  return %y\n}\n", 2);
}

static void attention_as_one_operation_is_stepped_through(void **state) {
  (void)state;
  assert_steps(EMBEDDED("7") "  %y = attention %x, %n, %p {index=2, causal=true}\n  return %y\n}\n", 2);
  assert_steps(EMBEDDED("300") "  %y = attention %x, %x, %n {causal=true}\n  return %y\n}\n", 2);
}

/* Two heads, and two layers one upon the other. */
static void heads_and_layers_are_stepped_through(void **state) {
  (void)state;
  assert_steps(EMBEDDED("7")
               "  %h = reshape %x {shape=[1, 7, 2, 2]}\n  %q = transpose %h {axes=[0, 2, 1, 3]}\n"
               "  %k = transpose %h {axes=[0, 2, 3, 1]}\n  %s = matmul %q, %k\n"
               "  %rows = iota {dtype=f32, shape=[7, 7], axis=0}\n"
               "  %columns = iota {dtype=f32, shape=[7, 7], axis=1}\n  %open = le %columns, %rows\n"
               "  %low = fill {dtype=f32, shape=[], number=-Infinity}\n  %m = select %open, %s, %low\n"
               "  %w = softmax %m {axis=3}\n  %v = matmul %w, %q\n  %b = transpose %v {axes=[0, 2, 1, 3]}\n"
               "  %y = reshape %b {shape=[1, 7, 4]}\n  %z = add %y, %p\n  %u = gelu %z\n"
               "  %k2 = transpose %u {axes=[0, 2, 1]}\n  %s2 = matmul %u, %k2\n"
               "  %m2 = select %open, %s2, %low\n"
               "  %w2 = softmax %m2 {axis=2}\n  %v2 = matmul %w2, %u\n  return %v2\n}\n",
               4);
}

/* The parts of a softmax, written out: what is hidden is 0. */
static void a_softmax_in_parts_is_stepped_through(void **state) {
  (void)state;
  assert_steps(EMBEDDED("7") MASKED("7")
               "  %top = max %m {axes=[2], keepdims=true}\n  %d = sub %m, %top\n  %e2 = exp %d\n"
               "  %z = fill {dtype=f32, shape=[], number=0}\n  %e3 = select %open, %e2, %z\n"
               "  %t = sum %e3 {axes=[2], keepdims=true}\n  %y = matmul %e3, %x\n  %r = div %y, %t\n"
               "  return %r\n}\n",
               2);
}

/* A mask that is too large to be folded. */
static void a_long_sequence_is_stepped_through(void **state) {
  (void)state;
  assert_steps(EMBEDDED("300") MASKED("300")
               "  %w = softmax %m {axis=2}\n  %y = matmul %w, %x\n  return %y\n}\n",
               2);
}

/* A mask of i64 that is too large to be folded: query i sees key j where base + 4 i + 4 + MORE > base + 4 j.
 * So the key after the query is hidden; with MORE = 1 it is seen. */
#define SHIFTED(BASE, MORE)                                                                           \
  EMBEDDED("300")                                                                                     \
  "  %kt = transpose %n {axes=[0, 2, 1]}\n  %s = matmul %x, %kt\n"                                    \
  "  %base = fill {dtype=i64, shape=[], number=" BASE "}\n"                                           \
  "  %more = fill {dtype=i64, shape=[], number=" MORE "}\n"                                           \
  "  %four = fill {dtype=i64, shape=[], number=4}\n"                                                  \
  "  %down = fill {dtype=i64, shape=[300, 1], number=4}\n  %i4 = cumsum %down {axis=0}\n"             \
  "  %right = fill {dtype=i64, shape=[1, 300], number=4}\n  %j4 = cumsum %right {axis=1}\n"           \
  "  %row = add %i4, %base\n  %rows = add %row, %more\n"                                              \
  "  %column = add %j4, %base\n  %columns = sub %column, %four\n  %open = gt %rows, %columns\n"       \
  "  %low = fill {dtype=f32, shape=[], number=-Infinity}\n  %m = select %open, %s, %low\n"            \
  "  %w = softmax %m {axis=2}\n  %y = matmul %w, %x\n  return %y\n}\n"
#define TWO_TO_52 "4503599627370496"
#define TWO_TO_53 "9007199254740992"

static void a_mask_of_exact_integers_is_stepped_through(void **state) {
  (void)state;
  assert_steps(SHIFTED(TWO_TO_52, "0"), 2);
}

/* ---- what is not causal, or cannot be told ---- */

/* 2^53 + 5 > 2^53 + 4, so query 0 sees key 1. As doubles the two are equal, and the mask looks causal. */
static void a_mask_of_integers_beyond_2_to_53_is_left(void **state) {
  (void)state;
  static const char *const texts[] = { SHIFTED(TWO_TO_53, "1"), SHIFTED(TWO_TO_53, "0"),
                                       SHIFTED(TWO_TO_52, "1") };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    derived d = { 0 };
    derive(&d, texts[i]);
    assert_false(d.one.derived);
    end(&d);
  }
}

static void what_is_not_known_to_be_causal_is_left(void **state) {
  (void)state;
  static const char *const bodies[] = {
    "  %w = softmax %s {axis=2}\n  %y = matmul %w, %x\n",
    "  %w = softmax %s {axis=2}\n  %z = select %open, %w, %low\n  %y = matmul %z, %x\n",
    "  %y = matmul %m, %x\n",
    "  %l = lt %rows, %columns\n  %m2 = select %l, %s, %low\n  %w = softmax %m2 {axis=2}\n"
    "  %y = matmul %w, %x\n",
    "  %no = fill {dtype=f32, shape=[], number=-9}\n  %m2 = select %open, %s, %no\n"
    "  %w = softmax %m2 {axis=2}\n"
    "  %y = matmul %w, %x\n",
    "  %w = softmax %m {axis=1}\n  %y = matmul %w, %x\n",
    "  %y = softmax %x {axis=1}\n",
    "  %y = attention %x, %x, %x\n",
    "  %g2 = cumsum %x {axis=1}\n  %y = attention %g2, %x, %x {causal=true}\n",
    "  %y = cumsum %x {axis=1}\n",
    "  %1 = mean %x {axes=[1], keepdims=true}\n  %y = add %x, %1\n",
    "  %1 = slice %x {low=[0, 1, 0], high=[1, 7, 4], step=[1, 1, 1]}\n"
    "  %y = pad %1 {low=[0, 0, 0], high=[0, 1, 0], "
    "step=[0, 0, 0]}\n",
    "  %y = transpose %x {axes=[0, 2, 1]}\n",
    "  %1 = sum %x {axes=[2]}\n  %2 = reshape %1 {shape=[7, 1]}\n  %3 = reshape %1 {shape=[1, 7]}\n"
    "  %4 = sub %2, %3\n  %y = reshape %4 {shape=[1, 7, 7]}\n",
    "  %y = reshape %x {shape=[1, 4, 7]}\n",
    "  %1 = abs %x\n  %2 = cast %1 {dtype=i32}\n  %y = gather %x, %2 {axis=1}\n",
  };
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
    char text[2048];
    derived d = { 0 };
    snprintf(text, sizeof text, "%s%s  return %%y\n}\n", EMBEDDED("7") MASKED("7"), bodies[i]);
    derive(&d, text);
    if (d.one.derived) fail_msg("derived: %s", bodies[i]);
    end(&d);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_looks_at_no_other_place_is_carried_over),
    cmocka_unit_test(causal_attention_keeps_keys_and_values),
    cmocka_unit_test(attention_as_one_operation_is_stepped_through),
    cmocka_unit_test(heads_and_layers_are_stepped_through),
    cmocka_unit_test(a_softmax_in_parts_is_stepped_through),
    cmocka_unit_test(a_long_sequence_is_stepped_through),
    cmocka_unit_test(a_mask_of_exact_integers_is_stepped_through),
    cmocka_unit_test(a_mask_of_integers_beyond_2_to_53_is_left),
    cmocka_unit_test(what_is_not_known_to_be_causal_is_left),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
