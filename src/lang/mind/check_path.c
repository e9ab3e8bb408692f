/* lang/mind/check_path.c: derivatives that cannot exist, found before the program runs.
 *
 * A gradient that meets an operation without a derivative is E4001. The run time
 * finds every such meeting; here those are found that no run could avoid: from
 * the loss back through operators, library calls, calls of functions and the
 * values that names were given. What may or may not happen (one branch of an
 * `if`, a name that is assigned again, a recursion) counts as no meeting, so a
 * program is rejected only when its run would be.
 *
 * The question is asked when a unit has been checked as a whole, because bodies
 * of functions are checked after the statements that need them. */
#include "ad/ad.h"
#include "lang/mind/check.h"

/* Names that lead to names, calls in calls, and expressions looked at in one unit: past these nothing
 * is claimed. */
#define DEPTH_LIMIT 1000
#define CALL_LIMIT  50
#define WORK_LIMIT  1000000

typedef tn_mind_flow flow;

/* A call that is being looked through. */
typedef struct frame {
  const tn_mind_function *function; /* NULL: the module */
  const flow *args;                 /* NULL: nothing is known of them */
  uint32_t epoch;                   /* of what has been found out about its variables */
  const struct frame *caller;
} frame;

typedef struct {
  tn_mind *mind;
  const tn_mind_path *path;
  uint32_t depth, calls, work;
} walker;

static flow walk(walker *w, const frame *f, const tn_mind_unit *unit, const tn_mind_node *top);

static const flow nothing;

static flow either(flow first, flow second) {
  if (!first.depends || second.block) return second.depends ? second : first;
  return first;
}

/* The result of an operation on something that depends on the variables. */
static flow through(flow operand, tn_op op, const tn_mind_unit *unit, const tn_mind_node *node) {
  tn_derivative derivative = tn_ad_has_vjp(op);
  if (!operand.depends || derivative == TN_DERIVATIVE_ZERO) return nothing;
  bool value = node->type && tn_mind_type_is_value(node->type);
  if (derivative == TN_DERIVATIVE_NONE || (value && !tn_mind_type_is_float(node->type))) {
    operand.block = node;
    operand.unit = unit;
    operand.op = op;
  }
  return operand;
}

/* ---- names ---- */

static const frame *frame_of(const frame *f, const tn_mind_function *owner) {
  while (f && f->function != owner) f = f->caller;
  return f;
}

static bool is_wanted(const walker *w, const tn_mind_variable *variable) {
  for (uint32_t i = 0; i < w->path->count; i++) {
    if (w->path->wrt[i] == variable) return true;
  }
  return false;
}

static flow of_variable(walker *w, const frame *f, tn_mind_variable *variable) {
  const frame *own = frame_of(f, variable->owner);
  if (variable->assigned) return nothing; /* an earlier value may be meant */
  if (is_wanted(w, variable)) return (flow){ .depends = true };
  if (!own || variable->unit != w->path->unit) return nothing;
  for (uint32_t i = 0; own->function && i < own->function->param_count; i++) {
    if (own->function->params[i] == variable) return own->args ? own->args[i] : nothing;
  }
  if (!variable->value || w->depth > DEPTH_LIMIT) return nothing;
  if (variable->flow_epoch == own->epoch) return *variable->flow;
  if (!variable->flow_epoch) variable->flow = tn_arena_new(w->mind->arena, flow);
  if (!variable->flow) return nothing;
  variable->flow_epoch = own->epoch;
  *variable->flow = nothing;
  flow found = walk(w, own, variable->unit, variable->value);
  variable->flow_epoch = own->epoch; /* a call in between may have used it for itself */
  return *variable->flow = found;
}

/* ---- blocks and branches ---- */

static flow of_block(walker *w, const frame *f, const tn_mind_unit *unit, const tn_mind_block *block) {
  const tn_mind_node *last = tn_mind_last(block);
  if (!last) return nothing;
  bool let = last->kind == TN_MIND_LET || last->kind == TN_MIND_ASSIGN;
  if (!let && last->kind > TN_MIND_LET) return nothing;
  return walk(w, f, unit, let ? last->let.value : last);
}

