/* base/file_open.c: opens plain files, and refuses everything else.
 *
 * A FIFO, a device or a socket could block the process forever, or have side effects when it is
 * opened. So a path is examined first, opened without blocking, and examined again once it is open,
 * because it may have been replaced in between.
 *
 * Imports are opened beneath the program's folder: no link is followed, and no step leads upwards.
 * Linux does that in one call (openat2); if it is missing, or a filter refuses it, the path is
 * walked folder by folder, with the same result. A path that was resolved to see where it leads is
 * opened beneath the root in the same way, so the file that was checked is the file that is opened. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1   /* O_PATH */
#endif
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif

#include "base/file_internal.h"

#define LARGEST_PART ((size_t)1 << 30)   /* more in one call is not portable */

/* A folder that is only passed through. */
#ifdef O_PATH
#define PASS_THROUGH O_PATH
#else
#define PASS_THROUGH O_RDONLY
#endif

const char *tn_file_status_text(tn_file_status status) {
  switch (status) {
    case TN_FILE_OK: return "ok";
    case TN_FILE_NOT_FOUND: return "no such file";
    case TN_FILE_IS_DIRECTORY: return "it is a folder";
    case TN_FILE_NOT_DIRECTORY: return "a part of the path is not a folder";
    case TN_FILE_NOT_PLAIN: return "it is not a plain file";
    case TN_FILE_LINK: return "it is a symbolic link";
    case TN_FILE_LINK_OUT: return "it is a symbolic link that leads out of its folder";
    case TN_FILE_PERMISSION: return "permission denied";
    case TN_FILE_TOO_LARGE: return "the file is too large";
    case TN_FILE_NO_SPACE: return "no space left";
    case TN_FILE_OVER_LIMIT: return "it would be larger than this process may write (ulimit -f)";
    case TN_FILE_NO_MEMORY: return "out of memory";
    case TN_FILE_IO: break;
  }
  return "input/output error";
}

const char *tn_file_status_word(tn_file_status status) {
  switch (status) {
    case TN_FILE_NOT_FOUND: return "not_found";
    case TN_FILE_IS_DIRECTORY: return "is_a_directory";
    case TN_FILE_NOT_PLAIN: return "not_a_plain_file";
    case TN_FILE_LINK: return "symbolic_link";
    case TN_FILE_PERMISSION: return "permission_denied";
    case TN_FILE_TOO_LARGE: return "too_large";
    case TN_FILE_NO_MEMORY: return "out_of_memory";
    default: return "io_error";
  }
}

tn_file_status tn_file_status_of(int error) {
  switch (error) {
    case 0: return TN_FILE_OK;
    case ENOENT: return TN_FILE_NOT_FOUND;
    case EISDIR: return TN_FILE_IS_DIRECTORY;
    case ENOTDIR: return TN_FILE_NOT_DIRECTORY;
    case ENXIO: return TN_FILE_NOT_PLAIN;   /* a socket, or a FIFO that nobody reads */
    case EACCES: case EPERM: case EROFS: return TN_FILE_PERMISSION;
    case ENOSPC: case EDQUOT: return TN_FILE_NO_SPACE;
    case EFBIG: return TN_FILE_OVER_LIMIT;
    case ENOMEM: return TN_FILE_NO_MEMORY;
    default: return TN_FILE_IO;
  }
}

bool tn_file_fault(tn_file_faults *faults, tn_file_call call) {
  if (!faults || ++faults->calls[call] != faults->fail_at[call]) return false;
  errno = faults->error ? faults->error : EIO;
  return true;
}

size_t tn_file_bounded(const tn_file_faults *faults, size_t bytes) {
  if (bytes > LARGEST_PART) bytes = LARGEST_PART;
  return faults && faults->most_bytes && bytes > faults->most_bytes ? faults->most_bytes : bytes;
}

int tn_file_open(int folder, const char *path, int flags, unsigned mode, tn_file_faults *faults) {
  if (tn_file_fault(faults, TN_FILE_CALL_OPEN)) return -1;
  for (;;) {
    int descriptor = openat(folder, path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, mode);
    if (descriptor >= 0 || errno != EINTR) return descriptor;
  }
}

int tn_file_open_folder(const char *path, tn_file_faults *faults) {
  int folder = tn_file_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0, faults);
  if (folder >= 0 || errno != EACCES) return folder;
  return tn_file_open(AT_FDCWD, path, PASS_THROUGH | O_DIRECTORY, 0, faults);
}

tn_file_status tn_file_kind(const struct stat *about) {
  if (S_ISDIR(about->st_mode)) return TN_FILE_IS_DIRECTORY;
  return S_ISREG(about->st_mode) ? TN_FILE_OK : TN_FILE_NOT_PLAIN;
}

tn_file_status tn_file_look(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 ? tn_file_kind(&about) : tn_file_status_of(errno);
}

/* Examines the open file and makes it blocking again. Closes it if it is not plain. */
static tn_file_status accept_plain(int *descriptor) {
  struct stat about;
  tn_file_status status = fstat(*descriptor, &about) == 0 ? tn_file_kind(&about) : tn_file_status_of(errno);
  int flags = status == TN_FILE_OK ? fcntl(*descriptor, F_GETFL) : -1;
  if (flags >= 0) (void)fcntl(*descriptor, F_SETFL, flags & ~O_NONBLOCK);
  if (status == TN_FILE_OK) return TN_FILE_OK;
  (void)close(*descriptor);
  *descriptor = -1;
  return status;
}

