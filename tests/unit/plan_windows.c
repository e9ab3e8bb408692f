/* tests/unit/plan_windows.c: a convolution and its weights' gradient read windows in the image, and the
 * gradient of the image adds them up there, with the bits of windows that are written down. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "graph_support.h"

typedef struct {
  int images, height, width, channels;
  int rows, columns, step, across; /* of windows; lines and places from one to the next */
  int low[2], high[2];
  int outputs;
} shape;

static bool small_effort(void) {
  const char *effort = getenv("TERN_TEST_EFFORT");
  return effort && strcmp(effort, "small") == 0;
}

static int places(int length, int around, int window, int step) {
  return (length + around - window) / step + 1;
}

static int count_windows(const shape *s) {
  return s->images * places(s->height, s->low[0] + s->high[0], s->rows, s->step) *
         places(s->width, s->low[1] + s->high[1], s->columns, s->across);
}

static int window_length(const shape *s) { return s->rows * s->columns * s->channels; }

static void write_text(const shape *s, const char *more, char *text, size_t size) {
  int count = count_windows(s), length = window_length(s);
  snprintf(text, size,
           "graph(%%x: f32[%d, %d, %d, %d], %%w: f32[%d, %d], %%g: f32[%d, %d]) {\n"
           "  %%1 = patches %%x {window=[%d, %d], low=[%d, %d], high=[%d, %d], step=[%d, %d]}\n"
           "  %%2 = reshape %%1 {shape=[%d, %d]}\n  %%3 = matmul %%2, %%w\n"
           "  %%4 = transpose %%2 {axes=[1, 0]}\n  %%5 = matmul %%4, %%g\n%s  return %%3, %%5%s\n}\n",
           s->images, s->height, s->width, s->channels, length, s->outputs, count, s->outputs, s->rows,
           s->columns, s->low[0], s->low[1], s->high[0], s->high[1], s->step, s->across, count, length,
           *more ? "  %6 = exp %1\n" : "", more);
}

/* Numbers whose products with the zeros around an image are not zero, and others that make -0 of sums. */
static void put_odd_numbers(const values *v, int which) {
  static const double odd[] = { INFINITY, NAN, -0.0, 1e-44 };
  for (size_t i = 0; i < v->input_count; i++) {
    const tn_view *view = &v->inputs[i].view;
    int64_t count = tn_view_count(view);
    if (which < 4) tn_view_set_f64(view, (int64_t)i * 7 % count, odd[which]);
    for (int64_t k = 0; which == 3 && k < count; k++) tn_view_set_f64(view, k, k % 3 ? -1e-30 : 1e-30);
  }
}

static void check_bits(world *w, const tn_graph *graph, const values *v, const shape *s) {
  static const int threads[] = { 1, 3, 16 };
  uint8_t expected[32], got[32];
  bool available;
  run_digest(w, graph, tn_backend_ref(), 1, v, expected);
  for (int i = 0; tn_backend_cpu_isa(i, &available); i++) {
    const tn_backend *cpu = available ? tn_backend_cpu(tn_backend_cpu_isa(i, &available)) : NULL;
    for (size_t t = 0; cpu && t < sizeof threads / sizeof *threads; t++) {
      run_digest(w, graph, cpu, threads[t], v, got);
      if (memcmp(expected, got, sizeof got) != 0)
        fail_msg("%s, %d threads: %d images of %dx%dx%d, windows of %dx%d, %d outputs", cpu->isa, threads[t],
                 s->images, s->height, s->width, s->channels, s->rows, s->columns, s->outputs);
    }
  }
}

/* Whether there is memory for the two results and for nothing else. */
static bool keeps_no_windows(const tn_plan *plan, const shape *s) {
  size_t results = (size_t)(count_windows(s) + window_length(s)) * (size_t)s->outputs * sizeof(float);
  return tn_plan_stats_of(plan).block_bytes <= results + 2 * 64;
}

