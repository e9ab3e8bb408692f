/* cli/progress.h: how a training run goes, for the person who waits for it and for programs that follow it.
 *
 * On a terminal one line on standard error is drawn again and again in its place; in a log there is none.
 * With --log json every step is a JSON object on a line of standard output. At the end --plot draws the curve
 * of the loss. */
#ifndef TN_CLI_PROGRESS_H
#define TN_CLI_PROGRESS_H

#include "cli/cli.h"

/* The curve so far. When it is full, neighbours are joined and each point stands for twice as many steps. */
#define TN_CURVE_POINTS 1024

typedef struct {
  double loss[TN_CURVE_POINTS]; /* means */
  size_t count;
  int64_t stride;  /* steps in a point */
  double sum;      /* of the steps since the last point */
  int64_t pending; /* how many those are */
} tn_curve;

typedef struct {
  bool silent;  /* another rank of the training shows everything */
  bool line;    /* there is a terminal to draw on */
  bool to_json; /* --log json */
  bool plots;   /* --plot */
  bool drawn;   /* the line stands there now */
  bool unicode;
  int64_t first; /* the step this run began with; -1: none yet */
  tern_step last;
  double started, last_drawn; /* seconds */
  tn_curve curve;
} tn_progress;

/* False after a mistake on the command line, with *status. */
bool tn_progress_begin(tn_progress *progress, tn_run *run, tern_status *status);
/* Whether anybody looks at steps; where nobody does, a step costs nothing. */
bool tn_progress_is_followed(const tn_progress *progress);
tern_follower tn_progress_follower(tn_progress *progress);
/* The line goes away; the curve is drawn if it was asked for. Before anything else is shown. */
void tn_progress_end(tn_progress *progress);
#endif
