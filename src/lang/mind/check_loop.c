/* lang/mind/check_loop.c: the types of fold and scan.
 *
 * The state of a loop keeps one type: what the function gives for it is what the
 * function is called with next. A number to begin with may become what the
 * function makes of it, so that a sum of tensors can begin with 0; then the
 * function is checked once more, with that. */
#include "lang/mind/check.h"

typedef struct {
  tn_mind_checker *c;
  const tn_mind_callable *callable;
  tn_mind_function *function; /* that was found to run */
  tn_span at;
  bool scans;
  const tn_mind_type *item;  /* what a step is given besides the state */
  const tn_mind_type *value; /* of a scan: what a step gives besides the state */
  int64_t steps;             /* their number, or TN_DIM_UNKNOWN */
} loop;

static const tn_mind_type *wrong(const loop *l, const tn_mind_given *arg, const char *expected) {
  return tn_mind_wrong(
      tn_mind_expected(l->c->mind, tn_mind_given_span(l->c, arg, l->at), expected, arg->type));
}

/* ---- what a loop goes along ---- */

/* One row of a tensor, as `x[i]` gives it; NULL: there are no rows. */
static const tn_mind_type *row_of(loop *l, const tn_mind_type *type) {
  if (type->kind != TN_MIND_T_TENSOR || type->shape.rank == 0) return NULL;
  tn_shape shape = { .rank = type->shape.rank - 1 };
  for (int i = 0; i < shape.rank; i++) shape.dim[i] = type->shape.dim[i + 1];
  return tn_mind_type_tensor(l->c->mind->arena, type->dtype, &shape, type->device);
}

static const tn_mind_type *rows_of(loop *l, const tn_mind_given *over) {
  const tn_mind_type *type = over->type;
  const tn_mind_type **items = tn_arena_array(l->c->mind->arena, type->count, sizeof *items);
  if (!items) return &tn_mind_type_error;
  for (uint32_t i = 0; i < type->count; i++) {
    items[i] = row_of(l, type->items[i]);
    if (!items[i]) return wrong(l, over, "tensors that have rows");
    tn_span at = tn_mind_given_span(l->c, over, l->at);
    if (!tn_mind_join_steps(l->c->mind, type->items[i]->shape.dim[0], at, &l->steps))
      return &tn_mind_type_error;
  }
  return tn_mind_type_items(l->c->mind->arena, TN_MIND_T_TUPLE, items, NULL, type->count);
}

/* A number of steps, the rows of a tensor, or those of several side by side. */
static const tn_mind_type *item_type(loop *l, const tn_mind_given *over) {
  const tn_mind_type *type = over->type, *row = row_of(l, type);
  l->steps = TN_DIM_UNKNOWN;
  if (type->kind == TN_MIND_T_ERROR) return type;
  if (row) {
    l->steps = type->shape.dim[0];
    return row;
  }
  if (type->kind == TN_MIND_T_TUPLE && type->count) return rows_of(l, over);
  if (!tn_mind_type_is_single(type) || !tn_dtype_in(type->dtype, TN_INTS))
    return wrong(l, over, "a number of steps, or a tensor that has rows");
  if (type->kind == TN_MIND_T_SCALAR && type->known) {
    if (type->integer < 0) return wrong(l, over, "a number of steps that is not below 0");
    l->steps = type->integer;
  }
  return tn_mind_type_scalar(type->dtype);
}

/* ---- the state ---- */

/* recursion: tuples in tuples, TN_MIND_LEVELS_LIMIT deep. */
bool tn_mind_type_is_state(const tn_mind_type *type) {
  bool all = tn_mind_type_is_value(type) || (type->kind == TN_MIND_T_TUPLE && type->count);
  for (uint32_t i = 0; all && type->kind == TN_MIND_T_TUPLE && i < type->count; i++)
    all = tn_mind_type_is_state(type->items[i]);
  return all;
}

