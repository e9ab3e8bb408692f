/* train/hyper.h: the hyperparameters of a run, as names and values.
 *
 * One list for the header that `tern train` prints and for the history of runs: the fields of the train block
 * that have an effect, with their defaults filled in; for the history the constants of the program, too. The
 * values are those of this run, whether the program or the command line sets them. */
#ifndef TN_TRAIN_HYPER_H
#define TN_TRAIN_HYPER_H

#include "lang/training.h"

typedef struct {
  tn_hyper *at;
  size_t count, capacity;
  tn_arena *arena; /* has the values; failed: the list is not whole */
} tn_hyper_list;

/* `steps`: those that are wanted. `constants`: after the fields, in the order of the program. */
void tn_hyper_of(const tn_training *program, int64_t steps, bool constants, tn_arena *arena,
                 tn_hyper_list *out);
#endif
