/* lang/mind/eval_value.c: values: as nodes, as numbers, as text, for the outside. */
#include "lang/mind/eval.h"
#include "tensor/print.h"

tn_mind_value tn_mind_scalar_value(tn_mind_number number) {
  tn_mind_value value = { .kind = TN_MIND_V_SCALAR, .dtype = (uint8_t)number.dtype, .known = true };
  if (tn_dtype_in(number.dtype, TN_FLOATS))
    value.number = number.number;
  else
    value.integer = number.integer;
  return value;
}

tn_mind_value tn_mind_tensor_value(tn_value node) {
  return (tn_mind_value){ .kind = TN_MIND_V_TENSOR, .node = node };
}

tn_mind_number tn_mind_number_in(const tn_mind_value *value) {
  tn_mind_number number = { .dtype = value->dtype };
  if (tn_dtype_in(number.dtype, TN_FLOATS))
    number.number = value->number;
  else
    number.integer = value->integer;
  return number;
}

/* ---- the builder ---- */

tn_builder *tn_mind_builder(tn_mind_evaluator *e, tn_span at) {
  tn_builder *builder = tn_mind_trace_builder(e->trace);
  if (builder)
    builder->at = at;
  else
    tn_mind_out_of_memory(e->mind);
  return builder;
}

bool tn_mind_eval_fault(tn_mind_evaluator *e, const tn_fault *fault, const char *op) {
  return tn_mind_report_fault(e->mind, fault, op, NULL, 0);
}

bool tn_mind_built(tn_mind_evaluator *e, const char *op, tn_value value) {
  tn_builder *builder = &e->trace->builder.base;
  if (tn_build_ok(builder)) return value != TN_ERROR_VALUE;
  tn_fault fault = builder->fault;
  tn_build_forget(builder);
  e->host->diags->call = e->active ? &e->active->call : NULL;
  tn_mind_eval_fault(e, &fault, op);
  e->host->diags->call = NULL;
  return false;
}

tn_type tn_mind_value_type(const tn_mind_evaluator *e, const tn_mind_value *value) {
  if (value->kind == TN_MIND_V_TENSOR) return *tn_graph_type(&e->trace->graph, value->node);
  return (tn_type){ .dtype = value->dtype };
}

/* A 0-d node for a number; what a double cannot hold exactly stands as a constant. */
static tn_value number_node(tn_mind_evaluator *e, tn_builder *builder, tn_mind_number number) {
  bool whole = !tn_dtype_in(number.dtype, TN_FLOATS);
  int64_t exact = (int64_t)1 << 53;
  if (!whole || (number.integer >= -exact && number.integer <= exact)) {
    return tn_build_number(builder, number.dtype, tn_mind_number_f64(number));
  }
  tn_tensor tensor;
  static const tn_shape none;
  if (!tn_tensor_new(e->host->heap, number.dtype, &none, &tensor)) {
    return tn_build_fault(builder, TN_OP_CONST, (tn_fault){ .kind = TN_FAULT_MEMORY });
  }
  tn_view_set_i64(&tensor.view, 0, number.integer);
  tn_value node = tn_build_const(builder, &tensor);
  tn_tensor_unref(&tensor);
  return node;
}

tn_value tn_mind_node_of(tn_mind_evaluator *e, const tn_mind_value *value, tn_dtype dtype, tn_span at) {
  tn_builder *builder = tn_mind_builder(e, at);
  tn_value node = value->node;
  if (!builder) return TN_ERROR_VALUE;
  bool number = value->kind == TN_MIND_V_SCALAR && !node;
  if (number && tn_dtype_in(dtype, TN_NUMBERS | TN_BOOLS)) {
    node = number_node(e, builder, tn_mind_number_cast(tn_mind_number_in(value), dtype));
  } else if (number) {
    node = tn_build_cast(builder, number_node(e, builder, tn_mind_number_in(value)), dtype);
  } else {
    node = tn_build_cast(builder, node, dtype);
  }
  return tn_mind_built(e, NULL, node) ? node : TN_ERROR_VALUE;
}

/* ---- numbers ---- */

static tn_mind_number read_number(const tn_view *view) {
  tn_mind_number number = { .dtype = view->dtype };
  if (tn_dtype_in(view->dtype, TN_STORAGE)) number.dtype = TN_F32;
  if (tn_dtype_in(number.dtype, TN_FLOATS))
    number.number = tn_view_get_f64(view, 0);
  else
    number.integer = tn_view_get_i64(view, 0);
  return number;
}

