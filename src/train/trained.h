/* train/trained.h: the model of a run's folder, ready to compute.
 *
 * Shared by predicting and generating: the program is opened without its data,
 * data.json is read, parameters get the run's values once their shapes are known,
 * and graphs become plans that read them. */
#ifndef TN_TRAIN_TRAINED_H
#define TN_TRAIN_TRAINED_H

#include "backend/backend.h"
#include "backend/cuda/resident.h"
#include "lang/training.h"
#include "opt/opt.h"
#include "plan/plan.h"
#include "train/facts.h"

typedef struct {
  const tn_backend *backend;
  int threads;
  tn_pass_set passes;
  const tn_opt_evaluator *evaluator;
  tn_str facts; /* data.json; empty: the run has none */
  const char *facts_path;
} tn_trained_options;

typedef struct {
  tn_host *host;
  const tn_trained_options *options;
  tn_arena *arena;
  tn_training program;
  tn_facts facts;
  tn_tensor *params; /* NULL before tn_trained_params */
  tn_resident *resident; /* where they live on a card; NULL: no plan has wanted them there */
} tn_trained;

/* False after reporting; tn_trained_close frees in every case. */
bool tn_trained_open(tn_trained *trained, tn_unit *unit, const tn_training_doors *doors,
                     const tn_trained_options *options, tn_arena *arena);
void tn_trained_close(tn_trained *trained);

/* data.json of a run for a program. False after reporting; tn_facts_free frees in every case. */
bool tn_trained_facts(tn_host *host, const tn_trained_options *options, const tn_specs *specs,
                      tn_arena *arena, tn_facts *out);
/* The values of all parameters, the first time it is called. */
bool tn_trained_params(tn_trained *trained, const tn_sizes *sizes);
/* Optimises the graph of known shapes and plans it, with the program's parameters bound. `updates` is that of
 * tn_plan_options. NULL after reporting. */
tn_plan *tn_trained_plan(tn_trained *trained, tn_graph *graph, const int *updates);

tn_str tn_trained_input(const tn_trained *trained, size_t input);
/* Whether the command line, or the training, gave the input its value. */
bool tn_trained_is_given(const tn_trained *trained, size_t input);
/* Both report and return false. */
bool tn_trained_no_memory(const tn_trained *trained);
bool tn_trained_fault(const tn_trained *trained, const tn_fault *fault);
#endif
