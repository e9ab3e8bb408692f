/* Every derivative of the table against central differences in double precision.
 *
 * For y = op(x...), with random weights c, tangents t and u:
 *
 *   reverse   g = vjp(c)               against differences of <c, y>, one element at a time
 *   forward   w = jvp(t)               against the difference of y along t, and <c, w> = <g, t>
 *   twice     r = d<g, u>/dx           against differences of <g, u>, one element at a time
 *             v = dg along t           against the difference of g along t, and <r, t> = <v, u>
 *
 * So every rule is checked both ways, and the rules' own derivatives as well.
 * TERN_TEST_OP and TERN_TEST_CASE run one operation, or one case. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ad/ad.h"
#include "plan/plan.h"
#include "slope.h"
#include "support/branches.h"

#define INPUTS 16
#define ELEMENTS 512

static tn_heap heap;
static tn_names *names;
static bool finished;   /* a test that has failed leaves things behind, and that is not what is wrong */

/* ---- graphs ---- */
/* What a graph computes beside y; its inputs are the operands, then c, then tangents and weights. */
typedef enum { VALUE, FIRST, SECOND } order;

typedef struct {
  const slope *s;
  tn_graph graph;
  tn_graph_builder builder;
  int where[SLOPE_OPERANDS];       /* of the f64 operands */
  int slopes;                      /* how many there are */
  tn_value x[SLOPE_OPERANDS];      /* all operands */
  tn_value t[SLOPE_OPERANDS], u[SLOPE_OPERANDS], g[SLOPE_OPERANDS], y, c;
  tn_plan *plan;
  tn_tensor bound[INPUTS];
} experiment;

static void say_case(const slope *s, char *text, size_t size) {
  int at = snprintf(text, size, "%s, case %d:", tn_op_sig_of(s->op)->name, s->number);
  for (int k = 0; k < s->count; k++) {
    at += snprintf(text + at, size - (size_t)at, " %s[", tn_dtype_name(s->in[k].type.dtype));
    for (int a = 0; a < s->in[k].type.shape.rank; a++)
      at += snprintf(text + at, size - (size_t)at, a ? ", %d" : "%d", (int)s->in[k].type.shape.dim[a]);
    at += snprintf(text + at, size - (size_t)at, "]");
  }
  snprintf(text + at, size - (size_t)at, " axis %d, %d axes; alone: TERN_TEST_OP=%s TERN_TEST_CASE=%d",
           (int)s->attrs.axis, (int)s->attrs.axis_count, tn_op_sig_of(s->op)->name, s->number);
}

static void fail_case(const slope *s, const char *what, double got, double expected) {
  char text[1024];
  say_case(s, text, sizeof text);
  fail_msg("%s\n  %s: %.12g, expected %.12g", text, what, got, expected);
}

static void check_built(const experiment *e, const char *what) {
  char text[1024];
  const tn_fault *fault = &e->builder.base.fault;
  if (fault->kind == TN_FAULT_NONE) return;
  say_case(e->s, text, sizeof text);
  fail_msg("%s\n  %s: fault %d of %s: %s", text, what, (int)fault->kind, tn_op_sig_of(fault->op)->name,
           fault->reason ? fault->reason : "");
}

static tn_value input_like(experiment *e, tn_value like) {
  tn_type type = *tn_build_type(&e->builder.base, like);
  return tn_build_input(&e->builder.base, 0, &type);
}

/* The gradients of <weights, of> with respect to the f64 operands. */
static void reverse(experiment *e, const tn_value *of, const tn_value *weights, int count, tn_value *grads) {
  tn_value wrt[SLOPE_OPERANDS];
  for (int k = 0; k < e->slopes; k++) wrt[k] = e->x[e->where[k]];
  tn_grad_request request = { .builder = &e->builder, .outputs = of, .seeds = weights, .output_count = count,
                              .wrt = wrt, .wrt_count = e->slopes, .policy = TN_AD_STRICT };
  tn_ad_grad(&request, grads);
  check_built(e, "reverse");
}

