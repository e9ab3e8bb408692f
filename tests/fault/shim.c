/* tests/fault/shim.c: goes between a program and the C library (LD_PRELOAD) and spoils its writing.
 *
 * TERN_SHIM in the environment says how, for files below a folder:
 *
 *   fail KIND N FOLDER   the N-th call of KIND (open, write, sync, rename, cut) fails with ENOSPC; the N-th
 *                        write first puts half of its bytes where they belong, as a full disk does
 *   naive FOLDER         files are not replaced but overwritten: what a program would do that opens the
 *                        file itself, truncates it and writes
 *   stall FOLDER         a sync never returns, whatever signals are caught, as on a disk that is gone
 *
 * When the call came that was to fail or stall, a file named "failed" beside FOLDER says so. */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef enum { OPEN, WRITE, SYNC, RENAME, CUT, KINDS } kind;

static struct {
  bool ready, naive, stalls;
  char folder[1024];
  size_t length;
  int fail_kind;
  long fail_at, calls[KINDS];
  bool half_written; /* the next write fails */
  bool ours[1024];   /* descriptors of the folder and of files below it */
} shim = { .fail_kind = -1 };

#define REAL(name, type) type name = (type)(uintptr_t)dlsym(RTLD_NEXT, &#name[sizeof "real_" - 1])

static void prepare(void) {
  static const char *const names[KINDS] = { "open", "write", "sync", "rename", "cut" };
  char word[16] = "";
  const char *wanted = getenv("TERN_SHIM");
  if (shim.ready) return;
  shim.ready = true;
  if (!wanted) return;
  if (sscanf(wanted, "fail %15s %ld %1023s", word, &shim.fail_at, shim.folder) == 3) {
    for (int i = 0; i < KINDS; i++)
      if (strcmp(word, names[i]) == 0) shim.fail_kind = i;
  } else if (sscanf(wanted, "naive %1023s", shim.folder) == 1) {
    shim.naive = true;
  } else if (sscanf(wanted, "stall %1023s", shim.folder) == 1) {
    shim.stalls = true;
  }
  shim.length = strlen(shim.folder);
}

/* The folder itself, or what is below it. */
static bool is_ours(const char *path) {
  prepare();
  return shim.length > 0 && strncmp(path, shim.folder, shim.length) == 0 &&
         (path[shim.length] == '/' || path[shim.length] == 0);
}

static bool descriptor_is_ours(int descriptor) {
  return descriptor >= 0 && descriptor < 1024 && shim.ours[descriptor];
}

/* The path as openat and its relatives take it. */
static bool names_ours(int folder, const char *path) {
  return *path == '/' || folder == AT_FDCWD ? is_ours(path) : descriptor_is_ours(folder);
}

static void leave_mark(void) {
  char mark[1100];
  typedef int (*opener)(const char *, int, ...);
  REAL(real_open, opener);
  snprintf(mark, sizeof mark, "%s.failed", shim.folder);
  int descriptor = real_open(mark, O_CREAT | O_WRONLY, 0666);
  if (descriptor >= 0) close(descriptor);
}

/* Whether this is the call that fails. */
static bool fails(kind which) {
  if (++shim.calls[which] != shim.fail_at || (int)which != shim.fail_kind) return false;
  leave_mark();
  errno = ENOSPC;
  return true;
}

int openat(int folder, const char *path, int flags, ...) {
  typedef int (*opener)(int, const char *, int, ...);
  REAL(real_openat, opener);
  va_list list;
  va_start(list, flags);
  int mode = flags & O_CREAT ? va_arg(list, int) : 0;
  va_end(list);
  bool ours = names_ours(folder, path), writes = (flags & O_ACCMODE) != O_RDONLY;
  if (ours && writes && fails(OPEN)) return -1;
  int descriptor = real_openat(folder, path, flags, mode);
  if (descriptor >= 0 && descriptor < 1024) shim.ours[descriptor] = ours;
  return descriptor;
}

/* The n-th write puts half of its bytes there; the one after it fails. */
static bool spoil_write(size_t *bytes) {
  if (shim.half_written) {
    shim.half_written = false;
    errno = ENOSPC;
    return true;
  }
  if (!fails(WRITE)) return false;
  if (*bytes < 2) return true;
  *bytes /= 2;
  shim.half_written = true;
  return false;
}

ssize_t write(int descriptor, const void *data, size_t bytes) {
  typedef ssize_t (*writer)(int, const void *, size_t);
  REAL(real_write, writer);
  if (descriptor_is_ours(descriptor) && spoil_write(&bytes)) return -1;
  return real_write(descriptor, data, bytes);
}

ssize_t pwrite(int descriptor, const void *data, size_t bytes, off_t at) {
  typedef ssize_t (*writer)(int, const void *, size_t, off_t);
  REAL(real_pwrite, writer);
  if (descriptor_is_ours(descriptor) && spoil_write(&bytes)) return -1;
  return real_pwrite(descriptor, data, bytes, at);
}

int fsync(int descriptor) {
  typedef int (*syncer)(int);
  REAL(real_fsync, syncer);
  if (descriptor_is_ours(descriptor) && shim.stalls)
    for (leave_mark();;) pause();
  if (descriptor_is_ours(descriptor) && fails(SYNC)) return -1;
  return real_fsync(descriptor);
}

int ftruncate(int descriptor, off_t length) {
  typedef int (*cutter)(int, off_t);
  REAL(real_ftruncate, cutter);
  if (descriptor_is_ours(descriptor) && fails(CUT)) return -1;
  return real_ftruncate(descriptor, length);
}

/* A naive writer, slow enough to be interrupted between two of its pieces. */
static int overwrite_in_place(int folder, const char *from, const char *to) {
  typedef int (*opener)(int, const char *, int, ...);
  REAL(real_openat, opener);
  typedef ssize_t (*writer)(int, const void *, size_t);
  REAL(real_write, writer);
  char piece[4096];
  int in = real_openat(folder, from, O_RDONLY);
  int out = real_openat(folder, to, O_CREAT | O_WRONLY | O_TRUNC, 0666);
  for (ssize_t got; (got = read(in, piece, sizeof piece)) > 0; usleep(100))
    if (real_write(out, piece, (size_t)got) != got) break;
  close(in), close(out);
  return unlinkat(folder, from, 0);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
  typedef int (*renamer)(int, const char *, int, const char *);
  REAL(real_renameat, renamer);
  bool ours = names_ours(to_folder, to);
  if (ours && fails(RENAME)) return -1;
  if (ours && shim.naive) return overwrite_in_place(to_folder, from, to);
  return real_renameat(from_folder, from, to_folder, to);
}
