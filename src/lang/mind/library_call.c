/* lang/mind/library_call.c: what the arguments of a library call are.
 *
 * An argument is read as its parameter wants it: a shape may hold names of
 * dimensions, a dtype is a bare word, a list of integers is not a tensor. Then
 * the builder's values are made, in the dtype that the operands share.
 *
 * In a check an integer may be one that only the run knows. It leaves sizes
 * unknown; the lowering is then asked with a stand-in. */
#include "lang/mind/library_call.h"

#include <string.h>

#include "base/elementary.h"

static tn_diags *diags_of(const tn_mind_call *l) { return l->mind->host->diags; }

/* Many calls have one argument: there is room for as many as the function has parameters. */
static size_t bytes_of(const tn_mind_entry *entry) {
  size_t count = entry->count;
  return sizeof(tn_mind_call) + count * sizeof(tn_mind_operand) + (count + 1) * sizeof(tn_mind_arg);
}

tn_mind_call *tn_mind_call_new(tn_mind *mind, const tn_mind_reader *as, const tn_mind_entry *entry,
                               tn_span at) {
  tn_mind_call *l = tn_heap_alloc(mind->host->heap, bytes_of(entry));
  if (!l) {
    tn_mind_out_of_memory(mind);
    return NULL;
  }
  l->given = (tn_mind_operand *)(l + 1);
  l->args = (tn_mind_arg *)(l->given + entry->count);
  l->as = as;
  l->mind = mind;
  l->entry = entry;
  l->at = at;
  return l;
}

void tn_mind_call_free(tn_mind_call *l) {
  tn_heap *heap = l->mind->host->heap;
  tn_heap_free(heap, l->list, l->list_count * sizeof *l->list);
  tn_heap_free(heap, l->values, l->list_count * sizeof *l->values);
  tn_heap_free(heap, l, bytes_of(l->entry));
}

/* What is wrong in a run is wrong with the call. */
static tn_span place_of(const tn_mind_call *l, const tn_mind_operand *arg) {
  bool here = arg->node && !l->as->runs;
  return here ? tn_mind_at(l->checker->unit, arg->node->from, arg->node->to) : l->at;
}

static const tn_mind_type *look(tn_mind_call *l, tn_mind_operand *arg) {
  if (!arg->type && !l->as->look(l, arg)) arg->type = &tn_mind_type_error;
  return arg->type;
}

static bool expected(const tn_mind_call *l, const tn_mind_operand *arg, const char *what) {
  return tn_mind_expected(l->mind, place_of(l, arg), what, arg->type);
}

static void note(tn_mind_call *l, tn_mind_operand *arg, const tn_mind_type *type) {
  if (l->as->note && arg->node && !arg->type) l->as->note(l, arg, type);
}

/* ---- numbers ---- */

static tn_mind_number known_number(const tn_mind_type *type) {
  if (tn_dtype_in(type->dtype, TN_FLOATS))
    return (tn_mind_number){ .dtype = type->dtype, .number = type->number };
  return (tn_mind_number){ .dtype = type->dtype, .integer = type->integer };
}

/* The number of an argument that is a single one. *known is false where only a run could tell. */
static bool read_number(tn_mind_call *l, const tn_mind_operand *arg, tn_mind_number *out, bool *known) {
  *known = arg->type->kind == TN_MIND_T_SCALAR && arg->type->known;
  if (*known)
    *out = known_number(arg->type);
  else if (l->as->runs)
    return l->as->force(l, arg, out, known);
  return true;
}

static TN_OWN_FRAME bool wrong_int(const tn_mind_call *l, const tn_mind_type *type) {
  if (tn_mind_type_is_single(type) && tn_dtype_in(type->dtype, TN_FLOATS))
    return tn_mind_refuse_dtype(l->mind, l->at, l->entry->name, "i32 or i64", type->dtype);
  return tn_mind_expected(l->mind, l->at, "an integer", type);
}

static bool read_int(tn_mind_call *l, tn_mind_operand *arg, int64_t *out, bool *known) {
  const tn_mind_type *type = look(l, arg);
  tn_mind_number number = { .integer = 0 };
  if (!tn_mind_type_is_single(type) || !tn_dtype_in(type->dtype, TN_INTS)) return wrong_int(l, type);
  if (!read_number(l, arg, &number, known)) return false;
  *out = number.integer;
  return true;
}

