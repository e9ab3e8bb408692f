/* lang/ail/ail.h: a compiled AILang program, for callers that run or train it.
 *
 * Compiling parses and checks; what comes out has no errors left that can be
 * known without data. It still has named dimensions: they get their lengths from
 * constants, supplied values, the data set and defaults (tn_ail_size), and with
 * those the program is lowered to a graph of known shapes (tn_ail_lower), as
 * often as lengths change.
 *
 * The way of a training run:
 *
 *   program = tn_ail_compile(host, file);
 *   tn_ail_check_given(program, TN_AIL_TO_TRAIN);
 *   tn_ail_require_loss(program);               E_TRAIN_REQUIRES_LOSS
 *   tn_ail_allow_dataset(program);              E_DATASET_CAPABILITY_DENIED, before anything is read
 *   read the rows; run tn_ail_lower_stage's graphs over them
 *   tn_ail_size(program, ...);                  shapes of all inputs and parameters
 *   tn_ail_init_params(program, ...);           first values, --param and --weights
 *   tn_ail_lower(program, TRAIN) and (EVAL);    two graphs over the same parameters
 *   tn_ail_allow(program, ...);                 E_CAPABILITY_DENIED, before anything runs
 *   step; a fault of a step goes to tn_ail_report_fault
 *
 * Every function that returns bool reports to the host's diagnostics before it
 * returns false. Strings and lists live as long as the program. */
#ifndef TN_LANG_AIL_AIL_H
#define TN_LANG_AIL_AIL_H

#include "base/rng.h"
#include "graph/graph.h"
#include "lang/lang.h"

#define TN_AIL_UNROLL_LIMIT       10000
#define TN_AIL_NESTING_LIMIT      200
#define TN_AIL_MACHINE_STEP_LIMIT 10000

typedef struct tn_ail tn_ail;

/* NULL after reporting. The host must outlive the program. */
tn_ail *tn_ail_compile(tn_host *host, uint32_t file);
void tn_ail_free(tn_ail *program);

/* ---- what the program declares ---- */

/* The static types of the language. In a graph a tensor is f32, token ids and labels are i32,
 * a boolean is bool. */
typedef enum { TN_AIL_TENSOR, TN_AIL_TOKEN_IDS, TN_AIL_LABELS, TN_AIL_BOOLEAN, TN_AIL_UNKNOWN } tn_ail_kind;

/* "tensor", "token_ids", "labels", "boolean", "unknown" */
const char *tn_ail_kind_name(tn_ail_kind kind);
tn_dtype tn_ail_kind_dtype(tn_ail_kind kind);

typedef struct {
  tn_name name;
  tn_ail_kind kind; /* of a parameter: always a tensor */
  tn_shape shape;   /* lengths, names, and TN_DIM_UNKNOWN where the program says -1 */
  tn_span at;
  bool broken; /* what is wrong with it has been said */
} tn_ail_slot;

size_t tn_ail_input_count(const tn_ail *program);
const tn_ail_slot *tn_ail_input(const tn_ail *program, size_t index); /* in declaration order */
size_t tn_ail_param_count(const tn_ail *program);
const tn_ail_slot *tn_ail_param(const tn_ail *program, size_t index); /* top level first */
/* The position of the input of that name, or -1. */
int tn_ail_input_named(const tn_ail *program, const char *name);

/* ---- the train, eval and dataset blocks, checked and with defaults filled in ---- */

typedef struct {
  tn_span at;
  int64_t steps;    /* 200 */
  double lr;        /* 0.1 */
  int64_t batch;    /* the block's, else the pipeline's, else 4 */
  tn_str optimizer; /* "sgd", "momentum", "adam", "adamw" */
  tn_str schedule;  /* "constant", "cosine", "linear" */
  double momentum;  /* 0.9 */
  double weight_decay, clip_norm; /* 0: none */
  int64_t warmup; /* 0 */
  int64_t shards; /* 1 */
} tn_ail_train;

