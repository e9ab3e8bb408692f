/* lang/mind/check_library.c: calls of the library, checked.
 *
 * Arguments are read as in a run (library_call.c), and the function's own
 * lowering is asked with the builder that only infers types. What depends on an
 * integer that is not known before the program runs is forgotten afterwards. */
#include "lang/mind/library_call.h"
#include "op/fault.h"

static tn_diags *diags_of(const tn_mind_call *l) { return l->mind->host->diags; }

/* ---- arguments ---- */

static bool look(tn_mind_call *l, tn_mind_operand *arg) {
  arg->type = tn_mind_check_expression(l->checker, arg->node);
  return true;
}

static void item(tn_mind_call *l, const tn_mind_operand *of, uint32_t index, tn_mind_operand *out) {
  (void)l;
  *out = (tn_mind_operand){ .type = of->type->items[index] };
}

static bool is_word(const tn_mind_call *l, const tn_mind_node *node) {
  return !tn_mind_lookup(l->checker, node->name.name);
}

/* A name that is bound to nothing, or that a dimension of the signature has. */
static bool is_dimension(tn_mind_call *l, tn_mind_node *node, int64_t *dim) {
  tn_name name = node->name.name;
  bool bound = !tn_mind_is_dimension(l->checker, name) && tn_mind_lookup(l->checker, name);
  if (bound || !tn_mind_is_symbol(l->checker, name)) return false;
  node->name.variable = NULL;
  node->type = tn_mind_type_scalar(TN_I64);
  *dim = TN_DIM_SYMBOL(name);
  return true;
}

static bool begin(tn_mind_call *l) {
  tn_typer_reset(&l->mind->typer);
  l->builder = &l->mind->typer.base;
  l->builder->at = l->at;
  return true;
}

static tn_value operand(tn_mind_call *l, const tn_mind_operand *arg, tn_dtype dtype) {
  static const tn_shape none;
  const tn_shape *shape = arg->type->kind == TN_MIND_T_TENSOR ? &arg->type->shape : &none;
  return tn_typer_value(&l->mind->typer, dtype, shape);
}

static bool draw(tn_mind_call *l, tn_mind_arg *out) {
  static const tn_shape none;
  out->value = tn_typer_value(&l->mind->typer, TN_I64, &none);
  return out->value != TN_ERROR_VALUE;
}

/* A scalar beside scalars follows the rules of operators: literals adapt, the rest must agree. */
static bool adapt(tn_mind_call *l, const tn_mind_operand *arg, int index) {
  const tn_mind_type *type = arg->type;
  if (l->any_tensor || l->list)
    return tn_mind_promote(l->checker, arg->node, type, l->dtype, l->entry->name, index == 0 && !l->list,
                           l->at);
  bool ints = tn_dtype_in(type->dtype, TN_INTS) && tn_dtype_in(l->dtype, TN_INTS);
  if (ints || type->dtype == l->dtype) return true;
  if (type->literal && tn_dtype_in(type->dtype, TN_NUMBERS) && tn_dtype_in(l->dtype, TN_FLOATS)) {
    if (arg->node) tn_mind_settle(l->checker, arg->node, l->dtype);
    return true;
  }
  bool alone = l->entry->params[1].kind != TN_MIND_P_TENSOR;
  if (tn_mind_entry_needs_floats(l->entry) && alone)
    return tn_mind_refuse_dtype(l->mind, l->at, l->entry->name, "f32 or f64", type->dtype);
  return tn_report(diags_of(l), TN_DIAG_E2001, l->at, TN_STR("expected", tn_dtype_name(l->dtype)),
                   TN_STR("got", tn_dtype_name(type->dtype)));
}

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

static void settle_indices(tn_mind_call *l, tn_mind_operand *arg) {
  bool literal = arg->type->kind == TN_MIND_T_TENSOR && arg->type->literal;
  if (!literal || !arg->node || arg->node->kind != TN_MIND_LIST || !is_integer_data(arg->node)) return;
  tn_mind_settle(l->checker, arg->node, TN_I32);
  arg->type = arg->node->type;
}

static void note(tn_mind_call *l, tn_mind_operand *arg, const tn_mind_type *type) {
  if (type->kind == TN_MIND_T_SHAPE) type = tn_mind_type_shape(l->mind->arena, &type->shape);
  arg->node->type = arg->type = type;
}

