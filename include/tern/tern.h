/* tern.h: the public interface of tern. Embedders read only this.
 *
 * A session holds everything: memory, names, source texts, diagnostics. It is
 * used by one thread at a time; two sessions never share anything. Programs
 * are compiled inside a session and freed before it.
 *
 *   tern_session *s = tern_session_new(NULL, NULL);
 *   tern_program *p = tern_load(s, TERN_LANG_GRAPH, "example", text, strlen(text));
 *   float x[6] = {1, 2, 3, 4, 5, 6};
 *   int64_t dims[2] = {2, 3};
 *   tern_set_input(p, "x", &(tern_tensor){ .dtype = TERN_F32, .rank = 2, .dims = dims, .data = x });
 *   if (tern_run(p) == TERN_OK) { tern_tensor y; tern_output(p, 0, &y); ... }
 *   else puts(tern_diagnostics_text(s, 0));
 *
 * Functions that can fail return a status or NULL and leave diagnostics in the
 * session; nothing prints, exits or aborts. Pointers that are returned belong
 * to tern unless a comment says otherwise. */
#ifndef TERN_TERN_H
#define TERN_TERN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TERN_API __attribute__((visibility("default")))
#else
#define TERN_API
#endif

/* ---- versions and tables ---- */

TERN_API const char *tern_version(void);                  /* "1.2.3" */
/* What `tern ops`, `tern explain` and completion print. NULL for an unknown code or verb.
 * The text belongs to the caller: tern_free_text. */
TERN_API char *tern_ops_text(void);
TERN_API char *tern_ops_json(void);
/* One operation; NULL: there is none of that name. */
TERN_API char *tern_op_text(const char *name);
TERN_API char *tern_op_json(const char *name);
TERN_API char *tern_explain(const char *code, int color);
TERN_API char *tern_explain_json(const char *code);
TERN_API char *tern_codes(void);                          /* every code with its title, by subject */
TERN_API void tern_free_text(char *text);
/* The names of all operations and codes, one by one; NULL after the last. */
TERN_API const char *tern_op_name(size_t index);
TERN_API const char *tern_code_name(size_t index);
/* The candidate a user most likely meant by `wrong`, or NULL. */
TERN_API const char *tern_suggest(const char *wrong, const char *const *candidates, size_t count);
TERN_API const char *tern_suggest_code(const char *wrong);
TERN_API const char *tern_suggest_op(const char *wrong);
/* The field of an AILang train block that `word` is, or that other frameworks call so; NULL: none. */
TERN_API const char *tern_suggest_field(const char *word);

/* ---- sessions ---- */

typedef struct tern_session tern_session;

typedef enum {
  TERN_OK = 0,
  TERN_FAILED = 1,          /* the program was rejected or failed; see the diagnostics */
  TERN_USAGE = 2,           /* an argument is wrong, or a named file cannot be read */
  TERN_BUG = 3              /* an internal check failed */
} tern_status;

enum {
  TERN_ALLOW_FILEREAD = 1,
  TERN_ALLOW_FILEWRITE = 2,
  TERN_ALLOW_CLOCK = 4,
  TERN_ALLOW_NETWORK = 8
};

typedef struct {
  uint64_t seed;            /* used when has_seed; else 42 */
  int has_seed;
  int threads;              /* at most; 0: as many as the process has cores, which is also the most that are
                               used; never changes a bit of any result */
  const char *isa;          /* NULL: the best; "portable", "avx2", "avx512", "neon", or "ref" */
  unsigned allow;           /* TERN_ALLOW_... */
  uint64_t max_memory;      /* bytes; 0: none */
  uint64_t max_steps;       /* 0: the language's default */
  double max_seconds;       /* 0: none */
  const char *without;      /* optimiser passes to leave out: "fold,fuse"; NULL: none */
  uint64_t fail_allocation; /* for tests: the n-th request for memory fails; 0: none */
  int cores;                /* for tests: as if the process had so many; 0: what it has */
} tern_options;

/* NULL when memory runs out or an option is wrong; *problem (if not NULL) then points to a static text. */
TERN_API tern_session *tern_session_new(const tern_options *options, const char **problem);
TERN_API void tern_session_free(tern_session *session);
/* Stops the current call as soon as possible, with E_INTERRUPTED. If none runs, or it ends without
 * having noticed, the next call is stopped. May be called from a signal handler or another thread. */
