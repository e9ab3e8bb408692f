/* lang/lang.h: the entry points ("doors") that every language has, and its host.
 *
 * A front end turns text into operations and reports what is wrong with it. It
 * never calls back ends: to compute, it calls its host. The host (api/) owns the
 * session's memory, names, texts and diagnostics, knows what is allowed, and
 * prints. All languages have the same doors in the same files: lang.c holds the
 * tn_lang of its language and nothing else, and a door is in the file of its name
 * (tn_lang_mind_emit in mind/emit.c; specs and drop in unit.c, show and plan in
 * run.c). */
#ifndef TN_LANG_LANG_H
#define TN_LANG_LANG_H

#include "base/file.h"
#include "diag/diag.h"
#include "export/export.h"
#include "graph/effects.h"
#include "lang/optimizer.h"
#include "lang/value.h"

typedef enum {
  TN_CAP_FILEREAD = 1 << 0,
  TN_CAP_FILEWRITE = 1 << 1,
  TN_CAP_CLOCK = 1 << 2,
  TN_CAP_NETWORK = 1 << 3
} tn_capability;

struct tn_eager;
struct tn_plan;

/* A named value from the command line or from an embedder. Given as text in JSON (data then
 * has no buffer until the language has decided its dtype) or as a tensor. */
typedef struct {
  tn_str name;
  tn_str json;             /* "[[1, 2], [3, 4]]"; empty when `data` is given */
  tn_tensor data;
} tn_given;

/* A field of the train block or a constant that has another value in this run. */
typedef struct {
  tn_str name;
  tn_str text;   /* the value, as it was given */
  uint32_t file; /* the same among the host's sources */
} tn_setting;

/* The value of that name; NULL: none. */
const tn_given *tn_given_find(const tn_given *givens, size_t count, tn_str name);

typedef tn_vec(tn_given) tn_givens;
/* Unreferences all values and frees the list. */
void tn_givens_free(tn_heap *heap, tn_givens *givens);

/* A folder beneath which files may be read. */
typedef struct {
  tn_str name; /* as it was given */
  tn_str real; /* absolute, without links and dots; NUL-terminated */
} tn_granted;

/* A program as one graph of known shapes, with the values of its inputs and parameters by the graph's
 * numbering. */
typedef struct {
  tn_graph graph;
  bool has_graph;
  int loss;   /* which of its outputs is minimised */
  int logits; /* which of them labels are compared with, else the program's output; -1: none */
  bool classifies; /* labels are compared with it: one number per class */
  tn_tensor *inputs, *params;
  size_t input_count, param_count;
  bool has_options; /* the program says how it is trained */
  tn_train_options options;
  bool *exempt; /* room for options.exempt: one for each parameter */
} tn_lowered;

/* Room for the values, none of which is there yet; false when memory runs out. */
bool tn_lowered_init(tn_lowered *lowered, tn_heap *heap, size_t inputs, size_t params);
void tn_lowered_free(tn_lowered *lowered, tn_heap *heap);

