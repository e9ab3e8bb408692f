/* plan/plan.h: a graph compiled to run many times.
 *
 * A plan fixes the order of kernels, turns views into strides, assigns every
 * intermediate value an offset in one block of memory (reused once a value is
 * dead), and turns `if` into jumps. Running allocates nothing.
 *
 * Inputs and parameters are bound by pointer. An update says that an output
 * becomes the next value of a parameter: the plan writes it into the
 * parameter's own memory, after the last read of the old value.
 *
 * With the back end of a GPU the block and the parameters are in GPU memory; bound inputs and
 * outputs are still in host memory. */
#ifndef TN_PLAN_PLAN_H
#define TN_PLAN_PLAN_H

#include "backend/backend.h"
#include "graph/effects.h"

typedef struct tn_plan tn_plan;

typedef struct {
  const tn_backend *backend;
  int threads;
  /* param index -> output index whose value replaces it after a run; NULL: none. */
  const int *updates;  /* one per graph param: output index or -1 */
  /* Outputs that are written into memory of the caller's (tn_plan_bind_output); NULL: none. A run that fails
   * may have written there. */
  const bool *placed;
  /* Parameters are not written before tn_plan_watch has seen every placed output: a run that it ends changes
   * none. */
  bool guarded;
  /* Outputs that are not read after a run; NULL: none. A GPU does not copy them back. */
  const bool *ignored;
  /* Inputs whose memory does not change until they are bound again; NULL: none. A GPU is sent them once. */
  const bool *steady;
  bool ahead;          /* inputs of the next run are taken while one goes on (tn_plan_prepare) */
  size_t memory_limit; /* bytes for the block; 0: none */
  size_t band_bytes;   /* bytes that steps in bands touch at a time; 0: the size of a near cache; SIZE_MAX: no
                        * bands */
} tn_plan_options;

/* The back end that should run a graph so many times: the given one, or the host's if it is a GPU
 * chosen by `auto` and the work is too small to be worth its start and its launches. */
const tn_backend *tn_plan_backend(const tn_backend *backend, const tn_graph *graph, int threads,
                                  int64_t runs);

/* The graph must have known shapes and must outlive the plan. NULL with *fault filled in. */
tn_plan *tn_plan_new(tn_heap *heap, const tn_graph *graph, const tn_plan_options *options, tn_fault *fault);
void tn_plan_free(tn_plan *plan);

/* Binds memory; borrowed until rebound. Views are contiguous and have the input's shape and dtype. */
void tn_plan_bind_input(tn_plan *plan, int index, const tn_view *view);
/* Contiguous and writable when the parameter is updated. */
void tn_plan_bind_param(tn_plan *plan, int index, const tn_view *view);
void tn_plan_bind_output(tn_plan *plan, int index, const tn_view *view);
void tn_plan_set_effects(tn_plan *plan, const tn_effects *effects);
/* From the next run on, every draw reads its random words shifted by this many. */
void tn_plan_shift_draws(tn_plan *plan, uint64_t words);
/* Called in the middle of a run, when a placed output has been written and stays as it is. False ends the run
 * with TN_FAULT_HOST. */
typedef struct {
  void *context;
  bool (*ready)(void *context, int output);
} tn_plan_watch;
void tn_plan_set_watch(tn_plan *plan, const tn_plan_watch *watch);

/* Runs everything once. On failure false with *fault (its `at` is the node's place); parameters
 * are then unchanged. The stop of the heap ends it with TN_FAULT_INTERRUPTED, until the first parameter is
 * written. */
bool tn_plan_run(tn_plan *plan, tn_fault *fault);
/* The same in three parts, so that the host can do something else while a card computes. `prepare` takes the
 * inputs as they are now for the run that is started next; a plan that was made for it (`ahead`) may be
 * running meanwhile. Taken again, they replace those. `finish` waits for the run and says how it went; it
 * follows a start that went well. A back end of the host reads inputs where they are and does everything in
 * `start`. */
void tn_plan_prepare(tn_plan *plan);
bool tn_plan_start(tn_plan *plan, tn_fault *fault);
bool tn_plan_finish(tn_plan *plan, tn_fault *fault);
/* The output's value, valid until the next run. Not necessarily contiguous. */
tn_view tn_plan_output(const tn_plan *plan, int index);

typedef struct {
  size_t block_bytes; /* intermediates */
  size_t scratch_bytes;
  size_t steps; /* kernels and jumps */
} tn_plan_stats;
tn_plan_stats tn_plan_stats_of(const tn_plan *plan);
/* One line per step, for `emit --as plan` and tests. On a GPU, also which steps run on the host and
 * why. */
void tn_plan_print(const tn_plan *plan, tn_text *out);
bool tn_plan_is_on_card(const tn_plan *plan);
#endif
