/* tests/unit/api.c: the public interface, as an embedder uses it. */
#include <math.h>
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

static const char network[] =
    "graph(%x: f32[N, 2], %y: i32[N], param %w: f32[2, 3], param %b: f32[3]) {\n"
    "  %1 = linear %x, %w, %b\n  %2 = cross_entropy %1, %y\n  return loss=%2, scores=%1\n}\n";

static tern_session *open_session(const tern_options *options) {
  const char *problem = NULL;
  tern_session *session = tern_session_new(options, &problem);
  if (!session) fail_msg("%s", problem);
  return session;
}

static tern_program *load(tern_session *session, const char *text) {
  return tern_load(session, TERN_LANG_GRAPH, "test.graph", text, strlen(text));
}

static tern_status give_rows(tern_program *program, int64_t rows) {
  static const float x[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
  static const int32_t y[4] = { 0, 1, 2, 1 };
  int64_t two[2] = { rows, 2 }, one[1] = { rows };
  tern_status status = tern_set_input(program, "x", &(tern_tensor){ TERN_F32, 2, two, NULL, x });
  return status == TERN_OK ? tern_set_input(program, "y", &(tern_tensor){ TERN_I32, 1, one, NULL, y })
                           : status;
}

static void a_program_runs_with_other_shapes_without_being_loaded_again(void **state) {
  (void)state;
  tern_session *session = open_session(NULL);
  tern_program *program = load(session, network);
  for (int64_t rows = 4; rows >= 1; rows--) {
    tern_tensor scores;
    assert_int_equal(give_rows(program, rows), TERN_OK);
    assert_int_equal(tern_run(program), TERN_OK);
    assert_int_equal(tern_output_count(program), 2);
    assert_string_equal(tern_output_name(program, 1), "scores");
    assert_int_equal(tern_output(program, 1, &scores), TERN_OK);
    assert_int_equal(scores.dims[0], rows);
    assert_int_equal(scores.dims[1], 3);
  }
  assert_int_equal(tern_output(program, 2, &(tern_tensor){ 0 }), TERN_USAGE);
  tern_program_free(program);
  tern_session_free(session);
}

static void a_cleared_value_is_gone(void **state) {
  (void)state;
  tern_session *session = open_session(NULL);
  tern_program *program = load(session, network);
  tern_tensor out;
  assert_int_equal(give_rows(program, 2), TERN_OK);
  assert_int_equal(tern_run(program), TERN_OK);
  tern_clear_input(program, "nothing of this name");
  assert_int_equal(tern_input(program, 0, &out), TERN_OK);
  tern_clear_input(program, "x");
  assert_int_equal(tern_input(program, 0, &out), TERN_FAILED);
  assert_int_equal(tern_input(program, 1, &out), TERN_OK);
  assert_int_equal(give_rows(program, 3), TERN_OK);
  assert_int_equal(tern_run(program), TERN_OK);
  tern_clear_input(program, NULL);
  assert_int_equal(tern_input(program, 1, &out), TERN_FAILED);
  tern_program_free(program);
  tern_session_free(session);
}

static float doubled(tern_program *program, float number) {
  tern_tensor out;
  int64_t one[1] = { 1 };
  tern_tensor value = { TERN_F32, 1, one, NULL, &number };
  assert_int_equal(tern_set_input(program, "x", &value), TERN_OK);
  assert_int_equal(tern_run(program), TERN_OK);
  assert_int_equal(tern_output(program, 0, &out), TERN_OK);
  return *(const float *)out.data;
}

static void a_run_sees_the_values_that_were_given_last(void **state) {
  (void)state;
  tern_session *session = open_session(NULL);
  tern_program *program = load(session, "graph(%x: f32[N]) {\n  %1 = add %x, %x\n  return %1\n}\n");
  int64_t two[1] = { 2 };
  float pair[2] = { 3, 4 };
  tern_tensor out;
  assert_true(doubled(program, 1) == 2 && doubled(program, 2) == 4);
  assert_int_equal(tern_run(program), TERN_OK); /* no new value was given */
  assert_int_equal(tern_output(program, 0, &out), TERN_OK);
  assert_true(*(const float *)out.data == 4);
  assert_int_equal(tern_set_input(program, "x", &(tern_tensor){ TERN_F32, 1, two, NULL, pair }), TERN_OK);
  assert_int_equal(tern_run(program), TERN_OK);
  assert_int_equal(tern_output(program, 0, &out), TERN_OK);
  assert_true(out.dims[0] == 2 && ((const float *)out.data)[1] == 8);
  assert_int_equal(tern_set_input(program, "z", &(tern_tensor){ TERN_F32, 1, two, NULL, pair }), TERN_OK);
  assert_int_equal(tern_run(program), TERN_USAGE); /* there is no z */
  assert_int_equal(tern_diagnostic_count(session), 1);
  tern_program_free(program);
  tern_session_free(session);
}

static void a_step_keeps_the_shapes_it_was_made_for(void **state) {
  (void)state;
  tern_session *session = open_session(NULL);
  tern_program *program = load(session, network);
  double first, same, loss;
  assert_int_equal(give_rows(program, 4), TERN_OK);
  assert_int_equal(tern_train_begin(program, &(tern_training){ .lr = 0 }), TERN_OK);
  assert_int_equal(tern_train_step(program, &first), TERN_OK);
  assert_int_equal(give_rows(program, 2), TERN_OK);
  assert_int_equal(tern_train_step(program, &loss), TERN_FAILED);
  assert_string_equal(tern_diagnostic_at(session, 0).code, "E_INPUT_DIM_MISMATCH");
  assert_int_equal(tern_run(program), TERN_OK); /* a run takes any shape, and training steps are unaffected */
  assert_int_equal(give_rows(program, 4), TERN_OK);
  assert_int_equal(tern_train_step(program, &same), TERN_OK);
  assert_true(first == same);
  tern_program_free(program);
  tern_session_free(session);
}

static void inputs_and_parameters_are_described(void **state) {
  (void)state;
  tern_session *session = open_session(NULL);
  tern_program *program = load(session, network);
  assert_int_equal(tern_check(program), TERN_OK);
  assert_int_equal(tern_input_count(program), 2);
  tern_tensor_spec x = tern_input_at(program, 0), w = tern_param_at(program, 0);
  assert_string_equal(x.name, "x");
  assert_int_equal(x.dims[0], -1);
  assert_string_equal(x.dim_names[0], "N");
  assert_int_equal(x.dims[1], 2);
  assert_null(x.dim_names[1]);
  assert_string_equal(w.name, "w");
  assert_int_equal(w.dtype, TERN_F32);
  tern_program_free(program);
  tern_session_free(session);
}

static void strided_inputs_are_read_by_their_strides(void **state) {
  (void)state;
  tern_session *session = open_session(NULL);
  tern_program *program = load(session, "graph(%x: f32[2, 3]) {\n  %1 = neg %x\n  return %1\n}\n");
  static const float columns[6] = { 1, 4, 2, 5, 3, 6 };
  int64_t dims[2] = { 2, 3 }, strides[2] = { 1, 2 };
  tern_tensor out;
  assert_int_equal(tern_set_input(program, "x", &(tern_tensor){ TERN_F32, 2, dims, strides, columns }),
                   TERN_OK);
  assert_int_equal(tern_run(program), TERN_OK);
  assert_int_equal(tern_output(program, 0, &out), TERN_OK);
  static const float wanted[6] = { -1, -2, -3, -4, -5, -6 };
  assert_memory_equal(out.data, wanted, sizeof wanted);
  tern_program_free(program);
  tern_session_free(session);
}

static void diagnostics_are_data(void **state) {
  (void)state;
  tern_session *session = open_session(NULL);
  tern_program *program =
      load(session, "graph(%x: f32[2, 3], %y: f32[4, 5]) {\n  %1 = matmul %x, %y\n  return %1\n}\n");
  assert_int_equal(tern_check(program), TERN_FAILED);
  assert_int_equal(tern_diagnostic_count(session), 1);
  tern_diagnostic d = tern_diagnostic_at(session, 0);
  assert_string_equal(d.code, "E2103");
  assert_string_equal(d.severity, "error");
  assert_string_equal(d.file, "test.graph");
  assert_int_equal(d.line, 2);
  assert_int_equal(d.column, 8);
  bool has_left = false;
  for (size_t i = 0; i < d.field_count; i++) {
    has_left |= strcmp(d.field_names[i], "left") == 0 && strcmp(d.field_values[i], "[2, 3]") == 0;
  }
  assert_true(has_left);
  tern_program_free(program);
  tern_session_free(session);
}

static double train(const tern_options *options, char hash[65]) {
  tern_session *session = open_session(options);
  tern_program *program = load(session, network);
  double loss = 0;
  assert_int_equal(give_rows(program, 4), TERN_OK);
  assert_int_equal(tern_train_begin(program, &(tern_training){ .optimizer = "adamw", .lr = 0.05 }), TERN_OK);
  for (int i = 0; i < 50; i++) assert_int_equal(tern_train_step(program, &loss), TERN_OK);
  strcpy(hash, tern_params_sha256(program));
  tern_program_free(program);
  tern_session_free(session);
  return loss;
}

static void training_depends_on_the_seed_and_on_nothing_else(void **state) {
  (void)state;
  char first[65], again[65], other[65];
  assert_true(train(NULL, first) < 1.0);
  train(&(tern_options){ .threads = 3, .isa = "portable" }, again);
  assert_string_equal(first, again);
  train(&(tern_options){ .isa = "ref", .without = "fold,fuse" }, again);
  assert_string_equal(first, again);
  train(&(tern_options){ .seed = 7, .has_seed = 1 }, other);
  assert_string_not_equal(first, other);
}

static void descend(const tern_options *options, int rows, int width, int classes, char hash[65]) {
  static float x[600 * 300];
  static int32_t y[600];
  char text[400];
  for (int i = 0; i < rows * width; i++) x[i] = (float)(i * 37 % 101) / 101 - 0.5f;
  for (int i = 0; i < rows; i++) y[i] = i % classes;
  snprintf(text, sizeof text,
           "graph(%%x: f32[%d, %d], %%y: i32[%d], param %%w: f32[%d, %d], param %%b: f32[%d]) {\n"
           "  %%1 = linear %%x, %%w, %%b\n  %%2 = cross_entropy %%1, %%y\n  return loss=%%2\n}\n",
           rows, width, rows, width, classes, classes);
  tern_session *session = open_session(options);
  tern_program *program = load(session, text);
  int64_t two[2] = { rows, width }, one[1] = { rows };
  double loss;
  assert_int_equal(tern_set_input(program, "x", &(tern_tensor){ TERN_F32, 2, two, NULL, x }), TERN_OK);
  assert_int_equal(tern_set_input(program, "y", &(tern_tensor){ TERN_I32, 1, one, NULL, y }), TERN_OK);
  assert_int_equal(tern_train_begin(program, &(tern_training){ .lr = 0.1 }), TERN_OK);
  for (int i = 0; i < 3; i++) assert_int_equal(tern_train_step(program, &loss), TERN_OK);
  strcpy(hash, tern_params_sha256(program));
  tern_program_free(program);
  tern_session_free(session);
}

/* Plain descent goes straight from the matrix product into the weights: at edges of tiles, in rows
 * longer than a block, and where the weights have few columns. */
static void plain_descent_has_the_bits_of_ref(void **state) {
  (void)state;
  static const int shapes[][3] = { { 3, 1, 1 }, { 5, 7, 3 }, { 33, 65, 2 }, { 20, 300, 330 },
                                 { 600, 40, 200 }, { 64, 77, 10 }, { 9, 50, 15 } };
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
    const int *s = shapes[i];
    char expected[65], hash[65];
    descend(&(tern_options){ .isa = "ref" }, s[0], s[1], s[2], expected);
    for (int threads = 1; threads <= 3; threads++) {
      descend(&(tern_options){ .threads = threads }, s[0], s[1], s[2], hash);
      assert_string_equal(hash, expected);
    }
    descend(&(tern_options){ .isa = "portable" }, s[0], s[1], s[2], hash);
    assert_string_equal(hash, expected);
  }
}

