/* lang/mind/eval_loop.c: fold and scan.
 *
 * A loop calls its function many times, and each call extends the graph. What
 * something may be differentiated through keeps that graph as its tape. Where no
 * derivative is active and none is requested by names, the tape is of no use: the state is computed
 * from time to time and everything that led to it is forgotten, so a loop of any length needs the
 * memory of a few steps.
 *
 * Rows of a tensor are cut out of ever smaller pieces. The gradient of a row is as
 * large as what it was cut from, and with pieces the work for all rows together
 * grows like their number, not like its square. */
#include "lang/mind/eval.h"

#define FORGET_NODES 1024 /* at least so many are worth being forgotten */
#define PIECES       16   /* that a piece of a tensor is cut into */
#define PIECE_DEPTH  11   /* 16 to the power of 11 are more than a tensor has elements */

typedef struct {
  tn_value node;
  int64_t start, end;
} piece;

/* A tensor that a loop goes along. */
typedef struct {
  piece pieces[PIECE_DEPTH + 1]; /* each cut out of the one before, the whole first */
  int depth;                     /* the last of them */
} rows;

typedef struct {
  tn_mind_evaluator *e;
  const tn_mind_fn *fn;
  const tn_mind_function *function; /* NULL: the values decide */
  tn_span at;
  const tn_mind_type *state_type; /* NULL: as it comes */
  tn_mind_bindings symbols;       /* sizes of its names */
  tn_mind_value state, item;
  int64_t steps;
  rows *over; /* NULL: a number of steps */
  bool scans, forgets;
  tn_vec(tn_value) made; /* values of the steps since what is in `done`, each as one row */
  tn_vec(tn_tensor) done;
  tn_mind_trace_mark mark;
} loop;

/* ---- rows ---- */

/* Without a tape a row is cut out of the whole: what was made for others may be forgotten. */
static tn_value row_at(const loop *l, rows *r, int64_t index) {
  tn_builder *builder = tn_mind_builder(l->e, l->at);
  if (!builder) return TN_ERROR_VALUE;
  while (r->depth && index >= r->pieces[r->depth].end) r->depth--;
  piece *last = &r->pieces[r->depth];
  while (!l->forgets && last->end - last->start > PIECES) {
    int64_t length = 1, offset = index - last->start;
    while (length * PIECES < last->end - last->start) length *= PIECES;
    piece next = { .start = last->start + offset / length * length };
    next.end = next.start + length < last->end ? next.start + length : last->end;
    next.node =
        tn_build_slice(builder, last->node, 0, next.start - last->start, next.end - last->start, 1);
    last = &r->pieces[++r->depth];
    *last = next;
  }
  tn_attrs attrs = { .index = (uint64_t)(index - last->start) };
  return tn_build(builder, TN_OP_INDEX, &last->node, 1, &attrs);
}

static bool set_row(const loop *l, rows *r, int64_t index, tn_mind_value *out) {
  tn_value node = row_at(l, r, index);
  *out = tn_mind_tensor_value(node);
  return tn_mind_built(l->e, l->scans ? "scan" : "fold", node);
}

static bool set_item(loop *l, int64_t index) {
  if (!l->over) {
    l->item = tn_mind_scalar_value((tn_mind_number){ .dtype = l->item.dtype, .integer = index });
    return true;
  }
  if (l->item.kind != TN_MIND_V_TUPLE) return set_row(l, l->over, index, &l->item);
  for (uint32_t i = 0; i < l->item.count; i++) {
    if (!set_row(l, &l->over[i], index, &l->item.items[i])) return false;
  }
  return true;
}

/* ---- what a loop goes along ---- */

static bool add_rows(loop *l, rows *r, const tn_mind_value *tensor) {
  const tn_shape *shape = &tn_graph_type(&l->e->trace->graph, tensor->node)->shape;
  int64_t count = shape->dim[0];
  if (!tn_dim_is_known(count)) {
    return tn_report(l->e->host->diags, TN_DIAG_E2001, l->at, TN_STR("expected", "a dimension with a size"),
                     TN_TEXT("got", tn_mind_describe_shape(l->e->mind, shape)));
  }
  r->pieces[0] = (piece){ tensor->node, 0, count };
  return tn_mind_join_steps(l->e->mind, count, l->at, &l->steps);
}

static bool count_steps(loop *l, const tn_mind_value *count) {
  tn_mind_number number;
  if (!tn_mind_need_number(l->e, count, l->at, &number)) return false;
  if (number.integer < 0) {
    return tn_report(l->e->host->diags, TN_DIAG_E2001, l->at,
                     TN_STR("expected", "a number of steps that is not below 0"),
                     TN_INT("got", number.integer));
  }
  l->steps = number.integer;
  l->item.dtype = (uint8_t)number.dtype;
  return true;
}

