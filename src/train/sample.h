/* train/sample.h: samples the next token from its scores.
 *
 * Temperature 0 takes the largest score, the first one on a tie, and draws
 * nothing. Otherwise token i is drawn with a probability proportional to
 * exp(score[i] / temperature), among the `top_k` largest scores. All is computed
 * in f64 with tern's own functions and in the order of the tokens, so that a seed gives the same
 * tokens on every machine. */
#ifndef TN_TRAIN_SAMPLE_H
#define TN_TRAIN_SAMPLE_H

#include <stdbool.h>

#include "base/rng.h"

typedef struct {
  double temperature; /* 0: the largest score */
  size_t top_k;       /* 0: all tokens */
} tn_sampling;

/* Of `count` scores those that `allowed` allows take part. Writes to `scores`. SIZE_MAX when none of those is
 * finite or one is NaN. */
size_t tn_sample(const tn_sampling *sampling, float *scores, const bool *allowed, size_t count, tn_rng *rng);
#endif