static void forward(experiment *e, const tn_value *of, int count, tn_value *tangents) {
  tn_value wrt[SLOPE_OPERANDS];
  for (int k = 0; k < e->slopes; k++) wrt[k] = e->x[e->where[k]];
  tn_jvp_request request = { .builder = &e->builder, .wrt = wrt, .tangents = e->t, .wrt_count = e->slopes,
                             .outputs = of, .output_count = count, .policy = TN_AD_STRICT };
  tn_ad_jvp(&request, tangents);
  check_built(e, "forward");
  for (int k = 0; k < count; k++)
    if (tangents[k] == TN_NO_VALUE) tangents[k] = tn_build_like(&e->builder.base, of[k], 0);
}

static void give(experiment *e, const tn_value *values, int count) {
  for (int k = 0; k < count; k++) assert_true(tn_graph_output(&e->graph, 0, values[k]));
}

static void build(experiment *e, const slope *s, order wanted) {
  tn_builder *b = &e->builder.base;
  tn_value first[SLOPE_OPERANDS], w;
  *e = (experiment){ .s = s };
  assert_true(tn_graph_init(&e->graph, &heap, names));
  tn_graph_builder_init(&e->builder, &e->graph);
  for (int k = 0; k < s->count; k++) {
    e->x[k] = tn_build_input(b, 0, &s->in[k].type);
    if (s->in[k].type.dtype == TN_F64) e->where[e->slopes++] = k;
  }
  e->y = tn_build(b, s->op, e->x, s->count, &s->attrs);
  check_built(e, "the operation");
  if (wanted == VALUE) {
    give(e, &e->y, 1);
    return;
  }
  e->c = input_like(e, e->y);
  for (int k = 0; k < e->slopes; k++) e->t[k] = input_like(e, e->x[e->where[k]]);
  reverse(e, &e->y, &e->c, 1, e->g);
  if (wanted == FIRST) {
    forward(e, &e->y, 1, &w);
    give(e, e->g, e->slopes);
    give(e, &w, 1);
    return;
  }
  for (int k = 0; k < e->slopes; k++) e->u[k] = input_like(e, e->x[e->where[k]]);
  reverse(e, e->g, e->u, e->slopes, first);
  give(e, first, e->slopes);
  forward(e, e->g, e->slopes, first);
  give(e, first, e->slopes);
}

static void plan(experiment *e) {
  char text[1024];
  tn_fault fault = { 0 };
  tn_value where;
  const char *wrong = tn_graph_verify(&e->graph, &where);
  tn_plan_options options = { .backend = tn_backend_ref(), .threads = 1 };
  say_case(e->s, text, sizeof text);
  if (wrong) fail_msg("%s\n  node %u: %s", text, (unsigned)where, wrong);
  e->plan = tn_plan_new(&heap, &e->graph, &options, &fault);
  if (!e->plan) fail_msg("%s\n  no plan: fault %d", text, (int)fault.kind);
  assert_true(e->graph.inputs.count <= INPUTS);
  for (size_t i = 0; i < e->graph.inputs.count; i++) {
    const tn_type *type = tn_graph_type(&e->graph, e->graph.inputs.at[i]);
    assert_true(tn_tensor_zeros(&heap, type->dtype, &type->shape, &e->bound[i]));
    tn_plan_bind_input(e->plan, (int)i, &e->bound[i].view);
  }
}

static void discard(experiment *e) {
  tn_plan_free(e->plan);
  for (int i = 0; i < INPUTS; i++) tn_tensor_unref(&e->bound[i]);
  tn_graph_free(&e->graph);
}

/* ---- numbers ---- */
/* The values of all inputs of the largest graph, in its order; smaller graphs have the first. */
typedef struct {
  double at[INPUTS][ELEMENTS];
  int64_t size[INPUTS];
} point;

