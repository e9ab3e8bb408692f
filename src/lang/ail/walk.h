/* lang/ail/walk.h: the semantics of expressions, as calls of a builder.
 *
 * One walk serves two purposes. With the builder of types (graph/typer.h) it is the
 * check: dimensions may be names, two different names may turn out equal, and
 * only certain errors are reported. With a graph and known lengths it is the lowering: what fails
 * there fails at run time. Both visit the same operations in the same order, so an error at run
 * time finds the names of its dimensions (tn_ail_named_shapes). */
#ifndef TN_LANG_AIL_WALK_H
#define TN_LANG_AIL_WALK_H

#include "graph/typer.h"
#include "lang/ail/constant.h"

/* What an expression gives. */
typedef struct {
  uint8_t kind;       /* tn_data_kind */
  bool wrong;         /* it was reported; its users report nothing */
  bool constant;      /* one number (or truth value) that is known now */
  bool is_text;       /* a string, which is no value */
  bool whole;         /* a constant that is a 64-bit integer; `number` is the nearest f32 */
  float number;       /* of a constant */
  int64_t integer;    /* of a whole one */
  tn_value value;     /* TN_NO_VALUE: a constant that is no value yet */
  tn_name origin;     /* the input, or else the name it was last called by; 0: none */
  int32_t input;      /* which input it is itself; -1: none */
  const tn_str *text; /* of a string; the program's */
} tn_ail_operand;

typedef struct {
  tn_ail_operand operand;
  tn_name name;
  uint32_t frame;  /* of the function call it belongs to */
  uint32_t hidden; /* the binding of the name before it, plus 1 */
} tn_ail_binding;

/* One branch of an `if` that is decided at run time. */
typedef struct {
  tn_value condition;
  uint32_t region;
  tn_ail_operand then;
  tn_span at;
} tn_ail_pending;

#define TN_AIL_WALK_DEPTH_LIMIT 1000    /* of expressions inside each other, calls expanded */
#define TN_AIL_WALK_CALL_LIMIT  1000000 /* calls of functions that are expanded */

/* One use of a layer that is being walked. */
typedef struct tn_ail_layer_use {
  tn_name path;     /* what its params begin with: block.0 */
  uint32_t body;    /* as in tn_ail.numbered */
  tn_map next;      /* layer -> the number of its next use here */
} tn_ail_layer_use;

typedef struct tn_ail_walk {
  tn_ail *program;
  tn_builder *builder;
  tn_typer *typer;       /* the builder, where it only infers types; else NULL */
  const tn_sizes *sizes; /* NULL: dimensions keep their names */
  bool quiet;      /* nothing is reported */
  bool failed;     /* something was wrong */
  bool stopped;    /* nothing more is walked */
  bool open_names; /* a name that is not bound may be supplied later: no error */
  /* What a name means that nothing here binds: asked twice, before and after the constants of the
   * program. NULL: nothing. */
  bool (*outside)(struct tn_ail_walk *w, tn_name name, bool behind_constants, tn_ail_operand *out);
  void *context;
  bool exact;      /* integer literals and constants are whole: a state or a handler is evaluated */
  bool records;    /* the lengths of tables and the shapes of sites are kept in the program */
  bool replays;    /* the check of the program met the same sites in the same order */
  bool unnamed;    /* a graph with named dimensions: what is not certain sets `stuck` */
  bool stuck;
  tn_vec(tn_ail_binding) bindings;
  uint32_t *latest; /* name -> its binding plus 1 */
  size_t latest_count;
  tn_vec(tn_ail_operand) stack; /* arguments of calls that are being made */
  tn_vec(tn_ail_pending) pending;
  tn_vec(tn_value) parts; /* of loops that collect */
  uint32_t frame, frames;
  tn_span called; /* where the function that is walked is called; TN_NOWHERE: none is */
  int depth;
  uint64_t calls;
  tn_name target;    /* the name that is being assigned; for repeat */
  uint64_t site;     /* how many pairs of shapes have been compared */
  tn_value key;      /* of dropout; 0: nothing drops out */
  uint64_t dropouts;
  tn_value logits; /* what labels were last compared with, outside of any branch */
  int branches;    /* open regions */
  tn_ail_layer_use *use; /* of the layer that is being walked; NULL: none, the model itself */
  tn_ail_layer_use model; /* the uses that the model makes */
  size_t use_count; /* of layers so far */
  const tn_ail_expr *carried; /* the first argument of a call that is repeated: in further rounds */
  tn_ail_operand carry;       /* it is what the round before has given */
  tn_outline *outline;        /* records calls and names; NULL: not wanted */
} tn_ail_walk;

/* The place of a fault, and the function that it names. */
typedef struct {
  tn_span at;
  const char *function; /* NULL: the operation's own name */
  tn_str written;       /* the name as the program wrote it; empty: `function` */
} tn_ail_site;

#define tn_ail_say(w, code, at, ...)                                                                         \
  ((w)->failed = true, (w)->quiet ? false                                                                    \
                                  : tn_report((w)->program->host->diags, (code), (at), __VA_ARGS__,          \
                                              TN_NOTE_IF((w)->called, TN_DIAG_CALLED)))
#define tn_ail_say_plain(w, code, at)                                                                        \
  ((w)->failed = true, (w)->quiet ? false : tn_report_plain((w)->program->host->diags, (code), (at)))

/* A graph with names cannot say whether this is right. */
static inline void tn_ail_get_stuck(tn_ail_walk *w) { w->stuck = w->stopped = w->failed = true; }

/* ---- driving it (walk.c) ---- */

