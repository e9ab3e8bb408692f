/* The C interface on the GPU that the host plays (driver.c): the same values as on the CPU. */
#define _DEFAULT_SOURCE   /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/room.h"
#include "tern/tern.h"

static const char model[] =
    "const D = 8\n"
    "layer dense(x) {\n  param W [D, D] init normal(0.2)\n  param b [D] init zeros\n  linear(x, W, b)\n}\n"
    "layer block(x) {\n"
    "  x + attention(dense(x), dense(x), dense(x), 2, causal=true)\n}\n"
    "model {\n  tokens [B, 8]\n  labels [B, 8]\n  param E [16, D] init normal(0.3)\n"
    "  param P [8, D] init normal(0.3)\n"
    "  logits = matmul(repeat 2 block(embedding(tokens, E) + P), transpose(E))\n}\n"
    "train {\n  loss = xent(logits, labels)\n  steps = 6\n  batch = 2\n  lr = 0.05\n"
    "  optimizer = \"adam\"\n}\n"
    "dataset {\n  format = \"text\"\n  path = \"text.txt\"\n  tokens = chars(size=16)\n  split = 0.9\n}\n";

static tern_session *open_session(const char *device) {
  tern_session *session = tern_session_new(&(tern_options){ .allow = TERN_ALLOW_FILEREAD }, NULL);
  assert_non_null(session);
  if (tern_device(session, device) != TERN_OK) fail_msg("%s", tern_diagnostics_text(session, 0));
  return session;
}

static int set_up(void **state) {
  if (enter_room(state) != 0) return -1;
  FILE *text = fopen("text.txt", "w");
  assert_non_null(text);
  for (int i = 0; i < 40; i++) fputs("a bad cab had a dab of beef. ", text);
  return fclose(text);
}

/* Trains on the device, into a folder with its name. */
static void train(const char *device) {
  tern_session *session = open_session(device);
  tern_program *program = tern_load(session, TERN_LANG_AIL, "model.ail", model, strlen(model));
  assert_non_null(program);
  if (tern_train(program, &(tern_train_run){ .out = device }) != TERN_OK)
    fail_msg("%s", tern_diagnostics_text(session, 0));
  tern_program_free(program);
  tern_session_free(session);
}

static int take(void *context, const char *text, size_t length) {
  strncat(context, text, length);
  return 1;
}

static void generate(const char *device, const char *run, int no_cache, char *out) {
  tern_session *session = open_session(device);
  tern_program *program = tern_load_run(session, run, NULL);
  tern_generation wanted = { .prompt = "a bad", .tokens = 24, .temperature = 1, .no_cache = no_cache,
                             .context = out, .take = take };
  assert_non_null(program);
  out[0] = '\0';
  if (tern_generate(program, &wanted, NULL) != TERN_OK) fail_msg("%s", tern_diagnostics_text(session, 0));
  tern_program_free(program);
  tern_session_free(session);
}

static void a_text_is_continued_alike(void **state) {
  char wanted[256], got[256];
  (void)state;
  train("cpu");
  train("cuda");
  generate("cpu", "cpu", 0, wanted);
  assert_true(strlen(wanted) >= 24);
  for (int no_cache = 0; no_cache < 2; no_cache++) {
    generate("cuda", "cuda", no_cache, got);
    assert_string_equal(got, wanted);
    generate("cpu", "cuda", no_cache, got);
    assert_string_equal(got, wanted);
  }
}

/* Without `take` tokens are only counted, as a benchmark does. */
static void nobody_has_to_take_the_text(void **state) {
  (void)state;
  tern_generation wanted = { .prompt = "a bad", .tokens = 5 };
  size_t tokens = 0;
  train("cpu");
  tern_session *session = open_session("cpu");
  tern_program *program = tern_load_run(session, "cpu", NULL);
  assert_non_null(program);
  assert_int_equal(tern_generate(program, &wanted, &tokens), TERN_OK);
  assert_int_equal(tokens, 5);
  tern_program_free(program);
  tern_session_free(session);
}

static const char graph[] = "graph(%x: f32[3, 4], param %w: f32[4, 2]) {\n"
                            "  %1 = matmul %x, %w : f32[3, 2]\n"
                            "  %2 = softmax %1 {axis=1} : f32[3, 2]\n"
                            "  return y=%2\n}\n";

/* Three runs: the second is recorded, and the third finds other inputs and parameters. */
static void run_graph(const char *device, float *out) {
  tern_session *session = open_session(device);
  tern_program *program = tern_load(session, TERN_LANG_GRAPH, "g", graph, strlen(graph));
  int64_t x_dims[] = { 3, 4 }, w_dims[] = { 4, 2 };
  float x[12], w[8];
  assert_non_null(program);
  for (int run = 0; run < 3; run++) {
    for (int i = 0; i < 12; i++) x[i] = (float)(i * (run + 1)) / 7;
    for (int i = 0; i < 8; i++) w[i] = (float)(i - run) / 3;
    tern_tensor given_x = { .dtype = TERN_F32, .rank = 2, .dims = x_dims, .data = x };
    tern_tensor given_w = { .dtype = TERN_F32, .rank = 2, .dims = w_dims, .data = w };
    assert_int_equal(tern_set_input(program, "x", &given_x), TERN_OK);
    assert_int_equal(tern_set_param(program, "w", &given_w), TERN_OK);
    assert_int_equal(tern_run(program), TERN_OK);
    tern_tensor y;
    assert_int_equal(tern_output(program, 0, &y), TERN_OK);
    memcpy(out + 6 * run, y.data, 6 * sizeof *out);
  }
  tern_program_free(program);
  tern_session_free(session);
}

