/* lang/ail/walk.c: walks names, operators and calls.
 *
 * A name has a list of bindings, the newest of which counts; a scope is a mark in the list of all
 * bindings. A function call opens a frame: names of other frames are not visible in it, so a
 * function sees only its parameters and the constants. Constants of the program and loop variables
 * stay numbers as long as possible: a condition made of them alone is decided here. */
#include "lang/ail/walk.h"

#include "lang/ail/constant.h"
#include "op/element.h"
#include "op/scalar.h"

/* ---- operands ---- */

tn_ail_operand tn_ail_wrong(void) {
  return (tn_ail_operand){ .kind = TN_DATA_UNKNOWN, .wrong = true, .value = TN_ERROR_VALUE, .input = -1 };
}

tn_ail_operand tn_ail_of_value(tn_data_kind kind, tn_value value) {
  if (value == TN_ERROR_VALUE) return tn_ail_wrong();
  return (tn_ail_operand){ .kind = (uint8_t)kind, .value = value, .input = -1 };
}

tn_ail_operand tn_ail_of_number(float number) {
  return (tn_ail_operand){
    .kind = TN_DATA_TENSOR, .constant = true, .number = number, .value = TN_NO_VALUE, .input = -1
  };
}

tn_ail_operand tn_ail_of_integer(int64_t integer) {
  tn_ail_operand operand = tn_ail_of_number((float)integer);
  operand.whole = true;
  operand.integer = integer;
  return operand;
}

tn_ail_operand tn_ail_of_truth(bool truth) {
  tn_ail_operand operand = tn_ail_of_number(truth ? 1.0f : 0.0f);
  operand.kind = TN_DATA_BOOLEAN;
  return operand;
}

static tn_ail_operand of_text(const tn_str *text) {
  return (tn_ail_operand){
    .kind = TN_DATA_UNKNOWN, .is_text = true, .text = text, .value = TN_NO_VALUE, .input = -1
  };
}

const tn_shape *tn_ail_shape_of(const tn_ail_walk *w, const tn_ail_operand *operand) {
  static const tn_shape scalar = { .rank = 0 };
  if (operand->value == TN_NO_VALUE || operand->value == TN_ERROR_VALUE) return &scalar;
  return &tn_build_type(w->builder, operand->value)->shape;
}

static tn_value refuse_text(tn_ail_walk *w, const tn_ail_operand *operand, tn_span at) {
  tn_ail_say(w, TN_DIAG_E_STRING_NOT_ALLOWED_IN_EXPRESSION, at, TN_TEXT("value", *operand->text));
  return TN_ERROR_VALUE;
}

/* A value that was not made by an operation of the program: a number, a cast. */
static tn_value kept(tn_ail_walk *w, tn_value value, tn_span at) {
  if (value != TN_ERROR_VALUE) return value;
  tn_fault fault = w->builder->fault;
  tn_build_forget(w->builder);
  tn_ail_site site = { .at = at };
  tn_ail_report_op_fault(w, &site, &fault, &fault.left.shape, &fault.right.shape);
  return TN_ERROR_VALUE;
}

tn_value tn_ail_as_value(tn_ail_walk *w, const tn_ail_operand *operand, tn_span at) {
  if (operand->wrong) return TN_ERROR_VALUE;
  if (operand->is_text) return refuse_text(w, operand, at);
  if (operand->value != TN_NO_VALUE) return operand->value;
  tn_dtype dtype = operand->kind == TN_DATA_BOOLEAN ? TN_BOOL : TN_F32;
  w->builder->at = at;
  return kept(w, tn_build_number(w->builder, dtype, (double)operand->number), at);
}

tn_value tn_ail_as_tensor(tn_ail_walk *w, const tn_ail_operand *operand, const tn_ail_site *site,
                          tn_span at) {
  if (!operand->wrong && !operand->is_text && operand->kind == TN_DATA_BOOLEAN) {
    tn_ail_say(w, TN_DIAG_E_BOOLEAN_USED_AS_TENSOR, at, tn_ail_function_field(site, TN_OP_ERROR));
    return TN_ERROR_VALUE;
  }
  tn_value value = tn_ail_as_value(w, operand, at);
  if (value == TN_ERROR_VALUE || operand->kind == TN_DATA_TENSOR) return value;
  w->builder->at = at;
  return kept(w, tn_build_cast(w->builder, value, TN_F32), at);
}

