/* lang/mind/check_closure.c: closures, checked for each call.
 *
 * A closure has no types of its own: each call gives its parameters the types of
 * the arguments, and the closure's expression is copied and checked for them.
 * Calls with the same types share a copy. How much may be copied in one unit is
 * limited, because functions of functions unfold without bound. */
#include "lang/mind/check.h"

/* ---- a copy for each call ---- */

static tn_mind_node *copy_node(tn_mind *mind, const tn_mind_node *node);

static tn_mind_node *copy_list(tn_mind *mind, const tn_mind_node *first) {
  tn_mind_node *list = NULL, **end = &list;
  for (; first; first = first->next) {
    *end = copy_node(mind, first);
    if (!*end) return NULL;
    end = &(*end)->next;
  }
  return list;
}

static tn_mind_branch *copy_branches(tn_mind *mind, const tn_mind_branch *from) {
  tn_mind_branch *list = NULL, **end = &list;
  for (; from; from = from->next) {
    tn_mind_branch *made = tn_arena_copy(mind->arena, from, sizeof *from);
    if (!made) return NULL;
    if (from->condition) made->condition = copy_node(mind, from->condition);
    made->block.first = copy_list(mind, from->block.first);
    made->next = NULL;
    *end = made;
    end = &made->next;
  }
  return list;
}

/* What hangs off a node besides its left side. */
static void copy_members(tn_mind *mind, tn_mind_node *node) {
  switch ((tn_mind_kind)node->kind) {
    case TN_MIND_TUPLE:
    case TN_MIND_LIST: node->list.items = copy_list(mind, node->list.items); break;
    case TN_MIND_BINARY:
    case TN_MIND_LOGIC: node->right = copy_node(mind, node->right); break;
    case TN_MIND_CALL:
    case TN_MIND_INDEX: node->call.args = copy_list(mind, node->call.args); break;
    case TN_MIND_IF: node->branch.branches = copy_branches(mind, node->branch.branches); break;
    case TN_MIND_CLOSURE: node->closure.body = copy_node(mind, node->closure.body); break;
    case TN_MIND_BODY: node->block.first = copy_list(mind, node->block.first); break;
    case TN_MIND_LET:
    case TN_MIND_ASSIGN: node->let.value = copy_node(mind, node->let.value); break;
    default: break;
  }
}

/* Down the left side in a loop. */
static tn_mind_node *copy_node(tn_mind *mind, const tn_mind_node *from) {
  tn_mind_node *top = NULL, *above = NULL;
  if (!tn_arena_room(mind->arena)) return NULL;
  for (; from; from = from->left) {
    tn_mind_node *node = tn_arena_copy(mind->arena, from, sizeof *from);
    if (!node) return NULL;
    mind->copied++;
    node->next = node->left = node->up = NULL;
    node->type = NULL;
    copy_members(mind, node);
    if (above) {
      above->left = node;
      node->up = above;
    } else {
      top = node;
    }
    above = node;
  }
  return mind->arena->failed ? NULL : top;
}

static bool same_types(tn_mind *mind, const tn_mind_function *f, const tn_mind_type *const *types,
                       uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (!tn_mind_type_equal(&mind->host->heap->stack, f->param_types[i], types[i])) return false;
  }
  return true;
}

static tn_mind_function *instance_new(tn_mind *mind, const tn_mind_node *closure,
                                      const tn_mind_type *const *types) {
  tn_arena *arena = mind->arena;
  tn_mind_closure *state = closure->closure.state;
  tn_mind_function *f = tn_arena_new(arena, tn_mind_function);
  if (!f) return NULL;
  uint32_t count = closure->closure.count;
  *f = (tn_mind_function){ .unit = state->unit,
                           .module = state->unit->module,
                           .outer = state->function,
                           .closure = state,
                           .order = state->order,
                           .param_count = count,
                           .state = TN_MIND_CHECKED,
                           .sizes = { .outer = state->function ? &state->function->sizes : NULL },
                           .symbols.arena = arena };
  f->body = copy_node(mind, closure->closure.body);
  f->params = tn_arena_array(arena, count, sizeof *f->params);
  f->param_types = tn_arena_copy(arena, types, count * sizeof *types);
  return f->body && f->params && f->param_types ? f : NULL;
}

