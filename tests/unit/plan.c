/* tests/unit/plan.c: plans run what is needed, in place where it is safe, and nothing else. */
#include <stdio.h>

#include "graph_support.h"

static float number_at(const tn_view *view, int64_t index) { return (float)tn_view_get_f64(view, index); }

/* A host that counts who asks, and may refuse. */
typedef struct {
  int calls, entered;
  bool refuse;
} host_log;

static bool host_call(void *context, const tn_node *node, const tn_view *out) {
  (void)node;
  ((host_log *)context)->calls++;
  tn_view_set_f64(out, 0, 5);
  return true;
}

static bool host_entering(void *context, const tn_node *const *nodes, size_t count) {
  (void)nodes;
  host_log *log = context;
  log->entered += (int)count;
  return !log->refuse;
}

static const char branch_text[] =
    "graph(%x: f32[]) {\n  %1 = fill {dtype=f32, shape=[], number=0}\n  %2 = gt %x, %1\n"
    "  %3 = if %2 {\n    %4 = host {dtype=f32, shape=[], name=\"now\"}\n    yield %4\n  } else {\n    %5 = "
    "neg %x\n    yield %5\n  }\n"
    "  %6 = pick %3 {index=0, dtype=f32, shape=[]}\n  return %6\n}\n";

static bool run_branch(float x, host_log *log, float *result) {
  world w;
  tn_graph graph;
  tn_fault fault;
  world_open(&w);
  graph_from(&w, branch_text, &graph);
  values v = { 0 };
  tn_plan *plan = plan_for(&w, &graph, tn_backend_ref(), 1, &v);
  tn_view input = tn_view_make(&x, TN_F32, &TN_SCALAR_SHAPE);
  tn_plan_bind_input(plan, 0, &input);
  tn_plan_set_effects(plan, &(tn_effects){ log, host_call, host_entering });
  bool ok = tn_plan_run(plan, &fault);
  if (!ok) assert_int_equal(fault.kind, TN_FAULT_HOST);
  tn_view out = tn_plan_output(plan, 0);
  if (ok) *result = number_at(&out, 0);
  tn_plan_free(plan);
  tn_graph_free(&graph);
  world_close(&w);
  return ok;
}

static void an_if_runs_one_branch(void **state) {
  (void)state;
  host_log log = { 0 };
  float result;
  assert_true(run_branch(-3, &log, &result));
  assert_true(result == 3);
  assert_int_equal(log.calls, 0);
  assert_true(run_branch(3, &log, &result));
  assert_true(result == 5);
  assert_int_equal(log.calls, 1);
}

static void a_refused_region_runs_nothing(void **state) {
  (void)state;
  host_log log = { .refuse = true };
  float result;
  assert_true(run_branch(-3, &log, &result)); /* the other branch needs nothing */
  assert_false(run_branch(3, &log, &result));
  assert_int_equal(log.calls, 0);
  assert_int_equal(log.entered, 1);
}

/* ---- updates ---- */

typedef struct {
  world w;
  tn_graph graph;
  tn_plan *plan;
  tn_tensor param[2];
} training;

static void training_open(training *t, const char *text, const int *updates) {
  tn_fault fault;
  world_open(&t->w);
  graph_from(&t->w, text, &t->graph);
  tn_plan_options options = { .backend = tn_backend_ref(), .threads = 1, .updates = updates };
  t->plan = tn_plan_new(&t->w.heap, &t->graph, &options, &fault);
  assert_non_null(t->plan);
  for (size_t i = 0; i < t->graph.params.count; i++) {
    const tn_type *type = tn_graph_type(&t->graph, t->graph.params.at[i]);
    assert_true(tn_tensor_new(&t->w.heap, type->dtype, &type->shape, &t->param[i]));
    for (int64_t e = 0; e < tn_view_count(&t->param[i].view); e++)
      tn_view_set_f64(&t->param[i].view, e, (double)(10 * (int64_t)i + e + 1));
    tn_plan_bind_param(t->plan, (int)i, &t->param[i].view);
  }
}

static void training_close(training *t) {
  for (size_t i = 0; i < t->graph.params.count; i++) tn_tensor_unref(&t->param[i]);
  tn_plan_free(t->plan);
  tn_graph_free(&t->graph);
  world_close(&t->w);
}