/* ---- booleans ---- */

static bool may_have_one_element(const tn_shape *shape) {
  for (int i = 0; i < shape->rank; i++) {
    if (tn_dim_is_known(shape->dim[i]) && shape->dim[i] != 1) return false;
  }
  return true;
}

tn_ail_operand tn_ail_as_boolean(tn_ail_walk *w, const tn_ail_operand *operand, tn_span at) {
  if (operand->wrong) return tn_ail_wrong();
  if (operand->is_text) return refuse_text(w, operand, at), tn_ail_wrong();
  if (operand->kind == TN_DATA_BOOLEAN) return *operand;
  if (operand->constant) return tn_ail_of_truth(operand->number != 0.0f);
  tn_shape shape = *tn_ail_shape_of(w, operand);
  tn_ail_note_site(w, &shape, &shape);
  if (w->stopped) return tn_ail_wrong();
  if (!may_have_one_element(&shape)) {
    tn_ail_named_shapes(w, &shape, &shape);
    tn_ail_say(w, TN_DIAG_E_TENSOR_USED_AS_BOOLEAN, at, tn_ail_shape_field(w, "shape", &shape));
    return tn_ail_wrong();
  }
  w->builder->at = at;
  tn_dtype dtype = tn_build_type(w->builder, operand->value)->dtype;
  tn_value zero = tn_build_number(w->builder, dtype, 0);
  return tn_ail_of_value(TN_DATA_BOOLEAN,
                         kept(w, tn_build_binary(w->builder, TN_OP_NE, operand->value, zero), at));
}

tn_ail_operand tn_ail_as_condition(tn_ail_walk *w, const tn_ail_operand *operand, tn_span at) {
  tn_ail_operand truth = tn_ail_as_boolean(w, operand, at);
  if (truth.wrong || truth.constant) return truth;
  tn_shape shape = *tn_ail_shape_of(w, &truth);
  tn_ail_note_site(w, &shape, &shape);
  if (w->stopped) return tn_ail_wrong();
  if (!may_have_one_element(&shape)) {
    tn_ail_named_shapes(w, &shape, &shape);
    tn_ail_say(w, TN_DIAG_E_IF_CONDITION_NOT_SCALAR, at, tn_ail_shape_field(w, "shape", &shape));
    return tn_ail_wrong();
  }
  if (w->unnamed && !tn_shape_is_known(&shape)) {
    tn_ail_get_stuck(w);
    return tn_ail_wrong();
  }
  if (w->typer)
    return tn_ail_of_value(TN_DATA_BOOLEAN, tn_typer_value(w->typer, TN_BOOL, &TN_SCALAR_SHAPE));
  w->builder->at = at;
  return tn_ail_of_value(TN_DATA_BOOLEAN,
                         kept(w, tn_build_reshape(w->builder, truth.value, &TN_SCALAR_SHAPE), at));
}

/* ---- bindings ---- */

static bool make_room(tn_ail_walk *w, tn_name name) {
  if (name < w->latest_count) return true;
  size_t count = (size_t)name + 1 + w->latest_count / 2;
  uint32_t *latest = tn_heap_resize(w->program->host->heap, w->latest, w->latest_count * sizeof *latest,
                                    count * sizeof *latest);
  if (!latest) return false;
  w->latest = latest;
  w->latest_count = count;
  return true;
}

static void out_of_memory(tn_ail_walk *w) {
  w->failed = w->stopped = true;
  w->program->arena.failed = true;
}

void tn_ail_bind(tn_ail_walk *w, tn_name name, const tn_ail_operand *operand) {
  tn_ail_binding binding = { *operand, name, w->frame, 0 };
  if (name == 0 || !make_room(w, name)) { /* 0: a name that there was no memory for */
    out_of_memory(w);
    return;
  }
  binding.hidden = w->latest[name];
  if (!tn_vec_push(w->program->host->heap, &w->bindings, binding)) {
    out_of_memory(w);
    return;
  }
  w->latest[name] = (uint32_t)w->bindings.count;
}

