/* lang/mind/trace.c: building lazily, computing what is needed.
 *
 * To compute nodes, those they need are copied into a graph of their own, in
 * which what is known already stands as constants; the host optimises and runs
 * it. To extract a graph for others to read is the same copy without constants
 * in place of history. Branches that were begun and given up leave regions that
 * belong to no `if`; in a copy their nodes stand where the region was begun.
 *
 * Many nodes are computed in parts, one after the other in their order, because a
 * graph that runs takes several times the room of the nodes in the trace. */
#include "lang/mind/trace.h"

#include <stdlib.h>
#include <string.h>

void tn_mind_trace_init(tn_mind_trace *trace, tn_host *host) { *trace = (tn_mind_trace){ .host = host }; }

void tn_mind_trace_free(tn_mind_trace *trace) {
  tn_heap *heap = trace->host->heap;
  for (size_t i = 0; i < trace->tensors.count; i++) tn_tensor_unref(&trace->tensors.at[i]);
  tn_vec_free(heap, &trace->known);
  tn_vec_free(heap, &trace->tensors);
  tn_vec_free(heap, &trace->pending);
  tn_vec_free(heap, &trace->leaves);
  tn_vec_free(heap, &trace->of_nodes);
  tn_vec_free(heap, &trace->of_regions);
  if (trace->ready) tn_graph_free(&trace->graph);
  trace->ready = false;
}

tn_builder *tn_mind_trace_builder(tn_mind_trace *trace) {
  if (!trace->ready) {
    if (!tn_graph_init(&trace->graph, trace->host->heap, trace->host->names)) return NULL;
    trace->graph.limit = TN_MIND_NODE_LIMIT;
    tn_graph_builder_init(&trace->builder, &trace->graph);
    trace->ready = true;
    trace->seen = 1;
  }
  return &trace->builder.base;
}

/* ---- what is known ---- */

const tn_tensor *tn_mind_trace_data(const tn_mind_trace *trace, tn_value value) {
  const tn_node *node = tn_graph_node(&trace->graph, value);
  if (node->op == TN_OP_CONST) return node->attrs->literal;
  if (value >= trace->known.count || !trace->known.at[value]) return NULL;
  return &trace->tensors.at[trace->known.at[value] - 1];
}

/* Takes the tensor over. */
static bool remember_take(tn_mind_trace *trace, tn_value value, tn_tensor *tensor) {
  tn_heap *heap = trace->host->heap;
  while (trace->known.count <= value) {
    size_t more = trace->graph.nodes.count - trace->known.count;
    if (!tn_vec_reserve(heap, &trace->known, more)) return false;
    memset(trace->known.at + trace->known.count, 0, more * sizeof *trace->known.at);
    trace->known.count += more;
  }
  if (!tn_vec_push(heap, &trace->tensors, *tensor)) return false;
  trace->known.at[value] = (uint32_t)trace->tensors.count;
  *tensor = (tn_tensor){ 0 };
  return true;
}

tn_value tn_mind_trace_const(tn_mind_trace *trace, const tn_tensor *tensor) {
  tn_builder *builder = tn_mind_trace_builder(trace);
  return builder ? tn_build_const(builder, tensor) : TN_ERROR_VALUE;
}

/* The axes in their own order: it costs nothing and works whatever the sizes are. */
tn_value tn_mind_trace_leaf(tn_mind_trace *trace, tn_value of) {
  tn_builder *builder = tn_mind_trace_builder(trace);
  if (!builder || of == TN_ERROR_VALUE) return TN_ERROR_VALUE;
  int axes[TN_RANK_LIMIT];
  for (int i = 0; i < TN_RANK_LIMIT; i++) axes[i] = i;
  tn_value leaf = tn_build_transpose(builder, of, axes);
  if (leaf == TN_ERROR_VALUE || tn_vec_push(trace->host->heap, &trace->leaves, leaf)) return leaf;
  return tn_build_fault(builder, TN_OP_TRANSPOSE, (tn_fault){ .kind = TN_FAULT_MEMORY });
}

static bool is_leaf(const tn_mind_trace *trace, tn_value value) {
  size_t low = 0, high = trace->leaves.count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (trace->leaves.at[middle] == value) return true;
    if (trace->leaves.at[middle] < value)
      low = middle + 1;
    else
      high = middle;
  }
  return false;
}

