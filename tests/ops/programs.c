/* Whole programs give the same bits however they are run.
 *
 * A made-up program, often with its own gradient in it, is run plainly by ref.
 * Then with every pass of the optimiser alone, with every pass left out, with
 * all of them; and by every instruction set, on one thread and on several, in bands of
 * rows and without,
 * twice each, because a plan is there to be run again. Nothing may differ: that
 * is what lets fusion, reuse of memory and threads come and go.
 * TERN_TEST_CASE=n runs one program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ad/ad.h"
#include "check.h"
#include "opt/opt.h"
#include "plan/plan.h"
#include "support/branches.h"

#define VALUES 96
#define OUTPUTS 8
#define ELEMENTS 20000     /* of a value that is used further */

static tn_heap heap;
static tn_names *names;
static back_ends ends;
static bool finished;

/* ---- making up a program ---- */
typedef struct {
  op_case c;                 /* inputs are its operands */
  tn_graph graph;
  tn_graph_builder builder;
  tn_value value[VALUES];
  int count, index;          /* index: an input whose elements are 0 or 1 */
} program;

static const tn_type *type_of(const program *p, tn_value value) {
  return tn_build_type(&p->builder.base, value);
}

static void keep(program *p, tn_value value) {
  tn_build_forget(&p->builder.base);   /* a mismatch is left out */
  if (value == TN_ERROR_VALUE || p->count == VALUES) return;
  if (tn_shape_count(&type_of(p, value)->shape) <= ELEMENTS) p->value[p->count++] = value;
}

/* A value of one of the dtypes, rather a late one; TN_ERROR_VALUE when there is none. */
static tn_value pick(program *p, tn_dtype_set dtypes) {
  for (int tries = 0; tries < 12; tries++) {
    int recent = one_in(&p->c, 2) && p->count > 4 ? 4 : p->count;
    tn_value value = p->value[p->count - 1 - below(&p->c, recent)];
    if (tn_dtype_in(type_of(p, value)->dtype, dtypes)) return value;
  }
  return TN_ERROR_VALUE;
}

static tn_value with_attrs(program *p, tn_op op, tn_value x, tn_attrs attrs) {
  return tn_build(&p->builder.base, op, &x, 1, &attrs);
}

static tn_op any_elementwise(program *p, int arity) {
  for (;;) {
    tn_op op = (tn_op)(1 + below(&p->c, TN_OP_COUNT - 1));
    const tn_op_sig *sig = tn_op_sig_of(op);
    bool fails = op == TN_OP_DIV || op == TN_OP_REM;   /* by an integer 0, which passes may drop */
    if (sig->kind == TN_KIND_ELEMENTWISE && sig->arity == arity && sig->attrs == 0 && !fails) return op;
  }
}

static tn_value make_elementwise(program *p) {
  tn_builder *b = &p->builder.base;
  int kind = below(&p->c, 10);
  tn_op op = any_elementwise(p, kind < 4 ? 1 : 2);
  tn_value x = pick(p, kind < 8 ? tn_op_sig_of(op)->dtypes : TN_NUMBERS);
  if (x == TN_ERROR_VALUE) return x;
  tn_dtype dtype = type_of(p, x)->dtype;
  if (kind < 4) return tn_build_unary(b, op, x);
  if (kind < 7) return tn_build_binary(b, op, x, pick(p, TN_DTYPE_BIT(dtype)));
  if (kind < 8) return tn_build_binary(b, op, x, tn_build_number(b, dtype, below(&p->c, 9) - 3.5));
  if (kind < 9) return tn_build_cast(b, x, (tn_dtype)below(&p->c, TN_DTYPE_COUNT));
  return tn_build_select(b, pick(p, TN_BOOLS), x, pick(p, TN_DTYPE_BIT(dtype)));
}

/* A new axis of length 2 before all others. */
static tn_value make_repeated(program *p, tn_value x, tn_shape shape) {
  tn_attrs attrs = { .shape = { .rank = shape.rank + 1, .dim = { 2 } } };
  if (shape.rank >= 4) return x;
  for (int a = 0; a < shape.rank; a++) attrs.shape.dim[1 + a] = shape.dim[a];
  return with_attrs(p, TN_OP_BROADCAST_TO, x, attrs);
}

