/* lang/mind/check.c: units, statements and functions.
 *
 * The statements of a module are checked in the order in which they will run,
 * so a name has at each place the type it will have there. A function is known
 * by its signature from the start; its body is checked when a statement that
 * uses it has been checked, or at the end of the unit, so that it may read
 * names that stand after it. */
#include <stdlib.h>

#include "lang/mind/check.h"
#include "lang/mind/doors.h"

static tn_mind_checker checker_of(tn_mind *mind, tn_mind_unit *unit) {
  return (tn_mind_checker){ .mind = mind, .unit = unit, .module = unit->module };
}

/* ---- effects ---- */

#define UNKNOWN_EFFECTS (~(uint32_t)0) /* one was misspelt, which has been reported */

static bool is_closure(const tn_mind_function *function) { return function->body != NULL; }

/* A closure has the effects of what it does and its caller answers for them. */
void tn_mind_require_effects(tn_mind_checker *c, uint32_t effects, tn_str function, tn_span at) {
  if (!c->function || !effects || effects == UNKNOWN_EFFECTS) return;
  if (is_closure(c->function)) {
    c->function->effects |= effects;
    return;
  }
  uint32_t missing = effects & ~c->function->effects;
  for (uint32_t bit = 1; missing != 0; bit <<= 1) {
    if (!(missing & bit)) continue;
    missing &= ~bit;
    tn_report(tn_mind_diags(c), TN_DIAG_E8001, at, TN_STR("effect", tn_mind_effect_name(bit)),
              TN_TEXT("function", function));
  }
}

static uint32_t resolve_effects(tn_mind_checker *c, const tn_mind_definition *fn) {
  static const tn_str known[] = {
    { "io", 2 }, { "fileread", 8 }, { "clock", 5 }, { "random", 6 }, { "filewrite", 9 }
  };
  uint32_t effects = 0;
  for (uint32_t i = 0; i < fn->effect_count; i++) {
    tn_str text = tn_mind_name_text(c, fn->effects[i].name);
    uint32_t effect = tn_mind_effect_find(text);
    effects |= effect;
    if (effect) continue;
    effects = UNKNOWN_EFFECTS; /* which was meant is not known, so none is missing */
    tn_mind_unknown_word(c->mind, tn_mind_word_span(c->unit, &fn->effects[i]),
                         "an effect: io, fileread, filewrite, clock or random", text, known,
                         TN_MIND_EFFECT_COUNT);
  }
  return effects;
}

/* ---- functions ---- */

static tn_mind_function *function_new(tn_mind_checker *c, const tn_mind_definition *fn) {
  tn_arena *arena = c->mind->arena;
  tn_mind_function *f = tn_arena_new(arena, tn_mind_function);
  if (!f) return NULL;
  *f = (tn_mind_function){ .name = fn->word.name,
                           .unit = c->unit,
                           .module = c->module,
                           .definition = fn,
                           .param_count = fn->count,
                           .order = UINT32_MAX,
                           .symbols.arena = arena };
  f->params = tn_arena_array(arena, fn->count, sizeof *f->params);
  f->param_types = tn_arena_array(arena, fn->count, sizeof *f->param_types);
  return f->params && f->param_types ? f : NULL;
}

typedef struct {
  tn_mind *mind;
  tn_vec(tn_name) names;
  bool failed;
} size_list;

/* recursion: types of tuples and functions as they are written, TN_MIND_NESTING_LIMIT deep. */
static void add_sizes(size_list *list, const tn_mind_type *type) {
  for (int i = 0; type->kind == TN_MIND_T_TENSOR && i < type->shape.rank; i++) {
    int64_t dim = type->shape.dim[i];
    if (!tn_dim_is_symbol(dim) || !tn_mind_mark_name(list->mind, tn_dim_name(dim), 0)) continue;
    list->failed |= !tn_vec_push(list->mind->host->heap, &list->names, tn_dim_name(dim));
  }
  for (uint32_t i = 0; type->kind == TN_MIND_T_TUPLE && i < type->count; i++) add_sizes(list, type->items[i]);
  if (type->kind != TN_MIND_T_FN) return;
  for (uint32_t i = 0; i < type->callable->param_count; i++) add_sizes(list, type->callable->params[i]);
  add_sizes(list, type->callable->result);
}

