/* lang/mind/check.h: shared by the files of the checker.
 *
 *   check.c           units, statements, functions, blocks
 *   check_expression.c  operators, names, lists, fields
 *   check_branch.c    ifs, and changes under a condition
 *   check_fit.c       annotations, and values that meet them; literals that adapt
 *   check_call.c      calls of functions
 *   check_closure.c   calls of closures
 *   check_function.c  functions of which only the type is known
 *   check_grad.c      derivatives, and calls of what grad gives
 *   check_loop.c      fold and scan
 *   check_weights.c   save and load
 *   check_library.c   calls of the library (library_call.h: how arguments are read)
 *   check_path.c      derivatives that meet an operation without one
 *   check_open.c      branches that cannot be joined under a condition without data
 *   scope.c           name resolution
 *
 * A check function returns a type and has reported what is wrong. After an error
 * it returns the error type, which everything accepts silently. */
#ifndef TN_LANG_MIND_CHECK_H
#define TN_LANG_MIND_CHECK_H

#include "lang/mind/internal.h"

/* A variable whose type an assignment changed, where that may not have happened. */
typedef struct tn_mind_change {
  tn_mind_variable *variable;
  const tn_mind_type *before, *after;
  struct tn_mind_change *next;
} tn_mind_change;

typedef struct tn_mind_checker {
  tn_mind *mind;
  tn_mind_unit *unit;
  tn_mind_module *module;
  tn_mind_function *function;  /* NULL: the module's own statements */
  const tn_mind_scope *locals; /* of blocks, functions and closures around */
  bool conditional;            /* inside a branch: changes are recorded */
  bool idle;                   /* in a closure that nothing calls: when it would run is not known */
  tn_mind_change *changes;
} tn_mind_checker;

static inline tn_diags *tn_mind_diags(const tn_mind_checker *c) { return c->mind->host->diags; }
static inline tn_str tn_mind_name_text(const tn_mind_checker *c, tn_name name) {
  return tn_names_text(c->mind->host->names, name);
}
/* return tn_mind_wrong(tn_report(...)); */
static inline const tn_mind_type *tn_mind_wrong(bool reported) {
  (void)reported;
  return &tn_mind_type_error;
}
static inline tn_span tn_mind_here(const tn_mind_checker *c, const tn_mind_node *node) {
  return tn_mind_span(c->unit, node);
}

/* The sizes of the function around, for bindings; NULL: none. */
static inline const tn_mind_sizes *tn_mind_sizes_here(const tn_mind_checker *c) {
  return c->function ? &c->function->sizes : NULL;
}

/* An argument whose expression may be elsewhere. */
typedef struct {
  tn_mind_node *node;       /* NULL: only the type is known */
  const tn_mind_type *type; /* NULL: not checked yet */
} tn_mind_given;

static inline tn_span tn_mind_given_span(const tn_mind_checker *c, const tn_mind_given *arg,
                                         tn_span otherwise) {
  return arg->node ? tn_mind_at(c->unit, arg->node->from, arg->node->to) : otherwise;
}

/* ---- scope.c ---- */

/* NULL when memory runs out. */
tn_mind_variable *tn_mind_variable_new(tn_mind_checker *c, const tn_mind_word *word,
                                       const tn_mind_type *type);
/* Notes down that the variable is named here; for a gradient: that something is differentiated by it. */
void tn_mind_use(const tn_mind_checker *c, tn_mind_variable *variable);
void tn_mind_use_wrt(const tn_mind_checker *c, tn_mind_variable *variable);
/* Makes the variable visible from here on: in the block, or in the module at its top level. */
void tn_mind_declare(tn_mind_checker *c, tn_mind_variable *variable);
void tn_mind_declare_in_module(tn_mind *mind, tn_mind_module *module, tn_mind_scope entry);
/* Puts an entry, whose name the module has room for, before all others. */
void tn_mind_link_entry(tn_mind_module *module, tn_mind_scope *entry);
/* What the name means here; NULL: nothing. */
const tn_mind_scope *tn_mind_lookup(const tn_mind_checker *c, tn_name name);
/* Among the module's own entries, as seen from the outside. */
const tn_mind_scope *tn_mind_lookup_in(const tn_mind_module *module, tn_name name);
/* Whether the name is that of a dimension of the signature around, and no local name hides it. */
bool tn_mind_is_dimension(const tn_mind_checker *c, tn_name name);
/* Whether a name in a shape may be a dimension: of the signature around, or written as one. */
bool tn_mind_is_symbol(const tn_mind_checker *c, tn_name name);
/* Names of a list, each with its index, so that to look for one costs no walk. A new list forgets the last.
 * tn_mind_mark_name says whether the name is new in the list. */
