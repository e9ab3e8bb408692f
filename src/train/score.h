/* train/score.h: the metrics of a trained model on a file of rows.
 *
 * The same functions that evaluate during training, applied once to all rows of
 * another file. The run's data.json says how rows are prepared. */
#ifndef TN_TRAIN_SCORE_H
#define TN_TRAIN_SCORE_H

#include "train/loop.h"
#include "train/trained.h"

typedef struct {
  tn_trained_options trained;
  const char *data; /* the file of rows */
  tn_text *record;  /* gets the contents of evaluation.json; NULL: there is none */
} tn_score_options;

/* The metrics of the eval block; without one the loss, and accuracy where the output is classes. False after
 * reporting. `out` has them as text, and as members "rows" and "metrics". The record has them too, what they
 * were computed of, and what the model got wrong (mistakes.h). */
bool tn_score(tn_unit *unit, const tn_training_doors *doors, const tn_score_options *options, tn_arena *arena,
              tn_outcome *out);
#endif