/* ---- copying what is needed ---- */

/* The work is that of what is copied, however long the graph has become: a program may ask for one number
 * after the other. Which nodes and regions are needed is noted in the trace, as of this round. */
typedef struct {
  tn_mind_trace *trace;
  const tn_graph *from;
  tn_graph *to;
  bool cut;                 /* what is known becomes a constant */
  bool whole;               /* keep leaves as they are, because history continues */
  const uint8_t *forgotten; /* by node, or NULL: becomes a constant */
  uint32_t round;
  tn_vec(tn_value) needed;
  tn_value *operands;
  size_t operand_room;
  bool failed;
} copier;

static bool is_cut(const copier *c, tn_value value) {
  if (c->forgotten && c->forgotten[value] && tn_mind_trace_data(c->trace, value)) return true;
  return c->cut && tn_mind_trace_data(c->trace, value);
}

static bool grow_notes(tn_heap *heap, tn_mind_notes *notes, size_t count) {
  if (count <= notes->count) return true;
  size_t more = count - notes->count;
  if (!tn_vec_reserve(heap, notes, more)) return false;
  memset(notes->at + notes->count, 0, more * sizeof *notes->at);
  notes->count = count;
  return true;
}

static bool copier_init(copier *c) {
  tn_heap *heap = c->trace->host->heap;
  c->round = ++c->trace->round;
  return grow_notes(heap, &c->trace->of_nodes, c->from->nodes.count) &&
         grow_notes(heap, &c->trace->of_regions, c->from->regions.count);
}

static void copier_free(copier *c) {
  tn_heap *heap = c->trace->host->heap;
  tn_vec_free(heap, &c->needed);
  tn_heap_free(heap, c->operands, c->operand_room * sizeof *c->operands);
}

static bool is_needed(const copier *c, tn_value value) {
  return c->trace->of_nodes.at[value].round == c->round;
}

static tn_value moved(const copier *c, tn_value value) { return c->trace->of_nodes.at[value].became; }

static void set_moved(copier *c, tn_value value, tn_value to) {
  c->trace->of_nodes.at[value] = (tn_mind_note){ c->round, to };
}

static void need(copier *c, tn_value value) {
  if (is_needed(c, value)) return;
  set_moved(c, value, TN_ERROR_VALUE);
  c->failed |= !tn_vec_push(c->trace->host->heap, &c->needed, value);
}

static void need_region(copier *c, uint32_t region) {
  const tn_region *r = &c->from->regions.at[region];
  c->trace->of_regions.at[region] = (tn_mind_note){ c->round, 0 };
  for (size_t i = 0; i < r->results.count; i++) need(c, r->results.at[i]);
}

/* And what those need, and so on. */
static void need_operands(copier *c) {
  for (size_t n = 0; n < c->needed.count && !c->failed; n++) {
    const tn_node *node = tn_graph_node(c->from, c->needed.at[n]);
    c->trace->host->looked_at++;
    if (is_cut(c, c->needed.at[n])) continue;
    for (int i = 0; i < node->count; i++) need(c, node->in[i]);
    for (int r = 0; node->op == TN_OP_IF && r < 2; r++) need_region(c, node->attrs->region[r]);
  }
}

static int ascending(const void *a, const void *b) {
  tn_value left = *(const tn_value *)a, right = *(const tn_value *)b;
  return left < right ? -1 : left > right;
}

/* Where the region is in the copy. One whose `if` is not needed is the one around it. */
static uint32_t region_of(const copier *c, uint32_t region) {
  while (region && c->trace->of_regions.at[region].round != c->round)
    region = c->from->regions.at[region].parent;
  return region ? c->trace->of_regions.at[region].became : 0;
}

/* In their order, so that those around others come first. */
static bool copy_regions(copier *c) {
  tn_vec(uint32_t) regions = { 0 };
  tn_heap *heap = c->trace->host->heap;
  bool ok = true;
  for (size_t n = 0; ok && n < c->needed.count; n++) {
    const tn_node *node = tn_graph_node(c->from, c->needed.at[n]);
    for (int r = 0; ok && node->op == TN_OP_IF && r < 2; r++) {
      uint32_t region = node->attrs->region[r];
      if (c->trace->of_regions.at[region].round == c->round) ok = tn_vec_push(heap, &regions, region);
    }
  }
  if (regions.count) qsort(regions.at, regions.count, sizeof *regions.at, ascending);
  for (size_t i = 0; ok && i < regions.count; i++) {
    uint32_t parent = region_of(c, c->from->regions.at[regions.at[i]].parent);
    uint32_t made = tn_graph_add_region(c->to, parent);
    c->trace->of_regions.at[regions.at[i]].became = made;
    ok = made != 0;
  }
  tn_vec_free(heap, &regions);
  return ok;
}

