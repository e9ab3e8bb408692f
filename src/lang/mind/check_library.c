/* lang/mind/check_library.c: calls of the library.
 *
 * An argument is looked at as its parameter wants it: a shape may hold names of
 * dimensions, a dtype is a bare word, a list of integers is no tensor. Then the
 * function's own lowering is asked, with the builder that only infers types.
 *
 * An integer that is not known before the program runs leaves sizes unknown; the
 * lowering is then asked with a stand-in, and what depends on it is forgotten. */
#include <string.h>

#include "base/elementary.h"
#include "lang/mind/check.h"
#include "op/fault.h"

static tn_diags *diags_of(const tn_mind_checker *c) { return c->mind->host->diags; }
static tn_str name_text(const tn_mind_checker *c, tn_name name) {
  return tn_names_text(c->mind->host->names, name);
}

/* One call on its way through the checker. Large, and alive while arguments are checked: so it does not lie
 * in the frames of calls within calls. */
typedef struct {
  tn_mind_checker *c;
  const tn_mind_entry *entry;
  tn_mind_given *given;
  tn_mind_arg args[TN_MIND_PARAMETER_LIMIT];
  tn_mind_given *list; /* the items of a list of tensors */
  uint32_t list_count;
  bool unknown;       /* sizes of the result are not known */
  bool unknown_place; /* those along `axis` are not */
  bool unknown_shape; /* the shape that is wanted is not known as a whole */
  tn_span at;
} library_call;

static tn_span place_of(const library_call *l, const tn_mind_given *arg) {
  return arg->node ? tn_mind_at(l->c->unit, arg->node->from, arg->node->to) : l->at;
}

static const tn_mind_type *type_of(tn_mind_checker *c, tn_mind_given *arg) {
  if (!arg->type) arg->type = tn_mind_check_value(c, arg->node);
  return arg->type;
}

/* ---- integers ---- */

static TN_OWN_FRAME bool wrong_int(tn_mind_checker *c, const tn_mind_type *type, const char *op, tn_span at) {
  if (type->kind == TN_MIND_T_ERROR) return false;
  if (tn_mind_type_is_single(type) && tn_dtype_in(type->dtype, TN_FLOATS)) {
    return tn_report(diags_of(c), TN_DIAG_E2006, at, TN_STR("op", op), TN_STR("expected", "i32 or i64"),
                     TN_STR("got", tn_dtype_name(type->dtype)));
  }
  return tn_mind_expected(c->mind, at, "an integer", type);
}

static bool is_int(const tn_mind_type *type) {
  return tn_mind_type_is_single(type) && tn_dtype_in(type->dtype, TN_INTS);
}

static bool read_int(library_call *l, tn_mind_given *arg, int64_t *out, bool *known) {
  const tn_mind_type *type = type_of(l->c, arg);
  *known = false;
  *out = 0;
  if (!is_int(type)) return wrong_int(l->c, type, l->entry->name, l->at);
  *known = type->kind == TN_MIND_T_SCALAR && type->known;
  if (*known) *out = type->integer;
  return true;
}

/* The place does not matter for the shape; everything else does. */
static void forget_int(library_call *l, int index) {
  const char *name = l->entry->params[index].name;
  const tn_mind_node *node = l->given[index].node;
  bool place = strcmp(name, "i") == 0, size = strcmp(name, "n") == 0;
  bool along = l->entry->op == TN_OP_SLICE && index > 1;
  bool dimension = size && node && node->kind == TN_MIND_NAME && node->name.dimension; /* eye(N) */
  if (dimension) l->args[index].symbol = node->name.name;
  l->unknown |= !place && !along && !dimension;
  l->unknown_place |= along;
  if (size) l->args[index].integer = 2;
  if (along) l->args[index].integer = index == 2 ? 0 : 1;
}

static bool check_int(library_call *l, int index) {
  bool known;
  if (!read_int(l, &l->given[index], &l->args[index].integer, &known)) return false;
  if (!known) forget_int(l, index);
  return true;
}

/* The items of a list of integers: written out, or of a tuple, or of a shape. */
static bool add_int(library_call *l, int index, tn_mind_given item) {
  tn_mind_arg *arg = &l->args[index];
  int64_t value;
  bool known;
  if (!read_int(l, &item, &value, &known)) return false;
  if (!known) {
    l->unknown = true;
    value = l->entry->op == TN_OP_CONV2D ? 1 : arg->count; /* a stride, or no axis twice */
  }
  if (arg->count < TN_RANK_LIMIT) arg->integers[arg->count] = value;
  arg->count++;
  return true;
}

