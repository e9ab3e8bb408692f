/* lang/mind/eval_operator.c: operators, conditions and branches.
 *
 * A program that runs takes one branch of an `if`. Where it is lowered to a
 * graph, or where a condition has no data, both branches are traced into regions
 * and joined. Names that a branch assigns are results of the `if` as well. A
 * branch that would not run may fail on the way (it may recurse forever): then
 * only the other one is taken over. */
#include <stdlib.h>
#include <string.h>

#include "lang/mind/eval.h"
#include "op/scalar.h"

/* ---- operators ---- */

/* Two scalars whose numbers are known. */
static bool known_result(tn_mind_evaluator *e, tn_op op, tn_dtype dtype, const tn_mind_value *left,
                         const tn_mind_value *right, tn_span at, tn_mind_value *out) {
  tn_mind_number a = tn_mind_number_cast(tn_mind_number_in(left), dtype),
                 b = tn_mind_number_cast(tn_mind_number_in(right), dtype);
  tn_mind_number result;
  if (tn_mind_number_binary(op, a, b, &result)) {
    *out = tn_mind_scalar_value(result);
    return true;
  }
  *out = (tn_mind_value){ .kind = TN_MIND_V_SCALAR, .dtype = (uint8_t)dtype };
  if (e->lowers) return true; /* it stays an operation, which has not run */
  return tn_report(e->host->diags, TN_DIAG_E6001, at, TN_STR("op", tn_op_sig_of(op)->name));
}

/* In lowering, literals are folded exactly or not at all. */
static bool folds(tn_op op, tn_dtype dtype, const tn_mind_value *left, const tn_mind_value *right) {
  return tn_mind_number_exact(op, tn_mind_number_cast(tn_mind_number_in(left), dtype),
                              tn_mind_number_cast(tn_mind_number_in(right), dtype));
}

/* Of scalars a scalar; where one is a tensor, the other becomes one of its dtype. */
bool tn_mind_eval_binary(tn_mind_evaluator *e, tn_op op, tn_dtype dtype, tn_mind_value left,
                         tn_mind_value right, tn_span at, tn_mind_value *out) {
  if (left.kind == TN_MIND_V_STRING) {
    bool equal = tn_str_equal(left.text, right.text);
    *out = tn_mind_scalar_value((tn_mind_number){ .dtype = TN_BOOL, .integer = equal == (op == TN_OP_EQ) });
    return true;
  }
  bool scalars = left.kind == TN_MIND_V_SCALAR && right.kind == TN_MIND_V_SCALAR;
  bool known = scalars && left.known && right.known, traced = left.node || right.node;
  *out = (tn_mind_value){ .kind = TN_MIND_V_TENSOR };
  if (scalars)
    *out = (tn_mind_value){ .kind = TN_MIND_V_SCALAR, .dtype = (uint8_t)tn_scalar_gives(op, dtype) };
  if (known && !known_result(e, op, dtype, &left, &right, at, out)) return false;
  if (known && !traced && (!e->lowers || folds(op, dtype, &left, &right))) return true;
  tn_value x = tn_mind_node_of(e, &left, dtype, at);
  tn_value y = x ? tn_mind_node_of(e, &right, dtype, at) : TN_ERROR_VALUE;
  if (!y) return false;
  out->node = tn_build_binary(tn_mind_builder(e, at), op, x, y);
  return tn_mind_built(e, NULL, out->node);
}

static bool truth_of(tn_mind_evaluator *e, const tn_mind_value *value, tn_span at, tn_mind_value *out);

bool tn_mind_eval_unary(tn_mind_evaluator *e, tn_op op, tn_mind_value x, tn_span at, tn_mind_value *out) {
  if (x.kind == TN_MIND_V_SCALAR && op == TN_OP_NOT && !truth_of(e, &x, at, &x)) return false;
  *out = (tn_mind_value){ .kind = x.kind, .dtype = x.dtype };
  if (x.kind == TN_MIND_V_SCALAR && x.known) {
    tn_mind_number number = tn_mind_number_in(&x);
    if (op == TN_OP_NOT)
      number.integer = !number.integer;
    else
      number = tn_mind_number_negate(number);
    *out = tn_mind_scalar_value(number);
    bool exact =
        tn_dtype_in(x.dtype, TN_FLOATS) || (tn_dtype_in(x.dtype, TN_INTS) && x.integer != INT64_MIN &&
                                            !(x.dtype == TN_I32 && x.integer == INT32_MIN));
    if (!x.node && (!e->lowers || exact)) return true;
  }
  tn_value node = tn_mind_node_of(e, &x, tn_mind_value_type(e, &x).dtype, at);
  if (!node) return false;
  out->node = tn_build_unary(tn_mind_builder(e, at), op, node);
  return tn_mind_built(e, NULL, out->node);
}

