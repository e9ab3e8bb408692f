/* base/stop.h: requests to stop: interrupts and deadlines.
 *
 * A session owns one tn_stop and its heap points to it, so that any code with a
 * heap can check it. A signal handler or another thread sets the flag; a deadline
 * sets it by itself. Long work checks it at least every few milliseconds and then
 * ends where it can fail anyway: an allocation fails while a program is compiled,
 * a kernel returns, a read is aborted.
 *
 * The answer stays yes until the next operation begins, so that outer callers get
 * the same one. Work that must not end half-way, like a checkpoint, holds the
 * stop: until it releases it, the answer is no. */
#ifndef TN_BASE_STOP_H
#define TN_BASE_STOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct tn_stop {
  atomic_bool asked;      /* by tn_stop_ask */
  atomic_bool timed_out;  /* the deadline has passed */
  atomic_bool noticed;    /* some check has answered yes */
  atomic_uint questions;  /* checks that needed more than the flag */
  double deadline;        /* of the monotonic clock, in seconds; 0: none */
  unsigned held;          /* how many hold it */
  unsigned stop_at;       /* for tests: the check (counted from 1) that answers yes; 0: none */
} tn_stop;

/* An operation begins. Clears a request that was noticed; one that was not noticed yet stops this
 * operation. */
void tn_stop_begin(tn_stop *stop);
/* Sets the deadline so many seconds from now; 0: none. */
void tn_stop_limit(tn_stop *stop, double seconds);
/* Clears the request, noticed or not. */
void tn_stop_clear(tn_stop *stop);
/* From any thread or a signal handler. */
void tn_stop_ask(tn_stop *stop);

/* Called by the thread of the session, and only while no other thread checks. Every hold is
 * released. */
void tn_stop_hold(tn_stop *stop);
void tn_stop_let_go(tn_stop *stop);

/* The slow half of tn_stop_asked. */
bool tn_stop_look(tn_stop *stop);

/* Whether to stop. From any thread: reads the flag each time, the clock now and then. NULL: never. */
static inline bool tn_stop_asked(tn_stop *stop) {
  if (!stop) return false;
  bool quiet = !atomic_load_explicit(&stop->asked, memory_order_relaxed);
  return quiet && stop->deadline <= 0 && stop->stop_at == 0 ? false : tn_stop_look(stop);
}
/* Seconds until the deadline, at least 0; negative: there is none. */
double tn_stop_time_left(const tn_stop *stop);
#endif