static bool check_ints(library_call *l, int index) {
  tn_mind_given *arg = &l->given[index];
  bool written = arg->node && (arg->node->kind == TN_MIND_LIST || arg->node->kind == TN_MIND_TUPLE);
  if (written) {
    for (tn_mind_node *item = arg->node->list.items; item; item = item->next) {
      if (!add_int(l, index, (tn_mind_given){ item, NULL })) return false;
    }
    arg->node->type = arg->type = &tn_mind_type_unit; /* an argument, not a value */
    return true;
  }
  const tn_mind_type *type = type_of(l->c, arg);
  if (type->kind == TN_MIND_T_SHAPE) {
    for (int i = 0; i < type->shape.rank; i++) {
      int64_t dim = type->shape.dim[i];
      const tn_mind_type *item = tn_dim_is_known(dim)
                                     ? tn_mind_type_known(l->c->mind->arena, TN_I64, dim, false)
                                     : tn_mind_type_scalar(TN_I64);
      if (!add_int(l, index, (tn_mind_given){ NULL, item })) return false;
    }
    return true;
  }
  if (type->kind != TN_MIND_T_TUPLE) return add_int(l, index, *arg);
  for (uint32_t i = 0; i < type->count; i++) {
    if (!add_int(l, index, (tn_mind_given){ NULL, type->items[i] })) return false;
  }
  return true;
}

/* ---- shapes ---- */

typedef struct {
  tn_mind_checker *c;
  tn_shape shape;
  int rank; /* may be over the limit */
  bool infer, unknown, zero;
  const char *op;
  tn_span at;
} shape_reader;

static void add_dim(shape_reader *r, int64_t dim) {
  if (r->rank < TN_RANK_LIMIT) {
    r->shape.dim[r->rank] = dim;
    r->shape.rank = r->rank + 1;
  }
  r->rank++;
  r->zero |= dim == 0;
}

static bool bad_dim(shape_reader *r, int64_t dim) {
  return tn_report(diags_of(r->c), TN_DIAG_E2001, r->at, TN_STR("expected", "a size of at least 1"),
                   TN_INT("got", dim));
}

static bool add_dim_of_type(shape_reader *r, const tn_mind_type *type) {
  if (!is_int(type)) return wrong_int(r->c, type, r->op, r->at);
  bool known = type->kind == TN_MIND_T_SCALAR && type->known;
  if (known && type->integer < 0 && !(r->infer && type->integer == -1)) return bad_dim(r, type->integer);
  r->unknown |= !known;
  add_dim(r, known ? type->integer : TN_DIM_UNKNOWN);
  return true;
}

/* A name that is bound to nothing, or that a dimension of the signature has. */
static bool is_free_name(const tn_mind_checker *c, const tn_mind_node *node) {
  if (node->kind != TN_MIND_NAME) return false;
  return tn_mind_is_dimension(c, node->name.name) || !tn_mind_lookup(c, node->name.name);
}

static bool add_dim_of_node(shape_reader *r, tn_mind_node *node) {
  if (is_free_name(r->c, node) && tn_mind_is_symbol(r->c, node->name.name)) {
    node->name.variable = NULL;
    node->type = tn_mind_type_scalar(TN_I64);
    add_dim(r, TN_DIM_SYMBOL(node->name.name));
    return true;
  }
  return add_dim_of_type(r, tn_mind_check_value(r->c, node));
}

static bool read_shape(shape_reader *r, tn_mind_given *arg) {
  tn_mind_node *node = arg->node;
  bool ok = true;
  if (node && (node->kind == TN_MIND_TUPLE || node->kind == TN_MIND_LIST)) {
    for (tn_mind_node *item = node->list.items; item && ok; item = item->next) ok = add_dim_of_node(r, item);
    return ok;
  }
  if (node && !arg->type && is_free_name(r->c, node)) return add_dim_of_node(r, node);
  const tn_mind_type *type = type_of(r->c, arg);
  if (type->kind == TN_MIND_T_UNIT) return true; /* () */
  if (type->kind == TN_MIND_T_SHAPE) {
    for (int i = 0; i < type->shape.rank; i++) {
      r->unknown |= type->shape.dim[i] == TN_DIM_UNKNOWN;
      add_dim(r, type->shape.dim[i]);
    }
    return true;
  }
  if (type->kind != TN_MIND_T_TUPLE) {
    if (type->kind == TN_MIND_T_ERROR) return false;
    if (!tn_mind_type_is_single(type)) return tn_mind_expected(r->c->mind, r->at, "a shape", type);
    return add_dim_of_type(r, type);
  }
  for (uint32_t i = 0; i < type->count && ok; i++) ok = add_dim_of_type(r, type->items[i]);
  return ok;
}

