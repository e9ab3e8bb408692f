/* lang/mind/check_grad.c: the types of derivatives.
 *
 * grad has two forms. Of a function it gives a function. Of an expression it
 * gives a record with one gradient for each name in `wrt`, or for every float
 * tensor in scope; which of those the expression depends on shows when it runs,
 * so such a record is `open`.
 *
 * grad(f) and the like are functions that remember f; calling them asks what f
 * would give. */
#include <stdlib.h>
#include <string.h>

#include "lang/mind/check.h"

static const tn_mind_type *type_of(tn_mind_checker *c, tn_mind_given *arg) {
  if (!arg->type) arg->type = tn_mind_check_expression(c, arg->node);
  return arg->type;
}

/* ---- records ---- */

typedef struct {
  tn_str text;
  tn_mind_variable *variable;
} record_entry;

typedef struct {
  tn_mind_checker *c;
  record_entry *entries;
  uint32_t count, room;
} record;

/* Each name once: a list of names has been begun. */
static void add_entry(record *r, tn_mind_variable *variable) {
  if (r->count == r->room || !tn_mind_mark_name(r->c->mind, variable->name, r->count)) return;
  tn_mind_use_wrt(r->c, variable);
  r->entries[r->count++] = (record_entry){ tn_mind_name_text(r->c, variable->name), variable };
}

static bool record_init(record *r, tn_mind_checker *c, uint32_t room) {
  *r = (record){ .c = c, .room = room };
  r->entries = tn_arena_array(c->mind->arena, room, sizeof *r->entries);
  tn_mind_begin_names(c->mind);
  return r->entries != NULL;
}

static int by_text(const void *a, const void *b) {
  return tn_str_compare(((const record_entry *)a)->text, ((const record_entry *)b)->text);
}

/* Sorted by text, as it is printed. */
static const tn_mind_type *record_type(const record *r, bool open, tn_mind_node *call) {
  tn_arena *arena = r->c->mind->arena;
  const tn_mind_type **items = tn_arena_array(arena, r->count, sizeof *items);
  tn_mind_variable **variables = tn_arena_array(arena, r->count, sizeof *variables);
  tn_name *names = tn_arena_array(arena, r->count, sizeof *names);
  if (!items || !variables || !names) return &tn_mind_type_error;
  if (r->count) qsort(r->entries, r->count, sizeof *r->entries, by_text);
  for (uint32_t i = 0; i < r->count; i++) {
    variables[i] = r->entries[i].variable;
    names[i] = variables[i]->name;
    items[i] = tn_mind_type_plain(arena, variables[i]->type);
  }
  if (call) call->call.wrt = variables;
  return tn_mind_type_record(arena, TN_MIND_T_GRAD, items, names, r->count, open);
}

/* ---- wrt=[x, W] ---- */

static bool unknown_variable(tn_mind_checker *c, const tn_mind_node *node) {
  tn_span at = tn_mind_at(c->unit, node->from, node->to);
  bool name = node->kind == TN_MIND_NAME;
  if (name && tn_mind_is_doubtful(c->unit, node->name.name)) return false;
  tn_str text = name ? tn_mind_name_text(c, node->name.name)
                     : tn_arena_str(c->mind->arena, tn_span_text(c->mind->host->sources, at));
  return tn_report(tn_mind_diags(c), TN_DIAG_E4003, at, TN_TEXT("name", text),
                   TN_TEXT("suggestion", name ? tn_mind_suggest(c, text, false) : TN_LIT("")));
}

