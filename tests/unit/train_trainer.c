/* tests/unit/train_trainer.c: a step does what its optimiser says, in place, and the same everywhere. */
#include "base/elementary.h"
#include "graph_support.h"
#include "train/trainer.h"

/* loss = sum of w * x, so that the gradient of w is x. */
static const char linear_text[] = "graph(%x: f32[3], param %w: f32[3]) {\n  %1 = mul %w, %x\n  %2 = sum %1 "
                                  "{axes=[0]}\n  return loss=%2\n}\n";

typedef struct {
  world w;
  tn_graph graph;
  tn_trainer *trainer;
  float x[3];
} lesson;

static void lesson_open(lesson *l, const char *text, const tn_train_options *options,
                        const tn_backend *backend, int threads) {
  tn_fault fault;
  world_open(&l->w);
  graph_from(&l->w, text, &l->graph);
  tn_trainer_request request = { .graph = &l->graph,
                                 .loss = 0,
                                 .options = *options,
                                 .seed = 42,
                                 .backend = backend,
                                 .threads = threads,
                                 .passes = TN_PASS_ALL,
                                 .evaluator = &ref_evaluator };
  l->trainer = tn_trainer_new(&l->w.heap, &request, &fault);
  if (!l->trainer) fail_msg("fault %d", (int)fault.kind);
  tn_graph_free(&l->graph); /* the trainer has its own */
}

static void lesson_close(lesson *l) {
  tn_trainer_free(l->trainer);
  world_close(&l->w);
}

static float *weights(lesson *l) { return tn_trainer_param(l->trainer, 0)->data; }

static void train_linear(lesson *l, const tn_train_options *options, int steps) {
  tn_fault fault;
  double loss;
  static const float start[3] = { 1, -2, 3 }, x[3] = { 0.5f, -1, 4 };
  lesson_open(l, linear_text, options, tn_backend_ref(), 1);
  memcpy(weights(l), start, sizeof start);
  memcpy(l->x, x, sizeof x);
  tn_shape shape = tn_shape_make(1, 3);
  tn_view view = tn_view_make(l->x, TN_F32, &shape);
  tn_trainer_bind_input(l->trainer, 0, &view);
  for (int i = 0; i < steps; i++) assert_true(tn_trainer_step(l->trainer, &loss, &fault));
}

static void sgd_takes_lr_times_the_gradient_off(void **state) {
  (void)state;
  lesson l;
  train_linear(&l, &(tn_train_options){ .lr = 0.1 }, 2);
  float p = 1;
  for (int i = 0; i < 2; i++) p = p - 0.1f * 0.5f;
  assert_true(weights(&l)[0] == p);
  assert_int_equal(tn_trainer_state_count(l.trainer), 0);
  lesson_close(&l);
}

static void momentum_keeps_moving(void **state) {
  (void)state;
  lesson l;
  train_linear(&l,
               &(tn_train_options){
                   .optimizer = TN_OPTIMIZER_MOMENTUM, .lr = 0.1, .momentum = 0.5, .weight_decay = 0.25 },
               3);
  float p = 1, m = 0;
  for (int i = 0; i < 3; i++) {
    float g = 0.5f + 0.25f * p;
    m = 0.5f * m + g;
    p = p - 0.1f * m;
  }
  assert_true(weights(&l)[0] == p);
  assert_true(((float *)tn_trainer_state(l.trainer, 0)->data)[0] == m);
  lesson_close(&l);
}

static void adam_is_what_its_formula_says(void **state) {
  (void)state;
  for (int decoupled = 0; decoupled < 2; decoupled++) {
    lesson l;
    tn_train_options options = { .optimizer = decoupled ? TN_OPTIMIZER_ADAMW : TN_OPTIMIZER_ADAM,
                                 TN_ADAM_DEFAULTS,
                                 .lr = 0.01,
                                 .weight_decay = decoupled ? 0.5 : 0 };
    train_linear(&l, &options, 4);
    float p = 1, m = 0, v = 0;
    for (int i = 0; i < 4; i++) {
      float g = 0.5f;
      float c1 = (float)(1 - tn_pow_f64(0.9, i + 1)), c2 = (float)(1 - tn_pow_f64(0.999, i + 1));
      m = 0.9f * m + (float)(1 - 0.9) * g;
      v = 0.999f * v + (float)(1 - 0.999) * (g * g);
      float next = p - 0.01f * ((m / c1) / (__builtin_sqrtf(v / c2) + 1e-8f));
      if (decoupled) next = next - 0.01f * (0.5f * p);
      p = next;
    }
    assert_true(weights(&l)[0] == p);
    lesson_close(&l);
  }
}