/* What is found may have symbols, and TN_DIM_UNKNOWN where a size is not known yet or -1 is written, which
 * reshape allows. */
static bool check_shape(library_call *l, int index) {
  tn_mind *mind = l->c->mind;
  tn_mind_given *arg = &l->given[index];
  shape_reader r = {
    .c = l->c, .infer = l->entry->op == TN_OP_RESHAPE, .op = l->entry->name, .at = l->at
  };
  if (!read_shape(&r, arg)) return false;
  if (r.rank > TN_RANK_LIMIT) {
    return tn_report(mind->host->diags, TN_DIAG_E_RANK_LIMIT, l->at, TN_INT("rank", r.rank),
                     TN_INT("limit", TN_RANK_LIMIT));
  }
  if (r.zero) {
    return tn_report(mind->host->diags, TN_DIAG_E2105, l->at,
                     TN_TEXT("shape", tn_mind_describe_shape(mind, &r.shape)));
  }
  if (arg->node) arg->node->type = arg->type = tn_mind_type_shape(mind->arena, &r.shape);
  l->args[index].shape = r.shape;
  l->unknown_shape |= r.unknown;
  return true;
}

/* ---- words ---- */

static bool unknown_word(library_call *l, const tn_mind_given *arg, const char *expected, tn_str got,
                         const tn_str *known, size_t count) {
  return tn_report(diags_of(l->c), TN_DIAG_E2001, place_of(l, arg), TN_STR("expected", expected),
                   TN_TEXT("got", got), TN_TEXT("suggestion", tn_str_suggest(got, known, count)));
}

/* A bare word, or a string that says the same. */
static bool read_word(library_call *l, tn_mind_given *arg, const char *expected, tn_str *out) {
  if (arg->node && arg->node->kind == TN_MIND_NAME && !tn_mind_lookup(l->c, arg->node->name.name)) {
    *out = name_text(l->c, arg->node->name.name);
    return true;
  }
  const tn_mind_type *type = type_of(l->c, arg);
  if (type->kind == TN_MIND_T_STRING && type->known) {
    *out = type->text;
    return true;
  }
  return tn_mind_expected(l->c->mind, place_of(l, arg), expected, type);
}

static bool check_dtype(library_call *l, int index) {
  static const tn_str known[] = { { "i32", 3 },  { "i64", 3 },  { "f32", 3 }, { "f64", 3 },
                                  { "bool", 4 }, { "bf16", 4 }, { "f16", 3 } };
  tn_mind_given *arg = &l->given[index];
  tn_str word;
  if (!read_word(l, arg, "a dtype", &word)) return false;
  if (!tn_dtype_find(word, &l->args[index].dtype)) {
    return unknown_word(l, arg, "a dtype", word, known, sizeof known / sizeof *known);
  }
  if (arg->node) arg->node->type = tn_mind_type_dtype(l->args[index].dtype);
  return true;
}

static bool check_device(library_call *l, int index, tn_mind_device *device) {
  static const tn_str known[] = { { "cpu", 3 }, { "gpu", 3 } };
  tn_mind_given *arg = &l->given[index];
  tn_str word;
  if (!read_word(l, arg, "cpu or gpu", &word)) return false;
  if (!tn_mind_device_find(word, device)) return unknown_word(l, arg, "cpu or gpu", word, known, 2);
  if (arg->node) arg->node->type = tn_mind_type_device(*device);
  return true;
}

static bool check_text(library_call *l, int index) {
  static const tn_str paddings[] = { { "valid", 5 }, { "same", 4 } };
  const tn_mind_type *type = type_of(l->c, &l->given[index]);
  if (type->kind != TN_MIND_T_STRING)
    return tn_mind_expected(l->c->mind, place_of(l, &l->given[index]), "a string", type);
  l->args[index].text = type->known ? type->text : TN_LIT("valid");
  l->unknown |= !type->known;
  if (l->entry->op != TN_OP_CONV2D || tn_mind_is_padding(l->args[index].text)) return true;
  return unknown_word(l, &l->given[index], TN_MIND_PADDINGS, l->args[index].text, paddings, 2);
}

