/* track/track.h: the history of training runs: recording, querying, plotting, serving.
 *
 * Linked only by the program: the library trains and knows nothing of histories.
 * A run is recorded through callbacks, or from the folder that it wrote.
 *
 * `store` is the path of a history's database. `run` is a run's number there,
 * "last", or its folder. Texts are for people or, with `json`, the JSON object of
 * the answer; valid until the next call on the session; NULL after leaving
 * diagnostics. */
#ifndef TN_TRACK_TRACK_H
#define TN_TRACK_TRACK_H

#include "tern/tern.h"
#include "track/chart/chart.h"
#include "track/store/store.h"

/* Names the database to the sandbox; NULL for none. `make`: its folder is made if it is not there. False
 * after reporting that memory ran out. */
bool tn_track_name_store(tern_session *session, const char *store, bool make);

/* ---- recording (record.c) ---- */

typedef struct {
  tern_session *session;
  const char *path;   /* of the history */
  const char *folder; /* of the run; NULL: none */
  tn_store *store;    /* NULL: nothing is recorded, or no longer */
  tn_diags diags;     /* what the store reports */
  bool failed;        /* to open; said when the run begins, since a training forgets earlier diagnostics */
  tn_text scratch;
  int64_t run;
  int64_t first; /* the step of losses.at[0] */
  tn_vec(float) losses;
  tn_vec(tn_run_eval) evals;
  double started, written; /* of the monotonic clock */
} tn_recorder;

/* Opens the history at `path`; both texts are borrowed until the recorder is closed. One that cannot be
 * opened is an error and false if it is `required`, else a warning when the run begins. False also when the
 * session was asked to stop. */
bool tn_recorder_open(tn_recorder *recorder, tern_session *session, const char *path, const char *folder,
                      bool required);
tern_follower tn_recorder_follower(tn_recorder *recorder);
void tn_recorder_close(tn_recorder *recorder);

/* ---- asking (runs.c) ---- */

typedef struct {
  const char *store;
  const char *const *conditions; /* "status=completed", "loss<0.5"; all must hold */
  size_t condition_count;
  const char *sort;              /* a column, "-loss" for the highest first; NULL: the newest first */
  int64_t limit;                 /* 0: all */
} tn_track_query;

const char *tn_track_list(tern_session *session, const tn_track_query *query, bool json);
/* The names of runs of the history, besides folders: "last", and the numbers, the newest first, one
 * per line; nothing where there is no run. At most `limit` numbers. */
const char *tn_track_numbers(tern_session *session, const char *store, int64_t limit);
const char *tn_track_show(tern_session *session, const char *store, const char *run, bool json);
/* What differed, and whether the bits agree. */
const char *tn_track_compare(tern_session *session, const char *store, const char *first, const char *second,
                             bool json);
/* Removes a run from the history; its folder stays. */
const char *tn_track_remove(tern_session *session, const char *store, const char *run, bool json);

/* ---- drawing (plot.c): the curves of runs as one SVG picture ---- */

typedef struct {
  const char *const *runs;  /* folders of runs; with a store also numbers of runs there, and "last" */
  size_t run_count;         /* 1 to 32 */
  const char *store;        /* NULL: folders alone */
  const char *metric;       /* "loss", "train_loss", "eval_loss", "accuracy"; NULL: all there are */
  const char *scale;        /* of losses: "linear", "log"; NULL or "auto": log for a range above 50 times */
  const char *title;        /* NULL: that of a single run is its folder */
  int64_t smooth;           /* also the mean of so many steps; 0: not */
} tn_track_plot;

const char *tn_track_plot_svg(tern_session *session, const tn_track_plot *plot);
/* Calls for each curve that the picture would show, except those behind a smoothed one. The curve
 * is borrowed, and its name ends with a NUL. False after leaving diagnostics. */
typedef void (*tn_track_visitor)(void *context, const tn_chart_curve *curve);
bool tn_track_plot_visit(tern_session *session, const tn_track_plot *plot, tn_track_visitor visit,
                         void *context);
/* The answer of `tern plot --json`: with the picture or, if it was written to a file, with its path. */
const char *tn_track_plot_json(tern_session *session, const tn_track_plot *plot, const char *path);

/* ---- serving (board.c): the history as a page for browsers on this machine, until tern_interrupt ---- */

typedef struct {
  const char *store;
  int port;                               /* 0: any that is free; -1: 8600 */
  void (*ready)(void *context, int port); /* the page can be opened now; may be NULL */
  void *context;
} tn_track_board;

tern_status tn_track_serve_board(tern_session *session, const tn_track_board *board);

/* ---- a sweep: runs that differ in what is set (sweep.c) ---- */

/* One of its runs. All is borrowed. */
typedef struct {
  const char *folder;
  const char *const *names, *const *values; /* all that --set gives it */
  size_t set_count;
  const char *const *shown_names, *const *shown_values; /* what the sweep is over, the seed too */
  size_t shown_count;
  uint64_t seed;
  int64_t steps;       /* --steps; 0: the program's */
  const char *failure; /* the code of what ended it; NULL: nothing */
} tn_sweep_run;

typedef enum {
  TN_SWEEP_NEW,   /* there is no such run */
  TN_SWEEP_BEGUN, /* it has begun, or is another one, which resuming finds out */
  TN_SWEEP_DONE
} tn_sweep_state;
/* `source`: the text of the program. Reads untrusted files: to be called inside the sandbox. */
tn_sweep_state tn_track_sweep_state(tern_session *session, const tn_sweep_run *run, const char *source,
                                    size_t length);
/* The runs from best to worst, by the best evaluation of the first metric, or else by the mean loss of the
 * last tenth of the steps. `whole`: every run has come to an end. Enters the sandbox. */
const char *tn_track_sweep_rank(tern_session *session, const tn_sweep_run *runs, size_t count, bool whole,
                                bool json);
#endif
