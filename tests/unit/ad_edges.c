/* Derivatives where they are easily wrong: zeros, ties, kinks, branches, names for lengths. */
#include <math.h>

#include "ad/ad.h"
#include "graph_run.h"

typedef struct {
  tn_graph graph;
  tn_graph_builder builder;
} lab;

static lab *lab_of(const char *text) {
  static lab l;
  l.graph = parsed(text);
  tn_graph_builder_init(&l.builder, &l.graph);
  return &l;
}

static tn_value output_of(const lab *l, size_t index) { return l->graph.outputs.at[index].value; }

static bool gradient(lab *l, tn_value output, tn_value wrt, tn_ad_policy policy, tn_value *grad) {
  tn_grad_request request = { .builder = &l->builder,
                              .outputs = &output,
                              .output_count = 1,
                              .wrt = &wrt,
                              .wrt_count = 1,
                              .policy = policy };
  return tn_ad_grad(&request, grad);
}

/* The gradient of output 0 by parameter `index`, as a new output. */
static tn_value add_gradient(lab *l, size_t index) {
  tn_value grad;
  assert_true(gradient(l, output_of(l, 0), l->graph.params.at[index], TN_AD_STRICT, &grad));
  assert_true(tn_graph_output(&l->graph, 0, grad));
  return grad;
}

static tn_value total(lab *l, tn_value x) {
  return tn_build_reduce(&l->builder.base, TN_OP_SUM, x, NULL, -1, false);
}

/* Runs with the parameters given and holds the last output against what is expected. */
static void assert_gives(const lab *l, const double *const *params, const double *expected, int64_t count) {
  double got[64];
  runner r = runner_of(&l->graph);
  for (size_t i = 0; i < l->graph.params.count; i++) runner_set(&r, (int)i, params[i]);
  runner_run(&r);
  runner_get(&r, (int)l->graph.outputs.count - 1, got, count);
  for (int64_t i = 0; i < count; i++) {
    bool same = got[i] == expected[i] || (isnan(got[i]) && isnan(expected[i]));
    if (!same && !(fabs(got[i] - expected[i]) <= 1e-12 * fabs(expected[i]))) {
      fail_msg("element %d: %.17g, expected %.17g", (int)i, got[i], expected[i]);
    }
  }
  runner_free(&r);
}

#define PARAMS(...) ((const double *const[]){ __VA_ARGS__ })
#define LIST(...)   ((const double[]){ __VA_ARGS__ })
#define ASSERT_GIVES(l, params, ...)                                                                         \
  assert_gives(l, params, LIST(__VA_ARGS__), (int64_t)(sizeof(LIST(__VA_ARGS__)) / sizeof(double)))

/* ---- products with zeros ---- */

static const char *product = "graph(param %x: f64[4]) { %1 = prod %x return %1 }";

static void a_product_with_one_zero_has_one_slope(void **state) {
  (void)state;
  lab *l = lab_of(product);
  add_gradient(l, 0);
  ASSERT_GIVES(l, PARAMS(LIST(2, 0, 3, -5)), 0, -30, 0, 0);
  ASSERT_GIVES(l, PARAMS(LIST(2, 0, 0, -5)), 0, 0, 0, 0);
  ASSERT_GIVES(l, PARAMS(LIST(2, 1, 3, -5)), -15, -30, -10, 6);
  tn_graph_free(&l->graph);
}

/* d3 (x0 x1 x2 x3) / dx0 dx1 dx2 = x3, whatever is zero. */
static void third_derivatives_of_a_product_are_exact_at_zeros(void **state) {
  (void)state;
  lab *l = lab_of(product);
  tn_builder *b = &l->builder.base;
  tn_value x = l->graph.params.at[0], at = output_of(l, 0);
  for (int i = 0; i < 3; i++) {
    tn_value grad;
    assert_true(gradient(l, at, x, TN_AD_STRICT, &grad));
    at = tn_build(b, TN_OP_INDEX, &grad, 1, &(tn_attrs){ .index = (uint64_t)i });
  }
  assert_true(tn_graph_output(&l->graph, 0, at));
  ASSERT_GIVES(l, PARAMS(LIST(0, 0, 0, 7)), 7);
  ASSERT_GIVES(l, PARAMS(LIST(1, 0, 2, 0)), 0);
  tn_graph_free(&l->graph);
}

static void the_hessian_of_a_product_is_exact_at_two_zeros(void **state) {
  (void)state;
  lab *l = lab_of("graph(param %x: f64[3]) { %1 = prod %x return %1 }");
  tn_value grad = add_gradient(l, 0), hessian;
  assert_true(tn_ad_jacobian(&l->builder, grad, l->graph.params.at[0], TN_AD_STRICT, &hessian));
  assert_true(tn_graph_output(&l->graph, 0, hessian));
  ASSERT_GIVES(l, PARAMS(LIST(0, 5, 0)), 0, 0, 5, 0, 0, 0, 5, 0, 0);
  ASSERT_GIVES(l, PARAMS(LIST(2, 3, 4)), 0, 4, 3, 4, 0, 2, 3, 2, 0);
  tn_graph_free(&l->graph);
}

