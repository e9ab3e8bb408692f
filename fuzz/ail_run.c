/* fuzz/ail_run.c: any text as an AILang program: run, trained for a few steps, and as an app. */
#include "fuzz.h"

#define MOST_TEXT ((size_t)16 << 10)

static void judge(tern_session *session, tern_program *program, tern_status status) {
  fuzz_expect(status != TERN_BUG, "no input shows a bug of ours");
  fuzz_expect(status == TERN_OK || tern_error_count(session) > 0, "what fails says why");
  fuzz_expect(fuzz_is_json(tern_result_json(program)), "the result is JSON");
}

static void each(const uint8_t *data, size_t size, tern_status (*act)(tern_program *program)) {
  tern_session *session = fuzz_session(NULL);
  tern_program *program = tern_load(session, TERN_LANG_AIL, "a.ail", (const char *)data, size);
  if (program) judge(session, program, act(program));
  tern_program_free(program);
  tern_session_free(session);
}

static tern_status train(tern_program *program) {
  tern_train_run run = { .steps = 3 };
  return tern_train(program, &run);
}

static tern_status app(tern_program *program) {
  tern_add_event(program, "start");
  tern_add_event(program, "tick");
  return tern_run_app(program);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > MOST_TEXT) return 0;
  fuzz_run(TERN_LANG_AIL, data, size);
  each(data, size, train);
  each(data, size, app);
  return 0;
}
