/* lang/mind/eval_library.c: calls of the library, carried out.
 *
 * Arguments are evaluated as their parameters want them and handed to the same
 * lowering that the checker asked, with the builder of the graph. What reaches
 * outside (printing, the clock, files) happens here and nowhere else. */
#include <assert.h>
#include <string.h>

#include "lang/mind/eval.h"

/* Large, and alive while arguments are evaluated: so it does not lie in the frames of calls within calls. */
typedef struct {
  tn_mind_evaluator *e;
  tn_mind_frame *frame;
  const tn_mind_unit *unit;
  const tn_mind_entry *entry;
  tn_mind_node **bound; /* by parameter; NULL: values are given, all of them numbers */
  tn_mind_value values[TN_MIND_PARAMETER_LIMIT]; /* of what has a value */
  bool has[TN_MIND_PARAMETER_LIMIT];
  tn_mind_arg args[TN_MIND_PARAMETER_LIMIT];
  tn_span at;
} library_call;

static library_call *take_call(tn_mind_evaluator *e, const tn_mind_entry *entry, tn_span at) {
  library_call *l = tn_heap_alloc(e->host->heap, sizeof *l);
  if (l)
    *l = (library_call){ .e = e, .entry = entry, .at = at };
  else
    tn_mind_out_of_memory(e->mind);
  return l;
}

static bool give_back(library_call *l, bool ok) {
  tn_heap_free(l->e->host->heap, l, sizeof *l);
  return ok;
}

static tn_diags *diags_of(const library_call *l) { return l->e->host->diags; }

/* ---- integers ---- */

static bool int_value(const library_call *l, const tn_mind_value *value, int64_t *out) {
  tn_mind_number number;
  if (!tn_mind_need_number(l->e, value, l->at, &number)) return false;
  *out = number.integer;
  return true;
}

static bool eval_int(const library_call *l, tn_mind_node *node, int64_t *out) {
  tn_mind_value value;
  return tn_mind_eval(l->e, l->frame, l->unit, node, &value) && int_value(l, &value, out);
}

static void add_int(tn_mind_arg *arg, int64_t integer) {
  assert(arg->count < TN_RANK_LIMIT); /* the checker has counted them */
  arg->integers[arg->count++] = integer;
}

/* Integers of a value: one, a tuple of them, a shape. */
static bool ints_of_value(const library_call *l, const tn_mind_value *value, tn_mind_arg *arg) {
  int64_t integer;
  if (value->kind == TN_MIND_V_SHAPE) {
    for (int i = 0; i < value->shape->rank; i++) add_int(arg, value->shape->dim[i]);
    return true;
  }
  if (value->kind != TN_MIND_V_TUPLE) {
    if (!int_value(l, value, &integer)) return false;
    add_int(arg, integer);
    return true;
  }
  for (uint32_t i = 0; i < value->count; i++) {
    if (!int_value(l, &value->items[i], &integer)) return false;
    add_int(arg, integer);
  }
  return true;
}

static bool is_written_list(const tn_mind_node *node) {
  return node->kind == TN_MIND_LIST || node->kind == TN_MIND_TUPLE;
}

static bool eval_ints(library_call *l, int index) {
  const tn_mind_node *node = l->bound[index];
  int64_t integer;
  if (!is_written_list(node)) return ints_of_value(l, &l->values[index], &l->args[index]);
  for (tn_mind_node *item = node->list.items; item; item = item->next) {
    if (!eval_int(l, item, &integer)) return false;
    add_int(&l->args[index], integer);
  }
  return true;
}

/* ---- shapes ---- */

/* A name that is bound to nothing; zeros(N): the whole shape is one. */
static bool is_symbol(const tn_mind_node *node) { return node->kind == TN_MIND_NAME && !node->name.variable; }

static void add_dim(tn_shape *shape, int64_t dim) {
  assert(shape->rank < TN_RANK_LIMIT); /* the checker has counted them */
  shape->dim[shape->rank++] = dim;
}

