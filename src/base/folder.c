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

#define NEAR_NAMES 1000

/* Without its extension. */
static tn_str stem(tn_str name) {
  for (size_t i = name.len; i > 1; i--) {
    if (name.at[i - 1] == '.') return (tn_str){ name.at, i - 1 };
  }
  return name;
}

static tn_str near_name(tn_str wrong, const tn_folder_names *names) {
  for (size_t i = 0; i < names->count; i++) {
    if (tn_str_equal(stem(names->at[i]), stem(wrong))) return names->at[i];
  }
  return tn_str_suggest(wrong, names->at, names->count);
}

bool tn_folder_near(tn_heap *heap, const char *path, tn_text *out) {
  const char *slash = strrchr(path, '/');
  tn_str wrong = tn_str_of(slash ? slash + 1 : path);
  tn_str before = { path, slash ? (size_t)(slash - path) + 1 : 0 };
  tn_folder_names names = { 0 };
  tn_arena arena;
  tn_arena_init(&arena, heap);
  tn_str folder = before.len > 0 ? tn_arena_str(&arena, before) : TN_LIT(".");
  bool listed = wrong.len > 0 && folder.len > 0 &&
                tn_folder_list(heap, folder.at, NEAR_NAMES, &arena, &names) == TN_FILE_OK;
  tn_str near = listed ? near_name(wrong, &names) : TN_LIT("");
  if (near.len > 0) {
    tn_text_add(out, before);
    tn_text_add(out, near);
  }
  tn_vec_free(heap, &names);
  tn_arena_free(&arena);
  return near.len > 0 && !out->failed;
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