static const tn_value *moved_operands(copier *c, const tn_node *node) {
  size_t count = (size_t)node->count;
  if (count > c->operand_room) {
    tn_value *grown = tn_heap_resize(c->trace->host->heap, c->operands, c->operand_room * sizeof *grown,
                                     count * sizeof *grown);
    if (!grown) return NULL;
    c->operands = grown;
    c->operand_room = count;
  }
  for (size_t i = 0; i < count; i++) c->operands[i] = moved(c, node->in[i]);
  return c->operands;
}

static bool move_results(copier *c, const tn_node *node, tn_attrs *attrs) {
  for (int r = 0; r < 2; r++) {
    const tn_region *region = &c->from->regions.at[node->attrs->region[r]];
    attrs->region[r] = region_of(c, node->attrs->region[r]);
    for (size_t i = 0; i < region->results.count; i++) {
      tn_value result = moved(c, region->results.at[i]);
      if (!tn_graph_yield(c->to, attrs->region[r], &result, 1)) return false;
    }
  }
  return true;
}

static tn_value copy_of(copier *c, tn_value value) {
  const tn_node *node = tn_graph_node(c->from, value);
  if (is_cut(c, value)) {
    tn_attrs attrs = { .literal = tn_mind_trace_data(c->trace, value) };
    return tn_graph_add(c->to, 0, TN_OP_CONST, NULL, 0, &attrs, &node->type, node->at);
  }
  if (!c->whole && is_leaf(c->trace, value)) return moved(c, node->in[0]);
  tn_attrs attrs = *node->attrs;
  const tn_value *operands = node->count ? moved_operands(c, node) : NULL;
  if (node->count && !operands) return TN_ERROR_VALUE;
  if (node->op == TN_OP_IF && !move_results(c, node, &attrs)) return TN_ERROR_VALUE;
  return tn_graph_add(c->to, region_of(c, node->region), node->op, operands, node->count, &attrs, &node->type,
                      node->at);
}

static bool copy_node(copier *c, tn_value value) {
  tn_value copy = copy_of(c, value);
  set_moved(c, value, copy);
  return copy != TN_ERROR_VALUE;
}

static bool is_input(tn_op op) { return op == TN_OP_INPUT || op == TN_OP_PARAM; }

/* Fills c->to; false when memory runs out. */
static bool copy_nodes(copier *c) {
  need_operands(c);
  if (c->failed || !copy_regions(c)) return false;
  if (c->needed.count) qsort(c->needed.at, c->needed.count, sizeof *c->needed.at, ascending);
  for (size_t n = 0; n < c->needed.count; n++) {
    if (!copy_node(c, c->needed.at[n])) return false;
  }
  return true;
}

bool tn_mind_trace_extract(tn_mind_trace *trace, const tn_mind_extract *what, tn_graph *out) {
  if (!tn_mind_trace_builder(trace) || !tn_graph_init(out, trace->host->heap, trace->host->names))
    return false;
  copier c = { .trace = trace, .from = &trace->graph, .to = out, .cut = what->cut };
  bool ok = copier_init(&c);
  for (size_t i = 0; ok && i < what->input_count; i++) ok = copy_node(&c, what->inputs[i]); /* these first */
  for (size_t i = 0; ok && i < what->output_count; i++) need(&c, what->outputs[i].value);
  ok = ok && copy_nodes(&c);
  for (size_t i = 0; ok && i < what->output_count; i++) {
    ok = tn_graph_output(out, what->outputs[i].name, moved(&c, what->outputs[i].value));
  }
  copier_free(&c);
  if (!ok) tn_graph_free(out);
  return ok;
}

/* ---- computing ---- */

static bool out_of_memory(tn_fault *fault) {
  *fault = (tn_fault){ .kind = TN_FAULT_MEMORY };
  return false;
}

