/* tests/fault/verify.c: `tern verify` against folders that were damaged, edited or put together.
 *
 * Damage is every bit of every file. Edits are made by somebody who seals what he changed, because a seal is
 * not a signature: each must be found by the repetition. TERN_TEST_EFFORT=small changes one bit of a byte,
 * otherwise all eight. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "data/safetensors.h"
#include "support/room.h"
#include "tern/tern.h"
#include "train/record.h"

static const char program[] =
    "model {\n  x [B, 2]\n  param W [2]\n  y = sum(x * W) * 0.1\n}\n"
    "train { loss = y steps = 4 batch = 2 optimizer = \"momentum\" schedule = \"cosine\" }\n";

/* ---- files ---- */

static void shell(const char *command) {
  if (system(command) != 0) fail_msg("%s", command);
}

/* ---- attempts ---- */

static char said[64], what[128], files[256]; /* code and fields of the first diagnostic */

static void note(tern_session *session) {
  said[0] = what[0] = files[0] = 0;
  if (tern_diagnostic_count(session) == 0) return;
  tern_diagnostic first = tern_diagnostic_at(session, 0);
  snprintf(said, sizeof said, "%s", first.code);
  for (size_t i = 0; i < first.field_count; i++) {
    const char *name = first.field_names[i], *value = first.field_values[i];
    if (strcmp(name, "what") == 0) snprintf(what, sizeof what, "%s", value);
    if (strcmp(name, "files") == 0) snprintf(files, sizeof files, "%s", value);
  }
}

static tern_session *open_session(uint64_t seed) {
  tern_session *session = tern_session_new(
      &(tern_options){ .threads = 1, .seed = seed, .has_seed = 1, .max_memory = 64 << 20 }, NULL);
  assert_non_null(session);
  return session;
}

static tern_status train_with(const char *text, uint64_t seed, bool gives, const tern_train_run *run) {
  tern_session *session = open_session(seed);
  tern_program *loaded = tern_load(session, TERN_LANG_AIL, "program.ail", text, strlen(text));
  assert_non_null(loaded);
  if (gives) assert_int_equal(tern_set_param_text(loaded, "W", "[1, 2]"), TERN_OK);
  tern_status status = tern_train(loaded, run);
  note(session);
  tern_program_free(loaded);
  tern_session_free(session);
  return status;
}

static bool verify(const char *folder) {
  tern_session *session = open_session(42);
  bool ok = tern_verify(session, folder, 0) != NULL;
  note(session);
  assert_true(ok == (tern_diagnostic_count(session) == 0));
  tern_session_free(session);
  return ok;
}

static void refused(const char *code, const char *difference) {
  if (verify("try")) fail_msg("verified, instead of %s %s", code, difference);
  if (strcmp(said, code) != 0 || strcmp(what, difference) != 0)
    fail_msg("%s %s instead of %s %s", said, what, code, difference);
}

/* ---- damage ---- */

static int bits_of_effort(void) {
  const char *effort = getenv("TERN_TEST_EFFORT");
  return effort && strcmp(effort, "small") == 0 ? 1 : 8;
}

static void flip_everywhere(const char *path, const char *folder) {
  whole_file whole = read_whole(path);
  assert_true(verify(folder));
  for (size_t i = 0; i < whole.length; i++) {
    for (int b = 0; b < bits_of_effort(); b++) {
      int bit = (int)((i + (size_t)b) % 8);
      whole_file changed = whole;
      changed.bytes[i] ^= (char)(1 << bit);
      write_whole(path, changed.bytes, changed.length);
      if (verify(folder)) fail_msg("bit %d of byte %zu of %s", bit, i, path);
    }
  }
  write_whole(path, whole.bytes, whole.length);
}

static void cut_everywhere(const char *path, const char *folder) {
  whole_file whole = read_whole(path);
  whole.bytes[whole.length] = 'x';
  for (size_t length = 0; length <= whole.length + 1; length++) {
    if (length == whole.length) continue;
    write_whole(path, whole.bytes, length);
    if (verify(folder)) fail_msg("%zu of %zu bytes of %s", length, whole.length, path);
  }
  write_whole(path, whole.bytes, whole.length);
  assert_true(verify(folder));
}

