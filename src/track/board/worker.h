/* track/board/worker.h: a thread for work of unbounded length.
 *
 * Equal requests are answered once: a request that arrives during its job waits
 * for the same job, and afterwards the answer is cached for a while. A job has a
 * time limit, and few may wait; a further one is refused at once.
 *
 * A job has a heap and a stop of its own and belongs to one thread at a time: to
 * the serving one before it begins and after it is done, to the worker in
 * between. Only the queue is shared, under a lock. All functions here are for
 * the serving thread. The thread starts after the sandbox has been entered, so
 * that it is inside too. */
#ifndef TN_BOARD_WORKER_H
#define TN_BOARD_WORKER_H

#include <pthread.h>

#include "track/board/internal.h"

typedef enum { TN_JOB_WAITS, TN_JOB_RUNS, TN_JOB_DONE } tn_job_state;

typedef struct tn_job {
  tn_heap heap;
  tn_stop stop;
  tn_sources sources;
  tn_order order; /* its texts lie in the answer's arena */
  tn_answer answer;
  unsigned char key[TN_SHA256_BYTES];
  tn_job_state state;
  int users;     /* clients that wait for the answer, or are being sent it */
  uint64_t turn; /* when it was asked for last */
  struct tn_job *next;
} tn_job;

typedef struct {
  const tn_board_options *options;
  const tn_board_limits *limits;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t work;
  bool started;
  int bell[2]; /* a pipe: a byte for each job that is done */
  /* Under the lock: */
  tn_job *jobs; /* the newest first */
  bool ending;
  uint64_t turns;
} tn_worker;

/* False, with errno set, when the system has no pipe; to be ended anyway. */
bool tn_worker_init(tn_worker *worker, const tn_board_options *options, const tn_board_limits *limits);
/* False when there can be no thread: then every job is refused. */
bool tn_worker_start(tn_worker *worker);
/* Stops what runs and frees everything. */
void tn_worker_end(tn_worker *worker);

/* The job that answers an order, which is copied; the caller is one of its users. NULL: too much waits
 * already, or memory has run out. */
tn_job *tn_worker_ask(tn_worker *worker, const tn_order *order);
bool tn_worker_is_done(tn_worker *worker, const tn_job *job);
/* One user less; NULL is fine. */
void tn_worker_leave(tn_worker *worker, tn_job *job);
/* Readable when a job is done; hearing it makes it silent. */
int tn_worker_bell(const tn_worker *worker);
void tn_worker_hear(tn_worker *worker);
#endif