static void shuffle_grid(slope *s, uint32_t *slots, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) slots[i] = i;
  tn_rng_shuffle(&s->rng, slots, count);
}

static void choose_operands(slope *s, point *p) {
  static uint32_t slots[SLOPE_OPERANDS * ELEMENTS];
  uint32_t count = 0, next = 0;
  for (int k = 0; k < s->count; k++) count += (uint32_t)tn_shape_count(&s->in[k].type.shape);
  shuffle_grid(s, slots, count);
  for (int k = 0; k < s->count; k++) {
    const slope_operand *in = &s->in[k];
    p->size[k] = tn_shape_count(&in->type.shape);
    assert_true(p->size[k] <= ELEMENTS);
    for (int64_t i = 0; i < p->size[k]; i++, next++) {
      double part = (slots[next] + 0.3) / count;   /* never on a whole or half number */
      p->at[k][i] = in->type.dtype == TN_F64 ? in->low + (in->high - in->low) * part
                    : in->type.dtype == TN_BOOL ? slots[next] % 2
                                                : slots[next] % in->limit;
    }
    for (int i = 0; i < in->zeros && p->size[k] > 0; i++)
      p->at[k][tn_rng_below(&s->rng, (uint32_t)p->size[k])] = 0;
  }
}

static void choose_weights(slope *s, const experiment *e, point *p) {
  for (size_t i = (size_t)s->count; i < e->graph.inputs.count; i++) {
    p->size[i] = tn_shape_count(&tn_graph_type(&e->graph, e->graph.inputs.at[i])->shape);
    assert_true(p->size[i] <= ELEMENTS);
    for (int64_t j = 0; j < p->size[i]; j++) p->at[i][j] = tn_rng_uniform(&s->rng) * 2 - 1;
  }
}

/* Runs at a point; results[k] receives output k. */
static void run(experiment *e, const point *p, double results[][ELEMENTS]) {
  tn_fault fault = { 0 };
  for (size_t i = 0; i < e->graph.inputs.count; i++)
    for (int64_t j = 0; j < p->size[i]; j++) tn_view_set_f64(&e->bound[i].view, j, p->at[i][j]);
  if (!tn_plan_run(e->plan, &fault)) fail_case(e->s, "the run failed, fault", (int)fault.kind, 0);
  for (size_t k = 0; k < e->graph.outputs.count; k++) {
    tn_view view = tn_plan_output(e->plan, (int)k);
    assert_true(tn_view_count(&view) <= ELEMENTS);
    for (int64_t j = 0; j < tn_view_count(&view); j++) results[k][j] = tn_view_get_f64(&view, j);
  }
}

static double dot(const double *a, const double *b, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; i++) sum += a[i] * b[i];
  return sum;
}

static void check_close(const slope *s, const char *what, double got, double expected) {
  double room = s->tolerance * (1 + fabs(got) + fabs(expected));
  if (!(fabs(got - expected) <= room)) fail_case(s, what, got, expected);
}

/* ---- the checks ---- */
typedef struct {
  slope s;
  experiment value, first, second;
  point p;                          /* operands, c, tangents, weights */
  int64_t y_size;
  double g[INPUTS][ELEMENTS];       /* results of `first`: gradients, then the tangent of y */
  double r[INPUTS][ELEMENTS];       /* of `second`: gradients of <g, u>, then tangents of g */
} trial;

static int c_of(const trial *t) { return t->s.count; }
static int t_of(const trial *t, int k) { return t->s.count + 1 + k; }
static int u_of(const trial *t, int k) { return t->s.count + 1 + t->first.slopes + k; }

/* <c, y> and <g, u> at a point. */
static double weighted_value(trial *t, const point *p) {
  static double results[INPUTS][ELEMENTS];
  run(&t->value, p, results);
  return dot(results[0], p->at[c_of(t)], t->y_size);
}