/* Of a dimension without a size, where it is the same for every size: the largest of ones is 1. */
static bool uniform_number(tn_mind_evaluator *e, tn_value node, tn_mind_number *out) {
  tn_mind_number number = { .dtype = TN_F64 };
  tn_dtype dtype = tn_graph_type(&e->trace->graph, node)->dtype;
  if (dtype == TN_I64 || !tn_mind_trace_fill(e->trace, node, &number.number)) return false; /* 53 bits */
  *out = tn_mind_number_cast(number, tn_dtype_in(dtype, TN_STORAGE) ? TN_F32 : dtype);
  return true;
}

tn_mind_forced tn_mind_number_of(tn_mind_evaluator *e, const tn_mind_value *value, tn_span at,
                                 tn_mind_number *out) {
  if (value->kind == TN_MIND_V_SCALAR && value->known) {
    *out = tn_mind_number_in(value);
    return TN_MIND_DATA;
  }
  const tn_node *node = tn_graph_node(&e->trace->graph, value->node);
  if (node->op == TN_OP_FILL && node->type.shape.rank == 0 && !tn_dtype_in(node->type.dtype, TN_STORAGE)) {
    tn_mind_number number = { .dtype = TN_F64, .number = node->attrs->number };
    *out = tn_mind_number_cast(number, node->type.dtype);
    return TN_MIND_DATA;
  }
  tn_fault fault;
  tn_mind_forced forced = tn_mind_trace_force(e->trace, &value->node, 1, &fault);
  if (forced == TN_MIND_DATA) *out = read_number(&tn_mind_trace_data(e->trace, value->node)->view);
  if (forced == TN_MIND_NO_DATA && uniform_number(e, value->node, out)) return TN_MIND_DATA;
  if (forced != TN_MIND_FAULT) return forced;
  if (!fault.at.file) fault.at = at;
  tn_mind_eval_fault(e, &fault, NULL);
  return forced;
}

bool tn_mind_need_number(tn_mind_evaluator *e, const tn_mind_value *value, tn_span at, tn_mind_number *out) {
  tn_mind_forced forced = tn_mind_number_of(e, value, at, out);
  if (forced == TN_MIND_DATA) return true;
  if (forced == TN_MIND_NO_DATA) {
    tn_report(e->host->diags, TN_DIAG_E2001, at, TN_STR("expected", "a number that is known here"),
              TN_STR("got", "one that depends on a dimension without a size"));
  }
  return false;
}

/* ---- meeting a declared type ---- */

static TN_OWN_FRAME bool coerce_scalar(tn_mind_evaluator *e, tn_mind_value *value, tn_dtype dtype,
                                       tn_span at) {
  bool tensor = value->kind == TN_MIND_V_TENSOR;
  tn_dtype from = tn_mind_value_type(e, value).dtype;
  if (tensor)
    *value = (tn_mind_value){ .kind = TN_MIND_V_SCALAR, .dtype = (uint8_t)from, .node = value->node };
  if (from == dtype) return true;
  tn_mind_value made = { .kind = TN_MIND_V_SCALAR, .dtype = (uint8_t)dtype };
  if (value->known) made = tn_mind_scalar_value(tn_mind_number_cast(tn_mind_number_in(value), dtype));
  if (value->node) {
    made.node = tn_mind_node_of(e, value, dtype, at);
    if (made.node == TN_ERROR_VALUE) return false;
  }
  *value = made;
  return true;
}

/* A scalar is everywhere in the tensor. */
static bool fill_tensor(tn_mind_evaluator *e, tn_mind_value *value, tn_dtype dtype, const tn_shape *shape,
                        tn_span at) {
  tn_builder *builder = tn_mind_builder(e, at);
  tn_value node;
  if (!builder) return false;
  bool plain = !value->node && value->dtype != TN_I64;
  if (plain && shape->rank > 0) {
    node = tn_build_fill(builder, &(tn_type){ dtype, *shape }, tn_mind_number_f64(tn_mind_number_in(value)));
  } else {
    node = tn_mind_node_of(e, value, dtype, at);
    if (node != TN_ERROR_VALUE) node = tn_build_broadcast_to(builder, node, shape);
  }
  *value = tn_mind_tensor_value(node);
  return tn_mind_built(e, NULL, node);
}