typedef struct tn_host {
  tn_heap *heap;
  tn_names *names;
  tn_sources *sources;
  tn_diags *diags;
  uint64_t seed;
  uint64_t max_steps;      /* of a program that runs step by step; 0: the language's default */
  uint32_t capabilities;   /* tn_capability */
  const tn_granted *readable; /* folders that limit FILEREAD; none: everything may be read */
  size_t readable_count;
  const tn_granted *writable; /* the same for FILEWRITE */
  size_t writable_count;
  const tn_str *saved; /* paths that the program writes to; set before sealing, and valid during it */
  size_t saved_count;
  struct tn_eager *eager;  /* computes at once */
  struct tn_outline *outline; /* of the graph that is emitted, to be filled in; NULL: not wanted */
  bool has_gpu;            /* plans may run on a card */
  void *context;
  /* Computes the outputs of a graph with known shapes and no unbound inputs: params and inputs are
   * given by position. Optimises, plans and runs. False after reporting through `fault` (the
   * language reports it in its own words). outputs receive shares. */
  bool (*compute)(struct tn_host *host, const tn_graph *graph, const tn_view *inputs, const tn_view *params,
                  tn_tensor *outputs, tn_fault *fault);
  /* The same in parts, for graphs that run many times. `plan` optimises the graph, which must
   * outlive the plan; NULL with *fault. `bind` sets the addresses of its values. `result` is valid
   * until the next run. */
  struct tn_plan *(*plan)(struct tn_host *host, tn_graph *graph, tn_fault *fault);
  void (*bind)(struct tn_host *host, struct tn_plan *plan, const tn_lowered *values);
  bool (*run)(struct tn_host *host, struct tn_plan *plan, tn_fault *fault);
  tn_view (*result)(struct tn_host *host, const struct tn_plan *plan, int output);
  void (*print_plan)(struct tn_host *host, const struct tn_plan *plan, tn_text *out);
  void (*unplan)(struct tn_host *host, struct tn_plan *plan);
  /* A given value, element by element, in the dtype that is wanted. Integers take whole numbers that they
   * can hold; any other is E_USAGE with the name and the number. False after reporting. */
  bool (*convert)(struct tn_host *host, const tn_given *given, tn_dtype dtype, tn_tensor *out);
  /* Compiling is over and computing begins: the program will open only these files. False after
   * reporting. NULL: not needed. Called through tn_host_seal. */
  bool (*seal)(struct tn_host *host, const tn_str *opened, size_t count);
  /* Reports a fault that is not an error in the program: memory, an interruption, a bug in tern.
   * NULL: tn_fault_report. Returns false. */
  bool (*report_fault)(struct tn_host *host, const tn_fault *fault);
  /* A line for the user: the output of PRINT and print. */
  void (*print)(struct tn_host *host, tn_str line);
  bool shorten; /* what is printed is for people: large tensors are cut in the middle */
  bool color, rows; /* an interactive session on a terminal: in colour, and matrices row by row */
  double (*now)(struct tn_host *host);                   /* seconds since 1970 */
  /* The bytes of a file, from the arena; reports nothing: *problem says what is wrong in the words of
   * `io_error_kind` ("not_found", "permission_denied", "is_a_directory", "not_a_plain_file", "too_large",
   * "io_error"). Only for what needs TN_CAP_FILEREAD. */
  bool (*read_file)(struct tn_host *host, tn_str path, tn_arena *arena, tn_str *out, const char **problem);
  /* The same for a program that the user names. */
  bool (*read_program)(struct tn_host *host, tn_str path, tn_arena *arena, tn_str *out,
                       const char **problem);
  /* The same for a module that a program names: `path` below the folder `root` of the program (empty: the
   * current one). No capability is needed, so no link is followed ("symbolic_link"). */
  bool (*read_module)(struct tn_host *host, tn_str root, tn_str path, tn_arena *arena, tn_str *out,
                      const char **problem);
  const tn_given *inputs, *params, *sets;                /* --input, --param, --set */
  size_t input_count, param_count, set_count;
  const tn_setting *settings;                            /* --set of a training, by name */
  size_t setting_count;
  const tn_str *events;                                  /* --event */
  size_t event_count;
  const tn_effects *effects;                             /* set by a language while it computes; NULL: a
                                                            graph with `host` operations fails */
  const tn_given *weights;                               /* --weights: every tensor of the file */
  size_t weight_count;
  bool has_weights;                                      /* --weights was given, however empty */
  bool has_trained;                                      /* `params` are what a training has left */
  uint64_t looked_at; /* names, nodes, shapes and pieces that a walk has met; tests compare it for texts of
                         different lengths */
  tn_str base;                                           /* where the program's relative paths begin; empty:
                                                            in the current folder */
} tn_host;

/* A path that the program names as the system finds it, from the arena. */
tn_str tn_host_path(const tn_host *host, tn_str path, tn_arena *arena);

/* The path to open for one that the program names and FILEREAD has been granted for. False when it leads
 * out of the folders that limit it, by dots or by links too; a file that is not there lies where its
 * folder is. */
bool tn_host_find(const tn_host *host, tn_str path, tn_arena *arena, tn_str *found);
/* Whether tn_host_find returns resolved paths. They are read without following links, so that the
 * file that was checked is the file that is read. */
