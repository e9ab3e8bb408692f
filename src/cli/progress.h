/* cli/progress.h: the progress of a training run, for people and for programs.
 *
 * On a terminal one line on standard error is redrawn in place, and standard output gets a line per
 * evaluation (the screen). In a log there is no such line, and standard output gets the steps that the
 * library prints, on a terminal too with --log steps. With --log json every step is a JSON object on a line
 * of standard output. At the end --plot draws the curve of the loss. */
#ifndef TN_CLI_PROGRESS_H
#define TN_CLI_PROGRESS_H

#include "cli/cli.h"
#include "cli/curve.h"

typedef struct {
  bool silent;  /* another rank of the training shows everything */
  bool line;    /* there is a terminal to draw on */
  bool screen;  /* standard output is one too: steps are not printed, evaluations in one line each */
  bool to_json; /* --log json */
  bool plots;   /* --plot */
  bool drawn;   /* the line is on the screen */
  bool unicode;
  int64_t first; /* the step this run began with; -1: none yet */
  tern_step last;
  double started, last_drawn; /* seconds */
  bool ended;                 /* the run came to an end, whole or not, and what follows is known: */
  int64_t steps;              /* that the parameters have had */
  double seconds;             /* that it took */
  const char *data_format;    /* NULL: no data */
  tn_curve curve;
} tn_progress;

/* False after a mistake on the command line, with *status. */
bool tn_progress_begin(tn_progress *progress, tn_run *run, tern_status *status);
/* If nothing shows the steps, a step costs nothing. */
tern_follower tn_progress_follower(tn_progress *progress);
/* The line goes away; the curve is drawn if it was asked for. Before anything else is shown. */
void tn_progress_end(tn_progress *progress);

/* 10,690 */
#define TN_GROUPED_BYTES 32
const char *tn_progress_grouped(int64_t number, char out[TN_GROUPED_BYTES]);
/* 9.8 s, 2:05 or 1:02:05. */
const char *tn_progress_duration(double seconds, char *out, size_t size);

/* ---- how a run ended, in words (ending.c) ---- */

/* On a terminal: what was saved, and the next command. */
void tn_ending_completed(tn_run *run, const tn_progress *progress, const char *out);
/* "Stopped after step 10,690; saved in run. Resume: tern train ... --resume run", from malloc. `out`: the
 * run's folder; NULL: none. NULL when memory ran out. */
char *tn_ending_stopped(tn_run *run, const tn_progress *progress, const char *out);
#endif
