/* lang/mind/eval.h: values of a running program, and what the evaluator's files share.
 *
 *   eval.c           statements, blocks, names, lists, calls of functions
 *   eval_operator.c  operators and conditions; branches that are both traced
 *   eval_library.c   calls of the library (library_call.h: how arguments are read)
 *   eval_grad.c      derivatives
 *   eval_loop.c      fold and scan
 *   eval_file.c      tensors from files, and to files
 *   history.c        what may be forgotten while a program runs
 *   eval_value.c     conversions, printing, results
 *   eval_choose.c    which copy of a closure runs
 *
 * Scalars are numbers that are known at once; a scalar that may be
 * differentiated by, or came out of a tensor, is a node of the graph as well.
 * In lowering, everything but literals is a node, and an `if` becomes two
 * regions. Every function returns false after reporting. */
#ifndef TN_LANG_MIND_EVAL_H
#define TN_LANG_MIND_EVAL_H

#include "base/map.h"
#include "lang/mind/internal.h"
#include "lang/mind/trace.h"

typedef enum {
  TN_MIND_V_NONE, /* a variable that has no value yet */
  TN_MIND_V_UNIT,
  TN_MIND_V_SCALAR,
  TN_MIND_V_TENSOR,
  TN_MIND_V_STRING,
  TN_MIND_V_SHAPE,
  TN_MIND_V_TUPLE,
  TN_MIND_V_LIST,
  TN_MIND_V_GRAD,
  TN_MIND_V_FN
} tn_mind_value_kind;

typedef struct tn_mind_value tn_mind_value;
struct tn_mind_fn;

struct tn_mind_value {
  uint8_t kind;   /* tn_mind_value_kind */
  uint8_t dtype;  /* scalar */
  bool known;     /* scalar: `integer` or `number` is its value */
  uint32_t count; /* of items */
  tn_value node;  /* tensor; scalar: 0 or its node */
  union {
    int64_t integer;
    double number;
    tn_str text;
    const tn_shape *shape;
    struct {
      tn_mind_value *items;
      const tn_name *names; /* grad */
    };
    const struct tn_mind_fn *fn;
  };
};

/* Rooms of 1, 2, 4, ... values that are used again. */
#define TN_MIND_SPARE_SIZES 6

typedef struct tn_mind_frame {
  const tn_mind_function *function; /* NULL: of a module */
  const tn_mind_unit *unit;         /* whose text is run in it */
  struct tn_mind_frame *outer;      /* of a closure: where it was made; of a spare frame: the next */
  bool captured;                    /* a closure remembers it: it outlives its call */
  tn_mind_bindings symbols;         /* sizes of the signature's names */
  uint32_t slot_count;
  tn_mind_value *slots;
} tn_mind_frame;

/* A function as a value. */
typedef struct tn_mind_fn {
  const tn_mind_callable *callable;
  tn_mind_frame *frame;           /* of a closure */
  const struct tn_mind_fn *inner; /* of grad(f) and the like */
  const tn_mind_function *chosen; /* of a closure that met a type of functions: its copy; else NULL */
  const tn_mind_value *output;    /* of a pullback: what f gave, */
  const tn_mind_value *leaves;    /* and by what it is differentiated */
  uint32_t leaf_count;
  bool tuple; /* the arguments were a tuple */
} tn_mind_fn;

/* A slot and what it held before, or holds after, a branch. */
typedef struct {
  tn_mind_value *slot;
  tn_mind_value value;
} tn_mind_slot_change;

/* A call that is the last thing a fn does. It is made when the fn has ended, so that it needs no stack. */
typedef struct {
  const tn_mind_function *function; /* NULL: there is none */
  tn_mind_value *args;
  tn_span at;
} tn_mind_tail;

/* An active call. */
typedef struct tn_mind_active {
  const tn_mind_function *function;
  struct tn_mind_active *caller;
  tn_diag_call call; /* where it stands */
} tn_mind_active;

