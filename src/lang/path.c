/* lang/path.c: resolves the relative paths of a program.
 *
 * They start in the current folder, unless a recorded run is repeated from elsewhere. */
#include "lang/lang.h"

tn_str tn_host_path(const tn_host *host, tn_str path, tn_arena *arena) {
  if (host->base.len == 0 || (path.len > 0 && path.at[0] == '/')) return tn_arena_str(arena, path);
  tn_text text;
  tn_text_init(&text, host->heap);
  tn_text_add(&text, host->base);
  tn_text_byte(&text, '/');
  tn_text_add(&text, path);
  tn_str found = tn_arena_str(arena, tn_text_str(&text));
  if (text.failed) arena->failed = true;
  tn_text_free(&text);
  return found;
}
