/* lang/ail/walk_control.c: walks conditions and loops.
 *
 * A constant condition is decided here, and the branch that is not taken is not walked. Any other
 * becomes an `if` with two regions. Loops are unrolled: the body is walked once for each iteration,
 * with the loop variable as a constant. How many iterations there are in all was counted before. */
#include "lang/ail/walk.h"
#include "op/scalar.h"

/* ---- if ---- */

/* Regions exist in graphs only. */
static void open_branch(tn_ail_walk *w) {
  w->branches++;
  if (w->typer) return;
  if (w->builder->methods->region_begin(w->builder)) return;
  tn_fault fault = w->builder->fault;
  tn_ail_site site = { .at = w->builder->at };
  tn_build_forget(w->builder);
  tn_ail_report_op_fault(w, &site, &fault, &fault.left.shape, &fault.right.shape);
}

/* `found` is a second result, or TN_NO_VALUE. */
static uint32_t close_branch(tn_ail_walk *w, const tn_ail_operand *result, tn_value found) {
  const tn_value results[] = { result->value, found };
  w->branches--;
  if (w->typer || w->stopped) return 0;
  int count = result->wrong ? 0 : found == TN_NO_VALUE ? 1 : 2;
  return w->builder->methods->region_end(w->builder, results, count);
}

/* What a branch gives, as a value made inside it. */
static tn_ail_operand branch_value(tn_ail_walk *w, const tn_ail_expr *expr) {
  tn_ail_operand operand = tn_ail_evaluate(w, expr);
  tn_value value = tn_ail_as_value(w, &operand, expr->at);
  tn_ail_operand result = tn_ail_of_value(operand.kind, value);
  result.origin = operand.origin;
  return result;
}

/* Whether the shapes differ for all lengths of their names; if so, they get the names that a report shows. */
static bool certainly_differ(tn_ail_walk *w, tn_shape *a, tn_shape *b) {
  int dimension;
  tn_ail_note_site(w, a, b);
  if (w->stopped) return false;
  if (tn_ail_shapes_differ(a, b, &dimension)) {
    tn_ail_named_shapes(w, a, b);
    return true;
  }
  if (w->unnamed && !tn_shape_equal(a, b)) tn_ail_get_stuck(w);
  return false;
}

static bool branches_agree(tn_ail_walk *w, const tn_ail_pending *pending, const tn_ail_operand *otherwise) {
  if (pending->then.kind != otherwise->kind) {
    return tn_ail_say(w, TN_DIAG_E_IF_BRANCH_DTYPE_MISMATCH, pending->at,
                      TN_STR("then_dtype", tn_data_kind_name(pending->then.kind)),
                      TN_STR("else_dtype", tn_data_kind_name(otherwise->kind)));
  }
  tn_shape a = *tn_ail_shape_of(w, &pending->then), b = *tn_ail_shape_of(w, otherwise);
  if (!certainly_differ(w, &a, &b)) return !w->stopped && !w->stuck;
  return tn_ail_say(w, TN_DIAG_E_IF_BRANCH_SHAPE_MISMATCH, pending->at,
                    tn_ail_shape_field(w, "then_shape", &a), tn_ail_shape_field(w, "else_shape", &b));
}

/* What two shapes that will be equal have in common. */
static tn_shape common_shape(const tn_shape *a, const tn_shape *b) {
  tn_shape shape = *a;
  for (int i = 0; i < shape.rank; i++) {
    if (a->dim[i] == b->dim[i] || tn_dim_is_known(a->dim[i])) continue;
    shape.dim[i] = tn_dim_is_known(b->dim[i]) ? b->dim[i] : TN_DIM_UNKNOWN;
  }
  return shape;
}

static tn_value pick(tn_builder *builder, tn_value branch, int index, const tn_type *type) {
  tn_attrs attrs = { .index = index, .dtype = type->dtype, .shape = type->shape };
  return branch == TN_ERROR_VALUE ? branch : tn_build(builder, TN_OP_PICK, &branch, 1, &attrs);
}

