/* tests/unit/depthwise.c: depth-wise convolution and its gradients give the bits of plain loops and of their
 * parts, on every instruction set and with several threads. */
#include <math.h>
#include <stdio.h>

#include "graph_support.h"

enum { RESULTS = 3 }; /* depthwise, depthwise_image, depthwise_weights */

typedef struct {
  int images, height, width, channels, each;
  int rows, columns, step, across; /* of windows; lines and places from one to the next */
  int low[2], high[2];
} shape;

typedef struct {
  const shape *s;
  int down, over, outputs; /* windows below one another and beside, and channels of the result */
  const float *x, *w, *g;
} problem;

static problem problem_of(const shape *s) {
  return (problem){ .s = s,
                    .down = (s->height + s->low[0] + s->high[0] - s->rows) / s->step + 1,
                    .over = (s->width + s->low[1] + s->high[1] - s->columns) / s->across + 1,
                    .outputs = s->channels * s->each };
}

/* ---- plain loops ---- */

static float canonical(float x) { return isnan(x) ? NAN : x; }

/* Element (row, column) of the window at (y, x) of image n, 0 outside. */
static float pixel_of(const problem *p, int n, int y, int x, int row, int column, int channel) {
  const shape *s = p->s;
  int h = y * s->step + row - s->low[0], v = x * s->across + column - s->low[1];
  if (h < 0 || h >= s->height || v < 0 || v >= s->width) return 0;
  return p->x[((n * s->height + h) * s->width + v) * s->channels + channel];
}

static float slope_of(const problem *p, int n, int y, int x, int o) {
  return p->g[((n * p->down + y) * p->over + x) * p->outputs + o];
}

static float weight_of(const problem *p, int row, int column, int o) {
  return p->w[(row * p->s->columns + column) * p->outputs + o];
}

static void convolve(const problem *p, float *out) {
  for (int i = 0; i < p->s->images * p->down * p->over * p->outputs; i++) {
    int o = i % p->outputs, x = i / p->outputs % p->over, y = i / p->outputs / p->over % p->down;
    int n = i / p->outputs / p->over / p->down;
    float sum = 0;
    for (int row = 0; row < p->s->rows; row++)
      for (int column = 0; column < p->s->columns; column++)
        sum = fmaf(pixel_of(p, n, y, x, row, column, o / p->s->each), weight_of(p, row, column, o), sum);
    out[i] = canonical(sum);
  }
}

/* Each window adds to its pixels, one after the other. */
static void add_windows(const problem *p, float *out) {
  const shape *s = p->s;
  memset(out, 0, (size_t)(s->images * s->height * s->width * s->channels) * sizeof *out);
  for (int i = 0; i < s->images * p->down * p->over * s->rows * s->columns * s->channels; i++) {
    int c = i % s->channels, column = i / s->channels % s->columns;
    int row = i / s->channels / s->columns % s->rows, place = i / s->channels / s->columns / s->rows;
    int x = place % p->over, y = place / p->over % p->down, n = place / p->over / p->down;
    int h = y * s->step + row - s->low[0], v = x * s->across + column - s->low[1];
    float sum = 0;
    for (int o = c * s->each; o < (c + 1) * s->each; o++)
      sum = fmaf(slope_of(p, n, y, x, o), weight_of(p, row, column, o), sum);
    if (h < 0 || h >= s->height || v < 0 || v >= s->width) continue;
    float *to = &out[((n * s->height + h) * s->width + v) * s->channels + c];
    *to = canonical(*to + sum);
  }
}

static void gather_weights(const problem *p, float *out) {
  const shape *s = p->s;
  for (int i = 0; i < s->rows * s->columns * p->outputs; i++) {
    int o = i % p->outputs, column = i / p->outputs % s->columns, row = i / p->outputs / s->columns;
    float sum = 0;
    for (int place = 0; place < s->images * p->down * p->over; place++) {
      int x = place % p->over, y = place / p->over % p->down, n = place / p->over / p->down;
      sum = fmaf(pixel_of(p, n, y, x, row, column, o / s->each), slope_of(p, n, y, x, o), sum);
    }
    out[i] = canonical(sum);
  }
}

