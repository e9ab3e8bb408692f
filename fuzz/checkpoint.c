/* fuzz/checkpoint.c: a damaged checkpoint is refused, or resumes as if undamaged.
 *
 * A small run is trained once. An input is then either the whole file, or
 * changes to the true one: a place, a length, and bytes to put there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

static const char program_text[] = "param w [2]\n"
                                   "model {\n  y = mul(w, w)\n}\n"
                                   "train {\n  loss = sum(y)\n  steps = 2\n  lr = 0.1\n}\n";

#define MOST_BYTES ((size_t)1 << 16)

static char folder[64], path[96];
static uint8_t *whole;
static size_t whole_size;

static tern_status train(const char *text, const char *out, const char *resume) {
  tern_options options = { .allow = TERN_ALLOW_FILEREAD | TERN_ALLOW_FILEWRITE };
  tern_session *session = fuzz_session(&options);
  tern_program *program = tern_load(session, TERN_LANG_AIL, "a.ail", text, strlen(text));
  tern_train_run run = { .out = out, .resume = resume, .steps = resume ? 3 : 2 };
  tern_status status = tern_train(program, &run);
  fuzz_expect(status != TERN_BUG, "no input shows a bug of ours");
  fuzz_expect(status == TERN_OK || tern_error_count(session) > 0, "what fails says why");
  fuzz_expect(fuzz_is_json(tern_result_json(program)), "the result is JSON");
  tern_program_free(program);
  tern_session_free(session);
  return status;
}

static void write_bytes(const uint8_t *data, size_t size) {
  FILE *file = fopen(path, "wb");
  if (!file) return;
  fwrite(data, 1, size, file);
  fclose(file);
}

static void remove_folder(void) {
  static const char *const names[] = { "checkpoint", "run.json", "history.jsonl", "weights.safetensors" };
  char each[128];
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    snprintf(each, sizeof each, "%s/%s", folder, names[i]);
    unlink(each);
  }
  rmdir(folder);
  free(whole);
}

/* The run whose checkpoint is damaged repeatedly. */
static void prepare(void) {
  if (whole) return;
  strcpy(folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/tern-fuzz-XXXXXX" : "/tmp/tern-fuzz-XXXXXX");
  fuzz_expect(mkdtemp(folder) != NULL, "there is a folder to work in");
  snprintf(path, sizeof path, "%s/checkpoint", folder);
  fuzz_expect(train(program_text, folder, NULL) == TERN_OK, "the true run trains");
  FILE *file = fopen(path, "rb");
  fuzz_expect(file != NULL, "it has a checkpoint");
  whole = malloc(MOST_BYTES);
  whole_size = whole ? fread(whole, 1, MOST_BYTES, file) : 0;
  fclose(file);
  fuzz_expect(whole_size > 0, "which has bytes");
  fuzz_expect(train(program_text, folder, folder) == TERN_OK, "from which the run resumes");
  atexit(remove_folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static uint8_t file[MOST_BYTES];
  prepare();
  if (size == 0 || size > MOST_BYTES) return 0;
  memcpy(file, whole, whole_size);
  if (data[0] == 0)
    write_bytes(data + 1, size - 1);
  else
    write_bytes(file, fuzz_damage(data + 1, size - 1, file, whole_size, MOST_BYTES));
  (void)train(program_text, NULL, folder);
  return 0;
}
