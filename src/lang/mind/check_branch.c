/* lang/mind/check_branch.c: ifs, and what may or may not happen.
 *
 * The branches of an `if` are one value, so their types become one. A variable
 * that a branch assigns to has afterwards a type that fits all ways. */
#include "lang/mind/check.h"

/* ---- what may not happen ---- */

void tn_mind_branch_begin(tn_mind_checker *c, tn_mind_checker *saved) {
  *saved = *c;
  c->conditional = true;
  c->changes = NULL;
}

/* The variables have their old types again; what they became is recorded. */
tn_mind_change *tn_mind_branch_end(tn_mind_checker *c, const tn_mind_checker *saved) {
  tn_mind_change *made = c->changes;
  for (tn_mind_change *change = made; change; change = change->next) {
    change->after = change->variable->type;
    change->variable->type = change->before;
  }
  c->conditional = saved->conditional;
  c->locals = saved->locals;
  c->changes = saved->changes;
  return made;
}

/* Two shapes of as many dimensions are a shape; the sizes that differ show when it is there. */
static TN_OWN_FRAME const tn_mind_type *unify_shapes(tn_mind_checker *c, const tn_shape *left,
                                                     const tn_shape *right) {
  tn_shape shape = *left;
  if (left->rank != right->rank) return NULL;
  for (int i = 0; i < shape.rank; i++) {
    if (shape.dim[i] != right->dim[i]) shape.dim[i] = TN_DIM_UNKNOWN;
  }
  return tn_mind_type_shape(c->mind->arena, &shape);
}

static const tn_mind_type *merged(tn_mind_checker *c, const tn_mind_type *a, const tn_mind_type *b) {
  tn_shape shape;
  int dimension;
  if (a->kind == TN_MIND_T_ERROR || b->kind == TN_MIND_T_ERROR) return &tn_mind_type_error;
  if (a->kind == TN_MIND_T_SCALAR && b->kind == TN_MIND_T_SCALAR && a->dtype == b->dtype) {
    bool same = a->known && b->known && a->integer == b->integer;
    return same ? a : tn_mind_type_scalar(a->dtype);
  }
  if (tn_mind_type_equal(&c->mind->host->heap->stack, a, b)) return a;
  if (a->kind == TN_MIND_T_SHAPE && b->kind == TN_MIND_T_SHAPE) return unify_shapes(c, &a->shape, &b->shape);
  bool alike = a->kind == TN_MIND_T_TENSOR && b->kind == TN_MIND_T_TENSOR && a->dtype == b->dtype &&
               a->device == b->device &&
               tn_mind_unify_branches(tn_mind_sizes_here(c), &a->shape, &b->shape, &shape, &dimension);
  return alike ? tn_mind_type_tensor(c->mind->arena, a->dtype, &shape, a->device) : NULL;
}

const tn_mind_type *tn_mind_type_after(const tn_mind_change *changes, const tn_mind_change *of) {
  for (; changes; changes = changes->next) {
    if (changes->variable == of->variable) return changes->after;
  }
  return of->before;
}

static bool is_done(tn_mind_change *const *ways, int count, const tn_mind_change *change) {
  for (int i = 0; i < count; i++) {
    if (tn_mind_type_after(ways[i], change) != change->before) return true;
  }
  return false;
}

/* A variable that some way has changed is afterwards what all ways have made of it. */
void tn_mind_join_ways(tn_mind_checker *c, tn_mind_change *const *ways, int count, tn_span at) {
  for (int i = 0; i < count; i++) {
    for (const tn_mind_change *change = ways[i]; change; change = change->next) {
      if (is_done(ways, i, change)) continue;
      const tn_mind_type *type = change->after;
      for (int k = 0; k < count && type; k++) type = merged(c, type, tn_mind_type_after(ways[k], change));
      if (!type)
        tn_mind_types_differ(c->mind, at, change->before, change->after, change->variable->name, TN_LIT(""));
      tn_mind_change_type(c, change->variable, type ? type : &tn_mind_type_error);
    }
  }
}

void tn_mind_change_type(tn_mind_checker *c, tn_mind_variable *variable, const tn_mind_type *type) {
  bool known = !c->conditional;
  for (tn_mind_change *change = c->changes; change && !known; change = change->next) {
    known = change->variable == variable;
  }
  if (!known) {
    tn_mind_change *change = tn_arena_new(c->mind->arena, tn_mind_change);
    if (!change) return;
    *change = (tn_mind_change){ .variable = variable, .before = variable->type, .next = c->changes };
    c->changes = change;
  }
  variable->type = type;
}

