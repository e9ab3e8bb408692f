/* plan/windows.c: finds image windows (patches) that only matrix products read.
 *
 * A back end may read windows directly from the image (fusions.def). Then they need no memory:
 * every product gets its own step that makes them, right before it, and merge.c merges the two.
 * Otherwise they would be written once and kept for the backward pass, nine times as large as the
 * image. */
#include "plan/internal.h"

#define COLUMNS   8 /* of the result, at least: they make the vectors */
#define CARD_MOST ((int64_t)1 << 30) /* elements of images, and windows, that a card counts */

/* A card's kernels take any windows that they can count in 32 bits. */
static bool suits_card(const tn_type *image, const tn_type *windows, int64_t columns) {
  return columns > 0 && tn_shape_count(&image->shape) <= CARD_MOST &&
         tn_shape_count(&windows->shape) / windows->shape.dim[3] <= CARD_MOST;
}

bool tn_plan_suits_windows(const tn_plan *plan, const tn_type *image, const tn_type *windows,
                           int64_t columns) {
  if (image->dtype != TN_F32 || tn_shape_count(&windows->shape) == 0) return false;
  return plan->card ? suits_card(image, windows, columns) : columns >= COLUMNS;
}

/* ---- which windows only such products read ---- */

/* A view whose rows, or columns, are windows. */
static bool is_matrix_of_windows(const tn_graph *graph, tn_value view, const tn_value *windows_of) {
  const tn_node *node = tn_graph_node(graph, view);
  tn_value patches = windows_of[node->in[0]];
  if (node->region != 0 || node->type.shape.rank != 2) return false;
  int64_t length = tn_graph_type(graph, patches)->shape.dim[3];
  if (node->op == TN_OP_RESHAPE) return node->in[0] == patches && node->type.shape.dim[1] == length;
  return node->op == TN_OP_TRANSPOSE && node->in[0] != patches;
}

static bool is_product_of_windows(const tn_plan *plan, const tn_node *node, const tn_value *windows_of) {
  const tn_graph *graph = plan->graph;
  if (node->op != TN_OP_MATMUL || node->region != 0 || windows_of[node->in[1]] != 0) return false;
  tn_value patches = windows_of[node->in[0]];
  const tn_node *made = tn_graph_node(graph, patches);
  return node->in[0] != patches && node->type.shape.rank == 2 &&
         tn_plan_suits_windows(plan, tn_graph_type(graph, made->in[0]), &made->type,
                               node->type.shape.dim[1]);
}

/* A parameter may get its next value before the last of the products. */
static bool stays_as_it_is(const tn_graph *graph, tn_value image) {
  while (tn_op_sig_of(tn_graph_node(graph, image)->op)->kind == TN_KIND_VIEW)
    image = tn_graph_node(graph, image)->in[0];
  return tn_graph_node(graph, image)->op != TN_OP_PARAM;
}

static bool is_candidate(const tn_plan *plan, const tn_node *node) {
  return node->op == TN_OP_PATCHES && node->region == 0 && stays_as_it_is(plan->graph, node->in[0]);
}

static void note_reader(const tn_plan *plan, tn_value v, tn_value *windows_of, bool *refused) {
  const tn_graph *graph = plan->graph;
  const tn_node *node = tn_graph_node(graph, v);
  for (int i = 0; i < node->count; i++) {
    tn_value patches = windows_of[node->in[i]];
    if (patches == 0 || (i == 0 && is_product_of_windows(plan, node, windows_of))) continue;
    if (is_matrix_of_windows(graph, v, windows_of))
      windows_of[v] = patches;
    else
      refused[patches] = true;
  }
}

static void refuse_results(const tn_graph *graph, const tn_value *windows_of, bool *refused) {
  for (size_t i = 0; i < graph->outputs.count; i++) refused[windows_of[graph->outputs.at[i].value]] = true;
  for (size_t r = 1; r < graph->regions.count; r++) {
    const tn_region *region = &graph->regions.at[r];
    for (size_t i = 0; i < region->results.count; i++) refused[windows_of[region->results.at[i]]] = true;
  }
}

bool tn_plan_find_windows(tn_plan *plan, tn_fault *fault) {
  const tn_graph *graph = plan->graph;
  if (!plan->backend->fusions || !plan->backend->fusions[TN_FUSION_WINDOWS]) return true;
  tn_value *windows_of = tn_arena_array(&plan->arena, graph->nodes.count, sizeof *windows_of);
  bool *refused = tn_arena_array(&plan->arena, graph->nodes.count, sizeof *refused);
  if (!windows_of || !refused) {
    fault->kind = TN_FAULT_MEMORY;
    return false;
  }
  for (tn_value v = 1; v < graph->nodes.count; v++) {
    const tn_node *node = tn_graph_node(graph, v);
    if (!plan->needed[v]) continue;
    if (is_candidate(plan, node)) windows_of[v] = v;
    note_reader(plan, v, windows_of, refused);
  }
  refuse_results(graph, windows_of, refused);
  for (tn_value v = 1; v < graph->nodes.count; v++)
    if (refused[windows_of[v]]) windows_of[v] = 0;
  plan->windows_of = windows_of;
  return true;
}
