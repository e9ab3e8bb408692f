/* lang/ail/world.c: evaluates single expressions of states and handlers.
 *
 * Such an expression becomes a small graph in which the values it reads are constants. Numbers stay
 * numbers, so most expressions need no graph at all. */
#include "lang/ail/world.h"

#include "lang/ail/lower.h"
#include "tensor/print.h"

/* ---- cells ---- */

void tn_ail_cell_release(tn_ail_cell *cell) {
  if (cell->tensor.buffer) tn_tensor_unref(&cell->tensor);
}

void tn_ail_cells_release(tn_heap *heap, tn_ail_cells *cells) {
  for (size_t i = 0; i < cells->count; i++) tn_ail_cell_release(&cells->at[i]);
  tn_vec_free(heap, cells);
}

const tn_ail_cell *tn_ail_cells_find(const tn_ail_cells *cells, tn_name name) {
  for (size_t i = cells->count; i-- > 0;) {
    if (cells->at[i].name == name) return &cells->at[i];
  }
  return NULL;
}

void tn_ail_cell_print(const tn_ail_cell *cell, tn_text *out) {
  static const tn_print_style style = { "[", "]", ", ", 0 };
  if (cell->is_text)
    tn_text_add(out, cell->text);
  else if (!cell->is_number)
    tn_view_print(&cell->tensor.view, &style, out);
  else if (cell->whole)
    tn_text_int(out, cell->integer);
  else if (cell->kind == TN_DATA_BOOLEAN)
    tn_text_puts(out, cell->number != 0.0f ? "true" : "false");
  else
    tn_text_f32(out, cell->number);
}

tn_datum tn_ail_cell_datum(tn_ail *program, const tn_ail_cell *cell) {
  tn_datum datum = { .kind = TN_VALUE_TENSOR, .name = tn_ail_text_of(program, cell->name) };
  if (cell->is_number && tn_tensor_scalar(program->host->heap, tn_data_kind_dtype(cell->kind),
                                          (double)cell->number, &datum.tensor)) {
    datum.dtype = datum.tensor.view.dtype;
  } else if (cell->tensor.buffer) {
    datum.tensor = tn_tensor_ref(&cell->tensor);
    datum.dtype = datum.tensor.view.dtype;
    datum.shape = tn_view_shape(&datum.tensor.view);
  }
  return datum;
}

/* ---- reading ---- */

/* A single number is a constant to its readers; anything else enters the graph as one. */
static tn_ail_operand operand_of(tn_ail_walk *w, const tn_ail_cell *cell) {
  if (cell->whole) return tn_ail_of_integer(cell->integer);
  if (cell->is_number) {
    return cell->kind == TN_DATA_BOOLEAN ? tn_ail_of_truth(cell->number != 0.0f)
                                        : tn_ail_of_number(cell->number);
  }
  const tn_view *view = &cell->tensor.view;
  if (view->rank == 0 && (view->dtype == TN_F32 || view->dtype == TN_BOOL)) {
    float number = (float)tn_view_get_f64(view, 0);
    return view->dtype == TN_BOOL ? tn_ail_of_truth(number != 0.0f) : tn_ail_of_number(number);
  }
  tn_value value = tn_build_const(w->builder, &cell->tensor);
  if (value == TN_ERROR_VALUE) w->failed = true;
  tn_ail_operand operand = tn_ail_of_value(cell->kind, value);
  operand.origin = cell->name;
  return operand;
}

static const tn_ail_cell *find_var(const tn_ail_world *world, tn_name name) {
  const uint64_t *index = tn_map_get(&world->program->var_index, name);
  return index && world->vars ? &world->vars[*index] : NULL;
}

static const tn_given *find_set(const tn_ail_world *world, tn_name name) {
  const tn_host *host = world->program->host;
  tn_str text = tn_ail_text_of(world->program, name);
  for (size_t i = host->set_count; i-- > 0;) {
    if (tn_str_equal(host->sets[i].name, text)) return &host->sets[i];
  }
  return NULL;
}

