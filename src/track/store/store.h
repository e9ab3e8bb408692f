/* track/store/store.h: the history of training runs, in one SQLite database.
 *
 * A run is one row (columns.def), the losses of its steps, and its evaluations.
 * Losses are kept as blobs of little-endian f32, TN_STORE_CHUNK steps each: a
 * million steps cost four megabytes and a few transactions, so that recording
 * does not slow a run down. Several processes may read and write at once, and a
 * process that is killed leaves what it last committed. A database that another
 * program or a newer tern made is refused, untouched, and so is one whose tables
 * are not those that tern makes, or whose values are not of their columns' types.
 *
 * A build without SQLite has the same functions; opening then reports it. */
#ifndef TN_STORE_STORE_H
#define TN_STORE_STORE_H

#include "base/arena.h"
#include "diag/diag.h"

/* 1: tables that were not STRICT; 2: without the number of ranks; 3: without hyperparameters; 4: without tags
 * and notes. */
#define TN_STORE_VERSION 6
#define TN_STORE_CHUNK   4096

typedef enum {
#define TN_RUN_COLUMN(id, ...) TN_RUN_##id,
#include "track/store/columns.def"
  TN_RUN_COLUMN_COUNT
} tn_run_column;

/* Whether a difference explains other bits, is worth showing, or is neither. */
typedef enum { TN_RUN_DIFFERS_B, TN_RUN_DIFFERS_C, TN_RUN_DIFFERS_N } tn_run_differs;

typedef struct {
  const char *name, *type;
  tn_run_differs differs;
} tn_run_column_info;

const tn_run_column_info *tn_run_column_of(tn_run_column column);
bool tn_run_column_find(tn_str name, tn_run_column *out);

/* One of a run's hyperparameters, of which so many are kept. */
#define TN_RUN_HYPER_LIMIT 4096
typedef struct {
  tn_str name, value;
  bool is_number; /* then as JSON writes it */
} tn_run_hyper;

/* One run: every column as text, as JSON would write a number; `at` is NULL where there is nothing. */
typedef struct {
  tn_str value[TN_RUN_COLUMN_COUNT];
  const tn_run_hyper *hypers; /* what TN_RUN_HYPER says; filled in when a row is read */
  size_t hyper_count;
} tn_run_row;

typedef struct {
  int64_t step;
  double loss, accuracy;
} tn_run_eval;

typedef struct tn_store tn_store;

/* Loads SQLite, which a sandbox later forbids. False when it is not there; opening then says so. */
bool tn_store_load(void);

/* An absent database gives NULL without a report and sets *absent; TN_STORE_WRITE makes the file and its
 * folders instead. Otherwise NULL after reporting E_STORE. */
typedef enum {
  TN_STORE_READ,   /* a consistent snapshot; no other process can commit until it is closed */
  TN_STORE_REMOVE, /* runs can be looked up and removed */
  TN_STORE_WRITE   /* runs can be recorded */
} tn_store_mode;
tn_store *tn_store_open(tn_heap *heap, const char *path, tn_store_mode mode, tn_diags *diags, bool *absent);
/* The same, waiting at most so many seconds for another process's lock; 0: as long as usual. */
tn_store *tn_store_open_for(tn_heap *heap, const char *path, tn_store_mode mode, double patience,
                            tn_diags *diags, bool *absent);
void tn_store_close(tn_store *store);
/* From now on. A stop of the session leaves a second of every wait. */
void tn_store_wait_at_most(tn_store *store, double seconds);
/* After a failure: another process held the database, or the session was asked to stop. The same may be tried
 * again. */
bool tn_store_was_held(const tn_store *store);

/* ---- recording: each false after reporting ---- */

/* A new run, or, when `step` is above 0 and the newest run of the folder has the same program and data,
 * that run, continued: its steps from `step` on are removed. ID, STATUS, PROCESS and the results
 * are the store's own; the other columns are taken from `row`. */
bool tn_store_begin(tn_store *store, const tn_run_row *row, int64_t step, int64_t *id);
/* What happened since the last call: losses of the steps from `first` on, evaluations among them. */
bool tn_store_add(tn_store *store, int64_t id, int64_t first, const float *losses, size_t count,
                  const tn_run_eval *evals, size_t eval_count, double seconds);
bool tn_store_end(tn_store *store, int64_t id, const char *status, int64_t step, tn_str weights_sha256,
                  double seconds);
/* Removes a run that was found as `row`. *removed is false if it has gone, or has been resumed since. The
 * run's folder stays. */
bool tn_store_remove(tn_store *store, const tn_run_row *row, int64_t id, bool *removed);
/* What a person says of a run; `at` NULL leaves it as it is, an empty text removes it. */
bool tn_store_annotate(tn_store *store, int64_t id, tn_str tags, tn_str notes);

/* ---- hyperparameters (hyper.c) ---- */

/* Reads the object in TN_RUN_HYPER, into the arena. False: it is not one that tern writes, or memory ran out,
 * which the arena says. */
bool tn_run_hypers_read(tn_arena *arena, tn_run_row *row);
const tn_run_hyper *tn_run_hyper_find(const tn_run_row *row, tn_str name); /* NULL: it has none */
/* Numbers by their values and before texts, NULL last; below, equal to or above 0 as with strcmp. */
int tn_run_hyper_order(const tn_run_hyper *a, const tn_run_hyper *b);
void tn_run_hyper_json(const tn_run_hyper *hyper, tn_json_writer *json); /* its value; NULL: null */

