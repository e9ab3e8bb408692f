/* lang/mind/check_expression.c: types of operators, names, lists and fields.
 *
 * A chain of operators or calls is walked from its first operand up; each step
 * finds the type of its left side already there. An operator on a tensor is
 * checked as a call of the library. */
#include "lang/mind/check.h"
#include "op/scalar.h"

/* ---- binary operators ---- */

typedef struct {
  tn_mind_checker *c;
  tn_mind_node *node;
  const tn_mind_type *left, *right;
  tn_op op;
  tn_span at;
} operation;

static const tn_mind_type *not_alike(const operation *o) {
  tn_str hint = tn_mind_conversion_hint(o->left, o->right);
  return tn_mind_wrong(tn_mind_types_differ(o->c->mind, o->at, o->left, o->right, 0, hint));
}

static bool is_equality(tn_op op) { return op == TN_OP_EQ || op == TN_OP_NE; }

/* Of integers that are both known; NULL: the divisor is 0. */
static const tn_mind_type *known_result(const operation *o, const tn_mind_type *common) {
  tn_mind_number left = { .dtype = common->dtype, .integer = o->left->integer };
  tn_mind_number right = { .dtype = common->dtype, .integer = o->right->integer }, result;
  if (!tn_mind_number_binary(o->op, left, right, &result)) return NULL;
  bool literal = common->literal && result.dtype == common->dtype;
  return tn_mind_type_known(o->c->mind->arena, result.dtype, result.integer, literal);
}

static const tn_mind_type *scalars(const operation *o) {
  bool left_bool = o->left->dtype == TN_BOOL, right_bool = o->right->dtype == TN_BOOL;
  if (o->op == TN_OP_MATMUL) return tn_mind_wrong(tn_mind_expected(o->c->mind, o->at, "tensors", o->left));
  o->node->dtype = TN_BOOL;
  if (left_bool && right_bool && is_equality(o->op)) return tn_mind_type_scalar(TN_BOOL);
  if (left_bool || right_bool)
    return tn_mind_wrong(tn_mind_expected(o->c->mind, o->at, "a number", tn_mind_type_scalar(TN_BOOL)));
  const tn_mind_type *common =
      tn_mind_unify_scalars(o->c, o->left, o->node->left, o->right, o->node->right);
  if (!common) return not_alike(o);
  o->node->dtype = common->dtype;
  bool fold = o->left->known && o->right->known && tn_dtype_in(common->dtype, TN_INTS);
  const tn_mind_type *known = fold ? known_result(o, common) : NULL;
  if (known) return known;
  tn_dtype gives = tn_scalar_gives(o->op, common->dtype);
  return gives == common->dtype ? common : tn_mind_type_scalar(gives);
}

static const tn_mind_type *check_binary(tn_mind_checker *c, tn_mind_node *node) {
  operation o = {
    .c = c, .node = node, .op = tn_mind_operator_op(node->op), .at = tn_mind_here(c, node)
  };
  o.left = node->left->type;
  o.right = tn_mind_check_expression(c, node->right);
  if (o.left->kind == TN_MIND_T_ERROR || o.right->kind == TN_MIND_T_ERROR) return &tn_mind_type_error;
  bool strings = o.left->kind == TN_MIND_T_STRING && o.right->kind == TN_MIND_T_STRING;
  if (strings && is_equality(o.op)) return tn_mind_type_scalar(TN_BOOL);
  for (int i = 0; i < 2; i++) {
    const tn_mind_type *side = i ? o.right : o.left;
    if (tn_mind_type_is_value(side)) continue;
    return tn_mind_wrong(tn_mind_expected(c->mind, o.at, "a number or a tensor", side));
  }
  if (o.left->kind == TN_MIND_T_SCALAR && o.right->kind == TN_MIND_T_SCALAR) return scalars(&o);
  node->dtype = (o.left->kind == TN_MIND_T_TENSOR ? o.left : o.right)->dtype;
  tn_mind_given args[] = { { node->left, o.left }, { node->right, o.right } };
  tn_mind_entry entry = tn_mind_operator_entry(o.op, 2);
  return tn_mind_check_library(c, &entry, args, NULL, o.at);
}

/* ---- unary operators, conditions ---- */

