/* tests/fault/survive.c: a training that is killed, starved of disk or told to stop leaves a folder that can
 * be resumed, and the resumed run ends with the bits of one that was never stopped.
 *
 *   survive TERN SHIM kill N      SIGKILL at N random moments
 *   survive TERN SHIM naive N     the same with a writer that overwrites files in place (shim.c): it must
 *                                 be caught, or this harness would not notice anything
 *   survive TERN SHIM stop N      SIGINT and SIGTERM at N random moments
 *   survive TERN SHIM twice       two signals to a training that cannot end, because a write stalls
 *   survive TERN SHIM full        every single open, write, sync, rename and cut fails once
 *
 * Everything happens in a folder of its own, which is removed at the end. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE 1
#endif
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runner/run.h"

static const char *tern, *shim;
static char where[64];
static bool has_sandbox;
static unsigned long seed = 20260101;

/* Checkpoints of 50 KB, so that a good part of the time is spent writing. */
static const char program[] =
    "model {\n  x [B, 64]\n  param W [64, 64]\n  y = tanh(matmul(x, W))\n}\n"
    "train { loss = mean((y - x) * (y - x)) steps = 30 lr = 0.01 batch = 8 optimizer = \"adam\" }\n";

static unsigned long random_below(unsigned long limit) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (seed >> 33) % limit;
}

static char *path_of(const char *folder, const char *name) {
  static char paths[4][256];
  static int turn;
  char *path = paths[turn++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s%s%s", where, folder, *name ? "/" : "", name);
  return path;
}

static bool exists(const char *path) { return access(path, F_OK) == 0; }

static void shell(const char *command) {
  if (system(command) != 0) die("cannot run: %s", command);
}

static void forget(const char *folder) {
  char command[700];
  const char *path = path_of(folder, "");
  snprintf(command, sizeof command, "rm -rf '%s' '%s.failed'", path, path);
  shell(command);
}

static void copy(const char *from, const char *to) {
  char command[700];
  forget(to);
  snprintf(command, sizeof command, "cp -r '%s' '%s'", path_of(from, ""), path_of(to, ""));
  shell(command);
}

/* ---- running tern ---- */

typedef struct {
  const char *folder; /* --out, and --resume when there is something to resume */
  const char *steps;  /* NULL: the program's */
  const char *every;
  const char *spoil; /* TERN_SHIM; NULL: none */
} job;

static void become(const job *how) {
  const char *words[24] = { tern, "train", "program.ail", "-q", "--threads", "1" };
  int count = 6;
  const char *folder = path_of(how->folder, "");
  words[count++] = "--out", words[count++] = folder;
  words[count++] = "--checkpoint-every", words[count++] = how->every;
  if (exists(path_of(how->folder, "checkpoint"))) words[count++] = "--resume", words[count++] = folder;
  if (how->steps) words[count++] = "--steps", words[count++] = how->steps;
  if (how->spoil && has_sandbox) words[count++] = "--sandbox=off"; /* the shim does what tern never does */
  if (how->spoil) setenv("LD_PRELOAD", shim, 1), setenv("TERN_SHIM", how->spoil, 1);
  int log = open("said", O_CREAT | O_TRUNC | O_WRONLY, 0666);
  dup2(log, 1), dup2(log, 2);
  execv(tern, (char *const *)(uintptr_t)words);
  _exit(127);
}

static pid_t begin(const job *how) {
  pid_t child = fork();
  if (child < 0) die("cannot fork");
  if (child == 0) become(how);
  return child;
}

static int end_of(pid_t child) {
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) die("cannot wait");
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int run_job(const job *how) { return end_of(begin(how)); }

static text said(void) { return read_file("said", NULL); }

static bool has_said(const char *words) { return strstr(said().bytes, words) != NULL; }

/* The folder's weights are those of the run that was never stopped. */
static bool ended_well(const char *folder) {
  text mine = read_file(path_of(folder, "weights.safetensors"), NULL);
  text whole = read_file(path_of("whole", "weights.safetensors"), NULL);
  return mine.length == whole.length && memcmp(mine.bytes, whole.bytes, whole.length) == 0;
}

/* A copy of the folder can be opened and resumed. Before the first checkpoint there is nothing to
 * open, and a new run begins. */
static bool loads(const char *folder) {
  if (!exists(path_of(folder, ""))) return true;
  copy(folder, "copy");
  return run_job(&(job){ "copy", "1", "100", NULL }) == 0;
}

/* What a killed run has left is true to the bit as far as it goes. A temporary file of it may lie there. */
static bool verifies(const char *folder) {
  if (!exists(path_of(folder, "run.json")) || !exists(path_of(folder, "checkpoint"))) return true;
  char command[700];
  snprintf(command, sizeof command, "'%s' verify '%s' > said 2>&1", tern, path_of(folder, ""));
  return system(command) == 0 || has_said("E_VERIFY_UNCHECKED");
}

static unsigned long microseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (unsigned long)now.tv_sec * 1000000 + (unsigned long)now.tv_nsec / 1000;
}

