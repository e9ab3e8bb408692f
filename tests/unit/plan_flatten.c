/* tests/unit/plan_flatten.c: steps whose first axes become one have as many rows as both, and the same bits;
 * the others keep their axes. */
#include <stdio.h>
#include <stdlib.h>

#include "graph_support.h"

/* A graph, and how many rows the steps have that go together. Bands of one byte are single rows. */
typedef struct {
  const char *inputs, *body;
  int rows;
} flat_case;

static const flat_case cases[] = {
  /* elementwise: operands of both axes, of neither, of one for all rows */
  { "%x: f32[4, 6, 5], %y: f32[4, 6, 5]", "%1 = exp %x\n %2 = mul %1, %y\n return %2", 24 },
  { "%x: f32[4, 6, 5], %y: f32[5]", "%1 = exp %x\n %2 = mul %1, %y\n return %2", 24 },
  { "%x: f32[4, 6, 5], %y: f32[]", "%1 = exp %x\n %2 = mul %1, %y\n return %2", 24 },
  { "%x: f32[4, 6, 5], %y: f32[4, 6, 1]", "%1 = exp %x\n %2 = mul %1, %y\n return %2", 24 },
  { "%x: f32[4, 6, 5], %y: f32[1, 5]", "%1 = exp %x\n %2 = mul %1, %y\n return %2", 24 },
  { "%x: f32[4, 6, 5], %y: f32[1, 1, 5]", "%1 = exp %x\n %2 = mul %1, %y\n return %2", 24 },
  { "%x: f32[1, 6, 5], %y: f32[6, 5]", "%1 = exp %x\n %2 = mul %1, %y\n return %2", 6 },
  { "%x: f32[6, 1, 5], %y: f32[1, 5]", "%1 = exp %x\n %2 = mul %1, %y\n return %2", 6 },
  { "%x: f64[2, 3, 4, 5], %y: f64[4, 5]", "%1 = exp %x\n %2 = sqrt %1\n %3 = mul %2, %y\n return %3", 6 },
  { "%x: f32[2, 3, 4, 5], %y: f32[5]", "%1 = exp %x\n %2 = mul %1, %y\n return %2", 24 },
  /* an operand that is the same for rows of one of the axes keeps them apart */
  { "%x: f32[4, 6, 5], %y: f32[6, 5]", "%1 = mul %x, %y\n %2 = add %1, %y\n return %2", 4 },
  { "%x: f32[4, 6, 5], %y: f32[4, 1, 5]", "%1 = mul %x, %y\n %2 = add %1, %y\n return %2", 4 },
  { "%x: f32[4, 6, 5], %y: f32[1, 6, 5]", "%1 = mul %x, %y\n %2 = add %1, %y\n return %2", 4 },
  /* and so does an operand whose rows do not follow each other */
  { "%x: f32[6, 4, 5]",
    "%1 = transpose %x {axes=[1, 0, 2]}\n %2 = mul %1, %1\n %3 = add %2, %1\n return %3", 4 },
  { "%x: f32[4, 9, 5]",
    "%1 = slice %x {low=[0, 2, 0], high=[4, 8, 5], step=[1, 1, 1]}\n %2 = mul %1, %1\n"
    " %3 = add %2, %1\n return %3", 4 },
  { "%x: f32[9, 6, 5]",
    "%1 = slice %x {low=[1, 0, 0], high=[9, 6, 5], step=[2, 1, 1]}\n %2 = mul %1, %1\n"
    " %3 = add %2, %1\n return %3", 4 },
  /* along later axes */
  { "%x: f32[4, 6, 5]", "%1 = softmax %x {axis=2}\n %2 = exp %1\n return %2", 24 },
  { "%x: f32[4, 6, 5]", "%1 = softmax %x {axis=1}\n %2 = log_softmax %1 {axis=1}\n return %2", 4 },
  { "%x: f32[2, 3, 4, 5]", "%1 = cumsum %x {axis=2}\n %2 = exp %1\n return %2", 6 },
  { "%x: f32[4, 6, 5]",
    "%1 = exp %x\n %2 = sum %1 {axes=[2], keepdims=true}\n %3 = mul %1, %2\n return %3", 24 },
  { "%x: f32[4, 6, 5]", "%1 = exp %x\n %2 = mean %1 {axes=[2]}\n return %2", 24 },
  { "%x: f32[2, 3, 4, 5]", "%1 = exp %x\n %2 = max %1 {axes=[2, 3]}\n return %2", 6 },
  { "%x: f32[4, 6, 5]", "%1 = exp %x\n %2 = argmax %1 {axis=2}\n return %2", 24 },
  { "%x: f32[4, 6, 5]", "%1 = cumsum %x {axis=1}\n %2 = sum %1 {axes=[1]}\n return %2", 4 },
  { "%x: f32[4, 6, 5], %g: f32[5]",
    "%1 = exp %x\n %2 = layer_norm %1, %g, %g {number=1e-05}\n return %2", 24 },
  /* products by one matrix, and by one for each of the first axis */
  { "%x: f32[4, 6, 5], %w: f32[5, 7]", "%1 = matmul %x, %w\n %2 = exp %1\n return %2", 24 },
  { "%x: f32[4, 6, 6], %w: f32[4, 6]",
    "%1 = transpose %w\n %2 = matmul %x, %1\n %3 = exp %2\n return %3", 24 },
  { "%x: f32[4, 6, 5], %w: f32[4, 5, 7]", "%1 = matmul %x, %w\n %2 = cumsum %1 {axis=1}\n return %2", 4 },
  /* rows that are looked up; the table has the shape of the index */
  { "%t: f32[4, 6], %i: i32[4, 6]", "%1 = gather %t, %i {axis=0}\n %2 = exp %1\n return %2", 24 },
};

