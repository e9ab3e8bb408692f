/* lang/mind/check_call.c: calls: the function, its arguments, the type of the result.
 *
 * An argument is bound to its parameter by its position or its name, whatever is
 * called. Closures are in check_closure.c, grad(f) and the like in check_grad.c. */
#include <string.h>

#include "lang/mind/check.h"

/* ---- arguments and parameters ---- */

/* The parameters of whatever is called. */
typedef struct {
  uint32_t count, required; /* UINT32_MAX: any number of arguments */
  uint32_t places;          /* of arguments that have a parameter of their own */
  uint32_t first;           /* the place of the first argument that has no name */
  const tn_mind_callable *callable;
  const tn_mind_entry *entry; /* of a library function that is called by its name; else NULL */
} signature;

typedef struct {
  tn_mind_checker *c;
  tn_mind_node *call;
  tn_str function;  /* as the program wrote it */
  uint32_t skipped; /* 1: the receiver of a method is the first argument */
} caller;

/* grad(f) takes what f takes. */
static signature signature_of(const tn_mind_callable *callable) {
  signature of = { .count = 1, .callable = tn_mind_innermost(callable) };
  switch (of.callable->kind) {
    case TN_MIND_C_FUNCTION: of.count = of.callable->function->param_count; break;
    case TN_MIND_C_CLOSURE: of.count = of.callable->closure->closure.count; break;
    case TN_MIND_C_LIBRARY: of.count = of.callable->entry->count; break;
    case TN_MIND_C_DECLARED: of.count = of.callable->param_count; break;
    default: break;
  }
  bool library = of.callable->kind == TN_MIND_C_LIBRARY;
  of.required = library ? (uint32_t)tn_mind_entry_required(of.callable->entry) : of.count;
  of.places = of.count;
  return of;
}

/* The name of a parameter of the program; 0: it has none to be named by. */
static tn_name parameter_word(const tn_mind_callable *callable, uint32_t index) {
  switch (callable->kind) {
    case TN_MIND_C_FUNCTION: return callable->function->definition->params[index].word.name;
    case TN_MIND_C_CLOSURE: return callable->closure->closure.params[index].word.name;
    default: return 0;
  }
}

tn_str tn_mind_parameter_name(tn_mind_checker *c, const tn_mind_callable *callable, uint32_t index) {
  callable = tn_mind_innermost(callable);
  if (callable->kind == TN_MIND_C_LIBRARY) return tn_str_of(callable->entry->params[index].name);
  tn_name word = parameter_word(callable, index);
  return word ? tn_mind_name_text(c, word) : TN_LIT("");
}

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
  return tn_mind_kept_text(mind, &text);
}

static TN_OWN_FRAME bool report_count(tn_mind_checker *c, tn_span at, tn_str function,
                                      const tn_mind_callable *callable, const uint32_t range[2],
                                      uint32_t got) {
  bool library = callable->kind == TN_MIND_C_LIBRARY;
  return tn_report(tn_mind_diags(c), TN_DIAG_E2005, at, TN_TEXT("function", function),
                   TN_TEXT("expected", count_text(c->mind, range[0], range[1])), TN_INT("got", got),
                   TN_HINT(library ? tn_mind_call_hint(c->mind, callable->entry) : TN_LIT("")));
}

static bool wrong_count(const caller *by, const signature *of) {
  uint32_t least = of->required > by->skipped ? of->required - by->skipped : 0;
  uint32_t most = of->count > by->skipped ? of->count - by->skipped : 0;
  uint32_t got = by->call->call.count + (of->count < by->skipped); /* a receiver that has no parameter */
  if (of->count == UINT32_MAX) most = UINT32_MAX;
  return report_count(by->c, tn_mind_here(by->c, by->call), by->function, of->callable,
                      (uint32_t[]){ least, most }, got);
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
  return tn_mind_kept_text(by->c->mind, &text);
}

