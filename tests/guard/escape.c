/* guard/escape.c: nothing gets out, under any combination of grants.
 *
 * Every attempt of attempts.c is made in a process of its own:
 *   - without the guard, to know that the attempt is one: it must work there, or
 *     this machine cannot show anything about it, and that is said;
 *   - under each of the sixteen combinations of grants. What works and is not
 *     granted is an escape; what is granted and does not work is a fault as well;
 *   - in the first of two layers, as a program is parsed: nothing is granted but a
 *     folder to read, and the second layer is still to come;
 *   - in both layers, where the first grants the whole disk for reading;
 *   - with a hole made into the guard, one hole at a time. A harness that does
 *     not see it would not see a real one.
 *
 *   test_escape [-v]     -v names what this machine cannot show, and what each hole lets out */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guard/escape.h"
#include "guard/internal.h"

#define GRANT_COUNT 16

static void fail(const char *what) {
  perror(what);
  exit(1);
}

/* ---- what lies around ---- */

static void put_file(const char *path) {
  int made = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (made < 0 || write(made, "content", 7) != 7) fail(path);
  close(made);
}

static void clear_away(const tn_fixture *f) {
  char command[400];
  snprintf(command, sizeof command, "rm -rf '%s'", f->folder);
  if (system(command) != 0) fail(command);
}

static const char *joined(const char *folder, const char *name) {
  static char path[512];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

/* What an attempt may have changed is put back: the same files, the same folder. */
static void renew(const tn_fixture *f) {
  (void)umount2(f->out, MNT_DETACH);
  put_file(f->secret);
  put_file(f->named);
  put_file(joined(f->out, "old"));
  (void)unlink(joined(f->out, "borrowed"));
  (void)unlink(joined(f->out, "fresh"));
  (void)unlink(joined(f->out, "new"));
  (void)unlink(joined(f->folder, "moved"));
  (void)unlink(joined(f->folder, "new"));
  (void)rmdir(joined(f->folder, "new"));
  (void)mkdir(joined(f->folder, "empty"), 0700);
}

static int listener(int family, int type, const void *address, socklen_t length, int *port) {
  struct sockaddr_in6 got = { 0 };
  socklen_t size = sizeof got;
  int made = socket(family, type | SOCK_CLOEXEC, 0);
  if (made < 0 || bind(made, address, length) != 0) return -1;
  if (type == SOCK_STREAM && listen(made, 64) != 0) return -1;
  if (port && getsockname(made, (struct sockaddr *)&got, &size) == 0) *port = ntohs(got.sin6_port);
  return made;
}

static void listen_all(tn_fixture *f) {
  struct sockaddr_in inet = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
  struct sockaddr_in6 inet6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
  struct sockaddr_un local = { .sun_family = AF_UNIX };
  (void)listener(AF_INET, SOCK_STREAM, &inet, sizeof inet, &f->tcp_port);
  (void)listener(AF_INET6, SOCK_STREAM, &inet6, sizeof inet6, &f->tcp6_port);
  (void)listener(AF_INET, SOCK_DGRAM, &inet, sizeof inet, &f->udp_port);
  snprintf(f->socket_path, sizeof f->socket_path, "%s/socket", f->folder);
  snprintf(local.sun_path, sizeof local.sun_path, "%.100s", f->socket_path);
  (void)listener(AF_UNIX, SOCK_STREAM, &local, sizeof local, NULL);
}

/* Sleeps until it is no longer needed, in a user namespace of its own where that can be had. */
static int start_victim(void) {
  int ready[2];
  char byte;
  if (pipe(ready) != 0) fail("pipe");
  int victim = (int)fork();
  if (victim == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)syscall(SYS_unshare, CLONE_NEWUSER);
    if (write(ready[1], "x", 1) != 1) _exit(1);
    for (;;) pause();
  }
  close(ready[1]);
  if (victim < 0 || read(ready[0], &byte, 1) != 1) fail("fork");
  close(ready[0]);
  return victim;
}

