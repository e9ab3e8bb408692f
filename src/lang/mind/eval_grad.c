/* lang/mind/eval_grad.c: derivatives.
 *
 * A function is differentiated by calling it with leaves: nodes that stand for
 * its arguments and for nothing else. An expression is differentiated by what
 * its names are bound to. Both extend the graph by ordinary operations, so
 * derivatives of derivatives need nothing more. */
#include <string.h>

#include "ad/ad.h"
#include "lang/mind/eval.h"

/* ---- gradients of nodes ---- */

static bool ask(tn_mind_evaluator *e, const tn_value *outputs, const tn_value *seeds, int output_count,
                const tn_value *wrt, int count, tn_value *grads) {
  tn_grad_request request = { .builder = &e->trace->builder,
                              .outputs = outputs,
                              .seeds = seeds,
                              .output_count = output_count,
                              .wrt = wrt,
                              .wrt_count = count,
                              .policy = TN_AD_STRICT };
  if (tn_ad_grad(&request, grads)) return true;
  return tn_mind_built(e, NULL, TN_ERROR_VALUE);
}

bool tn_mind_gradients(tn_mind_evaluator *e, const tn_value *outputs, const tn_value *seeds, int output_count,
                       const tn_value *wrt, int count, tn_span at, tn_value *grads) {
  if (!tn_mind_builder(e, at)) return false;
  if (count == 0) return true;
  if (count > 1 && tn_mind_trace_chained(e->trace, wrt, (size_t)count)) {
    for (int i = 0; i < count; i++) {
      if (!ask(e, outputs, seeds, output_count, &wrt[i], 1, &grads[i])) return false;
    }
    return true;
  }
  return ask(e, outputs, seeds, output_count, wrt, count, grads);
}

/* ---- values and nodes ---- */

/* A node as a value of the kind of another. */
static tn_mind_value value_like(const tn_mind_evaluator *e, const tn_mind_value *like, tn_value node) {
  if (like->kind == TN_MIND_V_TENSOR) return tn_mind_tensor_value(node);
  tn_dtype dtype = tn_graph_type(&e->trace->graph, node)->dtype;
  return (tn_mind_value){ .kind = TN_MIND_V_SCALAR, .dtype = (uint8_t)dtype, .node = node };
}

static bool tuple_of(tn_mind_evaluator *e, tn_mind_value *items, uint32_t count, bool tuple,
                     tn_mind_value *out) {
  if (!tuple) {
    *out = items[0];
    return true;
  }
  tn_mind_value *kept = tn_arena_copy(e->arena, items, count * sizeof *items);
  *out = (tn_mind_value){ .kind = TN_MIND_V_TUPLE, .count = count, .items = kept };
  return kept || tn_mind_out_of_memory(e->mind);
}

/* The nodes of a value or of a tuple of values; constants become nodes. */
static tn_value *nodes_of(tn_mind_evaluator *e, const tn_mind_value *value, tn_span at, int *count) {
  bool tuple = value->kind == TN_MIND_V_TUPLE;
  const tn_mind_value *items = tuple ? value->items : value;
  *count = tuple ? (int)value->count : 1;
  tn_value *nodes = tn_arena_array(e->arena, (size_t)*count, sizeof *nodes);
  if (!nodes) {
    tn_mind_out_of_memory(e->mind);
    return NULL;
  }
  for (int i = 0; i < *count; i++) {
    nodes[i] = tn_mind_node_of(e, &items[i], tn_mind_value_type(e, &items[i]).dtype, at);
    if (!nodes[i]) return NULL;
  }
  return nodes;
}

/* ---- functions ---- */

static bool become_leaf(tn_mind_evaluator *e, tn_mind_value *value, tn_span at) {
  tn_dtype dtype = tn_mind_leaf_dtype(tn_mind_value_type(e, value).dtype);
  bool scalar = value->kind == TN_MIND_V_SCALAR;
  tn_value node = tn_mind_node_of(e, value, dtype, at);
  node = node ? tn_mind_trace_leaf(e->trace, node) : TN_ERROR_VALUE;
  if (!node) return tn_mind_built(e, NULL, node);
  if (scalar && value->dtype != dtype) value->known = false;
  value->dtype = (uint8_t)dtype;
  value->node = node;
  return true;
}

