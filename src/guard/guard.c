/* guard/guard.c: enters the sandbox.
 *
 * First new privileges are given up, then files, then limits, then system calls: each step still
 * needs what the next one takes away. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE 1 /* RLIMIT_MEMLOCK */
#endif
#include "guard/guard.h"

#include "guard/internal.h"

#if defined(__linux__)
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define MOST_DESCRIPTORS 256

tn_guard_support tn_guard_supported(void) {
  return (tn_guard_support){ .landlock = tn_guard_landlock_version(), .seccomp = tn_guard_has_seccomp() };
}

/* Threads that already run keep their rights. The folder has a link per thread besides its own two;
 * if it cannot be read, other threads may exist. */
static bool is_alone(void) {
  struct stat tasks;
  return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 3;
}

static void lower(int resource, rlim_t most) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) != 0) return;
  if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > most) limit.rlim_cur = most;
  if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > most) limit.rlim_max = most;
  (void)setrlimit(resource, &limit);
}

/* No core file, which would write the memory to the disk; few descriptors; no locked memory. Limits
 * that send a signal (time, file size) are not used: tern never ends that way. */
static void lower_limits(void) {
  lower(RLIMIT_CORE, 0);
  lower(RLIMIT_NOFILE, MOST_DESCRIPTORS);
  lower(RLIMIT_MEMLOCK, 0);
  lower(RLIMIT_MSGQUEUE, 0);
}

tn_guard_state tn_guard_enter(const tn_guard_policy *policy) {
  tn_guard_state state = { .alone = is_alone() };
  int version = tn_guard_landlock_version();
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return state;
  state.files = version > 0 && tn_guard_restrict_files(policy, version);
  lower_limits();
  state.calls = tn_guard_restrict_calls(policy);
  return state;
}

tn_guard_state tn_guard_narrow(const tn_guard_policy *policy) {
  tn_guard_state state = { .alone = is_alone() };
  int version = tn_guard_landlock_version();
  state.files = version > 0 && tn_guard_restrict_files(policy, version);
  state.calls = tn_guard_restrict_calls(policy);
  return state;
}
#else
tn_guard_support tn_guard_supported(void) { return (tn_guard_support){ 0 }; }
tn_guard_state tn_guard_enter(const tn_guard_policy *policy) {
  (void)policy;
  return (tn_guard_state){ 0 };
}
tn_guard_state tn_guard_narrow(const tn_guard_policy *policy) { return tn_guard_enter(policy); }
#endif