/* A value of --set, as f32. */
static bool read_set(tn_ail_walk *w, const tn_given *given, tn_ail_operand *out) {
  tn_ail_cell cell = { .kind = TN_DATA_TENSOR };
  tn_shape shape = tn_view_shape(&given->data.view);
  if (!tn_tensor_new(w->program->host->heap, TN_F32, &shape, &cell.tensor)) {
    w->failed = w->program->arena.failed = true;
    return false;
  }
  int64_t count = tn_view_count(&given->data.view);
  for (int64_t i = 0; i < count; i++)
    tn_view_set_f64(&cell.tensor.view, i, tn_view_get_f64(&given->data.view, i));
  *out = operand_of(w, &cell);
  tn_ail_cell_release(&cell); /* the graph has its share */
  return true;
}

static bool outside(tn_ail_walk *w, tn_name name, bool behind_constants, tn_ail_operand *out) {
  tn_ail_world *world = w->context;
  if (behind_constants) {
    const tn_given *given = find_set(world, name);
    return given && read_set(w, given, out);
  }
  const tn_ail_cell *cell = tn_ail_cells_find(&world->locals, name), *var = find_var(world, name);
  if (!cell && world->vars_first) cell = var;
  if (!cell && !tn_ail_world_model(world, name, &cell)) {
    w->failed = true;
    *out = tn_ail_wrong();
    return true;
  }
  if (!cell) cell = var;
  if (!cell) return false;
  *out = operand_of(w, cell);
  return true;
}

/* ---- evaluating ---- */

static bool compute_cell(tn_ail_world *world, const tn_graph *graph, tn_ail_cell *out) {
  return tn_ail_compute(world->program, graph, NULL, NULL, &out->tensor);
}

static bool eval_graph(tn_ail_world *world, const tn_ail_expr *expr, tn_name target, bool condition,
                       tn_ail_cell *out) {
  tn_ail *program = world->program;
  tn_host *host = program->host;
  tn_ail_lowering l = { .program = program, .errors = host->diags->errors };
  *out = (tn_ail_cell){ .kind = TN_DATA_TENSOR };
  if (!tn_graph_init(&l.graph, host->heap, host->names)) {
    return tn_ail_out_of_memory(program);
  }
  tn_graph_builder_init(&l.builder, &l.graph);
  tn_ail_walk_init(&l.walk, program, &l.builder.base);
  l.walk.sizes = &world->sizes;
  l.walk.outside = outside;
  l.walk.context = world;
  l.walk.exact = true;
  l.walk.target = target;
  tn_ail_operand result = tn_ail_evaluate(&l.walk, expr);
  if (condition) result = tn_ail_as_condition(&l.walk, &result, expr->at);
  out->kind = result.kind;
  out->is_text = result.is_text;
  if (result.is_text) out->text = *result.text;
  out->is_number = result.constant;
  out->number = result.number;
  out->whole = result.whole;
  out->integer = result.integer;
  bool plain = result.wrong || result.is_text || result.constant;
  if (!plain && !tn_graph_output(&l.graph, 0, result.value)) l.graph.failed = true;
  tn_graph graph;
  if (result.wrong) l.walk.failed = true;
  if (!tn_ail_lowering_end(&l, &graph)) return false;
  bool ok = plain || compute_cell(world, &graph, out);
  tn_graph_free(&graph);
  return ok;
}

bool tn_ail_world_eval(tn_ail_world *world, const tn_ail_expr *expr, tn_name target, tn_ail_cell *out) {
  return eval_graph(world, expr, target, false, out);
}

bool tn_ail_world_test(tn_ail_world *world, const tn_ail_expr *expr, bool *out) {
  tn_ail_cell cell;
  if (!eval_graph(world, expr, 0, true, &cell)) return false;
  *out = cell.is_number ? cell.number != 0.0f : tn_view_get_i64(&cell.tensor.view, 0) != 0;
  tn_ail_cell_release(&cell);
  return true;
}

void tn_ail_world_close(tn_ail_world *world) {
  tn_heap *heap = world->program->host->heap;
  tn_ail_cells_release(heap, &world->model);
  tn_ail_model_free(world);
  tn_ail_cells_release(heap, &world->locals);
  for (size_t i = 0; world->vars && i < world->program->var_count; i++) tn_ail_cell_release(&world->vars[i]);
}
