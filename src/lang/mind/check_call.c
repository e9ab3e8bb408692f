/* lang/mind/check_call.c: who is called, with what, and what comes of it.
 *
 * grad(f) and its kin are functions that remember f; calling them asks what f
 * would give. Closures are in check_closure.c. */
#include <string.h>

#include "lang/mind/check.h"

static tn_diags *diags_of(const tn_mind_checker *c) { return c->mind->host->diags; }
static tn_str name_text(const tn_mind_checker *c, tn_name name) {
  return tn_names_text(c->mind->host->names, name);
}

/* ---- arguments and parameters ---- */

/* The parameters of whatever is called. */
typedef struct {
  uint32_t count, required;
  tn_name (*name)(const void *of, uint32_t index); /* 0: it has none to be named by */
  const void *of;
} signature;

typedef struct {
  tn_mind_checker *c;
  tn_mind_node *call;
  tn_str function;  /* as the program wrote it */
  uint32_t skipped; /* 1: the receiver of a method is the first argument */
} caller;

static tn_str count_text(tn_mind *mind, uint32_t least, uint32_t most) {
  tn_text text;
  tn_text_init(&text, mind->host->heap);
  tn_text_uint(&text, least);
  if (most == UINT32_MAX) {
    tn_text_puts(&text, " or more");
  } else if (most > least) {
    tn_text_puts(&text, most == least + 1 ? " or " : " to ");
    tn_text_uint(&text, most);
  }
  tn_str result = tn_arena_str(mind->arena, tn_text_str(&text));
  tn_text_free(&text);
  return result;
}

static TN_OWN_FRAME bool wrong_count(const caller *by, const signature *of) {
  uint32_t least = of->required > by->skipped ? of->required - by->skipped : 0;
  uint32_t most = of->count > by->skipped ? of->count - by->skipped : 0;
  uint32_t got = by->call->call.count + (of->count < by->skipped); /* a receiver nobody asked for */
  if (of->count == UINT32_MAX) most = UINT32_MAX;
  return tn_report(diags_of(by->c), TN_DIAG_E2005, tn_mind_here(by->c, by->call),
                   TN_TEXT("function", by->function),
                   TN_TEXT("expected", count_text(by->c->mind, least, most)), TN_INT("got", got));
}

/* When nothing looks like what was written: what there is. */
static tn_str names_of_parameters(const caller *by, const tn_str *names, size_t count) {
  tn_text text;
  tn_text_init(&text, by->c->mind->host->heap);
  tn_text_puts(&text, "the parameters are ");
  for (size_t i = 0; i < count; i++) {
    if (i) tn_text_puts(&text, ", ");
    tn_text_add(&text, names[i]);
  }
  tn_str hint = tn_arena_str(by->c->mind->arena, tn_text_str(&text));
  tn_text_free(&text);
  return hint;
}

static bool unknown_keyword(const caller *by, const signature *of, const tn_mind_node *arg) {
  tn_mind *mind = by->c->mind;
  tn_str text = name_text(by->c, arg->keyword.name);
  tn_str *names = tn_arena_array(mind->arena, of->count, sizeof *names);
  size_t known = 0;
  for (uint32_t i = 0; names && i < of->count; i++) {
    tn_name name = of->name(of->of, i);
    if (name) names[known++] = name_text(by->c, name);
  }
  tn_str near = tn_str_suggest(text, names, known), hint = TN_LIT("these parameters have no names");
  if (known) hint = near.len ? TN_LIT("") : names_of_parameters(by, names, known);
  return tn_report(mind->host->diags, TN_DIAG_E2002, tn_mind_word_span(by->c->unit, &arg->keyword),
                   TN_TEXT("name", text), TN_TEXT("suggestion", near), TN_HINT(hint));
}

static void mark_parameters(const caller *by, const signature *of) {
  tn_mind_begin_names(by->c->mind);
  for (uint32_t i = 0; i < of->count; i++) {
    tn_name name = of->name(of->of, i);
    if (name) tn_mind_mark_name(by->c->mind, name, i);
  }
}