static void every_bit_of_the_record_counts(void **state) {
  (void)state;
  flip_everywhere("run/run.json", "run");
  cut_everywhere("run/run.json", "run");
}

static void every_bit_of_the_weights_counts(void **state) {
  (void)state;
  flip_everywhere("run/weights.safetensors", "run");
  cut_everywhere("run/weights.safetensors", "run");
}

static void every_bit_of_the_other_files_counts(void **state) {
  (void)state;
  flip_everywhere("run/checkpoint", "run");
  flip_everywhere("run/history.jsonl", "run");
  cut_everywhere("run/history.jsonl", "run");
  flip_everywhere("given/given.safetensors", "given");
}

/* ---- edits, sealed again ---- */

typedef struct {
  tn_heap heap;
  tn_arena arena;
  tn_run_record record;
} sealed_record;

static void begin(void) { shell("rm -rf try && cp -r run try"); }

static tn_run_record *edit(sealed_record *r, const char *path) {
  whole_file whole = read_whole(path);
  *r = (sealed_record){ 0 };
  tn_arena_init(&r->arena, &r->heap);
  assert_null(tn_record_read(&r->heap, (tn_str){ whole.bytes, whole.length }, &r->arena, &r->record));
  return &r->record;
}

static void seal(sealed_record *r, const char *path) {
  tn_text text;
  tn_text_init(&text, &r->heap);
  tn_record_write(&r->record, &text);
  write_whole(path, text.at, text.len);
  tn_text_free(&text);
  tn_arena_free(&r->arena);
  assert_int_equal(r->heap.used, 0);
}

static void edit_status(sealed_record *r) { r->record.status = TN_RUN_STATUS_STOPPED; }
static void edit_steps(sealed_record *r) { r->record.steps = r->record.step = 3; }
static void edit_wanted(sealed_record *r) { r->record.steps = 5; }
static void edit_step(sealed_record *r) { r->record.step = 3, r->record.status = TN_RUN_STATUS_STOPPED; }
static void edit_many(sealed_record *r) { r->record.steps = r->record.step = (int64_t)1 << 60; }
static void edit_seed(sealed_record *r) { r->record.seed = 43; }
static void edit_source(sealed_record *r) { r->record.source = TN_LIT("model {\n  y = 1\n}\n"); }
static void edit_source_hash(sealed_record *r) { r->record.source_sha256[0] ^= 1; }
static void edit_data_hash(sealed_record *r) { r->record.data_sha256[0] ^= 1; }
static void edit_data(sealed_record *r) { r->record.data = TN_LIT("elsewhere.jsonl"); }
static void edit_weights_hash(sealed_record *r) { r->record.weights_sha256[31] ^= 128; }
static void edit_given(sealed_record *r) { r->record.given = true; }
static void edit_version(sealed_record *r) { r->record.version = TN_LIT("0.0.0"); }

