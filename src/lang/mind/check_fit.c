/* lang/mind/check_fit.c: types that are written, and values that meet them.
 *
 * A value meets a type in a `let`, as an argument, as a result and in an
 * assignment. Scalars fill tensors, literals take the dtype that is wanted,
 * i32 widens to i64, and dimensions unify with the written type on the left. */
#include "base/number.h"
#include "lang/mind/check.h"

/* ---- types that are written ---- */

static tn_str word_text(const tn_mind_checker *c, const tn_mind_word *word) {
  return tn_mind_name_text(c, word->name);
}

static const tn_mind_type *resolve_word(tn_mind_checker *c, const tn_mind_annotation *written) {
  static const tn_str known[] = { { "i32", 3 },  { "i64", 3 },    { "f32", 3 },  { "f64", 3 },
                                  { "bool", 4 }, { "string", 6 }, { "unit", 4 }, { "Tensor", 6 } };
  enum { TENSOR = 7 };
  tn_str text = word_text(c, &written->word);
  tn_dtype dtype;
  bool brackets = written->form == TN_MIND_WRITTEN_UNKNOWN;
  tn_span at = tn_mind_word_span(c->unit, &written->word);
  if (brackets) return tn_mind_wrong(tn_mind_unknown_word(c->mind, at, "a type", text, &known[TENSOR], 1));
  if (tn_dtype_find(text, &dtype) && !tn_dtype_in(dtype, TN_STORAGE)) return tn_mind_type_scalar(dtype);
  if (tn_str_is(text, "string")) return &tn_mind_type_string;
  if (tn_str_is(text, "unit")) return &tn_mind_type_unit;
  return tn_mind_wrong(
      tn_mind_unknown_word(c->mind, at, "a type", text, known, sizeof known / sizeof *known));
}

static bool check_dims(tn_mind_checker *c, const tn_mind_annotation *written) {
  tn_span at = tn_mind_at(c->unit, written->start, written->end);
  if (!tn_mind_refuse_rank(c->mind, written->rank, at)) return false;
  if (!tn_mind_refuse_empty(c->mind, &written->shape, at)) return false;
  tn_fault fault = { .at = at, .op = TN_OP_FILL };
  tn_type type = { TN_F32, written->shape };
  tn_attrs attrs = { .shape = written->shape };
  tn_op_args args = { TN_OP_FILL, NULL, 0, &attrs, &fault };
  if (tn_op_infer(&args, &type)) return true;
  fault.at = at;
  return tn_mind_report_fault(c->mind, &fault, NULL, NULL, 0);
}

static const tn_mind_type *resolve_tensor(tn_mind_checker *c, const tn_mind_annotation *written) {
  const tn_mind_word *word = &written->word, *on = &written->device;
  tn_dtype dtype;
  tn_mind_device device = TN_MIND_CPU;
  if (!tn_mind_read_dtype(c->mind, word_text(c, word), tn_mind_word_span(c->unit, word), &dtype))
    return &tn_mind_type_error;
  if (on->name && !tn_mind_read_device(c->mind, word_text(c, on), tn_mind_word_span(c->unit, on), &device))
    return &tn_mind_type_error;
  if (!check_dims(c, written)) return &tn_mind_type_error;
  return tn_mind_type_tensor(c->mind->arena, dtype, &written->shape, device);
}

static const tn_mind_type *resolve_tuple(tn_mind_checker *c, const tn_mind_annotation *written) {
  const tn_mind_type **items = tn_arena_array(c->mind->arena, written->rank, sizeof *items);
  uint32_t count = 0;
  bool failed = false;
  if (!items || !tn_mind_room(c->mind)) return &tn_mind_type_error;
  if (written->rank == 0) return &tn_mind_type_unit;
  for (const tn_mind_annotation *item = written->items; item; item = item->next) {
    items[count] = tn_mind_resolve(c, item);
    failed |= items[count++]->kind == TN_MIND_T_ERROR;
  }
  return failed ? &tn_mind_type_error
                : tn_mind_type_items(c->mind->arena, TN_MIND_T_TUPLE, items, NULL, count);
}

