/* backend/backend.c: what all back ends ask of the machine.
 *
 * The number of cores is that of the processors this process may run on, not
 * of those the machine has: in a container or under taskset the two differ, and
 * threads beyond it only take turns. It is asked anew each time because a
 * process may be moved; nothing here is remembered. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE   /* sched_getaffinity */
#endif
#include "backend/backend.h"

#if defined(__linux__)
#include <sched.h>

/* Asks with more room until the machine's whole mask fits. */
static int cores_allowed(void) {
  cpu_set_t sets[16];   /* 16384 processors */
  for (int room = 1; room <= 16; room *= 2) {
    size_t bytes = (size_t)room * sizeof sets[0];
    if (sched_getaffinity(0, bytes, sets) == 0) return CPU_COUNT_S(bytes, sets);
  }
  return 0;
}
#elif defined(__unix__) || defined(__APPLE__)
#include <unistd.h>

static int cores_allowed(void) { return (int)sysconf(_SC_NPROCESSORS_ONLN); }
#else
static int cores_allowed(void) { return 1; }
#endif

int tn_backend_cores(void) {
  int cores = cores_allowed();
  return cores > 0 ? cores : 1;
}
