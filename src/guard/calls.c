/* guard/calls.c: the allow-list of system calls that tern needs to read a program and to compute.
 *
 * The list is what the C library, the thread library and tern itself use once
 * the command line has been read: memory, threads of this process, the clock, files
 * that are open, and, where the policy names paths, opening (which Landlock then
 * decides path by path). Everything else is refused: starting programs, inspecting other processes,
 * sending them signals, sockets, namespaces, mounts, keys, bpf, io_uring, memory that can be
 * executed. A refused call gives an error; it never ends the process. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* CLONE_..., O_TMPFILE */
#endif
#include "guard/internal.h"

#if TN_GUARD_HAS_FILTER
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

/* The older spellings of a call exist on x86 only. */
static const long always[] = {
  SYS_read,
  SYS_write,
  SYS_readv,
  SYS_writev,
  SYS_pread64,
  SYS_pwrite64,
  SYS_close,
  SYS_lseek,
  SYS_fstat,
  SYS_newfstatat,
  SYS_dup,
  SYS_dup3,
  SYS_brk,
  SYS_munmap,
  SYS_mremap,
  SYS_madvise,
  SYS_futex,
  SYS_set_robust_list,
  SYS_get_robust_list,
  SYS_set_tid_address,
  SYS_sched_yield,
  SYS_sched_getaffinity,
  SYS_sched_getparam,
  SYS_sched_getscheduler,
  SYS_rt_sigaction,
  SYS_rt_sigprocmask,
  SYS_rt_sigreturn,
  SYS_rt_sigpending,
  SYS_rt_sigsuspend,
  SYS_sigaltstack,
  SYS_restart_syscall,
  SYS_exit,
  SYS_exit_group,
  SYS_nanosleep,
  SYS_clock_nanosleep,
  SYS_clock_gettime,
  SYS_clock_getres,
  SYS_gettimeofday,
  SYS_getrusage,
  SYS_times,
  SYS_getrandom,
  SYS_uname,
  SYS_sysinfo,
  SYS_getpid,
  SYS_getppid,
  SYS_gettid,
  SYS_getuid,
  SYS_geteuid,
  SYS_getgid,
  SYS_getegid,
  SYS_getpgid,
  SYS_ppoll,
  SYS_pselect6,
  SYS_getcpu,
#ifdef SYS_rseq
  SYS_rseq,
#endif
#ifdef SYS_getrlimit
  SYS_getrlimit,
#endif
#ifdef SYS_poll
  SYS_poll,
#endif
#ifdef SYS_select
  SYS_select,
#endif
#ifdef SYS_dup2
  SYS_dup2,
#endif
#ifdef SYS_time
  SYS_time,
#endif
#ifdef SYS_pause
  SYS_pause,
#endif
#ifdef SYS_getpgrp
  SYS_getpgrp,
#endif
};

/* Calls that examine paths, if some are granted. Landlock cannot hide the metadata of a path:
 * newfstatat, above, is how the C library gets the size of an open file. */
static const long looking[] = {
  SYS_statx,      SYS_faccessat, SYS_readlinkat, SYS_getcwd, SYS_fstatfs, SYS_fadvise64,
#ifdef SYS_faccessat2
  SYS_faccessat2,
#endif
#ifdef SYS_stat
  SYS_stat,       SYS_lstat,
#endif
#ifdef SYS_access
  SYS_access,
#endif
#ifdef SYS_readlink
  SYS_readlink,
#endif
};

/* Changing files in writable folders. No links, no owners, no attributes, no times. */
static const long writing[] = {
  SYS_ftruncate, SYS_fsync, SYS_fdatasync, SYS_flock, SYS_unlinkat, SYS_fallocate,
#ifdef SYS_renameat
  SYS_renameat,
#endif
#ifdef SYS_renameat2
  SYS_renameat2,
#endif
#ifdef SYS_rename
  SYS_rename,
#endif
#ifdef SYS_unlink
  SYS_unlink,
#endif
};

/* Narrowing the guard once more: neither call can widen it. The numbers are the same on every processor. */
static const long narrowing[] = { TN_GUARD_CREATE_RULESET, TN_GUARD_ADD_RULE, TN_GUARD_RESTRICT_SELF };

static const long network[] = { SYS_connect, SYS_bind, SYS_listen };

/* Of sockets that are open. */
static const long speaking[] = {
  SYS_sendto,      SYS_recvfrom,    SYS_sendmsg,    SYS_recvmsg,    SYS_shutdown,
  SYS_getsockname, SYS_getpeername, SYS_setsockopt, SYS_getsockopt,
};

/* Connections to those that listen. */
static const long serving[] = {
  SYS_accept4,
#ifdef SYS_accept
  SYS_accept,
#endif
};