static bool check_truth(library_call *l, int index) {
  const tn_mind_type *type = type_of(l->c, &l->given[index]);
  if (type->kind != TN_MIND_T_SCALAR || type->dtype != TN_BOOL) {
    return tn_mind_expected(l->c->mind, place_of(l, &l->given[index]), "true or false", type);
  }
  if (!type->known) {
    return tn_mind_expected(l->c->mind, place_of(l, &l->given[index]),
                            "true or false that is known before the program runs", type);
  }
  l->args[index].truth = type->integer != 0;
  return true;
}

/* ---- numbers and tensors ---- */

static bool check_number(library_call *l, int index) {
  const tn_mind_type *type = type_of(l->c, &l->given[index]);
  if (!tn_mind_type_is_single(type) || !tn_dtype_in(type->dtype, TN_NUMBERS)) {
    return tn_mind_expected(l->c->mind, place_of(l, &l->given[index]), "a number", type);
  }
  l->args[index].number = 1e-5;
  return true;
}

static bool check_scalar(library_call *l, int index) {
  static const tn_shape none;
  tn_mind_given *arg = &l->given[index];
  const tn_mind_type *type = type_of(l->c, arg);
  bool truth = type->dtype == TN_BOOL && l->entry->op == TN_OP_FILL;
  if (!tn_mind_type_is_single(type) || !(truth || tn_dtype_in(type->dtype, TN_NUMBERS))) {
    return tn_mind_expected(l->c->mind, place_of(l, arg), "a number", type);
  }
  tn_mind_arg *out = &l->args[index];
  bool known = type->kind == TN_MIND_T_SCALAR && type->known, whole = !tn_dtype_in(type->dtype, TN_FLOATS);
  out->plain = true;
  out->number = !known ? tn_nan_f64() : whole ? (double)type->integer : type->number;
  out->value = tn_typer_value(&l->c->mind->typer, type->dtype, &none);
  return true;
}

/* An integer tensor that is written out where indices are wanted. */
/* recursion: lists in lists, TN_MIND_NESTING_LIMIT deep. */
static bool is_integer_data(const tn_mind_node *list) {
  for (const tn_mind_node *item = list->list.items; item; item = item->next) {
    if (item->kind == TN_MIND_LIST ? !is_integer_data(item)
                                   : !(item->type && tn_dtype_in(item->type->dtype, TN_INTS))) {
      return false;
    }
  }
  return true;
}

static bool check_tensor(library_call *l, int index) {
  tn_mind_given *arg = &l->given[index];
  const tn_mind_type *type = type_of(l->c, arg);
  bool indices = l->entry->params[index].kind == TN_MIND_P_INDICES;
  if (!tn_mind_type_is_value(type)) return tn_mind_expected(l->c->mind, place_of(l, arg), "a tensor", type);
  bool written = indices && type->kind == TN_MIND_T_TENSOR && type->literal && arg->node;
  if (written && arg->node->kind == TN_MIND_LIST && is_integer_data(arg->node)) {
    tn_mind_settle(l->c, arg->node, TN_I32);
    arg->type = arg->node->type;
  }
  return true;
}

static bool check_tensors(library_call *l, int index) {
  tn_mind_given *arg = &l->given[index];
  tn_mind_node *node = arg->node;
  bool written = node && (node->kind == TN_MIND_LIST || node->kind == TN_MIND_TUPLE), ok = true;
  const tn_mind_type *type = written ? NULL : type_of(l->c, arg);
  if (!written && type->kind != TN_MIND_T_LIST && type->kind != TN_MIND_T_TUPLE) {
    return tn_mind_expected(l->c->mind, place_of(l, arg), "a list of tensors", type);
  }
  l->list_count = written ? node->list.count : type->count;
  l->list = tn_arena_array(l->c->mind->arena, l->list_count, sizeof *l->list);
  if (!l->list) return false;
  tn_mind_node *item = written ? node->list.items : NULL;
  for (uint32_t i = 0; i < l->list_count; i++) {
    l->list[i] = (tn_mind_given){ item, written ? NULL : type->items[i] };
    const tn_mind_type *of = type_of(l->c, &l->list[i]);
    if (!tn_mind_type_is_value(of))
      ok = tn_mind_expected(l->c->mind, place_of(l, &l->list[i]), "a tensor", of);
    if (item) item = item->next;
  }
  if (written) node->type = arg->type = &tn_mind_type_unit;
  if (ok && !l->list_count) {
    return tn_report(diags_of(l->c), TN_DIAG_E2001, place_of(l, arg),
                     TN_STR("expected", "at least one tensor"), TN_STR("got", "an empty list"));
  }
  return ok;
}

