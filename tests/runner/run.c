/* runner/run.c: see run.h. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "runner/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

_Noreturn void die(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  exit(2);
}

void *more(void *old, size_t bytes) {
  void *grown = realloc(old, bytes ? bytes : 1);
  if (!grown) die("out of memory");
  return grown;
}

/* Text ------------------------------------------------------------------- */

text text_of(const char *string) { return text_span(string, strlen(string)); }

text text_span(const char *bytes, size_t length) {
  text copy = { 0 };
  text_add(&copy, bytes, length);
  return copy;
}

void text_add(text *to, const char *bytes, size_t length) {
  to->bytes = more(to->bytes, to->length + length + 1);
  if (length) memcpy(to->bytes + to->length, bytes, length);
  to->length += length;
  to->bytes[to->length] = 0;
}

void text_addf(text *to, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (length < 0) die("cannot format");
  to->bytes = more(to->bytes, to->length + (size_t)length + 1);
  vsnprintf(to->bytes + to->length, (size_t)length + 1, format, again);
  va_end(again);
  to->length += (size_t)length;
}

bool text_is(text line, const char *string) {
  return line.length == strlen(string) && memcmp(line.bytes, string, line.length) == 0;
}

bool text_begins(text line, const char *string) {
  size_t length = strlen(string);
  return line.length >= length && memcmp(line.bytes, string, length) == 0;
}

text text_after(text line, size_t skip) {
  if (skip > line.length) skip = line.length;
  return (text){ line.bytes + skip, line.length - skip };
}

static text read_stream(FILE *file) {
  text whole = text_of("");
  char part[65536];
  size_t got;
  while ((got = fread(part, 1, sizeof part, file)) > 0) text_add(&whole, part, got);
  return whole;
}

text read_file(const char *path, bool *missing) {
  FILE *file = fopen(path, "rb");
  if (missing) *missing = !file;
  if (!file && missing) return (text){ 0 };
  if (!file) die("%s: %s", path, strerror(errno));
  text whole = read_stream(file);
  fclose(file);
  return whole;
}

void write_file(const char *path, text content) {
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(content.bytes, 1, content.length, file) != content.length || fclose(file) != 0)
    die("%s: %s", path, strerror(errno));
}

/* Lines ------------------------------------------------------------------ */

void lines_add(lines *to, text line) {
  to->at = more(to->at, (to->count + 1) * sizeof *to->at);
  to->at[to->count++] = line;
}

lines lines_of(text whole) {
  lines all = { 0 };
  char *end = whole.bytes + whole.length;
  for (char *from = whole.bytes; from < end;) {
    char *stop = memchr(from, '\n', (size_t)(end - from));
    all.open = !stop;
    if (!stop) stop = end;
    lines_add(&all, (text){ from, (size_t)(stop - from) });
    from = stop + 1;
  }
  return all;
}

/* Greedy with one point of return is enough: the latest `<*>` can always take
 * over from an earlier one. */
static bool line_matches(text wanted, text actual) {
  size_t w = 0, a = 0, star = SIZE_MAX, mark = 0;
  while (a < actual.length) {
    if (text_begins(text_after(wanted, w), "<*>")) {
      star = w += 3;
      mark = a;
    } else if (w < wanted.length && wanted.bytes[w] == actual.bytes[a]) {
      w++, a++;
    } else if (star != SIZE_MAX) {
      w = star;
      a = ++mark;
    } else {
      return false;
    }
  }
  while (text_begins(text_after(wanted, w), "<*>")) w += 3;
  return w == wanted.length;
}

/* The same walk over lines, where `...` is the wildcard. */
bool lines_match(lines wanted, lines actual) {
  size_t w = 0, a = 0, star = SIZE_MAX, mark = 0;
  if (wanted.open != actual.open) return false;
  while (a < actual.count) {
    if (w < wanted.count && text_is(wanted.at[w], "...")) {
      star = ++w;
      mark = a;
    } else if (w < wanted.count && line_matches(wanted.at[w], actual.at[a])) {
      w++, a++;
    } else if (star != SIZE_MAX) {
      w = star;
      a = ++mark;
    } else {
      return false;
    }
  }
  while (w < wanted.count && text_is(wanted.at[w], "...")) w++;
  return w == wanted.count;
}

void lines_show(const char *mark, lines shown) {
  enum { MOST = 60 };
  for (size_t i = 0; i < shown.count && i < MOST; i++)
    printf("    %s %.*s\n", mark, (int)shown.at[i].length, shown.at[i].bytes);
  if (shown.count > MOST) printf("    %s (%zu lines more)\n", mark, shown.count - MOST);
  if (shown.open) printf("    %s (no newline at the end)\n", mark);
}

/* Commands --------------------------------------------------------------- */

static volatile sig_atomic_t running, late;

static void kill_running(int signal_number) {
  (void)signal_number;
  late = 1;
  if (running > 0) kill(-(pid_t)running, SIGKILL);
}

