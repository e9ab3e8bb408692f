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
 * With the back end of a card the block and the parameters are there, and what is bound and what comes out is
 * memory of the host all the same. */
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
  /* Outputs that nobody looks at after a run; NULL: none. A card does not send them. */
  const bool *ignored;
  size_t memory_limit; /* bytes for the block; 0: none */
  size_t band_bytes;   /* what steps that go row by row touch at a time; 0: what a near cache holds; SIZE_MAX:
                          each step does all of its rows */
} tn_plan_options;

/* Who is to carry a graph out so many times: the back end, or the host's if it is an automatic card and the
 * work is too small to be worth its start and its launches. */
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
/* From the next run on every draw takes the random words that come so many after its own. */
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
/* The output's value, valid until the next run. Not necessarily contiguous. */
tn_view tn_plan_output(const tn_plan *plan, int index);

typedef struct {
  size_t block_bytes; /* intermediates */
  size_t scratch_bytes;
  size_t steps; /* kernels and jumps */
} tn_plan_stats;
tn_plan_stats tn_plan_stats_of(const tn_plan *plan);
/* One line per step, for `emit --as plan` and tests. On a card, also which steps are the host's and why. */
void tn_plan_print(const tn_plan *plan, tn_text *out);
bool tn_plan_is_on_card(const tn_plan *plan);
#endif