static void an_update_replaces_the_parameter(void **state) {
  (void)state;
  training t;
  tn_fault fault;
  training_open(
      &t, "graph(param %p: f32[3]) {\n  %1 = add %p, %p\n  %2 = sum %p {axes=[0]}\n  return %2, %1\n}\n",
      (int[]){ 1 });
  assert_true(tn_plan_run(t.plan, &fault));
  tn_view sum = tn_plan_output(t.plan, 0);
  assert_true(number_at(&sum, 0) == 6); /* of the old value */
  assert_true(number_at(&t.param[0].view, 2) == 6);
  assert_true(tn_plan_run(t.plan, &fault));
  sum = tn_plan_output(t.plan, 0);
  assert_true(number_at(&sum, 0) == 12);
  assert_int_equal(tn_plan_stats_of(t.plan).block_bytes,
                   64); /* the sum; the update needs no place of its own */
  training_close(&t);
}

static void parameters_can_change_places(void **state) {
  (void)state;
  training t;
  tn_fault fault;
  training_open(&t, "graph(param %p: f32[2], param %q: f32[2]) {\n  return %q, %p\n}\n", (int[]){ 0, 1 });
  assert_true(tn_plan_run(t.plan, &fault));
  assert_true(number_at(&t.param[0].view, 0) == 11 && number_at(&t.param[1].view, 1) == 2);
  training_close(&t);
}

static void a_transposed_parameter_is_not_overwritten_while_it_is_read(void **state) {
  (void)state;
  training t;
  tn_fault fault;
  training_open(
      &t,
      "graph(param %p: f32[2, 2]) {\n  %1 = transpose %p {axes=[1, 0]}\n  %2 = add %p, %1\n  return %2\n}\n",
      (int[]){ 0 });
  assert_true(tn_plan_run(t.plan, &fault));
  static const float wanted[] = { 2, 5, 5, 8 };
  for (int i = 0; i < 4; i++) assert_true(number_at(&t.param[0].view, i) == wanted[i]);
  training_close(&t);
}

static void a_failed_run_leaves_parameters_alone(void **state) {
  (void)state;
  training t;
  tn_fault fault;
  int32_t index = 7;
  training_open(&t,
                "graph(%i: i32[1], param %p: f32[3]) {\n  %1 = neg %p\n  %2 = gather %1, %i {axis=0}\n  "
                "return %1, %2\n}\n",
                (int[]){ 0 });
  tn_shape one = tn_shape_make(1, (int64_t)1);
  tn_view input = tn_view_make(&index, TN_I32, &one);
  tn_plan_bind_input(t.plan, 0, &input);
  assert_false(tn_plan_run(t.plan, &fault));
  assert_int_equal(fault.kind, TN_FAULT_BOUNDS);
  assert_int_equal(fault.got, 7);
  assert_int_equal(fault.expected, 3);
  for (int i = 0; i < 3; i++) assert_true(number_at(&t.param[0].view, i) == (float)(i + 1));
  index = 2;
  assert_true(tn_plan_run(t.plan, &fault));
  assert_true(number_at(&t.param[0].view, 2) == -3);
  training_close(&t);
}

/* ---- memory ---- */

static void places_are_reused_when_a_value_is_dead(void **state) {
  (void)state;
  world w;
  tn_graph graph;
  world_open(&w);
  graph_from(&w,
             "graph(%x: f32[1000]) {\n  %1 = exp %x\n  %2 = cumsum %1 {axis=0}\n  %3 = cumsum %2 {axis=0}\n"
             "  %4 = cumsum %3 {axis=0}\n  %5 = cumsum %4 {axis=0}\n  return %5\n}\n",
             &graph);
  values v = random_values(&w, &graph, 1);
  tn_plan *plan = plan_for(&w, &graph, tn_backend_ref(), 1, &v);
  assert_true(tn_plan_stats_of(plan).block_bytes <= 2 * 4032);
  tn_plan_free(plan);
  free_values(&w, &v);
  tn_graph_free(&graph);
  world_close(&w);
}