/* An integer that the program computed: below 0 it is no name. */
static bool add_size(const library_call *l, tn_shape *shape, int64_t size) {
  if (size < -1 || (size == -1 && l->entry->op != TN_OP_RESHAPE)) {
    return tn_report(diags_of(l), TN_DIAG_E2001, l->at, TN_STR("expected", "a size of at least 1"),
                     TN_INT("got", size));
  }
  add_dim(shape, size);
  return true;
}

static bool shape_of_nodes(const library_call *l, tn_mind_node *items, tn_shape *shape) {
  int64_t size;
  for (tn_mind_node *item = items; item; item = item->next) {
    if (is_symbol(item))
      add_dim(shape, tn_mind_eval_size(l->frame, item->name.name));
    else if (!eval_int(l, item, &size) || !add_size(l, shape, size))
      return false;
  }
  return true;
}

static TN_OWN_FRAME bool shape_of_value(const library_call *l, const tn_mind_value *value, tn_shape *shape) {
  tn_mind_arg ints = { 0 };
  if (value->kind == TN_MIND_V_UNIT) return true;
  if (value->kind == TN_MIND_V_SHAPE) {
    *shape = *value->shape;
    return true;
  }
  if (!ints_of_value(l, value, &ints)) return false;
  for (int i = 0; i < ints.count; i++) {
    if (!add_size(l, shape, ints.integers[i])) return false;
  }
  return true;
}

static bool eval_shape(library_call *l, int index) {
  const tn_mind_node *node = l->bound[index];
  tn_shape shape = { 0 };
  bool ok = true;
  if (is_written_list(node))
    ok = shape_of_nodes(l, node->list.items, &shape);
  else if (is_symbol(node))
    add_dim(&shape, tn_mind_eval_size(l->frame, node->name.name));
  else
    ok = shape_of_value(l, &l->values[index], &shape);
  for (int i = 0; ok && i < shape.rank; i++) {
    if (shape.dim[i] == 0) {
      ok = tn_report(diags_of(l), TN_DIAG_E2105, l->at,
                     TN_TEXT("shape", tn_mind_describe_shape(l->e->mind, &shape)));
    }
  }
  l->args[index].shape = shape;
  return ok;
}

/* ---- arguments ---- */

/* Words are no values; lists of integers and shapes are looked at piece by piece. */
static bool has_value(const library_call *l, int index) {
  const tn_mind_node *node = l->bound[index];
  switch (l->entry->params[index].kind) {
    case TN_MIND_P_DTYPE:
    case TN_MIND_P_DEVICE: return false;
    case TN_MIND_P_INTS:
    case TN_MIND_P_TENSORS: return !is_written_list(node);
    case TN_MIND_P_SHAPE: return !is_written_list(node) && !is_symbol(node);
    default: return true;
  }
}

/* In the order in which they are written, the receiver first. */
static bool eval_values(library_call *l, tn_mind_node *call, const tn_mind_value *receiver) {
  if (receiver) {
    l->values[0] = *receiver;
    l->has[0] = true;
  }
  for (tn_mind_node *arg = call->call.args; arg; arg = arg->next) {
    int index = 0;
    while (index < l->entry->count && l->bound[index] != arg) index++;
    if (index == l->entry->count) continue; /* a further argument of print */
    l->has[index] = true;
    if (has_value(l, index) && !tn_mind_eval(l->e, l->frame, l->unit, arg, &l->values[index])) return false;
  }
  return true;
}

static bool list_items(library_call *l, int index, tn_mind_value **items, uint32_t *count) {
  const tn_mind_node *node = l->bound[index];
  if (!is_written_list(node)) {
    *items = l->values[index].items;
    *count = l->values[index].count;
    return true;
  }
  *count = node->list.count;
  *items = tn_arena_array(l->e->arena, *count, sizeof **items);
  if (!*items) return tn_mind_out_of_memory(l->e->mind);
  uint32_t i = 0;
  for (tn_mind_node *item = node->list.items; item; item = item->next) {
    if (!tn_mind_eval(l->e, l->frame, l->unit, item, &(*items)[i++])) return false;
  }
  return true;
}