static tn_value make_arranged(program *p) {
  tn_value x = pick(p, TN_ANY_DTYPE);
  const tn_shape shape = type_of(p, x)->shape;
  int axis = shape.rank ? below(&p->c, shape.rank) : 0, step = 1 + below(&p->c, 2);
  tn_attrs attrs = { 0 };
  switch (below(&p->c, 6)) {
    case 0: return with_attrs(p, TN_OP_FLATTEN, x, attrs);
    case 1: return tn_build_transpose(&p->builder.base, x, NULL);
    case 2: return make_repeated(p, x, shape);
    case 3: return shape.rank == 0 ? x : tn_build_slice(&p->builder.base, x, axis, 0, INT64_MAX, step);
    case 4:
      for (int a = 0; a < shape.rank; a++) attrs.low[a] = below(&p->c, 2), attrs.high[a] = below(&p->c, 3);
      return with_attrs(p, TN_OP_PAD, x, attrs);
    default: {
      tn_value in[] = { x, pick(p, TN_DTYPE_BIT(type_of(p, x)->dtype)), x };
      attrs.axis = axis;
      return tn_build(&p->builder.base, TN_OP_CONCAT, in, 3, &attrs);
    }
  }
}

static tn_value make_along(program *p) {
  static const tn_op ops[] = { TN_OP_SUM, TN_OP_MEAN, TN_OP_MAX, TN_OP_MIN, TN_OP_CUMSUM, TN_OP_SOFTMAX,
                               TN_OP_LOG_SOFTMAX, TN_OP_ARGMAX, TN_OP_PROD, TN_OP_SUM };
  tn_op op = ops[below(&p->c, 10)];
  tn_value x = pick(p, tn_op_sig_of(op)->dtypes);
  if (x == TN_ERROR_VALUE) return x;
  int rank = type_of(p, x)->shape.rank;
  tn_attrs attrs = { .axis_count = one_in(&p->c, 3) ? -1 : 1 };
  if (rank > 0) attrs.axis = attrs.axes[0] = below(&p->c, rank);
  attrs.keepdims = one_in(&p->c, 2);
  return with_attrs(p, op, x, attrs);
}

static tn_value make_joined(program *p) {
  tn_builder *b = &p->builder.base;
  tn_value x = pick(p, TN_NUMBERS);
  tn_attrs attrs = { 0 };
  if (x == TN_ERROR_VALUE) return x;
  switch (below(&p->c, 4)) {
    case 0: return tn_build_matmul_any_rank(b, x, tn_build_transpose(b, x, NULL));
    case 1: return tn_build_matmul_any_rank(b, x, pick(p, TN_DTYPE_BIT(type_of(p, x)->dtype)));
    case 2: return with_attrs(p, TN_OP_GELU, pick(p, TN_FLOATS), attrs);
    default: {
      tn_value in[] = { x, p->value[p->index] };
      if (type_of(p, x)->shape.rank == 0 || type_of(p, x)->shape.dim[0] < 2) return TN_ERROR_VALUE;
      return tn_build(b, TN_OP_GATHER, in, 2, &attrs);
    }
  }
}

static bool branch_one(tn_builder *b, void *x, tn_value *results) {
  results[0] = tn_build_unary(b, TN_OP_NEG, *(tn_value *)x);
  results[1] = tn_build_binary(b, TN_OP_MUL, *(tn_value *)x, results[0]);
  return true;
}

static bool branch_two(tn_builder *b, void *x, tn_value *results) {
  results[0] = *(tn_value *)x;
  results[1] = tn_build_unary(b, TN_OP_RELU, *(tn_value *)x);
  return true;
}

static void make_branches(program *p) {
  tn_builder *b = &p->builder.base;
  tn_value results[2], x = pick(p, TN_DTYPE_BIT(TN_F32));
  if (x == TN_ERROR_VALUE) return;
  tn_value sum = tn_build_reduce(b, TN_OP_SUM, x, NULL, -1, false);
  tn_value positive = tn_build_binary(b, TN_OP_GT, sum, tn_build_number(b, TN_F32, 0));
  if (!build_if(b, positive, 2, branch_one, branch_two, &x, results)) return;
  keep(p, results[0]);
  keep(p, results[1]);
}