static tn_value join_regions(tn_ail_walk *w, const tn_ail_pending *pending, uint32_t else_region,
                             const tn_type *type, tn_value *found) {
  tn_builder *builder = w->builder;
  const tn_type truth = { .dtype = TN_BOOL };
  builder->at = pending->at;
  tn_value branch = builder->methods->join(builder, pending->condition, pending->region, else_region);
  if (*found != TN_NO_VALUE) *found = pick(builder, branch, 1, &truth);
  branch = *found == TN_ERROR_VALUE ? TN_ERROR_VALUE : pick(builder, branch, 0, type);
  if (branch != TN_ERROR_VALUE) return branch;
  tn_fault fault = builder->fault;
  tn_ail_site site = { .at = pending->at };
  tn_build_forget(builder);
  tn_ail_report_op_fault(w, &site, &fault, &fault.left.shape, &fault.right.shape);
  return TN_ERROR_VALUE;
}

/* Ends the branch of `otherwise` and makes one value of the two. *found, where it has a value, is the
 * second result of both branches, before and after. */
static tn_ail_operand join(tn_ail_walk *w, const tn_ail_pending *pending, const tn_ail_operand *otherwise,
                           tn_value *found) {
  uint32_t region = close_branch(w, otherwise, *found);
  if (pending->then.wrong || otherwise->wrong) return tn_ail_wrong();
  if (!branches_agree(w, pending, otherwise) || pending->condition == TN_ERROR_VALUE) return tn_ail_wrong();
  tn_type type = *tn_build_type(w->builder, otherwise->value);
  if (!w->typer) return tn_ail_of_value(otherwise->kind, join_regions(w, pending, region, &type, found));
  tn_shape shape = common_shape(tn_ail_shape_of(w, &pending->then), tn_ail_shape_of(w, otherwise));
  return tn_ail_of_value(otherwise->kind, tn_typer_value(w->typer, type.dtype, &shape));
}

/* One arm. True when its condition is certain to hold, so that nothing after it counts. `found` is what
 * the branch gives beside its value, or TN_NO_VALUE. */
static bool walk_arm(tn_ail_walk *w, const tn_ail_expr *expr, const tn_ail_arm *arm, bool alone,
                     tn_value found, tn_ail_operand *result) {
  tn_ail_operand given = tn_ail_evaluate(w, arm->condition);
  tn_ail_operand condition = tn_ail_as_condition(w, &given, arm->condition->at);
  if (condition.constant) {
    if (condition.number == 0.0f) return false;
    *result = alone ? tn_ail_evaluate(w, arm->value) : branch_value(w, arm->value);
    return true;
  }
  tn_ail_pending pending = { .condition = condition.value, .at = expr->at };
  open_branch(w);
  pending.then = branch_value(w, arm->value);
  pending.region = close_branch(w, &pending.then, found);
  if (!tn_vec_push(w->program->host->heap, &w->pending, pending)) {
    w->failed = w->stopped = w->program->arena.failed = true;
  } else {
    open_branch(w);
  }
  return false;
}

/* A long chain is divided into parts, so that its length is not the depth of the graph: each part gives
 * a value and whether one of its arms was found, and the next part is a branch for when none was. */
#define PART_ARMS 16

/* What the parts of one chain share. */
typedef struct {
  const tn_ail_expr *expr;
  uint32_t next;          /* the arm to be read */
  bool done;              /* nothing of the chain is left */
  bool inside;            /* a part before this one may have found its arm */
  tn_value truth[2];      /* false, true */
  tn_ail_operand nothing; /* the result of a part without a true arm: never read */
  tn_value found;         /* whether one was, in the parts so far */
} chain_parts;

static tn_ail_operand make_nothing(tn_ail_walk *w, const tn_ail_operand *like) {
  if (like->wrong || w->stopped) return tn_ail_wrong();
  tn_type type = *tn_build_type(w->builder, like->value);
  if (w->typer) return tn_ail_of_value(like->kind, tn_typer_value(w->typer, type.dtype, &type.shape));
  if (!tn_shape_is_known(&type.shape)) {
    tn_ail_get_stuck(w);
    return tn_ail_wrong();
  }
  return tn_ail_of_value(like->kind, tn_build_fill(w->builder, &type, 0));
}

