/* base/folder.c: folders as wholes.
 *
 * A folder is held by flock on a descriptor of the folder itself: no lock file is left over, and
 * there is nothing to clean up after a process that was killed. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE 1 /* flock */
#endif
#include "base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#if !defined(__wasi__)
#include <sys/file.h>
#endif

#include "base/file_internal.h"

/* ---- holding ---- */

#if defined(__wasi__)
tn_folder_status tn_folder_take(const char *path, tn_folder_hold hold, int *handle) {
  (void)path, (void)hold;
  *handle = -1;
  return TN_FOLDER_UNLOCKABLE;
}
#else
tn_folder_status tn_folder_take(const char *path, tn_folder_hold hold, int *handle) {
  *handle = tn_file_open_folder(path, NULL);
  if (*handle < 0) return TN_FOLDER_UNLOCKABLE;
  int how = (hold == TN_FOLDER_SHARED ? LOCK_SH : LOCK_EX) | LOCK_NB, result;
  do result = flock(*handle, how);
  while (result != 0 && errno == EINTR);
  if (result == 0) return TN_FOLDER_HELD;
  int problem = errno;
  tn_folder_release(handle);
  return problem == EWOULDBLOCK ? TN_FOLDER_IN_USE : TN_FOLDER_UNLOCKABLE;
}
#endif

void tn_folder_release(int *handle) {
  if (*handle >= 0) (void)close(*handle);
  *handle = -1;
}

bool tn_folder_same(const char *a, const char *b) {
  struct stat x, y;
  if (strcmp(a, b) == 0) return true;
  return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* ---- names ---- */

static int by_bytes(const void *a, const void *b) {
  return tn_str_compare(*(const tn_str *)a, *(const tn_str *)b);
}

static tn_file_status read_names(tn_heap *heap, DIR *folder, size_t most, tn_arena *arena,
                                 tn_folder_names *out) {
  while (out->count < most) {
    errno = 0;
    const struct dirent *entry = readdir(folder);
    if (!entry) return tn_file_status_of(errno);
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    tn_str name = tn_arena_str(arena, tn_str_of(entry->d_name));
    if (arena->failed || !tn_vec_push(heap, out, name)) return TN_FILE_NO_MEMORY;
  }
  return TN_FILE_OK;
}

tn_file_status tn_folder_list(tn_heap *heap, const char *path, size_t most, tn_arena *arena,
                              tn_folder_names *out) {
  DIR *folder = opendir(path);
  if (!folder) return tn_file_status_of(errno);
  tn_file_status status = read_names(heap, folder, most, arena, out);
  closedir(folder);
  if (out->count > 1) qsort(out->at, out->count, sizeof *out->at, by_bytes);
  return status;
}

/* ---- files in it ---- */

void tn_folder_join(tn_text *out, const char *folder, const char *name) {
  tn_text_puts(out, folder);
  tn_text_byte(out, '/');
  tn_text_puts(out, name);
}

tn_file_status tn_file_remove(const char *path) {
  return unlink(path) == 0 || errno == ENOENT ? TN_FILE_OK : tn_file_status_of(errno);
}
