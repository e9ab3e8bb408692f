/* lang/ail/world.h: a program while it runs: the model's values, states, handlers.
 *
 * run.c computes the model; world.c evaluates single expressions among values
 * that exist; machine.c and app.c are built on both. */
#ifndef TN_LANG_AIL_WORLD_H
#define TN_LANG_AIL_WORLD_H

#include "lang/ail/walk.h"

/* A value that exists: a number, text, or a tensor of which it holds a share. */
typedef struct {
  tn_name name;
  tn_ail_kind kind;
  bool is_text, is_number;
  float number; /* also the truth of a boolean */
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
  tn_ail_sizes sizes;
  tn_ail_cells model;  /* what states and handlers read of it */
  tn_ail_cells locals; /* of the state or handler that runs */
  tn_ail_cell *vars;   /* state variables, by their number */
  bool vars_first;     /* handlers: they hide the model's names; states: the reverse */
} tn_ail_world;

/* Computes the model: its output (a share in *output, where that is not NULL) and what states and
 * handlers read. `with_app`: also what handlers and state variables read. */
bool tn_ail_world_open(tn_ail_world *world, tn_ail *program, tn_arena *arena, bool with_app,
                       tn_ail_cell *output);
void tn_ail_world_close(tn_ail_world *world);
/* Checks capabilities, computes a graph and reports what fails. outputs receive shares. */
bool tn_ail_compute(tn_ail *program, const tn_graph *graph, const tn_view *inputs, const tn_view *params,
                    tn_tensor *outputs);
/* Evaluates an expression; reports what fails. *out is to be released. */
bool tn_ail_world_eval(tn_ail_world *world, const tn_ail_expr *expr, tn_name target, tn_ail_cell *out);
/* The same for a condition. */
bool tn_ail_world_test(tn_ail_world *world, const tn_ail_expr *expr, bool *out);
/* Reports --set names that nothing reads, and events that nobody handles. */
bool tn_ail_world_check_host(const tn_ail *program);
/* Whether some state or handler speaks of the name. */
bool tn_ail_reads_name(const tn_ail *program, tn_name name);

/* ---- state machines (machine.c) ---- */

typedef struct {
  tn_vec(uint32_t) path;  /* states, by number */
  tn_vec(tn_str) emitted; /* in the arena */
  bool ended;
} tn_ail_machine_run;

/* Runs the machine over `start` and the host's events. False when it failed. */
bool tn_ail_machine_execute(tn_ail_world *world, tn_ail_machine_run *out);
void tn_ail_machine_run_free(const tn_ail *program, tn_ail_machine_run *run);
/* "machine":{...} */
void tn_ail_machine_json(const tn_ail *program, const tn_ail_machine_run *run, tn_json_writer *json);
void tn_ail_machine_text(const tn_ail *program, const tn_ail_machine_run *run, tn_text *out);

/* ---- apps (app.c) ---- */

bool tn_ail_app_run(tn_host *host, uint32_t file, tn_arena *arena, tn_outcome *out);
#endif