static void check_text(const shape *s, const char *text, bool (*merges)(const tn_plan *, const shape *),
                       bool merged) {
  for (int which = small_effort() ? 3 : 0; which < 5; which++) {
    world w;
    tn_graph graph;
    world_open(&w);
    graph_from(&w, text, &graph);
    values v = random_values(&w, &graph, (uint64_t)which + 1);
    put_odd_numbers(&v, which);
    check_bits(&w, &graph, &v, s);
    tn_plan *plan = plan_for(&w, &graph, tn_backend_cpu(NULL), 1, &v);
    if (merges(plan, s) != merged) fail_msg("%s", text);
    tn_plan_free(plan);
    free_values(&w, &v);
    tn_graph_free(&graph);
    world_close(&w);
  }
}

static void check(const shape *s, const char *more, bool merged) {
  char text[1024];
  write_text(s, more, text, sizeof text);
  check_text(s, text, keeps_no_windows, merged);
}

static void windows_are_read_in_the_image(void **state) {
  (void)state;
  static const shape shapes[] = {
    { 3, 9, 17, 5, 3, 3, 1, 1, { 1, 1 }, { 1, 1 }, 19 },  /* zeros around */
    { 2, 10, 18, 8, 3, 3, 1, 1, { 0, 0 }, { 0, 0 }, 16 }, /* none: lines are read where they are */
    { 1, 3, 16, 1, 3, 3, 1, 1, { 1, 1 }, { 1, 1 }, 8 },   /* as few places as it may have */
    { 3, 17, 16, 8, 3, 3, 1, 1, { 1, 1 }, { 1, 1 }, 16 }, /* enough for threads */
    { 6, 20, 20, 8, 3, 3, 1, 1, { 1, 1 }, { 1, 1 }, 16 }, /* and for more than there are large blocks */
    { 6, 14, 30, 5, 4, 4, 1, 1, { 1, 2 }, { 2, 1 }, 16 },
    { 2, 9, 24, 7, 4, 4, 1, 1, { 1, 2 }, { 2, 1 }, 9 },
    { 2, 9, 30, 2, 2, 4, 1, 1, { 0, 0 }, { 1, 0 }, 33 },
    { 2, 15, 19, 4, 3, 3, 2, 1, { 1, 1 }, { 1, 1 }, 12 }, /* every other line */
    { 2, 7, 19, 30, 1, 3, 1, 1, { 0, 1 }, { 0, 1 }, 17 }, /* windows of one row */
    { 1, 6, 16, 85, 3, 3, 1, 1, { 1, 1 }, { 1, 1 }, 32 }, /* as many channels as lines may have */
    { 1, 4, 16, 86, 3, 3, 1, 1, { 1, 1 }, { 1, 1 }, 16 }, /* more: a row of a window in pieces */
    { 2, 9, 35, 5, 3, 3, 2, 2, { 1, 1 }, { 1, 1 }, 19 },  /* every other place */
    { 2, 9, 13, 5, 3, 2, 1, 3, { 1, 0 }, { 1, 0 }, 70 },  /* two columns, every third place */
    { 1, 9, 40, 2, 3, 5, 1, 1, { 1, 2 }, { 1, 2 }, 37 },
    { 3, 7, 7, 9, 7, 7, 1, 1, { 3, 3 }, { 3, 3 }, 49 },   /* windows as large as images */
    { 2, 9, 15, 5, 3, 3, 1, 1, { 1, 1 }, { 1, 1 }, 33 },  /* short lines */
    { 2, 9, 7, 17, 1, 1, 1, 1, { 0, 0 }, { 0, 0 }, 64 },  /* windows of one place */
    { 2, 9, 7, 3, 1, 1, 2, 2, { 0, 0 }, { 0, 0 }, 112 },
    { 3, 30, 30, 8, 3, 3, 2, 2, { 0, 0 }, { 1, 1 }, 96 }, /* enough for threads */
  };
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) check(&shapes[i], "", true);
}