typedef enum { TN_AIL_METRIC_LOSS, TN_AIL_METRIC_ACCURACY } tn_ail_metric;
typedef struct {
  tn_span at;
  int64_t every;                /* 20 */
  bool on_train;                /* split = "train"; else "val" */
  const tn_ail_metric *metrics; /* as the program lists them, each once */
  size_t metric_count;
  tn_str accuracy; /* as the program calls it; empty: it is not among them */
  tn_span accuracy_at;
} tn_ail_eval;

typedef enum { TN_AIL_JSONL, TN_AIL_TSV } tn_ail_format;
typedef enum { TN_AIL_MAP, TN_AIL_FILTER } tn_ail_stage_kind;

/* Which part of a row a column of the data is. JSONL: the key. TSV: the columns, counted from
 * 0, or the default layout (the last column is the label, all before it are features). */
typedef struct {
  tn_str key;
  const int32_t *columns;
  size_t column_count; /* 0: the default layout */
} tn_ail_column;

typedef struct {
  tn_ail_stage_kind kind;
  tn_name function;
  bool on_labels; /* the column it works on: labels, else the features */
  tn_span at;
} tn_ail_stage;

typedef struct {
  tn_span at;
  tn_ail_format format;
  tn_str path;
  tn_span path_at;
  tn_ail_column features; /* what the block calls `tokens` */
  tn_ail_column labels;
  /* The inputs that the columns feed, or -1: `tokens`, or the first tensor input where there are
   * no tokens; and `labels`. */
  int features_input, labels_input;
  bool shuffle;
  double split;               /* 0 < split <= 1 */
  tn_span split_at;           /* its value; the block, where it is not given */
  const tn_ail_stage *stages; /* all maps, then all filters, each in source order */
  size_t stage_count;
} tn_ail_dataset;

/* NULL where the program has no such block. */
const tn_ail_train *tn_ail_train_of(const tn_ail *program);
const tn_ail_eval *tn_ail_eval_of(const tn_ail *program);
const tn_ail_dataset *tn_ail_dataset_of(const tn_ail *program);

/* Whether the program takes everything that the command line gives: names it has, events it knows, values
 * that this use reads (given.c). E_USAGE for what would be ignored. */
typedef enum {
  TN_AIL_TO_RUN,
  TN_AIL_AS_APP,
  TN_AIL_TO_TRAIN,
  TN_AIL_TO_SHOW,  /* a graph, without the values of parameters */
  TN_AIL_TO_EXPORT /* with them */
} tn_ail_use;
bool tn_ail_check_given(const tn_ail *program, tn_ail_use use);

bool tn_ail_require_loss(const tn_ail *program);
/* Whether accuracy, if it is among the metrics, has a meaning for logits of this shape: [rows, classes].
 * `rows`: of the labels; TN_DIM_UNKNOWN: not known yet. */
bool tn_ail_check_accuracy(const tn_ail *program, const tn_shape *logits, int64_t rows);
bool tn_ail_allow_dataset(tn_ail *program);

/* ---- lengths ---- */

typedef struct {
  const tn_shape *inputs; /* known, one for each input */
  const tn_shape *params;
  const tn_binding *names; /* the length of every named dimension */
  size_t name_count;
} tn_ail_sizes;

typedef struct {
  /* One for each input: the shape of the value it gets, or rank -1 where it has none yet. NULL:
   * none. The values of host->inputs count before these. */
  const tn_shape *given;
  int64_t batch;    /* the length of the batch's dimension where nothing else says; 0: none */
  bool no_defaults; /* what is bound by nothing is E_DIM_UNBOUND: there is a data set */
} tn_ail_size_request;

/* Binds names in order: host->inputs, `given`, the batch, defaults; then resolves parameters.
 * Into the arena. */
bool tn_ail_size(const tn_ail *program, const tn_ail_size_request *request, tn_arena *arena,
                 tn_ail_sizes *out);
/* The name of the dimension that counts rows: the leading one of `labels`, else of `tokens`, else B
 * where an input has it, else the leading one of the first input. 0 when that is no name. */
tn_name tn_ail_batch_name(const tn_ail *program);