/* What a step makes of a state. */
static const tn_mind_type *step_type(loop *l, const tn_mind_type *state) {
  const tn_mind_given args[] = { { NULL, state }, { NULL, l->item } };
  const tn_mind_type *gives = tn_mind_call_type(
      l->c, l->callable, args, 2, tn_mind_callable_name(l->c->mind, l->callable), l->at, &l->function);
  if (gives->kind == TN_MIND_T_ERROR || !l->scans) return gives;
  bool pair = gives->kind == TN_MIND_T_TUPLE && gives->count == 2;
  if (!pair || !tn_mind_type_is_value(gives->items[1])) {
    return tn_mind_wrong(tn_mind_expected(l->c->mind, l->at,
                                          "a function that gives the next state and a number or tensor",
                                          gives));
  }
  l->value = gives->items[1];
  return gives->items[0];
}

/* Whether a type becomes another; what would be reported is forgotten. */
static bool fits(const loop *l, const tn_mind_type *wanted, tn_mind_node *node, const tn_mind_type *type) {
  tn_diags *diags = tn_mind_diags(l->c);
  tn_diag_mark mark = tn_diags_mark(diags);
  if (tn_mind_meet(l->c, wanted, "fold", l->at, node, type)->kind != TN_MIND_T_ERROR) return true;
  tn_diags_rewind(diags, mark);
  return false;
}

static const tn_mind_type *state_changes(const loop *l, const tn_mind_type *state,
                                         const tn_mind_type *gives) {
  tn_str hint = TN_LIT("the state keeps its type: what a step gives is what the next step is given");
  return tn_mind_wrong(tn_mind_types_differ(l->c->mind, l->at, state, gives, 0, hint));
}

static const tn_mind_type *state_type(loop *l, const tn_mind_given *init) {
  const tn_mind_type *state = tn_mind_bound_type(l->c->mind, init->type);
  if (!tn_mind_type_is_state(state)) return wrong(l, init, "a number, a tensor or a tuple of them");
  const tn_mind_type *gives = step_type(l, state);
  if (gives->kind == TN_MIND_T_ERROR) return gives;
  if (fits(l, state, NULL, gives)) return state;
  const tn_mind_type *grown = tn_mind_bound_type(l->c->mind, gives);
  if (!tn_mind_type_is_state(grown) || !fits(l, grown, init->node, init->type))
    return state_changes(l, state, gives);
  gives = step_type(l, grown);
  if (gives->kind == TN_MIND_T_ERROR) return gives;
  return fits(l, grown, NULL, gives) ? grown : state_changes(l, grown, gives);
}

/* ---- calls ---- */

/* The values of all steps, one after the other. */
static const tn_mind_type *values_type(const loop *l) {
  const tn_mind_type *value = l->value;
  tn_shape shape = { .rank = 1, .dim = { l->steps } };
  int rank = value->kind == TN_MIND_T_TENSOR ? value->shape.rank : 0;
  if (!tn_mind_refuse_rank(l->c->mind, rank + 1, l->at)) return &tn_mind_type_error;
  for (int i = 0; i < rank; i++) shape.dim[shape.rank++] = value->shape.dim[i];
  if (!tn_mind_refuse_empty(l->c->mind, &shape, l->at)) return &tn_mind_type_error;
  return tn_mind_type_tensor(l->c->mind->arena, value->dtype, &shape, TN_MIND_CPU);
}

const tn_mind_type *tn_mind_check_loop(tn_mind_checker *c, const tn_mind_entry *entry, tn_mind_given *args,
                                       tn_mind_node *call, tn_span at) {
  loop l = { .c = c, .at = at, .scans = entry->special == TN_MIND_SCAN };
  if (args[0].type->kind != TN_MIND_T_FN) return wrong(&l, &args[0], "a function of a state and an item");
  l.callable = args[0].type->callable;
  l.item = item_type(&l, &args[2]);
  if (l.item->kind == TN_MIND_T_ERROR) return l.item;
  const tn_mind_type *state = state_type(&l, &args[1]);
  if (call) call->call.function = l.function;
  if (state->kind == TN_MIND_T_ERROR || !l.scans) return state;
  const tn_mind_type *parts[] = { state, values_type(&l) };
  if (parts[1]->kind == TN_MIND_T_ERROR) return parts[1];
  return tn_mind_type_items(c->mind->arena, TN_MIND_T_TUPLE, parts, NULL, 2);
}