/* The place does not matter for the shape; everything else does. */
static TN_OWN_FRAME void forget_int(tn_mind_call *l, int index) {
  const char *name = l->entry->params[index].name;
  const tn_mind_node *node = l->given[index].node;
  bool place = strcmp(name, "i") == 0, size = strcmp(name, "n") == 0;
  bool divides = strcmp(name, "groups") == 0 || strcmp(name, "heads") == 0;
  bool along = l->entry->op == TN_OP_SLICE && index > 1;
  bool dimension = size && node && node->kind == TN_MIND_NAME && node->name.dimension; /* eye(N) */
  if (dimension) l->args[index].symbol = node->name.name;
  l->unknown |= !place && !along && !dimension;
  l->unknown_place |= along;
  if (size) l->args[index].integer = 2;
  if (divides) l->args[index].integer = 1;
  if (along) l->args[index].integer = index == 2 ? 0 : 1;
}

static bool read_one_int(tn_mind_call *l, int index) {
  bool known;
  if (!read_int(l, &l->given[index], &l->args[index].integer, &known)) return false;
  if (!known) forget_int(l, index);
  return true;
}

static bool read_eps(tn_mind_call *l, int index) {
  tn_mind_operand *arg = &l->given[index];
  const tn_mind_type *type = look(l, arg);
  tn_mind_number number;
  bool known;
  if (!tn_mind_type_is_single(type) || !tn_dtype_in(type->dtype, TN_NUMBERS))
    return expected(l, arg, "a number");
  if (!read_number(l, arg, &number, &known)) return false;
  l->args[index].number = known ? tn_mind_number_f64(number) : 1e-5;
  return true;
}

static bool read_truth(tn_mind_call *l, int index) {
  tn_mind_operand *arg = &l->given[index];
  const tn_mind_type *type = look(l, arg);
  tn_mind_number number;
  bool known;
  if (type->kind != TN_MIND_T_SCALAR || type->dtype != TN_BOOL) return expected(l, arg, "true or false");
  if (!read_number(l, arg, &number, &known)) return false;
  if (!known) return expected(l, arg, "true or false that is known before the program runs");
  l->args[index].truth = number.integer != 0;
  return true;
}

/* ---- lists of integers ---- */

static bool has_items(const tn_mind_type *type) {
  return type->kind == TN_MIND_T_TUPLE || type->kind == TN_MIND_T_LIST;
}

/* Whether the items of an argument are read where they are written. The receiver of a method has a value in a
 * run already. */
static bool is_written(const tn_mind_call *l, const tn_mind_operand *arg) {
  bool list = arg->node && tn_mind_is_list(arg->node);
  return list && !(l->as->runs && arg->type && has_items(arg->type));
}

static void push_int(tn_mind_call *l, tn_mind_arg *arg, int64_t value, bool known) {
  if (!known) value = l->entry->op == TN_OP_CONV2D ? 1 : arg->count; /* a stride, or no axis twice */
  l->unknown |= !known;
  if (arg->count < TN_RANK_LIMIT) arg->integers[arg->count] = value;
  arg->count++;
}

static bool add_int(tn_mind_call *l, int index, tn_mind_operand *item) {
  int64_t value;
  bool known;
  if (!read_int(l, item, &value, &known)) return false;
  push_int(l, &l->args[index], value, known);
  return true;
}

static bool add_sizes(tn_mind_call *l, int index, const tn_shape *shape) {
  for (int i = 0; i < shape->rank; i++) {
    bool known = tn_dim_is_known(shape->dim[i]);
    if (!known && l->as->runs) {
      return tn_report(diags_of(l), TN_DIAG_E2001, l->at, TN_STR("expected", "a dimension with a size"),
                       TN_TEXT("got", tn_mind_describe_shape(l->mind, shape)));
    }
    push_int(l, &l->args[index], shape->dim[i], known);
  }
  return true;
}

/* Written out, or of a tuple, or of a shape. */
static bool read_ints(tn_mind_call *l, int index) {
  tn_mind_operand *arg = &l->given[index];
  if (is_written(l, arg)) {
    for (tn_mind_node *node = arg->node->list.items; node; node = node->next) {
      if (!add_int(l, index, &(tn_mind_operand){ .node = node })) return false;
    }
    note(l, arg, &tn_mind_type_unit); /* an argument, not a value */
    return true;
  }
  const tn_mind_type *type = look(l, arg);
  if (type->kind == TN_MIND_T_SHAPE) return add_sizes(l, index, &type->shape);
  if (type->kind != TN_MIND_T_TUPLE) return add_int(l, index, arg);
  for (uint32_t i = 0; i < type->count; i++) {
    tn_mind_operand item;
    l->as->item(l, arg, i, &item);
    if (!add_int(l, index, &item)) return false;
  }
  return true;
}

