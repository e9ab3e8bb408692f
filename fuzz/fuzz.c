/* fuzz/fuzz.c: sessions with limits, and what must hold for any program. */
#include "fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"

#define MOST_MEMORY  ((uint64_t)64 << 20)
#define MOST_STEPS   100000
#define MOST_SECONDS 2
#define MOST_TEXT    ((size_t)64 << 10) /* a larger one finds nothing new, only later */

void fuzz_expect(bool holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "fuzz: this should hold: %s\n", what);
  abort();
}

tern_session *fuzz_session(const tern_options *more) {
  tern_options options = more ? *more : (tern_options){ 0 };
  options.threads = 1;
  options.max_memory = MOST_MEMORY;
  options.max_steps = MOST_STEPS;
  options.max_seconds = MOST_SECONDS;
  return tern_session_new(&options, NULL);
}

bool fuzz_is_json(const char *text) {
  tn_heap heap = { 0 };
  tn_arena arena;
  tn_json_reader reader;
  tn_json_token token;
  if (!text) return false;
  tn_arena_init(&arena, &heap);
  tn_json_init(&reader, tn_str_of(text), &arena);
  while (tn_json_next(&reader, &token) > TN_JSON_END) continue;
  tn_arena_free(&arena);
  return token.kind == TN_JSON_END;
}

static tern_program *load(tern_session *session, tern_language language, const char *text, size_t size) {
  static const char *const names[] = { "a", "a.ail", "a.mind", "a.nth", "a.graph" };
  return tern_load(session, language, names[language], text, size);
}

static void judge(tern_session *session, tern_status status) {
  fuzz_expect(status != TERN_BUG, "no input shows a bug of ours");
  fuzz_expect(status == TERN_OK || tern_error_count(session) > 0, "what fails says why");
  fuzz_expect(fuzz_is_json(tern_diagnostics_json(session)), "diagnostics are JSON");
  fuzz_expect(tern_diagnostics_text(session, 1) != NULL, "diagnostics are text");
}

/* Whether a text passes the check. */
static bool passes(tern_language language, const char *text, size_t size) {
  tern_session *session = fuzz_session(NULL);
  tern_program *program = load(session, language, text, size);
  tern_status status = program ? tern_check(program) : TERN_FAILED;
  tern_program_free(program);
  tern_session_free(session);
  return status == TERN_OK;
}

/* The canonical form is a form of the same program, and its own canonical form. */
static void check_format(tern_language language, tern_program *program, bool fine) {
  const char *text = tern_format(program);
  char *once = text ? strdup(text) : NULL;
  if (!once) return;
  size_t length = strlen(once);
  tern_session *session = fuzz_session(NULL);
  tern_program *again = load(session, language, once, length);
  const char *twice = again ? tern_format(again) : NULL;
  fuzz_expect(twice != NULL, "what was formatted can be formatted");
  fuzz_expect(strcmp(once, twice) == 0, "formatting twice is formatting once");
  tern_program_free(again);
  tern_session_free(session);
  fuzz_expect(passes(language, once, length) == fine, "formatting changes nothing that check sees");
  free(once);
}

void fuzz_check(tern_language language, const uint8_t *data, size_t size) {
  if (size > MOST_TEXT) return;
  tern_session *session = fuzz_session(NULL);
  tern_program *program = load(session, language, (const char *)data, size);
  if (program) {
    tern_status status = tern_check(program);
    judge(session, status);
    if (language != TERN_LANG_GRAPH && memchr(data, 0, size) == NULL) {
      tern_clear_diagnostics(session);
      check_format(language, program, status == TERN_OK);
    }
  }
  tern_program_free(program);
  tern_session_free(session);
}

static void emit(tern_session *session, tern_program *program, const char *kind) {
  tern_clear_diagnostics(session);
  const char *text = tern_emit(program, kind);
  fuzz_expect(text || tern_error_count(session) > 0, "what is not emitted says why");
  fuzz_expect(text || tern_failure_status(session) != TERN_BUG, "no input shows a bug of ours");
}

void fuzz_run(tern_language language, const uint8_t *data, size_t size) {
  if (size > MOST_TEXT) return;
  tern_session *session = fuzz_session(NULL);
  tern_program *program = load(session, language, (const char *)data, size);
  if (program) {
    tern_status status = tern_run(program);
    judge(session, status);
    fuzz_expect(fuzz_is_json(tern_result_json(program)), "the result is JSON");
    (void)tern_result_text(program);
    if (status == TERN_OK) emit(session, program, "graph");
  }
  tern_program_free(program);
  tern_session_free(session);
}