static void clipping_holds_the_common_norm(void **state) {
  (void)state;
  lesson l;
  train_linear(&l, &(tn_train_options){ .lr = 1, .clip_norm = 2 }, 1);
  float moved = 0;
  static const float start[3] = { 1, -2, 3 };
  for (int i = 0; i < 3; i++) moved += (weights(&l)[i] - start[i]) * (weights(&l)[i] - start[i]);
  assert_true(moved > 3.999f && moved < 4.001f);
  lesson_close(&l);
}

static void schedules_rise_and_fall(void **state) {
  (void)state;
  tn_train_options options = { .lr = 1, .schedule = TN_SCHEDULE_LINEAR, .warmup = 4, .steps = 14 };
  assert_true(tn_train_lr(&options, 0) == 0.25 && tn_train_lr(&options, 3) == 1);
  assert_true(tn_train_lr(&options, 4) == 1 && tn_train_lr(&options, 9) == 0.5 &&
              tn_train_lr(&options, 20) == 0);
  options.schedule = TN_SCHEDULE_COSINE;
  double middle = tn_train_lr(&options, 9);
  assert_true(middle > 0.4999999 && middle < 0.5000001);
  options.schedule = TN_SCHEDULE_CONSTANT;
  assert_true(tn_train_lr(&options, 13) == 1);
}

/* An embedding under plain sgd: the update must touch only the rows that were used, and be
 * what the dense formula gives. */
static const char embedding_text[] = "graph(%t: i32[4], param %e: f32[50, 3]) {\n  %1 = embedding %t, %e\n  "
                                     "%2 = mul %1, %1\n  %3 = sum %2 {axes=[0, 1]}\n  return loss=%3\n}\n";

static void embedding_updates_stay_sparse_and_equal_dense_ones(void **state) {
  (void)state;
  tn_fault fault;
  double loss;
  int32_t tokens[4] = { 7, 3, 7, 49 };
  float results[2][150];
  for (int dense = 0; dense < 2; dense++) {
    lesson l;
    /* A weight decay too small to matter makes the trainer take the dense way. */
    tn_train_options options = { .lr = 0.125, .weight_decay = dense ? 1e-45 : 0 };
    lesson_open(&l, embedding_text, &options, tn_backend_ref(), 1);
    for (int i = 0; i < 150; i++) weights(&l)[i] = (float)(i % 7) - 3;
    tn_shape shape = tn_shape_make(1, 4);
    tn_view view = tn_view_make(tokens, TN_I32, &shape);
    tn_trainer_bind_input(l.trainer, 0, &view);
    for (int i = 0; i < 3; i++) assert_true(tn_trainer_step(l.trainer, &loss, &fault));
    memcpy(results[dense], weights(&l), sizeof results[dense]);
    bool has_row_update = false;
    const tn_graph *graph = tn_trainer_graph(l.trainer);
    for (size_t v = 1; v < graph->nodes.count; v++)
      has_row_update |= graph->nodes.at[v].op == TN_OP_ROW_UPDATE;
    assert_true(has_row_update == !dense);
    lesson_close(&l);
  }
  assert_memory_equal(results[0], results[1], sizeof results[0]);
}

static void a_bad_token_leaves_everything_as_it_was(void **state) {
  (void)state;
  lesson l;
  tn_fault fault;
  double loss;
  int32_t tokens[4] = { 7, 3, 50, 1 };
  lesson_open(&l, embedding_text, &(tn_train_options){ .lr = 0.5 }, tn_backend_ref(), 1);
  for (int i = 0; i < 150; i++) weights(&l)[i] = 1;
  tn_shape shape = tn_shape_make(1, 4);
  tn_view view = tn_view_make(tokens, TN_I32, &shape);
  tn_trainer_bind_input(l.trainer, 0, &view);
  assert_false(tn_trainer_step(l.trainer, &loss, &fault));
  assert_int_equal(fault.kind, TN_FAULT_BOUNDS);
  assert_int_equal(fault.got, 50);
  assert_int_equal(tn_trainer_step_number(l.trainer), 0);
  for (int i = 0; i < 150; i++) assert_true(weights(&l)[i] == 1);
  lesson_close(&l);
}

