/* base/file_path.c: where a path really is.
 *
 * A file of its own, because realpath is older than the interfaces the rest of
 * base asks for. */
#define _XOPEN_SOURCE 700
#include <limits.h>
#include <stdlib.h>

#include "base/file.h"

#ifdef PATH_MAX
#define LONGEST_PATH PATH_MAX
#else
#define LONGEST_PATH 4096
#endif

#if defined(__wasi__)
/* WASI cannot say where a link leads; a path is what it was given as. */
bool tn_file_absolute(const char *path, tn_text *out) {
  tn_text_puts(out, path);
  return !out->failed;
}
#else
bool tn_file_absolute(const char *path, tn_text *out) {
  char found[LONGEST_PATH + 1];
  if (!realpath(path, found)) return false;
  tn_text_puts(out, found);
  return !out->failed;
}
#endif