static bool add_name(record *r, tn_mind_node *node) {
  tn_mind_checker *c = r->c;
  const tn_mind_scope *found = node->kind == TN_MIND_NAME ? tn_mind_lookup(c, node->name.name) : NULL;
  bool variable = found && found->binds == TN_MIND_BINDS_VARIABLE;
  if (!variable && !(found && found->binds == TN_MIND_BINDS_FUNCTION)) return unknown_variable(c, node);
  const tn_mind_type *type = NULL;
  if (variable) {
    node->name.variable = found->variable;
    node->type = type = found->variable->type;
    if (type->kind == TN_MIND_T_ERROR) return false;
  }
  if (type && tn_mind_type_is_float(type)) {
    add_entry(r, found->variable);
    return true;
  }
  bool value = type && tn_mind_type_is_value(type);
  tn_str dtype = value  ? tn_str_of(tn_dtype_name(type->dtype))
                 : type ? tn_mind_describe(c->mind, type)
                        : TN_LIT("fn");
  return tn_report(tn_mind_diags(c), TN_DIAG_E4004, tn_mind_here(c, node),
                   TN_TEXT("name", tn_mind_name_text(c, node->name.name)), TN_TEXT("dtype", dtype));
}

static const tn_mind_type *named_record(tn_mind_checker *c, tn_mind_node *wrt, tn_mind_node *call) {
  bool list = tn_mind_is_list(wrt), ok = true;
  record r;
  if (!record_init(&r, c, list ? wrt->list.count : 1)) return &tn_mind_type_error;
  if (list) {
    for (tn_mind_node *item = wrt->list.items; item; item = item->next) ok &= add_name(&r, item);
    wrt->type = &tn_mind_type_unit;
  } else {
    ok = add_name(&r, wrt);
  }
  return ok ? record_type(&r, false, call) : &tn_mind_type_error;
}

/* Every float tensor that can be named here. */
static void add_visible(record *r, const tn_mind_scope *at) {
  r->c->mind->host->looked_at++;
  bool visible = at && at->binds == TN_MIND_BINDS_VARIABLE && tn_mind_lookup(r->c, at->name) == at;
  if (!visible) return;
  const tn_mind_type *type = at->variable->type;
  if (type->kind == TN_MIND_T_TENSOR && tn_mind_type_is_float(type)) add_entry(r, at->variable);
}

static uint32_t count_scope(const tn_mind_scope *from) {
  uint32_t count = 0;
  for (; from; from = from->next) count++;
  return count;
}

/* The module's entries or its names, whichever are fewer: a program may bind one name often. From a
 * function's place an older entry of a name may be the visible one, so there it is the entries. */
static const tn_mind_type *open_record(tn_mind_checker *c, tn_mind_node *call) {
  const tn_mind_module *module = c->module;
  record r;
  bool by_name = !c->function && module->newest_count < module->entry_count;
  uint32_t of_module = by_name ? module->newest_count : count_scope(module->scope);
  if (!record_init(&r, c, count_scope(c->locals) + of_module)) return &tn_mind_type_error;
  for (const tn_mind_scope *at = c->locals; at; at = at->next) add_visible(&r, at);
  for (uint32_t i = 0; by_name && i < of_module; i++) add_visible(&r, module->newest[i]);
  for (const tn_mind_scope *at = module->scope; !by_name && at; at = at->next) add_visible(&r, at);
  return record_type(&r, true, call);
}

/* grad(loss, wrt=[x]) */
static const tn_mind_type *check_expression_form(tn_mind_checker *c, tn_mind_given *args, tn_mind_node *call,
                                                 tn_span at) {
  const tn_mind_type *loss = args[0].type;
  const tn_mind_type *result = args[1].node ? named_record(c, args[1].node, call) : open_record(c, call);
  tn_span place = tn_mind_given_span(c, &args[0], at);
  c->mind->names_scalars = true;
  if (loss->kind == TN_MIND_T_ERROR || result->kind == TN_MIND_T_ERROR) return &tn_mind_type_error;
  if (tn_mind_type_is_single(loss)) {
    tn_mind_path path = { .loss = args[0].node, .wrt = call ? call->call.wrt : NULL, .count = result->count };
    if (call && path.loss && path.wrt) tn_mind_remember_path(c, path);
    return result;
  }
  if (loss->kind != TN_MIND_T_TENSOR)
    return tn_mind_wrong(tn_mind_expected(c->mind, place, "a number or a function", loss));
  return tn_mind_wrong(tn_mind_refuse_many(c->mind, &loss->shape, at));
}

