/* tests/unit/ad_parts.c: an operation that has parts has their values and their derivatives, bit for bit.
 *
 * Each program is built twice, with layer_norm or attention and with the parts in its place. What an operand
 * receives from several parts is added part by part, between what others give it: sums in another order would
 * differ. */
#include <math.h>

#include "ad/ad.h"
#include "eager/eager.h"
#include "graph_support.h"

enum { X, GAMMA, BETA, OPERANDS };

typedef tn_value (*norm)(tn_builder *b, tn_value x, tn_value gamma, tn_value beta);

static const tn_attrs eps = { .number = 1e-3 };

static tn_value whole(tn_builder *b, tn_value x, tn_value gamma, tn_value beta) {
  return tn_build(b, TN_OP_LAYER_NORM, (tn_value[]){ x, gamma, beta }, 3, &eps);
}

static tn_value in_parts(tn_builder *b, tn_value x, tn_value gamma, tn_value beta) {
  return tn_build_parts(b, TN_OP_LAYER_NORM, (tn_value[]){ x, gamma, beta }, 3, &eps);
}

static const tn_attrs one_head = { .index = 1 }, causal = { .index = 19, .causal = true };

static tn_value attend(tn_builder *b, tn_value q, tn_value k, tn_value v) {
  return tn_build(b, TN_OP_ATTENTION, (tn_value[]){ q, k, v }, 3, &one_head);
}

static tn_value attend_in_parts(tn_builder *b, tn_value q, tn_value k, tn_value v) {
  return tn_build_parts(b, TN_OP_ATTENTION, (tn_value[]){ q, k, v }, 3, &one_head);
}

static tn_value attend_causally(tn_builder *b, tn_value q, tn_value k, tn_value v) {
  return tn_build(b, TN_OP_ATTENTION, (tn_value[]){ q, k, v }, 3, &causal);
}

static tn_value attend_causally_in_parts(tn_builder *b, tn_value q, tn_value k, tn_value v) {
  return tn_build_parts(b, TN_OP_ATTENTION, (tn_value[]){ q, k, v }, 3, &causal);
}

static const struct {
  norm whole, parts;
  int64_t others; /* rows of gamma and beta, or keys */
} ways[] = { { whole, in_parts, 1 }, { whole, in_parts, 5 }, { attend, attend_in_parts, 1 },
             { attend, attend_in_parts, 5 }, { attend_causally, attend_causally_in_parts, 5 } };
enum { WAYS = sizeof ways / sizeof *ways };

/* ---- programs ---- */

typedef tn_value (*program)(tn_builder *b, norm of, const tn_value *in);

static tn_value sum_of_product(tn_builder *b, tn_value x, tn_value y) {
  return tn_build_reduce(b, TN_OP_SUM, tn_build_binary(b, TN_OP_MUL, x, y), NULL, -1, false);
}

static tn_value alone(tn_builder *b, norm of, const tn_value *in) {
  tn_value y = of(b, in[X], in[GAMMA], in[BETA]);
  return sum_of_product(b, y, tn_build_unary(b, TN_OP_SIN, y));
}

/* x, gamma and beta are read by others, before and after. */
static tn_value beside_others(tn_builder *b, norm of, const tn_value *in) {
  tn_value before = tn_build_unary(b, TN_OP_SIN, tn_build_binary(b, TN_OP_ADD, in[X], in[BETA]));
  tn_value y = tn_build_binary(b, TN_OP_ADD, of(b, in[X], in[GAMMA], in[BETA]), in[X]);
  tn_value z = of(b, y, in[GAMMA], in[GAMMA]);
  return sum_of_product(b, tn_build_binary(b, TN_OP_MUL, z, in[GAMMA]), before);
}

static tn_value of_itself(tn_builder *b, norm of, const tn_value *in) {
  tn_value y = of(b, in[X], in[X], in[X]);
  return sum_of_product(b, y, tn_build_unary(b, TN_OP_COS, in[X]));
}

typedef struct {
  norm of;
  const tn_value *in;
} branch_context;

static bool then_branch(tn_builder *b, void *context, tn_value *results) {
  const branch_context *c = context;
  tn_value y = c->of(b, tn_build_unary(b, TN_OP_TANH, c->in[X]), c->in[GAMMA], c->in[BETA]);
  results[0] = tn_build_binary(b, TN_OP_ADD, c->in[X], y);
  return true;
}

static bool else_branch(tn_builder *b, void *context, tn_value *results) {
  (void)b;
  results[0] = ((const branch_context *)context)->in[X];
  return true;
}

