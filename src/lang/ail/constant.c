/* lang/ail/constant.c: evaluates constants before anything runs.
 *
 * Whole numbers have 64 bits, and overflow is an error. A quotient of whole numbers is exact or an
 * error, because it may be a length. If one side has a point or an exponent, the result is f64.
 * Constants may use each other in any order; a cycle is found by following the dependencies of each
 * one. */
#include "lang/ail/constant.h"

#include "base/number.h"
#include "op/scalar.h"

tn_op tn_ail_operation(tn_ail_operator op) {
  static const tn_op operations[] = {
#define TN_OP(id, ...)         __VA_ARGS__
#define TN_AIL(...)            __VA_ARGS__
#define AIL_OPERATOR(id, text) [TN_AIL_##id] = TN_OP_##id,
#include "op/ops.def"
    [TN_AIL_DIV] = TN_OP_DIV,
  };
  return operations[op];
}

/* ---- numbers ---- */

static bool refuse(tn_ail_no_constant *why, tn_span at, const char *reason) {
  why->at = at;
  why->reason = reason;
  return false;
}

/* It may be a value, but is not known yet. */
static bool is_no_constant(tn_ail_no_constant *why, tn_span at) {
  why->wanting = true;
  return refuse(why, at, "it is not a constant");
}

static bool whole(tn_ail_const *out, int64_t integer) {
  *out = (tn_ail_const){
    .kind = TN_AIL_CONST_NUMBER, .is_integer = true, .integer = integer, .number = (double)integer
  };
  return true;
}

static bool real(tn_ail_const *out, double number, tn_span at, tn_ail_no_constant *why) {
  *out = (tn_ail_const){ .kind = TN_AIL_CONST_NUMBER, .number = number };
  return __builtin_isfinite(number) ? true : refuse(why, at, "it is not finite");
}

static bool combine_whole(tn_ail_operator op, int64_t a, int64_t b, tn_span at, tn_ail_const *out,
                          tn_ail_no_constant *why) {
  int64_t result;
  if (op == TN_AIL_DIV && b == 0) return refuse(why, at, "it divides by 0");
  if (!tn_scalar_exact(tn_ail_operation(op), a, b, &result))
    return refuse(why, at, "it does not fit in 64 bits");
  if (op == TN_AIL_DIV && result * b != a)
    return refuse(why, at, "the quotient of these whole numbers is not whole");
  return whole(out, result);
}

static bool combine(tn_ail_operator op, const tn_ail_const *a, const tn_ail_const *b, tn_span at,
                    tn_ail_const *out, tn_ail_no_constant *why) {
  if (a->kind != TN_AIL_CONST_NUMBER || b->kind != TN_AIL_CONST_NUMBER)
    return refuse(why, at, "only numbers can be computed with");
  if (a->is_integer && b->is_integer) return combine_whole(op, a->integer, b->integer, at, out, why);
  if (op == TN_AIL_DIV && b->number == 0) return refuse(why, at, "it divides by 0");
  tn_element result = tn_scalar_binary(tn_ail_operation(op), TN_F64)((tn_element){ .f64 = a->number },
                                                                     (tn_element){ .f64 = b->number });
  return real(out, result.f64, at, why);
}

/* ---- expressions ---- */

static bool evaluate(const tn_ail_constants *c, const tn_ail_expr *expr, tn_ail_const *out,
                     tn_ail_no_constant *why);

static bool eval_name(const tn_ail_constants *c, tn_name name, tn_span at, tn_ail_const *out,
                      tn_ail_no_constant *why) {
  bool hidden = false;
  if (c->bound && c->bound(c->context, name, out, &hidden)) {
    why->spoken_for = out->kind == TN_AIL_CONST_BROKEN;
    return why->spoken_for ? refuse(why, at, "it has no value") : true;
  }
  const uint64_t *index = hidden ? NULL : tn_map_get(&c->program->consts, name);
  if (!index) why->name = name;
  if (!index) return is_no_constant(why, at);
  const tn_ail_const *constant = &c->program->const_list[*index];
  why->waits = constant->state != TN_AIL_CONST_KNOWN;
  why->other = (uint32_t)*index;
  if (why->waits) return refuse(why, at, "it depends on itself");
  *out = *constant;
  why->spoken_for = out->kind == TN_AIL_CONST_BROKEN;
  return why->spoken_for ? refuse(why, at, "it has no value") : true;
}

static bool eval_negate(const tn_ail_constants *c, const tn_ail_expr *expr, tn_ail_const *out,
                        tn_ail_no_constant *why) {
  if (!evaluate(c, expr->as.unary.of, out, why)) return false;
  if (expr->as.unary.count % 2 == 0 && out->kind == TN_AIL_CONST_NUMBER) return true;
  tn_ail_const zero = { .kind = TN_AIL_CONST_NUMBER, .is_integer = true }, of = *out;
  if (of.kind == TN_AIL_CONST_NUMBER && !of.is_integer) return real(out, -of.number, expr->at, why);
  return combine(TN_AIL_SUB, &zero, &of, expr->at, out, why);
}

