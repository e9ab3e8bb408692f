/* train/optimizer.h: how gradients become updates, as operations. */
#ifndef TN_TRAIN_OPTIMIZER_H
#define TN_TRAIN_OPTIMIZER_H

#include "ad/ad.h"
#include "train/trainer.h"

/* Scalars that change from step to step; inputs of the step's graph. */
typedef enum { TN_SCALAR_LR, TN_SCALAR_CORRECTION1, TN_SCALAR_CORRECTION2, TN_SCALAR_COUNT } tn_train_scalar;

typedef struct {
  tn_graph_builder *builder;
  const tn_train_options *options;
  tn_value scalar[TN_SCALAR_COUNT]; /* f32; 0 where the optimiser does not use it */
  tn_value scale;                   /* of gradients, f32; TN_NO_VALUE: none */
} tn_optimizer_args;

int tn_optimizer_states(tn_optimizer optimizer); /* tensors for each parameter */
bool tn_optimizer_uses(tn_optimizer optimizer, tn_train_scalar scalar);
double tn_optimizer_scalar(const tn_train_options *options, tn_train_scalar scalar, int64_t step);

/* What all gradients are multiplied by, so that their common norm is at most clip_norm; TN_NO_VALUE: they
 * stay. */
tn_value tn_optimizer_clip(const tn_optimizer_args *args, const tn_value *grads, int count);
/* The next value of a parameter, by its number, and of its states. grad is TN_NO_VALUE when nothing flows.
 * Each gradient is scaled only where it is used, and dies there. */
tn_value tn_optimizer_update(const tn_optimizer_args *args, int index, tn_value grad, const tn_value *states,
                             tn_value *next_states);
/* The operation of an update that made a NaN or infinity of finite numbers, told by what the states of the
 * element have become. Of an optimiser that has states. */
tn_op tn_optimizer_origin(const tn_train_options *options, int64_t step, const double *states);
#endif