TN_OWN_FRAME const tn_mind_type *tn_mind_unify_scalars(tn_mind_checker *c, const tn_mind_type *left,
                                                       tn_mind_node *left_node, const tn_mind_type *right,
                                                       tn_mind_node *right_node) {
  bool left_int = tn_dtype_in(left->dtype, TN_INTS), right_int = tn_dtype_in(right->dtype, TN_INTS);
  bool literal = left->literal && right->literal;
  if (left_int && right_int) {
    tn_dtype dtype = left->dtype == TN_I64 || right->dtype == TN_I64 ? TN_I64 : TN_I32;
    return literal ? tn_mind_type_literal(dtype) : tn_mind_type_scalar(dtype);
  }
  if (left->dtype == TN_BOOL || right->dtype == TN_BOOL)
    return left->dtype == right->dtype ? tn_mind_type_plain(c->mind->arena, left) : NULL;
  if (literal) return tn_mind_type_literal(TN_F64);
  const tn_mind_type *fixed = left->literal ? right : left, *other = left->literal ? left : right;
  if (!tn_dtype_in(fixed->dtype, TN_FLOATS)) return NULL;
  if (!other->literal) return fixed->dtype == other->dtype ? tn_mind_type_scalar(fixed->dtype) : NULL;
  tn_mind_node *node = left->literal ? left_node : right_node;
  if (node) tn_mind_settle(c, node, fixed->dtype);
  return tn_mind_type_scalar(fixed->dtype);
}

/* At least one is a tensor; a scalar counts as one without dimensions. */
static TN_OWN_FRAME const tn_mind_type *unify_tensors(tn_mind_checker *c, const tn_mind_type *left,
                                                      tn_mind_node *left_node, const tn_mind_type *right,
                                                      tn_mind_node *right_node, tn_span at) {
  static const tn_shape none;
  bool left_scalar = left->kind == TN_MIND_T_SCALAR, right_scalar = right->kind == TN_MIND_T_SCALAR;
  const tn_mind_type *tensor = left_scalar ? right : left;
  tn_shape shape;
  int dimension;
  if (left_scalar && !tn_mind_promote(c, left_node, left, tensor->dtype, "if", true, at))
    return &tn_mind_type_error;
  if (right_scalar && !tn_mind_promote(c, right_node, right, tensor->dtype, "if", false, at))
    return &tn_mind_type_error;
  if (!left_scalar && !right_scalar && left->dtype != right->dtype) {
    return tn_mind_wrong(tn_report(tn_mind_diags(c), TN_DIAG_E2006, at, TN_STR("op", "if"),
                                   TN_STR("left", tn_dtype_name(left->dtype)),
                                   TN_STR("right", tn_dtype_name(right->dtype))));
  }
  if (!left_scalar && !right_scalar && left->device != right->device)
    return tn_mind_wrong(tn_mind_devices_differ(c->mind, at, left->device, right->device, "if"));
  const tn_shape *a = left_scalar ? &none : &left->shape, *b = right_scalar ? &none : &right->shape;
  if (tn_mind_unify_branches(tn_mind_sizes_here(c), a, b, &shape, &dimension)) {
    bool written = left->kind == right->kind && left_node && right_node;
    tn_mind_type type = { .kind = TN_MIND_T_TENSOR, .device = tensor->device, .shape = shape };
    type.dtype = tensor->dtype;
    type.literal = written && left->literal && right->literal;
    return tn_mind_type_keep(c->mind->arena, &type);
  }
  return tn_mind_wrong(
      tn_report(tn_mind_diags(c), TN_DIAG_E2102, at, TN_TEXT("expected", tn_mind_describe_shape(c->mind, a)),
                TN_TEXT("got", tn_mind_describe_shape(c->mind, b)), TN_INT("dimension", dimension)));
}

static const tn_mind_type *unify_types(tn_mind_checker *c, const tn_mind_type *left, tn_mind_node *left_node,
                                       const tn_mind_type *right, tn_mind_node *right_node, tn_span at);

static tn_mind_node *written_items(const tn_mind_node *node) {
  return node && node->kind == TN_MIND_TUPLE ? node->list.items : NULL;
}

/* Literals of tuples that are written out adapt, as they do elsewhere. */
static const tn_mind_type *unify_items(tn_mind_checker *c, const tn_mind_type *left, tn_mind_node *left_node,
                                       const tn_mind_type *right, tn_mind_node *right_node, tn_span at) {
  const tn_mind_type **items = tn_arena_array(c->mind->arena, left->count, sizeof *items);
  tn_mind_node *x = written_items(left_node), *y = written_items(right_node);
  if (!items || !tn_mind_room(c->mind)) return &tn_mind_type_error;
  for (uint32_t i = 0; i < left->count; i++) {
    const tn_mind_type *a = x ? x->type : left->items[i], *b = y ? y->type : right->items[i];
    items[i] = unify_types(c, a, x, b, y, at);
    if (items[i]->kind == TN_MIND_T_ERROR) return items[i];
    if (x) x = x->next;
    if (y) y = y->next;
  }
  return tn_mind_type_items(c->mind->arena, left->kind, items, left->names, left->count);
}

static bool is_declared(const tn_mind_type *type) { return type->callable->kind == TN_MIND_C_DECLARED; }