/* How Open MPI waits for what it has opened. */
static const long awaiting[] = {
  SYS_epoll_ctl,  SYS_epoll_pwait,
#ifdef SYS_epoll_wait
  SYS_epoll_wait,
#endif
};

#define COUNT(list) (int)(sizeof(list) / sizeof *(list))

static void allow_all(tn_filter *filter, const long *calls, int count) {
  for (int i = 0; i < count; i++) tn_filter_allow(filter, calls[i]);
}

/* Newer kernels have calls that a filter cannot inspect, because their arguments are in memory.
 * With ENOSYS the C library uses the older one. */
static void refuse_opaque(tn_filter *filter) {
#ifdef SYS_clone3
  tn_filter_refuse(filter, SYS_clone3, ENOSYS);
#endif
#ifdef SYS_openat2
  tn_filter_refuse(filter, SYS_openat2, ENOSYS);
#endif
}

#define NAMESPACES                                                                                           \
  (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)

/* Threads of this process, in the namespaces it has. */
static void allow_threads(tn_filter *filter) {
  static const uint32_t thread[] = { CLONE_THREAD };
  tn_filter_test test = { .argument = 0, .mask = NAMESPACES | CLONE_THREAD, .values = thread, .count = 1 };
  tn_filter_allow_if(filter, SYS_clone, &test, 1);
}

/* Memory that is never both written and executed: nothing new is executable. */
static void allow_memory(tn_filter *filter) {
  static const uint32_t none[] = { 0 };
  tn_filter_test test = { .argument = 2, .mask = PROT_EXEC, .values = none, .count = 1 };
  tn_filter_allow_if(filter, SYS_mmap, &test, 1);
  tn_filter_allow_if(filter, SYS_mprotect, &test, 1);
}

/* To this process only: raise and abort. */
static void allow_own_signals(tn_filter *filter, int process) {
  uint32_t self[] = { (uint32_t)process };
  tn_filter_test test = { .argument = 0, .mask = UINT32_MAX, .values = self, .count = 1 };
  tn_filter_allow_if(filter, SYS_tgkill, &test, 1);
}

/* Reading limits, not setting them, and not those of others. */
static void allow_reading_limits(tn_filter *filter) {
  static const uint32_t none[] = { 0 };
  tn_filter_test tests[] = {
    { .argument = 0, .mask = UINT32_MAX, .values = none, .count = 1 },
    { .argument = 2, .mask = UINT32_MAX, .values = none, .count = 1 },
    { .argument = 2, .high = true, .mask = UINT32_MAX, .values = none, .count = 1 },
  };
  tn_filter_allow_if(filter, SYS_prlimit64, tests, COUNT(tests));
}

/* fcntl, ioctl and prctl can do a lot; a computation needs little of it. */
static void allow_corners(tn_filter *filter, bool writes) {
  static const uint32_t on_descriptors[] = { F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL,
                                             F_SETFL, F_GETLK,         F_SETLK, F_SETLKW };
  static const uint32_t on_terminals[] = { TCGETS,     TCSETS,     TCSETSW,    TCSETSF,
                                           0x802c542a, 0x402c542b, 0x402c542c, 0x402c542d, /* TCGETS2 ... */
                                           TIOCGWINSZ, TIOCGPGRP,  FIONREAD };
  static const uint32_t on_processes[] = { PR_SET_NAME, PR_GET_NAME };
  tn_filter_test test = { .argument = 1, .mask = UINT32_MAX, .values = on_descriptors };
  test.count = writes ? COUNT(on_descriptors) : COUNT(on_descriptors) - 3; /* locks are last */
  tn_filter_allow_if(filter, SYS_fcntl, &test, 1);
  test.values = on_terminals, test.count = COUNT(on_terminals);
  tn_filter_allow_if(filter, SYS_ioctl, &test, 1);
  test.argument = 0, test.values = on_processes, test.count = COUNT(on_processes);
  tn_filter_allow_if(filter, SYS_prctl, &test, 1);
}

static void allow_opening_to_read(tn_filter *filter) {
  static const uint32_t none[] = { 0 };
  tn_filter_test test = { .argument = 2,
                          .mask = O_ACCMODE | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY),
                          .values = none,
                          .count = 1 };
  tn_filter_allow_if(filter, SYS_openat, &test, 1);
#ifdef SYS_open
  test.argument = 1;
  tn_filter_allow_if(filter, SYS_open, &test, 1);
#endif
}

/* Files that are created or replaced have plain permissions: no set-user-ID, set-group-ID or sticky
 * bit. Others could run a set-user-ID file later with the rights of the user who started tern. */