void tn_mind_begin_names(tn_mind *mind);
bool tn_mind_mark_name(tn_mind *mind, tn_name name, uint32_t index);
/* Marks the name; whether it was in the list already, which is reported as E1001. */
bool tn_mind_repeats(tn_mind_checker *c, const tn_mind_word *word, uint32_t index, const char *message);
/* The index of the name in the list; -1: it is not there. */
int64_t tn_mind_marked(const tn_mind *mind, tn_name name);
/* The name a user most likely meant; nothing where no more diagnostics are kept.
 * `functions`: only what can be called. */
tn_str tn_mind_suggest(const tn_mind_checker *c, tn_str wrong, bool functions);
tn_str tn_mind_suggest_public(tn_mind *mind, const tn_mind_module *module, tn_str wrong);

/* ---- check.c ---- */

/* The type of a block's last statement. *tail is that statement if it is an expression, else NULL. */
const tn_mind_type *tn_mind_check_block(tn_mind_checker *c, const tn_mind_block *block, tn_mind_node **tail);
/* A function whose body has to be checked, when the statement that needs it is done. */
void tn_mind_enqueue(tn_mind *mind, tn_mind_function *function);
/* Reports an effect that the function around does not declare. */
void tn_mind_require_effects(tn_mind_checker *c, uint32_t effects, tn_str function, tn_span at);

/* ---- check_expression.c ---- */

/* Gives every node below a type. Never NULL. */
const tn_mind_type *tn_mind_check_expression(tn_mind_checker *c, tn_mind_node *node);
const tn_mind_type *tn_mind_function_type(tn_mind_checker *c, tn_mind_callable callable);
/* A tuple, a list or a shape. */
bool tn_mind_has_positions(const tn_mind_type *type);
int64_t tn_mind_item_count(const tn_mind_type *type);
/* One item of it; reports E2109 where there is none, E2001 for a size that is not an i32. */
const tn_mind_type *tn_mind_item_type(tn_mind_checker *c, const tn_mind_type *type, int64_t index,
                                      tn_span at);
/* Reports E2001 for what is neither a single number nor a tensor without dimensions. */
void tn_mind_check_condition(tn_mind_checker *c, tn_mind_node *node, const tn_mind_type *type);

/* ---- check_branch.c ---- */

const tn_mind_type *tn_mind_check_if(tn_mind_checker *c, tn_mind_node *node);
/* One type for two scalars, as operators and branches have it: literals take the dtype of the other side. The
 * nodes may be NULL. NULL, without a report: there is none. */
const tn_mind_type *tn_mind_unify_scalars(tn_mind_checker *c, const tn_mind_type *left,
                                          tn_mind_node *left_node, const tn_mind_type *right,
                                          tn_mind_node *right_node);
/* Around what may not happen: afterwards types are as before, and what changed is returned. */
void tn_mind_branch_begin(tn_mind_checker *c, tn_mind_checker *saved);
tn_mind_change *tn_mind_branch_end(tn_mind_checker *c, const tn_mind_checker *saved);
/* The type that a variable which some way changes has after the way with these changes. */
const tn_mind_type *tn_mind_type_after(const tn_mind_change *changes, const tn_mind_change *of);
/* One of the ways was taken: variables have types that fit all of them, or E2001 is reported. */
void tn_mind_join_ways(tn_mind_checker *c, tn_mind_change *const *ways, int count, tn_span at);
void tn_mind_change_type(tn_mind_checker *c, tn_mind_variable *variable, const tn_mind_type *type);

/* ---- check_fit.c ---- */

/* The type that is written; the error type after reporting. */
const tn_mind_type *tn_mind_resolve(tn_mind_checker *c, const tn_mind_annotation *written);
/* What a value must become. */
typedef struct {
  const tn_mind_type *wanted;
  tn_mind_bindings *symbols; /* of the annotation or signature */
  const char *op;            /* in E2006 and E5002: "let", "return", a function's name */
  tn_span at;                /* what is underlined */
} tn_mind_target_type;
/* The type the value has then; reports E2001, E2004, E2006, E2102 or E5002 and gives the error type.
 * `node` may be NULL when the value is not written here. */
const tn_mind_type *tn_mind_fit(tn_mind_checker *c, const tn_mind_target_type *target, tn_mind_node *node,
                                const tn_mind_type *type);
/* The same where the names of dimensions in the wanted type stand for themselves. */
const tn_mind_type *tn_mind_meet(tn_mind_checker *c, const tn_mind_type *wanted, const char *op, tn_span at,
                                 tn_mind_node *node, const tn_mind_type *type);
/* Whether a scalar may join tensors of that dtype; reports E2004 or E2006 at the span. `scalar_left` says
 * how the fields are filled in. Literals settle. */
bool tn_mind_promote(tn_mind_checker *c, tn_mind_node *node, const tn_mind_type *scalar, tn_dtype dtype,
                     const char *op, bool scalar_left, tn_span at);
