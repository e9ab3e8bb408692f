/* A run is evaluated and recorded while memory runs out at one request after another: it ends with a
 * diagnostic, evaluation.json is the old one or the new one, and nothing is kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/internal.h"
#include "support/room.h"

static const char program[] =
    "model { x [B, 1] labels [B] param W [1, 2] logits = matmul(x, W) }\n"
    "train { loss = xent(logits, labels) steps = 1 }\n"
    "dataset { format = \"csv\" path = \"rows.csv\" x = \"x\" labels = \"kind\" }\n";

static tern_session *open_session(void) {
  tern_session *session = tern_session_new(&(tern_options){ .threads = 1 }, NULL);
  assert_non_null(session);
  tern_sandbox(session, TERN_SANDBOX_OFF);
  return session;
}

static void make_run(void) {
  tern_session *session = open_session();
  static const char rows[] = "x,kind\n1,a\n2,b\n3,b\n";
  write_whole("rows.csv", rows, sizeof rows - 1);
  assert_int_equal(tern_allow(session, "fileread", NULL), TERN_OK);
  tern_program *loaded = tern_load(session, TERN_LANG_AIL, "program.ail", program, strlen(program));
  assert_non_null(loaded);
  assert_int_equal(tern_train(loaded, &(tern_train_run){ .out = "run" }), TERN_OK);
  tern_program_free(loaded);
  tern_session_free(session);
}

static bool evaluate(tern_session *session) {
  bool ok = false;
  tern_target *record = tern_evaluation_open(session, "run");
  tern_program *loaded = record ? tern_load_run(session, "run", NULL) : NULL;
  if (loaded) ok = tern_evaluate_record(loaded, "rows.csv", record) == TERN_OK;
  if (loaded) tern_program_free(loaded);
  tern_target_free(record);
  return ok;
}

static void every_request_fails_once(void **state) {
  (void)state;
  make_run();
  tern_session *session = open_session();
  assert_true(evaluate(session));
  whole_file made = read_whole("run/evaluation.json");
  tern_session_free(session);
  bool done = false;
  for (uint64_t n = 1; !done; n++) {
    write_whole("run/evaluation.json", "old", 3);
    session = open_session();
    session->heap.fail_at = session->heap.requests + n;
    bool ok = evaluate(session);
    done = session->heap.requests < session->heap.fail_at;
    session->heap.fail_at = 0;
    assert_true(ok || tern_diagnostic_count(session) > 0);
    whole_file found = read_whole("run/evaluation.json");
    assert_int_equal(found.length, ok ? made.length : 3);
    assert_memory_equal(found.bytes, ok ? made.bytes : "old", found.length);
    assert_true(ok || !done);
    tern_session_free(session); /* the sanitizer's build sees what is kept */
  }
}

int main(void) {
  const struct CMUnitTest tests[] = { cmocka_unit_test(every_request_fails_once) };
  return cmocka_run_group_tests(tests, enter_room, leave_room);
}