/* ---- the operations ---- */

static void write_text(const shape *s, char *text, size_t size) {
  problem p = problem_of(s);
  char windows[200];
  snprintf(windows, sizeof windows, "window=[%d, %d], low=[%d, %d], high=[%d, %d], step=[%d, %d]", s->rows,
           s->columns, s->low[0], s->low[1], s->high[0], s->high[1], s->step, s->across);
  snprintf(text, size,
           "graph(%%x: f32[%d, %d, %d, %d], %%w: f32[%d, %d, 1, %d], %%g: f32[%d, %d, %d, %d]) {\n"
           "  %%1 = depthwise %%x, %%w {%s}\n"
           "  %%2 = depthwise_image %%g, %%w {shape=[%d, %d, %d, %d], %s}\n"
           "  %%3 = depthwise_weights %%x, %%g {%s}\n  return %%1, %%2, %%3\n}\n",
           s->images, s->height, s->width, s->channels, s->rows, s->columns, p.outputs, s->images, p.down,
           p.over, p.outputs, windows, s->images, s->height, s->width, s->channels, windows, windows);
}

/* Numbers whose products with the zeros around an image are not zero, and others that make -0 of sums. */
static void put_odd_numbers(const values *v, int which) {
  static const double odd[] = { INFINITY, NAN, -0.0, 1e-44 };
  for (size_t i = 0; i < v->input_count; i++) {
    const tn_view *view = &v->inputs[i].view;
    int64_t count = tn_view_count(view);
    if (which < 4 && count > 0) tn_view_set_f64(view, (int64_t)i * 7 % count, odd[which]);
    for (int64_t k = 0; which == 3 && k < count; k++) tn_view_set_f64(view, k, k % 3 ? -1e-30 : 1e-30);
  }
}

static void assert_results(world *w, const tn_graph *graph, const values *v, const tn_backend *backend,
                           int threads, float *const expected[], int first) {
  tn_fault fault;
  tn_plan *plan = plan_for(w, graph, backend, threads, v);
  assert_true(tn_plan_run(plan, &fault));
  for (size_t i = 0; i < graph->outputs.count; i++) {
    tn_view out = tn_plan_output(plan, (int)i); /* that of parts may be a view with gaps */
    tn_shape dims = tn_view_shape(&out);
    tn_view wanted = tn_view_make(expected[first + (int)i], TN_F32, &dims);
    if (!tn_view_equal(&out, &wanted))
      fail_msg("%s %s, %d threads: result %d", backend->name, backend->isa, threads, first + (int)i);
  }
  tn_plan_free(plan);
}

/* The parts of each operation, as a graph of its operands. */
static void assert_parts(world *w, const tn_graph *graph, const values *v, float *const expected[]) {
  for (int i = 0; i < RESULTS; i++) {
    tn_value value = graph->outputs.at[i].value;
    const tn_node *node = tn_graph_node(graph, value);
    tn_graph parts;
    tn_tensor operands[2];
    assert_true(tn_graph_parts(graph, value, &parts));
    for (int k = 0; k < 2; k++)
      for (size_t input = 0; input < graph->inputs.count; input++)
        if (graph->inputs.at[input] == node->in[k]) operands[k] = v->inputs[input];
    values of_parts = { .inputs = operands, .input_count = 2 };
    assert_results(w, &parts, &of_parts, tn_backend_ref(), 1, expected, i);
    assert_results(w, &parts, &of_parts, tn_backend_cpu(NULL), 1, expected, i);
    tn_graph_free(&parts);
  }
}

static void check_values(world *w, const tn_graph *graph, const values *v, problem *p, float *const out[]) {
  bool available;
  p->x = v->inputs[0].view.data, p->w = v->inputs[1].view.data, p->g = v->inputs[2].view.data;
  convolve(p, out[0]);
  add_windows(p, out[1]);
  gather_weights(p, out[2]);
  assert_results(w, graph, v, tn_backend_ref(), 1, out, 0);
  for (int i = 0; tn_backend_cpu_isa(i, &available); i++) {
    const tn_backend *cpu = available ? tn_backend_cpu(tn_backend_cpu_isa(i, &available)) : NULL;
    for (int threads = 1; cpu && threads <= 3; threads++) assert_results(w, graph, v, cpu, threads, out, 0);
  }
  assert_parts(w, graph, v, out);
}