static bool begin_items(loop *l, const tn_mind_value *over) {
  bool tuple = over->kind == TN_MIND_V_TUPLE;
  uint32_t count = tuple ? over->count : 1;
  const tn_mind_value *tensors = tuple ? over->items : over;
  bool number = over->kind == TN_MIND_V_SCALAR ||
                (!tuple && tn_graph_type(&l->e->trace->graph, over->node)->shape.rank == 0);
  if (number) return count_steps(l, over);
  l->steps = TN_DIM_UNKNOWN;
  l->over = tn_arena_array(l->e->arena, count, sizeof *l->over);
  if (tuple) {
    l->item = (tn_mind_value){ .kind = TN_MIND_V_TUPLE, .count = count };
    l->item.items = tn_arena_array(l->e->arena, count, sizeof *l->item.items);
  }
  if (!l->over || (tuple && !l->item.items)) return tn_mind_out_of_memory(l->e->mind);
  for (uint32_t i = 0; i < count; i++) {
    if (!add_rows(l, &l->over[i], &tensors[i])) return false;
  }
  return true;
}

/* ---- values of a scan ---- */

static tn_value joined(const loop *l, const tn_value *parts, size_t count) {
  tn_builder *builder = tn_mind_builder(l->e, l->at);
  if (!builder) return TN_ERROR_VALUE;
  return count == 1 ? parts[0] : tn_build(builder, TN_OP_CONCAT, parts, (int)count, NULL);
}

static bool keep_value(loop *l, const tn_mind_value *value) {
  tn_value node = tn_mind_node_of(l->e, value, tn_mind_value_type(l->e, value).dtype, l->at);
  if (node == TN_ERROR_VALUE) return false;
  tn_value row = tn_build(tn_mind_builder(l->e, l->at), TN_OP_EXPAND_DIMS, &node, 1, NULL);
  if (!tn_mind_built(l->e, "scan", row)) return false;
  return tn_vec_push(l->e->host->heap, &l->made, row) || tn_mind_out_of_memory(l->e->mind);
}

/* Those that were put aside come first. */
static bool all_values(loop *l, tn_mind_value *out) {
  tn_heap *heap = l->e->host->heap;
  tn_vec(tn_value) parts = { 0 };
  bool ok = true;
  for (size_t i = 0; ok && i < l->done.count; i++)
    ok = tn_vec_push(heap, &parts, tn_mind_trace_const(l->e->trace, &l->done.at[i]));
  for (size_t i = 0; ok && i < l->made.count; i++) ok = tn_vec_push(heap, &parts, l->made.at[i]);
  tn_value all = ok ? joined(l, parts.at, parts.count) : TN_ERROR_VALUE;
  tn_vec_free(heap, &parts);
  *out = tn_mind_tensor_value(all);
  return ok ? tn_mind_built(l->e, "scan", all) : tn_mind_out_of_memory(l->e->mind);
}

/* ---- forgetting ---- */

typedef struct {
  tn_heap *heap;
  tn_vec(tn_value) nodes;
  tn_vec(tn_tensor) tensors;
  bool failed;
} kept;

/* The nodes of a state, in a copy of it: the one at hand may be somebody else's.
 * recursion: tuples in tuples, TN_MIND_LEVELS_LIMIT deep. */
static void add_nodes(tn_arena *arena, tn_mind_value *value, kept *k) {
  if (value->kind == TN_MIND_V_TUPLE) {
    value->items = tn_arena_copy(arena, value->items, value->count * sizeof *value->items);
    k->failed |= !value->items;
    for (uint32_t i = 0; !k->failed && i < value->count; i++) add_nodes(arena, &value->items[i], k);
  } else if (value->node) {
    k->failed |= !tn_vec_push(k->heap, &k->nodes, value->node);
  }
}

/* recursion: tuples in tuples, TN_MIND_LEVELS_LIMIT deep. */
static void set_nodes(tn_mind_value *value, const kept *k, size_t *next) {
  for (uint32_t i = 0; value->kind == TN_MIND_V_TUPLE && i < value->count; i++)
    set_nodes(&value->items[i], k, next);
  if (value->kind != TN_MIND_V_TUPLE && value->node) value->node = k->nodes.at[(*next)++];
}

static bool share_data(const loop *l, kept *k) {
  for (size_t i = 0; i < k->nodes.count; i++) {
    tn_tensor share = tn_tensor_ref(tn_mind_trace_data(l->e->trace, k->nodes.at[i]));
    if (tn_vec_push(k->heap, &k->tensors, share)) continue;
    tn_tensor_unref(&share);
    return false;
  }
  return true;
}