static const tn_mind_type *resolve_fn(tn_mind_checker *c, const tn_mind_annotation *written) {
  const tn_mind_type **params = tn_arena_array(c->mind->arena, written->rank, sizeof *params);
  tn_mind_callable *made = tn_arena_new(c->mind->arena, tn_mind_callable);
  uint32_t count = 0;
  bool failed = false;
  if (!params || !made || !tn_mind_room(c->mind)) return &tn_mind_type_error;
  for (const tn_mind_annotation *item = written->items; item; item = item->next) {
    params[count] = tn_mind_resolve(c, item);
    failed |= params[count++]->kind == TN_MIND_T_ERROR;
  }
  *made = (tn_mind_callable){ .kind = TN_MIND_C_DECLARED, .params = params, .param_count = count };
  made->result = tn_mind_resolve(c, written->result);
  failed |= made->result->kind == TN_MIND_T_ERROR;
  return failed ? &tn_mind_type_error : tn_mind_type_fn(c->mind->arena, made);
}

const tn_mind_type *tn_mind_resolve(tn_mind_checker *c, const tn_mind_annotation *written) {
  switch (written->form) {
    case TN_MIND_WRITTEN_WORD:
    case TN_MIND_WRITTEN_UNKNOWN: return resolve_word(c, written);
    case TN_MIND_WRITTEN_TENSOR: return resolve_tensor(c, written);
    case TN_MIND_WRITTEN_TUPLE: return resolve_tuple(c, written);
    case TN_MIND_WRITTEN_FN: return resolve_fn(c, written);
  }
  return &tn_mind_type_error;
}

/* ---- literals ---- */

/* recursion: lists and ifs in each other, TN_MIND_NESTING_LIMIT deep. */
static void settle_list(tn_mind_checker *c, tn_mind_node *node, tn_dtype dtype) {
  for (tn_mind_node *item = node->list.items; item; item = item->next) {
    if (item->kind == TN_MIND_LIST)
      settle_list(c, item, dtype);
    else if (item->type && item->type->literal && tn_dtype_in(dtype, TN_FLOATS))
      tn_mind_settle(c, item, dtype);
  }
}

tn_mind_node *tn_mind_block_tail(const tn_mind_block *block) {
  tn_mind_node *last = tn_mind_last(block);
  return last && last->kind < TN_MIND_LET ? last : NULL;
}

static void settle_branches(tn_mind_checker *c, tn_mind_node *node, tn_dtype dtype) {
  for (tn_mind_branch *branch = node->branch.branches; branch; branch = branch->next) {
    tn_mind_node *tail = tn_mind_block_tail(&branch->block);
    if (tail) tn_mind_settle(c, tail, dtype);
  }
}

/* A tensor that is written out, or an `if` between such tensors. */
static void settle_data(tn_mind_checker *c, tn_mind_node *node, tn_dtype dtype) {
  const tn_mind_type *old = node->type;
  tn_mind_type *type = tn_arena_copy(c->mind->arena, old, sizeof *old);
  if (!type) return;
  type->dtype = (uint8_t)dtype;
  type->literal = false;
  node->type = type;
  if (node->kind == TN_MIND_IF)
    settle_branches(c, node, dtype);
  else
    settle_list(c, node, tn_dtype_in(dtype, TN_STORAGE) ? TN_F32 : dtype);
}

/* Integers stay integers until they meet a float: only floats have a choice. */
static const tn_mind_type *settled_type(tn_mind_checker *c, const tn_mind_type *type, tn_dtype dtype) {
  if (!tn_dtype_in(type->dtype, TN_FLOATS)) {
    return type->known ? tn_mind_type_known(c->mind->arena, type->dtype, type->integer, false)
                       : tn_mind_type_scalar(type->dtype);
  }
  return type->known ? tn_mind_type_known_float(c->mind->arena, dtype, type->number, false)
                     : tn_mind_type_scalar(dtype);
}

/* Down the left side in a loop, because a row of operators may be long. */
void tn_mind_settle(tn_mind_checker *c, tn_mind_node *node, tn_dtype dtype) {
  if (!tn_mind_room(c->mind)) return;
  if (tn_dtype_in(dtype, TN_STORAGE) && node->type && node->type->kind == TN_MIND_T_SCALAR) dtype = TN_F32;
  for (; node && node->type && node->type->literal; node = node->left) {
    if (node->type->kind == TN_MIND_T_TENSOR) {
      settle_data(c, node, dtype);
      return;
    }
    if (!tn_dtype_in(dtype, TN_FLOATS)) return;
    if (node->kind == TN_MIND_IF) settle_branches(c, node, dtype);
    if (node->kind == TN_MIND_BINARY && node->right->type->literal) tn_mind_settle(c, node->right, dtype);
    node->type = settled_type(c, node->type, dtype);
    node->dtype = node->type->dtype;
    if (node->kind != TN_MIND_BINARY && node->kind != TN_MIND_UNARY) return;
  }
}

