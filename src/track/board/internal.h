/* track/board/internal.h: shared by the files of the board. */
#ifndef TN_BOARD_INTERNAL_H
#define TN_BOARD_INTERNAL_H

#include "base/embedded.h"
#include "base/sha256.h"
#include "track/board/board.h"

extern const tn_embedded tn_board_files[];
extern const size_t tn_board_file_count;

/* What follows the `?` of a request: texts that last as long as it does; NULL where there is none. */
typedef struct {
  const char *order, *way; /* of a list: a column or hyperparameter; "up", "down" or what suits the column */
  const char *words;       /* that the runs of a list fit */
  const char *from, *to;   /* of a curve: its first and last step */
  const char *open;        /* of a graph: the calls that are open */
} tn_wishes;

/* A request, and its answer while it is made. */
typedef struct {
  const tn_board_options *options;
  tn_heap *heap;
  tn_arena arena;
  tn_wishes wishes;
  const char *token; /* for the page; NULL: it gets none */
  tn_diags diags; /* what the store reports while answering */
  tn_text body;
  const char *type;   /* of the body: static */
  const char *policy; /* what the body may load: static; NULL: nothing */
  int status;         /* of HTTP */
} tn_answer;

void tn_answer_begin(tn_answer *answer, const tn_board_options *options, tn_heap *heap, tn_sources *sources);
void tn_answer_end(tn_answer *answer);
#define TN_BOARD_PATIENCE 0.2 /* seconds for another process's lock: other requests wait meanwhile */
/* A run without its steps, read through an open store, which may be NULL; else the answer says that there is
 * none, or that the history cannot be read now. */
bool tn_answer_find(tn_answer *answer, tn_store *store, int64_t id, tn_run_row *out);
/* Replaces everything written so far by the reason, as JSON. */
void tn_answer_refuse(tn_answer *answer, int status, const char *reason);

/* Work for the other thread (worker.h). Texts are borrowed. */
typedef enum {
  TN_ORDER_NONE,
  TN_ORDER_PARAMS,
  TN_ORDER_GRAPH,
  TN_ORDER_COMPARE,
  TN_ORDER_EVALUATION
} tn_order_kind;
typedef struct {
  tn_order_kind kind;
  int64_t run, other; /* COMPARE: the numbers of two runs */
  tn_str name, text; /* PARAMS, EVALUATION: the run's folder; GRAPH: the program's name and its text */
  tn_str stamp;      /* while it stays the same, so does the answer; GRAPH: the calls that are open */
} tn_order;

/* Fills in the answer to GET `path`, which is not a stream of events; or the order that will give it, whose
 * texts lie in the answer's arena. */
void tn_answer_path(tn_answer *answer, const char *path, tn_order *order);
/* Whether POST has a meaning for `path`. */
bool tn_answer_takes(const char *path);
/* Fills in the answer to POST `path` with that body (write.c), after changing the history. */
void tn_answer_post(tn_answer *answer, const char *path, tn_str body);
/* Executes an order, on the thread of the worker. */
void tn_answer_order(tn_answer *answer, const tn_order *order);
/* The number after /api/runs/, and what follows it; false when the path is another one. */
bool tn_answer_split(const char *path, int64_t *id, const char **rest);
/* The number in /api/runs/N/events; 0 when the path is something else. */
int64_t tn_answer_events_of(const char *path);

/* What a follower of a run has seen so far. */
typedef struct {
  int64_t run;
  int64_t losses;     /* steps */
  int64_t evaluated;  /* the step after the last evaluation */
  tn_str status;      /* points to static text */
  bool ended;         /* nothing more will come */
} tn_follow;

/* Adds an event with what is new; nothing when nothing is. False when the history cannot be read now. */
bool tn_follow_news(tn_answer *answer, tn_follow *follow, tn_text *out);

/* ---- parameters (params.c) ---- */

/* What tells one state of the weights in a folder from another; empty where there are none. */
void tn_params_stamp(tn_str folder, tn_text *out);
/* The parameters of a run's folder as JSON. */
void tn_params_answer(tn_answer *answer, tn_str folder);
/* What tells one state of an open file from another. Closes it; -1: there is none, and nothing is added. */
void tn_answer_stamp(int descriptor, tn_text *out);

/* ---- recorded evaluations (evaluation.c) ---- */

/* What tells one state of evaluation.json in a folder from another; empty where there is none. */
void tn_evaluation_stamp(tn_str folder, tn_text *out);
/* The evaluation of a run's folder as JSON; null where there is none. */
void tn_evaluation_answer(tn_answer *answer, tn_str folder);
#endif