static tn_ail_operand eval_part(tn_ail_walk *w, chain_parts *parts) {
  const tn_ail_if *branch = parts->expr->as.branch;
  size_t first = w->pending.count;
  tn_ail_operand result = tn_ail_wrong();
  bool decided = false;
  while (parts->next < branch->count && !decided && !w->stopped && w->pending.count - first < PART_ARMS) {
    bool alone = !parts->inside && w->pending.count == first;
    decided = walk_arm(w, parts->expr, &branch->arms[parts->next++], alone, parts->truth[1], &result);
  }
  bool alone = !parts->inside && w->pending.count == first;
  parts->done = decided || parts->next == branch->count;
  if (!decided && parts->done)
    result = alone ? tn_ail_evaluate(w, branch->otherwise) : branch_value(w, branch->otherwise);
  else if (!decided && !w->stopped)
    result = parts->nothing.wrong ? make_nothing(w, &w->pending.at[first].then) : parts->nothing;
  parts->found = parts->truth[parts->done];
  while (w->pending.count > first) {
    tn_ail_pending pending = tn_vec_pop(&w->pending);
    result = join(w, &pending, &result, &parts->found);
  }
  return result;
}

static tn_ail_operand eval_parts(tn_ail_walk *w, const tn_ail_expr *expr) {
  chain_parts parts = { .expr = expr, .truth = { TN_NO_VALUE, TN_NO_VALUE }, .nothing = tn_ail_wrong() };
  w->builder->at = expr->at;
  for (int i = 0; i < 2 && !w->typer; i++) parts.truth[i] = tn_build_number(w->builder, TN_BOOL, i);
  tn_ail_operand result = eval_part(w, &parts);
  parts.inside = true;
  if (!parts.done) parts.nothing = make_nothing(w, &result);
  while (!parts.done && !w->stopped) {
    tn_ail_pending pending = { .condition = parts.found, .then = result, .at = expr->at };
    open_branch(w);
    pending.region = close_branch(w, &result, parts.found);
    open_branch(w);
    tn_ail_operand rest = eval_part(w, &parts);
    result = join(w, &pending, &rest, &parts.found);
  }
  return result;
}

tn_ail_operand tn_ail_eval_if(tn_ail_walk *w, const tn_ail_expr *expr) {
  const tn_ail_if *branch = expr->as.branch;
  size_t first = w->pending.count;
  tn_value found = TN_NO_VALUE;
  if (branch->count > 2 * PART_ARMS) return eval_parts(w, expr);
  tn_ail_operand result = tn_ail_wrong();
  bool decided = false;
  for (uint32_t i = 0; i < branch->count && !decided && !w->stopped; i++) {
    decided = walk_arm(w, expr, &branch->arms[i], w->pending.count == first, found, &result);
  }
  bool alone = w->pending.count == first;
  if (!decided) result = alone ? tn_ail_evaluate(w, branch->otherwise) : branch_value(w, branch->otherwise);
  while (w->pending.count > first) {
    tn_ail_pending pending = tn_vec_pop(&w->pending);
    result = join(w, &pending, &result, &found);
  }
  return result;
}

/* ---- loops ---- */

/* Why a known value cannot be a loop bound; NULL when it is not known. */
static const char *not_whole(const tn_ail_const *value) {
  if (value->kind == TN_AIL_CONST_TEXT || value->kind == TN_AIL_CONST_BOOL) return "it is not a number";
  if (value->kind != TN_AIL_CONST_NUMBER) return NULL;
  bool large = value->number >= 0x1p63 || value->number <= -0x1p63;
  return large ? "it is too large" : "it is not a whole number";
}

static bool read_bound(tn_ail_walk *w, const tn_ail_expr *expr, int64_t *out) {
  tn_ail_const value;
  bool known = tn_ail_literal(w->program, expr, &value);
  if (known && value.kind == TN_AIL_CONST_NUMBER && value.is_integer) {
    *out = value.integer;
    return true;
  }
  return tn_ail_say(w, TN_DIAG_E_LOOP_BOUND_NOT_CONSTANT, expr->at,
                    TN_TEXT("bound", tn_ail_source_text(w->program, expr->at)),
                    TN_STR("problem", known && not_whole(&value) ? not_whole(&value) : ""));
}