/* ---- the same in every language that declares a model ---- */

static const char line_graph[] = "graph(%x: f32[N, 2], %y: f32[N, 1], param %w: f32[2, 1]) {\n"
                                 "  %1 = matmul %x, %w\n  %2 = mse_loss %1, %y\n"
                                 "  return pred=%1, loss=%2\n}\n";
static const char line_model[] = "model {\n x [N, 2]\n y [N, 1]\n param w [2, 1]\n pred = matmul(x, w)\n}\n"
                                 "train { loss = mean(mul(sub(pred, y), sub(pred, y))) }\n";

static void give_line(tern_program *program, const float *x, const float *y) {
  static const int64_t wide[2] = { 3, 2 }, narrow[2] = { 3, 1 }, weights[2] = { 2, 1 };
  static const float w[2] = { 0.5f, -0.25f };
  assert_int_equal(tern_set_input(program, "x", &(tern_tensor){ TERN_F32, 2, wide, NULL, x }), TERN_OK);
  assert_int_equal(tern_set_input(program, "y", &(tern_tensor){ TERN_F32, 2, narrow, NULL, y }), TERN_OK);
  assert_int_equal(tern_set_param(program, "w", &(tern_tensor){ TERN_F32, 2, weights, NULL, w }), TERN_OK);
}