static void a_running_product_passes_gradients_over_zeros(void **state) {
  (void)state;
  lab *l = lab_of("graph(param %x: f64[4]) { %1 = cumprod %x {axis=0} %2 = sum %1 return %2 }");
  add_gradient(l, 0);
  /* 1 + y + yz + yzw, x + xz + xzw, xy + xyw, xyz */
  ASSERT_GIVES(l, PARAMS(LIST(2, 0, 3, 5)), 1, 2 + 6 + 30, 0, 0);
  ASSERT_GIVES(l, PARAMS(LIST(0, 0, 3, 5)), 1, 0, 0, 0);
  tn_graph_free(&l->graph);
}

static void a_product_of_nothing_has_an_empty_gradient(void **state) {
  (void)state;
  lab *l = lab_of("graph(param %x: f64[0]) { %1 = prod %x return %1 }");
  tn_value grad = add_gradient(l, 0);
  assert_int_equal(tn_graph_type(&l->graph, grad)->shape.dim[0], 0);
  runner r = runner_of(&l->graph);
  runner_run(&r);
  runner_free(&r);
  tn_graph_free(&l->graph);
}

/* ---- ties and kinks ---- */

static void ties_of_max_and_min_share_evenly(void **state) {
  (void)state;
  const char *texts[] = { "graph(param %x: f64[2, 4]) { %1 = max %x {axes=[1]} %2 = sum %1 return %2 }",
                          "graph(param %x: f64[2, 4]) { %1 = min %x {axes=[1]} %2 = sum %1 return %2 }" };
  for (int i = 0; i < 2; i++) {
    double sign = i == 0 ? 1 : -1;
    lab *l = lab_of(texts[i]);
    add_gradient(l, 0);
    ASSERT_GIVES(l, PARAMS(LIST(sign * 1, sign * 3, sign * 3, sign * 2, 0, 0, -0.0, 0)), 0, 0.5, 0.5, 0, 0.25,
                 0.25, 0.25, 0.25);
    tn_graph_free(&l->graph);
  }
}

static void ties_of_two_operands_halve(void **state) {
  (void)state;
  lab *l = lab_of("graph(param %x: f64[3], param %y: f64[3]) {"
                  " %1 = maximum %x, %y %2 = minimum %x, %y %3 = mul %2, %2 %4 = sub %1, %3"
                  " %5 = sum %4 return %5 }");
  add_gradient(l, 0);
  /* the larger passes 1, the smaller -2 times itself, ties half of each */
  ASSERT_GIVES(l, PARAMS(LIST(1, 2, 3), LIST(2, 2, 2)), -2, 0.5 - 2, 1);
  tn_graph_free(&l->graph);
}

static void relu_and_abs_are_flat_at_zero(void **state) {
  (void)state;
  lab *l =
      lab_of("graph(param %x: f64[3]) { %1 = relu %x %2 = abs %x %3 = add %1, %2 %4 = sum %3 return %4 }");
  add_gradient(l, 0);
  ASSERT_GIVES(l, PARAMS(LIST(0, -1, 2)), 0, -1, 2);
  tn_graph_free(&l->graph);
}

static void what_relu_blocks_stays_zero_even_behind_an_infinite_gradient(void **state) {
  (void)state;
  lab *l = lab_of("graph(param %x: f64[2]) { %1 = relu %x %2 = sqrt %1 %3 = sum %2 return %3 }");
  add_gradient(l, 0);
  ASSERT_GIVES(l, PARAMS(LIST(-1, 4)), 0, 0.25);
  tn_graph_free(&l->graph);
}

/* ---- powers ---- */

static const char *power =
    "graph(param %x: f64[4], param %y: f64[4]) { %1 = pow %x, %y %2 = sum %1 return %2 }";

static void powers_of_zero_have_their_finite_slopes(void **state) {
  (void)state;
  lab *l = lab_of(power);
  add_gradient(l, 0);
  ASSERT_GIVES(l, PARAMS(LIST(0, 0, 0, -2), LIST(0, 1, 2, 3)), 0, 1, 0, 12);
  add_gradient(l, 1);
  ASSERT_GIVES(l, PARAMS(LIST(0, 0, 0, 2), LIST(1, 2, 0, 3)), 0, 0, 0, 8 * log(2));
  tn_graph_free(&l->graph);
}

static void higher_derivatives_of_whole_powers_are_exact_at_zero(void **state) {
  (void)state;
  lab *l = lab_of(power);
  tn_value x = l->graph.params.at[0], grad, second;
  assert_true(gradient(l, output_of(l, 0), x, TN_AD_STRICT, &grad));
  assert_true(gradient(l, total(l, grad), x, TN_AD_STRICT, &second));
  assert_true(tn_graph_output(&l->graph, 0, second));
  ASSERT_GIVES(l, PARAMS(LIST(0, 0, 0, 0), LIST(0, 1, 2, 3)), 0, 0, 2, 0);
  tn_graph_free(&l->graph);
}