static bool read_range(tn_ail_walk *w, const tn_ail_loop *loop, int64_t *from, int64_t *to) {
  bool from_ok = read_bound(w, loop->from, from), to_ok = read_bound(w, loop->to, to);
  if (!from_ok || !to_ok) return false;
  if (*to > *from) return true;
  return tn_ail_say(w, TN_DIAG_E_LOOP_INVALID_RANGE, tn_span_join(loop->from->at, loop->to->at),
                    TN_INT("start", *from), TN_INT("end", *to));
}

static bool has_body(tn_ail_walk *w, const tn_ail_loop *loop) {
  if (loop->body) return true;
  return tn_ail_say_plain(w, TN_DIAG_E_LOOP_BODY_INVALID_RETURN, loop->keyword_at);
}

static tn_ail_operand eval_with(tn_ail_walk *w, const tn_ail_loop *loop, const tn_ail_operand *variable) {
  size_t scope = tn_ail_open_scope(w);
  tn_ail_bind(w, loop->variable, variable);
  tn_ail_operand result = tn_ail_evaluate(w, loop->body);
  tn_ail_close_scope(w, scope);
  return result;
}

/* A loop that cannot be unrolled: its body is still read once for other mistakes. */
static tn_ail_operand eval_unrolled_not(tn_ail_walk *w, const tn_ail_loop *loop) {
  tn_ail_operand wrong = tn_ail_wrong();
  if (loop->body) eval_with(w, loop, &wrong);
  return wrong;
}

/* ---- for ---- */

static bool same_as_first(tn_ail_walk *w, tn_value first, tn_value value, int64_t iteration, tn_span at) {
  tn_shape a = tn_build_type(w->builder, first)->shape, b = tn_build_type(w->builder, value)->shape;
  if (!certainly_differ(w, &a, &b)) return !w->stopped && !w->stuck;
  return tn_ail_say(w, TN_DIAG_E_STACK_SHAPE_MISMATCH, at, tn_ail_shape_field(w, "expected", &a),
                    tn_ail_shape_field(w, "received", &b), TN_INT("iteration", iteration));
}

tn_value tn_ail_stack(tn_ail_walk *w, const tn_value *values, size_t count, int64_t axis, tn_span at) {
  if (count == 0) {
    tn_ail_say_plain(w, TN_DIAG_E_STACK_EMPTY, at);
    return TN_ERROR_VALUE;
  }
  if (axis != 0) {
    tn_ail_say(w, TN_DIAG_E_STACK_AXIS_INVALID, at, TN_INT("axis", axis));
    return TN_ERROR_VALUE;
  }
  for (size_t i = 1; i < count; i++) {
    if (!same_as_first(w, values[0], values[i], (int64_t)i, at)) return TN_ERROR_VALUE;
  }
  tn_type type = *tn_build_type(w->builder, values[0]);
  if (type.shape.rank == TN_RANK_LIMIT) {
    tn_ail_say(w, TN_DIAG_E_RANK_LIMIT, at, TN_INT("rank", TN_RANK_LIMIT + 1),
               TN_INT("limit", TN_RANK_LIMIT));
    return TN_ERROR_VALUE;
  }
  if (w->typer) {
    tn_shape shape = { .rank = type.shape.rank + 1, .dim = { (int64_t)count } };
    for (int i = 0; i < type.shape.rank; i++) shape.dim[i + 1] = type.shape.dim[i];
    return tn_typer_value(w->typer, type.dtype, &shape);
  }
  w->builder->at = at;
  tn_value value = tn_build(w->builder, TN_OP_STACK, values, (int)count, &(tn_attrs){ .axis = 0 });
  if (value != TN_ERROR_VALUE) return value;
  tn_fault fault = w->builder->fault;
  tn_ail_site site = { .at = at, .function = "for" };
  tn_build_forget(w->builder);
  tn_ail_report_op_fault(w, &site, &fault, &fault.left.shape, &fault.right.shape);
  return TN_ERROR_VALUE;
}