static double weighted_gradient(trial *t, const point *p) {
  static double results[INPUTS][ELEMENTS];
  double sum = 0;
  run(&t->first, p, results);
  for (int k = 0; k < t->first.slopes; k++)
    sum += dot(results[k], p->at[u_of(t, k)], p->size[t->first.where[k]]);
  return sum;
}

/* Moves every element by itself and compares with `slopes`, one array for each f64 operand. */
static void check_elements(trial *t, const char *what, double (*value)(trial *, const point *),
                           double slopes[][ELEMENTS]) {
  static point moved;
  double h = t->s.step;
  for (int k = 0; k < t->value.slopes; k++) {
    int operand = t->value.where[k];
    for (int64_t i = 0; i < t->p.size[operand]; i++) {
      moved = t->p;
      moved.at[operand][i] = t->p.at[operand][i] + h;
      double above = value(t, &moved);
      moved.at[operand][i] = t->p.at[operand][i] - h;
      check_close(&t->s, what, slopes[k][i], (above - value(t, &moved)) / (2 * h));
    }
  }
}

static void move_along(const trial *t, double h, point *moved) {
  *moved = t->p;
  for (int k = 0; k < t->value.slopes; k++) {
    int operand = t->value.where[k];
    for (int64_t i = 0; i < t->p.size[operand]; i++) moved->at[operand][i] += h * t->p.at[t_of(t, k)][i];
  }
}

/* The outputs of e, moved along the tangents, against `slopes`. */
static void check_along(trial *t, const char *what, experiment *e, int outputs, double slopes[][ELEMENTS],
                        const int64_t *sizes) {
  static point moved;
  static double above[INPUTS][ELEMENTS], under[INPUTS][ELEMENTS];
  double h = t->s.step;
  move_along(t, h, &moved);
  run(e, &moved, above);
  move_along(t, -h, &moved);
  run(e, &moved, under);
  for (int k = 0; k < outputs; k++)
    for (int64_t i = 0; i < sizes[k]; i++)
      check_close(&t->s, what, slopes[k][i], (above[k][i] - under[k][i]) / (2 * h));
}

/* Two ways to say the same: <c, w> = <g, t> and <v, u> = <r, t>. */
static void check_transposed(trial *t, const char *what, double gradients[][ELEMENTS], double along) {
  double across = 0;
  for (int k = 0; k < t->value.slopes; k++)
    across += dot(gradients[k], t->p.at[t_of(t, k)], t->p.size[t->value.where[k]]);
  check_close(&t->s, what, along, across);
}

static void check_second(trial *t) {
  int slopes = t->value.slopes;
  int64_t sizes[SLOPE_OPERANDS];
  double along = 0;
  run(&t->second, &t->p, t->r);
  check_elements(t, "reverse of reverse", weighted_gradient, t->r);
  for (int k = 0; k < slopes; k++) {
    sizes[k] = t->p.size[t->value.where[k]];
    along += dot(t->r[slopes + k], t->p.at[u_of(t, k)], sizes[k]);
  }
  check_along(t, "forward of reverse", &t->first, slopes, t->r + slopes, sizes);
  check_transposed(t, "forward and reverse of reverse", t->r, along);
}

static void check_trial(tn_op op, int number) {
  static trial t;
  t.s = slope_make(op, number);
  build(&t.value, &t.s, VALUE);
  build(&t.first, &t.s, FIRST);
  build(&t.second, &t.s, t.s.flat ? FIRST : SECOND);
  t.y_size = tn_shape_count(&tn_graph_type(&t.value.graph, t.value.y)->shape);
  choose_operands(&t.s, &t.p);
  choose_weights(&t.s, &t.second, &t.p);
  plan(&t.value), plan(&t.first), plan(&t.second);

  run(&t.first, &t.p, t.g);
  check_elements(&t, "reverse", weighted_value, t.g);
  check_along(&t, "forward", &t.value, 1, t.g + t.value.slopes, &t.y_size);
  check_transposed(&t, "forward and reverse", t.g, dot(t.g[t.value.slopes], t.p.at[c_of(&t)], t.y_size));
  if (!t.s.flat) check_second(&t);
  discard(&t.value), discard(&t.first), discard(&t.second);
}