const tn_ail_operand *tn_ail_lookup(const tn_ail_walk *w, tn_name name) {
  if (name >= w->latest_count || w->latest[name] == 0) return NULL;
  const tn_ail_binding *binding = &w->bindings.at[w->latest[name] - 1];
  return binding->frame == w->frame ? &binding->operand : NULL;
}

size_t tn_ail_open_scope(const tn_ail_walk *w) { return w->bindings.count; }

void tn_ail_close_scope(tn_ail_walk *w, size_t scope) {
  while (w->bindings.count > scope) {
    const tn_ail_binding *binding = &w->bindings.at[--w->bindings.count];
    w->latest[binding->name] = binding->hidden;
  }
}

/* ---- names ---- */

static tn_ail_operand of_const(const tn_ail_walk *w, const tn_ail_const *constant) {
  switch (constant->kind) {
    case TN_AIL_CONST_NUMBER:
      return w->exact && constant->is_integer ? tn_ail_of_integer(constant->integer)
                                              : tn_ail_of_number((float)constant->number);
    case TN_AIL_CONST_BOOL: return tn_ail_of_truth(constant->number != 0);
    case TN_AIL_CONST_TEXT: return of_text(&constant->text);
    default: return tn_ail_wrong(); /* its value was not understood */
  }
}

/* Names that can be meant here, for a suggestion. */
static tn_str suggestion(const tn_ail_walk *w, tn_name wrong) {
  tn_map seen;
  if (!tn_ail_may_suggest(w->program)) return TN_LIT("");
  tn_map_init(&seen, w->program->host->heap);
  for (size_t i = w->bindings.count; i-- > 0 && seen.count < 200;) {
    const tn_ail_binding *binding = &w->bindings.at[i];
    if (binding->frame == w->frame && !tn_map_put(&seen, binding->name, 1)) break;
  }
  const tn_map *const maps[] = { &seen, &w->program->consts };
  tn_str meant = tn_ail_suggest(w->program, wrong, maps, 2);
  tn_map_free(&seen);
  return meant;
}

static tn_ail_operand unknown_name(tn_ail_walk *w, tn_name name, tn_span at) {
  const tn_ail_tree *tree = &w->program->tree;
  tn_str text = tn_ail_text_of(w->program, name);
  if (w->open_names || tn_ail_name_is(tree, name, TN_AIL_NAME_SKIPPED)) return tn_ail_wrong();
  if (tn_ail_name_is(tree, name, TN_AIL_NAME_LOOP_VARIABLE)) {
    tn_ail_say(w, TN_DIAG_E_LOOP_VAR_OUT_OF_SCOPE, at, TN_TEXT("name", text));
  } else {
    tn_ail_say(w, TN_DIAG_E_IDENTIFIER_NOT_FOUND, at, TN_TEXT("name", text),
               TN_TEXT("suggestion", suggestion(w, name)));
  }
  return tn_ail_wrong();
}

/* A function sees nothing from outside. */
static bool from_outside(tn_ail_walk *w, tn_name name, bool behind_constants, tn_ail_operand *out) {
  return w->outside && w->frame == 0 && w->outside(w, name, behind_constants, out);
}

static tn_ail_operand eval_name(tn_ail_walk *w, tn_name name, tn_span at) {
  const tn_ail_operand *bound = tn_ail_lookup(w, name);
  tn_ail_operand outer;
  if (bound) {
    tn_ail_operand operand = *bound;
    if (operand.input < 0) operand.origin = name;
    return operand;
  }
  if (from_outside(w, name, false, &outer)) return outer;
  const tn_ail_const *constant = tn_ail_find_const(w->program, name);
  if (constant) return of_const(w, constant);
  return from_outside(w, name, true, &outer) ? outer : unknown_name(w, name, at);
}

/* ---- operators ---- */

static const char *function_of(tn_ail_operator op) { return tn_op_sig_of(tn_ail_operation(op))->name; }

/* What the same operation would give at run time, in f32 or among integers of 64 bits, which wrap. `and` and
 * `or` are not among them: logic() */
