/* base/pool.h: threads that help their caller with one job at a time.
 *
 * A job is split into numbered parts. What a part does follows from its number and
 * not from the thread that does it, so the result does not depend on the threads.
 * The caller works too. It takes every part that no helper has begun, so it never
 * waits for a helper to wake up, only for one that is in the middle of a part:
 * helpers that the system does not schedule cost nothing.
 *
 * Helpers start at the first job large enough for one and stay until the pool is
 * freed. Between jobs they spin for about as long as they have worked, and then
 * sleep. A sleeping helper is woken when its share of the work is worth the measured
 * wake-up time, or when that much has been missed without it in one go. A process
 * that forks gets new helpers in the child. */
#ifndef TN_BASE_POOL_H
#define TN_BASE_POOL_H

#include "base/heap.h"

/* A part of a job. */
typedef struct {
  int number, count; /* index of the part, from 0, and the number of parts */
  int thread;        /* index of the scratch memory to use, below the requested number of threads; parts that
                      * run at the same time have different ones */
} tn_part;
typedef void (*tn_job)(void *context, const tn_part *part);

typedef struct tn_pool tn_pool;

/* A pool of so many threads, the caller's among them; none starts yet. NULL without memory. Used by one
 * thread at a time; freed by its owner, with the same heap, when no job runs. */
tn_pool *tn_pool_new(tn_heap *heap, int threads);
void tn_pool_free(tn_pool *pool);
/* At least 1; NULL: 1. */
int tn_pool_threads(const tn_pool *pool);

/* What a job is, and how it may be divided. */
typedef struct {
  tn_job run;
  void *context;
  double cost;   /* estimated nanoseconds of the whole job on one thread */
  int threads;   /* at most, the caller's among them */
  int pieces;    /* parts for each thread; there may be fewer threads than asked for, and so fewer parts */
  tn_stop *stop; /* after a stop, no further part is begun (each thread does one); NULL: never */
} tn_work;

/* Does all parts; returns when all have ended. Without a pool (NULL) the caller does all parts of all
 * threads. A job must not run another on the same pool. */
void tn_pool_run(tn_pool *pool, const tn_work *work);

/* What a pool has done so far, for tests and measurements. */
typedef struct {
  int helpers;         /* threads that run beside the caller's */
  int asleep;          /* of them */
  uint64_t jobs;       /* that were offered to helpers */
  uint64_t calls;      /* of helpers that were awake */
  uint64_t wakes;      /* of helpers that slept */
  double wake_seconds; /* measured time to wake one */
} tn_pool_facts;
tn_pool_facts tn_pool_state(const tn_pool *pool);
/* For tests: assumes that waking costs so many seconds. 0: every sleeping helper is woken. */
void tn_pool_assume_wake(tn_pool *pool, double seconds);
#endif