static void elementwise_results_take_the_place_of_a_dying_operand(void **state) {
  (void)state;
  world w;
  tn_graph graph;
  world_open(&w);
  graph_from(&w, "graph(%x: f32[1000]) {\n  %1 = exp %x\n  %2 = neg %1\n  %3 = abs %2\n  return %3\n}\n",
             &graph);
  values v = random_values(&w, &graph, 1);
  tn_plan *plan = plan_for(&w, &graph, tn_backend_ref(), 1, &v);
  assert_int_equal(tn_plan_stats_of(plan).block_bytes, 4032);
  tn_plan_free(plan);
  free_values(&w, &v);
  tn_graph_free(&graph);
  world_close(&w);
}

/* Others may still read what was written earlier; where steps run in parallel, the result would wait for
 * them. */
static void of_two_dying_operands_the_later_one_is_written_over(void **state) {
  (void)state;
  world w;
  tn_graph graph;
  tn_text print;
  world_open(&w);
  graph_from(&w,
             "graph(%x: f32[1024]) {\n  %1 = exp %x\n  %2 = sum %1 {axes=[0]}\n"
             "  %3 = sin %x\n  %4 = mul %1, %3\n  return %2, %4\n}\n",
             &graph);
  values v = random_values(&w, &graph, 1);
  tn_plan *plan = plan_for(&w, &graph, tn_backend_ref(), 1, &v);
  tn_text_init(&print, &w.heap);
  tn_plan_print(plan, &print);
  assert_non_null(strstr(print.at, "mul @0 @4160 -> @4160\n"));
  tn_text_free(&print);
  tn_plan_free(plan);
  free_values(&w, &v);
  tn_graph_free(&graph);
  world_close(&w);
}

/* Rows that go together need memory for one band of what lies between the steps, on each thread; results
 * have all of theirs. */
static void steps_go_band_by_band_with_the_same_bits(void **state) {
  (void)state;
  static const char text[] =
      "graph(%x: f32[6, 28, 28, 3], %w: f32[27, 4], %g: f32[4]) {\n"
      "  %1 = patches %x {window=[3, 3], low=[1, 1], high=[1, 1], step=[1, 1]}\n"
      "  %2 = reshape %1 {shape=[4704, 27]}\n  %3 = matmul %2, %w\n"
      "  %4 = mean %3 {axes=[1], keepdims=true}\n  %5 = sub %3, %4\n  %6 = mul %5, %g\n"
      "  %7 = softmax %6 {axis=1}\n  %8 = reshape %7 {shape=[6, 784, 4]}\n"
      "  %9 = transpose %8 {axes=[0, 2, 1]}\n  %10 = reshape %9 {shape=[6, 3136]}\n"
      "  %11 = sum %10 {axes=[1]}\n  %12 = sum %10 {axes=[0]}\n  return %11, %12\n}\n";
  size_t sizes[] = { SIZE_MAX, 1, 100000 }, block = 0;
  world w;
  tn_graph graph;
  tn_fault fault;
  uint8_t first[64], digest[64];
  world_open(&w);
  graph_from(&w, text, &graph);
  values v = random_values(&w, &graph, 1);
  for (int i = 0; i < 9; i++) {
    tn_plan_options options = { .backend = tn_backend_cpu(NULL),
                                .threads = 1 + i % 3,
                                .band_bytes = sizes[i / 3] };
    tn_plan *plan = tn_plan_new(&w.heap, &graph, &options, &fault);
    for (size_t k = 0; k < v.input_count; k++) tn_plan_bind_input(plan, (int)k, &v.inputs[k].view);
    for (int again = 0; again < 2; again++) {
      assert_true(tn_plan_run(plan, &fault));
      for (int k = 0; k < 2; k++) {
        tn_view out = tn_plan_output(plan, k);
        tn_view_sha256(&out, digest + 32 * k);
      }
      if (i == 0) memcpy(first, digest, sizeof first);
      assert_memory_equal(first, digest, sizeof first);
    }
    if (i == 0) block = tn_plan_stats_of(plan).block_bytes;
    if (i == 3) assert_true(tn_plan_stats_of(plan).block_bytes < block / 2);
    if (i == 4 || i == 5) assert_true(tn_plan_stats_of(plan).block_bytes < block);
    tn_plan_free(plan);
  }
  free_values(&w, &v);
  tn_graph_free(&graph);
  world_close(&w);
}