static tn_ail_operand fold(tn_ail_operator op, float a, float b) {
  tn_element result = tn_scalar_binary(tn_ail_operation(op), TN_F32)((tn_element){ .f32 = a },
                                                                     (tn_element){ .f32 = b });
  return op <= TN_AIL_GE ? tn_ail_of_truth(result.boolean) : tn_ail_of_number(result.f32);
}

static tn_ail_operand fold_whole(tn_ail_operator op, int64_t a, int64_t b) {
  tn_element result = tn_scalar_binary(tn_ail_operation(op), TN_I64)((tn_element){ .i64 = a },
                                                                     (tn_element){ .i64 = b });
  return op <= TN_AIL_GE ? tn_ail_of_truth(result.boolean) : tn_ail_of_integer(result.i64);
}

/* One side that decides makes the whole a constant: false and x, true or x. */
static bool decides(tn_ail_operator op, const tn_ail_operand *side) {
  return side->constant && (side->number != 0.0f) == (op == TN_AIL_OR);
}

static tn_ail_operand logic(tn_ail_walk *w, tn_ail_operator op, const tn_ail_operand *left, tn_span left_at,
                            const tn_ail_operand *right, tn_span right_at) {
  tn_ail_operand a = tn_ail_as_boolean(w, left, left_at), b = tn_ail_as_boolean(w, right, right_at);
  if (a.wrong || b.wrong) return tn_ail_wrong();
  if (decides(op, &a) || decides(op, &b)) return tn_ail_of_truth(op == TN_AIL_OR);
  if (a.constant) return b;
  if (b.constant) return a;
  tn_ail_site site = { .at = tn_span_join(left_at, right_at), .function = function_of(op) };
  const tn_value in[] = { a.value, b.value };
  return tn_ail_of_value(TN_DATA_BOOLEAN, tn_ail_apply(w, &site, tn_ail_operation(op), in, 2, NULL));
}

static bool are_booleans(const tn_ail_operand *a, const tn_ail_operand *b) {
  return a->kind == TN_DATA_BOOLEAN && b->kind == TN_DATA_BOOLEAN;
}

static tn_ail_operand combine(tn_ail_walk *w, tn_ail_operator op, const tn_ail_operand *left, tn_span left_at,
                              const tn_ail_operand *right, tn_span right_at) {
  if (op == TN_AIL_OR || op == TN_AIL_AND) return logic(w, op, left, left_at, right, right_at);
  tn_ail_site site = { .at = tn_span_join(left_at, right_at), .function = function_of(op) };
  bool compares = op <= TN_AIL_GE;
  bool same = (op == TN_AIL_EQ || op == TN_AIL_NE) && are_booleans(left, right);
  bool numbers = left->kind == TN_DATA_TENSOR && right->kind == TN_DATA_TENSOR;
  if (left->whole && right->whole) return fold_whole(op, left->integer, right->integer);
  if (left->constant && right->constant && (numbers || same)) return fold(op, left->number, right->number);
  tn_value in[2];
  in[0] = same ? tn_ail_as_value(w, left, left_at) : tn_ail_as_tensor(w, left, &site, left_at);
  if (in[0] == TN_ERROR_VALUE && !left->wrong)
    return tn_ail_wrong(); /* one complaint about the pair is enough */
  in[1] = same ? tn_ail_as_value(w, right, right_at) : tn_ail_as_tensor(w, right, &site, right_at);
  tn_value value = tn_ail_apply(w, &site, tn_ail_operation(op), in, 2, NULL);
  return tn_ail_of_value(compares ? TN_DATA_BOOLEAN : TN_DATA_TENSOR, value);
}

/* Factors with a `/` among them are constants: the reference divides tensors with div. */
static tn_ail_operand eval_quotient(tn_ail_walk *w, const tn_ail_expr *expr) {
  const tn_ail_constants scope = tn_ail_scope_of(w);
  tn_ail_no_constant why;
  tn_ail_const value;
  if (tn_ail_constant(&scope, expr, &value, &why)) {
    if (!value.is_integer) return tn_ail_of_number((float)value.number);
    return w->exact ? tn_ail_of_integer(value.integer) : tn_ail_of_number((float)value.integer);
  }
  w->failed = true;
  const char *message = why.wanting ? "`/` divides constants; div(a, b) divides tensors" : why.reason;
  if (!w->quiet && !why.spoken_for) tn_ail_report_syntax(w->program, why.at, message);
  return tn_ail_wrong();
}