static bool eval_tensors(library_call *l, int index) {
  tn_mind_value *items;
  uint32_t count;
  if (!list_items(l, index, &items, &count)) return false;
  tn_dtype dtype = items[0].dtype == TN_BOOL ? TN_BOOL : TN_F32;
  tn_value *nodes = tn_arena_array(l->e->arena, count, sizeof *nodes);
  if (!nodes) return tn_mind_out_of_memory(l->e->mind);
  for (uint32_t i = count; i > 0; i--) {
    if (items[i - 1].kind == TN_MIND_V_TENSOR) dtype = tn_mind_value_type(l->e, &items[i - 1]).dtype;
  }
  for (uint32_t i = 0; i < count; i++) {
    bool tensor = items[i].kind == TN_MIND_V_TENSOR;
    nodes[i] = tensor ? items[i].node : tn_mind_node_of(l->e, &items[i], dtype, l->at);
    if (!nodes[i]) return false;
  }
  l->args[index].values = nodes;
  l->args[index].count = (int)count;
  return true;
}

static bool joins_dtype(const library_call *l, int index) {
  if (!l->has[index] || l->entry->params[index].kind != TN_MIND_P_TENSOR) return false;
  return !(l->entry->op == TN_OP_SELECT && index == 0);
}

/* The dtype that scalars take: that of the first tensor, else the float among them. */
static tn_dtype shared_dtype(const library_call *l) {
  tn_dtype dtype = TN_I32;
  for (int i = 0; i < l->entry->count; i++) {
    if (joins_dtype(l, i) && l->values[i].kind == TN_MIND_V_TENSOR)
      return tn_mind_value_type(l->e, &l->values[i]).dtype;
  }
  for (int i = 0; i < l->entry->count; i++) {
    if (!joins_dtype(l, i)) continue;
    tn_dtype of = l->values[i].dtype;
    if (of == TN_BOOL) return TN_BOOL;
    if (tn_dtype_in(of, TN_FLOATS) && !tn_dtype_in(dtype, TN_FLOATS)) dtype = of;
    if (of == TN_F32) dtype = TN_F32; /* the checker has made literals follow */
    if (of == TN_I64 && !tn_dtype_in(dtype, TN_FLOATS)) dtype = TN_I64;
  }
  return tn_mind_entry_needs_floats(l->entry) && !tn_dtype_in(dtype, TN_FLOATS) ? TN_F64 : dtype;
}

static TN_OWN_FRAME bool eval_tensor(library_call *l, int index, tn_dtype shared) {
  const tn_mind_value *value = &l->values[index];
  tn_dtype own = tn_mind_value_type(l->e, value).dtype;
  bool scalar = value->kind == TN_MIND_V_SCALAR;
  l->args[index].value = tn_mind_node_of(l->e, value, scalar && joins_dtype(l, index) ? shared : own, l->at);
  return l->args[index].value != TN_ERROR_VALUE;
}

static TN_OWN_FRAME bool eval_scalar(library_call *l, int index) {
  const tn_mind_value *value = &l->values[index];
  tn_mind_arg *arg = &l->args[index];
  tn_mind_number number = { .dtype = TN_F64 };
  arg->plain = value->kind == TN_MIND_V_SCALAR && value->known && !value->node;
  bool counts = l->entry->op == TN_OP_IOTA; /* how many there are depends on it */
  if (counts || arg->plain) {
    if (!tn_mind_need_number(l->e, value, l->at, &number)) return false;
    arg->number = tn_mind_number_f64(number);
  }
  arg->value = tn_mind_node_of(l->e, value, tn_mind_value_type(l->e, value).dtype, l->at);
  return arg->value != TN_ERROR_VALUE;
}

static TN_OWN_FRAME bool eval_number(library_call *l, int index) {
  tn_mind_number number;
  if (!tn_mind_need_number(l->e, &l->values[index], l->at, &number)) return false;
  l->args[index].number = tn_mind_number_f64(number);
  l->args[index].truth = tn_mind_number_truth(number);
  return true;
}

