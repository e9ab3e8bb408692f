/* track/track.c: names the database of the history to the sandbox. */
#include "track/track.h"

#include <string.h>

#include "api/door.h"
#include "base/file.h"
#include "track/store/store.h"

static void make_folder(tern_session *session, const char *file) {
  const char *slash = strrchr(file, '/');
  tn_text folder;
  if (!slash || slash == file) return;
  tn_text_init(&folder, tn_api_heap(session));
  tn_text_add(&folder, (tn_str){ file, (size_t)(slash - file) });
  if (!folder.failed) (void)tn_file_make_folders(tn_api_heap(session), folder.at);
  tn_text_free(&folder);
}

/* A database has files beside it while it is written, and may not exist yet: its folder
 * is written, and so must exist before it can be named to the kernel. Its errors are reported when it
 * is opened. Which process recorded a run, and whether it still lives, is asked of /proc. */
bool tn_track_name_store(tern_session *session, const char *store, bool make) {
  if (store) (void)tn_store_load();
  if (!store || !tn_api_is_open(session)) return true;
  if (make) make_folder(session, store);
  return tn_api_keep_folder_of(session, store) &&
         tn_api_keep_path(session, TN_LIT("/proc"), TERN_SANDBOX_LOAD);
}