static tn_value in_a_branch(tn_builder *b, norm of, const tn_value *in) {
  branch_context context = { of, in };
  tn_value squares = sum_of_product(b, in[X], in[X]), result;
  tn_dtype dtype = tn_build_type(b, squares)->dtype;
  tn_value positive = tn_build_binary(b, TN_OP_GT, squares, tn_build_number(b, dtype, 0));
  if (b->methods->region_begin) {
    build_if(b, positive, 1, then_branch, else_branch, &context, &result);
  } else {
    then_branch(b, &context, &result);   /* the eager builder has no branches: the caller decides */
  }
  return sum_of_product(b, result, in[X]);
}

static const program programs[] = { alone, beside_others, of_itself, in_a_branch };
enum { PROGRAMS = sizeof programs / sizeof *programs };

/* ---- in a graph ---- */

static void add_outputs(tn_graph *graph, const tn_value *results, int count) {
  for (int i = 0; i < count; i++) assert_true(tn_graph_output(graph, 0, results[i]));
}

/* The value, its gradients, and its tangent. */
static void build_graph(world *w, program p, norm of, int64_t others, tn_dtype dtype, tn_graph *graph) {
  tn_graph_builder builder;
  tn_value in[OPERANDS], results[OPERANDS], tangents[OPERANDS];
  assert_true(tn_graph_init(graph, &w->heap, w->names));
  tn_graph_builder_init(&builder, graph);
  for (int i = 0; i < OPERANDS; i++) {
    tn_type type = { dtype, tn_shape_make(2, i == X ? 5 : others, (int64_t)19) };
    in[i] = tn_build_input(&builder.base, 0, &type);
    tangents[i] = tn_build_unary(&builder.base, TN_OP_SIN, in[i]);
  }
  tn_value y = p(&builder.base, of, in);
  tn_grad_request reverse = {
    .builder = &builder, .outputs = &y, .output_count = 1, .wrt = in, .wrt_count = OPERANDS
  };
  tn_jvp_request forward = { .builder = &builder, .wrt = in, .tangents = tangents, .wrt_count = OPERANDS,
                             .outputs = &y, .output_count = 1 };
  add_outputs(graph, &y, 1);
  assert_true(tn_ad_grad(&reverse, results));
  add_outputs(graph, results, OPERANDS);
  assert_true(tn_ad_jvp(&forward, results));
  add_outputs(graph, results, 1);
  assert_valid(graph);
}

static void compare_graphs(program p, int way, tn_dtype dtype) {
  const tn_backend *ends[] = { tn_backend_ref(), tn_backend_cpu(NULL) };
  world w;
  tn_graph graph, parts;
  uint8_t wanted[32], got[32];
  world_open(&w);
  build_graph(&w, p, ways[way].whole, ways[way].others, dtype, &graph);
  build_graph(&w, p, ways[way].parts, ways[way].others, dtype, &parts);
  values v = random_values(&w, &parts, 7);
  run_digest(&w, &parts, tn_backend_ref(), 1, &v, wanted);
  for (int optimised = 0; optimised < 2; optimised++) {
    if (optimised) assert_true(tn_opt_run(&graph, TN_PASS_ALL, NULL));
    assert_valid(&graph);
    for (int i = 0; i < 2; i++) {
      run_digest(&w, &graph, ends[i], 2, &v, got);
      assert_memory_equal(wanted, got, sizeof wanted);
    }
  }
  free_values(&w, &v);
  tn_graph_free(&graph);
  tn_graph_free(&parts);
  world_close(&w);
}

static void derivatives_in_a_graph_have_the_bits_of_the_parts(void **state) {
  (void)state;
  for (int i = 0; i < PROGRAMS * WAYS; i++) {
    compare_graphs(programs[i / WAYS], i % WAYS, TN_F32);
    compare_graphs(programs[i / WAYS], i % WAYS, TN_F64);
  }
}

/* ---- of layer_norm in every shape ---- */

typedef struct {
  tn_shape x, gamma, beta;
  double scale; /* of the gradient of the result */
} norm_case;