static const tn_mind_type *negated(tn_mind_checker *c, const tn_mind_type *type) {
  if (!type->known) return type;
  if (tn_dtype_in(type->dtype, TN_FLOATS)) {
    return tn_mind_type_known_float(c->mind->arena, type->dtype, -type->number, type->literal);
  }
  tn_mind_number x =
      tn_mind_number_negate((tn_mind_number){ .dtype = type->dtype, .integer = type->integer });
  return tn_mind_type_known(c->mind->arena, type->dtype, x.integer, type->literal);
}

static const tn_mind_type *check_unary(tn_mind_checker *c, tn_mind_node *node) {
  const tn_mind_type *type = node->left->type;
  bool negates = node->op == TN_MIND_NEG;
  if (type->kind == TN_MIND_T_ERROR) return type;
  if (type->kind == TN_MIND_T_SCALAR && !negates) return tn_mind_type_scalar(TN_BOOL);
  if (type->kind == TN_MIND_T_SCALAR && type->dtype != TN_BOOL) return negated(c, type);
  if (type->kind != TN_MIND_T_TENSOR) {
    return tn_mind_wrong(tn_mind_expected(c->mind, tn_mind_here(c, node),
                                          negates ? "a number or a tensor" : "a truth value", type));
  }
  tn_mind_entry entry = tn_mind_operator_entry(tn_mind_operator_op(node->op), 1);
  return tn_mind_check_library(c, &entry, &(tn_mind_given){ node->left, type }, NULL, tn_mind_here(c, node));
}

void tn_mind_check_condition(tn_mind_checker *c, tn_mind_node *node, const tn_mind_type *type) {
  if (type->kind == TN_MIND_T_ERROR || tn_mind_type_is_single(type)) return;
  tn_mind_expected(c->mind, tn_mind_at(c->unit, node->from, node->to), "a single bool or number", type);
}

static const tn_mind_type *check_logic(tn_mind_checker *c, tn_mind_node *node) {
  tn_mind_checker saved;
  tn_mind_check_condition(c, node->left, node->left->type);
  tn_mind_branch_begin(c, &saved);
  tn_mind_check_condition(c, node->right, tn_mind_check_expression(c, node->right));
  tn_mind_change *ways[] = { tn_mind_branch_end(c, &saved), NULL };
  tn_mind_join_ways(c, ways, 2, tn_mind_here(c, node));
  return tn_mind_type_scalar(TN_BOOL);
}

/* ---- names ---- */

static bool is_callee(const tn_mind_node *node) {
  return node->up && node->up->kind == TN_MIND_CALL && node->up->left == node;
}

static bool is_qualifier(const tn_mind_node *node) {
  return node->up && node->up->kind == TN_MIND_FIELD && node->up->left == node && node->up->field.word.name;
}

const tn_mind_type *tn_mind_function_type(tn_mind_checker *c, tn_mind_callable callable) {
  const tn_mind_callable *kept = tn_arena_copy(c->mind->arena, &callable, sizeof callable);
  return kept ? tn_mind_type_fn(c->mind->arena, kept) : &tn_mind_type_error;
}

/* The place where a callable of a name is kept is the function itself or the table. */
static const tn_mind_type *fn_of(tn_mind_checker *c, tn_mind_function *function) {
  if (function->failed) return &tn_mind_type_error;
  tn_mind_enqueue(c->mind, function);
  return tn_mind_function_type(c, (tn_mind_callable){ .kind = TN_MIND_C_FUNCTION, .function = function });
}

static const tn_mind_type *library_type(tn_mind_checker *c, const tn_mind_entry *entry) {
  return tn_mind_function_type(c, (tn_mind_callable){ .kind = TN_MIND_C_LIBRARY, .entry = entry });
}

/* tensor.sum is the library's, whatever `tensor` may be here. */
static bool is_library_prefix(const tn_mind_checker *c, const tn_mind_node *node) {
  if (!is_qualifier(node) || !tn_str_is(tn_mind_name_text(c, node->name.name), "tensor")) return false;
  return tn_mind_library_find(tn_mind_name_text(c, node->up->field.word.name)) ||
         !tn_mind_lookup(c, node->name.name);
}