/* ---- conditions ---- */

/* A scalar bool: a number is true when it differs from 0. */
static bool truth_of(tn_mind_evaluator *e, const tn_mind_value *value, tn_span at, tn_mind_value *out) {
  tn_dtype dtype = tn_mind_value_type(e, value).dtype;
  tn_mind_value made = { .kind = TN_MIND_V_SCALAR, .dtype = TN_BOOL };
  if (value->kind == TN_MIND_V_SCALAR && value->known) {
    bool truth = tn_mind_number_truth(tn_mind_number_in(value));
    made = tn_mind_scalar_value((tn_mind_number){ .dtype = TN_BOOL, .integer = truth });
  }
  if (value->node) {
    made.node = value->node;
    if (dtype != TN_BOOL) made.node = tn_mind_node_of(e, value, TN_BOOL, at);
    if (made.node == TN_ERROR_VALUE) return false;
  }
  *out = made;
  return true;
}

typedef enum { UNDECIDED, NO, YES } decision;

static bool decide(tn_mind_evaluator *e, const tn_mind_value *condition, tn_span at, decision *out) {
  tn_mind_number number;
  *out = UNDECIDED;
  tn_mind_forced forced = tn_mind_number_of(e, condition, at, &number);
  if (forced == TN_MIND_DATA) *out = tn_mind_number_truth(number) ? YES : NO;
  return forced != TN_MIND_FAULT;
}

/* ---- both branches ---- */

/* One of two branches. */
typedef struct {
  tn_mind_evaluator *e;
  tn_mind_frame *frame;
  tn_mind_node *node;     /* the if, or the && or || */
  tn_mind_branch *branch; /* whose condition is evaluated */
  tn_span at;
} fork;

typedef struct {
  bool ok;
  tn_mind_value value;
  tn_mind_slot_change *changes; /* slots of the frame and what they hold after the branch, by address */
  size_t count;
  uint32_t region;
} way;

static bool eval_branches(const fork *f, tn_mind_branch *branch, tn_mind_value *out);

/* The then side or the else side of a fork. */
static bool run_side(const fork *f, bool yes, tn_mind_value *out) {
  tn_mind_evaluator *e = f->e;
  if (f->node->kind == TN_MIND_IF) {
    bool ok = yes ? tn_mind_eval_block(e, f->frame, &f->branch->block, out)
                  : eval_branches(f, f->branch->next, out);
    if (!f->node->branch.has_else) *out = tn_mind_unit_value(); /* whatever its block ends in */
    return ok;
  }
  if (yes != (f->node->op == TN_MIND_AND)) { /* false && x, true || x */
    *out = tn_mind_scalar_value((tn_mind_number){ .dtype = TN_BOOL, .integer = f->node->op == TN_MIND_OR });
    return true;
  }
  tn_mind_value right;
  return tn_mind_eval(e, f->frame, f->node->right, &right) && truth_of(e, &right, f->at, out);
}

static int by_slot(const void *a, const void *b) {
  const tn_mind_value *left = ((const tn_mind_slot_change *)a)->slot;
  const tn_mind_value *right = ((const tn_mind_slot_change *)b)->slot;
  return left < right ? -1 : left > right;
}

/* Each slot once. */
static size_t sort_changes(tn_mind_slot_change *changes, size_t count) {
  size_t kept = 0;
  if (count) qsort(changes, count, sizeof *changes, by_slot);
  for (size_t i = 0; i < count; i++) {
    if (!kept || changes[kept - 1].slot != changes[i].slot) changes[kept++] = changes[i];
  }
  return kept;
}

