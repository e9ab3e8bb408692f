/* base/folder.h: folders: their contents, their owner, and whether two paths name the same one.
 *
 * Paths are NUL-terminated and as the system takes them. Nothing here prints. */
#ifndef TN_BASE_FOLDER_H
#define TN_BASE_FOLDER_H

#include "base/arena.h"
#include "base/file.h"
#include "base/vec.h"

/* A folder locked by this process. The kernel releases the lock when the process ends, however it
 * ends. Nothing is written into the folder. Two holders exclude each other, even inside one
 * process, unless both share. */
typedef enum { TN_FOLDER_ALONE, TN_FOLDER_SHARED } tn_folder_hold;
typedef enum {
  TN_FOLDER_HELD,
  TN_FOLDER_IN_USE,     /* another process holds it */
  TN_FOLDER_UNLOCKABLE  /* the folder or its file system has no locks; the caller continues without a lock */
} tn_folder_status;

/* Never waits. *handle is for tn_folder_release, which takes -1 too. */
tn_folder_status tn_folder_take(const char *path, tn_folder_hold hold, int *handle);
void tn_folder_release(int *handle);

/* Whether both paths lead to one folder. */
bool tn_folder_same(const char *a, const char *b);

/* The names in it except . and .., in byte order, in the arena. Stops at `most` names. */
typedef tn_vec(tn_str) tn_folder_names;
tn_file_status tn_folder_list(tn_heap *heap, const char *path, size_t most, tn_arena *arena,
                              tn_folder_names *out);

/* Adds the path of a file beside `path` with a similar name, or the same name and another
 * extension. If the folder may not be listed, names that differ by one letter are tried. False:
 * there is none. */
bool tn_folder_near(tn_heap *heap, const char *path, tn_text *out);

/* FOLDER/NAME, added. */
void tn_folder_join(tn_text *out, const char *folder, const char *name);
/* Removes a file, if it is there. */
tn_file_status tn_file_remove(const char *path);
#endif
