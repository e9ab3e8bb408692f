/* train/checkpoint.h: a checkpoint of a run, read back: to resume the run, or to compare it with a
 * repetition. folder.c writes it. */
#ifndef TN_TRAIN_CHECKPOINT_H
#define TN_TRAIN_CHECKPOINT_H

#include "train/loop_internal.h"

typedef struct {
  tn_loop *loop;
  const char *path; /* for reports; borrowed */
  tn_safetensors file;
} tn_checkpoint;

/* Each is false after reporting. */

/* From its bytes: whole, and of this program, data and seed. Freed by tn_checkpoint_free. */
bool tn_checkpoint_open(tn_loop *loop, const char *path, tn_str bytes, tn_checkpoint *out);
void tn_checkpoint_free(tn_checkpoint *checkpoint);
/* Reports E_CHECKPOINT_CORRUPT, or that memory ran out. */
bool tn_checkpoint_corrupt(const tn_checkpoint *checkpoint, const char *reason);
/* A text of the metadata; empty when it is not there. */
tn_str tn_checkpoint_value(const tn_checkpoint *checkpoint, const char *key);

/* The steps made and the generator's position; the segments go into the loop. */
bool tn_checkpoint_position(const tn_checkpoint *checkpoint, int64_t *step, uint64_t *generator);
/* The history has a line for each of so many steps, and they are those it was written with; *bytes is their
 * length. */
bool tn_checkpoint_covers(const tn_checkpoint *checkpoint, tn_str history, int64_t steps, size_t *bytes);

/* Takes over its tensors. */
bool tn_checkpoint_load(const tn_checkpoint *checkpoint);
/* Compares its tensors with the trainer's; *differs names the first that differs, and is empty when none
 * does. */
bool tn_checkpoint_compare(const tn_checkpoint *checkpoint, tn_str *differs);
#endif