/* The gradient of the sum of some late value with respect to the f32 inputs. */
static void make_gradient(program *p) {
  tn_value wrt[CASE_OPERANDS], grads[CASE_OPERANDS], y = pick(p, TN_DTYPE_BIT(TN_F32));
  int count = 0;
  for (int k = 0; k < p->c.count; k++)
    if (p->c.in[k].view.dtype == TN_F32) wrt[count++] = p->value[k];
  if (y == TN_ERROR_VALUE || count == 0) return;
  tn_grad_request request = { .builder = &p->builder, .outputs = &y, .seeds = &(tn_value){ TN_NO_VALUE },
                              .output_count = 1, .wrt = wrt, .wrt_count = count, .policy = TN_AD_LENIENT };
  if (!tn_ad_grad(&request, grads)) fail_msg("no gradient: fault %d", (int)p->builder.base.fault.kind);
  for (int k = 0; k < count; k++) keep(p, grads[k]);
}

static void add_input(program *p, tn_dtype dtype, tn_shape shape, contents what, int64_t limit) {
  add_operand(&p->c, dtype, &shape, what, limit);
  tn_type type = { dtype, shape };
  keep(p, tn_build_input(&p->builder.base, 0, &type));
}

/* Rows whose lengths are at the edges of vectors and of chunks of sums; sometimes seen by others too. */
static void make_norm(program *p) {
  static const int64_t lengths[] = { 1, 2, 15, 16, 17, 33, 100, 511, 512, 513, 528, 1023, 1024, 1040, 1537 };
  int64_t n = lengths[below(&p->c, (int)(sizeof lengths / sizeof lengths[0]))];
  bool odd = one_in(&p->c, 3);
  tn_shape rows = { .rank = 3, .dim = { 1, 1, n } };
  for (int axis = 0; axis < 2; axis++) rows.dim[axis] = 1 + below(&p->c, 4);
  add_input(p, TN_F32, rows, odd ? ANY_VALUES : SMALL_VALUES, 0);
  add_input(p, TN_F32, tn_shape_make(1, n), one_in(&p->c, 4) ? ANY_VALUES : SMALL_VALUES, 0);
  add_input(p, TN_F32, tn_shape_make(1, n), SMALL_VALUES, 0);
  tn_attrs attrs = { .number = one_in(&p->c, 4) ? 0 : 1e-5 };
  tn_value x = p->value[0];
  if (one_in(&p->c, 2)) x = tn_build_unary(&p->builder.base, one_in(&p->c, 2) ? TN_OP_SIN : TN_OP_EXP, x);
  tn_value in[] = { x, p->value[1], p->value[2] };
  keep(p, tn_build(&p->builder.base, TN_OP_LAYER_NORM, in, 3, &attrs));
  if (one_in(&p->c, 2)) keep(p, tn_build_unary(&p->builder.base, TN_OP_RELU, p->value[p->count - 1]));
  if (one_in(&p->c, 4)) make_gradient(p);
}

/* Windows are taken apart and, for the gradient, put together again. */
static void make_convolution(program *p) {
  tn_shape image = { .rank = 4 }, kernel = { .rank = 4 };
  image.dim[0] = 1 + below(&p->c, 4);
  for (int side = 0; side < 2; side++) {
    image.dim[1 + side] = 3 + below(&p->c, 6);
    kernel.dim[side] = 1 + below(&p->c, 3);
  }
  int64_t groups = one_in(&p->c, 2) ? 1 : 1 + below(&p->c, 18);
  kernel.dim[2] = groups > 6 ? 1 : 1 + below(&p->c, 18);
  kernel.dim[3] = groups * (groups > 6 ? 1 + below(&p->c, 3) : 1 + below(&p->c, 18));
  image.dim[3] = groups * kernel.dim[2];
  add_input(p, TN_F32, image, SMALL_VALUES, 0);
  add_input(p, TN_F32, kernel, one_in(&p->c, 4) ? ANY_VALUES : SMALL_VALUES, 0);
  tn_attrs attrs = { .same = one_in(&p->c, 2), .index = (uint64_t)groups };
  for (int side = 0; side < 2; side++) attrs.step[side] = 1 + below(&p->c, 2);
  tn_value in[] = { p->value[0], p->value[1] };
  keep(p, tn_build(&p->builder.base, TN_OP_CONV2D, in, 2, &attrs));
  keep(p, tn_build_unary(&p->builder.base, TN_OP_TANH, p->value[p->count - 1]));
  make_gradient(p);
}

