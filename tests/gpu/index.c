/* An index that two steps of a plan read is looked at once: by the gather. The scatter after it relies on
 * that, also on a GPU that runs steps side by side (driver.c takes another order each time). */
#include "gpu/emulator.h"
#include "gpu/planned.h"

/* Nothing but the index says that the scatter comes after the gather. Tables are sorted from 256 rows and 64
 * entries on. */
#define ROWS 300
#define ENTRIES 70

static const char text[] = "graph(%x: f32[300, 2], %i: i32[70], %y: f32[70, 2]) {\n"
                           "  %1 = gather %x, %i {axis=0} : f32[70, 2]\n"
                           "  %2 = exp %1 : f32[70, 2]\n"
                           "  %3 = scatter_add %x, %i, %y {axis=0} : f32[300, 2]\n"
                           "  return %2, %3\n}\n";

/* ---- looking ---- */
static int looks;
static bool run_kernel(const tn_kernel_call *call) {
  emulated_card card;
  tn_kernel_call queued = *call;
  emulated_card_init(&card);
  queued.queue = &card.queue;
  bool ok = tn_backend_cuda()->kernels[call->op](&queued) && tn_card_fault_of(&card.fault, call->fault);
  looks += card.launches[TN_CARD_check_index];
  return ok;
}

static int looks_of(const char *graph_text) {
  world w;
  tn_graph graph;
  uint8_t expected[32], got[32];
  tn_kernel kernels[TN_OP_COUNT];
  tn_backend card = *emulated_backend();
  for (int op = 0; op < TN_OP_COUNT; op++) kernels[op] = card.kernels[op] ? run_kernel : NULL;
  card.kernels = kernels;
  world_open(&w);
  graph_from(&w, graph_text, &graph);
  values v = random_values(&w, &graph, 5);
  for (int64_t i = 0; i < ENTRIES; i++) tn_view_set_f64(&v.inputs[1].view, i, (double)(i * i % 40));
  run_digest(&w, &graph, tn_backend_ref(), 1, &v, expected);
  looks = 0;
  run_digest(&w, &graph, &card, 1, &v, got);
  assert_memory_equal(expected, got, sizeof got);
  free_values(&w, &v);
  tn_graph_free(&graph);
  world_close(&w);
  return looks / 2;   /* it was run twice */
}

/* Not where the scatter has fewer rows, another index, or comes first. */
static void an_index_is_looked_at_once(void **state) {
  (void)state;
  assert_int_equal(looks_of(text), 1);
  assert_int_equal(looks_of("graph(%x: f32[300, 2], %i: i32[70], %y: f32[70, 2], %z: f32[40, 2]) {\n"
                            "  %1 = gather %x, %i {axis=0}\n  %2 = scatter_add %z, %i, %y {axis=0}\n"
                            "  return %1, %2\n}\n"), 2);
  assert_int_equal(looks_of("graph(%x: f32[300, 2], %i: i32[70], %y: f32[70, 2]) {\n"
                            "  %1 = gather %x, %i {axis=0}\n  %2 = neg %i\n  %3 = neg %2\n"
                            "  %4 = scatter_add %x, %3, %y {axis=0}\n  return %1, %4\n}\n"), 2);
  assert_int_equal(looks_of("graph(%x: f32[300, 2], %i: i32[70], %y: f32[70, 2]) {\n"
                            "  %1 = scatter_add %x, %i, %y {axis=0}\n  %2 = gather %1, %i {axis=0}\n"
                            "  return %2\n}\n"), 2);
}

/* ---- relying on it ---- */
typedef struct {
  planned on;
  float x[ROWS * 2], y[ENTRIES * 2];
  int32_t index[ENTRIES];
} bench;

static void open_bench(bench *b) {
  *b = (bench){ 0 };
  planned_open(&b->on, text, (tn_plan_options){ 0 });
  planned_input(&b->on, 0, b->x, TN_F32, tn_shape_make(2, (int64_t)ROWS, (int64_t)2));
  planned_input(&b->on, 1, b->index, TN_I32, tn_shape_make(1, (int64_t)ENTRIES));
  planned_input(&b->on, 2, b->y, TN_F32, tn_shape_make(2, (int64_t)ENTRIES, (int64_t)2));
}

static void close_bench(bench *b) { planned_close(&b->on); }

static float added_to_first(const bench *b) {
  tn_view view = tn_plan_output(b->on.plan, 1);
  return (float)tn_view_get_f64(&view, 0);
}

/* The scatter would write past its memory, so it waits for the gather's look, and then does nothing: its
 * result is that of the run before. */
static void a_step_that_relies_on_a_look_waits_for_it(void **state) {
  bench b;
  tn_fault fault;
  (void)state;
  open_bench(&b);
  for (int run = 0; run < 30; run++) {
    bool wrong = run % 2;
    b.y[0] = (float)(run + 1);
    b.index[ENTRIES - 1] = wrong ? ROWS + 5 : 7;
    assert_int_equal(tn_plan_run(b.on.plan, &fault), !wrong);
    if (wrong) assert_int_equal(fault.op, TN_OP_GATHER);
    assert_true(added_to_first(&b) == (float)(wrong ? run : run + 1));
  }
  close_bench(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(an_index_is_looked_at_once),
    cmocka_unit_test(a_step_that_relies_on_a_look_waits_for_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