/* Whether the name is what a `let` gives to a closure around: it has no meaning there yet. */
static bool names_itself(const tn_mind_checker *c, tn_name name, const tn_mind_variable *variable) {
  for (const tn_mind_function *f = c->function; f && f->closure; f = f->outer) {
    bool here = variable && variable->unit == f->unit; /* else what it was bound to may be gone */
    if (variable ? here && f->closure->node == variable->value : f->closure->name == name) return true;
  }
  return false;
}

static const tn_mind_type *recursive_closure(tn_mind_checker *c, const tn_mind_node *node) {
  return tn_mind_wrong(tn_report(
      tn_mind_diags(c), TN_DIAG_E2002, tn_mind_here(c, node),
      TN_TEXT("name", tn_mind_name_text(c, node->name.name)),
      TN_HINT(TN_LIT("a closure has no name inside itself; a function that calls itself is a `fn`, as "
                     "in `fn f(n: i32) -> i32 = ...`"))));
}

/* What Python calls so; else the name that is near. */
static tn_str meant_by(const tn_mind_checker *c, tn_str name) {
  if (tn_str_is(name, "True")) return TN_LIT("true");
  if (tn_str_is(name, "False")) return TN_LIT("false");
  return tn_mind_suggest(c, name, false);
}

static const tn_mind_type *unknown_name(tn_mind_checker *c, const tn_mind_node *node) {
  tn_str text = tn_mind_name_text(c, node->name.name);
  if (tn_mind_is_doubtful(c->unit, node->name.name)) return &tn_mind_type_error;
  return tn_mind_wrong(tn_report(tn_mind_diags(c), TN_DIAG_E2002, tn_mind_here(c, node),
                                 TN_TEXT("name", text),
                                 TN_TEXT("suggestion", meant_by(c, text))));
}

/* A closure that nothing calls runs at no known time: nothing is known of a variable that is assigned again.
 */
static const tn_mind_type *variable_type(tn_mind_checker *c, tn_mind_variable *variable) {
  bool from_function = c->function && variable->owner != c->function;
  if (c->idle && from_function) return variable->assigned ? &tn_mind_type_error : variable->type;
  if (c->function && !variable->owner) variable->fixed = true;
  return variable->type;
}

/* NULL: a module or the library in front of a point, or a call of what does not exist, which
 * the call reports. */
static const tn_mind_type *check_name(tn_mind_checker *c, tn_mind_node *node) {
  tn_name name = node->name.name;
  node->name.variable = NULL;
  node->name.function = NULL;
  node->name.library = NULL;
  node->name.dimension = false;
  if (is_library_prefix(c, node)) return NULL;
  if (tn_mind_is_dimension(c, name)) {
    node->name.dimension = true;
    return tn_mind_type_scalar(TN_I32);
  }
  const tn_mind_scope *found = tn_mind_lookup(c, name);
  tn_mind_variable *variable = found && found->binds == TN_MIND_BINDS_VARIABLE ? found->variable : NULL;
  if ((variable || !found) && names_itself(c, name, variable)) return recursive_closure(c, node);
  if (variable) {
    node->name.variable = found->variable;
    tn_mind_use(c, found->variable);
    return variable_type(c, found->variable);
  }
  if (found && found->binds == TN_MIND_BINDS_FUNCTION) {
    node->name.function = found->function;
    return fn_of(c, found->function);
  }
  if (found) {
    if (is_qualifier(node)) return NULL;
    return tn_mind_wrong(tn_report(tn_mind_diags(c), TN_DIAG_E2001, tn_mind_here(c, node),
                                   TN_STR("expected", "a value"), TN_STR("got", "a module"),
                                   TN_TEXT("name", tn_mind_name_text(c, name))));
  }
  node->name.library = tn_mind_library_find(tn_mind_name_text(c, name));
  if (node->name.library) return library_type(c, node->name.library);
  return is_callee(node) ? NULL : unknown_name(c, node);
}

/* ---- fields ---- */