/* ---- arguments that something is differentiated by ---- */

/* The parameter's name, or the argument where it has none. */
static tn_str wrt_name(tn_mind_checker *c, const tn_mind_callable *callable, uint32_t index, tn_span at) {
  tn_str name = callable ? tn_mind_parameter_name(c, callable, index) : TN_LIT("");
  return name.len ? name : tn_arena_str(c->mind->arena, tn_span_text(c->mind->host->sources, at));
}

/* What the parameters of a function are declared to be; NULL: nothing, as of a closure. */
static const tn_mind_type *const *declared_types(const tn_mind_callable *callable, uint32_t *count) {
  bool function = callable->kind == TN_MIND_C_FUNCTION;
  *count = function ? callable->function->param_count : callable->param_count;
  if (function) return callable->function->param_types;
  return callable->kind == TN_MIND_C_DECLARED ? callable->params : NULL;
}

/* What the arguments of a function become when it is called; NULL: what they are. */
static const tn_mind_type *const *taken_types(const tn_mind_callable *callable,
                                              const tn_mind_function *function) {
  uint32_t count;
  return function ? function->param_types : declared_types(tn_mind_innermost(callable), &count);
}

/* Whether the parameters of a function that is differentiated are floats; reports E4004. */
static bool check_wrt(tn_mind_checker *c, const tn_mind_callable *callable, const tn_mind_given *args,
                      uint32_t count, tn_span at) {
  uint32_t known;
  const tn_mind_type *const *types = declared_types(tn_mind_innermost(callable), &known);
  if (!types || known != count) return true;
  for (uint32_t i = 0; i < count; i++) {
    const tn_mind_type *type = types[i];
    if (!tn_mind_type_is_value(type) || tn_mind_type_is_float(type)) continue;
    tn_span place = tn_mind_given_span(c, &args[i], at);
    return tn_report(
        tn_mind_diags(c), TN_DIAG_E4004, place, TN_TEXT("name", wrt_name(c, callable, i, place)),
        TN_STR("dtype", tn_dtype_name(type->dtype)),
        TN_HINT(TN_LIT("a function is differentiated by all of its parameters; hold one fixed in a closure, "
                       "as in `grad(|x| f(x, 3))`")));
  }
  return true;
}

/* A function is differentiated by all of its arguments; `callable` may be NULL: they are called what they are
 * written as. */
static TN_OWN_FRAME bool check_floats(tn_mind_checker *c, const tn_mind_callable *callable,
                                      const tn_mind_given *args, uint32_t count, tn_span at) {
  for (uint32_t i = 0; i < count; i++) {
    const tn_mind_type *type = args[i].type;
    bool literal = type->kind == TN_MIND_T_SCALAR && type->literal && tn_dtype_in(type->dtype, TN_NUMBERS);
    if (type->kind == TN_MIND_T_ERROR) return false;
    if (literal || tn_mind_type_is_float(type)) continue;
    bool value = tn_mind_type_is_value(type);
    tn_span place = tn_mind_given_span(c, &args[i], at);
    return tn_report(
        tn_mind_diags(c), TN_DIAG_E4004, place, TN_TEXT("name", wrt_name(c, callable, i, place)),
        TN_TEXT("dtype", value ? tn_str_of(tn_dtype_name(type->dtype)) : tn_mind_describe(c->mind, type)));
  }
  return true;
}

/* An integer literal as an argument of a derivative is a float: grad(f)(3). */
static void as_floats(tn_mind_given *args, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    const tn_mind_type *type = args[i].type;
    if (type->kind != TN_MIND_T_SCALAR || !type->literal) continue;
    if (tn_dtype_in(type->dtype, TN_INTS))
      args[i].type = tn_mind_type_literal(tn_mind_leaf_dtype(type->dtype));
  }
}