/* w after descending once by the mean of squares, written out. */
static void descend_once(const float x[6], const float y[3], double lr, double w[2]) {
  double gradient[2] = { 0 };
  for (int i = 0; i < 3; i++) {
    double off = (double)x[2 * i] * w[0] + (double)x[2 * i + 1] * w[1] - (double)y[i];
    for (int k = 0; k < 2; k++) gradient[k] += 2.0 / 3 * off * (double)x[2 * i + k];
  }
  for (int k = 0; k < 2; k++) w[k] -= lr * gradient[k];
}

static void expect_param(tern_program *program, const double w[2]) {
  tern_tensor now;
  assert_int_equal(tern_param(program, 0, &now), TERN_OK);
  for (int k = 0; k < 2; k++) assert_true(fabs((double)((const float *)now.data)[k] - w[k]) < 1e-6);
}

/* The first output is x times w; that of a model is its only one. */
static void expect_prediction(tern_program *program, const float x[6], const double w[2]) {
  tern_tensor out;
  assert_int_equal(tern_run(program), TERN_OK);
  assert_int_equal(tern_output(program, 0, &out), TERN_OK);
  for (int i = 0; i < 3; i++) {
    double wanted = (double)x[2 * i] * w[0] + (double)x[2 * i + 1] * w[1];
    assert_true(fabs((double)((const float *)out.data)[i] - wanted) < 1e-5);
  }
}