/* ---- copies by type ---- */

#define FIRST_TABLE 16 /* of copies that one closure has; up to half as many are a list */

static uint64_t hash_types(const tn_mind_type *const *types, uint32_t count) {
  uint64_t hash = count;
  for (uint32_t i = 0; i < count; i++) hash = hash * 31 + tn_mind_type_hash(types[i]);
  return hash ^ hash >> 32;
}

/* Where these types are in the table, or would be. */
static tn_mind_function **place_of(tn_mind *mind, const tn_mind_closure *state,
                                   const tn_mind_type *const *types, uint32_t count) {
  uint32_t last = state->table_room - 1;
  for (uint64_t at = hash_types(types, count);; at++) {
    tn_mind_function **place = &state->table[at & last];
    if (!*place || same_types(mind, *place, types, count)) return place;
  }
}

/* A session forgets all copies when a line ends: then the table is out of date. */
static bool has_table(const tn_mind_closure *state) {
  return state->table && state->tabled == state->instances;
}

static tn_mind_function *find_instance(tn_mind *mind, const tn_mind_closure *state,
                                       const tn_mind_type *const *types, uint32_t count) {
  if (has_table(state)) return *place_of(mind, state, types, count);
  tn_mind_function *f = state->instances;
  while (f && !same_types(mind, f, types, count)) f = f->next;
  return f;
}

/* The table has at least twice as many places as there are copies. */
static bool build_table(tn_mind *mind, tn_mind_closure *state, uint32_t room) {
  state->table = tn_arena_array(mind->arena, room, sizeof *state->table);
  if (!state->table) return false;
  state->table_room = room;
  for (tn_mind_function *f = state->instances; f; f = f->next)
    *place_of(mind, state, f->param_types, f->param_count) = f;
  state->tabled = state->instances;
  return true;
}

/* For later calls with these types. */
static bool keep_instance(tn_mind *mind, tn_mind_closure *state, tn_mind_function *f) {
  tn_mind_instanced *instanced = tn_arena_new(mind->arena, tn_mind_instanced);
  if (!instanced) return false;
  *instanced = (tn_mind_instanced){ state, state->instances, mind->instanced };
  mind->instanced = instanced;
  bool tabled = has_table(state);
  state->instance_count = state->instances ? state->instance_count + 1 : 1;
  f->next = state->instances;
  state->instances = f;
  uint32_t room = tabled ? state->table_room : FIRST_TABLE;
  if (2 * state->instance_count > room) return build_table(mind, state, 2 * room);
  if (!tabled) return true;
  *place_of(mind, state, f->param_types, f->param_count) = f;
  state->tabled = f;
  return true;
}

/* ---- checking a copy ---- */

static bool check_instance(tn_mind *mind, tn_mind_function *f, const tn_mind_node *closure, bool idle) {
  tn_mind_closure *state = closure->closure.state;
  tn_mind_checker inner = {
    .mind = mind, .unit = f->unit, .module = f->module, .function = f, .locals = state->scope, .idle = idle
  };
  for (uint32_t i = 0; i < f->param_count; i++) {
    f->params[i] = tn_mind_variable_new(&inner, &closure->closure.params[i].word, f->param_types[i]);
    if (!f->params[i]) return false;
    tn_mind_declare(&inner, f->params[i]);
  }
  f->result = f->gives = tn_mind_bound_type(mind, tn_mind_check_expression(&inner, f->body));
  return true;
}

/* ---- closures that nothing calls ---- */

static void check_idle(tn_mind *mind, const tn_mind_closure *state) {
  const tn_mind_node *closure = state->node;
  tn_mind_checker around = { .mind = mind,
                             .unit = state->unit,
                             .module = state->unit->module,
                             .function = state->function,
                             .locals = state->scope };
  const tn_mind_type **types = tn_arena_array(mind->arena, closure->closure.count, sizeof *types);
  for (uint32_t i = 0; types && i < closure->closure.count; i++) {
    const tn_mind_annotation *written = closure->closure.params[i].annotation;
    types[i] = written ? tn_mind_resolve(&around, written) : &tn_mind_type_error;
  }
  tn_mind_function *f = types ? instance_new(mind, closure, types) : NULL;
  if (f) check_instance(mind, f, closure, true);
}