static bool check_argument(library_call *l, int index) {
  if (!l->given[index].node && !l->given[index].type) return true;
  l->args[index].given = true;
  tn_mind_device ignored;
  switch (l->entry->params[index].kind) {
    case TN_MIND_P_TENSOR:
    case TN_MIND_P_INDICES: return check_tensor(l, index);
    case TN_MIND_P_TENSORS: return check_tensors(l, index);
    case TN_MIND_P_SCALAR: return check_scalar(l, index);
    case TN_MIND_P_INT: return check_int(l, index);
    case TN_MIND_P_INTS: return check_ints(l, index);
    case TN_MIND_P_NUMBER: return check_number(l, index);
    case TN_MIND_P_TRUTH: return check_truth(l, index);
    case TN_MIND_P_SHAPE: return check_shape(l, index);
    case TN_MIND_P_DTYPE: return check_dtype(l, index);
    case TN_MIND_P_DEVICE: return check_device(l, index, &ignored);
    case TN_MIND_P_TEXT: return check_text(l, index);
    default: return type_of(l->c, &l->given[index])->kind != TN_MIND_T_ERROR;
  }
}

/* ---- the dtype that scalars take beside tensors, and the device ---- */

typedef struct {
  tn_mind_given *at[TN_MIND_PARAMETER_LIMIT]; /* those that share a dtype */
  int count;
  tn_dtype dtype;
  bool any_tensor;
  tn_mind_device device;
  bool has_device;
} operands;

static bool joins_dtype(const library_call *l, int index) {
  if (!l->args[index].given || l->entry->params[index].kind != TN_MIND_P_TENSOR) return false;
  return !(l->entry->op == TN_OP_SELECT && index == 0);
}

static bool check_devices(library_call *l, operands *o, const tn_mind_type *type) {
  if (type->kind != TN_MIND_T_TENSOR) return true;
  if (o->has_device && o->device != type->device) {
    return tn_report(diags_of(l->c), TN_DIAG_E5002, l->at, TN_STR("left", tn_mind_device_name(o->device)),
                     TN_STR("right", tn_mind_device_name(type->device)), TN_STR("op", l->entry->name));
  }
  o->device = type->device;
  o->has_device = true;
  return true;
}

/* Of scalars alone: the float among them, else the wider integer. */
static tn_dtype scalar_dtype(const library_call *l, tn_mind_given *const *args, int count) {
  tn_dtype dtype = TN_I32;
  bool any_float = false, fixed = false;
  for (int i = 0; i < count; i++) {
    const tn_mind_type *type = args[i]->type;
    if (type->dtype == TN_BOOL) return TN_BOOL;
    if (type->dtype == TN_I64 && !any_float) dtype = TN_I64;
    if (!tn_dtype_in(type->dtype, TN_FLOATS)) continue;
    if (!fixed) dtype = type->dtype;
    any_float = true;
    fixed |= !type->literal;
  }
  return tn_mind_entry_needs_floats(l->entry) && !any_float ? TN_F64 : dtype;
}

static TN_OWN_FRAME bool gather_operands(library_call *l, operands *o) {
  for (int i = 0; i < l->entry->count; i++) {
    bool tensor =
        l->entry->params[i].kind == TN_MIND_P_TENSOR || l->entry->params[i].kind == TN_MIND_P_INDICES;
    if (!tensor || !l->args[i].given) continue;
    if (!check_devices(l, o, l->given[i].type)) return false;
    if (!joins_dtype(l, i)) continue;
    o->at[o->count++] = &l->given[i];
    if (l->given[i].type->kind != TN_MIND_T_TENSOR || o->any_tensor) continue;
    o->any_tensor = true;
    o->dtype = l->given[i].type->dtype;
  }
  if (!o->any_tensor && o->count) o->dtype = scalar_dtype(l, o->at, o->count);
  return true;
}

