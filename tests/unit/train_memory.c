/* tests/unit/train_memory.c: how many bytes a step of training needs. Nothing is run: a plan knows it. */
#include <stdio.h>

#include "graph_support.h"
#include "train/trainer.h"

typedef struct {
  char text[65536];
  size_t length;
} writer;

#define WRITE(w, ...) \
  ((w)->length += (size_t)snprintf((w)->text + (w)->length, sizeof (w)->text - (w)->length, __VA_ARGS__))

/* A product with a bias: %TO of %FROM. */
static void write_dense(writer *w, int layer, const char *name, const char *from, const char *to) {
  WRITE(w, "  %%p%d%s = matmul %%%s, %%W%d%s\n", layer, name, from, layer, name);
  WRITE(w, "  %%%s = add %%p%d%s, %%b%d%s\n", to, layer, name, layer, name);
}

static void write_norm(writer *w, int layer, const char *name, const char *from, const char *to) {
  WRITE(w, "  %%%s = layer_norm %%%s, %%g%d%s, %%h%d%s {number=0.00001}\n", to, from, layer, name, layer,
        name);
}

static void write_block(writer *w, int layer) {
  char from[16], a[16], q[16], k[16], v[16], s[16], o[16], x[16], n[16], u[16], g[16], d[16], to[16];
  char *names[] = { from, a, q, k, v, s, o, x, n, u, g, d };
  for (int i = 0; i < 12; i++) snprintf(names[i], 16, "%c%d", "xaqkvsoynugd"[i], layer);
  snprintf(to, sizeof to, "x%d", layer + 1);
  write_norm(w, layer, "a", from, a);
  write_dense(w, layer, "q", a, q);
  write_dense(w, layer, "k", a, k);
  write_dense(w, layer, "v", a, v);
  WRITE(w, "  %%%s = attention %%%s, %%%s, %%%s {index=6, causal=true}\n", s, q, k, v);
  write_dense(w, layer, "o", s, o);
  WRITE(w, "  %%%s = add %%%s, %%%s\n", x, from, o);
  write_norm(w, layer, "n", x, n);
  write_dense(w, layer, "u", n, u);
  WRITE(w, "  %%%s = gelu %%%s\n", g, u);
  write_dense(w, layer, "d", g, d);
  WRITE(w, "  %%%s = add %%%s, %%%s\n", to, x, d);
}

static void write_params(writer *w, int layer) {
  static const char dense[] = "qkvoud";
  for (int i = 0; i < 6; i++)
    WRITE(w, ", param %%W%d%c: f32[%d, %d], param %%b%d%c: f32[%d]", layer, dense[i],
          dense[i] == 'd' ? 1536 : 384, dense[i] == 'u' ? 1536 : 384, layer, dense[i],
          dense[i] == 'u' ? 1536 : 384);
  for (int i = 0; i < 2; i++)
    WRITE(w, ", param %%g%d%c: f32[384], param %%h%d%c: f32[384]", layer, "an"[i], layer, "an"[i]);
}

/* Width 384, six heads, 256 tokens of 64 kinds, four texts. */
static void write_gpt(writer *w, int layers) {
  char last[16];
  WRITE(w, "graph(%%tokens: i32[4, 256], %%labels: i32[4, 256], param %%E: f32[64, 384], "
           "param %%P: f32[256, 384], param %%g9z: f32[384], param %%h9z: f32[384]");
  for (int i = 0; i < layers; i++) write_params(w, i);
  WRITE(w, ") {\n  %%e = gather %%E, %%tokens {axis=0}\n  %%x0 = add %%e, %%P\n");
  for (int i = 0; i < layers; i++) write_block(w, i);
  snprintf(last, sizeof last, "x%d", layers);
  write_norm(w, 9, "z", last, "z");
  WRITE(w, "  %%t = transpose %%E\n  %%logits = matmul %%z, %%t\n"
           "  %%loss = cross_entropy %%logits, %%labels\n  return loss=%%loss\n}\n");
}

/* Parameters, the states of AdamW, and what a plan keeps from step to step. */
static size_t step_bytes(int layers, tn_pass_set passes, bool guarded) {
  static writer w;
  world around;
  tn_graph graph;
  tn_fault fault;
  w.length = 0;
  world_open(&around);
  write_gpt(&w, layers);
  graph_from(&around, w.text, &graph);
  tn_trainer_request request = { .graph = &graph,
                                 .options = { .optimizer = TN_OPTIMIZER_ADAMW,
                                              .lr = 0.001,
                                              TN_ADAM_DEFAULTS },
                                 .backend = tn_backend_cpu(NULL),
                                 .threads = 1,
                                 .passes = passes,
                                 .evaluator = &ref_evaluator,
                                 .guarded = guarded };
  tn_trainer *trainer = tn_trainer_new(&around.heap, &request, &fault);
  if (!trainer) fail_msg("fault %d", (int)fault.kind);
  tn_graph_free(&graph);
  size_t bytes = around.heap.used;
  tn_trainer_free(trainer);
  world_close(&around);
  return bytes;
}

static void a_gpt_step_needs_less_than_250_megabytes(void **state) {
  (void)state;
  assert_in_range(step_bytes(6, TN_PASS_ALL, false), 0, 250000000);
}

/* Gradients are kept until all are there; by then most of what lies between the layers is not needed any
 * more. */
static void so_does_a_guarded_one(void **state) {
  (void)state;
  assert_in_range(step_bytes(6, TN_PASS_ALL, true), 0, 250000000);
}

/* A layer keeps ten matrices of 1024 by 384, and not twenty-four: rows that are centred (twice), the operands
 * and the result of attention, and the operand of gelu, which is four times as wide. */
static void a_layer_keeps_ten_matrices(void **state) {
  (void)state;
  const size_t matrix = 1024 * 384 * sizeof(float), params = (4 + 8) * 384 * 384 + 13 * 384;
  size_t more = step_bytes(6, TN_PASS_ALL, false) - step_bytes(5, TN_PASS_ALL, false);
  assert_in_range(more, 0, 3 * params * sizeof(float) + 11 * matrix);
}

/* 129 million bytes are parameters and states, which stay. */
static void without_recomputing_it_keeps_twice_as_much(void **state) {
  (void)state;
  const size_t lasting = 129000000;
  size_t with = step_bytes(6, TN_PASS_ALL, false) - lasting;
  size_t without = step_bytes(6, (tn_pass_set)(TN_PASS_ALL & ~TN_PASS_RECOMPUTE), false) - lasting;
  assert_true(with < without * 6 / 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_gpt_step_needs_less_than_250_megabytes),
    cmocka_unit_test(so_does_a_guarded_one),
    cmocka_unit_test(a_layer_keeps_ten_matrices),
    cmocka_unit_test(without_recomputing_it_keeps_twice_as_much),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
