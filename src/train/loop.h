/* train/loop.h: training a whole program, from its data file to its weights.
 *
 * Everything that happens is a function of the program, the data and the seed:
 * which rows make a batch, in which order things are added, when evaluation
 * runs. What is printed goes to the host line by line; what a script needs is in
 * the outcome. With a folder, the run writes its record, its history, its weights
 * and a checkpoint there, each atomically. */
#ifndef TN_TRAIN_LOOP_H
#define TN_TRAIN_LOOP_H

#include "cluster/transport.h"
#include "lang/training.h"
#include "train/record.h"
#include "train/trainer.h"

/* One step, as the history keeps it. */
typedef struct {
  int64_t step;
  double loss;
  bool evaluated;
  double eval_loss;                /* when evaluated */
  double values[TN_METRIC_LIMIT];  /* then, of the metrics in the order of the eval block */
  bool tested;                     /* the last step of a run with a test split */
  double test_values[TN_METRIC_LIMIT];
} tn_history_row;

/* Facts about a run before its first step. Borrowed: valid during the call. All texts end with a
 * NUL. */
typedef struct {
  tn_str program, source;     /* its name and its text */
  tn_str data;                /* path of the data file; empty: none */
  const uint8_t *source_sha256, *data_sha256;
  uint64_t seed;
  int64_t step, steps;        /* the first step of this run, and one past the last */
  int ranks;                  /* processes; 1: this one alone */
  const char *device;         /* "cpu" or "cuda" */
  const tn_metric *metrics;   /* that are evaluated */
  size_t metric_count;
  const tn_hyper *hypers;     /* those of the train block, then the constants of the program */
  size_t hyper_count;
  double epochs_per_step;     /* rows of a step, divided by those of the training split; 0: no data */
  const char *data_format;    /* NULL: no data */
} tn_run_facts;

/* Who follows a run: called on the training thread, between steps. Each may be NULL. */
typedef struct {
  void *context;
  void (*begin)(void *context, const tn_run_facts *facts);
  void (*step)(void *context, const tn_history_row *row);
  /* The run ended: "completed" or "stopped", before this step, with these parameters. */
  void (*end)(void *context, const char *status, int64_t step, const uint8_t weights_sha256[32]);
  bool wants_hashes; /* of the data; zeros otherwise */
} tn_loop_watch;

/* The files of a recorded run, read before it is repeated, so that all are of one moment. Borrowed. */
typedef struct {
  const char *folder;
  const tn_run_record *record;     /* run.json, read */
  tn_str checkpoint;
  tn_str history;                  /* empty where there is none */
  tn_str weights;                  /* weights.safetensors; `at` is NULL where there is none */
  tn_str given;                    /* given.safetensors, if the record says that there is one */
  tn_str facts;                    /* data.json; empty where there is none */
  const char *checkpoint_path, *weights_path;
} tn_recorded_run;

/* What the repeated run has confirmed. */
typedef struct tn_verified {
  int64_t steps, wanted;      /* repeated, and the total of the run */
  int64_t weights_step;       /* of weights.safetensors; -1: there is none */
  uint8_t weights_sha256[32]; /* of the parameters in the checkpoint */
  bool facts;                 /* the run has a data.json */
} tn_verified;

typedef struct {
  const tn_backend *backend;
  int threads;
  tn_pass_set passes;
  const tn_opt_evaluator *evaluator;
  int64_t steps;            /* instead of the program's; 0: the program's */
  const char *out;          /* the run's folder; NULL: none */
  const char *resume;       /* a folder to resume from; NULL: none */
  int64_t checkpoint_every; /* 0: 100 */
  const char *version;      /* of tern, for the record */
  const tn_recorded_run *verify; /* a run to repeat and compare with its files; NULL: none */
  tn_verified *verified;    /* filled in when everything agrees; NULL: not needed */
  bool brief;               /* prints only the last step and how the run ended */
  bool no_steps;            /* prints no steps */
  bool keep_history;        /* for `extra_json` */
  const tn_loop_watch *watch; /* NULL: none */
  tn_transport *transport;    /* to the other ranks of the training; NULL: there are none */
} tn_loop_options;

#define TN_CHECKPOINT_EVERY 100
/* A file of the run's folder: the values from the command line. */
#define TN_GIVEN_FILE    "given.safetensors"
#define TN_GIVEN_INPUT   "input."
#define TN_GIVEN_PARAM   "param."
#define TN_GIVEN_WEIGHTS "weights."
/* Another: the facts about the training data that a model needs (rows.h). */
#define TN_FACTS_FILE    "data.json"
#define TN_EVAL_ROWS        1024 /* of a piece of a larger split */

/* A stretch of steps made for one number of steps, which a schedule and the last evaluation depend on.
 * A run that was resumed with another number has several. */
typedef struct {
  int64_t from, steps;
} tn_segment;

/* False after reporting. The unit keeps the trained parameters; `out->extra_json` holds steps, history (if
 * it is kept), params and weights_sha256. An interrupt ends training early with E_INTERRUPTED after a last
 * checkpoint. */
bool tn_train_loop(tn_unit *unit, const tn_training_doors *doors, const tn_loop_options *options,
                   tn_arena *arena, tn_outcome *out);
#endif