/* A scalar beside scalars follows the rules of operators: literals adapt, the rest must agree. */
static bool scalar_fits(library_call *l, const operands *o, tn_mind_given *arg, int index) {
  const tn_mind_type *type = arg->type;
  if (o->any_tensor)
    return tn_mind_promote(l->c, arg->node, type, o->dtype, l->entry->name, index == 0, l->at);
  bool ints = tn_dtype_in(type->dtype, TN_INTS) && tn_dtype_in(o->dtype, TN_INTS);
  if (ints || type->dtype == o->dtype) return true;
  if (type->literal && tn_dtype_in(type->dtype, TN_NUMBERS) && tn_dtype_in(o->dtype, TN_FLOATS)) {
    if (arg->node) tn_mind_settle(l->c, arg->node, o->dtype);
    return true;
  }
  if (tn_mind_entry_needs_floats(l->entry) && o->count == 1) {
    return tn_report(diags_of(l->c), TN_DIAG_E2006, l->at, TN_STR("op", l->entry->name),
                     TN_STR("expected", "f32 or f64"), TN_STR("got", tn_dtype_name(type->dtype)));
  }
  return tn_report(diags_of(l->c), TN_DIAG_E2001, l->at, TN_STR("expected", tn_dtype_name(o->dtype)),
                   TN_STR("got", tn_dtype_name(type->dtype)));
}

static tn_value typer_value(library_call *l, const tn_mind_type *type, tn_dtype dtype) {
  static const tn_shape none;
  bool tensor = type->kind == TN_MIND_T_TENSOR;
  return tn_typer_value(&l->c->mind->typer, tensor ? type->dtype : dtype, tensor ? &type->shape : &none);
}

static TN_OWN_FRAME bool make_operands(library_call *l, const operands *o) {
  for (int i = 0; i < l->entry->count; i++) {
    tn_mind_parameter_kind kind = l->entry->params[i].kind;
    if ((kind != TN_MIND_P_TENSOR && kind != TN_MIND_P_INDICES) || !l->args[i].given) continue;
    const tn_mind_type *type = l->given[i].type;
    bool shared = joins_dtype(l, i);
    if (shared && type->kind == TN_MIND_T_SCALAR && !scalar_fits(l, o, &l->given[i], i)) return false;
    l->args[i].value = typer_value(l, type, shared ? o->dtype : type->dtype);
  }
  return true;
}

/* The items of a list: scalars take the dtype of the first tensor; among themselves they are what they would
 * be in brackets of their own. */
static TN_OWN_FRAME bool make_list(library_call *l, operands *o) {
  tn_value *values = tn_arena_array(l->c->mind->arena, l->list_count, sizeof *values);
  if (!values) return false;
  for (uint32_t i = 0; i < l->list_count; i++) {
    const tn_mind_type *type = l->list[i].type;
    if (!check_devices(l, o, type)) return false;
    if (type->kind != TN_MIND_T_TENSOR || o->any_tensor) continue;
    o->any_tensor = true;
    o->dtype = type->dtype;
  }
  if (!o->any_tensor) o->dtype = l->list[0].type->dtype == TN_BOOL ? TN_BOOL : TN_F32;
  for (uint32_t i = 0; i < l->list_count; i++) {
    const tn_mind_type *type = l->list[i].type;
    bool scalar = type->kind == TN_MIND_T_SCALAR;
    if (scalar && !tn_mind_promote(l->c, l->list[i].node, type, o->dtype, l->entry->name, false, l->at))
      return false;
    values[i] = typer_value(l, type, o->dtype);
  }
  l->args[0].values = values;
  l->args[0].count = (int)l->list_count;
  return true;
}

/* ---- the result ---- */

static void forget_sizes(const library_call *l, tn_mind_type *type) {
  int axis;
  if (type->kind != TN_MIND_T_TENSOR) return;
  for (int i = 0; l->unknown && i < type->shape.rank; i++) type->shape.dim[i] = TN_DIM_UNKNOWN;
  if (l->unknown_place && tn_shape_axis(type->shape.rank, l->args[1].integer, &axis)) {
    type->shape.dim[axis] = TN_DIM_UNKNOWN;
  }
}

static bool all_scalars(const library_call *l) {
  for (int i = 0; i < l->entry->count; i++) {
    tn_mind_parameter_kind kind = l->entry->params[i].kind;
    bool value = kind == TN_MIND_P_TENSOR || kind == TN_MIND_P_INDICES;
    if (value && l->args[i].given && l->given[i].type->kind != TN_MIND_T_SCALAR) return false;
  }
  return true;
}

