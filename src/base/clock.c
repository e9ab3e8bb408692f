/* base/clock.c: reads the system's clocks. */
#include "base/clock.h"

#include <time.h>

static double seconds(clockid_t clock) {
  struct timespec now;
  if (clock_gettime(clock, &now) != 0) return 0;
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double tn_clock_steady(void) { return seconds(CLOCK_MONOTONIC); }
double tn_clock_of_day(void) { return seconds(CLOCK_REALTIME); }
