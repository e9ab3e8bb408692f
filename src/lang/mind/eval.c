/* lang/mind/eval.c: carrying a program out: statements, names, lists, calls.
 *
 * The tree has been checked, so what stands where is known; sizes may still
 * turn out not to fit, and then the diagnostic says so at the same place. A
 * chain of operators or calls is walked as the checker walks it: from its first
 * operand up, with the value of the left side in hand. */
#include "lang/mind/eval.h"

#include <string.h>

#include "base/number.h"
#include "lang/mind/lexer.h"

/* ---- frames ---- */

static tn_mind_frame *frame_new(tn_arena *arena, uint32_t slot_count) {
  tn_mind_frame *frame = tn_arena_new(arena, tn_mind_frame);
  if (!frame) return NULL;
  frame->slots = tn_arena_array(arena, slot_count, sizeof *frame->slots);
  frame->slot_count = slot_count;
  frame->symbols.arena = arena;
  return frame->slots ? frame : NULL;
}

/* ---- room that is used again ---- */

/* A program may make calls without end, and each needs room for its arguments and its variables. */
static int size_class(uint32_t count) {
  int class = 0;
  while (class < TN_MIND_SPARE_SIZES && (uint32_t)1 << class < count) class ++;
  return class; /* TN_MIND_SPARE_SIZES: too large to be kept */
}

static tn_mind_value *take_values(tn_mind_evaluator *e, uint32_t count) {
  int class = size_class(count);
  if (class == TN_MIND_SPARE_SIZES) return tn_arena_array(e->arena, count, sizeof(tn_mind_value));
  tn_mind_value *values = e->spare_values[class];
  if (!values) return tn_arena_array(e->arena, (size_t)1 << class, sizeof *values);
  e->spare_values[class] = values->items;
  memset(values, 0, sizeof *values << class);
  return values;
}

static void leave_values(tn_mind_evaluator *e, tn_mind_value *values, uint32_t count) {
  int class = size_class(count);
  if (class == TN_MIND_SPARE_SIZES) return;
  values->items = e->spare_values[class];
  e->spare_values[class] = values;
}

static tn_mind_frame *take_frame(tn_mind_evaluator *e, uint32_t count) {
  int class = size_class(count);
  bool kept = class < TN_MIND_SPARE_SIZES;
  tn_mind_frame *frame = kept ? e->spare[class] : NULL;
  if (!frame) {
    frame = frame_new(e->arena, kept ? (uint32_t)1 << class : count);
    if (frame) frame->slot_count = count;
    return frame;
  }
  e->spare[class] = frame->outer;
  memset(frame->slots, 0, sizeof *frame->slots << class);
  frame->slot_count = count;
  frame->symbols.count = 0;
  return frame;
}

static void leave_frame(tn_mind_evaluator *e, tn_mind_frame *frame) {
  int class = size_class(frame->slot_count);
  if (frame->captured || class == TN_MIND_SPARE_SIZES) return;
  frame->outer = e->spare[class];
  e->spare[class] = frame;
}

/* The frame that holds the variable: of its module, or of the function around that has it. */
tn_mind_value *tn_mind_eval_slot(tn_mind_frame *frame, const tn_mind_variable *variable) {
  if (!variable->owner) return &variable->module->frame->slots[variable->slot];
  while (frame && frame->function != variable->owner) frame = frame->outer;
  return frame ? &frame->slots[variable->slot] : NULL;
}

static bool wants_node(const tn_mind_evaluator *e, const tn_mind_value *value) {
  if (value->kind != TN_MIND_V_SCALAR || value->node) return false;
  return e->lowers || (e->names_scalars && tn_dtype_in(value->dtype, TN_FLOATS));
}

/* Two names of one value are two things to differentiate by. */
static bool wants_leaf(const tn_mind_evaluator *e, const tn_mind_value *value) {
  if (!e->names_scalars || e->lowers || !tn_mind_is_plain(value) || !value->node) return false;
  return tn_dtype_in(tn_mind_value_type(e, value).dtype, TN_FLOATS | TN_STORAGE);
}

bool tn_mind_set_slot(tn_mind_evaluator *e, tn_mind_value *slot, tn_mind_value value) {
  tn_mind_slot_change change = { slot, *slot };
  bool forks = e->fork && slot >= e->fork->slots && slot < e->fork->slots + e->fork->slot_count;
  if (forks && !tn_vec_push(e->host->heap, &e->journal, change)) return tn_mind_out_of_memory(e->mind);
  *slot = value;
  return true;
}