static bool divides(const tn_ail_chain *chain) {
  for (uint32_t i = 0; i < chain->count; i++) {
    if (chain->links[i].op == TN_AIL_DIV) return true;
  }
  return false;
}

static tn_ail_operand eval_chain(tn_ail_walk *w, const tn_ail_expr *expr) {
  const tn_ail_chain *chain = expr->as.chain;
  if (chain->links[0].op >= TN_AIL_MUL && divides(chain)) return eval_quotient(w, expr);
  tn_ail_operand left = tn_ail_evaluate(w, chain->first);
  tn_span left_at = chain->first->at;
  for (uint32_t i = 0; i < chain->count && !w->stopped; i++) {
    const tn_ail_link *link = &chain->links[i];
    tn_ail_operand right = tn_ail_evaluate(w, link->right);
    left = combine(w, link->op, &left, left_at, &right, link->right->at);
    left_at = tn_span_join(left_at, link->right->at);
  }
  return left;
}

static tn_ail_operand eval_negate(tn_ail_walk *w, const tn_ail_expr *expr) {
  tn_ail_operand of = tn_ail_evaluate(w, expr->as.unary.of);
  bool odd = expr->as.unary.count % 2 != 0;
  if (of.whole) return tn_ail_of_integer(odd ? tn_of_NEG_i64(of.integer) : of.integer);
  if (of.constant && of.kind == TN_DATA_TENSOR)
    return tn_ail_of_number(odd ? tn_of_NEG_f32(of.number) : of.number);
  tn_ail_site site = { .at = expr->at, .function = "neg" };
  tn_value value = tn_ail_as_tensor(w, &of, &site, expr->as.unary.of->at);
  if (odd) value = tn_ail_apply(w, &site, TN_OP_NEG, &value, 1, NULL);
  return tn_ail_of_value(TN_DATA_TENSOR, value);
}

static tn_ail_operand eval_not(tn_ail_walk *w, const tn_ail_expr *expr) {
  tn_ail_operand of = tn_ail_evaluate(w, expr->as.unary.of);
  tn_ail_operand truth = tn_ail_as_boolean(w, &of, expr->as.unary.of->at);
  if (truth.wrong || expr->as.unary.count % 2 == 0) return truth;
  if (truth.constant) return tn_ail_of_truth(truth.number == 0.0f);
  tn_ail_site site = { .at = expr->at, .function = "not" };
  return tn_ail_of_value(TN_DATA_BOOLEAN, tn_ail_apply(w, &site, TN_OP_NOT, &truth.value, 1, NULL));
}

/* ---- calls ---- */

static tn_ail_operand unknown_function(tn_ail_walk *w, const tn_ail_call *call) {
  const tn_map *const maps[] = { &w->program->functions, &w->program->builtins };
  for (uint32_t i = 0; i < call->count; i++) {
    const tn_ail_expr *value = call->args[i].value;
    if (value->form != TN_AIL_EXPR_LIST) tn_ail_evaluate(w, value); /* there may be more to say */
  }
  if (tn_ail_name_is(&w->program->tree, call->name, TN_AIL_NAME_SKIPPED)) return tn_ail_wrong();
  tn_ail_list_builtins(w->program);
  tn_str meant = tn_ail_suggest(w->program, call->name, maps, 2);
  tn_ail_say(w, TN_DIAG_E_FUNCTION_NOT_FOUND, call->name_at,
             TN_TEXT("function_name", tn_ail_text_of(w->program, call->name)), TN_TEXT("suggestion", meant));
  return tn_ail_wrong();
}