static void a_model_declares_and_trains(tern_language language, const char *text, char hash[65]) {
  static const float x[6] = { 1, 2, 3, 4, 5, 6 }, y[3] = { 1, 0, 2 }, other[3] = { -1, 4, 0 };
  double w[2] = { 0.5, -0.25 }, loss;
  tern_session *session = open_session(NULL);
  tern_program *program = tern_load(session, language, "line", text, strlen(text));
  assert_int_equal(tern_input_count(program), 2);
  assert_int_equal(tern_param_count(program), 1);
  tern_tensor_spec slot = tern_input_at(program, 1), param = tern_param_at(program, 0);
  assert_string_equal(slot.name, "y");
  assert_string_equal(slot.dim_names[0], "N");
  assert_int_equal(slot.dims[1], 1);
  assert_string_equal(param.name, "w");
  give_line(program, x, y);
  expect_prediction(program, x, w);
  assert_int_equal(tern_train_begin(program, &(tern_training){ .lr = 0.01 }), TERN_OK);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(tern_train_step(program, &loss), TERN_OK);
    descend_once(x, y, 0.01, w);
  }
  expect_param(program, w);
  expect_prediction(program, x, w); /* with what was trained */
  give_line(program, x, other);
  assert_int_equal(tern_train_step(program, &loss), TERN_OK);
  descend_once(x, other, 0.01, w);
  expect_param(program, w);
  expect_prediction(program, x, w);
  strcpy(hash, tern_params_sha256(program));
  tern_program_free(program);
  tern_session_free(session);
}

static void models_are_counted_named_set_read_and_trained_alike(void **state) {
  (void)state;
  char graph[65], model[65];
  a_model_declares_and_trains(TERN_LANG_GRAPH, line_graph, graph);
  a_model_declares_and_trains(TERN_LANG_AIL, line_model, model);
  assert_string_equal(graph, model);
}

/* ---- inputs and parameters of every language ---- */

static tern_program *load_as(tern_session *session, tern_language language, const char *text) {
  return tern_load(session, language, "test", text, strlen(text));
}

static void a_ninth_program_has_an_input_for_each_word_that_takes_one(void **state) {
  (void)state;
  tern_session *session = open_session(NULL);
  tern_program *program = load_as(session, TERN_LANG_NINTH,
                                  "[DEF] \"twice\" [INPUT] 2 [MUL] [RET]\n[INPUT] \"twice\" [CALL] [ADD]");
  tern_tensor value;
  assert_int_equal(tern_input_count(program), 2);
  assert_string_equal(tern_input_at(program, 0).name, "input1");
  assert_int_equal(tern_input_at(program, 1).rank, -1);
  assert_int_equal(tern_input(program, 0, &value), TERN_FAILED);
  assert_int_equal(tern_set_input_text(program, "a", "[1, 2]"), TERN_OK);
  assert_int_equal(tern_set_input_text(program, "b", "[3, 4]"), TERN_OK);
  assert_string_equal(tern_input_at(program, 0).name, "a");
  assert_int_equal(tern_input(program, 1, &value), TERN_OK);
  assert_true(value.rank == 1 && value.dims[0] == 2);
  assert_int_equal(tern_input(program, 2, &value), TERN_USAGE);
  assert_string_equal(tern_input_at(program, 2).name, "");
  assert_int_equal(tern_run(program), TERN_OK);
  assert_int_equal(tern_output(program, 0, &value), TERN_OK);
  assert_true(((const float *)value.data)[0] == 7 && ((const float *)value.data)[1] == 10);
  tern_program_free(program);
  tern_program *wrong = load_as(session, TERN_LANG_NINTH, "[INPUT] [PLUS]");
  assert_int_equal(tern_input_count(wrong), 0);
  assert_string_equal(tern_diagnostic_at(session, 0).code, "E_UNKNOWN_OPCODE");
  tern_program_free(wrong);
  tern_session_free(session);
}

