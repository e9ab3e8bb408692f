/* base/folder.c: locks folders, lists them, and finds similar file names.
 *
 * A folder is locked by flock on a descriptor of the folder itself: there is no lock file, and
 * nothing to clean up after a killed process. */
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

/* ---- names that are near, where a folder cannot be listed ---- */

/* A sandbox that refuses to list a folder still reveals whether a path exists. So names that differ
 * by one letter, and those with another extension, are tried. Both buffers have room for the path
 * and one more letter. */
typedef struct {
  tn_str path;
  size_t name; /* where it begins */
  char *trial;
} guesses;

/* The path with the letters [at, at + gone) replaced by `more`. */
static bool try_change(guesses *g, size_t at, size_t gone, tn_str more) {
  size_t rest = g->path.len - at - gone;
  memcpy(g->trial, g->path.at, at);
  memcpy(g->trial + at, more.at, more.len);
  memcpy(g->trial + at + more.len, g->path.at + at + gone, rest);
  g->trial[at + more.len + rest] = 0;
  bool named = at + more.len + rest > g->name && g->trial[g->name] != '.';
  return named && !tn_file_is_missing(g->trial);
}

static bool try_letter(guesses *g, size_t at) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_-.ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  size_t last = g->path.len;
  if (at < last && try_change(g, at, 1, TN_LIT(""))) return true;
  if (at + 1 < last) {
    char swapped[2] = { g->path.at[at + 1], g->path.at[at] };
    if (try_change(g, at, 2, (tn_str){ swapped, 2 })) return true;
  }
  for (const char *c = letters; *c; c++) {
    if (try_change(g, at, 0, (tn_str){ c, 1 })) return true;
    if (at < last && try_change(g, at, 1, (tn_str){ c, 1 })) return true;
  }
  return false;
}

static bool try_extension(guesses *g) {
  static const char *const known[] = { "csv", "tsv", "jsonl", "json", "txt", "npy", "npz", "safetensors" };
  tn_str name = { g->path.at + g->name, g->path.len - g->name };
  size_t kept = g->name + stem(name).len, count = sizeof known / sizeof *known;
  bool bare = kept == g->path.len;
  for (size_t i = 0; i < count && !bare; i++) {
    if (try_change(g, kept, g->path.len - kept, tn_str_of(known[i]))) return true;
  }
  return false;
}

#define TRIED_LETTERS 64
#define EXTENSION_LETTERS 12

static bool try_near(tn_heap *heap, tn_str path, size_t name, tn_text *out) {
  size_t room = path.len + EXTENSION_LETTERS;
  guesses g = { path, name, tn_heap_alloc(heap, room) };
  if (!g.trial || path.len - name > TRIED_LETTERS) return tn_heap_free(heap, g.trial, room), false;
  bool found = try_extension(&g);
  for (size_t at = name; !found && at <= path.len; at++) found = try_letter(&g, at);
  if (found) tn_text_puts(out, g.trial);
  tn_heap_free(heap, g.trial, room);
  return found && !out->failed;
}

bool tn_folder_near(tn_heap *heap, const char *path, tn_text *out) {
  const char *slash = strrchr(path, '/');
  tn_str wrong = tn_str_of(slash ? slash + 1 : path);
  tn_str before = { path, slash ? (size_t)(slash - path) + 1 : 0 };
  tn_folder_names names = { 0 };
  tn_arena arena;
  tn_arena_init(&arena, heap);
  tn_str folder = before.len > 0 ? tn_arena_str(&arena, before) : TN_LIT(".");
  tn_file_status status = tn_folder_list(heap, folder.at ? folder.at : "", NEAR_NAMES, &arena, &names);
  bool listed = wrong.len > 0 && folder.len > 0 && status == TN_FILE_OK;
  tn_str near = listed ? near_name(wrong, &names) : TN_LIT("");
  if (near.len > 0) {
    tn_text_add(out, before);
    tn_text_add(out, near);
  }
  tn_vec_free(heap, &names);
  tn_arena_free(&arena);
  if (status == TN_FILE_PERMISSION && wrong.len > 0) return try_near(heap, tn_str_of(path), before.len, out);
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