/* A limit is there to end what hangs, never to judge speed: other work may leave a command an eighth of a
 * core. So what counts is a process's own processor time. The clock only ends what waits for something that
 * never comes, after so many times the limit. */
static unsigned patience(void) {
  const char *set = getenv("TERN_TEST_PATIENCE");
  return set && atoi(set) > 0 ? (unsigned)atoi(set) : 20;
}

static void limit_processor(int seconds) {
  rlim_t most = (rlim_t)seconds * 2; /* two threads compute at once */
  setrlimit(RLIMIT_CPU, &(struct rlimit){ most, most + 5 });
}

static _Noreturn void become(const char *const argv[], const char *folder, FILE *in, FILE *out, FILE *err,
                             int seconds) {
  setpgid(0, 0);
  limit_processor(seconds);
  int input = in ? fileno(in) : open("/dev/null", O_RDONLY);
  text data = { 0 };
  text_addf(&data, "%s/.data", folder); /* what a program keeps for its user */
  setenv("XDG_DATA_HOME", data.bytes, 1);
  if (chdir(folder) != 0 || dup2(input, 0) < 0 || dup2(fileno(out), 1) < 0 || dup2(fileno(err), 2) < 0)
    _exit(126);
  execvp(argv[0], (char *const *)(size_t)argv);
  _exit(127);
}

static FILE *temporary(void) {
  FILE *file = tmpfile();
  if (!file) die("tmpfile: %s", strerror(errno));
  return file;
}

static text collect(FILE *file) {
  rewind(file);
  text whole = read_stream(file);
  fclose(file);
  return whole;
}

static int wait_for(pid_t child, int seconds) {
  int state = 0;
  struct sigaction action = { .sa_handler = kill_running };
  sigaction(SIGALRM, &action, NULL);
  late = 0;
  running = child;
  alarm((unsigned)seconds * patience());
  while (waitpid(child, &state, 0) < 0 && errno == EINTR) continue;
  alarm(0);
  running = 0;
  return WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
}

outcome run(const char *const argv[], const char *folder, const char *input, int seconds, int flags) {
  FILE *in = input ? temporary() : NULL;
  FILE *out = temporary(), *err = flags & RUN_MERGED ? out : temporary();
  outcome done = { 0 };

  if (in) {
    fputs(input, in);
    rewind(in);
  }
  fflush(NULL);
  pid_t child = fork();
  if (child < 0) die("fork: %s", strerror(errno));
  if (child == 0) become(argv, folder, in, out, err, seconds);
  setpgid(child, child); /* both sides, so that the group is there whoever comes first */
  done.status = wait_for(child, seconds);
  done.timed_out = late || done.status == 128 + SIGXCPU;
  if (in) fclose(in);
  done.err = err != out ? collect(err) : text_of("");
  done.out = collect(out);
  return done;
}

outcome run_shell(const char *command, const char *folder, const char *input, int seconds, int flags) {
  const char *argv[] = { "sh", "-c", command, NULL };
  return run(argv, folder, input, seconds, flags);
}

void outcome_free(outcome *done) {
  free(done->out.bytes);
  free(done->err.bytes);
}

/* Surroundings ----------------------------------------------------------- */

char *scratch_new(void) {
  const char *parent = getenv("TMPDIR");
  text path = { 0 };
  text_addf(&path, "%s/tern-test-XXXXXX", parent && *parent ? parent : P_tmpdir);
  if (!mkdtemp(path.bytes)) die("%s: %s", path.bytes, strerror(errno));
  return path.bytes;
}

void scratch_free(char *folder) {
  const char *argv[] = { "rm", "-rf", folder, NULL };
  outcome done = run(argv, "/", NULL, 60, RUN_MERGED);
  outcome_free(&done);
  free(folder);
}

static char *absolute(const char *path) {
  char *found = realpath(path, NULL);
  if (!found) die("%s: %s", path, strerror(errno));
  return found;
}

void surroundings(const char *program, const char *tests) {
  static const char *const unwanted[] = { "NO_COLOR", "COLUMNS" };
  char *tern = absolute(program), *where = absolute(tests);
  const char *old = getenv("PATH");
  text path = { 0 };

  text_addf(&path, "%.*s:%s", (int)(strrchr(tern, '/') - tern), tern, old ? old : "/usr/bin:/bin");
  setenv("PATH", path.bytes, 1);
  setenv("TERN", tern, 1);
  setenv("TESTS", where, 1);
  setenv("HOME", "/nonexistent", 1);
  setenv("LC_ALL", "C.UTF-8", 1);
  setenv("TERM", "dumb", 1);
  setenv("TZ", "UTC", 1);
  for (size_t i = 0; i < sizeof unwanted / sizeof *unwanted; i++) unsetenv(unwanted[i]);
  free(path.bytes);
  free(tern);
  free(where);
}