TERN_API void tern_interrupt(tern_session *session);
/* max_seconds counts from now, for all calls together. Without it, each call has that time. */
TERN_API void tern_start_clock(tern_session *session);
/* TERN_FAILED, with E_MEMORY_LIMIT or E_TIME_LIMIT, when the session is past one of its limits already. */
TERN_API tern_status tern_check_limits(tern_session *session);
TERN_API size_t tern_memory_used(const tern_session *session);
/* How many threads a program uses, at most. NULL: how many it would without an option, one for each core that
 * the process may use (affinity, and the quota of its cgroups, rounded to whole cores). */
TERN_API int tern_threads(const tern_session *session);
/* The back end and instruction set in use: "cpu avx512". */
TERN_API const char *tern_backend(const tern_session *session);

/* Where programs compute from now on: "cpu", which is the default; "cuda", an NVIDIA GPU; "auto", a GPU for
 * work that is large enough, if there is one. It never changes a bit. Called before the sandbox is entered.
 * TERN_FAILED with E_DEVICE when there is no GPU that can be used; TERN_USAGE: no such device. */
TERN_API tern_status tern_device(tern_session *session, const char *name);
TERN_API const char *tern_device_name(const tern_session *session);
/* Whether this build has GPU kernels. */
TERN_API int tern_has_gpu_part(void);
/* The devices of this machine, and why one cannot be used; valid until the next call that returns
 * text. NULL: out of memory. */
TERN_API const char *tern_devices_text(tern_session *session);
TERN_API const char *tern_devices_json(tern_session *session);

/* What a program prints, line by line, as it runs. Without a sink, lines are kept for the result. */
typedef void (*tern_sink)(void *context, const char *line, size_t length);
TERN_API void tern_on_print(tern_session *session, tern_sink sink, void *context);

/* Grants a capability to the programs of the session: "fileread", "filewrite", "clock" or "network",
 * beside those of the options. `folder`: only for files beneath it, after all links; it is looked up now
 * and may be one of several. NULL: everything, which for "fileread" is the whole disk. TERN_USAGE after
 * leaving a diagnostic: an unknown capability, a folder for one that takes none, no such folder, or the
 * sandbox has been entered. */
TERN_API tern_status tern_allow(tern_session *session, const char *capability, const char *folder);

/* ---- languages and training runs ---- */

typedef enum {
  TERN_LANG_AUTO,
  TERN_LANG_AIL,
  TERN_LANG_MIND,
  TERN_LANG_NINTH,
  TERN_LANG_GRAPH
} tern_language;

/* A field of the train block or a constant of the program, as it is in this run. */
typedef struct {
  const char *name, *value;   /* the value as text: a number as JSON has it, or what it says */
} tern_hyperparameter;

/* Facts about a run before its first step. Valid during the call. */
typedef struct {
  const char *program;        /* its name */
  const char *source;         /* its text */
  size_t source_length;
  const char *data;           /* path of the data file; NULL: none */
  /* In hexadecimal. data_sha256 is NULL without data, given_sha256 where no input, parameter or weights
   * were given. */
  const char *source_sha256, *data_sha256, *given_sha256;
  uint64_t seed;
  int64_t step, steps;        /* the first step of this run, counted from 0, and one past the last */
  int ranks;                  /* processes that share the training; 1: this one alone */
  const tern_hyperparameter *hyperparameters; /* those that have an effect, with their defaults */
  size_t hyperparameter_count;
  const char *device;         /* where steps are computed: "cpu" or "cuda" */
} tern_run_facts;

typedef struct {
  const char *name;           /* "loss", "accuracy", "top5" */
  double value;
} tern_metric;

typedef struct {
  int64_t step, steps;        /* counted from 0, and how many there will be */
  double loss;
  int evaluated;              /* then those below are of the eval block's split */
  double eval_loss, eval_accuracy; /* accuracy: NaN where it is not among the metrics */
  const tern_metric *metrics; /* in the order of the eval block; valid during the call */
  size_t metric_count;
  const tern_metric *test_metrics; /* of the test split: only after the last step */
  size_t test_metric_count;
  double epoch, epochs;       /* rows drawn so far and in all steps, divided by those there are; 0: no data */
} tern_step;