/* What an attempt mounts is seen by nobody else. Where this is refused, so is mounting. */
static void have_own_mounts(void) {
  if (syscall(SYS_unshare, CLONE_NEWNS) == 0) (void)mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

static void set_up(tn_fixture *f, const char *self) {
  char name[64];
  const char *where = getenv("TMPDIR");
  snprintf(f->folder, sizeof f->folder, "%.200s/tern-escape-XXXXXX", where && *where ? where : "/tmp");
  if (!mkdtemp(f->folder) || chdir(f->folder) != 0) fail(f->folder);
  if (strlen(f->folder) > 250) fail("TMPDIR is too long");
  snprintf(f->secret, sizeof f->secret, "%s/secret", f->folder);
  snprintf(f->named, sizeof f->named, "%s/named", f->folder);
  snprintf(f->out, sizeof f->out, "%s/out", f->folder);
  snprintf(f->link, sizeof f->link, "%s/out/link", f->folder);
  if (mkdir(f->out, 0700) != 0 || symlink("../secret", f->link) != 0) fail(f->out);
  f->self = self;
  f->victim = start_victim();
  snprintf(name, sizeof name, "/proc/%d/ns/user", f->victim);
  f->namespace_fd = open(name, O_RDONLY);
  f->folder_fd = open(f->folder, O_RDONLY | O_DIRECTORY);
  listen_all(f);
  renew(f);
}

/* ---- one attempt ---- */

/* How the guard is entered. `hole`: a call that its filter lets through; files_open: Landlock is left out;
 * wide: the whole file system is granted for reading; parsing: the first layer alone; layers: both. */
typedef struct {
  bool guarded;
  unsigned grants;
  long hole;
  bool files_open, wide, parsing, layers;
} setting;

/* While a program is parsed a folder is read, and a further layer can be made, which only takes away. */
static bool is_granted_to_parser(const tn_attempt *attempt) {
  return strcmp(attempt->name, "read: a file in a folder that is granted") == 0 ||
         strcmp(attempt->name, "undo: landlock_create_ruleset") == 0 || attempt->needs == TN_ALWAYS;
}

static bool is_granted(const tn_attempt *attempt, const setting *s) {
  if (s->parsing) return is_granted_to_parser(attempt);
  return attempt->needs != TN_NEVER && (attempt->needs & s->grants) == attempt->needs;
}

static void enter_with_hole(const tn_guard_policy *policy, const setting *s) {
  static tn_filter real, holed;
  int version = tn_guard_landlock_version();
  tn_guard_write_filter(policy, (int)getpid(), &real);
  tn_filter_begin(&holed);
  if (s->hole >= 0) tn_filter_allow(&holed, s->hole);
  memcpy(holed.code + holed.count, real.code, real.count * sizeof *real.code);
  holed.count = (unsigned short)(holed.count + real.count);
  struct sock_fprog program = { .len = holed.count, .filter = holed.code };
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) _exit(1);
  if (!s->files_open && !tn_guard_restrict_files(policy, version)) _exit(1);
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) _exit(1);
}

/* The first of two layers, as wide as it ever is. */
static void enter_first(const tn_fixture *f) {
  tn_guard_path paths[] = { { "/", TN_GUARD_READ }, { f->out, TN_GUARD_WRITE } };
  tn_guard_policy policy = { .grants = GRANT_COUNT - 1, .paths = paths, .count = 2, .narrows = true };
  tn_guard_state state = tn_guard_enter(&policy);
  if (!state.files || !state.calls || !state.alone) _exit(1);
}

