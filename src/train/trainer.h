/* train/trainer.h: one training step, planned once and run many times.
 *
 * From a graph with a scalar loss a trainer makes the graph of a whole step:
 * forward, gradients with respect to every parameter, the optimiser's update. It owns the
 * parameters and the optimiser's state; a step reads the inputs that are bound, changes the
 * parameters in place and allocates nothing.
 *
 * Every number a schedule or an optimiser needs is computed here in f64 with
 * tern's own functions and enters the step as a scalar, so that the step's
 * graph does not change from step to step. */
#ifndef TN_TRAIN_TRAINER_H
#define TN_TRAIN_TRAINER_H

#include "backend/backend.h"
#include "cluster/transport.h"
#include "graph/graph.h"
#include "lang/training.h"
#include "opt/opt.h"
#include "plan/plan.h"

/* The learning rate of a step, counted from 0. */
double tn_train_lr(const tn_train_options *options, int64_t step);

typedef struct tn_trainer tn_trainer;

/* With shards > 1 the graph is that of one part: the loss of a batch is the mean of the losses of its
 * parts, and so are the gradients, added up by a tree over neighbours that depends on the number of
 * shards alone. So the parts may be computed anywhere, in any process, and the bits stay. `sharded`
 * says which inputs are divided: the step's input is then shards times as long along its first
 * axis. */
typedef struct {
  const tn_graph *graph; /* known shapes; may be freed afterwards */
  int loss;              /* the output that is the loss: a float scalar */
  const bool *sharded;   /* by input; NULL: none is divided */
  tn_train_options options;
  uint64_t seed;
  const tn_backend *backend;
  int threads;
  tn_pass_set passes;
  const tn_opt_evaluator *evaluator;
  tn_transport *transport; /* other processes that compute shards; NULL: none. This one has a shard. */
  bool steady;    /* inputs change only when they are bound again */
  bool shows_all; /* every value can be read after a step, which changes nothing then */
  bool guarded;   /* a step whose loss or gradients are NaN or infinity fails; without shards, on the host */
} tn_trainer_request;

/* NULL with *fault filled in. Parameters start at zero: set them. */
tn_trainer *tn_trainer_new(tn_heap *heap, const tn_trainer_request *request, tn_fault *fault);
void tn_trainer_free(tn_trainer *trainer);

/* By the graph's own numbering. Borrowed; contiguous; valid until the trainer is freed, but after a step its
 * data may be elsewhere. A caller that writes to it, to set the parameter, calls tn_trainer_wrote
 * afterwards. On a card the values are fetched first; if that fails they are older ones, and
 * tn_trainer_fetch says so. */
int tn_trainer_param_count(const tn_trainer *trainer);
const tn_view *tn_trainer_param(const tn_trainer *trainer, int index);
/* Where it is, for a plan on the same device that is to read it; its values are not fetched. */
const tn_view *tn_trainer_param_place(const tn_trainer *trainer, int index);
/* The views of this trainer were written to: from now on that is what counts. */
void tn_trainer_wrote(tn_trainer *trainer);
/* The values of parameters and state are on the host. False with *fault: the card has failed, and they are
 * lost. */
bool tn_trainer_fetch(const tn_trainer *trainer, tn_fault *fault);
/* Whether they live on a card. There it keeps parameters and state as they are now, in place of what was kept
 * before, and makes them again what they were; nothing is copied to the host. False with *fault. */
bool tn_trainer_keeps(const tn_trainer *trainer);
bool tn_trainer_keep(tn_trainer *trainer, tn_fault *fault);
bool tn_trainer_return(tn_trainer *trainer, tn_fault *fault);
/* The same with a reference of its own, which outlives the trainer. False: no memory. */
bool tn_trainer_share_param(const tn_trainer *trainer, int index, tn_tensor *out);
/* The number of parameters that a gradient of the loss reaches. */
int tn_trainer_learning_count(const tn_trainer *trainer);
/* The optimiser's own tensors (momentum, moments), for checkpoints. */
int tn_trainer_state_count(const tn_trainer *trainer);
const tn_view *tn_trainer_state(const tn_trainer *trainer, int index);
/* The parameters, then the optimiser's: all that a step changes. */
int tn_trainer_lasting_count(const tn_trainer *trainer);
const tn_view *tn_trainer_lasting(const tn_trainer *trainer, int index);
/* Whether they are memory of all ranks: what one writes there all have. */
bool tn_trainer_is_shared(const tn_trainer *trainer);
void tn_trainer_bind_input(tn_trainer *trainer, int index, const tn_view *view);
/* For graphs that call the host; see graph/effects.h. */
void tn_trainer_set_effects(tn_trainer *trainer, const tn_effects *effects);

int64_t tn_trainer_step_number(const tn_trainer *trainer);
void tn_trainer_set_step_number(tn_trainer *trainer, int64_t step);
/* Where the schedule ends, from the next step on. */
void tn_trainer_set_steps(tn_trainer *trainer, int64_t steps);
/* The first operation of a step that produced a NaN or infinity from finite operands. */
typedef struct {
  tn_op op; /* TN_OP_ERROR: none was found */
  tn_span at;
  double value;
} tn_not_finite;
/* One step; *loss is that of the parameters before the update. On failure nothing has changed. */
bool tn_trainer_step(tn_trainer *trainer, double *loss, tn_fault *fault);
/* The same in three parts. `prepare` takes the current inputs for the step of this number, which is started
 * next; if it works ahead, the step before may still be running. Calling it again replaces them. `finish`
 * follows a successful start. */
void tn_trainer_prepare(tn_trainer *trainer, int64_t step);
bool tn_trainer_start(tn_trainer *trainer, tn_fault *fault);
bool tn_trainer_finish(tn_trainer *trainer, double *loss, tn_fault *fault);
/* Whether a GPU computes between start and finish, so that it pays to prepare the next step meanwhile. */
bool tn_trainer_works_ahead(const tn_trainer *trainer);
bool tn_trainer_is_guarded(const tn_trainer *trainer);
/* Whether the last step failed because the sum of its loss and gradients is NaN or infinity. Finite ones may
 * add up to that too: then the caller lets the step pass, once. */
bool tn_trainer_refused(const tn_trainer *trainer);
void tn_trainer_let_pass(tn_trainer *trainer);
/* The first parameter that the last step of a guarded trainer made NaN or infinity, although its gradient was
 * finite, and the operation. False: there is none. */
bool tn_trainer_find_spoiled(const tn_trainer *trainer, tn_not_finite *out);
/* For a trainer that shows all, after a step. False: everything is finite. */
bool tn_trainer_find_not_finite(const tn_trainer *trainer, tn_not_finite *out);
/* Whether a float tensor holds a NaN or an infinity, and the first one. */
bool tn_view_not_finite(const tn_view *view, double *value);
/* The graph of a step, for `emit`; with shards that of the update. */
const tn_graph *tn_trainer_graph(const tn_trainer *trainer);
#endif