/* It needs no memory but for its result; its parts, written out, do, and give the same bits. */
static void a_layer_norm_is_one_step(void **state) {
  (void)state;
  static const char *const texts[] = {
    "graph(%x: f32[40, 300], %g: f32[300], %b: f32[300]) {\n"
    "  %1 = layer_norm %x, %g, %b {number=1e-05}\n  return %1\n}\n",
    "graph(%x: f32[40, 300], %g: f32[300], %b: f32[300]) {\n"
    "  %1 = mean %x {axes=[1], keepdims=true}\n  %2 = sub %x, %1\n  %3 = mul %2, %2\n"
    "  %4 = mean %3 {axes=[1], keepdims=true}\n  %5 = fill {dtype=f32, shape=[], number=1e-05}\n"
    "  %6 = add %4, %5\n  %7 = sqrt %6\n  %8 = div %2, %7\n  %9 = mul %8, %g\n  %10 = add %9, %b\n"
    "  return %10\n}\n",
  };
  uint8_t first[32], digest[32];
  for (int i = 0; i < 2; i++) {
    world w;
    tn_graph graph;
    tn_fault fault;
    world_open(&w);
    graph_from(&w, texts[i], &graph);
    assert_true(tn_opt_run(&graph, TN_PASS_ALL, NULL));
    values v = random_values(&w, &graph, 1);
    tn_plan *plan = plan_for(&w, &graph, tn_backend_cpu(NULL), 2, &v);
    assert_int_equal(tn_plan_stats_of(plan).steps == 1, i == 0);
    assert_int_equal(tn_plan_stats_of(plan).block_bytes == 40 * 300 * 4, i == 0);
    assert_true(tn_plan_run(plan, &fault));
    tn_view out = tn_plan_output(plan, 0);
    tn_view_sha256(&out, i == 0 ? first : digest);
    tn_plan_free(plan);
    free_values(&w, &v);
    tn_graph_free(&graph);
    world_close(&w);
  }
  assert_memory_equal(first, digest, sizeof first);
}

/* gamma goes with the rows where it has as many as x, and is needed whole by every band where it has not. */
static void rows_of_a_layer_norm_go_band_by_band(void **state) {
  (void)state;
  static const char *const gammas[] = { "[300]", "[40, 300]", "[40, 1]", "[1, 300]", "[]" };
  for (size_t i = 0; i < sizeof gammas / sizeof *gammas; i++) {
    char text[512];
    snprintf(text, sizeof text,
             "graph(%%x: f32[40, 300], %%g: f32%s, %%b: f32[300]) {\n  %%1 = exp %%x\n"
             "  %%2 = layer_norm %%1, %%g, %%b {number=1e-05}\n  %%3 = softmax %%2 {axis=1}\n"
             "  return %%3\n}\n",
             gammas[i]);
    world w;
    tn_graph graph;
    tn_fault fault;
    uint8_t digest[2][32];
    world_open(&w);
    graph_from(&w, text, &graph);
    values v = random_values(&w, &graph, 1);
    for (int banded = 0; banded < 2; banded++) {
      tn_plan_options options = { .backend = tn_backend_cpu(NULL), .threads = 1 };
      options.band_bytes = banded ? 1 : SIZE_MAX;
      tn_plan *plan = tn_plan_new(&w.heap, &graph, &options, &fault);
      for (size_t k = 0; k < v.input_count; k++) tn_plan_bind_input(plan, (int)k, &v.inputs[k].view);
      assert_true(tn_plan_run(plan, &fault));
      tn_view out = tn_plan_output(plan, 0);
      tn_view_sha256(&out, digest[banded]);
      assert_int_equal(tn_plan_stats_of(plan).block_bytes < 2 * 40 * 300 * 4, banded);
      tn_plan_free(plan);
    }
    assert_memory_equal(digest[0], digest[1], 32);
    free_values(&w, &v);
    tn_graph_free(&graph);
    world_close(&w);
  }
}

