/* lang/mind/eval_library.c: running calls of the library.
 *
 * Arguments are read as in the check (library_call.c), from values, and handed to
 * the same lowering with the builder of the graph. What reaches outside (printing,
 * the clock, files) happens here and nowhere else. */
#include <string.h>

#include "lang/mind/library_call.h"

static tn_diags *diags_of(const tn_mind_call *l) { return l->mind->host->diags; }

/* ---- arguments ---- */

/* An f64 beside an f32 was a literal: the checker lets nothing else meet. */
static void describe_scalar(const tn_mind_value *value, tn_mind_type *out) {
  out->kind = TN_MIND_T_SCALAR;
  out->dtype = value->dtype;
  out->known = value->known;
  out->literal = value->dtype == TN_F64;
  out->integer = value->integer; /* a float's number is the same bytes */
}

/* What is known of a value; of a tuple's items, nothing. */
static void describe(const tn_mind_evaluator *e, tn_mind_operand *arg) {
  const tn_mind_value *value = &arg->value;
  tn_mind_type *out = &arg->own;
  *out = (tn_mind_type){ .kind = TN_MIND_T_UNIT, .count = value->count };
  arg->type = out;
  switch ((tn_mind_value_kind)value->kind) {
    case TN_MIND_V_SCALAR: describe_scalar(value, out); break;
    case TN_MIND_V_TENSOR: {
      const tn_type *type = tn_graph_type(&e->trace->graph, value->node);
      out->kind = TN_MIND_T_TENSOR;
      out->dtype = (uint8_t)type->dtype;
      out->shape = type->shape;
      break;
    }
    case TN_MIND_V_STRING:
      out->kind = TN_MIND_T_STRING;
      out->known = true;
      out->text = value->text;
      break;
    case TN_MIND_V_SHAPE:
      out->kind = TN_MIND_T_SHAPE;
      out->shape = *value->shape;
      break;
    case TN_MIND_V_TUPLE: out->kind = TN_MIND_T_TUPLE; break;
    case TN_MIND_V_LIST: out->kind = TN_MIND_T_LIST; break;
    default: break;
  }
}

static void set_value(tn_mind_call *l, tn_mind_operand *arg, tn_mind_value value) {
  arg->value = value;
  describe(l->evaluator, arg);
}

static bool look(tn_mind_call *l, tn_mind_operand *arg) {
  if (!tn_mind_eval(l->evaluator, l->frame, arg->node, &arg->value)) return false;
  describe(l->evaluator, arg);
  return true;
}

static void item(tn_mind_call *l, const tn_mind_operand *of, uint32_t index, tn_mind_operand *out) {
  out->node = NULL;
  set_value(l, out, of->value.items[index]);
}

/* x[i] where i is a node without a number: the place is looked up when the graph runs. */
static bool is_open_place(const tn_mind_call *l, const tn_mind_operand *arg) {
  return l->entry->op == TN_OP_INDEX && arg == &l->given[2] && l->evaluator->unknown_inputs;
}

static bool force(tn_mind_call *l, const tn_mind_operand *arg, tn_mind_number *out, bool *known) {
  *known = true;
  if (!is_open_place(l, arg)) return tn_mind_need_number(l->evaluator, &arg->value, l->at, out);
  tn_mind_forced forced = tn_mind_number_of(l->evaluator, &arg->value, l->at, out);
  *known = forced == TN_MIND_DATA;
  l->by_node = forced == TN_MIND_NO_DATA;
  return forced != TN_MIND_FAULT;
}

static bool is_word(const tn_mind_call *l, const tn_mind_node *node) {
  (void)l;
  return !node->name.variable;
}

static bool is_dimension(tn_mind_call *l, tn_mind_node *node, int64_t *dim) {
  if (node->name.variable) return false;
  *dim = tn_mind_eval_size(l->frame, node->name.name);
  return true;
}

static bool begin(tn_mind_call *l) {
  l->builder = tn_mind_builder(l->evaluator, l->at);
  return l->builder != NULL;
}

static tn_value operand(tn_mind_call *l, const tn_mind_operand *arg, tn_dtype dtype) {
  return tn_mind_node_of(l->evaluator, &arg->value, dtype, l->at);
}

/* Draws stand one after the other in the words of the one generator. */
static bool draw(tn_mind_call *l, tn_mind_arg *out) {
  tn_mind_evaluator *e = l->evaluator;
  tn_mind_value seed =
      tn_mind_scalar_value((tn_mind_number){ .dtype = TN_I64, .integer = (int64_t)e->host->seed });
  out->value = tn_mind_node_of(e, &seed, TN_I64, l->at);
  out->integer = (int64_t)e->drawn;
  int64_t count = tn_shape_count(&l->args[0].shape);
  if (count > 0) e->drawn += (uint64_t)count * (l->entry->op == TN_OP_NORMAL ? 2 : 1);
  return out->value != TN_ERROR_VALUE;
}