static bool has_zero(const tn_mind_type *type) {
  for (int i = 0; type->kind == TN_MIND_T_TENSOR && i < type->shape.rank; i++) {
    if (type->shape.dim[i] == 0) return true;
  }
  return false;
}

/* A stand-in may not fit where the integer that it stands for does. */
static bool may_fit(const library_call *l, const tn_fault *fault) {
  int rank = fault->left.shape.rank;
  if (!l->unknown && !l->unknown_place) return false;
  switch (fault->kind) {
    case TN_FAULT_AXIS: return tn_fault_repeats(fault) && l->args[1].count <= rank;
    case TN_FAULT_PERMUTATION: return l->args[1].count == rank;
    case TN_FAULT_JOIN: return l->entry->op == TN_OP_CONCAT && rank == fault->right.shape.rank;
    default: return fault->kind == TN_FAULT_SQUEEZE || fault->kind == TN_FAULT_BOUNDS;
  }
}

/* What comes of such a call: all that is certain is how many dimensions there are. */
static const tn_mind_type *unsized(const library_call *l, const operands *o) {
  const tn_mind_type *x = l->list ? l->list[0].type : l->given[0].type;
  tn_shape shape = x->shape;
  if (l->entry->op == TN_OP_INDEX)
    shape.rank--;
  else if (l->entry->params[1].kind == TN_MIND_P_INTS && l->entry->op != TN_OP_TRANSPOSE && !l->args[2].truth)
    shape.rank -= l->args[1].count; /* squeeze and the reductions */
  for (int i = 0; i < shape.rank; i++) shape.dim[i] = TN_DIM_UNKNOWN;
  return tn_mind_type_tensor(l->c->mind->arena, x->dtype, &shape, o->device);
}

static TN_OWN_FRAME const tn_mind_type *ask_lowering(library_call *l, const operands *o) {
  tn_mind_checker *c = l->c;
  tn_mind_origin origins[TN_MIND_PARAMETER_LIMIT];
  int count = 0;
  for (int i = 0; i < l->entry->count && i < 2; i++) {
    bool tensor =
        l->entry->params[i].kind == TN_MIND_P_TENSOR || l->entry->params[i].kind == TN_MIND_P_INDICES;
    if (tensor && l->args[i].given) origins[count++] = tn_mind_origin_of(c, l->given[i].node);
  }
  c->mind->typer.base.at = l->at;
  if (l->entry->op == TN_OP_RESHAPE && l->unknown_shape) { /* nothing can be said about the product */
    tn_type type = { l->given[0].type->dtype, l->args[1].shape };
    tn_typer_reset(&c->mind->typer);
    return tn_mind_type_tensor(c->mind->arena, type.dtype, &type.shape, o->device);
  }
  tn_value made = l->entry->lower(&c->mind->typer.base, l->entry, l->args);
  if (may_fit(l, &c->mind->typer.base.fault)) {
    tn_typer_reset(&c->mind->typer);
    return unsized(l, o);
  }
  bool scalar = l->entry->elementwise && all_scalars(l);
  const tn_mind_type *type = tn_mind_typed(c, made, scalar, o->device, l->entry->name, origins, count);
  if (type->kind != TN_MIND_T_TENSOR) return type;
  tn_mind_type *own = (tn_mind_type *)(uintptr_t)type; /* made just now */
  own->fresh = l->entry->makes;
  forget_sizes(l, own);
  if (!has_zero(type)) return type;
  tn_report(diags_of(c), TN_DIAG_E2105, l->at,
            TN_TEXT("shape", tn_mind_describe_shape(c->mind, &type->shape)));
  return &tn_mind_type_error;
}

/* Every argument is looked at, so that each shows its own mistakes. */
static bool check_arguments(library_call *l) {
  bool ok = true;
  for (int i = 0; i < l->entry->count; i++) ok &= check_argument(l, i);
  return ok;
}