static void check(const shape *s) {
  char text[2048];
  problem p = problem_of(s);
  int64_t counts[RESULTS] = { (int64_t)s->images * p.down * p.over * p.outputs,
                              (int64_t)s->images * s->height * s->width * s->channels,
                              (int64_t)s->rows * s->columns * p.outputs };
  write_text(s, text, sizeof text);
  for (int which = 0; which < 5; which++) {
    world w;
    tn_graph graph;
    float *out[RESULTS];
    world_open(&w);
    graph_from(&w, text, &graph);
    values v = random_values(&w, &graph, (uint64_t)which + 1);
    put_odd_numbers(&v, which);
    for (int i = 0; i < RESULTS; i++) out[i] = tn_heap_alloc(&w.heap, (size_t)(counts[i] + 1) * sizeof **out);
    check_values(&w, &graph, &v, &p, out);
    for (int i = 0; i < RESULTS; i++) tn_heap_free(&w.heap, out[i], (size_t)(counts[i] + 1) * sizeof **out);
    free_values(&w, &v);
    tn_graph_free(&graph);
    world_close(&w);
  }
}

static void every_kernel_gives_the_bits_of_plain_loops(void **state) {
  (void)state;
  static const shape shapes[] = {
    { 2, 9, 11, 16, 1, 3, 3, 1, 1, { 1, 1 }, { 1, 1 } },  /* zeros around */
    { 3, 8, 7, 19, 1, 3, 3, 1, 1, { 0, 0 }, { 0, 0 } },   /* none; channels beside the vectors */
    { 2, 9, 11, 33, 1, 3, 3, 2, 2, { 1, 1 }, { 1, 1 } },  /* every other place */
    { 2, 10, 12, 32, 1, 3, 3, 2, 2, { 0, 0 }, { 1, 1 } }, /* of even sides */
    { 2, 7, 9, 5, 2, 3, 3, 1, 1, { 1, 1 }, { 1, 1 } },    /* two outputs for each channel */
    { 1, 7, 9, 18, 3, 3, 2, 2, 1, { 1, 0 }, { 1, 1 } },
    { 1, 12, 13, 8, 1, 5, 5, 1, 1, { 2, 2 }, { 2, 2 } },  /* more places of a window than registers */
    { 1, 9, 14, 17, 1, 7, 7, 1, 2, { 3, 3 }, { 3, 3 } },
    { 1, 3, 21, 4, 1, 2, 9, 1, 1, { 0, 4 }, { 1, 4 } },   /* more columns than a tile has */
    { 2, 5, 6, 16, 1, 1, 1, 1, 1, { 0, 0 }, { 0, 0 } },   /* windows of one place */
    { 2, 7, 8, 16, 1, 2, 2, 3, 3, { 0, 0 }, { 0, 0 } },   /* pixels that no window has */
    { 1, 4, 4, 16, 1, 2, 2, 2, 2, { 3, 3 }, { 4, 4 } },   /* windows that are zeros alone */
    { 1, 2, 1, 3, 1, 2, 1, 1, 1, { 0, 0 }, { 0, 0 } },    /* one window */
    { 3, 20, 20, 48, 1, 3, 3, 1, 1, { 1, 1 }, { 1, 1 } }, /* enough for threads */
    { 4, 40, 40, 8, 1, 3, 3, 1, 1, { 1, 1 }, { 1, 1 } },  /* for several threads, in few channels */
    { 2, 40, 60, 40, 1, 3, 3, 1, 1, { 1, 1 }, { 1, 1 } }, /* images in bands */
    { 0, 5, 5, 4, 1, 3, 3, 1, 1, { 1, 1 }, { 1, 1 } },    /* no image: the weights' gradient is 0 */
  };
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) check(&shapes[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = { cmocka_unit_test(every_kernel_gives_the_bits_of_plain_loops) };
  return cmocka_run_group_tests_name("unit/depthwise", tests, NULL, NULL);
}