/* The statements of a body; the last value is the result. */
static tn_ail_operand eval_body(tn_ail_walk *w, const tn_ail_block *body) {
  tn_ail_operand result = tn_ail_wrong();
  tn_name target = w->target;
  for (uint32_t i = 0; i < body->count && !w->stopped; i++) {
    const tn_ail_statement *statement = &body->statements[i];
    bool names = statement->kind == TN_AIL_ASSIGN || statement->kind == TN_AIL_LET;
    if (statement->kind == TN_AIL_PARAM) continue; /* of a layer: bound before */
    w->target = names ? statement->name : 0;
    result = statement->value ? tn_ail_evaluate(w, statement->value) : tn_ail_wrong();
    if (names) tn_ail_bind(w, statement->name, &result);
    if (names) tn_outline_label(w->outline, result.value, statement->name);
    if (statement->kind == TN_AIL_RETURN) break;
  }
  w->target = target;
  return result;
}

tn_ail_operand tn_ail_walk_call(tn_ail_walk *w, const tn_ail_fn *fn, size_t first_arg) {
  const tn_ail_function *decl = fn->decl;
  size_t scope = tn_ail_open_scope(w);
  uint32_t frame = w->frame;
  bool open_names = w->open_names;
  tn_ail_layer_use use, *outer = w->use;
  w->program->fn_list[fn - w->program->fn_list].walked = true;
  w->frame = ++w->frames;
  w->open_names = false;
  for (uint32_t i = 0; i < decl->param_count; i++) {
    tn_ail_bind(w, decl->params[i].name, &w->stack.at[first_arg + i]);
  }
  bool opened = !decl->is_layer || tn_ail_open_use(w, fn, &use);
  tn_outline_enter(w->outline, decl->name, w->called);
  tn_ail_operand result = opened ? eval_body(w, &decl->body) : tn_ail_wrong();
  tn_outline_leave(w->outline, result.value);
  if (decl->is_layer) tn_ail_close_use(w, &use, outer);
  tn_ail_close_scope(w, scope);
  w->frame = frame;
  w->open_names = open_names;
  return result;
}

static bool too_many_calls(tn_ail_walk *w, tn_span at) {
  if (w->stopped) return true;
  if (++w->calls <= TN_AIL_WALK_CALL_LIMIT) return false;
  tn_ail_say(w, TN_DIAG_E_TOO_LARGE, at, TN_STR("what", "the number of expanded calls"),
             TN_INT("limit", TN_AIL_WALK_CALL_LIMIT));
  w->stopped = true;
  return true;
}

static tn_ail_operand eval_user_call(tn_ail_walk *w, const tn_ail_fn *fn, const tn_ail_expr *expr) {
  const tn_ail_call *call = expr->as.call;
  size_t first = w->stack.count;
  bool plain = true;
  for (uint32_t i = 0; i < call->count; i++) {
    const tn_ail_arg *arg = &call->args[i];
    bool layer = fn->decl->is_layer && arg->value != w->carried;
    tn_ail_operand operand = layer ? tn_ail_layer_argument(w, arg->value) : tn_ail_evaluate(w, arg->value);
    if (arg->key && plain)
      tn_ail_report_syntax(w->program, arg->key_at, "functions take their arguments by position");
    if (arg->key) plain = false, w->failed = true;
    if (!tn_vec_push(w->program->host->heap, &w->stack, operand)) out_of_memory(w);
  }
  tn_ail_operand result = tn_ail_wrong();
  if (call->count != fn->decl->param_count) {
    tn_ail_say(w, TN_DIAG_E_FUNCTION_ARITY_MISMATCH, expr->at, TN_INT("expected", fn->decl->param_count),
               TN_INT("received", call->count),
               TN_TEXT("function_name", tn_ail_text_of(w->program, call->name)));
  } else if (plain && !fn->recursive && !fn->refused && !w->program->arena.failed &&
             !too_many_calls(w, expr->at)) {
    tn_span called = w->called;
    w->called = expr->at;
    result = tn_ail_walk_call(w, fn, first);
    w->called = called;
  }
  w->stack.count = first;
  return result;
}

static tn_ail_operand eval_call(tn_ail_walk *w, const tn_ail_expr *expr) {
  const tn_ail_fn *fn = tn_ail_find_fn(w->program, expr->as.call->name);
  if (fn) return eval_user_call(w, fn, expr);
  int builtin = tn_ail_builtin_named(w->program, expr->as.call->name);
  return builtin >= 0 ? tn_ail_eval_builtin(w, (size_t)builtin, expr) : unknown_function(w, expr->as.call);
}