/* ---- shapes ---- */

typedef struct {
  tn_shape shape;
  int rank; /* may be over the limit */
} shape_list;

static void add_dim(shape_list *list, int64_t dim) {
  if (list->rank < TN_RANK_LIMIT) list->shape.dim[list->shape.rank++] = dim;
  list->rank++;
}

/* Below 0 it is not a name; reshape works -1 out. */
static bool add_size(tn_mind_call *l, tn_mind_operand *arg, shape_list *list) {
  int64_t size;
  bool known;
  if (!read_int(l, arg, &size, &known)) return false;
  if (known && size < 0 && !(size == -1 && l->entry->op == TN_OP_RESHAPE)) {
    return tn_report(diags_of(l), TN_DIAG_E2001, l->at, TN_STR("expected", "a size of at least 1"),
                     TN_INT("got", size));
  }
  l->unknown_shape |= !known;
  add_dim(list, known ? size : TN_DIM_UNKNOWN);
  return true;
}

static bool add_written(tn_mind_call *l, tn_mind_node *node, shape_list *list) {
  int64_t dim;
  if (node->kind != TN_MIND_NAME || !l->as->is_dimension(l, node, &dim))
    return add_size(l, &(tn_mind_operand){ .node = node }, list);
  add_dim(list, dim);
  return true;
}

static bool add_items(tn_mind_call *l, const tn_mind_operand *arg, shape_list *list) {
  for (uint32_t i = 0; i < arg->type->count; i++) {
    tn_mind_operand item;
    l->as->item(l, arg, i, &item);
    if (!add_size(l, &item, list)) return false;
  }
  return true;
}

static bool add_shape(tn_mind_call *l, const tn_shape *shape, shape_list *list) {
  for (int i = 0; i < shape->rank; i++) {
    l->unknown_shape |= shape->dim[i] == TN_DIM_UNKNOWN;
    add_dim(list, shape->dim[i]);
  }
  return true;
}

static bool add_dims(tn_mind_call *l, tn_mind_operand *arg, shape_list *list) {
  if (is_written(l, arg)) {
    for (tn_mind_node *item = arg->node->list.items; item; item = item->next) {
      if (!add_written(l, item, list)) return false;
    }
    return true;
  }
  if (!arg->type && arg->node->kind == TN_MIND_NAME) {
    int64_t dim;
    if (l->as->is_dimension(l, arg->node, &dim)) {
      add_dim(list, dim);
      return true;
    }
  }
  const tn_mind_type *type = look(l, arg);
  if (type->kind == TN_MIND_T_UNIT) return true; /* () */
  if (type->kind == TN_MIND_T_SHAPE) return add_shape(l, &type->shape, list);
  if (type->kind == TN_MIND_T_TUPLE) return add_items(l, arg, list);
  if (!tn_mind_type_is_single(type)) return tn_mind_expected(l->mind, l->at, "a shape", type);
  return add_size(l, arg, list);
}

/* What is found may have symbols, and TN_DIM_UNKNOWN where a size is not known yet or -1 is written. */
static bool read_shape(tn_mind_call *l, int index) {
  shape_list list = { .rank = 0 };
  if (!add_dims(l, &l->given[index], &list)) return false;
  if (!tn_mind_refuse_rank(l->mind, list.rank, l->at)) return false;
  if (!tn_mind_refuse_empty(l->mind, &list.shape, l->at)) return false;
  note(l, &l->given[index], &(tn_mind_type){ .kind = TN_MIND_T_SHAPE, .shape = list.shape });
  l->args[index].shape = list.shape;
  return true;
}

/* ---- words ---- */

/* A bare word, or a string that says the same. */
static bool read_word(tn_mind_call *l, tn_mind_operand *arg, const char *wanted, tn_str *out) {
  const tn_mind_node *node = arg->node;
  if (node && node->kind == TN_MIND_NAME && l->as->is_word(l, node)) {
    *out = tn_names_text(l->mind->host->names, node->name.name);
    return true;
  }
  const tn_mind_type *type = look(l, arg);
  if (type->kind != TN_MIND_T_STRING || !type->known) return expected(l, arg, wanted);
  *out = type->text;
  return true;
}