typedef struct {
  const char *status;         /* "completed" or "stopped" */
  int64_t step;               /* how many steps the parameters have had */
  const char *weights_sha256; /* in hexadecimal */
  const char *data_format;    /* of the dataset block: "csv", "text"; NULL: there is none */
} tern_run_end;

/* Follows a training run: called on the thread that trains, before the first step, after every step
 * and at the end of a run that is not discarded. Each function may be NULL. */
typedef struct {
  void *context;
  void (*begin)(void *context, const tern_run_facts *facts);
  void (*step)(void *context, const tern_step *step);
  void (*end)(void *context, const tern_run_end *end);
} tern_follower;

/* How a training run is done. */
typedef struct {
  const char *out;            /* the run's folder; NULL: none */
  const char *resume;         /* a folder to resume; NULL: none */
  int64_t checkpoint_every;   /* 0: 100 */
  int64_t steps;              /* instead of the program's; 0: the program's */
  const tern_follower *followers;
  size_t follower_count;
  int brief;                  /* what is printed is the last step and how the run ended */
  const char *recorded;       /* a folder whose recorded tern_set_field hold too; NULL: that of `resume` */
  int no_steps;               /* nothing is printed of steps: a follower shows them */
} tern_train_run;

/* ---- the sandbox ----
 *
 * Before anything untrusted is parsed (a program, weights, a recorded run, a database), the process
 * permanently gives up what it no longer needs: files that were not named, other
 * programs, other processes, sockets. When the program has been compiled and is about to compute, it gives up
 * what only compiling needed: the folder it imports from, and of "fileread" for the whole disk everything but
 * the files that the program opens. The kernel enforces it (Landlock and seccomp on Linux; docs/security.md
 * says exactly what). It holds for the whole life of the calling thread and of those it starts later,
 * whatever sessions they use; later programs cannot widen it. So it is off unless asked for.
 *
 * Every function that parses enters it first, with the paths that are named by then: tern_check, tern_run,
 * tern_run_app, tern_train, tern_emit, tern_format, tern_type_at, tern_verify, tern_repl_line. These name
 * what they are given themselves.
 * The functions that give values (tern_set_input_text, tern_set_weights) read files at once, inside or
 * outside; call tern_sandbox_enter before them to have them read inside. */
typedef enum {
  TERN_SANDBOX_OFF,
  TERN_SANDBOX_AUTO,        /* what this kernel can enforce */
  TERN_SANDBOX_REQUIRE      /* all of it, or nothing is parsed: E_SANDBOX_UNAVAILABLE */
} tern_sandbox_mode;

/* The purpose of a named path. */
typedef enum {
  TERN_SANDBOX_READ,        /* a file, or a folder with all below it, for good */
  TERN_SANDBOX_WRITE,       /* a folder: files in and below it are made, replaced, read, removed, for good */
  TERN_SANDBOX_LOAD         /* as READ, until a program has been compiled: weights, inputs, records */
} tern_sandbox_access;

/* Call it before the first function that enters the sandbox. */
TERN_API void tern_sandbox(tern_session *session, tern_sandbox_mode mode);
/* A path that is needed inside; one that does not exist is ignored. TERN_USAGE when the sandbox has
 * been entered. */
TERN_API tern_status tern_sandbox_path(tern_session *session, const char *path,
                                       tern_sandbox_access access);
/* A program that will be loaded from a file inside, and the folder it imports from. One that is loaded before
 * needs no such call. */
TERN_API tern_status tern_sandbox_program(tern_session *session, tern_language language, const char *path);
/* The file that a value for tern_set_input_text names: "@x.npy", "@weights.npz:W"; other texts name none. */
TERN_API tern_status tern_sandbox_value(tern_session *session, const char *value);
/* The folders of a training run; those to be written are made if they are not there. */
TERN_API tern_status tern_sandbox_run(tern_session *session, const tern_train_run *run);
/* Enters it now, unless it is off or has been entered. TERN_FAILED: E_SANDBOX_UNAVAILABLE. */
TERN_API tern_status tern_sandbox_enter(tern_session *session);

