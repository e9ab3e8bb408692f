/* train/indices.c: checks the indices in a data set against the tables that they index.
 *
 * A token outside the vocabulary would fail the first step that draws its row, or the first evaluation.
 * Here it is found when the file has been read, with its line. Only tables that the loss needs
 * whatever the conditions are, by the graph of a step, are checked here. A table in a branch is
 * checked at run time, because the branch may never be taken. */
#include "train/indices.h"

#include "data/table.h"
#include "train/loop_internal.h"

/* The node whose values are these indices, arranged in another way. */
static tn_value source_of(const tn_graph *graph, tn_value value) {
  while (tn_graph_node(graph, value)->op == TN_OP_RESHAPE) value = tn_graph_node(graph, value)->in[0];
  return value;
}

/* How long the axis is that the node indexes by its operand 1; -1: it indexes nothing. */
static int64_t indexed_length(const tn_graph *graph, const tn_node *node) {
  const tn_shape *shape = node->count > 1 ? &tn_graph_type(graph, node->in[0])->shape : NULL;
  switch (tn_op_fails_of(node->op)) {
    case TN_FAILS_ON_INDEX:
    case TN_FAILS_ON_NEW_INDEX: return shape->dim[node->attrs->axis];
    case TN_FAILS_ON_LABEL: return shape->dim[shape->rank - 1];
    case TN_FAILS_NEVER:
    case TN_FAILS_ON_ZERO_DIVISOR:
    case TN_FAILS_ON_EMPTY:
    case TN_FAILS_IN_HOST:
    case TN_FAILS_AS_STEPS:
    case TN_FAILS_AS_PARTS: break;
  }
  return -1;
}

bool *tn_graph_needed(const tn_graph *graph, tn_value from, tn_arena *arena) {
  bool *needed = tn_arena_array(arena, graph->nodes.count, sizeof *needed);
  if (!needed) return NULL;
  needed[from] = true;
  for (size_t v = graph->nodes.count; v-- > 1;) {
    const tn_node *node = tn_graph_node(graph, (tn_value)v);
    for (int i = 0; needed[v] && i < node->count; i++) needed[node->in[i]] = true;
  }
  return needed;
}

static bool check_table(tn_loop *loop, const tn_node *node, int64_t limit, size_t input) {
  const tn_columns *columns = &loop->rows.columns;
  const tn_column *column = &columns->at[loop->rows.column_of[input]];
  const tn_dataset_block *data = loop->program.dataset;
  tn_str path = loop->data ? tn_str_of(loop->data) : tn_arena_str(loop->arena, data->path);
  if (!path.at) return tn_loop_out_of_memory(loop);
  tn_table_index index = { .path = path.at, .at = loop->data ? TN_NOWHERE : data->path_at, .limit = limit };
  index.function = loop->program.doors->called(loop->program.model, node->op, node->at);
  if (column->windows) return tn_columns_check_windows(columns, &index, loop->host->diags);
  return (column->kind == TN_COLUMN_CLASS ? tn_columns_check_labels : tn_columns_check_features)(
      columns, column, &index, loop->host->diags);
}

bool tn_indices_visit(const tn_graph *graph, const bool *needed, size_t input_count, tn_index_visit visit,
                      void *context) {
  for (size_t v = 1; v < graph->nodes.count; v++) {
    const tn_node *node = tn_graph_node(graph, (tn_value)v);
    int64_t limit = needed[v] ? indexed_length(graph, node) : -1;
    if (limit < 0) continue;
    tn_value source = source_of(graph, node->in[1]);
    for (size_t i = 0; i < input_count; i++) {
      if (graph->inputs.at[i] == source && !visit(context, node, limit, i)) return false;
    }
  }
  return true;
}

static bool check_input(void *context, const tn_node *node, int64_t limit, size_t input) {
  tn_loop *loop = context;
  return !tn_loop_is_fed(loop, input) || check_table(loop, node, limit, input);
}

bool tn_loop_check_indices(tn_loop *loop) {
  const tn_graph *graph = &loop->lowered.graph;
  if (!loop->rows.present) return true;
  const bool *needed = tn_graph_needed(graph, graph->outputs.at[loop->lowered.loss].value, loop->arena);
  if (!needed) return tn_loop_out_of_memory(loop);
  return tn_indices_visit(graph, needed, loop->program.specs.input_count, check_input, loop);
}