static void the_mixed_derivative_of_a_power_is_right_at_exponent_zero(void **state) {
  (void)state;
  lab *l = lab_of(power);
  tn_value grad, mixed;
  assert_true(gradient(l, output_of(l, 0), l->graph.params.at[0], TN_AD_STRICT, &grad));
  assert_true(gradient(l, total(l, grad), l->graph.params.at[1], TN_AD_STRICT, &mixed));
  assert_true(tn_graph_output(&l->graph, 0, mixed));
  /* x^(y-1) (1 + y log x) */
  ASSERT_GIVES(l, PARAMS(LIST(4, 2, 1, 0.5), LIST(0, 0, 5, 0)), 0.25, 0.5, 1, 2);
  tn_graph_free(&l->graph);
}

/* ---- what stops a gradient ---- */

static void a_value_that_is_differentiated_by_is_a_leaf(void **state) {
  (void)state;
  lab *l = lab_of("graph(param %x: f64[]) { %1 = mul %x, %x %2 = mul %1, %x return %2 }");
  tn_value wrt[] = { l->graph.params.at[0], l->graph.params.at[0] + 1 }, output = output_of(l, 0), grads[2];
  tn_grad_request request = {
    .builder = &l->builder, .outputs = &output, .output_count = 1, .wrt = wrt, .wrt_count = 2
  };
  assert_true(tn_ad_grad(&request, grads));
  assert_true(
      tn_graph_output(&l->graph, 0, tn_build_binary(&l->builder.base, TN_OP_SUB, grads[0], grads[1])));
  ASSERT_GIVES(l, PARAMS(LIST(3)), 9 - 3); /* not 27 - 3: nothing flows through x * x */
  tn_graph_free(&l->graph);
}

static void what_an_output_does_not_need_has_no_gradient(void **state) {
  (void)state;
  lab *l = lab_of("graph(param %x: f64[2], param %y: f32[3]) { %1 = sum %x return %1 }");
  tn_value grads[2], output = output_of(l, 0);
  tn_grad_request request = { .builder = &l->builder,
                              .outputs = &output,
                              .output_count = 1,
                              .wrt = l->graph.params.at,
                              .wrt_count = 2,
                              .sparse_zeros = true };
  assert_true(tn_ad_grad(&request, grads));
  assert_int_equal(grads[1], TN_NO_VALUE);
  request.sparse_zeros = false;
  assert_true(tn_ad_grad(&request, grads));
  assert_int_equal(tn_graph_node(&l->graph, grads[1])->op, TN_OP_FILL);
  assert_true(
      tn_type_equal(tn_graph_type(&l->graph, grads[1]), tn_graph_type(&l->graph, l->graph.params.at[1])));
  tn_graph_free(&l->graph);
}

static void later_operations_do_not_change_an_output(void **state) {
  (void)state;
  lab *l = lab_of("graph(param %x: f64[2]) { %1 = sum %x return %1 }");
  tn_value late = tn_build_unary(&l->builder.base, TN_OP_NEG, l->graph.params.at[0]), grad, tangent;
  tn_value output = output_of(l, 0);
  assert_true(gradient(l, output, late, TN_AD_STRICT, &grad));
  assert_int_equal(tn_graph_node(&l->graph, grad)->op, TN_OP_FILL);
  tn_jvp_request request = { .builder = &l->builder,
                             .wrt = &late,
                             .tangents = &late,
                             .wrt_count = 1,
                             .outputs = &output,
                             .output_count = 1 };
  assert_true(tn_ad_jvp(&request, &tangent));
  assert_int_equal(tn_graph_node(&l->graph, tangent)->op, TN_OP_FILL);
  tn_graph_free(&l->graph);
}

/* The operation that a strict gradient names; TN_OP_ERROR if it has none to name. */
static tn_op strict_fault(const char *text) {
  lab *l = lab_of(text);
  size_t before = l->graph.nodes.count;
  tn_value grad, tangent, x = l->graph.params.at[0], output = output_of(l, 0);
  bool ok = gradient(l, output, x, TN_AD_STRICT, &grad);
  tn_fault fault = l->builder.base.fault;
  if (!ok) assert_int_equal(l->graph.nodes.count, before);
  tn_build_forget(&l->builder.base);
  tn_value seed = tn_build_like(&l->builder.base, x, 1);
  tn_jvp_request request = { .builder = &l->builder,
                             .wrt = &x,
                             .tangents = &seed,
                             .wrt_count = 1,
                             .outputs = &output,
                             .output_count = 1,
                             .policy = TN_AD_STRICT };
  assert_int_equal(tn_ad_jvp(&request, &tangent), ok);
  if (!ok) assert_int_equal(l->builder.base.fault.kind, TN_FAULT_NO_GRADIENT);
  tn_build_forget(&l->builder.base);
  bool lenient = gradient(l, output, x, TN_AD_LENIENT, &grad);
  assert_true(lenient);
  request.policy = TN_AD_LENIENT;
  assert_true(tn_ad_jvp(&request, &tangent));
  assert_sound(&l->graph);
  tn_graph_free(&l->graph);
  if (!ok) assert_int_equal(fault.kind, TN_FAULT_NO_GRADIENT);
  return ok ? TN_OP_ERROR : fault.op;
}

