/* lang/ail/walk_reshape.c: evaluates shapes that a program writes, as in reshape.
 *
 * A dimension of a reshape is a number, -1, a reference to a dimension of the
 * tensor (@0, @last), a named dimension of an input, a constant, or what
 * `+ - * /` and mul make of these. With known lengths everything is computed here; with names,
 * what is certain. */
#include "lang/ail/constant.h"
#include "lang/ail/library.h"
#include "op/scalar.h"

/* A length, or one that is not known although it is written: a product of names. */
typedef struct {
  int64_t dim;   /* known, a name, or TN_DIM_UNKNOWN */
  bool inferred; /* written as -1 */
} item;

typedef struct {
  tn_ail_make *m;
  const tn_shape *from; /* of the tensor; NULL: there is none to refer to */
} reader;

static bool read_item(reader *r, const tn_ail_expr *expr, item *out);

static tn_field text_field(const reader *r, const char *field, tn_name name) {
  return TN_TEXT(field, tn_ail_text_of(r->m->w->program, name));
}

/* ---- names ---- */

static bool bound_length(const tn_ail_walk *w, tn_name name, int64_t *out) {
  for (size_t i = 0; i < w->sizes->name_count; i++) {
    if (w->sizes->names[i].symbol != name) continue;
    *out = w->sizes->names[i].length;
    return true;
  }
  return false;
}

static bool unknown_dim(reader *r, tn_name name, tn_span at) {
  tn_ail_walk *w = r->m->w;
  const tn_map *const maps[] = { &w->program->dims, &w->program->consts };
  if (w->program->dims.count == 0) {
    return tn_ail_say(w, TN_DIAG_E_RESHAPE_NAMED_DIM_NO_BINDINGS, at, text_field(r, "named_dim", name));
  }
  return tn_ail_say(w, TN_DIAG_E_RESHAPE_NAMED_DIM_NOT_FOUND, at, text_field(r, "named_dim", name),
                    TN_TEXT("suggestion", tn_ail_suggest(w->program, name, maps, 2)));
}

static bool bad_length(reader *r, tn_span at) {
  return tn_ail_make_refuse(r->m, r->from ? "dimensions of at least 1, or -1" : "dimensions of at least 1",
                            tn_ail_source_text(r->m->w->program, at));
}

static bool too_large(tn_ail_make *m, tn_span at) {
  return tn_ail_say(m->w, TN_DIAG_E_TOO_LARGE, at, TN_STR("what", "the number of elements"),
                    TN_INT("limit", TN_ELEMENT_LIMIT));
}

/* What a function or a layer was given, a constant, a dimension of an input, or a loop variable. */
static bool read_name(reader *r, tn_name name, tn_span at, item *out) {
  tn_ail_walk *w = r->m->w;
  const tn_ail_operand *bound = tn_ail_lookup(w, name);
  bool given = w->frame != 0 && bound && bound->constant && bound->kind == TN_DATA_TENSOR;
  const tn_ail_const *constant = given ? NULL : tn_ail_find_const(w->program, name);
  if (constant && constant->kind == TN_AIL_CONST_BROKEN) return false;
  if (constant) {
    out->dim = constant->integer;
    return constant->is_integer && constant->integer >= 1 ? true : bad_length(r, at);
  }
  if (!given && tn_map_get(&w->program->dims, name)) {
    out->dim = TN_DIM_SYMBOL(name);
    return !w->sizes || bound_length(w, name, &out->dim) ? true : unknown_dim(r, name, at);
  }
  if (bound && bound->constant && bound->kind == TN_DATA_TENSOR) {
    out->dim = bound->whole ? bound->integer : (int64_t)bound->number;
    return (float)out->dim == bound->number && out->dim >= 1 ? true : bad_length(r, at);
  }
  return unknown_dim(r, name, at);
}

/* ---- the other items ---- */

static bool read_reference(reader *r, const tn_ail_expr *expr, item *out) {
  int64_t index = expr->as.reference;
  if (!r->from) return bad_length(r, expr->at);
  if (index < 0 && r->from->rank == 0)
    return tn_ail_say_plain(r->m->w, TN_DIAG_E_RESHAPE_REF_LAST_EMPTY, expr->at);
  if (index < 0) index = r->from->rank - 1;
  if (index >= r->from->rank) {
    return tn_ail_say(r->m->w, TN_DIAG_E_RESHAPE_REF_OUT_OF_BOUNDS, expr->at,
                      TN_INT("reference_index", index), TN_INT("input_rank", r->from->rank));
  }
  out->dim = r->from->dim[index];
  return true;
}

