/* lang/ail/ail.h: a compiled AILang program, for callers that run or train it.
 *
 * Compiling parses and checks; the result has no errors that can be found without data. It still
 * has named dimensions: they get their lengths from constants, supplied values, the data set and
 * defaults (tn_ail_size), and with those the program is lowered to a graph of known shapes
 * (tn_ail_lower), as often as lengths change.
 *
 * Every function that returns bool reports to the host's diagnostics before it
 * returns false. Strings and lists live as long as the program. */
#ifndef TN_LANG_AIL_AIL_H
#define TN_LANG_AIL_AIL_H

#include "lang/training.h"

#define TN_AIL_UNROLL_LIMIT       10000
#define TN_AIL_NESTING_LIMIT      200
#define TN_AIL_STATE_STEP_LIMIT 10000

typedef tn_model tn_ail;

/* NULL after reporting. What is reported after it is of the phase run. The host must outlive the program. */
tn_ail *tn_ail_compile(tn_host *host, uint32_t file);
void tn_ail_free(tn_ail *program);

/* The position of the input of that name, or -1. */
int tn_ail_input_named(const tn_ail *program, const char *name);

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
/* Whether the metrics of the eval block have a meaning for predictions of this shape (blocks_eval.c). */
bool tn_ail_check_metrics(const tn_ail *program, const tn_shape *prediction, const tn_shape *target);
bool tn_ail_allow_dataset(tn_ail *program);

/* ---- lengths, values and graphs, as lang/training.h says ---- */

bool tn_ail_size(const tn_ail *program, const tn_size_request *request, tn_arena *arena, tn_sizes *out);
bool tn_ail_init_params(const tn_ail *program, const tn_sizes *sizes, tn_tensor *params);
/* What --input supplies for this input; NULL: nothing. */
const tn_given *tn_ail_given(const tn_ail *program, size_t input);
bool tn_ail_supplied(const tn_ail *program, size_t input, tn_tensor *out);
/* Tensors 2u-1; token ids and labels trunc(u * limit), with the vocabulary or the number of classes as the
 * limit. */
void tn_ail_draw(const tn_ail *program, size_t input, const tn_sizes *sizes, tn_rng *rng, const tn_view *out);
/* The rows of the embedding that `tokens` feeds (20 if none), and the last dimension of the logits
 * that `labels` meets (2 if none). */
int64_t tn_ail_vocabulary(const tn_ail *program, const tn_sizes *sizes);
int64_t tn_ail_classes(const tn_ail *program, const tn_sizes *sizes);

/* In training each dropout draws words of its own. */
bool tn_ail_lower(const tn_ail *program, const tn_sizes *sizes, tn_lower_mode mode, tn_lowered *out);
bool tn_ail_lower_stage(const tn_ail *program, size_t stage, const tn_shape *row, tn_graph *out);

/* Refuses every effect that the outputs certainly need and the host does not allow. Those under an
 * `if` are refused by tn_ail_effects, before their branch runs. */
bool tn_ail_allow(tn_ail *program, const tn_graph *graph);
/* The program is compiled and computing begins; of files it opens those of read_file_text and the data set.
 * False after reporting. */
bool tn_ail_seal(tn_ail *program);
/* Executes the `host` operations of a graph; host->effects points here while a program runs, and a
 * training loop sets its plan's host from it. */
tn_effects tn_ail_effects(tn_ail *program);

/* The name of the function that an operation at this place comes from, as the program wrote it. */
tn_str tn_ail_called(const tn_ail *program, tn_op op, tn_span at);
/* Reports a fault in a graph of this program with the codes of the language. Returns false. */
bool tn_ail_report_fault(const tn_ail *program, const tn_fault *fault);

/* The names of the train block's fields except the loss, from 0 on; NULL: no more (fields.c). */
const char *tn_ail_train_field(size_t index);
/* The field that other frameworks call by this name; empty: none. */
tn_str tn_ail_field_synonym(tn_str wrong);
#endif