static const tn_mind_type *module_member(tn_mind_checker *c, tn_mind_node *node,
                                         const tn_mind_module *module) {
  tn_span at = tn_mind_word_span(c->unit, &node->field.word);
  if (module->failed) return &tn_mind_type_error;
  const tn_mind_scope *found = tn_mind_export_find(c->mind, module, node->field.word.name, at);
  if (!found) return &tn_mind_type_error;
  if (found->binds == TN_MIND_BINDS_FUNCTION) {
    node->field.function = found->function;
    return fn_of(c, found->function);
  }
  node->field.variable = found->variable;
  tn_mind_use(c, found->variable);
  return found->variable->type;
}

/* `tensor.name`, `module.name`: nothing stands to the left of the point that has a value. */
static const tn_mind_type *check_qualified(tn_mind_checker *c, tn_mind_node *node) {
  tn_name prefix = node->left->name.name;
  const tn_mind_scope *found = is_library_prefix(c, node->left) ? NULL : tn_mind_lookup(c, prefix);
  if (found) return module_member(c, node, found->module);
  node->field.library = tn_mind_library_find(tn_mind_name_text(c, node->field.word.name));
  if (node->field.library) return library_type(c, node->field.library);
  if (is_callee(node)) return NULL;
  tn_str text = tn_mind_name_text(c, node->field.word.name);
  return tn_mind_wrong(tn_report(tn_mind_diags(c), TN_DIAG_E2003,
                                 tn_mind_word_span(c->unit, &node->field.word), TN_TEXT("name", text),
                                 TN_TEXT("suggestion", tn_mind_suggest(c, text, true))));
}

static const tn_mind_type *check_record_field(tn_mind_checker *c, tn_mind_node *node,
                                              const tn_mind_type *record) {
  tn_str wanted = tn_mind_name_text(c, node->field.word.name);
  tn_str *names = tn_arena_array(c->mind->arena, record->count, sizeof *names);
  for (uint32_t i = 0; i < record->count; i++) {
    if (record->names[i] == node->field.word.name) return record->items[i];
    if (names) names[i] = tn_mind_name_text(c, record->names[i]);
  }
  tn_str near = names ? tn_str_suggest(wanted, names, record->count) : TN_LIT("");
  return tn_mind_wrong(tn_report(tn_mind_diags(c), TN_DIAG_E2001, tn_mind_here(c, node),
                                 TN_STR("expected", "a field of the record"), TN_TEXT("got", wanted),
                                 TN_TEXT("suggestion", near)));
}

int64_t tn_mind_item_count(const tn_mind_type *type) {
  return type->kind == TN_MIND_T_SHAPE ? (int64_t)type->shape.rank : (int64_t)type->count;
}

const tn_mind_type *tn_mind_item_type(tn_mind_checker *c, const tn_mind_type *type, int64_t index,
                                      tn_span at) {
  if (!tn_mind_position(c->mind, index, tn_mind_item_count(type), at, &index)) return &tn_mind_type_error;
  if (type->kind != TN_MIND_T_SHAPE) return type->items[index];
  int64_t dim = type->shape.dim[index];
  if (!tn_dim_is_known(dim)) return tn_mind_type_scalar(TN_I32);
  if (!tn_mind_size_fits(c->mind, dim, &type->shape, 0, at)) return &tn_mind_type_error;
  return tn_mind_type_known(c->mind->arena, TN_I32, dim, false);
}

bool tn_mind_has_positions(const tn_mind_type *type) {
  return type->kind == TN_MIND_T_TUPLE || type->kind == TN_MIND_T_LIST || type->kind == TN_MIND_T_SHAPE;
}

static const tn_mind_type *check_field(tn_mind_checker *c, tn_mind_node *node) {
  const tn_mind_type *left = node->left->type;
  node->field.variable = NULL;
  node->field.function = NULL;
  node->field.library = NULL;
  if (!left) return check_qualified(c, node);
  if (left->kind == TN_MIND_T_ERROR) return left;
  if (!node->field.word.name) {
    if (tn_mind_has_positions(left))
      return tn_mind_item_type(c, left, node->field.index, tn_mind_here(c, node));
    return tn_mind_wrong(tn_mind_expected(c->mind, tn_mind_here(c, node), "a tuple", left));
  }
  if (left->kind == TN_MIND_T_GRAD && !is_callee(node)) return check_record_field(c, node, left);
  if (is_callee(node)) return NULL; /* a method; the call looks for it */
  return tn_mind_wrong(tn_mind_expected(c->mind, tn_mind_here(c, node), "a record", left));
}

