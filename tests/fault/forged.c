/* tests/fault/forged.c: checkpoints that are whole and sealed, and still not what a run of this program left.
 *
 * A seal keeps accidents out, not somebody who seals what he likes. So each fact of a checkpoint is
 * changed in turn, the file is sealed again, and resuming it must be refused with one diagnostic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "data/safetensors.h"
#include "support/room.h"
#include "tern/tern.h"

static const char program[] =
    "model {\n  x [B, 2]\n  param W [2]\n  param U [2, 2]\n  y = sum(x * W) * 0.1\n}\n"
    "train { loss = y steps = 3 batch = 2 optimizer = \"momentum\" }\n";

static char code[64]; /* of what was said */

static uint64_t refused; /* the request for memory that is refused; 0: none */

static tern_session *open_session(void) {
  return tern_session_new(&(tern_options){ .threads = 1, .fail_allocation = refused }, NULL);
}

static void note(tern_session *session, bool ok) {
  code[0] = 0;
  if (!session)
    strcpy(code, "E_OUT_OF_MEMORY"); /* there is nobody to report it to */
  else if (!ok && tern_diagnostic_count(session) > 0)
    snprintf(code, sizeof code, "%s", tern_diagnostic_at(session, 0).code);
  if (session && refused == 0) assert_int_equal(tern_diagnostic_count(session), ok ? 0 : 1);
}

static tern_status train(const tern_train_run *run) {
  tern_session *session = open_session();
  tern_program *loaded =
      session ? tern_load(session, TERN_LANG_AIL, "program.ail", program, sizeof program - 1) : NULL;
  tern_status status = loaded ? tern_train(loaded, run) : TERN_FAILED;
  note(session, status == TERN_OK);
  tern_program_free(loaded);
  tern_session_free(session);
  return status;
}

static tern_status go_on(void) { return train(&(tern_train_run){ .resume = "run", .steps = 5 }); }

/* ---- the file ---- */

typedef struct {
  tn_heap heap;
  tn_safetensors file;
  char metadata[2048];
  tn_named_view tensors[8];
  size_t count;
} checkpoint;

static void checkpoint_read(checkpoint *c) {
  static char bytes[1 << 16];
  memset(c, 0, sizeof *c);
  FILE *from = fopen("kept", "rb");
  assert_non_null(from);
  size_t length = fread(bytes, 1, sizeof bytes, from);
  fclose(from);
  assert_null(tn_safetensors_read(&c->heap, bytes, length, &c->file));
  assert_true(c->file.metadata.len < sizeof c->metadata);
  memcpy(c->metadata, c->file.metadata.at, c->file.metadata.len);
  for (; c->count < c->file.tensors.count; c->count++) {
    const tn_named_tensor *tensor = &c->file.tensors.at[c->count];
    c->tensors[c->count] = (tn_named_view){ tensor->name, tensor->tensor.view };
  }
}

static void checkpoint_write(checkpoint *c) {
  tn_text text;
  tn_text_init(&text, &c->heap);
  tn_safetensors_write(c->tensors, c->count, tn_str_of(c->metadata), &text);
  assert_false(text.failed);
  FILE *to = fopen("run/checkpoint", "wb");
  assert_non_null(to);
  assert_int_equal(fwrite(text.at, 1, text.len, to), text.len);
  fclose(to);
  tn_text_free(&text);
  tn_safetensors_free(&c->file);
  assert_int_equal(c->heap.used, 0);
}

/* Puts another value after a key; NULL: renames the key, so that it is missing. */
static void set(checkpoint *c, const char *key, const char *value) {
  char changed[sizeof c->metadata], wanted[64];
  snprintf(wanted, sizeof wanted, "\"%s\":\"", key);
  char *at = strstr(c->metadata, wanted);
  assert_non_null(at);
  char *old = at + strlen(wanted), *end = strchr(old, '"');
  size_t before = (size_t)((value ? old : at + 1) - c->metadata);
  snprintf(changed, sizeof changed, "%.*s%s%s", (int)before, c->metadata, value ? value : "no_",
           value ? end : at + 1);
  strcpy(c->metadata, changed);
}

/* ---- the tests ---- */

typedef struct {
  const char *key, *value, *code;
} forgery;

static void every_fact_of_the_metadata_is_checked(void **state) {
  (void)state;
  static const char corrupt[] = "E_CHECKPOINT_CORRUPT", mismatch[] = "E_CHECKPOINT_MISMATCH";
  static const forgery cases[] = {
    { "format", "tern checkpoint 2", corrupt },
    { "format", NULL, corrupt },
    { "source_sha256", "00", mismatch },
    { "data_sha256", NULL, mismatch },
    { "seed", NULL, corrupt },
    { "seed", "many", corrupt },
    { "seed", "43", mismatch },
    { "step", NULL, corrupt },
    { "step", "-1", corrupt },
    { "step", "9223372036854775808", corrupt },
    { "step", "4", corrupt }, /* more than the history has */
    { "step", "2", corrupt }, /* or fewer than it was sealed with */
    { "generator", NULL, corrupt },
    { "generator", "x", corrupt },
    { "segments", NULL, corrupt },
    { "segments", "", corrupt },
    { "segments", "0", corrupt },
    { "segments", ":3", corrupt },
    { "segments", "0:", corrupt },
    { "segments", "0:x", corrupt },
    { "segments", "1:3", corrupt },
    { "segments", "0:3 2", corrupt },
    { "segments", "0:3 2:4 1:5", corrupt },
    { "segments", "0:9223372036854775808", corrupt },
    { "segments", "0:3 9223372036854775808:4", corrupt },
    { "history_sha256", "00", corrupt },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    checkpoint c;
    checkpoint_read(&c);
    set(&c, cases[i].key, cases[i].value);
    checkpoint_write(&c);
    if (go_on() == TERN_OK) fail_msg("%s = %s was taken", cases[i].key, cases[i].value);
    if (strcmp(code, cases[i].code) != 0) fail_msg("%s = %s: %s", cases[i].key, cases[i].value, code);
  }
}