static void running_allocates_nothing(void **state) {
  (void)state;
  world w;
  tn_graph graph;
  tn_fault fault;
  world_open(&w);
  random_graph(&w, 3, 40, &graph);
  values v = random_values(&w, &graph, 4);
  tn_plan *plan = plan_for(&w, &graph, tn_backend_cpu(NULL), 2, &v);
  uint64_t before = w.heap.requests;
  for (int i = 0; i < 10; i++) assert_true(tn_plan_run(plan, &fault));
  assert_int_equal(w.heap.requests, before);
  tn_plan_free(plan);
  free_values(&w, &v);
  tn_graph_free(&graph);
  world_close(&w);
}

/* One step of descent on a table, elementwise, so that it goes band by band; stopped at every question. */
static void a_stop_anywhere_leaves_parameters_whole(void **state) {
  (void)state;
  static const char text[] = "graph(%x: f32[64, 32], param %p: f32[64, 32]) {\n  %1 = mul %x, %p\n"
                             "  %2 = tanh %1\n  %3 = add %2, %p\n  %4 = exp %3\n  %5 = sub %p, %4\n"
                             "  return %5\n}\n";
  static const int updates[] = { 0 };
  for (int banded = 0; banded < 2; banded++) {
    world w;
    tn_graph graph;
    tn_fault fault;
    uint8_t before[32], after[32];
    int stopped = 0;
    world_open(&w);
    graph_from(&w, text, &graph);
    values v = random_values(&w, &graph, 1);
    tn_plan_options options = { .backend = tn_backend_cpu(NULL),
                                .threads = 1,
                                .updates = updates,
                                .band_bytes = banded ? 1024 : SIZE_MAX };
    tn_plan *plan = tn_plan_new(&w.heap, &graph, &options, &fault);
    assert_non_null(plan);
    tn_text print;
    tn_text_init(&print, &w.heap);
    tn_plan_print(plan, &print);
    assert_int_equal(banded, strstr(print.at, "in bands") != NULL);
    tn_text_free(&print);
    tn_plan_bind_input(plan, 0, &v.inputs[0].view);
    tn_plan_bind_param(plan, 0, &v.params[0].view);
    tn_view_sha256(&v.params[0].view, before);
    for (unsigned n = 1;; n++) {
      tn_stop stop = { .stop_at = n };
      w.heap.stop = &stop;
      if (tn_plan_run(plan, &fault)) break;
      stopped++;
      assert_int_equal(fault.kind, TN_FAULT_INTERRUPTED);
      tn_view_sha256(&v.params[0].view, after);
      assert_memory_equal(before, after, sizeof before);
    }
    assert_true(stopped > 0);
    tn_view_sha256(&v.params[0].view, after);
    assert_true(memcmp(before, after, sizeof before) != 0);
    tn_plan_free(plan);
    free_values(&w, &v);
    tn_graph_free(&graph);
    world_close(&w);
  }
}

static void an_interrupt_stops_a_run(void **state) {
  (void)state;
  world w;
  tn_graph graph;
  tn_fault fault;
  world_open(&w);
  graph_from(&w, "graph(%x: f32[4]) {\n  %1 = exp %x\n  %2 = sum %1 {axes=[0]}\n  return %2\n}\n", &graph);
  values v = random_values(&w, &graph, 1);
  tn_plan *plan = plan_for(&w, &graph, tn_backend_ref(), 1, &v);
  tn_stop stop = { 0 };
  w.heap.stop = &stop;
  assert_true(tn_plan_run(plan, &fault));
  tn_stop_ask(&stop);
  assert_false(tn_plan_run(plan, &fault));
  assert_int_equal(fault.kind, TN_FAULT_INTERRUPTED);
  tn_plan_free(plan);
  free_values(&w, &v);
  tn_graph_free(&graph);
  world_close(&w);
}

static void a_plan_over_its_memory_limit_is_refused(void **state) {
  (void)state;
  world w;
  tn_graph graph;
  tn_fault fault;
  world_open(&w);
  graph_from(&w, "graph(%x: f32[1000]) {\n  %1 = exp %x\n  return %1\n}\n", &graph);
  tn_plan_options options = { .backend = tn_backend_ref(), .threads = 1, .memory_limit = 4000 };
  assert_null(tn_plan_new(&w.heap, &graph, &options, &fault));
  assert_int_equal(fault.kind, TN_FAULT_MEMORY);
  tn_graph_free(&graph);
  world_close(&w);
}