static bool read_product(reader *r, const tn_ail_expr *expr, item *out) {
  const tn_ail_call *call = expr->as.call;
  item a = { 0 }, b = { 0 };
  bool ok = call->count == 2 && !call->args[0].key && !call->args[1].key;
  if (!tn_arena_room(&r->m->w->program->arena)) return false;
  if (!ok || !tn_str_is(tn_ail_text_of(r->m->w->program, call->name), "mul")) {
    return tn_ail_make_refuse(r->m, "mul of two dimensions", tn_ail_source_text(r->m->w->program, expr->at));
  }
  bool read = read_item(r, call->args[0].value, &a);
  if (!read_item(r, call->args[1].value, &b) || !read) return false;
  if (a.inferred || b.inferred) {
    return tn_ail_say(r->m->w, TN_DIAG_E_RESHAPE_CANNOT_INFER, expr->at,
                      TN_STR("reason", "-1 cannot be a factor of mul"));
  }
  out->dim = TN_DIM_UNKNOWN;
  if (!tn_dim_is_known(a.dim) || !tn_dim_is_known(b.dim)) return true;
  if (b.dim && a.dim > (TN_ELEMENT_LIMIT - 1) / b.dim) return too_large(r->m, expr->at);
  out->dim = a.dim * b.dim;
  return true;
}

static bool refuse_at(reader *r, const char *expected, tn_span at) {
  return tn_ail_make_refuse(r->m, expected, tn_ail_source_text(r->m->w->program, at));
}

/* Two known lengths; the result is a length again. */
static bool compute(reader *r, tn_ail_operator op, int64_t a, int64_t b, tn_span at, int64_t *out) {
  if (op < TN_AIL_ADD) return bad_length(r, at);
  if (op == TN_AIL_DIV && (b == 0 || a % b != 0)) return refuse_at(r, "a quotient that is whole", at);
  bool fits = tn_scalar_exact(tn_ail_operation(op), a, b, out);
  if (!fits || *out >= TN_ELEMENT_LIMIT) return too_large(r->m, at);
  return *out >= 1 ? true : bad_length(r, at);
}

/* With a name in it, the length is known when the program runs. */
static bool read_chain(reader *r, const tn_ail_expr *expr, item *out) {
  const tn_ail_chain *chain = expr->as.chain;
  if (!tn_arena_room(&r->m->w->program->arena) || !read_item(r, chain->first, out)) return false;
  for (uint32_t i = 0; i < chain->count; i++) {
    tn_span at = tn_span_join(chain->first->at, chain->links[i].right->at);
    item right;
    if (!read_item(r, chain->links[i].right, &right)) return false;
    if (out->inferred || right.inferred)
      return refuse_at(r, "-1 alone, not computed with", at);
    bool known = tn_dim_is_known(out->dim) && tn_dim_is_known(right.dim);
    if (!known) out->dim = TN_DIM_UNKNOWN;
    if (known && !compute(r, chain->links[i].op, out->dim, right.dim, at, &out->dim)) return false;
  }
  return true;
}

static bool read_integer(reader *r, const tn_ail_expr *expr, item *out) {
  tn_ail_const value;
  bool ok = tn_ail_literal(r->m->w->program, expr, &value) && value.is_integer;
  out->inferred = ok && value.integer == -1;
  out->dim = out->inferred ? TN_DIM_UNKNOWN : value.integer;
  return out->inferred || (ok && value.integer >= 1) ? true : bad_length(r, expr->at);
}

static bool read_item(reader *r, const tn_ail_expr *expr, item *out) {
  *out = (item){ 0 };
  switch (expr->form) {
    case TN_AIL_EXPR_NAME: return read_name(r, expr->as.name, expr->at, out);
    case TN_AIL_EXPR_STRING: {
      tn_name name = tn_names_intern(r->m->w->program->host->names, expr->as.text);
      if (name == 0) r->m->w->program->arena.failed = r->m->w->failed = true;
      return name && read_name(r, name, expr->at, out);
    }
    case TN_AIL_EXPR_REFERENCE: return read_reference(r, expr, out);
    case TN_AIL_EXPR_CALL: return read_product(r, expr, out);
    case TN_AIL_EXPR_CHAIN: return read_chain(r, expr, out);
    default: return read_integer(r, expr, out);
  }
}

/* ---- whole shapes ---- */

static bool read_list(reader *r, int argument, item *items, int *count) {
  const tn_ail_expr *list = r->m->given[argument];
  bool ok = true;
  if (list->form != TN_AIL_EXPR_LIST) {
    return tn_ail_make_refuse(r->m, "a shape, as in [2, 3]", tn_ail_source_text(r->m->w->program, list->at));
  }
  if (list->as.list.count > TN_RANK_LIMIT) {
    return tn_ail_say(r->m->w, TN_DIAG_E_RANK_LIMIT, list->at, TN_INT("rank", list->as.list.count),
                      TN_INT("limit", TN_RANK_LIMIT));
  }
  *count = (int)list->as.list.count;
  for (int i = 0, inferred = 0; i < *count; i++) {
    const tn_ail_expr *expr = list->as.list.items[i];
    ok = read_item(r, expr, &items[i]) && ok;
    if (items[i].inferred && ++inferred == 2) {
      ok = tn_ail_say_plain(r->m->w, TN_DIAG_E_RESHAPE_MULTIPLE_INFERRED, expr->at);
    }
  }
  return ok;
}