/* Only the tuples that come out of an `if` still have literals in them. */
static const tn_mind_type *bound_items(tn_mind *mind, const tn_mind_type *type) {
  const tn_mind_type **items = tn_arena_array(mind->arena, type->count, sizeof *items);
  if (!items || !tn_mind_room(mind)) return &tn_mind_type_error;
  for (uint32_t i = 0; i < type->count; i++) items[i] = tn_mind_bound_type(mind, type->items[i]);
  return tn_mind_type_items(mind->arena, TN_MIND_T_TUPLE, items, NULL, type->count);
}

const tn_mind_type *tn_mind_bound_type(tn_mind *mind, const tn_mind_type *type) {
  if (type->kind == TN_MIND_T_TUPLE) return type->settled ? type : bound_items(mind, type);
  if (type->kind == TN_MIND_T_TENSOR && (type->literal || type->fresh)) {
    return tn_mind_type_tensor(mind->arena, type->dtype, &type->shape, type->device);
  }
  if (type->kind != TN_MIND_T_SCALAR || !type->literal) return type;
  if (!type->known) return tn_mind_type_scalar(type->dtype);
  if (tn_dtype_in(type->dtype, TN_FLOATS)) {
    return tn_mind_type_known_float(mind->arena, type->dtype, type->number, false);
  }
  return tn_mind_type_known(mind->arena, type->dtype, type->integer, false);
}

/* ---- scalars ---- */

static bool narrows(tn_mind_checker *c, tn_span at, tn_dtype from, tn_dtype to) {
  return tn_report(tn_mind_diags(c), TN_DIAG_E2004, at, TN_STR("from", tn_dtype_name(from)),
                   TN_STR("to", tn_dtype_name(to)));
}

bool tn_mind_promote(tn_mind_checker *c, tn_mind_node *node, const tn_mind_type *scalar, tn_dtype dtype,
                     const char *op, bool scalar_left, tn_span at) {
  tn_dtype from = scalar->dtype;
  bool to_float = tn_dtype_in(dtype, TN_FLOATS | TN_STORAGE), from_int = tn_dtype_in(from, TN_INTS);
  if (from == TN_I64 && dtype == TN_I32) return narrows(c, at, from, dtype);
  bool fits = from == dtype || (from_int && (to_float || tn_dtype_in(dtype, TN_INTS))) ||
              (tn_dtype_in(from, TN_FLOATS) && to_float);
  if (!fits) {
    const char *left = tn_dtype_name(scalar_left ? from : dtype),
               *right = tn_dtype_name(scalar_left ? dtype : from);
    return tn_report(tn_mind_diags(c), TN_DIAG_E2006, at, TN_STR("op", op), TN_STR("left", left),
                     TN_STR("right", right));
  }
  if (node && scalar->literal && to_float) tn_mind_settle(c, node, dtype);
  return true;
}

static const tn_mind_type *misfit(tn_mind_checker *c, const tn_mind_target_type *target,
                                  const tn_mind_type *type) {
  tn_str hint = tn_mind_conversion_hint(target->wanted, type);
  return tn_mind_wrong(tn_mind_types_differ(c->mind, target->at, target->wanted, type, 0, hint));
}

static const tn_mind_type *wrong_dtype(tn_mind_checker *c, const tn_mind_target_type *target, tn_dtype got) {
  const char *wanted = tn_dtype_name(target->wanted->dtype);
  return tn_mind_wrong(tn_mind_refuse_dtype(c->mind, target->at, target->op, wanted, got));
}

/* The wanted scalar, still known if the value was. */
static const tn_mind_type *as_scalar(tn_mind_checker *c, const tn_mind_type *type, tn_dtype dtype) {
  tn_arena *arena = c->mind->arena;
  if (type->kind != TN_MIND_T_SCALAR || !type->known) return tn_mind_type_scalar(dtype);
  if (!tn_dtype_in(dtype, TN_FLOATS)) return tn_mind_type_known(arena, dtype, type->integer, false);
  double number = tn_dtype_in(type->dtype, TN_FLOATS) ? type->number : (double)type->integer;
  return tn_mind_type_known_float(arena, dtype, number, false);
}