static void make_program(program *p, int number) {
  static const tn_dtype dtypes[] = { TN_F32, TN_F32, TN_F64, TN_I32, TN_I64, TN_BOOL, TN_BF16 };
  case_begin(&p->c, TN_OP_COUNT, number);
  p->c.contiguous = true;   /* a plan binds memory, not strides */
  p->count = 0;
  assert_true(tn_graph_init(&p->graph, &heap, names));
  tn_graph_builder_init(&p->builder, &p->graph);
  if (number % 8 == 7) {
    if (number % 16 == 7)
      make_norm(p);
    else
      make_convolution(p);
    for (int k = 0; k < 2; k++)
      assert_true(tn_graph_output(&p->graph, 0, p->value[p->count - 1 - k]));
    return;
  }
  tn_shape shape = any_shape(&p->c, 1, 3, 2000);
  add_input(p, TN_F32, shape, SMALL_VALUES, 0);
  for (int k = below(&p->c, 4); k >= 0; k--) {
    tn_shape own = one_in(&p->c, 2) ? shape : narrower(&p->c, &shape);
    add_input(p, dtypes[below(&p->c, 7)], own, one_in(&p->c, 3) ? ANY_VALUES : SMALL_VALUES, 0);
  }
  p->index = p->count;
  add_input(p, TN_I32, tn_shape_make(1, (int64_t)(1 + below(&p->c, 4))), INDEX_VALUES, 2);
  for (int steps = 4 + below(&p->c, 30); steps > 0; steps--) {
    int kind = below(&p->c, 16);
    if (kind < 9) keep(p, make_elementwise(p));
    else if (kind < 11) keep(p, make_arranged(p));
    else if (kind < 13) keep(p, make_along(p));
    else if (kind < 15) keep(p, make_joined(p));
    else make_branches(p);
  }
  if (one_in(&p->c, 2)) make_gradient(p);
  for (int k = 0; k < OUTPUTS && k < p->count; k++)
    assert_true(tn_graph_output(&p->graph, 0, k == 0 ? p->value[p->count - 1] : pick(p, TN_ANY_DTYPE)));
}

/* ---- running it ---- */
typedef struct {
  void *at[OUTPUTS];
  size_t bytes[OUTPUTS];
  int count;
} results;

static void free_results(results *r) {
  for (int k = 0; k < r->count; k++) free(r->at[k]);
  r->count = 0;
}

static void fail_program(const program *p, const tn_graph *graph, const char *how, const char *what) {
  tn_text text;
  tn_text_init(&text, &heap);
  tn_graph_print(graph, &text);
  fprintf(stderr, "%.*s", (int)text.len, text.at ? text.at : "");   /* cmocka would cut it off */
  fail_msg("program %d, %s: %s", p->c.number, how, what);
}

static void take_results(const tn_plan *plan, results *r, int count) {
  r->count = count;
  for (int k = 0; k < count; k++) {
    tn_view view = tn_plan_output(plan, k);
    tn_shape shape = tn_view_shape(&view);
    r->bytes[k] = (size_t)tn_view_count(&view) * tn_dtype_bytes(view.dtype);
    r->at[k] = malloc(r->bytes[k] + 1);
    tn_view copy = tn_view_make(r->at[k], view.dtype, &shape);
    tn_view_copy(&copy, &view);
  }
}

static bool same(const results *a, const results *b, char *what, size_t size) {
  for (int k = 0; k < a->count; k++)
    if (a->bytes[k] != b->bytes[k] || memcmp(a->at[k], b->at[k], a->bytes[k]) != 0) {
      snprintf(what, size, "output %d differs", k);
      return false;
    }
  return true;
}