bool tn_mind_trace_can_compute(const tn_graph *graph) {
  for (size_t v = 1; v < graph->nodes.count; v++) {
    const tn_node *node = tn_graph_node(graph, (tn_value)v);
    if (is_input(node->op) || !tn_shape_is_known(&node->type.shape)) return false;
  }
  return true;
}

static bool compute(tn_mind_trace *trace, const tn_graph *graph, const tn_value *values, size_t count,
                    tn_fault *fault) {
  tn_heap *heap = trace->host->heap;
  tn_tensor *made = tn_heap_alloc(heap, count * sizeof *made);
  if (!made) return out_of_memory(fault);
  bool ok = trace->host->compute(trace->host, graph, NULL, NULL, made, fault);
  for (size_t i = 0; ok && i < count; i++) {
    if (!remember_take(trace, values[i], &made[i])) ok = out_of_memory(fault);
  }
  for (size_t i = 0; i < count; i++) tn_tensor_unref(&made[i]);
  tn_heap_free(heap, made, count * sizeof *made);
  return ok;
}

/* Those of `values` that have no data, each once and in order. */
static size_t without_data(const tn_mind_trace *trace, const tn_value *values, size_t count, tn_value *out) {
  size_t missing = 0, kept = 0;
  for (size_t i = 0; i < count; i++) {
    if (!tn_mind_trace_data(trace, values[i])) out[missing++] = values[i];
  }
  if (missing) qsort(out, missing, sizeof *out, ascending);
  for (size_t i = 0; i < missing; i++) {
    if (!kept || out[kept - 1] != out[i]) out[kept++] = out[i];
  }
  return kept;
}

static tn_mind_forced force_whole(tn_mind_trace *trace, const tn_value *values, size_t count,
                                  tn_fault *fault) {
  tn_graph graph;
  copier c = { .trace = trace, .from = &trace->graph, .to = &graph, .cut = true };
  tn_mind_forced result = TN_MIND_FAULT;
  out_of_memory(fault);
  if (!tn_graph_init(&graph, trace->host->heap, trace->host->names)) return result;
  bool ok = copier_init(&c);
  for (size_t i = 0; ok && i < count; i++) need(&c, values[i]);
  ok = ok && copy_nodes(&c);
  for (size_t i = 0; ok && i < count; i++) ok = tn_graph_output(&graph, 0, moved(&c, values[i]));
  copier_free(&c);
  if (ok && !tn_mind_trace_can_compute(&graph))
    result = TN_MIND_NO_DATA;
  else if (ok && compute(trace, &graph, values, count, fault))
    result = TN_MIND_DATA;
  tn_graph_free(&graph);
  return result;
}

/* ---- computing many ---- */

#define PART_NODES  32768
#define WHOLE_NODES ((size_t)2 * PART_NODES) /* up to which nodes are not divided */

/* What is computed of each part: `ends` are positions in `values`. */
typedef struct {
  tn_vec(tn_value) values;
  tn_vec(size_t) ends;
} parts;

/* Whether nodes are computed again in each part that uses them: they take no work, and their numbers room. */
static bool is_light(const tn_node *node) {
  return tn_op_is_source(node->op) || node->op == TN_OP_BROADCAST_TO;
}

static void use_until(copier *c, tn_value value, tn_value user) {
  if (moved(c, value) < user) set_moved(c, value, user);
}

/* By node, in place of what it becomes: the last that uses it. False: branches are not divided. */
static bool find_last_uses(copier *c, const tn_value *values, size_t count) {
  for (size_t i = 0; i < count; i++) set_moved(c, values[i], UINT32_MAX);
  for (size_t n = c->needed.count; n-- > 0;) {
    tn_value value = c->needed.at[n];
    const tn_node *node = tn_graph_node(c->from, value);
    if (node->op == TN_OP_IF || node->region) return false;
    if (is_cut(c, value)) continue;
    tn_value user = is_light(node) ? moved(c, value) : value;
    for (int i = 0; i < node->count; i++) use_until(c, node->in[i], user);
  }
  return true;
}