/* The arguments as the function takes them, each as a leaf. */
static tn_mind_value *make_leaves(tn_mind_evaluator *e, const tn_mind_function *function,
                                  const tn_mind_value *args, uint32_t count, tn_span at) {
  tn_mind_value *leaves = tn_arena_copy(e->arena, args, count * sizeof *args);
  tn_mind_bindings symbols = { .arena = e->arena };
  if (!leaves) {
    tn_mind_out_of_memory(e->mind);
    return NULL;
  }
  if (function && !tn_mind_coerce_all(e, leaves, function, NULL, &symbols, NULL, at))
    return NULL;
  for (uint32_t i = 0; i < count; i++) {
    if (!become_leaf(e, &leaves[i], at)) return NULL;
  }
  return leaves;
}

/* What the function gives for them, with how it was made. */
static bool call_leaves(tn_mind_evaluator *e, const tn_mind_fn *fn, const tn_mind_function *function,
                        const tn_mind_value *leaves, uint32_t count, tn_span at, tn_mind_value *out) {
  e->derivatives++;
  bool ok = tn_mind_eval_call_value(e, fn, function, leaves, count, at, out);
  e->derivatives--;
  return ok;
}

static bool leaf_gradients(tn_mind_evaluator *e, const tn_mind_value *output, const tn_mind_value *seeds,
                           const tn_mind_value *leaves, uint32_t count, tn_span at, tn_mind_value *out) {
  int outputs, given;
  tn_value *of = nodes_of(e, output, at, &outputs), *from = seeds ? nodes_of(e, seeds, at, &given) : NULL;
  tn_value *wrt = tn_arena_array(e->arena, count, sizeof *wrt),
           *grads = tn_arena_array(e->arena, count, sizeof *grads);
  if (!of || (seeds && !from)) return false;
  if (!wrt || !grads) return tn_mind_out_of_memory(e->mind);
  for (uint32_t i = 0; i < count; i++) wrt[i] = leaves[i].node;
  if (!tn_mind_gradients(e, of, from, outputs, wrt, (int)count, at, grads)) return false;
  for (uint32_t i = 0; i < count; i++) out[i] = value_like(e, &leaves[i], grads[i]);
  return true;
}

static bool jacobians(tn_mind_evaluator *e, tn_value output, const tn_mind_value *leaves, uint32_t count,
                      tn_span at, tn_mind_value *out) {
  tn_mind_value *items = tn_arena_array(e->arena, count, sizeof *items);
  if (!items) return tn_mind_out_of_memory(e->mind);
  for (uint32_t i = 0; i < count; i++) {
    tn_value node;
    if (!tn_mind_builder(e, at)) return false;
    tn_ad_jacobian(&e->trace->builder, output, leaves[i].node, TN_AD_STRICT, &node);
    if (!tn_mind_built(e, "jacobian", node)) return false;
    items[i] = tn_mind_tensor_value(node);
  }
  return tuple_of(e, items, count, count != 1, out);
}

static bool hessians(tn_mind_evaluator *e, const tn_mind_value *grads, const tn_mind_value *leaves,
                     uint32_t count, tn_span at, tn_mind_value *out) {
  tn_mind_value *rows = tn_arena_array(e->arena, count, sizeof *rows);
  if (!rows) return tn_mind_out_of_memory(e->mind);
  for (uint32_t i = 0; i < count; i++) {
    if (!jacobians(e, grads[i].node, leaves, count, at, &rows[i])) return false;
  }
  return tuple_of(e, rows, count, count != 1, out);
}

bool tn_mind_is_single(tn_mind_evaluator *e, const tn_mind_value *value, tn_span at) {
  if (!tn_mind_is_plain(value))
    return tn_mind_expected(e->mind, at, "a single number", tn_mind_type_of(e, value));
  tn_type type = tn_mind_value_type(e, value);
  return tn_mind_refuse_many(e->mind, &type.shape, at);
}