/* ---- placed outputs ---- */

typedef struct {
  const tn_graph *graph;
  const tn_tensor *places; /* by output */
  uint8_t digest[64][32];  /* of each when it was ready */
  int ready, refuse_at;
} placed_log;

static bool note_placed(void *context, int output) {
  placed_log *log = context;
  tn_view_sha256(&log->places[output].view, log->digest[output]);
  return log->ready++ != log->refuse_at;
}

/* Every output of a graph into memory of its own. */
static tn_plan *placed_plan(world *w, const tn_graph *graph, const values *v, const tn_backend *backend,
                            tn_tensor *places) {
  bool placed[64];
  tn_fault fault;
  assert_true(graph->outputs.count <= 64);
  for (size_t i = 0; i < graph->outputs.count; i++) placed[i] = true;
  tn_plan_options options = { .backend = backend, .threads = 1, .placed = placed };
  tn_plan *plan = tn_plan_new(&w->heap, graph, &options, &fault);
  assert_non_null(plan);
  for (size_t i = 0; i < v->input_count; i++) tn_plan_bind_input(plan, (int)i, &v->inputs[i].view);
  for (size_t i = 0; i < v->param_count; i++) tn_plan_bind_param(plan, (int)i, &v->params[i].view);
  for (size_t i = 0; i < graph->outputs.count; i++) {
    const tn_type *type = tn_graph_type(graph, graph->outputs.at[i].value);
    assert_true(tn_tensor_zeros(&w->heap, type->dtype, &type->shape, &places[i]));
    tn_plan_bind_output(plan, (int)i, &places[i].view);
  }
  return plan;
}

static void check_placed(uint64_t seed, const tn_backend *backend) {
  world w;
  tn_graph graph;
  tn_fault fault;
  tn_tensor places[64];
  world_open(&w);
  random_graph(&w, seed, 30, &graph);
  for (tn_value v = 1; v < graph.nodes.count && graph.outputs.count < 40; v++) /* views and constants, too */
    if (graph.nodes.at[v].region == 0 && graph.nodes.at[v].op != TN_OP_IF)
      assert_true(tn_graph_output(&graph, 0, v));
  values v = random_values(&w, &graph, seed);
  tn_plan *plain = plan_for(&w, &graph, backend, 1, &v), *plan = placed_plan(&w, &graph, &v, backend, places);
  placed_log log = { .graph = &graph, .places = places, .refuse_at = -1 };
  tn_plan_set_watch(plan, &(tn_plan_watch){ &log, note_placed });
  bool ran = tn_plan_run(plain, &fault);
  assert_true(tn_plan_run(plan, &fault) == ran);
  for (size_t i = 0; i < graph.outputs.count && ran; i++) {
    uint8_t wanted[32], got[32];
    tn_view out = tn_plan_output(plain, (int)i), placed = tn_plan_output(plan, (int)i);
    tn_view_sha256(&out, wanted);
    tn_view_sha256(&places[i].view, got);
    assert_memory_equal(wanted, got, 32);
    assert_memory_equal(wanted, log.digest[i], 32); /* it was there when that was said */
    assert_ptr_equal(placed.data, places[i].view.data);
  }
  if (ran) assert_int_equal(log.ready, graph.outputs.count);
  log = (placed_log){ .graph = &graph, .places = places, .refuse_at = 1 };
  if (ran && graph.outputs.count > 1) {
    assert_false(tn_plan_run(plan, &fault));
    assert_int_equal(fault.kind, TN_FAULT_HOST);
    assert_int_equal(log.ready, 2);
  }
  for (size_t i = 0; i < graph.outputs.count; i++) tn_tensor_unref(&places[i]);
  tn_plan_free(plan);
  tn_plan_free(plain);
  free_values(&w, &v);
  tn_graph_free(&graph);
  world_close(&w);
}

static void placed_outputs_are_written_where_they_are_wanted(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 40; seed++) {
    check_placed(seed, tn_backend_ref());
    check_placed(seed, tn_backend_cpu(NULL));
  }
}