/* ones(2, 3): the sizes stand where the dtype does. */
static bool is_size(tn_mind_call *l, tn_mind_operand *arg) {
  const tn_mind_node *node = arg->node;
  if (!l->entry->leading_dtype || (node && node->kind == TN_MIND_NAME && l->as->is_word(l, node)))
    return false;
  const tn_mind_type *type = look(l, arg);
  return tn_mind_type_is_single(type) && tn_dtype_in(type->dtype, TN_INTS);
}

static bool refuse_size(tn_mind_call *l, const tn_mind_operand *arg) {
  return tn_report(diags_of(l), TN_DIAG_E2001, place_of(l, arg), TN_STR("expected", "a dtype"),
                   TN_TEXT("got", tn_mind_describe(l->mind, arg->type)),
                   TN_HINT(tn_mind_call_hint(l->mind, l->entry)));
}

static bool read_dtype(tn_mind_call *l, int index) {
  tn_mind_operand *arg = &l->given[index];
  tn_str word;
  if (is_size(l, arg)) return refuse_size(l, arg);
  if (!read_word(l, arg, "a dtype", &word)) return false;
  if (!tn_mind_read_dtype(l->mind, word, place_of(l, arg), &l->args[index].dtype)) return false;
  note(l, arg, tn_mind_type_dtype(l->args[index].dtype));
  return true;
}

static bool read_device(tn_mind_call *l, int index) {
  tn_mind_operand *arg = &l->given[index];
  tn_str word;
  if (!read_word(l, arg, "cpu or gpu", &word)) return false;
  if (!tn_mind_read_device(l->mind, word, place_of(l, arg), &l->args[index].device)) return false;
  note(l, arg, tn_mind_type_device(l->args[index].device));
  return true;
}

static bool read_text(tn_mind_call *l, int index) {
  static const tn_str paddings[] = { { "valid", 5 }, { "same", 4 } };
  tn_mind_operand *arg = &l->given[index];
  const tn_mind_type *type = look(l, arg);
  if (type->kind != TN_MIND_T_STRING) return expected(l, arg, "a string");
  tn_str text = l->args[index].text = type->known ? type->text : TN_LIT("valid");
  l->unknown |= !type->known;
  if (l->entry->op != TN_OP_CONV2D || tn_mind_is_padding(text)) return true;
  return tn_mind_unknown_word(l->mind, place_of(l, arg), TN_MIND_PADDINGS, text, paddings, 2);
}

/* ---- tensors ---- */

static bool read_scalar(tn_mind_call *l, int index) {
  const tn_mind_type *type = look(l, &l->given[index]);
  bool truth = type->dtype == TN_BOOL && l->entry->op == TN_OP_FILL;
  bool fits = tn_mind_type_is_single(type) && (truth || tn_dtype_in(type->dtype, TN_NUMBERS));
  return fits || expected(l, &l->given[index], "a number");
}

static bool read_tensor(tn_mind_call *l, int index) {
  tn_mind_operand *arg = &l->given[index];
  if (!tn_mind_type_is_value(look(l, arg))) return expected(l, arg, "a tensor");
  bool indices = l->entry->params[index].kind == TN_MIND_P_INDICES;
  if (indices && l->as->settle_indices) l->as->settle_indices(l, arg);
  return true;
}

static bool read_items(tn_mind_call *l, tn_mind_operand *arg) {
  tn_mind_node *node = is_written(l, arg) ? arg->node->list.items : NULL;
  bool ok = true;
  for (uint32_t i = 0; i < l->list_count && (ok || !l->as->runs); i++) {
    if (node)
      l->list[i].node = node;
    else
      l->as->item(l, arg, i, &l->list[i]);
    if (!tn_mind_type_is_value(look(l, &l->list[i]))) ok = expected(l, &l->list[i], "a tensor");
    if (node) node = node->next;
  }
  return ok;
}

