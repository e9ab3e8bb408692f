/* train/loop.h: training an AILang program, from its data file to its weights.
 *
 * Everything that happens is a function of the program, the data and the seed:
 * which rows make a batch, in which order things are added, when evaluation
 * runs. What is printed goes to the host line by line; what a script needs is in
 * the outcome. With a folder, the run leaves its record, its history, its
 * weights and a checkpoint there, each written whole or not at all. */
#ifndef TN_TRAIN_LOOP_H
#define TN_TRAIN_LOOP_H

#include "lang/lang.h"
#include "train/trainer.h"

/* One step, as the history keeps it. */
typedef struct {
  int64_t step;
  double loss;
  bool evaluated;
  double eval_loss, eval_accuracy; /* when evaluated */
} tn_history_row;

/* What is known of a run before its first step. Borrowed: valid during the call. */
typedef struct {
  tn_str program, source;     /* its name and its text */
  tn_str data;                /* path of the data file; empty: none */
  const uint8_t *source_sha256, *data_sha256;
  uint64_t seed;
  int64_t step, steps;        /* the first step of this run, and one past the last */
} tn_run_facts;

/* Who follows a run: called on the training thread, between steps. Each may be NULL. */
typedef struct {
  void *context;
  void (*begin)(void *context, const tn_run_facts *facts);
  void (*step)(void *context, const tn_history_row *row);
  /* The run ended: "completed" or "stopped", before this step, with these parameters. */
  void (*end)(void *context, const char *status, int64_t step, const uint8_t weights_sha256[32]);
} tn_loop_watch;

typedef struct {
  const tn_backend *backend;
  int threads;
  tn_pass_set passes;
  const tn_opt_folder *folder;
  int64_t steps;            /* instead of the program's; 0: the program's */
  const char *out;          /* the run's folder; NULL: none */
  const char *resume;       /* a folder to go on from; NULL: none */
  int64_t checkpoint_every; /* 0: 100 */
  const char *version;      /* of tern, for the record */
  const tn_loop_watch *watch; /* NULL: nobody */
} tn_loop_options;

#define TN_CHECKPOINT_EVERY 100
#define TN_EVAL_ROWS        1024 /* rows that are evaluated together */

/* False after reporting. `out->extra_json` holds steps, history, params and weights_sha256. An
 * interrupt ends training early with E_INTERRUPTED after a last checkpoint. */
bool tn_train_loop(tn_host *host, uint32_t file, const tn_loop_options *options, tn_arena *arena,
                   tn_outcome *out);
#endif
