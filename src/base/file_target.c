/* base/file_target.c: finds the folder and name under which a file will be written.
 *
 * The folder is opened once, and everything else happens relative to that descriptor, so that
 * nobody can replace the folder meanwhile.
 *
 * If the path of the file is a symbolic link, the user may have created it (a link to the newest of
 * several pictures), or it may have come with somebody else's repository and lead to one of the
 * user's files. A link of the first kind leads to the same folder or below it and is followed; any
 * other is refused, and the user can name its target. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700   /* readlinkat */
#endif
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/file_internal.h"

#ifdef PATH_MAX
#define LONGEST_PATH PATH_MAX
#else
#define LONGEST_PATH 4096
#endif
#define MOST_LINKS 8   /* one after the other */

/* The name after the last slash; "", "." and ".." are folders. */
static tn_file_status take_name(tn_file_target *target, const char *name) {
  size_t length = strlen(name);
  if (length == 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) return TN_FILE_IS_DIRECTORY;
  if (length >= sizeof target->name) return TN_FILE_NOT_FOUND;   /* longer than any file name */
  memcpy(target->name, name, length + 1);
  return TN_FILE_OK;
}

/* The folder part of the path, links followed. */
static tn_file_status open_folder(tn_file_target *target, const char *path, const char *slash,
                                  tn_file_faults *faults) {
  char folder[LONGEST_PATH] = ".";
  size_t length = slash ? (size_t)(slash - path) : 1;
  if (slash == path) length = 1;   /* the root */
  if (length >= sizeof folder) return TN_FILE_NOT_FOUND;
  if (slash) memcpy(folder, path, length);
  folder[length] = 0;
  target->folder = tn_file_open_folder(folder, faults);
  return target->folder < 0 ? tn_file_status_of(errno) : TN_FILE_OK;
}

static bool leads_up(const char *path) {
  for (const char *at = path; *at; at += strcspn(at, "/")) {
    at += strspn(at, "/");
    if (at[0] == '.' && at[1] == '.' && (at[2] == '/' || at[2] == 0)) return true;
  }
  return path[0] == '/';
}

/* Follows the link at the target. */
static tn_file_status follow(tn_file_target *target, tn_file_faults *faults) {
  char path[LONGEST_PATH];
  ssize_t length = readlinkat(target->folder, target->name, path, sizeof path);
  if (length < 0) return tn_file_status_of(errno);
  if ((size_t)length == sizeof path) return TN_FILE_LINK_OUT;
  path[length] = 0;
  if (leads_up(path)) return TN_FILE_LINK_OUT;
  const char *slash = strrchr(path, '/');
  tn_file_status status = TN_FILE_OK;
  int folder = tn_file_walk(target->folder, path, slash ? (size_t)(slash - path) : 0, faults, &status);
  if (folder < 0) return status == TN_FILE_LINK ? TN_FILE_LINK_OUT : status;
  if (folder != target->folder) (void)close(target->folder);
  target->folder = folder;
  return take_name(target, slash ? slash + 1 : path);
}

/* Examines an existing file at the target, links followed. */
static tn_file_status look(tn_file_target *target, tn_file_faults *faults) {
  struct stat about;
  for (int links = 0; links <= MOST_LINKS; links++) {
    if (fstatat(target->folder, target->name, &about, AT_SYMLINK_NOFOLLOW) != 0)
      return errno == ENOENT ? TN_FILE_OK : tn_file_status_of(errno);
    if (!S_ISLNK(about.st_mode)) {
      target->exists = true;
      target->mode = (unsigned)about.st_mode & 0777;
      return tn_file_kind(&about);
    }
    tn_file_status status = follow(target, faults);
    if (status != TN_FILE_OK) return status;
  }
  return TN_FILE_LINK_OUT;   /* a cycle */
}

tn_file_status tn_file_find(tn_file_target *target, const char *path, tn_file_faults *faults) {
  const char *slash = strrchr(path, '/');
  *target = (tn_file_target){ .folder = -1 };
  if (*path == 0) return TN_FILE_NOT_FOUND;
  tn_file_status status = open_folder(target, path, slash, faults);
  if (status == TN_FILE_OK) status = take_name(target, slash ? slash + 1 : path);
  if (status == TN_FILE_OK) status = look(target, faults);
  if (status == TN_FILE_OK) tn_file_clear(target->folder);
  return status;
}

void tn_file_forget(tn_file_target *target) {
  if (target->folder >= 0) (void)close(target->folder);
  *target = (tn_file_target){ .folder = -1 };
}
