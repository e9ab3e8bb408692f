/* base/file_write.c: replacing a file, all or nothing.
 *
 * The new contents go into a temporary file in the same folder; when they are on
 * the disk (fsync) the temporary takes the file's name in one step (rename), and
 * the folder is told to remember it (fsync of the folder). A crash before the
 * rename leaves the old file, one after it the new file.
 *
 * The temporary is created exclusively, so nothing that was there before is ever
 * written to, and locked while it is in use. A temporary that nobody has locked
 * belongs to a process that was killed: the next writer removes it, so that a
 * run that dies often does not fill its folder. Where locks do not work, it
 * takes the next name instead. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700   /* realpath */
#endif
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE 1   /* flock */
#endif
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_internal.h"
#include "base/number.h"

/* WASI has neither locks nor a way to ask where a link leads; there a link is replaced like a file. */
#if !defined(__wasi__)
#include <sys/file.h>
#define HAVE_LOCKS 1
#else
#define HAVE_LOCKS 0
#define realpath(path, resolved) ((void)(resolved), (char *)NULL)
#endif

/* In <stdio.h>, with everything else that the library does without. */
extern int rename(const char *old_name, const char *new_name);

#define SUFFIX ".tern-tmp"
#define MOST_TEMPORARIES 100
#define BUFFER_BYTES ((size_t)64 << 10)

#ifdef PATH_MAX
#define LONGEST_PATH PATH_MAX
#else
#define LONGEST_PATH 4096
#endif

static tn_file_status fail(tn_file_writer *writer, int error) {
  if (writer->status == TN_FILE_OK) writer->status = tn_file_status_of(error);
  return writer->status;
}

static bool same_file(const struct stat *a, const struct stat *b) {
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* ---- the temporary file ---- */

typedef enum { LOCK_TAKEN, LOCK_BUSY, LOCK_UNKNOWN } lock_result;

static lock_result lock(int descriptor) {
#if HAVE_LOCKS
  if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) return LOCK_TAKEN;
  return errno == EWOULDBLOCK ? LOCK_BUSY : LOCK_UNKNOWN;
#else
  (void)descriptor;
  return LOCK_UNKNOWN;
#endif
}

/* Whether the open file is still the one its name stands for: between open and
 * lock another process may have cleared it away. */
static bool still_named(int descriptor, const char *name) {
  struct stat open_file, named;
  return fstat(descriptor, &open_file) == 0 && lstat(name, &named) == 0 && S_ISREG(named.st_mode) &&
         same_file(&open_file, &named);
}

/* Removes a temporary whose writer is gone. Who holds its lock owns its name. */
static bool remove_stale(const char *name) {
  int descriptor = tn_file_open(name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK, NULL);
  if (descriptor < 0) return false;
  bool removed = lock(descriptor) == LOCK_TAKEN && still_named(descriptor, name) && unlink(name) == 0;
  (void)close(descriptor);
  return removed;
}

static void name_temporary(tn_file_writer *writer, unsigned number) {
  char *end = writer->temporary + strlen(writer->path);
  memcpy(writer->temporary, writer->path, strlen(writer->path));
  memcpy(end, SUFFIX, sizeof SUFFIX - 1);
  end += sizeof SUFFIX - 1;
  if (number > 1) end += tn_number_print_u64(number, end);
  *end = 0;
}

/* Creates and claims the temporary with the writer's present name. EEXIST: taken. */
static int claim_temporary(tn_file_writer *writer) {
  int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
  int descriptor = tn_file_open(writer->temporary, flags, writer->faults);
  if (descriptor < 0 && errno == EEXIST) {
    bool removed = remove_stale(writer->temporary);
    errno = EEXIST;
    if (removed) descriptor = tn_file_open(writer->temporary, flags, writer->faults);
  }
  if (descriptor < 0) return -1;
  if (lock(descriptor) != LOCK_BUSY && still_named(descriptor, writer->temporary)) return descriptor;
  (void)close(descriptor);   /* somebody took it for stale; its name is not ours any more */
  errno = EEXIST;
  return -1;
}