static const tn_mind_type *tuple_of(tn_mind_checker *c, const tn_mind_type *const *items, uint32_t count) {
  if (count == 1) return items[0];
  return tn_mind_type_items(c->mind->arena, TN_MIND_T_TUPLE, items, NULL, count);
}

static const tn_mind_type *pair_of(tn_mind_checker *c, const tn_mind_type *a, const tn_mind_type *b) {
  return tuple_of(c, (const tn_mind_type *[]){ a, b }, 2);
}

/* The arguments as the function gets them, which is what their gradients look like. */
static const tn_mind_type *argument_types(tn_mind_checker *c, const tn_mind_type *const *taken,
                                          const tn_mind_given *args, uint32_t count,
                                          const tn_mind_type **items) {
  for (uint32_t i = 0; i < count; i++) {
    items[i] = tn_mind_type_plain(c->mind->arena, args[i].type);
    bool declared = taken && taken[i]->kind == TN_MIND_T_SCALAR;
    if (declared || (items[i]->kind == TN_MIND_T_SCALAR && taken)) items[i] = taken[i];
    if (items[i]->kind == TN_MIND_T_TENSOR) items[i] = tn_mind_bound_type(c->mind, items[i]);
  }
  return tuple_of(c, items, count);
}

/* ---- calls of what grad and the like give ---- */

static TN_OWN_FRAME const tn_mind_type *shape_needed(tn_mind_checker *c, const tn_mind_type *type,
                                                     tn_span at) {
  if (type->kind == TN_MIND_T_ERROR || tn_mind_type_is_single(type)) return NULL;
  if (type->kind != TN_MIND_T_TENSOR)
    return tn_mind_wrong(tn_mind_expected(c->mind, at, "a single number", type));
  return tn_mind_wrong(tn_mind_refuse_many(c->mind, &type->shape, at));
}

/* Output dims, then input dims. */
static const tn_mind_type *derivative_type(tn_mind_checker *c, const tn_mind_type *output,
                                           const tn_mind_type *input, tn_span at) {
  tn_shape shape = { 0 };
  const tn_mind_type *parts[] = { output, input };
  for (int k = 0; k < 2; k++) {
    for (int i = 0; parts[k]->kind == TN_MIND_T_TENSOR && i < parts[k]->shape.rank; i++) {
      if (!tn_mind_refuse_rank(c->mind, shape.rank + 1, at)) return &tn_mind_type_error;
      shape.dim[shape.rank++] = parts[k]->shape.dim[i];
    }
  }
  return tn_mind_type_tensor(c->mind->arena, input->dtype, &shape, TN_MIND_CPU);
}

static TN_OWN_FRAME const tn_mind_type *jacobian_type(tn_mind_checker *c, const tn_mind_type *output,
                                                      const tn_mind_type *const *inputs, uint32_t count,
                                                      tn_span at) {
  const tn_mind_type **items = tn_arena_array(c->mind->arena, count, sizeof *items);
  if (!items) return &tn_mind_type_error;
  if (!tn_mind_type_is_value(output))
    return tn_mind_wrong(tn_mind_expected(c->mind, at, "a function that gives a tensor", output));
  for (uint32_t i = 0; i < count; i++) items[i] = derivative_type(c, output, inputs[i], at);
  return tuple_of(c, items, count);
}

static TN_OWN_FRAME const tn_mind_type *hessian_type(tn_mind_checker *c, const tn_mind_type *const *inputs,
                                                     uint32_t count, tn_span at) {
  const tn_mind_type **rows = tn_arena_array(c->mind->arena, count, sizeof *rows);
  if (!rows) return &tn_mind_type_error;
  for (uint32_t i = 0; i < count; i++) rows[i] = jacobian_type(c, inputs[i], inputs, count, at);
  return tuple_of(c, rows, count);
}