static int by_number(const void *a, const void *b) {
  tn_name left = *(const tn_name *)a, right = *(const tn_name *)b;
  return left < right ? -1 : left > right;
}

static bool gather_sizes(tn_mind *mind, tn_mind_function *f) {
  size_list list = { .mind = mind };
  tn_mind_begin_names(mind);
  for (uint32_t i = 0; i < f->param_count; i++) add_sizes(&list, f->param_types[i]);
  if (list.names.count) qsort(list.names.at, list.names.count, sizeof *list.names.at, by_number);
  f->sizes.names = tn_arena_copy(mind->arena, list.names.at, list.names.count * sizeof *list.names.at);
  f->sizes.count = (uint32_t)list.names.count;
  if (list.failed) mind->arena->failed = true;
  tn_vec_free(mind->host->heap, &list.names);
  return !mind->arena->failed;
}

/* The signature alone. */
static tn_mind_function *declare_function(tn_mind_checker *c, const tn_mind_definition *fn) {
  tn_mind_function *f = function_new(c, fn);
  if (!f) return NULL;
  tn_mind_begin_names(c->mind);
  for (uint32_t i = 0; i < fn->count; i++) {
    f->param_types[i] = tn_mind_resolve(c, fn->params[i].annotation);
    f->failed |= f->param_types[i]->kind == TN_MIND_T_ERROR;
    f->failed |= tn_mind_repeats(c, &fn->params[i].word, i, "two parameters have the same name");
  }
  if (!gather_sizes(c->mind, f)) return NULL;
  f->result = tn_mind_resolve(c, fn->result);
  f->failed |= f->result->kind == TN_MIND_T_ERROR;
  f->effects = resolve_effects(c, fn);
  return f;
}

static void declare_params(tn_mind_checker *c, tn_mind_function *f) {
  for (uint32_t i = 0; i < f->param_count; i++) {
    f->params[i] = tn_mind_variable_new(c, &f->definition->params[i].word, f->param_types[i]);
    if (!f->params[i]) return;
    f->params[i]->declared = f->param_types[i];
    tn_mind_declare(c, f->params[i]);
  }
}

/* What is underlined when the result does not fit: the last expression, or the signature. */
static tn_span result_place(tn_mind_checker *c, const tn_mind_function *f, const tn_mind_node *tail) {
  if (tail) return tn_mind_at(c->unit, tail->from, tail->to);
  return tn_mind_at(c->unit, f->definition->result->start, f->definition->result->end);
}

/* Finds the calls whose value is the function's, with nothing left to do after them.
 * recursion: ifs in ifs, TN_MIND_NESTING_LIMIT deep. */
static void mark_tails(tn_mind_node *node) {
  if (!node) return;
  if (node->kind == TN_MIND_CALL) node->call.tail = true;
  bool whole = node->kind == TN_MIND_IF && node->branch.has_else;
  for (tn_mind_branch *b = whole ? node->branch.branches : NULL; b; b = b->next)
    mark_tails(tn_mind_block_tail(&b->block));
}

static void check_function(tn_mind *mind, tn_mind_function *f) {
  tn_mind_checker c = checker_of(mind, f->unit);
  tn_mind_node *tail;
  f->state = TN_MIND_CHECKED;
  c.function = f;
  f->symbols.sizes = &f->sizes;
  declare_params(&c, f);
  if (mind->arena->failed) return;
  const tn_mind_type *type = tn_mind_check_block(&c, &f->definition->body, &tail);
  tn_mind_target_type target = { f->result, &f->symbols, "return", result_place(&c, f, tail) };
  f->gives = tn_mind_fit(&c, &target, tail, type);
  mark_tails(tail);
}