static const tn_mind_type *fit_scalar(tn_mind_checker *c, const tn_mind_target_type *target,
                                      tn_mind_node *node, const tn_mind_type *type) {
  tn_dtype to = target->wanted->dtype, from = type->dtype;
  if (!tn_mind_type_is_single(type)) return misfit(c, target, type);
  bool literal = type->kind == TN_MIND_T_SCALAR && type->literal;
  if (from == TN_I64 && to == TN_I32) {
    narrows(c, target->at, from, to);
    return &tn_mind_type_error;
  }
  bool widens = from == TN_I32 && to == TN_I64;
  bool adapts = literal && tn_dtype_in(from, TN_NUMBERS) && tn_dtype_in(to, TN_FLOATS);
  if (from != to && !widens && !adapts) {
    return type->kind == TN_MIND_T_TENSOR ? wrong_dtype(c, target, from) : misfit(c, target, type);
  }
  if (adapts && node) tn_mind_settle(c, node, to);
  return as_scalar(c, type, to);
}

/* ---- tensors ---- */

static const tn_mind_type *placed(tn_mind_checker *c, const tn_mind_type *wanted, const tn_shape *shape) {
  return tn_mind_type_tensor(c->mind->arena, wanted->dtype, shape, wanted->device);
}

/* A scalar is everywhere in it. The sizes are what the signature knows already. */
static const tn_mind_type *fit_filling(tn_mind_checker *c, const tn_mind_target_type *target,
                                       tn_mind_node *node, const tn_mind_type *type) {
  if (!tn_mind_promote(c, node, type, target->wanted->dtype, target->op, false, target->at)) {
    return &tn_mind_type_error;
  }
  tn_shape shape = target->wanted->shape;
  tn_mind_bind_shape(target->symbols, &shape);
  return placed(c, target->wanted, &shape);
}

/* A tensor that is written out takes the wanted dtype if its numbers do.
 * recursion: lists and ifs in each other, TN_MIND_NESTING_LIMIT deep. */
static bool fit_data(tn_mind_checker *c, const tn_mind_target_type *target, tn_mind_node *list,
                     tn_dtype dtype) {
  if (list->kind == TN_MIND_IF) {
    for (tn_mind_branch *branch = list->branch.branches; branch; branch = branch->next) {
      tn_mind_node *tail = tn_mind_block_tail(&branch->block);
      if (tail && !fit_data(c, target, tail, dtype)) return false;
    }
    return true;
  }
  for (tn_mind_node *item = list->list.items; item; item = item->next) {
    if (item->kind == TN_MIND_LIST) {
      if (!fit_data(c, target, item, dtype)) return false;
    } else if (item->type->kind != TN_MIND_T_ERROR) {
      bool from_float = tn_dtype_in(item->type->dtype, TN_FLOATS);
      bool to_float = tn_dtype_in(dtype, TN_FLOATS | TN_STORAGE);
      if (from_float && !to_float) return wrong_dtype(c, target, TN_F32)->kind != TN_MIND_T_ERROR;
      if ((item->type->dtype == TN_BOOL) != (dtype == TN_BOOL)) {
        return wrong_dtype(c, target, item->type->dtype)->kind != TN_MIND_T_ERROR;
      }
      if (item->type->dtype == TN_I64 && dtype == TN_I32) return narrows(c, target->at, TN_I64, TN_I32);
    }
  }
  return true;
}

/* Where a name does not fit any size, because it is the function's own. */
static tn_str size_hint(const tn_mind_target_type *target, const tn_mind_type *type, int dimension) {
  const tn_mind_sizes *sizes = target->symbols->sizes;
  const tn_shape *wanted = &target->wanted->shape, *got = &type->shape;
  if (wanted->rank != got->rank) return TN_LIT("");
  bool own = tn_mind_is_size(sizes, got->dim[dimension]) ||
             (!target->symbols->foreign && tn_mind_is_size(sizes, wanted->dim[dimension]));
  if (!own) return TN_LIT("");
  return TN_LIT("the name of a parameter's dimension is a size of its own: "
                "it fits itself, no number and no other name");
}