static void other_windows_are_written_down(void **state) {
  (void)state;
  static const shape shapes[] = {
    { 2, 9, 17, 5, 3, 3, 1, 1, { 1, 1 }, { 1, 1 }, 7 }, /* less than a vector of outputs */
    { 2, 9, 17, 1, 1, 1, 1, 1, { 0, 0 }, { 0, 0 }, 8 }, /* windows of one number */
  };
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) check(&shapes[i], "", false);
}

static void windows_that_others_read_are_written_down(void **state) {
  (void)state;
  static const shape s = { 2, 9, 17, 5, 3, 3, 1, 1, { 1, 1 }, { 1, 1 }, 19 };
  check(&s, ", %6", false);
}

/* ---- the gradient of the image ---- */

static void write_fold(const shape *s, char *text, size_t size) {
  int count = count_windows(s), length = window_length(s);
  snprintf(text, size,
           "graph(%%g: f32[%d, %d], %%w: f32[%d, %d]) {\n"
           "  %%1 = transpose %%w {axes=[1, 0]}\n  %%2 = matmul %%g, %%1\n"
           "  %%3 = reshape %%2 {shape=[%d, %d, %d, %d]}\n"
           "  %%4 = fold %%3 {shape=[%d, %d, %d, %d], window=[%d, %d], low=[%d, %d], high=[%d, %d], "
           "step=[%d, %d]}\n  return %%4\n}\n",
           count, s->outputs, length, s->outputs, s->images,
           places(s->height, s->low[0] + s->high[0], s->rows, s->step),
           places(s->width, s->low[1] + s->high[1], s->columns, s->across), length, s->images, s->height,
           s->width, s->channels, s->rows, s->columns, s->low[0], s->low[1], s->high[0], s->high[1], s->step,
           s->across);
}

static bool keeps_only_the_image(const tn_plan *plan, const shape *s) {
  size_t image = (size_t)(s->images * s->height * s->width * s->channels) * sizeof(float);
  return tn_plan_stats_of(plan).block_bytes <= image + 64;
}

static void check_fold(const shape *s, bool merged) {
  char text[1024];
  write_fold(s, text, sizeof text);
  check_text(s, text, keeps_only_the_image, merged);
}

static void windows_are_added_up_in_the_image(void **state) {
  (void)state;
  static const shape shapes[] = {
    { 2, 9, 7, 32, 3, 3, 1, 1, { 1, 1 }, { 1, 1 }, 16 },  { 2, 9, 7, 37, 3, 3, 2, 2, { 1, 1 }, { 1, 1 }, 19 },
    { 1, 5, 12, 70, 2, 4, 1, 3, { 1, 2 }, { 0, 1 }, 17 }, { 3, 6, 5, 48, 1, 1, 1, 1, { 0, 0 }, { 0, 0 }, 33 },
    { 1, 7, 7, 33, 2, 2, 3, 3, { 0, 0 }, { 0, 0 }, 16 }, /* pixels that no window has */
    { 2, 5, 5, 32, 5, 7, 1, 1, { 2, 3 }, { 2, 3 }, 16 }, /* windows larger than images */
    { 3, 20, 20, 64, 3, 3, 1, 1, { 1, 1 }, { 1, 1 }, 24 }, /* enough for threads */
  };
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) check_fold(&shapes[i], true);
}

static void windows_of_few_numbers_are_added_up_from_memory(void **state) {
  (void)state;
  static const shape shapes[] = {
    { 2, 9, 7, 31, 3, 3, 1, 1, { 1, 1 }, { 1, 1 }, 16 }, /* of a pixel */
    { 2, 9, 7, 32, 3, 3, 1, 1, { 1, 1 }, { 1, 1 }, 15 }, /* of a sum */
  };
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) check_fold(&shapes[i], false);
}