void tn_mind_enqueue(tn_mind *mind, tn_mind_function *function) {
  if (function->state != TN_MIND_UNCHECKED || is_closure(function)) return;
  function->state = TN_MIND_QUEUED;
  function->next = mind->queue;
  mind->queue = function;
}

static void check_queue(tn_mind *mind) {
  while (mind->queue && !mind->arena->failed) {
    tn_mind_function *next = mind->queue;
    mind->queue = next->next;
    check_function(mind, next);
  }
}

/* ---- let and assignment ---- */

static tn_mind_variable *bind(tn_mind_checker *c, const tn_mind_word *word, const tn_mind_type *type,
                              const tn_mind_type *declared) {
  tn_mind_variable *variable = tn_mind_variable_new(c, word, type);
  if (!variable) return NULL;
  variable->declared = declared;
  tn_mind_declare(c, variable);
  return variable;
}

/* let (a, b) = pair */
static void bind_items(tn_mind_checker *c, tn_mind_node *node, const tn_mind_type *type) {
  bool fits = tn_mind_has_positions(type) && tn_mind_item_count(type) == node->let.count;
  tn_span at = tn_mind_here(c, node->let.value);
  if (!fits) tn_mind_expected(c->mind, at, "a tuple with one item for each name", type);
  tn_mind_begin_names(c->mind);
  for (uint32_t i = 0; i < node->let.count; i++) {
    const tn_mind_type *item = &tn_mind_type_error;
    tn_mind_repeats(c, &node->let.words[i], i, "two names of this tuple are the same");
    if (fits) item = tn_mind_item_type(c, type, i, at);
    node->let.variables[i] = bind(c, &node->let.words[i], tn_mind_bound_type(c->mind, item), NULL);
  }
}

static const tn_mind_type *check_let(tn_mind_checker *c, tn_mind_node *node) {
  const tn_mind_type *type = tn_mind_check_expression(c, node->let.value), *declared = NULL;
  uint32_t count = node->let.word.name ? 1 : node->let.count;
  tn_mind_node *value = node->let.value;
  if (node->let.annotation) {
    tn_span at = tn_mind_at(c->unit, value->from, value->to);
    type = declared = tn_mind_meet(c, tn_mind_resolve(c, node->let.annotation), "let", at, value, type);
  } else {
    type = tn_mind_bound_type(c->mind, type);
  }
  if (!c->function) check_queue(c->mind); /* before the new name can be seen */
  node->let.variables = tn_arena_array(c->mind->arena, count, sizeof *node->let.variables);
  if (!node->let.variables) return &tn_mind_type_error;
  if (!node->let.word.name) {
    bind_items(c, node, type);
    return type;
  }
  tn_mind_variable *variable = node->let.variables[0] = bind(c, &node->let.word, type, declared);
  if (variable) variable->value = value;
  bool closure = value->kind == TN_MIND_CLOSURE && value->closure.state;
  if (closure) value->closure.state->name = node->let.word.name;
  return type;
}

/* The variable an assignment changes; NULL: there is none. */
static tn_mind_variable *assigned(tn_mind_checker *c, tn_name name) {
  const tn_mind_scope *found = tn_mind_lookup(c, name);
  if (!found || found->binds != TN_MIND_BINDS_VARIABLE) return NULL;
  bool own = found->variable->owner == c->function && found->variable->module == c->module;
  return own ? found->variable : NULL;
}

static const tn_mind_type *not_local(tn_mind_checker *c, const tn_mind_node *node) {
  if (tn_mind_is_doubtful(c->unit, node->let.word.name)) return &tn_mind_type_error;
  tn_str text = tn_mind_name_text(c, node->let.word.name);
  bool outside = tn_mind_lookup(c, node->let.word.name) != NULL;
  tn_str hint = outside ? TN_LIT("a function reads names from outside and does not change them; use `let`")
                        : TN_LIT("");
  tn_str near = outside ? TN_LIT("") : tn_mind_suggest(c, text, false);
  tn_report(tn_mind_diags(c), TN_DIAG_E2002, tn_mind_word_span(c->unit, &node->let.word),
            TN_TEXT("name", text), TN_TEXT("suggestion", near), TN_HINT(hint));
  if (!outside) node->let.variables[0] = bind(c, &node->let.word, &tn_mind_type_error, NULL);
  return &tn_mind_type_error;
}

