/* train/generate.h: continues a text with a trained model.
 *
 * At every position of its context window the model gives scores for the token
 * after it. The scores at the last token decide the next one. A window is as long
 * as the model's rows; when it is full, its first half is dropped. The rest of the
 * window is padding, which a causal model does not see. */
#ifndef TN_TRAIN_GENERATE_H
#define TN_TRAIN_GENERATE_H

#include "train/sample.h"
#include "train/trained.h"

typedef struct {
  tn_trained_options trained;
  const char *prompt;
  size_t tokens; /* how many to make */
  tn_sampling sampling;
  uint64_t seed;
  bool whole;    /* the whole window is computed for every token, which changes no bit */
  bool shown;    /* for people: control characters are shown as escapes */
  void *context;
  /* Takes what was made, whole characters at a time; not the prompt. False ends it without a report. */
  bool (*take)(void *context, tn_str text);
} tn_generate_options;

/* False after reporting. *tokens: how many were made. */
bool tn_generate(tn_unit *unit, const tn_training_doors *doors, const tn_generate_options *options,
                 tn_arena *arena, size_t *tokens);
#endif
