/* base/stop.c: the flag and the deadline that stop a session, and holds on them. */
#include "base/stop.h"

#include <assert.h>

#include "base/clock.h"

#define CLOCK_EVERY 16   /* checks per reading of the clock */

void tn_stop_clear(tn_stop *stop) {
  atomic_store(&stop->asked, false);
  atomic_store(&stop->noticed, false);
}

void tn_stop_begin(tn_stop *stop) {
  if (atomic_load(&stop->noticed)) atomic_store(&stop->asked, false);
  atomic_store(&stop->noticed, false);
}

void tn_stop_limit(tn_stop *stop, double seconds) {
  atomic_store(&stop->timed_out, false);
  atomic_store(&stop->questions, 0);
  stop->deadline = seconds > 0 ? tn_clock_steady() + seconds : 0;
}

void tn_stop_ask(tn_stop *stop) { atomic_store(&stop->asked, true); }

void tn_stop_hold(tn_stop *stop) {
  if (stop) stop->held++;
}

void tn_stop_let_go(tn_stop *stop) {
  if (!stop) return;
  assert(stop->held > 0);
  stop->held--;
}

/* The first check reads the clock, so that a deadline that has passed also stops code that checks
 * only once. */
static bool is_over(tn_stop *stop) {
  unsigned question = atomic_fetch_add_explicit(&stop->questions, 1, memory_order_relaxed);
  if (stop->stop_at > 0 && question + 1 >= stop->stop_at) atomic_store(&stop->asked, true);
  return stop->deadline > 0 && question % CLOCK_EVERY == 0 && tn_clock_steady() > stop->deadline;
}

bool tn_stop_look(tn_stop *stop) {
  if (stop->held > 0) return false;
  if (!atomic_load_explicit(&stop->asked, memory_order_relaxed) &&
      !atomic_load_explicit(&stop->timed_out, memory_order_relaxed)) {
    if (is_over(stop)) atomic_store(&stop->timed_out, true);
    if (!atomic_load(&stop->timed_out) && !atomic_load(&stop->asked)) return false;
  }
  atomic_store(&stop->noticed, true);
  return true;
}

double tn_stop_time_left(const tn_stop *stop) {
  if (!stop || stop->deadline <= 0) return -1;
  double left = stop->deadline - tn_clock_steady();
  return left > 0 ? left : 0;
}