static bool divide(const copier *c, parts *p) {
  tn_heap *heap = c->trace->host->heap;
  size_t count = c->needed.count;
  bool ok = true;
  for (size_t from = 0; ok && from < count; from += PART_NODES) {
    size_t end = count - from < PART_NODES ? count : from + PART_NODES;
    for (size_t n = from; ok && n < end; n++) {
      tn_value value = c->needed.at[n], last = moved(c, value);
      bool crosses = last > c->needed.at[end - 1] && !is_cut(c, value);
      bool asked = last == UINT32_MAX;
      if (asked || (crosses && !is_light(tn_graph_node(c->from, value))))
        ok = tn_vec_push(heap, &p->values, value);
    }
    ok = ok && tn_vec_push(heap, &p->ends, p->values.count);
  }
  return ok;
}

static tn_mind_forced force_parts(tn_mind_trace *trace, const parts *p, tn_fault *fault) {
  size_t from = 0;
  for (size_t i = 0; i < p->ends.count; i++) {
    size_t count = p->ends.at[i] - from;
    tn_mind_forced forced =
        count ? force_whole(trace, p->values.at + from, count, fault) : TN_MIND_DATA;
    if (forced != TN_MIND_DATA) return forced;
    from = p->ends.at[i];
  }
  return TN_MIND_DATA;
}

static tn_mind_forced force_all(tn_mind_trace *trace, const tn_value *values, size_t count, tn_fault *fault) {
  if (trace->graph.nodes.count <= WHOLE_NODES) return force_whole(trace, values, count, fault);
  tn_heap *heap = trace->host->heap;
  copier c = { .trace = trace, .from = &trace->graph, .cut = true };
  parts p = { { 0 }, { 0 } };
  bool ok = copier_init(&c), divided = false;
  for (size_t i = 0; ok && i < count; i++) need(&c, values[i]);
  if (ok) need_operands(&c);
  ok = ok && !c.failed;
  if (ok && c.needed.count > WHOLE_NODES) {
    qsort(c.needed.at, c.needed.count, sizeof *c.needed.at, ascending);
    divided = find_last_uses(&c, values, count);
    ok = !divided || divide(&c, &p);
  }
  copier_free(&c);
  tn_mind_forced forced = TN_MIND_FAULT;
  if (!ok)
    out_of_memory(fault);
  else
    forced = divided ? force_parts(trace, &p, fault) : force_whole(trace, values, count, fault);
  tn_vec_free(heap, &p.values);
  tn_vec_free(heap, &p.ends);
  return forced;
}

tn_mind_forced tn_mind_trace_force(tn_mind_trace *trace, const tn_value *values, size_t count,
                                   tn_fault *fault) {
  tn_heap *heap = trace->host->heap;
  tn_value few[8], *missing = few;
  if (count > 8) missing = tn_heap_alloc(heap, count * sizeof *missing);
  if (!missing) {
    out_of_memory(fault);
    return TN_MIND_FAULT;
  }
  size_t left = without_data(trace, values, count, missing);
  tn_mind_forced result = left ? force_all(trace, missing, left, fault) : TN_MIND_DATA;
  if (missing != few) tn_heap_free(heap, missing, count * sizeof *missing);
  return result;
}

/* ---- what may fail ---- */

/* Only what a program can cause: indices of gradients have been looked up before, and the checker refuses to
 * choose from no elements. */
static bool may_fail(const tn_graph *graph, const tn_node *node) {
  tn_op_fails how = tn_op_fails_of(node->op);
  bool caused =
      how == TN_FAILS_ON_INDEX || how == TN_FAILS_ON_LABEL || how == TN_FAILS_ON_ZERO_DIVISOR;
  return caused && tn_op_can_fail(node->op, tn_graph_type(graph, node->in[0])->dtype);
}

/* Their if handles the nodes of branches. */
static bool look_for_pending(tn_mind_trace *trace) {
  for (; trace->ready && trace->seen < trace->graph.nodes.count; trace->seen++) {
    const tn_node *node = tn_graph_node(&trace->graph, (tn_value)trace->seen);
    if (node->region || !may_fail(&trace->graph, node)) continue;
    if (!tn_vec_push(trace->host->heap, &trace->pending, (tn_value)trace->seen)) return false;
  }
  return true;
}

/* One after the other in order, so that the first to fail is the first in the program; together
 * first, because nearly always none does. */