static bool read_tensors(tn_mind_call *l, int index) {
  tn_mind_operand *arg = &l->given[index];
  bool written = is_written(l, arg);
  const tn_mind_type *type = written ? NULL : look(l, arg);
  if (!written && !has_items(type)) return expected(l, arg, "a list of tensors");
  uint32_t count = written ? arg->node->list.count : type->count;
  tn_heap *heap = l->mind->host->heap;
  l->list_count = count;
  l->list = tn_heap_alloc(heap, count * sizeof *l->list);
  l->values = tn_heap_alloc(heap, count * sizeof *l->values);
  if (count && (!l->list || !l->values)) return tn_mind_out_of_memory(l->mind);
  bool ok = read_items(l, arg);
  if (written) note(l, arg, &tn_mind_type_unit);
  if (!ok || count) return ok;
  return tn_report(diags_of(l), TN_DIAG_E2001, place_of(l, arg), TN_STR("expected", "at least one tensor"),
                   TN_STR("got", "an empty list"));
}

/* ---- all of them ---- */

static bool read_argument(tn_mind_call *l, int index) {
  tn_mind_operand *arg = &l->given[index];
  if (!arg->node && !arg->type) return true;
  l->args[index].given = true;
  switch (l->entry->params[index].kind) {
    case TN_MIND_P_TENSOR:
    case TN_MIND_P_INDICES: return read_tensor(l, index);
    case TN_MIND_P_TENSORS: return read_tensors(l, index);
    case TN_MIND_P_SCALAR: return read_scalar(l, index);
    case TN_MIND_P_INT: return read_one_int(l, index);
    case TN_MIND_P_INTS: return read_ints(l, index);
    case TN_MIND_P_NUMBER: return read_eps(l, index);
    case TN_MIND_P_TRUTH: return read_truth(l, index);
    case TN_MIND_P_SHAPE: return read_shape(l, index);
    case TN_MIND_P_DTYPE: return read_dtype(l, index);
    case TN_MIND_P_DEVICE: return read_device(l, index);
    case TN_MIND_P_TEXT: return read_text(l, index);
    default: return look(l, arg)->kind != TN_MIND_T_ERROR;
  }
}

/* A check looks at every argument, so that each shows its own mistakes; a run ends at the first. The receiver
 * of a method comes first, then the arguments in the order in which they are written. */
bool tn_mind_read_arguments(tn_mind_call *l) {
  const tn_mind_node *call = l->call, *arg = call ? call->call.args : NULL;
  bool ok = true;
  for (int i = 0; !call && i < l->entry->count && (ok || !l->as->runs); i++) ok &= read_argument(l, i);
  if (call && call->call.method) ok = read_argument(l, (int)call->left->left->place);
  for (; arg && (ok || !l->as->runs); arg = arg->next) {
    bool further = arg->place >= l->entry->count; /* of print */
    if (!further) ok &= read_argument(l, (int)arg->place);
  }
  return ok;
}

/* ---- the dtype that scalars take beside tensors, and the device ---- */

static bool takes_tensor(const tn_mind_call *l, int index) {
  tn_mind_parameter_kind kind = l->entry->params[index].kind;
  return l->args[index].given && (kind == TN_MIND_P_TENSOR || kind == TN_MIND_P_INDICES);
}

static bool shares_dtype(const tn_mind_call *l, int index) {
  bool condition = l->entry->op == TN_OP_SELECT && index == 0;
  return takes_tensor(l, index) && l->entry->params[index].kind == TN_MIND_P_TENSOR && !condition;
}

/* Of tensors: one device for all, and the dtype of the first. */
static bool join_tensor(tn_mind_call *l, const tn_mind_type *type, bool shares) {
  if (type->kind != TN_MIND_T_TENSOR) return true;
  if (l->has_device && l->device != type->device)
    return tn_mind_devices_differ(l->mind, l->at, l->device, type->device, l->entry->name);
  l->device = type->device;
  l->has_device = true;
  if (shares && !l->any_tensor) l->dtype = type->dtype;
  l->any_tensor |= shares;
  return true;
}

/* Of scalars alone: the float among them, else the wider integer. */
static tn_dtype scalar_dtype(const tn_mind_call *l) {
  tn_dtype dtype = TN_I32;
  bool any_float = false, fixed = false;
  for (int i = 0; i < l->entry->count; i++) {
    if (!shares_dtype(l, i)) continue;
    const tn_mind_type *type = l->given[i].type;
    if (type->dtype == TN_BOOL) return TN_BOOL;
    if (type->dtype == TN_I64 && !any_float) dtype = TN_I64;
    if (!tn_dtype_in(type->dtype, TN_FLOATS)) continue;
    if (!fixed) dtype = type->dtype;
    any_float = true;
    fixed |= !type->literal;
  }
  return tn_mind_entry_needs_floats(l->entry) && !any_float ? TN_F64 : dtype;
}