static bool unknown_keyword(const caller *by, const signature *of, const tn_mind_node *arg) {
  tn_mind *mind = by->c->mind;
  tn_str text = tn_mind_name_text(by->c, arg->keyword.name);
  tn_str *names = tn_arena_array(mind->arena, of->places, sizeof *names);
  bool named = of->entry || of->callable->kind != TN_MIND_C_LIBRARY;
  size_t known = 0;
  for (uint32_t i = 0; names && named && i < of->places; i++) {
    names[known] = tn_mind_parameter_name(by->c, of->callable, i);
    known += names[known].len > 0;
  }
  tn_str near = tn_str_suggest(text, names, known), hint = TN_LIT("these parameters have no names");
  if (known) hint = near.len ? TN_LIT("") : names_of_parameters(by, names, known);
  return tn_report(mind->host->diags, TN_DIAG_E2002, tn_mind_word_span(by->c->unit, &arg->keyword),
                   TN_TEXT("name", text), TN_TEXT("suggestion", near), TN_HINT(hint));
}

/* The place of the parameter; -1: there is none of that name. The names of a program are numbers, so that
 * to look for one costs no walk; those of the library are few. */
static int64_t keyword_place(const caller *by, const signature *of, tn_name keyword, bool *marked) {
  if (of->entry) return tn_mind_entry_parameter(of->entry, tn_mind_name_text(by->c, keyword));
  if (!*marked) tn_mind_begin_names(by->c->mind);
  for (uint32_t i = 0; !*marked && i < of->places; i++) {
    tn_name word = parameter_word(of->callable, i);
    if (word) tn_mind_mark_name(by->c->mind, word, i);
  }
  *marked = true;
  return tn_mind_marked(by->c->mind, keyword);
}

static bool misses_one(const signature *of, tn_mind_node *const *bound) {
  for (uint32_t i = 0; i < of->places; i++) {
    bool optional = of->callable->kind == TN_MIND_C_LIBRARY && (!of->entry || of->entry->params[i].otherwise);
    if (!bound[i] && !optional) return true;
  }
  return false;
}

/* Puts each argument where its parameter is. False after reporting. */
static TN_OWN_FRAME bool bind_arguments(const caller *by, const signature *of, tn_mind_node **bound) {
  uint32_t position = of->first;
  bool marked = false;
  if (!of->entry && by->call->call.count < of->required) return wrong_count(by, of);
  for (tn_mind_node *arg = by->call->call.args; arg; arg = arg->next) {
    tn_name keyword = arg->keyword.name;
    int64_t at = keyword ? keyword_place(by, of, keyword, &marked) : position++;
    if (at < 0) return unknown_keyword(by, of, arg);
    arg->place = (uint32_t)at;
    if (at >= (int64_t)of->places && at < (int64_t)of->count) continue; /* a further argument of print */
    if (at >= (int64_t)of->places || bound[at]) return wrong_count(by, of);
    bound[at] = arg;
  }
  return !misses_one(of, bound) || wrong_count(by, of);
}

/* Arguments of a call that is wrong are still checked for errors of their own. */
static const tn_mind_type *check_anyway(tn_mind_checker *c, tn_mind_node *call) {
  for (tn_mind_node *arg = call->call.args; arg; arg = arg->next) {
    bool word = arg->kind == TN_MIND_NAME || tn_mind_is_list(arg);
    if (!word) tn_mind_check_expression(c, arg); /* f32 and (N, 3) may have been meant as words */
  }
  return &tn_mind_type_error;
}

/* ---- functions ---- */

static int round_of(const tn_mind_type *type) {
  return tn_mind_round_of(type->kind == TN_MIND_T_SCALAR, type->kind == TN_MIND_T_FN);
}