static const tn_mind_reader reader = { .runs = true,
                                       .look = look,
                                       .item = item,
                                       .force = force,
                                       .is_word = is_word,
                                       .is_dimension = is_dimension,
                                       .begin = begin,
                                       .operand = operand,
                                       .draw = draw };

/* ---- operations ---- */

static TN_OWN_FRAME bool finish(tn_mind_call *l, tn_value made, tn_mind_value *out) {
  if (!tn_mind_built(l->evaluator, l->entry->name, made)) return false;
  tn_type type = *tn_graph_type(&l->evaluator->trace->graph, made);
  if (!tn_mind_refuse_empty(l->mind, &type.shape, l->at)) return false;
  *out = tn_mind_tensor_value(made);
  if (type.shape.rank == 0 && tn_mind_gives_scalar(l))
    *out = (tn_mind_value){ .kind = TN_MIND_V_SCALAR, .dtype = (uint8_t)type.dtype, .node = made };
  return true;
}

static TN_OWN_FRAME tn_value index_by_node(tn_mind_call *l) {
  tn_builder *builder = l->builder;
  tn_value x = l->args[0].value, i = operand(l, &l->given[2], TN_I64);
  if (!i) return TN_ERROR_VALUE;
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

/* squeeze without axes removes what the checker knows to be 1. A size that only the run knows stays, whatever
 * it is: the rank of the result has been decided. */
static void settle_axes(tn_mind_call *l) {
  const tn_mind_type *type = l->given[0].node ? l->given[0].node->type : NULL;
  bool squeezes = l->entry->op == TN_OP_SQUEEZE && !l->args[1].given;
  if (!squeezes || !type || type->kind != TN_MIND_T_TENSOR) return;
  if (type->shape.rank != l->given[0].type->shape.rank) return;
  l->args[1].given = true;
  for (int i = 0; i < type->shape.rank; i++) {
    if (type->shape.dim[i] == 1) l->args[1].integers[l->args[1].count++] = i;
  }
}

static bool run_ordinary(tn_mind_call *l, tn_mind_value *out) {
  if (!tn_mind_read_operands(l)) return false;
  settle_axes(l);
  return finish(l, l->by_node ? index_by_node(l) : tn_mind_lower_call(l), out);
}

/* ---- whatever is not an operation ---- */

static TN_OWN_FRAME bool run_fact(tn_mind_call *l, tn_mind_value *out) {
  tn_mind_type fact = tn_mind_fact(l);
  *out = (tn_mind_value){ .kind = TN_MIND_V_STRING, .text = fact.text };
  if (fact.kind == TN_MIND_T_SCALAR)
    *out = tn_mind_scalar_value((tn_mind_number){ .dtype = fact.dtype, .integer = fact.integer });
  if (fact.kind != TN_MIND_T_SHAPE) return true;
  const tn_shape *kept = tn_arena_copy(l->evaluator->arena, &fact.shape, sizeof fact.shape);
  *out = (tn_mind_value){ .kind = TN_MIND_V_SHAPE, .shape = kept };
  return kept || tn_mind_out_of_memory(l->mind);
}

static bool run_to_device(tn_mind_call *l, tn_mind_value *out) {
  *out = l->given[0].value;
  if (l->args[1].device == TN_MIND_CPU || l->evaluator->lowers || l->evaluator->host->has_gpu) return true;
  return tn_report(diags_of(l), TN_DIAG_E5001, l->at, TN_STR("device", "gpu"));
}

static bool print_all(tn_mind_call *l, tn_text *line) {
  if (!tn_mind_value_print(l->evaluator, &l->given[0].value, l->evaluator->host->shorten, l->at, line))
    return false;
  for (tn_mind_node *arg = l->call ? l->call->call.args : NULL; arg; arg = arg->next) {
    tn_mind_value value;
    if (arg == l->given[0].node) continue;
    tn_text_byte(line, ' ');
    if (!tn_mind_eval(l->evaluator, l->frame, arg, &value)) return false;
    if (!tn_mind_value_print(l->evaluator, &value, l->evaluator->host->shorten, l->at, line)) return false;
  }
  return true;
}

static TN_OWN_FRAME bool run_print(tn_mind_call *l, tn_mind_value *out) {
  tn_mind_evaluator *e = l->evaluator;
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
  bool ok = print_all(l, &line) && (!line.failed || tn_mind_out_of_memory(e->mind));
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
    { TN_MIND_FILEWRITE, TN_CAP_FILEWRITE, "FileWrite", "WriteFile", "write a file" },
  };
  for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
    if (!(effects & needs[i].effect) || (e->host->capabilities & needs[i].capability)) continue;
    return tn_report(e->host->diags, TN_DIAG_E_CAPABILITY_DENIED, at, TN_STR("capability", needs[i].name),
                     TN_STR("op", needs[i].op), TN_STR("attempted_action", needs[i].action));
  }
  return true;
}