static const tn_mind_type *check_ordinary(library_call *l) {
  operands o = { .device = TN_MIND_CPU };
  bool ok = check_arguments(l) && gather_operands(l, &o);
  /* Values of the typer are made last: looking at arguments forgets what was made before. */
  tn_typer_reset(&l->c->mind->typer);
  for (int i = 0; ok && i < l->entry->count; i++) {
    if (l->entry->params[i].kind == TN_MIND_P_SCALAR && l->args[i].given) ok = check_scalar(l, i);
    if (l->entry->params[i].kind == TN_MIND_P_TENSORS) ok = make_list(l, &o);
  }
  return ok && make_operands(l, &o) ? ask_lowering(l, &o) : &tn_mind_type_error;
}

/* ---- what is no operation ---- */

static const tn_mind_type *check_shape_of(library_call *l) {
  static const tn_shape none;
  const tn_mind_type *type = l->given[0].type;
  return tn_mind_type_shape(l->c->mind->arena, type->kind == TN_MIND_T_TENSOR ? &type->shape : &none);
}

static const tn_mind_type *check_rank_of(library_call *l) {
  const tn_mind_type *type = l->given[0].type;
  int rank = type->kind == TN_MIND_T_TENSOR ? type->shape.rank : 0;
  return tn_mind_type_known(l->c->mind->arena, TN_I32, rank, false);
}

static const tn_mind_type *check_to_device(library_call *l) {
  const tn_mind_type *type = l->given[0].type;
  tn_mind_device device;
  if (!check_device(l, 1, &device)) return &tn_mind_type_error;
  if (type->kind == TN_MIND_T_SCALAR) return type;
  return tn_mind_type_tensor(l->c->mind->arena, type->dtype, &type->shape, device);
}

static TN_OWN_FRAME const tn_mind_type *check_random(library_call *l) {
  tn_mind_type *type = (tn_mind_type *)(uintptr_t)tn_mind_type_tensor(l->c->mind->arena, TN_F32,
                                                                      &l->args[0].shape, TN_MIND_CPU);
  tn_fault fault = { 0 };
  tn_attrs attrs = { .shape = l->args[0].shape };
  tn_type made;
  if (type->kind == TN_MIND_T_ERROR) return type;
  if (!tn_op_infer(&(tn_op_args){ TN_OP_FILL, NULL, 0, &attrs, &fault }, &made)) {
    fault.at = l->at;
    tn_mind_report_fault(l->c->mind, &fault, l->entry->name, NULL, 0);
    return &tn_mind_type_error;
  }
  type->fresh = true;
  return type;
}

static const tn_mind_type *check_print(library_call *l, tn_mind_node *call) {
  for (tn_mind_node *arg = call ? call->call.args : NULL; arg; arg = arg->next) {
    if (arg != l->given[0].node) tn_mind_check_value(l->c, arg);
  }
  return &tn_mind_type_unit;
}

static const tn_mind_type *check_call(library_call *l, tn_mind_node *call) {
  const tn_mind_entry *entry = l->entry;
  if (entry->special == TN_MIND_ORDINARY) return check_ordinary(l);
  bool ok = check_arguments(l);
  if (!ok) {
    if (entry->special == TN_MIND_PRINT) check_print(l, call);
    return &tn_mind_type_error;
  }
  switch (entry->special) {
    case TN_MIND_RANDOM_DRAW: return check_random(l);
    case TN_MIND_SHAPE_OF: return check_shape_of(l);
    case TN_MIND_RANK_OF: return check_rank_of(l);
    case TN_MIND_DTYPE_OF:
      return tn_mind_type_text(l->c->mind->arena, tn_str_of(tn_dtype_name(l->given[0].type->dtype)));
    case TN_MIND_TO_DEVICE: return check_to_device(l);
    case TN_MIND_PRINT: return check_print(l, call);
    case TN_MIND_READ: return &tn_mind_type_string;
    default: return tn_mind_type_scalar(TN_F64); /* now */
  }
}

const tn_mind_type *tn_mind_check_library(tn_mind_checker *c, const tn_mind_entry *entry, tn_mind_given *args,
                                          tn_mind_node *call, tn_str name, tn_span at) {
  (void)name;
  if (entry->special >= TN_MIND_GRAD) return tn_mind_check_special(c, entry, args, call, at);
  library_call *l = tn_heap_alloc(c->mind->host->heap, sizeof *l);
  if (!l) {
    tn_mind_out_of_memory(c->mind);
    return &tn_mind_type_error;
  }
  *l = (library_call){ .c = c, .entry = entry, .given = args, .at = at };
  const tn_mind_type *type = check_call(l, call);
  tn_heap_free(c->mind->host->heap, l, sizeof *l);
  return type;
}