static tn_ail_operand eval_for(tn_ail_walk *w, const tn_ail_expr *expr) {
  const tn_ail_loop *loop = expr->as.loop;
  int64_t from = 0, to = 0;
  bool ok = read_range(w, loop, &from, &to);
  if (!has_body(w, loop) || !ok || w->program->unroll_exceeded) return eval_unrolled_not(w, loop);
  size_t first = w->parts.count;
  bool truths = false;
  tn_ail_site site = { .at = loop->body->at, .function = "for" };
  for (int64_t i = from; ok && i < to && !w->stopped; i++) {
    tn_ail_operand variable = tn_ail_of_number((float)i);
    tn_ail_operand part = eval_with(w, loop, &variable);
    if (i == from) truths = part.kind == TN_DATA_BOOLEAN;
    bool truth = truths && part.kind == TN_DATA_BOOLEAN;
    if (truths && !truth && !part.wrong) {
      tn_ail_say(w, TN_DIAG_E_BOOLEAN_USED_AS_TENSOR, loop->body->at, TN_STR("function", "for"));
      part = tn_ail_wrong();
    }
    tn_value value =
        truth ? tn_ail_as_value(w, &part, loop->body->at) : tn_ail_as_tensor(w, &part, &site, loop->body->at);
    ok = value != TN_ERROR_VALUE;
    if (ok && !tn_vec_push(w->program->host->heap, &w->parts, value))
      ok = false, w->program->arena.failed = true;
  }
  tn_value value = TN_ERROR_VALUE;
  if (ok && !w->stopped)
    value = tn_ail_stack(w, w->parts.at + first, w->parts.count - first, 0, loop->body->at);
  w->parts.count = first;
  if (!ok) w->failed = true;
  return tn_ail_of_value(truths ? TN_DATA_BOOLEAN : TN_DATA_TENSOR, value);
}

/* ---- reduce ---- */

static bool read_reduction(tn_ail_walk *w, const tn_ail_loop *loop, tn_op *op) {
  tn_str name = tn_ail_text_of(w->program, loop->op);
  const tn_str known[] = { TN_LIT("add"), TN_LIT("max"), TN_LIT("min") };
  if (tn_str_is(name, "add"))
    *op = TN_OP_ADD;
  else if (tn_str_is(name, "max"))
    *op = TN_OP_MAXIMUM;
  else if (tn_str_is(name, "min"))
    *op = TN_OP_MINIMUM;
  else {
    return tn_ail_say(w, TN_DIAG_E_REDUCE_OP_INVALID, loop->op_at, TN_TEXT("op", name),
                      TN_TEXT("suggestion", tn_str_suggest(name, known, 3)));
  }
  return true;
}

/* What the operation gives at run time. */
static float reduce_numbers(tn_op op, float a, float b) {
  return tn_scalar_binary(op, TN_F32)((tn_element){ .f32 = a }, (tn_element){ .f32 = b }).f32;
}

static tn_ail_operand combine(tn_ail_walk *w, tn_op op, const tn_ail_site *site, const tn_ail_operand *left,
                              const tn_ail_operand *right) {
  if (left->constant && right->constant && right->kind == TN_DATA_TENSOR) {
    return tn_ail_of_number(reduce_numbers(op, left->number, right->number));
  }
  const tn_value in[] = { tn_ail_as_tensor(w, left, site, site->at),
                          tn_ail_as_tensor(w, right, site, site->at) };
  if (in[0] == TN_ERROR_VALUE || in[1] == TN_ERROR_VALUE) return tn_ail_wrong();
  tn_shape a = tn_build_type(w->builder, in[0])->shape, b = tn_build_type(w->builder, in[1])->shape;
  int dimension;
  tn_ail_note_site(w, &a, &b);
  if (w->stopped) return tn_ail_wrong();
  if (tn_ail_shapes_differ(&a, &b, &dimension)) { /* iterations do not broadcast */
    tn_fault fault = { .kind = TN_FAULT_SHAPE, .op = op, .dimension = dimension };
    tn_ail_named_shapes(w, &a, &b);
    tn_ail_report_op_fault(w, site, &fault, &a, &b);
    return tn_ail_wrong();
  }
  return tn_ail_of_value(TN_DATA_TENSOR, tn_ail_apply(w, site, op, in, 2, NULL));
}