static bool unsupported(const tn_mind_call *l, const char *feature) {
  return tn_report(diags_of(l), TN_DIAG_E_UNSUPPORTED, l->at, TN_STR("feature", feature));
}

static TN_OWN_FRAME bool run_now(tn_mind_call *l, tn_mind_value *out) {
  tn_mind_evaluator *e = l->evaluator;
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

static TN_OWN_FRAME bool run_read(tn_mind_call *l, tn_mind_value *out) {
  tn_mind_evaluator *e = l->evaluator;
  const char *problem = NULL;
  tn_str path = l->args[0].text, found, text;
  if (e->lowers) return unsupported(l, "reading a file in a graph");
  if (!tn_mind_find_file(e, path, false, l->at, &found)) return false;
  *out = (tn_mind_value){ .kind = TN_MIND_V_STRING };
  if (e->host->read_file(e->host, found, e->arena, &text, &problem)) {
    out->text = text;
    return true;
  }
  if (strcmp(problem, "not_found") == 0) return tn_report_no_file(e->host->diags, l->at, path);
  return tn_report(e->host->diags, TN_DIAG_E_FILE_IO_ERROR, l->at, TN_TEXT("path", path),
                   TN_STR("io_error_kind", problem));
}

static bool run_read_tensor(tn_mind_call *l, tn_mind_value *out) {
  if (l->evaluator->lowers) return unsupported(l, "reading a file in a graph");
  tn_dtype dtype = l->entry->count > 2 && l->args[2].given ? l->args[2].dtype : TN_F32;
  int64_t rank = l->entry->count > 1 ? l->args[1].integer : 0;
  return tn_mind_read_tensor(l->evaluator, l->entry->special, l->args[0].text, rank, dtype, l->at, out);
}

static bool run(tn_mind_call *l, tn_mind_value *out) {
  tn_mind_evaluator *e = l->evaluator;
  if (!e->lowers && !tn_mind_allow(e, l->entry->effects, l->at)) return false;
  if (l->entry->special == TN_MIND_ORDINARY) return run_ordinary(l, out);
  if (!tn_mind_read_arguments(l)) return false;
  switch (l->entry->special) {
    case TN_MIND_TO_DEVICE: return run_to_device(l, out);
    case TN_MIND_PRINT: return run_print(l, out);
    case TN_MIND_READ: return run_read(l, out);
    case TN_MIND_READ_BYTES:
    case TN_MIND_READ_CSV:
    case TN_MIND_READ_NPY: return run_read_tensor(l, out);
    case TN_MIND_NOW: return run_now(l, out);
    default: return run_fact(l, out);
  }
}

bool tn_mind_eval_library(tn_mind_evaluator *e, tn_mind_frame *frame, tn_mind_node *call,
                          const tn_mind_value *receiver, tn_mind_value *out) {
  if (call->call.entry->special >= TN_MIND_GRAD) return tn_mind_eval_special(e, frame, call, receiver, out);
  tn_mind_call *l = tn_mind_call_new(e->mind, &reader, call->call.entry, tn_mind_span(frame->unit, call));
  if (!l) return false;
  l->call = call;
  l->frame = frame;
  l->evaluator = e;
  for (int i = 0; i < l->entry->count; i++) l->given[i].node = call->call.bound[i];
  if (receiver) set_value(l, &l->given[call->left->left->place], *receiver);
  bool ok = run(l, out);
  tn_mind_call_free(l);
  return ok;
}

bool tn_mind_eval_library_values(tn_mind_evaluator *e, const tn_mind_entry *entry, const tn_mind_value *args,
                                 uint32_t count, tn_span at, tn_mind_value *out) {
  if (entry->special >= TN_MIND_GRAD) return tn_mind_eval_special_values(e, entry, args, at, out);
  tn_mind_call *l = tn_mind_call_new(e->mind, &reader, entry, at);
  if (!l) return false;
  l->evaluator = e;
  for (uint32_t i = 0; i < count; i++) set_value(l, &l->given[tn_mind_entry_place(entry, i, count)], args[i]);
  bool ok = run(l, out);
  tn_mind_call_free(l);
  return ok;
}

/* x[i, j]; of a tuple or shape the one item. */
bool tn_mind_eval_index(tn_mind_evaluator *e, tn_mind_frame *frame, tn_mind_node *node, tn_mind_value left,
                        tn_mind_value *out) {
  static const tn_mind_value first = { .kind = TN_MIND_V_SCALAR, .dtype = TN_I32, .known = true };
  tn_span at = tn_mind_span(frame->unit, node);
  for (tn_mind_node *arg = node->call.args; arg; arg = arg->next) {
    tn_mind_value index;
    if (!tn_mind_eval(e, frame, arg, &index)) return false;
    if (left.kind != TN_MIND_V_TENSOR) return tn_mind_item(e, &left, &index, at, out);
    const tn_mind_value args[] = { left, first, index };
    if (!tn_mind_eval_library_values(e, node->call.entry, args, 3, at, out)) return false;
    left = *out;
  }
  return true;
}
