/* lang/ail/world.h: the state of a running program: the model's values, states, handlers.
 *
 * run.c computes the model; world.c evaluates single expressions among values
 * that exist; state_machine.c and app.c are built on both. */
#ifndef TN_LANG_AIL_WORLD_H
#define TN_LANG_AIL_WORLD_H

#include "lang/ail/walk.h"

/* A value that exists: a number, text, or a tensor of which it holds a share. */
typedef struct {
  tn_name name;
  tn_data_kind kind;
  bool is_text, is_number;
  bool whole;      /* a number that is a 64-bit integer */
  float number;    /* also the truth of a boolean */
  int64_t integer; /* of a whole one */
  tn_str text;
  tn_tensor tensor;
} tn_ail_cell;

typedef tn_vec(tn_ail_cell) tn_ail_cells;

void tn_ail_cell_release(tn_ail_cell *cell);
void tn_ail_cells_release(tn_heap *heap, tn_ail_cells *cells);
/* The newest of that name, or NULL. */
const tn_ail_cell *tn_ail_cells_find(const tn_ail_cells *cells, tn_name name);
/* As an emitted text: 7, true, running, [1, 2]. */
void tn_ail_cell_print(const tn_ail_cell *cell, tn_text *out);
tn_datum tn_ail_cell_datum(tn_ail *program, const tn_ail_cell *cell);

typedef struct {
  tn_ail *program;
  tn_arena *arena;
  tn_sizes sizes;
  struct tn_ail_model *source; /* of the model's values (run.c); NULL: there is none */
  tn_ail_cells model;  /* those that have been read */
  tn_ail_cells locals; /* of the state or handler that runs */
  tn_ail_cell *vars;   /* state variables, by their number */
  bool vars_first;     /* handlers: they hide the model's names; states: the reverse */
} tn_ail_world;

/* Gets the model ready and computes its output (a share in *output, where that is not NULL). Other values of
 * it are computed when they are read. */
bool tn_ail_world_open(tn_ail_world *world, tn_ail *program, tn_arena *arena, tn_ail_cell *output);
/* The value that a name has at the end of the model: NULL in *out where it has none. False after reporting
 * what failed. */
bool tn_ail_world_model(tn_ail_world *world, tn_name name, const tn_ail_cell **out);
void tn_ail_model_free(tn_ail_world *world);
/* The state variables, with their first values (app.c). */
bool tn_ail_world_open_variables(tn_ail_world *world);
void tn_ail_world_close(tn_ail_world *world);
/* Checks capabilities, computes a graph and reports what fails. outputs receive shares. */
bool tn_ail_compute(tn_ail *program, const tn_graph *graph, const tn_view *inputs, const tn_view *params,
                    tn_tensor *outputs);
/* Evaluates an expression; reports what fails. *out is to be released. */
bool tn_ail_world_eval(tn_ail_world *world, const tn_ail_expr *expr, tn_name target, tn_ail_cell *out);
/* The same for a condition. */
bool tn_ail_world_test(tn_ail_world *world, const tn_ail_expr *expr, bool *out);
/* Whether some state or handler reads the name from outside of its own lets. */
bool tn_ail_reads_name(const tn_ail *program, tn_name name);

/* ---- state machines (state_machine.c) ---- */

/* A state machine at work. Events are offered to it one after another: those it has not been offered do not
 * exist for it yet. */
typedef struct {
  tn_vec(uint32_t) path;  /* states, by number */
  tn_vec(tn_str) emitted; /* in the arena */
  bool ended;
  tn_map states;          /* name -> number */
  tn_ail_cells locals;    /* of the state it is in */
  uint32_t current;       /* state; the number of states: it has stopped permanently */
  bool inside;            /* the current state has been entered */
  int steps;
  size_t next_event, offered; /* 0 is `start`, then the host's */
} tn_ail_state_machine_run;

/* False after reporting; the run is to be freed in any case. */
bool tn_ail_state_machine_begin(tn_ail_world *world, tn_ail_state_machine_run *run);
/* Lets the state machine go as far as the first `count` events take it. */
bool tn_ail_state_machine_offer(tn_ail_world *world, tn_ail_state_machine_run *run, size_t count);
/* All events at once: `start` and those of the host. */
size_t tn_ail_state_machine_events(const tn_ail *program);
void tn_ail_state_machine_free(const tn_ail *program, tn_ail_state_machine_run *run);
/* "machine":{...} */
void tn_ail_state_machine_json(const tn_ail *program, const tn_ail_state_machine_run *run,
                               tn_json_writer *json);
void tn_ail_state_machine_text(const tn_ail *program, const tn_ail_state_machine_run *run, tn_text *out);
#endif
