/* fuzz/store.c: a damaged history of runs is refused, or answers with JSON and harmless text.
 *
 * One small run is recorded once. An input is a list of edits to that database, as fuzz_damage reads them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "support/recorded.h"

static const char program_text[] = "param w [2]\n"
                                   "model {\n  y = mul(w, w)\n}\n"
                                   "train {\n  loss = sum(y)\n  steps = 2\n  lr = 0.1\n}\n";

#define MOST_BYTES ((size_t)1 << 16)

static char path[64];
static uint8_t whole[MOST_BYTES], changed[MOST_BYTES];
static size_t whole_size;

static void remove_file(void) { unlink(path); }

static void prepare(void) {
  if (whole_size > 0) return;
  strcpy(path, access("/dev/shm", W_OK) == 0 ? "/dev/shm/tern-fuzz-XXXXXX" : "/tmp/tern-fuzz-XXXXXX");
  int descriptor = mkstemp(path);
  fuzz_expect(descriptor >= 0, "there is a file to work in");
  close(descriptor);
  atexit(remove_file);
  tern_options options = { .allow = 0 };
  tern_session *session = fuzz_session(&options);
  tern_program *program = tern_load(session, TERN_LANG_AIL, "a.ail", program_text, sizeof program_text - 1);
  fuzz_expect(train_recorded(session, program, path, true, NULL) == TERN_OK, "the true run trains");
  tern_program_free(program);
  tern_session_free(session);
  FILE *file = fopen(path, "rb");
  fuzz_expect(file != NULL, "and is recorded");
  whole_size = fread(whole, 1, MOST_BYTES, file);
  fclose(file);
}

static void is_harmless(const char *text) {
  for (; text && *text; text++)
    fuzz_expect(*text == '\n' || (unsigned char)*text >= 0x20, "no control character reaches a terminal");
}

static void ask(void) {
  tern_options options = { .allow = 0 };
  tern_session *session = fuzz_session(&options);
  const char *answer = tn_track_list(session, &(tn_track_query){ .store = path, .sort = "loss" }, 1);
  fuzz_expect(answer ? fuzz_is_json(answer) : tern_error_count(session) > 0, "JSON, or a diagnostic");
  is_harmless(tn_track_list(session, &(tn_track_query){ .store = path }, 0));
  answer = tn_track_show(session, path, "last", 1);
  fuzz_expect(answer ? fuzz_is_json(answer) : tern_error_count(session) > 0, "JSON, or a diagnostic");
  is_harmless(tn_track_show(session, path, "1", 0));
  fuzz_expect(tern_failure_status(session) != TERN_BUG, "no input shows a bug of ours");
  tern_session_free(session);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  prepare();
  memcpy(changed, whole, whole_size);
  size_t length = fuzz_damage(data, size, changed, whole_size, MOST_BYTES);
  FILE *file = fopen(path, "wb");
  if (!file) return 0;
  fwrite(changed, 1, length, file);
  fclose(file);
  ask();
  return 0;
}
