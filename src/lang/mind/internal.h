/* lang/mind/internal.h: shared by the files of MIND.
 *
 * A tn_mind is one compilation, or one interactive session: the modules that
 * were read, what they define, and the memory of all that. The stages of a program:
 *
 *   tn_mind_load      parses a text and what it imports, and checks all of it (modules.c)
 *   tn_mind_check_*   gives every expression a type, every name a meaning (check_*.c)
 *   tn_lang_mind_run  runs it (eval.c), tracing tensors into a graph (trace.c)
 *   tn_lang_mind_emit lowers it to a graph instead, for others to read (emit.c)
 */
#ifndef TN_LANG_MIND_INTERNAL_H
#define TN_LANG_MIND_INTERNAL_H

#include "graph/typer.h"
#include "lang/lang.h"
#include "lang/mind/ast.h"
#include "lang/mind/library.h"

/* Calls while a program runs; closures of closures while it is checked. */
#define TN_MIND_CALL_LIMIT 200

/* Expressions of closures that are checked, once for each of the types they are called with. */
#define TN_MIND_UNFOLD_LIMIT 500000

typedef struct tn_mind tn_mind;

/* ---- names ---- */

/* What a value has to do with those that something is differentiated by (check_path.c). */
typedef struct {
  bool depends;
  const tn_mind_node *block; /* the operation without a derivative in between; NULL: none */
  const tn_mind_unit *unit;  /* where that stands */
  tn_op op;
} tn_mind_flow;

/* What a name is bound to. Each `let` makes a new one; an assignment changes its type. */
struct tn_mind_variable {
  tn_name name;
  const tn_mind_unit *unit; /* where it was bound */
  uint32_t start, end;
  const tn_mind_type *type;     /* now, as the checker goes through the text */
  const tn_mind_type *declared; /* by an annotation; NULL: none */
  tn_mind_function *owner;      /* whose frame holds it; NULL: the module's */
  tn_mind_module *module;
  uint32_t slot;             /* in the frame */
  bool fixed;                /* a function was checked with this type: it stays */
  bool assigned;             /* after its binding, or perhaps */
  const tn_mind_node *value; /* what it was bound to, while its unit is there; NULL: a part of something */
  tn_mind_flow *flow;        /* found in this epoch */
  uint32_t flow_epoch;
  /* Of a module's variable: the last of the unit's statements that names it, or differentiates by it. */
  uint32_t last_use, last_wrt;
  bool kept, kept_wrt;         /* a function may do so at any time */
  tn_mind_variable *next;      /* among those of its unit */
  tn_mind_variable *next_dead; /* among those that a statement is the last to name */
};

typedef enum {
  TN_MIND_BINDS_VARIABLE,
  TN_MIND_BINDS_FUNCTION,
  TN_MIND_BINDS_MODULE /* an import */
} tn_mind_binds;

/* The newest local entry of each name, by the bits of the name: a tree that is never changed. */
typedef struct tn_mind_names tn_mind_names;

/* A list, newest first, that is never changed: to forget names is to go back to an older entry. */
typedef struct tn_mind_scope {
  tn_name name;
  tn_mind_binds binds;
  uint32_t order; /* of module entries: which came first */
  uint32_t nth;   /* of module entries: among those of its name; the oldest is the first */
  union {
    tn_mind_variable *variable;
    tn_mind_function *function;
    tn_mind_module *module;
  };
  const struct tn_mind_scope *next;
  /* Of module entries, among those of the same name: the one before; one that is much older, so that to look
   * for one takes as many steps as their number has digits; the newest from here on that is not a variable,
   * and so is seen from everywhere. NULL: past the oldest. */
  const struct tn_mind_scope *older, *jump, *fixed;
  const tn_mind_names *names;        /* of local entries: all of the list from here on */
} tn_mind_scope;

/* ---- functions ---- */

typedef enum { TN_MIND_UNCHECKED, TN_MIND_QUEUED, TN_MIND_CHECKED } tn_mind_state;