/* An axis of unknown length, with the elements it had: one more is added and left out. */
static tn_value blur_axis(tn_builder *builder, tn_value x, int axis) {
  tn_attrs attrs = { 0 };
  attrs.high[axis] = 1;
  tn_value longer = tn_build(builder, TN_OP_PAD, &x, 1, &attrs);
  return tn_build_slice(builder, longer, axis, 0, -1, 1);
}

/* What an annotation says of sizes that the value leaves open is taken for granted. The lengths of a
 * value that is one number everywhere can be stated again. */
static bool claim_shape(tn_mind_evaluator *e, tn_mind_value *value, const tn_type *type,
                        const tn_shape *claimed, tn_span at) {
  tn_builder *builder = tn_mind_builder(e, at);
  tn_value node = value->node;
  double number;
  if (!builder) return false;
  if (tn_mind_trace_fill(e->trace, node, &number)) {
    node = tn_build_fill(builder, &(tn_type){ type->dtype, *claimed }, number);
  } else if (e->lowers) {
    return true; /* the sizes are given when the graph runs */
  } else {
    for (int i = 0; i < claimed->rank; i++) {
      if (tn_dim_is_symbol(type->shape.dim[i]) && type->shape.dim[i] != claimed->dim[i])
        node = blur_axis(builder, node, i);
    }
    node = tn_build_broadcast_to(builder, node, claimed);
  }
  *value = tn_mind_tensor_value(node);
  return tn_mind_built(e, NULL, node);
}

/* Names that only change are left alone in a call: there the new one stands for the old one. */
static bool claims(const tn_shape *had, const tn_shape *claimed, bool names) {
  for (int i = 0; i < had->rank; i++) {
    if (had->dim[i] != claimed->dim[i] && (names || tn_dim_is_known(claimed->dim[i]))) return true;
  }
  return false;
}

static TN_OWN_FRAME bool coerce_tensor(tn_mind_evaluator *e, tn_mind_value *value, const tn_mind_type *wanted,
                                       tn_mind_bindings *symbols, const tn_mind_bindings *around,
                                       tn_span at) {
  tn_shape shape = wanted->shape;
  if (wanted->device == TN_MIND_GPU && !e->lowers && !e->host->has_gpu) {
    return tn_report(e->host->diags, TN_DIAG_E5001, at, TN_STR("device", "gpu"));
  }
  if (value->kind == TN_MIND_V_SCALAR) {
    tn_mind_bind_shape(symbols, &shape);
    if (around) tn_mind_bind_shape(around, &shape);
    return fill_tensor(e, value, wanted->dtype, &shape, at);
  }
  tn_type type = tn_mind_value_type(e, value);
  tn_shape met;
  int dimension;
  tn_name symbol;
  if (tn_mind_unify_annotation(&shape, &type.shape, symbols, &met, &dimension, &symbol)) {
    return !claims(&type.shape, &met, around != NULL) || claim_shape(e, value, &type, &met, at);
  }
  if (symbol) tn_mind_bind_shape(symbols, &shape);
  return tn_mind_shapes_differ(e->mind, at, &shape, &type.shape, symbol, dimension, TN_LIT(""));
}

/* A closure keeps the copy that was checked for the type: a session forgets the others. */
static bool coerce_function(tn_mind_evaluator *e, tn_mind_value *value, const tn_mind_type *wanted) {
  if (wanted->callable->kind != TN_MIND_C_DECLARED || value->fn->chosen) return true;
  const tn_mind_function *chosen = tn_mind_choose_for(value->fn, wanted->callable);
  if (!chosen) return true;
  tn_mind_fn *kept = tn_arena_copy(e->arena, value->fn, sizeof *value->fn);
  if (!kept) return tn_mind_out_of_memory(e->mind);
  kept->chosen = chosen;
  value->fn = kept;
  return true;
}