/* Only what all branches have in common is certain. */
static flow of_branches(walker *w, const frame *f, const tn_mind_unit *unit, const tn_mind_node *node) {
  flow common = nothing;
  if (!node->branch.has_else) return nothing;
  for (const tn_mind_branch *branch = node->branch.branches; branch; branch = branch->next) {
    flow one = of_block(w, f, unit, &branch->block);
    if (!one.depends) return nothing;
    if (branch == node->branch.branches) common = one;
    if (!one.block) common.block = NULL;
  }
  return common;
}

/* ---- calls ---- */

static bool is_active(const frame *f, const tn_mind_function *function) {
  return frame_of(f, function) != NULL;
}

static flow of_body(walker *w, const frame *caller, const tn_mind_function *function, const flow *args) {
  frame f = { function, args, ++w->mind->flow_epoch, caller };
  if (w->calls >= CALL_LIMIT || is_active(caller, function) || function->unit != w->path->unit)
    return nothing;
  w->calls++;
  flow found = function->body ? walk(w, &f, function->unit, function->body)
                              : of_block(w, &f, function->unit, &function->definition->body);
  w->calls--;
  return found;
}

static flow of_call(walker *w, const frame *f, const tn_mind_unit *unit, const tn_mind_node *call) {
  const tn_mind_function *function = call->call.function;
  bool value = call->call.target == TN_MIND_CALL_VALUE;
  if (value) {
    const tn_mind_type *type = call->left->type;
    bool plain = type && type->kind == TN_MIND_T_FN &&
                 (type->callable->kind == TN_MIND_C_FUNCTION || type->callable->kind == TN_MIND_C_CLOSURE);
    if (!plain) return nothing;
  }
  if (!function || !call->call.bound) return nothing;
  flow *args = tn_arena_array(w->mind->arena, function->param_count, sizeof *args);
  if (!args) return nothing;
  for (uint32_t i = 0; i < function->param_count; i++) {
    if (call->call.bound[i]) args[i] = walk(w, f, unit, call->call.bound[i]);
  }
  return of_body(w, f, function, args);
}

/* Places, conditions and sizes carry no gradient. */
static bool carries(const tn_mind_entry *entry, int index) {
  switch (entry->params[index].kind) {
    case TN_MIND_P_TENSOR: return !(entry->op == TN_OP_SELECT && index == 0);
    case TN_MIND_P_TENSORS:
    case TN_MIND_P_SCALAR: return true;
    default: return false;
  }
}

/* recursion: lists in lists, TN_MIND_NESTING_LIMIT deep. */
static flow of_items(walker *w, const frame *f, const tn_mind_unit *unit, const tn_mind_node *list) {
  flow found = nothing;
  for (const tn_mind_node *item = list->list.items; item; item = item->next)
    found = either(found, item->kind == TN_MIND_LIST ? of_items(w, f, unit, item) : walk(w, f, unit, item));
  return found;
}

static flow of_library(walker *w, const frame *f, const tn_mind_unit *unit, const tn_mind_node *call,
                       flow receiver) {
  const tn_mind_entry *entry = call->call.entry;
  flow found = nothing;
  bool moves = entry->special == TN_MIND_TO_DEVICE;
  if ((entry->special != TN_MIND_ORDINARY && !moves) || !call->call.bound) return nothing;
  for (int i = 0; i < entry->count; i++) {
    const tn_mind_node *arg = call->call.bound[i];
    if (!arg || !carries(entry, i)) continue;
    bool list = entry->params[i].kind == TN_MIND_P_TENSORS && tn_mind_is_list(arg);
    flow one = i == 0 && call->call.method ? receiver
               : list                      ? of_items(w, f, unit, arg)
                                           : walk(w, f, unit, arg);
    found = either(found, one);
  }
  bool made_of_parts = moves || entry->op == TN_OP_IOTA || entry->op == TN_OP_FILL;
  return made_of_parts ? found : through(found, entry->op, unit, call);
}

