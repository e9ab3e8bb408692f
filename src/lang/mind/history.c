/* lang/mind/history.c: what a running program may forget.
 *
 * The graph keeps how every node was made, because gradients flow through it. But
 * a name that is differentiated by is the end of the way: what was before its
 * current value is asked for only through another name. So a value needs its
 * history as far as it leads to a name that something may still be differentiated
 * by, and a value that nothing names any more needs none. A program is known as a
 * whole before it runs: which statement names a variable last, and which is the
 * last to differentiate by it. In a session every name may be asked for.
 *
 * A training loop of any length therefore needs the memory of one step.
 *
 * What loses its history keeps its numbers. They are computed here, in larger
 * pieces than the program would ask for them, with the same bits. */
#include <stdlib.h>

#include "lang/mind/eval.h"

#define FIRST_COMPACTION 1024               /* nodes */
#define COMPACTION_BYTES ((size_t)64 << 20) /* that may be garbage */
#define FORCED_AT_ONCE   64

/* ---- what is held ---- */

void tn_mind_holders_init(tn_mind_holders *h, tn_heap *heap) {
  *h = (tn_mind_holders){ .heap = heap };
  tn_map_init(&h->met, heap);
}

void tn_mind_holders_free(tn_mind_holders *h) {
  tn_map_free(&h->met);
  tn_vec_free(h->heap, &h->keep);
  tn_vec_free(h->heap, &h->named);
}

static bool meets_again(tn_mind_holders *h, const void *what) {
  uint64_t key = (uint64_t)(uintptr_t)what;
  if (!what || tn_map_get(&h->met, key)) return true;
  h->failed |= !tn_map_put(&h->met, key, 1);
  return false;
}

/* A closure may differentiate by what it remembers, a pullback by its leaves. */
static void hold_fn(tn_mind_holders *h, const tn_mind_fn *fn) {
  for (; fn && !meets_again(h, fn); fn = fn->inner) {
    for (tn_mind_frame *frame = fn->frame; frame && frame->function && !meets_again(h, frame);
         frame = frame->outer) {
      for (uint32_t i = 0; i < frame->slot_count; i++) tn_mind_hold(h, &frame->slots[i], true);
    }
    if (fn->output) tn_mind_hold(h, (tn_mind_value *)(uintptr_t)fn->output, false);
    for (uint32_t i = 0; fn->leaves && i < fn->leaf_count; i++)
      tn_mind_hold(h, (tn_mind_value *)(uintptr_t)&fn->leaves[i], true);
  }
}

void tn_mind_hold(tn_mind_holders *h, tn_mind_value *value, bool named) {
  if (!tn_stack_room(&h->heap->stack)) {
    h->failed = true;
    return;
  }
  switch ((tn_mind_value_kind)value->kind) {
    case TN_MIND_V_SCALAR:
    case TN_MIND_V_TENSOR:
      if (!value->node) break;
      h->failed |= !tn_vec_push(h->heap, &h->keep, &value->node);
      if (named) h->failed |= !tn_vec_push(h->heap, &h->named, value->node);
      break;
    case TN_MIND_V_TUPLE:
    case TN_MIND_V_LIST:
    case TN_MIND_V_GRAD:
      if (meets_again(h, value->items)) break;
      for (uint32_t i = 0; i < value->count; i++) tn_mind_hold(h, &value->items[i], false);
      break;
    case TN_MIND_V_FN: hold_fn(h, value->fn); break;
    default: break;
  }
}

/* ---- forgetting ---- */

static int by_address(const void *a, const void *b) {
  const tn_value *left = *(tn_value *const *)a, *right = *(tn_value *const *)b;
  return left < right ? -1 : left > right;
}

static void each_once(tn_mind_holders *h) {
  size_t kept = 0;
  if (h->keep.count) qsort(h->keep.at, h->keep.count, sizeof *h->keep.at, by_address);
  for (size_t i = 0; i < h->keep.count; i++) {
    if (!kept || h->keep.at[kept - 1] != h->keep.at[i]) h->keep.at[kept++] = h->keep.at[i];
  }
  h->keep.count = kept;
}

/* One number everywhere, a row of numbers: it has no history, and less room than its numbers. */
static bool is_source(const tn_graph *graph, tn_value value) {
  return tn_op_is_source(tn_graph_node(graph, value)->op);
}

