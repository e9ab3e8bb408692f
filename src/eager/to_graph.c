/* eager/to_graph.c: converts recorded operations to a graph.
 *
 * Only operations that a gradient can flow through are recorded; their other operands appear as
 * constants. Variables become parameters v0, v1, ... in the order of their creation.
 *
 * A program that trains has computed with many values of one variable. The newest of them
 * represents the variable; what was computed with older ones is an earlier training step and is
 * left out. */
#include "base/map.h"
#include "eager/internal.h"

typedef struct {
  tn_eager *eager;
  tn_graph_builder *builder;
  tn_map value;  /* eager value -> graph value */
  tn_map newest; /* variable -> the newest of its values that was met */
  tn_map stale;  /* what an older one leads to */
  tn_tensors *params; /* what they are now; may be NULL */
  int count;
} exporter;

/* Everything that the outputs depend on, each once. */
static bool collect(tn_eager *eager, const tn_value *outputs, int count) {
  eager->order.count = eager->stack.count = 0;
  if (++eager->mark == 0) ++eager->mark;
  for (int i = 0; i < count; i++) {
    tn_value root = tn_cell_value(eager, outputs[i]);
    if (!tn_vec_push(eager->heap, &eager->stack, root)) return false;
  }
  while (eager->stack.count > 0) {
    tn_value value = tn_vec_pop(&eager->stack);
    tn_cell *cell = tn_cell_of(eager, value);
    if (cell->mark == eager->mark) continue;
    cell->mark = eager->mark;
    if (!tn_vec_push(eager->heap, &eager->order, value)) return false;
    const tn_value *in = tn_cell_inputs(cell);
    for (int i = 0; i < cell->count; i++) {
      if (!tn_vec_push(eager->heap, &eager->stack, in[i])) return false;
    }
  }
  return true;
}

/* ---- values of variables ---- */

/* Cells are ordered newest first, so the first value of a variable is the newest. */
static bool find_newest(exporter *e) {
  tn_eager *eager = e->eager;
  for (size_t i = 0; i < eager->order.count; i++) {
    tn_value value = eager->order.at[i];
    const tn_cell *cell = tn_cell_of(eager, value);
    if (!cell->leaf || !tn_eager_has_variable(eager, cell) || tn_map_get(&e->newest, cell->value)) continue;
    if (!tn_map_put(&e->newest, cell->value, value)) return false;
  }
  return true;
}

/* An older value of a variable that no longer exists is an ordinary constant. */
static bool is_param(const exporter *e, tn_value value, const tn_cell *cell) {
  if (!cell->leaf || cell->value == TN_ERROR_VALUE) return cell->leaf;
  const uint64_t *newest = tn_map_get(&e->newest, cell->value);
  return newest && *newest == value;
}

/* From the oldest to the newest: what is computed with something stale is stale. */
static bool find_stale(exporter *e) {
  tn_eager *eager = e->eager;
  for (size_t i = eager->order.count; i-- > 0;) {
    tn_value value = eager->order.at[i];
    const tn_cell *cell = tn_cell_of(eager, value);
    const tn_value *in = tn_cell_inputs(cell);
    bool stale = cell->leaf && !is_param(e, value, cell);
    for (int k = 0; k < cell->count && !stale; k++) stale = tn_map_get(&e->stale, in[k]) != NULL;
    if (stale && !tn_map_put(&e->stale, value, 1)) return false;
  }
  return true;
}

/* Leaves only outputs that are not stale, if there are any. */
static void choose_outputs(const exporter *e, tn_value *outputs, int *count) {
  int fresh = 0;
  for (int i = 0; i < *count; i++) {
    tn_value output = outputs[i];
    if (!tn_map_get(&e->stale, tn_cell_value(e->eager, output))) outputs[fresh++] = output;
  }
  if (fresh > 0) *count = fresh;
}

/* ---- writing ---- */

/* What the variable is now, whatever was computed with. */
static bool keep_param(exporter *e, tn_value value, const tn_cell *cell) {
  if (!e->params) return true;
  bool alive = cell->value != TN_ERROR_VALUE && tn_eager_has_variable(e->eager, cell);
  tn_tensor tensor = tn_eager_share(e->eager, alive ? cell->value : value);
  if (!tensor.buffer) return false;
  if (tn_vec_push(e->eager->heap, e->params, tensor)) return true;
  tn_tensor_unref(&tensor);
  return false;
}