/* ---- expressions ---- */

static flow step(walker *w, const frame *f, const tn_mind_unit *unit, const tn_mind_node *node, flow left) {
  switch ((tn_mind_kind)node->kind) {
    case TN_MIND_NAME: return node->name.variable ? of_variable(w, f, node->name.variable) : nothing;
    case TN_MIND_LIST: return node->list.is_data ? of_items(w, f, unit, node) : nothing;
    case TN_MIND_UNARY: return through(left, tn_mind_operator_op(node->op), unit, node);
    case TN_MIND_BINARY: {
      flow right = walk(w, f, unit, node->right);
      return through(either(left, right), tn_mind_operator_op(node->op), unit, node);
    }
    case TN_MIND_CALL:
      if (node->call.target == TN_MIND_CALL_LIBRARY) return of_library(w, f, unit, node, left);
      return of_call(w, f, unit, node);
    case TN_MIND_INDEX: return node->type && node->type->kind == TN_MIND_T_TENSOR ? left : nothing;
    case TN_MIND_FIELD: return node->type ? nothing : left; /* a method keeps its receiver */
    case TN_MIND_IF: return of_branches(w, f, unit, node);
    case TN_MIND_BODY: return of_block(w, f, unit, &node->block);
    default: return nothing;
  }
}

/* Up the left side in a loop, as it is checked. */
static flow walk(walker *w, const frame *f, const tn_mind_unit *unit, const tn_mind_node *top) {
  const tn_mind_node *node = top;
  flow left = nothing;
  if (w->depth > DEPTH_LIMIT || w->work > WORK_LIMIT || !tn_mind_room(w->mind)) return nothing;
  while (node->left) node = node->left;
  w->depth++;
  for (;; node = node->up) {
    w->work++;
    left = step(w, f, unit, node, left);
    if (node == top) break;
  }
  w->depth--;
  return left;
}

/* ---- what was asked for ---- */

void tn_mind_remember_path(tn_mind_checker *c, tn_mind_path path) {
  tn_mind_path *kept = tn_arena_copy(c->mind->arena, &path, sizeof path);
  if (!kept) return;
  kept->unit = c->unit;
  kept->around = c->function;
  kept->next = c->mind->paths;
  c->mind->paths = kept;
}

static flow follow(walker *w) {
  const tn_mind_path *path = w->path;
  frame module = { .epoch = ++w->mind->flow_epoch };
  if (!path->function) {
    frame around = { path->around, NULL, ++w->mind->flow_epoch, &module };
    return walk(w, path->around ? &around : &module, path->unit, path->loss);
  }
  uint32_t count = path->function->param_count;
  flow *args = tn_arena_array(w->mind->arena, count, sizeof *args);
  if (!args) return nothing;
  for (uint32_t i = 0; i < count; i++) args[i].depends = true;
  return of_body(w, &module, path->function, args);
}

static bool was_reported(const tn_mind_path *first, const tn_mind_path *end, const flow *found) {
  for (; first != end; first = first->next) {
    bool same = first->found.block && first->found.unit == found->unit;
    if (same && first->found.block->start == found->block->start &&
        first->found.block->end == found->block->end)
      return true;
  }
  return false;
}

void tn_mind_check_paths(tn_mind *mind) {
  walker w = { .mind = mind };
  for (tn_mind_path *path = mind->paths; path && !mind->arena->failed; path = path->next) {
    w.path = path;
    path->found = follow(&w);
    if (!path->found.block || was_reported(mind->paths, path, &path->found)) continue;
    tn_report(mind->host->diags, TN_DIAG_E4001, tn_mind_span(path->found.unit, path->found.block),
              TN_STR("op", tn_op_sig_of(path->found.op)->name));
  }
  mind->paths = NULL;
}