/* Only a node with data can do without its history. What fails or has no data stays as it is. */
static void compute_held(tn_mind_trace *trace, const tn_mind_holders *h) {
  size_t next = 0;
  while (next < h->keep.count) {
    tn_value nodes[FORCED_AT_ONCE];
    tn_fault fault;
    size_t count = 0;
    for (; next < h->keep.count && count < FORCED_AT_ONCE; next++) {
      if (!is_source(&trace->graph, *h->keep.at[next])) nodes[count++] = *h->keep.at[next];
    }
    tn_mind_forced forced = tn_mind_trace_force(trace, nodes, count, &fault);
    for (size_t i = 0; forced != TN_MIND_DATA && count > 1 && i < count; i++)
      tn_mind_trace_force(trace, &nodes[i], 1, &fault);
  }
}

bool tn_mind_compact(tn_mind_trace *trace, tn_mind_holders *h, bool all) {
  each_once(h);
  compute_held(trace, h);
  if (h->failed) return false;
  return tn_mind_trace_compact(trace, h->keep.at, h->keep.count, h->named.at, all ? 0 : h->named.count);
}

/* ---- a program that runs ---- */

static uint32_t count_statements(const tn_mind_unit *unit) {
  uint32_t count = 0;
  for (const tn_mind_node *node = unit->block.first; node; node = node->next) count++;
  return count;
}

static bool plan_module(tn_mind *mind, tn_mind_unit *unit) {
  unit->dead = tn_arena_array(mind->arena, (size_t)count_statements(unit) + 1, sizeof *unit->dead);
  if (!unit->dead) return tn_mind_out_of_memory(mind);
  for (tn_mind_variable *variable = unit->variables; variable; variable = variable->next) {
    if (variable->kept) continue;
    variable->next_dead = unit->dead[variable->last_use];
    unit->dead[variable->last_use] = variable;
  }
  return true;
}

bool tn_mind_plan_history(tn_mind *mind) {
  bool ok = true;
  for (const tn_mind_module *module = mind->modules; ok && module; module = module->next)
    ok = plan_module(mind, module->unit);
  return ok;
}

#define ITS_END UINT32_MAX /* of a module whose statements have been executed, or none of them */

/* Whether a statement after this one differentiates by the variable. */
static bool is_wanted(const tn_mind_variable *variable, uint32_t statement) {
  return variable->kept_wrt || (variable->last_wrt > statement && statement != ITS_END);
}

static tn_mind_value *slot_of(const tn_mind_variable *variable) {
  return &variable->module->frame->slots[variable->slot];
}

/* Variables that have died since the last time leave the list. */
static void hold_live(tn_mind_evaluator *e, tn_mind_holders *h, const tn_mind_unit *unit,
                      uint32_t statement) {
  size_t kept = 0;
  for (size_t i = 0; i < e->live.count; i++) {
    const tn_mind_variable *variable = e->live.at[i];
    tn_mind_value *slot = slot_of(variable);
    if (slot->kind == TN_MIND_V_NONE) continue;
    e->live.at[kept++] = variable;
    tn_mind_hold(h, slot, is_wanted(variable, variable->module == unit->module ? statement : ITS_END));
  }
  e->live.count = kept;
}

static bool compact(tn_mind_evaluator *e, const tn_mind_unit *unit, uint32_t statement,
                    tn_mind_value *value) {
  tn_mind_holders h;
  tn_fault fault;
  if (!tn_mind_trace_settle(e->trace, &fault)) return tn_mind_eval_fault(e, &fault, NULL);
  tn_mind_holders_init(&h, e->host->heap);
  hold_live(e, &h, unit, statement);
  tn_mind_hold(&h, value, false);
  bool ok = tn_mind_compact(e->trace, &h, false);
  tn_mind_holders_free(&h);
  e->compact_at = e->trace->graph.nodes.count * 3 / 2 + FIRST_COMPACTION;
  e->compact_bytes = 2 * e->host->heap->used + COMPACTION_BYTES;
  return ok || tn_mind_out_of_memory(e->mind);
}

bool tn_mind_forget(tn_mind_evaluator *e, const tn_mind_unit *unit, uint32_t statement,
                    tn_mind_value *value) {
  for (const tn_mind_variable *v = unit->dead[statement]; v; v = v->next_dead)
    *slot_of(v) = (tn_mind_value){ 0 };
  if (!e->compact_at) e->compact_at = FIRST_COMPACTION;
  if (!e->compact_bytes) e->compact_bytes = e->host->heap->used + COMPACTION_BYTES;
  bool large = e->host->heap->used > e->compact_bytes;
  if (!e->trace->ready || (!large && e->trace->graph.nodes.count <= e->compact_at)) return true;
  return compact(e, unit, statement, value);
}
