/* lang/training.h: the entry points of a language whose programs can be trained.
 *
 * A language whose programs can be trained has a tn_training_doors; train/ calls
 * it and knows no language. Opening a program gives a
 * description: its inputs and parameters, the optimiser's options, the data set
 * and the evaluation, all checked and with defaults filled in. Dimensions may
 * still have names. They get their lengths from given values, the data set and
 * defaults (`size`), and with those the program is lowered to a graph of known
 * shapes, as often as lengths change.
 *
 * The steps of a training run:
 *
 *   open          the program has no errors; given values fit it; its data may be read
 *   seal          compiling is over
 *   lower_stage   graphs that run over the rows while they are read
 *   size          shapes of all inputs and parameters
 *   init_params   first values, --param and --weights
 *   lower         for training and for inference: two graphs over the same parameters
 *   allow         E_CAPABILITY_DENIED, before anything runs
 *   step; a fault of a step goes to report_fault
 *
 * Every function that returns bool reports to the host's diagnostics before it
 * returns false. */
#ifndef TN_LANG_TRAINING_H
#define TN_LANG_TRAINING_H

#include "base/rng.h"
#include "lang/lang.h"
#include "lang/metrics.h"

/* ---- training ---- */

typedef struct {
  tn_span at;
  int64_t batch;      /* rows in a step: those of all its shards, with `accumulate` */
  int64_t accumulate; /* batches per step */
  int64_t epochs;     /* instead of steps: how often every row is trained on; 0: rows are drawn */
  int64_t patience;   /* evaluations without a better one that end training; 0: it does not end early */
  bool keep_best;     /* the model is the one of the best evaluation, not of the last step */
  tn_str decay, no_decay; /* the lists as they are written, for people; empty: none */
  tn_train_options options;
} tn_train_block;

/* A field of the train block or a constant of the program, with the value that it has in this run. */
typedef struct {
  tn_str name, value; /* a number as JSON has it, or a text; both end with a NUL */
} tn_hyper;

/* ---- evaluation ---- */

typedef struct {
  tn_span at;
  int64_t every;            /* steps */
  bool on_train;            /* of the rows for training; else of those held back for validation */
  const tn_metric *metrics; /* as the program lists them, each once */
  size_t metric_count;
  bool classifies;          /* the loss compares logits with labels */
  int target;               /* the input that predictions are compared with; < 0: none */
} tn_eval_block;

/* ---- the data set ---- */

typedef enum {
  TN_DATASET_JSONL,
  TN_DATASET_TSV,
  TN_DATASET_CSV,
  TN_DATASET_TEXT,
  TN_DATASET_NPY,
  TN_DATASET_NPZ
} tn_dataset_format;
const char *tn_dataset_format_name(tn_dataset_format format);
int tn_dataset_format_find(tn_str name); /* -1: there is none */
typedef enum { TN_STAGE_MAP, TN_STAGE_FILTER } tn_stage_kind;

/* Which part of a row a column of the data is. JSONL: the key. TSV: the columns, counted from
 * 0, or the default layout (the last column is the label, all before it are features). */
typedef struct {
  tn_str key;
  const int32_t *columns;
  size_t column_count; /* 0: the default layout */
} tn_dataset_column;

/* Columns of a table by name, or, where the name is empty, those from first to last, counted from 0. */
typedef struct {
  tn_str name;
  uint32_t first, last;
} tn_dataset_pick;

/* How texts become tokens. */
typedef enum {
  TN_TOKENS_NUMBERS, /* none: the column has numbers */
  TN_TOKENS_WORDS,
  TN_TOKENS_CHARS,
  TN_TOKENS_BYTES,
  TN_TOKENS_BPE
} tn_dataset_tokens;

/* The columns of a table that feed an input. JSONL: the keys. NPZ: the array of that name. Text: how it
 * becomes tokens. */
typedef struct {
  size_t input;
  const tn_dataset_pick *picks;
  size_t pick_count; /* 0: all columns that no other input takes */
  tn_str other;      /* JSONL: the alternative key of a single pick; empty: none */
  bool normalized;   /* less the mean, by the standard deviation, of the rows for training */
  tn_dataset_tokens tokens;
  int64_t size;      /* of words and characters: the most tokens of a vocabulary; 0: any number */
  tn_str tokenizer;  /* of byte pairs: the path of the file */
  tn_span at;
} tn_dataset_feed;

/* What a missing number becomes. */
typedef enum { TN_MISSING_REFUSED, TN_MISSING_NUMBER, TN_MISSING_MEAN } tn_dataset_missing;

typedef struct {
  tn_stage_kind kind;
  tn_name function;
  bool on_labels; /* the column it works on: labels, else the features */
  tn_span at;
} tn_dataset_stage;

