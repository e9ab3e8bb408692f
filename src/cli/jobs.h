/* cli/jobs.h: commands of this program, several at a time.
 *
 * Each job is a separate process. Its standard output and standard error are kept. When this
 * process dies, the kernel ends the jobs. */
#ifndef TN_CLI_JOBS_H
#define TN_CLI_JOBS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
  char **words;  /* the last one is NULL; borrowed */
  bool shows;    /* its standard output is this process's */
  bool started, ended;
  int status;    /* of exit; -1: it was killed, or could not be started */
  char *said;    /* the first 64 KiB of what it wrote, with a NUL; freed by tn_jobs_free; NULL: nothing */
  size_t length; /* of that */
  int id;        /* of the process */
  int output;    /* of a job that runs: the end of a pipe */
} tn_job;

typedef struct {
  void *context;
  /* Between two looks: whether to start no more and to stop those that run (SIGTERM). */
  bool (*stops)(void *context);
  /* A job has ended. False: as if it should stop. */
  bool (*ended)(void *context, size_t job);
} tn_jobs_watch;

/* Runs all of them, in order, at most `most` at once. Returns when none runs any more. False: it was
 * stopped. */
bool tn_jobs_run(tn_job *jobs, size_t count, int most, const tn_jobs_watch *watch);
void tn_jobs_free(tn_job *jobs, size_t count);
/* Whether this system can do it. */
bool tn_jobs_possible(void);
#endif