static const char draws_text[] =
    "graph(%k: i64[]) {\n  %1 = uniform %k {shape=[70], index=3}\n  %2 = normal %k {shape=[5], index=9}\n"
    "  return %1, %2\n}\n";
static const char shifted_text[] =
    "graph(%k: i64[]) {\n  %1 = uniform %k {shape=[70], index=281474976710659}\n"
    "  %2 = normal %k {shape=[5], index=281474976710665}\n  return %1, %2\n}\n";

/* 2^48 words further: what another copy of the graph draws. */
static void shifted_draws_are_those_of_another_index(void **state) {
  (void)state;
  uint8_t digest[4][32];
  for (int i = 0; i < 4; i++) {
    world w;
    tn_graph graph;
    tn_fault fault;
    tn_sha256 hash;
    int64_t key = 42;
    world_open(&w);
    graph_from(&w, i == 0 ? shifted_text : draws_text, &graph);
    values v = { 0 };
    tn_plan *plan = plan_for(&w, &graph, i == 2 ? tn_backend_ref() : tn_backend_cpu(NULL), 1, &v);
    tn_view view = tn_view_make(&key, TN_I64, &TN_SCALAR_SHAPE);
    tn_plan_bind_input(plan, 0, &view);
    tn_plan_shift_draws(plan, 7);
    tn_plan_shift_draws(plan, i == 1 || i == 2 ? (uint64_t)1 << 48 : 0);
    assert_true(tn_plan_run(plan, &fault));
    tn_sha256_init(&hash);
    for (int o = 0; o < 2; o++) {
      tn_view out = tn_plan_output(plan, o);
      tn_view_sha256_update(&out, &hash);
    }
    tn_sha256_final(&hash, digest[i]);
    tn_plan_free(plan);
    tn_graph_free(&graph);
    world_close(&w);
  }
  assert_memory_equal(digest[0], digest[1], 32);
  assert_memory_equal(digest[0], digest[2], 32);
  assert_true(memcmp(digest[0], digest[3], 32) != 0);
}

static void every_failed_allocation_is_a_fault(void **state) {
  (void)state;
  for (uint64_t n = 1;; n++) {
    world w;
    tn_graph graph;
    tn_fault fault;
    world_open(&w);
    random_graph(&w, 11, 20, &graph);
    w.heap.fail_at = w.heap.requests + n;
    w.heap.failed = false;
    tn_plan_options options = { .backend = tn_backend_ref(), .threads = 1 };
    tn_plan *plan = tn_plan_new(&w.heap, &graph, &options, &fault);
    bool reached = w.heap.failed;
    if (!plan) assert_int_equal(fault.kind, TN_FAULT_MEMORY);
    w.heap.fail_at = 0;
    tn_plan_free(plan);
    tn_graph_free(&graph);
    world_close(&w);
    assert_true(plan || reached);
    if (!reached) break;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(an_if_runs_one_branch),
    cmocka_unit_test(a_refused_region_runs_nothing),
    cmocka_unit_test(an_update_replaces_the_parameter),
    cmocka_unit_test(parameters_can_change_places),
    cmocka_unit_test(a_transposed_parameter_is_not_overwritten_while_it_is_read),
    cmocka_unit_test(a_failed_run_leaves_parameters_alone),
    cmocka_unit_test(places_are_reused_when_a_value_is_dead),
    cmocka_unit_test(elementwise_results_take_the_place_of_a_dying_operand),
    cmocka_unit_test(of_two_dying_operands_the_later_one_is_written_over),
    cmocka_unit_test(steps_go_band_by_band_with_the_same_bits),
    cmocka_unit_test(a_layer_norm_is_one_step),
    cmocka_unit_test(rows_of_a_layer_norm_go_band_by_band),
    cmocka_unit_test(running_allocates_nothing),
    cmocka_unit_test(an_interrupt_stops_a_run),
    cmocka_unit_test(a_stop_anywhere_leaves_parameters_whole),
    cmocka_unit_test(a_plan_over_its_memory_limit_is_refused),
    cmocka_unit_test(placed_outputs_are_written_where_they_are_wanted),
    cmocka_unit_test(shifted_draws_are_those_of_another_index),
    cmocka_unit_test(every_failed_allocation_is_a_fault),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