static void enter(const tn_fixture *f, const setting *s) {
  tn_guard_path paths[3] = { { f->named, TN_GUARD_NAMED } };
  tn_guard_policy policy = { .grants = s->grants, .paths = paths, .count = 1, .narrows = s->parsing };
  if (s->parsing) paths[0] = (tn_guard_path){ f->out, TN_GUARD_READ };
  if (s->grants & TN_GUARD_FILEWRITE) paths[policy.count++] = (tn_guard_path){ f->out, TN_GUARD_WRITE };
  if (s->wide) paths[policy.count++] = (tn_guard_path){ "/", TN_GUARD_READ };
  if (!s->guarded) return;
  if (s->hole >= 0 || s->files_open || s->wide) {
    enter_with_hole(&policy, s);
    return;
  }
  if (s->layers) enter_first(f);
  tn_guard_state state = s->layers ? tn_guard_narrow(&policy) : tn_guard_enter(&policy);
  if (!state.files || !state.calls || !state.alone) _exit(1);
}

/* What the loader of a program exits with when it finds no libraries: a program has been started, and the
 * filter it was born with keeps it from its libraries. */
#define NO_LIBRARIES 127

/* TN_DONE or TN_REFUSED; anything else is the child's own end. */
static int try_once(const tn_fixture *f, const tn_attempt *attempt, const setting *s) {
  int status;
  renew(f);
  fflush(NULL);
  int child = (int)fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    tn_fixture own = *f;
    own.socket_fd = socket(AF_INET, SOCK_STREAM, 0);
    enter(&own, s);
    _exit(attempt->attempt(&own) ? TN_DONE : TN_REFUSED);
  }
  while (waitpid(child, &status, 0) != child) continue;
  if (!WIFEXITED(status)) return -WTERMSIG(status);
  return WEXITSTATUS(status) == NO_LIBRARIES ? TN_DONE : WEXITSTATUS(status);
}

/* ---- all of them ---- */

typedef struct {
  int attempts, escapes, allowed, broken, ended;
} tally;

static void judge(const tn_attempt *attempt, const setting *s, int result, tally *t, bool quiet) {
  bool granted = is_granted(attempt, s), done = result == TN_DONE;
  const char *what = NULL;
  t->attempts++;
  if (!done && result != TN_REFUSED)
    t->ended++, what = "ended the process";
  else if (done && !granted)
    t->escapes++, what = "ESCAPED";
  else if (done)
    t->allowed++;
  else if (granted)
    t->broken++, what = "is granted and does not work";
  const char *where = s->parsing ? ", parsing" : s->layers ? ", both layers" : "";
  if (what && !quiet) printf("grants %u%s: %s: %s (%d)\n", s->grants, where, attempt->name, what, result);
}

static size_t run_free(const tn_fixture *f, bool *possible, bool verbose) {
  size_t count = 0;
  for (size_t i = 0; i < tn_attempt_count; i++) {
    setting s = { .hole = -1 };
    possible[i] = try_once(f, &tn_attempts[i], &s) == TN_DONE;
    count += possible[i];
    if (!possible[i] && verbose) printf("this machine refuses anyway: %s\n", tn_attempts[i].name);
  }
  return count;
}

static void run_setting(const tn_fixture *f, const bool *possible, const setting *s, tally *t) {
  for (size_t i = 0; i < tn_attempt_count; i++) {
    int result = try_once(f, &tn_attempts[i], s);
    /* What does not work without the guard either cannot be asked to work with it. */
    if (!possible[i] && result == TN_REFUSED)
      t->attempts++;
    else
      judge(&tn_attempts[i], s, result, t, false);
  }
}

static tally run_guarded(const tn_fixture *f, const bool *possible) {
  tally t = { 0 };
  for (unsigned grants = 0; grants < GRANT_COUNT; grants++)
    run_setting(f, possible, &(setting){ .guarded = true, .grants = grants, .hole = -1 }, &t);
  return t;
}

/* The first layer alone, and both with the fewest and the most grants. */
static tally run_layers(const tn_fixture *f, const bool *possible) {
  tally t = { 0 };
  run_setting(f, possible, &(setting){ .guarded = true, .hole = -1, .parsing = true }, &t);
  for (unsigned grants = 0; grants < GRANT_COUNT; grants += GRANT_COUNT - 1)
    run_setting(f, possible, &(setting){ .guarded = true, .grants = grants, .hole = -1, .layers = true }, &t);
  return t;
}