/* A network with dropout, trained with every back end and thread count. */
static const char network_text[] =
    "graph(%x: f32[32, 20], %y: i32[32], %dropout_key: i64[], param %a: f32[20, 64], param %b: f32[64], "
    "param %c: f32[64, 5]) {\n"
    "  %1 = linear %x, %a, %b\n  %2 = gelu %1\n  %3 = dropout %2, %dropout_key {number=0.25, index=0}\n"
    "  %4 = matmul %3, %c\n  %5 = cross_entropy %4, %y\n  return loss=%5\n}\n";

static void train_network(const tn_backend *backend, int threads, uint8_t digest[32]) {
  lesson l;
  tn_fault fault;
  double loss, first_loss = 0;
  static float x[32][20];
  static int32_t y[32];
  tn_rng rng;
  tn_rng_init(&rng, 5);
  for (int i = 0; i < 32; i++) {
    y[i] = i % 5;
    for (int j = 0; j < 20; j++) x[i][j] = tn_rng_uniform(&rng) + (float)(j % 5 == y[i]);
  }
  const tn_train_options adam = { .optimizer = TN_OPTIMIZER_ADAM, TN_ADAM_DEFAULTS, .lr = 0.01 };
  lesson_open(&l, network_text, &adam, backend, threads);
  for (int p = 0; p < 3; p++) {
    const tn_view *view = tn_trainer_param(l.trainer, p);
    for (int64_t i = 0; i < tn_view_count(view); i++)
      ((float *)view->data)[i] = (tn_rng_uniform(&rng) - 0.5f) / 4;
  }
  tn_shape xs = tn_shape_make(2, 32, 20), ys = tn_shape_make(1, 32);
  tn_view xv = tn_view_make(x, TN_F32, &xs), yv = tn_view_make(y, TN_I32, &ys);
  tn_trainer_bind_input(l.trainer, 0, &xv);
  tn_trainer_bind_input(l.trainer, 1, &yv);
  for (int i = 0; i < 60; i++) {
    assert_true(tn_trainer_step(l.trainer, &loss, &fault));
    if (i == 0) first_loss = loss;
  }
  assert_true(loss < first_loss / 2);
  tn_sha256 hash;
  tn_sha256_init(&hash);
  for (int p = 0; p < 3; p++) tn_view_sha256_update(tn_trainer_param(l.trainer, p), &hash);
  tn_sha256_final(&hash, digest);
  lesson_close(&l);
}

static void training_gives_the_same_bits_everywhere(void **state) {
  (void)state;
  uint8_t wanted[32], got[32];
  train_network(tn_backend_ref(), 1, wanted);
  bool available;
  const char *isa;
  for (int i = 0; (isa = tn_backend_cpu_isa(i, &available)) != NULL; i++) {
    if (!available) continue;
    for (int threads = 1; threads <= 3; threads++) {
      train_network(tn_backend_cpu(isa), threads, got);
      assert_memory_equal(wanted, got, 32);
    }
  }
}

/* The mean of the gradients of two halves is that of the whole, up to rounding; and the draws differ. */
static const char half_text[] =
    "graph(%x: f32[2], %w0: f32[], param %w: f32[]) {\n  %1 = mul %x, %w\n  %2 = mul %1, %1\n"
    "  %3 = mean %2 {axes=[0]}\n  %4 = mul %3, %w0\n  return loss=%4\n}\n";

/* One step of half_text with the weight 1: its loss, and the weight after it. */
static void step_of_half(int shards, const bool *sharded, float *x, int64_t count, double *loss,
                         float *weight) {
  world w;
  tn_graph graph;
  tn_fault fault;
  float scale = 2;
  world_open(&w);
  graph_from(&w, half_text, &graph);
  tn_trainer_request request = { .graph = &graph,
                                 .options = { .lr = 0.5, .shards = shards },
                                 .sharded = sharded,
                                 .backend = tn_backend_ref(),
                                 .threads = 1,
                                 .passes = TN_PASS_ALL,
                                 .evaluator = &ref_evaluator };
  tn_trainer *trainer = tn_trainer_new(&w.heap, &request, &fault);
  assert_non_null(trainer);
  tn_shape shape = tn_shape_make(1, count);
  tn_view whole = tn_view_make(x, TN_F32, &shape), number = tn_view_make(&scale, TN_F32, &TN_SCALAR_SHAPE);
  tn_trainer_bind_input(trainer, 0, &whole);
  tn_trainer_bind_input(trainer, 1, &number);
  *(float *)tn_trainer_param(trainer, 0)->data = 1;
  assert_true(tn_trainer_step(trainer, loss, &fault));
  *weight = *(float *)tn_trainer_param(trainer, 0)->data;
  tn_trainer_free(trainer);
  tn_graph_free(&graph);
  world_close(&w);
}