/* A `fn`, or a closure checked for the types of one call. */
struct tn_mind_function {
  tn_name name; /* of a closure: 0 */
  tn_mind_unit *unit;
  tn_mind_module *module;
  const tn_mind_definition *definition; /* of a fn */
  tn_mind_node *body;                   /* of a closure: its expression, a copy of its own */
  tn_mind_function *outer;              /* of a closure: the function it stands in; NULL: the module */
  const struct tn_mind_closure *closure; /* it is a copy of; NULL: of a fn */
  tn_mind_variable **params;
  const tn_mind_type **param_types; /* as declared, or as called */
  uint32_t param_count;
  const tn_mind_type *result; /* as declared; of a closure: what it gives */
  const tn_mind_type *gives;  /* what the body gives; NULL until checked */
  tn_mind_sizes sizes;        /* names of dimensions that its parameters have */
  tn_mind_bindings symbols;   /* what the names that only its result has have become */
  uint32_t effects;
  uint32_t slot_count;
  uint32_t order;         /* its place among the module's entries */
  uint8_t state;          /* tn_mind_state */
  bool failed;            /* its signature has a mistake that was reported */
  tn_mind_function *next; /* in the queue, or among a closure's instances */
};

/* A closure where it is written. */
typedef struct tn_mind_closure {
  const tn_mind_scope *scope; /* the local names around it */
  tn_mind_function *function; /* it stands in; NULL: the module */
  tn_mind_unit *unit;
  tn_name name;   /* that a `let` gives it; 0: none */
  uint32_t order; /* its place among the module's entries */
  tn_mind_function *instances; /* newest first */
  uint32_t instance_count;
  tn_mind_function **table; /* of many instances, by their types; for as long as `tabled` is the newest */
  uint32_t table_room;
  const tn_mind_function *tabled;
  const tn_mind_node *node;
  struct tn_mind_closure *next; /* among those of the unit that is being checked */
} tn_mind_closure;

/* The type that an argument meets; NULL: of a closure's parameter without a type, which takes anything. */
static inline const tn_mind_type *tn_mind_wanted(const tn_mind_function *f, uint32_t index) {
  bool written = !f->closure || f->closure->node->closure.params[index].annotation;
  return written ? f->param_types[index] : NULL;
}

/* A closure that was checked for new types, and those it was checked for before. */
typedef struct tn_mind_instanced {
  tn_mind_closure *closure;
  tn_mind_function *before;
  struct tn_mind_instanced *next;
} tn_mind_instanced;

typedef enum {
  TN_MIND_C_FUNCTION,
  TN_MIND_C_LIBRARY,
  TN_MIND_C_CLOSURE,
  TN_MIND_C_GRAD,
  TN_MIND_C_VALUE_AND_GRAD,
  TN_MIND_C_JACOBIAN,
  TN_MIND_C_HESSIAN,
  TN_MIND_C_PULLBACK,
  TN_MIND_C_DECLARED /* any function of a type that is written: fn(f32) -> f32 */
} tn_mind_callable_kind;

/* Which function a value of type fn is. */
typedef struct tn_mind_callable {
  tn_mind_callable_kind kind;
  tn_mind_function *function;
  const tn_mind_entry *entry;
  tn_mind_node *closure;
  const struct tn_mind_callable *inner; /* of grad(f) and the like: f */
  const tn_mind_type *output;           /* of a pullback: what it takes, */
  const tn_mind_type *input;            /* and what it gives */
  const tn_mind_type *const *params;    /* of a declared one */
  const tn_mind_type *result;
  uint32_t param_count;
} tn_mind_callable;

/* The function at the bottom of grad(f) and the like. */
static inline const tn_mind_callable *tn_mind_innermost(const tn_mind_callable *callable) {
  while (callable->inner) callable = callable->inner;
  return callable;
}

/* What grad and the like make of a function. */
static inline tn_mind_callable_kind tn_mind_transform_of(tn_mind_special special) {
  switch (special) {
    case TN_MIND_GRAD: return TN_MIND_C_GRAD;
    case TN_MIND_VALUE_AND_GRAD: return TN_MIND_C_VALUE_AND_GRAD;
    case TN_MIND_JACOBIAN: return TN_MIND_C_JACOBIAN;
    default: return TN_MIND_C_HESSIAN;
  }
}

/* The dtype in which a number is differentiated by: of the integers only literals get that far. */
static inline tn_dtype tn_mind_leaf_dtype(tn_dtype dtype) {
  return tn_dtype_in(dtype, TN_FLOATS | TN_STORAGE) ? dtype : TN_F64;
}

/* The rounds in which the arguments of a call meet the types of their parameters, in a check and in a run: a
 * number fills the sizes that tensors have given to names, and a function is called with all of them. */
enum { TN_MIND_OF_TENSORS, TN_MIND_OF_NUMBERS, TN_MIND_OF_FUNCTIONS, TN_MIND_ROUNDS };
static inline int tn_mind_round_of(bool number, bool function) {
  return function ? TN_MIND_OF_FUNCTIONS : number ? TN_MIND_OF_NUMBERS : TN_MIND_OF_TENSORS;
}