static void agrees_with_differences(void **state) {
  tn_op op = *(const tn_op *)*state;
  const char *only = getenv("TERN_TEST_CASE"), *effort = getenv("TERN_TEST_EFFORT");
  int first = only ? atoi(only) : 0, cases = effort && strcmp(effort, "small") == 0 ? 8 : 64;
  for (int number = first; number < (only ? first + 1 : cases); number++) check_trial(op, number);
  finished = true;
}

/* ---- what has none ---- */
/* x -> op -> f64, for operations whose operands can be f64. */
static tn_value build_without(experiment *e, tn_op op) {
  tn_builder *b = &e->builder.base;
  tn_type type = { TN_F64, tn_shape_make(1, (int64_t)3) };
  assert_true(tn_graph_init(&e->graph, &heap, names));
  tn_graph_builder_init(&e->builder, &e->graph);
  int arity = tn_op_sig_of(op)->arity;
  for (int k = 0; k < arity; k++) {
    tn_type own = type;
    if (op == TN_OP_ROW_UPDATE && k == 1) own.dtype = TN_I32;
    if (op == TN_OP_ROW_UPDATE && k == 3) own.shape = TN_SCALAR_SHAPE;
    e->x[k] = tn_build_input(b, 0, &own);
  }
  return tn_build_cast(b, tn_build(b, op, e->x, arity, NULL), TN_F64);
}

static void an_operation_without_a_derivative_says_so(void **state) {
  (void)state;
  for (tn_op op = 1; op < TN_OP_COUNT; op++) {
    const tn_op_sig *sig = tn_op_sig_of(op);
    bool fits = sig->arity > 0 && (sig->dtypes & TN_DTYPE_BIT(TN_F64)) && op != TN_OP_PICK;
    if (!fits || tn_ad_has_vjp(op) != TN_DERIVATIVE_NONE) continue;
    experiment e = { 0 };
    tn_value grad, y = build_without(&e, op);
    assert_true(tn_build_ok(&e.builder.base));
    tn_grad_request request = { .builder = &e.builder, .outputs = &y, .seeds = &(tn_value){ TN_NO_VALUE },
                                .output_count = 1, .wrt = e.x, .wrt_count = 1, .policy = TN_AD_LENIENT };
    assert_true(tn_ad_grad(&request, &grad));
    assert_int_equal(tn_graph_node(&e.graph, grad)->op, TN_OP_FILL);
    request.policy = TN_AD_STRICT;
    assert_false(tn_ad_grad(&request, &grad));
    assert_int_equal(e.builder.base.fault.kind, TN_FAULT_NO_GRADIENT);
    assert_int_equal(e.builder.base.fault.op, op);
    tn_graph_free(&e.graph);
  }
  finished = true;
}

static bool is_structural(const tn_op_sig *sig) {
  return tn_op_is_source(sig->op) || sig->kind == TN_KIND_GENERATE || sig->kind == TN_KIND_BRANCH ||
         sig->kind == TN_KIND_PICK || sig->kind == TN_KIND_EFFECT;
}

static void every_derivative_of_the_table_is_tested(void **state) {
  (void)state;
  for (tn_op op = 1; op < TN_OP_COUNT; op++) {
    const tn_op_sig *sig = tn_op_sig_of(op);
    bool has = tn_ad_has_vjp(op) != TN_DERIVATIVE_NONE || tn_ad_has_jvp(op) != TN_DERIVATIVE_NONE;
    if (is_structural(sig) || !has) continue;
    if (!slope_maker_of(op)) fail_msg("%s has a derivative, and no case in tests/ops/slope.c", sig->name);
  }
}