static void a_strict_gradient_names_what_has_no_derivative(void **state) {
  (void)state;
  assert_int_equal(strict_fault("graph(param %x: f64[2]) { %1 = rem %x, %x %2 = sum %1 return %2 }"),
                   TN_OP_REM);
  assert_int_equal(
      strict_fault("graph(param %x: f64[2]) { %1 = gt %x, %x %2 = cast %1 {dtype=f64} return %2 }"),
      TN_OP_GT);
  assert_int_equal(strict_fault("graph(param %x: f64[2]) { %1 = argmax %x {axis=0} %2 = cast %1 {dtype=f64}"
                                " return %2 }"),
                   TN_OP_ARGMAX);
  assert_int_equal(strict_fault("graph(param %x: f64[2]) { %1 = cast %x {dtype=i32} %2 = cast %1 {dtype=f64}"
                                " return %2 }"),
                   TN_OP_CAST);
  assert_int_equal(strict_fault("graph(param %x: f64[2]) { %1 = argmax %x {axis=0} return %1 }"),
                   TN_OP_ARGMAX);
}

static void conditions_indices_and_flat_operations_do_not_matter(void **state) {
  (void)state;
  assert_int_equal(
      strict_fault("graph(param %x: f64[2]) { %1 = gt %x, %x %2 = select %1, %x, %x return %2 }"),
      TN_OP_ERROR);
  assert_int_equal(
      strict_fault("graph(param %x: f64[2]) { %1 = cast %x {dtype=i32} %2 = gather %x, %1 {axis=0}"
                   " return %2 }"),
      TN_OP_ERROR);
  assert_int_equal(strict_fault("graph(param %x: f64[2]) { %1 = argmax %x {axis=0} %2 = cast %1 {dtype=f64}"
                                " %3 = floor %2 %4 = add %3, %x return %4 }"),
                   TN_OP_ERROR);
  assert_int_equal(strict_fault("graph(param %x: f64[]) { %0 = gt %x, %x %1 = if %0 { yield %x } else {"
                                " %2 = neg %x yield %2 } %3 = pick %1 return %3 }"),
                   TN_OP_ERROR);
}

static void an_unread_result_of_a_branch_does_not_matter(void **state) {
  (void)state;
  assert_int_equal(strict_fault("graph(param %x: f64[]) { %0 = gt %x, %x %1 = if %0 { yield %x, %0 } else {"
                                " %2 = neg %x yield %2, %0 } %3 = pick %1 return %3 }"),
                   TN_OP_ERROR);
}

/* An integer among the leaves has no gradient; a lenient transform passes it by. */
static void integers_among_the_leaves_stop_a_lenient_gradient(void **state) {
  (void)state;
  lab *l = lab_of("graph(param %x: i32[2], param %y: f64[2]) { %1 = cast %x {dtype=f64} %2 = mul %1, %y"
                  " %3 = sum %2 return %3, %x }");
  tn_value outputs[] = { output_of(l, 0), output_of(l, 1) }, grads[2];
  tn_grad_request request = { .builder = &l->builder,
                              .outputs = outputs,
                              .output_count = 2,
                              .wrt = l->graph.params.at,
                              .wrt_count = 2,
                              .policy = TN_AD_LENIENT,
                              .sparse_zeros = true };
  assert_true(tn_ad_grad(&request, grads));
  assert_int_equal(grads[0], TN_NO_VALUE);
  assert_true(tn_graph_output(&l->graph, 0, grads[1]));
  ASSERT_GIVES(l, PARAMS(LIST(3, 5), LIST(1, 1)), 3, 5);
  request.policy = TN_AD_STRICT;
  assert_false(tn_ad_grad(&request, grads));
  assert_int_equal(l->builder.base.fault.kind, TN_FAULT_NO_GRADIENT);
  tn_graph_free(&l->graph);
}

static void a_strict_gradient_looks_into_branches(void **state) {
  (void)state;
  assert_int_equal(strict_fault("graph(param %x: f64[]) { %0 = gt %x, %x %1 = if %0 { yield %x } else {"
                                " %2 = rem %x, %x yield %2 } %3 = pick %1 return %3 }"),
                   TN_OP_REM);
}

/* ---- branches ---- */

static void only_the_branch_that_runs_gets_a_gradient(void **state) {
  (void)state;
  lab *l = lab_of("graph(param %x: f64[], param %y: f64[]) {"
                  " %0 = gt %x, %y"
                  " %1 = if %0 { %2 = mul %x, %x yield %2 } else { %3 = log %y yield %3 }"
                  " %4 = pick %1 return %4 }");
  add_gradient(l, 0);
  ASSERT_GIVES(l, PARAMS(LIST(3), LIST(2)), 6);
  ASSERT_GIVES(l, PARAMS(LIST(1), LIST(2)), 0);
  add_gradient(l, 1);
  ASSERT_GIVES(l, PARAMS(LIST(3), LIST(0)), 0); /* 1 / 0 of the other branch is nowhere */
  ASSERT_GIVES(l, PARAMS(LIST(1), LIST(2)), 0.5);
  tn_graph_free(&l->graph);
}