/* Numbers that are written out have no dtype yet; those with a point are floats anyway.
 * recursion: lists in lists, TN_MIND_NESTING_LIMIT deep. */
static bool has_floats(const tn_mind_node *list) {
  for (const tn_mind_node *item = list->list.items; item; item = item->next) {
    bool nested = item->kind == TN_MIND_LIST;
    if (nested ? has_floats(item) : tn_dtype_in(item->type->dtype, TN_FLOATS)) return true;
  }
  return false;
}

static bool has_dtype(const tn_mind_type *type, const tn_mind_node *value, tn_dtype dtype) {
  if (type->dtype == dtype) return true;
  bool to_float = tn_dtype_in(dtype, TN_FLOATS | TN_STORAGE);
  return type->literal && (to_float || value->kind != TN_MIND_LIST || !has_floats(value));
}

/* Whether a value is what an annotated type keeps, or fits it: how it becomes that is tn_mind_fit's to say.
 * `value` is NULL where the item of a tuple is not written out. */
static bool keeps_type(tn_stack *stack, const tn_mind_sizes *sizes, const tn_mind_type *kept,
                       const tn_mind_type *type, const tn_mind_node *value) {
  if (tn_mind_type_equal(stack, kept, type)) return true;
  if (!tn_stack_room(stack)) return false;
  if (kept->kind == TN_MIND_T_TUPLE) {
    if (type->kind != TN_MIND_T_TUPLE || type->count != kept->count) return false;
    const tn_mind_node *item = value && value->kind == TN_MIND_TUPLE ? value->list.items : NULL;
    for (uint32_t i = 0; i < kept->count; i++) {
      if (!keeps_type(stack, sizes, kept->items[i], item ? item->type : type->items[i], item)) return false;
      if (item) item = item->next;
    }
    return true;
  }
  if (kept->kind == TN_MIND_T_FN && type->kind == TN_MIND_T_FN) return true;
  if (tn_mind_type_is_single(type)) return tn_mind_type_is_value(kept);
  bool tensors = kept->kind == TN_MIND_T_TENSOR && type->kind == TN_MIND_T_TENSOR;
  if (!tensors || !has_dtype(type, value, kept->dtype)) return false;
  return (kept->device == type->device || type->fresh) &&
         tn_mind_shapes_agree(sizes, &kept->shape, &type->shape);
}

/* An annotated type stays: a scalar fills it, i32 widens to it, anything else is an error. */
static const tn_mind_type *assign_declared(tn_mind_checker *c, tn_mind_node *node, const tn_mind_type *kept,
                                           const tn_mind_type *type) {
  tn_mind_node *value = node->let.value;
  tn_span at = tn_mind_at(c->unit, value->from, value->to);
  if (type->kind == TN_MIND_T_ERROR || kept->kind == TN_MIND_T_ERROR) return &tn_mind_type_error;
  if (keeps_type(&c->mind->host->heap->stack, tn_mind_sizes_here(c), kept, type, value))
    return tn_mind_meet(c, kept, "let", at, value, type);
  return tn_mind_wrong(tn_mind_types_differ(c->mind, at, kept, type, node->let.word.name, TN_LIT("")));
}