static void shards_are_joined_by_a_tree(void **state) {
  (void)state;
  double loss;
  float x[6] = { 1, 2, 3, 4, 5, 6 }, weight;
  step_of_half(3, (const bool[]){ true, false }, x, 6, &loss, &weight);
  float parts[3] = { 2 * 2.5f, 2 * 12.5f, 2 * 30.5f }; /* mean of squares of each pair, times 2 */
  assert_true((float)loss == ((parts[0] + parts[1]) + parts[2]) / 3);
  float grads[3] = { 2 * parts[0], 2 * parts[1], 2 * parts[2] };
  assert_true(weight == 1 - 0.5f * (((grads[0] + grads[1]) + grads[2]) / 3));
}

/* What is kept grows with the logarithm of the shards: no second copy of the step, few gradients. */
static void shards_share_their_memory(void **state) {
  (void)state;
  static const char text[] = "graph(%x: f32[1], param %w: f32[16384]) {\n  %1 = mul %w, %x\n"
                             "  %2 = sum %1 {axes=[0]}\n  return loss=%2\n}\n";
  const size_t copy = 16384 * sizeof(float);
  size_t used[2];
  for (int many = 0; many < 2; many++) {
    lesson l;
    lesson_open(&l, text, &(tn_train_options){ .lr = 1, .shards = many ? 64 : 2 }, tn_backend_ref(), 1);
    used[many] = l.w.heap.used;
    lesson_close(&l);
  }
  assert_true(used[1] <= used[0] + 5 * (copy + 8192)); /* 7 copies of 64 shards, 2 of 2 */
  assert_true(used[0] < 5 * copy);
}

/* Each shard's loss is finite and their sum is not: the operation to name is the addition over shards. */
static void a_sum_over_shards_that_overflows_is_an_addition(void **state) {
  (void)state;
  world w;
  tn_graph graph;
  tn_fault fault;
  tn_not_finite found;
  double loss;
  float x[4] = { 1, 1, 1, 1 }, scale = 2.5e38f;
  const bool sharded[2] = { true, false };
  world_open(&w);
  graph_from(&w, half_text, &graph);
  tn_trainer_request request = { .graph = &graph,
                                 .options = { .lr = 0.5, .shards = 2 },
                                 .sharded = sharded,
                                 .backend = tn_backend_ref(),
                                 .threads = 1,
                                 .passes = TN_PASS_ALL & ~TN_PASS_FUSE,
                                 .evaluator = &ref_evaluator,
                                 .shows_all = true };
  tn_trainer *trainer = tn_trainer_new(&w.heap, &request, &fault);
  assert_non_null(trainer);
  tn_shape shape = tn_shape_make(1, 4);
  tn_view whole = tn_view_make(x, TN_F32, &shape), number = tn_view_make(&scale, TN_F32, &TN_SCALAR_SHAPE);
  tn_trainer_bind_input(trainer, 0, &whole);
  tn_trainer_bind_input(trainer, 1, &number);
  *(float *)tn_trainer_param(trainer, 0)->data = 0.6f; /* gradients 2 * 0.6 * 2.5e38, losses 0.36 * 2.5e38 */
  assert_true(tn_trainer_step(trainer, &loss, &fault));
  assert_true(tn_trainer_find_not_finite(trainer, &found));
  assert_int_equal(found.op, TN_OP_ADD);
  x[2] = 1e10f; /* now the second shard alone is not finite */
  assert_true(tn_trainer_step(trainer, &loss, &fault));
  assert_true(tn_trainer_find_not_finite(trainer, &found));
  assert_int_equal(found.op, TN_OP_MUL);
  tn_trainer_free(trainer);
  tn_graph_free(&graph);
  world_close(&w);
}