bool tn_mind_eval_transform(tn_mind_evaluator *e, const tn_mind_fn *fn, const tn_mind_function *function,
                            const tn_mind_value *args, uint32_t count, tn_span at, tn_mind_value *out) {
  tn_mind_value output, *grads = tn_arena_array(e->arena, count, sizeof *grads), pair[2];
  if (!function) function = tn_mind_choose(e, fn, args, count);
  tn_mind_value *leaves = make_leaves(e, function, args, count, at);
  if (!leaves) return false;
  if (!grads) return tn_mind_out_of_memory(e->mind);
  if (!call_leaves(e, fn->inner, function, leaves, count, at, &output)) return false;
  if (fn->callable->kind == TN_MIND_C_JACOBIAN) {
    int outputs;
    tn_value *of = tn_mind_is_plain(&output) ? nodes_of(e, &output, at, &outputs) : NULL;
    return of && jacobians(e, of[0], leaves, count, at, out);
  }
  if (!tn_mind_is_single(e, &output, at)) return false;
  if (!leaf_gradients(e, &output, NULL, leaves, count, at, grads)) return false;
  if (fn->callable->kind == TN_MIND_C_HESSIAN) return hessians(e, grads, leaves, count, at, out);
  if (!tuple_of(e, grads, count, count != 1, out)) return false;
  if (fn->callable->kind == TN_MIND_C_GRAD) return true;
  pair[0] = output;
  pair[1] = *out;
  return tuple_of(e, pair, 2, true, out);
}

/* ---- vjp and jvp ---- */

bool tn_mind_eval_pullback(tn_mind_evaluator *e, const tn_mind_fn *fn, const tn_mind_value *cotangent,
                           tn_span at, tn_mind_value *out) {
  tn_mind_bindings symbols = { .arena = e->arena };
  tn_mind_value seeds = *cotangent, *grads = tn_arena_array(e->arena, fn->leaf_count, sizeof *grads);
  if (!grads) return tn_mind_out_of_memory(e->mind);
  if (!tn_mind_coerce(e, &seeds, tn_mind_type_of(e, fn->output), &symbols, NULL, at)) return false;
  if (!leaf_gradients(e, fn->output, &seeds, fn->leaves, fn->leaf_count, at, grads)) return false;
  return tuple_of(e, grads, fn->leaf_count, fn->tuple, out);
}

static bool eval_vjp(tn_mind_evaluator *e, const tn_mind_callable *pullback, const tn_mind_value *output,
                     const tn_mind_value *leaves, uint32_t count, bool tuple, tn_mind_value *out) {
  tn_mind_value *kept = tn_arena_copy(e->arena, output, sizeof *output), pair[2] = { *output };
  tn_mind_fn made = {
    .callable = pullback, .output = kept, .leaves = leaves, .leaf_count = count, .tuple = tuple
  };
  if (!kept) return tn_mind_out_of_memory(e->mind);
  return tn_mind_fn_value(e, made, &pair[1]) && tuple_of(e, pair, 2, true, out);
}

static bool eval_jvp(tn_mind_evaluator *e, const tn_mind_value *output, const tn_mind_value *leaves,
                     uint32_t count, const tn_mind_value *tangents, tn_span at, tn_mind_value *out) {
  int outputs;
  tn_value *of = nodes_of(e, output, at, &outputs);
  tn_value *along = tn_arena_array(e->arena, count, sizeof *along),
           *wrt = tn_arena_array(e->arena, count, sizeof *wrt);
  tn_value *made = tn_arena_array(e->arena, of ? (size_t)outputs : 0, sizeof *made);
  tn_mind_value *changes = tn_arena_array(e->arena, of ? (size_t)outputs : 0, sizeof *changes),
                pair[2] = { *output };
  if (!of) return false;
  if (!along || !wrt || !made || !changes) return tn_mind_out_of_memory(e->mind);
  for (uint32_t i = 0; i < count; i++) {
    tn_mind_bindings symbols = { .arena = e->arena };
    tn_mind_value tangent = tangents[i];
    if (!tn_mind_coerce(e, &tangent, tn_mind_type_of(e, &leaves[i]), &symbols, NULL, at)) return false;
    wrt[i] = leaves[i].node;
    along[i] = tn_mind_node_of(e, &tangent, tn_mind_value_type(e, &leaves[i]).dtype, at);
    if (!along[i]) return false;
  }
  tn_jvp_request request = { .builder = &e->trace->builder,
                             .wrt = wrt,
                             .tangents = along,
                             .wrt_count = (int)count,
                             .outputs = of,
                             .output_count = outputs,
                             .policy = TN_AD_STRICT };
  if (!tn_mind_builder(e, at)) return false;
  if (!tn_ad_jvp(&request, made)) return tn_mind_built(e, NULL, TN_ERROR_VALUE);
  const tn_mind_value *like = output->kind == TN_MIND_V_TUPLE ? output->items : output;
  for (int i = 0; i < outputs; i++) changes[i] = value_like(e, &like[i], made[i]);
  if (!tuple_of(e, changes, (uint32_t)outputs, output->kind == TN_MIND_V_TUPLE, &pair[1])) return false;
  return tuple_of(e, pair, 2, true, out);
}