typedef struct {
  int landlock;             /* the version of the kernel's interface; 0: none */
  int seccomp;              /* whether the kernel has it for this processor */
  int possible;             /* 0: this build (with sanitizers) or system cannot use them */
  int files, calls;         /* enforced now, by this session */
  int alone;                /* no other thread ran before it was enforced */
} tern_sandbox_facts;
TERN_API tern_sandbox_facts tern_sandbox_state(const tern_session *session);

/* ---- files ----
 *
 * As tern itself reads and writes them: plain files only. TERN_USAGE, or NULL, after leaving a diagnostic.
 *
 * All bytes of a file, with a NUL after them; valid until the next call on the session. One of more than
 * `limit` bytes is refused. */
TERN_API const char *tern_read_file(tern_session *session, const char *path, size_t limit, size_t *length);
/* Replaces a file atomically, through a temporary file in the same folder; permissions are kept. A
 * symbolic link is followed only while it leads down from its own folder (docs/security.md). */
TERN_API tern_status tern_write_file(tern_session *session, const char *path, const void *bytes,
                                     size_t length);
/* The same in two halves, for bytes that a program in the sandbox computes: the first finds the place and
 * grants the sandbox its folder, the second writes, once. */
typedef struct tern_target tern_target;
TERN_API tern_target *tern_target_open(tern_session *session, const char *path);
TERN_API tern_status tern_target_write(tern_target *target, const void *bytes, size_t length);
/* In chunks, for large files; the file exists after the commit. */
TERN_API tern_status tern_target_add(tern_target *target, const void *bytes, size_t length);
/* Overwrites the first bytes. */
TERN_API tern_status tern_target_rewrite(tern_target *target, const void *bytes, size_t length);
TERN_API tern_status tern_target_commit(tern_target *target);
TERN_API void tern_target_free(tern_target *target);

/* ---- diagnostics ---- */

typedef struct {
  const char *code;         /* "E_SHAPE_MISMATCH" */
  const char *severity;     /* "error", "warning" */
  const char *phase;        /* "parse", "check", "run", "data" */
  const char *title;
  const char *hint;         /* NULL: none */
  const char *file;         /* NULL: no place */
  uint32_t line, column, end_line, end_column;   /* from 1; columns in characters; the end is one past */
  size_t field_count;
  const char *const *field_names;
  const char *const *field_values;
} tern_diagnostic;

TERN_API size_t tern_diagnostic_count(const tern_session *session);
TERN_API tern_diagnostic tern_diagnostic_at(tern_session *session, size_t index);
/* How many more there were: of errors, and of warnings, the first 100 are kept. */
TERN_API size_t tern_diagnostics_omitted(const tern_session *session);
TERN_API size_t tern_error_count(const tern_session *session);
/* The status that follows from the diagnostics; at least TERN_FAILED. */
TERN_API tern_status tern_failure_status(const tern_session *session);
/* All of them, rendered; valid until the next call on the session. */
TERN_API const char *tern_diagnostics_text(tern_session *session, int color);
/* An untrusted text, as it may be shown on a terminal: control and bidirectional characters and
 * bytes that are not UTF-8 are escapes. NULL when memory ran out; valid until it is called again. */
TERN_API const char *tern_shown(tern_session *session, const char *text);
TERN_API const char *tern_diagnostics_json(tern_session *session);   /* [DIAG, ...] */
TERN_API void tern_clear_diagnostics(tern_session *session);
/* Adds a mistake of the command line or of the embedder: E_USAGE. `hint` may be NULL. */
TERN_API tern_status tern_report_usage(tern_session *session, const char *message, const char *hint);

/* ---- tensors ---- */

typedef enum { TERN_F32, TERN_F64, TERN_I32, TERN_I64, TERN_BOOL, TERN_BF16, TERN_F16 } tern_dtype;

typedef struct {
  tern_dtype dtype;
  int rank;
  const int64_t *dims;
  const int64_t *strides;   /* in elements; NULL: row-major without gaps */
  const void *data;
} tern_tensor;

TERN_API const char *tern_dtype_name(tern_dtype dtype);
TERN_API size_t tern_dtype_size(tern_dtype dtype);

/* ---- programs ---- */

typedef struct tern_program tern_program;

