/* train/hyper.h: the hyperparameters of a run, as names and values.
 *
 * One list for the header that `tern train` prints and for the history of runs: the fields of the train block
 * that have an effect, with their defaults filled in. */
#ifndef TN_TRAIN_HYPER_H
#define TN_TRAIN_HYPER_H

#include "lang/training.h"

#define TN_HYPER_LIMIT 64

/* Texts end with a NUL. */
typedef struct {
  tn_str name, value; /* a number as JSON has it, or a word */
} tn_hyper;

typedef struct {
  tn_hyper at[TN_HYPER_LIMIT];
  size_t count;
  tn_arena *arena; /* has the values; failed: the list is not whole */
} tn_hyper_list;

/* `steps`: those that are wanted. */
void tn_hyper_of(const tn_train_block *train, int64_t steps, tn_arena *arena, tn_hyper_list *out);
#endif
