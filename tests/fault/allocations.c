/* tests/fault/allocations.c: memory that runs out at any request, in every example.
 *
 * An example is run once to count its requests for memory. Then it is run again
 * and again, and each time another request is refused. It must end with its
 * result, where it could do without, or with E_OUT_OF_MEMORY; never with another
 * mistake, a crash or, as the sanitizers see, a leak.
 *
 * An arena asks for memory once in a while and hands it out in pieces; here every piece is a request of its
 * own, so that each place that wants memory is refused it. The small programs beside this file are run also
 * where they are wrong: telling a mistake needs memory too.
 *
 * Every few requests up to DENSE are tried, and after that ever fewer: a training loop asks for the same
 * things repeatedly. tests/slow tries each, also in the programs of tests/, in a process that is split
 * off at that request, so that nothing is run again to get there. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/internal.h"
#include "base/clock.h"
#include "support/counts.h"

#ifndef EVERY
#define EVERY 0
#endif
#define DENSE 400  /* requests up to here are refused every few */
#define MOST  5000 /* requests up to here are refused one by one in tests/slow, */
#define LONG  0.01 /* as long as a try takes no longer than this, in seconds; the sanitizers try fewer then */

/* Of the small programs also: every form of their graphs, and their lines typed one after another. */
typedef enum { RUN, TRAIN, CHECK, FORMAT, GRAPH, GRADIENT, MLIR, TALK, WAYS } way;
static const char *const way_names[] = { "run", "train", "check", "fmt", "graph", "grad", "mlir", "repl" };

typedef struct {
  tern_status status;
  uint64_t requests;
  char code[64];
} outcome;

static tern_status act(tern_program *program, way how) {
  static const tern_train_run three = { .steps = 3 };
  switch (how) {
    case RUN: return tern_run(program);
    case TRAIN: return tern_train(program, &three);
    case CHECK: return tern_check(program);
    case FORMAT: return tern_format(program) ? TERN_OK : TERN_FAILED;
    default: return tern_emit(program, way_names[how]) ? TERN_OK : TERN_FAILED;
  }
}

/* The first mistake that is shown; where nothing can be shown, memory ran out. */
static void talk(tern_session *session, const char *path, outcome *out) {
  FILE *file = fopen(path, "r");
  char line[1000];
  assert_non_null(file);
  tern_repl *repl = tern_repl_new(session, tern_language_of(path));
  out->status = TERN_OK;
  while (repl && fgets(line, sizeof line, file)) {
    const char *shown, *mistake;
    line[strcspn(line, "\n")] = 0;
    tern_repl_line(repl, line, &shown);
    mistake = shown ? strstr(shown, "error[") : "error[E_OUT_OF_MEMORY]";
    if (!out->code[0] && mistake) sscanf(mistake, "error[%63[A-Z0-9_]", out->code);
  }
  if (repl)
    (void)tern_repl_complete(repl, "x.s", 3);
  else
    strcpy(out->code, "E_OUT_OF_MEMORY");
  tern_repl_free(repl);
  fclose(file);
}

static void note(tern_session *session, outcome *out) {
  size_t count = tern_diagnostic_count(session);
  for (size_t i = 0; i < count && out->code[0] == 0; i++) {
    tern_diagnostic diagnostic = tern_diagnostic_at(session, i);
    if (strcmp(diagnostic.severity, "error") == 0)
      snprintf(out->code, sizeof out->code, "%s", diagnostic.code);
  }
  out->requests = session->heap.requests;
}

/* ---- one attempt ---- */

/* `refuses` decides about each request after the making of the session, or is NULL. */
static outcome attempt(const char *path, way how, uint64_t refused, bool (*refuses)(uint64_t)) {
  bool first = refused == 0 && !refuses; /* some tests ask for more than there is: they do not come further */
  tern_options options = { .threads = 1,
                           .allow = TERN_ALLOW_FILEREAD | TERN_ALLOW_CLOCK,
                           .max_memory = first ? (uint64_t)64 << 20 : 0,
                           .max_steps = 1000000,
                           .fail_allocation = refused };
  outcome out = { .status = TERN_FAILED };
  tern_session *session = tern_session_new(&options, NULL);
  if (!session) { /* there is nobody to report it to */
    out.requests = refused;
    strcpy(out.code, "E_OUT_OF_MEMORY");
    return out;
  }
  session->heap.piecewise = true;
  if (refuses) {
    session->heap.fail_at = session->heap.requests + 1;
    session->heap.refuses = refuses;
  }
  tern_program *program = how == TALK ? NULL : tern_load_file(session, TERN_LANG_AUTO, path, NULL);
  if (program) out.status = act(program, how);
  if (how == TALK) talk(session, path, &out);
  note(session, &out);
  if (program && how <= TRAIN) {
    const char *json = tern_result_json(program);
    assert_true(!json || json[0] == '{');
  }
  (void)tern_diagnostics_text(session, 0);
  tern_program_free(program);
  tern_session_free(session);
  return out;
}

/* All that goes wrong is said, not only the first. */
static int failures;
static void must_hold(bool holds, const char *path, way how, uint64_t n, const outcome *out) {
  if (holds) return;
  failures++;
  print_error("%s %s with request %llu refused: status %d, %s\n", way_names[how], path, (unsigned long long)n,
              (int)out->status, out->code[0] ? out->code : "no diagnostic");
}

static bool with_mistakes; /* programs that are wrong are run too, and say their mistake or E_OUT_OF_MEMORY */
static bool many;          /* there are so many programs that each need not try everything */
static bool lasting;       /* a try of the program takes long */