/* The state restarts as numbers, without its history. */
static bool renew(loop *l, kept *k) {
  tn_mind_trace *trace = l->e->trace;
  if (!share_data(l, k)) return tn_mind_out_of_memory(l->e->mind);
  size_t states = k->nodes.count - (l->made.count > 0), next = 0;
  if (l->made.count) {
    if (!tn_vec_push(k->heap, &l->done, k->tensors.at[states])) return tn_mind_out_of_memory(l->e->mind);
    k->tensors.count--;
    l->made.count = 0;
  }
  tn_mind_trace_rewind(trace, &l->mark);
  for (size_t i = 0; i < states; i++) {
    k->nodes.at[i] = tn_mind_trace_const(trace, &k->tensors.at[i]);
    if (!tn_mind_built(l->e, NULL, k->nodes.at[i])) return false;
  }
  set_nodes(&l->state, k, &next);
  return true;
}

static bool compute_state(loop *l, kept *k) {
  tn_fault fault;
  if (!tn_mind_trace_settle(l->e->trace, &fault)) return tn_mind_eval_fault(l->e, &fault, NULL);
  add_nodes(l->e->arena, &l->state, k);
  tn_value values = l->made.count ? joined(l, l->made.at, l->made.count) : TN_ERROR_VALUE;
  if (l->made.count && !tn_mind_built(l->e, "scan", values)) return false;
  if (l->made.count) k->failed |= !tn_vec_push(k->heap, &k->nodes, values);
  if (k->failed) return tn_mind_out_of_memory(l->e->mind);
  tn_mind_forced forced = tn_mind_trace_force(l->e->trace, k->nodes.at, k->nodes.count, &fault);
  if (forced == TN_MIND_FAULT) return tn_mind_eval_fault(l->e, &fault, NULL);
  if (forced == TN_MIND_DATA) return renew(l, k);
  l->forgets = false; /* sizes are not known: it stays a graph */
  return true;
}

static bool forget_steps(loop *l) {
  size_t old = l->mark.graph.nodes, since = l->e->trace->graph.nodes.count - old;
  if (!l->forgets || since < FORGET_NODES || since < old / 2) return true;
  kept k = { .heap = l->e->host->heap };
  bool ok = compute_state(l, &k);
  for (size_t i = 0; i < k.tensors.count; i++) tn_tensor_unref(&k.tensors.at[i]);
  tn_vec_free(k.heap, &k.tensors);
  tn_vec_free(k.heap, &k.nodes);
  return ok;
}

/* ---- steps ---- */

static bool meet_state(loop *l) {
  return !l->state_type || tn_mind_coerce(l->e, &l->state, l->state_type, &l->symbols, NULL, l->at);
}

static bool step(loop *l, int64_t index) {
  tn_mind_value gives;
  if (tn_mind_interrupted(l->e, l->at) || !set_item(l, index)) return false;
  const tn_mind_value args[] = { l->state, l->item };
  if (!tn_mind_eval_call_value(l->e, l->fn, l->function, args, 2, l->at, &gives)) return false;
  l->state = l->scans ? gives.items[0] : gives;
  if (l->scans && !keep_value(l, &gives.items[1])) return false;
  return meet_state(l) && forget_steps(l);
}

static bool run_steps(loop *l, tn_mind_value *out) {
  for (int64_t i = 0; i < l->steps; i++) {
    if (!step(l, i)) return false;
  }
  *out = l->state;
  if (!l->scans) return true;
  tn_shape made = tn_shape_make(1, l->steps);
  if (!tn_mind_refuse_empty(l->e->mind, &made, l->at)) return false;
  tn_mind_value *pair = tn_arena_array(l->e->arena, 2, sizeof *pair);
  if (!pair) return tn_mind_out_of_memory(l->e->mind);
  pair[0] = l->state;
  *out = (tn_mind_value){ .kind = TN_MIND_V_TUPLE, .count = 2, .items = pair };
  return all_values(l, &pair[1]);
}

/* Whether nothing can ask how the state was made. */
static bool may_forget(const tn_mind_evaluator *e) {
  bool plain = !e->lowers && !e->undecided && !e->trace->builder.region;
  return plain && !e->derivatives && !e->names_scalars;
}

bool tn_mind_eval_loop(tn_mind_evaluator *e, const tn_mind_entry *entry, const tn_mind_function *function,
                       const tn_mind_type *type, const tn_mind_value *args, tn_span at, tn_mind_value *out) {
  loop l = { .e = e, .fn = args[0].fn, .function = function, .at = at, .state = args[1] };
  l.scans = entry->special == TN_MIND_SCAN;
  l.state_type = l.scans && type ? type->items[0] : type;
  l.symbols.arena = e->arena;
  if (!tn_mind_builder(e, at) || !begin_items(&l, &args[2]) || !meet_state(&l)) return false;
  l.forgets = may_forget(e);
  l.mark = tn_mind_trace_mark_of(e->trace);
  bool ok = run_steps(&l, out);
  for (size_t i = 0; i < l.done.count; i++) tn_tensor_unref(&l.done.at[i]);
  tn_vec_free(e->host->heap, &l.done);
  tn_vec_free(e->host->heap, &l.made);
  return ok;
}