tn_file_status tn_file_open_plain(const char *path, tn_file_faults *faults, int *descriptor) {
  *descriptor = -1;
  tn_file_status status = tn_file_look(path);
  if (status == TN_FILE_IS_DIRECTORY || status == TN_FILE_NOT_PLAIN) return status;
  *descriptor = tn_file_open(AT_FDCWD, path, O_RDONLY, 0, faults);
  return *descriptor < 0 ? tn_file_status_of(errno) : accept_plain(descriptor);
}

/* ---- beneath a folder ---- */

/* Relative, and every part of it a name. */
static bool leads_down(const char *path) {
  do {
    size_t length = strcspn(path, "/");
    if (length == 0 || (path[0] == '.' && (length == 1 || (length == 2 && path[1] == '.')))) return false;
    path += length;
  } while (*path++ == '/');
  return true;
}

/* Why `name` could not be opened: a link is reported as such. */
static tn_file_status why_not(int folder, const char *name) {
  struct stat about;
  tn_file_status status = tn_file_status_of(errno);
  bool link = fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(about.st_mode);
  return link ? TN_FILE_LINK : status;
}

static bool copy_name(char name[TN_FILE_NAME_BYTES], const char *from, size_t length) {
  if (length >= TN_FILE_NAME_BYTES) return false;
  memcpy(name, from, length);
  name[length] = 0;
  return true;
}

static int enter_folder(int at, const char *part, size_t length, tn_file_faults *faults,
                        tn_file_status *status) {
  char name[TN_FILE_NAME_BYTES];
  if (!copy_name(name, part, length)) {
    *status = TN_FILE_NOT_FOUND;
    return -1;
  }
  int folder = tn_file_open(at, name, PASS_THROUGH | O_DIRECTORY | O_NOFOLLOW, 0, faults);
  if (folder < 0) *status = why_not(at, name);
  return folder;
}

int tn_file_walk(int root, const char *path, size_t length, tn_file_faults *faults, tn_file_status *status) {
  int at = root;
  for (size_t start = 0; start < length && at >= 0;) {
    size_t part = 0;
    while (start + part < length && path[start + part] != '/') part++;
    int next = enter_folder(at, path + start, part, faults, status);
    if (at != root) (void)close(at);
    at = next;
    start += part + 1;
  }
  return at;
}

#if defined(__linux__)
/* The kernel's own resolution; -1 with errno. The numbers are the same on every processor. */
static int open_in_kernel(int root, const char *path, tn_file_faults *faults) {
  enum { CALL_OPENAT2 = 437, NO_MAGIC_LINKS = 2, NO_LINKS = 4, BENEATH = 8 };
  struct {
    uint64_t flags, mode, resolve;
  } how = { .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW,
            .resolve = NO_MAGIC_LINKS | NO_LINKS | BENEATH };
  if (faults && faults->no_openat2) return errno = ENOSYS, -1;
  return (int)syscall(CALL_OPENAT2, root, path, &how, sizeof how);
}
#else
static int open_in_kernel(int root, const char *path, tn_file_faults *faults) {
  (void)root, (void)path, (void)faults;
  return errno = ENOSYS, -1;
}
#endif

static tn_file_status open_by_walking(int root, const char *path, tn_file_faults *faults, int *descriptor) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  struct stat about;
  tn_file_status status = TN_FILE_OK;
  int folder = tn_file_walk(root, path, slash ? (size_t)(slash - path) : 0, faults, &status);
  if (folder < 0) return status;
  if (fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) == 0)
    status = S_ISLNK(about.st_mode) ? TN_FILE_LINK : tn_file_kind(&about);
  if (status == TN_FILE_OK) *descriptor = tn_file_open(folder, name, O_RDONLY | O_NOFOLLOW, 0, faults);
  if (status == TN_FILE_OK && *descriptor < 0) status = why_not(folder, name);
  if (folder != root) (void)close(folder);
  return status;
}

/* Whatever the kernel refuses, the walk says why. */
tn_file_status tn_file_open_beneath(const char *root, const char *path, tn_file_faults *faults,
                                    int *descriptor) {
  tn_file_status status = TN_FILE_OK;
  *descriptor = -1;
  if (!leads_down(path)) return TN_FILE_NOT_FOUND;
  int folder = tn_file_open_folder(*root ? root : ".", faults);
  if (folder < 0) return tn_file_status_of(errno);
  *descriptor = open_in_kernel(folder, path, faults);
  if (*descriptor < 0) status = open_by_walking(folder, path, faults, descriptor);
  (void)close(folder);
  return status == TN_FILE_OK ? accept_plain(descriptor) : status;
}

#if defined(__wasi__)
/* Nothing can be resolved there (file_path.c). */
tn_file_status tn_file_open_resolved(const char *path, tn_file_faults *faults, int *descriptor) {
  return tn_file_open_plain(path, faults, descriptor);
}
#else
tn_file_status tn_file_open_resolved(const char *path, tn_file_faults *faults, int *descriptor) {
  *descriptor = -1;
  return path[0] == '/' ? tn_file_open_beneath("/", path + 1, faults, descriptor) : TN_FILE_NOT_FOUND;
}
#endif
