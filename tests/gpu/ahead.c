/* When plans take their inputs, on the GPU that the host plays (driver.c), which does everything as late as
 * it may: those of the next run while one goes on, and steady ones once. */
#include "gpu/planned.h"

static const char text[] = "graph(%x: f32[3], %i: i32[2], param %w: f32[2]) {\n"
                           "  %1 = gather %x, %i {axis=0} : f32[2]\n"
                           "  %2 = add %w, %1 : f32[2]\n"
                           "  return %1, %2\n}\n";

typedef struct {
  planned on;
  float x[3], sum[2];
  int32_t index[2];
} bench;

static void open_bench(bench *b) {
  static const int updates[] = { 1 };
  *b = (bench){ 0 };
  planned_open(&b->on, text, (tn_plan_options){ .updates = updates, .ahead = true });
  tn_shape two = tn_shape_make(1, 2);
  tn_view sum = tn_view_make(b->sum, TN_F32, &two);
  planned_input(&b->on, 0, b->x, TN_F32, tn_shape_make(1, 3));
  planned_input(&b->on, 1, b->index, TN_I32, two);
  tn_plan_bind_param(b->on.plan, 0, &sum);
}

static void close_bench(bench *b) { planned_close(&b->on); }

/* The inputs of a run; `index` out of range makes it fail. */
static void give(bench *b, int run, int32_t index) {
  for (int k = 0; k < 3; k++) b->x[k] = (float)(10 * run + k);
  b->index[0] = 0, b->index[1] = index;
  tn_plan_prepare(b->on.plan);
}

static float picked(const bench *b, int place) {
  tn_view view = tn_plan_output(b->on.plan, 0);
  return (float)tn_view_get_f64(&view, place);
}

static void a_run_reads_its_own_inputs(void **state) {
  bench b;
  tn_fault fault;
  float total = 0;
  (void)state;
  open_bench(&b);
  give(&b, 0, 2);
  for (int run = 0; run < 6; run++) {
    assert_true(tn_plan_start(b.on.plan, &fault));
    give(&b, 77, 1); /* replaced by what follows */
    give(&b, run + 1, 2);
    assert_true(tn_plan_finish(b.on.plan, &fault));
    assert_true(picked(&b, 0) == (float)(10 * run) && picked(&b, 1) == (float)(10 * run + 2));
    total += (float)(10 * run + 2);
    assert_true(b.sum[1] == total);
  }
  close_bench(&b);
}

/* The next inputs are taken already; the run after the fault uses them, or others that are taken instead. */
static void a_fault_is_that_of_its_own_run(void **state) {
  bench b;
  tn_fault fault;
  (void)state;
  open_bench(&b);
  give(&b, 0, 2);
  for (int run = 0; run < 8; run++) {
    bool wrong = run % 3 == 1;
    float before = b.sum[0];
    assert_true(tn_plan_start(b.on.plan, &fault));
    give(&b, run + 1, (run + 1) % 3 == 1 ? 9 : 2);
    assert_int_equal(tn_plan_finish(b.on.plan, &fault), !wrong);
    assert_int_equal(fault.kind == TN_FAULT_NONE, !wrong);
    assert_true(b.sum[0] == before + (wrong ? 0 : (float)(10 * run)));
    if (wrong && run > 3) give(&b, run + 1, 1);
  }
  close_bench(&b);
}

/* A plan whose last run nobody waits for is freed all the same. */
static void a_run_may_be_left(void **state) {
  bench b;
  tn_fault fault;
  (void)state;
  open_bench(&b);
  for (int run = 0; run < 3; run++) {
    give(&b, run, 2);
    assert_true(tn_plan_start(b.on.plan, &fault));
    if (run < 2) assert_true(tn_plan_finish(b.on.plan, &fault));
  }
  close_bench(&b);
}

/* Memory that changes without being bound again is not looked at: steady inputs are sent once. Others are
 * sent for every run, also when a recording carries it out. */
static void a_steady_input_is_sent_when_it_is_bound(void **state) {
  static const bool steady[] = { true, false };
  tn_shape two = tn_shape_make(1, 2);
  float x[3] = { 0, 1, 2 };
  int32_t index[2] = { 0, 0 };
  tn_fault fault;
  planned on;
  (void)state;
  planned_open(&on, "graph(%x: f32[3], %i: i32[2]) {\n"
                    "  %1 = gather %x, %i {axis=0} : f32[2]\n  return %1\n}\n",
               (tn_plan_options){ .steady = steady });
  planned_input(&on, 1, index, TN_I32, two);
  for (int run = 0; run < 8; run++) {
    bool bound = run % 4 == 0;
    for (int k = 0; k < 3; k++) x[k] = (float)(10 * run + k);
    index[1] = run % 3;
    if (bound) planned_input(&on, 0, x, TN_F32, tn_shape_make(1, 3));
    assert_true(tn_plan_run(on.plan, &fault));
    tn_view picked = tn_plan_output(on.plan, 0);
    assert_true(tn_view_get_f64(&picked, 0) == 10 * (run / 4 * 4));
    assert_true(tn_view_get_f64(&picked, 1) == 10 * (run / 4 * 4) + run % 3);
  }
  planned_close(&on);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_steady_input_is_sent_when_it_is_bound),
    cmocka_unit_test(a_run_reads_its_own_inputs),
    cmocka_unit_test(a_fault_is_that_of_its_own_run),
    cmocka_unit_test(a_run_may_be_left),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
