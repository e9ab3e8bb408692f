/* board/internal.h: what the files of the board share. */
#ifndef TN_BOARD_INTERNAL_H
#define TN_BOARD_INTERNAL_H

#include "base/embedded.h"
#include "board/board.h"

extern const tn_embedded tn_board_files[];
extern const size_t tn_board_file_count;

/* What is asked for, and the answer as it is made. */
typedef struct {
  const tn_board_options *options;
  tn_arena arena;
  tn_diags diags; /* what the store reports while answering */
  tn_text body;
  const char *type;   /* of the body: static */
  const char *policy; /* what the body may load: static; NULL: nothing */
  int status;         /* of HTTP */
} tn_answer;

void tn_answer_begin(tn_answer *answer, const tn_board_options *options);
void tn_answer_end(tn_answer *answer);
/* Fills in the answer to GET `path`, which is no stream of events. */
void tn_answer_path(tn_answer *answer, const char *path);
/* The number in /api/runs/N/events; 0 when the path is something else. */
int64_t tn_answer_events_of(const char *path);

/* What a follower of a run has seen so far. */
typedef struct {
  int64_t run;
  size_t losses, evals;
  tn_str status; /* points to static text */
  bool ended;    /* nothing more will come */
} tn_follow;

/* Adds an event with what is new; nothing when nothing is. */
void tn_follow_news(tn_answer *answer, tn_follow *follow, tn_text *out);

/* The parameters of a run's folder as JSON. False when there are none. */
bool tn_answer_params(tn_answer *answer, const tn_run_row *run);
#endif