static void what_a_ninth_program_has_trained_is_read(void **state) {
  (void)state;
  static const char text[] =
      "\"Line\" [MODULE] [INIT] (0.5 -0.25) [VAR] -> @w [RET] [FORWARD] @w [MUL] [SUM] [RET] [END_MODULE]\n"
      "(1 2 3) [VAR] -> b  {Line} -> line  line -> same  7 -> n\n"
      "4 [VAR] \"kept\" [STORE]  (5 6) [VAR] -> @s\n"
      "(2 4) line [CALL] [BACKWARD]  line [PARAMS] { -> p p 0.1 p [GRAD] [SUB_ASSIGN_GRAD] } [FOREACH]";
  tern_session *session = open_session(NULL);
  tern_program *program = load_as(session, TERN_LANG_NINTH, text);
  tern_tensor value;
  assert_int_equal(tern_param_count(program), 0); /* they are made by running */
  assert_int_equal(tern_param(program, 0, &value), TERN_USAGE);
  if (tern_run(program) != TERN_OK) fail_msg("%s", tern_diagnostics_text(session, 0));
  static const char *const names[] = { "b", "line.w", "s", "kept" };
  assert_int_equal(tern_param_count(program), 4);
  for (size_t i = 0; i < 4; i++) assert_string_equal(tern_param_at(program, i).name, names[i]);
  assert_int_equal(tern_param_at(program, 1).dims[0], 2);
  assert_int_equal(tern_param(program, 1, &value), TERN_OK);
  const float *w = value.data;
  assert_true(w[0] == 0.5f - 0.1f * 2.0f && w[1] == -0.25f - 0.1f * 4.0f);
  assert_non_null(tern_params_sha256(program));
  assert_int_equal(tern_run(program), TERN_OK); /* again */
  assert_int_equal(tern_param_count(program), 4);
  tern_program_free(program);
  tern_session_free(session);
}

static void a_mind_program_has_neither(void **state) {
  (void)state;
  tern_session *session = open_session(NULL);
  tern_program *program = load_as(session, TERN_LANG_MIND, "1.0 + 2.0");
  tern_tensor value;
  assert_int_equal(tern_run(program), TERN_OK);
  assert_int_equal(tern_input_count(program), 0);
  assert_int_equal(tern_param_count(program), 0);
  assert_string_equal(tern_param_at(program, 0).name, "");
  assert_int_equal(tern_input(program, 0, &value), TERN_USAGE);
  assert_int_equal(tern_param(program, 0, &value), TERN_USAGE);
  assert_int_equal(tern_set_input_text(program, "x", "1"), TERN_OK);
  assert_int_equal(tern_run(program), TERN_USAGE);
  tern_program_free(program);
  tern_session_free(session);
}

static void the_parameters_of_a_run_are_read(void **state) {
  (void)state;
  static const struct {
    tern_language language;
    const char *text;
  } models[] = { { TERN_LANG_GRAPH, line_graph }, { TERN_LANG_AIL, line_model } };
  for (size_t i = 0; i < 2; i++) {
    tern_session *session = open_session(NULL);
    tern_program *program = load_as(session, models[i].language, models[i].text);
    static const double w[2] = { 0.5, -0.25 };
    static const float x[6] = { 1, 2, 3, 4, 5, 6 }, y[3] = { 1, 0, 2 };
    tern_tensor value;
    assert_int_equal(tern_param(program, 0, &value), TERN_USAGE);
    assert_int_equal(tern_input(program, 0, &value), TERN_FAILED);
    give_line(program, x, y);
    assert_int_equal(tern_input(program, 1, &value), TERN_OK);
    assert_true(((const float *)value.data)[2] == 2);
    expect_prediction(program, x, w);
    expect_param(program, w);
    tern_program_free(program);
    tern_session_free(session);
  }
}

/* ---- whole trainings and single steps ---- */

static const char trained_model[] =
    "model {\n x [N, 2]\n y [N, 1]\n param w [2, 1]\n pred = matmul(x, w)\n}\n"
    "train { loss = mean(mul(sub(pred, y), sub(pred, y))) steps = 7 lr = 0.02 optimizer = \"adam\" "
    "schedule = \"cosine\" warmup = 2 }\n";
static const float line_x[6] = { 1, 2, 3, 4, 5, 6 }, line_y[3] = { 1, 0, 2 };

static void steps_of_a_train_block_are_those_of_the_whole_training(void **state) {
  (void)state;
  char whole[65], stepped[65];
  double loss;
  tern_session *session = open_session(NULL);
  tern_program *program = load_as(session, TERN_LANG_AIL, trained_model);
  give_line(program, line_x, line_y);
  assert_int_equal(tern_train(program, NULL), TERN_OK);
  strcpy(whole, tern_params_sha256(program));
  assert_non_null(strstr(tern_result_json(program), whole)); /* weights_sha256 */
  assert_int_equal(tern_train_begin(program, NULL), TERN_OK);
  for (int i = 0; i < 7; i++) assert_int_equal(tern_train_step(program, &loss), TERN_OK);
  strcpy(stepped, tern_params_sha256(program));
  assert_string_equal(whole, stepped);
  assert_int_equal(tern_train(program, NULL), TERN_OK); /* from the beginning, and instead of the steps */
  assert_string_equal(tern_params_sha256(program), whole);
  assert_int_equal(tern_train_step(program, &loss), TERN_USAGE);
  tern_program_free(program);
  tern_program *graph = load_as(session, TERN_LANG_GRAPH, line_graph);
  give_line(graph, line_x, line_y);
  assert_int_equal(tern_train_begin(graph, NULL), TERN_USAGE); /* it says nothing of an optimiser */
  tern_program_free(graph);
  tern_session_free(session);
}