/* x[i] of a tuple, a list or a shape needs an index that is known; tensors are the library's. */
const tn_mind_type *tn_mind_check_index(tn_mind_checker *c, tn_mind_node *node) {
  const tn_mind_type *left = node->left->type;
  tn_mind_node *index = node->call.args;
  if (!tn_mind_has_positions(left) || node->call.count != 1)
    return tn_mind_wrong(tn_mind_expected(c->mind, tn_mind_here(c, node), "a tensor", left));
  const tn_mind_type *type = tn_mind_check_expression(c, index);
  if (type->kind == TN_MIND_T_ERROR) return type;
  bool whole = type->kind == TN_MIND_T_SCALAR && tn_dtype_in(type->dtype, TN_INTS);
  if (whole && left->kind == TN_MIND_T_SHAPE && !type->known) return tn_mind_type_scalar(TN_I32);
  if (tn_mind_type_is_single(type) && tn_dtype_in(type->dtype, TN_FLOATS))
    return tn_mind_wrong(
        tn_mind_refuse_dtype(c->mind, tn_mind_here(c, node), "index", "i32 or i64", type->dtype));
  if (!whole || !type->known) {
    return tn_mind_wrong(tn_mind_expected(c->mind, tn_mind_here(c, index),
                                          "an integer that is known before the program runs", type));
  }
  return tn_mind_item_type(c, left, type->integer, tn_mind_here(c, node));
}

/* ---- lists and tuples ---- */

/* What the elements of a tensor that is written out have in common. */
typedef struct {
  tn_mind_checker *c;
  tn_mind_node *list; /* all of it */
  bool numbers, truths;
} data;

static bool ragged(data *d, tn_mind_node *row, int64_t expected, int64_t got) {
  return tn_report(tn_mind_diags(d->c), TN_DIAG_E2104, tn_mind_here(d->c, d->list),
                   TN_INT("expected", expected), TN_INT("got", got),
                   TN_HINT(TN_LIT("the rows of a tensor are equally long")),
                   TN_NOTE(tn_mind_at(d->c->unit, row->from, row->to), "this row has {got} elements"));
}

/* [1, 2, [3]]: the first element that is as deep is a number where `item` is a row, or the reverse. */
static bool uneven(data *d, const tn_mind_node *item, int depth) {
  const tn_mind_node *first = d->list->list.items;
  bool row = item->kind == TN_MIND_LIST;
  for (int i = 0; i < depth; i++) first = first->list.items;
  return tn_report(
      tn_mind_diags(d->c), TN_DIAG_E2104, tn_mind_here(d->c, d->list),
      TN_STR("expected", row ? "a number" : "a row"), TN_STR("got", row ? "a row" : "a number"),
      TN_STR("problem", row ? "a row is mixed with numbers" : "a number is mixed with rows"),
      TN_HINT(TN_LIT("the elements of a list are all numbers, or all rows of the same length")),
      TN_NOTE(tn_mind_at(d->c->unit, first->from, first->to), row ? "a number" : "a row"),
      TN_NOTE(tn_mind_at(d->c->unit, item->from, item->to), row ? "a row" : "a number"));
}

static bool check_element(data *d, tn_mind_node *item) {
  const tn_mind_type *type = item->type;
  tn_span at = tn_mind_at(d->c->unit, item->from, item->to);
  if (!tn_mind_type_is_single(type)) return tn_mind_expected(d->c->mind, at, "a number", type);
  *(type->dtype == TN_BOOL ? &d->truths : &d->numbers) = true;
  if (!d->truths || !d->numbers) return true;
  return tn_mind_expected(d->c->mind, at, type->dtype == TN_BOOL ? "a number" : "a truth value", type);
}

/* The sizes below `list`, whose elements have been given types.
 * recursion: TN_RANK_LIMIT deep. */