/* Gives a name its value: floats become nodes where that is wanted. */
static bool bind_value(tn_mind_evaluator *e, tn_mind_frame *frame, const tn_mind_variable *variable,
                       tn_mind_value value) {
  tn_mind_value *slot = tn_mind_eval_slot(frame, variable);
  tn_span at = tn_mind_at(variable->unit, variable->start, variable->end);
  if (wants_node(e, &value)) {
    value.node = tn_mind_node_of(e, &value, value.dtype, at);
    if (value.node == TN_ERROR_VALUE) return false;
  } else if (wants_leaf(e, &value)) {
    if (!tn_mind_builder(e, at)) return false;
    value.node = tn_mind_trace_leaf(e->trace, value.node);
    if (!tn_mind_built(e, NULL, value.node)) return false;
  }
  bool comes_alive = e->forgets && !variable->owner && slot->kind == TN_MIND_V_NONE;
  if (comes_alive && !tn_vec_push(e->host->heap, &e->live, variable)) return tn_mind_out_of_memory(e->mind);
  return tn_mind_set_slot(e, slot, value);
}

#define ASK_EVERY 256 /* statements; every call asks by itself */

bool tn_mind_interrupted(tn_mind_evaluator *e, tn_span at) {
  if (!tn_stop_asked(e->host->heap->stop)) return false;
  tn_mind_eval_fault(e, &(tn_fault){ .kind = TN_FAULT_INTERRUPTED, .at = at }, NULL);
  return true;
}

/* ---- literals ---- */

/* A float that became f32 is read as one: rounding twice could be wrong. */
static bool float_value(tn_mind_evaluator *e, const tn_mind_frame *frame, const tn_mind_node *node,
                        tn_dtype dtype, tn_mind_value *out) {
  tn_mind_number number = { .dtype = dtype, .number = node->number };
  if (dtype == TN_F32) {
    tn_str text = tn_span_text(e->host->sources, tn_mind_span(frame->unit, node));
    char few[64], *digits = text.len > sizeof few ? tn_arena_alloc(e->arena, text.len) : few;
    float narrow;
    if (!digits) return tn_mind_out_of_memory(e->mind);
    size_t count = tn_mind_digits(text, digits, text.len);
    if (tn_number_parse_f32((tn_str){ digits, count }, &narrow)) number.number = (double)narrow;
  }
  *out = tn_mind_scalar_value(number);
  return true;
}

static TN_OWN_FRAME bool eval_number(tn_mind_evaluator *e, const tn_mind_frame *frame,
                                     const tn_mind_node *node, tn_mind_value *out) {
  if (node->is_float) return float_value(e, frame, node, node->type->dtype, out);
  *out = tn_mind_scalar_value((tn_mind_number){ .dtype = node->type->dtype, .integer = node->integer });
  return true;
}

/* ---- lists ---- */

typedef struct {
  tn_mind_evaluator *e;
  tn_mind_frame *frame;
  tn_dtype dtype;
  const tn_view *view; /* where numbers go */
  int64_t next;        /* the element to be written */
  tn_value *parts;     /* by element, where one is a node; NULL until there is one */
  int64_t count;
  tn_span at;
} data_writer;

static bool keep_part(data_writer *w, const tn_mind_value *value) {
  tn_value node = tn_mind_node_of(w->e, value, w->dtype, w->at);
  if (node == TN_ERROR_VALUE) return false;
  if (!w->parts) w->parts = tn_arena_array(w->e->arena, (size_t)w->count, sizeof *w->parts);
  if (!w->parts) return tn_mind_out_of_memory(w->e->mind);
  w->parts[w->next] = node;
  return true;
}

static bool write_element(data_writer *w, tn_mind_node *item) {
  tn_mind_value value;
  bool number = item->kind == TN_MIND_NUMBER && item->is_float;
  tn_dtype read_as = w->dtype == TN_F64 ? TN_F64 : TN_F32;
  if (number ? !float_value(w->e, w->frame, item, read_as, &value)
             : !tn_mind_eval(w->e, w->frame, item, &value)) {
    return false;
  }
  bool plain = value.kind == TN_MIND_V_SCALAR && value.known && !value.node;
  if (!plain) {
    if (!keep_part(w, &value)) return false;
  } else if (tn_dtype_in(value.dtype, TN_FLOATS)) {
    tn_view_set_f64(w->view, w->next, value.number);
  } else {
    tn_view_set_i64(w->view, w->next, value.integer);
  }
  w->next++;
  return true;
}

/* recursion: lists in lists, TN_MIND_NESTING_LIMIT deep. */
static bool write_list(data_writer *w, const tn_mind_node *list) {
  for (tn_mind_node *item = list->list.items; item; item = item->next) {
    if (item->kind == TN_MIND_LIST ? !write_list(w, item) : !write_element(w, item)) return false;
  }
  return true;
}