static const tn_mind_reader reader = { .look = look,
                                       .item = item,
                                       .is_word = is_word,
                                       .is_dimension = is_dimension,
                                       .begin = begin,
                                       .operand = operand,
                                       .draw = draw,
                                       .adapt = adapt,
                                       .settle_indices = settle_indices,
                                       .note = note };

/* ---- the result ---- */

static void forget_sizes(const tn_mind_call *l, tn_mind_type *type) {
  int axis;
  for (int i = 0; l->unknown && i < type->shape.rank; i++) type->shape.dim[i] = TN_DIM_UNKNOWN;
  if (l->unknown_place && tn_shape_axis(type->shape.rank, l->args[1].integer, &axis)) {
    type->shape.dim[axis] = TN_DIM_UNKNOWN;
  }
}

/* A stand-in may not fit where the integer that it stands for does. */
static TN_OWN_FRAME bool may_fit(const tn_mind_call *l, const tn_fault *fault) {
  int rank = fault->left.shape.rank;
  if (!l->unknown && !l->unknown_place) return false;
  switch (fault->kind) {
    case TN_FAULT_AXIS: return tn_fault_repeats(fault) && l->args[1].count <= rank;
    case TN_FAULT_PERMUTATION: return l->args[1].count == rank;
    case TN_FAULT_INNER: return l->entry->op == TN_OP_CONV2D && l->args[4].given; /* groups */
    case TN_FAULT_JOIN: return l->entry->op == TN_OP_CONCAT && rank == fault->right.shape.rank;
    default: return fault->kind == TN_FAULT_SQUEEZE || fault->kind == TN_FAULT_BOUNDS;
  }
}

/* The result of such a call: all that is certain is how many dimensions there are. */
static const tn_mind_type *unsized(const tn_mind_call *l) {
  const tn_mind_type *x = l->list ? l->list[0].type : l->given[0].type;
  bool keeps = l->entry->count > 2 && l->args[2].truth;
  tn_shape shape = x->shape;
  if (l->entry->op == TN_OP_INDEX)
    shape.rank--;
  else if (l->entry->params[1].kind == TN_MIND_P_INTS && l->entry->op != TN_OP_TRANSPOSE && !keeps)
    shape.rank -= l->args[1].count; /* squeeze and the reductions */
  for (int i = 0; i < shape.rank; i++) shape.dim[i] = TN_DIM_UNKNOWN;
  return tn_mind_type_tensor(l->mind->arena, x->dtype, &shape, l->device);
}

/* Where an operand came from: its binding if it is a name, else itself. */
static tn_mind_origin origin_of(const tn_mind_call *l, const tn_mind_node *node) {
  if (!node) return (tn_mind_origin){ 0 };
  if (node->kind == TN_MIND_NAME && node->name.variable) {
    const tn_mind_variable *v = node->name.variable;
    return (tn_mind_origin){ tn_mind_at(v->unit, v->start, v->end), true };
  }
  return (tn_mind_origin){ tn_mind_at(l->checker->unit, node->from, node->to), false };
}

static TN_OWN_FRAME const tn_mind_type *report_fault(tn_mind_call *l) {
  tn_mind_origin origins[2];
  int count = 0;
  for (int i = 0; i < l->entry->count && i < 2; i++) {
    tn_mind_parameter_kind kind = l->entry->params[i].kind;
    bool tensor = kind == TN_MIND_P_TENSOR || kind == TN_MIND_P_INDICES;
    if (tensor && l->args[i].given) origins[count++] = origin_of(l, l->given[i].node);
  }
  return tn_mind_wrong(tn_mind_report_fault(l->mind, &l->builder->fault, l->entry->name, origins, count));
}

static TN_OWN_FRAME const tn_mind_type *made_type(tn_mind_call *l, tn_value made) {
  if (!tn_build_ok(l->builder)) return report_fault(l);
  const tn_type *of = tn_build_type(l->builder, made);
  if (of->shape.rank == 0 && tn_mind_gives_scalar(l)) return tn_mind_type_scalar(of->dtype);
  tn_mind_type type = { .kind = TN_MIND_T_TENSOR, .fresh = l->entry->makes, .shape = of->shape };
  type.dtype = (uint8_t)of->dtype;
  type.device = (uint8_t)l->device;
  forget_sizes(l, &type);
  bool sound = tn_mind_refuse_empty(l->mind, &type.shape, l->at);
  return sound ? tn_mind_type_keep(l->mind->arena, &type) : &tn_mind_type_error;
}