/* ---- expressions ---- */

static tn_ail_operand misplaced(tn_ail_walk *w, const tn_ail_expr *expr) {
  w->failed = true;
  tn_ail_report_syntax(w->program, expr->at,
                       expr->form == TN_AIL_EXPR_LIST
                           ? "a list is used where a value is needed"
                           : "`@` refers to a dimension in the shape of a reshape only");
  return tn_ail_wrong();
}

static tn_ail_operand of_number_literal(const tn_ail_walk *w, const tn_ail_expr *expr) {
  if (!expr->is_integer) return tn_ail_of_number((float)expr->as.number.value);
  int64_t integer = expr->as.number.integer;
  return w->exact ? tn_ail_of_integer(integer) : tn_ail_of_number((float)integer);
}

static tn_ail_operand evaluate(tn_ail_walk *w, const tn_ail_expr *expr) {
  switch (expr->form) {
    case TN_AIL_EXPR_NUMBER: return of_number_literal(w, expr);
    case TN_AIL_EXPR_STRING: return of_text(&expr->as.text);
    case TN_AIL_EXPR_BOOL: return tn_ail_of_truth(expr->as.truth);
    case TN_AIL_EXPR_NAME: return eval_name(w, expr->as.name, expr->at);
    case TN_AIL_EXPR_CALL: return eval_call(w, expr);
    case TN_AIL_EXPR_CHAIN: return eval_chain(w, expr);
    case TN_AIL_EXPR_NEGATE: return eval_negate(w, expr);
    case TN_AIL_EXPR_NOT: return eval_not(w, expr);
    case TN_AIL_EXPR_IF: return tn_ail_eval_if(w, expr);
    case TN_AIL_EXPR_FOR:
    case TN_AIL_EXPR_REPEAT:
    case TN_AIL_EXPR_REDUCE: return tn_ail_eval_loop(w, expr);
    default: return misplaced(w, expr); /* a list or a reference */
  }
}

static TN_OWN_FRAME tn_ail_operand too_deep(tn_ail_walk *w, const tn_ail_expr *expr, bool room) {
  static const char what[] = "the expression, with its calls expanded,";
  if (room)
    tn_ail_say(w, TN_DIAG_E_NESTING_LIMIT, expr->at, TN_INT("limit", TN_AIL_WALK_DEPTH_LIMIT),
               TN_STR("what", what));
  else if (!w->quiet)
    tn_report_stack(w->program->host->diags, expr->at, what);
  w->failed = w->stopped = true;
  return tn_ail_wrong();
}

tn_ail_operand tn_ail_evaluate(tn_ail_walk *w, const tn_ail_expr *expr) {
  if (w->stopped) return tn_ail_wrong();
  if (expr == w->carried) return w->carry;
  bool room = tn_stack_room(&w->program->host->heap->stack);
  if (w->depth >= TN_AIL_WALK_DEPTH_LIMIT || !room) return too_deep(w, expr, room);
  w->depth++;
  tn_ail_operand operand = evaluate(w, expr);
  w->depth--;
  return operand;
}

/* ---- the whole program ---- */

void tn_ail_walk_init(tn_ail_walk *w, tn_ail *program, tn_builder *builder) {
  *w = (tn_ail_walk){ .program = program, .builder = builder };
  tn_map_init(&w->model.next, program->host->heap);
}

void tn_ail_walk_free(tn_ail_walk *w) {
  tn_heap *heap = w->program->host->heap;
  tn_heap_free(heap, w->latest, w->latest_count * sizeof *w->latest);
  tn_vec_free(heap, &w->bindings);
  tn_vec_free(heap, &w->stack);
  tn_vec_free(heap, &w->pending);
  tn_vec_free(heap, &w->parts);
  tn_map_free(&w->model.next);
}

const tn_ail_operand *tn_ail_bound_anywhere(const tn_ail_walk *w, tn_name name) {
  bool bound = name < w->latest_count && w->latest[name] > 0;
  return bound ? &w->bindings.at[w->latest[name] - 1].operand : NULL;
}