typedef struct {
  tn_mind *mind;
  tn_host *host;
  tn_mind_trace *trace;
  tn_arena *arena;
  uint64_t drawn; /* words of the generator that were used */
  uint32_t calls;
  tn_mind_active *active;
  tn_mind_tail tail;
  bool names_scalars;  /* floats that are bound to a name become nodes */
  bool lowers;         /* to a graph for others; nothing is printed */
  bool unknown_inputs; /* lowering a function: conditions cannot be decided */
  uint32_t derivatives; /* functions around that are called to be differentiated */
  uint32_t undecided;  /* branches around whose condition has no data */
  bool forgets;        /* what no later statement can ask for */
  tn_vec(const tn_mind_variable *) live; /* of modules, when it forgets: those with a value, or dead since */
  size_t compact_at, compact_bytes; /* so many nodes or bytes, and it is time to forget */
  tn_vec(tn_mind_slot_change) journal; /* what slots held before they were changed, */
  const tn_mind_frame *fork;           /* those of the frame in which the innermost fork is; NULL: none is */
  tn_mind_frame *spare[TN_MIND_SPARE_SIZES]; /* frames that calls have left, by their room */
  tn_mind_value *spare_values[TN_MIND_SPARE_SIZES];
  uint64_t steps; /* expressions that were evaluated */
  uint32_t statements;
} tn_mind_evaluator;

/* ---- eval.c ---- */

/* Runs a module after those it imports; *out is its value. */
bool tn_mind_eval_module(tn_mind_evaluator *e, tn_mind_module *module, tn_mind_value *out);
bool tn_mind_eval_unit(tn_mind_evaluator *e, const tn_mind_unit *unit, tn_mind_frame *frame,
                       tn_mind_value *out);
bool tn_mind_eval(tn_mind_evaluator *e, tn_mind_frame *frame, tn_mind_node *node, tn_mind_value *out);
bool tn_mind_eval_block(tn_mind_evaluator *e, tn_mind_frame *frame, const tn_mind_block *block,
                        tn_mind_value *out);
/* Calls a function value. `function` is the fn or the closure the checker chose, if there is one. */
bool tn_mind_eval_call_value(tn_mind_evaluator *e, const tn_mind_fn *fn, const tn_mind_function *function,
                             const tn_mind_value *args, uint32_t count, tn_span at, tn_mind_value *out);
/* What runs when the function is called with these values, where the checker knows only its type: the fn at
 * the bottom, or a closure's copy for values like these. NULL: it is the library's, or a pullback. */
const tn_mind_function *tn_mind_choose(tn_mind_evaluator *e, const tn_mind_fn *fn, const tn_mind_value *args,
                                       uint32_t count);
/* The copy of a closure that was checked for a type of functions. */
const tn_mind_function *tn_mind_choose_for(const tn_mind_fn *fn, const tn_mind_callable *declared);
/* Whether the program was asked to stop; reported if so. */
bool tn_mind_interrupted(tn_mind_evaluator *e, tn_span at);
/* One item of a tuple, a list or a shape. */
bool tn_mind_item(tn_mind_evaluator *e, const tn_mind_value *of, const tn_mind_value *index, tn_span at,
                  tn_mind_value *out);
/* A function as a value. */
bool tn_mind_fn_value(tn_mind_evaluator *e, tn_mind_fn fn, tn_mind_value *out);
/* Changes what a slot holds, so that a fork can take it back. */
bool tn_mind_set_slot(tn_mind_evaluator *e, tn_mind_value *slot, tn_mind_value value);
tn_mind_value *tn_mind_eval_slot(tn_mind_frame *frame, const tn_mind_variable *variable);
/* What a dimension of the signature around is in this call: its size, or the symbol where it has none. */
int64_t tn_mind_eval_size(const tn_mind_frame *frame, tn_name name);

/* ---- eval_operator.c ---- */

/* `dtype` is the one in which the checker lets the operands meet. */
bool tn_mind_eval_binary(tn_mind_evaluator *e, tn_op op, tn_dtype dtype, tn_mind_value left,
                         tn_mind_value right, tn_span at, tn_mind_value *out);
bool tn_mind_eval_unary(tn_mind_evaluator *e, tn_op op, tn_mind_value x, tn_span at, tn_mind_value *out);
bool tn_mind_eval_logic(tn_mind_evaluator *e, tn_mind_frame *frame, tn_mind_node *node, tn_mind_value left,
                        tn_mind_value *out);