static int open_temporary(tn_file_writer *writer) {
  for (unsigned number = 1; number <= MOST_TEMPORARIES; number++) {
    name_temporary(writer, number);
    int descriptor = claim_temporary(writer);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
  return -1;
}

/* ---- beginning ---- */

/* path and temporary share a block: the path, its NUL, the path again with the
 * suffix and a number. */
static bool keep_path(tn_file_writer *writer, const char *path) {
  size_t length = strlen(path), twice;
  if (!tn_size_mul(length, 2, &twice)) return false;
  if (!tn_size_add(twice, sizeof SUFFIX + TN_NUMBER_BYTES, &writer->path_bytes)) return false;
  writer->path = tn_heap_alloc(writer->heap, writer->path_bytes);
  if (!writer->path) return false;
  memcpy(writer->path, path, length);
  writer->temporary = writer->path + length + 1;
  return true;
}

/* The folder is opened before anything is written, so that its absence is known
 * early. One that may be written but not read cannot be synced; that is let pass. */
static bool open_folder(tn_file_writer *writer) {
  char *slash = strrchr(writer->path, '/'), kept = 0;
  const char *folder = ".";
  if (slash == writer->path) folder = "/";
  else if (slash) folder = writer->path, kept = *slash, *slash = 0;
  writer->folder = tn_file_open(folder, O_RDONLY | O_DIRECTORY, writer->faults);
  if (kept) *slash = kept;
  return writer->folder >= 0 || errno == EACCES;
}

static bool open_regular(tn_file_writer *writer, const struct stat *old) {
  if (!open_folder(writer)) return false;
  writer->descriptor = open_temporary(writer);
  if (writer->descriptor < 0) return false;
#if !defined(__wasi__)
  if (old) (void)fchmod(writer->descriptor, old->st_mode & 07777);
#else
  (void)old;
#endif
  return true;
}

static bool open_target(tn_file_writer *writer, const char *path) {
  struct stat about, link;
  char resolved[LONGEST_PATH];
  bool exists = stat(path, &about) == 0;
  if (!exists && errno != ENOENT) return false;
  if (exists && S_ISDIR(about.st_mode)) {
    errno = EISDIR;
    return false;
  }
  bool follow = exists && lstat(path, &link) == 0 && S_ISLNK(link.st_mode) && realpath(path, resolved);
  if (!keep_path(writer, follow ? resolved : path)) {
    errno = ENOMEM;
    return false;
  }
  writer->direct = exists && !S_ISREG(about.st_mode);
  if (!writer->direct) return open_regular(writer, exists ? &about : NULL);
  writer->descriptor = tn_file_open(writer->path, O_WRONLY, writer->faults);
  return writer->descriptor >= 0;
}

/* Releases everything but the status. */
static void release(tn_file_writer *writer) {
  if (writer->descriptor >= 0) (void)close(writer->descriptor);
  if (writer->folder >= 0) (void)close(writer->folder);
  tn_heap_free(writer->heap, writer->path, writer->path_bytes);
  tn_heap_free(writer->heap, writer->buffer, BUFFER_BYTES);
  writer->descriptor = writer->folder = -1;
  writer->path = writer->temporary = NULL;
  writer->buffer = NULL;
}

tn_file_status tn_file_begin(tn_file_writer *writer, tn_heap *heap, const char *path,
                             tn_file_faults *faults) {
  *writer = (tn_file_writer){ .heap = heap, .faults = faults, .descriptor = -1, .folder = -1 };
  writer->buffer = tn_heap_alloc(heap, BUFFER_BYTES);
  if (!writer->buffer) fail(writer, ENOMEM);
  else if (!open_target(writer, path)) fail(writer, errno);
  if (writer->status != TN_FILE_OK) release(writer);
  return writer->status;
}

/* ---- writing ---- */

static void write_all(tn_file_writer *writer, const unsigned char *from, size_t bytes) {
  while (bytes && writer->status == TN_FILE_OK) {
    size_t part = tn_file_bounded(writer->faults, bytes);
    ssize_t put = -1;
    if (!tn_file_fault(writer->faults, TN_FILE_CALL_WRITE)) put = write(writer->descriptor, from, part);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail(writer, errno);
    else from += put, bytes -= (size_t)put;
  }
}

static void flush(tn_file_writer *writer) {
  write_all(writer, writer->buffer, writer->buffered);
  writer->buffered = 0;
}

tn_file_status tn_file_write(tn_file_writer *writer, const void *data, size_t bytes) {
  if (writer->status != TN_FILE_OK || bytes == 0) return writer->status;
  if (bytes > BUFFER_BYTES - writer->buffered) flush(writer);
  if (bytes >= BUFFER_BYTES) {
    write_all(writer, data, bytes);
  } else if (writer->status == TN_FILE_OK) {
    memcpy(writer->buffer + writer->buffered, data, bytes);
    writer->buffered += bytes;
  }
  return writer->status;
}

/* ---- ending ---- */

static void sync_open(tn_file_writer *writer, int descriptor) {
  if (writer->status != TN_FILE_OK || descriptor < 0) return;
  bool failed = tn_file_fault(writer->faults, TN_FILE_CALL_SYNC) || fsync(descriptor) != 0;
  /* Some file systems have nothing to sync, folders above all. */
  if (failed && errno != EINVAL && errno != ENOTSUP && errno != ENOSYS) fail(writer, errno);
}

/* The name changes hands while the file is still locked. */
static void take_name(tn_file_writer *writer) {
  if (writer->status == TN_FILE_OK) {
    bool failed = tn_file_fault(writer->faults, TN_FILE_CALL_RENAME);
    if (failed || rename(writer->temporary, writer->path) != 0) fail(writer, errno);
  }
  if (writer->status != TN_FILE_OK) (void)unlink(writer->temporary);
}

tn_file_status tn_file_commit(tn_file_writer *writer) {
  flush(writer);
  if (writer->direct) {
    if (close(writer->descriptor) != 0 && errno != EINTR) fail(writer, errno);
    writer->descriptor = -1;
  } else {
    sync_open(writer, writer->descriptor);   /* says all that close could say */
    take_name(writer);
    sync_open(writer, writer->folder);
  }
  release(writer);
  return writer->status;
}

void tn_file_abandon(tn_file_writer *writer) {
  if (!writer->path) return;
  if (!writer->direct) (void)unlink(writer->temporary);
  release(writer);
}

tn_file_status tn_file_replace(tn_heap *heap, const char *path, tn_str contents, tn_file_faults *faults) {
  tn_file_writer writer;
  if (tn_file_begin(&writer, heap, path, faults) != TN_FILE_OK) return writer.status;
  tn_file_write(&writer, contents.at, contents.len);
  return tn_file_commit(&writer);
}

/* ---- folders ---- */

static tn_file_status make_folder(const char *path) {
  struct stat about;
  if (stat(path, &about) != 0) {
    if (mkdir(path, 0777) == 0) return TN_FILE_OK;
    int error = errno;
    if (error != EEXIST || stat(path, &about) != 0) return tn_file_status_of(error);
  }
  return S_ISDIR(about.st_mode) ? TN_FILE_OK : TN_FILE_NOT_DIRECTORY;
}

tn_file_status tn_file_make_folders(tn_heap *heap, const char *path) {
  size_t bytes = strlen(path) + 1;
  if (bytes == 1) return TN_FILE_NOT_FOUND;
  char *prefix = tn_heap_alloc(heap, bytes);
  if (!prefix) return TN_FILE_NO_MEMORY;
  memcpy(prefix, path, bytes);
  tn_file_status status = TN_FILE_OK;
  for (char *at = prefix + 1; status == TN_FILE_OK; at++) {
    char kept = *at;
    if (kept != '/' && kept != 0) continue;
    *at = 0;
    status = make_folder(prefix);
    *at = kept;
    if (kept == 0) break;
  }
  tn_heap_free(heap, prefix, bytes);
  return status;
}