static const tn_mind_type *check_ordinary(tn_mind_call *l) {
  if (!tn_mind_read_operands(l))
    return l->builder && !tn_build_ok(l->builder) ? report_fault(l) : &tn_mind_type_error;
  if (l->entry->op == TN_OP_RESHAPE && l->unknown_shape) /* nothing can be said about the product */
    return tn_mind_type_tensor(l->mind->arena, l->given[0].type->dtype, &l->args[1].shape, l->device);
  tn_value made = tn_mind_lower_call(l);
  return may_fit(l, &l->builder->fault) ? unsized(l) : made_type(l, made);
}

/* ---- whatever is not an operation ---- */

static const tn_mind_type *check_fact(tn_mind_call *l) {
  tn_mind_type fact = tn_mind_fact(l);
  return tn_mind_type_keep(l->mind->arena, &fact);
}

static const tn_mind_type *check_to_device(tn_mind_call *l) {
  const tn_mind_type *type = l->given[0].type;
  if (type->kind == TN_MIND_T_SCALAR) return type;
  return tn_mind_type_tensor(l->mind->arena, type->dtype, &type->shape, l->args[1].device);
}

/* What a file holds: its sizes are known when it has been read. */
static const tn_mind_type *read_type(const tn_mind_call *l, tn_dtype dtype, int rank) {
  tn_shape shape = { .rank = rank };
  for (int i = 0; i < rank; i++) shape.dim[i] = TN_DIM_UNKNOWN;
  return tn_mind_type_tensor(l->mind->arena, dtype, &shape, TN_MIND_CPU);
}

static const tn_mind_type *check_npy(const tn_mind_call *l) {
  const tn_mind_type *rank = l->given[1].type;
  bool known = rank->kind == TN_MIND_T_SCALAR && rank->known;
  if (!known || rank->integer < 0) {
    return tn_mind_wrong(
        tn_mind_expected(l->mind, l->at, "a rank that is known before the program runs", rank));
  }
  if (!tn_mind_refuse_rank(l->mind, rank->integer, l->at)) return &tn_mind_type_error;
  return read_type(l, l->args[2].given ? l->args[2].dtype : TN_F32, (int)rank->integer);
}

static void check_printed(tn_mind_call *l) {
  for (tn_mind_node *arg = l->call ? l->call->call.args : NULL; arg; arg = arg->next) {
    if (arg != l->given[0].node) tn_mind_check_expression(l->checker, arg);
  }
}

static const tn_mind_type *check_call(tn_mind_call *l) {
  tn_mind_special special = l->entry->special;
  if (special == TN_MIND_ORDINARY) return check_ordinary(l);
  bool ok = tn_mind_read_arguments(l);
  if (special == TN_MIND_PRINT) check_printed(l);
  if (!ok) return &tn_mind_type_error;
  switch (special) {
    case TN_MIND_TO_DEVICE: return check_to_device(l);
    case TN_MIND_PRINT: return &tn_mind_type_unit;
    case TN_MIND_READ: return &tn_mind_type_string;
    case TN_MIND_READ_BYTES: return read_type(l, TN_I32, 1);
    case TN_MIND_READ_CSV: return read_type(l, TN_F32, 2);
    case TN_MIND_READ_NPY: return check_npy(l);
    case TN_MIND_NOW: return tn_mind_type_scalar(TN_F64);
    default: return check_fact(l);
  }
}

const tn_mind_type *tn_mind_check_library(tn_mind_checker *c, const tn_mind_entry *entry, tn_mind_given *args,
                                          tn_mind_node *call, tn_span at) {
  if (entry->special >= TN_MIND_GRAD) return tn_mind_check_special(c, entry, args, call, at);
  tn_mind_call *l = tn_mind_call_new(c->mind, &reader, entry, at);
  if (!l) return &tn_mind_type_error;
  l->call = call;
  l->checker = c;
  for (int i = 0; i < entry->count; i++) {
    l->given[i].node = args[i].node;
    l->given[i].type = args[i].type;
  }
  const tn_mind_type *type = check_call(l);
  tn_mind_call_free(l);
  return type;
}