static void a_run_uses_the_trained_parameters(void **state) {
  (void)state;
  tern_session *session = open_session(NULL);
  tern_program *program = load_as(session, TERN_LANG_AIL, trained_model);
  tern_tensor now;
  give_line(program, line_x, line_y);
  assert_int_equal(tern_train(program, NULL), TERN_OK);
  assert_int_equal(tern_param(program, 0, &now), TERN_OK);
  double w[2] = { (double)((const float *)now.data)[0], (double)((const float *)now.data)[1] };
  assert_true(w[0] != 0.5 && w[1] != -0.25);
  expect_prediction(program, line_x, w);
  expect_param(program, w);
  give_line(program, line_x, line_y); /* sets w again */
  expect_prediction(program, line_x, (double[]){ 0.5, -0.25 });
  assert_int_equal(tern_train(program, &(tern_train_run){ .steps = 1 }), TERN_OK);
  assert_int_equal(tern_set_param_text(program, "w", "[[1], [2]]"), TERN_OK);
  expect_prediction(program, line_x, (double[]){ 1, 2 });
  tern_program_free(program);
  tern_session_free(session);
}

static void what_cannot_be_trained_by_steps_says_so(void **state) {
  (void)state;
  tern_session *session = open_session(NULL);
  tern_program *mind = tern_load(session, TERN_LANG_MIND, "a.mind", "1.0 + 2.0", 9);
  assert_int_equal(tern_input_count(mind), 0);
  assert_int_equal(tern_train_begin(mind, &(tern_training){ .lr = 1 }), TERN_USAGE);
  double loss;
  assert_int_equal(tern_train_step(mind, &loss), TERN_USAGE);
  tern_program_free(mind);
  tern_program *model = tern_load(session, TERN_LANG_AIL, "a.ail", line_model, sizeof line_model - 1);
  assert_int_equal(tern_train_begin(model, &(tern_training){ .lr = 1 }), TERN_USAGE); /* x has no value */
  give_line(model, (float[6]){ 0 }, (float[3]){ 0 });
  assert_int_equal(tern_train_begin(model, &(tern_training){ .lr = 1, .loss = "pred" }), TERN_USAGE);
  assert_int_equal(tern_train_begin(model, &(tern_training){ .lr = 1 }), TERN_OK);
  tern_program_free(model);
  tern_program *wrong = tern_load(session, TERN_LANG_AIL, "b.ail", "model { y = ", 12);
  assert_int_equal(tern_param_count(wrong), 0);
  assert_true(tern_error_count(session) > 0);
  tern_program_free(wrong);
  tern_session_free(session);
}

static void mistakes_of_an_embedder_are_reported(void **state) {
  (void)state;
  const char *problem = NULL;
  assert_null(tern_session_new(&(tern_options){ .isa = "abacus" }, &problem));
  assert_non_null(problem);
  assert_null(tern_session_new(&(tern_options){ .without = "everything" }, &problem));
  tern_session *session = open_session(NULL);
  tern_program *program = load(session, network);
  double loss;
  assert_int_equal(tern_train_step(program, &loss), TERN_USAGE);
  assert_int_equal(tern_run(program), TERN_USAGE); /* x has no value */
  assert_int_equal(give_rows(program, 2), TERN_OK);
  assert_int_equal(tern_train_begin(program, &(tern_training){ .optimizer = "magic", .lr = 1 }), TERN_USAGE);
  assert_int_equal(tern_train_begin(program, &(tern_training){ .loss = "profit", .lr = 1 }), TERN_USAGE);
  assert_int_equal(tern_train_begin(program, &(tern_training){ .loss = "scores", .lr = 1 }), TERN_FAILED);
  int64_t bad[1] = { -1 };
  assert_int_equal(tern_set_input(program, "x", &(tern_tensor){ TERN_F32, 1, bad, NULL, NULL }), TERN_USAGE);
  assert_int_equal(tern_set_input(program, "x", &(tern_tensor){ TERN_F32, 9, bad, NULL, NULL }), TERN_USAGE);
  assert_int_equal(tern_set_input_text(program, "x", "[[1, 2], [3]]"), TERN_USAGE);
  assert_int_equal(tern_set_input_text(program, "x", "{}"), TERN_USAGE);
  assert_null(tern_emit(program, "poem"));
  tern_program_free(program);
  tern_session_free(session);
}