/* ---- sessions ---- */

#define MOST_LINES 200

/* What a session holds, as it says itself; to be freed. */
static char *holdings(tern_repl *repl, tern_language language) {
  const char *shown = NULL, *more = NULL;
  tern_repl_line(repl, language == TERN_LANG_NINTH ? ":vars" : ":env", &shown);
  char *first = shown ? strdup(shown) : NULL;
  if (language != TERN_LANG_NINTH || !first) return first;
  tern_repl_line(repl, ":stack", &more);
  char *both = more ? malloc(strlen(first) + strlen(more) + 1) : NULL;
  if (both) strcat(strcpy(both, first), more);
  free(first);
  return both;
}

static bool is_allowed(const char *line) {
  while (*line == ' ' || *line == '\t' || *line == '\r') line++;
  return strncmp(line, ":load", 5) != 0;
}

/* Gives what tern_repl_line does. A limit of time or memory may also strike while the session is asked. */
static tern_repl_answer say(tern_repl *repl, tern_language language, const char *line) {
  char *before = holdings(repl, language);
  const char *shown = NULL;
  tern_repl_answer answer = tern_repl_line(repl, line, &shown);
  bool failed = shown && strncmp(shown, "error[", 6) == 0;
  bool bug = failed && strncmp(shown, "error[E_INTERNAL]", 17) == 0;
  bool limited = shown && (strstr(shown, "_LIMIT]") || strstr(shown, "E_OUT_OF_MEMORY"));
  char *after = holdings(repl, language);
  fuzz_expect(!bug, "no line shows a bug of ours");
  if (failed && !limited && before && after)
    fuzz_expect(strcmp(before, after) == 0, "a line that fails changes nothing");
  (void)tern_repl_complete(repl, line, strlen(line));
  free(before);
  free(after);
  return answer;
}

void fuzz_talk(tern_language language, const uint8_t *data, size_t size) {
  if (size > MOST_TEXT) return;
  tern_session *session = fuzz_session(NULL);
  tern_repl *repl = tern_repl_new(session, language);
  const char *at = (const char *)data;
  tern_repl_answer answer = TERN_REPL_DONE;
  for (int lines = 0; repl && size > 0 && lines < MOST_LINES && answer != TERN_REPL_QUIT; lines++) {
    const char *end = memchr(at, '\n', size);
    size_t length = end ? (size_t)(end - at) : size;
    char *line = strndup(at, length);
    if (line && is_allowed(line)) answer = say(repl, language, line);
    free(line);
    at += length + (end != NULL);
    size -= length + (end != NULL);
  }
  tern_repl_free(repl);
  tern_session_free(session);
}

unsigned fuzz_pick(fuzz_bytes *bytes, unsigned below) {
  if (bytes->left == 0 || below == 0) return 0;
  bytes->left--;
  return *bytes->at++ % below;
}

/* ---- a file to be read: in memory where the system has that, and gone at the end ---- */

static char file_path[64];

static void remove_file(void) { unlink(file_path); }

static int open_file(void) {
  if (*file_path) return open(file_path, O_WRONLY | O_TRUNC);
  strcpy(file_path, access("/dev/shm", W_OK) == 0 ? "/dev/shm/tern-fuzz-XXXXXX" : "/tmp/tern-fuzz-XXXXXX");
  int file = mkstemp(file_path);
  if (file >= 0) atexit(remove_file);
  return file;
}

const char *fuzz_file(const uint8_t *data, size_t size) {
  int file = open_file();
  bool written = file >= 0 && write(file, data, size) == (ssize_t)size;
  if (file >= 0) close(file);
  return written ? file_path : NULL;
}

size_t fuzz_damage(const uint8_t *edits, size_t size, uint8_t *file, size_t length, size_t room) {
  while (size >= 3) {
    size_t at = (size_t)edits[0] << 8 | edits[1], count = edits[2] % 16;
    edits += 3, size -= 3;
    if (count == 0) length = at < length ? at : length;
    for (; count > 0 && size > 0; count--, size--) {
      size_t place = at++ % room;
      file[place] = *edits++;
      if (place >= length && place <= length + 16) length = place + 1;
    }
  }
  return length;
}