bool tn_mind_eval_if(tn_mind_evaluator *e, tn_mind_frame *frame, tn_mind_node *node, tn_mind_value *out);

/* ---- eval_library.c ---- */

bool tn_mind_eval_library(tn_mind_evaluator *e, tn_mind_frame *frame, tn_mind_node *call,
                          const tn_mind_value *receiver, tn_mind_value *out);
bool tn_mind_eval_index(tn_mind_evaluator *e, tn_mind_frame *frame, tn_mind_node *node, tn_mind_value left,
                        tn_mind_value *out);
/* The library on values, by position. */
bool tn_mind_eval_library_values(tn_mind_evaluator *e, const tn_mind_entry *entry, const tn_mind_value *args,
                                 uint32_t count, tn_span at, tn_mind_value *out);
bool tn_mind_allow(tn_mind_evaluator *e, uint32_t effects, tn_span at);

/* ---- eval_grad.c ---- */

bool tn_mind_eval_special(tn_mind_evaluator *e, tn_mind_frame *frame, tn_mind_node *call,
                          const tn_mind_value *receiver, tn_mind_value *out);
/* The same on values, by position. */
bool tn_mind_eval_special_values(tn_mind_evaluator *e, const tn_mind_entry *entry, const tn_mind_value *args,
                                 tn_span at, tn_mind_value *out);
bool tn_mind_eval_transform(tn_mind_evaluator *e, const tn_mind_fn *fn, const tn_mind_function *function,
                            const tn_mind_value *args, uint32_t count, tn_span at, tn_mind_value *out);
bool tn_mind_eval_pullback(tn_mind_evaluator *e, const tn_mind_fn *fn, const tn_mind_value *cotangent,
                           tn_span at, tn_mind_value *out);
/* Reports what is not one number, and so has no gradient. */
bool tn_mind_is_single(tn_mind_evaluator *e, const tn_mind_value *value, tn_span at);
/* Gradients of a node by others, each on its own: one may have been computed from another. */
bool tn_mind_gradients(tn_mind_evaluator *e, const tn_value *outputs, const tn_value *seeds, int output_count,
                       const tn_value *wrt, int count, tn_span at, tn_value *grads);

/* ---- eval_loop.c ---- */

/* fold and scan; `function` as in tn_mind_eval_call_value, `type` as the checker found it for the call. Both
 * may be NULL: the values decide. */
bool tn_mind_eval_loop(tn_mind_evaluator *e, const tn_mind_entry *entry, const tn_mind_function *function,
                       const tn_mind_type *type, const tn_mind_value *args, tn_span at, tn_mind_value *out);

/* ---- eval_file.c ---- */

/* The path to open for one that the program names; false after reporting that it is not granted. */
bool tn_mind_find_file(tn_mind_evaluator *e, tn_str path, bool writes, tn_span at, tn_str *found);
/* read_bytes, read_csv and read_npy, which has a rank and a dtype. */
bool tn_mind_read_tensor(tn_mind_evaluator *e, tn_mind_special special, tn_str path, int64_t rank,
                         tn_dtype dtype, tn_span at, tn_mind_value *out);
/* save and load. */
bool tn_mind_eval_weights(tn_mind_evaluator *e, tn_mind_frame *frame, tn_mind_node *call, tn_str path,
                          tn_mind_value *out);

/* ---- history.c ---- */

/* The nodes that values hold, and those of them that something may be differentiated by. */
typedef struct {
  tn_heap *heap;
  tn_map met;              /* items, functions and frames, each of which may be held by many */
  tn_vec(tn_value *) keep; /* where the number of a node stands */
  tn_vec(tn_value) named;
  bool failed;
} tn_mind_holders;
void tn_mind_holders_init(tn_mind_holders *h, tn_heap *heap);
void tn_mind_hold(tn_mind_holders *h, tn_mind_value *value, bool named);
/* Keeps the nodes that are held, with the history that leads to named ones, or, with `all`, without any.
 * False when memory runs out: then nothing has changed. The holders hold the nodes that are left. */
bool tn_mind_compact(tn_mind_trace *trace, tn_mind_holders *h, bool all);
void tn_mind_holders_free(tn_mind_holders *h);

