/* tests/unit/graph_support.h: graphs for tests: from text, from chance, and run. */
#ifndef TN_TEST_GRAPH_SUPPORT_H
#define TN_TEST_GRAPH_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "diag/diag.h"
#include "backend/backend.h"
#include "base/rng.h"
#include "graph/builder.h"
#include "opt/opt.h"
#include "plan/plan.h"
#include "support/branches.h"

typedef struct {
  tn_heap heap;
  tn_names *names;
  tn_sources sources;
  tn_diags diags;
} world;

static inline void world_open(world *w) {
  memset(w, 0, sizeof *w);
  w->heap.pool = tn_pool_new(&w->heap, 4); /* whose threads start when a test asks for several */
  w->names = tn_names_new(&w->heap);
  tn_sources_init(&w->sources, &w->heap);
  tn_diags_init(&w->diags, &w->heap, &w->sources);
}

/* All memory must have been freed. */
static inline void world_close(world *w) {
  tn_diags_free(&w->diags);
  tn_sources_free(&w->sources);
  tn_names_free(w->names);
  tn_pool_free(w->heap.pool);
  assert_int_equal(w->heap.used, 0);
}

static inline void graph_from(world *w, const char *text, tn_graph *out) {
  uint32_t file = tn_sources_add(&w->sources, TN_LIT("test"), tn_str_of(text));
  if (!tn_graph_parse(out, &w->heap, w->names, file, &w->diags)) {
    tn_text shown;
    tn_text_init(&shown, &w->heap);
    tn_diags_render_text(&w->diags, (tn_diag_style){ 0 }, &shown);
    fail_msg("%s", shown.at);
  }
}

static inline void assert_valid(const tn_graph *graph) {
  tn_value where = 0;
  const char *problem = tn_graph_verify(graph, &where);
  if (problem) fail_msg("node %u: %s", where, problem);
}

static inline bool fold_with_ref(void *context, tn_op op, const tn_attrs *attrs, const tn_view *in, int count,
                                 const tn_view *out) {
  (void)context;
  tn_fault fault = { 0 };
  tn_kernel_call call = {
    .op = op, .attrs = attrs, .in = in, .count = count, .out = out, .threads = 1, .fault = &fault
  };
  return tn_backend_run(tn_backend_ref(), &call);
}
static const tn_opt_evaluator ref_evaluator = { .compute = fold_with_ref, .context = NULL };

/* Inputs and parameters filled from a generator: small numbers of both signs. */
static inline tn_tensor random_tensor(world *w, const tn_type *type, tn_rng *rng) {
  tn_tensor tensor;
  assert_true(tn_tensor_new(&w->heap, type->dtype, &type->shape, &tensor));
  for (int64_t i = 0; i < tn_view_count(&tensor.view); i++) {
    tn_view_set_f64(&tensor.view, i, (double)(4 * tn_rng_uniform(rng) - 2));
  }
  return tensor;
}

typedef struct {
  tn_tensor *inputs, *params;
  size_t input_count, param_count;
} values;

static inline values random_values(world *w, const tn_graph *graph, uint64_t seed) {
  values v = { .input_count = graph->inputs.count, .param_count = graph->params.count };
  tn_rng rng;
  tn_rng_init(&rng, seed);
  v.inputs = tn_heap_alloc(&w->heap, (v.input_count + 1) * sizeof *v.inputs);
  v.params = tn_heap_alloc(&w->heap, (v.param_count + 1) * sizeof *v.params);
  for (size_t i = 0; i < v.input_count; i++)
    v.inputs[i] = random_tensor(w, tn_graph_type(graph, graph->inputs.at[i]), &rng);
  for (size_t i = 0; i < v.param_count; i++)
    v.params[i] = random_tensor(w, tn_graph_type(graph, graph->params.at[i]), &rng);
  return v;
}

static inline void free_values(world *w, values *v) {
  for (size_t i = 0; i < v->input_count; i++) tn_tensor_unref(&v->inputs[i]);
  for (size_t i = 0; i < v->param_count; i++) tn_tensor_unref(&v->params[i]);
  tn_heap_free(&w->heap, v->inputs, (v->input_count + 1) * sizeof *v->inputs);
  tn_heap_free(&w->heap, v->params, (v->param_count + 1) * sizeof *v->params);
}