/* Plans the graph, runs it twice, and compares with what is expected (or, at first, keeps it). */
static void run_graph(const program *p, const tn_graph *graph, const tn_backend *backend, int threads,
                      const char *how, results *expected) {
  tn_fault fault = { 0 };
  static const size_t bands[] = { 1, 300, 0, 5000 };
  static int runs;
  tn_plan_options options = { .backend = backend, .threads = threads, .band_bytes = bands[runs++ % 4] };
  if (expected->count == 0) options.band_bytes = SIZE_MAX;
  tn_plan *plan = tn_plan_new(&heap, graph, &options, &fault);
  char what[64];
  if (!plan) fail_program(p, graph, how, "there is no plan");
  for (size_t i = 0; i < graph->inputs.count; i++) tn_plan_bind_input(plan, (int)i, &p->c.in[i].view);
  for (int again = 0; again < 2; again++) {
    results r;
    if (!tn_plan_run(plan, &fault)) fail_program(p, graph, how, "the run failed");
    take_results(plan, &r, (int)graph->outputs.count);
    if (expected->count == 0) *expected = r;
    else if (!same(expected, &r, what, sizeof what)) fail_program(p, graph, how, what);
    if (expected->at[0] != r.at[0]) free_results(&r);
  }
  tn_plan_free(plan);
}

/* ---- passes ---- */
static bool fold_by_ref(void *context, tn_op op, const tn_attrs *attrs, const tn_view *in, int count,
                        const tn_view *out) {
  const tn_backend *ref = context;
  tn_fault fault = { 0 };
  size_t bytes = ref->scratch(ref, op, attrs, in, count, out, 1);
  void *scratch = bytes ? malloc(bytes) : NULL;
  tn_kernel_call call = { .op = op, .attrs = attrs, .in = in, .count = count, .out = out,
                          .scratch = scratch, .threads = 1, .fault = &fault };
  bool done = tn_backend_run(ref, &call);
  free(scratch);
  return done;
}

static void optimised(const program *p, tn_pass_set passes, tn_graph *to) {
  tn_opt_evaluator evaluator = { .compute = fold_by_ref, .context = (void *)(uintptr_t)tn_backend_ref() };
  tn_value where;
  assert_true(tn_graph_copy(&p->graph, to));
  assert_true(tn_opt_run(to, passes, &evaluator));
  const char *wrong = tn_graph_verify(to, &where);
  if (wrong) fail_program(p, to, "after the passes", wrong);
}

static void run_with_passes(const program *p, tn_pass_set passes, results *expected) {
  char how[64];
  tn_graph graph;
  snprintf(how, sizeof how, "passes 0x%x", (unsigned)passes);
  optimised(p, passes, &graph);
  run_graph(p, &graph, tn_backend_ref(), 1, how, expected);
  tn_graph_free(&graph);
}

static void run_with_back_ends(const program *p, results *expected) {
  char how[64];
  tn_graph graph;
  optimised(p, TN_PASS_ALL, &graph);
  for (int b = 0; b < ends.count; b++)
    for (int threads = 1; threads <= 3; threads += 2) {
      snprintf(how, sizeof how, "all passes, %s, %d threads", ends.backend[b]->isa, threads);
      run_graph(p, &graph, ends.backend[b], threads, how, expected);
    }
  tn_graph_free(&graph);
}

static void check_program(int number) {
  static program p;
  results expected = { .count = 0 };
  tn_value where;
  make_program(&p, number);
  const char *wrong = tn_graph_verify(&p.graph, &where);
  if (wrong) fail_program(&p, &p.graph, "as built", wrong);
  run_graph(&p, &p.graph, tn_backend_ref(), 1, "as built", &expected);
  for (unsigned pass = 1; pass < TN_PASS_ALL; pass <<= 1) {
    run_with_passes(&p, (tn_pass_set)pass, &expected);
    run_with_passes(&p, (tn_pass_set)(TN_PASS_ALL & ~pass), &expected);
  }
  run_with_back_ends(&p, &expected);
  free_results(&expected);
  tn_graph_free(&p.graph);
  case_end(&p.c);
}

static void programs_give_the_same_bits_however_they_are_run(void **state) {
  (void)state;
  const char *only = getenv("TERN_TEST_CASE");
  int first = only ? atoi(only) : 0, last = only ? first + 1 : ends.small ? 50 : 1000;
  for (int number = first; number < last; number++) check_program(number);
  finished = true;
}

static int set_up(void **state) {
  (void)state;
  ends = back_ends_of_this_machine();
  heap.pool = tn_pool_new(&heap, 4);
  names = tn_names_new(&heap);
  return names && heap.pool ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  tn_names_free(names);
  tn_pool_free(heap.pool);
  return !finished || heap.used == 0 ? 0 : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(programs_give_the_same_bits_however_they_are_run, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