/* What the branch has made of slots since the journal had that length; then all is as before it. */
static bool take_back(tn_mind_evaluator *e, size_t since, way *out) {
  size_t count = e->journal.count - since;
  out->changes = tn_arena_array(e->arena, count, sizeof *out->changes);
  for (size_t i = since; out->changes && i < e->journal.count; i++) {
    tn_mind_value *slot = e->journal.at[i].slot;
    out->changes[out->count++] = (tn_mind_slot_change){ slot, *slot };
  }
  while (e->journal.count > since) {
    tn_mind_slot_change before = tn_vec_pop(&e->journal);
    *before.slot = before.value;
  }
  if (!e->fork) tn_vec_free(e->host->heap, &e->journal);
  if (!out->changes) return false;
  out->count = sort_changes(out->changes, out->count);
  return true;
}

static TN_OWN_FRAME bool trace_side(const fork *f, bool yes, bool speculates, way *out) {
  tn_mind_evaluator *e = f->e;
  tn_builder *builder = tn_mind_builder(e, f->at);
  uint64_t drawn = e->drawn;
  size_t since = e->journal.count;
  if (!builder || !builder->methods->region_begin(builder)) return false;
  const tn_mind_frame *outer = e->fork;
  e->fork = f->frame;
  out->ok = run_side(f, yes, &out->value);
  e->fork = outer;
  if (speculates) e->drawn = drawn;
  tn_graph_builder *own = &e->trace->builder;
  out->region = own->region; /* closed when its results are known */
  own->region = e->trace->graph.regions.at[own->region].parent;
  return take_back(e, since, out);
}

/* A list of nodes that both sides give: their values, and what they assigned. */
typedef struct {
  tn_vec(tn_value) yes, no;
  tn_mind_slot_change *assigned; /* the slots; their values are not looked at */
  size_t assigned_count;
} results;

static bool same_value(const tn_mind_value *a, const tn_mind_value *b) {
  if (a->kind != b->kind || a->node != b->node || a->count != b->count) return false;
  switch (a->kind) {
    case TN_MIND_V_SCALAR:
      return a->dtype == b->dtype && a->known == b->known && (!a->known || a->integer == b->integer);
    case TN_MIND_V_STRING: return a->text.at == b->text.at && a->text.len == b->text.len;
    case TN_MIND_V_SHAPE: return a->shape == b->shape;
    case TN_MIND_V_FN: return a->fn == b->fn;
    case TN_MIND_V_TUPLE:
    case TN_MIND_V_LIST:
    case TN_MIND_V_GRAD: return a->items == b->items;
    default: return true;
  }
}

static tn_value in_region(tn_mind_evaluator *e, const tn_mind_value *value, tn_dtype dtype, uint32_t region,
                          tn_span at) {
  uint32_t outer = e->trace->builder.region;
  e->trace->builder.region = region;
  tn_value node = tn_mind_node_of(e, value, dtype, at);
  e->trace->builder.region = outer;
  return node;
}

/* Both become nodes of one type, or the branches cannot be joined. */
static TN_OWN_FRAME bool add_result(const fork *f, const way *yes, const way *no, const tn_mind_value *a,
                                    const tn_mind_value *b, tn_dtype dtype, results *r) {
  tn_mind_evaluator *e = f->e;
  if (!tn_mind_is_plain(a) || !tn_mind_is_plain(b)) return false;
  tn_type type_a = tn_mind_value_type(e, a), type_b = tn_mind_value_type(e, b);
  if (!tn_shape_equal(&type_a.shape, &type_b.shape)) return false;
  tn_value x = in_region(e, a, dtype, yes->region, f->at), y = in_region(e, b, dtype, no->region, f->at);
  if (!x || !y) return false;
  return tn_vec_push(e->host->heap, &r->yes, x) && tn_vec_push(e->host->heap, &r->no, y);
}

