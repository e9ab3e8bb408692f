/* train/loop_internal.h: shared by the files of the training loop. */
#ifndef TN_TRAIN_LOOP_INTERNAL_H
#define TN_TRAIN_LOOP_INTERNAL_H

#include "backend/cuda/resident.h"
#include "base/file.h"
#include "base/json.h"
#include "base/rng.h"
#include "base/sha256.h"
#include "data/safetensors.h"
#include "plan/plan.h"
#include "train/loop.h"
#include "train/record.h"
#include "train/rows.h"

/* How a split is evaluated (evaluate.c). */
typedef struct {
  size_t first, rows;       /* of the order */
  tn_sizes sizes, part;     /* of the whole split, and of a piece */
  tn_lowered lowered;       /* for the whole split */
  tn_row_pieces pieces;
  tn_plan *plan;            /* of the whole, or of what needs all rows */
  tn_plan *piece;           /* NULL: not in pieces */
  tn_tensor *inputs;        /* of `plan`, by input of the program; those it does not read are empty */
  tn_tensor *piece_inputs;
  tn_tensor *cut;           /* all rows of what pieces compute, by output of `piece` */
  bool compares;            /* a metric compares the prediction of every row with its target */
} tn_evaluation;

/* The best evaluation so far (best.c). */
typedef struct {
  int64_t step;      /* whose update it came after; -1: none yet */
  double value;      /* of the first metric */
  int64_t waited;    /* evaluations since then */
  tn_tensor *params; /* as they were then, if the program keeps them */
  int count;         /* of those; 0: they are not kept */
} tn_best;

typedef struct {
  tn_host *host;
  uint32_t file;
  const tn_loop_options *options;
  tn_loop_options *own;      /* the same, until the device is chosen */
  tn_arena *arena;
  tn_training program;       /* as its language describes it */
  const tn_eval_block *eval; /* the program's; NULL: none, or nothing to evaluate on */
  tn_rows rows;
  const char *data;          /* the file of the rows, if it is not the program's own; NULL: it is */
  tn_sizes sizes; /* of a training batch */
  tn_sizes part;  /* of one shard of it */
  tn_lowered lowered;
  tn_tensor *first; /* first values of the parameters */
  tn_resident *resident; /* where those live on a card, if nothing is trained (evaluate.c) */
  tn_trainer *trainer;
  tn_tensor *inputs; /* one batch, by input */
  tn_rng rng;        /* draws batches */
  uint32_t *epoch_order; /* of a program that counts epochs: the rows of `epoch`; NULL: rows are drawn */
  uint64_t epoch;
  struct {           /* the next step's batch, if it is drawn and the trainer has taken it */
    bool drawn;
    int64_t step;
    uint64_t from;   /* where the generator was; it stays there until the batch is used */
    tn_rng rng;      /* and where it is afterwards */
  } ahead;
  tn_evaluation evaluation;
  bool compares;      /* predictions are compared with their targets, whatever the metrics are (score.c) */
  tn_evaluation test; /* once, of the model that the run leaves; no rows: none */
  bool tested;
  double test_values[TN_METRIC_LIMIT];
  tn_best best;
  bool ended;        /* patience is used up: no further step is made */
  int64_t steps;
  tn_text history;                /* rows for the answer, if they are kept: objects, a comma after each */
  tn_text lines;                  /* of history.jsonl that are not yet there */
  uint64_t history_bytes;         /* of history.jsonl that are there and good */
  tn_sha256 history_hash;         /* of those */
  bool said_cannot_write;
  tn_vec(tn_segment) segments; /* of the run so far; the last one is this run's own */
  struct tn_kept *kept;        /* what lasts, as it was some steps ago (finite.c); NULL: none yet */
  bool spoiled;                /* a loss or parameter is NaN or infinity, or a step has no row: not kept */
  int held;                    /* the run's folder, as long as the run lasts (base/folder.h); -1: none */
  bool in_place;               /* it is also the folder that is resumed */
  bool idle;                   /* it has more steps than are wanted: nothing is computed or written */
  int64_t saved_step;          /* of the last checkpoint, or of the beginning */
  uint8_t saved_weights[32];   /* SHA-256 of the parameters then */
  int64_t until;               /* when a run is repeated: the step of its checkpoint */
  int64_t weights_step;        /* when a run is repeated: the step of its weights.safetensors; -1: none */
  tn_transport *transport;     /* to other ranks that compute shards (ranks.c); NULL: there are none */
  int ranks;                   /* those, with this one; 0 and 1: none */
  int64_t first_row, end_row;  /* of a batch: those of this rank's shards */
  uint64_t *marks;             /* of the state, by rank; NULL: not yet */
  tn_str base;                 /* relative path from the run's folder to the current one; empty: not known */
} tn_loop;

bool tn_loop_out_of_memory(tn_loop *loop);
/* A line for the user, of rank 0. */
void tn_loop_say(const tn_loop *loop, tn_str line);
/* Inputs, data, hyperparameters and metrics (plan.c). */
void tn_loop_say_plan(tn_loop *loop);
/* In the words of the program's language. Returns false. */
bool tn_loop_fault(tn_loop *loop, const tn_fault *fault);
/* The name of a parameter. */
tn_str tn_loop_param_name(const tn_loop *loop, int param);