static const tn_mind_type *fit_dims(tn_mind_checker *c, const tn_mind_target_type *target,
                                    const tn_mind_type *type) {
  tn_shape shape, expected = target->wanted->shape;
  int dimension;
  tn_name symbol;
  if (tn_mind_unify_annotation(&target->wanted->shape, &type->shape, target->symbols, &shape, &dimension,
                               &symbol)) {
    return placed(c, target->wanted, &shape);
  }
  if (symbol) tn_mind_bind_shape(target->symbols, &expected);
  return tn_mind_wrong(tn_mind_shapes_differ(c->mind, target->at, &expected, &type->shape, symbol, dimension,
                                             size_hint(target, type, dimension)));
}

static TN_OWN_FRAME const tn_mind_type *fit_tensor(tn_mind_checker *c, const tn_mind_target_type *target,
                                                   tn_mind_node *node, const tn_mind_type *type) {
  const tn_mind_type *wanted = target->wanted;
  if (type->kind == TN_MIND_T_SCALAR) return fit_filling(c, target, node, type);
  if (type->kind != TN_MIND_T_TENSOR) return misfit(c, target, type);
  if (type->literal && node) {
    if (!fit_data(c, target, node, wanted->dtype)) return &tn_mind_type_error;
    tn_mind_settle(c, node, wanted->dtype);
  } else if (type->dtype != wanted->dtype) {
    return wrong_dtype(c, target, type->dtype);
  }
  if (type->device != wanted->device && !type->fresh)
    return tn_mind_wrong(
        tn_mind_devices_differ(c->mind, target->at, wanted->device, type->device, target->op));
  return fit_dims(c, target, type);
}

/* ---- all types ---- */

static const tn_mind_type *fit_tuple(tn_mind_checker *c, const tn_mind_target_type *target,
                                     tn_mind_node *node, const tn_mind_type *type) {
  const tn_mind_type *wanted = target->wanted;
  if (type->kind != TN_MIND_T_TUPLE || type->count != wanted->count) return misfit(c, target, type);
  const tn_mind_type **items = tn_arena_array(c->mind->arena, wanted->count, sizeof *items);
  tn_mind_node *item = node && node->kind == TN_MIND_TUPLE ? node->list.items : NULL;
  bool room = items && tn_mind_room(c->mind), failed = !room;
  for (uint32_t i = 0; room && i < wanted->count; i++) {
    tn_mind_target_type of = *target;
    of.wanted = wanted->items[i];
    if (item) of.at = tn_mind_here(c, item);
    items[i] = tn_mind_fit(c, &of, item, item ? item->type : type->items[i]); /* a literal adapts */
    failed |= items[i]->kind == TN_MIND_T_ERROR;
    if (item) item = item->next;
  }
  return failed ? &tn_mind_type_error
                : tn_mind_type_items(c->mind->arena, TN_MIND_T_TUPLE, items, NULL, wanted->count);
}

const tn_mind_type *tn_mind_fit(tn_mind_checker *c, const tn_mind_target_type *target, tn_mind_node *node,
                                const tn_mind_type *type) {
  const tn_mind_type *wanted = target->wanted;
  if (wanted->kind == TN_MIND_T_ERROR || type->kind == TN_MIND_T_ERROR) return &tn_mind_type_error;
  switch (wanted->kind) {
    case TN_MIND_T_SCALAR: return fit_scalar(c, target, node, type);
    case TN_MIND_T_TENSOR: return fit_tensor(c, target, node, type);
    case TN_MIND_T_TUPLE: return fit_tuple(c, target, node, type);
    case TN_MIND_T_FN:
      return type->kind == TN_MIND_T_FN ? tn_mind_fit_function(c, target, type) : misfit(c, target, type);
    default: return wanted->kind == type->kind ? type : misfit(c, target, type);
  }
}

const tn_mind_type *tn_mind_meet(tn_mind_checker *c, const tn_mind_type *wanted, const char *op, tn_span at,
                                 tn_mind_node *node, const tn_mind_type *type) {
  tn_mind_bindings symbols = { .arena = c->mind->arena, .sizes = tn_mind_sizes_here(c) };
  return tn_mind_fit(c, &(tn_mind_target_type){ wanted, &symbols, op, at }, node, type);
}
