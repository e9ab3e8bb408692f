/* train/history.h: history.jsonl of a run's folder, read back line by line.
 *
 * loop.c writes the lines; resuming, comparing and drawing a run read them here. */
#ifndef TN_TRAIN_HISTORY_H
#define TN_TRAIN_HISTORY_H

#include "base/arena.h"
#include "train/loop.h"

#define TN_HISTORY_FILE "history.jsonl"

/* The line at offset `at`, without its end; false when there is no whole one: the text ends there, or in the
 * middle of a line that is being written. */
bool tn_history_line(tn_str text, size_t at, tn_str *out);
/* Which metrics an evaluation has: one that is NaN is there. */
typedef struct {
  bool loss, accuracy;
} tn_history_metrics;
/* A line as a row; a metric that is not in it is NaN. False when it is none. */
bool tn_history_read(tn_str line, tn_arena *arena, tn_history_row *out, tn_history_metrics *has);
#endif