/* Elements that are nodes: all of them side by side, then the shape. */
static tn_value join_parts(data_writer *w, const tn_shape *shape) {
  tn_builder *builder = tn_mind_builder(w->e, w->at);
  if (!builder) return TN_ERROR_VALUE;
  tn_shape one = tn_shape_make(1, 1);
  for (int64_t i = 0; i < w->count; i++) {
    if (!w->parts[i]) w->parts[i] = tn_build_number(builder, w->dtype, tn_view_get_f64(w->view, i));
    w->parts[i] = tn_build_reshape(builder, w->parts[i], &one);
  }
  tn_value joined = tn_build(builder, TN_OP_CONCAT, w->parts, (int)w->count, NULL);
  return tn_build_reshape(builder, joined, shape);
}

static TN_OWN_FRAME bool eval_data(tn_mind_evaluator *e, tn_mind_frame *frame, tn_mind_node *node,
                                   tn_mind_value *out) {
  tn_tensor tensor;
  const tn_shape *shape = &node->type->shape;
  if (!tn_tensor_new(e->host->heap, node->type->dtype, shape, &tensor)) return tn_mind_out_of_memory(e->mind);
  data_writer w = { .e = e,
                    .frame = frame,
                    .dtype = node->type->dtype,
                    .view = &tensor.view,
                    .count = tn_shape_count(shape),
                    .at = tn_mind_span(frame->unit, node) };
  bool ok = write_list(&w, node);
  tn_builder *builder = ok ? tn_mind_builder(e, w.at) : NULL;
  if (builder) {
    tn_value made = w.parts ? join_parts(&w, shape) : tn_mind_trace_const(e->trace, &tensor);
    *out = tn_mind_tensor_value(made);
    ok = tn_mind_built(e, NULL, made);
  }
  tn_tensor_unref(&tensor);
  return ok && builder;
}

static bool eval_items(tn_mind_evaluator *e, tn_mind_frame *frame, tn_mind_node *node,
                       tn_mind_value_kind kind, tn_mind_value *out) {
  *out = (tn_mind_value){ .kind = (uint8_t)kind, .count = node->list.count };
  out->items = tn_arena_array(e->arena, node->list.count, sizeof *out->items);
  if (!out->items) return tn_mind_out_of_memory(e->mind);
  uint32_t i = 0;
  for (tn_mind_node *item = node->list.items; item; item = item->next) {
    if (!tn_mind_eval(e, frame, item, &out->items[i++])) return false;
  }
  return true;
}

/* ---- names and fields ---- */

TN_OWN_FRAME bool tn_mind_fn_value(tn_mind_evaluator *e, tn_mind_fn fn, tn_mind_value *out) {
  const tn_mind_fn *kept = tn_arena_copy(e->arena, &fn, sizeof fn);
  *out = (tn_mind_value){ .kind = TN_MIND_V_FN, .fn = kept };
  return kept || tn_mind_out_of_memory(e->mind);
}

static bool variable_value(tn_mind_evaluator *e, tn_mind_frame *frame, const tn_mind_variable *variable,
                           tn_span at, tn_mind_value *out) {
  const tn_mind_value *slot = tn_mind_eval_slot(frame, variable);
  if (slot && slot->kind != TN_MIND_V_NONE) {
    *out = *slot;
    return true;
  }
  return tn_report(e->host->diags, TN_DIAG_E2002, at,
                   TN_TEXT("name", tn_names_text(e->host->names, variable->name)),
                   TN_HINT(TN_LIT("it is bound only later")));
}

int64_t tn_mind_eval_size(const tn_mind_frame *frame, tn_name name) {
  int64_t dim = TN_DIM_SYMBOL(name);
  for (; frame && dim == TN_DIM_SYMBOL(name); frame = frame->outer) dim = tn_mind_bound(&frame->symbols, dim);
  return dim;
}

static bool size_value(tn_mind_evaluator *e, int64_t size, const tn_shape *of, tn_name name, tn_span at,
                       tn_mind_value *out) {
  *out = tn_mind_scalar_value((tn_mind_number){ .dtype = TN_I32, .integer = size });
  return tn_mind_size_fits(e->mind, size, of, name, at);
}