/* Puts each argument where its parameter is. False after reporting. */
static TN_OWN_FRAME bool bind_arguments(const caller *by, const signature *of, tn_mind_node **bound) {
  uint32_t position = by->skipped;
  bool marked = false;
  for (tn_mind_node *arg = by->call->call.args; arg; arg = arg->next) {
    if (arg->keyword.name && !marked) mark_parameters(by, of);
    marked |= arg->keyword.name != 0;
    int64_t at = arg->keyword.name ? tn_mind_marked(by->c->mind, arg->keyword.name) : position++;
    if (at < 0) return unknown_keyword(by, of, arg);
    if (at >= (int64_t)of->count || bound[at]) return wrong_count(by, of);
    bound[at] = arg;
    arg->place = (uint32_t)at;
  }
  return true;
}

/* Arguments of a call that is wrong are still looked at for mistakes of their own. */
static const tn_mind_type *check_anyway(tn_mind_checker *c, tn_mind_node *call) {
  for (tn_mind_node *arg = call->call.args; arg; arg = arg->next) {
    bool word = arg->kind == TN_MIND_NAME || arg->kind == TN_MIND_TUPLE || arg->kind == TN_MIND_LIST;
    if (!word) tn_mind_check_expression(c, arg); /* f32 and (N, 3) may have been meant as words */
  }
  return &tn_mind_type_error;
}

/* ---- functions ---- */

static tn_name function_parameter(const void *of, uint32_t index) {
  const tn_mind_function *f = of;
  return f->definition->params[index].word.name;
}

static int pass_of(const tn_mind_type *type) {
  return type->kind == TN_MIND_T_FN ? 2 : type->kind == TN_MIND_T_SCALAR;
}

/* Tensors first: a scalar fills the sizes they have given to names, and functions are called with them. */
static bool fit_arguments(tn_mind_checker *c, const tn_mind_function *f, const tn_mind_given *args,
                          tn_str name, tn_span at, tn_mind_bindings *symbols) {
  bool ok = true;
  for (int pass = 0; pass < 3; pass++) {
    for (uint32_t i = 0; i < f->param_count; i++) {
      if (pass_of(args[i].type) != pass) continue;
      tn_mind_node *node = args[i].node;
      tn_span place = node ? tn_mind_at(c->unit, node->from, node->to) : at;
      tn_mind_target_type target = { f->param_types[i], symbols, name.at, place };
      ok &= tn_mind_fit(c, &target, node, args[i].type)->kind != TN_MIND_T_ERROR;
    }
  }
  return ok;
}

/* A size in the result: what the arguments have given to a name of the parameters, or what the body gives. A
 * name that met no size at all (a number fills its parameter) stays, but inside a function it could be taken
 * for one of that function's. */
static int64_t result_dim(tn_mind_checker *c, const tn_mind_function *f, const tn_mind_bindings *symbols,
                          int64_t dim, const tn_mind_type *gives, int axis) {
  int64_t bound = tn_mind_bound(symbols, dim);
  if (bound != dim || !tn_dim_is_symbol(dim)) return bound;
  if (tn_mind_is_size(&f->sizes, dim)) {
    bool itself = tn_mind_meets(symbols, tn_dim_name(dim), dim); /* the caller's size has the same name */
    return itself || !c->function ? dim : TN_DIM_UNKNOWN;
  }
  if (!gives || gives->kind != TN_MIND_T_TENSOR) return TN_DIM_UNKNOWN;
  int64_t given = tn_mind_bound(&f->symbols, dim);
  if (given == dim) given = gives->shape.dim[axis];
  given = tn_mind_bound(symbols, given);
  return given == dim ? dim : given;
}

static const tn_mind_type *result_type(tn_mind_checker *c, const tn_mind_function *f,
                                       const tn_mind_bindings *symbols, const tn_mind_type *type,
                                       const tn_mind_type *gives) {
  if (type->kind == TN_MIND_T_TENSOR) {
    tn_shape shape = type->shape;
    for (int i = 0; i < shape.rank; i++) shape.dim[i] = result_dim(c, f, symbols, shape.dim[i], gives, i);
    return tn_mind_type_tensor(c->mind->arena, type->dtype, &shape, type->device);
  }
  if (type->kind != TN_MIND_T_TUPLE) return tn_mind_sized(c, symbols, type);
  const tn_mind_type **items = tn_arena_array(c->mind->arena, type->count, sizeof *items);
  if (!items || !tn_mind_room(c->mind)) return &tn_mind_type_error;
  for (uint32_t i = 0; i < type->count; i++) {
    const tn_mind_type *part = gives && gives->kind == TN_MIND_T_TUPLE ? gives->items[i] : NULL;
    items[i] = result_type(c, f, symbols, type->items[i], part);
  }
  return tn_mind_type_items(c->mind->arena, TN_MIND_T_TUPLE, items, NULL, type->count);
}