/* "ail", "mind", "ninth", "graph"; TERN_LANG_AUTO when unknown. */
TERN_API tern_language tern_language_named(const char *name);
TERN_API const char *tern_language_name(tern_language language);
/* By the file's extension; TERN_LANG_AUTO when it has none that tern knows. */
TERN_API tern_language tern_language_of(const char *path);

/* Takes a program's text, which is copied; `name` is its name in diagnostics. Nothing is parsed
 * yet: tern_check, tern_run and the others report its errors. NULL after leaving diagnostics. */
TERN_API tern_program *tern_load(tern_session *session, tern_language language, const char *name,
                                 const char *text, size_t length);
/* The same from a file; "-" is standard input. *status (if not NULL) says what went wrong. */
TERN_API tern_program *tern_load_file(tern_session *session, tern_language language, const char *path,
                                      tern_status *status);
/* The text as it was loaded; valid until the program is freed or another one is loaded. */
TERN_API const char *tern_source(const tern_program *program, size_t *length);
/* Everything that can be said about the program without running it. */
TERN_API tern_status tern_check(tern_program *program);
TERN_API void tern_program_free(tern_program *program);

/* Values from outside. Copied. TERN_USAGE for an unknown name or text that is not a value; shapes that do not
 * fit are diagnostics of the run. The text form is a JSON number or array, or @path of a .json or .npy
 * file. */
TERN_API tern_status tern_set_input(tern_program *program, const char *name, const tern_tensor *value);
/* Removes the value of an input, or of every input (NULL). */
TERN_API void tern_clear_input(tern_program *program, const char *name);
TERN_API tern_status tern_set_input_text(tern_program *program, const char *name, const char *value);
TERN_API tern_status tern_set_param(tern_program *program, const char *name, const tern_tensor *value);
TERN_API tern_status tern_set_param_text(tern_program *program, const char *name, const char *value);
TERN_API tern_status tern_set_host_text(tern_program *program, const char *name, const char *value);
/* Parameters from a .safetensors file, matched by name, shape and dtype when the program runs. */
/* For tern_train: a field of the train block or a constant of an .ail program has this value, written as in
 * the program; a string needs no quotes. It is recorded with the run. */
TERN_API tern_status tern_set_field(tern_program *program, const char *name, const char *value);
TERN_API tern_status tern_set_weights(tern_program *program, const char *path);
TERN_API tern_status tern_add_event(tern_program *program, const char *name);

/* An input or a parameter: dims of -1 are not fixed; a rank of -1 is any. */
typedef struct {
  const char *name;
  tern_dtype dtype;
  int rank;
  int64_t dims[8];
  const char *dim_names[8];   /* NULL: the dimension is a number, or unknown */
} tern_tensor_spec;

/* The same for every language:
 *
 *            inputs                                     parameters
 *   .ail     as declared                                as declared
 *   .graph   as declared                                as declared
 *   .nth     one for each [INPUT] of the text; values   what is trainable at the end of a run; none before
 *            are taken in the order they were set
 *   .mind    none                                       none
 *
 * None, after leaving diagnostics, where there are mistakes in the program. */
TERN_API size_t tern_input_count(tern_program *program);
TERN_API tern_tensor_spec tern_input_at(tern_program *program, size_t index);
TERN_API size_t tern_param_count(tern_program *program);
TERN_API tern_tensor_spec tern_param_at(tern_program *program, size_t index);
/* The value that was set. TERN_FAILED when there is none: a run of .ail then draws one. Not copied; valid
 * until another one is set. */
TERN_API tern_status tern_input(tern_program *program, size_t index, tern_tensor *out);
/* The value after the last run or training. TERN_USAGE when there is none yet. Not copied;
 * valid until the next step, run or training. */
TERN_API tern_status tern_param(const tern_program *program, size_t index, tern_tensor *out);

/* Runs the program: inference for .ail, the whole program for .nth and .mind. */
TERN_API tern_status tern_run(tern_program *program);
/* Trains the program with its own train, dataset and eval blocks (.ail). Then tern_param reads the trained
 * parameters, and tern_run and tern_emit use them, unless they are set again. */
TERN_API tern_status tern_train(tern_program *program, const tern_train_run *run);
/* Runs an app with the events that were added. */
TERN_API tern_status tern_run_app(tern_program *program);