static TN_OWN_FRAME bool eval_text(library_call *l, int index) {
  tn_str text = l->args[index].text = l->values[index].text;
  if (l->entry->op != TN_OP_CONV2D || tn_mind_is_padding(text)) return true;
  return tn_report(diags_of(l), TN_DIAG_E2001, l->at, TN_STR("expected", TN_MIND_PADDINGS),
                   TN_TEXT("got", text));
}

static bool eval_argument(library_call *l, int index, tn_dtype shared) {
  if (!l->has[index]) return true;
  l->args[index].given = true;
  switch (l->entry->params[index].kind) {
    case TN_MIND_P_TENSOR:
    case TN_MIND_P_INDICES: return eval_tensor(l, index, shared);
    case TN_MIND_P_TENSORS: return eval_tensors(l, index);
    case TN_MIND_P_SCALAR: return eval_scalar(l, index);
    case TN_MIND_P_INT: return int_value(l, &l->values[index], &l->args[index].integer);
    case TN_MIND_P_INTS: return eval_ints(l, index);
    case TN_MIND_P_NUMBER:
    case TN_MIND_P_TRUTH: return eval_number(l, index);
    case TN_MIND_P_SHAPE: return eval_shape(l, index);
    case TN_MIND_P_TEXT: return eval_text(l, index);
    default: l->args[index].dtype = l->bound[index]->type->dtype; return true; /* the checker's word */
  }
}

/* ---- operations ---- */

static bool all_scalars(const library_call *l) {
  for (int i = 0; i < l->entry->count; i++) {
    tn_mind_parameter_kind kind = l->entry->params[i].kind;
    bool value = kind == TN_MIND_P_TENSOR || kind == TN_MIND_P_INDICES;
    if (value && l->has[i] && l->values[i].kind != TN_MIND_V_SCALAR) return false;
  }
  return true;
}

static bool check_size(const library_call *l, tn_value made) {
  const tn_shape *shape = &tn_graph_type(&l->e->trace->graph, made)->shape;
  for (int i = 0; i < shape->rank; i++) {
    if (shape->dim[i] != 0) continue;
    return tn_report(diags_of(l), TN_DIAG_E2105, l->at,
                     TN_TEXT("shape", tn_mind_describe_shape(l->e->mind, shape)));
  }
  return true;
}

static TN_OWN_FRAME bool finish(library_call *l, tn_value made, tn_mind_value *out) {
  if (!tn_mind_built(l->e, l->entry->name, made) || !check_size(l, made)) return false;
  tn_type type = *tn_graph_type(&l->e->trace->graph, made);
  *out = tn_mind_tensor_value(made);
  if (l->entry->elementwise && all_scalars(l) && type.shape.rank == 0) {
    *out = (tn_mind_value){ .kind = TN_MIND_V_SCALAR, .dtype = (uint8_t)type.dtype, .node = made };
  }
  return true;
}

/* x[i] where i is a node without a number: the place is looked up when the graph runs. */
static TN_OWN_FRAME tn_value index_by_node(library_call *l) {
  tn_builder *builder = tn_mind_builder(l->e, l->at);
  tn_value x = tn_mind_node_of(l->e, &l->values[0], tn_mind_value_type(l->e, &l->values[0]).dtype, l->at);
  tn_value i = tn_mind_node_of(l->e, &l->values[2], TN_I64, l->at);
  if (!builder || !x || !i) return TN_ERROR_VALUE;
  tn_attrs attrs = { .axis = (int32_t)l->args[1].integer };
  const tn_shape *shape = &tn_build_type(builder, x)->shape;
  int axis;
  if (!tn_shape_axis(shape->rank, attrs.axis, &axis))
    return tn_build(builder, TN_OP_GATHER, (const tn_value[]){ x, i }, 2, &attrs);
  attrs.axis = axis;
  tn_attrs along = { .axis_count = 1, .axes = { axis }, .dtype = TN_I64 };
  tn_value length = tn_build(builder, TN_OP_ELEMENTS, &x, 1, &along);
  tn_value negative = tn_build_binary(builder, TN_OP_LT, i, tn_build_number(builder, TN_I64, 0));
  tn_value from_end = tn_build_binary(builder, TN_OP_ADD, i, length);
  const tn_value in[] = { x, tn_build_select(builder, negative, from_end, i) };
  return tn_build(builder, TN_OP_GATHER, in, 2, &attrs);
}