/* What stands before a point or a bracket and has no value of its own gives nothing. */
static TN_OWN_FRAME bool eval_name(tn_mind_evaluator *e, tn_mind_frame *frame, tn_mind_node *node,
                                   tn_mind_value *out) {
  if (node->name.variable)
    return variable_value(e, frame, node->name.variable, tn_mind_span(frame->unit, node), out);
  if (node->name.dimension) {
    int64_t size = tn_mind_eval_size(frame, node->name.name);
    return size_value(e, size, NULL, node->name.name, tn_mind_span(frame->unit, node), out);
  }
  *out = tn_mind_unit_value();
  bool called = node->up && node->up->kind == TN_MIND_CALL && node->up->left == node &&
                node->up->call.target != TN_MIND_CALL_VALUE; /* the call knows what it calls */
  if (called || !node->type || node->type->kind != TN_MIND_T_FN) return true;
  return tn_mind_fn_value(e, (tn_mind_fn){ .callable = node->type->callable }, out);
}

static bool item_value(tn_mind_evaluator *e, const tn_mind_value *of, int64_t index, tn_span at,
                       tn_mind_value *out) {
  int64_t count = of->kind == TN_MIND_V_SHAPE ? (int64_t)of->shape->rank : (int64_t)of->count;
  if (!tn_mind_position(e->mind, index, count, at, &index)) return false;
  if (of->kind == TN_MIND_V_SHAPE) return size_value(e, of->shape->dim[index], of->shape, 0, at, out);
  *out = of->items[index];
  return true;
}

/* t[i] */
bool tn_mind_item(tn_mind_evaluator *e, const tn_mind_value *of, const tn_mind_value *index, tn_span at,
                  tn_mind_value *out) {
  tn_mind_number number;
  return tn_mind_need_number(e, index, at, &number) && item_value(e, of, number.integer, at, out);
}

static bool record_field(tn_mind_evaluator *e, const tn_mind_value *record, tn_name name, tn_span at,
                         tn_mind_value *out) {
  for (uint32_t i = 0; i < record->count; i++) {
    if (record->names[i] != name) continue;
    *out = record->items[i];
    return true;
  }
  return tn_report(e->host->diags, TN_DIAG_E2001, at, TN_STR("expected", "a field of the record"),
                   TN_TEXT("got", tn_names_text(e->host->names, name)));
}

/* A method keeps the receiver in hand for its call. */
static TN_OWN_FRAME bool eval_field(tn_mind_evaluator *e, tn_mind_frame *frame, tn_mind_node *node,
                                    tn_mind_value left, tn_mind_value *out) {
  tn_span at = tn_mind_span(frame->unit, node);
  if (node->field.variable) return variable_value(e, frame, node->field.variable, at, out);
  if (!node->left->type) {
    *out = tn_mind_unit_value();
    if (!node->type || node->type->kind != TN_MIND_T_FN) return true;
    return tn_mind_fn_value(e, (tn_mind_fn){ .callable = node->type->callable }, out);
  }
  *out = left;
  if (!node->type) return true;
  if (!node->field.word.name) return item_value(e, &left, node->field.index, at, out);
  return record_field(e, &left, node->field.word.name, at, out);
}

/* ---- calls ---- */

static const tn_mind_bindings *symbols_around(const tn_mind_frame *frame) {
  while (frame->outer && !frame->symbols.count) frame = frame->outer;
  return &frame->symbols;
}

static bool enter_call(tn_mind_evaluator *e, tn_span at) {
  if (e->calls >= TN_MIND_CALL_LIMIT)
    return tn_report(e->host->diags, TN_DIAG_E_NESTING_LIMIT, at, TN_INT("limit", TN_MIND_CALL_LIMIT),
                     TN_STR("what", "this call"));
  e->calls++;
  return true;
}

static TN_OWN_FRAME bool bind_params(tn_mind_evaluator *e, const tn_mind_function *f, tn_mind_frame *frame,
                                     const tn_mind_value *args, tn_span at) {
  for (int round = 0; round < TN_MIND_ROUNDS; round++) {
    for (uint32_t i = 0; i < f->param_count; i++) {
      tn_mind_value value = args[i];
      if (tn_mind_value_round(&value) != round) continue;
      const tn_mind_type *wanted = tn_mind_wanted(f, i);
      bool meets = wanted && round != TN_MIND_OF_FUNCTIONS; /* those are chosen when they are called */
      if (meets && !tn_mind_coerce(e, &value, wanted, &frame->symbols, NULL, at)) return false;
      if (!bind_value(e, frame, f->params[i], value)) return false;
    }
  }
  return true;
}

/* ---- calls at the end of a fn ---- */

/* Whether what meets the result type of one call is what meets that of the other, sizes included.
 * recursion: tuples as they are written, TN_MIND_NESTING_LIMIT deep. */