static void a_graph_is_shown_in_other_forms(void **state) {
  (void)state;
  tern_session *session = open_session(NULL);
  tern_program *program = load(session, network);
  size_t length;
  const char *bytes;
  assert_null(tern_emit_bytes(program, "npz", &length)); /* parameters without values */
  assert_int_equal(give_rows(program, 2), TERN_OK);
  assert_int_equal(tern_run(program), TERN_OK);
  bytes = tern_emit_bytes(program, "npz", &length);
  assert_true(bytes && length > 200 && memcmp(bytes, "PK", 2) == 0);
  assert_non_null(strstr(tern_emit_json(program, "dot", NULL), "\"form\":\"dot\",\"text\":\"digraph"));
  assert_null(tern_emit_json(program, "onnx", NULL));
  tern_program_free(program);
  tern_session_free(session);
}

static void an_interrupt_ends_a_run(void **state) {
  (void)state;
  tern_session *session = open_session(&(tern_options){ .max_seconds = 1e-9 });
  tern_program *program = load(session, network);
  assert_int_equal(give_rows(program, 2), TERN_OK);
  assert_int_equal(tern_run(program), TERN_FAILED);
  assert_string_equal(tern_diagnostic_at(session, 0).code, "E_TIME_LIMIT");
  tern_program_free(program);
  tern_session_free(session);
}

static void an_interrupt_between_calls_is_for_the_next(void **state) {
  (void)state;
  tern_session *session = open_session(NULL);
  tern_program *program = load(session, network);
  assert_int_equal(give_rows(program, 2), TERN_OK);
  tern_interrupt(session);
  assert_int_equal(tern_run(program), TERN_FAILED);
  assert_string_equal(tern_diagnostic_at(session, 0).code, "E_INTERRUPTED");
  assert_int_equal(tern_run(program), TERN_OK);
  tern_program_free(program);
  tern_session_free(session);
}

/* Running out of memory is a diagnostic wherever it happens, and nothing leaks (the sanitizer sees to
 * that). */
static void every_failed_allocation_is_survived(void **state) {
  (void)state;
  int survived = 0;
  for (uint64_t n = 1; survived < 3; n++) {
    tern_session *session = tern_session_new(&(tern_options){ .fail_allocation = n }, NULL);
    if (!session) continue;
    tern_program *program = load(session, network);
    bool ok = program && give_rows(program, 2) == TERN_OK && tern_run(program) == TERN_OK;
    double loss;
    ok = ok && tern_train_begin(program, &(tern_training){ .optimizer = "adam", .lr = 0.1 }) == TERN_OK;
    ok = ok && tern_train_step(program, &loss) == TERN_OK;
    ok = ok && tern_result_json(program) != NULL;
    (void)tern_failure_json(session);
    (void)tern_diagnostics_text(session, 1);
    if (ok) survived++;
    else assert_string_equal(tern_diagnostic_at(session, 0).code, "E_OUT_OF_MEMORY");
    tern_program_free(program);
    tern_session_free(session);
  }
}

#define ROWS      "{\"tokens\":[1,2],\"label\":0}\n{\"tokens\":[3,4],\"label\":1}\n"
#define ROWS_SHA256 "11bfb37583662834909c3ce5aab1f31f1c1aa58b37a271594a303cca17290a48" /* of sha256sum */

typedef struct {
  int64_t begun, steps, ended;
} followed;

static void note_begin(void *context, const tern_run_facts *facts) {
  followed *seen = context;
  assert_string_equal(facts->program, "c.ail");
  assert_string_equal(facts->data, "rows.jsonl");
  assert_int_equal(strlen(facts->source), facts->source_length);
  assert_int_equal(strlen(facts->source_sha256), 64);
  assert_string_equal(facts->data_sha256, ROWS_SHA256);
  assert_null(facts->given_sha256);
  assert_int_equal(facts->seed, 42);
  assert_int_equal(facts->step, 0);
  assert_int_equal(facts->steps, 5);
  static const char *const hypers[] = { "steps", "5", "lr", "0.1", "batch", "4", "optimizer", "sgd",
                                        "schedule", "constant" };
  assert_int_equal(facts->hyperparameter_count, 5);
  assert_string_equal(facts->device, "cpu");
  for (size_t i = 0; i < 5; i++) {
    assert_string_equal(facts->hyperparameters[i].name, hypers[2 * i]);
    assert_string_equal(facts->hyperparameters[i].value, hypers[2 * i + 1]);
  }
  seen->begun++;
}

