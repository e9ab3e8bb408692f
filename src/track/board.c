/* track/board.c: `tern board`: serves the history of runs as a web page. */
#include "track/board/board.h"

#include "api/door.h"
#include "track/track.h"

#define DRAWING_MEMORY ((uint64_t)256 << 20)

typedef struct {
  tern_session *session;
  const char *store;
  void (*ready)(void *context, int port);
  void *context;
} board;

/* A history that cannot be read is reported before the page is opened; one that does not exist yet
 * may be created later. */
static bool is_readable(tern_session *session, const char *path) {
  bool absent;
  tn_store *store = tn_store_open(tn_api_heap(session), path, TN_STORE_READ, tn_api_diags(session), &absent);
  tn_store_close(store);
  return store || absent;
}

/* The socket is open and requests may arrive; the database is opened only after this. Run folders
 * can be anywhere, and new ones appear while the board is open, so everything may be read. */
static bool ready(void *context, int port) {
  const board *b = context;
  tern_session *session = b->session;
  tn_api_serves(session);
  if (!tn_api_keep_path(session, TN_LIT("/"), TERN_SANDBOX_READ) || !tn_api_confine(session)) return false;
  if (!is_readable(session, b->store)) return false;
  if (b->ready) b->ready(b->context, port);
  return true;
}

/* The program is untrusted, and drawing it may take any time and memory: it gets a separate
 * session, which lasts for one picture, is granted nothing, and can be stopped. Errors in an old
 * program are not reported: there is a picture or there is none. */
static bool draw(void *context, tn_str name, tn_str source, tn_str open, tn_stop *stop, tn_text *svg) {
  static const tern_options options = { .max_memory = DRAWING_MEMORY, .threads = 1 };
  (void)context;
  tern_session *session = tern_session_new(&options, NULL);
  if (!session) return false;
  tn_api_heap(session)->stop = stop;
  tern_program *program = tern_load(session, TERN_LANG_AIL, name.at, source.at, source.len);
  const char *picture = program ? tn_api_draw(program, open.at ? open.at : "") : NULL;
  if (picture) tn_text_puts(svg, picture);
  tern_program_free(program);
  tern_session_free(session);
  return picture && !svg->failed && !tn_stop_asked(stop);
}

tern_status tn_track_serve_board(tern_session *session, const tn_track_board *wanted) {
  tn_api_begin(session);
  if (!tn_track_name_store(session, wanted->store, true)) return tn_api_status(session);
  board b = { session, wanted->store, wanted->ready, wanted->context };
  tn_board_options options = { .heap = tn_api_heap(session),
                               .diags = tn_api_diags(session),
                               .store = wanted->store,
                               .port = wanted->port < 0 ? TN_BOARD_PORT : wanted->port,
                               .context = &b,
                               .ready = ready,
                               .draw = draw };
  (void)tn_store_load();
  if (!tn_board_serve(&options)) return tn_api_status(session);
  /* Ctrl-C is how a board ends; a limit is a limit. */
  if (tn_stop_time_left(tn_api_heap(session)->stop) == 0) tn_api_report_timeout(session);
  return tn_api_status(session);
}