/* f, sum, grad, closure, ...: for diagnostics and for people. */
tn_str tn_mind_callable_name(tn_mind *mind, const tn_mind_callable *callable);

/* ---- modules ---- */

struct tn_mind_module {
  tn_str path; /* of its file, as it was opened */
  tn_str name; /* a.b, as it was imported */
  tn_mind_unit *unit;
  const tn_mind_scope *scope;
  const tn_mind_scope **newest; /* by name, so that looking up costs no walk */
  uint32_t newest_count;
  uint32_t entry_count;     /* of the scope */
  uint32_t slot_count;      /* of its frame */
  tn_mind_module **imports; /* in order of first import: evaluated before it */
  uint32_t import_count;
  bool loading, failed;
  struct tn_mind_frame *frame; /* while it runs, and after it */
  tn_mind_module *importer;    /* while loading */
  tn_mind_module *next;
};

/* ---- one compilation ---- */

/* A derivative that was asked for: of an expression by variables, or of a function by its parameters. */
typedef struct tn_mind_path {
  const tn_mind_node *loss;
  tn_mind_variable **wrt;
  uint32_t count; /* of wrt */
  const tn_mind_function *function;
  const tn_mind_unit *unit;       /* where it was asked for, */
  const tn_mind_function *around; /* and in which function; NULL: the module */
  tn_mind_flow found;
  struct tn_mind_path *next;
} tn_mind_path;

/* A name that was met in this round, and at which index. */
typedef struct {
  uint32_t round, index;
} tn_mind_mark;

struct tn_mind {
  tn_host *host;
  tn_arena *arena; /* of what is being read and checked */
  tn_typer typer; /* values live until it is reset, after each question */
  tn_mind_module *modules;
  tn_mind_function *queue;      /* functions that wait to be checked */
  tn_mind_instanced *instanced; /* newest first, so that a session can forget them */
  tn_mind_closure *closures;    /* of the unit that is being checked, newest first */
  uint32_t depth;               /* of closures in closures */
  uint32_t copied;              /* expressions of closures, in this unit */
  bool unfolded;                /* more than the limit, which was reported */
  tn_mind_path *paths;          /* derivatives of the unit that is being checked */
  uint32_t flow_epoch;
  uint32_t statement;         /* of the unit that is being checked */
  tn_vec(tn_mind_mark) marks; /* by name; see tn_mind_mark_name */
  uint32_t round;
  bool names_scalars; /* an expression is differentiated by names: floats need their history */
};

static inline bool tn_mind_room(const tn_mind *mind) { return tn_stack_room(&mind->host->heap->stack); }

void tn_mind_init(tn_mind *mind, tn_host *host, tn_arena *arena);
void tn_mind_free(tn_mind *mind);

/* ---- modules.c ---- */

/* Reads and checks a program; NULL after reporting. What is reported after it is of the phase run. */
tn_mind_module *tn_mind_load(tn_mind *mind, uint32_t file);
/* The module that `import` names, read and checked; NULL after reporting. */
tn_mind_module *tn_mind_import_module(tn_mind *mind, tn_mind_module *importer, const tn_mind_unit *unit,
                                      const tn_mind_node *node);
/* The public entry of that name; reports E7003 at the span when there is none. */
const tn_mind_scope *tn_mind_export_find(tn_mind *mind, const tn_mind_module *module, tn_name name,
                                         tn_span at);
bool tn_mind_is_public(const tn_mind_module *module, tn_name name);

/* ---- check ---- */

/* Checks the statements of a unit, one after the other, as a part of its module. Everything that is
 * wrong is reported; false when something was. */
bool tn_mind_check_unit(tn_mind *mind, tn_mind_unit *unit);

/* ---- opened.c ---- */

/* The program is checked and about to run: tells the host which files it opens. False after reporting. */
bool tn_mind_seal(tn_mind *mind);

/* ---- words for diagnostics (report.c) ---- */

/* What was written to the text, in the arena; the text is freed. */
tn_str tn_mind_kept_text(tn_mind *mind, tn_text *text);
/* How a library function is called, where it was called otherwise. */
tn_str tn_mind_call_hint(tn_mind *mind, const tn_mind_entry *entry);
/* A type as text, in the arena. */
tn_str tn_mind_describe(tn_mind *mind, const tn_mind_type *type);
tn_str tn_mind_describe_shape(tn_mind *mind, const tn_shape *shape); /* [2, N] */
/* Reports a fault with the operation's name in MIND, notes where the operands came from, and returns
 * false. `operands` may be NULL. */