typedef struct {
  tn_span at;
  tn_dataset_format format;
  tn_str path;
  tn_span path_at;
  tn_dataset_column features, labels;
  int features_input, labels_input; /* the inputs that the columns feed, or -1 */
  bool fed;                         /* every input that is not given has a feed, instead of the columns above:
                                       all formats but text, JSONL with stages and TSV without names */
  const tn_dataset_feed *feeds;     /* and these are they; text: of the input of tokens */
  size_t feed_count;
  bool header, header_is_default; /* the first row has names; whether the program says nothing of it */
  char delimiter;
  tn_dataset_missing missing;
  double missing_number;
  bool shuffle;
  double split;                   /* 0 < split <= 1: of the rows, those for training */
  tn_span split_at;               /* its value; the block, where it is not given */
  double test;                    /* of the rows, those that are measured once, at the end; 0: none */
  const tn_dataset_stage *stages; /* all maps, then all filters, each in source order */
  size_t stage_count;
} tn_dataset_block;

/* ---- lengths ---- */

typedef struct {
  const tn_shape *inputs; /* known, one for each input */
  const tn_shape *params;
  const tn_binding *names; /* the length of every named dimension */
  size_t name_count;
} tn_sizes;

typedef struct {
  /* One for each input: the shape of the value it gets, or rank -1 where it has none yet. NULL:
   * none. The values of host->inputs count before these. */
  const tn_shape *given;
  int64_t batch;    /* the length of the batch's dimension where nothing else says; 0: none */
  bool no_defaults; /* an unbound name is E_DIM_UNBOUND: there is a data set */
} tn_size_request;

/* ---- the doors ---- */

/* A compiled program; each language completes the structure for itself. */
typedef struct tn_model tn_model;

typedef enum {
  TN_LOWER_INFERENCE,
  TN_LOWER_TRAINING /* what drops out draws: the graph has an input TN_DROPOUT_KEY after the program's own */
} tn_lower_mode;
/* The name of an i64 scalar input that keys dropout: the trainer sets it in every step. */
#define TN_DROPOUT_KEY "dropout_key"

/* Borrowed from the program, and valid until it is closed. */
typedef struct tn_training {
  const struct tn_training_doors *doors; /* set by the caller that opens it */
  tn_model *model;
  tn_specs specs;
  const tn_train_block *train;
  const tn_eval_block *eval;       /* NULL: none */
  const tn_dataset_block *dataset; /* NULL: none */
  const tn_hyper *constants;
  size_t constant_count;
  tn_effects effects;              /* executes the `host` operations of its graphs */
} tn_training;

typedef struct tn_training_doors {
  bool (*open)(tn_unit *unit, tn_training *out);
  /* The same for a model that has been trained: its own data set is not read. */
  bool (*open_trained)(tn_unit *unit, tn_training *out);
  void (*close)(tn_model *model); /* NULL is allowed */
  /* The program is compiled and computing begins; of files it opens those that it names. */
  bool (*seal)(tn_model *model);
  /* Binds names in order: host->inputs, `given`, the batch, defaults; then resolves parameters. Into the
   * arena. */
  bool (*size)(const tn_model *model, const tn_size_request *request, tn_arena *arena, tn_sizes *out);
  /* The first values of all parameters: drawn from the seed in declaration order, then replaced by
   * host->weights and host->params. params[i] receives a share; on failure none is left. */
  bool (*init_params)(const tn_model *model, const tn_sizes *sizes, tn_tensor *params);
  /* The value that host->inputs has for an input, in the graph's dtype. */
  bool (*supplied)(const tn_model *model, size_t input, tn_tensor *out);
  /* Draws an input from a generator, row-major: numbers from -1 up to 1, or indices that every table they
   * go into has. */
  void (*draw)(const tn_model *model, size_t input, const tn_sizes *sizes, tn_rng *rng, const tn_view *out);
  /* The graph of *out, with its loss and its logits; its values stay as they are. Inputs and parameters
   * stand in the program's order. It has no graph after a failure. */
  bool (*lower)(const tn_model *model, const tn_sizes *sizes, tn_lower_mode mode, tn_lowered *out);
  /* One stage of the data set for one row: a graph with one input and one output. `row` is the shape of the
   * column in one row ([] for a label, [n] for features). A map gives the dtype it was given (i32, or f32
   * for a tensor input's features), a filter a bool scalar. */
  bool (*lower_stage)(const tn_model *model, size_t stage, const tn_shape *row, tn_graph *out);
  /* Refuses every effect that the outputs certainly need and the host does not allow. `effects`
   * refuses those under an `if`, before their branch runs. */
  bool (*allow)(tn_model *model, const tn_graph *graph);
  /* Whether every metric of the eval block has a meaning for predictions of this shape and their target's
   * (NULL: there is none). Lengths may be unknown. Reports each that has none. */
  bool (*check_metrics)(const tn_model *model, const tn_shape *prediction, const tn_shape *target);
  /* The name of the function that an operation at this place comes from, as the program wrote it. */
  tn_str (*called)(const tn_model *model, tn_op op, tn_span at);
  /* Reports a fault in a graph of this program with the codes of the language. Returns false. */
  bool (*report_fault)(const tn_model *model, const tn_fault *fault);
} tn_training_doors;
#endif
