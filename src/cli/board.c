/* cli/board.c: the verb board. */
#include <stdlib.h>

#include "cli/cli.h"
#include "track/track.h"

typedef struct {
  const tn_command *command;
  bool said; /* the one object that --json allows */
} place;

static void say_where(void *context, int port) {
  place *p = context;
  p->said = true;
  if (p->command->json)
    printf("{\"ok\":true,\"url\":\"http://127.0.0.1:%d/\"}\n", port);
  else
    printf("http://127.0.0.1:%d/  (Ctrl-C ends it)\n", port);
  fflush(stdout);
}

tern_status tn_cli_board(tn_run *run) {
  const tn_command *command = run->command;
  char room[4096];
  const char *store = tn_cli_store(command, room, sizeof room), *port = command->value[TN_OPTION_PORT];
  tern_status status;
  if (!tn_cli_no_words(run, &status)) return status;
  if (!store)
    return tn_cli_usage(run, "there is no data folder: HOME is not set", "name a file with --store");
  place where = { .command = command };
  tn_track_board wanted = {
    .store = store, .port = port ? atoi(port) : -1, .ready = say_where, .context = &where
  };
  status = tn_track_serve_board(run->session, &wanted);
  bool shown = status == TERN_OK || (where.said && command->json);
  return shown ? status : tn_cli_failed(run, status);
}
