/* plan/internal.h: shared by the files of plan/.
 *
 * schedule.c walks the graph and creates steps, locations and the lifetime of every storage;
 * windows.c finds image windows that are made separately for each reader; merge.c and bands.c save
 * memory traffic: pairs of steps become one, and steps process their rows together; flatten.c makes
 * those rows many; lanes.c lets each thread take its own bands of rows; memory.c assigns offsets to
 * storages; plan.c binds and runs; card.c does so on a GPU, where order.c says which steps may run
 * in parallel.
 *
 * Time is the index of a step. Jumps only go forward, so a value is live from the step that writes
 * it to the last step that reads it, whichever branch runs. */
#ifndef TN_PLAN_INTERNAL_H
#define TN_PLAN_INTERNAL_H

#include "plan/plan.h"

#define TN_PLAN_END INT32_MAX /* a time after every step */

typedef enum {
  TN_STEP_KERNEL,
  TN_STEP_HOST,
  TN_STEP_ENTER, /* a region begins: may its host operations run? */
  TN_STEP_JUMP,
  TN_STEP_JUMP_UNLESS /* in[0] is the condition */
} tn_step_kind;

/* What a thread needs to process its own bands. */
typedef struct {
  tn_view *views;        /* of all steps that go together */
  tn_kernel_call *calls; /* by step */
  int64_t failed;        /* the first band that did; -1: none */
  tn_fault fault;
} tn_lane;

typedef struct {
  int count;      /* of them, at most as many as bands */
  double cost;    /* nanoseconds for all bands on one thread, about */
  size_t scratch; /* bytes for each */
  tn_lane *at;
} tn_lanes;

typedef struct {
  tn_step_kind kind;
  tn_kernel kernel;
  tn_kernel_call call;             /* views live in plan->views */
  uint32_t first_view;             /* operands, then the result */
  uint32_t target;                 /* jumps */
  uint32_t first_host, host_count; /* ENTER */
  tn_value node;
  bool fallible; /* can end the run at run time */
  size_t scratch, scratch_at; /* on a card: bytes that it needs beside its operands, and where they begin */
  int32_t bands; /* more than 1: the steps from here to band_end - 1 go together, band by band */
  uint32_t band_end;
  tn_lanes *lanes; /* of those; NULL: all threads do each step of a band */
} tn_step;

#define TN_PLAN_BAND_OPERANDS 32 /* of a step that goes band by band, at most */

/* A piece of memory: in the block, or owned by the caller. */
typedef struct {
  int32_t base; /* index into plan->bases */
  size_t offset, bytes;
  int32_t first, last; /* steps that write and last read it */
  bool taken;          /* its place was handed to an in-place result */
  bool banded;         /* holds one band only, which every band overwrites */
  bool output;         /* must survive the run */
} tn_storage;

/* The location of a value: a view into a storage. The view's data pointer is unused. */
typedef struct {
  int32_t storage; /* -1: nowhere */
  int64_t offset;  /* bytes */
  tn_view view;
} tn_location;

/* A view whose data pointer is updated when its base moves. */
typedef struct {
  int32_t storage;
  int64_t offset;
  int64_t advance; /* bytes from one band to the next */
  int64_t lane_advance; /* and from one thread's memory for a band to the next one's */
  int32_t next;    /* of the same base; -1 ends */
} tn_view_site;

typedef struct {
  char *data;
  int32_t sites; /* head of the list of views into it */
} tn_base;

/* A draw of random words; the step's kernel reads the attributes. */
typedef struct {
  tn_attrs *attrs;
  uint64_t index; /* as the graph has it */
} tn_draw;

/* A placed output is there after this step. */
typedef struct {
  uint32_t step;
  int output;
} tn_ready;

typedef struct tn_plan_card tn_plan_card;

struct tn_plan {
  tn_heap *heap;
  tn_arena arena;
  const tn_graph *graph;
  const tn_backend *backend;
  int threads;
  tn_vec(tn_step) steps;
  tn_vec(tn_storage) storages;
  tn_vec(tn_view) views;
  tn_vec(tn_view_site) sites; /* one per view */
  tn_vec(tn_base) bases;      /* 0 the block, then inputs, params, outputs, constants */
  int32_t const_base;         /* the first of the constants */
  tn_vec(const tn_node *) hosts;
  tn_vec(tn_draw) draws;
  tn_ready *ready; /* in the order of steps */
  size_t ready_count;
  tn_location *location; /* by value */
  bool *needed;          /* by value */
  tn_value *windows_of;  /* by value: the patches that it is, or looks at, if those are made for each product
                            that reads them; 0: none. NULL: there are none */
  int32_t *output_view;  /* by output: its index in views */
  size_t block_bytes, scratch_bytes;
  char *scratch;
  int32_t first_write; /* the first step that changes a parameter */
  tn_effects effects;
  tn_plan_watch watch;
  tn_plan_options options;
  tn_plan_card *card; /* the block is on a card; NULL: on the host */
};

/* Finds windows that only products read (windows.c). False when memory runs out. */
bool tn_plan_find_windows(tn_plan *plan, tn_fault *fault);
/* Whether the back end, which reads windows in their image, is to multiply these with so many columns. */
bool tn_plan_suits_windows(const tn_plan *plan, const tn_type *image, const tn_type *windows,
                           int64_t columns);
