/* tests/fault/shim.c: goes between a program and the C library (LD_PRELOAD) and spoils its writing.
 *
 * TERN_SHIM in the environment says how, for files below a folder:
 *
 *   fail KIND N FOLDER   the N-th call of KIND (open, write, sync, rename, cut) fails with ENOSPC; the N-th
 *                        write first puts half of its bytes where they belong, as a full disk does
 *   naive FOLDER         files are not replaced but overwritten: what a program would do that opens the
 *                        file itself, truncates it and writes
 *
 * When the call came that was to fail, a file named "failed" beside FOLDER says so. */
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
  bool ready, naive;
  char folder[1024];
  size_t length;
  int fail_kind;
  long fail_at, calls[KINDS];
  bool half_written; /* the next write fails */
  bool ours[1024];   /* descriptors of files below the folder */
} shim = { .fail_kind = -1 };

#define REAL(name, type) type name = (type)(uintptr_t)dlsym(RTLD_NEXT, #name + sizeof "real_" - 1)

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
  }
  shim.length = strlen(shim.folder);
}

static bool is_ours(const char *path) {
  prepare();
  return shim.length > 0 && strncmp(path, shim.folder, shim.length) == 0 && path[shim.length] == '/';
}

static bool descriptor_is_ours(int descriptor) {
  return descriptor >= 0 && descriptor < 1024 && shim.ours[descriptor];
}

/* Whether this is the call that fails. */
static bool fails(kind which) {
  if (++shim.calls[which] != shim.fail_at || (int)which != shim.fail_kind) return false;
  char mark[1100];
  typedef int (*opener)(const char *, int, ...);
  REAL(real_open, opener);
  snprintf(mark, sizeof mark, "%s.failed", shim.folder);
  int descriptor = real_open(mark, O_CREAT | O_WRONLY, 0666);
  if (descriptor >= 0) close(descriptor);
  errno = ENOSPC;
  return true;
}

/* The temporary file becomes another name of the file itself. */
static void overwrite_in_place(const char *temporary) {
  const char *suffix = strstr(temporary, ".tern-tmp");
  char path[1024];
  if (!suffix || suffix - temporary >= (long)sizeof path) return;
  snprintf(path, sizeof path, "%.*s", (int)(suffix - temporary), temporary);
  typedef int (*opener)(const char *, int, ...);
  REAL(real_open, opener);
  int descriptor = real_open(path, O_CREAT | O_WRONLY | O_TRUNC, 0666);
  if (descriptor >= 0) close(descriptor);
  (void)!link(path, temporary);
}

int open(const char *path, int flags, ...) {
  typedef int (*opener)(const char *, int, ...);
  REAL(real_open, opener);
  va_list list;
  va_start(list, flags);
  int mode = flags & O_CREAT ? va_arg(list, int) : 0;
  va_end(list);
  bool ours = is_ours(path), writes = (flags & O_ACCMODE) != O_RDONLY;
  if (ours && writes && fails(OPEN)) return -1;
  if (ours && shim.naive && flags & O_EXCL) {
    overwrite_in_place(path);
    flags &= ~O_EXCL;
  }
  int descriptor = real_open(path, flags, mode);
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

/* A naive writer that is interrupted between two of its pieces. */
static ssize_t write_slowly(int descriptor, const char *data, size_t bytes) {
  typedef ssize_t (*writer)(int, const void *, size_t);
  REAL(real_write, writer);
  size_t part = bytes < 4096 ? bytes : 4096;
  usleep(100);
  return real_write(descriptor, data, part);
}

ssize_t write(int descriptor, const void *data, size_t bytes) {
  typedef ssize_t (*writer)(int, const void *, size_t);
  REAL(real_write, writer);
  if (descriptor_is_ours(descriptor)) {
    if (shim.naive) return write_slowly(descriptor, data, bytes);
    if (spoil_write(&bytes)) return -1;
  }
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
  if (descriptor_is_ours(descriptor) && fails(SYNC)) return -1;
  return real_fsync(descriptor);
}

int ftruncate(int descriptor, off_t length) {
  typedef int (*cutter)(int, off_t);
  REAL(real_ftruncate, cutter);
  if (descriptor_is_ours(descriptor) && fails(CUT)) return -1;
  return real_ftruncate(descriptor, length);
}

int rename(const char *from, const char *to) {
  typedef int (*renamer)(const char *, const char *);
  REAL(real_rename, renamer);
  if (is_ours(to) && fails(RENAME)) return -1;
  if (is_ours(to) && shim.naive) return unlink(from);
  return real_rename(from, to);
}