static bool same_result(const tn_mind_type *a, const tn_mind_bindings *of_a, const tn_mind_type *b,
                        const tn_mind_bindings *of_b) {
  if (a->kind != b->kind || a->count != b->count) return false;
  switch ((tn_mind_type_kind)a->kind) {
    case TN_MIND_T_UNIT:
    case TN_MIND_T_STRING: return true;
    case TN_MIND_T_SCALAR: return a->dtype == b->dtype;
    case TN_MIND_T_TENSOR: {
      bool same = a->dtype == b->dtype && a->device == b->device && a->shape.rank == b->shape.rank;
      for (int i = 0; same && i < a->shape.rank; i++) {
        int64_t dim = tn_mind_bound(of_a, a->shape.dim[i]);
        same = tn_dim_is_known(dim) && dim == tn_mind_bound(of_b, b->shape.dim[i]);
      }
      return same;
    }
    case TN_MIND_T_TUPLE:
      for (uint32_t i = 0; i < a->count; i++) {
        if (!same_result(a->items[i], of_a, b->items[i], of_b)) return false;
      }
      return true;
    default: return false;
  }
}

static bool meet_result(tn_mind_evaluator *e, const tn_mind_function *f, const tn_mind_frame *frame,
                        tn_mind_value *out) {
  tn_mind_bindings symbols = frame->symbols;
  tn_span at = tn_mind_at(f->unit, f->definition->result->start, f->definition->result->end);
  return tn_mind_coerce(e, out, f->result, &symbols, NULL, at);
}

/* Leaves the call that ends the body, if there is one, in e->tail. */
static bool run_body(tn_mind_evaluator *e, const tn_mind_function *f, tn_mind_frame *frame,
                     tn_mind_value *out) {
  if (f->body) {
    if (!tn_mind_eval(e, frame, f->body, out)) return false;
    bool scalar = f->gives->kind == TN_MIND_T_SCALAR;
    return !scalar || tn_mind_coerce(e, out, f->gives, &frame->symbols, NULL, tn_mind_span(f->unit, f->body));
  }
  if (!tn_mind_eval_block(e, frame, &f->definition->body, out)) return false;
  if (e->tail.function) return true;
  return meet_result(e, f, frame, out);
}

/* The frame of a call, with its parameters; NULL after reporting. */
static tn_mind_frame *begin_call(tn_mind_evaluator *e, const tn_mind_function *function, tn_mind_frame *outer,
                                 const tn_mind_value *args, tn_span at) {
  tn_mind_frame *frame = take_frame(e, function->slot_count);
  if (!frame) tn_mind_out_of_memory(e->mind);
  if (!frame || tn_mind_interrupted(e, at)) return NULL;
  frame->function = function;
  frame->unit = function->unit;
  frame->outer = outer;
  bool allowed = e->lowers || tn_mind_allow(e, function->body ? 0 : function->effects, at);
  return allowed && bind_params(e, function, frame, args, at) ? frame : NULL;
}

static bool call_function(tn_mind_evaluator *e, const tn_mind_function *function, tn_mind_frame *outer,
                          const tn_mind_value *args, tn_span at, tn_mind_value *out);

/* The call that a fn ended with. In place of the fn, where both have to give the same; else inside it. *frame
 * becomes its frame, or stays that of the fn, with *out its value.
 * recursion: calls inside calls, TN_MIND_CALL_LIMIT deep. */
static TN_OWN_FRAME bool follow_tail(tn_mind_evaluator *e, tn_mind_frame **frame, tn_mind_value *out) {
  tn_mind_tail tail = e->tail;
  e->tail.function = NULL;
  const tn_mind_function *from = (*frame)->function, *to = tail.function;
  tn_mind_frame *next = begin_call(e, to, NULL, tail.args, tail.at);
  if (!next) return false;
  if (same_result(from->result, &(*frame)->symbols, to->result, &next->symbols)) {
    leave_values(e, tail.args, to->param_count);
    leave_frame(e, *frame);
    e->active->function = to;
    e->active->call.at = tail.at;
    *frame = next;
    return run_body(e, to, next, out);
  }
  leave_frame(e, next);
  if (!call_function(e, to, NULL, tail.args, tail.at, out)) return false;
  leave_values(e, tail.args, to->param_count);
  return meet_result(e, from, *frame, out);
}

static bool call_function(tn_mind_evaluator *e, const tn_mind_function *function, tn_mind_frame *outer,
                          const tn_mind_value *args, tn_span at, tn_mind_value *out) {
  if (!enter_call(e, at)) return false;
  tn_mind_active active = { function, e->active, { at, e->active ? &e->active->call : NULL } };
  e->active = &active;
  tn_mind_frame *frame = begin_call(e, function, outer, args, at);
  bool ok = frame && run_body(e, function, frame, out);
  while (ok && e->tail.function) ok = follow_tail(e, &frame, out);
  e->active = active.caller;
  e->calls--;
  e->tail.function = NULL;
  if (ok) leave_frame(e, frame);
  return ok;
}