/* The gradients of x (which something else reads), gamma and beta, with given ones of both results. */
static void build_norm(world *w, const norm_case *c, norm of, tn_dtype dtype, tn_graph *graph) {
  tn_graph_builder builder;
  tn_value in[OPERANDS], seeds[2], grads[OPERANDS];
  const tn_shape *shapes[] = { &c->x, &c->gamma, &c->beta };
  assert_true(tn_graph_init(graph, &w->heap, w->names));
  tn_graph_builder_init(&builder, graph);
  for (int i = 0; i < OPERANDS; i++)
    in[i] = tn_build_input(&builder.base, 0, &(tn_type){ dtype, *shapes[i] });
  for (int i = 0; i < 2; i++) seeds[i] = tn_build_input(&builder.base, 0, &(tn_type){ dtype, c->x });
  tn_value y = of(&builder.base, in[X], in[GAMMA], in[BETA]);
  const tn_value outputs[] = { y, tn_build_binary(&builder.base, TN_OP_MUL, in[X], in[X]) };
  tn_grad_request request = { .builder = &builder, .outputs = outputs, .seeds = seeds, .output_count = 2,
                              .wrt = in, .wrt_count = OPERANDS };
  assert_true(tn_ad_grad(&request, grads));
  add_outputs(graph, grads, OPERANDS);
  assert_valid(graph);
}

static void scale_elements(const tn_view *view, double scale) {
  for (int64_t i = 0; i < tn_view_count(view); i++)
    tn_view_set_f64(view, i, tn_view_get_f64(view, i) * scale);
}

static void compare_norm(const norm_case *c, tn_dtype dtype, double odd) {
  const tn_backend *ends[] = { tn_backend_ref(), tn_backend_cpu(NULL), tn_backend_cpu(NULL) };
  static const int threads[] = { 1, 1, 4 };
  world w;
  tn_graph graph, parts;
  uint8_t wanted[32], got[32];
  world_open(&w);
  build_norm(&w, c, whole, dtype, &graph);
  build_norm(&w, c, in_parts, dtype, &parts);
  values v = random_values(&w, &parts, 3);
  scale_elements(&v.inputs[OPERANDS].view, c->scale);
  if (odd != 0) tn_view_set_f64(&v.inputs[X].view, tn_shape_count(&c->x) / 2, odd);
  run_digest(&w, &parts, tn_backend_ref(), 1, &v, wanted);
  for (int i = 0; i < 3; i++) {
    run_digest(&w, &graph, ends[i], threads[i], &v, got);
    if (memcmp(wanted, got, sizeof wanted) != 0)
      fail_msg("%s, %d by ... by %d, scale %g, on %s with %d threads", tn_dtype_name(dtype), (int)c->x.dim[0],
               (int)c->x.dim[c->x.rank - 1], c->scale, ends[i]->name, threads[i]);
  }
  free_values(&w, &v);
  tn_graph_free(&graph);
  tn_graph_free(&parts);
  world_close(&w);
}

#define S(...) { sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t), { __VA_ARGS__ } }

static void gradients_of_layer_norm_have_the_bits_of_the_parts(void **state) {
  (void)state;
  static const norm_case cases[] = {
    { S(1), S(1), S(1), 1 },          { S(7, 1), S(1), S(1), 1 },          { S(1, 19), S(19), S(1, 19), 1 },
    { S(0, 5), S(5), S(5), 1 },       { S(5, 0), S(0), S(0), 1 },          { S(33, 17), S(17), S(17), 1 },
    { S(2, 300, 9), S(9), S(9), 1 },  { S(1030, 70), S(1, 70), S(70), 1 }, { S(3, 600), S(600), S(600), 1 },
    { S(2, 2100), S(2100), S(2100), 1 },
    /* quotients that are not quick */
    { S(40, 48), S(48), S(48), 1e-30 }, { S(40, 48), S(48), S(48), 1e-44 },
    /* gamma or beta is no row: the parts */
    { S(6, 8), { 0 }, S(1), 1 }, { S(4, 6, 8), S(6, 8), S(8), 1 }, { S(6, 8), S(8), S(6, 1), 1 },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    compare_norm(&cases[i], TN_F32, 0);
    compare_norm(&cases[i], TN_F64, 0);
  }
  compare_norm(&cases[5], TN_F32, NAN);
  compare_norm(&cases[5], TN_F32, INFINITY);
  compare_norm(&cases[5], TN_F32, 1e30);
  compare_norm(&cases[5], TN_F64, -INFINITY);
}

/* Lengths that have names: the parts. */
static void gradients_of_unknown_lengths_are_made_of_parts(void **state) {
  (void)state;
  world w;
  tn_graph graph;
  world_open(&w);
  graph_from(&w, "graph(%x: f32[B, 8], %g: f32[8], %s: f32[B, 8]) {\n"
                 "  %1 = layer_norm %x, %g, %g {number=1}\n  return %1\n}\n", &graph);
  tn_graph_builder builder;
  tn_graph_builder_init(&builder, &graph);
  tn_value wrt[] = { 1, 2 }, output = graph.outputs.at[0].value, seed = 3, grads[2];
  tn_grad_request request = { .builder = &builder, .outputs = &output, .seeds = &seed, .output_count = 1,
                              .wrt = wrt, .wrt_count = 2 };
  assert_true(tn_ad_grad(&request, grads));
  for (size_t v = 1; v < graph.nodes.count; v++)
    assert_int_not_equal(graph.nodes.at[v].op, TN_OP_LAYER_NORM_GRAD);
  assert_true(tn_shape_equal(&tn_graph_type(&graph, grads[0])->shape, &tn_graph_type(&graph, 1)->shape));
  tn_graph_free(&graph);
  world_close(&w);
}

