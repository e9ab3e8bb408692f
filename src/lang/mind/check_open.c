/* lang/mind/check_open.c: branches that no run could join, found before the program runs.
 *
 * A tensor with a dimension that no size is known for has no data, and a condition made of its sum is never
 * decided: both branches become part of the graph, and what they give must be one value of one shape. Where
 * both types are known already that is said here. Only what is certain counts: a condition that may be
 * decided after all is left to the run. */
#include "lang/mind/check.h"
#include "lang/mind/trace.h"

#define DEPTH_LIMIT 100 /* names that lead to names; past it nothing is claimed */

/* ---- values without data ---- */

typedef enum {
  HAS_DATA, /* for all that is known here */
  OPEN,     /* a tensor with a dimension that has no size: it may still be one number everywhere */
  LACKS     /* a number that cannot be known */
} presence;

static presence presence_of(const tn_mind_checker *c, const tn_mind_node *top, int depth);

static bool has_symbol(const tn_mind_type *type) {
  if (type->kind != TN_MIND_T_TENSOR) return false;
  for (int i = 0; i < type->shape.rank; i++) {
    if (tn_dim_is_symbol(type->shape.dim[i])) return true;
  }
  return false;
}

/* Parameters get their sizes from a call; of the module's names, those with a symbol never do. */
static presence of_variable(const tn_mind_checker *c, const tn_mind_variable *variable, int depth) {
  if (!variable || variable->owner || variable->assigned) return HAS_DATA;
  if (has_symbol(variable->type)) return OPEN;
  bool here = variable->value && variable->unit == c->unit && depth < DEPTH_LIMIT;
  return here ? presence_of(c, variable->value, depth + 1) : HAS_DATA;
}

/* Of the operands whose elements an operation of the library computes with. How many elements a sum, a mean
 * or a product has makes a difference to it; what else goes over a dimension without a size may give the one
 * number that is everywhere in it. */
static presence of_library(const tn_mind_checker *c, const tn_mind_node *call, presence receiver, int depth) {
  const tn_mind_entry *entry = call->call.entry;
  presence most = HAS_DATA;
  if (entry->special != TN_MIND_ORDINARY) return HAS_DATA;
  for (int i = 0; i < entry->count; i++) {
    const tn_mind_node *arg = call->call.bound[i];
    bool computes = entry->params[i].kind == TN_MIND_P_TENSOR || entry->params[i].kind == TN_MIND_P_SCALAR;
    presence own = i == 0 && call->call.method ? receiver : HAS_DATA;
    if (arg && computes) own = presence_of(c, arg, depth);
    if (own > most) most = own;
  }
  if (most != OPEN || has_symbol(call->type)) return most;
  return tn_mind_counts(entry->op) ? LACKS : HAS_DATA;
}

static presence step(const tn_mind_checker *c, const tn_mind_node *node, presence left, int depth) {
  switch ((tn_mind_kind)node->kind) {
    case TN_MIND_NAME: return of_variable(c, node->name.variable, depth);
    case TN_MIND_UNARY:
    case TN_MIND_LOGIC: return left; /* the right side of && and || may not matter */
    case TN_MIND_BINARY: {
      presence right = presence_of(c, node->right, depth);
      return right > left ? right : left;
    }
    case TN_MIND_CALL:
      return node->call.target == TN_MIND_CALL_LIBRARY ? of_library(c, node, left, depth) : HAS_DATA;
    case TN_MIND_FIELD: return node->type ? HAS_DATA : left; /* a method keeps its receiver */
    default: return HAS_DATA;
  }
}

/* Up the left side in a loop, as it is checked. */
static presence presence_of(const tn_mind_checker *c, const tn_mind_node *top, int depth) {
  const tn_mind_node *node = top;
  if (!tn_mind_room(c->mind)) return HAS_DATA;
  while (node->left) node = node->left;
  for (presence left = HAS_DATA;; node = node->up) {
    left = step(c, node, left, depth);
    if (node == top) return left;
  }
}

/* ---- types that one value cannot have ---- */

static bool shapes_differ(const tn_mind_type *a, const tn_mind_type *b) {
  static const tn_shape none;
  const tn_shape *x = a->kind == TN_MIND_T_TENSOR ? &a->shape : &none;
  const tn_shape *y = b->kind == TN_MIND_T_TENSOR ? &b->shape : &none;
  return !tn_mind_shapes_agree(NULL, x, y);
}

static bool are_apart(tn_stack *stack, const tn_mind_type *a, const tn_mind_type *b) {
  if (a->kind == TN_MIND_T_ERROR || b->kind == TN_MIND_T_ERROR) return false;
  if (a->kind == TN_MIND_T_UNIT && b->kind == TN_MIND_T_UNIT) return false;
  if (tn_mind_type_is_value(a) && tn_mind_type_is_value(b)) return shapes_differ(a, b);
  if (a->kind != TN_MIND_T_TUPLE || b->kind != TN_MIND_T_TUPLE || a->count != b->count) return true;
  if (!tn_stack_room(stack)) return false;
  for (uint32_t i = 0; i < a->count; i++) {
    if (are_apart(stack, a->items[i], b->items[i])) return true;
  }
  return false;
}

static bool changes_are_apart(tn_stack *stack, const tn_mind_change *of, const tn_mind_change *other) {
  for (const tn_mind_change *change = of; change; change = change->next) {
    if (are_apart(stack, change->after, tn_mind_type_after(other, change))) return true;
  }
  return false;
}

/* If the first condition is not decided, its branch meets one of the others, whichever that is. */
bool tn_mind_check_open_if(tn_mind_checker *c, const tn_mind_node *node, const tn_mind_type *const *types,
                           tn_mind_change *const *changes, int ways) {
  const tn_mind_node *condition = node->branch.branches->condition;
  tn_stack *stack = &c->mind->host->heap->stack;
  if (c->function || !condition || ways < 2) return true;
  for (int i = 1; i < ways; i++) {
    bool apart = (node->branch.has_else && are_apart(stack, types[0], types[i])) ||
                 changes_are_apart(stack, changes[0], changes[i]) ||
                 changes_are_apart(stack, changes[i], changes[0]);
    if (!apart) return true;
  }
  if (presence_of(c, condition, 0) != LACKS) return true;
  return tn_report(c->mind->host->diags, TN_DIAG_E2001, tn_mind_at(c->unit, condition->from, condition->to),
                   TN_STR("expected", TN_MIND_JOINED_BRANCHES), TN_STR("got", TN_MIND_SEPARATE_BRANCHES));
}