static void a_step_allocates_nothing(void **state) {
  (void)state;
  lesson l;
  tn_fault fault;
  double loss;
  train_linear(&l, &(tn_train_options){ .optimizer = TN_OPTIMIZER_ADAM, TN_ADAM_DEFAULTS, .lr = 0.1 }, 1);
  uint64_t requests = l.w.heap.requests;
  for (int i = 0; i < 100; i++) assert_true(tn_trainer_step(l.trainer, &loss, &fault));
  assert_int_equal(l.w.heap.requests, requests);
  lesson_close(&l);
}

static void is_made_or_says_why(const char *text, const tn_trainer_request *wanted) {
  for (uint64_t n = 1;; n++) {
    world w;
    tn_graph graph;
    tn_fault fault;
    world_open(&w);
    graph_from(&w, text, &graph);
    w.heap.fail_at = w.heap.requests + n;
    w.heap.failed = false;
    tn_trainer_request request = *wanted;
    request.graph = &graph;
    request.backend = tn_backend_ref();
    request.threads = 1;
    request.passes = TN_PASS_ALL;
    request.evaluator = &ref_evaluator;
    tn_trainer *trainer = tn_trainer_new(&w.heap, &request, &fault);
    bool reached = w.heap.failed;
    if (!trainer) assert_int_equal(fault.kind, TN_FAULT_MEMORY);
    w.heap.fail_at = 0;
    tn_trainer_free(trainer);
    tn_graph_free(&graph);
    world_close(&w);
    assert_true(trainer || reached);
    if (!reached) break;
  }
}

static void every_failed_allocation_is_a_fault(void **state) {
  (void)state;
  const bool sharded[2] = { true, false };
  const tn_train_options clipped = {
    .optimizer = TN_OPTIMIZER_ADAM, TN_ADAM_DEFAULTS, .lr = 0.1, .clip_norm = 1
  };
  const tn_train_options parts = {
    .optimizer = TN_OPTIMIZER_ADAMW, TN_ADAM_DEFAULTS, .lr = 0.1, .weight_decay = 0.1, .shards = 3
  };
  is_made_or_says_why(embedding_text, &(tn_trainer_request){ .options = clipped });
  is_made_or_says_why(embedding_text, &(tn_trainer_request){ .options = clipped, .shows_all = true });
  is_made_or_says_why(embedding_text, &(tn_trainer_request){ .options = clipped, .guarded = true });
  is_made_or_says_why(half_text, &(tn_trainer_request){ .options = parts, .sharded = sharded });
}

/* Nothing divides what no input is told to. */
static void shards_of_nothing_are_the_whole(void **state) {
  (void)state;
  double loss;
  float x[2] = { 1, 2 }, weight;
  step_of_half(2, NULL, x, 2, &loss, &weight);
  assert_true(loss == 5);
  assert_true(weight == 1 - 0.5f * 10);
}

/* ---- guarded steps ---- */

static const tn_train_options adam_options = { .optimizer = TN_OPTIMIZER_ADAMW,
                                               .lr = 0.1,
                                               .weight_decay = 0.01,
                                               TN_ADAM_DEFAULTS };

/* loss = sum of log(w) * x: 0 has no logarithm. */
static const char logarithm_text[] = "graph(%x: f32[3], param %w: f32[3], param %v: f32[3]) {\n"
                                     "  %1 = log %w\n  %2 = mul %1, %x\n  %3 = mul %2, %v\n"
                                     "  %4 = sum %3 {axes=[0]}\n  return loss=%4\n}\n";

static void guarded_open(lesson *l, const tn_train_options *options, bool guarded, float first) {
  tn_fault fault;
  world_open(&l->w);
  graph_from(&l->w, logarithm_text, &l->graph);
  tn_trainer_request request = { .graph = &l->graph,
                                 .options = *options,
                                 .backend = tn_backend_ref(),
                                 .threads = 1,
                                 .passes = TN_PASS_ALL,
                                 .evaluator = &ref_evaluator,
                                 .guarded = guarded };
  l->trainer = tn_trainer_new(&l->w.heap, &request, &fault);
  if (!l->trainer) fail_msg("fault %d", (int)fault.kind);
  tn_graph_free(&l->graph);
  const float w[3] = { first, 2, 3 }, v[3] = { 1, -1, 0.5f }, x[3] = { 0.5f, -1, 4 };
  memcpy(tn_trainer_param(l->trainer, 0)->data, w, sizeof w);
  memcpy(tn_trainer_param(l->trainer, 1)->data, v, sizeof v);
  memcpy(l->x, x, sizeof x);
  tn_shape shape = tn_shape_make(1, 3);
  tn_view view = tn_view_make(l->x, TN_F32, &shape);
  tn_trainer_bind_input(l->trainer, 0, &view);
}