bool tn_mind_eval_call_value(tn_mind_evaluator *e, const tn_mind_fn *fn, const tn_mind_function *function,
                             const tn_mind_value *args, uint32_t count, tn_span at, tn_mind_value *out) {
  static const tn_mind_callable closure = { .kind = TN_MIND_C_CLOSURE };
  static const tn_mind_type no_closure = { .kind = TN_MIND_T_FN, .callable = &closure };
  if (!tn_mind_room(e->mind)) return tn_report_stack(e->host->diags, at, NULL);
  switch (fn->callable->kind) {
    case TN_MIND_C_FUNCTION: return call_function(e, fn->callable->function, NULL, args, at, out);
    case TN_MIND_C_CLOSURE:
      if (!function) function = tn_mind_choose(e, fn, args, count);
      if (!function) return tn_mind_expected(e->mind, at, "a closure that takes these values", &no_closure);
      return call_function(e, function, fn->frame, args, at, out);
    case TN_MIND_C_LIBRARY: return tn_mind_eval_library_values(e, fn->callable->entry, args, count, at, out);
    case TN_MIND_C_PULLBACK: return tn_mind_eval_pullback(e, fn, &args[0], at, out);
    default: return tn_mind_eval_transform(e, fn, function, args, count, at, out);
  }
}

/* The arguments of a function or function value, in the order in which they are written. */
static tn_mind_value *eval_arguments(tn_mind_evaluator *e, tn_mind_frame *frame, tn_mind_node *call,
                                     uint32_t count) {
  tn_mind_value *args = take_values(e, count);
  if (!args) {
    tn_mind_out_of_memory(e->mind);
    return NULL;
  }
  for (tn_mind_node *arg = call->call.args; arg; arg = arg->next) {
    if (!tn_mind_eval(e, frame, arg, &args[arg->place])) return NULL;
  }
  return args;
}

/* What a call of a function knows of it when only its type was written; NULL: more than that. */
static const tn_mind_callable *declared_callee(const tn_mind_node *call) {
  const tn_mind_type *type = call->left->type;
  if (!type || type->kind != TN_MIND_T_FN) return NULL;
  const tn_mind_callable *inner = tn_mind_innermost(type->callable);
  return inner->kind == TN_MIND_C_DECLARED ? inner : NULL;
}

/* The arguments become what the type says, and so does the result. */
static bool call_declared(tn_mind_evaluator *e, tn_mind_frame *frame, const tn_mind_node *call,
                          const tn_mind_callable *declared, const tn_mind_fn *fn, tn_mind_value *args,
                          tn_span at, tn_mind_value *out) {
  tn_mind_bindings symbols = { .arena = e->arena };
  const tn_mind_bindings *around = symbols_around(frame);
  if (!tn_mind_coerce_all(e, args, NULL, declared, &symbols, around, at)) return false;
  const tn_mind_function *function = tn_mind_choose(e, fn, args, declared->param_count);
  if (!tn_mind_eval_call_value(e, fn, function, args, declared->param_count, at, out)) return false;
  bool plain = call->left->type->callable == declared;
  return !plain || tn_mind_coerce(e, out, declared->result, &symbols, around, at);
}

static TN_OWN_FRAME bool eval_call(tn_mind_evaluator *e, tn_mind_frame *frame, tn_mind_node *node,
                                   tn_mind_value left, tn_mind_value *out) {
  if (node->kind == TN_MIND_INDEX) return tn_mind_eval_index(e, frame, node, left, out);
  const tn_mind_value *receiver = node->call.method ? &left : NULL;
  if (node->call.target == TN_MIND_CALL_LIBRARY) return tn_mind_eval_library(e, frame, node, receiver, out);
  bool function = node->call.target == TN_MIND_CALL_FUNCTION;
  uint32_t count = function ? node->call.function->param_count : node->call.count;
  tn_mind_value *args = eval_arguments(e, frame, node, count);
  if (!args) return false;
  tn_span at = tn_mind_span(frame->unit, node);
  if (function && node->call.tail && !e->lowers && !e->undecided) {
    e->tail = (tn_mind_tail){ node->call.function, args, at };
    *out = tn_mind_unit_value();
    return true;
  }
  const tn_mind_callable *declared = function ? NULL : declared_callee(node);
  bool ok = function   ? call_function(e, node->call.function, NULL, args, at, out)
            : declared ? call_declared(e, frame, node, declared, left.fn, args, at, out)
                       : tn_mind_eval_call_value(e, left.fn, node->call.function, args, count, at, out);
  if (ok) leave_values(e, args, count);
  return ok;
}