const tn_mind_type *tn_mind_call_transform(tn_mind_checker *c, const tn_mind_callable *callable,
                                           const tn_mind_given *given, uint32_t count, tn_str name,
                                           tn_span at, tn_mind_function **function) {
  const tn_mind_type **inputs = tn_arena_array(c->mind->arena, count, sizeof *inputs);
  tn_mind_given *args = tn_arena_copy(c->mind->arena, given, count * sizeof *given);
  if (!inputs || !args || !check_wrt(c, callable, args, count, at)) return &tn_mind_type_error;
  as_floats(args, count);
  const tn_mind_type *output = tn_mind_call_type(c, callable->inner, args, count, name, at, function);
  if (output->kind == TN_MIND_T_ERROR || !check_floats(c, callable, args, count, at))
    return &tn_mind_type_error;
  const tn_mind_type *all = argument_types(c, taken_types(callable, *function), args, count, inputs);
  bool whole = callable->kind == TN_MIND_C_JACOBIAN;
  if (*function && !callable->inner->inner) tn_mind_remember_path(c, (tn_mind_path){ .function = *function });
  const tn_mind_type *wrong = whole ? NULL : shape_needed(c, output, at);
  if (wrong) return wrong;
  switch (callable->kind) {
    case TN_MIND_C_GRAD: return all;
    case TN_MIND_C_JACOBIAN: return jacobian_type(c, output, inputs, count, at);
    case TN_MIND_C_HESSIAN: return hessian_type(c, inputs, count, at);
    default: break;
  }
  return pair_of(c, output, all);
}

/* The gradient that is pulled back has the type of the output. */
TN_OWN_FRAME const tn_mind_type *tn_mind_call_pullback(tn_mind_checker *c, const tn_mind_callable *callable,
                                                       const tn_mind_given *args, tn_span at) {
  tn_span place = tn_mind_given_span(c, &args[0], at);
  const tn_mind_type *fitted = tn_mind_meet(c, callable->output, "vjp", place, args[0].node, args[0].type);
  if (callable->function) tn_mind_remember_path(c, (tn_mind_path){ .function = callable->function });
  return fitted->kind == TN_MIND_T_ERROR ? fitted : callable->input;
}

/* ---- functions of functions ---- */

static const tn_mind_type *check_transform(tn_mind_checker *c, const tn_mind_entry *entry,
                                           const tn_mind_type *f) {
  return tn_mind_function_type(
      c, (tn_mind_callable){ .kind = tn_mind_transform_of(entry->special), .inner = f->callable });
}

/* ---- vjp and jvp ---- */

/* The arguments of f: x, or the items of (x, y). */
typedef struct {
  tn_mind_given *at;
  uint32_t count;
} arguments;

static bool take_apart(tn_mind_checker *c, tn_mind_given *arg, arguments *out) {
  tn_mind_node *node = arg->node;
  const tn_mind_type *type = type_of(c, arg);
  bool tuple = type->kind == TN_MIND_T_TUPLE;
  if (type->kind == TN_MIND_T_ERROR) return false;
  out->count = tuple ? type->count : 1;
  out->at = tn_arena_array(c->mind->arena, out->count, sizeof *out->at);
  if (!out->at) return false;
  if (!tuple) {
    out->at[0] = *arg;
    return true;
  }
  tn_mind_node *item = node && node->kind == TN_MIND_TUPLE ? node->list.items : NULL;
  for (uint32_t i = 0; i < out->count; i++) {
    out->at[i] = (tn_mind_given){ item, item ? item->type : type->items[i] };
    if (item) item = item->next;
  }
  return true;
}

static bool is_tensors(const tn_mind_type *type) {
  if (type->kind != TN_MIND_T_TUPLE) return tn_mind_type_is_value(type);
  for (uint32_t i = 0; i < type->count; i++) {
    if (!tn_mind_type_is_value(type->items[i])) return false;
  }
  return true;
}