static TN_OWN_FRAME const tn_mind_type *call_function(tn_mind_checker *c, tn_mind_function *f,
                                                      const tn_mind_given *args, tn_str name, tn_span at) {
  tn_mind_bindings symbols = { .arena = c->mind->arena, .sizes = tn_mind_sizes_here(c), .foreign = true };
  tn_mind_enqueue(c->mind, f);
  if (f->failed) return &tn_mind_type_error;
  tn_mind_require_effects(c, f->effects, name, at);
  if (!fit_arguments(c, f, args, name, at, &symbols)) return &tn_mind_type_error;
  return result_type(c, f, &symbols, f->result, f->gives);
}

/* ---- what grad and its kin give ---- */

static tn_str parameter_name(tn_mind_checker *c, const tn_mind_callable *callable, uint32_t index) {
  while (callable->inner) callable = callable->inner;
  switch (callable->kind) {
    case TN_MIND_C_FUNCTION: return name_text(c, callable->function->definition->params[index].word.name);
    case TN_MIND_C_CLOSURE: return name_text(c, callable->closure->closure.params[index].word.name);
    case TN_MIND_C_LIBRARY: return tn_str_of(callable->entry->params[index].name);
    default: return TN_LIT("");
  }
}

/* The parameter's name, or the argument where it has none. */
static tn_str wrt_name(tn_mind_checker *c, const tn_mind_callable *callable, uint32_t index, tn_span at) {
  tn_str name = parameter_name(c, callable, index);
  return name.len ? name : tn_arena_str(c->mind->arena, tn_span_text(c->mind->host->sources, at));
}

/* What the parameters of a function are declared to be; NULL: nothing, as of a closure. */
static const tn_mind_type *const *declared_types(const tn_mind_callable *callable, uint32_t *count) {
  bool function = callable->kind == TN_MIND_C_FUNCTION;
  *count = function ? callable->function->param_count : callable->param_count;
  if (function) return callable->function->param_types;
  return callable->kind == TN_MIND_C_DECLARED ? callable->params : NULL;
}

const tn_mind_type *const *tn_mind_taken_types(const tn_mind_callable *callable,
                                               const tn_mind_function *function) {
  uint32_t count;
  return function ? function->param_types : declared_types(tn_mind_innermost(callable), &count);
}

bool tn_mind_check_wrt(tn_mind_checker *c, const tn_mind_callable *callable, const tn_mind_given *args,
                       uint32_t count, tn_span at) {
  uint32_t known;
  const tn_mind_type *const *types = declared_types(tn_mind_innermost(callable), &known);
  if (!types || known != count) return true;
  for (uint32_t i = 0; i < count; i++) {
    const tn_mind_type *type = types[i];
    if (!tn_mind_type_is_value(type) || tn_mind_type_is_float(type)) continue;
    tn_span place = args[i].node ? tn_mind_at(c->unit, args[i].node->from, args[i].node->to) : at;
    return tn_report(
        diags_of(c), TN_DIAG_E4004, place, TN_TEXT("name", wrt_name(c, callable, i, place)),
        TN_STR("dtype", tn_dtype_name(type->dtype)),
        TN_HINT(TN_LIT("a function is differentiated by all of its parameters; hold one fixed in a closure, "
                       "as in `grad(|x| f(x, 3))`")));
  }
  return true;
}