/* ---- expressions ---- */

/* One evaluated expression is a step. */
static bool count_step(tn_mind_evaluator *e, const tn_mind_frame *frame, const tn_mind_node *node) {
  if (e->host->max_steps == 0 || e->steps++ < e->host->max_steps) return true;
  return tn_report(e->host->diags, TN_DIAG_E_LOOP_LIMIT, tn_mind_span(frame->unit, node),
                   TN_INT("limit", (int64_t)e->host->max_steps));
}

static bool eval_one(tn_mind_evaluator *e, tn_mind_frame *frame, tn_mind_node *node, tn_mind_value left,
                     tn_mind_value *out) {
  if (!count_step(e, frame, node)) return false;
  switch ((tn_mind_kind)node->kind) {
    case TN_MIND_NUMBER: return eval_number(e, frame, node, out);
    case TN_MIND_STRING: *out = (tn_mind_value){ .kind = TN_MIND_V_STRING, .text = node->text }; return true;
    case TN_MIND_TRUTH:
      *out = tn_mind_scalar_value((tn_mind_number){ .dtype = TN_BOOL, .integer = node->op });
      return true;
    case TN_MIND_NAME: return eval_name(e, frame, node, out);
    case TN_MIND_TUPLE:
      *out = tn_mind_unit_value();
      return node->list.count == 0 || eval_items(e, frame, node, TN_MIND_V_TUPLE, out);
    case TN_MIND_LIST:
      if (node->list.is_data) return eval_data(e, frame, node, out);
      return eval_items(e, frame, node, TN_MIND_V_LIST, out);
    case TN_MIND_UNARY:
      return tn_mind_eval_unary(e, tn_mind_operator_op(node->op), left, tn_mind_span(frame->unit, node), out);
    case TN_MIND_BINARY: {
      tn_mind_value right;
      if (!tn_mind_eval(e, frame, node->right, &right)) return false;
      return tn_mind_eval_binary(e, tn_mind_operator_op(node->op), node->dtype, left, right,
                                 tn_mind_span(frame->unit, node), out);
    }
    case TN_MIND_LOGIC: return tn_mind_eval_logic(e, frame, node, left, out);
    case TN_MIND_CALL:
    case TN_MIND_INDEX: return eval_call(e, frame, node, left, out);
    case TN_MIND_FIELD: return eval_field(e, frame, node, left, out);
    case TN_MIND_IF: return tn_mind_eval_if(e, frame, node, out);
    case TN_MIND_BODY: return tn_mind_eval_block(e, frame, &node->block, out);
    default:
      frame->captured = true;
      return tn_mind_fn_value(e, (tn_mind_fn){ .callable = node->type->callable, .frame = frame }, out);
  }
}

bool tn_mind_eval(tn_mind_evaluator *e, tn_mind_frame *frame, tn_mind_node *top, tn_mind_value *out) {
  tn_mind_node *node = top;
  tn_mind_value left = tn_mind_unit_value();
  if (!tn_mind_room(e->mind)) return tn_report_stack(e->host->diags, tn_mind_span(frame->unit, top), NULL);
  while (node->left) node = node->left;
  for (;; node = node->up) {
    if (!eval_one(e, frame, node, left, out)) return false;
    if (node == top) return true;
    left = *out;
  }
}

/* ---- statements ---- */

static TN_OWN_FRAME bool take_apart(tn_mind_evaluator *e, tn_mind_frame *frame, tn_mind_node *node,
                                    const tn_mind_value *value) {
  for (uint32_t i = 0; i < node->let.count; i++) {
    tn_mind_value item;
    if (!item_value(e, value, i, tn_mind_span(frame->unit, node->let.value), &item)) return false;
    if (!bind_value(e, frame, node->let.variables[i], item)) return false;
  }
  return true;
}

/* An assignment keeps the type that its name was declared with, sizes of this call included. */
static bool keeps_shape(tn_mind_evaluator *e, const tn_mind_frame *frame, const tn_mind_variable *variable,
                        const tn_mind_value *value, tn_span at) {
  if (variable->declared->kind != TN_MIND_T_TENSOR || value->kind != TN_MIND_V_TENSOR) return true;
  tn_mind_type wanted = *variable->declared;
  const tn_mind_type *got = tn_mind_type_of(e, value);
  tn_mind_bind_shape(symbols_around(frame), &wanted.shape);
  return tn_mind_shapes_agree(NULL, &wanted.shape, &got->shape) ||
         tn_mind_types_differ(e->mind, at, &wanted, got, variable->name, TN_LIT(""));
}