void tn_ail_walk_init(tn_ail_walk *w, tn_ail *program, tn_builder *builder);
void tn_ail_walk_free(tn_ail_walk *w);
tn_ail_operand tn_ail_evaluate(tn_ail_walk *w, const tn_ail_expr *expr);
void tn_ail_bind(tn_ail_walk *w, tn_name name, const tn_ail_operand *operand);
/* What the name means here, or NULL. */
const tn_ail_operand *tn_ail_lookup(const tn_ail_walk *w, tn_name name);
size_t tn_ail_open_scope(const tn_ail_walk *w);
void tn_ail_close_scope(tn_ail_walk *w, size_t scope);
/* Makes inputs and parameters and binds them. */
void tn_ail_walk_specs(tn_ail_walk *w);
/* The model or forward block; its bindings stay. The output. */
tn_ail_operand tn_ail_walk_main(tn_ail_walk *w);
/* The loss, after the main block. */
tn_ail_operand tn_ail_walk_loss(tn_ail_walk *w);
/* An input or a parameter as an operand, made or found. */
tn_ail_operand tn_ail_make_spec(tn_ail_walk *w, const tn_tensor_spec *spec, const tn_shape *shape, bool param,
                                int32_t index);
/* The operand that a name was first bound to, in whatever frame. */
const tn_ail_operand *tn_ail_bound_anywhere(const tn_ail_walk *w, tn_name name);
/* The body of a function with the last `count` operands of the stack as arguments. */
tn_ail_operand tn_ail_walk_call(tn_ail_walk *w, const tn_ail_fn *fn, size_t first_arg);

/* ---- operands (walk.c) ---- */

tn_ail_operand tn_ail_wrong(void);
tn_ail_operand tn_ail_of_value(tn_data_kind kind, tn_value value);
tn_ail_operand tn_ail_of_number(float number);
tn_ail_operand tn_ail_of_integer(int64_t integer);
tn_ail_operand tn_ail_of_truth(bool truth);
const tn_shape *tn_ail_shape_of(const tn_ail_walk *w, const tn_ail_operand *operand);
/* As a tensor of f32, for an operation. TN_ERROR_VALUE after reporting. */
tn_value tn_ail_as_tensor(tn_ail_walk *w, const tn_ail_operand *operand, const tn_ail_site *site, tn_span at);
/* As a value of its own kind: what a name or a branch holds. */
tn_value tn_ail_as_value(tn_ail_walk *w, const tn_ail_operand *operand, tn_span at);
/* As a boolean: booleans and single numbers. */
tn_ail_operand tn_ail_as_boolean(tn_ail_walk *w, const tn_ail_operand *operand, tn_span at);
/* As a boolean of rank 0, which a condition is. */
tn_ail_operand tn_ail_as_condition(tn_ail_walk *w, const tn_ail_operand *operand, tn_span at);

/* ---- layers (walk_layers.c) ---- */

/* Opens a use of a layer in the frame of its call, after its arguments were bound, and binds its params. The
 * check of the model declares them; every walk after it finds them by the order of the uses. */
bool tn_ail_open_use(tn_ail_walk *w, const tn_ail_fn *fn, tn_ail_layer_use *use);
void tn_ail_close_use(tn_ail_walk *w, tn_ail_layer_use *use, tn_ail_layer_use *outer);
/* What is known of the names of a frame, for constants in expressions. */
tn_ail_constants tn_ail_scope_of(const tn_ail_walk *w);
/* The argument of a layer: a whole number stays one to the last digit, because it may be a length. */
tn_ail_operand tn_ail_layer_argument(tn_ail_walk *w, const tn_ail_expr *expr);

/* ---- control (walk_control.c) ---- */

tn_ail_operand tn_ail_eval_if(tn_ail_walk *w, const tn_ail_expr *expr);
tn_ail_operand tn_ail_eval_loop(tn_ail_walk *w, const tn_ail_expr *expr);
/* Stacks values along a new first axis; only 0 is an axis. Reports E_STACK_... */
tn_value tn_ail_stack(tn_ail_walk *w, const tn_value *values, size_t count, int64_t axis, tn_span at);

/* ---- operations (library.c, walk_shapes.c) ---- */

tn_ail_operand tn_ail_eval_builtin(tn_ail_walk *w, size_t builtin, const tn_ail_expr *expr);
/* Makes one operation of at most 4 operands. With named dimensions it is refused only if it fails
 * for all lengths. TN_ERROR_VALUE after reporting. */
tn_value tn_ail_apply(tn_ail_walk *w, const tn_ail_site *site, tn_op op, const tn_value *in, int count,
                      const tn_attrs *attrs);
/* Two shapes are about to be compared: counts the site, and keeps them if the walk records. */
void tn_ail_note_site(tn_ail_walk *w, const tn_shape *left, const tn_shape *right);
/* Before a report: the shapes of the last site as the check had them, with names for dimensions. */
void tn_ail_named_shapes(const tn_ail_walk *w, tn_shape *left, tn_shape *right);
/* Whether two shapes are certain to differ; *dimension is the first that does. */
bool tn_ail_shapes_differ(const tn_shape *a, const tn_shape *b, int *dimension);
bool tn_ail_report_op_fault(tn_ail_walk *w, const tn_ail_site *site, const tn_fault *fault,
                            const tn_shape *left, const tn_shape *right);
tn_field tn_ail_shape_field(const tn_ail_walk *w, const char *name, const tn_shape *shape);
tn_field tn_ail_function_field(const tn_ail_site *site, tn_op op);
#endif