bool tn_mind_coerce(tn_mind_evaluator *e, tn_mind_value *value, const tn_mind_type *wanted,
                    tn_mind_bindings *symbols, const tn_mind_bindings *around, tn_span at) {
  if (wanted->kind == TN_MIND_T_SCALAR) return coerce_scalar(e, value, wanted->dtype, at);
  if (wanted->kind == TN_MIND_T_TENSOR) return coerce_tensor(e, value, wanted, symbols, around, at);
  if (wanted->kind == TN_MIND_T_FN && value->kind == TN_MIND_V_FN) return coerce_function(e, value, wanted);
  if (wanted->kind != TN_MIND_T_TUPLE || value->kind != TN_MIND_V_TUPLE) return true;
  if (!tn_mind_room(e->mind)) return tn_report_stack(e->host->diags, at, NULL);
  tn_mind_value *items = tn_arena_copy(e->arena, value->items, value->count * sizeof *items);
  if (!items) return tn_mind_out_of_memory(e->mind);
  value->items = items;
  for (uint32_t i = 0; i < value->count && i < wanted->count; i++) {
    if (!tn_mind_coerce(e, &items[i], wanted->items[i], symbols, around, at)) return false;
  }
  return true;
}

bool tn_mind_coerce_all(tn_mind_evaluator *e, tn_mind_value *args, const tn_mind_function *f,
                        const tn_mind_callable *declared, tn_mind_bindings *symbols,
                        const tn_mind_bindings *around, tn_span at) {
  uint32_t count = f ? f->param_count : declared->param_count;
  for (int round = 0; round < TN_MIND_ROUNDS; round++) {
    for (uint32_t i = 0; i < count; i++) {
      const tn_mind_type *wanted = f ? tn_mind_wanted(f, i) : declared->params[i];
      if (!wanted || tn_mind_value_round(&args[i]) != round) continue;
      if (!tn_mind_coerce(e, &args[i], wanted, symbols, around, at)) return false;
    }
  }
  return true;
}

/* ---- types while running ---- */

static const tn_mind_type *items_type(tn_mind_evaluator *e, const tn_mind_value *value,
                                      tn_mind_type_kind kind) {
  if (!tn_mind_room(e->mind)) return &tn_mind_type_error;
  const tn_mind_type **items = tn_arena_array(e->arena, value->count, sizeof *items);
  if (!items) return &tn_mind_type_error;
  for (uint32_t i = 0; i < value->count; i++) items[i] = tn_mind_type_of(e, &value->items[i]);
  return tn_mind_type_items(e->arena, kind, items, value->names, value->count);
}

const tn_mind_type *tn_mind_type_of(tn_mind_evaluator *e, const tn_mind_value *value) {
  switch (value->kind) {
    case TN_MIND_V_SCALAR: return tn_mind_type_scalar(value->dtype);
    case TN_MIND_V_TENSOR: {
      tn_type type = tn_mind_value_type(e, value);
      return tn_mind_type_tensor(e->arena, type.dtype, &type.shape, TN_MIND_CPU);
    }
    case TN_MIND_V_STRING: return &tn_mind_type_string;
    case TN_MIND_V_SHAPE: return tn_mind_type_shape(e->arena, value->shape);
    case TN_MIND_V_TUPLE: return items_type(e, value, TN_MIND_T_TUPLE);
    case TN_MIND_V_LIST: return items_type(e, value, TN_MIND_T_LIST);
    case TN_MIND_V_GRAD: return items_type(e, value, TN_MIND_T_GRAD);
    case TN_MIND_V_FN: return tn_mind_type_fn(e->arena, value->fn->callable);
    default: return &tn_mind_type_unit;
  }
}

/* ---- computing ---- */

typedef struct {
  tn_heap *heap;
  tn_vec(tn_value) nodes;
  bool failed;
} node_list;

static void collect(node_list *list, const tn_mind_value *value) {
  bool items = tn_mind_has_items(value);
  bool node = value->kind == TN_MIND_V_TENSOR || (value->kind == TN_MIND_V_SCALAR && !value->known);
  if (node) list->failed |= !tn_vec_push(list->heap, &list->nodes, value->node);
  if (items && !tn_stack_room(&list->heap->stack)) {
    list->failed = true;
    return;
  }
  for (uint32_t i = 0; items && i < value->count; i++) collect(list, &value->items[i]);
}

