/* cli/jobs.c: starts processes of this program and waits for them. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE 1 /* pipe2 */
#endif
#include "cli/jobs.h"

#include <stdlib.h>

#define SAID_BYTES 65536

void tn_jobs_free(tn_job *jobs, size_t count) {
  for (size_t i = 0; i < count; i++) free(jobs[i].said);
}

#if defined(__linux__)
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TICK 10000000 /* nanoseconds between two looks at processes that end */

bool tn_jobs_possible(void) { return true; }

/* In the new process: only what may be called after fork. */
static void become(const tn_job *job, int output, pid_t parent) {
  sigset_t none;
  struct sigaction usual = { .sa_handler = SIG_DFL };
  static const int caught[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
  for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) (void)sigaction(caught[i], &usual, NULL);
  sigemptyset(&none);
  (void)sigprocmask(SIG_SETMASK, &none, NULL);
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* its folder is free again at once */
  if (getppid() != parent) _exit(1);
  int empty[2];
  bool ok = pipe2(empty, O_CLOEXEC) == 0 && dup2(empty[0], 0) >= 0 && close(empty[1]) == 0 &&
            dup2(output, 2) >= 0;
  if (ok && (job->shows || dup2(output, 1) >= 0)) (void)execv("/proc/self/exe", job->words);
  _exit(1);
}

static bool start(tn_job *job) {
  pid_t parent = getpid();
  int ends[2];
  job->started = job->ended = true;
  job->status = -1;
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  pid_t child = fork();
  if (child == 0) become(job, ends[1], parent);
  (void)close(ends[1]);
  if (child < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) {
    (void)close(ends[0]);
    return false;
  }
  job->ended = false;
  job->id = (int)child;
  job->output = ends[0];
  return true;
}

/* What it has written since the last look; what is past the limit is read and forgotten. */
static void keep_said(tn_job *job) {
  char room[4096];
  for (ssize_t got; (got = read(job->output, room, sizeof room)) > 0;) {
    size_t left = SAID_BYTES - job->length, taken = (size_t)got < left ? (size_t)got : left;
    char *more = taken > 0 ? realloc(job->said, job->length + taken + 1) : NULL;
    if (!more) continue;
    memcpy(more + job->length, room, taken);
    job->said = more;
    job->length += taken;
    job->said[job->length] = 0;
  }
}

/* Whether it has ended since the last look. */
static bool look_at(tn_job *job) {
  int status;
  if (!job->started || job->ended) return false;
  bool ended = waitpid(job->id, &status, WNOHANG) == job->id;
  keep_said(job);
  if (!ended) return false;
  (void)close(job->output);
  job->ended = true;
  job->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return true;
}

static void stop_all(const tn_job *jobs, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (jobs[i].started && !jobs[i].ended) (void)kill(jobs[i].id, SIGTERM);
  }
}

/* The jobs that run now; reports those that ended. */
static int count_running(tn_job *jobs, size_t count, const tn_jobs_watch *watch, bool *stopped) {
  int running = 0;
  for (size_t i = 0; i < count; i++) {
    bool ended = look_at(&jobs[i]);
    if (ended && !watch->ended(watch->context, i)) *stopped = true;
    running += jobs[i].started && !jobs[i].ended;
  }
  return running;
}

bool tn_jobs_run(tn_job *jobs, size_t count, int most, const tn_jobs_watch *watch) {
  size_t next = 0;
  bool stopped = false, told = false;
  for (;;) {
    int running = count_running(jobs, count, watch, &stopped);
    stopped = stopped || watch->stops(watch->context);
    if (stopped && !told) told = true, stop_all(jobs, count);
    while (!stopped && running < most && next < count) {
      if (start(&jobs[next]))
        running++;
      else
        stopped = !watch->ended(watch->context, next);
      next++;
    }
    if (running == 0 && (stopped || next == count)) return !stopped;
    (void)nanosleep(&(struct timespec){ .tv_nsec = TICK }, NULL);
  }
}
#else
bool tn_jobs_possible(void) { return false; }
bool tn_jobs_run(tn_job *jobs, size_t count, int most, const tn_jobs_watch *watch) {
  (void)jobs, (void)count, (void)most, (void)watch;
  return false;
}
#endif