static tn_ail_operand eval_reduce(tn_ail_walk *w, const tn_ail_expr *expr) {
  const tn_ail_loop *loop = expr->as.loop;
  int64_t from = 0, to = 0;
  tn_op op = TN_OP_ADD;
  bool ok = read_reduction(w, loop, &op);
  ok = read_range(w, loop, &from, &to) && ok;
  if (!has_body(w, loop) || !ok || w->program->unroll_exceeded) return eval_unrolled_not(w, loop);
  tn_ail_site site = { .at = loop->body->at, .written = tn_ail_text_of(w->program, loop->op) };
  tn_ail_operand result = tn_ail_wrong();
  for (int64_t i = from; i < to && !w->stopped; i++) {
    tn_ail_operand variable = tn_ail_of_number((float)i);
    tn_ail_operand part = eval_with(w, loop, &variable);
    if (i > from)
      part = combine(w, op, &site, &result, &part);
    else if (!part.constant || part.kind != TN_DATA_TENSOR) {
      part = tn_ail_of_value(TN_DATA_TENSOR, tn_ail_as_tensor(w, &part, &site, site.at));
    }
    result = part;
    if (result.wrong) break;
  }
  return result;
}

/* ---- repeat ---- */

static bool mentions(const tn_ail_expr *expr, tn_name name);

static bool call_mentions(const tn_ail_call *call, tn_name name) {
  for (uint32_t i = 0; i < call->count; i++) {
    if (mentions(call->args[i].value, name)) return true;
  }
  return false;
}

static bool chain_mentions(const tn_ail_chain *chain, tn_name name) {
  for (uint32_t i = 0; i < chain->count; i++) {
    if (mentions(chain->links[i].right, name)) return true;
  }
  return mentions(chain->first, name);
}

static bool list_mentions(const tn_ail_expr *list, tn_name name) {
  for (uint32_t i = 0; i < list->as.list.count; i++) {
    if (mentions(list->as.list.items[i], name)) return true;
  }
  return false;
}

static bool if_mentions(const tn_ail_if *branch, tn_name name) {
  for (uint32_t i = 0; i < branch->count; i++) {
    if (mentions(branch->arms[i].condition, name) || mentions(branch->arms[i].value, name)) return true;
  }
  return mentions(branch->otherwise, name);
}

/* Whether an expression speaks of a name.
 * recursion: expressions in each other, TN_AIL_NESTING_LIMIT deep. */
static bool mentions(const tn_ail_expr *expr, tn_name name) {
  if (!expr) return false; /* of a loop without one */
  switch (expr->form) {
    case TN_AIL_EXPR_NAME: return expr->as.name == name;
    case TN_AIL_EXPR_CALL: return call_mentions(expr->as.call, name);
    case TN_AIL_EXPR_CHAIN: return chain_mentions(expr->as.chain, name);
    case TN_AIL_EXPR_LIST: return list_mentions(expr, name);
    case TN_AIL_EXPR_NEGATE:
    case TN_AIL_EXPR_NOT: return mentions(expr->as.unary.of, name);
    case TN_AIL_EXPR_IF: return if_mentions(expr->as.branch, name);
    case TN_AIL_EXPR_FOR:
    case TN_AIL_EXPR_REPEAT:
    case TN_AIL_EXPR_REDUCE:
      return mentions(expr->as.loop->init, name) || mentions(expr->as.loop->body, name);
    default: return false;
  }
}

static bool read_times(tn_ail_walk *w, const tn_ail_loop *loop, int64_t *out) {
  tn_ail_const value;
  bool ok = tn_ail_literal(w->program, loop->times, &value) && value.kind == TN_AIL_CONST_NUMBER &&
            value.is_integer;
  if (!ok) {
    const char *problem = not_whole(&value);
    return tn_ail_say(w, TN_DIAG_E_REPEAT_COUNT_NOT_CONSTANT, loop->times->at,
                      TN_TEXT("count", tn_ail_source_text(w->program, loop->times->at)),
                      TN_STR("problem", problem ? problem : ""));
  }
  *out = value.integer;
  return *out > 0 || tn_ail_say(w, TN_DIAG_E_REPEAT_INVALID_COUNT, loop->times->at, TN_INT("count", *out));
}

/* In the body the name that is assigned and `y` mean the value so far; but where the body uses the
 * name itself, a `y` from outside keeps its meaning. */
typedef struct {
  tn_name target;
  bool as_y;
} accumulator;

