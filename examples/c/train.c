/* examples/c/train.c: training through the public C interface.
 *
 * Three arms of a spiral, a network with one hidden layer, and Adam. The
 * network is written as a graph; tern differentiates it, plans one step and
 * runs it. The last line is a hash of the trained weights: it is the same on every machine and for
 * any number of threads. */
#include <stdio.h>
#include <string.h>
#include <tern/tern.h>

enum { ARMS = 3, POINTS = 60, ROWS = ARMS * POINTS, STEPS = 400 };

static const char program_text[] =
    "graph(%x: f32[N, 2], %arm: i32[N], param %w1: f32[2, 32], param %b1: f32[32],\n"
    "      param %w2: f32[32, 3], param %b2: f32[3]) {\n"
    "  %1 = linear %x, %w1, %b1\n"
    "  %2 = tanh %1\n"
    "  %3 = linear %2, %w2, %b2\n"
    "  %4 = cross_entropy %3, %arm\n"
    "  %5 = argmax %3 {axis=1}\n"
    "  return loss=%4, guess=%5\n"
    "}\n";

/* A point of an arm, without libm: each step turns the direction a little. */
static void make_spiral(float x[ROWS][2], int32_t arm[ROWS]) {
  static const float start[ARMS][2] = { { 1, 0 }, { -0.5f, 0.8660254f }, { -0.5f, -0.8660254f } };
  const float turn_cos = 0.99875026f, turn_sin = 0.04997917f; /* a twentieth of a radian */
  for (int a = 0; a < ARMS; a++) {
    float along[2] = { start[a][0], start[a][1] };
    for (int i = 0; i < POINTS; i++) {
      int row = a * POINTS + i;
      float radius = 0.1f + (float)i / POINTS;
      x[row][0] = radius * along[0];
      x[row][1] = radius * along[1];
      arm[row] = a;
      float turned = along[0] * turn_cos - along[1] * turn_sin;
      along[1] = along[0] * turn_sin + along[1] * turn_cos;
      along[0] = turned;
    }
  }
}

static int fail(tern_session *session) {
  fputs(tern_diagnostics_text(session, 0), stderr);
  tern_session_free(session);
  return 1;
}

static tern_status give_data(tern_program *program, float x[ROWS][2], int32_t arm[ROWS]) {
  const int64_t points[2] = { ROWS, 2 }, rows[1] = { ROWS };
  tern_tensor inputs = { .dtype = TERN_F32, .rank = 2, .dims = points, .data = x };
  tern_tensor labels = { .dtype = TERN_I32, .rank = 1, .dims = rows, .data = arm };
  tern_status status = tern_set_input(program, "x", &inputs);
  return status == TERN_OK ? tern_set_input(program, "arm", &labels) : status;
}

/* The trained weights become the program's own, and the program runs with them. */
static tern_status count_right(tern_program *program, const int32_t arm[ROWS], int *right) {
  for (size_t i = 0; i < tern_param_count(program); i++) {
    tern_tensor weights;
    tern_status status = tern_param(program, i, &weights);
    if (status == TERN_OK) status = tern_set_param(program, tern_param_at(program, i).name, &weights);
    if (status != TERN_OK) return status;
  }
  tern_status status = tern_run(program);
  tern_tensor guess;
  if (status == TERN_OK) status = tern_output(program, 1, &guess);
  for (int i = 0; status == TERN_OK && i < ROWS; i++) *right += ((const int32_t *)guess.data)[i] == arm[i];
  return status;
}

int main(void) {
  static float x[ROWS][2];
  static int32_t arm[ROWS];
  make_spiral(x, arm);

  tern_session *session = tern_session_new(NULL, NULL);
  if (!session) return 1;
  tern_program *program = tern_load(session, TERN_LANG_GRAPH, "spiral", program_text, strlen(program_text));
  tern_training training = { .optimizer = "adam", .lr = 0.02, .schedule = "cosine", .steps = STEPS };
  if (!program || give_data(program, x, arm) != TERN_OK) return fail(session);
  if (tern_train_begin(program, &training) != TERN_OK) return fail(session);

  for (int step = 0; step < STEPS; step++) {
    double loss;
    if (tern_train_step(program, &loss) != TERN_OK) return fail(session);
    if (step % 50 == 0 || step == STEPS - 1) printf("step %3d: loss = %.6f\n", step, loss);
  }
  printf("weights: %s\n", tern_params_sha256(program));
  int right = 0;
  if (count_right(program, arm, &right) != TERN_OK) return fail(session);
  printf("right: %d of %d\n", right, ROWS);

  tern_program_free(program);
  tern_session_free(session);
  return 0;
}