static void every_claim_of_the_record_is_recomputed(void **state) {
  (void)state;
  static const struct {
    void (*edit)(sealed_record *r);
    const char *code, *what;
  } cases[] = {
    { edit_status, "E_VERIFY_DIFFERS", "the status in run.json" },
    { edit_steps, "E_VERIFY_DIFFERS", "the number of steps in run.json" },
    { edit_wanted, "E_VERIFY_DIFFERS", "the number of steps in run.json" },
    { edit_step, "E_VERIFY_DIFFERS", "the step in run.json" },
    { edit_many, "E_VERIFY_DIFFERS", "the number of steps in run.json" },
    { edit_seed, "E_CHECKPOINT_MISMATCH", "" },
    { edit_source, "E_TRAIN_REQUIRES_LOSS", "" },
    { edit_source_hash, "E_VERIFY_DIFFERS", "the hash of the program in run.json" },
    { edit_data_hash, "E_VERIFY_DIFFERS", "the hash of the data in run.json" },
    { edit_data, "E_VERIFY_DIFFERS", "the data file in run.json" },
    { edit_weights_hash, "E_VERIFY_DIFFERS", "the hash of the weights in run.json" },
    { edit_given, "E_FILE_NOT_FOUND", "" },
    { edit_version, "E_VERIFY_DIFFERS", "checkpoint" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    sealed_record r;
    begin();
    edit(&r, "try/run.json");
    cases[i].edit(&r);
    seal(&r, "try/run.json");
    refused(cases[i].code, cases[i].what);
  }
}

/* The name of the program and the way to its data decide nothing; a run may be killed just before it writes
 * that it is complete. */
static void what_decides_nothing_may_change(void **state) {
  (void)state;
  sealed_record r;
  begin();
  tn_run_record *record = edit(&r, "try/run.json");
  record->program = TN_LIT("renamed.ail");
  record->base = TN_LIT("../..");
  record->status = TN_RUN_STATUS_RUNNING;
  seal(&r, "try/run.json");
  assert_true(verify("try"));
}

/* ---- records in other words ---- */

static void replace(const char *path, const char *from, const char *to) {
  whole_file whole = read_whole(path), changed = { .length = 0 };
  size_t length = strlen(from), at = 0;
  while (at + length <= whole.length && memcmp(whole.bytes + at, from, length) != 0) at++;
  assert_true(at + length <= whole.length);
  memcpy(changed.bytes, whole.bytes, at);
  memcpy(changed.bytes + at, to, strlen(to));
  changed.length = at + strlen(to) + whole.length - at - length;
  memcpy(changed.bytes + at + strlen(to), whole.bytes + at + length, whole.length - at - length);
  write_whole(path, changed.bytes, changed.length);
}

static void a_record_without_its_seal_is_refused(void **state) {
  (void)state;
  begin();
  whole_file whole = read_whole("try/run.json");
  whole.bytes[whole.length] = 0;
  char *seal_at = strstr(whole.bytes, ",\"tern.sha256\"");
  assert_non_null(seal_at);
  strcpy(seal_at, "}\n"); /* as an older tern wrote it */
  write_whole("try/run.json", whole.bytes, strlen(whole.bytes));
  refused("E_FILE_CORRUPT", "");
  begin();
  replace("try/run.json", "tern.sha256", "tern.sha257");
  refused("E_FILE_CORRUPT", "");
}

/* ---- weights ---- */

static void write_weights(const char *metadata, float number) {
  tn_heap heap = { 0 };
  tn_text text;
  float numbers[2] = { number, number };
  tn_shape shape = tn_shape_make(1, 2);
  tn_named_view tensor = { TN_LIT("W"), tn_view_make(numbers, TN_F32, &shape) };
  tn_text_init(&text, &heap);
  tn_safetensors_write(&tensor, 1, tn_str_of(metadata), &text);
  write_whole("try/weights.safetensors", text.at, text.len);
  tn_text_free(&text);
}

static void foreign_weights_are_refused_whatever_the_record_says(void **state) {
  (void)state;
  static const tn_run_status statuses[] = { TN_RUN_STATUS_RUNNING, TN_RUN_STATUS_COMPLETED,
                                            TN_RUN_STATUS_STOPPED };
  static const char *const metadata[] = { "{\"step\":\"4\"}", "{\"step\":\"0\"}", "{\"step\":\"5\"}",
                                          "{}", "" };
  for (size_t s = 0; s < 3; s++) {
    for (size_t m = 0; m < sizeof metadata / sizeof *metadata; m++) {
      sealed_record r;
      begin();
      tn_run_record *record = edit(&r, "try/run.json");
      record->status = statuses[s];
      memset(record->weights_sha256, 0x66, sizeof record->weights_sha256);
      seal(&r, "try/run.json");
      write_weights(metadata[m], 666);
      assert_false(verify("try"));
    }
  }
  begin();
  write_weights("{\"step\":\"4\"}", 666);
  refused("E_VERIFY_DIFFERS", "weights.safetensors");
}

static void weights_and_record_of_another_run_are_refused(void **state) {
  (void)state;
  begin();
  shell("cp other/weights.safetensors try");
  refused("E_VERIFY_DIFFERS", "weights.safetensors");
  shell("cp other/run.json try");
  refused("E_CHECKPOINT_MISMATCH", "");
  shell("cp other/checkpoint try");
  refused("E_VERIFY_DIFFERS", "history.jsonl");
  shell("cp other/history.jsonl try");
  assert_true(verify("try")); /* that is the other run, whole */
}

/* The weights of an earlier step are not those of a run that came to its end. */
static void older_weights_are_refused(void **state) {
  (void)state;
  begin();
  shell("cp part/weights.safetensors try");
  refused("E_VERIFY_DIFFERS", "weights.safetensors");
}

static void a_weights_file_without_its_seal_is_refused(void **state) {
  (void)state;
  begin();
  replace("try/weights.safetensors", "tern.sha256", "tern.sha257");
  assert_false(verify("try"));
  assert_string_equal(said, "E_FILE_CORRUPT");
}

/* ---- checkpoints and histories ---- */

static void set_metadata(const char *path, const char *from, const char *to) {
  tn_heap heap = { 0 };
  tn_safetensors old;
  whole_file whole = read_whole(path);
  assert_null(tn_safetensors_read(&heap, whole.bytes, whole.length, &old));
  char metadata[2048];
  const char *at = strstr(old.metadata.at, from);
  assert_non_null(at);
  snprintf(metadata, sizeof metadata, "%.*s%s%s", (int)(at - old.metadata.at), old.metadata.at, to,
           at + strlen(from));
  tn_named_view views[8];
  for (size_t i = 0; i < old.tensors.count; i++)
    views[i] = (tn_named_view){ old.tensors.at[i].name, old.tensors.at[i].tensor.view };
  tn_text text;
  tn_text_init(&text, &heap);
  tn_safetensors_write(views, old.tensors.count, tn_str_of(metadata), &text);
  write_whole(path, text.at, text.len);
  tn_text_free(&text);
  tn_safetensors_free(&old);
}

/* No claim makes the repetition longer than the history is: this ends at once. */
static void a_claim_of_many_steps_is_compared_with_the_history_first(void **state) {
  (void)state;
  sealed_record r;
  begin();
  set_metadata("try/checkpoint", "\"step\":\"4\"", "\"step\":\"1000000000000000\"");
  refused("E_VERIFY_DIFFERS", "history.jsonl");
  set_metadata("try/checkpoint", "\"segments\":\"0:4\"", "\"segments\":\"0:1000000000000000\"");
  tn_run_record *record = edit(&r, "try/run.json");
  record->step = record->steps = 1000000000000000;
  seal(&r, "try/run.json");
  refused("E_VERIFY_DIFFERS", "history.jsonl");
  tern_train_run run = { .resume = "try", .steps = 10 };
  assert_int_equal(train_with(program, 42, false, &run), TERN_FAILED);
  assert_string_equal(said, "E_CHECKPOINT_CORRUPT");
}

/* Whatever else is in the metadata, and in another order, is not what the run wrote. */
static void a_checkpoint_is_compared_to_the_byte(void **state) {
  (void)state;
  begin();
  set_metadata("try/checkpoint", "\"seed\":\"42\"", "\"seed\":\"42\",\"more\":\"1\"");
  refused("E_VERIFY_DIFFERS", "checkpoint");
  begin();
  set_metadata("try/checkpoint", "\"segments\":\"0:4\"", "\"segments\":\"0:04\"");
  assert_false(verify("try"));
  begin();
  set_metadata("try/checkpoint", "\"segments\":\"0:4\"", "\"segments\":\"0:4 9:9\"");
  refused("E_CHECKPOINT_CORRUPT", "");
}

static void a_history_cut_to_a_valid_prefix_is_refused(void **state) {
  (void)state;
  begin();
  whole_file whole = read_whole("try/history.jsonl");
  whole.bytes[whole.length] = 0;
  char *third = strstr(whole.bytes, "{\"step\":2");
  assert_non_null(third);
  write_whole("try/history.jsonl", whole.bytes, (size_t)(third - whole.bytes));
  refused("E_VERIFY_DIFFERS", "history.jsonl");
  shell("cat run/history.jsonl run/history.jsonl > try/history.jsonl");
  refused("E_VERIFY_DIFFERS", "history.jsonl");
}

/* ---- runs that did not come to their end ---- */

/* The folder of a run that was killed: it says "running", and its history is ahead of its checkpoint. */
static void killed(void) {
  sealed_record r;
  shell("rm -rf try && cp -r part try && rm try/weights.safetensors");
  tn_run_record *record = edit(&r, "try/run.json");
  record->status = TN_RUN_STATUS_RUNNING;
  seal(&r, "try/run.json");
}

static void lines_after_the_checkpoint_are_repeated_too(void **state) {
  (void)state;
  killed();
  assert_true(verify("try"));
  shell("cp run/history.jsonl try");
  assert_true(verify("try"));
  replace("try/history.jsonl", "{\"step\":3,\"loss\":", "{\"step\":3,\"loss\":9");
  refused("E_VERIFY_DIFFERS", "history.jsonl");
  shell("head -c -5 run/history.jsonl > try/history.jsonl"); /* killed in the middle of a line */
  assert_true(verify("try"));
  shell("cp run/history.jsonl try && printf '{' >> try/history.jsonl");
  refused("E_VERIFY_DIFFERS", "history.jsonl"); /* no step is left for it */
}

static void a_stopped_run_is_verified_up_to_where_it_came(void **state) {
  (void)state;
  assert_true(verify("part"));
  assert_true(verify("resumed"));
}

/* ---- the folder ---- */

static void what_is_not_checked_is_listed(void **state) {
  (void)state;
  begin();
  shell("touch try/notes.txt; mkdir try/more; touch try/more/deep");
  refused("E_VERIFY_UNCHECKED", "");
  assert_string_equal(files, "more, notes.txt");
  begin();
  shell("cp given/given.safetensors try"); /* the record does not know of it */
  refused("E_VERIFY_UNCHECKED", "");
  assert_string_equal(files, "given.safetensors");
  begin();
  shell("for i in 1 2 3 4 5 6 7; do touch try/$i; done");
  refused("E_VERIFY_UNCHECKED", "");
  assert_string_equal(files, "1, 2, 3, 4, 5, ...");
}

static void missing_files_are_reported(void **state) {
  (void)state;
  static const char *const names[] = { "run.json", "checkpoint", "weights.safetensors" };
  for (size_t i = 0; i < 3; i++) {
    char command[64];
    begin();
    snprintf(command, sizeof command, "rm try/%s", names[i]);
    shell(command);
    refused("E_FILE_NOT_FOUND", "");
  }
  begin();
  shell("rm try/history.jsonl");
  refused("E_VERIFY_DIFFERS", "history.jsonl");
  shell("rm -rf try && cp -r given try && rm try/given.safetensors");
  refused("E_FILE_NOT_FOUND", "");
}

/* A new run in an old folder leaves nothing of the old one. */
static void an_old_folder_is_cleared(void **state) {
  (void)state;
  shell("rm -rf try && cp -r given try");
  assert_int_equal(train_with(program, 42, false, &(tern_train_run){ .out = "try" }), TERN_OK);
  assert_true(verify("try"));
  assert_int_not_equal(access("try/given.safetensors", F_OK), 0);
}

/* ---- two at once ---- */

static void a_folder_in_use_is_refused(void **state) {
  (void)state;
  begin();
  int held = open("try", O_RDONLY | O_DIRECTORY);
  assert_int_equal(flock(held, LOCK_EX), 0);
  whole_file before = read_whole("try/run.json");
  static const tern_train_run runs[] = { { .out = "try" }, { .resume = "try", .out = "try", .steps = 9 },
                                         { .resume = "run", .out = "./try/", .steps = 9 } };
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    assert_int_equal(train_with(program, 42, false, &runs[i]), TERN_FAILED);
    assert_string_equal(said, "E_RUN_IN_USE");
  }
  refused("E_RUN_IN_USE", "");
  whole_file after = read_whole("try/run.json");
  assert_true(before.length == after.length && memcmp(before.bytes, after.bytes, after.length) == 0);
  close(held);
  assert_true(verify("try"));
  assert_int_equal(train_with(program, 42, false, &runs[1]), TERN_OK);
  assert_true(verify("try"));
}