/* What the checker found the value to be: a declared type is met, an i32 may have become an i64. */
static TN_OWN_FRAME bool meet_type(tn_mind_evaluator *e, tn_mind_frame *frame, const tn_mind_node *node,
                                   tn_mind_value *value) {
  const tn_mind_node *from = node->let.value;
  const tn_mind_annotation *written = node->let.annotation;
  const tn_mind_variable *variable = node->let.word.name ? node->let.variables[0] : NULL;
  const tn_mind_type *wanted = variable && variable->declared ? variable->declared : node->type;
  bool declared = written || (variable && variable->declared);
  if (!declared && wanted->kind != TN_MIND_T_SCALAR && wanted->kind != TN_MIND_T_FN) return true;
  bool placed = written && wanted->kind == TN_MIND_T_TENSOR && wanted->device == TN_MIND_GPU;
  tn_span at = placed ? tn_mind_at(frame->unit, written->start, written->end)
                      : tn_mind_at(frame->unit, from->from, from->to);
  if (node->kind == TN_MIND_ASSIGN && declared && !keeps_shape(e, frame, variable, value, at)) return false;
  tn_mind_bindings symbols = { .arena = e->arena };
  return tn_mind_coerce(e, value, wanted, &symbols, symbols_around(frame), at);
}

static bool eval_let(tn_mind_evaluator *e, tn_mind_frame *frame, tn_mind_node *node, tn_mind_value *out) {
  if (!tn_mind_eval(e, frame, node->let.value, out)) return false;
  if (!meet_type(e, frame, node, out)) return false;
  if (!node->let.word.name) return take_apart(e, frame, node, out);
  const tn_mind_variable *variable = node->let.variables[0];
  if (!bind_value(e, frame, variable, *out)) return false;
  *out = *tn_mind_eval_slot(frame, variable);
  return true;
}

static bool eval_statement(tn_mind_evaluator *e, tn_mind_frame *frame, tn_mind_node *node,
                           tn_mind_value *out) {
  switch ((tn_mind_kind)node->kind) {
    case TN_MIND_LET:
    case TN_MIND_ASSIGN: return eval_let(e, frame, node, out);
    case TN_MIND_FN:
    case TN_MIND_IMPORT:
    case TN_MIND_EXPORT: *out = tn_mind_unit_value(); return true;
    default: return tn_mind_eval(e, frame, node, out);
  }
}

bool tn_mind_eval_block(tn_mind_evaluator *e, tn_mind_frame *frame, const tn_mind_block *block,
                        tn_mind_value *out) {
  *out = tn_mind_unit_value();
  bool ok = true;
  for (tn_mind_node *node = block->first; node && ok; node = node->next) {
    ok = eval_statement(e, frame, node, out);
    if (ok && ++e->statements % ASK_EVERY == 0) ok = !tn_mind_interrupted(e, tn_mind_span(frame->unit, node));
  }
  return ok;
}

/* ---- modules ---- */

bool tn_mind_eval_unit(tn_mind_evaluator *e, const tn_mind_unit *unit, tn_mind_frame *frame,
                       tn_mind_value *out) {
  uint32_t statement = 0;
  frame->unit = unit;
  if (!e->forgets || !unit->dead) return tn_mind_eval_block(e, frame, &unit->block, out);
  *out = tn_mind_unit_value();
  for (tn_mind_node *node = unit->block.first; node; node = node->next) {
    if (!eval_statement(e, frame, node, out)) return false;
    if (!tn_mind_forget(e, unit, statement++, out)) return false;
    if (++e->statements % ASK_EVERY == 0 && tn_mind_interrupted(e, tn_mind_span(frame->unit, node)))
      return false;
  }
  return true;
}

bool tn_mind_eval_module(tn_mind_evaluator *e, tn_mind_module *module, tn_mind_value *out) {
  *out = tn_mind_unit_value();
  if (module->frame) return true;
  if (!tn_mind_room(e->mind)) return tn_report_stack(e->host->diags, TN_NOWHERE, "this import");
  module->frame = frame_new(e->arena, module->slot_count);
  if (!module->frame) return tn_mind_out_of_memory(e->mind);
  for (uint32_t i = 0; i < module->import_count; i++) {
    tn_mind_value ignored;
    if (!tn_mind_eval_module(e, module->imports[i], &ignored)) return false;
  }
  return tn_mind_eval_unit(e, module->unit, module->frame, out);
}