static void a_gradient_taken_inside_a_branch_stays_inside(void **state) {
  (void)state;
  lab *l = lab_of("graph(param %x: f64[]) { %0 = gt %x, %x return %x }");
  tn_builder *b = &l->builder.base;
  tn_value x = l->graph.params.at[0], grad, zero;
  assert_true(b->methods->region_begin(b));
  tn_value cube = tn_build_binary(b, TN_OP_MUL, tn_build_binary(b, TN_OP_MUL, x, x), x);
  assert_true(gradient(l, cube, x, TN_AD_STRICT, &grad));
  uint32_t then_region = b->methods->region_end(b, &grad, 1);
  assert_true(b->methods->region_begin(b));
  zero = tn_build_number(b, TN_F64, 0);
  uint32_t else_region = b->methods->region_end(b, &zero, 1);
  assert_int_not_equal(b->methods->join(b, x + 1, then_region, else_region), TN_ERROR_VALUE);
  assert_sound(&l->graph);
  tn_graph_free(&l->graph);
}

/* else if else if ...: one level in another, as deep as regions go. */
static void a_long_chain_of_branches_is_differentiated_in_linear_space(void **state) {
  (void)state;
  tn_graph graph;
  tn_graph_builder builder;
  tn_builder *b = &builder.base;
  tn_type scalar = { TN_F64, TN_SCALAR_SHAPE };
  enum { LEVELS = TN_REGION_DEPTH_LIMIT / 2 };
  static tn_value conditions[LEVELS];
  static uint32_t then_regions[LEVELS];
  assert_true(tn_graph_init(&graph, &heap, names));
  tn_graph_builder_init(&builder, &graph);
  tn_value x = tn_build_param(b, name_of("x"), &scalar), result = x;
  for (int i = 0; i < LEVELS; i++) {
    conditions[i] = tn_build_binary(b, TN_OP_LT, x, tn_build_number(b, TN_F64, i));
    assert_true(b->methods->region_begin(b));
    tn_value y = tn_build_binary(b, TN_OP_MUL, x, tn_build_number(b, TN_F64, i + 1));
    then_regions[i] = b->methods->region_end(b, &y, 1);
    assert_true(b->methods->region_begin(b));
  }
  result = tn_build_unary(b, TN_OP_NEG, x);
  for (int i = LEVELS; i-- > 0;) {
    uint32_t other = b->methods->region_end(b, &result, 1);
    tn_value branch = b->methods->join(b, conditions[i], then_regions[i], other);
    result = tn_build(b, TN_OP_PICK, &branch, 1, &(tn_attrs){ .dtype = TN_F64 });
  }
  assert_true(tn_build_ok(b));
  size_t before = graph.nodes.count;
  tn_grad_request request = {
    .builder = &builder, .outputs = &result, .output_count = 1, .wrt = &x, .wrt_count = 1
  };
  tn_value grad;
  assert_true(tn_ad_grad(&request, &grad));
  assert_true(graph.nodes.count < 4 * before);
  assert_sound(&graph);
  tn_graph_output(&graph, 0, grad);
  runner r = runner_of(&graph);
  double slope;
  runner_set(&r, 0, LIST(2.5));
  runner_run(&r);
  runner_get(&r, 0, &slope, 1);
  assert_true(slope == 4);
  runner_free(&r);
  tn_graph_free(&graph);
}

/* ---- size ---- */

static void a_long_chain_costs_a_few_nodes_per_node(void **state) {
  (void)state;
  tn_graph graph;
  tn_graph_builder builder;
  tn_builder *b = &builder.base;
  tn_type scalar = { TN_F64, TN_SCALAR_SHAPE };
  assert_true(tn_graph_init(&graph, &heap, names));
  tn_graph_builder_init(&builder, &graph);
  tn_value x = tn_build_param(b, name_of("x"), &scalar), y = x, grad;
  for (int i = 0; i < 10000; i++) y = tn_build_binary(b, i % 2 ? TN_OP_MUL : TN_OP_ADD, y, x);
  tn_grad_request request = {
    .builder = &builder, .outputs = &y, .output_count = 1, .wrt = &x, .wrt_count = 1
  };
  uint64_t requests = heap.requests;
  assert_true(tn_ad_grad(&request, &grad));
  assert_true(graph.nodes.count < 60000);
  assert_true(heap.requests - requests < 200); /* memory grows by doubling, not by node */
  tn_graph_free(&graph);
}

/* ---- jacobians ---- */

static void a_jacobian_has_rows_of_the_output_and_columns_of_the_input(void **state) {
  (void)state;
  const char *wide = "graph(param %x: f64[3]) { %1 = mul %x, %x %2 = slice %1 {high=[2]} return %2 }";
  const char *tall = "graph(param %x: f64[2]) { %1 = mul %x, %x %2 = concat %1, %x {axis=0} return %2 }";
  tn_value jacobian;
  lab *l = lab_of(wide);
  assert_true(tn_ad_jacobian(&l->builder, output_of(l, 0), l->graph.params.at[0], TN_AD_STRICT, &jacobian));
  tn_graph_output(&l->graph, 0, jacobian);
  ASSERT_GIVES(l, PARAMS(LIST(1, 2, 3)), 2, 0, 0, 0, 4, 0);
  tn_graph_free(&l->graph);
  l = lab_of(tall);
  assert_true(tn_ad_jacobian(&l->builder, output_of(l, 0), l->graph.params.at[0], TN_AD_STRICT, &jacobian));
  tn_graph_output(&l->graph, 0, jacobian);
  ASSERT_GIVES(l, PARAMS(LIST(1, 2)), 2, 0, 0, 4, 1, 0, 0, 1);
  tn_graph_free(&l->graph);
}

