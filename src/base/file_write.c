/* base/file_write.c: replaces a file atomically.
 *
 * The new contents go into a temporary file in the same folder; when they are on
 * the disk (fsync), the temporary is renamed to the file in one step, and the folder is synced too.
 * A crash before the rename leaves the old file, one after it the new file.
 *
 * The temporary has a random name and is created exclusively, so no existing file is ever written
 * to. It is locked while it is in use. A temporary without a lock was left by a killed process: the
 * next writer in the folder removes it, so that a run that is killed often does not fill its
 * folder. Only names of that exact form are considered, so no file of the user is mistaken for one.
 * If locks do not work, nothing is removed. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700   /* fdopendir */
#endif
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE 1   /* flock, getentropy */
#endif
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_internal.h"

/* WASI has no locks, no owners and no permissions. */
#if !defined(__wasi__)
#include <dirent.h>
#include <sys/file.h>
#define HAVE_LOCKS 1
#else
#define HAVE_LOCKS 0
#endif
#if defined(__APPLE__)
#include <sys/random.h>
#endif

/* In <stdio.h>, with everything else that the library does without. */
extern int renameat(int old_folder, const char *old_name, int new_folder, const char *new_name);

#define PREFIX            ".tern-"
#define SUFFIX            ".tmp"
#define RANDOM_DIGITS     16
#define MOST_ATTEMPTS     100    /* attempts to find a free name */
#define MOST_LOOKED_AT    1024   /* folder entries that are searched for leftovers */
#define BUFFER_BYTES      ((size_t)64 << 10)

_Static_assert(sizeof PREFIX + sizeof SUFFIX + RANDOM_DIGITS <= sizeof((tn_file_writer *)0)->temporary,
               "a temporary's name has room");

