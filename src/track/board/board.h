/* track/board/board.h: the history of runs as a page in a browser.
 *
 * A small web server for this machine alone: it listens on the loopback address
 * and refuses requests that name another host or come from another page, so that no
 * web site can read a user's runs through the user's own browser. It answers GET;
 * POST changes the tags and notes of a run, or deletes one, and needs a token that
 * only this board's own page has. The page is part of the program and loads nothing
 * from elsewhere. Connections have deadlines, and when all are taken the one that has
 * been unfinished longest is closed (clients.h).
 *
 *   /                     the page (page/)
 *   /api/runs             a thousand runs, as `tern runs --json` lists them: the newest, or with
 *                         ?order=NAME&way=up|down&words=TEXT the first in that order that fit the words
 *   /api/runs/N           one run with its curve: losses, their steps, evaluations
 *   /api/runs/N/curve     its losses from step ?from=A to &to=B
 *   /api/runs/N/compare/M what differs: columns, hyperparameters, lines of the programs, and the
 *                         first step whose losses do
 *   /api/runs/N/events    the same as it grows: server-sent events, until the run has ended
 *   /api/runs/N/params    its parameters, with a histogram of each
 *   /api/runs/N/graph     the graph of its program, as SVG; ?open=1,4 or ?open=all says which calls of
 *                         functions and layers are shown with their operations
 *   POST /api/runs/N/notes  {"tags": "a b", "notes": "text"}, either alone too
 *   POST /api/runs/N/remove {}: deletes a run that has ended; its folder stays
 *
 * One thread serves everything and waits when there is nothing to do; a second one
 * reads weights and draws graphs, which may take long. */
#ifndef TN_BOARD_BOARD_H
#define TN_BOARD_BOARD_H

#include "track/board/clients.h"
#include "track/store/store.h"

#define TN_BOARD_PORT 8600

typedef struct {
  tn_client_limits clients;
  double look_seconds; /* between looks at the runs that are followed */
  int streams;         /* runs that are followed at once: the oldest gives way */
  int headers;         /* of a request */
  unsigned head_bytes; /* of a request: its line and headers */
  unsigned body_bytes; /* of a request that changes something */
  int jobs;            /* that wait or run: one more is refused */
  double job_seconds;  /* for one */
  size_t job_bytes;    /* of memory, for one */
  int kept;            /* answers of jobs, for repeated requests */
  size_t kept_bytes;
} tn_board_limits;

extern const tn_board_limits tn_board_usual_limits;

typedef struct {
  tn_heap *heap;
  tn_diags *diags;
  const char *store; /* path of the history */
  int port;          /* 0: any that is free */
  const tn_board_limits *limits;
  void *context;
  double (*now)(void *context);  /* in seconds; NULL: the steady clock */
  void (*looked)(void *context); /* after each round of the loop; may be NULL */
  /* It listens, and answers from now on; false, after reporting: it does not begin. */
  bool (*ready)(void *context, int port);
  /* Draws the graph of a program, named and given as text; `open` names the calls that are shown with their
   * operations: "all", or their numbers. False when it cannot be drawn, or was told to stop. Called on a
   * thread of its own. */
  bool (*draw)(void *context, tn_str program, tn_str source, tn_str open, tn_stop *stop, tn_text *svg);
} tn_board_options;

/* Serves until the heap's stop is asked for. False after reporting, E_BOARD where the port is taken or this
 * build has no server. */
bool tn_board_serve(const tn_board_options *options);
#endif