/* Several processes (ranks.c). Without others every question has the answer that lets one work alone. */
/* Whether this is rank 0, which evaluates, prints and writes. */
bool tn_loop_is_first(const tn_loop *loop);
/* Whether this rank has no shard. */
bool tn_loop_is_idle_rank(const tn_loop *loop);
/* Which ranks compute, and which rows are this one's. */
void tn_loop_find_ranks(tn_loop *loop);
/* From now on this process computes all shards: a trainer that is made now does. */
void tn_loop_leave_ranks(tn_loop *loop);
/* All have the same tern, program, data and options. False after reporting; so do the others. */
bool tn_loop_meet_ranks(tn_loop *loop);
/* All get rank 0's step, generator and state. */
bool tn_loop_share_state(tn_loop *loop);
/* After an evaluated step: rank 0 tells all ranks whether training ends early. */
bool tn_loop_share_end(tn_loop *loop, int64_t step);
/* During long work of one rank: checks that no other has failed. */
bool tn_loop_listen(tn_loop *loop);
/* Every few steps, and `now`: all have the same state. */
bool tn_loop_compare_ranks(tn_loop *loop, bool now);
/* Rank 0 tells those without a shard that the training has ended; they wait for it. */
bool tn_loop_tell_end(tn_loop *loop);
bool tn_loop_wait_for_end(tn_loop *loop);
/* Reports why a step was not made: a fault of its own, or of another rank. False. */
bool tn_loop_step_failed(tn_loop *loop, const tn_fault *fault);

/* A trainer for the program's step, with the inputs bound and parameters of zero. NULL after reporting. */
tn_trainer *tn_loop_new_trainer(tn_loop *loop, bool shows_all);

/* NaN and infinity (finite.c). Whether the steps of this run are guarded: parameters and state are so large
 * that no copy of them is kept. */
bool tn_loop_guards(const tn_loop *loop);
/* Called before every step; now and then, or when `now`, copies parameters and optimiser state, so that the
 * step that went wrong can be repeated. Where steps are guarded, a checkpoint is written when `now`. */
typedef struct tn_kept tn_kept;
bool tn_loop_keep(tn_loop *loop, bool now);
/* A guarded step was refused, and nothing has changed: true if all its values are finite, and only their sum
 * is not; it may pass then. Else reports E_NOT_FINITE. */
bool tn_loop_may_pass(tn_loop *loop);
/* After a guarded step: no parameter has become NaN or infinity. */
bool tn_loop_check_update(tn_loop *loop);
/* The last step was done, but its history row failed: undoes the step, if the state was copied
 * right before it; otherwise the run's last checkpoint remains. */
void tn_loop_take_back(tn_loop *loop, int64_t step);
/* The loss of this step is NaN or infinity: repeats the last steps, and reports E_NOT_FINITE with
 * the step, the operation and the place where it began. False. */
bool tn_loop_not_finite(tn_loop *loop, int64_t step, double value);
/* At the end: the last update may have spoiled a parameter. */
bool tn_loop_check_params(tn_loop *loop);
void tn_loop_free_kept(tn_loop *loop);

/* Whether the rows or the command line give every input a value. Reports each that has none. */
bool tn_loop_check_inputs(tn_loop *loop);
/* Frees everything. */
void tn_loop_free(tn_loop *loop);
/* The sizes of the program for so many rows. */
bool tn_loop_size_rows(tn_loop *loop, int64_t rows, tn_sizes *sizes);

/* Batches (batch.c). */
/* Whether the command line gives the input's value. */
bool tn_loop_is_supplied(const tn_loop *loop, size_t input);
/* Whether the data gives the input's value, and not the command line. */
bool tn_loop_is_fed(const tn_loop *loop, size_t input);
/* Memory for the inputs, with the values that the command line gives; `wanted` (NULL: all) picks some. */
bool tn_loop_make_inputs(tn_loop *loop, const tn_sizes *sizes, const bool *wanted, tn_tensor **inputs);
/* The next training batch, from the generator; the trainer is prepared with it. */
bool tn_loop_draw_batch(tn_loop *loop);
/* The same for the step after one that has been started, where the trainer works ahead. It counts as drawn
 * when that step is made. */
void tn_loop_draw_ahead(tn_loop *loop);
/* Rows first, first + 1, ... of the order into the inputs that have memory. */
void tn_loop_fill_rows(tn_loop *loop, const tn_tensor *inputs, size_t first, size_t count);

/* Whether every token and label of the rows is inside the tables that the loss looks them up in
 * (indices.c). */
bool tn_loop_check_indices(tn_loop *loop);

/* Evaluation (evaluate.c). */
bool tn_loop_prepare_eval(tn_loop *loop);
bool tn_loop_evaluate(tn_loop *loop, tn_history_row *row);
/* The test split, if there is one and this row is the last. */
bool tn_loop_test(tn_loop *loop, tn_history_row *row);
/* Whether the program asks for it after this step: the same answer on every rank. */
bool tn_loop_is_evaluated(const tn_loop *loop, int64_t step);
void tn_loop_free_eval(tn_loop *loop);