static inline tn_plan *plan_for(world *w, const tn_graph *graph, const tn_backend *backend, int threads,
                                const values *v) {
  tn_fault fault;
  tn_plan_options options = { .backend = backend, .threads = threads };
  tn_plan *plan = tn_plan_new(&w->heap, graph, &options, &fault);
  assert_non_null(plan);
  for (size_t i = 0; i < v->input_count; i++) tn_plan_bind_input(plan, (int)i, &v->inputs[i].view);
  for (size_t i = 0; i < v->param_count; i++) tn_plan_bind_param(plan, (int)i, &v->params[i].view);
  return plan;
}

/* A fingerprint of all outputs. */
static inline void run_digest(world *w, const tn_graph *graph, const tn_backend *backend, int threads,
                              const values *v, uint8_t digest[32]) {
  tn_fault fault;
  tn_plan *plan = plan_for(w, graph, backend, threads, v);
  tn_sha256 hash;
  tn_sha256_init(&hash);
  for (int twice = 0; twice < 2; twice++) { /* the second run finds the block dirty */
    if (!tn_plan_run(plan, &fault))
      fail_msg("%s failed: fault %d", tn_op_sig_of(fault.op)->name, (int)fault.kind);
    for (size_t i = 0; i < graph->outputs.count; i++) {
      tn_view view = tn_plan_output(plan, (int)i);
      tn_view_sha256_update(&view, &hash);
    }
  }
  tn_sha256_final(&hash, digest);
  tn_plan_free(plan);
}

/* ---- graphs from chance ---- */

typedef struct {
  tn_rng rng;
  tn_value pool[256];
  int count;
  int depth;
} chance;

static inline int pick_below(chance *c, int n) { return (int)tn_rng_below(&c->rng, (uint32_t)n); }
static inline tn_value any_value(chance *c) { return c->pool[pick_below(c, c->count)]; }

static inline tn_value random_shaped(chance *c, tn_builder *b) {
  tn_value x = any_value(c);
  const tn_type type = *tn_build_type(b, x);
  int rank = type.shape.rank;
  switch (pick_below(c, 6)) {
    case 0: return tn_build_transpose(b, x, NULL);
    case 1: return tn_build(b, TN_OP_FLATTEN, &x, 1, NULL);
    case 2: return rank ? tn_build_slice(b, x, pick_below(c, rank), 0, INT64_MAX, 1 + pick_below(c, 2)) : x;
    case 3: return tn_build(b, TN_OP_EXPAND_DIMS, &x, 1, &(tn_attrs){ .axis = pick_below(c, rank + 1) });
    case 4: {
      tn_value two[2] = { x, x };
      return rank ? tn_build(b, TN_OP_CONCAT, two, 2, &(tn_attrs){ .axis = pick_below(c, rank) }) : x;
    }
    default: return rank ? tn_build(b, TN_OP_SOFTMAX, &x, 1, &(tn_attrs){ .axis = pick_below(c, rank) }) : x;
  }
}

static inline tn_value random_elementwise(chance *c, tn_builder *b) {
  static const tn_op unary[] = { TN_OP_NEG,     TN_OP_ABS, TN_OP_RELU, TN_OP_TANH,
                                 TN_OP_SIGMOID, TN_OP_SIN, TN_OP_GELU, TN_OP_FLOOR };
  static const tn_op binary[] = { TN_OP_ADD,     TN_OP_SUB, TN_OP_MUL, TN_OP_MAXIMUM,
                                  TN_OP_MINIMUM, TN_OP_ADD, TN_OP_DIV };
  static const double numbers[] = { 0, -0.0, 1, 0.5, -3 };
  switch (pick_below(c, 4)) {
    case 0: return tn_build_unary(b, unary[pick_below(c, 8)], any_value(c));
    case 1:
      return tn_build_binary(b, binary[pick_below(c, 7)], any_value(c),
                             tn_build_number(b, TN_F32, numbers[pick_below(c, 5)]));
    case 2: {
      tn_value x = any_value(c), y = any_value(c);
      return tn_build_select(b, tn_build_binary(b, TN_OP_LT, x, y), y, x);
    }
    default: return tn_build_binary(b, binary[pick_below(c, 7)], any_value(c), any_value(c));
  }
}

static inline tn_value random_step(chance *c, tn_builder *b);