static bool index_is_unknown(library_call *l) {
  tn_mind_number number;
  if (l->entry->op != TN_OP_INDEX || !l->e->unknown_inputs) return false;
  return tn_mind_number_of(l->e, &l->values[2], l->at, &number) == TN_MIND_NO_DATA;
}

/* squeeze without axes removes what the checker knows to be 1. A size that only the run knows stays, whatever
 * it is: the rank of the result has been decided. */
static void settle_axes(library_call *l) {
  const tn_mind_type *type = l->bound && l->bound[0] ? l->bound[0]->type : NULL;
  bool squeezes = l->entry->op == TN_OP_SQUEEZE && !l->args[1].given;
  if (!squeezes || !type || type->kind != TN_MIND_T_TENSOR) return;
  if (type->shape.rank != tn_mind_value_type(l->e, &l->values[0]).shape.rank) return;
  l->args[1].given = true;
  for (int i = 0; i < type->shape.rank; i++) {
    if (type->shape.dim[i] == 1) l->args[1].integers[l->args[1].count++] = i;
  }
}

static TN_OWN_FRAME bool run_ordinary(library_call *l, tn_mind_value *out) {
  if (index_is_unknown(l)) {
    if (l->has[1] && !int_value(l, &l->values[1], &l->args[1].integer)) return false;
    return finish(l, index_by_node(l), out);
  }
  tn_dtype shared = shared_dtype(l);
  for (int i = 0; i < l->entry->count; i++) {
    if (!eval_argument(l, i, shared)) return false;
  }
  settle_axes(l);
  tn_builder *builder = tn_mind_builder(l->e, l->at);
  return builder && finish(l, l->entry->lower(builder, l->entry, l->args), out);
}

/* Draws stand one behind the other in the words of the one generator. */
static TN_OWN_FRAME bool run_random(library_call *l, tn_mind_value *out) {
  tn_builder *builder = tn_mind_builder(l->e, l->at);
  if (!builder || !eval_argument(l, 0, TN_F32)) return false;
  tn_mind_value seed =
      tn_mind_scalar_value((tn_mind_number){ .dtype = TN_I64, .integer = (int64_t)l->e->host->seed });
  tn_value key = tn_mind_node_of(l->e, &seed, TN_I64, l->at);
  if (!key) return false;
  tn_attrs attrs = { .shape = l->args[0].shape, .index = l->e->drawn };
  int64_t count = tn_shape_count(&attrs.shape);
  if (count > 0) l->e->drawn += (uint64_t)count * (l->entry->op == TN_OP_NORMAL ? 2 : 1);
  return finish(l, tn_build(builder, l->entry->op, &key, 1, &attrs), out);
}

/* ---- what is no operation ---- */

static TN_OWN_FRAME bool run_shape_of(library_call *l, tn_mind_value *out) {
  tn_type type = tn_mind_value_type(l->e, &l->values[0]);
  const tn_shape *kept = tn_arena_copy(l->e->arena, &type.shape, sizeof type.shape);
  *out = (tn_mind_value){ .kind = TN_MIND_V_SHAPE, .shape = kept };
  return kept || tn_mind_out_of_memory(l->e->mind);
}

static TN_OWN_FRAME bool run_rank_of(library_call *l, tn_mind_value *out) {
  tn_type type = tn_mind_value_type(l->e, &l->values[0]);
  *out = tn_mind_scalar_value((tn_mind_number){ .dtype = TN_I32, .integer = type.shape.rank });
  return true;
}

static TN_OWN_FRAME bool run_dtype_of(library_call *l, tn_mind_value *out) {
  tn_dtype dtype = tn_mind_value_type(l->e, &l->values[0]).dtype;
  *out = (tn_mind_value){ .kind = TN_MIND_V_STRING, .text = tn_str_of(tn_dtype_name(dtype)) };
  return true;
}