/* ---- values ---- */

/* The first values of all parameters: drawn from the seed in declaration order, then replaced by
 * host->weights and host->params. params[i] receives a share; on failure none is left. */
bool tn_ail_init_params(const tn_ail *program, const tn_ail_sizes *sizes, tn_tensor *params);
/* Whether --input supplies this input; then, with sizes, its value in the graph's dtype. */
bool tn_ail_is_supplied(const tn_ail *program, size_t input);
bool tn_ail_supplied(const tn_ail *program, size_t input, const tn_ail_sizes *sizes, tn_tensor *out);
/* Draws one input from a generator, row-major: tensors 2u-1; token ids trunc(u * limit), labels
 * too. `limit` is the vocabulary or the number of classes. */
void tn_ail_draw(tn_rng *rng, tn_ail_kind kind, int64_t limit, const tn_view *out);
/* The rows of the embedding that `tokens` feeds (20 if none), and the last dimension of the logits
 * that `labels` meets (2 if none). */
int64_t tn_ail_vocabulary(const tn_ail *program, const tn_ail_sizes *sizes);
int64_t tn_ail_classes(const tn_ail *program, const tn_ail_sizes *sizes);

/* ---- graphs ---- */

/* Dropout is the identity except in TN_AIL_FOR_TRAIN. There the graph gets an i64 scalar input behind
 * the program's own, named TN_AIL_DROPOUT_KEY, if anything drops out; each dropout draws words of
 * its own. */
#define TN_AIL_DROPOUT_KEY "dropout_key"
typedef enum { TN_AIL_FOR_RUN, TN_AIL_FOR_EVAL, TN_AIL_FOR_TRAIN } tn_ail_mode;

typedef struct {
  tn_graph graph;   /* inputs and params stand in the program's order, all of them */
  int output;       /* its outputs, by position; -1: not there */
  int loss;         /* a scalar; only if asked for */
  int logits;       /* what `labels` is compared with in the loss, for accuracy: else the output */
  int key;          /* the position of the dropout key among graph.inputs, or -1 */
  tn_ail_kind kind; /* of the output */
} tn_ail_lowered;

/* The loss and the logits, FOR_EVAL or FOR_TRAIN. *out is empty after a failure, and otherwise freed by
 * tn_graph_free(&out->graph). */
bool tn_ail_lower(const tn_ail *program, const tn_ail_sizes *sizes, tn_ail_mode mode, tn_ail_lowered *out);
/* One stage of the pipeline for one row: a graph with one input and one output. `row` is the shape
 * of the column in one row ([] for a label, [n] for features). A map gives the dtype it was given
 * (i32, or f32 for a tensor input's features), a filter a bool scalar. */
bool tn_ail_lower_stage(const tn_ail *program, size_t stage, const tn_shape *row, tn_graph *out);

/* The graph that `emit` shows: the model, or with `grad` the loss and its gradients by every parameter.
 * Dimensions keep their names where the program allows it, and get the lengths of a bare run
 * otherwise. For exporters; freed by tn_graph_free. */
bool tn_ail_graph(tn_ail *program, bool grad, tn_graph *out);

/* Refuses every effect that the outputs certainly need and the host does not allow. Those under an
 * `if` are refused by tn_ail_effects, before their branch runs. */
bool tn_ail_allow(tn_ail *program, const tn_graph *graph);
/* The program is compiled and computing begins; of files it opens those of read_file_text and the data set.
 * False after reporting. */
bool tn_ail_seal(tn_ail *program);
/* Carries out the `host` operations of a graph; host->effects points here while a program runs, and a
 * training loop sets its plan's host from it. */
tn_effects tn_ail_effects(tn_ail *program);

/* The name of the function that an operation at this place comes from, as the program wrote it. */
tn_str tn_ail_called(const tn_ail *program, tn_op op, tn_span at);
/* Reports what went wrong in a graph of this program in the words of the language. Returns false. */
bool tn_ail_report_fault(const tn_ail *program, const tn_fault *fault);
#endif
