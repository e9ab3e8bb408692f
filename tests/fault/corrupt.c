/* tests/fault/corrupt.c: every file tern reads back, with every byte changed and cut at every length.
 *
 * What tern wrote itself (checkpoint, history, weights) carries hashes: any change is refused. What others
 * write (data, arrays) may still mean something after a change; then it is read, and otherwise refused, but
 * nothing it says about a size is believed: a session has 64 MB, and a sanitizer watches.
 * TERN_TEST_EFFORT=small changes one bit of a byte, otherwise all eight. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/room.h"
#include "tern/tern.h"

static const char program[] =
    "model {\n  tokens [B, T]\n  labels [B]\n  param E [5, 2]\n"
    "  logits = meanpool(embedding(tokens, E))\n}\n"
    "train { loss = xent(logits, labels) steps = 4 lr = 0.5 batch = 2 optimizer = \"momentum\" }\n"
    "dataset { format = \"jsonl\" path = \"data.jsonl\" tokens = \"tokens\" labels = \"label\" }\n";
static const char data[] = "{\"tokens\":[0,1],\"label\":0}\n{\"tokens\":[2,3],\"label\":1}\n"
                           "{\"tokens\":[4,1],\"label\":1}\n";
static const char array_program[] = "model {\n  x [2, 2]\n  y = x * 2\n}\n";
static const char array[] = "\x93NUMPY\x01\x00\x46\x00"
                            "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }          \n"
                            "\0\0\200\077\0\0\0\100\0\0\100\100\0\0\200\100";

/* ---- files ---- */

/* ---- one attempt ---- */

static char said[64]; /* the code of the first diagnostic */

static tern_status finish(tern_session *session, tern_program *loaded, tern_status status) {
  said[0] = 0;
  if (tern_diagnostic_count(session) > 0)
    snprintf(said, sizeof said, "%s", tern_diagnostic_at(session, 0).code);
  if (status != TERN_OK) assert_true(said[0] != 0);
  tern_program_free(loaded);
  tern_session_free(session);
  return status;
}

static tern_session *open_session(void) {
  tern_session *session = tern_session_new(
      &(tern_options){ .allow = TERN_ALLOW_FILEREAD, .max_memory = 64 << 20, .threads = 1 }, NULL);
  assert_non_null(session);
  return session;
}

static tern_status train(const char *resume, const char *out, int64_t steps) {
  tern_session *session = open_session();
  tern_program *loaded = tern_load(session, TERN_LANG_AIL, "program.ail", program, sizeof program - 1);
  assert_non_null(loaded);
  tern_train_run run = { .resume = resume, .out = out, .steps = steps };
  return finish(session, loaded, tern_train(loaded, &run));
}

static tern_status go_on(void) { return train("run", NULL, 0); }
static tern_status train_anew(void) { return train(NULL, NULL, 1); }

static tern_status use_weights(void) {
  tern_session *session = open_session();
  tern_program *loaded = tern_load(session, TERN_LANG_AIL, "program.ail", program, sizeof program - 1);
  assert_non_null(loaded);
  tern_status status = tern_set_weights(loaded, "run/weights.safetensors");
  return finish(session, loaded, status == TERN_OK ? tern_run(loaded) : status);
}

static tern_status use_array(void) {
  tern_session *session = open_session();
  tern_program *loaded =
      tern_load(session, TERN_LANG_AIL, "array.ail", array_program, sizeof array_program - 1);
  assert_non_null(loaded);
  tern_status status = tern_set_input_text(loaded, "x", "@array.npy");
  return finish(session, loaded, status == TERN_OK ? tern_run(loaded) : status);
}

/* ---- sweeps ---- */

typedef struct {
  int refused, read;
} tally;

static int bits_of_effort(void) {
  const char *effort = getenv("TERN_TEST_EFFORT");
  return effort && strcmp(effort, "small") == 0 ? 1 : 8;
}

static tally change_every_byte(const char *path, tern_status (*attempt)(void)) {
  whole_file whole = read_whole(path);
  tally count = { 0 };
  assert_int_equal(attempt(), TERN_OK);
  for (size_t i = 0; i < whole.length; i++) {
    for (int b = 0; b < bits_of_effort(); b++) {
      whole_file changed = whole;
      changed.bytes[i] ^= (char)(1 << ((i + (size_t)b) % 8));
      write_whole(path, changed.bytes, changed.length);
      if (attempt() == TERN_OK) count.read++;
      else count.refused++;
    }
  }
  write_whole(path, whole.bytes, whole.length);
  return count;
}

/* Every proper beginning of the file, and the file with something after it. */
static tally cut_everywhere(const char *path, tern_status (*attempt)(void)) {
  whole_file whole = read_whole(path);
  tally count = { 0 };
  for (size_t length = 0; length <= whole.length + 1; length++) {
    if (length == whole.length) continue;
    whole_file cut = whole;
    cut.bytes[whole.length] = 'x';
    write_whole(path, cut.bytes, length);
    if (attempt() == TERN_OK) count.read++;
    else count.refused++;
  }
  write_whole(path, whole.bytes, whole.length);
  return count;
}

/* ---- the tests ---- */

static void a_changed_checkpoint_is_refused(void **state) {
  (void)state;
  assert_int_equal(change_every_byte("run/checkpoint", go_on).read, 0);
  assert_string_equal(said, "E_CHECKPOINT_CORRUPT");
  assert_int_equal(cut_everywhere("run/checkpoint", go_on).read, 0);
  assert_string_equal(said, "E_CHECKPOINT_CORRUPT");
}

/* What stands after the lines of the steps so far may come from a run that was killed. */
static void a_changed_history_is_refused(void **state) {
  (void)state;
  assert_int_equal(change_every_byte("run/history.jsonl", go_on).read, 0);
  assert_string_equal(said, "E_CHECKPOINT_CORRUPT");
  assert_int_equal(cut_everywhere("run/history.jsonl", go_on).read, 1);
}

/* Also one whose seal is not recognised any more: it says that tern wrote it. */
static void changed_weights_are_refused(void **state) {
  (void)state;
  assert_int_equal(change_every_byte("run/weights.safetensors", use_weights).read, 0);
  assert_int_equal(cut_everywhere("run/weights.safetensors", use_weights).read, 0);
}

static void changed_data_is_read_or_refused(void **state) {
  (void)state;
  tally changed = change_every_byte("data.jsonl", train_anew);
  assert_true(changed.refused > 0 && changed.read > 0);
  tally cut = cut_everywhere("data.jsonl", train_anew);
  assert_true(cut.refused > 0 && cut.read > 0);
}

static void a_changed_array_is_read_or_refused(void **state) {
  (void)state;
  tally changed = change_every_byte("array.npy", use_array);
  assert_true(changed.refused > 0 && changed.read >= 16);
  assert_int_equal(cut_everywhere("array.npy", use_array).read, 0);
}

static int make_files(void **state) {
  if (enter_room(state) != 0) return -1;
  write_whole("data.jsonl", data, sizeof data - 1);
  write_whole("array.npy", array, sizeof array - 1);
  return train(NULL, "run", 3) == TERN_OK && go_on() == TERN_OK ? 0 : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_changed_checkpoint_is_refused), cmocka_unit_test(a_changed_history_is_refused),
    cmocka_unit_test(changed_weights_are_refused),     cmocka_unit_test(changed_data_is_read_or_refused),
    cmocka_unit_test(a_changed_array_is_read_or_refused),
  };
  return cmocka_run_group_tests(tests, make_files, leave_room);
}