static void a_jacobian_of_matrices_keeps_all_dimensions(void **state) {
  (void)state;
  tn_value jacobian;
  lab *l = lab_of("graph(param %x: f64[2, 3]) { %1 = transpose %x return %1 }");
  assert_true(tn_ad_jacobian(&l->builder, output_of(l, 0), l->graph.params.at[0], TN_AD_STRICT, &jacobian));
  tn_shape expected = tn_shape_make(4, 3, 2, 2, 3);
  assert_true(tn_shape_equal(&tn_graph_type(&l->graph, jacobian)->shape, &expected));
  tn_graph_free(&l->graph);
}

static void a_jacobian_refuses_unknown_lengths_and_too_many_dimensions(void **state) {
  (void)state;
  tn_value jacobian;
  lab *l = lab_of("graph(param %x: f64[B]) { %1 = neg %x return %1 }");
  assert_false(tn_ad_jacobian(&l->builder, output_of(l, 0), l->graph.params.at[0], TN_AD_STRICT, &jacobian));
  assert_int_equal(l->builder.base.fault.kind, TN_FAULT_NO_GRADIENT);
  tn_graph_free(&l->graph);
  l = lab_of("graph(param %x: f64[1, 1, 1, 1, 2]) { %1 = neg %x return %1 }");
  assert_false(tn_ad_jacobian(&l->builder, output_of(l, 0), l->graph.params.at[0], TN_AD_STRICT, &jacobian));
  assert_int_equal(l->builder.base.fault.kind, TN_FAULT_RANK_LIMIT);
  tn_graph_free(&l->graph);
}

static void a_jacobian_of_nothing_is_empty_and_one_of_too_much_is_refused(void **state) {
  (void)state;
  tn_value jacobian;
  const char *empty[] = { "graph(param %x: f64[0]) { %1 = sum %x return %1 }",
                          "graph(param %x: f64[2]) { %1 = slice %x {high=[0]} return %1 }" };
  const int64_t length[] = { 0, 2 };
  for (int i = 0; i < 2; i++) {
    lab *l = lab_of(empty[i]);
    assert_true(tn_ad_jacobian(&l->builder, output_of(l, 0), l->graph.params.at[0], TN_AD_STRICT, &jacobian));
    const tn_shape *shape = &tn_graph_type(&l->graph, jacobian)->shape;
    assert_int_equal(shape->dim[shape->rank - 1], length[i]);
    assert_int_equal(tn_shape_count(shape), 0);
    tn_graph_free(&l->graph);
  }
  lab *l = lab_of("graph(param %x: f64[1000001]) { %1 = neg %x return %1 }");
  assert_false(tn_ad_jacobian(&l->builder, output_of(l, 0), l->graph.params.at[0], TN_AD_STRICT, &jacobian));
  assert_int_equal(l->builder.base.fault.kind, TN_FAULT_TOO_LARGE);
  tn_graph_free(&l->graph);
}

static void what_has_failed_already_has_no_derivative(void **state) {
  (void)state;
  lab *l = lab_of("graph(param %x: f64[2]) { %1 = neg %x return %1 }");
  tn_value x = l->graph.params.at[0], output = output_of(l, 0), error = TN_ERROR_VALUE, out;
  size_t before = l->graph.nodes.count;
  assert_false(gradient(l, error, x, TN_AD_STRICT, &out));
  assert_false(gradient(l, output, error, TN_AD_STRICT, &out));
  assert_false(tn_ad_jacobian(&l->builder, error, x, TN_AD_STRICT, &out));
  assert_false(tn_ad_jacobian(&l->builder, output, error, TN_AD_STRICT, &out));
  tn_jvp_request forward = { .builder = &l->builder,
                             .wrt = &x,
                             .tangents = &error,
                             .wrt_count = 1,
                             .outputs = &output,
                             .output_count = 1 };
  assert_false(tn_ad_jvp(&forward, &out));
  forward.tangents = &x, forward.outputs = &error;
  assert_false(tn_ad_jvp(&forward, &out));
  forward.outputs = &output;
  tn_build_fault(&l->builder.base, TN_OP_NEG, (tn_fault){ .kind = TN_FAULT_INTERNAL });
  assert_false(gradient(l, output, x, TN_AD_STRICT, &out));
  assert_false(tn_ad_jvp(&forward, &out));
  assert_false(tn_ad_jacobian(&l->builder, output, x, TN_AD_STRICT, &out));
  assert_int_equal(l->graph.nodes.count, before);
  tn_graph_free(&l->graph);
}

/* ---- lengths that are names ---- */

