/* fuzz/run_folder.c: the folder of a run, with any of its files changed.
 *
 * A small run is trained once. An input is a list of edits to its files, which
 * are then sealed again, because no search finds a SHA-256: what lies after the
 * seals is what is searched. Whatever the files are, verifying, resuming and
 * drawing them ends with an answer or a diagnostic; and what is verified has the
 * history, the weights and the given values of the true run. (The checkpoint may
 * name another version of tern, if run.json does too: nobody can compute that. Given
 * numbers are kept as they were written and used as f32: those that round to the same
 * f32 are the same run.)
 *
 * An edit is a byte that names the file, a byte that says how many bytes follow,
 * and those, as fuzz_damage reads them. A first byte of 0 leaves the seals as the
 * edits made them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/seal.h"
#include "fuzz.h"
#include "track/track.h"

static const char program_text[] = "param w [2]\n"
                                   "model {\n  y = mul(w, w)\n}\n"
                                   "train {\n  loss = sum(y)\n  steps = 3\n  lr = 0.1\n"
                                   "  optimizer = \"adam\"\n}\n";

#define MOST_BYTES ((size_t)1 << 13)
enum { RECORD, CHECKPOINT, HISTORY, WEIGHTS, GIVEN, FILE_COUNT };
static const char *const names[FILE_COUNT] = { "run.json", "checkpoint", "history.jsonl",
                                               "weights.safetensors", "given.safetensors" };

typedef struct {
  uint8_t bytes[MOST_BYTES];
  size_t length;
} file;

static char folder[64];
static file whole[FILE_COUNT], changed[FILE_COUNT];
static bool ready;

static const char *path_of(int which) {
  static char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, names[which]);
  return path;
}

static void write_files(const file *files) {
  for (int i = 0; i < FILE_COUNT; i++) {
    FILE *to = fopen(path_of(i), "wb");
    fuzz_expect(to != NULL, "a file can be written");
    fwrite(files[i].bytes, 1, files[i].length, to);
    fclose(to);
  }
}

static void remove_folder(void) {
  for (int i = 0; i < FILE_COUNT; i++) unlink(path_of(i));
  rmdir(folder);
}

/* ---- what is tried ---- */

static tern_status train(const char *out, const char *resume) {
  tern_options options = { .allow = TERN_ALLOW_FILEREAD | TERN_ALLOW_FILEWRITE };
  tern_session *session = fuzz_session(&options);
  tern_program *program = tern_load(session, TERN_LANG_AIL, "a.ail", program_text, sizeof program_text - 1);
  fuzz_expect(tern_set_param_text(program, "w", "[1, 2]") == TERN_OK, "a value is given");
  tern_train_run run = { .out = out, .resume = resume, .steps = resume ? 4 : 0 };
  tern_status status = tern_train(program, &run);
  fuzz_expect(status != TERN_BUG, "no input shows a bug of ours");
  fuzz_expect(status == TERN_OK || tern_error_count(session) > 0, "what fails says why");
  tern_program_free(program);
  tern_session_free(session);
  return status;
}

static bool verify(void) {
  tern_options options = { .allow = 0 };
  tern_session *session = fuzz_session(&options);
  const char *answer = tern_verify(session, folder, 1);
  bool ok = answer != NULL;
  fuzz_expect(!ok || fuzz_is_json(answer), "the answer is JSON");
  fuzz_expect(ok || tern_error_count(session) > 0, "what fails says why");
  fuzz_expect(tern_failure_status(session) != TERN_BUG, "no input shows a bug of ours");
  tern_session_free(session);
  return ok;
}

static void draw(void) {
  tern_options options = { .allow = 0 };
  tern_session *session = fuzz_session(&options);
  const char *runs[] = { folder };
  (void)tn_track_plot_svg(session, &(tn_track_plot){ .runs = runs, .run_count = 1 });
  fuzz_expect(tern_failure_status(session) != TERN_BUG, "no input shows a bug of ours");
  tern_session_free(session);
}

/* ---- what is changed ---- */

static void seal_again(file *f) {
  static const char begin[] = "\"tern.sha256\":\"";
  size_t length = sizeof begin - 1;
  for (size_t i = 0; i + length + TN_SEAL_DIGITS <= f->length; i++) {
    if (memcmp(f->bytes + i, begin, length) != 0) continue;
    tn_seal_close((char *)f->bytes, f->length, (char *)f->bytes + i + length);
    return;
  }
}

static void edit(const uint8_t *data, size_t size) {
  while (size >= 2) {
    file *f = &changed[data[0] % FILE_COUNT];
    size_t count = data[1] < size - 2 ? data[1] : size - 2;
    f->length = fuzz_damage(data + 2, count, f->bytes, f->length, MOST_BYTES);
    data += 2 + count, size -= 2 + count;
  }
}

static void prepare(void) {
  if (ready) return;
  ready = true;
  strcpy(folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/tern-fuzz-XXXXXX" : "/tmp/tern-fuzz-XXXXXX");
  fuzz_expect(mkdtemp(folder) != NULL, "there is a folder to work in");
  atexit(remove_folder);
  fuzz_expect(train(folder, NULL) == TERN_OK, "the true run trains");
  fuzz_expect(verify(), "and is verified");
  for (int i = 0; i < FILE_COUNT; i++) {
    FILE *from = fopen(path_of(i), "rb");
    fuzz_expect(from != NULL, "it has left all its files");
    whole[i].length = fread(whole[i].bytes, 1, MOST_BYTES, from);
    fclose(from);
    fuzz_expect(whole[i].length > 0 && whole[i].length < MOST_BYTES, "which have bytes, and not too many");
  }
}

static bool is_same(int which) {
  const file *a = &whole[which], *b = &changed[which];
  return a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}

/* The seal follows from the rest. */
static void blank_seal(file *f) {
  static const char begin[] = "\"tern.sha256\":\"";
  for (size_t i = 0; i + sizeof begin - 1 + TN_SEAL_DIGITS <= f->length; i++)
    if (memcmp(f->bytes + i, begin, sizeof begin - 1) == 0)
      memset(f->bytes + i + sizeof begin - 1, '0', TN_SEAL_DIGITS);
}

/* The two numbers that are given lie at the end, as f64. */
static bool is_same_given(void) {
  static file a, b;
  double given[2], now[2];
  a = whole[GIVEN], b = changed[GIVEN];
  if (a.length != b.length) return false;
  blank_seal(&a), blank_seal(&b);
  size_t head = a.length - sizeof given;
  memcpy(given, a.bytes + head, sizeof given), memcpy(now, b.bytes + head, sizeof now);
  return memcmp(a.bytes, b.bytes, head) == 0 && (float)given[0] == (float)now[0] &&
         (float)given[1] == (float)now[1];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  prepare();
  if (size == 0) return 0;
  memcpy(changed, whole, sizeof whole);
  edit(data + 1, size - 1);
  for (int i = 0; data[0] != 0 && i < FILE_COUNT; i++) seal_again(&changed[i]);
  write_files(changed);
  if (verify()) {
    for (int i = HISTORY; i < GIVEN; i++) fuzz_expect(is_same(i), "what is verified is what the run wrote");
    fuzz_expect(is_same_given(), "what is verified is what the run was given");
  }
  (void)train(NULL, folder);
  draw();
  return 0;
}