static void a_graph_gives_the_same_bits_in_every_run(void **state) {
  float wanted[18], got[18];
  (void)state;
  run_graph("cpu", wanted);
  run_graph("cuda", got);
  assert_memory_equal(got, wanted, sizeof wanted);
}

static const char regression[] = "graph(%x: f32[3, 4], %y: f32[3, 2], param %w: f32[4, 2]) {\n"
                                 "  %1 = matmul %x, %w : f32[3, 2]\n"
                                 "  %2 = sub %1, %y : f32[3, 2]\n"
                                 "  %3 = mul %2, %2 : f32[3, 2]\n"
                                 "  %4 = mean %3 {axes=[0, 1]} : f32[]\n"
                                 "  return %4\n}\n";

static void give_multiples(tern_program *program, const char *name, int64_t columns, float of) {
  int64_t dims[] = { 3, columns };
  float values[12];
  for (int i = 0; i < 12; i++) values[i] = (float)(i % 5) * of;
  tern_tensor given = { .dtype = TERN_F32, .rank = 2, .dims = dims, .data = values };
  assert_int_equal(tern_set_input(program, name, &given), TERN_OK);
}

/* Two steps with the same inputs, two with another x, two with another y. */
static void take_steps(const char *device, double *losses) {
  tern_session *session = open_session(device);
  tern_program *program = tern_load(session, TERN_LANG_GRAPH, "g", regression, strlen(regression));
  assert_non_null(program);
  give_multiples(program, "x", 4, 0.5f);
  give_multiples(program, "y", 2, 1);
  assert_int_equal(tern_train_begin(program, &(tern_training){ .lr = 0.1 }), TERN_OK);
  for (int step = 0; step < 6; step++) {
    if (step == 2) give_multiples(program, "x", 4, -0.25f);
    if (step == 4) give_multiples(program, "y", 2, 3);
    assert_int_equal(tern_train_step(program, &losses[step]), TERN_OK);
  }
  tern_program_free(program);
  tern_session_free(session);
}

static void a_step_takes_the_inputs_as_they_were_set_last(void **state) {
  double wanted[6], got[6];
  (void)state;
  take_steps("cpu", wanted);
  take_steps("cuda", got);
  assert_memory_equal(got, wanted, sizeof wanted);
  for (int step = 1; step < 6; step++) assert_true(wanted[step] != wanted[step - 1]);
}

static const char two_faults[] = "graph(%x: f32[3], %i: i32[2], %j: i32[2]) {\n"
                                 "  %1 = gather %x, %i {axis=0} : f32[2]\n"
                                 "  %2 = gather %x, %j {axis=0} : f32[2]\n"
                                 "  %3 = mul %1, %2 : f32[2]\n"
                                 "  return y=%3\n}\n";

static void give_indices(tern_program *program, const char *name, int32_t first, int32_t second) {
  int64_t dims[] = { 2 };
  int32_t values[] = { first, second };
  tern_tensor given = { .dtype = TERN_I32, .rank = 1, .dims = dims, .data = values };
  assert_int_equal(tern_set_input(program, name, &given), TERN_OK);
}

/* Kernels that need not wait for each other run in any order; of two faults the first is reported. */
static void the_first_fault_is_reported(void **state) {
  (void)state;
  tern_session *session = open_session("cuda");
  tern_program *program = tern_load(session, TERN_LANG_GRAPH, "g", two_faults, strlen(two_faults));
  int64_t dims[] = { 3 };
  float x[] = { 1, 2, 3 };
  tern_tensor given = { .dtype = TERN_F32, .rank = 1, .dims = dims, .data = x };
  assert_non_null(program);
  assert_int_equal(tern_set_input(program, "x", &given), TERN_OK);
  for (int run = 0; run < 16; run++) {
    bool wrong = run > 1 && run % 4 != 3;
    give_indices(program, "i", wrong ? 7 : 0, 2);
    give_indices(program, "j", wrong ? 9 : 1, 1);
    assert_int_equal(tern_run(program), wrong ? TERN_FAILED : TERN_OK);
    if (wrong) assert_non_null(strstr(tern_diagnostics_text(session, 0), "7"));
    tern_clear_diagnostics(session);
  }
  tern_program_free(program);
  tern_session_free(session);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_text_is_continued_alike),
    cmocka_unit_test(nobody_has_to_take_the_text),
    cmocka_unit_test(a_graph_gives_the_same_bits_in_every_run),
    cmocka_unit_test(a_step_takes_the_inputs_as_they_were_set_last),
    cmocka_unit_test(the_first_fault_is_reported),
  };
  return cmocka_run_group_tests(tests, set_up, leave_room);
}