static void wait_a_little(unsigned long most) {
  unsigned long us = random_below(most);
  nanosleep(&(struct timespec){ (time_t)(us / 1000000), (long)(us % 1000000 * 1000) }, NULL);
}

/* ---- the tests ---- */

static void complain(const char *what, unsigned long moment) {
  printf("FAILED: %s, after %lu; tern said:\n%s", what, moment, said().bytes);
}

/* 0: everything held; 1: something did not. A kill may come at any moment of a whole run, so that runs
 * get to their end too. */
static int kill_often(unsigned long kills, const char *spoil) {
  unsigned long done = 0, rounds = 0, start = microseconds();
  if (run_job(&(job){ "timed", NULL, "1", NULL }) != 0) return complain("a run failed", 0), 1;
  unsigned long whole = microseconds() - start;
  while (done < kills) {
    pid_t child = begin(&(job){ "run", NULL, "1", spoil });
    wait_a_little(whole);
    kill(child, SIGKILL);
    int status = end_of(child);
    if (status == 128 + SIGKILL) {
      done++;
    } else if (status != 0 || !ended_well("run")) {
      return complain("a resumed run did not end as it should", done), 1;
    } else {
      rounds++;
      forget("run");
    }
    if (!loads("run")) return complain("a killed run left a folder that does not load", done), 1;
    if (!verifies("run")) return complain("a killed run left a folder that is not what it did", done), 1;
  }
  if (run_job(&(job){ "run", NULL, "1", NULL }) != 0 || !ended_well("run"))
    return complain("the last run did not end as it should", done), 1;
  printf("%lu kills over %lu runs: every folder loaded and verified, every run ended with the same bits\n",
         done, rounds + 1);
  return 0;
}

static int catch_the_naive_writer(unsigned long kills) {
  char spoil[300];
  snprintf(spoil, sizeof spoil, "naive %s", path_of("run", ""));
  if (kill_often(kills, spoil) != 1) {
    printf("FAILED: %lu kills did not catch a writer that overwrites in place\n", kills);
    return 1;
  }
  printf("as it must: the naive writer was caught\n");
  return 0;
}

static int stop_often(unsigned long times) {
  unsigned long stopped = 0;
  for (unsigned long i = 0; i < times; i++) {
    forget("run");
    pid_t child = begin(&(job){ "run", NULL, "1", NULL });
    while (!exists(path_of("run", "checkpoint"))) usleep(200); /* signals are caught by now */
    wait_a_little(4000);
    kill(child, i % 2 ? SIGTERM : SIGINT);
    int status = end_of(child);
    if (status == 0 && ended_well("run")) continue; /* it was quicker */
    if (status != 1 || !has_said("E_INTERRUPTED"))
      return complain("a signal did not stop it with a message", i), 1;
    text record = read_file(path_of("run", "run.json"), NULL);
    if (!strstr(record.bytes, "\"status\":\"stopped\"")) return complain("run.json does not say so", i), 1;
    stopped++;
    if (run_job(&(job){ "run", NULL, "1", NULL }) != 0 || !ended_well("run"))
      return complain("a run that was told to stop cannot be resumed", i), 1;
  }
  printf("%lu of %lu runs told to stop, each with a checkpoint; all ended with the same bits\n", stopped,
         times);
  return stopped * 4 >= times ? 0 : (printf("FAILED: too few were stopped\n"), 1);
}