static void note_end(void *context, const tern_run_end *end) {
  followed *seen = context;
  assert_string_equal(end->status, "completed");
  assert_int_equal(end->step, 5);
  assert_int_equal(strlen(end->weights_sha256), 64);
  assert_string_equal(end->data_format, "jsonl");
  seen->ended++;
}

static void count_step(void *context, const tern_step *step) {
  followed *seen = context;
  assert_int_equal(step->step, seen->steps);
  assert_int_equal(step->steps, 5);
  assert_int_equal(step->evaluated, step->step == 0 || step->step == 2 || step->step == 4);
  assert_true(step->epochs == 10); /* 5 steps of 4 of the 2 rows */
  assert_true(step->epoch == 2 * (double)(step->step + 1));
  seen->steps++;
}

static void a_training_run_is_followed_step_by_step(void **state) {
  (void)state;
  static const char classifier[] = "model {\n tokens [B, T]\n labels [B]\n param E [20, 4]\n param W [4, 2]\n"
                                   " logits = matmul(meanpool(embedding(tokens, E)), W)\n}\n"
                                   "train { loss = xent(logits, labels) steps = 5 }\n"
                                   "dataset { format = \"jsonl\" path = \"rows.jsonl\" }\n"
                                   "eval { metrics = [loss] every = 2 split = train }\n";
  FILE *file = fopen("rows.jsonl", "w");
  assert_non_null(file);
  fputs(ROWS, file);
  fclose(file);
  tern_session *session = open_session(&(tern_options){ .allow = TERN_ALLOW_FILEREAD });
  tern_program *program = tern_load(session, TERN_LANG_AIL, "c.ail", classifier, strlen(classifier));
  followed seen = { 0 };
  tern_follower follower = { &seen, note_begin, count_step, note_end };
  tern_train_run run = { .followers = &follower, .follower_count = 1 };
  assert_int_equal(tern_train(program, &run), TERN_OK);
  assert_int_equal(seen.begun, 1);
  assert_int_equal(seen.steps, 5);
  assert_int_equal(seen.ended, 1);
  tern_program_free(program);
  tern_session_free(session);
}

static void tables_are_there(void **state) {
  (void)state;
  char *text = tern_ops_text(), *json = tern_ops_json(), *why = tern_explain("E2101", 0);
  assert_non_null(strstr(text, "matmul"));
  assert_non_null(strstr(json, "\"name\":\"matmul\""));
  assert_non_null(strstr(why, "E2101"));
  assert_null(tern_explain("E9999", 0));
  assert_string_equal(tern_suggest_code("E_SHAPE_MISMATH"), "E_SHAPE_MISMATCH");
  assert_string_equal(tern_suggest_code("shape"), "E_SHAPE_MISMATCH");
  assert_string_equal(tern_suggest_field("lr"), "lr");
  assert_string_equal(tern_suggest_field("learning_rate"), "lr");
  assert_null(tern_suggest_field("path")); /* of another block */
  assert_null(tern_suggest_field(""));
  tern_free_text(text), tern_free_text(json), tern_free_text(why);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_program_runs_with_other_shapes_without_being_loaded_again),
    cmocka_unit_test(a_cleared_value_is_gone),
    cmocka_unit_test(a_run_sees_the_values_that_were_given_last),
    cmocka_unit_test(a_step_keeps_the_shapes_it_was_made_for),
    cmocka_unit_test(inputs_and_parameters_are_described),
    cmocka_unit_test(strided_inputs_are_read_by_their_strides),
    cmocka_unit_test(diagnostics_are_data),
    cmocka_unit_test(training_depends_on_the_seed_and_on_nothing_else),
    cmocka_unit_test(plain_descent_has_the_bits_of_ref),
    cmocka_unit_test(models_are_counted_named_set_read_and_trained_alike),
    cmocka_unit_test(a_ninth_program_has_an_input_for_each_word_that_takes_one),
    cmocka_unit_test(what_a_ninth_program_has_trained_is_read),
    cmocka_unit_test(a_mind_program_has_neither),
    cmocka_unit_test(the_parameters_of_a_run_are_read),
    cmocka_unit_test(steps_of_a_train_block_are_those_of_the_whole_training),
    cmocka_unit_test(a_run_uses_the_trained_parameters),
    cmocka_unit_test(what_cannot_be_trained_by_steps_says_so),
    cmocka_unit_test(mistakes_of_an_embedder_are_reported),
    cmocka_unit_test(a_graph_is_shown_in_other_forms),
    cmocka_unit_test(an_interrupt_ends_a_run),
    cmocka_unit_test(an_interrupt_between_calls_is_for_the_next),
    cmocka_unit_test(every_failed_allocation_is_survived),
    cmocka_unit_test_setup_teardown(a_training_run_is_followed_step_by_step, enter_room, leave_room),
    cmocka_unit_test(tables_are_there),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
