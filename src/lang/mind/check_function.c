/* lang/mind/check_function.c: functions of which only the type is known.
 *
 * `f: fn(f32) -> f32` may be any function of that type. What is given for it is
 * called once, here, with what the type says, so that a closure is checked for
 * those types and what it gives must be what the type says. Inside, a call looks
 * at nothing but the type; which copy of a closure runs is found when it runs.
 *
 * Passing a function has its effects. */
#include "lang/mind/check.h"

/* ---- sizes ---- */

static const tn_mind_type *sized_items(tn_mind_checker *c, const tn_mind_bindings *symbols,
                                       const tn_mind_type *type) {
  const tn_mind_type **items = tn_arena_array(c->mind->arena, type->count, sizeof *items);
  if (!items || !tn_mind_room(c->mind)) return &tn_mind_type_error;
  for (uint32_t i = 0; i < type->count; i++) items[i] = tn_mind_sized(c, symbols, type->items[i]);
  return tn_mind_type_items(c->mind->arena, TN_MIND_T_TUPLE, items, NULL, type->count);
}

static const tn_mind_type *sized_function(tn_mind_checker *c, const tn_mind_bindings *symbols,
                                          const tn_mind_callable *of) {
  const tn_mind_type **params = tn_arena_array(c->mind->arena, of->param_count, sizeof *params);
  tn_mind_callable *made = tn_arena_copy(c->mind->arena, of, sizeof *of);
  if (!params || !made || !tn_mind_room(c->mind)) return &tn_mind_type_error;
  for (uint32_t i = 0; i < of->param_count; i++) params[i] = tn_mind_sized(c, symbols, of->params[i]);
  made->params = params;
  made->result = tn_mind_sized(c, symbols, of->result);
  return tn_mind_type_fn(c->mind->arena, made);
}

/* A name of another signature that met no size could be taken for one of the function around. */
static int64_t sized_dim(const tn_mind_checker *c, const tn_mind_bindings *symbols, int64_t dim) {
  int64_t bound = tn_mind_bound(symbols, dim);
  bool stays = bound == dim && tn_dim_is_symbol(dim) && symbols->foreign && c->function;
  return stays && !tn_mind_meets(symbols, tn_dim_name(dim), dim) ? TN_DIM_UNKNOWN : bound;
}

const tn_mind_type *tn_mind_sized(tn_mind_checker *c, const tn_mind_bindings *symbols,
                                  const tn_mind_type *type) {
  if (type->kind == TN_MIND_T_TUPLE) return sized_items(c, symbols, type);
  bool declared = type->kind == TN_MIND_T_FN && type->callable->kind == TN_MIND_C_DECLARED;
  if (declared) return sized_function(c, symbols, type->callable);
  if (type->kind != TN_MIND_T_TENSOR) return type;
  tn_shape shape = type->shape;
  for (int i = 0; i < shape.rank; i++) shape.dim[i] = sized_dim(c, symbols, shape.dim[i]);
  return tn_mind_type_tensor(c->mind->arena, type->dtype, &shape, type->device);
}

/* ---- what is handed over ---- */

static const tn_mind_type *misfit(tn_mind_checker *c, const tn_mind_target_type *target,
                                  const tn_mind_type *type) {
  return tn_mind_wrong(tn_mind_types_differ(c->mind, target->at, target->wanted, type, 0, TN_LIT("")));
}

/* A closure has no types to be shown, but a number of parameters. */
static const tn_mind_type *wrong_count(tn_mind_checker *c, const tn_mind_target_type *target,
                                       const tn_mind_type *type) {
  if (type->callable->kind != TN_MIND_C_CLOSURE) return misfit(c, target, type);
  uint32_t count = type->callable->closure->closure.count;
  tn_text text;
  tn_text_init(&text, c->mind->host->heap);
  tn_text_puts(&text, "a closure with ");
  tn_text_uint(&text, count);
  tn_text_puts(&text, count == 1 ? " parameter" : " parameters");
  tn_report(tn_mind_diags(c), TN_DIAG_E2001, target->at,
            TN_TEXT("expected", tn_mind_describe(c->mind, target->wanted)),
            TN_TEXT("got", tn_text_str(&text)));
  tn_text_free(&text);
  return &tn_mind_type_error;
}