bool tn_ail_make_shape(tn_ail_make *m, int i, tn_shape *out) {
  item items[TN_RANK_LIMIT];
  reader r = { .m = m };
  *out = TN_SCALAR_SHAPE;
  int count = 0;
  if (!read_list(&r, i, items, &count)) return false;
  for (int k = 0; k < count; k++) {
    if (items[k].inferred) return bad_length(&r, m->given[i]->at);
    out->dim[out->rank++] = items[k].dim;
  }
  return true;
}

/* The lengths that are written, multiplied; anything over the limit is one over it. False where
 * one is not known. */
static bool product(const item *items, int count, int64_t *out) {
  *out = 1;
  for (int i = 0; i < count; i++) {
    if (items[i].inferred) continue;
    if (!tn_dim_is_known(items[i].dim)) return false;
    *out =
        items[i].dim && *out > TN_ELEMENT_LIMIT / items[i].dim ? TN_ELEMENT_LIMIT + 1 : *out * items[i].dim;
  }
  return true;
}

static bool cannot_divide(tn_ail_make *m, int64_t elements, int64_t rest) {
  tn_text reason;
  tn_text_init(&reason, m->w->program->host->heap);
  if (rest == 0) {
    tn_text_puts(&reason, "beside a dimension of 0 it may be any length");
  } else {
    tn_text_int(&reason, elements);
    tn_text_puts(&reason, " elements are not a multiple of ");
    tn_text_int(&reason, rest);
  }
  tn_ail_say(m->w, TN_DIAG_E_RESHAPE_CANNOT_INFER, m->given[1]->at, TN_TEXT("reason", tn_text_str(&reason)));
  tn_text_free(&reason);
  return false;
}

/* Settles -1 and compares the numbers of elements, where both are known. */
static bool settle(tn_ail_make *m, const tn_shape *from, item *items, int count) {
  int64_t elements = tn_shape_count(from), rest;
  int open = -1;
  for (int i = 0; i < count; i++) {
    if (items[i].inferred) open = i;
  }
  if (elements < 0 || !product(items, count, &rest)) return true;
  if (rest > TN_ELEMENT_LIMIT) return too_large(m, m->given[1]->at);
  if (open >= 0) {
    if (rest == 0 || elements % rest) return cannot_divide(m, elements, rest);
    items[open].dim = elements / rest;
    return true;
  }
  if (elements == rest) return true;
  return tn_ail_say(m->w, TN_DIAG_E_RESHAPE_ELEMENT_MISMATCH, m->site.at, TN_INT("input_elements", elements),
                    TN_INT("resolved_elements", rest));
}

/* With names the rules decide; what they refuse may still turn out right. */
static tn_value reshape_named(tn_ail_make *m, tn_value x, const tn_shape *to, int unknown) {
  tn_ail_walk *w = m->w;
  tn_value value = TN_ERROR_VALUE;
  if (unknown <= 1) value = tn_build_reshape(w->builder, x, to);
  if (value != TN_ERROR_VALUE) return value;
  tn_build_forget(w->builder);
  if (!w->typer) {
    tn_ail_get_stuck(w);
    return TN_ERROR_VALUE;
  }
  return tn_typer_value(w->typer, TN_F32, to);
}

tn_ail_operand tn_ail_make_reshape(tn_ail_make *m) {
  item items[TN_RANK_LIMIT];
  tn_value x = tn_ail_make_tensor(m, 0);
  if (x == TN_ERROR_VALUE) return tn_ail_wrong();
  tn_shape from = tn_build_type(m->w->builder, x)->shape, to = { .rank = 0 };
  reader r = { .m = m, .from = &from };
  int count = 0, unknown = 0;
  if (!read_list(&r, 1, items, &count) || !settle(m, &from, items, count)) return tn_ail_wrong();
  for (int i = 0; i < count; i++) {
    to.dim[to.rank++] = items[i].dim;
    unknown += items[i].dim == TN_DIM_UNKNOWN;
  }
  tn_ail_note_site(m->w, &from, &to);
  if (m->w->stopped) return tn_ail_wrong();
  m->w->builder->at = m->site.at;
  bool known = tn_shape_is_known(&from) && tn_shape_is_known(&to);
  tn_value value = known ? tn_build_reshape(m->w->builder, x, &to) : reshape_named(m, x, &to, unknown);
  if (value != TN_ERROR_VALUE || m->w->stuck) return tn_ail_of_value(TN_DATA_TENSOR, value);
  tn_fault fault = m->w->builder->fault;
  tn_build_forget(m->w->builder);
  tn_ail_report_op_fault(m->w, &m->site, &fault, &from, &to);
  return tn_ail_wrong();
}
