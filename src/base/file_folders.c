/* base/file_folders.c: removes output folders that stayed empty.
 *
 * Output folders are created before a program is compiled, because the sandbox forbids it later.
 * They are removed again if nothing was written into them. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* AT_REMOVEDIR */
#endif
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

/* The end of the part of the path that begins at `start`. */
static size_t part_end(const char *path, size_t start) {
  while (path[start] == '/') start++;
  while (path[start] && path[start] != '/') start++;
  return start;
}

size_t tn_file_existing(tn_heap *heap, const char *path) {
  size_t bytes = strlen(path) + 1, there = 0;
  struct stat about;
  char *prefix = tn_heap_alloc(heap, bytes);
  if (!prefix) return bytes - 1;
  memcpy(prefix, path, bytes);
  while (path[there]) {
    size_t end = part_end(path, there);
    prefix[end] = 0;
    bool exists = stat(prefix, &about) == 0;
    prefix[end] = path[end];
    if (!exists) break;
    there = end;
  }
  tn_heap_free(heap, prefix, bytes);
  return there;
}

void tn_file_remove_folders(char *path, size_t there) {
  for (size_t length = strlen(path); length > there; length--) {
    if (path[length] && path[length] != '/') continue;
    char kept = path[length];
    path[length] = 0;
    bool removed = path[length - 1] == '/' || unlinkat(AT_FDCWD, path, AT_REMOVEDIR) == 0;
    path[length] = kept;
    if (!removed) return;
  }
}