typedef struct {
  tn_span at;
  bool named; /* a variable that was bound there */
} tn_mind_origin;
bool tn_mind_report_fault(tn_mind *mind, const tn_fault *fault, const char *op,
                          const tn_mind_origin *operands, int count);
bool tn_mind_expected(tn_mind *mind, tn_span at, const char *expected, const tn_mind_type *got); /* E2001 */
/* E2001 of a type that should be another; `name` is that of a variable, or 0. */
bool tn_mind_types_differ(tn_mind *mind, tn_span at, const tn_mind_type *wanted, const tn_mind_type *got,
                          tn_name name, tn_str hint);
/* E2102; `symbol` is the one that would have two sizes, or 0. */
bool tn_mind_shapes_differ(tn_mind *mind, tn_span at, const tn_shape *wanted, const tn_shape *got,
                           tn_name symbol, int dimension, tn_str hint);
/* E2105 for a shape with a size of 0, E_RANK_LIMIT for too many dimensions, E4002 for what is differentiated
 * and has any; false after reporting. */
bool tn_mind_refuse_empty(tn_mind *mind, const tn_shape *shape, tn_span at);
bool tn_mind_refuse_rank(tn_mind *mind, int64_t rank, tn_span at);
bool tn_mind_refuse_many(tn_mind *mind, const tn_shape *shape, tn_span at);
/* E2006 where only some dtypes are taken. */
bool tn_mind_refuse_dtype(tn_mind *mind, tn_span at, const char *op, const char *expected, tn_dtype got);
/* E2001 of a word that is none of those that are known. */
bool tn_mind_unknown_word(tn_mind *mind, tn_span at, const char *expected, tn_str got, const tn_str *known,
                          size_t count);
/* The dtype or device of that name; false after reporting that there is none. */
bool tn_mind_read_dtype(tn_mind *mind, tn_str word, tn_span at, tn_dtype *out);
bool tn_mind_read_device(tn_mind *mind, tn_str word, tn_span at, tn_mind_device *out);
/* E5002 */
bool tn_mind_devices_differ(tn_mind *mind, tn_span at, tn_mind_device left, tn_mind_device right,
                            const char *op);
/* What to do about two types that should be one, where they are single numbers; empty: nothing known. */
tn_str tn_mind_conversion_hint(const tn_mind_type *wanted, const tn_mind_type *got);
/* The position that an index into so many items means, from the end where it is negative; E2109 when there is
 * none. */
bool tn_mind_position(tn_mind *mind, int64_t index, int64_t count, tn_span at, int64_t *out);
/* Whether a size is an i32, which is the type of every size; E2001 when it is not, or is not known. `of` is
 * the shape that has it, or NULL: the dimension has the name. */
bool tn_mind_size_fits(tn_mind *mind, int64_t size, const tn_shape *of, tn_name name, tn_span at);
/* The number of steps of a loop that goes along one more tensor, of so many rows: E2102 where it has another.
 * *steps begins as TN_DIM_UNKNOWN. */
bool tn_mind_join_steps(tn_mind *mind, int64_t rows, tn_span at, int64_t *steps);
/* What E2001 says of branches that would have to become one value, before a run and in it. */
#define TN_MIND_JOINED_BRANCHES   "branches that can be joined, because the condition is not known"
#define TN_MIND_SEPARATE_BRANCHES "values of different shapes or kinds"
/* Nothing was said yet, but the arena or the graph ran out of memory. */
bool tn_mind_out_of_memory(tn_mind *mind);

/* ---- arithmetic of scalars (scalar.c) ---- */

/* A concrete number of a scalar dtype. f32 is kept as a double that is a float. */
typedef struct {
  tn_dtype dtype;
  union {
    int64_t integer; /* i32, i64, bool */
    double number;   /* f32, f64 */
  };
} tn_mind_number;

/* Both of one dtype. False for an integer division by zero. */
bool tn_mind_number_binary(tn_op op, tn_mind_number left, tn_mind_number right, tn_mind_number *out);
tn_mind_number tn_mind_number_negate(tn_mind_number x);
/* To another dtype; f64 to f32 rounds, a value out of range was refused before. */
tn_mind_number tn_mind_number_cast(tn_mind_number x, tn_dtype dtype);
bool tn_mind_number_truth(tn_mind_number x);
double tn_mind_number_f64(tn_mind_number x);
/* Whether an integer operation has an exact result that its dtype holds. */
bool tn_mind_number_exact(tn_op op, tn_mind_number left, tn_mind_number right);
void tn_mind_number_print(tn_mind_number x, tn_text *out);
#endif