/* The gradient before the lengths are known, bound, is the gradient after they are known. */
static void assert_symbolic(const char *text, const double *numbers, int64_t count) {
  tn_binding bindings[] = { { name_of("B"), 2 }, { name_of("N"), 3 } };
  double got[2][64];
  for (int early = 0; early < 2; early++) {
    lab *l = lab_of(text);
    tn_graph bound;
    tn_fault fault;
    tn_value grad;
    if (early) {
      assert_true(gradient(l, output_of(l, 0), l->graph.params.at[0], TN_AD_STRICT, &grad));
      if (!tn_type_equal(tn_graph_type(&l->graph, grad), tn_graph_type(&l->graph, l->graph.params.at[0]))) {
        fail_msg("the gradient has another type in %s", text);
      }
      tn_graph_output(&l->graph, 0, grad);
      assert_sound(&l->graph);
    }
    if (!tn_graph_bind(&l->graph, bindings, 2, &bound, &fault)) {
      fail_msg("%s refuses its lengths: fault %d in %s", tn_op_sig_of(fault.op)->name, (int)fault.kind, text);
    }
    tn_graph_free(&l->graph);
    l->graph = bound;
    tn_graph_builder_init(&l->builder, &l->graph);
    if (!early) add_gradient(l, 0);
    for (tn_value v = 1; v < l->graph.nodes.count; v++) {
      if (!tn_shape_is_known(&tn_graph_type(&l->graph, v)->shape))
        fail_msg("node %u has no lengths in %s", v, text);
    }
    runner r = runner_of(&l->graph);
    runner_set(&r, 0, numbers);
    runner_run(&r);
    runner_get(&r, 1, got[early], count);
    runner_free(&r);
    tn_graph_free(&l->graph);
  }
  for (int64_t i = 0; i < count; i++) {
    if (fabs(got[0][i] - got[1][i]) > 1e-12)
      fail_msg("element %d: %g and %g in %s", (int)i, got[0][i], got[1][i], text);
  }
}

static void gradients_may_be_taken_before_lengths_are_known(void **state) {
  (void)state;
  const double six[] = { 0.5, -1, 2, 0.25, 3, -0.75 };
  const char *texts[] = {
    "graph(param %x: f64[B, N]) { %1 = mul %x, %x %2 = mean %1 {axes=[0]} %3 = sum %2 return %3 }",
    "graph(param %x: f64[B, N]) { %1 = max %x {axes=[1]} %2 = sum %1 return %2 }",
    "graph(param %x: f64[B, N]) { %1 = prod %x {axes=[0, 1]} return %1 }",
    "graph(param %x: f64[B, N]) { %1 = flatten %x %2 = mul %1, %1 %3 = sum %2 return %3 }",
    "graph(param %x: f64[B, N]) { %1 = slice %x {low=[0, -2], high=[1, 9223372036854775807]} %2 = mul %1, %1"
    " %3 = sum %2 return %3 }",
    "graph(param %x: f64[B, N]) { %1 = slice %x {low=[0, 0], high=[2, -1], step=[1, 2]} %2 = mul %1, %1"
    " %3 = sum %2 return %3 }",
    "graph(param %x: f64[B, N]) { %1 = index %x {axis=1, index=-1} %2 = mul %1, %1 %3 = sum %2 return %3 }",
    "graph(param %x: f64[B, N]) { %1 = pad %x {low=[1, 0], high=[2, 1], step=[0, 1]} %2 = mul %1, %1"
    " %3 = sum %2 return %3 }",
    "graph(param %x: f64[B, N]) { %0 = neg %x %1 = concat %0, %x, %x {axis=1} %2 = mul %1, %1 %3 = sum %2"
    " return %3 }",
    "graph(param %x: f64[B, N]) { %1 = cumprod %x {axis=1} %2 = sum %1 return %2 }",
    "graph(param %x: f64[B, N]) { %1 = cumprod %x {axis=0, reverse=true, exclusive=true} %2 = sum %1 return "
    "%2 }",
    "graph(param %x: f64[B, N]) { %1 = transpose %x %2 = matmul %x, %1 %3 = mul %2, %2 %4 = sum %3 return %4 "
    "}",
    "graph(param %x: f64[B, N]) { %1 = expand_dims %x {axis=1} %2 = transpose %x %3 = matmul %1, %2"
    " %4 = mul %3, %3 %5 = sum %4 return %5 }",
    "graph(param %x: f64[B, N]) { %0 = iota {dtype=i32, shape=[B], axis=0} %1 = cross_entropy %x, %0 return "
    "%1 }",
    "graph(param %x: f64[B, N]) { %0 = iota {dtype=i32, shape=[B], axis=0} %1 = gather %x, %0 {axis=1}"
    " %2 = mul %1, %1 %3 = sum %2 return %3 }",
    "graph(param %x: f64[B, N]) { %0 = sum %x %1 = gt %0, %0 %2 = if %1 { yield %x } else { %3 = mul %x, %x"
    " yield %3 } %4 = pick %2 %5 = sum %4 return %5 }",
  };
  for (size_t i = 0; i < COUNT_OF(texts); i++) assert_symbolic(texts[i], six, 6);
}

static void a_convolution_over_a_batch_of_any_size_has_a_gradient(void **state) {
  (void)state;
  double image[24];
  for (int i = 0; i < 24; i++) image[i] = (i * 7 % 11) * 0.25 - 1;
  assert_symbolic("graph(param %x: f64[B, N, 4, 1]) { %1 = iota {dtype=f64, shape=[2, 2, 1, 2], axis=0}"
                  " %2 = conv2d %x, %1 {step=[1, 2], same=true} %3 = mul %2, %2 %4 = sum %3 return %4 }",
                  image, 24);
}