bool tn_mind_trace_settle(tn_mind_trace *trace, tn_fault *fault) {
  if (!look_for_pending(trace)) return out_of_memory(fault);
  size_t count = trace->pending.count;
  trace->pending.count = 0;
  if (!count) return true;
  if (tn_mind_trace_force(trace, trace->pending.at, count, fault) == TN_MIND_DATA) return true;
  for (size_t i = 0; i < count; i++) {
    if (tn_mind_trace_force(trace, &trace->pending.at[i], 1, fault) == TN_MIND_FAULT) return false;
  }
  return true;
}

/* ---- history ---- */

enum { CHOSEN = 1, REACHED = 2 };

/* `marks` begin with node `first`; those before it have none. */
static bool is_marked(const uint8_t *marks, tn_value first, tn_value value) {
  return value >= first && marks[value - first];
}

static bool any_marked(const tn_graph *graph, const tn_node *node, const uint8_t *marks, tn_value first) {
  for (int i = 0; i < node->count; i++) {
    if (is_marked(marks, first, node->in[i])) return true;
  }
  if (node->op != TN_OP_IF) return false;
  for (int r = 0; r < 2; r++) {
    const tn_region *region = &graph->regions.at[node->attrs->region[r]];
    for (size_t i = 0; i < region->results.count; i++) {
      if (is_marked(marks, first, region->results.at[i])) return true;
    }
  }
  return false;
}

static void mark(uint8_t *marks, tn_value first, tn_value value) {
  if (value >= first) marks[value - first] = REACHED;
}

static void mark_operands(const tn_graph *graph, const tn_node *node, uint8_t *marks, tn_value first) {
  for (int i = 0; i < node->count; i++) mark(marks, first, node->in[i]);
  for (int r = 0; node->op == TN_OP_IF && r < 2; r++) {
    const tn_region *region = &graph->regions.at[node->attrs->region[r]];
    for (size_t i = 0; i < region->results.count; i++) mark(marks, first, region->results.at[i]);
  }
}

/* From node `first` on: whether it is one of them, and whether it was computed from one. NULL without
 * memory. */
static uint8_t *marks_of(const tn_mind_trace *trace, const tn_value *values, size_t count, tn_value first,
                         tn_value last) {
  const tn_graph *graph = &trace->graph;
  size_t span = (size_t)last - first + 1;
  uint8_t *marks = tn_heap_alloc(trace->host->heap, span);
  if (!marks) return NULL;
  for (size_t i = 0; i < count; i++) {
    if (values[i] >= first && values[i] <= last) marks[values[i] - first] = CHOSEN;
  }
  for (tn_value v = first; v <= last; v++) {
    if (any_marked(graph, tn_graph_node(graph, v), marks, first)) marks[v - first] |= REACHED;
  }
  trace->host->looked_at += span;
  return marks;
}

/* The other way round: what the value was computed from, down to `first`. */
static uint8_t *ancestors_of(const tn_mind_trace *trace, tn_value value, tn_value first) {
  const tn_graph *graph = &trace->graph;
  size_t span = (size_t)value - first + 1;
  uint8_t *marks = tn_heap_alloc(trace->host->heap, span);
  if (!marks) return NULL;
  marks[value - first] = CHOSEN;
  for (tn_value v = value; v >= first && v > 0; v--) {
    if (marks[v - first]) mark_operands(graph, tn_graph_node(graph, v), marks, first);
  }
  trace->host->looked_at += span;
  return marks;
}

bool tn_mind_trace_depends(const tn_mind_trace *trace, tn_value value, const tn_value *from, size_t count,
                           bool *out) {
  tn_value first = value;
  for (size_t i = 0; i < count; i++) {
    if (from[i] && from[i] < first) first = from[i];
  }
  uint8_t *marks = ancestors_of(trace, value, first);
  for (size_t i = 0; marks && i < count; i++) out[i] = from[i] && from[i] <= value && marks[from[i] - first];
  tn_heap_free(trace->host->heap, marks, (size_t)value - first + 1);
  return marks != NULL;
}

/* Without memory the answer is yes: it is the safer one. */
bool tn_mind_trace_chained(const tn_mind_trace *trace, const tn_value *values, size_t count) {
  tn_value first = values[0], last = values[0];
  for (size_t i = 1; i < count; i++) {
    if (values[i] < first) first = values[i];
    if (values[i] > last) last = values[i];
  }
  uint8_t *marks = marks_of(trace, values, count, first, last);
  bool chained = !marks;
  for (size_t i = 0; marks && i < count; i++) chained |= (marks[values[i] - first] & REACHED) != 0;
  tn_heap_free(trace->host->heap, marks, (size_t)last - first + 1);
  return chained;
}

