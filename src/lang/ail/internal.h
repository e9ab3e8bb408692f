/* lang/ail/internal.h: shared by the files of AILang.
 *
 * The stages of a program: lexer.c, parse_*.c, parser.c give a tree; structure.c
 * looks at which blocks there are and collects them into tn_ail; rules.c checks
 * what the text alone decides (contexts, recursion, loop counts); blocks.c the
 * fields of train, eval and dataset; walk_*.c goes over expressions with a
 * builder. That walk is the only definition of the language's semantics: check.c
 * drives it with a builder that keeps shapes only, in which dimensions have
 * names; lower.c drives it with a graph and known lengths. */
#ifndef TN_LANG_AIL_INTERNAL_H
#define TN_LANG_AIL_INTERNAL_H

#include "graph/builder.h"
#include "lang/ail/ail.h"
#include "lang/ail/ast.h"

/* ---- what a program consists of ---- */

typedef enum {
  TN_AIL_CONST_NUMBER,
  TN_AIL_CONST_BOOL,
  TN_AIL_CONST_TEXT,
  TN_AIL_CONST_BROKEN
} tn_ail_const_kind;
typedef enum { TN_AIL_CONST_NEW, TN_AIL_CONST_WAITS, TN_AIL_CONST_KNOWN } tn_ail_const_state;
typedef struct {
  tn_name name;
  tn_ail_const_kind kind;
  double number; /* bool: 0 or 1 */
  int64_t integer;
  bool is_integer;
  tn_str text;
  uint8_t state; /* tn_ail_const_state */
  const tn_ail_statement *decl;
} tn_ail_const;

/* A call of one function of the program by another. */
typedef struct {
  uint32_t callee;
  uint64_t rounds; /* how often the loops around it make the call */
  tn_span at;
} tn_ail_edge;

typedef struct {
  tn_ail_function *decl;
  tn_ail_edge *calls;
  uint32_t call_count;
  bool recursive;   /* on a circle of calls, or leads to one: never expanded */
  bool refused;     /* something in it is not allowed in a function, and was reported */
  uint32_t effects; /* tn_capability that it or what it calls could use */
  uint64_t rounds;  /* of a layer: the rounds of all loops in it and in the layers it uses */
  bool walked;      /* some call, or check.c, has gone over its body */
} tn_ail_fn;

typedef struct {
  tn_name name;
  tn_data_kind kind; /* int and float: a tensor of rank 0 */
  enum { TN_AIL_STATE_INT, TN_AIL_STATE_FLOAT, TN_AIL_STATE_TENSOR } type;
  const tn_ail_variable *decl;
} tn_ail_var;

/* Names that the program itself treats specially. */
typedef struct {
  tn_name tokens, labels, label, logits, loss, y, b, start, input, tick, initialized, result;
} tn_ail_known;

typedef tn_vec(int64_t) tn_ail_lengths;

/* How a parameter starts. */
typedef enum {
  TN_AIL_START_USUAL,   /* uniform in +-sqrt(6 / sum of dimensions); a single number is 0 */
  TN_AIL_START_GLOROT,  /* uniform in +-sqrt(6 / (fan in + fan out)) */
  TN_AIL_START_UNIFORM, /* in [a, b) */
  TN_AIL_START_NORMAL,  /* of mean a and standard deviation b */
  TN_AIL_START_ALL      /* a everywhere; draws nothing */
} tn_ail_start_kind;
typedef struct {
  tn_ail_start_kind kind;
  double a, b;
} tn_ail_start;

/* The shapes of two operands as numbers in named_shapes, from 1; 0: a shape of known lengths. */
typedef struct {
  uint32_t left, right;
} tn_ail_site_shapes;

