/* eager/to_graph.c: what was remembered, written down as a graph.
 *
 * Only operations that a gradient can flow through are remembered; what they
 * used beside that appears as constants. Variables become parameters v0, v1, ...
 * in the order in which they were made. */
#include "base/map.h"
#include "eager/internal.h"

typedef struct {
  tn_eager *eager;
  tn_graph_builder *builder;
  tn_map value; /* eager value -> graph value */
  int params;
} exporter;

/* Everything behind the outputs, each once. */
static bool collect(tn_eager *eager, const tn_value *outputs, int count) {
  eager->order.count = eager->stack.count = 0;
  if (++eager->mark == 0) ++eager->mark;
  for (int i = 0; i < count; i++) {
    tn_value root = tn_slot_value(eager, outputs[i]);
    if (!tn_vec_push(eager->heap, &eager->stack, root)) return false;
  }
  while (eager->stack.count > 0) {
    tn_value value = tn_vec_pop(&eager->stack);
    tn_slot *slot = tn_slot_of(eager, value);
    if (slot->mark == eager->mark) continue;
    slot->mark = eager->mark;
    if (!tn_vec_push(eager->heap, &eager->order, value)) return false;
    const tn_value *in = tn_slot_inputs(slot);
    for (int i = 0; i < slot->count; i++) {
      if (!tn_vec_push(eager->heap, &eager->stack, in[i])) return false;
    }
  }
  return true;
}

static tn_value export_param(exporter *e, const tn_slot *slot) {
  tn_text name;
  tn_text_init(&name, e->eager->heap);
  tn_text_byte(&name, 'v');
  tn_text_int(&name, e->params++);
  tn_name interned = name.failed ? 0 : tn_names_intern(e->eager->builder.names, tn_text_str(&name));
  tn_text_free(&name);
  if (interned == 0) return TN_ERROR_VALUE;
  return tn_build_param(&e->builder->base, interned, &slot->layout->type);
}

static tn_value export_constant(exporter *e, tn_value value, const tn_slot *slot) {
  if (slot->small && tn_slot_is_single(slot)) {
    return tn_build_number(&e->builder->base, TN_F32, (double)slot->few[0]);
  }
  tn_tensor literal = tn_eager_share(e->eager, value);
  if (!literal.buffer) return TN_ERROR_VALUE;
  tn_value constant = tn_build_const(&e->builder->base, &literal);
  tn_tensor_unref(&literal);
  return constant;
}

static tn_value export_operation(exporter *e, const tn_slot *slot) {
  const tn_value *in = tn_slot_inputs(slot);
  tn_value *mapped = tn_arena_array(&e->builder->graph->arena, (size_t)slot->count, sizeof *mapped);
  if (!mapped) return TN_ERROR_VALUE;
  for (int i = 0; i < slot->count; i++) mapped[i] = (tn_value)*tn_map_get(&e->value, in[i]);
  return tn_build(&e->builder->base, (tn_op)slot->op, mapped, slot->count,
                  slot->rest ? &slot->rest->attrs : NULL);
}

static bool export_slot(exporter *e, tn_value value) {
  const tn_slot *slot = tn_slot_of(e->eager, value);
  tn_value out = slot->leaf                ? export_param(e, slot)
                 : slot->op == TN_OP_ERROR ? export_constant(e, value, slot)
                                           : export_operation(e, slot);
  return out != TN_ERROR_VALUE && tn_map_put(&e->value, value, out);
}

static bool export_all(exporter *e, const tn_value *outputs, int count) {
  tn_eager *eager = e->eager;
  if (!collect(eager, outputs, count) || !tn_eager_sort_by_age(eager, &eager->order)) return false;
  for (size_t i = eager->order.count; i-- > 0;) {
    if (!export_slot(e, eager->order.at[i])) return false;
  }
  for (int i = 0; i < count; i++) {
    uint64_t *value = tn_map_get(&e->value, tn_slot_value(eager, outputs[i]));
    if (!tn_graph_output(e->builder->graph, 0, (tn_value)*value)) return false;
  }
  return true;
}

bool tn_eager_to_graph(tn_eager *eager, const tn_value *outputs, int count, tn_graph *out) {
  if (!tn_graph_init(out, eager->heap, eager->builder.names)) return false;
  tn_graph_builder builder;
  tn_graph_builder_init(&builder, out);
  exporter e = { .eager = eager, .builder = &builder };
  tn_map_init(&e.value, eager->heap);
  bool ok = export_all(&e, outputs, count);
  tn_map_free(&e.value);
  if (!ok) tn_graph_free(out);
  return ok;
}