static void bind(tn_plan *plan, const values *v) {
  for (size_t k = 0; k < v->input_count; k++) tn_plan_bind_input(plan, (int)k, &v->inputs[k].view);
}

static tn_plan *plan_of(world *w, const tn_graph *graph, const tn_backend *backend, int threads,
                        size_t band_bytes) {
  tn_fault fault;
  tn_plan_options options = { .backend = backend, .threads = threads, .band_bytes = band_bytes };
  tn_plan *plan = tn_plan_new(&w->heap, graph, &options, &fault);
  assert_non_null(plan);
  return plan;
}

static void run(tn_plan *plan, const values *v, uint8_t digest[32]) {
  tn_fault fault;
  bind(plan, v);
  assert_true(tn_plan_run(plan, &fault));
  tn_view out = tn_plan_output(plan, 0);
  tn_view_sha256(&out, digest);
}

/* How many bands the first run has; 0: there is none. */
static int bands_of(world *w, const tn_plan *plan) {
  tn_text print;
  tn_text_init(&print, &w->heap);
  tn_plan_print(plan, &print);
  const char *found = strstr(print.at, "in bands: ");
  int bands = found ? atoi(found + strlen("in bands: ")) : 0;
  tn_text_free(&print);
  return bands;
}

static void give_indices(values *v) {
  for (size_t k = 0; k < v->input_count; k++) {
    int32_t *index = v->inputs[k].view.data;
    if (v->inputs[k].view.dtype != TN_I32) continue;
    for (int64_t i = 0; i < tn_view_count(&v->inputs[k].view); i++) index[i] = (int32_t)(i * 7 % 4);
  }
}

static void check(const flat_case *c) {
  static const int threads[] = { 1, 3, 16 };
  static const size_t sizes[] = { 1, 100, SIZE_MAX };
  char text[512];
  world w;
  tn_graph graph;
  uint8_t expected[32], digest[32];
  snprintf(text, sizeof text, "graph(%s) {\n %s\n}\n", c->inputs, c->body);
  world_open(&w);
  tn_pool_assume_wake(w.heap.pool, 0); /* helpers come, however little there is to do */
  graph_from(&w, text, &graph);
  values v = random_values(&w, &graph, 1);
  give_indices(&v);
  tn_plan *plain = plan_of(&w, &graph, tn_backend_ref(), 1, SIZE_MAX);
  run(plain, &v, expected);
  tn_plan_free(plain);
  for (int i = 0; i < 9; i++) {
    tn_plan *plan = plan_of(&w, &graph, tn_backend_cpu(NULL), threads[i / 3], sizes[i % 3]);
    if (i == 0 && bands_of(&w, plan) != c->rows)
      fail_msg("%s: %d rows and not %d", text, bands_of(&w, plan), c->rows);
    run(plan, &v, digest);
    if (memcmp(expected, digest, sizeof digest) != 0) fail_msg("%s: other bits", text);
    tn_plan_free(plan);
  }
  free_values(&w, &v);
  tn_graph_free(&graph);
  world_close(&w);
}

static void steps_have_as_many_rows_as_they_can(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check(&cases[i]);
}

/* Sixteen threads have work where there are four images of 256 rows, and an image of their own where a step
 * needs whole ones. */
static void threads_share_the_rows_of_few_images(void **state) {
  (void)state;
  world w;
  tn_graph graph;
  world_open(&w);
  graph_from(&w,
             "graph(%x: f32[4, 256, 384]) {\n  %1 = cumsum %x {axis=1}\n  %2 = softmax %1 {axis=2}\n"
             "  %3 = exp %2\n  %4 = softmax %3 {axis=2}\n  return %4\n}\n",
             &graph);
  for (int threads = 4; threads <= 16; threads += 12) {
    tn_plan *plan = plan_of(&w, &graph, tn_backend_cpu(NULL), threads, 0);
    int bands = bands_of(&w, plan);
    if (threads == 4) assert_int_equal(bands, 4);
    if (threads == 16) assert_true(bands >= 16);
    tn_plan_free(plan);
  }
  tn_graph_free(&graph);
  world_close(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(steps_have_as_many_rows_as_they_can),
    cmocka_unit_test(threads_share_the_rows_of_few_images),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