static inline bool random_branch(tn_builder *b, void *context, tn_value *results) {
  chance *c = context;
  int before = c->count;
  for (int i = 0; i < 3; i++) {
    tn_value v = random_step(c, b);
    if (v != TN_ERROR_VALUE && c->count < 256) c->pool[c->count++] = v;
    tn_build_forget(b);
  }
  results[0] = tn_build_reduce(b, TN_OP_SUM, c->pool[c->count - 1], NULL, -1, false);
  c->count = before; /* what a branch made is not visible outside */
  return results[0] != TN_ERROR_VALUE;
}

static inline tn_value random_if(chance *c, tn_builder *b) {
  if (c->depth > 1) return TN_ERROR_VALUE;
  tn_value sum = tn_build_reduce(b, TN_OP_SUM, any_value(c), NULL, -1, false), result = TN_ERROR_VALUE;
  tn_value condition = tn_build_binary(b, TN_OP_GT, sum, tn_build_number(b, TN_F32, 0));
  c->depth++;
  build_if(b, condition, 1, random_branch, random_branch, c, &result);
  c->depth--;
  return result;
}

static inline tn_value random_step(chance *c, tn_builder *b) {
  static const tn_op reductions[] = { TN_OP_SUM, TN_OP_MEAN, TN_OP_MAX, TN_OP_MIN, TN_OP_PROD };
  int kind = pick_below(c, 12);
  if (kind < 6) return random_elementwise(c, b);
  if (kind < 8) return random_shaped(c, b);
  if (kind == 8) return tn_build_matmul(b, any_value(c), any_value(c));
  if (kind == 9) return random_if(c, b);
  tn_value x = any_value(c);
  int rank = tn_build_type(b, x)->shape.rank, axis = rank ? pick_below(c, rank) : 0;
  return tn_build_reduce(b, reductions[pick_below(c, 5)], x, &axis, rank ? 1 : -1, kind == 10);
}

/* A program of about `steps` operations on f32, with branches; small shapes. */
static inline void random_graph(world *w, uint64_t seed, int steps, tn_graph *out) {
  static const char *const names[] = { "a", "b", "c", "d" };
  tn_type types[] = { { TN_F32, tn_shape_make(2, (int64_t)3, (int64_t)4) },
                      { TN_F32, tn_shape_make(1, (int64_t)4) },
                      { TN_F32, tn_shape_make(2, (int64_t)4, (int64_t)3) },
                      { TN_F32, TN_SCALAR_SHAPE } };
  chance c = { .count = 0 };
  tn_rng_init(&c.rng, seed);
  assert_true(tn_graph_init(out, &w->heap, w->names));
  tn_graph_builder builder;
  tn_graph_builder_init(&builder, out);
  for (int i = 0; i < 4; i++) {
    tn_name name = tn_names_intern(w->names, tn_str_of(names[i]));
    c.pool[c.count++] = i % 2 ? tn_build_param(&builder.base, name, &types[i])
                              : tn_build_input(&builder.base, name, &types[i]);
  }
  for (int i = 0; i < steps && c.count < 200; i++) {
    tn_value v = random_step(&c, &builder.base);
    bool small = v != TN_ERROR_VALUE && tn_shape_count(&tn_graph_type(out, v)->shape) < 4096;
    if (small) c.pool[c.count++] = v;
    tn_build_forget(&builder.base);
  }
  for (int i = 0; i < 3 && i < c.count; i++) assert_true(tn_graph_output(out, 0, c.pool[c.count - 1 - i]));
}

/* Refuses each request of a pass for memory in turn, on a new graph of `make` every time. It must do without
 * that memory, or fail and leave a valid graph. */
static inline void assert_survives_refusals(void (*make)(world *w, tn_graph *out),
                                            bool (*pass)(tn_graph *graph)) {
  for (uint64_t n = 1;; n++) {
    world w;
    tn_graph graph;
    world_open(&w);
    make(&w, &graph);
    w.heap.fail_at = w.heap.requests + n;
    w.heap.failed = false;
    bool ok = pass(&graph);
    bool reached = w.heap.failed;
    w.heap.fail_at = 0;
    assert_valid(&graph);
    tn_graph_free(&graph);
    world_close(&w);
    assert_true(ok || reached);
    if (!reached) break;
  }
}
#endif