/* `call` is NULL where the types of the call are not known. */
static bool eval_product(tn_mind_evaluator *e, const tn_mind_entry *entry, const tn_mind_node *call,
                         const tn_mind_value *args, tn_span at, tn_mind_value *out) {
  static const tn_mind_callable any = { .kind = TN_MIND_C_PULLBACK };
  bool tuple = args[1].kind == TN_MIND_V_TUPLE, forward = entry->special == TN_MIND_JVP;
  const tn_mind_function *function = call ? call->call.function : NULL;
  const tn_mind_callable *pullback = call && !forward ? call->type->items[1]->callable : &any;
  const tn_mind_value *inputs = tuple ? args[1].items : &args[1];
  uint32_t count = tuple ? args[1].count : 1;
  if (!function) function = tn_mind_choose(e, args[0].fn, inputs, count);
  tn_mind_value *leaves = make_leaves(e, function, inputs, count, at), output;
  if (!leaves) return false;
  if (!call_leaves(e, args[0].fn, function, leaves, count, at, &output)) return false;
  if (!forward) return eval_vjp(e, pullback, &output, leaves, count, tuple, out);
  return eval_jvp(e, &output, leaves, count, tuple ? args[2].items : &args[2], at, out);
}

/* ---- grad(loss, wrt=[x]) ---- */

/* A gradient that is zero, of the type of what it belongs to. */
static tn_value zero_like(tn_mind_evaluator *e, const tn_mind_value *value, tn_span at) {
  tn_builder *builder = tn_mind_builder(e, at);
  if (!builder) return TN_ERROR_VALUE;
  if (!value->node) return tn_build_number(builder, value->dtype, 0);
  return tn_build_like(builder, value->node, 0);
}

typedef struct {
  tn_mind_value *values; /* of the names */
  tn_name *names;
  tn_value *wrt; /* those that have a node */
  tn_value *grads;
  uint32_t count;
} gradient_record;

static bool record_init(tn_mind_evaluator *e, gradient_record *r, uint32_t room) {
  r->values = tn_arena_array(e->arena, room, sizeof *r->values);
  r->names = tn_arena_array(e->arena, room, sizeof *r->names);
  r->wrt = tn_arena_array(e->arena, room, sizeof *r->wrt);
  r->grads = tn_arena_array(e->arena, room, sizeof *r->grads);
  r->count = 0;
  return (r->values && r->names && r->wrt && r->grads) || tn_mind_out_of_memory(e->mind);
}

/* Of an open record only what the loss was computed from. */
static bool keep_sources(tn_mind_evaluator *e, tn_value loss, gradient_record *r) {
  bool *depends = tn_arena_array(e->arena, r->count, sizeof *depends);
  if (!r->count) return true;
  if (!depends || !tn_mind_trace_depends(e->trace, loss, r->wrt, r->count, depends))
    return tn_mind_out_of_memory(e->mind);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < r->count; i++) {
    if (!depends[i]) continue;
    r->values[kept] = r->values[i];
    r->names[kept++] = r->names[i];
  }
  r->count = kept;
  return true;
}