/* Two functions are one value where one of them has a type that is written: the other meets it. */
static const tn_mind_type *unify_functions(tn_mind_checker *c, const tn_mind_type *left,
                                           const tn_mind_type *right, tn_span at) {
  tn_mind_bindings symbols = { .arena = c->mind->arena, .sizes = tn_mind_sizes_here(c) };
  tn_mind_target_type target = { is_declared(left) ? left : right, &symbols, "if", at };
  if (tn_mind_type_equal(&c->mind->host->heap->stack, left, right)) return left;
  if (is_declared(left) || is_declared(right))
    return tn_mind_fit_function(c, &target, is_declared(left) ? right : left);
  return tn_mind_wrong(
      tn_report(tn_mind_diags(c), TN_DIAG_E2001, at, TN_STR("expected", "one function in all branches"),
                TN_STR("got", "several"),
                TN_HINT(TN_LIT("bind each with the type they share: `let f: fn(f32) -> f32 = |x| x`"))));
}

static const tn_mind_type *unify_types(tn_mind_checker *c, const tn_mind_type *left, tn_mind_node *left_node,
                                       const tn_mind_type *right, tn_mind_node *right_node, tn_span at) {
  const tn_mind_type *result = NULL;
  if (left->kind == TN_MIND_T_ERROR || right->kind == TN_MIND_T_ERROR) return &tn_mind_type_error;
  if (tn_mind_type_is_value(left) && tn_mind_type_is_value(right)) {
    bool both = left->kind == TN_MIND_T_SCALAR && right->kind == TN_MIND_T_SCALAR;
    if (!both) return unify_tensors(c, left, left_node, right, right_node, at);
    result = tn_mind_unify_scalars(c, left, left_node, right, right_node);
  } else if (left->kind == TN_MIND_T_FN && right->kind == TN_MIND_T_FN) {
    return unify_functions(c, left, right, at);
  } else if (left->kind == right->kind) {
    bool items = tn_mind_type_has_items(left);
    if (items && left == right && left->settled) return left;
    if (items && left->count == right->count) return unify_items(c, left, left_node, right, right_node, at);
    if (left->kind == TN_MIND_T_SHAPE)
      result = unify_shapes(c, &left->shape, &right->shape);
    else if (!items &&
             (left->kind == TN_MIND_T_STRING || tn_mind_type_equal(&c->mind->host->heap->stack, left, right)))
      result = tn_mind_type_plain(c->mind->arena, left);
  }
  if (result) return result;
  return tn_mind_wrong(tn_mind_types_differ(c->mind, at, left, right, 0, TN_LIT("")));
}

/* A literal in one branch becomes what another branch is, also when that comes later. */
static void settle_tails(tn_mind_checker *c, tn_mind_node *node, const tn_mind_type *type) {
  bool fixed = type->kind == TN_MIND_T_SCALAR && !type->literal && tn_dtype_in(type->dtype, TN_FLOATS);
  for (tn_mind_branch *branch = node->branch.branches; fixed && branch; branch = branch->next) {
    tn_mind_node *tail = tn_mind_block_tail(&branch->block);
    if (tail) tn_mind_settle(c, tail, type->dtype);
  }
}

static int count_branches(const tn_mind_node *node) {
  int count = 0;
  for (const tn_mind_branch *branch = node->branch.branches; branch; branch = branch->next) count++;
  return count;
}

const tn_mind_type *tn_mind_check_if(tn_mind_checker *c, tn_mind_node *node) {
  const tn_mind_type *type = NULL;
  tn_mind_node *tail = NULL;
  tn_span at = tn_mind_here(c, node);
  int ways = 0;
  size_t most = (size_t)count_branches(node) + 1, errors = tn_mind_diags(c)->errors;
  tn_mind_change **changes = tn_arena_array(c->mind->arena, most, sizeof *changes);
  const tn_mind_type **types = tn_arena_array(c->mind->arena, most, sizeof *types);
  if (!changes || !types) return &tn_mind_type_error;
  for (tn_mind_branch *branch = node->branch.branches; branch; branch = branch->next) {
    tn_mind_checker saved;
    tn_mind_node *last;
    if (branch->condition)
      tn_mind_check_condition(c, branch->condition, tn_mind_check_expression(c, branch->condition));
    tn_mind_branch_begin(c, &saved);
    const tn_mind_type *block = types[ways] = tn_mind_check_block(c, &branch->block, &last);
    changes[ways++] = tn_mind_branch_end(c, &saved);
    if (!node->branch.has_else) continue;
    type = type ? unify_types(c, type, tail, block, last, at) : block;
    if (!tail) tail = last;
  }
  if (!node->branch.has_else) changes[ways++] = NULL; /* the way on which nothing happens */
  tn_mind_join_ways(c, changes, ways, at);
  bool sound = tn_mind_diags(c)->errors == errors;
  if (sound && !tn_mind_check_open_if(c, node, types, changes, ways)) return &tn_mind_type_error;
  if (!node->branch.has_else) return &tn_mind_type_unit;
  settle_tails(c, node, type);
  return type;
}
