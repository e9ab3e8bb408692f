/* lang/grant.c: whether a file that a program names lies where it may be read.
 *
 * The folders were resolved when they were granted. A path is resolved now, with
 * all its links, and must lie beneath one of them. It is then opened without
 * following a link, so that nothing can be put in its place between; the kernel
 * decides the same again (docs/security.md). */
#include <string.h>

#include "base/file.h"
#include "lang/lang.h"

static bool lies_beneath(tn_str folder, tn_str path) {
  if (folder.len == 1) return path.len > 0; /* the root */
  if (path.len < folder.len || memcmp(path.at, folder.at, folder.len) != 0) return false;
  return path.len == folder.len || path.at[folder.len] == '/';
}

static bool is_readable(const tn_host *host, tn_str path) {
  for (size_t i = 0; i < host->readable_count; i++) {
    if (lies_beneath(host->readable[i].real, path)) return true;
  }
  return false;
}

bool tn_host_find(const tn_host *host, tn_str path, tn_arena *arena, tn_str *found) {
  *found = tn_host_path(host, path, arena);
  if (host->readable_count == 0 || arena->failed) return true;
  tn_text real;
  tn_text_init(&real, host->heap);
  bool ok = !memchr(path.at, 0, path.len) && tn_file_place(found->at, &real);
  ok = ok && is_readable(host, tn_text_str(&real));
  if (ok) *found = tn_arena_str(arena, tn_text_str(&real));
  if (real.failed) arena->failed = ok = true; /* memory ran out, which says nothing of where it lies */
  tn_text_free(&real);
  return ok;
}

tn_str tn_host_readable(const tn_host *host, tn_arena *arena) {
  tn_text text;
  tn_text_init(&text, host->heap);
  for (size_t i = 0; i < host->readable_count; i++) {
    if (i > 0) tn_text_puts(&text, ", ");
    tn_text_add(&text, host->readable[i].name);
  }
  tn_str list = tn_arena_str(arena, tn_text_str(&text));
  tn_text_free(&text);
  return list;
}