/* A function is differentiated by all of its arguments. */
static TN_OWN_FRAME bool check_floats(tn_mind_checker *c, const tn_mind_callable *callable,
                                      const tn_mind_given *args, uint32_t count, tn_span at) {
  for (uint32_t i = 0; i < count; i++) {
    const tn_mind_type *type = args[i].type;
    bool literal = type->kind == TN_MIND_T_SCALAR && type->literal && tn_dtype_in(type->dtype, TN_NUMBERS);
    if (type->kind == TN_MIND_T_ERROR) return false;
    if (literal || tn_mind_type_is_float(type)) continue;
    bool value = tn_mind_type_is_value(type);
    tn_span place = args[i].node ? tn_mind_at(c->unit, args[i].node->from, args[i].node->to) : at;
    return tn_report(
        diags_of(c), TN_DIAG_E4004, place, TN_TEXT("name", parameter_name(c, callable, i)),
        TN_TEXT("dtype", value ? tn_str_of(tn_dtype_name(type->dtype)) : tn_mind_describe(c->mind, type)));
  }
  return true;
}

/* An integer literal as an argument of a derivative is a float: grad(f)(3). */
static void as_floats(tn_mind_given *args, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    const tn_mind_type *type = args[i].type;
    if (type->kind != TN_MIND_T_SCALAR || !type->literal) continue;
    if (tn_dtype_in(type->dtype, TN_INTS)) args[i].type = tn_mind_type_literal(TN_F64);
  }
}