static inline bool tn_host_resolves(const tn_host *host) { return host->readable_count > 0; }
/* Reads all of a file that tn_host_find gave, to be released. Reports nothing. */
tn_file_status tn_host_read(const tn_host *host, const char *path, tn_file_bytes *out);
/* "data, models/old": those folders as they were given. */
tn_str tn_host_readable(const tn_host *host, tn_arena *arena);
/* The same two for a file that the program writes, for which FILEWRITE has been granted. */
bool tn_host_find_target(const tn_host *host, tn_str path, tn_arena *arena, tn_str *found);
tn_str tn_host_writable(const tn_host *host, tn_arena *arena);

/* Reports E_USAGE: `before`, the name, `after`. Returns false. */
bool tn_host_usage(tn_host *host, const char *before, tn_str name, const char *after);
bool tn_host_usage_hint(tn_host *host, const char *before, tn_str name, const char *after, tn_str hint);
/* The same for a name that is not in `known`: the hint is a similar name, or all of them. */
bool tn_host_no_name(tn_host *host, const char *before, tn_str name, const char *after, const tn_str *known,
                     size_t count);
/* How many names a report lists, or looks through for one that is near. */
#define TN_HOST_NAMES 64
/* Reports a fault with the common codes, through `report_fault` if there is one. Returns false. */
bool tn_host_fault(tn_host *host, const tn_fault *fault);
bool tn_host_out_of_memory(tn_host *host);

static inline bool tn_host_seal(tn_host *host, const tn_str *opened, size_t count) {
  return !host->seal || host->seal(host, opened, count);
}

/* The result of a run; in the arena. */
typedef struct {
  tn_datum *values;        /* .ail: the output; .mind: one; .nth: the stack, bottom to top */
  size_t count;
  tn_str type;             /* .mind: the type of the value */
  tn_str extra_json;       /* further members of the JSON object, without braces: "\"machine\":{...}" */
  tn_str text;             /* what a person sees, ready to print; empty: nothing */
} tn_outcome;

typedef struct tn_repl tn_repl;

/* A program: a registered source text, and what its language keeps of it from call to call. A language that
 * keeps something has this at the beginning of a structure of its own. */
typedef struct {
  tn_host *host;
  uint32_t file;
  uint64_t revision; /* counts changes of host->inputs, params, sets and weights */
  tn_givens params;  /* as the last run or training left them, in the program's order */
} tn_unit;

/* Adds a parameter to those of the unit. The tensor is taken, also when memory runs out: false then, after
 * reporting. The name lives as long as the session. */
bool tn_unit_keep_param_take(tn_unit *unit, tn_str name, tn_tensor *value);

/* What the numbers of a value mean. In a graph a tensor is f32, token ids and labels are i32, a boolean is
 * bool. */
typedef enum {
  TN_DATA_TENSOR,
  TN_DATA_TOKEN_IDS,
  TN_DATA_LABELS,
  TN_DATA_BOOLEAN,
  TN_DATA_UNKNOWN
} tn_data_kind;

/* "tensor", "token_ids", "labels", "boolean", "unknown" */
const char *tn_data_kind_name(tn_data_kind kind);
tn_dtype tn_data_kind_dtype(tn_data_kind kind);

/* An input or a parameter as the program declares it. */
typedef struct {
  tn_name name;
  tn_data_kind kind; /* of a parameter: always a tensor */
  tn_type type;      /* dimensions may have names, or be TN_DIM_UNKNOWN */
  tn_span at;
  bool broken; /* what is wrong with it has been said */
} tn_tensor_spec;

typedef struct {
  const tn_tensor_spec *inputs; /* in declaration order */
  size_t input_count;
  const tn_tensor_spec *params;
  size_t param_count;
} tn_specs;