/* The names of the record and what they are bound to now. */
static bool gather(tn_mind_evaluator *e, tn_mind_frame *frame, const tn_mind_node *call, tn_value loss,
                   gradient_record *r) {
  const tn_mind_type *type = call->type;
  if (!record_init(e, r, type->count)) return false;
  for (uint32_t i = 0; i < type->count; i++) {
    const tn_mind_value *slot = tn_mind_eval_slot(frame, call->call.wrt[i]);
    bool bound = slot && tn_mind_is_plain(slot);
    if (!bound || (type->open && (!loss || !slot->node || slot->node == loss))) continue;
    r->wrt[r->count] = slot->node;
    r->values[r->count] = *slot;
    r->names[r->count++] = type->names[i];
  }
  return !type->open || keep_sources(e, loss, r);
}

static bool fill_record(tn_mind_evaluator *e, gradient_record *r, tn_value loss, tn_span at) {
  int with_node = 0;
  for (uint32_t i = 0; i < r->count; i++) {
    if (loss && r->values[i].node) r->wrt[with_node++] = r->values[i].node;
  }
  if (loss && !tn_mind_gradients(e, &loss, NULL, 1, r->wrt, with_node, at, r->grads)) return false;
  int next = 0;
  for (uint32_t i = 0; i < r->count; i++) {
    tn_value grad = loss && r->values[i].node ? r->grads[next++] : zero_like(e, &r->values[i], at);
    if (!tn_mind_built(e, "grad", grad)) return false;
    r->values[i] = value_like(e, &r->values[i], grad);
  }
  return true;
}

static bool eval_expression_form(tn_mind_evaluator *e, tn_mind_frame *frame, const tn_mind_node *call,
                                 const tn_mind_value *loss, tn_span at, tn_mind_value *out) {
  gradient_record r;
  tn_value node = tn_mind_is_plain(loss) ? loss->node : TN_ERROR_VALUE;
  if (!tn_mind_is_single(e, loss, at)) return false;
  if (!gather(e, frame, call, node, &r) || !fill_record(e, &r, node, at)) return false;
  *out = (tn_mind_value){ .kind = TN_MIND_V_GRAD, .count = r.count, .items = r.values, .names = r.names };
  return true;
}

/* ---- calls ---- */

bool tn_mind_eval_special(tn_mind_evaluator *e, tn_mind_frame *frame, tn_mind_node *call,
                          const tn_mind_value *receiver, tn_mind_value *out) {
  const tn_mind_entry *entry = call->call.entry;
  tn_mind_value args[TN_MIND_PARAMETER_LIMIT];
  tn_span at = tn_mind_span(frame->unit, call);
  if (receiver) args[0] = *receiver;
  for (tn_mind_node *arg = call->call.args; arg; arg = arg->next) {
    bool named = entry->params[arg->place].kind == TN_MIND_P_NAMES;
    if (!named && !tn_mind_eval(e, frame, arg, &args[arg->place])) return false;
  }
  if (entry->special == TN_MIND_VJP || entry->special == TN_MIND_JVP)
    return eval_product(e, entry, call, args, at, out);
  if (entry->special >= TN_MIND_SAVE)
    return tn_mind_eval_weights(e, frame, call, args[0].text, out);
  if (entry->special >= TN_MIND_FOLD)
    return tn_mind_eval_loop(e, entry, call->call.function, call->type, args, at, out);
  if (args[0].kind != TN_MIND_V_FN) return eval_expression_form(e, frame, call, &args[0], at, out);
  return tn_mind_fn_value(e, (tn_mind_fn){ .callable = call->type->callable, .inner = args[0].fn }, out);
}

/* A function that was handed over: its type says what it takes, and that is not names. */
bool tn_mind_eval_special_values(tn_mind_evaluator *e, const tn_mind_entry *entry, const tn_mind_value *args,
                                 tn_span at, tn_mind_value *out) {
  if (entry->special == TN_MIND_VJP || entry->special == TN_MIND_JVP)
    return eval_product(e, entry, NULL, args, at, out);
  if (entry->special >= TN_MIND_FOLD) return tn_mind_eval_loop(e, entry, NULL, NULL, args, at, out);
  tn_mind_callable made = { .kind = tn_mind_transform_of(entry->special), .inner = args[0].fn->callable };
  const tn_mind_callable *callable = tn_arena_copy(e->arena, &made, sizeof made);
  if (!callable) return tn_mind_out_of_memory(e->mind);
  return tn_mind_fn_value(e, (tn_mind_fn){ .callable = callable, .inner = args[0].fn }, out);
}