/* All at once; if one of them has no data, one by one. */
bool tn_mind_value_force(tn_mind_evaluator *e, const tn_mind_value *value, tn_span at) {
  node_list list = { .heap = e->host->heap };
  tn_fault fault = { .kind = TN_FAULT_MEMORY };
  collect(&list, value);
  tn_mind_forced forced = list.failed ? TN_MIND_FAULT : TN_MIND_DATA;
  if (list.nodes.count && !list.failed) {
    forced = tn_mind_trace_force(e->trace, list.nodes.at, list.nodes.count, &fault);
    for (size_t i = 0; forced == TN_MIND_NO_DATA && list.nodes.count > 1 && i < list.nodes.count; i++) {
      if (tn_mind_trace_force(e->trace, &list.nodes.at[i], 1, &fault) == TN_MIND_FAULT)
        forced = TN_MIND_FAULT;
    }
  }
  tn_vec_free(e->host->heap, &list.nodes);
  if (forced != TN_MIND_FAULT) return true;
  if (!fault.at.file) fault.at = at;
  return tn_mind_eval_fault(e, &fault, NULL);
}

/* ---- text ---- */

/* A tensor that depends on a dimension without a size may still be known: one number everywhere. */
static bool filled_tensor(tn_mind_evaluator *e, const tn_type *type, double fill, tn_tensor *out) {
  if (!tn_shape_is_known(&type->shape) || !tn_tensor_new(e->host->heap, type->dtype, &type->shape, out))
    return false;
  int64_t count = tn_view_count(&out->view);
  for (int64_t i = 0; i < count; i++) tn_view_set_f64(&out->view, i, fill);
  return true;
}

static TN_OWN_FRAME void print_tensor(tn_mind_evaluator *e, const tn_mind_value *value, bool shorten,
                                      tn_text *out) {
  tn_type type = tn_mind_value_type(e, value);
  const tn_mind_type *shown = tn_mind_type_tensor(e->arena, type.dtype, &type.shape, TN_MIND_CPU);
  const tn_tensor *data = tn_mind_trace_data(e->trace, value->node);
  tn_tensor made = { 0 };
  double fill = 0;
  bool uniform = !data && tn_mind_trace_fill(e->trace, value->node, &fill);
  tn_mind_type_print(shown, e->host->names, out);
  if (uniform && filled_tensor(e, &type, fill, &made)) data = &made;
  if (data) {
    tn_print_style style = tn_print_list(&data->view, shorten);
    tn_text_byte(out, ' ');
    tn_view_print(&data->view, &style, out);
  } else if (uniform) {
    tn_mind_number number = { .dtype = TN_F64, .number = fill };
    tn_dtype dtype = tn_dtype_in(type.dtype, TN_STORAGE) ? TN_F32 : type.dtype;
    tn_text_puts(out, " fill=");
    tn_mind_number_print(tn_mind_number_cast(number, dtype), out);
  }
  tn_tensor_unref(&made);
}

static TN_OWN_FRAME void print_scalar(tn_mind_evaluator *e, const tn_mind_value *value, tn_text *out) {
  tn_mind_number number;
  if (tn_mind_number_of(e, value, TN_NOWHERE, &number) == TN_MIND_DATA)
    tn_mind_number_print(number, out);
  else
    tn_text_puts(out, tn_dtype_name(value->dtype));
}

static void print_value(tn_mind_evaluator *e, const tn_mind_value *value, bool shorten, tn_text *out);

static void print_items(tn_mind_evaluator *e, const tn_mind_value *value, bool shorten, const char *open,
                        const char *close, tn_text *out) {
  if (!tn_text_room(out)) return;
  tn_text_puts(out, open);
  for (uint32_t i = 0; i < value->count; i++) {
    if (i) tn_text_puts(out, ", ");
    if (value->kind == TN_MIND_V_GRAD) {
      tn_text_add(out, tn_names_text(e->host->names, value->names[i]));
      tn_text_puts(out, ": ");
    }
    print_value(e, &value->items[i], shorten, out);
  }
  tn_text_puts(out, close);
}

static void print_value(tn_mind_evaluator *e, const tn_mind_value *value, bool shorten, tn_text *out) {
  switch (value->kind) {
    case TN_MIND_V_SCALAR: print_scalar(e, value, out); break;
    case TN_MIND_V_TENSOR: print_tensor(e, value, shorten, out); break;
    case TN_MIND_V_STRING: tn_text_add(out, value->text); break;
    case TN_MIND_V_SHAPE: tn_mind_shape_print(value->shape, e->host->names, out); break;
    case TN_MIND_V_TUPLE: print_items(e, value, shorten, "(", value->count == 1 ? ",)" : ")", out); break;
    case TN_MIND_V_LIST: print_items(e, value, shorten, "[", "]", out); break;
    case TN_MIND_V_GRAD: print_items(e, value, shorten, "grad{ ", value->count ? " }" : "}", out); break;
    case TN_MIND_V_FN:
      tn_text_puts(out, "fn ");
      tn_text_add(out, tn_mind_callable_name(e->mind, value->fn->callable));
      break;
    default: tn_text_puts(out, "()"); break;
  }
}