static TN_OWN_FRAME bool run_to_device(library_call *l, tn_mind_value *out) {
  bool gpu = l->bound[1]->type->device == TN_MIND_GPU;
  *out = l->values[0];
  if (!gpu || l->e->lowers) return true;
  return tn_report(diags_of(l), TN_DIAG_E5001, l->at, TN_STR("device", "gpu"));
}

static bool print_all(library_call *l, tn_mind_node *call, tn_text *line) {
  if (!tn_mind_value_print(l->e, &l->values[0], l->e->host->shorten, l->at, line)) return false;
  for (tn_mind_node *arg = call->call.args; arg; arg = arg->next) {
    tn_mind_value value;
    if (arg == l->bound[0]) continue;
    tn_text_byte(line, ' ');
    if (!tn_mind_eval(l->e, l->frame, l->unit, arg, &value)) return false;
    if (!tn_mind_value_print(l->e, &value, l->e->host->shorten, l->at, line)) return false;
  }
  return true;
}

static TN_OWN_FRAME bool run_print(library_call *l, tn_mind_node *call, tn_mind_value *out) {
  tn_mind_evaluator *e = l->e;
  tn_fault fault;
  tn_text line;
  *out = tn_mind_unit_value();
  if (e->lowers) return true;
  if (e->undecided) {
    return tn_report(diags_of(l), TN_DIAG_E2001, l->at,
                     TN_STR("expected", "a condition that is known around a print"),
                     TN_STR("got", "one that depends on a dimension without a size"));
  }
  if (!tn_mind_trace_settle(e->trace, &fault)) return tn_mind_eval_fault(e, &fault, NULL);
  tn_text_init(&line, e->host->heap);
  bool ok = print_all(l, call, &line) && (!line.failed || tn_mind_out_of_memory(e->mind));
  if (ok) e->host->print(e->host, tn_text_str(&line));
  tn_text_free(&line);
  return ok;
}

bool tn_mind_allow(tn_mind_evaluator *e, uint32_t effects, tn_span at) {
  static const struct {
    uint32_t effect, capability;
    const char *name, *op, *action;
  } needs[] = {
    { TN_MIND_CLOCK, TN_CAP_CLOCK, "Clock", "Now", "read system clock" },
    { TN_MIND_FILEREAD, TN_CAP_FILEREAD, "FileRead", "ReadFileText", "read file from filesystem" },
  };
  for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
    if (!(effects & needs[i].effect) || (e->host->capabilities & needs[i].capability)) continue;
    return tn_report(e->host->diags, TN_DIAG_E_CAPABILITY_DENIED, at, TN_STR("capability", needs[i].name),
                     TN_STR("op", needs[i].op), TN_STR("attempted_action", needs[i].action));
  }
  return true;
}

static bool unsupported(const library_call *l, const char *feature) {
  return tn_report(diags_of(l), TN_DIAG_E_UNSUPPORTED, l->at, TN_STR("feature", feature));
}

static TN_OWN_FRAME bool run_now(library_call *l, tn_mind_value *out) {
  tn_mind_evaluator *e = l->e;
  if (e->lowers) {
    tn_builder *builder = tn_mind_builder(e, l->at);
    if (!builder) return false;
    tn_attrs attrs = { .name = tn_names_intern(e->host->names, TN_LIT("now")), .dtype = TN_F64 };
    *out = (tn_mind_value){ .kind = TN_MIND_V_SCALAR, .dtype = TN_F64 };
    out->node = tn_build(builder, TN_OP_HOST, NULL, 0, &attrs);
    return tn_mind_built(e, "now", out->node);
  }
  *out = tn_mind_scalar_value((tn_mind_number){ .dtype = TN_F64, .number = e->host->now(e->host) });
  return true;
}

/* Where reading is limited to folders, the path must lie beneath one. */
static bool find_file(library_call *l, tn_str path, tn_str *found) {
  tn_host *host = l->e->host;
  if (tn_host_find(host, path, l->e->arena, found)) return true;
  return tn_report(host->diags, TN_DIAG_E_CAPABILITY_DENIED, l->at, TN_STR("capability", "FileRead"),
                   TN_STR("op", "ReadFileText"), TN_STR("attempted_action", "read file from filesystem"),
                   TN_TEXT("path", path), TN_TEXT("granted", tn_host_readable(host, l->e->arena)));
}