/* ---- branches ---- */
static bool branch_sin(tn_builder *b, void *x, tn_value *results) {
  results[0] = tn_build_unary(b, TN_OP_SIN, *(tn_value *)x);
  return true;
}

static bool branch_square(tn_builder *b, void *x, tn_value *results) {
  results[0] = tn_build_binary(b, TN_OP_MUL, *(tn_value *)x, *(tn_value *)x);
  return true;
}

/* if x > 0: sin x, else x * x; its first and second derivatives are known. */
static void only_the_branch_that_ran_has_a_gradient(void **state) {
  (void)state;
  slope s = { .op = TN_OP_IF };
  experiment e = { .s = &s, .slopes = 1 };
  tn_builder *b = &e.builder.base;
  tn_type scalar = { TN_F64, TN_SCALAR_SHAPE };
  assert_true(tn_graph_init(&e.graph, &heap, names));
  tn_graph_builder_init(&e.builder, &e.graph);
  e.x[0] = tn_build_input(b, 0, &scalar);
  tn_value zero = tn_build_number(b, TN_F64, 0), one = tn_build_number(b, TN_F64, 1);
  tn_value positive = tn_build_binary(b, TN_OP_GT, e.x[0], zero);
  assert_true(build_if(b, positive, 1, branch_sin, branch_square, &e.x[0], &e.y));
  e.t[0] = one;
  tn_value second[2];
  reverse(&e, &e.y, &one, 1, e.g);
  reverse(&e, e.g, &one, 1, &second[0]);
  forward(&e, e.g, 1, &second[1]);
  give(&e, e.g, 1);
  give(&e, second, 2);
  plan(&e);
  static point p;
  static double results[INPUTS][ELEMENTS];
  p.size[0] = 1;
  for (int side = 0; side < 2; side++) {
    p.at[0][0] = side ? 0.7 : -0.7;
    run(&e, &p, results);
    double expected[] = { side ? cos(0.7) : -1.4, side ? -sin(0.7) : 2, side ? -sin(0.7) : 2 };
    for (int k = 0; k < 3; k++) assert_true(fabs(results[k][0] - expected[k]) < 1e-14);
  }
  discard(&e);
  finished = true;
}

/* ---- running them ---- */
static int set_up(void **state) {
  (void)state;
  heap = (tn_heap){ 0 };
  finished = false;
  names = tn_names_new(&heap);
  return names ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  tn_names_free(names);
  return !finished || heap.used == 0 ? 0 : -1;
}

int main(void) {
  static struct CMUnitTest tests[TN_OP_COUNT + 3];
  static tn_op ops[TN_OP_COUNT];
  const char *only = getenv("TERN_TEST_OP");
  size_t count = 0;
  const struct CMUnitTest general[] = {
    cmocka_unit_test(every_derivative_of_the_table_is_tested),
    cmocka_unit_test_setup_teardown(an_operation_without_a_derivative_says_so, set_up, tear_down),
    cmocka_unit_test_setup_teardown(only_the_branch_that_ran_has_a_gradient, set_up, tear_down),
  };
  for (size_t i = 0; !only && i < sizeof general / sizeof general[0]; i++) tests[count++] = general[i];
  for (tn_op op = 1; op < TN_OP_COUNT; op++) {
    ops[op] = op;
    if (tn_ad_has_vjp(op) == TN_DERIVATIVE_NONE || !slope_maker_of(op)) continue;
    if (only && strcmp(only, tn_op_sig_of(op)->name) != 0) continue;
    tests[count++] = (struct CMUnitTest){ tn_op_sig_of(op)->name, agrees_with_differences, set_up, tear_down,
                                          &ops[op] };
  }
  return _cmocka_run_group_tests("ops/gradients", tests, count, NULL, NULL);
}