/* ---- what follows from no input ---- */

/* By node: whether its numbers are not to be had, because they follow from what is given or asked when the
 * graph runs, or have no sizes; nodes from `end` on count as such. NULL without memory. */
static uint8_t *open_nodes(const tn_mind_trace *trace, tn_value end) {
  const tn_graph *graph = &trace->graph;
  uint8_t *open = tn_heap_alloc(trace->host->heap, graph->nodes.count);
  for (tn_value v = 1; open && v < graph->nodes.count; v++) {
    const tn_node *node = tn_graph_node(graph, v);
    bool asked = is_input(node->op) || tn_op_sig_of(node->op)->kind == TN_KIND_EFFECT;
    open[v] = v >= end || asked || !tn_shape_is_known(&node->type.shape) || any_marked(graph, node, open, 0);
  }
  return open;
}

/* An `if` is seen through what is picked of it. Spread numbers are the same as those that are spread, and
 * take more room. */
static bool is_no_place_to_cut(const tn_node *node) {
  return node->op == TN_OP_IF || node->op == TN_OP_BROADCAST_TO;
}

/* Where what is open and what is not meet: the nodes to compute, in `edge`. */
static size_t find_edge(const copier *c, const uint8_t *open, const tn_mind_extract *what, uint8_t *edge) {
  size_t count = 0;
  for (size_t i = 0; i < what->output_count; i++) edge[what->outputs[i].value] = 1;
  for (tn_value v = (tn_value)c->from->nodes.count - 1; v > 0; v--) {
    const tn_node *node = tn_graph_node(c->from, v);
    bool passes = is_needed(c, v) && (open[v] || (edge[v] && is_no_place_to_cut(node)));
    edge[v] = edge[v] && !passes && !tn_op_is_source(node->op);
    count += edge[v];
    if (!passes) continue;
    for (int i = 0; i < node->count; i++) edge[node->in[i]] = 1;
    for (int r = 0; node->op == TN_OP_IF && r < 2; r++) {
      const tn_region *region = &c->from->regions.at[node->attrs->region[r]];
      for (size_t i = 0; i < region->results.count; i++) edge[region->results.at[i]] = 1;
    }
  }
  return count;
}

static bool is_mistake(const tn_fault *fault) {
  return fault->kind == TN_FAULT_BOUNDS || fault->kind == TN_FAULT_DIVIDE || fault->kind == TN_FAULT_ARGUMENT;
}

/* Together, and if something fails, one by one. */
static bool compute_edge(tn_mind_trace *trace, const tn_value *nodes, size_t count, tn_fault *fault) {
  tn_mind_forced forced = count ? tn_mind_trace_force(trace, nodes, count, fault) : TN_MIND_DATA;
  bool stopped = forced == TN_MIND_FAULT && !is_mistake(fault);
  for (size_t i = 0; forced != TN_MIND_DATA && !stopped && i < count; i++)
    stopped = tn_mind_trace_force(trace, &nodes[i], 1, fault) == TN_MIND_FAULT && !is_mistake(fault);
  return !stopped;
}

bool tn_mind_trace_fold(tn_mind_trace *trace, const tn_mind_extract *what, tn_value end, tn_fault *fault) {
  tn_heap *heap = trace->host->heap;
  copier c = { .trace = trace, .from = &trace->graph };
  size_t nodes = trace->graph.nodes.count, count = 0, kept = 0;
  uint8_t *open = open_nodes(trace, end), *edge = tn_heap_alloc(heap, nodes);
  tn_value *found = NULL;
  bool ok = open && edge && copier_init(&c);
  if (ok) {
    for (size_t i = 0; i < what->output_count; i++) need(&c, what->outputs[i].value);
    need_operands(&c);
    ok = !c.failed;
    if (ok) count = find_edge(&c, open, what, edge);
    if (ok) found = tn_heap_alloc(heap, (count + 1) * sizeof *found);
  }
  for (tn_value v = 1; found && v < nodes; v++) {
    if (edge[v]) found[kept++] = v;
  }
  ok = found ? compute_edge(trace, found, kept, fault) : out_of_memory(fault);
  if (found) tn_heap_free(heap, found, (count + 1) * sizeof *found);
  copier_free(&c);
  tn_heap_free(heap, edge, nodes);
  tn_heap_free(heap, open, nodes);
  return ok;
}

