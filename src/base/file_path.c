/* base/file_path.c: resolves paths.
 *
 * A separate file, because realpath needs other feature macros than the rest of base. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/file_internal.h"

#ifdef PATH_MAX
#define LONGEST_PATH PATH_MAX
#else
#define LONGEST_PATH 4096
#endif

#if defined(__wasi__)
/* WASI cannot resolve links; a path stays as it is. */
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

/* "." and ".." cannot be created. */
static bool is_dots(const char *name, size_t len) {
  return len > 0 && name[0] == '.' && (len == 1 || (len == 2 && name[1] == '.'));
}

/* Resolves the first `len` bytes of a path; without any, the current folder. */
static bool resolve_start(const char *path, size_t len, tn_text *out) {
  tn_text start;
  tn_text_init(&start, out->heap);
  tn_text_add(&start, len > 0 ? (tn_str){ path, len } : TN_LIT("."));
  bool ok = !start.failed && tn_file_absolute(start.at, out);
  if (start.failed) out->failed = true;
  tn_text_free(&start);
  return ok;
}

/* Removes names from the end until the rest exists. */
bool tn_file_place(const char *path, tn_text *out) {
  size_t end = strlen(path);
  if (tn_file_absolute(path, out)) return true;
  while (errno == ENOENT && end > 0 && !out->failed) {
    while (end > 1 && path[end - 1] == '/') end--;
    size_t start = end;
    while (start > 0 && path[start - 1] != '/') start--;
    if (is_dots(path + start, end - start)) return false;
    end = start;
    if (!resolve_start(path, end, out)) continue;
    if (out->len > 1) tn_text_byte(out, '/');
    tn_text_puts(out, path + end);
    return !out->failed;
  }
  return false;
}

tn_file_status tn_file_find_folder(const char *path, tn_text *out) {
  struct stat about;
  if (stat(path, &about) != 0) return tn_file_status_of(errno);
  if (!S_ISDIR(about.st_mode)) return TN_FILE_NOT_DIRECTORY;
  if (tn_file_absolute(path, out)) return TN_FILE_OK;
  return out->failed ? TN_FILE_NO_MEMORY : tn_file_status_of(errno);
}

bool tn_file_is_missing(const char *path) {
  struct stat about;
  return lstat(path, &about) != 0 && errno == ENOENT;
}

bool tn_file_is_link(const char *path) {
  struct stat about;
  return lstat(path, &about) == 0 && S_ISLNK(about.st_mode);
}

/* The length of the common parent folders of both. Absolute paths end without a slash, except for
 * the root. */
static size_t shared(const char *a, const char *b) {
  size_t last = 0;
  for (size_t i = 0;; i++) {
    bool ends_a = a[i] == 0 || a[i] == '/', ends_b = b[i] == 0 || b[i] == '/';
    if (ends_a && ends_b) last = i;
    if (a[i] != b[i] || a[i] == 0) return last;
  }
}

/* The part below the shared folders, without the slash before it. */
static const char *below(const char *path, size_t at) { return path[at] == '/' ? path + at + 1 : path + at; }

static void add_way(const char *from, const char *to, tn_text *out) {
  size_t at = shared(from, to), start = out->len;
  const char *up = below(from, at), *down = below(to, at);
  while (*up) {
    tn_text_puts(out, out->len > start ? "/.." : "..");
    const char *slash = strchr(up, '/');
    up = slash ? slash + 1 : "";
  }
  if (*down && out->len > start) tn_text_byte(out, '/');
  tn_text_puts(out, down);
  if (out->len == start) tn_text_byte(out, '.');
}

bool tn_file_way(const char *from, const char *to, tn_text *out) {
  tn_text a, b;
  tn_text_init(&a, out->heap);
  tn_text_init(&b, out->heap);
  bool ok = tn_file_absolute(from, &a) && tn_file_absolute(to, &b);
  if (ok) add_way(a.at, b.at, out);
  tn_text_free(&a);
  tn_text_free(&b);
  return ok && !out->failed;
}