struct tn_model {
  tn_host *host;
  uint32_t file;
  tn_arena arena;
  tn_ail_tree tree;
  tn_ail_known known;
  tn_map consts, functions; /* name -> index */
  tn_map builtins;          /* the same, of those that have been looked for */
  /* Pairs of a body (0: the model, else a layer's index + 1) and a layer that it uses at several places or in
   * a loop, as body << 32 | layer: these uses are numbered. */
  tn_map numbered;
  tn_vec(uint32_t) uses; /* from the check: of each use of a layer, in order, its first param */
  tn_ail_const *const_list;
  tn_ail_fn *fn_list;
  uint32_t const_count, fn_count;
  tn_tensor_spec *inputs, *params;
  tn_ail_start *starts; /* of the params */
  size_t input_count, param_count, param_room;
  tn_map specs;             /* name -> index of an input, or ~index of a param */
  tn_map dims;              /* named dimensions of inputs */
  const tn_ail_block *main; /* NULL: a program of handlers or a state machine */
  bool is_forward;
  const tn_ail_block *loss_block;
  tn_ail_fields *train_fields, *eval_fields, *dataset_fields;
  tn_ail_expr *loss; /* of the train block */
  bool loss_refused; /* something in it is not allowed there */
  tn_train_block train;
  tn_eval_block eval;
  tn_dataset_block dataset;
  const tn_ail_state_machine *state_machine;
  tn_ail_var *vars;
  size_t var_count;
  tn_map var_index; /* name -> index */
  const tn_ail_variables *variables;
  const tn_ail_handler **handlers;
  size_t handler_count;
  tn_map handler_index; /* event -> index */
  tn_map read_paths;    /* the paths of read_file_text, as names -> 0, wherever one stands */
  tn_name app;          /* the name of `app Name { }`, or 0 */
  tn_name output_name;  /* 0: the output has none */
  bool uses_dropout;
  bool unroll_exceeded;
  /* From the check: the lengths of the tables that `tokens` goes into, and of the logits that
   * `labels` is compared with. They may be names. */
  tn_ail_lengths embedding_rows, gather_rows, classes;
  /* From the check: the shapes that the model and the loss compare, for reports of the same sites when they
   * are lowered with known lengths. */
  tn_vec(tn_ail_site_shapes) sites;
  tn_vec(tn_shape) named_shapes; /* each once */
  tn_map shape_index;            /* hash -> number in named_shapes, from 1 */
  tn_effects effects; /* of this program */
};

/* ---- passes of a compilation; each reports ---- */

/* Collects the tree's items and says what is missing, doubled or out of order. */
bool tn_ail_collect(tn_ail *program);
void tn_ail_check_rules(tn_ail *program);
void tn_ail_check_blocks(tn_ail *program);
/* Which input the metrics compare with; `classifies`: the loss compares logits with labels. */
void tn_ail_find_target(tn_ail *program, bool classifies);
/* Of a table with named columns: whether a field of that name says what feeds an input; and all of them, with
 * what is normalized (feeds.c). */
bool tn_ail_is_feed(const tn_ail *program, tn_name name);
void tn_ail_check_feeds(tn_ail *program);
/* The same for a data set that is one text. */
void tn_ail_check_text(tn_ail *program);
void tn_ail_check_state_machine(tn_ail *program);
void tn_ail_check_app(tn_ail *program);
void tn_ail_check_values(tn_ail *program);

/* What host->settings changes in the tree (settings.c). Mistakes are reported; false: out of memory. */
bool tn_ail_apply_settings(tn_ail *program);

/* ---- reporting ---- */

bool tn_ail_report_syntax(const tn_ail *program, tn_span at, const char *message);
/* The same with a right line as its hint. */
bool tn_ail_report_missing(const tn_ail *program, tn_span at, const char *message, const char *hint);
/* The text of a span, shortened for a field. */
tn_str tn_ail_source_text(const tn_ail *program, tn_span at);
/* A name as text. */
static inline tn_str tn_ail_text_of(const tn_ail *program, tn_name name) {
  return tn_names_text(program->host->names, name);
}
/* Whether there are still so few errors that suggestions are worth their time. */
bool tn_ail_may_suggest(const tn_ail *program);
/* The nearest of a map's names to a wrong one; empty when none is close. */
tn_str tn_ail_suggest(const tn_ail *program, tn_name wrong, const tn_map *const *maps, size_t count);
/* Faults that are not errors in the program: memory, interruption, bugs. */
bool tn_ail_report_plain_fault(const tn_ail *program, const tn_fault *fault);
bool tn_ail_out_of_memory(const tn_ail *program);

/* ---- constants in the text ---- */

const tn_ail_const *tn_ail_find_const(const tn_ail *program, tn_name name);
const tn_ail_fn *tn_ail_find_fn(const tn_ail *program, tn_name name);
/* [sign] literal, or the name of a constant: what a field, a bound or a constant may be. False
 * when it is anything else. */
bool tn_ail_literal(const tn_ail *program, const tn_ail_expr *expr, tn_ail_const *out);

/* ---- built-in operations (library.c) ---- */

/* The index of the operation of that name, or -1. */
int tn_ail_builtin_named(tn_ail *program, tn_name name);
/* All of them go into program->builtins, for a suggestion. */
void tn_ail_list_builtins(tn_ail *program);
/* The capability a built-in needs; 0 for all but now and read_file_text. */
uint32_t tn_ail_builtin_effect(size_t index);
bool tn_ail_builtin_is_dropout(size_t index);
#endif