/* A tangent is like its argument. */
static bool fit_tangents(tn_mind_checker *c, const tn_mind_type *input, tn_mind_given *v, tn_span at) {
  tn_span place = tn_mind_given_span(c, v, at);
  return tn_mind_meet(c, input, "jvp", place, v->node, type_of(c, v))->kind != TN_MIND_T_ERROR;
}

static const tn_mind_type *check_product(tn_mind_checker *c, const tn_mind_entry *entry, tn_mind_given *given,
                                         tn_mind_node *call, tn_span at) {
  arguments args;
  tn_mind_function *function = NULL;
  const tn_mind_callable *callable = given[0].type->callable;
  if (!take_apart(c, &given[1], &args)) return &tn_mind_type_error;
  const tn_mind_type **inputs = tn_arena_array(c->mind->arena, args.count, sizeof *inputs);
  if (!inputs || !check_wrt(c, callable, args.at, args.count, at)) return &tn_mind_type_error;
  as_floats(args.at, args.count);
  if (!check_floats(c, NULL, args.at, args.count, at)) return &tn_mind_type_error;
  const tn_mind_type *output = tn_mind_call_type(c, callable, args.at, args.count,
                                                 tn_mind_callable_name(c->mind, callable), at, &function);
  if (call) call->call.function = function;
  if (output->kind == TN_MIND_T_ERROR) return output;
  if (!is_tensors(output))
    return tn_mind_wrong(tn_mind_expected(c->mind, at, "a function that gives a tensor", output));
  const tn_mind_type *input = argument_types(c, taken_types(callable, function), args.at, args.count, inputs);
  if (entry->special == TN_MIND_JVP) {
    if (function) tn_mind_remember_path(c, (tn_mind_path){ .function = function });
    return fit_tangents(c, input, &given[2], at) ? pair_of(c, output, output) : &tn_mind_type_error;
  }
  tn_mind_callable pullback = {
    .kind = TN_MIND_C_PULLBACK, .function = function, .output = output, .input = input
  };
  return pair_of(c, output, tn_mind_function_type(c, pullback));
}

/* In the order in which they are written. Names that are not evaluated are read by each in its own way. */
static bool check_given(tn_mind_checker *c, const tn_mind_entry *entry, tn_mind_given *args,
                        const tn_mind_node *call) {
  bool ok = true;
  for (const tn_mind_node *arg = call ? call->call.args : NULL; arg; arg = arg->next) {
    if (entry->params[arg->place].kind == TN_MIND_P_NAMES) continue;
    ok &= type_of(c, &args[arg->place])->kind != TN_MIND_T_ERROR;
  }
  return ok;
}

const tn_mind_type *tn_mind_check_special(tn_mind_checker *c, const tn_mind_entry *entry, tn_mind_given *args,
                                          tn_mind_node *call, tn_span at) {
  bool ok = check_given(c, entry, args, call), function = args[0].type->kind == TN_MIND_T_FN;
  if (call) call->call.function = NULL;
  if (entry->special >= TN_MIND_SAVE) return tn_mind_check_weights(c, entry, args, at);
  if (entry->special == TN_MIND_GRAD && !function) return check_expression_form(c, args, call, at);
  if (!ok) return &tn_mind_type_error;
  if (entry->special >= TN_MIND_FOLD) return tn_mind_check_loop(c, entry, args, call, at);
  if (!function) {
    return tn_mind_wrong(tn_mind_expected(c->mind, tn_mind_given_span(c, &args[0], at), "a function",
                                          args[0].type));
  }
  if (entry->special == TN_MIND_VJP || entry->special == TN_MIND_JVP)
    return check_product(c, entry, args, call, at);
  if (entry->special == TN_MIND_GRAD && args[1].node) {
    return tn_mind_wrong(tn_report(tn_mind_diags(c), TN_DIAG_E2001, tn_mind_given_span(c, &args[1], at),
                                   TN_STR("expected", "no `wrt` beside a function"), TN_STR("got", "wrt")));
  }
  return check_transform(c, entry, args[0].type);
}