/* ---- continuing with less ---- */

/* By node: 1 where it needs no history, because it does not come from a named one (other than by
 * being it). */
static uint8_t *forgettable(const tn_mind_trace *trace, const tn_value *named, size_t count) {
  size_t nodes = trace->graph.nodes.count;
  uint8_t *marks = marks_of(trace, named, count, 0, (tn_value)(nodes - 1));
  for (size_t v = 0; marks && v < nodes; v++) marks[v] = !(marks[v] & REACHED);
  return marks;
}

static bool move_data(tn_mind_trace *from, const copier *c, tn_mind_trace *to) {
  for (tn_value v = 1; v < from->known.count; v++) {
    if (!from->known.at[v] || !is_needed(c, v) || is_cut(c, v)) continue;
    tn_tensor share = tn_tensor_ref(&from->tensors.at[from->known.at[v] - 1]);
    if (!remember_take(to, moved(c, v), &share)) {
      tn_tensor_unref(&share);
      return false;
    }
  }
  for (size_t i = 0; i < from->leaves.count; i++) {
    tn_value leaf = from->leaves.at[i];
    if (!is_needed(c, leaf) || is_cut(c, leaf)) continue;
    if (!tn_vec_push(to->host->heap, &to->leaves, moved(c, leaf))) return false;
  }
  return true;
}

bool tn_mind_trace_compact(tn_mind_trace *trace, tn_value *const *keep, size_t count, const tn_value *named,
                           size_t named_count) {
  tn_heap *heap = trace->host->heap;
  tn_mind_trace fresh;
  if (!trace->ready) return true;
  size_t nodes = trace->graph.nodes.count;
  uint8_t *forgotten = forgettable(trace, named, named_count);
  tn_mind_trace_init(&fresh, trace->host);
  copier c = {
    .trace = trace, .from = &trace->graph, .to = &fresh.graph, .whole = true, .forgotten = forgotten
  };
  bool ok = forgotten && tn_mind_trace_builder(&fresh) && copier_init(&c);
  for (size_t i = 0; ok && i < count; i++) need(&c, *keep[i]);
  ok = ok && copy_nodes(&c) && move_data(trace, &c, &fresh);
  for (size_t i = 0; ok && i < count; i++) *keep[i] = moved(&c, *keep[i]);
  copier_free(&c);
  tn_heap_free(heap, forgotten, nodes);
  if (!ok) {
    tn_mind_trace_free(&fresh);
    return false;
  }
  tn_mind_trace_free(trace);
  *trace = fresh;
  trace->builder.graph = &trace->graph;
  trace->seen = trace->graph.nodes.count;
  return true;
}

/* ---- going back ---- */

tn_mind_trace_mark tn_mind_trace_mark_of(const tn_mind_trace *trace) {
  return (tn_mind_trace_mark){ tn_graph_mark_of(&trace->graph), tn_arena_now(&trace->graph.arena) };
}

/* Positions in `tensors` stay, so that of a forgotten node may remain empty before one that is in use. */
static void forget_data(tn_mind_trace *trace, size_t nodes) {
  for (size_t v = nodes; v < trace->known.count; v++) {
    if (trace->known.at[v]) tn_tensor_unref(&trace->tensors.at[trace->known.at[v] - 1]);
  }
  if (trace->known.count > nodes) trace->known.count = nodes;
  while (trace->tensors.count && !trace->tensors.at[trace->tensors.count - 1].buffer) trace->tensors.count--;
}

void tn_mind_trace_rewind(tn_mind_trace *trace, const tn_mind_trace_mark *mark) {
  size_t nodes = mark->graph.nodes;
  forget_data(trace, nodes);
  while (trace->leaves.count && trace->leaves.at[trace->leaves.count - 1] >= nodes) trace->leaves.count--;
  if (trace->seen > nodes) trace->seen = nodes;
  tn_graph_rewind(&trace->graph, mark->graph);
  tn_arena_rewind(&trace->graph.arena, mark->arena);
}