static bool find_dtype(tn_mind_call *l) {
  for (int i = 0; i < l->entry->count; i++) {
    if (takes_tensor(l, i) && !join_tensor(l, l->given[i].type, shares_dtype(l, i))) return false;
  }
  for (uint32_t i = 0; i < l->list_count; i++) {
    if (!join_tensor(l, l->list[i].type, true)) return false;
  }
  if (l->any_tensor) return true;
  l->dtype = scalar_dtype(l);
  if (l->list_count) l->dtype = l->list[0].type->dtype == TN_BOOL ? TN_BOOL : TN_F32; /* as in brackets */
  return true;
}

/* ---- values of the builder ---- */

static bool make_value(tn_mind_call *l, const tn_mind_operand *arg, int index, bool shares, tn_value *out) {
  bool adapts = shares && arg->type->kind == TN_MIND_T_SCALAR;
  if (adapts && l->as->adapt && !l->as->adapt(l, arg, index)) return false;
  *out = l->as->operand(l, arg, adapts ? l->dtype : arg->type->dtype);
  return *out != TN_ERROR_VALUE;
}

static bool make_list(tn_mind_call *l, int index) {
  for (uint32_t i = 0; i < l->list_count; i++) {
    if (!make_value(l, &l->list[i], index, true, &l->values[i])) return false;
  }
  l->args[index].values = l->values;
  l->args[index].count = (int)l->list_count;
  return true;
}

/* A number that is all there is to it is not a number of the graph. How long arange is depends on it. */
static bool make_scalar(tn_mind_call *l, const tn_mind_operand *arg, tn_mind_arg *out) {
  tn_mind_number number;
  bool known = false;
  out->plain = arg->type->kind == TN_MIND_T_SCALAR && arg->type->known && !arg->value.node;
  if ((out->plain || l->entry->op == TN_OP_IOTA) && !read_number(l, arg, &number, &known)) return false;
  out->number = known ? tn_mind_number_f64(number) : tn_nan_f64();
  out->value = l->as->operand(l, arg, arg->type->dtype);
  return out->value != TN_ERROR_VALUE;
}

static bool make_operand(tn_mind_call *l, int index) {
  const tn_mind_operand *arg = &l->given[index];
  tn_mind_arg *out = &l->args[index];
  tn_mind_parameter_kind kind = l->entry->params[index].kind;
  if (!out->given) return true;
  if (takes_tensor(l, index)) return make_value(l, arg, index, shares_dtype(l, index), &out->value);
  if (kind == TN_MIND_P_TENSORS) return make_list(l, index);
  return kind != TN_MIND_P_SCALAR || make_scalar(l, arg, out);
}

/* Values are made last: to look at an argument may forget what was made before. */
bool tn_mind_read_operands(tn_mind_call *l) {
  if (!tn_mind_read_arguments(l) || !find_dtype(l) || !l->as->begin(l)) return false;
  for (int i = 0; i < l->entry->count; i++) {
    if (!make_operand(l, i)) return false;
  }
  bool draws = (l->entry->effects & TN_MIND_RANDOM) != 0;
  return !draws || l->as->draw(l, &l->args[TN_MIND_KEY]);
}

bool tn_mind_gives_scalar(const tn_mind_call *l) {
  if (!l->entry->elementwise) return false;
  for (int i = 0; i < l->entry->count; i++) {
    if (takes_tensor(l, i) && l->given[i].type->kind != TN_MIND_T_SCALAR) return false;
  }
  return true;
}

/* ---- what is known without an operation ---- */

tn_mind_type tn_mind_fact(const tn_mind_call *l) {
  const tn_mind_type *of = l->given[0].type;
  tn_mind_type fact = { .kind = TN_MIND_T_SHAPE };
  if (of->kind == TN_MIND_T_TENSOR) fact.shape = of->shape;
  if (l->entry->special == TN_MIND_RANK_OF)
    return (
        tn_mind_type){ .kind = TN_MIND_T_SCALAR, .dtype = TN_I32, .known = true, .integer = fact.shape.rank };
  if (l->entry->special == TN_MIND_DTYPE_OF)
    return (
        tn_mind_type){ .kind = TN_MIND_T_STRING, .known = true, .text = tn_str_of(tn_dtype_name(of->dtype)) };
  return fact;
}
