/* api/internal.h: the types behind the handles of tern.h. */
#ifndef TN_API_INTERNAL_H
#define TN_API_INTERNAL_H

#include "api/door.h"
#include "backend/backend.h"
#include "base/json.h"
#include "eager/eager.h"
#include "guard/guard.h"
#include "lang/lang.h"
#include "opt/opt.h"
#include "tern/tern.h"
#include "train/loop.h"
#include "train/steps.h"

/* A path that is needed after the sandbox has been entered. */
typedef struct {
  const char *path;
  tn_guard_access access;
  bool loading; /* until a program has been compiled */
} tn_kept_path;

struct tern_session {
  tn_heap heap;
  tn_names *names;
  tn_sources sources;
  tn_diags diags;
  tn_host host;
  const tn_backend *backend; /* of the CPU */
  const tn_backend *device;  /* the back end that runs plans: the same, or a GPU (device.c) */
  struct tn_card *card;      /* NULL: none was opened */
  tn_backend card_backend;
  int threads;
  tn_pass_set passes;
  tn_opt_evaluator evaluator;
  tn_stop stop;
  double max_seconds; /* 0: none */
  bool clock_runs;    /* for all calls together, not for each */
  tern_sandbox_mode sandbox;
  bool confined; /* the sandbox has been entered */
  bool narrows;  /* its second layer is still to come */
  tn_transport *transport; /* to the other ranks of a training; NULL: there are none */
  bool serves; /* it listens on a socket, and will answer there */
  bool speaks; /* it sends and receives over sockets that are open */
  bool has_children; /* it has started other processes, and will wait for them or end them */
  tn_guard_support support; /* as it was before: a process that is shut in cannot ask */
  tn_guard_state guard;
  tn_vec(tn_kept_path) kept_paths; /* the texts are the session's */
  char *made_folder;                /* for a run that may not come; NULL: none */
  size_t made_there;                /* how many bytes of its path were there before */
  unsigned everywhere;              /* capabilities that no folder limits */
  tn_vec(tn_granted) readable;      /* folders of `fileread=DIR`; the texts are the session's */
  tn_vec(tn_granted) writable;      /* folders of `filewrite=DIR` */
  tern_sink sink;
  void *sink_context;
  tn_text printed; /* JSON strings of what was printed, separated by commas */
  size_t printed_count;
  tn_text text;   /* what the last call that returns text returned */
  tn_text shown;  /* what tern_shown returned, valid beside such a text */
  tn_arena views; /* what tern_diagnostic_at points to */
};

struct tern_program {
  tern_session *session;
  tern_language language;
  const tn_lang *lang;
  tn_unit *unit;
  tn_arena arena;       /* of the last run */
  tn_arena given_arena; /* names and texts of given values */
  tn_givens inputs, params, sets, weights;
  bool has_weights;
  tn_vec(tn_str) events;
  tn_vec(tn_setting) settings; /* sorted by name */
  tn_outcome outcome;
  bool ran;
  tern_status status;
  tn_steps *steps;      /* of a training step by step; NULL: none has begun */
  tn_givens trained;    /* the parameters that training has left, which count as given; those of steps are
                           borrowed */
  bool is_stepped;      /* since they were last lent */
  bool is_run;          /* it comes from the folder of a run */
  tn_str facts;         /* data.json of that folder; empty: it has none */
  const char *facts_path;
};

/* NULL for a language this build does not have. */
const tn_lang *tn_api_lang(tern_language language);

/* In the common spelling; limits of the session have codes of their own. Returns false. */
bool tn_api_report_fault(tern_session *session, const tn_fault *fault);
bool tn_api_out_of_memory(tern_session *session);

/* The sandbox (sandbox.c). */
/* The program is compiled: what was only needed for that is dropped, and of files those stay that it
 * opens. */
bool tn_api_seal(tern_session *session, const tn_str *opened, size_t count);
/* Where a program of that name imports from. */
bool tn_api_keep_imports(tern_session *session, tern_language language, tn_str name);
/* The folders of a training run. The folder to write is made. */
bool tn_api_keep_run(tern_session *session, const tern_train_run *run);
/* Removes the folders that were made for a run, as far as they are empty. */
void tn_api_drop_made(tern_session *session);
void tn_api_sandbox_free(tern_session *session);

/* The card, if there is one (device.c). */
void tn_api_close_device(tern_session *session);

/* Grants (grants.c). */
void tn_api_grants_free(tern_session *session);

/* Services of the host (host.c). */
void tn_api_host_init(tern_session *session);
bool tn_api_compute(tern_session *session, const tn_graph *graph, const tn_view *inputs,
                    const tn_view *params, tn_tensor *outputs, tn_fault *fault);

/* Whether a program may be read from this path: it is not a link, or leads to a file named like a
 * program. A link could have come with the folder and lead to any file, and diagnostics quote lines
 * of a program. */
bool tn_api_leads_to_program(tern_session *session, const char *path);
#define TN_API_FOREIGN_LINK_HINT "if that file is a program, name it itself, with --lang"
#define TN_API_FOREIGN_LINK "it is a symbolic link to a file that is not named like a program"

/* Values from outside (values.c). Reports E_USAGE and returns false. */
bool tn_api_read_value(tern_session *session, const char *name, const char *text, tn_arena *arena,
                       tn_given *out);
/* Every tensor of a .safetensors file. */
bool tn_api_read_weights(tern_session *session, const char *path, tn_arena *arena, tn_givens *out);
/* tern_set_field. */
tern_status tn_api_set_field(tern_program *program, tn_str name, tn_str text);
/* What run.json of a folder has of --set, unless the program has a value of its own; a folder without it has
 * none. False after reporting. */
bool tn_api_take_settings(tern_program *program, const char *folder);
bool tn_api_take_record_settings(tern_program *program, const tn_run_record *record);
bool tn_api_copy_value(tern_session *session, const tern_tensor *value, tn_tensor *out);
/* As tn_host.convert. */
bool tn_api_convert(tern_session *session, const tn_given *given, tn_dtype dtype, tn_tensor *out);

/* A training run that is followed (follow.c). */
typedef struct {
  tern_session *session;
  const tern_train_run *run;
  int64_t steps;
  double epochs_per_step;
  const char *data_format; /* NULL: no data */
  const tn_metric *metrics;
  size_t metric_count;
} tn_followed;
/* Tells the run's followers; borrows `followed`. */
tn_loop_watch tn_api_watch(tn_followed *followed);

/* A view as the public header shows it; borrows its memory (program.c). */
void tn_api_fill_tensor(const tn_view *view, tern_tensor *out);
/* What was given, for the host to find (program.c). */
void tn_api_lend(tern_program *program);
/* The value that a parameter has now; NULL: none yet (train.c). */
const tn_view *tn_api_param(const tern_program *program, size_t index);

/* Before and after a computation: clears the last results and lends the program its given values;
 * then returns the status that follows from the reports (program.c). */
void tn_api_begin_run(tern_program *program);
tern_status tn_api_end_run(tern_program *program, bool ok);

/* The members that every answer in JSON begins with; the object stays open (program.c). */
void tn_api_begin_success(tern_program *program, tn_json_writer *json);

/* Trains an .ail program; with files in `verify`, repeats that run, compares, and says in *verified what
 * was found the same. `run`, `verify` and `verified` may be NULL. */
tern_status tn_api_train(tern_program *program, const tern_train_run *run, const tn_recorded_run *verify,
                         tn_verified *verified);
#endif