static const tn_mind_type *tuple_of(tn_mind_checker *c, const tn_mind_type *const *items, uint32_t count) {
  if (count == 1) return items[0];
  return tn_mind_type_items(c->mind->arena, TN_MIND_T_TUPLE, items, NULL, count);
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

static TN_OWN_FRAME const tn_mind_type *shape_needed(tn_mind_checker *c, const tn_mind_type *type,
                                                     tn_span at) {
  if (type->kind == TN_MIND_T_ERROR || tn_mind_type_is_single(type)) return NULL;
  if (type->kind != TN_MIND_T_TENSOR) {
    tn_mind_expected(c->mind, at, "a single number", type);
    return &tn_mind_type_error;
  }
  tn_report(diags_of(c), TN_DIAG_E4002, at, TN_TEXT("shape", tn_mind_describe_shape(c->mind, &type->shape)));
  return &tn_mind_type_error;
}

/* Output dims, then input dims. */
static const tn_mind_type *derivative_type(tn_mind_checker *c, const tn_mind_type *output,
                                           const tn_mind_type *input, tn_span at) {
  tn_shape shape = { 0 };
  const tn_mind_type *parts[] = { output, input };
  for (int k = 0; k < 2; k++) {
    for (int i = 0; parts[k]->kind == TN_MIND_T_TENSOR && i < parts[k]->shape.rank; i++) {
      if (shape.rank == TN_RANK_LIMIT) {
        tn_report(diags_of(c), TN_DIAG_E_RANK_LIMIT, at, TN_INT("rank", TN_RANK_LIMIT + 1),
                  TN_INT("limit", TN_RANK_LIMIT));
        return &tn_mind_type_error;
      }
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
  if (!tn_mind_type_is_value(output)) {
    tn_mind_expected(c->mind, at, "a function that gives a tensor", output);
    return &tn_mind_type_error;
  }
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

static const tn_mind_type *call_transform(tn_mind_checker *c, const tn_mind_callable *callable,
                                          const tn_mind_given *given, uint32_t count, tn_str name, tn_span at,
                                          tn_mind_function **function) {
  const tn_mind_type **inputs = tn_arena_array(c->mind->arena, count, sizeof *inputs);
  tn_mind_given *args = tn_arena_copy(c->mind->arena, given, count * sizeof *given);
  if (!inputs || !args || !tn_mind_check_wrt(c, callable, args, count, at)) return &tn_mind_type_error;
  as_floats(args, count);
  const tn_mind_type *output = tn_mind_call_type(c, callable->inner, args, count, name, at, function);
  if (output->kind == TN_MIND_T_ERROR || !check_floats(c, callable, args, count, at))
    return &tn_mind_type_error;
  const tn_mind_type *all = argument_types(c, tn_mind_taken_types(callable, *function), args, count, inputs);
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
  const tn_mind_type *pair[] = { output, all };
  return tn_mind_type_items(c->mind->arena, TN_MIND_T_TUPLE, pair, NULL, 2);
}

/* The gradient that is pulled back has the type of the output. */
static TN_OWN_FRAME const tn_mind_type *call_pullback(tn_mind_checker *c, const tn_mind_callable *callable,
                                                      const tn_mind_given *args, tn_span at) {
  tn_mind_bindings symbols = { .arena = c->mind->arena, .sizes = tn_mind_sizes_here(c) };
  tn_span place = args[0].node ? tn_mind_at(c->unit, args[0].node->from, args[0].node->to) : at;
  tn_mind_target_type target = { callable->output, &symbols, "vjp", place };
  const tn_mind_type *fitted = tn_mind_fit(c, &target, args[0].node, args[0].type);
  if (callable->function) tn_mind_remember_path(c, (tn_mind_path){ .function = callable->function });
  return fitted->kind == TN_MIND_T_ERROR ? fitted : callable->input;
}

/* ---- function values ---- */

static signature signature_of(const tn_mind_callable *callable) {
  while (callable->inner) callable = callable->inner;
  switch (callable->kind) {
    case TN_MIND_C_FUNCTION: {
      uint32_t count = callable->function->param_count;
      return (signature){ .count = count, .required = count };
    }
    case TN_MIND_C_CLOSURE: {
      uint32_t count = callable->closure->closure.count;
      return (signature){ .count = count, .required = count };
    }
    case TN_MIND_C_LIBRARY:
      return (signature){ .count = callable->entry->count,
                          .required = (uint32_t)tn_mind_entry_required(callable->entry) };
    case TN_MIND_C_DECLARED:
      return (signature){ .count = callable->param_count, .required = callable->param_count };
    default: return (signature){ .count = 1, .required = 1 };
  }
}

bool tn_mind_takes(const tn_mind_callable *callable, uint32_t count) {
  signature of = signature_of(callable);
  return of.required <= count && count <= of.count;
}

tn_str tn_mind_callable_name(tn_mind *mind, const tn_mind_callable *callable) {
  switch (callable->kind) {
    case TN_MIND_C_FUNCTION: return tn_names_text(mind->host->names, callable->function->name);
    case TN_MIND_C_LIBRARY: return tn_str_of(callable->entry->name);
    case TN_MIND_C_GRAD: return TN_LIT("grad");
    case TN_MIND_C_VALUE_AND_GRAD: return TN_LIT("value_and_grad");
    case TN_MIND_C_JACOBIAN: return TN_LIT("jacobian");
    case TN_MIND_C_HESSIAN: return TN_LIT("hessian");
    case TN_MIND_C_PULLBACK: return TN_LIT("pullback");
    case TN_MIND_C_DECLARED: return TN_LIT("fn");
    default: return TN_LIT("closure");
  }
}

static TN_OWN_FRAME const tn_mind_type *wrong_value_count(tn_mind_checker *c, const signature *of,
                                                          uint32_t got, tn_str name, tn_span at) {
  tn_report(diags_of(c), TN_DIAG_E2005, at, TN_TEXT("function", name),
            TN_TEXT("expected", count_text(c->mind, of->required, of->count)), TN_INT("got", got));
  return &tn_mind_type_error;
}

static const tn_mind_type *call_library(tn_mind_checker *c, const tn_mind_entry *entry,
                                        const tn_mind_given *args, uint32_t count, tn_str name, tn_span at) {
  tn_mind_given by_parameter[TN_MIND_PARAMETER_LIMIT] = { { 0 } };
  for (uint32_t i = 0; i < count; i++) {
    uint32_t place = tn_mind_entry_place(entry, i, count);
    tn_mind_parameter_kind kind = entry->params[place].kind;
    bool element = kind == TN_MIND_P_TENSOR || kind == TN_MIND_P_INDICES || kind == TN_MIND_P_SCALAR;
    by_parameter[place] = args[i];
    if (!element) by_parameter[place].node = NULL; /* its value is handed over, not what is written */
  }
  tn_mind_require_effects(c, entry->effects, name, at);
  return tn_mind_check_library(c, entry, by_parameter, NULL, at);
}

const tn_mind_type *tn_mind_call_type(tn_mind_checker *c, const tn_mind_callable *callable,
                                      const tn_mind_given *args, uint32_t count, tn_str name, tn_span at,
                                      tn_mind_function **function) {
  signature of = signature_of(callable);
  if (!tn_mind_room(c->mind)) {
    tn_report_stack(diags_of(c), at, NULL);
    return &tn_mind_type_error;
  }
  if (count < of.required || count > of.count) return wrong_value_count(c, &of, count, name, at);
  for (uint32_t i = 0; i < count; i++) {
    if (args[i].type->kind == TN_MIND_T_ERROR) return &tn_mind_type_error;
  }
  switch (callable->kind) {
    case TN_MIND_C_FUNCTION:
      *function = callable->function;
      return call_function(c, callable->function, args, name, at);
    case TN_MIND_C_CLOSURE: return tn_mind_call_closure(c, callable->closure, args, name, at, function);
    case TN_MIND_C_LIBRARY: return call_library(c, callable->entry, args, count, name, at);
    case TN_MIND_C_PULLBACK: return call_pullback(c, callable, args, at);
    case TN_MIND_C_DECLARED: return tn_mind_call_declared(c, callable, args, name, at);
    default: return call_transform(c, callable, args, count, name, at, function);
  }
}

/* ---- calls as they are written ---- */

/* f(x) of a module's function. */
static const tn_mind_type *check_function_call(tn_mind_checker *c, tn_mind_node *node, tn_mind_function *f,
                                               tn_str name) {
  caller by = { c, node, name, 0 };
  signature of = { f->param_count, f->param_count, function_parameter, f };
  tn_mind_node **bound = tn_arena_array(c->mind->arena, f->param_count, sizeof *bound);
  tn_mind_given *args = tn_arena_array(c->mind->arena, f->param_count, sizeof *args);
  if (!bound || !args) return &tn_mind_type_error;
  node->call.target = TN_MIND_CALL_FUNCTION;
  node->call.function = f;
  node->call.bound = bound;
  if (node->call.count < of.required) {
    wrong_count(&by, &of);
    return check_anyway(c, node);
  }
  if (!bind_arguments(&by, &of, bound)) return check_anyway(c, node);
  bool ok = true;
  for (tn_mind_node *arg = node->call.args; arg; arg = arg->next) {
    ok &= tn_mind_check_value(c, arg)->kind != TN_MIND_T_ERROR;
  }
  for (uint32_t i = 0; i < f->param_count; i++) args[i] = (tn_mind_given){ bound[i], bound[i]->type };
  if (f->failed) return &tn_mind_type_error;
  if (!ok) { /* the result is known all the same, unless sizes are missing */
    tn_mind_enqueue(c->mind, f);
    return &tn_mind_type_error;
  }
  return call_function(c, f, args, name, tn_mind_here(c, node));
}

static tn_name closure_parameter(const void *of, uint32_t index) {
  const tn_mind_node *closure = of;
  return closure->closure.params[index].word.name;
}

static tn_name no_parameter(const void *of, uint32_t index) {
  (void)of, (void)index;
  return 0;
}

/* The names that the parameters of a function value go by. */
static signature value_signature(const tn_mind_callable *callable, uint32_t given) {
  while (callable->inner) callable = callable->inner; /* grad(f) takes what f takes */
  switch (callable->kind) {
    case TN_MIND_C_FUNCTION: {
      uint32_t count = callable->function->param_count;
      return (signature){ count, count, function_parameter, callable->function };
    }
    case TN_MIND_C_CLOSURE: {
      uint32_t count = callable->closure->closure.count;
      return (signature){ count, count, closure_parameter, callable->closure };
    }
    case TN_MIND_C_DECLARED:
      return (signature){ callable->param_count, callable->param_count, no_parameter, NULL };
    default: return (signature){ given, given, no_parameter, NULL };
  }
}

/* A call of a value that is a function. */
static const tn_mind_type *check_value_call(tn_mind_checker *c, tn_mind_node *node, const tn_mind_type *type,
                                            tn_str name) {
  const tn_mind_callable *callable = type->callable;
  tn_mind_given *args = tn_arena_array(c->mind->arena, node->call.count, sizeof *args);
  node->call.target = TN_MIND_CALL_VALUE;
  node->call.bound = tn_arena_array(c->mind->arena, node->call.count, sizeof *node->call.bound);
  if (!args || !node->call.bound) return &tn_mind_type_error;
  uint32_t count = node->call.count;
  caller by = { c, node, name, 0 };
  signature of = value_signature(callable, count);
  if (of.count != count) {
    wrong_count(&by, &of);
    return check_anyway(c, node);
  }
  if (!bind_arguments(&by, &of, node->call.bound)) return check_anyway(c, node);
  bool ok = true;
  for (tn_mind_node *arg = node->call.args; arg; arg = arg->next) tn_mind_check_value(c, arg);
  for (uint32_t i = 0; i < count; i++) {
    args[i] = (tn_mind_given){ node->call.bound[i], node->call.bound[i]->type };
    ok &= args[i].type->kind != TN_MIND_T_ERROR;
  }
  if (!ok) return &tn_mind_type_error;
  node->call.function = NULL;
  return tn_mind_call_type(c, callable, args, count, name, tn_mind_here(c, node), &node->call.function);
}

/* The parameter names of the library are texts; those of a program are numbers. */
static TN_OWN_FRAME bool bind_library_arguments(const caller *by, const tn_mind_entry *entry,
                                                tn_mind_given *args) {
  signature of = { entry->count, (uint32_t)tn_mind_entry_required(entry), NULL, NULL };
  uint32_t position = by->skipped, positional = 0;
  for (tn_mind_node *arg = by->call->call.args; arg; arg = arg->next) positional += !arg->keyword.name;
  if (entry->special == TN_MIND_PRINT) of.count = UINT32_MAX;
  if (entry->leading_dtype && !by->skipped && positional == 1) position = 1;
  for (tn_mind_node *arg = by->call->call.args; arg; arg = arg->next) {
    int at = (int)position;
    if (arg->keyword.name)
      at = tn_mind_entry_parameter(entry, name_text(by->c, arg->keyword.name));
    else
      position++;
    if (at < 0) {
      tn_str names[TN_MIND_PARAMETER_LIMIT], text = name_text(by->c, arg->keyword.name);
      for (int i = 0; i < entry->count; i++) names[i] = tn_str_of(entry->params[i].name);
      tn_str near = tn_str_suggest(text, names, entry->count);
      return tn_report(diags_of(by->c), TN_DIAG_E2002, tn_mind_word_span(by->c->unit, &arg->keyword),
                       TN_TEXT("name", text), TN_TEXT("suggestion", near),
                       TN_HINT(near.len ? TN_LIT("") : names_of_parameters(by, names, entry->count)));
    }
    if (entry->special == TN_MIND_PRINT && at >= entry->count) continue;
    if (at >= entry->count || args[at].node) return wrong_count(by, &of);
    args[at].node = arg;
  }
  for (int i = 0; i < entry->count; i++) {
    if (!args[i].node && !args[i].type && !entry->params[i].otherwise) return wrong_count(by, &of);
  }
  return true;
}

static const tn_mind_type *check_library_call(tn_mind_checker *c, tn_mind_node *node,
                                              const tn_mind_entry *entry, tn_mind_node *receiver,
                                              tn_str name) {
  caller by = { c, node, name, receiver ? 1 : 0 };
  tn_mind_given args[TN_MIND_PARAMETER_LIMIT] = { { 0 } };
  node->call.target = TN_MIND_CALL_LIBRARY;
  node->call.entry = entry;
  node->call.method = receiver != NULL;
  node->call.bound = tn_arena_array(c->mind->arena, TN_MIND_PARAMETER_LIMIT, sizeof *node->call.bound);
  if (!node->call.bound) return &tn_mind_type_error;
  if (receiver && entry->count) args[0] = (tn_mind_given){ receiver, receiver->type };
  if (receiver && !entry->count) {
    wrong_count(&by, &(signature){ 0 });
    return check_anyway(c, node);
  }
  if (!bind_library_arguments(&by, entry, args)) return check_anyway(c, node);
  for (int i = 0; i < entry->count; i++) node->call.bound[i] = args[i].node;
  tn_mind_require_effects(c, entry->effects, name, tn_mind_here(c, node));
  return tn_mind_check_library(c, entry, args, node, tn_mind_here(c, node));
}

/* What stands before the bracket, as the program wrote it. */
static TN_OWN_FRAME tn_str callee_text(tn_mind_checker *c, const tn_mind_node *callee) {
  tn_span at = tn_mind_here(c, callee);
  bool field = callee->kind == TN_MIND_FIELD && callee->field.word.name; /* else pair.1, which has no name */
  if (field && callee->left->type) at = tn_mind_word_span(c->unit, &callee->field.word);
  bool word = callee->kind == TN_MIND_NAME || field;
  if (word) return tn_arena_str(c->mind->arena, tn_span_text(c->mind->host->sources, at));
  if (callee->type && callee->type->kind == TN_MIND_T_FN)
    return tn_mind_callable_name(c->mind, callee->type->callable);
  return TN_LIT("closure");
}

static TN_OWN_FRAME void unknown_function(tn_mind_checker *c, tn_mind_node *callee) {
  bool field = callee->kind == TN_MIND_FIELD, method = field && callee->left->type;
  tn_name name = field ? callee->field.word.name : callee->name.name;
  tn_str last = name_text(c, name);
  tn_span at = method ? tn_mind_word_span(c->unit, &callee->field.word) : tn_mind_here(c, callee);
  if (method || !tn_mind_is_doubtful(c->unit, name)) {
    tn_report(diags_of(c), TN_DIAG_E2003, at, TN_TEXT("name", last),
              TN_TEXT("suggestion", tn_mind_suggest(c, last, true)));
  }
}

/* x[i], x[i, j]: the library's index, once for each. */
static const tn_mind_type *check_index(tn_mind_checker *c, tn_mind_node *node) {
  const tn_mind_type *type = node->left->type;
  if (type->kind == TN_MIND_T_ERROR) return check_anyway(c, node);
  if (type->kind != TN_MIND_T_TENSOR) return tn_mind_check_index(c, node);
  const tn_mind_entry *entry = tn_mind_library_find(TN_LIT("index"));
  static const tn_mind_type first = { .kind = TN_MIND_T_SCALAR, .dtype = TN_I32, .known = true };
  node->call.target = TN_MIND_CALL_LIBRARY;
  node->call.entry = entry;
  for (tn_mind_node *arg = node->call.args; arg; arg = arg->next) {
    tn_mind_given args[TN_MIND_PARAMETER_LIMIT] = { { NULL, type }, { NULL, &first }, { arg, NULL } };
    type = tn_mind_check_library(c, entry, args, NULL, tn_mind_here(c, node));
    if (type->kind == TN_MIND_T_ERROR) return type;
  }
  return type;
}

const tn_mind_type *tn_mind_check_call(tn_mind_checker *c, tn_mind_node *node) {
  tn_mind_node *callee = node->left;
  if (node->kind == TN_MIND_INDEX) return check_index(c, node);
  tn_str name = callee_text(c, callee);
  bool field = callee->kind == TN_MIND_FIELD;
  if (field && !callee->type && callee->left->type) { /* x.name(...) */
    if (callee->left->type->kind == TN_MIND_T_ERROR) return check_anyway(c, node);
    const tn_mind_entry *entry = tn_mind_library_find(name_text(c, callee->field.word.name));
    if (entry) return check_library_call(c, node, entry, callee->left, name);
  }
  const tn_mind_entry *entry = field                          ? callee->field.library
                               : callee->kind == TN_MIND_NAME ? callee->name.library
                                                              : NULL;
  tn_mind_function *function = field                          ? callee->field.function
                               : callee->kind == TN_MIND_NAME ? callee->name.function
                                                              : NULL;
  if (entry) return check_library_call(c, node, entry, NULL, name);
  if (function) return check_function_call(c, node, function, name);
  if (!callee->type) {
    unknown_function(c, callee);
    return check_anyway(c, node);
  }
  if (callee->type->kind == TN_MIND_T_ERROR) return check_anyway(c, node);
  if (callee->type->kind == TN_MIND_T_FN) {
    const tn_mind_callable *callable = callee->type->callable;
    bool library = callable->kind == TN_MIND_C_LIBRARY; /* under another name it takes what it takes */
    return library ? check_library_call(c, node, callable->entry, NULL, name)
                   : check_value_call(c, node, callee->type, name);
  }
  tn_mind_expected(c->mind, tn_mind_here(c, callee), "a function", callee->type);
  return check_anyway(c, node);
}
