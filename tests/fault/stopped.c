/* tests/fault/stopped.c: a training that is told to stop at any question whatever leaves a folder that
 * verifies, and the run that resumes it ends with the bits of one that was never stopped.
 *
 * The stop is asked at the n-th question, for every n until the run is over: while the text is read, in a
 * step, in an evaluation, between them. TERN_TEST_EFFORT=small tries every seventh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/internal.h"
#include "support/room.h"

#define MODEL "model {\n  x [B, 2]\n  labels [B]\n  param W [2, 2]\n  logits = matmul(x, W)\n}\n"
#define DATASET "dataset { format = \"jsonl\" path = \"data.jsonl\" tokens = \"x\" labels = \"label\" "
/* Evaluated after every step but one, with a split that goes through the model in one piece. */
static const char plain[] =
    MODEL "train { loss = xent(logits, labels) steps = 5 lr = 0.5 batch = 2 optimizer = \"adam\" }\n"
    "eval { metrics = [loss, accuracy] every = 3 split = train }\n" DATASET "}\n";
/* Gets worse, ends early, keeps its best model and measures a test split. */
static const char ends_early[] =
    MODEL "train { loss = xent(logits, labels) steps = 50 lr = 9 batch = 2 patience = 2 }\n"
    "eval { metrics = [accuracy, loss] every = 1 }\n" DATASET "split = 0.5 test = 0.25 }\n";
static const char *program;
static const char data[] =
    "{\"x\":[0.5,1],\"label\":0}\n{\"x\":[2,3],\"label\":1}\n{\"x\":[4,1],\"label\":1}\n"
    "{\"x\":[1,1],\"label\":0}\n";

static tern_session *open_session(void) {
  tern_session *session =
      tern_session_new(&(tern_options){ .threads = 1, .allow = TERN_ALLOW_FILEREAD }, NULL);
  assert_non_null(session);
  return session;
}

static bool is_told(tern_session *session, const char *code) {
  return tern_diagnostic_count(session) > 0 && strcmp(tern_diagnostic_at(session, 0).code, code) == 0;
}

/* Trains, stopping at the question `at` (0: never). True when it came to its end; `sha` then has the hash. */
static bool train(const char *resume, unsigned at, char sha[65]) {
  tern_session *session = open_session();
  tern_program *loaded = tern_load(session, TERN_LANG_AIL, "program.ail", program, strlen(program));
  assert_non_null(loaded);
  session->stop.stop_at = at;
  tern_train_run run = { .out = "run", .resume = resume, .checkpoint_every = 2 };
  tern_status status = tern_train(loaded, &run);
  if (status != TERN_OK && !is_told(session, "E_INTERRUPTED"))
    fail_msg("question %u: %s", at, tern_diagnostics_text(session, 0));
  if (status == TERN_OK) snprintf(sha, 65, "%s", tern_params_sha256(loaded));
  tern_program_free(loaded);
  tern_session_free(session);
  return status == TERN_OK;
}

static void assert_verifies(unsigned at) {
  tern_session *session = open_session();
  if (!tern_verify(session, "run", 0)) fail_msg("question %u: %s", at, tern_diagnostics_text(session, 0));
  tern_session_free(session);
}

static void stop_anywhere(void) {
  char whole[65], resumed[65];
  const char *effort = getenv("TERN_TEST_EFFORT");
  unsigned step = effort && strcmp(effort, "small") == 0 ? 7 : 1, stops = 0;
  assert_true(train(NULL, 0, whole));
  for (unsigned at = 1;; at += step) {
    assert_int_equal(system("rm -rf run"), 0);
    if (train(NULL, at, resumed)) break;
    stops++;
    bool begun = access("run/checkpoint", F_OK) == 0;
    if (begun) assert_verifies(at);
    assert_true(train(begun ? "run" : NULL, 0, resumed));
    assert_string_equal(resumed, whole);
  }
  assert_true(stops * step > 20);
}

static void a_stop_anywhere_leaves_a_run_that_verifies_and_resumes(void **state) {
  (void)state;
  program = plain;
  stop_anywhere();
}

static void so_does_one_that_ends_early_and_keeps_its_best_model(void **state) {
  (void)state;
  program = ends_early;
  stop_anywhere();
}

static int make_data(void **state) {
  if (enter_room(state) != 0) return -1;
  write_whole("data.jsonl", data, strlen(data));
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_stop_anywhere_leaves_a_run_that_verifies_and_resumes),
    cmocka_unit_test(so_does_one_that_ends_early_and_keeps_its_best_model),
  };
  return cmocka_run_group_tests(tests, make_data, leave_room);
}