static tn_value export_param(exporter *e, tn_value value, const tn_cell *cell) {
  tn_text name;
  tn_text_init(&name, e->eager->heap);
  tn_text_byte(&name, 'v');
  tn_text_int(&name, e->count++);
  tn_name interned = name.failed ? 0 : tn_names_intern(e->eager->builder.names, tn_text_str(&name));
  tn_text_free(&name);
  if (interned == 0 || !keep_param(e, value, cell)) return TN_ERROR_VALUE;
  return tn_build_param(&e->builder->base, interned, &cell->layout->type);
}

static tn_value export_constant(exporter *e, tn_value value, const tn_cell *cell) {
  if (cell->small && tn_cell_is_single(cell)) {
    return tn_build_number(&e->builder->base, TN_F32, (double)cell->few[0]);
  }
  tn_tensor literal = tn_eager_share(e->eager, value);
  if (!literal.buffer) return TN_ERROR_VALUE;
  tn_value constant = tn_build_const(&e->builder->base, &literal);
  tn_tensor_unref(&literal);
  return constant;
}

static tn_value export_operation(exporter *e, const tn_cell *cell) {
  const tn_value *in = tn_cell_inputs(cell);
  tn_value *mapped = tn_arena_array(&e->builder->graph->arena, (size_t)cell->count, sizeof *mapped);
  if (!mapped) return TN_ERROR_VALUE;
  for (int i = 0; i < cell->count; i++) mapped[i] = (tn_value)*tn_map_get(&e->value, in[i]);
  return tn_build(&e->builder->base, (tn_op)cell->op, mapped, cell->count,
                  cell->rest ? &cell->rest->attrs : NULL);
}

static bool export_cell(exporter *e, tn_value value) {
  const tn_cell *cell = tn_cell_of(e->eager, value);
  tn_value out = is_param(e, value, cell)  ? export_param(e, value, cell)
                 : cell->op == TN_OP_ERROR ? export_constant(e, value, cell)
                                           : export_operation(e, cell);
  return out != TN_ERROR_VALUE && tn_map_put(&e->value, value, out);
}

static bool sorted(tn_eager *eager, const tn_value *outputs, int count) {
  return collect(eager, outputs, count) && tn_eager_sort_by_age(eager, &eager->order);
}

/* `outputs` is the caller's own copy. */
static bool export_all(exporter *e, tn_value *outputs, int count) {
  tn_eager *eager = e->eager;
  if (!sorted(eager, outputs, count) || !find_newest(e) || !find_stale(e)) return false;
  choose_outputs(e, outputs, &count);
  if (!sorted(eager, outputs, count)) return false;
  for (size_t i = eager->order.count; i-- > 0;) {
    if (!export_cell(e, eager->order.at[i])) return false;
  }
  for (int i = 0; i < count; i++) {
    uint64_t *value = tn_map_get(&e->value, tn_cell_value(eager, outputs[i]));
    if (!tn_graph_output(e->builder->graph, 0, (tn_value)*value)) return false;
  }
  return true;
}

bool tn_eager_to_graph(tn_eager *eager, const tn_value *outputs, int count, tn_graph *out,
                       tn_tensors *params) {
  if (!tn_graph_init(out, eager->heap, eager->builder.names)) return false;
  tn_graph_builder builder;
  tn_graph_builder_init(&builder, out);
  exporter e = { .eager = eager, .builder = &builder, .params = params };
  tn_map *maps[] = { &e.value, &e.newest, &e.stale };
  for (int i = 0; i < 3; i++) tn_map_init(maps[i], eager->heap);
  tn_value *chosen = tn_arena_copy(&out->arena, outputs, (size_t)count * sizeof *outputs);
  bool ok = chosen && export_all(&e, chosen, count);
  for (int i = 0; i < 3; i++) tn_map_free(maps[i]);
  if (!ok) tn_graph_free(out);
  return ok;
}