static tn_file_status fail(tn_file_writer *writer, int error) {
  if (writer->status == TN_FILE_OK) writer->status = tn_file_status_of(error);
  return writer->status;
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

/* Whether the name still refers to the open file: between open and lock another process may have
 * removed it. */
static bool still_named(int descriptor, int folder, const char *name) {
  struct stat open_file, named;
  return fstat(descriptor, &open_file) == 0 &&
         fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(named.st_mode) &&
         open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino;
}

/* Random, so that nobody can create the name beforehand. Without entropy, O_EXCL alone protects. */
static uint64_t random_bits(const void *salt) {
  uint64_t bits;
  if (getentropy(&bits, sizeof bits) == 0) return bits;
  uint64_t ticks = (uint64_t)(tn_clock_steady() * 1e9);
  return (ticks ^ (uint64_t)(uintptr_t)salt) * 0x9e3779b97f4a7c15u;
}

static void name_temporary(tn_file_writer *writer) {
  uint64_t bits = random_bits(writer);
  char *at = writer->temporary;
  memcpy(at, PREFIX, sizeof PREFIX - 1);
  at += sizeof PREFIX - 1;
  for (int i = 0; i < RANDOM_DIGITS; i++, bits >>= 4) *at++ = "0123456789abcdef"[bits & 15];
  memcpy(at, SUFFIX, sizeof SUFFIX);
}

/* Creates and claims a temporary with a new name. EEXIST: it is taken, or was taken away. */
static int claim_temporary(tn_file_writer *writer) {
  const tn_file_target *target = &writer->target;
  name_temporary(writer);
  int descriptor = tn_file_open(target->folder, writer->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
                                target->exists ? target->mode : 0666, writer->faults);
  if (descriptor < 0) return -1;
  if (lock(descriptor) != LOCK_BUSY && still_named(descriptor, target->folder, writer->temporary))
    return descriptor;
  (void)close(descriptor);   /* another process removed it as a leftover; the name is not ours any more */
  errno = EEXIST;
  return -1;
}

static int open_temporary(tn_file_writer *writer) {
  for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    int descriptor = claim_temporary(writer);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
  return -1;
}

/* ---- leftovers ---- */

bool tn_file_is_temporary(const char *name) {
  if (strncmp(name, PREFIX, sizeof PREFIX - 1) != 0) return false;
  name += sizeof PREFIX - 1;
  return strspn(name, "0123456789abcdef") == RANDOM_DIGITS && strcmp(name + RANDOM_DIGITS, SUFFIX) == 0;
}

#if HAVE_LOCKS

/* A plain file of this user that no process has locked: holding the lock allows us to remove it. */
static bool is_abandoned(int descriptor, int folder, const char *name) {
  struct stat about;
  return fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid() &&
         lock(descriptor) == LOCK_TAKEN && still_named(descriptor, folder, name);
}

static void remove_leftover(int folder, const char *name) {
  struct stat about;
  if (fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(about.st_mode)) return;
  int descriptor = tn_file_open(folder, name, O_WRONLY | O_NOFOLLOW, 0, NULL);   /* as NFS wants for a lock */
  if (descriptor < 0) descriptor = tn_file_open(folder, name, O_RDONLY | O_NOFOLLOW, 0, NULL);
  if (descriptor < 0) return;
  if (is_abandoned(descriptor, folder, name)) (void)unlinkat(folder, name, 0);
  (void)close(descriptor);
}

void tn_file_clear(int folder) {
  int again = tn_file_open(folder, ".", O_RDONLY | O_DIRECTORY, 0, NULL);
  DIR *entries = again < 0 ? NULL : fdopendir(again);
  if (!entries) {
    if (again >= 0) (void)close(again);
    return;
  }
  for (int i = 0; i < MOST_LOOKED_AT; i++) {
    const struct dirent *entry = readdir(entries);
    if (!entry) break;
    if (tn_file_is_temporary(entry->d_name)) remove_leftover(folder, entry->d_name);
  }
  (void)closedir(entries);
}
#else
void tn_file_clear(int folder) { (void)folder; }
#endif

void tn_file_clear_leftovers(const char *path) {
  int folder = tn_file_open_folder(path, NULL);
  if (folder < 0) return;
  tn_file_clear(folder);
  (void)close(folder);
}

/* ---- beginning ---- */

/* Releases everything but the status. */
static void release(tn_file_writer *writer) {
  if (writer->descriptor >= 0) (void)close(writer->descriptor);
  tn_file_forget(&writer->target);
  tn_heap_free(writer->heap, writer->buffer, BUFFER_BYTES);
  writer->descriptor = -1;
  writer->buffer = NULL;
  writer->temporary[0] = 0;
}

/* Sets the permissions despite umask. */
static bool open_writer(tn_file_writer *writer) {
  writer->descriptor = open_temporary(writer);
  if (writer->descriptor < 0) return false;
#if HAVE_LOCKS
  if (writer->target.exists) (void)fchmod(writer->descriptor, (mode_t)writer->target.mode);
#endif
  return true;
}

tn_file_status tn_file_begin_at(tn_file_writer *writer, tn_heap *heap, tn_file_target *target_take,
                                tn_file_faults *faults) {
  *writer = (tn_file_writer){ .heap = heap, .faults = faults, .descriptor = -1, .target = *target_take };
  *target_take = (tn_file_target){ .folder = -1 };
  writer->buffer = tn_heap_alloc(heap, BUFFER_BYTES);
  if (!writer->buffer) fail(writer, ENOMEM);
  else if (!open_writer(writer)) fail(writer, errno);
  if (writer->status != TN_FILE_OK) release(writer);
  return writer->status;
}

tn_file_status tn_file_begin(tn_file_writer *writer, tn_heap *heap, const char *path,
                             tn_file_faults *faults) {
  tn_file_target target;
  tn_file_status status = tn_file_find(&target, path, faults);
  if (status == TN_FILE_OK) return tn_file_begin_at(writer, heap, &target, faults);
  tn_file_forget(&target);
  *writer = (tn_file_writer){ .heap = heap, .descriptor = -1, .target = target, .status = status };
  return status;
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

int tn_file_sync(int descriptor, tn_file_faults *faults) {
  bool failed = tn_file_fault(faults, TN_FILE_CALL_SYNC) || fsync(descriptor) != 0;
  bool nothing = failed && (errno == EINVAL || errno == ENOTSUP || errno == ENOSYS || errno == EBADF);
  return failed && !nothing ? errno : 0;
}

static void sync_open(tn_file_writer *writer, int descriptor) {
  int error = writer->status == TN_FILE_OK ? tn_file_sync(descriptor, writer->faults) : 0;
  if (error) fail(writer, error);
}

/* The rename happens while the file is still locked. */
static void take_name(tn_file_writer *writer) {
  int folder = writer->target.folder;
  if (writer->status == TN_FILE_OK) {
    bool failed = tn_file_fault(writer->faults, TN_FILE_CALL_RENAME);
    if (failed || renameat(folder, writer->temporary, folder, writer->target.name) != 0) fail(writer, errno);
  }
  if (writer->status != TN_FILE_OK) (void)unlinkat(folder, writer->temporary, 0);
}

/* To the beginning or the end of the file. The function, not the macro that WASI has for it. */
static void seek(tn_file_writer *writer, int whence) {
  if (writer->status == TN_FILE_OK && (lseek)(writer->descriptor, 0, whence) < 0) fail(writer, errno);
}

tn_file_status tn_file_rewrite(tn_file_writer *writer, const void *data, size_t bytes) {
  flush(writer);
  seek(writer, SEEK_SET);
  if (writer->status == TN_FILE_OK) write_all(writer, data, bytes);
  seek(writer, SEEK_END);
  return writer->status;
}

tn_file_status tn_file_commit(tn_file_writer *writer) {
  flush(writer);
  sync_open(writer, writer->descriptor);   /* reports any error that close could report */
  take_name(writer);
  sync_open(writer, writer->target.folder);
  release(writer);
  return writer->status;
}

void tn_file_abandon(tn_file_writer *writer) {
  if (writer->temporary[0]) (void)unlinkat(writer->target.folder, writer->temporary, 0);
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