/* The dtypes are those that the checker found for both together. */
static bool add_values(const fork *f, const way *yes, const way *no, const tn_mind_value *a,
                       const tn_mind_value *b, const tn_mind_type *type, results *r) {
  if (a->kind == TN_MIND_V_UNIT && b->kind == TN_MIND_V_UNIT) return true;
  if (a->kind != TN_MIND_V_TUPLE) return add_result(f, yes, no, a, b, type->dtype, r);
  if (!tn_mind_room(f->e->mind)) return tn_report_stack(f->e->host->diags, f->at, NULL);
  if (b->kind != TN_MIND_V_TUPLE || a->count != b->count) return false;
  for (uint32_t i = 0; i < a->count; i++) {
    if (!add_values(f, yes, no, &a->items[i], &b->items[i], type->items[i], r)) return false;
  }
  return true;
}

/* What the slot holds after the way. */
static const tn_mind_value *value_after(const way *w, tn_mind_value *slot) {
  tn_mind_slot_change key = { .slot = slot };
  const tn_mind_slot_change *found =
      w->count ? bsearch(&key, w->changes, w->count, sizeof key, by_slot) : NULL;
  return found ? &found->value : slot;
}

/* The slots that one of the ways has given another value, in their order. */
static bool find_assigned(const fork *f, const way *yes, const way *no, results *r) {
  tn_arena *arena = f->e->arena;
  r->assigned = tn_arena_array(arena, yes->count + no->count, sizeof *r->assigned);
  if (!r->assigned) return false;
  if (yes->count) memcpy(r->assigned, yes->changes, yes->count * sizeof *r->assigned);
  if (no->count) memcpy(r->assigned + yes->count, no->changes, no->count * sizeof *r->assigned);
  size_t count = sort_changes(r->assigned, yes->count + no->count);
  for (size_t i = 0; i < count; i++) {
    tn_mind_value *slot = r->assigned[i].slot;
    if (slot->kind == TN_MIND_V_NONE) continue;
    bool same = same_value(slot, value_after(yes, slot)) && same_value(slot, value_after(no, slot));
    if (!same) r->assigned[r->assigned_count++] = r->assigned[i];
  }
  return true;
}

static bool add_slots(const fork *f, const way *yes, const way *no, results *r) {
  if (!find_assigned(f, yes, no, r)) return false;
  for (size_t i = 0; i < r->assigned_count; i++) {
    const tn_mind_value *a = value_after(yes, r->assigned[i].slot), *b = value_after(no, r->assigned[i].slot);
    if (!add_result(f, yes, no, a, b, tn_mind_value_type(f->e, a).dtype, r)) return false;
  }
  return true;
}

/* The result of the if in place of a value of one side; a number that is known stays known if the
 * condition is decided, or if both sides give it. */
typedef struct {
  const fork *f;
  tn_builder *builder;
  tn_value branch;
  uint64_t next;
  decision truth;
} picker;

static TN_OWN_FRAME bool pick(picker *p, const tn_mind_value *a, const tn_mind_value *b, tn_value like,
                              tn_mind_value *out) {
  const tn_mind_value *taken = p->truth == NO ? b : a;
  const tn_type *type = tn_build_type(p->builder, like);
  tn_attrs attrs = { .index = p->next++, .dtype = type->dtype, .shape = type->shape };
  tn_value node = tn_build(p->builder, TN_OP_PICK, &p->branch, 1, &attrs);
  bool scalar = a->kind == TN_MIND_V_SCALAR && b->kind == TN_MIND_V_SCALAR;
  tn_mind_value made = { .kind = scalar ? TN_MIND_V_SCALAR : TN_MIND_V_TENSOR };
  if (scalar) {
    bool same = a->known && b->known && a->dtype == b->dtype && a->integer == b->integer;
    if (taken->known && (p->truth != UNDECIDED || same)) {
      made = tn_mind_scalar_value(tn_mind_number_cast(tn_mind_number_in(taken), attrs.dtype));
    }
    made.dtype = (uint8_t)attrs.dtype;
  }
  made.node = node;
  *out = made;
  return node != TN_ERROR_VALUE;
}

static bool pick_values(picker *p, const tn_mind_value *a, const tn_mind_value *b, const results *r,
                        tn_mind_value *out) {
  *out = *a;
  if (a->kind == TN_MIND_V_UNIT) return true;
  if (a->kind != TN_MIND_V_TUPLE) return pick(p, a, b, r->yes.at[p->next], out);
  out->items = tn_arena_array(p->f->e->arena, a->count, sizeof *out->items);
  if (!out->items || !tn_mind_room(p->f->e->mind)) return false;
  for (uint32_t i = 0; i < a->count; i++) {
    if (!pick_values(p, &a->items[i], &b->items[i], r, &out->items[i])) return false;
  }
  return true;
}