/* The expression that a block ends in. NULL: it ends in a statement, or there is nothing in it. */
tn_mind_node *tn_mind_block_tail(const tn_mind_block *block);
/* Literals below take this dtype. */
void tn_mind_settle(tn_mind_checker *c, tn_mind_node *node, tn_dtype dtype);
/* The type of a value that is given a name: no longer a literal. */
const tn_mind_type *tn_mind_bound_type(tn_mind *mind, const tn_mind_type *type);

/* ---- check_function.c ---- */

/* A function meets the type of functions that is written: called with what the type says, it gives what the
 * type says. As tn_mind_fit. */
const tn_mind_type *tn_mind_fit_function(tn_mind_checker *c, const tn_mind_target_type *target,
                                         const tn_mind_type *type);
/* A call of a function of which only the type is known. */
const tn_mind_type *tn_mind_call_declared(tn_mind_checker *c, const tn_mind_callable *callable,
                                          const tn_mind_given *args, tn_str name, tn_span at);
/* The type with the sizes that names have taken. */
const tn_mind_type *tn_mind_sized(tn_mind_checker *c, const tn_mind_bindings *symbols,
                                  const tn_mind_type *type);

/* ---- check_path.c ---- */

/* Notes down that a derivative is asked for here: loss, wrt and count, or function are set. */
void tn_mind_remember_path(tn_mind_checker *c, tn_mind_path path);
/* Reports E4001 for those that cannot exist, and forgets all. Everything has been checked by then. */
void tn_mind_check_paths(tn_mind *mind);

/* ---- check_open.c ---- */

/* An `if` with the types and the changes of its ways (the last may be the one on which nothing happens).
 * False after reporting E2001: its condition will have no data, and its branches cannot become one value. */
bool tn_mind_check_open_if(tn_mind_checker *c, const tn_mind_node *node, const tn_mind_type *const *types,
                           tn_mind_change *const *changes, int ways);

/* ---- check_call.c, check_closure.c, check_grad.c, check_loop.c, check_library.c ---- */

const tn_mind_type *tn_mind_check_call(tn_mind_checker *c, tn_mind_node *node);
/* A call of a function value with arguments of these types. *function becomes the closure that was
 * checked for them, or the fn at the bottom. */
const tn_mind_type *tn_mind_call_type(tn_mind_checker *c, const tn_mind_callable *callable,
                                      const tn_mind_given *args, uint32_t count, tn_str name, tn_span at,
                                      tn_mind_function **function);
/* Each argument becomes what its parameter wants, in rounds, and gives names of the signature their sizes.
 * False after reporting all that do not. */
bool tn_mind_fit_arguments(tn_mind_checker *c, const tn_mind_type *const *params, uint32_t count,
                           const tn_mind_given *args, tn_str name, tn_span at, tn_mind_bindings *symbols);
/* The name of a parameter of what is at the bottom; empty: it has none. */
tn_str tn_mind_parameter_name(tn_mind_checker *c, const tn_mind_callable *callable, uint32_t index);
/* The same of grad(f) and the like, and of a pullback, which takes one. */
const tn_mind_type *tn_mind_call_transform(tn_mind_checker *c, const tn_mind_callable *callable,
                                           const tn_mind_given *args, uint32_t count, tn_str name, tn_span at,
                                           tn_mind_function **function);
const tn_mind_type *tn_mind_call_pullback(tn_mind_checker *c, const tn_mind_callable *callable,
                                          const tn_mind_given *args, tn_span at);
/* Whether the function can be called with so many arguments. */
bool tn_mind_takes(const tn_mind_callable *callable, uint32_t count);
/* A call of a closure with as many arguments as it has parameters. */
const tn_mind_type *tn_mind_call_closure(tn_mind_checker *c, const tn_mind_node *closure,
                                         const tn_mind_given *args, tn_str name, tn_span at,
                                         tn_mind_function **function);
/* The closures of the unit that nothing has called: reports what is wrong whatever they would be given.
 * Forgets all of them. */
void tn_mind_check_idle_closures(tn_mind *mind);
/* A call of the library; args by parameter. */
const tn_mind_type *tn_mind_check_library(tn_mind_checker *c, const tn_mind_entry *entry, tn_mind_given *args,
                                          tn_mind_node *call, tn_span at);
/* grad(loss, wrt=...), vjp, jvp and those that give functions. */
const tn_mind_type *tn_mind_check_special(tn_mind_checker *c, const tn_mind_entry *entry, tn_mind_given *args,
                                          tn_mind_node *call, tn_span at);
/* A number, a tensor or a tuple of them. */
bool tn_mind_type_is_state(const tn_mind_type *type);
const tn_mind_type *tn_mind_check_loop(tn_mind_checker *c, const tn_mind_entry *entry, tn_mind_given *args,
                                       tn_mind_node *call, tn_span at);
const tn_mind_type *tn_mind_check_weights(tn_mind_checker *c, const tn_mind_entry *entry, tn_mind_given *args,
                                          tn_span at);
const tn_mind_type *tn_mind_check_index(tn_mind_checker *c, tn_mind_node *node);
#endif