/* Results, valid until the program runs again, begins to train, or is freed; data is not copied. */
TERN_API size_t tern_output_count(const tern_program *program);
/* TERN_FAILED when the output is not a tensor or its data is not known. */
TERN_API tern_status tern_output(const tern_program *program, size_t index, tern_tensor *out);
TERN_API const char *tern_output_name(const tern_program *program, size_t index);
/* For people: what `tern run` prints. For programs: the JSON object of a success or a failure. */
TERN_API const char *tern_result_text(tern_program *program);
TERN_API const char *tern_result_json(tern_program *program);
/* The JSON object for what went wrong before there was a program. */
TERN_API const char *tern_failure_json(tern_session *session);

/* The canonical form of the program's text; NULL after leaving diagnostics. */
TERN_API const char *tern_format(tern_program *program);
/* The JSON object of `tern fmt --json` for one program, given its canonical form: with "text" and whether it
 * is another than the program's own, "changed". `check`: a program that would change is not ok. */
TERN_API const char *tern_format_json(tern_program *program, const char *formatted, int check);
/* What the compiler made: "graph", "grad", "mlir", "dot", "svg", "onnx", "npz", "plan". NULL after leaving
 * diagnostics. */
TERN_API const char *tern_emit(tern_program *program, const char *kind);
/* The same for binary forms; *length counts the bytes. */
TERN_API const char *tern_emit_bytes(tern_program *program, const char *kind, size_t *length);
/* The JSON object of `tern emit --json`: with the text as "text" or, given a path, with "file", to
 * which the caller has written it. NULL after leaving diagnostics. */
TERN_API const char *tern_emit_json(tern_program *program, const char *kind, const char *path);
/* The inferred type of the smallest expression, or of the name that is bound, at a place of the text (both
 * from 1, columns in characters), for editors: "Tensor[f32,(2,3)]", "fn f(x: f32) -> f32". A
 * program with errors is analysed as far as possible; no diagnostics are left. NULL where nothing
 * is known, and for languages that do not infer types (only MIND does). */
TERN_API const char *tern_type_at(tern_program *program, uint32_t line, uint32_t column);
/* SHA-256 in hexadecimal of all parameters in order, little-endian. NULL before there are any. */
TERN_API const char *tern_params_sha256(tern_program *program);

/* ---- training through the interface ----
 *
 * For .graph and .ail programs. `loss` names the scalar output of a graph to minimise (NULL: the output named
 * "loss", or the only one); the train block of an .ail program has its own. Set the inputs, then step;
 * parameters start as the program says, or as tern_set_param did. From then on tern_run and tern_emit use the
 * parameters as they have been trained, as after tern_train; what tern_set_param sets is for the next
 * tern_train_begin. */
typedef struct {
  const char *loss;
  const char *optimizer;      /* "sgd" (NULL), "momentum", "adam", "adamw" */
  double lr;
  double momentum;            /* for "momentum"; 0: 0.9 */
  double weight_decay, clip_norm;   /* 0: none */
  const char *schedule;       /* "constant" (NULL), "cosine", "linear" */
  int64_t warmup, steps;
} tern_training;

/* NULL: as the train block of an .ail program says, except that `batch` and `shards` do not count: a step is
 * made with the inputs as they are set. */
TERN_API tern_status tern_train_begin(tern_program *program, const tern_training *training);
TERN_API tern_status tern_train_step(tern_program *program, double *loss);

/* ---- verifying a run ---- */

/* Repeats the run of a folder, from the program, seed and values recorded there and the data file it names,
 * and compares every file of the folder with the result, byte for byte. A relative path of the data
 * begins in the folder where the run was started, if the file is there, else in the current one. The
 * session's capabilities hold. A text that says what was compared, when all of the folder was and agrees;
 * NULL after leaving diagnostics, which say what differs or was not checked. */
TERN_API const char *tern_verify(tern_session *session, const char *folder, int json);

/* ---- answers of a trained model ---- */

/* The program of a run's folder with the run's parameters, and what its data.json knows. All that is needed
 * lies in the folder; name it to the sandbox with TERN_SANDBOX_LOAD. NULL after leaving diagnostics. */
TERN_API tern_program *tern_load_run(tern_session *session, const char *folder, tern_status *status);