/* ---- holes ---- */

/* What is let through, and the beginning of the names of the attempts that must notice. Some things are
 * refused twice, by the filter and by Landlock; then the hole goes through both. */
typedef struct {
  const char *name, *seen_by;
  setting s;
} hole;

#define HOLE(call, seen_by)                                                                                  \
  {                                                                                                          \
#call, seen_by, { .guarded = true, .hole = SYS_##call }                                                  \
  }
#define DEEP(call, seen_by)                                                                                  \
  {                                                                                                          \
#call, seen_by, { .guarded = true, .hole = SYS_##call, .files_open = true }                              \
  }
#define WRITING(call, seen_by)                                                                               \
  {                                                                                                          \
#call, seen_by, { .guarded = true, .grants = TN_GUARD_FILEWRITE, .hole = SYS_##call }                    \
  }
static const hole holes[] = {
  { "no Landlock, reading", "read:",
    { .guarded = true, .grants = TN_GUARD_FILEREAD, .hole = -1, .files_open = true } },
  { "no Landlock, writing", "write:",
    { .guarded = true, .grants = TN_GUARD_FILEWRITE, .hole = -1, .files_open = true } },
  { "no Landlock, parsing", "read:", { .guarded = true, .hole = -1, .files_open = true, .parsing = true } },
  { "a rule for /", "read:", { .guarded = true, .hole = -1, .wide = true } },
  { "a rule for /, parsing", "read:", { .guarded = true, .hole = -1, .wide = true, .parsing = true } },
  WRITING(openat, "write: O_CREAT with set-user-ID"),
  WRITING(openat, "write: O_CREAT with set-group-ID"),
  WRITING(fchmod, "write: fchmod set-user-ID"),
  WRITING(fchmod, "write: fchmod set-group-ID"),
  WRITING(fchmod, "write: fchmod sticky"),
  { "seccomp, parsing", "undo: a filter with a listener",
    { .guarded = true, .hole = SYS_seccomp, .parsing = true } },
  { "execve, parsing", "execute: execve",
    { .guarded = true, .hole = SYS_execve, .files_open = true, .parsing = true } },
  { "socket, parsing", "socket: netlink", { .guarded = true, .hole = SYS_socket, .parsing = true } },
  DEEP(execve, "execute: execve"),
  DEEP(execveat, "execute: execveat"),
  HOLE(memfd_create, "execute: memfd_create"),
  HOLE(mprotect, "execute: mprotect"),
  HOLE(mmap, "execute: mmap"),
  HOLE(pkey_mprotect, "execute: pkey_mprotect"),
  HOLE(personality, "execute: personality"),
  HOLE(shmget, "process: shmget"),
  HOLE(semget, "process: semget"),
  HOLE(msgget, "process: msgget"),
  HOLE(ptrace, "process: ptrace"),
  DEEP(process_vm_readv, "process: process_vm_readv"),
  DEEP(process_vm_writev, "process: process_vm_writev"),
  DEEP(kill, "process: kill"),
  DEEP(tkill, "process: tkill"),
  DEEP(tgkill, "process: tgkill"),
  DEEP(rt_sigqueueinfo, "process: rt_sigqueueinfo"),
  { "pidfd_open", "process: pidfd_open", { .guarded = true, .hole = 434 } },
  HOLE(fcntl, "process: fcntl"),
  DEEP(kcmp, "process: kcmp"),
  HOLE(sched_setaffinity, "process: sched_setaffinity"),
  HOLE(setpriority, "process: setpriority"),
  HOLE(prlimit64, "process: prlimit64"),
  HOLE(clone, "process: clone"),
  HOLE(clone3, "process: clone3"),
  HOLE(clone, "namespace: clone"),
  HOLE(clone3, "namespace: clone3"),
  HOLE(unshare, "namespace: unshare"),
  HOLE(setns, "namespace: setns"),
  DEEP(connect, "socket: inet, one that was made before"),
  HOLE(socket, "socket: netlink"),
  HOLE(socketpair, "socket: socketpair"),
  { "io_uring_setup", "kernel: io_uring_setup", { .guarded = true, .hole = 425 } },
  HOLE(bpf, "kernel: bpf"),
  HOLE(perf_event_open, "kernel: perf_event_open"),
  HOLE(userfaultfd, "kernel: userfaultfd"),
  HOLE(add_key, "kernel: add_key"),
  HOLE(keyctl, "kernel: keyctl"),
  DEEP(mount, "kernel: mount"),
  HOLE(ioctl, "kernel: ioctl"),
  HOLE(setrlimit, "undo: setrlimit"),
  HOLE(prctl, "undo: prctl"),
  DEEP(truncate, "write: truncate"),
  HOLE(getdents64, "read: the entries"),
};
#define HOLE_COUNT (sizeof holes / sizeof *holes)

