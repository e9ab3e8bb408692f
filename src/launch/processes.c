/* launch/processes.c: rank 0 starts, watches and ends the other ranks of --ranks.
 *
 * Each is this same program with the same arguments. It inherits one socket, to rank 0, and no
 * other descriptor; over it rank 0 sends its number and a socket to every other rank. No name in
 * the file system or on the network is used, so nobody else can connect.
 *
 * A rank gets a signal when rank 0 dies (join.c); rank 0 gets SIGCHLD, and passes it on, so that no
 * rank finishes a long computation first. At the end rank 0 waits for all of them, and kills those
 * that remain. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* environ, pidfd */
#endif
#include "launch/internal.h"

#if defined(__linux__)
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "api/door.h"
#include "base/clock.h"
#include "cluster/window.h"

#define TICK      2000000 /* nanoseconds between two looks at processes that end */
#define AFTERMATH 0.5     /* seconds: a broken connection comes before the process can be waited for */

/* ---- starting ---- */

/* The environment with the variable that makes a process a rank. */
static char **environment_of(tn_heap *heap, size_t *count) {
  static char variable[] = TN_LAUNCH_VARIABLE "=3";
  _Static_assert(TN_LAUNCH_DESCRIPTOR == 3, "the variable names the descriptor");
  for (*count = 0; environ[*count]; ++*count) continue;
  char **all = tn_heap_alloc(heap, (*count + 2) * sizeof *all);
  if (!all) return NULL;
  memcpy(all, environ, *count * sizeof *all);
  all[*count] = variable;
  return all;
}

/* Signals as a program finds them, standard input empty, the socket at its place. */
static int spawn(int socket, char **words, char **environment, pid_t *id) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t usual;
  if (posix_spawn_file_actions_init(&actions) != 0) return ENOMEM;
  if (posix_spawnattr_init(&attributes) != 0) {
    posix_spawn_file_actions_destroy(&actions);
    return ENOMEM;
  }
  sigfillset(&usual);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  int problem = posix_spawn_file_actions_adddup2(&actions, socket, TN_LAUNCH_DESCRIPTOR);
  if (problem == 0) problem = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  if (problem == 0) problem = posix_spawn(id, "/proc/self/exe", &actions, &attributes, words, environment);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return problem;
}

static int handle_of(pid_t id) {
#ifdef SYS_pidfd_open
  return (int)syscall(SYS_pidfd_open, id, 0);
#else
  (void)id;
  return -1;
#endif
}

static bool start_one(tn_launch *launch, int rank, int *sockets, char **words, char **environment) {
  int ends[2];
  pid_t id;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return tn_launch_report(launch->session, "no socket for a rank", errno);
  sockets[rank] = ends[0];
  int problem = spawn(ends[1], words, environment, &id);
  (void)close(ends[1]);
  if (problem != 0) return tn_launch_report(launch->session, "no process for a rank", problem);
  launch->children[rank] = (tn_child){ .id = (int)id, .handle = handle_of(id) };
  return true;
}

/* ---- connecting ---- */

static bool introduce(int *sockets, int first, int second) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return false;
  bool ok = tn_launch_send(sockets[first], second, ends[0]);
  ok = ok && tn_launch_send(sockets[second], first, ends[1]);
  int problem = errno;
  (void)close(ends[0]);
  (void)close(ends[1]);
  errno = problem;
  return ok;
}

/* Every rank gets its number and the number of ranks, the shared memory, if there is any, and then
 * a socket for each of the others. */
static bool connect_all(tn_launch *launch, int *sockets, int window) {
  bool ok = true;
  for (int i = 1; i < launch->count && ok; i++)
    ok = tn_launch_send(sockets[i], i, -1) && tn_launch_send(sockets[i], launch->count, window);
  for (int i = 1; i < launch->count && ok; i++) {
    for (int j = 1; j < i && ok; j++) ok = introduce(sockets, i, j);
  }
  return ok || tn_launch_report(launch->session, "a rank did not connect", errno);
}

/* ---- ends of processes ---- */

static void look_at(tn_child *child) {
  int status;
  while (child->id != 0 && waitpid(child->id, &status, WNOHANG | WUNTRACED | WCONTINUED) == child->id) {
    child->stopped = WIFSTOPPED(status);
    if (WIFSTOPPED(status) || WIFCONTINUED(status)) continue;
    child->id = 0;
    child->status = status;
  }
}

static int find_stopped(void *context) {
  const tn_launch *launch = context;
  for (int i = 1; i < launch->count; i++) {
    tn_child *child = &launch->children[i];
    look_at(child);
    child->looks = child->stopped ? child->looks + 1 : 0;
    if (child->looks >= TN_STOPPED_LOOKS) return i;
  }
  return -1;
}

