/* cluster/window.c: a memory file, sealed and mapped. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* memfd_create */
#endif
#include "cluster/window.h"

#if defined(__linux__)
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/machine.h"

#define PAGE ((size_t)1 << 16) /* the largest of any processor */

/* At most that part of a limit of this process. */
static size_t within(size_t bytes, int limit, size_t parts) {
  struct rlimit most;
  if (getrlimit(limit, &most) != 0) return 0;
  bool bounds = most.rlim_cur != RLIM_INFINITY && most.rlim_cur / parts < bytes;
  return bounds ? (size_t)most.rlim_cur / parts : bytes;
}

/* As much as the machine has. A file beyond the limit of files would end the process; a quarter of its
 * addresses leaves enough for everything else. */
static size_t size_of_window(void) {
  size_t bytes = tn_machine_memory();
  bytes = within(bytes, RLIMIT_FSIZE, 1);
  bytes = within(bytes, RLIMIT_AS, 4);
  return bytes / PAGE * PAGE;
}

int tn_window_new(void) {
  size_t bytes = size_of_window();
  if (bytes == 0) return -1;
  int descriptor = memfd_create("tern", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) return -1;
  if (ftruncate(descriptor, (off_t)bytes) == 0 &&
      fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
    return descriptor;
  (void)close(descriptor);
  return -1;
}

/* Without the seal another process could truncate the file, and touching the memory would end this
 * process. */
static bool is_sealed(int descriptor) {
  int seals = fcntl(descriptor, F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK) != 0;
}

bool tn_window_map(tn_window *window, int descriptor) {
  struct stat found;
  *window = (tn_window){ 0 };
  if (!is_sealed(descriptor) || fstat(descriptor, &found) != 0 || found.st_size <= 0) return false;
  size_t bytes = (size_t)found.st_size;
  void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  if (at == MAP_FAILED) return false;
  (void)madvise(at, bytes, MADV_HUGEPAGE);
  *window = (tn_window){ .at = at, .bytes = bytes };
  return true;
}

void tn_window_unmap(tn_window *window) {
  if (window->at) (void)munmap(window->at, window->bytes);
  *window = (tn_window){ 0 };
}

void *tn_window_take(tn_window *window, size_t bytes) {
  size_t rest = window->bytes - window->used;
  if (!window->at || bytes > rest) return NULL;
  char *part = window->at + window->used;
  size_t whole = bytes / PAGE * PAGE + (bytes % PAGE != 0 ? PAGE : 0);
  window->used += whole < rest ? whole : rest;
  return part;
}
#else
int tn_window_new(void) { return -1; }
bool tn_window_map(tn_window *window, int descriptor) {
  (void)descriptor;
  *window = (tn_window){ 0 };
  return false;
}
void *tn_window_take(tn_window *window, size_t bytes) {
  (void)window, (void)bytes;
  return NULL;
}
void tn_window_unmap(tn_window *window) { *window = (tn_window){ 0 }; }
#endif