static void the_tensors_are_the_programs(void **state) {
  (void)state;
  double zeros[4] = { 0 };
  for (int k = 0; k < 4; k++) {
    checkpoint c;
    checkpoint_read(&c);
    tn_shape pair = tn_shape_make(1, 2), other = tn_shape_make(1, 3);
    if (k == 0) c.count--;
    if (k == 1) c.tensors[0].name = TN_LIT("V");
    if (k == 2) c.tensors[0].view = tn_view_make(zeros, TN_F64, &pair);
    if (k == 3) c.tensors[0].view = tn_view_make(zeros, TN_F32, &other);
    checkpoint_write(&c);
    assert_int_not_equal(go_on(), TERN_OK);
    assert_string_equal(code, "E_CHECKPOINT_CORRUPT");
  }
}

/* A run that wanted another number of steps from the same place on: only the last wish counts. */
static void what_was_wanted_at_the_same_step_is_replaced(void **state) {
  (void)state;
  checkpoint c;
  checkpoint_read(&c);
  set(&c, "segments", "0:3 3:4");
  checkpoint_write(&c);
  assert_int_equal(train(&(tern_train_run){ .resume = "run", .out = "on", .steps = 5 }), TERN_OK);
  char bytes[4096] = { 0 };
  FILE *from = fopen("on/checkpoint", "rb");
  assert_non_null(from);
  size_t length = fread(bytes, 1, sizeof bytes - 1, from);
  fclose(from);
  bool found = false;
  for (size_t i = 0; i + 9 < length; i++) found = found || memcmp(bytes + i, "\"0:3 3:5\"", 9) == 0;
  assert_true(found);
}

static void a_missing_history_is_reported(void **state) {
  (void)state;
  checkpoint c;
  checkpoint_read(&c);
  checkpoint_write(&c);
  assert_int_equal(go_on(), TERN_OK);
  assert_int_equal(rename("run/history.jsonl", "gone"), 0);
  assert_int_not_equal(go_on(), TERN_OK);
  assert_string_equal(code, "E_CHECKPOINT_CORRUPT");
  assert_int_equal(rename("gone", "run/history.jsonl"), 0);
}

static tern_status verify(void) {
  tern_session *session = open_session();
  bool ok = session && tern_verify(session, "run", 0) != NULL;
  note(session, ok);
  tern_session_free(session);
  return ok ? TERN_OK : TERN_FAILED;
}

/* What a repetition finds: the same, or the first thing that differs. */
static void a_repetition_names_what_differs(void **state) {
  (void)state;
  float ones[2] = { 1, 1 };
  for (int k = 0; k < 3; k++) {
    checkpoint c;
    checkpoint_read(&c);
    tn_shape pair = tn_shape_make(1, 2);
    if (k == 1) c.tensors[0].view = tn_view_make(ones, TN_F32, &pair);
    if (k == 2) set(&c, "generator", "1");
    checkpoint_write(&c);
    assert_int_equal(verify(), k == 0 ? TERN_OK : TERN_FAILED);
    assert_string_equal(code, k == 0 ? "" : "E_VERIFY_DIFFERS");
  }
}

static tern_status write_folder(void) { return train(&(tern_train_run){ .out = "starved", .steps = 2 }); }
static tern_status go_elsewhere(void) {
  return train(&(tern_train_run){ .resume = "run", .out = "starved", .steps = 4 });
}

/* Each request is refused once, until twenty in a row make no difference. */
static void starve(tern_status (*attempt)(void)) {
  int calm = 0;
  for (uint64_t n = 1; calm < 20; n++) {
    refused = n;
    bool ok = attempt() == TERN_OK;
    refused = 0;
    calm = ok ? calm + 1 : 0;
    if (!ok && strcmp(code, "E_OUT_OF_MEMORY") != 0) fail_msg("request %d: %s", (int)n, code);
    /* What lies there now can be resumed, if the run came to writing it. */
    if (attempt == verify || access("starved/checkpoint", R_OK) != 0) continue;
    if (train(&(tern_train_run){ .resume = "starved", .steps = 5 }) != TERN_OK)
      fail_msg("the folder of a run without request %d: %s", (int)n, code);
    assert_int_equal(system("rm -rf starved"), 0);
  }
}

static void running_out_of_memory_leaves_a_folder_that_can_be_resumed(void **state) {
  (void)state;
  checkpoint c;
  checkpoint_read(&c);
  checkpoint_write(&c);
  starve(write_folder);
  starve(go_elsewhere);
  starve(verify);
}

static int make_files(void **state) {
  if (enter_room(state) != 0) return -1;
  if (train(&(tern_train_run){ .out = "run" }) != TERN_OK) return -1;
  return rename("run/checkpoint", "kept");
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_fact_of_the_metadata_is_checked),
    cmocka_unit_test(the_tensors_are_the_programs),
    cmocka_unit_test(what_was_wanted_at_the_same_step_is_replaced),
    cmocka_unit_test(a_missing_history_is_reported),
    cmocka_unit_test(a_repetition_names_what_differs),
    cmocka_unit_test(running_out_of_memory_leaves_a_folder_that_can_be_resumed),
  };
  return cmocka_run_group_tests(tests, make_files, leave_room);
}