static const tn_mind_type *check_assignment(tn_mind_checker *c, tn_mind_node *node) {
  const tn_mind_type *type = tn_mind_check_expression(c, node->let.value);
  tn_mind_variable *variable = assigned(c, node->let.word.name);
  if (!c->function) check_queue(c->mind);
  node->let.variables = tn_arena_new(c->mind->arena, tn_mind_variable *);
  if (!node->let.variables) return &tn_mind_type_error;
  if (!variable && c->function) return not_local(c, node);
  if (!variable) {
    variable = node->let.variables[0] = bind(c, &node->let.word, tn_mind_bound_type(c->mind, type), NULL);
    if (variable && !c->conditional) variable->value = node->let.value;
    return type;
  }
  variable->assigned = true;
  node->let.variables[0] = variable;
  if (variable->declared || variable->fixed) {
    type = assign_declared(c, node, variable->declared ? variable->declared : variable->type, type);
    if (variable->declared)
      tn_mind_change_type(c, variable, type);
    else if (type->kind == TN_MIND_T_SCALAR)
      tn_mind_change_type(c, variable, tn_mind_type_scalar(type->dtype));
    return type;
  }
  tn_mind_change_type(c, variable, tn_mind_bound_type(c->mind, type));
  return type;
}

/* ---- imports and exports ---- */

static void import_name(tn_mind_checker *c, tn_mind_module *module, const tn_mind_word *word) {
  const tn_mind_scope *found =
      module->failed ? NULL
                     : tn_mind_export_find(c->mind, module, word->name, tn_mind_word_span(c->unit, word));
  if (found)
    tn_mind_declare_in_module(c->mind, c->module, *found);
  else
    bind(c, word, &tn_mind_type_error, NULL); /* it is not asked about again */
}

/* What a module that is not there would have given: names that are not asked about again. */
static void bind_missing(tn_mind_checker *c, const tn_mind_import *import) {
  const tn_mind_word *alias = import->alias.name ? &import->alias : &import->path[import->count - 1];
  if (!import->has_names) bind(c, alias, &tn_mind_type_error, NULL);
  for (uint32_t i = 0; i < import->name_count; i++) bind(c, &import->names[i], &tn_mind_type_error, NULL);
}

static const tn_mind_type *check_import(tn_mind_checker *c, tn_mind_node *node) {
  const tn_mind_import *import = node->import;
  tn_mind_module *module = tn_mind_import_module(c->mind, c->module, c->unit, node);
  if (!module) {
    bind_missing(c, import);
    return &tn_mind_type_error;
  }
  for (uint32_t i = 0; i < import->name_count; i++) import_name(c, module, &import->names[i]);
  if (import->has_names) return &tn_mind_type_unit;
  tn_name name = import->alias.name ? import->alias.name : import->path[import->count - 1].name;
  tn_mind_declare_in_module(c->mind, c->module,
                            (tn_mind_scope){ .name = name, .binds = TN_MIND_BINDS_MODULE, .module = module });
  return &tn_mind_type_unit;
}

static void check_export(tn_mind_checker *c, const tn_mind_import *exports) {
  for (uint32_t i = 0; i < exports->name_count; i++) {
    const tn_mind_word *word = &exports->names[i];
    const tn_mind_scope *found = tn_mind_lookup_in(c->module, word->name);
    bool variable = found && found->binds != TN_MIND_BINDS_MODULE;
    if (variable || tn_mind_is_doubtful(c->unit, word->name)) continue;
    tn_str text = tn_mind_name_text(c, word->name);
    tn_report(tn_mind_diags(c), TN_DIAG_E7003, tn_mind_word_span(c->unit, word), TN_TEXT("name", text),
              TN_TEXT("suggestion", found ? TN_LIT("") : tn_mind_suggest(c, text, false)));
  }
}

static void check_exports(tn_mind_checker *c) {
  for (const tn_mind_node *node = c->unit->block.first; node; node = node->next) {
    if (node->kind == TN_MIND_EXPORT) check_export(c, node->import);
  }
}

/* ---- statements ---- */

static tn_mind_scope entry_of(tn_mind_function *f) {
  return (tn_mind_scope){ .name = f->name, .binds = TN_MIND_BINDS_FUNCTION, .function = f };
}