static bool close_ways(const fork *f, const way *yes, const way *no, const results *r,
                       const tn_mind_value *condition, tn_value *branch) {
  tn_mind_evaluator *e = f->e;
  tn_graph *graph = &e->trace->graph;
  tn_builder *builder = tn_mind_builder(e, f->at);
  tn_value node = tn_mind_node_of(e, condition, TN_BOOL, f->at);
  if (!node || !tn_graph_yield(graph, yes->region, r->yes.at, (int)r->yes.count) ||
      !tn_graph_yield(graph, no->region, r->no.at, (int)r->no.count)) {
    return false;
  }
  *branch = builder->methods->join(builder, node, yes->region, no->region);
  return *branch != TN_ERROR_VALUE;
}

static TN_OWN_FRAME bool join_ways(const fork *f, const way *yes, const way *no,
                                   const tn_mind_value *condition, decision truth, results *r,
                                   tn_mind_value *out) {
  tn_value branch;
  if (!add_values(f, yes, no, &yes->value, &no->value, f->node->type, r)) return false;
  if (!add_slots(f, yes, no, r)) return false;
  if (!close_ways(f, yes, no, r, condition, &branch)) return false;
  picker p = { f, tn_mind_builder(f->e, f->at), branch, 0, truth };
  if (!pick_values(&p, &yes->value, &no->value, r, out)) return false;
  for (size_t i = 0; i < r->assigned_count; i++) {
    tn_mind_value *slot = r->assigned[i].slot, joined;
    if (!pick(&p, value_after(yes, slot), value_after(no, slot), r->yes.at[p.next], &joined)) return false;
    if (!tn_mind_set_slot(f->e, slot, joined)) return false;
  }
  return true;
}

/* The way that runs, without the other. */
static TN_OWN_FRAME bool take_way(const fork *f, const way *taken, tn_mind_value *out) {
  if (!taken->ok) return false;
  for (size_t i = 0; i < taken->count; i++) {
    if (!tn_mind_set_slot(f->e, taken->changes[i].slot, taken->changes[i].value)) return false;
  }
  *out = taken->value;
  return true;
}

static bool cannot_join(const fork *f) {
  return tn_report(f->e->host->diags, TN_DIAG_E2001, f->at, TN_STR("expected", TN_MIND_JOINED_BRANCHES),
                   TN_STR("got", TN_MIND_SEPARATE_BRANCHES));
}

static TN_OWN_FRAME bool trace_fork(const fork *f, const tn_mind_value *condition, decision truth,
                                    tn_mind_value *out) {
  tn_mind_evaluator *e = f->e;
  tn_diags *diags = e->host->diags;
  way ways[2] = { { 0 } };
  results r = { 0 };
  bool joined = false;
  e->undecided += truth == UNDECIDED;
  for (int i = 0; i < 2; i++) { /* 0: then */
    bool speculates = truth == (i == 0 ? NO : YES);
    tn_diag_mark mark = tn_diags_mark(diags);
    bool traced = trace_side(f, i == 0, speculates, &ways[i]);
    if (traced && (ways[i].ok || speculates)) {
      if (speculates && !ways[i].ok) {
        tn_diags_rewind(diags, mark);
        tn_build_forget(&e->trace->builder.base);
      }
      continue;
    }
    e->undecided -= truth == UNDECIDED;
    if (!traced && tn_build_ok(&e->trace->builder.base)) return tn_mind_out_of_memory(e->mind);
    return tn_mind_built(e, NULL, TN_ERROR_VALUE);
  }
  e->undecided -= truth == UNDECIDED;
  tn_diag_mark mark = tn_diags_mark(diags);
  if (ways[0].ok && ways[1].ok) joined = join_ways(f, &ways[0], &ways[1], condition, truth, &r, out);
  tn_vec_free(e->host->heap, &r.yes);
  tn_vec_free(e->host->heap, &r.no);
  if (joined) return true;
  tn_diags_rewind(diags, mark);
  tn_build_forget(&e->trace->builder.base);
  return truth == UNDECIDED ? cannot_join(f) : take_way(f, truth == YES ? &ways[0] : &ways[1], out);
}