/* ---- storage ---- */

static void bf16_values_have_bf16_gradients(void **state) {
  (void)state;
  lab *l =
      lab_of("graph(param %x: bf16[3]) { %1 = mul %x, %x %2 = cast %1 {dtype=f32} %3 = sum %2 return %3 }");
  tn_value grad = add_gradient(l, 0);
  assert_int_equal(tn_graph_type(&l->graph, grad)->dtype, TN_BF16);
  ASSERT_GIVES(l, PARAMS(LIST(1, 2, -3)), 2, 4, -6);
  tn_graph_free(&l->graph);
}

/* ---- memory ---- */

static void a_gradient_survives_every_failing_allocation(void **state) {
  (void)state;
  const char *text =
      "graph(param %x: f32[2], param %y: f32[]) {"
      " %0 = gt %y, %y"
      " %1 = if %0 { %2 = mul %x, %y yield %2 } else { %3 = exp %x %4 = mul %3, %x yield %4 }"
      " %5 = pick %1 %6 = concat %5, %x, %5, %5, %x, %5, %x, %5, %x, %5 {axis=0}"
      " %8 = if %0 { %9 = if %0 { %10 = exp %y yield %10 } else { yield %y } %11 = pick %9"
      "   %12 = mul %11, %11 yield %12, %0 } else { yield %y, %0 }"
      " %13 = pick %8 %14 = cumprod %6 {axis=0} %15 = mul %13, %14 %7 = sum %15 return %7, %5 }";
  bool done = false;
  for (uint64_t n = 1; !done; n++) {
    assert_true(n < 10000);
    lab *l = lab_of(text);
    tn_value grads[2], output = output_of(l, 0), tangent;
    tn_value *x = l->graph.params.at;
    tn_grad_request request = {
      .builder = &l->builder, .outputs = &output, .output_count = 1, .wrt = x, .wrt_count = 2
    };
    tn_jvp_request forward = {
      .builder = &l->builder, .wrt = x, .tangents = x, .wrt_count = 2, .outputs = &output, .output_count = 1
    };
    heap.fail_at = heap.requests + n;
    heap.piecewise = true;
    done = tn_ad_grad(&request, grads) && tn_ad_jvp(&forward, &tangent) &&
           tn_ad_jacobian(&l->builder, output_of(l, 1), x[0], TN_AD_STRICT, &tangent) &&
           tn_ad_jacobian(&l->builder, output_of(l, 1), x[1], TN_AD_STRICT, &tangent);
    heap.fail_at = 0;
    heap.piecewise = false;
    if (!done) assert_int_equal(l->builder.base.fault.kind, TN_FAULT_MEMORY);
    tn_graph_free(&l->graph);
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
    TEST(a_product_with_one_zero_has_one_slope),
    TEST(third_derivatives_of_a_product_are_exact_at_zeros),
    TEST(the_hessian_of_a_product_is_exact_at_two_zeros),
    TEST(a_running_product_passes_gradients_over_zeros),
    TEST(a_product_of_nothing_has_an_empty_gradient),
    TEST(ties_of_max_and_min_share_evenly),
    TEST(ties_of_two_operands_halve),
    TEST(relu_and_abs_are_flat_at_zero),
    TEST(what_relu_blocks_stays_zero_even_behind_an_infinite_gradient),
    TEST(powers_of_zero_have_their_finite_slopes),
    TEST(higher_derivatives_of_whole_powers_are_exact_at_zero),
    TEST(the_mixed_derivative_of_a_power_is_right_at_exponent_zero),
    TEST(a_value_that_is_differentiated_by_is_a_leaf),
    TEST(what_an_output_does_not_need_has_no_gradient),
    TEST(later_operations_do_not_change_an_output),
    TEST(a_strict_gradient_names_what_has_no_derivative),
    TEST(conditions_indices_and_flat_operations_do_not_matter),
    TEST(an_unread_result_of_a_branch_does_not_matter),
    TEST(integers_among_the_leaves_stop_a_lenient_gradient),
    TEST(a_strict_gradient_looks_into_branches),
    TEST(only_the_branch_that_runs_gets_a_gradient),
    TEST(a_gradient_taken_inside_a_branch_stays_inside),
    TEST(a_long_chain_of_branches_is_differentiated_in_linear_space),
    TEST(a_long_chain_costs_a_few_nodes_per_node),
    TEST(a_jacobian_has_rows_of_the_output_and_columns_of_the_input),
    TEST(a_jacobian_of_matrices_keeps_all_dimensions),
    TEST(a_jacobian_refuses_unknown_lengths_and_too_many_dimensions),
    TEST(a_jacobian_of_nothing_is_empty_and_one_of_too_much_is_refused),
    TEST(what_has_failed_already_has_no_derivative),
    TEST(gradients_may_be_taken_before_lengths_are_known),
    TEST(a_convolution_over_a_batch_of_any_size_has_a_gradient),
    TEST(bf16_values_have_bf16_gradients),
    TEST(a_gradient_survives_every_failing_allocation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