/* From here on the function is the newest of its name, and sees what stands before it. */
static const tn_mind_type *check_fn(tn_mind_checker *c, const tn_mind_node *node) {
  tn_mind_function *f = node->definition->function;
  if (!f) return &tn_mind_type_error;
  f->order = c->module->entry_count;
  const tn_mind_scope *newest = tn_mind_lookup_in(c->module, f->name);
  bool is_newest = newest->binds == TN_MIND_BINDS_FUNCTION && newest->function == f;
  if (!is_newest) tn_mind_declare_in_module(c->mind, c->module, entry_of(f));
  return &tn_mind_type_unit;
}

static const tn_mind_type *check_statement(tn_mind_checker *c, tn_mind_node *node) {
  switch ((tn_mind_kind)node->kind) {
    case TN_MIND_LET: return check_let(c, node);
    case TN_MIND_ASSIGN: return check_assignment(c, node);
    case TN_MIND_FN: return check_fn(c, node);
    case TN_MIND_IMPORT: return check_import(c, node);
    case TN_MIND_EXPORT: return &tn_mind_type_unit;
    default: return tn_mind_check_expression(c, node);
  }
}

const tn_mind_type *tn_mind_check_block(tn_mind_checker *c, const tn_mind_block *block, tn_mind_node **tail) {
  const tn_mind_scope *outer = c->locals;
  const tn_mind_type *type = &tn_mind_type_unit;
  *tail = NULL;
  if (!tn_mind_room(c->mind)) {
    return tn_mind_wrong(
        tn_report_stack(tn_mind_diags(c), tn_mind_at(c->unit, block->start, block->end), NULL));
  }
  for (tn_mind_node *node = block->first; node && !c->mind->arena->failed; node = node->next) {
    type = node->type = check_statement(c, node);
    *tail = node->kind < TN_MIND_LET ? node : NULL;
  }
  c->locals = outer;
  return type;
}

static void declare_functions(tn_mind_checker *c) {
  if (!c->unit->defines) return;
  for (const tn_mind_node *node = c->unit->block.first; node; node = node->next) {
    if (node->kind != TN_MIND_FN) continue;
    tn_mind_function *f = node->definition->function = declare_function(c, node->definition);
    if (!f) return;
    tn_mind_declare_in_module(c->mind, c->module, entry_of(f));
  }
}

static void check_remaining(tn_mind *mind, const tn_mind_unit *unit) {
  if (!unit->defines) return;
  for (const tn_mind_scope *at = unit->module->scope; at; at = at->next) {
    if (at->binds == TN_MIND_BINDS_FUNCTION && at->function->unit == unit)
      tn_mind_enqueue(mind, at->function);
  }
  check_queue(mind);
}

bool tn_mind_check_unit(tn_mind *mind, tn_mind_unit *unit) {
  tn_mind_checker c = checker_of(mind, unit);
  size_t errors = mind->host->diags->errors;
  tn_mind_path *outer = mind->paths; /* of the unit that imports this one */
  tn_mind_closure *closures = mind->closures;
  uint32_t statement = mind->statement;
  mind->paths = NULL;
  mind->closures = NULL;
  mind->copied = 0;
  mind->unfolded = false;
  mind->statement = 0;
  tn_diags_enter(mind->host->diags, TN_PHASE_CHECK);
  declare_functions(&c);
  for (tn_mind_node *node = unit->block.first; node && !mind->arena->failed; node = node->next) {
    node->type = check_statement(&c, node);
    check_queue(mind);
    mind->statement++;
  }
  check_remaining(mind, unit);
  tn_mind_check_idle_closures(mind);
  mind->closures = closures;
  mind->statement = statement;
  if (unit->exports) check_exports(&c);
  if (mind->host->diags->errors == errors) tn_mind_check_paths(mind);
  mind->paths = outer;
  return mind->host->diags->errors == errors && !mind->arena->failed;
}

bool tn_lang_mind_check(tn_unit *unit) {
  tn_host *host = unit->host;
  tn_arena arena;
  tn_mind mind;
  tn_arena_init(&arena, host->heap);
  tn_mind_init(&mind, host, &arena);
  bool ok = tn_mind_load(&mind, unit->file) != NULL;
  tn_mind_free(&mind);
  tn_arena_free(&arena);
  return ok;
}