/* The answers for rows: class names with probabilities, or numbers in the units of the data. */
typedef struct {
  const char *data;           /* a file of rows in the format of the program; NULL: none */
  const char *const *texts;   /* instead: a row for each, texts for the input of tokens; NULL: none */
  size_t text_count;          /* neither: the rows that tern_set_input has given */
  const char *form;           /* "text" (NULL), "csv", "jsonl" or "npy" */
  void *context;
  /* Takes the bytes of the answers in order; 0 ends it. NULL: they are only counted. */
  int (*take)(void *context, const char *bytes, size_t length);
  /* Takes the first bytes again, once the number of rows is known: for npy. */
  int (*rewrite)(void *context, const char *bytes, size_t length);
} tern_prediction;

/* For a program of tern_load_run. *rows (if not NULL): how many answers were taken. */
TERN_API tern_status tern_predict(tern_program *program, const tern_prediction *wanted, size_t *rows);

/* The metrics of the program's eval block on all rows of a file, in the format of the program: then
 * tern_result_text and tern_result_json have them. Without an eval block the loss, and accuracy where the
 * model has classes. For a program of tern_load_run. */
TERN_API tern_status tern_evaluate(tern_program *program, const char *data);
/* The same, and then evaluation.json of the run's folder is replaced: metrics, confusion matrix, worst rows
 * (docs/training.md). The first finds the file, before the session enters the sandbox, and grants the sandbox
 * the folder; NULL after reporting. tern_target_free frees it. */
TERN_API tern_target *tern_evaluation_open(tern_session *session, const char *folder);
TERN_API tern_status tern_evaluate_record(tern_program *program, const char *data, tern_target *record);

/* A text, continued token by token by a model that has learned the next token at every place. */
typedef struct {
  const char *prompt;         /* what is continued; at least one token of the run's vocabulary */
  size_t tokens;              /* how many to generate */
  double temperature;         /* 0: always the likeliest token; else scores are divided by it */
  size_t top_k;               /* only the likeliest; 0: all */
  int shown;                  /* for a terminal: characters that it would obey are escapes */
  int no_cache;               /* compute the whole window for every token; the same text */
  void *context;
  /* Takes what is generated, whole characters at a time, without the prompt; 0 ends it. NULL: nobody does. */
  int (*take)(void *context, const char *text, size_t length);
} tern_generation;

/* For a program of tern_load_run. Draws from the session's seed. *tokens (if not NULL): how many there
 * were. */
TERN_API tern_status tern_generate(tern_program *program, const tern_generation *wanted, size_t *tokens);
/* The JSON object of `tern generate --json`. NULL after leaving diagnostics. */
TERN_API const char *tern_generate_json(tern_program *program, const char *prompt, size_t tokens,
                                        const char *text, size_t length);

/* The JSON object of `tern predict --json`: with the file that the answers were written to, or else with the
 * answers, given as they were taken in the form "jsonl". NULL after leaving diagnostics. */
TERN_API const char *tern_predict_json(tern_program *program, size_t rows, const char *file,
                                       const char *lines, size_t length);

/* ---- interactive sessions ---- */

typedef struct tern_repl tern_repl;
TERN_API tern_repl *tern_repl_new(tern_session *session, tern_language language);
typedef enum {
  TERN_REPL_MORE,           /* the line is not complete: another one continues it */
  TERN_REPL_DONE,           /* it was answered */
  TERN_REPL_QUIT            /* the session has ended */
} tern_repl_answer;
/* How values and diagnostics are shown: with the colours of a terminal, and matrices row by row. Neither, at
 * first. */
TERN_API void tern_repl_style(tern_repl *repl, int color, int rows);
/* One line; *shown receives what to print. */
TERN_API tern_repl_answer tern_repl_line(tern_repl *repl, const char *line, const char **shown);
/* The same for a line of so many bytes, which may contain a NUL: a syntax error, as in a file. */
TERN_API tern_repl_answer tern_repl_bytes(tern_repl *repl, const char *line, size_t length,
                                          const char **shown);
/* Forgets lines that wait for their end. */
TERN_API void tern_repl_cancel(tern_repl *repl);
TERN_API const char *tern_repl_complete(tern_repl *repl, const char *line, size_t cursor);   /* one a line */
TERN_API void tern_repl_free(tern_repl *repl);

#ifdef __cplusplus
}
#endif
#endif
