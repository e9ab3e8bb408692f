/* train/steps.h: training step by step, for a program in any language that can be lowered.
 *
 * The caller sets the inputs and runs a step; shapes stay those of the first
 * inputs. train/loop.h trains programs that have a data set. */
#ifndef TN_TRAIN_STEPS_H
#define TN_TRAIN_STEPS_H

#include "lang/lang.h"
#include "train/trainer.h"

typedef struct tn_steps tn_steps;

typedef struct {
  const char *loss;           /* the output to minimise; NULL: the one that the program says */
  bool own;                   /* the optimiser's options are those of the program */
  tn_trainer_request trainer; /* `graph` and `loss` are filled in here */
} tn_steps_request;

/* NULL after reporting. The unit must outlive it. */
tn_steps *tn_steps_new(tn_unit *unit, const tn_lang *lang, const tn_steps_request *request);
void tn_steps_free(tn_steps *steps);
/* Takes the inputs that are given now. False after reporting; nothing has changed then. */
bool tn_steps_step(tn_steps *steps, double *loss);
/* The parameters, in the program's order. */
size_t tn_steps_param_count(const tn_steps *steps);
tn_str tn_steps_param_name(const tn_steps *steps, size_t index);
const tn_view *tn_steps_param(const tn_steps *steps, size_t index);
#endif