/* The newest first: it may call those before it. */
void tn_mind_check_idle_closures(tn_mind *mind) {
  while (mind->closures && !mind->arena->failed) {
    const tn_mind_closure *state = mind->closures;
    mind->closures = state->next;
    bool idle = !state->instances && mind->copied <= TN_MIND_UNFOLD_LIMIT;
    if (idle) check_idle(mind, state);
  }
  mind->closures = NULL;
}

static TN_OWN_FRAME bool too_deep(tn_mind_checker *c, bool cyclic, tn_span at) {
  if (c->mind->depth < TN_MIND_CALL_LIMIT && !cyclic) return false;
  tn_report(tn_mind_diags(c), TN_DIAG_E_NESTING_LIMIT, at, TN_INT("limit", TN_MIND_CALL_LIMIT),
            TN_STR("what", "this call of closures"),
            TN_HINT(cyclic ? TN_LIT("closures cannot be recursive; write one as a `fn`, which declares its "
                                    "result")
                           : TN_LIT("")));
  return true;
}

/* Functions that take functions may call each other in as many ways as there are atoms. */
static TN_OWN_FRAME bool unfolds_too_far(tn_mind_checker *c, tn_span at) {
  if (c->mind->copied <= TN_MIND_UNFOLD_LIMIT) return false;
  if (!c->mind->unfolded) {
    tn_report(tn_mind_diags(c), TN_DIAG_E_TOO_LARGE, at,
              TN_STR("what", "the number of expressions that closures unfold to"),
              TN_INT("limit", TN_MIND_UNFOLD_LIMIT));
  }
  return c->mind->unfolded = true;
}

/* The types of the parameters: written ones are met, others taken over. */
static TN_OWN_FRAME bool closure_types(tn_mind_checker *c, const tn_mind_node *closure,
                                       const tn_mind_given *args, tn_str name, tn_span at,
                                       const tn_mind_type **types) {
  tn_mind_bindings symbols = { .arena = c->mind->arena, .sizes = tn_mind_sizes_here(c), .foreign = true };
  tn_mind_checker of = *c;
  of.unit = closure->closure.state->unit;
  for (uint32_t i = 0; i < closure->closure.count; i++) {
    const tn_mind_annotation *written = closure->closure.params[i].annotation;
    types[i] = tn_mind_type_plain(c->mind->arena, args[i].type);
    if (args[i].type->kind == TN_MIND_T_TENSOR) types[i] = tn_mind_bound_type(c->mind, args[i].type);
    if (written) {
      tn_span place = tn_mind_given_span(c, &args[i], at);
      tn_mind_target_type target = { tn_mind_resolve(&of, written), &symbols, name.at, place };
      types[i] = tn_mind_type_plain(c->mind->arena, tn_mind_fit(c, &target, args[i].node, args[i].type));
    }
    if (types[i]->kind == TN_MIND_T_ERROR) return false;
  }
  return true;
}

const tn_mind_type *tn_mind_call_closure(tn_mind_checker *c, const tn_mind_node *closure,
                                         const tn_mind_given *args, tn_str name, tn_span at,
                                         tn_mind_function **function) {
  uint32_t count = closure->closure.count;
  const tn_mind_type **types = tn_arena_array(c->mind->arena, count, sizeof *types);
  if (!types || !closure_types(c, closure, args, name, at, types)) return &tn_mind_type_error;
  tn_mind_function *f = find_instance(c->mind, closure->closure.state, types, count);
  if (too_deep(c, f && !f->gives, at)) return &tn_mind_type_error; /* it may be what is being checked */
  if (!f) {
    if (unfolds_too_far(c, at)) return &tn_mind_type_error;
    f = instance_new(c->mind, closure, types);
    if (!f || !keep_instance(c->mind, closure->closure.state, f)) return &tn_mind_type_error;
    tn_diag_call call = { at, tn_mind_diags(c)->call };
    tn_mind_diags(c)->call = &call;
    c->mind->depth++;
    check_instance(c->mind, f, closure, false);
    c->mind->depth--;
    tn_mind_diags(c)->call = call.outer;
    if (!f->gives) return &tn_mind_type_error;
  }
  *function = f;
  tn_mind_require_effects(c, f->effects, name, at);
  return f->gives;
}