/* ---- on the tape ---- */

/* Rows of `n`: a few elements have paths of their own. */
static void run_tape(program p, norm of, int64_t others, int64_t n, tn_sha256 *hash) {
  world w;
  tn_rng rng;
  tn_value variables[OPERANDS];
  world_open(&w);
  tn_rng_init(&rng, 11);
  tn_eager *eager = tn_eager_new(&w.heap, w.names, tn_backend_cpu(NULL), 1);
  size_t scope = tn_eager_scope_begin(eager);
  for (int i = 0; i < OPERANDS; i++) {
    tn_tensor tensor =
        random_tensor(&w, &(tn_type){ TN_F32, tn_shape_make(2, i == X ? 2 : others, n) }, &rng);
    tn_value value = tn_eager_tensor(eager, &tensor);
    variables[i] = tn_eager_variable(eager, value);
    tn_eager_unref(eager, value);
    tn_tensor_unref(&tensor);
  }
  tn_value y = p(tn_eager_builder(eager), of, variables);
  for (int twice = 0; twice < 2; twice++) assert_true(tn_eager_backward(eager, y));
  tn_view view = tn_eager_view(eager, y);
  tn_view_sha256_update(&view, hash);
  tn_eager_scope_end(eager, scope);
  for (int i = 0; i < OPERANDS; i++) {
    tn_value grad = tn_eager_grad(eager, variables[i]);
    view = tn_eager_view(eager, grad);
    tn_view_sha256_update(&view, hash);
    tn_eager_unref(eager, grad);
    tn_eager_unref(eager, variables[i]);
  }
  assert_int_equal(tn_eager_live(eager), 0);
  tn_eager_free(eager);
  world_close(&w);
}

static void gradients_on_the_tape_have_the_bits_of_the_parts(void **state) {
  (void)state;
  for (int i = 0; i < PROGRAMS * WAYS; i++) {
    int way = i % WAYS;
    int64_t others = ways[way].others == 1 ? 1 : 2;
    for (int64_t n = ways[way].whole == attend_causally ? 19 : 3; n <= 19; n += 16) {
      norm both[] = { ways[way].parts, ways[way].whole };
      uint8_t digest[2][32];
      for (int k = 0; k < 2; k++) {
        tn_sha256 hash;
        tn_sha256_init(&hash);
        run_tape(programs[i / WAYS], both[k], others, n, &hash);
        tn_sha256_final(&hash, digest[k]);
      }
      assert_memory_equal(digest[0], digest[1], 32);
    }
  }
}

static void the_tape_survives_every_failed_allocation(void **state) {
  (void)state;
  bool reached = true;
  for (uint64_t n = 1; reached; n++) {
    world w;
    world_open(&w);
    tn_eager *eager = tn_eager_new(&w.heap, w.names, tn_backend_ref(), 1);
    tn_builder *b = tn_eager_builder(eager);
    size_t scope = tn_eager_scope_begin(eager);
    w.heap.fail_at = w.heap.requests + n;
    tn_value row = tn_build_fill(b, &(tn_type){ TN_F32, tn_shape_make(1, (int64_t)20) }, 2);
    tn_value x = row ? tn_eager_variable(eager, row) : TN_ERROR_VALUE;
    tn_value y = x ? whole(b, x, x, row) : TN_ERROR_VALUE;
    if (y) (void)tn_eager_backward(eager, y);
    tn_eager_unref(eager, x);
    tn_eager_scope_end(eager, scope);
    reached = w.heap.failed;
    if (!tn_build_ok(b)) assert_int_equal(b->fault.kind, TN_FAULT_MEMORY);
    assert_int_equal(tn_eager_live(eager), 0);
    tn_eager_free(eager);
    world_close(&w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(derivatives_in_a_graph_have_the_bits_of_the_parts),
    cmocka_unit_test(gradients_of_layer_norm_have_the_bits_of_the_parts),
    cmocka_unit_test(gradients_of_unknown_lengths_are_made_of_parts),
    cmocka_unit_test(gradients_on_the_tape_have_the_bits_of_the_parts),
    cmocka_unit_test(the_tape_survives_every_failed_allocation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