/* ---- reading ---- */

/* A column or hyperparameter compared with a value: numbers by their values, everything else as text, in
 * upper or lower case. A path is also equal to its last part, tags to each of them. */
typedef enum {
  TN_RUN_EQUAL,
  TN_RUN_UNEQUAL,
  TN_RUN_BELOW,
  TN_RUN_ABOVE,
  TN_RUN_AT_MOST,
  TN_RUN_AT_LEAST
} tn_run_relation;

typedef struct {
  tn_str name, value;
  tn_run_relation relation;
} tn_run_condition;

typedef struct {
  const tn_run_condition *conditions; /* all must hold */
  size_t condition_count;
  tn_run_column order;
  tn_str hyper; /* to order by; empty: the column */
  bool descending;
  int64_t limit; /* 0: none */
  tn_str words;  /* that runs must fit (tn_run_fits); empty: all do */
} tn_run_query;

/* ---- searching (search.c) ---- */

bool tn_run_condition_read(tn_str word, tn_run_condition *out); /* "lr<=0.1"; false: it is plain text */
/* False too where the run has no value of that name. */
bool tn_run_condition_holds(const tn_run_row *row, const tn_run_condition *condition);
/* Whether a run fits every word, in upper or lower case: a word is text of its program, folder, status, tags
 * or hyperparameters, or a condition: lr=0.1, loss<0.5, status!=killed. */
bool tn_run_fits(const tn_run_row *row, tn_str words);
bool tn_run_has_tag(const tn_run_row *row, tn_str tag);

/* Every run that fits, in the arena, without the texts of the programs. False after reporting. */
typedef tn_vec(tn_run_row) tn_run_rows;
bool tn_store_list(tn_store *store, const tn_run_query *query, tn_arena *arena, tn_run_rows *out);
/* Whether any run has a hyperparameter of that name, and the names that there are, each once, the first
 * thousand; the vector is the caller's, the texts are in the arena. False after reporting. */
typedef tn_vec(tn_str) tn_run_names;
bool tn_store_find_hyper(tn_store *store, tn_str name, tn_arena *arena, bool *found, tn_run_names *names);
/* A run by its number, by "last", or by its folder. Reports E_RUN_NOT_FOUND. */
bool tn_store_find(tn_store *store, const char *which, tn_arena *arena, tn_run_row *out, int64_t *id);
/* The losses of a run's steps from 0 on, and its evaluations, in the arena. */
bool tn_store_losses(tn_store *store, int64_t id, tn_arena *arena, float **out, size_t *count);
bool tn_store_evals(tn_store *store, int64_t id, tn_arena *arena, tn_run_eval **out, size_t *count);

/* ---- for pictures (curve.c): bounded, however long a run is ---- */

typedef struct {
  int64_t step;
  float loss;
} tn_run_point;

typedef struct {
  tn_run_point *points;
  size_t count;
  int64_t steps; /* how many losses there are, whatever is shown of them */
} tn_run_curve;

/* The losses of the steps from `first` to before `end` in about `most` points, in the arena: all of them
 * where they are that few, else the lowest and the highest of each stretch, and the last. Of more than four
 * million steps it looks at a part. */
#define TN_RUN_ALL_STEPS INT64_MAX
bool tn_store_curve(tn_store *store, int64_t id, int64_t first, int64_t end, size_t most, tn_arena *arena,
                    tn_run_curve *out);
/* The evaluations from step `first` on, in the arena: at most `most`, at even distances. */
bool tn_store_some_evals(tn_store *store, int64_t id, int64_t first, size_t most, tn_arena *arena,
                         tn_run_eval **out, size_t *count);
/* The first step of which both runs have a loss, and not the same bits; -1: there is none. False after
 * reporting, or when it was told to stop. */
bool tn_store_first_difference(tn_store *store, int64_t one, int64_t other, int64_t *step);

/* ---- showing (show.c) ---- */

/* The names of the hyperparameters in which runs that have them differ, in the order of the newest run's:
 * at most `most`. Returns how many. The texts are those of the rows. */
size_t tn_runs_varying(const tn_run_rows *rows, tn_str *names, size_t most);

/* A table for people, or an array for programs. */
void tn_runs_text(const tn_run_rows *rows, tn_text *out);
void tn_runs_json(const tn_run_rows *rows, tn_text *out);
/* One run with its steps. */
typedef struct {
  tn_run_row row;
  const float *losses;
  size_t loss_count;
  const tn_run_eval *evals;
  size_t eval_count;
} tn_run_whole;
void tn_run_text(const tn_run_whole *run, tn_text *out);
void tn_run_json(const tn_run_whole *run, tn_text *out);
void tn_run_eval_json(const tn_run_eval *eval, tn_json_writer *json);
/* The members of a run's object without its steps. */
void tn_run_columns_json(const tn_run_row *row, tn_json_writer *json);
/* What differs, and whether the bits agree. */
void tn_run_compare_text(const tn_run_whole *a, const tn_run_whole *b, tn_text *out);
/* The members of that object for runs whose losses were compared elsewhere: `first` is the first step that
 * differs, -1: there is none. */
void tn_run_compare_rows_json(const tn_run_row *a, const tn_run_row *b, int64_t first, tn_json_writer *json);
void tn_run_compare_json(const tn_run_whole *a, const tn_run_whole *b, tn_text *out);
#endif