/* The best evaluation (best.c): of rank 0 alone, after tn_loop_prepare_eval. */
struct tn_recorded_row;
bool tn_loop_prepare_best(tn_loop *loop);
void tn_loop_free_best(tn_loop *loop);
/* A row that has just been made, or one of the history, counts; `ended` follows from it. */
void tn_loop_note_best(tn_loop *loop, const tn_history_row *row);
/* What it would do: its parameters would be the best, or it would be the last. */
bool tn_loop_would_be_best(const tn_loop *loop, const tn_history_row *row);
bool tn_loop_would_be_last(const tn_loop *loop, const tn_history_row *row);
void tn_loop_note_recorded(tn_loop *loop, const struct tn_recorded_row *row);
/* Whether parameters are kept that are not those of the last step. */
bool tn_loop_has_best(const tn_loop *loop);
/* The model that the run saves: the best parameters, or the last; and the number of steps they were
 * trained for. */
const tn_view *tn_loop_model_param(const tn_loop *loop, int param);
/* The same for a plan on the device of the training: values on a card stay there. */
const tn_view *tn_loop_model_place(const tn_loop *loop, int param);
bool tn_loop_share_model_param(const tn_loop *loop, int param, tn_tensor *out); /* false: no memory */
int64_t tn_loop_model_step(const tn_loop *loop);
/* Why the run ended before its last step, and which parameters it keeps. */
void tn_loop_say_best(const tn_loop *loop);

/* Steps from one checkpoint to the next. */
int64_t tn_loop_checkpoint_every(const tn_loop *loop);
/* Steps up to this one. False after reporting. */
bool tn_loop_run_until(tn_loop *loop, int64_t end);

/* The run's folder (folder.c, resume.c). */
#define TN_CHECKPOINT_FILE   "checkpoint"
#define TN_CHECKPOINT_FORMAT "tern checkpoint 1"
#define TN_WEIGHTS_FILE      "weights.safetensors"
#define TN_RUN_FILE_LIMIT    ((uint64_t)1 << 40)
/* The folder is made and held; then the run gives up everything but it, the folder it is resumed from and
 * the files that the program names. */
bool tn_loop_seal(tn_loop *loop);
bool tn_loop_resume(tn_loop *loop);
bool tn_loop_begin_folder(tn_loop *loop);
bool tn_loop_checkpoint(tn_loop *loop);
bool tn_loop_finish_folder(tn_loop *loop, tn_run_status status);
/* A file of a run's folder; its path goes into the arena, if `path` is not NULL. Reports nothing. */
tn_file_status tn_loop_read_file(tn_loop *loop, const char *folder, const char *name, tn_str *path,
                                 tn_file_bytes *out);
/* The text of a file as it is now. False after reporting. */
bool tn_loop_write_checkpoint(tn_loop *loop, tn_text *out);
bool tn_loop_write_weights(tn_loop *loop, tn_text *out);
bool tn_loop_write_given(tn_loop *loop, tn_text *out);
bool tn_loop_write_facts(tn_loop *loop, tn_text *out); /* of a loop that has rows */

/* Repeating a recorded run (verify.c): how far it went and by which segments, as far as its files agree with
 * each other; then all of its steps, compared with those files. */
bool tn_loop_read_goal(tn_loop *loop);
bool tn_loop_repeat(tn_loop *loop);
/* The next line of the history, with its end, is this one. */
bool tn_loop_compare_line(tn_loop *loop, int64_t step, tn_str line);

/* What a checkpoint has: the parameters, the optimiser's tensors, the best parameters if they are kept.
 * `out` has room for tn_loop_tensor_limit; names are put into the arena. */
void tn_loop_name_tensors(tn_loop *loop, tn_arena *arena, tn_named_view *out, size_t *count);
size_t tn_loop_tensor_limit(const tn_loop *loop);
/* SHA-256 of the program's text. */
void tn_loop_source_sha256(const tn_loop *loop, uint8_t digest[32]);
/* SHA-256 of all parameters in order: those of the last step. */
void tn_loop_weights_sha256(const tn_loop *loop, uint8_t digest[32]);
/* Of the model that the run saves: the best, if that is kept. */
void tn_loop_model_sha256(const tn_loop *loop, uint8_t digest[32]);
/* As hexadecimal digits. No memory is allocated: a hash that is missing would make the file another run's. */
tn_str tn_loop_hex(const uint8_t digest[32], char out[64]);
/* A member of a JSON object: a hash in hexadecimal. */
void tn_loop_add_hash(tn_json_writer *json, const char *key, const uint8_t digest[32]);
/* Another: an object of metrics. */
void tn_loop_metrics_json(tn_json_writer *json, const char *key, const tn_eval_block *eval,
                          const double *values);
void tn_loop_history_json(const tn_history_row *row, const tn_eval_block *eval, tn_text *out);
#endif