/* Resuming in place under another spelling is still in place: the history is not rewritten. */
static void one_folder_has_many_names(void **state) {
  (void)state;
  begin();
  struct stat old, new;
  assert_int_equal(stat("try/history.jsonl", &old), 0);
  tern_train_run run = { .resume = "try", .out = "./try/../try", .steps = 6 };
  assert_int_equal(train_with(program, 42, false, &run), TERN_OK);
  assert_int_equal(stat("try/history.jsonl", &new), 0);
  assert_true(old.st_ino == new.st_ino);
  assert_true(verify("try"));
}

/* ---- nothing left to train ---- */

static void a_run_without_steps_left_stays_as_it_is(void **state) {
  (void)state;
  static const int64_t wanted[] = { 4, 3, 1 };
  for (size_t i = 0; i < 3; i++) {
    begin();
    tern_train_run run = { .resume = "try", .out = "try", .steps = wanted[i] };
    assert_int_equal(train_with(program, 42, false, &run), TERN_OK);
    assert_string_equal(said, "E_NO_STEPS_LEFT");
    shell("diff -r run try");
  }
  tern_train_run elsewhere = { .resume = "run", .out = "nothing", .steps = 3 };
  assert_int_equal(train_with(program, 42, false, &elsewhere), TERN_OK);
  assert_string_equal(said, "E_NO_STEPS_LEFT");
  assert_int_not_equal(access("nothing/run.json", F_OK), 0);
}