static void allow_writing(tn_filter *filter) {
  static const uint32_t none[] = { 0 };
  tn_filter_test mode = { .argument = 3, .mask = ~(uint32_t)0777, .values = none, .count = 1 };
  allow_all(filter, writing, COUNT(writing));
  tn_filter_allow_if(filter, SYS_openat, &mode, 1);
#ifdef SYS_open
  mode.argument = 2;
  tn_filter_allow_if(filter, SYS_open, &mode, 1);
#endif
  mode.argument = 1;
  tn_filter_allow_if(filter, SYS_fchmod, &mode, 1);
}

/* Waiting is for own processes only; a pidfd cannot be opened inside, so it is one of theirs. */
static void allow_ending_children(tn_filter *filter) {
  tn_filter_allow(filter, SYS_wait4);
#ifdef SYS_pidfd_send_signal
  static const uint32_t signals[] = { SIGKILL, SIGUSR1 }, none[] = { 0 };
  tn_filter_test tests[] = {
    { .argument = 1, .mask = UINT32_MAX, .values = signals, .count = 2 },
    { .argument = 3, .mask = UINT32_MAX, .values = none, .count = 1 },
  };
  tn_filter_allow_if(filter, SYS_pidfd_send_signal, tests, COUNT(tests));
#endif
}

/* Requests to NVIDIA's driver have the letter F, those to its memory manager small numbers, which no terminal
 * and no other file that is open here takes for anything. */
static void allow_card(tn_filter *filter) {
  tn_filter_allow_masked(filter, SYS_ioctl, 1, 0xff00, (uint32_t)'F' << 8);
  tn_filter_allow_masked(filter, SYS_ioctl, 1, ~(uint32_t)0xff, 0);
}

/* Another filter without flags. A filter with a listener could answer calls itself. */
static void allow_narrowing(tn_filter *filter) {
  static const uint32_t set_filter[] = { SECCOMP_SET_MODE_FILTER }, none[] = { 0 };
  tn_filter_test tests[] = {
    { .argument = 0, .mask = UINT32_MAX, .values = set_filter, .count = 1 },
    { .argument = 1, .mask = UINT32_MAX, .values = none, .count = 1 },
  };
  allow_all(filter, narrowing, COUNT(narrowing));
  tn_filter_allow_if(filter, SYS_seccomp, tests, COUNT(tests));
}

/* The internet's two families, and what ordinary programs use of them. */
static void allow_network(tn_filter *filter) {
  static const uint32_t families[] = { AF_INET, AF_INET6 }, types[] = { SOCK_STREAM, SOCK_DGRAM };
  tn_filter_test tests[] = {
    { .argument = 0, .mask = UINT32_MAX, .values = families, .count = 2 },
    { .argument = 1, .mask = ~(uint32_t)(SOCK_NONBLOCK | SOCK_CLOEXEC), .values = types, .count = 2 },
  };
  tn_filter_allow_if(filter, SYS_socket, tests, COUNT(tests));
  allow_all(filter, network, COUNT(network));
  allow_all(filter, serving, COUNT(serving));
  allow_all(filter, speaking, COUNT(speaking));
}

void tn_guard_write_filter(const tn_guard_policy *policy, int process, tn_filter *filter) {
  bool reads = false, writes = false;
  for (size_t i = 0; i < policy->count; i++) {
    if (!tn_guard_takes_part(policy, &policy->paths[i])) continue;
    reads = true;
    writes = writes || policy->paths[i].access == TN_GUARD_WRITE;
  }
  tn_filter_begin(filter);
  allow_all(filter, always, COUNT(always));
  refuse_opaque(filter);
  allow_threads(filter);
  allow_memory(filter);
  allow_own_signals(filter, process);
  allow_reading_limits(filter);
  if (policy->has_card) allow_card(filter);
  allow_corners(filter, writes);
  if (reads) allow_all(filter, looking, COUNT(looking));
  if (writes)
    allow_writing(filter);
  else if (reads)
    allow_opening_to_read(filter);
  if (policy->has_children) allow_ending_children(filter);
  if (policy->narrows) allow_narrowing(filter);
  if (policy->grants & TN_GUARD_NETWORK)
    allow_network(filter);
  else if (policy->serves)
    allow_all(filter, serving, COUNT(serving));
  if (policy->serves || policy->speaks) allow_all(filter, speaking, COUNT(speaking));
  if (policy->speaks) allow_all(filter, awaiting, COUNT(awaiting));
  tn_filter_end(filter);
}

bool tn_guard_has_seccomp(void) {
  uint32_t action = SECCOMP_RET_ERRNO;
  return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

bool tn_guard_restrict_calls(const tn_guard_policy *policy) {
  tn_filter filter;
  tn_guard_write_filter(policy, (int)getpid(), &filter);
  struct sock_fprog program = { .len = filter.count, .filter = filter.code };
  return !filter.overflow && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}
#else
bool tn_guard_has_seccomp(void) { return false; }
bool tn_guard_restrict_calls(const tn_guard_policy *policy) {
  (void)policy;
  return false;
}
#endif