/* The first signal is caught, and the training waits for its write. A second one takes its default action. It
 * is sent repeatedly, because it counts only some time after the first, and a loaded machine may deliver
 * the two together. */
static int signal_twice(void) {
  static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
  char spoil[300];
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
    int status, sent = 0;
    pid_t ended = 0;
    forget("run");
    snprintf(spoil, sizeof spoil, "stall %s", path_of("run", ""));
    pid_t child = begin(&(job){ "run", NULL, "1", spoil });
    while (!exists(path_of("run.failed", "")) && waitpid(child, &status, WNOHANG) == 0) usleep(1000);
    for (; ended == 0 && sent < 200; sent++) {
      kill(child, signals[i]);
      usleep(300000);
      ended = waitpid(child, &status, WNOHANG);
    }
    if (ended == 0) kill(child, SIGKILL), end_of(child);
    if (ended != child || !WIFSIGNALED(status) || WTERMSIG(status) != signals[i] || sent < 2)
      return printf("FAILED: signal %d: sent %d times, state %d\n", signals[i], sent, status), 1;
  }
  printf("three signals: the first is caught, a second ends what does not end\n");
  return 0;
}

/* The n-th call of a kind fails. False when there was no such call; *wrong when something is. */
static bool fail_once(const char *kind, int n, bool *wrong) {
  char spoil[300];
  copy("begun", "run");
  snprintf(spoil, sizeof spoil, "fail %s %d %s", kind, n, path_of("run", ""));
  int status = run_job(&(job){ "run", NULL, "9", spoil });
  if (!exists(path_of("run.failed", ""))) {
    *wrong = status != 0 || !ended_well("run");
    if (*wrong) complain("without a failure it must end well", (unsigned long)n);
    return false;
  }
  *wrong = status != 1 || !has_said("E_FILE_WRITE");
  *wrong = *wrong || run_job(&(job){ "run", NULL, "9", NULL }) != 0 || !ended_well("run");
  if (*wrong) printf("FAILED: %s %d: status %d; tern said:\n%s", kind, n, status, said().bytes);
  return true;
}

static int fill_the_disk(void) {
  static const char *const kinds[] = { "open", "write", "sync", "rename", "cut" };
  int failures = 0;
  if (run_job(&(job){ "begun", "6", "100", NULL }) != 0) die("cannot make a folder to begin from");
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    bool wrong = false;
    int n = 1;
    while (fail_once(kinds[k], n, &wrong) && !wrong && n < 1000) n++;
    if (wrong || n == 1) return printf("FAILED: %s\n", kinds[k]), 1;
    printf("%s: each of %d calls failed once\n", kinds[k], n - 1);
    failures += n - 1;
  }
  printf("%d failures: a diagnostic for each, the checkpoint before it loads, and the bits are the same\n",
         failures);
  return 0;
}

int main(int count, char **words) {
  if (count < 4) die("usage: survive TERN SHIM kill|naive|stop|twice|full [N]");
  tern = words[1], shim = words[2];
  unsigned long times = count > 4 ? strtoul(words[4], NULL, 10) : 50;
  /* What the kernel holds survives a process, on a disk or not; in memory a sync costs nothing. */
  const char *memory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  snprintf(where, sizeof where, "%s/tern-survive-XXXXXX", memory);
  if (!mkdtemp(where) || chdir(where) != 0) die("cannot make a folder");
  setenv("XDG_DATA_HOME", where, 1);
  write_file("program.ail", text_of(program));
  char help[600];
  snprintf(help, sizeof help, "'%s' help train | grep -q -e --sandbox", tern);
  has_sandbox = system(help) == 0;
  if (run_job(&(job){ "whole", NULL, "100", NULL }) != 0)
    die("the run that is never stopped fails: %s", said().bytes);
  int status = strcmp(words[3], "kill") == 0    ? kill_often(times, NULL)
               : strcmp(words[3], "naive") == 0 ? catch_the_naive_writer(times)
               : strcmp(words[3], "stop") == 0  ? stop_often(times)
               : strcmp(words[3], "twice") == 0 ? signal_twice()
                                                : fill_the_disk();
  if (chdir("/") != 0) die("cannot leave");
  forget("");
  return status;
}