static void a_guarded_step_has_the_same_bits(void **state) {
  (void)state;
  lesson plain, guarded;
  tn_fault fault;
  double a, b;
  guarded_open(&plain, &adam_options, false, 1.5f);
  guarded_open(&guarded, &adam_options, true, 1.5f);
  for (int i = 0; i < 5; i++) {
    assert_true(tn_trainer_step(plain.trainer, &a, &fault));
    assert_true(tn_trainer_step(guarded.trainer, &b, &fault));
    assert_true(a == b);
  }
  for (int i = 0; i < tn_trainer_lasting_count(plain.trainer); i++)
    assert_memory_equal(tn_trainer_lasting(plain.trainer, i)->data,
                        tn_trainer_lasting(guarded.trainer, i)->data, 3 * sizeof(float));
  lesson_close(&plain);
  lesson_close(&guarded);
}

static void a_guarded_step_that_is_not_finite_changes_nothing(void **state) {
  (void)state;
  lesson l;
  tn_fault fault;
  double loss;
  guarded_open(&l, &adam_options, true, 0); /* its logarithm is -infinity, and so is the gradient of v */
  assert_false(tn_trainer_step(l.trainer, &loss, &fault));
  assert_true(tn_trainer_refused(l.trainer));
  assert_int_equal(tn_trainer_step_number(l.trainer), 0);
  const float w[3] = { 0, 2, 3 }, v[3] = { 1, -1, 0.5f }, zero[3] = { 0 };
  assert_memory_equal(tn_trainer_lasting(l.trainer, 0)->data, w, sizeof w);
  assert_memory_equal(tn_trainer_lasting(l.trainer, 1)->data, v, sizeof v);
  for (int i = 2; i < tn_trainer_lasting_count(l.trainer); i++)
    assert_memory_equal(tn_trainer_lasting(l.trainer, i)->data, zero, sizeof zero);
  tn_trainer_let_pass(l.trainer);
  assert_true(tn_trainer_step(l.trainer, &loss, &fault));
  assert_false(tn_trainer_refused(l.trainer));
  lesson_close(&l);
}

static void what_the_update_spoils_is_found_after_it(void **state) {
  (void)state;
  static const struct {
    double lr, epsilon;
    tn_op op;
  } cases[] = { { 1e39, 1e-8, TN_OP_MUL }, { 0.1, 1e-8, TN_OP_ERROR } };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    lesson l;
    tn_fault fault;
    tn_not_finite found;
    double loss;
    tn_train_options options = adam_options;
    options.lr = cases[i].lr;
    options.epsilon = cases[i].epsilon;
    guarded_open(&l, &options, true, 1.5f);
    assert_true(tn_trainer_step(l.trainer, &loss, &fault));
    assert_int_equal(tn_trainer_find_spoiled(l.trainer, &found), cases[i].op != TN_OP_ERROR);
    assert_int_equal(found.op, cases[i].op);
    lesson_close(&l);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_guarded_step_has_the_same_bits),
    cmocka_unit_test(a_guarded_step_that_is_not_finite_changes_nothing),
    cmocka_unit_test(what_the_update_spoils_is_found_after_it),
    cmocka_unit_test(sgd_takes_lr_times_the_gradient_off),
    cmocka_unit_test(momentum_keeps_moving),
    cmocka_unit_test(adam_is_what_its_formula_says),
    cmocka_unit_test(clipping_holds_the_common_norm),
    cmocka_unit_test(schedules_rise_and_fall),
    cmocka_unit_test(embedding_updates_stay_sparse_and_equal_dense_ones),
    cmocka_unit_test(a_bad_token_leaves_everything_as_it_was),
    cmocka_unit_test(training_gives_the_same_bits_everywhere),
    cmocka_unit_test(shards_are_joined_by_a_tree),
    cmocka_unit_test(shards_of_nothing_are_the_whole),
    cmocka_unit_test(shards_share_their_memory),
    cmocka_unit_test(a_sum_over_shards_that_overflows_is_an_addition),
    cmocka_unit_test(a_step_allocates_nothing),
    cmocka_unit_test(every_failed_allocation_is_a_fault),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