bool tn_mind_fit_arguments(tn_mind_checker *c, const tn_mind_type *const *params, uint32_t count,
                           const tn_mind_given *args, tn_str name, tn_span at, tn_mind_bindings *symbols) {
  bool ok = true;
  for (int round = 0; round < TN_MIND_ROUNDS; round++) {
    for (uint32_t i = 0; i < count; i++) {
      if (round_of(args[i].type) != round) continue;
      tn_mind_target_type target = { params[i], symbols, name.at, tn_mind_given_span(c, &args[i], at) };
      ok &= tn_mind_fit(c, &target, args[i].node, args[i].type)->kind != TN_MIND_T_ERROR;
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
  if (!tn_mind_fit_arguments(c, f->param_types, f->param_count, args, name, at, &symbols))
    return &tn_mind_type_error;
  return result_type(c, f, &symbols, f->result, f->gives);
}

/* ---- function values ---- */

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
  if (!tn_mind_room(c->mind)) return tn_mind_wrong(tn_report_stack(tn_mind_diags(c), at, NULL));
  if (count < of.required || count > of.count)
    return tn_mind_wrong(report_count(c, at, name, of.callable, (uint32_t[]){ of.required, of.count },
                                      count));
  for (uint32_t i = 0; i < count; i++) {
    if (args[i].type->kind == TN_MIND_T_ERROR) return &tn_mind_type_error;
  }
  switch (callable->kind) {
    case TN_MIND_C_FUNCTION:
      *function = callable->function;
      return call_function(c, callable->function, args, name, at);
    case TN_MIND_C_CLOSURE: return tn_mind_call_closure(c, callable->closure, args, name, at, function);
    case TN_MIND_C_LIBRARY: return call_library(c, callable->entry, args, count, name, at);
    case TN_MIND_C_PULLBACK: return tn_mind_call_pullback(c, callable, args, at);
    case TN_MIND_C_DECLARED: return tn_mind_call_declared(c, callable, args, name, at);
    default: return tn_mind_call_transform(c, callable, args, count, name, at, function);
  }
}

/* ---- calls as they are written ---- */

/* A call of a function of the program, or of a value that is a function. `f` is known in the first case. */
static const tn_mind_type *check_program_call(tn_mind_checker *c, tn_mind_node *node, tn_mind_function *f,
                                              const tn_mind_callable *callable, tn_str name) {
  caller by = { c, node, name, 0 };
  signature of = signature_of(callable);
  uint32_t count = node->call.count;
  tn_mind_node **bound = node->call.bound = tn_arena_array(c->mind->arena, of.count, sizeof *bound);
  tn_mind_given *args = tn_arena_array(c->mind->arena, count, sizeof *args);
  if (!bound || !args) return &tn_mind_type_error;
  node->call.target = f ? TN_MIND_CALL_FUNCTION : TN_MIND_CALL_VALUE;
  node->call.function = f;
  if (!bind_arguments(&by, &of, bound)) return check_anyway(c, node);
  bool ok = true;
  for (tn_mind_node *arg = node->call.args; arg; arg = arg->next)
    ok &= tn_mind_check_expression(c, arg)->kind != TN_MIND_T_ERROR;
  for (uint32_t i = 0; i < count; i++) args[i] = (tn_mind_given){ bound[i], bound[i]->type };
  if (f && !f->failed) tn_mind_enqueue(c->mind, f);
  if (!ok || (f && f->failed)) return &tn_mind_type_error;
  return tn_mind_call_type(c, callable, args, count, name, tn_mind_here(c, node), &node->call.function);
}

/* The receiver of a method is the first. */
static uint32_t count_positional(const tn_mind_node *call) {
  uint32_t count = call->call.method;
  for (const tn_mind_node *arg = call->call.args; arg; arg = arg->next) count += !arg->keyword.name;
  return count;
}

static const tn_mind_type *check_library_call(tn_mind_checker *c, tn_mind_node *node,
                                              const tn_mind_entry *entry, tn_mind_node *receiver,
                                              tn_str name) {
  caller by = { c, node, name, receiver ? 1 : 0 };
  tn_mind_callable callable = { .kind = TN_MIND_C_LIBRARY, .entry = entry };
  signature of = signature_of(&callable);
  tn_mind_given args[TN_MIND_PARAMETER_LIMIT] = { { 0 } };
  tn_mind_node **bound = tn_arena_array(c->mind->arena, TN_MIND_PARAMETER_LIMIT, sizeof *bound);
  node->call.target = TN_MIND_CALL_LIBRARY;
  node->call.entry = entry;
  node->call.method = receiver != NULL;
  node->call.bound = bound;
  if (!bound) return &tn_mind_type_error;
  uint32_t place = tn_mind_entry_place(entry, 0, count_positional(node));
  of.entry = entry;
  of.first = place + by.skipped;
  if (entry->special == TN_MIND_PRINT) of.count = UINT32_MAX;
  if (receiver && !entry->count) wrong_count(&by, &of);
  if (receiver) {
    bound[place] = receiver;
    receiver->place = place;
  }
  if ((receiver && !entry->count) || !bind_arguments(&by, &of, bound)) return check_anyway(c, node);
  for (int i = 0; i < entry->count; i++) args[i].node = bound[i];
  if (receiver) args[place].type = receiver->type;
  tn_mind_require_effects(c, entry->effects, name, tn_mind_here(c, node));
  return tn_mind_check_library(c, entry, args, node, tn_mind_here(c, node));
}

/* What stands before the bracket, as the program wrote it. */
static TN_OWN_FRAME tn_str callee_text(tn_mind_checker *c, const tn_mind_node *callee) {
  if (callee->kind == TN_MIND_NAME) return tn_mind_name_text(c, callee->name.name);
  bool field = callee->kind == TN_MIND_FIELD && callee->field.word.name; /* else pair.1, which has no name */
  if (field && callee->left->type) return tn_mind_name_text(c, callee->field.word.name);
  tn_span at = tn_mind_here(c, callee);
  if (field) return tn_arena_str(c->mind->arena, tn_span_text(c->mind->host->sources, at));
  if (callee->type && callee->type->kind == TN_MIND_T_FN)
    return tn_mind_callable_name(c->mind, callee->type->callable);
  return TN_LIT("closure");
}

static TN_OWN_FRAME void unknown_function(tn_mind_checker *c, tn_mind_node *callee) {
  bool field = callee->kind == TN_MIND_FIELD, method = field && callee->left->type;
  tn_name name = field ? callee->field.word.name : callee->name.name;
  tn_str last = tn_mind_name_text(c, name);
  tn_span at = method ? tn_mind_word_span(c->unit, &callee->field.word) : tn_mind_here(c, callee);
  if (method || !tn_mind_is_doubtful(c->unit, name)) {
    tn_report(tn_mind_diags(c), TN_DIAG_E2003, at, TN_TEXT("name", last),
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
    const tn_mind_entry *entry = tn_mind_library_find(tn_mind_name_text(c, callee->field.word.name));
    if (entry) return check_library_call(c, node, entry, callee->left, name);
  }
  bool name_only = callee->kind == TN_MIND_NAME;
  const tn_mind_entry *entry = field ? callee->field.library : name_only ? callee->name.library : NULL;
  tn_mind_function *function = field ? callee->field.function : name_only ? callee->name.function : NULL;
  bool value = callee->type && callee->type->kind == TN_MIND_T_FN;
  const tn_mind_callable *callable = value ? callee->type->callable : NULL;
  if (!entry && value && callable->kind == TN_MIND_C_LIBRARY)
    entry = callable->entry; /* under another name it takes what it takes */
  tn_mind_callable called = { .kind = TN_MIND_C_FUNCTION, .function = function };
  if (entry) return check_library_call(c, node, entry, NULL, name);
  if (function) return check_program_call(c, node, function, &called, name);
  if (value) return check_program_call(c, node, NULL, callable, name);
  if (!callee->type) unknown_function(c, callee);
  if (!callee->type || callee->type->kind == TN_MIND_T_ERROR) return check_anyway(c, node);
  tn_mind_expected(c->mind, tn_mind_here(c, callee), "a function", callee->type);
  return check_anyway(c, node);
}