static bool data_shape(data *d, tn_mind_node *list, int depth, tn_shape *shape) {
  bool first = shape->rank <= depth;
  if (!tn_mind_refuse_rank(d->c->mind, depth + 1, tn_mind_here(d->c, d->list))) return false;
  if (first)
    shape->dim[shape->rank++] = list->list.count;
  else if (shape->dim[depth] != list->list.count)
    return ragged(d, list, shape->dim[depth], list->list.count);
  for (tn_mind_node *item = list->list.items; item; item = item->next) {
    bool nested = item->kind == TN_MIND_LIST,
         leaf = depth + 1 == shape->rank && !(first && item == list->list.items);
    if (!nested && item->type->kind == TN_MIND_T_ERROR) return false; /* it may be a row */
    if (nested && leaf) return uneven(d, item, depth);
    if (!nested && depth + 1 < shape->rank) return uneven(d, item, depth);
    if (nested ? !data_shape(d, item, depth + 1, shape) : !check_element(d, item)) return false;
  }
  return true;
}

static const tn_mind_type *data_type(tn_mind_checker *c, tn_mind_node *list) {
  data d = { .c = c, .list = list };
  tn_shape shape = { 0 };
  if (!data_shape(&d, list, 0, &shape)) return &tn_mind_type_error;
  if (!tn_mind_refuse_empty(c->mind, &shape, tn_mind_here(c, list))) return &tn_mind_type_error;
  tn_mind_type type = { .kind = TN_MIND_T_TENSOR, .literal = !d.truths, .fresh = true, .shape = shape };
  type.dtype = d.truths ? TN_BOOL : TN_F32;
  list->list.is_data = true;
  return tn_mind_type_keep(c->mind->arena, &type);
}

/* Types of all elements, down to those that are not lists. True when one is a tensor with
 * dimensions: then it is a list of tensors.
 * recursion: lists in lists, TN_MIND_NESTING_LIMIT deep. */
static bool check_elements(tn_mind_checker *c, tn_mind_node *list) {
  bool tensors_inside = false;
  for (tn_mind_node *item = list->list.items; item; item = item->next) {
    if (item->kind == TN_MIND_LIST) {
      if (check_elements(c, item)) tensors_inside = true;
      continue;
    }
    const tn_mind_type *type = tn_mind_check_expression(c, item);
    tensors_inside |= type->kind == TN_MIND_T_TENSOR && type->shape.rank > 0;
  }
  return tensors_inside;
}

static const tn_mind_type *list_type(tn_mind_checker *c, tn_mind_node *list);

/* Only here types become larger than those they are made of. */
static const tn_mind_type *within_limits(tn_mind_checker *c, const tn_mind_node *node,
                                         const tn_mind_type *type) {
  if (type->kind == TN_MIND_T_ERROR) return type;
  if (type->depth > TN_MIND_LEVELS_LIMIT) {
    return tn_mind_wrong(tn_report(tn_mind_diags(c), TN_DIAG_E_NESTING_LIMIT, tn_mind_here(c, node),
                                   TN_INT("limit", TN_MIND_LEVELS_LIMIT), TN_STR("what", "this tuple")));
  }
  if (type->parts <= TN_MIND_PARTS_LIMIT) return type;
  return tn_mind_wrong(tn_report(tn_mind_diags(c), TN_DIAG_E_TOO_LARGE, tn_mind_here(c, node),
                                 TN_STR("what", "a tuple, with all that its items hold,"),
                                 TN_INT("limit", TN_MIND_PARTS_LIMIT),
                                 TN_INT("requested", (int64_t)type->parts)));
}

/* recursion: lists in lists, TN_MIND_NESTING_LIMIT deep. */
static const tn_mind_type *items_type(tn_mind_checker *c, tn_mind_node *node, tn_mind_type_kind kind) {
  const tn_mind_type **items = tn_arena_array(c->mind->arena, node->list.count, sizeof *items);
  uint32_t count = 0;
  bool failed = !items;
  for (tn_mind_node *item = node->list.items; items && item; item = item->next) {
    if (item->kind == TN_MIND_LIST && !item->type) item->type = list_type(c, item);
    items[count] = tn_mind_bound_type(c->mind, item->type);
    failed |= items[count++]->kind == TN_MIND_T_ERROR;
  }
  if (failed) return &tn_mind_type_error;
  return within_limits(c, node, tn_mind_type_items(c->mind->arena, kind, items, NULL, count));
}