static TN_OWN_FRAME bool run_read(library_call *l, tn_mind_value *out) {
  tn_mind_evaluator *e = l->e;
  const char *problem = NULL;
  tn_str path = l->values[0].text, found, text;
  if (e->lowers) return unsupported(l, "reading a file in a graph");
  if (!find_file(l, path, &found)) return false;
  *out = (tn_mind_value){ .kind = TN_MIND_V_STRING };
  if (e->host->read_file(e->host, found, e->arena, &text, &problem)) {
    out->text = text;
    return true;
  }
  if (strcmp(problem, "not_found") == 0) {
    return tn_report(e->host->diags, TN_DIAG_E_FILE_NOT_FOUND, l->at, TN_TEXT("path", path));
  }
  return tn_report(e->host->diags, TN_DIAG_E_FILE_IO_ERROR, l->at, TN_TEXT("path", path),
                   TN_STR("io_error_kind", problem));
}

static bool run(library_call *l, tn_mind_node *call, tn_mind_value *out) {
  tn_mind_evaluator *e = l->e;
  if (!e->lowers && !tn_mind_allow(e, l->entry->effects, l->at)) return false;
  switch (l->entry->special) {
    case TN_MIND_ORDINARY: return run_ordinary(l, out);
    case TN_MIND_RANDOM_DRAW: return run_random(l, out);
    case TN_MIND_SHAPE_OF: return run_shape_of(l, out);
    case TN_MIND_RANK_OF: return run_rank_of(l, out);
    case TN_MIND_DTYPE_OF: return run_dtype_of(l, out);
    case TN_MIND_TO_DEVICE: return run_to_device(l, out);
    case TN_MIND_PRINT: return run_print(l, call, out);
    case TN_MIND_READ: return run_read(l, out);
    default: return run_now(l, out);
  }
}

bool tn_mind_eval_library(tn_mind_evaluator *e, tn_mind_frame *frame, const tn_mind_unit *unit,
                          tn_mind_node *call, const tn_mind_value *receiver, tn_mind_value *out) {
  if (call->call.entry->special >= TN_MIND_GRAD)
    return tn_mind_eval_special(e, frame, unit, call, receiver, out);
  library_call *l = take_call(e, call->call.entry, tn_mind_span(unit, call));
  if (!l) return false;
  l->frame = frame;
  l->unit = unit;
  l->bound = call->call.bound;
  return give_back(l, eval_values(l, call, receiver) && run(l, call, out));
}

bool tn_mind_eval_library_values(tn_mind_evaluator *e, const tn_mind_entry *entry, const tn_mind_value *args,
                                 uint32_t count, tn_span at, tn_mind_value *out) {
  library_call *l = take_call(e, entry, at);
  if (!l) return false;
  for (uint32_t i = 0; i < count; i++) {
    l->values[i] = args[i];
    l->has[i] = true;
  }
  return give_back(l, run(l, NULL, out));
}

/* x[i, j]; of a tuple or shape the one item. */
bool tn_mind_eval_index(tn_mind_evaluator *e, tn_mind_frame *frame, const tn_mind_unit *unit,
                        tn_mind_node *node, tn_mind_value left, tn_mind_value *out) {
  static const tn_mind_value first = { .kind = TN_MIND_V_SCALAR, .dtype = TN_I32, .known = true };
  tn_span at = tn_mind_span(unit, node);
  for (tn_mind_node *arg = node->call.args; arg; arg = arg->next) {
    tn_mind_value index;
    if (!tn_mind_eval(e, frame, unit, arg, &index)) return false;
    if (left.kind != TN_MIND_V_TENSOR) return tn_mind_item(e, &left, &index, at, out);
    const tn_mind_value args[] = { left, first, index };
    if (!tn_mind_eval_library_values(e, node->call.entry, args, 3, at, out)) return false;
    left = *out;
  }
  return true;
}