bool tn_mind_value_print(tn_mind_evaluator *e, const tn_mind_value *value, bool shorten, tn_span at,
                         tn_text *out) {
  if (!tn_mind_value_force(e, value, at)) return false;
  print_value(e, value, shorten, out);
  return !out->failed || tn_mind_out_of_memory(e->mind);
}

/* ---- for the outside ---- */

static TN_OWN_FRAME void scalar_datum(tn_mind_evaluator *e, const tn_mind_value *value, tn_datum *out) {
  tn_mind_number number = { .dtype = value->dtype };
  bool known = tn_mind_number_of(e, value, TN_NOWHERE, &number) == TN_MIND_DATA;
  out->dtype = value->dtype;
  if (!known) { /* of a dimension without a size: a tensor whose data is not known */
    out->kind = TN_VALUE_TENSOR;
  } else if (tn_dtype_in(number.dtype, TN_FLOATS)) {
    out->kind = TN_VALUE_FLOAT;
    out->number = number.number;
  } else {
    out->kind = number.dtype == TN_BOOL ? TN_VALUE_BOOL : TN_VALUE_INT;
    out->integer = number.integer;
  }
}

static TN_OWN_FRAME void tensor_datum(tn_mind_evaluator *e, const tn_mind_value *value, tn_datum *out) {
  tn_type type = tn_mind_value_type(e, value);
  const tn_tensor *data = tn_mind_trace_data(e->trace, value->node);
  out->kind = TN_VALUE_TENSOR;
  out->dtype = type.dtype;
  out->shape = type.shape;
  if (data) {
    out->tensor = tn_tensor_ref(data);
    return;
  }
  out->has_fill = tn_mind_trace_fill(e->trace, value->node, &out->number);
  if (out->has_fill && filled_tensor(e, &type, out->number, &out->tensor)) out->has_fill = false;
}

static bool items_datum(tn_mind_evaluator *e, const tn_mind_value *value, tn_arena *arena, tn_datum *out) {
  out->kind = value->kind == TN_MIND_V_TUPLE  ? TN_VALUE_TUPLE
              : value->kind == TN_MIND_V_LIST ? TN_VALUE_LIST
                                              : TN_VALUE_GRAD;
  out->items = tn_mind_room(e->mind) ? tn_arena_array(arena, value->count, sizeof *out->items) : NULL;
  if (!out->items) return tn_mind_out_of_memory(e->mind);
  for (uint32_t i = 0; i < value->count; i++) {
    if (!tn_mind_value_datum(e, &value->items[i], arena, &out->items[i])) return false;
    if (value->names) out->items[i].name = tn_names_text(e->host->names, value->names[i]);
    out->count++;
  }
  return true;
}

bool tn_mind_value_datum(tn_mind_evaluator *e, const tn_mind_value *value, tn_arena *arena, tn_datum *out) {
  *out = (tn_datum){ .kind = TN_VALUE_UNIT };
  switch (value->kind) {
    case TN_MIND_V_SCALAR: scalar_datum(e, value, out); return true;
    case TN_MIND_V_TENSOR: tensor_datum(e, value, out); return true;
    case TN_MIND_V_STRING:
      out->kind = TN_VALUE_STRING;
      out->text = tn_arena_str(arena, value->text);
      return true;
    case TN_MIND_V_SHAPE:
      out->kind = TN_VALUE_SHAPE;
      out->shape = *value->shape;
      return true;
    case TN_MIND_V_TUPLE:
    case TN_MIND_V_LIST:
    case TN_MIND_V_GRAD: return items_datum(e, value, arena, out);
    case TN_MIND_V_FN:
      out->kind = TN_VALUE_FUNCTION;
      out->text = tn_arena_str(arena, tn_mind_callable_name(e->mind, value->fn->callable));
      return true;
    default: return true;
  }
}