/* Names that no argument has given a size are any sizes: what fits is what fits all of them. */
static void add_open_names(const tn_mind_bindings *symbols, const tn_mind_type *type, tn_name *names,
                           uint32_t *count) {
  for (int i = 0; type->kind == TN_MIND_T_TENSOR && i < type->shape.rank; i++) {
    int64_t dim = type->shape.dim[i];
    bool open = tn_dim_is_symbol(dim) && tn_mind_bound(symbols, dim) == dim;
    uint32_t at = *count;
    for (uint32_t k = 0; open && k < *count; k++) open = names[k] != tn_dim_name(dim);
    if (!open || *count == TN_RANK_LIMIT * 4) continue;
    for (; at > 0 && names[at - 1] > tn_dim_name(dim); at--) names[at] = names[at - 1];
    names[at] = tn_dim_name(dim);
    ++*count;
  }
}

/* What the function gives for arguments of the types that are written. A literal that a closure ends in still
 * adapts. */
static const tn_mind_type *given_result(tn_mind_checker *c, const tn_mind_target_type *target,
                                        const tn_mind_type *type) {
  const tn_mind_callable *wanted = target->wanted->callable;
  tn_mind_given *args = tn_arena_array(c->mind->arena, wanted->param_count, sizeof *args);
  tn_mind_function *function = NULL;
  if (!args) return &tn_mind_type_error;
  for (uint32_t i = 0; i < wanted->param_count; i++)
    args[i].type = tn_mind_sized(c, target->symbols, wanted->params[i]);
  const tn_mind_type *result =
      tn_mind_call_type(c, type->callable, args, wanted->param_count,
                        tn_mind_callable_name(c->mind, type->callable), target->at, &function);
  bool closure = type->callable->kind == TN_MIND_C_CLOSURE && function && function->body->type;
  bool literal = closure && result->kind == TN_MIND_T_SCALAR && function->body->type->literal;
  return literal ? function->body->type : result;
}

static const tn_mind_type *fit_result(tn_mind_checker *c, const tn_mind_target_type *target,
                                      const tn_mind_type *result) {
  const tn_mind_callable *wanted = target->wanted->callable;
  const tn_mind_sizes *around = target->symbols->sizes;
  tn_name names[TN_RANK_LIMIT * 4];
  tn_mind_sizes open = { .names = names, .outer = around };
  for (uint32_t i = 0; !target->symbols->foreign && i < wanted->param_count; i++)
    add_open_names(target->symbols, wanted->params[i], names, &open.count);
  tn_mind_target_type of = *target;
  of.wanted = wanted->result;
  target->symbols->sizes = &open;
  const tn_mind_type *fitted = tn_mind_fit(c, &of, NULL, result);
  target->symbols->sizes = around;
  return fitted;
}

/* Of a function whose signature is known both are shown; what is wrong in a closure is shown inside it. */
const tn_mind_type *tn_mind_fit_function(tn_mind_checker *c, const tn_mind_target_type *target,
                                         const tn_mind_type *type) {
  const tn_mind_type *wanted = target->wanted;
  tn_diags *diags = tn_mind_diags(c);
  tn_diag_mark mark = tn_diags_mark(diags);
  bool known = type->callable->kind == TN_MIND_C_FUNCTION || type->callable->kind == TN_MIND_C_DECLARED;
  if (!tn_mind_room(c->mind)) return tn_mind_wrong(tn_report_stack(diags, target->at, NULL));
  if (tn_mind_type_equal(&c->mind->host->heap->stack, wanted, type)) return wanted;
  if (!tn_mind_takes(type->callable, wanted->callable->param_count)) return wrong_count(c, target, type);
  const tn_mind_type *result = given_result(c, target, type);
  if (result->kind != TN_MIND_T_ERROR) result = fit_result(c, target, result);
  if (result->kind != TN_MIND_T_ERROR) return wanted;
  bool silent = type->callable->kind == TN_MIND_C_FUNCTION && type->callable->function->failed;
  if (!known || silent || c->mind->arena->failed) return &tn_mind_type_error;
  tn_diags_rewind(diags, mark);
  return misfit(c, target, type);
}

/* ---- what is called ---- */

const tn_mind_type *tn_mind_call_declared(tn_mind_checker *c, const tn_mind_callable *callable,
                                          const tn_mind_given *args, tn_str name, tn_span at) {
  tn_mind_bindings symbols = { .arena = c->mind->arena, .sizes = tn_mind_sizes_here(c) };
  bool ok = tn_mind_fit_arguments(c, callable->params, callable->param_count, args, name, at, &symbols);
  return ok ? tn_mind_sized(c, &symbols, callable->result) : &tn_mind_type_error;
}