/* ---- if ---- */

/* A function that is already being called: both branches of its ifs would never end. */
static bool recurses(const tn_mind_evaluator *e) {
  if (!e->active) return false;
  for (const tn_mind_active *a = e->active->caller; a; a = a->caller) {
    if (a->function == e->active->function) return true;
  }
  return false;
}

/* Whether the condition is true, and whether both sides are traced. */
static bool look_at(const fork *f, const tn_mind_value *condition, tn_mind_value *truth, decision *decided,
                    bool *both) {
  tn_mind_evaluator *e = f->e;
  if (!truth_of(e, condition, f->at, truth) || !decide(e, truth, f->at, decided)) return false;
  *both = *decided == UNDECIDED || (e->lowers && !recurses(e));
  return true;
}

/* The branches from here on, in a loop: a chain may be long. Where both sides of a condition are traced, one
 * of them is the rest of the chain. */
static TN_OWN_FRAME bool eval_branches(const fork *outer, tn_mind_branch *branch, tn_mind_value *out) {
  fork f = *outer;
  if (!tn_mind_room(f.e->mind)) return tn_report_stack(f.e->host->diags, f.at, NULL);
  for (; branch && branch->condition; branch = branch->next) {
    tn_mind_value condition, truth;
    decision decided;
    bool both;
    f.branch = branch;
    f.at = tn_mind_at(f.frame->unit, branch->condition->from, branch->condition->to);
    if (!tn_mind_eval(f.e, f.frame, branch->condition, &condition)) return false;
    if (!look_at(&f, &condition, &truth, &decided, &both)) return false;
    if (both) return trace_fork(&f, &truth, decided, out);
    if (decided == YES) break;
  }
  *out = tn_mind_unit_value();
  return !branch || tn_mind_eval_block(f.e, f.frame, &branch->block, out);
}

/* A value of one branch as the branches together are: literals have met a float, or a tensor. */
static bool join_type(tn_mind_evaluator *e, tn_mind_value *value, const tn_mind_type *type, tn_span at) {
  if (!tn_mind_room(e->mind)) return tn_report_stack(e->host->diags, at, NULL);
  if (type->kind == TN_MIND_T_SCALAR) return tn_mind_coerce(e, value, type, NULL, NULL, at);
  if (type->kind == TN_MIND_T_TENSOR && value->kind == TN_MIND_V_SCALAR) {
    tn_mind_type bare = { .kind = TN_MIND_T_TENSOR, .dtype = type->dtype };
    tn_mind_bindings none = { .arena = e->arena };
    return tn_mind_coerce(e, value, &bare, &none, NULL, at);
  }
  if (type->kind != TN_MIND_T_TUPLE) return true;
  tn_mind_value *items = tn_arena_copy(e->arena, value->items, value->count * sizeof *items);
  if (!items) return tn_mind_out_of_memory(e->mind);
  value->items = items;
  for (uint32_t i = 0; i < value->count; i++) {
    if (!join_type(e, &items[i], type->items[i], at)) return false;
  }
  return true;
}

bool tn_mind_eval_if(tn_mind_evaluator *e, tn_mind_frame *frame, tn_mind_node *node, tn_mind_value *out) {
  fork f = { .e = e, .frame = frame, .node = node, .at = tn_mind_span(frame->unit, node) };
  if (!eval_branches(&f, node->branch.branches, out)) return false;
  if (e->tail.function) return true; /* the value is still to come */
  if (!node->branch.has_else) *out = tn_mind_unit_value();
  return join_type(e, out, node->type, f.at);
}

bool tn_mind_eval_logic(tn_mind_evaluator *e, tn_mind_frame *frame, tn_mind_node *node, tn_mind_value left,
                        tn_mind_value *out) {
  fork f = { .e = e, .frame = frame, .node = node, .at = tn_mind_span(frame->unit, node) };
  tn_mind_value truth;
  decision decided;
  bool both;
  if (!look_at(&f, &left, &truth, &decided, &both)) return false;
  return both ? trace_fork(&f, &truth, decided, out) : run_side(&f, decided == YES, out);
}
