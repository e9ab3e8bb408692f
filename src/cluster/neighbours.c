/* cluster/neighbours.c: detects ranks on this machine that have ended or are stopped. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "cluster/neighbours.h"

#include <string.h>

#include "base/text.h"
#include "cluster/transport.h"

#if defined(__linux__)
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel's boot id: host names may be equal. */
static void find_machine(char *machine, size_t room) {
  int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  ssize_t length = read(file, machine, room - 1);
  machine[length > 0 ? length : 0] = 0;
  (void)close(file);
}

void tn_neighbour_address_of_this(tn_neighbour_address *address) {
  struct stat space;
  memset(address, 0, sizeof *address);
  address->process = getpid();
  if (stat("/proc/self/ns/pid", &space) != 0) return;
  address->space = (uint64_t)space.st_ino;
  find_machine(address->machine, sizeof address->machine);
}

static bool are_neighbours(const tn_neighbour_address *a, const tn_neighbour_address *b) {
  return a->machine[0] && a->space == b->space && memcmp(a->machine, b->machine, sizeof a->machine) == 0;
}

static int open_process(int64_t process) {
#ifdef SYS_pidfd_open
  return (int)syscall(SYS_pidfd_open, (pid_t)process, 0);
#else
  (void)process;
  return -1;
#endif
}

struct tn_neighbour_state {
  int file;  /* /proc/PID/stat; -1: none */
  int looks; /* at it, in which it was stopped */
};

static int open_state(tn_heap *heap, int64_t process) {
  tn_text path;
  tn_text_init(&path, heap);
  tn_text_puts(&path, "/proc/");
  tn_text_int(&path, process);
  tn_text_puts(&path, "/stat");
  int file = path.failed ? -1 : open(path.at, O_RDONLY | O_CLOEXEC);
  tn_text_free(&path);
  return file;
}

bool tn_neighbours_watch(tn_neighbours *n, tn_heap *heap, const tn_neighbour_address *ranks, int count,
                         int own) {
  n->count = count;
  n->polled = tn_heap_alloc(heap, (size_t)count * sizeof *n->polled);
  n->states = tn_heap_alloc(heap, (size_t)count * sizeof *n->states);
  bool ok = n->polled && n->states;
  for (int i = 0; i < count && ok; i++) {
    bool watched = i != own && are_neighbours(&ranks[i], &ranks[own]);
    n->polled[i] = (struct pollfd){ .fd = watched ? open_process(ranks[i].process) : -1, .events = POLLIN };
    n->states[i].file = watched && i > 0 ? open_state(heap, ranks[i].process) : -1;
  }
  if (!ok) tn_neighbours_free(n, heap);
  return ok;
}

static void close_one(int descriptor) {
  if (descriptor >= 0) (void)close(descriptor);
}

void tn_neighbours_free(tn_neighbours *n, tn_heap *heap) {
  for (int i = 0; i < n->count && n->polled && n->states; i++) {
    close_one(n->polled[i].fd);
    close_one(n->states[i].file);
  }
  tn_heap_free(heap, n->polled, (size_t)n->count * sizeof *n->polled);
  tn_heap_free(heap, n->states, (size_t)n->count * sizeof *n->states);
  *n = (tn_neighbours){ 0 };
}

int tn_neighbours_find_lost(tn_neighbours *n) {
  if (n->count == 0 || poll(n->polled, (nfds_t)n->count, 0) <= 0) return -1;
  for (int i = 0; i < n->count; i++)
    if (n->polled[i].revents & (POLLIN | POLLHUP)) return i;
  return -1;
}

/* "4711 (tern) T 1 ...": the name may hold anything, so its last bracket counts. */
static bool is_stopped(int file) {
  char line[256];
  ssize_t length = file < 0 ? -1 : pread(file, line, sizeof line - 1, 0);
  line[length > 0 ? length : 0] = 0;
  const char *end = strrchr(line, ')');
  return end && end[1] == ' ' && end[2] == 'T';
}

int tn_neighbours_find_stopped(tn_neighbours *n) {
  for (int i = 0; i < n->count; i++) {
    n->states[i].looks = is_stopped(n->states[i].file) ? n->states[i].looks + 1 : 0;
    if (n->states[i].looks >= TN_STOPPED_LOOKS) return i;
  }
  return -1;
}
#else
void tn_neighbour_address_of_this(tn_neighbour_address *address) { memset(address, 0, sizeof *address); }
bool tn_neighbours_watch(tn_neighbours *n, tn_heap *heap, const tn_neighbour_address *ranks, int count,
                         int own) {
  (void)n, (void)heap, (void)ranks, (void)count, (void)own;
  return true;
}
void tn_neighbours_free(tn_neighbours *n, tn_heap *heap) { (void)n, (void)heap; }
int tn_neighbours_find_lost(tn_neighbours *n) {
  (void)n;
  return -1;
}
int tn_neighbours_find_stopped(tn_neighbours *n) {
  (void)n;
  return -1;
}
#endif