/* ---- set-up ---- */

static int make_files(void **state) {
  if (enter_room(state) != 0) return -1;
  /* `part` was stopped after two of four steps, and `resumed` resumes it for six. */
  tern_session *session = tern_session_new(&(tern_options){ .threads = 1, .max_steps = 2 }, NULL);
  tern_program *loaded = tern_load(session, TERN_LANG_AIL, "program.ail", program, sizeof program - 1);
  bool stopped = tern_train(loaded, &(tern_train_run){ .out = "part" }) == TERN_FAILED;
  tern_program_free(loaded);
  tern_session_free(session);
  shell("cp -r part resumed");
  tern_train_run on = { .resume = "resumed", .out = "resumed", .steps = 6 };
  bool ok = stopped && train_with(program, 42, false, &(tern_train_run){ .out = "run" }) == TERN_OK &&
            train_with(program, 7, false, &(tern_train_run){ .out = "other" }) == TERN_OK &&
            train_with(program, 42, true, &(tern_train_run){ .out = "given" }) == TERN_OK &&
            train_with(program, 42, false, &on) == TERN_OK;
  return ok ? 0 : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_bit_of_the_record_counts),
    cmocka_unit_test(every_bit_of_the_weights_counts),
    cmocka_unit_test(every_bit_of_the_other_files_counts),
    cmocka_unit_test(every_claim_of_the_record_is_recomputed),
    cmocka_unit_test(what_decides_nothing_may_change),
    cmocka_unit_test(a_record_without_its_seal_is_refused),
    cmocka_unit_test(foreign_weights_are_refused_whatever_the_record_says),
    cmocka_unit_test(weights_and_record_of_another_run_are_refused),
    cmocka_unit_test(older_weights_are_refused),
    cmocka_unit_test(a_weights_file_without_its_seal_is_refused),
    cmocka_unit_test(a_claim_of_many_steps_is_compared_with_the_history_first),
    cmocka_unit_test(a_checkpoint_is_compared_to_the_byte),
    cmocka_unit_test(a_history_cut_to_a_valid_prefix_is_refused),
    cmocka_unit_test(lines_after_the_checkpoint_are_repeated_too),
    cmocka_unit_test(a_stopped_run_is_verified_up_to_where_it_came),
    cmocka_unit_test(what_is_not_checked_is_listed),
    cmocka_unit_test(missing_files_are_reported),
    cmocka_unit_test(an_old_folder_is_cleared),
    cmocka_unit_test(a_folder_in_use_is_refused),
    cmocka_unit_test(one_folder_has_many_names),
    cmocka_unit_test(a_run_without_steps_left_stays_as_it_is),
  };
  return cmocka_run_group_tests(tests, make_files, leave_room);
}