static uint64_t after(uint64_t n) {
  const char *effort = getenv("TERN_TEST_EFFORT");
  bool small = effort && strcmp(effort, "small") == 0;
  if (EVERY) return many ? n + 1 + n / 50 : n < MOST ? n + 1 : n + n / 100;
  if (small && lasting) return 2 * n;
  if (n < DENSE) return n + (small ? 13 : 3);
  return n + n / (small ? 1 : 4);
}

static bool is_same(const outcome *a, const outcome *b) {
  return a->status == b->status && strcmp(a->code, b->code) == 0;
}

static void judge(const char *path, way how, uint64_t n, const outcome *out, const outcome *whole) {
  must_hold(is_same(out, whole) || strcmp(out->code, "E_OUT_OF_MEMORY") == 0, path, how, n, out);
}

/* ---- one run, from which another process splits off at each request that is to be refused ---- */

static uint64_t next, split; /* the request to be refused next; in a child, the one that was */
static const char *running;  /* the program */
static way running_how;

/* A child that breaks ends at once; cmocka would have it run the tests that follow. */
static void break_for_good(void) {
  static const int signals[] = { SIGFPE, SIGILL, SIGSEGV, SIGBUS, SIGSYS };
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], SIG_DFL);
}

static bool split_off(uint64_t request) {
  if (split > 0 || request < next) return false;
  double began = tn_clock_steady();
  counts_share();
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    split = request;
    break_for_good();
    return true;
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  bool lasted = tn_clock_steady() - began > LONG;
  next = lasted ? request + 1 + request / 20 : after(request);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    failures++;
    print_error("%s %s: the process in which request %llu was refused ended with %#x\n",
                way_names[running_how], running, (unsigned long long)request, (unsigned)status);
    return false;
  }
  counts_take();
  return false;
}

static void refuse_in_children(const char *path, way how, const outcome *whole) {
  next = 1;
  running = path;
  running_how = how;
  outcome out = attempt(path, how, 0, split_off);
  if (split == 0) {
    must_hold(is_same(&out, whole), path, how, 0, &out);
    return;
  }
  failures = 0;
  judge(path, how, split, &out, whole);
  fflush(NULL);
  counts_leave();
  _exit(failures != 0);
}

static void refuse_all(const char *path, way how) {
  double began = tn_clock_steady();
  outcome whole = attempt(path, how, 0, NULL);
  lasting = tn_clock_steady() - began > LONG;
  bool reports = with_mistakes && whole.code[0] && how == RUN;
  if (whole.status != TERN_OK && !reports) return; /* it is not for this way */
  if (EVERY) {
    refuse_in_children(path, how, &whole);
    return;
  }
  for (uint64_t n = 1; n <= whole.requests; n = after(n)) {
    outcome out = attempt(path, how, n, NULL);
    must_hold(out.requests >= n, path, how, n, &out);
    judge(path, how, n, &out, &whole);
  }
}

/* ---- examples ---- */

static int no_dots(const struct dirent *entry) { return entry->d_name[0] != '.' && entry->d_name[0] != '_'; }

static bool is_folder(const char *name) {
  struct stat status;
  return stat(name, &status) == 0 && S_ISDIR(status.st_mode);
}

/* The programs of the current folder and of those in it, each from where it is: they name their data so. */
static int refuse_here(void) {
  struct dirent **entries;
  int tried = 0, count = scandir(".", &entries, no_dots, alphasort);
  for (int i = 0; i < count; i++) {
    const char *name = entries[i]->d_name;
    bool program = tern_language_of(name) != TERN_LANG_AUTO;
    int ways = with_mistakes ? WAYS : FORMAT + 1;
    for (int how = 0; program && how < ways; how++) refuse_all(name, (way)how);
    tried += program;
    if (!program && is_folder(name)) {
      assert_int_equal(chdir(name), 0);
      tried += refuse_here();
      assert_int_equal(chdir(".."), 0);
    }
    free(entries[i]);
  }
  free(entries);
  return tried;
}

static void refuse_folder(const char *folder) {
  char before[4096];
  assert_non_null(getcwd(before, sizeof before));
  failures = 0;
  assert_int_equal(chdir(folder), 0);
  int tried = refuse_here();
  assert_int_equal(chdir(before), 0);
  assert_true(tried > 0);
  assert_int_equal(failures, 0);
}

#define FOLDER_TEST(name, folder, of_many)                                                                   \
  static void name(void **state) {                                                                           \
    (void)state;                                                                                             \
    many = of_many;                                                                                          \
    refuse_folder(SOURCES folder);                                                                           \
  }
FOLDER_TEST(ninth_examples, "/examples/ninth", false)
FOLDER_TEST(mind_examples, "/examples/mind", false)
FOLDER_TEST(ail_examples, "/examples/ail", false)
#if EVERY
FOLDER_TEST(ninth_tests, "/tests/ninth", true)
FOLDER_TEST(mind_tests, "/tests/mind", true)
FOLDER_TEST(ail_tests, "/tests/ail", true)
#endif

static void pieces_of_small_programs(void **state) {
  (void)state;
  with_mistakes = true;
  refuse_folder(SOURCES "/tests/fault/programs");
  with_mistakes = false;
}

/* A name as argument, which may have * in it, runs those tests alone. */
int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(ninth_examples),
    cmocka_unit_test(mind_examples),
    cmocka_unit_test(ail_examples),
    cmocka_unit_test(pieces_of_small_programs),
#if EVERY
    cmocka_unit_test(ninth_tests),
    cmocka_unit_test(mind_tests),
    cmocka_unit_test(ail_tests),
#endif
  };
  if (argc > 1) cmocka_set_test_filter(argv[1]);
  return cmocka_run_group_tests_name("fault/allocations", tests, NULL, NULL);
}