/* Attempts that do not work on this machine anyway cannot notice anything. */
static bool can_see(const hole *h, const tn_attempt *attempt, bool possible) {
  return possible && strncmp(attempt->name, h->seen_by, strlen(h->seen_by)) == 0;
}

static int count_seen(const tn_fixture *f, const bool *possible, bool verbose, int *planted) {
  int seen = 0;
  for (size_t h = 0; h < HOLE_COUNT; h++) {
    tally t = { 0 };
    for (size_t i = 0; i < tn_attempt_count; i++) {
      if (!can_see(&holes[h], &tn_attempts[i], possible[i])) continue;
      judge(&tn_attempts[i], &holes[h].s, try_once(f, &tn_attempts[i], &holes[h].s), &t, true);
    }
    *planted += t.attempts > 0;
    seen += t.escapes > 0;
    if (t.attempts > 0 && t.escapes == 0) printf("the hole `%s` was not seen\n", holes[h].name);
    if (verbose) printf("the hole `%s` lets out %d of %d\n", holes[h].name, t.escapes, t.attempts);
  }
  return seen;
}

static bool is_bad(const tally *t) { return t->escapes || t->broken || t->ended; }

int main(int count, char **words) {
  static tn_fixture fixture;
  if (count > 1 && strcmp(words[1], "escaped") == 0) return TN_DONE;
  bool verbose = count > 1 && strcmp(words[1], "-v") == 0;
  tn_guard_support support = tn_guard_supported();
  if (support.landlock == 0 || !support.seccomp) {
    printf("this kernel has Landlock %d and seccomp %d: nothing to test\n", support.landlock,
           support.seccomp);
    return 77;
  }
  char *self = realpath("/proc/self/exe", NULL);
  bool *possible = calloc(tn_attempt_count, sizeof *possible);
  if (!self || !possible) fail("start");
  have_own_mounts();
  set_up(&fixture, self);
  size_t real = run_free(&fixture, possible, verbose);
  tally t = run_guarded(&fixture, possible);
  printf("without the guard %zu of %zu attempts work\n", real, tn_attempt_count);
  printf("guard: %d combinations of grants, %d attempts, %d escapes; %d allowed, %d granted but refused, "
         "%d ended by a signal\n",
         GRANT_COUNT, t.attempts, t.escapes, t.allowed, t.broken, t.ended);
  tally l = run_layers(&fixture, possible);
  printf("layers: the first alone, and both: %d attempts, %d escapes; %d allowed, %d granted but refused, "
         "%d ended by a signal\n",
         l.attempts, l.escapes, l.allowed, l.broken, l.ended);
  int planted = 0, seen = count_seen(&fixture, possible, verbose, &planted);
  printf("planted holes: %d, seen: %d\n", planted, seen);
  kill(fixture.victim, SIGKILL);
  clear_away(&fixture);
  free(self);
  free(possible);
  return is_bad(&t) || is_bad(&l) || seen != planted || planted == 0;
}
