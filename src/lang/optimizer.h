/* lang/optimizer.h: options of the optimiser, from a program or an embedder. */
#ifndef TN_LANG_OPTIMIZER_H
#define TN_LANG_OPTIMIZER_H

#include <stdbool.h>

#include "base/str.h"

typedef enum { TN_OPTIMIZER_SGD, TN_OPTIMIZER_MOMENTUM, TN_OPTIMIZER_ADAM, TN_OPTIMIZER_ADAMW } tn_optimizer;
typedef enum { TN_SCHEDULE_CONSTANT, TN_SCHEDULE_COSINE, TN_SCHEDULE_LINEAR } tn_schedule;
/* By name; -1: there is none. */
int tn_optimizer_find(tn_str name);
int tn_schedule_find(tn_str name);
const char *tn_optimizer_name(tn_optimizer optimizer);
const char *tn_schedule_name(tn_schedule schedule);

/* The usual numbers of adam and adamw, for initializers. */
#define TN_ADAM_DEFAULTS .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8

typedef struct {
  tn_optimizer optimizer;
  double lr;                    /* as given; 0 is 0 */
  double momentum;              /* for momentum */
  double beta1, beta2, epsilon; /* for adam and adamw, as given */
  double weight_decay;          /* sgd, momentum and adam add weight_decay * p to the gradient; adamw
                                       takes lr * weight_decay * p off the parameter */
  const bool *exempt;           /* from weight decay, by parameter; NULL: none is */
  double clip_norm;             /* 0: none. The norm of all gradients together is held below it */
  tn_schedule schedule;
  double min_lr;  /* where cosine and linear end */
  int64_t warmup; /* steps over which lr rises linearly from lr / warmup */
  int64_t steps;  /* where a schedule ends */
  int64_t shards; /* 0 and 1: one. Parts of a batch, see tn_trainer_request */
} tn_train_options;
#endif