static void rest(void) { (void)nanosleep(&(struct timespec){ .tv_nsec = TICK }, NULL); }

/* "it was killed by signal 9 (SIGKILL)" */
static void say_end(int status, tn_heap *heap, char *reason) {
  tn_text text;
  bool killed = WIFSIGNALED(status);
  tn_text_init(&text, heap);
  tn_text_puts(&text, killed ? "it was killed by signal " : "it ended with status ");
  tn_text_int(&text, killed ? WTERMSIG(status) : WEXITSTATUS(status));
  if (killed && WTERMSIG(status) == SIGKILL) tn_text_puts(&text, " (SIGKILL)");
  if (!text.failed) memcpy(reason, text.at, text.len + 1);
  tn_text_free(&text);
}

static bool explain(void *context, int rank, char *reason) {
  const tn_launch *launch = context;
  tn_child *child = &launch->children[rank];
  double end = tn_clock_steady() + AFTERMATH;
  for (look_at(child); child->id != 0 && tn_clock_steady() < end; look_at(child)) rest();
  if (child->id != 0) return false;
  say_end(child->status, tn_api_heap(launch->session), reason);
  return true;
}

static bool is_anyone_left(tn_launch *launch) {
  bool left = false;
  for (int i = 1; i < launch->count; i++) {
    look_at(&launch->children[i]);
    left = left || launch->children[i].id != 0;
  }
  return left;
}

/* To those that have not ended; the sandbox lets two signals through. */
static void send_all(const tn_launch *launch, int number) {
#ifdef SYS_pidfd_send_signal
  for (int i = 1; i < launch->count; i++) {
    const tn_child *child = &launch->children[i];
    if (child->id != 0 && child->handle >= 0)
      (void)syscall(SYS_pidfd_send_signal, child->handle, number, NULL, 0);
  }
#else
  (void)launch, (void)number;
#endif
}

void tn_launch_reap(tn_launch *launch, double seconds) {
  double end = tn_clock_steady() + seconds;
  while (is_anyone_left(launch) && tn_clock_steady() < end) rest();
  send_all(launch, SIGKILL);
  for (end = tn_clock_steady() + seconds; is_anyone_left(launch) && tn_clock_steady() < end;) rest();
  for (int i = 1; i < launch->count; i++) {
    if (launch->children[i].handle >= 0) (void)close(launch->children[i].handle);
  }
}

/* A rank that ends by itself has told the others why. If they have the same problem, for example an
 * error in the program, rank 0 is not interrupted and reports its own. If a rank is killed, each of
 * the others notices on its own sockets. */
bool tn_launch_is_loss(const tn_launch *launch, int code) {
  bool lost = code != CLD_EXITED;
  if (lost) send_all(launch, SIGUSR1);
  return lost;
}

/* ---- all of it ---- */

static bool start_all(tn_launch *launch, int *sockets, int window, char **words) {
  tn_heap *heap = tn_api_heap(launch->session);
  size_t count;
  char **environment = environment_of(heap, &count);
  if (!environment) return tn_launch_report(launch->session, "out of memory", 0);
  bool ok = true;
  for (int i = 1; i < launch->count && ok; i++) ok = start_one(launch, i, sockets, words, environment);
  tn_heap_free(heap, environment, (count + 2) * sizeof *environment);
  return ok && connect_all(launch, sockets, window);
}

bool tn_launch_start(tn_launch *launch, char **words) {
  int sockets[TN_LAUNCH_MOST], window;
  char host[TN_HOST_BYTES];
  tn_heap *heap = tn_api_heap(launch->session);
  tn_sockets_witness witness = { launch, explain, find_stopped };
  for (int i = 0; i < launch->count; i++) sockets[i] = -1;
  launch->children = tn_heap_alloc(heap, (size_t)launch->count * sizeof *launch->children);
  if (!launch->children) return tn_launch_report(launch->session, "out of memory", 0);
  window = tn_window_new();
  bool ok = start_all(launch, sockets, window, words);
  if (ok) launch->transport = tn_sockets_new(heap, 0, launch->count, sockets, tn_launch_host(host), &witness);
  if (launch->transport) return tn_launch_share(launch, window);
  if (window >= 0) (void)close(window);
  for (int i = 0; i < launch->count; i++) {
    if (sockets[i] >= 0) (void)close(sockets[i]);
  }
  return ok && tn_launch_report(launch->session, "out of memory", 0);
}
#endif