static accumulator choose_names(const tn_ail_walk *w, const tn_ail_loop *loop) {
  tn_name y = w->program->known.y;
  accumulator names = { .target = w->target == y ? 0 : w->target, .as_y = true };
  bool outer = tn_ail_lookup(w, y) || tn_ail_find_const(w->program, y);
  if (names.target && outer && mentions(loop->body, names.target)) names.as_y = false;
  return names;
}

/* repeat 4 f(x): the first argument is the value so far. */
static tn_ail_operand eval_short_step(tn_ail_walk *w, const tn_ail_loop *loop, const tn_ail_operand *value) {
  const tn_ail_expr *carried = w->carried;
  tn_ail_operand carry = w->carry;
  w->carried = loop->init;
  w->carry = *value;
  tn_ail_operand result = tn_ail_evaluate(w, loop->body);
  w->carried = carried;
  w->carry = carry;
  return result;
}

static tn_ail_operand eval_step(tn_ail_walk *w, const tn_ail_loop *loop, const accumulator *names,
                                const tn_ail_operand *value) {
  if (loop->is_short) return eval_short_step(w, loop, value);
  size_t scope = tn_ail_open_scope(w);
  if (names->target) tn_ail_bind(w, names->target, value);
  if (names->as_y) tn_ail_bind(w, w->program->known.y, value);
  tn_ail_operand result = tn_ail_evaluate(w, loop->body);
  tn_ail_close_scope(w, scope);
  if (result.is_text) tn_ail_as_value(w, &result, loop->body->at), result = tn_ail_wrong();
  return result;
}

static bool keeps_type(tn_ail_walk *w, const tn_ail_loop *loop, const tn_ail_operand *before,
                       const tn_ail_operand *after) {
  int dimension;
  if (before->wrong || after->wrong) return false;
  tn_shape a = *tn_ail_shape_of(w, before), b = *tn_ail_shape_of(w, after);
  tn_ail_note_site(w, &a, &b);
  if (w->stopped) return false;
  if (tn_ail_shapes_differ(&a, &b, &dimension)) {
    tn_ail_named_shapes(w, &a, &b);
    return tn_ail_say(w, TN_DIAG_E_REPEAT_BODY_SHAPE_MISMATCH, loop->body->at,
                      tn_ail_shape_field(w, "expected", &a), tn_ail_shape_field(w, "received", &b));
  }
  if (before->kind == after->kind) return true;
  return tn_ail_say(w, TN_DIAG_E_REPEAT_BODY_DTYPE_MISMATCH, loop->body->at,
                    TN_STR("expected", tn_data_kind_name(before->kind)),
                    TN_STR("received", tn_data_kind_name(after->kind)));
}

static tn_ail_operand eval_repeat(tn_ail_walk *w, const tn_ail_expr *expr) {
  const tn_ail_loop *loop = expr->as.loop;
  int64_t count = 0;
  bool ok = read_times(w, loop, &count);
  if (ok && !loop->init) ok = tn_ail_say_plain(w, TN_DIAG_E_REPEAT_REQUIRES_INIT, loop->keyword_at);
  ok = ok && has_body(w, loop);
  if (w->program->unroll_exceeded) ok = false;
  tn_ail_operand value = loop->init ? tn_ail_evaluate(w, loop->init) : tn_ail_wrong();
  if (value.is_text) tn_ail_as_value(w, &value, loop->init->at), value = tn_ail_wrong();
  accumulator names = choose_names(w, loop);
  if (!ok) {
    tn_ail_operand wrong = tn_ail_wrong();
    if (loop->body) eval_step(w, loop, &names, &wrong);
    return wrong;
  }
  for (int64_t i = 0; i < count && !w->stopped; i++) {
    tn_ail_operand next = eval_step(w, loop, &names, &value);
    if (!keeps_type(w, loop, &value, &next)) return tn_ail_wrong();
    value = next;
    value.input = -1;
  }
  return value;
}

tn_ail_operand tn_ail_eval_loop(tn_ail_walk *w, const tn_ail_expr *expr) {
  switch (expr->form) {
    case TN_AIL_EXPR_FOR: return eval_for(w, expr);
    case TN_AIL_EXPR_REPEAT: return eval_repeat(w, expr);
    default: return eval_reduce(w, expr);
  }
}