/* Finds out when the variables of all modules are named for the last time. False after reporting. */
bool tn_mind_plan_history(tn_mind *mind);
/* After a statement of a module: forgets what none after it can ask for. `value` is the statement's.
 * False after reporting. */
bool tn_mind_forget(tn_mind_evaluator *e, const tn_mind_unit *unit, uint32_t statement, tn_mind_value *value);

/* ---- eval_value.c ---- */

static inline tn_mind_value tn_mind_unit_value(void) { return (tn_mind_value){ .kind = TN_MIND_V_UNIT }; }
/* A number or a tensor. */
static inline bool tn_mind_is_plain(const tn_mind_value *value) {
  return value->kind == TN_MIND_V_SCALAR || value->kind == TN_MIND_V_TENSOR;
}
/* A tuple, a list or a record. */
static inline bool tn_mind_has_items(const tn_mind_value *value) {
  return value->kind == TN_MIND_V_TUPLE || value->kind == TN_MIND_V_LIST || value->kind == TN_MIND_V_GRAD;
}
tn_mind_value tn_mind_scalar_value(tn_mind_number number);
/* Of a scalar that is known. */
tn_mind_number tn_mind_number_in(const tn_mind_value *value);
tn_mind_value tn_mind_tensor_value(tn_value node);
/* The builder, at a place; NULL after reporting that memory ran out. */
tn_builder *tn_mind_builder(tn_mind_evaluator *e, tn_span at);
/* Reports the builder's fault, if there is one. */
bool tn_mind_built(tn_mind_evaluator *e, const char *op, tn_value value);
bool tn_mind_eval_fault(tn_mind_evaluator *e, const tn_fault *fault, const char *op);
/* The type of a value's node, or of a scalar as a tensor without dimensions. */
tn_type tn_mind_value_type(const tn_mind_evaluator *e, const tn_mind_value *value);
/* A node for a scalar or tensor, cast to the dtype. TN_ERROR_VALUE after reporting. */
tn_value tn_mind_node_of(tn_mind_evaluator *e, const tn_mind_value *value, tn_dtype dtype, tn_span at);
/* The number of a scalar or of a tensor without dimensions. TN_MIND_NO_DATA leaves *out. */
tn_mind_forced tn_mind_number_of(tn_mind_evaluator *e, const tn_mind_value *value, tn_span at,
                                 tn_mind_number *out);
/* The same where a number must be there: reports when it is not. */
bool tn_mind_need_number(tn_mind_evaluator *e, const tn_mind_value *value, tn_span at, tn_mind_number *out);
/* What a value becomes when it meets a declared type. */
bool tn_mind_coerce(tn_mind_evaluator *e, tn_mind_value *value, const tn_mind_type *wanted,
                    tn_mind_bindings *symbols, const tn_mind_bindings *around, tn_span at);
/* The arguments of a call, in rounds: what they become when they meet the parameters of a function, or of one
 * of which only the type is known. */
bool tn_mind_coerce_all(tn_mind_evaluator *e, tn_mind_value *args, const tn_mind_function *f,
                        const tn_mind_callable *declared, tn_mind_bindings *symbols,
                        const tn_mind_bindings *around, tn_span at);
static inline int tn_mind_value_round(const tn_mind_value *value) {
  return tn_mind_round_of(value->kind == TN_MIND_V_SCALAR, value->kind == TN_MIND_V_FN);
}
/* The type as it is while running. */
const tn_mind_type *tn_mind_type_of(tn_mind_evaluator *e, const tn_mind_value *value);
/* What print shows. Computes what it needs. With `shorten`, large tensors are cut in the middle. */
bool tn_mind_value_print(tn_mind_evaluator *e, const tn_mind_value *value, bool shorten, tn_span at,
                         tn_text *out);
/* For the outside; tensors are shared. */
bool tn_mind_value_datum(tn_mind_evaluator *e, const tn_mind_value *value, tn_arena *arena, tn_datum *out);
/* Computes everything in the value that has data. */
bool tn_mind_value_force(tn_mind_evaluator *e, const tn_mind_value *value, tn_span at);
#endif