/* Of a list whose elements have types. */
static const tn_mind_type *list_type(tn_mind_checker *c, tn_mind_node *list) {
  bool of_tensors = false;
  for (tn_mind_node *item = list->list.items; item; item = item->next) {
    if (item->kind == TN_MIND_LIST) continue;
    of_tensors |= item->type->kind == TN_MIND_T_TENSOR && item->type->shape.rank > 0;
  }
  return of_tensors ? items_type(c, list, TN_MIND_T_LIST) : data_type(c, list);
}

static const tn_mind_type *check_list(tn_mind_checker *c, tn_mind_node *node) {
  check_elements(c, node);
  return list_type(c, node);
}

static const tn_mind_type *check_tuple(tn_mind_checker *c, tn_mind_node *node) {
  for (tn_mind_node *item = node->list.items; item; item = item->next) tn_mind_check_expression(c, item);
  if (node->list.count == 0) return &tn_mind_type_unit;
  return items_type(c, node, TN_MIND_T_TUPLE);
}

/* ---- all of them ---- */

static const tn_mind_type *check_number(tn_mind_checker *c, tn_mind_node *node) {
  if (node->is_float) return tn_mind_type_known_float(c->mind->arena, TN_F64, node->number, true);
  bool narrow = node->integer == (int32_t)node->integer;
  return tn_mind_type_known(c->mind->arena, narrow ? TN_I32 : TN_I64, node->integer, true);
}

static bool repeats_param(tn_mind_checker *c, const tn_mind_node *closure) {
  bool repeats = false;
  tn_mind_begin_names(c->mind);
  for (uint32_t i = 0; i < closure->closure.count && !repeats; i++)
    repeats = tn_mind_repeats(c, &closure->closure.params[i].word, i, "two parameters have the same name");
  return repeats;
}

static const tn_mind_type *check_closure(tn_mind_checker *c, tn_mind_node *node) {
  tn_mind_closure *state = tn_arena_new(c->mind->arena, tn_mind_closure);
  if (!state || repeats_param(c, node)) return &tn_mind_type_error;
  *state = (tn_mind_closure){ .scope = c->locals,
                              .function = c->function,
                              .unit = c->unit,
                              .order = c->module->entry_count,
                              .node = node,
                              .next = c->mind->closures };
  c->mind->closures = state;
  node->closure.state = state;
  return tn_mind_function_type(c, (tn_mind_callable){ .kind = TN_MIND_C_CLOSURE, .closure = node });
}

/* One node whose left side has its type. NULL only for what stands before a point or a call. */
static const tn_mind_type *check_one(tn_mind_checker *c, tn_mind_node *node) {
  switch ((tn_mind_kind)node->kind) {
    case TN_MIND_NUMBER: return check_number(c, node);
    case TN_MIND_STRING: return tn_mind_type_text(c->mind->arena, node->text);
    case TN_MIND_TRUTH: return tn_mind_type_known(c->mind->arena, TN_BOOL, node->op, false);
    case TN_MIND_NAME: return check_name(c, node);
    case TN_MIND_TUPLE: return check_tuple(c, node);
    case TN_MIND_LIST: return check_list(c, node);
    case TN_MIND_UNARY: return check_unary(c, node);
    case TN_MIND_BINARY: return check_binary(c, node);
    case TN_MIND_LOGIC: return check_logic(c, node);
    case TN_MIND_CALL:
    case TN_MIND_INDEX: return tn_mind_check_call(c, node);
    case TN_MIND_FIELD: return check_field(c, node);
    case TN_MIND_IF: return tn_mind_check_if(c, node);
    case TN_MIND_CLOSURE: return check_closure(c, node);
    case TN_MIND_BODY: return tn_mind_check_block(c, &node->block, &(tn_mind_node *){ NULL });
    default: return &tn_mind_type_error;
  }
}

const tn_mind_type *tn_mind_check_expression(tn_mind_checker *c, tn_mind_node *top) {
  tn_mind_node *node = top;
  if (!tn_mind_room(c->mind)) {
    tn_report_stack(tn_mind_diags(c), tn_mind_here(c, top), NULL);
    return top->type = &tn_mind_type_error;
  }
  while (node->left) node = node->left;
  for (;; node = node->up) {
    c->mind->host->looked_at++;
    node->type = check_one(c, node);
    if (node == top) break;
  }
  return node->type ? node->type : &tn_mind_type_error;
}