tn_ail_operand tn_ail_make_spec(tn_ail_walk *w, const tn_tensor_spec *spec, const tn_shape *shape, bool param,
                                int32_t index) {
  tn_type type = { spec->type.dtype, *shape };
  if (spec->broken) return tn_ail_wrong();
  w->builder->at = spec->at;
  tn_value value =
      param ? tn_build_param(w->builder, spec->name, &type) : tn_build_input(w->builder, spec->name, &type);
  tn_ail_operand operand = tn_ail_of_value(spec->kind, kept(w, value, spec->at));
  operand.origin = spec->name;
  operand.input = param ? -1 : index;
  return operand;
}

static void bind_spec(tn_ail_walk *w, const tn_tensor_spec *spec, const tn_shape *shape, bool param,
                      int32_t index) {
  tn_ail_operand operand = tn_ail_make_spec(w, spec, shape, param, index);
  tn_ail_bind(w, spec->name, &operand);
}

void tn_ail_walk_specs(tn_ail_walk *w) {
  const tn_ail *program = w->program;
  for (size_t i = 0; i < program->input_count; i++) {
    const tn_shape *shape = w->sizes ? &w->sizes->inputs[i] : &program->inputs[i].type.shape;
    bind_spec(w, &program->inputs[i], shape, false, (int32_t)i);
  }
  for (size_t i = 0; i < program->param_count; i++) {
    const tn_shape *shape = w->sizes ? &w->sizes->params[i] : &program->params[i].type.shape;
    bind_spec(w, &program->params[i], shape, true, (int32_t)i);
  }
}

/* An unknown name after `return` has a code of its own. */
static tn_ail_operand eval_return(tn_ail_walk *w, const tn_ail_expr *value) {
  w->target = 0;
  bool name = value->form == TN_AIL_EXPR_NAME;
  if (!name || tn_ail_lookup(w, value->as.name) || tn_ail_find_const(w->program, value->as.name) ||
      tn_ail_name_is(&w->program->tree, value->as.name, TN_AIL_NAME_SKIPPED)) {
    tn_ail_operand result = tn_ail_evaluate(w, value);
    return result.is_text ? tn_ail_of_value(TN_DATA_UNKNOWN, refuse_text(w, &result, value->at)) : result;
  }
  tn_ail_say(w, TN_DIAG_E_RETURN_NOT_FOUND, value->at,
             TN_TEXT("name", tn_ail_text_of(w->program, value->as.name)),
             TN_TEXT("suggestion", suggestion(w, value->as.name)));
  return tn_ail_wrong();
}

/* Inputs and parameters are bound beforehand. The output of a model is its last assignment, or the
 * last to `logits`; a block that returns has what it returns. */
static tn_ail_operand walk_statements(tn_ail_walk *w, const tn_ail_block *block) {
  tn_ail_operand output = tn_ail_wrong();
  bool logits = false;
  for (uint32_t i = 0; i < block->count && !w->stopped; i++) {
    const tn_ail_statement *statement = &block->statements[i];
    if (statement->kind == TN_AIL_RETURN) return eval_return(w, statement->value);
    if (statement->kind != TN_AIL_ASSIGN && statement->kind != TN_AIL_LET) continue;
    w->target = statement->name;
    tn_ail_operand value = statement->value ? tn_ail_evaluate(w, statement->value) : tn_ail_wrong();
    if (value.is_text) refuse_text(w, &value, statement->value->at), value = tn_ail_wrong();
    tn_ail_bind(w, statement->name, &value);
    tn_outline_label(w->outline, value.value, statement->name);
    if (statement->name == w->program->known.logits) logits = true;
    if (!logits || statement->name == w->program->known.logits) output = value;
  }
  w->target = 0;
  return output;
}

tn_ail_operand tn_ail_walk_main(tn_ail_walk *w) {
  return w->program->main ? walk_statements(w, w->program->main) : tn_ail_wrong();
}

tn_ail_operand tn_ail_walk_loss(tn_ail_walk *w) {
  const tn_ail *program = w->program;
  if (program->loss_refused) return tn_ail_wrong();
  w->target = program->known.loss;
  if (program->loss) return tn_ail_evaluate(w, program->loss);
  return program->loss_block ? walk_statements(w, program->loss_block) : tn_ail_wrong();
}