/* Images go in bands together with what follows: by turns, or each thread with some of its own. */
static void images_go_in_bands_with_the_same_bits(void **state) {
  (void)state;
  static const char text[] =
      "graph(%x: f32[6, 20, 20, 3], %w: f32[27, 8], %b: f32[8]) {\n"
      "  %1 = patches %x {window=[3, 3], low=[1, 1], high=[1, 1], step=[1, 1]}\n"
      "  %2 = reshape %1 {shape=[2400, 27]}\n  %3 = matmul %2, %w\n  %4 = add %3, %b\n  %5 = relu %4\n"
      "  %6 = softmax %5 {axis=1}\n  return %6\n}\n";
  static const size_t bytes[] = { 1, 50000, SIZE_MAX };
  world w;
  tn_graph graph;
  tn_fault fault;
  uint8_t expected[32], got[32];
  world_open(&w);
  graph_from(&w, text, &graph);
  values v = random_values(&w, &graph, 1);
  for (int i = 0; i <= 9; i++) {
    tn_plan_options options = { .backend = i == 0 ? tn_backend_ref() : tn_backend_cpu(NULL),
                                .threads = 1 + i % 3,
                                .band_bytes = bytes[i / 4] };
    tn_plan *plan = tn_plan_new(&w.heap, &graph, &options, &fault);
    assert_non_null(plan);
    for (size_t k = 0; k < v.input_count; k++) tn_plan_bind_input(plan, (int)k, &v.inputs[k].view);
    assert_true(tn_plan_run(plan, &fault));
    tn_view out = tn_plan_output(plan, 0);
    tn_view_sha256(&out, i == 0 ? expected : got);
    if (i > 0) assert_memory_equal(expected, got, sizeof got);
    tn_plan_free(plan);
  }
  free_values(&w, &v);
  tn_graph_free(&graph);
  world_close(&w);
}

/* A parameter is read again for the gradient, and gets its next value only after that. */
static void an_image_that_is_updated_is_read_before(void **state) {
  (void)state;
  static const char text[] =
      "graph(%w: f32[18, 8], %g: f32[96, 8], param %x: f32[1, 6, 16, 2]) {\n"
      "  %1 = patches %x {window=[3, 3], low=[1, 1], high=[1, 1], step=[1, 1]}\n"
      "  %2 = reshape %1 {shape=[96, 18]}\n  %3 = matmul %2, %w\n  %4 = exp %x\n  %5 = mul %3, %g\n"
      "  %6 = transpose %2 {axes=[1, 0]}\n  %7 = matmul %6, %5\n  return %4, %7\n}\n";
  uint8_t digest[2][2][32];
  for (int cpu = 0; cpu < 2; cpu++) {
    world w;
    tn_graph graph;
    tn_fault fault;
    world_open(&w);
    graph_from(&w, text, &graph);
    values v = random_values(&w, &graph, 3);
    tn_plan_options options = { .backend = cpu ? tn_backend_cpu(NULL) : tn_backend_ref(),
                                .threads = 1,
                                .updates = (int[]){ 0 } };
    tn_plan *plan = tn_plan_new(&w.heap, &graph, &options, &fault);
    assert_non_null(plan);
    for (size_t i = 0; i < v.input_count; i++) tn_plan_bind_input(plan, (int)i, &v.inputs[i].view);
    tn_plan_bind_param(plan, 0, &v.params[0].view);
    assert_true(tn_plan_run(plan, &fault));
    tn_view out = tn_plan_output(plan, 1);
    tn_view_sha256(&out, digest[cpu][0]);
    tn_view_sha256(&v.params[0].view, digest[cpu][1]);
    tn_plan_free(plan);
    free_values(&w, &v);
    tn_graph_free(&graph);
    world_close(&w);
  }
  assert_memory_equal(digest[0], digest[1], sizeof digest[0]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(windows_are_read_in_the_image),
    cmocka_unit_test(other_windows_are_written_down),
    cmocka_unit_test(windows_that_others_read_are_written_down),
    cmocka_unit_test(windows_are_added_up_in_the_image),
    cmocka_unit_test(windows_of_few_numbers_are_added_up_from_memory),
    cmocka_unit_test(images_go_in_bands_with_the_same_bits),
    cmocka_unit_test(an_image_that_is_updated_is_read_before),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
