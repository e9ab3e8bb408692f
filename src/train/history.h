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
/* A metric of an evaluation. */
typedef struct {
  tn_str name; /* in the arena */
  double value;
} tn_recorded_value;

typedef struct tn_recorded_row {
  int64_t step;
  double loss;
  bool evaluated;
  tn_recorded_value values[TN_METRIC_LIMIT];
  size_t value_count;
  tn_recorded_value tests[TN_METRIC_LIMIT]; /* of the test split, in the last row */
  size_t test_count;
} tn_recorded_row;

/* A line as a row. False when it is none, or when the arena has no memory for it. */
bool tn_history_read(tn_str line, tn_arena *arena, tn_recorded_row *out);
/* Whether a higher value of this metric is better. */
bool tn_history_rises(tn_str metric);
/* The value of a metric; NULL: it is not there. */
const double *tn_history_value(const tn_recorded_row *row, const char *name);
#endif