static bool eval_chain(const tn_ail_constants *c, const tn_ail_expr *expr, tn_ail_const *out,
                       tn_ail_no_constant *why) {
  const tn_ail_chain *chain = expr->as.chain;
  if (!evaluate(c, chain->first, out, why)) return false;
  for (uint32_t i = 0; i < chain->count; i++) {
    tn_ail_const left = *out, right;
    tn_ail_operator op = chain->links[i].op;
    if (op < TN_AIL_ADD) return refuse(why, expr->at, "constants know `+`, `-`, `*` and `/`");
    if (!evaluate(c, chain->links[i].right, &right, why)) return false;
    tn_span at = tn_span_join(chain->first->at, chain->links[i].right->at);
    if (!combine(op, &left, &right, at, out, why)) return false;
  }
  return true;
}

/* recursion: expressions in each other, TN_AIL_NESTING_LIMIT deep. */
static bool evaluate(const tn_ail_constants *c, const tn_ail_expr *expr, tn_ail_const *out,
                     tn_ail_no_constant *why) {
  switch (expr->form) {
    case TN_AIL_EXPR_NUMBER:
      if (expr->is_integer) return whole(out, expr->as.number.integer);
      return real(out, expr->as.number.value, expr->at, why);
    case TN_AIL_EXPR_STRING:
      *out = (tn_ail_const){ .kind = TN_AIL_CONST_TEXT, .text = expr->as.text };
      return true;
    case TN_AIL_EXPR_BOOL:
      *out = (tn_ail_const){ .kind = TN_AIL_CONST_BOOL, .number = expr->as.truth, .integer = expr->as.truth };
      return true;
    case TN_AIL_EXPR_NAME: return eval_name(c, expr->as.name, expr->at, out, why);
    case TN_AIL_EXPR_NEGATE: return eval_negate(c, expr, out, why);
    case TN_AIL_EXPR_CHAIN: return eval_chain(c, expr, out, why);
    default: return is_no_constant(why, expr->at);
  }
}

bool tn_ail_constant(const tn_ail_constants *constants, const tn_ail_expr *expr, tn_ail_const *out,
                     tn_ail_no_constant *why) {
  *out = (tn_ail_const){ .kind = TN_AIL_CONST_BROKEN };
  *why = (tn_ail_no_constant){ 0 };
  if (evaluate(constants, expr, out, why)) return true;
  *out = (tn_ail_const){ .kind = TN_AIL_CONST_BROKEN };
  return false;
}

/* ---- the constants of a program ---- */

/* A path of constants that each depend on the next. */
typedef struct {
  tn_ail *program;
  tn_vec(uint32_t) path;
} resolution;

static void report_unknown(const tn_ail *program, const tn_ail_no_constant *why) {
  const tn_map *const maps[] = { &program->consts };
  tn_report(program->host->diags, TN_DIAG_E_IDENTIFIER_NOT_FOUND, why->at,
            TN_TEXT("name", tn_ail_text_of(program, why->name)),
            TN_TEXT("suggestion", tn_ail_suggest(program, why->name, maps, 1)));
}

static void report(const tn_ail *program, const tn_ail_const *constant, const tn_ail_no_constant *why) {
  if (why->spoken_for) return;
  if (why->name) {
    if (!tn_ail_name_is(&program->tree, why->name, TN_AIL_NAME_SKIPPED)) report_unknown(program, why);
    return;
  }
  tn_report(program->host->diags, TN_DIAG_E_CONST_INVALID, why->at,
            TN_TEXT("name", tn_ail_text_of(program, constant->name)),
            TN_TEXT("expression", tn_ail_source_text(program, why->at)), TN_STR("reason", why->reason));
}

/* The last of the path: known now, or it waits for one that joins the path. */
static bool resolve_last(resolution *r) {
  const tn_ail_constants all = { .program = r->program };
  tn_ail_const *constant = &r->program->const_list[tn_vec_last(&r->path)], value;
  tn_ail_no_constant why;
  bool known = tn_ail_constant(&all, constant->decl->value, &value, &why);
  if (!known && why.waits && r->program->const_list[why.other].state == TN_AIL_CONST_NEW) {
    r->program->const_list[why.other].state = TN_AIL_CONST_WAITS;
    return tn_vec_push(r->program->host->heap, &r->path, why.other);
  }
  if (!known) report(r->program, constant, &why);
  value.name = constant->name;
  value.decl = constant->decl;
  value.state = TN_AIL_CONST_KNOWN;
  *constant = value;
  r->path.count--;
  return true;
}

static bool resolve(resolution *r, uint32_t index) {
  tn_ail_const *constant = &r->program->const_list[index];
  if (constant->state != TN_AIL_CONST_NEW) return true;
  constant->state = TN_AIL_CONST_WAITS;
  bool ok = tn_vec_push(r->program->host->heap, &r->path, index);
  while (ok && r->path.count > 0) ok = resolve_last(r);
  return ok;
}

bool tn_ail_resolve_constants(tn_ail *program) {
  resolution r = { .program = program };
  bool ok = true;
  for (uint32_t i = 0; ok && i < program->const_count; i++) ok = resolve(&r, i);
  tn_vec_free(program->host->heap, &r.path);
  return ok;
}