typedef struct tn_lang {
  const char *name;                  /* "ninth", "mind", "ail", "graph" */
  const char *const *extensions;     /* ".nth", ".ninth", NULL */
  size_t unit_bytes;                 /* of the language's unit, which begins as zeros; 0: a plain one */
  /* Each reports its diagnostics to host->diags and returns false when there was an error. */
  bool (*check)(tn_unit *unit);
  bool (*run)(tn_unit *unit, tn_arena *arena, tn_outcome *out);
  bool (*format)(tn_unit *unit, tn_text *out);
  bool (*emit)(tn_unit *unit, tn_emit_kind kind, tn_text *out);
  /* Only where the language has them; NULL otherwise. */
  void (*drop)(tn_unit *unit); /* frees what the unit keeps */
  /* The type of the expression at a byte of the text. False if it is unknown. */
  bool (*type_at)(tn_unit *unit, uint32_t place, tn_text *out);
  bool (*app)(tn_unit *unit, tn_arena *arena, tn_outcome *out);
  /* The text of an outcome, for people: instead of `text`, if it is made only on request. */
  void (*show)(tn_unit *unit, const tn_outcome *outcome, tn_text *out);
  bool (*plan)(tn_unit *unit, tn_text *out); /* the plan of the last run, one line per step */
  /* What the program declares, in its order; valid until the next call. NULL after reporting. */
  const tn_specs *(*specs)(tn_unit *unit);
  /* The program with the values that are given, for training: `loss` names the output to minimise, NULL: the
   * one that the program says. Freed by tn_lowered_free. */
  bool (*lower)(tn_unit *unit, const char *loss, tn_lowered *out);
  /* How a program trains by itself, on its own data (lang/training.h). */
  const struct tn_training_doors *training;
  tn_repl *(*repl_new)(tn_host *host);
  /* One line of input; false when more lines are needed to complete it. Output is appended to
   * `out`. */
  bool (*repl_line)(tn_repl *repl, tn_str line, tn_text *out, bool *quit);
  void (*repl_cancel)(tn_repl *repl); /* forgets lines that wait for their end */
  void (*repl_complete)(tn_repl *repl, tn_str line, size_t cursor, tn_text *candidates);  /* one per line */
  void (*repl_free)(tn_repl *repl);
} tn_lang;

/* Declares the doors of one language. Its table has those that it defines. */
#define TN_LANG_DOORS(NAME)                                                                                  \
  bool tn_lang_##NAME##_check(tn_unit *unit);                                                                \
  bool tn_lang_##NAME##_run(tn_unit *unit, tn_arena *arena, tn_outcome *out);                                \
  bool tn_lang_##NAME##_format(tn_unit *unit, tn_text *out);                                                 \
  bool tn_lang_##NAME##_emit(tn_unit *unit, tn_emit_kind kind, tn_text *out);                                \
  void tn_lang_##NAME##_drop(tn_unit *unit);                                                                 \
  bool tn_lang_##NAME##_type_at(tn_unit *unit, uint32_t place, tn_text *out);                                \
  bool tn_lang_##NAME##_app(tn_unit *unit, tn_arena *arena, tn_outcome *out);                                \
  void tn_lang_##NAME##_show(tn_unit *unit, const tn_outcome *outcome, tn_text *out);                        \
  bool tn_lang_##NAME##_plan(tn_unit *unit, tn_text *out);                                                   \
  const tn_specs *tn_lang_##NAME##_specs(tn_unit *unit);                                                     \
  bool tn_lang_##NAME##_lower(tn_unit *unit, const char *loss, tn_lowered *out);                             \
  tn_repl *tn_lang_##NAME##_repl_new(tn_host *host);                                                         \
  bool tn_lang_##NAME##_repl_line(tn_repl *repl, tn_str line, tn_text *out, bool *quit);                     \
  void tn_lang_##NAME##_repl_cancel(tn_repl *repl);                                                          \
  void tn_lang_##NAME##_repl_complete(tn_repl *repl, tn_str line, size_t cursor, tn_text *candidates);       \
  void tn_lang_##NAME##_repl_free(tn_repl *repl);

/* One clear report of why a graph could not be written. Returns false. */
bool tn_lang_report_export(tn_host *host, const tn_export_problem *problem);
/* Appends a graph in any form, its plan too. False after reporting. */
bool tn_lang_write(tn_host *host, const tn_export *what, tn_text *out);

const tn_lang *tn_lang_ninth(void);
const tn_lang *tn_lang_mind(void);
const tn_lang *tn_lang_ail(void);
const tn_lang *tn_lang_graph(void);
#endif
