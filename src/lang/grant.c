/* lang/grant.c: checks that a file that a program names is in a folder it may read or write.
 *
 * The folders were resolved when they were granted. A path is resolved now, with all its links, and
 * must be beneath one of them. It is then opened without following a link, so that it cannot be
 * replaced in between; the kernel enforces the same (docs/security.md). */
#include <string.h>

#include "base/file.h"
#include "lang/lang.h"

static bool lies_beneath(tn_str folder, tn_str path) {
  if (folder.len == 1) return path.len > 0; /* the root */
  if (path.len < folder.len || memcmp(path.at, folder.at, folder.len) != 0) return false;
  return path.len == folder.len || path.at[folder.len] == '/';
}

typedef struct {
  const tn_granted *at;
  size_t count;
} folders;

static bool lies_in_one(folders granted, tn_str path) {
  for (size_t i = 0; i < granted.count; i++) {
    if (lies_beneath(granted.at[i].real, path)) return true;
  }
  return false;
}

static bool find(const tn_host *host, folders granted, tn_str path, tn_arena *arena, tn_str *found) {
  *found = tn_host_path(host, path, arena);
  if (granted.count == 0 || arena->failed) return true;
  tn_text real;
  tn_text_init(&real, host->heap);
  bool ok = !memchr(path.at, 0, path.len) && tn_file_place(found->at, &real);
  ok = ok && lies_in_one(granted, tn_text_str(&real));
  if (ok) *found = tn_arena_str(arena, tn_text_str(&real));
  if (real.failed) arena->failed = ok = true; /* memory ran out: its location is unknown */
  tn_text_free(&real);
  return ok;
}

static tn_str list(const tn_host *host, folders granted, tn_arena *arena) {
  tn_text text;
  tn_text_init(&text, host->heap);
  for (size_t i = 0; i < granted.count; i++) {
    if (i > 0) tn_text_puts(&text, ", ");
    tn_text_add(&text, granted.at[i].name);
  }
  tn_str names = tn_arena_str(arena, tn_text_str(&text));
  tn_text_free(&text);
  return names;
}

static folders readable(const tn_host *host) { return (folders){ host->readable, host->readable_count }; }
static folders writable(const tn_host *host) { return (folders){ host->writable, host->writable_count }; }

bool tn_host_find(const tn_host *host, tn_str path, tn_arena *arena, tn_str *found) {
  return find(host, readable(host), path, arena, found);
}

bool tn_host_find_target(const tn_host *host, tn_str path, tn_arena *arena, tn_str *found) {
  return find(host, writable(host), path, arena, found);
}

tn_str tn_host_readable(const tn_host *host, tn_arena *arena) { return list(host, readable(host), arena); }
tn_str tn_host_writable(const tn_host *host, tn_arena *arena) { return list(host, writable(host), arena); }

tn_file_status tn_host_read(const tn_host *host, const char *path, tn_file_bytes *out) {
  const uint64_t limit = UINT64_C(1) << 40;
  return (tn_host_resolves(host) ? tn_file_read_resolved : tn_file_read)(host->heap, path, limit, NULL, out);
}