/* Fills in steps, storages and locations. False with *fault. */
bool tn_plan_schedule(tn_plan *plan, tn_fault *fault);
/* Merges two steps into one if the back end can. False when memory runs out. */
bool tn_plan_merge_steps(tn_plan *plan, tn_fault *fault);
/* The operand that relu's slope is multiplied with, which it lets through or not; -1: the node is none. */
int tn_plan_passed_by_relu_slope(const tn_node *node);
/* Makes one axis of several in front where a step does the same along all of them. False when memory runs
 * out. */
bool tn_plan_flatten(tn_plan *plan, tn_fault *fault);
/* Groups steps that work row by row into bands. False when memory runs out. */
bool tn_plan_cut_bands(tn_plan *plan, tn_fault *fault);
/* Allocates what threads with their own bands need. False when memory runs out. */
bool tn_plan_make_lanes(tn_plan *plan, tn_fault *fault);
/* Runs the steps that go together with `first`, whose lanes are made. */
bool tn_plan_run_lanes(tn_plan *plan, uint32_t first, tn_fault *fault);
/* Where a run ends: the fault, of this kind where none was filled in, gets the step's place. False. */
bool tn_plan_stop(const tn_plan *plan, const tn_step *step, tn_fault_kind kind, tn_fault *fault);
/* Gives every storage of the block its offset; fills in block_bytes. */
bool tn_plan_place(tn_plan *plan, tn_fault *fault);
/* Host operations. */
bool tn_plan_run_host(tn_plan *plan, const tn_step *step, tn_fault *fault);
bool tn_plan_enter_region(tn_plan *plan, const tn_step *step, tn_fault *fault);

/* On a card (card.c): before steps are made; when they are; and what plan.h says of plans. */
bool tn_plan_begin_card(tn_plan *plan, tn_fault *fault);
bool tn_plan_get_card_memory(tn_plan *plan, tn_fault *fault);
void tn_plan_free_card(tn_plan *plan);
void tn_plan_bind_card_input(tn_plan *plan, int index, const tn_view *view);
void tn_plan_bind_card_output(tn_plan *plan, int index, const tn_view *view);
/* Where the parameter is on the card; NULL: there is no memory for it, and the next run says so. */
char *tn_plan_bind_card_param(tn_plan *plan, int index, const tn_view *view);
void tn_plan_shift_card_draws(tn_plan *plan, uint64_t words);
tn_view tn_plan_card_output(const tn_plan *plan, int index);
void tn_plan_prepare_on_card(tn_plan *plan);
bool tn_plan_start_on_card(tn_plan *plan, tn_fault *fault);
bool tn_plan_finish_on_card(tn_plan *plan, tn_fault *fault);
/* Whether no step of a run waits for the host: such a plan is recorded and launched as one. */
bool tn_plan_is_recordable(const tn_plan *plan);

/* What steps wait for (order.c). `fault`: where kernels put it. NULL: memory ran out, or the plan is too long
 * or has an `if`; then each step waits for the one before it. Memory must be bound. */
typedef struct tn_order tn_order;
tn_order *tn_order_new(const tn_plan *plan, const void *fault);
void tn_order_free(tn_order *order); /* NULL is fine */
/* The steps that this one waits for, without those that they wait for; how many. Asked of every step in turn.
 * does[i]: the earlier step i is anything to wait for. `out` has room for all steps. */
size_t tn_order_waits(tn_order *order, uint32_t step, const bool *does, uint32_t *out);
/* Bytes that a step needs beside its operands. */
size_t tn_plan_scratch_of(const tn_plan *plan, const tn_step *step);

/* Adds a view that follows its storage; its index, or -1 when memory runs out. */
int32_t tn_plan_add_view(tn_plan *plan, const tn_location *location);

/* Offsets in the block are multiples of a cache line. */
static inline size_t tn_plan_rounded(size_t bytes) { return (bytes + 63) & ~(size_t)63; }

/* ---- what a step reads and writes: operand i, or its result at i = call.count ---- */

static inline const tn_view *tn_step_view(const tn_plan *plan, const tn_step *step, int i) {
  return &plan->views.at[step->first_view + (uint32_t)i];
}
static inline const tn_view_site *tn_step_site(const tn_plan *plan, const tn_step *step, int i) {
  return &plan->sites.at[step->first_view + (uint32_t)i];
}
/* The first of the axes along which a reduction or a scan goes; -1: it goes along none. */
static inline int tn_step_axis(const tn_step *step) {
  const tn_attrs *attrs = step->call.attrs;
  if (tn_op_sig_of(step->call.op)->attrs & TN_ATTR_AXIS) return attrs->axis;
  return attrs->axis_count > 0 ? attrs->axes[0] : -1;
}
/* Whether operand i of `a` and operand k of `b` are the same elements, in the same order. */
bool tn_step_same_place(const tn_plan *plan, const tn_step *a, int i, const tn_step *b, int k);
/* True when the result of the step may be written over operand i. */
bool tn_plan_in_place(const tn_plan *plan, const tn_step *step, int operand);
static inline int32_t tn_plan_input_base(const tn_plan *plan, int index) {
  (void)plan;
  return 1 + index;
}
static inline int32_t tn_plan_param_base(const tn_plan *plan, int index) {
  return 1 + (int32_t)plan->graph->inputs.count + index;
}
static inline int32_t tn_plan_output_base(const tn_plan *plan, int index) {
  return tn_plan_param_base(plan, (int)plan->graph->params.count) + index;
}
#endif
